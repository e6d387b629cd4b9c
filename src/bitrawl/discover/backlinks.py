"""Who links to a page or a host: from tables of links, from WAT files, and from services on the web, merged as one source.

`LinkRows` holds links between pages of different hosts in a temporary file, found by host or by page. Tables are tab-separated,
with a header or with the columns in their usual order. WAT files are what Common Crawl writes of each page as JSON.

A `BacklinkSource` answers at once, and a service does not. So a service is asked beforehand: `await prefetch(hosts, limit)`
puts its answers where `referrers` finds them. What was not prefetched has no referrers. docs/how-to/backlinks.md has the format.
"""

import logging
import tempfile
from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import msgspec
import numpy as np
from fastwarc.warc import ArchiveIterator, WarcRecordType
from numpy.typing import NDArray

from bitrawl.discover.graph_files import blocks, home_page, host_of, look_reversed, without_www
from bitrawl.errors import ConfigError, GraphError, UrlError
from bitrawl.files import NO_JSON
from bitrawl.model import Capture, Link, LinkKind, Skip, Unpacker, pack
from bitrawl.protocols import BacklinkSource, Fetcher
from bitrawl.reasons import TRANSIENT, Reason
from bitrawl.url import Url, without_credentials

# Links that are read for each one asked for, because several may come from one page.
_READ = 20
_LONGEST = 300  # letters of an anchor or of the text around it that are kept


