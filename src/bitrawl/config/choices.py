"""What a job or a command chooses by name: strategies and formats, ours and those that other packages add by an entry point.

What makes a strategy or a file is named as "module:name", as an entry point names it, and loaded when it is first used. A
package that adds something is looked up only where its name may be meant, and what is wrong with it is told there.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import StrEnum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from bitrawl.errors import BitrawlError, ConfigError
from bitrawl.model import Page, PagePair, TranslationUnit
from bitrawl.version import install_command

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

STRATEGIES, EXPORTERS = "bitrawl.strategies", "bitrawl.exporters"
"""The groups of entry points. An entry of the first is called with `StrategyInputs`, and returns a `LinkScorer`.
An entry of the second is a `CorpusFormat`."""
_NOUNS = {STRATEGIES: "strategy", EXPORTERS: "format"}
_FILE = re.compile(r"(?:[\w-]+/)?{name}[\w.-]*(?:{[ab]}[\w.-]*)*(?:{gz})?")
_PLURALS = {STRATEGIES: "strategies", EXPORTERS: "formats"}


class Strategy(StrEnum):
    """What orders the frontier."""

    # A row has its name, which is its label and a key of the catalogues, what makes it, and whether it needs a topic.
    maker: str
    needs_topic: bool

    def __new__(cls, name: str, maker: str = "", needs_topic: bool = False) -> Self:  # noqa: FBT001, FBT002
        row = str.__new__(cls, name)
        row._value_, row.maker, row.needs_topic = name, maker, needs_topic
        return row

    BREADTH_FIRST = ("breadth-first", "bitrawl.strategies.arrival:BreadthFirst")
    LANGUAGE_FILTER = ("language-filter", "bitrawl.strategies.papers.url_models:LanguageFilter")
    URL_MODELS = ("url-models", "bitrawl.strategies.papers.url_models:url_models")
    URL_PATTERNS = ("url-patterns", "bitrawl.strategies.papers.url_patterns:url_patterns")
    PLAIN_QUEUE = ("plain-queue", "bitrawl.strategies.papers.url_patterns:plain_queue")
    TERMS = ("terms", "bitrawl.strategies.papers.terms:Terms", True)
    PERPLEXITY = ("perplexity", "bitrawl.strategies.papers.perplexity:Perplexity", True)
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


_OWN: dict[str, type[StrEnum]] = {STRATEGIES: Strategy, EXPORTERS: Format}


def usual(languages: int) -> list[str]:
    """What is written when nobody says otherwise."""
    return [Format.TEXT, Format.JSONL] if languages == 1 else [Format.JSONL, Format.TMX, Format.TSV]


def strategy_names() -> list[str]:
    """Ours, then those of other packages, which are not loaded for it."""
    return _names(STRATEGIES, Strategy)


def format_names() -> list[str]:
    """Those for pairs of languages, those for one language only, then those of other packages, which are not loaded."""
    own: list[Format] = sorted(Format, key=lambda name: not name.made_of.pairs)
    return _names(EXPORTERS, own)


def fitting(languages: int) -> tuple[str, ...]:
    """Our formats for a corpus of one language, or for the corpora of several."""
    return tuple(name for name in Format if name.made_of.parts(languages))


def corpus_formats(languages: int) -> dict[str, tuple[Part, ...]]:
    """The parts of all of these formats, without those of other packages that cannot be used."""
    formats = {str(name): name.made_of for name in Format}
    for name in sorted(_added(EXPORTERS).keys() - formats.keys()):
        with suppress(ConfigError):
            formats[name] = corpus_format(name)
    return {name: made_of.parts(languages) for name, made_of in formats.items() if made_of.parts(languages)}


def ready_formats(languages: int) -> list[str]:
    """Those of `corpus_formats` that need nothing which is not installed."""
    needed = {name: corpus_format(name).needs for name in corpus_formats(languages)}
    return [name for name, needs in needed.items() if not needs or find_spec(needs)]


def corpus_format(name: str) -> CorpusFormat:
    """Raises `ConfigError` if nobody has it, or if the package that adds it cannot be used."""
    _check_one(EXPORTERS, name)
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
    _check_one(STRATEGIES, name)
    if name in set(Strategy):
        return cast("Callable[..., Any]", loaded(Strategy(name).maker))
    return blamed(STRATEGIES, name, _loaded(STRATEGIES, name))


def check_names(strategy: str, formats: Iterable[str]) -> None:
    """Raise `ConfigError` for a name that nobody has. Nothing is loaded, so that a job can be read without its packages."""
    for group, names in ((STRATEGIES, [strategy]), (EXPORTERS, formats)):
        for name in names:
            if name not in set(_OWN[group]) and name not in _added(group):
                noun, known = _NOUNS[group], strategy_names() if group == STRATEGIES else format_names()
                raise ConfigError(f"there is no {noun} {name!r}; the {_PLURALS[group]} are {', '.join(known)}")


def loaded(reference: str) -> Any:
    """Something of bitrawl that a table names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def package_of(group: str, name: str) -> str:
    """The package that adds it; empty for what is ours."""
    return next((entry.dist.name for entry in _added(group).get(name, ()) if entry.dist is not None), "")


