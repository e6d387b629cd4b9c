"""The entries of a corpus for programs: the columns and values of its JSON lines, as frozen records, rows and data sets."""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from bitrawl.corpus.export import CorpusHeader, paragraph_id
from bitrawl.errors import ConfigError, StoreError
from bitrawl.files import NO_JSON
from bitrawl.languages import same_language
from bitrawl.mining import MEASURES
from bitrawl.model import Page, Paragraph, ParagraphKind, TranslationUnit, UnitSource
from bitrawl.text.words import one_line, weight, words
from bitrawl.url import Url

if TYPE_CHECKING:
    import datasets
    import pandas as pd


_RUN = 5  # words, as in the filters of Gopher, FineWeb and HPLT
_PROSE = 100  # the least weight of a paragraph of running text: two lines; judgement
DIGITS = 4  # of a score: those of the calibrated one, and the same in every format and in every run


class CorpusPlace(msgspec.Struct, frozen=True, gc=False):
    """Where a unit was found: two pages, the paragraphs ("p1" is the first) and the sentences (1 is the first)."""

    url_a: str
    url_b: str
    paragraph_a: str
    paragraph_b: str
    sentence_a: int
    sentence_b: int

    @classmethod
    def of(cls, source: UnitSource) -> Self:
        return cls(
            *(one_line(source.url_a), one_line(source.url_b)),
            *(paragraph_id(source.paragraph_a), paragraph_id(source.paragraph_b)),
            *(source.sentence_a + 1, source.sentence_b + 1),
        )


class CorpusUnit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two texts of a corpus that are translations of each other: an entry of `sentences.jsonl`."""

    url_a: str
    url_b: str
    text_a: str
    text_b: str
    score: float  # how probably they are translations, from 0 to 1
    type: str  # sentences on either side: "1:1", "2:1"
    flags: tuple[str, ...]
    scores: dict[str, float]  # what was measured, by name
    paragraph_a: str  # "p1" is the first of the page; empty if it is not known
    paragraph_b: str
    sentence_a: int  # 1 is the first of the page; 0 if it is not known
    sentence_b: int
    sources: tuple[CorpusPlace, ...] = ()  # all places, where there are several
    lang_a: str
    lang_b: str

    @classmethod
    def of(cls, unit: TranslationUnit, header: CorpusHeader) -> Self:
        pair = unit.pair
        places = [CorpusPlace.of(source) for source in unit.sources or (UnitSource.of(pair),)]
        return cls(
            **msgspec.structs.asdict(places[0]),
            text_a=one_line(pair.a.text),
            text_b=one_line(pair.b.text),
            score=round(pair.score, DIGITS),
            type=pair.type,
            flags=pair.flags,
            scores={name: round(value, DIGITS) for name, value in pair.scores.items()},
            sources=tuple(places) if len(places) > 1 else (),
            lang_a=header.languages[0],
            lang_b=header.languages[1],
        )

    @classmethod
    def read(cls, folder: Path, name: str) -> Iterator[Self]:
        """Those of a corpus that was written as JSON lines ("en-fr"). One without files is empty."""
        return _read(folder / f"{name}.sentences.jsonl", cls)

    @property
    def stratum(self) -> tuple[str, float, tuple[str, ...]]:
        """For samples: the site and the score, and what tells it from others."""
        return Url.known(self.url_a).site, self.score, (self.url_a, self.url_b, self.text_a, self.text_b)


class CorpusParagraph(msgspec.Struct, frozen=True, gc=False):
    id: str
    kind: str
    text: str
    lang: str = ""


class CorpusPage(msgspec.Struct, frozen=True):
    """A page of a corpus in one language: an entry of `documents.jsonl`."""

    url: str
    lang: str
    title: str
    date: str
    licence: str
    paragraphs: tuple[CorpusParagraph, ...]
    boilerplate: float = 0.0  # the share of the page's text that is
    repetition: float = 0.0  # the share of its sequences of five words that it has had before
    quality: float = 0.0  # the share of its main text that is running text in its language, without what is repeated
    repeats: str = ""  # the URL of a document of another site that has nearly the same text

    @classmethod
    def of(cls, page: Page) -> Self:
        title, date, licence = map(one_line, (page.title, page.metadata.date, page.metadata.licence))
        main = [(number, p) for number, p in enumerate(page.paragraphs) if not p.boilerplate]
        paragraphs = (CorpusParagraph(paragraph_id(n), p.kind, one_line(p.text), p.language) for n, p in main)
        boilerplate, repetition, quality = _measured(page, [p for _, p in main])
        about, repeats = (one_line(page.url), page.language, title, date, licence), one_line(page.repeats or "")
        return cls(*about, tuple(paragraphs), boilerplate, repetition, quality, repeats)

    @classmethod
    def read(cls, folder: Path, name: str) -> Iterator[Self]:
        """Those of a corpus in one language that was written as JSON lines ("en")."""
        return _read(folder / f"{name}.documents.jsonl", cls)

    @property
    def stratum(self) -> tuple[str, float, tuple[str, ...]]:
        """For samples: the site and the score, and what tells it from others."""
        return Url.known(self.url).site, 1.0, (self.url,)

    @property
    def text(self) -> str:
        """One paragraph per line."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)


