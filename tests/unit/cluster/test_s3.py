"""Errors of a store, and its patience, against a server that answers what the test wants."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import msgspec
import pytest
from typer.testing import CliRunner

from bitrawl import config
from bitrawl.cli import app
from bitrawl.cluster import places
from bitrawl.cluster.bundles import bundled, sites_of, written_bundles
from bitrawl.cluster.places import place, s3_place
from bitrawl.errors import ConfigError, StoreError

pytest.importorskip("obstore")


@pytest.fixture(autouse=True)
def keys(monkeypatch, tmp_path):
    """Never those of whoever runs the tests, and never those that the network would give."""
    for name in (*places._OTHER_SOURCES, "AWS_PROFILE", "AWS_EC2_METADATA_DISABLED", "AWS_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    places._store.cache_clear()


@pytest.fixture
def answers(monkeypatch) -> Iterator[list[tuple[int, bytes]]]:
    """What the server answers, in order; the last one again and again."""
    given: list[tuple[int, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, body = given.pop(0) if len(given) > 1 else given[0]
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", '"1"')
            self.send_header("Last-Modified", "Mon, 16 Nov 2026 12:00:00 GMT")
            self.end_headers()
            self.wfile.write(body)

        do_PUT = do_GET  # noqa: N815 - its name in the standard library

        def log_message(self, *said):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    yield given
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_store_that_restarts_is_waited_for(answers):
    answers += [(503, b""), (200, b"there")]

    assert s3_place("s3://corpora/file", retries=1).read() == b"there"


def test_a_store_that_stays_broken_is_named_with_the_fix(answers):
    answers.append((503, b""))

    with pytest.raises(StoreError, match=r"does not answer for s3://corpora/file.*after 0 retries.*AWS_ENDPOINT_URL"):
        s3_place("s3://corpora/file", retries=0).write(b"1")


def test_an_unreachable_store_is_named_with_the_fix(answers, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")

    with pytest.raises(StoreError, match=r"http://127\.0\.0\.1:1 does not answer for s3://corpora/file.*run the same"):
        s3_place("s3://corpora/file", retries=0).read()


@pytest.mark.parametrize(
    "use", [lambda there: there.read(), lambda there: there.write(b""), lambda there: there.names()]
)
def test_a_missing_bucket_is_named(answers, use):
    answers.append((404, b"<Error><Code>NoSuchBucket</Code></Error>"))

    with pytest.raises(StoreError, match=r"there is no bucket corpora at http.*create it"):
        use(s3_place("s3://corpora/file"))


def test_keys_that_may_not_do_it_are_named(answers):
    answers.append((403, b"<Error><Code>AccessDenied</Code></Error>"))

    with pytest.raises(StoreError, match=r"does not let you use s3://corpora/file: .*AccessDenied.*check AWS_"):
        s3_place("s3://corpora/file").write(b"1")


def test_an_error_is_one_line(answers):
    answers.append((403, b"<Error>\n<Code>AccessDenied</Code>\n</Error>"))

    with pytest.raises(StoreError) as caught:
        s3_place("s3://corpora/file").read()
    assert "\n" not in str(caught.value)
    assert "Debug source" not in str(caught.value)


def test_without_credentials_nothing_is_asked(monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")

    with pytest.raises(ConfigError, match="no credentials for S3: set AWS_ACCESS_KEY_ID"):
        place("s3://corpora/file")


def test_a_profile_has_the_keys(monkeypatch, tmp_path):
    (tmp_path / "credentials").write_text("[work]\naws_access_key_id = k\naws_secret_access_key = s%d\nregion = x\n")
    monkeypatch.setenv("AWS_PROFILE", "work")

    assert places._credentials(
        {"AWS_PROFILE": "work", "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials")}
    ) == {
        "aws_access_key_id": "k",
        "aws_secret_access_key": "s%d",
    }
    assert str(place("s3://corpora/a//b/")) == "s3://corpora/a/b"


def test_a_damaged_profile_file_is_named(monkeypatch, tmp_path):
    (tmp_path / "credentials").write_text("no section")
    monkeypatch.setenv("AWS_PROFILE", "work")

    with pytest.raises(ConfigError, match="credentials cannot be read as a list of profiles"):
        place("s3://corpora/file")


def test_an_address_without_a_bucket_is_refused():
    with pytest.raises(ConfigError, match="names no bucket"):
        place("s3://")


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "obstore", None)

    with pytest.raises(ConfigError, match=r"install .*'bitrawl\[cluster\]'"):
        place("s3://corpora/file")


def test_status_shows_a_run_that_is_in_a_bucket(monkeypatch):
    store = pytest.importorskip("obstore.store").MemoryStore()
    monkeypatch.setattr(places, "_store", lambda *_: store)
    job = config.resolve({"langs": ["en", "fr"], "seeds": ["http://a.org/", "http://b.org/"]})
    written_bundles(place("s3://corpora/run"), lambda: bundled(sites_of(job), 1, list), job)

    shown = CliRunner().invoke(app, ["status", "s3://corpora/run", "--format", "json"], catch_exceptions=False)

    assert shown.exit_code == 0
    assert msgspec.json.decode(shown.stdout)["sites"] == 2
