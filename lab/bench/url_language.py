"""The language behind a URL: our model and the rules of García-Romero 2.1 side by side, on hosts that neither saw.

`python -m lab.bench.url_language`. Folds by registrable domain: the model is fitted three times, each time on the URLs
of two folds. An answer is the best language, "und" aside; the rules' "und" is an answer that is never right. The sites
of ../shared/sites are never trained on, the model for them is that of all folds, which is the bundled one.
"""

import csv
import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bitrawl.model import UNDETERMINED, Language
from bitrawl.url import Url
from bitrawl.urls import LinearUrlLanguageModel, language_by_rules
from bitrawl.urls.language_model import UrlLanguageData
from lab.train.url_language import Labelled, fit, read_urls, training_urls
from lab.train.url_language_words import base_language

SHARED = Path(__file__).parents[3] / "shared"
FOLDS = 3
LEFT_OUT = ("ru", "id", "pl", "de", "fi", "ja", "el")  # languages that one more model sees no URL of
BATCH = 2000


class Answer(NamedTuple):
    row: Labelled
    fold: int
    rules: Language
    model: Language
    chance: float  # of the model's answer
    unknown: float


def main() -> None:
    if not (SHARED / "data").exists():
        print(
            f"url_language: {SHARED / 'data'} is not here; public sources: github.com/EbookFoundation/free-programming-books,"
        )
        print("the lists of github.com/easylist, github.com/mdn/translated-content, github.com/L3viathan/wmt16")
        return
    tables = UrlLanguageData.load()
    labelled = [row for row in read_urls(SHARED / "data") if row.source != "mdn-masked"]
    for_training = training_urls(read_urls(SHARED / "data"))
    tested = [*labelled, *map(masked, (row for row in labelled if row.source == "mdn"))]
    answers = held_out(tables, for_training, tested)
    bundled = LinearUrlLanguageModel(tables)
    answers += answered(bundled, list(site_urls()), 0)
    print_table(answers)
    print_languages([answer for answer in answers if answer.row.source in ("books", "hosts", "wmt16")])
    print_calibration([answer for answer in answers if answer.row.source == "books"])
    print_left_out(tables, for_training, labelled, answers)
    print_speed(labelled)


def held_out(tables: UrlLanguageData, for_training: Sequence[Labelled], tested: Sequence[Labelled]) -> list[Answer]:
    """What models answer that have learned from none of the domains that they are asked about."""
    answers: list[Answer] = []
    for fold in range(FOLDS):
        model = LinearUrlLanguageModel(fit(tables, [row for row in for_training if fold_of(row.url) != fold]))
        answers += answered(model, [row for row in tested if fold_of(row.url) == fold], fold)
    return answers


def fold_of(url: Url) -> int:
    return int.from_bytes(hashlib.sha256(url.site.encode()).digest()[:4], "big") % FOLDS


def masked(row: Labelled) -> Labelled:
    """Without its first directory, which is MDN's locale."""
    return row._replace(url=Url.parse("/" + row.url.path.split("/", 2)[2], base=row.url), source="mdn masked")


def site_urls() -> Iterable[Labelled]:
    for path in sorted((SHARED / "sites").glob("*/truth.tsv")):
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        seen = {(row[f"url_{side}"], row[f"lang_{side}"]) for row in rows for side in "ab"}
        for url, code in sorted(seen):
            yield Labelled(Url.parse(url), Language(base_language(code)), f"site {path.parent.name}")


def answered(model: LinearUrlLanguageModel, rows: Sequence[Labelled], fold: int) -> list[Answer]:
    answers = []
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        chances = model.distribution([row.url for row in batch])
        best = chances[:, :-1].argmax(axis=1)
        for row, number, chance in zip(batch, best.tolist(), chances, strict=True):
            rule = language_by_rules(row.url)
            rule = rule if rule == UNDETERMINED else Language(base_language(rule))
            found = model.languages[number]
            answers.append(Answer(row, fold, rule, found, float(chance[number]), float(chance[-1])))
    return answers


