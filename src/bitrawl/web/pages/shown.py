"""Jobs as pages show them, and parts of pages that change."""

import time
from hashlib import blake2b
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bitrawl.facts import State
from bitrawl.job.folder import JobFolder
from bitrawl.show.plots import Written
from bitrawl.web.actions import glance, shown
from bitrawl.web.server import Server, server_of, words_of
from bitrawl.web.state import is_topic
from bitrawl.web.words import Words, marked

STATES = {
    State.WAITING: marked("waiting"),
    State.RUNNING: marked("running"),
    State.PAUSING: marked("pausing"),
    State.PAUSED: marked("paused"),
    State.STOPPING: marked("stopping"),
    State.ENDED: marked("done"),
    State.INTERRUPTED: marked("interrupted"),
    State.FAILED: marked("failed"),
}
"""In the words of the page."""


class ListedJob(NamedTuple):
    """A row of the list of jobs."""

    id: str
    name: str
    about: str
    kind: str
    state: State
    said: str
    pages: int
    pairs: int
    segments: int
    created: float


def written(words: Words) -> Written:
    """How charts write numbers and words in that language."""
    return Written(
        words.number,
        words.share,
        lambda n: words.count("{n} other", "{n} others", n),
    )


async def shown_jobs(request: Request) -> list[ListedJob]:
    """The user's, the newest first."""
    server, user, words = server_of(request), request.state.user, words_of(request)
    return await server.supervised(_listed, server, user, words)


def _listed(server: Server, user: object, words: Words) -> list[ListedJob]:
    rows = []
    for job in server.shelf.of(user):  # type: ignore[arg-type]
        one = shown(job)
        state, live = glance(server, one)
        created = job.intent.created if job.intent is not None else _changed(job.folder)
        about = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(created))
        said = words.say(STATES[state.state])
        rows.append(
            ListedJob(
                job.id,
                one.name,
                about,
                one.kind,
                state.state,
                said,
                live.pages,
                sum(live.pairs.values()),
                live.segments,
                created,
            )
        )
    return sorted(rows, key=lambda row: -row.created)


def _changed(folder: JobFolder) -> float:
    try:
        return (folder.path if is_topic(folder) else folder.description).stat().st_mtime
    except OSError:
        return 0.0


def answer_part(request: Request, html: str) -> Response:
    """A part of a page, or only that nothing has changed."""
    tag = f'"{blake2b(html.encode(), digest_size=10).hexdigest()}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return HTMLResponse(html, headers={"ETag": tag})


def load_again() -> Response:
    """Tells the script that asked for a part to load the whole page. An error would stand in the browser's console."""
    return Response(status_code=205)
