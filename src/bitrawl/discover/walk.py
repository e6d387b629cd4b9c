"""The walk over the web as a strategy of the ordinary crawl: it checks candidates, reads hubs, and lets a plan order them.

`gather` says what came of a walk so far: for a report, and for a person who asks why so little was found.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from bitrawl.discover.backlinks import Backlinks
from bitrawl.discover.cocitation import Cocitation, Weight
from bitrawl.discover.graph_files import without_www
from bitrawl.discover.graph_index import HostLanguages
from bitrawl.discover.settings import WALKS, Walk
from bitrawl.discover.site_lists import SiteAnswer, SiteCheck, SiteVerdict
from bitrawl.discover.walk_plan import (
    BACKLINKS,
    LearnedWord,
    Neighbourhood,
    PlacedLinkWords,
    Plan,
    SiteCandidate,
    WalkStep,
)
from bitrawl.errors import GraphError
from bitrawl.model import Advice, Capture, Language, Lease, Link, LinkKind, Page, SiteKnowledge, Skip, Visit
from bitrawl.protocols import BacklinkSource, Fetcher
from bitrawl.reasons import NO_ANSWER, Reason, Stage
from bitrawl.url import Url

FRONT = 64  # steps in the frontier; the others stay with the plan, which can then reorder them
MOST_PAGES = 8  # of one host, whatever asks for them
KEPT_PAGES = 50  # in memory, for checks of sites with several hosts; some 10 MB
MOST_CITING = 5  # pages that a verdict names
GO_ON = 0.999  # the score of a page that a check waits for: a site that was begun is finished first
MOST_HUBS, MOST_WORDS, MOST_POINTS, MOST_REFUSED = 25, 12, 200, 200  # that a report can show
_LOWEST, _HIGHEST = 0.01, 0.99  # scores of everything else
_OPT_OUTS = frozenset({Reason.OPT_OUT, Reason.RATE_LIMITED})

NewCheck = Callable[[Link], SiteCheck]


class WalkMoment(NamedTuple):
    """A moment of the walk."""

    downloads: int
    sites: int  # bilingual ones, without the seeds


def new_walk(
    name: Walk,
    languages: Sequence[Language],
    source: BacklinkSource | None,
    new_check: NewCheck,
    counted: HostLanguages | None = None,
) -> "DiscoveryWalk":
    """A new walk that knows nothing yet. The source is None without a link graph, `counted` without an index of languages."""
    near = Neighbourhood(PlacedLinkWords(languages), source)
    plan: Plan
    if name is Walk.COCITATION:
        plan = Cocitation(near, counted.evidence if counted else None)
    else:
        plan = WALKS.loaded(name)(near)
    return DiscoveryWalk(near, plan, new_check)


class DiscoveryWalk:
    """A `LinkScorer` whose links all come from its advice: what pages link to is not queued by itself."""

    def __init__(self, near: Neighbourhood, plan: Plan, new_check: NewCheck) -> None:
        self.near = near
        self.plan = plan
        self._new_check = new_check
        self.verdicts: list[SiteVerdict] = []  # in the order in which they were reached
        self._overruled: set[int] = set()  # places in the list of verdicts: a second check came later
        self.seeds: set[str] = set()  # hosts
        self.downloads = 0
        self.sites = 0
        self.curve: list[WalkMoment] = []
        self.refused: dict[str, str] = {}  # hosts that ask to be left alone, and how
        self._out: dict[Url, WalkStep] = {}  # queued
        self._new: list[Link] = []  # to be queued with the next advice
        # Queued for another candidate: a site may have several hosts.
        self._awaited: dict[Url, list[SiteCandidate]] = {}
        self._recent: dict[Url, Page] = {}  # pages that another candidate's check may ask for
        self._offered: set[Url] = set()  # queued with the last advice, unless the scope refuses them

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:  # noqa: ARG002
        return [self._score(link) for link in links]

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:  # noqa: ARG002
        self._drop_refused()
        url, outcome = visit.lease.link.url, visit.outcome
        if url not in self.near.visited:  # The parts of a sitemap are told one by one.
            self.near.visited.add(url)
            self._count(visit)
        step = self._out.pop(url, None)
        if step is None:
            return
        if isinstance(outcome, Page):
            self.plan.read(step, outcome)
        elif isinstance(outcome, Skip) and outcome.target is not None:
            self._move(step, outcome.target)
        if isinstance(outcome, Page):
            self._recent[url] = outcome
            if len(self._recent) > KEPT_PAGES:
                del self._recent[next(iter(self._recent))]
        for candidate in (step.candidate, *self._awaited.pop(url, ())):
            if candidate is not None:
                self._tell(candidate, visit)

    def advise(self, site: SiteKnowledge) -> Advice:  # noqa: ARG002
        self._drop_refused()
        room = FRONT - len(self._out)
        if room > 0:
            for step in self.plan.steps(room, idle=not self._out):
                self._queue(step)
        links, self._new = tuple(self._new), []
        self._offered = {link.url for link in links}
        changed = self.plan.values([step for step in self._out.values() if step.value < GO_ON])
        return Advice(tuple((url, self._keep_value(url, value)) for url, value in changed), links)

    @property
    def found(self) -> list[SiteVerdict]:
        """The bilingual sites, the surest first, then the largest."""
        sites = [verdict for verdict in self.standing if verdict.verdict is SiteAnswer.BILINGUAL]
        return sorted(sites, key=lambda verdict: (-verdict.probability, -verdict.pages, verdict.site))

    @property
    def standing(self) -> list[SiteVerdict]:
        """One verdict for each site: the last one."""
        return [verdict for place, verdict in enumerate(self.verdicts) if place not in self._overruled]

    def _score(self, link: Link) -> float:
        if link.kind is LinkKind.SEED:
            self._seed(link)
            return 1.0
        step = self._out.get(link.url)
        self._offered.discard(link.url)
        return _score_of(step.value) if step else 0.0

    def _seed(self, link: Link) -> None:
        if link.url in self._out or link.url in self.near.visited:
            return
        candidate = self.near.candidate(link)
        self.seeds.add(candidate.host)
        candidate.is_seed = candidate.is_queued = True
        if candidate.check is None:
            self._begin(candidate, link)
            self._new.clear()  # The seed is queued already.
        self._out[link.url] = WalkStep(link, GO_ON, candidate)

    def _queue(self, step: WalkStep) -> None:
        """The plan chose it. A candidate that is not checked yet is checked from there."""
        url = step.link.url
        host = without_www(url.host)
        if (
            url in self._out
            or url in self.near.visited
            or host in self.refused
            or self.near.pages_of[host] >= MOST_PAGES
        ):
            return
        if step.candidate is not None and step.candidate.check is None:
            step.candidate.is_queued = True
            self._begin(step.candidate, step.link, step.value)
        else:
            self._out[url] = step
            self._new.append(step.link)

    def _begin(self, candidate: SiteCandidate, entry: Link, value: float = GO_ON) -> None:
        candidate.check = self._new_check(entry)
        self._want(candidate, value)

    def _want(self, candidate: SiteCandidate, value: float = GO_ON) -> None:
        """Queue what its check asks for."""
        if candidate.check is None:
            return
        for link in candidate.check.wanted():
            if link.url in self.near.visited:
                skip = Skip(link.url, Stage.FRONTIER, Reason.STRATEGY, "it was visited before")
                candidate.check.saw(Visit(Lease(link, 0.0), self._recent.get(link.url, skip)))
                continue
            candidate.waiting.add(link.url)
            if link.url in self._out:
                self._awaited.setdefault(link.url, []).append(candidate)
            else:
                self._out[link.url] = WalkStep(link, value, candidate)
                self._new.append(link)

    def _tell(self, candidate: SiteCandidate, visit: Visit) -> None:
        """A page of the candidate came, or did not."""
        check, host = candidate.check, candidate.host
        if check is None or candidate.verdict is not None:
            return
        candidate.waiting.discard(visit.lease.link.url)
        outcome = visit.outcome
        if isinstance(outcome, Skip) and outcome.reason in _OPT_OUTS:
            self.refused[host] = f"{outcome.reason}: {outcome.detail}".removesuffix(": ")
            self._conclude(candidate, _unknown(host, f"it asks to be left alone ({self.refused[host]})"))
            return
        check.saw(visit)
        if check.verdict is None and self.near.pages_of[host] < MOST_PAGES:
            self._want(candidate)
        if check.verdict is None and candidate.waiting:
            return
        verdict = check.verdict or _unknown(host, "the pages that may be fetched from one site were not enough to tell")
        failed = candidate.guessed and isinstance(outcome, Skip) and verdict.verdict is SiteAnswer.UNKNOWN
        if failed and (entry := self._another_entry(candidate, outcome)) is not None:
            candidate.check = None
            candidate.waiting.clear()
            self._begin(candidate, entry)
            return
        self._conclude(candidate, verdict)
        candidate.failed = candidate.verdict if failed else None

    def _another_entry(self, candidate: SiteCandidate, outcome: object) -> Link | None:
        """For a candidate whose made-up address failed: with www., which some graphs strip, then where a page links to it."""
        silent = isinstance(outcome, Skip) and outcome.reason in NO_ANSWER
        if silent and not candidate.has_www:
            candidate.has_www = True
            return Link(Url.parse(f"https://www.{candidate.host}/"), LinkKind.PAGE)
        linked = candidate.linked
        if linked is None or linked.url in self.near.visited:
            return None
        candidate.guessed = False
        return linked

    def _conclude(self, candidate: SiteCandidate, verdict: SiteVerdict) -> None:
        host = candidate.host
        citing = self.near.citing_pages(host, MOST_CITING)
        candidate.verdict = msgspec.structs.replace(
            verdict, downloads=max(verdict.downloads, self.near.pages_of[host]), cited_by=verdict.cited_by or citing
        )
        candidate.check = None  # with the pages that it holds
        candidate.waiting.clear()
        if candidate.failed is not None:
            self._overruled.add(self.verdicts.index(candidate.failed))
            candidate.failed = None
        self.verdicts.append(candidate.verdict)
        self.near.citations.judge(host, bilingual=candidate.is_bilingual)
        self.sites += candidate.is_bilingual and not candidate.is_seed
        self.curve.append(WalkMoment(self.downloads, self.sites))
        self.plan.judged(candidate)

    def _move(self, step: WalkStep, target: Url) -> None:
        """The target of a redirect stands for the page, and its host for the candidate."""
        if target in self.near.visited:
            return
        if step.candidate is not None:
            host = without_www(target.host)
            other = self.near.candidates.setdefault(host, step.candidate)
            if other is not step.candidate and (other.is_queued or other.verdict is not None):
                detail = f"it redirects to {target.host}, which is checked separately"
                self._conclude(step.candidate, _unknown(step.candidate.host, detail))
                return
            self.near.candidates[host] = step.candidate
            step.candidate.waiting.add(target)
        self._out[target] = WalkStep(step.link, GO_ON, step.candidate)

    def _drop_refused(self) -> None:
        """What the scope refused is never visited: the check hears of it now."""
        offered, self._offered = self._offered, set()
        for url in offered:
            step = self._out.pop(url, None)
            if step is not None and step.candidate is not None:
                skip = Skip(url, Stage.SCOPE, Reason.EXCLUDED, "outside the scope of the job")
                self._tell(step.candidate, Visit(Lease(step.link, 0.0), skip))

    def _count(self, visit: Visit) -> None:
        if visit.is_download:
            self.downloads += 1
            self.near.pages_of[without_www(visit.lease.link.url.host)] += 1

    def _keep_value(self, url: Url, value: float) -> float:
        self._out[url] = self._out[url]._replace(value=value)
        return _score_of(value)


class AskingFetcher:
    """Asks services who cites a site as soon as a second page of it is fetched: only then can it turn out bilingual."""

    def __init__(self, inner: Fetcher, source: Backlinks, walk: DiscoveryWalk) -> None:
        self._inner = inner
        self._source = source
        self._walk = walk

    async def fetch(self, link: Link) -> Capture | Skip:
        host = without_www(link.url.host)
        if self._walk.near.pages_of[host]:
            try:
                await self._source.prefetch([host], BACKLINKS)
            except GraphError as error:  # the search goes on with what is known
                self._walk.plan.notes.append(f"{error}. No links to {host} were looked up.")
        return await self._inner.fetch(link)


def _score_of(value: float) -> float:
    return GO_ON if value >= GO_ON else _LOWEST + (_HIGHEST - _LOWEST) * value


def _unknown(host: str, detail: str) -> SiteVerdict:
    return SiteVerdict(host, SiteAnswer.UNKNOWN, detail=detail)


class HubFacts(msgspec.Struct, frozen=True):
    """A hub, and the bilingual sites among those that it cites."""

    hub: str
    cites: int
    judged: int
    sites: tuple[str, ...]


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
    learned: dict[str, tuple[LearnedWord, ...]]
    weights: tuple[Weight, ...] = ()
    reasons: dict[str, int] = {}  # why sites were not judged
    refused: dict[str, str] = {}  # hosts that ask to be left alone
    has_source: bool = False
    seeds_in_source: int = 0
    notes: tuple[str, ...] = ()


def gather(walk: DiscoveryWalk, strategy: str, languages: tuple[str, ...]) -> WalkFacts:
    near = walk.near
    judged = [candidate for candidate in near.candidates.values() if candidate.verdict is not None]
    seeds = {candidate.host: candidate for candidate in judged if candidate.is_seed}
    source = near.source
    facts = WalkFacts(
        strategy=strategy,
        languages=languages,
        downloads=walk.downloads,
        candidates=len(near.candidates),
        seeds=len(walk.seeds),
        bilingual_seeds=sum(candidate.is_bilingual for candidate in seeds.values()),
        answers=dict(Counter(verdict.verdict.value for verdict in walk.standing)),
        found=walk.sites,
        curve=_curve(walk),
        hubs=tuple(_hubs(walk)),
        learned={name: tuple(words) for name, words in walk.plan.learned(MOST_WORDS).items()},
        weights=tuple(walk.plan.weights()) if isinstance(walk.plan, Cocitation) else (),
        reasons=_reasons(walk),
        refused=dict(list(walk.refused.items())[:MOST_REFUSED]),
        has_source=source is not None,
        seeds_in_source=sum(bool(source.referrers(host, 1)) for host in walk.seeds) if source else 0,
    )
    return msgspec.structs.replace(facts, notes=(*walk.plan.notes, *_advice(facts)))


def _curve(walk: DiscoveryWalk) -> tuple[tuple[int, int], ...]:
    points = [(moment.downloads, moment.sites) for moment in walk.curve]
    step = max(1, len(points) // MOST_POINTS)
    return ((0, 0), *points[::step], (walk.downloads, walk.sites))


def _hubs(walk: DiscoveryWalk) -> Iterator[HubFacts]:
    near = walk.near
    for hub in near.citations.best_hubs(MOST_HUBS):
        cited = near.citations.cites[hub.hub]
        sites = [host for host in cited if host in near.candidates and near.candidates[host].is_bilingual]
        yield HubFacts(str(hub.hub), hub.cites, hub.judged, tuple(sites))


def _reasons(walk: DiscoveryWalk) -> dict[str, int]:
    """The details of verdicts that are none, the most frequent first; names and numbers in them are left out."""
    details = (
        verdict.detail.partition(" (")[0].partition(": ")[0]
        for verdict in walk.standing
        if verdict.verdict is SiteAnswer.UNKNOWN
    )
    return dict(Counter(detail or "no reason given" for detail in details).most_common(12))


def _advice(facts: WalkFacts) -> Iterator[str]:
    """Why nothing or little was found, and what would help."""
    if facts.has_source and not facts.seeds_in_source:
        yield "No page in the link graph cites a seed. Was it built around other hosts, or for another part of the web?"
    if facts.seeds and sum(facts.answers.values()) and not facts.bilingual_seeds:
        yield (
            "No seed is a bilingual site, so there was no site to go back from; the walk went forward. "
            "One bilingual site among the seeds helps most."
        )
    if not facts.has_source:
        yield (
            "Without a link graph, only links that the walk itself has read are known. A graph (--backlinks) would name the "
            "pages that cite each site found, and what else they cite, without a download."
        )
    judged = sum(facts.answers.values())
    if not facts.found and judged:
        counts = ", ".join(f"{count} {answer}" for answer, count in facts.answers.items())
        yield f"No bilingual site was found besides the seeds. Sites judged: {judged} ({counts})."
