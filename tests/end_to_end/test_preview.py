"""What a dry run learns of a host, and how little it asks."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hostile.pathologies import pathology_server

from bitrawl import demo
from bitrawl.crawling import (
    FetchSettings,
    HttpFetcher,
    Politeness,
    Preview,
    RobotsFetcher,
    Scope,
    ScopeRules,
    Sites,
)
from bitrawl.crawling.preview import Previewer
from bitrawl.page.analyser import page_reader
from bitrawl.reasons import Reason
from bitrawl.testing import InlineAnalyser
from bitrawl.url import Url


class Clock:
    """Time passes in pauses only, and they are written down."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def now(self) -> float:
        return sum(self.pauses)

    def date(self) -> float:
        return 1e9 + self.now()

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


@pytest.fixture(scope="module")
def analyser() -> InlineAnalyser:
    return InlineAnalyser(page_reader())


@asynccontextmanager
async def previewer(
    port: int, seeds: Sequence[Url], analyser: InlineAnalyser, rules: ScopeRules | None = None
) -> AsyncIterator[Previewer]:
    settings = FetchSettings(allow_private=True, connect_to={"*.test": f"{demo.LOOPBACK}:{port}"})
    clock = Clock()
    async with HttpFetcher(settings, clock) as live:
        robots = RobotsFetcher(live, clock, Politeness())
        yield Previewer(robots, analyser, Scope(Sites(), seeds, rules), clock, Politeness())


async def of_demo(
    analyser: InlineAnalyser, *raw: str, rules: ScopeRules | None = None
) -> tuple[list[Preview], list[str]]:
    """The previews, and what was asked for."""
    seeds = [Url.parse(each) for each in raw]
    async with demo.serve() as web, previewer(web.port, seeds, analyser, rules) as asked:
        return await asked.preview(seeds), [visit.url for visit in web.visits]


async def of_pathology(analyser: InlineAnalyser, host: str, path: str) -> tuple[Preview, list[str]]:
    async with pathology_server() as base:
        seed = Url.parse(base.at(host) + path)
        async with previewer(base.port, [seed], analyser) as asked:
            (preview,) = await asked.preview([seed])
        return preview, [request.path for request in base.requests]


async def test_a_host_is_asked_for_its_rules_its_seed_and_a_sitemap_and_nothing_else(
    analyser: InlineAnalyser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (preview,), asked = await of_demo(analyser, "http://www.mountain-rescue.test/")
    host = "http://www.mountain-rescue.test"
    assert asked == [f"{host}/robots.txt", f"{host}/.well-known/tdmrep.json", f"{host}/", f"{host}/sitemap.xml"]
    assert (preview.allowed, preview.skip) == (True, None)
    assert (preview.language, preview.html_lang[:2]) == ("en", "en")
    assert set(preview.languages) == {"en", "fr", "es"}
    assert preview.links > 5
    assert preview.sitemap.urls == preview.sitemap.estimated == 15
    assert preview.seconds == 15 * 1.0
    assert list(tmp_path.iterdir()) == []


async def test_of_an_index_one_file_is_read_and_the_others_are_held_to_be_as_long(analyser: InlineAnalyser):
    (preview,), asked = await of_demo(analyser, "http://www.town-library.test/")
    assert preview.sitemaps_named == ("http://www.town-library.test/sitemap_index.xml",)
    assert (preview.sitemap.files, preview.sitemap.skip) == (4, None)
    assert preview.sitemap.estimated == 4 * preview.sitemap.urls > 0
    assert set(preview.languages) == {"en", "fr", "es", "zh"}
    assert sum("sitemap" in url for url in asked) == 2


async def test_hosts_are_told_apart_and_only_the_first_seed_of_each_is_visited(analyser: InlineAnalyser):
    seeds = ["http://www.saltholm.test/", "http://www.beekeepers.test/honey.fr.html", "http://www.saltholm.test/other"]
    previews, asked = await of_demo(analyser, *seeds)
    assert [preview.host for preview in previews] == ["www.saltholm.test", "www.beekeepers.test"]
    assert "http://www.saltholm.test/other" not in asked
    assert [preview.sitemap.skip.reason for preview in previews] == [Reason.HTTP_STATUS] * 2
    assert [preview.seconds for preview in previews] == [0.0, 0.0]


async def test_only_what_is_in_scope_counts(analyser: InlineAnalyser):
    seed = "http://www.mountain-rescue.test/"
    (everything,), _ = await of_demo(analyser, seed)
    (french,), _ = await of_demo(analyser, seed, rules=ScopeRules(under=["/fr/"]))
    assert 0 < french.links < everything.links
    assert 0 < french.sitemap.urls < everything.sitemap.urls


async def test_pauses_are_those_of_the_crawl(analyser: InlineAnalyser):
    async with pathology_server() as base:
        seed = Url.parse(f"{base.at('robots-delay')}/open")
        async with previewer(base.port, [seed], analyser) as asked:
            (preview,) = await asked.preview([seed])
            assert asked.clock.pauses == [1.0, 1.0, 2.0]  # after robots.txt and tdmrep.json, then Crawl-delay: 2
    assert preview.crawl_delay == 2.0
    assert preview.seconds_a_visit == 2.0


@pytest.mark.parametrize(
    ("host", "path", "reason", "allowed"),
    [
        ("robots-deny", "/open", Reason.ROBOTS, False),
        ("robots-500", "/open", Reason.ROBOTS_UNREACHABLE, False),
        ("tdmrep", "/closed", Reason.OPT_OUT, False),
        ("www", "/tdm/meta", Reason.OPT_OUT, False),
        ("www", "/meta?say=noindex", Reason.NOINDEX, False),
        ("www", "/status?code=404", Reason.HTTP_STATUS, True),
        ("www", "/redirect/endless", Reason.TOO_MANY_REDIRECTS, True),
        ("www", "/redirect/javascript", Reason.REDIRECT, True),
        ("www", "/redirect/metadata", Reason.OFF_SITE, True),
        ("www", "/empty", Reason.CONNECTION, True),
        ("www", "/type/pdf", Reason.UNREADABLE, True),
    ],
)
async def test_a_seed_that_is_no_page_is_told_with_its_reason(
    analyser: InlineAnalyser, host: str, path: str, reason: Reason, *, allowed: bool
):
    preview, asked = await of_pathology(analyser, host, path)
    assert (preview.skip.reason, preview.allowed) == (reason, allowed)
    assert (preview.language, preview.links) == ("und", 0) or reason in (Reason.OPT_OUT, Reason.NOINDEX)
    assert len(asked) <= 9


async def test_a_host_that_does_not_answer_is_not_asked_again(analyser: InlineAnalyser):
    preview, asked = await of_pathology(analyser, "robots-reset", "/open")
    assert preview.sitemap is None
    assert set(asked) == {"/robots.txt"}


async def test_a_redirect_to_the_front_page_is_followed(analyser: InlineAnalyser):
    preview, asked = await of_pathology(analyser, "www", "/redirect/chain?hops=1")
    assert preview.skip is None
    assert asked[-3:] == ["/redirect/chain", "/ok", "/sitemap.xml"]
