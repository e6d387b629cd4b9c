"""Which URLs of a site are compared at all: those that share something that few others have, or whose numbers run in step.

Shared keys are found by hash joins, so that the work grows with the number of URLs and not with its square: a key that
many URLs have joins nothing. Numbered pages of two languages belong together if their numbers keep a step, or small steps,
and their order.
"""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from bitrawl.text.arrays import Floats, Ints, bounds, distinct, firsts, places_in, ranges
from bitrawl.urls.tokens import MarkedTokens, Tokens, bare_tokens, is_word, number_value

UrlNumbers = tuple[int, int]  # two URLs of the list by their places in it, the smaller first

# All judgement: they bound the time of a list, 1.4 to 1.9 s for 10,000 URLs (lab/notes/url-pairs.md).
MAX_SHARING = 24  # URLs that a key may have; more tell nothing apart
MAX_PARTNERS = 10  # that are looked at for a URL
_FEWEST_PARTNERS = 4
# Where languages are known: with 10, F1 on openbsd-2009 and lilypond with translated slugs is the same, at 1.5 times the cost.
_PARTNERS_BETWEEN = 3
_PARTNERS = 40_000  # of all URLs together: the more there are, the fewer for each
_HEAD = 5  # letters by which cognates are found
_GLUED = 4  # letters that a site puts before a name, or after it
_BITS = 32  # of a number in a pair that is one number
_STRONG, _WEAK = 3.0, 1.0  # weights of a key that all but one token is in, and of a key of one to three words


