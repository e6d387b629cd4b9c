"""What the web app answers to requests that no browser of its own pages would send, and to parts of a download."""

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from kept_findings import Aligned, keep_findings
from prose_site import keep
from small_site import articles
from starlette.testclient import TestClient
from typer.testing import CliRunner

from bitrawl.cli import app as cli
from bitrawl.corpus import formats
from bitrawl.endings import CrawlEnd, EndKind
from bitrawl.model import PagePair, Segment, SegmentPair
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.web.allowed import AlignRequest
from bitrawl.web.app import Serving, application, new_server
from bitrawl.web.commands import CommandRunner
from bitrawl.web.job_list import Command, Intent, JobVerb, ServedJob, Wish, write_intent
from bitrawl.web.security import host_names
from bitrawl.web.supervisor import arguments

BASE = "http://127.0.0.1"
JOB = "0" * 32
SECRET = 'contact = "corpora@example.org"\nproxy = "http://user:hush@127.0.0.1:1"\n'
USERS = "".join(f'[users.{name}]\ntoken_sha256 = "{sha256(name.encode()).hexdigest()}"\n' for name in ("anna", "ben"))
VIEWS = (
    "",
    "/live",
    "/pairs",
    "/pairs/0123456789abcdef",
    "/search",
    "/terms",
    "/terms.tsv",
    "/download",
    "/export",
    "/files/README.md",
    "/job.toml",
    "/report",
    "/compare",
    "/index",
)
ACTIONS = ("pause", "stop", "stop-now", "resume", "refresh", "exhaustive", "delete", "verdicts", "compare")


def mined(folder: Path, owner: str) -> None:
    """A finished job of the app, with segments that were never crawled."""
    folder.mkdir(parents=True)
    pages, _ = articles(2, "http://s.test/en/{}", "http://s.test/fr/{}")
    keep(folder, pages)
    ledger = Ledger(folder / "job.sqlite")
    found = []
    for english, french in zip(pages[::2], pages[1::2], strict=True):
        texts = zip(english.paragraphs, french.paragraphs, strict=True)
        segments = tuple(
            SegmentPair(english.url, french.url, Segment(a.text), Segment(b.text), 0.9) for a, b in list(texts)
        )
        pair = PagePair(english.url, french.url, english.language, french.language, 0.9, {"u": 0.9})
        found.append(Aligned(pair, segments))
    keep_findings(Findings(ledger), "s.test", len(pages), found)
    ledger.remember("ended", CrawlEnd(kind=EndKind.DONE))
    ledger.close()
    write_intent(
        folder,
        Intent(owner=owner, created=1.0, command=Command(JobVerb.MINE), wish=Wish.RUNNING, name="Ours", exit=0),
    )


def client_of(folder: Path, settings: str = "") -> TestClient:
    (folder / "serve.toml").write_text(settings, "utf-8")
    server = new_server(Serving(folder / "jobs", settings=folder / "serve.toml"))
    app = application(server, host_names("127.0.0.1", ("corpora.example.org",)))
    return TestClient(app, BASE, follow_redirects=False)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """Of an app with one user, who needs no token, and a finished job."""
    mined(tmp_path / "jobs" / JOB, "you")
    with client_of(tmp_path, f"[job.fetch]\n{SECRET}") as client:
        yield client


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[TestClient]:
    """Of an app with users, whose tokens are their names. The job is Ben's."""
    mined(tmp_path / "jobs" / JOB, "ben")
    with client_of(tmp_path, USERS) as client:
        yield client


def csrf(client: TestClient, path: str = "/") -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(path).text)
    assert found is not None
    return found[1]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


FORMS = ("/jobs", "/discover", "/topic", "/tools/align", "/logout", *(f"/jobs/{JOB}/{one}" for one in ACTIONS))


@pytest.mark.parametrize("path", FORMS)
def test_a_form_without_the_secret_of_its_page_is_refused(client: TestClient, path: str, tmp_path: Path):
    secret = csrf(client)
    for given in ({}, {"csrf": ""}, {"csrf": secret[:-1]}, {"csrf": "0" * 40}):
        assert client.post(path, data=given).status_code == 403
    client.cookies.clear()
    assert client.post(path, data={"csrf": secret}).status_code == 403  # it belongs to another session
    assert (tmp_path / "jobs" / JOB).exists()


