"""From what was asked to a job that can be run, or to an error that says what to change."""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

import msgspec

from bitrawl.config.schema import Job, seed_url
from bitrawl.config.settings import SETTINGS, asked_for, keys, with_lists
from bitrawl.corpus import FORMATS
from bitrawl.crawling import Reach
from bitrawl.discover.settings import Walk
from bitrawl.errors import ConfigError
from bitrawl.languages import language_name, parse_language, same_language, two_languages
from bitrawl.model_files import check_model_names
from bitrawl.strategies import FOCUSED, STRATEGIES, Strategy
from bitrawl.topic.settings import TopicModel

Description = TypeVar("Description", bound=msgspec.Struct)
_CHOICES = {
    "scope.reach": "scope",
    "topic.model": "topic model",
    "discovery.walk": "walk",
    "scope.types": "type",
    "render.when": "render mode",
}  # what people call them


def resolve(described: Mapping[str, Any], *, where: str = "") -> Job:
    """A job that can be run, in standard form; raises `ConfigError` before anything is done, and says where it erred."""
    try:
        return _resolved(described)
    except ConfigError as error:
        if not where:
            raise
        raise ConfigError(f"{where}: {error}") from error


def typed(described: Mapping[str, Any]) -> Job:
    """Known keys with values of the right types, and nothing checked beyond that; raises `ConfigError`.

    A text where a list belongs is read as its flag is: langs = "en,fr".
    """
    job = converted(with_lists(described), Job)
    STRATEGIES.check_known([job.strategy])
    FORMATS.check_known(job.export.formats)
    return job


