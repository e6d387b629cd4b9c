"""Links in the order of arrival, but only from pages in the requested languages.

García-Romero et al. 2024, section 5.
"""

from collections.abc import Sequence

from bitrawl.languages import same_language
from bitrawl.model import UNDETERMINED, Advice, Language, Link, Page, SiteKnowledge, Visit
from bitrawl.strategies.breadth_first import by_arrival


class LanguageFilter:
    """Skips every link of a page in another language."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._languages = tuple(languages)

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        if found_on is None or is_kept(found_on.language, self._languages):
            return by_arrival(links)
        return [0.0 for _ in links]

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        pass

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        return Advice()


def is_kept(language: Language, wanted: Sequence[Language]) -> bool:
    """Whether links of a page in that language are followed.

    Links of a page with an undetermined language are followed, because a page that only lets you choose a language has
    no text to identify.
    """
    return language == UNDETERMINED or any(same_language(language, one) for one in wanted)
