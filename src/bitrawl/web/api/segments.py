"""The API of segments: lists by filter, verdicts on many, their history, edits and comments."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from bitrawl.errors import FieldError
from bitrawl.model import Verdict
from bitrawl.review.reviewing import Reading
from bitrawl.review.segment_list import SegmentFilter, SegmentList, SegmentOrder
from bitrawl.review.segment_review import OnScreen, ReadSegment, Saved, Writer, changed_rows
from bitrawl.web import actions
from bitrawl.web.actions import find_mining_job, segment_filter
from bitrawl.web.api import shapes
from bitrawl.web.api.asked import check_choices, indexed, rows_asked
from bitrawl.web.messages import NOT_SAVED, RequestError, message

Body = Any
_STATUS = {Saved.GONE: 404, Saved.CHANGED: 409}  # of what was not saved; 422 for the others


async def list_segments(request: Request, _body: Body) -> shapes.ApiSegments:
    values = dict(request.query_params)
    check_choices(values, sort=SegmentOrder)
    place, wanted = rows_asked(values), segment_filter(values)
    library, order = await indexed(request), SegmentOrder(values.get("sort") or SegmentOrder.WORST)
    part = await asyncio.to_thread(SegmentList(library).part, wanted, order, **place)
    return shapes.ApiSegments(part.segments, part.total)


async def judge_many(request: Request, body: shapes.BulkVerdict) -> shapes.Judged:
    if body.verdict not in set(Verdict):
        raise FieldError({"verdict": f"choose one of {', '.join(Verdict)}"})
    if (body.filter is None) == (body.keys is None):
        raise FieldError({"keys": "give either keys or a filter"})
    library, by = await indexed(request), request.state.user.name
    segments = await asyncio.to_thread(_chosen, library, body)
    changed = await asyncio.to_thread(library.judge_all, segments, Verdict(body.verdict), by, time.time())
    return shapes.Judged(len(segments), changed)


def _chosen(library: Reading, body: shapes.BulkVerdict) -> list[Any]:
    if body.filter is None:
        return SegmentList(library).subjects(SegmentFilter(), body.keys)
    given = {name: str(value) for name, value in msgspec.structs.asdict(body.filter).items() if value is not None}
    check_choices(given)
    return actions.subjects_of(library, segment_filter(given), "", body.count)


async def undo_last(request: Request, _body: Body) -> shapes.Undone:
    library = Reading((await find_mining_job(request)).folder)
    undone = await asyncio.to_thread(library.undo_last, request.state.user.name, time.time())
    return shapes.Undone(len(undone), undone[0].verdict if undone else None)


async def edit(request: Request, body: shapes.Edit) -> list[ReadSegment]:
    texts = body.text_a, body.text_b
    return await _done(
        request, body, lambda library, key, row, by: library.edit(key, row, texts, by, accept=body.accept)
    )


async def join(request: Request, body: shapes.SegmentName) -> list[ReadSegment]:
    return await _done(request, body, lambda library, key, row, by: library.join(key, row, "", by))


async def restore(request: Request, body: shapes.SegmentName) -> list[ReadSegment]:
    return await _done(request, body, lambda library, key, row, by: library.restore(key, row, by))


async def comment(request: Request, body: shapes.NewComment) -> list[ReadSegment]:
    return await _done(request, body, lambda library, key, row, by: library.comment(key, row, body.text, by))


async def _done(
    request: Request, body: shapes.SegmentName, act: Callable[[Reading, str, OnScreen, Writer], Saved]
) -> list[ReadSegment]:
    """The rows of the page pair that have changed. Raises `RequestError` with the reason why nothing was saved."""
    library, key = await indexed(request), request.path_params["key"]
    row, by = OnScreen(body.key, body.start, body.part), Writer(request.state.user.name, time.time())
    before = await asyncio.to_thread(library.pair, key)
    if before is None:
        raise HTTPException(404, "There is no such page pair.")
    saved = await asyncio.to_thread(act, library, key, row, by)
    if saved is not Saved.DONE:
        raise RequestError(_STATUS.get(saved, 422), message(NOT_SAVED[saved]))
    after = await asyncio.to_thread(library.pair, key)
    return changed_rows(before.segments, after.segments if after else (), body.start)


async def undo_comment(request: Request, _body: Body) -> None:
    number, library = request.path_params["number"], Reading((await find_mining_job(request)).folder)
    is_number = number.isascii() and number.isdecimal() and len(number) < 12
    by = Writer(request.state.user.name, time.time())
    if not is_number or not await asyncio.to_thread(library.review.undo_comment, int(number), by):
        raise HTTPException(404, "There is no such comment, or it is not yours.")
