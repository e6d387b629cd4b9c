"""What a request may cost: bodies are bounded while they are read, people take turns, and errors repeat little."""

import asyncio
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from bitrawl.choices import MEGABYTE
from bitrawl.web.app import Serving, application, new_server
from bitrawl.web.security import MOST_BODY, SMALL_BODY
from bitrawl.web.turns import Turns

CHUNK = 64 << 10
NEW_JOB = {"seeds": ["www.example.org"], "languages": ["en", "fr"]}


@pytest.fixture
def app(tmp_path: Path):
    return application(new_server(Serving(tmp_path / "jobs")), ["testserver"])


@pytest.fixture
def client(app) -> TestClient:
    return TestClient(app, raise_server_exceptions=False, follow_redirects=False)


class EndlessBody:
    """A client that never says how long its body is, and counts how much of it is taken."""

    def __init__(self, beginning: bytes = b'{"terms": "') -> None:
        self._chunk = beginning
        self.taken = 0

    async def receive(self) -> dict[str, object]:
        await asyncio.sleep(0)
        chunk, self._chunk = self._chunk, b"a" * CHUNK
        self.taken += len(chunk)
        return {"type": "http.request", "body": chunk, "more_body": True}


async def answer_to(app, body: EndlessBody, path: str = "/api/v1/jobs", kind: str = "application/json") -> int:
    statuses = []

    async def send(event: dict[str, object]) -> None:
        if event["type"] == "http.response.start":
            statuses.append(event["status"])

    headers = [(b"host", b"testserver"), (b"content-type", kind.encode())]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("testserver", 80),
    }
    await app(scope, body.receive, send)
    return statuses[0]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/v1/jobs", "application/json"),
        ("/api/v1/tools/align", "application/json"),
        ("/tools/align", "application/x-www-form-urlencoded"),
        ("/login", "application/x-www-form-urlencoded"),
    ],
)
async def test_a_body_without_a_length_is_refused_before_much_of_it_is_read(app, path: str, kind: str):
    body = EndlessBody()
    assert await answer_to(app, body, path, kind) in (400, 413)
    assert body.taken <= MOST_BODY + CHUNK


async def test_what_is_typed_into_a_form_with_files_is_bounded_too(app):
    part = b'--x\r\nContent-Disposition: form-data; name="terms"\r\n\r\n'
    body = EndlessBody(part)
    assert await answer_to(app, body, "/jobs", "multipart/form-data; boundary=x") in (400, 413)
    assert body.taken <= MOST_BODY + 2 * CHUNK


async def test_fifty_endless_bodies_are_never_in_memory_together(app):
    bodies = [EndlessBody() for _ in range(50)]
    calls = [asyncio.create_task(answer_to(app, body)) for body in bodies]
    largest = 0
    while not all(call.done() for call in calls):
        await asyncio.sleep(0)
        largest = max(largest, sum(body.taken for body, call in zip(bodies, calls, strict=True) if not call.done()))
    assert {call.result() for call in calls} == {413}
    assert largest <= 50 * (SMALL_BODY + CHUNK) + MOST_BODY + CHUNK


def test_a_length_that_is_too_large_is_refused_at_once(client: TestClient):
    headers = {"Content-Type": "application/json", "Content-Length": str(MOST_BODY + 1)}
    answer = client.post("/api/v1/jobs", content=b"{}", headers=headers)
    assert answer.status_code == 413
    assert answer.json() == {"error": f"That is more than {MOST_BODY // MEGABYTE} MB."}


LONG = "a" * 300_000


@pytest.mark.parametrize(
    "body",
    [
        {**NEW_JOB, "terms": LONG},
        {**NEW_JOB, "terms": LONG.replace("aa", "a ")},
        {**NEW_JOB, "name": LONG},
        {**NEW_JOB, "contact": LONG},
        {**NEW_JOB, "seeds": [LONG]},
        {**NEW_JOB, "seeds": [f"ftp://{'a' * 1900}"]},
        {**NEW_JOB, "languages": [LONG]},
        {**NEW_JOB, "languages": ["a" * 1900]},
        {**NEW_JOB, "under": [LONG]},
        {**NEW_JOB, "include": ["a" * 1900]},
        {**NEW_JOB, "formats": LONG},
        {**NEW_JOB, "strategy": LONG},
        {**NEW_JOB, "pages": LONG},
        {**NEW_JOB, LONG: 1},
        {**NEW_JOB, **{f"k{n}": n for n in range(10_000)}},
        {"seeds": ["www.example.org"], "languages": [f"language {n}" for n in range(100)]},
    ],
    ids=lambda body: ",".join(body)[:40],
)
def test_an_error_repeats_at_most_200_characters(client: TestClient, body: dict[str, object]):
    answer = client.post("/api/v1/jobs", json=body)
    assert answer.status_code == 422, answer.text[:1000]
    assert "a" * 201 not in answer.text
    assert len(answer.content) < 2000


