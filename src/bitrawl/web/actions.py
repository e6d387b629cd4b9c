"""What pages and the API share: the server, and what is asked of jobs (find one, look at it, act on it, judge its pairs)."""

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

from bitrawl.errors import BitrawlError, FieldError, RefusedError
from bitrawl.files import NO_JSON
from bitrawl.job.live_facts import Live, Sampler
from bitrawl.languages import parse_language
from bitrawl.mining.judging import Flag
from bitrawl.model import Verdict
from bitrawl.reasons import Action
from bitrawl.review.reviewing import Reading
from bitrawl.review.search_query import ANYWHERE, HitOrder, SearchedSide, SearchQuery
from bitrawl.review.segment_list import (
    MOST_AT_ONCE,
    NO_FLAG,
    LengthUnit,
    SegmentFilter,
    SegmentList,
    SegmentState,
    fitting_rows,
)
from bitrawl.review.segment_review import subject_of
from bitrawl.store.index_reader import LanguageOrder, PairFilter, PairOrder, VerdictState
from bitrawl.store.verdicts import Subject, SubjectKind
from bitrawl.strategies.table import FOCUSED, STRATEGIES
from bitrawl.web import allowed
from bitrawl.web.commands import CommandRunner, CorpusWriting, ExportCache, Indexing
from bitrawl.web.job_list import Command, JobList, JobVerb, ServedJob
from bitrawl.web.job_state import JobState, figures_of_run, state_of_run
from bitrawl.web.messages import Message, RequestError, Words, marked, message, preferred, quoted
from bitrawl.web.operator_settings import Settings
from bitrawl.web.security import Users
from bitrawl.web.supervisor import Supervisor

LANGUAGE_COOKIE = "interface"
MOST_SITES = 100  # of a search that are listed
USUAL = ("breadth-first", "adaptive")
VERDICT_STATES = {"none": VerdictState.NONE, "accept": VerdictState.ACCEPTED, "reject": VerdictState.REJECTED}
SORTS = {
    "score": (PairOrder.SCORE, False, marked("surest first")),
    "doubtful": (PairOrder.SCORE, True, marked("most doubtful first")),
    "segments": (PairOrder.SEGMENTS, False, marked("longest first")),
    "short": (PairOrder.SEGMENTS, True, marked("shortest first")),
    "title": (PairOrder.TITLE, True, marked("by title, A to Z")),
    "title-down": (PairOrder.TITLE, False, marked("by title, Z to A")),
    "mean": (PairOrder.MEAN_SCORE, True, marked("worst segments first")),
    "completed": (PairOrder.COMPLETED, False, marked("newest first")),
}

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
    writing: CorpusWriting
    drawing: CorpusWriting  # of samples
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
    """The same, for what only its owner may do; 403 for those who review it."""
    job = await find_job(request)
    if not job.belongs_to(request.state.user):
        raise RequestError(403, message("Only the owner of this job can do that. You may read it and review it."))
    return job


async def find_mining_job(request: Request) -> ServedJob:
    """The same, for pages that only a mining job has."""
    job = await find_job(request)
    if job.kind != "mine":
        raise HTTPException(404)
    return job


async def start_job(request: Request, job: allowed.StartedRequest, name: str = "") -> str:
    """The id of the new job. Raises `FieldError` for what cannot be run, and `RefusedError`."""
    server = server_of(request)
    return await server.supervised(server.supervisor.create, request.state.user, job.prepare, name=name or job.name)


async def look_at(request: Request, job: ServedJob) -> tuple[JobState, Live]:
    """What it is doing, and its figures now."""
    server = server_of(request)
    return await server.supervised(glance, server, job)


def glance(server: Server, job: ServedJob) -> tuple[JobState, Live]:
    """The same, in the thread of the supervisor."""
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
        with (job.folder.path / "sites.jsonl").open("rb") as file:
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


def pair_filter(values: dict[str, str], offset: int, limit: int) -> PairFilter:
    """From the fields of a form, or of the API; what is wrong is left out."""
    order, ascending, _ = SORTS.get(values.get("sort", ""), SORTS["score"])
    return PairFilter(
        languages=two_languages(values.get("languages", "")),
        site=values.get("site", ""),
        text=values.get("text", ""),
        method=values.get("method", "")[:1],
        verdict=VERDICT_STATES.get(values.get("verdict", "")),
        order=order,
        ascending=ascending,
        offset=offset,
        limit=limit,
    )


