"""The corpora of a job, from the ledger to its shards, and from them to files: an export is a merge of one.

What merging needs of a job is in the shards of its folder: with them, the folder `shard` alone is enough for a merge, on any
machine.
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from bitrawl import config, files
from bitrawl.config import Job
from bitrawl.corpus import FORMATS, Anonymise, Anonymiser, CorpusFolder, CorpusHeader, CorpusUnit, SiteLack
from bitrawl.corpus.figures import CorpusPart, JobPart, Origin, SitePart, SiteWhy
from bitrawl.corpus.merger import CorpusPlan, CorpusWriter, grouped, units_of
from bitrawl.corpus.shards import Choice, Sharded, ShardFolder, SitePairs
from bitrawl.errors import ConfigError, DamagedError
from bitrawl.file_names import CORPUS, LEDGER, SHARD, VERDICTS
from bitrawl.languages import same_language
from bitrawl.mining.duplicates import PageText, repeated_pages
from bitrawl.model import (
    Language,
    Page,
    SiteKnowledge,
    TranslationUnit,
)
from bitrawl.reasons import Reason
from bitrawl.review import human_reviews
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

SCRATCH = ".merging"


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
    return Sharded(name, ShardFolder(to), part, running)


def write_shards(job: Job, ledger: Ledger, to: Path, *, running: bool = False) -> JobPart:
    """Write the shards of all corpora of a job, unless they are there already."""
    folder, fingerprint = ShardFolder(to), _choice(job, ledger).fingerprint(Findings(ledger).fingerprint())
    earlier = folder.made_with(fingerprint)
    if earlier is None:
        folder.remove_part()
        part = shard_corpora(job, ledger, to)
        part = msgspec.structs.replace(part, sums=folder.sums(part.corpora))
    else:
        part = msgspec.structs.replace(_figures(job, ledger), corpora=earlier.corpora, sums=earlier.sums)
    state = "running" if running else summarise(ledger).ended or "interrupted"
    sites = tuple(_sites(ledger, part.corpora))
    part = msgspec.structs.replace(part, fingerprint=fingerprint, state=state, sites=sites)
    if part != earlier:
        folder.write(part)
    return part


def shard_corpora(job: Job, ledger: Ledger, to: Path, only: Collection[Language] = ()) -> JobPart:
    """Write the shards of a job's corpora, and no file about them; with `only`, those of two languages."""
    choice = _choice(job, ledger)
    corpora = tuple(
        ShardFolder(to).write_corpus(header, choice, _found(Findings(ledger), header), ledger.licence)
        for header in CorpusHeader.of(job.languages())
        if len(header.languages) == 2 and (not only or set(header.languages) == set(only))
    )
    return msgspec.structs.replace(_figures(job, ledger), corpora=corpora)


def _found(findings: Findings, header: CorpusHeader) -> Iterator[SitePairs]:
    a, b = header.languages
    for site in findings.paired_sites(a, b):
        yield SitePairs(site, findings.segments(a, b, site), findings.pairs(a, b, site))


def _without_ledger(folder: Path, settings: Mapping[str, Any]) -> Sharded:
    """The shards of a job that ran elsewhere."""
    for place in (folder / SHARD, folder):
        part = ShardFolder(place).part()
        if wrong := ShardFolder(place).fault():
            raise DamagedError(
                f"{place} is damaged: {wrong}. What it was made from is not affected:"
                " merge the job itself, or copy its shard folder again"
            )
        if part is not None:
            if settings:
                raise ConfigError(
                    f"{folder} holds only what its own thresholds let through; leave out --min-score, or merge the job itself"
                )
            return Sharded(str(folder), ShardFolder(place), part)
    raise ConfigError(str(no_job(folder)))


