"""Main text or not: two small networks over the paragraphs of a page, the second sees the verdicts of the first."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import ParagraphKind
from bitrawl.page.boilerplate_features import Features, Floats, context, features
from bitrawl.page.outline import Outline

MODEL = Path(__file__).parent / "models" / "boilerplate.npz"
THRESHOLD = 0.5
"""Probability from which on a paragraph is content. Training shifts the logits so that one half maximises F1."""

Weights = NDArray[np.float32]

MAX_REMEMBERED = 20_000  # scores of class attributes; a site has some hundreds
CLIP = 5.0  # standard deviations
LINKED = 0.5  # A page of which nothing passes keeps its best paragraphs, but never a menu.

_HEADS = frozenset((ParagraphKind.HEADING, ParagraphKind.TITLE))
_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]{2,}")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Network:
    """Perceptrons of one shape whose logits are averaged; arrays have the member as first axis."""

    mean: Weights
    scale: Weights
    layers: tuple[tuple[Weights, Weights], ...]  # weights (member, in, out) and biases (member, 1, out)

    def logits(self, rows: Floats) -> Floats:
        """One a row."""
        signal = rows.astype(np.float32)
        signal -= self.mean
        signal /= self.scale
        signal = np.clip(signal, -CLIP, CLIP, out=signal)[None]
        for weights, biases in self.layers[:-1]:
            signal = np.maximum(signal @ weights + biases, 0)
        weights, biases = self.layers[-1]
        result: Floats = (signal @ weights + biases)[:, :, 0].mean(axis=0).astype(np.float64)
        return result


class BoilerplateClassifier:
    """Not thread-safe: it remembers the scores of class attributes, which recur on a site."""

    def __init__(self, words: dict[str, float], first: Network, second: Network) -> None:
        self.words = words
        self._first = first
        self._second = second
        self._scores: dict[tuple[str, str], float] = {}

    @classmethod
    def load(cls, path: Path = MODEL) -> Self:
        """The model of the package, or one that `bitrawl train boilerplate` made."""
        with np.load(path, allow_pickle=False) as arrays:
            words = dict(zip(arrays["words"].tolist(), arrays["scores"].tolist(), strict=True))
            return cls(words, _network(arrays, "first"), _network(arrays, "second"))

    def probabilities(self, outline: Outline) -> list[float]:
        """Of each block to be main text; at least one reaches the threshold on a page that has more than links."""
        if not outline.blocks:
            return []
        if not outline.containers.tags:  # plain text
            return [1.0] * len(outline.blocks)
        seen = features(outline, self.score)
        logits = self._second.logits(second_rows(seen, probability(self._first.logits(seen.matrix))))
        result: list[float] = _never_nothing(outline, probability(lead(outline, logits))).tolist()
        return result

    def score(self, tag: str, words: str) -> float:
        """How much the names on an element speak for main text, in logits."""
        key = (tag, words)
        known = self._scores.get(key)
        if known is None:
            if len(self._scores) > MAX_REMEMBERED:
                self._scores.clear()
            known = sum(self.words.get(name, 0.0) for name in names(tag, words))
            self._scores[key] = known
        return known


def names(tag: str, words: str) -> set[str]:
    """The tag, the names as written with digits masked, and the words that they are made of."""
    return {f"<{tag}"}.union(*map(_parts, words.split()))


@lru_cache(maxsize=65536)
def _parts(written: str) -> frozenset[str]:
    found = {word.lower() for word in _NAME.findall(written) if len(word) > 2}
    if len(written) < 40:  # longer ones are hashes
        found.add(_NUMBER.sub("0", written.lower()))
    return frozenset(found)


def second_rows(seen: Features, content: Floats) -> Floats:
    """What the second network reads."""
    return np.hstack((seen.matrix, context(seen, content)))


def lead(outline: Outline, content: Floats) -> Floats:
    """A heading is worth at least what it heads.

    The gold strings rarely name headings: without this the networks keep half of those in manuals, and F1 is .001 less.
    """
    content = content.copy()
    for i in range(len(content) - 2, -1, -1):
        block = outline.blocks[i]
        if block.kind in _HEADS and block.link_chars < LINKED * len(block.text):
            content[i] = max(content[i], content[i + 1])
    return content


def probability(logits: Floats) -> Floats:
    """The logistic function."""
    result: Floats = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return result


def _never_nothing(outline: Outline, content: Floats) -> Floats:
    if content.max() >= THRESHOLD:
        return content
    spoken = np.array([block.link_chars < LINKED * len(block.text) for block in outline.blocks])
    if not spoken.any():
        return content
    best = content[spoken].max()
    return np.where(spoken & (content >= best / 2), np.maximum(content, THRESHOLD), content)


def _network(arrays: "np.lib.npyio.NpzFile", name: str) -> Network:
    layers: list[tuple[Weights, Weights]] = []
    while f"{name}.{len(layers)}.weights" in arrays:
        i = len(layers)
        layers.append((arrays[f"{name}.{i}.weights"], arrays[f"{name}.{i}.biases"]))
    return Network(arrays[f"{name}.mean"], arrays[f"{name}.scale"], tuple(layers))
