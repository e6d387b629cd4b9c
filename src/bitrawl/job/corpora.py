"""The corpora of a folder, to read: those of a job by its ledger, those of a merge or of a copy by their JSONL files."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Self

import msgspec

from bitrawl.corpus import CorpusHeader, CorpusPage, CorpusUnit
from bitrawl.errors import ConfigError
from bitrawl.file_names import LEDGER, PARTS, REPORT
from bitrawl.folder_files import named
from bitrawl.job.exporting import corpus_pages, corpus_units
from bitrawl.job.reporting import written_figures
from bitrawl.model import Language
from bitrawl.show import counted
from bitrawl.store.folder import JobFolder, not_mined
from bitrawl.store.folder_kinds import FolderKind, merge_description, merged_jobs
from bitrawl.store.ledger_facts import language_pairs
from bitrawl.store.stored_findings import Findings

_PAIRS, _PAGES = ".sentences.jsonl", ".documents.jsonl"


class CorpusStatus(msgspec.Struct, frozen=True):
    """What is known of a corpus that is merged, or without its job: it is as it was written."""

    folder: Path
    state: FolderKind
    jobs: list[str]  # that were merged
    corpora: dict[str, dict[str, object]]  # their figures, by name
    files: list[str]
    report: str = ""  # where it is; a copy has none

    @classmethod
    def of(cls, folder: Path, kind: FolderKind, corpus: Path) -> Self:
        files = sorted(path.name for path in corpus.iterdir())
        report = "" if corpus == folder else str(folder / REPORT)
        return cls(folder, kind, merged_jobs(folder), written_figures(corpus), files, report)

    @property
    def title(self) -> str:
        what = "a merged corpus" if self.report else "a corpus without its job"
        return f"{what} of {counted(len(self.jobs), 'job')}: {named(self.jobs)}" if self.jobs else what


class JobCorpora:
    """The corpora of a job by its thresholds and verdicts as they are now."""

    def __init__(self, where: JobFolder) -> None:
        self._where = where
        self.headers = CorpusHeader.of(where.job().languages())
        with where.reading() as ledger:
            if not Findings(ledger).begun():
                raise not_mined(where.path, ledger)

    def counts(self) -> dict[str, int]:
        with self._where.reading() as ledger:
            return {pair.name: pair.segments for pair in language_pairs(ledger)}

    def units(self, languages: Sequence[str] = ()) -> Iterator[CorpusUnit]:
        pair = [Language(code) for code in languages]
        return (CorpusUnit.of(unit, header) for header, unit in corpus_units(self._where.job(), self._where.path, pair))

    def pages(self) -> Iterator[CorpusPage]:
        with self._where.reading() as ledger:
            yield from map(CorpusPage.of, corpus_pages(self._where.job(), ledger))


class PartCorpora:
    """The parts of a run in one language, which are not merged."""

    def __init__(self, folder: Path, language: str) -> None:
        self._parts = [JobCorpora(JobFolder(path.parent)) for path in sorted((folder / PARTS).glob(f"*/{LEDGER}"))]
        self.headers = CorpusHeader.of([Language(language)])

    def counts(self) -> dict[str, int]:
        return {}

    def units(self, languages: Sequence[str] = ()) -> Iterator[CorpusUnit]:  # noqa: ARG002 - there are none
        return iter(())

    def pages(self) -> Iterator[CorpusPage]:
        return chain.from_iterable(part.pages() for part in self._parts)


class FileCorpora:
    """Corpora as they were written last."""

    def __init__(self, folder: Path, corpus: Path) -> None:
        self._corpus = corpus
        names = {_name(path, _PAIRS) for path in _files(corpus, _PAIRS)}
        alone = {_name(path, _PAGES) for path in _files(corpus, _PAGES)} - names
        if not names and not alone:
            where, to = shlex.quote(str(folder)), ""
            if corpus == folder:
                where, to = "JOB", f" --to {where}"
            raise ConfigError(f"{folder} has no JSONL files to read. Run: bitrawl export {where}{to} --formats jsonl")
        merged = merge_description(corpus.parent).get("corpora")
        languages = [tuple(pair) for pair in merged] if merged else [_pair(corpus, name) for name in sorted(names)]
        self.headers = [
            CorpusHeader(pair, 0.0) for pair in (*languages, *((Language(name),) for name in alone)) if pair
        ]

    def counts(self) -> dict[str, int]:
        figures = written_figures(self._corpus)
        units = {header.name: figures.get(header.name, {}).get("units") for header in self.headers}
        return {name: count for name, count in units.items() if isinstance(count, int)}

    def units(self, languages: Sequence[str] = ()) -> Iterator[CorpusUnit]:
        for header in self.headers:
            if len(header.languages) == 2 and (not languages or set(header.languages) == set(languages)):
                yield from CorpusUnit.read(self._corpus, header.name)

    def pages(self) -> Iterator[CorpusPage]:
        for header in self.headers:
            if len(header.languages) == 1:
                yield from CorpusPage.read(self._corpus, header.name)


def _files(corpus: Path, ending: str) -> list[Path]:
    return sorted(chain(corpus.glob(f"*{ending}"), corpus.glob(f"*{ending}.gz")))


def _name(path: Path, ending: str) -> str:
    return path.name.removesuffix(".gz").removesuffix(ending)


def _pair(corpus: Path, name: str) -> tuple[Language, ...]:
    """By its first unit, since a code may have a hyphen too; nothing if there is none."""
    first = next(CorpusUnit.read(corpus, name), None)
    return (Language(first.lang_a), Language(first.lang_b)) if first else ()
