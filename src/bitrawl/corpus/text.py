"""Plain text of one language: one paragraph per line, an empty line between pages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bitrawl.corpus.naming import CorpusHeader, paragraph_id
from bitrawl.files import replacing
from bitrawl.model import Page
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
