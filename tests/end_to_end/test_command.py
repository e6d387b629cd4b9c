"""The command as a newcomer meets it: mistakes, a small crawl, what status, log and clean print."""

import asyncio
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bitrawl import demo

pytestmark = pytest.mark.usefixtures("no_children")
Bitrawl = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def web() -> Iterator[demo.Served]:
    """The bundled web, in a thread of its own."""
    loop, ready, served = asyncio.new_event_loop(), threading.Event(), []

    async def serve(done: asyncio.Event) -> None:
        async with demo.serve() as web:
            served.append(web)
            ready.set()
            await done.wait()

    done = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(done),))
    thread.start()
    ready.wait(30)
    yield served[0]
    loop.call_soon_threadsafe(done.set)
    thread.join(30)
    loop.close()


def reach(web: demo.Served) -> list[str]:
    return ["--delay", "0", "--allow-private", "--connect-to", f"*.test={demo.LOOPBACK}:{web.port}"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("crawl https://a.org --out OUT", "--langs en,fr"),
        ("crawl example --langs en,fr --out OUT", "'example' is not a URL; write it in full"),
        ("crawl ftp://a.org --langs en,fr --out OUT", "only http and https"),
        ("crawl https://a.org --langs en,francais --out OUT", "francais"),
        ("crawl --langs en,fr --out OUT", "nowhere to start"),
        ("crawl https://a.org --langs en --out OUT --include *.html", "regular expression"),
        ("crawl https://a.org --langs en --out OUT --delay -1", "delay"),
        ("crawl https://a.org --langs en --out OUT --proxy socks5://localhost:1", "proxy"),
        ("crawl https://a.org --langs en --out OUT --connect-to a.org", "--connect-to"),
        ("crawl https://a.org --langs en --out OUT --contact (me)", "contact"),
        ("crawl https://a.org --langs en --out OUT --replay none.warc.gz", "no file or folder none.warc.gz"),
        ("crawl https://a.org --langs en --out OUT --job none.toml", "no job file none.toml"),
        ("crawl --seeds-file none.txt --langs en --out OUT", "none.txt"),
        ("status OUT", "holds no job"),
        ("log OUT", "holds no job"),
        ("clean none.html", "none.html cannot be read"),
    ],
)
def test_a_mistake_costs_one_line_that_names_the_fix(bitrawl: Bitrawl, tmp_path: Path, arguments: str, says: str):
    status, out, err = bitrawl(*arguments.replace("OUT", str(tmp_path / "job")).split())
    assert status in (1, 2)
    assert out == ""
    assert says in err
    assert "Traceback" not in err
    assert not (tmp_path / "job").exists()


