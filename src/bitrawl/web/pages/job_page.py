"""The page of one job: what it is doing, what it has found, and what can be asked of it."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.endings import Doing, MiningStep, State
from bitrawl.errors import BitrawlError
from bitrawl.job import bootstrapping
from bitrawl.job.bootstrapping import BootstrapProgress, BootstrapStep, BootstrapSummary
from bitrawl.job.folder import JobFolder
from bitrawl.job.live_facts import Live
from bitrawl.job.reporting import gather
from bitrawl.job.reviewing import PairHarvestPoint, Reading
from bitrawl.job.verdicts import VerdictHistory
from bitrawl.model import Language
from bitrawl.show.diagnosis import Diagnosis, Point, diagnose
from bitrawl.show.plots import COLOURS, Series, bars, lines, thinned
from bitrawl.topic.wiki_topic import Exclusion, TermRow, read_table
from bitrawl.web.actions import carry_out, find_job, find_own_job, found_sites, look_at, server_of, words_of
from bitrawl.web.corpus_files import StoredFile
from bitrawl.web.job_list import ALIGNED, ServedJob
from bitrawl.web.job_state import JobState, last_lines, merged_files, without_place
from bitrawl.web.messages import REASONS, Words, marked, message
from bitrawl.web.pages.rendering import STATES, answer_pieces, rendered, version_of, written
from bitrawl.web.security import posted

MOST_TERMS = 100  # of a topic that are listed
MOST_BARS = 8
MOST_POINTS = 40  # of a curve: a screen shows no more, and they are sent again while the job runs
EXPLAIN_AFTER = 30  # fetches without a pair
EXPLAIN_AGAIN = 60.0  # seconds; explaining reads the whole ledger
MOST_EXPLAINED = 20_000  # fetches of a running job that is explained; reading more takes seconds
MESSAGES = 30  # lines
FOUND = {
    "discover": ("sites.txt", "sites.tsv", "sites.jsonl"),
    "topic": (bootstrapping.TERMS, bootstrapping.TOPIC, bootstrapping.SEEDS, bootstrapping.SITES),
    "align": (f"{ALIGNED}/1.tsv",),
}
"""Files of a search, of a topic and of two texts that can be taken away; the first is there when something was found."""

STEPS = {
    MiningStep.PAIRING: marked("pairing pages"),
    MiningStep.LEARNING: marked("learning words"),
    MiningStep.ALIGNING: marked("aligning"),
    MiningStep.WRITING: marked("writing the corpus"),
}

EXCLUSIONS = {
    Exclusion.DISAMBIGUATION: marked("disambiguation page"),
    Exclusion.REDIRECT: marked("other name of an article"),
    Exclusion.LIST: marked("list"),
    Exclusion.ABBREVIATION: marked("abbreviation"),
    Exclusion.NAME: marked("proper name"),
}
"""Why a title is no term."""

_AFTER_FAILURE = {
    BootstrapStep.ASKING: message(
        "Try again later. If the wiki does not answer then either, tell the operator of this server."
    ),
    BootstrapStep.SEARCHING: message("Look the category up in the wiki, and copy its name into the form."),
    BootstrapStep.READING: message("Try again: what the wiki has answered so far is kept."),
    BootstrapStep.CHECKING: message("Try again: what the wiki has answered so far is kept."),
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
    State.NOTHING_FOUND: (_RETRY, _ALL, _DELETE),
    State.INTERRUPTED: (_RESUME, _DELETE),
    State.FAILED: (_RETRY, _DELETE),
}


class StateText(NamedTuple):
    """The state in words."""

    code: State
    label: str
    detail: str = ""
    quoted: bool = False  # the detail is in English, from the program
    note: str = ""  # in English too


class TopicView(NamedTuple):
    """A topic job, from its files: how far it is, what it has found, and what to try if that is little."""

    progress: BootstrapProgress | None
    summary: BootstrapSummary | None
    terms: list[TermRow]  # that are kept, the heaviest first
    languages: list[Language]  # columns of the terms
    failed: str = ""  # why it could not go on

    def doing(self, words: Words, wiki: str) -> str:
        """What it is doing now, and how far it is. `wiki` is the operator's name for it; empty for its host."""
        now = self.progress
        if now is None:
            return ""
        match now.step:
            case BootstrapStep.ASKING:
                return words.say("asking {wiki}", wiki=wiki or now.wiki)
            case BootstrapStep.SEARCHING:
                return words.say("looking for the category in {wiki}", wiki=wiki or now.wiki)
            case BootstrapStep.READING:
                return words.count("reading articles: {n} answer", "reading articles: {n} answers", now.done)
            case BootstrapStep.CHECKING:
                numbers = {"done": words.number(now.done), "total": words.number(now.total)}
                return words.say("checking the cited sites for translations: {done} of {total}", **numbers)

    def tiles(self, words: Words) -> list[tuple[str, str]]:
        summary = self.summary
        if summary is None:
            return []
        counts = {words.say("articles"): summary.articles}
        for code, count in summary.terms.items():
            counts[words.say("terms: {language}", language=words.language(code))] = count
        counts |= {words.say("sites cited"): summary.cited, words.say("bilingual sites"): summary.candidates}
        return [(words.number(count), label) for label, count in counts.items()]

    def excluded(self, words: Words) -> dict[str, int]:
        """Titles that are no terms, by reason."""
        counts = self.summary.excluded if self.summary else {}
        return {words.say(EXCLUSIONS[Exclusion(why)] if why in set(Exclusion) else why): n for why, n in counts.items()}

    def advice(self, words: Words, state: State) -> list[str]:
        """What to try: after a failure by the step that failed, otherwise by what is missing."""
        if state is State.FAILED:
            step = self.progress.step if self.progress else BootstrapStep.ASKING
            return [words.tell(_AFTER_FAILURE[step])]
        return list(self._missing(words, self.summary)) if self.summary else []

    def _missing(self, words: Words, summary: BootstrapSummary) -> Iterator[str]:
        for code in [code for code, count in summary.terms.items() if not count]:
            yield words.say(
                "No article has a title in {language}. Try more levels of subcategories, or a wider category.",
                language=words.language(code),
            )
        if not summary.complete:
            yield words.say("The category has more articles than were read. Try fewer levels of subcategories.")
        if not summary.cited:
            yield words.say("The articles cite no site. Enter a site of your own in the next form.")
        elif summary.checked and not summary.candidates:
            yield words.say("No cited site has translated pages. The next form has the cited pages instead.")


