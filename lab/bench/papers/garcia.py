"""García-Romero et al. 2024 repeated: tables A.5 and 4, figures 3, 5 and 7, on the frozen sites.

    python -m lab.bench papers garcia                           # all of it; the figures go to docs/images
    python -m lab.bench.papers.garcia --parts curves --draw /tmp

pairs: whether two URLs are translations (table A.5, table 4, figure 5). The test set of a site in two languages has its true pairs,
and against them each page of a true pair with every other page in one of the two languages that its HTML links to. A link counts as the
page that it leads to. Pairs that nobody can judge are left out. "Linked" is the test set as the paper makes it: only pages that link
to their translation. A model is trained ten times, each time without the site that it is tested on: on at most 60 pairs of every other
site, of WMT16's hosts and of MDN, with the wrong pairs that the generators make of these. A system that is "told" knows the two
languages, as the strategy `url-models` does.

languages: the language behind a URL (figure 3), by models that have not seen its domain; languages with as many URLs and domains as
the paper asks for.

curves: how many of the true pairs are complete after a share of the fetches (figure 7), for the four language pairs that most sites
have. The models of `url-models` and `adaptive` have not seen the site.
"""

import argparse
import asyncio
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import language_name, same_language
from bitrawl.model import Language
from bitrawl.model_files import models_from
from bitrawl.papers.replay import landed, opened_replay
from bitrawl.papers.trial import UrlPair, in_order
from bitrawl.show import Series
from bitrawl.strategies import UNFOCUSED
from bitrawl.text.arrays import Floats32, Trees
from bitrawl.url import Url
from bitrawl.urls import RuleUrlPairModel, TreeUrlPairModel, rule_pairs
from bitrawl.urls.language_model import UrlLanguageData
from bitrawl.urls.pair_model import feature_rows
from lab.bench import url_language
from lab.bench.papers.panels import Curve, Lines, Two, dumbbells, lines
from lab.bench.strategies import CACHE, SITES, Asked, Line, simulate_pairs
from lab.bench.url_pairs import DATA, scores_of
from lab.train.adaptive import LEAST_PAIRS
from lab.train.site_packs import SitePack, open_packs
from lab.train.trees import named_arrays
from lab.train.url_examples import Example, all_examples
from lab.train.url_language import read_urls, training_urls
from lab.train.url_negatives import Generator
from lab.train.url_pairs import BEST, grown, pair_rows, train_pair_model

PARTS = ("pairs", "languages", "curves")
IMAGES = Path(__file__).parents[3] / "docs" / "images"
Generators = tuple[int, ...]
Floats, Bools = NDArray[np.float64], NDArray[np.bool_]
Answers = Sequence[Bools]  # one array for each test

COMBINATIONS: list[Generators] = [
    tuple(map(int, chosen)) for size in range(1, len(Generator) + 1) for chosen in combinations(Generator, size)
]
PAPER_BEST: Generators = (1, 2, 3, 4, 5)
PAPER_MACRO_F1 = dict(  # table A.5
    zip(
        COMBINATIONS,
        map(
            float,
            "86.66 92.26 54.90 89.05 77.06 44.16 91.48 87.79 91.91 93.85 86.22 93.38 93.91 93.86 93.61 94.11 90.56 50.77 79.14 83.22"
            " 87.55 94.12 92.18 93.83 92.94 91.72 95.14 84.18 94.74 91.69 94.45 94.88 93.85 91.93 93.94 94.02 95.33 94.89 92.82 88.60"
            " 95.14 94.25 94.36 94.27 93.62 93.51 94.90 95.06 91.35 95.35 95.48 94.45 93.69 94.26 94.80 94.52 95.74 92.08 94.95 93.56"
            " 94.17 95.29 94.07".split(),
        ),
        strict=True,
    )
)
PAPER_TABLE_4 = {  # precision, recall and F1 of pairs and of others, macro F1, in points
    "the paper: rule": (64.37, 12.78, 21.33, 93.86, 99.47, 96.58, 58.96),
    "the paper: model": (76.28, 61.79, 68.28, 97.19, 98.57, 97.87, 83.08),
}
SEEDS = (1, 2)  # with which pairs are drawn and wrong ones are made
F1 = 2  # column of `url_language.scores`
F1_PAIRS, F1_OTHERS, MACRO_F1 = 2, 5, 6  # columns of `scores_of`
SHOWN_LANGUAGES = (100, 10)  # URLs and domains that the paper's figure 3 asks of a language, at least
CURVES = 4  # language pairs of figure 7
MARKS = (
    0,
    2,
    5,
    10,
    15,
    *range(20, 101, 10),
)  # percentages of the fetches at which the curves of figure 7 have a point
WHISKERS = (10, 30, 50, 70, 90)  # percentages at which the deviation is drawn
PRINTED = (5, 10, 25, 50, 75, 100)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.papers.garcia")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--draw", type=Path, default=IMAGES, help="the folder for the figures")
    parser.add_argument(
        "--generators", type=int, nargs="+", default=BEST, help="of what url-models learns, in the part curves"
    )
    asked = parser.parse_args()
    if not SITES.exists() or not DATA.exists():
        print(f"papers garcia: {SITES} or {DATA} is not here; lab/notes/benchmarks.md says what is in them")
        return
    for name in asked.parts:
        match name:
            case "pairs":
                pairs(asked.draw)
            case "languages":
                languages(asked.draw)
            case "curves":
                curves(asked.draw, asked.generators)


