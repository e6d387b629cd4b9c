"""Plain text of one language: a paragraph a line, an empty line between documents."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bitrawl.corpus.characters import one_line
from bitrawl.corpus.files import compressed, drafting
from bitrawl.corpus.units import Head, paragraph_id
from bitrawl.model import Page


@contextmanager
def text(folder: Path, head: Head, *, compress: bool = False) -> Iterator[Callable[[Page], None]]:
    """`en.txt`, the main text only, and `en.ids`: for each of its lines the URL and the paragraph."""
    name = head.languages[0]
    with (
        drafting(folder / compressed(f"{name}.txt", compress=compress), compress=compress) as file,
        drafting(folder / compressed(f"{name}.ids", compress=compress), compress=compress) as ids,
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
