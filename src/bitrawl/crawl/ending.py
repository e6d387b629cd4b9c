"""How a crawl ended: which of the kinds it was, from what is known when it is over."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum

import msgspec

from bitrawl.facts import CrawlEnd, EndKind
from bitrawl.model import MAX_REDIRECTS, NO_ANSWER, Skip
from bitrawl.url import Url


class Ending(Enum):
    """How a run came to its end."""

    DONE = "done"  # nothing is left, or a budget is used up
    FAILED = "failed"  # no page was found, in this run or before, or none about the topic
    STOPPED = "stopped"  # by the user, with all in flight finished
    CANCELLED = "cancelled"  # by the user, at once


_COMPLETE = (EndKind.DONE, EndKind.BUDGET, EndKind.LEFT, EndKind.GAVE_UP)


class SeedSkip(msgspec.Struct, frozen=True):
    """A seed, and why it or what it redirects to is no page."""

    seed: Url
    skip: Skip


class RunRest(msgspec.Struct, frozen=True, kw_only=True):
    """What is known when a run is over."""

    stopped: bool = False  # by the user
    budget: str = ""  # the limit that was reached, as in "200 pages"
    queued: int = 0  # links
    left: Mapping[str, str] = {}  # sites that the strategy left, and why
    parked: Mapping[str, str] = {}  # hosts that are not visited any more in this run, and why
    pages: int = 0  # kept, in this run and before
    relevant: int | None = None  # of them, about the topic; None in a job without one
    seeds: Sequence[SeedSkip] = ()  # seeds that brought no page


def seed_skips(seeds: Sequence[Url], skip_of: Callable[[Url], Skip | None]) -> list[SeedSkip]:
    """Those of the seeds that were skipped, each with the skip at the end of its redirects."""
    skips = ((seed, _last_skip(seed, skip_of)) for seed in seeds)
    return [SeedSkip(seed, skip) for seed, skip in skips if skip is not None]


def crawl_end(rest: RunRest) -> CrawlEnd:
    queued = rest.queued
    if rest.stopped:
        return CrawlEnd(kind=EndKind.STOPPED, queued=queued)
    if rest.pages and rest.relevant == 0:
        return CrawlEnd(kind=EndKind.OFF_TOPIC, pages=rest.pages, budget=rest.budget, queued=queued)
    if not rest.pages:
        return msgspec.structs.replace(_without_page(rest), budget=rest.budget, queued=queued)
    if rest.budget:
        return CrawlEnd(kind=EndKind.BUDGET, budget=rest.budget, queued=queued)
    if rest.left and queued:
        return _named(EndKind.LEFT, rest.left, queued)
    return _named(EndKind.GAVE_UP, rest.parked, queued) if rest.parked else CrawlEnd(kind=EndKind.DONE)


def ending(end: CrawlEnd) -> Ending:
    """Whether a crawl that ended so has failed."""
    if end.kind is EndKind.STOPPED:
        return Ending.STOPPED
    return Ending.DONE if end.kind in _COMPLETE else Ending.FAILED


def _without_page(rest: RunRest) -> CrawlEnd:
    if rest.seeds:
        seed, skip = rest.seeds[0].seed, rest.seeds[0].skip
        kind = EndKind.SEED_SILENT if skip.reason in NO_ANSWER else EndKind.SEED_SKIPPED
        return CrawlEnd(
            kind=kind,
            seed=str(seed),
            target="" if skip.url == seed else str(skip.url),
            reason=skip.reason,
            status=skip.status,
            why=skip.detail,
            others=len(rest.seeds) - 1,
        )
    if rest.parked:
        return _named(EndKind.NO_ANSWER, rest.parked)
    return _named(EndKind.ONLY_LEFT, rest.left) if rest.left else CrawlEnd(kind=EndKind.NO_PAGE)


def _named(kind: EndKind, reasons: Mapping[str, str], queued: int = 0) -> CrawlEnd:
    name, why = next(iter(reasons.items()))
    return CrawlEnd(kind=kind, name=name, why=why, others=len(reasons) - 1, queued=queued)


def _last_skip(url: Url, skip_of: Callable[[Url], Skip | None]) -> Skip | None:
    skip = skip_of(url)
    for _ in range(MAX_REDIRECTS):
        target = skip.target if skip else None
        if target is None:
            break
        skip = skip_of(target) or skip
    return skip
