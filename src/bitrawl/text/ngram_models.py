"""A back-off model of word n-grams, and the probability of whole batches of words under it.

`sequences` cuts a text into what a model learns from and judges. `count` counts n-grams in bounded memory: at any moment
there are one block of text and the distinct n-grams so far, sorted. `train` learns a model with modified Kneser–Ney and
interpolation (Chen and Goodman 1998), as KenLM's lmplz does it: Heafield 2013 describes how that goes through the sorted
n-grams of all lengths. `read_arpa` reads models of SRILM, KenLM and others.
"""

import gzip
import math
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import ConfigError
from bitrawl.text.arrays import Bools, Floats, Floats32, Ints, Ints32
from bitrawl.text.words import plain_words

UNKNOWN, START, END = "<unk>", "<s>", "</s>"
MARKS = (UNKNOWN, START, END)
"""The first three words of each model's vocabulary."""
UNKNOWN_ID, START_ID, END_ID = range(3)
DEFAULT_ORDER = 5  # Remus, section 3.1

WORD_BITS = 32  # of a key; the rest is the index of an n-gram
# Words that are looked up at a time. Swept 2^12–2^20 on lab/bench/ngrams.py (2026-11): the same within 10 % from 2^14
# Words that are looked up at a time. Swept 2^12–2^20 on lab/bench/ngrams.py (2026-11): the same within 10 % from 2^14
# to 2^18; this keeps what a batch needs under 10 MB.
CHUNK = 1 << 16


class Level(NamedTuple):
    """All n-grams of one length, in the order of their last words, then of the words before them.

    A key is the index of the n-gram without its first word, one level down, and the first word: so an n-gram is found
    from its last word on, with one search a word. The keys of the first level are the words.
    """

    keys: Ints
    log10: Floats32  # of the last word's probability after the others
    backoff: Floats32  # log10 of the weight of shorter histories after this n-gram; 0 if it is no history


class NgramModel:
    """Katz's back-off form, which an ARPA file lists: Kneser–Ney with interpolation fits into it.

    Words that it does not know are `<unk>`.
    """

    def __init__(self, words: Sequence[str], levels: Sequence[Level]) -> None:
        self.words = tuple(words)
        self.levels = tuple(levels)
        self._ids = {word: number for number, word in enumerate(self.words)}

    @property
    def order(self) -> int:
        return len(self.levels)

    def log10(self, sequences: Iterable[Sequence[str]]) -> Floats:
        """log10 of the probability of each word and, after the last word of each sequence, of the sequence's end.

        A sequence of n words has n + 1 numbers. Those of all sequences follow each other.
        """
        parts, batch = [], []
        get = self._ids.get
        for sequence in sequences:
            batch.append(START_ID)
            batch += [get(word, UNKNOWN_ID) for word in sequence]
            batch.append(END_ID)
            if len(batch) > CHUNK:
                parts.append(self._log10(np.array(batch)))
                batch = []
        parts.append(self._log10(np.array(batch, dtype=np.int64)))
        return np.concatenate(parts)

    def perplexity(self, sequences: Iterable[Sequence[str]]) -> float:
        """2 to the cross entropy (Remus, section 3.2), over words and ends of sequences. Infinite without any word."""
        logs = self.log10(sequences)
        return float(10 ** -logs.mean()) if len(logs) else float("inf")

    def _log10(self, words: Ints) -> Floats:
        logs: Floats = self.levels[0].log10[words].astype(np.float64)
        length = np.ones(len(words), dtype=np.int8)  # of the longest n-gram of the model that ends here
        backoffs = [self.levels[0].backoff[words]]
        ends, nodes = np.arange(len(words)), words
        for order, level in enumerate(self.levels[1:], 2):
            inside = words[ends - (order - 2)] != START_ID
            ends, nodes = ends[inside], nodes[inside]
            at, exists = search(level, nodes, words[ends - (order - 1)])
            ends, nodes = ends[exists], at[exists]
            logs[ends] = level.log10[nodes]
            length[ends] = order
            backoff = np.zeros(len(words), dtype=np.float32)
            backoff[ends] = level.backoff[nodes]
            backoffs.append(backoff)
        for order, backoff in enumerate(backoffs[:-1], 1):
            logs[1:] += np.where(length[1:] <= order, backoff[:-1], 0)
        of_words: Floats = logs[words != START_ID]
        return of_words


