"""The ledger: what a job has seen, decided and stored, in one SQLite file that survives `kill -9`.

`LedgerQueue` has the frontier's links as rows of it: a million of them cost disk space, not memory. `LedgerRobots` has the
rules that origins answered with last. What mining writes into the same file is in `stored_findings.py`.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import msgspec

from bitrawl.crawl.ending import stored_doing, stored_end
from bitrawl.endings import HostRest, LastRun
from bitrawl.files import compressor
from bitrawl.job.database import LEASED, OWN, PAGE, QUEUED, SKIPPED, Blobs, Database, stored_skip
from bitrawl.model import (
    Lease,
    Link,
    Metadata,
    Page,
    RobotsRecord,
    SiteKnowledge,
    Sitemap,
    Skip,
    Visit,
    WarcPlace,
    pack,
)
from bitrawl.reasons import Reason, Stage
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
        written = self._young.get(key, self._old.get(key, -1.0))
        if len(self._young) >= SIZE:
            self._young, self._old = {}, self._young
        self._young[key] = max(score, written)
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
            self._pages = array(
                "q", (row[0] for row in query("SELECT id FROM pages WHERE site = ? ORDER BY url", (site,)))
            )
            self._sitemaps = [row[0] for row in query("SELECT url FROM sitemaps WHERE site = ? ORDER BY url", (site,))]
            self.extent = ledger.extent(site)
            """As `Ledger.extent` said at that moment."""

    def pages(self) -> Iterator[Page]:
        """One in memory at a time."""
        for number in self._pages:
            page = self._ledger.numbered_page(number)
            if page is not None:
                yield page

    def sitemaps(self) -> Iterator[Sitemap]:
        """One in memory at a time."""
        yield from map(self._ledger.sitemap, self._sitemaps)


class Ledger:
    """One writer at a time, any number of readers.

    `database` and `recent` are for the other modules of this room, which store their rows in the same file.
    """

    def __init__(
        self, path: Path, *, site_of: Callable[[str], str] | None = None, read_only: bool = False, verified: bool = True
    ) -> None:
        """`verified`: see `Database`."""
        self._site_of = site_of or (lambda host: Url.known(f"http://{host}/").site)
        self.path = path
        self.database = Database(path, read_only=read_only, verified=verified)
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
        """Write a fetch to the log. If it is final, also end its link and store its page."""
        link, outcome = visit.lease.link, visit.outcome
        page = outcome if isinstance(outcome, Page) else None
        skip = _as_skip(outcome)
        self._log(visit, page.language if page else None, skip.reason if skip else "page")
        if not final:
            return
        state, stage, reason, detail = (PAGE, None, None, None)
        if skip is not None:
            state, stage, reason, detail = (SKIPPED, skip.stage, skip.reason, skip.detail)
        self.database.query(
            "UPDATE links SET state = ?, stage = ?, reason = ?, detail = ? WHERE url = ?",
            (state, stage, reason, detail, link.url),
        )
        site = self._site_of(link.url.host)
        if not isinstance(outcome, Skip) and outcome.cut:
            self.record_fault(site, Skip(link.url, Stage.ANALYSE, Reason.TOO_LARGE, outcome.cut))
        if page is not None:
            self._keep(page, site)
        elif isinstance(outcome, Sitemap):
            blob = self._compress(pack(outcome))
            self.database.query("INSERT OR REPLACE INTO sitemaps VALUES (?, ?, ?)", (link.url, site, blob))
        self.learn(self.knowledge(site).after(visit))

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
        query = f"SELECT link FROM links WHERE host = ? AND state = {SKIPPED} AND reason = ? ORDER BY id"
        rows = (row for host in hosts for row in self.database.query(query, (host, Reason.OFF_HOST)))
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
        # A page that is visited again gets a new, higher number.
        pages = self.database.one("SELECT count(*), coalesce(max(id), 0) FROM pages WHERE site = ?", (site,))
        (sitemaps,) = self.database.one("SELECT count(*) FROM sitemaps WHERE site = ?", (site,))
        return "{}:{}:{}".format(*pages, sitemaps)

    def pages(self) -> Iterator[Page]:
        """The pages of all sites in the order of their visits, one in memory at a time."""
        for (blob,) in self.database.query("SELECT page FROM pages ORDER BY id"):
            yield self._page(blob)

    def some_pages(self, most: int) -> Iterator[Page]:
        """At most that many pages, spread evenly over the crawl: all of them if there are no more."""
        (last,) = self.database.one("SELECT coalesce(max(id), 0) FROM pages")
        rows = self.database.query("SELECT page FROM pages WHERE id % ? = 0 ORDER BY id", (max(-(-last // most), 1),))
        for (blob,) in rows:
            yield self._page(blob)

    def record_fault(self, site: str, skip: Skip) -> None:
        """Something failed or was left out that is no link: a strategy, a part of a page, or a part of mining."""
        with self.transaction():
            row = (site, skip.url, skip.stage, skip.reason, skip.detail)
            self.database.query("INSERT INTO faults VALUES (NULL, ?, ?, ?, ?, ?)", row)

    def page(self, url: Url) -> Page | None:
        """One page, read again; None where that URL is none."""
        row = self.database.one("SELECT page FROM pages WHERE url = ?", (url,))
        return self._page(row[0]) if row else None

    def numbered_page(self, number: int) -> Page | None:
        """The same by its number in a view; None if it was visited again since."""
        row = self.database.one("SELECT page FROM pages WHERE id = ?", (number,))
        return self._page(row[0]) if row else None

    def licences(self, urls: Iterable[Url]) -> Counter[str]:
        """How many of these pages state each licence."""
        stated: Counter[str] = Counter()
        for url in urls:
            row = self.database.one("SELECT page FROM pages WHERE url = ?", (url,))
            if row and (licence := self._described(row[0]).metadata.licence):
                stated[licence] += 1
        return Counter(dict(sorted(stated.items(), key=lambda item: (-item[1], item[0]))))

    def digest(self, url: Url) -> str:
        """Of a page's text; empty for what is not kept."""
        row = self.database.one("SELECT digest FROM pages WHERE url = ?", (url,))
        return row[0] if row else ""

    def visits(self) -> Iterator[Visit]:
        """The last visit of each finished link, in the order of the visits. Strategies learn from them."""
        rows = self.database.query(
            "SELECT links.link, links.url, stage, reason, detail, status, page, sitemap"
            " FROM (SELECT url, max(seq) AS last, status FROM fetches GROUP BY url) AS done"
            f" JOIN links ON links.url = done.url AND links.state IN ({PAGE}, {SKIPPED})"
            " LEFT JOIN pages ON pages.url = done.url LEFT JOIN sitemaps ON sitemaps.url = done.url ORDER BY last"
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
            " FROM (SELECT url, max(seq) AS last FROM fetches WHERE outcome IN ('page', ?) GROUP BY url) AS done"
            " JOIN links USING (url) LEFT JOIN pages USING (url) ORDER BY last",
            (Reason.REDIRECT,),
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
            "SELECT stage, reason, detail, (SELECT status FROM fetches WHERE url = links.url ORDER BY seq DESC LIMIT 1)"
            " FROM links WHERE url = ? AND state = ?",
            (url, SKIPPED),
        )
        return stored_skip(self.path, url, row) if row else None

    def archived_at(self, file: str, places: Iterable[int]) -> list[Url]:
        """The URLs whose answers were archived at these places of a file."""
        question = "SELECT url FROM fetches WHERE file = ? AND offset = ?"
        rows = (self.database.one(question, (file, place)) for place in places)
        return [Url.known(row[0]) for row in rows if row]

    def last_places(self) -> list[WarcPlace]:
        """The last record of each archive file that is certainly complete."""
        rows = self.database.query("SELECT file, max(offset) FROM fetches WHERE file IS NOT NULL GROUP BY file")
        return [WarcPlace(*row) for row in rows]

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

    def last_run(self) -> LastRun:
        """What was remembered of the last run, or of this one."""
        keys = ("verb", "ended", "mining", "resting")
        verb, ended, doing, resting = (str(self.recall(key) or "") for key in keys)
        return LastRun(
            verb=verb or "mine",
            ended=stored_end(ended),
            doing=stored_doing(doing),
            seconds=float(self.recall("seconds") or 0),
            resting=msgspec.json.decode(resting, type=HostRest) if resting else None,
            has_pages=self.database.one("SELECT 1 FROM pages LIMIT 1") is not None,
        )

    def _log(self, visit: Visit, language: str | None, outcome: str) -> None:
        lease, place = visit.lease, visit.place
        request = (lease.link.url, lease.link.kind, lease.score, lease.attempt)
        answer = (visit.status, visit.bytes, visit.at, visit.took)
        archived = (place.file, place.offset) if place else (None, None)
        self.database.query(
            "INSERT INTO fetches VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*request, *answer, language, outcome, *archived, *_relevance(visit.outcome)),
        )

    def _keep(self, page: Page, site: str) -> None:
        signed = page.signature - (1 << 64) if page.signature >= 1 << 63 else page.signature
        self.database.query(
            "INSERT OR REPLACE INTO pages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
            (page.url, site, page.language, page.title, page.digest, signed, self._compress(pack(page))),
        )