def converted(described: Mapping[str, Any], kind: type[Description]) -> Description:
    """A description by its schema; raises `ConfigError`, which names the nearest known key or the choices."""
    try:
        return msgspec.convert(described, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(_explain(str(error), kind, described)) from error


def continues(job: Job, earlier: Job) -> None:
    """Refuse to mix two jobs in one folder; more seeds, other budgets and other politeness are the same job."""
    for key in ("langs", "replay", "warc", "strategy", "discovery.walk", *(f"topic.{name}" for name in _TOPIC)):
        table, _, name = key.rpartition(".")
        before, now = (getattr(getattr(one, table) if table else one, name) for one in (earlier, job))
        if before != now:
            raise ConfigError(
                f"this folder holds a job with {_told(key, before)}, but you asked for {_told(key, now, named=False)};"
                " choose another --out, or start over with --fresh"
            )


_TOPIC = ("terms", "texts", "like", "against", "hub", "model", "language_models")


def _told(key: str, value: object, *, named: bool = True) -> str:
    if key == "discovery.walk":
        return str(value or "no search for sites")
    shown = ",".join(value) or "none" if isinstance(value, list) else str(value)
    return (f"{key} = " if named else "") + (shown or "none" if key.startswith("topic.") else shown)


def _resolved(described: Mapping[str, Any]) -> Job:
    job = typed(described)
    for pattern in (*job.scope.include, *job.scope.exclude):
        _check_pattern(pattern)
    for rule in broken(job):
        raise ConfigError(rule.message(job))
    check_model_names(job.models)
    job = with_paths(job, _whole)
    like = list(dict.fromkeys(str(seed_url(raw)) for raw in job.topic.like))
    return msgspec.structs.replace(
        job,
        export=msgspec.structs.replace(job.export, formats=job.export.formats or FORMATS.usual(len(job.languages()))),
        langs=[str(language) for language in job.languages()],
        seeds=list(dict.fromkeys(str(seed_url(raw)) for raw in job.seeds)),
        topic=msgspec.structs.replace(job.topic, like=like),
    )


class SettingRule(NamedTuple):
    """What one setting needs of others."""

    is_broken: Callable[[Job], object]
    message: Callable[[Job], str]
    field: str = ""  # of the web app's form ...
    said: str = ""  # ... and what it says there, a key of its catalogues; empty where its form cannot ask for this


def broken(job: Job) -> Iterator[SettingRule]:
    """The rules that the job breaks, the one to tell first."""
    return (rule for rule in RULES if rule.is_broken(job))


def _rule(is_broken: Callable[[Job], object], message: str, field: str = "", said: str = "") -> SettingRule:
    return SettingRule(is_broken, lambda job: message.format(job=job, model=job.topic_model()), field, said)


def _is_one_twice(job: Job) -> bool:
    languages = job.languages()
    return len(job.langs) > 1 and all(
        same_language(one, languages[0]) and same_language(languages[0], one) for one in languages
    )


def _region_told(job: Job) -> str:
    """One language where two were meant: `en-fr`, which is English as in France."""
    two = two_languages(job.langs[0]) or ("", "")
    return (
        f"{job.langs[0]!r} is one language, {language_name(job.languages()[0].partition('-')[0])} as in the region"
        f" {two[1].upper()}; for two languages write --langs {two[0]},{two[1]}, and for one --langs {two[0]}"
    )


def _lacks_terms(job: Job) -> bool:
    return TopicModel.TERMS in (job.topic_model(), job.strategy) and job.topic.is_set and not job.topic.terms


def _lacks_texts(job: Job) -> bool:
    return job.topic_model() is TopicModel.PERPLEXITY and not (job.topic.texts or job.topic.language_models)


def _searches(job: Job) -> bool:
    return job.discovery.is_set


def _missing_backlinks(job: Job) -> str:
    return _missing([name for name in job.discovery.backlinks if "://" not in name])


def _missing_archive(job: Job) -> str:
    return _missing([*job.replay, *job.warc])


def _missing(names: list[str]) -> str:
    """The first that is not there."""
    return next((name for name in names if not Path(name).exists()), "")


_NEEDS_TOPIC = "this strategy needs a topic: give terms, texts or pages to look for"
RULES = (
    _rule(lambda job: not job.langs, "no languages are named; say which, as in --langs en,fr",
        "languages", "name at least one language"),
    SettingRule(lambda job: len(job.langs) == 1 and job.languages() and two_languages(job.langs[0]), _region_told),
    SettingRule(_is_one_twice, lambda job: f"{', '.join(job.langs)} are one language, {language_name(job.languages()[0])};"
        " name it once, or name another with it"),
    _rule(lambda job: job.strategy in FOCUSED and not job.topic.is_set,
        "the strategy {job.strategy} needs a topic; name one with --topic FILE or --texts FOLDER", "strategy", _NEEDS_TOPIC),
    _rule(lambda job: job.scope.reach is Reach.WEB and not job.topic.is_set and not _searches(job),
        "--scope web needs a topic, or the crawl never ends; name one with --topic or --texts",
        "scope", "the whole web needs a topic: give terms, texts or pages to look for"),
    _rule(lambda job: job.topic.against and not job.topic.is_set,
        "--against says only what a topic is not; say what it is with --topic, --texts or --like"),
    _rule(lambda job: job.strategy == Strategy.TERMS and _lacks_terms(job),
        "the strategy terms needs a term list (--topic FILE); bitrawl topic learn makes one",
        "terms", "the strategy terms needs a list of terms"),
    _rule(_lacks_terms, "the topic model terms needs a term list (--topic FILE); bitrawl topic learn makes one"),
    _rule(_lacks_texts, "the topic model perplexity needs texts (--texts FOLDER) or language_models in [topic]",
        "texts", "the strategy perplexity needs texts about the topic"),
    _rule(lambda job: job.strategy == Strategy.PERPLEXITY and job.topic_model() is not TopicModel.PERPLEXITY,
        "the strategy perplexity needs the topic model perplexity; remove model = '{model}'"),
    _rule(lambda job: not 1 <= job.topic.buckets[0] <= job.topic.buckets[1] < inf,
        "topic.buckets are two perplexities of at least 1, the lower one first, as in --buckets 100,5000"),
    _rule(lambda job: not _searches(job)
        and (job.discovery.backlinks or job.discovery.host_languages or job.discovery.downloads),
        '[discovery] has no walk; name one, as in walk = "cocitation", or run bitrawl discover'),
    _rule(lambda job: _searches(job) and len(job.languages()) < 2,
        "a bilingual site has two languages; name both, as in --langs en,fr",
        "languages", "a bilingual site has two languages; name both"),
    _rule(lambda job: job.discovery.walk is Walk.FOCUSED and not job.topic.is_set,
        "the strategy focused needs a topic; name one with --topic FILE or --texts FOLDER", "strategy", _NEEDS_TOPIC),
    _rule(lambda job: _searches(job) and job.warc,
        "sites are searched for on the web, or in archives that stand for it: use --replay, not --warc"),
    SettingRule(_missing_backlinks, lambda job: f"--backlinks: there is no file or folder {_missing_backlinks(job)}"),
    _rule(lambda job: job.discovery.host_languages and not Path(job.discovery.host_languages).exists(),
        "--host-languages: there is no file or folder {job.discovery.host_languages}"),
    _rule(lambda job: not (job.seeds or job.warc or job.replay or job.topic.like),
        "nowhere to start; name a site, as in https://www.example.org/",
        "seeds", "type the address of a site, as in https://www.example.org/"),
    _rule(lambda job: job.warc and (job.replay or job.seeds),
        "--warc takes whole files, without seeds; to crawl them as a web, use --replay"),
    SettingRule(_missing_archive, lambda job: f"there is no file or folder {_missing_archive(job)}"),
    SettingRule(lambda job: job.langs and FORMATS.unfit(job.export.formats, len(job.languages())),
        lambda job: FORMATS.unfit(job.export.formats, len(job.languages())),
        "formats", "{format} is not a format for these languages; choose from {known}"),
)  # fmt: skip


def _check_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        message = (
            f"the pattern {pattern!r} is not a valid regular expression: {error}; write a dot as \\. and a star as .*"
        )
        raise ConfigError(message) from error


def with_paths(section: Description, change: Callable[[str, str], str]) -> Description:
    """With every name of a file changed, given what kind of name it is by the schema."""
    changed: dict[str, Any] = {}
    for field in msgspec.structs.fields(section):
        value, kind = getattr(section, field.name), field.type
        if isinstance(value, msgspec.Struct):
            changed[field.name] = with_paths(value, change)
            continue
        item = get_args(kind)[0] if get_origin(kind) is list else kind
        metas = [one for one in getattr(item, "__metadata__", ()) if one.extra and "path" in one.extra]
        for meta in metas:
            told = meta.extra["path"]
            changed[field.name] = (
                [change(told, one) for one in value] if isinstance(value, list) else change(told, value)
            )
    return msgspec.structs.replace(section, **changed)


def _whole(kind: str, name: str) -> str:
    """The whole path of a file; an address and the name of a public model as they are."""
    if kind == "file of a language":
        code, mark, path = name.partition("=")
        if not mark or not path:
            raise ConfigError(
                f'topic.language_models: {name!r} is not LANGUAGE=FILE; write it like this: "en=topic.arpa"'
            )
        return f"{parse_language(code)}={Path(path).resolve()}"
    if not name or (kind == "file or URL" and "://" in name):
        return name
    if kind == "folder or model" and not os.path.isdir(name):  # noqa: PTH112 - any text may be given
        return name
    return str(Path(name).resolve())


def _explain(error: str, kind: type[msgspec.Struct], described: Mapping[str, Any]) -> str:
    """What msgspec says as a sentence of ours: which key is wrong, and what to write there."""
    at = re.search(r"at `\$\.?(.*)`", error)
    path = at[1] if at else ""
    choice = re.sub(r"\[.*\]$", "", path)  # of a list
    if "Invalid enum value" in error and choice in _CHOICES:
        wrong, what, names = error.split("'")[1] if "'" in error else error, _CHOICES[choice], _at(kind, choice)
        return f"there is no {what} {wrong!r}; the {what}s are {', '.join(*get_args(names) or (names,))}"
    parts = error.split("`")
    if "unknown field" in error and len(parts) > 1:
        return unknown_key(parts[1], path, kind)
    table, _, key = path.rpartition(".")
    place, value = f" in [{table}]" if table else "", _value_at(described, path)
    if "Expected `object`" in error:
        return f"{key} is a table: write [{path}] on a line of its own, and its keys below it"
    shown = f" is {msgspec.json.encode(value, enc_hook=str).decode()}" if value is not None else " is not right"
    return f"{key or 'the description'}{place}{shown}; {asked_for(error)}"


def unknown_key(name: str, table: str, kind: type[msgspec.Struct]) -> str:
    """Where the key belongs that was meant: one of the same name elsewhere, a flag's, or the nearest."""
    where = f" in [{table}]" if table else ""
    here = [field.name for field in msgspec.structs.fields(_at(kind, table))]
    if kind is not Job:
        near = difflib.get_close_matches(name, here, 1)
        return f"unknown key {name!r}{where}; " + (f"did you mean {near[0]!r}?" if near else _known(here))
    plain = name.replace("-", "_").lower()
    homes = [key for key in keys() if key.rpartition(".")[2] == plain and key != plain]
    if plain in keys():
        return f"{name!r} does not belong in [{table}]; write it at the top of the file, above the first [table]"
    if homes:
        tables = sorted(home.rpartition(".")[0] for home in homes)
        return f"unknown key {name!r}{where}; it belongs in {' or '.join(f'[{home}]' for home in tables)}"
    if plain in SETTINGS:
        return f"unknown key {name!r}{where}; in a job file it is {_placed(SETTINGS[plain].key)}"
    near = difflib.get_close_matches(plain, here, 1)
    if near:
        return f"unknown key {name!r}{where}; did you mean {near[0]!r}?"
    elsewhere = {key.rpartition(".")[2]: key for key in sorted(keys())} | {
        name: row.key for name, row in SETTINGS.items()
    }
    near = difflib.get_close_matches(plain, elsewhere, 1)
    return f"unknown key {name!r}{where}; " + (f"did you mean {_placed(elsewhere[near[0]])}?" if near else _known(here))


def _known(names: Iterable[str]) -> str:
    return f"the keys are {', '.join(names)}"


def _placed(key: str) -> str:
    table, _, name = key.rpartition(".")
    return f"{name!r} in [{table}]" if table else f"{name!r} at the top"


def _value_at(described: Any, path: str) -> Any:
    """What stands at a place of a description; None if that cannot be told."""
    for step in filter(None, re.split(r"[.\[\]]+", path)):
        if isinstance(described, Mapping) and step in described:
            described = described[step]
        elif isinstance(described, list) and step.isdecimal():
            described = described[int(step)]
        else:
            return None
    return described


def _at(kind: Any, path: str) -> Any:
    """The type at a place of the schema, without None; `[...]` is any value of a table."""
    for step in filter(None, path.replace("[...]", ".*").split(".")):
        if step == "*":
            kind = get_args(kind)[-1]
            continue
        inner = next((field.type for field in msgspec.structs.fields(kind) if field.name == step), kind)
        is_optional = type(None) in get_args(inner)
        kind = next(one for one in get_args(inner) if one is not type(None)) if is_optional else inner
    return kind
