"""The figures that a report needs: when, in which order, how many, why not, and one example of each."""

from array import array
from collections.abc import Iterator
from enum import StrEnum

import msgspec
import numpy as np

from bitrawl.model import Reason
from bitrawl.store.ledger import Ledger
from bitrawl.store.schema import OWN, SKIPPED
from bitrawl.store.summary import HostSummary


class FetchTimes(msgspec.Struct, frozen=True):
    """When a job fetched, in seconds since the epoch. Both are 0 if it has fetched nothing."""

    first: float
    last: float


class SkipCount(msgspec.Struct, frozen=True):
    """The number of links that were skipped at one stage for one reason, and the first of them."""

    stage: str
    reason: str
    count: int
    url: str
    detail: str
    statuses: dict[int, int] = {}  # how many got each HTTP status; redirects and errors only


class RefusalCount(msgspec.Struct, frozen=True):
    """The number of pairs that were refused for one reason, and one of them."""

    reason: str
    count: int
    url_a: str
    url_b: str


class SiteCount(msgspec.Struct, frozen=True):
    """A site that was mined."""

    site: str
    pages: int
    pairs: int


class JudgedPage(msgspec.Struct, frozen=True):
    """A page that was compared with the topic."""

    url: str
    seq: int  # the number of the fetch that brought it
    score: float


class RefusedPage(msgspec.Struct, frozen=True):
    """A page about the topic that was refused as half of a pair, or left out as a copy of another."""

    page: JudgedPage
    reason: str  # "duplicate", or why the pair was refused
    other: str  # the other page


class Share(msgspec.Struct, frozen=True):
    """How many of some pages are about the topic."""

    pages: int
    relevant: int


class Border(StrEnum):
    """Which pages to show of those that were compared with the topic."""

    BEST = "relevant = 1 AND relevance >= ? ORDER BY relevance DESC, seq"
    JUST_RELEVANT = "relevant = 1 AND relevance >= ? ORDER BY relevance, seq"
    JUST_NOT = "relevant = 0 AND relevance > 0 AND relevance < ? ORDER BY relevance DESC, seq"
    DESPITE_SCORE = "relevant = 0 AND relevance >= ? ORDER BY relevance DESC, seq"  # another threshold refused it


def fetch_times(ledger: Ledger) -> FetchTimes:
    return FetchTimes(*ledger.database.one("SELECT coalesce(min(at), 0), coalesce(max(at), 0) FROM fetches"))


def pages_in_order(ledger: Ledger) -> Iterator[tuple[str, int]]:
    """The language of each page, and the number of the fetch that brought it."""
    yield from ledger.database.query("SELECT language, seq FROM fetches WHERE outcome = 'page'")


def perplexities(ledger: Ledger) -> list[float]:
    """Of the pages that a language model has judged."""
    return [value for (value,) in ledger.database.query("SELECT perplexity FROM fetches WHERE perplexity IS NOT NULL")]


def relevant_pages(ledger: Ledger) -> int | None:
    """Pages about the topic; None if none was judged."""
    value = ledger.database.one("SELECT sum(relevant) FROM fetches")[0]
    return None if value is None else int(value)


def lowest_perplexity(ledger: Ledger) -> float | None:
    """None if no language model has judged a page."""
    value = ledger.database.one("SELECT min(perplexity) FROM fetches")[0]
    return None if value is None else float(value)


def judged_in_order(ledger: Ledger) -> Iterator[tuple[int, float, bool]]:
    """The fetch that brought each page that was compared with the topic, its relevance, and whether it is relevant."""
    for seq, score, relevant in ledger.database.query(
        "SELECT seq, relevance, relevant FROM fetches WHERE relevant IS NOT NULL"
    ):
        yield seq, score, bool(relevant)


def relevant_by_language(ledger: Ledger) -> dict[str, Share]:
    """The language with the most relevant pages first. Empty in a job without a topic."""
    rows = ledger.database.query(
        "SELECT language, count(*), sum(relevant) FROM fetches WHERE relevant IS NOT NULL"
        " GROUP BY 1 ORDER BY 3 DESC, 2 DESC, 1"
    )
    return {language: Share(pages, relevant) for language, pages, relevant in rows}


