"""URLs paired by URLs alone: collective matching beside WMT16's rule, the model for two URLs, the negatives, time.

Everything that is learned is learned from other hosts (cross-validation by host).
"""

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.url import Url
from bitrawl.urls import URL_PAIR_SCORE, RuleUrlPairModel, TreeUrlPairModel, match_urls, rule_pairs
from bitrawl.urls.pair_model import FEATURES, feature_rows
from bitrawl.urls.site_pairs import MatchingModels, one_to_one
from bitrawl.urls.tokens import PAGE_WORDS, marked_tokens
from lab.train.folds import fold_of
from lab.train.made_up_urls import MADE_UP_KINDS, is_made_up, made_up, made_up_kind
from lab.train.trees import grow
from lab.train.url_examples import Case, Example, all_examples, case_of, hard_negatives, wmt16
from lab.train.url_kinds import Kind, kind_of, kinds_of, shows
from lab.train.url_negatives import Generator, negatives
from lab.train.url_pairs import (
    BEST,
    FOLDS,
    ORPHANS,
    directions,
    first_of,
    judged,
    train_judges,
    train_pair_model,
    training_cases,
)

DATA = Path(__file__).parents[3] / "shared" / "data"
LOSS, SEEDS = 0.15, (1, 2, 3)
ENGLISH, FRENCH = Language("en"), Language("fr")
UrlPair = tuple[Url, Url]
Counts = defaultdict[tuple[str, str], list[int]]  # right, found, wanted


def main() -> None:
    if not DATA.exists():
        print(f"url_pairs: {DATA} is not here; public sources: github.com/L3viathan/wmt16 (WMT16's training pairs),")
        print("github.com/mdn/translated-content, and the sites that src/bitrawl/models/pairs.md names")
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", default=["collective", "kinds", "time", "wmt16", "negatives"])
    for part in parser.parse_args().parts:
        parts = {"collective": collective, "kinds": kinds, "time": speed, "wmt16": shared_task, "negatives": generators}
        parts[part]()


def collective() -> None:
    """Each list of URLs with judges that have not seen its site."""
    examples = all_examples(DATA)
    folds = fold_of((example.site for example in examples), FOLDS)
    cases = list(training_cases([*examples, *made_up(examples)]))
    firsts = [first_of(case) for case in cases]
    counts: Counts = defaultdict(lambda: [0, 0, 0])
    by_kind: Counts = defaultdict(lambda: [0, 0, 0])
    for fold in range(FOLDS):
        others = [number for number, case in enumerate(cases) if folds[case.example.site] != fold]
        judges = train_judges([cases[number] for number in others], [firsts[number] for number in others])
        for example in (one for one in examples if folds[one.site] == fold):
            for name, case in cases_of(example):
                found = judged(case, judges, URL_PAIR_SCORE)
                add(counts[name, "collective"], found, case)
                add(counts[name, "rule"], by_rule(case), case)
                if "all URLs" in name and example.source != "numbered":
                    add_by_kind(by_kind, found, case)
    print(f"collective matching, cross-validated by site, threshold {URL_PAIR_SCORE}\n")
    show(counts)
    print("WMT16, MDN and site packs, all URLs, by kind of difference (a false pair has no kind)\n")
    show(by_kind)


def add_by_kind(counts: Counts, found: set[tuple[int, int]], case: Case) -> None:
    numbers = {url: number for number, url in enumerate(case.view.urls)}
    for (a, b), kinds_of_pair in zip(case.example.pairs, kinds_of(case.example.pairs), strict=True):
        pair = (min(numbers[a], numbers[b]), max(numbers[a], numbers[b]))
        right = int(pair in found)
        for place, value in enumerate((right, right, 1)):
            counts[case.example.source, kind_of(kinds_of_pair)][place] += value


def kinds() -> None:
    """Made-up sites of each kind of difference, with judges that have seen neither their hosts nor that kind."""
    examples = all_examples(DATA)
    sites = made_up(examples)
    halves = fold_of((example.site for example in examples), 2)
    cases = list(training_cases([*examples, *sites]))
    firsts = [first_of(case) for case in cases]
    counts: Counts = defaultdict(lambda: [0, 0, 0])
    for kind, half in product(MADE_UP_KINDS, range(2)):
        others = [
            number
            for number, case in enumerate(cases)
            if halves[case.example.site] != half and not knows(case.example, kind)
        ]
        judges = train_judges([cases[number] for number in others], [firsts[number] for number in others])
        for site in sites:
            if made_up_kind(site) == kind and halves[site.site] == half:
                for name, loss in (("all URLs", 0.0), ("a third without partner", ORPHANS)):
                    case = case_of(site, loss=loss)
                    add(counts[kind, name], judged(case, judges, URL_PAIR_SCORE), case)
    print("made-up sites, judges that have seen neither the host nor the kind of difference\n")
    show(counts)


