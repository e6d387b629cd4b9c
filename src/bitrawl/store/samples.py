"""Random samples of a corpus that people judge, each on their own: what was drawn, for whom, and what each has said.

A sample keeps its texts and scores as they were drawn, so that mining again changes nothing. `drawing.py` draws one.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bitrawl.model import Language, Verdict, pair_key
from bitrawl.store.database import reading, storable, writing
from bitrawl.store.verdicts import LAYOUT, Subject, SubjectKind, VerdictHistory

SCORE_RANGES = 10  # tenths; a corpus with the usual threshold of 0.5 has five of them
_UNIT = "place, key, score, url_a, url_b, text_a, text_b"
_SAMPLE = "id, name, lang_a, lang_b, design, sizes, by, at"
_THERE = "removed_at IS NULL"
# A file that was damaged may have lost a sample whose verdicts could be read.
_NEXT = "SELECT 1 + max(coalesce((SELECT max(id) FROM samples), 0), coalesce((SELECT max(sample) FROM said), 0))"


class SampleRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be drawn, and for whom."""

    languages: tuple[Language, Language]
    size: int
    people: tuple[str, ...]
    by: str
    name: str = ""  # empty for the languages
    seed: int = 0
    floor: float | None = None  # None for the threshold of the job
    by_band: bool = False


