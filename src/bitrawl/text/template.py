"""Paragraphs that recur across a site's pages are its template, whatever the classifier of a single page said.

Counted by hash, in memory that does not grow with the site: lossy counting (Manku and Motwani 2002) forgets the texts
that were seen too seldom to become template.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

import msgspec

from bitrawl.model import Language, Page, Paragraph, ParagraphKind

# Judgement, not tuned: no data says yet which paragraphs of a site are template.
MIN_PAGES = 10  # A smaller site has none: three product pages may share a heading.
MIN_COUNT = 5  # Pages of a language that have the text ...
MIN_COUNT_FEW = 3  # ... or all of its pages, where it has fewer than those, and at least so many.
MIN_SHARE = 0.3
MIN_SHARE_HEADING = 0.6  # "Description", "Example", "See also" head the sections of reference pages, and are content.
LONG = 200  # A paragraph of this length that recurs word for word is a notice, however few of the pages carry it ...
LONG_SHARE = 0.1  # ... as long as this many do.
MAX_TEXTS = 50_000  # Hashes remembered for each site: about 10 MB.


class TemplateCounter:
    """What recurs on one site, page by page; for each language apart, since a template is translated with its pages.

    How many pages are enough is asked of the site, not of each language: where the template of one language were
    known and that of the other not, their pages would look less alike than they are.
    """

    def __init__(self, max_texts: int = MAX_TEXTS) -> None:
        self._max_texts = max_texts
        self._pages: dict[str, int] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._floor = 0  # What has been forgotten was seen at most this often.

    def add(self, page: Page, language: Language | None = None) -> None:
        """A page counts a text once, however often it has it; `language`, where the caller knows it better."""
        spoken = page.language if language is None else language
        self._pages[spoken] = self._pages.get(spoken, 0) + 1
        for key in {_key(paragraph) for paragraph in page.paragraphs}:
            place = (spoken, key)
            self._counts[place] = self._counts.get(place, self._floor) + 1
        while len(self._counts) > self._max_texts:
            self._floor += 1
            self._counts = {place: count for place, count in self._counts.items() if count > self._floor}

    def template(self) -> "Template":
        """What is known by now."""
        if sum(self._pages.values()) < MIN_PAGES:
            return Template({})
        shares: dict[int, float] = {}
        for (language, key), count in self._counts.items():
            pages = self._pages[language]
            if count - self._floor >= min(MIN_COUNT, max(MIN_COUNT_FEW, pages)) and count >= LONG_SHARE * pages:
                shares[key] = max(shares.get(key, 0.0), count / pages)
        return Template(shares)


class Template(msgspec.Struct, frozen=True):
    """The texts that recur on a site, by hash, each with the share of a language's pages that have it.

    What is template in one language is so wherever it stands: a page that nobody translated stands in the frame of
    the language that it was meant for.
    """

    shares: dict[int, float]

    def __contains__(self, paragraph: Paragraph) -> bool:
        return self.shares.get(_key(paragraph), 0.0) >= _needed(paragraph)


def template_of(pages: Iterable[Page]) -> Template:
    """Of the pages of one site."""
    counter = TemplateCounter()
    for page in pages:
        counter.add(page)
    return counter.template()


def without_template(pages: Callable[[], Iterable[Page]]) -> Iterator[Page]:
    """The pages of one site, with what recurs on them labelled boilerplate. Asks for the pages twice."""
    template = template_of(pages())
    for page in pages():
        yield relabel(page, template)


def relabel(page: Page, template: Template) -> Page:
    """Its paragraphs that are template become boilerplate; nothing that was boilerplate becomes content."""
    paragraphs = tuple(
        msgspec.structs.replace(paragraph, boilerplate=True)
        if not paragraph.boilerplate and paragraph in template
        else paragraph
        for paragraph in page.paragraphs
    )
    return msgspec.structs.replace(page, paragraphs=paragraphs)


def _needed(paragraph: Paragraph) -> float:
    if paragraph.kind in (ParagraphKind.HEADING, ParagraphKind.TITLE):
        return MIN_SHARE_HEADING
    return LONG_SHARE if len(paragraph.text) >= LONG else MIN_SHARE


def _key(paragraph: Paragraph) -> int:
    """The same in every process, so that counts may be kept."""
    return int.from_bytes(blake2b(paragraph.text.casefold().encode(), digest_size=8).digest(), "big")
