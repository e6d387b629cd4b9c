"""Formats of plain text: one language alone, TSV and Moses."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bitrawl.corpus.export import CorpusHeader, paragraph_id
from bitrawl.corpus.jsonl import PLAIN, plain
from bitrawl.files import cell, replacing
from bitrawl.mining import Flag
from bitrawl.model import Page, TranslationUnit
from bitrawl.text.words import one_line


@contextmanager
def text(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[Page], None]]:
    """`en.txt`, with the main text only, and `en.ids`: the URL and the paragraph for each of its lines."""
    with (
        replacing(folder / header.file_name("txt", compress=compress), compress=compress) as file,
        replacing(folder / header.file_name("ids", compress=compress), compress=compress) as ids,
    ):

        def write(page: Page) -> None:
            lines = [(number, one_line(p.text)) for number, p in enumerate(page.paragraphs) if not p.boilerplate]
            lines = [(number, line) for number, line in lines if line]
            if lines:
                separator = "\n" if file.tell() else ""
                file.write((separator + "".join(f"{line}\n" for _, line in lines)).encode())
                url = one_line(page.url)
                ids.write((separator + "".join(f"{url}\t{paragraph_id(n)}\n" for n, _ in lines)).encode())

        yield write


@contextmanager
def tsv(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.tsv`: a header, then one line per unit.

    Nothing is quoted, because no value contains a tab or a line break. A text that a spreadsheet would take for a formula
    has an apostrophe in front, which `files.from_cell` removes.
    """
    with replacing(folder / header.file_name("tsv", compress=compress), compress=compress) as file:
        file.write("\t".join(PLAIN).encode() + b"\n")

        def write(unit: TranslationUnit) -> None:
            values = plain(unit, header).values()
            file.write("\t".join(cell(one_line(value)) for value in values).encode() + b"\n")

        yield write


@contextmanager
def moses(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.en`, `en-fr.fr` and, as in OPUS, `en-fr.ids`: two URLs and two paragraphs per line, and "edited" where a person
    wrote the text.
    """
    first, second, third = (
        folder / header.file_name(ending, compress=compress) for ending in (*header.languages, "ids")
    )
    with (
        replacing(first, compress=compress) as file_a,
        replacing(second, compress=compress) as file_b,
        replacing(third, compress=compress) as ids,
    ):

        def write(unit: TranslationUnit) -> None:
            pair, source = unit.pair, unit.sources[0]
            file_a.write(one_line(pair.a.text).encode() + b"\n")
            file_b.write(one_line(pair.b.text).encode() + b"\n")
            places = (paragraph_id(source.paragraph_a), paragraph_id(source.paragraph_b))
            edited = [Flag.EDITED] if Flag.EDITED in pair.flags else []
            ids.write("\t".join((one_line(pair.url_a), one_line(pair.url_b), *places, *edited)).encode() + b"\n")

        yield write
