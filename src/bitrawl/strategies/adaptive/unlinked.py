"""Partners that no page links to, at URLs that the site's other pairs suggest."""

from collections.abc import Container, Iterable, Iterator

from bitrawl.model import UNDETERMINED, Link, LinkKind
from bitrawl.strategies.adaptive.partners import Partners
from bitrawl.strategies.adaptive.rates import Rates
from bitrawl.url import Url
from bitrawl.urls.habits import Habits

# All four are judgements. docs/decisions/adaptive.md shows what they bring on openbsd-2009.
MIN_PAIRS = 5  # pairs on a site before its habits are used
MIN_CONFIDENCE = 0.5  # of a habit
GROWTH = 1.3  # of the pairs, before all pages without a partner are examined again
MIN_RATE = 0.03  # how many of such links must lead to a pair for more to be suggested


class UnlinkedPartners:
    """Suggests partners for visited pages that have none, as long as enough suggestions lead to pairs."""

    def __init__(self, partners: Partners, known: Container[Url], rates: Rates) -> None:
        self._partners = partners
        self._known = known  # URLs that a link led to
        self._rates = rates
        self._habits = Habits()
        self._alone: set[Url] = set()  # visited pages without a partner that have not been examined since
        self._pairs = 0  # the number of pairs when all pages were last examined

    def paired(self, url: Url, partner: Url) -> None:
        """Learn from a pair. A habit has a direction, from the language that was requested first."""
        forward = self._place(url) <= self._place(partner)
        self._habits.add(*((url, partner) if forward else (partner, url)))

    def alone(self, url: Url) -> None:
        """Note that no partner was found for a visited page."""
        self._alone.add(url)

    def links(self) -> tuple[Link, ...]:
        """Links to follow that are on no page."""
        pairs = len(self._partners.pairs)
        if pairs < MIN_PAIRS:
            return ()
        if pairs > GROWTH * self._pairs:
            self._pairs = pairs  # the habits may know more now
            self._alone.update(self._partners.visited)
        links = {link.url: link for link in self._suggested(sorted(self._alone))}
        self._alone.clear()
        return tuple(links.values())

    def group(self, source: Url | None) -> int:
        """The group of such links from pages in the same language.

        Pages in a language that is rarely translated have few partners.
        """
        language = self._partners.language(source) if source else UNDETERMINED
        return self._rates.group(("foreseen", language))

    def _suggested(self, urls: Iterable[Url]) -> Iterator[Link]:
        for url in urls:
            if not self._has_no_candidate(url) or self._rates.rate(self.group(url)) < MIN_RATE:
                continue
            for partner, confidence in self._habits.partners(url):
                known = partner in self._known or partner in self._partners.visited
                if confidence >= MIN_CONFIDENCE and not known and partner.host == url.host:
                    yield Link(partner, LinkKind.PARTNER, url)

    def _has_no_candidate(self, url: Url) -> bool:
        """Whether it was visited, is in a requested language, and has no possible partner."""
        partners = self._partners
        if partners.language(url) == UNDETERMINED or partners.is_paired(url):
            return False
        return not any(other in self._known or other in partners.visited for other in partners.candidates(url))

    def _place(self, url: Url) -> int:
        return self._partners.languages.index(self._partners.language(url))
