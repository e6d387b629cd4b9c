"""Evidence that two pages are translations: a number between 0 and 1 from each method; and text that was not translated."""

from collections.abc import Iterator, Mapping
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.mining.site import Site, shared_terms
from bitrawl.model import Language, Method
from bitrawl.text.arrays import Floats, Ints, places_in

PageNumbers = tuple[int, int]
"""Two pages of a site by their numbers, the smaller first."""


ALL = frozenset(Method)

METHODS_OF: Mapping[str, frozenset[Method]] = {
    name: frozenset(asking for asking in Method if name in asking.measured)
    for method in Method
    for name in method.measured
}
"""What is measured, and the methods that ask for it."""

_BITS = 32
_LOWER = (1 << _BITS) - 1


def page_numbers(a: int, b: int) -> PageNumbers:
    """In the order that evidence is kept in."""
    return (a, b) if a < b else (b, a)


def pair_keys(a: NDArray[np.integer], b: NDArray[np.integer]) -> Ints:
    """Pairs of pages as one number each, whose order is that of the pairs; either page may come first."""
    low, high = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    result: Ints = (low << _BITS) | high
    return result


def pair_key(pair: PageNumbers) -> int:
    return (pair[0] << _BITS) | pair[1]


def both_ends(keys: Ints) -> tuple[Ints, Ints]:
    """The pages of those pairs: the smaller numbers, and the larger."""
    return keys >> _BITS, keys & _LOWER


class Evidence(Mapping[PageNumbers, float]):
    """Pairs of pages with what is said for them, in two arrays: a dict of tuples takes twelve times the memory."""

    def __init__(self, keys: Ints, values: Floats) -> None:
        """The keys ascend, each once."""
        self.keys_array, self.values_array = keys, values

    @classmethod
    def of(cls, values: Mapping[PageNumbers, float]) -> Self:
        """What a detector has put together pair by pair."""
        keys = np.fromiter(map(pair_key, values), np.int64)
        order = np.argsort(keys)
        return cls(keys[order], np.fromiter(values.values(), np.float64)[order])

    def at(self, keys: Ints) -> Floats:
        """The value of each of those pairs; 0 for one without any."""
        places = places_in(self.keys_array, keys)
        return np.where(places >= 0, self.values_array[places], 0.0) if len(self) else np.zeros(len(keys))

    def __getitem__(self, pair: PageNumbers) -> float:
        place = int(places_in(self.keys_array, np.array([pair_key(pair)]))[0])
        if place < 0:
            raise KeyError(pair)
        return float(self.values_array[place])

    def __iter__(self) -> Iterator[PageNumbers]:
        a, b = both_ends(self.keys_array)
        return zip(a.tolist(), b.tolist(), strict=True)

    def __len__(self) -> int:
        return len(self.keys_array)


class KnownPairs:
    """The pairs that are held for certain so far: what detectors that learn from pairs learn from."""

    def __init__(self, pairs: Mapping[PageNumbers, float] | None = None, site: Site | None = None) -> None:
        self.pairs = dict(pairs or {})
        self.partners: dict[int, dict[Language, int]] = {}
        if site is not None:
            for a, b in self.pairs:
                self.partners.setdefault(a, {})[site.summaries[b].language] = b
                self.partners.setdefault(b, {})[site.summaries[a].language] = a

    def __bool__(self) -> bool:
        return bool(self.pairs)


class Detector(Protocol):
    """One method: from the pages of a site, and the pairs that are certain by now, to evidence."""

    def propose(self, site: Site, known_pairs: KnownPairs) -> Evidence:
        """Pairs of pages in two languages, each with a number above 0; never all pairs of a site."""
        ...


def best_few(site: Site, evidence: Evidence, few: int) -> Evidence:
    """Without the pairs that are among the best few of neither of their pages in the other's language."""
    a, b = both_ends(evidence.keys_array)
    best = np.zeros(len(evidence), bool)
    for page, other in ((a, b), (b, a)):
        groups = page * len(site.languages) + site.spoken[other]
        order = np.lexsort((evidence.keys_array, -evidence.values_array, groups))
        ordered = groups[order]
        first = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(order) else np.zeros(0, bool)
        began = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
        best[order[np.arange(len(order)) - began < few]] = True
    return Evidence(evidence.keys_array[best], evidence.values_array[best])


# Share of the running text that is the same on both. Chosen on the ten site packs (2026-11), none held out: 0.4
# refuses 0-4 % of a site's true pairs (0.3: 0-14 %), and 50-100 % of its untranslated pages that pass for another
# language, least where they are short or mostly tables (openbsd-2009 50 %, lilypond 60 %).
MAX_SHARED = 0.4
# Characters that a page must have beside the site's template. Chosen because of one site pack, whose placeholders (a
# title, and the list of contents that every page has) were a seventh of what was reported there; of the 12,743 true
# pairs of all ten, one has less.
MIN_WEIGHT = 100


def same_text(site: Site, pair: PageNumbers) -> float:
    """What share of the text of the longer page stands on the other word for word, whatever kind of text it is."""
    (a, weights), (b, others) = ((site.prose[number], site.prose.values_of(number)) for number in pair)
    most = max(int(weights.sum()), int(others.sum()))
    return float(weights[np.isin(a, b)].sum() / most) if most else 0.0


class UntranslatedText:
    """The running text that stands on pages of two languages: on most pages there is none."""

    def __init__(self, site: Site) -> None:
        self._sizes = np.bincount(site.prose.owners(), site.prose.values, len(site.summaries))
        self._rows, texts = shared_terms(site.prose, site.spoken)
        self._running, self._code = np.isin(texts, site.sentences), np.isin(texts, site.code)

    def shared(self, pair: PageNumbers) -> float:
        """What share of the text of the longer page stands on the other word for word, and should not.

        What is no running text and on both is left out: of a page of commands, the sentences around them are looked at.
        """
        return self.measures(pair)[0]

    def measures(self, pair: PageNumbers) -> tuple[float, float]:
        """The share of running text, as `shared`, and that of any text but code."""
        a, b = pair
        first, second = self._rows[a], self._rows[b]
        if not len(first) or not len(second):
            return 0.0, 0.0
        both = np.isin(first, second)
        weights, texts = self._rows.values_of(a)[both], first[both]
        running, code = (float(weights[kind[texts]].sum()) for kind in (self._running, self._code))
        whole, size = float(weights.sum()), float(max(self._sizes[a], self._sizes[b]))
        return running / max(size - (whole - running), 1.0), (whole - code) / max(size - code, 1.0)
