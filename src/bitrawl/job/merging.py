"""One corpus from the corpora of many jobs: each text once, with every place where any of them found it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bitrawl import files
from bitrawl.config import Format
from bitrawl.config.choices import check_formats, corpus_format, corpus_formats, format_names
from bitrawl.corpus.card import site_table
from bitrawl.corpus.export import CorpusHeader, remove_files, without_files
from bitrawl.corpus.figures import MergedSite, MergeFacts
from bitrawl.errors import ConfigError
from bitrawl.job.export import (
    SCRATCH,
    CorpusPlan,
    Sharded,
    Tell,
    WrittenCorpus,
    card_facts,
    sharded,
    write_about,
    write_merged,
)
from bitrawl.languages import parse_language
from bitrawl.model import Language
from bitrawl.show.merge_report import render
from bitrawl.version import __version__

MERGE = "merge.json"
"""What was merged. A folder that has it is the target of a merge, and may be written again."""

_OWN = frozenset({MERGE, SCRATCH, "corpus", "report.html", "sites.tsv"})

Pair = tuple[str, str]


def merge(
    folders: Sequence[Path], out: Path, settings: Mapping[str, Any], *, langs: Sequence[str] = (), tell: Tell
) -> MergeFacts:
    """Merge the corpora of these jobs, in this order, into `out`. The same jobs give the same bytes.

    `settings` are tables of a job file: formats, compression and thresholds. A threshold that is not given is that of
    each job. Each pair of languages is a corpus; with two `langs`, there is only that one.
    """
    earlier = _check_target(out)
    scratch = out / SCRATCH
    files.discard(scratch)
    try:
        parts = list(_parts(folders, settings, scratch, tell))
        plan, notes = _plan(parts, settings, langs)
        files.write(out / MERGE, msgspec.json.format(msgspec.json.encode(_described(parts, plan))))
        written = [write_merged(parts, header, plan, out / "corpus", scratch, tell) for header in plan.headers]
        write_about(out / "corpus", card_facts([one.part for one in parts], plan, written))
        facts = _merge_facts(parts, written, notes)
        files.write(out / "sites.tsv", site_table(facts.sites))
        files.write(out / "report.html", render(facts))
        _remove_others(out, earlier, plan)
        return facts
    finally:
        files.discard(scratch)


def _check_target(out: Path) -> dict[str, Any]:
    """What an earlier merge into this folder wrote; raises `ConfigError` if the folder holds anything else."""
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file; choose a folder for --out")
    held = {path.name for path in out.iterdir()} if out.exists() else set()
    if not held - {SCRATCH}:
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


def _plan(parts: Sequence[Sharded], settings: Mapping[str, Any], langs: Sequence[str]) -> tuple[CorpusPlan, list[str]]:
    """What is written, and what is left out or may be incomplete."""
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
    return CorpusPlan(headers, formats, bool(settings.get("export", {}).get("compress")), {}), notes


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


def _described(parts: Sequence[Sharded], plan: CorpusPlan) -> dict[str, object]:
    return {
        "bitrawl": __version__,
        "jobs": [one.name for one in parts],
        "corpora": [header.languages for header in plan.headers],
        "formats": plan.formats,
    }


def _remove_others(out: Path, earlier: Mapping[str, Any], plan: CorpusPlan) -> None:
    """What an earlier merge wrote in other languages."""
    for languages in earlier.get("corpora", ()):
        if tuple(languages) not in {header.languages for header in plan.headers}:
            remove_files(out / "corpus", CorpusHeader(tuple(languages), 0.0))


def _merge_facts(parts: Sequence[Sharded], written: Sequence[WrittenCorpus], notes: Sequence[str]) -> MergeFacts:
    units: Counter[tuple[str, str]] = Counter()
    for corpus in written:
        units.update(corpus.units)
    sites = [MergedSite(one.name, site, units[one.name, site.site]) for one in parts for site in one.part.sites]
    sites.sort(key=lambda one: (-one.units, -one.part.segment_pairs, -one.part.page_pairs, one.part.site, one.job))
    counts = [one.facts.merged for one in written if one.facts.merged is not None]
    empty = [one for one in counts if len(counts) > 1 and not one.page_pairs and not one.units]
    without = without_files(["-".join(one.languages) for one in empty])
    filled = [one for one in counts if one not in empty]
    return MergeFacts({one.name: one.part for one in parts}, filled, sites, [*notes, *([without] if without else [])])
