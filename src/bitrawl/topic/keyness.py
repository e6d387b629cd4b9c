"""A term list learned from texts: words and phrases that are more frequent there than anywhere else."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.text.words import is_unspaced, stems_of, word_places, words
from bitrawl.topic.term_list import Term, TermList

Rates = Callable[[Sequence[str], Language], NDArray[np.floating]]
"""Expected occurrences of each stem in a million words of the language, whatever the subject."""

MIN_WORDS = 300  # Judgement: in less text than a page, chance decides what is frequent.
MOST_TERMS = (
    150  # As many as a person will read. On the Ebola pages (2026-11), 60 and 300 tell them apart about as well.
)
# A term must be beyond chance (p < 0.0001 of the chi-squared distribution), and twice as frequent as expected: a large
# sample finds significance in any difference.
MIN_LIKELIHOOD, MIN_RATIO = 15.13, 2.0
MIN_COUNT = 3  # and in two texts, where there are several; judgement
MIN_PHRASE_COUNT = 2  # of two words, which hold together by themselves; judgement
MIN_ASSOCIATION = 10.83  # likelihood ratio of the weakest link of a phrase: p < 0.001
MAX_WORDS, MAX_CHARACTERS = 4, 6  # of a phrase, in scripts with and without spaces; judgement
STOP_RATE = (
    1000.0  # Occurrences in a million words from which a word says nothing. English: "new", "people"; judgement.
)
# Judgement: a word spends about a tenth of its occurrences beside one and the same neighbour.
NEIGHBOUR_SHARE = 0.1
NESTED_SHARE = 0.9  # A term that occurs in a longer one this often is a part of it; judgement.
_PIECES, _PIECE = 8, 150  # spread is measured over as many texts of as many words, or over pieces; judgement
_SHORT = 3  # letters of a stem that is a function word if half of the texts have it; judgement
_NEW_NEIGHBOURS, _WIDE = 0.5, 0.4  # shares of its places, and of the texts: see `_guessed_rates`
_EQUAL_RATE = 50.0  # of a word whose language is not known; judgement
_BREAK = -1  # between words that punctuation parts
_JOINERS = frozenset(" -'’‐\u00ad")  # what may stand between the words of a phrase
_Gram = tuple[int, ...]


def learn_terms(
    texts: Sequence[str],
    language: Language,
    *,
    background: Rates | None = None,
    against: Sequence[str] = (),
    size: int = MOST_TERMS,
) -> TermList:
    """The terms that tell these texts from the language in general, the most telling first, with weights from 1 to 100.

    A term is chosen by its log-likelihood (Dunning 1993) against what `background` and the texts of `against` lead to
    expect. Without a background, words that all texts have, beside any other word, are taken for those of every subject.
    Raises `ConfigError` if there is too little text.
    """
    sample = _Sample(texts, language)
    if sample.size < MIN_WORDS:
        raise ConfigError(
            f"the texts have {sample.size} words in all, too few to learn terms from; give at least {MIN_WORDS}, better 5,000"
        )
    counts = sample.grams()
    expected = _Expected(sample, background, against)
    scored = list(_scored(sample, counts, expected))
    scored.sort(key=lambda one: -one.likelihood)
    chosen = _unnested(scored)[:size]
    if not chosen:
        raise ConfigError("no word is more frequent in the texts than expected; give more texts, all on one subject")
    written = sample.written({one.gram for one in chosen})
    strongest, oddest = max(one.strength for one in chosen), max(one.odds for one in chosen)
    terms = [
        Term(written[one.gram], max(1.0, _weight(one.strength / strongest, one.odds / oddest)), (), language)
        for one in chosen
    ]
    return TermList(tuple(sorted(terms, key=lambda term: -term.weight)))


class _Scored(NamedTuple):
    gram: _Gram
    occurrences: int
    likelihood: float
    strength: float  # the square root of the likelihood, less if few texts have the term
    odds: float  # how many times more frequent than expected, as a logarithm


def _weight(strength: float, odds: float) -> float:
    """Between what is certain and what is special: a rare phrase tells more about a page than its count does."""
    return float(round(100 * (strength * odds) ** 0.5))


class _Sample:
    """The texts as numbers of stems."""

    def __init__(self, texts: Sequence[str], language: Language) -> None:
        self.language = language
        self._texts = [unicodedata.normalize("NFKC", text) for text in texts]
        self._numbers: dict[str, int] = {}
        self.documents = [self._read(text) for text in self._texts]
        self.stems = list(self._numbers)
        self.size = sum(sum(number != _BREAK for number in document) for document in self.documents)
        self.counts = Counter(chain.from_iterable(self.documents))
        del self.counts[_BREAK]

    def _read(self, text: str) -> list[int]:
        numbers: list[int] = []
        end = 0
        for begin, after, stem in self._units(text):
            if not _joins(text[end:begin]):
                numbers.append(_BREAK)
            numbers.append(self._numbers.setdefault(stem, len(self._numbers)))
            end = after
        return numbers

    def _units(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Words with their places; the characters of a script without spaces."""
        stems = stems_of(self.language)
        for begin, end in word_places(text):
            if is_unspaced(text[begin]):
                yield from ((at, at + 1, text[at]) for at in range(begin, end))
            else:
                yield begin, end, " ".join(stems[text[begin:end].casefold()])

    def grams(self) -> Counter[_Gram]:
        """Words, and phrases of words that are each frequent enough together; longer ones are made of shorter ones."""
        counts: Counter[_Gram] = Counter({(number,): count for number, count in self.counts.items()})
        known = {gram for gram, count in counts.items() if count >= MIN_PHRASE_COUNT}
        for length in range(2, MAX_CHARACTERS + 1):
            longer: Counter[_Gram] = Counter()
            for document in self.documents:
                for at in range(len(document) - length + 1):
                    gram = tuple(document[at : at + length])
                    if gram[:-1] in known and gram[1:] in known and (length <= MAX_WORDS or self._is_run(gram)):
                        longer[gram] += 1
            known = {gram for gram, count in longer.items() if count >= MIN_PHRASE_COUNT}
            counts.update({gram: longer[gram] for gram in known})
        return counts

    def _is_run(self, gram: _Gram) -> bool:
        return all(is_unspaced(self.stems[number][0]) for number in gram)

    def spread(self, grams: Iterable[_Gram]) -> Counter[_Gram]:
        """In how many texts each of them is."""
        wanted = set(grams)
        longest = max(map(len, wanted), default=0)
        spread: Counter[_Gram] = Counter()
        for document in self.documents:
            spread.update({gram for _, gram in _occurrences(document, wanted, longest)})
        return spread

    def written(self, wanted: set[_Gram]) -> dict[_Gram, str]:
        """Each as it is mostly written; in lower case where that is as frequent."""
        longest = max(map(len, wanted), default=0)
        forms: dict[_Gram, Counter[str]] = {}
        for text, document in zip(self._texts, self.documents, strict=True):
            places = iter(self._units(text))
            spans = [next(places)[:2] if number != _BREAK else (0, 0) for number in document]
            for at, gram in _occurrences(document, wanted, longest):
                form = text[spans[at][0] : spans[at + len(gram) - 1][1]]
                forms.setdefault(gram, Counter())[form.replace("\u00ad", "")] += 1
        return {gram: max(found, key=lambda form: (found[form], form.islower())) for gram, found in forms.items()}


