"""The application: its routes, what wraps them, and what runs beside them."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import resources

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import BitrawlError, ConfigError, FieldError, UrlError
from bitrawl.show.templating import style_sheet
from bitrawl.web.api import routes as api
from bitrawl.web.api.routes import json_answer
from bitrawl.web.api.shapes import ApiError
from bitrawl.web.pages import compare, downloads, finding, home, job, reading, tools
from bitrawl.web.processes import ErrandError
from bitrawl.web.rendering import rendered
from bitrawl.web.security import SAFE, Guard, posted, set_cookie
from bitrawl.web.server import LANGUAGE_COOKIE, Server, words_of
from bitrawl.web.users import Users
from bitrawl.web.words import RequestError, Said, error_said, marked, quoted, said

_PAGES = (api, home, reading, downloads, compare, finding, tools, job)
TICK = 1.0  # seconds between two looks at the jobs
UPLOAD_MEGABYTES = 512  # of one request: a web archive; judgement


def application(server: Server, hosts: Iterable[str]) -> Starlette:
    """`hosts` are the names by which the app may be reached."""
    app = Starlette(
        # The actions of a job come last: the others are more particular.
        routes=[*_own_routes(), *(route for page in _PAGES for route in page.ROUTES)],
        middleware=[
            Middleware(
                Guard,
                users=server.users,
                hosts=hosts,
                per_minute=server.settings.limits.requests,
                megabytes=UPLOAD_MEGABYTES,
            )
        ],
        exception_handlers={HTTPException: _refused, BitrawlError: _faulty, Exception: _broken},
        lifespan=partial(_living, server),
    )
    app.state.server = server
    return app


@asynccontextmanager
async def _living(server: Server, _app: Starlette) -> AsyncIterator[None]:
    """Looks after the jobs while the server runs. When it ends, they go on."""
    await server.supervised(server.supervisor.recover)
    watching = asyncio.ensure_future(_watch(server))
    try:
        yield
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def _watch(server: Server) -> None:
    while True:
        with suppress(BitrawlError):
            await server.supervised(server.supervisor.tick)
        await asyncio.sleep(TICK)


def _own_routes() -> list[BaseRoute]:
    return [
        Route("/static/{name}", _static),
        Route("/favicon.ico", _favicon),
        Route("/health", _health),
        Route("/login", _ask_login),
        Route("/login", _login, methods=["POST"]),
        Route("/logout", _logout, methods=["POST"]),
        Route("/language", _language),
    ]


_TYPES = {"app.js": "text/javascript", "favicon.svg": "image/svg+xml", "style.css": "text/css"}


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _TYPES:
        raise HTTPException(404)
    files = resources.files("bitrawl.web") / "static"
    if name == "style.css":
        content = style_sheet() + (files / "app.css").read_text("utf-8")
    else:
        content = (files / name).read_text("utf-8")
    return Response(content, headers={"Cache-Control": "max-age=3600"}, media_type=_TYPES[name])


async def _favicon(_request: Request) -> Response:
    return RedirectResponse("/static/favicon.svg", 301)


async def _health(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _ask_login(request: Request) -> Response:
    return rendered(request, "login.html", next=_local(request.query_params.get("next", "/")), wrong=False)


async def _login(request: Request) -> Response:
    """Its form carries no secret of a session, since there is none yet; the origin has been checked."""
    form = await request.form(max_files=0, max_fields=4)
    users: Users = request.app.state.server.users
    there = _local(str(form.get("next", "/")))
    user = users.by_token(str(form.get("token", "")).strip())
    if user is None:
        return rendered(request, "login.html", 401, next=there, wrong=True)
    cookie = set_cookie(users.new_session(user), secure=request.url.scheme == "https")
    return RedirectResponse(there, 303, {"Set-Cookie": cookie})


async def _logout(request: Request) -> Response:
    await posted(request)
    return RedirectResponse("/login", 303, {"Set-Cookie": set_cookie("", secure=request.url.scheme == "https")})


async def _language(request: Request) -> Response:
    """The language of the interface, kept in a cookie that says nothing else."""
    answer = RedirectResponse(_local(request.query_params.get("next", "/")), 303)
    code = request.query_params.get("code", "")
    if code in request.app.state.server.catalogues:
        answer.set_cookie(LANGUAGE_COOKIE, code, max_age=31536000, samesite="strict", httponly=True)
    return answer


def _local(there: str) -> str:
    """An address of this app, whatever a link says."""
    return there if there.startswith("/") and not there.startswith(("//", "/\\")) else "/"


_TITLES = {
    400: marked("That request is not understood"),
    403: marked("That is not allowed"),
    404: marked("There is no such page"),
    409: marked("That cannot be done now"),
    413: marked("That is too large"),
    422: marked("That cannot be used as it is"),
}
_UNTITLED = marked("Something went wrong")


async def _refused(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    if status == 405 and request.method in SAFE and not request.url.path.startswith("/api/"):
        return _told(request, 404, Said(""))  # an address that only takes forms is no page
    told = error.said if isinstance(error, RequestError) else quoted(getattr(error, "detail", ""))
    return _told(request, status, told)


async def _faulty(request: Request, error: Exception) -> Response:
    """Mistakes of the asker are 422; what cannot be done now is 409."""
    fields = {name: str(said) for name, said in error.fields.items()} if isinstance(error, FieldError) else {}
    mistaken = isinstance(error, ConfigError | UrlError | ErrandError)
    return _told(request, 422 if mistaken else 409, error_said(error), fields)


async def _broken(request: Request, _error: Exception) -> Response:
    return _told(request, 500, said("The server has written down what happened."))


def _told(request: Request, status: int, told: Said, fields: Mapping[str, str] | None = None) -> Response:
    if request.url.path.startswith("/api/"):
        return json_answer(ApiError(str(told), dict(fields or {})), status)
    title = words_of(request).say(_TITLES.get(status, _UNTITLED))
    return rendered(request, "error.html", status, title=title, detail=told if str(told) != "Not Found" else Said(""))
