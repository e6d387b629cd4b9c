"""A review, page pair by page pair: what its address and its cookie hold, and the bar that shows how far it is.

The server keeps nothing. The address of each page has the order, and a cookie remembers the last one for each job.
"""

import asyncio
import secrets
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from bitrawl.review.queue import ReviewOrder, ReviewQueue, review_queue
from bitrawl.store.samples import Samples
from bitrawl.store.verdicts import VerdictHistory
from bitrawl.web.actions import two_languages
from bitrawl.web.job_list import ServedJob
from bitrawl.web.messages import Words, marked

ORDERS = {
    ReviewOrder.UNCERTAIN: marked("most doubtful first"),
    ReviewOrder.SITE: marked("site by site"),
    ReviewOrder.PAGE: marked("by address"),
    ReviewOrder.RANDOM: marked("at random"),
}
_COOKIE = "review"
_REMEMBERED = 365 * 86400  # seconds
_SEEDS = 1_000_000


class ReviewChoice(NamedTuple):
    """What somebody reviews, and in which order."""

    order: ReviewOrder = ReviewOrder.UNCERTAIN
    seed: int = 0
    languages: str = ""  # such as "en-fr"; empty for all

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "ReviewChoice | None":
        """From the fields of an address; None if they name no order. A random order without a seed gets one."""
        if values.get("order") not in set(ReviewOrder):
            return None
        order, seed, languages = ReviewOrder(values["order"]), values.get("seed", ""), values.get("languages", "")
        drawn = 0
        if order is ReviewOrder.RANDOM:
            drawn = int(seed) % _SEEDS if seed.isdecimal() and len(seed) < 10 else secrets.randbelow(_SEEDS)
        return cls(order, drawn, languages if two_languages(languages) else "")

    @property
    def fields(self) -> dict[str, str]:
        """Of an address."""
        seed = str(self.seed) if self.order is ReviewOrder.RANDOM else ""
        named = {"order": str(self.order), "seed": seed, "languages": self.languages}
        return {name: value for name, value in named.items() if value}

    async def queue(self, job: ServedJob) -> ReviewQueue:
        return await asyncio.to_thread(review_queue, job.folder, self.order, self.seed, two_languages(self.languages))


class ReviewBar(NamedTuple):
    """What a page of the review shows about it."""

    choice: ReviewChoice
    orders: list[tuple[str, str]]
    queue: ReviewQueue
    back: str = ""  # addresses; empty if there is none
    next: str = ""

    @property
    def query(self) -> str:
        return urlencode(self.choice.fields)


class ReviewPlaces(NamedTuple):
    """The pages of a review, as links."""

    here: str  # the path of this one
    conflicts: int
    waiting: int  # samples that the reader has to judge


async def places_of(request: Request, job: ServedJob, here: str) -> ReviewPlaces:
    name, path = request.state.user.name, job.folder.verdicts
    conflicts = await asyncio.to_thread(VerdictHistory(path).conflict_count)
    samples = await asyncio.to_thread(Samples(path).listed)
    own = [person for sample in samples if (person := sample.person(name))]
    return ReviewPlaces(here, conflicts, sum(person.done_at is None for person in own))


def bar_of(
    job: ServedJob, words: Words, choice: ReviewChoice, queue: ReviewQueue, key: str, came_from: str
) -> ReviewBar:
    """Back leads to where the reader came from, or to the one before in the order."""
    orders = [(str(order), words.say(label)) for order, label in ORDERS.items()]
    earlier = came_from if came_from in queue.keys else queue.previous(key)
    back = pair_address(job, earlier, choice) if earlier else ""
    return ReviewBar(choice, orders, queue, back, next_address(job, choice, key) if queue.following(key) else "")


def pair_address(job: ServedJob, key: str, choice: ReviewChoice, came_from: str = "") -> str:
    more = {"from": came_from} if came_from else {}
    return f"/jobs/{quote(job.id)}/pairs/{quote(key)}?{urlencode(choice.fields | more)}"


def next_address(job: ServedJob, choice: ReviewChoice, after: str) -> str:
    """It is looked up when somebody goes there, because others judge meanwhile."""
    return f"/jobs/{quote(job.id)}/review?{urlencode(choice.fields | {'after': after})}"


def after_verdict(job: ServedJob, key: str, query: str, verdict: str) -> str:
    """Where a verdict on a page pair leads: to the next one. Who takes it back stays, and whom somebody has contradicted."""
    choice = ReviewChoice.of(dict(parse_qsl(query)))
    if choice is None:
        return f"/jobs/{quote(job.id)}/pairs/{quote(key)}"
    if verdict == "meanwhile":
        return pair_address(job, key, choice) + "&meanwhile=1"
    return pair_address(job, key, choice) if verdict == "undo" else next_address(job, choice, key)


def remember(request: Request, response: Response, job: ServedJob, choice: ReviewChoice, key: str) -> None:
    response.set_cookie(
        _COOKIE,
        urlencode(choice.fields | {"at": key}),
        max_age=_REMEMBERED,
        path=f"/jobs/{quote(job.id)}",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def remembered(request: Request) -> tuple[ReviewChoice, str]:
    """The order that the reader chose last in this job, and the key of the page pair that was open last."""
    values = dict(parse_qsl(request.cookies.get(_COOKIE, "")))
    return ReviewChoice.of(values) or ReviewChoice(), values.get("at", "")
