"""Pages that scripts draw, in a real browser: a job that needs one, and pages that try what they may not."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from app.program import chromium, kill
from app.script_web import ARTICLES, HOST, Answered, Article
from forked_command import ForkedCommand

from bitrawl.crawling import FetchSettings, RenderSection
from bitrawl.crawling.browser import ChromiumRenderer
from bitrawl.crawling.resources import Resources
from bitrawl.errors import ConfigError
from bitrawl.job import SystemClock
from bitrawl.job.refreshing import changes
from bitrawl.model import Capture, DrawnBy, Link, Page, Skip
from bitrawl.page.analyser import page_reader
from bitrawl.reasons import Reason
from bitrawl.store.folder import JobFolder
from bitrawl.testing import FakeWeb
from bitrawl.url import Url
from lab.loopback import Reply, answering

Result = TypeVar("Result")
Seen = Callable[..., list[Capture]]
READER = page_reader()


def done(*arguments: object) -> tuple[str, str]:
    """What the command said, and what it said on standard error."""
    status, said, errors = ForkedCommand.start(*map(str, arguments)).done()
    assert status == 0, errors
    return said, errors


def bitrawl(*arguments: object) -> str:
    return done(*arguments)[0]


def pairs_of(folder: Path) -> set[tuple[str, str]]:
    file = folder / "corpus/en-fr.documents.jsonl"
    documents = map(json.loads, file.read_text().splitlines() if file.exists() else ())
    return {(document["url_a"], document["url_b"]) for document in documents}


def mine(port: int, folder: Path, *more: str) -> str:
    """What it said on standard error."""
    seed = f"http://{HOST}/en/{next(iter(ARTICLES))}"
    reach = ("--allow-private", "--connect-to", f"*.test=127.0.0.1:{port}", "--delay", "0")
    options = ("--langs", "en,fr", "--exhaustive", "--quiet", "--render", "auto", "--browser", chromium())
    return done("mine", seed, *options, *reach, "--out", folder, *more)[1]


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], int]:
    """A job with a browser, what its server was asked for, and its port."""
    folder, web = tmp_path_factory.mktemp("rendering") / "job", Answered()
    with answering(web) as port:
        mine(port, folder)
    return folder, web.asked, port


def test_a_site_that_scripts_draw_gives_its_pairs(mined: tuple[Path, list[str], int]) -> None:
    expected = {(f"http://{HOST}/en/{key}", f"http://{HOST}/fr/{key}") for key in ARTICLES}

    assert pairs_of(mined[0]) == expected
    assert f"{2 * len(ARTICLES)} pages, drawn by a browser" in bitrawl("status", mined[0])


def test_scripts_are_fetched_once_pages_once_and_trackers_never(mined: tuple[Path, list[str], int]) -> None:
    asked = mined[1]

    assert asked.count(f"{HOST}/app.js") == 1
    assert all(asked.count(f"{HOST}/{language}/{key}") == 1 for language in ("en", "fr") for key in ARTICLES)
    assert not any(address.startswith("tracker") for address in asked)


def test_the_archive_gives_the_same_pairs_without_a_browser(mined: tuple[Path, list[str], int], tmp_path: Path) -> None:
    bitrawl(
        "mine", "--warc", mined[0] / "warc", "--langs", "en,fr", "--quiet", "--render", "never", "--out", tmp_path / "w"
    )

    assert pairs_of(tmp_path / "w") == pairs_of(mined[0])


@pytest.mark.long("two jobs and a round are drawn by Chromium")
def test_a_round_draws_pages_anew_and_ends_as_a_fresh_job(mined: tuple[Path, list[str], int], tmp_path: Path) -> None:
    first, changed, gone, *others = ARTICLES
    now = {first: ARTICLES[first], changed: {}, **{key: ARTICLES[key] for key in others}}
    for language, (title, text) in ARTICLES[changed].items():
        now[changed][language] = Article(title, [text[0], *ARTICLES[gone][language].text])  # in the same document
    job = Path(shutil.copytree(mined[0], tmp_path / "job"))
    with answering(Answered(now)) as port:
        mine(port, job, "--refresh")
        mine(port, tmp_path / "fresh")

    found, expected = (JobFolder(folder) for folder in (job, tmp_path / "fresh"))
    with found.reading() as ledger, expected.reading() as other:
        assert {page.url: page.digest for page in ledger.pages()} == {page.url: page.digest for page in other.pages()}
        assert {page.drawn_by for page in ledger.pages()} == {DrawnBy.BROWSER}
    assert pairs_of(job) == pairs_of(tmp_path / "fresh")
    told = changes(found).pages
    names = [{url.rpartition("/")[2] for url in urls} for urls in (told.new, told.changed, told.gone)]
    assert names == [set(), {changed}, {gone}]


@pytest.mark.long("Chromium starts anew after each kill")
def test_pages_whose_browser_is_killed_are_told_and_drawn_by_the_same_command(
    mined: tuple[Path, list[str], int], tmp_path: Path
) -> None:
    web, key = Answered(), list(ARTICLES)[1]
    kills = 0

    def answer(address: str) -> Reply:
        nonlocal kills
        if kills < 4 and address.endswith(f"/data/fr/{key}.json"):
            kills += 1
            kill("browser")
        return web(address)

    with answering(answer) as port:
        said = mine(port, tmp_path / "job", "--render", "always")
        status = bitrawl("status", tmp_path / "job")
        assert mine(port, tmp_path / "job", "--render", "always") == ""

    assert kills == 4
    assert "1 page, page pair or site is left out" in said
    assert "1  analyse: killed" in status
    assert "killed     1 page, page pair or site is left out" in status
    assert not any(word in status for word in ("scripted", "drawn by scripts", "--render"))
    assert pairs_of(tmp_path / "job") == pairs_of(mined[0])
    assert "left out" not in bitrawl("status", tmp_path / "job")


# One page at a time


def page(script: str, url: str = "http://a.test/", *, head: str = "", body: str = "") -> Capture:
    root = f'<div id="root"></div>{body}<script>{script}</script>'
    html = f'<!doctype html><html lang="en"><head>{head}</head><body>{root}</body></html>'
    headers = (("Content-Type", "text/html"),)
    return Capture(Url.parse(url), 200, headers, html.encode(), at=0.0, media_type="text/html")


def made_renderer(web: FakeWeb, browser: str = "", megabytes: int = 512, seconds: float = 30) -> ChromiumRenderer:
    async def allowed(_url: Url) -> None:
        return None

    settings = RenderSection(browser=browser or chromium(), seconds=seconds, megabytes=megabytes)
    names = {"English": "en", "Français": "fr"}
    resources = Resources(web, allowed, lambda host: Url.parse(f"http://{host}/").site)
    return ChromiumRenderer(settings, FetchSettings(), resources, SystemClock(), lambda label: names.get(label, ""))


def with_renderer(
    work: Callable[[ChromiumRenderer], Coroutine[Any, Any, Result]],
    web: FakeWeb | None = None,
    browser: str = "",
    megabytes: int = 512,
    seconds: float = 30,
) -> Result:
    """In a thread: the tests beside these have an event loop of Playwright's in theirs."""

    async def run() -> Result:
        async with made_renderer(web or FakeWeb({}), browser, megabytes, seconds) as renderer:
            return await work(renderer)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, run()).result()


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    """Draws pages in one browser for all tests that neither disturb it nor ask what it fetched: how they were drawn."""
    with ThreadPoolExecutor(1) as thread, asyncio.Runner() as runner:
        renderer = made_renderer(FakeWeb({}))

        async def draw(pages: tuple[Capture, ...]) -> list[Capture]:
            captures = [(await renderer.render(page))[0] for page in pages]
            return [capture for capture in captures if isinstance(capture, Capture)]

        def here(work: Coroutine[Any, Any, Result]) -> Result:
            return thread.submit(runner.run, work).result()

        yield lambda *pages: here(draw(pages))
        here(renderer.__aexit__())


