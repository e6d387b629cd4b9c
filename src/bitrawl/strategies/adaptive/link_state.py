"""What other addresses and visits say of a link: it changes as the crawl goes on."""

from collections.abc import Container, Hashable

import msgspec

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.strategies.adaptive.addresses import Addresses, Numbered
from bitrawl.strategies.adaptive.partners import Partners
from bitrawl.url import Url

MIN_ANCHOR = 10  # judgement: letters of a link text; shorter ones ("next", "English") name many pages
_NO_ANCHOR = 0  # no text of a link has this hash, but for one of 2 ** 64


class LinkState(msgspec.Struct, frozen=True, kw_only=True):
    """How a link relates to the addresses that may be its partner, each field a column of the model by its name."""

    declared: bool  # somebody names it as a version of another page
    unwanted: bool  # it is said to be in a language that nobody asked for
    partner_visited: bool  # one of them was, and expects a partner here
    partner_queued: bool  # none was, one is queued
    partner_failed: bool  # visited, and no page of another language asked for, or paired with another
    same_anchor: bool  # it has the link text of one of them: a sign that it was not translated
    other_anchor: bool
    twin_visited: bool  # under another spelling of the same address
    twin_queued: bool
    beside: bool  # they are known by nothing but a place on paired pages
    silent: bool  # one of them names its translations, and not this one

    @property
    def group(self) -> tuple[Hashable, ...]:
        """Links that share a rate, as a path of `Rates`: partner, then link texts, then declarations."""
        if self.partner_visited:
            partner = "visited"
        elif self.partner_failed:
            partner = "failed"
        else:
            partner = "queued" if self.partner_queued else "none"
        anchor = "same" if self.same_anchor else "other" if self.other_anchor else "none"
        return ((partner, self.beside, self.silent), anchor, self.declared)


class LinkStates:
    """The state of any link of one site, from what links say of their targets and from what `Partners` knows."""

    def __init__(self, partners: Partners, known: Container[Url], addresses: Addresses) -> None:
        self.signs: set[Language] = set()  # languages asked for that some link is said to be in
        self._partners = partners
        self._known = known  # addresses that a link led to
        self._addresses = addresses
        self._anchors = addresses.column("q", _NO_ANCHOR)  # hashes of the link texts
        self._every_claim: Numbered[Language] = Numbered()
        self._claims = addresses.column("I", self._every_claim.number(UNDETERMINED))

    def read_language(self, hreflang: str, number: int) -> bool:
        """Remember the language that a link says its target is in; whether that is news."""
        if self._claims[number]:
            return False
        self._claims[number] = self._every_claim.number(claimed_language(hreflang))
        return bool(self._claims[number])

    def read_anchor(self, anchor: str, number: int) -> bool:
        """Remember the first long text of a link to an address; whether this is it."""
        if self._anchors[number] != _NO_ANCHOR:
            return False
        anchor = " ".join(anchor.split()).casefold()
        if len(anchor) < MIN_ANCHOR:
            return False
        self._anchors[number] = hash(anchor)
        return True

    def redirect(self, old: Url, new: Url) -> None:
        """The new address has the old one's link text."""
        old_number, number = self._addresses.number(old), self._addresses.number(new)
        if self._anchors[number] == _NO_ANCHOR:
            self._anchors[number] = self._anchors[old_number]

    def of(self, url: Url) -> LinkState:
        partners, known = self._partners, self._known
        visited = queued = failed = silent = same = other_name = False
        mine = self._anchor(url)
        for other in partners.candidates(url):
            if partners.is_visited(other):
                expects = partners.expects(other, url)
                visited |= expects
                failed |= not expects
                silent |= partners.leaves_out(other, url)
            elif other in known:
                queued = True
            name = self._anchor(other)
            if _NO_ANCHOR not in (mine, name):
                same |= name == mine
                other_name |= name != mine
        twins = [twin for twin in partners.twins(url) if twin in known or partners.is_visited(twin)]
        twin_visited = any(partners.has_page(twin) for twin in twins)
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

    def _anchor(self, url: Url) -> int:
        number = self._addresses.known(url)
        return _NO_ANCHOR if number is None else self._anchors[number]

    def _is_unwanted(self, url: Url) -> bool:
        number = self._addresses.known(url)
        said = 0 if number is None else self._claims[number]
        claim = self._every_claim.values[said] if said else self._partners.claim(url)
        if claim == UNDETERMINED:
            return False
        wanted = [one for one in self._partners.languages if same_language(claim, one)]
        self.signs.update(wanted)
        return not wanted
