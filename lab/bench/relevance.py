"""Whether pages are about a subject: area under the ROC curve, average precision, precision and recall at one half.

    python -m lab.bench.relevance                         # all kinds of trials, ../shared/domain
    python -m lab.bench.relevance cross ebola             # these
    python -m lab.bench.relevance --subjects              # a line for each subject too
    python -m lab.bench.relevance --models terms,perplexity    # these; learned and moore-lewis besides
    python -m lab.bench.relevance --cache FOLDER --most 1600   # fewer articles of the wiki, for a quick look

Trials: `wiki`, twenty articles of a subject, judged are the other articles; `ebola`, twenty positives, two draws; `cross`,
twenty articles, judged are the English pages of the web; `target`, the same with ten pages of the web; `ten`, those ten
pages alone; `one`, a single article, judged are the other articles. The learned model is measured `cold` (it learns
nothing from what it judges), as it `visits` the pages in a random order (a crawl would order them better), and at the
`end`, when it judges all pages again. The last constants were chosen on the subjects of TUNED; the form of the model and
the first constants were chosen with all subjects in sight, so neither half is quite unseen. The other models learn nothing
from what they judge: `terms`, a list that `bitrawl topic learn` makes of the same examples, at ILSP-FC's thresholds;
`perplexity`, a 5-gram model of the examples; `moore-lewis`, the difference of that and of a model of pages of the other
collection (the wiki, where the web or Ebola is judged), which accepts a page where the first is less surprised. Pages are
analysed once and kept in --cache. "ms" is CPU time to judge a page; for the learned model the time to read one, which
stands at the top, comes on top of it.
"""

import argparse
import csv
import gzip
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.archive.archived_web import Archives
from bitrawl.job.topics import learned_terms
from bitrawl.model import Capture, Language, Metadata, Page, Paragraph
from bitrawl.page.analyser import page_reader
from bitrawl.protocols import RelevanceModel
from bitrawl.store.analyses import Analyses
from bitrawl.text.ngram_models import NgramModel, sequences, train
from bitrawl.topic.judge import PerplexityRelevance, perplexities
from bitrawl.topic.learned import read_page
from bitrawl.topic.subject import TopicDocument, TopicSubject
from bitrawl.topic.term_relevance import TermRelevance
from bitrawl.url import Url
from lab.bench.domain import text_of

DOMAIN = Path(__file__).parents[3] / "shared" / "domain"
CACHE = Path(tempfile.gettempdir()) / "bitrawl-relevance"
ENGLISH = Language("en")
WIKI = ("astronomy", "birds", "environment", "food", "health", "law", "programming")
WEB = ("environment", "health", "it-services", "programming", "travel", "wine")
BOTH = ("environment", "health", "programming")
TUNED = frozenset({"astronomy", "environment", "food", "it-services", "programming", "ebola-0"})
TEXTS, TARGET_PAGES, DRAWS = 20, 10, 2
OTHERS = 300  # pages of the other collection
NOWHERE = Url.parse("https://example.org/")


class Judged(NamedTuple):
    page: TopicDocument
    subjects: frozenset[str]
    source: Page


class Trial(NamedTuple):
    kind: str
    subject: str
    examples: list[Judged]
    pages: list[Judged]
    others: list[Judged]  # of the other collection: what Moore and Lewis compare with


class Figures(NamedTuple):
    auc: float
    ap: float
    precision: float
    recall: float
    error: float  # mean absolute difference of score and share, over tenths of the scores: calibration


class Line(NamedTuple):
    trial: Trial
    model: str
    figures: Figures
    milliseconds: float  # of CPU for a page that has been read


