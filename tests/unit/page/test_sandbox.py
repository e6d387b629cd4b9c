import asyncio
import functools
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable

import msgspec
import pytest
from hostile_readers import Hostile, broken, dying, mortal, noted, sleeping_service

from bitrawl.children import Children
from bitrawl.config import Job
from bitrawl.errors import ChildError
from bitrawl.model import Capture, Page, Skip
from bitrawl.page import AnalysisSection
from bitrawl.page.sandbox import Rejects, SandboxedAnalyser
from bitrawl.process import Failure, FailureKind, Limits
from bitrawl.reasons import Reason, Stage
from bitrawl.testing import InlineAnalyser
from bitrawl.url import Url


def capture(body: str | bytes, path: str = "page") -> Capture:
    body = body.encode() if isinstance(body, str) else body
    return Capture(Url.parse(f"https://www.example.org/{path}"), 200, (("Content-Type", "text/html"),), body, 1.0)


@pytest.fixture
async def sandbox(tmp_path) -> AsyncIterator[SandboxedAnalyser]:
    async with SandboxedAnalyser(
        Hostile, AnalysisSection(workers=1, megabytes=128), rejects=Rejects(tmp_path / "rejected")
    ) as analyser:
        yield analyser


async def title(analyser: SandboxedAnalyser, body: str) -> str:
    page = await analyser.analyse(capture(body))
    assert isinstance(page, Page), page
    return page.title


async def test_a_page_comes_back_as_its_reader_saw_it(sandbox):
    sent = Capture(Url.parse("https://e.org/"), 200, (), b"echo", 1.0, request=b"GET", payload=b"gzip")
    assert await sandbox.analyse(sent, index=True) == Page(sent.url, title="4 0 0 True")


async def test_a_page_is_kept_as_its_reader_packed_it_and_a_copy_that_differs_is_packed_anew(sandbox):
    page = await sandbox.analyse(capture("a title"))
    assert isinstance(page, Page)
    assert vars(page)["packed"] == Page(page.url, title="a title").packed
    assert msgspec.structs.replace(page, title="another").packed == Page(page.url, title="another").packed


async def test_a_reader_has_as_much_memory_without_a_job_as_in_one():
    async with SandboxedAnalyser(Hostile) as analyser:
        assert int(await title(analyser, "megabytes")) > Job().analysis.megabytes


HOSTILE = [
    ("exit", Reason.ANALYSIS_CRASH, "exit status 3"),
    ("segfault", Reason.ANALYSIS_CRASH, "killed by SIGSEGV"),
    ("hog", Reason.KILLED, "out of memory"),
    ("raise", Reason.ANALYSIS_ERROR, "ZeroDivisionError: the page made me do it"),
    ("fault", Reason.ANALYSIS_ERROR, "RuntimeError: StoreError"),
    ("recurse", Reason.ANALYSIS_ERROR, "RecursionError"),
    ("surrogate", Reason.ANALYSIS_ERROR, "UnicodeEncodeError"),
    ("lie", Reason.ANALYSIS_ERROR, "an answer for another page: https://bank.example/"),
    ("garble", Reason.ANALYSIS_ERROR, "an answer that cannot be read"),
    ("append", Reason.ANALYSIS_ERROR, "an answer that cannot be read: more or less than a page"),
    ("cut", Reason.ANALYSIS_ERROR, "an answer that cannot be read: more or less than a page"),
    ("nothing", Reason.ANALYSIS_ERROR, "KeyError"),
]


@pytest.mark.parametrize(("command", "reason", "detail"), HOSTILE)
async def test_a_hostile_page_costs_one_page(sandbox, tmp_path, command, reason, detail):
    skip = await sandbox.analyse(capture(command))

    assert isinstance(skip, Skip)
    assert (skip.url, skip.stage, skip.reason) == (capture("").url, Stage.ANALYSE, reason)
    assert skip.detail.startswith(detail)
    assert await title(sandbox, "the next") == "the next"
    (kept,) = (tmp_path / "rejected").glob("*.html")
    about = json.loads(kept.with_suffix(".json").read_text())
    assert kept.read_bytes() == command.encode()
    assert (about["url"], about["reason"], about["headers"]) == (skip.url, reason, [["Content-Type", "text/html"]])


async def test_a_page_that_hangs_in_a_library_is_cut_short_and_says_where(tmp_path):
    async with SandboxedAnalyser(
        Hostile, AnalysisSection(workers=1, seconds=1.5), rejects=Rejects(tmp_path)
    ) as analyser:
        skip = await analyser.analyse(capture("hang"))
        assert isinstance(skip, Skip)
        assert (skip.reason, skip.detail) == (Reason.ANALYSIS_TIMEOUT, "1.5 s")
        assert await title(analyser, "the next") == "the next"
    (about,) = tmp_path.glob("*.json")
    assert "hostile_readers.py" in json.loads(about.read_text())["trace"]


