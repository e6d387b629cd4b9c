"""A queue that is forgotten with the process: for replays, simulations and tests."""

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import count

import msgspec

from bitrawl.model import Lease, Link


class MemoryQueue:
    """Heaps by host; an entry that was raised or rescored leaves its old one behind, to be passed over."""

    def __init__(self, site_of: Callable[[str], str]) -> None:
        self._site_of = site_of
        self._queued: dict[str, Lease] = {}
        self._seen: set[str] = set()
        self._heaps: dict[str, list[tuple[int, float, int, str]]] = {}
        self._arrival: dict[str, int] = {}
        self._order = count()

    def put(self, scored: Iterable[tuple[Link, float]]) -> set[str]:
        """As `protocols.Queue`."""
        hosts = set()
        for link, score in scored:
            known = self._queued.get(link.url)
            if known is None and link.url in self._seen:
                continue
            if known is None or score > known.score:
                self._seen.add(link.url)
                lease = msgspec.structs.replace(known, score=score) if known else Lease(link, score)
                self._push(lease)
            hosts.add(link.url.host)
        return hosts

    def pop(self, host: str) -> Lease | None:
        """As `protocols.Queue`."""
        heap = self._heaps.get(host, [])
        while heap:
            attempt, score, _, url = heapq.heappop(heap)
            lease = self._queued.get(url)
            if lease is not None and (lease.attempt, -lease.score) == (attempt, score):
                del self._queued[url]
                return lease
        self._heaps.pop(host, None)
        return None

    def give_back(self, lease: Lease) -> None:
        """As `protocols.Queue`."""
        self._push(msgspec.structs.replace(lease, attempt=lease.attempt + 1))

    def rescore(self, site: str, score: Callable[[Sequence[Link]], list[float]]) -> None:
        """As `protocols.Queue`."""
        leases = [lease for lease in self._queued.values() if self._site_of(lease.link.url.host) == site]
        for lease, value in zip(leases, score([lease.link for lease in leases]), strict=True):
            if value != lease.score:
                self._push(msgspec.structs.replace(lease, score=value))

    def _push(self, lease: Lease) -> None:
        url = lease.link.url
        self._queued[url] = lease
        arrival = self._arrival.setdefault(url, next(self._order))
        heapq.heappush(self._heaps.setdefault(url.host, []), (lease.attempt, -lease.score, arrival, url))
