"""N-gram models: words trained and scored per second of CPU, memory, the cost of judging a page, agreement with KenLM.

The pages are those of the benchmark `analysis`; four in five sequences of their main text are learned from, the others
are scored. KenLM is compared where it can be imported (`pip install kenlm` compiles it).
"""

import importlib.util
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from bitrawl.model import Capture, Page
from bitrawl.page.analyser import page_reader
from bitrawl.text.ngram_models import NgramModel, read_arpa, sequences, train
from bitrawl.topic.judge import PerplexityRelevance
from bitrawl.url import Url
from lab.bench.analysis import REAL, bench_pages, real_pages
from lab.train.ngram_files import write_arpa

T = TypeVar("T")
Texts = list[list[str]]


def timed(work: Callable[[], T]) -> tuple[T, float]:
    began = time.process_time()
    return work(), time.process_time() - began


def understood(bodies: list[bytes]) -> tuple[list[Page], float]:
    """The pages, and the seconds that their analysis took."""
    analyser, url = page_reader(), Url.parse("http://www.bench.example/articles/one.html")
    captures = [
        Capture(url, 200, (("Content-Type", "text/html"),), body, 0.0, media_type="text/html") for body in bodies
    ]
    analyser.read(captures[0])  # what is loaded at the first page is no page's time
    found, took = timed(lambda: [analyser.read(capture) for capture in captures])
    return [page for page in found if isinstance(page, Page)], took


def main_texts(pages: list[Page]) -> Texts:
    return [words for page in pages for p in page.paragraphs if not p.boilerplate for words in sequences(p.text)]


def show_speed(learned: Texts, asked: Texts) -> NgramModel:
    size = sum(map(len, learned))
    model, took = timed(lambda: train(learned))
    grams = len(model.levels[-1].keys)
    print(f"training: {size:,} words, {grams:,} distinct 5-grams, {size / took:,.0f} words a CPU second")
    scores, took = timed(lambda: model.log10(asked))
    print(f"scoring: {len(scores):,} words, {len(scores) / took:,.0f} words a CPU second")
    tracemalloc.start()
    train(learned)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"memory of training: {peak / 1e6:.0f} MB at most, {peak / grams:.0f} bytes per distinct 5-gram")
    return model


def show_cost(model: NgramModel, pages: list[Page], analysis: float) -> None:
    relevance = PerplexityRelevance({page.language: model for page in pages})
    _, took = timed(lambda: [relevance.judge([page]) for page in pages])
    print(f"judging: {1000 * took / len(pages):.2f} ms a page, {took / analysis:.1%} of its analysis")


def show_agreement(model: NgramModel, asked: Texts) -> None:
    if not importlib.util.find_spec("kenlm"):
        print("KenLM is not here: pip install kenlm")
        return
    import kenlm  # noqa: PLC0415 (a peer, where it is installed)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.arpa"
        _, wrote = timed(lambda: write_arpa(model, path))
        again, read = timed(lambda: read_arpa(path))
        peer = kenlm.Model(str(path))
    lines = [" ".join(words) for words in asked]
    theirs, took = timed(lambda: np.array([log for line in lines for log, _, _ in peer.full_scores(line)]))
    ours = again.log10(asked)
    print(f"ARPA: written in {wrote:.1f} s, read in {read:.1f} s")
    print(
        f"KenLM: {len(theirs) / took:,.0f} words a CPU second; greatest difference {abs(theirs - ours).max():.1e} of log10"
    )


def main() -> None:
    print("n-gram models: one process, CPU time, order 5")
    pages, analysis = understood(real_pages() if REAL.exists() else bench_pages())
    texts = main_texts(pages)
    learned, asked = [t for i, t in enumerate(texts) if i % 5], texts[::5]
    model = show_speed(learned, asked)
    show_cost(model, pages, analysis)
    show_agreement(model, asked)


if __name__ == "__main__":
    main()
