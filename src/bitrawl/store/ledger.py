"""The ledger: what a job has seen, decided and kept, in one SQLite file that survives kill -9."""

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import zstandard

from bitrawl.errors import DiskFullError, StoreError
from bitrawl.model import (
    Lease,
    Link,
    Page,
    Reason,
    SiteKnowledge,
    Sitemap,
    Skip,
    Stage,
    Unpacker,
    Visit,
    WarcPlace,
    pack,
)
from bitrawl.url import Url

VERSION = 2
ATTEMPTS = 5  # to lock a folder

# The state of a link: one row a URL, and each row ends as a page or as a skip with its reason.
QUEUED, LEASED, PAGE, SKIPPED = range(4)

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS links (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    site TEXT NOT NULL,
    kind TEXT NOT NULL,
    state INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 1,
    score REAL NOT NULL,
    stage TEXT, reason TEXT, detail TEXT,
    link BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS next ON links (host, attempt, score DESC, id) WHERE state = 0;
CREATE TABLE IF NOT EXISTS fetches (
    seq INTEGER PRIMARY KEY,
    url TEXT NOT NULL, kind TEXT NOT NULL, score REAL NOT NULL, attempt INTEGER NOT NULL,
    status INTEGER NOT NULL, bytes INTEGER NOT NULL, at REAL NOT NULL, took REAL NOT NULL,
    language TEXT, outcome TEXT NOT NULL,
    file TEXT, offset INTEGER
);
CREATE TABLE IF NOT EXISTS pages (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    site TEXT NOT NULL,
    language TEXT NOT NULL,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    signature INTEGER NOT NULL,
    page BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS page_sites ON pages (site, id);
CREATE TABLE IF NOT EXISTS sitemaps (url TEXT PRIMARY KEY, site TEXT NOT NULL, sitemap BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sites (site TEXT PRIMARY KEY, knowledge BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS robots (origin TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
"""


class Met:
    """Which links were written lately, and with what score: most links of a page are those of the page before."""

    SIZE = 50_000

    def __init__(self) -> None:
        self._young: dict[int, float] = {}
        self._old: dict[int, float] = {}

    def again(self, url: str, score: float) -> bool:
        """Whether that link has been met with this score or a higher one; it has been from now on."""
        key = hash(url)
        known = self._young.get(key, self._old.get(key, -1.0))
        if len(self._young) >= self.SIZE:
            self._young, self._old = {}, self._young
        self._young[key] = max(score, known)
        return known >= score

    def lowered(self, url: str, score: float) -> None:
        """What was written with a higher score has this one now: the next higher one is news again."""
        key = hash(url)
        if self._young.get(key, self._old.get(key, -1.0)) > score:
            self._young[key] = score

    def forget(self) -> None:
        """Nothing is known to be written."""
        self._young, self._old = {}, {}


class Ledger:
    """One writer at a time, any number of readers."""

    def __init__(self, path: Path, *, site_of: Callable[[str], str] | None = None, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._site_of = site_of or (lambda host: Url.known(f"http://{host}/").site)
        self._lock = None if read_only else _lock(path)
        try:
            self.connection = _open(path, read_only=read_only)
        except StoreError:
            self._unlock()
            raise
        self._compress = zstandard.ZstdCompressor(level=3).compress
        self._decompress = zstandard.ZstdDecompressor().decompress
        self._unpack_page: Unpacker[Page] = Unpacker(Page)
        self._unpack_site: Unpacker[SiteKnowledge] = Unpacker(SiteKnowledge)
        self._unpack_sitemap: Unpacker[Sitemap] = Unpacker(Sitemap)
        self._unpack_link: Unpacker[Link] = Unpacker(Link)
        self._sites: dict[str, SiteKnowledge] = {}
        self._depth = 0
        self.met = Met()

    def close(self) -> None:
        """Leave the file complete and let others write."""
        self.connection.close()
        self._unlock()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; a full disk is a `DiskFullError`. An inner transaction is part of the outer one."""
        self._depth += 1
        try:
            yield
            if self._depth == 1:
                self.connection.commit()
        except sqlite3.Error as error:
            self._undo()
            raise _fault(self.path, error) from error
        except BaseException:
            self._undo()
            raise
        finally:
            self._depth -= 1

    def record(self, visit: Visit, *, final: bool = True) -> None:
        """A fetch: its line in the log and, when it is final, the end of its link and the page if it is one."""
        link, outcome = visit.lease.link, visit.outcome
        page = outcome if isinstance(outcome, Page) else None
        skip = _as_skip(outcome)
        self._log(visit, page.language if page else None, skip.reason if skip else "page")
        if not final:
            return
        state, stage, reason, detail = (PAGE, None, None, None)
        if skip is not None:
            state, stage, reason, detail = (SKIPPED, skip.stage, skip.reason, skip.detail)
        self.connection.execute(
            "UPDATE links SET state = ?, stage = ?, reason = ?, detail = ? WHERE url = ?",
            (state, stage, reason, detail, link.url),
        )
        site = self._site_of(link.url.host)
        if page is not None:
            self._keep(page, site)
        elif isinstance(outcome, Sitemap):
            blob = self._compress(pack(outcome))
            self.connection.execute("INSERT OR REPLACE INTO sitemaps VALUES (?, ?, ?)", (link.url, site, blob))
        self._count(site, visit, page)

    def refuse(self, skips: Iterable[tuple[Link, Skip]]) -> None:
        """Links that are not followed; those already known keep the verdict that they have."""
        rows = []
        for link, skip in skips:
            if self.met.again(link.url, 0.0):
                continue
            host = link.url.host
            known = (link.url, host, self._site_of(host), link.kind)
            rows.append((*known, SKIPPED, skip.stage, skip.reason, skip.detail, pack(link)))
        self.connection.executemany(
            "INSERT INTO links (url, host, site, kind, state, score, stage, reason, detail, link)"
            " VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?) ON CONFLICT (url) DO NOTHING",
            rows,
        )

    def knowledge(self, site: str) -> SiteKnowledge:
        """What is known of a site so far."""
        if site not in self._sites:
            row = self.connection.execute("SELECT knowledge FROM sites WHERE site = ?", (site,)).fetchone()
            self._sites[site] = self._unpack_site(row[0]) if row else SiteKnowledge(site)
        return self._sites[site]

    def learn(self, knowledge: SiteKnowledge) -> None:
        """Something more is known of a site."""
        self._sites[knowledge.site] = knowledge
        self.connection.execute("INSERT OR REPLACE INTO sites VALUES (?, ?)", (knowledge.site, pack(knowledge)))

    def pages(self, *, site: str | None = None) -> Iterator[Page]:
        """The pages in the order of their visit, one in memory at a time."""
        where, values = ("WHERE site = ?", (site,)) if site else ("", ())
        for (blob,) in self.connection.execute(f"SELECT page FROM pages {where} ORDER BY id", values):
            yield self._unpack_page(self._decompress(blob))

    def visits(self) -> Iterator[Visit]:
        """What came of each link that has its verdict, in the order of the visits: what a strategy learns from."""
        rows = self.connection.execute(
            "SELECT links.link, links.url, stage, reason, detail, status, page, sitemap"
            " FROM (SELECT url, max(seq) AS last, status FROM fetches GROUP BY url) AS done"
            f" JOIN links ON links.url = done.url AND links.state IN ({PAGE}, {SKIPPED})"
            " LEFT JOIN pages ON pages.url = done.url LEFT JOIN sitemaps ON sitemaps.url = done.url ORDER BY last"
        )
        for link, url, stage, reason, detail, status, page, sitemap in rows:
            outcome: Page | Sitemap | Skip
            if page is not None:
                outcome = self._unpack_page(self._decompress(page))
            elif sitemap is not None:
                outcome = self._unpack_sitemap(self._decompress(sitemap))
            else:
                outcome = Skip(Url.known(url), Stage(stage), Reason(reason), detail or "", status)
            yield Visit(Lease(self._unpack_link(link), 0.0), outcome, status)

    def sitemaps(self, site: str) -> Iterator[Sitemap]:
        """Those that were read of a site."""
        for (blob,) in self.connection.execute("SELECT sitemap FROM sitemaps WHERE site = ?", (site,)):
            yield self._unpack_sitemap(self._decompress(blob))

    def signatures(self) -> Iterator[tuple[Url, int]]:
        """Of all pages, in the order of their visit: what the trap rules remember."""
        for url, signed in self.connection.execute("SELECT url, signature FROM pages ORDER BY id"):
            yield Url.known(url), signed % (1 << 64)

    def sites(self) -> Iterator[SiteKnowledge]:
        """What is known of every site."""
        for (blob,) in self.connection.execute("SELECT knowledge FROM sites"):
            yield self._unpack_site(blob)

    def answered(self) -> bool:
        """Whether any host has ever answered."""
        return self.connection.execute("SELECT 1 FROM fetches WHERE status > 0 LIMIT 1").fetchone() is not None

    def skip_of(self, url: Url) -> Skip | None:
        """Why that link is no page; None where it is one, is queued or is not known."""
        row = self.connection.execute(
            "SELECT stage, reason, detail, (SELECT status FROM fetches WHERE url = links.url ORDER BY seq DESC LIMIT 1)"
            " FROM links WHERE url = ? AND state = ?",
            (url, SKIPPED),
        ).fetchone()
        return Skip(url, Stage(row[0]), Reason(row[1]), row[2] or "", row[3] or 0) if row else None

    def last_places(self) -> list[WarcPlace]:
        """The last record of each archive file that is certainly whole."""
        rows = self.connection.execute("SELECT file, max(offset) FROM fetches WHERE file IS NOT NULL GROUP BY file")
        return [WarcPlace(*row) for row in rows]

    def remember(self, key: str, value: str | float) -> None:
        """A fact about the whole job."""
        with self.transaction():
            self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def recall(self, key: str) -> str | float | None:
        """What `remember` was told; None for nothing."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def _log(self, visit: Visit, language: str | None, outcome: str) -> None:
        lease, place = visit.lease, visit.place
        asked = (lease.link.url, lease.link.kind, lease.score, lease.attempt)
        answered = (visit.status, visit.bytes, visit.at, visit.took)
        kept = (place.file, place.offset) if place else (None, None)
        self.connection.execute(
            "INSERT INTO fetches VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*asked, *answered, language, outcome, *kept),
        )

    def _keep(self, page: Page, site: str) -> None:
        signed = page.signature - (1 << 64) if page.signature >= 1 << 63 else page.signature
        self.connection.execute(
            "INSERT OR REPLACE INTO pages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
            (page.url, site, page.language, page.title, page.digest, signed, self._compress(pack(page))),
        )

    def _count(self, site: str, visit: Visit, page: Page | None) -> None:
        known = self.knowledge(site)
        languages = known.languages
        if page is not None:
            languages = {**languages, page.language: languages.get(page.language, 0) + 1}
        pages, size = known.pages + (page is not None), known.bytes + visit.bytes
        counts = {"pages": pages, "fetched": known.fetched + 1, "bytes": size, "languages": languages}
        self.learn(msgspec.structs.replace(known, **counts))

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)

    def _undo(self) -> None:
        self._sites.clear()
        self.met.forget()
        with suppress(sqlite3.Error):  # a connection that cannot even roll back is closed by its owner
            self.connection.rollback()


def _as_skip(outcome: Page | Sitemap | Skip) -> Skip | None:
    if isinstance(outcome, Sitemap):
        return Skip(outcome.url, Stage.ANALYSE, Reason.SITEMAP, f"{len(outcome.links)} links")
    return outcome if isinstance(outcome, Skip) else None


def _open(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if read_only and not path.exists():
        message = f"{path.parent} holds no job; start one with: bitrawl mine URL --langs en,fr --out {path.parent}"
        raise StoreError(message)
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}{'?mode=ro' if read_only else ''}", uri=True)
        if not read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -32768")
            connection.execute("PRAGMA wal_autocheckpoint = 16384")
            connection.executescript(SCHEMA)
            # A run that was killed leaves leases behind: they are links again.
            connection.execute("UPDATE links SET state = ? WHERE state = ?", (QUEUED, LEASED))
            connection.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (VERSION,))
            connection.commit()
        version = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()[0]
    except sqlite3.Error as error:
        raise _fault(path, error) from error
    if version != VERSION:
        message = (
            f"{path} was written by another version of bitrawl (format {version}, this one reads {VERSION});"
            " choose another --out, or start over with --fresh"
        )
        connection.close()
        raise StoreError(message)
    return connection


def _fault(path: Path, error: sqlite3.Error) -> StoreError:
    if getattr(error, "sqlite_errorname", "") in ("SQLITE_FULL", "SQLITE_IOERR_WRITE"):
        return DiskFullError(f"no space left for {path}: free some and run the same command again; nothing is lost")
    return StoreError(f"{path} cannot be used: {error}")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nobody else writes into the ledger's folder meanwhile; raises `StoreError` when somebody does."""
    descriptor = _lock(path)
    try:
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a process writes into the ledger's folder now."""
    try:
        descriptor = os.open(path.with_suffix(".lock"), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _lock(path: Path) -> int:
    """Two crawls in one folder would visit everything twice; the lock ends with the process."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        message = f"{path.parent} cannot be written: {error.strerror}; choose another --out"
        raise StoreError(message) from error
    for attempt in range(ATTEMPTS):  # `is_locked` holds it for some microseconds
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if attempt + 1 < ATTEMPTS:
                time.sleep(0.01)
                continue
            os.close(descriptor)
            message = f"another bitrawl is working in {path.parent}; wait for it or choose another --out"
            raise StoreError(message) from error
        break
    return descriptor
