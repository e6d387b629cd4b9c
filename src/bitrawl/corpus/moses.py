"""Moses text: two files with one segment per line, aligned line by line, and the origin of each line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bitrawl.corpus.naming import CorpusHeader, paragraph_id
from bitrawl.files import replacing
from bitrawl.model import TranslationUnit
from bitrawl.text.words import one_line


@contextmanager
def moses(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.en`, `en-fr.fr` and, as in OPUS, `en-fr.ids`: two URLs and two paragraphs per line."""
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
            ids.write("\t".join((one_line(pair.url_a), one_line(pair.url_b), *places)).encode() + b"\n")

        yield write
