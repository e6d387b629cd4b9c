"""How a crawl ended, and the sentence that says so."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum

import msgspec

from bitrawl.model import MAX_REDIRECTS, NO_ANSWER, Reason, Skip
from bitrawl.url import Url

STOPPED_BY_YOU = "stopped by you"
"""How the sentence begins that says so."""


class Ending(Enum):
    """How a run came to its end."""

    DONE = "done"  # nothing is left, or a budget is used up
    FAILED = "failed"  # no page was found, in this run or before, or none about the topic
    STOPPED = "stopped"  # by the user, with all in flight finished
    CANCELLED = "cancelled"  # by the user, at once


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known when a run is over."""

    stopped: bool = False  # by the user
    budget: str = ""  # the limit that was reached, as in "200 pages"
    queued: int = 0  # links
    left: Mapping[str, str] = {}  # sites that the strategy left, and why
    parked: Mapping[str, str] = {}  # hosts that are not visited any more in this run, and why
    pages: int = 0  # kept, in this run and before
    relevant: int | None = None  # of them, about the topic; None in a job without one
    seeds: Sequence["SeedSkip"] = ()  # seeds that brought no page


class SeedSkip(msgspec.Struct, frozen=True):
    """A seed, and why it or what it redirects to is no page."""

    seed: Url
    skip: Skip


def seed_skips(seeds: Sequence[Url], skip_of: Callable[[Url], Skip | None]) -> list[SeedSkip]:
    """Those of the seeds that were skipped, each with the skip at the end of its redirects."""
    found = ((seed, _last_skip(seed, skip_of)) for seed in seeds)
    return [SeedSkip(seed, skip) for seed, skip in found if skip is not None]


def ending(facts: Facts) -> tuple[Ending, str]:
    """The kind, and a sentence for the user."""
    queued = f"; {_counted(facts.queued, 'link')} still queued" if facts.queued else ""
    if facts.stopped:
        return Ending.STOPPED, f"{STOPPED_BY_YOU}{queued}; resume with the same command"
    used_up = f"budget of {facts.budget} used up" if facts.budget else ""
    if not facts.pages or facts.relevant == 0:
        off_topic = f"none of {_counted(facts.pages, 'page')} is about the topic"
        why = "; ".join(part for part in (off_topic if facts.pages else _nothing_found(facts), used_up) if part)
        again = "; the same command tries again" if facts.queued and not facts.pages else ""
        return Ending.FAILED, f"{why}{queued}{again}"
    if used_up:
        return Ending.DONE, f"{used_up}{queued}"
    if facts.left and facts.queued:
        return Ending.DONE, f"left {_first(facts.left, 'site')}{queued}; --exhaustive visits them"
    if facts.parked:
        return Ending.DONE, f"gave up {_first(facts.parked, 'host')}{queued}; the same command tries again"
    return Ending.DONE, "done: nothing is left to visit"


def _nothing_found(facts: Facts) -> str:
    if facts.seeds:
        seed, skip = facts.seeds[0].seed, facts.seeds[0].skip
        others = len(facts.seeds) - 1
        more = f"; {_counted(others, 'other seed')} brought no page either" if others else ""
        if skip.reason in NO_ANSWER:
            return f"no answer came from {seed}: {skip.detail}{more}"
        return f"no page was found: the seed {_told(seed, skip)}{more}"
    if facts.parked:
        return f"no answer came from {_first(facts.parked, 'host')}"
    if facts.left:
        return f"no page was found: left {_first(facts.left, 'site')}"
    return "no page was found"


def _told(seed: Url, skip: Skip) -> str:
    """What became of a seed: "https://a.org/ answered 404 (Not Found)"."""
    start = str(seed) if skip.url == seed else f"{seed} redirects to {skip.url}, which"
    if skip.reason is Reason.ROBOTS:
        return f"{start} is disallowed by {skip.detail}"
    if skip.reason in (Reason.OFF_SITE, Reason.OFF_HOST):
        return f"{start} is on another {'site' if skip.reason is Reason.OFF_SITE else 'host'}; give that address as the seed"
    if skip.status >= 400:
        return f"{start} answered {skip.status}{f' ({skip.detail})' if skip.detail else ''}"
    return f"{start} was skipped: {skip.reason}{f' ({skip.detail})' if skip.detail else ''}"


def _last_skip(url: Url, skip_of: Callable[[Url], Skip | None]) -> Skip | None:
    skip = skip_of(url)
    for _ in range(MAX_REDIRECTS):
        target = skip.target if skip else None
        if target is None:
            break
        skip = skip_of(target) or skip
    return skip


def _first(reasons: Mapping[str, str], noun: str) -> str:
    name, why = next(iter(reasons.items()))
    others = len(reasons) - 1
    more = f" and {_counted(others, f'other {noun}')}" if others else ""
    return f"{name}{more}: {why}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
