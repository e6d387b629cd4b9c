"""A person gathers a topic from a wiki, or searches for bilingual sites, and mines what was found."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from app.app import App, units
from app.held_web import HeldWeb
from app.safety_web import ARTICLES, ON_TOPIC, bilingual
from app.test_jobs import tile
from app.test_pages import REFUSED, check
from app.watched import QUIET, Watched
from end_to_end.test_bootstrap import closed_port
from end_to_end.test_discover import graph
from playwright.sync_api import Browser, BrowserContext, Page, expect
from recorded_wiki import SITES, Served, recorded_wiki

SETTINGS = """
[wiki]
name = "Testpedia"
allow_private = true
[wiki.editions]
en = "{wiki}"
fr = "http://127.0.0.1:{nobody}/api.php"
[job.discovery]
backlinks = ["{graph}"]
"""
SUBJECT = "Health and safety at work"


class Held:
    """Answers of the wiki and of the sites that wait until the test lets them go."""

    def __init__(self) -> None:
        self._let_go = {name: threading.Event() for name in ("en", "bilingual")}

    def __call__(self, name: str, _path: str) -> None:
        if name in self._let_go:
            self._let_go[name].wait()

    def let_go(self, *names: str) -> None:
        for name in names or self._let_go:
            self._let_go[name].set()

    def hold(self, name: str) -> None:
        self._let_go[name].clear()


@pytest.fixture(scope="module")
def held() -> Held:
    held = Held()
    held.let_go()
    return held


@pytest.fixture(autouse=True)
def nothing_held(held: Held) -> Iterator[None]:
    yield
    held.let_go()


@pytest.fixture(scope="module")
def wiki(held: Held) -> Iterator[Served]:
    with recorded_wiki({**SITES, "bilingual": bilingual()}) as served:
        served.before.append(held)
        yield served


@pytest.fixture(scope="module")
def app(held_web: tuple[HeldWeb, int], wiki: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Topics come from the recorded wiki; its French edition does not answer."""
    folder = tmp_path_factory.mktemp("finding")
    more = SETTINGS.format(wiki=wiki.api(), nobody=closed_port(), graph=graph(folder))
    app = App(folder, held_web[1], more)
    yield app
    app.end()


@pytest.fixture
def context(browser: Browser, app: App) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=app.base, **QUIET)
    context.set_default_timeout(60_000)
    yield context
    context.close()


def gather(page: Page, subject: str = SUBJECT, edition: str = "English") -> None:
    """A topic, from the form."""
    page.goto("/topic")
    page.get_by_label("Subject, as Testpedia names the category").fill(subject)
    page.get_by_label("First language").fill("English")
    page.get_by_label("Second language").fill("de")
    page.get_by_label("Edition of Testpedia").select_option(edition)
    page.get_by_role("button", name="Gather").click()


@pytest.mark.long("a topic is gathered and a job is mined behind the page")
def test_a_topic_is_gathered_from_a_wiki_and_mined(page: Page, app: App, watched: Watched, wiki: Served, held: Held):
    held.hold("en")
    held.hold("bilingual")
    gather(page)
    expect(page.locator(".now")).to_contain_text("asking Testpedia")
    held.let_go("en")
    expect(page.locator(".now")).to_contain_text("checking the cited sites for translations: 2 of 3")
    asked = len(wiki.questions())
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".state.paused")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    loads = len(watched.loads)
    expect(page.locator(".now")).to_contain_text("checking the cited sites for translations: 2 of 3")
    held.let_go("bilingual")
    expect(page.locator(".state.ended")).to_be_visible()
    assert len(watched.loads) == loads
    assert len(wiki.questions()) == asked
    counts = ("articles", "15"), ("terms: English", "8"), ("terms: German", "7"), ("bilingual sites", "2")
    for label, count in counts:
        expect(tile(page, label)).to_have_text(count)
    sites = page.get_by_role("table").filter(has_text="Cited by articles")
    expect(sites.get_by_role("link")).to_have_text([wiki.addresses["bilingual"], wiki.addresses["home"]])
    terms = page.get_by_role("table").filter(has_text="Weight")
    expect(terms.get_by_role("row").filter(has_text="hard hat")).to_contain_text("Schutzhelm")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="topic.txt").click()
    topic = downloading.value.path().read_text("utf-8")
    assert "risk assessment" in topic
    found = page.request.get(f"/api/v1/jobs/{app.folder(page.url).name}/topic").json()
    assert (found["articles"], len(found["sites"])) == (15, 2)
    body = page.request.get(f"/api/v1/jobs/{app.folder(page.url).name}/next").json()
    assert (body["terms"], body["hub"], body["languages"]) == (topic, True, ["en", "de"])
    check(page)
    mine(page, body["seeds"], ("en", "de"))
    expect(page.get_by_label("Terms", exact=True)).to_have_value(topic)
    expect(page.get_by_label("The addresses above only link to the topic")).to_be_checked()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name=SUBJECT)).to_be_visible()
    expect(page.locator(".state.ended")).to_be_visible()
    assert int(tile(page, "pages").inner_text()) > int(tile(page, "on the topic").inner_text()) >= 2 * ON_TOPIC
    expect(tile(page, "page pairs")).to_have_text(str(ON_TOPIC))
    segments = units(app.folder(page.url), "en-de")
    assert len(segments) >= ON_TOPIC * 4
    bread = ARTICLES[-1]["en"]
    assert not {text for text, _ in segments}.intersection(bread)


