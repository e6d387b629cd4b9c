"""How a crawl ended: which of the kinds it was, from what is known when it is over."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum

import msgspec

from bitrawl.endings import CrawlEnd, EndKind, Limit, ParkReason, State
from bitrawl.model import MAX_REDIRECTS, Skip
from bitrawl.reasons import NO_ANSWER, LeaveReason
from bitrawl.url import Url


class Ending(Enum):
    """How a run came to its end."""

    DONE = "done"  # nothing is left to visit, or nothing that is worth it
    BUDGET = "budget"  # used up: with a larger one, the same command goes on
    FAILED = "failed"  # no page was found, in this run or before, or none about the topic
    STOPPED = "stopped"  # by the user, with all in flight finished


class SeedSkip(msgspec.Struct, frozen=True):
    """A seed, and why it or what it redirects to is no page."""

    seed: Url
    skip: Skip


def seed_skips(seeds: Sequence[Url], skip_of: Callable[[Url], Skip | None]) -> list[SeedSkip]:
    """Those of the seeds that were skipped, each with the skip at the end of its redirects."""
    chains = ((seed, skip_chain(seed, skip_of)) for seed in seeds)
    return [SeedSkip(seed, chain[-1]) for seed, chain in chains if chain]


def skip_chain(url: Url, skip_of: Callable[[Url], Skip | None]) -> list[Skip]:
    """Why the link is no page, and why each target of its redirects is none. It ends before a page or a queued link."""
    chain: list[Skip] = []
    target: Url | None = url
    while target is not None and len(chain) <= MAX_REDIRECTS and (skip := skip_of(target)) is not None:
        chain.append(skip)
        target = skip.target
    return chain


def crawl_end(  # noqa: PLR0913 - each may be why it ended
    *,
    stopped: bool = False,
    budget: Limit | None = None,
    queued: int = 0,
    left: Mapping[str, LeaveReason] | None = None,
    parked: Mapping[str, ParkReason] | None = None,
    pages: int = 0,
    relevant: int | None = None,
    seeds: Sequence[SeedSkip] = (),
) -> CrawlEnd:
    """How a run ended that was stopped by the user, or reached a limit of its budget, or has come to its end.

    `left` has the sites that the strategy left, `parked` the hosts that are not visited any more in this run, each with
    the reason. `pages` were kept in this run and before, and `relevant` of them are about the topic: None in a job without
    one. `seeds` are those that brought no page.
    """
    if stopped:
        return CrawlEnd(kind=EndKind.STOPPED, queued=queued)
    if not pages:
        return msgspec.structs.replace(_without_page(left, parked, seeds), budget=budget, queued=queued)
    if relevant == 0:
        return CrawlEnd(kind=EndKind.OFF_TOPIC, pages=pages, budget=budget, queued=queued)
    if budget:
        return CrawlEnd(kind=EndKind.BUDGET, budget=budget, queued=queued)
    if left and queued:
        return _named(EndKind.LEFT, left, queued)
    return _named(EndKind.GAVE_UP, parked, queued) if parked else CrawlEnd(kind=EndKind.DONE)


def ending(end: CrawlEnd) -> Ending:
    """Whether a crawl that ended so has failed."""
    if end.kind is EndKind.STOPPED:
        return Ending.STOPPED
    if end.kind is EndKind.BUDGET:
        return Ending.BUDGET
    return Ending.DONE if end.state is State.ENDED else Ending.FAILED


def _without_page(
    left: Mapping[str, LeaveReason] | None, parked: Mapping[str, ParkReason] | None, seeds: Sequence[SeedSkip]
) -> CrawlEnd:
    if seeds:
        seed, skip = seeds[0].seed, seeds[0].skip
        kind = EndKind.SEED_SILENT if skip.reason in NO_ANSWER else EndKind.SEED_SKIPPED
        return CrawlEnd(
            kind=kind,
            seed=str(seed),
            target="" if skip.url == seed else str(skip.url),
            reason=skip.reason,
            status=skip.status,
            why=skip.detail,
            others=len(seeds) - 1,
        )
    if parked:
        return _named(EndKind.NO_ANSWER, parked)
    return _named(EndKind.ONLY_LEFT, left) if left else CrawlEnd(kind=EndKind.NO_PAGE)


def _named(kind: EndKind, reasons: Mapping[str, LeaveReason | ParkReason], queued: int = 0) -> CrawlEnd:
    name, why = next(iter(reasons.items()))
    return CrawlEnd(kind=kind, name=name, why=why, others=len(reasons) - 1, queued=queued)
