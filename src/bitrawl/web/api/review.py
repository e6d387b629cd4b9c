"""The API of what people do with a corpus: page pairs, segments, verdicts, searches, edits, samples, conflicts and progress."""

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request

from bitrawl.errors import FieldError
from bitrawl.review import (
    GivenVerdict,
    HitList,
    JobReview,
    Judgement,
    PairList,
    ReadPair,
    ReadSegment,
    ReviewOrder,
    ReviewProgress,
    Sample,
    Saved,
    SegmentFilter,
    SegmentOrder,
    SegmentRows,
    SubjectKind,
)
from bitrawl.web import review_actions
from bitrawl.web.api import shapes
from bitrawl.web.commands import CommandError
from bitrawl.web.fields import (
    Fields,
    language_pair,
    one_of,
    pair_filter,
    rows_wanted,
    search_query,
    segment_filter,
    whole,
)
from bitrawl.web.messages import message
from bitrawl.web.review_actions import PROGRAM_PATIENCE, SEEDS, OpenReview, find_sample, open_review

DRAWING_SECONDS = 900.0
MOST_KEYS = 500  # of one answer

Body = Any


async def _indexed(request: Request) -> JobReview:
    """As new as a program can wait for."""
    return (await open_review(request, PROGRAM_PATIENCE)).review


async def list_pairs(request: Request, _body: Body) -> PairList:
    values = request.query_params
    wanted = pair_filter(values, **rows_wanted(values), strict=True)
    return await asyncio.to_thread((await _indexed(request)).lists.pairs, wanted)


async def read_pair(request: Request, _body: Body) -> ReadPair:
    return await review_actions.read_pair(await _indexed(request), request.path_params["key"])


async def list_segments(request: Request, _body: Body) -> SegmentRows:
    values = request.query_params
    rows, wanted = rows_wanted(values), segment_filter(values)
    order = Fields(values).read_one("sort", one_of(SegmentOrder), SegmentOrder.WORST)
    return await asyncio.to_thread((await _indexed(request)).segments.part, wanted, order, **rows)


async def search(request: Request, _body: Body) -> HitList:
    rows, query = rows_wanted(request.query_params), search_query(request.query_params)
    return await asyncio.to_thread((await _indexed(request)).search, query, **rows)


async def give_verdict(request: Request, body: shapes.ApiVerdict) -> None:
    _, review, _ = await open_review(request)
    await review_actions.give_verdict(review, body.kind, body.key, body.within, body.verdict)


async def list_verdicts(request: Request, _body: Body) -> list[GivenVerdict]:
    fields = Fields(request.query_params)
    chosen = {name: fields.text(name) or None for name in ("key", "by")}
    kind = fields.read_one("kind", one_of(SubjectKind), None)
    rows, (_, review, _) = rows_wanted(request.query_params), await open_review(request)
    return await review_actions.verdict_history(review, rows["limit"], rows["offset"], kind=kind, **chosen)


async def judge_many(request: Request, body: shapes.BulkVerdict) -> shapes.Judged:
    if (body.filter is None) == (body.keys is None):
        raise FieldError({"keys": "give either keys or a filter"})
    review, wanted, count = await _indexed(request), SegmentFilter(), None
    if body.filter is not None:
        wanted, count = segment_filter(msgspec.structs.asdict(body.filter)), body.count
    return await review_actions.judge_all(review, body.verdict, wanted, keys=body.keys, count=count)


async def undo_last(request: Request, _body: Body) -> shapes.Undone:
    undone = await review_actions.undo_last((await open_review(request)).review)
    return shapes.Undone(len(undone), undone[0].verdict if undone else None)


async def edit(request: Request, body: shapes.Edit) -> list[ReadSegment]:
    texts = {"text_a": body.text_a, "text_b": body.text_b}
    return await _changed(request, body, "accept" if body.accept else "save", texts)


async def join(request: Request, body: shapes.SegmentName) -> list[ReadSegment]:
    return await _changed(request, body, "join", {})


async def restore(request: Request, body: shapes.SegmentName) -> list[ReadSegment]:
    return await _changed(request, body, "restore", {})


