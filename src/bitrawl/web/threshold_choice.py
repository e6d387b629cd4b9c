"""The thresholds that people choose for a job: from the fields of the page, or of the API, to what the job keeps."""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request

from bitrawl.errors import FieldError, OutdatedError, RefusedError, StoreError
from bitrawl.mining import Thresholds
from bitrawl.review import JobReview
from bitrawl.web.actions import Server, find_own_job, server_of
from bitrawl.web.allowed import THRESHOLDS, AllowedFields
from bitrawl.web.api.shapes import ApiThresholds, KeptThresholds
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import Message, message
from bitrawl.web.operator_settings import Settings


def changes(given: Mapping[str, object], settings: Settings) -> dict[str, Any]:
    """What changes in the table [judge] of a job. An empty list is a value; an empty text leaves things as they are."""
    if refused := fixed(settings) & given.keys():
        raise FieldError(
            {name: message("only the operator of this server can set {name}", name=name) for name in refused}
        )
    listed = {name: [""] if value == [] else value for name, value in given.items()}
    values = AllowedFields.checked(listed, THRESHOLDS, settings)
    return {key.removeprefix("judge."): value for key, value in values.items()}


def fixed(settings: Settings) -> frozenset[str]:
    """The fields that the operator has set for all jobs."""
    keys = {f"judge.{key}" for key in settings.job.get("judge", {})}
    return frozenset(name for name, field in THRESHOLDS.items() if field.key in keys)


def as_fields(thresholds: Thresholds) -> ApiThresholds:
    """Their values, by the names of the fields."""
    by_key = msgspec.structs.asdict(thresholds)
    values = {name: by_key[field.key.removeprefix("judge.")] for name, field in THRESHOLDS.items()}
    return msgspec.convert(values, ApiThresholds)


def chosen(review: JobReview, changed: Mapping[str, Any]) -> Thresholds:
    """The job's thresholds with these changes, which nobody has kept yet."""
    return msgspec.convert({**msgspec.structs.asdict(review.lists.thresholds()), **changed}, Thresholds)


async def keep(request: Request, changed: Mapping[str, Any], version: str = "") -> KeptThresholds:
    """Make these the job's, and have its files written again. Raises `RefusedError` while a process works in its folder.

    Raises `OutdatedError` if the job has other thresholds by now than those with that version. Only its owner may do that.
    """
    server, job = server_of(request), await find_own_job(request)
    before = await server.supervised(_keep, server, job, changed, version)
    review = job.review()
    now = await asyncio.to_thread(review.lists.thresholds)
    if now != before:
        server.writing.begin(job.folder, person=request.state.user.name)
    sight = await asyncio.to_thread(review.sight)
    units_before, units_now = await asyncio.to_thread(lambda: (sight.units(before), sight.units(now)))
    return KeptThresholds(kept=as_fields(now), version=review.version_of(now), before=units_before, units=units_now)


def is_busy(server: Server, job: ServedJob) -> bool:
    """Whether a process works in the job's folder, or will soon. In the thread of the supervisor."""
    return server.writing.is_busy(job.folder) or server.supervisor.state(job).is_pending


def outdated(now: Thresholds) -> Message:
    """What to tell who wants to change thresholds that are not there any more."""
    return message(
        "Somebody has changed the thresholds of this job meanwhile; its minimum score is {score}. Look again before you keep yours.",
        score=f"{now.score:g}",
    )


def _keep(server: Server, job: ServedJob, changed: Mapping[str, Any], version: str) -> Thresholds:
    """In the thread of the supervisor, which starts no process meanwhile."""
    busy = RefusedError(message("The job is running, or its files are being written. Try again when that has ended."))
    if is_busy(server, job):
        raise busy
    try:
        return job.review().keep_thresholds(changed, version)
    except OutdatedError as error:
        raise OutdatedError(outdated(job.review().lists.thresholds())) from error
    except StoreError as error:
        if job.folder.is_running:
            raise busy from error
        raise
