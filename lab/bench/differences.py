"""How many rows of a good corpus are marked as different (web/differences.py), by kind; and some of them, to be read.

    python -m lab.bench.differences CORPUS... [--least 0.8] [--read 20]

A corpus is a sentences.jsonl, as `bitrawl mine --warc ../shared/sites/apisix/site.warc.gz --langs en,zh` writes it.
"""

import argparse
import random
import time
from collections import Counter, defaultdict
from pathlib import Path

import msgspec

from bitrawl.model import Language
from bitrawl.web.differences import Difference, differences


class Row(msgspec.Struct):
    text_a: str
    text_b: str
    lang_a: Language
    lang_b: Language
    score: float


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("corpora", nargs="+", type=Path)
    asked.add_argument("--least", type=float, default=0.8, help="score of a row")
    asked.add_argument("--read", type=int, default=0, help="rows of each kind to print")
    given = asked.parse_args()
    for corpus in given.corpora:
        rows = [row for row in map(_row, corpus.read_bytes().splitlines()) if row.score >= given.least]
        marked, examples, seconds = _marked(rows)
        shares = ", ".join(f"{kind} {100 * count / (len(rows) or 1):.2f} %" for kind, count in marked.most_common())
        print(f"{corpus}: {len(rows)} rows, {1e6 * seconds / (len(rows) or 1):.0f} µs each: {shares}")
        chance = random.Random(1)
        for kind, lines in examples.items():
            for line in chance.sample(lines, min(given.read, len(lines))):
                print(f"  {kind}\t{line}")


def _row(line: bytes) -> Row:
    return msgspec.json.decode(line, type=Row)


def _marked(rows: list[Row]) -> tuple[Counter[str], dict[str, list[str]], float]:
    counts, examples = Counter[str](), defaultdict[str, list[str]](list)
    began = time.process_time()
    both = [differences(row.text_a, row.text_b, (row.lang_a, row.lang_b)) for row in rows]
    seconds = time.process_time() - began
    for row, marks in zip(rows, both, strict=True):
        for kind in {mark.kind for mark in (*marks.a, *marks.b)}:
            counts[kind] += 1
            examples[kind].append(f"{_shown(row.text_a, marks.a)}\t{_shown(row.text_b, marks.b)}")
        counts["any"] += bool(marks.a or marks.b)
    return counts, examples, seconds


def _shown(text: str, marks: tuple[Difference, ...]) -> str:
    for mark in reversed(marks):
        text = f"{text[: mark.start]}[[{text[mark.start : mark.end]}]]{text[mark.end :]}"
    return text


if __name__ == "__main__":
    main()
