"""The addresses of one site by small numbers, so that what is known of each takes a few bytes of an array."""

from array import array
from collections.abc import Hashable
from typing import Generic, TypeVar

from bitrawl.url import Url

Value = TypeVar("Value", bound=Hashable)


class Numbered(Generic[Value]):
    """Values by number, in the order in which they were first seen."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._numbers: dict[Value, int] = {}

    def number(self, value: Value) -> int:
        """A new one for a new value."""
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found

    def known(self, value: Value) -> int | None:
        """None for a value without a number."""
        return self._numbers.get(value)


class Addresses(Numbered[Url]):
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
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
            for column, default in self._columns:
                column.append(default)
        return found
