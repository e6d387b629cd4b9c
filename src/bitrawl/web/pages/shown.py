"""A job as pages show it, and how each page finds it."""

import time
from hashlib import blake2b
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bitrawl.facts import State
from bitrawl.jobs.folder import JobFolder
from bitrawl.show.plots import Written
from bitrawl.web.intent import Verb
from bitrawl.web.live import Live
from bitrawl.web.rendering import words_of
from bitrawl.web.runs import figures_of_run, is_run, state_of_run
from bitrawl.web.said import RequestError, said
from bitrawl.web.server import Server, server_of
from bitrawl.web.shelf import ShelvedJob
from bitrawl.web.state import JobState, is_topic
from bitrawl.web.words import Words, marked

STATES = {
    State.WAITING: marked("waiting"),
    State.RUNNING: marked("running"),
    State.PAUSING: marked("pausing"),
    State.PAUSED: marked("paused"),
    State.STOPPING: marked("stopping"),
    State.ENDED: marked("done"),
    State.INTERRUPTED: marked("interrupted"),
    State.FAILED: marked("failed"),
}
"""In the words of the page."""

KINDS = {Verb.DISCOVER: "discover", Verb.BOOTSTRAP: "topic"}


class ShownJob(NamedTuple):
    """What every page of a job needs."""

    id: str
    name: str
    kind: str  # "mine", "discover", "topic", or "run" for many sites in bundles
    folder: JobFolder
    shelved: ShelvedJob


class ListedJob(NamedTuple):
    """A row of the list of jobs."""

    id: str
    name: str
    about: str
    kind: str
    state: State
    said: str
    pages: int
    pairs: int
    segments: int
    created: float


def written(words: Words) -> Written:
    """How charts write numbers and words in that language."""
    return Written(
        words.number,
        words.share,
        lambda n: words.count("{n} other", "{n} others", n),
    )


async def find(request: Request, job_id: str = "") -> ShownJob:
    """The job that the address names; 404 if there is none, and if it is another user's."""
    server = server_of(request)
    job = await server.supervised(server.shelf.find, job_id or request.path_params["id"], request.state.user)
    if job is None:
        raise RequestError(404, said("There is no such job, or it is not yours."))
    return shown(job)


async def found_mining(request: Request) -> ShownJob:
    """The same, for pages that only a mining job has."""
    job = await find(request)
    if job.kind != "mine":
        raise HTTPException(404)
    return job


def shown(job: ShelvedJob) -> ShownJob:
    kind = KINDS.get(job.intent.command.verb, "mine") if job.intent is not None else _kind(job.folder)
    return ShownJob(job.id, _name(job), kind, job.folder, job)


def _kind(folder: JobFolder) -> str:
    """Of a job of the command line."""
    if is_run(folder):
        return "run"
    if is_topic(folder):
        return "topic"
    return "discover" if (folder.path / "discovery.json").exists() else "mine"


def _name(job: ShelvedJob) -> str:
    if job.intent is None:
        return job.id
    return job.intent.name or ", ".join(job.intent.sites[:3]) or job.id[:8]


async def shown_jobs(request: Request) -> list[ListedJob]:
    """The user's, the newest first."""
    server, user, words = server_of(request), request.state.user, words_of(request)
    return await server.supervised(_listed, server, user, words)


def _listed(server: Server, user: object, words: Words) -> list[ListedJob]:
    rows = []
    for job in server.shelf.of(user):  # type: ignore[arg-type]
        one = shown(job)
        state, live = glance(server, one)
        created = job.intent.created if job.intent is not None else _changed(job.folder)
        about = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(created))
        said = words.say(STATES[state.state])
        rows.append(
            ListedJob(
                job.id,
                one.name,
                about,
                one.kind,
                state.state,
                said,
                live.pages,
                sum(live.pairs.values()),
                live.segments,
                created,
            )
        )
    return sorted(rows, key=lambda row: -row.created)


def _changed(folder: JobFolder) -> float:
    try:
        return (folder.path if is_topic(folder) else folder.description).stat().st_mtime
    except OSError:
        return 0.0


async def looked_at(request: Request, job: ShownJob) -> tuple[JobState, Live]:
    """What it is doing, and its figures now."""
    server = server_of(request)
    return await server.supervised(glance, server, job)


def glance(server: Server, job: ShownJob) -> tuple[JobState, Live]:
    """The same, in the thread of the supervisor."""
    if job.kind == "run":
        return state_of_run(job.folder), figures_of_run(job.folder, time.time())
    return server.supervisor.state(job.shelved), server.sampler.sample(job.folder)


def answer_part(request: Request, html: str) -> Response:
    """A part of a page, or only that nothing has changed."""
    tag = f'"{blake2b(html.encode(), digest_size=10).hexdigest()}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return HTMLResponse(html, headers={"ETag": tag})


def load_again() -> Response:
    """Tells the script that asked for a part to load the whole page. An error would stand in the browser's console."""
    return Response(status_code=205)