def segment_filter(values: Mapping[str, str]) -> SegmentFilter:
    """From the fields of a form, or of the API. Raises `FieldError`."""
    wrong = dict[str, Message]()
    for name, choices in (("state", SegmentState), ("unit", LengthUnit), ("flag", (NO_FLAG, *Flag))):
        if values.get(name, "") not in {"", *choices}:
            wrong[name] = message("Choose one of: {choices}.", choices=", ".join(choices))
    scores, lengths = {"least": 0.0, "most": 1.0}, dict[str, int]()
    for name in ("least", "most"):
        if text := values.get(name, ""):
            scores[name] = _score(text)
            if not 0 <= scores[name] <= 1:
                wrong[name] = message("Give a number from 0 to 1.")
    for name in ("shortest", "longest"):
        if text := values.get(name, ""):
            if text.isascii() and text.isdecimal() and len(text) < 10:
                lengths[name] = int(text)
            else:
                wrong[name] = message("Give a whole number.")
    if wrong:
        raise FieldError(wrong)
    return SegmentFilter(
        languages=two_languages(values.get("languages", "")),
        flag=values.get("flag", ""),
        state=SegmentState(values["state"]) if values.get("state") else None,
        unit=LengthUnit(values.get("unit") or LengthUnit.WORDS),
        words_a=values.get("words_a", ""),
        words_b=values.get("words_b", ""),
        least=scores["least"],
        most=scores["most"],
        shortest=lengths.get("shortest", 0),
        longest=lengths.get("longest"),
    )


def _score(text: str) -> float:
    """-1 for what is no number."""
    try:
        return float(text)
    except ValueError:
        return -1.0


def search_query(values: dict[str, str]) -> SearchQuery:
    """From the fields of a form, or of the API. Raises `FieldError`."""
    near, wrong = values.get("near", ""), dict[str, Message]()
    if near not in ("", "any") and not near.isdecimal():
        wrong["near"] = message("Give a number of words, or any. Leave it out for a phrase.")
    for name, choices in (("side", SearchedSide), ("sort", HitOrder)):
        if values.get(name, "") not in {"", *choices}:
            wrong[name] = message("Choose one of: {choices}.", choices=", ".join(choices))
    if wrong:
        raise FieldError(wrong)
    return SearchQuery(
        text=values.get("q", ""),
        other=values.get("other", ""),
        without=values.get("without", ""),
        side=SearchedSide(values.get("side") or SearchedSide.BOTH),
        between=ANYWHERE if near == "any" else min(int(near), ANYWHERE) if near else None,
        languages=two_languages(values.get("languages", "")),
        order=HitOrder(values.get("sort") or HitOrder.SCORE),
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
    text = values.pop(name, "")
    return min(int(text), 10_000_000) if text.isdecimal() else 0


async def give_verdict(job: ServedJob, kind: str, key: str, within: str, verdict: str, by: str) -> None:
    """Accept, reject or undo, or decide between people who differ. Raises `HTTPException` for what is not there."""
    reading, now = Reading(job.folder), time.time()
    decided = verdict.removeprefix("decide-")
    if kind not in set(SubjectKind) or (decided not in set(Verdict) and verdict != "undo"):
        raise HTTPException(422, "A verdict has a kind (pair, segment), a key, and is accept, reject or undo.")
    if verdict != decided:
        await asyncio.to_thread(reading.decide, SubjectKind(kind), key, Verdict(decided), by, now)
        return
    if verdict == "undo":
        await asyncio.to_thread(reading.undo, SubjectKind(kind), key, by, now)
        return
    if kind == SubjectKind.PAIR:
        done = await asyncio.to_thread(reading.judge_pair, key, Verdict(verdict), by, now)
    else:
        done = await asyncio.to_thread(reading.judge_segment, within, key, Verdict(verdict), by, now)
    if not done:
        gone = message("That is no longer there: the site was mined again. Open the page again.")
        raise RequestError(404, gone)


def subjects_of(library: Reading, wanted: SegmentFilter, within: str, count: int | None) -> list[Subject]:
    """What a verdict on all segments that a filter shows is about, in the job or on two pages.

    With `count`, raises `RequestError` if there are not that many any more.
    """
    if within:
        pair = library.pair(within)
        row = pair.pair.row if pair else None
        rows = fitting_rows(pair.segments, wanted, (row.lang_a, row.lang_b)) if pair and row else ()
        number = len(rows)
    else:
        number = SegmentList(library).count(wanted)
    if count not in (None, number):
        why = message("There are {n} segments now. Look at them again, then judge them.", n=f"{number:,}")
        raise RequestError(409, why)
    if number > MOST_AT_ONCE:
        why = message("At most {most} segments can be judged at once. Choose fewer.", most=f"{MOST_AT_ONCE:,}")
        raise RequestError(422, why)
    return [subject_of(one) for one in rows] if within else SegmentList(library).subjects(wanted)


async def judge_all(job: ServedJob, wanted: SegmentFilter, within: str, verdict: Verdict, by: str, count: int) -> None:
    """A verdict on all segments that a filter shows, if there are still that many."""
    library = Reading(job.folder)
    subjects = await asyncio.to_thread(subjects_of, library, wanted, within, count)
    await asyncio.to_thread(library.judge_all, subjects, verdict, by, time.time())