def selecting(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that decide what gets into a shard: how it is written later does not matter."""
    written = ("formats", "compress")
    exported = {key: value for key, value in settings.get("export", {}).items() if key not in written}
    return {key: value for key, value in {**settings, "export": exported}.items() if value}


def _choice(job: Job, ledger: Ledger) -> Choice:
    verdicts = VerdictHistory(ledger.path.with_name(VERDICTS)).standing()
    return Choice(job.judge, job.languages(), job.export.accepted_only, job.export.anonymise, verdicts)


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


def write_corpus(job: Job, folder: Path, to: Path | None = None) -> None:
    """All that was found, in the formats asked for, and its card; each file is replaced when it is complete.

    With more than two languages, pairs for which nothing was found have no files. A job in one language or in two always
    has them, also when nothing was found. What an earlier run found is not there.
    With `to` the corpus goes into that folder, and nothing in the job's folder changes. Otherwise the report is written too.
    """
    from bitrawl.job.reporting import write_report  # noqa: PLC0415 - who mines has another process write

    corpus, settings = CorpusFolder(to or folder / CORPUS), job.export
    corpus.check_card()
    scratch = corpus.path / SCRATCH
    verdicts = VerdictHistory(folder / VERDICTS).changes()  # before they are read: what is said meanwhile is not obeyed
    with Ledger(folder / LEDGER, read_only=True) as ledger, emptied(scratch):
        headers = CorpusHeader.of(job.languages(), time.time())
        wants_pages = any(FORMATS.of(name).has_pages for name in settings.formats)
        pages = partial(_pages_in, job, ledger) if wants_pages else None
        plan = CorpusPlan(corpus.path, headers, settings.formats, settings.compress, job.judge.duplicates, pages)
        writer = CorpusWriter(plan, scratch)
        part = shard_corpora(job, ledger, scratch)
        if len(job.languages()) == 1:
            writer.write_pages(_chosen_pages(job, ledger), Anonymiser(settings.anonymise, job.languages()))
        else:
            writer.merge([Sharded(str(folder), ShardFolder(scratch), part)], alone=True)
        facts = writer.facts([part])
        thresholds = {**facts.thresholds, **({"accepted_only": True} if settings.accepted_only else {})}
        known = {
            "thresholds": thresholds,
            "job": config.public_text_of(Anonymiser(settings.anonymise, job.languages()).everywhere(job, facts.sites)),
            "reviewed": human_reviews(folder / VERDICTS),
        }
        written = writer.describe(msgspec.structs.replace(facts, **known), verdicts)
    if to is None:
        seal_files(corpus.path, written)
        write_report(folder)


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
        for header in CorpusHeader.of(job.languages()) if len(job.languages()) > 1 else ():
            if part.corpus(header.in_order):
                shard, duplicates = ShardFolder(Path(scratch)).segments(header.in_order), job.judge.duplicates
                with grouped([shard], Path(scratch), keep_duplicates=duplicates) as segments:
                    for unit in units_of(segments, header):
                        yield header, unit


@contextmanager
def asked(folder: Path, question: str) -> Iterator[SqlAnswer]:
    """What a job answers to a question in SQL. Raises `ConfigError` for wrong SQL, and where there is no job."""
    where = JobFolder(folder)
    if not where.ledger.exists():
        raise ConfigError(str(no_job(folder)))
    units = (CorpusUnit.of(unit, header) for header, unit in corpus_units(where.job(), folder))
    with answered(where.ledger, question, units) as answer:
        yield answer


def corpus_pages(job: Job, ledger: Ledger) -> Iterator[Page]:
    """The pages that the corpus of a job in one language holds."""
    return map(Anonymiser(job.export.anonymise, job.languages()).page, _chosen_pages(job, ledger))


def _chosen_pages(job: Job, ledger: Ledger) -> Iterator[Page]:
    """The same as they were found, with what they repeat of other sites. They are read twice."""
    (language,), repeated = job.languages(), Findings(ledger).duplicates()

    def chosen() -> Iterator[Page]:
        for page in content_pages(ledger):
            if page.is_on_topic and page.url not in repeated and same_language(page.language, language):
                yield page

    repeats = repeated_pages(filter(None, map(PageText.of, chosen())))
    for page in chosen():
        yield msgspec.structs.replace(bounded(page, job.align.characters)[0], repeats=repeats.get(page.url))


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
