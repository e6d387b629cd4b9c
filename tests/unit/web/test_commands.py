import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from msgspec.structs import replace

from bitrawl import process
from bitrawl.process import spawn
from bitrawl.web import supervisor
from bitrawl.web.commands import CommandError, CommandRunner, clean
from bitrawl.web.job_state import LOG, last_lines
from bitrawl.web.supervisor import SystemProcesses

WAITING = "import os, sys, signal\nprint('up', os.getsid(0) == os.getpid(), os.nice(0), flush=True)\nsignal.pause()\n"


@pytest.fixture
def machine(tmp_path: Path) -> SystemProcesses:
    """Runs a module of the test in place of bitrawl."""
    package = tmp_path / "modules/bitrawl"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import sys\nexec(sys.argv[1])")
    return SystemProcesses({"PYTHONPATH": str(package.parent), "HTTP_PROXY": "http://secret@proxy/"})


def ended(machine: SystemProcesses, process: object) -> None:
    while machine.is_alive(process):
        os.sched_yield()


def test_the_environment_of_a_job_has_no_proxies_and_no_secrets():
    given = {"PATH": "a", "HOME": "b", "LC_ALL": "c", "SSL_CERT_FILE": "d", "PYTHONPATH": "e", "LANG": "f"}
    secret = {"HTTP_PROXY": "x", "https_proxy": "x", "ALL_PROXY": "x", "AWS_SECRET": "x", "BITRAWL_TOKEN": "x"}
    assert clean({**given, **secret}) == given


def test_a_job_sees_a_clean_environment_and_no_input(machine: SystemProcesses, tmp_path: Path):
    process = machine.start(["import os, sys; print(sorted(os.environ), repr(sys.stdin.read()))"], tmp_path)
    ended(machine, process)
    assert "PROXY" not in last_lines(tmp_path)[-1]
    assert last_lines(tmp_path)[-1].endswith("''")
    assert machine.exit_code(process) == 0


def test_a_job_sees_the_proxy_of_the_operator(machine: SystemProcesses, tmp_path: Path):
    told = SystemProcesses(machine._environment, proxy="http://me:secret@proxy:3128/")
    process = told.start(["import os; print(os.environ['all_proxy'])"], tmp_path)
    ended(told, process)
    assert last_lines(tmp_path) == ["http://me:secret@proxy:3128/"]


def test_a_job_has_its_own_session_and_ends_by_our_signal(machine: SystemProcesses, tmp_path: Path):
    process = machine.start([WAITING], tmp_path)
    while not last_lines(tmp_path):
        os.sched_yield()
    assert last_lines(tmp_path)[0].startswith("up True")
    assert machine.is_alive(process)
    assert SystemProcesses().is_alive(process), "another server sees it too"
    machine.signal(process, signal.SIGTERM)
    ended(machine, process)
    assert machine.exit_code(process) == -signal.SIGTERM
    assert SystemProcesses().exit_code(process) is None
    machine.signal(process, signal.SIGTERM)


def test_a_dead_process_that_nobody_has_read_yet_is_dead(machine: SystemProcesses, tmp_path: Path):
    process = machine.start(["pass"], tmp_path)
    other = SystemProcesses()  # it does not read the child's exit code
    while other.is_alive(process):
        os.sched_yield()
    assert machine.exit_code(process) == 0


@pytest.mark.parametrize("change", [{"started": 1}, {"boot": "another"}])
def test_a_process_that_is_not_the_one_meant_is_not_signalled(
    machine: SystemProcesses, tmp_path: Path, change: dict[str, object]
):
    process = machine.start([WAITING], tmp_path)
    other = replace(process, **change)
    assert not machine.is_alive(other)
    machine.signal(other, signal.SIGKILL)
    assert machine.is_alive(process)
    machine.signal(process, signal.SIGKILL)
    ended(machine, process)


def test_a_long_log_is_set_aside_when_a_process_starts(machine: SystemProcesses, tmp_path: Path):
    long = "first-word\n" * (supervisor.LOG_BYTES // 10)
    (tmp_path / LOG).write_text(long)
    ended(machine, machine.start(["print('second-word')"], tmp_path))
    assert (tmp_path / LOG).read_text() == "second-word\n"
    assert (tmp_path / f"{LOG}.1").read_text() == long


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandRunner:
    """Runs `main` of a module of the test, which does what its first argument says."""
    (tmp_path / "command.py").write_text("import sys\ndef main(): exec(sys.argv[1])")
    monkeypatch.syspath_prepend(str(tmp_path))
    return CommandRunner({"PATH": os.environ["PATH"]})


async def test_a_command_answers_what_it_was_given(commands: CommandRunner):
    code = "import os; print(sys.stdin.read() * 2, os.getsid(0) == os.getpid(), sys.argv[2:])"
    assert await commands.run([code, "--flag"], b"word", module="command") == "wordword True ['--flag']\n"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("sys.stderr.write('a warning\\nno such page\\n'); sys.exit(2)", "no such page"),
        ("sys.exit(1)", "That could not be done."),
        ("import os; os.kill(os.getpid(), 9)", "That could not be done."),
        ("import signal; signal.pause()", "That took too long. Try with less."),
    ],
)
async def test_a_command_that_fails_says_why_in_one_line(commands: CommandRunner, code: str, message: str):
    with pytest.raises(CommandError, match=message):
        await commands.run([code], module="command", seconds=60.0 if "pause" not in code else 0.5)


async def test_the_message_of_a_command_has_no_path_of_the_server(commands: CommandRunner):
    code = "sys.stderr.write(f'{sys.argv[2]} has no terms; {sys.argv[3][9:]}/x.tsv cannot be written'); sys.exit(2)"
    with pytest.raises(CommandError) as error:
        await commands.run([code, "/srv/jobs/1", "--output=/srv/kept/2"], module="command")
    assert str(error.value) == "the job's folder has no terms; x.tsv cannot be written"


async def test_a_command_dies_with_the_request_that_waits_for_it(commands: CommandRunner, tmp_path: Path):
    os.mkfifo(tmp_path / "alive")
    code = f"file = open({str(tmp_path / 'alive')!r}, 'wb'); import signal; signal.pause()"
    waiting = asyncio.create_task(commands.run([code], module="command"))
    with await asyncio.to_thread((tmp_path / "alive").open, "rb") as alive:
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert alive.read() == b"", "the command lives on"


async def test_a_command_that_ends_before_a_thread_is_free_leaves_no_pipe_open(
    commands: CommandRunner, monkeypatch: pytest.MonkeyPatch
):
    started, free = [], Event()
    monkeypatch.setattr(process, "spawn", lambda *args, **kw: started.append(spawn(*args, **kw)) or started[0])
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(free.wait)
        asyncio.get_running_loop().set_default_executor(pool)
        waiting = asyncio.create_task(commands.run(["import signal; signal.pause()"], module="command"))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        free.set()
    assert [pipe.closed for pipe in (started[0].stdin, started[0].stdout)] == [True, True]


async def test_the_long_work_of_one_person_does_not_keep_another_waiting(commands: CommandRunner):
    forever = "import signal; signal.pause()"
    work = [commands.run([forever], module="command", person="anna", seconds=3600.0) for _ in range(6)]
    annas = [asyncio.create_task(one) for one in work]
    await asyncio.sleep(0)
    for seconds in (60.0, 3600.0):
        output = commands.run(["print('ready')"], module="command", person="ben", seconds=seconds)
        assert await asyncio.wait_for(output, 60) == "ready\n"
    assert not any(task.done() for task in annas)
    for task in annas:
        task.cancel()
    await asyncio.gather(*annas, return_exceptions=True)
