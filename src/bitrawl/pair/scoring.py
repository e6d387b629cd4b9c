"""One calibrated score for all the evidence: a linear model that we trained."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.pair.features import NAMES, Candidates

MODEL = Path(__file__).parent / "models" / "pairs.json"
Floats = NDArray[np.float64]
_BLOCK = 1 << 16  # Candidates that are scored at a time.


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic regression."""

    weights: Floats
    bias: float

    def probabilities(self, candidates: Candidates) -> Floats:
        """That each is a pair of translations."""
        result = np.empty(len(candidates))
        for start in range(0, len(result), _BLOCK):
            block = slice(start, start + _BLOCK)
            logits = expanded(candidates.part(block)) @ self.weights + self.bias
            result[block] = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        return result


@dataclass(frozen=True, slots=True)
class ScoreModel:
    """Weights for the first round, when nothing is known of the site, and for those after it."""

    first: Weights
    later: Weights

    @classmethod
    def load(cls, path: Path = MODEL) -> Self:
        """The model of the package, or one that `bitrawl train pairs` made."""
        content = json.loads(path.read_text())
        named = [
            dict(zip(TERMS, [0.0] * len(TERMS), strict=True)) | content[key]["weights"] for key in ("first", "later")
        ]
        return cls(
            *(
                Weights(np.array([weights[term] for term in TERMS]), content[key]["bias"])
                for key, weights in zip(("first", "later"), named, strict=True)
            )
        )

    def save(self, path: Path) -> None:
        """As JSON that a person can read."""
        content = {
            key: {
                "bias": round(part.bias, 4),
                "weights": {term: round(float(w), 4) for term, w in zip(TERMS, part.weights, strict=True)},
            }
            for key, part in (("first", self.first), ("later", self.later))
        }
        path.write_text(json.dumps(content, indent=1) + "\n")


# Products let the linear model ask for two things at once.
PRODUCTS = (
    ("url", "structure"),
    ("declared", "structure"),
    ("kept", "structure"),
    ("lexicon", "structure"),
    ("parents", "structure"),
)
TERMS = (*NAMES, *(f"{a}*{b}" for a, b in PRODUCTS))


def expanded(candidates: Candidates) -> Floats:
    """The features with their products."""
    products = [candidates.column(a) * candidates.column(b) for a, b in PRODUCTS]
    return np.column_stack([candidates.rows, *products]).astype(np.float64)
