"""A job that gets no answer, or only a 404, says so and why; and a password is found nowhere afterwards."""

import asyncio
import base64
import contextlib
import gzip
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hostile.pathologies import pathology_server

from bitrawl import config, demo
from bitrawl.endings import Ending
from bitrawl.job import OpenedJob, running
from bitrawl.reasons import Reason
from bitrawl.show import brief
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger

POLITE = {"delay": 0, "attempts": 1, "backoff": 0}
PASSWORD = "correct-horse"
TOKEN = base64.b64encode(f"me:{PASSWORD}".encode())


async def crawl(folder: Path, seed: str, **fetch: object) -> tuple[Ending, str]:
    """How it ended, and in which words."""
    asked = {"langs": ["en"], "seeds": [seed], "politeness": POLITE, "fetch": {"allow_private": True} | fetch}
    ending = await running.crawl(config.resolve(asked), JobFolder(folder))
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    said = str(ledger.last_run().ended)
    ledger.close()
    return ending, said


@pytest.mark.parametrize(
    ("seed", "fetch", "says"),
    [
        ("http://www.exmaple.invalid/", {}, "www.exmaple.invalid has no address (DNS)"),
        ("http://127.0.0.1:1/", {}, "connection refused"),
        (
            "http://www.example.org/",
            {"proxy": f"http://me:{PASSWORD}@127.0.0.1:1"},
            "the proxy http://127.0.0.1:1 cannot be reached: connection refused",
        ),
    ],
)
async def test_where_no_host_answers_the_job_fails_and_says_why(tmp_path: Path, seed: str, fetch: dict, says: str):
    ending, said = await crawl(tmp_path, seed, **fetch)
    assert ending is Ending.FAILED
    assert said.startswith(f"No page was found. {seed} did not answer (")
    assert says in said


@pytest.mark.parametrize(
    ("route", "says"),
    [
        ("/status?code=404", "SEED answered with the error 404 Not Found."),
        ("/redirect/file", "SEED brought no page (moved: 'file:"),
        ("/type/pdf", "SEED brought no page (document cannot be read: it is damaged)."),
    ],
)
async def test_a_seed_that_is_no_page_fails_the_job_with_its_reason_also_when_it_is_asked_again(
    tmp_path: Path, route: str, says: str
):
    async with pathology_server() as base:
        for _ in range(2):
            ending, said = await crawl(tmp_path, f"{base}{route}")
            assert ending is Ending.FAILED
            assert said.startswith(f"No page was found. {says.replace('SEED', f'{base}{route}')}")


@contextlib.asynccontextmanager
async def closed_proxy() -> AsyncIterator[int]:
    """A proxy for all the web that demands a password; each home page it makes itself, and there are no others."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                found = b"200 OK" if b"example.org/ HTTP" in head else b"404 Not Found"
                body = b"<title>Bees</title><p>In winter the bees form a cluster.</p><a href=/more>More</a>"
                status = found if TOKEN in head else b"407 Proxy Authentication Required"
                writer.write(b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: %d\r\n" % (status, len(body)))
                writer.write(b"\r\n" + body)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(("password", "ended"), [(PASSWORD, Ending.DONE), ("wrong-horse", Ending.FAILED)])
async def test_the_password_of_a_proxy_is_written_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, password: str, ended: Ending
):
    caplog.set_level(logging.DEBUG)
    async with closed_proxy() as port:
        ending, said = await crawl(tmp_path, "http://www.example.org/", proxy=f"http://me:{password}@127.0.0.1:{port}")
    assert ending is ended
    assert ("(407)" in said) is (ended is Ending.FAILED)
    secrets = (password.encode(), base64.b64encode(f"me:{password}".encode()))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"job.toml", "job.sqlite"} <= {path.name for path in files}
    for path in files:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert not [secret for secret in secrets if secret in data], path
    assert password not in caplog.text
    assert f'proxy = "http://127.0.0.1:{port}"' in (tmp_path / "job.toml").read_text()


async def test_seeds_that_fail_beside_others_are_named_with_their_reasons(tmp_path: Path):
    hub = "http://www.town-library.test/"
    dead = [f"{hub}no-such-page.html", "http://127.0.0.1:1/"]
    async with demo.serve() as web:
        fetch = {"allow_private": True, "connect_to": {"*.test": f"{demo.LOOPBACK}:{web.port}"}}
        asked = {"langs": ["en"], "seeds": [hub, *dead], "politeness": POLITE, "fetch": fetch, "budget": {"pages": 5}}
        ending = await running.mine(config.resolve(asked), JobFolder(tmp_path))
    facts = OpenedJob(tmp_path).facts()
    ended = facts.crawl.run.ended
    assert ending is Ending.BUDGET
    assert ended is not None
    reasons = [Reason.HTTP_STATUS, Reason.ROBOTS_UNREACHABLE]
    assert [(seed.seed, seed.reason) for seed in ended.failed] == list(zip(dead, reasons, strict=True))
    assert [line.split()[0] for line in brief(facts).left_out[-2:]] == dead
