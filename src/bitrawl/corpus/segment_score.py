"""How probably a segment pair is a translation: boosted trees over what was measured, in two looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.corpus.segment_features import Measured, neighbourhood, table
from bitrawl.files import replacing
from bitrawl.model_files import model_file
from bitrawl.urls.trees import Trees

Floats = NDArray[np.float32]
_EDGE = 1e-6


@dataclass(frozen=True, slots=True)
class SegmentScore:
    """First each pair by itself, then with the first scores of its neighbours; then what it takes to mean what it says."""

    alone: Trees
    in_place: Trees
    calibration: Floats  # slope and bias of the logit

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The model of the package, or one that `python -m lab.train segments` made."""
        with np.load(path or model_file("segments.npz")) as arrays:
            return cls(Trees.named("alone", arrays), Trees.named("in_place", arrays), arrays["calibration"])

    def save(self, path: Path) -> None:
        arrays: dict[str, Any] = self.alone.arrays("alone") | self.in_place.arrays("in_place")
        with replacing(path) as file:
            np.savez_compressed(file, calibration=self.calibration, **arrays)

    def scores(self, page: Sequence[Measured]) -> Floats:
        """Of the pairs of one pair of pages, in order; 0–1."""
        return self.of_table(table(page)) if page else np.zeros(0, np.float32)

    def of_table(self, rows: Floats) -> Floats:
        seen = np.column_stack([rows, neighbourhood(self.alone.probability(rows))])
        return self.calibrated(self.in_place.probability(seen))

    def calibrated(self, raw: Floats) -> Floats:
        inner = np.clip(raw.astype(np.float64), _EDGE, 1 - _EDGE)
        logits = self.calibration[0] * np.log(inner / (1 - inner)) + self.calibration[1]
        chances: Floats = (1 / (1 + np.exp(-logits))).astype(np.float32)
        return chances


def segment_score() -> SegmentScore:
    """The model in use, loaded once."""
    return _loaded(model_file("segments.npz"))


@lru_cache(maxsize=2)
def _loaded(path: Path) -> SegmentScore:
    return SegmentScore.load(path)
