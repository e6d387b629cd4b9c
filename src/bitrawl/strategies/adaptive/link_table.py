"""What is known of the links of one site: a row for each, in arrays that one matrix product scores.

`LinkStates` says what other addresses and visits say of a link, which changes as the crawl goes on.
"""

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from enum import IntEnum

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.strategies.adaptive.addresses import Numbered, NumberedUrls
from bitrawl.strategies.adaptive.partners import Partners
from bitrawl.url import Url

MIN_ANCHOR = 10  # judgement: letters of a link text; shorter ones ("next", "English") name many pages
_NO_ANCHOR = 0  # no text of a link has this hash, but for one of 2 ** 64

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

FIRST_ROWS = 256  # rows of a new table; it doubles when they are full


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

    def __init__(self, partners: Partners, known: Container[Url], addresses: NumberedUrls) -> None:
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
        claim_number = 0 if number is None else self._claims[number]
        claim = self._every_claim.values[claim_number] if claim_number else self._partners.claim(url)
        if claim == UNDETERMINED:
            return False
        wanted = [language for language in self._partners.languages if same_language(claim, language)]
        self.signs.update(wanted)
        return not wanted


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
_STATE_COLUMNS = np.array([LinkColumn[field.upper()] for field in LinkState.__struct_fields__])
_BY_STATE = GROUPS.index(LinkColumn.BY_STATE)


class LinkTable:
    """The arrays grow together; a row has the number of its address."""

    def __init__(self, addresses: NumberedUrls | None = None) -> None:
        self._addresses = addresses or NumberedUrls()
        self._has = self._addresses.column("b", 0)  # some addresses are known that no link led to
        self._queued = self._addresses.column("b", 0)
        self.count = self.queued_count = 0
        self._facts = np.zeros((FIRST_ROWS, len(FACTS)), np.float16)  # hundreds of thousands of rows
        self._groups = np.zeros((FIRST_ROWS, len(GROUPS)), np.int32)
        self._written = np.zeros(FIRST_ROWS, np.float32)  # the score that the queue has
        self._gains = np.full(FIRST_ROWS, np.nan, np.float32)  # what a visit brought; nan until it is counted
        self._changed: set[int] = set()

    def row(self, url: Url) -> int | None:
        """None for an address that no link led to."""
        number = self._addresses.known(url)
        return number if number is not None and self._has[number] else None

    def rows(self, urls: Iterable[Url]) -> list[int | None]:
        """The same for several."""
        known, has = self._addresses.known, self._has
        return [number if (number := known(url)) is not None and has[number] else None for url in urls]

    def __contains__(self, url: object) -> bool:
        return self.row(url) is not None  # type: ignore[arg-type] # what is no address is not there

    def url(self, row: int) -> Url:
        return self._addresses.values[row]

    def add(
        self, url: Url, facts: Mapping[LinkColumn, float], groups: Mapping[LinkColumn, int], *, queued: bool
    ) -> int:
        """A new row, marked as changed; columns that are not given are 0."""
        row = self._addresses.number(url)
        self.count += not self._has[row]
        self._has[row] = 1
        if row >= len(self._written):
            self._grow(row)
        for column, value in facts.items():
            self._facts[row, column] = value
        for column, group in groups.items():
            self._groups[row, column - GROUPS[0]] = group
        self.queued_count += queued - self._queued[row]
        self._queued[row] = queued
        self._changed.add(row)
        return row

    def _grow(self, row: int) -> None:
        """Memory that is not written to yet takes no place."""
        rows = len(self._written)
        more = max(2 * rows, row + 1)
        for name in ("_facts", "_groups", "_written"):
            old = getattr(self, name)
            new = np.zeros((more, *old.shape[1:]), old.dtype)
            new[:rows] = old
            setattr(self, name, new)
        self._gains = np.concatenate([self._gains, np.full(more - rows, np.nan, np.float32)])

    # columns

    def facts(self, rows: Rows) -> NDArray[np.float16]:
        """One row each, in the order of `FACTS`."""
        values: NDArray[np.float16] = self._facts[rows]
        return values

    def fact(self, rows: Rows, column: LinkColumn) -> Floats:
        values: Floats = self._facts[rows, column].astype(np.float32)
        return values

    def set_fact(self, rows: Rows, column: LinkColumn, value: float) -> None:
        self._facts[rows, column] = value

    def groups(self, rows: Rows) -> NDArray[np.int32]:
        """One row each, in the order of `GROUPS`."""
        numbers: NDArray[np.int32] = self._groups[rows]
        return numbers

    def group_numbers(self, row: int) -> list[int]:
        numbers: list[int] = self._groups[row].tolist()
        return numbers

    def set_states(self, rows: Rows, states: Sequence[LinkState], groups: Sequence[int]) -> None:
        """The columns that each state has, and the group of links that share it."""
        if len(rows):
            self._facts[rows[:, None], _STATE_COLUMNS] = [msgspec.structs.astuple(state) for state in states]
            self._groups[rows, _BY_STATE] = groups

    # visits

    def queued(self) -> Rows:
        """The rows of all links that were not visited yet."""
        return np.flatnonzero(np.frombuffer(self._queued, np.bool_))

    def are_queued(self, rows: Rows) -> NDArray[np.bool_]:
        queued: NDArray[np.bool_] = np.frombuffer(self._queued, np.bool_)[rows]
        return queued

    def visit(self, row: int) -> None:
        self.queued_count -= self._queued[row]
        self._queued[row] = 0

    def gain(self, row: int) -> float | None:
        """What the visit brought, as far as it was counted; None before."""
        gain = float(self._gains[row])
        return None if np.isnan(gain) else gain

    def set_gain(self, row: int, gain: float) -> None:
        self._gains[row] = gain

    # scores

    def written(self, rows: Rows) -> Floats:
        scores: Floats = self._written[rows]
        return scores

    def write(self, rows: Rows, scores: Floats) -> None:
        self._written[rows] = scores

    # changes

    def mark(self, rows: Iterable[int]) -> None:
        """The state of these rows may have changed."""
        self._changed.update(rows)

    def mark_queued(self, urls: Iterable[Url]) -> None:
        """As `mark`, for those of the addresses that are queued."""
        for url in urls:
            row = self._addresses.known(url)
            if row is not None and self._queued[row]:
                self._changed.add(row)

    def take_changed(self) -> Rows:
        """The rows that were marked since the last call, in order."""
        rows = np.array(sorted(self._changed), np.int64)
        self._changed.clear()
        return rows