def test_a_crawl_shows_its_sums_and_its_log_can_be_read_by_programs(bitrawl: Bitrawl, tmp_path: Path, web: demo.Served):
    seed = str(demo.seeds()[1])
    status, out, _ = bitrawl("crawl", seed, "--langs", "en,fr", "--out", tmp_path, "--max-pages", "5", *reach(web))
    assert status == 0
    assert "The limit of 5 pages was reached." in out
    _, out, _ = bitrawl("status", tmp_path, "--format", "json")
    summary = json.loads(out)
    assert summary["pages"] == sum(summary["languages"].values()) == 5
    assert summary["links"] == summary["pages"] + summary["skipped"] + summary["queued"]
    _, out, _ = bitrawl("log", tmp_path, "--format", "jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    assert {"seq", "url", "status", "language", "kind", "score", "bytes", "at"} <= set(lines[0])
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert seed in [line["url"] for line in lines]
    assert sum(line["outcome"] == "page" for line in lines) == 5
    _, out, _ = bitrawl("log", tmp_path)
    assert len(out.splitlines()) == len(lines)
    _, out, _ = bitrawl("clean", tmp_path)
    assert out.count("==> http://") == 5


def test_the_same_command_goes_on_and_fresh_starts_over(bitrawl: Bitrawl, tmp_path: Path, web: demo.Served):
    crawl = ["crawl", str(demo.seeds()[1]), "--langs", "en,fr", "--out", tmp_path, "--quiet", *reach(web)]
    assert bitrawl(*crawl, "--max-pages", "3")[0] == 0
    assert bitrawl("crawl", "--out", tmp_path, "--quiet", "--max-pages", "6")[0] == 0
    assert json.loads(bitrawl("status", tmp_path, "--format", "json")[1])["pages"] == 6
    status, _, err = bitrawl(*crawl[:3], "en,de", *crawl[4:])
    assert (status, "--fresh" in err) == (2, True)
    [archive] = (tmp_path / "warc").iterdir()
    fetched = archive.read_bytes()
    assert bitrawl(*crawl, "--fresh", "--max-pages", "2")[0] == 0
    assert json.loads(bitrawl("status", tmp_path, "--format", "json")[1])["pages"] == 2
    assert (tmp_path / "warc-1" / archive.name).read_bytes() == fetched, "what was fetched is set aside"


def test_a_job_file_says_what_flags_say(bitrawl: Bitrawl, tmp_path: Path, web: demo.Served):
    (tmp_path / "my.toml").write_text(
        f'langs = ["en"]\nseeds = ["{demo.seeds()[1]}"]\n[politeness]\ndelay = 0\n[budget]\npages = 2\n'
        f'[fetch]\nallow_private = true\nconnect_to = {{"*.test" = "{demo.LOOPBACK}:{web.port}"}}\n'
    )
    assert bitrawl("crawl", "--job", tmp_path / "my.toml", "--out", tmp_path / "job", "--quiet")[0] == 0
    assert json.loads(bitrawl("status", tmp_path / "job", "--format", "json")[1])["pages"] == 2
    (tmp_path / "bad.toml").write_text('langs = ["en"]\nseed = ["https://a.org/"]\n')
    status, _, err = bitrawl("crawl", "--job", tmp_path / "bad.toml", "--out", tmp_path / "other")
    assert (status, "did you mean 'seeds'" in err) == (2, True)


def test_a_job_that_finds_nothing_says_what_to_try(bitrawl: Bitrawl, tmp_path: Path, web: demo.Served):
    status, out, _ = bitrawl(
        "crawl", f"http://{demo.LOOPBACK}:{web.port}/", "--langs", "en", "--out", tmp_path, "--delay", "0"
    )
    assert status == 1
    assert "--allow-private" in out


PAGE = """<html lang=en><title>Bees</title><body><nav><ul><li><a href=/>Home</a><li><a href=/shop>Shop</a></ul></nav>
<main><h1>How bees winter</h1><p>In winter the bees form a dense cluster around their queen, and take turns at its cold
outer side. They eat the honey that they stored in summer, and keep the middle at thirty degrees.</p>
<p>A beekeeper should not open the hive before the first warm day, because the cluster cools within minutes.</p></main>
<footer><a href=/imprint>Imprint</a></footer></body></html>"""


def test_clean_prints_the_main_text_or_every_paragraph(bitrawl: Bitrawl, tmp_path: Path):
    (tmp_path / "bees.html").write_text(PAGE)
    status, out, _ = bitrawl("clean", tmp_path / "bees.html")
    assert status == 0
    assert "dense cluster around their queen" in out
    assert "Imprint" not in out
    _, out, _ = bitrawl("clean", "--format", "jsonl", tmp_path / "bees.html")
    lines = [json.loads(line) for line in out.splitlines()]
    labels = {line["text"]: line["boilerplate"] for line in lines}
    assert labels["Imprint"] is True
    assert {"source", "text", "kind", "boilerplate", "content", "language", "confidence"} <= set(lines[0])
    assert {line["language"] for line in lines if len(line["text"]) > 60} == {"en"}


def test_clean_prints_markdown_of_a_file_and_of_the_pages_of_a_job(bitrawl: Bitrawl, tmp_path: Path, web: demo.Served):
    more = "<p>The <a href=/queens>queens</a> are numbered.</p><table><tr><th>Hive<th>Queen<tr><td>1<td>2026</table>"
    (tmp_path / "bees.html").write_text(PAGE.replace("</main>", f"{more}<pre>count  hives\n  --all</pre></main>"))
    _, out, _ = bitrawl("clean", "--format", "markdown", tmp_path / "bees.html")
    assert "# How bees winter\n\nIn winter" in out
    assert "The [queens](/queens) are numbered." in out
    assert "| Hive | Queen |\n| --- | --- |\n| 1 | 2026 |\n" in out
    assert "```\ncount  hives\n  --all\n```" in out
    museum = next(str(seed) for seed in demo.seeds() if "harbour-museum" in seed)
    crawl = ["crawl", museum, "--langs", "en,fr", "--out", tmp_path / "job", "--quiet", "--max-pages", "1", *reach(web)]
    assert bitrawl(*crawl)[0] == 0
    _, out, _ = bitrawl("clean", "--format", "markdown", tmp_path / "job")
    assert "[the diving bell](http://www.harbour-museum.test/the-diving-bell.html)" in out


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"%PDF-1.4\n\x00\x01", "unreadable (it is damaged)"),
        (gzip.compress(PAGE.encode()), "content-type (application/gzip is not a page)"),
        (b"SQLite format 3\0" + bytes(100), "content-type (application/octet-stream is not a page)"),
    ],
)
def test_clean_prints_no_noise_for_a_file_that_is_no_page(bitrawl: Bitrawl, tmp_path: Path, content: bytes, why: str):
    (tmp_path / "file").write_bytes(content)
    status, out, err = bitrawl("clean", tmp_path / "file")
    assert (status, out) == (1, "")
    assert why in " ".join(err.split())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "shift-jis"])
def test_clean_reads_a_file_in_any_encoding(bitrawl: Bitrawl, tmp_path: Path, encoding: str):
    (tmp_path / "bees.html").write_bytes(PAGE.encode(encoding))
    status, out, _ = bitrawl("clean", tmp_path / "bees.html")
    assert status == 0
    assert "dense cluster around their queen" in out


def test_clean_takes_folders_and_addresses(bitrawl: Bitrawl, tmp_path: Path, web: demo.Served):
    for number in range(3):
        (tmp_path / f"{number}.html").write_text(PAGE.replace("thirty", f"thirty-{number}"))
    status, out, _ = bitrawl("clean", tmp_path)
    assert (status, out.count("==>")) == (0, 3)
    status, out, err = bitrawl("clean", "--allow-private", f"http://{demo.LOOPBACK}:{web.port}/missing-page.html")
    assert status == 1 or out, err
