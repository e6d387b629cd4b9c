"""What thresholds let into a corpus: units at every score, what each rule takes out, and which segment pairs show it.

Everything is counted from one row of numbers for each segment pair (`store/reading_index.py`), so that no text is read. A unit is what an export writes:
nearly equal segment pairs are one (`merger.py`), and one that gets in is enough.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from bitrawl.corpus import Anonymise
from bitrawl.mining import Flag, Measures, Rejection, SegmentKind, Thresholds, Truth, decided_by_people
from bitrawl.model import Verdict
from bitrawl.store.reading_index import LEFT_OUT, Rows, signed

STEPS = 100
"""Units are counted with a minimum score of 0, of 1, and of all hundredths between them."""
Numbers = npt.NDArray[np.int64]
ScoredRow = tuple[float, int]
"""A score, and the number of a row that represents its unit."""
_SAID = (None, Verdict.ACCEPT, Verdict.REJECT)  # by the numbers of the columns that hold verdicts
_LET_IN = 2.0  # more than any score
_OPEN, _IN, _OUT = range(3)  # whether thresholds decide, or people have decided


class Rule(msgspec.Struct, frozen=True):
    """One of the thresholds; each flag that keeps a segment pair out is a rule of its own."""

    key: str  # of the table [judge]
    flag: str = ""  # or its beginning


class RuleFacts(msgspec.Struct, frozen=True):
    """What a rule takes out, in units."""

    rule: Rule
    takes_out: int  # units that are out, and that this rule refuses at least once
    alone: int  # of these, what would get in without this rule
    is_set: bool = True  # otherwise a flag that is not refused: what it would take out if it were


class SelectionFacts(msgspec.Struct, frozen=True):
    """What gets into a corpus, in units."""

    found: int  # with no thresholds and no verdicts
    units: int
    words: tuple[int, int]  # on the two sides
    let_in: int  # of these, by people, whatever they score
    by_score: tuple[int, ...]  # with a minimum score of 0.00, 0.01 … 1.00, and all else the same
    words_by_score: tuple[tuple[int, int], ...]
    rules: tuple[RuleFacts, ...]
    accepted: int  # that only verdicts let in
    rejected: int  # that only verdicts keep out


class FoundSegments:
    """All segment pairs of a corpus, in the order of the export, and what people have said about them.

    `page_verdicts` has the `said_number` of each row.
    """

    def __init__(
        self,
        rows: Rows,
        kinds: Mapping[int, SegmentKind],
        page_verdicts: npt.ArrayLike,
        verdicts: Mapping[str, Verdict],
        anonymise: Anonymise = Anonymise.OFF,
    ) -> None:
        is_out = by_kind(rows["kind"], kinds, lambda kind: kind.is_empty)
        if anonymise is Anonymise.DROP:
            is_out = is_out | (rows["public"] != rows["near"])
        if anonymise is Anonymise.REPLACE:
            is_out = is_out | (rows["public"] == LEFT_OUT)
        self._near = "public" if anonymise is Anonymise.REPLACE else "near"
        order = np.flatnonzero(~is_out)
        # What becomes one unit stands together, in the order of the export.
        self.numbers: Numbers = order[np.argsort(rows[self._near][order], kind="stable")]
        self.rows = np.take(rows, self.numbers)  # 17 times as fast as an index, for rows of several columns
        self.kinds = kinds
        self._said = (
            np.asarray(page_verdicts, dtype=np.int8)[self.numbers],
            _verdict_column(self.rows["key"], verdicts),
        )

    def decided(self, *, accepted_only: bool) -> npt.NDArray[np.int8]:
        """By row, what people have decided."""
        table = np.array(
            [[_decision(of_pages, said, accepted_only=accepted_only) for said in _SAID] for of_pages in _SAID]
        )
        return np.asarray(table[self._said], dtype=np.int8)

    def unit_starts(self, *, keep_duplicates: bool) -> Numbers:
        """The first row of each unit."""
        near = self.rows[self._near]
        if keep_duplicates or not len(near):
            return np.arange(len(near))
        return np.flatnonzero(np.concatenate(([True], near[1:] != near[:-1])))

    def words(self, side: str) -> npt.NDArray[np.float64]:
        """By row; 0 where they were not counted."""
        words = self.rows[side].astype(np.float64)
        return np.where(np.isfinite(words), words, 0.0)

    def of_kind(self, wanted: Callable[[SegmentKind], bool]) -> Truth:
        return by_kind(self.rows["kind"], self.kinds, wanted)


def _decision(of_pages: Verdict | None, verdict: Verdict | None, *, accepted_only: bool) -> int:
    decided = decided_by_people(of_pages, verdict, accepted_only=accepted_only)
    return _OPEN if decided is None else _IN if decided is Verdict.ACCEPT else _OUT


def said_number(verdict: Verdict | None) -> int:
    """What stands for a verdict in a column."""
    return _SAID.index(verdict)


def by_kind(
    numbers: npt.NDArray[np.int32], kinds: Mapping[int, SegmentKind], wanted: Callable[[SegmentKind], bool]
) -> Truth:
    """Which of these numbers of kinds are of one that is wanted."""
    table = np.zeros(max(kinds, default=0) + 1, dtype=np.bool_)
    table[[number for number, kind in kinds.items() if wanted(kind)]] = True
    return np.asarray(table[numbers])


def _verdict_column(keys: Numbers, verdicts: Mapping[str, Verdict]) -> npt.NDArray[np.int8]:
    column = np.zeros(len(keys), dtype=np.int8)
    if verdicts:
        said = sorted((signed(key), said_number(verdict)) for key, verdict in verdicts.items())
        known, numbers = np.array([key for key, _ in said]), np.array([number for _, number in said], dtype=np.int8)
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        column[:] = np.where(known[places] == keys, numbers[places], 0)
    return column


class Selection:
    """What these thresholds let in of what was found."""

    def __init__(self, found: FoundSegments, thresholds: Thresholds, *, accepted_only: bool = False) -> None:
        self._found = found
        self._thresholds = thresholds
        self._starts = found.unit_starts(keep_duplicates=thresholds.duplicates)
        self._unit_of = np.repeat(np.arange(len(self._starts)), np.diff(np.append(self._starts, len(found.rows))))
        decided = found.decided(accepted_only=accepted_only)
        self._open, self._let_in = decided == _OPEN, decided == _IN
        self._refused = self._refusals()
        self._refusing = sum(self._refused.values(), np.zeros(len(found.rows), dtype=np.int16))
        self._inside = self._let_in | (self._open & (self._refusing == 0))
        self._units_in = self._units(self._inside)

    @property
    def units(self) -> int:
        return _count(self._units_in)

    def facts(self) -> SelectionFacts:
        by_score, words_by_score = self._by_score(np.arange(STEPS + 1) / STEPS)
        _, (words,) = self._by_score(np.array([self._thresholds.score]))
        without_verdicts = self._units(self._refusing == 0)
        return SelectionFacts(
            len(self._starts),
            self.units,
            words,
            _count(self._best[0] >= _LET_IN),
            tuple(by_score),
            tuple(words_by_score),
            tuple(self._rule_facts()),
            _count(self._units_in & ~without_verdicts),
            _count(without_verdicts & ~self._units_in),
        )

    def around(self, each: int) -> tuple[list[ScoredRow], list[ScoredRow]]:
        """Units that get in by the smallest margin, and units that only the score keeps out, by the smallest.

        The nearest come first. What people have decided is not among them.
        """
        best, representative = self._best
        margins = best - self._thresholds.score
        by_thresholds = (best >= 0) & ~self._let_in[representative]
        nearest = (
            _smallest(margins, by_thresholds & (margins >= 0), each),
            _smallest(-margins, by_thresholds & (margins < 0), each),
        )
        above, below = (zip(best[one].tolist(), self._numbers(representative[one]), strict=True) for one in nearest)
        return list(above), list(below)

    def examples(self, rule: Rule, most: int) -> list[int]:
        """Rows that the rule refuses, first those that it takes out alone; of a rule that is not set, what it would take out."""
        if rule not in self._refused:
            if not rule.flag:
                return []
            return self._numbers(self._first_rows(self._inside, self._lost_with(rule.flag))[:most])
        alone = self._first_rows(self._refused_alone(rule), ~self._units_in)
        others = self._first_rows(
            self._open & self._refused[rule], ~self._units_in & ~self._units(self._refused_alone(rule))
        )
        return self._numbers(np.concatenate((alone, others))[:most])

    def _refusals(self) -> dict[Rule, Truth]:
        """By rule, the rows that it refuses."""
        rows, thresholds = self._found.rows, self._thresholds
        words = np.minimum(rows["words_a"], rows["words_b"])
        measures = Measures(rows["score"], rows["coverage"], rows["length_ratio"], rows["language"], words)
        refused = {_rule(reason): np.asarray(is_low) for reason, is_low in measures.too_low(thresholds).items()}
        refused[Rule("types")] = self._found.of_kind(lambda kind: not kind.is_of_type(thresholds.types))
        return refused | {Rule("refuse", flag): self._has_flag(flag) for flag in thresholds.refuse}

    def _has_flag(self, beginning: str) -> Truth:
        return self._found.of_kind(lambda kind: bool(kind.flags_like(beginning)))

    def _rule_facts(self) -> Iterable[RuleFacts]:
        for rule, refused in self._refused.items():
            takes_out = _count(self._units(self._open & refused) & ~self._units_in)
            alone = _count(self._units(self._refused_alone(rule)) & ~self._units_in)
            yield RuleFacts(rule, takes_out, alone)
        for flag in Flag:
            if not flag.startswith(self._thresholds.refuse):
                lost = _count(self._lost_with(flag))
                yield RuleFacts(Rule("refuse", flag), lost, lost, is_set=False)

    def _lost_with(self, flag: str) -> Truth:
        """The units that would be lost if that flag were refused too."""
        lost: Truth = self._units_in & ~self._units(self._let_in | (self._inside & ~self._has_flag(flag)))
        return lost

    def _refused_alone(self, rule: Rule) -> Truth:
        alone: Truth = self._open & self._refused[rule] & (self._refusing == 1)
        return alone

    def _units(self, rows: Truth) -> Truth:
        """Of which at least one of these rows is."""
        units = np.zeros(len(self._starts), dtype=np.bool_)
        units[self._unit_of[rows]] = True
        return units

    @cached_property
    def _best(self) -> tuple[npt.NDArray[np.float64], Numbers]:
        """Of each unit, the highest score of the rows that no rule but that of the score refuses, and the first such row.

        It is negative where there is none, and at least 2 where people have let one in: such a row represents the others.
        """
        others = self._refusing - self._refused[_SCORE]
        score = np.where(self._open & (others == 0), self._found.rows["score"], -1.0)
        score = np.where(self._let_in, self._found.rows["score"] + _LET_IN, score)
        if not len(score):
            return score, np.empty(0, dtype=np.int64)
        best = np.maximum.reduceat(score, self._starts)
        highest = np.flatnonzero(score == best[self._unit_of])
        return best, highest[np.searchsorted(highest, self._starts)]

    def _by_score(self, scores: npt.NDArray[np.float64]) -> tuple[list[int], list[tuple[int, int]]]:
        """Units and words with each of these minimum scores, which are in rising order."""
        best, representative = self._best
        reached = np.searchsorted(scores, best, side="right")  # how many of them
        words = [self._found.words(side)[representative] for side in ("words_a", "words_b")]
        sums = [_sums_from(reached, weights, len(scores)) for weights in (np.ones(len(best)), *words)]
        return sums[0], list(zip(sums[1], sums[2], strict=True))

    def _first_rows(self, rows: Truth, units: Truth) -> Numbers:
        """Of each of these units that has such rows, the first."""
        places = np.flatnonzero(rows)
        of = self._unit_of[places]
        is_first = np.concatenate(([True], of[1:] != of[:-1])) if len(of) else np.empty(0, dtype=np.bool_)
        return np.asarray(places[is_first & units[of]])

    def _numbers(self, places: Numbers) -> list[int]:
        """Of rows as they were given."""
        numbers: list[int] = self._found.numbers[places].tolist()
        return numbers


def _rule(reason: Rejection) -> Rule:
    return Rule(reason.replace("-", "_"))


_SCORE = _rule(Rejection.SCORE)


def _count(units: Truth) -> int:
    return int(np.count_nonzero(units))


def _smallest(values: npt.NDArray[np.float64], wanted: Truth, most: int) -> Numbers:
    """The places of the smallest of these values. Rows are sorted by hashes: of equal values, any may be the first."""
    places = np.flatnonzero(wanted)
    if len(places) > most:
        places = places[values[places] <= np.partition(values[places], most)[most]]
    return np.asarray(places[np.argsort(values[places], kind="stable")[:most]])


def _sums_from(groups: Numbers, weights: npt.NDArray[np.float64], most: int) -> list[int]:
    """Of the weights of group 1 and above, of group 2 and above … up to the last."""
    sums = np.bincount(groups, weights, most + 1)[::-1].cumsum()[::-1]
    listed: list[int] = sums[1:].astype(np.int64).tolist()
    return listed
