"""bitrawl from Python: in a script without a guard, inside a running loop, and with every mistake named."""

import asyncio
import inspect
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import bitrawl
from bitrawl import demo
from bitrawl.aio import JobProgress
from bitrawl.demo import Served
from bitrawl.endings import Ending, State
from bitrawl.errors import NothingFoundError

HUB = "http://www.town-library.test/"  # one bilingual site of the bundled web


@pytest.fixture
async def settings() -> AsyncIterator[dict[str, Any]]:
    async with demo.serve() as web:
        yield reached(web)


def reached(web: Served) -> dict[str, Any]:
    return {"delay": 0, "allow_private": True, "connect_to": {"*.test": f"{demo.LOOPBACK}:{web.port}"}}


async def test_a_site_is_mined_and_its_job_can_be_read(tmp_path: Path, settings: dict[str, Any]):
    told: list[JobProgress] = []
    result = await bitrawl.aio.mine(HUB, langs=("en", "fr"), out=tmp_path / "job", progress=told.append, **settings)
    assert (result.ending, result.status.state) == (Ending.DONE, State.ENDED)
    assert told[-1].pages == result.status.crawl.pages > 0
    assert any(now.doing for now in told)
    job = result.open()
    pages = {page.url: page.language for page in job.pages()}
    pairs = list(job.pairs())
    assert len(pages) == result.status.crawl.pages
    assert len(pairs) == result.status.corpora["en-fr"].pairs > 3
    assert all(pair.url_a in pages and pair.url_b in pages for pair in pairs)
    assert (job.export(formats="moses", min_score=0.5) / "en-fr.fr").exists()
    assert (tmp_path / "job/corpus/en-fr.tmx").exists()
    lines = (tmp_path / "job/corpus/en-fr.sentences.jsonl").read_text().splitlines()
    assert [json.loads(msgspec.json.encode(unit)) for unit in job.units()] == [json.loads(line) for line in lines]
    assert len(lines) == job.status().corpora["en-fr"].units > 20
    assert bitrawl.terms(tmp_path / "job") == job.terms("en,fr")


async def test_a_job_that_its_budget_ended_does_not_say_that_it_is_done(tmp_path: Path, settings: dict[str, Any]):
    result = await bitrawl.aio.crawl(HUB, langs="en,fr", out=tmp_path / "job", max_pages=3, **settings)
    assert result.ending is Ending.BUDGET
    assert result.status.ended.startswith("The limit of 3 pages was reached. ")


async def test_a_job_without_a_page_in_its_language_raises_an_error(tmp_path: Path, settings: dict[str, Any]):
    with pytest.raises(NothingFoundError, match=r"job: No page in Japanese was found\."):
        await bitrawl.aio.mine(HUB, langs="ja", out=tmp_path / "job", max_pages=2, **settings)


async def test_inside_a_running_loop_the_plain_function_works_too(tmp_path: Path, settings: dict[str, Any]):
    # A thread serves the web meanwhile: the function blocks this loop, as it blocks a cell of a notebook.
    def served() -> bitrawl.aio.JobResult:
        async def crawl() -> bitrawl.aio.JobResult:
            async with demo.serve() as web:
                asked = {"langs": "en,fr", "out": tmp_path / "job", **reached(web)}
                return await asyncio.to_thread(lambda: asyncio.run(blocking(asked)))

        return asyncio.run(crawl())

    async def blocking(asked: dict[str, Any]) -> bitrawl.aio.JobResult:
        assert asyncio.get_running_loop().is_running()
        return bitrawl.crawl(HUB, **asked)

    result = await asyncio.to_thread(served)
    assert (result.ending, result.status.crawl.pages > 10) == (Ending.DONE, True)


