"""A folder that bitrawl has made: each kind of folder is a class, which knows what its corpus, figures and report are.

`open_folder` finds the kind. A question that makes no sense for a kind raises an error that says what the folder is, and
what to name instead. Each question loads only what answers it.
"""

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import msgspec

from bitrawl import arguments
from bitrawl.config import Group, Job, described
from bitrawl.corpus import MergeFacts
from bitrawl.errors import ConfigError, StoreError
from bitrawl.file_names import CARD, FOUND_SITES, MERGED, MINED_SITES, PARTS, REPORT, SHARD, SITES_TABLE
from bitrawl.folder_files import named
from bitrawl.store.folder import Buckets, JobFolder, buckets_of, tune_job
from bitrawl.store.folder_kinds import (
    FolderKind,
    export_command,
    kind_of,
    languages_of_run,
    merged_jobs,
    no_corpus_of_search,
    no_job,
)

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    from bitrawl.corpus import Corpora, CorpusPage, CorpusParagraph, CorpusUnit, TermPair
    from bitrawl.facts import JobFacts, LanguagePair, LogLine, SiteFacts
    from bitrawl.job.corpora import CorpusStatus
    from bitrawl.job.folder_check import Checked
    from bitrawl.job.refreshing import RoundChanges
    from bitrawl.model import Page, PagePair
    from bitrawl.review import CorpusSelection
    from bitrawl.store.ledger import Ledger

Tell = Callable[[str], None]


class StartOver(Enum):
    """Whether a job starts over, and what becomes of the archive of what was fetched."""

    NO = ""
    KEEP_ARCHIVE = "the archive is set aside"
    DELETE_ARCHIVE = "the archive is deleted"

    def __bool__(self) -> bool:
        return self is not StartOver.NO


