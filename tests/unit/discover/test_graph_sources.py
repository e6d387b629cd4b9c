"""Each source of backlinks is recognised by what it holds, and one that is none is named with what to do."""

import gzip
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bitrawl.cli.discover import graph
from bitrawl.discover.backlinks import BacklinkService, LinkRows, read_table
from bitrawl.discover.graph_files import look_reversed, reversed_host, spellings, without_www
from bitrawl.discover.graph_index import HostLanguages
from bitrawl.errors import BitrawlError, ConfigError, GraphError
from bitrawl.job.site_search import SMALL_GRAPH, build_index, open_backlinks, recognised
from bitrawl.model import Capture, Language, Link, LinkKind, Skip
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url

TABLE = "source\ttarget\tanchor\nhttp://hub.org/l\thttp://a.com/\tA\n"


def write_graph(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "host-vertices.txt.gz").write_bytes(gzip.compress(b"0\tcom.a\n1\torg.hub\n", mtime=0))
    (folder / "host-edges.txt.gz").write_bytes(gzip.compress(b"1\t0\n", mtime=0))
    return folder


def file(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"PAR1xxxx", "is Parquet, which has no links"),
        ("just some words\n", "is not a source of backlinks"),
        (gzip.compress(b"0\t5\n", mtime=0), "is a file of edges, one part of a graph; give the folder"),
        (gzip.compress(b"0\torg.a\n", mtime=0), "is a file of vertices, one part of a graph"),
        (gzip.compress(TABLE.encode() * 500, mtime=0)[:40], "is cut off"),
        ("name\tvalue\nx\ty\n", "is not a table of links: it has the columns 'name, value'"),
        ("source\ttarget\n \t \n?\t?\n", "no row has a URL or a host"),
        ("source\ttarget\norg.hub.www\tcom.a\norg.hub\tcom.b\n", "has its hosts reversed, as com.a"),
        ("", "is not a source of backlinks"),
    ],
)
async def test_a_file_that_is_no_source_is_named_with_the_reason(tmp_path: Path, content: bytes | str, told: str):
    path = file(tmp_path / "thing", content)
    with pytest.raises(BitrawlError, match=told) as error:
        async with open_backlinks([str(path)]):
            pass
    assert str(path) in str(error.value)


def test_a_folder_that_is_no_source_says_what_is_missing(tmp_path: Path):
    with pytest.raises(GraphError, match="has no file of vertices or edges"):
        recognised(str(tmp_path))


def test_a_folder_of_parquet_is_no_source(tmp_path: Path):
    file(tmp_path / "part.parquet", b"PAR1")
    with pytest.raises(GraphError, match="is Parquet"):
        recognised(str(tmp_path))


def test_a_place_that_does_not_exist_is_an_error():
    with pytest.raises(ConfigError, match="does not exist"):
        recognised("no/such/place")


def test_a_folder_of_tables_is_several_sources(tmp_path: Path):
    for name in ("a.tsv", "b.tsv"):
        file(tmp_path / name, TABLE)
    assert [place.kind for place in recognised(str(tmp_path))] == ["table", "table"]


async def test_a_large_graph_as_downloaded_asks_to_be_built(tmp_path: Path):
    large = write_graph(tmp_path)
    os.truncate(next(large.rglob("*edges*")), SMALL_GRAPH + 1)  # takes no room on the disk
    with pytest.raises(GraphError, match="bitrawl discover graph build"):
        async with open_backlinks([str(large)]):
            pass


@pytest.mark.parametrize("kind", ["graph", "table"])
async def test_sources_that_know_none_of_the_seeds_are_an_error(tmp_path: Path, kind: str):
    place = write_graph(tmp_path / "g") if kind == "graph" else file(tmp_path / "links.tsv", TABLE)
    with pytest.raises(GraphError, match=r"(?i)none of the 2 seeds is in"):
        async with open_backlinks([str(place)], seeds=["https://x.org/", "y.org"]):
            pass
    async with open_backlinks([str(place)], seeds=["https://www.a.com/x", "y.org"]) as source:
        assert len(source.referrers("a.com", 5)) == 1


