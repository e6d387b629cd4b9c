"""Paragraphs that recur across a site's pages are its template, whatever the classifier of a single page said.

They are counted by hash, in memory that does not grow with the site: lossy counting (Manku and Motwani 2002) forgets
the texts that were seen too seldom to become template.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

import msgspec

from bitrawl.model import Language, Page, Paragraph, ParagraphKind

# Judgement, not tuned: no data yet says which paragraphs of a site are template.
MIN_PAGES = 10  # A smaller site has none: three product pages may share a heading.
MIN_COUNT = 5  # Pages of a language that must have the text ...
MIN_COUNT_FEW = 3  # ... or all of its pages, if it has fewer than that but at least this many.
MIN_SHARE = 0.3
# "Description", "Example" and "See also" head the sections of reference pages, and are main text.
MIN_SHARE_HEADING = 0.6
LONG = 200  # A paragraph of this length that recurs word for word is a notice, even if few pages have it ...
LONG_SHARE = 0.1  # ... as long as at least this share does.
MAX_TEXTS = 50_000  # Hashes that are remembered per site: about 10 MB.


class TemplateCounter:
    """Counts what recurs on one site, page by page and language by language, because a template is translated too.

    The number of pages is required of the site, not of each language. If the template were known in only one of two
    languages, their pages would look less alike than they are.
    """

    def __init__(self, max_texts: int = MAX_TEXTS) -> None:
        self._max_texts = max_texts
        self._pages: dict[str, int] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._floor = 0  # What has been forgotten was seen at most this often.

    def add(self, page: Page, language: Language | None = None) -> None:
        """A page counts a text once, however often it contains it.

        Give `language` if you know it better than the page.
        """
        spoken = page.language if language is None else language
        self._pages[spoken] = self._pages.get(spoken, 0) + 1
        for key in {_key(paragraph) for paragraph in page.paragraphs}:
            place = (spoken, key)
            self._counts[place] = self._counts.get(place, self._floor) + 1
        while len(self._counts) > self._max_texts:
            self._floor += 1
            self._counts = {place: count for place, count in self._counts.items() if count > self._floor}

    def template(self) -> "Template":
        """What is known so far."""
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

    A text that is template in one language is template everywhere: an untranslated page is surrounded by the template
    of the language that it was meant for.
    """

    shares: dict[int, float]

    def __contains__(self, paragraph: Paragraph) -> bool:
        return self.shares.get(_key(paragraph), 0.0) >= _needed(paragraph)


def template_of(pages: Iterable[Page]) -> Template:
    counter = TemplateCounter()
    for page in pages:
        counter.add(page)
    return counter.template()


def without_template(pages: Callable[[], Iterable[Page]]) -> Iterator[Page]:
    """The pages of one site, with recurring text labelled boilerplate. It asks for the pages twice."""
    template = template_of(pages())
    for page in pages():
        yield relabel(page, template)


def relabel(page: Page, template: Template) -> Page:
    """Paragraphs of the template become boilerplate. No boilerplate becomes main text."""
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
    """The same in every process, so that counts can be stored."""
    return int.from_bytes(blake2b(paragraph.text.casefold().encode(), digest_size=8).digest(), "big")
