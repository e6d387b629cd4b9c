"""What a bilingual corpus is made of: translation units, each text once with every place where it was found."""

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import closing
from hashlib import blake2b

import msgspec

from bitrawl.corpus.characters import one_line
from bitrawl.model import Language, SegmentPair, Unpacker, pack
from bitrawl.url import Url

DUPLICATE, NEAR_DUPLICATE = "duplicate", "near-duplicate"  # ILSP-FC's words


class Head(msgspec.Struct, frozen=True):
    """What a corpus is, said before its content."""

    languages: tuple[Language, ...]  # two; one for a monolingual corpus
    at: float  # seconds since the epoch

    @property
    def name(self) -> str:
        """What its files are called: "en-fr"."""
        return "-".join(self.languages)


class Source(msgspec.Struct, frozen=True, gc=False):
    """Where a unit was found: pages, and the paragraph and sentence that it begins with on either."""

    url_a: Url
    url_b: Url
    paragraph_a: int = -1
    paragraph_b: int = -1
    sentence_a: int = -1
    sentence_b: int = -1

    @classmethod
    def of(cls, pair: SegmentPair) -> "Source":
        """The place of a segment pair."""
        a, b = pair.a, pair.b
        return cls(pair.url_a, pair.url_b, a.paragraph, b.paragraph, a.sentence, b.sentence)


class TranslationUnit(msgspec.Struct, frozen=True):
    """A segment pair as it stands in the corpus, and all places where its two texts were found together."""

    pair: SegmentPair  # the best scored of them
    sources: tuple[Source, ...]  # its own first
    variants: int = 0  # nearly equal texts that it stands for as well

    @classmethod
    def alone(cls, pair: SegmentPair) -> "TranslationUnit":
        """A pair that was found once."""
        return cls(pair, (Source.of(pair),))


def paragraph_id(number: int) -> str:
    """As in the cesDoc file of the page: "p1" is the first paragraph; empty where it is not known."""
    return f"p{number + 1}" if number >= 0 else ""


def merged(pairs: Iterable[SegmentPair], *, keep_duplicates: bool = False) -> Iterator[TranslationUnit]:
    """Units in the order of their first sight; the best scored of equal pairs speaks for all, with the places of all.

    Equal means the same texts. Nearly equal means the same letters, digits and symbols: case, punctuation and spaces
    apart; the best scored of those speaks for all, too. With `keep_duplicates` each pair is a unit, and all but the best
    are flagged, as with ILSP-FC's -keepdup and -keepneardup.

    Memory stays bounded: the pairs wait in a nameless SQLite database that spills to the disk and dies with us.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        _gather(database, pairs)
        unpack: Unpacker[SegmentPair] = Unpacker(SegmentPair)
        for seq, data, near, best, best_near, first, count in database.execute(_IN_ORDER):
            if keep_duplicates:
                flag = "" if seq == best_near else NEAR_DUPLICATE if seq == best else DUPLICATE
                yield TranslationUnit.alone(_flagged(unpack(data), flag))
            elif seq == first:
                pair = unpack(data if seq == best_near else _pair(database, best_near))
                yield _of_all(database, near, pair, unpack) if count > 1 else TranslationUnit.alone(pair)


_IN_ORDER = (
    "SELECT f.seq, f.pair, f.near, e.best, n.best, n.first, n.count FROM found f"
    " JOIN exact e ON e.key = f.exact JOIN near n ON n.key = f.near ORDER BY f.seq"
)
_GROUPED = (  # by the exact texts, then by what is nearly the same
    "INSERT INTO {0} SELECT f.{0}, (SELECT seq FROM found g WHERE g.{0} = f.{0} ORDER BY score DESC, seq LIMIT 1),"
    " min(seq), count(*) FROM found f GROUP BY f.{0}"
)


def _gather(database: sqlite3.Connection, pairs: Iterable[SegmentPair]) -> None:
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA cache_size = -65536")  # 64 MB; beyond it the temporary file
    database.execute("CREATE TABLE found (seq INTEGER PRIMARY KEY, exact INT, near INT, score REAL, pair BLOB)")
    database.execute("BEGIN")
    rows = (
        (_key(p.a.text, p.b.text), _key(_nearly(p.a.text), _nearly(p.b.text)), p.score, pack(p))
        for p in map(_as_written, pairs)
    )
    database.executemany("INSERT INTO found (exact, near, score, pair) VALUES (?, ?, ?, ?)", rows)
    for name in ("exact", "near"):
        database.execute(f"CREATE INDEX by_{name} ON found ({name}, score DESC, seq)")
        database.execute(f"CREATE TABLE {name} (key INTEGER PRIMARY KEY, best INT, first INT, count INT)")
        database.execute(_GROUPED.format(name))
    database.execute("COMMIT")


def _as_written(pair: SegmentPair) -> SegmentPair:
    """With the characters that a corpus holds: what is equal there is equal here."""
    a, b = one_line(pair.a.text), one_line(pair.b.text)
    if (a, b) == (pair.a.text, pair.b.text):
        return pair
    replace = msgspec.structs.replace
    return replace(pair, a=replace(pair.a, text=a), b=replace(pair.b, text=b))


def _key(a: str, b: str) -> int:
    data = f"{a}\0{b}".encode()
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)


class _Dropped(dict[int, str | None]):
    """For `str.translate`, filled as it is used: punctuation and whatever separates becomes a space."""

    def __missing__(self, code: int) -> str | None:
        self[code] = " " if unicodedata.category(chr(code))[0] in "PZC" else chr(code)
        return self[code]


_DROPPED = _Dropped()
_BETWEEN_FIGURES = re.compile(r"(?<!\d) | (?!\d)")


def _nearly(text: str) -> str:
    """Without case, punctuation and spaces; but 1.5 is not 15, and a text of punctuation is itself."""
    bare = " ".join(text.casefold().translate(_DROPPED).split())
    return _BETWEEN_FIGURES.sub("", bare) or text


def _flagged(pair: SegmentPair, flag: str) -> SegmentPair:
    return msgspec.structs.replace(pair, flags=(*pair.flags, flag)) if flag else pair


def _pair(database: sqlite3.Connection, seq: int) -> bytes:
    row = database.execute("SELECT pair FROM found WHERE seq = ?", (seq,)).fetchone()
    return bytes(row[0])


def _of_all(
    database: sqlite3.Connection, near: int, best: SegmentPair, unpack: Unpacker[SegmentPair]
) -> TranslationUnit:
    rows = database.execute("SELECT pair, exact FROM found WHERE near = ? ORDER BY seq", (near,)).fetchall()
    sources = dict.fromkeys([Source.of(best), *(Source.of(unpack(data)) for data, _ in rows)])
    return TranslationUnit(best, tuple(sources), variants=len({exact for _, exact in rows}) - 1)