class OpenedFolder:
    """What all kinds have. Nothing is kept open: each call reads the folder as it is then."""

    kind: ClassVar[FolderKind]

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)

    def __repr__(self) -> str:
        return f"bitrawl.open({str(self.folder)!r})"

    @property
    def merged(self) -> str:
        """The address of its merged corpus, if it has one."""
        return str(self.folder)

    def verify(self) -> None:
        """Raise `StoreError` if the ledger of a job is missing or damaged."""

    def corpora(self) -> "Corpora":
        """Raises `ConfigError` if there is no corpus yet."""
        raise no_job(self.folder)

    def units(self, langs: str | Sequence[str] = ()) -> Iterator["CorpusUnit | CorpusPage"]:
        """The corpus, entry by entry, as its JSON lines have it: by verdicts and thresholds, merged, in the same order.

        These are `CorpusUnit`s; of a job in one language, they are `CorpusPage`s. With `langs="en,fr"`, those of one
        pair of languages. Verdicts that were given since the corpus was written count already.
        """
        languages = arguments.pair_or_none("langs", langs)
        corpora = self.corpora()
        pairs = [header.languages for header in corpora.headers if len(header.languages) == 2]
        if pairs or not corpora.headers:
            check_pair(languages, pairs, self.folder)
            return corpora.units(languages)
        if languages:
            raise ConfigError(f"{self.folder} is a job in one language ({corpora.headers[0].name}); leave out langs")
        return corpora.pages()

    def to_pandas(self, langs: str | Sequence[str] = ()) -> "pd.DataFrame":
        """The corpus as a data frame, with the columns of its JSON lines. Needs pandas."""
        from bitrawl.corpus import EntryTable

        return EntryTable(self.units(langs), self._has_pages()).to_pandas()

    def to_dataset(self, langs: str | Sequence[str] = ()) -> "datasets.Dataset":
        """The corpus as a data set of Hugging Face, with the columns of its JSON lines. Needs `datasets`."""
        from bitrawl.corpus import EntryTable

        return EntryTable(self.units(langs), self._has_pages()).to_dataset()

    def sample(
        self, size: int = 50, *, seed: int = 0, langs: str | Sequence[str] = ()
    ) -> "list[CorpusUnit | CorpusPage]":
        """Some entries of the corpus to read, even over sites and scores; the same for the same seed."""
        from bitrawl.review import SpreadSample

        size, seed = arguments.whole_number("size", size, 1), arguments.whole_number("seed", seed)
        return SpreadSample.drawn(self.units(langs), size, lambda entry: entry.stratum, seed=seed)

    def sample_texts(
        self, size: int, *, seed: int = 0
    ) -> "tuple[list[CorpusUnit], list[tuple[CorpusPage, CorpusParagraph]]]":
        """Units of the corpora in two languages, and paragraphs of those in one, each even over sites and scores."""
        from bitrawl.review import SpreadSample

        def stratum_of(entry: "tuple[CorpusPage, CorpusParagraph]") -> tuple[str, float, tuple[str, ...]]:
            site, _, texts = entry[0].stratum
            return site, 0.0, (*texts, entry[1].id, entry[1].text)

        corpora = self.corpora()
        units = SpreadSample.drawn(corpora.units(), size, lambda unit: unit.stratum, seed=seed)
        if all(len(header.languages) == 2 for header in corpora.headers):
            return units, []
        paragraphs = ((page, paragraph) for page in corpora.pages() for paragraph in page.paragraphs)
        return units, SpreadSample.drawn(paragraphs, size, stratum_of, seed=seed)

    def terms(
        self,
        langs: str | Sequence[str] = (),
        *,
        most: int = arguments.TERM_PAIRS,
        min_score: float = arguments.TERM_PAIR_SCORE,
    ) -> "list[TermPair]":
        """The terms of the corpus with their translations, the most typical first; empty if it supports none.

        `langs` chooses the pair of languages where there are several, and which of the two comes first.
        """
        name = "-".join(arguments.pair_or_none("langs", langs))
        most, min_score = arguments.whole_number("most", most, 1), arguments.share("min_score", min_score)
        return self.term_pairs(name, most, min_score=min_score)

    def term_pairs(
        self,
        name: str = "",
        most: int = arguments.TERM_PAIRS,
        *,
        min_score: float = arguments.TERM_PAIR_SCORE,
        tell: Tell = lambda _line: None,
    ) -> "list[TermPair]":
        """The terms of the corpus with that name: "en-fr", or "fr-en" for French first."""
        from bitrawl.corpus import bilingual_terms

        return bilingual_terms(self.corpora(), self.folder, name, most, min_score=min_score, tell=tell)

    def pages(self) -> Iterator["Page"]:
        raise self._no_job()

    def pairs(self) -> Iterator["PagePair"]:
        raise self._no_job()

    def changes(self, since: str = "") -> "RoundChanges":
        raise no_job(self.folder)

    def selections(self, tables: Mapping[str, Any]) -> "Sequence[CorpusSelection]":
        """What an export with these tables of a job file would write, and what each threshold would leave out."""
        raise no_job(self.folder)

    def replaced(self, tables: Mapping[str, Any], to: Path | None = None) -> str:
        """What an export with these tables changes in files that are there already; empty for nothing."""
        raise no_job(self.folder)

    def _no_job(self) -> ConfigError:
        return ConfigError(str(no_job(self.folder)))

    def _has_pages(self) -> bool:
        headers = self.corpora().headers
        return bool(headers) and all(len(header.languages) == 1 for header in headers)