def candidates(urls: Sequence[MarkedTokens], numbers: Sequence[int]) -> list[UrlNumbers]:
    """Pairs among those numbers, the smaller first; each URL's best by what they share."""
    weights: defaultdict[UrlNumbers, float] = defaultdict(float)
    for keys, worth in ((near_keys, _STRONG), (_content, _WEAK)):
        for group in _groups((number, keys(urls[number])) for number in sorted(numbers)):
            weight = worth / (len(group) - 1)
            for pair in combinations(group, 2):
                weights[pair] += weight
    few = max(_FEWEST_PARTNERS, min(MAX_PARTNERS, _PARTNERS // max(1, len(numbers))))
    pairs = sorted(weights)
    packed = np.fromiter((a << _BITS | b for a, b in pairs), np.int64)
    return _best(packed, np.fromiter(map(weights.__getitem__, pairs), np.float64), few)


Keys = Callable[[MarkedTokens], Iterator[object]]


class KeysOfUrls:
    """The hashed keys of URLs; remembered where a URL is compared in more than two languages."""

    def __init__(self, *, remember: bool = False) -> None:
        self._known: dict[tuple[Keys, Tokens, Tokens], array[int]] | None = {} if remember else None

    def of(self, urls: Iterable[MarkedTokens], keys: Keys) -> tuple[Ints, Ints]:
        """Those of one URL after the other, and how many each has."""
        flat, counts = array("q"), array("q")
        for url in urls:
            hashes = self._hashed(url, keys)
            flat.extend(hashes)
            counts.append(len(hashes))
        return np.array(flat, np.int64), np.array(counts, np.int64)

    def _hashed(self, url: MarkedTokens, keys: Keys) -> "array[int]":
        if self._known is None:
            return array("q", set(map(hash, keys(url))))
        place = keys, url.tokens, url.bare
        if place not in self._known:
            self._known[place] = array("q", set(map(hash, keys(url))))
        return self._known[place]


def candidates_between(
    urls: Sequence[MarkedTokens], first: Sequence[int], second: Sequence[int], keys: KeysOfUrls
) -> list[UrlNumbers]:
    """Pairs of a number of the first language with one of the second, where it is known which URL is in which."""
    numbers = np.array(first, np.int64), np.array(second, np.int64)
    pairs, weights = [np.zeros(0, np.int64)], [np.zeros(0)]
    for kind, worth in ((near_keys, _STRONG), (_content, _WEAK)):
        a, b, sharing = _sharing(*(keys.of([urls[number] for number in side], kind) for side in (first, second)))
        ends = numbers[0][a], numbers[1][b]
        pairs.append(np.minimum(*ends) << _BITS | np.maximum(*ends))
        weights.append(worth / (sharing - 1))
    compared, place = np.unique(np.concatenate(pairs), return_inverse=True)
    # The order of hashes differs from process to process, and with it the last digits of a sum.
    summed = np.bincount(place, np.concatenate(weights), len(compared)).astype(np.float64, copy=False)
    return _best(compared, summed.round(9), _PARTNERS_BETWEEN)


def ordered(a: int, b: int) -> UrlNumbers:
    return (a, b) if a < b else (b, a)


def _best(pairs: Ints, weights: Floats, count: int) -> list[UrlNumbers]:
    """Of pairs that ascend, those that are among the heaviest few of either of their URLs."""
    low, high = pairs >> _BITS, pairs & ((1 << _BITS) - 1)
    ends = np.concatenate([low, high])
    order = np.lexsort((np.tile(pairs, 2), -np.tile(weights, 2), ends))
    begins = firsts(ends[order])
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    best = distinct(order[rank < count] % max(1, len(pairs)))
    return list(zip(low[best].tolist(), high[best].tolist(), strict=True))


def _sharing(first: tuple[Ints, Ints], second: tuple[Ints, Ints]) -> tuple[Ints, Ints, Ints]:
    """For each key that few have, all who have it of either side with each other: their places, and how many have it."""
    shared = np.intersect1d(distinct(first[0]), distinct(second[0]), assume_unique=True)
    owners, starts, counts = [], [], []
    for keys, of_each in (first, second):
        places, having = places_in(shared, keys), np.repeat(np.arange(len(of_each)), of_each)
        having, places = having[places >= 0], places[places >= 0]
        owners.append(having[np.argsort(places, kind="stable")])
        counts.append(np.bincount(places, minlength=len(shared)))
        starts.append(bounds(counts[-1])[:-1])
    few = counts[0] + counts[1] <= MAX_SHARING
    (many_a, many_b), (start_a, start_b) = ([side[few] for side in sides] for sides in (counts, starts))
    products = many_a * many_b
    place = ranges(np.zeros(len(products), np.int64), products)  # in the table of its key, row by row
    width = np.repeat(many_b, products)
    a = owners[0][np.repeat(start_a, products) + place // width]
    b = owners[1][np.repeat(start_b, products) + place % width]
    return a, b, np.repeat(many_a + many_b, products)


def _groups(keys_of_each: Iterable[tuple[int, Iterator[object]]], most: int = MAX_SHARING) -> Iterator[list[int]]:
    """The numbers that share a key, where no more than so many do."""
    numbers: defaultdict[int, list[int]] = defaultdict(list)
    for number, keys in keys_of_each:
        for key in set(map(hash, keys)):
            numbers[key].append(number)
    return (group for group in numbers.values() if 2 <= len(group) <= most)


def near_keys(url: MarkedTokens) -> Iterator[object]:
    """Keys that URLs share which differ in one token, in one that is put in, in what is glued to one, or in their marks."""
    tokens = url.tokens
    yield tokens
    for place, token in enumerate(tokens):
        if not token.isalnum():
            continue
        before, after = tokens[:place], tokens[place + 1 :]
        yield (*before, "*", *after)
        yield (*tokens[: max(0, place - 1)], *after)
        yield (*before, *after)
        if place and tokens[place - 1] == "/":
            yield (*before, *after[1:])
        if place > url.host_end and is_word(token):
            yield from _unglued(hash(before), token, hash(after))
    words = url.bare
    yield "bare", words
    for place, token in enumerate(words):
        yield "bare", words[:place], "*", words[place + 1 :]
        if len(token) > 1 and is_word(token):
            yield "bare", (*words[:place], token[1:], *words[place + 1 :])
            yield "bare", (*words[:place], token[:-1], *words[place + 1 :])
        elif len(token) <= 2:
            yield "bare", (*words[:place], *words[place + 1 :])
    yield from _without_parameter(url)


def _unglued(before: int, token: str, after: int) -> Iterator[object]:
    """The word without up to so many letters at its beginning, or at its end; and as it is, for one that has none."""
    for cut in range(min(_GLUED, len(token) - 2) + 1):
        yield before, "^", token[cut:], after
        yield before, token[: len(token) - cut], "$", after


def _without_parameter(url: MarkedTokens) -> Iterator[object]:
    """The address with each of its parameters masked, and with each taken out, in whatever order they stand."""
    if "?" not in url.tokens:
        yield "query", hash(url.tokens), ()
        return
    place = url.tokens.index("?")
    path = hash(url.tokens[:place])
    parameters = sorted(set("".join(url.tokens[place + 1 :]).split("&")))
    yield "query", path, tuple(parameters)
    for number, parameter in enumerate(parameters):
        rest = (*parameters[:number], *parameters[number + 1 :])
        yield "query", path, rest
        yield "query", path, rest, parameter.partition("=")[0]


def _content(url: MarkedTokens) -> Iterator[object]:
    """Keys that URLs share which have words or numbers in common; without order, without marks."""
    words = url.bare
    for place, token in enumerate(words):
        yield token
        yield tuple(words[place : place + 2])
        yield tuple(words[place : place + 3])
        if is_word(token) and len(token) > _HEAD:
            yield "head", token[:_HEAD]


def with_changes_joined(urls: Sequence[MarkedTokens], changes: Iterable[tuple[str, str]]) -> list[MarkedTokens]:
    """With tokens that stand for each other called the same, and those that only one language has taken out.

    URLs that differ in several common changes of the site at once then share a key as if it were one.
    """
    names: dict[str, str] = {}
    for old, new in changes:
        if old.isalnum() and new.isalnum():
            first, second = sorted((_root(names, old), _root(names, new)))
            if first != second:
                names[second] = first
        else:
            tokens = (text.strip("/-_.^$") for text in (old, new))
            names.update((token, "") for token in tokens if token.isalnum())
    return [_renamed(url, names) for url in urls] if names else list(urls)


def _renamed(url: MarkedTokens, names: dict[str, str]) -> MarkedTokens:
    if names.keys().isdisjoint(url.tokens):
        return url
    tokens = tuple(_root(names, token) or "*" for token in url.tokens)
    return url._replace(tokens=tokens, bare=bare_tokens(tokens, url.marks))


def _root(names: dict[str, str], token: str) -> str:
    while token in names:
        token = names[token]
    return token


# All judgement; the models of both rounds were trained with them.
MAX_GROUP = 1500  # numbers of one kind and language; more would cost their square
_COMPARED = 4_000_000  # numbers with numbers, of all templates together
_FEWEST = 3  # numbers of a template that are a run
_PLACES = 3  # numbers of a URL that may be the one that counts its pages, from the end
_ALIKE = 6  # templates that differ in one place; more are categories
_WINDOW = 40  # steps below and above one that tell how often chance makes it
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


Runs = tuple[dict[int, int], dict[int, int]]  # URLs by their numbers, of either language


class Number(NamedTuple):
    """The number of a URL, and the kind of page: the rest of it."""

    kind: tuple[str, ...]
    value: int


class NumberFit(NamedTuple):
    """How well two numbers go together."""

    odds: float  # logarithm: how much oftener the two are as far apart as chance would have it
    run: float  # the same of all pairs of their run, by the numbers that could have been paired
    votes: float  # how many of two languages, told by marks, are as far apart in the same order

    def beside(self, other: "NumberFit") -> "NumberFit":
        """The better of two fits, number by number."""
        return NumberFit(*map(max, self, other))


UNPLACED = NumberFit(0.0, 0.0, 0.0)

Align = Callable[[Iterable[int], Iterable[int]], dict[tuple[int, int], NumberFit]]


def numbered_kind(url: MarkedTokens) -> Number | None:
    """The URL with its longest number masked and its marks taken out; None where it has no number."""
    places = [place for place, token in enumerate(url.tokens) if token.isdecimal()]
    if not places:
        return None
    masked = max(places, key=lambda place: (len(url.tokens[place]), place))
    kind = tuple(
        "#" if place == masked else token
        for place, token in enumerate(url.tokens)
        if token.isalnum() and not url.marks[place]
    )
    return Number(kind, number_value(url.tokens[masked]))


def aligned(first: Iterable[int], second: Iterable[int]) -> dict[tuple[int, int], NumberFit]:
    """Pairs of numbers, in order, one to one: the chain of steps that are likeliest beside what chance makes.

    Translations get their numbers soon after their originals, or in runs: a step is common in the list, or small.
    """
    ones, others = sorted(set(first))[:MAX_GROUP], sorted(set(second))[:MAX_GROUP]
    steps, counts = _steps(ones, others)
    votes = dict(zip(steps.tolist(), counts.tolist(), strict=True))
    places = {value: place for place, value in enumerate(others)}
    chain: dict[tuple[int, int], float] = {}
    counted: Mapping[int, float] = votes
    for _ in range(_ROUNDS):
        odds = _odds(counted, votes)
        weights = {(a, a + step): weight for step, weight in odds.items() for a in ones if a + step in places}
        chain = _longest_chain(weights, places)
        counted = Counter(b - a for a, b in chain)
    run = sum(chain.values()) / (min(len(ones), len(others)) + 2)
    fits = {pair: NumberFit(weight, run, 0.0) for pair, weight in chain.items()}
    for pair in _between(chain, ones, others):
        fits.setdefault(pair, NumberFit(_FILLED, run, 0.0))
    return fits


def _steps(first: Sequence[int], second: Sequence[int]) -> tuple[Ints, Ints]:
    """Each difference of one to the other, in order, and how often it occurs."""
    return np.unique(np.subtract.outer(np.array(second), np.array(first)).ravel(), return_counts=True)


def _odds(counted: Mapping[int, float], votes: Mapping[int, int]) -> dict[int, float]:
    """Of each step that is likelier than chance: by how often it is there, and by how small it is."""
    likely = {}
    for step, background in _by_chance(votes).items():
        small = _SMALL_VOTES * math.exp(-abs(step) / _SMALL)
        odds = math.log((counted.get(step, 0.0) + small + _BLIND) / (background + _CHANCE))
        if odds > 0:
            likely[step] = odds
    return dict(_most_common(likely)[:_STEPS])


def _most_common(steps: Mapping[int, float]) -> list[tuple[int, float]]:
    return sorted(steps.items(), key=lambda item: (-item[1], abs(item[0]), item[0]))


def _by_chance(votes: Mapping[int, int]) -> dict[int, float]:
    """Of each step how often its neighbours are there, the nearest aside."""
    steps = np.array(sorted(votes), np.int64)
    sums = bounds([votes[step] for step in steps.tolist()])

    def within(width: int) -> Floats:
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


def voted(first: Iterable[int], second: Iterable[int]) -> dict[tuple[int, int], NumberFit]:
    """Pairs of numbers of which one is known to be in the one language, one in the other: the commonest steps are believed.

    Numbers may have drifted far apart, from run to run, so that no step beats chance by much.
    """
    ones, others = sorted(set(first))[:MAX_GROUP], sorted(set(second))[:MAX_GROUP]
    steps, votes = _steps(ones, others)
    if not _beyond_chance(int(votes.max()), ones, others):
        return {}
    places = {value: place for place, value in enumerate(others)}
    common = _most_common(dict(zip(steps[votes >= 2].tolist(), votes[votes >= 2].tolist(), strict=True)))[:_VOTED]
    counts = {(a, a + step): float(count) for step, count in common for a in ones if a + step in places}
    weights = {pair: count**_EMPHASIS for pair, count in counts.items()}
    chain = _longest_chain(weights, places)
    fits = {pair: NumberFit(0.0, 0.0, counts[pair]) for pair in chain}
    for pair in _between(chain, ones, others):
        fits.setdefault(pair, NumberFit(0.0, 0.0, _ONLY_PLACE))
    return fits


def _beyond_chance(votes: int, first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether so many equal differences are more than numbers drawn blindly would have, somewhere (Poisson)."""
    span = first[-1] - first[0] + second[-1] - second[0] + 1
    rate = len(first) * len(second) / span
    if rate >= 1:  # numbered without gaps: any shift fits, and the order is all that there is to go by
        return True
    return math.log(span) + votes * math.log(rate) - math.lgamma(votes + 1) < math.log(_BLINDLY)


def _between(chain: Iterable[tuple[int, int]], first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Where as many numbers of both are left between two links of the chain, they go in order."""
    pairs: list[tuple[int, int]] = []
    links = [(-1, -1), *sorted(chain), (math.inf, math.inf)]
    for (low_a, low_b), (high_a, high_b) in pairwise(links):
        left = [value for value in first if low_a < value < high_a]
        right = [value for value in second if low_b < value < high_b]
        if left and len(left) == len(right):
            pairs += zip(left, right, strict=True)
    return pairs


def numbered_pairs(
    urls: Sequence[MarkedTokens], signs: Sequence[float], numbers: Sequence[int]
) -> dict[UrlNumbers, NumberFit]:
    """Pairs of URLs among those numbers, of two languages and one kind."""
    groups: defaultdict[tuple[str, ...], Runs] = defaultdict(lambda: ({}, {}))
    for number in numbers:
        if signs[number] and (numbered := numbered_kind(urls[number])) is not None:
            groups[numbered.kind][signs[number] < 0].setdefault(numbered.value, number)
    return _placed(((first, second) for first, second in groups.values() if first and second), voted)


def pairs_of_runs(urls: Sequence[MarkedTokens], numbers: Sequence[int]) -> dict[UrlNumbers, NumberFit]:
    """Pairs of URLs among those numbers whose addresses, numbers aside, differ in one place: whatever it reads."""
    runs: defaultdict[tuple[str, ...], dict[int, int]] = defaultdict(dict)
    examples: dict[tuple[str, ...], MarkedTokens] = {}
    for number in numbers:
        url = urls[number]
        for masked in [place for place, token in enumerate(url.tokens) if token.isdecimal()][-_PLACES:]:
            template = (*url.tokens[:masked], "#", *url.tokens[masked + 1 :])
            runs[template].setdefault(number_value(url.tokens[masked]), number)
            examples.setdefault(template, url)
    templates = [template for template in sorted(runs) if len(runs[template]) >= _FEWEST]
    masked_urls = [examples[template]._replace(tokens=template, bare=()) for template in templates]
    groups = _groups(((number, near_keys(url)) for number, url in enumerate(masked_urls)), _ALIKE)
    alike = sorted({pair for group in groups for pair in combinations(group, 2)})
    return _placed(((runs[templates[a]], runs[templates[b]]) for a, b in alike), aligned)


def _placed(groups: Iterable[Runs], align: Align) -> dict[UrlNumbers, NumberFit]:
    """The fits of all groups, as long as they can be afforded."""
    fits: dict[UrlNumbers, NumberFit] = {}
    left = _COMPARED
    for first, second in groups:
        left -= min(len(first), MAX_GROUP) * min(len(second), MAX_GROUP)
        if left < 0:
            break
        for (a, b), fit in align(first, second).items():
            pair = ordered(first[a], second[b])
            if pair[0] != pair[1]:
                fits[pair] = fit.beside(fits.get(pair, fit))
    return fits
