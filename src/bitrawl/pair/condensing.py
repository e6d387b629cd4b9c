"""From the pages of a site to what pairing keeps of them: condensed, numbered, without the template that recurs on them.

A summary of a page is some kilobytes, whatever its length: texts and names are hashed, and stand in arrays. The pages
themselves are read twice, one at a time; what needs a text again reads it again.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import asked_language, claimed_language
from bitrawl.model import UNDETERMINED, Alternate, Language, Page, Sitemap
from bitrawl.pair.rows import Numbers, Rows, RowWriter, places_in
from bitrawl.pair.site import (
    SOURCE_BITS,
    SOURCES,
    PageOf,
    Pages,
    PageSummary,
    Site,
    Texts,
    Vocabulary,
    beginning,
    hashed,
    is_code,
    is_prose,
    is_sentence,
    length_step,
    own_paragraphs,
    text_key,
    texts_of,
)
from bitrawl.text.template import TemplateCounter
from bitrawl.text.weight import weight
from bitrawl.text.words import words
from bitrawl.url import Url
from bitrawl.urls.marks import named_languages

MAX_LINKS = 1_000  # Of a page, in their order; images and alternates as well.
MAX_TAGS = 4_000  # Of a page: comparing them costs the square of it.
MAX_NUMBERS = 400  # Of a page, that are compared: the time grows with the square.
MAX_BLOCKS = 500  # Paragraphs of a page whose forms are compared.
LONG = 64  # Weight of a paragraph that is long, for the form of a page.
# Settled by looking at errors on the ten site packs and the bundled web (2026-11).
CLAIMED_CONTENT = 0.2  # Share of the main text that is in what a page claims: the rest may be code or quotations ...
CLAIMED_WHOLE = 0.6  # ... or of all its text: a title page is a list of links and an English licence.
_MAX_CLAIMS = 1 << (16 - SOURCE_BITS)
_LETTERS = 255  # Tags of a site that have a letter of their own; the rarer ones share the last.
_MOST = 0xFFFF  # A count or a place that is higher is this.
_BLOCK = 1 << 20  # Elements that are looked up at a time.

_NUMBER = re.compile(r"\d+")
# What a translation keeps as it is: numbers, addresses, code, names in Latin letters.
_KEPT = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_@.:/+\-]*[A-Za-z0-9_]|\d")
_KINDS = {"title": 0, "heading": 1, "listitem": 2, "text": 3}


def condense(
    pages: Iterable[Page] | Pages,
    languages: Sequence[Language],
    sitemaps: Iterable[Sitemap] = (),
    *,
    page_of: PageOf | None = None,
    sort: bool = False,
) -> Site:
    """The pages in one of those languages, numbered in the order in which they come or in that of their URLs.

    A callable is asked for the pages twice, and holds no page for us; `page_of` reads one of them again. A page that
    comes twice counts once, and one that is there the first time only has no text.
    """
    if not callable(pages):
        listed = list(pages)
        pages, page_of = listed.__iter__, {page.url: page for page in listed}.get
    census = Census(languages)
    for page in pages():
        census.add(page)
    condenser = Condenser(census, sort=sort)
    for page in pages():
        condenser.add(page)
    for sitemap in sitemaps:
        for part in sitemap.parts():
            for group in part.alternates:
                condenser.add_group(group)
    return condenser.site(Texts(pages, page_of, condenser.numbers, condenser.template))


def language_of(page: Page, languages: Sequence[Language]) -> Language:
    """Which of those languages a page is in; "und" for none.

    What its text was identified as, unless the page claims another (by its markup or its address) and enough of its
    text is in that: a page of reference with more code than words, a title page with an English licence.
    """
    found = _asked(page.language, languages)
    claims = [claimed_language(page.metadata.html_lang), *named_languages(page.url)]
    claimed = {_asked(claim, languages) for claim in claims} - {UNDETERMINED}
    if not claimed or found in claimed:
        return found
    whole: Counter[Language] = Counter()
    content: Counter[Language] = Counter()
    for paragraph in page.paragraphs:
        language, size = _asked(paragraph.language, languages), weight(paragraph.text)
        whole[language] += size
        if not paragraph.boilerplate:
            content[language] += size
    best = max(claimed, key=lambda language: (whole[language], language))
    enough = content[best] >= CLAIMED_CONTENT * content.total() if content.total() else found == UNDETERMINED
    return best if whole[best] and (enough or whole[best] >= CLAIMED_WHOLE * whole.total()) else found


def _asked(language: Language, languages: Sequence[Language]) -> Language:
    """The language of the list that takes it."""
    return asked_language(language, languages) or UNDETERMINED


class Census:
    """What must be known of all pages before one can be condensed."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._asked = languages
        self.languages: dict[Url, Language] = {}
        self._canonical: dict[Url, Url] = {}  # by the page
        self._tags: Counter[str] = Counter()
        self.counter = TemplateCounter()

    def add(self, page: Page) -> None:
        """Pages in other languages count for the template."""
        language = language_of(page, self._asked)
        self.counter.add(page, language)
        if language == UNDETERMINED:
            return
        self.languages[page.url] = language
        self._tags.update(page.tags[:MAX_TAGS])
        if page.canonical is not None and page.canonical != page.url:
            self._canonical[page.url] = page.canonical

    def numbers(self, *, sort: bool) -> dict[Url, int]:
        """Of the pages in the languages that were asked for."""
        urls = sorted(self.languages) if sort else list(self.languages)
        return {url: number for number, url in enumerate(urls)}

    def with_canonical(self, numbers: dict[Url, int]) -> dict[Url, int]:
        """Pages by their addresses and by those that they call their own."""
        by_url = dict(numbers)
        for url, number in numbers.items():
            if url in self._canonical:
                by_url.setdefault(self._canonical[url], number)
        return by_url

    def alphabet(self) -> "Alphabet":
        """The commonest tags, each a letter, whatever the order of the pages."""
        common = sorted(self._tags.items(), key=lambda entry: (-entry[1], entry[0]))[:_LETTERS]
        return Alphabet({tag: place for place, (tag, _) in enumerate(common)})


