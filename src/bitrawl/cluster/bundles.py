"""Which sites are mined together, in one process, and what is recorded of each bundle.

A bundle has about fifty sites, and all that share an address. The bundles of a run are made once and kept in
`bundles.jsonl`, so that every machine and every later run knows the same ones. What is finished is a part for each bundle:
its folder is a job folder, and its `done.json` is written last. When all sites are visited again, that is a round of the run:
`bundles.jsonl` says which one, and a part that was done in an earlier one is to be done again.
"""

import hashlib
import socket
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from math import ceil
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple, TypeVar

import msgspec

from bitrawl.cluster.places import Place
from bitrawl.config import Job
from bitrawl.crawling import FetchSettings, Routes, Sites
from bitrawl.errors import ConfigError, DamagedError, StoreError
from bitrawl.file_names import BUNDLES, PARTS
from bitrawl.files import NO_JSON, checked, with_sum
from bitrawl.folder_files import warc_files
from bitrawl.reasons import Reason
from bitrawl.url import Url
from bitrawl.version import __version__

PROGRESS, CHECKPOINTS, UNDONE, DONE = "progress", "checkpoints", "undone", "done.json"
MOST_SITES = 50  # in one bundle: a job takes 329 MB with one site, and little more with fifty
TURNS = 2  # bundles for each worker where there are few sites, so that none is idle for long
RESOLVERS = 64  # names that are resolved at once

Resolve = Callable[[str], Iterable[str]]
_Record = TypeVar("_Record")


class BundledSite(msgspec.Struct, frozen=True):
    """A site, and where its crawl begins. Or archives of the same name, which hold some sites, to be taken whole."""

    site: str
    seeds: list[str]
    archives: list[str] = []


class Bundle(msgspec.Struct, frozen=True):
    """Sites that one process mines. Half of a bundle is called by its name and -1 or -2, sites to try again by -again."""

    name: str
    sites: list[BundledSite]
    apart: list[str] = []  # sites that it had, and that now have a part of their own

    @property
    def seeds(self) -> list[str]:
        return [seed for site in self.sites for seed in site.seeds]

    @property
    def archives(self) -> list[str]:
        return [path for site in self.sites for path in site.archives]

    def halves(self) -> "tuple[Bundle, Bundle]":
        middle = len(self.sites) // 2
        return Bundle(f"{self.name}-1", self.sites[:middle]), Bundle(f"{self.name}-2", self.sites[middle:])

    def again(self, names: Collection[str]) -> "Bundle":
        return Bundle(f"{self.name}-again", [site for site in self.sites if site.site in names])

    def without(self, names: Collection[str]) -> "Bundle":
        return Bundle(self.name, [site for site in self.sites if site.site not in names], list(names))


class Bundles(msgspec.Struct, frozen=True):
    """All bundles of a run."""

    run: str  # a random word, so that nobody takes up what an earlier run has left on some machine
    listed: str  # a word for the list of sites
    bundles: list[Bundle]
    round: int = 1  # how often all sites are to be visited

    def of_part(self, number: int, parts: int) -> list[Bundle]:
        """The bundles of one of several machines that do not know of each other."""
        return self.bundles[number::parts]


def usual_size(sites: int, at_once: int) -> int:
    """How many sites a bundle has, if so many bundles are mined at once."""
    return max(1, min(MOST_SITES, ceil(sites / (at_once * TURNS))))


def bundled(sites: Sequence[BundledSite], size: int, addresses: Callable[[Sequence[str]], list[str]]) -> list[Bundle]:
    """Bundles of about `size` sites, in the order of the sites.

    `addresses` names the machine of each host. Sites with a machine in common are never apart, so a bundle may be larger.
    """
    groups = _together(sites, addresses)
    bundles: list[list[BundledSite]] = []
    for group in groups:
        if not bundles or len(bundles[-1]) + len(group) > size:
            bundles.append([])
        bundles[-1] += group
    return [Bundle(f"{number:05}", each) for number, each in enumerate(bundles)]


