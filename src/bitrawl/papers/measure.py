"""How soon a strategy completed the pairs of a site, compared with the best order.

A fetch is each answer that the loop requests in the hope of a page: pages, redirects and missing pages (a URL that is
not archived is a 404). Sitemaps, robots.txt and probes are counted apart. A link that robots.txt or the trap rules stop
costs nothing. The x axis of a site is the number of fetches of exhaustive breadth-first, for every strategy. A pair is
complete when both of its pages were fetched and kept.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import ceil

import msgspec

from bitrawl.papers.trial import ReplayRun, Truth, UrlPair
from bitrawl.url import Url

MARKS = (5, 10, 25, 50, 75, 100)
"""Percentages of the x axis at which the complete pairs are counted."""

ALMOST_ALL = 0.95  # the last pairs of a site are often out of reach


class TrialFigures(msgspec.Struct, frozen=True):
    """How good a run was. None if the strategy does not tell, or never got there."""

    strategy: str
    fetched: int
    pairs: int  # completed
    at_marks: tuple[int, ...]  # pairs complete at each of MARKS
    area: float | None  # under the harvest curve, relative to the best possible order
    area_reachable: float | None  # the same with only the pairs that breadth-first completes
    until_almost_all: int | None  # fetches until 95 % of the pairs that breadth-first completes
    until_per_page: float | None  # the same, divided by the number of pages of those pairs
    examined_per_pair: float | None
    precision: float | None
    stopped_at: int | None
    stop_reason: str
    stop_lost: int | None  # pairs completed after it; if the replay ended there, the pairs that breadth-first has more
    # fetches made after it; if the replay ended there, the fetches that breadth-first makes more
    stop_saved: int | None
    apart: dict[str, int]
    faults: int
    curve: tuple[int, ...]  # pairs complete after each fetch, along the whole x axis


class SiteTrials(msgspec.Struct, frozen=True):
    """All strategies on one site."""

    site: str
    truth: Truth
    length: int  # of the x axis: the fetches of exhaustive breadth-first
    pages: int  # how many of them brought pages
    reachable: int  # pairs that breadth-first completes
    best: tuple[int, ...]  # pairs complete after each fetch in the best order
    figures: tuple[TrialFigures, ...]
    languages: dict[str, int] = {}  # pages of breadth-first, by language


def measure(run: ReplayRun, truth: Truth, reference: ReplayRun) -> TrialFigures:
    """Compare a run with the truth. `reference` is exhaustive breadth-first on the same site; it defines the x axis."""
    length = len(reference.kept)
    curve = harvest(run.kept, truth.pairs, length)
    reachable = frozenset(_complete(reference.kept, truth.pairs))
    until = _until(run.kept, reachable)
    final = harvest(run.kept, truth.pairs, len(run.kept))
    stop = run.stop
    all_pairs, all_fetches = (len(reachable), length) if run.stopped else (_after(final, len(final)), len(final))
    counted = None if run.reported is None else run.reported - truth.uncounted
    right = None if counted is None else len(counted & truth.pairs)
    return TrialFigures(
        strategy=run.strategy,
        fetched=len(run.kept),
        pairs=_after(final, len(final)),
        at_marks=tuple(curve[max(0, round(mark * length / 100) - 1)] if length else 0 for mark in MARKS),
        area=_area(curve, truth.pairs),
        area_reachable=_area(harvest(run.kept, reachable, length), reachable),
        until_almost_all=until,
        until_per_page=None if until is None else until / len({url for pair in reachable for url in pair}),
        examined_per_pair=_per_pair(run, truth, right),
        precision=right / len(counted) if counted and right is not None else None,
        stopped_at=stop.at if stop else None,
        stop_reason=stop.reason if stop else "",
        stop_lost=all_pairs - _after(final, stop.at) if stop else None,
        stop_saved=all_fetches - stop.at if stop else None,
        apart=run.apart,
        faults=run.faults,
        curve=curve,
    )


def harvest(pages: Sequence[Url | None], pairs: Iterable[UrlPair], length: int) -> tuple[int, ...]:
    """Pairs complete after each fetch. After the last fetch the number stays the same, up to `length`."""
    gains = [0] * length
    for at in _complete(pages, pairs).values():
        if at < length:
            gains[at] += 1
    return tuple(accumulate(gains))


def best_harvest(pairs: Iterable[UrlPair], length: int) -> tuple[int, ...]:
    """Pairs complete after each fetch in the best possible order, whether links lead there or not.

    It fetches the pages of pairs two by two. Of pages with several partners, the one with the most comes first,
    followed by its partners, each of which completes a pair.
    """
    gains: list[int] = []
    fetched: set[Url] = set()
    partners: dict[Url, set[Url]] = defaultdict(set)
    for a, b in pairs:
        partners[a].add(b)
        partners[b].add(a)
    for hub in sorted(partners, key=lambda url: (-len(partners[url]), url)):
        for url in (hub, *sorted(partners[hub], key=lambda url: (-len(partners[url]), url))):
            if url not in fetched:
                gains.append(len(partners[url] & fetched))
                fetched.add(url)
    gains += [0] * (length - len(gains))
    return tuple(accumulate(gains[:length]))


def _complete(pages: Sequence[Url | None], pairs: Iterable[UrlPair]) -> dict[UrlPair, int]:
    """The fetch, counted from 0, that completed each pair. Pairs that were not completed are left out."""
    first = {url: at for at, url in reversed(list(enumerate(pages))) if url is not None}
    return {(a, b): max(first[a], first[b]) for a, b in pairs if a in first and b in first}


def _area(curve: Sequence[int], pairs: frozenset[UrlPair]) -> float | None:
    best = sum(best_harvest(pairs, len(curve)))
    return sum(curve) / best if best else None


def _until(pages: Sequence[Url | None], pairs: frozenset[UrlPair]) -> int | None:
    """Fetches until almost all of those pairs are complete."""
    ends = sorted(_complete(pages, pairs).values())
    needed = ceil(ALMOST_ALL * len(pairs))
    return ends[needed - 1] + 1 if needed and len(ends) >= needed else None


def _after(curve: Sequence[int], fetches: int) -> int:
    return curve[fetches - 1] if fetches else 0


def _per_pair(run: ReplayRun, truth: Truth, right: int | None) -> float | None:
    """Candidates per correctly accepted pair. Pairs that nobody can judge are left out on both sides."""
    if run.examined is None or not right:
        return None
    return (run.examined - len((run.reported or frozenset()) & truth.uncounted)) / right
