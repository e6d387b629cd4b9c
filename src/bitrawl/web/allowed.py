"""What strangers may ask for: from what a person typed to a job that is checked, by a list of allowed settings.

Whatever is not in the list is refused by name. Users give the content of files, never paths, and prefixes, never patterns.
"""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bitrawl import config, files
from bitrawl.assemble.crawling import check
from bitrawl.config import Job, Reach, Strategy, Walk, fitting
from bitrawl.config.settings import SETTINGS
from bitrawl.errors import ConfigError, FieldError, UrlError
from bitrawl.jobs import bootstrap
from bitrawl.jobs.folder import JobFolder
from bitrawl.web import fields
from bitrawl.web.fields import Field, Fields
from bitrawl.web.intent import Command, Prepared, Verb
from bitrawl.web.said import Said, error_said, quoted, said
from bitrawl.web.settings import Settings, WikiSection
from bitrawl.web.supervisor import sites_of

GIVEN = "given"
"""The folder for what a user uploaded, in the job's own."""

_TERM_SUFFIXES = (".csv", ".tsv", ".tab", ".tbx", ".xml")


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
    """A topic from a category of Wikipedia, or of the operator's wiki; raises `FieldError`."""
    read = _Reading(given, _BOOTSTRAP, settings)
    values = read.values
    if "category" not in values:
        named = said("name a subject, as a category of Wikipedia is called")
        if settings.wiki is not None:
            named = said("name a subject, as a category of {wiki} is called", wiki=settings.wiki.shown)
        read.mistakes.setdefault("category", named)
    if "langs" not in values:
        read.mistakes.setdefault("languages", said("name at least one language"))
    read.check()
    fetch, politeness = settings.job.get("fetch", {}), settings.job.get("politeness", {})
    flags = {
        "--langs": ",".join(values["langs"]),
        "--wiki": _wiki(values.get("wiki"), settings.wiki),
        "--depth": values.get("depth"),
        "--max-articles": values.get("articles"),
        "--max-sites": values.get("sites"),
        "--contact": fetch.get("contact") or values.get("fetch.contact"),
        "--delay": politeness.get("delay"),
    }
    arguments = [f"{flag}={value}" for flag, value in flags.items() if value is not None]
    arguments += ["--allow-private"] if fetch.get("allow_private") else []
    arguments += [f"--{'' if on else 'no-'}check-sites" for on in (values.get("check_sites"),) if on is not None]
    if settings.wiki is not None and settings.wiki.allow_private:
        arguments += [f"--private-wiki={address}" for address in settings.wiki.editions.values()]
    site = bootstrap.endpoint(flags["--wiki"]).site
    return AskedBootstrap(values.get("name", ""), (*arguments, "--", values["category"]), (site,))


def _wiki(edition: str | None, own: WikiSection | None) -> str:
    """A language of Wikipedia, or the address of the operator's wiki."""
    if own is None:
        return edition or "en"
    return own.editions[edition] if edition else next(iter(own.editions.values()))


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
        return {"seeds": "\n".join(seeds), "languages": ", ".join(found.langs), "terms": terms, "hub": "true"}
    sites = folder.path / "sites.txt"
    if not sites.exists():
        raise ConfigError("nothing has been found yet")
    seeds = list(dict.fromkeys(config.seeds_from(sites.read_bytes(), sites.name)))
    job = folder.job()
    return {"seeds": "\n".join(seeds), "languages": ", ".join(job.langs), "contact": job.fetch.contact}


def _asked(verb: Verb, given: Mapping[str, object], settings: Settings, uploads: Uploads, known: Fields) -> AskedJob:
    read = _Reading(given, known, settings)
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


