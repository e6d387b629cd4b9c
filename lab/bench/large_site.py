"""A made-up bilingual site of 200,000 URLs, told to a strategy page by page: what it costs there, and what it remembers.

Of three URLs two are a translated page and its version, the third is a page that nobody translated. Half of the sections
declare their translations. A page has a menu of 20 links, 10 links back and 10 links on, and the pages are visited in
one order whatever the strategy says, so that all strategies see the same.
"""

import gc
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bitrawl.model import (
    Alternate,
    AlternateSource,
    Language,
    Lease,
    Link,
    LinkKind,
    Page,
    Paragraph,
    SiteKnowledge,
    Visit,
)
from bitrawl.protocols import LinkScorer
from bitrawl.url import Url

URLS, VISITS = 200_000, 60_000
LINKS_OF_ONE_PAGE = 20_000
HOST = "https://www.large.test"
SITE = SiteKnowledge("large.test")
SECTIONS = 40
WORDS = ("river", "council", "budget", "harbour", "forest", "museum", "report", "school", "winter", "market", "energy")
TAGS = ("div", "ul", "li", "a", "#text", "p", "#text", "h2", "#text", "span")


class Address(NamedTuple):
    """One of the site's pages."""

    document: int
    language: str
    translated: bool

    @classmethod
    def of(cls, number: int) -> "Address":
        """Three numbers are two documents, of which the first has a translation."""
        group, place = divmod(number, 3)
        return cls(2 * group + (place == 2), "fr" if place == 1 else "en", place < 2)

    @property
    def section(self) -> int:
        return self.document // 2 % SECTIONS

    def url(self, language: str = "") -> Url:
        words = "-".join(WORDS[self.document // step % len(WORDS)] for step in (1, 11, 121))
        section = f"section-{self.section}/{self.document % 7}"
        return Url.known(f"{HOST}/{language or self.language}/{section}/{words}-{self.document}.html")

    def title(self) -> str:
        words = " ".join(WORDS[self.document // step % len(WORDS)] for step in (1, 11, 121))
        return f"{words.title()} {self.document} ({self.language})"


def page(number: int) -> Page:
    """The page behind a number of the visits."""
    here = Address.of(number)
    url = here.url()
    menu = [
        Link(Url.known(f"{HOST}/{here.language}/section-{n}/"), LinkKind.PAGE, url, f"Section {n}") for n in range(20)
    ]
    onwards = URLS * number // VISITS
    near = [n for n in (*range(number - 10, number), *range(onwards + 1, onwards + 11)) if 0 <= n < URLS]
    links = [*menu, *(Link(one.url(), LinkKind.PAGE, url, one.title()) for one in map(Address.of, near))]
    if here.translated:
        links.append(Link(here.url("en" if here.language == "fr" else "fr"), LinkKind.PAGE, url, here.language))
    declared = here.translated and here.section % 2 == 0
    return Page(
        url,
        Language(here.language),
        paragraphs=(Paragraph("x" * (2000 + number % 97)),),
        links=tuple(_placed(links)),
        alternates=tuple(Alternate(here.url(code), code, AlternateSource.LINK) for code in ("en", "fr") if declared),
        tags=TAGS * len(links),
        fingerprint="hpplp" * 12 + "p" * (here.document % 9),
        signature=int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest()),
    )


def hub(count: int = LINKS_OF_ONE_PAGE) -> Page:
    """A page that links to very many."""
    url = Url.known(f"{HOST}/en/all.html")
    links = [Link(one.url(), LinkKind.PAGE, url, one.title()) for one in map(Address.of, range(count))]
    return Page(url, Language("en"), paragraphs=(Paragraph("x" * 2000),), links=tuple(_placed(links)))


def _placed(links: list[Link]) -> Iterator[Link]:
    for place, link in enumerate(links):
        yield Link(link.url, link.kind, link.source, link.anchor, position=len(TAGS) * place + 3, depth=3)


class Progress(NamedTuple):
    """After so many visits."""

    visits: int
    milliseconds: float  # CPU of the strategy, for each visit since the last line
    slowest: float
    megabytes: float  # of the process

    def __str__(self) -> str:
        return f"{self.visits:>8} {self.milliseconds:>10.3f} {self.slowest:>10.1f} {self.megabytes:>8.0f}"


HEAD = f"{'visits':>8} {'ms a visit':>10} {'slowest':>10} {'MB':>8}"


def told(scorer: LinkScorer, visits: int = VISITS, step: int = 10_000) -> Iterator[Progress]:
    """Tells the strategy the visits as the loop does."""
    costs = []
    for number in range(visits):
        costs.append(1000 * tell(scorer, page(number)))
        if (number + 1) % step == 0:
            gc.collect()
            yield Progress(number + 1, sum(costs) / len(costs), max(costs), resident())
            costs.clear()


def tell(scorer: LinkScorer, found: Page) -> float:
    """One visit; CPU seconds of the strategy."""
    visit = Visit(Lease(Link(found.url, LinkKind.PAGE, depth=2), 0.5), found, 200)
    began = time.process_time()
    scorer.learn(visit, SITE)
    scorer.score(found.links, found, SITE)
    scorer.advise(SITE)
    return time.process_time() - began


def resident() -> float:
    """Megabytes of this process, on Linux."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
