"""`bitrawl train`: make the models that the package ships, from data that you have."""

from pathlib import Path
from typing import Annotated

import typer

from bitrawl.cli.help import HelpfulCommand, HelpfulGroup
from bitrawl.training.recipes import RECIPES, Recipe, make

app = typer.Typer(
    name="train",
    cls=HelpfulGroup,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Train a model of the package again, from data that you have.\n\n"
    "Example: [bold]bitrawl train pairs --data sites/ --out pairs.npz[/]\n\n"
    "[bold]bitrawl train MODEL --help[/] says what data a model needs and where the shipped one's came from. Most models"
    " need the extra [bold]train[/], transformers need [bold]neural[/].",
)

Data = Annotated[Path, typer.Option(help="The training data, a file or a folder; see above.")]
Out = Annotated[Path, typer.Option(help="Write the model to this file; a transformer to this new folder.")]
Cache = Annotated[
    Path | None,
    typer.Option(help="Keep analysed pages and downloads in this folder, so that the next run is quick."),
]
Base = Annotated[str, typer.Option(help="Fine-tune this transformer, by name or path.")]


def _plain(context: typer.Context, *, data: Data, out: Out) -> None:
    _train(context, data, out)


def _cached(context: typer.Context, *, data: Data, out: Out, cache: Cache = None) -> None:
    _train(context, data, out, cache=cache)


def _fine_tuned(context: typer.Context, *, data: Data, out: Out, base: Base = "xlm-roberta-base") -> None:
    _train(context, data, out, base=base)


def _train(context: typer.Context, data: Path, out: Path, **options: object) -> None:
    make(str(context.info_name), data, out, tell=typer.echo, **options)
    typer.echo(f"written to {out}")


def _help(recipe: Recipe) -> str:
    needs = f"the extra {recipe.extra}" if recipe.packages else "nothing that is not installed already"
    parts = (("Data", recipe.data), ("Source", recipe.source), ("Card", recipe.card), ("Needs", needs))
    # [b], not [bold]: in docs/reference/commands.md what is in [bold] becomes code.
    return "\n\n".join((recipe.makes, *(f"[b]{label}[/b]: {text}" for label, text in parts)))


def _summary(recipe: Recipe) -> str:
    return f"{recipe.makes} Data: {recipe.learned_from}. Card: {recipe.card}"


for _name, _recipe in RECIPES.items():
    _command = _cached if "cache" in _recipe.options else _fine_tuned if "base" in _recipe.options else _plain
    app.command(_name, cls=HelpfulCommand, help=_help(_recipe), short_help=_summary(_recipe))(_command)
