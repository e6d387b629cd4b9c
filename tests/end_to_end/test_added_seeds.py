"""Seeds that are added to a job, and the pages in a missing language that nothing links to."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_site import articles

from bitrawl import config
from bitrawl.endings import EndKind
from bitrawl.facts import JobFacts
from bitrawl.job import running
from bitrawl.job.reporting import status
from bitrawl.store.folder import JobFolder
from bitrawl.strategies.adaptive.partners import MAX_TWINS
from bitrawl.strategies.adaptive.rates import MONOLINGUAL_AFTER
from lab.loopback import Reply, answering

pytestmark = pytest.mark.usefixtures("no_children")
PAGES = 16
MADE, _ = articles(PAGES, "http://site.test/{}", "http://site.test/fr-{}")
POLITE = {"delay": 0, "attempts": 1, "backoff": 0}


class HalfLinked:
    """An English site, and the same in French at addresses that say nothing, to which no English page links."""

    def __init__(self, french: Callable[[int], str], *, english: Callable[[int], str] | None = None) -> None:
        self.replies: dict[str, Reply] = {}
        self.asked: list[str] = []
        self.missing = Reply(404, "text/html", b"<title>404</title>")
        for address, first in ((english or plain, 0), (french, 1)):
            for number in range(PAGES):
                texts = [paragraph.text for paragraph in MADE[2 * number + first].paragraphs]
                self.add(address(number), *texts, links=[address((2 * number + more) % PAGES) for more in (1, 2)])

    def add(self, path: str, *texts: str, links: list[str] = ()) -> None:
        menu = "".join(f'<li><a href="{link}">{number}</a>' for number, link in enumerate(links))
        body = "".join(f"<p>{text}</p>" for text in texts)
        html = f"<!doctype html><meta charset=utf-8><title>{path}</title><main>{body}</main><ul>{menu}</ul>"
        self.replies[path] = Reply(200, "text/html; charset=utf-8", html.encode())

    def move(self, path: str, to: str) -> None:
        self.replies[path] = Reply(301, "text/html", b"", (("Location", to),))

    def answer(self, address: str) -> Reply:
        path = "/" + address.split("/", 3)[3]
        if not path.startswith(("/robots.txt", "/.well-known/", "/sitemap.xml", "/bitrawl-asks")):
            self.asked.append(path)
        return self.replies.get(path, self.missing)

    def taken(self) -> list[str]:
        """What was asked for since this was called last."""
        asked, self.asked = self.asked, []
        return asked


def plain(number: int) -> str:
    return f"/p{number}.html" if number else "/"


def hidden(number: int) -> str:
    return f"/lire/{number}.html"


@pytest.fixture
def half() -> HalfLinked:
    return HalfLinked(hidden)


@pytest.fixture
def base(half: HalfLinked) -> Iterator[str]:
    with answering(half.answer) as port:
        yield f"http://127.0.0.1:{port}"


async def crawl(folder: Path, *seeds: str, **settings: object) -> JobFacts:
    asked = {"langs": ["en", "fr"], "seeds": list(seeds), "politeness": POLITE, "fetch": {"allow_private": True}}
    await running.crawl(config.resolve(config.merged(asked, settings)), JobFolder(folder))
    return status(JobFolder(folder))


def french(facts: JobFacts) -> int:
    return facts.crawl.languages.get("fr", 0)


async def test_a_new_seed_on_a_site_that_was_left_is_visited_first_and_the_site_is_gone_back_to(
    tmp_path: Path, half: HalfLinked, base: str
):
    facts = await crawl(tmp_path, f"{base}/")
    assert (facts.crawl.pages, facts.crawl.run.ended.kind) == (MONOLINGUAL_AFTER, EndKind.LEFT)
    half.taken()
    assert (await crawl(tmp_path, f"{base}/")).crawl.pages == MONOLINGUAL_AFTER
    assert half.taken() == [], "the same command again changes nothing"
    facts = await crawl(tmp_path, f"{base}/", f"{base}{hidden(0)}")
    asked = half.taken()
    assert asked[0] == hidden(0)
    assert (french(facts), facts.crawl.pages, facts.crawl.run.ended.kind) == (PAGES, 2 * PAGES, EndKind.DONE)
    assert len(asked) == len(set(asked)) == 2 * PAGES - MONOLINGUAL_AFTER, "no page is fetched twice"


def test_a_seed_that_is_written_into_the_job_file_is_visited(
    tmp_path: Path, half: HalfLinked, base: str, bitrawl: Callable[..., tuple[int, str, str]]
):
    folder = tmp_path / "job"
    flags = ["--out", folder, "--allow-private", "--delay", "0"]
    told = bitrawl("mine", f"{base}/", "--langs", "en,fr", *flags)[1]
    assert told.count("→") == 1, "that our own questions were in vain is nobody's fault"
    assert "→ The job has 8 pages: 8 in English and 0 in French. Add the URL of a page in French as a seed." in told
    half.taken()
    description = folder / "job.toml"
    description.write_text(description.read_text().replace("seeds = [", f'seeds = [\n    "{base}{hidden(0)}",'))
    told = bitrawl("mine", "--out", folder)[1]
    assert half.taken()[0] == hidden(0)
    assert "as a seed" not in told
    assert f"{PAGES} page pairs" in told


async def test_a_new_seed_is_visited_in_a_replay(tmp_path: Path, base: str):
    await crawl(tmp_path / "live", f"{base}/", f"{base}{hidden(0)}")
    replay = {"replay": [str(tmp_path / "live" / "warc")]}
    facts = await crawl(tmp_path / "job", f"{base}/", **replay)
    assert (facts.crawl.pages, french(facts)) == (MONOLINGUAL_AFTER, 0)
    assert french(await crawl(tmp_path / "job", f"{base}/", f"{base}{hidden(0)}", **replay)) == PAGES


async def test_a_new_seed_that_redirects_is_followed_before_its_site_is_left_again(
    tmp_path: Path, half: HalfLinked, base: str
):
    half.move("/lire", "/lecture")
    half.move("/lecture", hidden(0))
    await crawl(tmp_path, f"{base}/")
    half.taken()
    facts = await crawl(tmp_path, f"{base}/", f"{base}/lire")
    assert half.taken()[:3] == ["/lire", "/lecture", hidden(0)]
    assert french(facts) == PAGES


async def test_a_new_seed_may_be_on_another_host_of_the_site(tmp_path: Path, half: HalfLinked, base: str):
    there = base.removeprefix("http://")
    fetch = {"allow_private": True, "connect_to": {"www.site.test": there, "docs.site.test": there}}
    await crawl(tmp_path, "http://www.site.test/", fetch=fetch)
    half.taken()
    facts = await crawl(tmp_path, "http://www.site.test/", f"http://docs.site.test{hidden(0)}", fetch=fetch)
    assert half.taken()[0] == hidden(0)
    assert french(facts) == PAGES


async def test_a_site_is_left_again_for_the_same_reason_and_not_gone_back_to_for_a_seed_that_is_no_page(
    tmp_path: Path, half: HalfLinked, base: str
):
    half.add("/alone.html", *(paragraph.text for paragraph in MADE[0].paragraphs[:3]))
    await crawl(tmp_path, f"{base}/")
    half.taken()
    facts = await crawl(tmp_path, f"{base}/", f"{base}/alone.html")
    assert (half.taken()[0], facts.crawl.run.ended.kind) == ("/alone.html", EndKind.LEFT)
    assert facts.crawl.pages == 2 * MONOLINGUAL_AFTER
    await crawl(tmp_path, f"{base}/", f"{base}/missing.html")
    assert half.taken() == ["/missing.html"]
    half.add("/missing.html", *(paragraph.text for paragraph in MADE[1].paragraphs[:3]), links=[hidden(0)])
    assert french(await crawl(tmp_path, f"{base}/", f"{base}/missing.html")) == PAGES + 1
    assert half.taken()[0] == "/missing.html", "a seed that failed is tried again"


async def test_a_page_that_was_visited_is_not_fetched_again_as_a_seed(tmp_path: Path, half: HalfLinked, base: str):
    await crawl(tmp_path, f"{base}/")
    visited = half.taken()[1]
    facts = await crawl(tmp_path, f"{base}/", f"{base}{visited}")
    assert (half.taken(), facts.crawl.run.ended.kind) == ([], EndKind.LEFT)


@pytest.mark.parametrize("before", ["queued", "excluded", "no link"])
async def test_a_seed_comes_first_whatever_became_of_its_link(tmp_path: Path, half: HalfLinked, base: str, before: str):
    late = "/late.html"
    if before != "no link":
        half.add("/", *(paragraph.text for paragraph in MADE[0].paragraphs), links=[plain(1), plain(2), late])
    half.add(late, *(paragraph.text for paragraph in MADE[1].paragraphs))
    scope = {"exclude": [late]} if before == "excluded" else {}
    few = {"strategy": "breadth-first", "scope": scope}
    facts = await crawl(tmp_path, f"{base}/", budget={"pages": 2}, **few)
    assert late not in half.taken()
    facts = await crawl(tmp_path, f"{base}/", f"{base}{late}", budget={"pages": 2}, **few)
    assert (half.taken(), facts.crawl.run.ended.kind) == ([], EndKind.BUDGET), "what is used up is used up"
    await crawl(tmp_path, f"{base}/", f"{base}{late}", budget={"pages": 4}, **few)
    assert half.taken()[0] == late


async def test_new_seeds_wait_for_a_larger_budget_and_then_come_before_what_the_site_was_left_with(
    tmp_path: Path, half: HalfLinked, base: str
):
    await crawl(tmp_path, f"{base}/")
    half.taken()
    seeds = [f"{base}/", f"{base}{hidden(0)}"]
    await crawl(tmp_path, *seeds, budget={"pages": MONOLINGUAL_AFTER})
    assert half.taken() == []
    assert french(await crawl(tmp_path, *seeds)) == PAGES


# languages that nothing links to


@pytest.mark.parametrize(
    ("home", "in_french"),
    [
        ("/", lambda number: f"/fr/{number or ''}"),
        ("/", lambda number: f"/p{number}.fr.html" if number else "/index.fr.html"),
        ("/", lambda number: f"/?lang=fr&p={number}" if number else "/?lang=fr"),
        ("/", lambda number: f"/francais/{number or ''}"),
        ("/en-gb/", lambda number: f"/fr-fr/{number or ''}"),
        ("/home_eng.php", lambda number: f"/home_fra.php{number or ''}"),
    ],
)
async def test_a_language_that_no_page_links_to_is_found_before_the_site_is_left(
    tmp_path: Path, home: str, in_french: Callable[[int], str]
):
    half = HalfLinked(in_french, english=lambda number: f"/p{number}.html" if number else home)
    with answering(half.answer) as port:
        facts = await crawl(tmp_path, f"http://127.0.0.1:{port}{home}")
    assert french(facts) == PAGES
    assert sum(path not in half.replies for path in half.taken()) < MAX_TWINS


async def test_a_site_that_was_read_to_its_end_is_asked_too(tmp_path: Path):
    half = HalfLinked(lambda number: f"/fr/{number or ''}")
    half.add("/", *(paragraph.text for paragraph in MADE[0].paragraphs))
    with answering(half.answer) as port:
        facts = await crawl(tmp_path, f"http://127.0.0.1:{port}/")
    assert facts.crawl.languages == {"en": 1, "fr": PAGES}


@pytest.mark.parametrize("wrong", ["missing", "soft", "home"])
async def test_a_site_without_another_language_is_left_after_a_handful_of_questions(
    tmp_path: Path, half: HalfLinked, base: str, wrong: str
):
    if wrong == "soft":
        half.missing = Reply(
            200, "text/html", b"<title>Oops</title><p>Sorry, there is nothing to be seen at this place."
        )
    elif wrong == "home":
        half.missing = Reply(302, "text/html", b"", (("Location", "/"),))
    facts = await crawl(tmp_path, f"{base}/")
    asked = half.taken()
    assert (facts.crawl.pages, facts.crawl.run.ended.kind) == (MONOLINGUAL_AFTER, EndKind.LEFT)
    assert asked[-4:] == ["/fr/", "/index.fr.html", "/?lang=fr", "/francais/"]


async def test_nothing_is_asked_for_that_the_scope_or_robots_txt_refuse(tmp_path: Path, half: HalfLinked, base: str):
    half.replies["/robots.txt"] = Reply(200, "text/plain", b"User-agent: *\nDisallow: /fr/\n")
    await crawl(tmp_path, f"{base}/", scope={"exclude": [r"\?"]})
    assert half.taken()[MONOLINGUAL_AFTER:] == ["/index.fr.html", "/p11.html", "/francais/"]


async def test_a_job_with_one_language_asks_for_no_other(tmp_path: Path, half: HalfLinked, base: str):
    await crawl(tmp_path, f"{base}/", langs=["en"])
    assert sorted(half.taken()) == sorted(map(plain, range(PAGES)))
