"""Which cited sites are candidates for bilingual mining."""

from pathlib import Path

import pytest

from bitrawl.crawl.frontier import Politeness
from bitrawl.crawl.robots import InMemoryRobots, RobotsFetcher
from bitrawl.jobs.cited_sites import CheckedSite, CitedSites
from bitrawl.jobs.site_checks import SiteChecks
from bitrawl.model import Capture, Language, Reason, Skip, Stage
from bitrawl.page.analyser import page_reader
from bitrawl.page.sandbox import InlineAnalyser
from bitrawl.testing import FakeClock, FakeWeb
from bitrawl.topic.wiki_api import KeptAnswers
from bitrawl.topic.wiki_topic import CitedSite
from bitrawl.url import Url

EN, DE, IT = map(Language, ("en", "de", "it"))
TEXT = "<p>Safety at work protects the health of everybody who works in a factory or in an office, every day.</p>" * 3
CITED = Url.parse("https://www.a.test/en/page.html")
SITE = CitedSite("a.test", 2, (CITED,))
ANNOUNCING = f'<html lang=en><body>{TEXT}<a hreflang=de href="/de/">Deutsch</a></body></html>'
PLAIN = f"<html lang=en><body>{TEXT}</body></html>"


@pytest.fixture(scope="module")
def analyser() -> InlineAnalyser:
    return InlineAnalyser(page_reader())


async def checked(web: FakeWeb, analyser: InlineAnalyser, folder: Path, *wanted: Language) -> CheckedSite:
    clock = FakeClock()
    fetcher = RobotsFetcher(web, InMemoryRobots(), clock)
    checks = SiteChecks(fetcher, analyser, clock, politeness=Politeness(), delay_of=fetcher.delay)
    (found,) = await CitedSites(checks, KeptAnswers(folder)).check([SITE], wanted or (EN, DE))
    return found


async def test_a_page_that_announces_its_translation_is_enough(analyser: InlineAnalyser, tmp_path: Path):
    web = FakeWeb({CITED: ANNOUNCING})
    found = await checked(web, analyser, tmp_path)
    assert found.is_candidate([EN, DE])
    assert (found.home, found.languages, found.announced) == ("https://www.a.test/", (EN,), (DE,))
    assert "https://www.a.test/" not in web.asked


async def test_the_home_page_is_asked_where_the_page_says_nothing(analyser: InlineAnalyser, tmp_path: Path):
    web = FakeWeb({CITED: PLAIN, "https://www.a.test/": ANNOUNCING})
    assert (await checked(web, analyser, tmp_path)).is_candidate([EN, DE])


async def test_a_cited_page_that_is_gone_does_not_hide_the_site(analyser: InlineAnalyser, tmp_path: Path):
    assert (await checked(FakeWeb({"https://www.a.test/": ANNOUNCING}), analyser, tmp_path)).is_candidate([EN, DE])


async def test_robots_txt_is_obeyed(analyser: InlineAnalyser, tmp_path: Path):
    rules = Capture(CITED, 200, (), b"User-agent: *\nDisallow: /\n", at=0.0, media_type="text/plain")
    web = FakeWeb({CITED: ANNOUNCING, "https://www.a.test/": ANNOUNCING, "https://www.a.test/robots.txt": rules})
    found = await checked(web, analyser, tmp_path)
    assert found.skip.startswith("robots")
    assert not found.is_candidate([EN, DE])
    assert web.asked == ["https://www.a.test/robots.txt"]


async def test_a_site_that_opts_out_of_mining_is_no_candidate(analyser: InlineAnalyser, tmp_path: Path):
    closed = ANNOUNCING.replace("<body>", '<meta name="tdm-reservation" content="1"><body>')
    found = await checked(FakeWeb({CITED: closed, "https://www.a.test/": closed}), analyser, tmp_path)
    assert found.skip.startswith("opt-out")
    assert not found.is_candidate([EN, DE])


async def test_what_was_learned_is_kept_and_a_passing_failure_is_not(analyser: InlineAnalyser, tmp_path: Path):
    down = Skip(CITED, Stage.FETCH, Reason.TIMEOUT)
    await checked(FakeWeb({CITED: down, "https://www.a.test/": down}), analyser, tmp_path)
    assert (await checked(FakeWeb({CITED: ANNOUNCING}), analyser, tmp_path)).announced == (DE,)
    silent = FakeWeb({})
    assert (await checked(silent, analyser, tmp_path)).announced == (DE,)
    assert silent.asked == []


@pytest.mark.parametrize(
    ("languages", "announced", "wanted", "candidate"),
    [
        ((EN,), (DE,), [EN, DE], True),
        ((EN,), (DE, IT), [DE, IT], True),
        ((EN,), (IT,), [EN, DE], False),
        ((EN,), (), [EN, DE], False),
        ((EN,), (Language("de-at"),), [EN, DE], True),
        ((EN,), (Language("en-us"),), [EN], False),
        ((EN,), (DE,), [EN], True),
        ((EN,), (DE,), [IT], False),
    ],
)
def test_a_candidate_shows_two_of_the_languages_asked_for(
    languages: tuple[Language, ...], announced: tuple[Language, ...], wanted: list[Language], candidate: object
):
    site = CheckedSite("a.test", "https://a.test/", 1, languages, announced)
    assert site.is_candidate(wanted) is candidate
