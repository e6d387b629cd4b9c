"""The pages of one site as pairing sees them: a summary and rows of numbers for each, without the template that recurs.

A page takes some kilobytes, whatever its length: texts and names are hashed, and the numbers of all pages stand in one
array of each kind, since a list of small arrays would cost ten times as much. The pages themselves are read twice, one at a
time; what needs a text again reads it again.
"""

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import asked_language, claimed_language
from bitrawl.model import UNDETERMINED, Alternate, AlternateSource, Language, Page, Paragraph, Sitemap
from bitrawl.text.arrays import Bools, Ints, Ints32, bounds, distinct, places_in
from bitrawl.text.template import Template, TemplateCounter, relabel
from bitrawl.text.words import text_key, unspaced_count, weight, words
from bitrawl.url import Url
from bitrawl.urls import named_languages

Numbers = NDArray[Any]


class Rows:
    """The rows in the order of the pages; `values` runs beside `flat`: how often, how heavy, where."""

    def __init__(self, starts: Ints, flat: Numbers, values: Numbers) -> None:
        self.starts, self.flat, self.values = starts, flat, values

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> Numbers:
        return self.flat[self.starts[number] : self.starts[number + 1]]

    def values_of(self, number: int) -> Numbers:
        """The values beside the numbers of that row."""
        return self.values[self.starts[number] : self.starts[number + 1]]

    def lengths(self) -> Ints:
        return np.diff(self.starts)

    def owners(self) -> Ints32:
        """For each element of `flat`, the page that it belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.lengths())

    def where(self, mask: Bools) -> "Rows":
        """Without the elements that the mask leaves out."""
        # Row by row: to sum up all at once takes eight bytes for each element.
        counts = [np.count_nonzero(mask[start:end]) for start, end in pairwise(self.starts.tolist())]
        values = self.values[mask] if len(self.values) else self.values
        return Rows(bounds(np.array(counts, np.int64)), self.flat[mask], values)


class RowWriter:
    """Takes the rows in any order of their pages; the type codes are those of `array`."""

    def __init__(self, flat: str, values: str = "") -> None:
        self.flat = array(flat)
        self.values = array(values) if values else None
        self.numbers, self.lengths = array("l"), array("l")

    def write(self, number: int, row: Sequence[int], values: Sequence[int] = ()) -> None:
        self.flat.extend(row)
        if self.values is not None:
            self.values.extend(values)
        self.numbers.append(number)
        self.lengths.append(len(row))

    def extend(self, other: "RowWriter") -> None:
        """With the rows of other pages, in which the same stands beside them."""
        self.flat.extend(other.flat)
        if self.values is not None and other.values is not None:
            self.values.extend(other.values)
        self.numbers.extend(other.numbers)
        self.lengths.extend(other.lengths)

    def rows(self, count: int) -> Rows:
        """The rows of so many pages; one that was not written has an empty row. The writer is empty after it."""
        numbers, lengths = np.array(self.numbers, np.int64), np.array(self.lengths, np.int64)
        of_number = np.zeros(count, np.int64)
        of_number[numbers] = lengths
        starts = bounds(of_number)
        targets = None if (np.diff(numbers) > 0).all() else starts[numbers]
        flat, self.flat = _arranged(self.flat, lengths, targets), array(self.flat.typecode)
        if self.values is None:
            return Rows(starts, flat, np.zeros(0, np.uint8))
        values, self.values = _arranged(self.values, lengths, targets), array(self.values.typecode)
        return Rows(starts, flat, values)


def _arranged(source: "array[int]", lengths: Ints, targets: Ints | None) -> Numbers:
    """What was written as an array, each row moved to where it belongs; None where all are there already."""
    written = np.frombuffer(source, source.typecode) if len(source) else np.zeros(0, source.typecode)
    if targets is None:
        return written
    flat = np.empty_like(written)
    ends = np.cumsum(lengths)
    for start, end, target in zip((ends - lengths).tolist(), ends.tolist(), targets.tolist(), strict=True):
        flat[target : target + end - start] = written[start:end]
    return flat


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
    leads: int  # how many links it has, wherever they lead
    canonical: Url | None  # another page that it calls the original


@dataclass(frozen=True, slots=True)
class SiteVocabulary:
    """The words of a language on a site, by their hashes, and how many pages have each."""

    hashes: NDArray[np.uint32]
    holders: Ints
    pages: int


@dataclass(slots=True)
class Site:
    """The summaries of one site, and where to find them."""

    summaries: list[PageSummary]
    by_url: dict[Url, int]
    languages: list[Language]  # those that its pages are in
    spoken: Ints  # of each page, the place of its language in `languages`
    weights: Ints  # of each page
    prose: Rows  # the paragraphs that are mostly letters, hashed, with their weights
    sentences: NDArray[np.uint64]  # those of them that a translator would have translated, each once
    code: NDArray[np.uint64]  # those of them that are code or commands
    term_rows: Rows  # of what a translation keeps, that which two languages have: places in `terms`, with how often
    terms: NDArray[np.uint32]  # hashes
    words: Rows  # of the beginning of its text: places in the vocabulary of its language, with how often
    vocabularies: Mapping[Language, SiteVocabulary]
    numbers: Rows  # the digit sequences of its text, in order
    images: Rows  # their names, without folders, hashed
    links: Rows  # the pages that it leads to, with their places in the tag sequence; by place
    alternates: Rows  # the pages that it declares translations, each with a `declaration`
    groups: list[tuple[Numbers, Numbers]]  # what the sitemaps declare: pages and declarations
    claims: list[Language]  # what declarations call the language of a page
    texts: "PageTexts"

    def of_language(self, language: Language) -> list[PageSummary]:
        """The pages in that language, in the order of their numbers."""
        return [summary for summary in self.summaries if summary.language == language]


class PageTexts:
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


class SplitText:
    """A text as its tokens, which stand between spaces. Most are letters alone, which takes no search to see."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = text.split()
        self.others = [token for token in self.tokens if not token.isalpha()]

    @property
    def is_prose(self) -> bool:
        """Mostly letters, and more than a word or two."""
        if len(self.text) < PROSE:
            return False
        others = "".join(self.others)
        letters = len("".join(self.tokens)) - len(others) + sum(map(str.isalpha, others))
        return letters + self.text.count(" ") >= PROSE_LETTERS * len(self.text)

    @property
    def is_code(self) -> bool:
        """Code, commands and file names: most of its words have signs in them."""
        return len(self._signed) >= CODE_WORDS * len(self.tokens)

    @property
    def is_sentence(self) -> bool:
        """Running text: what a translator would have translated.

        Both versions of a page share code, commands, names, menus and keys by nature. Half of the words stand as they do
        within a sentence: without signs, and written small or in a script without capitals.
        """
        if unspaced_count(self.text) * 2 > len(self.text):
            return True
        if len(self.tokens) < SENTENCE_WORDS:
            return False
        large = [token for token in self.tokens if not token.islower() and token != token.lower()]
        plain = len(self.tokens) - len(large) - sum(token == token.lower() for token in self._signed)
        return plain >= PLAIN_WORDS * len(self.tokens)

    @cached_property
    def _signed(self) -> list[str]:
        """The tokens with signs in them, or with nothing but marks."""
        bare = ((token, token.strip(_QUOTED)) for token in self.others)
        return [token for token, rest in bare if not rest.isalpha() and _SIGNS.search(rest or "_")]


