"""What pages and the API share: the server, and what is asked of jobs (find one, look at it, act on it, judge its finds)."""

import asyncio
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, ParamSpec, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from bitrawl.config import FOCUSED
from bitrawl.config.choices import strategy_names
from bitrawl.errors import BitrawlError, RefusedError
from bitrawl.files import NO_JSON
from bitrawl.job.folder import JobFolder
from bitrawl.job.live_facts import Live, Sampler
from bitrawl.job.reviewing import LanguageOrder, PairFilter, PairOrder, Reading, VerdictState
from bitrawl.job.verdicts import SubjectKind
from bitrawl.languages import parse_language
from bitrawl.model import Verdict
from bitrawl.web import allowed
from bitrawl.web.commands import Errands, Indexing, KeptFiles
from bitrawl.web.job_list import Command, Shelf, ShelvedJob, Verb
from bitrawl.web.job_state import JobState, figures_of_run, is_run, is_topic, state_of_run
from bitrawl.web.messages import RequestError, Words, marked, preferred, quoted, said
from bitrawl.web.operator_settings import Settings
from bitrawl.web.security import Users
from bitrawl.web.supervisor import Supervisor

LANGUAGE_COOKIE = "interface"

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Server(NamedTuple):
    """One app, over one folder of jobs."""

    settings: Settings
    shelf: Shelf
    supervisor: Supervisor
    sampler: Sampler
    users: Users
    errands: Errands
    kept: KeptFiles
    indexing: Indexing
    catalogues: dict[str, Words]
    one_thread: ThreadPoolExecutor

    async def supervised(self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
        """In the one thread that the supervisor, the shelf and the sampler are called from."""
        call: Any = lambda: work(*args, **kwargs)  # noqa: E731 - run_in_executor takes no keywords
        result: Result = await asyncio.get_running_loop().run_in_executor(self.one_thread, call)
        return result


def server_of(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


def words_of(request: Request) -> Words:
    """In the language that the reader has chosen, or that the browser asks for."""
    known = request.app.state.server.catalogues
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen not in known:
        chosen = preferred(request.headers.get("accept-language", ""), known)
    found: Words = known[chosen]
    return found


MOST_SITES = 100  # of a search that are listed
USUAL = ("breadth-first", "adaptive")
STATES = {"none": VerdictState.NONE, "accept": VerdictState.ACCEPTED, "reject": VerdictState.REJECTED}
SORTS = {
    "score": (PairOrder.SCORE, False, marked("surest first")),
    "doubtful": (PairOrder.SCORE, True, marked("most doubtful first")),
    "segments": (PairOrder.SEGMENTS, False, marked("longest first")),
    "mean": (PairOrder.MEAN_SCORE, True, marked("worst segments first")),
    "completed": (PairOrder.COMPLETED, False, marked("newest first")),
}
KINDS = {Verb.DISCOVER: "discover", Verb.BOOTSTRAP: "topic"}


class ShownJob(NamedTuple):
    """What every page of a job needs."""

    id: str
    name: str
    kind: str  # "mine", "discover", "topic", or "run" for many sites in bundles
    folder: JobFolder
    shelved: ShelvedJob


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


async def looked_at(request: Request, job: ShownJob) -> tuple[JobState, Live]:
    """What it is doing, and its figures now."""
    server = server_of(request)
    return await server.supervised(glance, server, job)


def glance(server: Server, job: ShownJob) -> tuple[JobState, Live]:
    """The same, in the thread of the supervisor."""
    if job.kind == "run":
        return state_of_run(job.folder), figures_of_run(job.folder, time.time())
    return server.supervisor.state(job.shelved), server.sampler.sample(job.folder)


async def carry_out(server: Server, job: ShownJob, action: str) -> None:
    """What a button, or the API, asks for. Raises `RefusedError` if it cannot be done now."""
    supervisor, shelved = server.supervisor, job.shelved
    match action:
        case "pause":
            await server.supervised(supervisor.pause, shelved)
        case "stop":
            await server.supervised(supervisor.stop, shelved)
        case "stop-now":
            await server.supervised(supervisor.stop_now, shelved)
        case "resume":
            await server.supervised(supervisor.resume, shelved)
        case "exhaustive":
            changed = allowed.going_on({"exhaustive": True}, server.settings)
            await server.supervised(supervisor.go_on, shelved, changed)
        case "delete":
            await server.supervised(supervisor.delete, shelved, stop=True)
            server.sampler.forget(job.folder)
            server.kept.forget(job.folder)
        case _:
            raise RefusedError(quoted(f"there is no action {action!r}"))


class FoundSite(msgspec.Struct, frozen=True):
    """A row of sites.jsonl."""

    site: str = ""
    verdict: str = ""
    probability: float = 0.0
    evidence: dict[str, float] = {}  # by method


def found_sites(job: ShownJob) -> list[FoundSite]:
    """What a search has found so far, bilingual sites first."""
    found: list[FoundSite] = []
    try:
        with (job.folder.path / "sites.jsonl").open("rb") as file:
            found.extend(msgspec.json.decode(line, type=FoundSite) for line in file)
    except (OSError, *NO_JSON):  # not there yet, or being written
        pass
    best = sorted(found, key=lambda one: (one.verdict != "bilingual", one.verdict != "thin", -one.probability))
    return best[:MOST_SITES]


def comparable() -> list[str]:
    """The strategies that need no topic."""
    return [name for name in strategy_names() if name not in FOCUSED]


async def compare(server: Server, job: ShownJob, strategies: Iterable[str]) -> None:
    """Begin to compare them. Raises `RefusedError` while the job runs."""
    chosen = [name for name in comparable() if name in set(strategies)] or USUAL
    command = Command(Verb.SIMULATE, (f"--strategies={','.join(chosen)}",))
    if len(await asyncio.to_thread(lambda: job.folder.job().langs)) < 2:
        raise RequestError(422, said("Strategies are compared by the pairs that they find; this job has one language."))
    await server.supervised(server.supervisor.run_again, job.shelved, command)


def wanted_pairs(values: dict[str, str], offset: int, limit: int) -> PairFilter:
    """From the fields of a form, or of the API; what is wrong is left out."""
    order, ascending, _ = SORTS.get(values.get("sort", ""), SORTS["score"])
    return PairFilter(
        languages=two_languages(values.get("languages", "")),
        site=values.get("site", ""),
        text=values.get("text", ""),
        method=values.get("method", "")[:1],
        verdict=STATES.get(values.get("verdict", "")),
        order=order,
        ascending=ascending,
        offset=offset,
        limit=limit,
    )


def two_languages(name: str) -> LanguageOrder | None:
    """From "en-fr", "zh-Hant-en"; None for all."""
    parts = name.split("-")
    for cut in range(1, len(parts)):
        try:
            return LanguageOrder(parse_language("-".join(parts[:cut])), parse_language("-".join(parts[cut:])))
        except BitrawlError:
            continue
    return None


def number_in(values: dict[str, str], name: str) -> int:
    given = values.pop(name, "")
    return min(int(given), 10_000_000) if given.isdecimal() else 0


async def give_verdict(job: ShownJob, kind: str, key: str, within: str, verdict: str, by: str) -> None:
    """Accept, reject or undo. Raises `HTTPException` for what is not there."""
    reading, now = Reading(job.folder), time.time()
    if kind not in set(SubjectKind) or verdict not in {*Verdict, "undo"}:
        raise HTTPException(422, "A verdict has a kind (pair, segment), a key, and is accept, reject or undo.")
    if verdict == "undo":
        await asyncio.to_thread(reading.undo, SubjectKind(kind), key, by, now)
        return
    if kind == SubjectKind.PAIR:
        done = await asyncio.to_thread(reading.judge_pair, key, Verdict(verdict), by, now)
    else:
        done = await asyncio.to_thread(reading.judge_segment, within, key, Verdict(verdict), by, now)
    if not done:
        gone = said("That is not there any more: the site was mined again. Open the page again.")
        raise RequestError(404, gone)
