"""Strategies by name, with the models that they ask."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from bitrawl.config import Job, Strategy, TopicSection
from bitrawl.crawl.scope import Sites
from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.protocols import (
    LinkScorer,
    RelevanceModel,
    UrlLanguageModel,
    UrlPairModel,
)
from bitrawl.strategies.adaptive.site_scorer import Adaptive, column_weights
from bitrawl.strategies.adaptive.topical import TopicalAdaptive
from bitrawl.strategies.papers.perplexity import Perplexity
from bitrawl.strategies.papers.terms import Terms
from bitrawl.strategies.papers.url_models import BreadthFirst, LanguageFilter, UrlModels
from bitrawl.strategies.papers.url_patterns import UrlPatterns
from bitrawl.urls.language_model import LinearUrlLanguageModel, RuleUrlLanguageModel
from bitrawl.urls.pair_model import RuleUrlPairModel, TreeUrlPairModel
from bitrawl.urls.transformers import load_language_transformer, load_pair_transformer


class UrlModelNames(NamedTuple):
    """Names or paths of transformer models. An empty name means the model in the package."""

    language: str = ""
    pair: str = ""


BUNDLED = UrlModelNames()


# These keep nothing between visits, so a resumed crawl need not replay the earlier visits for them.
STATELESS = (BreadthFirst, LanguageFilter)


class Topic(NamedTuple):
    """What a strategy must know of the job's topic."""

    model: RelevanceModel
    section: TopicSection = TopicSection()
    site_of: Callable[[str], str] = Sites().of
    terms: RelevanceModel | None = None  # a list out of the texts that the model was made from


def scorer(job: Job, topic: Topic | None = None) -> LinkScorer:
    named = UrlModelNames(job.url_language_model, job.url_pair_model)
    return strategy(job.strategy, job.languages(), named=named, topic=topic)


def strategy(
    name: Strategy,
    languages: Sequence[Language],
    *,
    models: bool = True,
    named: UrlModelNames = BUNDLED,
    weights: Mapping[str, float] | None = None,
    topic: Topic | None = None,
) -> LinkScorer:
    """A new strategy that has learned nothing yet.

    Without `models` it uses no URL models. `weights` replace the package's weights of `adaptive`. Raises `ConfigError`
    if a named model cannot be loaded or if the strategy would not use it.
    """
    _check_asked(name, named)
    if topic is not None and name in (Strategy.TERMS, Strategy.PERPLEXITY, Strategy.ADAPTIVE):
        return _focused(name, languages, topic, models=models, named=named)
    match name:
        case Strategy.BREADTH_FIRST:
            return BreadthFirst()
        case Strategy.LANGUAGE_FILTER:
            return LanguageFilter(languages)
        case Strategy.URL_MODELS:
            return _url_models(languages, named, models=models)
        case Strategy.URL_PATTERNS:
            return UrlPatterns(languages)
        case Strategy.ADAPTIVE:
            read = column_weights(weights) if weights else None
            pairs = Adaptive(languages, _language_model(named.language) if models else None, read)
            return pairs if len(languages) > 1 else LanguageFilter(languages)  # one language has no pairs to look for
        case Strategy.TERMS | Strategy.PERPLEXITY:
            raise ConfigError(f"the strategy {name} needs a topic")


def _focused(
    name: Strategy, languages: Sequence[Language], topic: Topic, *, models: bool, named: UrlModelNames
) -> LinkScorer:
    if name is Strategy.TERMS:
        return Terms(languages, topic.model)
    if name is Strategy.PERPLEXITY:
        return Perplexity(languages)
    pairs = Adaptive(languages, _language_model(named.language) if models else None) if len(languages) > 1 else None
    return TopicalAdaptive(languages, topic.model, topic.site_of, pairs, terms=topic.terms)


def _url_models(languages: Sequence[Language], named: UrlModelNames, *, models: bool) -> UrlModels:
    """Without `models`, use the rules that the paper compares with."""
    if not models:
        return UrlModels(languages, RuleUrlLanguageModel(languages), RuleUrlPairModel())
    two = (languages[0], languages[1]) if len(languages) == 2 else None
    pairs: UrlPairModel = _transformer_pairs(named.pair) if named.pair else TreeUrlPairModel(languages=two)
    return UrlModels(languages, _language_model(named.language), pairs)


def _check_asked(name: Strategy, named: UrlModelNames) -> None:
    if named.language and name not in (Strategy.URL_MODELS, Strategy.ADAPTIVE):
        raise ConfigError(f"the strategy {name} does not use url_language_model; only url-models and adaptive do")
    if named.pair and name is not Strategy.URL_MODELS:
        raise ConfigError(f"the strategy {name} does not use url_pair_model; only url-models does")


def _language_model(name: str) -> UrlLanguageModel:
    return _transformer_languages(name) if name else LinearUrlLanguageModel()


@cache
def _transformer_languages(name: str) -> UrlLanguageModel:
    """Loaded once per process: it is checked before a crawl, and it may be a gigabyte."""
    return load_language_transformer(name)


@cache
def _transformer_pairs(name: str) -> UrlPairModel:
    return load_pair_transformer(name)
