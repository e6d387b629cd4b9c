"""Strategies by name, with the models that they ask."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from bitrawl.config import FOCUSED, Job, Strategy, TopicSection
from bitrawl.config.choices import STRATEGIES, blamed, package_of, strategy_maker
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


class _Asked(NamedTuple):
    """What a strategy may be made of, besides the languages."""

    languages: Sequence[Language]
    models: bool
    named: UrlModelNames
    weights: Mapping[str, float] | None
    topic: Topic | None


def strategy(
    name: str,
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
    if name in FOCUSED and topic is None:
        raise ConfigError(f"the strategy {name} needs a topic")
    make = strategy_maker(name)
    scorer: LinkScorer = make(languages) if make else _MAKERS[name](_Asked(languages, models, named, weights, topic))
    return _of_package(name, package, scorer) if (package := package_of(STRATEGIES, name)) else scorer


def _of_package(name: str, package: str, scorer: Any) -> Any:
    """The strategy of another package; what it raises is told as an error that names the package."""
    methods: dict[str, Any] = {method: getattr(scorer, method, None) for method in ("score", "learn", "advise")}
    if not all(callable(call) for call in methods.values()):
        raise ConfigError(f"the strategy {name!r} of the package {package} is no bitrawl.protocols.LinkScorer")
    return SimpleNamespace(**{method: blamed(STRATEGIES, name, call) for method, call in methods.items()})


def _adaptive(asked: _Asked) -> LinkScorer:
    languages, topic = asked.languages, asked.topic
    weights = column_weights(asked.weights) if asked.weights and topic is None else None
    model = _language_model(asked.named.language) if asked.models and len(languages) > 1 else None
    pairs = Adaptive(languages, model, weights) if len(languages) > 1 else None  # one language has no pairs to look for
    if topic is not None:
        return TopicalAdaptive(languages, topic.model, topic.site_of, pairs, terms=topic.terms)
    return pairs or LanguageFilter(languages)


def _terms(asked: _Asked) -> LinkScorer:
    assert asked.topic is not None, "checked for all strategies that need one"
    return Terms(asked.languages, asked.topic.model)


_MAKERS: Mapping[str, Callable[[_Asked], LinkScorer]] = {
    Strategy.BREADTH_FIRST: lambda _: BreadthFirst(),
    Strategy.URL_MODELS: lambda asked: _url_models(asked.languages, asked.named, models=asked.models),
    Strategy.TERMS: _terms,
    Strategy.PERPLEXITY: lambda asked: Perplexity(asked.languages),
    Strategy.ADAPTIVE: _adaptive,
}
"""Those that need models or a topic. The others are made of the languages, by their row in `config.Strategy`."""


def _url_models(languages: Sequence[Language], named: UrlModelNames, *, models: bool) -> UrlModels:
    """Without `models`, use the rules that the paper compares with."""
    if not models:
        return UrlModels(languages, RuleUrlLanguageModel(languages), RuleUrlPairModel())
    two = (languages[0], languages[1]) if len(languages) == 2 else None
    pairs: UrlPairModel = _transformer_pairs(named.pair) if named.pair else TreeUrlPairModel(languages=two)
    return UrlModels(languages, _language_model(named.language), pairs)


def _check_asked(name: str, named: UrlModelNames) -> None:
    if named.language and name not in (Strategy.URL_MODELS, Strategy.ADAPTIVE):
        raise ConfigError(f"the strategy {name} does not use url_language_model; only url-models and adaptive do")
    if named.pair and name != Strategy.URL_MODELS:
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
