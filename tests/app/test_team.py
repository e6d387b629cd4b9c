"""Several people in front of the same corpus, each with a browser: they differ, somebody resolves it, and they judge a sample."""

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from app.app import App
from app.test_pages import check
from app.watched import QUIET
from kept_findings import Aligned, keep_findings
from playwright.sync_api import Browser, Page, expect

from bitrawl.model import Language, PagePair, Segment, SegmentPair
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url

PATIENCE = 60_000.0
TEXTS = [
    ("The museum opens at nine.", "Le musée ouvre à neuf heures."),
    ("The ferry leaves twice a day.", "Le bac part deux fois par jour."),
    ("Bring warm clothes.", "Apportez des vêtements chauds."),
    ("Dogs are welcome.", "Les chiens sont les bienvenus."),
    ("The old port is a ruin.", "Le vieux port est une ruine."),
    ("Tickets are cheap in winter.", "Les billets sont bon marché en hiver."),
]

Login = Callable[[str], Page]


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """An app with users, whose tokens are their names."""
    names = ("anna", "ben", "carla")
    users = "".join(f'[users.{name}]\ntoken_sha256 = "{sha256(name.encode()).hexdigest()}"\n' for name in names)
    app = App(tmp_path_factory.mktemp("shared"), 1, users)
    yield app
    app.end()


@pytest.fixture
def shared_job(shared_app: App, tmp_path: Path) -> str:
    """The address of a job of anna's, with three page pairs."""
    folder = JobFolder(tmp_path / "job")
    folder.path.mkdir()
    folder.description.write_text('langs = ["en", "fr"]\nseeds = ["http://t.test/"]\n', "utf-8")
    aligned = []
    for number in range(3):
        urls = Url.parse(f"http://t.test/en/{number}"), Url.parse(f"http://t.test/fr/{number}")
        texts = TEXTS[2 * number : 2 * number + 2]
        segments = tuple(SegmentPair(*urls, Segment(a), Segment(b), 0.75 + number / 10) for a, b in texts)
        pair = PagePair(*urls, Language("en"), Language("fr"), 0.7 + number / 10, {"u": 0.5})
        aligned.append(Aligned(pair, segments))
    with Ledger(folder.ledger) as ledger:
        keep_findings(Findings(ledger), "t.test", 6, aligned)
    reading_index.refresh(folder.path)
    return shared_app.address(shared_app.add(folder.path, "Three page pairs", "anna"))


@pytest.fixture
def login(browser: Browser, shared_app: App) -> Iterator[Login]:
    contexts = []

    def page_of(name: str) -> Page:
        context = browser.new_context(base_url=shared_app.base, **QUIET)
        context.set_default_timeout(PATIENCE)
        context.on("dialog", lambda dialog: dialog.accept())
        contexts.append(context)
        page = context.new_page()
        page.goto("/login")
        page.get_by_label("Token").fill(name)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("button", name=f"Log out {name}")).to_be_visible()
        return page

    yield page_of
    for context in contexts:
        context.close()


def test_two_differ_a_conflict_shows_and_a_third_resolves_it(login: Login, shared_job: str):
    anna, ben, carla = login("anna"), login("ben"), login("carla")
    anna.goto(f"{shared_job}/progress")
    for name in ("ben", "carla"):
        anna.get_by_label(name).check()
    anna.get_by_role("button", name="Save").click()
    expect(anna.get_by_label("carla")).to_be_checked()
    for page in (anna, ben):
        page.goto(f"{shared_job}/review")
        expect(page.locator(".queue")).to_contain_text("0 of 3 judged")
    there = anna.url
    assert ben.url == there
    anna.keyboard.press("Shift+R")
    expect(anna.locator(".queue")).to_contain_text("1 of 3 judged")
    ben.keyboard.press("Shift+A")  # as he has the page before him, nobody has judged it
    told = ben.get_by_role("alert")
    expect(told).to_contain_text("anna: rejected")
    expect(told).to_contain_text("your verdict was not stored")
    expect(ben.get_by_role("button", name="Yes")).to_have_attribute("aria-pressed", "false")
    check(ben)
    ben.keyboard.press("Shift+A")
    expect(ben).not_to_have_url(re.compile("meanwhile"))
    carla.goto(f"{shared_job}/download")
    expect(carla.get_by_role("status")).to_contain_text("People differ on 1 thing.")
    carla.goto(shared_job)
    carla.get_by_role("link", name="Resolve conflicts").click()
    conflict = carla.get_by_role("article", name="Conflict")
    expect(conflict).to_contain_text("anna: rejected")
    expect(conflict).to_contain_text("ben: accepted")
    check(carla)
    conflict.get_by_role("button", name="Reject it").click()
    expect(carla.get_by_role("status")).to_have_text("People differ on 0 things.")
    anna.goto(f"{shared_job}/pairs?verdict=reject")
    expect(anna.locator(".pairs tbody tr")).to_have_count(1)
    carla.goto(f"{shared_job}/history?by=carla")
    expect(carla.get_by_role("article")).to_contain_text("resolved a conflict")
    check(carla)
    carla.get_by_role("button", name="Take back").click()
    expect(carla.get_by_role("article")).to_contain_text("taken back")
    expect(carla.get_by_role("link", name="Conflicts (1)")).to_be_visible()
    anna.goto(f"{shared_job}/progress")
    expect(anna.locator(".tiles")).to_contain_text("page pairs judged, 2 left")
    check(anna)