def _relevance(outcome: Page | Sitemap | Skip) -> tuple[float | None, bool | None, float | None]:
    judged = outcome.relevance if isinstance(outcome, Page) else None
    return (judged.score, judged.relevant, judged.perplexity or None) if judged else (None, None, None)


def _as_skip(outcome: Page | Sitemap | Skip) -> Skip | None:
    if isinstance(outcome, Sitemap):
        return Skip(
            outcome.url, Stage.ANALYSE, Reason.SITEMAP, f"{outcome.size} link{'' if outcome.size == 1 else 's'}"
        )
    return outcome if isinstance(outcome, Skip) else None


class _Outlinks(msgspec.Struct, frozen=True):
    """What is read of a stored page; its texts are skipped."""

    url: Url
    links: tuple[Link, ...] = ()


def outlinks(ledger: Ledger) -> Iterator[Link]:
    """Each with the page that it stands on as its source, in the order of the visits; one page in memory at a time."""
    unpack: Blobs[_Outlinks] = Blobs(_Outlinks, ledger.path, compressed=True)
    for (blob,) in ledger.database.query("SELECT page FROM pages ORDER BY id"):
        page = unpack(blob)
        for link in page.links:
            if link.url.host != page.url.host:
                yield msgspec.structs.replace(link, source=page.url)


