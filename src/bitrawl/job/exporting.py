"""The files of corpora, their card and their figures, from the shards of one job or of many: an export is a merge of one.

First the shards: all that merging needs of a job, in its folder. `shard/part.json` is written last; with it, the folder
`shard` alone is enough for a merge, on any machine. Then what is written from them.
"""

import os
import platform
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from hashlib import blake2b
from itertools import accumulate, tee
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from bitrawl import config, files
from bitrawl.config import Job
from bitrawl.corpus.anonymising import Anonymiser
from bitrawl.corpus.card import check_card, write_card
from bitrawl.corpus.export import CARD, CorpusHeader, Item, corpus_headers, exporting, file_names, remove_files
from bitrawl.corpus.figures import (
    CardFacts,
    CorpusCounter,
    CorpusFacts,
    CorpusPart,
    FileFacts,
    JobPart,
    MergedCounts,
    Origin,
    SiteLack,
    SitePart,
    SiteRows,
    SiteWhy,
    SourcePages,
    file_facts,
    most_first,
    summary,
)
from bitrawl.corpus.formats import Anonymise, corpus_format
from bitrawl.corpus.merger import (
    Block,
    Groups,
    SourcePair,
    data_file,
    grouped,
    keyed,
    keys_file,
    page_pair_keys,
    shard_counts,
    shard_writer,
)
from bitrawl.corpus.units import unit_of
from bitrawl.errors import ConfigError, DamagedError
from bitrawl.file_names import CORPUS, LEDGER, SHARD, SUMMARY, VERDICTS
from bitrawl.job.reporting import write_report
from bitrawl.languages import same_language
from bitrawl.mining import Rejection, ThresholdFilter, revised
from bitrawl.model import (
    Language,
    Page,
    PagePair,
    SegmentPair,
    SiteKnowledge,
    TranslationUnit,
    UnitSource,
    Verdict,
    Verdicts,
    pack,
)
from bitrawl.reasons import Reason
from bitrawl.review.results import human_reviews
from bitrawl.show import counted
from bitrawl.store.database import locked
from bitrawl.store.folder import JobFolder, not_mined
from bitrawl.store.folder_kinds import FolderKind, kind_of, no_corpus_of_search, no_job
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import SiteTroubles, site_troubles, summarise
from bitrawl.store.questions import SqlAnswer, answered
from bitrawl.store.seal import seal_files
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import VerdictHistory
from bitrawl.text.sentences import bounded
from bitrawl.text.template import without_template
from bitrawl.url import Url
from bitrawl.version import __version__

PART = "part.json"
SCRATCH = ".merging"
_FORMAT = b"5"  # of the shards; another one is written anew

Tell = Callable[[str], None]


class Sharded(NamedTuple):
    """A job that can be merged."""

    name: str  # as the user gave it
    folder: Path  # where its shards are
    part: JobPart
    is_running: bool = False


def segments_shard(folder: Path, languages: tuple[str, str]) -> Path:
    """The name of the shard of these languages, which are sorted."""
    return folder / "-".join(languages)


def page_pairs_shard(folder: Path, languages: tuple[str, str]) -> Path:
    return folder / f"{'-'.join(languages)}.documents"


def sharded(folder: Path, settings: Mapping[str, Any], scratch: Path) -> Sharded:
    """The shards of a job: those that are there, if the job has not changed since, or new ones.

    They go into `scratch` where the job's folder is not ours to write, or if they are made with other settings than the
    job's: who copies or merges its shards gets its own. Raises `ConfigError` where there is no job.
    """
    settings, name = selecting(settings), str(folder)
    if settings and folder.name == SHARD and JobFolder(folder.parent).ledger.exists():
        folder = folder.parent  # Shards have only what their own thresholds let through.
    where = JobFolder(folder)
    if not where.ledger.exists():
        return _without_ledger(folder, settings)
    if kind_of(folder) is FolderKind.SEARCH:
        raise no_corpus_of_search(folder)
    job, running = where.changed(settings), where.is_running
    ours = not running and not settings and os.access(folder, os.W_OK)
    to = folder / SHARD if ours else scratch
    with where.reading() as ledger:
        if not Findings(ledger).begun() and len(job.languages()) > 1 and not running:
            raise not_mined(folder, ledger)
        with locked(where.ledger) if ours else nullcontext():
            part = write_shards(job, ledger, to, running=running)
    return Sharded(name, to, part, running)


