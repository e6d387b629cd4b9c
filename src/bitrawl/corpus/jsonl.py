"""The columns of a corpus, and JSON with one object per line and Parquet, which have all of them.

Other formats have some of the same columns, under the same names and with the same values. Parquet, for dataframes and
training, needs the extra `parquet`.
"""

import tempfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, TypeVar

import msgspec
import numpy as np

from bitrawl.corpus.export import CorpusHeader, Exporter, paragraph_id
from bitrawl.corpus.units import DIGITS, Column, CorpusPage, CorpusParagraph, CorpusUnit, arrow_schema, columns
from bitrawl.errors import ConfigError
from bitrawl.files import NO_JSON, replacing
from bitrawl.languages import claimed_language
from bitrawl.model import Language, Page, PagePair, TranslationUnit
from bitrawl.packages import extra
from bitrawl.text.words import one_line

Item = TypeVar("Item")
Languages = tuple[Language, Language]
TextPair = tuple[str, str]
GROUP = 20_000
"""Units per row group: these are held in memory, about 20 MB at 1 kB per unit."""
TEXTS_GROUP = 500
"""The same for page pairs with their texts, at 40 kB per pair."""
Row: TypeAlias = dict[str, Any]
_encoder = msgspec.json.Encoder(enc_hook=str)  # msgspec calls this for Url only, which is a str


SENTENCES = columns(CorpusUnit)
PLAIN = (
    *("url_a", "url_b", "text_a", "text_b", "score", "paragraph_a", "paragraph_b"),
    *("length_ratio", "words_a", "words_b", "type", "flags", "occurrences"),
)
"""Those of them that a table of texts has (TSV), and the number of sources. In the order of Bitextor's .sent files."""
PROPERTIES = ("score", "type", "length_ratio", "flags")
"""Those of them that describe a unit in TMX, where each side has its texts and places."""

DOCUMENTS = columns(CorpusPage)


def _all(names: str, kind: str = "string") -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name in names.split())


_LINKS = (*_all("paragraph_a paragraph_b"), Column("units", "int32", is_list=True))
TEXTS = (
    *_all("url_a url_b lang_a lang_b"),
    *(Column("score", "float64"), Column("partial", "bool")),
    *_all("title_a title_b date_a date_b licence_a licence_b"),
    *(Column(name, fields=columns(CorpusParagraph), is_list=True) for name in ("paragraphs_a", "paragraphs_b")),
    Column("links", fields=_LINKS, is_list=True),
)
"""The columns of a page pair with its texts."""


def _json_lines(ending: str, values: Callable[[Any, CorpusHeader], object]) -> Exporter[Any]:
    """A format with one object per line."""

    @contextmanager
    def exporter(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[Any], None]]:
        with replacing(folder / header.file_name(ending, compress=compress), compress=compress) as file:

            def write(item: object) -> None:
                file.write(_encoder.encode(values(item, header)) + b"\n")

            yield write

    return exporter


sentences = _json_lines("sentences.jsonl", CorpusUnit.of)
documents = _json_lines("documents.jsonl", lambda pair, _: _document(pair))  # with the evidence for each pair
pages = _json_lines("documents.jsonl", lambda page, _: CorpusPage.of(page))  # of one language
_texts = _json_lines("texts.jsonl", lambda values, _: values)


@contextmanager
def parquet(
    folder: Path, header: CorpusHeader, *, compress: bool = False
) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.parquet`."""
    del compress
    with _table(folder / f"{header.name}.parquet", SENTENCES, GROUP) as write:
        yield lambda unit: write({"sources": [], **msgspec.to_builtins(CorpusUnit.of(unit, header))})


@contextmanager
def texts(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[Any], None]]:
    """`en-fr.texts.jsonl`: the texts of each page pair, and which of their paragraphs are aligned."""
    with _texts(folder, header, compress=compress) as write, _texts_of_pairs(write) as take:
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
                self._pages[one_line(item.url)] = self._kept(CorpusPage.of(item))
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

    def _kept(self, values: Row | CorpusPage) -> int:
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
    with extra("parquet", "Parquet needs pyarrow", ", or leave the format out"):
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 — an extra
        from pyarrow import parquet as pq  # noqa: PLC0415
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


def plain(unit: TranslationUnit, header: CorpusHeader) -> dict[str, str]:
    """The values of `PLAIN` as texts. What was not measured is empty."""
    values: Row = msgspec.to_builtins(CorpusUnit.of(unit, header))
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


def _document(pair: PagePair) -> dict[str, Any]:
    return {
        "url_a": one_line(pair.url_a),
        "url_b": one_line(pair.url_b),
        "lang_a": pair.lang_a,
        "lang_b": pair.lang_b,
        "score": round(pair.score, DIGITS),
        "evidence": {method: round(score, DIGITS) for method, score in pair.evidence.items()},
        "partial": pair.partial,
    }
