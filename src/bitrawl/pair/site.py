"""The pages of one site, prepared for pairing: condensed, numbered, without the site's template."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Alternate, Language, Page, Sitemap
from bitrawl.text.template import Template, TemplateCounter
from bitrawl.text.weight import weight
from bitrawl.url import Url
from bitrawl.urls.marks import named_languages

# Judgements, except where a line names its evidence.
MAX_TEXT = 30_000  # Characters of a page that are read. More of a long page adds nothing.
MAX_LINKS = 1_000  # Per page, in their order.
MAX_TAGS = 4_000  # Per page. The cost of comparing them is quadratic.
# Chosen by looking at errors on the ten site packs and the bundled web (2026-11).
CLAIMED_CONTENT = 0.2  # Share of the main text that is in the claimed language: the rest may be code or quotations ...
CLAIMED_WHOLE = 0.6  # ... or share of all text: a title page is a list of links and an English licence.
PROSE = 20  # Running text has at least this many characters (judgement) ...
PROSE_LETTERS = 0.85  # ... and at least this share of letters and spaces.

_NUMBER = re.compile(r"\d+")
# What a translation keeps unchanged: numbers, URLs, code, names in Latin letters.
_KEPT = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_@.:/+\-]*[A-Za-z0-9_]|\d")
_KINDS = {"title": 0, "heading": 1, "listitem": 2, "text": 3}


@dataclass(frozen=True, slots=True)
class PageSummary:
    """The parts of a page that pairing needs."""

    number: int
    url: Url
    language: Language
    paragraphs: tuple[str, ...]  # its own text, without the site's template
    prose: dict[str, int]  # the paragraphs that are running text, with their weights
    weight: int  # of its own text, in characters of an alphabet
    fingerprint: str  # one character per paragraph: kind and length
    tags: str  # the tag sequence, one character per tag
    numbers: tuple[int, ...]  # the digit sequences of its text, in order
    kept: dict[int, int]  # what a translation keeps unchanged, hashed, with its frequency
    images: frozenset[str]  # their names, without folders
    links: tuple[tuple[int, int], ...]  # (place in the tag sequence, number of the target page)
    alternates: tuple[Alternate, ...]
    machine: bool  # translated by a machine


@dataclass(slots=True)
class Site:
    """The summaries of one site, and lookups for them."""

    summaries: list[PageSummary]
    by_url: dict[Url, int]
    groups: list[tuple[Alternate, ...]] = field(default_factory=list)  # what the sitemaps declare

    def of_language(self, language: Language) -> list[PageSummary]:
        """Sorted by their numbers."""
        return [summary for summary in self.summaries if summary.language == language]


def is_prose(text: str) -> bool:
    """Whether it is running text: not code, a table or a few words, but text that a translator would have translated."""
    return len(text) >= PROSE and sum(map(str.isalpha, text)) + text.count(" ") >= PROSE_LETTERS * len(text)


def condense(pages: Sequence[Page], languages: Sequence[Language], sitemaps: Iterable[Sitemap] = ()) -> Site:
    """The pages in one of those languages, numbered in their order."""
    spoken = [language_of(page, languages) for page in pages]
    counter = TemplateCounter()
    for page, language in zip(pages, spoken, strict=True):
        counter.add(page, language)
    kept = [page for page, language in zip(pages, spoken, strict=True) if language != UNDETERMINED]
    by_url = {page.url: number for number, page in enumerate(kept)}
    for number, page in enumerate(kept):
        if page.canonical is not None:
            by_url.setdefault(page.canonical, number)
    alphabet: dict[str, str] = {}
    own = [language for language in spoken if language != UNDETERMINED]
    summaries = [
        _Condenser(by_url, counter.template(), alphabet).summary(number, page, language)
        for number, (page, language) in enumerate(zip(kept, own, strict=True))
    ]
    groups = [group for sitemap in sitemaps for part in sitemap.parts() for group in part.alternates]
    return Site(summaries, by_url, groups)


def language_of(page: Page, languages: Sequence[Language]) -> Language:
    """Which of those languages a page is in; "und" if none.

    It is the identified language of the text, unless the page claims another one (by its markup or URL) and enough of
    the text is in that language. Examples are a reference page with more code than words and a title page with an
    English licence.
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
    """The language of the list that accepts it."""
    return next((asked for asked in languages if same_language(language, asked)), UNDETERMINED)


@dataclass(slots=True)
class _Condenser:
    by_url: dict[Url, int]
    template: Template
    alphabet: dict[str, str]  # the tags of the site, one character each

    def summary(self, number: int, page: Page, language: Language) -> PageSummary:
        own = [p for p in page.paragraphs if p not in self.template]
        texts: list[str] = []
        room = MAX_TEXT
        for paragraph in own:
            if room <= 0:
                break
            texts.append(paragraph.text[:room])
            room -= len(paragraph.text)
        weights = [weight(text) for text in texts]
        shape = "".join(chr(48 + 16 * _KINDS[p.kind] + w.bit_length()) for p, w in zip(own, weights, strict=False))
        whole = " ".join(texts)
        return PageSummary(
            number=number,
            url=page.url,
            language=language,
            paragraphs=tuple(texts),
            prose={text: w for text, w in zip(texts, weights, strict=True) if is_prose(text)},
            weight=sum(weights),
            fingerprint=shape,
            tags="".join(map(self._letter, page.tags[:MAX_TAGS])),
            numbers=tuple(int(run[:18]) for run in _NUMBER.findall(whole)),
            kept=self._kept(page, whole),
            images=frozenset(image.src.partition("?")[0].rpartition("/")[2] for image in page.images),
            links=self._links(page, number),
            alternates=page.alternates,
            machine=bool(page.machine_translation),
        )

    def _letter(self, tag: str) -> str:
        letter = self.alphabet.get(tag)
        if letter is None:
            letter = self.alphabet[tag] = chr(0x100 + len(self.alphabet))
        return letter

    def _links(self, page: Page, number: int) -> tuple[tuple[int, int], ...]:
        targets = ((link.position, self.by_url.get(link.url, -1)) for link in page.links[:MAX_LINKS])
        return tuple(sorted((place, target) for place, target in targets if place >= 0 and target not in (-1, number)))

    def _kept(self, page: Page, whole: str) -> dict[int, int]:
        """Tokens that translations share, and the URLs outside the site, which they share too."""
        site = page.url.site
        tokens = Counter(_KEPT.findall(whole))
        tokens.update(link.url for link in page.links[:MAX_LINKS] if link.url.site != site)
        return {crc32(token.encode()): count for token, count in tokens.items()}
