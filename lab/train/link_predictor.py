"""Trains the link predictor on archived webs whose translated pages are known (`discover/suggestions.py`)."""

import asyncio
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.suggestions import PLACES, LinkPredictor, TokenLanguages, places
from bitrawl.files import replacing
from bitrawl.languages import same_language
from bitrawl.model import UNDETERMINED, Language, Page
from bitrawl.papers.replay import Replay, landed, opened_replay
from bitrawl.url import Url
from lab.train import Tell, silent
from lab.train.folds import shuffled, splits
from lab.train.site_packs import open_packs

FOLDS = 5
PAGES = 6  # of a host, its entry page among them; judgement: more pages of one template teach nothing new
LINKS = 60  # of a page that lead nowhere known, at most, spread over the page; judgement
ASKED = tuple(map(Language, ("en", "fr", "es", "de")))  # of sites whose translations are not known
STEPS, RATE, SHRINKAGE = 300, 0.2, 2.0  # of the descent; judgement


class Example(NamedTuple):
    """A link of a page, asked for one language."""

    host: str
    places: NDArray[np.int64]
    leads: bool  # to a translated page in that language


class ArchivedWeb(NamedTuple):
    """What an example needs to know of a web."""

    languages: Mapping[Url, Language]  # of the pages that have a translation
    entries: Mapping[str, Url]  # by host
    unjudged: frozenset[str]  # hosts of which links to pages that are not archived may well lead to translations


def train(data: Path, out: Path, *, tell: Tell = silent, cache: Path | None = None) -> None:
    """From the folder discovery, and sites beside it where there is one."""
    examples = asyncio.run(gathered(data, cache=cache, tell=tell))
    predictor = fitted(examples)
    tell(
        f"{len(examples)} links of {len({one.host for one in examples})} hosts, {sum(one.leads for one in examples)} lead"
    )
    with replacing(out) as file:
        np.savez_compressed(file, weights=predictor.weights.astype(np.float16), bias=np.float32(predictor.bias))


async def gathered(data: Path, *, cache: Path | None = None, tell: Tell = silent) -> list[Example]:
    examples: list[Example] = []
    async with opened_replay([data / "web.warc.gz"], cache=cache and cache / "web") as replay:
        examples += await read_examples(replay, discovery_web(data))
        tell(f"{data}: {len(examples)} links")
    packs = open_packs(data.parent / "sites") if (data.parent / "sites").is_dir() else []
    for pack in packs:
        async with opened_replay([pack.archive], cache=cache and cache / pack.name) as replay:
            truth = read_languages(pack.folder / "truth.tsv")
            entries = {seed.host: seed for seed in reversed(pack.seeds)}
            more = await read_examples(replay, ArchivedWeb(truth, entries, frozenset()))
            tell(f"{pack.name}: {len(more)} links")
            examples += more
    return examples


