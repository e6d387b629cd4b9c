"""Draws a sample from the corpus of a job as it would be exported now. The web app runs this as a process of its own."""

import sys
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import msgspec

from bitrawl.config import Job
from bitrawl.corpus import Anonymise, CorpusHeader
from bitrawl.errors import BitrawlError, ConfigError
from bitrawl.files import NO_JSON
from bitrawl.job.exporting import corpus_units
from bitrawl.model import Language, SegmentPair, segment_key
from bitrawl.review import SpreadSample
from bitrawl.store.folder import JobFolder
from bitrawl.store.samples import SCORE_RANGES, DrawnSample, SampleDesign, SampleRequest, Samples, SampleUnit, band_of


def give_sample(folder: JobFolder, request: SampleRequest, at: float) -> int:
    """Draw a sample, give it to people, and return its number. Raises `ConfigError` if there is nothing to draw."""
    drawn = draw(folder, request)
    if not drawn.units:
        raise ConfigError("The corpus has no units in these languages with such a score.")
    return Samples(folder.verdicts).add(drawn, request.people, request.by, at)


def draw(folder: JobFolder, request: SampleRequest) -> DrawnSample:
    """Each unit of the corpus once, however often its texts occur. Memory grows with the sample, not with the corpus."""
    job, change = folder.job(), msgspec.structs.replace
    floor = job.judge.score if request.floor is None else request.floor
    judge = change(job.judge, score=floor, duplicates=False)
    export = change(
        job.export, accepted_only=False, anonymise=Anonymise.OFF
    )  # people judge the texts as they were found
    design = SampleDesign(size=request.size, seed=request.seed, floor=floor, by_band=request.by_band)
    languages = _in_order(job, request.languages)
    sizes = [0] * SCORE_RANGES

    def counted() -> Iterator[SegmentPair]:
        # What people accepted is in the corpus whatever its score: a threshold does not move it.
        for _, unit in corpus_units(change(job, judge=judge, export=export), folder.path, languages):
            if unit.pair.score >= floor:
                sizes[band_of(unit.pair.score)] += 1
                yield unit.pair

    pairs = SpreadSample.drawn(counted(), design.size, _by_band if design.by_band else _alike, seed=design.seed)
    pairs.sort(key=lambda pair: _drawn(pair, design.seed))
    units = tuple(_unit(pair, place) for place, pair in enumerate(pairs, 1))
    name = request.name.strip() or "-".join(languages)
    return DrawnSample(name, *languages, design, tuple(sizes), units)


def _in_order(job: Job, languages: tuple[Language, Language]) -> tuple[Language, Language]:
    """As in the names of the job's corpora, whichever comes first in the request."""
    for header in CorpusHeader.of(job.languages()):
        if len(header.languages) == 2 and set(header.languages) == set(languages):
            return header.languages[0], header.languages[1]
    raise ConfigError(f"This job has no corpus in {' and '.join(languages)}.")


def _alike(pair: SegmentPair) -> tuple[str, float, tuple[str, ...]]:
    """Each unit has the same chance."""
    return "", 0.0, (pair.a.text, pair.b.text)


def _by_band(pair: SegmentPair) -> tuple[str, float, tuple[str, ...]]:
    """Each score band has the same number."""
    return "", pair.score, (pair.a.text, pair.b.text)


def _drawn(pair: SegmentPair, seed: int) -> bytes:
    """People see good and bad ones mixed, so that none is judged by those around it."""
    data = "\0".join((str(seed), "order", pair.a.text, pair.b.text))
    return blake2b(data.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _unit(pair: SegmentPair, place: int) -> SampleUnit:
    a, b = pair.a.text, pair.b.text
    return SampleUnit(place, segment_key(a, b), pair.score, str(pair.url_a), str(pair.url_b), a, b)


def main() -> int:
    """Reads a `SampleRequest` as JSON, and prints the number of the new sample. 1 if it cannot be drawn, 2 for misuse."""
    _, *arguments = sys.argv
    try:
        request = msgspec.json.decode(sys.stdin.buffer.read(), type=SampleRequest)
    except NO_JSON:
        request = None
    if len(arguments) != 1 or request is None:
        sys.stderr.write("usage: python -m bitrawl.job.drawing FOLDER < request.json\n")
        return 2
    try:
        number = give_sample(JobFolder(Path(arguments[0])), request, time.time())
    except BitrawlError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{number}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
