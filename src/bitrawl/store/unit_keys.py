"""Keys of 64 bits by which equal and nearly equal segment pairs are found, also in different jobs."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

from bitrawl.model import PagePair, SegmentPair
from bitrawl.text.words import bare_texts

# `bare_texts` of 20,000 made-up pairs (2026-11), CPU µs per pair: 81 one by one, 6.4 in batches of 20 and of 128 pairs,
# 9.7 of 512. The two hashes of a pair take 2.6.
_BATCH = 128  # pairs


class UnitKeys(NamedTuple):
    """Nearly equal means the same letters, digits and symbols: case, punctuation and spaces do not count."""

    exact: int
    near: int


def keyed(pairs: Iterable[SegmentPair]) -> Iterator[tuple[SegmentPair, UnitKeys]]:
    """Each pair with its keys, in order."""
    rest = iter(pairs)
    while batch := list(islice(rest, _BATCH)):
        texts = [text for pair in batch for text in (pair.a.text, pair.b.text)]
        bare = bare_texts(texts)
        for number, pair in enumerate(batch):
            a, b = 2 * number, 2 * number + 1
            yield pair, UnitKeys(_key(texts[a], texts[b]), _key(bare[a], bare[b]))


def page_pair_keys(pair: PagePair) -> UnitKeys:
    """A pair of pages is equal to another if the URLs are, whatever the evidence says."""
    key = _key(pair.url_a, pair.url_b)
    return UnitKeys(key, key)


def _key(a: str, b: str) -> int:
    # 64 bits: among ten million pairs, the probability that any two share a key by accident is 3 in a million.
    data = f"{a}\0{b}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)
