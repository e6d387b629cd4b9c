"""The only cycle: take a link, fetch it, understand it, write it down, queue what it links to.

1. `Frontier.take` hands out the best link of a host that may be visited now, when there is a place for one more visit.
2. The fetcher answers with a `Capture`, or with a `Skip` (robots, address, status, time, size).
3. The host is free again: it rests while the answer is analysed in another process. One that need not rest waits for it.
4. A redirect ends its link, and its target is a new link.
5. The analyser makes a `Page` of the capture, or a `Sitemap`, or a `Skip`. In a job with a topic the page is judged.
   A page that scripts draw is drawn by a browser, where that brings something (`Rendering`), and read again.
6. Opt-outs, noindex and soft 404s turn a page into a `Skip`.
7. Scope refuses links; the strategy scores the rest. What may be a trap is queued last, and refused if it proves to be one.
8. The page, its verdict, and the links refused and queued are one transaction. Only then is the lease finished.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from bitrawl.crawling.fetch import understand
from bitrawl.crawling.frontier import Frontier, InFlight
from bitrawl.crawling.rendering import Rendering
from bitrawl.crawling.scope import NewLinks, Scope, sitemaps_allowed
from bitrawl.crawling.settings import Budget, Politeness
from bitrawl.crawling.traps import NEAR, SiteHosts, Traps
from bitrawl.errors import BitrawlError, ChildError, OutOfMemoryError, StoreError, lacks_memory
from bitrawl.model import (
    OWN_REQUESTS,
    Answer,
    Capture,
    DrawnBy,
    Fetch,
    Lease,
    Link,
    LinkKind,
    Page,
    SiteKnowledge,
    Sitemap,
    Skip,
    Visit,
)
from bitrawl.protocols import FIRST, UNWANTED, Analyser, Fetcher, LinkScorer, Recorder
from bitrawl.reasons import TRANSIENT, Reason, Stage
from bitrawl.url import Url, without_credentials

BELOW_FIRST = 1 - 1e-6  # the highest score of a link that was found: what a host is asked first has 1, and goes before
# What may be a trap comes even after what is `UNWANTED`; of this, what is deepest comes first, because there something new
# shows itself.
LAST = 1e-9

_log = logging.getLogger(__name__)


class LoopSettings(msgspec.Struct, frozen=True):
    """What the loop does beside following links. The defaults are those of the job file."""

    parallel: int = Politeness().parallel  # visits in flight, over all hosts
    waiting: int = 0  # more visits, which only wait for an answer; see `InFlight`
    attempts: int = Politeness().attempts
    follow: bool = True  # False: only the seeds, as with WARC files that are taken whole
    sitemaps: bool = True
    feeds: bool = True  # that pages declare
    probe: bool = True  # ask each host once for a page that cannot exist, to know its soft 404
    opt_outs: bool = True  # honour noai and TDM reservations
    exhaustive: bool = False  # visit all that is in scope: leave no site, put last what the strategy would not follow
    leave: bool = True  # False: go on where the strategy expects nothing more, as a simulation does, and only note it
    site_hosts: int = Budget().site_hosts  # hosts of one site that are visited; those of the seeds always are


class PageJudge(Protocol):
    """Says whether pages are about the job's topic."""

    def __call__(self, link: Link, page: Page) -> Page:
        """The page with its relevance."""
        ...

    def redirected(self, source: Url, target: Url) -> None:
        """Is told of each redirect."""
        ...


@dataclass(frozen=True)
class PageSource:
    """Where pages come from."""

    fetcher: Fetcher
    analyser: Analyser
    sitemaps_of: Callable[[str], Sequence[Url]] = lambda _origin: ()  # what an origin's robots.txt names
    rendering: Rendering | None = None  # draws pages with a browser; None where no scripts are run