def _measured(page: Page, main: Sequence[Paragraph]) -> Iterator[float]:
    """Its boilerplate, its repetition and its quality."""
    size, whole = (max(1, sum(len(p.text) for p in paragraphs)) for paragraphs in (main, page.paragraphs))
    said = [word for paragraph in main for word in words(paragraph.text, page.language)]
    runs = list(zip(*(said[start:] for start in range(_RUN)), strict=False))
    repetition = (len(runs) - len(set(runs))) / max(1, len(runs))
    long = (p for p in main if p.kind is ParagraphKind.TEXT and weight(p.text) >= _PROSE)
    prose = sum(len(p.text) for p in long if same_language(p.language, page.language))
    return (round(measure, DIGITS) for measure in (1 - size / whole, repetition, prose / size * (1 - repetition)))


class Column(NamedTuple):
    """A value, a table of values, or a list of either."""

    name: str
    kind: str = "string"  # or "float64", "int32", "bool"; unused if there are fields
    fields: tuple["Column", ...] = ()
    is_list: bool = False

    @classmethod
    def of(cls, name: str, kind: inspect.Type) -> Self:
        match kind:
            case inspect.VarTupleType(item_type=item):
                return cls.of(name, item)._replace(is_list=True)
            case inspect.StructType(cls=entry):
                return cls(name, fields=columns(entry))
            case inspect.DictType():
                return cls(name, fields=tuple(Column(measure, "float64") for measure in MEASURES))
        kinds: dict[type, str] = {inspect.FloatType: "float64", inspect.IntType: "int32", inspect.BoolType: "bool"}
        return cls(name, kinds.get(type(kind), "string"))


def columns(entry: type[msgspec.Struct]) -> tuple[Column, ...]:
    """In the order of the file."""
    return tuple(Column.of(field.name, field.type) for field in inspect.type_info(entry).fields)  # type: ignore[attr-defined]


def arrow_schema(pa: Any, columns: Iterable[Column]) -> Any:
    """The columns as pyarrow, which is `pa`, wants them."""
    return pa.schema([(column.name, _type(pa, column)) for column in columns])


def _type(pa: Any, column: Column) -> Any:
    if column.fields:
        value = pa.struct([(field.name, _type(pa, field)) for field in column.fields])
    else:
        value = {"string": pa.string, "float64": pa.float64, "int32": pa.int32, "bool": pa.bool_}[column.kind]()
    return pa.list_(value) if column.is_list else value


CorpusEntry: TypeAlias = CorpusUnit | CorpusPage
_Entry = TypeVar("_Entry", bound=msgspec.Struct)


def _read(path: Path, kind: type[_Entry]) -> Iterator[_Entry]:
    decoder = msgspec.json.Decoder(kind)
    packed = path.with_name(f"{path.name}.gz")
    if not path.exists() and not packed.exists():
        return
    number = 1
    with path.open("rb") if path.exists() else gzip.open(packed) as file:
        try:
            for line in file:
                yield decoder.decode(line)
                number += 1
        except NO_JSON as error:
            raise StoreError(f"{path}, line {number} is not as bitrawl wrote it: {error}") from error
        except (OSError, EOFError, zlib.error) as error:
            raise StoreError(f"{path} is damaged: {error}; export the corpus again") from error


class Corpora(Protocol):
    """What a folder holds, in the languages of its corpora."""

    @property
    def headers(self) -> Sequence[CorpusHeader]: ...

    def counts(self) -> dict[str, int]:
        """Segment pairs by the name of the corpus; those of one language are not counted."""

    def units(self, languages: Sequence[str] = ()) -> Iterator[CorpusUnit]:
        """Of all pairs of languages, or of that pair, in any order."""

    def pages(self) -> Iterator[CorpusPage]:
        """Of a corpus in one language."""


class EntryTable(NamedTuple):
    """Entries with the columns of their JSON lines."""

    entries: Iterable[CorpusEntry]
    has_pages: bool

    def to_pandas(self) -> "pd.DataFrame":
        """Raises `ConfigError` if pandas is not installed."""
        try:
            import pandas as pd  # noqa: PLC0415 - not a dependency
        except ModuleNotFoundError as error:
            raise ConfigError("to_pandas needs pandas. Run: pip install pandas") from error
        return pd.DataFrame(list(_rows(self.entries)), columns=[column.name for column in self._columns])

    def to_dataset(self) -> "datasets.Dataset":
        """In memory. Raises `ConfigError` if Hugging Face's `datasets` is not installed."""
        try:
            import datasets  # noqa: PLC0415 - not a dependency
            import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 - datasets depends on it
        except ModuleNotFoundError as error:
            raise ConfigError("to_dataset needs Hugging Face's datasets. Run: pip install datasets") from error
        rows = list(_rows(self.entries))
        return datasets.Dataset(pa.Table.from_pylist(rows, arrow_schema(pa, self._columns)))

    @property
    def _columns(self) -> Sequence[Column]:
        return columns(CorpusPage if self.has_pages else CorpusUnit)


def _rows(entries: Iterable[CorpusEntry]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        given: dict[str, Any] = msgspec.to_builtins(entry)
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
        yield values if isinstance(entry, CorpusPage) else {"sources": [], **values}
