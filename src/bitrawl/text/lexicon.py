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
from bitrawl.text.arrays import Floats, Ints, Ints32, bounds, firsts, in_order, ranges
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
# Of a bag's words, one that gets so little of another after a round of counting gets nothing from then on: 5 to 17 % of the
# pairs of gimp-help and debian-handbook. On Text+Berg and MAC dev (2026-11) F1 is the same with 0.01; with 0.03 it is .862
# instead of .870.
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
        """Learn from bags of either language, one beside the other, of words that are numbered already."""
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
        """The translations of each word of the first language, with both probabilities."""
        translations: dict[str, dict[str, tuple[float, float]]] = {}
        for a, b, *both in zip(*(column.tolist() for column in self.links), strict=True):
            translations.setdefault(self.names_a[a], {})[self.names_b[b]] = (both[0], both[1])
        return translations


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

    def where(self, which: Ints) -> "WordBags":
        begin, end = self.begin[which], self.begin[which + 1]
        return WordBags(self.word[ranges(begin, end)], bounds(end - begin))

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
    """Expectation maximisation over every pair of word types in every bag."""
    n, m = np.diff(a.begin), np.diff(b.begin)
    order = np.argsort(m, kind="stable")
    order = order[(n * m)[order] > 0]
    a, b = a.where(order), b.where(order)
    keys, link = _linked(a, b, sizes[1])
    links, dropped = ((keys // sizes[1]).astype(np.int32), (keys % sizes[1]).astype(np.int32)), len(keys)
    del keys  # millions of them: each array of their length is some of the memory that mining needs at most
    if not len(link):
        return Links(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    tables = _tables(a, b, weights[order], link)
    counts, joint = np.zeros(dropped + 1), np.zeros(dropped + 1)
    for table in tables:
        np.add.at(counts, table.link.ravel(), np.repeat(table.weights, table.link.shape[1]))
    for number in range(1, rounds):
        _set_joint(joint[:-1], links, counts[:-1], sizes)
        if number <= 2:
            often = np.zeros(dropped + 1, np.int32)
            np.add.at(often, link, np.int32(1))  # as fast as bincount, which makes a copy of twice the size
        least = EMPTY * float(np.multiply(joint, often, out=counts).sum()) / len(link)
        counts.fill(0.0)
        for table in tables:
            share = table.shares(joint, least)
            unlikely = share <= UNLIKELY if number == 1 else None
            np.add.at(counts, table.link.ravel(), np.multiply(share, table.weights[:, None], out=share).ravel())
            if unlikely is not None:
                table.link[unlikely] = dropped
    del tables, link, joint, often
    counts = counts[:-1]
    forward, backward = _probabilities(links, np.maximum(counts - DISCOUNT, 0.0), counts, sizes)
    strong = np.maximum(forward, backward) >= LEAST
    a_of, b_of = (of_side[strong].astype(np.int64) for of_side in links)
    return Links(a_of, b_of, forward[strong], backward[strong])


def _set_joint(joint: Floats, links: tuple[Ints32, Ints32], counts: Floats, sizes: tuple[int, int]) -> None:
    """Of each link, the geometric mean of its probabilities both ways."""
    joint[:] = counts
    for of_side, size in zip(links, sizes, strict=True):
        joint /= np.sqrt(_totals(of_side, counts, size) + EMPTY)[of_side]


_BLOCK = 1 << 18  # cells that are looked at together: bounds memory


class _Table(NamedTuple):
    """Bags with as many words of b each: a row for each word of a, a column for each of b."""

    link: Ints32  # of each cell, the number of its pair of words
    begin: Ints  # the first row of each bag
    rows: Ints  # of each bag
    weights: Floats  # of each row

    def shares(self, joint: Floats, least: float) -> Floats:
        """What each cell gets of its two words, in the mean of both."""
        share: Floats = joint[self.link.ravel()].reshape(self.link.shape)  # two axes take twice the time
        of_a = np.einsum("ij->i", share) + least
        of_b = np.add.reduceat(share, self.begin, axis=0) + least
        share /= np.sqrt(of_a, out=of_a)[:, None]
        share /= np.repeat(np.sqrt(of_b, out=of_b), self.rows, axis=0)
        return share


def _tables(a: WordBags, b: WordBags, weights: Floats, link: Ints32) -> list[_Table]:
    """Of bags in the order of their words of b, none empty."""
    n, m = np.diff(a.begin), np.diff(b.begin)
    cells = bounds(n * m)
    blocks = np.searchsorted(cells, np.arange(0, len(link), _BLOCK))
    tables = []
    for first, last in pairwise(np.unique([*firsts(m), *blocks, len(m)]).tolist()):
        rows = n[first:last]
        table = link[cells[first] : cells[last]].reshape(-1, m[first])
        tables.append(_Table(table, np.cumsum(rows) - rows, rows, np.repeat(weights[first:last], rows)))
    return tables


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
    keys, order = in_order(keys)
    new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    number = np.empty(len(keys), np.int32)
    number[order] = np.cumsum(new, dtype=np.int32) - 1
    return keys[new], number


def _probabilities(
    links: tuple[Ints32, Ints32], counts: Floats, of_words: Floats, sizes: tuple[int, int]
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
