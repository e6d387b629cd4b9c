"""The one merger: each text once, with every place where it was found, in memory that does not grow with the corpus.

The rows of all shards are distributed over buckets by their key, so that nearly equal ones meet in the same bucket. A bucket is
sorted in memory. What it finds goes into files on disk, by the number of the row.
"""

import platform
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from bitrawl import files
from bitrawl.corpus.anonymising import Anonymiser
from bitrawl.corpus.card import card
from bitrawl.corpus.export import CorpusFolder, CorpusHeader, Item, exporting
from bitrawl.corpus.figures import (
    CardFacts,
    CorpusFacts,
    CorpusPart,
    FileFacts,
    JobPart,
    LanguageFigures,
    MergedCounts,
    MergedSite,
    Origin,
    file_facts,
    most_first,
    number,
    summary,
)
from bitrawl.corpus.shards import (
    Block,
    Counts,
    Sharded,
    ShardFolder,
    Shards,
    SourcePair,
    turned_pages,
    turned_unit,
)
from bitrawl.file_names import CARD, SUMMARY
from bitrawl.files import cell, writing
from bitrawl.mining import Rejection
from bitrawl.model import Language, Page, PagePair, SegmentPair, TranslationUnit, UnitSource, Unpacker
from bitrawl.text.arrays import distinct
from bitrawl.text.words import one_line, words
from bitrawl.url import Url
from bitrawl.version import __version__

DUPLICATE, NEAR_DUPLICATE = "duplicate", "near-duplicate"  # flags, with ILSP-FC's names
# Judgement. One bucket of a million rows took 150 MB more than the program alone (2026-11); larger ones were not measured.
BUCKET_ROWS = 2_000_000
_CHUNK = 4096  # rows that are read together
_FOUND = np.dtype([("exact", "<i8"), ("near", "<i8"), ("score", "<f8"), ("number", "<i8")])

Numbers = npt.NDArray[np.int64]
Told = Callable[[int], None]
Tell = Callable[[str], None]


