"""What is known of the links of one site: a row for each, in arrays that one matrix product scores.

`LinkStates` says what other addresses and visits say of a link, which changes as the crawl goes on.
"""

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from struct import Struct

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.strategies.adaptive.addresses import Numbered, NumberedUrls
from bitrawl.strategies.adaptive.partners import Partners
from bitrawl.url import Url
from bitrawl.urls import address_languages

MIN_ANCHOR = 10  # judgement: letters of a link text; shorter ones ("next", "English") name many pages
_NO_ANCHOR = 0  # no text of a link has this hash, but for one of 2 ** 32
_ANCHOR_BITS = 0xFFFFFFFF  # of a hash that are kept: a text is compared with those of a few candidates

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class LinkState(msgspec.Struct, frozen=True, kw_only=True):
    """How a link relates to the addresses that may be its partner, each field a column of the model by its name."""

    declared: bool  # somebody names it as a version of another page
    unwanted: bool  # a link, a declaration or its address says that it is in a language that nobody asked for
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

    def __init__(self, partners: Partners, known: Container[int], addresses: NumberedUrls) -> None:
        self.signs: set[Language] = set()  # languages asked for that a text, a declaration or an address hints at
        self._partners = partners
        self._known = known  # addresses that a link led to
        self._addresses = addresses
        self._anchors = addresses.column("I", _NO_ANCHOR)  # hashes of the link texts
        self._every_claim: Numbered[Language] = Numbered()
        self._claims = addresses.column("H", self._every_claim.number(UNDETERMINED))
        self._marked = addresses.column("b", 0)  # whose address names other languages only

    def read_address(self, number: int, url: Url) -> None:
        """Remember whether the address itself names other languages only."""
        marks = list(map(claimed_language, address_languages(url, countries=False)))
        self._marked[number] = bool(marks) and not any(map(self._is_asked, marks))

    def read_language(self, hreflang: str, number: int) -> bool:
        """Remember the language that a link says its target is in; whether that is news."""
        if self._claims[number]:
            return False
        self._claims[number] = self._every_claim.number(claimed_language(hreflang))
        return bool(self._claims[number])

    def knows_anchor(self, number: int) -> bool:
        """Whether a long text of a link to that address was read."""
        return self._anchors[number] != _NO_ANCHOR

    def read_anchor(self, anchor: str, number: int) -> bool:
        """Remember the first long text of a link to an address; whether this is it."""
        if self.knows_anchor(number):
            return False
        anchor = " ".join(anchor.split()).casefold()
        if len(anchor) < MIN_ANCHOR:
            return False
        self._anchors[number] = hash(anchor) & _ANCHOR_BITS
        return True

    def redirect(self, old: Url, new: Url) -> None:
        """The new address has the old one's link text."""
        old_number, number = self._addresses.number(old), self._addresses.number(new)
        if self._anchors[number] == _NO_ANCHOR:
            self._anchors[number] = self._anchors[old_number]

    def of(self, number: int) -> LinkState:
        partners, known = self._partners, self._known
        visited = queued = failed = silent = same = other_name = False
        mine = self._anchors[number]
        for other in partners.candidates(number):
            if partners.is_visited(other):
                expects = partners.expects(other, number)
                visited |= expects
                failed |= not expects
                silent |= partners.leaves_out(other, number)
            elif other in known:
                queued = True
            name = self._anchors[other]
            if _NO_ANCHOR not in (mine, name):
                same |= name == mine
                other_name |= name != mine
        twins = [twin for twin in partners.twins(number) if twin in known or partners.is_visited(twin)]
        twin_visited = any(partners.has_page(twin) for twin in twins)
        return LinkState(
            declared=partners.is_declared(number),
            unwanted=self._is_unwanted(number),
            partner_visited=visited,
            partner_queued=queued and not visited,
            partner_failed=failed and not visited,
            same_anchor=same,
            other_anchor=other_name and not same,
            twin_visited=twin_visited,
            twin_queued=bool(twins) and not twin_visited,
            beside=partners.is_beside(number),
            silent=silent,
        )

    def _is_unwanted(self, number: int) -> bool:
        claim_number = self._claims[number]
        claim = self._every_claim.values[claim_number] if claim_number else self._partners.claim(number)
        if claim == UNDETERMINED:
            return bool(self._marked[number])
        wanted = [language for language in self._partners.languages if same_language(claim, language)]
        self.signs.update(wanted)
        return not wanted

    def _is_asked(self, language: Language) -> bool:
        return any(same_language(language, wanted) for wanted in self._partners.languages)