async def test_no_place_is_no_source_and_no_error():
    async with open_backlinks([], seeds=["a.com"]) as source:
        assert len(source) == 0


@pytest.mark.parametrize(
    "text",
    [
        "http://hub.org/l\thttp://a.com/\tA\tthe text around\n",
        "context\tto\tx\tfrom\tanchor_text\nthe text around\thttp://a.com/\t7\thttp://hub.org/l\tA\n",
        "\ufeffSource\tTarget\tAnchor\tContext\r\nhttp://hub.org/l\thttp://a.com/\tA\tthe text around\r\n",
    ],
    ids=["by position", "by other names", "from a spreadsheet"],
)
def test_the_columns_of_a_table_are_found(tmp_path: Path, text: str):
    (link,) = read_table(file(tmp_path / "links.tsv", text))
    assert (link.source, link.url, link.anchor, link.context) == (
        "http://hub.org/l",
        "http://a.com/",
        "A",
        "the text around",
    )


def test_a_table_of_bare_hosts_links_home_pages(tmp_path: Path):
    (link,) = read_table(file(tmp_path / "links.tsv", "hub.org\ta.com\n"))
    assert (link.source, link.url) == ("https://hub.org/", "https://a.com/")


def test_a_row_that_is_no_link_costs_that_row(tmp_path: Path):
    links = list(
        read_table(file(tmp_path / "links.tsv", TABLE + "http://hub.org/\tmailto:x\nhttp://b.org/\thttp://c.org/\n"))
    )
    assert [link.url for link in links] == ["http://a.com/", "http://c.org/"]


def test_the_longer_text_about_a_link_is_kept_and_a_host_does_not_crowd_out_others():
    def link(source: str, anchor: str = "") -> Link:
        return Link(Url.parse("http://a.com/"), LinkKind.PAGE, source=Url.parse(source), anchor=anchor)

    with LinkRows() as rows:
        rows.add([link("http://x.org/1", "x"), link("http://x.org/1", "longer"), link("http://x.org/2", "second")])
        rows.add([link("http://y.org/"), link("http://a.com/own"), link("http://z.org/", "z")])
        found = rows.referrers("a.com", 10)
    assert [(one.source, one.anchor) for one in found] == [
        ("http://x.org/1", "longer"),
        ("http://z.org/", "z"),
        ("http://y.org/", ""),
        ("http://x.org/2", "second"),
    ]


class Answering:
    def __init__(self, answer: Skip | bytes) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def fetch(self, link: Link) -> Capture | Skip:
        self.asked.append(str(link.url))
        return self.answer if isinstance(self.answer, Skip) else Capture(link.url, 200, (), self.answer, 0.0)


def skip(reason: Reason, status: int = 0) -> Skip:
    return Skip(Url.parse("https://api.org/"), Stage.FETCH, reason, status=status)


async def test_a_service_is_asked_once_for_each_target_with_page_and_limit():
    web = Answering(b"[]")
    service = BacklinkService("https://api.org/links?of={url}&n={limit}&key=1", web)
    await service.prefetch([Url.parse("https://a.com/?x=1"), "b.com", "b.com"], 25)
    await service.prefetch(["b.com"], 25)
    assert web.asked == [
        "https://api.org/links?of=https%3A%2F%2Fa.com%2F%3Fx%3D1&n=25&key=1",
        "https://api.org/links?of=b.com&n=25&key=1",
    ]


async def test_what_a_service_said_of_a_host_is_found_with_and_without_www():
    service = BacklinkService("https://api.org/{url}", Answering(b'{"source": "http://hub.org/"}'))
    await service.prefetch(["www.a.com"], 5)
    assert len(service.referrers("a.com", 5)) == len(service.referrers("www.a.com", 5)) == 1
    assert service.referrers(Url.parse("https://a.com/"), 5) == []


