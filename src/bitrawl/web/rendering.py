"""From a template and its values to a page in the reader's language."""

from functools import lru_cache
from typing import Any

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bitrawl.report.markup import Html, escaped
from bitrawl.version import __version__
from bitrawl.web import words
from bitrawl.web.security import csrf_of
from bitrawl.web.words import ANSWERS, FLAGS, METHODS, REASONS, SITE_EVIDENCE, Words

LANGUAGE_COOKIE = "interface"


def words_of(request: Request) -> Words:
    """In the language that the reader has chosen, or that the browser asks for."""
    known = request.app.state.server.catalogues
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen not in known:
        chosen = words.preferred(request.headers.get("accept-language", ""), known)
    found: Words = known[chosen]
    return found


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
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bitrawl.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_markup,
    )
    environment.globals |= {"version": __version__, "direction": words.direction, "endonyms": words.endonyms()}
    environment.globals |= {"method_names": METHODS, "reason_names": REASONS, "flag_names": FLAGS}
    environment.globals |= {"site_evidence": SITE_EVIDENCE, "answers": ANSWERS}
    environment.filters |= {"text": _text}
    return environment


def _markup(value: Any) -> Any:
    """Charts and links of the reports are markup already; of all the rest, what HTML cannot hold is replaced."""
    if isinstance(value, Html):
        return Markup(value)  # noqa: S704 - `report.markup` has escaped it
    if isinstance(value, str) and not isinstance(value, Markup):
        return Markup(escaped(value))  # noqa: S704 - escaped
    return value


def _text(value: str, language: str) -> Markup:
    """A text of that language, in the right direction."""
    return Markup(f'<span lang="{escaped(language)}" dir="{words.direction(language)}">{escaped(value)}</span>')  # noqa: S704
