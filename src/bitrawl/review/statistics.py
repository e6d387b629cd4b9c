"""What verdicts of people tell: a share with its interval, and how far two people agree."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import msgspec

from bitrawl.model import Verdict

Z = 1.959964  # of a normal distribution, for intervals of 95 %
FEW_UNITS = 50  # below them, one unit more or less changes kappa in its first digit
ONE_SIDED = 0.9  # of all verdicts are the same: then kappa says little (Feinstein and Cicchetti 1990)


class Estimate(msgspec.Struct, frozen=True):
    """A share, and the interval that holds the true one in 95 of 100 samples."""

    share: float
    low: float
    high: float
    judged: int  # units that it rests on


class Stratum(NamedTuple):
    """A part of a corpus, and what was seen of it."""

    size: int  # units of the corpus
    judged: int
    accepted: int


class ReviewerAgreement(msgspec.Struct, frozen=True):
    """How far two people agree who judged the same units."""

    first: str
    second: str
    units: int  # that both judged
    same: int  # on which they agree
    kappa: float | None  # Cohen 1960; None if chance alone makes them agree: both said the same about everything
    chance: float  # the share on which they would agree by chance
    is_few: bool  # too few units for kappa
    is_one_sided: bool  # nearly all verdicts are the same, so kappa is low or jumps though people agree

    @property
    def share(self) -> float:
        return self.same / self.units if self.units else 0.0


def wilson(share: float, n: float) -> tuple[float, float]:
    """The interval of a share of `n` draws (Wilson 1927). It stays between 0 and 1, and has a width even at its ends."""
    middle, spread = share + Z * Z / (2 * n), Z * sqrt(share * (1 - share) / n + (Z / (2 * n)) ** 2)
    scale = 1 + Z * Z / n
    return max((middle - spread) / scale, 0.0), min((middle + spread) / scale, 1.0)


def estimate(strata: Sequence[Stratum]) -> Estimate | None:
    """The share of accepted units in all strata together, each weighted by its size. None if nothing was judged.

    Of one stratum, the interval is Wilson's. Of several, it is Wilson's for the number of draws from one stratum that would
    be as exact. A stratum of which nothing was judged is taken for the next that was.
    """
    parts = _with_neighbours(strata)
    total = sum(part.size for part in parts)
    if not total:
        return None
    weights = [part.size / total for part in parts]
    share = sum(weight * part.accepted / part.judged for weight, part in zip(weights, parts, strict=True))
    # Laplace's estimate of each: with the plain share, a stratum without errors would seem certain.
    smooth = [(part.accepted + 1) / (part.judged + 2) for part in parts]
    variance = sum(
        weight * weight * chance * (1 - chance) / part.judged
        for weight, chance, part in zip(weights, smooth, parts, strict=True)
    )
    middle = sum(weight * chance for weight, chance in zip(weights, smooth, strict=True))
    low, high = wilson(share, middle * (1 - middle) / variance)
    return Estimate(share, low, high, sum(part.judged for part in parts))


def _with_neighbours(strata: Sequence[Stratum]) -> list[Stratum]:
    """Without strata of which nothing was judged: their units count for the next one, or else for the one before."""
    parts: list[Stratum] = []
    waiting = 0
    for part in strata:
        if part.judged:
            parts.append(part._replace(size=part.size + waiting))
            waiting = 0
        else:
            waiting += part.size
    if parts and waiting:
        parts[-1] = parts[-1]._replace(size=parts[-1].size + waiting)
    return parts


def agreement(first: str, second: str, verdicts: Sequence[tuple[Verdict, Verdict]]) -> ReviewerAgreement:
    """How far two people agree, by what each said about the same units."""
    units, same = len(verdicts), sum(one is other for one, other in verdicts)
    shares = [sum(both[side] is Verdict.ACCEPT for both in verdicts) / (units or 1) for side in (0, 1)]
    chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    kappa = (same / units - chance) / (1 - chance) if units and chance < 1 else None
    accepted = sum(shares) / 2
    is_one_sided = bool(units) and max(accepted, 1 - accepted) >= ONE_SIDED
    return ReviewerAgreement(first, second, units, same, kappa, chance, units < FEW_UNITS, is_one_sided)
