"""Partners that no page links to, at the addresses that the site's other pairs suggest."""

from collections.abc import Container, Iterable, Iterator

from bitrawl.model import UNDETERMINED, Link, LinkKind
from bitrawl.strategies.adaptive.partners import Partners
from bitrawl.strategies.adaptive.rates import Rates
from bitrawl.url import Url
from bitrawl.urls.patterns import Habits

# All four are a judgement. What the whole brings on openbsd-2009 is in docs/decisions/adaptive.md.
MIN_PAIRS = 5  # of a site, before its habits are followed
MIN_CONFIDENCE = 0.5  # of such a habit
GROWTH = 1.3  # of the pairs, before all pages without a partner are looked at again
MIN_RATE = 0.03  # of such links that led to a pair, as long as they are suggested


class UnlinkedPartners:
    """Suggests links from visited pages without a partner, as long as such links pay."""

    def __init__(self, partners: Partners, known: Container[Url], rates: Rates) -> None:
        self._partners = partners
        self._known = known  # addresses that a link led to
        self._rates = rates
        self._habits = Habits()
        self._alone: set[Url] = set()  # visited pages without a partner that were not looked at since
        self._pairs = 0  # when all were looked at

    def paired(self, url: Url, partner: Url) -> None:
        """Learn from a pair; a habit has a direction, from the language that was asked for first."""
        forward = self._place(url) <= self._place(partner)
        self._habits.add(*((url, partner) if forward else (partner, url)))

    def alone(self, url: Url) -> None:
        """A visited page found no partner."""
        self._alone.add(url)

    def links(self) -> tuple[Link, ...]:
        """Links to follow that are on no page."""
        pairs = len(self._partners.pairs)
        if pairs < MIN_PAIRS:
            return ()
        if pairs > GROWTH * self._pairs:
            self._pairs = pairs  # the habits may know more than they did
            self._alone.update(self._partners.unpaired())
        links = {link.url: link for link in self._suggested(sorted(self._alone))}
        self._alone.clear()
        return tuple(links.values())

    def group(self, source: Url | None) -> int:
        """The group of such links from pages in the same language: what is rarely translated has few partners."""
        language = self._partners.language(source) if source else UNDETERMINED
        return self._rates.group(("foreseen", language))

    def _suggested(self, urls: Iterable[Url]) -> Iterator[Link]:
        for url in urls:
            if not self._has_no_candidate(url) or self._rates.rate(self.group(url)) < MIN_RATE:
                continue
            for partner, confidence in self._habits.partners(url):
                known = partner in self._known or self._partners.is_visited(partner)
                if confidence >= MIN_CONFIDENCE and not known and partner.host == url.host:
                    yield Link(partner, LinkKind.PARTNER, url)

    def _has_no_candidate(self, url: Url) -> bool:
        """Visited, in a language asked for, and nothing is known that could be its partner."""
        partners = self._partners
        if partners.language(url) == UNDETERMINED or partners.is_paired(url):
            return False
        return not any(other in self._known or partners.is_visited(other) for other in partners.candidates(url))

    def _place(self, url: Url) -> int:
        return self._partners.languages.index(self._partners.language(url))
