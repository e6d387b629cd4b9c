"""A job folder or a merged corpus, to read what it holds, while the job runs or after."""

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bitrawl.config import arguments
from bitrawl.config.settings import Group, described
from bitrawl.corpus.figures import MergeFacts
from bitrawl.corpus.formats import TERM_PAIR_SCORE, TERM_PAIRS
from bitrawl.corpus.sampling import sampled
from bitrawl.corpus.term_pairs import TermPair
from bitrawl.corpus.units import CorpusEntry, data_frame, data_set, strata
from bitrawl.errors import ConfigError
from bitrawl.facts import JobFacts
from bitrawl.job import reporting, running
from bitrawl.job.corpora import corpora_in
from bitrawl.job.corpus_terms import bilingual_terms
from bitrawl.job.pages import job_pages
from bitrawl.model import Page, PagePair
from bitrawl.store.folder import JobFolder
from bitrawl.store.folder_kinds import FolderKind, kind_of, merged_jobs, named, no_job
from bitrawl.store.stored_findings import Findings

if TYPE_CHECKING:
    import datasets
    import pandas as pd

_WITHOUT_JOB = (FolderKind.RUN, FolderKind.MERGED, FolderKind.COPY)


class OpenedJob:
    """What `bitrawl.open` gives. Nothing is kept open: each call reads the folder as it is then.

    A merged corpus has units, and no pages, page pairs or status of its own.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = arguments.folder_path("folder", folder)
        self._folder = JobFolder(self.folder)
        if kind_of(self.folder) not in _WITHOUT_JOB:
            self._folder.reading().close()

    def __repr__(self) -> str:
        return f"bitrawl.open({str(self.folder)!r})"

    def units(self, langs: str | Sequence[str] = ()) -> Iterator[CorpusEntry]:
        """The corpus, entry by entry, as its JSON lines have it: by verdicts and thresholds, merged, in the same order.

        These are `CorpusUnit`s; of a job in one language, they are `CorpusPage`s. With `langs="en,fr"`, those of one
        pair of languages. Verdicts that were given since the corpus was written count already.
        """
        languages = arguments.pair_or_none("langs", langs)
        corpora = corpora_in(self.folder)
        pairs = [header.languages for header in corpora.headers if len(header.languages) == 2]
        if pairs or not corpora.headers:
            check_pair(languages, pairs, self.folder)
            return corpora.units(languages)
        if languages:
            raise ConfigError(f"{self.folder} is a job in one language ({corpora.headers[0].name}); leave out langs")
        return corpora.pages()

    def to_pandas(self, langs: str | Sequence[str] = ()) -> "pd.DataFrame":
        """The corpus as a data frame, with the columns of its JSON lines. Needs pandas."""
        return data_frame(self.units(langs), pages=self._has_pages())

    def to_dataset(self, langs: str | Sequence[str] = ()) -> "datasets.Dataset":
        """The corpus as a data set of Hugging Face, with the columns of its JSON lines. Needs `datasets`."""
        return data_set(self.units(langs), pages=self._has_pages())

    def sample(self, size: int = 50, *, seed: int = 0, langs: str | Sequence[str] = ()) -> list[CorpusEntry]:
        """Some entries of the corpus to read, even over sites and scores; the same for the same seed."""
        size, seed = arguments.whole_number("size", size, 1), arguments.whole_number("seed", seed)
        return sampled(self.units(langs), size, strata, seed=seed)

    def terms(
        self, langs: str | Sequence[str] = (), *, most: int = TERM_PAIRS, min_score: float = TERM_PAIR_SCORE
    ) -> list[TermPair]:
        """The terms of the corpus with their translations, the most typical first; empty if it supports none.

        `langs` chooses the pair of languages where there are several, and which of the two comes first.
        """
        name = "-".join(arguments.pair_or_none("langs", langs))
        most, min_score = arguments.whole_number("most", most, 1), arguments.share("min_score", min_score)
        return bilingual_terms(self.folder, name, most, min_score=min_score)

    def status(self) -> JobFacts:
        """How far the job is, and whether it is running."""
        return reporting.status(self._job())

    def pages(self) -> Iterator[Page]:
        """The pages, site by site; what recurs on a site is boilerplate."""
        return job_pages(self._job())

    def pairs(self) -> Iterator[PagePair]:
        """The pairs of pages that were found, whatever people said about them, by languages and site by site."""
        return self._pairs(self._job())

    def export(self, *, only: bool = False, **settings: Any) -> Path:
        """Write the corpus again; settings as the flags of `bitrawl export`: `formats="tmx,moses", min_score=0.8`.

        The job keeps these settings. Formats that are there already are kept and written again; with `only` they are
        deleted.
        """
        folder, only = self._job(), arguments.yes_or_no("only", only)
        running.export(folder, described(settings, [Group.CORPUS]), only=only)
        return folder.corpus

    @staticmethod
    def _pairs(folder: JobFolder) -> Iterator[PagePair]:
        with folder.reading() as ledger:
            findings = Findings(ledger)
            for languages in findings.language_pairs():
                yield from findings.pairs(*languages)

    def _job(self) -> JobFolder:
        match kind_of(self.folder):
            case FolderKind.MERGED:
                jobs = named(merged_jobs(self.folder))
                raise ConfigError(f"{self.folder} is a merged corpus; open one of its jobs: {jobs}")
            case kind if kind in _WITHOUT_JOB:
                raise ConfigError(str(no_job(self.folder)))
        return self._folder

    def _has_pages(self) -> bool:
        headers = corpora_in(self.folder).headers
        return bool(headers) and all(len(header.languages) == 1 for header in headers)


def check_pair(languages: Sequence[str], pairs: Sequence[Sequence[str]], folder: Path) -> None:
    """Raise `ConfigError` unless a corpus of the folder is in these languages, whichever comes first."""
    if languages and set(languages) not in map(set, pairs):
        there = ", ".join("-".join(pair) for pair in pairs)
        raise ConfigError(f"{folder} has no corpus in {' and '.join(languages)}; choose one of {there}")


class MergeResult(msgspec.Struct, frozen=True):
    """Where a merged corpus is, and what was merged."""

    folder: Path
    status: MergeFacts

    def open(self) -> OpenedJob:
        """The merged corpus."""
        return OpenedJob(self.folder)
