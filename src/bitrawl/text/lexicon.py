"""Which words translate which: probabilities learned from texts that are rough translations of each other."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.text.arrays import Bools, Floats, Ints, Ints32, bounds, firsts, ranges
from bitrawl.text.words import words

Tokens = Sequence[str]
TokenPair = tuple[Tokens, Tokens]
Token = TypeVar("Token")

ROUNDS = 5
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
# Of a bag's words, one that gets so little of another after a round of counting gets nothing from then on: most pairs, and
# most of the time. On Text+Berg and MAC dev (2026-11) F1 is the same with 0.01; with 0.03 it is .862 instead of .870.
UNLIKELY = 0.01
_HUNALIGN = re.compile(r"\s@\s")


class Lexicon:
    """Sparse translation probabilities in both directions. Words are whatever the caller compares, normally stems.

    For a link, `forward` is p(b | a) and `backward` is p(a | b).
    """

    def __init__(self, ids_a: Mapping[str, int], ids_b: Mapping[str, int], links: "Links") -> None:
        self.ids_a, self.ids_b, self.links = ids_a, ids_b, links
        self.names_a, self.names_b = list(ids_a), list(ids_b)

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
        types_a = [sorted({ids_a[word] for word in a}) for (a, _), _ in bags]
        types_b = [sorted({ids_b[word] for word in b}) for (_, b), _ in bags]
        return cls.of_numbers(
            (ids_a, ids_b),
            WordBags.of(types_a),
            WordBags.of(types_b),
            np.array([weight for _, weight in bags], np.float64),
            rounds=rounds,
        )

    @classmethod
    def of_numbers(
        cls,
        ids: tuple[Mapping[str, int], Mapping[str, int]],
        a: "WordBags",
        b: "WordBags",
        weights: Floats,
        *,
        rounds: int = ROUNDS,
    ) -> "Lexicon":
        """As `learn`, from bags of either language, one beside the other, of words that are numbered already."""
        return cls(*ids, _model(a, b, weights, (len(ids[0]), len(ids[1])), rounds))

    def __len__(self) -> int:
        return len(self.links.a)

    def translations(self, word: str) -> list[tuple[str, float]]:
        """The translations of a word of the first language, likeliest first."""
        links = self._links_of(word)
        return sorted(self._named(links, self.links.forward[links]), key=lambda entry: -entry[1])

    def mutual(self, word: str) -> dict[str, float]:
        """How probably a word of the first language and each of its translations translate each other, both ways."""
        links = self._links_of(word)
        return dict(self._named(links, np.sqrt(self.links.forward[links] * self.links.backward[links])))

    def _links_of(self, word: str) -> slice:
        number = self.ids_a.get(word, -1)
        return slice(*np.searchsorted(self.links.a, [number, number + 1]).tolist())

    def _named(self, links: slice, probabilities: Floats) -> Iterator[tuple[str, float]]:
        names = map(self.names_b.__getitem__, self.links.b[links].tolist())
        return zip(names, probabilities.tolist(), strict=True)

    def coverage(self, tokens_a: Tokens, tokens_b: Tokens) -> tuple[float, float]:
        """Which share of each text has its translation in the other. An identical word is its own translation."""
        explained_a, explained_b = self.explained(tokens_a, tokens_b)
        return share(tokens_a, explained_a), share(tokens_b, explained_b)

    def explained(self, tokens_a: Tokens, tokens_b: Tokens) -> tuple[dict[str, float], dict[str, float]]:
        """How far each word has its translation in the other text; words that have none are left out."""
        set_b = set(tokens_b)
        explained_a = dict.fromkeys(set_b.intersection(tokens_a), 1.0)
        explained_b = explained_a.copy()
        for word in dict.fromkeys(tokens_a):
            translations = self._translations.get(word)
            if translations is None or set_b.isdisjoint(translations):
                continue
            explained = explained_a.get(word, 0.0)
            for other in sorted(translations.keys() & set_b):  # sums of floats depend on the order
                forward, backward = translations[other]
                explained += forward
                explained_b[other] = explained_b.get(other, 0.0) + backward
            explained_a[word] = min(1.0, explained)
        return explained_a, {word: min(1.0, explained) for word, explained in explained_b.items()}

    @cached_property
    def _translations(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Of each word of the first language, with both probabilities."""
        found: dict[str, dict[str, tuple[float, float]]] = {}
        for a, b, *both in zip(*(column.tolist() for column in self.links), strict=True):
            found.setdefault(self.names_a[a], {})[self.names_b[b]] = (both[0], both[1])
        return found


