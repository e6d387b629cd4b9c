"""What a job folder holds: its job, its ledger and the files that bitrawl made.

`tune_job` and `buckets_of` are about the one setting that may change while a job runs: the buckets of perplexity.
"""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from bitrawl import config, files
from bitrawl.config import Job
from bitrawl.corpus import CorpusFolder
from bitrawl.errors import ConfigError, StoreError
from bitrawl.file_names import (
    ARCHIVE,
    BOOTSTRAP,
    CORPUS,
    DESCRIPTION,
    FOUND_SITES,
    INDEX,
    LEDGER,
    MERGED,
    MINED_SITES,
    REPORT,
    VERDICTS,
)
from bitrawl.folder_files import GIVEN, FolderFiles
from bitrawl.store.database import back_up, is_locked, locked
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import perplexities
from bitrawl.store.own_files import SHARED, job_files
from bitrawl.strategies import Strategy
from bitrawl.topic.judge import boundaries


class JobFolder(NamedTuple):
    """Where the parts of a job are."""

    path: Path

    @property
    def ledger(self) -> Path:
        """All that the job remembers."""
        return self.path / LEDGER

    @property
    def description(self) -> Path:
        """The file that says what was asked: job.toml."""
        return self.path / DESCRIPTION

    @property
    def corpus(self) -> Path:
        return self.path / CORPUS

    @property
    def archive(self) -> Path:
        """What was fetched, as WARC files."""
        return self.path / ARCHIVE

    @property
    def report(self) -> Path:
        return self.path / REPORT

    @property
    def verdicts(self) -> Path:
        """What people say about what was found; a job that starts over keeps it."""
        return self.path / VERDICTS

    @property
    def reading_index(self) -> Path:
        """What a reader lists and searches, derived from the ledger."""
        return self.path / INDEX

    @property
    def given(self) -> Path:
        """What was uploaded to the web app for the job."""
        return self.path / GIVEN

    @property
    def topic(self) -> Path:
        """The file that says what a topic was gathered from."""
        return self.path / BOOTSTRAP

    @property
    def merged(self) -> Path:
        """Where the corpus of a run over many sites is."""
        return self.path / MERGED

    @property
    def found_sites(self) -> Path:
        """The sites that a search has found."""
        return self.path / FOUND_SITES

    @property
    def is_running(self) -> bool:
        """Whether a process is working in it now."""
        return is_locked(self.ledger)

    def job(self) -> Job:
        """What it was asked to do; raises `StoreError` where there is no job. It is read again when it has changed."""
        if not self.description.exists():
            return self.changed({})
        state = self.description.stat()
        return _job(self, state.st_mtime_ns, state.st_ino, state.st_size)

    def changed(self, settings: Mapping[str, Any]) -> Job:
        """Its job with other settings, not yet written: a command that fails changes nothing."""
        if not self.description.exists():
            self.reading().close()
            raise ConfigError(f"{self.path} has no job.toml")
        return config.resolve(config.merged(config.read(self.description), settings))

    def reading(self, *, verified: bool = True) -> Ledger:
        """Its ledger, to read; raises `StoreError` where there is none, and makes none. `verified`: see `Database`."""
        ledger = Ledger(self.ledger, read_only=True, verified=verified)
        if verified and self._drafts():
            with suppress(StoreError), locked(self.ledger):  # unless somebody is writing them
                self.discard_drafts()
        return ledger

    def discard_drafts(self) -> None:
        """Remove files that a killed command was writing; only for the holder of the lock."""
        for draft in self._drafts():
            files.discard(draft)

    def _drafts(self) -> list[Path]:
        named = (self.path / f"{name}{files.NEW}" for name in (DESCRIPTION, "job.seal", "corpus.seal", REPORT))
        return [
            *(path for path in named if path.exists()),
            *CorpusFolder(self.corpus).drafts(),
            *self.path.glob(f"shard/*{files.NEW}"),
            *self.path.glob(f"{SHARED}*"),
        ]

    @contextmanager
    def writing(self) -> Iterator[Ledger]:
        """Its ledger, with nobody else writing; raises `StoreError` where there is none, and makes none."""
        self.reading(verified=False).close()  # It is verified when it is opened to write.
        with Ledger(self.ledger) as ledger:
            self.discard_drafts()
            yield ledger

    @property
    def own_files(self) -> FolderFiles:
        """What a job writes into it."""
        return job_files(self.path)

    @property
    def holds_job(self) -> bool:
        """Whether a command has worked in it, whatever is left of that."""
        return self.own_files.holds(self.path)

    def check_writable(self, *, fresh: bool = False) -> None:
        """Raise `ConfigError` if a job here would write over files of others, or with `fresh` if any are there."""
        if fresh:
            self.own_files.check_fresh(self.path)
        else:
            self.own_files.check_new(self.path)

    def start_over(self, *, delete_archive: bool = False) -> None:
        """Remove what jobs have written into this folder, and nothing else; not while one runs there.

        The archive of what was fetched is set aside, unless it is to be deleted. Raises `ConfigError` where there are
        files of others.
        """
        self.check_writable(fresh=True)
        if not self.holds_job:
            return
        with locked(self.ledger):
            if not delete_archive:
                for job in (self, JobFolder(self.path / MINED_SITES)):
                    job.set_archive_aside(job.free_archive)
            self.own_files.delete(self.path)

    @property
    def free_archive(self) -> Path:
        """Where what was fetched may be set aside."""
        return next(path for path in (self.path / f"warc-{number}" for number in count(1)) if not path.exists())

    def set_archive_aside(self, aside: Path) -> None:
        """Move the archive; nothing happens if there is none."""
        if not self.archive.is_dir() or not any(self.archive.iterdir()):
            return
        try:
            aside.parent.mkdir(exist_ok=True)
            self.archive.rename(aside)
        except OSError as error:
            raise files.write_fault(aside, error) from error

    def back_up(self, copy: Path) -> None:
        """Copy the ledger as it is at one moment, even while a process writes it; that process does not wait."""
        back_up(self.ledger, copy)


