"""The table of settings: each row is a flag, a keyword of the front door, a key of the job file, and maybe a field of the app.

Types, bounds and defaults are those of the key, in the `settings.py` of the room that it sets up.
"""

import difflib
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from os import PathLike, fspath
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import msgspec

from bitrawl.config.schema import Job
from bitrawl.corpus import FORMATS
from bitrawl.crawling import Render
from bitrawl.errors import ConfigError
from bitrawl.model import DocumentType, Method
from bitrawl.strategies import STRATEGIES


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

    name: str  # of the keyword; the flag has dashes: "max_pages", --max-pages
    key: str  # of the job file: "budget.pages"
    group: Group
    help: str = ""  # of the flag; a key without it has none
    read: Callable[[Any], Any] | None = None  # from what the user gave to what the job file has; None goes by the type
    default: str = ""  # as the help shows it, where that says more than the key's own default
    metavar: str = ""  # N for a number
    reversible: bool = False  # has a --no- form although it is off by default, because the job file keeps it
    web: str = ""  # the field in the app's forms and API; empty where only the operator may set it
    most: float | None = None  # that a user of the app may ask for, where the key has no bound
    label: str = ""  # in the app's form, a key of its catalogues; empty where the form does not ask for it

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    def shown_help(self) -> str:
        """With the names that can be chosen, also those of other packages."""
        return self.help.format_map(_Choices()) if "{" in self.help else self.help


class _Choices(dict[str, str]):
    """What the help texts list, looked up when a help text needs it."""

    def __missing__(self, name: str) -> str:
        if name == "types":
            return ", ".join(DocumentType)
        if name == "renderings":
            return ", ".join(Render)
        if name == "strategies":
            return ", ".join(STRATEGIES.names())
        if name == "methods":
            return ", ".join(f"{' '.join(letters)} {told}" for told, letters in _methods().items())
        pairs = dict.fromkeys([*FORMATS.usual(2), *FORMATS.ours(2), *FORMATS.others()])
        return f"{', '.join(pairs)}; for one language {', '.join(FORMATS.ours(1))}"


def _methods() -> dict[str, list[str]]:
    """The letters by what the help calls them."""
    letters: dict[str, list[str]] = {}
    for method in Method:
        letters.setdefault(method.help, []).append(method)
    return letters


def listed(given: str | Sequence[str]) -> list[str]:
    """Names with commas, semicolons or spaces between them; or a sequence of names as it is."""
    if isinstance(given, str):
        return [name for name in re.split(r"[,;\s]+", given) if name]
    return [str(name) for name in given]


def _text(given: Any) -> Any:
    return fspath(given) if isinstance(given, PathLike) else given


def _several(given: Any) -> Any:
    return [_text(given)] if isinstance(given, str | PathLike) else [_text(one) for one in given]


def _numbers(given: str | Sequence[float]) -> list[float]:
    wrong = ConfigError(f"{given!r} are not two numbers; write them like this: 100,5000")
    try:
        numbers = [float(one) for one in (listed(given) if isinstance(given, str) else given)]
    except (TypeError, ValueError) as error:
        raise wrong from error
    if len(numbers) != 2:
        raise wrong
    return numbers


def _sites(given: str | Sequence[str | Sequence[str]]) -> list[list[str]]:
    return [listed(group) for group in ([given] if isinstance(given, str) else given)]


