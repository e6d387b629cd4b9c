"""Whether a page is about a topic that a list of terms describes: Papavassiliou et al., section 3.5."""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec

from bitrawl.languages import same_language
from bitrawl.model import UNDETERMINED, Language, Page, Paragraph, Relevance
from bitrawl.topic.matching import IsStopWord, TermMatcher
from bitrawl.topic.term_list import Term, TermList
from bitrawl.url import Url


class Place(StrEnum):
    """Where on a page a term was found."""

    TITLE = "title"
    METADATA = "metadata"  # the description
    KEYWORDS = "keywords"
    TEXT = "text"  # the main content


PLACE_WEIGHTS = {Place.TITLE: 10.0, Place.METADATA: 4.0, Place.KEYWORDS: 2.0, Place.TEXT: 1.0}
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
    place: Place
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
        *,
        is_stop_word: Callable[[Language], IsStopWord | None] = lambda _: None,
    ) -> None:
        self.terms, self._languages, self._thresholds = terms, tuple(languages), thresholds
        self._is_stop_word = is_stop_word
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
        found = self.explained(page).on_paragraphs
        if not any(found):
            return page
        paragraphs = zip(page.paragraphs, found, strict=True)
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
            stop_word = self._is_stop_word(language)
            self._matchers[language] = TermMatcher(self.terms.of(language), language, stop_word)
        return self._matchers[language]

    def _read(self, page: Page) -> TermsOfPage:
        if not any(same_language(page.language, wanted) for wanted in self._languages):
            nothing: tuple[tuple[str, ...], ...] = ((),) * len(page.paragraphs)
            return TermsOfPage((), nothing, 0, 0.0, 0.0, Relevance(0.0, relevant=False))
        matcher = self._matcher(page.language)
        said = {
            Place.TITLE: page.title,
            Place.METADATA: page.metadata.description,
            Place.KEYWORDS: page.metadata.keywords,
        }
        numbers = {place: Counter(matcher.find(text).numbers) for place, text in said.items() if text}
        numbers_in_text: list[int] = []
        texts = matcher.texts
        on_paragraphs: list[tuple[str, ...]] = []
        words = 0
        for paragraph in page.paragraphs:
            if not _is_content(paragraph, page):
                on_paragraphs.append(())
                continue
            found = matcher.find(paragraph.text)
            words += found.words
            numbers_in_text += found.numbers
            on_paragraphs.append(tuple([texts[number] for number in dict.fromkeys(found.numbers)]))
        numbers[Place.TEXT] = Counter(numbers_in_text)
        counts = [
            TermCount(term := matcher.terms[number], place, count, count * term.weight * of_place)
            for place, of_place in PLACE_WEIGHTS.items()
            for number, count in numbers.get(place, Counter()).items()
        ]
        counts.sort(key=lambda one: -abs(one.weight))
        return self._judged(matcher, counts, on_paragraphs, words)

    def _judged(
        self, matcher: TermMatcher, counts: list[TermCount], on_paragraphs: list[tuple[str, ...]], words: int
    ) -> TermsOfPage:
        needed = self._thresholds
        threshold = needed.min_content_terms * matcher.median_weight
        weight = sum(one.weight for one in counts)
        in_text = [one for one in counts if one.place is Place.TEXT]
        distinct = sum(one.term.weight > 0 for one in in_text)
        density = sum(one.weight for one in in_text) / words if words else 0.0
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
    for one in counts:
        if one.weight > 0:
            total += one.weight
            for name in one.term.classes:
                weights[name] = weights.get(name, 0.0) + one.weight
    heaviest = sorted(weights.items(), key=lambda item: -item[1])
    return tuple(name for name, weight in heaviest if weight >= share * total)