def own_paragraphs(page: Page, template: Template) -> list[Paragraph]:
    """Its paragraphs without the template, as far as they are looked at."""
    paragraphs: list[Paragraph] = []
    room = MAX_TEXT
    for paragraph in page.paragraphs:
        if room <= 0:
            break
        if paragraph not in template:
            paragraphs.append(paragraph)
            room -= len(paragraph.text)
    return paragraphs


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


def length_step(weight: int) -> int:
    """The weight of a paragraph on a logarithmic scale, six steps for each doubling."""
    return round(LENGTH_STEPS * math.log2(1 + min(weight, MAX_TEXT)))


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
_BLOCK = 1 << 20  # Elements that are looked up at a time ...
_PAGES = 1_000  # ... and pages.

_NUMBER = re.compile(r"\d+")
# What a translation keeps as it is: numbers, addresses, code, names in Latin letters.
_KEPT = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_@.:/+\-]*[A-Za-z0-9_]|\d")
_KINDS = {"title": 0, "heading": 1, "listitem": 2, "text": 3}


def condense(  # noqa: PLR0913 - how to come by the pages
    pages: Iterable[Page] | Pages,
    languages: Sequence[Language],
    sitemaps: Iterable[Sitemap] = (),
    *,
    template: Template | None = None,
    page_of: PageOf | None = None,
    parts: "Parts | None" = None,
    sort: bool = False,
) -> Site:
    """The pages in one of those languages, numbered in the order in which they come or in that of their URLs.

    A callable is asked for the pages twice, and holds no page for us; `page_of` reads one of them again. A page that
    comes twice counts once, and one that is there the first time only has no text. `parts` is asked for all of the pages
    the second time, and may have them condensed elsewhere. `template`: see `language_of`.
    """
    if not callable(pages):
        listed = list(pages)
        pages, page_of = listed.__iter__, {page.url: page for page in listed}.get
    condenser = Condenser(Census.of(pages(), languages, template), sort=sort)
    several = iter(parts(condenser) if parts else [condenser.condensed(pages())])
    whole = next(several, Condensed())
    for condensed in several:
        whole.extend(condensed)
    for sitemap in sitemaps:
        for part in sitemap.parts():
            for group in part.alternates:
                condenser.add_group(group, whole)
    return condenser.site(whole, PageTexts(pages, page_of, condenser.numbers, condenser.template))


