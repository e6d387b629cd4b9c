"""What `bitrawl status` and `bitrawl log` show of a job, during and after its run."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from bitrawl.model import NO_ANSWER, Reason
from bitrawl.store.ledger import Ledger
from bitrawl.store.schema import LEASED, OWN, PAGE, QUEUED, SKIPPED


class HostSummary(msgspec.Struct, frozen=True):
    host: str
    fetches: int
    pages: int
    seconds: float  # mean time of an answer


class Summary(msgspec.Struct, frozen=True):
    """Each link is queued, a page, or skipped for a reason: `links` is the sum of the three.

    The crawler's own requests (sitemaps and probes) are not links. `own_requests` counts those that are done, and
    nothing else does.
    """

    links: int
    queued: int  # waiting or in flight
    pages: int
    skipped: int
    languages: dict[str, int]
    skips: dict[str, int]  # by "stage: reason"
    fetches: int  # links that were leased, refused by robots.txt or not
    bytes: int
    hosts: list[HostSummary]
    ended: str  # why the last run ended; empty while it runs or if it was killed
    seconds: float  # crawling time of all runs
    mining: str = ""  # what is being mined; empty if nothing is
    own_requests: int = 0
    answers: int = 0  # requests that a server answered, with any status
    unanswered: dict[str, int] = {}  # requests without an answer, by reason
    relevant: int | None = None  # pages about the topic; None in a job without one

    @property
    def skip_reasons(self) -> dict[Reason, int]:
        """The number of skipped links by reason, from all stages, the most frequent first."""
        counts: Counter[Reason] = Counter()
        for key, count in self.skips.items():
            counts[Reason(key.rpartition(" ")[2])] += count
        return dict(counts.most_common())

    def skipped_for(self, reason: Reason) -> int:
        return self.skip_reasons.get(reason, 0)


class LogLine(msgspec.Struct, frozen=True):
    """One fetch. The names of the fields are part of the output format and stay as they are."""

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
    outcome: str  # "page", or why it was skipped
    relevance: float | None = None  # 0 to 1; only in jobs with a topic
    relevant: bool | None = None
    perplexity: float | None = None  # only with a language model


def summarise(ledger: Ledger, *, hosts: int = 10) -> Summary:
    """The whole job, with the `hosts` busiest hosts."""
    query, run = ledger.database.query, ledger.last_run()
    states: dict[int, int] = {}
    own = 0
    for is_own, state, count in query(f"SELECT {OWN}, state, count(*) FROM links GROUP BY 1, 2"):
        if is_own:
            own += count * (state in (PAGE, SKIPPED))
        else:
            states[state] = count
    skips = query(
        f"SELECT stage || ': ' || reason, count(*) FROM links WHERE state = ? AND NOT {OWN} GROUP BY 1", (SKIPPED,)
    )
    languages = query("SELECT language, count(*) FROM pages GROUP BY 1 ORDER BY 2 DESC, 1").fetchall()
    fetches, answers, size = query(
        "SELECT count(*), coalesce(sum(status > 0), 0), coalesce(sum(bytes), 0) FROM fetches"
    ).fetchone()
    silent = "SELECT outcome, count(*) FROM fetches WHERE status = 0 AND outcome IN ('{}') GROUP BY 1 ORDER BY 2 DESC"
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
        ended=str(run.ended or ""),
        seconds=run.seconds,
        mining=str(run.doing or ""),
        own_requests=own,
        answers=answers,
        unanswered=dict(query(silent.format("', '".join(sorted(NO_ANSWER)))).fetchall()),
        relevant=query("SELECT sum(relevant) FROM fetches").fetchone()[0],
    )


_HOSTS = """
SELECT links.host, count(*), sum(fetches.outcome = 'page'), avg(fetches.took)
FROM fetches JOIN links USING (url) GROUP BY links.host ORDER BY 2 DESC, 1 LIMIT ?
"""


def log(ledger: Ledger, *, after: int = 0) -> Iterator[LogLine]:
    """The fetches in order, from the one after number `after`."""
    rows = ledger.database.query(
        "SELECT seq, url, status, language, kind, score, bytes, at, took, attempt, outcome,"
        " relevance, relevant, perplexity FROM fetches"
        " WHERE seq > ? ORDER BY seq",
        (after,),
    )
    for row in rows:
        fields = dict(zip(LogLine.__struct_fields__, row, strict=True))
        yield LogLine(**{**fields, "relevant": None if fields["relevant"] is None else bool(fields["relevant"])})