class OpenedJob(OpenedFolder):
    """A job, while it runs or after; a new one may begin in a folder that is not there yet."""

    kind = FolderKind.JOB

    def __init__(self, folder: str | PathLike[str]) -> None:
        super().__init__(folder)
        self.files = JobFolder(self.folder)

    def verify(self) -> None:
        self.files.reading().close()

    def corpora(self) -> "Corpora":
        from bitrawl.job.corpora import JobCorpora

        return JobCorpora(self.files)

    def status(self) -> "JobFacts":
        """How far the job is, and whether it is running."""
        from bitrawl.job.reporting import sound, status

        return sound(status(self.files))

    def facts(self) -> "JobFacts":
        """All that its report says."""
        from bitrawl.job.reporting import gather, sound

        return sound(gather(self.folder))

    def asked(self) -> "Job":
        """What its file says; the defaults where it has none."""
        from bitrawl.job.reporting import job_asked

        return job_asked(self.files)

    def found(self) -> "dict[str, LanguagePair]":
        """What was found so far, by the name of the corpus; nothing where there is no job yet."""
        from bitrawl.job.reporting import found_so_far

        return found_so_far(self.files)

    def is_stale(self) -> bool:
        """Whether people have given verdicts, taken them back or changed thresholds since the corpus was written."""
        from bitrawl.job.reporting import is_stale

        return is_stale(self.files)

    def sites_visited(self, most: int) -> "list[SiteFacts]":
        """What each site has brought so far, those with the most pairs first; nothing where that cannot be read now."""
        from bitrawl.store.ledger_facts import visited_sites

        try:
            with self.files.reading(verified=False) as ledger:
                return visited_sites(ledger, most)
        except StoreError:
            return []

    def log(self, *, after: int = 0) -> Iterator["LogLine"]:
        """The fetches in the order in which they were made, from the number after this."""
        from bitrawl.store.ledger_facts import log

        with self.files.reading() as ledger:
            yield from log(ledger, after=after)

    def pages(self) -> Iterator["Page"]:
        """The pages, site by site; what recurs on a site is boilerplate."""
        from bitrawl.job.pages import job_pages

        return job_pages(self.files)

    def pairs(self) -> Iterator["PagePair"]:
        """The pairs of pages that were found, also partial ones, whatever people said, by languages and site by site."""
        from bitrawl.store.stored_findings import Findings

        with self.files.reading() as ledger:
            findings = Findings(ledger)
            for languages in findings.language_pairs():
                yield from findings.pairs(*languages)

    def changes(self, since: str = "") -> "RoundChanges":
        """What is new, changed and gone since the end of a round ("3"), or since a date ("2026-11-18")."""
        from bitrawl.job.refreshing import changes

        return changes(self.files, since)

    def check(self, *, repair: bool = False) -> Iterator["Checked"]:
        """Whether each of its parts is as it was written. Without `repair` nothing is changed."""
        from bitrawl.job.folder_check import check

        return check(self.files, repair=repair)

    def report(self) -> str:
        """Write the report, one HTML file, and tell where it is."""
        from bitrawl.job.reporting import write_report

        self.files.job()
        return str(write_report(self.folder))

    def export(
        self, *, only: bool = False, to: Path | None = None, tell: Tell = lambda _: None, **settings: Any
    ) -> Path:
        """Write the corpus again; settings as the flags of `bitrawl export`: `formats="tmx,moses", min_score=0.8`.

        The job keeps these settings. Formats that are there already are kept and written again; with `only` they are
        deleted. With `to`, the corpus goes into that folder, and the job stays as it is.
        """
        from bitrawl.job.running import export, export_copy

        only, tables = arguments.yes_or_no("only", only), described(settings, [Group.CORPUS])
        job = self._to_write(tables)
        if to is not None:
            export_copy(job, self.files, to, only=only)
            return to
        export(self.files, tables, only=only)
        return self.files.corpus

    def selections(self, tables: Mapping[str, Any]) -> "Sequence[CorpusSelection]":
        from bitrawl.review import selections

        return list(selections(self._to_write(tables), self.files))

    def replaced(self, tables: Mapping[str, Any], to: Path | None = None) -> str:
        before, after = self.files.job(), self._to_write(tables)
        if to is not None:  # its threshold may be that of an earlier command
            is_copy = kind_of(to) is FolderKind.COPY
            return f"All files in {to} are written again with --min-score {after.judge.score:g}." if is_copy else ""
        scores, changes = (before.judge.score, after.judge.score), list[str]()
        if scores[0] != scores[1]:
            changes.append(f"--min-score {scores[1]:g} (it was {scores[0]:g})")
        if (accepted := after.export.accepted_only) != before.export.accepted_only:
            changes.append("only what a person accepted" if accepted else "also what no person has judged")
        if (hidden := after.export.anonymise) != before.export.anonymise:
            changes.append(f"--anonymise {hidden} (it was {before.export.anonymise})")
        if not changes:
            return ""
        return (
            f"All files in {self.files.corpus} are written again with {' and '.join(changes)}, which the job keeps;"
            " to leave them as they are and write a copy, use --to DIR."
        )

    def _to_write(self, tables: Mapping[str, Any]) -> Job:
        """The job with these settings, to write its corpus by."""
        return self.files.changed(tables)

    def tune(self, tables: Mapping[str, Any]) -> None:
        """Move the boundaries of a crawl by perplexity, even while it runs."""
        tune_job(self.files, tables)

    def buckets(self) -> Buckets:
        """The boundaries of a crawl by perplexity, and how many pages are between them."""
        return buckets_of(self.files)

    def begin_round(self, job: Job, *, without: Iterable[str] = ()) -> None:
        """Begin the next round of a finished job, without these sites; one that is not finished goes on."""
        from bitrawl.job.fetching import SystemClock
        from bitrawl.job.refreshing import begin_round

        begin_round(job, self.files, SystemClock(), without=without)

    def write_shards(self, ledger: "Ledger") -> None:
        """Write what merging reads, on any machine."""
        from bitrawl.job.exporting import write_shards

        write_shards(self.files.job(), ledger, self.folder / SHARD)

    def archive_growth(self, before: Mapping[str, int]) -> Iterator[tuple[Path, int, int]]:
        """From where to where each file of the archive has grown since it was so long; from 0 if it is another one now."""
        from bitrawl.archive.writing import growth

        yield from growth(self.files.archive, before)

    def set_aside(self) -> Path | None:
        """Where what was fetched goes if the job starts over; None if there is nothing."""
        return self.files.free_archive if self.files.archive.is_dir() else None


