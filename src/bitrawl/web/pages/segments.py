"""Segments as rows of one grid: those of two pages or of a whole job, filtered, judged all at once, edited and commented."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import FieldError
from bitrawl.model import Language, Verdict
from bitrawl.review import (
    GivenVerdict,
    JobReview,
    ListedPair,
    ReadPair,
    ReadSegment,
    Saved,
    SegmentFilter,
    SegmentOrder,
    SegmentRows,
)
from bitrawl.text.rewording import rewording
from bitrawl.text.words import Span
from bitrawl.web.actions import words_of
from bitrawl.web.differences import Difference, differences
from bitrawl.web.fields import offset_in, segment_filter, two_languages, whole_number
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import (
    DIFFERENCES,
    FLAGS,
    LENGTH_UNITS,
    SEGMENT_ORDERS,
    SEGMENT_STATES,
    Message,
    RequestError,
    Words,
    field_messages,
    marked,
    message,
)
from bitrawl.web.pages.rendering import corpus_choices, fragment, list_part, moment, rendered
from bitrawl.web.review_actions import (
    PAGE_PATIENCE,
    SegmentChange,
    change_segment,
    judge_all,
    not_saved,
    open_review,
    read_pair,
    undo_last,
)
from bitrawl.web.security import posted

LISTED = 50  # on one page of the list
FILTERS = ("state", "flag", "least", "most", "shortest", "longest", "unit", "words_a", "words_b")
"""The fields of a filter."""


class View(NamedTuple):
    """Where rows stand: on two pages ("pair"), among some of their rows ("some") or in the list of a job ("list")."""

    name: str = "pair"
    back: str = ""  # the query of the page that shows them

    @classmethod
    def of(cls, values: Mapping[str, object]) -> "View":
        name = str(values.get("view", ""))
        return cls(name if name in ("some", "list") else "pair", str(values.get("back", "")))

    def address(self, job: ServedJob, within: str, anchor: str = "") -> str:
        """The address of the page that shows the rows, and of one row there."""
        fields = dict(parse_qsl(self.back))
        if self.name == "list" or not within:
            path = f"/jobs/{quote(job.id)}/segments"
        else:
            path = f"/jobs/{quote(job.id)}/pairs/{quote(within)}"
            fields |= {"segment": anchor} if anchor else {}
        query = f"?{urlencode(fields)}" if fields else ""
        return f"{path}{query}{f'#s-{quote(anchor)}' if anchor else ''}"


class Piece(NamedTuple):
    """A part of a text that is marked in one way."""

    text: str
    why: str = ""  # a difference from the other text
    is_new: bool = False  # somebody wrote it
    is_gone: bool = False


class Row(NamedTuple):
    """A segment as the grid shows it to one person."""

    segment: ReadSegment
    pair: ListedPair
    person: str
    page: str  # the address where it is edited
    place: str  # its address on the two pages
    text_a: list[Piece]
    text_b: list[Piece]
    original_a: list[Piece]
    original_b: list[Piece]
    following: str = ""  # the key of the next row of the two pages, if they can be joined

    @property
    def number(self) -> str:
        """By the segments as they were mined, so that it stays when others are split or joined."""
        first, last = self.segment.start + 1, self.segment.start + len(self.segment.keys)
        is_split = self.segment.revision is not None and len(self.segment.revision.revision.texts) > 1
        return (f"{first}–{last}" if last > first else str(first)) + (f".{self.segment.part + 1}" if is_split else "")

    @property
    def own(self) -> Verdict | None:
        return self.segment.judgement.by(self.person)

    @property
    def others(self) -> list[GivenVerdict]:
        return [opinion for opinion in self.segment.judgement.opinions if opinion.by != self.person]

    @property
    def is_theirs(self) -> bool:
        """Whether the verdict that stands is of others alone."""
        return self.segment.verdict is not None and self.own is None

    def when(self, verdict: str) -> str:
        """Who gave that verdict, and when, after the name of its button."""
        given = [opinion for opinion in self.segment.judgement.opinions if opinion.verdict == verdict]
        return "".join(f" · {opinion.by}, {moment(opinion.at)}" for opinion in given)


class Shown(NamedTuple):
    """Rows and where they are shown to whom."""

    job: ServedJob
    person: str
    view: View

    def row(self, pair: ListedPair, segment: ReadSegment, following: str = "") -> Row:
        key, anchor = pair.row.key, segment.anchor
        marks = differences(segment.text_a, segment.text_b, (pair.row.lang_a, pair.row.lang_b))
        before_a, before_b = _originals(segment)
        new_a, gone_a = _reworded(before_a, segment.text_a)
        new_b, gone_b = _reworded(before_b, segment.text_b)
        fields = urlencode({"view": self.view.name, "back": self.view.back})
        return Row(
            segment,
            pair,
            self.person,
            f"/jobs/{quote(self.job.id)}/pairs/{quote(key)}/segments/{quote(anchor)}?{fields}",
            View().address(self.job, key, anchor),
            _pieces(segment.text_a, marks.a, new_a),
            _pieces(segment.text_b, marks.b, new_b),
            _pieces(before_a, (), (), gone_a),
            _pieces(before_b, (), (), gone_b),
            following if self.view.name == "pair" else "",
        )

    def rows(self, pair: ListedPair, segments: Sequence[ReadSegment], among: Sequence[ReadSegment]) -> list[Row]:
        """Some of the rows of two pages, `among` all of them."""
        following = {segment.place: after.key for segment, after in pairwise(among)}
        return [self.row(pair, segment, following.get(segment.place, "")) for segment in segments]

    @property
    def values(self) -> dict[str, Any]:
        """For a template."""
        return {
            "job": self.job,
            "view": self.view.name,
            "back": self.view.back,
            "most_characters": JobReview.MOST_CHARACTERS,
        }


def _originals(segment: ReadSegment) -> tuple[str, str]:
    """The texts as they were mined, if somebody wrote others; of a split only beside its first part."""
    if segment.revision is None or segment.part:
        return "", ""
    originals = segment.revision.originals
    return " ¶ ".join(a for a, _ in originals), " ¶ ".join(b for _, b in originals)


def _reworded(before: str, text: str) -> tuple[Sequence[Span], Sequence[Span]]:
    """What is new in the text, and what is gone from the one before."""
    if not before or before == text:
        return (), ()
    change = rewording(before, text)
    return change.new, change.gone


def _pieces(text: str, marks: Iterable[Difference], new: Sequence[Span], gone: Sequence[Span] = ()) -> list[Piece]:
    """The text cut where a mark begins or ends."""
    differing = [(Span(mark.start, mark.end), DIFFERENCES[mark.kind]) for mark in marks]
    spans = [*(span for span, _ in differing), *new, *gone]
    cuts = sorted({0, len(text), *(span.start for span in spans), *(span.end for span in spans)})
    return [
        Piece(
            text[start:end],
            next((why for span, why in differing if span.start <= start < span.end), ""),
            is_new=any(span.start <= start < span.end for span in new),
            is_gone=any(span.start <= start < span.end for span in gone),
        )
        for start, end in pairwise(cuts)
    ]


class FilterForm(NamedTuple):
    """The fields of a filter as somebody filled them in."""

    wanted: SegmentFilter
    values: dict[str, str]
    errors: dict[str, Message]

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "FilterForm":
        """What cannot be read is told beside its field, and shows nothing."""
        try:
            return cls(segment_filter(values), dict(values), {})
        except FieldError as error:
            return cls(SegmentFilter(), dict(values), field_messages(error))

    def fitting(self, pair: ReadPair) -> "tuple[Sequence[ReadSegment], FilterForm]":
        """The rows of two pages that fit, and the form with what is wrong with it."""
        if self.errors:
            return (), self
        try:
            return (JobReview.fitting(pair, self.wanted) if self.is_set else pair.segments), self
        except FieldError as error:
            return (), self._replace(errors=field_messages(error))

    @property
    def is_set(self) -> bool:
        return self._number_set > 0

    @property
    def _number_set(self) -> int:
        return sum(bool(self.values.get(name)) for name in FILTERS if name != "unit")

    def choices(
        self, words: Words, languages: tuple[Language, Language] | None, orders: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """For a template: what can be chosen, with the languages of the two texts if they are known."""
        names = [words.language(code) for code in languages or ()]
        labels = [words.say("Words in {language}", language=name) for name in names]
        return {
            "values": self.values,
            "errors": self.errors,
            "set_filters": self._number_set,
            "states": words.choices({"": marked("any"), **SEGMENT_STATES}),
            "flags": words.choices({"": marked("any"), JobReview.NO_FLAG: marked("none"), **FLAGS}),
            "units": words.choices(LENGTH_UNITS),
            "sorts": words.choices(orders or {}),
            "columns": names or [words.say("Text A"), words.say("Text B")],
            "word_labels": labels or [words.say("Words in text A"), words.say("Words in text B")],
        }


async def segments(request: Request) -> Response:
    """The segments of the job that fit."""
    opened, words, values = await open_review(request, PAGE_PATIENCE), words_of(request), dict(request.query_params)
    review, offset, form = opened.review, offset_in(values), FilterForm.of(values)
    order = SegmentOrder(values["sort"]) if values.get("sort") in set(SegmentOrder) else SegmentOrder.WORST
    found = SegmentRows((), 0)
    if not form.errors:
        try:
            found = await asyncio.to_thread(review.segments.part, form.wanted, order, offset, LISTED)
        except FieldError as error:
            form = form._replace(errors=field_messages(error))
    corpora = await corpus_choices(words, review)
    only = two_languages(corpora[0][0]) if len(corpora) == 1 else None
    shown = Shown(opened.job, review.person, View("list", urlencode(values)))
    return rendered(
        request,
        "segments.html",
        of=opened,
        tab="/segments",
        review=None,
        rows=await asyncio.to_thread(lambda: [shown.row(one.pair, one.segment) for one in found.segments]),
        language_choices=corpora,
        kept_fields=(),
        unfiltered=request.url.path,
        within="",
        batch=await asyncio.to_thread(review.verdicts.last_batch, review.person),
        **list_part(request, values, offset, LISTED, found.total)
        | form.choices(words, form.wanted.languages or only, SEGMENT_ORDERS)
        | shown.values,
    )


async def judge_many(request: Request) -> Response:
    """A verdict on all that a filter shows."""
    form, opened = await posted(request), await open_review(request)
    within, back, verdict, count = (str(form.get(name, "")) for name in ("within", "back", "verdict", "count"))
    if (number := whole_number(count)) is None:
        raise RequestError(422, message("Choose what to accept or to reject on the page, then press its button."))
    wanted = segment_filter(dict(parse_qsl(back)))
    await judge_all(opened.review, verdict, wanted, within=within, count=number)
    return RedirectResponse(View("pair" if within else "list", back).address(opened.job, within), 303)


async def undo_many(request: Request) -> Response:
    """Take back what was said at once."""
    form, opened = await posted(request), await open_review(request)
    within, back, batch = (str(form.get(name, "")) for name in ("within", "back", "batch"))
    if batch:
        await undo_last(opened.review, batch)
    return RedirectResponse(View("pair" if within else "list", back).address(opened.job, within), 303)


async def segment(request: Request) -> Response:
    """A segment by itself, to edit or comment it; for the script, only its row."""
    job, review, _ = await open_review(request)
    pair = await read_pair(review, request.path_params["key"])
    place = pair.place_of(request.path_params["anchor"])
    if place is None:
        raise RequestError(404, message("That is no longer there: the site was mined again. Open the page again."))
    shown = Shown(job, review.person, View.of(request.query_params))
    return _written(request, shown, shown.row(pair.pair, pair.segments[place]))


def _written(
    request: Request, shown: Shown, row: Row, typed: Mapping[str, str] | None = None, why: RequestError | None = None
) -> Response:
    """The fields of a row, with what somebody typed into them and why it was not saved."""
    part, typed = request.headers.get("x-part", ""), typed or {}
    values = {**shown.values, "row": row, "typed": typed, "problem": why and why.message}
    values["is_changed"] = why is not None and why.status_code == 409
    if part:
        writes = "comment" if part == "comment" or "text" in typed else "text"
        return HTMLResponse(fragment(request, "segment_edit.html", writes=writes, **values))
    return rendered(request, "segment_page.html", why.status_code if why else 200, tab="/pairs", review=None, **values)


async def write(request: Request) -> Response:
    """What somebody does to a segment: new texts, a join, a comment, or taking one of these back."""
    form, (job, review, _) = await posted(request), await open_review(request)
    values = {name: str(value) for name, value in form.items()}
    key, anchor = request.path_params["key"], request.path_params["anchor"]
    start, part = (whole_number(values.get(name, "")) for name in ("start", "part"))
    on_screen = values.get("key", ""), -1 if start is None else start, -1 if part is None else part
    shown = Shown(job, review.person, View.of(values))
    change = await change_segment(review, key, on_screen, values.get("act", ""), values)
    if change.saved is not Saved.DONE:
        return _not_saved(request, shown, change, on_screen, values)
    if not request.headers.get("x-part"):
        return RedirectResponse(shown.view.address(job, key, anchor), 303)
    return rows_response(request, shown, change.pair, change.rows)


def _not_saved(
    request: Request, shown: Shown, change: SegmentChange, on_screen: tuple[str, int, int], values: Mapping[str, str]
) -> Response:
    """What was typed stays on the screen, beside what the segment says now."""
    why, pair = not_saved(change.saved), change.pair
    place = JobReview.place_of(on_screen, pair.segments)
    typed = {name: values[name] for name in ("text_a", "text_b", "text") if name in values}
    if place is None or not typed:
        raise why
    return _written(request, shown, shown.row(pair.pair, pair.segments[place]), typed, why)


def rows_response(request: Request, shown: Shown, pair: ReadPair, rows: Sequence[ReadSegment]) -> Response:
    """For the script: rows that take the place of those that they meet."""
    made = shown.rows(pair.pair, rows, pair.segments)
    return HTMLResponse("".join(fragment(request, "segment.html", row=row, **shown.values) for row in made))


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/segments", segments),
    Route("/jobs/{id}/segments/verdicts", judge_many, methods=["POST"]),
    Route("/jobs/{id}/segments/undo", undo_many, methods=["POST"]),
    Route("/jobs/{id}/pairs/{key}/segments/{anchor}", segment),
    Route("/jobs/{id}/pairs/{key}/segments/{anchor}", write, methods=["POST"]),
]
