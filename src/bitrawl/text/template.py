"""Paragraphs that recur across a site's pages are its template, whatever the classifier of a single page said.

Counted by hash, in arrays, in memory that is bounded: lossy counting (Manku and Motwani 2002) forgets the texts that
were seen too seldom to become template, on sites with millions of them.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language, Page, Paragraph, ParagraphKind
from bitrawl.text.words import text_key

_Keys = NDArray[np.uint64]
_Counts = NDArray[np.uint32]

# Judgement, not tuned: no data says yet which paragraphs of a site are template.
MIN_PAGES = 10  # A smaller site has none: three product pages may share a heading.
MIN_COUNT = 5  # Pages of a language that have the text ...
MIN_COUNT_FEW = 3  # ... or all of its pages, where it has fewer than those, and at least so many.
MIN_SHARE = 0.3
MIN_SHARE_HEADING = 0.6  # "Description", "Example", "See also" head the sections of reference pages, and are content.
LONG = 200  # A paragraph of this length that recurs word for word is a notice, however few of the pages carry it ...
LONG_SHARE = 0.1  # ... as long as this many do.
MAX_TEXTS = 4_000_000  # Different texts remembered for each site, at 12 bytes: 100,000 pages of forty paragraphs.
# A section of a large site has a frame of its own: a list of its chapters on nearly each of its pages. A section is a
# folder with at least `MIN_PAGES` pages in a language.
SECTION_SHARE = 0.8

_HEADINGS = frozenset((ParagraphKind.HEADING, ParagraphKind.TITLE))


class TemplateCounter:
    """What recurs on one site, page by page; for each language apart, since a template is translated with its pages.

    How many pages are enough is asked of the site, not of each language: where the template of one language were
    known and that of the other not, their pages would look less alike than they are. For the same reason a section
    counts by itself: the chapters of a manual are listed on all pages of the language that has only the manual, and on
    few of another that has ten.

    The order of the pages changes nothing as long as nothing has to be forgotten.
    """

    def __init__(self, max_texts: int = MAX_TEXTS) -> None:
        self._sections = _SectionCounter(max_texts // 4)
        self._batch = max(1, max_texts // 8)
        self._max_counted = max_texts - max_texts // 4 - self._batch
        self._pages: dict[str, int] = {}
        self._new: dict[str, array[int]] = {}  # texts of pages that are not counted yet
        self._counted: dict[str, tuple[_Keys, _Counts]] = {}  # in the order of the keys
        self._floor = 0  # What has been forgotten was seen at most this often.

    def __len__(self) -> int:
        """How many hashes it remembers."""
        counted = sum(len(keys) for keys, _ in self._counted.values())
        return sum(map(len, self._new.values())) + counted + len(self._sections)

    def add(self, page: Page, language: Language | None = None) -> None:
        """A page counts a text once, however often it has it; `language`, where the caller knows it better."""
        spoken = page.language if language is None else language
        self._pages[spoken] = self._pages.get(spoken, 0) + 1
        keys = {_key(paragraph) for paragraph in page.paragraphs}
        self._new.setdefault(spoken, array("Q")).extend(keys)
        self._sections.add((spoken, page.url.folder), keys)
        if sum(map(len, self._new.values())) >= self._batch:
            self._count()

    def template(self) -> "Template":
        """The texts that recur on enough of the pages added so far."""
        if sum(self._pages.values()) < MIN_PAGES:
            return Template({})
        self._count()
        shares: dict[int, float] = {}
        for language, (keys, counts) in self._counted.items():
            pages = self._pages[language]
            often = counts >= max(self._floor + min(MIN_COUNT, max(MIN_COUNT_FEW, pages)), LONG_SHARE * pages)
            for key, count in zip(keys[often].tolist(), counts[often].tolist(), strict=True):
                shares[key] = max(shares.get(key, 0.0), count / pages)
        return Template(shares, self._sections.frames())

    def _count(self) -> None:
        """Put the new texts to the counted ones; while these are too many, forget those seen most seldom."""
        for language, texts in self._new.items():
            counted = self._counted.get(language, (np.zeros(0, np.uint64), np.zeros(0, np.uint32)))
            self._counted[language] = _added(*counted, np.array(texts, np.uint64), self._floor)
        self._new.clear()
        while sum(len(keys) for keys, _ in self._counted.values()) > self._max_counted:
            self._floor += 1
            for language, (keys, counts) in self._counted.items():
                frequent = counts > self._floor
                self._counted[language] = keys[frequent], counts[frequent]


class _SectionCounter:
    """How often a text stands on the pages of each folder in each language, in three columns of bounded length."""

    def __init__(self, max_texts: int) -> None:
        self._batch = max(1, max_texts // 2)
        self._numbers: dict[tuple[str, str], int] = {}
        self._pages: array[int] = array("I")  # of each section
        self._new = array("Q"), array("I")  # texts and their sections that are not counted yet
        self._texts, self._of, self._counts = np.zeros(0, np.uint64), np.zeros(0, np.uint32), np.zeros(0, np.uint32)
        self._floor = 0

    def __len__(self) -> int:
        return len(self._new[0]) + len(self._texts)

    def add(self, section: tuple[str, str], keys: Collection[int]) -> None:
        """Count the texts of one page of that section."""
        number = self._numbers.setdefault(section, len(self._numbers))
        if number == len(self._pages):
            self._pages.append(0)
        self._pages[number] += 1
        self._new[0].extend(keys)
        self._new[1].extend([number] * len(keys))
        if len(self._new[0]) >= self._batch:
            self._count()

    def frames(self) -> dict[int, float]:
        """The texts that nearly all pages of a section have, with the largest share, in the order of their hashes."""
        self._count()
        pages = np.array(self._pages, np.uint32)[self._of]
        frame = (pages >= MIN_PAGES) & (self._counts >= self._floor + SECTION_SHARE * pages)
        shares = (self._counts[frame] / pages[frame]).tolist()
        return dict(sorted(zip(self._texts[frame].tolist(), shares, strict=True)))  # the largest share comes last

    def _count(self) -> None:
        texts = np.concatenate([self._texts, np.array(self._new[0], np.uint64)])
        of = np.concatenate([self._of, np.array(self._new[1], np.uint32)])
        counts = np.concatenate([self._counts, np.ones(len(self._new[0]), np.uint32)])
        self._new = array("Q"), array("I")
        if not len(texts):
            return
        order = np.lexsort((texts, of))
        texts, of = texts[order], of[order]
        first = np.flatnonzero(np.append(True, (texts[1:] != texts[:-1]) | (of[1:] != of[:-1])))
        counts = np.add.reduceat(counts[order], first)
        self._texts, self._of, self._counts = texts[first], of[first], counts
        while len(self._texts) > self._batch:
            self._floor += 1
            frequent = self._counts > self._floor
            self._texts, self._of, self._counts = self._texts[frequent], self._of[frequent], self._counts[frequent]


class Template(msgspec.Struct, frozen=True):
    """The texts that recur on a site, by hash, each with the share of a language's pages that have it.

    What is template in one language is so wherever it stands: a page that nobody translated stands in the frame of
    the language that it was meant for.
    """

    shares: dict[int, float]
    frames: dict[int, float] = {}  # of sections; a heading is in a list of chapters, and heads its chapter

    def __contains__(self, paragraph: Paragraph) -> bool:
        key = _key(paragraph)
        if self.shares.get(key, 0.0) >= _needed(paragraph):
            return True
        return key in self.frames and paragraph.kind not in _HEADINGS


def template_of(pages: Iterable[Page]) -> Template:
    """The template of a site, from all of its pages."""
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


def _added(keys: _Keys, counts: _Counts, texts: _Keys, floor: int) -> tuple[_Keys, _Counts]:
    """The counted texts with the new ones, each as often as it stands there; an unknown one begins at the floor."""
    new, more = np.unique(texts, return_counts=True)
    places = np.searchsorted(keys, new)
    is_counted = np.zeros(len(new), bool)
    inside = places < len(keys)
    is_counted[inside] = keys[places[inside]] == new[inside]
    counts[places[is_counted]] += more[is_counted].astype(np.uint32)
    unknown = ~is_counted
    merged = np.insert(keys, places[unknown], new[unknown])
    return merged, np.insert(counts, places[unknown], (more[unknown] + floor).astype(np.uint32))


def _needed(paragraph: Paragraph) -> float:
    if paragraph.kind in _HEADINGS:
        return MIN_SHARE_HEADING
    return LONG_SHARE if len(paragraph.text) >= LONG else MIN_SHARE


def _key(paragraph: Paragraph) -> int:
    return text_key(paragraph.text.casefold())
