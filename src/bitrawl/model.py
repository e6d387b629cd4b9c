"""The domain types. Each is frozen and describes one state of knowledge."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from typing import Any, Generic, NewType, Self, TypeVar

import msgspec

from bitrawl.errors import UrlError
from bitrawl.files import compressor, zstd
from bitrawl.reasons import NO_ANSWER as NO_ANSWER  # noqa: PLC0414 - public here
from bitrawl.reasons import TRANSIENT as TRANSIENT  # noqa: PLC0414 - public here
from bitrawl.reasons import LeaveReason, Reason, Stage
from bitrawl.url import Url

Language = NewType("Language", str)
"""A BCP 47 code, usually the bare ISO 639 code ("fr", "zh", "sr-Latn"). "und" means that it is not known."""

UNDETERMINED = Language("und")


class LinkKind(StrEnum):
    """How we learned of a URL."""

    SEED = "seed"
    SITEMAP = "sitemap"  # listed in a sitemap
    PAGE = "page"
    ALTERNATE = "alternate"  # declared as a translation of its source
    REDIRECT = "redirect"  # the target of a redirect
    PARTNER = "partner"  # the translation of a page that a strategy expects to exist
    BACKLINK = "backlink"  # a page that links to a page we know, as a link graph says
    ARCHIVE = "archive"  # a record of a WARC file that is read as a whole
    INDEX = "index"  # a sitemap file: read for its links, never a page
    ROBOTS = "robots"  # a host's rules, robots.txt or tdmrep.json: requested by the robots wrapper, never queued
    PROBE = "probe"  # a URL that cannot exist: what the host answers is its soft 404


FEED = "feed"
"""The relation of a link to a feed, which is read as a sitemap is."""
OWN_REQUESTS = (LinkKind.ROBOTS, LinkKind.INDEX, LinkKind.PROBE)
"""Requests that the crawler makes for itself. They are counted apart, and never as skipped links."""


class Link(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What is known about a page before it is fetched."""

    url: Url
    kind: LinkKind
    source: Url | None = None
    anchor: str = ""
    context: str = ""  # the text around the anchor
    rel: str = ""
    hreflang: str = ""
    image_alt: str = ""
    image_src: str = ""
    position: int = -1  # in the source's tag sequence
    depth: int = 0
    redirects: int = 0  # how many redirects led here
    modified: float = 0.0  # the last change, as a sitemap or a feed says, in seconds since the epoch; 0 if it does not
    published: float = 0.0  # the same of its publication

    @property
    def is_named_sitemap(self) -> bool:
        """Whether robots.txt or another sitemap names it, and not only our guess of its address."""
        return self.kind is LinkKind.INDEX and self.source is not None


class Capture(msgspec.Struct, frozen=True):
    """One HTTP answer as received."""

    url: Url
    status: int
    headers: tuple[tuple[str, str], ...]  # as received, in order
    body: bytes  # content-decoded
    at: float  # seconds since the epoch
    took: float = 0.0  # seconds
    media_type: str = ""  # sniffed from the body, whatever the header claims
    request: bytes = b""  # the request head as sent
    payload: bytes = b""  # the body before content-decoding, for the archive; dropped once archived
    place: "WarcPosition | None" = None
    ip: str = ""  # the server's IP address, where it is known
    rendered: bool = False  # the body is what a browser made of the answer, by running its scripts
    digest: str = ""  # of the payload, as the archive has it
    unchanged: bool = False  # since the last visit: the server says so, or the payload is the same

    def header(self, name: str) -> str:
        """All values of that header, joined by a comma. Empty if the header is absent."""
        name = name.lower()
        return ", ".join(value for key, value in self.headers if key.lower() == name)

    def redirect_target(self) -> Url:
        """Where a redirect leads; raises `UrlError` when that is no http(s) URL."""
        location = next((value for name, value in self.headers if name.lower() == "location"), "")
        if not location.strip():
            raise UrlError(f"{self.url} redirects to nowhere")
        with suppress(UnicodeError):
            location = location.encode(
                "latin-1"
            ).decode()  # UTF-8 is what servers send, though RFC 9110 knows ASCII only
        return Url.parse(location, base=self.url)