def search(level: Level, suffixes: Ints, first: Ints) -> tuple[Ints, Bools]:
    """Where the n-grams are that consist of a first word and an n-gram of the level below, and which of them exist."""
    wanted = (suffixes << WORD_BITS) | first
    at = np.searchsorted(level.keys, wanted)
    at[at == len(level.keys)] = 0
    return at, (level.keys[at] == wanted if len(level.keys) else np.zeros(len(at), dtype=np.bool_))


SHORTEST = 5  # words; Remus, section 3.1
# Judgement: a cut after an abbreviation costs one n-gram, and a splitter that knows abbreviations as much time as all
# the rest of the judgement of a page.
_END = re.compile(r"[.!?\u0589\u061f\u06d4\u0964\u0965\u104b\u1362\u17d4\u2026]+[\"'”’»)\]]*\s|[。！？｡]|\n")


def sequences(text: str) -> list[list[str]]:
    """Sentences of five words and more. Words are casefolded; in scripts without spaces, they are pairs of characters."""
    parts = map(plain_words, _END.split(text))
    return [words for words in parts if len(words) >= SHORTEST]


_GZIP = b"\x1f\x8b"


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """From 1 on, without the line break. Raises `ConfigError`."""
    number = 0
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP)) == _GZIP
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield number, line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}, line {number}: not UTF-8 ({error.reason}); convert the file") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ConfigError(f"{path}, after line {number}: the gzip file is damaged or cut off") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error


def fault(path: Path, number: int, what: str) -> ConfigError:
    return ConfigError(f"{path}, line {number}: {what}")


BLOCK = 1 << 19  # words: the work on a block of 5-grams takes 60 MB


class Counted(NamedTuple):
    """Distinct n-grams of one length and how often each occurs, sorted from the last word to the first.

    One column per n-gram, its last word in the first row. An n-gram that begins before its sequence does is filled with
    `<s>`.
    """

    grams: Ints32
    counts: Ints


class Vocabulary(dict[str, int]):
    """Ints32 by number. Asking for a new word adds it."""

    def __init__(self) -> None:
        super().__init__((mark, number) for number, mark in enumerate(MARKS))

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class NgramCounter:
    """Takes n-grams in blocks and merges them. A sorted run waits until another one is as large."""

    def __init__(self) -> None:
        self._runs: list[Counted] = []

    def add(self, grams: Ints32, counts: Ints) -> None:
        self._runs.append(distinct(grams, counts))
        while len(self._runs) > 1 and len(self._runs[-2].counts) <= 2 * len(self._runs[-1].counts):
            self._merge(2)

    def counted(self) -> Counted | None:
        """All of them; None if there are none. The counter is empty afterwards."""
        if not self._runs:
            return None
        self._merge(len(self._runs))
        return self._runs.pop()

    def _merge(self, number: int) -> None:
        if number > 1:
            grams = np.concatenate([run.grams for run in self._runs[-number:]], axis=1)
            counts = np.concatenate([run.counts for run in self._runs[-number:]])
            del self._runs[-number:]
            self._runs.append(distinct(grams, counts))


def count(sequences: Iterable[Sequence[str]], order: int, vocabulary: Vocabulary, most: int) -> Counted | None:
    """The n-grams that end at each word and at each sequence's end, `most` words at a time. Marks among them are skipped."""
    counter, number = NgramCounter(), vocabulary.__getitem__
    before, block, marks = [START_ID] * max(order - 1, 1), [], frozenset(MARKS)
    for sequence in sequences:
        block += before
        block += map(number, sequence if marks.isdisjoint(sequence) else (w for w in sequence if w not in marks))
        block.append(END_ID)
        if len(block) >= most:
            counter.add(*_windows(np.array(block, dtype=np.int32), order))
            block = []
    if block:
        counter.add(*_windows(np.array(block, dtype=np.int32), order))
    return counter.counted()


def distinct(grams: Ints32, counts: Ints) -> Counted:
    """Sorted, with the counts of equal n-grams added."""
    order = sorted_order(grams)
    grams, counts = grams[:, order], counts[order]
    starts = np.flatnonzero(shared(grams) < len(grams))
    return Counted(grams[:, starts], np.add.reduceat(counts, starts)) if len(counts) else Counted(grams, counts)


def sorted_order(grams: Ints32) -> Ints:
    """The stable order by the first row, then by the second, and so on."""
    rows = grams.astype(np.int64)
    keys = [(rows[i] << 32) | rows[i + 1] if i + 1 < len(rows) else rows[i] for i in range(0, len(rows), 2)]
    return np.lexsort(keys[::-1])