def knows(example: Example, kind: Kind) -> bool:
    """Whether one could learn that kind of difference from it."""
    return shows(example, kind) or (is_made_up(example) and made_up_kind(example) == kind)


def show(counts: Counts) -> None:
    print(f"{'list':34} {'':24} {'pairs':>6} {'precision':>9} {'recall':>7} {'F1':>6}")
    for (name, system), (right, found, wanted) in sorted(counts.items()):
        precision, recall = right / max(found, 1), right / max(wanted, 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        print(f"{name:34} {system:24} {wanted:6} {precision:9.3f} {recall:7.3f} {f1:6.3f}")
    print(flush=True)


def cases_of(example: Example) -> list[tuple[str, Case]]:
    seeds = SEEDS if example.source == "wmt16" else SEEDS[:1]
    return [
        (f"{example.source}, all URLs", case_of(example)),
        *((f"{example.source}, 2 x 15 % lost, seed {seed}", case_of(example, loss=LOSS, seed=seed)) for seed in seeds),
    ]


def add(count: list[int], found: set[tuple[int, int]], case: Case) -> None:
    for place, value in enumerate((len(found & case.gold), len(found), len(case.gold))):
        count[place] += value


def by_rule(case: Case) -> set[tuple[int, int]]:
    numbers = {url: number for number, url in enumerate(case.view.urls)}
    found = rule_pairs(case.view.urls, *case.example.languages)
    return {(min(numbers[a], numbers[b]), max(numbers[a], numbers[b])) for a, b, _ in found}


def speed() -> None:
    """Time for one site of 10,000 URLs, and for the links of a page."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnoprstu", k=rng.randint(3, 9))) for _ in range(4000)]
    for name, form, marks in (
        ("glued without a mark", "https://big.test/{1}/{0}{2}-{3}-{4}.html", ("qx", "")),
        ("numbers", "https://big.test/{}/{}/{}{}?id={}", ("en", "fr")),
        ("marked", "https://big.test/{}/{}/{}-{}-{}.html", ("en", "fr")),
    ):
        urls = []
        for number in range(5000):
            rest = (rng.choice(words[:40]), rng.choice(words), rng.choice(words), number)
            urls += [Url.parse(form.format(mark, *rest)) for mark in marks]
        timed(name, urls)
    slugs = ["-".join(rng.choices(words, k=4)) for _ in range(10_000)]
    timed("random slugs", [Url.parse(f"https://big.test/blog/{slug}") for slug in slugs])
    timed("random numbers", [Url.parse(f"https://big.test/p/{rng.randrange(10**9)}") for _ in range(10_000)])
    started = time.perf_counter()
    model = TreeUrlPairModel.load()
    print(f"model loaded in {1000 * (time.perf_counter() - started):.0f} ms")
    marked_tokens.cache_clear()
    page, links = urls[0], urls[1:2001]
    started = time.process_time()
    for start in range(0, 2000, 100):
        model.parallel([(page, link) for link in links[start : start + 100]])
    print(
        f"a page with its links: {(time.process_time() - started) / 2000 * 1e6:.0f} µs of processor a pair, links never seen before\n"
    )


def timed(name: str, urls: Sequence[Url]) -> None:
    """The processor's seconds are the ones to compare when the machine is busy."""
    started, used = time.perf_counter(), time.process_time()
    found = match_urls(urls, ENGLISH, FRENCH)
    wall, processor = time.perf_counter() - started, time.process_time() - used
    print(f"{len(urls)} URLs of one site, {name}: {wall:.1f} s, {processor:.1f} s of processor, {len(found)} pairs")


def shared_task() -> None:
    """Recall and soft recall as in WMT16: all English and all French URLs of a site, one to one, languages known."""
    examples = wmt16(DATA / "wmt16-train.pairs.tsv")
    every = [one for one in all_examples(DATA) if one.source != "numbered"]
    folds = fold_of((example.site for example in every), FOLDS)
    names = ("rule", "model for two URLs", "collective, languages given")
    right: defaultdict[str, int] = defaultdict(int)
    soft: defaultdict[str, float] = defaultdict(float)
    total = sum(len(example.pairs) for example in examples)
    for fold in range(FOLDS):
        training = [one for one in every if folds[one.site] != fold]
        trees, judges = train_pair_model(training), train_judges(list(training_cases(training)))
        for example in (one for one in examples if folds[one.site] == fold):
            model = TreeUrlPairModel(trees)
            answers = (
                by_model(example, RuleUrlPairModel().parallel),
                by_model(example, model.parallel),
                told(example, judges),
            )
            for name, found in zip(names, answers, strict=True):
                right[name] += len(found & set(example.pairs))
                soft[name] += sum(nearly(pair, found) for pair in example.pairs)
    print("WMT16's manner: all English x all French URLs of a host, one to one, cross-validated by host\n")
    print(f"{'system':30} {'recall':>7} {'soft recall':>12}")
    for name in names:
        print(f"{name:30} {right[name] / total:7.3f} {soft[name] / total:12.3f}")
    print()


def by_model(example: Example, parallel: Callable[[Sequence[UrlPair]], NDArray[Any]]) -> set[UrlPair]:
    english = list(dict.fromkeys(a for a, _ in example.pairs))
    french = list(dict.fromkeys(b for _, b in example.pairs))
    pairs = list(product(range(len(english)), range(len(french))))
    scores = parallel([(english[a], french[b]) for a, b in pairs]).tolist()
    shifted = {(a, len(english) + b): score for (a, b), score in zip(pairs, scores, strict=True)}
    return {(english[a], french[b - len(english)]) for a, b in one_to_one(shifted, 1e-3)}


def told(example: Example, judges: MatchingModels) -> set[UrlPair]:
    language_of = {a: ENGLISH for a, _ in example.pairs} | {b: FRENCH for _, b in example.pairs}
    found = match_urls(list(language_of), ENGLISH, FRENCH, language_of=language_of, threshold=0.01, models=judges)
    return {(one.url_a, one.url_b) for one in found}


def nearly(pair: UrlPair, found: set[UrlPair]) -> float:
    """1 for the pair, or for one of its URLs with a copy of the other.

    The task calls documents copies whose texts are nearly the same. Without texts, copies are URLs that differ in case,
    scheme, www, a slash at the end or the name of an index page: a lower bound.
    """
    if pair in found:
        return 1.0
    wanted = [copy_of(url) for url in pair]
    return float(any(end in pair and [copy_of(a), copy_of(b)] == wanted for a, b in found for end in (a, b)))


def copy_of(url: Url) -> tuple[str, ...]:
    return tuple(token for token in marked_tokens(url).tokens if token not in PAGE_WORDS and token.isalnum())


def generators() -> None:
    """Table A.5: every combination of the six, tested on pairs of similar content that are no translations."""
    examples = wmt16(DATA / "wmt16-train.pairs.tsv")
    folds = fold_of((example.site for example in examples), FOLDS)
    tests = [
        (pair, label) for pair, label in hard_negatives(DATA / "wmt16-train.candidates.tsv.gz") if pair[0].host in folds
    ]
    test_rows = feature_rows([pair for pair, _ in tests])
    truth = np.array([label for _, label in tests])
    test_folds = np.array([folds[pair[0].host] for pair, _ in tests])
    made: dict[tuple[int, int], NDArray[Any]] = {}
    for fold in range(FOLDS):
        positives = [pair for one in examples if folds[one.site] != fold for pair in one.pairs]
        made[fold, 0] = feature_rows(positives)
        for generator in Generator:
            made[fold, generator] = feature_rows(negatives(positives, generator))
    table = []
    for size in range(1, len(Generator) + 1):
        for chosen in combinations(Generator, size):
            answers = np.zeros(len(tests), bool)
            for fold in range(FOLDS):
                parts = [made[fold, 0], *(made[fold, generator] for generator in chosen)]
                labels = np.concatenate(
                    [np.full(len(part), float(not number), np.float32) for number, part in enumerate(parts)]
                )
                trees = grow(np.concatenate(parts), labels, directions=directions(FEATURES), trees=40)
                answers[test_folds == fold] = trees.probability(test_rows[test_folds == fold]) > 0.5
            table.append(("+".join(str(int(one)) for one in chosen), scores_of(truth, answers)))
    table.append(("WMT16's rule", scores_of(truth, RuleUrlPairModel().parallel([pair for pair, _ in tests]) > 0.5)))
    print(
        f"negatives: {len(tests)} pairs of similar content, {truth.sum()} of them translations; default {'+'.join(map(str, BEST))}\n"
    )
    print(
        f"{'generators':14} {'P pos':>6} {'R pos':>6} {'F1 pos':>6} {'P neg':>6} {'R neg':>6} {'F1 neg':>6} {'macro F1':>8}"
    )
    for name, row in sorted(table, key=lambda entry: -entry[1][-1]):
        print(f"{name:14}", *(f"{value:6.3f}" for value in row[:-1]), f"{row[-1]:8.3f}")
    print()


def scores_of(truth: NDArray[Any], answers: NDArray[Any]) -> list[float]:
    row: list[float] = []
    for label in (True, False):
        right = int(((truth == label) & (answers == label)).sum())
        precision, recall = right / max(int((answers == label).sum()), 1), right / max(int((truth == label).sum()), 1)
        row += [precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)]
    return [*row, (row[2] + row[5]) / 2]


if __name__ == "__main__":
    main()