def write_shards(job: Job, ledger: Ledger, to: Path, *, running: bool = False) -> JobPart:
    """Write the shards of all corpora of a job, unless they are there already."""
    fingerprint = _fingerprint(job, ledger)
    earlier = _read(to)
    if earlier is None or earlier.fingerprint != fingerprint or _changed_file(to, earlier):
        files.discard(to / PART)
        part = shard_corpora(job, ledger, to)
        part = msgspec.structs.replace(part, sums=_sums(to, part.corpora))
    else:
        part = msgspec.structs.replace(_figures(job, ledger), corpora=earlier.corpora, sums=earlier.sums)
    state = "running" if running else summarise(ledger).ended or "interrupted"
    sites = tuple(_sites(ledger, part.corpora))
    part = msgspec.structs.replace(part, fingerprint=fingerprint, state=state, sites=sites)
    if part != earlier:
        files.write(to / PART, files.with_sum(msgspec.json.format(msgspec.json.encode(part))))
    return part


def shard_corpora(job: Job, ledger: Ledger, to: Path, only: Collection[Language] = ()) -> JobPart:
    """Write the shards of a job's corpora, and no file about them; with `only`, those of two languages."""
    verdicts = _verdicts(ledger)
    corpora = tuple(
        _write_corpus(job, ledger, verdicts, header, to)
        for header in corpus_headers(job.languages(), 0.0)
        if len(header.languages) == 2 and (not only or set(header.languages) == set(only))
    )
    return msgspec.structs.replace(_figures(job, ledger), corpora=corpora)


def check_shards(folder: Path) -> str:
    """What is wrong with the shards in that folder; empty if they are as they were written, or if there are none."""
    if not (folder / PART).exists():
        return ""
    part = _read(folder)
    return f"{PART} is not what was written" if part is None else _changed_file(folder, part)


def _sums(folder: Path, corpora: Iterable[CorpusPart]) -> dict[str, int]:
    shards = [shard(folder, corpus.languages) for corpus in corpora for shard in (segments_shard, page_pairs_shard)]
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
    raise ConfigError(str(no_job(folder)))


def selecting(settings: Mapping[str, Any]) -> dict[str, Any]:
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
    selection = (job.judge, job.languages(), job.export.accepted_only, job.export.anonymise, _verdicts(ledger))
    encoded = msgspec.json.encode(selection, order="sorted")
    return blake2b(_FORMAT + encoded + Findings(ledger).fingerprint(), digest_size=16).hexdigest()


def _verdicts(ledger: Ledger) -> Verdicts:
    return VerdictHistory(ledger.path.with_name(VERDICTS)).standing()


def _write_corpus(job: Job, ledger: Ledger, verdicts: Verdicts, header: CorpusHeader, to: Path) -> CorpusPart:
    findings = Findings(ledger)
    first, second = header.languages
    languages, turned = ((first, second), False) if first <= second else ((second, first), True)
    good_enough = ThresholdFilter(job.judge, verdicts, accepted_only=job.export.accepted_only)
    hide = Anonymiser(job.export.anonymise, job.languages())
    rows: list[SiteRows] = []
    with (
        shard_writer(page_pairs_shard(to, languages)) as write_pair,
        shard_writer(segments_shard(to, languages)) as write_segment,
    ):
        for site in findings.paired_sites(first, second):
            pairs = partial = segments = 0
            needed: set[tuple[Url, Url]] = set()
            good = good_enough.accepted(revised(findings.segments(first, second, site), verdicts))
            both = ((pair, public) for pair in good if (public := hide.public(pair, header.languages)) is not None)
            found, kept = tee(both)
            written = keyed(turned_segments(public) if turned else public for _, public in kept)
            for (as_found, _), (segment, keys) in zip(found, written, strict=True):
                accepted = verdicts.of_segment(as_found) is Verdict.ACCEPT
                if accepted:
                    needed.add((as_found.url_a, as_found.url_b))
                # What a person accepted represents others.
                write_segment(keys, segment.score + accepted, pack(segment))
                segments += 1
            good_pairs = good_enough.accepted_pairs(findings.pairs(first, second, site), needed)
            for pair in map(turned_pages, good_pairs) if turned else good_pairs:
                urls = pair.url_a, pair.url_b
                licence_a, licence_b = (hide.everywhere(ledger.licence(url), [url.host]) for url in urls)
                row = SourcePair(hide.page_pair(pair), (licence_a, licence_b))
                # What another job found to be translated as a whole represents both.
                write_pair(page_pair_keys(pair), pair.score - pair.partial, pack(row))
                partial += pair.partial
                pairs += not pair.partial
            rows.append(SiteRows(site, pairs, segments, partial))
    counts = shard_counts(segments_shard(to, languages))
    good_enough.rejections += Counter({Rejection.PERSONAL_DATA: hide.dropped})
    rejected = {str(reason): count for reason, count in sorted(good_enough.rejections.items())}
    rejected_pairs = {str(reason): count for reason, count in sorted(good_enough.rejected_pairs.items())}
    page_pairs = sum(row.page_pairs for row in rows)
    sites, personal = tuple(rows), dict(hide.counts)
    return CorpusPart(languages, counts.rows, counts.near, page_pairs, rejected, rejected_pairs, sites, personal)


