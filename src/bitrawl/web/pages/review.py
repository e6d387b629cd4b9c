"""Reading what was found: the pairs of pages, two pages side by side, verdicts, and a phrase in context."""

import asyncio
import re
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import FieldError
from bitrawl.job import searching
from bitrawl.job.reviewing import PairOrder, Reading, ReadPair
from bitrawl.job.searching import Hit, HitList, Mark
from bitrawl.job.verdicts import SubjectKind
from bitrawl.model import Verdict
from bitrawl.web import actions
from bitrawl.web.actions import SORTS, find_mining_job, give_verdict, number_in, pair_filter, server_of, words_of
from bitrawl.web.corpus_files import hits_file
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import METHODS, VERDICTS, Message, RequestError, Words, marked, message
from bitrawl.web.pages.queue import (
    ReviewBar,
    ReviewChoice,
    after_verdict,
    bar_of,
    pair_address,
    places_of,
    remember,
    remembered,
)
from bitrawl.web.pages.rendering import fragment, load_again, rendered
from bitrawl.web.security import posted

PAIRS = 50  # on one page of the list
SEGMENTS = 200  # on one page of two texts: more makes a browser slow
HITS = 20
CONTEXT = 80  # characters on each side of a hit in its line


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
        set_filters=sum(name != "sort" and bool(value) for name, value in values.items()),
        language_choices=await _language_choices(words, reading),
        methods=[("", words.say("any")), *((letter, words.say(name)) for letter, name in METHODS.items())],
        verdict_names=_verdict_names(words),
        sorts=[(name, words.say(label)) for name, (_, _, label) in SORTS.items()],
        sort_links=_sort_links(request, values),
        pairs=page.pairs,
        page_pairs=page.page_pairs,
        partial=page.partial,
        total=page.total,
        offset=offset,
        size=PAIRS,
        base=_base(request, values),
    )


class SortLink(NamedTuple):
    """Of the heading of a column: where a click leads, and how the list is sorted by the column now."""

    href: str
    sorted: str  # for aria-sort; empty if it is sorted by something else


def _sort_links(request: Request, values: dict[str, str]) -> dict[str, SortLink]:
    """A click on a heading sorts by its column, and a second one the other way round."""
    now = values.get("sort", "") if values.get("sort", "") in SORTS else next(iter(SORTS))
    links = {}
    for order in (PairOrder.TITLE, PairOrder.SCORE, PairOrder.SEGMENTS):
        first, second = (name for name, (by, _, _) in SORTS.items() if by is order)
        is_ascending = SORTS[now][1]
        direction = ("ascending" if is_ascending else "descending") if now in (first, second) else ""
        links[order.name] = SortLink(_base(request, {**values, "sort": second if now == first else first}), direction)
    return links


