"""Reading what was found: the pairs of pages, two pages side by side, and a phrase in context; and a review, pair by pair.

Of a review the server keeps nothing: the address of each page has the order, and a cookie remembers the last one for each job.
"""

import asyncio
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import FieldError
from bitrawl.review import Hit, HitList, PairOrder, ReviewOrder, SubjectKind
from bitrawl.web.actions import words_of
from bitrawl.web.corpus_files import hits_file
from bitrawl.web.fields import SORTS, offset_in, pair_filter, search_query, two_languages, whole_number
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import METHODS, Message, field_messages, marked
from bitrawl.web.pages.rendering import corpus_choices, fragment, list_part, load_again, rendered
from bitrawl.web.pages.segments import FILTERS, FilterForm, Shown, View, rows_response
from bitrawl.web.review_actions import (
    PAGE_PATIENCE,
    SEEDS,
    OpenReview,
    give_verdict,
    is_contradicted,
    open_review,
    read_pair,
    resolve,
)
from bitrawl.web.security import posted

PAIRS = 50  # on one page of the list
SEGMENTS = 200  # on one page of two texts: more makes a browser slow
HITS = 20
CONTEXT = 80  # characters on each side of a hit in its line
_COOKIE = "review"
_REMEMBERED = 365 * 86400  # seconds