def today() -> str:
    return datetime.now(UTC).date().isoformat()


# Tables A.5 and 4, figure 5


class LinkedSite(NamedTuple):
    """The pages of a site: the language of each, and the pages that it links to."""

    languages: Mapping[Url, Language]
    links: Mapping[Url, Collection[Url]]


class LinkTest(NamedTuple):
    """Pairs of pages of a site, in two languages, and which of them are translations."""

    site: str
    languages: tuple[Language, Language]
    pairs: Sequence[UrlPair]
    true: Bools
    linked: Bools  # pairs of a page that links to its translation: the test set of the paper


def link_test(
    name: str,
    site: LinkedSite,
    languages: tuple[Language, Language],
    true: Collection[UrlPair],
    uncounted: Collection[UrlPair],
) -> LinkTest:
    """The true pairs, and each of their pages with every other page of the two languages that it links to."""
    found = dict.fromkeys(sorted(true), True)
    linked: set[UrlPair] = set()
    for url in sorted({url for pair in true for url in pair}):
        targets = [
            target
            for target in site.links.get(url, ())
            if target != url and any(same_language(site.languages[target], language) for language in languages)
        ]
        of_page = {
            pair: pair in true for pair in (in_order((url, target)) for target in targets) if pair not in uncounted
        }
        found |= of_page
        if any(of_page.values()):
            linked |= of_page.keys()
    return LinkTest(
        name, languages, list(found), np.array(list(found.values())), np.array([pair in linked for pair in found])
    )


async def linked_site(pack: SitePack) -> LinkedSite:
    async with opened_replay([pack.archive], cache=CACHE) as replay:
        pages = {page.url: page for page in await replay.pages()}
        targets = {link.url for page in pages.values() for link in page.links}
        pages_at = {url: await landed(replay.fetcher, url) for url in targets}
    links = {
        url: dict.fromkeys(target for link in page.links if (target := pages_at[link.url]) in pages)
        for url, page in pages.items()
    }
    return LinkedSite({url: page.language for url, page in pages.items()}, links)


async def link_tests() -> list[LinkTest]:
    """Each language pair with English that has enough true pairs, of each frozen site."""
    tests = []
    for pack in open_packs(SITES):
        site, uncounted = await linked_site(pack), pack.uncounted_pairs()
        tests += [
            link_test(pack.name, site, two, pack.true_pairs(two), uncounted)
            for two in pack.pairs_with_english(LEAST_PAIRS)
        ]
    return tests


class Result(NamedTuple):
    """Rows of `scores_of`."""

    by_test: Floats
    linked: Floats  # for each test with enough pairs of pages that link to their translation
    together: Floats  # one row for the pairs of all tests


def result(tests: Sequence[LinkTest], answers: Answers) -> Result:
    both = list(zip(tests, answers, strict=True))
    linked = [
        scores_of(test.true[test.linked], answer[test.linked])
        for test, answer in both
        if (test.true & test.linked).sum() >= LEAST_PAIRS
    ]
    together = scores_of(np.concatenate([test.true for test in tests]), np.concatenate(answers))
    by_test = [scores_of(test.true, answer) for test, answer in both]
    return Result(np.array(by_test), np.array(linked), np.array(together))