def _verdict_names(words: Words) -> dict[Verdict, str]:
    return {verdict: words.say(name) for verdict, name in VERDICTS.items()}


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
    place = texts.place_of(values.pop("segment", ""))
    if place is not None:
        offset = place - place % SEGMENTS
    meanwhile = bool(values.pop("meanwhile", ""))
    evidence, choice = texts.pair.row.evidence, ReviewChoice.of(values)
    review = choice and await _review_bar(request, job, choice, texts.pair.row.key)
    response = rendered(
        request,
        "pair.html",
        job=job,
        tab="/review" if review else "/pairs",
        review=review,
        places=await places_of(request, job, "/review") if review else None,
        meanwhile=meanwhile,
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
    kind, key, within, anchor = (str(form.get(name, "")) for name in ("kind", "key", "within", "anchor"))
    meanwhile = kind == SubjectKind.PAIR and await _is_contradicted(request, job, key, form)
    if not meanwhile:
        await give_verdict(job, kind, key, within, str(form.get("verdict", "")), request.state.user.name)
    if kind == SubjectKind.PAIR and form.get("review"):
        there = str(form["review"]), "meanwhile" if meanwhile else str(form.get("verdict"))
        return RedirectResponse(after_verdict(job, key, *there), 303)
    if meanwhile and not request.headers.get("x-part"):
        return RedirectResponse(f"/jobs/{job.id}/pairs/{within}?meanwhile=1", 303)
    if not request.headers.get("x-part"):
        where = f"?segment={quote(anchor or key)}#s-{quote(anchor or key)}" if kind == SubjectKind.SEGMENT else ""
        return RedirectResponse(f"/jobs/{job.id}/pairs/{within}{where}", 303)
    texts = await _pair(job, within)
    values: dict[str, Any] = {"job": job, "pair": texts.pair, "review": None, "meanwhile": meanwhile}
    if kind == SubjectKind.PAIR:
        return HTMLResponse(fragment(request, "pair_verdict.html", **values))
    same = [segment for segment in texts.segments if segment.key == key]
    return HTMLResponse("".join(fragment(request, "segment.html", segment=segment, **values) for segment in same))


async def _is_contradicted(request: Request, job: ServedJob, key: str, form: FormData) -> bool:
    """Whether somebody has said the contrary since the page was shown: the reader is told before they say theirs."""
    verdict, seen = str(form.get("verdict", "")), str(form.get("seen", ""))
    if verdict not in set(Verdict) or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", seen):
        return False
    by = request.state.user.name
    return await asyncio.to_thread(Reading(job.folder).differs_since, key, Verdict(verdict), by, float(seen))


async def search(request: Request) -> Response:
    job, words, values = await find_mining_job(request), words_of(request), dict(request.query_params)
    ready = await server_of(request).indexing.is_fresh(job.folder, request.state.user.name)
    offset, reading = number_in(values, "offset"), Reading(job.folder)
    values.setdefault("q", "")
    hits, errors = HitList((), 0), dict[str, Message]()
    try:
        query = actions.search_query(values)
        hits = await asyncio.to_thread(searching.search, reading, query, offset=offset, limit=HITS)
    except FieldError as error:
        errors = {name: why if isinstance(why, Message) else message(str(why)) for name, why in error.fields.items()}
    return rendered(
        request,
        "search.html",
        job=job,
        tab="/search",
        index_ready=ready,
        values=values,
        language_choices=await _language_choices(words, reading),
        choices={name: [(value, words.say(label)) for value, label in rows] for name, rows in _CHOICES.items()},
        errors=errors,
        hits=hits.hits,
        total=hits.total,
        offset=offset,
        size=HITS,
        base=_base(request, values),
        query=urlencode(values),
        split=_split,
        in_line=_in_line,
        verdict_names=_verdict_names(words),
    )


_CHOICES = {
    "side": [("both", marked("both languages")), ("a", marked("first language")), ("b", marked("second language"))],
    "near": [
        ("", marked("as a phrase")),
        ("3", marked("at most 3 words apart")),
        ("10", marked("at most 10 words apart")),
        ("any", marked("anywhere in the text")),
    ],
    "sort": [
        ("", marked("the best score first")),
        ("left", marked("by the words before")),
        ("right", marked("by the words after")),
    ],
    "view": [("", marked("side by side")), ("lines", marked("words in one column"))],
}


def _in_line(hit: Hit) -> tuple[str, str, str]:
    """What stands before the first words that were searched for, these words, and what stands after them."""
    text, marks = (hit.segment.text_b, hit.marks_b) if hit.side == "b" else (hit.segment.text_a, hit.marks_a)
    mark = marks[0] if marks else Mark(0, 0)
    before, after = text[: mark.start], text[mark.end :]
    before = f"…{before[-CONTEXT:]}" if len(before) > CONTEXT else before
    return before, text[mark.start : mark.end], f"{after[:CONTEXT]}…" if len(after) > CONTEXT else after


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
        places=await places_of(request, job, "/review"),
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
    Route("/jobs/{id}/hits", hits_file),
    Route("/jobs/{id}/index", index_part),
]
