"""What merging costs: CPU time and memory for a million segment pairs of ten jobs, beside `merged()` on a sample.

    python -m lab.bench.merge                     # a million pairs; about two minutes
    python -m lab.bench.merge --pairs 100000      # fewer

The pairs are made up: sentences of 8 to 25 words out of a Zipf distribution over 20,000 words, 20 to a page. One in five
is a text that other pages have too, half of them with other punctuation. The shards, which have the keys, are written
first: their cost is that of the jobs, and is told apart. Each row is a process of its own. CPU seconds are for a million
pairs, also where fewer were measured; MB is the largest resident set. Goal: at most 10 s and 600 MB.
"""

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from bitrawl.corpus.figures import CorpusPart, JobPart, Origin, SitePart, SiteRows
from bitrawl.corpus.merger import grouped
from bitrawl.corpus.shards import ShardFolder, SourcePair, keyed, page_pair_keys, shard_counts, shard_writer
from bitrawl.job.job_merge import merge
from bitrawl.model import Language, PagePair, Segment, SegmentPair, TranslationUnit, pack
from bitrawl.url import Url

JOBS = 10
SAMPLE = 50_000  # for merged()
PER_PAGE = 20
WORDS = 20_000
LANGUAGES = ("en", "fr")
MEASURES = ("length_ratio", "language_a", "language_b", "coverage_a", "coverage_b", "alignment")


class Cost(NamedTuple):
    seconds: float  # of CPU
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _told("shards written (in the jobs)", measured(_write_jobs, folder, pairs), pairs)
        _told("merged(), without shards", measured(_merge_sample, min(pairs, SAMPLE)), min(pairs, SAMPLE))
        _told("compared by keys", measured(_compare, folder), pairs)
        _told("units merged", measured(_merge_units, folder), pairs)
        for formats in (["moses"], ["tsv"], ["jsonl"], ["tmx"]):
            _told(f"bitrawl merge --formats {','.join(formats)}", measured(_merge, folder, formats), pairs)


def _told(what: str, cost: Cost, pairs: int) -> None:
    print(f"{what:34} {cost.seconds / pairs * 1e6:6.1f} CPU s per 1,000,000   {cost.megabytes:5.0f} MB", flush=True)


