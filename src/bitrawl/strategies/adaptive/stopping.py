"""When a site is left: its expected yield is too low for what it costs, or it is not bilingual at all."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language

Floats = NDArray[np.float32]

HANDFUL = 8  # pages after which a site without a sign of a second language is left
# When a site is left: pairs that a fetch of late brought, and that one of the best queued links promises, together below
# WORTH. Swept on the site packs (weights left out; 2026-11), from their own seeds and from their home pages: with these
# 0.3 to 0.4 % of the pairs come after that, 1.9 % on the worst site, and 53 to 58 % of the fetches. A window of 40 fetches
# and a soonest of 60 loses 35 % of one site that begins slowly.
WORTH = 0.02
SOONEST = 120  # fetches
RECENT = 80  # fetches, or a quarter of all
PROMISING = 20  # queued links


class Patience:
    """What fetches of one site brought, and which languages anything hinted at."""

    def __init__(self) -> None:
        self._paid: list[int] = []  # pairs that each fetch completed
        self._pages = 0
        self._signs: set[Language] = set()

    def fetched(self) -> None:
        """One fetch more, whatever comes of it."""
        self._paid.append(0)

    def arrived(self, completed: int, language: Iterable[Language]) -> None:
        """The last fetch brought a page, which completed so many pairs."""
        self._paid[-1] = completed
        self._pages += 1
        self.saw(language)

    def saw(self, languages: Iterable[Language]) -> None:
        """Something of these languages asked for: a text, a declaration, an address."""
        self._signs.update(languages)

    def ended(self, pairs: int, promises: Floats) -> str:
        """Why the site may be left, given the scores of what is queued; empty while it may not."""
        if self._pages >= HANDFUL and len(self._signs) < 2:
            seen = ", ".join(sorted(self._signs)) or "none of the languages asked for"
            return f"{self._pages} pages, and nothing but {seen} in their texts, declarations and addresses"
        fetches = len(self._paid)
        if fetches < SOONEST:
            return ""
        window = max(RECENT, fetches // 4)
        recent = sum(self._paid[-window:])
        promise = float(largest(promises, PROMISING).sum())
        if recent / window + promise / PROMISING >= WORTH:
            return ""
        return (
            f"{pairs} pairs after {fetches} fetches; the last {window} completed {recent}, and the best {PROMISING} of"
            f" {len(promises)} links left promise {promise:.1f}"
        )


def largest(values: Floats, count: int) -> Floats:
    """So many of them, in any order."""
    return values if len(values) <= count else np.partition(values, -count)[-count:]
