"""Rounds: a finished job is visited again, and of each address the ledger knows how it answered before.

The first crawl of a job is round 1. A new round makes all that was visited due again; what is known of it stands until its
turn has come. So a round that is killed goes on where it was, and its figures are true at any moment.
"""

import math
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple
from zlib import crc32

import msgspec

from bitrawl.facts import RoundFacts
from bitrawl.model import Answer, DrawnBy, Link, LinkKind, Page, Skip, Visit
from bitrawl.reasons import NO_ANSWER, TRANSIENT, Reason, Stage
from bitrawl.store.database import OWN, PAGE, SKIPPED, Database
from bitrawl.url import Url

PAIR, UNIT = "pair", "unit"  # kinds of history
FIRST = 1.0  # due before all others: what a host is asked for its links
LEAST = 1e-6  # due after all others, and before what may be a trap
MOST_MISSING = 2  # rounds in a row that a missing page is asked for; after that, only if something that stands lists it
LIKELY = 0.9  # that a page has changed which a sitemap or a feed calls new
MOST_LIES = 0.05  # of what sitemaps call unchanged, to be trusted; judgement
CHECKED = 10  # one in so many pages that a trusted sitemap calls unchanged is asked, each in another round; judgement
PRIOR = 2.0  # visits to a page that its directory counts for; judgement
_GONE = (404, 410)
# What a new round does not ask for: it was never asked, or is no page whatever its text says.
_NEVER_AGAIN = (Stage.SCOPE, Stage.FRONTIER, Reason.CONTENT_TYPE, Reason.TOO_LARGE, Reason.BOMB)
_FORBIDDEN = frozenset((Reason.NOINDEX, Reason.OPT_OUT))


class PageChange(StrEnum):
    """What a visit found, compared with what was known."""

    NEW = "new"
    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"
    FAILED = "failed"  # no verdict: what was known stands


