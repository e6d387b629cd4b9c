"""Judges each page of a crawl, and lets the model learn from the pages that are known to be about the topic.

`has_running_text` says whether a page has text to judge it by, or only leads on: splash pages, menus, directories.
`PerplexityRelevance` judges by the perplexity under a language model of the topic (Remus 2016, section 3).
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from bitrawl.languages import asked_language
from bitrawl.model import Language, Link, Page, Relevance
from bitrawl.protocols import RelevanceModel
from bitrawl.text.ngram_models import UNKNOWN_ID, NgramModel, sequences
from bitrawl.text.words import weight
from bitrawl.url import Url


class TopicJudge:
    """Is called with each page before its links are scored, also with the pages of earlier runs."""

    def __init__(  # noqa: PLR0913 - what is judged by, and what is known of the topic
        self,
        model: RelevanceModel,
        *,
        annotate: Callable[[Page], Page] = lambda page: page,
        examples: Iterable[Url] = (),  # pages that the user named as being about the topic
        seeds: Iterable[Url] = (),  # pages that may be examples, too, where `agrees` says so
        agrees: Callable[[Page], bool] = lambda _page: True,
        lacks: Callable[[Page], str] = lambda _page: "",  # why nothing can be learned from an example
        terms: RelevanceModel | None = None,  # a list out of the texts that the model was made from
    ) -> None:
        self.model = model
        self.terms = terms
        self._annotate = annotate
        self._examples = set(examples)
        self._seeds = set(seeds)
        self._agrees = agrees
        self._lacks = lacks
        self.learned = 0  # examples that the model has learned from
        self.lacking: dict[Url, str] = {}  # examples that say nothing of the topic, and why

    def __call__(self, link: Link, page: Page) -> Page:
        """With its relevance, and with the terms that stand in each paragraph."""
        if link.url in self._examples or (link.url in self._seeds and self._agrees(page)):
            self._learn(page)
        relevance = self.model.judge([page])[0]
        return msgspec.structs.replace(self._annotate(page), relevance=relevance)

    def _learn(self, page: Page) -> None:
        if why := self._lacks(page):
            self.lacking[page.url] = why
            return
        self.model.learn(page, relevant=True)
        self.learned += 1

    def redirected(self, source: Url, target: Url) -> None:
        """Where an example redirects to is the example: http to https to www is usual."""
        for pages in (self._examples, self._seeds):
            if source in pages:
                pages.add(target)


# Of 1,880 pages about some subject of shared/domain (2026-11), 7 have less than 100: lists of links.
LEAST_TEXT = 100  # characters that are not the text of links, on a page with links in its main text
# A list of links has a sentence or two around it: judgement.
LEAST_SHARE, ENOUGH = 0.2, 500  # of the main text that is not links; characters that are enough whatever the share


def has_running_text(page: Page) -> bool:
    """In its main text, or in its description. False: it says nothing of a topic, whatever its links are called."""
    main, linked = _lengths(page)
    running = main - linked + weight(page.metadata.description)
    if not running or running >= ENOUGH:
        return running > 0
    return running >= LEAST_SHARE * main and (running >= LEAST_TEXT or not linked)


def _lengths(page: Page) -> tuple[int, int]:
    """How long the main text is, and the text of the links in it."""
    paragraphs = sorted(page.paragraphs, key=lambda paragraph: paragraph.position)
    places = [paragraph.position for paragraph in paragraphs]
    linked = [0] * len(paragraphs)
    for link in page.links:
        if link.anchor and link.position >= 0 and (place := bisect_right(places, link.position)):
            linked[place - 1] += weight(link.anchor)
    main = [
        (weight(paragraph.text), links)
        for paragraph, links in zip(paragraphs, linked, strict=True)
        if not paragraph.boilerplate
    ]
    return sum(size for size, _ in main), sum(min(size, links) for size, links in main)


# Of the logarithm of a page of unknown words. The paper's is 5/7 (10^5 of 10^7, section 4) for a model of 800,000
# sentences. Smaller models are surprised more: on the Ebola pages (2026-11) nine in ten pages about the topic are below
# .82 for a model of one page and below .68 for one of twenty. Text in another language is above .91 for all.
_SHARE = 0.82
ENDLESS = 1e30
"""The perplexity of a page without a sequence of five words. It is infinite in the paper; JSON has no such number."""
# Quantiles of a test crawl: judgement. HIGH is for a quarter of the pages, NORMAL for the quarter that is worst.
_HIGH, _MEDIUM = 0.25, 0.75
_USUAL = (5e2, 5e3)  # topicrawler's, for a crawl that has read nothing yet


class Boundaries(NamedTuple):
    """The highest perplexities of the buckets HIGH and MEDIUM. NORMAL has the rest (Remus, section 3.3)."""

    high: float
    medium: float


class PerplexityRelevance:
    """The models stay as they are: in the paper the topic is what the given texts say.

    A word that a model does not know is its `<unk>`, as in the paper, whose perplexities end where all words are
    unknown. A page in a language without a model has no perplexity (0), and is not relevant. One without running text has
    an endless one, whatever its links are called.
    """

    def __init__(self, models: Mapping[Language, NgramModel], *, maximum: float | None = None) -> None:
        self._models = dict(models)
        self._maxima = {language: maximum or usual_maximum(model) for language, model in models.items()}

    def judge(self, pages: Sequence[Page]) -> list[Relevance]:
        judged = [Relevance(score=0.0, relevant=False)] * len(pages)
        for language in {page.language for page in pages}:
            if (model_language := self._known(language)) is None:
                continue
            maximum = self._maxima[model_language]
            places = [place for place, page in enumerate(pages) if page.language == language]
            texts = (pages[place].text if has_running_text(pages[place]) else "" for place in places)
            scores = perplexities(self._models[model_language], texts)
            for place, perplexity in zip(places, scores, strict=True):
                score, relevant = _score(perplexity, maximum), perplexity <= maximum
                judged[place] = Relevance(score, relevant=relevant, perplexity=perplexity)
        return judged

    def weigh(self, texts: Sequence[str], language: Language) -> list[float]:
        model_language = self._known(language)
        if model_language is None:
            return [0.0] * len(texts)
        return [
            _score(perplexity, self._maxima[model_language])
            for perplexity in perplexities(self._models[model_language], texts)
        ]

    def learn(self, page: Page, *, relevant: bool) -> None:
        """Does nothing: this judge knows all it needs from the start."""

    def revised(self) -> Sequence[tuple[Url, float]]:
        return []

    def maximum(self, language: Language) -> float:
        """The highest perplexity of a relevant page; 0 in a language without a model."""
        model_language = self._known(language)
        return 0.0 if model_language is None else self._maxima[model_language]

    def _known(self, language: Language) -> Language | None:
        return asked_language(language, tuple(self._models))


def usual_maximum(model: NgramModel) -> float:
    """The paper's maximum, for a model of any size: it grows with the perplexity of a page of unknown words."""
    return float(10 ** (-_SHARE * float(model.levels[0].log10[UNKNOWN_ID])))


