"""Method c: pages with the same content, by what translations keep unchanged and by a lexicon learned from known pairs."""

import heapq
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.pair.evidence import Known, PageNumbers, page_numbers
from bitrawl.pair.site import PageSummary, Site
from bitrawl.text.lexicon import Lexicon, TokenPair
from bitrawl.text.words import words

# Judgements, except where a line names its evidence.
RAREST = 80  # Terms of a page that are used to find candidates.
MAX_HOLDERS = 40  # Pages of a language with a term. A more common term identifies no page.
NEAREST = 5  # Candidates for a page in one other language ...
ALL_NEAREST = 15  # ... and in all other languages, if there are many; at least two in each.

MIN_PAIRS = 5  # Known pairs of two languages that are needed to learn a lexicon.
MAX_LEARNED = 100  # Pages are alike: more of them improve the lexicon only a little and cost much more.
LEARNED = 400  # Words of each page that are learned from.
# On a site in many languages, those for the language pairs with the most known pairs. Bridges do the rest.
MAX_LEXICONS = 8
LEARNED_TEXT = 5_000  # Characters of a page whose words are compared.
TRANSLATIONS = 3  # Per word, at most ...
MIN_TRANSLATION = 0.1  # ... and how probable each must be.
LENGTH_FLOOR = 0.2  # What a candidate keeps of its rank, however much its length differs.

Floats = NDArray[np.float64]
Vector = dict[int, float]
Languages = tuple[Language, Language]


class KeptSpace:
    """Pages as vectors over the terms that occur in both of two languages."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._holders: dict[int, dict[Language, list[int]]] = defaultdict(lambda: defaultdict(list))
        for summary in site.summaries:
            for term in summary.kept:
                self._holders[term][summary.language].append(summary.number)
        self._sizes = dict.fromkeys(dict.fromkeys(summary.language for summary in site.summaries), 0)
        for summary in site.summaries:
            self._sizes[summary.language] += 1
        self._holders = defaultdict(dict, {t: h for t, h in self._holders.items() if len(h) > 1})
        self._vectors = [self._vector(summary) for summary in site.summaries]
        self._norms: dict[tuple[int, Language], float] = {}
        self._nearest_few = max(2, min(NEAREST, ALL_NEAREST // max(len(self._sizes) - 1, 1)))

    def candidates(self) -> set[PageNumbers]:
        """Pairs that share rare terms."""
        found: set[PageNumbers] = set()
        for summary in self._site.summaries:
            scores: dict[int, float] = defaultdict(float)
            vector = self._vectors[summary.number]
            for term in heapq.nlargest(RAREST, vector, key=vector.__getitem__):
                worth = vector[term] ** 2
                for language, numbers in self._holders[term].items():
                    if language != summary.language and len(numbers) <= MAX_HOLDERS:
                        for number in numbers:
                            scores[number] += worth
            found.update(self._nearest(summary, scores))
        return found

    def cosine(self, pair: PageNumbers) -> float:
        """Over the terms that both languages have."""
        a, b = pair
        if len(self._vectors[a]) > len(self._vectors[b]):
            a, b = b, a
        other = self._vectors[b]
        dot = sum(value * other[term] for term, value in self._vectors[a].items() if term in other)
        if not dot:
            return 0.0
        summaries = self._site.summaries
        return min(1.0, dot / (self._norm(a, summaries[b].language) * self._norm(b, summaries[a].language)))

    def _nearest(self, summary: PageSummary, scores: Mapping[int, float]) -> Iterable[PageNumbers]:
        by_language: dict[Language, list[tuple[float, int]]] = defaultdict(list)
        for number, score in scores.items():
            other = self._site.summaries[number]
            ratio = min(summary.weight, other.weight) / max(summary.weight, other.weight, 1)
            by_language[other.language].append((score * (LENGTH_FLOOR + ratio), number))
        for scored in by_language.values():
            for _, number in heapq.nlargest(self._nearest_few, scored):
                yield page_numbers(summary.number, number)

    def _vector(self, summary: PageSummary) -> Vector:
        size = self._sizes[summary.language]
        return {
            term: (1 + math.log(count)) * math.log(1 + size / len(self._holders[term][summary.language]))
            for term, count in summary.kept.items()
            if term in self._holders
        }

    def _norm(self, number: int, language: Language) -> float:
        key = (number, language)
        if key not in self._norms:
            vector = self._vectors[number]
            square = sum(value * value for term, value in vector.items() if language in self._holders[term])
            self._norms[key] = math.sqrt(square) or 1.0
        return self._norms[key]


class Lexicons:
    """The user's dictionaries, by language pair. An entry has a word of the first and a word of the second language."""

    def __init__(self, entries: Mapping[Languages, Sequence[TokenPair]] | None = None) -> None:
        self.entries = dict(entries or {})

    def of(self, languages: Languages) -> list[TokenPair]:
        """The entries in that direction, whichever way the user wrote them."""
        forward = list(self.entries.get(languages, ()))
        return forward + [(b, a) for a, b in self.entries.get((languages[1], languages[0]), ())]


