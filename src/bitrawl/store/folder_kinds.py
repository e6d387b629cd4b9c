"""What a folder holds, whichever verb made it, and what to say where a verb needs a job and there is none."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from bitrawl import config
from bitrawl.errors import ConfigError, StoreError
from bitrawl.file_names import (
    BOOTSTRAP,
    BUNDLES,
    CORPUS,
    DESCRIPTION,
    FOUND_SITES,
    LEDGER,
    MERGE,
    MERGED,
    MINED_SITES,
    PARTS,
    SEARCHED,
    SUMMARY,
)
from bitrawl.files import NO_JSON
from bitrawl.folder_files import named


class FolderKind(StrEnum):
    """What a folder is for the verbs that read it."""

    JOB = "job"
    SEARCH = "search"  # for sites, by `discover`; a job too
    RUN = "run"  # over many sites, in bundles
    MERGED = "merged corpus"
    COPY = "copy of a corpus"  # made by `export --to`, or the folder corpus/ itself
    TOPIC = "topic"  # made by `bootstrap`
    OTHER = "other"  # empty, not there, a file, or not ours


# By their files, in this order: a run has a job file too, and a search is a job.
_MARKS = {
    BUNDLES: FolderKind.RUN,
    MERGE: FolderKind.MERGED,
    SEARCHED: FolderKind.SEARCH,
    LEDGER: FolderKind.JOB,
    DESCRIPTION: FolderKind.JOB,
    BOOTSTRAP: FolderKind.TOPIC,
    SUMMARY: FolderKind.COPY,
}


def kind_of(folder: Path) -> FolderKind:
    return next((kind for name, kind in _MARKS.items() if (folder / name).exists()), FolderKind.OTHER)


def export_command(corpus: Path) -> str:
    """What to run to write the corpus in that folder again."""
    folder = corpus.parent
    if corpus.name != CORPUS or kind_of(folder) not in (FolderKind.JOB, FolderKind.SEARCH, FolderKind.MERGED):
        return f"bitrawl export JOB --to {shlex.quote(str(corpus))}"
    of_run = folder.name == MERGED and kind_of(folder.parent) is FolderKind.RUN
    return f"bitrawl export {shlex.quote(str(folder.parent if of_run else folder))}"


def merge_description(folder: Path) -> dict[str, Any]:
    """What a merge wrote about itself; empty if that cannot be read."""
    try:
        return msgspec.json.decode((folder / MERGE).read_bytes(), type=dict[str, Any])
    except (OSError, *NO_JSON):
        return {}


def merged_jobs(folder: Path) -> list[str]:
    """What was merged there, as it was named; a part of a run by the folder of its job."""
    return [str(job).removesuffix("/shard") for job in merge_description(folder).get("jobs", ())]


def no_job(folder: Path) -> StoreError:
    """What to say to a verb that works on a job: what the folder is, which verbs work on it, or what to name instead."""
    where = shlex.quote(str(folder))
    match kind_of(folder):
        case FolderKind.RUN:
            part = next(iter(sorted((folder / PARTS).glob(f"*/{LEDGER}"))), folder / PARTS / "NUMBER" / LEDGER)
            what = "holds a run over many sites, not one job"
            verbs, instead = "sample, terms, export, status, diff, report, check and merge", f"its parts: {part.parent}"
        case FolderKind.MERGED:
            what, verbs = "is a merged corpus, not a job", "sample, terms, export, status, report and check"
            instead = f"the jobs that it was merged from: {named(merged_jobs(folder))}"
        case FolderKind.COPY:
            what, verbs = "is a corpus without its job", "sample, terms, status and check"
            job = folder.absolute().parent
            instead = str(job) if kind_of(job) in (FolderKind.JOB, FolderKind.MERGED) else "the job that it comes from"
        case FolderKind.TOPIC:
            return StoreError(
                f"{folder} holds a topic, not a job; to mine with it: bitrawl mine --bootstrap {where} --out DIR"
            )
        case _:
            return StoreError(_nothing(folder, where))
    return StoreError(f"{folder} {what}; {verbs} work on it. For other verbs, name {instead}")


def _nothing(folder: Path, where: str) -> str:
    if folder.is_file():
        near = next((above for above in folder.absolute().parents[:2] if (above / LEDGER).exists()), None)
        return f"{folder} holds no job: it is a file; " + (
            f"name the job's folder: {near}" if near else "name a folder"
        )
    if not folder.exists():
        return f"{folder} holds no job: there is no such folder; {_START} {where}"
    inside = [path for path in sorted(folder.iterdir()) if path.is_dir() and kind_of(path) is not FolderKind.OTHER]
    if inside:
        return f"{folder} holds no job itself; name one of the folders in it: {named(map(str, inside))}"
    empty = "" if any(folder.iterdir()) else ": it is empty"
    return f"{folder} holds no job{empty}; {_START} {where}"


_START = "start one with: bitrawl mine URL --langs en,fr --out"


def languages_of_run(folder: Path) -> list[str]:
    """None if it has no job file."""
    job_file = folder / DESCRIPTION
    return list(config.read(job_file).get("langs", ())) if job_file.exists() else []


def no_corpus_of_search(folder: Path) -> ConfigError:
    """A search has found sites, and mined none of them; unless it was asked to."""
    mined = folder / MINED_SITES
    if kind_of(mined) is FolderKind.JOB:
        return ConfigError(
            f"{folder} is a search for sites, and has no corpus; the corpus of the sites found is in {mined}"
        )
    sites, out = shlex.quote(str(folder / FOUND_SITES)), shlex.quote(str(mined))
    langs = ",".join(config.read(folder / DESCRIPTION).get("langs", ["CODES"]))
    return ConfigError(
        f"{folder} is a search for sites, and has no corpus; to mine the sites found: bitrawl mine --sites {sites}"
        f" --langs {langs} --out {out}"
    )