async def pairs(request: Request) -> Response:
    opened, words, values = await open_review(request, PAGE_PATIENCE), words_of(request), dict(request.query_params)
    offset = offset_in(values)
    page = await asyncio.to_thread(opened.review.lists.pairs, pair_filter(values, offset, PAIRS))
    return rendered(
        request,
        "pairs.html",
        of=opened,
        tab="/pairs",
        set_filters=sum(name != "sort" and bool(value) for name, value in values.items()),
        language_choices=await corpus_choices(words, opened.review),
        methods=words.choices({"": marked("any"), **METHODS}),
        sorts=words.choices({name: label for name, (_, _, label) in SORTS.items()}),
        sort_links=_sort_links(request, values),
        listed=page,
        **list_part(request, values, offset, PAIRS, page.total),
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
        direction = ("ascending" if SORTS[now][1] else "descending") if now in (first, second) else ""
        query = urlencode({**values, "sort": second if now == first else first})
        links[order.name] = SortLink(f"{request.url.path}?{query}", direction)
    return links


async def pair(request: Request) -> Response:
    opened, words, values = await open_review(request, PAGE_PATIENCE), words_of(request), dict(request.query_params)
    came_from = values.get("from", "")
    texts, offset = await read_pair(opened.review, request.path_params["key"]), offset_in(values)
    row = texts.pair.row
    place, meanwhile = texts.place_of(values.pop("segment", "")), bool(values.pop("meanwhile", ""))
    rows, form = FilterForm.of(values).fitting(texts)
    at = next((n for n, segment in enumerate(rows) if segment.place == place), None)
    if at is not None:
        offset = at - at % SEGMENTS
    choice = ReviewChoice.of(values)
    review = choice and await choice.bar(opened, row.key, came_from)
    grid = Shown(opened.job, opened.review.person, View("some" if form.is_set else "pair", urlencode(values)))
    others = [(name, value) for name, value in values.items() if name not in FILTERS]
    part = list_part(request, values, offset, SEGMENTS, len(rows))
    response = rendered(
        request,
        "pair.html",
        of=opened,
        tab="/review" if review else "/pairs",
        review=review,
        places=await review_links(opened, "/review") if review else None,
        meanwhile=meanwhile,
        language_choices=await corpus_choices(words, opened.review) if review else [],
        pair=texts.pair,
        evidence=[(words.say(METHODS.get(method, method)), words.score(n)) for method, n in row.evidence.items()],
        rows=await asyncio.to_thread(grid.rows, texts.pair, rows[offset : offset + SEGMENTS], texts.segments),
        kept_fields=others,
        unfiltered=f"{request.url.path}?{urlencode(others)}",
        within=row.key,
        batch=await asyncio.to_thread(opened.review.verdicts.last_batch, grid.person),
        **part | form.choices(words, (row.lang_a, row.lang_b)) | grid.values,
    )
    if choice:
        choice.remember(request, response, opened.job, row.key)
    return response


async def judge(request: Request) -> Response:
    """A verdict by click or key: the part of the page that it changes, or the page again."""
    form, (job, review, _) = await posted(request), await open_review(request)
    names = ("kind", "key", "within", "anchor", "verdict", "seen", "review")
    kind, key, within, anchor, verdict, seen, query = (str(form.get(name, "")) for name in names)
    meanwhile = await is_contradicted(review, kind, key, verdict, seen)
    if verdict.startswith("decide-"):
        await resolve(review, kind, key, verdict.removeprefix("decide-"))
    elif not meanwhile:
        await give_verdict(review, kind, key, within, verdict)
    if kind == SubjectKind.PAIR and query:
        return RedirectResponse(after_verdict(job, key, query, "meanwhile" if meanwhile else verdict), 303)
    view = View.of(form)
    if not request.headers.get("x-part"):
        anchored = (anchor or key) if kind == SubjectKind.SEGMENT else ""
        there = f"/jobs/{job.id}/pairs/{within}?meanwhile=1" if meanwhile else view.address(job, within, anchored)
        return RedirectResponse(there, 303)
    texts = await read_pair(review, within)
    if kind == SubjectKind.PAIR:
        values = {"job": job, "pair": texts.pair, "review": None, "meanwhile": meanwhile}
        return HTMLResponse(fragment(request, "pair_verdict.html", **values))
    starts = {row.start for row in texts.segments if row.key == key}
    same = [row for row in texts.segments if row.start in starts]
    return rows_response(request, Shown(job, review.person, view), texts, same)


async def search(request: Request) -> Response:
    opened, words, values = await open_review(request, PAGE_PATIENCE), words_of(request), dict(request.query_params)
    offset, found, errors = offset_in(values), HitList((), 0), dict[str, Message]()
    values.setdefault("q", "")
    try:
        found = await asyncio.to_thread(opened.review.search, search_query(values), offset, HITS)
    except FieldError as error:
        errors = field_messages(error)
    return rendered(
        request,
        "search.html",
        of=opened,
        tab="/search",
        language_choices=await corpus_choices(words, opened.review),
        choices={name: words.choices(labels) for name, labels in _CHOICES.items()},
        errors=errors,
        found=found,
        query=urlencode(values),
        split=_split,
        in_line=_in_line,
        **list_part(request, values, offset, HITS, found.total),
    )


_CHOICES = {
    "side": {"both": marked("both languages"), "a": marked("first language"), "b": marked("second language")},
    "near": {
        "": marked("as a phrase"),
        "3": marked("at most 3 words apart"),
        "10": marked("at most 10 words apart"),
        "any": marked("anywhere in the text"),
    },
    "sort": {
        "": marked("the best score first"),
        "left": marked("by the words before"),
        "right": marked("by the words after"),
    },
    "view": {"": marked("side by side"), "lines": marked("words in one column")},
}


def _in_line(hit: Hit) -> tuple[str, str, str]:
    """What stands before the first words that were searched for, these words, and what stands after them."""
    text, marks = (hit.segment.text_b, hit.marks_b) if hit.side == "b" else (hit.segment.text_a, hit.marks_a)
    start, end = (marks[0].start, marks[0].end) if marks else (0, 0)
    before, after = text[:start], text[end:]
    before = f"…{before[-CONTEXT:]}" if len(before) > CONTEXT else before
    return before, text[start:end], f"{after[:CONTEXT]}…" if len(after) > CONTEXT else after


def _split(text: str, marks: Iterable[Any]) -> list[tuple[str, bool]]:
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
    opened, values = await open_review(request, PAGE_PATIENCE), dict(request.query_params)
    choice, at = _remembered(request)
    after = values.get("after", "")
    if new_choice := ReviewChoice.of(values):
        choice, at = new_choice, ""
    queue = await asyncio.to_thread(opened.review.queue, *choice.wanted)
    key = at if at in queue.keys and at not in queue.judged else queue.following(after or at) or queue.following("")
    if key:
        return RedirectResponse(choice.pair_address(opened.job, key, after), 303)
    return await review_page(
        request,
        opened,
        "review.html",
        "/review",
        review=await choice.bar(opened, "", after),
        language_choices=await corpus_choices(words_of(request), opened.review),
    )


async def index_part(request: Request) -> Response:
    """Tells the script to load the page again when the index is ready."""
    return load_again() if (await open_review(request, 0)).is_fresh else Response(status_code=304)


class ReviewLinks(NamedTuple):
    """The pages of a review, as links."""

    here: str  # the path of this one
    conflicts: int
    waiting: int  # samples that the reader has to judge


async def review_links(opened: OpenReview, here: str) -> ReviewLinks:
    conflicts = await asyncio.to_thread(opened.review.verdicts.conflict_count)
    samples = await asyncio.to_thread(opened.review.samples.listed)
    own = [person for sample in samples if (person := sample.person(opened.review.person))]
    return ReviewLinks(here, conflicts, sum(person.done_at is None for person in own))


async def review_page(
    request: Request, opened: OpenReview, template: str, here: str, status: int = 200, /, **values: Any
) -> Response:
    """A page of the review, with links to the others."""
    places = await review_links(opened, here)
    return rendered(request, template, status, of=opened, tab="/review", places=places, **values)


class ReviewBar(NamedTuple):
    """What a page of the review shows about it."""

    choice: "ReviewChoice"
    judged: int
    total: int
    left: int
    back: str = ""  # addresses; empty if there is none
    next: str = ""

    @property
    def query(self) -> str:
        return urlencode(self.choice.fields)


class ReviewChoice(NamedTuple):
    """What somebody reviews, and in which order."""

    order: ReviewOrder = ReviewOrder.UNCERTAIN
    seed: int = 0
    languages: str = ""  # such as "en-fr"; empty for all

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "ReviewChoice | None":
        """From the fields of an address; None if they name no order. A random order without a seed gets one."""
        if values.get("order") not in set(ReviewOrder):
            return None
        order, seed, languages = ReviewOrder(values["order"]), 0, values.get("languages", "")
        if order is ReviewOrder.RANDOM:
            typed = whole_number(values.get("seed", ""))
            seed = secrets.randbelow(SEEDS) if typed is None else typed % SEEDS
        return cls(order, seed, languages if two_languages(languages) else "")

    @property
    def wanted(self) -> tuple[ReviewOrder, int, Any]:
        """What the queue is asked for: order, seed and languages."""
        return self.order, self.seed, two_languages(self.languages)

    @property
    def fields(self) -> dict[str, str]:
        """The fields of an address that make this choice again."""
        seed = str(self.seed) if self.order is ReviewOrder.RANDOM else ""
        named = {"order": str(self.order), "seed": seed, "languages": self.languages}
        return {name: value for name, value in named.items() if value}

    async def bar(self, opened: OpenReview, key: str, came_from: str) -> ReviewBar:
        """Back leads to where the reader came from, or to the one before in the order."""
        queue = await asyncio.to_thread(opened.review.queue, *self.wanted)
        earlier = came_from if came_from in queue.keys else queue.previous(key)
        back = self.pair_address(opened.job, earlier) if earlier else ""
        following = self.next_address(opened.job, key) if queue.following(key) else ""
        return ReviewBar(self, len(queue.judged), len(queue.keys), queue.left, back, following)

    def pair_address(self, job: ServedJob, key: str, came_from: str = "") -> str:
        more = {"from": came_from} if came_from else {}
        return f"/jobs/{quote(job.id)}/pairs/{quote(key)}?{urlencode(self.fields | more)}"

    def next_address(self, job: ServedJob, after: str) -> str:
        """It is looked up when somebody goes there, because others judge meanwhile."""
        return f"/jobs/{quote(job.id)}/review?{urlencode(self.fields | {'after': after})}"

    def remember(self, request: Request, response: Response, job: ServedJob, key: str) -> None:
        response.set_cookie(
            _COOKIE,
            urlencode(self.fields | {"at": key}),
            max_age=_REMEMBERED,
            path=f"/jobs/{quote(job.id)}",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="lax",
        )


def _remembered(request: Request) -> tuple[ReviewChoice, str]:
    """The order that the reader chose last in this job, and the key of the page pair that was open last."""
    values = dict(parse_qsl(request.cookies.get(_COOKIE, "")))
    return ReviewChoice.of(values) or ReviewChoice(), values.get("at", "")


def after_verdict(job: ServedJob, key: str, query: str, verdict: str) -> str:
    """Where a verdict on a page pair leads: to the next one. Who takes it back stays, and whom somebody has contradicted."""
    choice = ReviewChoice.of(dict(parse_qsl(query)))
    if choice is None:
        return f"/jobs/{quote(job.id)}/pairs/{quote(key)}"
    if verdict == "meanwhile":
        return choice.pair_address(job, key) + "&meanwhile=1"
    return choice.pair_address(job, key) if verdict == "undo" else choice.next_address(job, key)


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/pairs", pairs),
    Route("/jobs/{id}/pairs/{key}", pair),
    Route("/jobs/{id}/review", review),
    Route("/jobs/{id}/verdicts", judge, methods=["POST"]),
    Route("/jobs/{id}/search", search),
    Route("/jobs/{id}/hits", hits_file),
    Route("/jobs/{id}/index", index_part),
]
