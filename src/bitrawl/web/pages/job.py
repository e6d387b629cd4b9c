"""The page of one job: what it is doing, what it has found, and what can be asked of it."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import BitrawlError
from bitrawl.facts import Doing, State, Step
from bitrawl.job.bootstrap import SEEDS, SITES, TERMS, TOPIC
from bitrawl.job.facts import gather
from bitrawl.job.reading import Reading
from bitrawl.show.diagnosis import Diagnosis, Point, diagnose
from bitrawl.show.plots import COLOURS, Series, bars, lines
from bitrawl.web.actions import ShownJob, carry_out, find, found_sites, looked_at
from bitrawl.web.live import Live
from bitrawl.web.pages.shown import STATES, answer_part, written
from bitrawl.web.pages.topic import ShownTopic, shown_topic
from bitrawl.web.processes import last_lines
from bitrawl.web.rendering import fragment, rendered
from bitrawl.web.runs import merged_files
from bitrawl.web.security import posted
from bitrawl.web.server import server_of, words_of
from bitrawl.web.state import JobState
from bitrawl.web.words import REASONS, Words, marked

MOST_BARS = 8  # judgement
EXPLAIN_AFTER = 30  # fetches without a pair; judgement
EXPLAIN_AGAIN = 60.0  # seconds; explaining reads the whole ledger
MOST_EXPLAINED = 20_000  # fetches of a running job that is explained; reading more takes seconds
MESSAGES = 30  # lines
FOUND = {"discover": ("sites.txt", "sites.tsv", "sites.jsonl"), "topic": (TERMS, TOPIC, SEEDS, SITES)}
"""Files of a search, and of a topic, that can be taken away; the first is there when something was found."""


STEPS = {
    Step.PAIRING: marked("pairing pages"),
    Step.LEARNING: marked("learning words"),
    Step.ALIGNING: marked("aligning"),
    Step.WRITING: marked("writing the corpus"),
}


class Action(NamedTuple):
    """A button."""

    name: str
    label: str
    kind: str = ""  # a class of the style
    ask: str = ""  # what is asked before it is done


_PAUSE = Action("pause", marked("Pause"))
_STOP = Action("stop", marked("Stop and finish with what is there"))
_STOP_NOW = Action("stop-now", marked("Stop now"))
_RESUME = Action("resume", marked("Go on"), "main")
_RETRY = Action("resume", marked("Try again"), "main")
_ALL = Action("exhaustive", marked("Go on, and visit all of the site"))
_DELETE = Action("delete", marked("Delete"), "danger", marked("Delete this job and everything that it has found?"))

_ACTIONS: Mapping[State, Sequence[Action]] = {
    State.WAITING: (_STOP, _DELETE),
    State.RUNNING: (_PAUSE, _STOP, _STOP_NOW),
    State.PAUSING: (_STOP_NOW,),
    State.STOPPING: (_STOP_NOW,),
    State.PAUSED: (_RESUME, _STOP, _DELETE),
    State.ENDED: (_ALL, _DELETE),
    State.INTERRUPTED: (_RESUME, _DELETE),
    State.FAILED: (_RETRY, _DELETE),
}


class Told(NamedTuple):
    """The state in words."""

    code: State
    said: str
    detail: str = ""
    quoted: bool = False  # the detail is in English, from the program
    note: str = ""  # in English too


async def show(request: Request) -> Response:
    job = await find(request)
    return rendered(request, "job.html", job=job, tab="", **await _values(request, job))


async def live(request: Request) -> Response:
    """What changes on that page."""
    job = await find(request)
    return answer_part(request, fragment(request, "live.html", job=job, **await _values(request, job)))


async def act(request: Request) -> Response:
    """One of the buttons."""
    await posted(request)
    job = await find(request)
    await carry_out(server_of(request), job, request.path_params["action"])
    deleted = request.path_params["action"] == "delete"
    return RedirectResponse("/" if deleted else f"/jobs/{job.id}", 303)


async def _values(request: Request, job: ShownJob) -> dict[str, Any]:
    words = words_of(request)
    state, figures = await looked_at(request, job)
    why = await _why(job, state, figures)
    if job.kind == "mine":
        await server_of(request).indexing.is_fresh(job.folder, wait=0)
    topic = await asyncio.to_thread(shown_topic, job.folder) if job.kind == "topic" else None
    return {
        "live": figures,
        "state": _told_topic(words, state, topic, _wiki(request)) if topic else _told(words, state, figures),
        "topic": topic,
        "advice": topic.advice(words, state.state) if topic else (),
        "left_out": _bars(words, topic.excluded(words), 0) if topic else None,
        "active": state.is_active or state.state is State.WAITING,
        "actions": _actions(words, job, state),
        "tiles": topic.tiles(words) if topic else _tiles(words, job, figures),
        "why": why,
        "sites": await asyncio.to_thread(found_sites, job) if job.kind == "discover" else (),
        "found_files": await asyncio.to_thread(found_files, job),
        "charts": await asyncio.to_thread(_charts, words, job, figures),
        "languages": _bars(words, {words.language(code): n for code, n in figures.languages.items()}, figures.pages),
        "skips": _bars(words, {words.say(REASONS.get(one, one)): n for one, n in figures.skips.items()}, 0),
        "messages": "\n".join(last_lines(job.folder.path, MESSAGES)),
    }


def _told(words: Words, state: JobState, figures: Live) -> Told:
    name = words.say(STATES[state.state])
    if state.state is State.RUNNING and not state.doing and not figures.ended:
        rate = words.number(round(figures.rate))
        return Told(state.state, name, words.say("visiting pages, {rate} a minute", rate=rate))
    if state.doing and (step := _step(words, state.doing)):
        return Told(state.state, name, step)
    detail = state.ended.without_advice if state.ended else words.tell(state.said)
    return Told(state.state, name, detail, state.said.is_quoted, str(state.doing or ""))


def _wiki(request: Request) -> str:
    own = server_of(request).settings.wiki
    return own.shown if own is not None else ""


def _told_topic(words: Words, state: JobState, topic: ShownTopic, wiki: str) -> Told:
    name = words.say(STATES[state.state])
    if state.is_active:
        return Told(state.state, name, topic.doing(words, wiki))
    failed = topic.failed if state.state is State.FAILED else ""
    return Told(state.state, name, failed or words.tell(state.said), state.said.is_quoted)


def _step(words: Words, doing: Doing) -> str:
    """What is being mined, and how far it is; empty if an earlier version wrote that down in English."""
    if doing.step is None:
        return ""
    parts = [words.say(STEPS[doing.step]), *([doing.site] if doing.site else [])]
    if doing.done:
        numbers = {"done": words.number(doing.done), "total": words.number(doing.total)}
        parts.append(words.say("{done} of {total}", **numbers))
    return " · ".join(parts)


def _actions(words: Words, job: ShownJob, state: JobState) -> list[Action]:
    if job.shelved.intent is None:
        return []
    unfit = () if job.kind == "mine" else (_ALL,) if job.kind != "topic" else (_ALL, _STOP, _STOP_NOW)
    shown = [one for one in _ACTIONS[state.state] if one not in unfit]
    return [one._replace(label=words.say(one.label), ask=words.say(one.ask) if one.ask else "") for one in shown]


def _tiles(words: Words, job: ShownJob, figures: Live) -> list[tuple[str, str]]:
    shown = [
        (words.number(figures.pages), words.say("pages")),
        (words.number(figures.fetched), words.say("visits")),
        (words.size(figures.bytes), words.say("read")),
    ]
    if figures.relevant is not None:
        shown.insert(1, (words.number(figures.relevant), words.say("on the topic")))
    if job.kind in ("mine", "run"):
        found = [
            (words.number(sum(figures.pairs.values())), words.say("page pairs")),
            (words.number(figures.segments), words.say("aligned segments")),
            (words.number(sum(figures.units.values())), words.say("in the corpus")),
        ]
        shown = [*shown[:-2], *found, *shown[-2:]]
    if job.kind == "run":
        shown.append((words.number(figures.sites), words.say("sites done")))
    return shown


def _bars(words: Words, counts: Mapping[str, int], total: int) -> Markup | None:
    return bars(counts, total=total, most=MOST_BARS, written=written(words)) if counts else None


def _charts(words: Words, job: ShownJob, figures: Live) -> list[Markup]:
    charts = []
    if job.kind == "mine" and (points := Reading(job.folder).harvest(None)):
        series = [Series(words.say("page pairs"), ((0, 0), *((one.fetches, one.pairs) for one in points)))]
        title, x, y = words.say("Complete page pairs"), words.say("visits"), words.say("pairs")
        charts.append(lines(title, series, x=x, y=y, written=written(words)))
    if len(figures.harvest) > 1:
        names = list(figures.languages)[:COLOURS]
        series = [
            Series(words.language(code), ((0, 0), *((p.fetches, p.pages.get(code, 0)) for p in figures.harvest)))
            for code in names
        ]
        title, x, y = words.say("Pages by language"), words.say("visits"), words.say("pages")
        charts.append(lines(title, series, x=x, y=y, written=written(words)))
    return charts


def found_files(job: ShownJob) -> list[str]:
    """What a search, or the gathering of a topic, has written for people and for mining."""
    if job.kind == "run":
        return merged_files(job.folder)
    return [name for name in FOUND.get(job.kind, ()) if (job.folder.path / name).is_file()]


async def found_file(request: Request) -> Response:
    job, name = await find(request), request.path_params["name"]
    if name not in found_files(job):
        raise HTTPException(404)
    return FileResponse(
        job.folder.path / name, filename=name.rpartition("/")[2], media_type="text/plain; charset=utf-8"
    )


_explained: dict[str, tuple[tuple[str, int], float, Diagnosis | None]] = {}


async def _why(job: ShownJob, state: JobState, figures: Live) -> Diagnosis | None:
    """Why little comes, if little comes; what was explained a moment ago is not explained again."""
    if figures.fetched == 0 or any(figures.pairs.values()) or job.kind != "mine":
        return None
    if state.is_active and not EXPLAIN_AFTER <= figures.fetched <= MOST_EXPLAINED:
        return None
    seen = (state.state, figures.fetched)
    known = _explained.get(job.id)
    now = time.monotonic()
    if known is not None and (known[0] == seen or (state.is_active and now - known[1] < EXPLAIN_AGAIN)):
        return known[2]
    try:
        why = await asyncio.to_thread(lambda: diagnose(gather(job.folder.path)))
        why = _without_place(why, job) if why else None
    except BitrawlError:  # the ledger is being made
        why = None
    if len(_explained) > 100:
        _explained.clear()
    _explained[job.id] = (seen, now, why)
    return why


def _without_place(why: Diagnosis, job: ShownJob) -> Diagnosis:
    """Where the folder is, is the operator's business."""
    place = f"{job.folder.path.resolve()}/"
    points = [Point(one.noticed.replace(place, ""), one.advice.replace(place, "")) for one in why.points]
    return Diagnosis(why.headline, tuple(points))


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}", show),
    Route("/jobs/{id}/live", live),
    Route("/jobs/{id}/found/{name:path}", found_file),
    Route("/jobs/{id}/{action}", act, methods=["POST"]),
]
