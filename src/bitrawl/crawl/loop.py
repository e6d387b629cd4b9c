"""The only cycle: take a link, fetch it, understand it, write it down, queue what it links to.

1. `Frontier.take` hands out the best link of a host that may be visited now.
2. The fetcher answers with a `Capture`, or with a `Skip` (robots, address, status, time, size).
3. The host is free again: it rests while the answer is analysed in another process.
4. A redirect ends its link, and its target is a new one.
5. The analyser makes a `Page` of the capture, or a `Sitemap`, or a `Skip`.
6. Opt-outs, noindex and soft 404s turn a page into a `Skip`; nofollow drops its links.
7. Scope refuses links, the strategy scores the rest.
8. Page, verdict, refused and queued links are one transaction; only then is the lease finished.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from bitrawl.crawl.fetch import redirect_target
from bitrawl.crawl.frontier import Frontier
from bitrawl.crawl.scope import Scope
from bitrawl.crawl.traps import NEAR, Traps
from bitrawl.errors import BitrawlError, ChildError, StoreError, UrlError
from bitrawl.model import (
    TRANSIENT,
    Capture,
    Lease,
    Link,
    LinkKind,
    Page,
    Reason,
    SiteKnowledge,
    Sitemap,
    Skip,
    Stage,
    Visit,
)
from bitrawl.protocols import Analyser, Clock, Fetcher, LinkScorer, Recorder
from bitrawl.url import Url

MAX_REDIRECTS = 5
MAX_SITEMAP_DEPTH = 3  # an index of indexes is already rare
MAX_SITEMAPS = 500  # files per site

_log = logging.getLogger(__name__)


class LoopSettings(msgspec.Struct, frozen=True):
    """What the loop does beside following links."""

    parallel: int = 16  # visits in flight, over all hosts
    attempts: int = 3
    follow: bool = True  # False: only the seeds, as with WARC files that are taken whole
    sitemaps: bool = True
    probe: bool = True  # ask each host once for a page that cannot exist, to know its soft 404
    opt_outs: bool = True  # honour noai and TDM reservations
    exhaustive: bool = False  # go on where the strategy expects nothing more


@dataclass
class Crawl:
    """One job's crawl, from what is queued to nothing left."""

    frontier: Frontier
    fetcher: Fetcher
    analyser: Analyser
    scorer: LinkScorer
    ledger: Recorder
    scope: Scope
    clock: Clock
    settings: LoopSettings = field(default_factory=LoopSettings)
    traps: Traps = field(default_factory=Traps)
    sitemaps_of: Callable[[str], Sequence[Url]] = lambda _origin: ()  # what an origin's robots.txt names
    observe: Callable[[Visit], None] = lambda _visit: None

    def __post_init__(self) -> None:
        self._seeds: set[Url] = set()
        self._arrived: set[str] = set()
        self._sitemaps: dict[str, int] = {}
        self._fault: BitrawlError | None = None
        self.stopped = False  # by whoever called `stop`

    async def run(self) -> None:
        """Until nothing is left, a budget is spent or `stop` is called; raises what the ledger or the archive raise."""
        slots = asyncio.Semaphore(self.settings.parallel)
        visits: set[asyncio.Task[None]] = set()
        try:
            while True:
                await slots.acquire()
                lease = await self.frontier.take()
                if lease is None:
                    break
                task = asyncio.create_task(self._visit_safely(lease))
                visits.add(task)
                task.add_done_callback(visits.discard)
                task.add_done_callback(lambda _: slots.release())
        finally:
            for task in visits:
                task.cancel()
            await asyncio.gather(*visits, return_exceptions=True)
        if self._fault is not None:
            raise self._fault

    def stop(self) -> None:
        """Finish what is in flight, and return from `run`."""
        self.stopped = True
        self.frontier.stop()

    def seed(self, links: Sequence[Link]) -> None:
        """Where the crawl begins; known seeds are not visited again."""
        self._seeds.update(link.url for link in links)
        with self.ledger.transaction():
            self._enqueue(links, None)

    def recall(self, visits: Iterable[Visit], queued: Iterable[Link] = ()) -> None:
        """Earlier visits, told to the strategy as if they had just been made: a killed run knows again what it knew.

        What is queued and stood on none of the pages that were kept (noindex, opt-outs) is told after them.
        """
        told: set[Url] = set()
        seeds: dict[Url, float] = {}  # queued anew before this, as high as ever
        for visit in visits:
            self.scorer.learn(visit, self._knowledge(visit.lease.link.url))
            page = visit.outcome if isinstance(visit.outcome, Page) else None
            told |= self._tell(self._found_by(visit), page)
            advice = self.scorer.advise(self._knowledge(visit.lease.link.url))
            told |= self._tell(advice.links, None)
            seeds.update((url, score) for url, score in advice.scores if url in self._seeds)
        self.frontier.rescore(seeds.items())
        self._tell([link for link in queued if link.url not in told], None)

    def _found_by(self, visit: Visit) -> list[Link]:
        """The links that an earlier visit brought."""
        link, outcome = visit.lease.link, visit.outcome
        if isinstance(outcome, Page):
            return [] if "nofollow" in outcome.directives else [_deeper(link, found) for found in outcome.links]
        if isinstance(outcome, Sitemap):
            return list(self._listed(link, outcome))
        if outcome.reason is Reason.REDIRECT:
            with suppress(UrlError):
                return _redirected(link, Url.parse(outcome.detail))
        return []

    def _tell(self, links: Sequence[Link], found_on: Page | None) -> set[Url]:
        """Those of the links that belong to the job, scored and not queued: they have been."""
        inside = [link for link in links if (self.scope.refusal(link) or self._reordered(link)) is None]
        for group in _by_site(inside, self.scope.sites.of):
            self.scorer.score(group, found_on, self._knowledge(group[0].url))
        return {link.url for link in inside}

    async def _visit_safely(self, lease: Lease) -> None:
        try:
            await self._visit(lease)
        except asyncio.CancelledError:
            raise
        except (StoreError, ChildError) as error:  # faults of this machine, not of the page
            self._fault = self._fault or error
            self.stop()
            self.frontier.finish(lease)
        except Exception as error:  # noqa: BLE001 (the one broad except: a page can never end a crawl)
            _log.exception("%s could not be visited", lease.link.url)
            skip = Skip(lease.link.url, Stage.ANALYSE, Reason.INTERNAL, repr(error)[:500])
            try:
                self._close(Visit(lease, skip, at=self.clock.now()))
            except BitrawlError as fault:
                self._fault = self._fault or fault
                self.stop()
                self.frontier.finish(lease)

    async def _visit(self, lease: Lease) -> None:
        link = lease.link
        refusal = self.traps.closed(link.url) if link.kind is LinkKind.PAGE else ""
        if refusal:
            skip = Skip(link.url, Stage.FRONTIER, Reason.TRAP, refusal)
            self._conclude(Visit(lease, skip, at=self.clock.now()), ())
            return
        started = self.clock.now()
        answer = await self.fetcher.fetch(link)
        visit = _visit_of(lease, answer, at=started, took=self.clock.now() - started)
        if isinstance(answer, Skip):
            self._missed(visit, answer)
            return
        if link.kind is not LinkKind.PROBE:  # nothing else is asked of its host before it is understood
            self.frontier.fetched(lease, took=visit.took)
        if 300 <= answer.status < 400:
            skip, links = _moved(link, answer)
            self._conclude(msgspec.structs.replace(visit, outcome=skip), links)
            return
        outcome = await self.analyser.analyse(answer, index=link.kind is LinkKind.INDEX)
        if link.kind is LinkKind.PROBE:
            self.frontier.fetched(lease, took=visit.took)
        self._understood(visit, outcome)

    def _missed(self, visit: Visit, skip: Skip) -> None:
        """No answer to analyse: tried again when that may help, a verdict otherwise."""
        lease = visit.lease
        transient = skip.reason in TRANSIENT
        if skip.stage is not Stage.ROBOTS or transient:
            self.frontier.fetched(
                lease, took=visit.took, failed=skip.reason if transient else "", retry_after=skip.retry_after
            )
        if transient and lease.attempt < self.settings.attempts:
            with self.ledger.transaction():
                self.ledger.record(visit, final=False)
                self.frontier.finish(lease, retry=True)
            self.observe(visit)
            return
        self._conclude(visit, ())

    def _understood(self, visit: Visit, outcome: Page | Sitemap | Skip) -> None:
        link = visit.lease.link
        links: Sequence[Link] = ()
        page = outcome if isinstance(outcome, Page) else None
        if link.kind is LinkKind.PROBE:
            self._know_missing(link.url, page.signature if page else 0)
            outcome = Skip(
                link.url, Stage.ANALYSE, Reason.PROBE, "what the host answers to an address that cannot exist"
            )
        elif isinstance(outcome, Sitemap):
            links = list(self._listed(link, outcome))
        elif page is not None:
            self.traps.visited(link.url, page.signature)
            if "nofollow" not in page.directives and not self.traps.worn_out(link.url, page.signature):
                links = [_deeper(link, found) for found in page.links]
            outcome = self._objection(page) or page
        self._conclude(msgspec.structs.replace(visit, outcome=outcome), links, page)

    def _objection(self, page: Page) -> Skip | None:
        """Why a page that we understand is not kept."""
        asked = set(page.directives)
        if self.settings.opt_outs and asked & {"noai", "tdm-reservation"}:
            return Skip(page.url, Stage.ROBOTS, Reason.OPT_OUT, ", ".join(sorted(asked)))
        if "noindex" in asked:
            return Skip(page.url, Stage.ROBOTS, Reason.NOINDEX)
        missing = self._knowledge(page.url).missing.get(page.url.host, 0)
        if missing and (missing ^ page.signature).bit_count() <= NEAR:
            return Skip(page.url, Stage.ANALYSE, Reason.SOFT_404, "the same text as an address that cannot exist")
        return None

    def _conclude(self, visit: Visit, links: Sequence[Link], page: Page | None = None) -> None:
        """Record, then finish: one transaction."""
        with self.ledger.transaction():
            self.ledger.record(visit)
            if self.settings.follow:
                self.scorer.learn(visit, self._knowledge(visit.lease.link.url))
                self._enqueue(links, page)
                self._name_sitemaps(visit.lease.link)
                self._follow_advice(visit.lease.link.url)
            self._finish(visit)
        self.observe(visit)

    def _close(self, visit: Visit) -> None:
        """Record and finish, and ask nobody: for what ended by a bug, be it the strategy's."""
        with self.ledger.transaction():
            self.ledger.record(visit)
            self._finish(visit)
        self.observe(visit)

    def _finish(self, visit: Visit) -> None:
        self.frontier.finish(visit.lease, pages=int(isinstance(visit.outcome, Page)), size=visit.bytes)

    def _follow_advice(self, url: Url) -> None:
        known = self._knowledge(url)
        advice = self.scorer.advise(known)
        self.frontier.rescore(advice.scores)
        if advice.links:
            self._enqueue(advice.links, None)
        if advice.leave and not known.left:
            self.ledger.learn(msgspec.structs.replace(known, left=advice.leave))
            if not self.settings.exhaustive:
                self.frontier.leave(known.site, advice.leave)

    def _enqueue(self, links: Sequence[Link], found_on: Page | None) -> None:
        refused, inside = [], []
        for link in links:
            skip = self.scope.refusal(link) or self._reordered(link)
            if skip is None:
                inside.append(link)
            else:
                refused.append((link, skip))
        for host in dict.fromkeys(link.url.host for link in inside):
            inside[:0] = self._arrive(host, inside)
        for group in _by_site(inside, self.scope.sites.of):
            scores = self.scorer.score(group, found_on, self._knowledge(group[0].url))
            scored = list(zip(group, scores, strict=True))
            refused += [(link, _unwanted(link)) for link, score in scored if score <= 0]
            self.frontier.add([(link, score) for link, score in scored if score > 0])
        self.ledger.refuse(refused)

    def _reordered(self, link: Link) -> Skip | None:
        first = self.traps.reordered(link.url) if link.kind is LinkKind.PAGE else ""
        return (
            Skip(link.url, Stage.SCOPE, Reason.TRAP, f"the parameters of {first} in another order") if first else None
        )

    def _arrive(self, host: str, links: Sequence[Link]) -> list[Link]:
        """What each new host is asked before anything else; the seen-set keeps it to once."""
        if host in self._arrived or not self.settings.follow:
            return []
        self._arrived.add(host)
        origin = next(link.url.origin for link in links if link.url.host == host)
        extras = []
        if self.settings.probe:
            name = hashlib.blake2b(host.encode(), digest_size=8).hexdigest()
            extras.append(Link(Url.parse(f"{origin}/bitrawl-asks-for-a-missing-page-{name}"), LinkKind.PROBE))
        if self.settings.sitemaps:
            extras.append(Link(Url.parse(f"{origin}/sitemap.xml"), LinkKind.INDEX))
        return extras

    def _name_sitemaps(self, link: Link) -> None:
        """After the first fetch from a host its robots.txt is known, and the sitemaps that it names."""
        if self.settings.sitemaps and link.kind in (LinkKind.PROBE, LinkKind.SEED):
            self._enqueue([Link(url, LinkKind.INDEX, link.url) for url in self.sitemaps_of(link.url.origin)], None)

    def _knowledge(self, url: Url) -> SiteKnowledge:
        return self.ledger.knowledge(self.scope.sites.of(url.host))

    def _know_missing(self, url: Url, signature: int) -> None:
        known = self._knowledge(url)
        with self.ledger.transaction():
            self.ledger.learn(msgspec.structs.replace(known, missing={**known.missing, url.host: signature}))

    def _listed(self, link: Link, sitemap: Sitemap) -> Iterator[Link]:
        site = self.scope.sites.of(link.url.host)
        for found in sitemap.links:
            if found.kind is LinkKind.INDEX:
                self._sitemaps[site] = self._sitemaps.get(site, 0) + 1
                if link.depth + 1 > MAX_SITEMAP_DEPTH or self._sitemaps[site] > MAX_SITEMAPS:
                    continue
            yield msgspec.structs.replace(found, source=link.url, depth=link.depth + 1)


