"""Reading what was found: the pairs of pages, two pages side by side, verdicts, and a phrase in context."""

import asyncio
import re
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import FieldError
from bitrawl.model import Verdict
from bitrawl.review import searching
from bitrawl.review.reviewing import Reading
from bitrawl.review.searching import Hit, HitList, Mark
from bitrawl.store.index_reader import PairOrder
from bitrawl.store.verdicts import SubjectKind
from bitrawl.web import actions
from bitrawl.web.actions import SORTS, find_mining_job, give_verdict, number_in, pair_filter, server_of, words_of
from bitrawl.web.corpus_files import hits_file
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import METHODS, VERDICTS, Message, Words, marked, message
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
from bitrawl.web.pages.segments import (
    FILTERS,
    FilterForm,
    Shown,
    View,
    bulk_values,
    language_choices,
    read_pair,
    rows_response,
)
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
        language_choices=language_choices(words, await asyncio.to_thread(reading.choices)),
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


async def pair(request: Request) -> Response:
    job, words, values = await find_mining_job(request), words_of(request), dict(request.query_params)
    await server_of(request).indexing.is_fresh(job.folder, request.state.user.name)
    texts, offset = await read_pair(request, job, request.path_params["key"]), number_in(values, "offset")
    row, reading = texts.pair.row, Reading(job.folder)
    place, meanwhile = texts.place_of(values.pop("segment", "")), bool(values.pop("meanwhile", ""))
    rows, form = FilterForm.of(values).fitting(texts.segments, (row.lang_a, row.lang_b))
    at = next((n for n, segment in enumerate(rows) if segment.place == place), None)
    if at is not None:
        offset = at - at % SEGMENTS
    choice = ReviewChoice.of(values)
    review = choice and await _review_bar(request, job, choice, row.key)
    grid = Shown(job, request.state.user.name, View("some" if form.is_set else "pair", urlencode(values)))
    others = [(name, value) for name, value in values.items() if name not in FILTERS]
    response = rendered(
        request,
        "pair.html",
        tab="/review" if review else "/pairs",
        review=review,
        places=await places_of(request, job, "/review") if review else None,
        meanwhile=meanwhile,
        language_choices=language_choices(words, await asyncio.to_thread(reading.choices)) if review else [],
        pair=texts.pair,
        evidence=[(words.say(METHODS.get(method, method)), words.score(n)) for method, n in row.evidence.items()],
        rows=await asyncio.to_thread(grid.rows, texts.pair, rows[offset : offset + SEGMENTS], texts.segments),
        total=len(rows),
        offset=offset,
        size=SEGMENTS,
        base=_base(request, values),
        kept_fields=others,
        unfiltered=_base(request, dict(others)),
        **form.choices(words, (row.lang_a, row.lang_b)),
        **await bulk_values(reading, grid.person, row.key),
        **grid.values,
    )
    if choice:
        remember(request, response, job, choice, row.key)
    return response


async def _review_bar(request: Request, job: ServedJob, choice: ReviewChoice, key: str) -> ReviewBar:
    came_from = request.query_params.get("from", "")
    return bar_of(job, words_of(request), choice, await choice.queue(job), key, came_from)


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
    view = View.of(form)
    if not request.headers.get("x-part"):
        anchored = (anchor or key) if kind == SubjectKind.SEGMENT else ""
        return RedirectResponse(view.address(job, within, anchored), 303)
    texts = await read_pair(request, job, within)
    if kind == SubjectKind.PAIR:
        return HTMLResponse(
            fragment(request, "pair_verdict.html", job=job, pair=texts.pair, review=None, meanwhile=meanwhile)
        )
    starts = {row.start for row in texts.segments if row.key == key}
    same = [row for row in texts.segments if row.start in starts]
    return rows_response(request, Shown(job, request.state.user.name, view), texts, same)


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
    offset, reading = number_in(values, "offset"), Reading(job.folder, request.state.user.name)
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
        language_choices=language_choices(words, await asyncio.to_thread(reading.choices)),
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
        language_choices=language_choices(words_of(request), await asyncio.to_thread(Reading(job.folder).choices)),
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
