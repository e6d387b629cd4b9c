"""The addresses of one site by small numbers, so that what is known of each takes a few bytes of an array.

With them, which addresses are the same but for their language marks, and where the links of a page stand.
"""

import zlib
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import msgspec

from bitrawl.model import Page
from bitrawl.url import Url

Value = TypeVar("Value", bound=Hashable)
Number = TypeVar("Number", int, float)

MAX_SAME_KEY = 12  # judgement: addresses of one key that are looked at; those that come later are in no chain
_NONE, _SEVERAL = -1, -2
# Most sites have so few addresses that their numbers take two bytes. They get four when the first does not fit.
_SMALL, _MOST_SMALL = "h", (1 << 15) - 1
_ANY_TEXT = "surrogatepass"  # half a character does no harm
FIRST_ROWS = 32  # addresses that a site has room for at first
FIRST_SLOTS = 64  # a power of two
MAX_NUMBERED = 1 << 16  # different values that `Numbered` has numbers for: two bytes of a column

MAX_LETTERS = 4000  # tags of one site that have a letter of their own; HTML has about 140
_FIRST_LETTER = 32
_FASTEST = 1  # of zlib: 1,500 tags take 20 µs, and a fifth of their bytes


class Numbered(Generic[Value]):
    """Values by number, in the order in which they were first seen.

    A site has few of them: languages, and sets of languages. Beyond `MAX_NUMBERED`, a new one counts as the first, which
    stands for nothing.
    """

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._numbers: dict[Value, int] = {}
        self.known: Callable[[Value], int | None] = self._numbers.get
        """None for a value without a number. It is asked some hundred times for each page, so it is no method."""

    def number(self, value: Value) -> int:
        """A new one for a new value."""
        number = self._numbers.get(value)
        if number is None:
            if len(self.values) == MAX_NUMBERED:
                return 0
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number


class HashNumbers(Generic[Value]):
    """Values by number, as `Numbered`, of which only the 64-bit hashes are kept: two values never had the same.

    A table with open addressing: 11 to 20 bytes for each, where a dictionary takes 100 and its keys.
    """

    def __init__(self) -> None:
        self._hashes = array("q")  # by number
        self._slots = array(_SMALL, [_NONE]) * FIRST_SLOTS  # a number, at the first free slot from its hash on
        self._mask = FIRST_SLOTS - 1

    def known(self, value: Value) -> int | None:
        """None for a value without a number."""
        slots, hashes, mask = self._slots, self._hashes, self._mask
        hashed = hash(value)
        slot = hashed & mask
        while (number := slots[slot]) != _NONE:
            if hashes[number] == hashed:
                return number
            slot = (slot + 1) & mask
        return None

    def number(self, value: Value) -> int:
        """A new one for a new value."""
        number = self.known(value)
        if number is None:
            number = len(self._hashes)
            self._hashes.append(hash(value))
            if 3 * number > 2 * self._mask:
                self._mask = 2 * self._mask + 1
                self._slots = array(_SMALL if self._mask <= _MOST_SMALL else "i", [_NONE]) * (self._mask + 1)
                self._place(range(number + 1))
            else:
                self._place((number,))
        return number

    def _place(self, numbers: Iterable[int]) -> None:
        slots, hashes, mask = self._slots, self._hashes, self._mask
        for number in numbers:
            slot = hashes[number] & mask
            while slots[slot] != _NONE:
                slot = (slot + 1) & mask
            slots[slot] = number


