"""The frontier's links as rows of the ledger: a million of them cost disk space, not memory.

In a further round, pages that are due stand beside the links that are queued, and the better of the two comes first.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from bitrawl.job.database import LEASED, OWN, QUEUED, SKIPPED, Blobs
from bitrawl.job.ledger import Ledger
from bitrawl.model import Lease, Link, pack
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url

MOST_HANDED_OUT = 5000  # before those are forgotten whose visits were recorded

# Raise a known link's score while it is queued. Requeue it if it was skipped only because of the page that it was found on.
PUT = f"""
INSERT INTO links (url, host, site, kind, state, score, link) VALUES (?, ?, ?, ?, {QUEUED}, ?, ?)
ON CONFLICT (url) DO UPDATE SET
    score = excluded.score, state = {QUEUED}, link = CASE state WHEN {QUEUED} THEN link ELSE excluded.link END,
    stage = NULL, reason = NULL, detail = NULL
WHERE (state = {QUEUED} AND excluded.score > score) OR (state = {SKIPPED} AND stage = '{Stage.SCOPE}')
"""


REQUEUE = f"UPDATE links SET state = {QUEUED}, attempt = 1, stage = NULL, reason = NULL, detail = NULL WHERE state = {SKIPPED}"


class LedgerQueue:
    """Writes inside the ledger's transactions: what `put` queues is stored together with the page that it was found on."""

    def __init__(self, ledger: Ledger, site_of: Callable[[str], str]) -> None:
        self._ledger = ledger
        self._database = ledger.database
        self._rounds = ledger.rounds
        self._site_of = site_of
        self._unpack: Blobs[Link] = Blobs(Link, ledger.path)
        self._handed_out: set[Url] = set()  # of those that are due: they stay so until their visit is recorded
        self._start = ledger.rounds.start
        self.left: Collection[str] = ()  # sites that the strategy left: see `has_more`

    def put(self, scored: Iterable[tuple[Link, float]]) -> set[str]:
        rows = []
        for link, score in scored:
            if not self._ledger.recent.has(link.url, score):
                host = link.url.host
                rows.append((link.url, host, self._site_of(host), link.kind, score, pack(link)))
        with self._ledger.transaction():
            self._database.query_many(PUT, rows)
            if self._rounds.number > 1:
                self._rounds.found_again((row[4], row[0]) for row in rows)
        return {row[1] for row in rows}

    def pop(self, host: str) -> Lease | None:
        """The lease is written with the next transaction. A crash before that leaves a queued link."""
        row, due = self._first(host), self._first_due(host)
        if due is not None and (row is None or (due[2], -due[1]) <= (row[3], -row[2])):
            self._handed_out.add(Url.known(due[3]))
            return Lease(self._unpack(due[0]), due[1], due[2], again=True)
        if row is None:
            return None
        self._database.query("UPDATE links SET state = ? WHERE id = ?", (LEASED, row[0]))
        return Lease(self._unpack(row[1]), row[2], row[3])

    def best(self, host: str) -> float:
        row, due = self._first(host), self._first_due(host)
        return max(-1.0 if row is None else float(row[2]), -1.0 if due is None else float(due[1]))

    def _first(self, host: str) -> Any:
        after = self._start.link if self.left and self._site_of(host) in self.left else -1
        return self._database.one(
            f"SELECT id, link, score, attempt FROM links WHERE host = ? AND state = {QUEUED} AND id > ?"
            " ORDER BY attempt, score DESC, id LIMIT 1",
            (host, after),
        )

    def _first_due(self, host: str) -> Any:
        """Link, score, attempt and address of what is best visited again now."""
        if self._rounds.number == 1:
            return None
        rows = self._database.query(
            "SELECT link, due, answers.attempt, url FROM answers JOIN links USING (url)"
            " WHERE answers.host = ? AND due IS NOT NULL ORDER BY answers.attempt, due DESC",
            (host,),
        )
        if len(self._handed_out) > MOST_HANDED_OUT:
            still_due = "SELECT 1 FROM answers WHERE url = ? AND due IS NOT NULL"
            self._handed_out = {url for url in self._handed_out if self._database.one(still_due, (url,))}
        return next((row for row in rows if row[3] not in self._handed_out), None)

    def has_more(self, host: str) -> bool:
        """Whether a host of a site that the strategy left is visited all the same: what is due, and links that are new.

        That is so in a further round only. What the strategy did not want before the round stays queued.
        """
        return self._rounds.number > 1 and self.best(host) >= 0

    def give_back(self, lease: Lease) -> None:
        url = lease.link.url
        table = "answers SET attempt" if lease.again else f"links SET state = {QUEUED}, attempt"
        self._handed_out.discard(url)
        with self._ledger.transaction():
            self._database.query(f"UPDATE {table} = ? WHERE url = ?", (lease.attempt + 1, url))

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
        """Queue the links that were visited in vain for that reason, each with the score that it had.

        An address that does not exist is not among them, whoever asks for it.
        """
        with self._ledger.transaction():
            self._database.query(
                f"{REQUEUE} AND reason = ? AND stage != ?"
                " AND NOT EXISTS (SELECT 1 FROM fetches WHERE fetches.url = links.url AND status IN (404, 410))",
                (reason, Stage.SCOPE),
            )

    def retry(self, urls: Iterable[str], hosts: Iterable[str]) -> None:
        """Queue these links again, and what hosts that have brought no page were asked first, in vain."""
        with self._ledger.transaction():
            self._database.query_many(f"{REQUEUE} AND stage != '{Stage.SCOPE}' AND url = ?", [(url,) for url in urls])
            self._database.query_many(
                f"{REQUEUE} AND {OWN} AND reason NOT IN (?, ?, ?) AND host = ? AND NOT EXISTS (SELECT 1 FROM pages WHERE"
                " url BETWEEN 'http://' || host || '/' AND 'http://' || host || '0'"  # 0 comes after the slash
                " OR url BETWEEN 'https://' || host || '/' AND 'https://' || host || '0')",
                [(Reason.SITEMAP, Reason.PROBE, Reason.REDIRECT, host) for host in hosts],
            )

    def refused(self, reasons: Sequence[Reason], after: int, most: int) -> list[tuple[int, Link]]:
        """Links that were not queued for one of these reasons, each with its number, from that number on."""
        marks = ", ".join("?" for _ in reasons)
        rows = self._database.query(
            f"SELECT id, link FROM links NOT INDEXED WHERE state = {SKIPPED} AND stage = ? AND reason IN ({marks}) AND id > ?"
            " ORDER BY id LIMIT ?",
            (Stage.SCOPE, *reasons, after, most),
        )
        return [(number, self._unpack(blob)) for number, blob in rows]

    def hosts(self) -> set[str]:
        """All hosts with links that are queued or due. A resumed run begins with them."""
        rows = self._database.query(
            f"SELECT host FROM links WHERE state = {QUEUED} UNION SELECT host FROM answers WHERE due IS NOT NULL"
        )
        return {row[0] for row in rows}

    def links(self) -> Iterator[Link]:
        """All queued links, in the order in which they arrived."""
        for (blob,) in self._database.query(f"SELECT link FROM links WHERE state = {QUEUED} ORDER BY id"):
            yield self._unpack(blob)

    def __len__(self) -> int:
        """The number of links that are queued or due, without our own requests. It reads every one of them."""
        queued = self._database.one(f"SELECT count(*) FROM links WHERE state = {QUEUED} AND NOT {OWN}")[0]
        return int(queued) + self._rounds.waiting()
