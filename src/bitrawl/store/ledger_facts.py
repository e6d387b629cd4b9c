"""What the tables of a job say: all questions that status, report, card, app and cluster ask of them.

A question that the app asks each second costs little however large the job is; the others read whole tables once.
"""

import heapq
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from bitrawl.facts import (
    BINS,
    Border,
    CrawlFacts,
    CrawlSummary,
    Curve,
    Histogram,
    HostCount,
    LanguagePair,
    LogLine,
    Points,
    RefusalCount,
    SiteFacts,
    SkipCount,
    TopicShare,
)
from bitrawl.model import OWN_REQUESTS, DrawnBy, LinkKind
from bitrawl.reasons import NO_ANSWER, Reason
from bitrawl.store.database import LEASED, OWN, PAGE, QUEUED, SKIPPED
from bitrawl.store.ledger import Ledger

_COLUMNS = ", ".join(LogLine.__struct_fields__)
_OWN_FETCH = "kind IN ('{}')".format("', '".join(OWN_REQUESTS))
# Sorted as the index has them: sorting a million links takes two seconds.
_SKIPS = f"SELECT stage, reason, kind, count(*), min(id) FROM links WHERE state = {SKIPPED} GROUP BY 1, 2, 3"
_FETCHES = """
SELECT count(*), coalesce(sum(status > 0), 0), coalesce(sum(bytes), 0), sum(relevant), coalesce(min(at), 0), coalesce(max(at), 0)
FROM fetches
"""
_UNANSWERED = "SELECT outcome, count(*) FROM fetches WHERE status = 0 AND outcome IN ('{}') GROUP BY 1 ORDER BY 2 DESC"
# From the two slashes of a URL to the third. Looking up each link instead takes twice as long.
_HOST = "substr(url, instr(url, '//') + 2, instr(substr(url, 9), '/') + 6 - instr(url, '//'))"
_HOSTS = f"""
SELECT {_HOST}, count(*), sum(outcome = 'page'), avg(took) FROM fetches GROUP BY 1 ORDER BY {{}} DESC, 1 LIMIT ?
"""


def crawl_facts(ledger: Ledger, *, hosts: int = 10) -> CrawlFacts:
    """The figures of the crawl, with the `hosts` busiest hosts, and an example of each reason for a skip."""
    query = ledger.database.query
    (pages,) = ledger.database.one("SELECT count(*) FROM stored_pages")
    own, skips = _own_requests(ledger), _skips(ledger)
    fetches, answers, size, relevant, began, finished = ledger.database.one(_FETCHES)
    languages, types, drawn = Counter[str](), Counter[str](), Counter[str]()
    for site in ledger.sites():
        languages.update(site.languages)
        types.update(site.types)
        drawn.update(site.drawn)
    summary = CrawlSummary(
        queued=links_left(ledger),
        pages=pages,
        skipped=sum(skip.count for skip in skips),
        own_requests=own[PAGE] + own[SKIPPED],
        languages=dict(sorted((+languages).items(), key=lambda item: (-item[1], item[0]))),
        types=dict((types + Counter(html=max(0, pages - types.total()))).most_common()),
        rendered=drawn[DrawnBy.BROWSER],
        scripted=sum(drawn[sign] for sign in DrawnBy if sign is not DrawnBy.BROWSER)
        + sum(skip.count for skip in skips if skip.reason in (Reason.SCRIPTED, Reason.UNDRAWN)),
        skips={skip.name: skip.count for skip in skips},
        fetches=fetches,
        answers=answers,
        unanswered=dict(query(_UNANSWERED.format("', '".join(sorted(NO_ANSWER)))).fetchall()),
        bytes=size,
        relevant=relevant,
        began=began,
        finished=finished,
        hosts=[HostCount(*row) for row in query(_HOSTS.format(2), (hosts,))],
        run=ledger.last_run(),
    )
    return CrawlFacts(summary=summary, skips=tuple(skips), faults=fault_counts(ledger))


