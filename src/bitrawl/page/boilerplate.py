"""Classifies main text: two small networks over the paragraphs of a page. The second sees the verdicts of the first."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import ParagraphKind
from bitrawl.model_files import model_file
from bitrawl.page.boilerplate_features import Features, Floats, context, features
from bitrawl.page.outline import Containers, Outline

THRESHOLD = 0.5
"""The probability from which a paragraph is main text. Training shifts the logits so that 0.5 maximises F1."""

Weights = NDArray[np.float32]

# Judgements, except where a line names its evidence.
MAX_REMEMBERED = 20_000  # scores of names; a site has a few hundred
MAX_NAME = 40  # longer names are hashes
# Of 8,001 paragraphs that the second stage keeps, the first stage gives 6 a lower probability than this.
MIN_POSSIBLE = 0.005
CLIP = 5.0  # standard deviations
# Rows that are multiplied at a time. OpenBLAS uses one thread for a product of at most 262,144 multiplications: 24 rows
# of 190 features and 48 neurons. Of trafilatura's pages, 200 took 30 to 34 ms of CPU each with two threads
# that wait for each other, and 20 with one.
BATCH = 24
MIN_PROSE = 100  # A paragraph of at least this many characters is running text ...
MAX_LINKED_IN_PROSE = 0.2  # ... if at most this share of them is linked.
MIN_CONTENT_SHARE = 0.5  # If this share of an element's paragraphs is main text, the running text between them is too.
WEAK_LOGIT = 0.1  # logits: main text, but with little certainty
# If nothing on a page passes, it keeps its best paragraphs, but never one with more linked text than this: a menu.
MAX_LINKED = 0.5

_HEADS = frozenset((ParagraphKind.HEADING, ParagraphKind.TITLE))
_WHOLE = frozenset(("html", "body"))  # Their names tell pages apart, not the parts of one page.


@dataclass(frozen=True, slots=True)
class Network:
    """Perceptrons of one shape whose logits are averaged. The first axis of the arrays is the member."""

    mean: Weights
    scale: Weights
    layers: tuple[tuple[Weights, Weights], ...]  # weights (member, in, out) and biases (member, 1, out)

    def logits(self, rows: Floats) -> Floats:
        """One per row."""
        count, width = rows.shape
        padded = np.zeros((-(-count // BATCH) * BATCH, width), np.float32)
        signal = padded[:count]
        np.subtract(rows, self.mean, out=signal, casting="same_kind")
        signal /= self.scale
        np.clip(signal, -CLIP, CLIP, out=signal)
        signal = padded.reshape(1, -1, BATCH, width)
        for weights, biases in self.layers[:-1]:
            signal = signal @ weights[:, None]
            signal += biases[:, None]
            np.maximum(signal, 0, out=signal)
        weights, biases = self.layers[-1]
        members = (signal @ weights[:, None] + biases[:, None]).reshape(len(weights), -1)
        result: Floats = members.mean(axis=0)[:count].astype(np.float64)
        return result


class BoilerplateClassifier:
    """Not thread-safe, because it remembers the scores of names, which recur on a site."""

    def __init__(self, words: dict[str, float], first: Network, second: Network) -> None:
        self.words = words
        self._first = first
        self._second = second
        self._tags = {name[1:]: score for name, score in words.items() if name.startswith("<")}
        self._scores: dict[str, float] = {}

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The package's model, or one that `python -m lab.train boilerplate` made."""
        with np.load(path or model_file("boilerplate.npz"), allow_pickle=False) as arrays:
            words = dict(zip(arrays["words"].tolist(), arrays["scores"].tolist(), strict=True))
            return cls(words, _network(arrays, "first"), _network(arrays, "second"))

    def probabilities(self, outline: Outline) -> list[float]:
        """The probability of each block to be main text.

        At least one reaches the threshold if the page has more than links.
        """
        if not outline.blocks:
            return []
        if not outline.containers.tags:  # plain text
            return [1.0] * len(outline.blocks)
        logits = judge(outline, features(outline, self.scores), self._first, self._second)
        result: list[float] = _keep_best(outline, probability(logits)).tolist()
        return result

    def scores(self, containers: Containers) -> list[float]:
        """How much the names on each element indicate main text, in logits."""
        known, of_tag = self._scores, self._tags
        if len(known) > MAX_REMEMBERED:
            known.clear()
        new = {words for words in containers.words if words not in known}
        known.update({words: sum(map(self._score, words.split())) for words in new})
        return [
            known[words] + of_tag.get(tag, 0.0) if tag not in _WHOLE else 0.0
            for tag, words in zip(containers.tags, containers.words, strict=True)
        ]

    def _score(self, written: str) -> float:
        known = self._scores.get(written)
        if known is None:
            known = self._scores[written] = sum([self.words.get(name, 0.0) for name in names(written)])
        return known