class LedgerRobots:
    """A memory for `RobotsFetcher` that outlives the process."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._unpack: Blobs[RobotsRecord] = Blobs(RobotsRecord, ledger.path)

    def load(self, origin: str) -> RobotsRecord | None:
        row = self._ledger.database.one("SELECT record FROM robots WHERE origin = ?", (origin,))
        return self._unpack(row[0]) if row else None

    def save(self, record: RobotsRecord) -> None:
        with self._ledger.transaction():
            self._ledger.database.query("INSERT OR REPLACE INTO robots VALUES (?, ?)", (record.origin, pack(record)))


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
        row = self._first(host)
        if row is None:
            return None
        self._database.query("UPDATE links SET state = ? WHERE id = ?", (LEASED, row[0]))
        return Lease(self._unpack(row[1]), row[2], row[3])

    def best(self, host: str) -> float:
        row = self._first(host)
        return -1.0 if row is None else float(row[2])

    def _first(self, host: str) -> Any:
        return self._database.one(
            f"SELECT id, link, score, attempt FROM links WHERE host = ? AND state = {QUEUED}"
            " ORDER BY attempt, score DESC, id LIMIT 1",
            (host,),
        )

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
                f"{REQUEUE} AND {OWN} AND reason NOT IN (?, ?, ?) AND host = ?"
                f" AND NOT EXISTS (SELECT 1 FROM links AS others WHERE others.host = links.host AND state = {PAGE})",
                [(Reason.SITEMAP, Reason.PROBE, Reason.REDIRECT, host) for host in hosts],
            )

    def refused(self, reasons: Sequence[Reason], after: int, most: int) -> list[tuple[int, Link]]:
        """Links that were not queued for one of these reasons, each with its number, from that number on."""
        marks = ", ".join("?" for _ in reasons)
        rows = self._database.query(
            f"SELECT id, link FROM links WHERE state = {SKIPPED} AND stage = ? AND reason IN ({marks}) AND id > ?"
            " ORDER BY id LIMIT ?",
            (Stage.SCOPE, *reasons, after, most),
        )
        return [(number, self._unpack(blob)) for number, blob in rows]

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
        return int(self._database.one(f"SELECT count(*) FROM links WHERE state = {QUEUED} AND NOT {OWN}")[0])
