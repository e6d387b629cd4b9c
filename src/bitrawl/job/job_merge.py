"""One corpus from the corpora of many jobs: each text once, with every place where any of them found it."""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bitrawl import config, files
from bitrawl.corpus import FORMATS, CorpusFolder, CorpusHeader, MergedSite, MergeFacts, without_files
from bitrawl.corpus.merger import CorpusOutput, CorpusPlan, CorpusWriter, Tell, site_table
from bitrawl.corpus.shards import Sharded
from bitrawl.errors import ConfigError
from bitrawl.file_names import CORPUS, DESCRIPTION, LEDGER, MERGE, REPORT, SITES_TABLE
from bitrawl.folder_files import check_inputs, files_below, named
from bitrawl.job.exporting import SCRATCH, emptied, sharded
from bitrawl.languages import parse_language
from bitrawl.model import Language
from bitrawl.show import report_of_merge
from bitrawl.store.folder_kinds import merge_description
from bitrawl.store.seal import seal_files
from bitrawl.version import __version__

Pair = tuple[str, str]


def merge(
    folders: Sequence[Path],
    out: Path,
    settings: Mapping[str, Any],
    *,
    langs: Sequence[str] = (),
    to: Path | None = None,
    tell: Tell,
) -> MergeFacts:
    """Merge the corpora of these jobs, in this order, into `out`. The same jobs give the same bytes.

    `settings` are tables of a job file: formats, compression and thresholds. A threshold that is not given is that of
    each job. Each pair of languages is a corpus; with two `langs`, there is only that one. With `to` the files of the
    corpus go into that folder, and nothing in `out` changes.
    """
    check_inputs(to or out, folders)
    earlier = {} if to else _check_target(out)
    corpus, scratch = to or out / CORPUS, (to or out) / SCRATCH
    CorpusFolder(corpus).check_card()
    with emptied(scratch):
        jobs = list(_sharded_jobs(folders, settings, scratch, tell))
        plan, notes = _plan(corpus, jobs, settings, langs)
        if to is None:
            description = {
                "bitrawl": __version__,
                "jobs": [job.name for job in jobs],
                "sources": [os.path.relpath(folder.resolve(), out.resolve()) for folder in folders],
                "corpora": [header.languages for header in plan.headers],
                "formats": plan.formats,
                "langs": langs,
                "settings": settings,
            }
            files.write(out / MERGE, msgspec.json.format(msgspec.json.encode(description)))
        writer = CorpusWriter(plan, scratch, tell)
        writer.merge(jobs)
        written = writer.describe(writer.facts([job.part for job in jobs]))
        facts = _merge_facts(jobs, writer.written, notes)
        if to is None:
            seal_files(corpus, written)
            files.write(out / SITES_TABLE, site_table(facts.sites))
            files.write(out / REPORT, report_of_merge(facts))
            _remove_others(out, earlier, plan)
        return facts


def merge_again(
    merged: Path,
    settings: Mapping[str, Any],
    *,
    only: bool = False,
    jobs: Sequence[Path] = (),
    to: Path | None = None,
    tell: Tell,
) -> MergeFacts:
    """Write a merged corpus again, from the jobs that it was merged from or from these, in more formats or other thresholds.

    Formats that are there already are kept and written again, unless `only` those asked for are wanted. What is not
    given is as it was. With `to` the corpus goes into that folder, and the merged one stays as it is. Raises `ConfigError`
    if a job is not there any more.
    """
    earlier = merge_description(merged)
    jobs = list(jobs) or _sources(merged, earlier)
    settings = config.merged(earlier.get("settings") or {}, settings)
    headers = [CorpusHeader(tuple(languages), 0.0) for languages in earlier.get("corpora", ())]
    names = settings.get("export", {}).get("formats") or earlier.get("formats", [])
    formats = CorpusFolder(to or merged / CORPUS).formats(headers, names, only=only)
    settings = config.merged(settings, {"export": {"formats": formats}})
    return merge(jobs, merged, settings, langs=earlier.get("langs", ()), to=to, tell=tell)


def _sources(merged: Path, description: Mapping[str, Any]) -> list[Path]:
    base = merged.resolve() if merged.is_symlink() else merged
    sources = [Path(os.path.normpath(base / source)) for source in description.get("sources", ())]
    gone = [str(source) for source in sources if not source.exists()] or ([] if sources else description.get("jobs"))
    if gone:
        raise ConfigError(
            f"{merged} was merged from jobs that no longer exist: {', '.join(gone[:3])}; to merge others:"
            f" bitrawl merge JOB... --out {shlex.quote(str(merged))}"
        )
    return sources


def _check_target(out: Path) -> dict[str, Any]:
    """What an earlier merge into this folder wrote; raises `ConfigError` if the folder holds anything else."""
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file; choose a folder for --out")
    held = {path.name for path in out.iterdir()} if out.exists() else set()
    if not held - {SCRATCH}:
        return {}
    if MERGE not in held:
        is_job = LEDGER in held or DESCRIPTION in held
        what = "a job" if is_job else f"something else ({named(list(files_below(out)))})"
        raise ConfigError(f"{out} holds {what}, not a merged corpus; choose another folder for --out")
    return merge_description(out)


