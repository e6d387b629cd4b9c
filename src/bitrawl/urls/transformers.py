"""Transformers that classify URLs, loaded by name or path: the language of a page, and whether two pages are translations.

García-Romero et al. 2024, sections 2 and 3. They need the extra `neural`. The paper's own models are
Transducens/xlm-roberta-base-url2lang and Transducens/xlm-roberta-base-parallel-urls-classifier on Hugging Face.
`lab/train/url_transformers.py` trains similar ones.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any
from urllib.parse import unquote

import numpy as np

from bitrawl.errors import ConfigError
from bitrawl.languages import parse_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.packages import extra
from bitrawl.protocols import UrlLanguageModel
from bitrawl.text.arrays import Floats32, RememberedRows
from bitrawl.text.encoder import first_line
from bitrawl.url import Url
from bitrawl.urls.language_model import LinearUrlLanguageModel

Texts = tuple[str, ...]  # the input of a model: one URL, or two

BATCH = 64
REMEMBERED = 50_000  # URLs: 40 MB with the 162 labels of the published model
MAX_TOKENS = 256  # as in the training of the published models
# Not from `tokens`: the published models were trained on URLs cut in this way, with consecutive signs together.
_PIECE = re.compile(r"[^\W_0-9]+|[0-9]+|_+|[^\w\s]+")


def url_text(url: str) -> str:
    """Without protocol and final slash, unescaped, with words, numbers and signs separated (section 2 of the paper).

    The paper mentions HTML entities, but the published models were trained on URLs without percent-escapes.
    """
    bare = url.partition("://")[2] or url
    text = unquote(bare.rstrip("/"), errors="backslashreplace")
    # A lone surrogate is not valid UTF-8, and the tokenizers raise on it.
    return " ".join(_PIECE.findall(text)).encode("utf-8", "replace").decode()


def load_classifier(model: str, *, batch: int = BATCH) -> "Classifier":
    """Raises `ConfigError`, also for a model that was never trained to classify. A name may be downloaded."""
    transformers = need_transformers(model)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        loaded, report = transformers.AutoModelForSequenceClassification.from_pretrained(
            model, trust_remote_code=False, output_loading_info=True
        )
    # Several libraries raise many kinds of errors here: OSError, ValueError, RuntimeError, errors of their HTTP
    # clients.
    except Exception as error:
        raise ConfigError(
            f"the URL model {model} cannot be loaded; give the path of a folder with a sequence classifier of"
            " transformers, or the name of a public one, such as Transducens/xlm-roberta-base-url2lang, which is then"
            f" downloaded ({first_line(error)})"
        ) from error
    if report["missing_keys"]:
        raise ConfigError(
            f"{model} was not trained to classify: {', '.join(sorted(report['missing_keys'])[:2])} is missing;"
            " fine-tune it in a clone of bitrawl: python -m lab.train url-language-transformer or url-pairs-transformer"
        )
    return Classifier(model, loaded, tokenizer, batch=batch)


def need_transformers(model: str) -> Any:
    """The transformers library, with torch. Raises `ConfigError`."""
    with extra("neural", f"the URL model {model} needs PyTorch and transformers"):
        import torch  # noqa: F401, PLC0415 an extra, and takes seconds to import
        import transformers  # noqa: PLC0415
    return transformers


class Classifier:
    """A transformers model with its tokenizer, on a GPU if there is one."""

    def __init__(self, name: str, model: Any, tokenizer: Any, *, batch: int = BATCH) -> None:
        import torch  # noqa: PLC0415

        self.name, self.model, self.tokenizer = name, model, tokenizer
        self.labels: tuple[str, ...] = tuple(str(model.config.id2label[n]) for n in range(model.config.num_labels))
        self._batch = batch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        model.to(self._device).eval()
        # RoBERTa and related models count positions from 2.
        self._longest = min(MAX_TOKENS, getattr(model.config, "max_position_embeddings", MAX_TOKENS + 2) - 2)

    def logits(self, texts: Sequence[Texts]) -> Floats32:
        """One row per text, one column per label."""
        import torch  # noqa: PLC0415

        tokens = self.tokens(texts)
        rows = np.zeros((len(texts), len(self.labels)), np.float32)
        with torch.inference_mode():
            for places in batches(tokens, self._batch):
                rows[places] = self.outputs([tokens[place] for place in places]).float().cpu().numpy()
        return np.nan_to_num(rows)

    def outputs(self, tokens: Sequence[Sequence[int]]) -> Any:
        """The output for one batch, as a tensor that keeps its gradient if the caller is training."""
        import torch  # noqa: PLC0415

        width = max(map(len, tokens))
        padding = self.tokenizer.pad_token_id or 0
        ids = torch.tensor([[*text, *[padding] * (width - len(text))] for text in tokens], device=self._device)
        mask = torch.tensor([[1] * len(text) + [0] * (width - len(text)) for text in tokens], device=self._device)
        return self.model(input_ids=ids, attention_mask=mask).logits

    def tokens(self, texts: Sequence[Texts]) -> list[list[int]]:
        """Two URLs with one separator between them (figure 4). XLM-RoBERTa's own format for two texts has two."""
        if not texts:
            return []
        separator = self.tokenizer.sep_token or " "
        encoded: list[list[int]] = self.tokenizer([separator.join(text) for text in texts])["input_ids"]
        return [
            tokens if len(tokens) <= self._longest else self._shortened(text)
            for text, tokens in zip(texts, encoded, strict=True)
        ]

    def _shortened(self, texts: Texts) -> list[int]:
        """An equal share of each. If the end were cut off, a long first URL would leave nothing of the second."""
        share = (self._longest - len(texts) - 1) // len(texts)
        tokens = [self.tokenizer.cls_token_id]
        for text in texts:
            tokens += self.tokenizer(text, add_special_tokens=False)["input_ids"][:share]
            tokens.append(self.tokenizer.sep_token_id)
        return [token for token in tokens if token is not None]


