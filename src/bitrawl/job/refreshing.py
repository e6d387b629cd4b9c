"""Visit a finished job again, as one more round, and tell what a round has changed."""

import datetime as dt
import shlex
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple, Self

import msgspec

from bitrawl.config import Job
from bitrawl.errors import ConfigError
from bitrawl.job.exporting import corpus_units
from bitrawl.model import pair_key, segment_key
from bitrawl.protocols import Clock
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger, listed
from bitrawl.store.rounds import PAIR, UNIT, Changes, HistoryEntry, Rounds
from bitrawl.store.stored_findings import Findings


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


def begin_round(job: Job, folder: JobFolder, clock: Clock, *, without: Iterable[str] = ()) -> None:
    """Begin the next round, without these sites, unless the last one is not finished: that goes on."""
    if not folder.ledger.exists():
        return
    with folder.writing() as ledger:
        if not ledger.is_finished():
            return
        if ledger.rounds.number == 1:  # A job that is never visited again does without.
            note_findings(job, folder, ledger)
        lost = ledger.rounds.lost()
        listed_again = lost.intersection(listed(ledger)) if lost else lost
        with ledger.transaction():
            for site in list(ledger.sites()):
                ledger.learn(msgspec.structs.replace(site, left=""))
            ledger.rounds.begin(clock.date(), float(ledger.recall("seconds") or 0), listed_again)
            ledger.rounds.leave_out(without)


def note_findings(job: Job, folder: JobFolder, ledger: Ledger) -> None:
    """Remember which page pairs and units there are in this round."""
    ledger.rounds.note(PAIR, _pairs(ledger))
    units = corpus_units(job, folder.path)
    ledger.rounds.note(UNIT, (HistoryEntry(segment_key(unit.pair.a.text, unit.pair.b.text)) for _, unit in units))


def _pairs(ledger: Ledger) -> Iterator[HistoryEntry]:
    findings = Findings(ledger)
    for languages in findings.language_pairs():
        for pair in findings.pairs(*languages):
            if not pair.partial:
                yield HistoryEntry(pair_key(pair.url_a, pair.url_b), f"{pair.url_a} {pair.url_b}")


class Since(NamedTuple):
    """Which round one is compared with, as `--since` names it: "3", or the last one before a date, "2026-11-18"."""

    text: str = ""  # empty: the last round but one
    round: int | None = None
    date: float | None = None

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises `ConfigError` if that is neither a number nor a date."""
        if not text or text.isdecimal():
            return cls(text, int(text) if text else None)
        try:
            date = dt.datetime.fromisoformat(text)
        except ValueError:
            raise ConfigError(f"--since {text} is neither the number of a round nor a date like 2026-11-18") from None
        return cls(text, date=date.replace(tzinfo=date.tzinfo or dt.UTC).timestamp())

    def number(self, rounds: Rounds, last: int) -> int:
        """Of a job in a run with so many rounds: one that began later has fewer, which are counted from the last."""
        if self.date is not None:
            return rounds.last_before(self.date)
        return max(0, rounds.number - last + (last - 1 if self.round is None else self.round))

    def check(self, number: int, last: int, where: str, again: str) -> None:
        """Raise `ConfigError` if there is no later round than that one. `again` says how to visit it again."""
        if last == 1:
            raise ConfigError(
                f"{where} has been visited once, so there is nothing to compare. To visit it again, {again}"
            )
        if number >= last:
            raise ConfigError(f"--since {self.text}: the last round is {last}; name an earlier one, or an earlier date")


def changes(folder: JobFolder, since: str = "") -> RoundChanges:
    """What has changed since that round, see `Since`. Raises `ConfigError` if there is none."""
    wanted = Since.read(since)
    with folder.reading() as ledger:
        rounds = ledger.rounds
        number = wanted.number(rounds, rounds.number)
        again = f"run: bitrawl mine --refresh --out {shlex.quote(str(folder.path))}"
        wanted.check(number, rounds.number, str(folder.path), again)
    return changes_since(folder, number)


def changes_of_parts(jobs: Iterable[JobFolder], since: str, last: int, where: str) -> RoundChanges:
    """What has changed in all jobs of a run with so many rounds; a job that began later has fewer."""
    wanted = Since.read(since)
    wanted.check(wanted.round or 0, last, where, "add --refresh to its command")
    found: list[RoundChanges] = []
    for folder in jobs:
        with folder.reading() as ledger:
            number, behind = wanted.number(ledger.rounds, last), last - ledger.rounds.number
        if number < last - behind:
            found.append(msgspec.structs.replace(changes_since(folder, number), since=number + behind))
    return RoundChanges(
        min((each.since for each in found), default=last),
        last,
        Changes.of_all([each.pages for each in found]),
        Changes.of_all([each.pairs for each in found]),
        UnitChanges(tuple(text for each in found for text in each.units.new), sum(each.units.gone for each in found)),
    )


def changes_since(folder: JobFolder, number: int) -> RoundChanges:
    """What has changed since that round. Of a job that was visited once, everything."""
    with folder.reading() as ledger:
        rounds = ledger.rounds
        pages = rounds.pages_since(number)
        new, old, gone = rounds.history_since(PAIR, number)
        new_units, _, gone_units = rounds.history_since(UNIT, number)
        is_first = rounds.number == 1  # What is found is noted from the second round on.
        new = dict(_pairs(ledger)) if is_first else new
    touched = set(pages.changed)
    changed = tuple(both for both in old.values() if touched.intersection(both.split()))
    pairs = Changes(tuple(new.values()), changed, tuple(gone.values()))
    texts = _texts(folder, None if is_first else new_units)
    return RoundChanges(number, rounds.number, pages, pairs, UnitChanges(tuple(sorted(texts)), len(gone_units)))


def _texts(folder: JobFolder, keys: Collection[str] | None) -> Iterator[tuple[str, str]]:
    """Of the units with these keys, or of all."""
    if keys is not None and not keys:
        return
    for _, unit in corpus_units(folder.job(), folder.path):
        texts = unit.pair.a.text, unit.pair.b.text
        if keys is None or segment_key(*texts) in keys:
            yield texts