class SampleDesign(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a sample is drawn. The same design draws the same units from the same corpus."""

    size: int  # units, at most
    seed: int = 0
    floor: float = 0.0  # the lowest score
    by_band: bool = False  # as many from each score band; otherwise each unit has the same chance


class SampleUnit(msgspec.Struct, frozen=True):
    """One unit of a sample, as it was when it was drawn."""

    place: int  # from 1; all people judge them in the same order, which is random
    key: str  # of its two texts
    score: float
    url_a: str  # where one occurrence stands
    url_b: str
    text_a: str
    text_b: str

    @property
    def subject(self) -> Subject:
        """What a verdict on it is about."""
        return Subject(SubjectKind.SEGMENT, self.key, self.url_a, self.url_b, self.text_a, self.text_b)

    @property
    def pair_key(self) -> str:
        """The key of the page pair where the unit stands."""
        return pair_key(self.url_a, self.url_b)

    @property
    def band(self) -> int:
        return band_of(self.score)


class SamplePerson(msgspec.Struct, frozen=True):
    """Somebody who judges a sample."""

    name: str
    judged: int
    done_at: float | None = None  # when they finished; None while they are at it


class Sample(msgspec.Struct, frozen=True):
    """A sample, and how far people are."""

    id: int
    name: str
    lang_a: Language
    lang_b: Language
    design: SampleDesign
    sizes: tuple[int, ...]  # units of the corpus in each score band when it was drawn, from 0 to 1
    by: str  # who had it drawn
    at: float  # seconds since the epoch
    units: int
    people: tuple[SamplePerson, ...]

    @property
    def is_through(self) -> bool:
        """Whether all have finished. Until then, nobody sees what others said."""
        return all(person.done_at is not None for person in self.people)

    @property
    def through_at(self) -> float:
        """What is said, or taken back, later is no independent opinion any more."""
        return max((person.done_at or 0.0 for person in self.people), default=0.0)

    def person(self, name: str) -> SamplePerson | None:
        return next((person for person in self.people if person.name == name), None)


class DrawnSample(msgspec.Struct, frozen=True):
    """What was drawn, before it is stored."""

    name: str
    lang_a: Language
    lang_b: Language
    design: SampleDesign
    sizes: tuple[int, ...]
    units: tuple[SampleUnit, ...]


def band_of(score: float) -> int:
    """Score bands are tenths; the last one includes 1."""
    return min(max(int(score * SCORE_RANGES), 0), SCORE_RANGES - 1)


class Samples:
    """All samples of a job. Any number of threads and processes may use the same file."""

    def __init__(self, path: Path) -> None:
        """The file of verdicts."""
        self._path = path
        self._verdicts = VerdictHistory(path)

    def add(self, drawn: DrawnSample, people: Sequence[str], by: str, at: float) -> int:
        """Give a sample to people, and return its number."""
        design, sizes = (msgspec.json.encode(value).decode() for value in (drawn.design, drawn.sizes))
        with writing(self._path, LAYOUT) as database:
            number = int(database.execute(_NEXT).fetchone()[0])
            database.execute(
                f"INSERT INTO samples ({_SAMPLE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (number, storable(drawn.name), drawn.lang_a, drawn.lang_b, design, sizes, by, at),
            )
            database.executemany(
                "INSERT INTO sample_people (sample, person) VALUES (?, ?)", [(number, name) for name in people]
            )
            database.executemany(
                f"INSERT INTO sample_units (sample, {_UNIT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(number, *_row(unit)) for unit in drawn.units],
            )
            return number

    def listed(self) -> list[Sample]:
        """The newest first."""
        with reading(self._path, LAYOUT) as database:
            rows = database.execute(f"SELECT {_SAMPLE} FROM samples WHERE {_THERE} ORDER BY id DESC").fetchall()
            return [_sample(database, row) for row in rows]

    def blind_to(self, person: str) -> frozenset[int]:
        """The samples in which that person must not see what others said, because somebody is still judging."""
        with reading(self._path, LAYOUT) as database:
            rows = database.execute(
                f"SELECT id FROM samples WHERE {_THERE} AND id IN (SELECT sample FROM sample_people WHERE person = ?)"
                " AND id IN (SELECT sample FROM sample_people WHERE done_at IS NULL)",
                (storable(person),),
            )
            return frozenset(number for (number,) in rows)

    def find(self, number: int) -> Sample | None:
        """None if there is none, or it was removed."""
        return next((sample for sample in self.listed() if sample.id == number), None)

    def units(self, sample: Sample) -> tuple[SampleUnit, ...]:
        with reading(self._path, LAYOUT) as database:
            statement = f"SELECT {_UNIT} FROM sample_units WHERE sample = ? ORDER BY place"
            return tuple(SampleUnit(*row) for row in database.execute(statement, (sample.id,)))

    def unit(self, sample: Sample, place: int) -> SampleUnit | None:
        with reading(self._path, LAYOUT) as database:
            statement = f"SELECT {_UNIT} FROM sample_units WHERE sample = ? AND place = ?"
            row = database.execute(statement, (sample.id, place)).fetchone()
            return SampleUnit(*row) if row else None

    def verdicts(self, sample: Sample) -> dict[str, dict[str, Verdict]]:
        """By person and key: what each said in the sample, on their own. What changed since all are through is not included."""
        said: dict[str, dict[str, Verdict]] = {person.name: {} for person in sample.people}
        with reading(self._path, LAYOUT) as database:
            until = sample.through_at if sample.is_through else None
            for person, key, verdict in database.execute(_SAID, (sample.id, until)):
                said.setdefault(person, {})[key] = Verdict(verdict)
        return said

    def left(self, sample: Sample, person: str) -> tuple[int, ...]:
        """The places of the units that this person has not judged."""
        with reading(self._path, LAYOUT) as database:
            statement = (
                "SELECT place FROM sample_units WHERE sample = ?1 AND key NOT IN"
                " (SELECT key FROM said WHERE sample = ?1 AND by = ?2 AND undone_at IS NULL) ORDER BY place"
            )
            return tuple(place for (place,) in database.execute(statement, (sample.id, person)))

    def judge(self, sample: Sample, verdicts: Mapping[SampleUnit, Verdict | None], by: str, at: float) -> bool:
        """None takes a verdict back. False if this person does not judge the sample, or has finished."""
        person = sample.person(by)
        if person is None or person.done_at is not None:
            return False
        for unit in [unit for unit, verdict in verdicts.items() if verdict is None]:
            self._verdicts.undo(SubjectKind.SEGMENT, unit.key, by, at, sample=sample.id)
        given = {unit.subject: verdict for unit, verdict in verdicts.items() if verdict is not None}
        if given:
            self._verdicts.say_in_sample(sample.id, given, by, at)
        return True

    def finish(self, sample: Sample, at: float, *, person: str | None = None) -> None:
        """That person has finished, whether some units are left or not; without a person, all who have not."""
        with writing(self._path, LAYOUT) as database:
            database.execute(
                "UPDATE sample_people SET done_at = ?1 WHERE sample = ?2 AND done_at IS NULL"
                " AND (?3 IS NULL OR person = ?3)",
                (at, sample.id, person),
            )

    def remove(self, sample: Sample, by: str, at: float) -> None:
        """It is not listed any more. The verdicts that were given in it stay."""
        with writing(self._path, LAYOUT) as database:
            database.execute(
                f"UPDATE samples SET removed_by = ?, removed_at = ? WHERE id = ? AND {_THERE}", (by, at, sample.id)
            )


# Each person's last word in the sample, as it was when all were through, or is now.
_SAID = """
    SELECT by, key, verdict FROM said WHERE id IN (
        SELECT max(id) FROM said WHERE sample = ?1 AND (undone_at IS NULL OR undone_at > ?2) GROUP BY by, key
    )
"""


def _sample(database: sqlite3.Connection, row: Sequence[Any]) -> Sample:
    number, name, lang_a, lang_b, design, sizes, by, at = row
    people = database.execute(
        "SELECT person, (SELECT count(DISTINCT key) FROM said WHERE said.sample = sample_people.sample AND by = person"
        " AND undone_at IS NULL), done_at FROM sample_people WHERE sample = ? ORDER BY person",
        (number,),
    )
    (units,) = database.execute("SELECT count(*) FROM sample_units WHERE sample = ?", (number,)).fetchone()
    return Sample(
        id=number,
        name=name,
        lang_a=lang_a,
        lang_b=lang_b,
        design=msgspec.json.decode(design, type=SampleDesign),
        sizes=msgspec.json.decode(sizes, type=tuple[int, ...]),
        by=by,
        at=at,
        units=units,
        people=tuple(SamplePerson(*person) for person in people),
    )


def _row(unit: SampleUnit) -> tuple[object, ...]:
    texts = (storable(text) for text in (unit.url_a, unit.url_b, unit.text_a, unit.text_b))
    return (unit.place, unit.key, unit.score, *texts)
