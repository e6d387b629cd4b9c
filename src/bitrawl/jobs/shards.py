"""What merging needs of a job, kept in its folder: the shards of its corpora, and the figures of its sites.

`shard/part.json` is written last. With it, the folder `shard` alone is enough for a merge, on any machine.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bitrawl import files
from bitrawl.config import Job
from bitrawl.corpus.card_facts import Origin
from bitrawl.corpus.merge_facts import CorpusPart, JobPart, SitePart, SiteRows
from bitrawl.corpus.merger import data_file, keyed, keys_file, page_pair_keys, shard_counts, shard_writer
from bitrawl.corpus.naming import CorpusHeader, corpus_headers
from bitrawl.errors import ConfigError, DamagedError
from bitrawl.facts import SiteTroubles
from bitrawl.jobs.folder import JobFolder, not_mined
from bitrawl.mine.judging import PageUrls, ThresholdFilter
from bitrawl.model import (
    Language,
    PagePair,
    Reason,
    SegmentPair,
    SiteKnowledge,
    TranslationUnit,
    UnitSource,
    Verdict,
    Verdicts,
    pack,
)
from bitrawl.store.database import locked
from bitrawl.store.facts import site_troubles, summarise
from bitrawl.store.findings import Findings
from bitrawl.store.ledger import Ledger
from bitrawl.store.verdicts import VERDICTS, VerdictHistory
from bitrawl.url import Url

SHARD, PART = "shard", "part.json"
_FORMAT = b"3"  # of the shards; another one is written anew


class Sharded(NamedTuple):
    """A job that can be merged."""

    name: str  # as the user gave it
    folder: Path  # where its shards are
    part: JobPart
    is_running: bool = False

    def segments(self, languages: tuple[str, str]) -> Path:
        """The name of the shard of these languages, which are sorted."""
        return segments_shard(self.folder, languages)

    def page_pairs(self, languages: tuple[str, str]) -> Path:
        return page_pairs_shard(self.folder, languages)


def segments_shard(folder: Path, languages: tuple[str, str]) -> Path:
    return folder / "-".join(languages)


def page_pairs_shard(folder: Path, languages: tuple[str, str]) -> Path:
    return folder / f"{'-'.join(languages)}.documents"


def sharded(folder: Path, settings: Mapping[str, Any], scratch: Path) -> Sharded:
    """The shards of a job: those that are there, if the job has not changed since, or new ones.

    They go into `scratch` where the job's folder is not ours to write. Raises `ConfigError` where there is no job.
    """
    where = JobFolder(folder)
    settings = _selecting(settings)
    if not where.ledger.exists():
        return _without_ledger(folder, settings)
    job, running = where.changed(settings), where.is_running
    ours = not running and os.access(folder, os.W_OK)
    to = folder / SHARD if ours else scratch
    ledger = where.reading()
    try:
        if not Findings(ledger).begun() and len(job.languages()) > 1 and not running:
            raise not_mined(folder, ledger)
        with locked(where.ledger) if ours else nullcontext():
            part = write_shards(job, ledger, to, running=running)
    finally:
        ledger.close()
    return Sharded(str(folder), to, part, running)


def write_shards(job: Job, ledger: Ledger, to: Path, *, running: bool = False) -> JobPart:
    """Write the shards of all corpora of a job, unless they are there already."""
    fingerprint = _fingerprint(job, ledger)
    earlier = _read(to)
    if earlier is None or earlier.fingerprint != fingerprint or _changed_file(to, earlier):
        files.discard(to / PART)
        part = shard_corpora(job, ledger, to)
        part = msgspec.structs.replace(part, sums=_sums(to, part.corpora))
    else:
        kept = {name: getattr(earlier, name) for name in ("corpora", "source_pages", "licences", "sums")}
        part = msgspec.structs.replace(_figures(job, ledger), **kept)
    state = "running" if running else summarise(ledger).ended or "interrupted"
    sites = tuple(_sites(ledger, part.corpora))
    part = msgspec.structs.replace(part, fingerprint=fingerprint, state=state, sites=sites)
    if part != earlier:
        files.write(to / PART, files.with_sum(msgspec.json.format(msgspec.json.encode(part))))
    return part


def shard_corpora(job: Job, ledger: Ledger, to: Path, only: Collection[Language] = ()) -> JobPart:
    """Write the shards of a job's corpora, and no file about them; with `only`, those of two languages."""
    verdicts = _verdicts(ledger)
    headers = [one for one in corpus_headers(job.languages(), 0.0) if len(one.languages) == 2]
    sources: set[Url] = set()
    corpora = tuple(
        _write_corpus(job, Findings(ledger), verdicts, header, to, sources)
        for header in headers
        if not only or set(header.languages) == set(only)
    )
    figures = _figures(job, ledger)
    return msgspec.structs.replace(
        figures, corpora=corpora, source_pages=len(sources), licences=dict(ledger.licences(sources))
    )


