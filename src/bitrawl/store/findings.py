"""What mining found on each site: pairs, segments, refused pairs and duplicates. It is replaced as the site grows."""

from collections.abc import Iterator

import msgspec

from bitrawl.model import Language, PagePair, SegmentPair, Unpacker, pack
from bitrawl.store.ledger import Ledger
from bitrawl.url import Url


class RefusedPair(msgspec.Struct, frozen=True):
    """Two pages that some evidence suggested as a pair, and why they were refused."""

    url_a: Url
    url_b: Url
    reason: str


class PairFindings(msgspec.Struct, frozen=True):
    """A page pair and its aligned segments."""

    pair: PagePair
    segments: tuple[SegmentPair, ...] = ()


class SiteFindings(msgspec.Struct, frozen=True):
    """Everything that mining found on one site."""

    site: str
    pages: int  # how many pages it was mined from
    pairs: tuple[PairFindings, ...] = ()
    refusals: tuple[RefusedPair, ...] = ()
    duplicates: dict[str, str] = {}  # from the copy to the page that it repeats
    licences: dict[str, int] = {}  # the number of pages of the corpus that state each licence
    patterns: dict[str, int] = {}  # how the URLs of pairs differ, and how many pairs show it
    settings: str = ""  # a fingerprint of the settings that it was mined with


class MinedFrom(msgspec.Struct, frozen=True):
    """What a site's findings were made from. If nothing of it has changed, there is nothing to mine."""

    pages: int = 0
    settings: str = ""


class Findings:
    """The part of the ledger that mining writes."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._query = ledger.database.query
        self._query_many = ledger.database.query_many
        self._pair: Unpacker[PagePair] = Unpacker(PagePair)
        self._segment: Unpacker[SegmentPair] = Unpacker(SegmentPair)

    def replace(self, found: SiteFindings) -> None:
        """Replace the findings of a site, all of them or none."""
        with self._ledger.transaction():
            self._query("DELETE FROM segments WHERE pair IN (SELECT id FROM pairs WHERE site = ?)", (found.site,))
            for table in ("pairs", "refusals", "duplicates", "licences", "patterns", "mined"):
                self._query(f"DELETE FROM {table} WHERE site = ?", (found.site,))
            for one in found.pairs:
                self._add(found.site, one)
            refused = [(found.site, pair.url_a, pair.url_b, pair.reason) for pair in found.refusals]
            self._query_many("INSERT INTO refusals VALUES (?, ?, ?, ?)", refused)
            copies = [(url, found.site, repeats) for url, repeats in found.duplicates.items()]
            self._query_many("INSERT OR REPLACE INTO duplicates VALUES (?, ?, ?)", copies)
            stated = [(found.site, licence, pages) for licence, pages in found.licences.items()]
            self._query_many("INSERT INTO licences VALUES (?, ?, ?)", stated)
            shown = [(found.site, pattern, pairs) for pattern, pairs in found.patterns.items()]
            self._query_many("INSERT INTO patterns VALUES (?, ?, ?)", shown)
            self._query("INSERT INTO mined VALUES (?, ?, ?)", (found.site, found.pages, found.settings))

    def mined(self, site: str) -> MinedFrom | None:
        """What the site was mined from; None if it has not been mined."""
        row = self._query("SELECT pages, settings FROM mined WHERE site = ?", (site,)).fetchone()
        return MinedFrom(*row) if row else None

    def begun(self) -> bool:
        """Whether any site has been mined."""
        return self._query("SELECT 1 FROM mined LIMIT 1").fetchone() is not None

    def language_pairs(self) -> list[tuple[Language, Language]]:
        """The pairs of languages that were found, sorted by code."""
        rows = self._query("SELECT DISTINCT lang_a, lang_b FROM pairs ORDER BY 1, 2")
        return [(Language(a), Language(b)) for a, b in rows]

    def pairs(self, lang_a: Language, lang_b: Language) -> Iterator[PagePair]:
        """One pair in memory at a time, site by site."""
        rows = self._query("SELECT pair FROM pairs WHERE lang_a = ? AND lang_b = ? ORDER BY site, id", (lang_a, lang_b))
        for (blob,) in rows:
            yield self._pair(blob)

    def segments(self, lang_a: Language, lang_b: Language) -> Iterator[SegmentPair]:
        """In the order of the pairs and of their pages' text."""
        rows = self._query(
            "SELECT segment FROM pairs JOIN segments ON segments.pair = pairs.id"
            " WHERE lang_a = ? AND lang_b = ? ORDER BY site, pairs.id, segments.id",
            (lang_a, lang_b),
        )
        for (blob,) in rows:
            yield self._segment(blob)

    def counts(self) -> dict[str, tuple[int, int]]:
        """The number of page pairs and of segment pairs, by languages ("en-fr")."""
        rows = self._query(
            "SELECT lang_a || '-' || lang_b, count(*),"
            " sum((SELECT count(*) FROM segments WHERE segments.pair = pairs.id)) FROM pairs GROUP BY 1 ORDER BY 1"
        )
        return {languages: (pairs, segments) for languages, pairs, segments in rows}

    def refusals(self) -> dict[str, int]:
        """How many pairs were refused, by reason."""
        return dict(self._query("SELECT reason, count(*) FROM refusals GROUP BY 1 ORDER BY 2 DESC").fetchall())

    def duplicates(self) -> dict[str, str]:
        """Duplicate pages, each with the page that it repeats."""
        return dict(self._query("SELECT url, repeats FROM duplicates").fetchall())

    def licences(self) -> dict[str, int]:
        """The number of pages in the corpus that state each licence."""
        return dict(self._query("SELECT licence, sum(pages) FROM licences GROUP BY 1 ORDER BY 2 DESC, 1").fetchall())

    def patterns(self, site: str) -> dict[str, int]:
        """How the URLs of a site's pairs differ, the most frequent first."""
        rows = self._query("SELECT pattern, pairs FROM patterns WHERE site = ? ORDER BY 2 DESC, 1", (site,))
        return dict(rows.fetchall())

    def recorded(self, site: str) -> tuple[list[PagePair], list[RefusedPair]]:
        """The page pairs of a site, and those that were refused."""
        pairs = self._query("SELECT pair FROM pairs WHERE site = ? ORDER BY id", (site,))
        refusals = self._query("SELECT url_a, url_b, reason FROM refusals WHERE site = ?", (site,))
        return (
            [self._pair(blob) for (blob,) in pairs],
            [RefusedPair(Url.known(a), Url.known(b), reason) for a, b, reason in refusals],
        )

    def _add(self, site: str, found: PairFindings) -> None:
        pair = found.pair
        row = (site, pair.lang_a, pair.lang_b, pair.score, pack(pair))
        number = self._query("INSERT INTO pairs VALUES (NULL, ?, ?, ?, ?, ?)", row).lastrowid
        segments = [(number, pack(segment)) for segment in found.segments]
        self._query_many("INSERT INTO segments VALUES (NULL, ?, ?)", segments)
