"""Main text: ours, cross-validated by site, beside trafilatura and jusText on trafilatura's 990 pages.

    python -m lab.bench.boilerplate [DATA]

Needs `pip install trafilatura justext`. CPU time, the tools page by page in turn, so that a busy machine is fair.
"""

import gzip
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import justext
import trafilatura
from selectolax.lexbor import LexborHTMLParser
from trafilatura.external import jt_stoplist_init

from bitrawl.page.boilerplate import THRESHOLD, BoilerplateClassifier
from bitrawl.page.decode import decode
from bitrawl.page.outline import outline
from lab.train.boilerplate import Scores, cross_validate, held_out_scores, read_examples, score

DATA = Path(__file__).parents[3] / "shared" / "data" / "boilerplate" / "trafilatura"
OPTIONS = {"include_comments": False, "include_tables": True, "include_formatting": False}


def main(data: Path = DATA) -> None:
    if not data.exists():
        print(f"boilerplate: {data} is not here; public source: the evaluation pages of github.com/adbar/trafilatura")
        return
    examples = read_examples(data)
    gold = json.loads((data / "gold.json").read_bytes())
    tools = _tools()
    scores = dict.fromkeys(tools, Scores())
    seconds = dict.fromkeys(tools, 0.0)
    for example, item in zip(examples, gold.values(), strict=True):
        body = gzip.decompress((data / "html" / item["file"]).read_bytes())
        for name, extract in tools.items():
            before = time.process_time()
            text = extract(body)
            seconds[name] += time.process_time() - before
            scores[name] += score(example, text or "")
    scores["bitrawl"] = held_out_scores(examples, cross_validate(examples))
    reference = seconds["trafilatura fast"]
    print(f"{'':18}{'precision':>10}{'recall':>8}{'F1':>8}{'ms/page':>9}{'of trafilatura fast':>21}")
    for name, found in scores.items():
        milliseconds = seconds[name] / len(examples) * 1000
        print(
            f"{name:18}{found.precision:10.3f}{found.recall:8.3f}{found.f1:8.4f}{milliseconds:9.2f}"
            f"{seconds[name] / reference:21.2f}"
        )
    print("bitrawl: scores cross-validated by site; time of the shipped model, from bytes to text")


def _tools() -> dict[str, Callable[[bytes], str | None]]:
    stop_words = jt_stoplist_init()
    classifier = BoilerplateClassifier.load()

    def ours(body: bytes) -> str:
        page = outline(LexborHTMLParser(decode(body).text))
        chances = classifier.probabilities(page)
        return "\n".join(block.text for block, p in zip(page.blocks, chances, strict=True) if p >= THRESHOLD)

    def just(body: bytes) -> str:
        # The settings of trafilatura's own evaluation.
        paragraphs = justext.justext(body, stop_words, 50, 200, 0.1, 0.2, 0.2, 200, True)
        return " ".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return {
        "bitrawl": ours,
        "trafilatura fast": partial(trafilatura.extract, fast=True, **OPTIONS),
        "trafilatura": partial(trafilatura.extract, fast=False, **OPTIONS),
        "jusText": just,
    }


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