def shared(grams: Ints32) -> NDArray[np.int8]:
    """How many words, from the last one on, each n-gram has in common with the one before it; -1 for the first."""
    common = np.full(grams.shape[1], -1, dtype=np.int8)
    same = np.ones(max(grams.shape[1] - 1, 0), dtype=np.bool_)
    common[1:] = 0
    for row in grams:
        same &= row[1:] == row[:-1]
        common[1:] += same
    return common


def _windows(block: Ints32, order: int) -> tuple[Ints32, Ints]:
    ends = np.flatnonzero(block != START_ID)
    return np.stack([block[ends - back] for back in range(order)]), np.ones(len(ends), dtype=np.int64)


_SIZE = re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)")
_SECTION = re.compile(r"\\(\d+)-grams:")
_FIELDS = re.compile(r"[^ \t]+")  # other spaces may be part of a word
_ABSENT = -100.0  # log10 of <unk>, <s> or </s> if the file does not list it; KenLM's number


def read_arpa(path: Path) -> NgramModel:
    """Raises `ConfigError` with the line of the fault.

    A pruned model may list an n-gram, but not the same n-gram without its first word. That one is then added with the
    probability that the model gives it.
    """
    words = {mark: number for number, mark in enumerate(MARKS)}
    sections = list(_sections(path, words))
    tables = [_sorted(path, section) for section in sections]
    tables[0] = _with_marks(tables[0])
    for order in range(len(tables), 2, -1):
        tables[order - 2] = _with_suffixes(tables[order - 2], tables[order - 1])
    return NgramModel(list(words), _levels(tables))


class _Section(NamedTuple):
    """The n-grams of one length as they are listed."""

    order: int
    line: int  # of the section's title
    size: int  # as the head of the file says
    words: "array[int]"  # of all n-grams, in a row
    logs: "array[float]"
    backoffs: "array[float]"
    lines: "array[int]"


def _sections(path: Path, words: dict[str, int]) -> Iterator[_Section]:
    lines = ((line, text.strip(" \t")) for line, text in numbered_lines(path))
    lines = ((line, text) for line, text in lines if text)
    sizes: list[int] = []
    section: _Section | None = None
    line, text = next(lines, (1, ""))
    while text != "\\data\\":  # what stands before it is a comment
        line, text = next(lines, (line, ""))
        if not text:
            raise fault(path, line, "the file ends without \\data\\; it is not an ARPA file")
    for line, text in lines:
        if text.startswith("\\") and (section is None or text == "\\end\\" or _SECTION.fullmatch(text)):
            if section is not None:
                yield _complete(path, section, line)
            if text == "\\end\\":
                break
            section = _opened(path, line, text, sizes, 1 if section is None else section.order + 1)
        elif section is None:
            sizes.append(_size(path, line, text, len(sizes) + 1))
        else:
            _read(path, line, text, section, words)
    else:
        raise fault(path, line, "the file ends without \\end\\; it is cut off")
    if section is None or section.order != len(sizes):
        raise fault(path, line, f"{len(sizes)} lengths of n-grams are announced, but fewer are listed")


def _size(path: Path, line: int, text: str, order: int) -> int:
    match = _SIZE.fullmatch(text)
    if not match or int(match[1]) != order:
        raise fault(path, line, f"expected `ngram {order}=COUNT`, found {text[:60]!r}")
    return int(match[2])


def _opened(path: Path, line: int, text: str, sizes: list[int], order: int) -> _Section:
    match = _SECTION.fullmatch(text)
    if not match or int(match[1]) != order or order > len(sizes):
        raise fault(path, line, f"expected \\{order}-grams: of {len(sizes)} lengths, found {text[:60]!r}")
    return _Section(order, line, sizes[order - 1], array("i"), array("d"), array("d"), array("q"))


def _complete(path: Path, section: _Section, line: int) -> _Section:
    if len(section.logs) != section.size:
        listed, order = len(section.logs), section.order
        raise fault(path, line, f"the head announces {section.size} {order}-grams, but {listed} are listed")
    return section


def _read(path: Path, line: int, text: str, section: _Section, words: dict[str, int]) -> None:
    fields = _FIELDS.findall(text)
    ngram = fields[1 : section.order + 1]
    try:
        log = float(fields[0])
        backoff = float(fields[section.order + 1]) if len(fields) > section.order + 1 else 0.0
    except ValueError:
        log = math.nan
    if not log <= 0 or not math.isfinite(backoff) or not 1 <= len(fields) - section.order <= 2:
        raise fault(path, line, f"expected log10, {section.order} words and perhaps a back-off, found {text[:60]!r}")
    if section.order == 1:
        words.setdefault(_known_as(ngram[0]), len(words))
    try:
        section.words.extend([words[_known_as(word)] for word in ngram])
    except KeyError as error:
        raise fault(path, line, f"the word {error.args[0]!r} is not among the 1-grams") from None
    section.logs.append(max(log, _ABSENT))
    section.backoffs.append(backoff)
    section.lines.append(line)


