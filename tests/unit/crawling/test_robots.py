"""robots.txt as RFC 9309 says, and the reservations beside it."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitrawl.crawling import Politeness, RobotsFetcher
from bitrawl.crawling.robots import (
    MAX_AGE,
    MAX_DELAY,
    MAX_PARSED,
    InMemoryRobots,
    RobotsRecord,
    RobotsRules,
)
from bitrawl.model import Capture, Link, LinkKind, Skip
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url

SHARED = Path(__file__).parents[3].parent / "shared"
ORIGIN = "https://example.org"


class Clock:
    def __init__(self):
        self.time = 1_000_000.0
        self.slept = []

    def now(self):
        return self.time

    def date(self):
        return 1.8e9

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


class Web:
    """Answers by URL: bytes are a 200, a number is a status, a str redirects there, a Reason is a failure."""

    def __init__(self, **answers):
        self.answers = {f"{ORIGIN}/robots.txt": 404, f"{ORIGIN}/.well-known/tdmrep.json": 404} | answers
        self.asked = []

    async def fetch(self, link):
        self.asked.append(str(link.url))
        await asyncio.sleep(0)
        answer = self.answers.get(link.url, b"a page")
        if isinstance(answer, Reason):
            return Skip(link.url, Stage.FETCH, answer, "a failure", 503 if answer is Reason.SERVER_ERROR else 0)
        if isinstance(answer, int):
            reason = Reason.RATE_LIMITED if answer == 429 else Reason.HTTP_STATUS
            return Skip(link.url, Stage.FETCH, reason, "", answer, 300.0 if answer == 429 else 0.0)
        if isinstance(answer, str):
            return Capture(link.url, 301, (("Location", answer),), b"", 0.0)
        return Capture(link.url, 200, (), answer, 0.0)


def link(path="/page", origin=ORIGIN):
    return Link(Url.parse(origin + path), LinkKind.PAGE)


def robots(text, **more):
    return {f"{ORIGIN}/robots.txt": text.encode() if isinstance(text, str) else text} | more


def wrapped(web, *, memory=None, clock=None, **options):
    return RobotsFetcher(web, clock or Clock(), Politeness(**options), memory)


def rules(text, reservations=None):
    return RobotsRules(
        RobotsRecord(ORIGIN, 200, text.encode(), 0.0, json.dumps(reservations).encode() if reservations else b"")
    )


async def verdict(answers, path="/page", **options):
    answer = await wrapped(Web(**answers), **options).fetch(link(path))
    return answer.reason if isinstance(answer, Skip) else "page"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"", "page"),
        (b"User-agent: *\nDisallow: /", Reason.ROBOTS),
        (b"User-agent: *\nDisallow: /other", "page"),
        (400, "page"),
        (401, "page"),
        (403, "page"),
        (404, "page"),
        (410, "page"),
        (429, Reason.ROBOTS_UNREACHABLE),
        (500, Reason.ROBOTS_UNREACHABLE),
        (501, Reason.ROBOTS_UNREACHABLE),
        (Reason.SERVER_ERROR, Reason.ROBOTS_UNREACHABLE),
        (Reason.TIMEOUT, Reason.ROBOTS_UNREACHABLE),
        (Reason.CONNECTION, Reason.ROBOTS_UNREACHABLE),
        (Reason.HTTP_ERROR, Reason.ROBOTS_UNREACHABLE),
        (Reason.DNS, Reason.DNS),
        (Reason.TLS, Reason.TLS),
        (Reason.PRIVATE_ADDRESS, Reason.PRIVATE_ADDRESS),
        (Reason.NOT_ARCHIVED, "page"),
        ("https://example.org/robots.txt", "page"),  # a loop: RFC 9309 counts it as unavailable
        ("javascript:alert(1)", "page"),
    ],
)
async def test_what_an_answer_for_robots_txt_means(answer, expected):
    assert await verdict({f"{ORIGIN}/robots.txt": answer}) == expected


async def test_redirects_of_robots_txt_are_followed_across_hosts_and_the_rules_are_those_of_the_first():
    web = Web(
        **{
            "https://example.org/robots.txt": "https://www.example.org/robots.txt",
            "https://www.example.org/robots.txt": "https://cdn.example.net/r",
            "https://cdn.example.net/r": b"User-agent: *\nDisallow: /page",
        },
    )
    answer = await wrapped(web).fetch(link())
    assert answer == Skip(link().url, Stage.ROBOTS, Reason.ROBOTS, "https://example.org/robots.txt")


async def test_a_robots_txt_that_leads_to_a_private_address_disallows():
    web = Web(**{f"{ORIGIN}/robots.txt": "http://10.0.0.1/", "http://10.0.0.1/": Reason.PRIVATE_ADDRESS})
    answer = await wrapped(web).fetch(link())
    assert (answer.stage, answer.reason) == (Stage.ROBOTS, Reason.ROBOTS_UNREACHABLE)


async def test_only_the_first_500_kib_count():
    padding = "# " + "x" * 97 + "\n"
    text = "User-agent: *\nDisallow: /closed\n" + padding * 5120 + "Disallow: /open\n"
    assert await verdict(robots(text), "/closed") is Reason.ROBOTS
    assert await verdict(robots(text), "/open") == "page"


async def test_robots_txt_is_asked_for_once_a_day():
    web, clock = Web(**robots("User-agent: *\nDisallow: /x")), Clock()
    fetcher = wrapped(web, clock=clock, opt_outs=False)
    for _ in range(3):
        await fetcher.fetch(link())
    assert web.asked.count(f"{ORIGIN}/robots.txt") == 1
    clock.time += MAX_AGE
    await fetcher.fetch(link())
    assert web.asked.count(f"{ORIGIN}/robots.txt") == 2


async def test_links_that_come_at_the_same_time_share_one_download():
    web = Web()
    fetcher = wrapped(web)
    answers = await asyncio.gather(*(fetcher.fetch(link(f"/{n}")) for n in range(10)))
    assert all(isinstance(each, Capture) for each in answers)
    assert web.asked.count(f"{ORIGIN}/robots.txt") == web.asked.count(f"{ORIGIN}/.well-known/tdmrep.json") == 1


async def test_who_waits_for_a_download_does_not_fall_with_whoever_started_it():
    web = Web()
    fetcher = wrapped(web)
    first, second = (asyncio.create_task(fetcher.fetch(link(path))) for path in ("/1", "/2"))
    await asyncio.sleep(0)
    first.cancel()
    assert isinstance(await second, Capture)
    assert first.cancelled()


async def test_each_origin_has_its_own_rules():
    web = Web(**robots("User-agent: *\nDisallow: /"))
    fetcher = wrapped(web)
    assert isinstance(await fetcher.fetch(link()), Skip)
    assert isinstance(await fetcher.fetch(link(origin="http://example.org")), Capture)
    assert isinstance(await fetcher.fetch(link(origin="https://example.org:8443")), Capture)


async def test_a_failure_counts_for_a_while_and_says_for_how_long():
    web, clock = Web(**{f"{ORIGIN}/robots.txt": Reason.TIMEOUT}), Clock()
    fetcher = wrapped(web, clock=clock)
    assert (await fetcher.fetch(link())).retry_after == Politeness().backoff
    clock.time += 2
    again = await fetcher.fetch(link("/other"))
    assert (again.url, again.retry_after) == (link("/other").url, Politeness().backoff - 2)
    assert len(web.asked) == 1
    clock.time += Politeness().backoff
    web.answers[f"{ORIGIN}/robots.txt"] = b""
    assert isinstance(await fetcher.fetch(link()), Capture)


async def test_a_rate_limited_robots_txt_is_left_alone_as_long_as_the_server_asks():
    answer = await wrapped(Web(**{f"{ORIGIN}/robots.txt": 429})).fetch(link())
    assert (answer.status, answer.retry_after) == (429, 300.0)


async def test_what_does_not_pass_by_waiting_asks_for_no_wait():
    answer = await wrapped(Web(**{f"{ORIGIN}/robots.txt": Reason.PRIVATE_ADDRESS})).fetch(link())
    assert answer.retry_after == 0


async def test_a_resumed_job_asks_again_because_nobody_knows_how_long_it_was_stopped():
    memory, clock = InMemoryRobots(), Clock()
    await wrapped(Web(**robots("User-agent: *\nDisallow: /page\nCrawl-delay: 7")), memory=memory, clock=clock).fetch(
        link()
    )
    web = Web()
    resumed = wrapped(web, memory=memory, clock=clock, opt_outs=False)
    assert resumed.crawl_delay("example.org") == 7.0  # until it is asked
    for _ in range(2):
        assert isinstance(await resumed.fetch(link()), Capture)
    assert web.asked.count(f"{ORIGIN}/robots.txt") == 1


async def test_memory_holds_the_rules_of_so_many_origins_only_and_reads_the_others_back():
    memory = InMemoryRobots()
    web = Web()
    fetcher = wrapped(web, memory=memory, opt_outs=False)
    for n in range(MAX_PARSED + 1):
        await fetcher.fetch(link(origin=f"https://h{n}.example.org"))
    assert MAX_PARSED // 2 <= len(fetcher._rules) <= MAX_PARSED
    asked = len(web.asked)
    await fetcher.fetch(link(origin="https://h0.example.org"))
    assert len(web.asked) == asked + 1


async def test_the_requests_for_the_rules_are_polite_too():
    clock = Clock()
    await wrapped(Web(), clock=clock, delay=1.5).fetch(link())
    assert clock.slept == [1.5, 1.5]  # before tdmrep.json, and before the page


async def test_the_memory_is_asked_once_about_an_origin_of_which_it_knows_nothing():
    class CountedRobots(InMemoryRobots):
        loaded = 0

        def load(self, origin):
            self.loaded += 1
            return super().load(origin)

    memory = CountedRobots()
    fetcher = wrapped(Web(), memory=memory)
    for path in ("/a", "/b", "/c"):
        await fetcher.fetch(link(path))
        assert fetcher.crawl_delay("example.org") == 0.0
    assert memory.loaded == 1  # about http://example.org; https was asked itself


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nCrawl-delay: 86400", MAX_DELAY),
        ("User-agent: *\nCrawl-delay: -3", 0.0),
        ("User-agent: *\nCrawl-delay: nan", 0.0),
        ("User-agent: *\nCrawl-delay: soon", 0.0),
        ("User-agent: *\nRequest-rate: 1/20", 20.0),
        ("User-agent: *\nRequest-rate: 6/1m 0600-0845", 10.0),
        ("User-agent: *\nRequest-rate: 0/9", 0.0),
        ("User-agent: x\nCrawl-delay: 9\nUser-agent: *\nDisallow: /a", 0.0),
        ("User-agent: other\nCrawl-delay: 9\n\nUser-agent: *\nDisallow:", 0.0),
        ("User-agent: *\nCrawl-delay: 9\n\nUser-agent: bitrawl\nCrawl-delay: 1", 1.0),
        ("", 0.0),
    ],
)
async def test_crawl_delay_is_told_to_whoever_asks(text, seconds):
    fetcher = wrapped(Web(**robots(text)))
    assert fetcher.crawl_delay("example.org") == 0.0
    await fetcher.fetch(link())
    assert fetcher.crawl_delay("example.org") == seconds


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("User-agent: bitrawl\nDisallow: /", False),
        ("User-agent: BiTrawl/2.0\nDisallow: /", False),
        ("User-agent: bitrawler\nDisallow: /", True),
        ("User-agent: bit\nDisallow: /", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: bitrawl\nAllow: /", True),
        ("User-agent: bitrawl\nUser-agent: GPTBot\nDisallow: /", False),
        ("User-agent: GPTBot\nUser-agent: *\nDisallow: /", False),
        ("User-agent: GPTBot\nDisallow: /\nUser-agent: *\nDisallow: /other", True),
        ("User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\n", True),
        ("User-agent: *\nDisallow: /other\n\nUser-agent: GPTBot\nDisallow: /", True),
        ("User-agent: *\nAllow: /x\n\nUser-agent: a\nDisallow: /x\n\nUser-agent: *\nDisallow: /page", False),
        ("Disallow: /", True),
        ("User-agent: *\nDisallow:", True),
        ("User-agent: *\nDisallow: /p*e$", False),
        ("User-agent: *\nDisallow: /p*e\nAllow: /page", True),
        ("user agent: *\ndisallow /page", False),
        ("\ufeffUser-agent: *\r\nDisallow: /page\r\n", False),
        ("User-agent: *  # all\nDisallow: /page # this", False),
        ("User-agent: *\nSitemap: /s.xml\nUser-agent: x\nDisallow: /page", False),
        ("<!doctype html><p>User-agent: *</p><p>Disallow: /</p>", True),
        ("User-agent: *\0\nDisallow: /page", False),
        ("User-agent: bitrawl\nCrawl-delay: 9\nUser-agent: x\nDisallow: /page", False),
        ("User-agent: *\nHost: x\nClean-param: y\nUser-agent: x\nDisallow: /page", False),
        ("User-agent: *\nAllow: /other\nCrawl-delay: 9\nUser-agent: x\nDisallow: /page", True),
        ("User-agent: * (all of them)\nDisallow: /page", False),
        ("User-agent: *all\nDisallow: /page", True),
    ],
)
def test_the_groups_that_are_about_us_are_found(text, allowed):
    assert rules(text).allow(link().url) is allowed


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("Disallow: /a b/", "/a b/c", False),
        ("Disallow: /*{id}", "/x/{id}", False),
        ("Disallow: /*?id={id}", "/x?id={id}", False),
        ("Disallow: /%7Ejo", "/~jo/x", False),
        ("Disallow: /\u00e9t\u00e9", "/%c3%a9t%c3%a9", False),
        ("Disallow: /%e4%bd%a0", "/\u4f60\u597d", False),
        ("Disallow: /a%2fb", "/a/b", True),
        ("Disallow: /a%2Ab", "/axb", True),
        ("Disallow: https://example.org/a", "/a", True),
        ("Disallow: a", "/a", True),
        ("Disallow: /a\u2028b", "/a", True),
        ("Disallow: /\nAllow: /a b/", "/a b/c", False),
        ("Disallow: /\nAllow: /*.html$", "/a.html$", False),
        ("Disallow: /\nAllow: /*.html$", "/a.html", True),
        ("Disallow: /\nAllow: /a/index.html", "/a/", True),
        ("Disallow: /\nAllow: /a/index.html", "/a/x", False),
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Disallow: /*/a$\nAllow: /x", "/x/a", False),
        ("Disallow /a b", "/a b", True),
        ("Dissalow: /a", "/a", False),
        ("Disallow : /a", "/a", False),
    ],
)
def test_what_a_rule_allows_google_allows_and_what_its_author_meant_is_refused(rule, path, allowed):
    # Each was compared with google/robotstxt: where the answers differ (the first four), ours is the stricter.
    assert rules(f"User-agent: *\n{rule}").allow(link(path).url) is allowed


def test_letters_that_are_not_utf_8_are_compared_as_bytes():
    record = RobotsRecord(ORIGIN, 200, b"User-agent: *\nDisallow: /\xe9\nSitemap: /\xe9.xml", 0.0)
    assert not RobotsRules(record).allow(link("/%E9t").url)
    assert RobotsRules(record).allow(link("/%EF%BF%BDt").url)
    assert len(RobotsRules(record).sitemaps) == 1


def test_many_agents_over_many_rules_cost_nothing():
    # A parser that gives each rule to each agent of its group takes 600 million steps.
    text = (
        "".join(f"User-agent: a{n}\n" for n in range(20000)) + "Allow: /\n" * 30000 + "User-agent: *\nDisallow: /page"
    )
    assert not rules(text).allow(link().url)


def test_sitemaps_are_named_wherever_they_stand():
    text = "Sitemap: https://example.org/a.xml\nUser-agent: x\nsitemap: /b.xml\nSitemap: javascript:x\nSitemap: /b.xml"
    assert rules(text).sitemaps == ("https://example.org/a.xml", "https://example.org/b.xml")


async def test_sitemaps_are_known_once_the_origin_was_asked():
    fetcher = wrapped(Web(**robots("Sitemap: /s.xml")))
    assert fetcher.sitemaps(ORIGIN) == ()
    await fetcher.fetch(link())
    assert fetcher.sitemaps(ORIGIN) == (Url.parse(f"{ORIGIN}/s.xml"),)


@pytest.mark.parametrize(
    ("entries", "path", "reserved"),
    [
        ([{"location": "/", "tdm-reservation": 1}], "/page", True),
        ([{"location": "/", "tdm-reservation": 0}], "/page", False),
        ([{"location": "/closed", "tdm-reservation": 1}], "/page", False),
        ([{"location": "/closed", "tdm-reservation": 1}], "/closed/x", True),
        ([{"location": "/closed", "tdm-reservation": "1"}], "/closed/x", True),
        ([{"location": "/a/", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}], "/a/b", False),
        ([{"location": "/", "tdm-reservation": 1}, {"location": "/a/", "tdm-reservation": 0}], "/a/b", True),
        ([{"location": "/*/img$", "tdm-reservation": 1}], "/x/y/img", True),
        ([{"location": "/*/img$", "tdm-reservation": 1}], "/x/img/y", False),
        ([{"location": "/page$", "tdm-reservation": 1}], "/page2", False),
        ([{"location": "/caf\u00e9", "tdm-reservation": 1}], "/caf%C3%A9", True),
        ([{"location": "https://elsewhere.org/", "tdm-reservation": 1}], "/page", False),
        ([{"location": "/", "tdm-reservation": 7}, {"location": 3}, "x", None], "/page", False),
        ({"location": "/", "tdm-reservation": 1}, "/page", True),
    ],
)
def test_the_first_reservation_that_matches_counts(entries, path, reserved):
    refusal = rules("", entries).refusal(link(path).url, opt_outs=True)
    assert (refusal is not None and refusal.reason is Reason.OPT_OUT) is reserved


@pytest.mark.parametrize("body", [b"", b"not json", b"<html>", b"[" * 100000, b"7", b'["a", [], {}]', b"\xff"])
def test_a_notice_that_cannot_be_read_says_nothing(body):
    assert RobotsRules(RobotsRecord(ORIGIN, 200, b"", 0.0, body)).refusal(link().url, opt_outs=True) is None


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("User-agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /", True),
        ("User-agent: *\nContent-Signal: search=yes, ai-train=yes\nAllow: /", False),
        ("User-agent: other\nContent-Signal: ai-train=no", False),
        ("User-agent: *\nContent-Signal: ai-train=no\n\nUser-agent: bitrawl\nAllow: /", False),
        ("User-agent: *\nAllow: /\n\nUser-agent: bitrawl\nContent-signal: AI-train = no", True),
    ],
)
def test_a_signal_against_training_is_heeded(text, refused):
    refusal = rules(text).refusal(link().url, opt_outs=True)
    assert (refusal is not None and refusal.reason is Reason.OPT_OUT) is refused
    assert rules(text).refusal(link().url, opt_outs=False) is None


async def test_the_notice_is_not_asked_for_when_reservations_are_off_or_robots_txt_forbids_it():
    for answers, options in (({}, {"opt_outs": False}), (robots("User-agent: *\nDisallow: /.well-known/"), {})):
        web = Web(**answers)
        await wrapped(web, **options).fetch(link())
        assert web.asked == [f"{ORIGIN}/robots.txt", link().url]


@given(st.text(alphabet=st.sampled_from("User-agent:*\nDisallow /$%#\r\u2028\0é漢: bitrawl-Sitemap"), max_size=300))
def test_no_text_is_too_strange(text):
    parsed = rules(text)
    parsed.refusal(link("/a?b=%C3%A9*$").url, opt_outs=True)
    assert 0 <= parsed.delay <= MAX_DELAY


@pytest.mark.skipif(not SHARED.exists(), reason="the real files are not part of the repository")
def test_three_hundred_real_files_pass():
    files = sorted((SHARED / "data/formats/robots").glob("*.txt"))
    assert len(files) >= 300
    open_homes = 0
    for file in files:
        origin = f"https://{file.stem}"
        parsed = RobotsRules(RobotsRecord(origin, 200, file.read_bytes(), 0.0))
        open_homes += parsed.allow(Url.parse(f"{origin}/"))
        assert all(url.startswith("http") for url in parsed.sitemaps)
    assert open_homes > 0.8 * len(files)
