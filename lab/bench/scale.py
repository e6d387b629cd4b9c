"""Pairing and mining while a site grows: peak memory, CPU for each page, and growth against n log n.

    python -m lab.bench.scale                                          # 1,000, 5,000 and 20,000 pages of 5 kB
    python -m lab.bench.scale --pages 1000 5000 20000 50000
    python -m lab.bench.scale --pages 5000 --kilobytes 50
    python -m lab.bench.scale --pages 1000 --mine                      # `bitrawl pair` whole: alignment and export too

How the sites are made. Paragraphs of gimp-help (../shared/sites) whose translations stand at the same place are put
together anew, as many as make a page of that size. In each pair of pages the words that translate each other are
exchanged for others that do, of about the same frequency, and the numbers for other numbers: so no two pages have the
same text, and translations stay translations. All pages have a menu, links to their neighbours and a picture; half of
them declare their translation, one in ten has none. Their addresses tell nothing. The site is written to a ledger as a
crawl would, and read from there in a process of its own, whose memory and CPU are printed.
"""

import argparse
import json
import math
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bitrawl.mining.pairing import Pairing
from bitrawl.model import (
    Alternate,
    AlternateSource,
    Image,
    Language,
    Lease,
    Link,
    LinkKind,
    Page,
    Paragraph,
    ParagraphKind,
    Skip,
    Visit,
)
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.text.lexicon import Lexicon
from bitrawl.text.template import template_of
from bitrawl.url import Url
from lab.bench.strategies import CACHE, SITES
from lab.train.pairs import labelled_site
from lab.train.site_packs import SitePack

EN, FR = Language("en"), Language("fr")
SITE = "http://scale.test"
PAGES = (1_000, 5_000, 20_000)
KILOBYTES = 5
MENU = 25  # entries that every page has
NEIGHBOURS = 5  # pages that a page links to
UNTOUCHED = 100  # of the commonest words that stay as they are
BAND = 40  # words of about the same frequency, which are exchanged for each other
BATCH = 500  # pages that are written in one transaction
_WORD = re.compile(r"\d+|[^\W\d_]+")


class Block(NamedTuple):
    """A paragraph and its translation."""

    kind: ParagraphKind
    english: str
    french: str


class Material(NamedTuple):
    """What pages are made of: blocks, and bands of words with their translations."""

    blocks: list[Block]
    bands: list[list[tuple[str, str]]]


class Measured(NamedTuple):
    """What one process did."""

    pages: int
    true: int
    found: int
    right: int
    cpu: float  # seconds
    peak: float  # MB


def material() -> Material:
    site = labelled_site(SitePack.open(SITES / "gimp-help"), CACHE)
    pages = {page.url: page for page in site.pages}
    blocks = []
    for urls in sorted(site.true):
        a, b = sorted((pages[url] for url in urls if url in pages), key=lambda page: page.language)[:2]
        content = [[p for p in page.paragraphs if not p.boilerplate] for page in (a, b)]
        if (a.language, b.language) == (EN, FR) and [p.kind for p in content[0]] == [p.kind for p in content[1]]:
            blocks += [Block(x.kind, x.text, y.text) for x, y in zip(*content, strict=True) if x.text != y.text]
    return Material(blocks, list(_bands(blocks)))


def _bands(blocks: Sequence[Block]) -> Iterator[list[tuple[str, str]]]:
    """Words and their only translation, the commonest first."""
    texts = [(_words(block.english), _words(block.french)) for block in blocks]
    lexicon = Lexicon.learn(texts)
    back = Lexicon.learn([(french, english) for english, french in texts])
    frequency = Counter(word for english, _ in texts for word in english)
    known = []
    for word, _ in frequency.most_common():
        for likely, _ in lexicon.translations(word)[:1]:
            if not word.isdecimal() and [first for first, _ in back.translations(likely)[:1]] == [word]:
                known.append((word, likely))
    for start in range(UNTOUCHED, len(known), BAND):
        yield known[start : start + BAND]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