class Changes(msgspec.Struct, frozen=True):
    """What is new, changed and gone, by address, or by both addresses of a pair."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @classmethod
    def of_all(cls, parts: Sequence["Changes"]) -> "Changes":
        return cls(*(tuple(each for part in parts for each in getattr(part, name)) for name in cls.__struct_fields__))


class DatedLink(NamedTuple):
    """A link with a date, and the date of its last change that the same sitemap had when it was read before."""

    link: Link
    before: float | None


class RoundStart(NamedTuple):
    fetch: int = 1  # the number of its first fetch
    link: int = 0  # the number of the last link that was known before it
    seconds: float = 0.0  # that the job took before it


class HistoryEntry(NamedTuple):
    """A page pair or a unit of the corpus, to be remembered beyond this round."""

    key: str
    about: str = ""


def is_verdict(skip: Skip) -> bool:
    """Whether a visit that brought no page says something about the page: a host that is down says nothing."""
    if skip.reason in TRANSIENT or skip.reason in NO_ANSWER or skip.reason in (Reason.KILLED, Reason.HTTP_ERROR):
        return False
    return skip.reason is not Reason.HTTP_STATUS or skip.status in _GONE


def may_stay(skip: Skip) -> bool:
    """Whether the text of a page that is gone may be kept: not if the site has asked us to forget it."""
    return skip.reason not in _FORBIDDEN


class Rounds:
    """The part of the ledger that tells one round from the next. It writes inside the ledger's transactions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._query = database.query
        self.number = self._last()
        self._trusted: dict[str, bool] = {}  # by host: whether the dates of its sitemaps are

    def _last(self) -> int:
        """1 until a second round has begun."""
        return int(self._database.one("SELECT coalesce(max(number), 1) FROM stored_rounds")[0])

    @property
    def start(self) -> RoundStart:
        """Where the round began."""
        question = "SELECT first, links, seconds FROM stored_rounds WHERE number = ?"
        row = self._database.one(question, (self.number,))
        return RoundStart(*row) if row else RoundStart()

    @property
    def is_ended(self) -> bool:
        """Whether the figures of this round are kept, and what was found in it is noted."""
        row = self._database.one("SELECT facts FROM stored_rounds WHERE number = ?", (self.number,))
        return row is not None and bool(row[0])

    def lost(self) -> set[str]:
        """What has been missing for so long that it is asked for only if something that stands lists it."""
        rows = self._query(
            f"SELECT url FROM answers JOIN links USING (url) WHERE missing >= ? AND NOT {_NAMED}", (MOST_MISSING,)
        )
        return {url for (url,) in rows}

    def begin(self, date: float, seconds: float, listed: Container[str] = ()) -> None:
        """Begin the next round: all that was visited is due, that first by which most pages are current.

        What is lost, see `lost`, is due if it is `listed`.
        """
        with self._database.transaction():
            self._remember_first()
            self.number += 1
            (last,) = self._database.one("SELECT coalesce(max(seq), 0) FROM fetches")
            (links,) = self._database.one("SELECT coalesce(max(id), 0) FROM links")
            row = (self.number, date, last + 1, links, seconds, "")
            self._query("INSERT INTO stored_rounds VALUES (?, ?, ?, ?, ?, ?)", row)
            self._query(_MAKE_KNOWN)
            self._database.query_many(
                "UPDATE answers SET due = ?, attempt = 1 WHERE url = ?", self._order(date, listed)
            )

    def leave_out(self, sites: Iterable[str]) -> None:
        """Do not visit these sites in this round."""
        with self._database.transaction():
            self._database.query_many(
                "UPDATE answers SET due = NULL WHERE url IN (SELECT url FROM links WHERE site = ?)",
                [(site,) for site in sites],
            )

    def _remember_first(self) -> None:
        """A job that has only been crawled once has no row."""
        if self._database.one("SELECT 1 FROM stored_rounds") is None:
            (began,) = self._database.one("SELECT coalesce(min(at), 0) FROM fetches")
            facts = msgspec.json.encode(self._facts(1, began)).decode()
            self._query("INSERT INTO stored_rounds VALUES (1, ?, 1, 0, 0, ?)", (began, facts))

    def _order(self, date: float, listed: Container[str]) -> list[tuple[float, str]]:
        """The addresses to visit again. What a visit gains is told on the scale of the likelihood of a change: 0 to 1."""
        lost = self.lost()
        own, pages, missing = list[str](), list[RevisitedPage](), list[RevisitedPage]()
        for url, is_own, rounds, visits, changes, span, visited in self._query(_ASKED_AGAIN, _NEVER_AGAIN).fetchall():
            if is_own:
                own.append(url)
            elif url not in lost:
                pages.append(RevisitedPage(url, visits, changes, span, visited))
            elif url in listed:  # How often it changed while it was there says nothing of whether it comes back.
                missing.append(RevisitedPage(url, rounds, 0, span * rounds / max(visits, rounds), visited))
        rated = [(page, rates) for group in (pages, missing) for rates in (ChangeRates(group),) for page in group]
        gains = [rates.gain(page, date) for page, rates in rated]
        likeliest = max((rates.likelihood(page, date) for page, rates in rated), default=0.0)
        scale = likeliest / (max(gains, default=0.0) or 1.0)
        due = [(max(gain * scale, LEAST), page.url) for gain, (page, _) in zip(gains, rated, strict=True)]
        return [*((FIRST, url) for url in own), *due]

    def earlier(self, url: Url) -> Answer | None:
        """The last answer, if the address is to be visited again and what was read there is still known."""
        if self.number == 1:
            return None
        row = self._database.one(
            "SELECT etag, last_modified, digest, at FROM answers WHERE url = ? AND due IS NOT NULL AND digest <> ''",
            (url,),
        )
        return Answer(*row) if row else None

    def visited(self, visit: Visit, seq: int, change: PageChange) -> None:
        """Remember how an address answered. `seq` is the number of the fetch."""
        if not visit.lease.again:
            self._visited_first(visit, seq)
        elif change is PageChange.FAILED:
            killed = (
                isinstance(visit.outcome, Skip) and visit.outcome.reason is Reason.KILLED
            )  # The next run tries again.
            due = "due" if killed else "NULL"
            self._query(f"UPDATE answers SET due = {due}, round = ? WHERE url = ?", (self.number, visit.lease.link.url))
        else:
            self._visited_again(visit, seq, change)

    def _visited_first(self, visit: Visit, seq: int) -> None:
        if visit.answer is None:
            return
        url, answer = visit.lease.link.url, _validators(visit)
        born = self.number if isinstance(visit.outcome, Page) else None
        missing = int(visit.status in _GONE)
        known = (answer.etag, answer.last_modified, answer.digest, answer.at, seq)
        self._query(_ANSWERED_FIRST, (url, url.host, *known, self.number, visit.at, missing, born))

    def _visited_again(self, visit: Visit, seq: int, change: PageChange) -> None:
        url, outcome, number = visit.lease.link.url, visit.outcome, self.number
        unchanged = isinstance(outcome, Skip) and outcome.reason is Reason.UNCHANGED
        self._query(
            "UPDATE answers SET due = NULL, round = ?, visits = visits + 1, changes = changes + ?,"
            " span = span + max(0, ? - visited), visited = ?, missing = CASE WHEN ? THEN missing + 1 ELSE 0 END,"
            " claims = claims + (claimed = ?1), lies = lies + (claimed = ?1 AND ?2) WHERE url = ?",
            (number, change is not PageChange.SAME, visit.at, visit.at, visit.status in _GONE, url),
        )
        if not unchanged:
            answer = _validators(visit)
            self._query(
                "UPDATE answers SET etag = ?, last_modified = ?, at = CASE WHEN digest = ? THEN at ELSE ? END, digest = ?"
                " WHERE url = ?",
                (answer.etag, answer.last_modified, answer.digest, answer.at, answer.digest, url),
            )
        if change is not PageChange.SAME:
            self._query("UPDATE answers SET seq = ? WHERE url = ?", (seq, url))
        if isinstance(outcome, Page):
            self._query(
                "UPDATE answers SET changed = CASE WHEN born IS NULL OR ? THEN changed ELSE ? END,"
                " born = coalesce(born, ?), gone = NULL WHERE url = ?",
                (change is PageChange.SAME, number, number, url),
            )
        elif change is PageChange.GONE:
            self._query("UPDATE answers SET gone = ? WHERE url = ? AND gone IS NULL", (number, url))

    def dated(self, links: Iterable[DatedLink]) -> None:
        """Ask sooner for what a sitemap or a feed calls new, and not at all for what it calls unchanged, once that is trusted.

        It is trusted if that was right on nearly all pages of the host that were asked all the same. Some always are.
        """
        for link, before in links:
            row = self._database.one("SELECT visited, lies FROM answers WHERE url = ? AND due IS NOT NULL", (link.url,))
            if row is None:
                continue
            visited, lies = row
            if link.modified and before == link.modified <= visited:
                spared = not lies and self._trusts(link.url.host) and not self._is_checked(link.url)
                self._query(
                    "UPDATE answers SET claimed = ?, due = ? WHERE url = ?",
                    (self.number, None if spared else LEAST, link.url),
                )
            elif max(link.modified, link.published) > visited:
                self._query("UPDATE answers SET due = max(due, ?) WHERE url = ?", (LIKELY, link.url))

    def _trusts(self, host: str) -> bool:
        """As earlier rounds have shown."""
        if host not in self._trusted:
            claims, lies = self._database.one(
                "SELECT coalesce(sum(claims), 0), coalesce(sum(lies), 0) FROM answers WHERE host = ?", (host,)
            )
            self._trusted[host] = (lies + 1) / (claims + 2) < MOST_LIES  # the rule of succession
        return self._trusted[host]

    def _is_checked(self, url: Url) -> bool:
        """Whether it is this page's turn to be asked although nothing says that it changed."""
        return (crc32(url.encode()) + self.number) % CHECKED == 0

    def found_again(self, links: Iterable[tuple[float, str]]) -> None:
        """Ask once more for pages that were missing for some rounds, since a page that has changed links to them."""
        rows = [(max(score, LEAST), url, self.number, MOST_MISSING) for score, url in links]
        self._database.query_many(
            "UPDATE answers SET due = ? WHERE url = ? AND due IS NULL AND round < ? AND missing >= ?", rows
        )

    def spent(self) -> list[tuple[str, int, int]]:
        """What this round has cost of each site: pages that were read, and bytes."""
        rows = self._query(
            "SELECT site, sum(outcome IN ('page', 'changed')), sum(bytes) FROM fetches JOIN links USING (url)"
            " WHERE seq >= ? GROUP BY site",
            (self.start.fetch,),
        )
        return [(site, pages or 0, size or 0) for site, pages, size in rows]

    def kept_although_gone(self) -> list[Url]:
        rows = self._query("SELECT url FROM answers JOIN stored_pages USING (url) WHERE gone IS NOT NULL").fetchall()
        return [Url.known(url) for (url,) in rows]

    def changed_sitemaps(self, site: str) -> int:
        """The number of the last fetch that brought a sitemap of that site which had changed; 0 if none did."""
        question = "SELECT coalesce(max(seq), 0) FROM answers JOIN sitemaps USING (url) WHERE site = ? AND visits > 0"
        return int(self._database.one(question, (site,))[0])

    def waiting(self) -> int:
        """How many pages are still to be visited again."""
        if self.number == 1:
            return 0
        question = f"SELECT count(*) FROM answers JOIN links USING (url) WHERE due IS NOT NULL AND NOT {OWN}"
        return int(self._database.one(question)[0])

    def note(self, kind: str, entries: Iterable[HistoryEntry]) -> None:
        """What there is of that kind now: what was not there before is new, and what is missing is gone."""
        with self._database.transaction():
            self._query("CREATE TEMP TABLE IF NOT EXISTS present (key TEXT PRIMARY KEY, about TEXT) WITHOUT ROWID")
            self._query("DELETE FROM present")
            self._database.query_many("INSERT OR IGNORE INTO present VALUES (?, ?)", entries)
            self._query(
                "INSERT INTO history SELECT ?, key, about, ?, NULL FROM present WHERE true"
                " ON CONFLICT (kind, key) DO UPDATE SET born = excluded.born, gone = NULL WHERE history.gone IS NOT NULL",
                (kind, self.number),
            )
            self._query(
                "UPDATE history SET gone = ? WHERE kind = ? AND gone IS NULL AND key NOT IN (SELECT key FROM present)",
                (self.number, kind),
            )

    def pages_since(self, number: int) -> Changes:
        """What has become of pages since that round."""
        found: dict[str, list[str]] = {name: [] for name in Changes.__struct_fields__}
        question = "SELECT url, born, changed, gone FROM answers WHERE born IS NOT NULL ORDER BY url"
        for url, born, changed, gone in self._query(question):
            if gone is not None:
                if born <= number < gone:
                    found["gone"].append(url)
            elif born > number:
                found["new"].append(url)
            elif (changed or 0) > number:
                found["changed"].append(url)
        return Changes(**{name: tuple(urls) for name, urls in found.items()})

    def history_since(self, kind: str, number: int) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        """What is new since that round, what was there already, and what is gone: by key, with what is known about it."""
        rows = self._query("SELECT key, about, born, gone FROM history WHERE kind = ? ORDER BY about, key", (kind,))
        new, old, gone = dict[str, str](), dict[str, str](), dict[str, str]()
        for key, about, born, ended in rows:
            if ended is None:
                (new if born > number else old)[key] = about
            elif born <= number < ended:
                gone[key] = about
        return new, old, gone

    def last_before(self, date: float) -> int:
        """The last round that began before that date; 0 if none did."""
        if self.number == 1:
            (began,) = self._database.one("SELECT coalesce(min(at), 0) FROM fetches")
            return int(began <= date)
        return int(
            self._database.one("SELECT coalesce(max(number), 0) FROM stored_rounds WHERE began <= ?", (date,))[0]
        )

    def end(self) -> None:
        """Keep the figures of this round."""
        if self.number > 1:
            (began,) = self._database.one("SELECT began FROM stored_rounds WHERE number = ?", (self.number,))
            facts = msgspec.json.encode(self._facts(self.number, began)).decode()
            with self._database.transaction():
                self._query("UPDATE stored_rounds SET facts = ? WHERE number = ?", (facts, self.number))

    def facts(self) -> tuple[RoundFacts, ...]:
        """Of each round, those of the last one as they are now; none while the job is in its first one."""
        if self.number == 1:
            return ()
        rows = self._query("SELECT number, began, facts FROM stored_rounds ORDER BY number").fetchall()
        return tuple(
            self._facts(number, began)
            if number == self.number or not facts
            else msgspec.json.decode(facts, type=RoundFacts)
            for number, began, facts in rows
        )

    def _facts(self, number: int, began: float) -> RoundFacts:
        row = self._database.one("SELECT first FROM stored_rounds WHERE number = ?", (number,))
        first = row[0] if row else 1
        requests, unchanged, size, last = self._database.one(
            "SELECT coalesce(sum(status > 0), 0), coalesce(sum(outcome = 'unchanged'), 0), coalesce(sum(bytes), 0),"
            " coalesce(max(at), ?) FROM fetches WHERE seq >= ?",
            (began, first),
        )
        (pages,) = self._database.one("SELECT count(*) FROM stored_pages")
        new, changed, gone = pages, 0, 0
        if number > 1:
            question = "SELECT coalesce(sum(born = ?1), 0), coalesce(sum(changed = ?1), 0), coalesce(sum(gone = ?1), 0)"
            new, changed, gone = self._database.one(f"{question} FROM answers", (number,))
        lasting = dict(self._query("SELECT kind, count(*) FROM history WHERE gone IS NULL GROUP BY kind").fetchall())
        found = (lasting.get(PAIR), lasting.get(UNIT))
        return RoundFacts(number, began, last, requests, size, unchanged, new, changed, gone, pages, *found)