def perplexities(model: NgramModel, texts: Iterable[str]) -> list[float]:
    """One per text; `ENDLESS` for a text without a sequence of five words. All texts are looked up at once."""
    read = [sequences(text) for text in texts]
    lengths = [sum(len(words) + 1 for words in text) for text in read]
    ends = np.cumsum([0, *lengths])
    sums = np.concatenate([[0.0], np.cumsum(model.log10(words for text in read for words in text))])[ends]
    return [
        float(10 ** min(-total / length, math.log10(ENDLESS))) if length else ENDLESS
        for total, length in zip(np.diff(sums), lengths, strict=True)
    ]


def boundaries(values: Iterable[float]) -> Boundaries:
    """Proposed from the perplexities of the pages of a short test crawl. Pages without text do not count."""
    read = [perplexity for perplexity in values if 0 < perplexity < ENDLESS]
    return Boundaries(*(map(float, np.quantile(read, (_HIGH, _MEDIUM))) if read else _USUAL))


def _score(perplexity: float, maximum: float) -> float:
    """1 for a perplexity of 1, 0.5 for the maximum, 0 for infinity. In between, the logarithm counts."""
    if perplexity >= ENDLESS:
        return 0.0
    return 1 / (1 + math.log(max(perplexity, 1.0)) / math.log(max(maximum, 2.0)))
