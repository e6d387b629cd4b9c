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
from bitrawl.text.arrays import Bools, Floats, Ints, Ints32, bounds, firsts, in_order, places_in, ranges
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
# Of a bag's words, one that gets so little of another after a round of counting gets nothing from then on: 5 to 17 % of the
# pairs of gimp-help and debian-handbook. On Text+Berg and MAC dev (2026-11) F1 is the same with 0.01; with 0.03 it is .862
# instead of .870.
UNLIKELY = 0.01
# What was known of a word before counts as so many occurrences of it: what the texts say overrules it as they grow. Strict F1
# (2026-11) on Text+Berg and MAC dev is .870 and .827 with nothing, .875 and .873 with 2, .879 and .867 with 5.
PRIOR_WEIGHT = 3.0
_AT_ONCE = 2000  # words that are carried over to a third language at once: bounds memory
_HUNALIGN = re.compile(r"\s@\s")


class Lexicon:
    """Sparse translation probabilities in both directions. Words are whatever the caller compares, normally stems.

    For a link, `forward` is p(b | a) and `backward` is p(a | b).
    """

    def __init__(
        self,
        ids_a: Mapping[str, int],
        ids_b: Mapping[str, int],
        links: "Links",
        prior: "Lexicon | None" = None,
        unseen: tuple[Floats, Floats] | None = None,
    ) -> None:
        """`prior` speaks for words that are not in the texts that this one was learned from.

        `unseen` is how probably each word is translated by one that the prior knows and these texts do not have.
        """
        self.ids_a, self.ids_b, self.links, self.prior = ids_a, ids_b, links, prior
        self.unseen = unseen or (np.zeros(len(ids_a)), np.zeros(len(ids_b)))
        self.names_a, self.names_b = list(ids_a), list(ids_b)

    @cached_property
    def back(self) -> "Lexicon":
        """From the second language to the first."""
        return Lexicon(self.ids_b, self.ids_a, self.links.turned())

    def added_to(self, other: "Lexicon") -> "Lexicon":
        """All links of both; of one that both have, the better."""
        ids_a, ids_b = (_numbered(names) for names in zip(self.words(), other.words(), strict=True))
        a, b, *both = Links.joined([self.among(ids_a, ids_b), other.among(ids_a, ids_b)])
        keys, place = np.unique(a * len(ids_b) + b, return_inverse=True)
        better = [np.zeros(len(keys)) for _ in both]
        for best, probabilities in zip(better, both, strict=True):
            np.maximum.at(best, place, probabilities)
        first, second = np.divmod(keys, max(len(ids_b), 1))
        return Lexicon(ids_a, ids_b, Links(first, second, *better))

    @classmethod
    def learn(
        cls,
        pairs: Iterable[TokenPair],
        *,
        rounds: int = ROUNDS,
        weights: Sequence[float] | None = None,
        prior: "Lexicon | None" = None,
    ) -> "Lexicon":
        """Learn from sentences, paragraphs or documents: IBM Model 1 in both directions, made to agree in each round.

        Agreement (Liang et al. 2006) keeps rare words from collecting whatever is left over, which is the weakness of
        Model 1 with little data. What the prior says of a word counts as a few occurrences of it.
        """
        pairs = list(pairs)
        weights = [1.0] * len(pairs) if weights is None else weights
        bags = [(window, weight) for pair, weight in zip(pairs, weights, strict=True) for window in windows(*pair)]
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
            prior=prior,
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
        prior: "Lexicon | None" = None,
    ) -> "Lexicon":
        """Learn from bags of either language, one beside the other, of words that are numbered already."""
        known = _Prior.of(prior, ids)
        links, totals = _model(a, b, weights, known, rounds)
        return cls(*ids, links, prior, known.unseen(totals))

    def __len__(self) -> int:
        return len(self.links.a)

    def among(self, ids_a: Mapping[str, int], ids_b: Mapping[str, int]) -> "Links":
        """The links between words of two vocabularies, by their numbers there; of the prior those that it knows alone."""
        a, b = _renumbered(self.names_a, self.ids_a, ids_a), _renumbered(self.names_b, self.ids_b, ids_b)
        numbers_a, numbers_b = a[self.links.a], b[self.links.b]
        links = Links(numbers_a, numbers_b, self.links.forward, self.links.backward)
        own = links.where((numbers_a >= 0) & (numbers_b >= 0))
        if self.prior is None or (ids_a is self.ids_a and ids_b is self.ids_b):
            return own
        told_a, told_b = (
            np.bincount(numbers[numbers >= 0], minlength=len(ids)) > 0 for numbers, ids in ((a, ids_a), (b, ids_b))
        )
        before = self.prior.among(ids_a, ids_b)
        alone = ~(told_a[before.a] & told_b[before.b])
        return Links.joined([own, before.where(alone)]).ordered()

    def beyond(self, ids_a: Mapping[str, int], ids_b: Mapping[str, int]) -> tuple[Floats, Floats]:
        """Of each word of two vocabularies, how probably it is translated by a word that the other lacks."""
        a, b = _renumbered(self.names_a, self.ids_a, ids_a), _renumbered(self.names_b, self.ids_b, ids_b)
        before = self.prior.beyond(ids_a, ids_b) if self.prior else (np.zeros(len(ids_a)), np.zeros(len(ids_b)))
        links = self.links
        of_a = self.unseen[0] + np.bincount(links.a, links.forward * (b[links.b] < 0), len(a))
        of_b = self.unseen[1] + np.bincount(links.b, links.backward * (a[links.a] < 0), len(b))
        for numbers, own, found in zip((a, b), (of_a, of_b), before, strict=True):
            found[numbers[numbers >= 0]] = own[numbers >= 0]
        return before

    def words(self) -> tuple[list[str], list[str]]:
        """All words of either language that there is anything to tell of; those of the prior may be there twice."""
        before = self.prior.words() if self.prior else ([], [])
        return self.names_a + before[0], self.names_b + before[1]

    def knows_a(self, word: str) -> bool:
        """Whether there is anything to tell of that word of the first language."""
        return word in self.ids_a or (self.prior is not None and self.prior.knows_a(word))

    def knows_b(self, word: str) -> bool:
        """Whether there is anything to tell of that word of the second language."""
        return word in self.ids_b or (self.prior is not None and self.prior.knows_b(word))

    def linked(self, tokens_a: Tokens, tokens_b: Tokens) -> tuple[set[str], set[str]]:
        """The words of either text that have any translation here."""
        a, b = self._linked
        return a.intersection(tokens_a), b.intersection(tokens_b)

    @cached_property
    def _linked(self) -> tuple[set[str], set[str]]:
        a, b = (
            set(map(names.__getitem__, np.unique(of_side).tolist()))
            for of_side, names in ((self.links.a, self.names_a), (self.links.b, self.names_b))
        )
        return a, b

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
        return slice(*self._begins[number : number + 2].tolist()) if number >= 0 else slice(0)

    @cached_property
    def _begins(self) -> Ints:
        """Where the links of each word begin, and the end of the last."""
        return np.searchsorted(self.links.a, np.arange(len(self.ids_a) + 1))

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
        asked = self._asked
        for word in dict.fromkeys(tokens_a):
            translations = asked[word] if word in asked else self.known_translations(word)
            if translations.keys().isdisjoint(set_b):  # some have hundreds: it goes through the fewer
                continue
            explained = explained_a.get(word, 0.0)
            for other in sorted(translations.keys() & set_b):  # sums of floats depend on the order
                forward, backward = translations[other]
                explained += forward
                explained_b[other] = explained_b.get(other, 0.0) + backward
            explained_a[word] = min(1.0, explained)
        return explained_a, {word: min(1.0, explained) for word, explained in explained_b.items()}

    def known_translations(self, word: str) -> dict[str, tuple[float, float]]:
        """With both probabilities; the prior tells those of which the texts could tell nothing."""
        found = self._asked.get(word)
        if found is None:
            before = self.prior.known_translations(word) if self.prior else {}
            if word in self.ids_a:
                links = self._links_of(word)
                names = map(self.names_b.__getitem__, self.links.b[links].tolist())
                both = zip(self.links.forward[links].tolist(), self.links.backward[links].tolist(), strict=True)
                found = dict(zip(names, both, strict=True))
                found |= {other: both for other, both in before.items() if other not in self.ids_b}
            else:
                found = before
            self._asked[word] = found
        return found

    @cached_property
    def _asked(self) -> dict[str, dict[str, tuple[float, float]]]:
        return {}


