"""The pathology server does what its table says."""

import asyncio
import gzip
import html
import inspect
import re
import sys
import time
import zlib
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from pathlib import Path

import aiohttp
import brotli
import pytest
from hostile import pathologies
from hostile.pathologies import HOSTS, ROUTES, Base, pathology_server
from yarl import URL

from bitrawl.files import zstd

QUICK = aiohttp.ClientTimeout(total=0.5)


@pytest.fixture
async def base() -> AsyncIterator[Base]:
    async with pathology_server() as base:
        yield base


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()) as client:
        yield client


async def read_and_forget(client: aiohttp.ClientSession, url: str) -> None:
    async with client.get(url, timeout=QUICK) as answer:
        async for _ in answer.content.iter_any():
            pass


def test_the_table_lists_every_route_and_every_host():
    told = set(re.findall(r"^    (/\S*)", pathologies.__doc__ or "", re.MULTILINE))
    assert told == set(ROUTES)
    assert set(re.findall(r"^    (\S+\.test)", pathologies.__doc__ or "", re.MULTILINE)) == set(HOSTS)


WELL_FORMED = sorted(
    path for path, route in ROUTES.items() if not inspect.iscoroutinefunction(route) and not path.startswith("/bomb")
)


@pytest.mark.parametrize("path", WELL_FORMED)
async def test_a_route_that_is_no_wire_trick_answers_well_formed_http(base, client, path):
    async with client.get(f"{base}{path}", allow_redirects=False) as answer:
        await answer.read()
    assert 200 <= answer.status < 600
    assert len(base.requests) == 1


@pytest.mark.parametrize("path", ["/drip", "/drip/headers", "/silent", "/endless", "/endless/plain"])
async def test_a_route_without_an_end_lasts_longer_than_the_client(base, client, path):
    with pytest.raises(asyncio.TimeoutError):
        await read_and_forget(client, f"{base}{path}")


@pytest.mark.parametrize(
    "path",
    [
        "/truncated/chunk",
        "/truncated/no-last-chunk",
        "/truncated/length",
        "/bad-chunk",
        "/garbage",
        "/empty",
        "/reset",
        "/reset/at-once",
        "/headers/huge",
        "/headers/many",
        "/headers/endless",
    ],
)
async def test_a_malformed_answer_is_an_error_to_a_strict_client(base, client, path):
    with pytest.raises(aiohttp.ClientError):
        await read_and_forget(client, f"{base}{path}")


async def test_a_huge_header_comes_whole_to_those_who_accept_it(base):
    async with (
        aiohttp.ClientSession(max_field_size=2_000_000, max_line_size=2_000_000) as patient,
        patient.get(f"{base}/headers/huge?bytes=1500000") as answer,
    ):
        assert len(answer.headers["X-Huge"]) == 1_500_000
        assert (await answer.read()).endswith(b"</html>\n")


async def test_a_reset_is_a_reset_and_no_close(base):
    reader, writer = await asyncio.open_connection("127.0.0.1", base.port)
    writer.write(b"GET /reset HTTP/1.1\r\nHost: localhost\r\n\r\n")
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()


EXPAND = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "br": brotli.decompress,
    "zstd": lambda body: zstd.ZstdDecompressor().decompress(body),
    "nested": lambda body: gzip.decompress(gzip.decompress(body)),
}


@pytest.mark.parametrize("kind", EXPAND)
async def test_a_bomb_is_small_on_the_wire_and_large_expanded(base, client, kind):
    async with client.get(f"{base}/bomb/{kind}?mb=8") as answer:
        body = await answer.read()
    assert len(body) < 10_000
    assert len(EXPAND[kind](body)) == 8 << 20


async def test_a_bomb_is_hundreds_of_megabytes_by_default(base, client):
    async with client.get(f"{base}/bomb/nested") as answer:
        body = await answer.read()
    assert len(body) < 1000
    assert int.from_bytes(gzip.decompress(body)[-4:], "little") == 300 << 20


async def test_retry_after_comes_as_seconds_and_as_a_date(base, client):
    async with client.get(f"{base}/429/seconds?after=11") as answer:
        assert (answer.status, answer.headers["Retry-After"]) == (429, "11")
    async with client.get(f"{base}/429/date?after=60") as answer:
        assert 50 < parsedate_to_datetime(answer.headers["Retry-After"]).timestamp() - time.time() < 70


async def test_503_gives_way_after_as_many_times_as_asked(base, client):
    statuses = []
    for _ in range(4):
        async with client.get(f"{base}/503/then-200?times=2") as answer:
            statuses.append(answer.status)
    assert statuses == [503, 503, 200, 200]


@pytest.mark.parametrize("path", ["/calendar", "/session", "/shop", "/maze/"])
async def test_a_trap_always_has_one_more_page(base, client, path):
    address = URL(f"{base}{path}")
    seen = {address}
    for _ in range(20):
        async with client.get(address) as answer:
            links = re.findall(r'href="([^"]+)"', await answer.text())
        fresh = [address.join(URL(html.unescape(link))) for link in links]
        address = next(each for each in reversed(fresh) if each not in seen)
        seen.add(address)


async def test_a_soft_404_answers_the_same_whatever_is_asked(base, client):
    bodies = set()
    for path in ("/soft404/one", "/soft404/two/three?four"):
        async with client.get(f"{base}{path}") as answer:
            bodies.add((answer.status, await answer.read()))
    assert len(bodies) == 1


async def test_virtual_hosts_are_told_apart_by_host_header_and_as_a_proxy(base, client):
    async with client.get(f"{base}/robots.txt", headers={"Host": "robots-deny.test"}) as answer:
        by_header = await answer.text()
    async with client.get("http://robots-deny.test/robots.txt", proxy=str(base)) as answer:
        by_proxy = await answer.text()
    assert by_header == by_proxy == "User-agent: *\nDisallow: /\n"
    assert {each.host for each in base.requests} == {"robots-deny.test"}


async def test_the_huge_robots_file_has_a_rule_on_each_side_of_the_limit(base, client):
    async with client.get("http://robots-huge.test/robots.txt", proxy=str(base)) as answer:
        text = await answer.text()
    assert len(text) > 600 * 1024 - 100
    assert text.index("/closed") < 500 * 1024 < text.index("/open")


async def test_requests_are_recorded_with_headers_and_time(base, client):
    for _ in range(2):
        async with client.get(f"{base}/ok", headers={"X-Mark": "1"}):
            pass
    first, second = base.asked("/ok")
    assert first.at <= second.at
    assert first.header("x-mark") == "1"
    assert (first.nth, second.nth) == (1, 2)


async def test_it_runs_as_a_program_too(client):
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "hostile.pathologies",
        cwd=Path(pathologies.__file__).parents[1],
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    base = (await process.stdout.readline()).decode().strip()
    async with client.get(f"{base}/ok") as answer:
        assert answer.status == 200
    process.terminate()
    await process.wait()
