"""A real browser in front of a real server, whose jobs crawl the bundled web. `make test-web` installs what this needs."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from app.app import App
from app.held_web import ARABIC, HOSTILE, HeldWeb, served
from app.program import chromium
from app.watched import PATIENCE, QUIET, Watched
from kept_findings import Aligned, keep_findings
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from bitrawl.crawling.browser import FLAGS
from bitrawl.model import Language, PagePair, Segment, SegmentPair
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url


@pytest.fixture(scope="session")
def held_web() -> Iterator[tuple[HeldWeb, int]]:
    web = HeldWeb()
    with served(web) as port:
        yield web, port


@pytest.fixture(scope="session")
def web(held_web: tuple[HeldWeb, int]) -> HeldWeb:
    return held_web[0]


@pytest.fixture(scope="session")
def mined(held_web: tuple[HeldWeb, int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished job of four languages, mined once for all workers. Nobody may change it."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    folder = root / "mined-job"
    with (root / "mined-job.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            draft = root / "mined-job.draft"
            shutil.rmtree(draft, ignore_errors=True)
            seeds = ("http://www.town-library.test/", f"http://{HOSTILE}/", f"http://{ARABIC}/")
            reach = (
                "--allow-private",
                "--connect-to",
                f"*.test=127.0.0.1:{held_web[1]}",
                "--delay",
                "0",
                "--exhaustive",
            )
            command = ("mine", *seeds, "--langs", "en,fr,zh,ar", "--out", str(draft), "--quiet", *reach)
            subprocess.run([sys.executable, "-m", "bitrawl", *command], check=True)
            reading_index.refresh(draft)
            draft.rename(folder)
    return folder


@pytest.fixture(scope="session")
def app(held_web: tuple[HeldWeb, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A server that all tests share. There is one user, who needs no token."""
    app = App(tmp_path_factory.mktemp("app"), held_web[1])
    yield app
    held_web[0].release_all()
    app.end()


@pytest.fixture(scope="session")
def job(app: App, mined: Path) -> str:
    """The id of a finished job that tests only read."""
    return app.add(mined, "The town library")


@pytest.fixture
def own_job(app: App, mined: Path) -> str:
    """The id of a finished job that the test may change."""
    return app.add(mined, "The town library, mine")


@pytest.fixture
def long_job(app: App, tmp_path: Path) -> str:
    """The id of a job with two long pages, on which one sentence stands after every 49 others."""
    folder, urls = JobFolder(tmp_path / "long"), (Url.parse("http://l.test/en"), Url.parse("http://l.test/fr"))
    folder.path.mkdir()
    folder.description.write_text('langs = ["en", "fr"]\nseeds = ["http://l.test/"]\n', "utf-8")
    texts = [
        ("All rights reserved.", "Tous droits réservés.") if n % 50 == 49 else (f"Sentence {n}.", f"Phrase {n}.")
        for n in range(450)
    ]
    segments = tuple(SegmentPair(*urls, Segment(a), Segment(b), 0.9) for a, b in texts)
    pair = PagePair(*urls, Language("en"), Language("fr"), 0.9, {"u": 0.5})
    ledger = Ledger(folder.ledger)
    keep_findings(Findings(ledger), "l.test", 1, [Aligned(pair, segments)])
    ledger.close()
    return app.add(folder.path, "Two long pages")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the session: while Playwright is open, asyncio takes its loop for one that runs in this thread."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser, app: App) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=app.base, **QUIET)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def watched(context: BrowserContext, app: App) -> Iterator[Watched]:
    """All that the tabs of this test ask for and say. Nothing may leave the app, and nothing may be said."""
    watched = Watched(context, app.base)
    yield watched
    assert watched.foreign == []
    assert watched.said == []


@pytest.fixture
def page(context: BrowserContext, watched: Watched) -> Page:
    return context.new_page()
