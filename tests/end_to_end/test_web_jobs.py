"""Jobs of the web app as real processes on the bundled web: paused, killed, taken over, deleted."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from inline_children import inline_children
from msgspec import json

from bitrawl import config, demo
from bitrawl.demo import Served
from bitrawl.endings import Ending, FaultSentence, State
from bitrawl.job.live_facts import Sampler
from bitrawl.job.running import mine
from bitrawl.remedies import Remedy, Tip
from bitrawl.store.ledger_facts import log
from bitrawl.web import allowed
from bitrawl.web.job_list import Command, JobList, JobVerb, ServedJob
from bitrawl.web.job_state import LOG
from bitrawl.web.operator_settings import SINGLE_USER, LimitsSection, Settings, User
from bitrawl.web.supervisor import Supervisor, SystemProcesses

RULES = ("/robots.txt", "/.well-known/tdmrep.json")
SEEDS = "http://www.town-library.test/ http://www.beekeepers.test/"
MOMENTS = 6_000  # of a twentieth of a second or more; each state is reached much sooner


class Server:
    """As much of a server as jobs need."""

    def __init__(self, path: Path, web: Served) -> None:
        self.web = web
        operator = {
            "fetch": {"allow_private": True, "connect_to": {"*.test": f"{demo.LOOPBACK}:{web.port}"}},
            "politeness": {"delay": 0.0},
            "analysis": {"workers": 1},
        }
        self.settings = Settings(limits=LimitsSection(free_megabytes=1e-3), job=operator)
        self.user = User(SINGLE_USER, admin=True)
        self.jobs = JobList(path)
        self.machines: list[SystemProcesses] = []
        self.restart()

    def restart(self) -> None:
        """As after `kill -9` of the server: nothing is known but what the folders say."""
        self.machines.append(SystemProcesses())
        self.supervisor = Supervisor(JobList(self.jobs.path), self.settings, self.machines[-1])
        self.supervisor.recover()

    def add(self) -> str:
        asked = allowed.mining({"seeds": SEEDS, "languages": "English, français", "exhaustive": "on"}, self.settings)
        return self.supervisor.create(self.user, asked.prepare)

    def job(self, job_id: str) -> ServedJob:
        return self.jobs.find(job_id, self.user)

    def state(self, job_id: str) -> State:
        return self.supervisor.state(self.job(job_id)).state

    async def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(MOMENTS):
            self.supervisor.tick()
            if condition():
                return
            await asyncio.sleep(0.05)
        raise AssertionError("it never came to that")

    async def until_visits(self, count: int) -> None:
        await self.until(lambda: len(self.web.visits) >= count)

    async def until_state(self, job_id: str, state: State) -> None:
        await self.until(lambda: self.state(job_id) is state)

    def kill_all(self) -> None:
        for job in self.jobs:
            if job.intent is not None and job.intent.process is not None:
                self.machines[-1].signal(job.intent.process, signal.SIGKILL)
        for machine in self.machines:
            for child in machine._children.values():
                child.wait()


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with demo.serve() as web:
        made = Server(tmp_path / "jobs", web)
        yield made
        made.kill_all()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str]]:
    """The units of a job that nobody disturbs."""

    async def run(path: Path) -> set[tuple[str, str]]:
        async with demo.serve() as web:
            server = Server(path, web)
            job = server.job(server.add())
            with inline_children():
                assert await mine(config.resolve(config.read(job.folder.description)), job.folder) is Ending.DONE
            return units(job)

    found = asyncio.run(run(tmp_path_factory.mktemp("undisturbed")))
    assert found
    return found


def units(job: ServedJob) -> set[tuple[str, str]]:
    lines = (job.folder.corpus / "en-fr.sentences.jsonl").read_bytes().splitlines()
    return {(unit["text_a"], unit["text_b"]) for unit in map(json.decode, lines)}


def concluded(job: ServedJob) -> set[str]:
    ledger = job.folder.reading()
    urls = {line.url for line in log(ledger)}
    ledger.close()
    return urls


@pytest.mark.long("a job has three processes, one after the other")
async def test_a_job_paused_by_one_server_and_resumed_by_another_fetches_nothing_twice_and_finds_the_same(
    server: Server, undisturbed: set[tuple[str, str]]
):
    job_id = server.add()
    await server.until_visits(20)
    server.restart()
    assert server.state(job_id) is State.RUNNING, "the job outlives the server"
    server.supervisor.pause(server.job(job_id))
    await server.until_state(job_id, State.PAUSED)
    asked = {visit.url for visit in server.web.visits if not visit.url.endswith(RULES)}
    assert asked <= concluded(server.job(job_id)), "what was in flight was not finished"
    paused = len(server.web.visits)
    server.restart()
    server.supervisor.tick()
    assert server.state(job_id) is State.PAUSED
    server.supervisor.resume(server.job(job_id))
    await server.until_state(job_id, State.ENDED)
    assert len(server.web.visits) > paused, "it was done before it was paused"
    assert not asked & {visit.url for visit in server.web.visits[paused:]}
    assert units(server.job(job_id)) == undisturbed
    visits = len(server.web.visits)
    server.supervisor.run_again(server.job(job_id), Command(JobVerb.PAIR))
    await server.until_state(job_id, State.RUNNING)
    await server.until_state(job_id, State.ENDED)
    assert units(server.job(job_id)) == undisturbed
    assert len(server.web.visits) == visits
    live = Sampler().sample(server.job(job_id).folder)
    assert live.pages == 42
    assert live.segments
    assert not live.fault


@pytest.mark.long("a job has three processes, one after the other")
async def test_a_killed_job_is_interrupted_and_a_resume_and_one_more_round_end_with_the_same_units(
    server: Server, undisturbed: set[tuple[str, str]]
):
    job_id = server.add()
    await server.until_visits(20)
    os.kill(server.job(job_id).intent.process.pid, signal.SIGKILL)
    await server.until_state(job_id, State.INTERRUPTED)
    server.supervisor.resume(server.job(job_id))
    await server.until_state(job_id, State.ENDED)
    assert units(server.job(job_id)) == undisturbed
    visits = len(server.web.visits)
    server.supervisor.visit_again(server.job(job_id))
    await server.until_state(job_id, State.ENDED)
    assert len(server.web.visits) > visits
    with server.job(job_id).folder.reading() as ledger:
        assert ledger.rounds.number == 2
    assert units(server.job(job_id)) == undisturbed


async def test_a_job_that_cannot_be_run_says_why(server: Server):
    job_id = server.add()
    description = server.job(job_id).folder.description
    description.write_text(description.read_text().replace('strategy = "adaptive"', 'strategy = "none"'))
    await server.until_state(job_id, State.FAILED)
    state = server.supervisor.state(server.job(job_id))
    assert (state.messages(), state.tips) == ((FaultSentence.CONFIG.message(),), (Tip(Remedy.CHANGE_SETTINGS),))
    assert "there is no strategy 'none'" in (server.job(job_id).folder.path / LOG).read_text("utf-8")


async def test_a_running_job_is_deleted_and_no_process_is_left(server: Server):
    job_id = server.add()
    await server.until_visits(10)
    process = server.job(job_id).intent.process
    server.supervisor.delete(server.job(job_id))
    await server.until(lambda: not list(server.jobs.path.iterdir()))
    assert not SystemProcesses().is_alive(process)