def pairs(folder: Path) -> None:
    tests = asyncio.run(link_tests())
    true, every = sum(int(test.true.sum()) for test in tests), sum(len(test.pairs) for test in tests)
    print(
        f"{today()}: {len(tests)} language pairs of {len({test.site for test in tests})} sites, {true} true pairs,"
        f" {every - true} others; trained without the site\n"
    )
    rule = result(tests, [RuleUrlPairModel().parallel(test.pairs) > 0.5 for test in tests])
    bench = Bench.of(tests)
    results = {chosen: [bench.alone(chosen, seed) for seed in SEEDS] for chosen in COMBINATIONS}
    print_combinations(tests, results, rule)
    shown: list[Generators] = [PAPER_BEST, BEST]
    systems = {
        "rule": rule,
        **{f"model {name_of(chosen)}": averaged(results[chosen]) for chosen in shown},
        "rule, told": result(tests, [rule_told(test) for test in tests]),
        **{
            f"model {name_of(chosen)}, told": averaged([bench.told(chosen, seed) for seed in SEEDS]) for chosen in shown
        },
    }
    print_systems(systems, len(tests))
    print_tests(tests, systems)
    draw_languages(folder / "garcia-pairs-by-language.svg", tests, rule, averaged(results[PAPER_BEST]))


def averaged(of_seeds: Sequence[Result]) -> Result:
    return Result(*(np.mean(rows, axis=0) for rows in zip(*of_seeds, strict=True)))


class Bench(NamedTuple):
    """What is the same for all combinations of generators."""

    tests: Sequence[LinkTest]
    rows: Sequence[Floats32]  # features of the pairs of each test
    lessons: Mapping[tuple[str, int], Mapping[int, Floats32]]  # by the site that is left out, and the seed

    @classmethod
    def of(cls, tests: Sequence[LinkTest]) -> "Bench":
        sites = dict.fromkeys(test.site for test in tests)
        lessons = {(site, seed): pair_rows(without(site), list(Generator), seed) for site in sites for seed in SEEDS}
        return cls(tests, [feature_rows(test.pairs) for test in tests], lessons)

    def alone(self, chosen: Generators, seed: int) -> Result:
        """Of models that know the two URLs and nothing else, as in the paper."""
        trees = self._trees(chosen, seed)
        answers = [trees[test.site].probability(rows) > 0.5 for test, rows in zip(self.tests, self.rows, strict=True)]
        return result(self.tests, answers)

    def told(self, chosen: Generators, seed: int) -> Result:
        """Of the same models, which know the two languages besides."""
        trees = self._trees(chosen, seed)
        answers = [
            TreeUrlPairModel(trees[test.site], languages=test.languages).parallel(test.pairs) > 0.5
            for test in self.tests
        ]
        return result(self.tests, answers)

    def _trees(self, chosen: Generators, seed: int) -> dict[str, Trees]:
        sites = dict.fromkeys(test.site for test in self.tests)
        return {site: grown(self.lessons[site, seed], chosen) for site in sites}


def without(site: str) -> list[Example]:
    """What a model learns from that has not seen the site. Made-up numbers are for the models of whole sites."""
    return [example for example in all_examples(DATA) if example.site != site and example.source != "numbered"]


def rule_told(test: LinkTest) -> Bools:
    return np.array([bool(rule_pairs(pair, *test.languages)) for pair in test.pairs])


def name_of(chosen: Generators) -> str:
    return "+".join(map(str, chosen))


def print_combinations(tests: Sequence[LinkTest], results: Mapping[Generators, Sequence[Result]], rule: Result) -> None:
    print(
        f"table A.5: F1 of pairs, of others and macro F1, mean over language pairs and {len(SEEDS)} seeds; ±: half of what"
    )
    print("the seeds differ by; linked: as the paper tests; together: all language pairs collectively")
    heads = ("paper", "pairs", "others", "macro", "±", "linked", "together")
    print(f"{'generators':14}" + "".join(f"{head:>9}" for head in heads))
    means = {chosen: averaged(of_seeds) for chosen, of_seeds in results.items()}
    for chosen in sorted(means, key=lambda chosen: -macro_f1(means[chosen])):
        apart = 100 * np.ptp([macro_f1(one) for one in results[chosen]]) / 2
        print(f"{name_of(chosen):14}{PAPER_MACRO_F1[chosen]:9.2f}{cells(means[chosen], apart)}")
    print(f"{'rule':14}{'':9}{cells(rule, 0.0)}")
    ours, paper = [macro_f1(means[chosen]) for chosen in COMBINATIONS], list(PAPER_MACRO_F1.values())
    print(f"rank correlation of our macro F1 with the paper's: {rank_correlation(ours, paper):.2f}")
    print(f"if the other sites choose the combination: {100 * chosen_elsewhere(tests, means):.2f}\n", flush=True)


def macro_f1(of: Result) -> float:
    return float(of.by_test[:, MACRO_F1].mean())


