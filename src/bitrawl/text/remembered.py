"""A bounded cache for rows of numbers that are expensive to compute."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]


class RememberedRows:
    """Rows by key. A row is computed once while it is remembered; the least recently used is forgotten first."""

    def __init__(self, compute: Callable[[Sequence[Any]], Rows], room: int, width: int = 0) -> None:
        self._compute, self._room, self._width = compute, room, width
        self._known: OrderedDict[Hashable, Rows] = OrderedDict()

    def rows(self, keys: Sequence[Hashable]) -> Rows:
        """One row for each key, in their order. Without keys, an array with no rows and `width` columns."""
        if not keys:
            return np.zeros((0, self._width), np.float32)
        fresh = [key for key in dict.fromkeys(keys) if key not in self._known]
        if fresh:
            # Copies, because a view would keep its whole batch in memory.
            self._known.update((key, row.copy()) for key, row in zip(fresh, self._compute(fresh), strict=True))
        for key in keys:
            self._known.move_to_end(key)
        rows = np.array([self._known[key] for key in keys], np.float32)
        while len(self._known) > self._room:
            self._known.popitem(last=False)
        return rows