async def comment(request: Request, body: shapes.NewComment) -> list[ReadSegment]:
    return await _changed(request, body, "comment", {"text": body.text})


async def _changed(request: Request, body: shapes.SegmentName, act: str, given: Mapping[str, str]) -> list[ReadSegment]:
    """The rows of the page pair that have changed. Raises `RequestError` with the reason why nothing was saved."""
    review, row = await _indexed(request), (body.key, body.start, body.part)
    change = await review_actions.change_segment(review, request.path_params["key"], row, act, given)
    if change.saved is not Saved.DONE:
        raise review_actions.not_saved(change.saved)
    return change.rows


async def undo_comment(request: Request, _body: Body) -> None:
    await review_actions.undo_comment((await open_review(request)).review, request.path_params["number"])


async def show_progress(request: Request, _body: Body) -> ReviewProgress:
    return await asyncio.to_thread((await _indexed(request)).progress)


async def show_queue(request: Request, _body: Body) -> shapes.Queued:
    fields = Fields(request.query_params)
    order = fields.read("order", one_of(ReviewOrder), ReviewOrder.UNCERTAIN)
    drawn = fields.read("seed", whole(0, SEEDS), secrets.randbelow(SEEDS) if order is ReviewOrder.RANDOM else 0)
    limit, languages = fields.read("limit", whole(0, MOST_KEYS), 50), fields.read("languages", language_pair, None)
    fields.check()
    queue = await asyncio.to_thread((await _indexed(request)).queue, order, drawn, languages)
    keys = tuple(key for key in queue.keys if key not in queue.judged)[:limit]
    return shapes.Queued(keys, len(queue.judged), queue.left, drawn)


async def list_conflicts(request: Request, _body: Body) -> list[Judgement]:
    return await review_actions.conflicts_of((await open_review(request)).review)


async def resolve(request: Request, body: shapes.Resolution) -> None:
    await review_actions.resolve((await open_review(request)).review, body.kind, body.key, body.verdict)


async def list_samples(request: Request, _body: Body) -> list[Sample]:
    return await asyncio.to_thread((await open_review(request)).review.samples.listed)


async def make_sample(request: Request, body: shapes.NewSample) -> shapes.ShownSample:
    opened, given = await open_review(request), msgspec.structs.asdict(body)
    sample = await review_actions.draw_sample(request, opened, given, body.people, patience=DRAWING_SECONDS)
    if sample is None:
        raise CommandError(message("That took too long. Try with less."))
    return shapes.ShownSample(sample)


async def _opened_sample(request: Request) -> tuple[OpenReview, Sample]:
    opened = await open_review(request)
    return opened, await find_sample(request, opened.review)


async def show_sample(request: Request, _body: Body) -> shapes.ShownSample:
    (_, review, _), sample = await _opened_sample(request)
    return shapes.ShownSample(sample, await asyncio.to_thread(review.results, sample))


async def next_unit(request: Request, _body: Body) -> shapes.NextUnit:
    (_, review, _), sample = await _opened_sample(request)
    left = await asyncio.to_thread(review.samples.left, sample, review.person)
    unit = await asyncio.to_thread(review.samples.unit, sample, left[0]) if left else None
    if unit is None:
        return shapes.NextUnit(None, 0)
    texts = unit.url_a, unit.url_b, unit.text_a, unit.text_b
    return shapes.NextUnit(shapes.BlindUnit(unit.place, unit.key, *texts), len(left))


async def judge_units(request: Request, body: shapes.SampleVerdicts) -> None:
    opened, sample = await _opened_sample(request)
    await review_actions.judge_units(opened.review, sample, body.verdicts)


async def finish_sample(request: Request, _body: Body) -> shapes.ShownSample:
    opened, sample = await _opened_sample(request)
    await review_actions.finish_sample(opened.review, sample)
    return await show_sample(request, None)


async def end_sample(request: Request, _body: Body) -> shapes.ShownSample:
    await review_actions.end_sample(request, *await _opened_sample(request))
    return await show_sample(request, None)


async def remove_sample(request: Request, _body: Body) -> None:
    await review_actions.end_sample(request, *await _opened_sample(request), remove=True)