@pytest.mark.parametrize("answer", [b"", b"[]", b"\n", skip(Reason.HTTP_STATUS, 404)])
async def test_a_service_that_knows_nobody_is_no_fault(answer):
    service = BacklinkService("https://api.org/{url}", Answering(answer))
    await service.prefetch(["a.com"], 5)
    assert service.referrers("a.com", 5) == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"<html>", "does not answer with a JSON list"),
        (b'[{"url": "x"}]', "source, anchor and context"),
        (skip(Reason.HTTP_STATUS, 401), "HTTP 401 .*your key"),
        (skip(Reason.PRIVATE_ADDRESS), "--allow-private"),
    ],
)
async def test_a_service_that_refuses_or_answers_something_else_is_an_error(answer, told: str):
    with pytest.raises(GraphError, match=told):
        await BacklinkService("https://api.org/{url}", Answering(answer)).prefetch(["a.com"], 5)


async def test_a_service_may_fail_now_and_then_but_not_for_good():
    web = Answering(skip(Reason.SERVER_ERROR, 503))
    service = BacklinkService("https://api.org/{url}", web)
    await service.prefetch(["a.com", "b.com"], 5)
    web.answer = b'{"source": "http://hub.org/"}'
    await service.prefetch(["a.com", "b.com"], 5)
    assert len(service.referrers("a.com", 5)) == 1
    web.answer = skip(Reason.TIMEOUT)
    with pytest.raises(GraphError):
        await service.prefetch([f"{number}.com" for number in range(10)], 5)


def test_a_service_without_a_place_for_the_page_is_an_error_without_its_password():
    with pytest.raises(ConfigError, match="does not say where the page goes") as error:
        BacklinkService("https://me:secret@api.org/", Answering(b""))
    assert "secret" not in str(error.value)


def write_parquet(path: Path, rows: list[tuple[str, str | None]]) -> Path:
    columns = {"url_host_name": [row[0] for row in rows], "content_languages": [row[1] for row in rows]}
    pq.write_table(pa.table({"url": ["x"] * len(rows), **columns}), path)
    return path


def test_languages_are_counted_by_host_and_by_the_main_language_of_each_page(tmp_path: Path):
    rows = [("www.a.com", "eng"), ("a.com", "fra,eng"), ("a.com", "fra"), ("a.com", None), ("b.com", "deu")]
    write_parquet(tmp_path / "1.parquet", rows)
    write_parquet(tmp_path / "2.parquet", [("a.com", "eng,fra"), ("c.com", "spa")])
    counted = HostLanguages.read(tmp_path, [Language("en"), Language("fr-CA"), Language("es")])
    assert len(counted) == 3
    assert counted.counts("www.a.com") == counted.counts("a.com") == (2, 2, 0, 5)
    assert counted.counts("https://c.com/") == (0, 0, 1, 1)
    assert counted.counts("unknown.org") == ()


def test_an_index_larger_than_what_is_held_counts_the_same(tmp_path: Path):
    for number in range(3):
        write_parquet(tmp_path / f"{number}.parquet", [("a.com", "eng"), ("a.com", "fra")])
    assert HostLanguages.read(tmp_path, [Language("en"), Language("fr")], most=1).counts("a.com") == (3, 3, 6)


def test_the_rarer_of_two_languages_decides_and_many_pages_say_more_than_one():
    hosts = {"both.org": (50, 40, 100), "one.org": (100, 0, 100), "small.org": (1, 0, 1), "other.org": (0, 0, 50)}
    counted = HostLanguages([Language("en"), Language("fr")], hosts)
    assert counted.evidence("both.org") > 1
    assert counted.evidence("one.org") < counted.evidence("small.org") < 0 == counted.evidence("unknown.org")
    assert counted.evidence("other.org") < -1
    assert counted.odds("one.org")[Language("en")] > 2
    assert counted.odds("unknown.org") == {}


