"""What follows from a sample that people have judged: precision by score band and as a whole, and how far people agree."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean

import msgspec

from bitrawl.corpus.sampling import SCORE_RANGES, HumanReview
from bitrawl.model import Verdict
from bitrawl.review.statistics import Estimate, ReviewerAgreement, Stratum, agreement, estimate
from bitrawl.store.samples import Sample, Samples, SampleUnit
from bitrawl.store.verdicts import Judgement, SubjectKind, VerdictHistory


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