def topic_view(folder: JobFolder) -> TopicView:
    progress, summary = bootstrapping.read_progress(folder.path), bootstrapping.read_found(folder.path)
    rows = _terms(folder) if summary is not None else []
    columns = {code for row in rows for code in row.terms}
    first = [code for code in summary.terms if code in columns] if summary else []
    failed = without_place(folder.path, progress.failed) if progress else ""
    return TopicView(progress, summary, rows[:MOST_TERMS], [*first, *sorted(columns.difference(first))], failed)


def _terms(folder: JobFolder) -> list[TermRow]:
    try:
        rows = read_table((folder.path / bootstrapping.TERMS).read_bytes(), bootstrapping.TERMS)
    except (OSError, BitrawlError):
        return []
    return [row for row in rows if row.keep]


async def show(request: Request) -> Response:
    job = await find_job(request)
    return rendered(
        request, "job.html", job=job, tab="", version_of=version_of, versions=(), **await _values(request, job)
    )


async def live(request: Request) -> Response:
    """What changes on that page, as far as it has changed."""
    job = await find_job(request)
    return answer_pieces(request, "live.html", job=job, **await _values(request, job))


async def act(request: Request) -> Response:
    """Do what one of the buttons asks for."""
    await posted(request)
    job, action = await find_own_job(request), request.path_params["action"]
    await carry_out(server_of(request), job, action)
    return RedirectResponse("/" if action == "delete" else f"/jobs/{job.id}", 303)


