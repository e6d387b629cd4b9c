"""Remus and Biemann 2016 repeated: table 1, one hundred pages of four sites, and figure 2, the harvest of a longer crawl.

    python -m lab.bench papers remus                            # all of it; the figures go to docs/images
    python -m lab.bench.papers.remus --parts sites
    python -m lab.bench.papers.remus --parts harvest --draws 1 --draw /tmp

sites: two subjects in two languages, each on a server of its own, 100 pages in all, from one text that defines the domain. In English
it is an encyclopaedia article. In French it is a section of a handbook about computers, or a page of the site itself (own),
which is then not on the web any more. Once without links between the servers, as in the paper, and once with them: the
languages of a real site link to each other. Breadth-first takes the servers in turns. The four seeds are fetched whatever
they are about, so 97 is the most.

harvest: tokens of pages in the language, and of those also about the subject, at equal amounts downloaded; and the
perplexity, on texts that no crawl sees, of models trained on the given texts and on what has been downloaded so far. Words
that the given texts do not have are left out of it, so that all models are asked the same words. The crawl starts at a directory of all
sites and at one page about the subject. The first draw starts at a home page, and is the one whose tables and perplexities are
shown. The others have other texts, and a page of the subject that is drawn too.

Both with as many visits in flight as users have, and one at a time beside it (--in-flight). The figures are of the first number.
"""

import argparse
import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import combinations, product
from pathlib import Path
from statistics import mean, pstdev
from typing import NamedTuple

from bitrawl.archive.archived_web import Archives
from bitrawl.job.topics import Examples
from bitrawl.model import Capture, Language, Page
from bitrawl.page.analyser import page_reader
from bitrawl.papers.replay import Replay
from bitrawl.show import Series
from bitrawl.show.harvest import Panel, svg
from bitrawl.strategies import Strategy
from bitrawl.text.ngram_models import sequences, train
from bitrawl.topic.settings import TopicSection
from bitrawl.url import Url
from lab.bench.domain import DOMAIN, STARTS, Web, opened_web, text_of
from lab.bench.focused import Fetching, crawled, job_for, model_of
from lab.bench.in_flight import add_option, ratio
from lab.bench.servers import PagedWeb, Without, moved, on_server, redirects

PARTS = ("sites", "harvest")
IMAGES = Path(__file__).parents[3] / "docs" / "images"
EN, FR = Language("en"), Language("fr")
FOCUSED = (Strategy.PERPLEXITY, Strategy.ADAPTIVE)
COMPARED = (Strategy.BREADTH_FIRST, *FOCUSED)

Found = Mapping[Strategy, Sequence[float]]
"""What is compared: several visits in flight with one at a time."""

# Table 1

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
OWN_PAGES = 3
LONG = 5_000  # characters; about as long as a short article
PAPER_TABLE = {"–": (27, 25, 25, 23), "(en) Cat": (93, 2, 3, 2), "(de) Hauskatze": (1, 1, 97, 1)}


class Kind(NamedTuple):
    """What a server has: one subject in one language."""

    subject: str
    language: Language

    def __str__(self) -> str:
        return f"{self.subject} {self.language}"


class Definition(NamedTuple):
    """A text that says what the crawl is to find."""

    kind: Kind
    origin: str
    name: str
    text: str
    source: Url | None = None  # the page of the web that it is


class Trial(NamedTuple):
    """Four servers, and a text about what one of them has."""

    linked: bool
    kinds: tuple[Kind, ...]
    definition: Definition


