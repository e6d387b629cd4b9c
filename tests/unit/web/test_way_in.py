"""The way into the app: the demo by one click, with the operator's rules as they are, and links from page to page."""

import asyncio
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from bitrawl import demo
from bitrawl.cli import app as command_line
from bitrawl.cli.foreground import Foreground
from bitrawl.config import Job
from bitrawl.endings import Ending
from bitrawl.errors import ConfigError
from bitrawl.job import StartOver
from bitrawl.show.templating import document
from bitrawl.store.folder import JobFolder
from bitrawl.version import PROJECT_PAGE
from bitrawl.web import allowed, operator_settings
from bitrawl.web.app import Serving, application, new_server
from bitrawl.web.job_list import Command, JobVerb, read_intent
from bitrawl.web.operator_settings import LimitsSection, Settings

ROOT = Path(__file__).parents[3]


def started(client: TestClient) -> str:
    """The address of a demo job after one click."""
    secret = client.get("/").text.split('action="/demo"')[1].split('name="csrf" value="')[1].split('"')[0]
    answer = client.post("/demo", data={"csrf": secret})
    assert answer.status_code == 303
    return str(answer.headers["location"])


def test_one_click_in_an_empty_app_starts_the_demo(tmp_path: Path):
    app = application(new_server(Serving(tmp_path / "jobs")), ["testserver"])
    client = TestClient(app, raise_server_exceptions=False, follow_redirects=False)
    assert client.post("/demo").status_code == 403  # a page elsewhere cannot start it
    address = started(client)
    folder = tmp_path / address.strip("/")
    intent = read_intent(folder)
    assert intent is not None
    assert intent.command == Command(JobVerb.DEMO, ("--resume",))
    assert "Demo: " in client.get(address).text
    assert 'action="/demo"' not in client.get("/").text
    assert "?repeat=" not in client.get(f"{address}/download").text  # its web is not there for another job


@pytest.mark.parametrize(("language", "second"), [("en", "fr"), ("de", "fr"), ("zh", "zh")])
def test_the_demo_reaches_its_own_web_and_no_private_address(tmp_path: Path, language: str, second: str):
    operator = {"fetch": {"proxy": "http://proxy.example:3128", "connect_to": {"*": "10.0.0.1:80"}}}
    settings = Settings(job=operator, limits=LimitsSection(pages=7))
    prepared = allowed.demonstration("Demo", language, settings).prepare(tmp_path)
    job = JobFolder(tmp_path).job()
    assert job.langs == ["en", second]
    assert list(job.fetch.connect_to) == ["*.test"]
    assert not job.fetch.allow_private
    assert not job.fetch.proxy
    assert job.budget.pages == 7
    assert prepared.sites == ()  # demos do not wait for each other


def test_a_demo_goes_on_with_its_own_job_while_its_web_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    runs: list[tuple[Job, StartOver]] = []

    async def mine(_: Foreground, job: Job, *, fresh: StartOver = StartOver.NO) -> Ending:
        _, _, port = job.fetch.connect_to["*.test"].rpartition(":")
        reader, writer = await asyncio.open_connection(demo.LOOPBACK, int(port))
        writer.write(b"GET / HTTP/1.0\r\nHost: www.saltholm.test\r\n\r\n")
        assert b"200 OK" in await reader.readline()
        writer.close()
        runs.append((job, fresh))
        return Ending.DONE

    monkeypatch.setattr(Foreground, "mine", mine)
    allowed.demonstration("Demo", "zh", Settings(limits=LimitsSection(pages=4))).prepare(tmp_path)
    result = CliRunner().invoke(command_line, ["demo", "--out", str(tmp_path), "--resume", "--quiet"])
    assert (result.exit_code, result.output) == (0, "")
    [(job, fresh)] = runs
    assert fresh is StartOver.NO
    assert (job.langs, job.budget.pages) == (["en", "zh"], 4)


def test_each_page_links_to_its_page_of_the_documentation(tmp_path: Path):
    (tmp_path / "serve.toml").write_text('docs = "https://docs.example.org/"')
    server = new_server(Serving(tmp_path / "jobs", settings=tmp_path / "serve.toml"))
    client = TestClient(application(server, ["testserver"]), follow_redirects=False)
    job = started(client)
    tabs = ("", "/review", "/pairs", "/search", "/terms", "/download", "/compare")
    pages = {path: client.get(path).text for path in ("/", "/discover", "/topic", "/api", *(job + tab for tab in tabs))}
    guides = {
        path: re.findall(r'href="https://docs\.example\.org/([^"]+)\.html"', page) for path, page in pages.items()
    }
    assert all(len(guide) == 1 for guide in guides.values()), guides
    for [guide] in guides.values():
        assert (ROOT / "docs" / f"{guide}.md").is_file()
    titles = [re.findall("<title>([^<]+)</title>", page)[0] for page in pages.values()]
    assert len(set(titles)) == len(titles), titles


def test_without_an_address_of_the_documentation_pages_link_to_the_project(tmp_path: Path):
    client = TestClient(application(new_server(Serving(tmp_path / "jobs")), ["testserver"]))
    assert f'href="{PROJECT_PAGE}"' in client.get("/").text


@pytest.mark.parametrize("address", ["javascript:alert(1)", "https://docs.example.org", "docs/"])
def test_the_address_of_the_documentation_is_checked(tmp_path: Path, address: str):
    (tmp_path / "serve.toml").write_text(f'docs = "{address}"')
    with pytest.raises(ConfigError, match="docs: give the address of a folder"):
        operator_settings.read(tmp_path / "serve.toml")


def test_the_report_leads_back_to_its_corpus(tmp_path: Path):
    server = new_server(Serving(tmp_path / "jobs"))
    client = TestClient(application(server, ["testserver"]), follow_redirects=False)
    job = started(client)
    report = tmp_path / job.strip("/") / "report.html"
    report.write_text(document("document.html", title="A report", lead=""), "utf-8")
    answer = client.get(f"{job}/report")
    assert f'<a href="{job}">← <bdi>Demo: the web of a small harbour town</bdi></a>' in answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert f'href="{PROJECT_PAGE}"' in report.read_text("utf-8")
