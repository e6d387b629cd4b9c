"""Whatever people do on a page, a program can do by the API: by the same rule, and with the same refusal."""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from kept_findings import Aligned, keep_findings
from starlette.routing import Route
from starlette.testclient import TestClient

from bitrawl.job.drawing import give_sample
from bitrawl.model import Language, PagePair, Segment, SegmentPair, pair_key, segment_key
from bitrawl.review import SampleRequest
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url
from bitrawl.web.api.operations import OPERATIONS, ROOT
from bitrawl.web.app import Serving, application, new_server

JOB = "0" * 32
TOKEN = "a token that nobody guesses"
URLS = Url.parse("http://s.test/en"), Url.parse("http://s.test/fr")
PAIR = pair_key(*URLS)
TEXTS = [("The old port", "Le vieux port"), ("The end", "La fin")]
FIRST, LAST = (segment_key(*texts) for texts in TEXTS)
GONE = "f" * 16
ROW = f"/pairs/{PAIR}/segments/{FIRST}"
AT_FIRST = {"key": FIRST, "start": "0", "part": "0"}


class Rule(NamedTuple):
    """One mistake, made on a page and by the API."""

    page: str  # below the job if it begins with a slash, otherwise of the server
    fields: dict[str, str]
    api: str  # a method and a path, as `page`
    body: object
    status: int