def language_of(page: Page, languages: Sequence[Language], template: Template | None = None) -> Language:
    """Which of those languages a page is in; "und" for none.

    What its text was identified as, unless the page claims another (by its markup or its address) and enough of its
    text is in that: a page of reference with more code than words, a title page with an English licence. `template` is
    that of its site, where the page is not relabelled yet: most pages need not be.
    """
    identified = _asked(page.language, languages)
    claims = [claimed_language(page.metadata.html_lang), *named_languages(page.url)]
    claimed = {_asked(claim, languages) for claim in claims} - {UNDETERMINED}
    if not claimed or identified in claimed:
        return identified
    whole: Counter[Language] = Counter()
    content: Counter[Language] = Counter()
    for paragraph in relabel(page, template).paragraphs if template else page.paragraphs:
        language, size = _asked(paragraph.language, languages), weight(paragraph.text)
        whole[language] += size
        if not paragraph.boilerplate:
            content[language] += size
    best = max(claimed, key=lambda language: (whole[language], language))
    enough = content[best] >= CLAIMED_CONTENT * content.total() if content.total() else identified == UNDETERMINED
    return best if whole[best] and (enough or whole[best] >= CLAIMED_WHOLE * whole.total()) else identified


def _asked(language: Language, languages: Sequence[Language]) -> Language:
    """The language of the list that takes it."""
    return asked_language(language, languages) or UNDETERMINED


class Census:
    """What must be known of all pages before one can be condensed."""

    def __init__(self, languages: Sequence[Language], template: Template | None = None) -> None:
        self._asked, self._template = languages, template
        self.languages: dict[Url, Language] = {}
        self._canonical: dict[Url, Url] = {}  # by the page
        self._tags: Counter[str] = Counter()
        self.counter = TemplateCounter()

    @classmethod
    def of(cls, pages: Iterable[Page], languages: Sequence[Language], template: Template | None = None) -> Self:
        census = cls(languages, template)
        for page in pages:
            census.add(page)
        return census

    def add(self, page: Page) -> None:
        """Pages in other languages count for the template."""
        language = language_of(page, self._asked, self._template)
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


@dataclass(slots=True)
class Condensed:
    """What was written of some pages. A part can be pickled: pages may be condensed in several processes."""

    summaries: dict[int, PageSummary] = field(default_factory=dict)
    prose: RowWriter = field(default_factory=partial(RowWriter, "Q", "I"))
    sentences: "array[int]" = field(default_factory=partial(array, "Q"))
    code: "array[int]" = field(default_factory=partial(array, "Q"))
    terms: RowWriter = field(default_factory=partial(RowWriter, "I", "H"))
    words: RowWriter = field(default_factory=partial(RowWriter, "I", "H"))
    numerals: RowWriter = field(default_factory=partial(RowWriter, "I"))
    images: RowWriter = field(default_factory=partial(RowWriter, "I"))
    links: RowWriter = field(default_factory=partial(RowWriter, "i", "H"))
    alternates: RowWriter = field(default_factory=partial(RowWriter, "i", "H"))
    claims: dict[Language, int] = field(default_factory=lambda: {UNDETERMINED: 0})
    groups: dict[bytes, tuple[Numbers, Numbers]] = field(default_factory=dict)

    def extend(self, other: "Condensed") -> None:
        """With the pages of another part, none of which is in this one; sitemaps come after all parts."""
        self.summaries |= other.summaries
        self.sentences.extend(other.sentences)
        self.code.extend(other.code)
        claims = np.array([self.claims.setdefault(claim, len(self.claims)) for claim in other.claims], np.int64)
        claims[claims >= _MAX_CLAIMS] = 0
        labels = np.array(other.alternates.values, np.int64)
        labels = claims[claim_of(labels)] << SOURCE_BITS | source_of(labels)
        other.alternates.values = array("H", labels.astype(np.uint16).tobytes())
        for name in ("prose", "terms", "words", "numerals", "images", "links", "alternates"):
            getattr(self, name).extend(getattr(other, name))


