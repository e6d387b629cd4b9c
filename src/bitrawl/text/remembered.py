"""Rows of numbers that are dear to compute and asked for again: a bounded memory of them."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]


class RememberedRows:
    """Rows by key, computed once as long as they are remembered; what was asked for longest ago is forgotten first."""

    def __init__(self, compute: Callable[[Sequence[Any]], Rows], room: int, width: int = 0) -> None:
        self._compute, self._room, self._width = compute, room, width
        self._known: OrderedDict[Hashable, Rows] = OrderedDict()

    def rows(self, keys: Sequence[Hashable]) -> Rows:
        """One for each key, in their order; for none of them no rows, of `width` numbers."""
        if not keys:
            return np.zeros((0, self._width), np.float32)
        fresh = [key for key in dict.fromkeys(keys) if key not in self._known]
        if fresh:
            # Copies: a row that is a view would keep all of its batch.
            self._known.update((key, row.copy()) for key, row in zip(fresh, self._compute(fresh), strict=True))
        for key in keys:
            self._known.move_to_end(key)
        rows = np.array([self._known[key] for key in keys], np.float32)
        while len(self._known) > self._room:
            self._known.popitem(last=False)
        return rows
