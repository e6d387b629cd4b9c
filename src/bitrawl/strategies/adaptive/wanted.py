"""How likely a URL is to be in a language asked for, by the URL alone."""

from collections.abc import Sequence

import numpy as np

from bitrawl.languages import same_language
from bitrawl.model import Language
from bitrawl.protocols import UrlLanguageModel
from bitrawl.url import Url
from bitrawl.urls.marks import named_languages


class Wanted:
    """What a language model of URLs says, summed over the languages asked for."""

    def __init__(self, languages: Sequence[Language], model: UrlLanguageModel | None) -> None:
        self._languages = tuple(languages)
        self._model = model
        columns = model.languages if model else ()
        self._columns = [
            number for number, column in enumerate(columns) if any(same_language(column, one) for one in languages)
        ]

    def odds(self, urls: Sequence[Url]) -> list[float]:
        """Log-odds, between -3 and 3; 0 without a model."""
        if self._model is None or not urls:
            return [0.0] * len(urls)
        chance = np.clip(self._model.distribution(urls)[:, self._columns].sum(axis=1), 0.05, 0.95)
        return [float(value) for value in np.log(chance / (1 - chance))]

    def names_another(self, url: Url) -> bool:
        """Whether some token of it names a language that was not asked for."""
        return any(not any(same_language(mark, one) for one in self._languages) for mark in named_languages(url))
