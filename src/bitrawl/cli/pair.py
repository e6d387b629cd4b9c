"""`bitrawl pair`: pair and align the pages of a job again."""

from typing import Any

import typer

from bitrawl.cli.flags import Folder, with_settings
from bitrawl.cli.foreground import Foreground
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cli.progress import Progress
from bitrawl.cli.status import tell, tell_of_kills
from bitrawl.config.settings import Group, described
from bitrawl.job.folder import JobFolder
from bitrawl.job.running import mine_again

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command(cls=HelpfulCommand)
@with_settings([Group.PAIRS])
def pair(folder: Folder, **settings: Any) -> None:
    """Pair and align the pages of a job again, with other settings.

    Example: [bold]bitrawl pair jobs/example --methods au[/]

    Nothing is fetched.
    """
    where = JobFolder(folder)
    job = where.changed(described(settings, [Group.PAIRS]))
    foreground = Foreground(Progress(where))
    foreground.run(lambda: mine_again(job, where, watch=foreground.progress.mining))
    tell(where)
    tell_of_kills(where)
