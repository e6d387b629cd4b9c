"""A strategy by its name, whoever makes it."""

from types import SimpleNamespace
from typing import Any

from bitrawl.errors import ConfigError
from bitrawl.packages import loaded
from bitrawl.protocols import LinkScorer, StrategyInputs
from bitrawl.strategies.adaptive.monolingual import Monolingual
from bitrawl.strategies.adaptive.site_scorer import Adaptive, column_weights
from bitrawl.strategies.adaptive.topical import TopicalAdaptive
from bitrawl.strategies.table import FOCUSED, STRATEGIES, Strategy
from bitrawl.urls import url_language_model

_METHODS, _OPTIONAL = ("score", "learn", "advise"), ("steps", "is_stateless")


def strategy(name: str, inputs: StrategyInputs) -> LinkScorer:
    """A new strategy that has learned nothing yet. Raises `ConfigError` if it cannot be made, or would not use a model that is named."""
    STRATEGIES.check_one(name)
    if inputs.url_language_model and name in set(Strategy) - {Strategy.URL_MODELS, Strategy.ADAPTIVE}:
        raise ConfigError(f"the strategy {name} does not use url_language_model; only url-models and adaptive do")
    if inputs.url_pair_model and name in set(Strategy) - {Strategy.URL_MODELS}:
        raise ConfigError(f"the strategy {name} does not use url_pair_model; only url-models does")
    if name in FOCUSED and inputs.topic is None:
        raise ConfigError(f"the strategy {name} needs a topic")
    maker = Strategy(name).maker if name in set(Strategy) else ""
    make = loaded(maker) if maker else STRATEGIES.loaded(name)
    ours = not STRATEGIES.package_of(name)
    scorer: LinkScorer = make(inputs) if ours else _blamed(name, STRATEGIES.blamed(name, make)(inputs))
    return scorer


def _blamed(name: str, scorer: Any) -> Any:
    """The strategy of another package; what it raises is told as an error that names the package."""
    if not all(callable(getattr(scorer, method, None)) for method in _METHODS):
        raise STRATEGIES.fault(name, "is not a bitrawl.protocols.LinkScorer")
    parts = {part: getattr(scorer, part) for part in (*_METHODS, *_OPTIONAL) if hasattr(scorer, part)}
    return SimpleNamespace(
        **{part: STRATEGIES.blamed(name, value) if callable(value) else value for part, value in parts.items()}
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