def drawn(*pages: Capture, web: FakeWeb | None = None, megabytes: int = 512, seconds: float = 30) -> list[str]:
    """The documents; empty for a page that could not be drawn."""

    async def work(renderer: ChromiumRenderer) -> list[str]:
        captures = [(await renderer.render(page))[0] for page in pages]
        return [capture.body.decode() if isinstance(capture, Capture) else "" for capture in captures]

    return with_renderer(work, web, megabytes=megabytes, seconds=seconds)


def test_a_tab_that_hangs_crashes_or_takes_all_memory_costs_one_page() -> None:
    hanging = page("while (true) {}")
    grow = "all.push(new Uint8Array(2e7).fill(1)); document.getElementById('root').textContent = all.length"
    greedy = page(f"const all = []; setInterval(() => {{ {grow} }}, 1)")
    good = page("document.getElementById('root').textContent = 'drawn'")

    assert [bool(html) for html in drawn(greedy, good, hanging, megabytes=256, seconds=8)] == [False, True, False]


def test_a_page_reaches_nothing_but_what_its_requests_are_answered_with() -> None:
    web = FakeWeb({})
    tries = """
    const root = document.getElementById("root"), failed = (name) => () => root.append(` ${name} refused`);
    fetch("http://127.0.0.1:22/").catch(failed("private"));
    fetch("https://tracker.test/").catch(failed("tracker"));
    fetch("/post", { method: "POST" }).catch(failed("post"));
    new WebSocket("ws://a.test/");
    const image = new Image(); image.onerror = failed("image"); image.src = "/i.png";
    navigator.serviceWorker?.register("/w.js").catch(failed("worker"));
    navigator.sendBeacon("/beacon", "x");
    window.open("/popup");
    location.href = "/elsewhere";
    """
    (html,) = drawn(page(tries), web=web)

    for name in ("private", "tracker", "post", "image"):
        assert f"{name} refused" in html
    assert web.asked == []