COMPUTED = "bitrawl-computed"  # no `data-`: scripts that fade in what is scrolled to have such attributes
"""The attribute in which a `rendered` page tells what a browser computed for an element; its root has it in any case."""


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What is remembered of an answer, to ask later whether it has changed."""

    etag: str = ""
    last_modified: str = ""
    digest: str = ""  # of the payload
    at: float = 0.0


class WarcPosition(msgspec.Struct, frozen=True, gc=False):
    """Where a response record is in the job's archive."""

    file: str
    offset: int


class ParagraphKind(StrEnum):
    """What a paragraph is. The names are ILSP-FC's."""

    TITLE = "title"
    HEADING = "heading"
    LISTITEM = "listitem"
    TEXT = "text"


class Paragraph(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A block of text on a page. Boilerplate is kept too."""

    text: str  # normalised: single spaces, no control characters, NFC
    kind: ParagraphKind = ParagraphKind.TEXT
    boilerplate: bool = False
    content: float = 1.0  # the classifier's probability that this is main text
    language: Language = UNDETERMINED  # of boilerplate, known only where somebody asks for it
    confidence: float = 0.0
    position: int = -1  # in the page's tag sequence
    terms: tuple[str, ...] = ()


class AlternateSource(StrEnum):
    """Where a page declares a translation of itself."""

    LINK = "link"
    HEADER = "header"
    SITEMAP = "sitemap"
    ANCHOR = "anchor"
    AREA = "area"
    OPTION = "option"
    DATA = "data"
    SWITCHER = "switcher"
    JSON_LD = "json-ld"


class Alternate(msgspec.Struct, frozen=True, gc=False):
    """A translation that a page declares. It is evidence, not yet a pair."""

    url: Url
    language: str  # as declared, in lower case: "fr", "pt-br", "x-default"; empty if the page does not say
    source: AlternateSource


class Image(msgspec.Struct, frozen=True, gc=False):
    src: Url
    alt: str = ""
    position: int = -1


class Metadata(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a page says about itself, unchanged."""

    description: str = ""
    keywords: str = ""
    author: str = ""
    date: str = ""  # ISO 8601 if it could be parsed
    licence: str = ""  # a URL or the text of the notice
    html_lang: str = ""
    content_language: str = ""
    locale: str = ""  # og:locale
    other_locales: tuple[str, ...] = ()  # og:locale:alternate: languages that exist, but without a URL


class Directive(StrEnum):
    """What a page asks of robots, in its head or in its HTTP headers."""

    NOINDEX = "noindex"
    NOFOLLOW = "nofollow"
    NOAI = "noai"
    TDM_RESERVATION = "tdm-reservation"  # https://www.w3.org/community/reports/tdmrep/


MAX_REDIRECTS = 5  # in a row; RFC 9309, section 2.3.1.2, asks for as many for robots.txt
OPT_OUTS = frozenset({Directive.NOAI, Directive.TDM_RESERVATION})
"""Directives that forbid mining the page's text."""


class Relevance(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Whether a page is about the job's topic, and what says so."""

    score: float  # 0–1; a probability where the model is calibrated
    relevant: bool  # whether the score, and whatever else the model asks for, reaches the thresholds
    weight: float = 0.0  # of the terms found, with their places: p of Papavassiliou, section 3.5
    terms: int = 0  # distinct terms found: m of the same section
    perplexity: float = 0.0  # Remus, section 3.2; 0 if no language model was asked
    classes: tuple[str, ...] = ()  # the classes of the terms found, the heaviest first
    guessed: bool = False  # without running text, or in a language without a topic: its translation knows better


class DrawnBy(StrEnum):
    """What shows that scripts draw a page, the most certain first; or that a browser has run them."""

    ROOT = "root"  # an empty element of the kind that the common frameworks fill
    NOTICE = "notice"  # it says so to those who run no scripts
    STATE = "state"  # its scripts hold more text than the page
    NOTHING_ELSE = "nothing-else"  # it has scripts, and neither text nor links
    BROWSER = "browser"  # it was read as a browser has drawn it


class DocumentType(StrEnum):
    """What a crawl reads besides sitemaps."""

    # A row has its name, which is its label and a key of the catalogues, its media types, and how files of it are named.
    media_types: frozenset[str]
    endings: tuple[str, ...]

    def __new__(cls, name: str, media_types: tuple[str, ...], endings: tuple[str, ...] = ()) -> Self:
        row = str.__new__(cls, name)
        row._value_, row.media_types, row.endings = name, frozenset(media_types), endings
        return row

    HTML = ("html", ("text/html", "application/xhtml+xml", "text/plain"))
    PDF = ("pdf", ("application/pdf",), ("pdf",))
    OFFICE = (
        "office",
        (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.oasis.opendocument.text",
            "application/epub+zip",
            "application/rtf",
        ),
        ("docx", "odt", "epub", "rtf"),
    )
    FEED = ("feed", ())  # read for their links, as sitemaps are


class MarkdownBlock(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A paragraph, a table or a piece of code of a page, as Markdown."""

    text: str
    first: int  # it shows `paragraphs[first:end]`
    end: int


class Page(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """What was read from a capture."""

    url: Url
    language: Language = UNDETERMINED
    confidence: float = 0.0
    title: str = ""
    charset: str = ""
    metadata: Metadata = Metadata()
    paragraphs: tuple[Paragraph, ...] = ()
    links: tuple[Link, ...] = ()
    alternates: tuple[Alternate, ...] = ()
    images: tuple[Image, ...] = ()
    tags: tuple[str, ...] = ()  # the tag sequence, in document order
    canonical: Url | None = None
    directives: tuple[Directive, ...] = ()
    machine_translation: tuple[str, ...] = ()  # marks of it that were found; empty for a human translation
    type: str = "html"  # what kind of document it is; the names are those of `DocumentType`
    fingerprint: str = ""  # the structure, one letter per block: Papavassiliou section 3.9
    digest: str = ""  # of the normalised text; equal digests mean the same text
    signature: int = 0  # 64-bit SimHash of the text with its digits masked; near values mean nearly the same text
    relevance: Relevance | None = None  # None in a job without a topic
    cut: str = ""  # what was left out because there is too much of it, or it is broken; empty if nothing was
    drawn_by: DrawnBy | None = None  # None for a page that needs no scripts
    markdown: tuple[MarkdownBlock, ...] = ()  # only if it was asked for, because no corpus needs it
    repeats: Url | None = None  # a page of another site with nearly the same text; known where a corpus is written

    @property
    def text(self) -> str:
        """Its main text, one paragraph per line, without boilerplate."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs if not paragraph.boilerplate)

    @property
    def titled_text(self) -> str:
        """Its main text, after the title where that is not the first paragraph."""
        texts = [paragraph.text for paragraph in self.paragraphs if not paragraph.boilerplate]
        return "\n".join(texts if not self.title or texts[:1] == [self.title] else [self.title, *texts])

    @cached_property
    def packed(self) -> bytes:
        """Packed and compressed, as the ledger has it. The process that read the page has done it already."""
        return _compress(pack(self))

    @property
    def is_on_topic(self) -> bool:
        """Whether it may go into the corpus: every page may, in a job without a topic."""
        return self.relevance is None or self.relevance.relevant

    def objection(self, *, opt_outs: bool) -> "Skip | None":
        """Why the page itself asks not to be kept; None where it does not."""
        if opt_outs and OPT_OUTS.intersection(self.directives):
            return Skip(self.url, Stage.ROBOTS, Reason.OPT_OUT, ", ".join(sorted(set(self.directives))))
        return Skip(self.url, Stage.ROBOTS, Reason.NOINDEX) if Directive.NOINDEX in self.directives else None


class SiteKnowledge(msgspec.Struct, frozen=True):
    """What a crawl has learned about one site so far."""

    site: str
    pages: int = 0
    fetched: int = 0
    bytes: int = 0
    languages: dict[str, int] = {}
    types: dict[str, int] = {}  # pages by `DocumentType`, without HTML
    drawn: dict[str, int] = {}  # pages that need scripts, by `DrawnBy`
    missing: dict[str, int] = {}  # by host: the signature of its answer to a URL that cannot exist
    left: LeaveReason = ""  # why the strategy left the site; empty if it did not
    sitemaps: int = 0  # files that were asked for because robots.txt or another sitemap names them
    listed: int = 0  # addresses that these files brought and none before them, as far as they were counted

    def after(self, visit: "Visit") -> "SiteKnowledge":
        """What is known after one more visit. Count only visits that ended their link."""
        page = visit.outcome if isinstance(visit.outcome, Page) else None
        languages, types, drawn = self.languages, self.types, self.drawn
        if page is not None:
            languages = {**languages, page.language: languages.get(page.language, 0) + 1}
            if page.type != "html":
                types = {**types, page.type: types.get(page.type, 0) + 1}
        if page is not None and page.drawn_by:
            drawn = {**drawn, page.drawn_by: drawn.get(page.drawn_by, 0) + 1}
        named = visit.is_download and visit.lease.link.is_named_sitemap and not visit.lease.again
        return msgspec.structs.replace(
            self,
            pages=self.pages + (page is not None),
            fetched=self.fetched + 1,
            bytes=self.bytes + visit.bytes,
            languages=languages,
            types=types,
            drawn=drawn,
            sitemaps=self.sitemaps + named,
        )


class Skip(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The result of a stage that did not produce the next type: what was skipped, where and why."""

    url: Url
    stage: Stage
    reason: Reason
    detail: str = ""
    status: int = 0  # of the HTTP answer; 0 if there was none
    retry_after: float = 0.0  # seconds that the server asked us to wait

    @property
    def target(self) -> Url | None:
        """Where a redirect leads; None if it leads to no page, and for all other skips."""
        is_url = self.detail.startswith(("http://", "https://")) and " " not in self.detail  # else it is a sentence
        return Url.known(self.detail) if self.reason is Reason.REDIRECT and is_url else None


PART = 2000  # links of a sitemap that are unpacked, scored and queued at once: 0.1 to 0.2 s of CPU


class Sitemap(msgspec.Struct, frozen=True, omit_defaults=True):
    """A capture understood as a list of links.

    A long one has only its first links unpacked: 200,000 would take 300 MB. `parts` has them all, a few at a time.
    """

    url: Url
    links: tuple[Link, ...] = ()  # of kind SITEMAP, ALTERNATE, or INDEX for the files of an index
    alternates: tuple[tuple[Alternate, ...], ...] = ()  # a group for each entry that has any, itself included
    rest: tuple[bytes, ...] = ()  # the further parts, each a sitemap, packed and compressed
    more: int = 0  # links in the rest
    cut: str = ""  # what was left out because there is too much of it, or it is broken; empty if nothing was

    @classmethod
    def of(cls, url: Url, links: Sequence[Link], groups: Sequence[tuple[int, tuple[Alternate, ...]]] = ()) -> "Sitemap":
        """Cut into parts; each group of alternates comes with the number of links before it."""
        cuts = [cls(url, tuple(links[start : start + PART])) for start in range(0, len(links), PART)] or [cls(url)]
        parts: list[list[tuple[Alternate, ...]]] = [[] for _ in cuts]
        for before, group in groups:
            parts[min(before // PART, len(cuts) - 1)].append(group)
        first, *others = (
            msgspec.structs.replace(cut, alternates=tuple(part)) for cut, part in zip(cuts, parts, strict=True)
        )
        compress = compressor(level=1)
        rest = tuple(compress(pack(part)) for part in others)
        return msgspec.structs.replace(first, rest=rest, more=len(links) - len(first.links))

    @property
    def size(self) -> int:
        """Links in all parts."""
        return len(self.links) + self.more

    def parts(self) -> Iterator["Sitemap"]:
        """All links in their order, with the alternates declared there; none of the parts has a rest."""
        yield msgspec.structs.replace(self, rest=(), more=0) if self.rest else self
        for packed in self.rest:
            yield _unpack_sitemap(zstd.decompress(packed))


class Method(StrEnum):
    """How a page pair was found, the most reliable method first. A row has all that people are told of it.

    Output files use the letters. They are ILSP-FC's up to "l"; the rest are ours.
    """

    label: str  # in the report
    meaning: str  # what it says about two pages, for the report
    statement: str  # the same in the datasheet of a corpus
    measured: tuple[str, ...]  # what it asks the pairing to measure
    help: str  # on the command line; those of several letters are named together
    key: str  # in the web app: a key of its catalogues

    def __new__(  # noqa: PLR0913, PLR0917 (the columns of the table)
        cls, letter: str, label: str = "", meaning: str = "", statement: str = "", measured: tuple[str, ...] = (),
        help: str = "", key: str = "",  # noqa: A002
    ) -> Self:  # fmt: skip
        """The letter is what is stored. Help and key are the label unless they are given."""
        row = str.__new__(cls, letter)
        row._value_, row.label, row.meaning, row.statement, row.measured = letter, label, meaning, statement, measured
        row.help, row.key = help or label, key or label
        return row

    # fmt: off
    DECLARED = ("a", "declared", "the pages or a sitemap declare it: hreflang, language switchers",
        "declared translations: hreflang, sitemaps, language switchers", ("declared",))
    URL = ("u", "URLs", "the URLs differ only in a language mark, or by a pattern learned on the site",
        "URLs that differ only in a language mark or by a pattern of the site", ("url",), "URL", "addresses")
    IMAGES_AND_DIGITS = ("p", "images and digits", "both pages have the same rare images and the same sequence of numbers",
        "shared images and digits", ("images", "digits"))
    DIGITS = ("d", "digits", "both pages have the same sequence of numbers", "shared digits", ("digits",), "images and digits")
    IMAGES = ("i", "images", "both pages have the same rare images", "shared images", ("images",), "images and digits")
    HIGH = ("h", "structure (high)", "the paragraphs and their order are nearly the same",
        "similar structure, high similarity", ("structure",), "structure")
    MEDIUM = ("m", "structure (medium)", "the paragraphs and their order are similar",
        "similar structure, medium similarity", ("structure",), "structure")
    LOW = ("l", "structure (low)", "the paragraphs and their order are somewhat similar",
        "similar structure, low similarity", ("structure",), "structure")
    CONTENT = ("c", "content", "the words of one page translate those of the other, by the lexicon that this job has learned",
        "content: a lexicon learned from the job's own certain pairs, cognates and numbers", ("kept",))
    PARENTS = ("t", "paired parents", "two pages that are a pair link to them from the same place",
        "linked at the same place of pages that are translations of each other", ("parents",), "parents")
    MUTUAL = ("r", "mutual links", "the pages link to each other", "links to each other", ("mutual",))
    BRIDGE = ("b", "third language", "both are translations of the same page in a third language",
        "both translations of the same page in a third language", ("bridge",), "bridge by a third language")
    # fmt: on


class PagePair(msgspec.Struct, frozen=True):
    """Two pages that are considered translations of each other."""

    url_a: Url
    url_b: Url
    lang_a: Language
    lang_b: Language
    score: float  # calibrated, 0–1
    evidence: dict[str, float] = {}  # by the letter of its `Method`
    partial: bool = False  # translated in part: good for segments, and not counted as a pair of pages


class Bead(msgspec.Struct, frozen=True, gc=False):
    """Sentences of two texts that are aligned with each other, by their numbers. One side may be empty."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    score: float = 0.0  # 0–1, higher is better


class Segment(msgspec.Struct, frozen=True, gc=False):
    """A sentence, or a few in a row, and where it is on its page."""

    text: str
    paragraph: int = -1  # the number of the paragraph that it begins in
    sentence: int = -1  # the number of its first sentence in the page


class SegmentPair(msgspec.Struct, frozen=True, omit_defaults=True):
    """Two segments that are considered translations, and their measurements. Judging happens elsewhere."""

    url_a: Url
    url_b: Url
    a: Segment
    b: Segment
    score: float  # how probably they are translations, once judged; before that, the aligner's own
    type: str = "1:1"  # sentences on either side
    scores: dict[str, float] = {}  # by name: alignment, length_ratio, coverage_a, coverage_b, language_a, language_b
    flags: tuple[str, ...] = ()  # ILSP-FC's words: "equal TUVs", "different numbers in TUVs", ...


class UnitSource(msgspec.Struct, frozen=True, gc=False):
    """Where a unit was found: two pages, and the paragraph and sentence in which it begins on each."""

    url_a: Url
    url_b: Url
    paragraph_a: int = -1
    paragraph_b: int = -1
    sentence_a: int = -1
    sentence_b: int = -1

    @classmethod
    def of(cls, pair: SegmentPair) -> "UnitSource":
        a, b = pair.a, pair.b
        return cls(pair.url_a, pair.url_b, a.paragraph, b.paragraph, a.sentence, b.sentence)


class TranslationUnit(msgspec.Struct, frozen=True):
    """A segment pair in the corpus, with all places where its two texts were found together."""

    pair: SegmentPair  # the one with the best score
    sources: tuple[UnitSource, ...]  # that of `pair` first
    variants: int = 0  # how many nearly equal pairs were merged into it

    @classmethod
    def alone(cls, pair: SegmentPair) -> "TranslationUnit":
        """A unit for a pair that was found once."""
        return cls(pair, (UnitSource.of(pair),))


class Verdict(StrEnum):
    """What a person says about a page pair or a segment pair."""

    ACCEPT = "accept"
    REJECT = "reject"


class Revision(msgspec.Struct, frozen=True):
    """Texts that a person wrote in the place of one or several segments in a row: an edit, a split or a join."""

    keys: tuple[str, ...]  # of the segments as they were mined
    texts: tuple[tuple[str, str], ...]  # of both sides


class Verdicts(msgspec.Struct, frozen=True):
    """What people say now about page pairs and segment pairs, by their keys."""

    pairs: dict[str, Verdict] = {}
    segments: dict[str, Verdict] = {}
    revisions: tuple[Revision, ...] = ()  # whether they are accepted or not

    def of_pair(self, pair: PagePair | SegmentPair) -> Verdict | None:
        """The verdict that is about the two pages of that pair."""
        return self.pairs.get(pair_key(pair.url_a, pair.url_b)) if self.pairs else None

    def of_segment(self, pair: SegmentPair) -> Verdict | None:
        """About its two texts, wherever they were found."""
        return self.segments.get(segment_key(pair.a.text, pair.b.text)) if self.segments else None

    def __bool__(self) -> bool:
        return bool(self.pairs or self.segments)  # A revision that nobody has accepted changes nothing.


def pair_key(url_a: str, url_b: str) -> str:
    """What a page pair is known by, however often it is mined: 16 hexadecimal digits."""
    return _key(url_a, url_b)


def segment_key(text_a: str, text_b: str) -> str:
    """What two texts are known by, wherever they were found: 16 hexadecimal digits. Kinds of spaces do not count."""
    return _key(" ".join(text_a.split()), " ".join(text_b.split()))


def _key(a: str, b: str) -> str:
    return blake2b(f"{a}\0{b}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Lease(msgspec.Struct, frozen=True):
    """A link that is being visited."""

    link: Link
    score: float
    attempt: int = 1
    again: bool = False  # it was visited in an earlier round


class Advice(msgspec.Struct, frozen=True):
    """What a strategy wants changed after a visit."""

    scores: tuple[tuple[Url, float], ...] = ()  # of queued links; may be lower than before
    links: tuple[Link, ...] = ()  # links that should exist, although no page has them
    leave: LeaveReason = ""  # why no more is expected from the site; empty to stay


class Fetch(msgspec.Struct, frozen=True):
    """One request for a leased link, answered or not. The answer has not been analysed yet."""

    lease: Lease
    status: int = 0  # of the HTTP answer; 0 if there was none
    bytes: int = 0  # of the body
    at: float = 0.0
    took: float = 0.0
    place: WarcPosition | None = None
    answer: Answer | None = None

    def visit(self, outcome: Page | Sitemap | Skip) -> "Visit":
        """The visit, once the outcome of this fetch is known."""
        return Visit(self.lease, outcome, self.status, self.bytes, self.at, self.took, self.place, self.answer)


class Visit(msgspec.Struct, frozen=True):
    """One fetch and its outcome: a line of the log."""

    lease: Lease
    outcome: Page | Sitemap | Skip
    status: int = 0  # of the HTTP answer; 0 if there was none
    bytes: int = 0  # of the body
    at: float = 0.0
    took: float = 0.0
    place: WarcPosition | None = None
    answer: Answer | None = None

    @property
    def is_download(self) -> bool:
        """Whether it cost a request: redirects and errors do, a link that is refused before does not."""
        return self.status > 0 or not isinstance(self.outcome, Skip) or self.outcome.stage is Stage.FETCH

    def parts(self) -> Iterator["Visit"]:
        """The visit as often as its sitemap has parts, each time with one of them; once where it is none."""
        if not isinstance(self.outcome, Sitemap):
            yield self
            return
        for part in self.outcome.parts():
            yield msgspec.structs.replace(self, outcome=part)


Noun = TypeVar("Noun")

_encoder = msgspec.msgpack.Encoder(enc_hook=str)  # msgspec calls this for Url only, which is a str
_compress = compressor()


def pack(noun: msgspec.Struct | tuple[msgspec.Struct, ...]) -> bytes:
    """One of these types, or several, as bytes, for the ledger and for other processes."""
    return _encoder.encode(noun)


class Unpacker(Generic[Noun]):
    """Reads back what `pack` wrote: `Unpacker(Page)(data)`."""

    def __init__(self, kind: Any) -> None:
        # msgspec calls this for Url only: `Url.known`, which would take a fifth of the time of a page
        self._decoder = msgspec.msgpack.Decoder(kind, dec_hook=str.__new__)

    def __call__(self, data: bytes) -> Noun:
        return self._decoder.decode(data)  # type: ignore[no-any-return]


_unpack_sitemap: Unpacker[Sitemap] = Unpacker(Sitemap)
