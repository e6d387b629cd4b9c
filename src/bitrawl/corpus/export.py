"""Writes one stream of pairs, units and pages in the requested formats, and names a corpus, its files and its paragraphs."""

import hashlib
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec

from bitrawl.corpus.formats import FORMATS, Part
from bitrawl.errors import BitrawlError, ConfigError
from bitrawl.file_names import CARD, SUMMARY
from bitrawl.files import NEW, OLD, discard
from bitrawl.message import enumerated
from bitrawl.model import Language, Page, PagePair, TranslationUnit
from bitrawl.packages import loaded

MADE_BY = "written by bitrawl"
"""It stands in every card, twice."""


class CorpusHeader(msgspec.Struct, frozen=True):
    """Which corpus is written. It is known before the content is."""

    languages: tuple[Language, ...]  # two; one for a monolingual corpus
    at: float  # when it is written, in seconds since the epoch

    @property
    def name(self) -> str:
        """The beginning of its file names: "en-fr"."""
        return "-".join(self.languages)

    @property
    def in_order(self) -> tuple[Language, Language]:
        """Its two languages, sorted: they name its shards, whichever of them comes first in a job."""
        first, second = sorted(self.languages)
        return first, second

    @classmethod
    def of(cls, languages: Sequence[Language], at: float = 0.0) -> "list[CorpusHeader]":
        """The corpora of a job: one for each pair of its languages, or one for its only language."""
        return [cls(side, at) for side in (combinations(languages, 2) if len(languages) > 1 else [(languages[0],)])]

    def file_name(self, ending: str, *, compress: bool) -> str:
        """`en-fr.tmx`, or `en-fr.tmx.gz`."""
        return compressed(f"{self.name}.{ending}", compress=compress)

    def files(self, formats: Iterable[str], *, compress: bool = False) -> list[str]:
        """The files that these formats write. For XCES, it is a folder."""
        parts = [part for name in dict.fromkeys(formats) for part in FORMATS.of(name).parts(len(self.languages))]
        return self._named(parts, compress=compress)

    def names(self) -> set[str]:
        """All names that exports of this corpus have, in any format, and what a killed one may leave. Some are folders."""
        parts = [part for parts in FORMATS.parts(len(self.languages)).values() for part in parts]
        names = {*self._named(parts, compress=False), *self._named(parts, compress=True)}
        return {name + ending for name in names for ending in ("", NEW, OLD)}

    def present(self, folder: Path) -> Iterator[str]:
        """The formats that it has in that folder: any of their files. One that a user has removed comes back with the others."""
        for name, parts in FORMATS.parts(len(self.languages)).items():
            files = [file for compress in (False, True) for file in self._named(parts, compress=compress)]
            if any((folder / file).exists() for file in files):
                yield name

    def _named(self, parts: Iterable[Part], *, compress: bool) -> list[str]:
        a, b, gz = self.languages[0], self.languages[-1], ".gz" if compress else ""
        return [file.format(name=self.name, a=a, b=b, gz=gz) for part in parts for file in part.files]


def without_files(names: Sequence[str]) -> str:
    """One sentence about the corpora for which nothing was found; empty if there are none."""
    if not names:
        return ""
    return (
        f"Nothing was found for {enumerated(names)}, so there are no files for {'it' if len(names) == 1 else 'them'}."
    )


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


@contextmanager
def exporting(
    folder: Path, header: CorpusHeader, formats: Sequence[str], *, compress: bool = False
) -> Iterator[Callable[[Item], None]]:
    """Returns a `write` that passes each item to the formats that use it. Raises `ConfigError` before opening any.

    At the end, the folder contains only what was written now for this corpus. Files of other formats would be outdated,
    so they are removed. To keep them, ask for `CorpusFolder.formats`.
    """
    count = len(header.languages)
    for name in formats:
        if not FORMATS.of(name).parts(count):
            raise ConfigError(
                f"{name} is not a format for {header.name}; choose from {', '.join(FORMATS.parts(count))}"
            )
    writers: dict[type[Item], list[Callable[[Any], None]]] = {PagePair: [], TranslationUnit: [], Page: []}
    with ExitStack() as stack:
        for name in dict.fromkeys(formats):
            for part in FORMATS.of(name).parts(count):
                writer = stack.enter_context(_opened(name, part, folder, header, compress=compress))
                for kind in part.takes:
                    writers[kind].append(writer)

        def write(item: Item) -> None:
            for writer in writers[type(item)]:
                writer(item)

        yield write
    CorpusFolder(folder).remove(header, but=header.files(formats, compress=compress))


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


class CorpusFolder(NamedTuple):
    """A folder that has corpora, or will have them. What is not ours in it is left alone: it goes by names."""

    path: Path

    @property
    def card(self) -> Path | None:
        """None if there is none."""
        return path if (path := self.path / CARD).is_file() else None

    @property
    def has_foreign_card(self) -> bool:
        """Whether the card is a text without our mark. What is no text any more, or empty, is a card that was damaged."""
        try:
            text = (self.path / CARD).read_text("utf-8")
            return MADE_BY not in text and bool(text.strip("\0 \t\r\n"))
        except (OSError, UnicodeDecodeError):
            return False

    def check_card(self) -> None:
        """Raise `ConfigError` if the card would replace a README.md that somebody else wrote."""
        if self.has_foreign_card:
            raise ConfigError(
                f"{self.path / CARD} does not say that bitrawl wrote it, so it may be yours, and the card needs this name."
                " Move it elsewhere, then give the same command again"
            )

    def formats(self, headers: Iterable[CorpusHeader], formats: Iterable[str], *, only: bool = False) -> list[str]:
        """The formats to write so that no format of the existing corpora becomes outdated or is lost.

        The existing formats come first, sorted by name; new ones follow in the requested order. With `only`, these are
        just the requested formats, and `exporting` removes the rest.
        """
        present = () if only else sorted({name for header in headers for name in header.present(self.path)})
        return list(dict.fromkeys((*present, *formats)))

    def remove(self, header: CorpusHeader, *, but: Collection[str] = ()) -> None:
        """Remove what an earlier or killed export has left of this corpus."""
        for name in header.names():
            if name not in but:
                discard(self.path / name)

    def drafts(self) -> list[Path]:
        """What a killed export has left, whatever the languages."""
        paths = [*self.path.glob(f"*{NEW}"), *self.path.glob(f"*/*{NEW}")]
        if not paths:
            return []
        parts = [part for languages in (1, 2) for parts in FORMATS.parts(languages).values() for part in parts]
        ours = re.compile(
            "|".join([re.escape(SUMMARY), re.escape(CARD), *(_named(file) for part in parts for file in part.files)])
        )
        return [path for path in paths if ours.fullmatch(path.relative_to(self.path).as_posix().removesuffix(NEW))]

    def sha256(self, name: str) -> str:
        """Of a file in it; of a folder, of what `sha256sum *` prints there."""
        path = self.path / name
        if not path.is_dir():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        own = CorpusFolder(path)
        lines = "".join(f"{own.sha256(each.name)}  {each.name}\n" for each in sorted(path.iterdir()) if each.is_file())
        return hashlib.sha256(lines.encode()).hexdigest()


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
