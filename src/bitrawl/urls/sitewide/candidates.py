"""Which URLs of a site are compared at all: those that share something that few others have, found by hash joins.

The work grows with the number of URLs, not with its square: a key that many URLs have joins nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.urls.marked_tokens import MarkedTokens, bare_tokens, is_word
from bitrawl.urls.tokens import Tokens

UrlNumbers = tuple[int, int]  # two URLs of the list by their places in it, the smaller first

# All judgement: they bound the time of a list, 1.4 to 1.9 s for 10,000 URLs (docs/decisions/url-pairs.md).
MAX_SHARING = 24  # URLs that a key may have; more tell nothing apart
MAX_PARTNERS = 10  # that are looked at for a URL
_FEWEST_PARTNERS = 4
# Where sides are known: with 10, F1 on openbsd-2009 and lilypond with translated slugs is the same, at 1.5 times the cost.
_PARTNERS_OF_SIDES = 3
_PARTNERS = 40_000  # of all URLs together: the more there are, the fewer for each
_HEAD = 5  # letters by which cognates are found
_GLUED = 4  # letters that a habit puts before a name, or after it
_STRONG, _WEAK = 3.0, 1.0  # weights of a key that all but one token is in, and of a key of one to three words


def candidates(urls: Sequence[MarkedTokens], numbers: Sequence[int]) -> list[UrlNumbers]:
    """Pairs among those numbers, the smaller first; each URL's best by what they share."""
    weights: defaultdict[UrlNumbers, float] = defaultdict(float)
    for keys, worth in ((near_keys, _STRONG), (_content, _WEAK)):
        for group in _groups((number, keys(urls[number])) for number in sorted(numbers)):
            weight = worth / (len(group) - 1)
            for pair in combinations(group, 2):
                weights[pair] += weight
    return _best(weights, max(_FEWEST_PARTNERS, min(MAX_PARTNERS, _PARTNERS // max(1, len(numbers)))))


class UrlKeys(NamedTuple):
    """The hashed keys of one URL."""

    near: NDArray[np.int64]
    content: NDArray[np.int64]


class KeysOfUrls:
    """The keys of URLs, computed once however many languages a URL is compared in."""

    def __init__(self) -> None:
        self._known: dict[tuple[Tokens, Tokens], UrlKeys] = {}

    def of(self, one: MarkedTokens) -> UrlKeys:
        found = self._known.get((one.tokens, one.bare))
        if found is None:
            near, content = (np.fromiter(set(map(hash, keys)), np.int64) for keys in (near_keys(one), _content(one)))
            found = self._known[one.tokens, one.bare] = UrlKeys(near, content)
        return found


def candidates_of_sides(
    urls: Sequence[MarkedTokens], first: Sequence[int], second: Sequence[int], keys: KeysOfUrls
) -> list[UrlNumbers]:
    """Pairs of one number of either side, where it is known which URLs are on which."""
    weights: defaultdict[UrlNumbers, float] = defaultdict(float)
    ones, others = ([keys.of(urls[number]) for number in numbers] for numbers in (first, second))
    for kind, worth in ((lambda one: one.near, _STRONG), (lambda one: one.content, _WEAK)):
        for group_a, group_b in _shared_groups(ones, others, kind):
            weight = worth / (len(group_a) + len(group_b) - 1)
            for a, b in product(group_a, group_b):
                weights[min(first[a], second[b]), max(first[a], second[b])] += weight
    # The order of hashes differs from process to process, and with it the last digits of a sum.
    return _best({pair: round(weight, 9) for pair, weight in weights.items()}, _PARTNERS_OF_SIDES)


def _shared_groups(
    first: Sequence[UrlKeys], second: Sequence[UrlKeys], kind: Callable[[UrlKeys], NDArray[np.int64]]
) -> Iterator[tuple[list[int], list[int]]]:
    """For each key that few have and that both sides have, its places in either."""
    sides = [([kind(one) for one in ones]) for ones in (first, second)]
    if not all(sides):
        return
    flat = [np.concatenate(arrays) for arrays in sides]
    owners = [np.repeat(np.arange(len(arrays)), [len(one) for one in arrays]) for arrays in sides]
    shared = np.intersect1d(np.unique(flat[0]), np.unique(flat[1]), assume_unique=True)
    places: list[list[list[int]]] = []
    for keys, owner in zip(flat, owners, strict=True):
        at = np.searchsorted(shared, keys)
        held = (at < len(shared)) & (shared[np.minimum(at, len(shared) - 1)] == keys) if len(shared) else at < 0
        order = np.argsort(at[held], kind="stable")
        bounds = np.searchsorted(at[held][order], np.arange(1, len(shared)))
        places.append([part.tolist() for part in np.split(owner[held][order], bounds)] if len(shared) else [])
    for group_a, group_b in zip(*places, strict=True):
        if len(group_a) + len(group_b) <= MAX_SHARING:
            yield group_a, group_b


def _groups(keys_of_each: Iterable[tuple[int, Iterator[object]]]) -> Iterator[list[int]]:
    numbers: defaultdict[int, list[int]] = defaultdict(list)
    for number, keys in keys_of_each:
        for key in set(map(hash, keys)):
            numbers[key].append(number)
    return (group for group in numbers.values() if 2 <= len(group) <= MAX_SHARING)


def _best(weights: dict[UrlNumbers, float], count: int) -> list[UrlNumbers]:
    partners: defaultdict[int, list[tuple[float, UrlNumbers]]] = defaultdict(list)
    for pair, weight in weights.items():
        partners[pair[0]].append((weight, pair))
        partners[pair[1]].append((weight, pair))
    kept: set[UrlNumbers] = set()
    for found in partners.values():
        found.sort(key=lambda entry: (-entry[0], entry[1]))
        kept.update(pair for _, pair in found[:count])
    return sorted(kept)


def near_keys(one: MarkedTokens) -> Iterator[object]:
    """Keys that URLs share which differ in one token, in one that is put in, in what is glued to one, or in their marks."""
    tokens = one.tokens
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
        if place > one.host_end and is_word(token):
            yield from _unglued(hash(before), token, hash(after))
    words = one.bare
    yield "bare", words
    for place, token in enumerate(words):
        yield "bare", words[:place], "*", words[place + 1 :]
        if len(token) > 1 and is_word(token):
            yield "bare", (*words[:place], token[1:], *words[place + 1 :])
            yield "bare", (*words[:place], token[:-1], *words[place + 1 :])
        elif len(token) <= 2:
            yield "bare", (*words[:place], *words[place + 1 :])
    yield from _without_parameter(one)


def _unglued(before: int, token: str, after: int) -> Iterator[object]:
    """The word without up to so many letters at its beginning, or at its end; and as it is, for one that has none."""
    for cut in range(min(_GLUED, len(token) - 2) + 1):
        yield before, "^", token[cut:], after
        yield before, token[: len(token) - cut], "$", after


def _without_parameter(one: MarkedTokens) -> Iterator[object]:
    """The address with each of its parameters masked, and with each taken out, in whatever order they stand."""
    if "?" not in one.tokens:
        yield "query", hash(one.tokens), ()
        return
    place = one.tokens.index("?")
    path = hash(one.tokens[:place])
    parameters = sorted(set("".join(one.tokens[place + 1 :]).split("&")))
    yield "query", path, tuple(parameters)
    for number, parameter in enumerate(parameters):
        rest = (*parameters[:number], *parameters[number + 1 :])
        yield "query", path, rest
        yield "query", path, rest, parameter.partition("=")[0]


def _content(one: MarkedTokens) -> Iterator[object]:
    """Keys that URLs share which have words or numbers in common; without order, without marks."""
    words = one.bare
    for place, token in enumerate(words):
        yield token
        yield tuple(words[place : place + 2])
        yield tuple(words[place : place + 3])
        if is_word(token) and len(token) > _HEAD:
            yield "head", token[:_HEAD]


def with_habits_joined(urls: Sequence[MarkedTokens], changes: Iterable[tuple[str, str]]) -> list[MarkedTokens]:
    """With tokens that stand for each other called the same, and those that only one language has taken out.

    URLs that differ in several habits of the site at once then share a key as if it were one.
    """
    names: dict[str, str] = {}
    for old, new in changes:
        if old.isalnum() and new.isalnum():
            one, other = sorted((_root(names, old), _root(names, new)))
            if one != other:
                names[other] = one
        else:
            for text in (old, new):
                names.update({token: "" for token in (text.strip("/-_.^$"),) if token.isalnum()})
    return [_renamed(one, names) for one in urls] if names else list(urls)


def _renamed(one: MarkedTokens, names: dict[str, str]) -> MarkedTokens:
    if names.keys().isdisjoint(one.tokens):
        return one
    tokens = tuple(_root(names, token) or "*" for token in one.tokens)
    return one._replace(tokens=tokens, bare=bare_tokens(tokens, one.marks))


def _root(names: dict[str, str], token: str) -> str:
    while token in names:
        token = names[token]
    return token