def test_a_script_needs_no_guard(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(
        "import bitrawl\n"
        "print('once')\n"
        "try:\n"
        "    bitrawl.crawl('http://127.0.0.1:1/', langs='en,fr', out='job', delay=0, allow_private=True)\n"
        "except bitrawl.errors.NothingFoundError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("once\n")
    assert "job: No page was found. 3 visits to 127.0.0.1:1 failed in a row (" in done.stdout


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"max_pagse": 3}, "there is no setting 'max_pagse'; did you mean 'max_pages'?"),
        ({"delay": -1}, "delay (--delay) is -1; give a number of at least 0"),
        ({"max_minutes": 0}, "max_minutes (--max-minutes) is 0; give a number greater than 0"),
        ({"max_pages": "many"}, "max_pages (--max-pages) is 'many'; give a whole number"),
        ({"langs": "en,klingonish"}, "klingonish"),
        ({"strategy": "depth-first"}, "there is no strategy 'depth-first'"),
        ({"min_score": 7}, "min_score (--min-score) is 7; give a number of at most 1"),
        ({"seeds": 5}, "seeds is 5; give a URL, or a list of URLs"),
        ({"seeds": ["https://www.example.org/", None]}, "give a URL, or a list of URLs"),
        ({"seeds": b"https://www.example.org/"}, "give a URL, or a list of URLs"),
        ({"langs": 5}, "langs is 5; give codes, as in 'en,fr' or ['en', 'fr']"),
        ({"langs": None}, "langs is None; give codes"),
        ({"langs": ["en", 5]}, "langs is ['en', 5]; give codes"),
        ({"out": None}, "out is None; give the path of a folder"),
        ({"out": ""}, "out is ''; give the path of a folder"),
        ({"fresh": "yes"}, "fresh is 'yes'; give True or False"),
        ({"progress": "yes"}, "progress is 'yes'; give True for a display, or a function"),
        ({"formats": 5}, "formats (--formats) is 5; give a text, or a list of texts"),
        ({"replay": 5}, "replay (--replay) is 5; give a text, or a list of texts"),
        ({"connect_to": 5}, "connect_to (--connect-to) is 5; give a text, a list of texts, or a dictionary of them"),
        ({"buckets": 5}, "5 are not two numbers"),
        ({"ignore_opt_outs": "no"}, "ignore_opt_outs (--ignore-opt-outs) is 'no'; give True or False"),
        ({"compress": "yes"}, "compress (--compress) is 'yes'; "),
        ({"topic": 5}, "topic (--topic) is 5; "),
    ],
)
def test_a_mistake_is_named_and_leaves_nothing_behind(tmp_path: Path, asked: dict[str, Any], says: str):
    with pytest.raises(bitrawl.ConfigError) as refused:
        bitrawl.mine(**{"seeds": "https://www.example.org/", "langs": "en,fr", "out": tmp_path / "job"} | asked)
    assert says in str(refused.value)
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: bitrawl.open(None), "folder is None; give the path of a folder"),
        (lambda: bitrawl.extract(5), "html is 5; give a page as a text or as bytes"),
        (lambda: bitrawl.extract("<p>", url=5), "url is 5; give a URL"),
        (lambda: bitrawl.align(5, "Un.", "en,fr"), "text_a is 5; give a text, or a list of sentences"),
        (lambda: bitrawl.align("One.", b"Un.", "en,fr"), "text_b is b'Un.'; give a text, or a list of sentences"),
        (lambda: bitrawl.align(["One.", 2], ["Un."], "en,fr"), "text_a is ['One.', 2]; give a text, or a list of"),
        (lambda: bitrawl.align("One.", "Un.", 5), "langs is 5; give codes, as in 'en,fr'"),
        (lambda: bitrawl.align("One.", "Un.", "en"), "langs is 'en'; give two languages, as in 'en,fr'"),
        (lambda: bitrawl.align("One.", "Un.", "en,fr", dictionary=5), "dictionary is 5; give the path of a file"),
        (lambda: bitrawl.align("One.", "Un.", "en,fr", dictionary="none.tsv"), "none.tsv cannot be read"),
        (lambda: bitrawl.merge(5, out="out"), "folders is 5; give the folders of jobs, as in ['jobs/one', 'jobs/two']"),
        (lambda: bitrawl.merge([], out="out"), "folders is []; give at least one folder of a job"),
        (lambda: bitrawl.merge(["job"], out=5), "out is 5; give the path of a folder"),
        (lambda: bitrawl.merge(["job"], out="out", langs="en"), "langs is 'en'; give two languages"),
        (lambda: bitrawl.merge(["job"], out="out", delay=3), "there is no setting 'delay'"),
    ],
)
def test_a_wrong_argument_is_named_with_what_it_takes(call: Callable[[], object], says: str):
    with pytest.raises(bitrawl.ConfigError) as refused:
        call()
    assert says in str(refused.value)


@pytest.mark.parametrize("name", ["mine", "crawl"])
def test_to_await_a_function_takes_what_the_function_takes(name: str):
    plain, awaited = getattr(bitrawl, name), getattr(bitrawl.aio, name)
    assert inspect.signature(awaited) == inspect.signature(plain)
    assert (awaited.__doc__, inspect.iscoroutinefunction(awaited)) == (plain.__doc__, True)


def test_a_folder_without_a_job_is_refused(tmp_path: Path):
    with pytest.raises(bitrawl.BitrawlError, match="holds no job"):
        bitrawl.open(tmp_path)


def test_a_page_and_two_texts_need_no_job():
    page = bitrawl.extract(
        b"<html><body><p>The harbour opens at six in the morning, and it closes at ten in the evening.</p>"
        b"<a href='/fr/'>Fran\xc3\xa7ais</a></body></html>",
        "https://www.example.org/",
    )
    assert (page.language, [link.url for link in page.links]) == ("en", ["https://www.example.org/fr/"])
    pairs = bitrawl.align("It rains. We stay.", "Il pleut. Nous restons.", ("en", "fr"))
    assert [(pair.text_a, pair.text_b) for pair in pairs] == [("It rains.", "Il pleut."), ("We stay.", "Nous restons.")]
    assert page.text == "The harbour opens at six in the morning, and it closes at ten in the evening."
    [listed] = bitrawl.align(["It rains. We stay."], ["Il pleut. Nous restons."], "en,fr")
    assert (listed.text_a, listed.text_b, listed.type) == ("It rains. We stay.", "Il pleut. Nous restons.", "1:1")


def test_a_dictionary_tells_what_two_texts_alone_cannot(tmp_path: Path):
    (tmp_path / "words.tsv").write_text("brakno\tship\nvoldi\tsails\nmurta\thouse\npellin\tburns\n", "utf-8")
    texts = ["Brakno voldi.", "Murta pellin."], ["The ship sails.", "The house burns."]
    bare = bitrawl.align(*texts, "tlh,en")
    told = bitrawl.align(*texts, "tlh,en", dictionary=tmp_path / "words.tsv")
    assert min(pair.score for pair in told) > 0.8 > max(pair.score for pair in bare)


def test_the_package_and_its_version_load_none_of_the_rooms():
    check = "import sys, {}; print(sorted(m for m in sys.modules if m in ('numpy', 'aiohttp', 'rich', 'msgspec')))"
    for module in ("bitrawl", "bitrawl.cli"):
        done = subprocess.run([sys.executable, "-c", check.format(module)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]", module


def test_the_html_engine_is_loaded_only_when_something_is_shown():
    check = "import sys, bitrawl.cli.{}; print('jinja2' in sys.modules)"
    for verb in ("mine", "status"):
        done = subprocess.run([sys.executable, "-c", check.format(verb)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "False", verb
