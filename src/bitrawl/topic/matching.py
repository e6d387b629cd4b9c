"""Which terms of a list stand in a text: one pass over its words, however long the list is."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import msgspec

from bitrawl.model import Language
from bitrawl.text.words import is_elaborate, is_unspaced, stemmer, stems_of, written_words
from bitrawl.topic.term_list import Term

IsStopWord = Callable[[str], bool]
"""Whether a stem says so little that it is dropped from terms and texts."""

_OTHER, _STOP = 0, -1  # the number of a word that no term has, and of one that is passed over
_REMEMBERED, _LONGEST_REMEMBERED = 100_000, 50  # written words and their letters; judgement, as in text/words.py


class _Node(msgspec.Struct):
    """Where a walk along the words of a term has come to."""

    next: dict[int, "_Node"]
    term: int = -1  # the number of the term that ends here; -1 if none does


class TermMatcher:
    """The terms of one language, compared with texts by their stems.

    Terms with equal stems are one, with the rounded mean of their weights and the text of the first. A term is found
    also inside a longer one, "rain" in "acid rain": the sum of section 3.5 counts each term by itself. In a script without spaces a term is a run of
    characters, which are the same places as its run of pairs in `text.words`, and works for one character too.
    """

    def __init__(self, terms: Iterable[Term], language: Language, is_stop_word: IsStopWord | None = None) -> None:
        self._words = _WordNumbers(language, is_stop_word)
        by_stems: dict[tuple[str, ...], list[Term]] = {}
        for term in terms:
            if stems := self._words.stems(term.text):
                by_stems.setdefault(stems, []).append(term)
        self.terms = tuple(_merged(same) for same in by_stems.values())
        self.texts = tuple(term.text for term in self.terms)
        positive = [term.weight for term in self.terms if term.weight > 0]
        self.median_weight = statistics.median(positive) if positive else 0.0
        self._root = _Node({})
        for number, stems in enumerate(by_stems):
            node = self._root
            for stem in stems:
                node = node.next.setdefault(self._words.of_stem(stem), _Node({}))
            node.term = number
        self._words.telling = frozenset(self._root.next)

    def find(self, text: str) -> "FoundTerms":
        """Where the same term stands twice, its number is there twice."""
        words = _units(text)
        found = FoundTerms([], len(words))
        dull = bytes(map(self._words.dull.__contains__, words))  # searched, and made, without a step of Python a word
        place = dull.find(0)
        while place >= 0:
            self._walk(words, place, found.numbers)
            place = dull.find(0, place + 1)
        return found

    def _walk(self, words: Sequence[str], place: int, found: list[int]) -> None:
        """All terms that begin at that place."""
        numbers, after = self._words, self._root.next
        for at in range(place, len(words)):
            if (number := numbers[words[at]]) == _STOP:
                if at == place:
                    return
                continue
            if (node := after.get(number)) is None:
                return
            if node.term >= 0:
                found.append(node.term)
            if not (after := node.next):
                return


class FoundTerms(msgspec.Struct, frozen=True, gc=False):
    """The terms of a text."""

    numbers: list[int]  # of the matcher's terms, by the places where they begin
    words: int  # of the text; each character of a script without spaces is one


class _WordNumbers(dict[str, int]):
    """The numbers of written words, which are those of their stems."""

    def __init__(self, language: Language, is_stop_word: IsStopWord | None) -> None:
        self._stems, self._stemmer = stems_of(language), stemmer(language)
        self._is_stop_word = is_stop_word
        self._numbers: dict[str, int] = {}
        self._kept: set[str] = set()  # stop words that are all that a term has
        self.telling: frozenset[int] = frozenset()  # the words that begin a term
        self.dull: set[str] = set()  # written words that are known not to begin one

    def stems(self, term: str) -> tuple[str, ...]:
        """Where they are all stop words, none is dropped."""
        stems = [self._stem(word) for word in _units(term)]
        if self._is_stop_word is None:
            return tuple(stems)
        telling = [stem for stem in stems if not self._is_stop_word(stem)]
        if not telling:
            self._kept.update(stems)
        return tuple(telling or stems)

    def of_stem(self, stem: str) -> int:
        return self._numbers.setdefault(stem, len(self._numbers) + 1)

    def __missing__(self, word: str) -> int:
        stem = self._stem(word)
        number = self._numbers.get(stem, _OTHER)
        if self._is_stop_word is not None and stem not in self._kept and self._is_stop_word(stem):
            number = _STOP
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self) >= _REMEMBERED:
                self.clear()
                self.dull.clear()
            self[word] = number
            if number not in self.telling:
                self.dull.add(word)
        return number

    def _stem(self, word: str) -> str:
        if word[0] < "\u0e00" and word[0].isalpha():
            return self._stemmer(word) or word  # as `text.words` has it, which need not remember it too
        return word if is_unspaced(word[0]) else " ".join(self._stems[word])


def _units(text: str) -> list[str]:
    """Words as they are written; of a script without spaces, characters."""
    words = written_words(text)
    if not is_elaborate(text):
        return words
    return list(chain.from_iterable(word if is_unspaced(word[0]) else (word,) for word in words))


def _merged(same: Sequence[Term]) -> Term:
    first = same[0]
    if len(same) == 1:
        return first
    weight = float(round(sum(term.weight for term in same) / len(same)))
    classes = tuple(dict.fromkeys(chain.from_iterable(term.classes for term in same)))
    return Term(first.text, weight, classes, first.language)
