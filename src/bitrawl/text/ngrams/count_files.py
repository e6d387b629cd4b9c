"""Files of n-gram counts: `w1 w2 … wn<TAB>count` a line, as SRILM, Google and others write them; gzipped or not.

The longest n-grams are what is learned from. Shorter ones follow from them, except those that begin with `<s>`. Where
`<s>` is missing, a sequence begins with each n-gram that no other can precede.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bitrawl.errors import ConfigError
from bitrawl.text.ngrams.counting import BLOCK, Counted, NgramCounter, Vocabulary, distinct
from bitrawl.text.ngrams.lines import fault, numbered_lines
from bitrawl.text.ngrams.model import START, START_ID

_PRECEDED = 1 << 50  # more than any sum of counts


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
