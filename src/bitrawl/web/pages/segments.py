"""Segments as rows of one grid: those of two pages or of a whole job, filtered, judged all at once, edited and commented."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import FieldError
from bitrawl.mining.differences import Difference, differences
from bitrawl.model import Language, Verdict
from bitrawl.review.reviewing import Choices, ListedPair, Reading, ReadPair
from bitrawl.review.segment_list import (
    NO_FLAG,
    SegmentFilter,
    SegmentList,
    SegmentOrder,
    SegmentPart,
    fitting_rows,
)
from bitrawl.review.segment_review import MOST_CHARACTERS, OnScreen, ReadSegment, Saved, Writer, changed_rows
from bitrawl.store.verdicts import GivenVerdict
from bitrawl.text.rewording import rewording
from bitrawl.text.words import Span
from bitrawl.web import actions
from bitrawl.web.actions import find_mining_job, number_in, segment_filter, server_of, words_of
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import (
    DIFFERENCES,
    FLAGS,
    LENGTH_UNITS,
    NOT_SAVED,
    SEGMENT_ORDERS,
    SEGMENT_STATES,
    Message,
    RequestError,
    Words,
    message,
)
from bitrawl.web.pages.rendering import fragment, moment, rendered
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
        """Of the page that shows them, and of one row there."""
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
        return {"job": self.job, "view": self.view.name, "back": self.view.back, "most_characters": MOST_CHARACTERS}


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
            return cls(SegmentFilter(), dict(values), _told(error))

    def fitting(
        self, rows: Sequence[ReadSegment], languages: tuple[Language, Language]
    ) -> "tuple[Sequence[ReadSegment], FilterForm]":
        """The rows of two pages that fit, and the form with what is wrong with it."""
        if self.errors:
            return (), self
        try:
            return (fitting_rows(rows, self.wanted, languages) if self.is_set else rows), self
        except FieldError as error:
            return (), self._replace(errors=_told(error))

    @property
    def is_set(self) -> bool:
        return any(self.values.get(name) for name in FILTERS if name != "unit")

    def choices(
        self, words: Words, languages: tuple[Language, Language] | None, orders: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """For a template: what can be chosen, with the languages of the two texts if they are known."""
        names = [words.language(code) for code in languages or ()]
        labels = [words.say("Words in {language}", language=name) for name in names]
        return {
            "values": self.values,
            "errors": self.errors,
            "set_filters": sum(bool(self.values.get(name)) for name in FILTERS if name != "unit"),
            "states": [("", words.say("any")), *_said(words, SEGMENT_STATES)],
            "flags": [("", words.say("any")), (NO_FLAG, words.say("none")), *_said(words, FLAGS)],
            "units": _said(words, LENGTH_UNITS),
            "sorts": _said(words, orders or {}),
            "columns": names or [words.say("Text A"), words.say("Text B")],
            "word_labels": labels or [words.say("Words in text A"), words.say("Words in text B")],
        }


def _said(words: Words, labels: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(str(value), words.say(label)) for value, label in labels.items()]


def _told(error: FieldError) -> dict[str, Message]:
    return {name: why if isinstance(why, Message) else message(str(why)) for name, why in error.fields.items()}


async def segments(request: Request) -> Response:
    """The segments of the job that fit."""
    job, words, values = await find_mining_job(request), words_of(request), dict(request.query_params)
    ready = await server_of(request).indexing.is_fresh(job.folder, request.state.user.name)
    offset, reading, by = (
        number_in(values, "offset"),
        Reading(job.folder, request.state.user.name),
        request.state.user.name,
    )
    form = FilterForm.of(values)
    order = SegmentOrder(values["sort"]) if values.get("sort") in set(SegmentOrder) else SegmentOrder.WORST
    part = SegmentPart((), 0)
    if not form.errors:
        try:
            part = await asyncio.to_thread(SegmentList(reading).part, form.wanted, order, offset, LISTED)
        except FieldError as error:
            form = form._replace(errors=_told(error))
    corpora = await asyncio.to_thread(reading.choices)
    only = actions.two_languages(corpora.languages[0].name) if len(corpora.languages) == 1 else None
    shown = Shown(job, by, View("list", urlencode(values)))
    return rendered(
        request,
        "segments.html",
        tab="/segments",
        index_ready=ready,
        review=None,
        rows=await asyncio.to_thread(lambda: [shown.row(one.pair, one.segment) for one in part.segments]),
        total=part.total,
        offset=offset,
        size=LISTED,
        base=f"{request.url.path}?{urlencode(values)}",
        language_choices=language_choices(words, corpora),
        kept_fields=(),
        unfiltered=request.url.path,
        **form.choices(words, form.wanted.languages or only, SEGMENT_ORDERS),
        **await bulk_values(reading, by, ""),
        **shown.values,
    )


def language_choices(words: Words, corpora: Choices) -> list[tuple[str, str]]:
    choices = []
    for corpus in corpora.languages:
        both = actions.two_languages(corpus.name)
        choices.append((corpus.name, " – ".join(words.language(code) for code in both) if both else corpus.name))
    return [("", words.say("all")), *choices] if len(choices) != 1 else choices


async def bulk_values(reading: Reading, by: str, within: str) -> dict[str, Any]:
    """For the line with a verdict on all."""
    return {"batch": await asyncio.to_thread(reading.last_batch, by), "within": within}


async def judge_all(request: Request) -> Response:
    """A verdict on all that a filter shows."""
    form, job = await posted(request), await find_mining_job(request)
    within, back, verdict, count = (str(form.get(name, "")) for name in ("within", "back", "verdict", "count"))
    if verdict not in set(Verdict) or not (count.isascii() and count.isdecimal() and len(count) < 12):
        raise RequestError(422, message("Choose what to accept or to reject on the page, then press its button."))
    wanted = segment_filter(dict(parse_qsl(back)))
    await actions.judge_all(job, wanted, within, Verdict(verdict), request.state.user.name, int(count))
    return RedirectResponse(View("pair" if within else "list", back).address(job, within), 303)


async def undo_all(request: Request) -> Response:
    """Take back what was said at once."""
    form, job = await posted(request), await find_mining_job(request)
    within, back, batch = (str(form.get(name, "")) for name in ("within", "back", "batch"))
    if batch.isascii() and batch.isdecimal() and len(batch) < 12:
        reading = Reading(job.folder)
        await asyncio.to_thread(reading.undo_batch, int(batch), request.state.user.name, time.time())
    return RedirectResponse(View("pair" if within else "list", back).address(job, within), 303)


async def segment(request: Request) -> Response:
    """A segment by itself, to edit or comment it; for the script, only its row."""
    job, anchor = await find_mining_job(request), request.path_params["anchor"]
    pair = await read_pair(request, job, request.path_params["key"])
    place = pair.place_of(anchor)
    if place is None:
        raise RequestError(404, message("That is no longer there: the site was mined again. Open the page again."))
    shown = Shown(job, request.state.user.name, View.of(request.query_params))
    return _written(request, shown, shown.row(pair.pair, pair.segments[place]))


def _written(
    request: Request, shown: Shown, row: Row, typed: Mapping[str, str] | None = None, saved: Saved = Saved.DONE
) -> Response:
    """The fields of a row, with what somebody typed into them and why it was not saved."""
    part, typed = request.headers.get("x-part", ""), typed or {}
    problem = None if saved is Saved.DONE else message(NOT_SAVED[saved])
    values = {**shown.values, "row": row, "typed": typed, "problem": problem, "is_changed": saved is Saved.CHANGED}
    if part:
        writes = "comment" if part == "comment" or "text" in typed else "text"
        return HTMLResponse(fragment(request, "segment_edit.html", writes=writes, **values))
    return rendered(request, "segment_page.html", 422 if problem else 200, tab="/pairs", review=None, **values)


async def write(request: Request) -> Response:
    """What somebody does to a segment: new texts, a join, a comment, or taking one of these back."""
    form, job = await posted(request), await find_mining_job(request)
    values = {name: str(value) for name, value in form.items()}
    key, anchor = request.path_params["key"], request.path_params["anchor"]
    numbers = [int(values[name]) if values.get(name, "").isdecimal() else -1 for name in ("start", "part")]
    on_screen = OnScreen(values.get("key", ""), *numbers)
    shown = Shown(job, request.state.user.name, View.of(values))
    before = await read_pair(request, job, key)
    saved = await asyncio.to_thread(
        _acted, Reading(job.folder), key, on_screen, values, Writer(shown.person, time.time())
    )
    after = await read_pair(request, job, key)
    if saved is not Saved.DONE:
        return _not_saved(request, shown, after, on_screen, values, saved)
    if not request.headers.get("x-part"):
        return RedirectResponse(shown.view.address(job, key, anchor), 303)
    return rows_response(request, shown, after, changed_rows(before.segments, after.segments, on_screen.start))


def _acted(reading: Reading, key: str, row: OnScreen, values: Mapping[str, str], by: Writer) -> Saved:
    match values.get("act", ""):
        case "save" | "accept" as act:
            texts = values.get("text_a", ""), values.get("text_b", "")
            return reading.edit(key, row, texts, by, accept=act == "accept")
        case "join":
            return reading.join(key, row, values.get("following", ""), by)
        case "restore":
            return reading.restore(key, row, by)
        case "comment":
            return reading.comment(key, row, values.get("text", ""), by)
        case "uncomment" if values.get("comment", "").isdecimal():
            reading.review.undo_comment(int(values["comment"]), by)
            return Saved.DONE
    raise RequestError(422, message("There is no such action."))


def _not_saved(
    request: Request, shown: Shown, pair: ReadPair, on_screen: OnScreen, values: Mapping[str, str], saved: Saved
) -> Response:
    """What was typed stays on the screen, beside what the segment says now."""
    place = on_screen.place_in(pair.segments)
    there = [row for row in pair.segments if row.place == place] or [
        row for row in pair.segments if row.start == on_screen.start
    ]
    typed = {name: values[name] for name in ("text_a", "text_b", "text") if name in values}
    if not there or not typed:
        raise RequestError(409, message(NOT_SAVED[saved]))
    return _written(request, shown, shown.row(pair.pair, there[0]), typed, saved)


def rows_response(request: Request, shown: Shown, pair: ReadPair, rows: Sequence[ReadSegment]) -> Response:
    """For the script: rows that take the place of those that they meet."""
    made = shown.rows(pair.pair, rows, pair.segments)
    return HTMLResponse("".join(fragment(request, "segment.html", row=row, **shown.values) for row in made))


async def read_pair(request: Request, job: ServedJob, key: str) -> ReadPair:
    pair = await asyncio.to_thread(Reading(job.folder, request.state.user.name).pair, key)
    if pair is None:
        raise RequestError(404, message("That page pair no longer exists."))
    return pair


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/segments", segments),
    Route("/jobs/{id}/segments/verdicts", judge_all, methods=["POST"]),
    Route("/jobs/{id}/segments/undo", undo_all, methods=["POST"]),
    Route("/jobs/{id}/pairs/{key}/segments/{anchor}", segment),
    Route("/jobs/{id}/pairs/{key}/segments/{anchor}", write, methods=["POST"]),
]
