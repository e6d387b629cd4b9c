"""Places that never end: kinds of address that stopped bringing anything new."""

import re
from collections import OrderedDict, deque

from bitrawl.url import Url

WINDOW = 30  # visits to one kind of address that are looked back on
MIN_FRESH = 0.2  # share of them that must have brought something new
MEMORY = 64  # signatures kept of one kind: a calendar repeats itself sooner
KINDS = 20_000  # kinds of address kept, the longest unvisited forgotten first
NEAR = 3  # bits in which two signatures of nearly the same text may differ

_NUMBER = re.compile(r"\d+|[0-9a-f]{16,}", re.IGNORECASE)


class Traps:
    """Counts, per kind of address, how many of the last visits brought a text that was not seen there before.

    Infinite calendars, sort and filter combinations, and session ids that we do not know by name all end here.
    """

    def __init__(self) -> None:
        self._kinds: OrderedDict[str, _Kind] = OrderedDict()

    def visited(self, url: Url, signature: int) -> None:
        """A page was visited, and its text has that signature; 0 for one without text."""
        key = kind_of(url)
        kind = self._kinds.setdefault(key, _Kind())
        self._kinds.move_to_end(key)
        if len(self._kinds) > KINDS:
            self._kinds.popitem(last=False)
        kind.add(signature)

    def closed(self, url: Url) -> str:
        """Why no more addresses of this kind are visited; empty while they are."""
        kind = self._kinds.get(kind_of(url))
        if kind is None or len(kind.fresh) < WINDOW or sum(kind.fresh) >= MIN_FRESH * WINDOW:
            return ""
        return f"{WINDOW - sum(kind.fresh)} of the last {WINDOW} pages like this brought nothing new"


def kind_of(url: Url) -> str:
    """The address with its numbers masked and the values of its parameters left out."""
    path, mark, query = url.partition("?")
    names = sorted({item.partition("=")[0] for item in query.split("&")}) if mark else []
    return _NUMBER.sub("0", path) + mark + "&".join(names)


class _Kind:
    def __init__(self) -> None:
        self.fresh: deque[bool] = deque(maxlen=WINDOW)
        self._signatures: deque[int] = deque(maxlen=MEMORY)

    def add(self, signature: int) -> None:
        known = signature == 0 or any((signature ^ other).bit_count() <= NEAR for other in self._signatures)
        self.fresh.append(not known)
        if not known:
            self._signatures.append(signature)