class OpenedSearch(OpenedJob):
    """A search for sites: a job that has a list of sites in place of a corpus."""

    kind = FolderKind.SEARCH

    @property
    def sites(self) -> Path:
        """The sites found, as `mine --sites` takes them."""
        return self.folder / FOUND_SITES

    @property
    def table(self) -> Path:
        """All sites that were judged, for people."""
        return self.folder / SITES_TABLE

    @property
    def mined(self) -> OpenedJob:
        """The job that mines the sites found."""
        return OpenedJob(self.folder / MINED_SITES)

    def corpora(self) -> "Corpora":
        raise no_corpus_of_search(self.folder)

    def report(self) -> str:
        from bitrawl.job.site_search import draw_report

        self.files.job()
        return str(draw_report(self.files) or super().report())

    def _to_write(self, tables: Mapping[str, Any]) -> Job:
        raise no_corpus_of_search(self.folder)


class OpenedCopy(OpenedFolder):
    """A corpus without its job, as `export --to` writes it."""

    kind = FolderKind.COPY

    @property
    def corpus(self) -> Path:
        """The folder of its files."""
        return self.folder

    def corpora(self) -> "Corpora":
        from bitrawl.job.corpora import FileCorpora

        return FileCorpora(self.folder, self.corpus)

    def status(self) -> "CorpusStatus":
        """What it was merged from, and its figures."""
        from bitrawl.job.corpora import CorpusStatus

        return CorpusStatus.of(self.folder, self.kind, self.corpus)

    def check(self, *, repair: bool = False) -> Iterator["Checked"]:
        """Whether its files are as they were written."""
        from bitrawl.job.folder_check import checked_corpus

        yield checked_corpus(self.corpus)

    def report(self) -> str:
        raise ConfigError(
            f"{self.folder} is a corpus without its job, and has no report; {self.folder / CARD} describes it"
        )

    def export(self, **_settings: Any) -> Any:
        raise no_job(self.folder)


class OpenedMerge(OpenedCopy):
    """A merged corpus."""

    kind = FolderKind.MERGED

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus"

    def report(self) -> str:
        """Where the report is, which the merge has written."""
        if not (report := self.folder / REPORT).exists():
            raise ConfigError(f"{report} is not there. Run: {export_command(self.corpus)}")
        return str(report)

    def export(
        self, *, only: bool = False, to: Path | None = None, tell: Tell = lambda _line: None, **settings: Any
    ) -> MergeFacts:
        """Merge the jobs again, with other settings, as the flags of `bitrawl export`."""
        tables = described(settings, [Group.CORPUS])
        return self.merge_again(tables, only=arguments.yes_or_no("only", only), to=to, tell=tell)

    def merge(
        self, folders: Sequence[Path], tables: Mapping[str, Any], *, langs: Sequence[str] = (), tell: Tell
    ) -> MergeFacts:
        """Merge the corpora of these jobs, in this order, by these tables of a job file. The same jobs give the same bytes."""
        from bitrawl.job.job_merge import merge

        return merge(folders, self.folder, tables, langs=langs, tell=tell)

    def merge_again(
        self,
        tables: Mapping[str, Any],
        *,
        jobs: Sequence[Path] = (),
        only: bool = False,
        to: Path | None = None,
        tell: Tell,
    ) -> MergeFacts:
        """Merge the same jobs, or these, as they are now."""
        from bitrawl.job.job_merge import merge_again

        return merge_again(self.folder, tables, jobs=jobs, only=only, to=to, tell=tell)

    def selections(self, tables: Mapping[str, Any]) -> NoReturn:
        raise _no_selection()

    def replaced(self, tables: Mapping[str, Any], to: Path | None = None) -> str:
        return _merge_replaced(self.corpus, tables, to)

    def _no_job(self) -> ConfigError:
        return ConfigError(f"{self.folder} is a merged corpus; open one of its jobs: {named(merged_jobs(self.folder))}")


