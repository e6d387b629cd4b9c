"""The score of a segment pair on sources that its model has not seen: is it right as often as it says?

    python -m lab.bench.segments                     # held out by site, and by pair of languages
    python -m lab.bench.segments --train OUT.npz     # train the model that the package ships, on all sources
    python -m lab.bench.segments --read 100          # pairs that the bundled model scores, to be read by a person

Right pairs are those of gold alignments, and of site packs those that the outline of the pages confirms; wrong ones are
the aligner's own errors and made-up ones (lab/train/segment_errors.py), a quarter of all. Mining takes ten
minutes; what it found is kept in the system's temporary folder (BITRAWL_BENCH_CACHE).
"""

import argparse
import os
import pickle
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from bitrawl.mining.judging import Judge
from bitrawl.mining.segment_score import length_classes, segment_score
from bitrawl.text.known_words import known_words
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.lexicon import Lexicon
from bitrawl.text.words import words
from lab.train.segment_sources import Group
from lab.train.segments import TREES_KNOWN, Regime, Sample, all_groups, fit, measured, write_models

SHARED = Path(__file__).parents[3] / "shared"
CACHE = Path(os.environ.get("BITRAWL_BENCH_CACHE", Path(tempfile.gettempdir()) / "bitrawl-segments"))
FOLDS = 4
T = TypeVar("T")
THRESHOLDS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)


def groups() -> list[Group]:
    """Mined once."""
    return _cached("groups.pickle", lambda: all_groups(SHARED))


def _cached(name: str, make: Callable[[], list[T]]) -> list[T]:
    path = CACHE / name
    if not path.exists():
        made = make()
        CACHE.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(made))
    return pickle.loads(path.read_bytes())  # written by this program


class Judged:
    """Scores of beads whose truth is known, by models that have not seen their source."""

    def __init__(self, samples: Sequence[Sample], key: Callable[[Sample], str]) -> None:
        names = sorted({key(sample) for sample in samples})
        scores: list[np.ndarray] = [np.zeros(0)] * len(samples)
        for fold in range(FOLDS):
            held = set(names[fold::FOLDS])
            model = fit([sample for sample in samples if key(sample) not in held], TREES_KNOWN)
            for number, sample in enumerate(samples):
                if key(sample) in held:
                    scores[number] = model.of_table(sample.rows)
        labels = np.concatenate([sample.labels for sample in samples])
        known = labels >= 0
        self.score = np.concatenate(scores)[known]
        self.right = labels[known] == 1
        self.made_up = np.concatenate([sample.made_up for sample in samples])[known]
        self.length = np.concatenate([length_classes(sample.rows) for sample in samples])[known]
        self.alignment = np.concatenate([sample.rows[:, 0] for sample in samples])[known]
        self.regime = np.concatenate([np.full(len(s.labels), s.regime.value, object) for s in samples])[known]
        self.source = np.concatenate([np.full(len(s.labels), s.source, object) for s in samples])[known]


def print_reliability(name: str, score: np.ndarray, right: np.ndarray) -> None:
    print(
        f"\n{name}: {len(score)} beads, {right.mean():.3f} right, calibration error {calibration_error(score, right):.4f}"
    )
    print("score      beads  mean score  right")
    bins = np.minimum((score * 10).astype(int), 9)
    for decile in range(10):
        here = bins == decile
        if here.any():
            low = decile / 10
            print(f"{low:.1f}–{low + 0.1:.1f} {here.sum():8} {score[here].mean():11.3f} {right[here].mean():6.3f}")


def calibration_error(score: np.ndarray, right: np.ndarray) -> float:
    """The mean distance of scores from the share that is right, over ten bins (Naeini et al. 2015)."""
    bins = np.minimum((score * 10).astype(int), 9)
    here = [bins == decile for decile in range(10)]
    return float(sum(abs(score[bin_].sum() - right[bin_].sum()) for bin_ in here) / len(score))


