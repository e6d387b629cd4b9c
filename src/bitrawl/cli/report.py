"""`bitrawl report`: draw the report of a job."""

import typer

from bitrawl.cli.console import out as console
from bitrawl.cli.flags import Folder
from bitrawl.cli.help import HelpfulCommand
from bitrawl.job.folder import JobFolder
from bitrawl.job.reporting import write_report
from bitrawl.job.site_search import draw_report

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command(cls=HelpfulCommand)
def report(folder: Folder) -> None:
    """Draw the report of a job: one HTML file that opens offline.

    Example: [bold]bitrawl report jobs/example[/]
    """
    JobFolder(folder).job()
    console.print(str(draw_report(JobFolder(folder)) or write_report(folder)), markup=False)
