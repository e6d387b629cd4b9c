"""A transformer that predicts whether two URLs are translations (García-Romero et al. 2024, section 3).

It needs the extra `neural`.
"""

from collections.abc import Sequence

import numpy as np

from bitrawl.errors import ConfigError
from bitrawl.text.remembered import RememberedRows
from bitrawl.url import Url
from bitrawl.urls.classifier import BATCH, REMEMBERED, Classifier, Rows, Texts, load_classifier, softmax, url_text

_PARALLEL = frozenset({"parallel", "positive", "true", "yes", "1", "label_1"})


def load_pair_transformer(model: str, *, batch: int = BATCH) -> "TransformerUrlPairModel":
    """Load a sequence classifier with one or two outputs, by its name or the path of its folder.

    Raises `ConfigError`.
    """
    return TransformerUrlPairModel(load_classifier(model, batch=batch))


class TransformerUrlPairModel:
    """A `UrlPairModel`. It takes the mean of both orders, because a transformer is not symmetric."""

    def __init__(self, classifier: Classifier, *, room: int = REMEMBERED) -> None:
        self._classifier = classifier
        labels = [label.casefold() for label in classifier.labels]
        if len(labels) > 2:
            raise ConfigError(
                f"{classifier.name} is not a model of URL pairs: it has {len(labels)} labels instead of one or two"
            )
        named = [place for place, label in enumerate(labels) if label in _PARALLEL]
        self._place = named[0] if len(named) == 1 else len(labels) - 1
        self._memory = RememberedRows(self._compute, room, 1)

    def parallel(self, pairs: Sequence[tuple[Url, Url]]) -> Rows:
        texts = [(url_text(min(pair)), url_text(max(pair))) for pair in pairs]
        return self._memory.rows(texts)[:, 0]

    def _compute(self, texts: Sequence[Texts]) -> Rows:
        logits = self._classifier.logits([*texts, *((b, a) for a, b in texts)])
        # One output is for a sigmoid, which equals a softmax with 0 on the other side.
        both = logits if logits.shape[1] == 2 else np.hstack([np.zeros_like(logits), logits])
        chances = softmax(both)[:, [self._place if logits.shape[1] == 2 else 1]]
        return (chances[: len(texts)] + chances[len(texts) :]) * np.float32(0.5)
