"""When to leave a site: it is not bilingual at all, or the pairs still to be expected are too few for the fetches."""

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language

Floats = NDArray[np.float32]

MONOLINGUAL_AFTER = 8  # judgement: pages after which a site without a sign of a second language is left
# A site is left when the pairs that a recent fetch completed, and those that a fetch of the best queued links can be
# expected to complete, are together below MIN_PAIRS_PER_FETCH. Swept on the site packs (weights left out; 2026-11), from
# their own seeds and from their home pages: with these 0.3 to 0.4 % of the pairs come after that, 1.9 % on the worst
# site, and 53 to 58 % of the fetches. A window of 40 fetches and a minimum of 60 loses 35 % of one site that begins
# slowly.
MIN_PAIRS_PER_FETCH = 0.02
MIN_FETCHES = 120
RECENT = 80  # fetches, or a quarter of all
BEST = 20  # queued links


class Stopping:
    """What fetches of one site brought, and which of the languages asked for it showed any sign of."""

    def __init__(self) -> None:
        self._completed: list[int] = []  # pairs that each fetch completed
        self._pages = 0
        self._signs: set[Language] = set()

    def fetched(self) -> None:
        """One fetch more, whatever comes of it."""
        self._completed.append(0)

    def arrived(self, completed: int) -> None:
        """The last fetch brought a page, which completed so many pairs."""
        self._completed[-1] = completed
        self._pages += 1

    def saw(self, languages: Iterable[Language]) -> None:
        """Something hints at these languages: a text, a declaration, an address."""
        self._signs.update(languages)

    def reason(self, pairs: int, queued: int, best: Callable[[int], Floats]) -> str:
        """Why to leave the site; empty while there is no reason. `best` tells the highest scores of what is queued."""
        if self._pages >= MONOLINGUAL_AFTER and len(self._signs) < 2:
            seen = f"only {min(self._signs)}" if self._signs else "none of the requested languages"
            return f"{self._pages} pages, with {seen} in their texts, declarations and URLs"
        fetches = len(self._completed)
        if fetches < MIN_FETCHES:
            return ""
        window = max(RECENT, fetches // 4)
        recent = sum(islice(reversed(self._completed), window))
        if recent / window >= MIN_PAIRS_PER_FETCH:
            return ""
        promised = float(best(BEST).sum())
        if recent / window + promised / BEST >= MIN_PAIRS_PER_FETCH:
            return ""
        return (
            f"{pairs} likely pairs after {fetches} fetches; the last {window} completed {recent}, and the best {BEST} of"
            f" {queued} queued links are expected to bring {promised:.1f}"
        )


def largest(values: Floats, count: int) -> Floats:
    """So many of them, in any order."""
    return values if len(values) <= count else np.partition(values, -count)[-count:]
