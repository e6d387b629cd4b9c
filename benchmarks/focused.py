"""The experiments of two papers on crawls that stay with a subject, as far as frozen webs can repeat them.

    python -m benchmarks.focused                        # all three parts
    python -m benchmarks.focused --parts sites          # Remus, experiment 1: 100 pages of four sites
    python -m benchmarks.focused --parts harvest        # Remus, experiment 2: tokens, and perplexity on a held-out text
    python -m benchmarks.focused --parts terms          # Papavassiliou, section 5.2: how many pages are in the domain

sites: two subjects in two languages, each on a server of its own, 100 pages in all, from one text that defines the domain. In English
it is an encyclopaedia article. In French it is a chapter of another site about computers, or a page of the site itself,
which is then not on the web any more. Once without links between the servers, as in the paper, and once with them: the
languages of a real site link to each other. Breadth-first takes the servers in turns. The four seeds are fetched whatever
they are about, so 97 is the most.

harvest: tokens of pages in the language, and of those also about the subject, at equal amounts downloaded; and the
perplexity, on texts that no crawl sees, of models trained on the given texts and on what has been downloaded so far. Words
that the given texts do not have are left out of it, so that all models are asked the same words. --draw writes it as SVG.

terms: of the pages that the model accepts, how many are about the environment, by the truth.
"""

import argparse
import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

from benchmarks.domain import DOMAIN, Web, opened_web, text_of
from benchmarks.servers import PagedWeb, moved, on_server, redirects
from bitrawl.assemble import Examples, Topic, bucket_scores, codec, strategy, topic_judge
from bitrawl.config import Job, Strategy, TopicModel, TopicSection
from bitrawl.crawl.frontier import Budget, Frontier, Politeness
from bitrawl.crawl.loop import Crawl, LoopSettings
from bitrawl.crawl.memory_queue import MemoryQueue
from bitrawl.crawl.scope import Scope, ScopeRules, Sites
from bitrawl.model import Capture, Language, Link, LinkKind, Page, Visit
from bitrawl.page.analyser import page_reader
from bitrawl.protocols import Analyser, Fetcher
from bitrawl.simulation.replay import Replay, ReplayClock
from bitrawl.simulation.trial import ReplayLedger
from bitrawl.store.replay import open_archives
from bitrawl.url import Url

SHARED = DOMAIN.parent
EN, FR = Language("en"), Language("fr")
COMPARED = (Strategy.BREADTH_FIRST, Strategy.PERPLEXITY, Strategy.ADAPTIVE)


class Fetching(NamedTuple):
    """What stands in for the web."""

    fetcher: Fetcher
    analyser: Analyser


async def crawled(
    web: Fetching, seeds: Sequence[Url], job: Job, shown: Examples, *, pages: int | None = None
) -> list[Page]:
    """The pages in the order in which they were fetched, judged."""
    sites, clock = Sites(), ReplayClock()
    judge = topic_judge(job, shown)
    focused = job.strategy is not Strategy.BREADTH_FIRST
    fetched: list[Page] = []

    def keep(visit: Visit) -> None:
        if isinstance(visit.outcome, Page):
            fetched.append(visit.outcome)

    crawl = Crawl(
        Frontier(
            MemoryQueue(), clock, sites.of, Politeness(delay=0.0),
            budget=Budget(pages=pages), ranked=focused, steps=bucket_scores(job),
        ),
        fetcher=web.fetcher,
        analyser=web.analyser,
        scorer=strategy(job.strategy, job.languages(), topic=Topic(judge.model, job.topic, sites.of)),
        ledger=ReplayLedger(sites.of),
        scope=Scope(sites, seeds, ScopeRules(whole_web=True)),
        clock=clock,
        settings=LoopSettings(parallel=1, probe=False, sitemaps=False, exhaustive=True),
        judge=judge,
        observe=keep,
    )  # fmt: skip
    crawl.seed([Link(url, LinkKind.SEED) for url in seeds])
    await crawl.run()
    return fetched


def job_for(name: Strategy, languages: Sequence[Language], seeds: Sequence[Url], section: TopicSection) -> Job:
    return Job(langs=list(languages), seeds=list(seeds), strategy=name, topic=section)


# Remus, experiment 1

LIMIT = 100
NO_MAXIMUM = 1e12  # The paper names one for the second experiment only, with a model of 400,000 sentences.
SITES = {"environment": "eccc-msc.github.io/open-data", "health": "www.getmaple.ca", "it-services": "www.iti.ca"}
HOMES = {
    ("environment", EN): "https://eccc-msc.github.io/open-data/readme_en/",
    ("environment", FR): "https://eccc-msc.github.io/open-data/readme_fr/",
    ("health", EN): "https://www.getmaple.ca/index.html",
    ("health", FR): "https://www.getmaple.ca/fr/index.html",
    ("it-services", EN): "https://www.iti.ca/en.html",
    ("it-services", FR): "https://www.iti.ca/fr.html",
}
ARTICLES = {
    "environment": ("Climate_change", "Rain", "Weather_map"),
    "health": ("Health", "Asthma", "Stroke"),
    "it-services": ("Computer", "World_Wide_Web", "Microsoft"),
}
HANDBOOK = "https://debian-handbook.info/browse/fr-FR/stable/sect."
CHAPTERS = ("backup", "dealing-with-compromised-machine", "virtual-private-network")
DEFINITIONS = 3  # of each kind


