"""What other URLs and visits tell about a link. It changes during the crawl."""

from collections.abc import Container, Hashable

import msgspec

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Language, Link
from bitrawl.strategies.adaptive.partners import Partners
from bitrawl.url import Url

MIN_ANCHOR = 10  # judgement: letters of a link text; shorter texts ("next", "English") name many pages


class LinkState(msgspec.Struct, frozen=True, kw_only=True):
    """How a link relates to its possible partners. Each field is the model's column of that name."""

    declared: bool  # something declares it as a version of another page
    unwanted: bool  # it is said to be in a language that was not requested
    partner_visited: bool  # a possible partner was visited and expects its partner here
    partner_queued: bool  # none was visited, but one is queued
    # one was visited, but it is not a page in another requested language, or it is paired with another page
    partner_failed: bool
    same_anchor: bool  # it has the same link text as a possible partner, which suggests that it was not translated
    other_anchor: bool
    twin_visited: bool  # another spelling of the same URL was visited
    twin_queued: bool
    beside: bool  # the only evidence of its partners is their place on paired pages
    silent: bool  # a possible partner declares its translations, but not this one

    @property
    def group(self) -> tuple[Hashable, ...]:
        """The links that share a rate, as a path in `Rates`: partner, then link texts, then declarations."""
        if self.partner_visited:
            partner = "visited"
        elif self.partner_failed:
            partner = "failed"
        else:
            partner = "queued" if self.partner_queued else "none"
        anchor = "same" if self.same_anchor else "other" if self.other_anchor else "none"
        return ((partner, self.beside, self.silent), anchor, self.declared)


class LinkStates:
    """The state of any link of one site, from the links' own attributes and from what `Partners` knows."""

    def __init__(self, partners: Partners, known: Container[Url]) -> None:
        self.signs: set[Language] = set()  # requested languages that some link is said to be in
        self._partners = partners
        self._known = known  # URLs that a link led to
        self._anchors: dict[Url, str] = {}
        self._claims: dict[Url, Language] = {}

    def read_language(self, link: Link) -> bool:
        """Remember the language that the link claims for its target. Returns whether that is new."""
        if link.url in self._claims:
            return False
        claim = claimed_language(link.hreflang)
        if claim == UNDETERMINED:
            return False
        self._claims[link.url] = claim
        return True

    def read_anchor(self, link: Link) -> bool:
        """Remember the first long link text for its target. Returns whether this is it."""
        if link.url in self._anchors:
            return False
        anchor = " ".join(link.anchor.split()).casefold()
        if len(anchor) < MIN_ANCHOR:
            return False
        self._anchors[link.url] = anchor
        return True

    def redirect(self, old: Url, new: Url) -> None:
        """The new URL gets the old one's link text."""
        if old in self._anchors:
            self._anchors.setdefault(new, self._anchors[old])

    def of(self, url: Url) -> LinkState:
        partners, known, anchors = self._partners, self._known, self._anchors
        visited = queued = failed = silent = same = other_name = False
        mine = anchors.get(url)
        for other in partners.candidates(url):
            if other in partners.visited:
                expects = partners.expects(other, url)
                visited |= expects
                failed |= not expects
                silent |= partners.leaves_out(other, url)
            elif other in known:
                queued = True
            name = anchors.get(other)
            if mine and name:
                same |= name == mine
                other_name |= name != mine
        twins = [twin for twin in partners.twins(url) if twin in known or twin in partners.visited]
        twin_visited = any(partners.visited.get(twin) is not None for twin in twins)
        return LinkState(
            declared=partners.is_declared(url),
            unwanted=self._is_unwanted(url),
            partner_visited=visited,
            partner_queued=queued and not visited,
            partner_failed=failed and not visited,
            same_anchor=same,
            other_anchor=other_name and not same,
            twin_visited=twin_visited,
            twin_queued=bool(twins) and not twin_visited,
            beside=partners.is_beside(url),
            silent=silent,
        )

    def _is_unwanted(self, url: Url) -> bool:
        claim = self._claims.get(url) or self._partners.claim(url)
        if claim == UNDETERMINED:
            return False
        wanted = [one for one in self._partners.languages if same_language(claim, one)]
        self.signs.update(wanted)
        return not wanted
