"""Addresses that are the same without their language marks, as chains in arrays."""

from array import array
from collections.abc import Sequence

from bitrawl.strategies.adaptive.addresses import Addresses

MAX_SAME_KEY = 12  # judgement: addresses of one key that are looked at; those that come later are in no chain
_NONE = -1


class SameKey:
    """An entry for each key of an address; the entries of one key are a chain that begins with its first address."""

    def __init__(self, addresses: Addresses) -> None:
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
        found = []
        for entry in range(first, first + self._entries[number]):
            link = self._head[entry]
            while link != _NONE:
                found.append(self._address[link])
                link = self._next[link]
        return found

    def _append(self, head: int, entry: int) -> None:
        last = head
        for _ in range(MAX_SAME_KEY - 1):
            if self._next[last] == _NONE:
                self._next[last] = entry
                return
            last = self._next[last]