def judge(page: Page, keys: str) -> None:
    """Press these keys, one for each unit."""
    for key in keys:
        address = page.url
        page.keyboard.press(key)
        expect(page).not_to_have_url(address)
        page.wait_for_load_state()


@pytest.fixture
def anna(login: Login, shared_job: str) -> Page:
    """She has drawn a sample of six units for herself and ben."""
    page = login("anna")
    page.goto(f"{shared_job}/review")
    page.get_by_role("link", name="Samples").click()
    page.get_by_label("Units").fill("6")
    page.get_by_label("Name").fill("First look")
    page.get_by_label("ben").check()
    page.get_by_role("button", name="Draw the sample").click()
    expect(page.get_by_role("link", name="First look")).to_be_visible()  # the page loads again when it is drawn
    return page


def test_a_sample_is_judged_by_key_and_by_thumb_and_goes_on_where_one_was(login: Login, anna: Page, shared_job: str):
    check(anna)
    ben = login("ben")
    ben.goto(shared_job)
    expect(ben.locator(".tiles")).to_be_visible()
    expect(ben.get_by_role("button", name="Delete")).to_have_count(0)
    ben.goto(f"{shared_job}/samples")
    expect(ben.get_by_role("link", name="Samples (1)")).to_be_visible()
    ben.get_by_role("link", name="Judge it").click()
    expect(ben.locator(".queue")).to_contain_text("6 left")
    ben.keyboard.press("s")
    expect(ben.locator(".around p").first).to_be_visible()
    judge(ben, "ar")
    ben.keyboard.press("b")
    expect(ben.get_by_role("button", name="No")).to_have_attribute("aria-pressed", "true")
    ben.keyboard.press("u")
    expect(ben.get_by_role("button", name="No")).to_have_attribute("aria-pressed", "false")
    expect(ben.locator(".queue")).to_contain_text("5 left")
    ben.goto(f"{shared_job}/samples")
    ben.get_by_role("link", name="Go on judging").click()
    expect(ben).to_have_url(re.compile("/units/2$"))
    ben.set_viewport_size({"width": 360, "height": 640})
    boxes = [ben.get_by_role("button", name=name).bounding_box() for name in ("Yes", "No")]
    for box in boxes:  # where the thumb is, and large enough for it
        assert box is not None
        assert box["y"] > 320
        assert box["height"] >= 40
    box = ben.locator(".unit").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 480  # the texts are in sight
    ben.get_by_role("button", name="No").click()
    expect(ben).to_have_url(re.compile("/units/3$"))
    check(ben)


def test_a_sample_for_two_is_blind_until_both_have_finished_and_then_shows_kappa(
    login: Login, anna: Page, shared_job: str
):
    ben = login("ben")
    ben.goto(f"{shared_job}/samples/1/next")
    first = ben.locator(".unit").inner_text()
    judge(ben, "araaar")
    expect(ben.get_by_role("status")).to_contain_text("You have judged all units.")
    ben.get_by_role("button", name="I have finished").click()
    expect(ben.locator(".people")).to_contain_text("ben: 6 of 6 judged finished")
    expect(ben.get_by_role("heading", name="Precision")).to_have_count(0)
    anna.goto(f"{shared_job}/samples/1/next")
    assert anna.locator(".unit").inner_text() == first
    main = anna.locator("main").inner_text()
    assert "ben" not in main
    assert "0.7" not in main
    judge(anna, "araaaa")
    check(anna)
    anna.get_by_role("button", name="I have finished").click()
    expect(anna.get_by_role("heading", name="Precision")).to_be_visible()
    expect(anna.locator(".agreement")).to_contain_text("5 of 6 units the same (83%) · kappa 0.57")
    expect(anna.locator(".agreement")).to_contain_text("6 units are few")
    expect(anna.locator(".lead")).to_have_text(re.compile(r"0\.67 \(0\.\d\d–0\.\d\d\), from 6 judged units"))
    expect(anna.locator(".differences .segment")).to_have_count(1)
    check(anna)