async def _values(request: Request, job: ServedJob) -> dict[str, Any]:
    words, wiki = words_of(request), server_of(request).settings.wiki
    state, figures = await look_at(request, job)
    why = await _why(job, state, figures)
    if job.kind == "mine":
        await server_of(request).indexing.is_fresh(job.folder, request.state.user.name, wait=0)
    topic = await asyncio.to_thread(topic_view, job.folder) if job.kind == "topic" else None
    text = _topic_text(words, state, topic, wiki.title if wiki else "") if topic else _state_text(words, state, figures)
    if job.kind == "align" and state.state is State.RUNNING:
        text = text._replace(detail=words.say(STEPS[MiningStep.ALIGNING]))
    skips = {words.say(REASONS.get(reason, reason)): n for reason, n in figures.skips.items()}
    return {
        "live": figures,
        "state": text,
        "topic": topic,
        "advice": topic.advice(words, state.state) if topic else (),
        "left_out": _bars(words, topic.excluded(words), 0) if topic else None,
        "active": state.is_pending,
        "actions": _actions(words, job, state) if job.belongs_to(request.state.user) else (),
        "tiles": topic.tiles(words) if topic else _tiles(words, job, figures),
        "why": why,
        "conflicts": await asyncio.to_thread(VerdictHistory(job.folder.verdicts).conflict_count),
        "sites": await asyncio.to_thread(found_sites, job) if job.kind == "discover" else (),
        "found_files": await asyncio.to_thread(found_files, job),
        "charts": await asyncio.to_thread(_charts, words, job, figures),
        "languages": _bars(words, {words.language(code): n for code, n in figures.languages.items()}, figures.pages),
        "skips": _bars(words, skips, 0),
        "messages": "\n".join(last_lines(job.folder.path, MESSAGES)),
    }


def _state_text(words: Words, state: JobState, figures: Live) -> StateText:
    label = words.say(STATES[state.state])
    rest, is_crawling = state.resting, state.is_active and not state.doing and not figures.ended
    if rest is not None and is_crawling and rest.until > figures.at:
        left = ceil(rest.until - figures.at)
        resting = words.count("{host} rests for {n} second", "{host} rests for {n} seconds", left, host=rest.host)
        return StateText(state.state, label, resting)
    if state.state is State.RUNNING and is_crawling:
        rate = words.number(round(figures.rate))
        return StateText(state.state, label, words.say("visiting pages, {rate} a minute", rate=rate))
    if state.doing and (step := _step(words, state.doing)):
        return StateText(state.state, label, step)
    detail = state.ended.without_advice if state.ended else words.tell(state.message)
    return StateText(state.state, label, detail, state.message.is_quoted, str(state.doing or ""))


def _topic_text(words: Words, state: JobState, topic: TopicView, wiki: str) -> StateText:
    label = words.say(STATES[state.state])
    if state.is_active:
        return StateText(state.state, label, topic.doing(words, wiki))
    failed = topic.failed if state.state is State.FAILED else ""
    return StateText(state.state, label, failed or words.tell(state.message), state.message.is_quoted)


def _step(words: Words, doing: Doing) -> str:
    """What is being mined, and how far it is; empty if an earlier version wrote that down in English."""
    if doing.step is None:
        return ""
    parts = [words.say(STEPS[doing.step]), *([doing.site] if doing.site else [])]
    if doing.done:
        numbers = {"done": words.number(doing.done), "total": words.number(doing.total)}
        parts.append(words.say("{done} of {total}", **numbers))
    return " · ".join(parts)


def _actions(words: Words, job: ServedJob, state: JobState) -> list[Action]:
    if job.intent is None:
        return []
    unfit = () if job.kind == "mine" else (_ALL,) if job.kind not in ("topic", "align") else (_ALL, _STOP, _STOP_NOW)
    return [
        action._replace(label=words.say(action.label), ask=words.say(action.ask) if action.ask else "")
        for action in _ACTIONS[state.state]
        if action not in unfit
    ]