class Kind(NamedTuple):
    """What a server has: one subject in one language."""

    subject: str
    language: Language

    def __str__(self) -> str:
        return f"{self.subject} {self.language}"


class Definition(NamedTuple):
    """A text that says what the crawl is to find."""

    kind: Kind
    name: str
    text: str
    source: Url | None = None  # the page of the web that it is


async def four_sites(web: Web, replay: Replay, wiki: Web) -> None:
    leads_to = await redirects(replay.fetcher, list(web.pages.values()))
    defined = [*articles(wiki), *chapters(), *held_out_pages(web)]
    for linked, subjects in product((False, True), combinations(SITES, 2)):
        kinds = [Kind(*one) for one in product(subjects, (EN, FR))]
        print(f"\n100 pages of four sites, {'with' if linked else 'without'} links between them")
        print(f"{'strategy':15}{'definition':36}" + "".join(f"{kind!s:>16}" for kind in kinds))
        first = True
        for definition in (one for one in defined if one.kind in kinds):
            served = servers(web, kinds, without=definition.source)
            pages = moved(web.pages.values(), served.get, leads_to, linked=linked)
            for name in COMPARED[not first :]:
                counts = await pages_by_server(pages, served, name, definition)
                first = False
                told = f"{definition.kind} {definition.name}" if name is not Strategy.BREADTH_FIRST else "-"
                print(f"{name:15}{told[:35]:36}" + "".join(f"{counts[kind]:16}" for kind in kinds), flush=True)


def servers(web: Web, kinds: Sequence[Kind], *, without: Url | None) -> dict[Url, str]:
    """The host of each page. Its name says nothing."""
    hosts = {(SITES[kind.subject], kind.language): f"server{place}.example" for place, kind in enumerate(kinds)}
    found = {url: hosts.get((row["site"], Language(row["lang"]))) for url, row in web.truth.items()}
    return {url: host for url, host in found.items() if host and url != without}


async def pages_by_server(
    web: PagedWeb, served: Mapping[Url, str], name: Strategy, definition: Definition
) -> Counter[Kind]:
    homes = {kind: Url.parse(HOMES[kind]) for kind in map(Kind._make, HOMES)}
    seeds = {on_server(home, served[home]): kind for kind, home in homes.items() if home in served}
    language = definition.kind.language
    section = TopicSection(texts=["as shown"], hub=True, model=model_of(name), max_perplexity=NO_MAXIMUM)
    job = job_for(name, [language], list(seeds), section)
    fetched = await crawled(Fetching(web, web), list(seeds), job, Examples({language: [definition.text]}), pages=LIMIT)
    by_host = {seed.host: kind for seed, kind in seeds.items()}
    return Counter(by_host[page.url.host] for page in fetched)


def model_of(name: Strategy) -> TopicModel:
    return TopicModel(name) if name in (Strategy.TERMS, Strategy.PERPLEXITY) else TopicModel.LEARNED


def articles(wiki: Web) -> Iterator[Definition]:
    for subject, titles in ARTICLES.items():
        for title in titles[:DEFINITIONS]:
            url = Url.parse(f"https://schools.wikipedia.example/wiki/{title}")
            yield Definition(Kind(subject, EN), title, text_of(wiki.pages[url]))


def chapters() -> Iterator[Definition]:
    """French texts about computers from another site."""
    with open_archives([SHARED / "sites" / "debian-handbook" / "site.warc.gz"], codec()) as archives:
        reader = page_reader()
        for name in CHAPTERS[:DEFINITIONS]:
            answer = archives.answer(Url.parse(f"{HANDBOOK}{name}.html"))
            page = reader.read(answer) if isinstance(answer, Capture) else None
            if not isinstance(page, Page):
                raise SystemExit(f"{HANDBOOK}{name}.html is not in the archive of debian-handbook")
            yield Definition(Kind("it-services", FR), name, text_of(page))


def held_out_pages(web: Web) -> Iterator[Definition]:
    """French pages about the environment. No other site here has any, so they are the site's own."""
    candidates = [url for url in web.about("environment", FR, also=False) if len(text_of(web.pages[url])) > 5_000]
    candidates = [url for url in candidates if url != HOMES["environment", FR]]
    for url in random.Random(1).sample(candidates, DEFINITIONS):
        yield Definition(Kind("environment", FR), url.rstrip("/").split("/")[-1], text_of(web.pages[url]), url)


PARTS = ("sites", "harvest", "terms")


async def run(asked: argparse.Namespace) -> None:
    async with AsyncExitStack() as stack:
        (web, replay), (wiki, _encyclopaedia) = [await opened_web(stack, name) for name in ("web", "wiki")]
        if "sites" in asked.parts:
            await four_sites(web, replay, wiki)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=lambda raw: raw.split(","), default=PARTS, help=f"of {', '.join(PARTS)}")
    parser.add_argument("--draw", type=Path, help="write the perplexity as the crawl grows into this folder, as SVG")
    asked = parser.parse_args()
    if not DOMAIN.is_dir():
        raise SystemExit(f"{DOMAIN} is not there: this benchmark needs the frozen webs (docs/reference/benchmarks.md)")
    asyncio.run(run(asked))


if __name__ == "__main__":
    main()
