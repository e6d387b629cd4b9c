"""A strategy by its name, whoever makes it."""

from types import SimpleNamespace
from typing import Any

from bitrawl.config import FOCUSED, Strategy
from bitrawl.config.choices import strategy_maker
from bitrawl.errors import ConfigError
from bitrawl.packages import EntryGroup, blamed, package_of
from bitrawl.protocols import LinkScorer, StrategyInputs
from bitrawl.strategies.adaptive.monolingual import Monolingual
from bitrawl.strategies.adaptive.site_scorer import Adaptive, column_weights
from bitrawl.strategies.adaptive.topical import TopicalAdaptive
from bitrawl.urls.transformers import url_language_model

_METHODS, _OPTIONAL = ("score", "learn", "advise"), ("steps", "is_stateless")


def strategy(name: str, inputs: StrategyInputs) -> LinkScorer:
    """A new strategy that has learned nothing yet. Raises `ConfigError` if it cannot be made, or would not use a model that is named."""
    if inputs.url_language_model and name in set(Strategy) - {Strategy.URL_MODELS, Strategy.ADAPTIVE}:
        raise ConfigError(f"the strategy {name} does not use url_language_model; only url-models and adaptive do")
    if inputs.url_pair_model and name in set(Strategy) - {Strategy.URL_MODELS}:
        raise ConfigError(f"the strategy {name} does not use url_pair_model; only url-models does")
    if name in FOCUSED and inputs.topic is None:
        raise ConfigError(f"the strategy {name} needs a topic")
    scorer: LinkScorer = strategy_maker(name)(inputs)
    return _of_package(name, package, scorer) if (package := package_of(EntryGroup.STRATEGIES, name)) else scorer


def _of_package(name: str, package: str, scorer: Any) -> Any:
    """The strategy of another package; what it raises is told as an error that names the package."""
    if not all(callable(getattr(scorer, method, None)) for method in _METHODS):
        raise ConfigError(f"the strategy {name!r} of the package {package} is not a bitrawl.protocols.LinkScorer")
    parts = {part: getattr(scorer, part) for part in (*_METHODS, *_OPTIONAL) if hasattr(scorer, part)}
    return SimpleNamespace(
        **{part: blamed(EntryGroup.STRATEGIES, name, value) if callable(value) else value for part, value in parts.items()}
    )


def adaptive(inputs: StrategyInputs) -> LinkScorer:
    """The default. One language has no pairs to look for."""
    languages, topic, pairs = inputs.languages, inputs.topic, None
    if len(languages) > 1:
        model = url_language_model(inputs.url_language_model) if inputs.models else None
        weights = column_weights(inputs.weights) if inputs.weights and topic is None else None
        pairs = Adaptive(languages, model, weights)
    if topic is not None:
        return TopicalAdaptive(languages, topic.model, topic.site_of, pairs, terms=topic.terms)
    return pairs or Monolingual(languages)