class Links(NamedTuple):
    """Words that translate each other, by their numbers, sorted by the first and then the second."""

    a: Ints
    b: Ints
    forward: Floats
    backward: Floats


class WordBags(NamedTuple):
    """The different words of each bag, by their numbers."""

    word: Ints
    begin: Ints  # where the words of each bag begin, and the end of the last

    @classmethod
    def of(cls, bags: Sequence[Sequence[int]]) -> "WordBags":
        sizes = np.fromiter(map(len, bags), np.int64, len(bags))
        return cls(np.fromiter(chain.from_iterable(bags), np.int64), bounds(sizes))

    @classmethod
    def joined(cls, parts: Sequence["WordBags"]) -> "WordBags":
        sizes = np.concatenate([np.diff(part.begin) for part in parts])
        return cls(np.concatenate([part.word for part in parts]), bounds(sizes))

    def since(self, first: int) -> "WordBags":
        """The bags from that one on."""
        return WordBags(self.word[self.begin[first] :], self.begin[first:] - self.begin[first])


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
        elif len(halves := _HUNALIGN.split(f" {line} ", maxsplit=1)) == 2:
            b, a = halves
        else:
            raise ConfigError(f"{path}, line {number}: expected word<TAB>translation or translation @ word")
        entries.append((words(a, languages[0]), words(b, languages[1])))
    return [(a, b) for a, b in entries if a and b]


def windows(a: Sequence[Token], b: Sequence[Token]) -> list[tuple[Sequence[Token], Sequence[Token]]]:
    """A pair of short texts itself; of longer ones, windows at proportional places, each half over the next."""
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


