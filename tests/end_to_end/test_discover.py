"""`bitrawl discover` on the bundled web, by the real command: what it finds, what it writes, and what a kill costs."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from forked_command import NO_CHILDREN, ForkedCommand

from bitrawl import demo
from bitrawl.demo import Served

KILLS = 2
RULES = ("/robots.txt", "/.well-known/tdmrep.json")
SLOTS = 16
MOST_PAGES = 8  # `walk.MOST_PAGES`


def graph(folder: Path) -> Path:
    """Two pages that cite all sites of the bundled web between them, the beekeepers in both."""
    hosts = [str(url) for url in demo.seeds() if url.host.startswith("www.")]
    rows = ["source\ttarget\tanchor\tcontext"]
    rows += [f"http://hub{number % 2}.test/links\t{url}\tA site\t" for number, url in enumerate(hosts)]
    rows += [f"http://hub{number}.test/links\thttp://www.beekeepers.test/\tThe keepers\t" for number in (0, 1)]
    path = folder / "links.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def discover(port: int, out: Path, seed: str = "http://www.beekeepers.test/") -> list[str]:
    """The command, without `bitrawl`."""
    reached = ("--delay", "0", "--connect-to", f"*.test={demo.LOOPBACK}:{port}", "--allow-private")
    return ["discover", seed, "--langs", "en,fr", "--out", str(out), *reached]


def start(web: Served, out: Path, *flags: str, seed: str = "http://www.beekeepers.test/") -> ForkedCommand:
    return ForkedCommand.start(*discover(web.port, out, seed), *flags, first=NO_CHILDREN)


def answers(folder: Path) -> dict[str, str]:
    lines = (folder / "sites.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if "railway" not in row["site"]]  # its hosts share pages in any order
    return {row["site"]: row["verdict"] for row in rows}


@pytest.mark.long("the command starts again after each kill")
async def test_killed_again_and_again_a_search_finds_the_same_sites(tmp_path: Path):
    flags = ("--backlinks", str(graph(tmp_path)))
    async with demo.serve() as web:
        process = start(web, tmp_path / "undisturbed", *flags)
        _, err = await process.communicate()
        assert process.returncode == 0, err.decode()
    random = Random(20261116)
    asked_before: set[str] = set()
    async with demo.serve() as web:
        for _ in range(KILLS):
            seen, limit = len(web.visits), len(web.visits) + random.randint(3, 12)
            process = start(web, tmp_path / "killed", *flags)
            while len(web.visits) < limit and process.returncode is None:  # noqa: ASYNC110 - the server has no event
                await asyncio.sleep(0.001)
            if process.returncode is None:
                process.kill()
            await process.communicate()
            asked = {visit.url for visit in web.visits[seen:] if not visit.url.endswith(RULES)}
            assert len(asked & asked_before) <= SLOTS
            asked_before |= asked
        process = start(web, tmp_path / "killed", *flags)
        _, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        by_host: dict[str, set[str]] = {}
        for visit in web.visits:
            if not visit.url.endswith(RULES):
                by_host.setdefault(visit.url.split("/")[2], set()).add(visit.url)
    found = answers(tmp_path / "undisturbed")
    assert answers(tmp_path / "killed") == found
    assert sum(verdict == "bilingual" for verdict in found.values()) >= 4
    assert max(len(urls) for urls in by_host.values()) <= MOST_PAGES


async def test_a_search_writes_its_sites_its_seeds_and_a_report(tmp_path: Path):
    async with demo.serve() as web:
        process = start(web, tmp_path / "found", "--backlinks", str(graph(tmp_path)), "--max-downloads", "12")
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert b"The limit of 12 downloads was reached." in err
    rows = [json.loads(line) for line in (tmp_path / "found/sites.jsonl").read_text("utf-8").splitlines()]
    wanted = (
        "site",
        "verdict",
        "probability",
        "languages",
        "evidence",
        "url_a",
        "url_b",
        "downloads",
        "cited_by",
        "pages",
    )
    assert set(wanted) <= set(rows[0])
    assert rows[0]["verdict"] == "bilingual"
    table = (tmp_path / "found/sites.tsv").read_text("utf-8").splitlines()
    assert table[0].split("\t")[:3] == ["site", "verdict", "probability"]
    assert len(table) == len(rows) + 1
    seeds = [
        line for line in (tmp_path / "found/sites.txt").read_text("utf-8").splitlines() if not line.startswith("#")
    ]
    assert rows[0]["url_a"] in seeds
    assert rows[0]["site"].encode() in out
    report = (tmp_path / "found/report.html").read_text("utf-8")
    assert "Who cites the bilingual sites" in report
    assert "<script" not in report
    assert await ForkedCommand.start("report", tmp_path / "found").wait() == 0
    assert (tmp_path / "found/report.html").read_text("utf-8") == report


async def test_a_search_that_finds_nothing_says_why(tmp_path: Path):
    async with demo.serve() as web:
        process = start(web, tmp_path / "a", seed="http://www.beekeepers.test/no-such-page")
        _, err = await process.communicate()
        assert process.returncode == 1
        assert b"404" in err
        other = tmp_path / "other.tsv"
        other.write_text("source\ttarget\nhttp://a.example/\thttp://b.example/\n", encoding="utf-8")
        process = start(web, tmp_path / "b", "--backlinks", str(other))
        _, err = await process.communicate()
        assert process.returncode != 0
        assert b"seed" in err
        assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("flag", "value", "says"),
    [
        ("--langs", "en,klingonish", "klingonish"),
        ("--langs", "en", "two languages"),
        ("--strategy", "focused", "needs a topic"),
        ("--backlinks", "no-such-file", "no-such-file"),
        ("--host-languages", "no-such-index", "no-such-index"),
    ],
)
def test_a_search_that_cannot_begin_says_why(
    bitrawl: Callable[..., tuple[int, str, str]], tmp_path: Path, flag: str, value: str, says: str
):
    code, _, err = bitrawl(*discover(9, tmp_path / "found"), flag, value)
    assert code == 2, err
    assert says in " ".join(err.split())
    assert "Traceback" not in err


async def test_the_sites_found_are_mined(tmp_path: Path):
    async with demo.serve() as web:
        process = start(
            web,
            tmp_path / "found",
            "--backlinks",
            str(graph(tmp_path)),
            "--max-downloads",
            "6",
            "--then-mine",
            "--quiet",
        )
        _, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert (tmp_path / "found/mined/corpus/en-fr.tmx").exists()
