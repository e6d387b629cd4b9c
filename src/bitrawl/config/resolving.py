"""From what was asked to a job that can be run, or to an error that says what to change."""

import difflib
import os
import re
from collections.abc import Mapping
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from bitrawl.config.schema import (
    FOCUSED,
    Format,
    Job,
    Reach,
    Strategy,
    TopicModel,
    TopicSection,
    Walk,
    fitting,
    seed_url,
    usual,
)
from bitrawl.errors import ConfigError
from bitrawl.languages import language_name, parse_language, same_language, two_languages
from bitrawl.model_files import check_names


def resolve(described: Mapping[str, Any], *, where: str = "") -> Job:
    """A job that can be run, in standard form; raises `ConfigError` before anything is done, and says where it erred."""
    try:
        return _resolved(described)
    except ConfigError as error:
        if not where:
            raise
        raise ConfigError(f"{where}: {error}") from error


def typed(described: Mapping[str, Any]) -> Job:
    """Known keys with values of the right types, and nothing checked beyond that; raises `ConfigError`."""
    try:
        return msgspec.convert(described, Job)
    except msgspec.ValidationError as error:
        raise ConfigError(_explain(str(error))) from error


def continues(job: Job, earlier: Job) -> None:
    """Refuse to mix two jobs in one folder; more seeds, other budgets and other politeness are the same job."""
    for name in ("langs", "replay", "warc", "strategy"):
        before, now = getattr(earlier, name), getattr(job, name)
        if before != now:
            raise ConfigError(
                f"this folder holds a job with {name} = {_listed(before)}, and this one asks for {_listed(now)};"
                " choose another --out, or start over with --fresh"
            )
    if earlier.discovery.walk != job.discovery.walk:
        before, now = earlier.discovery.walk or "no search for sites", job.discovery.walk or "no search for sites"
        raise ConfigError(
            f"this folder holds a job with {before}, and this one asks for {now}; choose another --out, or start over"
            " with --fresh"
        )
    for name in ("terms", "texts", "like", "against", "hub", "model", "language_models"):
        before, now = getattr(earlier.topic, name), getattr(job.topic, name)
        if before != now:
            raise ConfigError(
                f"this folder holds a job with topic.{name} = {_listed(before) or 'none'}, and this one asks for"
                f" {_listed(now) or 'none'}; choose another --out, or start over with --fresh"
            )


def _resolved(described: Mapping[str, Any]) -> Job:
    job = typed(described)
    for pattern in (*job.scope.include, *job.scope.exclude):
        _check_pattern(pattern)
    if not job.langs:
        raise ConfigError("no languages are named; say which, as in --langs en,fr")
    _check_languages(job)
    _check_topic(job)
    _check_discovery(job)
    if not job.seeds and not job.warc and not job.replay and not job.topic.like:
        raise ConfigError("nowhere to start; name a site, as in https://www.example.org/")
    if job.warc and (job.replay or job.seeds):
        raise ConfigError("--warc takes files whole, without seeds; to crawl them as a web use --replay")
    for name in (*job.replay, *job.warc):
        if not Path(name).exists():
            raise ConfigError(f"there is no file or folder {name}")
    formats = job.export.formats or usual(len(job.languages()))
    unfit = [name for name in formats if name not in fitting(len(job.languages()))]
    if unfit:
        raise ConfigError(
            f"{', '.join(unfit)} is not for {'one language' if len(job.languages()) == 1 else 'pairs of languages'};"
            f" there are {', '.join(fitting(len(job.languages())))}"
        )
    return msgspec.structs.replace(
        job,
        export=msgspec.structs.replace(job.export, formats=formats),
        langs=[str(language) for language in job.languages()],
        seeds=list(dict.fromkeys(str(seed_url(raw)) for raw in job.seeds)),
        replay=[str(Path(name).resolve()) for name in job.replay],
        warc=[str(Path(name).resolve()) for name in job.warc],
        encoder=_model(job.encoder),
        url_language_model=_model(job.url_language_model),
        url_pair_model=_model(job.url_pair_model),
        models=_models(job.models),
        topic=_resolved_topic(job),
        discovery=msgspec.structs.replace(
            job.discovery,
            backlinks=[_place(raw) for raw in job.discovery.backlinks],
            host_languages=str(Path(job.discovery.host_languages).resolve()) if job.discovery.host_languages else "",
        ),
        pair=msgspec.structs.replace(
            job.pair, dictionary=str(Path(job.pair.dictionary).resolve()) if job.pair.dictionary else ""
        ),
    )


def _check_languages(job: Job) -> None:
    """One language where two were meant: `en-fr`, which is English as in France, or `en,en`."""
    languages = job.languages()
    if len(job.langs) == 1 and (two := two_languages(job.langs[0])):
        one = language_name(languages[0].partition("-")[0])
        raise ConfigError(
            f"{job.langs[0]!r} is one language, {one} as in the region {two[1].upper()}; for two write"
            f" --langs {two[0]},{two[1]}, and for the one --langs {two[0]}"
        )
    first = languages[0]
    if len(job.langs) > 1 and all(same_language(a, first) and same_language(first, a) for a in languages):
        raise ConfigError(
            f"{', '.join(job.langs)} are one language, {language_name(first)}; name it once, or another with it"
        )


