"""Whose turn it is: a few places, shared fairly by the people who wait for them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

_MOST_REMEMBERED = 1000  # people whose last turn is remembered


class _Wait(NamedTuple):
    person: str
    is_long: bool
    number: int  # in the order of arrival
    ready: "asyncio.Future[None]"


class Turns:
    """A place goes to the person who holds the fewest, then to the one whose last turn is longest ago.

    Of one person's work, what is short comes first. Long work gets `most_long` places only, so that what is short never
    waits for it.
    """

    def __init__(
        self, places: int, *, of_one: int | None = None, most_long: int | None = None, long_of_one: int | None = None
    ) -> None:
        """At most `of_one` places for one person, and `long_of_one` for what is long of one person."""
        self._places = places
        self._of_one = places if of_one is None else of_one
        self._most_long = places if most_long is None else most_long
        self._long_of_one = self._most_long if long_of_one is None else long_of_one
        self._waiting: list[_Wait] = []
        self._placed: list[_Wait] = []
        self._last: dict[str, int] = {}  # by person, the number of the last turn
        self._numbers = 0

    @asynccontextmanager
    async def turn(self, person: str, *, is_long: bool = False) -> AsyncIterator[None]:
        """Waits for a place, and has it until the end of the block."""
        self._numbers += 1
        wait = _Wait(person, is_long, self._numbers, asyncio.get_running_loop().create_future())
        self._waiting.append(wait)
        self._place_next()
        try:
            await wait.ready
            yield
        finally:
            (self._placed if wait in self._placed else self._waiting).remove(wait)
            self._place_next()

    def _place_next(self) -> None:
        while ready := [wait for wait in self._waiting if self._has_place(wait)]:
            wait = min(ready, key=self._order)
            self._waiting.remove(wait)
            self._placed.append(wait)
            self._numbers += 1
            self._last.pop(wait.person, None)
            self._last[wait.person] = self._numbers
            if len(self._last) > _MOST_REMEMBERED:
                del self._last[next(iter(self._last))]
            wait.ready.set_result(None)

    def _has_place(self, wait: _Wait) -> bool:
        if wait.ready.done() or len(self._placed) >= self._places or self._held_by(wait.person) >= self._of_one:
            return False
        long = [other.person for other in self._placed if other.is_long]
        return not wait.is_long or (len(long) < self._most_long and long.count(wait.person) < self._long_of_one)

    def _held_by(self, person: str) -> int:
        return sum(other.person == person for other in self._placed)

    def _order(self, wait: _Wait) -> tuple[int, int, bool, int]:
        return self._held_by(wait.person), self._last.get(wait.person, 0), wait.is_long, wait.number