@pytest.mark.parametrize("path", ["/api/v1/tools/align", "/api/v1/tools/clean", "/api/v1/tools/urls"])
def test_each_text_of_a_tool_has_a_bound(client: TestClient, path: str):
    long = "a" * 1_000_001
    body = {
        "align": {"language_a": "en", "language_b": "fr", "text_a": long, "text_b": "b"},
        "clean": {"html": long},
        "urls": {"urls": [long]},
    }[path.rpartition("/")[2]]
    answer = client.post(path, json=body)
    assert answer.status_code == 422
    assert "give at most" in answer.json()["error"]
    assert len(answer.content) < 500


def test_a_text_of_the_form_is_refused_and_not_cut(client: TestClient):
    page = client.get("/tools/align").text
    secret = page.split('name="csrf" value="')[1].split('"')[0]
    given = {"csrf": secret, "language_a": "en", "language_b": "fr", "text_a": "a" * 1_000_001, "text_b": "b"}
    answer = client.post("/tools/align", data=given)
    assert answer.status_code == 422
    assert "give at most 1000000 characters" in answer.text
    assert len(answer.content) < 100_000


def test_files_that_are_read_are_bounded_together(client: TestClient):
    secret = client.get("/").text.split('name="csrf" value="')[1].split('"')[0]
    files = [("texts", (f"{n}.txt", b"a" * 5 * MEGABYTE)) for n in range(2)]
    assert client.post("/jobs", data={"csrf": secret}, files=files).status_code == 413


def test_a_json_list_of_lists_is_refused_before_it_is_built(client: TestClient):
    answer = client.post(
        "/api/v1/jobs", content=json.dumps({"seeds": [[]] * 1000}), headers={"Content-Type": "application/json"}
    )
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["seeds"])


async def order_of(turns: Turns, *waits: tuple[str, str, bool]) -> list[str]:
    """In which order work is placed that arrives, in this order, while another has all places."""
    placed: list[str] = []
    first = asyncio.Event()

    async def work(person: str, name: str, *, is_long: bool) -> None:
        async with turns.turn(person, is_long=is_long):
            placed.append(name)
            await (first.wait() if name == "first" else asyncio.sleep(0))

    tasks = [asyncio.create_task(work("somebody", "first", is_long=False))]
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(work(person, name, is_long=is_long)) for person, name, is_long in waits]
    await asyncio.sleep(0)
    first.set()
    await asyncio.gather(*tasks)
    return placed[1:]


async def test_people_take_turns_however_much_one_of_them_asks_for():
    waits = [*(("anna", f"a{n}", False) for n in range(3)), ("ben", "b0", False), ("ben", "b1", False)]
    assert await order_of(Turns(1), *waits) == ["a0", "b0", "a1", "b1", "a2"]


async def test_of_one_person_the_short_work_comes_first():
    assert await order_of(Turns(1), ("anna", "long", True), ("anna", "short", False)) == ["short", "long"]


async def test_long_work_leaves_a_place_for_short_work():
    turns = Turns(2, most_long=1)

    async def work(*, is_long: bool) -> None:
        async with turns.turn("ben", is_long=is_long):
            pass

    async with turns.turn("anna", is_long=True):
        long = asyncio.create_task(work(is_long=True))
        await asyncio.wait_for(work(is_long=False), 60)
        assert not long.done()
    await long


async def test_who_gives_up_leaves_the_place_to_others():
    turns = Turns(1)

    async def work() -> None:
        async with turns.turn("ben"):
            pass

    async with turns.turn("anna"):
        waiting = asyncio.create_task(work())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await asyncio.wait_for(work(), 60)
