"""A crawl that stays with a subject, on whatever stands in for the web."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from bitrawl.config import Job
from bitrawl.crawling import Budget, Crawl, Frontier, HostRules, PageSource, Reach, Scope, ScopeRules, Sites, Spending
from bitrawl.job.topics import Examples, topic_judge
from bitrawl.model import Language, Link, LinkKind, Page, Relevance, Visit
from bitrawl.papers.replay import InFlightWeb, ReplayClock
from bitrawl.papers.trial import MemoryQueue, ReplayLedger
from bitrawl.protocols import Analyser, Fetcher, StrategyInputs, Topic
from bitrawl.strategies import Strategy, strategy
from bitrawl.topic.settings import TopicModel, TopicSection
from bitrawl.url import Url
from lab.bench.in_flight import USUAL


class Fetching(NamedTuple):
    """What stands in for the web."""

    fetcher: Fetcher
    analyser: Analyser


async def crawled(  # noqa: PLR0913 - what is crawled, and how
    web: Fetching,
    seeds: Sequence[Url],
    job: Job,
    shown: Examples,
    *,
    pages: int | None = None,
    in_flight: int = USUAL,
    leave: bool = False,
    truth: Callable[[Page], bool] | None = None,
) -> list[Page]:
    """The pages in the order in which they were fetched, judged: by the texts that are shown, or by the truth."""
    sites, clock = Sites(), ReplayClock()
    judge = TrueJudge(truth) if truth else topic_judge(job, shown)
    focused = job.strategy is not Strategy.BREADTH_FIRST
    fetched: list[Page] = []

    def keep(visit: Visit) -> None:
        if isinstance(visit.outcome, Page):
            fetched.append(visit.outcome)

    scorer = strategy(job.strategy, StrategyInputs(job.languages(), Topic(judge.model, sites.of, judge.terms)))
    live = InFlightWeb(*web, clock, in_flight)
    crawl = Crawl(
        Frontier(
            MemoryQueue(), clock, sites.of, live.politeness,
            spending=Spending(Budget(pages=pages)), rules=HostRules(ranked=focused, returns=focused),
        ),
        PageSource(live, live),
        scorer=scorer,
        ledger=ReplayLedger(sites.of),
        scope=Scope(sites, seeds, ScopeRules(reach=Reach.WEB)),
        settings=live.settings(sitemaps=False, leave=leave),
        judge=judge,
    )  # fmt: skip
    crawl.observers.append(keep)
    if job.strategy == Strategy.PERPLEXITY:
        crawl.frontier.compare(scorer.steps(job.topic.buckets))  # type: ignore[attr-defined]
    crawl.seed([Link(url, LinkKind.SEED) for url in seeds])
    await crawl.run()
    return fetched


def job_for(name: Strategy, languages: Sequence[Language], seeds: Sequence[Url], section: TopicSection) -> Job:
    return Job(langs=list(languages), seeds=list(seeds), strategy=name, topic=section)


def model_of(name: Strategy) -> TopicModel:
    return TopicModel(name) if name in (Strategy.TERMS, Strategy.PERPLEXITY) else TopicModel.LEARNED


class Oracle:
    """Knows the truth of pages, and nothing of links: what a strategy can do with a perfect judge."""

    def judge(self, pages: Sequence[Page]) -> list[Relevance]:
        raise NotImplementedError

    def weigh(self, texts: Sequence[str], language: Language) -> list[float]:  # noqa: ARG002
        return [0.0] * len(texts)

    def learn(self, page: Page, *, relevant: bool) -> None:
        pass

    def revised(self) -> Sequence[tuple[Url, float]]:
        return []


class TrueJudge:
    """Judges pages by the truth."""

    def __init__(self, truth: Callable[[Page], bool]) -> None:
        self.model, self.terms = Oracle(), None
        self._truth = truth

    def __call__(self, link: Link, page: Page) -> Page:  # noqa: ARG002
        relevant = self._truth(page)
        return msgspec.structs.replace(page, relevance=Relevance(0.99 if relevant else 0.01, relevant=relevant))

    def redirected(self, source: Url, target: Url) -> None:
        pass
