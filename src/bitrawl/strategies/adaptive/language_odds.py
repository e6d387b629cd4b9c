"""The probability that a page is in a requested language, from its URL alone."""

from collections.abc import Sequence

import numpy as np

from bitrawl.languages import same_language
from bitrawl.model import Language
from bitrawl.protocols import UrlLanguageModel
from bitrawl.url import Url

# judgement: probabilities are clipped to this range, so that one URL never outweighs all other evidence
LEAST, MOST = 0.05, 0.95


class LanguageOdds:
    """What a URL language model predicts, summed over the requested languages."""

    def __init__(self, languages: Sequence[Language], model: UrlLanguageModel | None) -> None:
        self._model = model
        columns = model.languages if model else ()
        self._columns = [
            number for number, column in enumerate(columns) if any(same_language(column, one) for one in languages)
        ]

    def of(self, urls: Sequence[Url]) -> list[float]:
        """Log-odds between -3 and 3; 0 without a model."""
        if self._model is None or not urls:
            return [0.0] * len(urls)
        chance = np.clip(self._model.distribution(urls)[:, self._columns].sum(axis=1), LEAST, MOST)
        return [float(value) for value in np.log(chance / (1 - chance))]
