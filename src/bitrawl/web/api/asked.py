"""What several operations of the API ask of a request."""

from collections.abc import Iterable, Mapping

from starlette.requests import Request

from bitrawl.errors import FieldError
from bitrawl.review.reviewing import Reading
from bitrawl.web import actions
from bitrawl.web.actions import find_mining_job, server_of

MOST_ROWS = 500  # of one answer
MOST_OFFSET = 10_000_000
PATIENCE = 60.0  # seconds that a program waits for a new index


async def indexed(request: Request) -> Reading:
    """What there is to read of a job, as new as a program can wait for."""
    job = await find_mining_job(request)
    await server_of(request).indexing.is_fresh(job.folder, request.state.user.name, wait=PATIENCE)
    return Reading(job.folder, request.state.user.name)


def rows_asked(values: Mapping[str, str]) -> dict[str, int]:
    """Which rows of the answer are wanted."""
    numbers = {"offset": (0, 0, MOST_OFFSET), "limit": (50, 1, MOST_ROWS)}
    place = {}
    for name, (usual, least, most) in numbers.items():
        text = values.get(name, "") or str(usual)
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else -1
        if not least <= number <= most:
            raise FieldError({name: f"give a whole number from {least} to {most:,}"})
        place[name] = number
    return place


def check_choices(values: Mapping[str, str], **choices: Iterable[str]) -> None:
    """Raises `FieldError` for what a page would leave out of account: a program is told."""
    for name, names in choices.items():
        if values.get(name) and values[name] not in set(names):
            raise FieldError({name: f"choose one of {', '.join(names)}"})
    if values.get("languages") and actions.two_languages(values["languages"]) is None:
        raise FieldError({"languages": "name two languages, as in en-fr"})
