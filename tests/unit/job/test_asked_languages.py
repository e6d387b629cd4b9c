"""Whoever reads pages for a job tells the identifier which languages were asked for, as the crawl does."""

import io
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bitrawl.archive.archived_web import Archives
from bitrawl.config import Job
from bitrawl.job.fetching import previewer
from bitrawl.job.topics import topic_pages
from bitrawl.model import Language, Page
from bitrawl.papers.replay import opened_replay
from bitrawl.url import Url

pytestmark = pytest.mark.usefixtures("no_children")
EN, MI = Language("en"), Language("mi")
HOME = Url.parse("http://kura.test/")
# The model of the package has no Māori: the text is in it only for someone who asks for it.
MAORI = "<html><body>" + "".join(
    f"<p>He maha ngā kura e whakaako ana i te reo Māori ki ngā tamariki o Aotearoa, ā, {number} ngā marae e tautoko ana.</p>"
    for number in ("kotahi", "rua", "toru", "whā")
)


def archived(folder: Path) -> Path:
    body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{MAORI}".encode()
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Target-URI: {HOME}\r\n"
        f"WARC-Date: 2024-05-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    path = folder / "site.warc"
    path.write_bytes(head.encode() + body + b"\r\n\r\n")
    return path


async def test_a_replay_identifies_the_languages_that_were_asked_for_also_with_the_cache_of_another_replay(
    tmp_path: Path,
):
    found = []
    for asked in ((), (EN, MI), ()):
        async with opened_replay([archived(tmp_path)], cache=tmp_path / "cache", languages=asked) as replay:
            found += [page.language for page in await replay.pages()]
    assert found[1] == MI
    assert found[0] == found[2] != MI


async def test_a_dry_run_identifies_the_languages_that_were_asked_for(tmp_path: Path):
    path = archived(tmp_path)
    job = Job(langs=["en", "mi"], seeds=[str(HOME)], replay=[str(path)])
    async with AsyncExitStack() as stack:
        archives = stack.enter_context(Archives([path]))
        (preview,) = await (await previewer(job, archives, stack)).preview([HOME])
    assert preview.language == MI


async def test_a_topic_report_identifies_the_languages_that_were_asked_for(tmp_path: Path):
    path = tmp_path / "page.html"
    path.write_text(MAORI, "utf-8")
    for asked in ([], [EN, MI]):
        found = [page async for _, page in topic_pages([str(path)], io.BytesIO(), asked=asked)]
        assert [isinstance(page, Page) and page.language == MI for page in found] == [bool(asked)]
