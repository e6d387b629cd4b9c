"""What judges the pages of a job with a topic."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from bitrawl.config import Job, TopicModel
from bitrawl.errors import ConfigError
from bitrawl.languages import language_name
from bitrawl.model import Language, Page
from bitrawl.page.analyser import structure
from bitrawl.protocols import (
    RelevanceModel,
)
from bitrawl.text.frequencies import general_rates
from bitrawl.text.ngram_estimation import train
from bitrawl.text.ngram_models import NgramModel, read_arpa, sequences
from bitrawl.topic.judge import PerplexityRelevance, TopicJudge
from bitrawl.topic.learned import LearnedRelevance
from bitrawl.topic.term_list import Term, TermList, learn_terms, read_terms
from bitrawl.topic.term_relevance import TermRelevance, TermThresholds
from bitrawl.url import Url


class Examples(NamedTuple):
    """What the user showed, by language."""

    texts: Mapping[Language, Sequence[str]] = {}
    against: Mapping[Language, Sequence[str]] = {}


def topic_judge(job: Job, shown: Examples) -> TopicJudge:
    """What judges the pages of a job with a topic. Raises `ConfigError` if the topic cannot be learned from that."""
    topic, languages = job.topic, job.languages()
    terms = _terms(job, shown)
    model: RelevanceModel
    match job.topic_model():
        case TopicModel.TERMS if terms is not None:
            model = terms
        case TopicModel.PERPLEXITY:
            model = PerplexityRelevance(_language_models(job, shown), maximum=topic.max_perplexity)
        case _:
            given = terms if topic.terms else None
            model = LearnedRelevance(
                shown.texts, languages, against=shown.against, terms=given, threshold=topic.threshold
            )
    lacks = model.lacks if isinstance(model, LearnedRelevance) else _lacks_nothing
    annotate = _annotation(terms, languages)
    if terms is None or not topic.terms or shown.texts:
        return TopicJudge(model, annotate, _seed_examples(job), lacks=lacks, terms=None if topic.terms else terms)
    # A seed is mostly the home page of a site. It must not outvote the list that the user wrote.
    like = {Url.parse(raw) for raw in topic.like}
    return TopicJudge(
        model,
        annotate,
        _seed_examples(job),
        lambda page: page.url in like or terms.judge([page])[0].relevant,
        lacks=lacks,
    )


def _lacks_nothing(_page: Page) -> str:
    """Of models that learn from no page."""
    return ""


def _annotation(terms: TermRelevance | None, languages: Sequence[Language]) -> Callable[[Page], Page]:
    """Notes the terms on each paragraph, and marks these paragraphs in the structure: -5 in Papavassiliou, section 3.9.

    Without terms in each of the languages the structure stays as it was: translations would no longer look alike.
    """
    if terms is None:
        return lambda page: page
    if not all(terms.terms.of(language) for language in languages):
        return terms.annotated

    def annotated(page: Page) -> Page:
        noted = terms.annotated(page)
        return noted if noted is page else msgspec.structs.replace(noted, fingerprint=structure(noted.paragraphs))

    return annotated


def _seed_examples(job: Job) -> list[Url]:
    """The seeds are about the topic, unless they are hubs; the pages that it is like always are."""
    return [Url.parse(raw) for raw in job.topic.like] if job.topic.hub else job.seed_urls()


def _terms(job: Job, shown: Examples) -> TermRelevance | None:
    """The user's list, or one out of the texts, which only explains."""
    topic, languages = job.topic, job.languages()
    thresholds = TermThresholds(topic.content_terms, topic.distinct_terms, topic.density)
    if topic.terms:
        return TermRelevance(read_terms(Path(topic.terms), languages), languages, thresholds)
    found: list[Term] = []
    for language, texts in shown.texts.items():
        with suppress(ConfigError):  # too short to tell its terms, and long enough for the model
            found += learned_terms(texts, language).terms
    return TermRelevance(TermList(tuple(found)), languages, thresholds) if found else None


def learned_terms(texts: Sequence[str], language: Language, against: Sequence[str] = ()) -> TermList:
    """What tells the texts from general language, where its frequencies are known."""
    return learn_terms(texts, language, background=general_rates(language), against=against)


def _language_models(job: Job, shown: Examples) -> dict[Language, NgramModel]:
    models = {
        language: train(one for text in texts for one in sequences(text)) for language, texts in shown.texts.items()
    } | dict(_named_model(raw) for raw in job.topic.language_models)
    for language in job.languages():
        if language not in models:
            name = language_name(language)
            raise ConfigError(
                f"nothing says what the topic is in {name}; add texts in {name}, or a model to language_models"
            )
    return models


def _named_model(raw: str) -> tuple[Language, NgramModel]:
    code, _, path = raw.partition("=")
    return Language(code), read_arpa(Path(path))
