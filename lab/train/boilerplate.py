"""Makes models/boilerplate.npz, which tells main text from boilerplate.

It is learned from trafilatura's evaluation pages, each with a few strings that are main text and a few that are not:
gold.json ({key: {file, with, without}}) and html/<file>. `python -m lab.train boilerplate --data trafilatura/ --out
boilerplate.npz`. It uses only numpy, and the same data gives the same model. The reported scores are cross-validated:
no page is scored by a model that saw its site.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from publicsuffixlist import PublicSuffixList
from selectolax.lexbor import LexborHTMLParser

from bitrawl.errors import ConfigError
from bitrawl.files import replacing
from bitrawl.page.boilerplate import (
    BoilerplateClassifier,
    Features,
    Floats,
    NameScores,
    Network,
    features,
    judge,
    names,
    probability,
    second_rows,
)
from bitrawl.page.decode import decode
from bitrawl.page.outline import Outline, outline
from bitrawl.url import Url
from lab.train import Tell, silent
from lab.train.folds import Split, permuted, splits
from lab.train.perceptron import HIDDEN, fit_network

FOLDS = 5  # judgement, as usual
INNER_FOLDS = 4  # in which a stage's training pages are scored for the next stage; judgement
MIN_SITES = 4  # A name on fewer sites is a habit of one site. Judgement.
LEAST_NAME_WEIGHT = 0.01  # Names with less weight are left out of the file. Judgement.
NAME_STEPS, NAME_MOMENTUM = 300, 0.9  # of the gradient descent that fits the weights of names; judgement
NAME_PENALTY = 10.0  # L2 on the weights of names. Tried 10 and 33 with boosted trees (2026-11): F1 .9385 and .9375.
FIRST_MEMBERS = 2  # networks of a stage whose logits are averaged
SECOND_MEMBERS = 3
# Adam's defaults, as in Kingma and Ba 2015.

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Example:
    """A page with its gold strings, squeezed, and the labels of its blocks: 1, 0, or NaN for most."""

    site: str
    outline: Outline
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]
    labels: Floats


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts of gold strings, as in trafilatura's tests/eval_common.py."""

    found: int = 0  # wanted and present
    missed: int = 0
    leaked: int = 0  # unwanted and present

    def __add__(self, other: "Scores") -> "Scores":
        return Scores(self.found + other.found, self.missed + other.missed, self.leaked + other.leaked)

    @property
    def precision(self) -> float:
        """The share of the present strings that are wanted."""
        return self.found / max(self.found + self.leaked, 1)

    @property
    def recall(self) -> float:
        """The share of the wanted strings that are present."""
        return self.found / max(self.found + self.missed, 1)

    @property
    def f1(self) -> float:
        return 2 * self.found / max(2 * self.found + self.leaked + self.missed, 1)


def train(data: Path, out: Path, *, tell: Tell = silent) -> Scores:
    """Write the model to `out` and its card beside it. Returns the cross-validated scores."""
    examples = read_examples(data)
    tell(f"{len(examples)} pages of {len({e.site for e in examples})} sites")
    logits = cross_validate(examples, tell=tell)
    scores = held_out_scores(examples, logits)
    tell(f"cross-validated by site: {describe(scores)}")
    shift = best_threshold(examples, logits)
    _write(fit(examples), shift, out)
    shipped = sum((score(e, text_of(e.outline, p)) for e, p in _predictions(out, examples)), Scores())
    tell(f"shipped model on its own training pages: {describe(shipped)}")
    _write_card(data, out, examples, scores, shipped)
    return scores


def describe(scores: Scores) -> str:
    """A readable line."""
    return f"precision {scores.precision:.4f}, recall {scores.recall:.4f}, F1 {scores.f1:.4f}"


