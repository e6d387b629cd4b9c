"""Makes models/frequencies.npz: how often stems occur in general language.

`python -m lab.train frequencies --data WORDFREQ/data --out frequencies.npz`: the lists of the package wordfreq, which need not
be installed, because its files are read as they are.
"""

import gzip
from collections import defaultdict
from collections.abc import Iterator
from heapq import nlargest
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.files import replacing
from bitrawl.model import Language
from bitrawl.text.frequencies import LOWEST_RATE, STEPS_PER_TENFOLD, UNSEEN_RATE, keys_of
from bitrawl.text.words import words
from lab.train import Tell, silent

MOST_STEMS = 30_000  # of a language: 42 tables of this size are 2.5 MB. Judgement
RAREST = 2 * UNSEEN_RATE  # occurrences per million; rarer stems are left out
# Languages whose pairs of characters are counted across the borders of words too, and how many characters that can begin
# or end a word are combined. Pairs of rarer ones do not reach RAREST.
UNSPACED, COMBINED = ("zh", "ja"), 1500
ALSO = {"sh": ("sr",)}  # the same list, stemmed as another language


def train(data: Path, out: Path, *, tell: Tell = silent) -> None:
    """Write the tables of all languages that wordfreq has a list of."""
    tables: dict[str, NDArray[Any]] = {}
    for path in _lists(data):
        code = path.name.split(".")[0].partition("_")[2]
        listed = dict(read_list(path))
        for language in (code, *ALSO.get(code, ())):
            counts = stem_rates(listed, Language(language))
            tables |= {f"{language}.{name}": column for name, column in packed(counts).items()}
        tell(f"{code}: {len(listed)} words, {len(tables[f'{code}.gaps'])} stems")
    with replacing(out) as file:
        np.savez_compressed(file, **tables)  # type: ignore[arg-type] # numpy takes them for allow_pickle


def read_list(path: Path) -> Iterator[tuple[str, float]]:
    """The words of one of wordfreq's files with their occurrences per million.

    The format is cBpack: a list whose first member is a header, and whose n-th member has the words of frequency
    10 ** (-n / 100).
    """
    with gzip.open(path) as file:
        _, *bins = msgspec.msgpack.decode(file.read())
    for centibels, found in enumerate(bins):
        yield from ((word, 1e6 * 10 ** (-centibels / 100)) for word in found)


def stem_rates(listed: dict[str, float], language: Language) -> dict[str, float]:
    """The rates of the stems of those words. A word that has several stems adds to each."""
    rates: defaultdict[str, float] = defaultdict(float)
    for word, rate in listed.items():
        for stem in words(word, language):
            rates[stem] += rate
    if language in UNSPACED:
        for pair, rate in _across_words(listed):
            rates[pair] += rate
    return rates


def packed(rates: dict[str, float]) -> dict[str, NDArray[Any]]:
    """The most frequent stems as gaps between their keys, and rates of one byte."""
    kept = [(stem, rate) for stem, rate in nlargest(MOST_STEMS, rates.items(), key=_second) if rate >= RAREST]
    keys = keys_of([stem for stem, _ in kept])
    steps = np.rint(STEPS_PER_TENFOLD * np.log10([rate / LOWEST_RATE for _, rate in kept])).clip(0, 255)
    unique, first = np.unique(keys, return_index=True)  # of two stems with one key, the more frequent counts
    gaps = np.diff(unique, prepend=0)
    return {
        "gaps": gaps.astype(np.uint16 if gaps.max() < 1 << 16 else np.uint32),
        "steps": steps[first].astype(np.uint8),
    }


def _lists(data: Path) -> list[Path]:
    """The large list of each language, or the small one."""
    best = {
        path.name.partition("_")[2]: path for size in ("small", "large") for path in data.glob(f"{size}_*.msgpack.gz")
    }
    return [best[name] for name in sorted(best)]


def _across_words(listed: dict[str, float]) -> Iterator[tuple[str, float]]:
    """Pairs of the last character of a word and the first of the next, as if words followed each other by chance."""
    last: defaultdict[str, float] = defaultdict(float)
    first: defaultdict[str, float] = defaultdict(float)
    for word, rate in listed.items():
        last[word[-1]] += rate
        first[word[0]] += rate
    ends, beginnings = (nlargest(COMBINED, rates.items(), key=_second) for rates in (last, first))
    for (end, end_rate), (beginning, beginning_rate) in product(ends, beginnings):
        if (rate := end_rate * beginning_rate / 1e6) >= RAREST:
            yield end + beginning, rate


def _second(item: tuple[str, float]) -> float:
    return item[1]
