"""What people write into a job: other texts for segments, and comments. The originals stay in the ledger."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bitrawl.model import Revision, segment_key
from bitrawl.store.database import reading, storable, writing
from bitrawl.store.seal import damaged
from bitrawl.store.verdicts import LAYOUT, SubjectKind

Texts = tuple[tuple[str, str], ...]
_FIELDS = "id, keys, originals, texts, url_a, url_b, by, at, undone_by, undone_at"
_COMMENT = "id, kind, key, text, by, at, undone_by, undone_at"


class GivenRevision(msgspec.Struct, frozen=True):
    """A revision, and who wrote it."""

    id: int
    revision: Revision
    originals: Texts
    url_a: str  # where the person read it
    url_b: str
    by: str
    at: float  # seconds since the epoch
    undone_by: str | None = None
    undone_at: float | None = None


class Comment(msgspec.Struct, frozen=True):
    """What somebody notes about a page pair or a segment. That of a segment which was revised is about its first original."""

    id: int
    kind: SubjectKind
    key: str
    text: str
    by: str
    at: float
    undone_by: str | None = None
    undone_at: float | None = None


class RevisionHistory:
    """All revisions and comments of a job. Nothing is deleted: what was taken back is marked.

    The last revision of the same segments that is not undone holds. It gets into the corpus once its texts are accepted.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def revise(
        self, revision: Revision, originals: Texts, urls: tuple[str, str], by: str, at: float, *, seen: int = 0
    ) -> int | None:
        """Store a revision of segments with these texts, read on these pages, and return its number.

        `seen` is the revision of the same segments that the writer had before them, 0 for none. None if another one holds
        by now: nothing is stored then.
        """
        keys = _encoded(revision.keys)
        with writing(self._path, LAYOUT) as database:
            last = "SELECT max(id) FROM revised WHERE keys = ? AND undone_at IS NULL"
            if (database.execute(last, (keys,)).fetchone()[0] or 0) != seen:
                return None
            texts = [_encoded([(storable(a), storable(b)) for a, b in each]) for each in (originals, revision.texts)]
            row = (keys, *texts, *map(storable, urls), by, at)
            names = "keys, originals, texts, url_a, url_b, by, at"
            return database.execute(f"INSERT INTO revised ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)", row).lastrowid

    def undo(self, number: int, by: str, at: float) -> GivenRevision | None:
        """Take back a revision, whoever wrote it: the one before holds again. None if that was done already."""
        if not self._path.exists():
            return None
        with writing(self._path, LAYOUT) as database:
            statement = "UPDATE revised SET undone_by = ?, undone_at = ? WHERE id = ? AND undone_at IS NULL"
            if not database.execute(statement, (by, at, number)).rowcount:
                return None
            return _given(database.execute(f"SELECT {_FIELDS} FROM revised WHERE id = ?", (number,)).fetchone())

    def standing(self, keys: Iterable[str] | None = None) -> list[GivenRevision]:
        """The revisions that hold, of any of these segments or of all."""
        with reading(self._path, LAYOUT) as database:
            rows = database.execute(
                f"SELECT {_FIELDS} FROM revised WHERE id IN (SELECT max(id) FROM revised WHERE undone_at IS NULL"
                " GROUP BY keys) AND (?1 IS NULL OR EXISTS (SELECT 1 FROM json_each(keys) AS key"
                " WHERE key.value IN (SELECT value FROM json_each(?1)))) ORDER BY id",
                (None if keys is None else _encoded(list(keys)),),
            )
            return [_given(row) for row in rows]

    def history(self, most: int) -> list[GivenRevision]:
        """All that were written, undone or not, the latest first."""
        with reading(self._path, LAYOUT) as database:
            statement = f"SELECT {_FIELDS} FROM revised ORDER BY id DESC LIMIT ?"
            return [_given(row) for row in database.execute(statement, (most,))]

    def check(self) -> None:
        """Raise `DamagedError` for revisions and comments that are not as they were written."""
        with reading(self._path, LAYOUT) as database:
            for table in ("revised", "comments"):
                cursor = database.execute(f"SELECT * FROM {table}")
                names = [column[0] for column in cursor.description]
                if not all(is_sound(table, dict(zip(names, row, strict=True))) for row in cursor):
                    raise damaged(self._path, "what somebody wrote about a segment is not about what it says")

    def comment(self, kind: SubjectKind, key: str, text: str, by: str, at: float) -> None:
        row = (kind, storable(key), storable(text), by, at)
        with writing(self._path, LAYOUT) as database:
            database.execute("INSERT INTO comments (kind, key, text, by, at) VALUES (?, ?, ?, ?, ?)", row)

    def undo_comment(self, number: int, by: str, at: float) -> bool:
        """People take back their own comments. False if that one is not theirs, or is gone."""
        if not self._path.exists():
            return False
        with writing(self._path, LAYOUT) as database:
            statement = (
                "UPDATE comments SET undone_by = ?1, undone_at = ?2 WHERE id = ?3 AND by = ?1 AND undone_at IS NULL"
            )
            return bool(database.execute(statement, (by, at, number)).rowcount)

    def comments(self, kind: SubjectKind, keys: Iterable[str]) -> dict[str, tuple[Comment, ...]]:
        """By key, the earliest first; those that were taken back are not included."""
        with reading(self._path, LAYOUT) as database:
            rows = database.execute(
                f"SELECT {_COMMENT} FROM comments WHERE kind = ? AND undone_at IS NULL"
                " AND key IN (SELECT value FROM json_each(?)) ORDER BY id",
                (kind, _encoded(list(keys))),
            )
            comments: dict[str, tuple[Comment, ...]] = {}
            for row in rows:
                comment = Comment(row[0], SubjectKind(row[1]), *row[2:])
                comments[comment.key] = (*comments.get(comment.key, ()), comment)
            return comments

    def commented(self, kind: SubjectKind) -> list[str]:
        """The keys of what people have commented on."""
        with reading(self._path, LAYOUT) as database:
            statement = "SELECT DISTINCT key FROM comments WHERE kind = ? AND undone_at IS NULL"
            return [key for (key,) in database.execute(statement, (kind,))]


def is_sound(table: str, row: Mapping[str, Any]) -> bool:
    """Whether a row of that table can be as it was written: a revision is about the texts that it replaces."""
    try:
        if table == "comments":
            return row["kind"] in set(SubjectKind) and isinstance(row["text"], str)
        if table == "revised":
            given = _given([row[name] for name in _FIELDS.split(", ")])
            keys = tuple(segment_key(*texts) for texts in given.originals)
            # A text that SQLite does not take is stored with a question mark.
            return keys == given.revision.keys or "?" in row["originals"]
    except (ValueError, TypeError, msgspec.MsgspecError):
        return False
    return True


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _given(row: Sequence[Any]) -> GivenRevision:
    number, keys, originals, texts, *rest = row
    revision = Revision(msgspec.json.decode(keys, type=tuple[str, ...]), msgspec.json.decode(texts, type=Texts))
    return GivenRevision(number, revision, msgspec.json.decode(originals, type=Texts), *rest)
