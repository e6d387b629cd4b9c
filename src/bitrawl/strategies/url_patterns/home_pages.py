"""Where the visit of two language versions of a site begins."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Language, Link, LinkKind, Page
from bitrawl.url import Url
from bitrawl.urls.tokens import named_languages, skeleton

MAX_HOMES = 20  # judgement: versions of the seeds that are requested


class Homes:
    """The home pages in the requested languages: the seeds and, if a language is missing, versions that they link to."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._languages = tuple(languages)
        self._expected: set[Url] = set()
        self._found: dict[Url, Language] = {}
        self._versions: dict[Url, None] = {}  # not requested yet
        self._asked: set[Url] = set()

    def expect(self, url: Url) -> None:
        """Note a seed, or a version that was requested."""
        if url not in self._found:
            self._expected.add(url)

    def arrived(self, page: Page) -> None:
        """Note a page. Only expected pages are used."""
        if page.url in self._expected:
            self._expected.discard(page.url)
            self._found[page.url] = self._language(page)

    def missed(self, url: Url) -> None:
        """Note that the URL brought no page."""
        self._expected.discard(url)

    def moved(self, url: Url, target: Url, *, known: bool) -> None:
        """Note that the home page is where the redirect leads."""
        if url in self._expected:
            self._expected.discard(url)
            if not known:
                self.expect(target)

    def read_links(self, url: Url, links: Sequence[Link]) -> None:
        """Read the links of a page. If it is a home page, remember those that lead to its versions."""
        if url not in self._found or not self._lacking():
            return
        keys = {skeleton(url, language) for language in (*self._languages, UNDETERMINED)}
        for link in links:
            if link.url not in self._found and self._is_version(link, keys):
                self._versions.setdefault(link.url)

    def versions(self) -> list[Url]:
        """What to request now. Nothing while seeds are being visited, or if no language is missing."""
        if self._expected or not self._lacking():
            return []
        asked = [url for url in self._versions if url not in self._asked][: MAX_HOMES - len(self._asked)]
        self._versions.clear()
        self._asked.update(asked)
        self._expected.update(asked)
        return asked

    def pairs(self) -> Iterator[tuple[Url, Url, Language, Language]]:
        """Pairs of home pages, in the order of the languages.

        They have the same skeleton or, if there are none, they are the first of each language.
        """
        for first, second in combinations(self._languages, 2):
            mine = [url for url, language in self._found.items() if language == first]
            others = {skeleton(url, second): url for url, language in self._found.items() if language == second}
            same = [(url, others[key]) for url in mine if (key := skeleton(url, first)) in others]
            if not same and mine and others and not self._expected:
                same = [(mine[0], next(iter(others.values())))]
            yield from ((*pair, first, second) for pair in same)

    def why_none(self) -> str:
        """Why there are no two home pages to begin with. Empty while there may be."""
        if self._expected or not self._found:
            return ""
        return "no home pages in two of the requested languages"

    def _language(self, page: Page) -> Language:
        """The language that the URL names, else what the page declares, else that of its text.

        The text comes last because a home page often consists mostly of menus. The index of docs.gimp.org/2.10/fr/ has
        more words of an English licence than French ones.
        """
        named = [one for one in self._languages if any(same_language(mark, one) for mark in named_languages(page.url))]
        claims = [*(named if len(named) == 1 else ()), claimed_language(page.metadata.html_lang), page.language]
        return next((one for claim in claims for one in self._languages if same_language(claim, one)), UNDETERMINED)

    def _lacking(self) -> set[Language]:
        return set(self._languages) - set(self._found.values())

    def _is_version(self, link: Link, keys: set[str]) -> bool:
        """Whether it is declared as a translation into a missing language, or differs only by that language's marks."""
        if link.kind is LinkKind.ALTERNATE or link.hreflang:
            claimed = claimed_language(link.hreflang)
            return claimed == UNDETERMINED or any(same_language(claimed, one) for one in self._lacking())
        return any(skeleton(link.url, one) in keys for one in self._lacking())
