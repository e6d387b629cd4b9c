"""What was mined of each site: duplicates, pairs, refusals and segments, replaced site by site as the crawl goes on."""

from collections.abc import Iterator

import msgspec

from bitrawl.model import Language, PagePair, SegmentPair, Unpacker, pack
from bitrawl.store.ledger import Ledger
from bitrawl.url import Url

SCHEMA = """
CREATE TABLE IF NOT EXISTS pairs (
    id INTEGER PRIMARY KEY,
    site TEXT NOT NULL, lang_a TEXT NOT NULL, lang_b TEXT NOT NULL, score REAL NOT NULL, pair BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS pair_sites ON pairs (site);
CREATE INDEX IF NOT EXISTS pair_languages ON pairs (lang_a, lang_b, site, id);
CREATE TABLE IF NOT EXISTS segments (
    id INTEGER PRIMARY KEY, pair INTEGER NOT NULL REFERENCES pairs, segment BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS segment_pairs ON segments (pair, id);
CREATE TABLE IF NOT EXISTS duplicates (url TEXT PRIMARY KEY, site TEXT NOT NULL, repeats TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refusals (
    site TEXT NOT NULL, url_a TEXT NOT NULL, url_b TEXT NOT NULL, reason TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS refusal_sites ON refusals (site);
CREATE TABLE IF NOT EXISTS mined (site TEXT PRIMARY KEY, pages INTEGER NOT NULL) WITHOUT ROWID;
"""

_EMPTY = "".join(
    f"{made};" for made in SCHEMA.replace("CREATE TABLE", "CREATE TEMP TABLE").split(";") if "TEMP" in made
)


class Refusal(msgspec.Struct, frozen=True):
    """Two pages that something held to be a pair, and why they are none."""

    url_a: Url
    url_b: Url
    reason: str


class PairFindings(msgspec.Struct, frozen=True):
    """A pair of pages, aligned."""

    pair: PagePair
    segments: tuple[SegmentPair, ...] = ()


class SiteFindings(msgspec.Struct, frozen=True):
    """All that was mined of one site."""

    site: str
    pages: int  # that it was mined from
    pairs: tuple[PairFindings, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    duplicates: dict[str, str] = {}  # from the page that repeats to the one that it repeats


class Findings:
    """The part of the ledger that mining writes."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._query = ledger.connection.execute
        self._pair: Unpacker[PagePair] = Unpacker(PagePair)
        self._segment: Unpacker[SegmentPair] = Unpacker(SegmentPair)
        if not ledger.read_only:
            ledger.connection.executescript(SCHEMA)
        elif not self._query("SELECT 1 FROM sqlite_master WHERE name = 'mined'").fetchone():
            # Only crawled so far: empty tables of this connection stand for those that nobody has made.
            ledger.connection.executescript(_EMPTY)

    def replace(self, found: SiteFindings) -> None:
        """The site's findings, in place of its earlier ones: all of them, or none."""
        with self._ledger.transaction():
            self._query("DELETE FROM segments WHERE pair IN (SELECT id FROM pairs WHERE site = ?)", (found.site,))
            for table in ("pairs", "refusals", "duplicates", "mined"):
                self._query(f"DELETE FROM {table} WHERE site = ?", (found.site,))
            for one in found.pairs:
                self._add(found.site, one)
            rows = [(found.site, no.url_a, no.url_b, no.reason) for no in found.refusals]
            self._ledger.connection.executemany("INSERT INTO refusals VALUES (?, ?, ?, ?)", rows)
            copies = [(url, found.site, repeats) for url, repeats in found.duplicates.items()]
            self._ledger.connection.executemany("INSERT OR REPLACE INTO duplicates VALUES (?, ?, ?)", copies)
            self._query("INSERT INTO mined VALUES (?, ?)", (found.site, found.pages))

    def mined_pages(self, site: str) -> int:
        """How many pages the site had when it was mined; 0 when it has not been."""
        row = self._query("SELECT pages FROM mined WHERE site = ?", (site,)).fetchone()
        return int(row[0]) if row else 0

    def language_pairs(self) -> list[tuple[Language, Language]]:
        """Those that were found, in the order of their codes."""
        rows = self._query("SELECT DISTINCT lang_a, lang_b FROM pairs ORDER BY 1, 2")
        return [(Language(a), Language(b)) for a, b in rows]

    def pairs(self, lang_a: Language, lang_b: Language) -> Iterator[PagePair]:
        """One in memory at a time, site by site."""
        rows = self._query("SELECT pair FROM pairs WHERE lang_a = ? AND lang_b = ? ORDER BY site, id", (lang_a, lang_b))
        for (blob,) in rows:
            yield self._pair(blob)

    def segments(self, lang_a: Language, lang_b: Language) -> Iterator[SegmentPair]:
        """In the order of the pairs and of the pages' text."""
        rows = self._query(
            "SELECT segment FROM pairs JOIN segments ON segments.pair = pairs.id"
            " WHERE lang_a = ? AND lang_b = ? ORDER BY site, pairs.id, segments.id",
            (lang_a, lang_b),
        )
        for (blob,) in rows:
            yield self._segment(blob)

    def refusals(self) -> dict[str, int]:
        """How many pairs were refused, by reason."""
        return dict(self._query("SELECT reason, count(*) FROM refusals GROUP BY 1 ORDER BY 2 DESC").fetchall())

    def duplicates(self) -> dict[str, str]:
        """Pages that repeat another, and which."""
        return dict(self._query("SELECT url, repeats FROM duplicates").fetchall())

    def _add(self, site: str, found: PairFindings) -> None:
        pair = found.pair
        row = (site, pair.lang_a, pair.lang_b, pair.score, pack(pair))
        number = self._query("INSERT INTO pairs VALUES (NULL, ?, ?, ?, ?, ?)", row).lastrowid
        segments = [(number, pack(segment)) for segment in found.segments]
        self._ledger.connection.executemany("INSERT INTO segments VALUES (NULL, ?, ?)", segments)
