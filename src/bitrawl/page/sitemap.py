"""Sitemaps and feeds: a list of links, and the translations that it declares."""

import datetime as dt
import re
import zlib
from email.utils import parsedate_to_datetime
from xml.parsers import expat

import msgspec

from bitrawl.errors import UrlError
from bitrawl.files import xml_parser
from bitrawl.model import Alternate, AlternateSource, Link, LinkKind, Sitemap
from bitrawl.page.decode import decode
from bitrawl.url import Url

MAX_BYTES = 50 * 1024 * 1024  # sitemaps.org, for the expanded file
MAX_ENTRIES = 50_000  # sitemaps.org
MAX_LINKS = 4 * MAX_ENTRIES  # with the alternates of all entries
MAX_ALTERNATES = 500  # of one entry: more than there are locales on the web's largest sites
MAX_DEPTH = 50  # A sitemap nests three deep, a feed six.

_LANGUAGE_LENGTH = 35  # characters of a language tag: RFC 5646, section 4.4.1
_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 16  # bytes expanded at a time
# An ampersand that is no reference: the most common fault of sitemaps made by hand.
_LONE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});)")
_TOO_MANY = f"entries after the first {MAX_ENTRIES:,}"
_ENTRIES = frozenset(("url", "sitemap", "item", "entry"))
_MODIFIED = frozenset(("lastmod", "updated"))
# RSS has pubDate or Dublin Core's date, Atom published, and news sitemaps publication_date.
_PUBLISHED = frozenset(("pubdate", "date", "published", "publication_date"))
_DATES = _MODIFIED | _PUBLISHED
_DATED = frozenset(("url", "item", "entry", "news"))
_DAY = 86400.0


def read_sitemap(url: Url, body: bytes) -> Sitemap:
    """What is readable of it: a file that is cut, broken or no sitemap at all gives what came before, and says so.

    Sitemaps and their indexes, lists of URLs as plain text, RSS, Atom and JSON Feed; gzip is undone. Entity declarations
    end the reading.
    """
    body = _expanded(body).lstrip(b"\xef\xbb\xbf \t\r\n") if not body.startswith((b"\xff\xfe", b"\xfe\xff")) else body
    if body.startswith(b"{"):
        return _json_feed(url, body)
    if not body.lstrip().startswith(b"<") and b"\0" not in body[:4]:
        return _plain(url, body)
    reader = _Reader(url)
    if not reader.read(body):
        again = _Reader(url)
        again.read(_LONE.sub(b"&amp;", body))
        reader = max(reader, again, key=lambda r: len(r.links))
    cut = reader.cut or (f"what comes after the first {MAX_BYTES >> 20} MiB" if len(body) >= MAX_BYTES else "")
    read = Sitemap.of(url, list(reader.links.values()), reader.groups)
    return msgspec.structs.replace(read, cut=cut) if reader.links else read


def _expanded(body: bytes) -> bytes:
    """At most so many bytes, whatever the file claims; members one after the other as gzip allows."""
    if not body.startswith(_GZIP):
        return body[:MAX_BYTES]
    parts = []
    room = MAX_BYTES
    try:
        while body.startswith(_GZIP) and room > 0:
            member = zlib.decompressobj(31)
            parts.append(member.decompress(body, room))
            room -= len(parts[-1])
            body = member.unused_data
    except zlib.error:
        pass  # cut or broken: what came out so far counts
    return b"".join(parts)


def _plain(url: Url, body: bytes) -> Sitemap:
    links: dict[Url, Link] = {}
    for line in decode(body).text.splitlines():
        text = line.strip()
        if text[:4].lower() == "http" and (target := _url(text, None)):
            links.setdefault(target, Link(target, LinkKind.SITEMAP, source=url))
            if len(links) > MAX_ENTRIES:
                links.popitem()
                return msgspec.structs.replace(Sitemap.of(url, list(links.values())), cut=_TOO_MANY)
    return Sitemap.of(url, list(links.values()))


class _FeedItem(msgspec.Struct, frozen=True):
    url: str = ""
    language: str = ""
    date_published: str = ""
    date_modified: str = ""


