"""One corpus from the corpora of many jobs: each text once, with every place where any of them found it."""

import platform
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from bitrawl import files
from bitrawl.config import Format
from bitrawl.config.choices import check_formats, corpus_format, corpus_formats, format_names
from bitrawl.corpus.card import card
from bitrawl.corpus.card_facts import CardFacts, CorpusFacts, Origin, Side
from bitrawl.corpus.checksums import file_facts
from bitrawl.corpus.counting import CorpusCounter, summary
from bitrawl.corpus.export import Item, exporting, file_names, remove_files
from bitrawl.corpus.merge_facts import CorpusPart, JobPart, MergedCounts, MergedSite, MergeFacts
from bitrawl.corpus.naming import CorpusHeader, without_files
from bitrawl.corpus.site_table import site_table
from bitrawl.errors import ConfigError
from bitrawl.jobs.shards import Sharded, sharded, turned_pages, turned_segments
from bitrawl.languages import parse_language
from bitrawl.model import Language, PagePair, TranslationUnit, UnitSource
from bitrawl.report.merge import render
from bitrawl.store.shard import different
from bitrawl.store.shard_merger import Groups, grouped
from bitrawl.url import Url
from bitrawl.version import __version__

MERGE = "merge.json"
"""What was merged. A folder that has it is the target of a merge, and may be written again."""

_SCRATCH = ".merging"
_OWN = frozenset({MERGE, _SCRATCH, "corpus", "report.html", "sites.tsv"})

Pair = tuple[str, str]
Tell = Callable[[str], None]


def merge(
    folders: Sequence[Path], out: Path, settings: Mapping[str, Any], *, langs: Sequence[str] = (), tell: Tell
) -> MergeFacts:
    """Merge the corpora of these jobs, in this order, into `out`. The same jobs give the same bytes.

    `settings` are tables of a job file: formats, compression and thresholds. A threshold that is not given is that of
    each job. Each pair of languages is a corpus; with two `langs`, there is only that one.
    """
    earlier = _check_target(out)
    scratch = out / _SCRATCH
    files.discard(scratch)
    try:
        parts = list(_parts(folders, settings, scratch, tell))
        plan = _plan(parts, settings, langs)
        files.write(out / MERGE, msgspec.json.format(msgspec.json.encode(_described(parts, plan))))
        merged = [_merge_corpus(parts, header, plan, out, tell) for header in plan.headers]
        return _finish(parts, plan, merged, out, earlier)
    finally:
        files.discard(scratch)


def _check_target(out: Path) -> dict[str, Any]:
    """What an earlier merge into this folder wrote; raises `ConfigError` if the folder holds anything else."""
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file; choose a folder for --out")
    held = {path.name for path in out.iterdir()} if out.exists() else set()
    if not held - {_SCRATCH}:
        return {}
    if MERGE not in held:
        what = "a job" if "job.sqlite" in held or "job.toml" in held else "something else"
        raise ConfigError(f"{out} holds {what}, not a merged corpus; choose another folder for --out")
    try:
        return msgspec.json.decode((out / MERGE).read_bytes(), type=dict[str, Any])
    except files.NO_JSON:
        return {}


def _parts(folders: Sequence[Path], settings: Mapping[str, Any], scratch: Path, tell: Tell) -> Iterator[Sharded]:
    seen: set[Path] = set()
    for number, folder in enumerate(folders, 1):
        if folder.resolve() not in seen:
            seen.add(folder.resolve())
            tell(f"reading job {number} of {len(folders)}: {folder}")
            yield sharded(folder, settings, scratch / str(number))


class _Plan(NamedTuple):
    """What is written."""

    headers: list[CorpusHeader]
    formats: list[str]
    compress: bool
    notes: list[str]  # what is left out, or may be incomplete
    sites: dict[str, int]  # the number of each site, given when it is met