@dataclass
class Crawl:
    """One job's crawl, from what is queued to nothing left."""

    frontier: Frontier
    source: PageSource
    scorer: LinkScorer
    ledger: Recorder
    scope: Scope
    settings: LoopSettings = field(default_factory=LoopSettings)
    judge: PageJudge | None = None  # None in a job without a topic

    def __post_init__(self) -> None:
        self.clock = self.frontier.clock
        self.traps = Traps()
        self.observers: list[Callable[[Visit], None]] = []  # told of each visit, when it is recorded
        self.seeds: list[Url] = []
        self._added: set[Url] = set()  # of them, those that an earlier run did not have; and where they redirect to
        self._new = NewLinks(
            self.scope.sites.of,
            probe=self.settings.probe and self.settings.follow,
            sitemaps=self.settings.sitemaps and self.settings.follow,
            feeds=self.settings.feeds,
        )
        self.hosts = SiteHosts(self.scope.sites.of, self.settings.site_hosts)
        self._fault: BitrawlError | None = None
        self.stopped = False  # by whoever called `stop`

    async def run(self) -> None:
        """Until nothing is left, a budget is used up or `stop` is called. Raises what the ledger or the archive raise."""
        limits = InFlight(self.settings.parallel, self.settings.waiting)
        visits: set[asyncio.Task[None]] = set()
        try:
            while lease := await self.frontier.take(limits):
                task = asyncio.create_task(self._visit_safely(lease))
                visits.add(task)
                task.add_done_callback(visits.discard)
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

    def fail(self, fault: BitrawlError) -> None:
        """As `stop`, and `run` raises the fault."""
        self._fault = self._fault or fault
        self.stop()

    def seed(self, links: Sequence[Link], added: Iterable[Url] = ()) -> None:
        """Where the crawl begins; known seeds are not visited again.

        Those that are `added` to an earlier run's come before all else, whatever its strategy thinks of them.
        """
        self.seeds += [link.url for link in links]
        hosts = {link.url.host: link.url for link in links}
        self.hosts.seed(hosts)
        with self.ledger.transaction():
            new = [url for host, url in hosts.items() if self.hosts.ask(host)]
            self._enqueue([*(first for url in new for first in self._new.first_asked(url)), *links], None)
            self._put_first(added)

    def _put_first(self, urls: Iterable[Url]) -> None:
        new = set(urls)
        self._added |= new
        self.frontier.rescore((url, FIRST) for url in sorted(new))

    def reconsider(self, batches: Iterable[Sequence[Link]]) -> None:
        """Queue those of the links refused earlier that belong to the job now."""
        for links in batches:
            with self.ledger.transaction():
                self._enqueue(links, None)

    def remember(self, sightings: Iterable[tuple[Link, Page | None]]) -> None:
        """Tell the trap rules of the pages and redirects (None) of earlier runs."""
        for link, page in sightings:
            if page is None:
                self.traps.redirected(link.url, link.source)
            else:
                self.traps.visited(page, link.source)
                self.hosts.answered(link.url, page.signature)

    def recall(self, visits: Iterable[Visit], queued: Iterable[Link] = ()) -> None:
        """Tell the strategy of earlier visits as if they had just been made: a killed run knows again what it knew.

        Queued links that stand on none of the pages that were kept (noindex, opt-outs) are told after them.
        """
        scored: set[Url] = set()
        own = frozenset(self.seeds) - self._added
        seeds: dict[Url, float] = {}  # queued anew before this, with the highest score
        for visit in visits:
            page = visit.outcome if isinstance(visit.outcome, Page) else None
            if page is not None and self.judge is not None:
                self.judge(visit.lease.link, page)
            for part in visit.parts():
                self.scorer.learn(part, self._knowledge(visit.lease.link.url))
                links = self._links_of(visit.lease.link, part.outcome)
                if page is None or not self.traps.repeats(page.url):
                    scored |= self._score_only(links, page)
            advice = self.scorer.advise(self._knowledge(visit.lease.link.url))
            scored |= self._score_only(advice.links, None)
            seeds.update((url, score) for url, score in advice.scores if url in own)
        self.frontier.rescore(seeds.items())
        self._score_only([link for link in queued if link.url not in scored], None)

    def _score_only(self, links: Sequence[Link], found_on: Page | None) -> set[Url]:
        """Score the links that belong to the job, and do not queue them: an earlier run did."""
        self.scope.new_hosts(links)
        _, inside = self._judged(links)
        for group in inside:
            self.scorer.score(group, found_on, self._knowledge(group[0].url))
        return {link.url for group in inside for link in group}

    async def _visit_safely(self, lease: Lease) -> None:
        try:
            await self._visit(lease)
        except asyncio.CancelledError:
            raise
        except (StoreError, ChildError) as error:  # faults of this machine, not of the page
            self._give_up(lease, error)
        except Exception as error:  # noqa: BLE001 (the one broad except: a page can never end a crawl)
            if lacks_memory(error):
                self._give_up(lease, OutOfMemoryError("there is no memory left"))
                return
            _log.exception("%s could not be visited", lease.link.url)
            skip = Skip(lease.link.url, Stage.ANALYSE, Reason.INTERNAL, without_credentials(repr(error))[:500])
            try:
                self._record_only(Visit(lease, skip, at=self.clock.date()))
            except BitrawlError as fault:
                self._give_up(lease, fault)

    def _give_up(self, lease: Lease, fault: BitrawlError) -> None:
        self.fail(fault)
        self.frontier.finish(lease)

    async def _visit(self, lease: Lease) -> None:
        """Steps 2 to 8 of the module's docstring."""
        link = lease.link
        refusal = None if lease.again else self._late_refusal(lease)
        if refusal is not None:
            self._conclude(Visit(lease, refusal, at=self.clock.date()))
            return
        if self.settings.follow and not lease.again and (self._comes_last(lease) or self._asks_first(lease)):
            return
        started, at = self.clock.now(), self.clock.date()
        answer = await self.source.fetcher.fetch(link)
        fetch = _fetch_of(lease, answer, at=at, took=self.clock.now() - started)
        if isinstance(answer, Skip):
            self._failed(fetch, answer)
        elif not self.frontier.welcome(lease):  # So late that the budget is used up: it stays queued for a larger one.
            self.frontier.fetched(lease, took=fetch.took)
            with self.ledger.transaction():
                self._return(lease)
        elif answer.unchanged:
            self.frontier.fetched(lease, took=fetch.took)
            self._record_only(fetch.visit(Skip(link.url, Stage.FETCH, Reason.UNCHANGED, status=answer.status)))
        elif link.kind is LinkKind.PROBE:  # nothing else is asked of its host before its answer is understood
            self._probed(fetch, await understand(link, answer, self.source.analyser))
        else:
            await self._read(fetch, answer)

    async def _read(self, fetch: Fetch, answer: Capture) -> None:
        lease, link = fetch.lease, fetch.lease.link
        if lease.score > LAST:
            self.frontier.fetched(lease, took=fetch.took)
        outcome = await understand(link, answer, self.source.analyser)
        if self.source.rendering is not None:
            fetch, outcome = await self._drawn(self.source.rendering, fetch, answer, outcome)
        if lease.score <= LAST:  # what it brings decides on the next
            self.frontier.fetched(lease, took=fetch.took)
        if isinstance(outcome, Sitemap):
            await self._list(fetch, outcome)
        elif isinstance(outcome, Page):
            self._decide(fetch, outcome)
        else:
            self._conclude(fetch.visit(outcome), self._links_of(link, outcome))

    async def _drawn(
        self, rendering: Rendering, fetch: Fetch, answer: Capture, outcome: Page | Sitemap | Skip
    ) -> tuple[Fetch, Page | Sitemap | Skip]:
        """The page as a browser draws it, where that brings something. Its host rests after the browser's requests."""
        refusal = outcome.objection(opt_outs=self.settings.opt_outs) if isinstance(outcome, Page) else None
        if refusal is not None and refusal.reason is Reason.OPT_OUT:
            return fetch, outcome
        drawn = await rendering.read(answer, outcome, self.source.analyser)
        if drawn is None:
            return fetch, outcome
        if fetch.lease.score > LAST:
            self.frontier.fetched(fetch.lease, took=fetch.took)
        # An answer that has not changed says nothing about what its scripts draw: a later round asks for all of it.
        known = fetch.answer if drawn.place is None else Answer(at=fetch.at)
        place = drawn.place or fetch.place
        fetch = msgspec.structs.replace(fetch, bytes=fetch.bytes + drawn.bytes, place=place, answer=known)
        return fetch, drawn.outcome

    def _late_refusal(self, lease: Lease) -> Skip | None:
        """Why a link that was queued is not visited after all."""
        link = lease.link
        if lease.score <= LAST and (trap := self.traps.closed(link.url, link.source)):
            return Skip(link.url, Stage.FRONTIER, Reason.TRAP, trap)
        if lease.score <= LAST and not self.settings.exhaustive and (idle := self._idle_sitemap(link)):
            return Skip(link.url, Stage.FRONTIER, Reason.TRAP, idle)
        closed = self._closed(link.url.host)
        return Skip(link.url, Stage.FRONTIER, Reason.TOO_MANY_HOSTS, closed) if closed else None

    def _comes_last(self, lease: Lease) -> bool:
        """Whether the link has to wait until nothing else is queued.

        It looks like many that brought nothing new, or it is a sitemap, and those before it list more than the job may
        visit, or next to nothing.
        """
        link = lease.link
        doubtful = link.kind is LinkKind.PAGE and self.traps.doubtful(link.url)
        budget = self.frontier.spending.budget
        pages = min((limit for limit in (budget.pages, budget.site_pages) if limit is not None), default=None)
        if lease.score <= LAST or not (doubtful or self._idle_sitemap(link, pages)):
            return False
        with self.ledger.transaction():
            self._return(lease)
            self.frontier.rescore([(link.url, _last(link))])
        return True

    def _idle_sitemap(self, link: Link, pages: int | None = None) -> str:
        """Why a sitemap is not worth its request; empty if it is, and for all other links."""
        site = self._knowledge(link.url) if link.is_named_sitemap else None
        if site is None or site.sitemaps < sitemaps_allowed(site.listed, pages):
            return ""
        return f"{site.sitemaps} sitemaps of the site were read, and list only {site.listed} addresses"

    def _asks_first(self, lease: Lease) -> bool:
        """Whether the link has to wait: it is the first that is due on its host, which is asked something else before."""
        url = lease.link.url
        first = list(self._new.first_asked(url)) if self.hosts.ask(url.host) else []
        if not first:
            return False
        with self.ledger.transaction():
            self._enqueue(first, None)
            self._return(lease)
        return True

    def _return(self, lease: Lease) -> None:
        self.frontier.finish(msgspec.structs.replace(lease, attempt=lease.attempt - 1), retry=True)

    def _failed(self, fetch: Fetch, skip: Skip) -> None:
        """There is no answer to analyse: try again when that may help, conclude otherwise."""
        lease = fetch.lease
        transient = skip.reason in TRANSIENT
        if skip.stage is not Stage.ROBOTS or transient:
            failed = skip if transient else None
            self.frontier.fetched(lease, took=fetch.took, failed=failed, retry_after=skip.retry_after)
        visit = fetch.visit(skip)
        if not transient or lease.attempt >= self.settings.attempts:
            self._conclude(visit)
            return
        with self.ledger.transaction():
            self.ledger.record(visit, final=False)
            self.frontier.finish(lease, retry=True)
        self._tell_observers(visit)

    def _tell_observers(self, visit: Visit) -> None:
        for observe in self.observers:
            observe(visit)

    def _probed(self, fetch: Fetch, outcome: Page | Sitemap | Skip) -> None:
        """What this host answers to an address that cannot exist is its soft 404."""
        if isinstance(outcome, Skip) and outcome.reason is Reason.KILLED:  # It tells nothing about the host.
            self.frontier.fetched(fetch.lease, took=fetch.took)
            self._conclude(fetch.visit(outcome))
            return
        url = fetch.lease.link.url
        signature = outcome.signature if isinstance(outcome, Page) else 0
        site = self._knowledge(url)
        with self.ledger.transaction():
            self.ledger.learn(msgspec.structs.replace(site, missing={**site.missing, url.host: signature}))
        self.frontier.fetched(fetch.lease, took=fetch.took)
        detail = "what the host answers to an address that cannot exist"
        self._conclude(fetch.visit(Skip(url, Stage.ANALYSE, Reason.PROBE, detail)))

    async def _list(self, fetch: Fetch, sitemap: Sitemap) -> None:
        """Queue what a sitemap lists, part by part, with a turn for the other visits in between.

        The sitemap is recorded with its last part: a run that is killed before that reads it again.
        """
        link = fetch.lease.link
        visit = fetch.visit(sitemap)
        parts = visit.parts()
        part = next(parts)
        for following in parts:
            with self.ledger.transaction():
                self._follow(part, self._new.links_of(link, part.outcome))
            await asyncio.sleep(0)
            part = following
        self._conclude(visit, self._new.links_of(link, part.outcome), lesson=part)

    def _decide(self, fetch: Fetch, page: Page) -> None:
        """Whether the page is kept, and whether its links are followed."""
        link, refusal = fetch.lease.link, self._objection(page)
        # Nothing is learned from any other text that is not kept.
        if self.judge is not None and (refusal is None or refusal.reason is Reason.NOINDEX):
            page = self.judge(link, page)
        links = self._new.links_of(link, page)
        leads_on = any(self.scope.refusal(new) is None for new in self.traps.new_links(links))
        if not fetch.lease.again:  # A page is no copy of what it was.
            self.traps.visited(page, link.source, leads_on=leads_on, last=fetch.lease.score <= LAST)
            self.hosts.answered(link.url, page.signature)
        self._conclude(fetch.visit(refusal or page), links, page)

    def _links_of(self, link: Link, outcome: Page | Sitemap | Skip) -> list[Link]:
        links = self._new.links_of(link, outcome)
        for target in links:
            if target.kind is LinkKind.REDIRECT:
                if self.judge is not None:
                    self.judge.redirected(link.url, target.url)
                self.traps.redirected(link.url, link.source)
        return links

    def _objection(self, page: Page) -> Skip | None:
        """Why a page that we understand is not kept."""
        if refusal := page.objection(opt_outs=self.settings.opt_outs):
            return refusal
        missing = self._knowledge(page.url).missing.get(page.url.host, 0) if self.settings.probe else 0
        if not missing or (missing ^ page.signature).bit_count() > NEAR:
            return None
        if page.drawn_by not in (None, DrawnBy.BROWSER):  # All its pages are the same before their scripts run.
            return Skip(page.url, Stage.ANALYSE, Reason.SCRIPTED)
        return Skip(page.url, Stage.ANALYSE, Reason.SOFT_404, "the same text as an address that cannot exist")

    def _conclude(
        self, visit: Visit, links: Sequence[Link] = (), page: Page | None = None, *, lesson: Visit | None = None
    ) -> None:
        """Record, learn, queue, then finish: one transaction. `lesson` is what the strategy learns from, if not all."""
        link = visit.lease.link
        with self.ledger.transaction():
            self.ledger.record(visit)
            self._follow(lesson or visit, links, page)
            if self.settings.follow:
                self._enqueue(self._sitemaps_named(link), None)
                self._follow_advice(visit)
            self._finish(visit)
        self._tell_observers(visit)

    def _follow(self, visit: Visit, links: Sequence[Link], page: Page | None = None) -> None:
        if not self.settings.follow:
            return
        link, outcome = visit.lease.link, visit.outcome
        if isinstance(outcome, Sitemap) and not visit.lease.again:
            self.ledger.learn(self._new.after(self._knowledge(link.url), link, outcome))
        self.scorer.learn(visit, self._knowledge(link.url))
        self._enqueue(links, page)

    def _record_only(self, visit: Visit) -> None:
        """For a visit that brought nothing new, or that a bug ended: the strategy may have the bug, so it is not asked."""
        with self.ledger.transaction():
            self.ledger.record(visit)
            self._finish(visit)
        self._tell_observers(visit)

    def _finish(self, visit: Visit) -> None:
        pages = int(isinstance(visit.outcome, Page))
        self.frontier.finish(visit.lease, pages=pages, size=visit.bytes, downloads=int(visit.is_download))

    def _sitemaps_named(self, link: Link) -> list[Link]:
        """After the first fetch from a host its robots.txt is known, and the sitemaps that it names."""
        if not self.settings.sitemaps or link.kind not in (LinkKind.PROBE, LinkKind.SEED):
            return []
        return [Link(url, LinkKind.INDEX, link.url) for url in self.source.sitemaps_of(link.url.origin)]

    def _follow_advice(self, visit: Visit) -> None:
        url, outcome = visit.lease.link.url, visit.outcome
        site = self._knowledge(url)
        advice = self.scorer.advise(site)
        scores = ((url, min(score, BELOW_FIRST)) for url, score in advice.scores if url not in self._added)
        self.frontier.rescore(scores)
        self._enqueue(advice.links, None)
        leaves = self.settings.leave and not self.settings.exhaustive
        if url in self._added and isinstance(outcome, Skip) and outcome.target is not None:
            self._put_first([outcome.target])
        elif url in self._added and isinstance(outcome, Page) and site.site in self.frontier.left and not advice.leave:
            self.frontier.come_back(site.site)
        if leaves and site.left and site.site not in self.frontier.left:
            site = msgspec.structs.replace(site, left="")  # the frontier has gone back to it
            self.ledger.learn(site)
        if advice.leave and not site.left:
            self.ledger.learn(msgspec.structs.replace(site, left=advice.leave))
            if leaves:
                self.frontier.leave(site.site, advice.leave)

    def _enqueue(self, links: Sequence[Link], found_on: Page | None) -> None:
        """Queue the links that belong to the job and that the strategy wants; record why the others are not queued."""
        if not links:
            return
        if hosts := self.scope.new_hosts(links):
            self._enqueue(self.ledger.refused_hosts(hosts), None)
        refused, inside = self._judged(links)
        if found_on is not None and self.traps.repeats(found_on.url):
            self.frontier.add([(link, _last(link)) for group in inside for link in group])
            inside = ()
        for group in inside:
            scores = self.scorer.score(group, found_on, self._knowledge(group[0].url))
            least = UNWANTED if self.settings.exhaustive else 0.0
            scored = [(link, max(score, least)) for link, score in zip(group, scores, strict=True)]
            if min(scores) <= 0:
                refused += [(link, _unwanted(link)) for link, score in scored if score <= 0]
            self.frontier.add(
                [(link, score if score <= BELOW_FIRST else _capped(link, score)) for link, score in scored if score > 0]
            )
        self.ledger.refuse(refused)

    def _judged(self, links: Sequence[Link]) -> tuple[list[tuple[Link, Skip]], Iterable[list[Link]]]:
        """The links that do not belong to the job, each with the reason, and the others by site."""
        refused: list[tuple[Link, Skip]] = []
        inside: dict[str, list[Link]] = {}
        places: dict[str, tuple[str, str]] = {}  # most links of a page have the same host: it is asked about once
        for link in links:
            host = link.url.host
            place = places.get(host)
            if place is None:
                place = places[host] = (self._closed(host), self.scope.sites.of(host))
            refusal = self.scope.refusal(link)
            if refusal is None and (link.kind is LinkKind.INDEX or place[0] or "&" in link.url):
                refusal = self._further_refusal(link, place[0])
            if refusal is None:
                inside.setdefault(place[1], []).append(link)
            else:
                refused.append((link, refusal))
        return refused, inside.values()

    def _further_refusal(self, link: Link, closed: str) -> Skip | None:
        """Why a link that is in scope is not followed all the same."""
        if link.kind is LinkKind.INDEX and (refusal := self._new.refusal(link)):
            return refusal
        if closed:
            return Skip(link.url, Stage.SCOPE, Reason.TOO_MANY_HOSTS, closed)
        first = self.traps.reordered(link.url) if link.kind is LinkKind.PAGE else ""
        return Skip(link.url, Stage.SCOPE, Reason.TRAP, f"{first} with its parameters reordered") if first else None

    def _closed(self, host: str) -> str:
        """Why nothing is asked of the host; empty when it may be asked."""
        return self.hosts.refusal(host) if self.settings.follow else ""

    def _knowledge(self, url: Url) -> SiteKnowledge:
        return self.ledger.knowledge(self.scope.sites.of(url.host))


def _fetch_of(lease: Lease, answer: Capture | Skip, *, at: float, took: float) -> Fetch:
    if isinstance(answer, Skip):
        return Fetch(lease, answer.status, at=at, took=took)
    # The fetcher's own time, where it has one: ours includes what robots.txt made it wait.
    # Redirects may have the same body and lead elsewhere; what scripts draw may change while the answer does not.
    digest = answer.digest if 200 <= answer.status < 300 and not answer.rendered else ""
    known = Answer(answer.header("ETag"), answer.header("Last-Modified"), digest, answer.at or at)
    return Fetch(lease, answer.status, len(answer.body), at, answer.took or took, answer.place, known)


def _capped(link: Link, score: float) -> float:
    return score if link.kind is LinkKind.SEED or link.kind in OWN_REQUESTS else min(score, BELOW_FIRST)


def _last(link: Link) -> float:
    return LAST * (1 - 1 / (2 + link.depth))


def _unwanted(link: Link) -> Skip:
    return Skip(link.url, Stage.SCOPE, Reason.STRATEGY, "the strategy does not follow links from that page")
