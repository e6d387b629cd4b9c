"""Boosted decision trees in numpy. They are trained elsewhere and evaluated here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitrawl.text.arrays import Floats32

_ROWS = 1024  # evaluated together, so that they stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Trees:
    """Complete binary trees of equal depth.

    Node n has the children 2n+1 and 2n+2; rows above the threshold go right.
    """

    feature: NDArray[np.int16]  # trees × inner nodes
    threshold: Floats32
    leaf: Floats32  # trees × leaves

    def probability(self, rows: Floats32) -> Floats32:
        """The probability of each row: the logistic function of the sum of its leaves."""
        trees, inner = self.threshold.shape
        feature, threshold, leaf = (array.ravel() for array in (self.feature, self.threshold, self.leaf))
        first = np.arange(trees)[:, None] * inner
        total = np.empty(len(rows), np.float64)
        for start in range(0, len(rows), _ROWS):
            part = np.ascontiguousarray(rows[start : start + _ROWS])
            begin = np.arange(len(part)) * part.shape[1]
            node = np.zeros((trees, len(part)), np.intp)
            for _ in range((inner + 1).bit_length() - 1):
                at = node + first
                above = part.ravel().take(begin + feature.take(at)) > threshold.take(at)
                node = 2 * node + 1 + above
            total[start : start + _ROWS] = leaf.take(node - inner + np.arange(trees)[:, None] * (inner + 1)).sum(axis=0)
        return (1 / (1 + np.exp(-total))).astype(np.float32)

    @classmethod
    def named(cls, name: str, arrays: Mapping[str, NDArray[Any]]) -> "Trees":
        """The trees of that name in a file of several models."""
        return cls(arrays[f"{name}.feature"], arrays[f"{name}.threshold"], arrays[f"{name}.leaf"])
