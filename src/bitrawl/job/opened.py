"""A job folder, to read what it has found, while it runs or after."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitrawl.config.settings import Group, described
from bitrawl.errors import ConfigError
from bitrawl.facts import JobFacts
from bitrawl.job import reporting, running
from bitrawl.job.folder import JobFolder
from bitrawl.job.pages import job_pages
from bitrawl.job.stored_findings import Findings
from bitrawl.model import Page, PagePair, SegmentPair

if TYPE_CHECKING:
    import pandas as pd


class OpenedJob:
    """What `bitrawl.open` gives. Nothing is kept open: each call reads the folder as it is then."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self._folder = JobFolder(self.folder)
        self._folder.reading().close()

    def __repr__(self) -> str:
        return f"bitrawl.open({str(self.folder)!r})"

    def status(self) -> JobFacts:
        """How far the job is, and whether it is running."""
        return reporting.status(self._folder)

    def pages(self) -> Iterator[Page]:
        """The pages, site by site; what recurs on a site is boilerplate."""
        return job_pages(self._folder)

    def pairs(self) -> Iterator[PagePair]:
        """The pairs of pages, by languages and site by site."""
        with self._folder.reading() as ledger:
            findings = Findings(ledger)
            for languages in findings.language_pairs():
                yield from findings.pairs(*languages)

    def segments(self, min_score: float = 0.0) -> Iterator[SegmentPair]:
        """The aligned segments with at least that score, flagged or not, by languages and in the order of the pages."""
        for _languages, segment in self._segments(min_score):
            yield segment

    def export(self, *, only: bool = False, **settings: Any) -> Path:
        """Write the corpus again; settings as the flags of `bitrawl export`: `formats="tmx,moses", min_score=0.8`.

        Formats that are there already are kept and written again; with `only` they are deleted.
        """
        running.export(self._folder.changed(described(settings, [Group.CORPUS])), self._folder, only=only)
        return self._folder.corpus

    def to_pandas(self, min_score: float = 0.0) -> "pd.DataFrame":
        """The segments as a data frame: languages, URLs, texts, score, type, flags. Needs pandas."""
        try:
            import pandas as pd  # noqa: PLC0415 - not a dependency
        except ModuleNotFoundError as error:
            raise ConfigError("to_pandas needs pandas. Run: pip install pandas") from error
        columns = ("lang_a", "lang_b", "url_a", "url_b", "text_a", "text_b", "score", "type", "flags")
        rows = (
            (
                *languages,
                str(pair.url_a),
                str(pair.url_b),
                pair.a.text,
                pair.b.text,
                pair.score,
                pair.type,
                list(pair.flags),
            )
            for languages, pair in self._segments(min_score)
        )
        return pd.DataFrame(rows, columns=list(columns))

    def _segments(self, min_score: float) -> Iterator[tuple[tuple[str, str], SegmentPair]]:
        with self._folder.reading() as ledger:
            findings = Findings(ledger)
            for languages in findings.language_pairs():
                for segment in findings.segments(*languages):
                    if segment.score >= min_score:
                        yield languages, segment
