"""Pairs of URLs that are no translations, made from pairs that are (García-Romero et al. 2024, 3.1 and appendix A)."""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from enum import IntEnum

from bitrawl.url import Url
from bitrawl.urls.tokens import marked_tokens

UrlPair = tuple[Url, Url]
Make = Callable[[Sequence[UrlPair], random.Random], list[UrlPair]]


class Generator(IntEnum):
    """Numbered as in table A.5."""

    RANDOM_MATCH = 1
    JACCARD = 2
    REMOVE_TOKENS = 3
    RANDOM_MATCH_MONOLINGUAL = 4
    JACCARD_MONOLINGUAL = 5
    REMOVE_TOKENS_MONOLINGUAL = 6


def negatives(pairs: Sequence[UrlPair], generator: Generator, seed: int = 1) -> list[UrlPair]:
    """One for each pair, or for each of its two URLs for the monolingual ones; fewer where there is nothing to take."""
    rng = random.Random(seed * 10 + generator)  # noqa: S311 (repeatable, not secret)
    make = _MAKE[(generator - 1) % len(_MAKE)]
    if generator <= Generator.REMOVE_TOKENS:
        made = make(pairs, rng)
    else:  # each language by itself
        made = [two for side in (0, 1) for two in make([(pair[side], pair[side]) for pair in pairs], rng)]
    true = {frozenset(pair) for pair in pairs}
    return [two for two in made if two[0] != two[1] and frozenset(two) not in true]


def random_match(pairs: Sequence[UrlPair], rng: random.Random) -> list[UrlPair]:
    """The second URL of any other pair of the collection."""
    return [(a, rng.choice(pairs)[1]) for a, _ in pairs]


def jaccard(pairs: Sequence[UrlPair], rng: random.Random) -> list[UrlPair]:
    """The second URL that is most like the right one by the tokens that they share; the likest are of its host."""
    hosts: defaultdict[str, list[Url]] = defaultdict(list)
    for _, b in pairs:
        hosts[b.host].append(b)
    found = []
    for a, b in pairs:
        rivals = [url for url in hosts[b.host] if url != b] or [rng.choice(pairs)[1]]
        tokens = frozenset(marked_tokens(b).tokens)
        found.append((a, max(rivals, key=lambda url: _similarity(tokens, frozenset(marked_tokens(url).tokens)))))
    return found


def remove_tokens(pairs: Sequence[UrlPair], rng: random.Random) -> list[UrlPair]:
    """Some tokens of both less, never of the scheme, the host or the port."""
    return [(_shortened(a, rng), _shortened(b, rng)) for a, b in pairs]


def _shortened(url: Url, rng: random.Random) -> Url:
    head, tail = url[: len(url.origin) + 1], url[len(url.origin) + 1 :]
    tokens = _split(tail)
    if not tokens:
        return url
    gone = set(rng.sample(range(len(tokens)), rng.randint(1, max(1, len(tokens) // 2))))
    return Url.known(head + "".join(token for place, token in enumerate(tokens) if place not in gone))


def _split(text: str) -> list[str]:
    tokens: list[str] = []
    for character in text:
        if tokens and character.isalnum() and tokens[-1][-1].isalnum():
            tokens[-1] += character
        else:
            tokens.append(character)
    return tokens


def _similarity(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0


_MAKE: tuple[Make, ...] = (random_match, jaccard, remove_tokens)
