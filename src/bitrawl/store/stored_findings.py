"""What mining found on each site: pairs, segments, refused pairs and duplicates. It is replaced as the site grows."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from bitrawl.files import NO_JSON, compressor
from bitrawl.mining import RefusedPair, SiteFindings
from bitrawl.model import Language, PagePair, SegmentPair, Skip, pack
from bitrawl.reasons import Stage
from bitrawl.store.database import Blobs, expanded, stored_skip
from bitrawl.store.ledger import Ledger
from bitrawl.store.seal import damaged
from bitrawl.url import Url


class Mined(msgspec.Struct, frozen=True):
    """How many pages a site was mined from, and from what: if nothing of that has changed, there is nothing to mine."""

    pages: int
    made_from: str


def made_from(settings: str, extent: str) -> str:
    """All that the findings of a site depend on: a fingerprint of the settings, and which pages and sitemaps were read."""
    return f"{settings} {extent}"


KEY_BYTES = 16
AlignmentKey = bytes
"""Of all that the segments of a pair depend on: two texts, and how they were aligned."""


PAIR = "url_a, url_b, lang_a, lang_b, pairs.score, evidence, partial"
"""The columns of a page pair."""


def stored_pair(path: Path, row: Sequence[Any]) -> PagePair:
    """A page pair from these columns. Raises `DamagedError`."""
    url_a, url_b, lang_a, lang_b, score, evidence, partial = row
    try:
        found = msgspec.json.decode(evidence, type=dict[str, float])
    except (ValueError, TypeError, *NO_JSON) as error:
        raise damaged(path, f"a row cannot be read ({error})") from error
    return PagePair(Url.known(url_a), Url.known(url_b), lang_a, lang_b, score, found, bool(partial))


class PackedAlignment(msgspec.Struct, frozen=True):
    """The segments of a page pair as the ledger keeps them: who finds them packs them, and nobody unpacks them on the way."""

    count: int = 0
    segments: bytes = b""  # packed and compressed
    faults: tuple[str, ...] = ()  # what went wrong with others
    too_long: str = ""  # what is left out because it cannot be split

    @classmethod
    def of(cls, segments: Sequence[SegmentPair], faults: tuple[str, ...] = (), too_long: str = "") -> "PackedAlignment":
        return cls(len(segments), _compress(pack(tuple(segments))), faults, too_long)


_compress = compressor()
NOTHING_ALIGNED = PackedAlignment.of(())


class Lesson(msgspec.Struct, frozen=True):
    """What a sample of the pairs of a site taught."""

    context: bytes  # is a part of the keys of all that was aligned with it
    sample: tuple[AlignmentKey, ...]
    learned: bytes


class Findings:
    """The part of the ledger that mining writes.

    The segments of a pair are kept under a key of their own, as soon as they are found: what was aligned before a kill,
    or in an earlier round, is not aligned again. Pairs refer to them, and are replaced site by site.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._query = ledger.database.query
        self._query_many = ledger.database.query_many
        self._segments: Blobs[tuple[SegmentPair, ...]] = Blobs(tuple[SegmentPair, ...], ledger.path, compressed=True)

    def aligned(self, site: str, key: AlignmentKey, found: PackedAlignment, lost: Iterable[Skip] = ()) -> None:
        """Keep the segments of a pair, and what was lost of it, before its site is complete."""
        with self._ledger.transaction():
            values = (key, site, found.count, found.segments)
            self._query("INSERT OR REPLACE INTO alignments (key, site, count, segments) VALUES (?, ?, ?, ?)", values)
            for skip in lost:
                self._ledger.record_fault(site, skip)

    def is_aligned(self, key: AlignmentKey) -> bool:
        """Whether the segments under that key are known."""
        return self._query("SELECT 1 FROM alignments WHERE key = ?", (key,)).fetchone() is not None

    def learned(self, site: str, languages: tuple[Language, Language], lesson: Lesson) -> None:
        """Keep what was learned in this round, beside what was learned last before it."""
        if not lesson.learned:
            return
        number, name = self._ledger.rounds.number, "-".join(languages)
        with self._ledger.transaction():
            self._query(
                "DELETE FROM lessons WHERE site = ?1 AND languages = ?2 AND round <"
                " (SELECT max(round) FROM lessons WHERE site = ?1 AND languages = ?2 AND round < ?3)",
                (site, name, number),
            )
            row = (site, name, number, lesson.context, b"".join(lesson.sample), _compress(lesson.learned))
            self._query("INSERT OR REPLACE INTO lessons VALUES (?, ?, ?, ?, ?, ?)", row)

    def lesson(self, site: str, languages: tuple[Language, Language]) -> Lesson | None:
        """What was learned last before this round; None if nothing was."""
        row = self._query(
            "SELECT context, sample, learned FROM lessons WHERE site = ? AND languages = ? AND round < ?"
            " ORDER BY round DESC LIMIT 1",
            (site, "-".join(languages), self._ledger.rounds.number),
        ).fetchone()
        if row is None:
            return None
        keys = tuple(row[1][start : start + KEY_BYTES] for start in range(0, len(row[1]), KEY_BYTES))
        return Lesson(row[0], keys, expanded(self._ledger.path, row[2]))

    def replace(
        self, findings: SiteFindings, alignments: Sequence[AlignmentKey] = (), faults: Iterable[Skip] = ()
    ) -> None:
        """Replace the findings of a site, all of them or none; `alignments` has the key of each of its pairs.

        Segments that no pair refers to any more are forgotten.
        """
        site = findings.site
        with self._ledger.transaction():
            for table in ("pairs", "refusals", "duplicates", "patterns", "mined"):
                self._query(f"DELETE FROM {table} WHERE site = ?", (site,))
            of_mining = "stage NOT IN (?, ?)"
            self._query(f"DELETE FROM faults WHERE site = ? AND {of_mining}", (site, Stage.STRATEGY, Stage.ANALYSE))
            keys = alignments or [b""] * len(findings.pairs)
            rows = [
                (
                    *(site, pair.url_a, pair.url_b, pair.lang_a, pair.lang_b, pair.score),
                    *(msgspec.json.encode(pair.evidence).decode(), pair.partial, key),
                )
                for pair, key in zip(findings.pairs, keys, strict=True)
            ]
            self._query_many("INSERT INTO pairs VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            still_used = "SELECT alignment FROM pairs WHERE site = ?"
            self._query(f"DELETE FROM alignments WHERE site = ? AND key NOT IN ({still_used})", (site, site))
            refusals = [(site, pair.url_a, pair.url_b, pair.reason) for pair in findings.refusals]
            self._query_many("INSERT INTO refusals VALUES (?, ?, ?, ?)", refusals)
            copies = [(url, site, repeats) for url, repeats in findings.duplicates.items()]
            self._query_many("INSERT OR REPLACE INTO duplicates VALUES (?, ?, ?)", copies)
            patterns = [(site, pattern, pairs) for pattern, pairs in findings.patterns.items()]
            self._query_many("INSERT INTO patterns VALUES (?, ?, ?)", patterns)
            for skip in faults:
                self._ledger.record_fault(site, skip)
            self._query("INSERT INTO mined VALUES (?, ?, ?)", (site, findings.pages, findings.made_from))

    def failed(self, site: str, faults: Iterable[Skip]) -> None:
        """The site could not be mined: what was found before stays, and counts as found of another state of the site."""
        with self._ledger.transaction():
            self._query("DELETE FROM faults WHERE site = ? AND stage = ?", (site, Stage.PAIR))
            for skip in faults:
                self._ledger.record_fault(site, skip)
            self._query("UPDATE mined SET settings = '' WHERE site = ?", (site,))

    def faults(self) -> list[Skip]:
        """What could not be mined, or failed in a strategy, and why, in the order in which it was met."""
        rows = self._query("SELECT url, stage, reason, detail FROM faults ORDER BY id")
        return [stored_skip(self._ledger.path, Url.known(url), row) for url, *row in rows]

    def faults_of(self, site: str, pairs: Iterable[PagePair]) -> list[Skip]:
        """What was lost of these pairs of a site when they were aligned."""
        rows = self._query(
            "SELECT url, stage, reason, detail FROM faults WHERE site = ? AND stage IN (?, ?) ORDER BY id",
            (site, Stage.ALIGN, Stage.JUDGE),
        )
        partners = {(str(pair.url_a), str(pair.url_b)) for pair in pairs}
        return [
            stored_skip(self._ledger.path, Url.known(url), (stage, reason, detail))
            for url, stage, reason, detail in rows
            if (url, detail.removeprefix("with ").partition(": ")[0]) in partners
        ]

    def mined(self, site: str) -> Mined | None:
        """What the site was mined from; None if it has not been mined."""
        row = self._query("SELECT pages, settings FROM mined WHERE site = ?", (site,)).fetchone()
        return Mined(*row) if row else None

    def begun(self) -> bool:
        """Whether any site has been mined."""
        return self._query("SELECT 1 FROM mined LIMIT 1").fetchone() is not None

    def language_pairs(self) -> list[tuple[Language, Language]]:
        """The pairs of languages that were found, sorted by code."""
        rows = self._query("SELECT DISTINCT lang_a, lang_b FROM pairs ORDER BY 1, 2")
        return [(Language(a), Language(b)) for a, b in rows]

    def pairs(self, lang_a: Language, lang_b: Language, site: str = "") -> Iterator[PagePair]:
        """One pair in memory at a time, site by site, partial ones included; with `site`, only those of that site."""
        rows = self._query(
            f"SELECT {PAIR} FROM pairs WHERE lang_a = ? AND lang_b = ?{' AND site = ?' if site else ''} ORDER BY site, id",
            (lang_a, lang_b, *([site] if site else [])),
        )
        for row in rows:
            yield stored_pair(self._ledger.path, row)

    def segments(self, lang_a: Language, lang_b: Language, site: str = "") -> Iterator[SegmentPair]:
        """In the order of the pairs and of their pages' text; with `site`, only those of that site."""
        rows = self._query(
            "SELECT segments FROM pairs JOIN alignments ON alignments.key = pairs.alignment"
            f" WHERE lang_a = ? AND lang_b = ?{' AND pairs.site = ?' if site else ''} ORDER BY pairs.site, pairs.id",
            (lang_a, lang_b, *([site] if site else [])),
        )
        for (blob,) in rows:
            yield from self._segments(blob)

    def segments_of(self, key: AlignmentKey) -> tuple[SegmentPair, ...]:
        """The segments under that key, in the order of the text; none if they were replaced meanwhile."""
        row = self._query("SELECT segments FROM alignments WHERE key = ?", (key,)).fetchone()
        return self._segments(row[0]) if row else ()

    def paired_sites(self, lang_a: Language, lang_b: Language) -> list[str]:
        """The sites that have pairs of these languages, in the order in which `pairs` and `segments` have them."""
        rows = self._query(
            "SELECT DISTINCT site FROM pairs WHERE lang_a = ? AND lang_b = ? ORDER BY 1", (lang_a, lang_b)
        )
        return [site for (site,) in rows]

    def fingerprint(self) -> bytes:
        """Of all page pairs and their segments. It changes if any of them is found again or replaced."""
        digest = blake2b(digest_size=16)
        for row in self._query(
            "SELECT pairs.id, pairs.site, alignment, alignments.id, length(segments) FROM pairs"
            " LEFT JOIN alignments ON alignments.key = pairs.alignment ORDER BY pairs.id"
        ):
            digest.update(repr(row).encode())
        return digest.digest()

    def refusals(self) -> dict[str, int]:
        """How many pairs were refused, by reason."""
        return dict(self._query("SELECT reason, count(*) FROM refusals GROUP BY 1 ORDER BY 2 DESC").fetchall())

    def duplicates(self) -> dict[str, str]:
        """Duplicate pages, each with the page that it repeats."""
        return dict(self._query("SELECT url, repeats FROM duplicates").fetchall())

    def patterns(self, site: str) -> dict[str, int]:
        """How the URLs of a site's pairs differ, the most frequent first."""
        rows = self._query("SELECT pattern, pairs FROM patterns WHERE site = ? ORDER BY 2 DESC, 1", (site,))
        return dict(rows.fetchall())

    def recorded(self, site: str) -> tuple[list[PagePair], list[RefusedPair]]:
        """The page pairs of a site, partial ones too, and those that were refused."""
        pairs = self._query(f"SELECT {PAIR} FROM pairs WHERE site = ? ORDER BY id", (site,))
        refusals = self._query("SELECT url_a, url_b, reason FROM refusals WHERE site = ?", (site,))
        return (
            [stored_pair(self._ledger.path, row) for row in pairs],
            [RefusedPair(Url.known(a), Url.known(b), reason) for a, b, reason in refusals],
        )
