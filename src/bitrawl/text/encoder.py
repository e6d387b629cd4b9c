"""Sentence encoders of sentence-transformers, loaded by name or path. They need the extra `neural`.

A bounded cache for rows of numbers that are expensive to compute.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import ConfigError
from bitrawl.protocols import Encoder

Rows = NDArray[np.float32]


class RememberedRows:
    """Rows by key. A row is computed once while it is remembered; the least recently used is forgotten first."""

    def __init__(self, compute: Callable[[Sequence[Any]], Rows], room: int, width: int = 0) -> None:
        self._compute, self._room, self._width = compute, room, width
        self._known: OrderedDict[Hashable, Rows] = OrderedDict()

    def rows(self, keys: Sequence[Hashable]) -> Rows:
        """One row for each key, in their order. Without keys, an array with no rows and `width` columns."""
        if not keys:
            return np.zeros((0, self._width), np.float32)
        fresh = [key for key in dict.fromkeys(keys) if key not in self._known]
        if fresh:
            # Copies, because a view would keep its whole batch in memory.
            self._known.update((key, row.copy()) for key, row in zip(fresh, self._compute(fresh), strict=True))
        for key in keys:
            self._known.move_to_end(key)
        rows = np.array([self._known[key] for key in keys], np.float32)
        while len(self._known) > self._room:
            self._known.popitem(last=False)
        return rows


REMEMBERED = 50_000  # Texts; judgement: 150 MB of vectors with LaBSE's 768 numbers each.


def load_encoder(model: str) -> Encoder:
    """Load a model by its name or by the path of its folder. Raises `ConfigError`. A name may be downloaded."""
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 an extra, and takes seconds to import
    except ImportError as error:
        raise ConfigError(f'the encoder {model} needs the extra "neural": pip install "bitrawl[neural]"') from error
    try:
        loaded = SentenceTransformer(model)
    # Four libraries raise many kinds of errors here: OSError, ValueError, RuntimeError, errors of their HTTP clients.
    except Exception as error:
        raise ConfigError(
            f"the encoder {model} cannot be loaded; give the path of a folder with a sentence-transformers model, or"
            " the name of a public one, such as sentence-transformers/LaBSE, which is then downloaded"
            f" ({_first_line(error)})"
        ) from error
    return Remembering(Transformer(loaded))


class Transformer:
    """Adapts a model of sentence-transformers to `Encoder`."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def encode(self, texts: Sequence[str]) -> Rows:
        # A lone surrogate is not valid UTF-8, and the tokenizers raise on it.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        found = self._model.encode(clean, show_progress_bar=False, convert_to_numpy=True)
        rows = np.nan_to_num(np.asarray(found, np.float32))
        rows[[not text.strip() for text in texts]] = 0.0  # otherwise it would be the vector of the begin and end marks
        unit: Rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return unit


class Remembering:
    """Encodes a text once while it is remembered. The least recently used is forgotten first."""

    def __init__(self, encoder: Encoder, room: int = REMEMBERED) -> None:
        self._memory = RememberedRows(encoder.encode, room)

    def encode(self, texts: Sequence[str]) -> Rows:
        return self._memory.rows(texts)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