def discovery_web(data: Path) -> ArchivedWeb:
    with (data / "truth.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    entries = {row["host"]: Url.parse(row["entry"]) for row in rows}
    unjudged = frozenset(row["host"] for row in rows if row["class"] == "menu-to-nowhere")
    return ArchivedWeb(read_languages(data / "pairs.tsv"), entries, unjudged)


def read_languages(pairs: Path) -> dict[Url, Language]:
    with pairs.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {Url.parse(row[f"url_{side}"]): Language(row[f"lang_{side}"]) for row in rows for side in "ab"}


async def read_examples(replay: Replay, web: ArchivedWeb) -> list[Example]:
    """Of the entry page of each host, and a few pages with a translation."""
    examples = []
    for host, urls in _chosen(replay, web).items():
        own = {language for url, language in web.languages.items() if url.host == host}
        for url in urls:
            page = await replay.page(url)
            if page is not None:
                examples += await _of_page(replay, web, page, own or set(ASKED))
    return examples


def _chosen(replay: Replay, web: ArchivedWeb) -> dict[str, list[Url]]:
    chosen = {host: [entry] for host, entry in web.entries.items()}
    for url in map(Url.known, shuffled(sorted(web.languages))):
        if url.host in chosen and len(chosen[url.host]) < PAGES and replay.archived([url])[url] is not None:
            chosen[url.host].append(url)
    return chosen


async def _of_page(replay: Replay, web: ArchivedWeb, page: Page, languages: Iterable[Language]) -> list[Example]:
    examples = []
    inside = [link for link in page.links if link.url.site == page.url.site]
    step = max(1, len(inside) // LINKS)
    for number, link in enumerate(inside):
        target = await landed(replay.fetcher, link.url)
        spoken = web.languages.get(target, UNDETERMINED)
        if page.url.host in web.unjudged and replay.archived([target])[target] is None:
            continue
        for language in sorted(languages):
            if same_language(page.language, language):
                continue
            leads = same_language(spoken, language)
            if leads or number % step == 0:
                examples.append(Example(page.url.host, places(link, TokenLanguages(page.language, language)), leads))
    return examples


def fitted(examples: Sequence[Example]) -> LinkPredictor:
    """Trained on all of them, calibrated on what models without the host say (Platt 1999)."""
    logits = held_out(examples)
    leads = np.array([one.leads for one in examples], float)
    slope, shift = _platt(logits, leads, _weights(examples))
    plain = _regression(examples)
    return LinkPredictor((plain.weights * slope).astype(np.float32), plain.bias * slope + shift)


def held_out(examples: Sequence[Example]) -> NDArray[np.float64]:
    """The logit of each example, by a model that has not seen its host."""
    logits = np.zeros(len(examples))
    for split in splits([one.host for one in examples], FOLDS):
        model = _regression([examples[place] for place in split.learn])
        for place in split.measure:
            logits[place] = model.bias + model.weights[examples[place].places].sum()
    return logits


def _weights(examples: Sequence[Example]) -> NDArray[np.float64]:
    """Each host counts by the root of its links: a manual of a thousand chapters is one site."""
    counts: dict[str, int] = {}
    for one in examples:
        counts[one.host] = counts.get(one.host, 0) + 1
    return np.array([counts[one.host] ** -0.5 for one in examples])


def _regression(examples: Sequence[Example]) -> LinkPredictor:
    """Logistic regression by full-batch Adam; the same bytes at each run."""
    columns = np.concatenate([one.places for one in examples])
    rows = np.repeat(np.arange(len(examples)), [len(one.places) for one in examples])
    leads, counts = np.array([one.leads for one in examples], float), _weights(examples)
    weights, bias = np.zeros(PLACES), 0.0
    first, second, total = np.zeros(PLACES + 1), np.zeros(PLACES + 1), counts.sum()
    for step in range(1, STEPS + 1):
        logits = bias + np.bincount(rows, weights[columns], len(examples))
        errors = (1 / (1 + np.exp(-np.clip(logits, -30, 30))) - leads) * counts
        slope = np.bincount(columns, errors[rows], PLACES) + SHRINKAGE * weights * 0.1
        gradient = np.append(slope, errors.sum()) / total
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        change = RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-6) / (1 + step / 60)
        weights, bias = weights - change[:-1], bias - change[-1]
    return LinkPredictor(weights.astype(np.float32), float(bias))


def _platt(logits: NDArray[np.float64], leads: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[float, float]:
    """The slope and shift that make held-out logits probabilities, by Newton's method."""
    slope, shift = 1.0, 0.0
    for _ in range(50):
        chances = 1 / (1 + np.exp(-np.clip(slope * logits + shift, -30, 30)))
        errors, spread = counts * (chances - leads), counts * chances * (1 - chances) + 1e-9
        gradient = np.array([(errors * logits).sum(), errors.sum()])
        curve = np.array(
            [[(spread * logits**2).sum(), (spread * logits).sum()], [(spread * logits).sum(), spread.sum()]]
        )
        slope, shift = np.array([slope, shift]) - np.linalg.solve(curve + 1e-6 * np.eye(2), gradient)
    return float(slope), float(shift)
