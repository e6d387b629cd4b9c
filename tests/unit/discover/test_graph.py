"""The index of a link graph answers as a dictionary would, whatever the files look like; and bad files are named."""

import gzip
import tracemalloc
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitrawl.discover import graph_build, graph_files, graph_index
from bitrawl.discover.graph_build import build_graph
from bitrawl.discover.graph_files import reversed_host
from bitrawl.discover.graph_index import META, Caps, GraphIndex, GraphMeta
from bitrawl.errors import GraphError
from bitrawl.url import Url

EDGES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=150)
ALL = 1000


def host(number: int) -> str:
    return f"host{number:03}.{('org', 'com', 'de')[number % 3]}"


def write(path: Path, lines: Iterable[str], *, packed: bool = True) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text, 1) if packed else text)


def write_graph(
    folder: Path,
    edges: Iterable[tuple[int, int]],
    names: Iterable[str] = [host(number) for number in range(31)],
    *,
    parts: int = 1,
    in_order: bool = True,
    gap: int = 1,
) -> dict[str, set[str]]:
    """Who cites whom. Ids are `gap` apart, and without order the edges stay as they are given."""
    ordered = sorted(names, key=reversed_host)
    ids = {name: number * gap for number, name in enumerate(ordered)}
    listed = list(names)
    rows = [(ids[listed[a]], ids[listed[b]]) for a, b in edges]
    rows = sorted(rows) if in_order else rows
    write(folder / "g-host-vertices.txt.gz", (f"{ids[name]}\t{reversed_host(name)}" for name in ordered))
    for part in range(parts):
        size = -(-len(rows) // parts)
        write(folder / "edges" / f"part-{part}.gz", (f"{a}\t{b}" for a, b in rows[part * size : (part + 1) * size]))
    cites = defaultdict(set)
    for a, b in edges:
        cites[listed[a]].add(listed[b])
    return cites


def referrers_of(cites: dict[str, set[str]], name: str) -> set[str]:
    return {source for source, targets in cites.items() if name in targets}


@settings(deadline=None, max_examples=60)
@given(EDGES, st.integers(1, 3), st.sampled_from([1, 7]), st.integers(1, 4), st.integers(10, 200))
def test_a_whole_graph_is_what_a_dictionary_says(tmp_path_factory, edges, parts, gap, pieces, block):
    folder = tmp_path_factory.mktemp("graph")
    cites = write_graph(folder, edges, parts=parts, gap=gap, in_order=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_files, "_BLOCK", block)
        patch.setattr(graph_files, "_CHUNK", 5)
        patch.setattr(graph_build, "_PART_EDGES", max(len(edges) // pieces, 1))
        patch.setattr(graph_build, "_BYTES_PER_EDGE", 1)
        meta = build_graph(folder, folder / "out")
    index = GraphIndex(folder / "out")
    assert meta.edges == sum(map(len, cites.values()))
    assert meta.edges_read == len(edges)
    assert sorted(index.hosts()) == [host(number) for number in range(31)]
    for number in range(31):
        assert set(index.cites(host(number), ALL)) == cites.get(host(number), set()) - {host(number)}
        assert set(index.referring_hosts(host(number), ALL)) == referrers_of(cites, host(number)) - {host(number)}
        assert index.degree(host(number)) == len(cites.get(host(number), ()))


@settings(deadline=None, max_examples=80)
@given(
    EDGES, st.sets(st.integers(0, 30), min_size=1, max_size=4), st.booleans(), st.integers(1, 3), st.integers(10, 200)
)
def test_what_lies_around_hosts_is_their_hubs_and_what_these_cite(
    tmp_path_factory, edges, given, in_order, parts, block
):
    folder = tmp_path_factory.mktemp("graph")
    edges = list(dict.fromkeys(edges))
    cites = write_graph(folder, edges, parts=parts, gap=3, in_order=in_order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_files, "_BLOCK", block)
        patch.setattr(graph_index, "_CHUNK", 5)
        build_graph(folder, folder / "out", around=[host(number) for number in given])
    index = GraphIndex(folder / "out")
    seeds = {host(number) for number in given}
    hubs = {source for source, targets in cites.items() if targets & seeds}
    assert set(index.hosts()) == seeds | hubs | {target for hub in hubs for target in cites[hub]}
    for name in index.hosts():
        assert set(index.referring_hosts(name, ALL)) == (referrers_of(cites, name) & hubs) - {name}
        assert set(index.cites(name, ALL)) == (cites[name] - {name} if name in hubs else set())
    for hub in hubs:
        assert index.degree(hub) == len(cites[hub])


@pytest.mark.parametrize("block", [40, 1 << 20], ids=["over many blocks", "in one block"])
def test_a_hub_keeps_the_given_hosts_and_some_others_from_all_over_its_list(tmp_path: Path, monkeypatch, block: int):
    monkeypatch.setattr(graph_files, "_BLOCK", block)
    names = [f"h{number:04}.org" for number in range(2000)]
    write_graph(tmp_path, [(0, number) for number in range(1, 2000)] + [(5, 6)], names)
    build_graph(tmp_path, tmp_path / "out", around=[names[7], names[1999]], caps=Caps(links=10))
    index = GraphIndex(tmp_path / "out")
    kept = sorted(index.cites(names[0], ALL))
    assert {names[7], names[1999]} <= set(kept)
    assert len(kept) == 12
    assert kept[-2] > "h1800"
    assert index.degree(names[0]) == 1999


def test_a_popular_host_keeps_a_sample_of_its_hubs_from_the_whole_graph(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(graph_files, "_BLOCK", 500)
    names = [f"h{number:04}.org" for number in range(4000)]
    edges = [(number, 0) for number in range(1, 4000)] + [(number, 1) for number in range(100, 110)]
    write_graph(tmp_path, edges, names)
    build_graph(tmp_path, tmp_path / "out", around=names[:2], caps=Caps(referrers=100))
    index = GraphIndex(tmp_path / "out")
    found = sorted(index.referring_hosts(names[0], ALL))
    assert 40 <= len(found) <= 110
    assert found[0] < "h0500"
    assert found[-1] > "h3500"
    assert index.referring_hosts(names[1], ALL) == names[100:110]  # hubs of both are kept, whatever the first has


def test_hubs_that_cite_most_of_the_given_hosts_come_first_and_dead_ends_last(tmp_path: Path):
    write_graph(tmp_path, [(9, 1), (3, 1), (3, 4), (3, 5), (8, 1), (8, 2), (7, 1), (7, 4)])
    build_graph(tmp_path, tmp_path / "out", around=[host(1), host(2)])
    index = GraphIndex(tmp_path / "out")
    assert index.referring_hosts(host(1), ALL) == [host(8), host(7), host(3), host(9)]
    assert index.referring_hosts(host(1), 2) == [host(8), host(7)]


@pytest.mark.parametrize(
    ("names", "asked"),
    [
        (["a.org", "example.com"], "www.a.org"),
        (["www.a.org", "example.com"], "a.org"),
        (["www.a.org", "example.com"], Url.parse("https://www.a.org:8080/x")),
    ],
    ids=["www stripped", "www kept", "a page"],
)
def test_www_is_tried_both_ways(tmp_path: Path, names: list[str], asked: str):
    write_graph(tmp_path, [(1, 0)], names)
    build_graph(tmp_path, tmp_path / "out", around=["a.org"])
    links = GraphIndex(tmp_path / "out").referrers(asked, 5)
    assert [link.source for link in links] == ["https://example.com/"]


def test_a_graph_with_both_spellings_answers_for_both(tmp_path: Path):
    write_graph(tmp_path, [(2, 0), (3, 1)], ["a.org", "www.a.org", "b.com", "c.com"])
    build_graph(tmp_path, tmp_path / "out")
    assert GraphIndex(tmp_path / "out").referring_hosts("a.org", 5) == ["b.com", "c.com"]


def test_a_graph_of_domains_is_asked_for_the_domain_of_a_host(tmp_path: Path):
    write(tmp_path / "cc-domain-vertices.txt.gz", ["0\tcom.b\t3", "1\torg.a\t12"])
    write(tmp_path / "cc-domain-edges.txt.gz", ["0\t1"])
    build_graph(tmp_path, tmp_path / "out")
    assert GraphIndex(tmp_path / "out").referring_hosts("fr.blog.a.org", 5) == ["b.com"]


def test_names_in_another_order_are_found_too(tmp_path: Path):
    write(tmp_path / "vertices.txt.gz", ["0\torg.z", "1\tcom.b", "2\tnet.k"])
    write(tmp_path / "edges.txt.gz", ["0\t1", "2\t1"])
    build_graph(tmp_path, tmp_path / "out")
    index = GraphIndex(tmp_path / "out")
    assert [name in index for name in ("z.org", "b.com", "k.net", "y.org")] == [True, True, True, False]


def test_ids_of_up_to_ten_digits_are_read(tmp_path: Path):
    ids = [7, 12, 345, 99_999_999, 100_000_000, 123_456_789, 999_999_999, 1_000_000_000, 4_294_967_295]
    for one in ids:
        assert list(graph_build.edges_in(f"{one}\t7\n".encode(), tmp_path).sources) == [one]
    block = "".join(f"{a}\t{b}\n" for a in ids for b in ids).encode()
    edges = graph_build.edges_in(block, tmp_path)
    assert edges.sources.tolist() == [a for a in ids for _ in ids]
    assert edges.targets.tolist() == ids * len(ids)


def test_memory_does_not_grow_with_the_edges(tmp_path: Path):
    """Twice the edges outside of the neighbourhood take no more memory."""

    def peak(count: int) -> int:
        folder = tmp_path / str(count)
        names = [f"h{number:05}.org" for number in range(20_000)]
        generator = np.random.default_rng(1)
        edges = generator.integers(10, 20_000, (count, 2)).tolist()
        write_graph(folder, [*edges, (1, 2)], names)
        tracemalloc.start()
        build_graph(folder, folder / "out", around=[names[2]])
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(300_000) < 1.2 * peak(150_000)


def broken(tmp_path: Path, **files: bytes) -> Path:
    write_graph(tmp_path, [(1, 2)])
    for name, content in files.items():
        (tmp_path / f"{name}.txt.gz").write_bytes(content)
    return tmp_path


VERTICES, EDGES_FILE = "g-host-vertices", "g-host-edges"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (EDGES_FILE, gzip.compress(b"1\t2\n" * 5000, mtime=0)[:-20], "is cut off"),
        (EDGES_FILE, b"\x1f\x8b" + b"x" * 50, "is damaged"),
        (
            EDGES_FILE,
            gzip.compress(b"org.a\torg.b\n", mtime=0),
            r"not a file of edges: it has the line 'org.a\\torg.b'",
        ),
        (EDGES_FILE, gzip.compress(b"1\t2\n3 4\n", mtime=0), "the line '3 4'"),
        (EDGES_FILE, gzip.compress(b"1\t2\t5\n", mtime=0), "not a file of edges"),
        (EDGES_FILE, gzip.compress(b"1\t999\n", mtime=0), "has the id 999, which is not in"),
        (EDGES_FILE, gzip.compress(b"1\t99999999999\n", mtime=0), "longer than 10 digits"),
        (EDGES_FILE, gzip.compress(b"1\t9999999999\n", mtime=0), "above 2"),
        (VERTICES, gzip.compress(b"org.a\t1\n", mtime=0), "not a file of vertices"),
        (VERTICES, gzip.compress(b"0 org.a\n", mtime=0), "not a file of vertices"),
        (
            VERTICES,
            gzip.compress(b"0\ta.org\n1\tb.com\n2\tc.com\n", mtime=0),
            "has its hosts as a.org; .* reversed, as org.a",
        ),
        (VERTICES, gzip.compress(b"0\torg.a\n5\torg.b\n3\torg.c\n", mtime=0), "do not ascend"),
        (VERTICES, gzip.compress(b"", mtime=0), "is empty"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_named_with_the_reason(tmp_path: Path, name, content, told):
    folder = broken(tmp_path, **{name: content})
    if name == EDGES_FILE:
        for part in (folder / "edges").iterdir():
            part.unlink()
    with pytest.raises(GraphError, match=told) as error:
        build_graph(folder, folder / "out", around=[host(1)] if "host" not in told else [])
    assert name in str(error.value)
    assert not (folder / "out").exists()


def test_a_build_that_fails_leaves_the_earlier_index(tmp_path: Path):
    write_graph(tmp_path, [(1, 2)])
    build_graph(tmp_path, tmp_path / "out")
    (tmp_path / "edges" / "part-0.gz").write_bytes(gzip.compress(b"1\t2\n" * 5000, mtime=0)[:-20])
    with pytest.raises(GraphError):
        build_graph(tmp_path, tmp_path / "out")
    assert GraphIndex(tmp_path / "out").cites(host(1), 5) == [host(2)]
    assert not list(tmp_path.glob("out.*"))


def test_a_graph_in_another_format_is_named(tmp_path: Path):
    (tmp_path / "cc-main-host.graph").write_bytes(b"x")
    with pytest.raises(GraphError, match=r"another format .BVGraph."):
        build_graph(tmp_path, tmp_path / "out")


def test_the_list_of_the_parts_is_not_taken_for_a_part(tmp_path: Path):
    write(tmp_path / "cc-main-host-vertices.paths.gz", ["projects/hyperlinkgraph/x/host/vertices/part-0.txt.gz"])
    with pytest.raises(GraphError, match="only lists the parts of a graph; download the files"):
        build_graph(tmp_path, tmp_path / "out")
    write_graph(tmp_path, [(1, 2)])
    assert build_graph(tmp_path, tmp_path / "out").edges == 1


def test_a_folder_without_edges_says_what_is_missing(tmp_path: Path):
    write(tmp_path / "host-vertices.txt.gz", ["0\torg.a"])
    with pytest.raises(GraphError, match="no file of edges"):
        build_graph(tmp_path, tmp_path / "out")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["org.a", "com.b"], "they look reversed"),
        (["x.org", "y.org"], "none of the 2 seeds is in the graph .*31 hosts"),
        (["x.org"], "the seed is not in the graph"),
    ],
)
def test_hosts_that_the_graph_lacks_are_an_error(tmp_path: Path, asked: list[str], told: str):
    write_graph(tmp_path, [(1, 2)])
    with pytest.raises(GraphError, match=told):
        build_graph(tmp_path, tmp_path / "out", around=asked)


def test_some_hosts_that_the_graph_lacks_are_told(tmp_path: Path):
    write_graph(tmp_path, [(1, 2)])
    meta = build_graph(tmp_path, tmp_path / "out", around=[host(2), "x.org"])
    assert (meta.given, meta.missing) == (1, ("x.org",))


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        (META, b"{}", "cannot be read"),
        (META, b'{"hosts": 1, "edges": 1, "version": 99}', "another version"),
        ("cites.npy", b"", "is damaged"),
    ],
)
def test_a_damaged_index_says_to_build_it_again(tmp_path: Path, file: str, content: bytes, told: str):
    write_graph(tmp_path, [(1, 2)])
    build_graph(tmp_path, tmp_path / "out")
    (tmp_path / "out" / file).write_bytes(content)
    with pytest.raises(GraphError, match=told):
        GraphIndex(tmp_path / "out")


def test_progress_ends_with_everything_read(tmp_path: Path):
    write_graph(tmp_path, [(1, 2), (2, 3)])
    seen: list[tuple[int, int]] = []
    build_graph(tmp_path, tmp_path / "out", around=[host(2)], progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]


def test_an_index_knows_what_it_was_made_of(tmp_path: Path):
    write_graph(tmp_path, [(1, 2)])
    meta = build_graph(tmp_path, tmp_path / "out")
    assert isinstance(meta, GraphMeta)
    assert meta.files == ("g-host-vertices.txt.gz", "part-0.gz")
    assert GraphIndex(tmp_path / "out").meta == meta