def _own_requests(ledger: Ledger) -> Counter[int]:
    """By state."""
    return Counter(dict(ledger.database.query(f"SELECT state, count(*) FROM links WHERE {OWN} GROUP BY 1")))


def _skips(ledger: Ledger) -> list[SkipCount]:
    """Links that were skipped, without our own requests, by stage and reason, the most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    guessed: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], int] = {}
    for stage, reason, kind, count, first in ledger.database.query(_SKIPS):
        if kind not in OWN_REQUESTS:
            counts[stage, reason] += count
            guessed[stage, reason] += count * (kind == LinkKind.PARTNER)
            examples[stage, reason] = min(first, examples.get((stage, reason), first))
    skips = []
    for group in sorted(counts, key=lambda group: (-counts[group], group)):
        url, detail = ledger.database.one(
            "SELECT url, coalesce(detail, '') FROM links WHERE id = ?", (examples[group],)
        )
        skips.append(SkipCount(*group, counts[group], url, detail, guessed=guessed[group]))
    return skips


def summarise(ledger: Ledger) -> CrawlSummary:
    return crawl_facts(ledger).summary


def slowest_hosts(ledger: Ledger, most: int) -> list[HostCount]:
    return [HostCount(*row) for row in ledger.database.query(_HOSTS.format(4), (most,))]


def log(ledger: Ledger, *, after: int = 0) -> Iterator[LogLine]:
    """The fetches in order, from the one after number `after`."""
    for row in ledger.database.query(f"SELECT {_COLUMNS} FROM fetches WHERE seq > ? ORDER BY seq", (after,)):
        line = LogLine(*row)
        yield line if line.relevant is None else msgspec.structs.replace(line, relevant=bool(line.relevant))


def fault_counts(ledger: Ledger) -> tuple[SkipCount, ...]:
    """What could not be mined, by stage and reason, the most frequent first."""
    rows = ledger.database.query(
        "SELECT stage, reason, count(*), url, detail, min(id) FROM faults GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2"
    )
    return tuple(SkipCount(*row[:5]) for row in rows)


def killed_count(ledger: Ledger) -> int:
    """What is left out only because processes were killed: links, sitemaps and probes included, page pairs and sites."""
    links = f"SELECT count(*) FROM links WHERE state = {SKIPPED} AND reason = ?"
    faults = "SELECT count(*) FROM faults WHERE reason = ?"
    return int(ledger.database.one(f"SELECT ({links}) + ({faults})", (Reason.KILLED, Reason.KILLED))[0])


def language_pairs(ledger: Ledger) -> list[LanguagePair]:
    """Pairs and all segment pairs, by languages in the order of their codes."""
    rows = ledger.database.query(
        "SELECT lang_a, lang_b, sum(NOT partial), sum(partial), coalesce(sum(count), 0) FROM pairs"
        " LEFT JOIN alignments ON alignments.key = pairs.alignment GROUP BY 1, 2 ORDER BY 1, 2"
    )
    return [LanguagePair(*row) for row in rows]


# While a job runs


class FetchCount(msgspec.Struct, frozen=True):
    """Fetches of one stretch that ended in the same way."""

    own: bool  # requests of our own, such as those for sitemaps
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
    """Of the fetches with these numbers, by stretches of that width."""
    rows = ledger.database.query(
        f"SELECT {_OWN_FETCH}, seq / ?, coalesce(language, ''), outcome, count(*), sum(bytes), sum(relevant) FROM fetches"
        " WHERE seq > ? AND seq <= ? GROUP BY 1, 2, 3, 4 ORDER BY 2",
        (width, after, upto),
    )
    return [FetchCount(*row) for row in rows]


def last_fetches(ledger: Ledger, most: int) -> list[LogLine]:
    """The last ones, the oldest first, without what compares them with a topic."""
    columns = ", ".join(LogLine.__struct_fields__[:11])
    rows = ledger.database.query(f"SELECT {columns} FROM fetches ORDER BY seq DESC LIMIT ?", (most,)).fetchall()
    return [LogLine(*row) for row in reversed(rows)]


def fetches_about(ledger: Ledger, date: float, seconds: float, most: int) -> int:
    """How many of the last `most` fetches were made in the seconds before that date.

    One from much later is not among them: it was made before somebody set the date back.
    """
    question = "SELECT count(*) FROM (SELECT at FROM fetches ORDER BY seq DESC LIMIT ?) WHERE abs(? - at) <= ?"
    return int(ledger.database.one(question, (most, date, seconds))[0])


def queued_links(ledger: Ledger, most: int, host: str | None = None) -> int:
    """Links that wait, of one host or of all, counted up to `most`."""
    only, values = (" AND host = ?", (host,)) if host is not None else ("", ())
    counted = f"SELECT 1 FROM links INDEXED BY next WHERE state = {QUEUED}{only} LIMIT ?"
    return int(ledger.database.one(f"SELECT count(*) FROM ({counted})", (*values, most))[0])


def links_left(ledger: Ledger, most: int = -1) -> int:
    """Links that wait or are in flight, without our own requests; of those that wait, `most` are counted."""
    leased, own = (
        ledger.database.one(f"SELECT count(*) FROM links WHERE {which}")[0]
        for which in (f"state = {LEASED}", f"state IN ({QUEUED}, {LEASED}) AND {OWN}")
    )
    waiting = queued_links(ledger, most)
    return waiting if waiting == most else waiting + int(leased) - int(own)


def pair_counts(ledger: Ledger) -> dict[str, int]:
    """Pairs of pages, by languages ("en-fr")."""
    question = "SELECT lang_a || '-' || lang_b, count(*) FROM pairs WHERE NOT partial GROUP BY lang_a, lang_b"
    return dict(ledger.database.query(question).fetchall())


def partial_count(ledger: Ledger) -> int:
    """Pairs of pages that are translated in part."""
    return int(ledger.database.one("SELECT coalesce(sum(partial), 0) FROM pairs")[0])


def segment_count(ledger: Ledger) -> int:
    """Aligned segments, also of sites that are still being aligned."""
    return int(ledger.database.one("SELECT coalesce(sum(count), 0) FROM alignments")[0])


def site_count(ledger: Ledger, most: int) -> int:
    """Sites that something is known about, counted up to `most`."""
    return int(ledger.database.one("SELECT count(*) FROM (SELECT 1 FROM sites LIMIT ?)", (most,))[0])


# For a report


def with_statuses(ledger: Ledger, skips: Iterable[SkipCount]) -> tuple[SkipCount, ...]:
    """These counts with how many links got each HTTP status. A link that was tried several times counts by its last answer."""
    statuses: dict[tuple[str, str], dict[int, int]] = {}
    for stage, reason, status, count in ledger.database.query(_STATUSES, (SKIPPED,)):
        statuses.setdefault((stage, reason), {})[status] = count
    return tuple(msgspec.structs.replace(skip, statuses=statuses.get((skip.stage, skip.reason), {})) for skip in skips)


_STATUSES = f"""
SELECT stage, reason, status, count(*)
FROM links JOIN (SELECT url, status, max(seq) FROM fetches WHERE outcome <> 'page' GROUP BY url) USING (url)
WHERE state = ? AND status >= 300 AND NOT {OWN} GROUP BY 1, 2, 3 ORDER BY 4 DESC, 3
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


