"""`bitrawl simulate --discover` on the bundled web, archived by a crawl: each walk from the same seed."""

import asyncio
import csv
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer
from inline_children import inline_children
from typer.testing import CliRunner

from bitrawl import config, demo
from bitrawl.endings import Ending
from bitrawl.errors import ConfigError
from bitrawl.job.running import crawl as run_crawl
from bitrawl.papers.discovery import WALKS
from bitrawl.papers.simulate import simulate
from bitrawl.store.folder import JobFolder

app = typer.Typer()
app.command()(simulate)


def graph(folder: Path) -> Path:
    """The hub of the bundled web cites all sites. It is archived, so that walks that read citing pages can use it."""
    hub, *sites = demo.seeds()
    rows = [
        "source\ttarget\tanchor\tcontext",
        *(f"{hub}\t{site}\tA site\t" for site in sites if site.host.startswith("www.")),
    ]
    path = folder / "links.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    async def crawl(folder: Path) -> Ending:
        async with demo.serve() as web:
            asked = {
                "langs": ["en", "fr"],
                "seeds": [str(url) for url in demo.seeds()],
                "politeness": {"delay": 0},
                "fetch": {"connect_to": {"*.test": f"{demo.LOOPBACK}:{web.port}"}, "allow_private": True},
            }
            return await run_crawl(config.resolve(asked), JobFolder(folder))

    folder = tmp_path_factory.mktemp("web")
    with inline_children():
        assert asyncio.run(crawl(folder / "crawled")) is Ending.DONE
    seeds = folder / "seeds.txt"
    seeds.write_text("https://www.beekeepers.test/\n", encoding="utf-8")  # archived with http
    known = ["--discover", "--langs", "en,fr", "--seeds-file", str(seeds), "--cache", str(folder / "cache"), "--quiet"]
    return [str(folder / "crawled/warc"), *known, "--backlinks", str(graph(folder))]


def harvest(folder: Path) -> dict[str, list[tuple[int, int]]]:
    curves: dict[str, list[tuple[int, int]]] = {}
    with (folder / "harvest.csv").open(newline="") as lines:
        for row in csv.DictReader(lines):
            curves.setdefault(row["walk"], []).append((int(row["downloads"]), int(row["sites"])))
    return curves


def test_every_walk_is_drawn_over_its_downloads(command: list[str], tmp_path: Path):
    result = CliRunner().invoke(app, [*command, "--max-downloads", "40", "--out", str(tmp_path / "a")])
    assert result.exit_code == 0, result.output
    assert "warning" not in result.stderr
    curves = harvest(tmp_path / "a")
    assert list(curves) == list(WALKS)
    for points in curves.values():
        assert points == sorted(points)
        assert points[-1][0] <= 40
    found = {walk: points[-1][1] for walk, points in curves.items()}
    assert found["cocitation"] >= 3
    assert found["obfc"] >= 3
    for walk, sites in found.items():
        line = next(line for line in result.stdout.splitlines() if line.split()[:1] == [walk])
        assert line.split()[-2:] == [str(sites), str(curves[walk][-1][0])]
    drawn = ET.fromstring((tmp_path / "a/harvest.svg").read_text("utf-8"))
    texts = [text.text or "" for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert all(any(text.startswith(walk) for text in texts) for walk in WALKS)
    assert {"downloads →", "↑ bilingual sites"} <= set(texts)


def test_the_same_search_gives_the_same_bytes(command: list[str], tmp_path: Path):
    for name in ("a", "b"):
        flags = ["--strategies", "cocitation,fc", "--max-downloads", "15", "--out", str(tmp_path / name)]
        assert CliRunner().invoke(app, [*command, *flags]).exit_code == 0
    assert list(harvest(tmp_path / "a")) == ["cocitation", "fc"]
    for file in ("harvest.csv", "harvest.svg"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--strategies", "adaptive"], "not a walk"),
        (["--strategies", "focused"], "needs a topic"),
        (["--stop"], "--stop has no effect with --discover"),
        (["--backlinks", "https://graph.example/"], "service on the web"),
    ],
)
def test_what_a_search_cannot_use_is_refused(command: list[str], flags: list[str], says: str):
    result = CliRunner().invoke(app, [*command, *flags])
    assert isinstance(result.exception, ConfigError)
    assert says in str(result.exception)


def test_flags_of_the_search_need_it(command: list[str]):
    result = CliRunner().invoke(app, [word for word in command if word != "--discover"])
    assert isinstance(result.exception, ConfigError)
    assert "--backlinks needs --discover" in str(result.exception)
