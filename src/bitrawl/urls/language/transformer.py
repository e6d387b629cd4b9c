"""A transformer that predicts the language of a URL's page (García-Romero et al. 2024, section 2).

It needs the extra `neural`.
"""

from collections.abc import Sequence

import numpy as np

from bitrawl.errors import ConfigError
from bitrawl.languages import parse_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.text.remembered import RememberedRows
from bitrawl.url import Url
from bitrawl.urls.classifier import BATCH, REMEMBERED, Classifier, Rows, Texts, load_classifier, softmax, url_text

# The published model's label for "not known". As a code it would be Enawené-Nawé, with 1,000 speakers and no written
# web.
_NO_IDEA = "unk"


def load_language_transformer(model: str, *, batch: int = BATCH) -> "TransformerUrlLanguageModel":
    """Load a sequence classifier whose labels are languages, by name or path of its folder. Raises `ConfigError`."""
    return TransformerUrlLanguageModel(load_classifier(model, batch=batch))


class TransformerUrlLanguageModel:
    """A `UrlLanguageModel`. Labels are codes or English names; anything else counts as "und"."""

    def __init__(self, classifier: Classifier, *, room: int = REMEMBERED) -> None:
        self._classifier = classifier
        found = [label_language(label) for label in classifier.labels]
        known = [language for language in dict.fromkeys(found) if language != UNDETERMINED]
        if not known:
            raise ConfigError(
                f"{classifier.name} is not a language model: its labels are {', '.join(classifier.labels[:3])}"
            )
        self.languages: tuple[Language, ...] = (*known, UNDETERMINED)
        self._column = np.zeros((len(found), len(self.languages)), np.float32)
        for label, language in enumerate(found):
            self._column[label, self.languages.index(language)] = 1.0
        self._memory = RememberedRows(self._compute, room, len(self.languages))

    def distribution(self, urls: Sequence[Url]) -> Rows:
        return self._memory.rows([(url_text(url),) for url in urls])

    def _compute(self, texts: Sequence[Texts]) -> Rows:
        return softmax(self._classifier.logits(texts)) @ self._column


def label_language(label: str) -> Language:
    """A code or an English name; "und" for anything else."""
    try:
        return UNDETERMINED if label.casefold() == _NO_IDEA else parse_language(label)
    except ConfigError:
        return UNDETERMINED
