"""Mining an archive against reading it: CPU of the two commands, how busy two cores are, and the largest process.

    python -m lab.bench.mining                              # three frozen sites
    python -m lab.bench.mining --sites apisix lilypond      # others, with their first two languages
    python -m lab.bench.mining --pages 1000 --kilobytes 50  # made-up large pages, as `lab.bench.scale` makes them

Reading is `bitrawl crawl --warc`, mining is `bitrawl mine --warc`, which reads too. The goals: at most twice the CPU of reading, and
wall-clock time of at most .6 of the CPU, where nothing else uses the two cores.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from html import escape
from pathlib import Path
from typing import NamedTuple

from bitrawl.model import Page
from lab.bench.document_sites import warc_record
from lab.bench.scale import MENU, MadeSite, material
from lab.bench.strategies import SITES
from lab.train.site_packs import SitePack

DEFAULT = {"gimp-help": "en,fr", "wet-styleguide": "en,fr", "debian-handbook": "en,fr,de"}
_ELEMENTS = {"title": "h1", "heading": "h2", "listitem": "li"}


class Took(NamedTuple):
    """One command with its children."""

    cpu: float  # seconds, user and system
    wall: float
    peak: float  # MB, of the largest process


def run(verb: str, archive: Path, languages: str) -> Took:
    with tempfile.TemporaryDirectory() as folder:
        flags = f"--warc {archive} --langs {languages} --out {folder}/job --quiet"
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "bitrawl", verb, *flags.split()])
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"bitrawl {verb} {flags} failed with status {process.returncode}")
    return Took(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def show(name: str, archive: Path, languages: str) -> None:
    reading, mining = run("crawl", archive, languages), run("mine", archive, languages)
    ratio, share = mining.cpu / reading.cpu, mining.wall / mining.cpu
    figures = f"{reading.cpu:>10.1f}{mining.cpu:>10.1f}{ratio:>8.2f}{mining.wall:>8.1f}{share:>10.2f}"
    print(f"{name:<20}{languages:<10}{figures}{mining.peak:>9.0f}", flush=True)


def made_archive(pages: int, kilobytes: int, to: Path) -> Path:
    with to.open("wb") as warc:
        for page in MadeSite(material(), pages, kilobytes).pages():
            warc.write(warc_record(page.url, "text/html; charset=utf-8", html(page).encode()))
    return to


def html(page: Page) -> str:
    """Menu, paragraphs, links to neighbours, pictures: reading gives about the page again."""
    declared = [f'<link rel="alternate" hreflang="{to.language}" href="{escape(to.url)}">' for to in page.alternates]
    menu = [
        f"<li>{_anchor(link.url, text.text)}</li>"
        for link, text in zip(page.links, page.paragraphs[:MENU], strict=False)
    ]
    body = [
        f"<{tag}>{escape(text.text)}</{tag}>"
        for text in page.paragraphs[MENU:]
        for tag in [_ELEMENTS.get(text.kind, "p")]
    ]
    near = [f"<aside>{_anchor(link.url, str(number))}</aside>" for number, link in enumerate(page.links[MENU:])]
    pictures = [f'<img src="{escape(image.src)}">' for image in page.images]
    parts = *menu, "</nav><main>", *body, "</main>", *near, *pictures
    return f'<html lang="{page.language}"><head>{"".join(declared)}</head><body><nav>{"".join(parts)}</body></html>'


def _anchor(url: str, text: str) -> str:
    return f'<a href="{escape(url)}">{escape(text)}</a>'


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.mining")
    parser.add_argument("--sites", nargs="*", default=list(DEFAULT))
    parser.add_argument("--pages", type=int, help="of a made-up site, in place of frozen ones")
    parser.add_argument("--kilobytes", type=int, default=50)
    asked = parser.parse_args()
    if not SITES.exists():
        print(f"mining: {SITES} is not here (frozen copies of the sites that src/bitrawl/models/pairs.md names)")
        return
    print(f"{'mining':<30}{'reading, s':>10}{'mining, s':>10}{'ratio':>8}{'wall, s':>8}{'wall/CPU':>10}{'peak MB':>9}")
    if asked.pages:
        with tempfile.TemporaryDirectory() as folder:
            archive = made_archive(asked.pages, asked.kilobytes, Path(folder) / "made.warc.gz")
            show(f"{asked.pages:,} × {asked.kilobytes} kB", archive, "en,fr")
        return
    for name in asked.sites:
        languages = DEFAULT.get(name) or ",".join(SitePack.open(SITES / name).languages[:2])
        show(name, SITES / name / "site.warc.gz", languages)


if __name__ == "__main__":
    main()
