"""How much of a PDF's text is read, in the right order: python -m lab.bench.documents [FOLDER] [--languages en,de,...]

Debian ships manuals as HTML and as PDF, made from one source. The words of the HTML version are the truth. A word counts as
read if it is in the longest common subsequence of both texts. FOLDER holds the unpacked packages; without it they are
downloaded with `apt-get download` and unpacked below the temporary folder.

With --sites the manuals are then mined as two sites, whose index pages link to the PDF files of one and to the HTML pages of the
other: page pairs, and the segments of the PDF pairs against those of the HTML pairs. Addresses in parentheses, which only the
PDF prints after a link, do not count. Give few languages: three take some CPU minutes.
"""

import argparse
import gzip
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from bitrawl.model import Language, Page
from bitrawl.page import read_html
from bitrawl.page.pdf import read_pdf
from bitrawl.text.words import words
from bitrawl.url import Url
from lab.bench.document_sites import SiteFile, print_sites

MANUALS = ("maint-guide", "debian-faq", "debmake-doc", "developers-reference", "installation-guide-amd64")
_LANGUAGE = re.compile(r"[./]([a-z]{2}(?:[-_][a-zA-Z]{2})?)[./](?!.*[./][a-z]{2}(?:[-_][a-zA-Z]{2})?[./])")


class Manual(NamedTuple):
    """One manual in one language."""

    name: str
    language: str
    pdf: Path
    pages: tuple[Path, ...]  # HTML, in the order of the table of contents


def manuals(folder: Path) -> Iterator[Manual]:
    share = folder / "usr/share"
    for pdf in sorted([*share.rglob("*.pdf"), *share.rglob("*.pdf.gz")]):
        path = str(pdf.relative_to(share))
        name = next((name for name in MANUALS if name.partition("-amd64")[0] in path), "")
        found = _LANGUAGE.search(path)
        language = found[1].replace("_", "-").lower() if found else "en"
        if name and (pages := _html(name, language, pdf)):
            yield Manual(name, language, pdf, pages)


def _html(name: str, language: str, pdf: Path) -> tuple[Path, ...]:
    """The pages that the table of contents links to, in its order, the contents left out."""
    folders = [pdf.parent / "html", pdf.parent / language, pdf.parent]
    for folder in folders:
        for index in (f"index.{language}.html", "index.html", f"index.{language}.html.gz"):
            start = folder / index
            if start.exists():
                # A legal notice before the contents may link to an appendix: its page still comes last.
                about, contents, rest = _content(start).decode("utf-8", "replace").partition('class="toc"')
                text = rest + about if contents else about
                links = dict.fromkeys(re.findall(r'href="([\w.-]+\.html)(?:#[^"]*)?"', text))
                pages = [folder / link for link in links if (folder / link).exists() and link != index]
                if name == "debmake-doc" or language in start.name:
                    pages = [page for page in pages if f".{language}." in page.name or "." not in page.stem]
                return tuple(page for page in pages if "index" not in page.name)
    return ()


def _content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def main_words(page: Page, language: Language) -> list[str]:
    return [word for p in page.paragraphs if not p.boilerplate for word in words(p.text, language)]


def downloaded(to: Path) -> Path:
    """The packages of all manuals in all languages."""
    listing = subprocess.run(["apt-cache", "pkgnames"], check=True, capture_output=True, text=True).stdout.split()
    names = [name for name in listing if name.startswith(MANUALS) and not name.endswith(("-arm64", "-i386"))]
    subprocess.run(["apt-get", "download", "--quiet", *names], check=True, cwd=to)
    for package in to.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, to], check=True)
    return to


def measure(manual: Manual) -> tuple[float, float, float]:
    """Recall and precision of words in the right order, and CPU milliseconds for each page of the PDF."""
    language, where = Language(manual.language[:2]), Url.parse("http://d.test/")
    truth = [word for path in manual.pages for word in main_words(read_html(_content(path), where), language)]
    body = _content(manual.pdf)
    start = time.process_time()
    document = read_pdf(body)
    seconds = time.process_time() - start
    read = [word for block in document.blocks if not block.is_boilerplate for word in words(block.text, language)]
    common = LCSseq.similarity(truth, read)
    return common / max(len(truth), 1), common / max(len(read), 1), 1000 * seconds / max(_pages(body), 1)


def site_files(manual: Manual, *, as_pdf: bool) -> list[SiteFile]:
    about = (manual.name, manual.language)
    if as_pdf:
        return [SiteFile(*about, f"{manual.name}.pdf", "application/pdf", _content(manual.pdf))]
    names = {path: path.name.replace(f".{manual.language}.", ".").removesuffix(".gz") for path in manual.pages}
    return [SiteFile(*about, f"{manual.name}/{name}", "text/html", _content(path)) for path, name in names.items()]


def _pages(body: bytes) -> int:
    import pypdfium2  # type: ignore[import-untyped]  # noqa: PLC0415

    return len(pypdfium2.PdfDocument(body))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--languages", default="")
    parser.add_argument("--sites", action="store_true")
    arguments = parser.parse_args()
    chosen = set(filter(None, arguments.languages.split(",")))
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or downloaded(Path(scratch))
        print(f"{'manual':26} {'':6} {'recall':>7} {'prec.':>7} {'ms a page':>10}")
        taken = [manual for manual in manuals(folder) if not chosen or manual.language in chosen]
        for manual in taken:
            recall, precision, cost = measure(manual)
            print(f"{manual.name:26} {manual.language:6} {recall:7.3f} {precision:7.3f} {cost:10.1f}", flush=True)
        if arguments.sites:
            once = {(manual.name, manual.language): manual for manual in taken}.values()
            pdf, html = ([file for one in once for file in site_files(one, as_pdf=kind)] for kind in (True, False))
            print_sites(pdf, html, Path(scratch))


if __name__ == "__main__":
    main()