async def test_a_page_is_not_given_up_for_seconds_that_the_machine_spent_elsewhere():
    async with SandboxedAnalyser(Hostile, AnalysisSection(workers=1, seconds=0.5)) as analyser:
        assert await title(analyser, "starve 0.75") == "read"


async def test_a_reader_that_sleeps_is_ended_and_that_is_no_verdict():
    async with Children(sleeping_service, Limits(seconds=0.05), workers=1) as children:
        failure = await children.ask(b"", attempts=0)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.detail) == (FailureKind.KILLED, "no answer in 2 s")
    assert "hostile_readers.py" in failure.trace


async def test_other_pages_pass_while_one_hangs():
    async with SandboxedAnalyser(Hostile, AnalysisSection(workers=2, seconds=60)) as analyser:
        hanging = asyncio.create_task(analyser.analyse(capture("hang")))
        titles = [await title(analyser, f"page {number}") for number in range(20)]
        assert titles == [f"page {number}" for number in range(20)]
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert await asyncio.gather(title(analyser, "a"), title(analyser, "b")) == ["a", "b"]


async def test_there_is_no_second_reader_for_a_few_pages_that_come_at_once():
    async with SandboxedAnalyser(Hostile, AnalysisSection(workers=2)) as analyser:
        pids = await asyncio.gather(*(title(analyser, "pid") for _ in range(4)))
    assert len(set(pids)) == 1


async def test_readers_that_will_be_needed_are_started_before_they_are_asked_and_no_more_than_there_may_be(tmp_path):
    async with SandboxedAnalyser(functools.partial(noted, tmp_path), AnalysisSection(workers=2)) as analyser:
        analyser.get_ready(1)
        analyser.get_ready(5)
        while len(list(tmp_path.iterdir())) < 2:  # noqa: ASYNC110 - files of other processes
            await asyncio.sleep(0.01)
        pids = await asyncio.gather(*(title(analyser, "pid") for _ in range(4)))
    started = {path.name for path in tmp_path.iterdir()}
    assert set(pids) <= started
    assert len(started) == 2


async def test_a_request_that_comes_before_the_readers_have_begun_is_no_reason_for_one_more(tmp_path):
    async with SandboxedAnalyser(functools.partial(noted, tmp_path), AnalysisSection(workers=2)) as analyser:
        analyser.get_ready(2)
        await asyncio.gather(*(title(analyser, "pid") for _ in range(4)))
        while len(list(tmp_path.iterdir())) < 2:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
        await asyncio.gather(*(title(analyser, "pid") for _ in range(4)))
    assert len(list(tmp_path.iterdir())) == 2


async def test_leaving_ends_a_reader_that_is_being_started(tmp_path):
    async with SandboxedAnalyser(functools.partial(noted, tmp_path), AnalysisSection(workers=2)) as analyser:
        analyser.get_ready(2)
        await asyncio.sleep(0)
    for path in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name), 0)


async def test_a_reader_that_cannot_be_started_before_it_is_asked_is_no_fault_until_then():
    async with SandboxedAnalyser(broken, AnalysisSection(workers=1)) as analyser:
        analyser.get_ready(1)
        with pytest.raises(ChildError, match="the model is missing"):
            await analyser.analyse(capture("x"))


async def test_no_more_inputs_are_kept_than_allowed(tmp_path):
    async with SandboxedAnalyser(Hostile, AnalysisSection(workers=1), rejects=Rejects(tmp_path, limit=3)) as analyser:
        for number in range(5):
            await analyser.analyse(capture(f"raise {number}"))
    assert len(list(tmp_path.iterdir())) == 6