def _routes(given: str | Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    return dict(given) if isinstance(given, Mapping) else dict(map(_route, _several(given)))


def _route(raw: str) -> tuple[str, str]:
    host, mark, endpoint = raw.partition("=")
    if not mark or not host or not endpoint:
        raise ConfigError(f"--connect-to {raw!r} is not understood; write it as 'www.example.test=127.0.0.1:8000'")
    return host, endpoint


def _opt_outs(given: Any) -> bool | None:
    """What the key says, which has the opposite sense."""
    if not isinstance(given, bool):
        raise TypeError
    return False if given else None


def _lower(given: str | Sequence[str]) -> list[str]:
    return [name.lower() for name in listed(given)]


_G = Group
# fmt: off
SETTINGS: dict[str, Setting] = {row.name: row for row in (
    Setting("seeds", "seeds", _G.JOB, web="seeds"),
    Setting("langs", "langs", _G.JOB, "Languages, as ISO 639 or BCP 47 codes: en,fr", listed, metavar="CODES", web="languages"),
    Setting("strategy", "strategy", _G.JOB, "Visit links in the order of this strategy: {strategies}.", str, metavar="NAME",
        web="strategy"),
    Setting("exhaustive", "exhaustive", _G.JOB, "Visit all of a site, even where nothing more is expected.",
        web="exhaustive", label="Visit all of the site, even where nothing more is expected"),
    Setting("topic", "topic.terms", _G.TOPIC, "Look for pages with these terms: ILSP-FC's format, CSV, TSV or TBX.", metavar="FILE"),
    Setting("texts", "topic.texts", _G.TOPIC, "Look for pages like these texts, a file or a folder of them.", metavar="PATH"),
    Setting("like", "topic.like", _G.TOPIC, "Look for pages like this one, and begin there.", metavar="URL", web="like"),
    Setting("against", "topic.against", _G.TOPIC, "Avoid pages like these texts, a file or a folder of them.", metavar="PATH"),
    Setting("hub", "topic.hub", _G.TOPIC, "The seeds only link to the topic: do not take them as examples.",
        web="hub", label="The addresses above only link to the topic; they are not examples of it"),
    Setting("buckets", "topic.buckets", _G.TOPIC,
        "With the strategy perplexity, visit links of pages below these perplexities first: 100,5000", _numbers, metavar="TWO"),
    Setting("topic_threshold", "topic.threshold", _G.TOPIC, web="topic_threshold"),
    Setting("scope", "scope.reach", _G.SCOPE,
        "Stay on the hosts of the seeds and of their translations (site), follow links to every host of their domains (domain), "
        "or follow a topic over the whole web (web).", metavar="NAME", web="scope"),
    Setting("include", "scope.include", _G.SCOPE, "Follow only URLs that match this regular expression.", metavar="REGEX", web="include"),
    Setting("exclude", "scope.exclude", _G.SCOPE, "Skip URLs that match this regular expression.", metavar="REGEX", web="exclude"),
    Setting("same_host", "scope.same_host", _G.SCOPE, "Stay on the hosts of the seeds.",
        web="same_host", label="Stay on these hosts, without other parts of the site"),
    Setting("under", "scope.under", _G.SCOPE, "Follow only URLs below this path: /docs/", metavar="PATH", web="under"),
    Setting("one_site", "scope.one_site", _G.SCOPE, "Treat these hosts as one site: example.org,exemple.org", _sites, metavar="HOSTS"),
    Setting("max_depth", "scope.depth", _G.SCOPE, "Follow links at most this many steps away from the seeds.", web="depth", most=1000),
    Setting("types", "scope.types", _G.SCOPE, "Read only documents of these types: {types}.", listed, metavar="TYPES"),
    Setting("render", "render.when", _G.SCOPE,
        "Draw pages with a browser, which runs their scripts (extra browser): {renderings}. With auto, only where it brings something.",
        default="auto if the extra is installed", metavar="NAME"),
    Setting("browser", "render.browser", _G.SCOPE,
        "Use this Chromium: its path, or the ws:// address of one that runs.", metavar="PATH_OR_URL"),
    Setting("sitemaps", "scope.sitemaps", _G.SCOPE, "Read sitemaps."),
    Setting("probe", "scope.probe", _G.SCOPE, "Ask each host for a missing page, to recognise its error pages."),
    Setting("gone", "scope.gone", _G.SCOPE, "With --refresh: drop or keep what was found on pages that are gone."),
    Setting("delay", "politeness.delay", _G.POLITENESS, "Wait this many seconds between two visits to a host.",
        metavar="SECONDS", web="delay", most=3600),
    Setting("parallel", "politeness.parallel", _G.POLITENESS,
        "Visit at most this many pages at once, not counting visits that wait for a slow host."),
    Setting("per_host", "politeness.per_host", _G.POLITENESS, "Open at most this many connections to one host."),
    Setting("contact", "fetch.contact", _G.POLITENESS, "Tell webmasters this e-mail address or page, in the User-Agent.",
        metavar="TEXT", web="contact"),
    Setting("proxy", "fetch.proxy", _G.POLITENESS, "Use this HTTP proxy. HTTP_PROXY and similar variables are read too.", metavar="URL"),
    Setting("cookies", "fetch.cookies", _G.POLITENESS, "Accept cookies."),
    Setting("allow_private", "fetch.allow_private", _G.POLITENESS, "Visit private and loopback addresses."),
    Setting("connect_to", "fetch.connect_to", _G.POLITENESS, "Reach a host at another address: '*.test=127.0.0.1:8000'",
        _routes, metavar="HOST=ADDRESS"),
    Setting("ignore_opt_outs", "politeness.opt_outs", _G.POLITENESS,
        "Keep pages that opt out of text and data mining, where your law allows it.", _opt_outs),
    Setting("max_pages", "budget.pages", _G.BUDGET, "Stop after this many pages.", web="pages"),
    Setting("max_minutes", "budget.minutes", _G.BUDGET, "Stop after this many minutes.", web="minutes"),
    Setting("max_megabytes", "budget.megabytes", _G.BUDGET, "Stop after this many megabytes.", web="megabytes"),
    Setting("site_pages", "budget.site_pages", _G.BUDGET, "Leave each site after this many pages."),
    Setting("site_minutes", "budget.site_minutes", _G.BUDGET, "Leave each site after this many minutes."),
    Setting("site_megabytes", "budget.site_megabytes", _G.BUDGET, "Leave each site after this many megabytes."),
    Setting("site_hosts", "budget.site_hosts", _G.BUDGET, "Visit at most this many hosts of each site."),
    Setting("workers", "analysis.workers", _G.BUDGET,
        "Read pages in this many processes; with --sites, mine this many bundles of sites at once.", default="one per core, at most 4"),
    Setting("replay", "replay", _G.ARCHIVES, "Crawl this WARC file, or the files in this folder, instead of the web.", metavar="PATH"),
    Setting("warc", "warc", _G.ARCHIVES, "Take every page of this WARC file, or of the files in this folder.", metavar="PATH"),
    Setting("methods", "pair.methods", _G.PAIRS, "Pair pages by these methods only: {methods}.", default="all", metavar="LETTERS"),
    Setting("url_pair", "pair.url_pairs", _G.PAIRS, "Treat these two texts in URLs as counterparts: en=fr", metavar="A=B"),
    Setting("dictionary", "pair.dictionary", _G.PAIRS, "Use these word pairs: TSV, or hunalign's format.", metavar="FILE"),
    Setting("encoder", "encoder", _G.PAIRS,
        "Pair and align with this sentence-transformers model: sentence-transformers/LaBSE (extra neural).", metavar="NAME_OR_PATH"),
    Setting("url_language_model", "url_language_model", _G.PAIRS,
        "Tell the language behind a URL with this transformer (extra neural).", metavar="NAME_OR_PATH"),
    Setting("url_pair_model", "url_pair_model", _G.PAIRS,
        "Compare two URLs with this transformer, in the strategy url-models (extra neural).", metavar="NAME_OR_PATH"),
    Setting("machine_translated", "pair.machine_translated", _G.PAIRS, "Keep pages that bear marks of machine translation."),
    Setting("max_characters", "align.characters", _G.PAIRS,
        "Split segments that are longer than this, and leave out what cannot be split; the limit is half of this in scripts without spaces between"
        " words, such as Chinese.", web="max_characters", most=100_000),
    Setting("formats", "export.formats", _G.CORPUS, "Write these formats: {formats}.", _lower, default="jsonl,tmx,tsv",
        metavar="NAMES", web="formats"),
    Setting("walk", "discovery.walk", _G.DISCOVERY, web="strategy"),
    Setting("backlinks", "discovery.backlinks", _G.DISCOVERY,
        "Ask this link graph who cites a site: a folder that bitrawl discover graph made, a TSV of links, WARC or WAT files,"
        " a job folder, or the URL of a service. May be given several times.", metavar="PATH"),
    Setting("host_languages", "discovery.host_languages", _G.DISCOVERY,
        "Prefer hosts that have pages in your languages according to this index: a Parquet file of Common Crawl's columnar index, or a folder of"
        " them (extra parquet).", metavar="PATH"),
    Setting("max_downloads", "discovery.downloads", _G.DISCOVERY, "Stop after this many downloads.", web="downloads", most=1_000_000),
    Setting("compress", "export.compress", _G.CORPUS, "Compress the files with gzip."),
    Setting("min_score", "judge.score", _G.CORPUS, "Export only segments that score at least this.", metavar="SCORE", web="min_score"),
    Setting("min_coverage", "judge.coverage", _G.CORPUS, web="min_coverage"),
    Setting("min_length_ratio", "judge.length_ratio", _G.CORPUS, web="min_length_ratio"),
    Setting("min_language", "judge.language", _G.CORPUS, web="min_language"),
    Setting("min_words", "judge.words", _G.CORPUS, web="min_words", most=1000),
    Setting("alignment_types", "judge.types", _G.CORPUS, web="types"),
    Setting("refuse", "judge.refuse", _G.CORPUS, web="refuse"),
    Setting("duplicates", "judge.duplicates", _G.CORPUS, web="duplicates"),
    Setting("accepted_only", "export.accepted_only", _G.CORPUS,
        "Export only page pairs and segments that a person accepted.", reversible=True),
    Setting("anonymise", "export.anonymise", _G.CORPUS,
        "Replace e-mail addresses, telephone, card and national numbers, IBANs and IP addresses by placeholders such as [EMAIL], the same on both"
        " sides (replace), or leave out segments with any (drop). Names and postal addresses stay (extra privacy).",
        metavar="HOW", web="anonymise"),
)}
# fmt: on


def flags(groups: Iterable[Group]) -> dict[str, Setting]:
    """The settings of these groups that a command or a keyword may give."""
    return {name: row for name, row in SETTINGS.items() if row.help and row.group in set(groups)}


def described(given: Mapping[str, Any], groups: Iterable[Group] = MINE) -> dict[str, Any]:
    """Settings as the tables of a job file; None means not given. An unknown name is a `ConfigError`."""
    allowed, values = flags(groups), {}
    for name, value in given.items():
        if name not in allowed:
            raise ConfigError(_unknown(name, allowed))
        read = None if value is None else _read(allowed[name], value)
        if read is not None:
            _check_value(allowed[name], read)
            values[allowed[name].key] = read
    return tables(values)


def tables(values: Mapping[str, Any]) -> dict[str, Any]:
    """From "budget.pages" to the table of a job file."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        table, _, inner = key.rpartition(".")
        (found.setdefault(table, {}) if table else found)[inner] = value
    return found


_TAKES = {
    list: "a text, or a list of texts",
    dict: "a text, a list of texts, or a dictionary of them",
    bool: "True or False",
}


def _read(setting: Setting, value: Any) -> Any:
    kind, _ = _plain(_field(setting.key).type)
    read = setting.read or (_several if get_origin(kind) is list else _text)
    try:
        return read(value)
    except (TypeError, ValueError, AttributeError) as error:  # from Python, anything may come
        takes = _TAKES.get(get_origin(kind) or kind, "a text")
        raise ConfigError(f"{setting.name} ({setting.flag}) is {value!r}; give {takes}") from error


def _check_value(setting: Setting, value: Any) -> None:
    """A number out of bounds or a wrong type is named as the user wrote it; names and formats are checked with the job."""
    try:
        msgspec.convert(value, _field(setting.key).type)
    except msgspec.ValidationError as error:
        if "enum" in str(error):
            return
        shown = f"{value:g}" if isinstance(value, float) else repr(value)
        raise ConfigError(f"{setting.name} ({setting.flag}) is {shown}; {asked_for(str(error))}") from error


_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": 'a text in quotes, as in "text"',
    "array": 'a list, as in ["one", "two"]',
    "object": "a table",
}


def asked_for(error: str) -> str:
    """What msgspec expected: "Expected `float` > 0.0" becomes "give a number greater than 0"."""
    words = {">": "greater than", ">=": "of at least", "<": "below", "<=": "of at most"}
    bound = re.match(r"Expected `(?:int|float)` ([<>]=?) ([\d.]+)", error)
    if bound is not None:
        return f"give a number {words[bound[1]]} {float(bound[2]):g}"
    length = re.match(r"Expected `array` of (?:at least )?length (\d+)", error)
    if length is not None:
        return f"give a list of {length[1]}"
    kind = re.match(r"Expected `(\w+)(?: \| null)?`", error)
    return f"give {_KINDS[kind[1]]}" if kind and kind[1] in _KINDS else error[0].lower() + error[1:].replace("`", "")


def with_lists(described: Mapping[str, Any]) -> dict[str, Any]:
    """A job's description in which each text that stands for a list is one, as its flag would make it."""
    read = dict(described)
    for row in SETTINGS.values():
        table, _, name = row.key.rpartition(".")
        tables: Any = read.get(table) if table else read
        text = tables.get(name) if isinstance(tables, Mapping) else None
        if isinstance(text, str) and get_origin(_plain(_field(row.key).type)[0]) is list:
            changed = {**tables, name: _read(row, text)}
            read = {**read, table: changed} if table else changed
    return read


def _unknown(name: str, allowed: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, allowed, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(sorted(allowed))}"
    return f"there is no setting {name!r}; {hint}"


class Value(NamedTuple):
    """What kind of value a setting takes, by the typed schema of the job file."""

    kind: type  # bool, int, float, str, or an enumeration
    several: bool = False
    least: float | None = None
    most: float | None = None
    default: Any = None


def value_of(setting: Setting) -> Value:
    """From the schema; settings with a reader of their own take texts."""
    field = _field(setting.key)
    kind, meta = _plain(field.type)
    if get_origin(kind) in (list, dict, tuple):
        return Value(str, several=setting.read not in (listed, _lower, _numbers))
    if meta is not None and meta.extra and "names" in meta.extra:
        names = {f"choice_{number}": name for number, name in enumerate(meta.extra["names"]())}
        return Value(StrEnum("Names", names), default=field.default)  # type: ignore[arg-type]
    return Value(kind, least=meta.ge if meta else None, most=meta.le if meta else None, default=field.default)


def keys() -> set[str]:
    """All keys of a job file, and its tables."""
    found = set()
    for field in msgspec.structs.fields(Job):
        found.add(field.name)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            found |= {f"{field.name}.{inner.name}" for inner in msgspec.structs.fields(field.type)}
    return found


def _field(key: str) -> Any:
    """Of the job file's schema."""
    struct: Any = Job
    for part in key.split("."):
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
