"""The whole crawl against the server of pathologies: one page costs one page, and what never ends is left."""

import asyncio
import tracemalloc
from pathlib import Path

import aiohttp
import pytest
from hostile.pathologies import Base, pathology_server

from bitrawl import config
from bitrawl.endings import Ending
from bitrawl.job import WiredCrawl, running
from bitrawl.model import Sitemap, Visit
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.url import Url

ONCE = {"delay": 0, "attempts": 1, "backoff": 0}
SMALL = {"timeout": 2.0, "megabytes": 5.0, "allow_private": True}


async def crawl(folder: Path, seeds: list[str], end: Ending = Ending.DONE, **job: object) -> dict[str, str]:
    """What became of each link: "page", or a reason."""
    visits: list[Visit] = []
    asked = {"langs": ["en"], "seeds": seeds, "politeness": ONCE, "fetch": SMALL}
    asked["scope"] = {"sitemaps": False, "probe": False}
    ending = await running.crawl(config.resolve(asked | job), JobFolder(folder), observe=visits.append)
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    rows = ledger.database.query("SELECT url, state, reason FROM links").fetchall()
    ledger.close()
    verdicts = {url: reason or ("queued", "leased", "page")[state] for url, state, reason in rows}
    assert ending is (end if "page" in verdicts.values() else Ending.FAILED)
    return verdicts