class LexiconSpace:
    """For each two languages with known pairs, a lexicon learned from them, and pages as vectors of its words."""

    def __init__(self, index: "WordIndex", known: Known, lexicons: Lexicons) -> None:
        self._site = site = index.site
        by_languages: dict[Languages, list[PageNumbers]] = defaultdict(list)
        for pair in known.pairs:
            first, second = sorted((site.summaries[n] for n in pair), key=lambda summary: summary.language)
            by_languages[first.language, second.language].append((first.number, second.number))
        self._bridges: dict[Languages, Bridge] = {}
        wanted = {languages for languages, pairs in by_languages.items() if len(pairs) >= MIN_PAIRS}
        wanted.update(_ordered(languages) for languages in lexicons.entries)
        most = sorted(wanted, key=lambda languages: (-len(by_languages.get(languages, ())), languages))
        for languages in most[:MAX_LEXICONS]:
            pairs = _spread(by_languages.get(languages, []), MAX_LEARNED)
            self._bridges[languages] = Bridge(index, languages, pairs, lexicons.of(languages))

    def candidates(self) -> set[PageNumbers]:
        """Pairs that share rare words through the lexicon."""
        return set().union(*(bridge.candidates() for bridge in self._bridges.values()))

    def similarities(self, pairs: Sequence[PageNumbers]) -> Floats:
        """The similarity of each pair; -1 if there is no lexicon for the two languages."""
        values = np.full(len(pairs), -1.0)
        for place, (a, b) in enumerate(pairs):
            first, second = sorted(
                (self._site.summaries[a], self._site.summaries[b]), key=lambda summary: summary.language
            )
            bridge = self._bridges.get((first.language, second.language))
            if bridge is not None:
                values[place] = bridge.cosine(first.number, second.number)
        return values


