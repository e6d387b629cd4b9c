"""How far a job is, and whether a process is working on it."""

from enum import StrEnum

import msgspec

from bitrawl.errors import StoreError
from bitrawl.files import NO_JSON
from bitrawl.jobs.folder import JobFolder
from bitrawl.store.findings import Findings
from bitrawl.store.ledger import Ledger
from bitrawl.store.statistics import fault_counts, killed_count
from bitrawl.store.summary import Summary, summarise


class State(StrEnum):
    """What a job is doing, by its lock and its last words."""

    RUNNING = "running"
    ENDED = "ended"
    INTERRUPTED = "interrupted"  # killed: the same command resumes


class CorpusCount(msgspec.Struct, frozen=True):
    """What was found for two languages."""

    pairs: int  # of pages
    segments: int  # aligned, good or not
    units: int = 0  # in the corpus as it was written last


class JobStatus(msgspec.Struct, frozen=True):
    """One moment of a job."""

    state: State
    ended: str  # how the last run ended
    doing: str  # what is being mined now
    crawl: Summary
    corpora: dict[str, CorpusCount] = {}  # by languages: "en-fr"
    faults: dict[str, int] = {}  # what could not be mined, by "stage: reason"
    killed: int = 0  # pages, page pairs and sites that are left out only until the next run
    verb: str = "mine"  # of the command that was run last, and that resumes


def status(folder: JobFolder) -> JobStatus:
    """Raises `StoreError` where there is no job."""
    running = folder.is_running
    ledger = folder.reading()
    try:
        summary = summarise(ledger)
        verb = ledger.last_run().verb
        corpora = _corpora(folder, ledger)
        killed = killed_count(ledger)
        faults = {f"{one.stage}: {one.reason}": one.count for one in fault_counts(ledger)}
    finally:
        ledger.close()
    state = State.RUNNING if running else State.ENDED if summary.ended and not summary.mining else State.INTERRUPTED
    return JobStatus(state, summary.ended, summary.mining, summary, corpora, faults, killed, verb)


def counts_of(folder: JobFolder) -> dict[str, CorpusCount]:
    """What was found so far, by languages; nothing where there is no job yet."""
    try:
        ledger = folder.reading()
    except StoreError:
        return {}
    try:
        return _corpora(folder, ledger)
    finally:
        ledger.close()


def _corpora(folder: JobFolder, ledger: Ledger) -> dict[str, CorpusCount]:
    units = written_units(folder)
    counts = Findings(ledger).counts().items()
    return {name: CorpusCount(pairs, segments, units.get(name, 0)) for name, (pairs, segments) in counts}


def written_units(folder: JobFolder) -> dict[str, int]:
    """In the corpus as it was written last, by languages; nothing where none was written."""
    try:
        written = msgspec.json.decode((folder.corpus / "summary.json").read_bytes(), type=dict[str, dict[str, object]])
    except (OSError, *NO_JSON):
        return {}
    return {name: units for name, one in written.items() if isinstance(units := one.get("units"), int)}