async def test_a_folder_that_cannot_be_written_costs_the_input_and_not_the_crawl(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    async with SandboxedAnalyser(
        Hostile, AnalysisSection(workers=1), rejects=Rejects(tmp_path / "file" / "rejected")
    ) as analyser:
        assert isinstance(await analyser.analyse(capture("raise")), Skip)
    assert "cannot be kept" in caplog.text


async def test_a_reader_that_leaks_is_replaced_before_it_costs_a_page(sandbox):
    titles = [await title(sandbox, f"leak {number}") for number in range(15)]  # 300 of 128 MB
    assert titles == [f"leak {number}" for number in range(15)]


async def test_one_page_at_a_time_needs_one_child(tmp_path):
    async with SandboxedAnalyser(Hostile, AnalysisSection(workers=4)) as analyser:
        assert len({await title(analyser, "pid") for _ in range(10)}) == 1


async def test_what_a_reader_prints_is_no_answer(sandbox):
    assert await title(sandbox, "chatter") == "chatter"


async def test_a_large_page_passes(sandbox):
    assert await title(sandbox, "echo " + "x" * 5_000_000) == "5000005 0 0 False"


async def test_a_child_has_none_of_our_descriptors(sandbox):
    read_end, write_end = os.pipe()
    os.dup2(write_end, 200, inheritable=True)
    try:
        assert await title(sandbox, "descriptor 200") == "closed"
    finally:
        for descriptor in (read_end, write_end, 200):
            os.close(descriptor)


async def test_ctrl_c_is_for_the_parent_alone(sandbox):
    child = int(await title(sandbox, "pid"))
    assert os.getsid(child) != os.getsid(0)
    os.kill(child, signal.SIGINT)
    assert await title(sandbox, "still here") == "still here"


async def test_a_child_that_dies_idle_is_not_asked_again(sandbox):
    child = int(await title(sandbox, "pid"))
    ended = os.pidfd_open(child)
    os.kill(child, signal.SIGKILL)
    await _readable(ended)
    os.close(ended)
    assert await title(sandbox, "the next") == "the next"


async def test_a_page_whose_reader_was_killed_three_times_is_read_again(sandbox, tmp_path):
    assert await title(sandbox, f"mortal {tmp_path} 3")
    assert not (tmp_path / "rejected").exists()


async def test_a_page_that_cost_a_reader_alone_three_times_is_skipped_as_killed(sandbox, tmp_path):
    skip = await sandbox.analyse(capture(f"mortal {tmp_path} 9"))
    assert (skip.stage, skip.reason, skip.detail) == (Stage.ANALYSE, Reason.KILLED, "killed by SIGKILL")
    assert len((tmp_path / "page").read_bytes()) == 4  # once beside others, three times alone
    assert await title(sandbox, "the next") == "the next"


async def test_what_was_killed_beside_others_is_tried_again_without_them(tmp_path):
    async with SandboxedAnalyser(Hostile, AnalysisSection(workers=3)) as analyser:
        idle = await asyncio.gather(title(analyser, "pid"), title(analyser, "pid"))
        busy = asyncio.create_task(title(analyser, f"until {tmp_path / 'page'}"))
        alone = (await title(analyser, f"mortal {tmp_path} 1")).split()
    assert not {*idle, await busy} & set(alone)


async def test_kills_while_a_child_starts_do_not_end_the_job(tmp_path):
    async with SandboxedAnalyser(functools.partial(mortal, tmp_path, 3), AnalysisSection(workers=1)) as analyser:
        assert await title(analyser, "a page") == "a page"


@pytest.mark.parametrize(
    ("factory", "said"),
    [(broken, "the model is missing"), (dying, "exit status 7"), (functools.partial(int, "x"), "x")],
)
async def test_a_child_that_cannot_start_stops_the_job_with_its_last_words(factory: Callable[[], Hostile], said):
    async with SandboxedAnalyser(factory, AnalysisSection(workers=1)) as analyser:
        with pytest.raises(ChildError, match=said):
            await analyser.analyse(capture("x"))


async def test_leaving_ends_the_children():
    async with SandboxedAnalyser(Hostile, AnalysisSection(workers=2)) as analyser:
        pid = int(await title(analyser, "pid"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


PARENT = """
import asyncio
from hostile_readers import Hostile
from bitrawl.model import Capture
from bitrawl.page import AnalysisSection
from bitrawl.page.sandbox import SandboxedAnalyser
from bitrawl.url import Url

async def main():
    async with SandboxedAnalyser(Hostile, AnalysisSection(workers=1)) as analyser:
        page = await analyser.analyse(Capture(Url.known("https://www.example.org/"), 200, (), b"pid", 1.0))
        print(page.title, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_child_does_not_outlive_a_parent_that_was_killed():
    path = os.pathsep.join(sys.path)
    with subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        ended = os.pidfd_open(child)
        parent.kill()
    await _readable(ended)
    os.close(ended)


async def _readable(descriptor: int) -> None:
    """A pidfd is readable once its process has ended; ten seconds are more than enough."""
    ready, _, _ = await asyncio.to_thread(select.select, [descriptor], [], [], 10)
    assert ready


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a title", Page(capture("").url, title="a title")),
        (
            "raise",
            Skip(capture("").url, Stage.ANALYSE, Reason.ANALYSIS_ERROR, "ZeroDivisionError: the page made me do it"),
        ),
    ],
)
async def test_the_inline_analyser_is_the_same_without_processes(body, expected):
    assert await InlineAnalyser(Hostile()).analyse(capture(body)) == expected
