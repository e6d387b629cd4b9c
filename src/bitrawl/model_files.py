"""Which file each model is read from: the package's own, or its replacement in a folder that a job names.

The folder holds within `models_from`, also for tasks and child processes (`process.py`) that begin there. Nobody passes it on:
models are read in many places, most of them far below the job, and one that was forgotten would silently be the package's.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from bitrawl.errors import ConfigError
from bitrawl.packages import loaded

PACKAGE = Path(__file__).parent / "models"
CARD = ".md"  # a model's card may lie beside it
WORDS = "words"

LOADERS = {
    "adaptive.json": ("bitrawl.strategies.adaptive.site_scorer:read_weights",),
    "boilerplate.npz": ("bitrawl.page.boilerplate:BoilerplateClassifier.load",),
    "frequencies.npz": ("bitrawl.text.frequencies:read_tables",),
    "language.npz": ("bitrawl.text.language:LanguageNgrams.load",),
    "link-predictor.npz": ("bitrawl.discover.suggestions:LinkPredictor.load",),
    "pairs.npz": ("bitrawl.mining.page_score:ScoreModel.load",),
    "segments.npz": tuple(f"bitrawl.mining.segment_score:SegmentScore.{load}" for load in ("load", "load_known")),
    "url-language.npz": ("bitrawl.urls.language_model:LinearUrlLanguageModel.load",),
    "url-pairs.npz": ("bitrawl.urls.pair_model:TreeUrlPairModel.load", "bitrawl.urls.site_pairs:MatchingModels.load"),
}
"""What reads each model, called with its path."""

_folder: ContextVar[str] = ContextVar("folder of models", default="")


def model_file(name: str) -> Path:
    """Where to read that model from, here and now."""
    return _file(_folder.get(), name)


def models_folder() -> str:
    """The folder whose models replace the package's here and now; empty if there is none."""
    return _folder.get()


@contextmanager
def models_from(folder: str) -> Iterator[None]:
    """Until it is left, models of that folder replace the package's. An empty name is the package alone.

    Raises `ConfigError` if the folder is not on this machine, or has a file that is no model.
    """
    check_model_names(folder)
    before = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(before)


def model_names() -> list[str]:
    """The names that a file in such a folder may have."""
    return sorted(path.name for path in PACKAGE.iterdir() if _is_model(path))


def replacements(folder: str) -> list[Path]:
    """The models in that folder, by name."""
    return sorted(path for path in Path(folder).iterdir() if _is_model(path)) if folder else []


def check_model_names(folder: str) -> None:
    """Raise `ConfigError` unless each file of the folder is named like a model; `check_models` loads them."""
    names = model_names()
    try:
        unknown = [path.name for path in replacements(folder) if path.name not in names]
    except (OSError, ValueError) as error:  # a name that no file can have is a `ValueError`
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"models: the folder {folder} cannot be read: {why}") from error
    if unknown:
        raise ConfigError(
            f"models: {folder} has {', '.join(unknown)}, which is not a model; the models are {', '.join(names)}"
        )


def check_models(folder: str) -> None:
    """Raise `ConfigError` if a model in the folder cannot be loaded."""
    check_model_names(folder)
    for path in replacements(folder):
        for load in LOADERS[path.name]:
            try:
                loaded(load)(path)
            except Exception as error:
                # Not the error's own words: numpy's advice for a damaged file is to load it unsafely.
                raise ConfigError(
                    f"models: {path} is damaged, or is not a model of the kind {path.stem};"
                    f" make it again in a clone of bitrawl: python -m lab.train {path.stem}"
                ) from error


def models_digest(folder: str) -> bytes:
    """Changes when a model of the folder does; empty without a folder."""
    digest = hashlib.blake2b(digest_size=16)
    for path in replacements(folder):
        digest.update(path.name.encode() + b"\n" + hashlib.blake2b(path.read_bytes()).digest())
    return digest.digest() if folder else b""


def _is_model(path: Path) -> bool:
    """The words are a folder, and cannot be replaced."""
    return path.suffix != CARD and path.name != WORDS


@lru_cache
def _file(folder: str, name: str) -> Path:
    replacement = Path(folder, name)
    return replacement if folder and replacement.is_file() else PACKAGE / name