def test_a_form_with_the_secret_is_taken(client: TestClient, tmp_path: Path):
    assert client.post(f"/jobs/{JOB}/delete", data={"csrf": csrf(client)}).status_code == 303
    assert not (tmp_path / "jobs" / JOB).exists()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:81"},
        {"Origin": "https://127.0.0.1.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_request_of_another_site_is_refused(client: TestClient, headers: dict[str, str]):
    assert client.post(f"/jobs/{JOB}/delete", data={"csrf": csrf(client)}, headers=headers).status_code == 403
    assert client.post("/login", data={"token": "x"}, headers=headers).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[::2]"])
def test_another_host_name_is_refused(client: TestClient, host: str):
    for path in ("/", "/health", "/static/app.js", "/api/jobs"):
        assert client.get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "LocalHost:8000", "[::1]:8000", "corpora.example.org", "Corpora.Example.ORG"]
)
def test_its_own_host_names_are_taken(client: TestClient, host: str):
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("path", ["/", f"/jobs/{JOB}", f"/jobs/{JOB}/export", "/api/jobs", "/discover"])
def test_a_wrong_token_is_401(guarded: TestClient, path: str):
    for token in ("nobody", "", "anna ben", sha256(b"anna").hexdigest()):
        assert guarded.get(path, headers=bearer(token)).status_code in (401, 429)
    assert guarded.get("/", headers=bearer("anna")).status_code == 200


def test_without_a_token_pages_ask_for_one_and_nothing_is_done(guarded: TestClient, tmp_path: Path):
    answer = guarded.get(f"/jobs/{JOB}/pairs?text=a")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/login?next=/jobs/{JOB}/pairs%3Ftext%3Da")
    assert guarded.post(f"/jobs/{JOB}/delete").status_code == 401
    assert guarded.get("/api/jobs").status_code == 401
    assert (tmp_path / "jobs" / JOB).exists()


def test_a_wrong_token_in_the_form_is_401_and_nobody_can_guess_for_long(guarded: TestClient):
    answers = [guarded.post("/login", data={"token": f"guess{n}", "next": "/"}).status_code for n in range(12)]
    assert answers[:10] == [401] * 10
    assert set(answers[10:]) == {429}


@pytest.mark.parametrize("there", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_a_login_leads_nowhere_else(guarded: TestClient, there: str):
    answer = guarded.post("/login", data={"token": "anna", "next": there})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie  # a link from another site finds its reader logged in


@pytest.mark.parametrize("view", VIEWS)
def test_the_job_of_another_user_is_not_there(guarded: TestClient, view: str):
    assert guarded.get(f"/jobs/{JOB}{view}", headers=bearer("anna")).status_code == 404


def test_the_owner_sees_the_job(guarded: TestClient):
    assert guarded.get(f"/jobs/{JOB}", headers=bearer("ben")).status_code == 200
    assert "Ours" in guarded.get("/", headers=bearer("ben")).text
    assert "Ours" not in guarded.get("/", headers=bearer("anna")).text
    assert guarded.get(f"/?repeat={JOB}", headers=bearer("anna")).status_code == 404


@pytest.mark.parametrize("action", ACTIONS)
def test_nobody_changes_the_job_of_another_user(guarded: TestClient, action: str, tmp_path: Path):
    before = (tmp_path / "jobs" / JOB / "intent.json").read_bytes()
    given = {"kind": "pair", "key": "0123456789abcdef", "verdict": "accept"}
    assert guarded.post(f"/jobs/{JOB}/{action}", data=given, headers=bearer("anna")).status_code == 404
    assert (tmp_path / "jobs" / JOB / "intent.json").read_bytes() == before


@pytest.mark.parametrize(
    "job", ["%2e%2e", "%2e", ".secret", ".exports", "..%2f..%2fetc", f"{JOB}%2f..%2f{JOB}", "%00", "a" * 5000]
)
def test_an_id_is_never_a_path(client: TestClient, job: str):
    for view in ("/live", "/job.toml", "/files/job.toml", "/report"):
        assert client.get(f"/jobs/{job}{view}").status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "..%2fjob.toml",
        "%2e%2e%2fjob.sqlite",
        "..%5cjob.toml",
        "%2fetc%2fpasswd",
        "..%252fjob.toml",
        "job.toml",
        "intent.json",
        "%2e%2e",
        "%00",
    ],
)
def test_a_file_name_is_never_a_path(client: TestClient, name: str, tmp_path: Path):
    (tmp_path / "jobs" / JOB / "corpus").mkdir(exist_ok=True)
    (tmp_path / "jobs" / JOB / "corpus" / "en-fr.tmx").write_text("<tmx/>")
    assert client.get(f"/jobs/{JOB}/files/en-fr.tmx").text == "<tmx/>"
    assert client.get(f"/jobs/{JOB}/files/{name}").status_code == 404
    assert client.get(f"/static/{name}").status_code == 404


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("allow_private", "true", "only the operator"),
        ("proxy", "http://127.0.0.1", "only the operator"),
        ("fetch.connect_to", "x", "only the operator"),
        ("seed", "http://x.org/", "did you mean"),
        ("delay", "0", "between"),
        ("include", "(a+)+$", "begin"),
        ("pages", "999999999", "at most"),
        ("<b>", "1", "there is no setting"),
    ],
)
def test_a_key_that_users_may_not_give_is_named(client: TestClient, key: str, value: str, says: str, tmp_path: Path):
    form = {"csrf": csrf(client), "seeds": "http://x.test/", "language_a": "en", "language_b": "fr", key: value}
    answer = client.post("/jobs", data=form)
    assert answer.status_code == 422
    assert says in answer.text
    assert "<b>" not in answer.text.replace("&lt;b&gt;", "")
    assert [path.name for path in (tmp_path / "jobs").iterdir() if not path.name.startswith(".")] == [JOB]