def turned_pages(pair: PagePair) -> PagePair:
    """The same pair with its sides exchanged."""
    sides = {"url_a": pair.url_b, "url_b": pair.url_a, "lang_a": pair.lang_b, "lang_b": pair.lang_a}
    return msgspec.structs.replace(pair, **sides)


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
        thresholds=msgspec.to_builtins(job.judge) | _hidden(job),
        origin=Origin.ARCHIVE if job.warc else Origin.REPLAY if job.replay else Origin.CRAWL,
        first_fetch=summary.began,
        last_fetch=summary.finished,
        opt_outs=summary.skipped_for(Reason.OPT_OUT),
        robots=summary.skipped_for(Reason.ROBOTS),
        machine_translated=findings.refusals().get("machine-translated", 0),
        duplicate_pages=len(findings.duplicates()),
    )


def _hidden(job: Job) -> dict[str, object]:
    return {} if job.export.anonymise is Anonymise.OFF else {"anonymise": str(job.export.anonymise)}


def _sites(ledger: Ledger, corpora: Iterable[CorpusPart]) -> Iterator[SitePart]:
    """Each site that was visited or has pairs."""
    findings, troubles = Findings(ledger), site_troubles(ledger)
    visited = {site.site: site for site in ledger.sites()}
    pairs, segments = Counter[str](), Counter[str]()
    for rows in (rows for corpus in corpora for rows in corpus.sites):
        pairs[rows.site] += rows.page_pairs
        segments[rows.site] += rows.segment_pairs
    for site in sorted({*visited, *pairs}):
        about = visited.get(site, SiteKnowledge(site))
        part = SitePart(site, about.pages, about.fetched, pairs[site], segments[site])
        why = _why(part, about, troubles.get(site, SiteTroubles()), mined=findings.mined(site) is not None)
        yield msgspec.structs.replace(part, why=why)


def _why(part: SitePart, about: SiteKnowledge, troubles: SiteTroubles, *, mined: bool) -> SiteWhy | Literal[""]:
    if not part.pages and not part.page_pairs:
        return SiteWhy(SiteLack.NO_PAGES, skips=troubles.skips, faults=troubles.faults)
    if not mined:
        return SiteWhy(SiteLack.NOT_MINED, faults=troubles.faults)
    if not part.page_pairs:
        pages = dict(sorted(about.languages.items(), key=lambda item: (-item[1], item[0])))
        return SiteWhy(SiteLack.NO_PAIRS, pages=pages, refusals=troubles.refusals, faults=troubles.faults)
    if not part.segment_pairs:
        return SiteWhy(SiteLack.NO_SEGMENTS, faults=troubles.faults)
    return SiteWhy(SiteLack.FAULTS, faults=troubles.faults) if troubles.faults else ""


class CorpusPlan(NamedTuple):
    """Which corpora are written, in which formats."""

    headers: Sequence[CorpusHeader]
    formats: Sequence[str]
    compress: bool
    sources: SourcePages  # that are met while the corpora are written
    keep_duplicates: bool = False
    pages: Callable[[Mapping[Url, Language]], Iterator[Page]] | None = None  # of the pairs, where a format wants them


