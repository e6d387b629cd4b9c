"""One table of settings: each is a flag of the command line, a keyword of the front door and a key of the job file."""

import difflib
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import msgspec

from bitrawl.config import Job
from bitrawl.errors import ConfigError


class Group(StrEnum):
    """Under which heading the help lists a setting."""

    JOB = "Job"
    TOPIC = "Topic"
    SCOPE = "Scope"
    POLITENESS = "Politeness"
    BUDGET = "Budgets"
    ARCHIVES = "Archives"
    PAIRS = "Pairs"
    CORPUS = "Corpus"
    DISCOVERY = "Search"


CRAWL = (Group.JOB, Group.TOPIC, Group.SCOPE, Group.POLITENESS, Group.BUDGET, Group.ARCHIVES)
MINE = (*CRAWL, Group.PAIRS, Group.CORPUS)
DISCOVER = (Group.DISCOVERY, Group.TOPIC, Group.POLITENESS, Group.BUDGET, Group.ARCHIVES)


class Setting(NamedTuple):
    """What a user may set."""

    key: str  # of the job file: "budget.pages"
    group: Group
    help: str
    read: Callable[[Any], Any] = lambda value: value  # from what the user gave to what the job file has
    default: str = ""  # as the help shows it, where that says more than the key's own default
    metavar: str = ""
    reversible: bool = False  # has a --no- form although it is off by default, because the job file keeps it


def listed(given: str | Sequence[str]) -> list[str]:
    """Names with commas, semicolons or spaces between them; or a sequence of names as it is."""
    if isinstance(given, str):
        return [name for name in re.split(r"[,;\s]+", given) if name]
    return [str(name) for name in given]


def _paths(given: str | Path | Sequence[str | Path]) -> list[str]:
    return [str(given)] if isinstance(given, str | Path) else [str(path) for path in given]