def print_thresholds(name: str, judged: Judged, here: np.ndarray) -> None:
    """Precision and recall when all below a threshold is left out: by our score, and by the aligner's own."""
    print(f"\n{name}: {here.sum()} beads\nthreshold   precision  kept of right   (aligner's: precision  kept)")
    for threshold in THRESHOLDS:
        cells = []
        for score in (judged.score, judged.alignment):
            kept = here & (score >= threshold)
            cells += [judged.right[kept].mean(), (kept & judged.right).sum() / (here & judged.right).sum()]
        print(f"{threshold:9.2f} {cells[0]:11.4f} {cells[1]:14.4f} {cells[2]:21.4f} {cells[3]:6.4f}")


def print_speed(some: Sequence[Group]) -> None:
    """Of what the score costs beyond what was measured before it, and of all of judging."""
    group = max(some[:30], key=lambda one: sum(len(page.pairs) for page in one.pages))
    pairs = [pair for page in group.pages for pair in page.pairs]
    tokens = [(words(p.a.text, group.languages[0]), words(p.b.text, group.languages[1])) for p in pairs]
    judge = Judge(
        group.languages, NgramLanguageIdentifier(), Lexicon.learn(tokens, prior=known_words(*group.languages))
    )
    found = judge.measured(pairs)
    began = time.process_time()
    segment_score(known=True).scores(found)
    scoring = time.process_time() - began
    began = time.process_time()
    judge.judge(pairs)
    whole = time.process_time() - began
    print(
        f"\nscoring {scoring / len(pairs) * 1e6:.0f} µs a segment, judging as a whole {whole / len(pairs) * 1e6:.0f} µs"
    )


def print_pairs(count: int) -> None:
    """Of each decile as many, from pages whose outlines differ: nobody has told whether they are right."""
    chance = random.Random(7)
    by_decile: dict[int, list[str]] = {decile: [] for decile in range(10)}
    identifier = NgramLanguageIdentifier()
    for group in groups():
        pairs = [pair for page in group.pages for pair in page.pairs]
        tokens = [(words(p.a.text, group.languages[0]), words(p.b.text, group.languages[1])) for p in pairs]
        prior = known_words(*group.languages)
        judge = Judge(group.languages, identifier, Lexicon.learn(tokens, weights=[p.score for p in pairs], prior=prior))
        for page in group.pages:
            for pair, right in zip(judge.judge(page.pairs), page.right, strict=True):
                if right is None:
                    line = f"{pair.score:.2f} ({pair.scores['alignment']:.2f}) {group.source} {pair.type}"
                    by_decile[min(int(pair.score * 10), 9)].append(f"{line}\n   {pair.a.text}\n   {pair.b.text}")
    for decile, lines in by_decile.items():
        print(f"== {decile / 10:.1f}: {len(lines)} pairs")
        print("\n".join(chance.sample(lines, min(count // 10, len(lines)))))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.segments")
    parser.add_argument("--train", type=Path)
    parser.add_argument("--read", type=int)
    asked, _ = parser.parse_known_args()
    if not SHARED.exists():
        print(f"segments: {SHARED} is not here (src/bitrawl/models/segments.md names its parts)")
        return
    if asked.read:
        print_pairs(asked.read)
        return
    samples = _cached("samples.pickle", lambda: measured(groups()))
    if asked.train:
        write_models(samples, asked.train)
        return
    report(samples)
    print_speed(groups())


def report(samples: Sequence[Sample]) -> None:
    by_site = Judged(samples, lambda sample: sample.source)
    mined, errors = (by_site.regime == regime.value for regime in (Regime.MINED, Regime.SPOILED))
    print_reliability("held out by site", by_site.score, by_site.right)
    for regime in Regime:
        here = by_site.regime == regime.value
        if not here.any():
            continue
        print_reliability(f"held out by site, {regime.value}", by_site.score[here], by_site.right[here])
    for length, name in enumerate(("one word", "two and three words")):
        here = by_site.length == length
        print_reliability(f"held out by site, {name}", by_site.score[here], by_site.right[here])
    by_pair = Judged(samples, lambda sample: "-".join(sorted(sample.languages)))
    print_reliability("held out by pair of languages", by_pair.score, by_pair.right)
    print_thresholds("held out by site, with made-up errors", by_site, errors)
    gold = np.isin(by_site.source, [name for name in set(by_site.source) if " " in name])
    print_thresholds("gold alignments, as mined", by_site, mined & gold)
    print_thresholds("sites, as mined", by_site, mined & ~gold)


if __name__ == "__main__":
    main()