class CorpusOutput(NamedTuple):
    """One corpus in its files."""

    facts: CorpusFacts
    units: Mapping[tuple[str, str], int] = {}  # that each site of each job represents


def write_corpus(job: Job, folder: Path, to: Path | None = None) -> None:
    """All that was found, in the formats asked for, and its card; each file is replaced when it is complete.

    With more than two languages, pairs for which nothing was found have no files. A job in one language or in two always
    has them, also when nothing was found. What an earlier run found is not there.
    With `to` the corpus goes into that folder, and nothing in the job's folder changes. Otherwise the report is written too.
    """
    write_files(job, folder, to)
    if to is None:
        write_report(folder)


def write_files(job: Job, folder: Path, to: Path | None = None) -> None:
    """The same without the report."""
    corpus, settings = to or folder / CORPUS, job.export
    check_card(corpus)
    headers, scratch = corpus_headers(job.languages(), time.time()), corpus / SCRATCH
    verdicts = VerdictHistory(folder / VERDICTS).changes()  # before they are read: what is said meanwhile is not obeyed
    with Ledger(folder / LEDGER, read_only=True) as ledger, emptied(scratch):
        pages = (
            partial(_pages_in, job, ledger) if any(corpus_format(name).has_pages for name in settings.formats) else None
        )
        plan = CorpusPlan(headers, settings.formats, settings.compress, SourcePages(), job.judge.duplicates, pages)
        part = shard_corpora(job, ledger, scratch)
        if len(job.languages()) == 1:
            written = [_write_pages(job, ledger, plan, corpus)]
        else:
            whole = Sharded(str(folder), scratch, part)
            written = [_alone(write_merged([whole], header, plan, corpus, scratch), part) for header in headers]
        facts = card_facts([part], plan, written)
        thresholds = {**facts.thresholds, **({"accepted_only": True} if settings.accepted_only else {})}
        known = {
            "thresholds": thresholds,
            "job": config.public_text_of(Anonymiser(settings.anonymise, job.languages()).everywhere(job, facts.sites)),
            "reviewed": human_reviews(folder / VERDICTS),
        }
        write_about(corpus, msgspec.structs.replace(facts, **known), verdicts, sealed=to is None)


@contextmanager
def emptied(scratch: Path) -> Iterator[None]:
    """Nothing is in that folder at first, and nothing is left of it."""
    files.discard(scratch)
    try:
        yield
    finally:
        files.discard(scratch)


def corpus_units(
    job: Job, folder: Path, languages: Sequence[Language] = ()
) -> Iterator[tuple[CorpusHeader, TranslationUnit]]:
    """The units that the corpora of a job hold, by the thresholds of that job; one in memory at a time.

    With `languages`, in any order, only those of that pair.
    """
    with (
        Ledger(folder / LEDGER, read_only=True) as ledger,
        tempfile.TemporaryDirectory(prefix="bitrawl-units-") as scratch,
    ):
        part = shard_corpora(job, ledger, Path(scratch), languages)
        for header in corpus_headers(job.languages(), 0.0) if len(job.languages()) > 1 else ():
            in_order = _sorted(header)
            if part.corpus(in_order):
                shard, duplicates = segments_shard(Path(scratch), in_order), job.judge.duplicates
                with grouped([shard], Path(scratch), keep_duplicates=duplicates) as segments:
                    for unit in _units(segments, header, lambda _: None):
                        yield header, unit


@contextmanager
def asked(folder: Path, question: str) -> Iterator[SqlAnswer]:
    """What a job answers to a question in SQL. Raises `ConfigError` for wrong SQL, and where there is no job."""
    where = JobFolder(folder)
    if not where.ledger.exists():
        raise ConfigError(str(no_job(folder)))
    units = (unit_of(unit, header) for header, unit in corpus_units(where.job(), folder))
    with answered(where.ledger, question, units) as answer:
        yield answer


def corpus_pages(job: Job, ledger: Ledger) -> Iterator[Page]:
    """The pages that the corpus of a job in one language holds."""
    return map(Anonymiser(job.export.anonymise, job.languages()).page, _chosen_pages(job, ledger))