def mine(page: Page, sites: list[str], languages: tuple[str, str]) -> None:
    """Take over what was found: the form has it."""
    page.get_by_role("link", name="Mine what was found").click()
    expect(page.get_by_role("status").first).to_contain_text("Look it over, then press Start.")
    expect(page.get_by_label("Site", exact=True)).to_have_value("\n".join(sites))
    expect(page.get_by_label("First language")).to_have_value(languages[0])
    expect(page.get_by_label("Second language")).to_have_value(languages[1])


@pytest.mark.parametrize(
    ("subject", "edition", "said", "advice"),
    [
        ("Empty shelf", "English", "is empty", "Look the category up in the wiki"),
        ("Occupational deseases", "English", "Occupational diseases", "Look the category up in the wiki"),
        (SUBJECT, "French", "does not answer", "Try again later"),
    ],
)
def test_a_topic_that_cannot_be_gathered_is_told_with_what_to_try(
    page: Page, subject: str, edition: str, said: str, advice: str
):
    gather(page, subject, edition)
    expect(page.locator(".state.failed")).to_be_visible()
    expect(page.locator(".now")).to_contain_text(said)
    expect(page.locator(".now")).not_to_contain_text("--")
    expect(page.locator(".tip")).to_contain_text(advice)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    expect(page.get_by_role("link", name="Mine what was found")).to_have_count(0)
    check(page)
    page.get_by_role("link", name="Start again with changes").click()
    expect(page.locator("#category")).to_have_value(subject)


def test_a_topic_without_a_subject_is_told_in_the_form(page: Page, watched: Watched):
    gather(page, "")
    expect(page.locator("#category-problem")).to_have_text("name a subject: a category of Testpedia")
    check(page)
    watched.expect_said(REFUSED)


@pytest.mark.long("a search and a job run behind the page")
def test_sites_are_searched_for_and_mined(page: Page, app: App, watched: Watched):
    page.goto("/discover")
    page.get_by_label("Sites to start from").fill("http://www.beekeepers.test/")
    page.get_by_label("First language").fill("en")
    page.get_by_label("Second language").fill("French")
    page.get_by_label("Maximum downloads").fill("20")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#live")).to_be_visible()
    loads = len(watched.loads)
    expect(page.locator(".state.ended")).to_be_visible()
    assert len(watched.loads) == loads
    rows = page.get_by_role("table").filter(has_text="Verdict").locator("tbody tr")
    assert rows.count() > 2
    check(page)
    folder = app.folder(page.url)
    listed = Path(folder, "sites.txt").read_text("utf-8").splitlines()
    found = list(dict.fromkeys(line for line in listed if line[:1] != "#"))
    assert len(found) > 1
    mine(page, found, ("en", "fr"))
    page.get_by_label("Site", exact=True).fill(found[0])
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".state.ended")).to_be_visible()
    assert int(tile(page, "page pairs").inner_text()) > 0
    assert units(app.folder(page.url))


def test_a_topic_of_the_command_line_is_shown_and_mined(page: Page, app: App, wiki: Served):
    folder = app.jobs / "safety"
    flags = (
        "--langs",
        "en,de",
        "--wiki",
        wiki.api(),
        "--allow-private",
        "--delay",
        "0",
        "--out",
        str(folder),
        "--quiet",
    )
    subprocess.run([sys.executable, "-m", "bitrawl", "bootstrap", SUBJECT, *flags], check=True)
    page.goto("/")
    page.get_by_role("row").filter(has_text="safety").filter(has_text="topic").get_by_role(
        "link", name="safety", exact=True
    ).click()
    expect(page.locator(".state.ended")).to_be_visible()
    expect(tile(page, "articles")).to_have_text("15")
    mine(page, [wiki.addresses["bilingual"], wiki.addresses["home"]], ("en", "de"))
