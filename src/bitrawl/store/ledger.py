"""The ledger: what a job has seen, decided and stored, in one SQLite file that survives `kill -9`.

The links that wait are in `ledger_queue.py`, the rounds of a job in `rounds.py`, and what mining writes into the same
file in `stored_findings.py`.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import msgspec

from bitrawl.endings import CrawlEnd, Doing, EndKind, HostRest, LastRun
from bitrawl.files import compressor
from bitrawl.model import (
    Lease,
    Link,
    LinkKind,
    Metadata,
    Page,
    SiteKnowledge,
    Sitemap,
    Skip,
    Visit,
    WarcPosition,
    pack,
)
from bitrawl.reasons import Reason, Stage
from bitrawl.store.database import PAGE, SKIPPED, Blobs, Database, stored_skip
from bitrawl.store.rounds import DatedLink, PageChange, Rounds, is_verdict, may_stay
from bitrawl.store.seal import damaged
from bitrawl.url import Url

SIZE = 50_000  # links in each half of the memory, about 5 MB


class RecentLinks:
    """The links that were written last, each with its score.

    Most links of a page were on the page before, and need not be written again.
    """

    def __init__(self) -> None:
        # The key is hash(url), which differs between processes, so it is never stored.
        self._young: dict[int, float] = {}
        self._old: dict[int, float] = {}

    def has(self, url: str, score: float) -> bool:
        """Whether the link has been written with this score or a higher one. From now on it counts as written."""
        key = hash(url)
        young = self._young
        written = young.get(key)
        if written is None:
            written = self._old.get(key, -1.0)
            if len(young) >= SIZE:
                self._old = young
                self._young = young = {}
            young[key] = max(score, written)
        elif written < score:
            young[key] = score
        return written >= score

    def lower(self, url: str, score: float) -> None:
        """The link now has this score, if it had a higher one. The next higher score must be written again."""
        key = hash(url)
        if self._young.get(key, self._old.get(key, -1.0)) > score:
            self._young[key] = score

    def forget(self) -> None:
        """Assume that nothing has been written."""
        self._young, self._old = {}, {}


class _Described(msgspec.Struct, frozen=True):
    """A page, of which only its metadata is read."""

    metadata: Metadata = Metadata()


class SiteView:
    """The pages and sitemaps of one site at one moment, to be read as often as one likes. What comes later is not in it.

    The pages come in the order of their URLs, whatever the order of the visits. Only their numbers are held: a transaction
    that stays open while a site is mined would let the log of the running crawl grow.
    """

    def __init__(self, ledger: "Ledger", site: str) -> None:
        self._ledger = ledger
        with ledger.snapshot():
            query = ledger.database.query
            self.numbers = array(
                "q", (row[0] for row in query("SELECT id FROM stored_pages WHERE site = ? ORDER BY url", (site,)))
            )
            """Of the pages; each stands for one state of a page."""
            self._sitemaps = [row[0] for row in query("SELECT url FROM sitemaps WHERE site = ? ORDER BY url", (site,))]
            self.extent = ledger.extent(site)
            """As `Ledger.extent` said at that moment."""

    def pages(self) -> Iterator[Page]:
        """One in memory at a time."""
        return self._ledger.numbered_pages(self.numbers)

    def sitemaps(self) -> Iterator[Sitemap]:
        """One in memory at a time."""
        yield from map(self._ledger.sitemap, self._sitemaps)


class Ledger:
    """One writer at a time, any number of readers.

    `database` and `recent` are for the other modules of this room, which store their rows in the same file.
    """

    def __init__(
        self,
        path: Path,
        *,
        site_of: Callable[[str], str] | None = None,
        read_only: bool = False,
        verified: bool = True,
        keeps_gone: bool = False,
    ) -> None:
        """`verified`: see `Database`. `keeps_gone`: a page that a further round finds missing stays as it was."""
        self._site_of = site_of or (lambda host: Url.known(f"http://{host}/").site)
        self.path = path
        self.database = Database(path, read_only=read_only, verified=verified)
        self.rounds = Rounds(self.database)
        self._keeps_gone = keeps_gone
        self.recent = RecentLinks()
        self._compress = compressor()
        self._described: Blobs[_Described] = Blobs(_Described, path, compressed=True)
        self._page: Blobs[Page] = Blobs(Page, path, compressed=True)
        self._site: Blobs[SiteKnowledge] = Blobs(SiteKnowledge, path)
        self._sitemap: Blobs[Sitemap] = Blobs(Sitemap, path, compressed=True)
        self._link: Blobs[Link] = Blobs(Link, path)
        self._sites: dict[str, SiteKnowledge] = {}

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. A full disk raises `DiskFullError`. An inner transaction is part of the outer one."""
        try:
            with self.database.transaction():
                yield
        except BaseException:
            self._sites.clear()
            self.recent.forget()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside belongs to one moment, even while the job goes on. So the sums add up."""
        with self.database.snapshot():
            yield

    def record(self, visit: Visit, *, final: bool = True) -> None:
        """Write a fetch to the log. If it is final, also end its link and store its page.

        In a further round, what was known stands if the visit says nothing else.
        """
        known = self.page(visit.lease.link.url) if visit.lease.again else None
        change = self._change(visit, known) if visit.lease.again else PageChange.NEW
        seq = self._log(visit, change, known)
        if not final:
            return
        if visit.lease.again and visit.lease.link.kind is LinkKind.INDEX:
            self._note_dates(visit)
        site = self._site_of(visit.lease.link.url.host)
        knowledge = self.knowledge(site)
        if known is not None and isinstance(visit.outcome, Page):
            knowledge = _without(knowledge, known)  # it is counted anew
        if change is PageChange.GONE and self._drops(visit):
            knowledge = _without(knowledge, known) if known is not None else knowledge
            self._end(visit, seq, known, site)
        elif change in (PageChange.NEW, PageChange.CHANGED) or (
            isinstance(visit.outcome, Page) and visit.outcome != known
        ):
            self._end(visit, seq, known, site)
        self.rounds.visited(visit, seq, change)
        self.learn(knowledge.after(visit))

    def _change(self, visit: Visit, known: Page | None) -> PageChange:
        """What a visit of a further round found."""
        url, outcome = visit.lease.link.url, visit.outcome
        if isinstance(outcome, Skip):
            if outcome.reason is Reason.UNCHANGED:
                return PageChange.SAME
            if not is_verdict(outcome):
                return PageChange.FAILED
            if known is not None:
                return PageChange.GONE
        if isinstance(outcome, Page):
            same_text = known is not None and known.digest == outcome.digest
            return PageChange.SAME if same_text else PageChange.CHANGED if known is not None else PageChange.NEW
        return PageChange.SAME if known is None and self._same(url, outcome) else PageChange.CHANGED

    def _same(self, url: Url, outcome: Sitemap | Skip) -> bool:
        """Whether what is no page is as it was."""
        if isinstance(outcome, Sitemap):
            row = self.database.one("SELECT sitemap FROM sitemaps WHERE url = ?", (url,))
            return row is not None and self._sitemap(row[0]) == outcome
        earlier = self.skip_of(url)
        return earlier is not None and (earlier.reason, earlier.detail) == (outcome.reason, outcome.detail)

    def _note_dates(self, visit: Visit) -> None:
        """What a sitemap that is read again says of the pages that are due."""
        outcome = visit.outcome
        row = self.database.one("SELECT sitemap FROM sitemaps WHERE url = ?", (visit.lease.link.url,))
        before = self._sitemap(row[0]) if row else None
        unchanged = isinstance(outcome, Skip) and outcome.reason is Reason.UNCHANGED
        now = before if unchanged else outcome
        if isinstance(now, Sitemap):
            parts = before.parts() if before is not None else ()
            known = {link.url: link.modified for part in parts for link in part.links if link.modified}
            for part in now.parts():
                dated = (link for link in part.links if link.modified or link.published)
                self.rounds.dated(DatedLink(link, known.get(link.url)) for link in dated)

    def _drops(self, visit: Visit) -> bool:
        return not self._keeps_gone or (isinstance(visit.outcome, Skip) and not may_stay(visit.outcome))

    def _end(self, visit: Visit, seq: int, known: Page | None, site: str) -> None:
        """End a link with what its visit brought, in the place of what was known of it."""
        link, outcome = visit.lease.link, visit.outcome
        skip = _as_skip(outcome)
        state, stage, reason, detail = (PAGE, None, None, None)
        if skip is not None:
            state, stage, reason, detail = (SKIPPED, skip.stage, skip.reason, skip.detail)
        self.database.query(
            "UPDATE links SET state = ?, stage = ?, reason = ?, detail = ? WHERE url = ?",
            (state, stage, reason, detail, link.url),
        )
        if visit.lease.again:
            self.database.query("DELETE FROM sitemaps WHERE url = ?", (link.url,))
            self.database.query("DELETE FROM faults WHERE url = ? AND stage = ?", (link.url, Stage.ANALYSE))
            if known is not None:
                self._forget(link.url)
        if not isinstance(outcome, Skip) and outcome.cut:
            self.record_fault(site, Skip(link.url, Stage.ANALYSE, Reason.TOO_LARGE, outcome.cut))
        if isinstance(outcome, Page):
            self._keep(outcome, site, seq)
        elif isinstance(outcome, Sitemap):
            blob = self._compress(pack(outcome))
            self.database.query("INSERT OR REPLACE INTO sitemaps VALUES (?, ?, ?)", (link.url, site, blob))

    def _forget(self, url: Url) -> None:
        """A page, and what was said of its topic: that is counted by fetches."""
        self.database.query(
            "UPDATE fetches SET relevance = NULL, relevant = NULL, perplexity = NULL"
            " WHERE seq = (SELECT id FROM stored_pages WHERE url = ?)",
            (url,),
        )
        self.database.query("DELETE FROM stored_pages WHERE url = ?", (url,))

    def drop_gone(self) -> None:
        """Drop the pages that were kept although they are gone."""
        with self.transaction():
            for url in self.rounds.kept_although_gone():
                page = self.page(url)
                if page is not None:
                    site = self._site_of(url.host)
                    self.learn(_without(self.knowledge(site), page))
                    self._forget(url)
                    ended = (SKIPPED, Stage.FETCH, Reason.HTTP_STATUS, "gone", url)
                    self.database.query(
                        "UPDATE links SET state = ?, stage = ?, reason = ?, detail = ? WHERE url = ?", ended
                    )

    def refuse(self, skips: Iterable[tuple[Link, Skip]]) -> None:
        """Store links that are not followed. Links that are already known stay as they are."""
        rows = []
        for link, skip in skips:
            if self.recent.has(link.url, 0.0):
                continue
            host = link.url.host
            row = (link.url, host, self._site_of(host), link.kind)
            rows.append((*row, SKIPPED, skip.stage, skip.reason, skip.detail, pack(link)))
        self.database.query_many(
            "INSERT INTO links (url, host, site, kind, state, score, stage, reason, detail, link)"
            " VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?) ON CONFLICT (url) DO NOTHING",
            rows,
        )

    def refused_hosts(self, hosts: Sequence[str]) -> list[Link]:
        """The links to these hosts that were not followed because their host was not part of the site."""
        query = f"SELECT link FROM links WHERE host = ? AND state = {SKIPPED} AND stage = ? AND reason = ? ORDER BY id"
        rows = (row for host in hosts for row in self.database.query(query, (host, Stage.SCOPE, Reason.OFF_HOST)))
        return [self._link(blob) for (blob,) in rows]

    def knowledge(self, site: str) -> SiteKnowledge:
        if site not in self._sites:
            row = self.database.one("SELECT knowledge FROM sites WHERE site = ?", (site,))
            self._sites[site] = self._site(row[0]) if row else SiteKnowledge(site)
        return self._sites[site]

    def learn(self, knowledge: SiteKnowledge) -> None:
        """Replace what is known about a site."""
        self._sites[knowledge.site] = knowledge
        self.database.query("INSERT OR REPLACE INTO sites VALUES (?, ?)", (knowledge.site, pack(knowledge)))

    def view(self, site: str) -> SiteView:
        """What there is of a site now. Only for a ledger that reads."""
        return SiteView(self, site)

    def extent(self, site: str) -> str:
        """Tells which pages and sitemaps of a site there are: while it stays the same, they do."""
        # A page that is read again gets a new, higher number.
        pages = self.database.one("SELECT count(*), coalesce(max(id), 0) FROM stored_pages WHERE site = ?", (site,))
        (sitemaps,) = self.database.one("SELECT count(*) FROM sitemaps WHERE site = ?", (site,))
        extent = "{}:{}:{}".format(*pages, sitemaps)
        return extent if self.rounds.number == 1 else f"{extent}:{self.rounds.changed_sitemaps(site)}"

    def pages(self) -> Iterator[Page]:
        """The pages of all sites in the order of their visits, one in memory at a time."""
        for (blob,) in self.database.query("SELECT page FROM stored_pages ORDER BY id"):
            yield self._page(blob)

    def some_pages(self, most: int) -> Iterator[Page]:
        """At most that many pages, spread evenly over the crawl: all of them if there are no more."""
        (count,) = self.database.one("SELECT count(*) FROM stored_pages")
        rows = self.database.query(
            "SELECT page FROM stored_pages WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS place"
            " FROM stored_pages) WHERE place % ? = 0) ORDER BY id",
            (max(-(-count // most), 1),),
        )
        for (blob,) in rows:
            yield self._page(blob)

    def record_fault(self, site: str, skip: Skip) -> None:
        """Something failed or was left out that is no link: a strategy, a part of a page, or a part of mining."""
        with self.transaction():
            row = (site, skip.url, skip.stage, skip.reason, skip.detail)
            self.database.query("INSERT INTO faults VALUES (NULL, ?, ?, ?, ?, ?)", row)

    def page(self, url: Url) -> Page | None:
        """One page, read again; None where that URL is none."""
        row = self.database.one("SELECT page FROM stored_pages WHERE url = ?", (url,))
        return self._page(row[0]) if row else None

    def numbered_pages(self, numbers: Iterable[int]) -> Iterator[Page]:
        """The pages with these numbers in a view, without those that were visited again since."""
        for number in numbers:
            row = self.database.one("SELECT page FROM stored_pages WHERE id = ?", (number,))
            if row:
                yield self._page(row[0])

    def licence(self, url: Url) -> str:
        """What that page states; empty if it states none."""
        row = self.database.one("SELECT page FROM stored_pages WHERE url = ?", (url,))
        return self._described(row[0]).metadata.licence if row else ""

    def digest(self, url: Url) -> str:
        """A digest of the page's text; empty for what is not kept."""
        row = self.database.one("SELECT digest FROM stored_pages WHERE url = ?", (url,))
        return row[0] if row else ""

    def visits(self) -> Iterator[Visit]:
        """The last visit of each finished link, in the order of the visits. Strategies learn from them."""
        rows = self.database.query(
            "SELECT links.link, links.url, stage, reason, detail, status, page, sitemap"
            " FROM (SELECT url, max(seq) AS last, status FROM fetches GROUP BY url) AS done"
            f" JOIN links ON links.url = done.url AND links.state IN ({PAGE}, {SKIPPED})"
            " LEFT JOIN stored_pages ON stored_pages.url = done.url LEFT JOIN sitemaps ON sitemaps.url = done.url ORDER BY last"
        )
        for link, url, stage, reason, detail, status, page, sitemap in rows:
            outcome: Page | Sitemap | Skip
            if page is not None:
                outcome = self._page(page)
            elif sitemap is not None:
                outcome = self._sitemap(sitemap)
            else:
                outcome = stored_skip(self.path, Url.known(url), (stage, reason, detail, status))
            yield Visit(Lease(self._link(link), 0.0), outcome, status)

    def sitemap(self, url: str) -> Sitemap:
        """One that a view names."""
        (blob,) = self.database.one("SELECT sitemap FROM sitemaps WHERE url = ?", (url,))
        return self._sitemap(blob)

    def sightings(self) -> Iterator[tuple[Link, Page | None]]:
        """Every page in the order of the visits, without its paragraphs and links; None for a redirect."""
        rows = self.database.query(
            "SELECT links.link, title, digest, signature"
            " FROM (SELECT url, max(seq) AS last FROM fetches WHERE outcome IN ('page', ?1) GROUP BY url) AS done"
            " JOIN links USING (url) LEFT JOIN stored_pages USING (url) WHERE signature IS NOT NULL OR reason = ?2 ORDER BY last",
            (Reason.REDIRECT, Reason.REDIRECT),
        )
        for blob, title, digest, signed in rows:
            link = self._link(blob)
            is_page = signed is not None
            yield link, Page(link.url, title=title, digest=digest, signature=signed % (1 << 64)) if is_page else None

    def hosts_asked(self) -> Iterator[str]:
        """The hosts of all links that were visited."""
        rows = self.database.query(
            "SELECT DISTINCT host FROM links JOIN fetches USING (url) WHERE outcome != ?", (Reason.TOO_MANY_HOSTS,)
        )
        for (host,) in rows:
            yield host

    def sites(self) -> Iterator[SiteKnowledge]:
        """What is known about every site."""
        for (blob,) in self.database.query("SELECT knowledge FROM sites"):
            yield self._site(blob)

    def is_new(self) -> bool:
        """Whether nothing was ever fetched."""
        return self.database.one("SELECT 1 FROM fetches LIMIT 1") is None

    def answered(self) -> bool:
        """Whether any host has ever answered, even with an error."""
        return self.database.one("SELECT 1 FROM fetches WHERE status > 0 LIMIT 1") is not None

    def skip_of(self, url: Url) -> Skip | None:
        """Why that link did not become a page. None if it did, if it is queued, or if it is not known."""
        row = self.database.one(
            "SELECT stage, reason, detail, (SELECT status FROM fetches"
            " WHERE url = links.url AND outcome <> ? ORDER BY seq DESC LIMIT 1) FROM links WHERE url = ? AND state = ?",
            (Reason.UNCHANGED, url, SKIPPED),
        )
        return stored_skip(self.path, url, row) if row else None

    def archive_names(self) -> list[str]:
        """The files of the archive, by their names."""
        return [row[0] for row in self.database.query("SELECT DISTINCT file FROM fetches WHERE file IS NOT NULL")]

    def archived(self, file: str) -> dict[int, str]:
        """The URLs whose answers were archived in a file, by their places in it."""
        return dict(self.database.query("SELECT offset, url FROM fetches WHERE file = ? ORDER BY offset", (file,)))

    def last_places(self) -> list[WarcPosition]:
        """The last record of each archive file that is certainly complete."""
        rows = self.database.query("SELECT file, max(offset) FROM fetches WHERE file IS NOT NULL GROUP BY file")
        return [WarcPosition(*row) for row in rows]

    def is_finished(self) -> bool:
        """Whether there is nothing left to do in this round, or nothing that its budget allows."""
        run = self.last_run()
        is_ended = run.ended is not None and run.ended.kind is not EndKind.STOPPED and run.doing is None
        return is_ended and (self.rounds.number == 1 or self.rounds.is_ended)

    def remember(self, key: str, value: str | float | msgspec.Struct | None) -> None:
        """Store a fact about the whole job: a text, a number, or a value as JSON; None as an empty text."""
        if isinstance(value, msgspec.Struct):
            value = msgspec.json.encode(value).decode()
        value = "" if value is None else value
        with self.transaction():
            self.database.query("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def recall(self, key: str) -> str | float | None:
        """What `remember` stored; None for an unknown key."""
        row = self.database.one("SELECT value FROM meta WHERE key = ?", (key,))
        return row[0] if row else None

    def robots_of(self, origin: str) -> bytes | None:
        """What was kept of its robots.txt."""
        row = self.database.one("SELECT record FROM robots WHERE origin = ?", (origin,))
        return row[0] if row else None

    def keep_robots(self, origin: str, record: bytes) -> None:
        with self.transaction():
            self.database.query("INSERT OR REPLACE INTO robots VALUES (?, ?)", (origin, record))

    def last_run(self) -> LastRun:
        """What was remembered of the last run, or of this one. Raises `DamagedError`."""
        keys = ("verb", "ended", "mining", "resting")
        verb, ended, doing, resting = (str(self.recall(key) or "") for key in keys)
        try:
            return LastRun(
                verb=verb or "mine",
                ended=msgspec.json.decode(ended, type=CrawlEnd) if ended else None,
                doing=msgspec.json.decode(doing, type=Doing) if doing else None,
                seconds=float(self.recall("seconds") or 0),
                resting=msgspec.json.decode(resting, type=HostRest) if resting else None,
                has_pages=self.database.one("SELECT 1 FROM stored_pages LIMIT 1") is not None,
            )
        except (ValueError, msgspec.MsgspecError) as error:
            raise damaged(self.path, error) from error

    def _log(self, visit: Visit, change: PageChange, known: Page | None) -> int:
        """The number of the fetch."""
        lease, place, outcome = visit.lease, visit.place, visit.outcome
        skip = _as_skip(outcome)
        ended = str(skip.reason) if skip else "page"
        if change is PageChange.SAME:
            ended = Reason.UNCHANGED
        elif known is not None and skip is None:
            ended = PageChange.CHANGED  # not one more page
        request = (lease.link.url, lease.link.kind, lease.score, lease.attempt)
        answer = (visit.status, visit.bytes, visit.at, visit.took)
        archived = (place.file, place.offset) if place else (None, None)
        language = outcome.language if isinstance(outcome, Page) else None
        judged = _relevance(outcome) if outcome != known else (None, None, None)
        cursor = self.database.query(
            "INSERT INTO fetches VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*request, *answer, language, ended, *archived, *judged),
        )
        return int(cursor.lastrowid or 0)

    def _keep(self, page: Page, site: str, number: int) -> None:
        """Under the number of the fetch that brought it, which no other page ever had."""
        signed = page.signature - (1 << 64) if page.signature >= 1 << 63 else page.signature
        self.database.query(
            "INSERT OR REPLACE INTO stored_pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (number, page.url, site, page.language, page.title, page.digest, signed, page.packed),
        )


def _relevance(outcome: Page | Sitemap | Skip) -> tuple[float | None, bool | None, float | None]:
    judged = outcome.relevance if isinstance(outcome, Page) else None
    return (judged.score, judged.relevant, judged.perplexity or None) if judged else (None, None, None)


def _without(site: SiteKnowledge, page: Page) -> SiteKnowledge:
    """What is known of a site once that page is gone, or before it is read anew."""
    languages = {**site.languages, page.language: site.languages.get(page.language, 1) - 1}
    types, drawn = site.types, site.drawn
    if page.type != "html":
        types = {**types, page.type: types.get(page.type, 1) - 1}
    if page.drawn_by:
        drawn = {**drawn, page.drawn_by: drawn.get(page.drawn_by, 1) - 1}
    return msgspec.structs.replace(site, pages=site.pages - 1, languages=languages, types=types, drawn=drawn)


def _as_skip(outcome: Page | Sitemap | Skip) -> Skip | None:
    if isinstance(outcome, Sitemap):
        return Skip(
            outcome.url, Stage.ANALYSE, Reason.SITEMAP, f"{outcome.size} link{'' if outcome.size == 1 else 's'}"
        )
    return outcome if isinstance(outcome, Skip) else None


def listed(ledger: Ledger) -> Iterator[Url]:
    """What pages and sitemaps list as they were read last; pages that are kept although they are gone list nothing."""
    unpack: Blobs[_Outlinks] = Blobs(_Outlinks, ledger.path, compressed=True)
    for (blob,) in ledger.database.query(
        "SELECT page FROM stored_pages LEFT JOIN answers USING (url) WHERE gone IS NULL"
    ):
        yield from (link.url for link in unpack(blob).links)
    for (url,) in ledger.database.query("SELECT url FROM sitemaps"):
        yield from (link.url for part in ledger.sitemap(url).parts() for link in part.links)


class _Outlinks(msgspec.Struct, frozen=True):
    """What is read of a stored page; its texts are skipped."""

    url: Url
    links: tuple[Link, ...] = ()


def outlinks(ledger: Ledger) -> Iterator[Link]:
    """Each with the page that it stands on as its source, in the order of the visits; one page in memory at a time."""
    unpack: Blobs[_Outlinks] = Blobs(_Outlinks, ledger.path, compressed=True)
    for (blob,) in ledger.database.query("SELECT page FROM stored_pages ORDER BY id"):
        page = unpack(blob)
        for link in page.links:
            if link.url.host != page.url.host:
                yield msgspec.structs.replace(link, source=page.url)