def relevant_by_site(ledger: Ledger, most: int, *, from_share: float, below_share: float) -> dict[str, Share]:
    """Sites with that share of relevant pages: those with the most relevant pages first, then those with the most pages."""
    rows = ledger.database.query(_SHARES, (from_share, below_share, most))
    return {site: Share(pages, relevant) for site, pages, relevant in rows}


_SHARES = """
SELECT site, count(*), sum(relevant) FROM fetches JOIN pages USING (url) WHERE relevant IS NOT NULL GROUP BY 1
HAVING avg(relevant) >= ? AND avg(relevant) < ? ORDER BY 3 DESC, 2 DESC, 1 LIMIT ?
"""


def judged_pages(ledger: Ledger, border: Border, threshold: float, most: int) -> list[JudgedPage]:
    rows = ledger.database.query(f"SELECT url, seq, relevance FROM fetches WHERE {border} LIMIT ?", (threshold, most))
    return [JudgedPage(*row) for row in rows]


def refused_relevant_pages(ledger: Ledger, most: int) -> list[RefusedPage]:
    """The most relevant ones first. A page that only has a better partner is not refused."""
    rows = ledger.database.query(_REFUSED_RELEVANT, (most,))
    return [RefusedPage(JudgedPage(*judged), reason, other) for *judged, reason, other in rows]


_REFUSED_RELEVANT = """
WITH refused AS (
    SELECT url_a AS url, url_b AS other, reason FROM refusals WHERE reason <> 'conflict'
    UNION ALL SELECT url_b, url_a, reason FROM refusals WHERE reason <> 'conflict'
    UNION ALL SELECT url, repeats, 'duplicate' FROM duplicates
)
SELECT url, min(seq), relevance, reason, other FROM fetches JOIN refused USING (url) WHERE relevant = 1
GROUP BY url ORDER BY relevance DESC, 2 LIMIT ?
"""


def page_title(ledger: Ledger, url: str) -> str:
    """Empty if the URL is not a page."""
    row = ledger.database.one("SELECT title FROM pages WHERE url = ?", (url,))
    return str(row[0]) if row else ""


def skip_counts(ledger: Ledger) -> list[SkipCount]:
    """Skipped links by stage and reason, the most frequent first. Our own requests are not included."""
    statuses: dict[tuple[str, str], dict[int, int]] = {}
    for stage, reason, status, count in ledger.database.query(_STATUSES, (SKIPPED,)):
        statuses.setdefault((stage, reason), {})[status] = count
    return [
        SkipCount(stage, reason, count, url, detail, statuses.get((stage, reason), {}))
        for stage, reason, count, url, detail, _ in ledger.database.query(_SKIPS, (SKIPPED,))
    ]


def fault_counts(ledger: Ledger) -> list[SkipCount]:
    """What could not be mined, by stage and reason, the most frequent first."""
    rows = ledger.database.query(
        "SELECT stage, reason, count(*), url, detail, min(id) FROM faults GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2"
    )
    return [SkipCount(stage, reason, count, url, detail) for stage, reason, count, url, detail, _ in rows]


def killed_count(ledger: Ledger) -> int:
    """What is left out only because processes were killed: links, sitemaps and probes included, page pairs and sites."""
    links = f"SELECT count(*) FROM links WHERE state = {SKIPPED} AND reason = ?"
    faults = "SELECT count(*) FROM faults WHERE reason = ?"
    return int(ledger.database.one(f"SELECT ({links}) + ({faults})", (Reason.KILLED, Reason.KILLED))[0])


# SQLite takes the other columns from the row that has the minimum: the first link of each.
_SKIPS = f"""
SELECT stage, reason, count(*), url, coalesce(detail, ''), min(id)
FROM links WHERE state = ? AND NOT {OWN} GROUP BY stage, reason ORDER BY 3 DESC, 1, 2
"""
# A link that was tried several times counts by its last answer.
_STATUSES = f"""
SELECT stage, reason, status, count(*)
FROM links JOIN (SELECT url, status, max(seq) FROM fetches WHERE outcome <> 'page' GROUP BY url) USING (url)
WHERE state = ? AND status >= 300 AND NOT {OWN} GROUP BY 1, 2, 3 ORDER BY 4 DESC, 3
"""


def slowest_hosts(ledger: Ledger, most: int) -> list[HostSummary]:
    return [HostSummary(*row) for row in ledger.database.query(_SLOWEST, (most,))]


