"""Training of the segment score: what is measured of known pairs, right ones and made-up errors, and the trees over it."""

import random
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.files import replacing
from bitrawl.mining.align_evidence import Document
from bitrawl.mining.judging import Judge
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.mining.segment_score import (
    DIRECTIONS,
    KNOWN,
    NEIGHBOURHOOD,
    SHORT,
    SegmentScore,
    length_classes,
    neighbourhood,
    table,
)
from bitrawl.model import Language
from bitrawl.text.arrays import Trees
from bitrawl.text.known_words import known_words
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.lexicon import Lexicon
from bitrawl.text.words import words
from lab.train import Tell, silent
from lab.train.segment_errors import Pool, spoiled
from lab.train.segment_sources import GROUPS, Group, LabelledPage, gold_groups, gold_page, site_group
from lab.train.trees import grow, named_arrays

Floats = NDArray[np.float32]

LENGTH_CLASSES = 3  # of `length_classes`
TREES, TREES_KNOWN = 60, 100  # of either look; judgement: the file stays small
PAGE = 60  # beads; judgement
_MOST_OF_GROUP = 2000  # beads that a group may count for: no book may speak for the web
_AS_MINED = 1.0  # what a bead of a page without made-up errors counts, beside one of a page with them; judgement
_WORDS = list(DIRECTIONS).index("words_least")
_FOLDS = 3
# Texts of a group that stand alone, with their translations and with strangers; and the most sentences of each.
_FEW, _MOST_SENTENCES = 40, 4


class Regime(StrEnum):
    """How the pages of a group are seen."""

    MINED = "as mined"
    SPOILED = "with errors"
    SMALL = "with errors, small site"
    EMPTY = "with errors, no lexicon"
    FEW = "few sentences alone"


class _View(NamedTuple):
    pages: slice = slice(None)
    few: int = 0  # pages that a lexicon learns from; 0 for all
    wrong_pages: float = 0.0  # the share of pairs of pages that are none; judgement: of small sites less is known


_VIEWS = {
    Regime.MINED: _View(),
    Regime.SPOILED: _View(wrong_pages=0.1),
    Regime.SMALL: _View(slice(0, None, 2), 3, 0.3),
    Regime.EMPTY: _View(slice(1, None, 2), 0, 0.4),
}


class Sample(NamedTuple):
    """The beads of one pair of pages, measured."""

    source: str
    languages: tuple[Language, Language]
    regime: Regime
    rows: Floats  # features, a row for each bead
    labels: Floats  # 1 right, 0 wrong, -1 not known
    made_up: NDArray[np.bool_]  # errors that the aligner did not make
    weight: float
    known: bool  # whether words were known beforehand


def train(data: Path, out: Path, *, tell: Tell = silent) -> None:
    """Mine, measure and fit; `data` has the site packs in sites/ and the gold alignments in data/alignment/."""
    tell("mining and aligning the sites")
    groups = all_groups(data)
    tell(f"fitting the score to {len(groups)} groups of pages")
    write_models(measured(groups), out)


def write_models(samples: Sequence[Sample], path: Path) -> None:
    """Write what `SegmentScore.load` reads: a model for texts of whose words something is known, and one for others."""
    arrays: dict[str, NDArray[Any]] = {}
    unknown = [sample for sample in samples if not sample.known and sample.regime is not Regime.FEW]
    for kind, model in (("", fit(unknown)), (KNOWN, fit(samples, TREES_KNOWN))):
        arrays |= named_arrays(**{f"{kind}alone": model.alone, f"{kind}in_place": model.in_place})
        arrays[f"{kind}calibration"] = model.calibration
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def all_groups(data: Path) -> list[Group]:
    sites = [
        site_group(data / "sites" / site, (Language(pair[:2]), Language(pair[3:])))
        for site, pairs in GROUPS.items()
        for pair in pairs
    ]
    return [*sites, *gold_groups(data / "data" / "alignment")]


def measured(groups: Sequence[Group]) -> list[Sample]:
    """Each group with a lexicon of all its pages, some with one of a few pages or none; each with errors of its own.

    All with the words that ship, and without, as in languages that have none; also a few sentences alone.
    """
    found = []
    for group in map(_in_pages, groups):
        pool = Pool(
            _texts(group), [text for other in groups if _is_foreign(other, group) for text in _texts(other)[::9]]
        )
        size = sum(label is not None for page in group.pages for label in page.right)
        weight = min(1.0, _MOST_OF_GROUP / max(size, 1))
        priors = dict.fromkeys((known_words(*group.languages), None))
        for prior in priors:
            found += [_sample(group, Regime.FEW, lexicon, page, 1.0) for page, lexicon in _few(group, prior)]
        for regime, view in _VIEWS.items():
            some = group._replace(pages=group.pages[view.pages])
            seen = some if regime is Regime.MINED else spoiled(some, pool, wrong_pages=view.wrong_pages)
            for prior in priors:
                for pages, lexicon in _with_lexicon(seen, regime, prior):
                    found += [_sample(group, regime, lexicon, page, weight) for page in pages if page.pairs]
    return found


