"""Learns from examples what a page of the topic looks like, and goes on learning while it judges.

1. Language gate: a page in none of the job's languages is not relevant.
2. A prior that needs no counter-examples, from two scores against general language (`text/frequencies.py`): the
   difference of two unigram models (Moore and Lewis, 2010), and the cosine to the examples' centre with rare words ahead.
   Both are scaled by what the examples themselves get when they are left out, and by what texts about nothing in
   particular get; so the result is a logit.
3. A linear model on hashed stems and pairs of stems, as soon as there is something to tell the examples from: texts and
   pages that are known not to be about the topic, and pages of the crawl that are certainly not.

lab/notes/relevance.md has the figures, and what was tried.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bitrawl.errors import ConfigError
from bitrawl.languages import asked_language, language_name
from bitrawl.model import UNDETERMINED, Language, Page, Relevance
from bitrawl.protocols import RelevanceModel
from bitrawl.topic.judge import has_running_text
from bitrawl.topic.subject import COMMON, FEW_TEXTS, TopicDocument, TopicSubject, document
from bitrawl.url import Url

THRESHOLD = 0.5
# What is read of a page or text. On the English pages of shared/domain/web, 6,000 take 0.8 of the CPU time of 12,000 (2026-11).
MOST_CHARACTERS = 6_000
FEW_CHARACTERS = 200  # of main text; a page with less is judged by all that stands on it; judgement
# With fewer than FEW_TEXTS, each is cut into parts that serve as examples: the model has to see how much examples differ.
PART_CHARACTERS, MOST_PARTS = 1500, 40
LEAST_PARTS = 3  # of a short text: a single example says nothing of how much examples differ; judgement
LEAST_TELLING = 5  # different words of them that are not common; judgement
LEAST_WORDS = 50  # of all example texts of a language together; with fewer nothing can be learned; judgement
TERM_WEIGHT = 0.5  # of the logarithm of 1 + distinct terms, in logits; judgement
KEPT_SCORES = 50_000  # judged pages whose score a translation may inherit; about 5 MB
UNKNOWN_RELEVANT = 0.4  # of a page in a language without examples on a site that nothing is known about; judgement
SITE_WEIGHT = 4.0  # that prior counts as this many pages of the site; judgement

_BORDER = re.compile(r"\n|[.!?]\s|[。！？]")


class LearnedRelevance:
    """Built from what the user brings: texts about the topic, texts that are not, a model of terms, or all of them.

    `judge` learns as it judges: pages that are certainly not about the topic become counter-examples, pages that certainly
    are become examples. A fit that no longer recognises the given examples is dropped. With `adapting=False` it learns only
    from `learn`.

    In a language without examples, a page gets the score of a translation that it declares and that has been judged.
    Without one, it gets the share of relevant pages on its host, starting from a bit less than one half: not known, and
    so not relevant. So does a page without running text. Certain translations are examples of their language.
    """

    def __init__(
        self,
        texts: Mapping[Language, Sequence[str]],
        languages: Iterable[Language],
        *,
        against: Mapping[Language, Sequence[str]] | None = None,
        terms: RelevanceModel | None = None,
        threshold: float = THRESHOLD,
        adapting: bool = True,
    ) -> None:
        self._languages = tuple(dict.fromkeys(languages))
        self._terms, self._threshold, self._adapting = terms, threshold, adapting
        self._subjects: dict[Language, TopicSubject] = {}
        self._judged: dict[Url, float] = {}
        self._hosts: dict[str, tuple[int, float]] = {}  # pages in languages with examples, and the sum of their scores
        for language, examples in texts.items():
            self._begin(language, examples)
        for language, examples in (against or {}).items():
            for text in examples:
                self._subject(language).learn(_text(text, language), relevant=False)

    def judge(self, pages: Sequence[Page]) -> list[Relevance]:
        by_terms = self._terms.judge(pages) if self._terms else [None] * len(pages)
        return [self._judge(page, terms) for page, terms in zip(pages, by_terms, strict=True)]

    def weigh(self, texts: Sequence[str], language: Language) -> list[float]:
        """Negative: rather not about the topic. 0 in a language without examples, unless there are terms."""
        subject = self._subjects.get(self._wanted(language) or language)
        taught = subject is not None and subject.taught
        own = [subject.weigh(_text(text, language)) if subject and taught else 0.0 for text in texts]
        return (
            own
            if self._terms is None
            else [a + b for a, b in zip(own, self._terms.weigh(texts, language), strict=True)]
        )

    def learn(self, page: Page, *, relevant: bool) -> None:
        """A page in none of the languages teaches nothing."""
        language = self._wanted(page.language)
        if language is None:
            return
        subject = self._subject(language)
        parts = [read_page(page)]
        if relevant and not subject.taught:
            parts = [_text(part, page.language) for part in _parts("\n".join(filter(None, _texts(page))))]
        for read in parts:
            if read.size:
                subject.learn(read, relevant=relevant)
        if relevant and self._terms is None:
            subject.texts += 1

    def revised(self) -> list[tuple[Url, float]]:
        logits = [pair for subject in self._subjects.values() for pair in subject.revised()]
        return [(url, _probability(logit)) for url, logit in logits]

    def contradicts(self, page: Page) -> bool:
        """Whether what it has learned in the page's language says that the page is not about the topic."""
        subject = self._subjects.get(self._wanted(page.language) or page.language)
        return subject is not None and subject.taught and subject.logit(read_page(page)) < 0

    def lacks(self, page: Page) -> str:
        """Why the page cannot be an example, as the end of a sentence about it; empty if it can."""
        if not has_running_text(page):
            return "it has no running text"
        if self._wanted(page.language) is None:
            wanted = ", ".join(map(language_name, self._languages))
            named = (
                "a language that could not be identified"
                if page.language == UNDETERMINED
                else language_name(page.language)
            )
            return f"its text is in {named}, but the job asks for {wanted}"
        return _lack([read_page(page)])

    def _begin(self, language: Language, examples: Sequence[str]) -> None:
        parts = examples if len(examples) >= FEW_TEXTS else [part for text in examples for part in _parts(text)]
        read = [text for text in (_text(part, language) for part in parts) if text.size]
        if why := _lack(read):
            raise ConfigError(
                f"the example texts in {language} do not show what the topic is: {why};"
                f" give at least {LEAST_WORDS} words about it (one article is enough), or a term list"
            )
        subject = self._subject(language)
        for example in read:
            subject.learn(example, relevant=True)
        if self._terms is None:
            subject.texts += len(examples)

    def _subject(self, language: Language) -> TopicSubject:
        language = self._wanted(language) or language
        return self._subjects.setdefault(language, TopicSubject(language))

    def _wanted(self, language: Language) -> Language | None:
        return asked_language(language, self._languages)

    def _judge(self, page: Page, terms: Relevance | None) -> Relevance:
        language = self._wanted(page.language)
        if language is None:
            return Relevance(0.0, relevant=False)
        subject, read = self._subject(language), read_page(page)
        guessed = False
        if subject.taught and not has_running_text(page):
            score, guessed = self._share_of_host(page), True
        elif subject.taught and read.size:
            score = _probability(subject.logit(read) + (_term_logit(terms) if terms else 0.0))
            self._remember(page, score)
            if self._adapting:
                subject.observe(read, page.url)
        elif terms is not None:
            score = terms.score
        elif (inherited := self._told_by_translations(page, subject, read)) is not None:
            score = inherited
        else:
            score, guessed = self._share_of_host(page), True
        weight, term_count, classes = (terms.weight, terms.terms, terms.classes) if terms else (0.0, 0, ())
        return Relevance(
            score, score >= self._threshold, weight=weight, terms=term_count, classes=classes, guessed=guessed
        )

    def _remember(self, page: Page, score: float) -> None:
        if len(self._judged) < KEPT_SCORES:
            self._judged[page.url] = score
        pages, total = self._hosts.get(page.url.host, (0, 0.0))
        self._hosts[page.url.host] = (pages + 1, total + score)

    def _told_by_translations(self, page: Page, subject: TopicSubject, read: TopicDocument) -> float | None:
        scores = [
            self._judged[each.url] for each in page.alternates if each.url in self._judged and each.url != page.url
        ]
        if not scores:
            return None
        score = max(scores)
        if self._adapting and read.size:
            subject.inherit(read, _logit(score))
        return score

    def _share_of_host(self, page: Page) -> float:
        pages, total = self._hosts.get(page.url.host, (0, 0.0))
        return (total + SITE_WEIGHT * UNKNOWN_RELEVANT) / (pages + SITE_WEIGHT)


