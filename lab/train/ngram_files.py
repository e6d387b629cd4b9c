"""Models of n-grams out of files of counts, and as ARPA files, which a job takes as `topic.language_models`.

A file of counts has `w1 w2 … wn<TAB>count` a line, as SRILM, Google and others write them; gzipped or not. The longest n-grams
are what is learned from. Shorter ones follow from them, except those that begin with `<s>`. Where `<s>` is missing, a sequence
begins with each n-gram that no other can precede.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bitrawl.errors import ConfigError
from bitrawl.files import replacing
from bitrawl.text.arrays import Ints
from bitrawl.text.ngram_models import (
    BLOCK,
    START,
    START_ID,
    WORD_BITS,
    Counted,
    NgramCounter,
    NgramModel,
    Vocabulary,
    distinct,
    estimated,
    fault,
    numbered_lines,
)

_PRECEDED = 1 << 50  # more than any sum of counts
_ROWS = 1 << 16  # that are written at a time
_WORD = (1 << WORD_BITS) - 1


def train_on_counts(paths: Sequence[Path]) -> NgramModel:
    """Learn from files of n-gram counts. The longest n-grams say the order."""
    vocabulary = Vocabulary()
    return estimated(read_counts(paths, vocabulary), vocabulary)


def read_counts(paths: Sequence[Path], vocabulary: Vocabulary) -> Counted:
    """The n-grams of the greatest length in the files. Reads them twice, because that length is not known before."""
    order = max((len(words) for path in paths for words, _ in _entries(path)), default=0)
    counter = NgramCounter()
    grams: list[list[int]] = []
    counts: list[int] = []
    for words, number in (entry for path in paths for entry in _entries(path)):
        if len(words) == order or words[0] == START:
            grams.append([vocabulary[word] for word in reversed(words)] + [START_ID] * (order - len(words)))
            counts.append(number)
        if len(grams) >= BLOCK:
            counter.add(np.array(grams, dtype=np.int32).T, np.array(counts))
            grams, counts = [], []
    if grams:
        counter.add(np.array(grams, dtype=np.int32).T, np.array(counts))
    counted = counter.counted()
    if counted is None:
        raise ConfigError(f"{', '.join(map(str, paths))}: no n-grams with counts; a line is `w1 w2 … wn<TAB>count`")
    return _with_beginnings(counted)


def _entries(path: Path) -> Iterator[tuple[list[str], int]]:
    for line, text in numbered_lines(path):
        if not text.strip():
            continue
        ngram, tab, count = text.rpartition("\t")
        words = ngram.split()
        if not tab or not words or not count.strip().isdecimal():
            raise fault(path, line, f"expected `w1 w2 … wn<TAB>count`, found {text[:60]!r}")
        if int(count) and words[-1] != START:
            yield words, int(count)


def _with_beginnings(counted: Counted) -> Counted:
    """Each n-gram's history is itself the end of another n-gram: of one that begins with `<s>` if there is no other."""
    for _ in range(len(counted.grams) - 1):
        histories = distinct(counted.grams[1:], counted.counts)
        ends = counted.grams[:-1]
        weighed = np.concatenate([histories.counts, np.full(ends.shape[1], _PRECEDED)])
        found = distinct(np.concatenate([histories.grams, ends], axis=1), weighed)
        missing = (found.counts < _PRECEDED) & (found.grams[0] != START_ID)
        if not missing.any():
            break
        begun = np.pad(found.grams[:, missing], ((0, 1), (0, 0)), constant_values=START_ID)
        grams = np.concatenate([counted.grams, begun], axis=1)
        counted = distinct(grams, np.concatenate([counted.counts, found.counts[missing]]))
    return counted


def write_arpa(model: NgramModel, path: Path) -> None:
    """Gzipped if the name ends in `.gz`."""
    with replacing(path, compress=path.suffix == ".gz") as file:
        head = [f"ngram {order}={len(level.keys)}" for order, level in enumerate(model.levels, 1)]
        file.write("\n".join(["\\data\\", *head, ""]).encode())
        for order, level in enumerate(model.levels, 1):
            file.write(f"\n\\{order}-grams:\n".encode())
            for start in range(0, len(level.keys), _ROWS):
                file.write(_rows(model, order, np.arange(start, min(start + _ROWS, len(level.keys)))).encode())
        file.write(b"\n\\end\\\n")


def _rows(model: NgramModel, order: int, rows: Ints) -> str:
    level, words, nodes = model.levels[order - 1], np.array(model.words, dtype=object), rows
    ngrams = words[level.keys[rows] & _WORD]
    for below in range(order - 1, 0, -1):
        nodes = model.levels[below].keys[nodes] >> WORD_BITS
        ngrams = ngrams + " " + words[model.levels[below - 1].keys[nodes] & _WORD]
    logs = level.log10[rows].tolist()
    if order == model.order:
        return "".join(f"{log:.7g}\t{ngram}\n" for log, ngram in zip(logs, ngrams, strict=True))
    backoffs = level.backoff[rows].tolist()
    return "".join(f"{p:.7g}\t{ngram}\t{b:.7g}\n" for p, ngram, b in zip(logs, ngrams, backoffs, strict=True))