class _JsonFeed(msgspec.Struct, frozen=True):
    """https://www.jsonfeed.org/version/1.1/"""

    version: str
    items: list[_FeedItem] = []
    language: str = ""


def _json_feed(url: Url, body: bytes) -> Sitemap:
    """Nothing if it is another kind of JSON."""
    try:
        feed = msgspec.json.decode(body, type=_JsonFeed)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Sitemap.of(url, [])
    links = {
        target: Link(
            target,
            LinkKind.SITEMAP,
            source=url,
            hreflang=item.language or feed.language,
            modified=_date(item.date_modified),
            published=_date(item.date_published),
        )
        for item in feed.items[:MAX_ENTRIES]
        if "jsonfeed.org" in feed.version and (target := _url(item.url, url))
    }
    return Sitemap.of(url, list(links.values()))


def _url(text: str, base: Url | None) -> Url | None:
    if not (text := text.strip()):
        return None
    try:
        return Url.parse(text, base=base)
    except UrlError:
        return None


def _date(text: str) -> float:
    """As ISO 8601 or RFC 5322 has it, in seconds since the epoch: the end of a day without a time. 0 for what is no date."""
    text = text.strip()
    try:
        date = dt.datetime.fromisoformat(text) if text[:4].isdecimal() else parsedate_to_datetime(text)
        seconds = date.replace(tzinfo=date.tzinfo or dt.UTC).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):  # what the parsers raise
        return 0.0
    return max(0.0, seconds + (_DAY if len(text) == len("2026-11-18") else 0.0))


class _Stop(Exception):  # noqa: N818 - not an error: the way out of expat's callbacks
    """Enough was read, or what follows must not be."""