def cells(of: Result, apart: float) -> str:
    pairs_f1, others_f1, macro = 100 * of.by_test.mean(axis=0)[[F1_PAIRS, F1_OTHERS, MACRO_F1]]
    linked, together = 100 * of.linked[:, MACRO_F1].mean(), 100 * of.together[MACRO_F1]
    return "".join(f"{value:9.2f}" for value in (pairs_f1, others_f1, macro, apart, linked, together))


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's."""
    ranks = [np.argsort(np.argsort(values)) for values in (a, b)]
    return float(np.corrcoef(*ranks)[0, 1])


def chosen_elsewhere(tests: Sequence[LinkTest], results: Mapping[Generators, Result]) -> float:
    """Macro F1 if each site gets the combination that is best on the others."""
    by_test = np.array([of.by_test[:, MACRO_F1] for of in results.values()])
    sites = np.array([test.site for test in tests])
    found = np.zeros(len(tests))
    for site in set(sites):
        best = by_test[:, sites != site].mean(axis=1).argmax()
        found[sites == site] = by_test[best, sites == site]
    return float(found.mean())


def print_systems(systems: Mapping[str, Result], count: int) -> None:
    heads = ("P pairs", "R pairs", "F1", "P other", "R other", "F1", "macro P", "macro R", "macro F1")
    print(
        f"table 4: all language pairs together; then the mean of macro F1 over {count} language pairs, and over linked ones"
    )
    print(f"{'':26}" + "".join(f"{head:>9}" for head in heads) + f"{'mean':>9}{'linked':>9}")
    for name, row in PAPER_TABLE_4.items():
        print(f"{name:26}" + table_4_row(np.array(row)))
    for name, of in systems.items():
        means = (100 * some[:, MACRO_F1].mean() for some in (of.by_test, of.linked))
        print(f"{name:26}{table_4_row(100 * of.together)}" + "".join(f"{value:9.2f}" for value in means))
    print()


def table_4_row(row: Floats) -> str:
    precision, recall = (row[0] + row[3]) / 2, (row[1] + row[4]) / 2
    return "".join(f"{value:9.2f}" for value in (*row[:MACRO_F1], precision, recall, row[MACRO_F1]))


def print_tests(tests: Sequence[LinkTest], systems: Mapping[str, Result]) -> None:
    print("macro F1 by language pair: " + "; ".join(systems))
    for place, test in enumerate(tests):
        shown = "".join(f"{100 * of.by_test[place, MACRO_F1]:8.2f}" for of in systems.values())
        count = int(test.true.sum())
        print(f"{test.site:20}{'-'.join(test.languages):7}{count:6} true{len(test.pairs) - count:7} others{shown}")
    print(flush=True)


def draw_languages(path: Path, tests: Sequence[LinkTest], rule: Result, model: Result) -> None:
    places: defaultdict[Language, list[int]] = defaultdict(list)
    for place, test in enumerate(tests):
        places[test.languages[1]].append(place)

    def mean(of: Result, some: Sequence[int]) -> float:
        return 100 * float(of.by_test[some, MACRO_F1].mean())

    rows = [
        Two(code, f"English and {language_name(code)}, sites: {len(some)}", mean(rule, some), mean(model, some))
        for code, some in places.items()
    ]
    title = f"Are two URLs translations? Macro F1 by language, paired with English ({today()})"
    drawn = sorted(rows, key=lambda row: -row.second)
    path.write_text(dumbbells(title, drawn, names=("rule", "model"), y="macro F1"), encoding="utf-8")
    print(f"figure 5: {path}\n", flush=True)


# Figure 3


def languages(folder: Path) -> None:
    labelled = read_urls(DATA)
    tested = [row for row in labelled if row.source in ("books", "hosts", "wmt16")]
    answers = url_language.held_out(UrlLanguageData.load(), training_urls(labelled), tested)
    truth = [answer.row.language for answer in answers]
    rules = url_language.scores(truth, [answer.rules for answer in answers])
    model = url_language.scores(truth, [answer.model for answer in answers])
    urls, domains = Counter(truth), Counter(code for code, _ in {(a.row.language, a.row.url.site) for a in answers})
    least_urls, least_domains = SHOWN_LANGUAGES
    rows = [
        Two(code, f"{language_name(code)}, URLs: {urls[code]}", 100 * rules[code][F1], 100 * model[code][F1])
        for code in urls
        if urls[code] >= least_urls and domains[code] >= least_domains
    ]
    rows.sort(key=lambda row: -row.second)
    print(
        f"{today()}, figure 3: F1 by language, URLs of books, hosts and WMT16, domains held out; rules, model (URLs, domains)"
    )
    for row in rows:
        print(f"{row.label:5}{row.first:6.1f}{row.second:6.1f}  ({urls[row.label]}, {domains[row.label]})")
    for name, scores in (("rules", rules), ("model", model)):
        shown = [scores[row.label][F1] for row in rows]
        print(
            f"macro F1, {name}: {100 * np.mean(shown):.1f} of these, {100 * np.mean([f1 for *_, f1 in scores.values()]):.1f} of all"
        )
    path = folder / "garcia-url-language.svg"
    title = f"The language behind a URL: F1 by language ({today()})"
    path.write_text(dumbbells(title, rows, names=("rules", "model"), y="F1"), encoding="utf-8")
    print(f"figure 3: {path}\n", flush=True)


