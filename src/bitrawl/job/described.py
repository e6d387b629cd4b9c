"""The job that is asked for: checked before anything is written, and what of it a scope and a strategy are made of."""

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from bitrawl import config
from bitrawl.config import Job, inputs_of
from bitrawl.crawling import FetchSettings, Reach, Scope, Sites
from bitrawl.errors import ConfigError
from bitrawl.folder_files import check_inputs
from bitrawl.model_files import check_models
from bitrawl.protocols import StrategyInputs, Topic
from bitrawl.store.folder import JobFolder
from bitrawl.strategies import strategy
from bitrawl.topic.term_list import read_terms
from bitrawl.url import Url
from bitrawl.version import install_command


def described_job(
    settings: Mapping[str, Any],
    folder: JobFolder,
    *,
    file: Path | None = None,
    inputs: Sequence[Path | None] = (),
    fresh: object = False,
) -> Job:
    """The job to be done, checked, with nothing written yet.

    Settings win over the job file; where neither says where to begin, the job that the folder holds goes on. Raises
    `ConfigError` when the folder holds another job, unless it is to be started over (`fresh`), when it holds files of
    others, and when something that is read lies in it: what the job names, its file, or one of the other `inputs`.
    """
    own_file = file is not None and not fresh and file.resolve() == folder.description.resolve()
    check_inputs(folder.path, [path for path in (None if own_file else file, *inputs) if path is not None])
    held = folder.description
    earlier = config.resolve(config.read(held), where=str(held)) if held.exists() and not fresh else None
    described = config.read(file) if file is not None else {}
    if earlier is not None and not described and not any(settings.get(key) for key in ("seeds", "warc", "replay")):
        described = config.read(held)
    asked = config.merged(described, settings)
    if not asked:
        raise ConfigError(
            f"{folder.path} holds no job; to begin one: bitrawl mine URL --langs en,fr --out {folder.path}"
        )
    job = config.resolve(asked, where=str(file) if file else "")
    check_inputs(folder.path, [name for name in inputs_of(job) if earlier is None or name not in inputs_of(earlier)])
    folder.check_writable(fresh=bool(fresh))
    if earlier is not None:
        config.continues(job, earlier)
    check(job)
    return job


def check(job: Job) -> None:
    """Raise `ConfigError` for mistakes that only show when the objects are built, before anything is written."""
    FetchSettings(**msgspec.structs.asdict(job.fetch)).check()
    scope(job, Sites(job.scope.one_site), job.seed_urls())
    check_models(job.models)
    if job.render.is_asked_for and find_spec("playwright") is None:
        raise ConfigError(f"drawing pages with a browser needs Playwright. Run: {install_command('browser')}")
    if job.url_language_model or job.url_pair_model:
        strategy(job.strategy, strategy_inputs(job))
    for name in job.topic.files():
        if not os.path.exists(name):  # noqa: PTH110 - also for a name that no file can have
            raise ConfigError(f"there is no file or folder {name}")
    if job.topic.terms:
        read_terms(Path(job.topic.terms), job.languages())


def scope(job: Job, sites: Sites, seeds: Iterable[Url]) -> Scope:
    rules = msgspec.structs.replace(job.scope, reach=Reach.WEB) if job.discovery.is_set else job.scope
    return Scope(sites, seeds, rules, job.languages())


def strategy_inputs(job: Job, topic: Topic | None = None) -> StrategyInputs:
    named = job.url_language_model, job.url_pair_model
    return StrategyInputs(job.languages(), topic, job.pair.dictionary, *named)