async def four_sites(web: Web, replay: Replay, wiki: Web, in_flight: int) -> Found:
    """Pages of the right server, by strategy."""
    print("pages of each server; the paper, cats and technology in English, then in German")
    print("".join(f"{name:15}" + "".join(f"{count:6}" for count in row) + "\n" for name, row in PAPER_TABLE.items()))
    leads_to = await redirects(replay.fetcher, list(web.pages.values()))
    defined = [*articles(wiki), *chapters(), *held_out_pages(web)]
    right: dict[Strategy, dict[Trial, int]] = {name: {} for name in FOCUSED}
    for linked, subjects in product((False, True), combinations(SITES, 2)):
        kinds = tuple(Kind(*kind) for kind in product(subjects, (EN, FR)))
        print(f"\n100 pages of four sites, {'with' if linked else 'without'} links between them")
        print(f"{'strategy':15}{'definition':45}" + "".join(f"{kind!s:>16}" for kind in kinds))
        for number, definition in enumerate(one for one in defined if one.kind in kinds):
            served = servers(web, kinds, without=definition.source)
            pages = moved(web.pages.values(), served.get, leads_to, linked=linked)
            for name in COMPARED if number == 0 else FOCUSED:
                counts = await pages_by_server(pages, served, name, definition, in_flight)
                told = f"{definition.kind} {definition.name}" if name in FOCUSED else "-"
                print(f"{name:15}{told[:44]:45}" + "".join(f"{counts[kind]:16}" for kind in kinds), flush=True)
                if name in FOCUSED:
                    right[name][Trial(linked, kinds, definition)] = counts[definition.kind]
    print("\n".join(summary(right)), flush=True)
    return {name: list(counts.values()) for name, counts in right.items()}


def summary(right: Mapping[Strategy, Mapping[Trial, int]]) -> Iterator[str]:
    """Pages of the right server: a number for each text, beside one of the other subjects and then beside the other."""
    for linked in (False, True):
        yield f"\npages of the right site, {'with' if linked else 'without'} links between the sites"
        for kind, origin in dict.fromkeys(
            (trial.definition.kind, trial.definition.origin) for trial in right[FOCUSED[0]]
        ):
            cells = []
            for counts in right.values():
                beside: dict[tuple[Kind, ...], list[int]] = {}
                for trial, count in counts.items():
                    if trial.linked == linked and trial.definition[:2] == (kind, origin):
                        beside.setdefault(trial.kinds, []).append(count)
                cells.append(", ".join(" ".join(map(str, some)) for some in beside.values()))
            yield f"{kind!s:16}{origin:14}" + "".join(f"{cell:>24}" for cell in cells)


def servers(web: Web, kinds: Sequence[Kind], *, without: Url | None) -> dict[Url, str]:
    """The host of each page. Its name says nothing."""
    hosts = {(SITES[kind.subject], kind.language): f"server{place}.example" for place, kind in enumerate(kinds)}
    found = {url: hosts.get((row["site"], Language(row["lang"]))) for url, row in web.truth.items()}
    return {url: host for url, host in found.items() if host and url != without}


async def pages_by_server(
    web: PagedWeb, served: Mapping[Url, str], name: Strategy, definition: Definition, in_flight: int
) -> Counter[Kind]:
    homes = {kind: Url.parse(HOMES[kind]) for kind in map(Kind._make, HOMES)}
    seeds = {on_server(home, served[home]): kind for kind, home in homes.items() if home in served}
    language = definition.kind.language
    job = job_for(name, [language], list(seeds), section_for(name))
    shown = Examples({language: [definition.text]})
    fetched = await crawled(Fetching(web, web), list(seeds), job, shown, pages=LIMIT, in_flight=in_flight)
    by_host = {seed.host: kind for seed, kind in seeds.items()}
    return Counter(by_host[page.url.host] for page in fetched)


def section_for(name: Strategy) -> TopicSection:
    return TopicSection(texts=["as shown"], hub=True, model=model_of(name), max_perplexity=NO_MAXIMUM)


def articles(wiki: Web) -> Iterator[Definition]:
    for subject, titles in ARTICLES.items():
        for title in titles:
            url = Url.parse(f"https://schools.wikipedia.example/wiki/{title}")
            yield Definition(Kind(subject, EN), "articles", title, text_of(wiki.pages[url]))


