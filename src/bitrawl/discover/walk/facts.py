"""What came of a walk so far: for a report, and for a person who asks why so little was found."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from bitrawl.discover.verdict import Answer
from bitrawl.discover.walk.cocitation import Cocitation
from bitrawl.discover.walk.walk import Walk

MOST_HUBS, MOST_WORDS, MOST_POINTS, MOST_REFUSED = 25, 12, 200, 200  # that a report can show; judgement


class HubFacts(msgspec.Struct, frozen=True):
    """A hub, and the bilingual sites among those that it cites."""

    hub: str
    cites: int
    judged: int
    sites: tuple[str, ...]


class WordFacts(msgspec.Struct, frozen=True):
    word: str
    odds: float
    examples: int


class WeightFacts(msgspec.Struct, frozen=True):
    feature: str
    before: float
    now: float


class WalkFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of a walk, in numbers."""

    strategy: str
    languages: tuple[str, ...]
    downloads: int
    candidates: int  # known, judged or not
    seeds: int
    bilingual_seeds: int
    answers: dict[str, int]  # judged sites by verdict
    found: int  # bilingual sites that are no seeds
    curve: tuple[tuple[int, int], ...]  # downloads, sites found
    hubs: tuple[HubFacts, ...]
    learned: dict[str, tuple[WordFacts, ...]]
    weights: tuple[WeightFacts, ...] = ()
    reasons: dict[str, int] = {}  # why sites were not judged
    refused: dict[str, str] = {}  # hosts that ask to be left alone
    has_source: bool = False
    seeds_in_source: int = 0
    notes: tuple[str, ...] = ()


def gather(walk: Walk, strategy: str, languages: tuple[str, ...]) -> WalkFacts:
    near = walk.near
    judged = [one for one in near.candidates.values() if one.verdict is not None]
    seeds = {one.host: one for one in judged if one.is_seed}
    source = near.source
    facts = WalkFacts(
        strategy=strategy,
        languages=languages,
        downloads=walk.downloads,
        candidates=len(near.candidates),
        seeds=len(walk.seeds),
        bilingual_seeds=sum(one.is_bilingual for one in seeds.values()),
        answers=dict(Counter(one.verdict.value for one in walk.standing)),
        found=walk.sites,
        curve=_curve(walk),
        hubs=tuple(_hubs(walk)),
        learned={
            name: tuple(WordFacts(*one) for one in words) for name, words in walk.plan.learned(MOST_WORDS).items()
        },
        weights=tuple(WeightFacts(*one) for one in walk.plan.weights()) if isinstance(walk.plan, Cocitation) else (),
        reasons=_reasons(walk),
        refused=dict(list(walk.refused.items())[:MOST_REFUSED]),
        has_source=source is not None,
        seeds_in_source=sum(bool(source.referrers(host, 1)) for host in walk.seeds) if source else 0,
    )
    return msgspec.structs.replace(facts, notes=(*walk.plan.notes, *_advice(facts)))


def _curve(walk: Walk) -> tuple[tuple[int, int], ...]:
    points = [(one.downloads, one.sites) for one in walk.curve]
    step = max(1, len(points) // MOST_POINTS)
    return ((0, 0), *points[::step], (walk.downloads, walk.sites))


def _hubs(walk: Walk) -> Iterator[HubFacts]:
    near = walk.near
    for one in near.citations.best_hubs(MOST_HUBS):
        cited = near.citations.cites[one.hub]
        sites = [host for host in cited if host in near.candidates and near.candidates[host].is_bilingual]
        yield HubFacts(str(one.hub), one.cites, one.judged, tuple(sites))


def _reasons(walk: Walk) -> dict[str, int]:
    """The details of verdicts that are none, the most frequent first; names and numbers in them are left out."""
    said = (one.detail.partition(" (")[0].partition(": ")[0] for one in walk.standing if one.verdict is Answer.UNKNOWN)
    return dict(Counter(detail or "no reason given" for detail in said).most_common(12))


def _advice(facts: WalkFacts) -> Iterator[str]:
    """Why nothing or little was found, and what would help."""
    if facts.has_source and not facts.seeds_in_source:
        yield "The link graph knows nobody who cites a seed. Is it built around other hosts, or for another part of the web?"
    if facts.seeds and sum(facts.answers.values()) and not facts.bilingual_seeds:
        yield (
            "No seed is a bilingual site, so there was nobody to go back from; the walk went forward. "
            "One bilingual site among the seeds helps most."
        )
    if not facts.has_source:
        yield (
            "Without a link graph, only links that the walk itself has read are known. A graph (--backlinks) would name the "
            "pages that cite each site found, and what else they cite, without a download."
        )
    judged = sum(facts.answers.values())
    if not facts.found and judged:
        told = ", ".join(f"{count} {answer}" for answer, count in facts.answers.items())
        yield f"No bilingual site was found beside the seeds: of {judged} sites judged, {told}."