def _chosen_pages(job: Job, ledger: Ledger) -> Iterator[Page]:
    """The same as they were found."""
    (language,), repeated = job.languages(), Findings(ledger).duplicates()
    for page in content_pages(ledger):
        if page.is_on_topic and page.url not in repeated and same_language(page.language, language):
            yield bounded(page, job.align.characters)[0]


def write_merged(
    parts: Sequence[Sharded],
    header: CorpusHeader,
    plan: CorpusPlan,
    folder: Path,
    scratch: Path,
    tell: Tell = lambda _: None,
) -> CorpusOutput:
    """One corpus of two languages, from all of these jobs. An empty one has no files among others."""
    languages = _sorted(header)
    corpora = {job.name: corpus for job in parts if (corpus := job.part.corpus(languages))}
    folders = {job.name: job.folder for job in parts if job.name in corpora}.values()
    sites = _site_by_site(corpora)
    tell(f"{header.name}: comparing the segments of {counted(len(corpora), 'job')}")
    pair_shards = [page_pairs_shard(folder, languages) for folder in folders]
    shards = [segments_shard(folder, languages) for folder in folders]
    with (
        grouped(pair_shards, scratch / "page_pairs", blocks=[site.page_pairs for site in sites]) as pairs,
        grouped(
            shards,
            scratch / "segments",
            blocks=[site.segments for site in sites],
            keep_duplicates=plan.keep_duplicates,
        ) as segments,
    ):
        wanted = len(plan.headers) == 1 or bool(len(pairs.shards) or len(segments.shards))
        counter, written = _write(_items(pairs, segments, header, plan, tell), header, plan, folder, wanted=wanted)
        rows, exact, near = segments.counts
        counts = MergedCounts(header.languages, corpora, rows, rows - exact, exact - near, near, counter.pairs)
        starts = [0, *accumulate(site.segments.last - site.segments.first for site in sites)][: len(sites)]
        represented = segments.represented(starts) if sites else []
    rejected = sum((Counter(corpus.rejected) for corpus in corpora.values()), Counter[str]())
    units = {(site.job, site.site): count for site, count in zip(sites, represented, strict=True)}
    personal = sum((Counter(corpus.personal_data) for corpus in corpora.values()), Counter[str]())
    facts = msgspec.structs.replace(counter.facts(rejected, written, counts), personal_data=most_first(personal))
    return CorpusOutput(facts, units)


class _SiteBlocks(NamedTuple):
    """The rows of one site of one job."""

    site: str
    job: str
    page_pairs: Block
    segments: Block


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


def card_facts(jobs: Sequence[JobPart], plan: CorpusPlan, written: Sequence[CorpusOutput]) -> CardFacts:
    origins = {Origin(job.origin) for job in jobs}
    origin = next(origin for origin in (Origin.CRAWL, Origin.REPLAY, Origin.ARCHIVE) if origin in origins)
    # When archives were read says nothing; when they were made the ledger does not know.
    fetched = [job for job in jobs if job.first_fetch] if origin is Origin.CRAWL else []
    return CardFacts(
        at=plan.headers[0].at,
        versions={"bitrawl": __version__, "python": platform.python_version()},
        corpora=tuple(corpus.facts for corpus in written),
        origin=origin,
        first_fetch=min((job.first_fetch for job in fetched), default=0.0),
        last_fetch=max((job.last_fetch for job in fetched), default=0.0),
        sites=plan.sources.by_site(),
        thresholds=_thresholds(jobs),
        licences=plan.sources.by_licence(),
        opt_outs=sum(job.opt_outs for job in jobs),
        robots=sum(job.robots for job in jobs),
        machine_translated=sum(job.machine_translated for job in jobs),
        duplicate_pages=sum(job.duplicate_pages for job in jobs),
    )


def write_about(folder: Path, facts: CardFacts, verdicts: int = 0, *, sealed: bool) -> None:
    """The figures and the card. `verdicts` counts what people had said and taken back before.

    `sealed`: what was written is noted beside the folder too.
    """
    about: dict[str, object] = {"verdicts": verdicts} if verdicts else {}
    about |= {"thresholds": facts.thresholds} if facts.bilingual else {}
    figures = {corpus.name: {**summary(corpus), **about} for corpus in facts.corpora}
    files.write(folder / SUMMARY, msgspec.json.format(msgspec.json.encode(figures)))
    write_card(folder, facts)
    if sealed:
        written = [*file_facts(folder, [SUMMARY, CARD]), *(file for corpus in facts.corpora for file in corpus.files)]
        seal_files(folder, {file.name: file.sha256 for file in written})


