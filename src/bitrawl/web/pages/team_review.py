"""A review by several people: how far it is, who may take part, where they differ, and who said what when."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.model import pair_key
from bitrawl.review import GivenVerdict, JobReview, Judgement, SubjectKind
from bitrawl.show import bars
from bitrawl.web.actions import find_mining_job, server_of, words_of
from bitrawl.web.fields import offset_in
from bitrawl.web.job_list import ServedJob
from bitrawl.web.pages.rendering import written
from bitrawl.web.pages.review import review_page
from bitrawl.web.review_actions import (
    PAGE_PATIENCE,
    conflicts_of,
    give_verdict,
    let_review,
    open_review,
    resolve,
    verdict_history,
)
from bitrawl.web.security import posted

ROWS = 50  # on one page of the history


async def show_progress(request: Request) -> Response:
    opened, words = await open_review(request, PAGE_PATIENCE), words_of(request)
    progress = await asyncio.to_thread(opened.review.progress)
    job, users = opened.job, list(server_of(request).users)
    return await review_page(
        request,
        opened,
        "progress.html",
        "/progress",
        progress=progress,
        days=bars(progress.days, written=written(words)) if len(progress.days) > 1 else None,
        others=[(user.name, job.is_open_to(user)) for user in users if not job.belongs_to(user)],
        is_own=job.belongs_to(request.state.user),
    )


async def invite(request: Request) -> Response:
    """Who may review the job, from now on."""
    form, job = await posted(request), await find_mining_job(request)
    await let_review(request, job, [str(name) for name in form.getlist("people")])
    return RedirectResponse(f"/jobs/{job.id}/progress", 303)


async def show_conflicts(request: Request) -> Response:
    opened = await open_review(request)
    judgements = await conflicts_of(opened.review)
    return await review_page(
        request,
        opened,
        "conflicts.html",
        "/conflicts",
        conflicts=await asyncio.to_thread(_conflicts, opened.job, opened.review, judgements),
    )


def _conflicts(job: ServedJob, review: JobReview, judgements: list[Judgement]) -> list[dict[str, Any]]:
    """What each is about, with where it can be read, and what people said of it."""
    latest = [judgement.opinions[-1] for judgement in judgements]
    comments = _by_kind(latest, review.revisions.comments)
    return [
        {
            "subject": given.subject,
            "judgement": judgement,
            "comments": comments[given.subject.kind].get(given.subject.key, ()),
            "there": place_of(job, given),
        }
        for given, judgement in zip(latest, judgements, strict=True)
    ]


def _by_kind(
    verdicts: Iterable[GivenVerdict], look_up: Callable[[SubjectKind, set[str]], dict[str, Any]]
) -> dict[SubjectKind, dict[str, Any]]:
    """What is known of the things that these verdicts are about, by kind and key."""
    subjects = [given.subject for given in verdicts]
    return {kind: look_up(kind, {subject.key for subject in subjects if subject.kind is kind}) for kind in SubjectKind}


def place_of(job: ServedJob, given: GivenVerdict) -> str:
    """The address of the page that shows what the verdict is about."""
    subject = given.subject
    there = f"/jobs/{quote(job.id)}/pairs/{pair_key(subject.url_a, subject.url_b)}"
    return f"{there}?segment={subject.key}#s-{subject.key}" if subject.kind is SubjectKind.SEGMENT else there


async def settle(request: Request) -> Response:
    """Resolve a conflict."""
    form, opened = await posted(request), await open_review(request)
    await resolve(opened.review, *(str(form.get(name, "")) for name in ("kind", "key", "verdict")))
    return RedirectResponse(f"/jobs/{opened.job.id}/conflicts", 303)


async def show_history(request: Request) -> Response:
    opened, values = await open_review(request), dict(request.query_params)
    offset, by = offset_in(values), values.get("by", "")
    verdicts = await verdict_history(opened.review, ROWS + 1, offset, by=by or None)
    people = [person.name for person in (await asyncio.to_thread(opened.review.progress)).people]
    return await review_page(
        request,
        opened,
        "history.html",
        "/history",
        verdicts_given=await asyncio.to_thread(_history, opened.job, opened.review, verdicts[:ROWS]),
        values=values,
        people=[(name, name) for name in sorted({*people, *([by] if by else [])})],
        earlier=_page(values, offset + ROWS) if len(verdicts) > ROWS else "",
        later=_page(values, max(offset - ROWS, 0)) if offset else "",
    )


def _page(values: dict[str, str], offset: int) -> str:
    return f"?{urlencode({**values, 'offset': offset})}"


def _history(job: ServedJob, review: JobReview, verdicts: list[GivenVerdict]) -> list[dict[str, Any]]:
    """With whether it is what the reader says now about that thing, so that it can be taken back."""
    now = _by_kind(verdicts, review.verdicts.judgements)
    return [
        {
            "given": given,
            "there": place_of(job, given),
            "is_last": given.by == review.person
            and given in now[given.subject.kind].get(given.subject.key, Judgement()).opinions,
        }
        for given in verdicts
    ]


async def take_back(request: Request) -> Response:
    """One's own last verdict about a thing."""
    form, opened = await posted(request), await open_review(request)
    await give_verdict(opened.review, str(form.get("kind", "")), str(form.get("key", "")), "", "undo")
    query = urlencode({key: str(form[key]) for key in ("by", "offset") if form.get(key)})
    return RedirectResponse(f"/jobs/{opened.job.id}/history{'?' + query if query else ''}", 303)


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/progress", show_progress),
    Route("/jobs/{id}/reviewers", invite, methods=["POST"]),
    Route("/jobs/{id}/conflicts", show_conflicts),
    Route("/jobs/{id}/conflicts", settle, methods=["POST"]),
    Route("/jobs/{id}/history", show_history),
    Route("/jobs/{id}/history", take_back, methods=["POST"]),
]
