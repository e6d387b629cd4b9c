"""Tables of links: tab-separated, with a header or with the columns in their usual order."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from bitrawl.discover.graph.names import host_of, look_reversed
from bitrawl.discover.graph.shards import blocks
from bitrawl.errors import GraphError, UrlError
from bitrawl.model import Link, LinkKind
from bitrawl.url import Url

COLUMNS = ("source", "target", "anchor", "context")
"""In this order if the table has no header."""

_NAMES = {
    "source": ("source", "source_url", "from", "referrer"),
    "target": ("target", "target_url", "to", "url"),
    "anchor": ("anchor", "anchor_text", "text"),
    "context": ("context", "around"),
}
_SAMPLE = 200  # rows that are looked at before the first is believed; judgement


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
    links = [link for row in sample if (link := _link(row, places)) is not None]
    if sample and not links:
        raise GraphError(f"{path} is not a table of links: no row has a URL or a host as source and as target")
    _check_order([host_of(link.url) for link in links], path)
    yield from links
    for row in rows:
        link = _link(row, places)
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


def _link(row: Sequence[str], places: Sequence[int]) -> Link | None:
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
