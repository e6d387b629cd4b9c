"""The words and phrases of many texts, counted in flat arrays: longer phrases are made of shorter ones."""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.text.words import is_unspaced, stems_of, word_places

Ints = NDArray[np.int64]
Places = NDArray[np.int32]
Floats = NDArray[np.float64]

BREAK = -1
"""Stands before each text, and between words that punctuation parts. Also: no phrase."""

MIN_PHRASE_COUNT = 2  # of two words, which hold together by themselves; judgement
MAX_WORDS, MAX_CHARACTERS = 4, 6  # of a phrase, in scripts with and without spaces; judgement
_JOINERS = frozenset(" -'’‐\u00ad")  # what may stand between the words of a phrase
_HYPHENS = frozenset("-‐")
_LONGEST_GAP = 2
_FORMS = 100  # occurrences of a phrase that its usual form is taken from; judgement


class Texts:
    """Texts of one language as numbers of stems, one after the other. The texts themselves are not kept.

    A unit is a word, or a character of a script without spaces: nine bytes of memory, beside the different words.
    """

    def __init__(self, language: Language, texts: Iterable[str] = ()) -> None:
        self.language = language
        self._stems: dict[str, int] = {}
        self._known: dict[str, tuple[int, int]] = {}  # from a written word to the numbers of its stem and of its form
        self._forms: list[str] = []
        self._gaps = {"": 0}
        self._numbers, self._written, self._before = array("i"), array("i"), array("b")
        self._begins = array("q")
        for text in texts:
            self.add(text)

    def __len__(self) -> int:
        return len(self._begins)

    def add(self, text: str) -> None:
        text = unicodedata.normalize("NFKC", text)
        self._begins.append(len(self._numbers))
        self._append((BREAK, BREAK), 0)
        known, end = self._known, 0
        for begin, after in word_places(text):
            gap = self._gap(text[end:begin]) if end else 0
            if gap == BREAK:
                self._append((BREAK, BREAK), 0)
                gap = 0
            end = after
            if text[begin] >= "\u0e00" and is_unspaced(text[begin]):
                for character in text[begin:after]:
                    self._append(known.get(character) or self._learned(character), gap)
                    gap = 0
            else:
                word = text[begin:after]
                self._append(known.get(word) or self._learned(word), gap)

    @property
    def stems(self) -> list[str]:
        return list(self._stems)

    @property
    def numbers(self) -> Places:
        return np.array(self._numbers, np.int32)

    @property
    def begins(self) -> Ints:
        """Where each text begins in `numbers`."""
        return np.array(self._begins, np.int64)

    @property
    def hyphenated(self) -> NDArray[np.bool_]:
        """Whether a hyphen ties each unit to the one before it."""
        hyphens = np.array([bool(_HYPHENS.intersection(gap)) for gap in self._gaps])
        return hyphens[np.array(self._before, np.int8)]

    def form(self, place: int, length: int) -> str:
        """Some units in a row as they are written."""
        gaps = list(self._gaps)
        parts = [self._forms[self._written[place]]]
        for at in range(place + 1, place + length):
            parts += gaps[self._before[at]], self._forms[self._written[at]]
        return "".join(parts).replace("\u00ad", "")

    def _append(self, word: tuple[int, int], gap: int) -> None:
        self._numbers.append(word[0])
        self._written.append(word[1])
        self._before.append(gap)

    def _learned(self, word: str) -> tuple[int, int]:
        stem = word if is_unspaced(word[0]) else " ".join(stems_of(self.language)[word.casefold()])
        self._known[word] = known = self._stems.setdefault(stem, len(self._stems)), len(self._forms)
        self._forms.append(word)
        return known

    def _gap(self, between: str) -> int:
        """The number of what joins two words, or `BREAK`."""
        if len(between) > _LONGEST_GAP or not _JOINERS.issuperset(between):
            return BREAK
        return self._gaps.setdefault(between, len(self._gaps))


