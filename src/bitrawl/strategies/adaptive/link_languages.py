"""The chance that a link leads to a page in a language asked for: what links name, and what visits of the same place brought."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Language, Link, Page
from bitrawl.strategies.adaptive.link_words import LinkWords, WordWeights
from bitrawl.strategies.adaptive.rates import Rates
from bitrawl.url import Url
from bitrawl.urls.tokens import address_languages

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

FIRST_ROWS = 1024  # judgement: rows of a new table; it doubles when they are full
# Of one visit, on the weights of the link's words. With 0.3, environment with examples has an area of .958, with 1 of .969 (2026-11).
WORD_STEP = 1.0
LEAST = 0.1  # of any link that names no other language: sites have untranslated pages. Of 0.02, 0.1 and 0.2 (2026-11): little changes
LEAST_RATE, MOST_RATE = 0.02, 0.98  # judgement: bounds what visits of a place say beside the words of a link
MAX_FOLDERS = 5  # judgement: directories of an address that have a rate of their own
PRIOR = 0.9  # judgement: a link of which nothing is known leads to a language asked for
NAMED_RIGHTLY = 0.9  # judgement: the same of a link that names one, whatever other pages of its place are in
FOREIGN = 0.2  # judgement: what is left of that where only pages in other languages have the link, and it names none
MARKED = 0.3  # judgement: the same of a link whose address names another, before anything of its place was seen
# Some sites name languages that their pages do not have. Before visits tell more, links that name a language that was not
# asked for count as if so many of NAMED had led to a page in a language that was. The site of `travel` in shared/domain/web
# has 4 such pages of 140; with 1 of 20 most draws of texts find them 600 pages later (2026-11).
MISNAMED, NAMED = 5, 100


class LinkLanguages:
    """Rows are those of `LinkRelevance`."""

    def __init__(self, languages: Sequence[Language], words: LinkWords) -> None:
        self._languages = tuple(languages)
        self._words = WordWeights(words, WORD_STEP)
        self._rates = Rates(PRIOR)
        self._places = np.zeros(FIRST_ROWS, np.int32)  # groups of `_rates`
        self._asked = np.zeros(FIRST_ROWS, bool)  # links that name a language asked for
        self._other = np.zeros(FIRST_ROWS, bool)  # and those that name another
        self._marked = np.zeros(FIRST_ROWS, bool)  # and those whose address does
        self._heard = np.zeros(FIRST_ROWS, bool)  # and those that some page has that is not in another language
        self._foreign = Rates(FOREIGN)  # of links that only pages in other languages have, by host
        self._hosts = np.zeros(FIRST_ROWS, np.int32)  # groups of `_foreign`
        self._named = self._misnamed = 0  # visits of links that name a language that was not asked for; wrongly

    def add(self, links: Sequence[Link], rows: Rows, found_on: Page | None) -> None:
        """What the links name."""
        self._grow(int(rows.max(initial=0)) + 1)
        heard = found_on is None or not self.is_other(found_on.language)
        for link, row in zip(links, rows.tolist(), strict=True):
            self._heard[row] |= heard
            if not self._places[row]:
                self._hosts[row] = self._foreign.group(("host", link.url.host))
                self._places[row] = self._rates.group(("place", link.url.host, *_folders(link.url)))
            if self.names_asked(link, found_on):
                self._asked[row] = True
            elif link.hreflang:
                self._other[row] |= self.is_other(claimed_language(link.hreflang))
            else:
                self._marked[row] |= bool(_marks(link, found_on))

    def names_asked(self, link: Link, found_on: Page | None) -> bool:
        """Whether the link, or its address, names a language asked for."""
        if link.hreflang:
            return self.is_asked(claimed_language(link.hreflang))
        return any(self.is_asked(claimed_language(code)) for code in _marks(link, found_on))

    def is_asked(self, language: Language) -> bool:
        return any(same_language(language, one) for one in self._languages)

    def is_other(self, language: Language) -> bool:
        """A language, and not one that was asked for."""
        return language != UNDETERMINED and not self.is_asked(language)

    def move(self, old: int, new: int) -> None:
        """A link redirects to another."""
        self._heard[new] |= self._heard[old]
        self._other[new] |= self._other[old]

    def arrived(self, row: int, page: Page) -> None:
        """A visit brought a page. One in the language that its link named says nothing of its place."""
        wanted = self.is_asked(page.language)
        if self._other[row]:
            self._named += 1
            self._misnamed += wanted
        if wanted or not self._other[row]:
            self._words.correct(row, float(wanted) - float(self.chance(np.array([row]))[0]))
            self._rates.count(int(self._places[row]), 1.0, float(wanted))
            if not self._heard[row]:
                self._foreign.count(int(self._hosts[row]), 1.0, float(wanted))

    def chance(self, rows: Rows) -> Floats:
        """That the pages are in a language asked for."""
        places = self._places[rows]
        found = self._rates.rates(places)
        unseen = self._rates.visits(places) == 0
        found = np.where(self._heard[rows], found, found * self._foreign.rates(self._hosts[rows]))
        rates = np.clip(found, LEAST_RATE, MOST_RATE)
        found = (1 / (1 + np.exp(-self._words.odds(rows)) * (1 - rates) / rates)).astype(np.float32)
        found = np.maximum(found, np.float32(LEAST))
        found = np.where(self._marked[rows] & unseen, np.minimum(found, np.float32(MARKED)), found)
        found = np.where(self._asked[rows] & unseen, np.maximum(found, np.float32(NAMED_RIGHTLY)), found)
        misnamed = (MISNAMED + self._misnamed) / (NAMED + self._named)
        return np.where(self._other[rows] & ~self._asked[rows], np.float32(misnamed), found)

    def name_asked(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether the links name a language asked for."""
        return self._asked[rows]

    def _grow(self, rows: int) -> None:
        while rows > len(self._places):
            for name in ("_places", "_asked", "_other", "_marked", "_heard", "_hosts"):
                old: NDArray[np.generic] = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))


def _folders(url: Url) -> list[str]:
    return url.path.split("/")[1:-1][:MAX_FOLDERS]


def _marks(link: Link, found_on: Page | None) -> frozenset[str]:
    """Languages that the address names, and that the page with the link does not name in its own."""
    if found_on is None:
        return frozenset()
    return address_languages(link.url, found_on.url) - address_languages(found_on.url)