class Links(NamedTuple):
    """Words that translate each other, by their numbers, sorted by the first and then the second."""

    a: Ints
    b: Ints
    forward: Floats
    backward: Floats

    @classmethod
    def none(cls) -> "Links":
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))

    @classmethod
    def of_numbers(cls, links: Mapping[tuple[int, int], tuple[float, float]]) -> "Links":
        """How probably two words translate each other, both ways, by their numbers."""
        a, b = np.array([*links] or np.zeros((0, 2)), np.int64).T
        forward, backward = np.array([*links.values()] or np.zeros((0, 2)), np.float64).T
        return cls(a, b, forward, backward)

    @classmethod
    def joined(cls, parts: Sequence["Links"]) -> "Links":
        return cls._make(map(np.concatenate, zip(*parts, strict=True)))

    def ordered(self) -> "Links":
        return self.where(np.lexsort((self.b, self.a)))

    def where(self, which: Bools | Ints | slice) -> "Links":
        return Links._make(column[which] for column in self)

    def turned(self) -> "Links":
        """From the second language to the first."""
        return Links(self.b, self.a, self.backward, self.forward).ordered()

    def through(self, other: "Links", penalty: float) -> "Links":
        """From the first language to the second of other links, whose first language is the second of these."""
        begins = firsts(self.a)[::_AT_ONCE].tolist() or [0]
        parts = (slice(*ends) for ends in pairwise([*begins, len(self.a)]))
        return Links.joined([_carried(self.where(part), other, penalty) for part in parts])


