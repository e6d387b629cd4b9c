"""What people do with the corpus of a job, once for pages and API: the same checks, and the same refusals."""

import asyncio
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request

from bitrawl.errors import FieldError
from bitrawl.model import Verdict
from bitrawl.review import (
    GivenVerdict,
    JobReview,
    Judgement,
    ReadPair,
    ReadSegment,
    Sample,
    SampleRequest,
    Saved,
    SegmentFilter,
    SubjectKind,
)
from bitrawl.web.actions import find_mining_job, server_of
from bitrawl.web.api.shapes import Judged
from bitrawl.web.fields import SHARE, Fields, flag, language_pair, one_of, whole, whole_number
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import NOT_SAVED, RequestError, message

USUAL_SIZE, MOST_UNITS = 100, 5000  # of a sample; the last is more than people judge
MOST_CONFLICTS = 500  # that are listed
PAGE_PATIENCE = 2.0  # seconds that a page waits for a new index: enough for most jobs
PROGRAM_PATIENCE = 60.0  # seconds that a program waits
SEEDS = 1_000_000
SAVED_STATUS = {Saved.GONE: 404, Saved.CHANGED: 409}  # of what was not saved; 422 for the others
UNDO = "undo"


class OpenReview(NamedTuple):
    """The job that an address names, and its review as the asker sees it."""

    job: ServedJob
    review: JobReview
    is_fresh: bool = True  # whether the index has all that was mined


async def open_review(request: Request, patience: float | None = None) -> OpenReview:
    """With patience, the index is brought up to date if it is not, and waited for so many seconds."""
    job, name = await find_mining_job(request), request.state.user.name
    if patience is None:
        return OpenReview(job, job.review(name))
    fresh = await server_of(request).indexing.is_fresh(job.folder, name, wait=patience)
    return OpenReview(job, job.review(name), fresh)


async def give_verdict(review: JobReview, kind: str, key: str, within: str, verdict: str) -> None:
    """Accept, reject or undo. Raises `FieldError`, and `RequestError` for what is not there."""
    fields = Fields({"kind": kind, "verdict": verdict})
    about, given = fields.need("kind", one_of(SubjectKind)), fields.need("verdict", one_of((UNDO, *Verdict)))
    if given == UNDO:
        await asyncio.to_thread(review.undo, about, key)
    elif not await asyncio.to_thread(review.say, about, key, within, Verdict(given)):
        raise RequestError(404, message("That is no longer there: the site was mined again. Open the page again."))


async def is_contradicted(review: JobReview, kind: str, key: str, verdict: str, seen: str) -> bool:
    """Whether somebody has said the contrary about a page pair since it was shown: the reader is told before they say theirs."""
    if kind != SubjectKind.PAIR or verdict not in set(Verdict) or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", seen):
        return False
    return await asyncio.to_thread(review.differs_since, key, Verdict(verdict), float(seen))


async def resolve(review: JobReview, kind: str, key: str, verdict: str) -> None:
    """Decide between people who differ; 409 if nobody does."""
    fields = Fields({"kind": kind, "verdict": verdict})
    about, given = fields.need("kind", one_of(SubjectKind)), fields.need("verdict", one_of(Verdict))
    if not await asyncio.to_thread(review.resolve, about, key, given):
        raise RequestError(409, message("Nobody differs on that any more. Open the page again."))


async def judge_all(
    review: JobReview,
    verdict: str,
    wanted: SegmentFilter,
    *,
    within: str = "",
    keys: list[str] | None = None,
    count: int | None = None,
) -> Judged:
    """A verdict on all segments that a filter shows, in the job or on two pages, or on those with these keys.

    With `count`, only if there are still that many.
    """
    given = Fields({"verdict": verdict}).need("verdict", one_of(Verdict))
    if not within and keys is None:
        _check_number(await asyncio.to_thread(review.segments.count, wanted), count)
    subjects = await asyncio.to_thread(review.subjects, wanted, within=within, keys=keys)
    _check_number(len(subjects), count)
    return Judged(len(subjects), await asyncio.to_thread(review.say_all, subjects, given))


def _check_number(number: int, count: int | None) -> None:
    if count not in (None, number):
        why = message("There are {n} segments now. Look at them again, then judge them.", n=f"{number:,}")
        raise RequestError(409, why)
    if number > JobReview.MOST_AT_ONCE:
        most = f"{JobReview.MOST_AT_ONCE:,}"
        raise RequestError(422, message("At most {most} segments can be judged at once. Choose fewer.", most=most))


async def undo_last(review: JobReview, batch: str = "") -> tuple[GivenVerdict, ...]:
    """Take back what the asker said last, or all of that batch."""
    if batch and whole_number(batch) is None:
        return ()
    return await asyncio.to_thread(review.undo_last, whole_number(batch))


class SegmentChange(NamedTuple):
    """What became of something that somebody wrote into a segment of two pages."""

    saved: Saved
    pair: ReadPair  # as it is now
    rows: list[ReadSegment]  # of it, that are new or say something else


async def change_segment(
    review: JobReview, within: str, row: tuple[str, int, int], act: str, given: Mapping[str, str]
) -> SegmentChange:
    """New texts, a join, a comment, or taking one of these back. `row` is what was on the screen: key, start and part."""
    before = await read_pair(review, within)
    saved = Saved.DONE
    if act == "uncomment":
        await undo_comment(review, given.get("comment", ""))
    else:
        try:
            saved = await asyncio.to_thread(review.change, act, within, row, given)
        except LookupError as error:
            raise RequestError(422, message("There is no such action.")) from error
    after = await read_pair(review, within)
    return SegmentChange(saved, after, review.changed(before, after, row[1]))