def _alone(written: CorpusOutput, part: JobPart) -> CorpusOutput:
    """Without what only a merge of several jobs tells."""
    counts = written.facts.merged
    corpus = part.corpus(_sorted(counts)) if counts else None
    rejected_pairs = most_first(corpus.rejected_pairs) if corpus else {}
    return written._replace(facts=msgspec.structs.replace(written.facts, merged=None, rejected_pairs=rejected_pairs))


def _sorted(corpus: CorpusHeader | MergedCounts) -> tuple[str, str]:
    first, second = sorted(corpus.languages)
    return first, second


def _write_pages(job: Job, ledger: Ledger, plan: CorpusPlan, folder: Path) -> CorpusOutput:
    """The corpus of one language."""
    (header,) = plan.headers
    hide = Anonymiser(job.export.anonymise, job.languages())

    def pages() -> Iterator[Page]:
        for page in map(hide.page, _chosen_pages(job, ledger)):
            plan.sources.add(page.url, page.metadata.licence)
            yield page

    counter, written = _write(pages(), header, plan, folder, wanted=True)
    dropped = {str(Rejection.PERSONAL_DATA): hide.dropped} if hide.dropped else {}
    facts = msgspec.structs.replace(counter.facts(dropped, written), personal_data=most_first(hide.counts))
    return CorpusOutput(facts)


def _write(
    items: Iterable[Item], header: CorpusHeader, plan: CorpusPlan, folder: Path, *, wanted: bool
) -> tuple[CorpusCounter, list[FileFacts]]:
    counter = CorpusCounter(header)
    if not wanted:
        remove_files(folder, header)
        return counter, []
    with exporting(folder, header, plan.formats, compress=plan.compress) as write:
        for item in items:
            counter.count(item)
            write(item)
    return counter, file_facts(folder, file_names(header, plan.formats, compress=plan.compress))


def _items(pairs: Groups, segments: Groups, header: CorpusHeader, plan: CorpusPlan, tell: Tell) -> Iterator[Item]:
    """Pairs, then pages where a format wants them, then units."""
    languages: dict[Url, Language] = {}
    for pair, licences in ((row.pair, row.licences) for row in pairs.page_pairs()):
        for url, licence in zip((pair.url_a, pair.url_b), licences, strict=True):
            plan.sources.add(url, licence)
        if plan.pages is not None:
            languages |= {pair.url_a: pair.lang_a, pair.url_b: pair.lang_b}
        yield pair if header.languages == _sorted(header) else turned_pages(pair)
    if plan.pages is not None:
        yield from plan.pages(languages)
    rows = len(segments.shards)
    yield from _units(segments, header, lambda done: tell(f"{header.name}: {done:,} of {rows:,} segment pairs written"))


def _units(segments: Groups, header: CorpusHeader, progress: Callable[[int], None]) -> Iterator[TranslationUnit]:
    units = segments.units(progress)
    return units if header.languages == _sorted(header) else map(turned_unit, units)


def _pages_in(job: Job, ledger: Ledger, languages: Mapping[Url, Language]) -> Iterator[Page]:
    """A pair may know better than the page's text: a page of code is in the language that it claims to be."""
    hide = Anonymiser(job.export.anonymise, job.languages())
    for page in content_pages(ledger):
        language = languages.get(hide.url(page.url))
        if language is not None:
            same = same_language(page.language, language)
            yield hide.page(page if same else msgspec.structs.replace(page, language=language))


def content_pages(ledger: Ledger) -> Iterator[Page]:
    """The pages of a ledger, site by site, with each site's template told from its content."""
    for site in [site.site for site in ledger.sites()]:
        yield from without_template(ledger.view(site).pages)


def _thresholds(jobs: Sequence[JobPart]) -> dict[str, object]:
    """A threshold that differs between jobs is given with all of its values."""
    values: dict[str, list[object]] = {}
    for job in jobs:
        for name, value in job.thresholds.items():
            if value not in values.setdefault(name, []):
                values[name].append(value)
    return {name: several[0] if len(several) == 1 else {"by job": several} for name, several in values.items()}
