"""What holds for every source of backlinks."""

import gzip
import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import unquote

import pytest
import pytest_asyncio

from bitrawl.discover.backlinks import Backlinks, BacklinkService
from bitrawl.discover.graph_build import build_graph
from bitrawl.discover.graph_files import reversed_host
from bitrawl.job.site_search import open_backlinks
from bitrawl.model import Capture, Lease, Link, LinkKind, Page, Visit
from bitrawl.protocols import BacklinkSource
from bitrawl.store.ledger import Ledger
from bitrawl.url import Url

# Who links to whom: pages, with the anchor.
LINKS = [
    ("http://hub.org/links.html", "http://www.a.com/", "Site A"),
    ("http://hub.org/links.html", "http://b.de/fr/", "Site B"),
    ("http://hub.org/more.html", "http://a.com/about", "About A"),
    ("http://other.net/", "https://a.com/", "A again"),
    ("http://other.net/", "http://other.net/inside", "not another host"),
    ("http://other.net/", "http://c.fr/", ""),
]
HOSTS = ["hub.org", "a.com", "b.de", "other.net", "c.fr"]


def write_graph(folder: Path) -> Path:
    folder.mkdir()
    names = sorted(map(reversed_host, HOSTS))
    ids = {reversed_host(name): number for number, name in enumerate(names)}
    pairs = sorted({tuple(ids[Url.parse(url).site] for url in link[:2]) for link in LINKS})
    vertices = "".join(f"{number}\t{name}\n" for number, name in enumerate(names))
    edges = "".join(f"{a}\t{b}\n" for a, b in pairs if a != b)
    (folder / "host-vertices.txt.gz").write_bytes(gzip.compress(vertices.encode()))
    (folder / "host-edges.txt.gz").write_bytes(gzip.compress(edges.encode()))
    return folder


def index(folder: Path) -> str:
    build_graph(write_graph(folder / "raw"), folder / "index")
    return str(folder / "index")


def around(folder: Path) -> str:
    build_graph(write_graph(folder / "raw"), folder / "index", around=["a.com"])
    return str(folder / "index")


def downloaded(folder: Path) -> str:
    return str(write_graph(folder / "raw"))


def table(folder: Path) -> str:
    rows = [("source", "target", "anchor", "context"), *((*link, "") for link in LINKS)]
    (folder / "links.tsv.gz").write_bytes(gzip.compress("".join("\t".join(row) + "\n" for row in rows).encode()))
    return str(folder / "links.tsv.gz")


def bare_table(folder: Path) -> str:
    (folder / "links.tsv").write_text("".join("\t".join(link) + "\n" for link in LINKS))
    return str(folder / "links.tsv")


def by_source() -> dict[str, list[tuple[str, str]]]:
    pages: dict[str, list[tuple[str, str]]] = {}
    for source, target, anchor in LINKS:
        pages.setdefault(source, []).append((target, anchor))
    return pages


def job(folder: Path) -> str:
    ledger = Ledger(folder / "job" / "job.sqlite")
    with ledger.transaction():
        for source, links in by_source().items():
            url = Url.parse(source)
            found = tuple(Link(Url.parse(target), LinkKind.PAGE, anchor=anchor) for target, anchor in links)
            ledger.record(Visit(Lease(Link(url, LinkKind.SEED), 1.0), Page(url, links=found), 200))
    ledger.close()
    return str(folder / "job")


def record(kind: str, url: str, content_type: str, body: bytes) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + body + b"\r\n\r\n")


def wat(folder: Path) -> str:
    def page(source: str, links: list[tuple[str, str]]) -> bytes:
        anchors = [{"path": "A@/href", "url": target, "text": anchor} for target, anchor in links]
        others = [{"path": "IMG@/src", "url": "http://images.com/x.png"}, {"path": "A@/href", "url": "mailto:x@y.z"}]
        html = {"Links": [*anchors, *others], "Head": {"Title": "x"}}
        payload = {"HTTP-Response-Metadata": {"HTML-Metadata": html}}
        header = {"WARC-Target-URI": source, "WARC-Type": "response"}
        content = {"Envelope": {"Payload-Metadata": payload, "WARC-Header-Metadata": header}}
        return record("metadata", source, "application/json", json.dumps(content).encode())

    unread = record("metadata", "http://x.org/", "application/json", b'{"Envelope": 3}')
    path = folder / "CC-MAIN.warc.wat.gz"
    path.write_bytes(unread + b"".join(page(*each) for each in by_source().items()))
    return str(path)


def warc(folder: Path) -> str:
    def page(source: str, links: list[tuple[str, str]]) -> bytes:
        anchors = "".join(f'<p>See <a href="{target}">{anchor}</a></p>' for target, anchor in links)
        html = f"<html><body><h1>Links</h1>{anchors}</body></html>".encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        return record("response", source, "application/http; msgtype=response", head + html)

    (folder / "pages.warc.gz").write_bytes(b"".join(page(*each) for each in by_source().items()))
    return str(folder / "pages.warc.gz")


