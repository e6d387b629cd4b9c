"""What a job or a command chooses by name: strategies and formats, ours and those that other packages add by an entry point.

What makes a strategy or a file is named as "module:name", as an entry point names it, and loaded when it is first used.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import StrEnum
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple, Self

from bitrawl.errors import ConfigError
from bitrawl.model import Page, PagePair, TranslationUnit
from bitrawl.packages import EntryGroup, added, blamed, check_one, fault, load, loaded, package_of
from bitrawl.version import install_command

_FILE = re.compile(r"(?:[\w-]+/)?{name}[\w.-]*(?:{[ab]}[\w.-]*)*(?:{gz})?")


class Strategy(StrEnum):
    """What orders the frontier."""

    # A row has its name, which is its label and a key of the catalogues, what makes it, and whether it needs a topic. Those of
    # the papers are made by entry points, as those of other packages are.
    maker: str
    needs_topic: bool

    def __new__(cls, name: str, maker: str = "", needs_topic: bool = False) -> Self:  # noqa: FBT001, FBT002
        row = str.__new__(cls, name)
        row._value_, row.maker, row.needs_topic = name, maker, needs_topic
        return row

    BREADTH_FIRST = ("breadth-first", "bitrawl.strategies.arrival:BreadthFirst")
    LANGUAGE_FILTER = "language-filter"
    URL_MODELS = "url-models"
    URL_PATTERNS = "url-patterns"
    PLAIN_QUEUE = "plain-queue"
    TERMS = ("terms", "", True)
    PERPLEXITY = ("perplexity", "", True)
    ADAPTIVE = ("adaptive", "bitrawl.strategies.making:adaptive")


class DocumentType(StrEnum):
    """What a crawl reads besides sitemaps."""

    # A row has its name, which is its label and a key of the catalogues, its media types, and how files of it are named.
    media_types: frozenset[str]
    endings: tuple[str, ...]

    def __new__(cls, name: str, media_types: tuple[str, ...], endings: tuple[str, ...] = ()) -> Self:
        row = str.__new__(cls, name)
        row._value_, row.media_types, row.endings = name, frozenset(media_types), endings
        return row

    HTML = ("html", ("text/html", "application/xhtml+xml", "text/plain"))
    PDF = ("pdf", ("application/pdf",), ("pdf",))
    OFFICE = (
        "office",
        (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.oasis.opendocument.text",
            "application/epub+zip",
            "application/rtf",
        ),
        ("docx", "odt", "epub", "rtf"),
    )
    FEED = ("feed", ())  # read for their links, as sitemaps are


class Render(StrEnum):
    """Which pages a browser draws, by running their scripts."""

    NEVER = "never"
    AUTO = "auto"  # those that show signs of it, where it brings something
    ALWAYS = "always"


FOCUSED = tuple(name for name in Strategy if name.needs_topic)
"""Strategies that need a topic."""
UNFOCUSED = tuple(name for name in Strategy if not name.needs_topic)
"""Strategies that work without one."""


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
    # fmt: on


_OWN: dict[EntryGroup, type[StrEnum]] = {EntryGroup.STRATEGIES: Strategy, EntryGroup.EXPORTERS: Format}


def usual(languages: int) -> list[str]:
    """What is written when nobody says otherwise."""
    return [Format.TEXT, Format.JSONL] if languages == 1 else [Format.JSONL, Format.TMX, Format.TSV]


def strategy_names() -> list[str]:
    """Ours, then those of other packages, which are not loaded for it."""
    return _with_added(EntryGroup.STRATEGIES, Strategy)


def format_names() -> list[str]:
    """Those for pairs of languages, those for one language only, then those of other packages, which are not loaded."""
    own: list[Format] = sorted(Format, key=lambda name: not name.made_of.pairs)
    return _with_added(EntryGroup.EXPORTERS, own)


def fitting(languages: int) -> tuple[str, ...]:
    """Our formats for a corpus of one language, or for the corpora of several."""
    return tuple(name for name in Format if name.made_of.parts(languages))


def corpus_formats(languages: int) -> dict[str, tuple[Part, ...]]:
    """The parts of all of these formats, without those of other packages that cannot be used."""
    formats = {str(name): name.made_of for name in Format}
    for name in sorted(added(EntryGroup.EXPORTERS).keys() - formats.keys()):
        with suppress(ConfigError):
            formats[name] = corpus_format(name)
    return {name: made_of.parts(languages) for name, made_of in formats.items() if made_of.parts(languages)}


def ready_formats(languages: int) -> list[str]:
    """Those of `corpus_formats` that need nothing which is not installed."""
    needed = {name: corpus_format(name).needs for name in corpus_formats(languages)}
    return [name for name, needs in needed.items() if not needs or find_spec(needs)]


def corpus_format(name: str) -> CorpusFormat:
    """Raises `ConfigError` if nobody has it, or if the package that adds it cannot be used."""
    _check_name(EntryGroup.EXPORTERS, name)
    check_one(EntryGroup.EXPORTERS, name, set(Format))
    return Format(name).made_of if name in set(Format) else _of_package(name)


def unfit(formats: Iterable[str], languages: int) -> str:
    """Says which of these are not for so many languages; empty if all are. It loads nothing: others pass."""
    names = [name for name in formats if name in set(Format) and not Format(name).made_of.parts(languages)]
    return _unfit(names, languages) if names else ""


def check_formats(formats: Iterable[str], languages: int, otherwise: str) -> None:
    """Raise `ConfigError` for one that could not be written; `otherwise` says what to do instead of installing it."""
    for name in formats:
        made_of = corpus_format(name)
        if made_of.needs and find_spec(made_of.needs) is None:
            command = install_command(name) if name in set(Format) else f"pip install {made_of.needs}"
            raise ConfigError(f"{name.title()} needs {made_of.needs}. Run: {command}, or {otherwise}")
        if not made_of.parts(languages):
            raise ConfigError(_unfit([name], languages))


def _unfit(names: Iterable[str], languages: int) -> str:
    kind = "one language" if languages == 1 else "pairs of languages"
    return f"{', '.join(names)} is not a format for {kind}; choose from {', '.join(corpus_formats(languages))}"


def strategy_maker(name: str) -> Callable[..., Any]:
    """What makes it of `StrategyInputs`. Raises `ConfigError` as `corpus_format` does."""
    _check_name(EntryGroup.STRATEGIES, name)
    check_one(EntryGroup.STRATEGIES, name, set(Strategy))
    make: Callable[..., Any]
    if name in set(Strategy) and Strategy(name).maker:
        make = loaded(Strategy(name).maker)
    else:
        make = load(EntryGroup.STRATEGIES, name)
    return blamed(EntryGroup.STRATEGIES, name, make) if package_of(EntryGroup.STRATEGIES, name) else make


def check_names(strategy: str, formats: Iterable[str]) -> None:
    """Raise `ConfigError` for a name that nobody has. Nothing is loaded, so that a job can be read without its packages."""
    _check_name(EntryGroup.STRATEGIES, strategy)
    for name in formats:
        _check_name(EntryGroup.EXPORTERS, name)


def _with_added(group: EntryGroup, own: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*map(str, own), *added(group)]))


def _check_name(group: EntryGroup, name: str) -> None:
    """Raises `ConfigError` if nobody has it."""
    if name not in set(_OWN[group]) and name not in added(group):
        known = f"strategies are {', '.join(strategy_names())}"
        if group is EntryGroup.EXPORTERS:
            known = f"formats are {', '.join(format_names())}"
        raise ConfigError(f"there is no {group.noun} {name!r}; the {known}")


@cache
def _of_package(name: str) -> CorpusFormat:
    """Its files must be told from ours, because those of a format that is not asked for again are removed by name."""
    made_of = load(EntryGroup.EXPORTERS, name)
    kinds = {PagePair, TranslationUnit, Page}
    if not isinstance(made_of, CorpusFormat) or not all(
        isinstance(part, Part) and kinds.issuperset(part.takes) for part in (*made_of.pairs, *made_of.pages)
    ):
        raise fault(EntryGroup.EXPORTERS, name, "is not a bitrawl.config.CorpusFormat")
    ours = {file.removesuffix("{gz}") for one in Format for file in one.made_of.files}
    for file in made_of.files:
        if not _FILE.fullmatch(file) or file.removesuffix("{gz}") in ours:
            told = f"may not write {file}: its files begin with {{name}} and have endings of their own"
            raise fault(EntryGroup.EXPORTERS, name, told)
    return made_of


class TermFormat(StrEnum):
    """How pairs of terms are written."""

    TSV = "tsv"
    CSV = "csv"
    TBX = "tbx"
    JSONL = "jsonl"


# What help shows and something far below uses: here, so that help need not load that.
TERM_PAIRS = 500  # as many as a person will look through
# Judgement, from reading lilypond en-fr and gimp-help en-de (2026-11): of 39 pairs from 0.5 to 0.6 about 31 are right, of 55
# from 0.3 to 0.5 about 35.
TERM_PAIR_SCORE = 0.5
# As many as a person will read. On the Ebola pages (2026-11), 60 and 300 tell them apart about as well.
TOPIC_TERMS = 150
# Swept 0.07–0.60 on halves of the hosts and on kinds of difference left out (2026-11, lab/notes/url-pairs.md): against
# 0.07, 0.12 gains one to two points of F1 where pages have no partner, and loses at most 1.2 where all have one.
URL_PAIR_SCORE = 0.12
SIMULATED_DOWNLOADS = 1000  # of a walk
MOST_GROUPS = 100_000  # so many files in one folder are still listed in a second
# How much of a link graph is kept of what is popular: a hub that cites more is a directory of the whole web, and ten
# thousand hubs of one host say what they have to say together.
HUB_LINKS = 1000  # the given hosts among them are always kept
REFERRERS = 10_000  # of a given host, about
