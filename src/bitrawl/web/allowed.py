"""What strangers may ask for: from what a person typed to a job that is checked, by a list of allowed settings.

Whatever is not in the list is refused by name. Users give the content of files, never paths, and prefixes, never patterns.
"""

import difflib
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bitrawl import config, files
from bitrawl.assemble.crawling import check
from bitrawl.config import Format, Job, PolitenessSection, Reach, Strategy, Walk, fitting
from bitrawl.crawl.fetch import user_agent
from bitrawl.crawl.scope import folder_path
from bitrawl.errors import ConfigError, FieldError, UrlError
from bitrawl.jobs import bootstrap
from bitrawl.jobs.folder import JobFolder
from bitrawl.jobs.settings import SETTINGS, listed
from bitrawl.languages import parse_language
from bitrawl.url import Url
from bitrawl.web.intent import Command, Prepared, Verb
from bitrawl.web.language_input import typed_languages
from bitrawl.web.said import Said, error_said, quoted, said
from bitrawl.web.settings import Settings
from bitrawl.web.supervisor import sites_of

GIVEN = "given"
"""The folder for what a user uploaded, in the job's own."""

MOST_SEEDS = 10_000  # judgement: more is an attack or a mistake
MOST_PREFIXES = 100  # each is tried on every link; judgement
LONGEST = 2000  # characters of a URL, a path or a name; judgement
_TERM_SUFFIXES = (".csv", ".tsv", ".tab", ".tbx", ".xml")
_TRUE, _FALSE = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


class Upload(NamedTuple):
    """A file of a user. Its name tells its format and nothing else."""

    name: str
    content: bytes

    def suffix(self, allowed: tuple[str, ...], otherwise: str) -> str:
        found = Path(self.name.lower()).suffix
        return found if found in allowed else otherwise


class Uploads(NamedTuple):
    """What came with a form, besides what was typed."""

    seeds: Upload | None = None  # one URL per line
    terms: Upload | None = None
    texts: tuple[Upload, ...] = ()
    warc: Path | None = None  # already written, on the disk of the job folders; it is moved from there


