"""What the command finds early, as users run it: a topic on many hosts and on one site, pairs of one site, bilingual sites."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import many_hosts
import pytest
from made_up_pack import write_pack
from topic_web import article, html, serve, site, text

pytestmark = pytest.mark.usefixtures("no_children")
Bitrawl = Callable[..., tuple[int, str, str]]
SUBJECT, CODE = "territories", "he"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many_hosts.write_warc(tmp_path_factory.mktemp("web") / "web.warc.gz", many_hosts.many_hosts(CODE))


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for number in range(5):
        (folder / f"{number}.txt").write_text(many_hosts.text(CODE, SUBJECT, number), "utf-8")
    return folder


def pages(bitrawl: Bitrawl, folder: Path) -> list[str]:
    """In the order in which they came."""
    status, out, err = bitrawl("log", folder, "--format", "jsonl")
    assert status == 0, err
    return [line["url"] for line in map(json.loads, out.splitlines()) if line["status"] == 200]


def crawled(bitrawl: Bitrawl, out: Path, *asked: str | Path) -> list[str]:
    status, _, err = bitrawl("crawl", *asked, "--out", out, "--quiet")
    assert status == 0, err
    return pages(bitrawl, out)


def of_many_hosts(web: Path, texts: Path) -> list[str]:
    asked = [many_hosts.START, "--hub", "--langs", CODE, "--texts", texts, "--scope", "web", "--max-pages", 60]
    return [*map(str, asked), "--replay", str(web)]


def test_a_rare_topic_is_found_early_on_a_web_of_many_hosts(bitrawl: Bitrawl, web: Path, texts: Path, tmp_path: Path):
    """Of 44 pages about it among 373."""
    first = crawled(bitrawl, tmp_path / "job", *of_many_hosts(web, texts))
    plain = crawled(bitrawl, tmp_path / "plain", *of_many_hosts(web, texts), "--strategy", "breadth-first")
    found, by_chance = (len(many_hosts.about(SUBJECT).intersection(one)) for one in (first, plain))
    assert found >= 30
    assert found >= 3 * by_chance > 0


def test_a_replay_has_the_same_order_however_many_visits_are_allowed(
    bitrawl: Bitrawl, web: Path, texts: Path, tmp_path: Path
):
    orders = []
    for parallel in ("1", "16"):
        asked = ["crawl", *of_many_hosts(web, texts), "--parallel", parallel, "--out", str(tmp_path / parallel)]
        # Sets of words have another order in each process.
        own = {**os.environ, "PYTHONHASHSEED": parallel}
        subprocess.run([sys.executable, "-m", "bitrawl", *asked], env=own, check=True, capture_output=True)
        orders.append(pages(bitrawl, tmp_path / parallel))
    assert len(orders[0]) == 60
    assert orders[0] == orders[1]


def test_a_topic_is_found_early_on_one_site(bitrawl: Bitrawl, tmp_path: Path):
    """Of 8 pages about it, which come last in the menu."""
    home = "http://town.test/"
    web = many_hosts.write_warc(tmp_path / "web.warc.gz", site(home, {"football": 30, "bees": 8}))
    (tmp_path / "text.txt").write_text(text("bees", "en"), "utf-8")
    asked = (home, "--langs", "en", "--texts", tmp_path / "text.txt", "--max-pages", "20", "--replay", web)
    first = crawled(bitrawl, tmp_path / "job", *asked)
    assert sum("/en/bees" in url for url in first) == 8


def test_the_pairs_of_a_site_are_complete_early(bitrawl: Bitrawl, tmp_path: Path):
    pack = write_pack(tmp_path / "pack", articles=40)
    asked = (*pack.seeds, "--langs", "en,fr", "--max-pages", "30", "--replay", pack.archive)
    first = set(crawled(bitrawl, tmp_path / "job", *asked))
    assert sum(url.replace("/en/", "/fr/") in first for url in first if "/en/" in url) >= 14


def test_bilingual_sites_are_found_early(bitrawl: Bitrawl, tmp_path: Path):
    """Of 8 that one page cites, among 32."""
    web: dict[str, str] = {}
    hosts = {
        kind: [f"http://{kind}{number}.test/" for number in range(count)]
        for kind, count in (("good", 8), ("plain", 24))
    }
    for home in hosts["good"]:
        web |= site(home, {"bees": 2})
    for number, home in enumerate(hosts["plain"]):
        web[home] = html("en", "Welcome", article("football", number)["en"], {f"{home}club": "Club"})
        web[f"{home}club"] = html("en", "Club", article("football", 100 + number)["en"], {home: "Home"})
    rows = [("http://hub.test/links", home) for home in hosts["good"]]
    rows += [(f"http://list{n}.test/", home) for n in range(4) for home in [hosts["good"][0], *hosts["plain"][n::4]]]
    graph = tmp_path / "links.tsv"
    graph.write_text("source\ttarget\tanchor\tcontext\n" + "".join(f"{a}\t{b}\tA site\t\n" for a, b in rows), "utf-8")
    with serve(web) as served:
        asked = (hosts["good"][0], "--langs", "en,fr", "--backlinks", graph, "--max-downloads", "40", *served.flags)
        status, _, err = bitrawl("discover", *asked, "--out", tmp_path / "found")
    assert status == 0, err
    lines = map(json.loads, (tmp_path / "found/sites.jsonl").read_text("utf-8").splitlines())
    found = {line["site"] for line in lines if line["verdict"] == "bilingual"}
    assert len(found) == 8