def _known_as(word: str) -> str:
    return UNKNOWN if word == "<UNK>" else word


class _ArpaTable(NamedTuple):
    """The n-grams of one length, one column each, the last word first; sorted as `Level` is."""

    grams: Ints32
    logs: Floats  # not a number if the n-gram was added
    backoffs: Floats


def _sorted(path: Path, section: _Section) -> _ArpaTable:
    grams = np.array(section.words, dtype=np.int32).reshape(-1, section.order).T[::-1]
    order = sorted_order(grams)
    grams = grams[:, order]
    again = np.flatnonzero(shared(grams) == section.order)
    if len(again):
        raise fault(path, section.lines[order[again[0]]], "this n-gram is listed a second time")
    return _ArpaTable(grams, np.array(section.logs)[order], np.array(section.backoffs)[order])


def _with_marks(unigrams: _ArpaTable) -> _ArpaTable:
    """The marks have the first numbers, whether the file lists them or not. All other words are listed."""
    size = int(max(unigrams.grams.max(initial=0) + 1, len(MARKS)))
    logs, backoffs = np.full(size, _ABSENT), np.zeros(size)
    logs[unigrams.grams[0]], backoffs[unigrams.grams[0]] = unigrams.logs, unigrams.backoffs
    return _ArpaTable(np.arange(size, dtype=np.int32)[np.newaxis], logs, backoffs)


def _with_suffixes(table: _ArpaTable, longer: _ArpaTable) -> _ArpaTable:
    """With what the longer n-grams end with, where it is not listed."""
    ends = longer.grams[:-1]
    ends = ends[:, shared(ends) < len(ends)]
    grams = np.concatenate([table.grams, ends], axis=1)
    order = sorted_order(grams)  # stable: what is listed comes before what is added
    order = order[shared(grams[:, order]) < len(grams)]
    added = np.full(ends.shape[1], np.nan)
    logs, backoffs = np.concatenate([table.logs, added]), np.concatenate([table.backoffs, np.zeros(len(added))])
    return _ArpaTable(grams[:, order], logs[order], backoffs[order])


def _levels(tables: list[_ArpaTable]) -> list[Level]:
    levels: list[Level] = []
    for order, table in enumerate(tables, 1):
        suffixes, _ = _nodes(levels, table.grams[:-1])
        logs = table.logs.copy()
        added = np.isnan(logs)
        if added.any():
            histories, exists = _nodes(levels, table.grams[1:, added])
            logs[added] = levels[-1].log10[suffixes[added]] + np.where(exists, levels[-1].backoff[histories], 0)
        keys = (suffixes << WORD_BITS) | table.grams[order - 1]
        levels.append(Level(keys, logs.astype(np.float32), table.backoffs.astype(np.float32)))
    return levels


def _nodes(levels: list[Level], grams: Ints32) -> tuple[Ints, Bools]:
    """Where n-grams of the highest of these levels are, and which of them exist."""
    nodes, exist = np.zeros(grams.shape[1], dtype=np.int64), np.ones(grams.shape[1], dtype=np.bool_)
    for level, words in zip(levels, grams, strict=True):
        nodes, exists = search(level, nodes, words.astype(np.int64))
        exist &= exists
    return nodes, exist


# lmplz's --discount_fallback: for texts so small that no n-gram of a length occurs two, three or four times.
_FALLBACK = np.array([0.0, 0.5, 1.0, 1.5])
_LEAST = 1e-6
_NEVER = -99.0  # log10 of what cannot be, as SRILM writes it: the probability of <s>, which nothing predicts


def train(sequences: Iterable[Sequence[str]], order: int = DEFAULT_ORDER, *, block: int = BLOCK) -> NgramModel:
    """Learn from sequences of words, so many words at a time. How often a text repeats itself costs time, but no memory."""
    vocabulary = Vocabulary()
    counted = count(sequences, order, vocabulary, block)
    if counted is None:
        raise ConfigError("there is no text to train a language model on; give texts with sequences of words")
    return estimated(counted, vocabulary)