def _tiles(words: Words, job: ServedJob, figures: Live) -> list[tuple[str, str]]:
    if job.kind == "align":
        return []
    tiles = [(words.number(figures.pages), words.say("pages"))]
    if figures.relevant is not None:
        tiles.append((words.number(figures.relevant), words.say("on the topic")))
    if job.kind in ("mine", "run"):
        tiles += [
            (words.number(sum(figures.pairs.values())), words.say("page pairs")),
            (words.number(figures.segments), words.say("segment pairs")),
            (words.number(sum(figures.units.values())), words.say("in the corpus")),
        ]
    tiles += [(words.number(figures.fetches), words.say("visits")), (words.size(figures.bytes), words.say("read"))]
    if job.kind == "run":
        tiles.append((words.number(figures.sites), words.say("sites done")))
    return tiles


def _bars(words: Words, counts: Mapping[str, int], total: int) -> Markup | None:
    return bars(counts, total=total, most=MOST_BARS, written=written(words)) if counts else None


def _charts(words: Words, job: ServedJob, figures: Live) -> list[Markup]:
    charts: dict[tuple[str, str], list[Series]] = {}
    if job.kind == "mine" and (points := _pairs_by_now(Reading(job.folder).harvest(None), figures)):
        charts[words.say("Complete page pairs"), words.say("pairs")] = [Series(words.say("page pairs"), points)]
    if len(figures.harvest) > 1:
        charts[words.say("Pages by language"), words.say("pages")] = [
            Series(words.language(code), _curve([(p.fetches, p.pages.get(code, 0)) for p in figures.harvest]))
            for code in list(figures.languages)[:COLOURS]
        ]
    return [
        lines(title, series, x=words.say("visits"), y=y, written=written(words))
        for (title, y), series in charts.items()
    ]


def _pairs_by_now(points: Sequence[PairHarvestPoint], figures: Live) -> tuple[tuple[int, int], ...]:
    """The curve of page pairs. The index may be some seconds old: the curve ends with the figure of the tile."""
    total = sum(figures.pairs.values())
    earlier = [(p.fetches, p.pairs) for p in points if p.fetches < figures.fetches and p.pairs <= total]
    return _curve([*earlier, (figures.fetches, total)]) if total else ()


def _curve(points: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return ((0, 0), *thinned(points, MOST_POINTS))


def found_files(job: ServedJob) -> list[str]:
    """What a search, or the gathering of a topic, has written for people and for mining."""
    if job.kind == "run":
        return merged_files(job.folder)
    return [name for name in FOUND.get(job.kind, ()) if (job.folder.path / name).is_file()]


async def found_file(request: Request) -> Response:
    job, name = await find_job(request), request.path_params["name"]
    if name not in found_files(job):
        raise HTTPException(404)
    path = job.folder.path / name
    return StoredFile(path, filename=path.name, media_type="text/plain; charset=utf-8")


_explained: dict[str, tuple[tuple[str, int], float, Diagnosis | None]] = {}


async def _why(job: ServedJob, state: JobState, figures: Live) -> Diagnosis | None:
    """Why little comes, if little comes; what was explained a moment ago is not explained again."""
    if figures.fetches == 0 or any(figures.pairs.values()) or job.kind != "mine":
        return None
    if state.is_active and not EXPLAIN_AFTER <= figures.fetches <= MOST_EXPLAINED:
        return None
    situation, now = (state.state, figures.fetches), time.monotonic()
    earlier = _explained.get(job.id)
    if earlier is not None and (earlier[0] == situation or (state.is_active and now - earlier[1] < EXPLAIN_AGAIN)):
        return earlier[2]
    try:
        why = await asyncio.to_thread(lambda: diagnose(gather(job.folder.path)))
        why = _without_path(why, job) if why else None
    except BitrawlError:  # the ledger is being made
        why = None
    if len(_explained) > 100:
        _explained.clear()
    _explained[job.id] = (situation, now, why)
    return why


def _without_path(why: Diagnosis, job: ServedJob) -> Diagnosis:
    place = job.folder.path.resolve()
    points = [Point(without_place(place, point.noticed), without_place(place, point.advice)) for point in why.points]
    return Diagnosis(why.headline, tuple(points))


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}", show),
    Route("/jobs/{id}/live", live),
    Route("/jobs/{id}/found/{name:path}", found_file),
    Route("/jobs/{id}/{action}", act, methods=["POST"]),
]
