"""Visit a finished job again, as one more round, and tell what a round has changed."""

import datetime as dt
import shlex
from collections.abc import Container, Iterator

import msgspec

from bitrawl.config import Job
from bitrawl.endings import EndKind
from bitrawl.errors import ConfigError
from bitrawl.job.exporting import corpus_units
from bitrawl.job.folder import JobFolder
from bitrawl.job.ledger import Ledger
from bitrawl.job.rounds import PAIR, UNIT, Changes, HistoryEntry
from bitrawl.job.stored_findings import Findings
from bitrawl.model import pair_key, segment_key
from bitrawl.protocols import Clock


class UnitChanges(msgspec.Struct, frozen=True):
    """New units of the corpus with their texts; of those that are gone, only the number is known."""

    new: tuple[tuple[str, str], ...] = ()
    gone: int = 0


class RoundChanges(msgspec.Struct, frozen=True):
    """What has changed since the end of a round."""

    since: int
    round: int  # that it is compared with
    pages: Changes
    pairs: Changes
    units: UnitChanges


def check_refresh(job: Job) -> None:
    """Raises `ConfigError` if there is no web to be asked."""
    if job.warc or job.replay:
        raise ConfigError(
            "--refresh asks the web whether pages have changed; an archive never changes, so leave it out"
        )


def begin_round(job: Job, folder: JobFolder, clock: Clock) -> bool:
    """Begin the next round, unless the last one is not finished: that goes on. Whether one has begun."""
    check_refresh(job)
    if not folder.ledger.exists():
        return False
    with folder.writing() as ledger:
        if not _is_finished(ledger):
            return False
        if not ledger.rounds.is_ended:  # the first one, or one that was killed after the corpus was written
            note_findings(job, folder, ledger)
            ledger.rounds.end()
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


def changes(folder: JobFolder, since: str = "") -> RoundChanges:
    """What has changed since that round, or since the last one before a date: "3", "2026-11-18". Else since the last but one.

    Raises `ConfigError` if there is no such round.
    """
    with folder.reading() as ledger:
        rounds = ledger.rounds
        number = _round(since, ledger)
        if rounds.number == 1:
            raise ConfigError(
                f"{folder.path} has been visited once, so there is nothing to compare."
                f" To visit it again, run: bitrawl mine --refresh --out {shlex.quote(str(folder.path))}"
            )
        pages = rounds.pages_since(number)
        new, old, gone = rounds.history_since(PAIR, number)
        touched = set(pages.changed)
        changed = tuple(both for both in old.values() if touched.intersection(both.split()))
        new_units, _, gone_units = rounds.history_since(UNIT, number)
    pairs = Changes(tuple(new.values()), changed, tuple(gone.values()))
    texts = tuple(sorted(_texts(folder, new_units))) if new_units else ()
    return RoundChanges(number, rounds.number, pages, pairs, UnitChanges(texts, len(gone_units)))


def _round(since: str, ledger: Ledger) -> int:
    rounds = ledger.rounds
    if not since:
        return rounds.number - 1
    if since.isdecimal():
        number = int(since)
    else:
        try:
            date = dt.datetime.fromisoformat(since)
        except ValueError:
            raise ConfigError(f"--since {since} is neither the number of a round nor a date like 2026-11-18") from None
        number = rounds.last_before(date.replace(tzinfo=date.tzinfo or dt.UTC).timestamp())
    if number >= rounds.number and rounds.number > 1:
        raise ConfigError(
            f"--since {since}: the last round is {rounds.number}; name an earlier one, or an earlier date"
        )
    return number


def _texts(folder: JobFolder, keys: Container[str]) -> Iterator[tuple[str, str]]:
    for _, unit in corpus_units(folder.job(), folder.path):
        texts = unit.pair.a.text, unit.pair.b.text
        if segment_key(*texts) in keys:
            yield texts
