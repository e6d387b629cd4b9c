"""Writes one stream of pairs, units and pages in the requested formats, and names a corpus, its files and its paragraphs."""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import msgspec

from bitrawl.corpus.formats import FORMATS, Part, corpus_format, corpus_formats
from bitrawl.errors import BitrawlError, ConfigError
from bitrawl.file_names import SUMMARY
from bitrawl.files import NEW, OLD, discard
from bitrawl.message import enumerated
from bitrawl.model import Language, Page, PagePair, TranslationUnit
from bitrawl.packages import loaded

CARD = "README.md"
"""The datasheet in a corpus folder. Under this name, `datasets.load_dataset` finds the files of the folder by it."""


class CorpusHeader(msgspec.Struct, frozen=True):
    """Which corpus is written. It is known before the content is."""

    languages: tuple[Language, ...]  # two; one for a monolingual corpus
    at: float  # when it is written, in seconds since the epoch

    @property
    def name(self) -> str:
        """The beginning of its file names: "en-fr"."""
        return "-".join(self.languages)

    def file_name(self, ending: str, *, compress: bool) -> str:
        """`en-fr.tmx`, or `en-fr.tmx.gz`."""
        return compressed(f"{self.name}.{ending}", compress=compress)


def corpus_headers(languages: Sequence[Language], at: float) -> list[CorpusHeader]:
    """The corpora of a job: one for each pair of its languages, or one for its only language."""
    sides = combinations(languages, 2) if len(languages) > 1 else [(languages[0],)]
    return [CorpusHeader(side, at) for side in sides]


def without_files(names: Sequence[str]) -> str:
    """One sentence about the corpora for which nothing was found; empty if there are none."""
    if not names:
        return ""
    return (
        f"Nothing was found for {enumerated(names)}, so there are no files for {'it' if len(names) == 1 else 'them'}."
    )


def paired_pages(pairs: int, partial: int) -> str:
    """The page pairs, and the partly translated ones if there are any: they are no page pairs anywhere."""
    kinds = {"page pair": pairs, **({"partly translated pair": partial} if partial else {})}
    return enumerated(f"{count:,} {noun}{'' if count == 1 else 's'}" for noun, count in kinds.items())


def compressed(name: str, *, compress: bool) -> str:
    """A file's name in the folder."""
    return f"{name}.gz" if compress else name


def paragraph_id(number: int) -> str:
    """The id in the cesDoc file of the page: "p1" is the first paragraph. Empty if it is not known."""
    return f"p{number + 1}" if number >= 0 else ""


Item: TypeAlias = PagePair | TranslationUnit | Page
Taken_contra = TypeVar("Taken_contra", contravariant=True)


class Exporter(Protocol[Taken_contra]):
    """A format. Opened on a folder, it returns a `write`.

    Its files are there, complete, when the block ends without error. Existing files stay until then, and also if it
    ends with an error. Nothing written is kept in memory.
    """

    def __call__(
        self, folder: Path, header: CorpusHeader, *, compress: bool = False
    ) -> AbstractContextManager[Callable[[Taken_contra], None]]:
        """`with tmx(folder, header) as write: write(unit)`."""
        ...


def file_names(header: CorpusHeader, formats: Iterable[str], *, compress: bool = False) -> list[str]:
    """The files that these formats write. For XCES, it is a folder."""
    parts = [part for name in dict.fromkeys(formats) for part in corpus_format(name).parts(len(header.languages))]
    return _file_names(header, parts, compress=compress)


def _file_names(header: CorpusHeader, parts: Iterable[Part], *, compress: bool) -> list[str]:
    first, last = header.languages[0], header.languages[-1]
    return [
        file.format(name=header.name, a=first, b=last, gz=".gz" if compress else "")
        for part in parts
        for file in part.files
    ]


def with_present(
    folder: Path, headers: Iterable[CorpusHeader], formats: Iterable[str], *, only: bool = False
) -> list[str]:
    """The formats to write so that no format of the existing corpora becomes outdated or is lost.

    The existing formats come first, sorted by name; new ones follow in the requested order. With `only`, these are just
    the requested formats, and `exporting` removes the rest.
    """
    if only:
        return list(dict.fromkeys(formats))
    present = {name for header in headers for name in _present(folder, header)}
    return list(dict.fromkeys((*sorted(present), *formats)))


