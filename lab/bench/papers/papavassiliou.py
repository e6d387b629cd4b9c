"""Papavassiliou et al. 2013 (ILSP-FC) repeated: page pairs by method (5.1), and a subject in two languages (5.2).

    python -m lab.bench papers papavassiliou                                # all of it
    python -m lab.bench.papers.papavassiliou --parts pairs --sites apisix lilypond
    python -m lab.bench.papers.papavassiliou --parts topics --draws 1,2,3

pairs: each method alone, on the frozen sites of lab/bench/pairs.py, which says what counts as a pair. Structure is one method, whose
pairs are told apart by how similar they are. found: true pairs. precision: of what the method reports; the mean is over the sites
where it reports a pair. only: the share of all true pairs that no other of the eight rows finds. of pages: the same among the six that
look at the pages, because URLs alone tell nearly everything on these sites. Content and all methods together are scored by
models that were trained without the site. The paper counts five of 103 pairs as borderline. doubtful.tsv of a site has such pairs
too: strict is the precision if they are wrong, lenient if they are right.

topics: a crawl of the web below ../shared/domain/web with a list of terms in two languages. One is ILSP-FC's own. The others are learned,
as `bitrawl topic learn` does, from ten pages of each language, drawn at random and not counted. The languages of a subject are
German and Italian, those of the paper, where it has both, otherwise the two that most of its pages are in. A page that is accepted
is right if the subject is its first or second one. lab.bench.focused measures lists in one language.
"""

import argparse
import asyncio
import random
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import product
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from bitrawl.job.topics import Examples, learned_terms
from bitrawl.mining.evidence import ALL, METHODS_OF
from bitrawl.mining.page_score import ScoreModel
from bitrawl.model import Language, Method, Page, PagePair
from bitrawl.papers.replay import Replay
from bitrawl.papers.trial import UrlPair, in_order
from bitrawl.strategies import Strategy
from bitrawl.topic.settings import TopicSection
from bitrawl.topic.term_list import TermList
from bitrawl.url import Url
from lab.bench.domain import DOMAIN, STARTS, SUBJECTS, Web, is_about, opened_web, text_of
from lab.bench.focused import Fetching, crawled, job_for, model_of
from lab.bench.in_flight import add_option, ratio
from lab.bench.pairs import paired
from lab.bench.strategies import CACHE, SITES
from lab.train.pairs import LabelledSite, fit_without_each, labelled_site, lessons
from lab.train.site_packs import open_packs

PARTS = ("pairs", "topics")

# Section 5.1

STRUCTURE = METHODS_OF["structure"]
ROWS = (
    Method.DECLARED, Method.URL, Method.IMAGES, Method.HIGH, Method.MEDIUM, Method.LOW, Method.DIGITS, Method.CONTENT,
)  # fmt: skip
OF_PAGES = ROWS[2:]  # Neither markup nor URLs: what the paper has.
PAPERS_METHODS, TOGETHER = "images, structure", "all methods"
COLUMNS = (*ROWS, PAPERS_METHODS, TOGETHER)
RUNS: Mapping[str, frozenset[Method]] = {
    **{row: frozenset({row}) for row in ROWS if row not in STRUCTURE},
    "structure": STRUCTURE,
    PAPERS_METHODS: STRUCTURE | {Method.IMAGES},
    TOGETHER: ALL,
}
PAPER_PAIRS = (94, 4, 5)  # parallel, not parallel, borderline


class Reported(NamedTuple):
    """The pairs that a method reports of a site."""

    right: frozenset[UrlPair]
    wrong: int
    doubtful: int

    @property
    def precision(self) -> float | None:
        """None where nothing is reported that can be judged."""
        return len(self.right) / (len(self.right) + self.wrong) if self.right or self.wrong else None

    @property
    def total(self) -> int:
        return len(self.right) + self.wrong + self.doubtful


class SiteRows(NamedTuple):
    """One site: how many pairs it has, and what each row reports."""

    name: str
    true: int
    rows: dict[str, Reported]

    def only(self, row: str, among: Collection[str]) -> float:
        """Share of the true pairs that none of the other methods finds."""
        others = frozenset[UrlPair]().union(*(self.rows[other].right for other in among if other != row))
        return len(self.rows[row].right - others) / self.true


def judged(site: LabelledSite, pairs: Sequence[UrlPair]) -> Reported:
    found = frozenset(map(in_order, pairs))
    right, doubtful = found & site.true, len(found & site.doubtful)
    return Reported(right, len(found) - len(right) - doubtful, doubtful)


def by_row(name: str, pairs: Sequence[PagePair]) -> dict[str, list[UrlPair]]:
    """The pairs of a run. Those of structure are three rows: each has one of three letters."""
    rows: dict[str, list[UrlPair]] = {str(row): [] for row in STRUCTURE} if name == "structure" else {name: []}
    for pair in pairs:
        row = next(letter for letter in rows if letter in pair.evidence) if name == "structure" else name
        rows[row].append((pair.url_a, pair.url_b))
    return rows


