"""One visit: whoever asks, the same answer is the same outcome."""

import io
import itertools

import pytest

from bitrawl.crawling import Politeness, RobotsFetcher, Scope, ScopeRules, Sites, visit
from bitrawl.crawling.preview import Previewer
from bitrawl.job.pages import Cleaner
from bitrawl.job.site_checks import SiteChecks
from bitrawl.model import MAX_REDIRECTS, Capture, Link, LinkKind, Page, Skip
from bitrawl.page.analyser import page_reader
from bitrawl.reasons import Reason
from bitrawl.testing import FakeClock, FakeWeb, InlineAnalyser
from bitrawl.url import Url

SEED = Url.parse("https://a.test/")


def moved(url: str, location: str) -> Capture:
    return Capture(Url.parse(url), 301, (("Location", location),), b"", at=0.0)


async def outcomes(pages: dict[str, str | Capture | Skip]) -> dict[str, Page | Skip]:
    """What each that reads pages from the web makes of the seed."""
    web, analyser, clock = FakeWeb(pages), InlineAnalyser(page_reader()), FakeClock()
    robots = RobotsFetcher(web, clock, Politeness(delay=0.0))
    checks = SiteChecks(web, analyser, clock, politeness=Politeness(delay=0.0))
    scope = Scope(Sites(), (SEED,), ScopeRules())
    preview = (await Previewer(robots, analyser, scope, clock, Politeness(delay=0.0)).preview([SEED]))[0]
    return {
        "loop": (await visit(Link(SEED, LinkKind.SEED), web, analyser)).outcome,
        "check": (await checks.visit(Link(SEED, LinkKind.SEED))).outcome,
        "clean": await anext(outcome async for _, outcome in Cleaner(analyser, web).clean(SEED, io.BytesIO())),
        "preview": preview.skip,
    }


@pytest.mark.parametrize("location", ["ftp://a.test/files/", "", "mailto:someone@a.test", "http://["])
async def test_a_redirect_that_leads_to_no_page_is_the_same_skip_for_all(location: str):
    skips = await outcomes({SEED: moved(SEED, location)})
    assert len({(skip.url, skip.reason, skip.detail, skip.status) for skip in skips.values()}) == 1, skips
    assert skips["loop"].reason is Reason.REDIRECT
    assert skips["loop"].target is None
    assert skips["loop"].detail


async def test_redirects_end_after_the_same_number_for_all_that_follow_them():
    chain = [SEED, *(f"https://a.test/{n}" for n in range(MAX_REDIRECTS + 1))]
    web = {old: moved(old, new) for old, new in itertools.pairwise(chain)}
    ends = await outcomes({**web, chain[-1]: "<html><p>The harbour opens in the morning."})
    assert {ends[name].reason for name in ("clean", "preview")} == {Reason.TOO_MANY_REDIRECTS}
    assert ends["loop"].target == chain[1]
    ends = await outcomes({**web, chain[-2]: "<html><p>The harbour opens in the morning."})
    assert isinstance(ends["clean"], Page)