def test_nothing_that_a_page_stores_reaches_another(seen: Seen) -> None:
    script = "document.getElementById('root').textContent = `${localStorage.x} ${document.cookie}`; localStorage.x = 1; document.cookie = 'a=b'"

    assert [b">undefined </div>" in drawn.body for drawn in seen(page(script), page(script))] == [True, True]


def test_a_list_that_grows_is_scrolled_to_a_limit(seen: Seen) -> None:
    script = """
    const root = document.getElementById("root"); let count = 0;
    const grow = () => root.insertAdjacentHTML("beforeend", `<p style="height: 900px">Item ${++count}</p>`);
    grow(); grow();
    addEventListener("scroll", grow);
    """
    (drawn,) = seen(page(script))

    assert 6 <= drawn.body.count(b"Item ") <= 30


def test_shadow_trees_are_part_of_the_document(seen: Seen) -> None:
    script = """
    customElements.define("my-card", class extends HTMLElement {
      connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<p>Inside &amp; <slot></slot></p>"; }
    });
    document.getElementById("root").innerHTML = "<my-card><b>outside</b></my-card>";
    """
    (drawn,) = seen(page(script))

    assert b"<p>Inside &amp; <slot><b>outside</b></slot></p>" in drawn.body


def read(capture: Capture) -> str:
    """The text of a page."""
    outcome = READER.read(capture)
    assert isinstance(outcome, Page), outcome
    return "\n".join(paragraph.text for paragraph in outcome.paragraphs)


LONG = "The old harbour wakes before the sun, and the boats come in with the tide. " * 4
DRAW = "document.getElementById('root').innerHTML = "
INSERTED = """const sheet = document.head.appendChild(document.createElement("style")).sheet;
const rule = (text) => sheet.insertRule(text, sheet.cssRules.length);"""
ADOPTED = """const sheet = new CSSStyleSheet(); document.adoptedStyleSheets = [sheet];
const rule = (text) => sheet.insertRule(text, sheet.cssRules.length);"""


HIDING = (
    "display: none",
    "visibility: hidden",
    "opacity: 0",
    "font-size: 0",
    "text-indent: -9999px",
    "position: absolute; left: -9999px",
    "position: absolute; clip: rect(0, 0, 0, 0)",
    "height: 0; overflow: hidden",
    "transform: scale(0)",
)


@pytest.mark.parametrize("sheet", [INSERTED, ADOPTED], ids=["inserted", "adopted"])
def test_what_scripts_hide_by_rules_that_are_in_no_markup_is_not_read(sheet: str, seen: Seen) -> None:
    # A longer name that a script of the page has would count as one that it may show.
    draw = f"{DRAW} `<p>{LONG}</p><div class=x1>Casino 赌场 카지노</div>`;"
    texts = list(map(read, seen(*(page(f'{sheet} rule(".x1 {{ {hides} }}"); {draw}') for hides in HIDING))))

    assert all("harbour" in text for text in texts)
    assert [hides for hides, text in zip(HIDING, texts, strict=True) if "Casino" in text] == []


