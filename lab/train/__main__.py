"""`python -m lab.train MODEL`: make the models that the package ships, from data that you have."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from bitrawl.cli import HelpfulCommand, HelpfulGroup
from bitrawl.cli.console import complain
from bitrawl.errors import BitrawlError
from lab.train.recipes import RECIPES, Recipe, make

app = typer.Typer(
    name="python -m lab.train",
    cls=HelpfulGroup,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Train a model of the package again, from data that you have.\n\n"
    "Example: [bold]python -m lab.train pairs --data sites/ --out pairs.npz[/]\n\n"
    "[bold]python -m lab.train MODEL --help[/] says what data a model needs and where the shipped one's came from. Most models"
    " need [bold]pip install --group lab[/], transformers the extra [bold]neural[/].",
)

Data = Annotated[Path, typer.Option(help="The training data, a file or a folder; see above.")]
Out = Annotated[Path, typer.Option(help="Write the model to this file; a transformer to this new folder.")]
Cache = Annotated[
    Path | None,
    typer.Option(help="Keep analysed pages and downloads in this folder, so that the next run is quick."),
]
Only = Annotated[str, typer.Option(help="Make only these languages: fi,th")]
Base = Annotated[str, typer.Option(help="Fine-tune this transformer, by name or path.")]


def _plain(context: typer.Context, *, data: Data, out: Out) -> None:
    _train(context, data, out)


def _cached(context: typer.Context, *, data: Data, out: Out, cache: Cache = None) -> None:
    _train(context, data, out, cache=cache)


def _chosen(context: typer.Context, *, data: Data, out: Out, cache: Cache = None, only: Only = "") -> None:
    _train(context, data, out, cache=cache, only=only)


def _fine_tuned(context: typer.Context, *, data: Data, out: Out, base: Base = "xlm-roberta-base") -> None:
    _train(context, data, out, base=base)


def _train(context: typer.Context, data: Path, out: Path, **options: object) -> None:
    make(str(context.info_name), data, out, tell=typer.echo, **options)
    typer.echo(f"written to {out}")


def _help(recipe: Recipe) -> str:
    needs = escape(f"pip install {recipe.group}") if recipe.packages else "nothing that is not installed already"
    parts = (("Data", recipe.data), ("Source", recipe.source), ("Card", recipe.card), ("Needs", needs))
    return "\n\n".join((recipe.makes, *(f"[b]{label}[/b]: {text}" for label, text in parts)))


def _summary(recipe: Recipe) -> str:
    return f"{recipe.makes} Data: {recipe.learned_from}. Card: {recipe.card}"


for _name, _recipe in RECIPES.items():
    _command = _cached if "cache" in _recipe.options else _fine_tuned if "base" in _recipe.options else _plain
    _command = _chosen if "only" in _recipe.options else _command
    app.command(_name, cls=HelpfulCommand, help=_help(_recipe), short_help=_summary(_recipe))(_command)

if __name__ == "__main__":
    try:
        app(prog_name="python -m lab.train")
    except BitrawlError as error:
        complain(str(error))
        sys.exit(2)
