"""Writes one stream of pairs, units and pages in the requested formats."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from bitrawl.config import Format
from bitrawl.corpus import jsonl
from bitrawl.corpus.moses import moses
from bitrawl.corpus.naming import CorpusHeader
from bitrawl.corpus.parquet import parquet
from bitrawl.corpus.text import text
from bitrawl.corpus.tmx import tmx
from bitrawl.corpus.tsv import tsv
from bitrawl.corpus.xces import xces
from bitrawl.errors import ConfigError
from bitrawl.files import NEW, OLD, discard
from bitrawl.model import Page, PagePair, TranslationUnit

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


class Part(NamedTuple):
    """One exporter of a format, what it accepts, and what it writes: "{gz}" becomes ".gz" if it is compressed."""

    exporter: Exporter[Any]
    takes: tuple[type[Item], ...]
    files: tuple[str, ...]


BILINGUAL: dict[Format, tuple[Part, ...]] = {
    Format.TMX: (Part(tmx, (TranslationUnit,), ("{name}.tmx{gz}",)),),
    Format.JSONL: (
        Part(jsonl.documents, (PagePair,), ("{name}.documents.jsonl{gz}",)),
        Part(jsonl.sentences, (TranslationUnit,), ("{name}.sentences.jsonl{gz}",)),
    ),
    Format.TSV: (Part(tsv, (TranslationUnit,), ("{name}.tsv{gz}",)),),
    Format.MOSES: (Part(moses, (TranslationUnit,), ("{name}.{a}{gz}", "{name}.{b}{gz}", "{name}.ids{gz}")),),
    Format.PARQUET: (Part(parquet, (TranslationUnit,), ("{name}.parquet",)),),
    Format.XCES: (Part(xces, (PagePair, Page), ("xces/{name}",)),),
}
"""The exporters of each format for two languages."""

MONOLINGUAL: dict[Format, tuple[Part, ...]] = {
    Format.TEXT: (Part(text, (Page,), ("{name}.txt{gz}", "{name}.ids{gz}")),),
    Format.JSONL: (Part(jsonl.pages, (Page,), ("{name}.documents.jsonl{gz}",)),),
    Format.XCES: (Part(xces, (Page,), ("xces/{name}",)),),
}
"""The exporters of each format for one language."""


def exporters(languages: int) -> dict[Format, tuple[Part, ...]]:
    """The exporters for a monolingual corpus, or for the corpora of several languages."""
    return MONOLINGUAL if languages == 1 else BILINGUAL


def file_names(header: CorpusHeader, formats: Iterable[Format], *, compress: bool = False) -> list[str]:
    """The files that these formats write. For XCES, it is a folder."""
    first, last = header.languages[0], header.languages[-1]
    return [
        file.format(name=header.name, a=first, b=last, gz=".gz" if compress else "")
        for name in dict.fromkeys(formats)
        for part in exporters(len(header.languages))[name]
        for file in part.files
    ]


def with_present(
    folder: Path, headers: Iterable[CorpusHeader], formats: Iterable[Format], *, only: bool = False
) -> list[Format]:
    """The formats to write so that no format of the existing corpora becomes outdated or is lost.

    The existing formats come first, sorted by name; new ones follow in the requested order. With `only`, these are just
    the requested formats, and `exporting` removes the rest.
    """
    if only:
        return list(dict.fromkeys(formats))
    present = {name for header in headers for name in _present(folder, header)}
    return list(dict.fromkeys((*sorted(present), *formats)))


def _present(folder: Path, header: CorpusHeader) -> Iterator[Format]:
    """A format is present if any of its files is. A file that a user has removed comes back with the others."""
    for name in exporters(len(header.languages)):
        found = (*file_names(header, [name]), *file_names(header, [name], compress=True))
        if any((folder / file).exists() for file in found):
            yield name


@contextmanager
def exporting(
    folder: Path, header: CorpusHeader, formats: Sequence[Format], *, compress: bool = False
) -> Iterator[Callable[[Item], None]]:
    """Returns a `write` that passes each item to the formats that use it. Raises `ConfigError` before opening any.

    At the end, the folder contains only what was written now for this corpus. Files of other formats would be outdated,
    so they are removed. To keep them, ask for `with_present` formats.
    """
    known = exporters(len(header.languages))
    for name in formats:
        if name not in known:
            raise ConfigError(f"{name} is not a format for {header.name}; choose from {', '.join(known)}")
    writers: dict[type[Item], list[Callable[[Any], None]]] = {PagePair: [], TranslationUnit: [], Page: []}
    with ExitStack() as stack:
        for name in dict.fromkeys(formats):
            for part in known[name]:
                writer = stack.enter_context(part.exporter(folder, header, compress=compress))
                for kind in part.takes:
                    writers[kind].append(writer)

        def write(item: Item) -> None:
            for writer in writers[type(item)]:
                writer(item)

        yield write
    remove_files(folder, header, but=file_names(header, formats, compress=compress))


def remove_files(folder: Path, header: CorpusHeader, *, but: Collection[str] = ()) -> None:
    """Remove what an earlier or killed export has left of this corpus.

    It goes by name, because other files are not ours.
    """
    known = exporters(len(header.languages))
    for name in {*file_names(header, known), *file_names(header, known, compress=True)}:
        for ending in ("", NEW, OLD):
            if name + ending not in but:
                discard(folder / (name + ending))


def drafts(folder: Path) -> list[Path]:
    """What a killed export has left in a corpus folder, whatever the languages. It goes by name, as above."""
    found = [*folder.glob(f"*{NEW}"), *folder.glob(f"xces/*{NEW}")]
    return [path for path in found if _OURS.fullmatch(path.relative_to(folder).as_posix().removesuffix(NEW))]


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


_OURS = re.compile(
    "|".join(
        ["summary\\.json", "card\\.md"]
        + [
            _named(file)
            for known in (BILINGUAL, MONOLINGUAL)
            for some in known.values()
            for one in some
            for file in one.files
        ]
    )
)


def export(
    folder: Path, header: CorpusHeader, formats: Sequence[Format], items: Iterable[Item], *, compress: bool = False
) -> None:
    """Write all items in all formats. Nothing is replaced unless all of them could be written."""
    with exporting(folder, header, formats, compress=compress) as write:
        for item in items:
            write(item)