def _carried(links: Links, other: Links, penalty: float) -> Links:
    begin, end = (np.searchsorted(other.a, links.b, side) for side in ("left", "right"))
    step, size = ranges(begin, end), int(other.b.max(initial=0)) + 1
    keys = np.repeat(links.a, end - begin) * size + other.b[step]
    different, place = np.unique(keys, return_inverse=True)
    both = [
        penalty * np.bincount(place, np.repeat(first, end - begin) * second[step], len(different)).astype(np.float64)
        for first, second in ((links.forward, other.forward), (links.backward, other.backward))
    ]
    return Links._make((*np.divmod(different, size), *both)).where(np.maximum(*both) >= LEAST)


class _Prior(NamedTuple):
    """What is known before of the words that are numbered: the counts of links, and of words, as if they had been seen."""

    sizes: tuple[int, int]
    links: Links
    known_a: Floats
    known_b: Floats
    beyond: tuple[Floats, Floats]

    @classmethod
    def of(cls, prior: "Lexicon | None", ids: tuple[Mapping[str, int], Mapping[str, int]]) -> "_Prior":
        sizes = len(ids[0]), len(ids[1])
        if prior is None:
            nothing = np.zeros(sizes[0]), np.zeros(sizes[1])
            return cls(sizes, Links.none(), *nothing, nothing)
        known = [
            PRIOR_WEIGHT * np.fromiter(map(knows, own), np.float64, len(own))
            for own, knows in zip(ids, (prior.knows_a, prior.knows_b), strict=True)
        ]
        links = prior.among(*ids).ordered()
        counts = Links(links.a, links.b, PRIOR_WEIGHT * links.forward, PRIOR_WEIGHT * links.backward)
        return cls(sizes, counts, known[0], known[1], prior.beyond(*ids))

    def unseen(self, totals: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """How probably each word is translated by one that has no number, where words were seen so often."""
        a, b = self.beyond
        return (
            a * self.known_a / (totals[0] + self.known_a + EMPTY),
            b * self.known_b / (totals[1] + self.known_b + EMPTY),
        )

    def at(self, keys: Ints) -> "_Before":
        """Where its links are among these."""
        places = places_in(keys, self.links.a * self.sizes[1] + self.links.b)
        seen = np.flatnonzero(places >= 0)
        return _Before(places[seen], self.links.forward[seen], self.links.backward[seen], np.flatnonzero(places < 0))


class _Before(NamedTuple):
    """Of links that are numbered, which are known before, and their counts both ways; and which links are not numbered."""

    place: Ints
    forward: Floats
    backward: Floats
    unseen: Ints


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


def _renumbered(names: Sequence[str], before: Mapping[str, int], after: Mapping[str, int]) -> Ints:
    """Of each word its number in another vocabulary; -1 for words that it lacks."""
    if before is after:
        return np.arange(len(names))
    if len(names) <= len(after):
        return np.fromiter((after.get(name, -1) for name in names), np.int64, len(names))
    # Of a sentence beside all the words that ship, its own words are looked up: an alignment of it took 70 ms, and takes 8.
    numbers = np.full(len(names), -1, np.int64)
    both = [(before[name], number) for name, number in after.items() if name in before]
    if both:
        places, found = zip(*both, strict=True)
        numbers[list(places)] = found
    return numbers


def _numbered(bags: Iterable[Tokens]) -> dict[str, int]:
    return {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(bags)))}


