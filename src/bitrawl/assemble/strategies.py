"""From the name of a strategy to what orders the frontier."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from bitrawl.config import Strategy
from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.protocols import LinkScorer, UrlLanguageModel, UrlPairModel
from bitrawl.strategies.adaptive.scorer import Adaptive, column_weights
from bitrawl.strategies.breadth_first import BreadthFirst
from bitrawl.strategies.language_filter import LanguageFilter
from bitrawl.strategies.url_models import UrlModels
from bitrawl.strategies.url_patterns.scorer import UrlPatterns
from bitrawl.urls.language.model import UrlLanguages
from bitrawl.urls.language.rules import RuleLanguageModel
from bitrawl.urls.parallel.model import TreeUrlPairModel
from bitrawl.urls.parallel.rules import RulePairModel
from bitrawl.urls.transformer import load_url_languages, load_url_pairs


class UrlModelNames(NamedTuple):
    """Transformers by name or path; the bundled models where nothing is named."""

    language: str = ""
    pair: str = ""


BUNDLED = UrlModelNames()
# They keep nothing from one visit to the next, so a resumed crawl need not tell them its earlier visits.
STATELESS = (BreadthFirst, LanguageFilter)


def strategy(
    name: Strategy,
    languages: Sequence[Language],
    *,
    models: bool = True,
    named: UrlModelNames = BUNDLED,
    weights: Mapping[str, float] | None = None,
) -> LinkScorer:
    """A fresh one that has learned nothing yet.

    Without `models` it goes without the models of URLs; `weights` are `adaptive`'s, in place of the package's. Raises
    `ConfigError` for a named model that cannot be loaded, or that the strategy would never ask.
    """
    _check_asked(name, named)
    match name:
        case Strategy.BREADTH_FIRST:
            return BreadthFirst()
        case Strategy.LANGUAGE_FILTER:
            return LanguageFilter(languages)
        case Strategy.URL_MODELS:
            return _url_models(languages, named, models=models)
        case Strategy.URL_PATTERNS:
            return UrlPatterns(languages)
        case Strategy.ADAPTIVE if len(languages) > 1:
            read = column_weights(weights) if weights else None
            return Adaptive(languages, _language_model(named.language) if models else None, read)
        case Strategy.ADAPTIVE:  # one language has no pairs to look for
            return LanguageFilter(languages)


def _url_models(languages: Sequence[Language], named: UrlModelNames, *, models: bool) -> UrlModels:
    """With the rules that the paper compares with, where nothing trained is wanted."""
    if not models:
        return UrlModels(languages, RuleLanguageModel(languages), RulePairModel())
    two = (languages[0], languages[1]) if len(languages) == 2 else None
    pairs: UrlPairModel = _transformer_pairs(named.pair) if named.pair else TreeUrlPairModel(languages=two)
    return UrlModels(languages, _language_model(named.language), pairs)


def _check_asked(name: Strategy, named: UrlModelNames) -> None:
    if named.language and name not in (Strategy.URL_MODELS, Strategy.ADAPTIVE):
        raise ConfigError(
            f"url_language_model is for the strategies url-models and adaptive; {name} asks no such model"
        )
    if named.pair and name is not Strategy.URL_MODELS:
        raise ConfigError(f"url_pair_model is for the strategy url-models; {name} asks no such model")


def _language_model(name: str) -> UrlLanguageModel:
    return _transformer_languages(name) if name else UrlLanguages()


@cache
def _transformer_languages(name: str) -> UrlLanguageModel:
    """Loaded once in a process: it is checked before a crawl, and may be a gigabyte."""
    return load_url_languages(name)


@cache
def _transformer_pairs(name: str) -> UrlPairModel:
    return load_url_pairs(name)