def _plan(parts: Sequence[Sharded], settings: Mapping[str, Any], langs: Sequence[str]) -> _Plan:
    at = max((one.part.last_fetch for one in parts), default=0.0)  # not now: the same jobs give the same bytes
    orders = _orders(parts)
    asked = {parse_language(code) for code in langs}
    if langs and len(asked) != 2:
        raise ConfigError("--langs takes two languages for a merge: en,fr")
    chosen = {pair: order for pair, order in orders.items() if not asked or set(pair) == asked}
    if not chosen:
        there = ", ".join("-".join(order) for order in orders.values()) or "none has two languages"
        raise ConfigError(f"these jobs have no corpus in {' and '.join(sorted(asked)) or 'two languages'}: {there}")
    formats, unmerged = _formats(parts, settings)
    notes = [
        *(f"{one.name} is still running: it is merged as it is now." for one in parts if one.is_running),
        *(f"{one.name} is left out: it has one language." for one in parts if not one.part.corpora),
        *_left_out(parts, chosen),
        *([f"{', '.join(unmerged)} is left out: it has one file for each page. Each job has it."] if unmerged else []),
    ]
    headers = [CorpusHeader((Language(a), Language(b)), at) for a, b in chosen.values()]
    return _Plan(headers, formats, bool(settings.get("export", {}).get("compress")), notes, {})


def _orders(parts: Sequence[Sharded]) -> dict[Pair, Pair]:
    """The pairs of languages, sorted, and the order in which the first job with that pair names them."""
    orders: dict[Pair, Pair] = {}
    for one in parts:
        place = {language: number for number, language in enumerate(one.part.languages)}
        for corpus in one.part.corpora:
            first, second = sorted(corpus.languages, key=place.__getitem__)
            orders.setdefault(corpus.languages, (first, second))
    return orders


def _left_out(parts: Sequence[Sharded], chosen: Mapping[Pair, Pair]) -> Iterator[str]:
    for one in parts:
        orders = _orders([one])
        others = ["-".join(orders[corpus.languages]) for corpus in one.part.corpora if corpus.languages not in chosen]
        if others:
            are, they_are = ("is", "it is") if len(others) == 1 else ("are", "they are")
            yield f"{', '.join(others)} of {one.name} {are} left out: {they_are} not in the languages asked for."