@lru_cache(maxsize=64)  # reading it takes as long as a search
def _job(folder: JobFolder, *_state: int) -> Job:
    return folder.changed({})


def not_mined(folder: Path, ledger: Ledger) -> ConfigError:
    """What to say where nothing was mined: `pair` helps, unless the job has no page that could be paired."""
    where = shlex.quote(str(folder))
    if ledger.recall("ended") and next(ledger.pages(), None) is None:
        return ConfigError(f"{folder} has no pages, and so no corpus. To see why, run: bitrawl status {where}")
    return ConfigError(f"{folder} has not been mined yet. Run: bitrawl pair {where}")


class Buckets(NamedTuple):
    """Remus, section 3.3."""

    boundaries: tuple[float, float]
    counts: tuple[int, int, int]  # pages: HIGH, MEDIUM, NORMAL
    proposed: tuple[float, float]  # by the pages so far


def tune_job(folder: JobFolder, settings: Mapping[str, Any]) -> None:
    """Write other boundaries into the job file. A crawl that runs there reads them after its next visit."""
    job = folder.changed(settings)
    _check(job.strategy)
    config.write(job, folder.description)


def buckets_of(folder: JobFolder) -> Buckets:
    job = folder.job()
    _check(job.strategy)
    with folder.reading() as ledger:
        values = perplexities(ledger)
    high, medium = job.topic.buckets
    counts = (sum(value <= high for value in values), sum(high < value <= medium for value in values))
    proposed = tuple(boundaries(values))
    return Buckets((high, medium), (*counts, len(values) - sum(counts)), (proposed[0], proposed[1]))


def _check(strategy: str) -> None:
    if strategy != Strategy.PERPLEXITY:
        raise ConfigError(f"this job has the strategy {strategy}; only the strategy perplexity has buckets")