def not_saved(saved: Saved) -> RequestError:
    return RequestError(SAVED_STATUS.get(saved, 422), message(NOT_SAVED[saved]))


async def undo_comment(review: JobReview, number: str) -> None:
    comment = whole_number(number)
    if comment is None or not await asyncio.to_thread(review.undo_comment, comment):
        raise RequestError(404, message("There is no such comment, or it is not yours."))


async def read_pair(review: JobReview, key: str) -> ReadPair:
    pair = await asyncio.to_thread(review.lists.pair, key)
    if pair is None:
        raise RequestError(404, message("That page pair no longer exists."))
    return pair


async def _sample_request(
    request: Request, job: ServedJob, given: Mapping[str, object], people: Iterable[str]
) -> SampleRequest:
    """What is asked for, checked. People who cannot open the job are let in, if its owner asks. Raises `FieldError`."""
    fields, names = Fields(given), {user.name for user in server_of(request).users}
    if unknown := [name for name in people if name not in names]:
        fields.mistakes["people"] = message("There is no user {name}.", name=unknown[0])
    wanted = SampleRequest(
        size=fields.read("size", whole(1, MOST_UNITS), USUAL_SIZE),
        people=tuple(dict.fromkeys(people)) or (request.state.user.name,),
        by=request.state.user.name,
        name=fields.text("name"),
        seed=fields.read("seed", whole(-SEEDS, SEEDS), secrets.randbelow(SEEDS)),
        floor=fields.read("min_score", SHARE, None),
        by_band=fields.read("by_band", flag, usual=False),
        languages=fields.need("languages", language_pair),
    )
    fields.check()
    await let_review(request, job, [*job.reviewers, *wanted.people])
    return wanted


async def draw_sample(
    request: Request, opened: OpenReview, given: Mapping[str, object], people: Iterable[str], *, patience: float
) -> Sample | None:
    """None if it is still being drawn after so many seconds. Raises `FieldError`, `RequestError` and `CommandError`."""
    question = await _sample_request(request, opened.job, given, people)
    drawing, folder = server_of(request).drawing, opened.job.folder
    if not drawing.begin(folder, msgspec.json.encode(question), person=opened.review.person):
        raise RequestError(409, message("Another sample is being drawn. Try again in a moment."))
    await drawing.wait(folder, patience)
    number = whole_number(drawing.output(folder).strip())
    return None if number is None else await asyncio.to_thread(opened.review.samples.find, number)


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


async def find_sample(request: Request, review: JobReview) -> Sample:
    """The sample that the address names."""
    number = whole_number(str(request.path_params["number"]))
    sample = None if number is None else await asyncio.to_thread(review.samples.find, number)
    if sample is None:
        raise RequestError(404, message("There is no such sample."))
    return sample


async def judge_units(review: JobReview, sample: Sample, verdicts: Mapping[int, str]) -> None:
    """What the asker says about units, by place: accept, reject or undo."""
    if wrong := [verdict for verdict in verdicts.values() if verdict not in {*Verdict, UNDO}]:
        raise FieldError({"verdicts": message("{typed} is none of accept, reject and undo.", typed=wrong[0])})
    units = {unit.place: unit for unit in await asyncio.to_thread(review.samples.units, sample)}
    if strange := verdicts.keys() - units.keys():
        raise RequestError(404, message("This sample has no unit {place}.", place=min(strange)))
    given = {units[place]: None if verdict == UNDO else Verdict(verdict) for place, verdict in verdicts.items()}
    if not await asyncio.to_thread(review.judge_sample, sample, given):
        raise _not_judging()


def _not_judging() -> RequestError:
    return RequestError(409, message("You do not judge this sample, or you have finished it."))


async def finish_sample(review: JobReview, sample: Sample) -> None:
    """The asker is through with it."""
    if sample.person(review.person) is None:
        raise _not_judging()
    await asyncio.to_thread(review.finish, sample)


def may_end(request: Request, job: ServedJob, sample: Sample) -> bool:
    """Whether the asker may end a sample for those who have not finished, or remove it."""
    return sample.by == request.state.user.name or job.belongs_to(request.state.user)


async def end_sample(request: Request, opened: OpenReview, sample: Sample, *, remove: bool = False) -> None:
    """Nobody goes on with it, and its results are shown; or it goes, without the verdicts that were given in it."""
    if not may_end(request, opened.job, sample):
        raise RequestError(403, message("Only who had it drawn, or the owner of the job, can do that."))
    if remove:
        await asyncio.to_thread(opened.review.remove, sample)
    else:
        await asyncio.to_thread(lambda: opened.review.finish(sample, everybody=True))


async def conflicts_of(review: JobReview) -> list[Judgement]:
    """The latest first. What a sample says that the asker is judging is not told yet."""
    hidden = await asyncio.to_thread(review.samples.blind_to, review.person)
    conflicts = await asyncio.to_thread(review.verdicts.conflicts, MOST_CONFLICTS)
    return [one for one in conflicts if not any(opinion.sample in hidden for opinion in one.opinions)]


async def verdict_history(review: JobReview, most: int, offset: int, **chosen: Any) -> list[GivenVerdict]:
    """What people said, the latest first, but for what others say in a sample that the asker is judging.

    `chosen` are the kind and the key of what it is about, and by whom.
    """
    hidden = await asyncio.to_thread(review.samples.blind_to, review.person)
    history = await asyncio.to_thread(review.verdicts.history, most, offset=offset, **chosen)
    return [given for given in history if given.by == review.person or given.sample not in hidden]