def scores(truth: Sequence[str], found: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """Precision, recall and F1 of each language that is in the truth."""
    right = Counter(t for t, f in zip(truth, found, strict=True) if t == f)
    of_truth, of_found = Counter(truth), Counter(found)
    return {
        language: (
            right[language] / max(of_found[language], 1),
            right[language] / of_truth[language],
            2 * right[language] / (of_truth[language] + of_found[language]),
        )
        for language in of_truth
    }


def macro(answers: Sequence[Answer], system: str) -> tuple[float, float, float]:
    of_each = scores([a.row.language for a in answers], [getattr(a, system) for a in answers])
    precision, recall, f1 = np.mean(list(of_each.values()), axis=0)
    return float(precision), float(recall), float(f1)


def print_table(answers: Sequence[Answer]) -> None:
    print(
        "macro precision, recall and F1 in points     rules                model             difference of F1, by fold"
    )
    for source in dict.fromkeys(answer.row.source for answer in answers):
        of_source = [answer for answer in answers if answer.row.source == source]
        cells = ["  ".join(f"{100 * number:5.1f}" for number in macro(of_source, s)) for s in ("rules", "model")]
        folds = sorted({answer.fold for answer in of_source})
        parts = [[answer for answer in of_source if answer.fold == fold] for fold in folds]
        gains = " ".join(f"{100 * (macro(part, 'model')[2] - macro(part, 'rules')[2]):+.1f}" for part in parts)
        languages = len({answer.row.language for answer in of_source})
        print(f"{source:24} {len(of_source):6} URLs {languages:3} lang  {cells[0]}   {cells[1]}   {gains}")


def print_languages(answers: Sequence[Answer]) -> None:
    truth = [answer.row.language for answer in answers]
    rules = scores(truth, [answer.rules for answer in answers])
    model = scores(truth, [answer.model for answer in answers])
    print("\nF1 by language, books, hosts and wmt16 together: rules, model (URLs)")
    cells = [
        f"{language:3} {100 * rules[language][2]:3.0f} {100 * model[language][2]:3.0f} ({count})"
        for language, count in Counter(truth).most_common()
    ]
    for start in range(0, len(cells), 6):
        print("  ".join(f"{cell:18}" for cell in cells[start : start + 6]))


def print_calibration(answers: Sequence[Answer]) -> None:
    print("\nbooks: how often the answer is right, by its probability; und is best of all for", end=" ")
    print(f"{sum(answer.unknown > answer.chance for answer in answers)} URLs")
    for low in (0.0, 0.2, 0.4, 0.6, 0.8, 0.95):
        high = {0.0: 0.2, 0.2: 0.4, 0.4: 0.6, 0.6: 0.8, 0.8: 0.95}.get(low, 1.01)
        some = [answer for answer in answers if low <= answer.chance < high]
        right = np.mean([answer.model == answer.row.language for answer in some]) if some else 0.0
        print(f"  {low:.2f}-{min(high, 1):.2f}  {len(some):6} URLs  {100 * right:5.1f} % right")


def print_left_out(
    tables: UrlLanguageData, for_training: Sequence[Labelled], labelled: Sequence[Labelled], answers: Sequence[Answer]
) -> None:
    """What the shared weights are worth to a language without training URLs."""
    model = LinearUrlLanguageModel(
        fit(tables, [row for row in for_training if row.language not in LEFT_OUT and fold_of(row.url)])
    )
    tested = [row for row in labelled if row.source in ("books", "hosts") and not fold_of(row.url)]
    without = answered(model, tested, 0)
    full = [answer for answer in answers if answer.row.source in ("books", "hosts") and not answer.fold]
    print("\nfold 0 of books and hosts, F1 of languages with no URL in training: rules, model without, model with")
    truth = [row.language for row in tested]
    rows = [
        scores(truth, found) for found in ([a.rules for a in full], [a.model for a in without], [a.model for a in full])
    ]
    for language in LEFT_OUT:
        print(f"  {language}  " + "  ".join(f"{100 * row[language][2]:5.1f}" for row in rows))


def print_speed(labelled: Sequence[Labelled]) -> None:
    urls = [row.url for row in labelled if row.source in ("books", "wmt16")][:6000]
    site = [row.url for row in labelled if row.source == "mdn"][:6000]
    began = time.process_time()
    model = LinearUrlLanguageModel()
    print(f"\nCPU time. Loading: {1e3 * (time.process_time() - began):.0f} ms")
    for name, some in (
        ("links to 6000 pages all over the web", urls),
        ("links of one site", site),
        ("the same again", site),
    ):
        began = time.process_time()
        for start in range(0, len(some), 100):
            model.distribution(some[start : start + 100])
        print(f"{name}, 100 at a time: {1e6 * (time.process_time() - began) / len(some):.1f} µs each")


if __name__ == "__main__":
    main()
