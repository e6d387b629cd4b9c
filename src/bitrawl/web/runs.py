"""Runs over many sites (`bitrawl mine --sites` in bundles), as the app shows them beside jobs. It only looks at them."""

import time
from pathlib import Path

from bitrawl.cluster.bundles import BUNDLES, PROGRESS
from bitrawl.cluster.run import FAILED, MERGED, existing_run
from bitrawl.errors import BitrawlError
from bitrawl.facts import State
from bitrawl.job.folder import JobFolder
from bitrawl.job.live_facts import Live
from bitrawl.web.job_state import JobState
from bitrawl.web.messages import quoted, said

SILENT = 60.0  # seconds without a word of any bundle: then nobody is at work; they tell every few seconds


def is_run(folder: JobFolder) -> bool:
    return (folder.path / BUNDLES).is_file()


def merged_files(folder: JobFolder) -> list[str]:
    """What merging has written, by paths in the folder of the run."""
    merged = folder.path / MERGED
    found = (*sorted(merged.glob("corpus/*")), merged / "sites.tsv", merged / FAILED)
    return [str(path.relative_to(folder.path)) for path in found if path.is_file()]


def state_of_run(folder: JobFolder, now: float | None = None) -> JobState:
    """By what is done, and by when a bundle last told how far it is."""
    try:
        run = existing_run(str(folder.path))
    except BitrawlError as error:
        return JobState(State.FAILED, quoted(str(error)))
    if run is None or not run.tally.left:
        return JobState(State.ENDED, said("all sites are done"))
    told = [path.stat().st_mtime for path in Path(folder.path, PROGRESS).glob("*.json")]
    date = time.time() if now is None else now
    if any(abs(date - at) < SILENT for at in told):  # one from the future was written before somebody set the date back
        return JobState(State.RUNNING, said("{left} sites are left", left=run.tally.left))
    return JobState(State.INTERRUPTED, said("{left} sites are left", left=run.tally.left))


def figures_of_run(folder: JobFolder, now: float) -> Live:
    """Sums over its bundles."""
    try:
        run = existing_run(str(folder.path))
    except BitrawlError as error:
        return Live(at=now, fault=str(error))
    if run is None:
        return Live(at=now)
    sums = run.tally.finished + run.running()
    failed = {one.failed.partition(",")[0]: 0 for one in run.tally.failed}
    for one in run.tally.failed:
        failed[one.failed.partition(",")[0]] += 1
    return Live(
        at=now,
        fetched=sums.fetches,
        pages=sums.pages,
        bytes=sums.bytes,
        sites=sums.sites,
        pairs={"": sums.pairs},
        segments=sums.segments,
        units={"": sums.units},
        skips=failed,
    )
