"""`adaptive` in a job with one language and no topic: the pages in that language, in the order of arrival."""

from collections.abc import Sequence

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Advice, Language, Link, Page, SiteKnowledge, Visit
from bitrawl.strategies.arrival import ARRIVAL, FIRST
from bitrawl.urls import address_languages

LATER = ARRIVAL / 2  # any score below those of the others will do


class Monolingual:
    """Skips the links of a page in another language, except those that say that they lead to the one asked for.

    A page without a language, such as a list of languages to choose from, may lead anywhere. Links that say that they
    lead to another language come last.
    """

    is_stateless = True

    def __init__(self, languages: Sequence[Language]) -> None:
        self._languages = tuple(languages)

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        follows = found_on is None or found_on.language == UNDETERMINED or self._is_asked(found_on.language)
        return [self._score(link, follows=follows) for link in links]

    def _score(self, link: Link, *, follows: bool) -> float:
        if link.kind in FIRST:
            return 1.0
        codes = [link.hreflang] if link.hreflang else address_languages(link.url, countries=False)
        claims = {claimed_language(code) for code in codes} - {UNDETERMINED}
        if any(map(self._is_asked, claims)):
            return ARRIVAL
        if not follows:
            return 0.0
        return LATER if claims else ARRIVAL

    def _is_asked(self, language: Language) -> bool:
        return any(same_language(language, wanted) for wanted in self._languages)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        pass

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        return Advice()