def _check_topic(job: Job) -> None:
    """What the strategy and the scope need of a topic."""
    topic = job.topic
    if not topic.is_set:
        if job.strategy in FOCUSED:
            raise ConfigError(
                f"the strategy {job.strategy} needs a topic; name one with --topic FILE or --texts FOLDER"
            )
        if job.scope.reach is Reach.WEB and not job.discovery.is_set:
            raise ConfigError("--scope web needs a topic, or the crawl never ends; name one with --topic or --texts")
        if topic.against:
            raise ConfigError("--against says only what a topic is not; say what it is with --topic, --texts or --like")
    model = job.topic_model()
    if TopicModel.TERMS in (model, job.strategy) and topic.is_set and not topic.terms:
        raise ConfigError(
            f"the {'strategy' if job.strategy is Strategy.TERMS else 'topic model'} terms needs a term list"
            " (--topic FILE); bitrawl topic learn makes one"
        )
    if model is TopicModel.PERPLEXITY and not (topic.texts or topic.language_models):
        raise ConfigError("the topic model perplexity needs texts (--texts FOLDER) or language_models in [topic]")
    if job.strategy is Strategy.PERPLEXITY and model is not TopicModel.PERPLEXITY:
        raise ConfigError(f"the strategy perplexity needs the topic model perplexity; remove model = {str(model)!r}")
    if not 1 <= topic.buckets[0] <= topic.buckets[1] < inf:
        raise ConfigError(
            "topic.buckets are two perplexities of at least 1, the lower one first, as in --buckets 100,5000"
        )


def _check_discovery(job: Job) -> None:
    """What a search for bilingual sites needs."""
    if not job.discovery.is_set:
        if job.discovery.backlinks or job.discovery.host_languages or job.discovery.downloads:
            raise ConfigError('[discovery] has no walk; name one, as in walk = "cocitation", or run bitrawl discover')
        return
    if len(job.languages()) < 2:
        raise ConfigError("a bilingual site has two languages; name both, as in --langs en,fr")
    if job.discovery.walk is Walk.FOCUSED and not job.topic.is_set:
        raise ConfigError("the strategy focused needs a topic; name one with --topic FILE or --texts FOLDER")
    if job.warc:
        raise ConfigError("sites are searched on the web, or on archives that stand for it: use --replay, not --warc")
    for name in job.discovery.backlinks:
        if "://" not in name and not Path(name).exists():
            raise ConfigError(f"--backlinks: there is no file or folder {name}")
    index = job.discovery.host_languages
    if index and not Path(index).exists():
        raise ConfigError(f"--host-languages: there is no file or folder {index}")


def _check_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        message = f"the pattern {pattern!r} is no regular expression: {error}; write a dot as \\. and a star as .*"
        raise ConfigError(message) from error


def _resolved_topic(job: Job) -> TopicSection:
    """With whole paths."""
    topic = job.topic
    return msgspec.structs.replace(
        topic,
        terms=str(Path(topic.terms).resolve()) if topic.terms else "",
        texts=[str(Path(name).resolve()) for name in topic.texts],
        against=[str(Path(name).resolve()) for name in topic.against],
        language_models=[_whole_path(one) for one in topic.language_models],
        like=list(dict.fromkeys(str(seed_url(raw)) for raw in topic.like)),
    )


def _whole_path(model: str) -> str:
    code, mark, path = model.partition("=")
    if not mark or not path:
        raise ConfigError(f'topic.language_models: {model!r} is not LANGUAGE=FILE; write it like this: "en=topic.arpa"')
    return f"{parse_language(code)}={Path(path).resolve()}"


def _place(raw: str) -> str:
    """The whole path of a file; an address as it is."""
    return raw if "://" in raw else str(Path(raw).resolve())


def _model(name: str) -> str:
    """The whole path of a folder that is here; what is none is the name of a public model."""
    return str(Path(name).resolve()) if name and os.path.isdir(name) else name  # noqa: PTH112 - any text may be given


def _models(folder: str) -> str:
    """The whole path of the folder; each file in it has the name of a model."""
    check_names(folder)
    return str(Path(folder).resolve()) if folder else ""


def _listed(value: object) -> str:
    return ",".join(value) or "none" if isinstance(value, list) else str(value)


def _explain(error: str) -> str:
    """The message of msgspec with the nearest known key, which is mostly what was meant."""
    if "Invalid enum value" in error:
        wrong = error.split("'")[1] if "'" in error else error
        known: tuple[tuple[str, str, type[StrEnum]], ...] = (
            (".strategy", "strategy {!r}; the strategies", Strategy),
            (".scope.reach", "scope {!r}; the scopes", Reach),
            (".topic.model", "topic model {!r}; the topic models", TopicModel),
        )
        for key, said, names in known:
            if key in error:
                return f"there is no {said.format(wrong)} are {', '.join(kind.value for kind in names)}"
        return f"there is no format {wrong!r}; the formats are {', '.join(Format)}"
    parts = error.split("`")
    if "unknown field" not in error or len(parts) < 2:
        return error.replace(" - at `$.", " at `")
    key = parts[1]
    table = parts[3].removeprefix("$").removeprefix(".") if len(parts) > 3 else ""
    section: type = Job
    if table:
        section = next((f.type for f in msgspec.structs.fields(Job) if f.name == table), Job)
    keys = [f.name for f in msgspec.structs.fields(section)]
    near = difflib.get_close_matches(key, keys, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(keys)}"
    return f"unknown key {key!r}{f' in [{table}]' if table else ''}; {hint}"