def test_logging_out_ends_the_session_on_the_server(guarded: TestClient):
    cookie = guarded.post("/login", data={"token": "anna"}).headers["set-cookie"].partition(";")[0]
    assert guarded.get("/discover").status_code == 200
    assert guarded.post("/logout", data={"csrf": csrf(guarded)}).status_code == 303
    guarded.cookies.clear()
    assert guarded.get("/discover", headers={"Cookie": cookie}).status_code == 303


def test_without_tokens_a_link_from_another_site_keeps_the_session(client: TestClient):
    secret = csrf(client)
    answer = client.get("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
    assert "set-cookie" not in answer.headers
    assert client.post(f"/jobs/{JOB}/delete", data={"csrf": secret}).status_code == 303


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/openapi.json", f"/jobs/{JOB}", "/api/v1/jobs"])
def test_answers_are_packed_for_those_who_can_unpack_them(client: TestClient, path: str):
    packed = client.get(path, headers={"Accept-Encoding": "gzip"})
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    if len(plain.content) >= 1000:
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < len(plain.content) / 2
    from_elsewhere = client.get(path, headers={"Accept-Encoding": "gzip", "Sec-Fetch-Site": "cross-site"})
    assert "content-encoding" not in from_elsewhere.headers


def test_two_halves_of_a_download_equal_the_whole(client: TestClient):
    path = f"/jobs/{JOB}/export?format=tmx&languages=en-fr"
    whole = client.get(path)
    assert whole.status_code == 200
    assert whole.content.count(b"<tu") > 3
    assert "content-encoding" not in whole.headers
    middle = len(whole.content) // 2
    first = client.get(path, headers={"Range": f"bytes=0-{middle - 1}"})
    second = client.get(path, headers={"Range": f"bytes={middle}-", "If-Range": whole.headers["etag"]})
    assert (first.status_code, second.status_code) == (206, 206)
    assert first.content + second.content == whole.content
    assert first.headers["etag"] == second.headers["etag"] == whole.headers["etag"]


def test_languages_for_which_nothing_was_found_are_not_offered_and_said_to_have_nothing(
    client: TestClient, tmp_path: Path
):
    path = tmp_path / "jobs" / JOB / "job.toml"
    path.write_text(re.sub(r"langs = \[[^\]]*\]", 'langs = ["en", "de", "fr"]', path.read_text("utf-8")), "utf-8")
    page = client.get(f"/jobs/{JOB}/download").text
    assert 'value="en-fr"' in page
    assert 'value="en-de"' not in page
    assert client.get(f"/jobs/{JOB}/export?format=tmx").status_code == 200  # of the languages that have something
    answer = client.get(f"/jobs/{JOB}/export?format=tmx&languages=en-de")
    assert answer.status_code == 404
    assert "Nothing was found in these languages." in answer.text


def test_what_a_tool_does_waits_with_the_work_of_its_person(guarded: TestClient, monkeypatch: pytest.MonkeyPatch):
    calls = []

    async def run(_runner: CommandRunner, _command: list[str], *, person: str) -> str:
        calls.append(person)
        return ""

    monkeypatch.setattr(CommandRunner, "run", run)
    body = {"language_a": "en", "language_b": "fr", "text_a": "a", "text_b": "b"}
    assert guarded.post("/api/v1/tools/align", json=body, headers=bearer("anna")).status_code == 200
    assert calls == ["anna"]


def test_a_zip_file_is_named_after_its_format(client: TestClient):
    answer = client.get(f"/jobs/{JOB}/export?format=moses&languages=en-fr")
    assert 'filename="Ours.en-fr.moses.zip"' in answer.headers["content-disposition"]


def test_a_format_whose_package_is_missing_is_not_offered(client: TestClient, monkeypatch: pytest.MonkeyPatch):
    assert 'value="parquet"' in client.get(f"/jobs/{JOB}/download").text
    monkeypatch.setattr(formats, "find_spec", lambda name: None if name == "pyarrow" else name)
    assert 'value="parquet"' not in client.get(f"/jobs/{JOB}/download").text
    answer = client.get(f"/api/v1/jobs/{JOB}/export?format=parquet")
    assert (answer.status_code, "choose one of" in answer.json()["error"]) == (422, True)


def test_a_job_file_tells_no_secret_of_the_operator(client: TestClient):
    text = client.get(f"/jobs/{JOB}/job.toml").text
    assert "http://s.test/" in text
    assert "hush" not in text


def test_every_answer_carries_the_headers_of_a_strict_page(client: TestClient):
    for path in ("/", f"/jobs/{JOB}", f"/jobs/{JOB}/nothing", "/static/app.js", "/static/none", "/health"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_what_has_not_changed_is_not_sent_again(client: TestClient):
    first = client.get(f"/jobs/{JOB}/live")
    assert first.status_code == 200
    versions = ", ".join(re.findall(r'data-version=("[^"]+")', first.text))
    again = client.get(f"/jobs/{JOB}/live", headers={"If-None-Match": versions})
    assert (again.status_code, again.content) == (304, b"")


def test_too_many_requests_of_one_user_are_refused_and_others_go_on(tmp_path: Path):
    with client_of(tmp_path, f"[limits]\nrequests = 5\n{USERS}") as client:
        answers = [client.get("/discover", headers=bearer("anna")).status_code for _ in range(7)]
        assert answers == [200] * 5 + [429] * 2
        assert client.get("/discover", headers=bearer("ben")).status_code == 200


@pytest.mark.parametrize("ready", [False, True])
def test_a_page_that_waits_for_the_index_is_loaded_again_when_it_is_ready(
    client: TestClient, tmp_path: Path, *, ready: bool
):
    if ready:
        reading_index.refresh(tmp_path / "jobs" / JOB)
    answer = client.get(f"/jobs/{JOB}/index")
    assert (answer.status_code, answer.content) == (205 if ready else 304, b"")


def test_a_phrase_is_never_syntax(client: TestClient):
    odd = ('"', "a AND", "NEAR(", "* OR x", "title:x", "%_", "<b>", "\\", "'; DROP TABLE pairs", "\0", "a" * 5000)
    for phrase in odd:
        answer = client.get(f"/jobs/{JOB}/search", params={"q": phrase})
        assert answer.status_code == 200
        assert "<b>" not in answer.text


def test_a_page_that_is_not_there_is_404_also_where_a_form_could_be_sent(client: TestClient):
    for path in ("/nothing", f"/jobs/{JOB}/nothing", f"/jobs/{JOB}/delete", "/logout", "/jobs"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "There is no such page" in answer.text


def test_an_alignment_of_long_texts_is_a_job(tmp_path: Path):
    client = client_of(tmp_path)  # without its life, nothing is started: the jobs wait
    texts = {"text_a": "The river is long.\n" * 6000, "text_b": "La rivière est longue.\n"}
    form = {"csrf": csrf(client), "language_a": "en", "language_b": "fr", **texts}
    page = client.post("/tools/align", data=form)
    assert page.status_code == 303
    body = {"language_a": "en", "language_b": "fr", **texts}
    job_id = client.post("/api/v1/tools/align", json=body).json()["job"]
    assert page.headers["location"].removeprefix("/jobs/") != job_id
    jobs = {job["id"]: job for job in client.get("/api/v1/jobs").json()}
    assert (jobs[job_id]["kind"], jobs[job_id]["name"]) == ("align", "en – fr")
    assert client.get(f"/api/v1/jobs/{job_id}/aligned").status_code == 404
    assert client.get("/").status_code == client.get(f"/jobs/{job_id}").status_code == 200
    assert client.get(f"/jobs/{job_id}/pairs").status_code == 404


def test_a_job_that_aligns_writes_what_the_api_hands_out(client: TestClient, tmp_path: Path):
    folder = tmp_path / "jobs" / ("1" * 32)
    folder.mkdir()
    prepared = AlignRequest(("en", "fr"), ("The river is long.", "La rivière est longue.")).prepare(folder)
    intent = Intent(owner="you", created=1.0, command=prepared.command, wish=Wish.RUNNING, name="Two", exit=0)
    write_intent(folder, intent)
    assert client.get(f"/api/v1/jobs/{folder.name}/aligned").status_code == 404
    ran = CliRunner().invoke(cli, arguments(prepared.command, ServedJob(folder.name, JobFolder(folder), intent)))
    assert ran.exit_code == 0, ran.output
    aligned = client.get(f"/api/v1/jobs/{folder.name}/aligned")
    assert aligned.text.split("\t")[:2] == ["The river is long.", "La rivière est longue."]
    shown = client.get(f"/jobs/{folder.name}").text
    assert f"/jobs/{folder.name}/found/aligned/1.tsv" in shown
    assert "Mine what was found" not in shown
    assert client.get(f"/jobs/{folder.name}/found/aligned/1.tsv").text == aligned.text