class OpenedRun(OpenedFolder):
    """A run over many sites, whose corpus can be read; `bitrawl.cluster` knows the rest of it."""

    kind = FolderKind.RUN

    def __init__(self, address: str | PathLike[str]) -> None:
        self.address = str(address).rstrip("/")
        super().__init__(self.address.removeprefix("file://"))

    @property
    def parts(self) -> str:
        """The address of its parts."""
        return f"{self.address}/{PARTS}"

    @property
    def merged(self) -> str:
        return f"{self.address}/{MERGED}"

    def corpora(self) -> "Corpora":
        from bitrawl.job.corpora import FileCorpora, PartCorpora

        languages = languages_of_run(self.folder)
        if len(languages) == 1:
            return PartCorpora(self.folder, languages[0])
        return FileCorpora(self.folder, self.merged_here() / "corpus")

    def merged_here(self) -> Path:
        """The folder of its merged corpus on this machine."""
        merged = self.folder / MERGED
        if kind_of(merged) is not FolderKind.MERGED:
            where = shlex.quote(str(self.folder))
            raise ConfigError(f"{self.folder} has not been merged yet. Run: bitrawl export {where}")
        return merged

    def jobs_here(self) -> AbstractContextManager[tuple[Iterable[Path], int]]:
        """The jobs of its finished parts, on this machine, and the number of its round."""
        raise self.nothing_there()

    def changes(self, since: str = "") -> "RoundChanges":
        """What has changed in all parts together, before they are merged."""
        from bitrawl.job.refreshing import changes_of_parts

        with self.jobs_here() as (jobs, last):
            return changes_of_parts(map(JobFolder, jobs), since, last, self.address)

    def check(self, *, repair: bool = False) -> Iterator["Checked"]:
        """Whether the files of its merged corpus are as they were written; nothing if there are none."""
        from bitrawl.job.folder_check import check_corpus

        if (corpus := check_corpus(self.folder / MERGED / "corpus")) is not None:
            yield corpus

    @staticmethod
    def check_settings(job: Job, *, refresh: bool = False) -> None:
        """Raise `ConfigError` for whatever only shows on the way, before the job is divided among machines."""
        from bitrawl.job import described as descriptions
        from bitrawl.job import running
        from bitrawl.job.refreshing import check_refresh

        descriptions.check(job)
        running.check(job)
        if refresh:
            check_refresh(job)

    def nothing_there(self) -> StoreError:
        """What to say where there is no run."""
        return no_job(self.folder)

    def selections(self, tables: Mapping[str, Any]) -> NoReturn:
        raise _no_selection()

    def replaced(self, tables: Mapping[str, Any], to: Path | None = None) -> str:
        return _merge_replaced(f"{self.merged}/corpus", tables, to)


_KINDS = (OpenedJob, OpenedSearch, OpenedRun, OpenedMerge, OpenedCopy)


def open_folder(folder: Path) -> OpenedJob | OpenedMerge | OpenedCopy | OpenedRun:
    """Raises `StoreError` for a folder that holds nothing of the kind."""
    kind = kind_of(folder)
    for opened in _KINDS:
        if opened.kind is kind:
            return opened(folder)
    raise no_job(folder)


def _no_selection() -> ConfigError:
    return ConfigError("--dry-run shows what the thresholds of one job leave out; give the folder of a job")


def _merge_replaced(corpus: str | PathLike[str], tables: Mapping[str, Any], to: Path | None) -> str:
    """What an export changes in the files of a merged corpus."""
    from bitrawl.job.exporting import selecting

    if to is not None or not selecting(tables):
        return ""
    return (
        f"All files in {corpus} are written again with the threshold, which the corpus keeps; to leave them as they"
        " are and write a copy, use --to DIR."
    )


def check_pair(languages: Sequence[str], pairs: Collection[Sequence[str]], folder: Path) -> None:
    """Raise `ConfigError` unless a corpus of the folder is in these languages, whichever comes first."""
    if languages and set(languages) not in map(set, pairs):
        there = ", ".join("-".join(pair) for pair in pairs)
        raise ConfigError(f"{folder} has no corpus in {' and '.join(languages)}; choose one of {there}")


class MergeResult(msgspec.Struct, frozen=True):
    """Where a merged corpus is, and what was merged."""

    folder: Path
    status: MergeFacts

    def open(self) -> OpenedMerge:
        """The merged corpus."""
        return OpenedMerge(self.folder)