def _present(folder: Path, header: CorpusHeader) -> Iterator[str]:
    """A format is present if any of its files is. A file that a user has removed comes back with the others."""
    for name, parts in corpus_formats(len(header.languages)).items():
        files = [file for compress in (False, True) for file in _file_names(header, parts, compress=compress)]
        if any((folder / file).exists() for file in files):
            yield name


@contextmanager
def exporting(
    folder: Path, header: CorpusHeader, formats: Sequence[str], *, compress: bool = False
) -> Iterator[Callable[[Item], None]]:
    """Returns a `write` that passes each item to the formats that use it. Raises `ConfigError` before opening any.

    At the end, the folder contains only what was written now for this corpus. Files of other formats would be outdated,
    so they are removed. To keep them, ask for `with_present` formats.
    """
    count = len(header.languages)
    for name in formats:
        if not corpus_format(name).parts(count):
            raise ConfigError(
                f"{name} is not a format for {header.name}; choose from {', '.join(corpus_formats(count))}"
            )
    writers: dict[type[Item], list[Callable[[Any], None]]] = {PagePair: [], TranslationUnit: [], Page: []}
    with ExitStack() as stack:
        for name in dict.fromkeys(formats):
            for part in corpus_format(name).parts(count):
                writer = stack.enter_context(_opened(name, part, folder, header, compress=compress))
                for kind in part.takes:
                    writers[kind].append(writer)

        def write(item: Item) -> None:
            for writer in writers[type(item)]:
                writer(item)

        yield write
    remove_files(folder, header, but=file_names(header, formats, compress=compress))


@contextmanager
def _opened(
    name: str, part: Part, folder: Path, header: CorpusHeader, *, compress: bool
) -> Iterator[Callable[[Any], None]]:
    """One exporter. What that of another package raises is told as an error that names the package."""
    exporter = loaded(part.exporter) if isinstance(part.exporter, str) else part.exporter
    if not FORMATS.package_of(name):
        with exporter(folder, header, compress=compress) as write:
            yield write
        return
    stack = ExitStack()
    block = FORMATS.blamed(name, exporter)(folder, header, compress=compress)
    write = FORMATS.blamed(name, stack.enter_context)(block)
    try:
        yield FORMATS.blamed(name, write)
    except BaseException:
        with suppress(BitrawlError):  # what the exporter says of it matters less
            FORMATS.blamed(name, stack.__exit__)(*sys.exc_info())
        raise
    FORMATS.blamed(name, stack.close)()


def remove_files(folder: Path, header: CorpusHeader, *, but: Collection[str] = ()) -> None:
    """Remove what an earlier or killed export has left of this corpus.

    It goes by name, because other files are not ours.
    """
    for name in corpus_names(header):
        if name not in but:
            discard(folder / name)


ABOUT = (SUMMARY, CARD)
"""What is written beside the corpora of a folder."""


def corpus_names(header: CorpusHeader) -> set[str]:
    """All names that exports of this corpus have, in any format, and what a killed one may leave. Some are folders."""
    parts = [part for parts in corpus_formats(len(header.languages)).values() for part in parts]
    names = {*_file_names(header, parts, compress=False), *_file_names(header, parts, compress=True)}
    return {name + ending for name in names for ending in ("", NEW, OLD)}


def drafts(folder: Path) -> list[Path]:
    """What a killed export has left in a corpus folder, whatever the languages. It goes by name, as above."""
    paths = [*folder.glob(f"*{NEW}"), *folder.glob(f"*/*{NEW}")]
    if not paths:
        return []
    parts = [part for languages in (1, 2) for parts in corpus_formats(languages).values() for part in parts]
    ours = re.compile("|".join([*map(re.escape, ABOUT), *(_named(file) for part in parts for file in part.files)]))
    return [path for path in paths if ours.fullmatch(path.relative_to(folder).as_posix().removesuffix(NEW))]


def _named(file: str) -> str:
    """A pattern for the names that a template stands for."""
    code = "[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*"
    return (
        re.escape(file)
        .replace(r"\{gz\}", r"(?:\.gz)?")
        .replace(r"\{name\}", code)
        .replace(r"\{a\}", code)
        .replace(r"\{b\}", code)
    )


def export(
    folder: Path, header: CorpusHeader, formats: Sequence[str], items: Iterable[Item], *, compress: bool = False
) -> None:
    """Write all items in all formats. Nothing is replaced unless all of them could be written."""
    with exporting(folder, header, formats, compress=compress) as write:
        for item in items:
            write(item)