HOSTILE = [
    ("/drip", "timeout"),
    ("/drip/headers", "timeout"),
    ("/endless", "too-large"),
    ("/bomb/gzip", "too-large"),
    ("/bomb/br", "bomb"),
    ("/bomb/zstd", "bomb"),
    ("/bomb/nested", "too-large"),
    ("/bomb/frames", "page"),
    ("/unasked", "page"),
    ("/truncated/chunk", "connection"),
    ("/truncated/length", "connection"),
    ("/reset", "connection"),
    ("/garbage", "http-error"),
    ("/headers/huge", "http-error"),
    ("/headers/endless", "http-error"),
    ("/type/pdf-as-html", "unreadable"),
    ("/type/html-as-binary", "page"),
    ("/charset/utf8-as-latin1", "page"),
    ("/deep", "page"),
    ("/nul", "page"),
    ("/503/then-200", "server-error"),
    ("/429/bare", "rate-limited"),
    ("/redirect/file", "redirect"),
    ("/redirect/javascript", "redirect"),
    ("/redirect/nowhere", "http-status"),
    ("/redirect/self", "redirect"),
    ("/xrobots?say=noindex", "noindex"),
    ("/xrobots?say=noai", "opt-out"),
    ("/tdm/header", "opt-out"),
    ("/tdm/meta", "opt-out"),
    ("/tdm/no", "page"),
]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of one crawl of all of them, each on a host of its own beside an ordinary page: paths after the number of the host.

    One visit follows the other: none times out because others keep the server busy.
    """

    async def run() -> dict[str, str]:
        async with pathology_server() as base:
            hosts = {base.at(f"site{number}"): path for number, (path, _) in enumerate(HOSTILE)}
            seeds = [f"{host}{path}" for host, hostile in hosts.items() for path in (hostile, "/ok")]
            fetch = SMALL | {"connect_to": {"*.test": f"127.0.0.1:{base.port}"}}
            outcomes = await crawl(
                tmp_path_factory.mktemp("hostile"), seeds, fetch=fetch, politeness=ONCE | {"parallel": 1}
            )
            return {url.removeprefix("http://site").replace(f".test:{base.port}", ""): outcomes[url] for url in seeds}

    return asyncio.run(run())


@pytest.mark.parametrize(("number", "route", "verdict"), [(number, *each) for number, each in enumerate(HOSTILE)])
def test_a_hostile_page_costs_one_page(verdicts: dict[str, str], number: int, route: str, verdict: str):
    assert verdicts[f"{number}{route}"] == verdict
    assert verdicts[f"{number}/ok"] == "page"


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize(
    ("route", "at_most"),
    [
        ("/calendar", 400),
        ("/session", 60),
        ("/shop", 400),
        ("/maze/a", 40),
        ("/redirect/endless", 10),
    ],
)
async def test_what_never_ends_is_left(tmp_path: Path, route: str, at_most: int):
    async with pathology_server() as base:
        await crawl(tmp_path, [f"{base}{route}"])
        assert len(base.requests) <= at_most


@pytest.mark.usefixtures("no_children")
async def test_redirects_into_private_networks_are_refused_hop_by_hop(tmp_path: Path):
    """Loopback is opened by naming it; what it redirects to is not."""
    async with pathology_server() as base:
        routed = {"http://start.test/redirect/metadata": "http://169.254.169.254/latest/meta-data/"}
        job = {
            "fetch": {"connect_to": {"start.test": f"127.0.0.1:{base.port}"}, "timeout": 2.0},
            "scope": {"one_site": [["start.test", "169.254.169.254"]], "sitemaps": False, "probe": False},
        }
        verdicts = await crawl(tmp_path, list(routed), **job)
    assert verdicts["http://169.254.169.254/latest/meta-data/"] == "private-address"


@pytest.mark.usefixtures("no_children")
async def test_a_host_whose_every_path_answers_is_seen_through(tmp_path: Path):
    async with pathology_server() as base:
        home = f"{base.at('soft404')}/"
        fetch = SMALL | {"connect_to": {"*.test": f"127.0.0.1:{base.port}"}}
        verdicts = await crawl(tmp_path, [home, f"{home}no-such-thing"], fetch=fetch, scope={"sitemaps": False})
    assert verdicts[f"{home}no-such-thing"] == "soft-404"


async def test_a_page_that_hangs_the_reader_leaves_its_input_behind(tmp_path: Path):
    async with pathology_server() as base:
        job = {"analysis": {"seconds": 0.000001, "workers": 1}}
        verdicts = await crawl(tmp_path, [f"{base}/ok"], **job)
    assert verdicts[f"{base}/ok"] == "analysis-timeout"
    assert any(b"<html" in path.read_bytes().lower() for path in (tmp_path / "rejected").glob("*.html"))


async def test_a_long_sitemap_is_read_whole_and_handed_over_in_parts(tmp_path: Path):
    """Its 10 MB cost the body, a copy or two on the way, and never all links at once (which take 40 MB and more)."""
    async with pathology_server() as base:
        asked = {
            "langs": ["en"],
            "seeds": [f"{base.at('sitemap')}/"],
            "strategy": "breadth-first",
            "politeness": {"delay": 0},
            "fetch": {"connect_to": {"*.test": f"127.0.0.1:{base.port}"}},
            "scope": {"probe": False},
        }
        parts: list[WiredCrawl] = []

        def stop_after_the_sitemap(visit: Visit) -> None:
            if isinstance(visit.outcome, Sitemap):
                parts[0].crawl.stop()

        await fetch_sitemap(base)  # the server makes it once
        tracemalloc.start()
        try:
            await running.crawl(
                config.resolve(asked), JobFolder(tmp_path), observe=stop_after_the_sitemap, started=parts.append
            )
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    ledger = Ledger(tmp_path / "job.sqlite", read_only=True)
    (listed,) = ledger.database.one("SELECT count(*) FROM links WHERE kind IN ('sitemap', 'alternate')")
    (declared,) = (
        sum(len(part.alternates) for part in found.parts()) for found in ledger.view("sitemap.test").sitemaps()
    )
    ledger.close()
    assert (listed, declared) == (20_000, 5_000)
    assert peak < 45_000_000


async def fetch_sitemap(base: Base) -> None:
    async with aiohttp.ClientSession() as session:
        host = {"Host": f"sitemap.test:{base.port}"}
        async with session.get(f"{base}/sitemap.xml", headers=host) as answer:
            assert len(await answer.read()) > 9_000_000


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize(("domain", "hosts"), [("endless", 20), ("alike", 5)])
async def test_a_site_of_endless_hosts_costs_a_few_of_them(tmp_path: Path, domain: str, hosts: int):
    """Twenty, as the job asks; no more than five where they answer alike."""
    async with pathology_server() as base:
        home = f"{base.at('www.' + domain)}/"
        job = {
            "fetch": SMALL | {"connect_to": {"*.test": f"127.0.0.1:{base.port}"}},
            "scope": {"reach": "domain"},
            "strategy": "breadth-first",
            "budget": {"site_hosts": 20},
            "politeness": ONCE | {"parallel": 1},
        }
        verdicts = await crawl(tmp_path, [home], **job)
        asked = {each.host for each in base.requests}
    assert verdicts[home] == "page"
    assert len(asked) == hosts
    # robots.txt, its reservations, a missing page, the sitemap and the page itself
    assert len(base.requests) <= 5 * hosts
    refused = [url for url, verdict in verdicts.items() if verdict == "too-many-hosts"]
    assert len(refused) >= (480 if domain == "endless" else 1)
    assert not asked & {Url.parse(url).host.partition(":")[0] for url in refused}


@pytest.mark.usefixtures("no_children")
async def test_a_host_is_asked_for_nothing_before_a_link_to_it_is_due(tmp_path: Path):
    async with pathology_server() as base:
        job = {
            "fetch": SMALL | {"connect_to": {"*.test": f"127.0.0.1:{base.port}"}},
            "scope": {"reach": "domain"},
            "strategy": "breadth-first",
            "budget": {"pages": 1},
        }
        verdicts = await crawl(tmp_path, [f"{base.at('www.endless')}/"], Ending.BUDGET, **job)
        assert {each.host for each in base.requests} == {"www.endless.test"}
    assert list(verdicts.values()).count("queued") >= 500
