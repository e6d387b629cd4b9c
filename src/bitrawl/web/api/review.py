"""The API of a review by several people: its queue, samples, conflicts and progress."""

import asyncio
import secrets
from typing import Any

import msgspec
from starlette.requests import Request

from bitrawl.errors import FieldError
from bitrawl.review.progress import ReviewProgress, review_progress
from bitrawl.review.queue import ReviewOrder, review_queue
from bitrawl.store.samples import Sample
from bitrawl.store.verdicts import Judgement
from bitrawl.web import review_actions
from bitrawl.web.actions import find_mining_job, server_of, two_languages
from bitrawl.web.api import shapes
from bitrawl.web.job_list import ServedJob
from bitrawl.web.review_actions import find_sample, results_of, samples_of

DRAWING_SECONDS = 900.0
PATIENCE = 60.0  # seconds that a program waits for a new index
MOST_KEYS = 500  # of one answer
_SEEDS = 1_000_000

Body = Any


async def _indexed_job(request: Request) -> ServedJob:
    job = await find_mining_job(request)
    await server_of(request).indexing.is_fresh(job.folder, request.state.user.name, wait=PATIENCE)
    return job


async def show_progress(request: Request, _body: Body) -> ReviewProgress:
    return await asyncio.to_thread(review_progress, (await _indexed_job(request)).folder)


async def show_queue(request: Request, _body: Body) -> shapes.Queued:
    values = request.query_params
    order, seed, languages, limit = (values.get(name, "") for name in ("order", "seed", "languages", "limit"))
    wrong = {}
    if order and order not in set(ReviewOrder):
        wrong["order"] = f"choose one of {', '.join(ReviewOrder)}"
    for name, text, most in (("seed", seed, _SEEDS), ("limit", limit, MOST_KEYS)):
        if text and not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) <= most):
            wrong[name] = f"give a whole number from 0 to {most:,}"
    if languages and two_languages(languages) is None:
        wrong["languages"] = "name two languages, as in en-fr"
    if wrong:
        raise FieldError(wrong)
    job = await _indexed_job(request)
    chosen = ReviewOrder(order or ReviewOrder.UNCERTAIN)
    drawn = int(seed) if seed else secrets.randbelow(_SEEDS) if chosen is ReviewOrder.RANDOM else 0
    queue = await asyncio.to_thread(review_queue, job.folder, chosen, drawn, two_languages(languages))
    keys = tuple(key for key in queue.keys if key not in queue.judged)[: int(limit or 50)]
    return shapes.Queued(keys, len(queue.judged), queue.left, drawn)


async def list_conflicts(request: Request, _body: Body) -> list[Judgement]:
    return await review_actions.conflicts_of(request, await find_mining_job(request))


async def resolve(request: Request, body: shapes.Resolution) -> None:
    await review_actions.resolve(request, await find_mining_job(request), body.kind, body.key, body.verdict)


async def list_samples(request: Request, _body: Body) -> list[Sample]:
    return await asyncio.to_thread(samples_of(await find_mining_job(request)).listed)


async def make_sample(request: Request, body: shapes.NewSample) -> shapes.ShownSample:
    job = await find_mining_job(request)
    asked = await review_actions.sample_request(request, job, body)
    number = await server_of(request).commands.run(
        [str(job.folder.path)],
        msgspec.json.encode(asked),
        person=request.state.user.name,
        seconds=DRAWING_SECONDS,
        module="bitrawl.job.drawing",
    )
    sample = await asyncio.to_thread(samples_of(job).find, int(number))
    assert sample is not None
    return shapes.ShownSample(sample)


async def show_sample(request: Request, _body: Body) -> shapes.ShownSample:
    job = await find_mining_job(request)
    sample = await find_sample(request, job)
    return shapes.ShownSample(sample, await results_of(job, sample))


async def next_unit(request: Request, _body: Body) -> shapes.NextUnit:
    job = await find_mining_job(request)
    sample = await find_sample(request, job)
    left = await asyncio.to_thread(samples_of(job).left, sample, request.state.user.name)
    unit = await asyncio.to_thread(samples_of(job).unit, sample, left[0]) if left else None
    if unit is None:
        return shapes.NextUnit(None, 0)
    texts = unit.url_a, unit.url_b, unit.text_a, unit.text_b
    return shapes.NextUnit(shapes.BlindUnit(unit.place, unit.key, *texts), len(left))


async def judge_units(request: Request, body: shapes.SampleVerdicts) -> None:
    job = await find_mining_job(request)
    await review_actions.judge_units(request, job, await find_sample(request, job), body.verdicts)


async def finish_sample(request: Request, _body: Body) -> shapes.ShownSample:
    job = await find_mining_job(request)
    await review_actions.finish_sample(request, job, await find_sample(request, job))
    return await show_sample(request, None)


async def end_sample(request: Request, _body: Body) -> shapes.ShownSample:
    job = await find_mining_job(request)
    await review_actions.end_sample(request, job, await find_sample(request, job))
    return await show_sample(request, None)


async def remove_sample(request: Request, _body: Body) -> None:
    job = await find_mining_job(request)
    await review_actions.end_sample(request, job, await find_sample(request, job), remove=True)
