"""Transformers that judge URLs, loaded by name or path: what the models of languages and of pairs share.

García-Romero et al. 2024, sections 2 and 3; needs the extra `neural`. Their own are Transducens/xlm-roberta-base-url2lang
and Transducens/xlm-roberta-base-parallel-urls-classifier on Hugging Face; `training/url_transformers.py` makes others
like them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import ConfigError

Rows = NDArray[np.float32]
Texts = tuple[str, ...]  # what a model is asked about: one URL, or two

BATCH = 64  # judgement
REMEMBERED = 50_000  # URLs: 40 MB with the 162 labels of the published model; judgement
MAX_TOKENS = 256  # as the published models were trained
# Not of `tokens`: the published models were given URLs that were cut so, signs in a row together.
_PIECE = re.compile(r"[^\W_0-9]+|[0-9]+|_+|[^\w\s]+")


def url_text(url: str) -> str:
    """Without protocol and last slash, unescaped, words, numbers and signs apart (García-Romero et al., section 2).

    The paper speaks of HTML entities; what the published models were given is URLs without percent-escapes.
    """
    bare = url.partition("://")[2] or url
    text = unquote(bare.rstrip("/"), errors="backslashreplace")
    # A lone surrogate is no UTF-8, and the tokenizers raise on it.
    return " ".join(_PIECE.findall(text)).encode("utf-8", "replace").decode()


def load_classifier(model: str, *, batch: int = BATCH) -> "Classifier":
    """Raises `ConfigError`, also for a model that was never trained to classify. A name may be downloaded."""
    transformers = need_transformers(model)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        loaded, report = transformers.AutoModelForSequenceClassification.from_pretrained(
            model, trust_remote_code=False, output_loading_info=True
        )
    # Several libraries raise here what they like: OSError, ValueError, RuntimeError, the errors of their HTTP client.
    except Exception as error:
        raise ConfigError(
            f"the URL model {model} cannot be loaded; give the path of a folder with a sequence classifier of"
            " transformers, or the name of a public one, as Transducens/xlm-roberta-base-url2lang, which is downloaded"
            f" where the network allows it ({first_line(error)})"
        ) from error
    if report["missing_keys"]:
        raise ConfigError(
            f"{model} was not trained to classify: {', '.join(sorted(report['missing_keys'])[:2])} is missing;"
            " fine-tune it with bitrawl train url-language-transformer or url-pairs-transformer"
        )
    return Classifier(model, loaded, tokenizer, batch=batch)


def need_transformers(model: str) -> Any:
    """The library, with what it computes with; raises `ConfigError`."""
    try:
        import torch  # noqa: F401, PLC0415 an extra, and seconds to import
        import transformers  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(f'the URL model {model} needs the extra "neural": pip install "bitrawl[neural]"') from error
    return transformers


class Classifier:
    """A model of transformers with its tokenizer, on a GPU where there is one."""

    def __init__(self, name: str, model: Any, tokenizer: Any, *, batch: int = BATCH) -> None:
        import torch  # noqa: PLC0415

        self.name, self.model, self.tokenizer = name, model, tokenizer
        self.labels: tuple[str, ...] = tuple(str(model.config.id2label[n]) for n in range(model.config.num_labels))
        self._batch = batch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        model.to(self._device).eval()
        # RoBERTa and its kin count positions from 2.
        self._longest = min(MAX_TOKENS, getattr(model.config, "max_position_embeddings", MAX_TOKENS + 2) - 2)

    def logits(self, texts: Sequence[Texts]) -> Rows:
        """A row for each, a column for each label."""
        import torch  # noqa: PLC0415

        tokens = self.tokens(texts)
        rows = np.zeros((len(texts), len(self.labels)), np.float32)
        with torch.inference_mode():
            for places in batches(tokens, self._batch):
                rows[places] = self.outputs([tokens[place] for place in places]).float().cpu().numpy()
        return np.nan_to_num(rows)

    def outputs(self, tokens: Sequence[Sequence[int]]) -> Any:
        """Of one batch, as a tensor that remembers how it came about where the caller is training."""
        import torch  # noqa: PLC0415

        width = max(map(len, tokens))
        padding = self.tokenizer.pad_token_id or 0
        ids = torch.tensor([[*some, *[padding] * (width - len(some))] for some in tokens], device=self._device)
        mask = torch.tensor([[1] * len(some) + [0] * (width - len(some)) for some in tokens], device=self._device)
        return self.model(input_ids=ids, attention_mask=mask).logits

    def tokens(self, texts: Sequence[Texts]) -> list[list[int]]:
        """Two URLs with one separator between (figure 4), where XLM-RoBERTa's own way with two texts has two."""
        if not texts:
            return []
        separator = self.tokenizer.sep_token or " "
        found: list[list[int]] = self.tokenizer([separator.join(some) for some in texts])["input_ids"]
        return [
            tokens if len(tokens) <= self._longest else self._shortened(some)
            for some, tokens in zip(texts, found, strict=True)
        ]

    def _shortened(self, texts: Texts) -> list[int]:
        """An even share of each: cut at the end, a long first URL would leave nothing of the second."""
        share = (self._longest - len(texts) - 1) // len(texts)
        tokens = [self.tokenizer.cls_token_id]
        for text in texts:
            tokens += self.tokenizer(text, add_special_tokens=False)["input_ids"][:share]
            tokens.append(self.tokenizer.sep_token_id)
        return [token for token in tokens if token is not None]


def batches(tokens: Sequence[Sequence[int]], size: int) -> Iterator[list[int]]:
    """Places, the shortest first: those of one length go together, so that little is padded."""
    order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def first_line(error: Exception) -> str:
    """Of what it says; its type where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def softmax(logits: Rows) -> Rows:
    """Rows of scores as rows of probabilities."""
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Rows = chances / chances.sum(axis=1, keepdims=True)
    return shares