def sites_of(job: Job) -> list[BundledSite]:
    """The sites of the job's seeds, in the order of the seeds; or its archives, by name."""
    if job.warc:
        return _archived(job)
    sites = Sites(job.scope.one_site)
    seeds: dict[str, list[str]] = {}
    for url in job.seed_urls():
        seeds.setdefault(sites.of(url.host), []).append(str(url))
    return [BundledSite(site, each) for site, each in seeds.items()]


def _archived(job: Job) -> list[BundledSite]:
    """Files of the same name in several folders belong together: `bitrawl partition` gives a site the same name in each."""
    named: dict[str, list[str]] = {}
    for path in warc_files(map(Path, job.warc)):
        named.setdefault(path.name, []).append(str(path))
    return [BundledSite(name, [], paths) for name, paths in named.items()]


def machines_of(job: Job, resolve: Resolve | None = None) -> Callable[[Sequence[str]], list[str]]:
    """Names the machines of some hosts: their addresses, or the host itself where no address is known.

    A route of the user (`connect_to`) or a proxy hides the address, and an archive needs none.
    """
    routes, around = Routes(job.fetch.connect_to), FetchSettings().here().proxies
    hidden = bool(job.replay or job.fetch.proxy or around.http or around.https)

    def machines(hosts: Sequence[str]) -> list[str]:
        seen = [host for host in hosts if not hidden and routes.find(host) is None]
        return [*(set(hosts) - set(seen)), *(address for host in seen for address in (resolve or _resolved)(host))]

    return machines


def written_bundles(out: Place, make: Callable[[], list[Bundle]], job: Job) -> Bundles:
    """The bundles of a run: those that are there, or new ones. Raises `ConfigError` if they are for other sites."""
    listed = _word(job)
    bundles = read_bundles(out)
    if bundles is None:
        (out / BUNDLES).write_new(_encoded(Bundles(token_hex(8), listed, make())))  # nothing, if another was faster
        bundles = read_bundles(out)
    if bundles is None:
        raise StoreError(f"{out} does not keep what is written there")
    if bundles.listed != listed:
        raise ConfigError(
            f"{out} was begun with another list of sites; choose another --out, or start over with --fresh"
        )
    return bundles


def read_bundles(out: Place) -> Bundles | None:
    """None if there are none yet."""
    content = (out / BUNDLES).read()
    if content is None:
        return None
    head, _, listed = content.partition(b"\n")
    rows = listed.splitlines()
    try:
        words = msgspec.json.decode(head, type=dict[str, str])
        if words.get("sum") not in (None, _sum(listed)):
            raise ValueError("its checksum is wrong")  # noqa: TRY301
        bundles = [msgspec.json.decode(row, type=Bundle) for row in rows]
        return Bundles(words["run"], words["listed"], bundles, int(words.get("round", 1)))
    except (KeyError, ValueError, *NO_JSON) as error:
        raise DamagedError(
            f"{out}/{BUNDLES} is damaged: {error}. What is mined is safe in {out}/parts,"
            " and can be merged: bitrawl merge. To mine all sites again, use another --out or --fresh"
        ) from error


def next_round(out: Place, bundles: Bundles) -> Bundles:
    """From now on, all sites are to be visited again."""
    for name in (out / CHECKPOINTS).names():
        if done(out, name) is not None:  # A kill after the delivery has left it; it is not of the new round.
            checkpoint(out, name).delete()
    begun = msgspec.structs.replace(bundles, round=bundles.round + 1)
    (out / BUNDLES).write(_encoded(begun))
    return begun


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
    reason: Reason | None = None  # the same as a value, if its first seed was skipped


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
    round: int = 1  # of the run

    @property
    def failed(self) -> list[SiteOutcome]:
        return [site for site in self.sites if site.failed]


class Died(NamedTuple):
    """The process of a bundle broke by itself, each time that it was started: perhaps because of one of its sites."""

    reason: str


class MachineFault(NamedTuple):
    """The machine or the place failed, not the bundle: a full disk, a kill, a store that does not answer. Never final."""

    reason: str
    killed: bool = False  # its process was, each time: by somebody, or because a site of it takes too much memory


class LeftBundle(msgspec.Struct, frozen=True):
    """A bundle that a run left because of faults. The next run takes it up."""

    bundle: str
    sites: list[str]
    reason: str
    killed: bool = False


Outcome = Done | Died | MachineFault


