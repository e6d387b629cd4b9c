"""What a corpus can be written as: the table of formats, ours and those that other packages add, and how a corpus is written.

`config` and help read this module: it loads no format.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Any, NamedTuple, Self

import msgspec

from bitrawl.errors import ConfigError
from bitrawl.model import Page, PagePair, TranslationUnit
from bitrawl.packages import Added
from bitrawl.version import install_command

_FILE = re.compile(r"(?:[\w-]+/)?{name}[\w.-]*(?:{[ab]}[\w.-]*)*(?:{gz})?")


class Part(NamedTuple):
    """One exporter of a format, what it takes, and the files that it writes."""

    exporter: str | Callable[..., Any]  # an `Exporter` of bitrawl.corpus.export, or where it is: "module:name"
    takes: tuple[type, ...]  # PagePair, TranslationUnit or Page
    files: tuple[str, ...]  # {name} is en-fr, {a} and {b} its codes, {gz} is .gz if it is compressed


class CorpusFormat(NamedTuple):
    """What a corpus can be written as."""

    pairs: tuple[Part, ...] = ()  # for two languages; empty if the format is not for them
    pages: tuple[Part, ...] = ()  # for one language
    needs: str = ""  # a package that must be installed

    def parts(self, languages: int) -> tuple[Part, ...]:
        return self.pages if languages == 1 else self.pairs

    @property
    def files(self) -> list[str]:
        return [file for part in (*self.pairs, *self.pages) for file in part.files]

    @property
    def has_pages(self) -> bool:
        """Whether a corpus of two languages has whole pages in it."""
        return any(Page in part.takes for part in self.pairs)


_NOTHING = CorpusFormat()
_UNIT, _PAIR, _PAGE = (TranslationUnit,), (PagePair,), (Page,)
_ALL = (PagePair, Page, TranslationUnit)


class Format(StrEnum):
    """What a corpus can be written as. A row has its name, which is its label, and its exporters."""

    made_of: CorpusFormat

    def __new__(cls, name: str, made_of: CorpusFormat = _NOTHING) -> Self:
        row = str.__new__(cls, name)
        row._value_, row.made_of = name, made_of
        return row

    # fmt: off
    TEXT = ("text", CorpusFormat(pages=(Part("bitrawl.corpus.plain_text:text", _PAGE, ("{name}.txt{gz}", "{name}.ids{gz}")),)))
    TMX = ("tmx", CorpusFormat((Part("bitrawl.corpus.tmx:tmx", _UNIT, ("{name}.tmx{gz}",)),)))
    JSONL = ("jsonl", CorpusFormat(
        (Part("bitrawl.corpus.jsonl:documents", _PAIR, ("{name}.documents.jsonl{gz}",)),
         Part("bitrawl.corpus.jsonl:sentences", _UNIT, ("{name}.sentences.jsonl{gz}",))),
        pages=(Part("bitrawl.corpus.jsonl:pages", _PAGE, ("{name}.documents.jsonl{gz}",)),)))
    TSV = ("tsv", CorpusFormat((Part("bitrawl.corpus.plain_text:tsv", _UNIT, ("{name}.tsv{gz}",)),)))
    MOSES = ("moses", CorpusFormat(
        (Part("bitrawl.corpus.plain_text:moses", _UNIT, ("{name}.{a}{gz}", "{name}.{b}{gz}", "{name}.ids{gz}")),)))
    PARQUET = ("parquet", CorpusFormat((Part("bitrawl.corpus.jsonl:parquet", _UNIT, ("{name}.parquet",)),), needs="pyarrow"))
    XCES = ("xces", CorpusFormat(
        (Part("bitrawl.corpus.xces:xces", (PagePair, Page), ("xces/{name}",)),),
        pages=(Part("bitrawl.corpus.xces:xces", _PAGE, ("xces/{name}",)),)))
    DOCUMENTS = ("documents", CorpusFormat((Part("bitrawl.corpus.jsonl:texts", _ALL, ("{name}.texts.jsonl{gz}",)),)))
    DOCUMENTS_PARQUET = ("documents-parquet", CorpusFormat(
        (Part("bitrawl.corpus.jsonl:texts_parquet", _ALL, ("{name}.texts.parquet",)),), needs="pyarrow"))
    # fmt: on


class Formats(Added):
    """All formats by their names: ours, first those for pairs of languages, then those that other packages add."""

    def ours(self, languages: int) -> tuple[str, ...]:
        """Those of our own for a corpus of one language, or for the corpora of several."""
        return tuple(name for name in Format if name.made_of.parts(languages))

    def usual(self, languages: int) -> list[str]:
        """What is written when nobody says otherwise."""
        return [Format.TEXT, Format.JSONL] if languages == 1 else [Format.JSONL, Format.TMX, Format.TSV]

    def of(self, name: str) -> CorpusFormat:
        """Raises `ConfigError` if nobody has it, or if the package that adds it cannot be used."""
        self.check_one(name)
        return Format(name).made_of if name in set(Format) else _of_package(name)

    def parts(self, languages: int) -> dict[str, tuple[Part, ...]]:
        """The exporters of all formats for so many languages, without those of other packages that cannot be used."""
        formats = {str(name): name.made_of for name in Format}
        for name in sorted(self.others()):
            with suppress(ConfigError):
                formats[name] = self.of(name)
        return {name: made_of.parts(languages) for name, made_of in formats.items() if made_of.parts(languages)}

    def ready(self, languages: int) -> list[str]:
        """Those that need nothing which is not installed."""
        needed = {name: self.of(name).needs for name in self.parts(languages)}
        return [name for name, needs in needed.items() if not needs or find_spec(needs)]

    def unfit(self, names: Iterable[str], languages: int) -> str:
        """Says which of these are not for so many languages; empty if all are. It loads nothing: others pass."""
        return self._unfit([one for one in names if one in set(Format) and one not in self.ours(languages)], languages)

    def check(self, names: Iterable[str], languages: int, otherwise: str) -> None:
        """Raise `ConfigError` for one that could not be written; `otherwise` says what to do instead of installing it."""
        for name in names:
            made_of = self.of(name)
            if made_of.needs and find_spec(made_of.needs) is None:
                command = install_command(Format.PARQUET) if name in set(Format) else f"pip install {made_of.needs}"
                raise ConfigError(f"{name.title()} needs {made_of.needs}. Run: {command}, or {otherwise}")
            if not made_of.parts(languages):
                raise ConfigError(self._unfit([name], languages))

    def _unfit(self, names: Sequence[str], languages: int) -> str:
        kind = "one language" if languages == 1 else "pairs of languages"
        others = ", ".join(self.parts(languages)) if names else ""
        return f"{', '.join(names)} is not a format for {kind}; choose from {others}" if names else ""


FORMATS = Formats(
    "bitrawl.exporters", "format", "formats", sorted(Format, key=lambda name: not Format(name).made_of.pairs)
)
"""An entry of another package is a `CorpusFormat`."""
FormatName = Annotated[str, msgspec.Meta(extra={"names": FORMATS.names})]


class Anonymise(StrEnum):
    """What becomes of personal data when a corpus is written."""

    OFF = "off"
    REPLACE = "replace"  # by a placeholder, the same on both sides
    DROP = "drop"  # the segment is left out, or the paragraph of a corpus in one language


class ExportSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is written into corpus/."""

    formats: list[FormatName] = []  # jsonl, tmx and tsv when none is given; for one language text and jsonl
    compress: bool = False
    accepted_only: bool = False  # only what a person accepted: segments, and the good segments of page pairs
    anonymise: Anonymise = Anonymise.OFF  # off, replace or drop personal data; needs the extra privacy


@cache
def _of_package(name: str) -> CorpusFormat:
    """Its files must be told from ours, because those of a format that is not asked for again are removed by name."""
    made_of = FORMATS.loaded(name)
    kinds = {PagePair, TranslationUnit, Page}
    if not isinstance(made_of, CorpusFormat) or not all(
        isinstance(part, Part) and kinds.issuperset(part.takes) for part in (*made_of.pairs, *made_of.pages)
    ):
        raise FORMATS.fault(name, "is not a bitrawl.corpus.formats.CorpusFormat")
    ours = {file.removesuffix("{gz}") for one in Format for file in one.made_of.files}
    for file in made_of.files:
        if not _FILE.fullmatch(file) or file.removesuffix("{gz}") in ours:
            told = f"may not write {file}: its files begin with {{name}} and have endings of their own"
            raise FORMATS.fault(name, told)
    return made_of


class TermFormat(StrEnum):
    """How pairs of terms are written."""

    TSV = "tsv"
    CSV = "csv"
    TBX = "tbx"
    JSONL = "jsonl"
