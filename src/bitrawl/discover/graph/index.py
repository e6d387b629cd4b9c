"""A graph as our own folder of memory-mapped columns: who cites a host, and whom a host cites, in well under a millisecond."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.graph.around import spread
from bitrawl.discover.graph.columns import HEADER
from bitrawl.discover.graph.names import home_page, host_of, reversed_host, spellings
from bitrawl.discover.graph.numbers import Ids
from bitrawl.errors import GraphError
from bitrawl.files import NO_JSON
from bitrawl.model import Link, LinkKind
from bitrawl.url import Url

META = "meta.json"
FORMAT = "bitrawl link graph"
VERSION = 1
# Referrers that are ranked; of more, as many are taken evenly from the list. Judgement: 3 ms.
_RANKED = 100_000


class GraphMeta(msgspec.Struct, frozen=True, kw_only=True):
    """meta.json. It is written last: a folder that has it is complete."""

    format: str = FORMAT
    version: int = VERSION
    domains: bool = False  # whether the names are registrable domains and not hosts
    hosts: int
    edges: int
    given: int = 0  # hosts that it was built around; 0 for a whole graph
    missing: tuple[str, ...] = ()  # the first of those that the graph does not have
    files: tuple[str, ...] = ()  # what it was made of
    edges_read: int = 0
    links_cap: int = 0  # 0 for none
    referrers_cap: int = 0


class GraphIndex:
    """A `BacklinkSource` of hosts. Memory is the operating system's: nothing is loaded but what is looked up."""

    def __init__(self, folder: Path) -> None:
        """Raises `GraphError` if the folder holds no index, or one that this version does not read."""
        self.meta = read_meta(folder)
        try:
            self._names = _column(folder, "names")
            self._name_starts = _column(folder, "name_starts")
            self._by_name = _column(folder, "by_name") if (folder / "by_name.npy").exists() else None
            self._cites, self._cites_starts = _column(folder, "cites"), _column(folder, "cites_starts")
            self._cited, self._cited_starts = _column(folder, "cited"), _column(folder, "cited_starts")
            self._degrees = _column(folder, "degrees")
            self._given = _column(folder, "given")
        except (OSError, EOFError, ValueError) as error:
            raise GraphError(f"{folder} is damaged: {error}; build the graph again") from error
        if len(self._name_starts) != self.meta.hosts + 1 or len(self._cites) != self.meta.edges:
            raise GraphError(
                f"{folder} is damaged: its columns do not have the length that {META} says; build it again"
            )

    def __len__(self) -> int:
        return self.meta.hosts

    def __contains__(self, host: str) -> bool:
        return bool(self._ids(host))

    def referrers(self, target: Url | str, limit: int) -> list[Link]:
        url = target if isinstance(target, Url) else home_page(host_of(target))
        return [Link(url, LinkKind.BACKLINK, source=home_page(host)) for host in self.referring_hosts(target, limit)]

    def referring_hosts(self, target: Url | str, limit: int) -> list[str]:
        """Those first that cite most of the hosts that the graph was built around, then those that cite fewest others.

        A host that cites nothing else comes last: it leads nowhere.
        """
        ids = spread(self._neighbours(self._cited, self._cited_starts, target), _RANKED)
        degrees = self._degrees[ids]
        given = self._given[ids] if len(self._given) else np.zeros(len(ids), np.uint32)
        order = np.lexsort((degrees, degrees < 2, -given.astype(np.int64)))
        return [self._host(one) for one in ids[order[:limit]]]

    def cites(self, target: Url | str, limit: int) -> list[str]:
        """Whom it cites; if that is more than the limit, evenly from all of them."""
        ids = spread(self._neighbours(self._cites, self._cites_starts, target), limit)
        return [self._host(one) for one in ids]

    def degree(self, host: str) -> int:
        """How many hosts it cites in the whole graph, also if the index has only some of them; 0 if it is unknown."""
        return sum(int(self._degrees[one]) for one in self._ids(host))

    def hosts(self) -> Iterator[str]:
        return (self._host(one) for one in range(len(self)))

    def _neighbours(self, values: NDArray[Any], starts: NDArray[Any], target: Url | str) -> Ids:
        """Of both spellings of a host, without itself."""
        own = self._ids(target)
        found = [values[int(starts[one]) : int(starts[one + 1])] for one in own]
        return np.setdiff1d(np.concatenate(found), own) if found else np.empty(0, np.uint32)

    def _ids(self, target: Url | str) -> list[int]:
        host = host_of(target)
        if self.meta.domains:
            host = Url.known(f"http://{host}/").site
        found = (self._find(reversed_host(name).encode()) for name in spellings(host))
        return [one for one in found if one is not None]

    def _find(self, name: bytes) -> int | None:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            one = middle if self._by_name is None else int(self._by_name[middle])
            there = self._name(one)
            if there == name:
                return one
            low, high = (middle + 1, high) if there < name else (low, middle)
        return None

    def _name(self, one: int) -> bytes:
        return self._names[int(self._name_starts[one]) : int(self._name_starts[one + 1]) - 1].tobytes()

    def _host(self, one: int) -> str:
        return reversed_host(self._name(one).decode("utf-8", "replace"))


def is_index(folder: Path) -> bool:
    return (folder / META).is_file()


def read_meta(folder: Path) -> GraphMeta:
    try:
        meta = msgspec.json.decode((folder / META).read_bytes(), type=GraphMeta)
    except OSError as error:
        raise GraphError(
            f"{folder} holds no link graph. Run: bitrawl discover graph build DOWNLOADED --out {folder}"
        ) from error
    except NO_JSON as error:
        raise GraphError(f"{folder / META} cannot be read: {error}; build the graph again") from error
    if (meta.format, meta.version) != (FORMAT, VERSION):
        raise GraphError(
            f"{folder} is a link graph of another version ({meta.version}, this one reads {VERSION}); build it again"
        )
    return meta


def no_seed_in(meta: GraphMeta, seeds: Sequence[str], where: Path) -> str:
    """What to say if a graph has none of the hosts that it is asked about."""
    count = "the seed is not" if len(seeds) == 1 else f"none of the {len(seeds)} seeds is"
    built = f", built around {meta.given} other hosts" if meta.given else ""
    hint = f"; build it again with these hosts in --around{built}" if meta.given else ""
    return (
        f"{count} in the graph {where} ({meta.hosts:,} {'domains' if meta.domains else 'hosts'}): {', '.join(seeds[:3])}"
        f"{' …' if len(seeds) > 3 else ''}. Is it a graph of another time or of another web{hint}?"
    )


def _column(folder: Path, name: str) -> NDArray[Any]:
    path = folder / f"{name}.npy"
    # Nothing can be mapped of an empty column. An array is quicker than the class that numpy maps files with.
    return np.asarray(np.load(path, mmap_mode="r" if path.stat().st_size > HEADER else None))
