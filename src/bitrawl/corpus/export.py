"""One stream of pairs, units and pages, fanned out to the formats asked for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from bitrawl.corpus import jsonl
from bitrawl.corpus.moses import moses
from bitrawl.corpus.parquet import parquet
from bitrawl.corpus.text import text
from bitrawl.corpus.tmx import tmx
from bitrawl.corpus.tsv import tsv
from bitrawl.corpus.units import Head, TranslationUnit
from bitrawl.corpus.xces import xces
from bitrawl.errors import ConfigError
from bitrawl.model import Page, PagePair

Item: TypeAlias = PagePair | TranslationUnit | Page
Taken_contra = TypeVar("Taken_contra", contravariant=True)


class Exporter(Protocol[Taken_contra]):
    """A format: opened on a folder it gives a `write`; its files stand there, complete, when the block has ended well.

    What stood there before stays until then, and stays if it ends badly. Nothing written is kept in memory.
    """

    def __call__(
        self, folder: Path, head: Head, *, compress: bool = False
    ) -> AbstractContextManager[Callable[[Taken_contra], None]]:
        """`with tmx(folder, head) as write: write(unit)`."""
        ...


class Format(StrEnum):
    """What a corpus can be written as."""

    TMX = "tmx"
    JSONL = "jsonl"
    TSV = "tsv"
    MOSES = "moses"
    PARQUET = "parquet"
    XCES = "xces"
    TEXT = "text"


BILINGUAL: dict[Format, tuple[tuple[Exporter[Any], tuple[type[Item], ...]], ...]] = {
    Format.TMX: ((tmx, (TranslationUnit,)),),
    Format.JSONL: ((jsonl.documents, (PagePair,)), (jsonl.sentences, (TranslationUnit,))),
    Format.TSV: ((tsv, (TranslationUnit,)),),
    Format.MOSES: ((moses, (TranslationUnit,)),),
    Format.PARQUET: ((parquet, (TranslationUnit,)),),
    Format.XCES: ((xces, (PagePair, Page)),),
}
"""The exporters of each format for two languages, and what each takes."""

MONOLINGUAL: dict[Format, tuple[tuple[Exporter[Any], tuple[type[Item], ...]], ...]] = {
    Format.TEXT: ((text, (Page,)),),
    Format.JSONL: ((jsonl.pages, (Page,)),),
    Format.XCES: ((xces, (Page,)),),
}
"""The same for one language."""


@contextmanager
def exporting(
    folder: Path, head: Head, formats: Sequence[Format], *, compress: bool = False
) -> Iterator[Callable[[Item], None]]:
    """A `write` that hands each item to the formats that have a use for it; raises `ConfigError` before any is opened."""
    known = BILINGUAL if len(head.languages) == 2 else MONOLINGUAL
    for name in formats:
        if name not in known:
            raise ConfigError(f"{name} is no format for {head.name}; there are {', '.join(known)}")
    writers: dict[type[Item], list[Callable[[Any], None]]] = {PagePair: [], TranslationUnit: [], Page: []}
    with ExitStack() as stack:
        for name in dict.fromkeys(formats):
            for exporter, kinds in known[name]:
                writer = stack.enter_context(exporter(folder, head, compress=compress))
                for kind in kinds:
                    writers[kind].append(writer)

        def write(item: Item) -> None:
            for writer in writers[type(item)]:
                writer(item)

        yield write


def export(
    folder: Path, head: Head, formats: Sequence[Format], items: Iterable[Item], *, compress: bool = False
) -> None:
    """All of the items, in all of the formats; nothing is replaced unless all of them could be written."""
    with exporting(folder, head, formats, compress=compress) as write:
        for item in items:
            write(item)
