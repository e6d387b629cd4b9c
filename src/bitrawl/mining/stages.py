"""The straight line, one site at a time: clean, pair, align, judge.

`Miner.pair` goes through all pages of a site: what recurs on them is no content, and the rest is paired. `Miner.align`
reads the pages of some pairs again, aligns them and judges their segments, with what `Miner.learn` was taught by a
sample of the pairs. So memory does not grow with the site.
"""

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, islice
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple

import msgspec

from bitrawl.errors import lacks_memory
from bitrawl.languages import same_language
from bitrawl.mining.aligned_pages import SiteAligner
from bitrawl.mining.duplicates import PageText, repeated_pages
from bitrawl.mining.embedding_aligner import EmbeddingAligner
from bitrawl.mining.findings import RefusalReason, RefusedPair, SiteFindings
from bitrawl.mining.judging import Judge
from bitrawl.mining.lexical_aligner import LexicalAligner, enough_to_learn
from bitrawl.mining.pairing import Pairing, PairingResult
from bitrawl.mining.settings import AlignSection
from bitrawl.mining.site import Condensed, Condenser, PageOf, Pages
from bitrawl.model import Language, Page, PagePair, SegmentPair, Sitemap, pack
from bitrawl.protocols import Encoder, LanguageIdentifier
from bitrawl.text.known_words import known_words
from bitrawl.text.sentences import bounded
from bitrawl.text.template import Template, relabel, template_of
from bitrawl.url import Url
from bitrawl.urls import learn_patterns

NOTES = 16 << 20  # bytes of what is noted of pages until the pairs are known: of a large site it is put on the disk
MOST_PATTERNS = 5  # per site and language pair, for the report

Languages = tuple[Language, Language]


class PairedSite(msgspec.Struct, frozen=True):
    """A site whose pages are paired; its pairs are still to be aligned."""

    findings: SiteFindings
    template: Template
    too_long: dict[str, str] = {}  # pages of a monolingual corpus: what is left out of them
    extent: str = ""  # which pages and sitemaps were read: `Ledger.extent`
    texts: dict[str, bytes] = {}  # of each page in a pair: a hash of what aligning reads of it


class AlignedPair(NamedTuple):
    """The judged segments of one pair of pages, and what went wrong with others of them."""

    segments: tuple[SegmentPair, ...]
    faults: tuple[str, ...] = ()
    too_long: str = ""  # what is left out because it cannot be split


class PageNote(NamedTuple):
    """What is remembered of a page until the pairs are known."""

    url: Url
    digest: bytes  # of what aligning reads of it
    text: PageText | None  # None where it is not about the topic


class PassedPages(NamedTuple):
    """What `PagePass` makes of some pages."""

    condensed: Condensed
    notes: list[PageNote]


class PagePass(NamedTuple):
    """Goes through pages whose template is known, once for all that is asked of them. It can be pickled."""

    template: Template
    condenser: Condenser | None  # None where the pairs are known already

    def of(self, pages: Iterable[Page]) -> PassedPages:
        """They are looked at one by one: it does not matter which pages come together."""
        made = PassedPages(Condensed(), [])
        for page in pages:
            if self.condenser is not None:
                self.condenser.add(page, made.condensed)
            made.notes.append(_noted(relabel(page, self.template)))
        return made


Passing = Callable[[PagePass], Iterable[PassedPages]]
"""Takes all pages of a site through it, in their order, as many at a time as it likes."""


