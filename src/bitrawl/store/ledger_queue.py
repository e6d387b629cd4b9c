"""The frontier's links as rows of the ledger: a million of them cost disk space, not memory.

In a further round, pages that are due stand beside the links that are queued, and the better of the two comes first.
"""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from typing import Any

from bitrawl.model import Lease, Link, LinkKind, pack
from bitrawl.protocols import FIRST
from bitrawl.reasons import Reason, Stage
from bitrawl.store.database import LEASED, OWN, QUEUED, SKIPPED, Blobs
from bitrawl.store.ledger import Ledger
from bitrawl.url import Url

_LAST_LINK = (1 << 63) - 1  # no link has a higher number
MOST_HANDED_OUT = 5000  # before those are forgotten whose visits were recorded

_BECOMES_SEED = f"(excluded.kind = '{LinkKind.SEED}' AND kind != excluded.kind)"
_NEW = f"state = {SKIPPED} OR {_BECOMES_SEED}"
# Raise a known link's score while it is queued. Requeue it if it was skipped only because of the page that it was found on.
# What the user names as a seed is one, whatever page had a link to it.
PUT = f"""
INSERT INTO links (url, host, site, kind, state, score, link) VALUES (?, ?, ?, ?, {QUEUED}, ?, ?)
ON CONFLICT (url) DO UPDATE SET
    score = excluded.score, state = {QUEUED}, stage = NULL, reason = NULL, detail = NULL,
    kind = CASE WHEN {_NEW} THEN excluded.kind ELSE kind END,
    link = CASE WHEN {_NEW} THEN excluded.link ELSE link END,
    attempt = CASE WHEN {_NEW} THEN 1 ELSE attempt END
WHERE (state = {QUEUED} AND excluded.score > score) OR (state = {SKIPPED} AND stage = '{Stage.SCOPE}')
    OR ({_BECOMES_SEED} AND (state = {QUEUED} OR stage = '{Stage.FRONTIER}'))
"""


# What is due in this round is asked anyway.
REQUEUE = (
    f"UPDATE links SET state = {QUEUED}, attempt = 1, stage = NULL, reason = NULL, detail = NULL WHERE state = {SKIPPED}"
    " AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.url = links.url AND due IS NOT NULL)"
)


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
        which, values = "", list[str | int]([host])
        if self.left and self._site_of(host) in self.left:
            which = f" AND (id > ? OR (score >= {FIRST} AND kind != '{LinkKind.INDEX}'))"
            values.append(self._start.link if self._rounds.number > 1 else _LAST_LINK)
        return self._database.one(
            f"SELECT id, link, score, attempt FROM links WHERE host = ? AND state = {QUEUED}{which}"
            " ORDER BY attempt, score DESC, id LIMIT 1",
            values,
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
        """Whether a host of a site that the strategy left is visited all the same: seeds that come first; and in a further
        round what is due, and links that are new.

        What the strategy did not want before stays queued.
        """
        return self.best(host) >= 0

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
                f"{REQUEUE} AND {OWN} AND reason NOT IN (?, ?, ?) AND host = ? AND NOT EXISTS (SELECT 1 FROM stored_pages WHERE"
                " url BETWEEN 'http://' || host || '/' AND 'http://' || host || '0'"  # 0 comes after the slash
                " OR url BETWEEN 'https://' || host || '/' AND 'https://' || host || '0')",
                [(Reason.SITEMAP, Reason.PROBE, Reason.REDIRECT, host) for host in hosts],
            )

    def is_unread(self, url: Url, earlier: Container[str]) -> bool:
        """Whether it was never visited, and is no seed yet but for those that `earlier` runs had to leave unread."""
        row = self._database.one("SELECT kind, state, stage FROM links WHERE url = ?", (url,))
        if row is None:
            return True
        kind, state, stage = row
        is_new = kind != LinkKind.SEED or url in earlier
        return is_new and (state == QUEUED or stage in (Stage.SCOPE, Stage.FRONTIER))

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