def _several(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _numbers(given: str | Sequence[float]) -> list[float]:
    try:
        found = [float(one) for one in (listed(given) if isinstance(given, str) else given)]
    except ValueError as error:
        raise ConfigError(f"{given!r} are not two numbers; write them like this: 100,5000") from error
    if len(found) != 2:
        raise ConfigError(f"{given!r} are not two numbers; write them like this: 100,5000")
    return found


def _sites(given: str | Sequence[str | Sequence[str]]) -> list[list[str]]:
    return [listed(group) for group in ([given] if isinstance(given, str) else given)]


def _routes(given: str | Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    return dict(given) if isinstance(given, Mapping) else dict(map(_route, _several(given)))


def _route(raw: str) -> tuple[str, str]:
    host, mark, endpoint = raw.partition("=")
    if not mark or not host or not endpoint:
        raise ConfigError(f"--connect-to {raw!r} is not understood; write it as 'www.example.test=127.0.0.1:8000'")
    return host, endpoint


def _lower(given: str | Sequence[str]) -> list[str]:
    return [name.lower() for name in listed(given)]


SETTINGS: dict[str, Setting] = {
    "langs": Setting("langs", Group.JOB, "Languages, as ISO 639 or BCP 47 codes: en,fr", listed, metavar="CODES"),
    "strategy": Setting(
        "strategy",
        Group.JOB,
        "Visit links in the order of this strategy: breadth-first, language-filter, url-models, url-patterns, terms,"
        " perplexity, adaptive.",
        metavar="NAME",
    ),
    "exhaustive": Setting("exhaustive", Group.JOB, "Visit all of a site, even where nothing more is expected."),
    "topic": Setting(
        "topic.terms",
        Group.TOPIC,
        "Look for pages with these terms: ILSP-FC's format, CSV, TSV or TBX.",
        str,
        metavar="FILE",
    ),
    "texts": Setting(
        "topic.texts",
        Group.TOPIC,
        "Look for pages like these texts, a file or a folder of them.",
        _paths,
        metavar="PATH",
    ),
    "like": Setting(
        "topic.like", Group.TOPIC, "Look for pages like this one, and begin there.", _several, metavar="URL"
    ),
    "against": Setting(
        "topic.against",
        Group.TOPIC,
        "Avoid pages like these texts, a file or a folder of them.",
        _paths,
        metavar="PATH",
    ),
    "hub": Setting("topic.hub", Group.TOPIC, "The seeds only link to the topic: do not take them for examples."),
    "buckets": Setting(
        "topic.buckets",
        Group.TOPIC,
        "With the strategy perplexity, visit links of pages below these perplexities first: 100,5000",
        _numbers,
        metavar="TWO",
    ),
    "scope": Setting(
        "scope.reach",
        Group.SCOPE,
        "Stay on the sites of the seeds (site), or follow a topic over the whole web (web).",
        metavar="NAME",
    ),
    "include": Setting(
        "scope.include", Group.SCOPE, "Follow only URLs that match this regular expression.", _several, metavar="REGEX"
    ),
    "exclude": Setting(
        "scope.exclude", Group.SCOPE, "Skip URLs that match this regular expression.", _several, metavar="REGEX"
    ),
    "same_host": Setting("scope.same_host", Group.SCOPE, "Stay on the hosts of the seeds."),
    "under": Setting("scope.under", Group.SCOPE, "Follow only URLs below this path: /docs/", _several, metavar="PATH"),
    "one_site": Setting(
        "scope.one_site", Group.SCOPE, "Treat these hosts as one site: example.org,exemple.org", _sites, metavar="HOSTS"
    ),
    "max_depth": Setting(
        "scope.depth", Group.SCOPE, "Follow links at most this many steps away from the seeds.", metavar="N"
    ),
    "sitemaps": Setting("scope.sitemaps", Group.SCOPE, "Read sitemaps."),
    "probe": Setting("scope.probe", Group.SCOPE, "Ask each host for a missing page, to recognise its error pages."),
    "delay": Setting(
        "politeness.delay", Group.POLITENESS, "Wait this many seconds between two visits to a host.", metavar="SECONDS"
    ),
    "parallel": Setting(
        "politeness.parallel",
        Group.POLITENESS,
        "Visit at most this many pages at once, not counting visits that wait for a slow host.",
        metavar="N",
    ),
    "per_host": Setting(
        "politeness.per_host", Group.POLITENESS, "Open at most this many connections to one host.", metavar="N"
    ),
    "contact": Setting(
        "fetch.contact",
        Group.POLITENESS,
        "Tell webmasters this e-mail address or page, in the User-Agent.",
        metavar="TEXT",
    ),
    "proxy": Setting(
        "fetch.proxy",
        Group.POLITENESS,
        "Use this HTTP proxy. HTTP_PROXY and similar variables are read too.",
        metavar="URL",
    ),
    "cookies": Setting("fetch.cookies", Group.POLITENESS, "Accept cookies."),
    "allow_private": Setting("fetch.allow_private", Group.POLITENESS, "Visit private and loopback addresses."),
    "connect_to": Setting(
        "fetch.connect_to",
        Group.POLITENESS,
        "Reach a host at another address: '*.test=127.0.0.1:8000'",
        _routes,
        metavar="HOST=ADDRESS",
    ),
    "ignore_opt_outs": Setting(
        "politeness.opt_outs",
        Group.POLITENESS,
        "Keep pages that opt out of text and data mining, where your law allows it.",
        lambda given: False if given else None,
    ),
    "max_pages": Setting("budget.pages", Group.BUDGET, "Stop after this many pages.", metavar="N"),
    "max_minutes": Setting("budget.minutes", Group.BUDGET, "Stop after this many minutes.", metavar="N"),
    "max_megabytes": Setting("budget.megabytes", Group.BUDGET, "Stop after this many megabytes.", metavar="N"),
    "site_pages": Setting("budget.site_pages", Group.BUDGET, "Leave each site after this many pages.", metavar="N"),
    "site_minutes": Setting(
        "budget.site_minutes", Group.BUDGET, "Leave each site after this many minutes.", metavar="N"
    ),
    "site_megabytes": Setting(
        "budget.site_megabytes", Group.BUDGET, "Leave each site after this many megabytes.", metavar="N"
    ),
    "site_hosts": Setting(
        "budget.site_hosts", Group.BUDGET, "Visit at most this many hosts of each site.", metavar="N"
    ),
    "workers": Setting(
        "analysis.workers",
        Group.BUDGET,
        "Read pages in this many processes; with --sites, mine this many bundles of sites at once.",
        default="one per core, at most 4",
        metavar="N",
    ),
    "replay": Setting(
        "replay",
        Group.ARCHIVES,
        "Crawl this WARC file, or the files in this folder, instead of the web.",
        _paths,
        metavar="PATH",
    ),
    "warc": Setting(
        "warc",
        Group.ARCHIVES,
        "Take every page of this WARC file, or of the files in this folder.",
        _paths,
        metavar="PATH",
    ),
    "methods": Setting(
        "pair.methods",
        Group.PAIRS,
        "Pair pages by these methods only: a declared, u URL, p d i images and digits, h m l structure, c content,"
        " t parents, r mutual links, b bridge by a third language.",
        default="all",
        metavar="LETTERS",
    ),
    "url_pair": Setting(
        "pair.url_pairs", Group.PAIRS, "Treat these two texts in URLs as counterparts: en=fr", _several, metavar="A=B"
    ),
    "dictionary": Setting(
        "pair.dictionary", Group.PAIRS, "Use these word pairs: TSV, or hunalign's format.", str, metavar="FILE"
    ),
    "encoder": Setting(
        "encoder",
        Group.PAIRS,
        "Pair and align with this sentence-transformers model: sentence-transformers/LaBSE (extra neural).",
        metavar="NAME_OR_PATH",
    ),
    "url_language_model": Setting(
        "url_language_model",
        Group.PAIRS,
        "Tell the language behind a URL with this transformer (extra neural).",
        metavar="NAME_OR_PATH",
    ),
    "url_pair_model": Setting(
        "url_pair_model",
        Group.PAIRS,
        "Compare two URLs with this transformer, in the strategy url-models (extra neural).",
        metavar="NAME_OR_PATH",
    ),
    "machine_translated": Setting(
        "pair.machine_translated", Group.PAIRS, "Keep pages that bear marks of machine translation."
    ),
    "max_characters": Setting(
        "align.characters",
        Group.PAIRS,
        "Split segments that are longer than this, and leave out what cannot be split; half of it in scripts without"
        " spaces between words, such as Chinese.",
        metavar="N",
    ),
    "formats": Setting(
        "export.formats",
        Group.CORPUS,
        "Write these formats: jsonl, tmx, tsv, moses, parquet, xces; for one language text, jsonl, xces.",
        _lower,
        default="jsonl,tmx,tsv",
        metavar="NAMES",
    ),
    "backlinks": Setting(
        "discovery.backlinks",
        Group.DISCOVERY,
        "Ask this link graph who cites a site: a folder that bitrawl discover graph made, a TSV of links, WARC or WAT files,"
        " a job folder, or the URL of a service. May be given several times.",
        _paths,
        metavar="PATH",
    ),
    "host_languages": Setting(
        "discovery.host_languages",
        Group.DISCOVERY,
        "Prefer hosts that have pages in your languages by this index: a Parquet file of Common Crawl's columnar index, or a"
        " folder of them (extra parquet).",
        str,
        metavar="PATH",
    ),
    "max_downloads": Setting("discovery.downloads", Group.DISCOVERY, "Stop after this many downloads.", metavar="N"),
    "compress": Setting("export.compress", Group.CORPUS, "Compress the files with gzip."),
    "min_score": Setting(
        "judge.score", Group.CORPUS, "Export only segments that score at least this.", metavar="SCORE"
    ),
    "accepted_only": Setting(
        "export.accepted_only",
        Group.CORPUS,
        "Export only page pairs and segments that a person accepted.",
        reversible=True,
    ),
}


def described(given: Mapping[str, Any], groups: Iterable[Group] = MINE) -> dict[str, Any]:
    """Settings as the tables of a job file; None means not given. An unknown name is a `ConfigError`."""
    allowed = {name for name, setting in SETTINGS.items() if setting.group in set(groups)}
    tables: dict[str, Any] = {}
    for name, value in given.items():
        if name not in allowed:
            raise ConfigError(_unknown(name, allowed))
        setting = SETTINGS[name]
        read = None if value is None else setting.read(value)
        if read is None:
            continue
        _check_value(name, read)
        table, _, key = setting.key.rpartition(".")
        (tables.setdefault(table, {}) if table else tables)[key] = read
    return tables


def _check_value(name: str, value: Any) -> None:
    """A number out of bounds or a wrong type is named as the user wrote it; names and formats are checked with the job."""
    try:
        msgspec.convert(value, _field(name).type)
    except msgspec.ValidationError as error:
        if "enum" in str(error):
            return
        shown = f"{value:g}" if isinstance(value, float) else repr(value)
        raise ConfigError(f"{name} (--{name.replace('_', '-')}) is {shown}; {_asked(str(error))}") from error


def _asked(error: str) -> str:
    """What msgspec expected: "Expected `float` > 0.0" becomes "give a number greater than 0"."""
    words = {">": "greater than", ">=": "of at least", "<": "below", "<=": "of at most"}
    bound = re.match(r"Expected `(?:int|float)` ([<>]=?) ([\d.]+)", error)
    if bound is None:
        return error[0].lower() + error[1:].replace("`", "")
    return f"give a number {words[bound[1]]} {float(bound[2]):g}"


def _unknown(name: str, allowed: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, allowed, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(allowed))}"
    return f"there is no setting {name!r}; {hint}"


class Value(NamedTuple):
    """What kind of value a setting takes, by the typed schema of the job file."""

    kind: type  # bool, int, float, str, or an enumeration
    several: bool = False
    least: float | None = None
    most: float | None = None
    default: Any = None


def value_of(name: str) -> Value:
    """From the schema; settings with a reader of their own take texts."""
    setting, field = SETTINGS[name], _field(name)
    kind, meta = _plain(field.type)
    if get_origin(kind) in (list, dict, tuple):
        return Value(str, several=setting.read not in (listed, _lower, _numbers))
    return Value(kind, least=meta.ge if meta else None, most=meta.le if meta else None, default=field.default)


def _field(name: str) -> Any:
    """Of the job file's schema."""
    struct: Any = Job
    for part in SETTINGS[name].key.split("."):
        field = next(field for field in msgspec.structs.fields(struct) if field.name == part)
        struct = field.type
    return field


def _plain(kind: Any) -> tuple[Any, msgspec.Meta | None]:
    """Without None and without bounds, and those."""
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is Annotated:
        plain, meta = get_args(kind)[:2]
        return plain, meta
    return kind, None
