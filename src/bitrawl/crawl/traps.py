"""Places that never end: kinds of address that stopped bringing anything new."""

import re
from collections import OrderedDict
from typing import TypeVar

from bitrawl.url import Url

# Judgement where nothing else is said; tests/end_to_end/test_hostile_web.py holds that a calendar, a shop, a maze and
# session ids end with these, and test_survival.py that no page of the bundled web is lost.
WINDOW = 30  # the last visits to one kind of address that are looked at
MIN_FRESH = 0.2  # share of them that must have brought something new
MEMORY = 64  # signatures kept of one kind: a calendar repeats itself sooner
COPIES = 5  # addresses of one text on a host: print versions and the like
REMEMBERED = 100_000  # texts, and addresses with parameters: bounds the memory
KINDS = 20_000  # kinds of address kept; the one not visited for the longest time is forgotten first
NEAR = (
    3  # bits in which two signatures of the same text, but for a word or two, may differ (Manku et al. 2007: 3 of 64)
)
ALIKE = 8  # the same for texts that bring nothing new; unrelated pages differ in 17 and more (199 pages of ours)

Key = TypeVar("Key")
Value = TypeVar("Value")

_NUMBER = re.compile(r"\d+|[0-9a-f]{16,}", re.IGNORECASE)


class Traps:
    """Counts, per kind of address, how many of the last visits brought a text that was not seen there before.

    Infinite calendars, sort and filter combinations, and session ids that we do not know by name all end here.
    """

    def __init__(self) -> None:
        self._kinds: Recent[str, _Kind] = Recent(KINDS)
        self._copies: Recent[tuple[str, int], int] = Recent(REMEMBERED)
        self._queries: Recent[str, Url] = Recent(REMEMBERED)

    def visited(self, url: Url, signature: int) -> None:
        """A page was visited, and its text has that signature; 0 for one without text."""
        kind = kind_of(url)
        self._kinds.note(kind, self._kinds.get(kind) or _Kind()).add(signature)
        copy = (url.host, signature)
        self._copies.note(copy, self._copies.get(copy, 0) + 1)

    def repeats(self, url: Url, signature: int) -> bool:
        """Whether that host has shown the very same text at many addresses: their links lead in circles."""
        return self._copies.get((url.host, signature), 0) > COPIES

    def reordered(self, url: Url) -> str:
        """The address met before that has the same parameters in another order; empty when there is none."""
        if "&" not in url:
            return ""
        path, _, query = url.partition("?")
        key = path + "?" + "&".join(sorted(query.split("&")))
        first = self._queries.get(key) or self._queries.note(key, url)
        return "" if first == url else first

    def closed(self, url: Url) -> str:
        """Why no more addresses of this kind are visited; empty while they are."""
        kind = self._kinds.get(kind_of(url))
        if kind is None or len(kind.fresh) < WINDOW or sum(kind.fresh) >= MIN_FRESH * WINDOW:
            return ""
        return f"{WINDOW - sum(kind.fresh)} of the last {WINDOW} pages like this brought nothing new"


def kind_of(url: Url) -> str:
    """The path with its numbers masked, and whether there are parameters: sorts and filters combine without end."""
    path, mark, _ = url.partition("?")
    return _NUMBER.sub("0", path) + mark


class Recent(OrderedDict[Key, Value]):
    """Remembers so many; the longest unmentioned is forgotten first."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def note(self, key: Key, value: Value) -> Value:
        """Remember, and hand back."""
        self[key] = value
        self.move_to_end(key)
        if len(self) > self._limit:
            self.popitem(last=False)
        return value


class _Kind:
    """Plain lists: most kinds are one address, and an empty deque takes half a kilobyte."""

    __slots__ = ("_signatures", "fresh")

    def __init__(self) -> None:
        self.fresh: list[bool] = []
        self._signatures: list[int] = []

    def add(self, signature: int) -> None:
        known = signature == 0 or any((signature ^ other).bit_count() <= ALIKE for other in self._signatures)
        self.fresh = [*self.fresh[1 - WINDOW :], not known]
        if not known:
            self._signatures = [*self._signatures[1 - MEMORY :], signature]