def part(out: Place, name: str) -> Place:
    return out / PARTS / name


def checkpoint(out: Place, name: str) -> Place:
    """Where an unfinished bundle is saved; not in its part, which is emptied before the upload."""
    return out / CHECKPOINTS / name


def done(out: Place, name: str) -> Done | None:
    """None for a bundle that is not finished."""
    file = part(out, name) / DONE
    return _decoded(file.read(), Done, str(file))


def finished_jobs(out: Place) -> list[str]:
    """The names of all parts that are the folder of a finished job, in order: what there is to merge."""
    states = ((name, done(out, name)) for name in (out / PARTS).names())
    return [name for name, how in states if how is not None and how.state is PartState.MINED]


def mark_done(out: Place, how: Done) -> None:
    (part(out, how.bundle) / DONE).write(with_sum(msgspec.json.format(msgspec.json.encode(how))))


def progress(out: Place, name: str) -> Figures | None:
    """What a bundle that is being mined has brought; None if nothing is known."""
    file = progress_file(out, name)
    return _decoded(file.read(), Figures, str(file))


def progress_file(out: Place, name: str) -> Place:
    return out / PROGRESS / f"{name}.json"


def undone_file(out: Place, name: str) -> Place:
    return out / UNDONE / f"{name}.json"


def undone(out: Place) -> dict[str, LeftBundle]:
    """What earlier runs left because of faults, by the name of the bundle."""
    files = (out / UNDONE / name for name in (out / UNDONE).names())
    records = (_decoded(file.read(), LeftBundle, str(file)) for file in files)
    return {record.bundle: record for record in records if record is not None}


def failed(bundle: Bundle, reason: str) -> Done:
    """For a site alone whose process broke by itself."""
    outcomes = [SiteOutcome(site.site, failed=reason) for site in bundle.sites]
    return Done(bundle.name, PartState.FAILED, outcomes, Figures(sites=len(outcomes)), reason, again=bundle.apart)


def _encoded(bundles: Bundles) -> bytes:
    rows = b"".join(msgspec.json.encode(bundle) + b"\n" for bundle in bundles.bundles)
    head = {"run": bundles.run, "listed": bundles.listed, "sum": _sum(rows), "round": str(bundles.round)}
    return msgspec.json.encode(head) + b"\n" + rows


def _sum(rows: bytes) -> str:
    return f"{zlib.crc32(rows):08x}"


def _word(job: Job) -> str:
    seeds = "\n".join(sorted([*map(str, job.seed_urls()), *job.warc]))
    return hashlib.blake2b(seeds.encode(), digest_size=8).hexdigest()


def _together(sites: Sequence[BundledSite], addresses: Callable[[Sequence[str]], list[str]]) -> list[list[BundledSite]]:
    """Sites in groups that share a machine, directly or through others; in the order of their first sites."""
    hosts = [sorted({Url.known(seed).host for seed in site.seeds}) for site in sites]
    with ThreadPoolExecutor(RESOLVERS) as pool:
        machines = list(pool.map(addresses, hosts))
    leader: dict[str, int] = {}  # of a machine, the first group that has it
    member = list(range(len(sites)))  # of a group, the group that it belongs to

    def top(number: int) -> int:
        while member[number] != number:
            member[number] = number = member[member[number]]
        return number

    for number, names in enumerate(machines):
        for machine in names:
            first, second = sorted((top(leader.setdefault(machine, number)), top(number)))
            member[second] = first
    groups: dict[int, list[BundledSite]] = {}
    for number, site in enumerate(sites):
        groups.setdefault(top(number), []).append(site)
    return list(groups.values())


def _resolved(host: str) -> list[str]:
    """The addresses of a host; itself where nobody knows one."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return [host]
    return sorted({str(address[4][0]) for address in addresses})


def _decoded(content: bytes | None, kind: type[_Record], where: str) -> _Record | None:
    if content is None:
        return None
    try:
        return msgspec.json.decode(checked(content), type=kind)
    except (ValueError, *NO_JSON) as error:
        raise DamagedError(
            f"{where} is damaged: {error}. The other sites are not affected."
            " Delete it and run the same command again: its sites are mined again"
        ) from error
