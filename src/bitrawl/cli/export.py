"""`bitrawl export`: write the corpus of a job again."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bitrawl.cli.flags import Folder, with_settings
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cli.status import tell
from bitrawl.config.settings import Group, described
from bitrawl.job.folder import JobFolder
from bitrawl.job.running import export as write_again
from bitrawl.job.running import export_copy

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command(cls=HelpfulCommand)
@with_settings([Group.CORPUS])
def export(
    folder: Folder,
    *,
    only: Annotated[
        bool, typer.Option("--only", help="Delete the files of all other formats.", rich_help_panel=Group.CORPUS)
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(
            help="Write into this folder and leave the job as it is; it may be running.",
            metavar="DIR",
            rich_help_panel=Group.CORPUS,
        ),
    ] = None,
    **settings: Any,
) -> None:
    """Write the corpus of a job again, in more formats or with other thresholds.

    Example: [bold]bitrawl export jobs/example --formats tmx,moses --min-score 0.4[/]

    Nothing is fetched or aligned. Formats that are there already are kept and written again.
    """
    where = JobFolder(folder)
    if to is not None:
        export_copy(where.changed(described(settings, [Group.CORPUS])), where, to)
        return
    write_again(where.changed(described(settings, [Group.CORPUS])), where, only=only)
    tell(where)
