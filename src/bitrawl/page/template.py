"""Paragraphs that recur across a site's pages are its template: told once the site is known, whatever the classifier said.

Counted by hash, in memory that does not grow with the site: lossy counting (Manku and Motwani 2002) forgets the texts
that were seen too seldom to become template.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

import msgspec

from bitrawl.model import Page, Paragraph, ParagraphKind

# Judgement, not tuned: no data says yet which paragraphs of a site are template.
MIN_PAGES = 10  # Fewer pages of a language say nothing: three product pages may share a heading.
MIN_COUNT = 5
MIN_SHARE = 0.3
MIN_SHARE_HEADING = 0.6  # "Description", "Example", "See also" head the sections of reference pages, and are content.
LONG = 200  # A paragraph of this length that recurs word for word is a notice, however few of the pages carry it ...
LONG_SHARE = 0.1  # ... as long as this many do.
MAX_TEXTS = 50_000  # Hashes remembered for each site.


class TemplateCounter:
    """What recurs on one site, page by page; for each language apart, since a template is translated with its pages."""

    def __init__(self, max_texts: int = MAX_TEXTS) -> None:
        self._max_texts = max_texts
        self._pages: dict[str, int] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._floor = 0  # What has been forgotten was seen at most this often.

    def add(self, page: Page) -> None:
        """A page counts a text once, however often it has it."""
        self._pages[page.language] = self._pages.get(page.language, 0) + 1
        for key in {_key(paragraph) for paragraph in page.paragraphs}:
            place = (page.language, key)
            self._counts[place] = self._counts.get(place, self._floor) + 1
        while len(self._counts) > self._max_texts:
            self._floor += 1
            self._counts = {place: count for place, count in self._counts.items() if count > self._floor}

    def template(self) -> "Template":
        """What is known by now."""
        shares = {
            place: count / self._pages[place[0]]
            for place, count in self._counts.items()
            if count - self._floor >= MIN_COUNT and self._pages[place[0]] >= MIN_PAGES
        }
        return Template({place: share for place, share in shares.items() if share >= LONG_SHARE})


class Template(msgspec.Struct, frozen=True):
    """The texts that recur on a site, with the share of its pages that have them."""

    shares: dict[tuple[str, int], float]

    def __contains__(self, paragraph_of: tuple[str, Paragraph]) -> bool:
        """Whether that paragraph, of a page in that language, is template."""
        language, paragraph = paragraph_of
        share = self.shares.get((language, _key(paragraph)), 0.0)
        return share >= _needed(paragraph)


def template_of(pages: Iterable[Page]) -> Template:
    """Of the pages of one site."""
    counter = TemplateCounter()
    for page in pages:
        counter.add(page)
    return counter.template()


def relabel(page: Page, template: Template) -> Page:
    """Its paragraphs that are template become boilerplate; nothing that was boilerplate becomes content."""
    paragraphs = tuple(
        msgspec.structs.replace(paragraph, boilerplate=True)
        if not paragraph.boilerplate and (page.language, paragraph) in template
        else paragraph
        for paragraph in page.paragraphs
    )
    return msgspec.structs.replace(page, paragraphs=paragraphs)


def without_template(pages: Callable[[], Iterable[Page]]) -> Iterator[Page]:
    """The pages of one site, known whole: what recurs on them is boilerplate. Asks for them twice."""
    template = template_of(pages())
    for page in pages():
        yield relabel(page, template)


def _needed(paragraph: Paragraph) -> float:
    if paragraph.kind in (ParagraphKind.HEADING, ParagraphKind.TITLE):
        return MIN_SHARE_HEADING
    return LONG_SHARE if len(paragraph.text) >= LONG else MIN_SHARE


def _key(paragraph: Paragraph) -> int:
    """The same in every process, so that counts may be kept."""
    return int.from_bytes(blake2b(paragraph.text.casefold().encode(), digest_size=8).digest(), "big")