def read_web(name: str, cache: Path, most: int | None) -> list[Judged]:
    """Pages in English that are about something, analysed. With `most`, those about no subject are cut."""
    with (DOMAIN / name / "truth.tsv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["lang"] == "en" and row["neutral"] != "1"]
    random.Random(5).shuffle(rows)
    rows.sort(key=lambda row: row["topic"] == "other")
    archive = DOMAIN / name / "site.warc.gz"
    analyses, reader = Analyses(cache, [archive]), page_reader()
    judged, took = [], 0.0
    with Archives([archive]) as archives:
        for row in rows[:most]:
            url = Url.parse(row["url"])
            outcome = analyses.get(url, index=False)
            if outcome is None:
                answer = archives.answer(url)
                outcome = reader.read(answer) if isinstance(answer, Capture) else answer
                if isinstance(outcome, Page):
                    outcome = msgspec.structs.replace(outcome, links=(), images=(), tags=())
                analyses.put(url, outcome, index=False)
            if isinstance(outcome, Page):
                began = time.process_time()
                read = read_page(outcome)
                took += time.process_time() - began
                source = msgspec.structs.replace(outcome, links=(), images=(), tags=())
                judged.append(Judged(read, frozenset({row["topic"], row["also"]} - {""}), source))
    analyses.close()
    print(f"{name}: {len(judged)} pages, {1000 * took / len(judged):.2f} ms of CPU to read one", flush=True)
    return judged


def read_ebola() -> list[Judged]:
    """Its pages come as text. Those in no known language are left out."""
    judged = []
    with gzip.open(DOMAIN / "ebola.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["lang"] != ENGLISH:
                continue
            about = Metadata(description=row["description"] or "", keywords=row["keywords"] or "")
            paragraphs = tuple(Paragraph(line) for line in row["text"].split("\n") if line)
            page = Page(NOWHERE, ENGLISH, title=row["title"] or "", metadata=about, paragraphs=paragraphs)
            judged.append(Judged(read_page(page), frozenset({"ebola"} if row["label"] else ()), page))
    return judged


def trials(kinds: Sequence[str], cache: Path, most: int | None) -> Iterator[Trial]:
    wiki, web = read_web("wiki", cache, most), read_web("web", cache, None)
    others = {id(wiki): _some(web), id(web): _some(wiki)}
    for trial in _trials(kinds, wiki, web):
        yield trial._replace(others=others[id(wiki)] if trial.kind in ("wiki", "one") else others[id(web)])


def _some(pages: list[Judged]) -> list[Judged]:
    return random.Random(7).sample(pages, min(OTHERS, len(pages)))


def _trials(kinds: Sequence[str], wiki: list[Judged], web: list[Judged]) -> Iterator[Trial]:
    if "wiki" in kinds:
        yield from (_within("wiki", subject, wiki, TEXTS) for subject in WIKI)
    if "one" in kinds:
        yield from (_within("one", subject, wiki, 1) for subject in WIKI)
    if "ebola" in kinds:
        ebola = read_ebola()
        for draw in range(DRAWS):
            yield _within("ebola", "ebola", ebola, TEXTS, draw)._replace(subject=f"ebola-{draw}")
    for draw in range(DRAWS):
        for subject in BOTH:
            texts = _drawn(wiki, subject, TEXTS, draw)
            if "cross" in kinds:
                yield Trial("cross", subject, texts, web, [])
            if "target" in kinds:
                ten = _within("target", subject, web, TARGET_PAGES, draw)
                yield ten._replace(examples=texts + ten.examples)
        if "ten" in kinds:
            yield from (_within("ten", subject, web, TARGET_PAGES, draw) for subject in WEB)


def _within(kind: str, subject: str, pages: list[Judged], count: int, draw: int = 0) -> Trial:
    drawn = _drawn(pages, subject, count, draw)
    left = {id(one) for one in drawn}
    return Trial(kind, subject, drawn, [one for one in pages if id(one) not in left], [])


def _drawn(pages: list[Judged], subject: str, count: int, draw: int) -> list[Judged]:
    """At most half of the pages about the subject."""
    about = [one for one in pages if subject in one.subjects]
    return random.Random(draw).sample(about, min(count, len(about) // 2))


def measured(trial: Trial, models: Sequence[str]) -> Iterator[Line]:
    subject = trial.subject.partition("-")[0] if trial.kind == "ebola" else trial.subject
    pages = random.Random(1).sample(trial.pages, len(trial.pages))
    true = np.array([subject in one.subjects for one in pages])
    if "learned" in models:
        yield from _learned(trial, pages, true)
    for name in models:
        if name in FIXED:
            began = time.process_time()
            scores, accepted = FIXED[name](trial, [one.source for one in pages])
            took = 1000 * (time.process_time() - began) / len(pages)
            yield Line(trial, name, figures(scores, true, accepted), took)


def _learned(trial: Trial, pages: list[Judged], true: NDArray[np.bool_]) -> Iterator[Line]:
    model = TopicSubject(ENGLISH)
    for one in trial.examples:
        model.learn(one.page, relevant=True)
    for name in ("cold", "visits", "end"):
        began = time.process_time()
        logits = [_visited(model, one, adapting=name == "visits") for one in pages]
        took = 1000 * (time.process_time() - began) / len(pages)
        yield Line(trial, name, figures(1 / (1 + np.exp(-np.clip(logits, -30, 30))), true), took)


def _visited(model: TopicSubject, judged: Judged, *, adapting: bool) -> float:
    logit = model.logit(judged.page)
    if adapting:
        model.observe(judged.page, judged.source.url)
    return logit


Scores = tuple[NDArray[np.float64], NDArray[np.bool_]]
"""0 to 1 for each page, and which pages are accepted."""


def _terms(trial: Trial, pages: Sequence[Page]) -> Scores:
    found = learned_terms([text_of(one.source) for one in trial.examples], ENGLISH)
    return _verdicts(TermRelevance(found, [ENGLISH]), pages)


def _perplexity(trial: Trial, pages: Sequence[Page]) -> Scores:
    return _verdicts(PerplexityRelevance({ENGLISH: _ngrams(trial.examples)}), pages)


def _verdicts(model: RelevanceModel, pages: Sequence[Page]) -> Scores:
    judged = [one for page in pages for one in model.judge([page])]
    return np.array([one.score for one in judged]), np.array([one.relevant for one in judged])


def _moore_lewis(trial: Trial, pages: Sequence[Page]) -> Scores:
    subject, others = _ngrams(trial.examples), _ngrams(trial.others)
    texts = list(map(text_of, pages))
    logits = np.log(perplexities(others, texts)) - np.log(perplexities(subject, texts))
    scores = 1 / (1 + np.exp(-logits))
    return scores, scores > 0.5


def _ngrams(pages: Sequence[Judged]) -> NgramModel:
    return train(words for one in pages for words in sequences(text_of(one.source)))


FIXED: dict[str, Callable[[Trial, Sequence[Page]], Scores]] = {
    "terms": _terms,
    "perplexity": _perplexity,
    "moore-lewis": _moore_lewis,
}
MODELS = ("learned", *FIXED)


def figures(scores: NDArray[np.float64], true: NDArray[np.bool_], accepted: NDArray[np.bool_] | None = None) -> Figures:
    """Without `accepted`, pages of one half and more are."""
    accepted = scores >= 0.5 if accepted is None else accepted
    hits = int((accepted & true).sum())
    tenths = np.minimum((scores * 10).astype(int), 9)
    gaps = [
        abs(scores[tenths == i].mean() - true[tenths == i].mean()) * (tenths == i).mean() for i in np.unique(tenths)
    ]
    return Figures(
        roc_area(scores, true),
        average_precision(scores, true),
        hits / max(int(accepted.sum()), 1),
        hits / int(true.sum()),
        float(sum(gaps)),
    )


def roc_area(scores: NDArray[np.float64], true: NDArray[np.bool_]) -> float:
    """The share of pairs of a relevant and another page that are in the right order; a tie is half right."""
    others = np.sort(scores[~true])
    below, above = np.searchsorted(others, scores[true]), np.searchsorted(others, scores[true], side="right")
    return float((below + above).mean() / 2 / len(others))


def average_precision(scores: NDArray[np.float64], true: NDArray[np.bool_]) -> float:
    ranked = true[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(ranked) / np.arange(1, len(ranked) + 1))[ranked].mean())


def show(lines: Sequence[Line], *, subjects: bool) -> None:
    print(f"{'trial':28}{'model':13}{'AUC':>7}{'AP':>7}{'prec.':>7}{'recall':>7}{'calib.':>7}{'ms':>6}")
    kinds = dict.fromkeys(line.trial.kind for line in lines)
    for kind in kinds:
        of_kind = [line for line in lines if line.trial.kind == kind]
        if subjects:
            for subject in dict.fromkeys(line.trial.subject for line in of_kind):
                _rows(f"  {kind} {subject}", [line for line in of_kind if line.trial.subject == subject])
        groups: dict[str, Callable[[Line], bool]] = {
            "all": lambda _: True,
            "tuned": lambda line: line.trial.subject in TUNED,
            "reported": lambda line: line.trial.subject not in TUNED,
        }
        for group, belongs in groups.items():
            _rows(f"{kind} ({group})", [line for line in of_kind if belongs(line)])


def _rows(label: str, lines: Iterable[Line]) -> None:
    by_model: dict[str, list[Line]] = {}
    for line in lines:
        by_model.setdefault(line.model, []).append(line)
    for model, some in by_model.items():
        values = "".join(f"{mean(column):7.3f}" for column in zip(*(line.figures for line in some), strict=True))
        print(f"{label:28}{model:13}{values}{mean(line.milliseconds for line in some):6.1f}")


def main() -> None:
    kinds = ("wiki", "ebola", "cross", "target", "ten", "one")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(kinds)}; all by default")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--most", type=int, help="this many articles of the wiki, those about a subject first")
    parser.add_argument("--subjects", action="store_true", help="a line for each subject")
    parser.add_argument("--models", type=lambda raw: raw.split(","), default=MODELS, help=f"of {', '.join(MODELS)}")
    asked = parser.parse_args()
    if unknown := set(asked.kinds) - set(kinds):
        parser.error(f"no such trial: {', '.join(sorted(unknown))}")
    lines = [
        line
        for trial in trials(asked.kinds or kinds, asked.cache, asked.most)
        for line in measured(trial, asked.models)
    ]
    show(lines, subjects=asked.subjects)


if __name__ == "__main__":
    main()