class LinkColumn(IntEnum):
    """What the model weighs. `LinkState` says what its fields mean."""

    BIAS = 0
    DECLARED = 1
    UNWANTED = 2
    WANTED = 3  # log-odds that it is in a language asked for, by its URL
    PARTNER_VISITED = 4
    PARTNER_QUEUED = 5
    PARTNER_FAILED = 6
    SAME_ANCHOR = 7
    OTHER_ANCHOR = 8
    FROM_WANTED = 9  # found on a page in a language asked for
    FROM_PAIRED = 10
    LISTED = 11  # in a sitemap
    DEPTH = 12
    TWIN_VISITED = 13
    TWIN_QUEUED = 14
    BESIDE = 15
    SILENT = 16
    # The columns before are facts. Those from here on are log-odds of what links of the same group brought so far.
    BY_MARKS = 17  # links with the same language marks
    BY_PLACE = 18  # in the same directory, languages apart
    BY_BOTH = 19
    BY_SOURCE = 20  # from the same page
    BY_STATE = 21  # of which the same was known: declared, partner, link texts


FACTS = tuple(column for column in LinkColumn if column < LinkColumn.BY_MARKS)
GROUPS = tuple(column for column in LinkColumn if column >= LinkColumn.BY_MARKS)
_REAL = (LinkColumn.WANTED, LinkColumn.DEPTH)  # facts that are more than yes or no
_STATE_BITS = np.array([1 << LinkColumn[field.upper()] for field in LinkState.__struct_fields__], np.uint32)
_NO_STATE = np.uint32(~_STATE_BITS.sum(dtype=np.uint32))
_HALF = Struct("e")
_MOST_SMALL = (1 << 16) - 1
_NO_GAIN = -1  # until it is counted
_BY_STATE = GROUPS.index(LinkColumn.BY_STATE)


