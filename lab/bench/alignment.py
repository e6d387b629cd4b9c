"""Sentence alignment on plain text, strict as ../shared/data/alignment/README.md says: F1, calibration, throughput.

The lexicon is learned from each set's own documents. Beside ours stands Gale and Church 1993, lengths only, in ten lines.
hunalign's and other figures are those of the literature. Sentences per CPU second are counted on both sides, without
the time that it takes to read the texts and find their words.
"""

import json
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import erfc, log, sqrt
from pathlib import Path

import numpy as np

from bitrawl.mining.align_evidence import Document, Text
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.model import Bead, Language
from bitrawl.text.known_words import known_words

DATA = Path(__file__).parents[3] / "shared" / "data" / "alignment"
Gold = list[tuple[tuple[int, ...], tuple[int, ...]]]
BINS = (0.0, 0.5, 0.7, 0.9, 0.97, 1.01)


def main() -> None:
    if not DATA.exists():
        print(f"alignment: {DATA} is not here, nothing to measure")
        return
    sets = defaultdict(list)
    for folder in sorted(path.parent for path in DATA.glob("*/meta.json")):
        sets[json.loads((folder / "meta.json").read_text("utf-8"))["corpus"]].append(folder)
    print(
        f"{'corpus':16} {'aligner':13} {'sentences':>9} {'precision':>9} {'recall':>7} {'F1':>7} {'CPU s':>7} {'sentences/CPU s':>16}"
    )
    judged = []
    for name, folders in sets.items():
        judged += measure(name, folders)
    print_calibration(judged)
    print_growth()


def measure(name: str, folders: Sequence[Path]) -> list[tuple[float, bool]]:
    """The scores of all our beads, and whether they are right."""
    documents, golds, count = [], [], 0
    for folder in folders:
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
        a, b = (lines(folder / side) for side in ("src.txt", "trg.txt"))
        documents.append(Document(Text.plain(a, Language(meta["src"])), Text.plain(b, Language(meta["trg"]))))
        golds.append(read_gold(folder / "gold.tsv"))
        count += len(a) + len(b)
    timed(f"{name:16} {'Gale-Church':13} {count:9}", lambda: [gale_church(document) for document in documents], golds)
    timed(f"{name:16} {'without words':13} {count:9}", lambda: LexicalAligner().align_documents(documents), golds)
    prior = known_words(Language(meta["src"]), Language(meta["trg"]))
    found = timed(
        f"{name:16} {'ours':13} {count:9}", lambda: LexicalAligner(prior=prior).align_documents(documents), golds
    )
    return [
        (bead.score, (bead.a, bead.b) in gold)
        for beads, gold in zip(found, map(set, golds), strict=True)
        for bead in beads
    ]


def timed(row: str, align: Callable[[], list[list[Bead]]], golds: Sequence[Gold]) -> list[list[Bead]]:
    """What it finds; prints how well, and how fast."""
    began = time.process_time()
    found = align()
    took = time.process_time() - began
    precision, recall, f1 = strict(found, golds)
    speed = int(row.rsplit(maxsplit=1)[-1]) / took
    print(f"{row} {precision:9.4f} {recall:7.4f} {f1:7.4f} {took:7.2f} {speed:16.0f}", flush=True)
    return found


def gale_church(document: Document) -> list[Bead]:
    """The likeliest chain by lengths alone, within a hundred sentences of the diagonal."""
    a, b = (np.append(0.0, np.cumsum(text.lengths)).tolist() for text in document)
    costs = {(1, 1): 0.12, (1, 0): 4.6, (0, 1): 4.6, (1, 2): 2.4, (2, 1): 2.4, (2, 2): 4.5}
    ratio, slope = b[-1] / a[-1], (len(b) - 1) / (len(a) - 1)
    best = {(0, 0): (0.0, (0, 0))}
    for i in range(len(a)):
        for j in range(max(0, int(i * slope) - 100), min(len(b), int(i * slope) + 101)):
            ways = [(cost, ka, kb) for (ka, kb), cost in costs.items() if (i - ka, j - kb) in best]
            found = [
                (best[i - ka, j - kb][0] + cost + unlike(a[i] - a[i - ka], b[j] - b[j - kb], ratio), (ka, kb))
                for cost, ka, kb in ways
            ]
            best[i, j] = min([*found, best[0, 0]] if i == j == 0 else found)
    chain, (i, j) = [], (len(a) - 1, len(b) - 1)
    while i or j:
        ka, kb = best[i, j][1]
        chain.append(Bead(tuple(range(i - ka, i)), tuple(range(j - kb, j)), 1.0))
        i, j = i - ka, j - kb
    return chain[::-1]


def unlike(length_a: float, length_b: float, ratio: float) -> float:
    """The negative logarithm of the probability that lengths differ as much as these: none for a sentence alone."""
    if not length_a or not length_b:
        return 0.0
    distance = abs(length_b - ratio * length_a) / sqrt(6.8 * (length_a + length_b / ratio) / 2)
    return -log(max(erfc(distance / sqrt(2)), 1e-12))


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").removesuffix("\n").split("\n")


def read_gold(path: Path) -> Gold:
    rows = (line.split("\t") for line in lines(path)[1:])
    beads = [tuple(tuple(int(n) for n in side.split(",") if n) for side in row) for row in rows]
    return [(a, b) for a, b in beads if a or b]


def strict(found: Sequence[Sequence[Bead]], golds: Sequence[Gold]) -> tuple[float, float, float]:
    right = proposed = recalled = wanted = 0
    for beads, gold in zip(found, golds, strict=True):
        mine, true = {(bead.a, bead.b) for bead in beads}, set(gold)
        right += len(mine & true)
        proposed += len(mine)
        wanted += sum(1 for a, b in true if a and b)
        recalled += sum(1 for a, b in mine & true if a and b)
    precision, recall = right / proposed, recalled / wanted
    return precision, recall, 2 * precision * recall / (precision + recall)


def print_calibration(judged: Sequence[tuple[float, bool]]) -> None:
    scores, right = (np.array(column) for column in zip(*judged, strict=True))
    print("\nscore        beads  mean score  right")
    for low, high in pairwise(BINS):
        here = (scores >= low) & (scores < high)
        if here.any():
            print(
                f"{low:.2f}–{min(high, 1.0):.2f} {here.sum():9} {scores[here].mean():11.3f} {right[here].mean():6.3f}"
            )


def print_growth() -> None:
    """One text repeated until it is as long as a book: time and memory for each."""
    folder = DATA / "orwell-en-ro"
    a, b = lines(folder / "src.txt"), lines(folder / "trg.txt")
    gold = read_gold(folder / "gold.tsv")
    print("\nsentences a side  CPU s  peak MB")
    for count in (1250, 2500, 5000, 10000):
        times, rest = divmod(count, len(a))
        end = max((bead for bead in gold if bead[0] and bead[1] and bead[0][-1] <= rest), key=lambda bead: bead[0])
        left, right = a * times + a[: end[0][-1] + 1], b * times + b[: end[1][-1] + 1]
        began = time.process_time()
        LexicalAligner().align_documents([Document.plain(left, right, (Language("en"), Language("ro")))])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{count:16} {time.process_time() - began:6.1f} {peak:8}", flush=True)


if __name__ == "__main__":
    main()