class Phrases:
    """Words by the numbers of their stems, then phrases by further numbers.

    A phrase is known if it occurs `MIN_PHRASE_COUNT` times. Its parts are then known too.
    """

    def __init__(self, texts: Texts) -> None:
        self.texts, self.stems = texts, texts.stems
        self.unspaced = np.fromiter((is_unspaced(stem[0]) for stem in self.stems), np.bool_, len(self.stems))
        numbers = texts.numbers
        self.words = int(np.count_nonzero(numbers >= 0))
        self.count = np.bincount(numbers[numbers >= 0], minlength=len(self.stems)).astype(np.int64)
        self.begin = self.end = np.arange(len(self.stems))  # the phrase without its last word, and without its first
        self.length = np.ones(len(self.stems), np.int64)
        self.is_run = self.unspaced.copy()  # of a script without spaces
        self.at = [numbers]
        """For each length, less one, the number of the phrase that begins at each place."""
        while len(self.at) < MAX_CHARACTERS and self._grow():
            pass

    def __len__(self) -> int:
        return len(self.count)

    def _grow(self) -> bool:
        """Find the phrases that are one word longer; False if there are none."""
        shorter = self.at[-1]
        first, second = shorter[:-1], shorter[1:]
        enough = np.append(self.count >= MIN_PHRASE_COUNT, False)  # the last is that of BREAK
        if len(self.at) >= MAX_WORDS:
            enough[:-1] &= self.is_run
        places = np.flatnonzero(enough[first] & enough[second])
        keys = first[places].astype(np.int64) * len(self) + second[places]
        different, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
        kept = counts >= MIN_PHRASE_COUNT
        begin, end = different[kept] // len(self), different[kept] % len(self)
        numbers = np.full(len(different), BREAK, np.int32)
        numbers[kept] = np.arange(len(self), len(self) + len(begin))
        here = np.full(len(shorter), BREAK, np.int32)
        here[places] = numbers[which]
        self.at.append(here)
        self.count = np.append(self.count, counts[kept])
        self.begin, self.end = np.append(self.begin, begin), np.append(self.end, end)
        self.length = np.append(self.length, np.full(len(begin), len(self.at)))
        self.is_run = np.append(self.is_run, self.is_run[begin] & self.is_run[end])
        return len(begin) > 0

    @cached_property
    def first_word(self) -> Ints:
        return self._edges(self.begin)

    @cached_property
    def last_word(self) -> Ints:
        return self._edges(self.end)

    def _edges(self, shorter: Ints) -> Ints:
        edges = shorter
        for _ in range(len(self.at)):
            edges = shorter[edges]
        return edges

    def parts_of(self, phrase: int, length: int) -> list[int]:
        """The phrases of that length within a phrase, from left to right; itself if it is no longer."""
        if self.length[phrase] <= length:
            return [phrase]
        return [*self.parts_of(int(self.begin[phrase]), length), self.parts_of(int(self.end[phrase]), length)[-1]]

    def all_parts(self, phrase: int) -> list[int]:
        """A phrase and the phrases of any length within it."""
        return [part for length in range(1, int(self.length[phrase]) + 1) for part in self.parts_of(phrase, length)]

    def units_of(self, phrase: int) -> list[str]:
        """Its stems, or characters."""
        return [self.stems[unit] for unit in self.parts_of(phrase, 1)]

    def associations(self) -> Floats:
        """Of the two parts of each phrase that hold together least: Dunning's ratio. Infinite for words."""
        least = np.full(len(self), np.inf)
        for length in range(2, len(self.at) + 1):
            phrases = np.flatnonzero(self.length == length)
            begins = [phrases]  # without their last 0, 1, 2, ... words
            ends = [phrases]
            for _ in range(length - 1):
                begins.append(self.begin[begins[-1]])
                ends.append(self.end[ends[-1]])
            for cut in range(1, length):
                parts = self.count[begins[length - cut]], self.count[ends[cut]]
                least[phrases] = np.minimum(least[phrases], dunning(self.count[phrases], *parts, self.words))
        return least

    def inside(self, wanted: NDArray[np.bool_]) -> Ints:
        """How often each phrase occurs at most as a part of one of the wanted ones that is longer."""
        inside = np.zeros(len(self), np.int64)
        for length in range(len(self.at), 1, -1):
            phrases = np.flatnonzero(self.length == length)
            counts = np.maximum(inside[phrases], np.where(wanted[phrases], self.count[phrases], 0))
            np.maximum.at(inside, self.begin[phrases], counts)
            np.maximum.at(inside, self.end[phrases], counts)
        return inside

    def tied(self) -> Floats:
        """In which share of its places a hyphen ties a phrase to a word outside: 1 for the "ray" of "x-ray"."""
        before = self.texts.hyphenated
        count = np.zeros(len(self))
        for length, here in enumerate(self.at, 1):
            after = np.append(before, np.zeros(length, np.bool_))[length:]
            count += np.bincount(here[(before | after) & (here != BREAK)], minlength=len(self))
        return count / np.maximum(self.count, 1)

    def numbered(self, phrases: Collection[int]) -> NDArray[np.bool_]:
        """Whether each phrase is one of these."""
        among = np.zeros(len(self), np.bool_)
        among[list(phrases)] = True
        return among

    def in_texts(self, wanted: NDArray[np.bool_], texts: Ints | None = None) -> tuple[Ints, Ints]:
        """The numbers of texts, all or these, and of the wanted phrases in them: each pair once, sorted by the text."""
        begins, keys = self.texts.begins, []
        looked_at = np.ones(len(begins), np.bool_) if texts is None else np.isin(np.arange(len(begins)), texts)
        for here in self.at:
            places = np.flatnonzero(np.append(wanted, False)[here])
            number = np.searchsorted(begins, places, "right") - 1
            mine = looked_at[number]
            keys.append(number[mine] * len(self) + here[places[mine]])
        found = np.unique(np.concatenate(keys))
        return found // len(self), found % len(self)

    def spread(self, wanted: NDArray[np.bool_]) -> Ints:
        """In how many texts each of the wanted phrases is."""
        return np.bincount(self.in_texts(wanted)[1], minlength=len(self)).astype(np.int64)

    def forms(self, wanted: NDArray[np.bool_]) -> dict[int, str]:
        """Each as it is mostly written; in lower case where that is as frequent."""
        return {
            phrase: max(found, key=lambda form: (found[form], form.islower())) for phrase, found in self._forms(wanted)
        }

    def _forms(self, wanted: NDArray[np.bool_]) -> Iterator[tuple[int, Counter[str]]]:
        for length, here in enumerate(self.at, 1):
            places = np.flatnonzero(np.append(wanted, False)[here])
            places = places[np.argsort(here[places], kind="stable")]
            for group in np.split(places, np.flatnonzero(np.diff(here[places])) + 1):
                if len(group):
                    step = max(1, len(group) // _FORMS)
                    written = (self.texts.form(place, length) for place in group[::step].tolist())
                    yield int(here[group[0]]), Counter(written)


def dunning(both: Ints, first: Ints, second: Ints, size: int) -> Floats:
    """The likelihood ratio of things that are found together (Dunning 1993); 0 where they meet less than by chance."""
    observed = np.array([both, first - both, second - both, size - first - second + both], np.float64)
    expected = np.array(
        [first * second, first * (size - second), (size - first) * second, (size - first) * (size - second)]
    )
    expected = expected / size
    filled = np.maximum(observed, 1e-9)
    ratio: Floats = 2 * np.sum(filled * np.log(filled / np.maximum(expected, 1e-9)), axis=0)
    return np.where(observed[0] <= expected[0], 0.0, ratio)
