"""Fine-tunes transformers that judge URLs, with the settings of García-Romero et al. 2024, sections 2.2 and 3.2.

None ships in the package: `python -m lab.train url-language-transformer`, `python -m lab.train url-pairs-transformer`, with the extra
`neural`, write folders that a job names.
"""

import gzip
import logging
import math
import random
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import ConfigError, StoreError, UrlError
from bitrawl.model import UNDETERMINED
from bitrawl.text.encoder import first_line
from bitrawl.url import Url
from bitrawl.urls.transformers import (
    Classifier,
    Texts,
    batches,
    label_language,
    need_transformers,
    url_text,
)
from lab.train import Tell, silent
from lab.train.folds import fold_of
from lab.train.url_negatives import Generator, UrlPair, negatives

logger = logging.getLogger(__name__)

BASE = "xlm-roberta-base"
# The paper's best of table A.5: random match and Jaccard, of both kinds, and removed tokens of two languages.
GENERATORS = (1, 2, 3, 4, 5)
_FOLDS = 10  # one of them, by site, to measure on; judgement
_BLOCK = 32  # of a batch, that memory must hold at a time; the gradient is that of the whole; judgement
_LABELS = {"1": True, "0": False, "": True}


class Settings(NamedTuple):
    """The papers', but for what a comment says."""

    rate: float = 1e-5
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    decay: float = 0.01
    warm_up: float = 0.1  # of the steps of the first epoch
    patience: int = 5  # epochs without a better macro F1
    renewed: int = 1  # layers at the top that begin anew
    growth: int = 1_000_000  # URLs that each epoch takes more than the one before; pairs are all taken at once
    batch: int = 140  # not in the paper: as in the README of its code
    epochs: int | None = None  # no limit but patience in the papers
    seed: int = 1


class Epoch(NamedTuple):
    """How one went: the mean loss while it learned, and the macro F1 on sites that it does not learn from."""

    loss: float
    macro_f1: float


class Sample(NamedTuple):
    """What the model is asked, and the number of the right label."""

    texts: Texts
    label: int


class Task(NamedTuple):
    """What to learn."""

    labels: tuple[str, ...]  # one for a probability
    learn: list[Sample]
    measure: list[Sample]
    growth: int | None = None


class Goal(NamedTuple):
    """Where the model goes, and who hears of it."""

    out: Path
    tell: Tell


DEFAULTS = Settings()


def train_languages(
    data: Path, out: Path, base: str = BASE, settings: Settings = DEFAULTS, *, tell: Tell = silent
) -> list[Epoch]:
    """Write a folder for `load_language_transformer`, learned from lines `url<TAB>language`; "und" for no language."""
    rows = [(urls[0], label_language(code)) for urls, code in _rows(data, urls=1)]
    found = {language for _, language in rows}
    labels = (*sorted(found - {UNDETERMINED}), *found & {UNDETERMINED})
    if len(labels) < 2:
        raise ConfigError(f"{data} has URLs of {len(labels)} languages; two are the least to tell apart")
    samples = [Sample((url_text(url),), labels.index(language)) for url, language in rows]
    held = _held_out([url.site for url, _ in rows], data)
    learn = [sample for sample, out_of_it in zip(samples, held, strict=True) if not out_of_it]
    measure = [sample for sample, out_of_it in zip(samples, held, strict=True) if out_of_it]
    return _fine_tune(Task(labels, learn, measure, settings.growth), Goal(out, tell), base, settings)


def train_pairs(
    data: Path, out: Path, base: str = BASE, settings: Settings = DEFAULTS, *, tell: Tell = silent
) -> list[Epoch]:
    """Write a folder for `load_pair_transformer`, learned from lines `url<TAB>url<TAB>1 or 0`.

    Where no line has a 0, or the third column is left out, negatives are made as in the paper, on each side of the
    split by itself.
    """
    rows = [((urls[0], urls[1]), _truth(label, data)) for urls, label in _rows(data, urls=2)]
    make = all(parallel for _, parallel in rows)
    held = _held_out([min(a.site, b.site) for (a, b), _ in rows], data)
    learn, measure = (
        _pair_samples(
            [row for row, out_of_it in zip(rows, held, strict=True) if out_of_it is part], settings.seed, make=make
        )
        for part in (False, True)
    )
    return _fine_tune(Task(("parallel",), learn, measure), Goal(out, tell), base, settings)