class Groups:
    """Which rows are nearly equal. Row numbers are stored plus one, because a new file is full of zeros."""

    def __init__(self, shards: Shards, scratch: Path, *, keep_duplicates: bool) -> None:
        self.shards = shards
        self._best = _numbers(scratch / "best", len(shards))  # by the first row of a group: the row that represents it
        self._following = _numbers(scratch / "following", len(shards))  # by row: the next row of the same group
        # By row: 2 for the best of nearly equal ones, 1 for the best of equal ones, 0 for others
        self._rank = _numbers(scratch / "rank", len(shards)) if keep_duplicates else None
        self._exact = 0

    def add(self, rows: npt.NDArray[np.void]) -> None:
        """All rows of some groups."""
        self._exact += len(distinct(rows["exact"]))
        first, best, inside = _runs(rows["near"], rows)
        self._best[first] = best + 1
        self._following[inside[0]] = inside[1] + 1
        if self._rank is not None:
            self._rank[_runs(rows["exact"], rows).best] = 1
            self._rank[best] = 2

    @property
    def counts(self) -> Counts:
        chunks = range(0, len(self.shards), BUCKET_ROWS)
        groups = sum(int(np.count_nonzero(self._best[first : first + BUCKET_ROWS])) for first in chunks)
        return Counts(len(self.shards), self._exact, groups)

    def represented(self, starts: Sequence[int]) -> list[int]:
        """How many groups are represented by a row of each range; `starts` are where the ranges begin, from 0 on."""
        counts = np.zeros(len(starts), dtype=np.int64)
        borders = np.asarray(starts, dtype=np.int64)
        for first in range(0, len(self.shards), BUCKET_ROWS):
            best = self._best[first : first + BUCKET_ROWS]
            ranges = np.searchsorted(borders, best[best > 0] - 1, side="right") - 1
            counts += np.bincount(ranges, minlength=len(starts))
        return [int(count) for count in counts]

    def units(self, tell: Told = lambda _: None) -> Iterator[TranslationUnit]:
        """In the order in which they were first found. `tell` hears the rows that are done.

        Equal means the same texts. Nearly equal means the same letters, digits and symbols: case, punctuation and spaces
        do not count. The best scored of nearly equal pairs represents all of them, and its unit has the places of all.
        With `keep_duplicates` each pair is a unit of its own and all but the best are flagged, as with ILSP-FC's -keepdup
        and -keepneardup.
        """
        unpack: Unpacker[SegmentPair] = Unpacker(SegmentPair)
        if self._rank is not None:
            yield from map(TranslationUnit.alone, self._flagged(unpack, tell))
            return
        for data, members in self._in_order(tell):
            pair = unpack(data)
            yield self._unit(pair, members, unpack) if members else TranslationUnit.alone(pair)

    def page_pairs(self) -> Iterator[SourcePair]:
        """The best scored of equal ones."""
        unpack: Unpacker[SourcePair] = Unpacker(SourcePair)
        for data, _ in self._in_order(lambda _: None):
            yield unpack(data)

    def _unit(self, best: SegmentPair, members: list[int], unpack: Unpacker[SegmentPair]) -> TranslationUnit:
        others = (UnitSource.of(unpack(self.shards.data(number))) for number in members)
        sources = dict.fromkeys([UnitSource.of(best), *others])
        texts = {self.shards.exact(number) for number in members}
        return TranslationUnit(best, tuple(sources), variants=len(texts) - 1)

    def _in_order(self, tell: Told) -> Iterator[tuple[bytes, list[int]]]:
        """What represents each group, and the rows of a group of several."""
        for begin, block in self._blocks(tell):
            best = self._best[begin : begin + len(block)]
            following = self._following[begin : begin + len(block)].tolist()
            for place in np.flatnonzero(best).tolist():
                if following[place]:
                    yield self.shards.data(int(best[place]) - 1), self._members(begin + place)
                else:
                    yield block[place], []

    def _flagged(self, unpack: Unpacker[SegmentPair], tell: Told) -> Iterator[SegmentPair]:
        """All pairs. Those that others represent say so."""
        flags = ((DUPLICATE,), (NEAR_DUPLICATE,), ())
        for begin, block in self._blocks(tell):
            ranks = self._rank[begin : begin + len(block)].tolist() if self._rank is not None else []
            for data, rank in zip(block, ranks, strict=True):
                pair = unpack(data)
                yield msgspec.structs.replace(pair, flags=(*pair.flags, *flags[rank])) if flags[rank] else pair

    def _blocks(self, tell: Told) -> Iterator[tuple[int, list[bytes]]]:
        """What some rows stand for, with the number of the first."""
        for start, block in zip(self.shards.starts, self.shards.blocks, strict=False):
            for part in _parts(block, _CHUNK):
                begin = start + part.first - block.first
                yield begin, self.shards.read(part)
                tell(begin + part.last - part.first)

    def _members(self, number: int) -> list[int]:
        members = [number]
        while following := int(self._following[members[-1]]):
            members.append(following - 1)
        return members


@contextmanager
def grouped(
    paths: Sequence[Path],
    scratch: Path,
    bucket_rows: int = BUCKET_ROWS,
    *,
    blocks: Sequence[Block] = (),
    keep_duplicates: bool = False,
) -> Iterator[Groups]:
    """Find out which rows are nearly equal. The files in `scratch` are needed until the block ends.

    All rows of the shards are in `blocks`, in the order of the result.
    """
    with closing(Shards(paths, blocks)) as shards:
        groups = Groups(shards, scratch, keep_duplicates=keep_duplicates)
        for rows in _buckets(shards, scratch, bucket_rows):
            groups.add(rows)
        yield groups


def _numbers(path: Path, count: int) -> Numbers:
    """One number for each row, on disk."""
    if not count:
        return np.empty(0, dtype=np.int64)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            zeros = bytes(8 * _CHUNK)  # really written: a full disk shows here, and not as a crash of the process
            for first in range(0, count, _CHUNK):
                file.write(zeros[: 8 * min(_CHUNK, count - first)])
        return np.memmap(path, dtype=np.int64, mode="r+", shape=(count,))


