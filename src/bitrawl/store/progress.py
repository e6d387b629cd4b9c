"""What a running job has done since somebody last looked. Each question costs little, however large the job is."""

import msgspec

from bitrawl.model import OWN_REQUESTS
from bitrawl.store.ledger import Ledger
from bitrawl.store.schema import QUEUED
from bitrawl.store.summary import LogLine

_OWN = "kind IN ('{}')".format("', '".join(OWN_REQUESTS))


class FetchCount(msgspec.Struct, frozen=True):
    """Fetches of one stretch that ended in the same way."""

    stretch: int  # its number: fetches `stretch * width` to `(stretch + 1) * width - 1`
    language: str  # of pages, otherwise empty
    outcome: str  # "page", or why there is none
    count: int
    bytes: int
    relevant: int | None  # pages about the topic; None where nothing was compared with one


def last_fetch(ledger: Ledger) -> int:
    """The number of the last fetch, and so of all fetches."""
    return int(ledger.database.one("SELECT coalesce(max(seq), 0) FROM fetches")[0])


def fetch_counts(ledger: Ledger, *, after: int, upto: int, width: int) -> list[FetchCount]:
    """Of the fetches with these numbers, by stretches of that width. Our own requests are not included."""
    rows = ledger.database.query(
        "SELECT seq / ?, coalesce(language, ''), outcome, count(*), sum(bytes), sum(relevant) FROM fetches"
        f" WHERE seq > ? AND seq <= ? AND NOT {_OWN} GROUP BY 1, 2, 3 ORDER BY 1",
        (width, after, upto),
    )
    return [FetchCount(*row) for row in rows]


def last_fetches(ledger: Ledger, most: int) -> list[LogLine]:
    """The last ones, the oldest first."""
    rows = ledger.database.query(
        "SELECT seq, url, status, language, kind, score, bytes, at, took, attempt, outcome FROM fetches"
        " ORDER BY seq DESC LIMIT ?",
        (most,),
    ).fetchall()
    return [LogLine(*row) for row in reversed(rows)]


def fetches_about(ledger: Ledger, date: float, seconds: float, most: int) -> int:
    """How many of the last `most` fetches were made in the seconds before that date.

    One from much later is not among them: it was made before somebody set the date back.
    """
    row = ledger.database.one(
        "SELECT count(*) FROM (SELECT at FROM fetches ORDER BY seq DESC LIMIT ?) WHERE abs(? - at) <= ?",
        (most, date, seconds),
    )
    return int(row[0])


def queued_links(ledger: Ledger, most: int) -> int:
    """Links that wait, counted up to `most`."""
    counted = f"SELECT 1 FROM links INDEXED BY next WHERE state = {QUEUED} LIMIT ?"
    return int(ledger.database.one(f"SELECT count(*) FROM ({counted})", (most,))[0])


def pair_counts(ledger: Ledger) -> dict[str, int]:
    """Pairs of pages, by languages ("en-fr")."""
    rows = ledger.database.query(
        "SELECT lang_a || '-' || lang_b, count(*) FROM pairs WHERE NOT partial GROUP BY lang_a, lang_b"
    )
    return dict(rows.fetchall())


def segment_count(ledger: Ledger) -> int:
    """Aligned segments, also of sites that are still being aligned."""
    return int(ledger.database.one("SELECT coalesce(sum(count), 0) FROM alignments")[0])


def site_count(ledger: Ledger, most: int) -> int:
    """Sites that something is known about, counted up to `most`."""
    return int(ledger.database.one("SELECT count(*) FROM (SELECT 1 FROM sites LIMIT ?)", (most,))[0])
