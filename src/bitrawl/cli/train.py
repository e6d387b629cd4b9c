"""`bitrawl train`: make the models that the package ships, from data that you have."""

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from bitrawl.errors import ConfigError


class Model(StrEnum):
    """What can be trained."""

    BOILERPLATE = "boilerplate"
    LANGUAGE = "language"
    URL_LANGUAGE = "url-language"
    URL_PAIRS = "url-pairs"
    SEGMENTS = "segments"
    URL_LANGUAGE_TRANSFORMER = "url-language-transformer"
    URL_PAIRS_TRANSFORMER = "url-pairs-transformer"


app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command()
def train(
    model: Annotated[Model, typer.Argument(help="Which model.")],
    *,
    data: Annotated[Path, typer.Option(help="The training data; the model's card names its public source.")],
    out: Annotated[Path, typer.Option(help="The model file to write; for a transformer a folder.")],
    base: Annotated[
        str, typer.Option(help="What a transformer is fine-tuned from, by name or path.")
    ] = "xlm-roberta-base",
) -> None:
    """Train a model of the package anew: needs the extra [bold]train[/], for transformers [bold]neural[/].

    Example: [bold]bitrawl train boilerplate --data trafilatura/ --out boilerplate.npz[/]
    """
    try:
        _train(model, data, out, base)
    except ModuleNotFoundError as error:
        raise ConfigError(f"{error.name} is missing; install the extra: pip install 'bitrawl[train]'") from error


def _train(model: Model, data: Path, out: Path, base: str) -> None:
    match model:
        case Model.BOILERPLATE:
            from bitrawl.training import boilerplate as boilerplate_training  # noqa: PLC0415 (an extra's dependencies)

            boilerplate_training.train(data, out)
        case Model.LANGUAGE:
            from bitrawl.training import language as language_training  # noqa: PLC0415

            language_training.train(data, out)
        case Model.URL_LANGUAGE:
            from bitrawl.training import url_language as url_language_training  # noqa: PLC0415

            url_language_training.train(data, out)
        case Model.URL_PAIRS:
            from bitrawl.training import url_pairs as parallel_training  # noqa: PLC0415

            parallel_training.train(data, out)
        case Model.SEGMENTS:
            import_module("bitrawl.training.segments").train(data, out)
        case Model.URL_LANGUAGE_TRANSFORMER | Model.URL_PAIRS_TRANSFORMER:
            from bitrawl.training.url_transformers import train_languages, train_pairs  # noqa: PLC0415

            tune = train_languages if model is Model.URL_LANGUAGE_TRANSFORMER else train_pairs
            history = tune(data, out, base)
            typer.echo(f"{len(history)} epochs, macro F1 {max(epoch.macro_f1 for epoch in history):.3f} on other sites")
