"""Which words translate which: probabilities learned from texts that are rough translations of each other."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.text.words import words

Tokens = Sequence[str]
TokenPair = tuple[Tokens, Tokens]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDS = 5  # Judgement.
# Judgement: tokens of a text that are learned from as one bag. A longer pair, such as a page or a chapter, is cut at
# proportional places: what is in the middle of a text is near the middle of its translation.
WINDOW = 60
# Judgement: a link that is weaker both ways is dropped. Users of a lexicon have higher thresholds of their own.
LEAST = 0.005
# Pseudo-count of a word that translates nothing. 0.1 and 0.3 make no difference to the aligner (Text+Berg, MAC dev,
# 2026-11).
EMPTY = 0.1
# Subtracted from the count of every link: what was seen together once is mostly chance, and an aligner that learns from
# its own beads would believe whatever it has done before. On MAC dev (2026-11), strict F1 of the aligner is .55
# without, .76 to .77 with 0.2 to 0.8; on Text+Berg .82 and .84.
DISCOUNT = 0.5
DICTIONARY_WEIGHT = 3.0  # an entry of a user's dictionary counts as this many occurrences; a judgement
_HUNALIGN = re.compile(r"\s@\s")


class Lexicon:
    """Sparse translation probabilities in both directions. Words are whatever the caller compares, normally stems.

    For a link, `forward` is p(b | a) and `backward` is p(a | b).
    """

    def __init__(self, ids_a: Mapping[str, int], ids_b: Mapping[str, int], links: "Links") -> None:
        self.ids_a, self.ids_b, self.links = ids_a, ids_b, links
        self.names_a, self.names_b = list(ids_a), list(ids_b)
        self._by_b = np.argsort(links.b, kind="stable")
        self._of_pair: dict[int, tuple[float, float]] | None = None

    @classmethod
    def learn(
        cls,
        pairs: Iterable[TokenPair],
        *,
        rounds: int = ROUNDS,
        weights: Sequence[float] | None = None,
        dictionary: Iterable[TokenPair] = (),
    ) -> "Lexicon":
        """Learn from sentences, paragraphs or documents: IBM Model 1 in both directions, made to agree in each round.

        Agreement (Liang et al. 2006) keeps rare words from collecting whatever is left over, which is the weakness of
        Model 1 with little data. Entries of a dictionary count as certain pairs.
        """
        pairs = list(pairs)
        weights = [1.0] * len(pairs) if weights is None else weights
        bags = [(window, weight) for pair, weight in zip(pairs, weights, strict=True) for window in windows(*pair)]
        bags += [((list(a), list(b)), DICTIONARY_WEIGHT) for a, b in dictionary if a and b]
        ids_a = _numbered(bag[0] for bag, _ in bags)
        ids_b = _numbered(bag[1] for bag, _ in bags)
        return cls(ids_a, ids_b, _model(bags, ids_a, ids_b, rounds))

    def __len__(self) -> int:
        return len(self.links.a)

    def translations(self, word: str) -> list[tuple[str, float]]:
        """The translations of a word of the first language, likeliest first."""
        if (number := self.ids_a.get(word)) is None:
            return []
        low, high = np.searchsorted(self.links.a, [number, number + 1])
        found = zip(self.links.b[low:high].tolist(), self.links.forward[low:high].tolist(), strict=True)
        return sorted(((self.names_b[b], p) for b, p in found), key=lambda entry: -entry[1])

    def sources(self, word: str) -> list[tuple[str, float]]:
        """The translations of a word of the second language, likeliest first."""
        if (number := self.ids_b.get(word)) is None:
            return []
        low, high = np.searchsorted(self.links.b, [number, number + 1], sorter=self._by_b)
        found = self._by_b[low:high]
        pairs = zip(self.links.a[found].tolist(), self.links.backward[found].tolist(), strict=True)
        return sorted(((self.names_a[a], p) for a, p in pairs), key=lambda entry: -entry[1])

    def coverage(self, tokens_a: Tokens, tokens_b: Tokens) -> tuple[float, float]:
        """Which share of each text has its translation in the other. An identical word is its own translation."""
        set_a, set_b = set(tokens_a), set(tokens_b)
        explained_a = {word: 1.0 for word in set_a if word in set_b}
        explained_b = dict(explained_a)
        table = self._table()
        known_b = [(word, self.ids_b[word]) for word in set_b if word in self.ids_b]
        width = len(self.ids_b)
        for word in set_a:
            if (number := self.ids_a.get(word)) is None:
                continue
            base = number * width
            for other, other_number in known_b:
                if (link := table.get(base + other_number)) is not None:
                    explained_a[word] = min(1.0, explained_a.get(word, 0.0) + link[0])
                    explained_b[other] = min(1.0, explained_b.get(other, 0.0) + link[1])
        return _share(tokens_a, explained_a), _share(tokens_b, explained_b)

    def _table(self) -> dict[int, tuple[float, float]]:
        if self._of_pair is None:
            keys = (self.links.a * len(self.ids_b) + self.links.b).tolist()
            values = zip(self.links.forward.tolist(), self.links.backward.tolist(), strict=True)
            self._of_pair = dict(zip(keys, values, strict=True))
        return self._of_pair


class Links:
    """Words that translate each other, by their numbers, sorted by the first and then the second."""

    def __init__(self, a: Ints, b: Ints, forward: Floats, backward: Floats) -> None:
        self.a, self.b, self.forward, self.backward = a, b, forward, backward


def read_dictionary(path: Path, languages: tuple[Language, Language]) -> list[TokenPair]:
    """Read entries, one per line: `word<TAB>translation`, or hunalign's `translation @ word`. Raises `ConfigError`."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the dictionary {path} cannot be read: {error}") from error
    entries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if "\t" in line:
            a, b = line.split("\t")[:2]
        elif len(sides := _HUNALIGN.split(f" {line} ", maxsplit=1)) == 2:
            b, a = sides
        else:
            raise ConfigError(f"{path}, line {number}: expected word<TAB>translation or translation @ word")
        entries.append((words(a, languages[0]), words(b, languages[1])))
    return [(a, b) for a, b in entries if a and b]


