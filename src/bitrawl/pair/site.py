"""The pages of one site as pairing sees them: summaries in arrays, and texts that are read again when they are needed."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import AlternateSource, Language, Page, Paragraph
from bitrawl.pair.rows import Numbers, Rows
from bitrawl.text.template import Template
from bitrawl.text.words import unspaced_count
from bitrawl.url import Url

Pages = Callable[[], Iterable[Page]]
"""Gives the pages of a site from the beginning, each time that it is called."""

PageOf = Callable[[Url], Page | None]
"""Reads one page of a site again; None where it is gone."""

# Judgements, except where a line names its evidence.
MAX_TEXT = 30_000  # Characters of a page that are looked at: more of a long page says nothing new.
LEARNED_TEXT = 5_000  # Characters of a page whose words are compared.
PROSE = 20  # Characters of running text, at the least: judgement ...
PROSE_LETTERS = 0.85  # ... and the share of them that are letters and spaces.
# A sentence has more than names, commands and keys: so many words (judgement) of which half are written small. In German, a
# third of the words of a sentence is not.
SENTENCE_WORDS = 5
PLAIN_WORDS = 0.5
CODE_WORDS = 0.5
_QUOTED = "\"'“”‘’«»().,;!?…"
_SIGNS = re.compile(r"[\d_/\\:=<>{}\[\]$@#*+|~^%&.-]")

LENGTH_STEPS = 6  # For each doubling of a paragraph: a step is 12 %.

SOURCES = tuple(AlternateSource)
SOURCE_BITS = 4


@dataclass(frozen=True, slots=True)
class PageSummary:
    """What of a page is needed to pair it, and is one value; the rest is in the rows of the site."""

    number: int
    url: Url
    language: Language
    weight: int  # of its own text, without the site's template, in characters of an alphabet
    text: int  # a hash of that text
    blocks: int  # paragraphs of that text
    fingerprint: bytes  # one for each of the first paragraphs: kind and length
    lengths: bytes  # of the same paragraphs, finer
    form: int  # a hash of all paragraphs' kinds, and whether each is short or long
    tags: bytes  # the tag sequence, one for each tag
    alternates: int  # how many it declares, known or not
    machine: bool  # translated by a machine


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a language on a site, by their hashes, and how many pages have each."""

    hashes: NDArray[np.uint32]
    holders: NDArray[np.int64]
    pages: int


@dataclass(slots=True)
class Site:
    """The summaries of one site, and where to find them."""

    summaries: list[PageSummary]
    by_url: dict[Url, int]
    languages: list[Language]  # those that its pages are in
    spoken: NDArray[np.int64]  # of each page, the place of its language in `languages`
    weights: NDArray[np.int64]  # of each page
    prose: Rows  # the paragraphs that are mostly letters, hashed, with their weights
    sentences: NDArray[np.uint64]  # those of them that a translator would have translated, each once
    code: NDArray[np.uint64]  # those of them that are code or commands
    kept: Rows  # of what a translation keeps, that which two languages have: places in `terms`, with how often
    terms: NDArray[np.uint32]  # hashes
    words: Rows  # of the beginning of its text: places in the vocabulary of its language, with how often
    vocabularies: Mapping[Language, Vocabulary]
    numbers: Rows  # the digit sequences of its text, in order
    images: Rows  # their names, without folders, hashed
    links: Rows  # the pages that it leads to, with their places in the tag sequence; by place
    alternates: Rows  # the pages that it declares translations, each with a `declaration`
    groups: list[tuple[Numbers, Numbers]]  # what the sitemaps declare: pages and declarations
    claims: list[Language]  # what declarations call the language of a page
    texts: "Texts"

    def of_language(self, language: Language) -> list[PageSummary]:
        """In the order of their numbers."""
        return [summary for summary in self.summaries if summary.language == language]


class Texts:
    """The texts of the pages of a site, read again whenever they are asked for."""

    def __init__(self, pages: Pages, page_of: PageOf | None, numbers: Mapping[Url, int], template: Template) -> None:
        self._pages, self._page_of, self._numbers, self._template = pages, page_of, numbers, template

    def each(self) -> Iterator[tuple[int, list[str]]]:
        """The number of each page and its own paragraphs, in the order in which the pages come."""
        seen = bytearray(len(self._numbers))
        for page in self._pages():
            number = self._numbers.get(page.url)
            if number is not None and not seen[number]:
                seen[number] = True
                yield number, texts_of(own_paragraphs(page, self._template))

    def of(self, urls: Collection[Url]) -> Iterator[tuple[int, list[str]]]:
        """The same of some pages. Goes through all of them where there is no other way to come by one."""
        if self._page_of is None:
            wanted = {self._numbers[url] for url in urls}
            yield from ((number, texts) for number, texts in self.each() if number in wanted)
            return
        for url in urls:
            page = self._page_of(url)
            if page is not None:
                yield self._numbers[url], texts_of(own_paragraphs(page, self._template))


def is_prose(text: str) -> bool:
    """Mostly letters, and more than a word or two."""
    return len(text) >= PROSE and sum(map(str.isalpha, text)) + text.count(" ") >= PROSE_LETTERS * len(text)


def is_sentence(text: str) -> bool:
    """Running text: what a translator would have translated.

    Both versions of a page share code, commands, names, menus and keys by nature.
    """
    tokens = text.split()
    if unspaced_count(text) * 2 > len(text):
        return True
    plain = sum(_is_plain(token) for token in tokens)
    return len(tokens) >= SENTENCE_WORDS and plain >= PLAIN_WORDS * len(tokens)


def is_code(text: str) -> bool:
    """Code, commands and file names: most of its words have signs in them."""
    tokens = text.split()
    return sum(_has_signs(token) for token in tokens) >= CODE_WORDS * len(tokens)


def _is_plain(token: str) -> bool:
    """A word as it stands within a sentence: without signs, and written small or in a script without capitals."""
    return token == token.lower() and not _has_signs(token)


def _has_signs(token: str) -> bool:
    return bool(_SIGNS.search(token.strip(_QUOTED) or "_"))


def own_paragraphs(page: Page, template: Template) -> list[Paragraph]:
    """Its paragraphs without the template, as far as they are looked at."""
    found: list[Paragraph] = []
    room = MAX_TEXT
    for paragraph in page.paragraphs:
        if room <= 0:
            break
        if paragraph not in template:
            found.append(paragraph)
            room -= len(paragraph.text)
    return found


def texts_of(paragraphs: Sequence[Paragraph]) -> list[str]:
    """The last is cut where it goes on beyond what is looked at."""
    texts = [paragraph.text for paragraph in paragraphs]
    over = sum(map(len, texts)) - MAX_TEXT
    if over > 0:
        texts[-1] = texts[-1][:-over]
    return texts


def beginning(texts: Sequence[str]) -> str:
    """As much of a page's own text as its words are taken from."""
    return " ".join(texts)[:LEARNED_TEXT]


def hashed(text: str) -> int:
    """32 bits, the same in every process."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def claim_of(declaration: Numbers) -> Numbers:
    """The place in `Site.claims` of the language that is declared."""
    return declaration >> SOURCE_BITS


def source_of(declaration: Numbers) -> Numbers:
    """The place in `SOURCES` of where it is declared."""
    return declaration & ((1 << SOURCE_BITS) - 1)


def text_key(text: str) -> int:
    """64 bits, the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def length_step(weight: int) -> int:
    """The weight of a paragraph on a logarithmic scale, six steps for each doubling."""
    return round(LENGTH_STEPS * math.log2(1 + min(weight, MAX_TEXT)))
