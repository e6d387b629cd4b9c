"""`bitrawl train`: make the models that the package ships, from data that you have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


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
    match model:
        case Model.BOILERPLATE:
            from bitrawl.page.boilerplate_training import train as run  # noqa: PLC0415 (an extra's dependencies)
        case Model.LANGUAGE:
            from bitrawl.text.language_training import train as run  # noqa: PLC0415
    run(data, out)
