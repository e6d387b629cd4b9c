"""Random samples: drawing one, judging it unit by unit without seeing scores or others, and what follows from it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import FieldError
from bitrawl.review import ReadPair, ReviewerAgreement, Sample, SampleResults
from bitrawl.show import Range, ranges
from bitrawl.web.actions import server_of, words_of
from bitrawl.web.commands import CommandError
from bitrawl.web.corpus_files import bilingual_corpora
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import Message, RequestError, Words, field_messages, marked, message, message_of
from bitrawl.web.pages.rendering import corpus_names, load_again
from bitrawl.web.pages.review import review_page
from bitrawl.web.review_actions import (
    MOST_UNITS,
    PAGE_PATIENCE,
    USUAL_SIZE,
    OpenReview,
    draw_sample,
    end_sample,
    find_sample,
    finish_sample,
    judge_units,
    may_end,
    open_review,
)
from bitrawl.web.security import posted

PATIENCE = 2.0  # seconds that a page waits for a sample: enough for most jobs
NEIGHBOURS = 3  # before and after a unit, in its context
MOST_DIFFERENCES = 200  # that are listed


async def show(request: Request) -> Response:
    """The samples of a job, and a form for another."""
    opened = await open_review(request)
    if request.query_params.get("part"):
        is_busy = server_of(request).drawing.is_busy(opened.job.folder)
        return Response(status_code=304) if is_busy else load_again()
    return await _page(request, opened, {"size": str(USUAL_SIZE)}, [request.state.user.name], {})


async def draw(request: Request) -> Response:
    form, opened = await posted(request), await open_review(request)
    values = {name: str(value) for name, value in form.items() if name != "people"}
    people = [str(name) for name in form.getlist("people")]
    if not people:
        return await _page(request, opened, values, people, {"people": message("Choose at least one person.")})
    try:
        with suppress(CommandError):  # the page says why
            await draw_sample(request, opened, values, people, patience=PATIENCE)
    except FieldError as error:
        return await _page(request, opened, values, people, field_messages(error))
    return RedirectResponse(f"/jobs/{opened.job.id}/samples", 303)


async def _page(
    request: Request, opened: OpenReview, values: dict[str, str], people: list[str], errors: dict[str, Message]
) -> Response:
    (job, review, _), drawing = opened, server_of(request).drawing
    fault, headers = drawing.fault(job.folder), await bilingual_corpora(job)
    return await review_page(
        request,
        opened,
        "samples.html",
        "/samples",
        422 if errors else 200,
        samples=await asyncio.to_thread(review.samples.listed),
        is_drawing=drawing.is_busy(job.folder),
        problem=message_of(fault) if fault else Message(""),
        values=values,
        errors=errors,
        people=[(each.name, job.is_open_to(each)) for each in server_of(request).users],
        chosen=people,
        is_own=job.belongs_to(request.state.user),
        most=MOST_UNITS,
        language_choices=corpus_names(words_of(request), ((header.name, header.languages) for header in headers)),
    )


async def read(request: Request) -> Response:
    """How far people are with a sample; once all have finished, what follows from it."""
    opened = await open_review(request)
    sample = await find_sample(request, opened.review)
    outcome = await asyncio.to_thread(opened.review.results, sample)
    return await review_page(
        request,
        opened,
        "sample.html",
        "/samples",
        sample=sample,
        own=sample.person(request.state.user.name),
        may_end=may_end(request, opened.job, sample),
        results=outcome,
        **(await _in_words(words_of(request), opened, sample, outcome) if outcome else {}),
    )


async def _in_words(words: Words, opened: OpenReview, sample: Sample, outcome: SampleResults) -> dict[str, Any]:
    """The results, and the units on which people differ, with what each said."""
    units = await asyncio.to_thread(opened.review.samples.units, sample)
    verdicts = await asyncio.to_thread(opened.review.samples.verdicts, sample)
    by_unit = [(unit, [(name, own[unit.key]) for name, own in verdicts.items() if unit.key in own]) for unit in units]
    differing = [(unit, given) for unit, given in by_unit if len({verdict for _, verdict in given}) > 1]
    return {
        "precision": _interval(words, outcome.precision) if outcome.precision else "",
        "bands": _drawn_bands(words, outcome),
        "thresholds": [
            (words.score(row.least), words.number(row.size), words.share(row.size, outcome.thresholds[0].size),
             _interval(words, row.precision))
            for row in outcome.thresholds
        ],
        "agreements": [(both, words.share(both.same, both.units), _kappa(words, both), kappa_sentences(words, both)) for both in outcome.agreements],
        "differences": differing[:MOST_DIFFERENCES],
    }  # fmt: skip


def _interval(words: Words, estimate: msgspec.Struct | None) -> str:
    """A share with its bounds."""
    if estimate is None:
        return "–"
    share, low, high, _ = map(words.score, msgspec.structs.astuple(estimate))
    return f"{share} ({low}–{high})"


def _kappa(words: Words, both: ReviewerAgreement) -> str:
    if both.kappa is None:
        return words.say("no kappa")
    return words.say("kappa {kappa}", kappa=words.score(round(both.kappa, 2) + 0.0))  # -0.00 is 0.00


def _drawn_bands(words: Words, outcome: SampleResults) -> Markup:
    rows = []
    for band in outcome.bands:
        label = f"{words.score(band.least)}–{words.score(band.most)}"
        counts = words.say("{judged} judged of {size}", judged=words.number(band.judged), size=words.number(band.size))
        found = band.precision
        drawn = {"low": found.low, "middle": found.share, "high": found.high} if found else {}
        rows.append(Range(label, _interval(words, found), note=counts, **drawn))
    return ranges(rows)


def kappa_sentences(words: Words, both: ReviewerAgreement) -> list[str]:
    """What kappa says about two people, and when not to trust it."""
    sentences = []
    if both.kappa is None:
        alike = marked(
            "Both gave the same verdict on every unit. Chance alone could explain that, so there is no kappa."
        )
        sentences.append(words.say(alike))
    elif both.is_one_sided:
        paradox = marked(
            "Nearly all verdicts are the same, so that two people would agree on {chance} by chance. Kappa is low then even if"
            " they agree well: look at the percentage."
        )
        sentences.append(words.say(paradox, chance=words.share(both.chance, 1)))
    else:
        sentences.append(words.say(next(sentence for least, sentence in _LEVELS if both.kappa >= least)))
    if both.is_few:
        sentences.append(
            words.count(
                "{n} unit is few: some more can change this a lot.",
                "{n} units are few: some more can change this a lot.",
                both.units,
            )
        )
    return sentences


_LEVELS = (
    (0.81, marked("They judge alike.")),
    (0.61, marked("They judge much alike. Look at where they differ: a rule may be missing.")),
    (
        0.41,
        marked("They agree in part. Settle what counts as a translation, with examples, then judge another sample."),
    ),
    (0.21, marked("They agree little. Settle what counts as a translation, with examples, then judge another sample.")),
    (-0.1, marked("They agree no more than by chance: no precision follows from such verdicts.")),
    (-1.0, marked("They agree less than by chance: they seem to understand the question differently.")),
)
"""After Landis and Koch 1977."""


async def go_on(request: Request) -> Response:
    """To the first unit that the reader has not judged, or to the end."""
    job, review, _ = await open_review(request)
    sample = await find_sample(request, review)
    left = await asyncio.to_thread(review.samples.left, sample, review.person)
    return RedirectResponse(_address(job, sample, left[0] if left else 0), 303)


def _address(job: ServedJob, sample: Sample, place: int) -> str:
    """Of a unit; 0 is the end."""
    return f"/jobs/{job.id}/samples/{sample.id}" + (f"/units/{place}" if place else "")


def _following(left: Sequence[int], place: int) -> int:
    """The next that is left, after the last the first; 0 if there is none."""
    others = [other for other in left if other != place]
    return next((other for other in others if other > place), others[0] if others else 0)


async def unit(request: Request) -> Response:
    """One unit to judge. Neither its score nor what others said is on the page."""
    with_context = bool(request.query_params.get("context"))
    opened = await open_review(request, PAGE_PATIENCE if with_context else None)
    job, review, _ = opened
    sample, place = await find_sample(request, review), request.path_params["place"]
    own, shown = sample.person(review.person), await asyncio.to_thread(review.samples.unit, sample, place)
    if own is None or shown is None:
        raise RequestError(404, message("You do not judge this sample, or you have finished it."))
    if own.done_at is not None:
        return RedirectResponse(_address(job, sample, 0), 303)
    left = await asyncio.to_thread(review.samples.left, sample, review.person)
    verdicts = (await asyncio.to_thread(review.samples.verdicts, sample))[review.person]
    pages = await asyncio.to_thread(review.lists.pair, shown.pair_key) if with_context else None
    return await review_page(
        request,
        opened,
        "sample_unit.html",
        "/samples",
        sample=sample,
        unit=shown,
        verdict=verdicts.get(shown.key),
        left=len(left),
        back=_address(job, sample, place - 1) if place > 1 else "",
        next=_address(job, sample, place + 1 if place < sample.units else 0),
        with_context=with_context,
        pages=pages,
        context=_context(pages, shown.key) if pages else None,
    )


class Context(NamedTuple):
    """The texts around a unit: before it and after it."""

    before: list[tuple[str, str]]
    after: list[tuple[str, str]]


def _context(pages: ReadPair, key: str) -> Context | None:
    """None if the unit is not on these pages any more."""
    place = pages.place_of(key)
    if place is None:
        return None
    before = pages.segments[max(place - NEIGHBOURS, 0) : place]
    after = pages.segments[place + 1 : place + 1 + NEIGHBOURS]
    return Context(*([(row.text_a, row.text_b) for row in rows] for rows in (before, after)))


async def judge(request: Request) -> Response:
    """A verdict leads to the next unit; who takes one back stays."""
    form, (job, review, _) = await posted(request), await open_review(request)
    sample, place = await find_sample(request, review), request.path_params["place"]
    verdict = str(form.get("verdict", ""))
    await judge_units(review, sample, {place: verdict})
    if verdict == "undo":
        return RedirectResponse(_address(job, sample, place), 303)
    left = await asyncio.to_thread(review.samples.left, sample, review.person)
    return RedirectResponse(_address(job, sample, _following(left, place)), 303)


async def act(request: Request) -> Response:
    """Finish it, end it for all, or remove it."""
    await posted(request)
    opened = await open_review(request)
    sample, action = await find_sample(request, opened.review), request.path_params["action"]
    if action == "finish":
        await finish_sample(opened.review, sample)
    elif action in ("end", "remove"):
        await end_sample(request, opened, sample, remove=action == "remove")
    else:
        raise RequestError(404, message("There is no such page"))
    return RedirectResponse(f"/jobs/{opened.job.id}/samples" + ("" if action == "remove" else f"/{sample.id}"), 303)


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/samples", show),
    Route("/jobs/{id}/samples", draw, methods=["POST"]),
    Route("/jobs/{id}/samples/{number:int}", read),
    Route("/jobs/{id}/samples/{number:int}/next", go_on),
    Route("/jobs/{id}/samples/{number:int}/units/{place:int}", unit),
    Route("/jobs/{id}/samples/{number:int}/units/{place:int}", judge, methods=["POST"]),
    Route("/jobs/{id}/samples/{number:int}/{action}", act, methods=["POST"]),
]
