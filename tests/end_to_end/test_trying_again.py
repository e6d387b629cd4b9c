"""The second try: a site that is mended, a setting that is changed, and a job that says whether it failed."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from bitrawl import config
from bitrawl.endings import Ending, State
from bitrawl.facts import JobFacts
from bitrawl.job import retrying, running
from bitrawl.job.reporting import status
from bitrawl.reasons import Reason
from bitrawl.store.folder import JobFolder

Bitrawl = Callable[..., tuple[int, str, str]]
POLITE = {"delay": 0, "attempts": 1, "backoff": 0}
TEXT = "In winter the bees form a dense cluster around their queen, and take turns at its cold outer side. "
AT_FAULT = {
    *map(
        Reason, "nofollow trap robots noindex redirect not-archived http-error content-encoding no-text-layer".split()
    ),
    *map(Reason, "sitemap probe empty unreadable unchanged analysis-error internal killed".split()),
    *map(Reason, "mining-timeout mining-crash mining-error segment-too-long".split()),
}
"""Reasons that no setting of a crawl decides about."""


class Site:
    """A small site on loopback: its pages by path, each a status, a body and headers. Whatever is not there is a 404."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, str, str]] = {}
        self.asked: list[str] = []
        self.port = 0

    def add(self, path: str, *links: str, text: str = TEXT * 3, status: int = 200, headers: str = "") -> None:
        anchors = "".join(f"<p><a href={link}>{link}</a></p>" for link in links)
        self.pages[path] = (status, f"<html lang=en><title>{path}</title><p>{path} {text}</p>{anchors}", headers)

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while head := await reader.readuntil(b"\r\n\r\n"):
                    path = head.split()[1].decode()
                    self.asked.append(path)
                    status, text, headers = self.pages.get(path, (404, "", ""))
                    lines = (
                        f"HTTP/1.1 {status} x\r\nContent-Type: text/html\r\nContent-Length: {len(text)}\r\n{headers}"
                    )
                    writer.write(f"{lines}\r\n{text}".encode())
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield f"http://127.0.0.1:{self.port}"


async def crawl(folder: Path, *seeds: str, **settings: object) -> tuple[Ending, JobFacts]:
    fetch = {"allow_private": True, **settings.pop("fetch", {})}
    asked = {"langs": ["en"], "strategy": "breadth-first", "seeds": list(seeds), "politeness": POLITE, "fetch": fetch}
    job = config.resolve(config.merged(asked, settings))
    ending = await running.crawl(job, JobFolder(folder))
    return ending, status(JobFolder(folder))


async def test_a_seed_that_did_not_exist_is_tried_again_by_the_same_command(tmp_path: Path):
    site = Site()
    async with site.serve() as base:
        ending, facts = await crawl(tmp_path, f"{base}/")
        assert (ending, facts.state, facts.crawl.pages) == (Ending.FAILED, State.FAILED, 0)
        assert "answered with the error 404" in facts.ended
        site.add("/", "/more")
        site.add("/more", text=TEXT)
        site.pages["/sitemap.xml"] = (200, f"<urlset><url><loc>{base}/listed</loc></url></urlset>", "")
        site.add("/listed", text=TEXT * 2)
        ending, facts = await crawl(tmp_path, f"{base}/")
        assert (ending, facts.state, facts.crawl.pages) == (Ending.DONE, State.ENDED, 3)
        site.asked.clear()
        await crawl(tmp_path, f"{base}/")
        assert "/" not in site.asked, "a page is not fetched twice"


async def test_a_seed_whose_redirect_led_nowhere_is_tried_again_with_its_target(tmp_path: Path):
    site = Site()
    async with site.serve() as base:
        site.add("/", status=301, headers="Location: /home\r\n")
        assert (await crawl(tmp_path, f"{base}/"))[1].state is State.FAILED
        site.add("/home")
        assert (await crawl(tmp_path, f"{base}/"))[1].crawl.pages == 1