def chapters() -> Iterator[Definition]:
    """French texts about computers from another site."""
    with Archives([DOMAIN.parent / "sites" / "debian-handbook" / "site.warc.gz"]) as archives:
        reader = page_reader()
        for name in CHAPTERS:
            answer = archives.answer(Url.parse(f"{HANDBOOK}{name}.html"))
            page = reader.read(answer) if isinstance(answer, Capture) else None
            if not isinstance(page, Page):
                raise SystemExit(f"{HANDBOOK}{name}.html is not in the archive of debian-handbook")
            yield Definition(Kind("it-services", FR), "handbook", name, text_of(page))


def held_out_pages(web: Web) -> Iterator[Definition]:
    """French pages of the sites themselves. About the environment, no other site here has any."""
    for subject in ("environment", "it-services"):
        long = [url for url in web.about(subject, FR, also=False) if len(text_of(web.pages[url])) > LONG]
        candidates = [url for url in long if url != HOMES[subject, FR]]
        for url in random.Random(1).sample(candidates, OWN_PAGES):
            name = url.removesuffix("index.html").rstrip("/").split("/")[-1]
            yield Definition(Kind(subject, FR), "own pages", f"own: {name}", text_of(web.pages[url]), url)


# Figure 2

AMOUNTS = (30_000, 100_000, 300_000, 1_000_000)  # tokens downloaded
STEP, LONGEST = 10_000, 300_000  # of the curves, in tokens
GIVEN = 40  # texts about the subject; half of them define it, the other half is held out
PAPER_SHARES = ("focused", (0.871, 0.891, 0.868, 0.924)), ("not focused", (0.343, 0.317, 0.216, 0.204))
PAPER_AMOUNTS = (100_000, 300_000, 1_000_000, 300_000_000)


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
SEEDS = {one: Url.parse(HOMES[one.subject, one.language]) for one in HARVESTS}


class Drawn(NamedTuple):
    """What a crawl is given, and what is kept from it."""

    given: list[Url]  # texts that define the subject
    held_out: list[Url]
    seed: Url


class Fetched(NamedTuple):
    """What counts of a page that was downloaded."""

    tokens: int
    in_language: bool
    on_subject: bool  # and in the language
    sequences: list[list[str]]


Shares = dict[Strategy, list[float | None]]  # on the subject, by amount; None if the crawl ended before
Curves = dict[Strategy, list[list[float]]]  # tokens on the subject after each STEP, of each draw


async def harvests(webs: Mapping[str, tuple[Web, Replay]], draws: int, folder: Path, in_flight: int) -> Found:
    """Shares of the tokens that are on the subject, by strategy."""
    found: dict[Strategy, list[float]] = {name: [] for name in COMPARED}
    print("share of the tokens downloaded that are German, in the paper, after " + amounts(PAPER_AMOUNTS))
    print("".join(f"{name:15}" + "".join(f"{one:12.3f}" for one in row) + "\n" for name, row in PAPER_SHARES))
    for one in HARVESTS:
        all_shares: list[Shares] = []
        curves: Curves = {name: [] for name in COMPARED}
        for draw in range(draws):
            runs = await compared(webs, one, draw, folder, in_flight)
            all_shares.append({name: [share_at(pages, amount) for amount in AMOUNTS] for name, pages in runs.items()})
            for name, pages in runs.items():
                curves[name].append(curve(pages))
                found[name] += [share or 0.0 for share in all_shares[-1][name]]
        print("\n".join(over_draws(one, all_shares)), flush=True)
        draw_harvest(folder / f"harvest-{one.subject}-{one.language}.svg", one, curves)
    return found