def _sharded_jobs(folders: Sequence[Path], settings: Mapping[str, Any], scratch: Path, tell: Tell) -> Iterator[Sharded]:
    seen: set[Path] = set()
    for number, folder in enumerate(folders, 1):
        if folder.resolve() not in seen:
            seen.add(folder.resolve())
            tell(f"reading job {number} of {len(folders)}: {folder}")
            yield sharded(folder, settings, scratch / str(number))


def _plan(
    corpus: Path, jobs: Sequence[Sharded], settings: Mapping[str, Any], langs: Sequence[str]
) -> tuple[CorpusPlan, list[str]]:
    """What is written, and what is left out or may be incomplete."""
    at = max((job.part.last_fetch for job in jobs), default=0.0)  # not now: the same jobs give the same bytes
    orders = _orders(jobs)
    pair_asked = {parse_language(code) for code in langs}
    if langs and len(pair_asked) != 2:
        raise ConfigError("--langs takes two languages for a merge: en,fr")
    chosen = {pair: order for pair, order in orders.items() if not pair_asked or set(pair) == pair_asked}
    if not chosen:
        if not orders:
            raise ConfigError("only corpora of two languages are merged, and these jobs have one language each")
        there = ", ".join("-".join(order) for order in orders.values())
        raise ConfigError(f"these jobs have no corpus in {' and '.join(sorted(pair_asked))}, only in {there}")
    formats, unmerged = _formats(jobs, settings)
    notes = [
        *(f"{job.name} is still running: it is merged as it is now." for job in jobs if job.is_running),
        *(f"{job.name} is left out: it has one language." for job in jobs if not job.part.corpora),
        *_left_out(jobs, chosen),
        *([f"{', '.join(unmerged)} is left out: it has whole pages. Each job has it."] if unmerged else []),
    ]
    headers = [CorpusHeader((Language(a), Language(b)), at) for a, b in chosen.values()]
    return CorpusPlan(corpus, headers, formats, bool(settings.get("export", {}).get("compress"))), notes


def _orders(jobs: Sequence[Sharded]) -> dict[Pair, Pair]:
    """The pairs of languages, sorted, and the order in which the first job with that pair names them."""
    orders: dict[Pair, Pair] = {}
    for job in jobs:
        place = {language: number for number, language in enumerate(job.part.languages)}
        for corpus in job.part.corpora:
            first, second = sorted(corpus.languages, key=place.__getitem__)
            orders.setdefault(corpus.languages, (first, second))
    return orders


def _left_out(jobs: Sequence[Sharded], chosen: Mapping[Pair, Pair]) -> Iterator[str]:
    for job in jobs:
        orders = _orders([job])
        others = ["-".join(orders[corpus.languages]) for corpus in job.part.corpora if corpus.languages not in chosen]
        if others:
            are, they_are = ("is", "it is") if len(others) == 1 else ("are", "they are")
            yield f"{', '.join(others)} of {job.name} {are} left out: {they_are} not in the languages asked for."


def _formats(jobs: Sequence[Sharded], settings: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """What to write, and what jobs have that cannot be merged. Raises `ConfigError` if the user asks for such a format."""
    wanted = settings.get("export", {}).get("formats") or []
    mergeable = [name for name in FORMATS.parts(2) if not FORMATS.of(name).has_pages]
    for name in wanted:
        if FORMATS.of(name).has_pages:
            raise ConfigError(f"{name} has whole pages, which are not merged; bitrawl export writes it for a job")
    theirs = [name for job in jobs if job.part.corpora for name in job.part.formats]
    formats = list(dict.fromkeys(wanted or [name for name in theirs if name in mergeable])) or FORMATS.usual(2)[:1]
    FORMATS.check(formats, 2, "choose other --formats")
    return formats, [] if wanted else [name for name in dict.fromkeys(theirs) if name not in mergeable]


def _remove_others(out: Path, earlier: Mapping[str, Any], plan: CorpusPlan) -> None:
    """What an earlier merge wrote in other languages."""
    for languages in earlier.get("corpora", ()):
        if tuple(languages) not in {header.languages for header in plan.headers}:
            CorpusFolder(out / CORPUS).remove(CorpusHeader(tuple(languages), 0.0))


def _merge_facts(jobs: Sequence[Sharded], written: Sequence[CorpusOutput], notes: Sequence[str]) -> MergeFacts:
    units: Counter[tuple[str, str]] = Counter()
    for output in written:
        units.update(output.units)
    sites = [MergedSite(job.name, site, units[job.name, site.site]) for job in jobs for site in job.part.sites]
    sites.sort(key=lambda row: (-row.units, -row.part.segment_pairs, -row.part.page_pairs, row.part.site, row.job))
    corpora = [output.facts.merged for output in written if output.facts.merged is not None]
    empty = [corpus for corpus in corpora if len(corpora) > 1 and not corpus.page_pairs and not corpus.units]
    without = without_files(["-".join(corpus.languages) for corpus in empty])
    filled = [corpus for corpus in corpora if corpus not in empty]
    return MergeFacts({job.name: job.part for job in jobs}, filled, sites, [*notes, *([without] if without else [])])
