"""Links between pages of different hosts, from any file that has them: in a temporary file, found by host or by page."""

import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.discover.graph.names import host_of, without_www
from bitrawl.model import Link, LinkKind, Unpacker, pack
from bitrawl.url import Url

# Links that are read for each one asked for, because several may come from one page. Judgement.
_READ = 20
_LONGEST = 300  # letters of an anchor or of the text around it that are kept; judgement


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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
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
        found = [link for link in self._links(column, name, limit) if of_target(link.url) == name]
        return ranked(found)[:limit]

    def cites(self, target: Url | str, limit: int) -> list[str]:
        """The hosts that a host cites, or a page, each once."""
        name, column = (_page(target), 3) if isinstance(target, Url) else (_host(target), 2)
        of_source = _page if isinstance(target, Url) else _host
        found = (link for link in self._links(column, name, limit) if link.source and of_source(link.source) == name)
        return list(dict.fromkeys(host_of(link.url) for link in found))[:limit]

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


def _better(one: Link, other: Link) -> Link:
    return other if len(other.anchor) + len(other.context) > len(one.anchor) + len(one.context) else one


def _host(target: Url | str) -> str:
    return without_www(host_of(target))


def _page(url: str) -> str:
    """The same for http and https, with and without `www.`."""
    rest = url.partition("://")[2]
    return _host(url) + "/" + rest.partition("/")[2]
