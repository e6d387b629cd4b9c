"""Reading what was found: the pairs of pages, two pages side by side, verdicts, and a phrase in context."""

import asyncio
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.job.reviewing import Mark, Reading, ReadPair
from bitrawl.job.verdicts import SubjectKind
from bitrawl.model import Verdict
from bitrawl.web import actions
from bitrawl.web.actions import SORTS, find_mining_job, give_verdict, number_in, pair_filter, server_of, words_of
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import METHODS, RequestError, Words, marked, message
from bitrawl.web.pages.queue import (
    ReviewBar,
    ReviewChoice,
    after_verdict,
    bar_of,
    pair_address,
    remember,
    remembered,
)
from bitrawl.web.pages.rendering import fragment, load_again, rendered
from bitrawl.web.security import posted

PAIRS = 50  # on one page of the list
SEGMENTS = 200  # on one page of two texts: more makes a browser slow
HITS = 20
VERDICTS = {Verdict.ACCEPT: marked("accepted"), Verdict.REJECT: marked("rejected")}


async def pairs(request: Request) -> Response:
    job, words, values = await find_mining_job(request), words_of(request), dict(request.query_params)
    ready = await server_of(request).indexing.is_fresh(job.folder, request.state.user.name)
    offset, reading = number_in(values, "offset"), Reading(job.folder)
    page = await asyncio.to_thread(reading.pairs, pair_filter(values, offset, PAIRS))
    return rendered(
        request,
        "pairs.html",
        job=job,
        tab="/pairs",
        index_ready=ready,
        values=values,
        language_choices=await _language_choices(words, reading),
        methods=[("", words.say("any")), *((letter, words.say(name)) for letter, name in METHODS.items())],
        verdict_names={verdict: words.say(name) for verdict, name in VERDICTS.items()},
        sorts=[(name, words.say(label)) for name, (_, _, label) in SORTS.items()],
        pairs=page.pairs,
        page_pairs=page.page_pairs,
        partial=page.partial,
        total=page.total,
        offset=offset,
        size=PAIRS,
        base=_base(request, values),
    )


def _base(request: Request, values: dict[str, str]) -> str:
    return f"{request.url.path}?{urlencode(values)}"


async def _language_choices(words: Words, reading: Reading) -> list[tuple[str, str]]:
    choices = []
    for corpus in (await asyncio.to_thread(reading.choices)).languages:
        both = actions.two_languages(corpus.name)
        choices.append((corpus.name, " – ".join(words.language(code) for code in both) if both else corpus.name))
    return [("", words.say("all")), *choices] if len(choices) != 1 else choices


async def pair(request: Request) -> Response:
    job, words, values = await find_mining_job(request), words_of(request), dict(request.query_params)
    await server_of(request).indexing.is_fresh(job.folder, request.state.user.name)
    texts, offset = await _pair(job, request.path_params["key"]), number_in(values, "offset")
    evidence, choice = texts.pair.row.evidence, ReviewChoice.of(values)
    review = choice and await _review_bar(request, job, choice, texts.pair.row.key)
    response = rendered(
        request,
        "pair.html",
        job=job,
        tab="/review" if review else "/pairs",
        review=review,
        language_choices=await _language_choices(words, Reading(job.folder)) if review else [],
        pair=texts.pair,
        evidence=[(words.say(METHODS.get(method, method)), words.score(n)) for method, n in evidence.items()],
        segments=texts.segments[offset : offset + SEGMENTS],
        total=len(texts.segments),
        offset=offset,
        size=SEGMENTS,
        base=_base(request, values),
    )
    if choice:
        remember(request, response, job, choice, texts.pair.row.key)
    return response


async def _review_bar(request: Request, job: ServedJob, choice: ReviewChoice, key: str) -> ReviewBar:
    came_from = request.query_params.get("from", "")
    return bar_of(job, words_of(request), choice, await choice.queue(job), key, came_from)


async def _pair(job: ServedJob, key: str) -> ReadPair:
    pair = await asyncio.to_thread(Reading(job.folder).pair, key)
    if pair is None:
        raise RequestError(404, message("That page pair no longer exists."))
    return pair


