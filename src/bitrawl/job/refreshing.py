"""Visit a finished job again, as one more round, and tell what a round has changed."""

from collections.abc import Iterator

import msgspec

from bitrawl.config import Job
from bitrawl.endings import EndKind
from bitrawl.errors import ConfigError
from bitrawl.job.exporting import corpus_units
from bitrawl.job.folder import JobFolder
from bitrawl.job.ledger import Ledger
from bitrawl.job.rounds import PAIR, UNIT, HistoryEntry
from bitrawl.job.stored_findings import Findings
from bitrawl.model import pair_key, segment_key
from bitrawl.protocols import Clock


def begin_round(job: Job, folder: JobFolder, clock: Clock) -> bool:
    """Begin the next round, unless the last one is not finished: that goes on. Whether one has begun."""
    if job.warc or job.replay:
        raise ConfigError(
            "--refresh asks the web whether pages have changed; an archive never changes, so leave it out"
        )
    if not folder.ledger.exists():
        return False
    with folder.writing() as ledger:
        if not _is_finished(ledger):
            return False
        if ledger.rounds.number == 1:
            note_findings(job, folder, ledger)
        for site in list(ledger.sites()):
            ledger.learn(msgspec.structs.replace(site, left=""))
        ledger.rounds.begin(clock.date(), float(ledger.recall("seconds") or 0))
        return True


def note_findings(job: Job, folder: JobFolder, ledger: Ledger) -> None:
    """Remember which page pairs and units there are in this round."""
    ledger.rounds.note(PAIR, _pairs(ledger))
    units = corpus_units(job, folder.path)
    ledger.rounds.note(UNIT, (HistoryEntry(segment_key(unit.pair.a.text, unit.pair.b.text)) for _, unit in units))


def _is_finished(ledger: Ledger) -> bool:
    """Whether there is nothing left to do in this round, or nothing that its budget allows."""
    run = ledger.last_run()
    return run.ended is not None and run.ended.kind is not EndKind.STOPPED and run.doing is None


def _pairs(ledger: Ledger) -> Iterator[HistoryEntry]:
    findings = Findings(ledger)
    for languages in findings.language_pairs():
        for pair in findings.pairs(*languages):
            yield HistoryEntry(pair_key(pair.url_a, pair.url_b), f"{pair.url_a} {pair.url_b}")
