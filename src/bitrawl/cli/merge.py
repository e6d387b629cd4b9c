"""`bitrawl merge`: one corpus from those of several jobs."""

import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from bitrawl.cli.console import duration, err, out
from bitrawl.cli.flags import with_settings
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cluster.run import is_run, shards_of
from bitrawl.config.settings import Group, described, listed
from bitrawl.corpus.figures import MergedCounts, MergeFacts
from bitrawl.job.merging import merge as merge_jobs
from bitrawl.show.wording import counted

app = typer.Typer(rich_markup_mode="rich", add_completion=False)

TELL_EVERY = 2.0  # seconds


@app.command(cls=HelpfulCommand)
@with_settings([Group.CORPUS])
def merge(
    folders: Annotated[
        list[str],
        typer.Argument(
            help="Job folders, as given to --out of mine; also runs over many sites.",
            metavar="DIR...",
            show_default=False,
        ),
    ],
    *,
    target: Annotated[
        Path, typer.Option("--out", help="Write the merged corpus into this folder.", metavar="DIR", show_default=False)
    ],
    langs: Annotated[
        str | None,
        typer.Option(
            help="Merge only the corpora of these two languages: en,fr",
            metavar="CODES",
            rich_help_panel=Group.CORPUS,
        ),
    ] = None,
    **settings: Any,
) -> None:
    """Merge the corpora of several jobs into one, each text once.

    Example: [bold]bitrawl merge jobs/one jobs/two --out merged --formats tmx,tsv[/]

    Segments that differ only in case, punctuation or spaces become one unit with all of its sources. Each pair of
    languages is a corpus. The thresholds are those of each job unless you give others. Nothing is fetched or aligned.
    """
    progress = Progress()
    asked = listed(langs) if langs else ()
    with tempfile.TemporaryDirectory(prefix="bitrawl-merge-") as scratch:
        given = [path for number, one in enumerate(folders) for path in _jobs(one, Path(scratch, str(number)))]
        facts = merge_jobs(given, target, described(settings, [Group.CORPUS]), langs=asked, tell=progress.tell)
    show_merged(facts, str(target))


def _jobs(address: str, scratch: Path) -> list[Path]:
    """A job, or all finished parts of a run."""
    return shards_of(address, scratch) if is_run(address) else [Path(address)]


class Progress:
    """A line now and then, on standard error. A short merge says nothing."""

    def __init__(self) -> None:
        self._began = self._told = time.monotonic()

    def tell(self, what: str) -> None:
        now = time.monotonic()
        if now - self._told >= TELL_EVERY:
            self._told = now
            err.print(f"{duration(now - self._began)}  {what}", markup=False)


def show_merged(facts: MergeFacts, target: str) -> None:
    for note in facts.notes:
        err.print(note, markup=False)
    for counts in facts.corpora:
        out.print(_line(counts), markup=False)
    failed = sum(bool(one.part.why) for one in facts.sites)
    if failed:
        out.print(f"{counted(failed, 'site')} brought nothing, or something failed there: see sites.tsv", markup=False)
    out.print(f"corpus in {target}/corpus, report in {target}/report.html", markup=False)


def _line(counts: MergedCounts) -> str:
    return (
        f"{'-'.join(counts.languages)}: {counted(counts.units, 'unit')} from {counted(counts.segment_pairs, 'segment pair')}"
        f" of {counted(len(counts.parts), 'job')}; removed {counted(counts.duplicates, 'duplicate')} and"
        f" {counted(counts.near_duplicates, 'near duplicate')}"
    )