class MadeSite:
    """So many pages; any of them is made when it is asked for, the same each time."""

    def __init__(self, made_of: Material, pages: int, kilobytes: int) -> None:
        self._material = made_of
        self._articles = pages * 10 // 19 + 1  # nine of ten have a translation
        self._count = pages
        self._size = kilobytes * 1000

    def pages(self) -> Iterator[Page]:
        """In the order of a crawl: both languages in turn."""
        made = 0
        for article in range(self._articles):
            texts = self._texts(article)
            for language in (EN, FR) if self.is_translated(article) else (EN,):
                if made == self._count:
                    return
                made += 1
                yield self._page(article, language, texts)

    def true_pairs(self) -> Iterator[tuple[str, str]]:
        made = 0
        for article in range(self._articles):
            made += 1 + self.is_translated(article)
            if self.is_translated(article) and made <= self._count:
                yield self._url(article, EN), self._url(article, FR)

    def is_translated(self, article: int) -> bool:
        return article % 10 != 9

    def _url(self, article: int, language: Language) -> Url:
        name = random.Random(f"{language}{article}").getrandbits(40)
        return Url.known(f"{SITE}/{language}/{name:x}.html")

    def _texts(self, article: int) -> list[Block]:
        chance = random.Random(article)
        english: dict[str, str] = {}
        french: dict[str, str] = {}
        for band in self._material.bands:
            step = chance.randrange(len(band))
            for (word, translation), (new, other) in zip(band, band[step:] + band[:step], strict=True):
                english[word], french[translation] = new, other
        blocks, size = [Block(ParagraphKind.TITLE, *self._title(chance))], 0
        while size < self._size:
            block = chance.choice(self._material.blocks)
            size += len(block.english)
            blocks.append(
                Block(block.kind, _changed(block.english, english, article), _changed(block.french, french, article))
            )
        return blocks

    def _title(self, chance: random.Random) -> tuple[str, str]:
        pairs = [chance.choice(chance.choice(self._material.bands)) for _ in range(4)]
        return " ".join(a for a, _ in pairs).capitalize(), " ".join(b for _, b in pairs).capitalize()

    def _page(self, article: int, language: Language, texts: Sequence[Block]) -> Page:
        url = self._url(article, language)
        menu = [texts_of(block, language) for block in self._material.blocks[:MENU]]
        paragraphs = [Paragraph(text, ParagraphKind.LISTITEM, language=language, confidence=1.0) for text in menu]
        tags = ["html", "body", "nav", *["li", "a", "#text"] * MENU, "main"]
        links = [self._url(entry, language) for entry in range(MENU)]
        placed = [Link(to, LinkKind.PAGE, url, position=4 + 3 * place) for place, to in enumerate(links)]
        for block in texts:
            tags += {"title": ["h1"], "heading": ["h2"], "listitem": ["ul", "li"]}.get(block.kind, ["p"])
            paragraphs.append(Paragraph(texts_of(block, language), block.kind, language=language, position=len(tags)))
            tags.append("#text")
        for near in range(article + 1, article + 1 + NEIGHBOURS):
            tags += ["aside", "a"]
            placed.append(Link(self._url(near % self._articles, language), LinkKind.PAGE, url, position=len(tags) - 1))
        other = FR if language == EN else EN
        declared = self.is_translated(article) and article % 2
        return Page(
            url,
            language=language,
            confidence=1.0,
            paragraphs=tuple(paragraphs),
            links=tuple(placed),
            alternates=(Alternate(self._url(article, other), str(other), AlternateSource.LINK),) if declared else (),
            images=(Image(Url.known(f"{SITE}/logo.png")), Image(Url.known(f"{SITE}/img/{article // 3}.png"))),
            tags=tuple(tags),
        )


def texts_of(block: Block, language: Language) -> str:
    return block.english if language == EN else block.french


def _changed(text: str, words: dict[str, str], article: int) -> str:
    def new(found: re.Match[str]) -> str:
        word = found[0]
        if word.isdecimal():
            return str((int(word[:9]) * 31 + article * 17) % 10 ** max(2, len(word)))
        changed = words.get(word.casefold(), word)
        return changed.capitalize() if word[0].isupper() else changed

    return _WORD.sub(new, text)


