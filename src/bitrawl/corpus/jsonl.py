"""The columns of a corpus, and JSON with one object per line and Parquet, which have all of them.

Other formats have some of the same columns, under the same names and with the same values. Parquet, for dataframes and
training, needs the extra `parquet`.
"""

import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, TypeAlias, TypeVar

import msgspec
import numpy as np

from bitrawl.corpus.export import CorpusHeader, paragraph_id
from bitrawl.errors import ConfigError
from bitrawl.files import NO_JSON, replacing
from bitrawl.languages import claimed_language
from bitrawl.mining import MEASURES
from bitrawl.model import Language, Page, PagePair, TranslationUnit, UnitSource
from bitrawl.text.words import one_line
from bitrawl.version import install_command

Item = TypeVar("Item")
Languages = tuple[Language, Language]
TextPair = tuple[str, str]
_DIGITS = 4  # of a score: those of the calibrated one, and the same in every format and in every run
GROUP = 20_000
"""Units per row group: these are held in memory, about 20 MB at 1 kB per unit."""
TEXTS_GROUP = 500
"""The same for page pairs with their texts, at 40 kB per pair."""
Row: TypeAlias = dict[str, Any]
_encoder = msgspec.json.Encoder(enc_hook=str)  # msgspec calls this for Url only, which is a str


class Column(NamedTuple):
    """A value, a table of values, or a list of either."""

    name: str
    kind: str = "string"  # or "float64", "int32", "bool"; unused if there are fields
    fields: tuple["Column", ...] = ()
    is_list: bool = False


def _all(names: str, kind: str = "string") -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name in names.split())


_PLACE = (*_all("paragraph_a paragraph_b"), *_all("sentence_a sentence_b", "int32"))

SENTENCES = (
    *_all("url_a url_b text_a text_b"),
    Column("score", "float64"),
    Column("type"),
    Column("flags", is_list=True),
    Column("scores", fields=tuple(Column(name, "float64") for name in MEASURES)),
    *_PLACE,
    Column("sources", fields=(*_all("url_a url_b"), *_PLACE), is_list=True),
    *_all("lang_a lang_b"),
)
"""The columns of a unit, in the order of the file. `row` has their values."""

PLAIN = (
    *("url_a", "url_b", "text_a", "text_b", "score", "paragraph_a", "paragraph_b"),
    *("length_ratio", "words_a", "words_b", "type", "flags", "occurrences"),
)
"""Those of them that a table of texts has (TSV), and the number of sources. In the order of Bitextor's .sent files."""
PROPERTIES = ("score", "type", "length_ratio", "flags")
"""Those of them that describe a unit in TMX, where each side has its texts and places."""

_PARAGRAPHS = _all("id kind text lang")
DOCUMENTS = (*_all("url lang title date licence"), Column("paragraphs", fields=_PARAGRAPHS, is_list=True))
"""The columns of a page in a monolingual corpus."""

_LINKS = (*_all("paragraph_a paragraph_b"), Column("units", "int32", is_list=True))
TEXTS = (
    *_all("url_a url_b lang_a lang_b"),
    *(Column("score", "float64"), Column("partial", "bool")),
    *_all("title_a title_b date_a date_b licence_a licence_b"),
    *(Column(name, fields=_PARAGRAPHS, is_list=True) for name in ("paragraphs_a", "paragraphs_b")),
    Column("links", fields=_LINKS, is_list=True),
)
"""The columns of a page pair with its texts."""


