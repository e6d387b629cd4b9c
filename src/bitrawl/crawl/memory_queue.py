"""A queue that is forgotten with the process: for replays, simulations and tests."""

import heapq
from collections.abc import Iterable
from itertools import count

import msgspec

from bitrawl.model import Lease, Link
from bitrawl.url import Url


class MemoryQueue:
    """Heaps by host; an entry that was raised or rescored leaves its old one behind, to be passed over."""

    def __init__(self) -> None:
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
        lease = self._first(host)
        if lease is not None:
            heapq.heappop(self._heaps[host])
            del self._queued[lease.link.url]
        return lease

    def best(self, host: str) -> float:
        """As `protocols.Queue`."""
        lease = self._first(host)
        return -1.0 if lease is None else lease.score

    def give_back(self, lease: Lease) -> None:
        """As `protocols.Queue`."""
        self._push(msgspec.structs.replace(lease, attempt=lease.attempt + 1))

    def rescore(self, scores: Iterable[tuple[Url, float]]) -> None:
        """As `protocols.Queue`."""
        for url, value in scores:
            lease = self._queued.get(url)
            if lease is not None and value != lease.score:
                self._push(msgspec.structs.replace(lease, score=value))

    def _first(self, host: str) -> Lease | None:
        heap = self._heaps.get(host, [])
        while heap:
            attempt, score, _, url = heap[0]
            lease = self._queued.get(url)
            if lease is not None and (lease.attempt, -lease.score) == (attempt, score):
                return lease
            heapq.heappop(heap)
        self._heaps.pop(host, None)
        return None

    def _push(self, lease: Lease) -> None:
        url = lease.link.url
        self._queued[url] = lease
        arrival = self._arrival.setdefault(url, next(self._order))
        heapq.heappush(self._heaps.setdefault(url.host, []), (lease.attempt, -lease.score, arrival, url))