def windows(a: Tokens, b: Tokens) -> list[tuple[Tokens, Tokens]]:
    """A pair of short texts is one window.

    Longer texts are cut at proportional places into windows that overlap by half.
    """
    if not a or not b:
        return []
    count = max(len(a), len(b)) // WINDOW
    if count <= 2:
        return [(a, b)]
    cuts_a = np.linspace(0, len(a), count + 1).astype(int).tolist()
    cuts_b = np.linspace(0, len(b), count + 1).astype(int).tolist()
    return [
        (a[low:high], b[max(0, start - (end - start) // 2) : end + (end - start) // 2])
        for (low, high), (start, end) in zip(pairwise(cuts_a), pairwise(cuts_b), strict=True)
    ]


def _numbered(bags: Iterable[Tokens]) -> dict[str, int]:
    return {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(bags)))}


def _model(
    bags: Sequence[tuple[TokenPair, float]], ids_a: Mapping[str, int], ids_b: Mapping[str, int], rounds: int
) -> Links:
    """Expectation maximisation over every pair of word types in every bag, in flat arrays."""
    size_a, size_b = len(ids_a), len(ids_b)
    if not size_a or not size_b:
        return Links(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    cells = _cells(bags, ids_a, ids_b)
    keys, cell_link = np.unique(cells.word_a * size_b + cells.word_b, return_inverse=True)
    a, b = keys // size_b, keys % size_b
    counts = _totals(cell_link, cells.weight, len(keys))
    for number in range(rounds):
        forward = counts / (_totals(a, counts, size_a) + EMPTY)[a]
        backward = counts / (_totals(b, counts, size_b) + EMPTY)[b]
        if number == rounds - 1:
            break
        joint = np.sqrt(forward * backward)[cell_link]
        of_a = joint / (np.bincount(cells.row, joint) + EMPTY * joint.mean())[cells.row]
        of_b = joint / (np.bincount(cells.column, joint) + EMPTY * joint.mean())[cells.column]
        counts = _totals(cell_link, cells.weight * np.sqrt(of_a * of_b), len(keys))
    forward = np.maximum(counts - DISCOUNT, 0.0) / (_totals(a, counts, size_a) + EMPTY)[a]
    backward = np.maximum(counts - DISCOUNT, 0.0) / (_totals(b, counts, size_b) + EMPTY)[b]
    kept = np.maximum(forward, backward) >= LEAST
    return Links(a[kept], b[kept], forward[kept], backward[kept])


class _Cells:
    """Every pair of a word type of one side with one of the other, in every bag."""

    def __init__(self, word_a: Ints, word_b: Ints, row: Ints, column: Ints, weight: Floats) -> None:
        self.word_a, self.word_b, self.weight = word_a, word_b, weight
        self.row, self.column = row, column  # the word within its bag


def _cells(bags: Sequence[tuple[TokenPair, float]], ids_a: Mapping[str, int], ids_b: Mapping[str, int]) -> _Cells:
    types_a = [list({ids_a[word] for word in a}) for (a, _), _ in bags]
    types_b = [list({ids_b[word] for word in b}) for (_, b), _ in bags]
    n, m = (np.fromiter(map(len, types), np.int64, len(bags)) for types in (types_a, types_b))
    flat_a, flat_b = (np.fromiter(chain.from_iterable(types), np.int64) for types in (types_a, types_b))
    row = np.repeat(np.arange(len(flat_a)), np.repeat(m, n))
    began_b = np.repeat(np.cumsum(m) - m, n)
    began_cell = np.cumsum(np.repeat(m, n)) - np.repeat(m, n)
    column = np.arange(len(row)) - np.repeat(began_cell - began_b, np.repeat(m, n))
    weight = np.repeat([weight for _, weight in bags], n * m)
    return _Cells(flat_a[row], flat_b[column], row, column, weight)


def _totals(groups: Ints, counts: Floats, size: int) -> Floats:
    return np.bincount(groups, counts, size).astype(np.float64, copy=False)


def _share(tokens: Tokens, explained: Mapping[str, float]) -> float:
    return sum(explained.get(token, 0.0) for token in tokens) / len(tokens) if tokens else 0.0
