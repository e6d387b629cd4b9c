"""What pages and the API share: the server, and what is asked of jobs (find one, start one, look at it, act on it)."""

import asyncio
import csv
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from bitrawl.errors import RefusedError
from bitrawl.facts import Live
from bitrawl.file_names import SITES_JSON
from bitrawl.files import NO_JSON
from bitrawl.job import Sampler
from bitrawl.reasons import Action
from bitrawl.strategies import FOCUSED, STRATEGIES
from bitrawl.web import allowed
from bitrawl.web.commands import CommandRunner, ExportCache, FolderWork, Indexing
from bitrawl.web.job_list import Command, JobList, JobVerb, ServedJob
from bitrawl.web.job_state import JobState, figures_of_run, state_of_run
from bitrawl.web.messages import RequestError, Words, message, preferred, quoted
from bitrawl.web.operator_settings import Settings
from bitrawl.web.security import Users
from bitrawl.web.supervisor import Supervisor

LANGUAGE_COOKIE = "interface"
MOST_SITES = 100  # of a search that are listed
USUAL = ("breadth-first", "adaptive")

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Server(NamedTuple):
    """One app, over one folder of jobs."""

    settings: Settings
    jobs: JobList
    supervisor: Supervisor
    sampler: Sampler
    users: Users
    commands: CommandRunner
    exports: ExportCache
    indexing: Indexing
    writing: FolderWork
    drawing: FolderWork  # of samples
    catalogues: dict[str, Words]
    one_thread: ThreadPoolExecutor

    async def supervised(self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
        """In the one thread that the supervisor, the list of jobs and the sampler are called from."""
        call: Any = lambda: work(*args, **kwargs)  # noqa: E731 - run_in_executor takes no keywords
        result: Result = await asyncio.get_running_loop().run_in_executor(self.one_thread, call)
        return result


def server_of(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


def words_of(request: Request) -> Words:
    """In the language that the reader has chosen, or that the browser asks for."""
    catalogues, code = server_of(request).catalogues, request.cookies.get(LANGUAGE_COOKIE, "")
    if code not in catalogues:
        code = preferred(request.headers.get("accept-language", ""), catalogues)
    return catalogues[code]


async def find_job(request: Request, job_id: str = "") -> ServedJob:
    """The job that the address names; 404 if there is none, and if the user neither owns nor reviews it."""
    server = server_of(request)
    job = await server.supervised(server.jobs.find, job_id or request.path_params["id"], request.state.user)
    if job is None:
        raise RequestError(404, message("There is no such job, or it is not yours."))
    return job


async def find_own_job(request: Request) -> ServedJob:
    """The job that the address names, for what only its owner may do; 403 for those who review it."""
    job = await find_job(request)
    if not job.belongs_to(request.state.user):
        raise RequestError(403, message("Only the owner of this job can do that. You may read it and review it."))
    return job


async def find_mining_job(request: Request) -> ServedJob:
    """The job that the address names, for pages that only a mining job has; 404 for another kind."""
    job = await find_job(request)
    if job.kind != "mine":
        raise HTTPException(404)
    return job


async def start_job(request: Request, job: allowed.StartedRequest) -> str:
    """The id of the new job. Raises `FieldError` for what cannot be run, and `RefusedError`."""
    server = server_of(request)
    return await server.supervised(server.supervisor.create, request.state.user, job.prepare, name=job.name)


async def look_at(request: Request, job: ServedJob) -> tuple[JobState, Live]:
    """What a job is doing, and its figures now, from any task."""
    server = server_of(request)
    return await server.supervised(glance, server, job)


def glance(server: Server, job: ServedJob) -> tuple[JobState, Live]:
    """What a job is doing, and its figures now. To be called in the thread of the supervisor."""
    if job.kind == "run":
        return state_of_run(job.folder), figures_of_run(job.folder, time.time())
    return server.supervisor.state(job), server.sampler.sample(job.folder)


async def carry_out(server: Server, job: ServedJob, action: str, given: Mapping[str, object] | None = None) -> None:
    """What a button, or the API, asks for, with what was given for it. Raises `RefusedError` if it cannot be done now."""
    supervisor = server.supervisor
    plain = {
        "pause": supervisor.pause,
        "stop": supervisor.stop,
        "stop-now": supervisor.stop_now,
        Action.RESUME: supervisor.resume,
        "refresh": supervisor.visit_again,
        "delete": supervisor.delete,
    }
    if action == Action.VISIT_REST:
        await server.supervised(supervisor.go_on, job, allowed.going_on({"exhaustive": True}, server.settings))
    elif action == Action.LARGER_LIMIT:
        await server.supervised(supervisor.go_on, job, allowed.larger_limit(given or {}, server.settings))
    elif action in plain:
        await server.supervised(plain[action], job)
    else:
        raise RefusedError(quoted(f"there is no action {action!r}"))
    if action == "delete":
        server.sampler.forget(job.folder)
        server.exports.forget(job.folder)


class FoundSite(msgspec.Struct, frozen=True):
    """A row of sites.jsonl."""

    site: str = ""
    verdict: str = ""
    probability: float = 0.0
    evidence: dict[str, float] = {}  # by method


def found_sites(job: ServedJob) -> list[FoundSite]:
    """What a search has found so far, bilingual sites first."""
    sites: list[FoundSite] = []
    try:
        with (job.folder.path / SITES_JSON).open("rb") as file:
            sites.extend(msgspec.json.decode(line, type=FoundSite) for line in file)
    except (OSError, *NO_JSON):  # not there yet, or being written
        pass
    best = sorted(sites, key=lambda site: (site.verdict != "bilingual", site.verdict != "thin", -site.probability))
    return best[:MOST_SITES]


def comparable() -> list[str]:
    """The strategies that need no topic."""
    return [name for name in STRATEGIES.names() if name not in FOCUSED]


async def compare(server: Server, job: ServedJob, strategies: Iterable[str]) -> None:
    """Begin to compare them. Raises `RefusedError` while the job runs."""
    chosen = [name for name in comparable() if name in set(strategies)] or USUAL
    if len(await asyncio.to_thread(lambda: job.folder.job().langs)) < 2:
        why = message("Strategies are compared by the pairs that they find; this job has one language.")
        raise RequestError(422, why)
    command = Command(JobVerb.SIMULATE, (f"--strategies={','.join(chosen)}",))
    await server.supervised(server.supervisor.run_again, job, command)


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; none if it is not there."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except OSError:
        return []