# Figure 7

LanguagePair = tuple[Language, Language]


def curves(folder: Path, generators: Sequence[int]) -> None:
    packs = open_packs(SITES)
    chosen = most_frequent(packs)
    found = [line for pack in packs for line in simulated(pack, chosen, generators)]
    print(
        f"{today()}, figure 7: % of the true pairs complete after a share of breadth-first's fetches; mean ± deviation over sites"
    )
    panels = []
    for two in chosen:
        of_two = [line for line in found if line.languages == "-".join(two)]
        sites = list(dict.fromkeys(line.site for line in of_two))
        title = f"{' and '.join(map(language_name, two))}, {len(sites)} sites"
        print(f"\n{title}: {', '.join(sites)}")
        print(f"{'':16}" + "".join(f"{f'{mark} %':>12}" for mark in PRINTED) + f"{'area':>16}   area by site")
        drawn = []
        for name in UNFOCUSED:
            of_strategy = [line for line in of_two if line.strategy == name]
            shares = np.array([shares_of(line) for line in of_strategy])
            areas = np.array([line.figures.area or 0.0 for line in of_strategy])
            shown = "".join(f"{shares[:, mark].mean():6.0f} ± {shares[:, mark].std(ddof=1):2.0f} " for mark in PRINTED)
            by_site = " ".join(f"{area:.2f}" for area in areas)
            print(f"{name:16}{shown}{areas.mean():9.3f} ± {areas.std(ddof=1):.3f}   {by_site}", flush=True)
            drawn.append(curve_of(name, shares))
        panels.append(Lines(title, drawn))
    path = folder / "garcia-curves.svg"
    title = f"Complete pairs by fetches: mean and standard deviation over sites ({today()})"
    path.write_text(lines(title, panels, x="% of the fetches", y="% of the true pairs"), encoding="utf-8")
    print(f"\nfigure 7: {path}\n", flush=True)


def most_frequent(packs: Sequence[SitePack]) -> list[LanguagePair]:
    """The language pairs that most sites have; of two with as many sites, that with more true pairs."""
    counts = [(two, pack.pair_counts["-".join(two)]) for pack in packs for two in pack.pairs_with_english(LEAST_PAIRS)]
    sites, true = Counter(two for two, _ in counts), Counter[LanguagePair]()
    for two, count in counts:
        true[two] += count
    return sorted(sites, key=lambda two: (-sites[two], -true[two]))[:CURVES]


def simulated(pack: SitePack, chosen: Collection[LanguagePair], generators: Sequence[int]) -> list[Line]:
    """All strategies on those language pairs that the site has, with models that have not seen it."""
    some = [two for two in pack.pairs_with_english(LEAST_PAIRS) if two in chosen]
    if not some:
        return []
    with tempfile.TemporaryDirectory() as folder:
        trees = train_pair_model(without(pack.name), generators)
        np.savez(Path(folder) / "url-pairs.npz", **named_arrays(pair=trees))
        with models_from(folder):
            return asyncio.run(simulate_pairs(pack, some, Asked(UNFOCUSED, "", alternates=True, models=True)))


def shares_of(line: Line) -> list[float]:
    """The percentage of the true pairs that are complete at each percentage of the x axis, from 0 to 100."""
    curve, true = line.figures.curve, line.true
    return [100 * curve[round(mark * len(curve) / 100) - 1] / true if mark else 0.0 for mark in range(101)]


def curve_of(name: str, shares: Floats) -> Curve:
    """`shares` has a row for each site."""
    mean, deviation = shares.mean(axis=0), shares.std(axis=0, ddof=1)
    low, high = np.clip(mean - deviation, 0, 100), np.clip(mean + deviation, 0, 100)
    points = tuple((mark, round(float(mean[mark]))) for mark in MARKS)
    return Curve(Series(name, points), [(mark, float(low[mark]), float(high[mark])) for mark in WHISKERS])


if __name__ == "__main__":
    main()