class Miner:
    """Makes page pairs and segment pairs from the pages of one site.

    Mining can be repeated: with more pages of the same site, new findings replace the old ones. The order of the crawl
    does not matter.
    """

    def __init__(
        self,
        languages: Sequence[Language],
        pairing: Pairing,
        identifier: LanguageIdentifier,
        *,
        encoder: Encoder | None = None,
        characters: int = AlignSection().characters,
    ) -> None:
        self._languages = languages
        self._pairing = pairing
        self._identifier = identifier
        self._encoder = encoder
        self._characters = characters

    def pair(
        self,
        site: str,
        pages: Pages,
        sitemaps: Iterable[Sitemap],
        *,
        known_pairs: Sequence[PagePair] | None = None,
        page_of: PageOf | None = None,
        passing: Passing | None = None,
    ) -> PairedSite:
        """Clean and pair. `pages` gives the same pages each time, as those of a `SiteView` are.

        `known_pairs` of an earlier run are taken as they are. `page_of` reads one page again. `passing` may go through the
        same pages in other processes too.
        """
        census = _Census()
        template = template_of(census.counted(pages()))
        with SpooledTemporaryFile(NOTES) as notes:

            def parts(condenser: Condenser | None = None) -> Iterator[Condensed]:
                work = PagePass(template, condenser)
                for made in passing(work) if passing else [work.of(pages())]:
                    pickle.dump(made.notes, notes)
                    yield made.condensed

            if known_pairs is None:
                paired = self._pairing.pairs(
                    pages, self._languages, sitemaps, template=template, page_of=page_of, parts=parts
                )
                pairs, refusals = _about_topic(paired, census)
            else:
                pairs, refusals = list(known_pairs), []
                deque(parts(), maxlen=0)
            texts = dict.fromkeys((url for pair in pairs for url in _urls(pair)), b"")
            copies = repeated_pages(_page_texts(notes, texts), protected=texts)
        names = {str(copy): str(original) for copy, original in copies.items()}
        ordered = tuple(sorted(pairs, key=lambda pair: (pair.lang_a, pair.lang_b, pair.url_a, pair.url_b)))
        findings = SiteFindings(site, census.pages, ordered, tuple(refusals), names, _patterns(pairs))
        read = {str(url): digest for url, digest in texts.items()}
        clean = (relabel(page, template) for page in pages())
        return PairedSite(findings, template, too_long=self._too_long(clean, copies), texts=read)

    def learn(self, languages: Languages, pairs: Sequence[tuple[Page, Page]]) -> bytes:
        """What aligning these pairs teaches: to align and judge pairs of the same site with, also in another process.

        Each pair is asked for once, and again if it is among those that are enough to learn from.
        """
        aligner = SiteAligner(languages, characters=self._characters)
        enough = enough_to_learn([aligner.size(pair) for pair in pairs])
        learning = LexicalAligner(prior=known_words(*languages, self._pairing.dictionary))
        return pickle.dumps(learning.learn(aligner.documents([pairs[number] for number in enough])))

    def align(
        self, languages: Languages, pairs: Sequence[tuple[Page, Page]], learned: bytes = b""
    ) -> list[AlignedPair]:
        """Align and judge; the pairs teach each other unless something was `learned` before."""
        taught = _taught(learned) if learned else None
        aligner = SiteAligner(languages, self._aligner(languages, taught), characters=self._characters)
        too_long: list[list[str]] = [[] for _ in pairs]
        aligned = aligner.align(pairs, too_long=lambda number, segment: too_long[number].append(segment.a.text))
        judge = Judge(languages, self._identifier, taught.lexicon if taught else aligner.lexicon)
        return [
            judged._replace(too_long=_left_out(texts))
            for judged, texts in zip(_judged(judge, aligned), too_long, strict=True)
        ]

    def _aligner(self, languages: Languages, taught: LexicalAligner | None) -> LexicalAligner | EmbeddingAligner:
        if self._encoder:
            return EmbeddingAligner(self._encoder)
        return taught or LexicalAligner(prior=known_words(*languages, self._pairing.dictionary))

    def _too_long(self, pages: Iterable[Page], copies: dict[Url, Url]) -> dict[str, str]:
        """What is left out of the pages of a monolingual corpus. Between two languages it shows after the alignment."""
        if len(self._languages) > 1:
            return {}
        [language] = self._languages
        texts = {
            str(page.url): bounded(page, self._characters)[1]
            for page in pages
            if page.is_on_topic and page.url not in copies and same_language(page.language, language)
        }
        return {url: _left_out(long) for url, long in texts.items() if long}


