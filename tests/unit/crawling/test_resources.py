"""What a page gets that a browser draws: no request passes that a fetch would not."""

import pytest

from bitrawl.crawling import Politeness, RobotsFetcher
from bitrawl.crawling.resources import MAX_CACHED, MAX_REQUESTS, PageRequests, Resource, Resources, named_origins
from bitrawl.model import Capture, Skip
from bitrawl.reasons import Reason, Stage
from bitrawl.testing import FakeClock, FakeWeb
from bitrawl.url import Url

HOME = "http://www.a.org/en/"
PAGE = """<script src="/app.js"></script><script src="https://cdn.org/react.js" defer></script>
<script async src="https://tracker.org/t.js"></script><link rel="modulepreload" href="https://modules.org/m.js">
<link rel="preconnect" href="https://fonts.org/"><img src="https://images.org/i.png">"""


def capture(url: str, body: str, kind: str = "text/javascript", status: int = 200, location: str = "") -> Capture:
    headers = (("Content-Type", kind), ("Location", location)) if location else (("Content-Type", kind),)
    return Capture(Url.parse(url), status, headers, body.encode(), at=0.0, media_type=kind, payload=body.encode())


def requests(web: FakeWeb, resources: Resources | None = None) -> PageRequests:
    return PageRequests(capture(HOME, PAGE, "text/html"), resources or made(web))


def made(web: FakeWeb) -> Resources:
    robots = RobotsFetcher(web, FakeClock(), Politeness(delay=0.0, opt_outs=False))
    return Resources(web, robots.refusal, lambda host: Url.parse(f"http://{host}/").site)


async def test_the_page_itself_is_not_fetched_again_and_is_given_once() -> None:
    web = FakeWeb({})
    page = requests(web)

    assert await page.answer(HOME, "document") == Resource(200, "text/html; charset=utf-8", PAGE.encode())
    assert await page.answer("http://www.a.org/elsewhere", "document") == Resource(204, "text/plain", b"")
    assert web.asked == []


async def test_scripts_and_data_of_the_own_site_are_fetched() -> None:
    web = FakeWeb(
        {
            "http://www.a.org/app.js": capture("http://www.a.org/app.js", "draw()"),
            "http://api.a.org/texts": capture("http://api.a.org/texts", "{}", "application/json"),
        }
    )
    page = requests(web)

    assert await page.answer("http://www.a.org/app.js", "script") == Resource(200, "text/javascript", b"draw()")
    assert await page.answer("http://api.a.org/texts", "fetch") == Resource(200, "application/json", b"{}")
    assert page.bytes == len("draw(){}")


@pytest.mark.parametrize("kind", ["image", "media", "font", "ping", "websocket", "eventsource", "manifest", "other"])
async def test_what_draws_no_text_is_refused(kind: str) -> None:
    web = FakeWeb({})

    assert await requests(web).answer("http://www.a.org/x", kind) is None
    assert web.asked == []


async def test_a_stylesheet_is_empty_and_costs_no_request() -> None:
    web = FakeWeb({})

    assert await requests(web).answer("http://www.a.org/x.css", "stylesheet") == Resource(200, "text/css", b"")
    assert web.asked == []


async def test_data_of_the_site_that_is_asked_for_by_post_is_counted_and_not_sent() -> None:
    web = FakeWeb({})
    asked = requests(web)
    for address in ("http://www.a.org/graphql", "http://api.a.org/x", "https://tracker.test/", "data:,x"):
        assert await asked.answer(address, "fetch", "POST") is None
    assert await asked.answer("http://www.a.org/beacon", "ping", "POST") is None
    assert (asked.refused, web.asked) == (2, [])


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD"])
async def test_nothing_but_get_is_sent(method: str) -> None:
    web = FakeWeb({})

    assert await requests(web).answer("http://www.a.org/x", "fetch", method) is None
    assert web.asked == []


