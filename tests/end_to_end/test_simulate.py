"""The bundled web, crawled once, then replayed under every strategy."""

import asyncio
import csv
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from click.testing import Result
from inline_children import inline_children
from typer.testing import CliRunner

from bitrawl import config, demo
from bitrawl.endings import Ending
from bitrawl.job.running import crawl as run_crawl
from bitrawl.model import Language, Link, LinkKind, Page, Sitemap
from bitrawl.papers.replay import ReplaySettings, opened_replay
from bitrawl.papers.simulate import simulate
from bitrawl.papers.trial import Truth, in_order, read_pairs, write_pairs
from bitrawl.show import harvest
from bitrawl.store.analyses import Analyses
from bitrawl.store.folder import JobFolder
from bitrawl.strategies import UNFOCUSED, BreadthFirst, Strategy
from bitrawl.url import Url

ONE_SITE = [["harbour-museum.test", "musee-du-port.test"]]
LANGUAGES = (Language("en"), Language("fr"))

app = typer.Typer()
app.command()(simulate)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    async def crawl(folder: Path) -> Ending:
        async with demo.serve() as web:
            asked = {
                "langs": ["en", "fr"],
                "seeds": [str(url) for url in demo.seeds()],
                "politeness": {"delay": 0},
                "scope": {"one_site": ONE_SITE},
                "fetch": {"connect_to": {"*.test": f"{demo.LOOPBACK}:{web.port}"}, "allow_private": True},
            }
            return await run_crawl(config.resolve(asked), JobFolder(folder))

    folder = tmp_path_factory.mktemp("crawled")
    with inline_children():
        assert asyncio.run(crawl(folder)) is Ending.DONE
    return sorted((folder / "warc").glob("*.warc.gz"))


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("truth") / "truth.tsv"
    rows = [("url_a", "url_b", "lang_a", "lang_b"), *(pair[:4] for pair in demo.truth())]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def command(archives: list[Path], truth: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """With a folder of archives, and seeds with https where the archives have http, after a byte order mark."""
    seeds = tmp_path_factory.mktemp("seeds") / "seeds.txt"
    seeds.write_text("\n".join(str(url).replace("http:", "https:") for url in demo.seeds()), encoding="utf-8-sig")
    known = ["--langs", "en,fr", "--truth", str(truth), "--cache", str(cache), "--one-site", ",".join(ONE_SITE[0])]
    return [str(archives[0].parent), *known, "--seeds-file", str(seeds), "--quiet"]


class Simulated(NamedTuple):
    result: Result
    folder: Path


@pytest.fixture(scope="module")
def simulated(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    folder = tmp_path_factory.mktemp("simulated")
    with inline_children():
        result = CliRunner().invoke(app, [*command, "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return Simulated(result, folder)


def rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="") as lines:
        yield from csv.DictReader(lines)


def test_every_strategy_is_measured_on_every_site(simulated: Simulated):
    result, folder = simulated
    assert "warning" not in result.stderr
    found = list(rows(folder / "simulate.csv"))
    sites = {row["site"] for row in found}
    assert len(found) == len(sites) * len(UNFOCUSED)
    for row in found:
        assert row["faults"] == "0"
        assert 0 <= float(row["area"] or 0) <= 1
    exhaustive = [row for row in found if row["strategy"] == Strategy.BREADTH_FIRST]
    true = sum(int(row["true_pairs"]) for row in exhaustive)
    assert true == sum({pair.lang_a, pair.lang_b} == {"en", "fr"} for pair in demo.truth())
    assert sum(int(row["pairs"]) for row in exhaustive) >= 0.9 * true
    for site in sites:
        assert site in result.output
        assert ET.parse(folder / f"{site}.svg").getroot().tag.endswith("svg")
        assert (folder / f"{site}.png").read_bytes().startswith(b"\x89PNG")
        assert site in (folder / "simulate.html").read_text()


@pytest.mark.usefixtures("no_children")
def test_without_pillow_the_charts_are_svg_and_the_extra_is_named(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setattr(harvest, "find_spec", {}.get)
    result = CliRunner().invoke(app, [*command, "--strategies", "breadth-first", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".csv", ".html", ".svg"}
    assert "'bitrawl[png]'" in " ".join(result.stderr.split())


def test_the_same_seed_gives_the_same_bytes(command: list[str], simulated: Simulated, tmp_path: Path):
    """In another process, where sets have another order."""
    script = "import typer; from bitrawl.papers.simulate import simulate; typer.run(simulate)"
    environment = os.environ | {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    arguments = [sys.executable, "-c", script, *command, "--out", str(tmp_path)]
    subprocess.run(arguments, check=True, env=environment, stdout=subprocess.DEVNULL)
    names = sorted(path.name for path in simulated.folder.iterdir())
    assert "simulate.csv" in names
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        assert (simulated.folder / name).read_bytes() == (tmp_path / name).read_bytes(), name


@pytest.mark.usefixtures("no_children")
async def test_a_page_is_analysed_once_for_all_strategies_and_runs(
    archives: list[Path], cache: Path, monkeypatch: pytest.MonkeyPatch
):
    kept: list[Url] = []
    put = Analyses.put

    def counted(self: Analyses, url: Url, outcome: Page, *, index: bool) -> None:
        kept.append(url)
        put(self, url, outcome, index=index)

    monkeypatch.setattr(Analyses, "put", counted)
    settings = ReplaySettings(languages=LANGUAGES)
    fresh = cache / "fresh"
    for _ in range(2):
        async with opened_replay(archives, cache=fresh, one_site=ONE_SITE) as replay:
            await replay.trials(settings, Truth(frozenset()), [Url.parse(str(url)) for url in demo.seeds()])
    assert kept
    assert len(kept) == len(set(kept))


async def test_without_a_truth_the_pairs_of_the_whole_archive_serve(archives: list[Path], cache: Path, tmp_path: Path):
    async with opened_replay(archives, cache=cache, one_site=ONE_SITE) as replay:
        found = await replay.found_pairs(LANGUAGES)
    repeats = demo.duplicates()
    told = {in_order((repeats.get(p.url_a, p.url_a), repeats.get(p.url_b, p.url_b))) for p in found}
    true = {
        in_order((Url.parse(pair.url_a), Url.parse(pair.url_b)))
        for pair in demo.truth()
        if {pair.lang_a, pair.lang_b} == {"en", "fr"}
    }
    assert len(told & true) >= 0.85 * len(true)
    assert len(told - true) <= 0.1 * len(told)
    write_pairs(tmp_path / "truth.tsv", found)
    assert read_pairs(tmp_path / "truth.tsv", LANGUAGES) == {in_order((p.url_a, p.url_b)) for p in found}


async def test_alternates_can_be_hidden_without_losing_the_links(archives: list[Path], cache: Path):
    seen: list[Link] = []
    declared: list[object] = []

    class Spy(BreadthFirst):
        def score(self, links: list[Link], found_on: Page | None, site: object) -> list[float]:
            seen.extend(links)
            declared.extend(found_on.alternates if found_on else ())
            return [0.5] * len(links)

    seeds = [Url.parse(str(url)) for url in demo.seeds()]
    async with opened_replay(archives, cache=cache, one_site=ONE_SITE) as replay:
        reached = []
        for alternates in (True, False):
            seen.clear()
            declared.clear()
            made = replay.prepared(seeds, ReplaySettings(languages=LANGUAGES, alternates=alternates))(Spy())  # type: ignore[arg-type]
            await made.crawl.run()
            reached.append({page for page in made.ledger.kept if page})
            assert any(link.kind is LinkKind.ALTERNATE for link in seen) is alternates
            assert any(link.hreflang for link in seen) is alternates
            assert bool(declared) is alternates
    assert reached[0] == reached[1]


async def test_home_pages_are_found_in_the_archive(archives: list[Path], cache: Path):
    async with opened_replay(archives, cache=cache) as replay:
        homes = replay.home_pages()
    assert {url.host for url in demo.seeds()} <= {url.host for url in homes}


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--langs", "en"], "two languages"),
        (["--strategies", "depth-last"], "breadth-first"),
        (["--strategies", "adaptive,terms"], "needs a topic and cannot be simulated"),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_the_fix(command: list[str], flags: list[str], told: str):
    result = CliRunner().invoke(app, [*command, *flags])
    assert result.exit_code != 0
    assert told in str(result.exception)


def test_a_wrong_truth_an_absent_language_and_a_missing_seed_are_told(
    archives: list[Path], cache: Path, tmp_path: Path
):
    seeds, truth = tmp_path / "seeds.txt", tmp_path / "truth.tsv"
    home = next(iter(demo.seeds()))
    seeds.write_text(f"{home}\nhttp://missing.test/\n")
    truth.write_text("url_a\turl_b\tlang_a\tlang_b\nhttp://other.test/en\thttp://other.test/fi\ten\tfi\n")
    flags = ["--langs", "en,fi", "--seeds-file", str(seeds), "--truth", str(truth), "--strategies", "breadth-first"]
    result = CliRunner().invoke(app, [*map(str, archives), *flags, "--cache", str(cache), "--quiet"])
    assert result.exit_code == 0, result.output
    assert "the seed http://missing.test/ is not in the archives" in result.stderr
    assert f"{truth} lists 1 pair, none of which is in the archives" in result.stderr
    assert "no page in Finnish was found;" in result.stderr
    seeds.write_text("http://missing.test/\n")
    refused = CliRunner().invoke(app, [*map(str, archives), *flags, "--cache", str(cache), "--quiet"])
    assert "none of the seeds is in the archives" in str(refused.exception)


def test_what_is_kept_comes_back_as_it_was(archives: list[Path], tmp_path: Path):
    url = Url.parse("http://site.test/")
    link = Link(Url.parse("http://site.test/a"), LinkKind.SITEMAP)
    analyses = Analyses(tmp_path, archives)
    analyses.put(url, Page(url, title="page", links=(link,)), index=False)
    analyses.put(url, Sitemap(url, links=(link,)), index=True)
    analyses.close()
    again = Analyses(tmp_path, archives)
    assert again.get(url, index=False) == Page(url, title="page", links=(link,))
    assert again.get(url, index=True) == Sitemap(url, links=(link,))
    assert again.get(link.url, index=False) is None
    again.close()
    other = Analyses(tmp_path, archives[:0])
    assert other.get(url, index=False) is None
    other.close()


def test_a_hostile_name_is_shown_and_not_run():
    panel = harvest.Panel("<script>", "", (harvest.curve("<b>", (0, 1, 1)),), ("<i>",), (("<u>", "1"),))
    assert "<script>" not in harvest.svg(panel) + harvest.render("t", "l", [panel])


def test_a_curve_knows_where_its_strategy_stops():
    assert harvest.curve("some", (0, 1, 2), 2).stop == (2, 1)
    assert harvest.curve("some", (0, 1, 2), 4).stop is None
    assert harvest.curve("some", (0, 1, 2)).stop is None


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        ((), [[(0, 0), (10, 0), (10, 10)]]),
        ((6, 8), [[(0, 0), (6, 0)], [(10, 4), (10, 10)]]),
        ((12, 100), [[(0, 0), (10, 0), (10, 2)]]),
    ],
)
def test_a_line_is_dashed_round_its_corners(pattern: tuple[int, ...], pieces: list[list[tuple[float, float]]]):
    assert list(harvest.dashed([(0, 0), (10, 0), (10, 10)], pattern)) == pieces


def test_a_long_curve_is_drawn_with_few_points_and_its_ends():
    drawn = harvest.curve("some", tuple(range(10_000)))
    assert len(drawn.points) <= harvest.MOST_POINTS + 3
    assert (drawn.points[0], drawn.points[-1]) == ((0, 0), (10_000, 9_999))
