"""`bitrawl train`: make the models that the package ships, from data that you have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bitrawl.errors import ConfigError


class Model(StrEnum):
    """What can be trained."""

    BOILERPLATE = "boilerplate"
    LANGUAGE = "language"


def train(
    model: Annotated[Model, typer.Argument(help="Which model.")],
    *,
    data: Annotated[Path, typer.Option(help="The training data; the model's card names its public source.")],
    out: Annotated[Path, typer.Option(help="The model file to write.")],
) -> None:
    """Train a model of the package anew: needs the extra [bold]train[/].

    Example: [bold]bitrawl train boilerplate --data trafilatura/ --out boilerplate.npz[/]
    """
    try:
        _train(model, data, out)
    except ModuleNotFoundError as error:
        raise ConfigError(f"{error.name} is missing; install the extra: pip install 'bitrawl[train]'") from error


def _train(model: Model, data: Path, out: Path) -> None:
    match model:
        case Model.BOILERPLATE:
            from bitrawl.page import boilerplate_training  # noqa: PLC0415 (an extra's dependencies)

            boilerplate_training.train(data, out)
        case Model.LANGUAGE:
            from bitrawl.text import language_training  # noqa: PLC0415

            language_training.train(data, out)