class NumberedUrls(HashNumbers[Url]):
    """URLs by number, and arrays that have places for each of them."""

    def __init__(self) -> None:
        super().__init__()
        self._origin = ""  # of the first; what begins with it is kept without it
        self._texts = bytearray()
        self._starts = array("I", [0])  # by number, and the end of the last; 4 GB of addresses fit nowhere
        self._columns: list[tuple[array[int] | array[float], bytes]] = []
        self._room = 0  # addresses that the columns have places for

    def url(self, number: int) -> Url:
        text = self._texts[self._starts[number] : self._starts[number + 1]].decode(errors=_ANY_TEXT)
        return Url.known(self._origin + text if text.startswith("/") else text)

    def column(self, typecode: str, default: Number, width: int = 1) -> "array[Number]":
        """A new array of numbers that grows with the addresses, with so many places for each; the last ones are spare."""
        made: array[Number] = array(typecode, [default]) * (width * self._room)
        self._columns.append((made, array(typecode, [default]).tobytes() * width))
        return made

    def widened(self, column: "array[int]") -> "array[int]":
        """The same column with four bytes for each number, in the place of the narrower one."""
        wide = array("i", column)
        place = next(place for place, (other, _) in enumerate(self._columns) if other is column)
        self._columns[place] = wide, array("i", array(column.typecode, self._columns[place][1])).tobytes()
        return wide

    def number(self, value: Url) -> int:
        number = super().number(value)
        if number == len(self._starts) - 1:
            self._origin = self._origin or value.origin
            text = value.removeprefix(self._origin)
            self._texts += (text if text.startswith("/") else value).encode("utf-8", _ANY_TEXT)
            self._starts.append(len(self._texts))
            if number >= self._room:
                self._grow()
        return number

    def _grow(self) -> None:
        """By a sixteenth: what is spare takes memory. An array keeps as much to spare on its own."""
        more = max(FIRST_ROWS, self._room // 16)
        self._room += more
        for column, defaults in self._columns:
            column.frombytes(defaults * more)


class Relation:
    """Some other addresses for each; one takes two or four bytes, and more of them 150."""

    def __init__(self, addresses: NumberedUrls) -> None:
        self._addresses = addresses
        self._only = addresses.column(_SMALL, _NONE)
        self._several: dict[int, tuple[int, ...]] = {}

    def of(self, number: int) -> tuple[int, ...]:
        only = self._only[number]
        if only == _NONE:
            return ()
        return self._several[number] if only == _SEVERAL else (only,)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Each address with each of its others."""
        return ((number, other) for number in range(len(self._only)) for other in self.of(number))

    def put(self, number: int, others: tuple[int, ...]) -> None:
        """In the place of those that it had; at least one."""
        if len(others) == 1:
            if others[0] > _MOST_SMALL and self._only.typecode == _SMALL:
                self._only = self._addresses.widened(self._only)
            self._only[number] = others[0]
        else:
            self._only[number] = _SEVERAL
            self._several[number] = others


class SameKey:
    """An entry for each key of an address; the entries of one key are a chain that begins with its first address."""

    def __init__(self, addresses: NumberedUrls) -> None:
        self._addresses = addresses
        self._first_entry = addresses.column(_SMALL, _NONE)  # by address; its other entries follow
        self._entries = addresses.column("B", 0)
        self._keys: HashNumbers[str] = HashNumbers()
        self._heads = array(_SMALL)  # by key: the first entry
        self._address = array(_SMALL)  # by entry, as the next two
        self._key = array(_SMALL)
        self._next = array(_SMALL)

    def has(self, number: int) -> bool:
        return self._first_entry[number] != _NONE

    def add(self, number: int, keys: Sequence[str]) -> None:
        """An address that has no entry yet."""
        if self._next.typecode == _SMALL and max(number, len(self._address) + len(keys)) > _MOST_SMALL:
            self._widen()
        self._first_entry[number] = len(self._address)
        self._entries[number] = min(len(keys), 255)
        for text in keys[:255]:
            entry = len(self._address)
            key = self._keys.number(text)
            self._address.append(number)
            self._key.append(key)
            self._next.append(_NONE)
            if key == len(self._heads):
                self._heads.append(entry)
            else:
                self._append(self._heads[key], entry)

    def of(self, number: int) -> list[int]:
        """The addresses that share a key with that one, itself among them, the first come first."""
        first = self._first_entry[number]
        if first == _NONE:
            return []
        addresses = []
        for entry in range(first, first + self._entries[number]):
            link = self._heads[self._key[entry]]
            while link != _NONE:
                addresses.append(self._address[link])
                link = self._next[link]
        return addresses

    def _widen(self) -> None:
        self._first_entry = self._addresses.widened(self._first_entry)
        wide = (array("i", numbers) for numbers in (self._heads, self._address, self._key, self._next))
        self._heads, self._address, self._key, self._next = wide

    def _append(self, head: int, entry: int) -> None:
        last = head
        for _ in range(MAX_SAME_KEY - 1):
            if self._next[last] == _NONE:
                self._next[last] = entry
                return
            last = self._next[last]


class TagLetters(dict[str, str]):
    """A letter for each tag of one site."""

    def __missing__(self, tag: str) -> str:
        letter = chr(_FIRST_LETTER + min(len(self), MAX_LETTERS))
        if len(self) < MAX_LETTERS:
            self[tag] = letter
        return letter


class PlacedLinks(msgspec.Struct, frozen=True, gc=False):
    """The tags of a page as letters, and the targets of its links by their places."""

    tags: bytes  # compressed
    places: bytes
    targets: bytes

    @classmethod
    def of(cls, page: Page, letters: TagLetters, addresses: NumberedUrls, *, max_tags: int) -> "PlacedLinks":
        """Without links to other sites, of which no page is asked for."""
        tags = "".join(map(letters.__getitem__, page.tags[:max_tags]))
        site = page.url.site
        targets: dict[int, int] = {}
        known = addresses.known
        for link in page.links:
            position = link.position
            if 0 <= position < max_tags:
                number = known(link.url)
                if number is None and link.url.site == site:
                    number = addresses.number(link.url)
                if number is not None:
                    targets[position] = number
        return cls(
            zlib.compress(tags.encode(), _FASTEST),
            array("H", targets).tobytes(),
            array("I", targets.values()).tobytes(),
        )

    def read(self) -> tuple[str, dict[int, int]]:
        """The letters, and the addresses of the targets by place."""
        places, targets = array("H", self.places), array("I", self.targets)
        return zlib.decompress(self.tags).decode(), dict(zip(places, targets, strict=True))