def blamed(group: str, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """The same function of another package; what it raises is a `ConfigError` that names the package."""

    def called(*given: Any, **named: Any) -> Any:
        try:
            return call(*given, **named)
        except (BitrawlError, MemoryError):  # a full disk is no fault of the package
            raise
        except Exception as error:
            raise _fault(group, name, f"fails: {type(error).__name__}: {error}") from error

    return called


@cache
def _added(group: str) -> "dict[str, tuple[EntryPoint, ...]]":
    """What the installed packages add, by name; looked up once per process."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - 15 ms, for names that are not ours

    found = sorted(entry_points(group=group), key=lambda entry: entry.name)
    return {entry.name: tuple(other for other in found if other.name == entry.name) for entry in found}


def _names(group: str, own: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*map(str, own), *_added(group)]))


def _check_one(group: str, name: str) -> None:
    """Raises `ConfigError` if more than one has the name, or none."""
    check_names(*((name, ()) if group == STRATEGIES else (Strategy.ADAPTIVE, [name])))
    packages = [entry.dist.name if entry.dist else "?" for entry in _added(group).get(name, ())]
    if packages and name in set(_OWN[group]):
        raise ConfigError(
            f"the package {packages[0]} adds a {_NOUNS[group]} {name!r}, but bitrawl has one of that name;"
            f" run: pip uninstall {packages[0]}"
        )
    if len(packages) > 1:
        raise ConfigError(f"the packages {' and '.join(packages)} add a {_NOUNS[group]} {name!r} each; uninstall one")


@cache
def _of_package(name: str) -> CorpusFormat:
    """Its files must be told from ours, because those of a format that is not asked for again are removed by name."""
    made_of = _loaded(EXPORTERS, name)
    kinds = {PagePair, TranslationUnit, Page}
    if not isinstance(made_of, CorpusFormat) or not all(
        isinstance(part, Part) and kinds.issuperset(part.takes) for part in (*made_of.pairs, *made_of.pages)
    ):
        raise _fault(EXPORTERS, name, "is not a bitrawl.config.CorpusFormat")
    ours = {file.removesuffix("{gz}") for one in Format for file in one.made_of.files}
    for file in made_of.files:
        if not _FILE.fullmatch(file) or file.removesuffix("{gz}") in ours:
            told = f"may not write {file}: its files begin with {{name}} and have endings of their own"
            raise _fault(EXPORTERS, name, told)
    return made_of


def _loaded(group: str, name: str) -> Any:
    try:
        return _added(group)[name][0].load()
    except Exception as error:
        raise _fault(group, name, f"cannot be loaded: {type(error).__name__}: {error}") from error


def _fault(group: str, name: str, what: str) -> ConfigError:
    package = package_of(group, name)
    return ConfigError(
        f"the {_NOUNS[group]} {name!r} of the package {package} {what}; repair the package, or run: pip uninstall {package}"
    )


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