def _lack(read: Sequence[TopicDocument]) -> str:
    """Why nothing can be learned from these texts; empty if something can."""
    total = sum(text.words for text in read)
    if total < LEAST_WORDS:
        return f"{total} words are too few to learn a topic from"
    telling = {int(key) for text in read for key in text.keys[text.rates < COMMON]}
    return "" if len(telling) >= LEAST_TELLING else "it has hardly any word that is not in every text"


def _texts(page: Page) -> list[str]:
    main = [each.text for each in page.paragraphs if not each.boilerplate]
    if sum(map(len, main)) < FEW_CHARACTERS:
        main = [each.text for each in page.paragraphs]
    return [page.title, page.metadata.description, page.metadata.keywords, "\n".join(main)[:MOST_CHARACTERS]]


def read_page(page: Page) -> TopicDocument:
    """The beginning of its main text, with title, description and keywords."""
    return document("\n".join(_texts(page)), page.language)


def _text(text: str, language: Language) -> TopicDocument:
    return document(text[:MOST_CHARACTERS], language)


def _parts(text: str) -> list[str]:
    """Cut between lines or sentences where there are any."""
    parts, start = [], 0
    size = max(min(PART_CHARACTERS, len(text) // LEAST_PARTS), len(text) // MOST_PARTS)
    while start < len(text):
        border = _BORDER.search(text, start + size)
        end = border.end() if border and len(text) - border.end() >= size // 2 else len(text)
        parts.append(text[start:end])
        start = end
    return parts


def _term_logit(terms: Relevance) -> float:
    return TERM_WEIGHT * (float(np.log1p(terms.terms)) - 1.0)


def _probability(logit: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(logit, -30, 30))))


def _logit(probability: float) -> float:
    return float(np.log(max(probability, 1e-9) / max(1 - probability, 1e-9)))
