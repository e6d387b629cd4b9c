"""One calibrated score for all the evidence: decision trees that we trained."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.files import replacing
from bitrawl.model_files import model_file
from bitrawl.pair.features import NAMES, Candidates
from bitrawl.urls.trees import Trees

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoreModel:
    """Trees for the first round, when nothing is known of the site, and for those after it."""

    first: Trees
    later: Trees

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The model of the package, or one that `python -m lab.train pairs` made. Raises `ValueError` if it is of other features."""
        source = path or model_file("pairs.npz")
        with np.load(source) as arrays:
            if arrays["names"].tolist() != list(NAMES):
                raise ValueError(f"{source} was trained on other features; make it again: python -m lab.train pairs")
            return cls(Trees.named("first", arrays), Trees.named("later", arrays))

    def save(self, path: Path) -> None:
        """The same trees give the same bytes."""
        arrays = self.first.arrays("first") | self.later.arrays("later")
        with replacing(path) as stream:
            np.savez_compressed(stream, names=np.array(NAMES), **arrays)  # type: ignore[arg-type]


def probabilities(trees: Trees, candidates: Candidates) -> Floats:
    """That each is a pair of translations."""
    return trees.probability(candidates.rows.astype(np.float32, copy=False)).astype(np.float64)