class Condenser:
    """Makes the summary of one page after the other, with what was counted of all of them, and at the end the site."""

    def __init__(self, census: Census, *, sort: bool) -> None:
        self.template = census.counter.template()
        del census.counter
        self._languages = census.languages
        self.numbers = census.numbers(sort=sort)
        self._by_url = census.with_canonical(self.numbers)
        self._alphabet = census.alphabet()

    def condensed(self, pages: Iterable[Page]) -> Condensed:
        """Of these pages, those that were counted, each once."""
        to = Condensed()
        for page in pages:
            self.add(page, to)
        return to

    def add(self, page: Page, to: Condensed) -> None:
        """Only pages that were counted, each once."""
        number = self.numbers.get(page.url)
        if number is None or number in to.summaries:
            return
        own = own_paragraphs(page, self.template)
        texts = texts_of(own)
        weights = [weight(text) for text in texts]
        forms = [(_KINDS[paragraph.kind], size) for paragraph, size in zip(own, weights, strict=True)]
        to.summaries[number] = self._summary(number, page, "\n".join(texts), forms)
        split_texts = [SplitText(text) for text in texts]
        _write_prose(to, number, split_texts, weights)
        self._write_terms(to, number, page, split_texts)
        _write_counts(to.words, number, Counter(words(beginning(texts), self._languages[page.url])))
        self._write_links(to, number, page)

    def add_group(self, group: Sequence[Alternate], to: Condensed) -> None:
        """What a sitemap declares; many entries declare the same."""
        pages, labels = self._declared(group, -1, to)
        if len(pages) > 1:
            members = np.array(pages, np.int64), np.array(labels, np.int64)
            to.groups[members[0].tobytes() + members[1].tobytes()] = members

    def site(self, of: Condensed, texts: PageTexts) -> Site:
        """Everything about the pages that were added."""
        count = len(self.numbers)
        for url, number in self.numbers.items():
            if number not in of.summaries:
                of.summaries[number] = self._summary(number, Page(url), "", [])
        summaries = [of.summaries.pop(number) for number in range(count)]
        spoken_languages = dict.fromkeys(summary.language for summary in summaries)
        places = {language: place for place, language in enumerate(sorted(spoken_languages))}
        spoken = np.array([places[summary.language] for summary in summaries], np.int64)
        term_rows, terms = shared_terms(of.terms.rows(count), spoken)
        written, vocabularies = numbered_words(of.words.rows(count), spoken, list(places))
        return Site(
            summaries=summaries,
            by_url=self._by_url,
            languages=list(places),
            spoken=spoken,
            weights=np.array([summary.weight for summary in summaries], np.int64),
            prose=of.prose.rows(count),
            sentences=distinct(np.array(of.sentences, np.uint64)),
            code=distinct(np.array(of.code, np.uint64)),
            term_rows=term_rows,
            terms=terms,
            words=written,
            vocabularies=vocabularies,
            numbers=of.numerals.rows(count),
            images=of.images.rows(count),
            links=of.links.rows(count),
            alternates=of.alternates.rows(count),
            groups=list(of.groups.values()),
            claims=list(of.claims),
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
            leads=len(page.links),
            canonical=page.canonical if page.canonical != page.url else None,
        )

    def _write_terms(self, to: Condensed, number: int, page: Page, split_texts: Sequence[SplitText]) -> None:
        """The numbers of its text, and what a translation keeps of it."""
        others = " ".join(chain.from_iterable(split.others for split in split_texts))
        to.numerals.write(number, [int(run[:18]) & 0xFFFFFFFF for run in _NUMBER.findall(others)[:MAX_NUMBERS]])
        terms = Counter(_KEPT.findall(" ".join(split.text for split in split_texts)))
        site = page.url.site
        terms.update(link.url for link in page.links[:MAX_LINKS] if link.url.site != site)
        _write_counts(to.terms, number, terms)

    def _write_links(self, to: Condensed, number: int, page: Page) -> None:
        names = {image.src.partition("?")[0].rpartition("/")[2] for image in page.images[:MAX_LINKS]}
        to.images.write(number, sorted({hashed(name) for name in names}))
        targets = ((link.position, self._by_url.get(link.url, -1)) for link in page.links[:MAX_LINKS])
        links = sorted(
            (min(place, _MOST), target) for place, target in targets if place >= 0 and target not in (-1, number)
        )
        to.links.write(number, [target for _, target in links], [place for place, _ in links])
        to.alternates.write(number, *self._declared(page.alternates[:MAX_LINKS], number, to))

    def _declared(self, alternates: Iterable[Alternate], number: int, to: Condensed) -> tuple[list[int], list[int]]:
        """The pages that are declared, without the page itself, and how."""
        pages, labels = [], []
        for alternate in alternates:
            target = self._by_url.get(alternate.url, -1)
            if target in (-1, number):
                continue
            claim = to.claims.setdefault(claimed_language(alternate.language), len(to.claims))
            if claim < _MAX_CLAIMS:
                pages.append(target)
                labels.append(claim << SOURCE_BITS | SOURCES.index(alternate.source))
        return pages, labels


