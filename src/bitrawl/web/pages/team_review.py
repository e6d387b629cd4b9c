"""A review by several people: how far it is, who may take part, where they differ, and who said what when."""

import asyncio
import time
from typing import NamedTuple
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.model import pair_key
from bitrawl.review.progress import review_progress
from bitrawl.review.reviewing import Reading
from bitrawl.show.plots import bars
from bitrawl.store.revisions import Comment, RevisionHistory
from bitrawl.store.verdicts import GivenVerdict, Judgement, Subject, SubjectKind, VerdictHistory
from bitrawl.web.actions import find_mining_job, number_in, server_of, words_of
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import RequestError, message
from bitrawl.web.pages.queue import places_of
from bitrawl.web.pages.rendering import rendered, written
from bitrawl.web.review_actions import conflicts_of, let_review, resolve, said_in
from bitrawl.web.security import posted

ROWS = 50  # on one page of the history


async def show_progress(request: Request) -> Response:
    job, words = await find_mining_job(request), words_of(request)
    ready = await server_of(request).indexing.is_fresh(job.folder, request.state.user.name)
    progress = await asyncio.to_thread(review_progress, job.folder)
    users = list(server_of(request).users)
    return rendered(
        request,
        "progress.html",
        job=job,
        tab="/review",
        index_ready=ready,
        places=await places_of(request, job, "/progress"),
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


class ListedConflict(NamedTuple):
    """Something that people differ on."""

    subject: Subject
    judgement: Judgement
    comments: tuple[Comment, ...]
    there: str  # where it can be read


async def show_conflicts(request: Request) -> Response:
    job = await find_mining_job(request)
    judgements = await conflicts_of(request, job)
    return rendered(
        request,
        "conflicts.html",
        job=job,
        tab="/review",
        places=await places_of(request, job, "/conflicts"),
        conflicts=await asyncio.to_thread(_listed, job, judgements),
    )


def _listed(job: ServedJob, judgements: list[Judgement]) -> list[ListedConflict]:
    subjects = [judgement.opinions[-1].subject for judgement in judgements]
    history = RevisionHistory(job.folder.verdicts)
    comments = {
        kind: history.comments(kind, [subject.key for subject in subjects if subject.kind is kind])
        for kind in SubjectKind
    }
    return [
        ListedConflict(subject, judgement, comments[subject.kind].get(subject.key, ()), place_of(job, subject))
        for subject, judgement in zip(subjects, judgements, strict=True)
    ]


def place_of(job: ServedJob, subject: Subject) -> str:
    """The address of the page that shows it."""
    there = f"/jobs/{quote(job.id)}/pairs/{pair_key(subject.url_a, subject.url_b)}"
    return f"{there}?segment={subject.key}#s-{subject.key}" if subject.kind is SubjectKind.SEGMENT else there


async def settle(request: Request) -> Response:
    """Resolve a conflict."""
    form, job = await posted(request), await find_mining_job(request)
    kind, key, verdict = (str(form.get(name, "")) for name in ("kind", "key", "verdict"))
    await resolve(request, job, kind, key, verdict)
    return RedirectResponse(f"/jobs/{job.id}/conflicts", 303)


class Saying(NamedTuple):
    """A row of the history."""

    given: GivenVerdict
    there: str
    is_last: bool  # it is what the reader says now about that thing, and can be taken back


async def show_history(request: Request) -> Response:
    job, values = await find_mining_job(request), dict(request.query_params)
    offset, by = number_in(values, "offset"), values.get("by", "")
    said = await said_in(request, job, ROWS + 1, offset, by=by or None)
    people = [person.name for person in (await asyncio.to_thread(review_progress, job.folder)).people]
    return rendered(
        request,
        "history.html",
        job=job,
        tab="/review",
        places=await places_of(request, job, "/history"),
        said=await asyncio.to_thread(_sayings, job, said[:ROWS], request.state.user.name),
        values=values,
        people=[(name, name) for name in sorted({*people, *([by] if by else [])})],
        earlier=_page(values, offset + ROWS) if len(said) > ROWS else "",
        later=_page(values, max(offset - ROWS, 0)) if offset else "",
    )


def _page(values: dict[str, str], offset: int) -> str:
    return f"?{urlencode({**values, 'offset': offset})}"


def _sayings(job: ServedJob, said: list[GivenVerdict], reader: str) -> list[Saying]:
    history = VerdictHistory(job.folder.verdicts)
    now = {
        kind: history.judgements(kind, {given.subject.key for given in said if given.subject.kind is kind})
        for kind in SubjectKind
    }
    return [
        Saying(
            given,
            place_of(job, given.subject),
            given.by == reader and given in now[given.subject.kind].get(given.subject.key, Judgement()).opinions,
        )
        for given in said
    ]


async def take_back(request: Request) -> Response:
    """One's own last verdict about a thing."""
    form, job = await posted(request), await find_mining_job(request)
    kind, key = str(form.get("kind", "")), str(form.get("key", ""))
    if kind not in set(SubjectKind):
        raise RequestError(422, message("That request is not understood"))
    name = request.state.user.name
    await asyncio.to_thread(Reading(job.folder).undo, SubjectKind(kind), key, name, time.time())
    query = urlencode({key: str(form[key]) for key in ("by", "offset") if form.get(key)})
    return RedirectResponse(f"/jobs/{job.id}/history{'?' + query if query else ''}", 303)


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/progress", show_progress),
    Route("/jobs/{id}/reviewers", invite, methods=["POST"]),
    Route("/jobs/{id}/conflicts", show_conflicts),
    Route("/jobs/{id}/conflicts", settle, methods=["POST"]),
    Route("/jobs/{id}/history", show_history),
    Route("/jobs/{id}/history", take_back, methods=["POST"]),
]