def site_rows(site: LabelledSite, model: ScoreModel) -> SiteRows:
    rows: dict[str, Reported] = {}
    for name, methods in RUNS.items():
        reported = by_row(name, paired(site, model, methods).pairs)
        rows |= {row: judged(site, pairs) for row, pairs in reported.items()}
    return SiteRows(site.name, len(site.true), rows)


def pairs(names: Sequence[str]) -> None:
    sites = [labelled_site(pack, CACHE) for pack in open_packs(SITES)]
    models = fit_without_each(lessons(sites))
    print(f"{'':28}" + "".join(f"{label(row):>19}" for row in COLUMNS), flush=True)
    found = []
    for site in sites:
        if not names or site.name in names:
            found.append(site_rows(site, models[site.name]))
            print("\n".join(site_lines(found[-1])), flush=True)
    print("\n".join(by_method(found)), flush=True)


def label(row: str) -> str:
    return Method(row).label if row in list(Method) else row


def site_lines(site: SiteRows) -> Iterator[str]:
    lines = {
        f"{site.name}, {site.true}": [str(len(site.rows[row].right)) for row in COLUMNS],
        "  precision": [shown(site.rows[row].precision) for row in COLUMNS],
        "  only": [f"{site.only(row, ROWS):.3f}" for row in ROWS],
        "  only, of pages": ["", "", *(f"{site.only(row, OF_PAGES):.3f}" for row in OF_PAGES)],
    }
    for head, cells in lines.items():
        yield f"{head:28}" + "".join(f"{cell:>19}" for cell in cells)


