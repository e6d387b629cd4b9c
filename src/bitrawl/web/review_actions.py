"""What pages and the API share about reviews: who may review a job, samples, conflicts, and what was said."""

import asyncio
import secrets
import time
from collections.abc import Iterable
from typing import Any

from starlette.requests import Request

from bitrawl.errors import FieldError
from bitrawl.model import Verdict
from bitrawl.review.results import SampleResults, results
from bitrawl.store.samples import Sample, SampleRequest, Samples, SampleUnit
from bitrawl.store.verdicts import GivenVerdict, Judgement, SubjectKind, VerdictHistory
from bitrawl.web.actions import server_of, two_languages
from bitrawl.web.api.shapes import NewSample
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import Message, RequestError, message

MOST_UNITS = 5000  # of a sample: more than people judge
MOST_CONFLICTS = 500  # that are listed
_SEEDS = 1_000_000


async def sample_request(request: Request, job: ServedJob, asked: NewSample) -> SampleRequest:
    """What is asked for, checked. People who cannot open the job are let in, if its owner asks. Raises `FieldError`."""
    wrong: dict[str, Message] = {}
    languages = two_languages(asked.languages)
    if languages is None:
        wrong["languages"] = message("Name two languages, as in en-fr.")
    if not 1 <= asked.size <= MOST_UNITS:
        wrong["size"] = message("Give a number from {least} to {most}.", least=1, most=MOST_UNITS)
    people = tuple(dict.fromkeys(asked.people)) or (request.state.user.name,)
    names = {user.name for user in server_of(request).users}
    if unknown := [name for name in people if name not in names]:
        wrong["people"] = message("There is no user {name}.", name=unknown[0])
    if wrong or languages is None:
        raise FieldError(wrong)
    await let_review(request, job, [*job.reviewers, *people])
    return SampleRequest(
        languages=languages,
        size=asked.size,
        people=people,
        by=request.state.user.name,
        name=asked.name,
        seed=secrets.randbelow(_SEEDS) if asked.seed is None else asked.seed,
        floor=asked.min_score,
        by_band=asked.by_band,
    )


async def let_review(request: Request, job: ServedJob, names: Iterable[str]) -> None:
    """These users may review the job, and nobody else but its owner and admins. Raises `FieldError` if the asker must not
    change that.
    """
    server = server_of(request)
    wanted = {user.name for user in server.users if user.name in set(names) and not job.belongs_to(user)}
    if wanted == set(job.reviewers):
        return
    if not job.belongs_to(request.state.user):
        name = min(wanted.symmetric_difference(job.reviewers))
        raise FieldError({"people": message("{name} cannot open this job. Ask its owner to let them.", name=name)})
    await server.supervised(server.jobs.write_reviewers, job.id, wanted)


def samples_of(job: ServedJob) -> Samples:
    return Samples(job.folder.verdicts)


async def find_sample(request: Request, job: ServedJob) -> Sample:
    """The sample that the address names."""
    number = str(request.path_params["number"])
    is_number = number.isascii() and number.isdecimal() and len(number) < 12
    sample = await asyncio.to_thread(samples_of(job).find, int(number)) if is_number else None
    if sample is None:
        raise RequestError(404, message("There is no such sample."))
    return sample


async def results_of(job: ServedJob, sample: Sample) -> SampleResults | None:
    """None while somebody is judging: nobody sees what others say before all are through."""
    if not sample.is_through:
        return None
    return await asyncio.to_thread(results, samples_of(job), VerdictHistory(job.folder.verdicts), sample)


async def judge_units(request: Request, job: ServedJob, sample: Sample, verdicts: dict[int, str]) -> None:
    """What the user says about units, by place: accept, reject or undo."""
    if wrong := [verdict for verdict in verdicts.values() if verdict not in {*Verdict, "undo"}]:
        raise FieldError({"verdicts": message("{typed} is none of accept, reject and undo.", typed=wrong[0])})
    units = {unit.place: unit for unit in await asyncio.to_thread(samples_of(job).units, sample)}
    if strange := verdicts.keys() - units.keys():
        raise RequestError(404, message("This sample has no unit {place}.", place=min(strange)))
    said: dict[SampleUnit, Verdict | None] = {
        units[place]: None if verdict == "undo" else Verdict(verdict) for place, verdict in verdicts.items()
    }
    if not await asyncio.to_thread(samples_of(job).judge, sample, said, request.state.user.name, time.time()):
        raise RequestError(409, message("You do not judge this sample, or you have finished it."))


async def finish_sample(request: Request, job: ServedJob, sample: Sample) -> None:
    """The user is through with it."""
    if sample.person(request.state.user.name) is None:
        raise RequestError(409, message("You do not judge this sample, or you have finished it."))
    await asyncio.to_thread(samples_of(job).finish, sample, time.time(), person=request.state.user.name)


def may_end(request: Request, job: ServedJob, sample: Sample) -> bool:
    """Whether the user may end a sample for those who have not finished, or remove it."""
    return sample.by == request.state.user.name or job.belongs_to(request.state.user)


async def end_sample(request: Request, job: ServedJob, sample: Sample, *, remove: bool = False) -> None:
    """Nobody goes on with it, and its results are shown; or it goes, without the verdicts that were given in it."""
    if not may_end(request, job, sample):
        raise RequestError(403, message("Only who had it drawn, or the owner of the job, can do that."))
    if remove:
        await asyncio.to_thread(samples_of(job).remove, sample, request.state.user.name, time.time())
    else:
        await asyncio.to_thread(samples_of(job).finish, sample, time.time())


async def conflicts_of(request: Request, job: ServedJob) -> list[Judgement]:
    """The latest first. What a sample says that the user is judging is not told yet."""
    hidden = await _blind(request, job)
    conflicts = await asyncio.to_thread(VerdictHistory(job.folder.verdicts).conflicts, MOST_CONFLICTS)
    return [one for one in conflicts if not any(opinion.sample in hidden for opinion in one.opinions)]


async def resolve(request: Request, job: ServedJob, kind: str, key: str, verdict: str) -> None:
    if kind not in set(SubjectKind) or verdict not in set(Verdict):
        raise RequestError(422, message("A conflict has a kind and a key, and is resolved by accept or reject."))
    history = VerdictHistory(job.folder.verdicts)
    given = SubjectKind(kind), key, Verdict(verdict), request.state.user.name, time.time()
    if not await asyncio.to_thread(history.resolve, *given):
        raise RequestError(409, message("Nobody differs on that any more. Open the page again."))


async def said_in(request: Request, job: ServedJob, most: int, offset: int, **chosen: Any) -> list[GivenVerdict]:
    """What people said, the latest first, but for what others say in a sample that the user is judging.

    `chosen` are the kind and the key of what it is about, and by whom.
    """
    hidden, name = await _blind(request, job), request.state.user.name
    history = VerdictHistory(job.folder.verdicts)
    said = await asyncio.to_thread(history.history, most, offset=offset, **chosen)
    return [given for given in said if given.by == name or given.sample not in hidden]


async def _blind(request: Request, job: ServedJob) -> frozenset[int]:
    """The samples of which the user must not see what others said."""
    return await asyncio.to_thread(samples_of(job).blind_to, request.state.user.name)
