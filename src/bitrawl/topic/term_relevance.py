"""Whether a page is about a topic that a list of terms describes: Papavassiliou et al., section 3.5.

`TermMatcher` finds the terms of a list in one pass over the words of a text, however long the list is.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import chain

import msgspec

from bitrawl.languages import same_language
from bitrawl.model import UNDETERMINED, Language, Page, Paragraph, Relevance
from bitrawl.text.words import is_elaborate, is_unspaced, stemmer, stems_of, written_words
from bitrawl.topic.term_list import Term, TermList
from bitrawl.url import Url

_OTHER = 0  # the number of a word that no term has
_REMEMBERED, _LONGEST_REMEMBERED = 100_000, 50  # written words and their letters, as in text/words.py


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

    def __init__(self, terms: Iterable[Term], language: Language) -> None:
        self._words = _WordNumbers(language)
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
        terms = FoundTerms([], len(words))
        dull = bytes(map(self._words.dull.__contains__, words))  # searched, and made, without a step of Python a word
        place = dull.find(0)
        while place >= 0:
            self._walk(words, place, terms.numbers)
            place = dull.find(0, place + 1)
        return terms

    def _walk(self, words: Sequence[str], place: int, terms: list[int]) -> None:
        """All terms that begin at that place."""
        numbers, after = self._words, self._root.next
        for at in range(place, len(words)):
            if (node := after.get(numbers[words[at]])) is None:
                return
            if node.term >= 0:
                terms.append(node.term)
            if not (after := node.next):
                return


class FoundTerms(msgspec.Struct, frozen=True, gc=False):
    """The terms of a text."""

    numbers: list[int]  # of the matcher's terms, by the places where they begin
    words: int  # of the text; each character of a script without spaces is one


class _WordNumbers(dict[str, int]):
    """The numbers of written words, which are those of their stems."""

    def __init__(self, language: Language) -> None:
        self._stems, self._stemmer = stems_of(language), stemmer(language)
        self._numbers: dict[str, int] = {}
        self.telling: frozenset[int] = frozenset()  # the words that begin a term
        self.dull: set[str] = set()  # written words that are known not to begin one

    def stems(self, term: str) -> tuple[str, ...]:
        return tuple(map(self._stem, _units(term)))

    def of_stem(self, stem: str) -> int:
        return self._numbers.setdefault(stem, len(self._numbers) + 1)

    def __missing__(self, word: str) -> int:
        number = self._numbers.get(self._stem(word), _OTHER)
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


class TermPlace(StrEnum):
    """Where on a page a term was found."""

    TITLE = "title"
    METADATA = "metadata"  # the description
    KEYWORDS = "keywords"
    TEXT = "text"  # the main content


PLACE_WEIGHTS = {TermPlace.TITLE: 10.0, TermPlace.METADATA: 4.0, TermPlace.KEYWORDS: 2.0, TermPlace.TEXT: 1.0}
"""The paper's. ILSP-FC's code gives 4 to the keywords and 2 to the description."""


class TermThresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What makes a page relevant, and which classes it has. The defaults are ILSP-FC's."""

    min_content_terms: float = 2.0  # p must reach as many times the median weight: t1 of the paper
    min_unique_content_terms: int = 2  # different terms in the main content: t2
    # Weight of the terms in the main content for each of its words. It supposes weights up to 100, as ILSP-FC's are.
    relative_relevance: float = 0.2
    class_share: float = 0.2  # of the weight found; a class with less is not the page's


class TermCount(msgspec.Struct, frozen=True, gc=False):
    """How often a term stands in one place of a page."""

    term: Term
    place: TermPlace
    count: int
    weight: float  # what it adds to the page's p


class TermsOfPage(msgspec.Struct, frozen=True):
    """What speaks for a page, or against it, and what it takes."""

    counts: tuple[TermCount, ...]  # the weightiest first
    on_paragraphs: tuple[tuple[str, ...], ...]  # for each paragraph the terms on it, as the list writes them
    words: int  # of the main content
    threshold: float  # t1: what p must reach
    density: float  # weight of the terms in the main content for each of its words
    relevance: Relevance