def shown(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def average(shares: Sequence[float | None]) -> float | None:
    """Of those that there are."""
    known = [share for share in shares if share is not None]
    return mean(known) if known else None


def by_method(found: Sequence[SiteRows]) -> Iterator[str]:
    """All sites together, and their mean."""
    true = sum(site.true for site in found)
    yield f"\n{'':20}{f'found of {true}':>16}{'recall':>9}{'precision':>11}{'sites':>7}{'only':>8}{'of pages':>10}{'strict':>9}{'lenient':>9}"
    for row in COLUMNS:
        some = [site.rows[row] for site in found]
        precisions = [one.precision for one in some]
        recall = mean(len(site.rows[row].right) / site.true for site in found)
        only = [
            shown(mean(site.only(row, among) for site in found)) if row in among else "" for among in (ROWS, OF_PAGES)
        ]
        least, most = bounds([one for one in some if one.total])
        yield (
            f"{label(row):20}{sum(len(one.right) for one in some):16}{recall:9.3f}{shown(average(precisions)):>11}"
            f"{sum(one is not None for one in precisions):7}{only[0]:>8}{only[1]:>10}{least:9.3f}{most:9.3f}"
        )
    parallel, wrong, _ = PAPER_PAIRS
    total = sum(PAPER_PAIRS)
    strict, lenient = f"{parallel / total:.3f}", f"{(total - wrong) / total:.3f}"
    yield f"{f'paper, {total} pairs':20}{'':16}{'':9}{parallel / (parallel + wrong):11.3f}{'':25}{strict:>9}{lenient:>9}"


def bounds(some: Sequence[Reported]) -> tuple[float, float]:
    """The mean precision if what nobody can judge is wrong, and if it is right."""
    least = mean([len(one.right) / one.total for one in some] or [0])
    return least, mean([(len(one.right) + one.doubtful) / one.total for one in some] or [0])


# Section 5.2

TEXTS = 10  # of each language, which a list is learned from
FIRST = 200  # fetches; and then all
PAPERS_LANGUAGES = (Language("de"), Language("it"))
LISTS = DOMAIN.parent / "data" / "topics"


class Topic(NamedTuple):
    """A subject in two languages, and what describes it."""

    name: str
    subject: str
    languages: tuple[Language, ...]
    terms: Path
    shown: frozenset[Url] = frozenset()  # the pages that the list was learned from


GIVEN = Topic("ENV_EN_FR", "environment", (Language("en"), Language("fr")), LISTS / "bilingual" / "ENV_EN_FR_topic.txt")


class Accepted(NamedTuple):
    """How good the verdicts on the pages of one language are."""

    taken: int  # pages that were accepted
    right: int
    true: int  # pages on the subject that were fetched

    @property
    def precision(self) -> float | None:
        """None where nothing was accepted."""
        return self.right / self.taken if self.taken else None

    @property
    def recall(self) -> float | None:
        """None where there was nothing to accept."""
        return self.right / self.true if self.true else None


def languages_of(web: Web, subject: str) -> tuple[Language, Language]:
    counts = Counter(
        Language(row["lang"]) for row in web.truth.values() if row["topic"] == subject and row["neutral"] == "0"
    )
    if all(counts[language] for language in PAPERS_LANGUAGES):
        return PAPERS_LANGUAGES
    (first, _), (second, _) = counts.most_common(2)
    return first, second


def learned_topic(web: Web, subject: str, draw: int, folder: Path) -> Topic:
    languages = languages_of(web, subject)
    chosen = random.Random(f"{subject}/{draw}")
    texts = {language: chosen.sample(web.about(subject, language, also=False), TEXTS) for language in languages}
    learned = [
        term
        for language, urls in texts.items()
        for term in learned_terms([text_of(web.pages[url]) for url in urls], language).terms
    ]
    path = folder / f"{subject}-{draw}.txt"
    TermList(tuple(learned)).write(path)
    shown_pages = frozenset(url for urls in texts.values() for url in urls)
    return Topic(f"learned {draw}", subject, languages, path, shown_pages)


def accepted(pages: Sequence[Page], web: Web, topic: Topic, language: Language) -> Accepted:
    """Neutral pages, those that the list was learned from, and those that the truth does not know do not count."""
    counted = [
        (page, is_about(row, topic.subject))
        for page in pages
        if page.url not in topic.shown
        and (row := web.truth.get(page.url)) is not None
        and row["neutral"] == "0"
        and row["lang"] == language
    ]
    verdicts = [right for page, right in counted if page.relevance is not None and page.relevance.relevant]
    return Accepted(len(verdicts), sum(verdicts), sum(right for _, right in counted))


def together(both: Sequence[Accepted]) -> Accepted:
    return Accepted(*map(sum, zip(*both, strict=True)))


async def topics(draws: Sequence[int], in_flight: Sequence[int]) -> None:
    """With so many visits in flight, and then what the first has relative to the others."""
    async with AsyncExitStack() as stack:
        web, replay = await opened_web(stack, "web")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        learned = [learned_topic(web, subject, draw, folder) for subject, draw in product(SUBJECTS["web"], draws)]
        heads = (f"first {FIRST}: accepted", "all: accepted")
        columns = "".join(
            f"{head:>{width}}{'precision':>11}{'recall':>8}" for head, width in zip(heads, WIDTHS, strict=True)
        )
        print(f"\n{'subject, language, list':42}{'strategy':10}{columns}", flush=True)
        for name in (Strategy.TERMS, Strategy.ADAPTIVE):
            right = []
            for number in in_flight:
                print(f"{number} in flight", flush=True)
                await topic_rows(web, replay, GIVEN, name, number)
                rows = [await topic_rows(web, replay, topic, name, number) for topic in learned]
                print_mean(name, rows)
                right.append([first.right for first, _ in rows])
            for number, other in zip(in_flight[1:], right[1:], strict=True):
                print(f"first {FIRST}, {name}, {in_flight[0]} / {number}: {ratio(right[0], other)}", flush=True)


async def topic_rows(
    web: Web, replay: Replay, topic: Topic, name: Strategy, in_flight: int
) -> tuple[Accepted, Accepted]:
    """Print a row for each language. Returns what they have together: of the first fetches, and of all."""
    start = [Url.parse(STARTS[web.name])]
    job = job_for(name, topic.languages, start, TopicSection(terms=str(topic.terms), hub=True, model=model_of(name)))
    pages = await crawled(Fetching(replay.fetcher, replay.analyser), start, job, Examples({}), in_flight=in_flight)
    by_language = {
        language: [accepted(part, web, topic, language) for part in (pages[:FIRST], pages)]
        for language in topic.languages
    }
    for language, both in by_language.items():
        print_row(f"{topic.subject}, {language}, {topic.name}", name, both)
    first, whole = (together(some) for some in zip(*by_language.values(), strict=True))
    return first, whole


WIDTHS = (22, 16)  # of what was accepted of the first fetches, and of all


def print_row(what: str, name: str, both: Sequence[Accepted]) -> None:
    told = [
        f"{one.taken:{width}}{shown(one.precision):>11}{shown(one.recall):>8}"
        for one, width in zip(both, WIDTHS, strict=True)
    ]
    print(f"{what:42}{name:10}" + "".join(told), flush=True)


def print_mean(name: str, totals: Sequence[tuple[Accepted, Accepted]]) -> None:
    """Over the subjects and draws, both languages together."""
    told = []
    for column, width in zip(zip(*totals, strict=True), WIDTHS, strict=True):
        precision, recall = (average([one.precision for one in column]), average([one.recall for one in column]))
        told.append(f"{mean(one.taken for one in column):{width}.1f}{shown(precision):>11}{shown(recall):>8}")
    print(f"{'mean of the learned lists':42}{name:10}" + "".join(told), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=lambda raw: raw.split(","), default=PARTS, help=f"of {', '.join(PARTS)}")
    parser.add_argument("--sites", nargs="*", default=(), help="of the pairs")
    parser.add_argument(
        "--draws", type=lambda raw: [int(one) for one in raw.split(",")], default=[1], help="of texts for the topics"
    )
    add_option(parser)
    asked = parser.parse_args()
    for part, folder in (("pairs", SITES), ("topics", DOMAIN)):
        if part in asked.parts and not folder.is_dir():
            raise SystemExit(f"{folder} is not there: this benchmark needs the frozen webs (lab/notes/benchmarks.md)")
    if "pairs" in asked.parts:
        pairs(asked.sites)
    if "topics" in asked.parts:
        asyncio.run(topics(asked.draws, asked.in_flight))


if __name__ == "__main__":
    main()