def keep(folder: Path, site: MadeSite) -> None:
    """A job that was crawled and not mined."""
    (folder / "job.toml").write_text(f'langs = ["en", "fr"]\nseeds = ["{SITE}/"]\n', "utf-8")
    ledger = Ledger(folder / "job.sqlite")
    batch: list[Page] = []
    for number, page in enumerate(site.pages(), 1):
        batch.append(page)
        if len(batch) == BATCH:
            _record(ledger, batch, number)
            batch = []
    _record(ledger, batch, 0)
    ledger.close()
    (folder / "true.json").write_text(json.dumps(list(site.true_pairs())))


def _record(ledger: Ledger, pages: Sequence[Page], number: int) -> None:
    with ledger.transaction():
        for page in pages:
            link = Link(page.url, LinkKind.PAGE)
            ledger.refuse([(link, Skip(page.url, Stage.SCOPE, Reason.OFF_SITE))])
            ledger.record(Visit(Lease(link, 1.0), page, 200, 1000, at=1e9 + number))


def pair(folder: Path) -> set[tuple[str, str]]:
    """Pairing alone, as mining calls it."""
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    site = next(iter(ledger.sites())).site
    view = ledger.view(site)
    template = template_of(view.pages())
    result = Pairing().pairs(view.pages, [EN, FR], view.sitemaps(), template=template, page_of=ledger.page)
    return {(str(pair.url_a), str(pair.url_b)) for pair in result.pairs}


def mine(folder: Path) -> set[tuple[str, str]]:
    """`bitrawl pair`: pairing, alignment, judging and the corpus."""
    subprocess.run([sys.executable, "-m", "bitrawl", "pair", str(folder)], check=True, stdout=subprocess.DEVNULL)
    lines = (folder / "corpus" / "en-fr.documents.jsonl").read_text("utf-8").splitlines()
    return {(found["url_a"], found["url_b"]) for found in map(json.loads, lines)}


def measured(folder: Path, work: Callable[[Path], set[tuple[str, str]]]) -> Measured:
    """What this process and those that it started took."""
    true = {(a, b) for a, b in json.loads((folder / "true.json").read_text())}
    found = work(folder)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    return Measured(
        sum(known.pages for known in ledger.sites()),
        len(true),
        len(found),
        len(found & true),
        sum(one.ru_utime + one.ru_stime for one in used),
        max(one.ru_maxrss for one in used) / 1024,
    )


def apart(folder: Path, work: str) -> Measured:
    """In a process of its own, so that the memory of one is not counted for the next."""
    command = [sys.executable, "-m", "lab.bench.scale", "--folder", str(folder), f"--{work}"]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    )
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def table(sizes: Sequence[int], kilobytes: int, work: str) -> None:
    made_of = material()
    print(f"scale: {work} a site of pages of {kilobytes} kB, in a process of its own")
    print(
        f"{'pages':>8}{'pairs':>8}{'precision':>11}{'recall':>8}{'peak MB':>9}{'CPU s':>8}{'ms/page':>9}{'n log n':>9}"
    )
    first: Measured | None = None
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            keep(Path(folder), MadeSite(made_of, size, kilobytes))
            made = time.perf_counter() - began
            got = apart(Path(folder), work)
        first = first or got
        growth = got.cpu / first.cpu / (got.pages * math.log(got.pages) / first.pages / math.log(first.pages))
        right = f"{got.right / max(got.found, 1):>11.3f}{got.right / max(got.true, 1):>8.3f}"
        used = f"{got.peak:>9.0f}{got.cpu:>8.1f}{1000 * got.cpu / got.pages:>9.2f}{growth:>9.2f}"
        print(f"{got.pages:>8,}{got.found:>8,}{right}{used}   (made in {made:.0f} s)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.scale")
    parser.add_argument("--pages", type=int, nargs="*", default=PAGES)
    parser.add_argument("--kilobytes", type=int, default=KILOBYTES)
    parser.add_argument("--folder", type=Path, help="measure this job folder in this process")
    parser.add_argument("--pair", action="store_true")
    parser.add_argument("--mine", action="store_true")
    asked = parser.parse_args()
    if asked.folder:
        print(json.dumps(measured(asked.folder, mine if asked.mine else pair)))
    elif not SITES.exists():
        print(f"scale: {SITES} is not here (frozen copies of the sites that src/bitrawl/models/pairs.md names)")
    else:
        table(asked.pages, asked.kilobytes, "mine" if asked.mine else "pair")


if __name__ == "__main__":
    main()
