"""Samples for people: the one way to draw one, and what follows from it once they have judged it.

A sample is even over sites and score ranges, the same for the same seed, and has no entry twice. What follows is the
precision by score band and as a whole, and how far people agree.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from heapq import heappop, heappush
from itertools import combinations, count
from pathlib import Path
from statistics import fmean
from typing import Generic, TypeVar

import msgspec

from bitrawl.corpus import HumanReview
from bitrawl.model import Verdict
from bitrawl.review.statistics import Estimate, ReviewerAgreement, Stratum, agreement, estimate
from bitrawl.store.samples import SCORE_RANGES, Sample, Samples, SampleUnit
from bitrawl.store.verdicts import Judgement, SubjectKind, VerdictHistory

Entry = TypeVar("Entry")
Place = tuple[str, float, tuple[str, ...]]
"""The site and the score of an entry, and the texts that tell it from others."""

_Stratum = tuple[str, int]
"""A site and a score range."""


class BandResult(msgspec.Struct, frozen=True):
    """The units of one range of scores."""

    least: float
    most: float
    size: int  # units of the corpus
    judged: int
    accepted: int
    precision: Estimate | None  # None if nothing was judged


class ThresholdResult(msgspec.Struct, frozen=True):
    """What the corpus would be with a minimum score."""

    least: float
    size: int  # units that would stay
    precision: Estimate | None


class SampleResults(msgspec.Struct, frozen=True):
    """What follows from a sample that all have finished."""

    precision: Estimate | None  # of the corpus from which it was drawn; None if nothing was judged
    bands: tuple[BandResult, ...]  # those that have units, from the lowest score
    thresholds: tuple[ThresholdResult, ...]  # the first is the floor of the sample
    undecided: int  # units on which people differ: they count as wrong until somebody resolves that
    agreements: tuple[ReviewerAgreement, ...]  # of each two people


def results(samples: Samples, history: VerdictHistory, sample: Sample) -> SampleResults:
    """Agreement is about what people said on their own. Precision is about what stands now: a conflict that was resolved counts
    as it was resolved.
    """
    units, by_person = samples.units(sample), samples.verdicts(sample)
    keys = {key for verdicts in by_person.values() for key in verdicts}
    judgements = history.judgements(SubjectKind.SEGMENT, keys)
    judged = [unit for unit in units if unit.key in judgements]
    bands = tuple(_bands(sample, judged, judgements))
    return SampleResults(
        precision=estimate(_strata(bands)),
        bands=bands,
        thresholds=tuple(
            ThresholdResult(above[0].least, sum(band.size for band in above), estimate(_strata(above)))
            for above in (bands[first:] for first in range(len(bands)))
        ),
        undecided=sum(judgements[unit.key].is_conflict for unit in judged),
        agreements=tuple(_agreements(by_person)),
    )


def human_reviews(path: Path) -> dict[str, HumanReview]:
    """By the name of the corpus: what the last sample tells that all have finished. `path` is the file of verdicts."""
    samples, history, reviews = Samples(path), VerdictHistory(path), dict[str, HumanReview]()
    for sample in samples.listed():
        name = f"{sample.lang_a}-{sample.lang_b}"
        if not sample.is_through or name in reviews:
            continue
        outcome = results(samples, history, sample)
        if found := outcome.precision:
            kappas = [both.kappa for both in outcome.agreements if both.kappa is not None]
            kappa = fmean(kappas) if kappas else None  # of more than two people, as Light 1971
            people = sum(bool(own) for own in samples.verdicts(sample).values())
            rests = found.judged, people, kappa, sample.design.floor, sample.at
            reviews[name] = HumanReview(found.share, found.low, found.high, *rests)
    return reviews


def _bands(sample: Sample, judged: Sequence[SampleUnit], judgements: Mapping[str, Judgement]) -> Iterator[BandResult]:
    for number, size in enumerate(sample.sizes):
        if not size:
            continue
        units = [unit for unit in judged if unit.band == number]
        accepted = sum(judgements[unit.key].standing is Verdict.ACCEPT for unit in units)
        least = max(number / SCORE_RANGES, sample.design.floor)
        precision = estimate([Stratum(size, len(units), accepted)])
        yield BandResult(least, (number + 1) / SCORE_RANGES, size, len(units), accepted, precision)


def _strata(bands: Sequence[BandResult]) -> list[Stratum]:
    return [Stratum(band.size, band.judged, band.accepted) for band in bands]


def _agreements(by_person: Mapping[str, Mapping[str, Verdict]]) -> Iterator[ReviewerAgreement]:
    """Of those who have judged a unit in common."""
    for first, second in combinations(sorted(by_person), 2):
        both = by_person[first].keys() & by_person[second].keys()
        if both:
            yield agreement(first, second, [(by_person[first][key], by_person[second][key]) for key in sorted(both)])


class SpreadSample(Generic[Entry]):
    """A sample of entries that are offered one by one: the same number from each site and score range, sorted by these.

    A stratum with fewer entries gives all that it has.

    Each unit has a random number. A stratum keeps its units with the smallest numbers.

    When one unit too many is kept, the largest stratum drops its last. A stratum that has dropped a unit never again
    takes a unit with a larger number, so its units are a random choice of all that it had: the level to which strata
    are filled only falls. If there are more strata than places, those with the smallest numbers of their own stay.
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        self._size = size
        self._numbers: set[int] = set()  # of what is kept
        self._salt = str(seed).encode()
        self._kept: dict[_Stratum, list[tuple[int, int, float, Entry]]] = {}  # heaps, the largest number on top
        self._limits: dict[_Stratum, int] = {}  # of the strata that have dropped a unit
        self._last_stratum = 1 << 64  # strata from this number on have been dropped
        self._total = 0
        self._order = count()  # so that no two entries are ever compared

    @classmethod
    def drawn(
        cls, entries: Iterable[Entry], size: int, place: Callable[[Entry], Place], *, seed: int = 0
    ) -> list[Entry]:
        """At most `size` entries; the order in which they come does not matter. They are read once, and `size` of them kept."""
        sample = cls(size, seed)
        for entry in entries:
            sample.offer(entry, *place(entry))
        return sample.entries()

    def offer(self, entry: Entry, site: str, score: float, texts: tuple[str, ...]) -> None:
        stratum = (site, min(int(score * SCORE_RANGES), SCORE_RANGES - 1))
        number = self._number(*texts)
        if number >= self._limits.get(stratum, 1 << 64) or number in self._numbers:
            return
        if stratum not in self._kept and self._of_stratum(stratum) >= self._last_stratum:
            return
        self._numbers.add(number)
        heappush(self._kept.setdefault(stratum, []), (-number, next(self._order), score, entry))
        self._total += 1
        if self._total > self._size:
            self._give_one_up()

    def _give_one_up(self) -> None:
        largest = max(self._kept, key=lambda stratum: (len(self._kept[stratum]), self._of_stratum(stratum)))
        number, _, _, _ = heappop(self._kept[largest])
        self._total -= 1
        self._numbers.discard(-number)
        self._limits[largest] = -number
        if not self._kept[largest]:
            del self._kept[largest], self._limits[largest]
            self._last_stratum = self._of_stratum(largest)

    def entries(self) -> list[Entry]:
        return [
            entry
            for _, kept in sorted(self._kept.items())
            for _, _, _, entry in sorted(kept, key=lambda row: (row[2], -row[0]))
        ]

    def _of_stratum(self, stratum: _Stratum) -> int:
        return self._number(stratum[0], str(stratum[1]))

    def _number(self, *texts: str) -> int:
        data = "\0".join(texts).encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(data, digest_size=8, key=self._salt).digest(), "big")