Parts = Callable[[Condenser], Iterable[Condensed]]
"""Condenses all pages of a site, in parts that come in their order."""


def _write_prose(to: Condensed, number: int, split_texts: Sequence[SplitText], weights: Sequence[int]) -> None:
    prose: dict[int, int] = {}
    for split, size in zip(split_texts, weights, strict=True):
        if split.is_prose:
            key = text_key(split.text)
            prose[key] = size
            if split.is_code:
                to.code.append(key)
            elif split.is_sentence:
                to.sentences.append(key)
    to.prose.write(number, list(prose), list(prose.values()))


def _write_counts(writer: RowWriter, number: int, counts: Counter[str]) -> None:
    # As `hashed`: neither words nor what is kept have surrogates in them. No count is as high as `_MOST`.
    hashes = map(crc32, map(str.encode, counts))
    by_hash = dict(zip(hashes, counts.values(), strict=True))
    writer.write(number, list(by_hash), list(by_hash.values()))


def shared_terms(rows: Rows, spoken: Ints) -> tuple[Rows, NDArray[np.uint32]]:
    """Only the terms that pages of two languages have, by their places among all of those."""
    of_language = [_distinct(rows, spoken == place) for place in range(int(spoken.max(initial=-1)) + 1)]
    terms, languages = np.unique(np.concatenate([np.zeros(0, np.uint32), *of_language]), return_counts=True)
    terms = terms[languages > 1]
    mask = np.zeros(len(rows.flat), bool)
    for start in range(0, len(mask), _BLOCK):
        block = rows.flat[start : start + _BLOCK]
        mask[start : start + _BLOCK] = places_in(terms, block) >= 0
    shared = rows.where(mask)
    _replace(shared.flat, terms)
    return shared, terms


def numbered_words(
    written: Rows, spoken: Ints, languages: Sequence[Language]
) -> tuple[Rows, dict[Language, SiteVocabulary]]:
    """The words by their places in the vocabularies of their languages."""
    vocabularies = {}
    for place, language in enumerate(languages):
        pages = spoken == place
        hashes = _distinct(written, pages)
        holders = np.zeros(len(hashes), np.int64)
        for block, wanted in _blocks(written, pages):
            places = np.searchsorted(hashes, block[wanted])
            block[wanted] = places
            holders += np.bincount(places, minlength=len(hashes))
        vocabularies[language] = SiteVocabulary(hashes, holders, int(pages.sum()))
    return written, vocabularies


def _distinct(rows: Rows, pages: Bools) -> NDArray[np.uint32]:
    """All that stands in the rows of those pages, once, ascending."""
    parts = [distinct(block[wanted]) for block, wanted in _blocks(rows, pages)]
    return distinct(np.concatenate([rows.flat[:0], *parts]))


def _blocks(rows: Rows, pages: Bools) -> Iterator[tuple[Numbers, Bools]]:
    """The elements of some pages at a time, and which of them belong to those that are asked for."""
    for first in range(0, len(rows), _PAGES):
        starts = rows.starts[first : first + _PAGES + 1]
        yield rows.flat[starts[0] : starts[-1]], np.repeat(pages[first : first + _PAGES], np.diff(starts))


def _replace(flat: Numbers, ordered: Numbers) -> None:
    """Each by its place in the ascending array, which has all of them."""
    for start in range(0, len(flat), _BLOCK):
        block = flat[start : start + _BLOCK]
        block[:] = np.searchsorted(ordered, block)
