"""The corpora of a folder, to read: those of a job by its ledger, those of a merge or of a copy by their JSONL files."""

import gzip
import shlex
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from bitrawl.corpus.export import CorpusHeader, corpus_headers
from bitrawl.corpus.jsonl import read_paragraphs, read_units
from bitrawl.corpus.sampling import CorpusParagraph
from bitrawl.errors import ConfigError
from bitrawl.files import NO_JSON
from bitrawl.job.exporting import corpus_pages, corpus_units
from bitrawl.job.folder import JobFolder, not_mined
from bitrawl.job.folder_kinds import (
    MERGED,
    PARTS,
    SUMMARY,
    FolderKind,
    kind_of,
    languages_of_run,
    no_corpus_of_search,
    no_job,
)
from bitrawl.job.ledger_facts import language_pairs
from bitrawl.job.stored_findings import Findings
from bitrawl.model import Language, TranslationUnit

Unit = tuple[CorpusHeader, TranslationUnit]
_PAIRS, _PAGES = ".sentences.jsonl", ".documents.jsonl"


class Corpora(Protocol):
    """What a folder holds, in the languages of its corpora."""

    @property
    def headers(self) -> Sequence[CorpusHeader]: ...

    def counts(self) -> dict[str, int]:
        """Segment pairs by the name of the corpus; those of one language are not counted."""

    def units(self, languages: Sequence[Language] = ()) -> Iterator[Unit]:
        """Of all pairs of languages, or of that pair, in any order."""

    def paragraphs(self) -> Iterator[CorpusParagraph]:
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
            return _FileCorpora(folder, merged / "corpus")
        case FolderKind.MERGED:
            return _FileCorpora(folder, folder / "corpus")
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

    def units(self, languages: Sequence[Language] = ()) -> Iterator[Unit]:
        return corpus_units(self._where.job(), self._where.path, languages)

    def paragraphs(self) -> Iterator[CorpusParagraph]:
        with self._where.reading() as ledger:
            for page in corpus_pages(self._where.job(), ledger):
                for paragraph in page.paragraphs:
                    if not paragraph.boilerplate:
                        yield CorpusParagraph(page.url, paragraph.kind, paragraph.text)


class _PartCorpora:
    """The parts of a run in one language, which are not merged."""

    def __init__(self, folder: Path) -> None:
        self._parts = [_JobCorpora(JobFolder(path.parent)) for path in sorted((folder / PARTS).glob("*/job.sqlite"))]
        self.headers = corpus_headers([Language(code) for code in languages_of_run(folder)], 0.0)

    def counts(self) -> dict[str, int]:
        return {}

    def units(self, languages: Sequence[Language] = ()) -> Iterator[Unit]:  # noqa: ARG002 - there are none
        return iter(())

    def paragraphs(self) -> Iterator[CorpusParagraph]:
        return chain.from_iterable(part.paragraphs() for part in self._parts)


class _FileCorpora:
    """As they were written last."""

    def __init__(self, folder: Path, corpus: Path) -> None:
        self._folder, self._corpus = folder, corpus
        pairs = {_name(path, _PAIRS): path for path in _files(corpus, _PAIRS)}
        pages = {_name(path, _PAGES): path for path in _files(corpus, _PAGES)}
        alone = {name: path for name, path in pages.items() if name not in pairs}
        self._files = {header: path for name, path in pairs.items() if (header := _pair_header(path))}
        self._files |= {CorpusHeader((Language(name),), 0.0): path for name, path in alone.items()}
        if not pairs and not alone:
            where, to = shlex.quote(str(folder)), ""
            if corpus == folder:
                where, to = "JOB", f" --to {where}"
            raise ConfigError(f"{folder} has no JSONL files to read. Run: bitrawl export {where}{to} --formats jsonl")

    @property
    def headers(self) -> Sequence[CorpusHeader]:
        return list(self._files)

    def counts(self) -> dict[str, int]:
        figures = written_figures(self._corpus)
        units = {header.name: figures.get(header.name, {}).get("units") for header in self._files}
        return {name: count for name, count in units.items() if isinstance(count, int)}

    def units(self, languages: Sequence[Language] = ()) -> Iterator[Unit]:
        for header, path in self._files.items():
            if len(header.languages) == 2 and (not languages or set(header.languages) == set(languages)):
                with unpacked(path) as file:
                    for _, unit in read_units(file, path):
                        yield header, unit

    def paragraphs(self) -> Iterator[CorpusParagraph]:
        for header, path in self._files.items():
            if len(header.languages) == 1:
                with unpacked(path) as file:
                    yield from (CorpusParagraph(*paragraph) for paragraph in read_paragraphs(file, path))


def written_figures(corpus: Path) -> dict[str, dict[str, object]]:
    """What stands in the figures of a corpus folder, by the names of its corpora; nothing if they cannot be read."""
    try:
        return msgspec.json.decode((corpus / SUMMARY).read_bytes(), type=dict[str, dict[str, object]])
    except (OSError, *NO_JSON):
        return {}


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


def _pair_header(path: Path) -> CorpusHeader | None:
    """By its first line, since a code may have a hyphen too; None if the file is empty."""
    with unpacked(path) as file:
        first = next(read_units(file, path), None)
    return CorpusHeader(first[0], 0.0) if first else None