def _validators(visit: Visit) -> Answer:
    """What a browser has drawn may change while the answer that it is made of stays the same."""
    drawn = isinstance(visit.outcome, Page) and visit.outcome.drawn_by is DrawnBy.BROWSER
    return Answer(at=visit.at) if visit.answer is None or drawn else visit.answer


# A page that gave no answer is known from now on.
_MAKE_KNOWN = f"""
INSERT OR IGNORE INTO answers
SELECT url, host, '', '', '', at, last, 1, at, 0, 0, 0, status IN (404, 410),
    CASE state WHEN {PAGE} THEN 1 END, NULL, NULL, NULL, 1, 0, 0, 0
FROM (SELECT url, max(seq) AS last, at, status FROM fetches GROUP BY url) JOIN links USING (url)
"""

_NAMED = f"({OWN} OR links.kind = '{LinkKind.SEED}')"  # What is asked for whether or not anything lists it.
_ASKED_AGAIN = f"""
SELECT url, {OWN}, missing, visits, changes, span, visited FROM answers JOIN links USING (url)
WHERE state IN ({PAGE}, {SKIPPED}) AND coalesce(stage, '') NOT IN (?, ?) AND coalesce(reason, '') NOT IN (?, ?, ?)
"""

# A seed that failed is asked once more by the same command: in which rounds it was a page stands.
_ANSWERED_FIRST = """
INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?, NULL, NULL, NULL, 1, 0, 0, 0)
ON CONFLICT (url) DO UPDATE SET etag = excluded.etag, last_modified = excluded.last_modified, digest = excluded.digest,
    at = excluded.at, seq = excluded.seq, round = excluded.round, visited = excluded.visited, missing = excluded.missing,
    changed = CASE WHEN born IS NULL OR excluded.born IS NULL THEN changed ELSE excluded.born END,
    born = coalesce(born, excluded.born), gone = CASE WHEN excluded.born IS NULL THEN gone END, due = NULL
"""


