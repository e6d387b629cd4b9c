"""What the HTML pages of a manual say in two languages, paragraph by paragraph: all of it, also what a crawl does not pair.

The translations of a manual are made of one source, so a page has the same paragraphs in all languages, in the same order. A pair
of segments is right if each side is one or more whole sentences of the same paragraph, and both begin at about the same place
in it. That includes what the reader of HTML takes for boilerplate. The titles that HTML prints after the number of a section
that it refers to, and PDF does not, may be missing.
"""

import re
from collections.abc import Sequence
from itertools import accumulate

from bitrawl.model import Language, Paragraph, ParagraphKind
from bitrawl.page import read_html
from bitrawl.text.sentences import sentences
from bitrawl.text.words import bare_texts
from bitrawl.url import Url
from lab.bench.document_sites import SiteFile, TextPair

_NUMBER = re.compile(r"^(?:[^\W\d_]+\s)?(?:\d+|[A-Z])(?:\.\d+)*\.?\s+")  # "Chapter 3. ", "A.1. "
_APART = 0.3  # of a paragraph's length, between the places where the two sides begin

Place = tuple[str, int]  # a page, and the paragraph in it
Sentences = list[str]  # of one paragraph, without case, punctuation and spaces


class HtmlReference:
    """The sentences of all pages, by manual and language."""

    def __init__(self, files: Sequence[SiteFile]) -> None:
        self._paragraphs: dict[tuple[str, str], dict[Place, list[Sentences]]] = {}
        self._lengths: dict[tuple[str, str, str], int] = {}
        for manual, language in dict.fromkeys((file.manual, file.language) for file in files):
            own = [file for file in files if (file.manual, file.language) == (manual, language)]
            self._read(manual, language, own)

    def _read(self, manual: str, language: str, files: Sequence[SiteFile]) -> None:
        pages = {file.path: read_html(file.body, Url.parse(file.url)).paragraphs for file in files}
        titles = _titles([paragraph for page in pages.values() for paragraph in page])
        found = self._paragraphs.setdefault((manual, language), {})
        for path, page in pages.items():
            self._lengths[manual, language, path] = len(page)
            for number, paragraph in enumerate(page):
                texts = {paragraph.text, titles.sub("", paragraph.text)}
                found[path, number] = [bare_texts(sentences(text, Language(language[:2]))) for text in texts if text]

    def right(self, manual: str, languages: str, pairs: set[TextPair]) -> set[TextPair]:
        """Those pairs of segments that the two languages of the manual have at the same place; `languages` is "en-de"."""
        codes = languages.split("-")
        a, b = (self._index(manual, code, {pair[side] for pair in pairs}) for side, code in enumerate(codes))
        return {pair for pair in pairs if self._meet(manual, codes, a.get(pair[0], {}), b.get(pair[1], {}))}

    def _index(self, manual: str, language: str, segments: set[str]) -> dict[str, dict[Place, float]]:
        """Where each segment is, and at which part of its paragraph it begins."""
        index: dict[str, dict[Place, float]] = {}
        for place, variants in self._paragraphs[manual, language].items():
            for parts in variants:
                ends = [0, *accumulate(map(len, parts))]
                whole = "".join(parts)
                for i, start in enumerate(ends):
                    for end in ends[i + 1 :]:
                        if (text := whole[start:end]) in segments:
                            index.setdefault(text, {})[place] = start / len(whole)
        return index

    def _meet(self, manual: str, codes: Sequence[str], a: dict[Place, float], b: dict[Place, float]) -> bool:
        return any(
            abs(a[place] - b[place]) <= _APART and len({self._lengths[manual, code, place[0]] for code in codes}) == 1
            for place in a.keys() & b.keys()
        )


def _titles(paragraphs: Sequence[Paragraph]) -> re.Pattern[str]:
    """Finds a title that is printed after the number of its section or chapter, with quotation marks or without."""
    headings = (p.text for p in paragraphs if p.kind in (ParagraphKind.HEADING, ParagraphKind.TITLE))
    titles = sorted({_NUMBER.sub("", text) for text in headings}, key=len, reverse=True)
    return re.compile(rf"(?<=[\dA-Z]),?\s[“„«\"]?\s?(?:{'|'.join(map(re.escape, titles))})\s?[”“»\"]?")