def test_other_sites_are_those_of_scripts_that_the_page_names_and_waits_for() -> None:
    page = capture(HOME, PAGE, "text/html")

    assert named_origins(page) == {"http://www.a.org", "https://cdn.org", "https://modules.org"}


@pytest.mark.parametrize(
    "url", ["https://tracker.org/t.js", "https://fonts.org/f", "http://127.0.0.1/", "file:///etc/passwd"]
)
async def test_other_sites_get_no_request(url: str) -> None:
    web = FakeWeb({})

    assert await requests(web).answer(url, "script") is None
    assert web.asked == []


async def test_a_redirect_leads_only_to_where_a_request_may_go() -> None:
    web = FakeWeb(
        {
            "http://www.a.org/1": capture("http://www.a.org/1", "", status=302, location="https://tracker.org/t"),
            "http://www.a.org/2": capture("http://www.a.org/2", "", status=302, location="/3"),
            "http://www.a.org/3": capture("http://www.a.org/3", "draw()"),
            "http://www.a.org/4": capture("http://www.a.org/4", "", status=302, location="/4"),
        }
    )
    page = requests(web)

    assert await page.answer("http://www.a.org/1", "script") is None
    assert await page.answer("http://www.a.org/2", "script") == Resource(200, "text/javascript", b"draw()")
    assert await page.answer("http://www.a.org/4", "script") is None
    assert "https://tracker.org/t" not in web.asked


async def test_robots_txt_holds_for_every_request() -> None:
    web = FakeWeb(
        {
            "http://www.a.org/robots.txt": capture(
                "http://www.a.org/robots.txt", "User-agent: *\nDisallow: /api/", "text/plain"
            ),
            "http://www.a.org/api/texts": capture("http://www.a.org/api/texts", "{}", "application/json"),
        }
    )

    assert await requests(web).answer("http://www.a.org/api/texts", "fetch") is None
    assert web.asked == ["http://www.a.org/robots.txt"]


async def test_a_private_address_is_refused_as_the_fetcher_says() -> None:
    private = Skip(Url.parse("http://intranet.a.org/x"), Stage.FETCH, Reason.PRIVATE_ADDRESS)
    web = FakeWeb({"http://intranet.a.org/x": private})

    assert await requests(web).answer("http://intranet.a.org/x", "fetch") is None


async def test_an_error_of_a_server_reaches_the_script() -> None:
    assert await requests(FakeWeb({})).answer("http://www.a.org/none", "fetch") == Resource(404, "text/plain", b"")


async def test_a_page_gets_so_many_answers_and_no_more() -> None:
    web = FakeWeb({})
    page = requests(web)

    answers = [await page.answer(f"http://www.a.org/{number}", "fetch") for number in range(MAX_REQUESTS + 5)]
    assert sum(answer is not None for answer in answers) == MAX_REQUESTS


async def test_scripts_are_fetched_once_for_all_pages_and_data_for_each() -> None:
    web = FakeWeb(
        {
            "http://www.a.org/app.js": capture("http://www.a.org/app.js", "draw()"),
            "http://www.a.org/texts": capture("http://www.a.org/texts", "{}", "application/json"),
        }
    )
    resources = made(web)

    for _ in range(3):
        page = requests(web, resources)
        await page.answer("http://www.a.org/app.js", "script")
        await page.answer("http://www.a.org/texts", "fetch")
    assert web.asked.count("http://www.a.org/app.js") == 1
    assert web.asked.count("http://www.a.org/texts") == 3
    assert page.bytes == len("{}")


async def test_the_scripts_that_are_kept_take_bounded_memory() -> None:
    large = "x" * (MAX_CACHED // 3)
    urls = [f"http://www.a.org/{number}.js" for number in range(4)]
    web = FakeWeb({url: capture(url, large) for url in urls})
    page = requests(web)

    for url in (*urls[:1], *urls[1:], urls[0]):
        await PageRequests(capture(HOME, PAGE, "text/html"), page._resources).answer(url, "script")
    assert web.asked.count(urls[0]) == 2  # it had been forgotten
