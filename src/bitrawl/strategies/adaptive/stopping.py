"""When to leave a site: it is not bilingual, or too few pairs are expected for the number of fetches."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language

Floats = NDArray[np.float32]

MONOLINGUAL_AFTER = 8  # judgement: a site with no sign of a second language is left after this many pages
# A site is left when the pairs per recent fetch, plus the pairs that a fetch of the best queued links is expected to
# complete, fall below MIN_PAIRS_PER_FETCH. Swept on the site packs (with weights trained without the tested site;
# 2026-11), from their own seeds and from their home pages: with these values 0.3 to 0.4 % of the pairs come later (1.9
# % on the worst site), and 53 to 58 % of the fetches. A window of 40 fetches and a minimum of 60 loses 35 % of one site
# that begins slowly.
MIN_PAIRS_PER_FETCH = 0.02
MIN_FETCHES = 120
RECENT = 80  # fetches, or a quarter of all
BEST = 20  # queued links


class Stopping:
    """What the fetches of one site brought, and which requested languages it showed any sign of."""

    def __init__(self) -> None:
        self._completed: list[int] = []  # pairs that each fetch completed
        self._pages = 0
        self._signs: set[Language] = set()

    def fetched(self) -> None:
        """Count one more fetch, whatever its outcome."""
        self._completed.append(0)

    def arrived(self, completed: int) -> None:
        """The last fetch brought a page, which completed this many pairs."""
        self._completed[-1] = completed
        self._pages += 1

    def saw(self, languages: Iterable[Language]) -> None:
        """Note that a text, a declaration or a URL indicates these languages."""
        self._signs.update(languages)

    def reason(self, pairs: int, expected: Floats) -> str:
        """Why to leave the site, given the scores of the queued links. Empty if there is no reason."""
        if self._pages >= MONOLINGUAL_AFTER and len(self._signs) < 2:
            seen = f"only {min(self._signs)}" if self._signs else "none of the requested languages"
            return f"{self._pages} pages, with {seen} in their texts, declarations and URLs"
        fetches = len(self._completed)
        if fetches < MIN_FETCHES:
            return ""
        window = max(RECENT, fetches // 4)
        recent = sum(self._completed[-window:])
        best = float(largest(expected, BEST).sum())
        if recent / window + best / BEST >= MIN_PAIRS_PER_FETCH:
            return ""
        return (
            f"{pairs} likely pairs after {fetches} fetches; the last {window} completed {recent}, and the best {BEST} of"
            f" {len(expected)} queued links are expected to bring {best:.1f}"
        )


def largest(values: Floats, count: int) -> Floats:
    """The `count` largest values, in any order."""
    return values if len(values) <= count else np.partition(values, -count)[-count:]