def _formats(parts: Sequence[Sharded], settings: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """What to write, and what jobs have that cannot be merged. Raises `ConfigError` if the user asks for such a format."""
    asked = settings.get("export", {}).get("formats")
    wanted = asked or []
    known = [name for name in corpus_formats(2) if not corpus_format(name).has_pages]
    for name in wanted:
        if name not in format_names():
            raise ConfigError(f"{name!r} is not a valid Format; choose from {', '.join(known)}")
        if corpus_format(name).has_pages:
            raise ConfigError(
                f"{name} has one file for each page, so there is nothing to merge; bitrawl export writes it for a job"
            )
    if unknown := [name for name in wanted if name not in known]:
        raise ConfigError(f"{', '.join(unknown)} is not a format for two languages; choose from {', '.join(known)}")
    theirs = [name for one in parts if one.part.corpora for name in one.part.formats]
    formats = list(dict.fromkeys(wanted or [name for name in theirs if name in known])) or [Format.JSONL]
    check_formats(formats, 2, "choose other --formats")
    return formats, [] if wanted else [name for name in dict.fromkeys(theirs) if name not in known]


def _described(parts: Sequence[Sharded], plan: _Plan) -> dict[str, object]:
    return {
        "bitrawl": __version__,
        "jobs": [one.name for one in parts],
        "corpora": [header.languages for header in plan.headers],
        "formats": plan.formats,
    }


class _Merged(NamedTuple):
    """One corpus in its files."""

    facts: CorpusFacts
    pages: "_PageCounter"
    units: dict[tuple[str, str], int]  # that each site of each job represents


def _merge_corpus(parts: Sequence[Sharded], header: CorpusHeader, plan: _Plan, out: Path, tell: Tell) -> _Merged:
    languages = (min(header.languages), max(header.languages))
    found = {one.name: one for one in parts if _corpus(one.part, languages)}
    scratch, counter, pages = out / _SCRATCH, CorpusCounter(header), _PageCounter(plan.sites)
    turned = header.languages != languages
    tell(f"{header.name}: comparing the segments of {len(found)} jobs")
    wanted = len(plan.headers) == 1 or not _is_empty(found.values(), languages)
    with (
        grouped([one.page_pairs(languages) for one in found.values()], scratch / "page_pairs") as pairs,
        grouped([one.segments(languages) for one in found.values()], scratch / "segments") as segments,
        _writing(out / "corpus", header, plan, wanted=wanted) as write,
    ):
        for pair in map(turned_pages, pairs.page_pairs()) if turned else pairs.page_pairs():
            pages.count(pair)
            write(pair)
        rows = len(segments.shards)
        for unit in segments.units(lambda done: tell(f"{header.name}: {done:,} of {rows:,} segment pairs written")):
            this = _turned(unit) if turned else unit
            counter.count(this)
            write(this)
        counts = _counts(found, header, pairs, segments)
        represented = _represented(found, languages, segments)
    names = file_names(header, plan.formats, compress=plan.compress) if wanted else []
    facts = counter.facts(_rejected(counts.parts.values()), file_facts(out / "corpus", names))
    return _Merged(pages.completed(facts, counts), pages, represented)


@contextmanager
def _writing(folder: Path, header: CorpusHeader, plan: _Plan, *, wanted: bool) -> Iterator[Callable[[Item], None]]:
    """A corpus for which nothing was found has no files among others that have."""
    if wanted:
        with exporting(folder, header, plan.formats, compress=plan.compress) as write:
            yield write
    else:
        remove_files(folder, header)
        yield lambda _item: None


def _is_empty(parts: Iterable[Sharded], languages: Pair) -> bool:
    found = [corpus for one in parts if (corpus := _corpus(one.part, languages))]
    return not any(corpus.page_pairs or corpus.segment_pairs for corpus in found)


def _corpus(part: JobPart, languages: Pair) -> CorpusPart | None:
    return next((one for one in part.corpora if one.languages == languages), None)


def _turned(unit: TranslationUnit) -> TranslationUnit:
    sources = tuple(
        UnitSource(s.url_b, s.url_a, s.paragraph_b, s.paragraph_a, s.sentence_b, s.sentence_a) for s in unit.sources
    )
    return TranslationUnit(turned_segments(unit.pair), sources, unit.variants)


def _counts(found: Mapping[str, Sharded], header: CorpusHeader, pairs: Groups, segments: Groups) -> MergedCounts:
    languages = (min(header.languages), max(header.languages))
    parts = {name: corpus for name, one in found.items() if (corpus := _corpus(one.part, languages))}
    rows, exact, near = segments.counts
    return MergedCounts(header.languages, parts, rows, rows - exact, exact - near, near, pairs.counts.near)


def _represented(found: Mapping[str, Sharded], languages: Pair, segments: Groups) -> dict[tuple[str, str], int]:
    """How many units of the merged corpus come from each site of each job."""
    names, starts, start = [], [], 0
    for name, one in found.items():
        corpus = _corpus(one.part, languages)
        for site in corpus.sites if corpus else ():
            names.append((name, site.site))
            starts.append(start)
            start += site.segment_pairs
    return dict(zip(names, segments.represented(starts), strict=True)) if names else {}


def _rejected(parts: Any) -> Counter[Any]:
    total: Counter[Any] = Counter()
    for part in parts:
        total.update(part.rejected)
    return total


class _PageCounter:
    """Counts different pages, in 16 bytes for each page of a pair. `numbers` of sites are shared by all corpora."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self._numbers = numbers
        self._pages = (array("q"), array("q"))  # by side
        self._sites = (array("q"), array("q"))
        self._methods: Counter[str] = Counter()
        self._pairs = 0

    def count(self, pair: PagePair) -> None:
        self._pairs += 1
        self._methods.update(pair.evidence.keys())
        self._add(0, pair.url_a)
        self._add(1, pair.url_b)

    def _add(self, side: int, url: Url) -> None:
        self._pages[side].append(hash(url))  # It differs between processes and is never stored.
        self._sites[side].append(self._numbers.setdefault(url.site, len(self._numbers)))

    def completed(self, facts: CorpusFacts, counts: MergedCounts) -> CorpusFacts:
        """The facts with what was counted here."""
        sides = tuple(
            Side(side.language, different(np.array(pages, dtype=np.int64)), side.segments, side.words, side.characters)
            for side, pages in zip(facts.sides, self._pages, strict=True)
        )
        return msgspec.structs.replace(
            facts, sides=sides, document_pairs=self._pairs, methods=self._methods, merged=counts
        )

    def arrays(self) -> Iterator[npt.NDArray[np.int64]]:
        """Two rows: pages, and the numbers of their sites."""
        for pages, sites in zip(self._pages, self._sites, strict=True):
            yield np.array([pages, sites], dtype=np.int64)


def _pages_by_site(counters: Sequence[_PageCounter], numbers: Mapping[str, int]) -> dict[str, int]:
    """A page counts once, also if it has translations into several languages."""
    pages, sites = np.concatenate([one for counter in counters for one in counter.arrays()], axis=1)
    _, places = np.unique(pages, return_index=True)
    counts = np.bincount(sites[places], minlength=len(numbers)).tolist()
    return dict(zip(numbers, counts, strict=True))


def _finish(
    parts: Sequence[Sharded], plan: _Plan, merged: Sequence[_Merged], out: Path, earlier: Mapping[str, Any]
) -> MergeFacts:
    """The files about the corpora. What an earlier merge wrote in other languages is removed."""
    figures = {one.facts.name: summary(one.facts) for one in merged}
    files.write(out / "corpus" / "summary.json", msgspec.json.format(msgspec.json.encode(figures)))
    files.write(out / "corpus" / "card.md", card(_card_facts(parts, plan, merged)))
    facts = _merge_facts(parts, plan, merged)
    files.write(out / "sites.tsv", site_table(facts.sites))
    files.write(out / "report.html", render(facts))
    for languages in earlier.get("corpora", ()):
        header = CorpusHeader(tuple(languages), 0.0)
        if header.name not in figures:
            remove_files(out / "corpus", header)
    return facts


def _merge_facts(parts: Sequence[Sharded], plan: _Plan, merged: Sequence[_Merged]) -> MergeFacts:
    units: Counter[tuple[str, str]] = Counter()
    for corpus in merged:
        units.update(corpus.units)
    sites = [MergedSite(one.name, site, units[one.name, site.site]) for one in parts for site in one.part.sites]
    sites.sort(key=lambda one: (-one.units, -one.part.segment_pairs, -one.part.page_pairs, one.part.site, one.job))
    counts = [one.facts.merged for one in merged if one.facts.merged is not None]
    several = len(counts) > 1
    empty = [one for one in counts if several and not one.page_pairs and not one.units]
    notes = [*plan.notes, *filter(None, [without_files(["-".join(one.languages) for one in empty])])]
    filled = [one for one in counts if one not in empty]
    return MergeFacts({one.name: one.part for one in parts}, filled, sites, notes)


def _card_facts(parts: Sequence[Sharded], plan: _Plan, merged: Sequence[_Merged]) -> CardFacts:
    jobs = [one.part for one in parts]
    licences: Counter[str] = Counter()
    for job in jobs:
        licences.update(job.licences)
    origins = {Origin(job.origin) for job in jobs}
    origin = next(one for one in (Origin.CRAWL, Origin.REPLAY, Origin.ARCHIVE) if one in origins)
    fetched = [job for job in jobs if job.first_fetch] if origin is Origin.CRAWL else []
    return CardFacts(
        at=plan.headers[0].at,
        versions={"bitrawl": __version__, "python": platform.python_version()},
        corpora=tuple(one.facts for one in merged),
        origin=origin,
        first_fetch=min((job.first_fetch for job in fetched), default=0.0),
        last_fetch=max((job.last_fetch for job in fetched), default=0.0),
        sites=_pages_by_site([one.pages for one in merged], plan.sites),
        thresholds=_thresholds(jobs),
        source_pages=sum(job.source_pages for job in jobs),
        licences=licences,
        opt_outs=sum(job.opt_outs for job in jobs),
        robots=sum(job.robots for job in jobs),
        machine_translated=sum(job.machine_translated for job in jobs),
        duplicate_pages=sum(job.duplicate_pages for job in jobs),
    )


def _thresholds(jobs: Sequence[JobPart]) -> dict[str, object]:
    """A threshold that differs between jobs is given with all of its values."""
    values: dict[str, list[object]] = {}
    for job in jobs:
        for name, value in job.thresholds.items():
            known = values.setdefault(name, [])
            if value not in known:
                known.append(value)
    return {name: several[0] if len(several) == 1 else {"by job": several} for name, several in values.items()}