class LinkTable:
    """A row has the number of its address, and about 40 bytes: a site may have hundreds of thousands."""

    def __init__(self, addresses: NumberedUrls | None = None) -> None:
        self._addresses = addresses or NumberedUrls()
        self._has = self._addresses.column("b", 0)  # some addresses are known that no link led to
        self._queued = self._addresses.column("b", 0)
        self.count = self.queued_count = 0
        self._flags = self._addresses.column("I", 0)  # a bit for each fact that is not in `_REAL`, at its number
        self._real = self._addresses.column("H", 0, len(_REAL))  # numbers of 16 bits
        self._groups = self._addresses.column("H", 0, len(GROUPS))  # of four bytes, once there are so many
        self._written = self._addresses.column("f", 0.0)  # the score that the queue has
        self._gains = self._addresses.column("b", _NO_GAIN)  # what a visit brought, in halves of a pair
        self._changed: set[int] = set()

    def row(self, url: Url) -> int | None:
        """None for an address that no link led to."""
        number = self._addresses.known(url)
        return number if number is not None and self._has[number] else None

    def rows(self, urls: Iterable[Url]) -> list[int | None]:
        """The same for several."""
        known, has = self._addresses.known, self._has
        return [number if (number := known(url)) is not None and has[number] else None for url in urls]

    def __contains__(self, number: object) -> bool:
        """Whether an address has a row."""
        return bool(self._has[number])  # type: ignore[call-overload] # it is asked by number

    def url(self, row: int) -> Url:
        return self._addresses.url(row)

    def add(
        self, row: int, facts: Mapping[LinkColumn, float], groups: Mapping[LinkColumn, int], *, queued: bool
    ) -> None:
        """A new row, marked as changed; columns that are not given are 0."""
        self.count += not self._has[row]
        self._has[row] = 1
        for column, value in facts.items():
            if column in _REAL:
                _HALF.pack_into(self._real, _HALF.size * (len(_REAL) * row + _REAL.index(column)), value)
            elif value:
                self._flags[row] |= 1 << column
        self._make_room(groups.values())
        first = len(GROUPS) * row - GROUPS[0]
        for column, group in groups.items():
            self._groups[first + column] = group
        self.queued_count += queued - self._queued[row]
        self._queued[row] = queued
        self._changed.add(row)

    # columns

    def facts(self, rows: Rows) -> Floats:
        """One row each, in the order of `FACTS`."""
        flags = np.frombuffer(self._flags, np.uint32)[rows].astype("<u4", copy=False)
        bits = np.unpackbits(flags.view(np.uint8).reshape(-1, 4), axis=1, count=len(FACTS), bitorder="little")
        values = bits.astype(np.float32)
        values[:, _REAL] = np.frombuffer(self._real, np.float16).reshape(-1, len(_REAL))[rows]
        return values

    def are(self, rows: Rows, column: LinkColumn) -> NDArray[np.bool_]:
        """Whether each has a fact that is yes or no."""
        flags: NDArray[np.bool_] = np.frombuffer(self._flags, np.uint32)[rows] & np.uint32(1 << column) != 0
        return flags

    def set(self, rows: Rows, column: LinkColumn) -> None:
        """Say yes to such a fact."""
        np.frombuffer(self._flags, np.uint32)[rows] |= np.uint32(1 << column)

    def groups(self, rows: Rows) -> NDArray[np.int32]:
        """One row each, in the order of `GROUPS`."""
        return self._every_group()[rows].astype(np.int32, copy=False)

    def group_numbers(self, row: int) -> list[int]:
        return self._groups[len(GROUPS) * row : len(GROUPS) * (row + 1)].tolist()

    def _every_group(self) -> NDArray[np.integer]:
        return np.frombuffer(self._groups, self._groups.typecode).reshape(-1, len(GROUPS))

    def _make_room(self, groups: Iterable[int]) -> None:
        if self._groups.typecode == "H" and max(groups) > _MOST_SMALL:
            self._groups = self._addresses.widened(self._groups)

    def set_states(self, rows: Rows, states: Sequence[LinkState], groups: Sequence[int]) -> None:
        """The columns that each state has, and the group of links that share it."""
        if len(rows):
            bits = np.array([msgspec.structs.astuple(state) for state in states], np.uint32) @ _STATE_BITS
            flags = np.frombuffer(self._flags, np.uint32)
            flags[rows] = flags[rows] & _NO_STATE | bits
            self._make_room(groups)
            self._every_group()[rows, _BY_STATE] = groups

    # visits

    def queued(self) -> Rows:
        """The rows of all links that were not visited yet."""
        return np.flatnonzero(np.frombuffer(self._queued, np.bool_))

    def oldest(self) -> Url | None:
        """The link that has been queued for longest; None without links."""
        queued = np.frombuffer(self._queued, np.bool_)
        return self.url(int(np.argmax(queued))) if queued.any() else None

    def are_queued(self, rows: Rows) -> NDArray[np.bool_]:
        queued: NDArray[np.bool_] = np.frombuffer(self._queued, np.bool_)[rows]
        return queued

    def visit(self, row: int) -> None:
        self.queued_count -= self._queued[row]
        self._queued[row] = 0

    def gain(self, row: int) -> float | None:
        """What the visit brought, as far as it was counted; None before."""
        gain = self._gains[row]
        return None if gain == _NO_GAIN else gain / 2

    def set_gain(self, row: int, gain: float) -> None:
        """0, a half or 1."""
        self._gains[row] = int(2 * gain)

    # scores

    def written(self, rows: Rows) -> Floats:
        scores: Floats = np.frombuffer(self._written, np.float32)[rows]
        return scores

    def write(self, rows: Rows, scores: Floats) -> None:
        np.frombuffer(self._written, np.float32)[rows] = scores

    # changes

    def mark(self, rows: Iterable[int]) -> None:
        """The state of these rows may have changed."""
        self._changed.update(rows)

    def mark_queued(self, numbers: Iterable[int]) -> None:
        """As `mark`, for those of the addresses that are queued."""
        for number in numbers:
            if self._queued[number]:
                self._changed.add(number)

    def take_changed(self) -> Rows:
        """The rows that were marked since the last call, in order."""
        rows = np.array(sorted(self._changed), np.int64)
        self._changed.clear()
        return rows
