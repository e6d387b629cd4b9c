"""How each model of the package is loaded, to check those that a job brings in their place."""

from collections.abc import Callable
from pathlib import Path

from bitrawl.discover.suggestions import LinkPredictor
from bitrawl.errors import ConfigError
from bitrawl.mine.page_score import ScoreModel
from bitrawl.mine.segment_score import SegmentScore
from bitrawl.model_files import check_model_names, replacements
from bitrawl.page.boilerplate import BoilerplateClassifier
from bitrawl.strategies.adaptive.site_scorer import read_weights
from bitrawl.text.frequencies import read_tables
from bitrawl.text.language import LanguageNgrams
from bitrawl.urls.language_model import UrlLanguageData
from bitrawl.urls.pair_model import load_trees
from bitrawl.urls.site_pairs import MatchingModels

LOADERS: dict[str, tuple[Callable[[Path], object], ...]] = {
    "adaptive.json": (read_weights,),
    "boilerplate.npz": (BoilerplateClassifier.load,),
    "frequencies.npz": (read_tables,),
    "language.npz": (LanguageNgrams.load,),
    "link-predictor.npz": (LinkPredictor.load,),
    "pairs.npz": (ScoreModel.load,),
    "segments.npz": (SegmentScore.load,),
    "url-language.npz": (UrlLanguageData.load,),
    "url-pairs.npz": (load_trees, MatchingModels.load),
}


def check_models(folder: str) -> None:
    """Raise `ConfigError` if a model in the folder cannot be loaded."""
    check_model_names(folder)
    for path in replacements(folder):
        for load in LOADERS[path.name]:
            try:
                load(path)
            except Exception as error:
                raise ConfigError(
                    f"models: {path} cannot be loaded as {path.stem} ({type(error).__name__}: {error});"
                    f" make it again: python -m lab.train {path.stem}"
                ) from error