def test_parquet_without_the_columns_is_an_error(tmp_path: Path):
    pq.write_table(pa.table({"url": ["x"]}), tmp_path / "x.parquet")
    with pytest.raises(GraphError, match="no column url_host_name and no column content_languages"):
        HostLanguages.read(tmp_path / "x.parquet", [])
    with pytest.raises(GraphError, match="cannot be read as Parquet"):
        HostLanguages.read(file(tmp_path / "y.parquet", "no"), [])
    with pytest.raises(GraphError, match="has no Parquet files"):
        HostLanguages.read(tmp_path / "none", [])


def test_names_of_hosts():
    assert reversed_host("www.example.org") == "org.example.www"
    assert spellings("www.example.org") == spellings("example.org") == ("example.org", "www.example.org")
    assert spellings("www.de") == ("www.de", "www.www.de")
    assert (look_reversed(["com.a", "org.b"]), look_reversed(["a.com"]), look_reversed(["x.y"])) == (True, False, None)


def test_a_build_never_replaces_a_folder_that_holds_something_else(tmp_path: Path):
    folder = write_graph(tmp_path / "graph")
    with pytest.raises(ConfigError, match="is read by this command"):
        build_index(folder, folder)
    with pytest.raises(ConfigError, match="holds something other"):
        build_index(folder, write_graph(tmp_path / "another"))
    (tmp_path / "empty").mkdir()
    assert build_index(folder, tmp_path / "empty").edges == 1
    assert build_index(folder, tmp_path / "empty").edges == 1


@pytest.mark.parametrize(("hosts", "told"), [("# none\n", "lists no hosts"), (None, "cannot be read")])
def test_a_list_of_hosts_that_is_none_is_an_error(tmp_path: Path, hosts: str | None, told: str):
    if hosts is not None:
        file(tmp_path / "hosts.txt", hosts)
    with pytest.raises(ConfigError, match=told):
        build_index(write_graph(tmp_path / "graph"), tmp_path / "out", around=tmp_path / "hosts.txt")


def test_the_command_builds_a_graph_and_shows_who_links(tmp_path: Path):
    folder, out = write_graph(tmp_path / "graph"), tmp_path / "index"
    hosts = file(tmp_path / "hosts.txt", "https://www.a.com/page\nx.org\n")
    built = CliRunner().invoke(graph, ["build", str(folder), "--around", str(hosts), "--out", str(out)])
    assert built.exit_code == 0, built.output
    assert "2 hosts and 1 links around 1 of them, of 1 read" in built.output
    assert "not in the graph: x.org" in built.output
    shown = CliRunner().invoke(graph, ["show", "www.a.com", "--backlinks", str(out)])
    assert "https://www.a.com/\thttps://hub.org/\t\t1" in shown.output
    nobody = CliRunner().invoke(graph, ["show", "hub.org", "--backlinks", str(out)])
    assert nobody.exit_code == 1
    assert "no links to hub.org are known" in nobody.output


def test_a_table_of_sites_with_a_host_for_each_language_is_not_taken_for_reversed(tmp_path: Path):
    path = tmp_path / "links.tsv"
    rows = [f"https://hub.test/\thttps://{language}.rail.test/\n" for language in ("fr", "de", "it")]
    path.write_text("source\ttarget\n" + "".join(rows))
    assert [link.url.host for link in read_table(path)] == ["fr.rail.test", "de.rail.test", "it.rail.test"]


@pytest.mark.parametrize(("host", "bare"), [("www.a.org", "a.org"), ("a.org", "a.org"), ("www.de", "www.de")])
def test_a_host_loses_its_www_only_if_a_name_is_left(host: str, bare: str):
    assert without_www(host) == bare