class TermRelevance:
    """A `RelevanceModel`: every term found counts with its weight and that of its place.

    A negative weight is subtracted, is no distinct term, and stays out of the median that the threshold is made from.
    """

    def __init__(
        self,
        terms: TermList,
        languages: Sequence[Language],
        thresholds: TermThresholds = TermThresholds(),  # noqa: B008 - frozen
    ) -> None:
        self.terms, self._languages, self._thresholds = terms, tuple(languages), thresholds
        self._matchers: dict[Language, TermMatcher] = {}
        self._last: tuple[Page, TermsOfPage] | None = None  # a page is judged, then annotated

    def judge(self, pages: Sequence[Page]) -> list[Relevance]:
        return [self.explained(page).relevance for page in pages]

    def weigh(self, texts: Sequence[str], language: Language) -> list[float]:
        """The weights of the terms in each text, counted as often as they occur: the last sum of section 3.6."""
        matcher = self._matcher(language)
        weights = [term.weight for term in matcher.terms]
        return [sum(map(weights.__getitem__, matcher.find(text).numbers)) for text in texts]

    def learn(self, page: Page, *, relevant: bool) -> None:
        """A list stays what its author wrote."""

    def revised(self) -> Sequence[tuple[Url, float]]:
        return []

    def annotated(self, page: Page) -> Page:
        """The page with the terms on each of its paragraphs."""
        terms_of = self.explained(page).on_paragraphs
        if not any(terms_of):
            return page
        paragraphs = zip(page.paragraphs, terms_of, strict=True)
        return msgspec.structs.replace(
            page, paragraphs=tuple(msgspec.structs.replace(p, terms=terms) if terms else p for p, terms in paragraphs)
        )

    def explained(self, page: Page) -> TermsOfPage:
        """The terms of a page by place, and the verdict that follows."""
        if self._last is None or self._last[0] is not page:
            self._last = page, self._read(page)
        return self._last[1]

    def _matcher(self, language: Language) -> TermMatcher:
        if language not in self._matchers:
            self._matchers[language] = TermMatcher(self.terms.of(language), language)
        return self._matchers[language]

    def _read(self, page: Page) -> TermsOfPage:
        if not any(same_language(page.language, wanted) for wanted in self._languages):
            nothing: tuple[tuple[str, ...], ...] = ((),) * len(page.paragraphs)
            return TermsOfPage((), nothing, 0, 0.0, 0.0, Relevance(0.0, relevant=False))
        matcher = self._matcher(page.language)
        around = {
            TermPlace.TITLE: page.title,
            TermPlace.METADATA: page.metadata.description,
            TermPlace.KEYWORDS: page.metadata.keywords,
        }
        numbers = {place: Counter(matcher.find(text).numbers) for place, text in around.items() if text}
        numbers_in_text: list[int] = []
        texts = matcher.texts
        on_paragraphs: list[tuple[str, ...]] = []
        words = 0
        for paragraph in page.paragraphs:
            if not _is_content(paragraph, page):
                on_paragraphs.append(())
                continue
            terms = matcher.find(paragraph.text)
            words += terms.words
            numbers_in_text += terms.numbers
            on_paragraphs.append(tuple([texts[number] for number in dict.fromkeys(terms.numbers)]))
        numbers[TermPlace.TEXT] = Counter(numbers_in_text)
        counts = [
            TermCount(term := matcher.terms[number], place, count, count * term.weight * of_place)
            for place, of_place in PLACE_WEIGHTS.items()
            for number, count in numbers.get(place, Counter()).items()
        ]
        counts.sort(key=lambda count: -abs(count.weight))
        return self._judged(matcher, counts, on_paragraphs, words)

    def _judged(
        self, matcher: TermMatcher, counts: list[TermCount], on_paragraphs: list[tuple[str, ...]], words: int
    ) -> TermsOfPage:
        needed = self._thresholds
        threshold = needed.min_content_terms * matcher.median_weight
        weight = sum(count.weight for count in counts)
        in_text = [count for count in counts if count.place is TermPlace.TEXT]
        distinct = sum(count.term.weight > 0 for count in in_text)
        density = sum(count.weight for count in in_text) / words if words else 0.0
        relevant = (
            weight >= threshold > 0
            and distinct >= needed.min_unique_content_terms
            and density >= needed.relative_relevance
        )
        relevance = Relevance(
            # One half at the threshold. It rises with p, whatever the other two thresholds say.
            score=weight / (weight + threshold) if weight > 0 and threshold > 0 else 0.0,
            relevant=relevant,
            weight=weight,
            terms=distinct,
            classes=_classes(counts, needed.class_share),
        )
        return TermsOfPage(tuple(counts), tuple(on_paragraphs), words, threshold, density, relevance)


def _is_content(paragraph: Paragraph, page: Page) -> bool:
    return not paragraph.boilerplate and (
        paragraph.language == UNDETERMINED or same_language(paragraph.language, page.language)
    )


def _classes(counts: Sequence[TermCount], share: float) -> tuple[str, ...]:
    """Those that have that share of the positive weight found, the heaviest first."""
    weights: dict[str, float] = {}
    total = 0.0
    for count in counts:
        if count.weight > 0:
            total += count.weight
            for name in count.term.classes:
                weights[name] = weights.get(name, 0.0) + count.weight
    heaviest = sorted(weights.items(), key=lambda item: -item[1])
    return tuple(name for name, weight in heaviest if weight >= share * total)