def site_counts(ledger: Ledger, most: int) -> list[SiteFacts]:
    """The sites that were mined, those with the most pairs first."""
    return [SiteFacts(*row) for row in ledger.database.query(_SITES, (most,))]


_SITES = """
SELECT site, (SELECT count(*) FROM stored_pages WHERE stored_pages.site = mined.site), coalesce(sum(NOT partial), 0)
FROM mined LEFT JOIN pairs USING (site) GROUP BY site ORDER BY 3 DESC, 2 DESC, 1 LIMIT ?
"""


def visited_sites(ledger: Ledger, most: int) -> list[SiteFacts]:
    """All sites that were visited, mined or not, with why the strategy left them; those with the most pairs first."""
    pairs = dict(ledger.database.query("SELECT site, sum(NOT partial) FROM pairs GROUP BY site"))
    sites = (SiteFacts(site.site, site.pages, pairs.get(site.site, 0), site.left) for site in ledger.sites())
    return heapq.nsmallest(most, sites, key=lambda site: (-site.pairs, -site.pages, site.site))


class SiteTroubles(msgspec.Struct, frozen=True):
    """Why a site brought less than it might have."""

    skips: dict[str, int] = {}  # links that were fetched, or that robots.txt forbade, and became no page, by reason
    refusals: dict[str, int] = {}  # suggested pairs that were refused, by reason
    faults: dict[str, int] = {}  # what could not be mined, by reason