@contextmanager
def sentences(
    folder: Path, header: CorpusHeader, *, compress: bool = False
) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.sentences.jsonl`. `sources` only if a unit was found in more than one place."""
    path = folder / header.file_name("sentences.jsonl", compress=compress)
    values: Callable[[TranslationUnit], dict[str, Any]] = partial(row, header=header)
    with _lines(path, values, compress=compress) as write:
        yield write


@contextmanager
def documents(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[PagePair], None]]:
    """`en-fr.documents.jsonl`: the page pairs, with the evidence for each."""
    name = header.file_name("documents.jsonl", compress=compress)
    with _lines(folder / name, _document, compress=compress) as write:
        yield write


@contextmanager
def pages(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[Page], None]]:
    """`en.documents.jsonl`: the pages of a monolingual corpus with their main text, paragraph by paragraph."""
    name = header.file_name("documents.jsonl", compress=compress)
    with _lines(folder / name, page_row, compress=compress) as write:
        yield write


@contextmanager
def parquet(
    folder: Path, header: CorpusHeader, *, compress: bool = False
) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.parquet`."""
    del compress
    with _table(folder / f"{header.name}.parquet", SENTENCES, GROUP) as write:
        yield lambda unit: write({"sources": [], **row(unit, header)})


@contextmanager
def texts(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[Any], None]]:
    """`en-fr.texts.jsonl`: the texts of each page pair, and which of their paragraphs are aligned."""
    path = folder / header.file_name("texts.jsonl", compress=compress)
    with _lines(path, dict, compress=compress) as write, _texts_of_pairs(write) as take:
        yield take


@contextmanager
def texts_parquet(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[Any], None]]:
    """`en-fr.texts.parquet`: the same."""
    del compress
    path = folder / f"{header.name}.texts.parquet"
    with _table(path, TEXTS, TEXTS_GROUP) as write, _texts_of_pairs(write) as take:
        yield take


@contextmanager
def _texts_of_pairs(write: Callable[[Row], None]) -> Iterator[Callable[[Any], None]]:
    """Takes pairs, pages and units. The rows are written when all are there."""
    with tempfile.TemporaryFile() as file:
        taken = _Texts(file)
        yield taken.take
        for values in taken.rows():
            write(values)


class _Texts:
    """Page pairs and pages in a file, and where units stand: that takes 20 bytes of memory for each of their places."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._units = file, 0
        self._pairs: dict[tuple[str, str], int] = {}  # their numbers
        self._begins = array("q")  # where they are in the file
        self._pages: dict[str, int] = {}  # the same of pages
        self._places = array("i")  # five numbers each: the pair, its two paragraphs, the sentence, the unit

    def take(self, item: PagePair | Page | TranslationUnit) -> None:
        match item:
            case PagePair():
                self._pairs[item.url_a, item.url_b] = len(self._pairs)
                self._begins.append(self._kept(_document(item)))
            case Page():
                self._pages[one_line(item.url)] = self._kept(page_row(item))
            case TranslationUnit():
                self._units += 1
                for at in item.sources:
                    if (pair := self._pairs.get((at.url_a, at.url_b))) is not None:
                        self._places.extend((pair, at.paragraph_a, at.paragraph_b, at.sentence_a, self._units))

    def rows(self) -> Iterator[Row]:
        places = np.array(self._places).reshape(-1, 5)
        places = places[np.lexsort(places.T[::-1])]
        ends = np.searchsorted(places[:, 0], np.arange(len(self._begins)), side="right").tolist()
        for begin, first, end in zip(self._begins, [0, *ends], ends, strict=False):
            values = self._read(begin)
            for side in ("a", "b"):
                page = self._read(self._pages[url]) if (url := values[f"url_{side}"]) in self._pages else {}
                values |= {f"{name}_{side}": page.get(name, "") for name in ("title", "date", "licence")}
                values[f"paragraphs_{side}"] = page.get("paragraphs", [])
            values["links"] = _links(places[first:end].tolist())
            yield {column.name: values[column.name] for column in TEXTS}

    def _kept(self, values: Row) -> int:
        begin = self._file.tell()
        self._file.write(_encoder.encode(values) + b"\n")
        return begin

    def _read(self, begin: int) -> Row:
        self._file.seek(begin)
        return msgspec.json.decode(self._file.readline(), type=Row)


def _links(places: Sequence[Sequence[int]]) -> list[Row]:
    """The paragraphs that have units in common, and the numbers of these."""
    return [
        {"paragraph_a": paragraph_id(a), "paragraph_b": paragraph_id(b), "units": [unit for *_, unit in units]}
        for (a, b), units in groupby(places, key=lambda place: (place[1], place[2]))
    ]


