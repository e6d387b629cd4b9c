"""The table of operations of the HTTP API, and what each answers."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from openapi_spec_validator import validate
from starlette.testclient import TestClient

from bitrawl.web import allowed
from bitrawl.web.api import shapes
from bitrawl.web.api.operations import OPERATIONS, ROOT, description
from bitrawl.web.app import Serving, application, new_server

TOKEN = "a token of the test"


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    """Nothing is started: the jobs of these tests wait."""
    server = new_server(Serving(tmp_path / "jobs", token=TOKEN))
    return TestClient(
        application(server, ["testserver"]),
        headers={"Authorization": f"Bearer {TOKEN}"},
        raise_server_exceptions=False,
        follow_redirects=False,
    )


def test_openapi_is_valid():
    validate(msgspec.json.decode(msgspec.json.encode(description())))


def test_every_operation_is_described_once(client: TestClient):
    found = client.get("/openapi.json").json()["paths"]
    assert {(path, method) for path, methods in found.items() for method in methods} == {
        (ROOT + one.path, one.method.lower()) for one in OPERATIONS
    }
    names = [operation["operationId"] for methods in found.values() for operation in methods.values()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("shape", "fields"),
    [
        (shapes.NewJob, allowed.MINING),
        (shapes.NewSearch, allowed.DISCOVERY),
        (shapes.NewTopic, allowed.BOOTSTRAP),
    ],
)
def test_what_is_described_is_what_is_allowed(shape, fields):
    assert {field.name for field in msgspec.structs.fields(shape)} == set(fields)


@pytest.mark.parametrize("one", [one for one in OPERATIONS if one.example], ids=lambda one: one.path)
def test_examples_are_of_their_shape(one):
    msgspec.json.decode(one.example, type=one.takes)


def test_a_job_is_started_listed_and_deleted(client: TestClient):
    made = client.post(f"{ROOT}/jobs", json={"seeds": ["www.example.org"], "languages": ["English", "français"]})
    assert made.status_code == 201
    job = made.json()
    assert re.fullmatch("[0-9a-f]{32}", job["id"])
    assert (job["state"], job["name"], job["kind"]) == ("waiting", "example.org", "mine")
    assert [one["id"] for one in client.get(f"{ROOT}/jobs").json()] == [job["id"]]
    shown = client.get(f"{ROOT}/jobs/{job['id']}").json()
    assert shown["figures"]["pages"] == 0
    written = client.get(f"{ROOT}/jobs/{job['id']}/job.toml").text
    assert 'langs = [\n    "en",\n    "fr",\n]' in written
    assert client.delete(f"{ROOT}/jobs/{job['id']}").status_code == 204
    assert client.get(f"{ROOT}/jobs").json() == []


@pytest.mark.parametrize(
    ("path", "body", "status", "named"),
    [
        ("/jobs", {"seeds": "www.example.org", "languages": "en", "bogus": 1}, 422, "bogus"),
        ("/jobs", {"seeds": "www.example.org", "languages": "en", "allow_private": True}, 422, "allow_private"),
        ("/jobs", {"seeds": "www.example.org", "languages": "en", "proxy": "http://x"}, 422, "proxy"),
        ("/jobs", {"seeds": "file:///etc/passwd", "languages": "en"}, 422, "seeds"),
        ("/jobs", {"seeds": "www.example.org", "languages": "en", "delay": 0.1}, 422, "delay"),
        ("/jobs", {"seeds": "www.example.org", "languages": "en", "pages": 10**9}, 422, "pages"),
        ("/jobs", {"languages": "en"}, 422, "seeds"),
        ("/tools/align", {"language_a": "en", "bogus": ""}, 422, "bogus"),
        ("/tools/clean", {"url": "file:///etc/passwd"}, 422, "file:///etc/passwd"),
        ("/tools/clean", {}, 422, "url"),
    ],
)
def test_a_mistake_names_its_key(client: TestClient, path: str, body: dict, status: int, named: str):
    answer = client.post(ROOT + path, json=body)
    assert (answer.status_code, named in answer.text) == (status, True), answer.text


def test_odd_requests(client: TestClient):
    assert client.post(f"{ROOT}/jobs", content="{", headers={"Content-Type": "application/json"}).status_code == 400
    assert client.post(f"{ROOT}/jobs", content="[]", headers={"Content-Type": "application/json"}).status_code == 422
    assert client.post(f"{ROOT}/jobs", data={"seeds": "x"}).status_code == 415
    assert client.get(f"{ROOT}/jobs?bogus=1").status_code == 422
    assert client.get(f"{ROOT}/jobs/..%2F..").status_code == 404
    assert client.get(f"{ROOT}/jobs/nothing").status_code == 404
    assert client.put(f"{ROOT}/jobs").status_code == 405


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("limit=501", "limit"),
        ("limit=0", "limit"),
        ("limit=many", "limit"),
        ("limit=-1", "limit"),
        ("limit=１", "limit"),
        ("offset=x", "offset"),
        ("offset=99999999999", "offset"),
        ("sort=bogus", "sort"),
        ("verdict=bogus", "verdict"),
        ("languages=bogus!", "languages"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_refused(client: TestClient, query: str, named: str):
    job = client.post(f"{ROOT}/jobs", json={"seeds": ["www.example.org"], "languages": ["en", "fr"]}).json()["id"]
    answer = client.get(f"{ROOT}/jobs/{job}/pairs?{query}")
    assert (answer.status_code, list(answer.json()["fields"])) == (422, [named])


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("/jobs", {"seeds": {"a": 1}, "languages": "en"}, "seeds: give a text or a list of texts"),
        ("/jobs", {"seeds": [1], "languages": "en"}, "seeds: give a text"),
        (
            "/jobs",
            {"seeds": "x.org", "languages": "en", "pages": [1]},
            "pages: give a single value, not a list or an object",
        ),
        ("/jobs", [], "The body must be an object, as in the example."),
        ("/tools/align", {"language_a": 1}, "language_a: give a text"),
        ("/tools/align", {"language_a": "en"}, "language_b: this is missing"),
        ("/tools/urls", {"urls": "www.example.org"}, "urls: give a list of texts"),
        ("/tools/urls", {"urls": [None]}, "urls: give a text"),
        ("/tools/clean", {"html": True}, "html: give a text"),
    ],
)
def test_a_wrong_type_is_told_in_a_sentence(client: TestClient, path: str, body: object, error: str):
    answer = client.post(ROOT + path, json=body)
    assert (answer.status_code, answer.json()["error"]) == (422, error)


def test_every_refusal_has_the_shape_of_an_error(client: TestClient):
    there = f"{ROOT}/jobs"
    answers = {
        401: client.get(there, headers={"Authorization": "Bearer wrong"}),
        403: client.post(there, json={}, headers={"Origin": "http://evil.example"}),
        404: client.get(f"{there}/nothing"),
        405: client.put(there),
        421: client.get(there, headers={"Host": "a" * 5000}),
    }
    answers[429] = [client.get(there, headers={"Authorization": "Bearer wrong"}) for _ in range(10)][-1]
    for status, answer in answers.items():
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
        assert list(answer.json()) == ["error"]
        assert len(answer.content) < 400
    assert 0 < int(answers[429].headers["Retry-After"]) <= 60


def test_a_token_is_needed(client: TestClient):
    for token in ("", "Bearer wrong", "Basic x"):
        answer = client.get(f"{ROOT}/jobs", headers={"Authorization": token})
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_wrong_tokens_are_slowed_down(client: TestClient):
    answers = [client.get(f"{ROOT}/jobs", headers={"Authorization": "Bearer wrong"}).status_code for _ in range(12)]
    assert answers == [401] * 10 + [429] * 2


def test_the_page_of_examples_has_all(client: TestClient):
    page = client.get("/api").text
    assert page.count("<pre") == len(OPERATIONS) + 1
    assert "curl -H" in page


@pytest.fixture(autouse=True)
def _no_cookies(client: TestClient) -> Iterator[None]:
    yield
    assert not client.cookies
