"""What thresholds would let into the corpora of a job, seen before anything is written; and the choice, kept as the job's."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, islice
from typing import Any, NamedTuple

import msgspec
import numpy as np

from bitrawl import config
from bitrawl.config import Job
from bitrawl.corpus import Anonymise, CorpusHeader
from bitrawl.errors import OutdatedError
from bitrawl.mining import SegmentKind, Thresholds, rejection, revised
from bitrawl.model import Language, SegmentPair, Verdicts, segment_key
from bitrawl.review.reviewing import ListedSegment, Reading
from bitrawl.review.segment_review import ReadSegment
from bitrawl.review.selection import FoundSegments, Rule, Selection, SelectionFacts, said_number
from bitrawl.store.database import locked
from bitrawl.store.folder import JobFolder, not_mined
from bitrawl.store.index_reader import CorpusRows, PairRow, opened_index
from bitrawl.store.ledger import Ledger
from bitrawl.store.reading_index import ROW, rows_of, signed
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import VerdictHistory

_BATCH = 4096  # segments that are read from the ledger at once


class CorpusSelection(msgspec.Struct, frozen=True):
    """What gets into the corpus of two languages."""

    languages: tuple[Language, Language]
    facts: SelectionFacts

    @property
    def name(self) -> str:
        return "-".join(self.languages)


def version_of(thresholds: Thresholds) -> str:
    """A short name for these values: who sends it back has seen them, and no others."""
    return blake2b(msgspec.json.encode(thresholds), digest_size=8).hexdigest()


def keep(folder: JobFolder, changed: Mapping[str, Any], version: str = "") -> Thresholds:
    """Make these values of the table [judge] the job's. Returns the thresholds that it had before.

    `version` is that of the thresholds that somebody wanted to change: raises `OutdatedError` if the job has others by now.
    Raises `StoreError` while a process works in the folder.
    """
    with locked(folder.ledger):
        before = folder.job().judge
        if version and version != version_of(before):
            raise OutdatedError(f"the thresholds of {folder.path} have been changed meanwhile")
        job = folder.changed({"judge": changed})
        if job.judge != before:
            config.write(job, folder.description)
    return before


def selections(job: Job, folder: JobFolder) -> list[CorpusSelection]:
    """What gets into the corpora by the thresholds of this job, counted from the ledger: that takes as long as reading it."""
    verdicts = VerdictHistory(folder.verdicts).standing()
    with folder.reading() as ledger:
        if not Findings(ledger).begun():
            raise not_mined(folder.path, ledger)
        return [
            CorpusSelection(languages, Selection(found, job.judge, accepted_only=job.export.accepted_only).facts())
            for languages in _language_pairs(job)
            if (found := _found_in_ledger(ledger, languages, verdicts, job.export.anonymise)) is not None
        ]


class ThresholdSight:
    """What thresholds let in of what the index of a job has, with examples.

    Without thresholds, by the job's own. With `languages`, as in "en-fr", of that corpus alone.
    """

    def __init__(self, folder: JobFolder, thresholds: Thresholds | None = None, languages: str = "") -> None:
        self._reading = Reading(folder)
        job = folder.job()
        self.kept = job.judge
        self.thresholds = thresholds or job.judge
        self.accepted_only = job.export.accepted_only
        self._verdicts = VerdictHistory(folder.verdicts).standing()
        wanted = [pair for pair in _language_pairs(job) if languages in ("", "-".join(pair))]
        found = _found_in_index(self._reading, wanted, self._verdicts, job.export.anonymise)
        self._corpora = [
            (corpus, Selection(corpus.segments, self.thresholds, accepted_only=self.accepted_only)) for corpus in found
        ]

    @cached_property
    def corpora(self) -> list[CorpusSelection]:
        """The corpora for which something was found."""
        return [CorpusSelection(corpus.languages, selection.facts()) for corpus, selection in self._corpora]

    def units(self, thresholds: Thresholds) -> int:
        """Units in all corpora with these thresholds."""
        segments = [corpus.segments for corpus, _ in self._corpora]
        return sum(Selection(own, thresholds, accepted_only=self.accepted_only).units for own in segments)

    def around(self, each: int) -> tuple[list[ListedSegment], list[ListedSegment]]:
        """Units that get in by the smallest margin, and units that only the score keeps out, by the smallest.

        Both in falling order of scores.
        """
        above, below = list[tuple[float, _SegmentPosition]](), list[tuple[float, _SegmentPosition]]()
        for corpus, selection in self._corpora:
            inside, outside = selection.around(each)
            above += [(score, corpus.position(number)) for score, number in inside]
            below += [(score, corpus.position(number)) for score, number in outside]
        above, below = sorted(above)[:each][::-1], sorted(below, key=lambda scored: -scored[0])[:each]
        return self._examples([position for _, position in above]), self._examples([position for _, position in below])

    def examples(self, rule: Rule, most: int) -> list[ListedSegment]:
        """Segments that the rule takes out, or would take out if it were set."""
        rows = ((corpus, number) for corpus, selection in self._corpora for number in selection.examples(rule, most))
        return self._examples([corpus.position(number) for corpus, number in islice(rows, most)])

    def _examples(self, positions: "Sequence[_SegmentPosition]") -> list[ListedSegment]:
        """Without those that were mined again since the index was made."""
        texts = _texts(self._reading, {position.pair for position in positions}, self._verdicts)
        there = [position for position in positions if position.pair in texts]
        pairs = self._reading.listed([texts[position.pair].pair for position in there])
        return [
            ListedSegment(pair, _read(texts[position.pair].segments, position.segment, self.thresholds))
            for pair, position in zip(pairs, there, strict=True)
            if position.segment < len(texts[position.pair].segments)
        ]


def _read(segments: Sequence[SegmentPair], position: int, thresholds: Thresholds) -> ReadSegment:
    """The segment at that position. The same texts may stand before it too."""
    key, *earlier = (segment_key(pair.a.text, pair.b.text) for pair in reversed(segments[: position + 1]))
    pair = segments[position]
    return ReadSegment(
        key,
        position,
        pair.a.text,
        pair.b.text,
        pair.score,
        pair.type,
        pair.flags,
        left_out=rejection(pair, thresholds),
        repeat=earlier.count(key),
    )


class _SegmentPosition(NamedTuple):
    """Where a segment is in the index: its page pair, and its position there."""

    pair: int
    segment: int


class _IndexedCorpus(NamedTuple):
    """The segments of two languages, and the numbers of the page pairs in which they stand."""

    languages: tuple[Language, Language]
    segments: FoundSegments
    pairs: Sequence[int]
    starts: Sequence[int]  # by page pair, its first row

    def position(self, row: int) -> _SegmentPosition:
        number = bisect_right(self.starts, row) - 1
        return _SegmentPosition(self.pairs[number], row - self.starts[number])


def _language_pairs(job: Job) -> list[tuple[Language, Language]]:
    headers = CorpusHeader.of(job.languages())
    return [(header.languages[0], header.languages[1]) for header in headers if len(header.languages) == 2]


class _PairTexts(NamedTuple):
    """A page pair of the index, and its segments as the corpus would have them."""

    pair: PairRow
    segments: Sequence[SegmentPair]


def _texts(library: Reading, numbers: Iterable[int], verdicts: Verdicts) -> dict[int, _PairTexts]:
    """By the number of the page pair; those that are gone are not there."""
    with opened_index(library.index) as index:
        pairs = index.numbered_pairs(numbers)
    texts = library.segments([pair.alignment for pair in pairs.values()])
    return {
        number: _PairTexts(pair.pair, list(revised(segments, verdicts)))
        for (number, pair), segments in zip(pairs.items(), texts, strict=True)
    }


def _found_in_index(
    library: Reading, wanted: Iterable[tuple[Language, Language]], verdicts: Verdicts, anonymise: Anonymise
) -> list[_IndexedCorpus]:
    with opened_index(library.index) as index:
        kinds = {kind: number for number, kind in index.kinds().items()}
        rows = {languages: index.corpus_rows(languages) for languages in wanted}
    corpora = []
    for languages, own in rows.items():
        if own.numbers:
            new = _with_revisions(library, languages, own, kinds, verdicts) if verdicts.revisions else own
            corpora.append(_indexed(languages, new, kinds, verdicts, anonymise))
    return corpora


def _indexed(
    languages: tuple[Language, Language],
    pairs: CorpusRows,
    kinds: Mapping[SegmentKind, int],
    verdicts: Verdicts,
    anonymise: Anonymise,
) -> _IndexedCorpus:
    numbers, keys, blobs = pairs
    counts = [len(blob) // ROW.itemsize for blob in blobs]
    by_pair = [said_number(verdicts.pairs.get(key)) for key in keys] if verdicts.pairs else [0] * len(keys)
    said = np.repeat(np.array(by_pair, dtype=np.int8), counts)
    by_number = {number: kind for kind, number in kinds.items()}
    rows = np.frombuffer(b"".join(blobs), dtype=ROW)
    segments = FoundSegments(rows, by_number, said, verdicts.segments, anonymise)
    return _IndexedCorpus(languages, segments, numbers, [0, *accumulate(counts)][:-1])


def _with_revisions(
    library: Reading,
    languages: tuple[Language, Language],
    pairs: CorpusRows,
    kinds: dict[SegmentKind, int],
    verdicts: Verdicts,
) -> CorpusRows:
    """The rows of each page pair. Those on which a revision may apply are made again from the texts; new kinds get numbers."""
    numbers, _, blobs = pairs
    firsts = np.array([signed(revision.keys[0]) for revision in verdicts.revisions])
    rows = np.frombuffer(b"".join(blobs), dtype=ROW)
    of_row = np.repeat(np.arange(len(blobs)), [len(blob) // ROW.itemsize for blob in blobs])
    positions = {numbers[position]: position for position in set(of_row[np.isin(rows["key"], firsts)].tolist())}
    revised_blobs = list(blobs)
    for number, texts in _texts(library, positions, verdicts).items():
        new = rows_of(
            texts.segments, lambda kind: kinds.setdefault(kind, max(kinds.values(), default=0) + 1), languages
        )
        revised_blobs[positions[number]] = new.tobytes()
    return pairs._replace(rows=tuple(revised_blobs))


def _found_in_ledger(
    ledger: Ledger, languages: tuple[Language, Language], verdicts: Verdicts, anonymise: Anonymise
) -> FoundSegments | None:
    """None if there are no page pairs of these languages. In memory, a segment takes less than 100 bytes."""
    findings, kinds = Findings(ledger), dict[SegmentKind, int]()
    if not findings.paired_sites(*languages):
        return None
    rows, said = [np.empty(0, dtype=ROW)], array("b")
    rest = revised(findings.segments(*languages), verdicts)
    while batch := list(islice(rest, _BATCH)):
        looked_at = () if anonymise is Anonymise.OFF else languages
        rows.append(rows_of(batch, lambda kind: kinds.setdefault(kind, len(kinds)), looked_at))
        said.extend(said_number(verdicts.of_pair(segment)) for segment in batch)
    by_number = {number: kind for kind, number in kinds.items()}
    return FoundSegments(np.concatenate(rows), by_number, said, verdicts.segments, anonymise)