class LinkRows:
    """A `BacklinkSource`. Links within a host are left out. It takes about 60 bytes of memory per link.

    `add` all links first. The file goes when it is closed.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="bitrawl-links-")  # noqa: SIM115 (closed by `close`)
        self._starts = array("Q", [0])
        # Of the target: host, page. Of the source: host, page.
        self._keys = tuple(array("q") for _ in range(4))
        self._orders: list[NDArray[np.int64]] = []
        self._unpack: Unpacker[Link] = Unpacker(Link)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __contains__(self, host: str) -> bool:
        return bool(len(self._rows(0, _host(host)))) or bool(len(self._rows(2, _host(host))))

    def close(self) -> None:
        self._file.close()

    def add(self, links: Iterable[Link]) -> None:
        """Links without a source, and links to the host that they come from, are ignored."""
        self._orders = []
        for link in links:
            if link.source is None or _host(link.source) == _host(link.url):
                continue
            row = pack(
                Link(
                    link.url,
                    LinkKind.BACKLINK,
                    source=link.source,
                    anchor=link.anchor[:_LONGEST],
                    context=link.context[:_LONGEST],
                    image_alt=link.image_alt[:_LONGEST],
                )
            )
            self._file.write(row)
            self._starts.append(self._starts[-1] + len(row))
            names = (_host(link.url), _page(link.url), _host(link.source), _page(link.source))
            for keys, name in zip(self._keys, names, strict=True):
                keys.append(hash(name))

    def referrers(self, target: Url | str, limit: int) -> list[Link]:
        """Those with a text come first, and one from each host before the second of any."""
        name, column = (_page(target), 1) if isinstance(target, Url) else (_host(target), 0)
        of_target = _page if isinstance(target, Url) else _host
        links = [link for link in self._links(column, name, limit) if of_target(link.url) == name]
        return ranked(links)[:limit]

    def cites(self, target: Url | str, limit: int) -> list[str]:
        """The hosts that a host cites, or a page, each once."""
        name, column = (_page(target), 3) if isinstance(target, Url) else (_host(target), 2)
        of_source = _page if isinstance(target, Url) else _host
        links = (link for link in self._links(column, name, limit) if link.source and of_source(link.source) == name)
        return list(dict.fromkeys(host_of(link.url) for link in links))[:limit]

    def _links(self, column: int, name: str, limit: int) -> list[Link]:
        rows = self._rows(column, name)
        most = _READ * limit
        if len(rows) > most:
            rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]
        return [self._link(int(row)) for row in np.sort(rows)]

    def _rows(self, column: int, name: str) -> NDArray[np.int64]:
        if not len(self):
            return np.empty(0, np.int64)
        keys = np.frombuffer(self._keys[column], np.int64)
        if not self._orders:
            self._orders = [np.argsort(np.frombuffer(each, np.int64), kind="stable") for each in self._keys]
        order = self._orders[column]
        key = np.int64(hash(name))
        first, last = (int(np.searchsorted(keys, key, side, sorter=order)) for side in ("left", "right"))
        return order[first:last]

    def _link(self, row: int) -> Link:
        self._file.seek(self._starts[row])
        return self._unpack(self._file.read(self._starts[row + 1] - self._starts[row]))


def ranked(links: Iterable[Link]) -> list[Link]:
    """Each source page once; those with a text first, and one from each host before the second of any."""
    pages: dict[str, Link] = {}
    for link in links:
        if link.source is not None:
            page = _page(link.source)
            pages[page] = _better(pages[page], link) if page in pages else link
    seen: Counter[str] = Counter()
    rounds = []
    for link in sorted(pages.values(), key=lambda link: not has_text(link)):
        host = _host(link.source or "")
        rounds.append((seen[host], link))
        seen[host] += 1
    return [link for _, link in sorted(rounds, key=lambda numbered: numbered[0])]


def has_text(link: Link) -> bool:
    return bool(link.anchor or link.context or link.image_alt)


def page_links(url: Url, links: Sequence[Link]) -> list[Link]:
    """The links of a page that was analysed, with the page as their source."""
    return [msgspec.structs.replace(link, source=url) for link in links]


def _better(link: Link, other: Link) -> Link:
    return other if len(other.anchor) + len(other.context) > len(link.anchor) + len(link.context) else link


def _host(target: Url | str) -> str:
    return without_www(host_of(target))


def _page(url: str) -> str:
    """The same for http and https, with and without `www.`."""
    rest = url.partition("://")[2]
    return _host(url) + "/" + rest.partition("/")[2]


COLUMNS = ("source", "target", "anchor", "context")
"""In this order if the table has no header."""

_NAMES = {
    "source": ("source", "source_url", "from", "referrer"),
    "target": ("target", "target_url", "to", "url"),
    "anchor": ("anchor", "anchor_text", "text"),
    "context": ("context", "around"),
}
_SAMPLE = 200  # rows that are looked at before the first is believed


def read_table(path: Path) -> Iterator[Link]:
    """A source or a target without a scheme is a host. Rows that are no links are left out.

    Raises `GraphError` for a table without the two columns, and for hosts that are reversed.
    """
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise GraphError(f"{path} is empty")
    places = _places(first)
    if places is None:
        if len(first) < 2 or not all(map(_is_target, first[:2])):
            raise GraphError(
                f"{path} is not a table of links: it has the columns {', '.join(first)[:80]!r}; name them in the first line, "
                f"separated by tabs, source and target at least ({', '.join(COLUMNS)} are read)"
            )
        places, rows = list(range(min(len(first), 4))), chain([first], rows)
    sample = [row for row, _ in zip(rows, range(_SAMPLE), strict=False)]
    links = [link for row in sample if (link := _row_link(row, places)) is not None]
    if sample and not links:
        raise GraphError(f"{path} is not a table of links: no row has a URL or a host as source and as target")
    _check_order([host_of(link.url) for link in links], path)
    yield from links
    for row in rows:
        link = _row_link(row, places)
        if link is not None:
            yield link


def is_table(path: Path) -> bool:
    """Whether its first line has tabs."""
    return b"\t" in next(blocks(path), b"").partition(b"\n")[0]


def _rows(path: Path) -> Iterator[list[str]]:
    for block in blocks(path):
        for line in block.decode("utf-8", "replace").lstrip("\ufeff").split("\n"):
            if line.strip():
                yield line.rstrip("\r").split("\t")


def _places(header: Sequence[str]) -> list[int] | None:
    """Where each column is, -1 for one that is missing; None if this is no header with a source and a target."""
    names = [name.strip().lower() for name in header]
    places = [next((names.index(name) for name in _NAMES[column] if name in names), -1) for column in COLUMNS]
    return None if -1 in places[:2] else places


def _row_link(row: Sequence[str], places: Sequence[int]) -> Link | None:
    source, target, anchor, context = (
        row[place].strip() if 0 <= place < len(row) else "" for place in (*places, -1, -1)[:4]
    )
    try:
        return Link(_url(target), LinkKind.BACKLINK, source=_url(source), anchor=anchor, context=context)
    except UrlError:
        return None


def _url(text: str) -> Url:
    return Url.parse(text if "://" in text else f"https://{text}/")


def _is_target(text: str) -> bool:
    """A URL or the name of a host, but no number and no word."""
    if "://" in text:
        return True
    return "." in text.strip(".") and " " not in text


def _check_order(hosts: list[str], path: Path) -> None:
    if look_reversed(hosts):
        name = next(host for host in hosts if look_reversed([host]))
        raise GraphError(
            f"{path} has its hosts reversed, as {name}; a table of links has them as people write them. If it is a part of a "
            "graph of Common Crawl, give the folder with its vertices and edges"
        )


_MOST_RECORDS = 5  # that are looked at to tell a WAT file from an archive of pages: warcinfo, then records
_LARGEST = 16 << 20  # bytes of a record; a page of Common Crawl has 1 MB at most

log = logging.getLogger(__name__)


class _LinkAnchor(msgspec.Struct, frozen=True):
    path: str = ""  # "A@/href"
    url: str = ""
    text: str = ""
    alt: str = ""
    rel: str = ""


class _Head(msgspec.Struct, frozen=True, rename={"base": "Base"}):
    base: str = ""


class _Html(msgspec.Struct, frozen=True, rename={"links": "Links", "head": "Head"}):
    links: list[_LinkAnchor] = []
    head: _Head = _Head()


class _ServiceResponse(msgspec.Struct, frozen=True, rename={"html": "HTML-Metadata"}):
    html: _Html | None = None


class _Payload(msgspec.Struct, frozen=True, rename={"response": "HTTP-Response-Metadata"}):
    response: _ServiceResponse | None = None


class _Envelope(msgspec.Struct, frozen=True, rename={"payload": "Payload-Metadata", "header": "WARC-Header-Metadata"}):
    payload: _Payload
    header: dict[str, Any] = {}


class _Record(msgspec.Struct, frozen=True, rename={"envelope": "Envelope"}):
    envelope: _Envelope


def read_wat(path: Path) -> Iterator[Link]:
    """The links of all pages in a WAT file. Records that cannot be read are left out, and counted in the log."""
    unread = 0
    for block in _blocks(path):
        try:
            yield from _links(msgspec.json.decode(block, type=_Record))
        except (*NO_JSON, UrlError):
            unread += 1
    if unread:
        log.warning("%d records of %s cannot be read", unread, path)


def is_wat(path: Path) -> bool:
    """Whether it has records of JSON instead of pages."""
    return any(block.lstrip().startswith(b"{") for block in _blocks(path, most=_MOST_RECORDS))


def _blocks(path: Path, most: int = 0) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            for number, record in enumerate(ArchiveIterator(file, parse_http=False)):
                if most and number >= most:
                    return
                if record.record_type == WarcRecordType.metadata:
                    yield record.reader.read(_LARGEST)
    except (OSError, ValueError) as error:
        raise GraphError(f"{path} cannot be read: {error}; if it is cut off, download it again") from error


def _links(record: _Record) -> Iterator[Link]:
    response = record.envelope.payload.response
    if response is None or response.html is None:
        return
    source = Url.parse(str(record.envelope.header.get("WARC-Target-URI", "")))
    base = Url.parse(response.html.head.base, base=source) if response.html.head.base else source
    for anchor in response.html.links:
        if not anchor.path.upper().startswith(("A@", "AREA@")) or not anchor.url:
            continue
        try:
            url = Url.parse(anchor.url, base=base)
        except UrlError:
            continue
        yield Link(
            url,
            LinkKind.BACKLINK,
            source=source,
            anchor=" ".join(anchor.text.split()),
            image_alt=anchor.alt,
            rel=anchor.rel,
        )


MEDIA_TYPES = frozenset({"application/json", "application/x-ndjson", "application/jsonl", "text/plain"})
_KEPT = 20_000  # answers in memory
_FAILURES = 5  # in a row, after which the service counts as gone


class Referrer(msgspec.Struct, frozen=True):
    """One object of an answer. Other keys are ignored."""

    source: str
    anchor: str = ""
    context: str = ""
    target: str = ""


class BacklinkService:
    """A `BacklinkSource` of what was prefetched. It asks one question at a time."""

    def __init__(self, template: str, fetcher: Fetcher) -> None:
        """`template` is a URL with {url} in it, and {limit} if the service has such a parameter."""
        if "{url}" not in template:
            raise ConfigError(
                f"{without_credentials(template)} does not say where the page goes; write for example "
                "https://api.example.org/backlinks?target={url}&limit={limit}"
            )
        self._template, self._fetcher = template, fetcher
        self._answers: OrderedDict[str, list[Link]] = OrderedDict()
        self._failures = 0
        self.name = host_of(template)

    async def prefetch(self, targets: Iterable[Url | str], limit: int) -> None:
        """Raises `GraphError` if the service refuses, has no such format, or no longer answers."""
        for target in targets:
            if _key(target) not in self._answers:
                links = await self._ask(target, limit)
                if links is not None:
                    self._answers[_key(target)] = links
            while len(self._answers) > _KEPT:
                self._answers.popitem(last=False)

    def referrers(self, target: Url | str, limit: int) -> list[Link]:
        return self._answers.get(_key(target), [])[:limit]

    def cites(self, _target: Url | str, _limit: int) -> list[str]:
        """Nothing: a service is asked for backlinks only."""
        return []

    async def _ask(self, target: Url | str, limit: int) -> list[Link] | None:
        """None if it may answer later."""
        url = self._template.replace("{url}", quote(target, safe="")).replace("{limit}", str(limit))
        answer = await self._fetcher.fetch(Link(Url.parse(url), LinkKind.SEED))
        if isinstance(answer, Capture) and answer.status == HTTPStatus.OK:
            self._failures = 0
            return ranked(self._links(answer.body, target))
        if answer.status in (HTTPStatus.NOT_FOUND, HTTPStatus.NO_CONTENT):
            return []
        if isinstance(answer, Skip) and answer.reason in TRANSIENT and self._failures < _FAILURES:
            self._failures += 1
            log.warning("%s does not answer: %s", self.name, answer.detail or answer.reason)
            return None
        raise GraphError(self._refusal(answer))

    def _links(self, body: bytes, target: Url | str) -> list[Link]:
        url = target if isinstance(target, Url) else home_page(host_of(target))
        try:
            if body.lstrip().startswith(b"["):
                rows = msgspec.json.decode(body, type=list[Referrer])
            else:
                rows = msgspec.json.Decoder(Referrer).decode_lines(body)
        except NO_JSON as error:
            raise GraphError(
                f"{self.name} does not answer with a JSON list or with JSON lines of source, anchor and context: {error}"
            ) from error
        return [link for row in rows if (link := _referrer_link(row, url)) is not None]

    def _refusal(self, answer: Capture | Skip) -> str:
        if isinstance(answer, Skip) and answer.reason is Reason.PRIVATE_ADDRESS:
            return f"{self.name} is a private address; add --allow-private to ask it"
        why = f"HTTP {answer.status}" if answer.status else ""
        detail = (answer.detail or str(answer.reason)) if isinstance(answer, Skip) else ""
        return f"{self.name} does not answer with backlinks: {' '.join(filter(None, (why, detail)))}; check the URL and your key"


def _key(target: Url | str) -> str:
    """The same for a host with and without `www.`; a page stands for itself."""
    return target if isinstance(target, Url) else without_www(host_of(target))


def _referrer_link(row: Referrer, url: Url) -> Link | None:
    try:
        target = Url.parse(row.target) if row.target else url
        return Link(target, LinkKind.BACKLINK, source=Url.parse(row.source), anchor=row.anchor, context=row.context)
    except UrlError:
        return None


class Backlinks:
    """A `BacklinkSource` that merges others. Without any, nothing is known of anybody."""

    def __init__(self, sources: Sequence[BacklinkSource] = (), services: Sequence[BacklinkService] = ()) -> None:
        self._sources: tuple[BacklinkSource, ...] = (*sources, *services)
        self._services = tuple(services)

    def __len__(self) -> int:
        return len(self._sources)

    async def prefetch(self, targets: Iterable[Url | str], limit: int) -> None:
        """Ask the services among the sources, before `referrers`. It does nothing if there are none."""
        targets = list(targets)
        for service in self._services:
            await service.prefetch(targets, limit)

    def referrers(self, target: Url | str, limit: int) -> list[Link]:
        """Each page once. A home page that a graph of hosts guesses gives way to the page that another source knows."""
        answers = [source.referrers(target, limit) for source in self._sources]
        if len(answers) == 1:
            return answers[0]
        links = [link for link in chain(*zip_longest(*answers)) if link is not None]
        page_hosts = {_source_host(link) for link in links if not _is_guess(link)}
        return ranked(link for link in links if not _is_guess(link) or _source_host(link) not in page_hosts)[:limit]

    def cites(self, target: Url | str, limit: int) -> list[str]:
        answers = [source.cites(target, limit) for source in self._sources]
        hosts = (host for host in chain(*zip_longest(*answers)) if host is not None)
        return list({without_www(host): host for host in hosts}.values())[:limit]


def _source_host(link: Link) -> str:
    return without_www(host_of(link.source or ""))


def _is_guess(link: Link) -> bool:
    """A home page without a word about the link."""
    return link.source is not None and link.source.path == "/" and not link.source.query and not has_text(link)
