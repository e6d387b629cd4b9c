"""What people say about page pairs and segment pairs: stored by what it is about, so that mining again loses nothing.

Each person has one opinion of a thing, the last that they did not take back. If all agree, that stands. If they differ,
nothing stands until somebody resolves the conflict.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from bitrawl.errors import StoreError
from bitrawl.model import PagePair, Revision, SegmentPair, Verdict, Verdicts, pair_key, segment_key
from bitrawl.store.database import Layout, reading, storable, structural_fault, version_of, writing
from bitrawl.store.seal import damaged
from bitrawl.url import Url

"""Its name in a job folder. Starting the job over leaves it there."""
LAYOUT = Layout(
    """
CREATE TABLE said (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL, key TEXT NOT NULL, verdict TEXT NOT NULL, by TEXT NOT NULL, at REAL NOT NULL,
    url_a TEXT NOT NULL, url_b TEXT NOT NULL, text_a TEXT NOT NULL, text_b TEXT NOT NULL,
    undone_by TEXT, undone_at REAL, batch INTEGER NOT NULL DEFAULT 0, resolves INTEGER NOT NULL DEFAULT 0,
    sample INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX said_of ON said (kind, key, id);
CREATE INDEX said_by ON said (by, id);
CREATE INDEX said_in_sample ON said (sample, key, by) WHERE sample > 0;
CREATE TABLE standing (
    kind TEXT NOT NULL, key TEXT NOT NULL, verdict TEXT NOT NULL, by TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE TABLE revised (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    keys TEXT NOT NULL, originals TEXT NOT NULL, texts TEXT NOT NULL, url_a TEXT NOT NULL, url_b TEXT NOT NULL,
    by TEXT NOT NULL, at REAL NOT NULL, undone_by TEXT, undone_at REAL
);
CREATE INDEX revised_keys ON revised (keys, id);
CREATE TABLE comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, by TEXT NOT NULL, at REAL NOT NULL,
    undone_by TEXT, undone_at REAL
);
CREATE INDEX comments_on ON comments (kind, key, id);
CREATE TABLE samples (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL, lang_a TEXT NOT NULL, lang_b TEXT NOT NULL, design TEXT NOT NULL, sizes TEXT NOT NULL,
    by TEXT NOT NULL, at REAL NOT NULL, removed_by TEXT, removed_at REAL
);
CREATE TABLE sample_people (
    sample INTEGER NOT NULL, person TEXT NOT NULL, done_at REAL, PRIMARY KEY (sample, person)
) WITHOUT ROWID;
CREATE TABLE sample_units (
    sample INTEGER NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL, score REAL NOT NULL,
    url_a TEXT NOT NULL, url_b TEXT NOT NULL, text_a TEXT NOT NULL, text_b TEXT NOT NULL, PRIMARY KEY (sample, place)
) WITHOUT ROWID;
CREATE VIEW verdicts AS
SELECT kind, verdict, by, datetime(at, 'unixepoch') AS given_at, url_a, url_b, text_a, text_b
FROM said WHERE undone_at IS NULL
""",
    3,
)
"""Of the file with all that people add to a job: verdicts here, revised texts and comments in `revisions.py`, samples in
`samples.py`."""
_FIELDS = "kind, key, url_a, url_b, text_a, text_b, verdict, by, at, undone_by, undone_at, batch, resolves, sample"
_CONFLICT = "conflict"
_SAMPLED = "SELECT key FROM said WHERE sample > 0 AND undone_at IS NULL"
_BY_DAY = "SELECT date(at, 'unixepoch'), count(*) FROM said WHERE undone_at IS NULL GROUP BY 1 ORDER BY 1 DESC LIMIT ?"
_BY_PERSON = """
    SELECT by, kind, verdict, count(*), max(at) FROM said WHERE id IN (
        SELECT max(id) FROM said WHERE undone_at IS NULL GROUP BY by, kind, key
    ) GROUP BY by, kind, verdict
"""
_About = tuple[str, str]  # a kind and a key


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
    batch: int = 0  # verdicts that were given at once have the same number, which is not 0
    resolves: bool = False  # it decides between those before it
    sample: int = 0  # the sample in which it was given; 0 for none


class Judgement(msgspec.Struct, frozen=True):
    """What people say about one thing now: the opinion of each, the latest last; a resolution replaces those before it."""

    opinions: tuple[GivenVerdict, ...] = ()

    @property
    def standing(self) -> Verdict | None:
        """What holds; None if nobody has judged, or in a conflict."""
        verdicts = {opinion.verdict for opinion in self.opinions}
        return verdicts.pop() if len(verdicts) == 1 else None

    @property
    def is_conflict(self) -> bool:
        return bool(self.opinions) and self.standing is None

    @property
    def last_at(self) -> float:
        """When the latest was given; 0 if there is none."""
        return max((opinion.at for opinion in self.opinions), default=0.0)

    def by(self, person: str) -> Verdict | None:
        """That person's own."""
        return next((opinion.verdict for opinion in self.opinions if opinion.by == person), None)


class Batch(msgspec.Struct, frozen=True):
    """What one person said at once about many things, as far as it was not undone."""

    number: int
    verdict: Verdict
    count: int
    at: float


class VerdictCounts(msgspec.Struct, frozen=True):
    """What was judged, each thing once."""

    accepted: int = 0
    rejected: int = 0
    conflicts: int = 0

    @property
    def judged(self) -> int:
        return self.accepted + self.rejected + self.conflicts


class PersonProgress(msgspec.Struct, frozen=True):
    """What one person says now."""

    name: str
    pairs: VerdictCounts
    segments: VerdictCounts
    last_at: float  # seconds since the epoch


class VerdictFigures(msgspec.Struct, frozen=True):
    """What stands, and who says what."""

    pairs: VerdictCounts = VerdictCounts()
    segments: VerdictCounts = VerdictCounts()
    not_sampled: VerdictCounts = VerdictCounts()  # segments that people chose to judge
    people: tuple[PersonProgress, ...] = ()
    days: dict[str, int] = {}  # verdicts by day (UTC), the earliest first


class VerdictHistory:
    """All that people have said in a job. Nothing is deleted: a verdict that was undone is marked.

    Any number of threads and processes may use the same file: each call opens it and closes it. The first verdict creates it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def say(self, subject: Subject, verdict: Verdict, by: str, at: float) -> None:
        """Record a verdict. Repeating one's own verdict, as a double click does, changes nothing."""
        self.say_all([subject], verdict, by, at)

    def say_all(self, subjects: Sequence[Subject], verdict: Verdict, by: str, at: float) -> int:
        """One verdict on many things, which can be taken back at once. Returns how many it changed."""
        each_once = {(subject.kind, subject.key): subject for subject in subjects}
        with writing(self._path, LAYOUT) as database:
            repeated = _repeated(database, each_once, verdict, by)
            new = [subject for about, subject in each_once.items() if about not in repeated]
            batch = _next_batch(database) if len(new) > 1 else 0
            _insert(database, [GivenVerdict(subject, verdict, by, at, batch=batch) for subject in new])
            return len(new)

    def say_in_sample(self, sample: int, verdicts: Mapping[Subject, Verdict], by: str, at: float) -> None:
        """What that person thinks of units of a sample: stored there, whatever they said about the same texts elsewhere."""
        with writing(self._path, LAYOUT) as database:
            for subject, verdict in verdicts.items():
                last = database.execute(
                    "SELECT verdict FROM said WHERE sample = ? AND key = ? AND by = ? AND undone_at IS NULL"
                    " ORDER BY id DESC LIMIT 1",
                    (sample, subject.key, by),
                ).fetchone()
                if last is None or last[0] != verdict:
                    _insert(database, [GivenVerdict(subject, verdict, by, at, sample=sample)])

    def resolve(self, kind: SubjectKind, key: str, verdict: Verdict, by: str, at: float) -> bool:
        """Decide between people who differ. False if they do not, or do not any more."""
        if not self.judgements(kind, [key]).get(key, Judgement()).is_conflict:
            return False
        with writing(self._path, LAYOUT) as database:
            judgement = _judgements(database, kind, [key]).get(key, Judgement())
            if not judgement.is_conflict:
                return False
            _insert(database, [GivenVerdict(judgement.opinions[-1].subject, verdict, by, at, resolves=True)])
            return True

    def undo(self, kind: SubjectKind, key: str, by: str, at: float, *, sample: int = 0) -> tuple[GivenVerdict, ...]:
        """Take back that person's last verdict about that thing: their one before holds again. Nothing if there is none.

        With `sample`, the last that was given in that sample.
        """
        condition = "kind = ? AND key = ? AND by = ?" + (f" AND sample = {sample:d}" if sample else "")
        return self._undo(condition, (kind, storable(key), by), by, at, whole_batch=False)

    def undo_last(self, by: str, at: float) -> tuple[GivenVerdict, ...]:
        """Take back what that person said last, and was not undone yet: one verdict, or all that were given at once."""
        return self._undo("by = ?", (by,), by, at, whole_batch=True)

    def undo_batch(self, number: int, by: str, at: float) -> tuple[GivenVerdict, ...]:
        """Take back all that the person gave at once under that number, as far as it was not undone yet."""
        return self._undo("by = ? AND batch = ? AND batch > 0", (by, number), by, at, whole_batch=True)

    def last_batch(self, by: str) -> "Batch | None":
        """What that person said last, if it was about many things."""
        with reading(self._path, LAYOUT) as database:
            row = database.execute(
                "SELECT batch, verdict, count(*), at FROM said WHERE undone_at IS NULL AND batch > 0 AND batch ="
                " (SELECT batch FROM said WHERE by = ? AND undone_at IS NULL ORDER BY id DESC LIMIT 1) GROUP BY batch",
                (by,),
            ).fetchone()
            return Batch(row[0], Verdict(row[1]), *row[2:]) if row else None

    def _undo(
        self, condition: str, values: tuple[str | int, ...], by: str, at: float, *, whole_batch: bool
    ) -> tuple[GivenVerdict, ...]:
        if not self._path.exists():
            return ()
        with writing(self._path, LAYOUT) as database:
            last = database.execute(
                f"SELECT id, batch FROM said WHERE {condition} AND undone_at IS NULL ORDER BY id DESC LIMIT 1", values
            ).fetchone()
            if last is None:
                return ()
            chosen, value = ("batch", last[1]) if last[1] and whole_batch else ("id", last[0])
            rows = database.execute(
                f"SELECT {_FIELDS} FROM said WHERE {chosen} = ? AND undone_at IS NULL ORDER BY id", (value,)
            ).fetchall()
            statement = f"UPDATE said SET undone_by = ?, undone_at = ? WHERE {chosen} = ? AND undone_at IS NULL"
            database.execute(statement, (by, at, value))
            undone = tuple(msgspec.structs.replace(_given(row), undone_by=by, undone_at=at) for row in rows)
            _stand(database, [(given.subject.kind, given.subject.key) for given in undone])
            return undone

    def standing(self) -> Verdicts:
        """All that holds: verdicts on which nobody differs, and texts that were revised."""
        verdicts: dict[str, dict[str, Verdict]] = {SubjectKind.PAIR: {}, SubjectKind.SEGMENT: {}}
        with reading(self._path, LAYOUT) as database:
            self._check(database)
            statement = "SELECT kind, key, verdict FROM standing WHERE verdict <> ?"
            for kind, key, verdict in database.execute(statement, (_CONFLICT,)):
                verdicts[kind][key] = Verdict(verdict)
            revisions = tuple(
                msgspec.json.decode(f'{{"keys": {keys}, "texts": {texts}}}', type=Revision)
                for keys, texts in database.execute(LAST_REVISED)
            )
        return Verdicts(verdicts[SubjectKind.PAIR], verdicts[SubjectKind.SEGMENT], revisions)

    def figures(self, days: int) -> VerdictFigures:
        """What people have said so far, and how many verdicts on each of the last so many days that had any."""
        with reading(self._path, LAYOUT) as database:
            standing = partial(_standing_counts, database)
            return VerdictFigures(
                standing(SubjectKind.PAIR),
                standing(SubjectKind.SEGMENT),
                standing(SubjectKind.SEGMENT, f" AND key NOT IN ({_SAMPLED})"),
                tuple(_people(database)),
                dict(reversed(database.execute(_BY_DAY, (days,)).fetchall())),
            )

    def changes(self) -> int:
        """How often something was said, revised or taken back. What is made from it is new while this stays the same."""
        with reading(self._path, LAYOUT) as database:
            counts = "SELECT count(*) + count(undone_at) FROM"
            return sum(database.execute(f"{counts} {table}").fetchone()[0] for table in ("said", "revised"))

    def check(self) -> None:
        """Raise `DamagedError` for a file that is not as it was written; without a file there is nothing to check."""
        with reading(self._path, LAYOUT) as database:
            if wrong := structural_fault(database):
                raise damaged(self._path, wrong)
            self._check(database)
            for given in map(_given, database.execute(f"SELECT {_FIELDS} FROM said")):
                _check_key(self._path, given.subject)

    def readable(self) -> list[GivenVerdict]:
        """What can be read of a damaged file, the earliest first; a row that was changed is left out."""
        readable: list[GivenVerdict] = []
        with suppress(StoreError), reading(self._path, LAYOUT) as database:
            for row in database.execute(f"SELECT {_FIELDS} FROM said ORDER BY id"):
                with suppress(StoreError, ValueError, TypeError):
                    given = _given(row)
                    _check_key(self._path, given.subject)
                    readable.append(given)
        return readable

    def readable_tables(self, is_sound: Callable[[str, dict[str, Any]], bool]) -> dict[str, list[dict[str, Any]]]:
        """What can be read of all that a damaged file has besides verdicts, by table; `is_sound` looks at each row."""
        tables: dict[str, list[dict[str, Any]]] = {}
        for table in _other_tables():
            rows = tables.setdefault(table, [])
            with suppress(StoreError), reading(self._path, LAYOUT) as database:
                cursor = database.execute(f"SELECT * FROM {table}")
                names = [column[0] for column in cursor.description]
                for row in cursor:
                    values = dict(zip(names, row, strict=True))
                    if is_sound(table, values):
                        rows.append(values)
        return tables

    def repeat_tables(self, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Store such rows as they were."""
        with writing(self._path, LAYOUT) as database:
            for table, rows in tables.items():
                for row in rows:
                    names, marks = ", ".join(row), ", ".join("?" * len(row))
                    database.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", [*row.values()])

    def repeat(self, given: Sequence[GivenVerdict]) -> None:
        """Store verdicts as they were given, and undone if they were."""
        with writing(self._path, LAYOUT) as database:
            _insert(database, given)

    def _check(self, database: sqlite3.Connection) -> None:
        """What stands follows from what was said: if it does not, one of the two has changed since it was written."""
        if not version_of(database) and self._path.exists() and not self._path.stat().st_size:
            raise damaged(self._path, "it is empty")
        stands, follows = "SELECT kind, key, verdict, by, at FROM standing", _FOLLOWING.format(where="1")
        for these, those in ((stands, follows), (follows, stands)):
            if database.execute(f"{these} EXCEPT {those} LIMIT 1").fetchone():
                raise damaged(self._path, "the verdicts that stand are not those that were given last")
        for kind, verdict in database.execute("SELECT DISTINCT kind, verdict FROM standing"):
            if kind not in set(SubjectKind) or verdict not in {*Verdict, _CONFLICT}:
                raise damaged(self._path, f"there is no verdict {verdict!r} on a {kind!r}")

    def of(self, kind: SubjectKind, keys: Iterable[str]) -> dict[str, Verdict]:
        """The verdicts that stand about those things; what nobody has judged, or people differ on, is not included."""
        with reading(self._path, LAYOUT) as database:
            rows = database.execute(
                "SELECT key, verdict FROM standing"
                " WHERE kind = ? AND verdict <> ? AND key IN (SELECT value FROM json_each(?))",
                (kind, _CONFLICT, _listed(keys)),
            )
            return {key: Verdict(verdict) for key, verdict in rows}

    def judgements(self, kind: SubjectKind, keys: Iterable[str]) -> dict[str, Judgement]:
        """Who says what about those things; what nobody has judged is not included."""
        with reading(self._path, LAYOUT) as database:
            return _judgements(database, kind, keys)

    def conflicts(self, most: int) -> list[Judgement]:
        """Things that people differ on, the latest first."""
        with reading(self._path, LAYOUT) as database:
            statement = "SELECT kind, key FROM standing WHERE verdict = ? ORDER BY at DESC, key LIMIT ?"
            rows = database.execute(statement, (_CONFLICT, most)).fetchall()
            by_kind = {kind: _judgements(database, kind, [row[1] for row in rows]) for kind in {row[0] for row in rows}}
            return [by_kind[kind][key] for kind, key in rows]

    def conflict_count(self) -> int:
        with reading(self._path, LAYOUT) as database:
            statement = "SELECT count(*) FROM standing WHERE verdict = ?"
            return int(database.execute(statement, (_CONFLICT,)).fetchone()[0])

    def judged(self, kind: SubjectKind) -> frozenset[str]:
        """The things that somebody has judged, whether people agree or not."""
        with reading(self._path, LAYOUT) as database:
            return frozenset(key for (key,) in database.execute("SELECT key FROM standing WHERE kind = ?", (kind,)))

    def keys(self, kind: SubjectKind, verdict: Verdict | None) -> list[str]:
        """The things of which that verdict stands, such as the rejected page pairs, the last judged first; with None, those
        that people differ on.
        """
        with reading(self._path, LAYOUT) as database:
            rows = database.execute(
                "SELECT key FROM standing WHERE kind = ? AND verdict = ? ORDER BY at DESC, key",
                (kind, verdict or _CONFLICT),
            )
            return [key for (key,) in rows]

    def history(
        self,
        most: int,
        *,
        kind: SubjectKind | None = None,
        key: str | None = None,
        by: str | None = None,
        offset: int = 0,
    ) -> list[GivenVerdict]:
        """What was said, undone or not, the latest first; of all things or of one, by all people or by one."""
        with reading(self._path, LAYOUT) as database:
            rows = database.execute(
                f"SELECT {_FIELDS} FROM said WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR key = ?2)"
                " AND (?3 IS NULL OR by = ?3) ORDER BY id DESC LIMIT ?4 OFFSET ?5",
                (kind, *(value and storable(value) for value in (key, by)), most, offset),
            )
            return [_given(row) for row in rows]


LAST_REVISED = (
    "SELECT keys, texts FROM revised"
    " WHERE id IN (SELECT max(id) FROM revised WHERE undone_at IS NULL GROUP BY keys) ORDER BY id"
)
# The opinions that count: of each person the last that is not undone, and nothing before a resolution.
_OPINIONS = """
    SELECT max(said.id) AS id FROM said
    JOIN (SELECT kind, key, max(resolves * id) AS start FROM said WHERE undone_at IS NULL AND {where} GROUP BY kind, key)
    USING (kind, key) WHERE said.undone_at IS NULL AND said.id >= start AND {where} GROUP BY kind, key, by
"""
# What stands follows from them: of columns that are not aggregated, SQLite takes those of the row with the largest id.
_FOLLOWING = f"""
    SELECT kind, key, verdict, by, at FROM (
        SELECT kind, key, iif(count(DISTINCT verdict) > 1, '{_CONFLICT}', verdict) AS verdict, by, at, max(id)
        FROM said WHERE id IN ({_OPINIONS}) GROUP BY kind, key
    )
"""


def _other_tables() -> list[str]:
    """Of the file, but for those of verdicts."""
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(LAYOUT.tables)
        rows = empty.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        return [name for (name,) in rows if name not in ("said", "standing")]


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


def _listed(keys: Iterable[str]) -> str:
    return msgspec.json.encode(list(keys)).decode()


def _judgements(database: sqlite3.Connection, kind: str, keys: Iterable[str]) -> dict[str, Judgement]:
    chosen = _OPINIONS.format(where="kind = ?1 AND key IN (SELECT value FROM json_each(?2))")
    rows = database.execute(f"SELECT {_FIELDS} FROM said WHERE id IN ({chosen}) ORDER BY id", (kind, _listed(keys)))
    opinions: dict[str, list[GivenVerdict]] = {}
    for given in map(_given, rows):
        opinions.setdefault(given.subject.key, []).append(given)
    return {key: Judgement(tuple(several)) for key, several in opinions.items()}


def _next_batch(database: sqlite3.Connection) -> int:
    return int(database.execute("SELECT coalesce(max(batch), 0) + 1 FROM said").fetchone()[0])


def _by_kind(things: Iterable[_About]) -> dict[str, list[str]]:
    keys: dict[str, list[str]] = {}
    for kind, key in things:
        keys.setdefault(kind, []).append(key)
    return keys


def _standing_counts(database: sqlite3.Connection, kind: SubjectKind, more: str = "") -> VerdictCounts:
    statement = f"SELECT verdict, count(*) FROM standing WHERE kind = ?{more} GROUP BY verdict"
    counts = dict(database.execute(statement, (kind,)).fetchall())
    accepted, rejected = (counts.pop(str(verdict), 0) for verdict in (Verdict.ACCEPT, Verdict.REJECT))
    return VerdictCounts(accepted, rejected, sum(counts.values()))


def _people(database: sqlite3.Connection) -> Iterator[PersonProgress]:
    counts: dict[str, dict[tuple[str, str], int]] = {}
    last: dict[str, float] = {}
    for by, kind, verdict, count, at in database.execute(_BY_PERSON):
        counts.setdefault(by, {})[kind, verdict] = count
        last[by] = max(at, last.get(by, 0.0))
    for name, own in counts.items():
        pairs, segments = (
            VerdictCounts(own.get((kind, Verdict.ACCEPT), 0), own.get((kind, Verdict.REJECT), 0))
            for kind in SubjectKind
        )
        yield PersonProgress(name, pairs, segments, last[name])


def _repeated(database: sqlite3.Connection, things: Iterable[_About], verdict: Verdict, by: str) -> set[_About]:
    """Of which that is this person's opinion already. What was resolved against it can be said again."""
    resolved = "SELECT max(resolves * id) FROM said WHERE kind = ?1 AND key = own.key AND undone_at IS NULL"
    statement = (
        "SELECT key FROM (SELECT key, verdict, max(id) AS last FROM said WHERE kind = ?1 AND by = ?3 AND undone_at IS NULL"
        f" AND key IN (SELECT value FROM json_each(?2)) GROUP BY key) AS own WHERE verdict = ?4 AND last >= ({resolved})"
    )
    return {
        (kind, key)
        for kind, keys in _by_kind(things).items()
        for (key,) in database.execute(statement, (kind, _listed(keys), by, verdict))
    }


def _insert(database: sqlite3.Connection, verdicts: Sequence[GivenVerdict]) -> None:
    rows = [_stored(given) for given in verdicts]
    database.executemany(f"INSERT INTO said ({_FIELDS}) VALUES ({', '.join('?' * len(_FIELDS.split(',')))})", rows)
    _stand(database, {(given.subject.kind, given.subject.key) for given in verdicts})


def _stored(given: GivenVerdict) -> tuple[Any, ...]:
    subject = given.subject
    # The key has the texts as they are.
    texts = [storable(text) for text in (subject.url_a, subject.url_b, subject.text_a, subject.text_b)]
    said = (given.verdict, given.by, given.at, given.undone_by, given.undone_at)
    return (subject.kind, subject.key, *texts, *said, given.batch, given.resolves, given.sample)


def _stand(database: sqlite3.Connection, things: Iterable[_About]) -> None:
    """Bring up to date what stands about these things."""
    about = "kind = ?1 AND key IN (SELECT value FROM json_each(?2))"
    for kind, keys in _by_kind(things).items():
        database.execute(f"DELETE FROM standing WHERE {about}", (kind, _listed(keys)))
        database.execute(f"INSERT INTO standing {_FOLLOWING.format(where=about)}", (kind, _listed(keys)))


def _given(row: Sequence[Any]) -> GivenVerdict:
    subject, (verdict, by, at, undone_by, undone_at, batch, resolves, sample) = row[:6], row[6:]
    about = Subject(SubjectKind(subject[0]), *subject[1:])
    return GivenVerdict(about, Verdict(verdict), by, at, undone_by, undone_at, batch, bool(resolves), sample)