def site_troubles(ledger: Ledger) -> dict[str, SiteTroubles]:
    """The sites that were visited and have any; the most frequent reason first."""
    columns: list[dict[str, dict[str, int]]] = []
    for query in (_SITE_SKIPS, _SITE_REFUSALS, _SITE_FAULTS):
        reasons: dict[str, dict[str, int]] = {}
        for site, reason, count in ledger.database.query(query):
            reasons.setdefault(site, {})[reason] = count
        columns.append(reasons)
    sites = sorted({site for reasons in columns for site in reasons})
    return {site: SiteTroubles(*(reasons.get(site, {}) for reasons in columns)) for site in sites}


_SITE_SKIPS = f"""
SELECT site, reason, count(*) FROM links
WHERE state = {SKIPPED} AND stage <> 'scope' AND NOT {OWN} AND site IN (SELECT site FROM sites)
GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2
"""
_SITE_REFUSALS = "SELECT site, reason, count(*) FROM refusals GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2"
_SITE_FAULTS = "SELECT site, reason, count(*) FROM faults GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2"


def page_title(ledger: Ledger, url: str) -> str:
    """Empty if the URL is not a page."""
    row = ledger.database.one("SELECT title FROM stored_pages WHERE url = ?", (url,))
    return str(row[0]) if row else ""


def growth(ledger: Ledger, fetches: int) -> tuple[Curve, ...]:
    """Pages by language."""
    steps = Steps(fetches)
    for language, seq in ledger.database.query("SELECT language, seq FROM fetches WHERE outcome = 'page'"):
        steps.add(language, seq)
    return steps.curves()


# For a job with a topic


class JudgedPage(msgspec.Struct, frozen=True):
    """A page that was compared with the topic."""

    url: str
    score: float
    reason: str = ""  # why it was refused as half of a pair, or "duplicate"
    other: str = ""  # the other page


_BORDERS = {
    Border.BEST: "relevant = 1 AND relevance >= ? ORDER BY relevance DESC, seq",
    Border.JUST_RELEVANT: "relevant = 1 AND relevance >= ? ORDER BY relevance, seq",
    Border.JUST_NOT: "relevant = 0 AND relevance > 0 AND relevance < ? ORDER BY relevance DESC, seq",
    Border.DESPITE_SCORE: "relevant = 0 AND relevance >= ? ORDER BY relevance DESC, seq",
}


def perplexities(ledger: Ledger) -> list[float]:
    """The perplexities of the pages that a language model has judged."""
    return [value for (value,) in ledger.database.query("SELECT perplexity FROM fetches WHERE perplexity IS NOT NULL")]


def relevant_pages(ledger: Ledger) -> int | None:
    """Pages about the topic; None if none was judged."""
    value = ledger.database.one("SELECT sum(relevant) FROM fetches")[0]
    return None if value is None else int(value)


def judged_in_order(ledger: Ledger) -> Iterator[tuple[int, float, bool]]:
    """The fetch that brought each page that was compared with the topic, its relevance, and whether it is relevant."""
    question = "SELECT seq, relevance, relevant FROM fetches WHERE relevant IS NOT NULL"
    for seq, score, relevant in ledger.database.query(question):
        yield seq, score, bool(relevant)