def inverse_root(step: int, warm_up: int) -> float:
    """The share of the rate at that step, from 0: it rises linearly to 1, then falls with the root of the steps."""
    return (step + 1) / warm_up if step < warm_up else math.sqrt(warm_up / (step + 1))


def macro_f1(gold: NDArray[np.int64], found: NDArray[np.int64]) -> float:
    """The mean over the classes that the gold has."""
    scores = []
    for label in np.unique(gold):
        right = np.sum((gold == label) & (found == label))
        scores.append(2 * right / (np.sum(gold == label) + np.sum(found == label)))
    return float(np.mean(scores))


def _fine_tune(task: Task, goal: Goal, base: str, settings: Settings) -> list[Epoch]:
    out, tell = goal
    if out.exists():
        raise ConfigError(f"{out} is there already; choose another --out")
    beside = out.with_name(out.name + ".part")
    classifier = _classifier(base, task.labels, settings)
    history: list[Epoch] = []
    for epoch in _epochs(classifier, task, settings):
        tell(f"epoch {len(history) + 1}: loss {epoch.loss:.4f}, macro F1 {epoch.macro_f1:.4f} on other sites")
        if epoch.macro_f1 > max((one.macro_f1 for one in history), default=-1.0):
            _save(classifier, beside)
        history.append(epoch)
        best = max(range(len(history)), key=lambda number: history[number].macro_f1)
        if len(history) == settings.epochs or len(history) - 1 - best >= settings.patience:
            break
    beside.rename(out)
    tell(f"{len(history)} epochs, macro F1 {max(one.macro_f1 for one in history):.3f} on other sites")
    return history


def _epochs(classifier: Classifier, task: Task, settings: Settings) -> Iterator[Epoch]:
    """Without end."""
    import torch  # noqa: PLC0415

    rng = random.Random(settings.seed)  # noqa: S311 (repeatable, not secret)
    learn = list(task.learn)
    rng.shuffle(learn)
    optimizer = torch.optim.AdamW(
        classifier.model.parameters(),
        lr=settings.rate,
        betas=settings.betas,
        eps=settings.epsilon,
        weight_decay=settings.decay,
    )
    first = min(len(learn), task.growth or len(learn))
    warm_up = max(1, round(settings.warm_up * math.ceil(first / settings.batch)))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: inverse_root(step, warm_up))
    for epoch in count(1):
        part = learn[: epoch * task.growth] if task.growth else list(learn)
        rng.shuffle(part)
        classifier.model.train()
        losses = []
        for start in range(0, len(part), settings.batch):
            optimizer.zero_grad()
            losses.append(_learn(classifier, [_turned(one, rng) for one in part[start : start + settings.batch]]))
            optimizer.step()
            schedule.step()
        classifier.model.eval()
        yield Epoch(float(np.mean(losses)), _measured(classifier, task.measure))


def _learn(classifier: Classifier, samples: Sequence[Sample]) -> float:
    """Leave the gradient of a batch in the model; its mean loss."""
    import torch  # noqa: PLC0415

    tokens = classifier.tokens([sample.texts for sample in samples])
    total = 0.0
    for places in batches(tokens, _BLOCK):
        outputs = classifier.outputs([tokens[place] for place in places])
        labels = torch.tensor([samples[place].label for place in places], device=outputs.device)
        if outputs.shape[1] == 1:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(outputs[:, 0], labels.float(), reduction="sum")
        else:
            loss = torch.nn.functional.cross_entropy(outputs, labels, reduction="sum")
        (loss / len(samples)).backward()
        total += float(loss.detach()) / len(samples)
    return total


def _turned(sample: Sample, rng: random.Random) -> Sample:
    """Two URLs in either order: which page was found first says nothing."""
    return sample._replace(texts=sample.texts[::-1]) if rng.random() < 0.5 else sample