def _buckets(shards: Shards, scratch: Path, bucket_rows: int) -> Iterator[npt.NDArray[np.void]]:
    count = -(-len(shards) // bucket_rows)
    if count <= 1:
        yield np.concatenate([np.empty(0, dtype=_FOUND), *_found(shards)])
        return
    paths = [scratch / f"bucket-{number}" for number in range(count)]
    with writing(scratch):
        for rows in _found(shards):
            buckets = rows["near"].astype(np.uint64) % np.uint64(count)
            for number in np.unique(buckets).tolist():
                with paths[int(number)].open("ab") as file:
                    rows[buckets == number].tofile(file)
    for path in paths:
        if path.exists():
            yield np.fromfile(path, dtype=_FOUND)
            path.unlink()


def _found(shards: Shards) -> Iterator[npt.NDArray[np.void]]:
    for start, block in zip(shards.starts, shards.blocks, strict=False):
        for shard, first, last in _parts(block, BUCKET_ROWS):
            part, begin = shards.keys[shard][first:last], start + first - block.first
            rows = np.empty(len(part), dtype=_FOUND)
            for name in ("exact", "near", "score"):
                rows[name] = part[name]
            rows["number"] = np.arange(begin, begin + len(part))
            yield rows


def _parts(block: Block, rows: int) -> Iterator[Block]:
    """Of at most so many rows."""
    for first in range(block.first, block.last, rows):
        yield block._replace(first=first, last=min(first + rows, block.last))


class _Runs(NamedTuple):
    """Rows that have the same key, by their numbers."""

    first: Numbers
    best: Numbers  # the first of those with the highest score
    inside: tuple[Numbers, Numbers]  # rows that another one of the run follows, and those


def _runs(key: Numbers, rows: npt.NDArray[np.void]) -> _Runs:
    if not len(rows):
        empty = np.empty(0, dtype=np.int64)
        return _Runs(empty, empty, (empty, empty))
    order = np.argsort(key, kind="stable")  # so that rows of a run stay in their order
    key, score, number = key[order], rows["score"][order], rows["number"][order]
    is_first = np.concatenate(([True], key[1:] != key[:-1]))
    starts = np.flatnonzero(is_first)
    sizes = np.diff(np.append(starts, len(key)))
    highest = np.flatnonzero(score == np.repeat(np.maximum.reduceat(score, starts), sizes))
    run = np.cumsum(is_first)[highest]
    first_highest = highest[np.concatenate(([True], run[1:] != run[:-1]))]
    inside = np.flatnonzero(~is_first)
    return _Runs(number[starts], number[first_highest], (number[inside - 1], number[inside]))


class SourcePages:
    """The pages of all corpora of a card, each counted once, also if it has translations into several languages.

    A page takes 16 bytes.
    """

    def __init__(self) -> None:
        self._pages, self._kinds = array("q"), array("q")
        self._numbers: dict[tuple[str, str], int] = {}  # of a site and a licence

    def add(self, url: Url, licence: str) -> None:
        """With the licence that the page states, if any."""
        self._pages.append(hash(url))  # It differs between processes and is never stored.
        self._kinds.append(self._numbers.setdefault((url.site, licence), len(self._numbers)))

    def counts(self) -> tuple[Counter[str], Counter[str]]:
        """By site, and by licence without the pages that state none."""
        _, places = np.unique(np.array(self._pages), return_index=True)
        sites, licences = Counter[str](), Counter[str]()
        for (site, licence), pages in zip(self._numbers, np.bincount(np.array(self._kinds)[places]), strict=True):
            sites[site] += int(pages)
            licences[licence] += int(pages)
        return sites, Counter({licence: pages for licence, pages in licences.items() if licence})


class CorpusCounter:
    """A page takes 8 bytes."""

    def __init__(self, header: CorpusHeader) -> None:
        self._header = header
        self._pages = [array("q") for _ in header.languages]  # by side
        self._methods: Counter[str] = Counter()
        self._flags: Counter[str] = Counter()
        self.pairs = self._partial = self._units = self._occurrences = self._near_duplicates = 0
        self._segments = [0, 0]
        self._words = [0, 0]
        self._characters = [0, 0]

    def count(self, item: Item) -> None:
        """A page counts only in a monolingual corpus.

        In a bilingual one it is written to XCES files, and the pairs count.
        """
        match item:
            case PagePair():
                self._partial += item.partial
                if not item.partial:
                    self.pairs += 1
                    self._methods.update(item.evidence.keys())
                self._pages[0].append(hash(item.url_a))
                self._pages[1].append(hash(item.url_b))
            case TranslationUnit():
                self._units += 1
                self._occurrences += len(item.sources)
                self._near_duplicates += item.variants
                if item.pair.flags:
                    self._flags.update(item.pair.flags)
                self._measure(0, item.pair.a.text, item.pair.scores.get("words_a"))
                self._measure(1, item.pair.b.text, item.pair.scores.get("words_b"))
            case Page() if len(self._header.languages) == 1:
                self._pages[0].append(hash(item.url))
                for paragraph in item.paragraphs:
                    if not paragraph.boilerplate:
                        self._measure(0, paragraph.text)

    def _measure(self, side: int, text: str, counted: float | None = None) -> None:
        """The judge has counted the words of most segments, which takes as long as all the rest here."""
        self._segments[side] += 1
        self._words[side] += len(words(text, self._header.languages[side])) if counted is None else int(counted)
        self._characters[side] += len(text)

    def facts(
        self, rejected: Mapping[str, int], files: Sequence[FileFacts] = (), merged: MergedCounts | None = None
    ) -> CorpusFacts:
        """What was counted, what was kept out, and the files of the corpus."""
        return CorpusFacts(
            name=self._header.name,
            sides=tuple(
                LanguageFigures(language, len(distinct(np.array(pages))), segments, word_count, characters)
                for language, pages, segments, word_count, characters in zip(
                    self._header.languages, self._pages, self._segments, self._words, self._characters, strict=False
                )
            ),
            document_pairs=self.pairs,
            partial=self._partial,
            units=self._units,
            occurrences=self._occurrences,
            near_duplicates=self._near_duplicates,
            methods=self._methods,
            flags=self._flags,
            rejected=most_first(rejected),
            files=tuple(files),
            merged=merged,
        )


class CorpusPlan(NamedTuple):
    """Which corpora are written into which folder, in which formats."""

    folder: Path
    headers: Sequence[CorpusHeader]
    formats: Sequence[str]
    compress: bool
    keep_duplicates: bool = False
    pages: Callable[[Mapping[Url, Language]], Iterator[Page]] | None = None  # of the pairs, where a format wants them


class CorpusOutput(NamedTuple):
    """One corpus in its files."""

    facts: CorpusFacts
    units: Mapping[tuple[str, str], int] = {}  # that each site of each job represents


class _SiteBlocks(NamedTuple):
    """The rows of one site of one job."""

    site: str
    job: str
    page_pairs: Block
    segments: Block


class CorpusWriter:
    """Writes the files of corpora, then what is said of them. `scratch` is a folder for files of its own."""

    def __init__(self, plan: CorpusPlan, scratch: Path, tell: Tell = lambda _: None) -> None:
        self.written: list[CorpusOutput] = []
        self._plan = plan
        self._scratch = scratch
        self._tell = tell
        self._sources = SourcePages()

    def merge(self, jobs: Sequence[Sharded], *, alone: bool = False) -> None:
        """Write the corpora of two languages, from all of these jobs. With `alone`, what a merge tells is left out."""
        for header in self._plan.headers:
            corpora = {job.name: corpus for job in jobs if (corpus := job.part.corpus(header.in_order))}
            folders = list({job.name: job.folder for job in jobs if job.name in corpora}.values())
            output = self._merged(header, corpora, folders)
            if alone:
                own = corpora.get(jobs[0].name)
                rejected_pairs = most_first(own.rejected_pairs) if own else {}
                facts = msgspec.structs.replace(output.facts, merged=None, rejected_pairs=rejected_pairs)
                output = output._replace(facts=facts)
            self.written.append(output)

    def write_pages(self, pages: Iterable[Page], hide: Anonymiser) -> None:
        """Write the corpus of one language."""
        (header,) = self._plan.headers
        counter, written = self._write(map(self._counted, map(hide.page, pages)), header, wanted=True)
        dropped = {str(Rejection.PERSONAL_DATA): hide.dropped} if hide.dropped else {}
        facts = msgspec.structs.replace(counter.facts(dropped, written), personal_data=most_first(hide.counts))
        self.written.append(CorpusOutput(facts))

    def _counted(self, page: Page) -> Page:
        self._sources.add(page.url, page.metadata.licence)
        return page

    def facts(self, jobs: Sequence[JobPart]) -> CardFacts:
        """What the card says of the corpora of these jobs."""
        sites, licences = self._sources.counts()
        origins = {Origin(job.origin) for job in jobs}
        origin = next(origin for origin in (Origin.CRAWL, Origin.REPLAY, Origin.ARCHIVE) if origin in origins)
        # When archives were read says nothing; when they were made the ledger does not know.
        fetched = [job for job in jobs if job.first_fetch] if origin is Origin.CRAWL else []
        return CardFacts(
            at=self._plan.headers[0].at,
            versions={"bitrawl": __version__, "python": platform.python_version()},
            corpora=tuple(corpus.facts for corpus in self.written),
            origin=origin,
            first_fetch=min((job.first_fetch for job in fetched), default=0.0),
            last_fetch=max((job.last_fetch for job in fetched), default=0.0),
            sites=sites,
            thresholds=_thresholds(jobs),
            licences=licences,
            opt_outs=sum(job.opt_outs for job in jobs),
            robots=sum(job.robots for job in jobs),
            machine_translated=sum(job.machine_translated for job in jobs),
            duplicate_pages=sum(job.duplicate_pages for job in jobs),
        )

    def describe(self, facts: CardFacts, verdicts: int = 0) -> dict[str, str]:
        """Write the figures and the card; the SHA-256 of all files that were written, by name.

        `verdicts` counts what people had said and taken back before.
        """
        about: dict[str, object] = {"verdicts": verdicts} if verdicts else {}
        about |= {"thresholds": facts.thresholds} if facts.bilingual else {}
        figures = {corpus.name: {**summary(corpus), **about} for corpus in facts.corpora}
        folder = self._plan.folder
        files.write(folder / SUMMARY, msgspec.json.format(msgspec.json.encode(figures)))
        files.write(folder / CARD, card(facts))
        written = [*file_facts(folder, [SUMMARY, CARD]), *(file for corpus in facts.corpora for file in corpus.files)]
        return {file.name: file.sha256 for file in written}

    def _merged(
        self, header: CorpusHeader, corpora: Mapping[str, CorpusPart], folders: Sequence[ShardFolder]
    ) -> CorpusOutput:
        """One corpus. An empty one has no files among others."""
        languages, plan, sites = header.in_order, self._plan, _site_by_site(corpora)
        self._tell(f"{header.name}: comparing the segments of {number(len(corpora), 'job')}")
        pair_shards = [folder.page_pairs(languages) for folder in folders]
        shards = [folder.segments(languages) for folder in folders]
        with (
            grouped(pair_shards, self._scratch / "page_pairs", blocks=[site.page_pairs for site in sites]) as pairs,
            grouped(
                shards,
                self._scratch / "segments",
                blocks=[site.segments for site in sites],
                keep_duplicates=plan.keep_duplicates,
            ) as segments,
        ):
            wanted = len(plan.headers) == 1 or bool(len(pairs.shards) or len(segments.shards))
            counter, written = self._write(self._items(pairs, segments, header), header, wanted=wanted)
            rows, exact, near = segments.counts
            counts = MergedCounts(header.languages, corpora, rows, rows - exact, exact - near, near, counter.pairs)
            starts = [0, *accumulate(site.segments.last - site.segments.first for site in sites)][: len(sites)]
            represented = segments.represented(starts) if sites else []
        rejected = sum((Counter(corpus.rejected) for corpus in corpora.values()), Counter[str]())
        units = {(site.job, site.site): count for site, count in zip(sites, represented, strict=True)}
        personal = sum((Counter(corpus.personal_data) for corpus in corpora.values()), Counter[str]())
        facts = msgspec.structs.replace(counter.facts(rejected, written, counts), personal_data=most_first(personal))
        return CorpusOutput(facts, units)

    def _write(
        self, items: Iterable[Item], header: CorpusHeader, *, wanted: bool
    ) -> tuple[CorpusCounter, list[FileFacts]]:
        plan, counter = self._plan, CorpusCounter(header)
        if not wanted:
            CorpusFolder(plan.folder).remove(header)
            return counter, []
        with exporting(plan.folder, header, plan.formats, compress=plan.compress) as write:
            for item in items:
                counter.count(item)
                write(item)
        return counter, file_facts(plan.folder, header.files(plan.formats, compress=plan.compress))

    def _items(self, pairs: Groups, segments: Groups, header: CorpusHeader) -> Iterator[Item]:
        """Pairs, then pages where a format wants them, then units."""
        languages: dict[Url, Language] = {}
        for pair, licences in ((row.pair, row.licences) for row in pairs.page_pairs()):
            for url, licence in zip((pair.url_a, pair.url_b), licences, strict=True):
                self._sources.add(url, licence)
            if self._plan.pages is not None:
                languages |= {pair.url_a: pair.lang_a, pair.url_b: pair.lang_b}
            yield pair if header.languages == header.in_order else turned_pages(pair)
        if self._plan.pages is not None:
            yield from self._plan.pages(languages)
        rows = len(segments.shards)
        told = f"{header.name}: {{done:,}} of {rows:,} segment pairs written"
        yield from units_of(segments, header, lambda done: self._tell(told.format(done=done)))


def units_of(segments: Groups, header: CorpusHeader, tell: Told = lambda _: None) -> Iterator[TranslationUnit]:
    """In the order of the languages of the corpus."""
    units = segments.units(tell)
    return units if header.languages == header.in_order else map(turned_unit, units)


def _site_by_site(corpora: Mapping[str, CorpusPart]) -> list[_SiteBlocks]:
    """The rows of all jobs in the order of the corpus: it is the same however the sites are divided into jobs."""
    blocks: list[_SiteBlocks] = []
    for shard, (job, corpus) in enumerate(corpora.items()):
        pairs = segments = 0
        for rows in corpus.sites:
            first_pair, first_segment = pairs, segments
            pairs, segments = pairs + rows.page_pairs + rows.partial, segments + rows.segment_pairs
            blocks.append(
                _SiteBlocks(rows.site, job, Block(shard, first_pair, pairs), Block(shard, first_segment, segments))
            )
    return sorted(blocks, key=lambda rows: rows.site)


def _thresholds(jobs: Sequence[JobPart]) -> dict[str, object]:
    """A threshold that differs between jobs is given with all of its values."""
    values: dict[str, list[object]] = {}
    for job in jobs:
        for name, value in job.thresholds.items():
            if value not in values.setdefault(name, []):
                values[name].append(value)
    return {name: several[0] if len(several) == 1 else {"by job": several} for name, several in values.items()}


_SITE_COLUMNS = ("site", "job", "pages", "page_pairs", "segment_pairs", "units", "why")


def site_table(sites: Iterable[MergedSite]) -> str:
    """A header, then one line for each site. Nothing is quoted, because no value contains a tab or a line break."""
    rows = (_SITE_COLUMNS, *map(_cells, sites))
    return "".join("\t".join(cell(one_line(value)) for value in row) + "\n" for row in rows)


def _cells(site: MergedSite) -> tuple[str, ...]:
    part = site.part
    figures = (part.pages, part.page_pairs, part.segment_pairs, site.units)
    return (part.site, site.job, *map(str, figures), str(part.why))