class FakeService:
    """Answers as docs/how-to/backlinks.md says: a JSON list, or JSON lines."""

    def __init__(self, *, lines: bool) -> None:
        self._lines = lines

    async def fetch(self, link: Link) -> Capture:
        asked = unquote(link.url.partition("target=")[2])
        target = Url.parse(asked) if "://" in asked else asked
        return Capture(link.url, 200, (), self._body(target), 0.0, media_type="application/json")

    def _body(self, target: str) -> bytes:
        rows = [
            {"source": source, "anchor": anchor, "context": "", "target": to, "rank": 3}
            for source, to, anchor in LINKS
            if (_bare(to) == _bare(target) if isinstance(target, Url) else _bare(to).partition("/")[0] == target)
            and _bare(source).partition("/")[0] != _bare(to).partition("/")[0]
        ]
        if self._lines:
            return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        return json.dumps(rows).encode()


def _bare(url: str) -> str:
    return url.partition("://")[2].removeprefix("www.")


LOCAL: list[Callable[[Path], str]] = [index, around, downloaded, table, bare_table, job, wat, warc]
HOST_LEVEL = {"index", "around", "downloaded"}


@pytest_asyncio.fixture(
    params=[*(each.__name__ for each in LOCAL), "service", "service-lines", "several"],
    scope="module",
    loop_scope="module",
)
async def source(request, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BacklinkSource]:
    """Opened once for all questions: to open an archive reads its pages in a process of its own."""
    tmp_path = tmp_path_factory.mktemp("source")
    made = {each.__name__: each for each in LOCAL}
    async with AsyncExitStack() as stack:
        if request.param.startswith("service"):
            service = BacklinkService(
                "https://api.example.org/?target={url}", FakeService(lines=request.param.endswith("lines"))
            )
            source: BacklinkSource = service
            page = Url.parse("http://a.com/about")
            await service.prefetch(["a.com", "www.a.com", "b.de", "unknown.org", page], 10)
        else:
            names = ["index", "table", "wat"] if request.param == "several" else [request.param]
            source = await stack.enter_async_context(open_backlinks([made[name](tmp_path) for name in names]))
        yield source


def hosts(links: list[Link]) -> set[str]:
    return {link.source.host for link in links if link.source}


def test_the_hosts_that_link_to_a_host_are_found(source: BacklinkSource):
    assert hosts(source.referrers("a.com", 10)) == {"hub.org", "other.net"}
    assert hosts(source.referrers("b.de", 10)) == {"hub.org"}


def test_every_referrer_is_a_backlink_from_another_host_and_comes_once(source: BacklinkSource):
    links = source.referrers("a.com", 10)
    assert {link.kind for link in links} == {LinkKind.BACKLINK}
    assert all(link.source and link.source.site != link.url.site for link in links)
    assert len({link.source for link in links}) == len(links)
    assert {link.url.site for link in links} == {"a.com"}


def test_the_limit_holds_and_each_host_has_its_turn(source: BacklinkSource):
    assert len(source.referrers("a.com", 1)) == 1
    assert hosts(source.referrers("a.com", 2)) == {"hub.org", "other.net"}
    assert source.referrers("a.com", 0) == []


def test_what_is_not_known_has_no_referrers_and_cites_nobody(source: BacklinkSource):
    assert source.referrers("unknown.org", 10) == []
    assert source.cites("unknown.org", 10) == []


def test_a_host_cites_others_and_never_itself(source: BacklinkSource):
    cited = {host.removeprefix("www.") for host in source.cites("hub.org", 10)}
    if isinstance(source, BacklinkService):
        assert cited == set()
    else:
        assert cited == {"a.com", "b.de"}
        assert len(source.cites("hub.org", 1)) == 1


def test_a_page_is_asked_for_where_pages_are_known(source: BacklinkSource, request):
    links = source.referrers(Url.parse("http://a.com/about"), 10)
    if request.node.callspec.params["source"] in HOST_LEVEL:
        assert hosts(links) == {"hub.org", "other.net"}
        assert {link.source.path for link in links} == {"/"}
    else:
        assert "http://hub.org/more.html" in {link.source for link in links}
        assert "About A" in {link.anchor for link in links}


async def test_several_sources_prefer_the_page_to_the_guess_of_its_host(tmp_path: Path):
    async with open_backlinks([index(tmp_path), table(tmp_path)]) as source:
        assert {link.source for link in source.referrers("b.de", 10)} == {"http://hub.org/links.html"}


def test_no_source_at_all_knows_nothing():
    assert Backlinks().referrers("a.com", 10) == []
    assert Backlinks().cites("a.com", 10) == []
