"""The words that a link is judged by, each with the place where it stands: Barbosa et al., section 2.3."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from bitrawl.discover.graph.names import without_www
from bitrawl.model import Language, Link
from bitrawl.text.frequencies import known, rate
from bitrawl.text.words import plain_words, stemmer
from bitrawl.url import Url

STOP_RATE = 800.0  # occurrences in a million words, from which a stem is a stop word; judgement: some 150 of a language
MOST_WORDS = 20  # of the text around a link; judgement
_PARTS = re.compile(r"[^\W\d_]{2,}")


class LinkWords:
    """Features of a link: "host:org", "url:link", "anchor:hotel", "around:art". Stop words are out, the rest is stemmed."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._languages = [language for language in languages if known(language)] or list(languages[:1])
        self._stem = lru_cache(maxsize=50_000)(self._stemmed)

    def of(self, link: Link) -> frozenset[str]:
        return frozenset(self._all(link))

    def of_host(self, host: str) -> frozenset[str]:
        """All that is known where a graph names only the host."""
        return frozenset(f"host:{part}" for part in _PARTS.findall(host))

    def _all(self, link: Link) -> Iterator[str]:
        yield from self.of_host(without_www(link.url.host))
        yield from (f"url:{part.casefold()}" for part in _PARTS.findall(link.url.path + " " + link.url.query))
        for place, text in (("anchor", f"{link.anchor} {link.image_alt}"), ("around", link.context)):
            stems = (self._stem(word) for word in plain_words(text)[:MOST_WORDS])
            yield from (f"{place}:{stem}" for stem in stems if stem)

    def _stemmed(self, word: str) -> str:
        """Empty for a stop word. It is stemmed as a word of that language in which it is most frequent."""
        stems = [stemmer(language)(word) or word for language in self._languages]
        rates = [float(rate([stem], language)[0]) for stem, language in zip(stems, self._languages, strict=True)]
        best = max(range(len(stems)), key=rates.__getitem__)
        return "" if rates[best] >= STOP_RATE or len(word) < 2 else stems[best]


def out_of_site(links: Sequence[Link], page: Url) -> list[Link]:
    """Those that lead to other sites: Barbosa et al., section 2.2."""
    return [link for link in links if link.url.site != page.site]