class AskedJob(NamedTuple):
    """A job that may be run, without its files."""

    verb: Verb
    name: str
    described: dict[str, Any]  # as in a job file
    uploads: Uploads
    operator: dict[str, Any]

    def prepare(self, folder: Path) -> Prepared:
        """Write its files into the job's folder; raises `FieldError`."""
        described = config.merged(config.merged(self.described, self._placed(folder / GIVEN)), self.operator)
        try:
            job = config.resolve(described)
            check(job)
        except ConfigError as error:
            about = "terms" if GIVEN in str(error) else ""
            raise FieldError({about: quoted(_without_path(str(error), folder))}) from error
        config.write(job, folder / "job.toml")
        return Prepared(Command(self.verb), sites_of(job))

    def _placed(self, given: Path) -> dict[str, Any]:
        placed: dict[str, Any] = {}
        terms, texts, warc = self.uploads.terms, self.uploads.texts, self.uploads.warc
        if terms is not None:
            path = given / f"terms{terms.suffix(_TERM_SUFFIXES, '.txt')}"
            files.write(path, terms.content)
            placed["topic"] = {"terms": str(path)}
        for number, text in enumerate(texts, 1):
            suffix = text.suffix((".html", ".htm"), ".txt")
            files.write(given / "texts" / f"{number}{suffix}", text.content)
            placed.setdefault("topic", {})["texts"] = [str(given / "texts")]
        if warc is not None:
            with warc.open("rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
            path = given / ("archive.warc.gz" if packed else "archive.warc")
            given.mkdir(exist_ok=True)
            warc.rename(path)
            placed["replay" if self.described.get("seeds") else "warc"] = [str(path)]
        return placed


class AskedBootstrap(NamedTuple):
    """A search for a topic that may be run."""

    name: str
    arguments: tuple[str, ...]
    sites: tuple[str, ...]

    def prepare(self, _folder: Path) -> Prepared:
        return Prepared(Command(Verb.BOOTSTRAP, self.arguments), self.sites)


def mining(given: Mapping[str, object], settings: Settings, uploads: Uploads | None = None) -> AskedJob:
    """A job that mines sites; raises `FieldError`, which names each field that is wrong."""
    return _asked(Verb.MINE, given, settings, uploads or Uploads(), {**_JOB, **_MINING})


def crawling(given: Mapping[str, object], settings: Settings, uploads: Uploads | None = None) -> AskedJob:
    """The same without mining."""
    return _asked(Verb.CRAWL, given, settings, uploads or Uploads(), {**_JOB, **_MINING})


def discovery(given: Mapping[str, object], settings: Settings, uploads: Uploads | None = None) -> AskedJob:
    """A search for bilingual sites; raises `FieldError`."""
    asked = _asked(Verb.DISCOVER, given, settings, uploads or Uploads(), {**_JOB, **_DISCOVERY})
    asked.described.setdefault("discovery", {}).setdefault("walk", Walk.COCITATION.value)
    return asked


def bootstrapping(given: Mapping[str, object], settings: Settings) -> AskedBootstrap:
    """A topic from the category of a Wikipedia; raises `FieldError`."""
    read = _Reading(given, _BOOTSTRAP, settings)
    values = read.values
    if "category" not in values:
        read.mistakes.setdefault("category", said("name a subject, as a category of Wikipedia is called"))
    if "langs" not in values:
        read.mistakes.setdefault("languages", said("name at least one language"))
    read.check()
    fetch, politeness = settings.job.get("fetch", {}), settings.job.get("politeness", {})
    flags = {
        "--langs": ",".join(values["langs"]),
        "--wiki": values.get("wiki", "en"),
        "--depth": values.get("depth"),
        "--max-articles": values.get("articles"),
        "--max-sites": values.get("sites"),
        "--contact": fetch.get("contact") or values.get("fetch.contact"),
        "--delay": politeness.get("delay"),
    }
    arguments = [f"{flag}={value}" for flag, value in flags.items() if value is not None]
    arguments += ["--allow-private"] if fetch.get("allow_private") else []
    arguments += [f"--{'' if on else 'no-'}check-sites" for on in (values.get("check_sites"),) if on is not None]
    wiki = bootstrap.endpoint(flags["--wiki"])
    return AskedBootstrap(values.get("name", ""), (*arguments, "--", values["category"]), (wiki.site,))


def export_again(given: Mapping[str, object], settings: Settings) -> Command:
    """The corpus with other formats or another threshold; raises `FieldError`."""
    read = _Reading(given, {name: _MINING[name] for name in ("formats", "min_score")}, settings)
    read.check()
    arguments = [f"--formats={','.join(read.values['export.formats'])}"] if "export.formats" in read.values else []
    arguments += [f"--min-score={read.values['judge.score']}"] if "judge.score" in read.values else []
    return Command(Verb.EXPORT, tuple(arguments))


def going_on(given: Mapping[str, object], settings: Settings) -> dict[str, Any]:
    """What changes in a job that goes on: it visits all, with the budget given, otherwise with the largest allowed one."""
    names = ("exhaustive", "pages", "megabytes", "minutes")
    read = _Reading(given, {name: {**_JOB, **_MINING}[name] for name in names}, settings)
    read.check()
    described = {"exhaustive": read.values.pop("exhaustive", True), **_tables(_with_budget(read.values, settings))}
    return config.merged(described, {key: settings.job[key] for key in ("exhaustive", "budget") if key in settings.job})


def handed_over(folder: JobFolder) -> dict[str, str]:
    """What a search or a bootstrap found, as the fields of a mining job; raises `ConfigError` if it has found nothing yet."""
    if (folder.path / bootstrap.DESCRIPTION).exists():
        found = bootstrap.read(folder.path)
        seeds = found.sites if len(found.langs) != 1 and found.sites else found.seeds
        terms = found.topic.read_text("utf-8")
        return {"seeds": "\n".join(seeds), "languages": ", ".join(found.langs), "terms": terms, "hub": "on"}
    sites = folder.path / "sites.txt"
    if not sites.exists():
        raise ConfigError("nothing has been found yet")
    seeds = config.seeds_from(sites.read_bytes(), sites.name)
    return {"seeds": "\n".join(seeds), "languages": ", ".join(folder.job().langs)}


def _asked(verb: Verb, given: Mapping[str, object], settings: Settings, uploads: Uploads, fields: "Fields") -> AskedJob:
    read = _Reading(given, fields, settings)
    values = read.values
    if uploads.seeds is not None:
        read.seeds_from(uploads.seeds)
    typed = values.pop("terms", None)
    if typed is not None and uploads.terms is None:
        uploads = uploads._replace(terms=Upload("terms.txt", typed.encode()))
    texts = tuple(Upload("text.txt", text.encode()) for text in values.pop("texts", ()))
    uploads = uploads._replace(texts=(*uploads.texts, *texts))
    _check_together(verb, read, uploads)
    read.check()
    name = values.pop("name", "")
    operator = {key: value for key, value in settings.job.items() if key != "discovery" or verb is Verb.DISCOVER}
    if "politeness.delay" in values:  # not below the operator's: that was checked
        operator = {**operator, "politeness": {**operator.get("politeness", {}), "delay": values["politeness.delay"]}}
    return AskedJob(verb, name, _tables(_with_budget(values, settings)), uploads, operator)


def _check_together(verb: Verb, read: "_Reading", uploads: Uploads) -> None:
    """What one field needs of another, in the words of the form."""
    values, mistakes = read.values, read.mistakes
    languages = values.get("langs", [])
    topic = bool(uploads.terms or uploads.texts or values.get("topic.like"))
    if not languages:
        mistakes.setdefault("languages", said("name at least one language"))
    elif verb is Verb.DISCOVER and len(languages) < 2:
        mistakes.setdefault("languages", said("a bilingual site has two languages; name both"))
    if not (values.get("seeds") or values.get("topic.like") or uploads.warc):
        mistakes.setdefault("seeds", said("type the address of a site, as in https://www.example.org/"))
    if values.get("scope.reach") == Reach.WEB and not topic:
        mistakes.setdefault("scope", said("the whole web needs a topic: give terms, texts or pages to look for"))
    if values.get("strategy") in config.FOCUSED and not topic:
        mistakes.setdefault("strategy", said("this strategy needs a topic: give terms, texts or pages to look for"))
    if values.get("strategy") == Strategy.TERMS and topic and uploads.terms is None:
        mistakes.setdefault("terms", said("the strategy terms needs a list of terms"))
    if values.get("strategy") == Strategy.PERPLEXITY and topic and not uploads.texts:
        mistakes.setdefault("texts", said("the strategy perplexity needs texts about the topic"))
    if values.get("discovery.walk") == Walk.FOCUSED and not topic:
        mistakes.setdefault("strategy", said("this strategy needs a topic: give terms, texts or pages to look for"))
    unfit = [name for name in values.get("export.formats", ()) if languages and name not in fitting(len(languages))]
    if unfit:
        known = ", ".join(fitting(len(languages)))
        mistakes.setdefault(
            "formats", said("{format} is not for these languages; there are {known}", format=unfit[0], known=known)
        )


class _Wrong(Exception):  # noqa: N818 - never leaves this module
    """What was typed into one field cannot be used."""

    def __init__(self, text: str, **values: object) -> None:
        super().__init__(text)
        self.said = said(text, **values)


class Field(NamedTuple):
    """What a user may give, and where it goes."""

    key: str  # of the job file, or of what it becomes
    read: Callable[[Any, Settings], Any]


Fields = Mapping[str, Field]


class _Reading:
    """The values of the fields that were given and are right, by key; the mistakes, by field."""

    def __init__(self, given: Mapping[str, object], fields: Fields, settings: Settings) -> None:
        self.values: dict[str, Any] = {}
        self.mistakes: dict[str, Said] = {}
        self._settings = settings
        for name, value in given.items():
            if name not in fields:
                self.mistakes[name] = _refusal(name, fields)
            elif value not in ("", None, []):
                self._read(name, fields[name], value)

    def _read(self, name: str, field: Field, value: object) -> None:
        try:
            self.values[field.key] = field.read(value, self._settings)
        except _Wrong as wrong:
            self.mistakes[name] = wrong.said
        except (ConfigError, UrlError) as error:
            self.mistakes[name] = error_said(error)

    def seeds_from(self, upload: Upload) -> None:
        """More seeds, from a file."""
        try:
            found = _urls(config.seeds_from(upload.content, "the file"), self._settings)
            self.values["seeds"] = list(dict.fromkeys([*self.values.get("seeds", ()), *found]))
        except _Wrong as wrong:
            self.mistakes["seeds"] = wrong.said
        except ConfigError as error:
            self.mistakes["seeds"] = quoted(str(error))

    def check(self) -> None:
        if self.mistakes:
            raise FieldError(self.mistakes)


def _refusal(name: str, fields: Fields) -> Said:
    """Of a key that users may not give."""
    keys = {setting.key for setting in SETTINGS.values()} | {key.rpartition(".")[2] for key in _schema()}
    if name in SETTINGS or name in keys or name in _schema():
        return said("only the operator of this server can set {name}", name=name)
    near = difflib.get_close_matches(name, fields, 1)
    if near:
        return said("there is no setting {name}; did you mean {near}?", name=name[:LONGEST], near=near[0])
    return said("there is no setting {name}", name=name[:LONGEST])


def _schema() -> set[str]:
    """All keys of a job file, and its tables."""
    keys = set()
    for field in msgspec.structs.fields(Job):
        keys.add(field.name)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            keys |= {f"{field.name}.{inner.name}" for inner in msgspec.structs.fields(field.type)}
    return keys


def _tables(values: Mapping[str, Any]) -> dict[str, Any]:
    """From "budget.pages" to the table of a job file."""
    tables: dict[str, Any] = {}
    for key, value in values.items():
        table, _, inner = key.rpartition(".")
        (tables.setdefault(table, {}) if table else tables)[inner] = value
    return tables


def _with_budget(values: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Every job has a budget: the limits of the server, where the user gave no smaller one."""
    limits = settings.limits
    largest = {
        "budget.pages": limits.pages,
        "budget.megabytes": limits.megabytes,
        "budget.minutes": limits.minutes,
    }
    return {**largest, **values}


# Readers: from what a form or an API gives to a value of a job file


def _text(value: object, _settings: Settings) -> str:
    if not isinstance(value, str):
        raise _Wrong("give a text")
    text = " ".join(value.split())
    if len(text) > LONGEST or not text.isprintable():
        raise _Wrong("give a shorter text, without control characters")
    return text


def _content(value: object, _settings: Settings) -> str:
    if not isinstance(value, str):
        raise _Wrong("give a text")
    return value


def _contents(value: object, _settings: Settings) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _Wrong("give a text, or a list of texts")
    return [text for text in texts if text.strip()]


def _contact(value: object, settings: Settings) -> str:
    contact = _text(value, settings)
    try:
        user_agent(contact)
    except ConfigError as error:
        raise _Wrong("give an e-mail address or the address of a page") from error
    return contact


def _lines(value: object) -> list[str]:
    items = value.splitlines() if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise _Wrong("give one per line, or a list of texts")
    return [item.strip() for item in items if item.strip()]


def _urls(value: object, _settings: Settings) -> list[str]:
    """Addresses as people type them: without a scheme they are https."""
    typed = [one for line in _lines(value) for one in line.split()]
    if len(typed) > MOST_SEEDS:
        raise _Wrong("give at most {most} addresses", most=MOST_SEEDS)
    return [_url(one) for one in typed]


def _url(typed: str) -> str:
    if len(typed) > LONGEST:
        raise _Wrong("{address} is too long", address=typed[:80] + "…")
    scheme, mark, _ = typed.partition("://")
    if mark and scheme.lower() not in ("http", "https"):
        raise _Wrong("{address} is no web address; write it as in https://www.example.org/", address=typed)
    try:
        (url,) = Job(seeds=[typed if mark else f"https://{typed}"]).seed_urls()
    except ConfigError as error:
        raise _Wrong("{address} is no web address; write it as in https://www.example.org/", address=typed) from error
    return str(url)


def _languages(value: object, _settings: Settings) -> list[str]:
    text = value if isinstance(value, str) else ",".join(_lines(value))
    if len(text) > LONGEST:
        raise _Wrong("give fewer languages")
    return [str(code) for code in typed_languages(text)]


def _flag(value: object, _settings: Settings) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in (*_TRUE, *_FALSE):
        return value.lower() in _TRUE
    raise _Wrong("say yes or no")


def _number(value: object, *, whole: bool = False) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or not isfinite(number) or (whole and number != int(number)):
        raise _Wrong("give a whole number") if whole else _Wrong("give a number")
    return int(number) if whole else number


def _between(least: float, most: float, *, whole: bool = False) -> Callable[[Any, Settings], float]:
    def read(value: object, _settings: Settings) -> float:
        number = _number(value, whole=whole)
        if not least <= number <= most:
            raise _Wrong("give a number between {least} and {most}", least=f"{least:g}", most=f"{most:g}")
        return number

    return read


_share = _between(0, 1)


def _budget(name: str, *, whole: bool = False) -> Callable[[Any, Settings], float]:
    def read(value: object, settings: Settings) -> float:
        number, most = _number(value, whole=whole), getattr(settings.limits, name)
        if number <= 0:
            raise _Wrong("give a number greater than 0")
        if number > most:
            raise _Wrong("this server allows at most {most}", most=f"{most:g}")
        return number

    return read


def _delay(value: object, settings: Settings) -> float:
    number = _number(value)
    least = settings.job.get("politeness", {}).get("delay", PolitenessSection().delay)
    if not least <= number <= 3600:
        raise _Wrong("give a number between {least} and {most}", least=f"{least:g}", most="3600")
    return number


def _one_of(names: type[StrEnum]) -> Callable[[Any, Settings], str]:
    def read(value: object, _settings: Settings) -> str:
        if not isinstance(value, str) or value not in set(names):
            raise _Wrong("choose one of {names}", names=", ".join(names))
        return value

    return read


def _formats(value: object, _settings: Settings) -> list[str]:
    names = [name.lower() for name in listed(value if isinstance(value, str) else _lines(value))]
    if any(name not in set(Format) for name in names):
        raise _Wrong("choose from {names}", names=", ".join(Format))
    return names


def _paths(value: object, _settings: Settings) -> list[str]:
    paths = _few(_lines(value))
    try:
        return [folder_path(path) for path in paths]
    except (ConfigError, UrlError) as error:
        raise _Wrong("write a path from the root of the site, as in /docs/") from error


def _prefixes(value: object, _settings: Settings) -> list[str]:
    return [_pattern(one) for one in _few(_lines(value))]


def _few(items: list[str]) -> list[str]:
    if len(items) > MOST_PREFIXES or any(len(item) > LONGEST for item in items):
        raise _Wrong("give at most {most}", most=MOST_PREFIXES)
    return items


def _pattern(prefix: str) -> str:
    """A pattern that matches addresses which begin so, and nothing else: "/news/" on any host, or a whole address."""
    try:
        if prefix.startswith("/") and not prefix.startswith("//"):
            return r"^https?://[^/]+" + re.escape(Url.parse(f"http://host{prefix}").removeprefix("http://host"))
        if prefix.lower().startswith(("http://", "https://")):
            return "^" + re.escape(Url.parse(prefix))
    except UrlError as error:
        raise _Wrong("{prefix} is no beginning of an address", prefix=prefix) from error
    raise _Wrong("begin {prefix} with / or with https://", prefix=prefix)


def _wiki(value: object, settings: Settings) -> str:
    """An edition of Wikipedia, by its language: no address of a server, which might be inside the operator's network."""
    (code, *more) = _languages(value, settings) or [""]
    if more:
        raise _Wrong("name one language")
    return str(parse_language(code))


def _without_path(message: str, folder: Path) -> str:
    return re.sub(rf"{re.escape(str(folder.resolve()))}/(?:{GIVEN}/)?", "", message)


_JOB: Fields = {
    "name": Field("name", _text),
    "seeds": Field("seeds", _urls),
    "languages": Field("langs", _languages),
    "contact": Field("fetch.contact", _contact),
    "terms": Field("terms", _content),
    "texts": Field("texts", _contents),
    "like": Field("topic.like", _urls),
    "hub": Field("topic.hub", _flag),
    "topic_threshold": Field("topic.threshold", _share),
    "pages": Field("budget.pages", _budget("pages", whole=True)),
    "megabytes": Field("budget.megabytes", _budget("megabytes")),
    "minutes": Field("budget.minutes", _budget("minutes")),
    "delay": Field("politeness.delay", _delay),
}
_MINING: Fields = {
    "strategy": Field("strategy", _one_of(Strategy)),
    "exhaustive": Field("exhaustive", _flag),
    "scope": Field("scope.reach", _one_of(Reach)),
    "same_host": Field("scope.same_host", _flag),
    "under": Field("scope.under", _paths),
    "include": Field("scope.include", _prefixes),
    "exclude": Field("scope.exclude", _prefixes),
    "depth": Field("scope.depth", _between(0, 1000, whole=True)),
    "formats": Field("export.formats", _formats),
    "min_score": Field("judge.score", _share),
    "min_coverage": Field("judge.coverage", _share),
    "min_length_ratio": Field("judge.length_ratio", _share),
    "min_language": Field("judge.language", _share),
    "min_words": Field("judge.words", _between(0, 1000, whole=True)),
}
_DISCOVERY: Fields = {
    "strategy": Field("discovery.walk", _one_of(Walk)),
    "downloads": Field("discovery.downloads", _between(1, 1_000_000, whole=True)),
}
_BOOTSTRAP: Fields = {
    "name": Field("name", _text),
    "category": Field("category", _text),
    "languages": Field("langs", _languages),
    "wiki": Field("wiki", _wiki),
    "contact": Field("fetch.contact", _contact),
    "depth": Field("depth", _between(0, 5, whole=True)),
    "articles": Field("articles", _between(1, 20_000, whole=True)),
    "sites": Field("sites", _between(1, 500, whole=True)),
    "check_sites": Field("check_sites", _flag),
}