async def compared(
    webs: Mapping[str, tuple[Web, Replay]], one: Harvest, draw: int, folder: Path, in_flight: int
) -> dict[Strategy, list[Fetched]]:
    """What each strategy downloads. Of the first draw, the tables are printed and the perplexities are drawn."""
    web, replay = webs[one.web]
    drawn = split(webs[one.texts][0], web, one, draw)
    shown = {url: text_of(webs[one.texts][0].pages[url]) for url in (*drawn.given, *drawn.held_out)}
    texts = [shown[url] for url in drawn.given]
    hidden = frozenset(shown) & frozenset(web.pages)
    wanted = frozenset(web.about(one.subject, one.language, also=True)) - hidden
    runs = {}
    for name in COMPARED:
        seeds = [Url.parse(STARTS[one.web]), drawn.seed]
        job = job_for(name, [one.language], seeds, section_for(name))
        without = Fetching(Without(replay.fetcher, hidden), replay.analyser)
        pages = await crawled(without, seeds, job, Examples({one.language: texts}), in_flight=in_flight)
        runs[name] = [fetched(page, web, one, wanted) for page in pages]
    if draw == 0:
        show_harvest(one, runs, sum(fetched(web.pages[url], web, one, wanted).tokens for url in wanted))
        asked = [words for url in drawn.held_out for words in sequences(shown[url])]
        perplexities = {name: list(perplexity_curve(texts, asked, runs[name])) for name in COMPARED}
        show_perplexity(one, perplexities)
        draw_perplexity(folder / f"perplexity-{one.subject}-{one.language}.svg", one, perplexities)
    return runs


