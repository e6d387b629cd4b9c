"""Brings the reading index of a job up to date: `python -m bitrawl.jobs.reading_index FOLDER`, beside the job or after it."""

import os
import sys
from pathlib import Path

from bitrawl.errors import BitrawlError, DamagedError
from bitrawl.store.ledger import Ledger
from bitrawl.store.reading_index import INDEX, ReadingIndex
from bitrawl.store.reading_refresh import Refreshed, ledger_signature
from bitrawl.store.reading_refresh import refresh as refresh_index

# `JobFolder` knows it too, but importing it costs this short process more than its work does: 0.6 CPU s (2026-11).
LEDGER = "job.sqlite"
_NICE = 10  # judgement: crawling, mining and the web app come first


def refresh(folder: Path) -> Refreshed | None:
    """None if another process is refreshing the same index."""
    return refresh_index(folder / LEDGER, folder / INDEX)


def is_due(folder: Path) -> bool:
    """Whether something was mined since the last refresh began."""
    ledger = Ledger(folder / LEDGER, read_only=True, verified=False)
    try:
        return ledger_signature(ledger) != ReadingIndex(folder / INDEX).signature()
    except DamagedError:
        return True  # A refresh makes a damaged index again, and says so of a ledger.
    finally:
        ledger.close()


def main() -> int:
    """0 when the index is up to date or somebody else is at it, 1 for a folder that cannot be read, 2 for misuse."""
    _, *arguments = sys.argv
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m bitrawl.jobs.reading_index FOLDER\n")
        return 2
    os.nice(_NICE)
    try:
        done = refresh(Path(arguments[0]))
    except BitrawlError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(
        "another process is refreshing this index\n"
        if done is None
        else f"{done.pairs} page pairs are new, {done.removed} are gone; {done.alignments} alignments were read\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
