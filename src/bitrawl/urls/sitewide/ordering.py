"""Which numbered pages of two languages belong together: their numbers keep a step, or small steps, and their order."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.urls.marked_tokens import MarkedTokens, number_value
from bitrawl.urls.sitewide.candidates import UrlNumbers, near_keys

# All judgement; the models of both rounds were trained with them.
MAX_GROUP = 1500  # numbers of one kind and side; more would cost their square
_COMPARED = 4_000_000  # numbers with numbers, of all templates together
_FEWEST = 3  # numbers of a template that are a run
_PLACES = 3  # numbers of a URL that may be the one that counts its pages, from the end
_ALIKE = 6  # templates that differ in one place; more are categories
_WINDOW = 40  # steps on either side of one that tell how often chance makes it
_NEAR = 5  # steps beside it that do not count as chance
_STEPS = 80  # the likeliest ones, that pairs are taken from
_SMALL = 3.0  # a step that is soon after the original, in numbers
_SMALL_VOTES, _BLIND, _CHANCE = 6.0, 0.3, 0.6  # what a small step, any step, and chance are given beside the votes
_FILLED = 0.1  # odds of a pair that only its place between others speaks for
_VOTED = 60  # the commonest steps, where languages are known
_EMPHASIS = 1.5  # power of a count: a chain through a few frequent steps beats one through many rare ones
_ONLY_PLACE = 0.5  # votes of a pair that only its place between others speaks for
_BLINDLY = 0.05  # chance that so many equal differences come about blindly
_ROUNDS = 2  # the steps of the chain are counted and weighed again


Runs = tuple[dict[int, int], dict[int, int]]  # URLs by their numbers, of either side


class Number(NamedTuple):
    """A URL's number of a kind of page."""

    kind: tuple[str, ...]
    value: int


class Placed(NamedTuple):
    """How well two numbers go together."""

    odds: float  # logarithm: how much oftener the two are as far apart as chance would have it
    run: float  # the same of all pairs of their run, by the numbers that could have been paired
    votes: float  # how many of two languages, told by marks, are as far apart in the same order

    def beside(self, other: "Placed") -> "Placed":
        """What either says."""
        return Placed(*map(max, self, other))


UNPLACED = Placed(0.0, 0.0, 0.0)

Align = Callable[[Iterable[int], Iterable[int]], dict[tuple[int, int], Placed]]


def numbered_kind(one: MarkedTokens) -> Number | None:
    """The URL with its longest number masked and its marks taken out; None where it has no number."""
    masked = _longest_number(one)
    if masked is None:
        return None
    kind = tuple(
        "#" if place == masked else token
        for place, token in enumerate(one.tokens)
        if token.isalnum() and not one.marks[place]
    )
    return Number(kind, number_value(one.tokens[masked]))


def _longest_number(one: MarkedTokens) -> int | None:
    places = [place for place, token in enumerate(one.tokens) if token.isdecimal()]
    return max(places, key=lambda place: (len(one.tokens[place]), place)) if places else None


def aligned(first: Iterable[int], second: Iterable[int]) -> dict[tuple[int, int], Placed]:
    """Pairs of numbers, in order, one to one: the chain of steps that are likeliest beside what chance makes.

    Translations get their numbers soon after their originals, or in runs: a step is common in the list, or small.
    """
    ones, others = sorted(set(first))[:MAX_GROUP], sorted(set(second))[:MAX_GROUP]
    votes = _votes(ones, others)
    places = {value: place for place, value in enumerate(others)}
    chain: dict[tuple[int, int], float] = {}
    counted: Mapping[int, float] = votes
    for _ in range(_ROUNDS):
        odds = _odds(counted, votes)
        weights = {(a, a + step): weight for step, weight in odds.items() for a in ones if a + step in places}
        chain = _longest_chain(weights, places)
        counted = Counter(b - a for a, b in chain)
    run = sum(chain.values()) / (min(len(ones), len(others)) + 2)
    found = {pair: Placed(weight, run, 0.0) for pair, weight in chain.items()}
    for pair in _between(chain, ones, others):
        found.setdefault(pair, Placed(_FILLED, run, 0.0))
    return found


def _votes(first: Sequence[int], second: Sequence[int]) -> Counter[int]:
    steps, counts = _steps(first, second)
    return Counter(dict(zip(steps.tolist(), counts.tolist(), strict=True)))