def _by_site(links: Sequence[Link], site_of: Callable[[str], str]) -> Iterable[list[Link]]:
    groups: dict[str, list[Link]] = {}
    for link in links:
        groups.setdefault(site_of(link.url.host), []).append(link)
    return groups.values()


def _visit_of(lease: Lease, answer: Capture | Skip, *, at: float, took: float) -> Visit:
    if isinstance(answer, Skip):
        return Visit(lease, answer, status=answer.status, at=at, took=took)
    unread = Skip(lease.link.url, Stage.ANALYSE, Reason.INTERNAL)
    # The fetcher's own figure, where it has one: ours includes what robots.txt made it wait.
    return Visit(lease, unread, answer.status, len(answer.body), at, answer.took or took, answer.place)


def _moved(link: Link, answer: Capture) -> tuple[Skip, list[Link]]:
    """The end of a link that redirects, and the new one for its target, with all that was known of the old."""
    try:
        target = redirect_target(answer)
    except UrlError as error:
        return Skip(link.url, Stage.FETCH, Reason.REDIRECT, str(error), answer.status), []
    if link.redirects >= MAX_REDIRECTS:
        return Skip(link.url, Stage.FETCH, Reason.TOO_MANY_REDIRECTS, target, answer.status), []
    return Skip(link.url, Stage.FETCH, Reason.REDIRECT, target, answer.status), _redirected(link, target)


def _redirected(link: Link, target: Url) -> list[Link]:
    """None for what was only asked to see what is answered."""
    kind = link.kind if link.kind is LinkKind.INDEX else LinkKind.REDIRECT
    new = msgspec.structs.replace(link, url=target, kind=kind, source=link.url, redirects=link.redirects + 1)
    return [] if link.kind is LinkKind.PROBE else [new]


def _deeper(source: Link, found: Link) -> Link:
    """A translation is as deep as its original; every other link is one step further."""
    step = 0 if found.kind is LinkKind.ALTERNATE else 1
    return msgspec.structs.replace(found, depth=source.depth + step)


def _unwanted(link: Link) -> Skip:
    return Skip(link.url, Stage.SCOPE, Reason.STRATEGY, "the strategy does not follow links from that page")
