"""What is finished: a part for each bundle. Its folder is a job folder, and its `done.json` is written last."""

from enum import StrEnum
from typing import NamedTuple, TypeVar

import msgspec

from bitrawl.cluster.bundles import Bundle
from bitrawl.cluster.places import Place
from bitrawl.errors import DamagedError
from bitrawl.files import NO_JSON, checked, with_sum
from bitrawl.version import __version__

PARTS, PROGRESS, CHECKPOINTS, UNDONE, DONE = "parts", "progress", "checkpoints", "undone", "done.json"

Kind = TypeVar("Kind")


class Figures(msgspec.Struct, frozen=True):
    """What some sites have brought so far."""

    sites: int = 0  # with nothing left to visit
    pages: int = 0
    fetches: int = 0
    bytes: int = 0
    pairs: int = 0  # of pages
    segments: int = 0  # aligned, good or not
    units: int = 0  # in the corpora of the parts, before they are merged

    def __add__(self, other: "Figures") -> "Figures":
        names = self.__struct_fields__
        return Figures(*(getattr(self, name) + getattr(other, name) for name in names))


class SiteOutcome(msgspec.Struct, frozen=True):
    """What came of one site."""

    site: str
    pages: int = 0
    pairs: int = 0
    failed: str = ""  # why it brought nothing, through no fault of the machine; empty if it has pages


class PartState(StrEnum):
    MINED = "mined"
    HALVED = "halved"  # its process died; its halves are parts of their own
    FAILED = "failed"  # one site, whose process broke by itself again and again; there is no job


class Done(msgspec.Struct, frozen=True):
    """How a bundle ended."""

    bundle: str
    state: PartState
    sites: list[SiteOutcome] = []
    figures: Figures = Figures()
    ended: str = ""  # how its crawl ended, or why it died
    version: str = __version__
    again: list[str] = []  # sites that had failed and are tried again, in a part of their own

    @property
    def failed(self) -> list[SiteOutcome]:
        return [site for site in self.sites if site.failed]


class Died(NamedTuple):
    """The process of a bundle broke by itself, each time that it was started: perhaps because of one of its sites."""

    reason: str


class Fault(NamedTuple):
    """The machine or the place failed, not the bundle: a full disk, a kill, a store that does not answer. Never final."""

    reason: str
    killed: bool = False  # its process was, each time: by somebody, or because a site of it takes too much memory


class Undone(msgspec.Struct, frozen=True):
    """A bundle that a run left because of faults. The next run takes it up."""

    bundle: str
    sites: list[str]
    reason: str
    killed: bool = False


Outcome = Done | Died | Fault


def part(out: Place, name: str) -> Place:
    return out / PARTS / name


def checkpoint(out: Place, name: str) -> Place:
    """Where an unfinished bundle is saved; not in its part, which is emptied before the upload."""
    return out / CHECKPOINTS / name


def done(out: Place, name: str) -> Done | None:
    """None for a bundle that is not finished."""
    return _decoded((part(out, name) / DONE).read(), Done, f"{out}/{PARTS}/{name}/{DONE}")


def finished_jobs(out: Place) -> list[str]:
    """The names of all parts that are the folder of a finished job, in order: what there is to merge."""
    states = ((name, done(out, name)) for name in (out / PARTS).names())
    return [name for name, how in states if how is not None and how.state is PartState.MINED]


def mark_done(out: Place, how: Done) -> None:
    (part(out, how.bundle) / DONE).write(with_sum(msgspec.json.format(msgspec.json.encode(how))))


def progress(out: Place, name: str) -> Figures | None:
    """Of a bundle that is being mined; None if nothing is known."""
    return _decoded((out / PROGRESS / f"{name}.json").read(), Figures, f"{out}/{PROGRESS}/{name}.json")


def report_progress(out: Place, name: str, figures: bytes) -> None:
    (out / PROGRESS / f"{name}.json").write(figures)


def forget_progress(out: Place, name: str) -> None:
    (out / PROGRESS / f"{name}.json").delete()


def undone(out: Place) -> dict[str, Undone]:
    """What earlier runs left because of faults, by the name of the bundle."""
    files = ((name, (out / UNDONE / name).read()) for name in (out / UNDONE).names())
    records = (_decoded(content, Undone, f"{out}/{UNDONE}/{name}") for name, content in files)
    return {record.bundle: record for record in records if record is not None}


def mark_undone(out: Place, record: Undone) -> None:
    (out / UNDONE / f"{record.bundle}.json").write(msgspec.json.encode(record))


def forget_undone(out: Place, name: str) -> None:
    (out / UNDONE / f"{name}.json").delete()


def failed(bundle: Bundle, reason: str) -> Done:
    """For a site alone whose process broke by itself."""
    outcomes = [SiteOutcome(site.site, failed=reason) for site in bundle.sites]
    return Done(bundle.name, PartState.FAILED, outcomes, Figures(sites=len(outcomes)), reason)


def _decoded(content: bytes | None, kind: type[Kind], where: str) -> Kind | None:
    if content is None:
        return None
    try:
        return msgspec.json.decode(checked(content), type=kind)
    except (ValueError, *NO_JSON) as error:
        raise DamagedError(
            f"{where} is damaged: {error}. The other sites are not affected."
            " Delete it and run the same command again: its sites are mined again"
        ) from error
