"""The nouns: each is one state of knowledge, and frozen."""

from enum import StrEnum
from typing import Any, Generic, NewType, TypeVar

import msgspec

from bitrawl.url import Url

Language = NewType("Language", str)
"""A BCP 47 code, mostly the bare ISO 639 one ("fr", "zh", "sr-Latn"); "und" where it is not known."""

UNDETERMINED = Language("und")


class LinkKind(StrEnum):
    """How we heard of a URL."""

    SEED = "seed"
    SITEMAP = "sitemap"  # listed in a sitemap
    PAGE = "page"
    ALTERNATE = "alternate"  # declared a translation of its source
    REDIRECT = "redirect"
    PARTNER = "partner"
    BACKLINK = "backlink"
    ARCHIVE = "archive"  # a record of a WARC file that is taken whole
    INDEX = "index"  # a sitemap file itself: read for its links, never a page
    ROBOTS = "robots"  # a host's rules, robots.txt or tdmrep.json: asked for by the robots wrapper, never queued
    PROBE = "probe"  # an address that cannot exist: what the host answers is its soft 404


class Link(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What is known of a page before it is fetched."""

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
    redirects: int = 0  # hops that led here


class Capture(msgspec.Struct, frozen=True):
    """One HTTP answer as received."""

    url: Url
    status: int
    headers: tuple[tuple[str, str], ...]  # as received, in order
    body: bytes  # content-decoded
    at: float  # seconds since the epoch
    took: float = 0.0  # seconds
    media_type: str = ""  # sniffed; "text/html" whatever the header claims
    request: bytes = b""  # the request head as sent
    payload: bytes = b""  # the body before content-decoding, for the archive; dropped once archived
    place: "WarcPlace | None" = None
    ip: str = ""  # the server's address, where it is known

    def header(self, name: str) -> str:
        """All values of that header, joined by a comma; empty when absent."""
        name = name.lower()
        return ", ".join(value for key, value in self.headers if key.lower() == name)


class WarcPlace(msgspec.Struct, frozen=True, gc=False):
    """Where in the job's archive a response record is."""

    file: str
    offset: int


class ParagraphKind(StrEnum):
    """What a paragraph is, in ILSP-FC's words."""

    TITLE = "title"
    HEADING = "heading"
    LISTITEM = "listitem"
    TEXT = "text"


class Paragraph(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A block of text on a page, kept whether it is content or not."""

    text: str  # normalised: one space for any space, no control characters, NFC
    kind: ParagraphKind = ParagraphKind.TEXT
    boilerplate: bool = False
    content: float = 1.0  # the classifier's probability that this is main text
    language: Language = UNDETERMINED
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
    """A declared translation: evidence, not yet believed."""

    url: Url
    language: str  # as declared, lower-case: "fr", "pt-br", "x-default"; empty when not said
    source: AlternateSource


class Image(msgspec.Struct, frozen=True, gc=False):
    """An image on a page."""

    src: Url
    alt: str = ""
    position: int = -1


class Metadata(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a page says of itself, as said."""

    description: str = ""
    keywords: str = ""
    author: str = ""
    date: str = ""  # ISO 8601 where it could be read so
    licence: str = ""  # a URL or the text of the notice
    html_lang: str = ""
    content_language: str = ""
    locale: str = ""  # og:locale
    other_locales: tuple[str, ...] = ()  # og:locale:alternate: languages that exist, without a URL


class Page(msgspec.Struct, frozen=True, omit_defaults=True):
    """A capture understood."""

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
    directives: tuple[str, ...] = ()  # robots and opt-out: "noindex", "nofollow", "noai", "tdm-reservation"
    machine_translation: tuple[str, ...] = ()  # marks found, empty for a human's page
    fingerprint: str = ""  # structure, Papavassiliou section 3.9: one letter a block
    digest: str = ""  # of the normalised text, equal means the same text
    signature: int = 0  # SimHash of the text with its digits masked, 64 bits: near means nearly the same


class SiteKnowledge(msgspec.Struct, frozen=True):
    """What a crawl has learned of one site so far."""

    site: str
    pages: int = 0
    fetched: int = 0
    bytes: int = 0
    languages: dict[str, int] = {}
    missing: dict[str, int] = {}  # by host, the signature of what it answers to an address that cannot exist
    left: str = ""  # why the strategy held the site to be exhausted, empty while it does not


class RobotsRecord(msgspec.Struct, frozen=True):
    """What an origin answered when it was asked for its rules."""

    origin: str
    status: int  # of robots.txt after its redirects; 0 when they did not end, which counts as 404
    body: bytes
    at: float
    reservations: bytes = b""  # the body of tdmrep.json, empty where there is none


class Stage(StrEnum):
    """Where something left the line."""

    SCOPE = "scope"
    FRONTIER = "frontier"
    ROBOTS = "robots"
    FETCH = "fetch"
    ANALYSE = "analyse"


class Reason(StrEnum):
    """Why something left the line; each has a sentence in docs/reference/skips.md."""

    # scope
    OFF_SITE = "off-site"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not-included"
    DEPTH = "depth"
    NOFOLLOW = "nofollow"
    STRATEGY = "strategy"
    TRAP = "trap"
    # robots and opt-outs
    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots-unreachable"
    NOINDEX = "noindex"
    OPT_OUT = "opt-out"
    # fetch
    REDIRECT = "redirect"
    TOO_MANY_REDIRECTS = "too-many-redirects"
    NOT_ARCHIVED = "not-archived"
    PRIVATE_ADDRESS = "private-address"
    DNS = "dns"
    CONNECTION = "connection"
    TLS = "tls"
    TIMEOUT = "timeout"
    HTTP_ERROR = "http-error"
    HTTP_STATUS = "http-status"
    SERVER_ERROR = "server-error"  # a status that says "not now" (500, 502, 503, 504)
    RATE_LIMITED = "rate-limited"
    TOO_LARGE = "too-large"
    BOMB = "bomb"
    CONTENT_ENCODING = "content-encoding"
    CONTENT_TYPE = "content-type"
    # analysis
    SITEMAP = "sitemap"
    PROBE = "probe"
    SOFT_404 = "soft-404"
    EMPTY = "empty"
    ANALYSIS_TIMEOUT = "analysis-timeout"
    ANALYSIS_CRASH = "analysis-crash"
    ANALYSIS_ERROR = "analysis-error"
    INTERNAL = "internal"  # a bug of ours; please report it


TRANSIENT = frozenset(
    {
        Reason.ROBOTS_UNREACHABLE,
        Reason.DNS,
        Reason.CONNECTION,
        Reason.TIMEOUT,
        Reason.SERVER_ERROR,
        Reason.RATE_LIMITED,
    }
)
"""Reasons that may be gone at the next attempt."""


class Skip(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The other way out of any stage."""

    url: Url
    stage: Stage
    reason: Reason
    detail: str = ""
    status: int = 0  # of the HTTP answer, 0 when there was none
    retry_after: float = 0.0  # seconds that the server asked for


class Sitemap(msgspec.Struct, frozen=True):
    """A capture understood as a list of links."""

    url: Url
    links: tuple[Link, ...] = ()  # of kind SITEMAP, ALTERNATE, or INDEX for the files of an index
    alternates: tuple[tuple[Alternate, ...], ...] = ()  # a group for each entry that has any, itself included


class PagePair(msgspec.Struct, frozen=True):
    """Two pages held to be translations of each other."""

    url_a: Url
    url_b: Url
    lang_a: Language
    lang_b: Language
    score: float  # calibrated, 0–1
    evidence: dict[str, float] = {}  # by method: a u p i d h m l c t, as docs/reference/pairs.md says


class Bead(msgspec.Struct, frozen=True, gc=False):
    """Sentences of two texts that are translations of each other, by their numbers; one side may be empty."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    score: float = 0.0  # 0–1, higher is better


class Segment(msgspec.Struct, frozen=True, gc=False):
    """A sentence, or a few in a row, with its place in its page."""

    text: str
    paragraph: int = -1  # the number of the paragraph that it begins in
    sentence: int = -1  # the number of its first sentence in the page


class SegmentPair(msgspec.Struct, frozen=True, omit_defaults=True):
    """Two segments held to be translations, and what was measured of them; whether it is good is decided elsewhere."""

    url_a: Url
    url_b: Url
    a: Segment
    b: Segment
    score: float  # how probably they are translations, once judged; before that, the aligner's own
    type: str = "1:1"  # sentences on either side
    scores: dict[str, float] = {}  # by name: alignment, length_ratio, coverage_a, coverage_b, language_a, language_b
    flags: tuple[str, ...] = ()  # ILSP-FC's words: "equal TUVs", "different numbers in TUVs", ...


class UnitSource(msgspec.Struct, frozen=True, gc=False):
    """Where a unit was found: pages, and the paragraph and sentence that it begins with on either."""

    url_a: Url
    url_b: Url
    paragraph_a: int = -1
    paragraph_b: int = -1
    sentence_a: int = -1
    sentence_b: int = -1

    @classmethod
    def of(cls, pair: SegmentPair) -> "UnitSource":
        """The place of a segment pair."""
        a, b = pair.a, pair.b
        return cls(pair.url_a, pair.url_b, a.paragraph, b.paragraph, a.sentence, b.sentence)


class TranslationUnit(msgspec.Struct, frozen=True):
    """A segment pair as it stands in the corpus, and all places where its two texts were found together."""

    pair: SegmentPair  # the best scored of them
    sources: tuple[UnitSource, ...]  # its own first
    variants: int = 0  # nearly equal texts that it stands for as well

    @classmethod
    def alone(cls, pair: SegmentPair) -> "TranslationUnit":
        """A pair that was found once."""
        return cls(pair, (UnitSource.of(pair),))


class Lease(msgspec.Struct, frozen=True):
    """A link that somebody is visiting."""

    link: Link
    score: float
    attempt: int = 1


class Advice(msgspec.Struct, frozen=True):
    """What a strategy wants changed after a visit."""

    scores: tuple[tuple[Url, float], ...] = ()  # of queued links, also lower ones
    links: tuple[Link, ...] = ()  # that no page has, but that should exist
    leave: str = ""  # why nothing more is to be expected of the site


class Visit(msgspec.Struct, frozen=True):
    """One fetch and what came of it: a line of the log."""

    lease: Lease
    outcome: Page | Sitemap | Skip
    status: int = 0  # of the HTTP answer, 0 when there was none
    bytes: int = 0  # of the body
    at: float = 0.0
    took: float = 0.0
    place: WarcPlace | None = None


def _from_text(kind: type, value: Any) -> Any:  # noqa: ARG001 (a Url is all that msgspec has to ask for)
    return Url.known(value)


Noun = TypeVar("Noun")

_encoder = msgspec.msgpack.Encoder(enc_hook=str)  # msgspec asks for what a Url is: a str


def pack(noun: msgspec.Struct) -> bytes:
    """A noun as bytes, for the ledger and between processes."""
    return _encoder.encode(noun)


class Unpacker(Generic[Noun]):
    """Reads back what `pack` wrote: `Unpacker(Page)(data)`."""

    def __init__(self, kind: Any) -> None:
        self._decoder = msgspec.msgpack.Decoder(kind, dec_hook=_from_text)

    def __call__(self, data: bytes) -> Noun:
        """The noun."""
        return self._decoder.decode(data)  # type: ignore[no-any-return]
