"""Which numbered pages of two languages belong together: their numbers differ by a constant, or have the same order."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from bitrawl.urls.marked_tokens import MarkedTokens, number_value

# All judgement.
MAX_GROUP = 1500  # numbers of one kind and side; more would cost their square
_OFFSETS = 60  # the commonest ones, that pairs are taken from
_FILLED = 0.5  # weight of a pair that only its place between others speaks for; one with an offset has 2 or more
_EMPHASIS = 1.5  # power of a weight: a chain through a few frequent offsets beats one through many rare ones
_CHANCE = 0.05  # that so many equal differences come about blindly


class Number(NamedTuple):
    """A URL's number of a kind of page."""

    kind: tuple[str, ...]
    value: int


def numbered_kind(one: MarkedTokens) -> Number | None:
    """The URL with its longest number masked and its marks taken out; None where it has no number."""
    places = [place for place, token in enumerate(one.tokens) if token.isdecimal()]
    if not places:
        return None
    masked = max(places, key=lambda place: (len(one.tokens[place]), place))
    kind = tuple(
        "#" if place == masked else token
        for place, token in enumerate(one.tokens)
        if token.isalnum() and not one.marks[place]
    )
    return Number(kind, number_value(one.tokens[masked]))


def aligned(first: Sequence[int], second: Sequence[int]) -> dict[tuple[int, int], float]:
    """Pairs of numbers with a weight: how many pairs near it move by as much, how well the order is kept.

    Numbers of translations are given out in runs: within a run the difference is constant, from run to run it drifts.
    """
    first, second = sorted(set(first))[:MAX_GROUP], sorted(set(second))[:MAX_GROUP]
    votes = Counter(b - a for a in first for b in second)
    if not votes or not _beyond_chance(max(votes.values()), first, second):
        return {}
    places_b = {value: place for place, value in enumerate(second)}
    weights: dict[tuple[int, int], float] = {}
    exists = set(second)
    for offset, count in votes.most_common(_OFFSETS):
        if count < 2:
            break
        for a in first:
            if a + offset in exists:
                weights[a, a + offset] = max(weights.get((a, a + offset), 0.0), float(count))
    chain = _longest_chain(weights, places_b)
    found = dict(chain)
    for a, b in _between(chain, first, second):
        found.setdefault((a, b), _FILLED)
    return found


def _beyond_chance(votes: int, first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether so many equal differences are more than numbers drawn blindly would have, somewhere (Poisson)."""
    span = first[-1] - first[0] + second[-1] - second[0] + 1
    rate = len(first) * len(second) / span
    if rate >= 1:  # numbered without gaps: any shift fits, and the order is all that there is to go by
        return True
    return math.log(span) + votes * math.log(rate) - math.lgamma(votes + 1) < math.log(_CHANCE)


def _longest_chain(weights: dict[tuple[int, int], float], places_b: dict[int, int]) -> dict[tuple[int, int], float]:
    """The heaviest set of pairs in which both numbers grow, by a Fenwick tree over the second."""
    tree: list[tuple[float, int]] = [(0.0, -1)] * (len(places_b) + 1)
    pairs = sorted(weights, key=lambda pair: (pair[0], -pair[1]))
    best: list[tuple[float, int]] = []
    for number, (a, b) in enumerate(pairs):
        weight, before = 0.0, -1
        place = places_b[b]
        while place > 0:
            if tree[place][0] > weight:
                weight, before = tree[place]
            place -= place & -place
        total = weight + weights[a, b] ** _EMPHASIS
        best.append((total, before))
        place = places_b[b] + 1
        while place < len(tree):
            if tree[place][0] < total:
                tree[place] = (total, number)
            place += place & -place
    chain: dict[tuple[int, int], float] = {}
    at = max(range(len(best)), key=lambda number: best[number][0], default=-1)
    while at >= 0:
        chain[pairs[at]] = weights[pairs[at]]
        at = best[at][1]
    return chain


def _between(chain: dict[tuple[int, int], float], first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Where as many numbers are left on both sides between two links of the chain, they go in order."""
    found = []
    links = [(-1, -1), *sorted(chain), (math.inf, math.inf)]
    for (low_a, low_b), (high_a, high_b) in pairwise(links):
        left = [value for value in first if low_a < value < high_a]
        right = [value for value in second if low_b < value < high_b]
        if left and len(left) == len(right):
            found += list(zip(left, right, strict=True))
    return found


def numbered_pairs(
    urls: Sequence[MarkedTokens], sides: Sequence[float], numbers: Sequence[int]
) -> dict[tuple[int, int], float]:
    """Pairs of URLs among those numbers, of different sides and one kind, with the weight of `aligned`."""
    groups: defaultdict[tuple[str, ...], tuple[dict[int, int], dict[int, int]]] = defaultdict(lambda: ({}, {}))
    for number in numbers:
        if sides[number] and (found := numbered_kind(urls[number])) is not None:
            groups[found.kind][sides[number] < 0].setdefault(found.value, number)
    pairs = {}
    for first, second in groups.values():
        if first and second:
            for (a, b), weight in aligned(list(first), list(second)).items():
                one, other = first[a], second[b]
                pairs[min(one, other), max(one, other)] = weight
    return pairs