def _few(group: Group, prior: Lexicon | None) -> Iterator[tuple[LabelledPage, Lexicon]]:
    """One to four sentences, aligned with nothing beside them: with their translations, and with others of the site."""
    chance = random.Random(f"{group.source}{group.languages}")  # noqa: S311 (nothing is kept secret by it)
    runs = [
        page.pairs[start : start + _MOST_SENTENCES]
        for page in group.pages
        for start in range(0, len(page.pairs) - _MOST_SENTENCES + 1, _MOST_SENTENCES)
        if all(page.right[start : start + _MOST_SENTENCES])
    ]
    for run in chance.sample(runs, min(_FEW, len(runs))):
        size = chance.randint(1, _MOST_SENTENCES)
        other = chance.choice(runs)
        texts = [pair.a.text for pair in run[:size]]
        for second in (run, other):
            others = [pair.b.text for pair in second[:size]]
            if second is other and {*others} & {pair.b.text for pair in run}:
                continue
            aligner = LexicalAligner(prior=prior)
            [beads] = aligner.align_documents([Document.plain(texts, others, group.languages)])
            gold = [((number,), (number,)) for number in range(size)] if second is run else []
            page = gold_page(beads, (texts, others), gold, group.languages)
            if page.pairs:
                yield page, aligner.lexicon


def _weights(sample: Sample) -> Floats:
    """Pages as mined count less, and their short segments not at all: that a list is in order does not show in its outline."""
    if sample.regime is not Regime.MINED:
        return np.full(len(sample.labels), sample.weight, np.float32)
    is_long = sample.rows[:, _WORDS] > np.log1p(SHORT)
    weights: Floats = (sample.weight * _AS_MINED * is_long).astype(np.float32)
    return weights


def fit(samples: Sequence[Sample], trees: int = TREES) -> SegmentScore:
    """Trees for each look; the calibration is that of parts which their trees have not seen."""
    sources = sorted({sample.source for sample in samples})
    raw, labels, weights, classes = [], [], [], []
    for fold in range(_FOLDS):
        held = set(sources[fold::_FOLDS])
        model = _fitted([sample for sample in samples if sample.source not in held], trees)
        for sample in samples:
            if sample.source in held:
                known = sample.labels >= 0
                raw.append(model.of_table(sample.rows)[known])
                labels.append(sample.labels[known])
                weights.append(_weights(sample)[known])
                classes.append(length_classes(sample.rows)[known])
    columns = [np.concatenate(parts) for parts in (raw, labels, weights)]
    lengths = np.concatenate(classes)
    calibration = np.stack([_calibration(*(part[lengths == row] for part in columns)) for row in range(LENGTH_CLASSES)])
    whole = _fitted(samples, trees)
    return SegmentScore(whole.alone, whole.in_place, calibration)


def _fitted(samples: Sequence[Sample], trees: int) -> SegmentScore:
    rows = np.concatenate([sample.rows for sample in samples])
    labels = np.concatenate([sample.labels for sample in samples])
    weights = np.concatenate([_weights(sample) for sample in samples])
    known = labels >= 0
    directions = list(DIRECTIONS.values())
    alone = grow(rows[known], labels[known], weights=weights[known], directions=directions, trees=trees)
    seen = np.concatenate([_second_look(sample, alone) for sample in samples])
    directions += NEIGHBOURHOOD.values()
    in_place = grow(seen[known], labels[known], weights=weights[known], directions=directions, trees=trees)
    return SegmentScore(alone, in_place, np.array([[1.0, 0.0]] * LENGTH_CLASSES, np.float32))


def _second_look(sample: Sample, alone: Trees) -> Floats:
    return np.column_stack([sample.rows, neighbourhood(alone.probability(sample.rows))]).astype(np.float32)


def _calibration(raw: Floats, labels: Floats, weights: Floats) -> Floats:
    """Slope and bias of the logit that give the least log-loss, by Newton's method."""
    inner = np.clip(raw.astype(np.float64), 1e-6, 1 - 1e-6)
    terms = np.column_stack([np.log(inner / (1 - inner)), np.ones(len(raw))])
    found = np.array([1.0, 0.0])
    for _ in range(20):
        chance = 1 / (1 + np.exp(-terms @ found))
        gradient = terms.T @ (weights * (labels - chance))
        curvature = (terms * (weights * chance * (1 - chance))[:, None]).T @ terms
        found += np.linalg.solve(curvature + 1e-9 * np.eye(2), gradient)
    return found.astype(np.float32)


def _with_lexicon(
    group: Group, regime: Regime, prior: Lexicon | None
) -> Iterator[tuple[Sequence[LabelledPage], Lexicon]]:
    """The lexicon learns from the errors too, as that of a job does from what its aligner gets wrong."""
    if regime is Regime.EMPTY:
        yield group.pages, Lexicon.learn([], prior=prior)
        return
    step = _VIEWS[regime].few or len(group.pages)
    for start in range(0, len(group.pages), step):
        part = group.pages[start : start + step]
        pairs = [pair for page in part for pair in page.pairs]
        tokens = [(words(pair.a.text, group.languages[0]), words(pair.b.text, group.languages[1])) for pair in pairs]
        yield part, Lexicon.learn(tokens, weights=[pair.score for pair in pairs], prior=prior)


def _sample(group: Group, regime: Regime, lexicon: Lexicon, page: LabelledPage, weight: float) -> Sample:
    labels = np.array([-1.0 if right is None else float(right) for right in page.right], np.float32)
    rows = table(Judge(group.languages, _identifier(), lexicon).measured(page.pairs))
    made_up = np.array(page.made_up or [False] * len(labels), bool)
    return Sample(group.source, group.languages, regime, rows, labels, made_up, weight, known=lexicon.prior is not None)


@lru_cache(maxsize=1)
def _identifier() -> NgramLanguageIdentifier:
    return NgramLanguageIdentifier()


def _in_pages(group: Group) -> Group:
    """A book in parts as long as a page."""
    cut = [page.part(slice(start, start + PAGE)) for page in group.pages for start in range(0, len(page.pairs), PAGE)]
    return group._replace(pages=tuple(cut))


def _texts(group: Group) -> list[str]:
    return [pair.b.text for page in group.pages for pair in page.pairs]


def _is_foreign(other: Group, group: Group) -> bool:
    return other.languages[1] not in group.languages