def check_shards(folder: Path) -> str:
    """What is wrong with the shards in that folder; empty if they are as they were written, or if there are none."""
    if not (folder / PART).exists():
        return ""
    part = _read(folder)
    return f"{PART} is not what was written" if part is None else _changed_file(folder, part)


def _sums(folder: Path, corpora: Iterable[CorpusPart]) -> dict[str, int]:
    shards = [shard(folder, one.languages) for one in corpora for shard in (segments_shard, page_pairs_shard)]
    return {path.name: files.checksum(path) for shard in shards for path in (keys_file(shard), data_file(shard))}


def _changed_file(folder: Path, part: JobPart) -> str:
    """Says of a file that it is not as it was written; empty if all are."""
    for name, written in part.sums.items():
        try:
            if files.checksum(folder / name) != written:
                return f"{name} is not what was written"
        except OSError as error:
            return f"{name} cannot be read: {error.strerror}"
    return ""


def _without_ledger(folder: Path, settings: Mapping[str, Any]) -> Sharded:
    """The shards of a job that ran elsewhere."""
    for place in (folder / SHARD, folder):
        part = _read(place)
        if wrong := check_shards(place):
            raise DamagedError(
                f"{place} is damaged: {wrong}. What it was made from is not affected:"
                " merge the job itself, or copy its shard folder again"
            )
        if part is not None:
            if settings:
                raise ConfigError(
                    f"{folder} holds only what its own thresholds let through; leave out --min-score, or merge the job itself"
                )
            return Sharded(str(folder), place, part)
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}")
    kind = "a merged corpus; give the jobs that it was merged from" if (folder / "merge.json").exists() else "not a job"
    raise ConfigError(f"{folder} is {kind}")


