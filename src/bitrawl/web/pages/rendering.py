"""From a template and its values to a page in the reader's language; the list of jobs, and parts of pages that change."""

import asyncio
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bitrawl.endings import State
from bitrawl.job import FolderKind, JobFolder, kind_of
from bitrawl.model import Language
from bitrawl.review import JobReview
from bitrawl.show import Written, new_environment
from bitrawl.version import PROJECT_PAGE, __version__
from bitrawl.web.actions import Server, glance, server_of, words_of
from bitrawl.web.fields import two_languages
from bitrawl.web.messages import (
    ANSWERS,
    FLAGS,
    METHODS,
    REASONS,
    REVIEW_ORDERS,
    SITE_EVIDENCE,
    VERDICTS,
    Words,
    direction,
    endonyms,
    marked,
)
from bitrawl.web.operator_settings import User
from bitrawl.web.review_actions import OpenReview
from bitrawl.web.security import csrf_of

STATES = {
    State.WAITING: marked("waiting"),
    State.RUNNING: marked("running"),
    State.PAUSING: marked("pausing"),
    State.PAUSED: marked("paused"),
    State.STOPPING: marked("stopping"),
    State.ENDED: marked("done"),
    State.NOTHING_FOUND: marked("nothing found"),
    State.INTERRUPTED: marked("interrupted"),
    State.FAILED: marked("failed"),
}
"""In the words of the page."""


def rendered(
    request: Request, template: str, status: int = 200, /, *, of: OpenReview | None = None, **values: Any
) -> Response:
    """A page, with what all of them need; with `of`, one of the pages about the corpus of a job."""
    if of is not None:
        values |= {"job": of.job, "index_ready": of.is_fresh}
    return HTMLResponse(fragment(request, template, **values), status)


def fragment(request: Request, template: str, /, **values: Any) -> str:
    words, server = words_of(request), server_of(request)
    values |= {
        "_": words.say,
        "counted": words.count,
        "number": words.number,
        "score": words.score,
        "tell": words.tell,
        "language": words.language,
        "words": words,
        "interfaces": server.catalogues.values(),
        "csrf": csrf_of(request),
        "user": request.state.user,
        "needs_login": server.users.open is None,
        "path": request.url.path,
        "docs": server.settings.docs,
        "address": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
    }
    return _environment().get_template(template).render(values)


def list_part(request: Request, values: Mapping[str, str], offset: int, size: int, total: int) -> dict[str, Any]:
    """For the links to the other parts of a list, and its filter. `values` are those of its address, without the offset."""
    base = f"{request.url.path}?{urlencode(values)}"
    return {"values": values, "offset": offset, "size": size, "total": total, "base": base}


async def corpus_choices(words: Words, review: JobReview) -> list[tuple[str, str]]:
    """The pairs of languages that the index has; a choice of all of them if there are several."""
    corpora = (await asyncio.to_thread(review.lists.choices)).languages
    choices = corpus_names(words, ((corpus.name, two_languages(corpus.name) or ()) for corpus in corpora))
    return [("", words.say("all")), *choices] if len(choices) != 1 else choices


def corpus_names(words: Words, corpora: Iterable[tuple[str, Sequence[Language]]]) -> list[tuple[str, str]]:
    """The names of corpora, each with its languages in words."""
    return [(name, " – ".join(map(words.language, languages)) or name) for name, languages in corpora]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = new_environment("bitrawl.web")
    environment.globals |= {"version": __version__, "project_page": PROJECT_PAGE}
    environment.globals |= {"direction": direction, "endonyms": endonyms()}
    environment.globals |= {"method_names": METHODS, "reason_names": REASONS, "flag_names": FLAGS}
    environment.filters["moment"] = moment
    environment.globals |= {
        "verdict_words": VERDICTS,
        "review_orders": REVIEW_ORDERS,
        "site_evidence": SITE_EVIDENCE,
        "answers": ANSWERS,
    }
    return environment


def moment(at: float) -> str:
    """A date and a time that are the same for all who read them."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at))


def written(words: Words) -> Written:
    """How charts write numbers and words in that language."""
    others = lambda n: words.count("{n} other", "{n} others", n)  # noqa: E731 - the catalogue's tool looks for such a call
    return Written(words.number, words.share, others, words.number, words.score)


async def job_rows(request: Request) -> list[dict[str, Any]]:
    """The user's jobs, the newest first."""
    server = server_of(request)
    return await server.supervised(_job_rows, server, request.state.user, words_of(request))


def _job_rows(server: Server, user: User, words: Words) -> list[dict[str, Any]]:
    rows = []
    for job in server.jobs.of(user):
        state, live = glance(server, job)
        created = job.intent.created if job.intent is not None else _changed(job.folder)
        date = moment(created)
        label = words.say(STATES[state.state])
        rows.append((created, {"job": job, "date": date, "state": state.state, "label": label, "live": live}))
    return [row for _, row in sorted(rows, key=lambda row: -row[0])]


def _changed(folder: JobFolder) -> float:
    try:
        return (folder.path if kind_of(folder.path) is FolderKind.TOPIC else folder.description).stat().st_mtime
    except OSError:
        return 0.0


def answer_part(request: Request, html: str) -> Response:
    """A part of a page, or only that nothing has changed."""
    tag = f'"{blake2b(html.encode(), digest_size=10).hexdigest()}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return HTMLResponse(html, headers={"ETag": tag})


def version_of(name: str, html: str) -> str:
    """Of a piece of a page that changes: the same for the same text. The browser names those that it has."""
    return f"{name}-{blake2b(html.encode(), digest_size=6).hexdigest()}"


def answer_pieces(request: Request, template: str, /, **values: Any) -> Response:
    """The pieces that have changed, or only that none has."""
    versions = re.findall(r'"([^"]*)"', request.headers.get("if-none-match", ""))
    html = fragment(request, template, version_of=version_of, versions=versions, **values).strip()
    return HTMLResponse(html) if html else Response(status_code=304)


def load_again() -> Response:
    """Tells the script that asked for a part to load the whole page. An error would stand in the browser's console."""
    return Response(status_code=205)