async def test_a_host_that_did_not_answer_is_asked_again_by_the_same_command(tmp_path: Path):
    site = Site()
    site.add("/")
    async with site.serve() as base:
        pass
    ending, facts = await crawl(tmp_path, f"{base}/")
    assert (ending, facts.state) == (Ending.FAILED, State.FAILED)
    assert facts.ended.endswith("Try again later. The same command resumes the job.")
    async with site.serve():
        ending, facts = await crawl(tmp_path, f"{base}/")
    assert (ending, facts.crawl.pages, facts.crawl.skipped) == (Ending.DONE, 1, 0)


async def test_a_private_address_is_visited_once_it_is_allowed_and_the_message_names_the_flag(tmp_path: Path):
    site = Site()
    site.add("/")
    async with site.serve() as base:
        ending, facts = await crawl(tmp_path, f"{base}/", fetch={"allow_private": False})
        assert (ending, facts.state, site.asked) == (Ending.FAILED, State.FAILED, [])
        assert "allow them with --allow-private" in facts.ended
        ending, facts = await crawl(tmp_path, f"{base}/")
        assert (ending, facts.crawl.pages, facts.crawl.skips) == (Ending.DONE, 1, {})


async def test_what_a_setting_refused_is_visited_when_the_setting_changes(tmp_path: Path):
    site = Site()
    async with site.serve() as base:
        near, far = f"127.0.0.1:{site.port}", f"localhost:{site.port}"
        site.add("/", "/excluded", "/large", "/reserved", "/refused", "/missing", "/first", f"http://{far}/far")
        site.add("/first", "/deep")
        for number, path in enumerate(("/excluded", "/deep", "/far"), 1):
            site.add(path, text=TEXT * number)
        site.add("/large", text=TEXT * 40)
        site.add("/reserved", headers="X-Robots-Tag: noai\r\n")
        site.add("/refused", status=403)
        before = {"scope": {"probe": False, "exclude": ["/excluded"], "depth": 1}, "fetch": {"megabytes": 0.002}}
        facts = (await crawl(tmp_path, f"{base}/", **before))[1]
        reasons = ("scope: excluded", "scope: depth", "scope: off-site", "robots: opt-out", "fetch: too-large")
        assert facts.crawl.skips == {**dict.fromkeys(reasons, 1), "fetch: http-status": 2}
        site.add("/refused")
        after = {
            "scope": {"probe": False, "one_site": [[near, far]]},
            "fetch": {"contact": "me@a.example"},
            "politeness": {"opt_outs": False},
        }
        facts = (await crawl(tmp_path, f"{base}/", **after))[1]
        assert (facts.crawl.pages, facts.crawl.skips) == (8, {"fetch: http-status": 1})
        assert {path: site.asked.count(path) for path in ("/", "/first", "/missing")} == {
            "/": 1,
            "/first": 1,
            "/missing": 1,
        }


def test_each_reason_is_decided_by_a_setting_or_by_none():
    decided = {
        reason for table in (retrying.FETCHED_AGAIN, retrying.JUDGED_AGAIN) for row in table.values() for reason in row
    }
    assert decided.isdisjoint(AT_FAULT)
    assert decided | AT_FAULT == set(Reason)


def test_a_job_that_failed_says_so_in_its_status_and_its_exit_code(bitrawl: Bitrawl, tmp_path: Path):
    flags = ["--langs", "en,fr", "--out", tmp_path / "job", "--delay", "0"]
    code, out, _ = bitrawl("mine", "http://127.0.0.1:9/", *flags)
    assert (code, "--allow-private" in out) == (1, True)
    assert f"{tmp_path / 'job'}: failed. No page was found. " in bitrawl("status", tmp_path / "job")[1]
    assert json.loads(bitrawl("status", tmp_path / "job", "--format", "json")[1])["state"] == "failed"
