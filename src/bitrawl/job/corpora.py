"""The corpora of a folder, to read: those of a job by its ledger, those of a merge or of a copy by their JSONL files."""

import gzip
import shlex
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Protocol

from bitrawl.corpus.export import CorpusHeader, corpus_headers
from bitrawl.corpus.units import CorpusPage, CorpusUnit, page_of, read_pages, read_units, unit_of
from bitrawl.errors import ConfigError
from bitrawl.file_names import CORPUS, LEDGER, MERGED, PARTS
from bitrawl.job.exporting import corpus_pages, corpus_units
from bitrawl.job.reporting import written_figures
from bitrawl.model import Language
from bitrawl.store.folder import JobFolder, not_mined
from bitrawl.store.folder_kinds import (
    FolderKind,
    kind_of,
    languages_of_run,
    merge_description,
    no_corpus_of_search,
    no_job,
)
from bitrawl.store.ledger_facts import language_pairs
from bitrawl.store.stored_findings import Findings

_PAIRS, _PAGES = ".sentences.jsonl", ".documents.jsonl"


class Corpora(Protocol):
    """What a folder holds, in the languages of its corpora."""

    @property
    def headers(self) -> Sequence[CorpusHeader]: ...

    def counts(self) -> dict[str, int]:
        """Segment pairs by the name of the corpus; those of one language are not counted."""

    def units(self, languages: Sequence[str] = ()) -> Iterator[CorpusUnit]:
        """Of all pairs of languages, or of that pair, in any order."""

    def pages(self) -> Iterator[CorpusPage]:
        """Of a corpus in one language."""


def corpora_in(folder: Path) -> Corpora:
    """Raises `ConfigError` if the folder has no corpus yet, and `StoreError` if it holds neither a job nor a corpus."""
    match kind_of(folder):
        case FolderKind.RUN:
            merged = folder / MERGED
            if len(languages_of_run(folder)) == 1:
                return _PartCorpora(folder)
            if kind_of(merged) is not FolderKind.MERGED:
                where = shlex.quote(str(folder))
                raise ConfigError(f"{folder} has not been merged yet. Run: bitrawl export {where}")
            return _FileCorpora(folder, merged / CORPUS)
        case FolderKind.MERGED:
            return _FileCorpora(folder, folder / CORPUS)
        case FolderKind.COPY:
            return _FileCorpora(folder, folder)
        case FolderKind.SEARCH:
            raise no_corpus_of_search(folder)
        case FolderKind.JOB:
            return _JobCorpora(JobFolder(folder))
        case _:
            raise no_job(folder)


class _JobCorpora:
    """By the thresholds and verdicts of the job as they are now."""

    def __init__(self, where: JobFolder) -> None:
        self._where = where
        self.headers = corpus_headers(where.job().languages(), 0.0)
        with where.reading() as ledger:
            if not Findings(ledger).begun():
                raise not_mined(where.path, ledger)

    def counts(self) -> dict[str, int]:
        with self._where.reading() as ledger:
            return {pair.name: pair.segments for pair in language_pairs(ledger)}

    def units(self, languages: Sequence[str] = ()) -> Iterator[CorpusUnit]:
        pair = [Language(code) for code in languages]
        return (unit_of(unit, header) for header, unit in corpus_units(self._where.job(), self._where.path, pair))

    def pages(self) -> Iterator[CorpusPage]:
        with self._where.reading() as ledger:
            yield from map(page_of, corpus_pages(self._where.job(), ledger))


class _PartCorpora:
    """The parts of a run in one language, which are not merged."""

    def __init__(self, folder: Path) -> None:
        self._parts = [_JobCorpora(JobFolder(path.parent)) for path in sorted((folder / PARTS).glob(f"*/{LEDGER}"))]
        self.headers = corpus_headers([Language(code) for code in languages_of_run(folder)], 0.0)

    def counts(self) -> dict[str, int]:
        return {}

    def units(self, languages: Sequence[str] = ()) -> Iterator[CorpusUnit]:  # noqa: ARG002 - there are none
        return iter(())

    def pages(self) -> Iterator[CorpusPage]:
        return chain.from_iterable(part.pages() for part in self._parts)


class _FileCorpora:
    """As they were written last."""

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
                yield from read_units(self._corpus, header.name)

    def pages(self) -> Iterator[CorpusPage]:
        for header in self.headers:
            if len(header.languages) == 1:
                yield from read_pages(self._corpus, header.name)


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """A file of a corpus, compressed or not. What is wrong with it is a `ConfigError`."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            yield file  # type: ignore[misc]
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise ConfigError(f"{path} is damaged: {error}; export it again") from error


def _files(corpus: Path, ending: str) -> list[Path]:
    return sorted(chain(corpus.glob(f"*{ending}"), corpus.glob(f"*{ending}.gz")))


def _name(path: Path, ending: str) -> str:
    return path.name.removesuffix(".gz").removesuffix(ending)


def _pair(corpus: Path, name: str) -> tuple[Language, ...]:
    """By its first unit, since a code may have a hyphen too; nothing if there is none."""
    first = next(read_units(corpus, name), None)
    return (Language(first.lang_a), Language(first.lang_b)) if first else ()