def _selecting(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that decide what gets into a shard: how it is written later does not matter."""
    written = ("formats", "compress")
    exported = {key: value for key, value in settings.get("export", {}).items() if key not in written}
    return {key: value for key, value in {**settings, "export": exported}.items() if value}


def _read(folder: Path) -> JobPart | None:
    try:
        return msgspec.json.decode(files.checked((folder / PART).read_bytes()), type=JobPart)
    except (OSError, ValueError, *files.NO_JSON):
        return None


def _fingerprint(job: Job, ledger: Ledger) -> str:
    """Of all that the shards depend on."""
    asked = (job.judge, job.languages(), job.export.accepted_only, _verdicts(ledger))
    encoded = msgspec.json.encode(asked, order="sorted")
    return blake2b(_FORMAT + encoded + Findings(ledger).fingerprint(), digest_size=16).hexdigest()


def _verdicts(ledger: Ledger) -> Verdicts:
    return VerdictHistory(ledger.path.with_name(VERDICTS)).standing()


def _write_corpus(
    job: Job, findings: Findings, verdicts: Verdicts, header: CorpusHeader, to: Path, sources: set[Url]
) -> CorpusPart:
    """The pages of what gets into the shards are added to `sources`."""
    first, second = header.languages
    languages, turned = ((first, second), False) if first <= second else ((second, first), True)
    good_enough = ThresholdFilter(job.judge, verdicts, accepted_only=job.export.accepted_only)
    rows: list[SiteRows] = []
    with (
        shard_writer(page_pairs_shard(to, languages)) as write_pair,
        shard_writer(segments_shard(to, languages)) as write_segment,
    ):
        for site in findings.paired_sites(first, second):
            pairs = segments = 0
            needed: set[PageUrls] = set()
            good = good_enough.accepted(findings.segments(first, second, site))
            for segment, keys in keyed(_segments(good, turned=turned)):
                found = turned_segments(segment) if turned and verdicts.segments else segment
                accepted = verdicts.of_segment(found) is Verdict.ACCEPT
                if accepted:
                    needed.add((found.url_a, found.url_b))
                write_segment(
                    keys, segment.score + accepted, pack(segment)
                )  # What a person accepted represents others.
                sources.update((segment.url_a, segment.url_b))
                segments += 1
            kept = good_enough.accepted_pairs(findings.pairs(first, second, site), needed)
            for pair in _page_pairs(kept, turned=turned):
                write_pair(page_pair_keys(pair), pair.score, pack(pair))
                pairs += 1
            rows.append(SiteRows(site, pairs, segments))
    counts = shard_counts(segments_shard(to, languages))
    rejected = {str(reason): count for reason, count in sorted(good_enough.rejections.items())}
    rejected_pairs = {str(reason): count for reason, count in sorted(good_enough.rejected_pairs.items())}
    page_pairs = sum(one.page_pairs for one in rows)
    return CorpusPart(languages, counts.rows, counts.near, page_pairs, rejected, rejected_pairs, tuple(rows))


def _page_pairs(pairs: Iterable[PagePair], *, turned: bool) -> Iterator[PagePair]:
    return map(turned_pages, pairs) if turned else iter(pairs)


def _segments(pairs: Iterable[SegmentPair], *, turned: bool) -> Iterator[SegmentPair]:
    return map(turned_segments, pairs) if turned else iter(pairs)


def turned_pages(pair: PagePair) -> PagePair:
    """The same pair with its sides exchanged."""
    return PagePair(pair.url_b, pair.url_a, pair.lang_b, pair.lang_a, pair.score, pair.evidence)


def turned_segments(pair: SegmentPair) -> SegmentPair:
    """The same pair with its sides exchanged: also in its type and in the names of its scores."""
    other = {"a": "b", "b": "a"}
    scores = {
        f"{name[:-1]}{other[name[-1]]}" if name[-2:] in {"_a", "_b"} else name: value
        for name, value in pair.scores.items()
    }
    kind = ":".join(reversed(pair.type.split(":")))
    return SegmentPair(pair.url_b, pair.url_a, pair.b, pair.a, pair.score, kind, scores, pair.flags)


def turned_unit(unit: TranslationUnit) -> TranslationUnit:
    sources = tuple(
        UnitSource(s.url_b, s.url_a, s.paragraph_b, s.paragraph_a, s.sentence_b, s.sentence_a) for s in unit.sources
    )
    return TranslationUnit(turned_segments(unit.pair), sources, unit.variants)


def _figures(job: Job, ledger: Ledger) -> JobPart:
    """What a card says of a job, but for its corpora."""
    findings, summary = Findings(ledger), summarise(ledger)
    return JobPart(
        languages=tuple(job.languages()),
        formats=tuple(job.export.formats),
        thresholds=msgspec.to_builtins(job.judge),
        origin=Origin.ARCHIVE if job.warc else Origin.REPLAY if job.replay else Origin.CRAWL,
        first_fetch=summary.began,
        last_fetch=summary.finished,
        opt_outs=summary.skipped_for(Reason.OPT_OUT),
        robots=summary.skipped_for(Reason.ROBOTS),
        machine_translated=findings.refusals().get("machine-translated", 0),
        duplicate_pages=len(findings.duplicates()),
    )


def _sites(ledger: Ledger, corpora: Iterable[CorpusPart]) -> Iterator[SitePart]:
    """Each site that was visited or has pairs."""
    findings, troubles = Findings(ledger), site_troubles(ledger)
    known = {one.site: one for one in ledger.sites()}
    found: dict[str, list[SiteRows]] = {}
    for rows in (rows for corpus in corpora for rows in corpus.sites):
        found.setdefault(rows.site, []).append(rows)
    for site in sorted({*known, *found}):
        rows_of, about = found.get(site, []), known.get(site, SiteKnowledge(site))
        pairs, segments = sum(one.page_pairs for one in rows_of), sum(one.segment_pairs for one in rows_of)
        part = SitePart(site, about.pages, about.fetched, pairs, segments)
        why = _why(part, about, troubles.get(site, SiteTroubles()), mined=findings.mined(site) is not None)
        yield msgspec.structs.replace(part, why=why)


def _why(part: SitePart, about: SiteKnowledge, troubles: SiteTroubles, *, mined: bool) -> str:
    reasons = []
    if not part.pages and not part.page_pairs:
        reasons.append(f"no pages{_counted(troubles.skips)}")
    elif not mined:
        reasons.append("not mined yet")
    elif not part.page_pairs:
        pages = dict(sorted(about.languages.items(), key=lambda item: (-item[1], item[0])))
        reasons.append(f"no page pairs; pages{_counted(pages)}")
        if troubles.refusals:
            reasons.append(f"refused{_counted(troubles.refusals)}")
    elif not part.segment_pairs:
        reasons.append("no segment pair is good enough")
    if troubles.faults:
        reasons.append(f"failed{_counted(troubles.faults)}")
    return "; ".join(reasons)


def _counted(counts: Mapping[str, int], most: int = 3) -> str:
    shown = ", ".join(f"{reason} {count}" for reason, count in list(counts.items())[:most])
    return f": {shown}" if shown else ""