_SLOWEST = """
SELECT links.host, count(*), sum(fetches.outcome = 'page'), avg(fetches.took)
FROM fetches JOIN links USING (url) GROUP BY links.host ORDER BY 4 DESC, 1 LIMIT ?
"""


def sites_linked_to(ledger: Ledger, most: int, *, declared: bool = False) -> dict[str, int]:
    """Other sites and the number of links to each. `declared` counts only declared translations."""
    only = "AND kind = 'alternate'" if declared else ""
    rows = ledger.database.query(
        f"SELECT site, count(*) FROM links WHERE state = ? AND reason = ? {only} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?",
        (SKIPPED, Reason.OFF_SITE, most),
    )
    return dict(rows.fetchall())


def refusal_counts(ledger: Ledger, most: int) -> list[RefusalCount]:
    rows = ledger.database.query(
        "SELECT reason, count(*), min(url_a), url_b FROM refusals GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?", (most,)
    )
    return [RefusalCount(*row) for row in rows]


def duplicate_count(ledger: Ledger) -> int:
    return int(ledger.database.one("SELECT count(*) FROM duplicates")[0])


def duplicate_samples(ledger: Ledger, most: int) -> list[tuple[str, str]]:
    """Duplicate pages, each with the page that it repeats: the first ones by URL."""
    return list(ledger.database.query("SELECT url, repeats FROM duplicates ORDER BY url LIMIT ?", (most,)))


def site_counts(ledger: Ledger, most: int) -> list[SiteCount]:
    """The sites that were mined, those with the most pairs first."""
    return [SiteCount(*row) for row in ledger.database.query(_SITES, (most,))]


_SITES = """
SELECT site, (SELECT count(*) FROM pages WHERE pages.site = mined.site), coalesce(sum(NOT partial), 0)
FROM mined LEFT JOIN pairs USING (site) GROUP BY site ORDER BY 3 DESC, 2 DESC, 1 LIMIT ?
"""


class SiteTroubles(msgspec.Struct, frozen=True):
    """Why a site brought less than it might have."""

    skips: dict[str, int] = {}  # links that were fetched, or that robots.txt forbade, and became no page, by reason
    refusals: dict[str, int] = {}  # suggested pairs that were refused, by reason
    faults: dict[str, int] = {}  # what could not be mined, by reason


def site_troubles(ledger: Ledger) -> dict[str, SiteTroubles]:
    """The sites that were visited and have any; the most frequent reason first."""
    columns: list[dict[str, dict[str, int]]] = []
    for query in (_SITE_SKIPS, _SITE_REFUSALS, _SITE_FAULTS):
        found: dict[str, dict[str, int]] = {}
        for site, reason, count in ledger.database.query(query):
            found.setdefault(site, {})[reason] = count
        columns.append(found)
    sites = sorted({site for found in columns for site in found})
    return {site: SiteTroubles(*(found.get(site, {}) for found in columns)) for site in sites}


_SITE_SKIPS = f"""
SELECT site, reason, count(*) FROM links
WHERE state = {SKIPPED} AND stage <> 'scope' AND NOT {OWN} AND site IN (SELECT site FROM sites)
GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2
"""
_SITE_REFUSALS = "SELECT site, reason, count(*) FROM refusals GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2"
_SITE_FAULTS = "SELECT site, reason, count(*) FROM faults GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2"


class FetchOrder:
    """When each page was fetched. It needs 16 bytes per page, however long the URL is."""

    def __init__(self, ledger: Ledger, fetches: int) -> None:
        self._last = fetches
        keys, seqs = array("q"), array("q")
        for url, seq in ledger.database.query("SELECT url, seq FROM fetches WHERE outcome = 'page' ORDER BY seq"):
            keys.append(hash(url))  # It differs between processes and is never stored.
            seqs.append(seq)
        unsorted = np.frombuffer(keys, dtype=np.int64)
        order = np.argsort(unsorted, kind="stable")
        self._keys, self._seqs = unsorted[order], np.frombuffer(seqs, dtype=np.int64)[order]

    def __call__(self, url: str) -> int:
        """The number of the fetch that first brought the page. The last fetch if none did."""
        key = hash(url)
        place = int(np.searchsorted(self._keys, key))
        return int(self._seqs[place]) if place < len(self._keys) and self._keys[place] == key else self._last
