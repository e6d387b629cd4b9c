"""Moses text: two files, line by line translations of each other, and where each line comes from."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bitrawl.corpus.characters import one_line
from bitrawl.corpus.files import compressed, drafting
from bitrawl.corpus.units import Head, TranslationUnit, paragraph_id


@contextmanager
def moses(folder: Path, head: Head, *, compress: bool = False) -> Iterator[Callable[[TranslationUnit], None]]:
    """`en-fr.en`, `en-fr.fr`, and as in OPUS `en-fr.ids`: two URLs and two paragraphs a line."""
    first, second, third = (
        folder / compressed(f"{head.name}.{ending}", compress=compress) for ending in (*head.languages, "ids")
    )
    with (
        drafting(first, compress=compress) as file_a,
        drafting(second, compress=compress) as file_b,
        drafting(third, compress=compress) as ids,
    ):

        def write(unit: TranslationUnit) -> None:
            pair, source = unit.pair, unit.sources[0]
            file_a.write(one_line(pair.a.text).encode() + b"\n")
            file_b.write(one_line(pair.b.text).encode() + b"\n")
            places = (paragraph_id(source.paragraph_a), paragraph_id(source.paragraph_b))
            ids.write("\t".join((one_line(pair.url_a), one_line(pair.url_b), *places)).encode() + b"\n")

        yield write
