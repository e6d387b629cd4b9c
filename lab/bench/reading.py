"""How much CPU time a reader of a large job costs: list, sort, filter, open, search. Refresh of the index, and its memory.

Makes a job of its own with texts of several scripts: python -m lab.bench.reading --pairs 50000 --segments 6
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path

from bitrawl.mining import SiteFindings, Thresholds
from bitrawl.model import Language, PagePair, Segment, SegmentPair, Verdict
from bitrawl.review.reviewing import Reading
from bitrawl.review.search_query import ANYWHERE, HitOrder, SearchedSide, SearchQuery
from bitrawl.review.searching import all_hits, search
from bitrawl.review.segment_list import LengthUnit, SegmentFilter, SegmentList, SegmentOrder, SegmentState
from bitrawl.review.segment_review import Writer
from bitrawl.review.thresholds import ThresholdSight
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import LanguageOrder, PairFilter, PairOrder, VerdictState
from bitrawl.store.ledger import Ledger
from bitrawl.store.reading_index import is_due
from bitrawl.store.stored_findings import Findings, PackedAlignment
from bitrawl.url import Url

EN, ZH, FR = Language("en"), Language("zh"), Language("fr")
HAN = "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从知使世界"
# 150 words, each in one of ten texts
LATIN = [
    f"{a}{b}{c}"
    for a in ("ma", "re", "to", "lé", "ni", "sor")
    for b in ("ri", "na", "té", "lo", "ku")
    for c in ("", "s", "ment", "tion", "r")
]
_QUERIES = {
    "a common word": SearchQuery(text="mari"),
    "a rare phrase of common words": SearchQuery(text="mari toris lékution"),
    "a word that is nowhere": SearchQuery(text="nowhere"),
    "a word in one language pair": SearchQuery(text="mari", side=SearchedSide.A, languages=LanguageOrder(EN, FR)),
    "one Chinese character": SearchQuery(text="学", side=SearchedSide.B),
    "two Chinese characters": SearchQuery(text="大学", side=SearchedSide.B),
    "two that are nowhere": SearchQuery(text="龘龘", side=SearchedSide.B),
    "four Chinese characters": SearchQuery(text="大学生自", side=SearchedSide.B),
    "a prefix": SearchQuery(text="mar*"),
    "a prefix inside a phrase": SearchQuery(text="mar* tori"),
    "two words near each other": SearchQuery(text="mari tori", between=3),
    "two words anywhere": SearchQuery(text="mari tori", between=ANYWHERE),
    "with and without": SearchQuery(text="mari", other="tori", without="rena", side=SearchedSide.A),
    "by left context": SearchQuery(text="mari", order=HitOrder.LEFT),
}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--pairs", type=int, default=50_000)
    asked.add_argument("--segments", type=int, default=6, help="of each page pair")
    asked.add_argument("--sites", type=int, default=50)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = JobFolder(Path(place))
        make(folder, given.pairs, given.segments, given.sites)
        refresh(folder, "refresh of all")
        refresh(folder, "refresh of nothing")
        _read(folder)


def make(folder: JobFolder, pairs: int, segments: int, sites: int) -> None:
    chance = random.Random(1)
    folder.description.write_text('langs = ["en", "fr", "zh"]\nseeds = ["https://s0.test/"]\n')
    ledger = Ledger(folder.ledger)
    findings = Findings(ledger)
    with ledger.transaction():
        for site in range(sites):
            found, keys = [], []
            for number in range(pairs // sites):
                other = ZH if number % 2 else FR
                a, b = (Url.known(f"https://s{site}.test/{code}/{number}/page") for code in (EN, other))
                keys.append(f"{site} {number}".encode())
                made = tuple(_segment(chance, a, b, other) for _ in range(segments))
                findings.aligned(f"s{site}.test", keys[-1], PackedAlignment.of(made))
                found.append(PagePair(a, b, EN, other, round(chance.random(), 4), {"u": 0.5, "c": 0.9}))
                _fetched(ledger, f"s{site}.test", (a, b))
            findings.replace(SiteFindings(f"s{site}.test", 2 * len(found), tuple(found)), keys)
    ledger.close()


def _fetched(ledger: Ledger, site: str, urls: tuple[Url, Url]) -> None:
    for url in urls:
        ledger.database.query(
            "INSERT INTO fetches (url, kind, score, attempt, status, bytes, at, took, outcome)"
            " VALUES (?, 'page', 1, 1, 200, 1000, 0, 0.1, 'page')",
            (url,),
        )
        ledger.database.query(
            "INSERT INTO stored_pages (url, site, language, title, digest, signature, page) VALUES (?, ?, 'en', ?, '', 0, x'')",
            (url, site, f"Title of {url}"),
        )


def _segment(chance: random.Random, a: Url, b: Url, other: Language) -> SegmentPair:
    words = " ".join(chance.choices(LATIN, k=15))
    text = "".join(chance.choices(HAN, k=30)) if other == ZH else " ".join(chance.choices(LATIN, k=15))
    return SegmentPair(a, b, Segment(words, 0, 0), Segment(text, 0, 0), round(chance.random(), 4))


def refresh(folder: JobFolder, what: str) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "bitrawl.store.reading_index", str(folder.path)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = folder.reading_index.stat().st_size / 1e6
    print(f"{what}: {seconds:.1f} CPU s, {after.ru_maxrss / 1024:.0f} MB of memory, index of {size:.0f} MB")


def _read(folder: JobFolder) -> None:
    reading = Reading(folder)
    listed = reading.pairs(PairFilter()).pairs
    for pair in listed[:20]:
        reading.judge_pair(pair.row.key, Verdict.REJECT, "anna", at=1.0)
    key = listed[-1].row.key
    questions: dict[str, Callable[[], object]] = {
        "is a refresh due?": lambda: is_due(folder.path),
        "first pairs": lambda: reading.pairs(PairFilter()),
        "by segments, far down": lambda: reading.pairs(PairFilter(order=PairOrder.SEGMENTS, offset=40_000)),
        "text in URL or title": lambda: reading.pairs(PairFilter(text="zh/77/")),
        "text that is nowhere": lambda: reading.pairs(PairFilter(text="nowhere")),
        "languages, method, score": lambda: reading.pairs(
            PairFilter(languages=LanguageOrder(EN, ZH), method="c", least=0.5, order=PairOrder.MEAN_SCORE)
        ),
        "rejected": lambda: reading.pairs(PairFilter(verdict=VerdictState.REJECTED)),
        "not judged": lambda: reading.pairs(PairFilter(verdict=VerdictState.NONE)),
        "one pair": lambda: reading.pair(key),
        "choices": reading.choices,
        "harvest": lambda: reading.harvest(None),
        "what thresholds let in": lambda: ThresholdSight(folder, Thresholds(score=0.5)).corpora,
        "the same, with ten examples": lambda: ThresholdSight(folder, Thresholds(score=0.5)).around(5),
        **{what: partial(search, reading, query) for what, query in _QUERIES.items()},
        "a common word, 2,000 hits further": lambda: search(reading, SearchQuery(text="mari"), offset=2000),
        "2,000 hits for a file": lambda: list(islice(all_hits(reading, SearchQuery(text="mari")), 2000)),
    }
    _ask(questions)
    _filter(reading)


def _ask(questions: Mapping[str, Callable[[], object]]) -> None:
    for what, ask in questions.items():
        ask()
        began = time.process_time()
        ask()
        print(f"{what}: {1000 * (time.process_time() - began):.0f} CPU ms")


def _filter(reading: Reading) -> None:
    """Segments by filter, before and after half of them were rejected at once and 200 were edited."""
    segments, half = SegmentList(reading), SegmentFilter(most=0.5)
    filters = {
        "all segments, the worst first": SegmentFilter(),
        "segments by score and length": SegmentFilter(
            least=0.3, most=0.6, unit=LengthUnit.CHARACTERS, shortest=20, longest=90
        ),
        "segments by words on both sides": SegmentFilter(words_a="mar*", words_b="to*"),
        **{f"segments that are {state}": SegmentFilter(state=state) for state in SegmentState},
    }
    views = {what: partial(segments.part, wanted, SegmentOrder.WORST) for what, wanted in filters.items()}
    _ask(views)
    began = time.process_time()
    count = reading.verdicts.say_all(segments.subjects(half), Verdict.REJECT, "anna", at=2.0)
    said = time.process_time()
    print(f"{count:,} verdicts at once: {said - began:.1f} CPU s; with these verdicts:")
    _ask(views)
    began = time.process_time()
    reading.verdicts.undo_last("anna", at=3.0)
    print(f"taken back: {time.process_time() - began:.1f} CPU s")
    for pair in reading.pairs(PairFilter(limit=100)).pairs:
        read = reading.pair(pair.row.key)
        for place in (1, 2):
            assert read is not None
            reading.review.edit(read.segments, place, (f"new text {place}", "texte"), Writer("anna", 4.0))
    print("with 200 edits:")
    _ask(views)


if __name__ == "__main__":
    main()
