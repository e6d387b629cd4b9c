"""What people say about page pairs and segment pairs: stored by what it is about, so that mining again loses nothing."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

import msgspec

from bitrawl.errors import StoreError
from bitrawl.job.database import Layout, reading, storable, structural_fault, writing
from bitrawl.job.seal import damaged
from bitrawl.model import PagePair, SegmentPair, Verdict, Verdicts, pair_key, segment_key
from bitrawl.url import Url

VERDICTS = "verdicts.sqlite"
"""Its name in a job folder. Starting the job over leaves it there."""
_LAYOUT = Layout(
    """
CREATE TABLE said (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL, key TEXT NOT NULL, verdict TEXT NOT NULL, by TEXT NOT NULL, at REAL NOT NULL,
    url_a TEXT NOT NULL, url_b TEXT NOT NULL, text_a TEXT NOT NULL, text_b TEXT NOT NULL,
    undone_by TEXT, undone_at REAL
);
CREATE INDEX said_of ON said (kind, key, id);
CREATE INDEX said_by ON said (by, id);
CREATE TABLE standing (
    kind TEXT NOT NULL, key TEXT NOT NULL, verdict TEXT NOT NULL, by TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID
""",
    1,
)
_FIELDS = "kind, key, url_a, url_b, text_a, text_b, verdict, by, at, undone_by, undone_at"


class SubjectKind(StrEnum):
    """What a verdict is about."""

    PAIR = "pair"  # of pages
    SEGMENT = "segment"  # a pair of texts, wherever they occur


class Subject(msgspec.Struct, frozen=True):
    """What a verdict is about, readable without the ledger."""

    kind: SubjectKind
    key: str
    url_a: str
    url_b: str
    text_a: str = ""
    text_b: str = ""

    @classmethod
    def of_pair(cls, pair: PagePair) -> "Subject":
        return cls(SubjectKind.PAIR, pair_key(pair.url_a, pair.url_b), str(pair.url_a), str(pair.url_b))

    @classmethod
    def of_segment(cls, pair: SegmentPair) -> "Subject":
        """The URLs say where the person read it."""
        a, b = pair.a.text, pair.b.text
        return cls(SubjectKind.SEGMENT, segment_key(a, b), str(pair.url_a), str(pair.url_b), a, b)


class GivenVerdict(msgspec.Struct, frozen=True):
    """One verdict of one person."""

    subject: Subject
    verdict: Verdict
    by: str
    at: float  # seconds since the epoch
    undone_by: str | None = None
    undone_at: float | None = None


class VerdictHistory:
    """All that people have said in a job. Nothing is deleted: a verdict that was undone is marked.

    The last verdict about a thing that is not undone stands. Any number of threads and processes may use the same file:
    each call opens it and closes it. The first verdict creates it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def say(self, subject: Subject, verdict: Verdict, by: str, at: float) -> None:
        """The same again by the same person, as a double click says it, changes nothing."""
        with writing(self._path, _LAYOUT) as database:
            statement = "SELECT verdict, by FROM standing WHERE kind = ? AND key = ?"
            if database.execute(statement, (subject.kind, subject.key)).fetchone() == (verdict, by):
                return
            # The key has them as they are.
            texts = [storable(text) for text in (subject.url_a, subject.url_b, subject.text_a, subject.text_b)]
            _insert(database, (subject.kind, subject.key, *texts, verdict, by, at, None, None))

    def undo(self, kind: SubjectKind, key: str, by: str, at: float) -> GivenVerdict | None:
        """Take back the last verdict about that thing, whoever said it: the one before stands again. None if none stands."""
        return self._undo("kind = ? AND key = ?", (kind, storable(key)), by, at)

    def undo_last(self, by: str, at: float) -> GivenVerdict | None:
        """Take back the last verdict of that person that is not undone yet, and say which it was."""
        return self._undo("by = ?", (by,), by, at)

    def _undo(self, condition: str, values: tuple[str, ...], by: str, at: float) -> GivenVerdict | None:
        if not self._path.exists():
            return None
        with writing(self._path, _LAYOUT) as database:
            row = database.execute(
                f"SELECT id, {_FIELDS} FROM said WHERE {condition} AND undone_at IS NULL ORDER BY id DESC LIMIT 1",
                values,
            ).fetchone()
            if row is None:
                return None
            database.execute("UPDATE said SET undone_by = ?, undone_at = ? WHERE id = ?", (by, at, row[0]))
            given = msgspec.structs.replace(_given(row[1:]), undone_by=by, undone_at=at)
            _stand(database, given.subject.kind, given.subject.key)
            return given

    def standing(self) -> Verdicts:
        """Every verdict that stands. Without a file this costs one look at the folder."""
        verdicts: dict[str, dict[str, Verdict]] = {SubjectKind.PAIR: {}, SubjectKind.SEGMENT: {}}
        with reading(self._path, _LAYOUT) as database:
            if database is None:
                self._check_not_empty()
            else:
                self._check(database)
                for kind, key, verdict in database.execute("SELECT kind, key, verdict FROM standing"):
                    verdicts[kind][key] = Verdict(verdict)
        return Verdicts(verdicts[SubjectKind.PAIR], verdicts[SubjectKind.SEGMENT])

    def changes(self) -> int:
        """How often something was said or taken back. What is made from the verdicts is new while this stays the same."""
        with reading(self._path, _LAYOUT) as database:
            if database is None:
                return 0
            changes: int = database.execute("SELECT count(*) + count(undone_at) FROM said").fetchone()[0]
            return changes

    def check(self) -> None:
        """Raise `DamagedError` for a file that is not as it was written; without a file there is nothing to check."""
        with reading(self._path, _LAYOUT) as database:
            if database is None:
                self._check_not_empty()
                return
            if wrong := structural_fault(database):
                raise damaged(self._path, wrong)
            self._check(database)
            for given in map(_given, database.execute(f"SELECT {_FIELDS} FROM said")):
                _check_key(self._path, given.subject)

    def readable(self) -> list[GivenVerdict]:
        """What can be read of a damaged file, the earliest first; a row that was changed is left out."""
        readable: list[GivenVerdict] = []
        with suppress(StoreError), reading(self._path, _LAYOUT) as database:
            for row in database.execute(f"SELECT {_FIELDS} FROM said ORDER BY id") if database else ():
                with suppress(StoreError, ValueError, TypeError):
                    given = _given(row)
                    _check_key(self._path, given.subject)
                    readable.append(given)
        return readable

    def repeat(self, given: GivenVerdict) -> None:
        """Store a verdict as it was given, and undone if it was."""
        subject = given.subject
        values = (subject.kind, subject.key, subject.url_a, subject.url_b, subject.text_a, subject.text_b)
        rest = (given.verdict, given.by, given.at, given.undone_by, given.undone_at)
        with writing(self._path, _LAYOUT) as database:
            _insert(database, (*values, *rest))

    def _check_not_empty(self) -> None:
        if self._path.exists() and not self._path.stat().st_size:
            raise damaged(self._path, "it is empty")

    def _check(self, database: sqlite3.Connection) -> None:
        """What stands follows from what was said: if it does not, one of the two has changed since it was written."""
        stands = "SELECT kind, key, verdict, by, at FROM standing"
        for these, those in ((stands, _LAST_SAID), (_LAST_SAID, stands)):
            if database.execute(f"{these} EXCEPT {those} LIMIT 1").fetchone():
                raise damaged(self._path, "the verdicts that stand are not those that were given last")
        for kind, verdict in database.execute("SELECT DISTINCT kind, verdict FROM standing"):
            if kind not in set(SubjectKind) or verdict not in set(Verdict):
                raise damaged(self._path, f"there is no verdict {verdict!r} on a {kind!r}")

    def of(self, kind: SubjectKind, keys: Iterable[str]) -> dict[str, Verdict]:
        """The verdicts that stand about those things; what nobody has judged is not included."""
        with reading(self._path, _LAYOUT) as database:
            if database is None:
                return {}
            rows = database.execute(
                "SELECT key, verdict FROM standing WHERE kind = ? AND key IN (SELECT value FROM json_each(?))",
                (kind, msgspec.json.encode(list(keys)).decode()),
            )
            return {key: Verdict(verdict) for key, verdict in rows}

    def keys(self, kind: SubjectKind, verdict: Verdict) -> list[str]:
        """The things of which that verdict stands, such as the rejected page pairs, the last judged first."""
        with reading(self._path, _LAYOUT) as database:
            if database is None:
                return []
            rows = database.execute(
                "SELECT key FROM standing WHERE kind = ? AND verdict = ? ORDER BY at DESC, key", (kind, verdict)
            )
            return [key for (key,) in rows]

    def history(self, most: int, *, kind: SubjectKind | None = None, key: str | None = None) -> list[GivenVerdict]:
        """What was said, undone or not, the latest first; of all things, or of one."""
        with reading(self._path, _LAYOUT) as database:
            if database is None:
                return []
            rows = database.execute(
                f"SELECT {_FIELDS} FROM said WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR key = ?2)"
                " ORDER BY id DESC LIMIT ?3",
                (kind, key, most),
            )
            return [_given(row) for row in rows]


_LAST_SAID = (
    "SELECT kind, key, verdict, by, at FROM said"
    " WHERE id IN (SELECT max(id) FROM said WHERE undone_at IS NULL GROUP BY kind, key)"
)


def _check_key(path: Path, subject: Subject) -> None:
    """The key is made from what was judged. Texts that SQLite does not take are stored with a question mark."""
    texts = subject.text_a, subject.text_b
    key = (
        segment_key(*texts)
        if subject.kind is SubjectKind.SEGMENT
        else pair_key(Url.known(subject.url_a), Url.known(subject.url_b))
    )
    if key != subject.key and "?" not in "".join((*texts, subject.url_a, subject.url_b)):
        raise damaged(path, f"a verdict is not about what it says ({subject.url_a})")


def _insert(database: sqlite3.Connection, row: Sequence[str | float | None]) -> None:
    database.execute(f"INSERT INTO said ({_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    _stand(database, str(row[0]), str(row[1]))


def _stand(database: sqlite3.Connection, kind: str, key: str) -> None:
    """The last verdict that is not undone stands."""
    database.execute("DELETE FROM standing WHERE kind = ? AND key = ?", (kind, key))
    database.execute(
        "INSERT INTO standing SELECT kind, key, verdict, by, at FROM said"
        " WHERE kind = ? AND key = ? AND undone_at IS NULL ORDER BY id DESC LIMIT 1",
        (kind, key),
    )


def _given(row: tuple[str, str, str, str, str, str, str, str, float, str | None, float | None]) -> GivenVerdict:
    kind, key, url_a, url_b, text_a, text_b, verdict, by, at, undone_by, undone_at = row
    subject = Subject(SubjectKind(kind), key, url_a, url_b, text_a, text_b)
    return GivenVerdict(subject, Verdict(verdict), by, at, undone_by, undone_at)