class _Reading:
    """The values of the fields that were given and are right, by key; the mistakes, by field."""

    def __init__(self, given: Mapping[str, object], known: Fields, settings: Settings) -> None:
        self.values: dict[str, Any] = {}
        self.mistakes: dict[str, Said] = {}
        self._settings = settings
        for name, value in given.items():
            if name not in known:
                self.mistakes[name] = _refusal(name, known)
            elif value not in ("", None, []):
                self._read(name, known[name], value)

    def _read(self, name: str, field: Field, value: object) -> None:
        try:
            self.values[field.key] = field.read(value, self._settings)
        except fields.Wrong as wrong:
            self.mistakes[name] = wrong.said
        except (ConfigError, UrlError) as error:
            self.mistakes[name] = error_said(error)

    def seeds_from(self, upload: Upload) -> None:
        """More seeds, from a file."""
        try:
            found = fields.urls(config.seeds_from(upload.content, "the file"), self._settings)
            self.values["seeds"] = list(dict.fromkeys([*self.values.get("seeds", ()), *found]))
        except fields.Wrong as wrong:
            self.mistakes["seeds"] = wrong.said
        except ConfigError as error:
            self.mistakes["seeds"] = quoted(str(error))

    def check(self) -> None:
        if self.mistakes:
            raise FieldError(self.mistakes)


def _refusal(name: str, known: Fields) -> Said:
    """Of a key that users may not give."""
    keys = {setting.key for setting in SETTINGS.values()} | {key.rpartition(".")[2] for key in _schema()}
    if name in SETTINGS or name in keys or name in _schema():
        return said("only the operator of this server can set {name}", name=name)
    near = difflib.get_close_matches(name, known, 1)
    if near:
        return said("there is no setting {name}; did you mean {near}?", name=name[: fields.LONGEST], near=near[0])
    return said("there is no setting {name}", name=name[: fields.LONGEST])


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


def _without_path(message: str, folder: Path) -> str:
    return re.sub(rf"{re.escape(str(folder.resolve()))}/(?:{GIVEN}/)?", "", message)


_JOB: Fields = {
    "name": Field("name", fields.text),
    "seeds": Field("seeds", fields.urls),
    "languages": Field("langs", fields.languages),
    "contact": Field("fetch.contact", fields.contact),
    "terms": Field("terms", fields.content),
    "texts": Field("texts", fields.contents),
    "like": Field("topic.like", fields.urls),
    "hub": Field("topic.hub", fields.flag),
    "topic_threshold": Field("topic.threshold", fields.share),
    "pages": Field("budget.pages", fields.budget("pages", whole=True)),
    "megabytes": Field("budget.megabytes", fields.budget("megabytes")),
    "minutes": Field("budget.minutes", fields.budget("minutes")),
    "delay": Field("politeness.delay", fields.delay),
}
_MINING: Fields = {
    "strategy": Field("strategy", fields.one_of(Strategy)),
    "exhaustive": Field("exhaustive", fields.flag),
    "scope": Field("scope.reach", fields.one_of(Reach)),
    "same_host": Field("scope.same_host", fields.flag),
    "under": Field("scope.under", fields.paths),
    "include": Field("scope.include", fields.prefixes),
    "exclude": Field("scope.exclude", fields.prefixes),
    "depth": Field("scope.depth", fields.between(0, 1000, whole=True)),
    "formats": Field("export.formats", fields.formats),
    "min_score": Field("judge.score", fields.share),
    "min_coverage": Field("judge.coverage", fields.share),
    "min_length_ratio": Field("judge.length_ratio", fields.share),
    "min_language": Field("judge.language", fields.share),
    "min_words": Field("judge.words", fields.between(0, 1000, whole=True)),
    "max_characters": Field("align.characters", fields.between(50, 100_000, whole=True)),
}
_DISCOVERY: Fields = {
    "strategy": Field("discovery.walk", fields.one_of(Walk)),
    "downloads": Field("discovery.downloads", fields.between(1, 1_000_000, whole=True)),
}
_BOOTSTRAP: Fields = {
    "name": Field("name", fields.text),
    "category": Field("category", fields.text),
    "languages": Field("langs", fields.languages),
    "wiki": Field("wiki", fields.wiki),
    "contact": Field("fetch.contact", fields.contact),
    "depth": Field("depth", fields.between(0, 5, whole=True)),
    "articles": Field("articles", fields.between(1, 20_000, whole=True)),
    "sites": Field("sites", fields.between(1, 500, whole=True)),
    "check_sites": Field("check_sites", fields.flag),
}
