"""From a template and its values to a page in the reader's language; jobs as pages show them, and parts that change."""

import time
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bitrawl.facts import State
from bitrawl.job.folder import JobFolder
from bitrawl.show.plots import Written
from bitrawl.show.templating import new_environment
from bitrawl.version import __version__
from bitrawl.web.actions import Server, glance, server_of, shown, words_of
from bitrawl.web.job_state import is_topic
from bitrawl.web.messages import ANSWERS, FLAGS, METHODS, REASONS, SITE_EVIDENCE, Words, direction, endonyms, marked
from bitrawl.web.security import csrf_of


def rendered(request: Request, template: str, status: int = 200, /, **values: Any) -> Response:
    """A page, with what all of them need."""
    return HTMLResponse(fragment(request, template, **values), status)


def fragment(request: Request, template: str, /, **values: Any) -> str:
    spoken = words_of(request)
    return (
        _environment()
        .get_template(template)
        .render(
            _=spoken.say,
            counted=spoken.count,
            number=spoken.number,
            score=spoken.score,
            tell=spoken.tell,
            language=spoken.language,
            words=spoken,
            interfaces=request.app.state.server.catalogues.values(),
            csrf=csrf_of(request),
            user=request.state.user,
            needs_login=request.app.state.server.users.open is None,
            path=request.url.path,
            address=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
            **values,
        )
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = new_environment("bitrawl.web")
    environment.globals |= {"version": __version__, "direction": direction, "endonyms": endonyms()}
    environment.globals |= {"method_names": METHODS, "reason_names": REASONS, "flag_names": FLAGS}
    environment.globals |= {"site_evidence": SITE_EVIDENCE, "answers": ANSWERS}
    return environment


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