async def judge(request: Request) -> Response:
    """A verdict by click or key: the part of the page that it changes, or the page again."""
    form, job = await posted(request), await find_mining_job(request)
    kind, key, within = (str(form.get(name, "")) for name in ("kind", "key", "within"))
    await give_verdict(job, kind, key, within, str(form.get("verdict", "")), request.state.user.name)
    if kind == SubjectKind.PAIR and form.get("review"):
        return RedirectResponse(after_verdict(job, key, str(form["review"]), str(form.get("verdict"))), 303)
    if not request.headers.get("x-part"):
        anchor = f"#s-{key}" if kind == SubjectKind.SEGMENT else ""
        return RedirectResponse(f"/jobs/{job.id}/pairs/{within}{anchor}", 303)
    texts = await _pair(job, within)
    values: dict[str, Any] = {"job": job, "pair": texts.pair, "review": None}
    if kind == SubjectKind.PAIR:
        return HTMLResponse(fragment(request, "pair_verdict.html", **values))
    segment = next(segment for segment in texts.segments if segment.key == key)
    return HTMLResponse(fragment(request, "segment.html", segment=segment, **values))


async def search(request: Request) -> Response:
    job, words, values = await find_mining_job(request), words_of(request), dict(request.query_params)
    ready = await server_of(request).indexing.is_fresh(job.folder, request.state.user.name)
    offset, reading = number_in(values, "offset"), Reading(job.folder)
    values.setdefault("q", "")
    places = await asyncio.to_thread(actions.search, reading, values, offset=offset, limit=HITS)
    sides = {"both": words.say("both languages"), "a": words.say("first language"), "b": words.say("second language")}
    return rendered(
        request,
        "search.html",
        job=job,
        tab="/search",
        index_ready=ready,
        values=values,
        language_choices=await _language_choices(words, reading),
        side_choices=list(sides.items()),
        hits=places.hits,
        total=places.total,
        is_cut=places.is_cut,
        offset=offset,
        size=HITS,
        base=_base(request, values),
        split=_split,
    )


def _split(text: str, marks: tuple[Mark, ...]) -> list[tuple[str, bool]]:
    """The text in parts, and whether each is a part of what was searched."""
    parts, at = [], 0
    for mark in marks:
        if mark.start < at:
            continue
        parts += [(text[at : mark.start], False), (text[mark.start : mark.end], True)]
        at = mark.end
    return [*parts, (text[at:], False)]


async def review(request: Request) -> Response:
    """Opens the next page pair that nobody has judged; without an order in the address, where the reader was last."""
    job, values = await find_mining_job(request), dict(request.query_params)
    ready = await server_of(request).indexing.is_fresh(job.folder, request.state.user.name)
    choice, at = remembered(request)
    after = values.get("after", "")
    if new_choice := ReviewChoice.of(values):
        choice, at = new_choice, ""
    queue = await choice.queue(job)
    key = at if at in queue.keys and at not in queue.judged else queue.following(after or at) or queue.following("")
    if key:
        return RedirectResponse(pair_address(job, key, choice, after), 303)
    return rendered(
        request,
        "review.html",
        job=job,
        tab="/review",
        index_ready=ready,
        review=bar_of(job, words_of(request), choice, queue, "", after),
        language_choices=await _language_choices(words_of(request), Reading(job.folder)),
    )


async def index_part(request: Request) -> Response:
    """Tells the script to load the page again when the index is ready."""
    job = await find_mining_job(request)
    ready = await server_of(request).indexing.is_fresh(job.folder, request.state.user.name, wait=0)
    return load_again() if ready else Response(status_code=304)


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/pairs", pairs),
    Route("/jobs/{id}/pairs/{key}", pair),
    Route("/jobs/{id}/review", review),
    Route("/jobs/{id}/verdicts", judge, methods=["POST"]),
    Route("/jobs/{id}/search", search),
    Route("/jobs/{id}/index", index_part),
]