class Alphabet(dict[str, int]):
    """The letters of tags; those that have none share one."""

    def __missing__(self, tag: str) -> int:
        return _LETTERS


class Condenser:
    """Makes the summary of one page after the other, and at the end the site."""

    def __init__(self, census: Census, *, sort: bool) -> None:
        self.template = census.counter.template()
        del census.counter
        self._languages = census.languages
        self.numbers = census.numbers(sort=sort)
        self._by_url = census.with_canonical(self.numbers)
        self._alphabet = census.alphabet()
        self._summaries: dict[int, PageSummary] = {}
        self._prose, self._sentences, self._code = RowWriter("Q", "I"), array("Q"), array("Q")
        self._kept, self._words = RowWriter("I", "H"), RowWriter("I", "H")
        self._numerals, self._images = RowWriter("I"), RowWriter("I")
        self._links, self._alternates = RowWriter("i", "H"), RowWriter("i", "H")
        self._claims: dict[Language, int] = {UNDETERMINED: 0}
        self._groups: dict[bytes, tuple[Numbers, Numbers]] = {}

    def add(self, page: Page) -> None:
        """Only pages that were counted, each once."""
        number = self.numbers.get(page.url)
        if number is None or number in self._summaries:
            return
        own = own_paragraphs(page, self.template)
        texts = texts_of(own)
        weights = [weight(text) for text in texts]
        forms = [(_KINDS[paragraph.kind], size) for paragraph, size in zip(own, weights, strict=True)]
        self._summaries[number] = self._summary(number, page, "\n".join(texts), forms)
        self._write_prose(number, texts, weights)
        self._write_text(number, page, texts)
        self._write_links(number, page)

    def add_group(self, group: Sequence[Alternate]) -> None:
        """What a sitemap declares; many entries declare the same."""
        pages, said = self._declared(group, -1)
        if len(pages) > 1:
            members = np.array(pages, np.int64), np.array(said, np.int64)
            self._groups[members[0].tobytes() + members[1].tobytes()] = members

    def site(self, texts: Texts) -> Site:
        """All that was added."""
        count = len(self.numbers)
        for url, number in self.numbers.items():
            if number not in self._summaries:
                self._summaries[number] = self._summary(number, Page(url), "", [])
        summaries = [self._summaries.pop(number) for number in range(count)]
        asked = dict.fromkeys(summary.language for summary in summaries)
        places = {language: place for place, language in enumerate(sorted(asked))}
        spoken = np.array([places[summary.language] for summary in summaries], np.int64)
        kept, terms = shared_terms(self._kept.rows(count), spoken)
        written, vocabularies = numbered_words(self._words.rows(count), spoken, list(places))
        return Site(
            summaries=summaries,
            by_url=self._by_url,
            languages=list(places),
            spoken=spoken,
            weights=np.array([summary.weight for summary in summaries], np.int64),
            prose=self._prose.rows(count),
            sentences=np.unique(np.array(self._sentences, np.uint64)),
            code=np.unique(np.array(self._code, np.uint64)),
            kept=kept,
            terms=terms,
            words=written,
            vocabularies=vocabularies,
            numbers=self._numerals.rows(count),
            images=self._images.rows(count),
            links=self._links.rows(count),
            alternates=self._alternates.rows(count),
            groups=list(self._groups.values()),
            claims=list(self._claims),
            texts=texts,
        )

    def _summary(self, number: int, page: Page, text: str, forms: Sequence[tuple[int, int]]) -> PageSummary:
        return PageSummary(
            number=number,
            url=page.url,
            language=self._languages[page.url],
            weight=sum(size for _, size in forms),
            text=text_key(text),
            blocks=len(forms),
            fingerprint=bytes(48 + 16 * kind + size.bit_length() for kind, size in forms[:MAX_BLOCKS]),
            lengths=bytes(length_step(size) for _, size in forms[:MAX_BLOCKS]),
            form=text_key("".join(chr(2 * kind + (size >= LONG) + 65) for kind, size in forms)),
            tags=bytes(map(self._alphabet.__getitem__, page.tags[:MAX_TAGS])),
            alternates=len(page.alternates),
            machine=bool(page.machine_translation),
        )

    def _write_prose(self, number: int, texts: Sequence[str], weights: Sequence[int]) -> None:
        prose: dict[int, int] = {}
        for text, size in zip(texts, weights, strict=True):
            if is_prose(text):
                key = text_key(text)
                prose[key] = size
                if is_code(text):
                    self._code.append(key)
                elif is_sentence(text):
                    self._sentences.append(key)
        self._prose.write(number, list(prose), list(prose.values()))

    def _write_text(self, number: int, page: Page, texts: Sequence[str]) -> None:
        whole = " ".join(texts)
        self._numerals.write(number, [int(run[:18]) & 0xFFFFFFFF for run in _NUMBER.findall(whole)[:MAX_NUMBERS]])
        kept = Counter(_KEPT.findall(whole))
        site = page.url.site
        kept.update(link.url for link in page.links[:MAX_LINKS] if link.url.site != site)
        _write_counts(self._kept, number, kept)
        _write_counts(self._words, number, Counter(words(beginning(texts), self._languages[page.url])))

    def _write_links(self, number: int, page: Page) -> None:
        names = {image.src.partition("?")[0].rpartition("/")[2] for image in page.images[:MAX_LINKS]}
        self._images.write(number, sorted({hashed(name) for name in names}))
        targets = ((link.position, self._by_url.get(link.url, -1)) for link in page.links[:MAX_LINKS])
        links = sorted((min(place, _MOST), to) for place, to in targets if place >= 0 and to not in (-1, number))
        self._links.write(number, [to for _, to in links], [place for place, _ in links])
        self._alternates.write(number, *self._declared(page.alternates[:MAX_LINKS], number))

    def _declared(self, alternates: Iterable[Alternate], number: int) -> tuple[list[int], list[int]]:
        """The pages that are declared, without the page itself, and how."""
        pages, said = [], []
        for alternate in alternates:
            target = self._by_url.get(alternate.url, -1)
            if target in (-1, number):
                continue
            claim = self._claims.setdefault(claimed_language(alternate.language), len(self._claims))
            if claim < _MAX_CLAIMS:
                pages.append(target)
                said.append(claim << SOURCE_BITS | SOURCES.index(alternate.source))
        return pages, said