def _measured(classifier: Classifier, samples: Sequence[Sample]) -> float:
    logits = classifier.logits([sample.texts for sample in samples])
    found = (logits[:, 0] > 0).astype(np.int64) if logits.shape[1] == 1 else logits.argmax(axis=1)
    return macro_f1(np.array([sample.label for sample in samples]), found)


def _classifier(base: str, labels: Sequence[str], settings: Settings) -> Classifier:
    transformers = need_transformers(base)
    import torch  # noqa: PLC0415

    torch.manual_seed(settings.seed)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(base, trust_remote_code=False)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            base,
            trust_remote_code=False,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: number for number, label in enumerate(labels)},
            ignore_mismatched_sizes=True,  # a base that is a classifier already may have had other labels
        )
    # As in `load_classifier`: anything may be raised here.
    except Exception as error:
        raise ConfigError(
            f"the base model {base} cannot be loaded; give the path of a folder with a model of transformers, or the"
            f" name of a public one, as {BASE}, which is downloaded where the network allows it ({first_line(error)})"
        ) from error
    for layer in _layers(model)[-settings.renewed :] if settings.renewed else ():
        layer.apply(lambda module: _renew(module, getattr(model.config, "initializer_range", 0.02)))
    return Classifier(base, model, tokenizer)


def _layers(model: Any) -> list[Any]:
    """Of the encoder, whatever the architecture calls them."""
    import torch  # noqa: PLC0415

    depth = model.config.num_hidden_layers
    stacks = (module for module in model.base_model.modules() if isinstance(module, torch.nn.ModuleList))
    return next((list(stack) for stack in stacks if len(stack) == depth), [])


def _renew(module: Any, spread: float) -> None:
    """As the architectures begin; their own method passes over what was loaded."""
    import torch  # noqa: PLC0415

    if isinstance(module, torch.nn.Linear):
        torch.nn.init.normal_(module.weight, std=spread)
    elif isinstance(module, torch.nn.LayerNorm):
        torch.nn.init.ones_(module.weight)
    else:
        return
    if module.bias is not None:
        torch.nn.init.zeros_(module.bias)


def _save(classifier: Classifier, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        classifier.model.save_pretrained(folder)
        classifier.tokenizer.save_pretrained(folder)
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error}") from error


def _rows(data: Path, *, urls: int) -> list[tuple[tuple[Url, ...], str]]:
    """So many URLs and what follows them; what is no URL, as a headline is not, is counted and left out."""
    found, bad = [], 0
    try:
        with gzip.open(data, "rt", encoding="utf-8") if data.suffix == ".gz" else data.open(encoding="utf-8") as file:
            for line in file:
                columns = line.rstrip("\r\n").split("\t")
                try:
                    parsed = tuple(Url.parse(column) for column in columns[:urls])
                except UrlError:
                    bad += 1
                    continue
                found.append((parsed, columns[urls] if len(columns) > urls else ""))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{data} cannot be read: {error}") from error
    if bad:
        logger.info("%d of %d lines of %s have no URL and are left out", bad, bad + len(found), data)
    if any(len(parsed) < urls for parsed, _ in found):
        raise ConfigError(f"{data} has lines with fewer than {urls} URLs with a tab between")
    return found


def _held_out(sites: Sequence[str], data: Path) -> list[bool]:
    """Which of them to measure on; no site is learned from as well."""
    folds = fold_of(sites, min(_FOLDS, len(set(sites)) or 1))
    if len(set(folds.values())) < 2:
        raise ConfigError(f"{data} has URLs of {len(folds)} sites; two are the least, to learn from and to measure on")
    return [folds[site] == 0 for site in sites]


def _truth(label: str, data: Path) -> bool:
    if label not in _LABELS:
        raise ConfigError(
            f"{data}: {label!r} says nothing of a pair; write 1 for translations of each other and 0 for others"
        )
    return _LABELS[label]


def _pair_samples(rows: Sequence[tuple[UrlPair, bool]], seed: int, *, make: bool) -> list[Sample]:
    wrong = [
        pair for number in GENERATORS if make for pair in negatives([pair for pair, _ in rows], Generator(number), seed)
    ]
    told = [*rows, *((pair, False) for pair in wrong)]
    return [Sample((url_text(a), url_text(b)), int(parallel)) for (a, b), parallel in told]