def names(written: str) -> set[str]:
    """A name in a class, id or role attribute without its final number, and the words that it is made of."""
    name = written[:MAX_NAME].lower().rstrip("0123456789")
    if name.isalpha():
        return {name}
    return {name, *[word for word in name.replace("_", "-").split("-") if len(word) > 2]}


def judge(outline: Outline, seen: Features, first: Network, second: Network) -> Floats:
    """The logits of each block. The second stage only examines what the first considers possible."""
    logits = first.logits(seen.matrix)
    content = probability(logits)
    possible = np.flatnonzero(content >= MIN_POSSIBLE)
    logits[possible] = second.logits(second_rows(seen, content, possible))
    return lead(outline, bridge(outline, logits))


def second_rows(seen: Features, content: Floats, rows: NDArray[np.int64]) -> Floats:
    """The input of the second network for those blocks."""
    return np.hstack((seen.matrix[rows], context(seen, content)[rows]))


def lead(outline: Outline, content: Floats) -> Floats:
    """A heading scores at least as high as the text under it.

    The gold data rarely marks headings as main text: without this, the networks dropped half of those in ten manuals.
    On the gold data it changes almost nothing (F1 .9431 without, .9427 with, same networks).
    """
    content = content.copy()
    for i in range(len(content) - 2, -1, -1):
        block = outline.blocks[i]
        if block.kind in _HEADS and block.link_chars < MAX_LINKED * len(block.text):
            content[i] = max(content[i], content[i + 1])
    return content


def bridge(outline: Outline, logits: Floats) -> Floats:
    """Running text is main text if the running text around it, in the same kind of element, mostly is.

    The gold pages are articles. In manuals, where prose alternates with listings and notes, the networks dropped one
    paragraph in five from the middle of a chapter.
    """
    places: dict[tuple[str, str, str], list[int]] = {}
    for number, block in enumerate(outline.blocks):
        if len(block.text) >= MIN_PROSE and block.link_chars < MAX_LINKED_IN_PROSE * len(block.text):
            places.setdefault(_place(outline.containers, block.container), []).append(number)
    for numbers in places.values():
        kept = [number for number in numbers if logits[number] >= 0]
        if 2 <= len(kept) < len(numbers) and len(kept) >= MIN_CONTENT_SHARE * len(numbers):
            between = [number for number in numbers if kept[0] < number < kept[-1]]
            logits[between] = np.maximum(logits[between], WEAK_LOGIT)
    return logits


def _place(containers: Containers, number: int) -> tuple[str, str, str]:
    """A paragraph's element, and the tag and names of the element around it."""
    parent = containers.parents[number] if number >= 0 else -1
    inside = (containers.tags[parent], containers.words[parent]) if parent >= 0 else ("", "")
    return (containers.tags[number] if number >= 0 else "", *inside)


def probability(logits: Floats) -> Floats:
    result: Floats = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return result


def _keep_best(outline: Outline, content: Floats) -> Floats:
    if content.max() >= THRESHOLD:
        return content
    is_text = np.array([block.link_chars < MAX_LINKED * len(block.text) for block in outline.blocks])
    if not is_text.any():
        return content
    best = content[is_text].max()
    return np.where(is_text & (content >= best / 2), np.maximum(content, THRESHOLD), content)


def _network(arrays: "np.lib.npyio.NpzFile", name: str) -> Network:
    layers: list[tuple[Weights, Weights]] = []
    while f"{name}.{len(layers)}.weights" in arrays:
        i = len(layers)
        layers.append((arrays[f"{name}.{i}.weights"], arrays[f"{name}.{i}.biases"]))
    return Network(arrays[f"{name}.mean"], arrays[f"{name}.scale"], tuple(layers))