def _joins(between: str) -> bool:
    return len(between) <= 2 and _JOINERS.issuperset(between)


def _occurrences(document: Sequence[int], wanted: set[_Gram], longest: int) -> Iterator[tuple[int, _Gram]]:
    for at in range(len(document)):
        for length in range(1, min(longest, len(document) - at) + 1):
            if (gram := tuple(document[at : at + length])) in wanted:
                yield at, gram


class _Expected:
    """How often a term is expected, in a million words."""

    def __init__(self, sample: _Sample, background: Rates | None, against: Sequence[str]) -> None:
        self._sample = sample
        self._general = background
        if background is not None and sample.stems:
            rates = np.asarray(background(sample.stems, sample.language), np.float64)
        else:
            rates = _guessed_rates(sample)
        self._against: Counter[str] = Counter()
        if against:
            self._against.update(chain.from_iterable(words(text, sample.language) for text in against))
            total = sum(self._against.values()) or 1
            there = np.array([self._against[stem] for stem in sample.stems], np.float64)
            rates = np.maximum(rates, there * 1e6 / total)
        self.rates = rates
        self._total_against = sum(self._against.values())
        self._of_pairs: dict[str, float] = {}

    def rate(self, gram: _Gram) -> float:
        """Of a phrase, a share of what its rarest word has."""
        if len(gram) == 1:
            return float(self.rates[gram[0]])
        stems = [self._sample.stems[number] for number in gram]
        rates = [
            self._of_pair(a + b) if is_unspaced(a[0]) and is_unspaced(b[0]) else min(self.rates[m], self.rates[n])
            for a, b, m, n in zip(stems, stems[1:], gram, gram[1:], strict=False)
        ]
        paired = len(gram) == 2 and is_unspaced(stems[0][0]) and is_unspaced(stems[1][0])
        return float(min(rates)) * (1.0 if paired and self._general is not None else NEIGHBOUR_SHARE)

    def _of_pair(self, pair: str) -> float:
        """Two characters of a script without spaces are a word of the background."""
        if pair not in self._of_pairs:
            language = self._sample.language
            rate = float(self._general([pair], language)[0]) if self._general is not None else 0.0
            there = self._against[pair] * 1e6 / self._total_against if self._total_against else 0.0
            self._of_pairs[pair] = max(rate, there) or min(self.rates[self._sample.stems.index(c)] for c in pair)
        return self._of_pairs[pair]

    def is_stop_word(self, number: int) -> bool:
        stem = self._sample.stems[number]
        if is_unspaced(stem[0]):
            return False
        return len(stem) < 2 or stem[0].isdecimal() or bool(self.rates[number] >= STOP_RATE)


