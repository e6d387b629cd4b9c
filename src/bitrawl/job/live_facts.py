"""The figures of a job while it runs, taken at most once a second, however many people look.

A full summary reads every link. Here the pages are summed over the sites, and what only the list of fetches tells is
counted on from where the last look ended.
"""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from bitrawl.errors import StoreError
from bitrawl.facts import MOST_QUEUED, HarvestPoint, Live
from bitrawl.job.reporting import written_corpora
from bitrawl.reasons import Reason
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import (
    FetchCount,
    fault_counts,
    fetch_counts,
    fetches_about,
    last_fetch,
    last_fetches,
    links_left,
    pair_counts,
    partial_count,
    segment_count,
    site_count,
)
from bitrawl.store.rounds import PageChange

EVERY = 1.0  # seconds between two looks at a job
POINTS = 200  # of the harvest curve
LOG_LINES = 20
REMEMBERED = 200  # jobs whose last look is kept, at about 30 kB each
# Fetches that are counted in one look, which takes 18 ms of CPU (lab/bench/live.py, 2026-11). A job with more is complete
# after some looks, and `counted` says how far it is.
MOST_COUNTED = 25_000
MOST_SITES = 2_000  # up to here the totals are summed over sites; beyond, over fetches
_AGAIN = frozenset((PageChange.CHANGED, Reason.UNCHANGED))  # outcomes of pages that are counted already
RATE_SECONDS = 60.0
_RATE_FETCHES = 5_000  # more in a minute is faster than a polite crawl


class Sampler:
    """Of all jobs of a server. Can be called from several threads."""

    def __init__(
        self, now: Callable[[], float] = time.time, *, most_counted: int = MOST_COUNTED, most_sites: int = MOST_SITES
    ) -> None:
        self._now = now
        self._most = most_counted, most_sites
        self._looks: OrderedDict[str, _Look] = OrderedDict()
        self._lock = threading.Lock()

    def sample(self, folder: JobFolder) -> Live:
        """The figures of now, or those of less than a second ago."""
        with self._lock:
            look = self._looks.setdefault(str(folder.path), _Look())
            self._looks.move_to_end(str(folder.path))
            while len(self._looks) > REMEMBERED:
                self._looks.popitem(last=False)
            now = self._now()
            if look.live is None or not 0 <= now - look.live.at < EVERY:
                look.live = _taken(folder, look, now, *self._most)
            return look.live

    def forget(self, folder: JobFolder) -> None:
        """A job that is deleted."""
        with self._lock:
            self._looks.pop(str(folder.path), None)


def _taken(folder: JobFolder, look: "_Look", now: float, most_counted: int, most_sites: int) -> Live:
    if not folder.ledger.exists():
        return Live(at=now)
    try:
        with folder.reading(verified=False) as ledger, ledger.snapshot():
            return _read(folder, ledger, look, now, most_counted, most_sites)
    except StoreError as error:
        return Live(at=now, fault=str(error))


def _read(folder: JobFolder, ledger: Ledger, look: "_Look", now: float, most_counted: int, most_sites: int) -> Live:
    if last_fetch(ledger) < look.counts.upto:  # the job was started over
        look.counts = _Counts()
    counts = look.counts
    counts.catch_up(ledger, most_counted)
    sites, run = site_count(ledger, most_sites + 1), ledger.last_run()
    languages = counts.languages
    if sites <= most_sites:
        languages = Counter[str]()
        for site in ledger.sites():
            languages.update(site.languages)
    written, damage = written_corpora(folder)
    return Live(
        at=now,
        fetches=last_fetch(ledger),
        pages=languages.total(),
        bytes=counts.bytes,
        sites=sites,
        languages=dict(languages.most_common()),
        relevant=counts.relevant,
        pairs=pair_counts(ledger),
        partial=partial_count(ledger),
        segments=segment_count(ledger),
        units={name: corpus.units for name, corpus in written.items() if corpus.documents is None},
        queued=links_left(ledger, MOST_QUEUED),
        rate=fetches_about(ledger, now, RATE_SECONDS, _RATE_FETCHES) * 60 / RATE_SECONDS,
        doing=str(run.doing or ""),
        ended=str(run.ended or ""),
        seconds=run.seconds,
        skips=dict(counts.skips.most_common()),
        harvest=counts.harvest(),
        counted=counts.upto,
        log=tuple(last_fetches(ledger, LOG_LINES)),
        faults={fault.name: fault.count for fault in fault_counts(ledger)},
        fault=damage,
    )


class _Counts:
    """What was counted of a job's fetches so far."""

    def __init__(self) -> None:
        self.upto = 0
        self.bytes = 0
        self.relevant: int | None = None
        self.languages: Counter[str] = Counter()
        self.skips: Counter[str] = Counter()
        self._width = 1  # of a stretch of the curve, in fetches
        self._stretches: dict[int, Counter[str]] = {}  # pages by language

    def catch_up(self, ledger: Ledger, most: int) -> None:
        """Count on from the last look."""
        last = last_fetch(ledger)
        while last >= POINTS * self._width:
            self._widen()
        upto = min(last, self.upto + most)
        for fetches in fetch_counts(ledger, after=self.upto, upto=upto, width=self._width):
            self._add(fetches)
        self.upto = upto

    def harvest(self) -> tuple[HarvestPoint, ...]:
        """A point at the end of each stretch."""
        pages: Counter[str] = Counter()
        points = []
        for stretch in sorted(self._stretches):
            pages.update(self._stretches[stretch])
            points.append(HarvestPoint(min((stretch + 1) * self._width - 1, self.upto), dict(pages)))
        return tuple(points)

    def _widen(self) -> None:
        """Twice as wide stretches, half as many."""
        self._width *= 2
        narrow, self._stretches = self._stretches, {}
        for number, pages in narrow.items():
            self._stretches.setdefault(number // 2, Counter()).update(pages)

    def _add(self, fetches: FetchCount) -> None:
        self.bytes += fetches.bytes
        if fetches.own:
            return
        if fetches.relevant is not None:
            self.relevant = (self.relevant or 0) + fetches.relevant
        pages = self._stretches.setdefault(fetches.stretch, Counter())
        if fetches.outcome == "page":
            pages[fetches.language] += fetches.count
            self.languages[fetches.language] += fetches.count
        elif fetches.outcome not in _AGAIN:
            self.skips[fetches.outcome] += fetches.count


class _Look:
    """The last look at a job."""

    def __init__(self) -> None:
        self.live: Live | None = None
        self.counts = _Counts()
