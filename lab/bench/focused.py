"""The experiments of Remus and Biemann on crawls that stay with a subject, as far as frozen webs can repeat them.

    python -m lab.bench.focused                        # both parts
    python -m lab.bench.focused --parts sites          # Remus, experiment 1: 100 pages of four sites
    python -m lab.bench.focused --parts harvest        # Remus, experiment 2: tokens, and perplexity on a held-out text

sites: two subjects in two languages, each on a server of its own, 100 pages in all, from one text that defines the domain. In English
it is an encyclopaedia article. In French it is a section of a handbook about computers, or a page of the site itself (own),
which is then not on the web any more. Once without links between the servers, as in the paper, and once with them: the
languages of a real site link to each other. Breadth-first takes the servers in turns. The four seeds are fetched whatever
they are about, so 97 is the most.

harvest: tokens of pages in the language, and of those also about the subject, at equal amounts downloaded; and the
perplexity, on texts that no crawl sees, of models trained on the given texts and on what has been downloaded so far. Words
that the given texts do not have are left out of it, so that all models are asked the same words. --draw writes it as SVG.
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

from bitrawl.config import Job, Reach, Strategy, TopicModel, TopicSection
from bitrawl.crawl.frontier import Budget, Frontier, Politeness
from bitrawl.crawl.loop import Crawl, LoopSettings
from bitrawl.crawl.scope import Scope, ScopeRules, Sites
from bitrawl.job.archived_web import Archives
from bitrawl.job.crawl_wiring import Topic, bucket_scores, strategy
from bitrawl.job.topics import Examples, topic_judge
from bitrawl.model import Capture, Language, Link, LinkKind, Page, Visit
from bitrawl.page.analyser import page_reader
from bitrawl.protocols import Analyser, Fetcher
from bitrawl.show.harvest import Panel, svg
from bitrawl.show.plots import Series
from bitrawl.simulation.replay import Replay, ReplayClock
from bitrawl.simulation.trial import MemoryQueue, ReplayLedger
from bitrawl.text.ngram_estimation import train
from bitrawl.text.ngram_models import sequences
from bitrawl.url import Url
from lab.bench.domain import DOMAIN, STARTS, Web, opened_web, text_of
from lab.bench.servers import PagedWeb, Without, moved, on_server, redirects

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
        scorer=strategy(job.strategy, job.languages(), topic=Topic(judge.model, job.topic, sites.of, judge.terms)),
        ledger=ReplayLedger(sites.of),
        scope=Scope(sites, seeds, ScopeRules(reach=Reach.WEB)),
        clock=clock,
        settings=LoopSettings(parallel=1, probe=False, sitemaps=False, leave=False),
        judge=judge,
        observers=[keep],
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
LONG = 5_000  # characters; about as long as a short article


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
    with Archives([SHARED / "sites" / "debian-handbook" / "site.warc.gz"]) as archives:
        reader = page_reader()
        for name in CHAPTERS[:DEFINITIONS]:
            answer = archives.answer(Url.parse(f"{HANDBOOK}{name}.html"))
            page = reader.read(answer) if isinstance(answer, Capture) else None
            if not isinstance(page, Page):
                raise SystemExit(f"{HANDBOOK}{name}.html is not in the archive of debian-handbook")
            yield Definition(Kind("it-services", FR), name, text_of(page))


def held_out_pages(web: Web) -> Iterator[Definition]:
    """French pages of the sites themselves. About the environment, no other site here has any."""
    for subject in ("environment", "it-services"):
        long = [url for url in web.about(subject, FR, also=False) if len(text_of(web.pages[url])) > LONG]
        candidates = [url for url in long if url != HOMES[subject, FR]]
        for url in random.Random(1).sample(candidates, DEFINITIONS):
            name = url.removesuffix("index.html").rstrip("/").split("/")[-1]
            yield Definition(Kind(subject, FR), f"own: {name}", text_of(web.pages[url]), url)


# Remus, experiment 2

AMOUNTS = (30_000, 100_000, 300_000, 1_000_000)  # tokens downloaded
GIVEN = 40  # texts about the subject; half of them define it, the other half is held out


class Harvest(NamedTuple):
    """A crawl for one subject in one language, from texts about it."""

    web: str
    subject: str
    language: Language
    texts: str  # the web that has the texts

    def __str__(self) -> str:
        return f"{self.web}/{self.subject} {self.language}"


HARVESTS = (
    Harvest("web", "environment", EN, "wiki"),
    Harvest("web", "health", EN, "wiki"),
    Harvest("web", "it-services", FR, "web"),
)
# One page about the subject, beside a start that is about something else. The paper has twenty seeds about its subject.
SEEDS = {
    HARVESTS[0]: HOMES["environment", EN],
    HARVESTS[1]: HOMES["health", EN],
    HARVESTS[2]: HOMES["it-services", FR],
}
DRAWN = {HARVESTS[0]: "perplexity-environment-en", HARVESTS[2]: "perplexity-it-services-fr"}


class Fetched(NamedTuple):
    """What counts of a page that was downloaded."""

    tokens: int
    in_language: bool
    on_subject: bool  # and in the language
    sequences: list[list[str]]


async def harvests(webs: Mapping[str, tuple[Web, Replay]], folder: Path | None) -> None:
    for one in HARVESTS:
        web, replay = webs[one.web]
        given, held_out = split(webs[one.texts][0], one)
        shown = {url: text_of(webs[one.texts][0].pages[url]) for url in (*given, *held_out)}
        texts = [shown[url] for url in given]
        asked = [words for url in held_out for words in sequences(shown[url])]
        hidden = frozenset(shown) & frozenset(web.pages)
        wanted = frozenset(web.about(one.subject, one.language, also=True)) - hidden
        runs = {
            name: [fetched(page, web, one, wanted) for page in await focused_crawl(replay, hidden, name, one, texts)]
            for name in COMPARED
        }
        show_harvest(one, runs, sum(fetched(web.pages[url], web, one, wanted).tokens for url in wanted))
        curves = {name: list(perplexity_curve(texts, asked, runs[name])) for name in COMPARED}
        show_perplexity(one, curves)
        if folder and one in DRAWN:
            draw(folder / f"{DRAWN[one]}.svg", one, curves)


def split(web: Web, one: Harvest) -> tuple[list[Url], list[Url]]:
    """Texts that define the subject, and texts that are held out."""
    about = web.about(one.subject, one.language, also=False)
    about = [url for url in about if url != SEEDS[one]]
    drawn = random.Random(str(one)).sample(about, min(GIVEN, len(about) // 2 // 2 * 2))
    return drawn[::2], drawn[1::2]


async def focused_crawl(
    replay: Replay, hidden: frozenset[Url], name: Strategy, one: Harvest, texts: list[str]
) -> list[Page]:
    seeds = [Url.parse(raw) for raw in (STARTS[one.web], SEEDS[one])]
    section = TopicSection(texts=["as shown"], hub=True, model=model_of(name), max_perplexity=NO_MAXIMUM)
    job = job_for(name, [one.language], seeds, section)
    without = Fetching(Without(replay.fetcher, hidden), replay.analyser)
    return await crawled(without, seeds, job, Examples({one.language: texts}))


def fetched(page: Page, web: Web, one: Harvest, wanted: frozenset[Url]) -> Fetched:
    row = web.truth.get(page.url)
    found = sequences(text_of(page))
    in_language = row is not None and row["lang"] == one.language
    return Fetched(sum(map(len, found)), in_language, page.url in wanted, found)


def within(pages: Sequence[Fetched], amount: int) -> list[Fetched]:
    """The first pages, as long as the amount is not exceeded."""
    total, kept = 0, []
    for page in pages:
        total += page.tokens
        if total > amount:
            break
        kept.append(page)
    return kept


def show_harvest(one: Harvest, runs: Mapping[Strategy, Sequence[Fetched]], wanted: int) -> None:
    baseline = runs[Strategy.BREADTH_FIRST]
    print(
        f"\n{one}: share of the tokens downloaded; in brackets, times breadth-first. On the subject: {wanted:,} tokens"
    )
    print(f"{'tokens downloaded':15}" + "".join(f"{amount:>22,}" for amount in AMOUNTS))
    for what in ("in_language", "on_subject"):
        for name in COMPARED:
            cells = []
            for amount in AMOUNTS:
                if sum(page.tokens for page in runs[name]) < amount:
                    cells.append("ended")
                    continue
                some, plain = (share(within(pages, amount), what) for pages in (runs[name], baseline))
                cells.append(f"{some:.3f} ({some / plain:.1f})" if plain else f"{some:.3f} (-)")
            print(f"{name:15}" + "".join(f"{cell:>22}" for cell in cells) + f"  {what}", flush=True)
    print(f"{'best possible':15}" + "".join(f"{min(1, wanted / amount):22.3f}" for amount in AMOUNTS) + "  on_subject")


def share(pages: Sequence[Fetched], what: str) -> float:
    """Of the tokens."""
    return sum(page.tokens for page in pages if getattr(page, what)) / max(sum(page.tokens for page in pages), 1)


class Point(NamedTuple):
    """Perplexity on the held-out text, after so many tokens."""

    tokens: int
    of_all: float  # trained on all that was downloaded
    of_language: float  # on the pages in the language


def perplexity_curve(texts: Sequence[str], held_out: Sequence[list[str]], pages: Sequence[Fetched]) -> Iterator[Point]:
    """Of models of the texts and of what was downloaded after them, each sentence once."""
    given = [words for text in texts for words in sequences(text)]
    known = {word for words in given for word in words}
    asked = [kept for words in held_out if (kept := [word for word in words if word in known])]
    total = sum(page.tokens for page in pages)
    for amount in (0, *(amount for amount in AMOUNTS if amount <= total)):
        some = within(pages, amount)
        of_all, of_language = (
            train(once([*given, *(words for page in some if every or page.in_language for words in page.sequences)]))
            for every in (True, False)
        )
        yield Point(amount, of_all.perplexity(asked), of_language.perplexity(asked))


def once(found: Sequence[list[str]]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(map(tuple, found)))


def show_perplexity(one: Harvest, curves: Mapping[Strategy, Sequence[Point]]) -> None:
    print(
        f"{one}: perplexity on held-out texts; trained on the given texts and on all that was downloaded, or on what is in the language"
    )
    for name, points in curves.items():
        cells = "".join(f"{point.of_all:>13.1f} {point.of_language:>8.1f}" for point in points)
        print(f"{name:15}{cells}", flush=True)


def draw(path: Path, one: Harvest, curves: Mapping[Strategy, Sequence[Point]]) -> None:
    """The models of all that was downloaded: figure 2a of the paper."""
    lines = tuple(
        Series(str(name), tuple((point.tokens, round(point.of_all)) for point in points))
        for name, points in curves.items()
    )
    panel = Panel(f"{one.subject}, {one.language}: perplexity on held-out texts", "", lines)
    path.write_text(svg(panel, x="tokens downloaded", y="perplexity"), encoding="utf-8")


PARTS = ("sites", "harvest")


async def run(asked: argparse.Namespace) -> None:
    async with AsyncExitStack() as stack:
        webs = {name: await opened_web(stack, name) for name in STARTS}
        if "sites" in asked.parts:
            await four_sites(*webs["web"], webs["wiki"][0])
        if "harvest" in asked.parts:
            await harvests(webs, asked.draw)


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