class _Adjusted(NamedTuple):
    """n-grams of one length, in the order of `Level`, with their Kneser–Ney counts."""

    suffixes: Ints  # indices one level down
    first: Ints
    counts: Ints  # of words seen before the n-gram; of occurrences if none can be, or at the highest order


def estimated(counted: Counted, vocabulary: Vocabulary) -> NgramModel:
    words = list(vocabulary)
    adjusted = _adjusted(counted, len(words))
    del counted
    levels: list[Level] = []
    probabilities = np.full(1, 1 / (len(words) - 1))  # of a word chosen blindly, from all but <s>
    histories = np.zeros(len(words), dtype=np.int64)
    while adjusted:
        level = adjusted.pop(0)
        keys = (level.suffixes << WORD_BITS) | level.first
        if levels:  # the history a b of a b c is a before b, and b is the history of b c
            histories, _ = search(levels[-1], histories[level.suffixes], level.first)
        probabilities, weights = _interpolated(level, histories, probabilities)
        if levels:
            levels[-1] = levels[-1]._replace(backoff=_logarithms(weights))
        levels.append(Level(keys, _logarithms(probabilities), np.zeros(len(keys), dtype=np.float32)))
    levels[0].log10[START_ID] = _NEVER
    return NgramModel(words, levels)


def _adjusted(counted: Counted, words: int) -> list[_Adjusted]:
    """The n-grams of all lengths, the shortest first: one pass over the sorted n-grams for each length, without sorting again."""
    grams, counts = counted
    common, starts = shared(grams), np.arange(grams.shape[1])
    levels: list[_Adjusted] = []
    for order in range(len(grams), 1, -1):
        first, second = grams[order - 1, starts], grams[order - 2, starts]
        real = (first != START_ID) | (second != START_ID)
        begins = common[starts] < order - 1
        suffixes = np.cumsum(begins) - 1
        levels.append(_Adjusted(suffixes[real], first[real].astype(np.int64), counts[real]))
        groups = np.flatnonzero(begins)
        kinds = np.diff(groups, append=len(starts))
        counts = np.where(second[groups] == START_ID, np.add.reduceat(counts, groups), kinds)
        starts = starts[groups]
        levels[-1] = levels[-1]._replace(suffixes=_renumbered(grams, starts, order - 1)[levels[-1].suffixes])
    unigrams = np.zeros(words, dtype=np.int64)
    unigrams[grams[0, starts]] = counts
    levels.append(_Adjusted(np.zeros(words, dtype=np.int64), np.arange(words), unigrams))
    return levels[::-1]


def _renumbered(grams: Ints32, starts: Ints, order: int) -> Ints:
    """Indices of n-grams once those that begin before their sequence are gone. An index of a word is its number."""
    last: Ints = grams[0, starts].astype(np.int64)
    if order == 1:
        return last
    real = (grams[order - 1, starts] != START_ID) | (grams[order - 2, starts] != START_ID)
    return np.cumsum(real, dtype=np.int64) - 1


def _interpolated(level: _Adjusted, histories: Ints, shorter: Floats) -> tuple[Floats, Floats]:
    """Probabilities of n-grams, and for each history the weight of the shorter one; 1 if nothing follows it."""
    discounts = _discounts(level.counts)[np.minimum(level.counts, 3)]
    size = len(shorter)
    total = np.bincount(histories, weights=level.counts, minlength=size)
    taken = np.bincount(histories, weights=discounts, minlength=size)
    weights = np.divide(taken, total, out=np.ones(size), where=total > 0)
    discounted = (level.counts - discounts) / np.maximum(total[histories], 1)
    return discounted + weights[histories] * shorter[level.suffixes], weights


def _discounts(counts: Ints) -> Floats:
    """For n-grams that occur never, once, twice, and more often (Chen and Goodman 1998, equation 26)."""
    n = np.bincount(np.minimum(counts, 5), minlength=6)[:5].astype(np.float64)
    if not n[1:4].all():
        return _FALLBACK
    times = np.arange(1, 4)
    estimated: Floats = times - (times + 1) * n[1] / (n[1] + 2 * n[2]) * n[2:] / n[1:4]
    # lmplz accepts a discount of 0, which leaves nothing for words that were not seen.
    return np.concatenate([[0.0], estimated]) if ((estimated > _LEAST) & (estimated <= times)).all() else _FALLBACK


def _logarithms(probabilities: Floats) -> Floats32:
    return np.log10(np.maximum(probabilities, 10**_NEVER)).astype(np.float32)
