"""A job in figures: what `status` shows, while it runs or after."""

from collections.abc import Iterator

import msgspec

from bitrawl.store.ledger import LEASED, PAGE, QUEUED, SKIPPED, Ledger


class HostSummary(msgspec.Struct, frozen=True):
    """One host of a job."""

    host: str
    fetches: int
    pages: int
    seconds: float  # mean time of an answer


class Summary(msgspec.Struct, frozen=True):
    """Each link is queued, a page, or skipped for a reason: the sums add up."""

    links: int
    queued: int  # waiting, or in flight
    pages: int
    skipped: int
    languages: dict[str, int]
    skips: dict[str, int]  # by "stage: reason"
    fetches: int
    bytes: int
    hosts: list[HostSummary]
    ended: str  # why the last run ended; empty while it runs or when it was killed
    seconds: float  # crawled, over all runs
    mining: str = ""  # what is being mined; empty when nothing is


class LogLine(msgspec.Struct, frozen=True):
    """One fetch; the fields and their names are a promise."""

    seq: int
    url: str
    status: int
    language: str | None
    kind: str
    score: float
    bytes: int
    at: float
    took: float
    attempt: int
    outcome: str  # "page", or the reason of a skip


def summarise(ledger: Ledger, *, hosts: int = 10) -> Summary:
    """The whole job; `hosts` of them, the busiest first."""
    query = ledger.connection.execute
    states = dict(query("SELECT state, count(*) FROM links GROUP BY state").fetchall())
    skips = query("SELECT stage || ': ' || reason, count(*) FROM links WHERE state = ? GROUP BY 1", (SKIPPED,))
    languages = query("SELECT language, count(*) FROM pages GROUP BY 1 ORDER BY 2 DESC, 1").fetchall()
    fetches, size = query("SELECT count(*), coalesce(sum(bytes), 0) FROM fetches").fetchone()
    return Summary(
        links=sum(states.values()),
        queued=states.get(QUEUED, 0) + states.get(LEASED, 0),
        pages=states.get(PAGE, 0),
        skipped=states.get(SKIPPED, 0),
        languages=dict(languages),
        skips=dict(sorted(skips.fetchall(), key=lambda row: -row[1])),
        fetches=fetches,
        bytes=size,
        hosts=[HostSummary(*row) for row in query(_HOSTS, (hosts,))],
        ended=str(ledger.recall("ended") or ""),
        seconds=float(ledger.recall("seconds") or 0),
        mining=str(ledger.recall("mining") or ""),
    )


_HOSTS = """
SELECT links.host, count(*), sum(fetches.outcome = 'page'), avg(fetches.took)
FROM fetches JOIN links USING (url) GROUP BY links.host ORDER BY 2 DESC, 1 LIMIT ?
"""


def log(ledger: Ledger, *, after: int = 0) -> Iterator[LogLine]:
    """The fetches in order, those with a greater number than `after`."""
    rows = ledger.connection.execute(
        "SELECT seq, url, status, language, kind, score, bytes, at, took, attempt, outcome FROM fetches"
        " WHERE seq > ? ORDER BY seq",
        (after,),
    )
    for row in rows:
        yield LogLine(*row)