def split(texts: Web, web: Web, one: Harvest, draw: int) -> Drawn:
    chance = random.Random(f"{one}/{draw}" if draw else str(one))
    about = texts.about(one.subject, one.language, also=False)
    if draw == 0:
        about = [url for url in about if url != SEEDS[one]]
    drawn = chance.sample(about, min(GIVEN, len(about) // 2 // 2 * 2))
    candidates = [url for url in web.about(one.subject, one.language, also=False) if url not in set(drawn)]
    return Drawn(drawn[::2], drawn[1::2], chance.choice(candidates) if draw else SEEDS[one])


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


def share(pages: Sequence[Fetched], what: str) -> float:
    """Of the tokens."""
    return sum(page.tokens for page in pages if getattr(page, what)) / max(sum(page.tokens for page in pages), 1)


def share_at(pages: Sequence[Fetched], amount: int, what: str = "on_subject") -> float | None:
    """None if the crawl ended before."""
    return share(within(pages, amount), what) if sum(page.tokens for page in pages) >= amount else None


def curve(pages: Sequence[Fetched]) -> list[float]:
    """Tokens on the subject after each STEP. A crawl that has ended finds no more."""
    steps = [within(pages, amount) for amount in range(0, LONGEST + 1, STEP)]
    return [float(sum(page.tokens for page in some if page.on_subject)) for some in steps]


def show_harvest(one: Harvest, runs: Mapping[Strategy, Sequence[Fetched]], wanted: int) -> None:
    print(
        f"\n{one}: share of the tokens downloaded; in brackets, times breadth-first. On the subject: {wanted:,} tokens"
    )
    print(f"{'':15}" + amounts(AMOUNTS, 22))
    for what, name in product(("in_language", "on_subject"), COMPARED):
        cells = []
        for amount in AMOUNTS:
            some, plain = (share_at(runs[which], amount, what) for which in (name, Strategy.BREADTH_FIRST))
            times = f" ({some / plain:.1f})" if some is not None and plain else ""
            cells.append("ended" if some is None else f"{some:.3f}{times}")
        print(f"{name:15}" + "".join(f"{cell:>22}" for cell in cells) + f"  {what}", flush=True)
    print(f"{'best possible':15}" + "".join(f"{min(1, wanted / amount):22.3f}" for amount in AMOUNTS) + "  on_subject")


def over_draws(one: Harvest, draws: Sequence[Shares]) -> Iterator[str]:
    """The mean of what each strategy has on the subject, its lowest, and how often `adaptive` is behind `perplexity`."""
    yield f"{one}, {len(draws)} draws: on the subject, mean and lowest"
    for name in COMPARED:
        cells = []
        for shares in zip(*(shares[name] for shares in draws), strict=True):
            some = [share for share in shares if share is not None]
            cells.append(f"{mean(some):.3f} {min(some):.3f}" if some else "ended")
        yield f"{name:15}" + "".join(f"{cell:>22}" for cell in cells)
    pairs = [zip(*(shares[name] for name in FOCUSED), strict=True) for shares in draws]
    behind = [sum((ours or 0) < (theirs or 0) for theirs, ours in column) for column in zip(*pairs, strict=True)]
    yield f"{'behind':15}" + "".join(f"{count:>22}" for count in behind)


def amounts(values: Sequence[int], width: int = 12) -> str:
    return "".join(f"{value:>{width},}" for value in values)


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


def draw_perplexity(path: Path, one: Harvest, curves: Mapping[Strategy, Sequence[Point]]) -> None:
    """The models of all that was downloaded: figure 2a of the paper."""
    lines = tuple(
        Series(str(name), tuple((point.tokens, round(point.of_all)) for point in points))
        for name, points in curves.items()
    )
    draw_lines(path, f"{one.subject}, {one.language}: perplexity on held-out texts", lines, y="perplexity")


def draw_harvest(path: Path, one: Harvest, curves: Curves) -> None:
    """The mean of the draws, and one standard deviation to both sides: figure 2c of the paper."""
    lines = []
    for name, of_draws in curves.items():
        points, spread = [], []
        for place, values in enumerate(zip(*of_draws, strict=True)):
            middle, off = mean(values), pstdev(values)
            points.append((float(place * STEP), middle))
            spread.append((float(place * STEP), max(middle - off, 0.0), middle + off))
        lines.append(Series(str(name), tuple(points), spread=tuple(spread)))
    title = f"{one.subject}, {one.language}: mean and spread of {len(of_draws)} draws"
    draw_lines(path, title, tuple(lines), y="tokens on the subject")


def draw_lines(path: Path, title: str, lines: tuple[Series, ...], *, y: str) -> None:
    today = datetime.now(UTC).date()
    path.write_text(svg(Panel(f"{title} ({today})", "", lines), x="tokens downloaded", y=y), encoding="utf-8")


async def run(asked: argparse.Namespace) -> None:
    print(f"Remus and Biemann 2016, {datetime.now(UTC).date()}\n")
    async with AsyncExitStack() as stack:
        webs = {name: await opened_web(stack, name) for name in STARTS}
        found: dict[str, list[Found]] = {part: [] for part in asked.parts}
        for number in reversed(asked.in_flight):  # so the figures of the first one stay
            print(f"\n{number} in flight\n")
            if "sites" in asked.parts:
                found["sites"].insert(0, await four_sites(*webs["web"], webs["wiki"][0], number))
            if "harvest" in asked.parts:
                found["harvest"].insert(0, await harvests(webs, asked.draws, asked.draw, number))
        for part, (usual, *others) in found.items():
            for name, (other, number) in product(usual, zip(others, asked.in_flight[1:], strict=True)):
                print(f"{part}, {name}, {asked.in_flight[0]} / {number}: {ratio(usual[name], other[name])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=lambda raw: raw.split(","), default=PARTS, help=f"of {', '.join(PARTS)}")
    parser.add_argument("--draws", type=int, default=4, help="draws of texts and pages for the harvest")
    add_option(parser)
    parser.add_argument("--draw", type=Path, default=IMAGES, help="write the figures into this folder")
    asked = parser.parse_args()
    if not DOMAIN.is_dir():
        raise SystemExit(f"{DOMAIN} is not there: this benchmark needs the frozen webs (lab/notes/benchmarks.md)")
    asyncio.run(run(asked))


if __name__ == "__main__":
    main()
