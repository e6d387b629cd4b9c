"""What strangers may ask for: from what a person typed to a job that is checked, by the rows of the settings that allow it.

Whatever is not allowed is refused by name. Users give the content of files, never paths, and prefixes, never patterns.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import msgspec

from bitrawl import config, demo, files
from bitrawl.config import DISCOVER, MINE, SETTINGS, Group, Job, Setting, broken, listed, tables, value_of
from bitrawl.config import keys as schema_keys
from bitrawl.corpus import FORMATS
from bitrawl.crawling import Politeness, user_agent
from bitrawl.discover.settings import Walk
from bitrawl.endings import LimitUnit
from bitrawl.errors import ConfigError, FieldError, UrlError
from bitrawl.file_names import DESCRIPTION
from bitrawl.job import BootstrapFolder, JobFolder, check
from bitrawl.languages import parse_language
from bitrawl.url import Url, folder_path, seeds_from
from bitrawl.web.fields import LONGEST, Fields, MistakeError, Reader, between, flag, lines, number, one_of, text
from bitrawl.web.job_list import TEXTS, Command, JobVerb, Prepared
from bitrawl.web.messages import MOST_QUOTED, Message, message, quoted, shortened, typed_languages
from bitrawl.web.operator_settings import Settings, WikiSection
from bitrawl.web.supervisor import sites_of

Texts = list[str] | str
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Table: TypeAlias = "Mapping[str, Field]"


class Field(NamedTuple):
    """What a user may give, and where it goes."""

    key: str  # of the job file, or of what it becomes
    read: Reader[Any]
    kind: Any = str  # of the value in a body of the API


_TERM_SUFFIXES = (".csv", ".tsv", ".tab", ".tbx", ".xml")


class Upload(NamedTuple):
    """A file of a user. Its name tells its format and nothing else."""

    name: str
    content: bytes

    def suffix(self, allowed: tuple[str, ...], otherwise: str) -> str:
        suffix = Path(self.name.lower()).suffix
        return suffix if suffix in allowed else otherwise


class Uploads(NamedTuple):
    """What came with a form, besides what was typed."""

    seeds: Upload | None = None  # one URL per line
    terms: Upload | None = None
    texts: tuple[Upload, ...] = ()
    warc: Path | None = None  # already written, on the disk of the job folders; it is moved from there


class JobRequest(NamedTuple):
    """A job that may be run, without its files."""

    verb: JobVerb
    name: str
    described: dict[str, Any]  # as in a job file
    uploads: Uploads
    operator: dict[str, Any]

    def prepare(self, folder: Path) -> Prepared:
        """Write its files into the job's folder; raises `FieldError`."""
        given = JobFolder(folder).given
        described = config.merged(config.merged(self.described, self._placed(given)), self.operator)
        try:
            job = config.resolve(described)
            check(job)
        except ConfigError as error:
            about = "terms" if given.name in str(error) else ""
            without_path = re.sub(rf"{re.escape(str(folder.resolve()))}/(?:{given.name}/)?", "", str(error))
            raise FieldError({about: quoted(without_path)}) from error
        config.write(job, folder / DESCRIPTION)
        return Prepared(Command(self.verb), sites_of(job))

    def _placed(self, given: Path) -> dict[str, Any]:
        placed: dict[str, Any] = {}
        terms, texts, warc = self.uploads.terms, self.uploads.texts, self.uploads.warc
        if terms is not None:
            path = given / f"terms{terms.suffix(_TERM_SUFFIXES, '.txt')}"
            files.write(path, terms.content)
            placed["topic"] = {"terms": str(path)}
        for order, upload in enumerate(texts, 1):
            suffix = upload.suffix((".html", ".htm"), ".txt")
            files.write(given / "texts" / f"{order}{suffix}", upload.content)
            placed.setdefault("topic", {})["texts"] = [str(given / "texts")]
        if warc is not None:
            with warc.open("rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
            path = given / ("archive.warc.gz" if packed else "archive.warc")
            given.mkdir(exist_ok=True)
            warc.rename(path)
            placed["replay" if self.described.get("seeds") else "warc"] = [str(path)]
        return placed


class TopicRequest(NamedTuple):
    """A search for a topic that may be run."""

    name: str
    arguments: tuple[str, ...]
    sites: tuple[str, ...]

    def prepare(self, _folder: Path) -> Prepared:
        return Prepared(Command(JobVerb.BOOTSTRAP, self.arguments), self.sites)


class AlignRequest(NamedTuple):
    """Two texts, too long to wait for."""

    languages: tuple[str, str]
    texts: tuple[str, str]

    @property
    def name(self) -> str:
        return " – ".join(self.languages)

    def prepare(self, folder: Path) -> Prepared:
        paths = [JobFolder(folder.resolve()).given / name for name in ("a.txt", "b.txt")]
        for path, content in zip(paths, self.texts, strict=True):
            files.write(path, content.encode("utf-8", "replace"))
        files.write(folder / TEXTS, "\t".join(map(str, paths)).encode() + b"\n")
        return Prepared(Command(JobVerb.ALIGN, (f"--langs={','.join(self.languages)}", "--format=tsv")))


class DemoRequest(NamedTuple):
    """The bundled web, in two of its languages. No user and no setting of the operator says where it is."""

    name: str
    described: dict[str, Any]

    def prepare(self, folder: Path) -> Prepared:
        """Demos do not wait for each other: each has the web for itself."""
        config.write(config.resolve(self.described), folder / DESCRIPTION)
        return Prepared(Command(JobVerb.DEMO, ("--resume",)))


StartedRequest: TypeAlias = JobRequest | TopicRequest | AlignRequest | DemoRequest


def mining(given: Mapping[str, object], settings: Settings, uploads: Uploads | None = None) -> JobRequest:
    """A job that mines sites; raises `FieldError`, which names each field that is wrong."""
    return _job_request(JobVerb.MINE, given, settings, uploads or Uploads(), MINING)


def discovery(given: Mapping[str, object], settings: Settings, uploads: Uploads | None = None) -> JobRequest:
    """A search for bilingual sites; raises `FieldError`."""
    return _job_request(JobVerb.DISCOVER, given, settings, uploads or Uploads(), DISCOVERY)


def bootstrapping(given: Mapping[str, object], settings: Settings, _uploads: Uploads | None = None) -> TopicRequest:
    """A topic from a category of Wikipedia, or of the operator's wiki; raises `FieldError`."""
    read = AllowedFields(given, BOOTSTRAP, settings)
    values, wiki = read.values, settings.wiki
    if "category" not in values:
        missing = message("name a subject: a category of Wikipedia")
        if wiki is not None:
            missing = message("name a subject: a category of {wiki}", wiki=wiki.title)
        read.mistakes.setdefault("category", missing)
    if "langs" not in values:
        read.mistakes.setdefault("languages", message("name at least one language"))
    read.check()
    fetch, politeness = settings.job.get("fetch", {}), settings.job.get("politeness", {})
    flags = {
        "--langs": ",".join(values["langs"]),
        "--wiki": _wiki(values.get("wiki"), wiki),
        "--depth": values.get("depth"),
        "--max-articles": values.get("articles"),
        "--max-sites": values.get("sites"),
        "--contact": fetch.get("contact") or values.get("fetch.contact"),
        "--delay": politeness.get("delay"),
    }
    arguments = [f"{flag}={value}" for flag, value in flags.items() if value is not None]
    arguments += ["--allow-private"] if fetch.get("allow_private") else []
    if "check_sites" in values:
        arguments.append("--check-sites" if values["check_sites"] else "--no-check-sites")
    if wiki is not None and wiki.allow_private:
        arguments += [f"--private-wiki={address}" for address in wiki.editions.values()]
    site = Url.parse(flags["--wiki"] if wiki is not None else "https://www.wikipedia.org/").site
    return TopicRequest(values.get("name", values["category"]), (*arguments, "--", values["category"]), (site,))


def demonstration(name: str, language: str, settings: Settings) -> DemoRequest:
    """The bundled web in the language of its hub, and in the reader's if it has that, otherwise in the most frequent."""
    counts = Counter(demo.pages().values())
    first = demo.pages()[demo.seeds()[0]]
    others = [code for code, _ in counts.most_common() if code != first]
    second = next((code for code in others if code == language), others[0])
    return DemoRequest(name, config.merged(demo.described((first, second), 0), tables(_with_budget({}, settings))))


def _wiki(edition: str | None, own: WikiSection | None) -> str:
    """A language of Wikipedia, or the address of the operator's wiki."""
    if own is None:
        return edition or "en"
    return own.editions[edition] if edition else next(iter(own.editions.values()))


def going_on(given: Mapping[str, object], settings: Settings) -> dict[str, Any]:
    """What changes in a job that goes on: it visits all, with the budget given, otherwise with the largest allowed one."""
    names = ("exhaustive", "pages", "megabytes", "minutes")
    values = AllowedFields.checked(given, {name: MINING[name] for name in names}, settings)
    described = {"exhaustive": values.pop("exhaustive", True), **tables(_with_budget(values, settings))}
    return config.merged(described, {key: settings.job[key] for key in ("exhaustive", "budget") if key in settings.job})


def larger_limit(given: Mapping[str, object], settings: Settings) -> dict[str, Any]:
    """What changes in a job that goes on only because it may take more; raises `FieldError`."""
    values = AllowedFields.checked(given, LIMITS, settings)
    return config.merged(tables(values), {key: settings.job[key] for key in ("budget",) if key in settings.job})


def handed_over(folder: JobFolder) -> dict[str, str]:
    """What a search or a bootstrap found, as the fields of a mining job; raises `ConfigError` if it has found nothing yet."""
    if folder.topic.exists():
        topic = BootstrapFolder(folder.path).read()
        seeds = topic.sites if len(topic.langs) != 1 and topic.sites else topic.seeds
        terms = topic.topic.read_text("utf-8")
        return {"seeds": "\n".join(seeds), "languages": ", ".join(topic.langs), "terms": terms, "hub": "true"}
    sites = folder.found_sites
    if not sites.exists():
        raise ConfigError("nothing has been found yet")
    seeds = list(dict.fromkeys(seeds_from(sites.read_bytes(), sites.name)))
    job = folder.job()
    return {"seeds": "\n".join(seeds), "languages": ", ".join(job.langs), "contact": job.fetch.contact}


def _job_request(
    verb: JobVerb, given: Mapping[str, object], settings: Settings, uploads: Uploads, fields: Table
) -> JobRequest:
    read = AllowedFields(given, fields, settings)
    values = read.values
    if uploads.seeds is not None:
        content = uploads.seeds.content
        more = read.attempt("seeds", lambda: urls(seeds_from(content, "the file"), settings), list[str]())
        values["seeds"] = list(dict.fromkeys([*values.get("seeds", ()), *more]))
    name, typed = values.pop("name", ""), values.pop("terms", None)
    if typed is not None and uploads.terms is None:
        uploads = uploads._replace(terms=Upload("terms.txt", typed.encode()))
    texts = tuple(Upload("text.txt", text.encode()) for text in values.pop("texts", ()))
    uploads = uploads._replace(texts=(*uploads.texts, *texts))
    if verb is JobVerb.DISCOVER:
        values.setdefault("discovery.walk", Walk.COCITATION.value)
    _check_together(read, uploads)
    read.check()
    operator = {key: value for key, value in settings.job.items() if key != "discovery" or verb is JobVerb.DISCOVER}
    if "politeness.delay" in values:  # not below the operator's: that was checked
        operator = {**operator, "politeness": {**operator.get("politeness", {}), "delay": values["politeness.delay"]}}
    return JobRequest(verb, name, tables(_with_budget(values, settings)), uploads, operator)


def _check_together(read: "AllowedFields", uploads: Uploads) -> None:
    """What one field needs of another, by the rules of the job file and in the words of the form."""
    uploaded = {
        "warc": ["uploaded"] if uploads.warc and not read.values.get("seeds") else None,
        "topic": {"terms": "uploaded" if uploads.terms else None, "texts": ["uploaded"] if uploads.texts else None},
    }
    job = config.typed(config.merged(tables(read.values), uploaded))
    formats = FORMATS.ours(len(job.langs))
    unfit = next((name for name in job.export.formats if name not in formats), "")
    values = {"format": unfit, "known": ", ".join(formats)}
    for rule in broken(job):
        if rule.said:
            read.mistakes.setdefault(rule.field, message(rule.said, **(values if rule.field == "formats" else {})))


def refusal(name: str, fields: Iterable[str]) -> Message:
    """What to say of a key that users may not give."""
    keys = schema_keys()
    operators = {*keys, *(key.rpartition(".")[2] for key in keys), *(row.name for row in SETTINGS.values() if row.help)}
    if name in operators:
        return message("only the operator of this server can set {name}", name=name)
    near = difflib.get_close_matches(name, fields, 1) if len(name) <= MOST_QUOTED else []
    if near:
        return message("there is no setting {name}; did you mean {near}?", name=name, near=near[0])
    return message("there is no setting {name}", name=name)


class AllowedFields(Fields):
    """What a user gave, read by a table of what users may give: the values that are right, by key."""

    def __init__(self, given: Mapping[str, object], table: Table, settings: Settings) -> None:
        super().__init__(given, settings)
        self.values: dict[str, Any] = {}
        for name in given:
            if name not in table:
                self.mistakes[shortened(name)] = refusal(name, table)
            elif (value := self.read(name, table[name].read, None)) is not None:
                self.values[table[name].key] = value
            if len(self.mistakes) >= MOST_MISTAKES:
                break

    @classmethod
    def checked(cls, given: Mapping[str, object], table: Table, settings: Settings) -> dict[str, Any]:
        """The values. Raises `FieldError`."""
        read = cls(given, table, settings)
        read.check()
        return read.values


def _with_budget(values: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Every job has a budget: the limits of the server, where the user gave no smaller one."""
    largest = {f"budget.{name}": getattr(settings.limits, name) for name in ("pages", "megabytes", "minutes")}
    return {**largest, **values}


MOST_SEEDS = 10_000  # more is an attack or a mistake
MOST_PREFIXES = 100  # each is tried on every link
MOST_TERMS = 1_000_000  # characters of a term list that was typed
MOST_TEXTS = 2_000_000  # characters of all texts about a topic that were typed
MOST_TYPES = 100  # of alignments
MOST_MISTAKES = 20  # that one answer names


def content(value: object, _settings: Settings) -> str:
    if not isinstance(value, str):
        raise MistakeError("give a text")
    if len(value) > MOST_TERMS:
        raise MistakeError("give at most {most} characters", most=MOST_TERMS)
    if any(len(line) > LONGEST for line in value.splitlines()):
        raise MistakeError("write one term on each line, of at most {most} characters", most=LONGEST)
    return value


def contents(value: object, _settings: Settings) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise MistakeError("give a text, or a list of texts")
    if sum(map(len, texts)) > MOST_TEXTS:
        raise MistakeError("give at most {most} characters", most=MOST_TEXTS)
    return [text for text in texts if text.strip()]


def contact(value: object, settings: Settings) -> str:
    address = text(value, settings)
    try:
        user_agent(address)
    except ConfigError as error:
        raise MistakeError("give an e-mail address or the address of a page") from error
    return address


def urls(value: object, _settings: Settings) -> list[str]:
    """Addresses as people type them: without a scheme they are https."""
    addresses = [address for line in lines(value) for address in line.split()]
    if len(addresses) > MOST_SEEDS:
        raise MistakeError("give at most {most} addresses", most=MOST_SEEDS)
    return [_url(address) for address in addresses]


def _url(typed: str) -> str:
    if len(typed) > LONGEST:
        raise MistakeError("{address} is too long", address=typed[:80] + "…")
    scheme, mark, _ = typed.partition("://")
    if mark and scheme.lower() not in ("http", "https"):
        raise MistakeError("{address} is not a web address; write it as in https://www.example.org/", address=typed)
    try:
        (url,) = Job(seeds=[typed]).seed_urls()
    except ConfigError as error:
        raise MistakeError(
            "{address} is not a web address; write it as in https://www.example.org/", address=typed
        ) from error
    return str(url)


def languages(value: object, _settings: Settings) -> list[str]:
    text = value if isinstance(value, str) else ",".join(lines(value))
    if len(text) > LONGEST:
        raise MistakeError("give fewer languages")
    return [str(code) for code in typed_languages(text)]


def budget(name: str, *, whole: bool = False) -> Reader[float]:
    def read(value: object, settings: Settings) -> float:
        given, most = number(value, whole=whole), getattr(settings.limits, name)
        if given <= 0:
            raise MistakeError("give a number greater than 0")
        if given > most:
            raise MistakeError("this server allows at most {most}", most=f"{most:g}")
        return given

    return read


def delay(value: object, settings: Settings) -> float:
    least = settings.job.get("politeness", {}).get("delay", Politeness().delay)
    return between(least, 3600)(value, settings)


def formats(value: object, _settings: Settings) -> list[str]:
    names = [name.lower() for name in listed(value if isinstance(value, str) else lines(value))]
    if any(name not in FORMATS.names() for name in names):
        raise MistakeError("choose from {names}", names=", ".join(FORMATS.names()))
    return names


def alignment_types(value: object, _settings: Settings) -> list[str]:
    names = listed(value) if isinstance(value, str) else lines(value)
    if len(names) > MOST_TYPES or not all(re.fullmatch(r"[0-9]{1,2}:[0-9]{1,2}", name) for name in names):
        raise MistakeError("write numbers of sentences, as in 1:1, 1:2")
    return names


def flag_names(value: object, settings: Settings) -> list[str]:
    """Flags of segments, or their beginnings."""
    return [text(name, settings) for name in _few(lines(value))]


def paths(value: object, _settings: Settings) -> list[str]:
    paths = _few(lines(value))
    try:
        return [folder_path(path) for path in paths]
    except (ConfigError, UrlError) as error:
        raise MistakeError("write a path from the root of the site, as in /docs/") from error


def prefixes(value: object, _settings: Settings) -> list[str]:
    return [_pattern(prefix) for prefix in _few(lines(value))]


def _few(items: list[str]) -> list[str]:
    if len(items) > MOST_PREFIXES or any(len(item) > LONGEST for item in items):
        raise MistakeError("give at most {most}", most=MOST_PREFIXES)
    return items


def _pattern(prefix: str) -> str:
    """A pattern that matches addresses which begin so, and nothing else: "/news/" on any host, or a whole address."""
    try:
        if prefix.startswith("/") and not prefix.startswith("//"):
            return r"^https?://[^/]+" + re.escape(Url.parse(f"http://host{prefix}").removeprefix("http://host"))
        if prefix.lower().startswith(("http://", "https://")):
            return "^" + re.escape(Url.parse(prefix))
    except UrlError as error:
        raise MistakeError("{prefix} is not the beginning of an address", prefix=prefix) from error
    raise MistakeError("begin {prefix} with / or with https://", prefix=prefix)


def wiki(value: object, settings: Settings) -> str:
    """An edition, by its language: no address of a server, which might be inside the operator's network."""
    (code, *more) = languages(value, settings) or [""]
    if more:
        raise MistakeError("name one language")
    if settings.wiki is not None and code not in settings.wiki.editions:
        raise MistakeError("choose one of {names}", names=", ".join(settings.wiki.editions))
    return str(parse_language(code))


def _field(row: Setting) -> Field:
    """Read as its type and its bounds say, unless the app reads it in a way of its own."""
    value, read = value_of(row), _READERS.get(row.key)
    if read is not None:
        return Field(row.key, read, Texts if read in _LISTS else value.kind)
    if value.kind is bool:
        return Field(row.key, flag, bool)
    if issubclass(value.kind, StrEnum):
        return Field(row.key, one_of(value.kind), value.kind)
    most = row.most if value.most is None else value.most
    read = between(value.least or 0, most or 0, whole=value.kind is int)
    return Field(row.key, read, Share if value.kind is float and most == 1 else value.kind)


class FormField(NamedTuple):
    """What the form asks for because the row of a setting has a label: a box to tick, or a number."""

    name: str
    label: str
    key: str
    is_switch: bool


def form_fields() -> dict[str, list[FormField]]:
    """The fields that the form has from the table of settings, by their heading."""
    rows = [row for row in SETTINGS.values() if row.web and row.label]
    fields = [(row.group, FormField(row.web, row.label, row.key, value_of(row).kind is bool)) for row in rows]
    return {group: [field for of, field in fields if of is group] for group in Group}


def _allowed(groups: Iterable[Group]) -> dict[str, Field]:
    return {row.web: _field(row) for row in SETTINGS.values() if row.web and row.group in groups}


_READERS: Mapping[str, Reader[Any]] = {
    "seeds": urls,
    "langs": languages,
    "fetch.contact": contact,
    "topic.like": urls,
    "budget.pages": budget("pages", whole=True),
    "budget.megabytes": budget("megabytes"),
    "budget.minutes": budget("minutes"),
    "politeness.delay": delay,
    "scope.under": paths,
    "scope.include": prefixes,
    "scope.exclude": prefixes,
    "export.formats": formats,
    "judge.types": alignment_types,
    "judge.refuse": flag_names,
}
_LISTS = (urls, languages, paths, prefixes, formats, alignment_types, flag_names)
_OWN: Table = {"name": Field("name", text), "terms": Field("terms", content), "texts": Field("texts", contents, Texts)}
MINING: Table = {**_OWN, **_allowed(MINE)}
DISCOVERY: Table = {**_OWN, **{name: MINING[name] for name in ("seeds", "languages")}, **_allowed(DISCOVER)}
BOOTSTRAP: Table = {
    "category": Field("category", text),
    **{name: MINING[name] for name in ("name", "languages", "contact")},
    "wiki": Field("wiki", wiki),
    "depth": Field("depth", between(0, 5, whole=True), int),
    "articles": Field("articles", between(1, 20_000, whole=True), int),
    "sites": Field("sites", between(1, 500, whole=True), int),
    "check_sites": Field("check_sites", flag, bool | None),
}
LIMITS: Table = {str(unit): {**MINING, **DISCOVERY}[unit] for unit in LimitUnit}
THRESHOLDS: Table = {name: field for name, field in MINING.items() if field.key.startswith("judge.")}