OPENED = {
    "menu that opens under the pointer": (
        "nav ul { display: none } nav:hover ul { display: block }",
        "<nav><ul><li>Menu</ul></nav>",
    ),
    "tab of another class": (".tab { display: none } .tab.is-open { display: block }", '<div class="tab">Menu</div>'),
    "accordion with a button": (
        ".c1 { height: 0; overflow: hidden; visibility: hidden }",
        '<button aria-controls="part">More</button><div class="c1"><div id="part" role="region">Menu</div></div>',
    ),
    "wide screens": (
        ".y { display: none } @media (min-width: 9000px) { .y { display: block } }",
        '<p class="y">Menu</p>',
    ),
    "transition": (".z { opacity: 0; transition: opacity 1s }", '<p class="z">Menu</p>'),
    "popover": ("div { color: black }", "<div popover>Menu</div>"),
    "details": ("p { color: black }", "<details><summary>More</summary><p>Menu</p></details>"),
    "part that is shown again": (
        ".v { visibility: hidden } .w { visibility: visible }",
        '<div class="v"><p class="w">Menu</p></div>',
    ),
}


@pytest.mark.long("each way is drawn by Chromium")
def test_what_a_reader_can_open_is_read_whichever_way_its_rules_came(seen: Seen) -> None:
    pages = []
    for rules, html in OPENED.values():
        draw = f"{DRAW} `<p>{LONG}</p>{html}`;"
        pages += [page(f"{ADOPTED} sheet.replaceSync(`{rules}`); {draw}"), page(draw, head=f"<style>{rules}</style>")]
    shown = ["Menu" in read(drawn) for drawn in seen(*pages)]

    assert {name: shown[2 * at : 2 * at + 2] for at, name in enumerate(OPENED)} == {
        name: [True, True] for name in OPENED
    }


TREE = """customElements.define("my-card", class extends HTMLElement {
  connectedCallback() { this.attachShadow({ mode: "MODE" }).innerHTML = `CONTENT`; }
});"""


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_styles_hold_for_their_own_tree_only(mode: str, seen: Seen) -> None:
    html = '<style>.y { display: none }</style><p class="x">Shown in the tree</p><p class="y">Hidden in the tree</p><slot></slot>'
    tree = TREE.replace("MODE", mode).replace("CONTENT", html)
    card = '<p class="y">Shown outside</p><p class="x">Hidden outside</p><my-card><i>In the slot</i></my-card>'
    (drawn,) = seen(page(f"{tree} {DRAW} `<p>{LONG}</p>{card}`;", head="<style>.x { display: none }</style>"))
    text = read(drawn)

    assert all(part in text for part in ("Shown in the tree", "Shown outside", "In the slot"))
    assert "Hidden" not in text


def test_a_closed_tree_that_is_written_in_the_page_is_read(seen: Seen) -> None:
    host = (
        "<section><template shadowrootmode='closed'><p>Inside of it</p><slot></slot></template><b>outside</b></section>"
    )

    (drawn,) = seen(page(f"{DRAW} `<p>{LONG}</p>`", body=host))
    assert "Inside of it" in read(drawn)


def test_a_page_cannot_tell_for_the_browser_what_it_computed(seen: Seen) -> None:
    own = f"""{DRAW} `<p bitrawl-computed="display:none">{LONG}</p>`;"""

    (drawn,) = seen(page(own))
    assert "harbour" in read(drawn)


def test_a_page_whose_texts_come_by_post_says_so(seen: Seen) -> None:
    script = "fetch('/graphql', { method: 'POST', body: '{}' }).then((answer) => answer.text()).catch(() => {})"

    (drawn,) = seen(page(script))
    assert drawn.header("Bitrawl-Refused") == "1 request by POST"