def batches(tokens: Sequence[Sequence[int]], size: int) -> Iterator[list[int]]:
    """Places, the shortest first. Texts of similar length go together, so that there is little padding."""
    order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def softmax(logits: Floats32) -> Floats32:
    """Rows of scores as rows of probabilities."""
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats32 = chances / chances.sum(axis=1, keepdims=True)
    return shares


# The published model's label for "not known". As a code it would be Enawené-Nawé, with 1,000 speakers and no written
# web.
_NO_IDEA = "unk"


def url_language_model(name: str) -> UrlLanguageModel:
    """The transformer of that name; without a name, the model that ships. Raises `ConfigError`."""
    return load_language_transformer(name) if name else LinearUrlLanguageModel()


@cache  # it is checked before a crawl, and may be a gigabyte
def load_language_transformer(model: str, *, batch: int = BATCH) -> "TransformerUrlLanguageModel":
    """Load a sequence classifier whose labels are languages, by name or path of its folder. Raises `ConfigError`."""
    return TransformerUrlLanguageModel(load_classifier(model, batch=batch))


class TransformerUrlLanguageModel:
    """A `UrlLanguageModel`. Labels are codes or English names; anything else counts as "und"."""

    def __init__(self, classifier: Classifier, *, room: int = REMEMBERED) -> None:
        self._classifier = classifier
        of_label = [label_language(label) for label in classifier.labels]
        languages = [language for language in dict.fromkeys(of_label) if language != UNDETERMINED]
        if not languages:
            raise ConfigError(
                f"{classifier.name} is not a language model: its labels are {', '.join(classifier.labels[:3])}"
            )
        self.languages: tuple[Language, ...] = (*languages, UNDETERMINED)
        self._column = np.zeros((len(of_label), len(self.languages)), np.float32)
        for label, language in enumerate(of_label):
            self._column[label, self.languages.index(language)] = 1.0
        self._memory = RememberedRows(self._compute, room, len(self.languages))

    def distribution(self, urls: Sequence[Url]) -> Floats32:
        return self._memory.rows([(url_text(url),) for url in urls])

    def _compute(self, texts: Sequence[Texts]) -> Floats32:
        return softmax(self._classifier.logits(texts)) @ self._column


def label_language(label: str) -> Language:
    """A code or an English name; "und" for anything else."""
    try:
        return UNDETERMINED if label.casefold() == _NO_IDEA else parse_language(label)
    except ConfigError:
        return UNDETERMINED


_PARALLEL = frozenset({"parallel", "positive", "true", "yes", "1", "label_1"})


@cache
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

    def parallel(self, pairs: Sequence[tuple[Url, Url]]) -> Floats32:
        texts = [(url_text(min(pair)), url_text(max(pair))) for pair in pairs]
        return self._memory.rows(texts)[:, 0]

    def _compute(self, texts: Sequence[Texts]) -> Floats32:
        logits = self._classifier.logits([*texts, *((b, a) for a, b in texts)])
        # One output is for a sigmoid, which equals a softmax with 0 on the other side.
        both = logits if logits.shape[1] == 2 else np.hstack([np.zeros_like(logits), logits])
        chances = softmax(both)[:, [self._place if logits.shape[1] == 2 else 1]]
        return (chances[: len(texts)] + chances[len(texts) :]) * np.float32(0.5)