class _Reader:
    """Streams the file through expat; memory is that of the links kept.

    49 MB with eight alternates an entry take 1.4 s of CPU where the entries name each other, 2.9 s where each has
    alternates of its own (2026-11).
    """

    def __init__(self, url: Url) -> None:
        self.links: dict[Url, Link] = {}
        self.groups: list[tuple[int, tuple[Alternate, ...]]] = []  # each with the number of links before it
        self.cut = ""  # what was not read
        self._source = url
        self._names: dict[str, str] = {}  # by tag, without prefix and in lower case
        self._stack: list[str] = []
        self._text: list[str] | None = None
        self._language = ""  # of the feed
        self._target: Url | None = None
        self._permalink: Url | None = None  # which counts where an item of RSS has no link
        self._bases = [(0, url)]  # what addresses are relative to, and how deep the element is that says so (xml:base)
        self._dates = [0.0, 0.0]  # of the entry: published, modified
        self._declared: list[tuple[str, str]] = []  # addresses and languages of the entry, as written
        self._groups: dict[int, frozenset[Url]] = {}  # by the hash of what was declared, the addresses of that group
        self._entries = 0

    def read(self, body: bytes) -> bool:
        """False when the file ended in a fault of its syntax."""
        parser = xml_parser(self._start, self._end, self._characters, refuse=self._refuse)
        try:
            for start in range(0, len(body), _CHUNK):
                parser.Parse(body[start : start + _CHUNK], False)
            parser.Parse(b"", True)
        except _Stop:
            return True
        except (expat.ExpatError, LookupError, ValueError):  # the latter two for a charset that Python lacks
            self.cut = "what comes after a fault of its syntax"
            return False
        finally:
            self._close_entry()
        return True

    def _refuse(self) -> None:
        self.cut = "what comes after the declaration of an entity"
        raise _Stop

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = self._names.get(tag) or self._named(tag)
        stack = self._stack
        parent = stack[-1] if stack else ""
        stack.append(name)
        if len(stack) > MAX_DEPTH:
            self.cut = f"what comes after {MAX_DEPTH} elements within each other"
            raise _Stop
        if "xml:base" in attributes and (base := _url(attributes["xml:base"], self._bases[-1][1])):
            self._bases.append((len(stack), base))
        if name == "feed":
            self._language = attributes.get("xml:lang", "")
        elif name == "link":
            if attributes.get("href") and parent in _ENTRIES:
                self._link(attributes, parent)
            elif parent == "item":
                self._text = []
        elif name in _ENTRIES:
            self._close_entry()
            if self._entries >= MAX_ENTRIES:
                self.cut = _TOO_MANY
                raise _Stop
        elif (
            (name == "loc" and parent in ("url", "sitemap"))
            or (name == "language" and parent == "channel")
            or (name in _DATES and parent in _DATED)
            or (name == "guid" and parent == "item" and attributes.get("isPermaLink", "true").strip().lower() == "true")
        ):
            self._text = []

    def _named(self, tag: str) -> str:
        name = tag.rpartition(":")[2].lower()
        if len(self._names) < MAX_DEPTH:  # a file of tags that never repeat is not remembered
            self._names[tag] = name
        return name

    def _link(self, attributes: dict[str, str], parent: str) -> None:
        """xhtml:link in a sitemap's entry, or an Atom entry's own link."""
        relation = attributes.get("rel", "alternate")
        if relation != "alternate" and "alternate" not in relation.lower().split():
            return
        address, language = attributes["href"], attributes.get("hreflang", "")
        if len(self._bases) > 1:
            address = _url(address, self._bases[-1][1]) or ""
        if parent == "entry" and self._target is None:
            self._target = _url(address, self._source)
        if language and address and len(self._declared) < MAX_ALTERNATES:
            self._declared.append((address, language))

    def _characters(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def _end(self, _tag: str) -> None:
        base = self._bases[-1][1]
        if self._bases[-1][0] == len(self._stack):
            self._bases.pop()
        name = self._stack.pop()
        if self._text is not None and name == "language":
            self._language, self._text = "".join(self._text).strip()[:_LANGUAGE_LENGTH], None
        elif self._text is not None and name in _DATES:
            text, self._text = "".join(self._text), None
            self._dates[name in _MODIFIED] = max(self._dates[name in _MODIFIED], _date(text))
        elif self._text is not None and name == "guid":
            self._permalink, self._text = _url("".join(self._text), None), None
        elif self._text is not None and name in ("loc", "link"):
            target = _url("".join(self._text), base)
            self._text = None
            if target and self._stack and self._stack[-1] == "sitemap":
                self._keep(Link(target, LinkKind.INDEX, source=self._source))
            elif self._target is None:
                self._target = target
        elif name in _ENTRIES:
            self._close_entry()

    def _close_entry(self) -> None:
        """Also called where the file breaks off, for an entry that has its address by then."""
        target, declared = self._target or self._permalink, self._declared
        if target is None and not declared:
            return
        published, modified = self._dates
        self._target, self._permalink, self._declared, self._dates = None, None, [], [0.0, 0.0]
        if target is None or self._entries >= MAX_ENTRIES:
            return
        link = Link(target, LinkKind.SITEMAP, source=self._source, hreflang=self._language)
        self._keep(msgspec.structs.replace(link, modified=modified, published=published))
        if declared:
            # Entries that are translations of each other declare the same, once each: it is read once.
            key = hash(tuple(declared))
            if target not in self._groups.get(key, ()):
                self._groups[key] = self._group(target, declared)
        self._entries += 1

    def _group(self, target: Url, declared: list[tuple[str, str]]) -> frozenset[Url]:
        alternates: dict[Url, Alternate] = {}
        for address, raw in declared:
            url, language = _url(address, self._source), raw.strip().lower().replace("_", "-")
            if url is not None and language:
                alternates.setdefault(url, Alternate(url, language, AlternateSource.SITEMAP))
        if alternates:
            alternates.setdefault(target, Alternate(target, "", AlternateSource.SITEMAP))
            self.groups.append((len(self.links), tuple(alternates.values())))
            for alternate in alternates.values():
                self._keep(Link(alternate.url, LinkKind.ALTERNATE, source=target, hreflang=alternate.language))
        return frozenset(alternates)

    def _keep(self, link: Link) -> None:
        earlier = self.links.get(link.url)
        if earlier is None and len(self.links) >= MAX_LINKS:
            self.cut = f"links after the first {MAX_LINKS:,}"
        elif earlier is None or (earlier.kind is LinkKind.ALTERNATE and link.kind is LinkKind.SITEMAP):
            self.links[link.url] = link