def read_examples(data: Path) -> list[Example]:
    try:
        gold: dict[str, Any] = json.loads((data / "gold.json").read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{data} has no readable gold.json") from error
    return [_example(key, item, (data / "html" / item["file"]).read_bytes()) for key, item in gold.items()]


def score(example: Example, text: str) -> Scores:
    """The score as trafilatura defines it: a gold string is present or not, ignoring white space."""
    text = squeeze(text)
    found = sum(string in text for string in example.wanted)
    leaked = sum(string in text for string in example.unwanted)
    return Scores(found, len(example.wanted) - found, leaked)


def squeeze(text: str) -> str:
    """Collapse white space as trafilatura's evaluation does."""
    return " ".join(text.split())


def text_of(page: Outline, probabilities: Sequence[float] | Floats, threshold: float = 0.5) -> str:
    return "\n".join(b.text for b, p in zip(page.blocks, probabilities, strict=True) if p >= threshold)


def cross_validate(examples: Sequence[Example], *, tell: Tell = silent) -> list[Floats]:
    """The logits of each page, by a model that saw no page of its site."""
    results: list[Floats] = [np.zeros(0)] * len(examples)
    for number, (train_on, test_on) in enumerate(folds(examples, FOLDS)):
        model = fit([examples[i] for i in train_on])
        for i in test_on:
            results[i] = model.logits(examples[i].outline)
        tell(f"fold {number + 1} of {FOLDS} done")
    return results


def held_out_scores(examples: Sequence[Example], logits: Sequence[Floats]) -> Scores:
    """The threshold of each fold is the best one of the other folds, so it has not seen the fold's pages either."""
    total = Scores()
    for train_on, test_on in folds(examples, FOLDS):
        shift = best_threshold([examples[i] for i in train_on], [logits[i] for i in train_on])
        total = sum((_score_at(examples[i], logits[i], shift) for i in test_on), total)
    return total


def best_threshold(examples: Sequence[Example], logits: Sequence[Floats]) -> float:
    """The logit that maximises F1. F1 is averaged over neighbours, because it is jagged."""
    grid = np.arange(-1.5, 1.6, 0.1)  # probabilities of .18 to .82; judgement
    f1 = np.array([sum((_score_at(e, z, t) for e, z in zip(examples, logits, strict=True)), Scores()).f1 for t in grid])
    return float(grid[2:-2][np.argmax(np.convolve(f1, np.ones(5) / 5, "valid"))])


def folds(examples: Sequence[Example], count: int) -> list[Split]:
    """Indices of the examples to learn from and to measure on. A site is on one side only."""
    return splits([example.site for example in examples], count, permuted)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model before it is written."""

    words: dict[str, float]
    first: Network
    second: Network

    def logits(self, page: Outline) -> Floats:
        """The logits of each block."""
        if not page.blocks:
            return np.zeros(0)
        return judge(page, features(page, _scorer(self.words)), self.first, self.second)


def fit(examples: Sequence[Example]) -> Fitted:
    """Stacked: each stage is trained on the previous stage's output for sites that it has not seen.

    Each page is used twice, once without the names on its elements, because some sites have none.
    """
    examples = [example for example in examples if example.outline.blocks]
    inner = folds(examples, INNER_FOLDS)
    named = _held_out(inner, lambda ids: _names_model([examples[i] for i in ids]), lambda w, i: _see(examples[i], w))
    words = _names_model(examples)
    tags = {name: weight for name, weight in words.items() if name.startswith("<")}
    seen: list[Features] = named + [_see(example, tags) for example in examples]
    labels = [example.labels for example in examples] * 2
    twice = [([*a, *(i + len(examples) for i in a)], [*b, *(i + len(examples) for i in b)]) for a, b in inner]
    first = _held_out(
        twice,
        lambda ids: fit_network([seen[i].matrix for i in ids], [labels[i] for i in ids], 1),
        lambda network, i: probability(network.logits(seen[i].matrix)),
    )
    rows = [second_rows(s, content, np.arange(len(content))) for s, content in zip(seen, first, strict=True)]
    return Fitted(
        words,
        fit_network([s.matrix for s in seen], labels, FIRST_MEMBERS),
        fit_network(rows, labels, SECOND_MEMBERS),
    )


def _held_out(inner: Iterable[tuple[list[int], list[int]]], make: Callable[..., Any], use: Callable[..., Any]) -> Any:
    results: dict[int, Any] = {}
    for train_on, test_on in inner:
        model = make(train_on)
        results.update({i: use(model, i) for i in test_on})
    return [results[i] for i in sorted(results)]


def _see(example: Example, words: dict[str, float]) -> Features:
    return features(example.outline, _scorer(words))


def _scorer(words: dict[str, float]) -> NameScores:
    nothing = np.zeros((0,), np.float32)
    empty = Network(nothing, nothing, ())
    return BoilerplateClassifier(words, empty, empty).scores


def _example(key: str, item: dict[str, Any], body: bytes) -> Example:
    body = gzip.decompress(body) if item["file"].endswith(".gz") else body
    page = outline(LexborHTMLParser(decode(body).text))
    page.anchors.clear()
    page.images.clear()
    wanted, unwanted = (tuple(squeeze(string) for string in item[key]) for key in ("with", "without"))
    return Example(_site(key), page, wanted, unwanted, _labels(page, wanted, unwanted))


def _site(key: str) -> str:
    """Some keys are not URLs but "hard::" and a file name that begins with the host."""
    if "://" in key:
        return Url.parse(key[key.index("http") :]).site
    suffixes = PublicSuffixList(accept_unknown=False)
    labels = key.partition("::")[2].partition("-")[0].split(".")
    heads = [suffixes.privatesuffix(".".join(labels[:i])) for i in range(2, len(labels) + 1)]
    return [head for head in [key, *heads] if head][-1]


def _labels(page: Outline, wanted: Iterable[str], unwanted: Iterable[str]) -> Floats:
    texts = [squeeze(block.text) for block in page.blocks]
    labels = np.full(len(texts), np.nan)
    whole = " ".join(texts)
    starts = np.cumsum([0] + [len(text) + 1 for text in texts[:-1]])

    def places(string: str) -> list[slice]:
        """The ranges of blocks that each occurrence of a string touches."""
        found = [match.start() for match in re.finditer(re.escape(string), whole)]
        first = np.searchsorted(starts, found, side="right") - 1
        last = np.searchsorted(starts, np.array(found, dtype=int) + len(string) - 1, side="right") - 1
        return [slice(int(a), int(b) + 1) for a, b in zip(first, last, strict=True)]

    for string in unwanted:
        for place in places(string):
            labels[place] = 0
    for string in wanted:
        # One occurrence is enough for the score, and the longest block is the least likely to be a teaser.
        candidates = places(string)
        if candidates:
            labels[max(candidates, key=lambda place: sum(map(len, texts[place])))] = 1
    return labels


def _names_model(examples: Sequence[Example]) -> dict[str, float]:
    """Logistic regression on the set of names on a block's path, by gradient descent with momentum."""
    paths = [path for example in examples for path in _paths(example)]
    target = np.concatenate([e.labels[~np.isnan(e.labels)] for e in examples])
    sites: dict[str, set[str]] = {}
    for example in examples:
        for name in set().union(*_own_names(example)):
            sites.setdefault(name, set()).add(example.site)
    vocabulary = {name: i for i, name in enumerate(sorted(n for n, s in sites.items() if len(s) >= MIN_SITES))}
    rows = [sorted(vocabulary[name] for name in path if name in vocabulary) for path in paths]
    counts = np.array([len(row) for row in rows])
    column = np.concatenate([np.array(row, dtype=int) for row in rows])
    row_of = np.repeat(np.arange(len(rows)), counts)
    weights, bias = np.zeros(len(vocabulary)), 0.0
    velocity, bias_velocity = np.zeros_like(weights), 0.0
    # The curvature in any direction is at most the number of rows with a name, times a quarter for the logistic
    # function.
    rate = 1 / (np.bincount(column, minlength=len(vocabulary)) * counts.mean() / 4 + NAME_PENALTY)
    for _ in range(NAME_STEPS):
        logits = np.bincount(row_of, weights[column], minlength=len(rows)) + bias
        residual = 1 / (1 + np.exp(-logits)) - target
        gradient = np.bincount(column, residual[row_of], minlength=len(vocabulary)) + NAME_PENALTY * weights
        velocity = NAME_MOMENTUM * velocity - rate * gradient
        bias_velocity = NAME_MOMENTUM * bias_velocity - residual.mean()
        weights, bias = weights + velocity, bias + bias_velocity
    return {name: round(float(weights[i]), 4) for name, i in vocabulary.items()}


@lru_cache(maxsize=200_000)
def _names(tag: str, words: str) -> frozenset[str]:
    return frozenset({f"<{tag}"}.union(*map(names, words.split()))) if tag not in ("html", "body") else frozenset()


def _own_names(example: Example) -> list[frozenset[str]]:
    containers = example.outline.containers
    return [_names(tag, words) for tag, words in zip(containers.tags, containers.words, strict=True)]


def _paths(example: Example) -> list[set[str]]:
    """The names around each labelled block."""
    own = _own_names(example)
    parents = example.outline.containers.parents
    found = []
    for block, label in zip(example.outline.blocks, example.labels, strict=True):
        if np.isnan(label):
            continue
        path: set[str] = set()
        container = block.container
        while container >= 0:
            path |= own[container]
            container = parents[container]
        found.append(path)
    return found


def _score_at(example: Example, logits: Floats, threshold: float) -> Scores:
    return score(example, text_of(example.outline, logits, threshold))


def _predictions(model: Path, examples: Sequence[Example]) -> Iterable[tuple[Example, list[float]]]:
    classifier = BoilerplateClassifier.load(model)
    return ((example, classifier.probabilities(example.outline)) for example in examples)


def _write(model: Fitted, shift: float, out: Path) -> None:
    kept = {name: weight for name, weight in model.words.items() if abs(weight) >= LEAST_NAME_WEIGHT}
    arrays: dict[str, NDArray[Any]] = {
        "words": np.array(list(kept)),
        "scores": np.array(list(kept.values()), dtype=np.float32),
    }
    for name, network in (("first", model.first), ("second", model.second)):
        arrays |= {f"{name}.mean": network.mean, f"{name}.scale": network.scale}
        for i, (weights, biases) in enumerate(network.layers):
            last = name == "second" and i == len(network.layers) - 1
            arrays[f"{name}.{i}.weights"] = weights
            arrays[f"{name}.{i}.biases"] = biases - np.float32(shift) if last else biases
    with replacing(out) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _write_card(data: Path, out: Path, examples: Sequence[Example], scores: Scores, shipped: Scores) -> None:
    labels = np.concatenate([example.labels for example in examples])
    out.with_suffix(".md").write_text(
        f"""# Model card: boilerplate

Tells the main text of a web page from navigation, teasers, notices and forms, paragraph by paragraph.

- **Input:** numbers about each paragraph, its neighbours and the elements around it
  (`bitrawl.page.boilerplate`); no words of any language but those in class, id and role attributes.
- **Model:** a linear score of those names; two stages of perceptrons {HIDDEN}, {FIRST_MEMBERS} and {SECOND_MEMBERS}
  members, the second stage sees the first one's verdicts around each paragraph. numpy only.
- **Data:** trafilatura's evaluation set (github.com/adbar/trafilatura, Apache-2.0; the pages are their
  publishers' and not part of this package): {len(examples)} pages of {len({e.site for e in examples})} sites,
  {int(np.nansum(labels))} paragraphs known as main text, {int(np.nansum(labels == 0))} known as not. Mostly articles,
  many of them German and English; shops, forums and documentation are few.
- **Command:** `python -m lab.train boilerplate --data {data.name} --out {out.name}`
- **Date:** {datetime.now(UTC):%Y-%m-%d}

| trafilatura's definition | precision | recall | F1 |
|---|---|---|---|
| cross-validated by site, {FOLDS} folds, threshold from the other folds | {scores.precision:.4f} | {scores.recall:.4f} | {scores.f1:.4f} |
| this file on the pages that it was trained on | {shipped.precision:.4f} | {shipped.recall:.4f} | {shipped.f1:.4f} |

Both with `boilerplate.bridge` (running text amid running text of the same kind of place), a rule alongside the model.

Known limits: captions, the page's own headline and notes below an article are content in some gold pages and not in
others, and the model is as undecided. Not measured: comments, forums, shops.
""",
        encoding="utf-8",
    )
