"""Which sites are mined together, in one process: about fifty of them, and all that share an address.

The bundles of a run are made once and kept in `bundles.jsonl`, so that every machine and every later run knows the same
ones.
"""

import hashlib
import socket
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from pathlib import Path
from secrets import token_hex

import msgspec

from bitrawl.cluster.places import Place
from bitrawl.config import Job
from bitrawl.crawl.connections import Routes
from bitrawl.crawl.scope import Sites
from bitrawl.errors import ConfigError, DamagedError, StoreError
from bitrawl.files import NO_JSON
from bitrawl.job.archived_web import warc_files
from bitrawl.job.fetching import fetch_settings
from bitrawl.url import Url

BUNDLES = "bundles.jsonl"
MOST_SITES = 50  # in one bundle: a job takes 329 MB with one site, and little more with fifty
ROUNDS = 2  # bundles for each worker where there are few sites, so that none is idle for long; judgement
RESOLVERS = 64  # names that are resolved at once; judgement

Resolve = Callable[[str], Iterable[str]]


class BundledSite(msgspec.Struct, frozen=True):
    """A site, and where its crawl begins. Or archives of the same name, which hold some sites, to be taken whole."""

    site: str
    seeds: list[str]
    archives: list[str] = []


class Bundle(msgspec.Struct, frozen=True):
    """Sites that one process mines. Half of a bundle is called by its name and -1 or -2, sites to try again by -again."""

    name: str
    sites: list[BundledSite]

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
        """Of these sites."""
        return Bundle(f"{self.name}-again", [site for site in self.sites if site.site in names])


class Bundles(msgspec.Struct, frozen=True):
    """All bundles of a run."""

    run: str  # a random word, so that nobody takes up what an earlier run has left on some machine
    listed: str  # a word for the list of sites
    bundles: list[Bundle]

    def of_part(self, number: int, parts: int) -> list[Bundle]:
        """Those of one of several machines that do not know of each other."""
        return self.bundles[number::parts]


def usual_size(sites: int, at_once: int) -> int:
    """How many sites a bundle has, if so many bundles are mined at once."""
    return max(1, min(MOST_SITES, ceil(sites / (at_once * ROUNDS))))


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
    settings = fetch_settings(job)
    routes = Routes(settings.connect_to)
    hidden = bool(job.replay or settings.proxies.http or settings.proxies.https)

    def machines(hosts: Sequence[str]) -> list[str]:
        asked = [host for host in hosts if not hidden and routes.find(host) is None]
        return [*(set(hosts) - set(asked)), *(address for host in asked for address in (resolve or _resolved)(host))]

    return machines


def written_bundles(out: Place, make: Callable[[], list[Bundle]], job: Job) -> Bundles:
    """The bundles of a run: those that are there, or new ones. Raises `ConfigError` if they are for other sites."""
    listed = _word(job)
    held = read_bundles(out)
    if held is None:
        (out / BUNDLES).write_new(_encoded(Bundles(token_hex(8), listed, make())))  # nothing, if another was faster
        held = read_bundles(out)
    if held is None:
        raise StoreError(f"{out} does not keep what is written there")
    if held.listed != listed:
        raise ConfigError(
            f"{out} was begun with another list of sites; choose another --out, or start over with --fresh"
        )
    return held


def read_bundles(out: Place) -> Bundles | None:
    """None if there are none yet."""
    content = (out / BUNDLES).read()
    if content is None:
        return None
    head, _, listed = content.partition(b"\n")
    rows = listed.splitlines()
    try:
        words = msgspec.json.decode(head, type=dict[str, str])
        _check_sum(words.get("sum"), listed)
        return Bundles(words["run"], words["listed"], [msgspec.json.decode(row, type=Bundle) for row in rows])
    except (KeyError, ValueError, *NO_JSON) as error:
        raise DamagedError(
            f"{out}/{BUNDLES} is damaged: {error}. What is mined is safe in {out}/parts,"
            " and can be merged: bitrawl merge. To mine all sites again, use another --out or --fresh"
        ) from error


def _encoded(bundles: Bundles) -> bytes:
    rows = b"".join(msgspec.json.encode(bundle) + b"\n" for bundle in bundles.bundles)
    head = {"run": bundles.run, "listed": bundles.listed, "sum": _sum(rows)}
    return msgspec.json.encode(head) + b"\n" + rows


def _check_sum(written: str | None, rows: bytes) -> None:
    if written not in (None, _sum(rows)):
        raise ValueError("its checksum is wrong")


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

    for number, found in enumerate(machines):
        for machine in found:
            one, other = sorted((top(leader.setdefault(machine, number)), top(number)))
            member[other] = one
    groups: dict[int, list[BundledSite]] = {}
    for number, site in enumerate(sites):
        groups.setdefault(top(number), []).append(site)
    return list(groups.values())


def _resolved(host: str) -> list[str]:
    """The addresses of a host; itself where nobody knows one."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return [host]
    return sorted({str(address[4][0]) for address in found})