class WordIndex:
    """The words of the pages, counted, and how many pages of each language have them. It is built on first use."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._tokens: dict[int, list[str]] = {}
        self._idf: dict[Language, dict[str, float]] = {}

    def tokens(self, number: int) -> list[str]:
        """The words at the beginning of the page, in order."""
        if number not in self._tokens:
            summary = self.site.summaries[number]
            text = " ".join(summary.paragraphs)[:LEARNED_TEXT]
            self._tokens[number] = [sys.intern(word) for word in words(text, summary.language)]
        return self._tokens[number]

    def idf(self, language: Language) -> dict[str, float]:
        """The idf of each word of a language."""
        if language not in self._idf:
            summaries = self.site.of_language(language)
            counts = Counter(word for summary in summaries for word in set(self.tokens(summary.number)))
            self._idf[language] = {word: math.log(1 + len(summaries) / count) for word, count in counts.items()}
        return self._idf[language]

    def vector(self, number: int) -> dict[str, float]:
        """The tf-idf vector of a page."""
        idf = self.idf(self.site.summaries[number].language)
        return {word: (1 + math.log(n)) * idf[word] for word, n in Counter(self.tokens(number)).items()}


class Bridge:
    """Two languages and the lexicon between them. Pages of the first are translated into words of the second."""

    def __init__(
        self, index: WordIndex, languages: Languages, pairs: Sequence[PageNumbers], dictionary: Sequence[TokenPair]
    ) -> None:
        self._index = index
        self._languages = languages
        sample = [(index.tokens(a)[:LEARNED], index.tokens(b)[:LEARNED]) for a, b in pairs]
        self._lexicon = Lexicon.learn(sample, rounds=3, dictionary=dictionary)
        self._translations: dict[str, list[tuple[str, float]]] = {}
        self._carried: dict[int, dict[str, float]] = {}
        self._vectors: dict[int, tuple[dict[str, float], float]] = {}

    def candidates(self) -> set[PageNumbers]:
        """For each page of the first language, the nearest few of the second."""
        first, second = (self._index.site.of_language(language) for language in self._languages)
        holders: dict[str, list[int]] = defaultdict(list)
        for summary in second:
            vector = self._vector(summary.number)[0]
            for word in heapq.nlargest(RAREST, vector, key=vector.__getitem__):
                holders[word].append(summary.number)
        found: set[PageNumbers] = set()
        for summary in first:
            scores: dict[int, float] = defaultdict(float)
            carried = self._carry(summary.number)
            for word in heapq.nlargest(RAREST, carried, key=carried.__getitem__):
                numbers = holders.get(word, ())
                if len(numbers) <= MAX_HOLDERS:
                    for number in numbers:
                        scores[number] += carried[word] ** 2
            for number in heapq.nlargest(NEAREST, scores, key=scores.__getitem__):
                found.add(page_numbers(summary.number, number))
        return found

    def cosine(self, a: int, b: int) -> float:
        """Between a translated page of the first language and one of the second."""
        carried = self._carry(a)
        vector, norm = self._vector(b)
        dot = sum(value * vector[word] for word, value in carried.items() if word in vector)
        return min(1.0, dot / norm) if norm else 0.0

    def _vector(self, number: int) -> tuple[dict[str, float], float]:
        if number not in self._vectors:
            vector = self._index.vector(number)
            self._vectors[number] = (vector, math.sqrt(sum(value * value for value in vector.values())))
        return self._vectors[number]

    def _carry(self, number: int) -> dict[str, float]:
        """The page as a vector of words of the other language, of length 1. A word without a translation stays."""
        carried = self._carried.get(number)
        if carried is not None:
            return carried
        idf = self._index.idf(self._languages[1])
        summed: dict[str, float] = defaultdict(float)
        for word, count in Counter(self._index.tokens(number)).items():
            for other, probability in self._translated(word):
                if other in idf:
                    summed[other] += count * probability
        weighted = {word: math.log(1 + n) * idf[word] for word, n in summed.items()}
        norm = math.sqrt(sum(value * value for value in weighted.values())) or 1.0
        carried = self._carried[number] = {word: value / norm for word, value in weighted.items()}
        return carried

    def _translated(self, word: str) -> list[tuple[str, float]]:
        found = self._translations.get(word)
        if found is None:
            known = self._lexicon.translations(word)[:TRANSLATIONS]
            found = [(other, p) for other, p in known if p >= MIN_TRANSLATION] or [(word, 1.0)]
            self._translations[word] = found
        return found


def _ordered(languages: Languages) -> Languages:
    return languages if languages[0] < languages[1] else (languages[1], languages[0])


def _spread(pairs: Sequence[PageNumbers], count: int) -> Sequence[PageNumbers]:
    """At most this many, spread over the whole list."""
    return pairs if len(pairs) <= count else [pairs[i * len(pairs) // count] for i in range(count)]