def _write_counts(writer: RowWriter, number: int, counts: Counter[str]) -> None:
    by_hash: dict[int, int] = {}
    for token, count in counts.items():
        by_hash[hashed(token)] = min(count, _MOST)
    writer.write(number, list(by_hash), list(by_hash.values()))


def shared_terms(kept: Rows, spoken: NDArray[np.int64]) -> tuple[Rows, NDArray[np.uint32]]:
    """Only the terms that pages of two languages have, by their places among all of those."""
    of_language = [_distinct(kept, np.flatnonzero(spoken == place)) for place in range(int(spoken.max(initial=-1)) + 1)]
    terms, languages = np.unique(np.concatenate([np.zeros(0, np.uint32), *of_language]), return_counts=True)
    terms = terms[languages > 1]
    mask = np.zeros(len(kept.flat), bool)
    for start in range(0, len(mask), _BLOCK):
        block = kept.flat[start : start + _BLOCK]
        mask[start : start + _BLOCK] = places_in(terms, block) >= 0
    shared = kept.kept(mask)
    _replace(shared.flat, terms)
    return shared, terms


def numbered_words(
    written: Rows, spoken: NDArray[np.int64], languages: Sequence[Language]
) -> tuple[Rows, dict[Language, Vocabulary]]:
    """The words by their places in the vocabularies of their languages."""
    vocabularies = {}
    for place, language in enumerate(languages):
        pages = np.flatnonzero(spoken == place)
        known = _distinct(written, pages)
        holders = np.zeros(len(known), np.int64)
        for number in pages.tolist():
            row = written[number]
            row[:] = np.searchsorted(known, row)
            holders[row] += 1
        vocabularies[language] = Vocabulary(known, holders, len(pages))
    return written, vocabularies


def _distinct(rows: Rows, pages: NDArray[np.int64]) -> NDArray[np.uint32]:
    """All that stands in the rows of those pages, once, ascending."""
    some = np.zeros(len(rows), bool)
    some[pages] = True
    return cast("NDArray[np.uint32]", np.unique(rows.flat[np.repeat(some, rows.lengths())]))


def _replace(flat: Numbers, known: Numbers) -> None:
    """Each by its place in the ascending array, which has all of them."""
    for start in range(0, len(flat), _BLOCK):
        block = flat[start : start + _BLOCK]
        block[:] = np.searchsorted(known, block)
