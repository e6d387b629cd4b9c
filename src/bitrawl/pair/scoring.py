"""One calibrated score for all evidence: a trained linear model."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.pair.features import NAMES, Candidates

MODEL = Path(__file__).parent / "models" / "pairs.json"
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    weights: Floats
    bias: float

    def probabilities(self, candidates: Candidates) -> Floats:
        """The probability that each is a pair of translations."""
        logits = expanded(candidates) @ self.weights + self.bias
        result: Floats = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        return result


@dataclass(frozen=True, slots=True)
class ScoreModel:
    """Weights for the first round, when nothing is known about the site, and for the rounds after it."""

    first: Weights
    later: Weights

    @classmethod
    def load(cls, path: Path = MODEL) -> Self:
        """The package's model, or one that `bitrawl train pairs` made."""
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
        """As readable JSON."""
        content = {
            key: {
                "bias": round(part.bias, 4),
                "weights": {term: round(float(w), 4) for term, w in zip(TERMS, part.weights, strict=True)},
            }
            for key, part in (("first", self.first), ("later", self.later))
        }
        path.write_text(json.dumps(content, indent=1) + "\n")


# Products let the linear model require two things at once.
PRODUCTS = (
    ("url", "structure"),
    ("declared", "structure"),
    ("kept", "structure"),
    ("lexicon", "structure"),
    ("parents", "structure"),
)
TERMS = (*NAMES, *(f"{a}*{b}" for a, b in PRODUCTS))


def expanded(candidates: Candidates) -> Floats:
    products = [candidates.column(a) * candidates.column(b) for a, b in PRODUCTS]
    return np.column_stack([candidates.rows, *products])
