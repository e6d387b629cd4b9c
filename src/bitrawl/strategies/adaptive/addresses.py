"""The addresses of one site by small numbers, so that what is known of each takes a few bytes of an array.

With them, which addresses are the same but for their language marks, and where the links of a page stand.
"""

import zlib
from array import array
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import msgspec

from bitrawl.model import Page
from bitrawl.url import Url

Value = TypeVar("Value", bound=Hashable)

MAX_SAME_KEY = 12  # judgement: addresses of one key that are looked at; those that come later are in no chain
_NONE = -1

MAX_LETTERS = 4000  # tags of one site that have a letter of their own; HTML has about 140
_FIRST_LETTER = 32
_FASTEST = 1  # of zlib: 1,500 tags take 20 µs, and a fifth of their bytes


class Numbered(Generic[Value]):
    """Values by number, in the order in which they were first seen."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._numbers: dict[Value, int] = {}
        self.known: Callable[[Value], int | None] = self._numbers.get
        """None for a value without a number. It is asked some hundred times for each page, so it is no method."""

    def number(self, value: Value) -> int:
        """A new one for a new value."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number


class NumberedUrls(Numbered[Url]):
    """URLs by number, and arrays that have a place for each of them."""

    def __init__(self) -> None:
        super().__init__()
        self._columns: list[tuple[array[int], int]] = []

    def column(self, typecode: str, default: int) -> "array[int]":
        """A new array of integers that grows with the addresses."""
        made = array(typecode, [default]) * len(self.values)
        self._columns.append((made, default))
        return made

    def number(self, value: Url) -> int:
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
            for column, default in self._columns:
                column.append(default)
        return number


class SameKey:
    """An entry for each key of an address; the entries of one key are a chain that begins with its first address."""

    def __init__(self, addresses: NumberedUrls) -> None:
        self._first_entry = addresses.column("i", _NONE)  # by address; its other entries follow
        self._entries = addresses.column("B", 0)
        self._heads: dict[int, int] = {}  # the first entry of a key, by the key's hash: two of 64 bits never met
        self._address = array("i")  # by entry, as the next two
        self._head = array("i")
        self._next = array("i")

    def has(self, number: int) -> bool:
        return self._first_entry[number] != _NONE

    def add(self, number: int, keys: Sequence[str]) -> None:
        """An address that has no entry yet."""
        self._first_entry[number] = len(self._address)
        self._entries[number] = min(len(keys), 255)
        for key in keys[:255]:
            entry = len(self._address)
            head = self._heads.setdefault(hash(key), entry)
            self._address.append(number)
            self._head.append(head)
            self._next.append(_NONE)
            if head != entry:
                self._append(head, entry)

    def of(self, number: int) -> list[int]:
        """The addresses that share a key with that one, itself among them, the first come first."""
        first = self._first_entry[number]
        if first == _NONE:
            return []
        addresses = []
        for entry in range(first, first + self._entries[number]):
            link = self._head[entry]
            while link != _NONE:
                addresses.append(self._address[link])
                link = self._next[link]
        return addresses

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