def measured(work: Callable[..., float | None], *arguments: object) -> Cost:
    """In a process of its own. What `work` returns is the CPU time of its preparations, which does not count."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_measure, args=(sender, work, arguments))
    child.start()
    sender.close()
    cost = receiver.recv()
    child.join()
    return Cost(*cost)


def _measure(sender: object, work: Callable[..., float | None], arguments: tuple[object, ...]) -> None:
    began = time.process_time()
    preparing = work(*arguments) or 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sender.send((time.process_time() - began - preparing, peak))  # type: ignore[attr-defined]


def made_up(job: int, pairs: int, total: int) -> Iterator[SegmentPair]:
    """The pairs of one job, page by page."""
    rng = random.Random(job)
    spelling = random.Random(0)
    words = ["".join(spelling.choices("etaoinshrdlucmé", k=spelling.randint(2, 10))) for _ in range(WORDS)]
    weights = list(accumulate(1 / (rank + 2.7) for rank in range(WORDS)))
    repeated = [" ".join(words[(n * 7 + k) % WORDS] for k in range(12)) for n in range(max(total // 50, 1))]
    for number in range(pairs):
        url = f"https://www.site-{job}.example/en/section/page-{number // PER_PAGE}.html"
        if rng.random() < 1 / 5:
            text = rng.choice(repeated)
            a, b = f"{text}{rng.choice(('.', '!'))}", text[::-1]
        else:
            a, b = (_sentence(rng, words, weights) for _ in LANGUAGES)
        scores = dict.fromkeys(MEASURES, 0.9123) | {
            "words_a": float(a.count(" ") + 1),
            "words_b": float(b.count(" ") + 1),
        }
        places = (Url.known(url), Url.known(url.replace("/en/", "/fr/")))
        yield SegmentPair(*places, Segment(a, 3, 4), Segment(b, 3, 4), rng.random(), "1:1", scores)


def _sentence(rng: random.Random, words: list[str], weights: list[float]) -> str:
    chosen = rng.choices(words, cum_weights=weights, k=rng.randint(8, 25))
    return f"{' '.join(chosen).capitalize()}{rng.choice(('.', ',', ': 1.5', ''))}"


def _write_jobs(folder: Path, pairs: int) -> float:
    preparing = 0.0
    for job in range(JOBS):
        began = time.process_time()
        listed = list(made_up(job, pairs // JOBS, pairs))
        preparing += time.process_time() - began
        _write_job(folder / f"job-{job}", listed, f"site-{job}.example")
    return preparing


def merged(pairs: Iterable[SegmentPair], *, keep_duplicates: bool = False) -> Iterator[TranslationUnit]:
    """Units in the order in which they were first found. The best scored of equal pairs represents all of them.

    Equal means the same texts. Nearly equal means the same letters, digits and symbols: case, punctuation and spaces do
    not count. The best scored of nearly equal pairs represents all of them too. Its unit has the places of all. With
    `keep_duplicates` each pair is a unit of its own and all but the best are flagged, as with ILSP-FC's -keepdup and
    -keepneardup.
    """
    with tempfile.TemporaryDirectory(prefix="bitrawl-merge-") as scratch:
        shard = Path(scratch, "segments")
        with shard_writer(shard) as write:
            for pair, keys in keyed(pairs):
                write(keys, pair.score, pack(pair))
        with grouped([shard], Path(scratch), keep_duplicates=keep_duplicates) as groups:
            yield from groups.units()


def _write_job(folder: Path, pairs: Sequence[SegmentPair], site: str) -> None:
    first, second = map(Language, LANGUAGES)
    last = None
    with (
        shard_writer(ShardFolder(folder).segments(LANGUAGES)) as write,
        shard_writer(ShardFolder(folder).page_pairs(LANGUAGES)) as write_pages,
    ):
        for pair, keys in keyed(pairs):
            write(keys, pair.score, pack(pair))
            if pair.url_a != last:
                last = pair.url_a
                pages = PagePair(pair.url_a, pair.url_b, first, second, 0.9, {"u": 0.9})
                write_pages(page_pair_keys(pages), pages.score, pack(SourcePair(pages, ("", ""))))
    rows, _, near = shard_counts(ShardFolder(folder).segments(LANGUAGES))
    page_pairs = shard_counts(ShardFolder(folder).page_pairs(LANGUAGES)).rows
    corpus = CorpusPart(LANGUAGES, rows, near, page_pairs, sites=(SiteRows(site, page_pairs, rows),))
    part = JobPart(
        fingerprint="",
        languages=LANGUAGES,
        formats=("tsv",),
        thresholds={},
        origin=Origin.CRAWL,
        state="ended",
        corpora=(corpus,),
        sites=(SitePart(site, 2 * page_pairs, 2 * page_pairs, page_pairs, rows),),
    )
    ShardFolder(folder).write(part)


def _merge_sample(pairs: int) -> float:
    began = time.process_time()
    listed = list(made_up(0, pairs, pairs))
    preparing = time.process_time() - began
    for _ in merged(listed):
        pass
    return preparing


def _compare(folder: Path) -> None:
    with grouped(_shards(folder), folder / "scratch") as groups:
        print(f"({groups.counts.rows:,} pairs, {groups.counts.near:,} units)")


def _merge_units(folder: Path) -> None:
    with grouped(_shards(folder), folder / "scratch") as groups:
        for _ in groups.units():
            pass


def _shards(folder: Path) -> list[Path]:
    return [ShardFolder(folder / f"job-{job}").segments(LANGUAGES) for job in range(JOBS)]


def _merge(folder: Path, formats: list[str]) -> None:
    jobs = [folder / f"job-{job}" for job in range(JOBS)]
    merge(jobs, folder / "merged", {"export": {"formats": formats}}, tell=lambda _: None)


if __name__ == "__main__":
    main()