def _steps(first: Sequence[int], second: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each difference of one to the other, in order, and how often it occurs."""
    return np.unique(np.subtract.outer(np.array(second), np.array(first)).ravel(), return_counts=True)


def _odds(counted: Mapping[int, float], votes: Counter[int]) -> dict[int, float]:
    """Of each step that is likelier than chance: by how often it is there, and by how small it is."""
    found = {}
    chance = _by_chance(votes)
    for step, background in chance.items():
        small = _SMALL_VOTES * math.exp(-abs(step) / _SMALL)
        odds = math.log((counted.get(step, 0.0) + small + _BLIND) / (background + _CHANCE))
        if odds > 0:
            found[step] = odds
    return dict(sorted(found.items(), key=lambda item: (-item[1], abs(item[0]), item[0]))[:_STEPS])


def _by_chance(votes: Counter[int]) -> dict[int, float]:
    """Of each step how often its neighbours are there, the nearest aside."""
    steps = np.array(sorted(votes), np.int64)
    sums = np.concatenate([[0], np.cumsum([votes[step] for step in steps.tolist()])])

    def within(width: int) -> NDArray[np.float64]:
        low, high = np.searchsorted(steps, steps - width), np.searchsorted(steps, steps + width, side="right")
        return np.asarray(sums[high] - sums[low], np.float64)

    background = (within(_WINDOW) - within(_NEAR)) / (2 * (_WINDOW - _NEAR))
    return dict(zip(steps.tolist(), background.tolist(), strict=True))


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
        total = weight + weights[a, b]
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


def voted(first: Iterable[int], second: Iterable[int]) -> dict[tuple[int, int], Placed]:
    """Pairs of numbers of which one is known to be in the one language, one in the other: the commonest steps are believed.

    Numbers may have drifted far apart, from run to run, so that no step beats chance by much.
    """
    ones, others = sorted(set(first))[:MAX_GROUP], sorted(set(second))[:MAX_GROUP]
    steps, votes = _steps(ones, others)
    if not _beyond_chance(int(votes.max()), ones, others):
        return {}
    places = {value: place for place, value in enumerate(others)}
    common = _most_common(zip(steps[votes >= 2].tolist(), votes[votes >= 2].tolist(), strict=True))[:_VOTED]
    counts = {(a, a + step): float(count) for step, count in common for a in ones if a + step in places}
    weights = {pair: count**_EMPHASIS for pair, count in counts.items()}
    chain = _longest_chain(weights, places)
    found = {pair: Placed(0.0, 0.0, counts[pair]) for pair in chain}
    for pair in _between(chain, ones, others):
        found.setdefault(pair, Placed(0.0, 0.0, _ONLY_PLACE))
    return found


def _most_common(votes: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted(votes, key=lambda item: (-item[1], abs(item[0]), item[0]))


def _beyond_chance(votes: int, first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether so many equal differences are more than numbers drawn blindly would have, somewhere (Poisson)."""
    span = first[-1] - first[0] + second[-1] - second[0] + 1
    rate = len(first) * len(second) / span
    if rate >= 1:  # numbered without gaps: any shift fits, and the order is all that there is to go by
        return True
    return math.log(span) + votes * math.log(rate) - math.lgamma(votes + 1) < math.log(_BLINDLY)


def _between(chain: Iterable[tuple[int, int]], first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
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
) -> dict[UrlNumbers, Placed]:
    """Pairs of URLs among those numbers, of different sides and one kind."""
    groups: defaultdict[tuple[str, ...], Runs] = defaultdict(lambda: ({}, {}))
    for number in numbers:
        if sides[number] and (found := numbered_kind(urls[number])) is not None:
            groups[found.kind][sides[number] < 0].setdefault(found.value, number)
    return _placed(((first, second) for first, second in groups.values() if first and second), voted)


def pairs_of_runs(urls: Sequence[MarkedTokens], numbers: Sequence[int]) -> dict[UrlNumbers, Placed]:
    """Pairs of URLs among those numbers whose addresses, numbers aside, differ in one place: whatever it reads."""
    runs: defaultdict[tuple[str, ...], dict[int, int]] = defaultdict(dict)
    some: dict[tuple[str, ...], MarkedTokens] = {}
    for number in numbers:
        one = urls[number]
        for masked in [place for place, token in enumerate(one.tokens) if token.isdecimal()][-_PLACES:]:
            template = (*one.tokens[:masked], "#", *one.tokens[masked + 1 :])
            runs[template].setdefault(number_value(one.tokens[masked]), number)
            some.setdefault(template, one)
    templates = [template for template in sorted(runs) if len(runs[template]) >= _FEWEST]
    ones = [some[template]._replace(tokens=template, bare=()) for template in templates]
    return _placed(((runs[templates[a]], runs[templates[b]]) for a, b in _alike(ones)), aligned)


def _alike(templates: Sequence[MarkedTokens]) -> list[UrlNumbers]:
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for number, one in enumerate(templates):
        for key in set(map(hash, near_keys(one))):
            groups[key].append(number)
    found = {pair for group in groups.values() if len(group) <= _ALIKE for pair in combinations(group, 2)}
    return sorted(found)


def _placed(groups: Iterable[Runs], align: Align) -> dict[UrlNumbers, Placed]:
    found: dict[UrlNumbers, Placed] = {}
    for first, second in _affordable(groups):
        for (a, b), placed in align(first, second).items():
            pair = (min(first[a], second[b]), max(first[a], second[b]))
            if pair[0] != pair[1]:
                found[pair] = placed.beside(found.get(pair, placed))
    return found


def _affordable(groups: Iterable[Runs]) -> Iterator[Runs]:
    left = _COMPARED
    for first, second in groups:
        left -= min(len(first), MAX_GROUP) * min(len(second), MAX_GROUP)
        if left < 0:
            return
        yield first, second
