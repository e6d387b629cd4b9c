"""From what was asked to a run: its job, its bundles and its place, checked before anything is done."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bitrawl import config
from bitrawl.cluster.bundles import (
    BUNDLES,
    Bundle,
    bundled,
    machines_of,
    read_bundles,
    sites_of,
    usual_size,
    written_bundles,
)
from bitrawl.cluster.merging import MERGED
from bitrawl.cluster.mining import Order
from bitrawl.cluster.parts import CHECKPOINTS, PARTS, PROGRESS, UNDONE
from bitrawl.cluster.places import Place, place
from bitrawl.cluster.run import Run, retry_failed
from bitrawl.config import Job, Reach
from bitrawl.errors import ConfigError, StoreError
from bitrawl.job.crawl_wiring import check
from bitrawl.job.running import check as check_mining

JOB = "job.toml"


class Share(NamedTuple):
    """Which of several machines this is, if they do not know of each other: the first of three is 0/3."""

    number: int = 0
    parts: int = 1


def read_share(raw: str) -> Share:
    """Raises `ConfigError`."""
    number, mark, parts = raw.partition("/")
    if not mark or not number.isdecimal() or not parts.isdecimal() or int(number) >= int(parts):
        raise ConfigError(f"--part {raw!r} is not understood; the first of three parts is 0/3, and the last one 2/3")
    return Share(int(number), int(parts))


class Asked(NamedTuple):
    """How a run is to be done, beside its job."""

    out: str  # the address of a place
    at_once: int  # bundles, over all machines
    share: Share = Share()
    size: int | None = None  # sites of a bundle
    scratch: Path | None = None
    retry_failed: bool = False


def asked_job(settings: Mapping[str, Any], file: Path | None) -> Job:
    """The job of all bundles; raises `ConfigError` for what only one process can hold to."""
    described = config.read(file) if file is not None else {}
    job = config.resolve(config.merged(described, settings), where=str(file) if file else "")
    check(job)
    check_mining(job)
    if job.scope.reach is Reach.WEB:
        raise ConfigError("--scope web crosses sites, and a run over many sites is divided by site; leave it out")
    for name in ("pages", "minutes", "megabytes"):
        if getattr(job.budget, name) is not None:
            raise ConfigError(f"--max-{name} limits one job, and here are many; limit each site with --site-{name}")
    return job


def planned(job: Job, asked: Asked, *, fresh: bool = False) -> Run:
    """A run that is new, or goes on; the place holds its job and its bundles from now on."""
    out = place(asked.out)
    if fresh:
        for name in (JOB, BUNDLES, PARTS, PROGRESS, CHECKPOINTS, UNDONE, MERGED):
            (out / name).delete()
    _check_same(job, out)
    sites = sites_of(job)
    size = asked.size or usual_size(len(sites), asked.at_once)
    bundles = written_bundles(out, lambda: bundled(sites, size, machines_of(job)), job)
    text = config.text_of(job).encode()
    if not (out / JOB).write_new(text) and (out / JOB).read() != text:
        (out / JOB).write(text)
    bare = msgspec.structs.replace(job, seeds=[], warc=[])
    scratch = str(asked.scratch.absolute()) if asked.scratch else ""
    address = str(out)

    def order(bundle: Bundle) -> Order:
        return Order(address, scratch, bundles.run, bare, bundle)

    mine = bundles.of_part(*asked.share)
    if asked.retry_failed:
        retry_failed(out, mine)
    return Run(out, mine, order)


def seen(address: str) -> Run | None:
    """A run as it is in its place, to look at; None if there is none."""
    out = place(address)
    bundles = read_bundles(out)

    def order(_bundle: Bundle) -> Order:
        raise ConfigError("this run is only looked at")

    return Run(out, bundles.bundles, order) if bundles else None


def check_undivided(out: str) -> None:
    """Raise `ConfigError` if a folder that one job asks for holds a run in bundles."""
    if (place(out) / BUNDLES).read() is not None:
        raise ConfigError(
            f"{out} holds sites in bundles; go on with the same --workers, --cluster or --part, or choose another --out"
        )


def _check_same(job: Job, out: Place) -> None:
    content = (out / JOB).read()
    if content is None:
        if "job.sqlite" in out.names():
            raise ConfigError(f"{out} holds another job; choose another --out")
        return
    if (out / BUNDLES).read() is None and "job.sqlite" in out.names():
        raise ConfigError(
            f"{out} holds a job of one process; go on without --workers, --cluster and --part, or choose another --out"
        )
    try:
        earlier = config.typed(tomllib.loads(content.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"{out}/{JOB} is no TOML: {error}") from error
    config.continues(job, earlier)
