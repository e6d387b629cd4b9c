"""The bilingual terms that a corpus supports, with examples."""

import shlex
import tempfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec
import numpy as np

from bitrawl.corpus.formats import TERM_PAIR_SCORE, TERM_PAIRS
from bitrawl.corpus.term_pairs import (
    MOST_EXAMPLES,
    FoundPair,
    TermExample,
    TermPair,
    find_pairs,
    segments_with,
)
from bitrawl.corpus.units import CorpusUnit
from bitrawl.errors import ConfigError
from bitrawl.job.corpora import Corpora
from bitrawl.model import Language, Unpacker, pack
from bitrawl.text.arrays import Ints
from bitrawl.text.frequencies import Keyness, Phrases, Texts, general_rates
from bitrawl.url import Url

MOST_SEGMENTS = 200_000  # that are read, evenly from all
TELL_EVERY = 50_000  # segments
_SHORT = 40  # characters of an example that says something

Languages = tuple[Language, Language]
Tell = Callable[[str], None]


def bilingual_terms(
    corpora: Corpora,
    folder: Path,
    languages: str = "",
    most: int = TERM_PAIRS,
    *,
    min_score: float = TERM_PAIR_SCORE,
    tell: Tell = lambda _: None,
) -> list[TermPair]:
    """The terms of a folder's corpus in two languages ("en-fr"), the most telling first; empty if it supports none.

    The languages may be left out if the folder has translations in one pair only; "fr-en" puts French first. Raises
    `ConfigError` if a job has not been mined, or if there is no such pair.
    """
    with _segments(corpora, _chosen_languages(folder, corpora, languages), tell) as segments:
        tell(f"looking for terms in {len(segments):,} segments")
        sides = [Phrases(texts) for texts in segments.texts]
        a, b = (Keyness(side, general_rates(side.texts.language)) for side in sides)
        pairs = [pair for pair in find_pairs(a, b) if pair.terms.score >= min_score][:most]
        return _described(pairs, segments, *sides)


def _chosen_languages(folder: Path, corpora: Corpora, name: str) -> Languages:
    """The pair of languages that is meant, in the order in which it is written."""
    headers = corpora.headers
    pairs = {
        header.name: (header.languages[0], header.languages[1]) for header in headers if len(header.languages) == 2
    }
    if not pairs and headers:
        where, code = shlex.quote(str(folder)), headers[0].name
        raise ConfigError(
            f"{folder} has a corpus in one language ({code}); bilingual terms need two. For the terms of one language:"
            f" bitrawl topic learn {where} --lang {code} -o topic.txt"
        )
    if not pairs:
        raise ConfigError(f"the corpus of {folder} is empty")
    filled = [pair for pair, count in corpora.counts().items() if count and pair in pairs] or list(pairs)
    if not name and len(filled) > 1:
        raise ConfigError(f"{folder} has several language pairs; choose one with --languages: {', '.join(filled)}")
    both_ways = {f"{b}-{a}": (b, a) for a, b in pairs.values()} | pairs
    by_any_case = {pair.casefold(): languages for pair, languages in both_ways.items()}
    chosen = (name or filled[0]).casefold().replace(",", "-")
    if chosen not in by_any_case:
        raise ConfigError(f"{folder} has no language pair {name!r}; choose one of {', '.join(pairs)}")
    return by_any_case[chosen]


class _SegmentFile:
    """The segments of a corpus: as numbers in memory, and as they are in a file."""

    def __init__(self, languages: Languages, file: IO[bytes]) -> None:
        self.languages, self._file = languages, file
        self.texts = Texts(languages[0]), Texts(languages[1])
        self._begins, self.lengths = array("q"), array("i")
        self._unpack: Unpacker[TermExample] = Unpacker(TermExample)

    def __len__(self) -> int:
        return len(self._begins)

    def add(self, unit: CorpusUnit) -> None:
        urls = Url.known(unit.url_a), Url.known(unit.url_b)
        if unit.lang_a == self.languages[0]:
            example = TermExample(unit.text_a, unit.text_b, *urls)
        else:
            example = TermExample(unit.text_b, unit.text_a, *reversed(urls))
        self.texts[0].add(example.text_a)
        self.texts[1].add(example.text_b)
        self._begins.append(self._file.tell())
        self.lengths.append(len(example.text_a) + len(example.text_b))
        packed = pack(example)
        self._file.write(len(packed).to_bytes(4, "big") + packed)

    def __getitem__(self, number: int) -> TermExample:
        self._file.seek(self._begins[number])
        return self._unpack(self._file.read(int.from_bytes(self._file.read(4), "big")))


@contextmanager
def _segments(corpora: Corpora, languages: Languages, tell: Tell) -> Iterator[_SegmentFile]:
    """All, or one in so many; their texts are in a temporary file."""
    counts = corpora.counts()
    total = max(counts.get("-".join(order), 0) for order in (languages, languages[::-1]))
    step = max(1, -(-total // MOST_SEGMENTS))
    if step > 1:
        tell(f"reading one in {step} of the corpus, which has {total:,} segments")
    with tempfile.TemporaryFile() as file:
        segments = _SegmentFile(languages, file)
        for number, unit in enumerate(corpora.units(languages)):
            if number % step == 0:
                segments.add(unit)
                if len(segments) % TELL_EVERY == 0:
                    tell(f"reading the corpus: {len(segments):,} segments")
        yield segments


def _described(pairs: Sequence[FoundPair], segments: _SegmentFile, a: Phrases, b: Phrases) -> list[TermPair]:
    lengths = np.array(segments.lengths)
    return [
        msgspec.structs.replace(
            pair.terms,
            score=round(pair.terms.score, 3),
            weight=max(1.0, round(pair.terms.weight)),
            examples=tuple(segments[number] for number in _examples(have_both, lengths)),
        )
        for pair, have_both in zip(pairs, segments_with(pairs, a, b), strict=True)
    ]


def _examples(numbers: Ints, lengths: Ints) -> list[int]:
    """The shortest that are no fragments."""
    length = lengths[numbers]
    chosen: list[int] = numbers[np.lexsort((numbers, length, length < 2 * _SHORT))][:MOST_EXAMPLES].tolist()
    return chosen