def _guessed_rates(sample: _Sample) -> NDArray[np.float64]:
    """Where the language is not known: words that most texts have and that have ever new neighbours say nothing.

    All others are taken for equally rare. On ten of the Ebola pages (2026-11), three in four function words have new
    neighbours in half of their places or more, and three in ten words of the subject have.
    """
    documents, stems = sample.documents, sample.stems
    if len(documents) < _PIECES or sample.size < _PIECE * len(documents):
        joined = list(chain.from_iterable(documents))
        documents = [joined[at : at + _PIECE] for at in range(0, len(joined), _PIECE)]
    texts = Counter(chain.from_iterable(map(set, documents)))
    neighbours = Counter(chain.from_iterable({pair for one in sample.documents for pair in pairwise(one)}))
    rates = np.full(len(stems), _EQUAL_RATE)
    for number, stem in enumerate(stems):
        spread, count = texts[number] / len(documents), sample.counts[number]
        various = neighbours[number] >= 2 * _NEW_NEIGHBOURS * count and spread >= _WIDE and count >= MIN_COUNT
        if (various or (len(stem) <= _SHORT and spread >= 0.5)) and not is_unspaced(stem[0]):
            rates[number] = STOP_RATE
    return rates


def _scored(sample: _Sample, counts: Counter[_Gram], expected: _Expected) -> Iterator[_Scored]:
    """The words and phrases that are key."""
    documents = len(sample.documents)
    candidates = {gram: count for gram, count in counts.items() if _is_candidate(gram, count, sample, expected)}
    spread = sample.spread(candidates)
    for gram, count in candidates.items():
        if documents > 2 and spread[gram] < 2:
            continue
        should = max(expected.rate(gram) * sample.size / 1e6, 1e-6)
        ratio = count / should
        likelihood = 2 * (count * np.log(ratio) - (count - should)) if ratio > 1 else 0.0
        if ratio < MIN_RATIO or likelihood < MIN_LIKELIHOOD:
            continue
        if len(gram) > 1 and _association(gram, counts, sample.size) < MIN_ASSOCIATION:
            continue
        strength = float(likelihood * spread[gram] / documents) ** 0.5
        # One more is expected than there is, lest a word that the background lacks be infinitely special.
        yield _Scored(gram, count, float(likelihood), strength, float(np.log2(1 + count / (should + 0.5))))


def _is_candidate(gram: _Gram, count: int, sample: _Sample, expected: _Expected) -> bool:
    if len(gram) == 1:
        return count >= MIN_COUNT and not is_unspaced(sample.stems[gram[0]][0]) and not expected.is_stop_word(gram[0])
    # A repeated sentence gives many long phrases; a term of three words comes up as often as one of one.
    if count < (MIN_PHRASE_COUNT if len(gram) == 2 else MIN_COUNT) or _BREAK in gram:
        return False
    return not expected.is_stop_word(gram[0]) and not expected.is_stop_word(gram[-1])


def _association(gram: _Gram, counts: Counter[_Gram], size: int) -> float:
    """Of the two parts that hold together least: Dunning's ratio, 0 where they meet less than by chance."""
    return min(_dunning(counts[gram], counts[gram[:at]], counts[gram[at:]], size) for at in range(1, len(gram)))


def _dunning(both: int, first: int, second: int, size: int) -> float:
    observed = np.array([both, first - both, second - both, size - first - second + both], np.float64)
    row, column = np.array([first, size - first], np.float64), np.array([second, size - second], np.float64)
    expected = np.outer(row, column).ravel() / size
    if both <= expected[0]:
        return 0.0
    observed = np.maximum(observed, 1e-9)
    return float(2 * np.sum(observed * np.log(observed / np.maximum(expected, 1e-9))))


def _unnested(scored: Sequence[_Scored]) -> list[_Scored]:
    """Without parts of longer terms that hardly occur elsewhere."""
    inside: dict[_Gram, int] = {}
    for one in scored:
        for length in range(1, len(one.gram)):
            for at in range(len(one.gram) - length + 1):
                part = one.gram[at : at + length]
                inside[part] = max(inside.get(part, 0), one.occurrences)
    return [one for one in scored if inside.get(one.gram, 0) < NESTED_SHARE * one.occurrences]