def _about_topic(result: PairingResult, census: "_Census") -> tuple[list[PagePair], list[RefusedPair]]:
    """The pairs that are about the topic, and what was refused, each two pages once."""
    pairs = [*result.pairs, *result.partial]
    refusals = {(refusal.url_a, refusal.url_b): refusal for refusal in result.refusals}
    off_topic = [_urls(pair) for pair in pairs if census.excludes(pair)]
    refusals |= {urls: RefusedPair(*urls, RefusalReason.OFF_TOPIC) for urls in off_topic}
    return [pair for pair in pairs if not census.excludes(pair)], list(refusals.values())


def _noted(page: Page) -> PageNote:
    digest = blake2b(page.language.encode() + pack(page.paragraphs), digest_size=16).digest()
    # Else a copy could go with a first that is left out.
    return PageNote(page.url, digest, PageText.of(page) if page.is_on_topic else None)


def _page_texts(notes: IO[bytes], digests: dict[Url, bytes]) -> Iterator[PageText]:
    """All that were noted. Those pages that have a place in `digests` are noted there as they pass."""
    notes.seek(0)
    with suppress(EOFError):
        while True:
            for note in pickle.load(notes):  # noqa: S301 - written by `Miner.pair`
                if note.url in digests:
                    digests[note.url] = note.digest
                if note.text is not None:
                    yield note.text


@dataclass(slots=True)
class _Census:
    """How many pages there are, which are not about the topic, and of which of them this is only a guess."""

    pages: int = 0
    off: set[Url] = field(default_factory=set)
    guessed: set[Url] = field(default_factory=set)

    def counted(self, pages: Iterable[Page]) -> Iterator[Page]:
        """The same pages, which are counted as they pass."""
        for page in pages:
            self.pages += 1
            if not page.is_on_topic:
                self.off.add(page.url)
                if page.relevance is not None and page.relevance.guessed:
                    self.guessed.add(page.url)
            yield page

    def excludes(self, pair: PagePair) -> bool:
        """Half in domain is not enough, unless the other half is only guessed: its translation decides then."""
        off = self.off.intersection(_urls(pair))
        return len(off) > 1 or not off <= self.guessed


def _urls(pair: PagePair) -> tuple[Url, Url]:
    return pair.url_a, pair.url_b


def _patterns(pairs: Iterable[PagePair]) -> dict[str, int]:
    """A few patterns that explain how the URLs of the pairs differ, with the number of pairs that show each."""
    by_languages: dict[str, list[tuple[Url, Url]]] = {}
    for pair in pairs:
        if not pair.partial:
            by_languages.setdefault(f"{pair.lang_a}-{pair.lang_b}", []).append(_urls(pair))
    return {
        f"{languages} {pattern}": pattern.support
        for languages, urls in by_languages.items()
        for pattern in learn_patterns(urls)[:MOST_PATTERNS]
    }


@lru_cache(maxsize=2)  # two pairs of languages may be aligned in turn
def _taught(learned: bytes) -> LexicalAligner:
    return LexicalAligner(knowledge=pickle.loads(learned))  # noqa: S301 - made by `learn`


def _judged(judge: Judge, aligned: Sequence[Sequence[SegmentPair]]) -> list[AlignedPair]:
    """The segments of each pair of pages, all at once; a segment that cannot be judged costs itself, and not its page."""
    try:
        judged = iter(judge.judge(list(chain.from_iterable(aligned))))
        return [AlignedPair(tuple(islice(judged, len(segments)))) for segments in aligned]
    except Exception as error:
        if lacks_memory(error):
            raise
        if len(aligned) > 1:
            return [alone for segments in aligned for alone in _judged(judge, [segments])]
        good: list[SegmentPair] = []
        faults: list[str] = []
        for segment in chain.from_iterable(aligned):
            try:
                good += judge.judge([segment])
            except Exception as error:
                if lacks_memory(error):
                    raise
                faults.append(f"{type(error).__name__}: {error} in {segment.a.text!r} | {segment.b.text!r}"[:500])
        return [AlignedPair(tuple(good), tuple(faults))]


def _left_out(texts: Sequence[str]) -> str:
    """How many texts are too long, and how the first of them begins."""
    if not texts:
        return ""
    longest = max(map(len, texts))
    many = f"{len(texts)} segments of up to" if len(texts) > 1 else "one segment of"
    return f"{many} {longest} characters without a mark to split at: {texts[0][:100]!r}"
