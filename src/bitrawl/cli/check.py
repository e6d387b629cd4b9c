"""`bitrawl check`: whether the files of a job are as they were written."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from bitrawl.cli.console import out
from bitrawl.cli.flags import FolderOrPlace
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cluster.run import check_run, is_run
from bitrawl.job.folder import JobFolder
from bitrawl.job.folder_check import Condition
from bitrawl.job.folder_check import check as check_job

app = typer.Typer(rich_markup_mode="rich", add_completion=False)

_STYLES = {Condition.SOUND: "green", Condition.DAMAGED: "bold red", Condition.REPAIRED: "yellow"}


@app.command(cls=HelpfulCommand)
def check(
    folder: FolderOrPlace,
    *,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Repair what can be repaired; what is damaged is kept in the folder damaged/."),
    ] = False,
) -> None:
    """Check that the files of a job are as they were written, and repair what can be repaired.

    Example: [bold]bitrawl check jobs/example --repair[/]

    It reads the settings, the ledger, the archive, verdicts, the corpus and what is derived from them. For each part it
    says whether it is sound; if not, what is lost and what to do. Without --repair nothing is changed.
    """
    parts = check_run(folder, repair=repair) if is_run(folder) else check_job(JobFolder(Path(folder)), repair=repair)
    damaged = False
    for part in parts:
        damaged |= part.condition is Condition.DAMAGED
        out.print(Text.assemble((f"{part.condition:<9}", _STYLES[part.condition]), f"{part.name}: {part.found}"))
        if part.advice:
            out.print(Text(f"         {part.advice}"))
    if damaged:
        raise typer.Exit(1)