def test_routes_and_languages_behind_buttons_have_addresses_of_their_own(seen: Seen) -> None:
    script = """
    const texts = { en: "The old harbour wakes before the sun.", fr: "Le vieux port se réveille avant le soleil." };
    let tongue = "en";
    const draw = () => { document.getElementById("root").innerHTML = `<p>${texts[tongue]} ${location.hash}</p>
      <button onclick="tongue='en';draw()">English</button><button onclick="tongue='fr';draw()">Français</button>
      <a href="#/boats">Boats</a>`; };
    draw();
    """
    addresses = ("", "?_escaped_fragment_=~fr", "?_escaped_fragment_=%2Fboats")
    drawn = seen(*(page(script, f"http://a.test/{address}") for address in addresses))
    first, french, route = (capture.body.decode() for capture in drawn)

    assert 'hreflang="fr" href="http://a.test/?_escaped_fragment_=~fr"' in first
    assert 'href="http://a.test/?_escaped_fragment_=%2Fboats"' in first
    assert "Le vieux port" in french
    assert 'hreflang="en" href="http://a.test/"' in french
    assert "before the sun. #/boats" in route


class DeadlyWeb(FakeWeb):
    """Where a page asks for this name, part of the browser is killed, so many times."""

    def __init__(self, parts: str, name: str, times: int) -> None:
        super().__init__({})
        self._parts = parts
        self._name = name
        self.times = times

    async def fetch(self, link: Link) -> Capture | Skip:
        if link.url.endswith(self._name) and self.times:
            self.times -= 1
            kill(self._parts)
        return await super().fetch(link)


def asking(host: str) -> Capture:
    """A page that asks for data, and draws then."""
    script = "fetch('/data').finally(() => document.getElementById('root').textContent = 'drawn')"
    return page(script, f"http://{host}/")


HOSTS = ("a.test", "b.test", "c.test", "d.test")


@pytest.mark.parametrize("parts", ["browser", "tab", "driver"])
def test_kills_while_several_pages_are_drawn_cost_none_of_them(parts: str) -> None:
    web = DeadlyWeb(parts, "/data", times=2)

    async def work(renderer: ChromiumRenderer) -> list[Capture | Skip | None]:
        return [drawn for drawn, _ in await asyncio.gather(*(renderer.render(asking(host)) for host in HOSTS))]

    for drawn in with_renderer(work, web):
        assert isinstance(drawn, Capture)
        assert b">drawn<" in drawn.body
    assert not web.times


@pytest.mark.parametrize("parts", ["browser", "tab", "driver"])
@pytest.mark.long("Chromium starts anew after each of four kills")
def test_a_page_at_which_all_is_killed_each_time_gets_no_verdict_and_the_next_is_drawn(parts: str) -> None:
    web = DeadlyWeb(parts, "//b.test/data", times=99)

    async def work(renderer: ChromiumRenderer) -> list[Capture | Skip | None]:
        return [(await renderer.render(asking(host)))[0] for host in HOSTS[:3]]

    outcomes = with_renderer(work, web)
    assert [isinstance(drawn, Capture) for drawn in outcomes] == [True, False, True]
    assert isinstance(outcomes[1], Skip)
    assert outcomes[1].reason is Reason.KILLED
    assert web.times == 99 - 4


@pytest.mark.parametrize("order", ["kill -9 $$", "exit 127"])
def test_a_browser_that_is_killed_as_it_starts_is_none_that_is_missing(order: str, tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text(f"#!/bin/sh\n{order}\n")
    program.chmod(0o755)

    async def work(renderer: ChromiumRenderer) -> Capture | Skip | None:
        return (await renderer.render(asking("a.test")))[0]

    drawn = with_renderer(work, browser=str(program))
    assert (drawn.reason if isinstance(drawn, Skip) else drawn) == (Reason.KILLED if "kill" in order else None)


def test_a_browser_that_runs_is_used_and_left_running(tmp_path: Path) -> None:
    flags = ["--headless", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={tmp_path}"]
    running = subprocess.Popen([chromium(), *flags], stderr=subprocess.PIPE, text=True)
    try:
        assert running.stderr is not None
        address = next(line.split()[-1] for line in running.stderr if "DevTools listening" in line)

        async def work(renderer: ChromiumRenderer) -> bool:
            return (await renderer.render(page("document.title = 1")))[0] is not None

        assert with_renderer(work, browser=address)
        assert running.poll() is None
    finally:
        running.kill()
        running.communicate()


def test_a_browser_that_is_not_there_is_named() -> None:
    async def work(renderer: ChromiumRenderer) -> None:
        await renderer.start()

    with pytest.raises(ConfigError, match="/no/such/chromium cannot be started"):
        with_renderer(work, browser="/no/such/chromium")
