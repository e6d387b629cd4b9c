"""The links that a frontier remembers: as rows of the ledger, so that a million cost disk space, or in memory."""

import heapq
from collections.abc import Callable, Iterable, Iterator

import msgspec

from bitrawl.model import Lease, Link, Reason, Stage, pack
from bitrawl.store.database import Blobs
from bitrawl.store.ledger import Ledger
from bitrawl.store.schema import LEASED, OWN, QUEUED, SKIPPED
from bitrawl.url import Url

# Raise a known link's score while it is queued. Requeue it if it was skipped only because of the page that it was found on.
PUT = f"""
INSERT INTO links (url, host, site, kind, state, score, link) VALUES (?, ?, ?, ?, {QUEUED}, ?, ?)
ON CONFLICT (url) DO UPDATE SET
    score = excluded.score, state = {QUEUED}, link = CASE state WHEN {QUEUED} THEN link ELSE excluded.link END,
    stage = NULL, reason = NULL, detail = NULL
WHERE (state = {QUEUED} AND excluded.score > score) OR (state = {SKIPPED} AND stage = '{Stage.SCOPE}')
"""


class LedgerQueue:
    """Writes inside the ledger's transactions: what `put` queues is stored together with the page that it was found on."""

    def __init__(self, ledger: Ledger, site_of: Callable[[str], str]) -> None:
        self._ledger = ledger
        self._database = ledger.database
        self._site_of = site_of
        self._unpack: Blobs[Link] = Blobs(Link, ledger.path)

    def put(self, scored: Iterable[tuple[Link, float]]) -> set[str]:
        rows = []
        for link, score in scored:
            if not self._ledger.recent.has(link.url, score):
                host = link.url.host
                rows.append((link.url, host, self._site_of(host), link.kind, score, pack(link)))
        with self._ledger.transaction():
            self._database.query_many(PUT, rows)
        return {row[1] for row in rows}

    def pop(self, host: str) -> Lease | None:
        """The lease is written with the next transaction. A crash before that leaves a queued link."""
        row = self._database.query(
            f"SELECT id, link, score, attempt FROM links WHERE host = ? AND state = {QUEUED}"
            " ORDER BY attempt, score DESC, id LIMIT 1",
            (host,),
        ).fetchone()
        if row is None:
            return None
        self._database.query("UPDATE links SET state = ? WHERE id = ?", (LEASED, row[0]))
        return Lease(self._unpack(row[1]), row[2], row[3])

    def best(self, host: str) -> float:
        row = self._database.query(
            f"SELECT score FROM links WHERE host = ? AND state = {QUEUED} ORDER BY attempt, score DESC, id LIMIT 1",
            (host,),
        ).fetchone()
        return -1.0 if row is None else float(row[0])

    def give_back(self, lease: Lease) -> None:
        with self._ledger.transaction():
            self._database.query(
                "UPDATE links SET state = ?, attempt = ? WHERE url = ?", (QUEUED, lease.attempt + 1, lease.link.url)
            )

    def rescore(self, scores: Iterable[tuple[Url, float]]) -> None:
        rows = [(score, url) for url, score in scores]
        for score, url in rows:
            self._ledger.recent.lower(url, score)
        with self._ledger.transaction():
            self._database.query_many(f"UPDATE links SET score = ? WHERE url = ? AND state = {QUEUED}", rows)

    def take_back(self, reason: Reason, score: float) -> None:
        """Queue the links that were never visited for that reason."""
        with self._ledger.transaction():
            self._database.query(
                f"UPDATE links SET state = {QUEUED}, score = ?, stage = NULL, reason = NULL, detail = NULL"
                f" WHERE state = {SKIPPED} AND stage = ? AND reason = ?",
                (score, Stage.SCOPE, reason),
            )

    def try_again(self, reason: Reason) -> None:
        """Queue the links that were visited in vain for that reason, each with the score that it had."""
        with self._ledger.transaction():
            self._database.query(
                f"UPDATE links SET state = {QUEUED}, attempt = 1, stage = NULL, reason = NULL, detail = NULL"
                f" WHERE state = {SKIPPED} AND reason = ?",
                (reason,),
            )

    def hosts(self) -> set[str]:
        """All hosts with queued links. A resumed run begins with them."""
        rows = self._database.query(f"SELECT DISTINCT host FROM links WHERE state = {QUEUED}")
        return {row[0] for row in rows}

    def links(self) -> Iterator[Link]:
        """All queued links, in the order in which they arrived."""
        for (blob,) in self._database.query(f"SELECT link FROM links WHERE state = {QUEUED} ORDER BY id"):
            yield self._unpack(blob)

    def __len__(self) -> int:
        """The number of queued links without our own requests. It reads every one of them."""
        return int(
            self._database.query(f"SELECT count(*) FROM links WHERE state = {QUEUED} AND NOT {OWN}").fetchone()[0]
        )


class MemoryQueue:
    """Is forgotten with the process: for replays, simulations and tests.

    Heaps by host; an entry that was raised or rescored leaves its old one behind, to be passed over.
    """

    def __init__(self) -> None:
        self._queued: dict[str, Lease] = {}
        self._heaps: dict[str, list[tuple[int, float, int, str]]] = {}
        self._arrival: dict[str, int] = {}  # the number of each link that was ever queued

    def put(self, scored: Iterable[tuple[Link, float]]) -> set[str]:
        hosts = set()
        for link, score in scored:
            queued = self._queued.get(link.url)
            if queued is None and link.url in self._arrival:
                continue
            if queued is None or score > queued.score:
                self._push(msgspec.structs.replace(queued, score=score) if queued else Lease(link, score))
            hosts.add(link.url.host)
        return hosts

    def pop(self, host: str) -> Lease | None:
        lease = self._first(host)
        if lease is not None:
            heapq.heappop(self._heaps[host])
            del self._queued[lease.link.url]
        return lease

    def best(self, host: str) -> float:
        lease = self._first(host)
        return -1.0 if lease is None else lease.score

    def give_back(self, lease: Lease) -> None:
        self._push(msgspec.structs.replace(lease, attempt=lease.attempt + 1))

    def rescore(self, scores: Iterable[tuple[Url, float]]) -> None:
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
        arrival = self._arrival.setdefault(url, len(self._arrival))
        heapq.heappush(self._heaps.setdefault(url.host, []), (lease.attempt, -lease.score, arrival, url))