@contextmanager
def _table(path: Path, columns: Sequence[Column], most: int) -> Iterator[Callable[[Row], None]]:
    """A Parquet file. zstd compresses its columns: nothing reads one that is gzipped. `most` rows are held in memory."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 — an extra
        from pyarrow import parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            f"Parquet needs pyarrow. Run: {install_command('parquet')}, or leave the format out"
        ) from error
    schema = arrow_schema(pa, columns)
    group: list[Row] = []
    with replacing(path) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(group, schema))
            group.clear()

        def write(values: Row) -> None:
            group.append(values)
            if len(group) == most:
                flush()

        yield write
        flush()


def row(unit: TranslationUnit, header: CorpusHeader) -> dict[str, Any]:
    """A unit in plain values.

    Parquet has the same columns. Add new keys at the end, because readers may count columns.
    """
    pair = unit.pair
    values: dict[str, Any] = {
        "url_a": one_line(pair.url_a),
        "url_b": one_line(pair.url_b),
        "text_a": one_line(pair.a.text),
        "text_b": one_line(pair.b.text),
        "score": round(pair.score, _DIGITS),
        "type": pair.type,
        "flags": list(pair.flags),
        "scores": {name: round(value, _DIGITS) for name, value in pair.scores.items()},
        **_place(unit.sources[0] if unit.sources else UnitSource.of(pair)),  # two texts of a user have no places
    }
    if len(unit.sources) > 1:
        values["sources"] = [
            {"url_a": one_line(s.url_a), "url_b": one_line(s.url_b), **_place(s)} for s in unit.sources
        ]
    values["lang_a"], values["lang_b"] = header.languages
    return values


def plain(unit: TranslationUnit, header: CorpusHeader) -> dict[str, str]:
    """The values of `PLAIN` as texts. What was not measured is empty."""
    values = row(unit, header)
    values |= values["scores"]
    values |= {"flags": " | ".join(values["flags"]), "occurrences": len(unit.sources)}
    return {name: f"{value:g}" if isinstance(value := values.get(name, ""), float) else str(value) for name in PLAIN}


class _Line(msgspec.Struct):
    text_a: str
    text_b: str
    lang_a: str = ""
    lang_b: str = ""


def read_sentences(file: BinaryIO, source: Path) -> Iterator[tuple[Languages, TextPair]]:
    """The texts of a `sentences.jsonl` with their languages. Raises `ConfigError`."""
    decoder = msgspec.json.Decoder(_Line)
    for number, line in enumerate(file, 1):
        try:
            read = decoder.decode(line)
        except NO_JSON as error:
            message = f"{source}, line {number}: {error}; give the sentences.jsonl of a corpus"
            raise ConfigError(message) from error
        yield (claimed_language(read.lang_a), claimed_language(read.lang_b)), (read.text_a, read.text_b)


def _place(source: UnitSource) -> dict[str, Any]:
    """Paragraphs by their ids in the cesDoc file; sentences counted from 1 on the page, 0 if not known."""
    return {
        "paragraph_a": paragraph_id(source.paragraph_a),
        "paragraph_b": paragraph_id(source.paragraph_b),
        "sentence_a": source.sentence_a + 1,
        "sentence_b": source.sentence_b + 1,
    }


def _document(pair: PagePair) -> dict[str, Any]:
    return {
        "url_a": one_line(pair.url_a),
        "url_b": one_line(pair.url_b),
        "lang_a": pair.lang_a,
        "lang_b": pair.lang_b,
        "score": round(pair.score, _DIGITS),
        "evidence": {method: round(score, _DIGITS) for method, score in pair.evidence.items()},
        "partial": pair.partial,
    }


def page_row(page: Page) -> dict[str, Any]:
    """A page of a monolingual corpus in plain values, with the columns of `DOCUMENTS`."""
    return {
        "url": one_line(page.url),
        "lang": page.language,
        "title": one_line(page.title),
        "date": one_line(page.metadata.date),
        "licence": one_line(page.metadata.licence),
        "paragraphs": [
            {"id": paragraph_id(number), "kind": p.kind, "text": one_line(p.text), "lang": p.language}
            for number, p in enumerate(page.paragraphs)
            if not p.boilerplate
        ],
    }


@contextmanager
def _lines(path: Path, values: Callable[[Item], dict[str, Any]], *, compress: bool) -> Iterator[Callable[[Item], None]]:
    with replacing(path, compress=compress) as file:

        def write(item: Item) -> None:
            file.write(_encoder.encode(values(item)) + b"\n")

        yield write


def arrow_schema(pa: Any, columns: Iterable[Column]) -> Any:
    """The columns as pyarrow, which is `pa`, wants them."""
    return pa.schema([(column.name, _type(pa, column)) for column in columns])


def _type(pa: Any, column: Column) -> Any:
    if column.fields:
        value = pa.struct([(field.name, _type(pa, field)) for field in column.fields])
    else:
        value = {"string": pa.string, "float64": pa.float64, "int32": pa.int32, "bool": pa.bool_}[column.kind]()
    return pa.list_(value) if column.is_list else value