def _model(
    a: WordBags, b: WordBags, weights: Floats, prior: _Prior, rounds: int
) -> tuple[Links, tuple[Floats, Floats]]:
    """Expectation maximisation over every pair of word types in every bag; the links, and how often words were seen."""
    n, m = np.diff(a.begin), np.diff(b.begin)
    order = np.argsort(m, kind="stable")
    order = order[(n * m)[order] > 0]
    a, b = a.where(order), b.where(order)
    size = prior.sizes[1]
    keys, link = _linked(a, b, size)
    links, dropped = ((keys // size).astype(np.int32), (keys % size).astype(np.int32)), len(keys)
    before = prior.at(keys)
    del keys  # millions of them: each array of their length is some of the memory that mining needs at most
    if not len(link):
        never = np.zeros(prior.sizes[0]), np.zeros(size)
        return _with_unseen(Links.none(), prior, before.unseen, never), never
    tables = _tables(a, b, weights[order], link)
    counts, joint = np.zeros(dropped + 1), np.zeros(dropped + 1)
    for table in tables:
        np.add.at(counts, table.link.ravel(), np.repeat(table.weights, table.link.shape[1]))
    for number in range(1, rounds):
        _set_joint(joint[:-1], links, counts[:-1], prior, before)
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
    totals = _totals(links[0], counts, prior.sizes[0]), _totals(links[1], counts, size)
    forward, backward = _probabilities(links, np.maximum(counts - DISCOUNT, 0.0), totals, prior, before)
    strong = np.maximum(forward, backward) >= LEAST
    a_of, b_of = (of_side[strong].astype(np.int64) for of_side in links)
    seen = Links(a_of, b_of, forward[strong], backward[strong])
    return _with_unseen(seen, prior, before.unseen, totals), totals


def _set_joint(
    joint: Floats,
    links: tuple[Ints32, Ints32],
    counts: Floats,
    prior: _Prior,
    before: _Before,
) -> None:
    """Of each link, the geometric mean of its probabilities both ways."""
    joint[:] = counts
    known = counts[before.place]
    joint[before.place] = np.sqrt((known + before.forward) * (known + before.backward))
    for of_side, size, more in zip(links, prior.sizes, (prior.known_a, prior.known_b), strict=True):
        joint /= np.sqrt(_totals(of_side, counts, size) + more + EMPTY)[of_side]


def _with_unseen(links: Links, prior: _Prior, unseen: Ints, totals: tuple[Floats, Floats]) -> Links:
    """Also the links of the prior whose words were never seen together."""
    if not len(unseen):
        return links
    a, b = prior.links.a[unseen], prior.links.b[unseen]
    forward = prior.links.forward[unseen] / (totals[0] + prior.known_a + EMPTY)[a]
    backward = prior.links.backward[unseen] / (totals[1] + prior.known_b + EMPTY)[b]
    strong = np.maximum(forward, backward) >= LEAST
    return Links.joined([links, Links(a, b, forward, backward).where(strong)]).ordered()


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
    links: tuple[Ints32, Ints32],
    counts: Floats,
    totals: tuple[Floats, Floats],
    prior: _Prior,
    before: _Before,
) -> tuple[Floats, Floats]:
    forward, backward = counts.copy(), counts
    forward[before.place] += before.forward
    backward[before.place] += before.backward
    forward /= (totals[0] + prior.known_a + EMPTY)[links[0]]
    backward /= (totals[1] + prior.known_b + EMPTY)[links[1]]
    return forward, backward


def _totals(groups: NDArray[Any], counts: Floats, size: int) -> Floats:
    return np.bincount(groups, counts, size).astype(np.float64, copy=False)


def share(tokens: Tokens, explained: Mapping[str, float]) -> float:
    """How far the words of a text have their translations, in the mean."""
    return sum(explained.get(token, 0.0) for token in tokens) / len(tokens) if tokens else 0.0
