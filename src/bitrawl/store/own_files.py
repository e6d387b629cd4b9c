"""Which files of a folder a job or an export made, by their names."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from bitrawl import files
from bitrawl.corpus import CorpusFolder, CorpusHeader
from bitrawl.errors import BitrawlError
from bitrawl.file_names import (
    ARCHIVE,
    CARD,
    CORPUS,
    DESCRIPTION,
    FOUND_SITES,
    INDEX,
    LEDGER,
    LOCK,
    MINED_SITES,
    REPORT,
    SEARCHED,
    SHARD,
    SITES_JSON,
    SITES_TABLE,
    SUMMARY,
    VERDICTS,
)
from bitrawl.folder_files import GIVEN, FolderFiles
from bitrawl.languages import parse_language
from bitrawl.model import Language

SHARED = ".pairing-"
"""How the folders begin in which two workers share what they make of the pages of a site."""
_NEW = f"(?:{re.escape(files.NEW)})?"
_LANGUAGES = "[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*"
_PLAIN = "|".join(map(re.escape, (DESCRIPTION, REPORT, SITES_JSON, SITES_TABLE, FOUND_SITES, SEARCHED)))
_LOG = "(?:-wal|-shm|-journal)?"
# What a job writes into its folder beside its corpus. Starting over deletes it, or sets it aside: the archive.
_JOB = re.compile(
    rf"(?:(?:job|corpus)\.seal|{_PLAIN}|(?:{re.escape(LEDGER)}|{re.escape(INDEX)}){_LOG}"
    r"|rejected/[0-9a-f]+\.(?:html|pages|json)"
    rf"|shard/(?:part\.json|{_LANGUAGES}(?:\.documents)?\.(?:keys|data))"
    rf"|corpus/\.merging/.+|{re.escape(SHARED)}\w+/.*"
    r"|warc/bitrawl-\d{5,}-\d{14}\.warc\.gz"
    rf"|(?:corpus|rejected|shard|warc)/){_NEW}"
)
# What starting over leaves there: what people said or gave, what was set aside, and what belongs to the web app.
_KEPT = re.compile(
    rf"\w+\.lock|{re.escape(VERDICTS)}{_LOG}|(?:intent|reviewers)\.json|run\.log(?:\.1)?"
    rf"|(?:{GIVEN}|simulated|damaged|warc-\d+)/.*"
)
_WRITTEN = (
    *(DESCRIPTION, "job.seal", LEDGER, "corpus.seal", REPORT, ARCHIVE, "rejected", CORPUS, SHARD),
    *(SITES_JSON, SITES_TABLE, FOUND_SITES, SEARCHED, INDEX, VERDICTS, MINED_SITES),
)


_ABOUT = (SUMMARY, CARD)  # what is written beside the corpora of a folder
MARKS = (DESCRIPTION, LEDGER, LOCK)
"""A folder with one of them holds a job, or what is left of one."""


def job_files(folder: Path) -> FolderFiles:
    """What a job writes: its corpus has the names that its languages give, and no others are taken for ours."""
    corpus = {
        f"{CORPUS}/{name}" for name in (*_ABOUT, *(f"{name}{files.NEW}" for name in _ABOUT), *_corpus_names(folder))
    }
    if CorpusFolder(folder / CORPUS).has_foreign_card:
        corpus.discard(f"{CORPUS}/{CARD}")
    within = tuple(f"{name}/" for name in corpus)
    mined = job_files(folder / MINED_SITES) if _is_job(folder / MINED_SITES) else None

    def is_made(name: str) -> bool:
        if mined is not None and name.startswith(f"{MINED_SITES}/"):
            return bool(mined.is_made(name.removeprefix(f"{MINED_SITES}/")))
        return name in corpus or name.startswith(within) or _JOB.fullmatch(name) is not None

    def is_kept(name: str) -> bool:
        return _KEPT.fullmatch(name.removeprefix(f"{MINED_SITES}/")) is not None

    return FolderFiles("a job", MARKS, _WRITTEN, is_made, is_kept)


def corpus_files(languages: Sequence[Language]) -> FolderFiles:
    """What an export writes into a folder of its own."""
    names = {*_ABOUT, *(name for header in CorpusHeader.of(languages) for name in header.names())}
    first = tuple(sorted({name.partition("/")[0] for name in names}))
    return FolderFiles("a corpus of bitrawl", _ABOUT[:1], first, names.__contains__)


def is_part_of_job(folder: Path) -> bool:
    """Whether it is the folder of a job, or one that a job writes in its own."""
    place = folder.resolve()
    return _is_job(place) or (_is_job(place.parent) and place.name in _WRITTEN)


def _is_job(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in MARKS)


def _corpus_names(folder: Path) -> Iterator[str]:
    try:
        codes = tomllib.loads((folder / DESCRIPTION).read_text("utf-8")).get("langs", [])
        headers = CorpusHeader.of([parse_language(code) for code in codes]) if codes else []
    except (OSError, ValueError, BitrawlError):
        return  # Then nothing in its corpus counts as ours.
    for header in headers:
        yield from header.names()
