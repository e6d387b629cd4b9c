"""Sentence encoders of sentence-transformers, loaded by name or path. They need the extra `neural`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bitrawl.errors import ConfigError
from bitrawl.packages import extra
from bitrawl.protocols import Encoder
from bitrawl.text.arrays import Floats32, RememberedRows

REMEMBERED = 50_000  # texts: 150 MB of vectors with LaBSE's 768 numbers each


def load_encoder(model: str) -> Encoder:
    """Load a model by its name or by the path of its folder. Raises `ConfigError`. A name may be downloaded."""
    with extra("neural", f"the encoder {model} needs sentence-transformers"):
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 an extra, and takes seconds to import
    try:
        loaded = SentenceTransformer(model)
    # Four libraries raise many kinds of errors here: OSError, ValueError, RuntimeError, errors of their HTTP clients.
    except Exception as error:
        raise ConfigError(
            f"the encoder {model} cannot be loaded; give the path of a folder with a sentence-transformers model, or"
            " the name of a public one, such as sentence-transformers/LaBSE, which is then downloaded"
            f" ({first_line(error)})"
        ) from error
    return Transformer(loaded)


class Transformer:
    """An `Encoder` from a model of sentence-transformers. A text is encoded once while it is remembered."""

    def __init__(self, model: Any, *, room: int = REMEMBERED) -> None:
        self._model = model
        self._memory = RememberedRows(self._compute, room)

    def encode(self, texts: Sequence[str]) -> Floats32:
        return self._memory.rows(texts)

    def _compute(self, texts: Sequence[str]) -> Floats32:
        # A lone surrogate is not valid UTF-8, and the tokenizers raise on it.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        vectors = self._model.encode(clean, show_progress_bar=False, convert_to_numpy=True)
        rows = np.nan_to_num(np.asarray(vectors, np.float32))
        rows[[not text.strip() for text in texts]] = 0.0  # otherwise it would be the vector of the begin and end marks
        unit: Floats32 = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return unit


def first_line(error: Exception) -> str:
    """The first line of its message, or its type if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
