"""From a template and its values to a page in the reader's language."""

from functools import lru_cache
from typing import Any

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bitrawl.show.templating import new_environment
from bitrawl.version import __version__
from bitrawl.web import words
from bitrawl.web.security import csrf_of
from bitrawl.web.server import words_of
from bitrawl.web.words import ANSWERS, FLAGS, METHODS, REASONS, SITE_EVIDENCE


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
    environment.globals |= {"version": __version__, "direction": words.direction, "endonyms": words.endonyms()}
    environment.globals |= {"method_names": METHODS, "reason_names": REASONS, "flag_names": FLAGS}
    environment.globals |= {"site_evidence": SITE_EVIDENCE, "answers": ANSWERS}
    return environment