def relevant_by_language(ledger: Ledger) -> dict[str, TopicShare]:
    """The language with the most relevant pages first. Empty in a job without a topic."""
    rows = ledger.database.query(
        "SELECT language, count(*), sum(relevant) FROM fetches WHERE relevant IS NOT NULL"
        " GROUP BY 1 ORDER BY 3 DESC, 2 DESC, 1"
    )
    return {language: TopicShare(pages, relevant) for language, pages, relevant in rows}


def relevant_by_site(ledger: Ledger, most: int, *, from_share: float, below_share: float) -> dict[str, TopicShare]:
    """Sites with that share of relevant pages: those with the most relevant pages first, then those with the most pages."""
    rows = ledger.database.query(
        "SELECT site, count(*), sum(relevant) FROM fetches JOIN stored_pages USING (url) WHERE relevant IS NOT NULL GROUP BY 1"
        " HAVING avg(relevant) >= ? AND avg(relevant) < ? ORDER BY 3 DESC, 2 DESC, 1 LIMIT ?",
        (from_share, below_share, most),
    )
    return {site: TopicShare(pages, relevant) for site, pages, relevant in rows}


def judged_pages(ledger: Ledger, border: Border, threshold: float, most: int) -> list[JudgedPage]:
    question = f"SELECT url, relevance FROM fetches WHERE {_BORDERS[border]} LIMIT ?"
    return [JudgedPage(*row) for row in ledger.database.query(question, (threshold, most))]


def refused_relevant_pages(ledger: Ledger, most: int) -> list[JudgedPage]:
    """The most relevant ones first. A page that only has a better partner is not refused."""
    return [JudgedPage(*row[:4]) for row in ledger.database.query(_REFUSED_RELEVANT, (most,))]


_REFUSED_RELEVANT = """
WITH refused AS (
    SELECT url_a AS url, url_b AS other, reason FROM refusals WHERE reason <> 'conflict'
    UNION ALL SELECT url_b, url_a, reason FROM refusals WHERE reason <> 'conflict'
    UNION ALL SELECT url, repeats, 'duplicate' FROM duplicates
)
SELECT url, relevance, reason, other, min(seq) FROM fetches JOIN refused USING (url) WHERE relevant = 1
GROUP BY url ORDER BY relevance DESC, 5 LIMIT ?
"""


# Counting a stream in constant memory

STEPS = 60  # points of a curve: about 8 pixels apart, so that you can point at each


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


class Steps:
    """The fetches of a job cut into equal steps, in which events are counted as they happen."""

    def __init__(self, fetches: int) -> None:
        self._fetches = fetches
        self._steps = max(min(STEPS, fetches), 1)
        self._counts: dict[str, Counter[int]] = {}

    def add(self, name: str, seq: int) -> None:
        """Count one more of that name, at the fetch with that number."""
        step = (seq - 1) * self._steps // max(self._fetches, 1)
        self._counts.setdefault(name, Counter())[min(step, self._steps - 1)] += 1

    def curves(self) -> tuple[Curve, ...]:
        """The highest curve first."""
        ranked = sorted(self._counts, key=lambda name: (-self._counts[name].total(), name))
        return tuple(Curve(name, self.points(name)) for name in ranked)

    def points(self, name: str) -> Points:
        """None if nothing of that name was counted."""
        if name not in self._counts:
            return ()
        points, total = [(0, 0)], 0
        for step in range(self._steps):
            total += self._counts[name][step]
            points.append((-(-(step + 1) * self._fetches // self._steps), total))
        return tuple(points)


class Bins:
    """A histogram that grows."""

    def __init__(self) -> None:
        self._counts = [0] * BINS

    def add(self, value: float) -> None:
        """Count one more. Values below 0 or above 1 count in the first or last bin."""
        self._counts[min(max(int(value * BINS), 0), BINS - 1)] += 1

    def histogram(self) -> Histogram:
        return tuple(self._counts)