class RevisitedPage(NamedTuple):
    """What the visits to an address after the first have shown."""

    url: str
    visits: int
    changes: int
    span: float  # seconds between the first and the last
    visited: float  # when it was visited last


class ChangeRates:
    """How often pages change: by page, and as long as little is known of it, by its directory and by the job.

    The rate is that of Cho and Garcia-Molina, Estimating frequency of change (2003), section 4.2: it has no bias for pages
    that changed at each visit, or at none.
    """

    def __init__(self, pages: Iterable[RevisitedPage]) -> None:
        self._changes: Counter[str] = Counter()
        self._visits: Counter[str] = Counter()
        self._span = 0.0
        self._total = 0
        for page in pages:
            for place in ("", _directory(page.url)):
                self._changes[place] += page.changes
                self._visits[place] += page.visits
            self._span += page.span
            self._total += page.visits

    def likelihood(self, page: RevisitedPage, date: float) -> float:
        """That it has changed between its last visit and that date."""
        rate, age = self._rate(page, date)
        return min(max(1 - math.exp(-rate * age), LEAST), 1 - LEAST)

    def gain(self, page: RevisitedPage, date: float) -> float:
        """How long a visit at that date keeps the copy of the page current, in seconds, as a measure to order by.

        Azar et al., Tractable near-optimal policies for crawling (2018), section 4. A page that has hardly changed gains
        nothing by a visit, and one that changes all the time is outdated again at once.
        """
        rate, age = self._rate(page, date)
        expected = rate * age
        return (1 - math.exp(-expected) * (1 + expected)) / rate

    def _rate(self, page: RevisitedPage, date: float) -> tuple[float, float]:
        """Changes in a second, and seconds since the last visit."""
        share = _share(self._changes[""], self._visits[""], 0.5, PRIOR)
        directory = _directory(page.url)
        share = _share(self._changes[directory], self._visits[directory], share, PRIOR)
        visits = page.visits + PRIOR
        changes = min(page.changes + PRIOR * share, visits)
        interval = page.span / page.visits if page.visits else self._span / max(self._total, 1)
        rate = -math.log((visits - changes + 0.5) / (visits + 0.5)) / max(interval, 1.0)
        return rate, max(date - page.visited, 0.0) if interval else 1.0


def _share(changes: float, visits: float, prior: float, weight: float) -> float:
    return (changes + weight * prior) / (visits + weight)


def _directory(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[0]