def _model(a: WordBags, b: WordBags, weights: Floats, sizes: tuple[int, int], rounds: int) -> Links:
    """Expectation maximisation over every pair of word types in every bag, in flat arrays."""
    keys, link = _linked(a, b, sizes[1])
    links, total = (keys // sizes[1], keys % sizes[1]), len(link)
    if not total:
        return Links(*links, np.zeros(0), np.zeros(0))
    cells = _CellBlocks(a, b, weights, link)
    counts, often = np.zeros(len(keys)), np.zeros(len(keys), np.int64)
    for block in cells:
        counts += _totals(block.link, block.weight, len(keys))
        often += np.bincount(block.link, minlength=len(keys))
    for number in range(1, rounds):
        forward, backward = _probabilities(links, counts, counts, sizes)
        joint = np.sqrt(np.multiply(forward, backward, out=forward), out=forward)
        least = EMPTY * float(np.multiply(joint, often, out=backward).sum()) / total
        counts = np.zeros(len(keys))
        for place, block in enumerate(cells):
            share = block.shares(joint, least)
            counts += _totals(block.link, block.weight * share, len(keys))
            if number == 1:
                unlikely = share <= UNLIKELY
                often -= np.bincount(block.link[unlikely], minlength=len(keys))
                cells.keep(place, ~unlikely)
    forward, backward = _probabilities(links, np.maximum(counts - DISCOUNT, 0.0), counts, sizes)
    strong = np.maximum(forward, backward) >= LEAST
    return Links(links[0][strong], links[1][strong], forward[strong], backward[strong])


_BLOCK = 1 << 18  # cells that are looked at together: bounds memory


class _Cells(NamedTuple):
    """Every pair of a word type of one side with one of the other, in some bags."""

    row: Ints32  # the word within these bags
    column: Ints32
    weight: Floats
    link: Ints32  # the number of the pair of words

    def where(self, which: Bools) -> "_Cells":
        return _Cells._make(column[which] for column in self)

    def shares(self, joint: Floats, least: float) -> Floats:
        """What each gets of its two words, in the mean of both."""
        of_cell = joint[self.link]
        share: Floats = of_cell / (np.bincount(self.row, of_cell) + least)[self.row]
        share *= of_cell / (np.bincount(self.column, of_cell) + least)[self.column]
        return np.sqrt(share, out=share)


class _CellBlocks:
    """The cells of all bags, some bags at a time. Of many, only the links are kept, a fifth of the memory."""

    def __init__(self, a: WordBags, b: WordBags, weights: Floats, link: Ints32) -> None:
        self._a, self._b, self._weights, self._link = a, b, weights, link
        self._cells = bounds(np.diff(a.begin) * np.diff(b.begin))
        steps = np.searchsorted(self._cells, np.arange(0, len(link), _BLOCK))
        self._bags = np.unique(np.append(steps, len(weights))).tolist()
        self._kept: dict[int, Bools] = {}
        self._only = self._made(0) if len(self._bags) == 2 else None  # its two ends

    def __iter__(self) -> Iterator[_Cells]:
        if self._only is not None:
            yield self._only
            return
        for place in range(len(self._bags) - 1):
            cells = self._made(place)
            yield cells.where(self._kept[place]) if place in self._kept else cells

    def keep(self, place: int, which: Bools) -> None:
        """Leave the other cells of that block out from now on."""
        if self._only is not None:
            self._only = self._only.where(which)
        else:
            self._kept[place] = which

    def _made(self, place: int) -> _Cells:
        first, last = self._bags[place], self._bags[place + 1]
        a, b = self._a.begin[first : last + 1], self._b.begin[first : last + 1]
        n, m = np.diff(a), np.diff(b)
        of_row = np.repeat(m, n)
        row = np.repeat(np.arange(len(of_row), dtype=np.int32), of_row)
        began = np.cumsum(of_row) - of_row - np.repeat(b[:-1] - b[0], n)
        column = np.arange(len(row), dtype=np.int32) - np.repeat(began.astype(np.int32), of_row)
        link = self._link[self._cells[first] : self._cells[last]]
        return _Cells(row, column, np.repeat(self._weights[first:last], n * m), link)


def _linked(a: WordBags, b: WordBags, size_b: int) -> tuple[Ints, Ints32]:
    """The different pairs of words in order, each as one number, and for each cell the place of its pair."""
    n, m = np.diff(a.begin), np.diff(b.begin)
    of_row, starts = np.repeat(m, n), np.repeat(b.begin[:-1], n)
    cells = bounds(of_row)
    if cells[-1] <= _BLOCK:
        return _distinct(np.repeat(a.word, of_row) * size_b + b.word[ranges(starts, starts + of_row)])
    link, keys, known = np.empty(int(cells[-1]), np.int32), [], 0
    rows = np.argsort(a.word, kind="stable")
    for some in np.split(rows, _cuts(a.word[rows], of_row[rows])):  # all of some words
        columns = ranges(starts[some], starts[some] + of_row[some])
        found, place = _distinct(np.repeat(a.word[some], of_row[some]) * size_b + b.word[columns])
        link[ranges(cells[some], cells[some + 1])] = place + known
        keys.append(found)
        known += len(found)
    return np.concatenate(keys), link


def _cuts(words: Ints, cells: Ints) -> Ints:
    """Where to split rows that are sorted by their words, between two words and about after each block of cells."""
    begins = np.append(firsts(words), len(words))
    steps = np.arange(_BLOCK, int(cells.sum()), _BLOCK)
    return np.unique(begins[np.searchsorted(bounds(cells)[begins], steps)])


def _distinct(keys: Ints) -> tuple[Ints, Ints32]:
    """The different keys in order, and the place of each key among them."""
    # Sorting numbers is several times faster than finding their order: the place goes into the low bits.
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits < 63:
        keys = np.sort((keys << bits) | np.arange(len(keys)))
        order = keys & ((1 << bits) - 1)
        keys >>= bits
    else:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
    new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    number = np.empty(len(keys), np.int32)
    number[order] = np.cumsum(new, dtype=np.int32) - 1
    return keys[new], number


def _probabilities(
    links: tuple[Ints, Ints], counts: Floats, of_words: Floats, sizes: tuple[int, int]
) -> tuple[Floats, Floats]:
    a, b = links
    forward: Floats = counts / (_totals(a, of_words, sizes[0]) + EMPTY)[a]
    backward: Floats = counts / (_totals(b, of_words, sizes[1]) + EMPTY)[b]
    return forward, backward


def _totals(groups: NDArray[Any], counts: Floats, size: int) -> Floats:
    return np.bincount(groups, counts, size).astype(np.float64, copy=False)


def share(tokens: Tokens, explained: Mapping[str, float]) -> float:
    """How far the words of a text have their translations, in the mean."""
    return sum(explained.get(token, 0.0) for token in tokens) / len(tokens) if tokens else 0.0