ABOUT_PAIR = {"kind": "pair", "key": PAIR}
RULES = [
    Rule("/verdicts", {"kind": "segment", "key": GONE, "within": PAIR, "verdict": "accept"}, "POST /verdicts", {"kind": "segment", "key": GONE, "within": PAIR, "verdict": "accept"}, 404),
    Rule("/verdicts", {"kind": "site", "key": PAIR, "verdict": "accept"}, "POST /verdicts", {"kind": "site", "key": PAIR, "verdict": "accept"}, 422),
    Rule("/verdicts", ABOUT_PAIR | {"verdict": "perhaps"}, "POST /verdicts", ABOUT_PAIR | {"verdict": "perhaps"}, 422),
    Rule("/verdicts", ABOUT_PAIR | {"verdict": "decide-accept"}, "POST /conflicts", ABOUT_PAIR | {"verdict": "accept"}, 409),
    Rule("/conflicts", ABOUT_PAIR | {"verdict": "accept"}, "POST /conflicts", ABOUT_PAIR | {"verdict": "accept"}, 409),
    Rule("/conflicts", ABOUT_PAIR | {"verdict": "undo"}, "POST /conflicts", ABOUT_PAIR | {"verdict": "undo"}, 422),
    Rule("/history", {"kind": "site", "key": PAIR}, "POST /verdicts", {"kind": "site", "key": PAIR, "verdict": "undo"}, 422),
    Rule("/segments/verdicts", {"verdict": "accept", "count": "99"}, "POST /verdicts/bulk", {"verdict": "accept", "filter": {}, "count": 99}, 409),
    Rule("/segments/verdicts", {"verdict": "perhaps", "count": "2"}, "POST /verdicts/bulk", {"verdict": "perhaps", "filter": {}}, 422),
    Rule("/segments/verdicts", {"verdict": "accept", "count": "2", "back": "state=strange"}, "POST /verdicts/bulk", {"verdict": "accept", "filter": {"state": "strange"}}, 422),
    Rule("/segments/undo", {}, "POST /verdicts/undo", None, 200),
    Rule(ROW, AT_FIRST | {"act": "save", "text_a": "One\nTwo", "text_b": "Un"}, f"POST /pairs/{PAIR}/edit", {"key": FIRST, "start": 0, "text_a": "One\nTwo", "text_b": "Un"}, 422),
    Rule(ROW, {"key": GONE, "start": "0", "part": "0", "act": "save", "text_a": "One", "text_b": "Un"}, f"POST /pairs/{PAIR}/edit", {"key": GONE, "start": 0, "text_a": "One", "text_b": "Un"}, 409),
    Rule(ROW, {"key": GONE, "start": "9", "part": "0", "act": "save", "text_a": "One", "text_b": "Un"}, f"POST /pairs/{PAIR}/edit", {"key": GONE, "start": 9, "text_a": "One", "text_b": "Un"}, 404),
    Rule(ROW, {"key": LAST, "start": "1", "part": "0", "act": "join"}, f"POST /pairs/{PAIR}/join", {"key": LAST, "start": 1}, 422),
    Rule(ROW, AT_FIRST | {"act": "restore"}, f"POST /pairs/{PAIR}/restore", {"key": FIRST, "start": 0}, 409),
    Rule(ROW, AT_FIRST | {"act": "comment", "text": " "}, f"POST /pairs/{PAIR}/comments", {"key": FIRST, "start": 0, "text": " "}, 422),
    Rule(ROW, AT_FIRST | {"act": "uncomment", "comment": "99"}, "DELETE /comments/99", None, 404),
    Rule(f"/pairs/{GONE}/segments/{FIRST}", AT_FIRST | {"act": "restore"}, f"POST /pairs/{GONE}/restore", {"key": FIRST}, 404),
    Rule("/samples", {"languages": "en", "size": "5", "people": "you"}, "POST /samples", {"languages": "en", "size": 5, "people": ["you"]}, 422),
    Rule("/samples", {"languages": "en-fr", "size": "0", "people": "you"}, "POST /samples", {"languages": "en-fr", "size": 0, "people": ["you"]}, 422),
    Rule("/samples/1/units/99", {"verdict": "accept"}, "POST /samples/1/verdicts", {"verdicts": {"99": "accept"}}, 404),
    Rule("/samples/1/units/1", {"verdict": "perhaps"}, "POST /samples/1/verdicts", {"verdicts": {"1": "perhaps"}}, 422),
    Rule("/samples/1/units/1", {"verdict": "accept"}, "POST /samples/1/verdicts", {"verdicts": {"1": "accept"}}, 409),
    Rule("/samples/1/finish", {}, "POST /samples/1/finish", None, 409),
    *(Rule(f"/samples/9/{action}", {}, api, None, 404) for action, api in (("finish", "POST /samples/9/finish"), ("end", "POST /samples/9/end"), ("remove", "DELETE /samples/9"))),
    Rule("/thresholds", {"keep": "1", "min_score": "2"}, "PUT /thresholds", {"min_score": 2}, 422),
    Rule("/thresholds", {"keep": "1", "min_score": "0.3", "version": "stale"}, "PUT /thresholds", {"min_score": 0.3, "version": "stale"}, 409),
    Rule("/compare", {"strategies": "adaptive"}, "POST /compare", {"strategies": ["adaptive"]}, 409),
    *(Rule(f"/{action}", {}, f"POST /{action}", None, 409) for action in ("pause", "resume", "refresh", "stop", "stop-now", "exhaustive")),
    Rule("/larger", {"pages": "2000"}, "POST /larger", {"pages": 2000}, 409),
    Rule("/larger", {"pages": "many"}, "POST /larger", {"pages": "many"}, 422),
    Rule("jobs", {"language_a": "en", "language_b": "fr", "seeds": "ftp://s.test/"}, "POST jobs", {"languages": ["en", "fr"], "seeds": ["ftp://s.test/"]}, 422),
    Rule("discover", {"language_a": "en", "seeds": "ftp://s.test/"}, "POST searches", {"languages": ["en"], "seeds": ["ftp://s.test/"]}, 422),
    Rule("topic", {"language_a": "en", "category": ""}, "POST topics", {"languages": ["en"], "category": ""}, 422),
    Rule("tools/align", {"language_a": "en", "text_a": "One."}, "POST tools/align", {"language_a": "en", "language_b": "", "text_a": "One.", "text_b": ""}, 422),
    Rule("tools/clean", {}, "POST tools/clean", {}, 422),
    Rule("tools/urls", {}, "POST tools/urls", {"urls": []}, 422),
]  # fmt: skip
DELETED = Rule("/delete", {}, "DELETE ", None, 200)
"""Not refused; it comes last."""
ONLY_PAGES = {
    "/login", "/logout",  # of browsers
    "/demo",  # of people who look round
    "/jobs/{id}/reviewers",
    "/jobs/{id}/files",  # an export by the API is always new
}  # fmt: skip


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A job of the command line, with a sample that somebody else judges."""
    folder = JobFolder(tmp_path_factory.mktemp("jobs") / JOB)
    folder.path.mkdir()
    folder.description.write_text('langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n')
    segments = tuple(SegmentPair(*URLS, Segment(a), Segment(b), 0.9) for a, b in TEXTS)
    pair = PagePair(*URLS, Language("en"), Language("fr"), 0.9, {"u": 0.5})
    with Ledger(folder.ledger) as ledger:
        keep_findings(Findings(ledger), "s.test", 2, [Aligned(pair, segments)])
    reading_index.refresh(folder.path)
    languages = Language("en"), Language("fr")
    give_sample(folder, SampleRequest(languages=languages, size=2, people=("ben",), by="ben"), 1.0)
    server = new_server(Serving(folder.path.parent, token=TOKEN))
    with TestClient(application(server, ["testserver"]), raise_server_exceptions=False) as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield client


def address(path: str) -> str:
    return f"/{path}" if path and not path.startswith("/") else f"/jobs/{JOB}{path}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.page} {rule.status} {rule.api}")
def test_a_page_and_the_api_refuse_the_same_for_the_same_reason(client: TestClient, rule: Rule):
    method, _, path = rule.api.partition(" ")
    page = client.post(address(rule.page), data=rule.fields)
    answer = client.request(method, ROOT + address(path), json=rule.body)
    assert (page.status_code, answer.status_code) == (rule.status, rule.status), answer.text
    if rule.status >= 400:
        error = answer.json()
        shown = html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page.text)))
        for why in error.get("fields", {}).values() or [error["error"]]:
            assert why in shown


def test_each_action_of_page_and_api_is_compared_here(client: TestClient):
    app = client.app
    routes = [route for route in app.routes if isinstance(route, Route)]  # type: ignore[attr-defined]
    pages = [route for route in routes if not route.path.startswith("/api/")]
    operations = [route for route in routes if route.path.startswith(ROOT)]
    acting = {"POST", "PUT", "DELETE"}

    def route_of(method: str, path: str, among: list[Route]) -> Route:
        return next(one for one in among if method in (one.methods or ()) and one.path_regex.match(path))

    rules = [*RULES, DELETED]
    used = {route_of("POST", address(rule.page), pages).path for rule in rules}
    assert {route.path for route in pages if acting & (route.methods or set())} - used == ONLY_PAGES
    asked = [(method, ROOT + address(path)) for rule in rules for method, _, path in [rule.api.partition(" ")]]
    compared = {(method, route_of(method, path, operations).path) for method, path in asked}
    assert compared == {(row.method, ROOT + row.path) for row in OPERATIONS if row.method in acting}
