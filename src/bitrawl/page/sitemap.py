"""Sitemaps and feeds: a list of links, and the translations that it declares."""

import re
import zlib
from xml.parsers import expat

from bitrawl.errors import UrlError
from bitrawl.model import Alternate, AlternateSource, Link, LinkKind, Sitemap
from bitrawl.page.decode import decode
from bitrawl.url import Url

MAX_BYTES = 50 * 1024 * 1024  # sitemaps.org, for the expanded file
MAX_ENTRIES = 50_000  # sitemaps.org
MAX_LINKS = 4 * MAX_ENTRIES  # with the alternates of all entries: judgement
MAX_ALTERNATES = 500  # of one entry: more than there are locales on the web's largest sites
MAX_DEPTH = 50  # A sitemap nests three deep, a feed six.

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 16  # bytes expanded at a time
# An ampersand that is no reference: the most common fault of sitemaps made by hand.
_LONE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});)")
_ENTRIES = frozenset(("url", "sitemap", "item", "entry"))


def read_sitemap(url: Url, body: bytes) -> Sitemap:
    """What is readable of it: a file that is cut, broken or no sitemap at all gives what came before.

    Sitemaps and their indexes, lists of URLs as plain text, RSS and Atom; gzip is undone. Entity declarations
    end the reading.
    """
    body = _expanded(body).lstrip(b"\xef\xbb\xbf \t\r\n") if not body.startswith((b"\xff\xfe", b"\xfe\xff")) else body
    if not body.lstrip().startswith(b"<") and b"\0" not in body[:4]:
        return _plain(url, body)
    reader = _Reader(url)
    if not reader.read(body):
        again = _Reader(url)
        again.read(_LONE.sub(b"&amp;", body))
        reader = max(reader, again, key=lambda r: len(r.links))
    return Sitemap(url, tuple(reader.links.values()), tuple(reader.groups))


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
            if len(links) >= MAX_ENTRIES:
                break
    return Sitemap(url, tuple(links.values()))


def _url(text: str, base: Url | None) -> Url | None:
    if not (text := text.strip()):
        return None
    try:
        return Url.parse(text, base=base)
    except UrlError:
        return None


class _Stop(Exception):  # noqa: N818 - not an error: the way out of expat's callbacks
    """Enough was read, or what follows must not be."""


class _Reader:
    """Streams the file through expat; memory is that of the links kept."""

    def __init__(self, url: Url) -> None:
        self.links: dict[Url, Link] = {}
        self.groups: list[tuple[Alternate, ...]] = []
        self._source = url
        self._stack: list[str] = []
        self._text: list[str] | None = None
        self._target: Url | None = None
        self._alternates: dict[Url, Alternate] = {}
        self._entries = 0

    def read(self, body: bytes) -> bool:
        """False when the file ended in a fault of its syntax."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.EntityDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        try:
            for start in range(0, len(body), _CHUNK):
                parser.Parse(body[start : start + _CHUNK], False)
            parser.Parse(b"", True)
        except _Stop:
            return True
        except (expat.ExpatError, LookupError, ValueError):  # the latter two for a charset that Python lacks
            return False
        finally:
            self._close_entry()
        return True

    def _refuse(self, *_: object) -> None:
        raise _Stop

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2].lower()
        parent = self._stack[-1] if self._stack else ""
        self._stack.append(name)
        if len(self._stack) > MAX_DEPTH:
            raise _Stop
        if name in _ENTRIES:
            self._close_entry()
        elif name == "link" and attributes.get("href") and parent in _ENTRIES:
            self._link(attributes)
        elif (name == "loc" and parent in ("url", "sitemap")) or (name == "link" and parent == "item"):
            self._text = []

    def _link(self, attributes: dict[str, str]) -> None:
        """xhtml:link in a sitemap's entry, or an Atom entry's own link."""
        if "alternate" not in attributes.get("rel", "alternate").lower().split():
            return
        language = attributes.get("hreflang", "").strip().lower().replace("_", "-")
        target = _url(attributes["href"], self._source)
        if target is None:
            return
        if self._stack[-2] == "entry" and self._target is None:
            self._target = target
        if language and len(self._alternates) < MAX_ALTERNATES:
            self._alternates.setdefault(target, Alternate(target, language, AlternateSource.SITEMAP))

    def _characters(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def _end(self, _tag: str) -> None:
        name = self._stack.pop()
        if self._text is not None and name in ("loc", "link"):
            target = _url("".join(self._text), self._source)
            self._text = None
            if target and self._stack and self._stack[-1] == "sitemap":
                self._keep(Link(target, LinkKind.INDEX, source=self._source))
            elif self._target is None:
                self._target = target
        elif name in _ENTRIES:
            self._close_entry()

    def _close_entry(self) -> None:
        """Also called where the file breaks off, for an entry that has its address by then."""
        target, alternates = self._target, self._alternates
        self._target, self._alternates = None, {}
        if target is None:
            return
        self._keep(Link(target, LinkKind.SITEMAP, source=self._source))
        if alternates:
            alternates.setdefault(target, Alternate(target, "", AlternateSource.SITEMAP))
            self.groups.append(tuple(alternates.values()))
            for alternate in alternates.values():
                self._keep(Link(alternate.url, LinkKind.ALTERNATE, source=target, hreflang=alternate.language))
        self._entries += 1

    def _keep(self, link: Link) -> None:
        if len(self.links) < MAX_LINKS and self._entries < MAX_ENTRIES:
            known = self.links.get(link.url)
            if known is None or (known.kind is LinkKind.ALTERNATE and link.kind is LinkKind.SITEMAP):
                self.links[link.url] = link
