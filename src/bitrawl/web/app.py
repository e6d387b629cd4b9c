"""The web application: its routes, what wraps them, what runs beside them, and how `bitrawl serve` starts it."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import uvicorn
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import BitrawlError, ConfigError, FieldError, UrlError
from bitrawl.job import Sampler
from bitrawl.show import style_sheet
from bitrawl.web import operator_settings
from bitrawl.web.actions import LANGUAGE_COOKIE, Server, words_of
from bitrawl.web.api import operations as api
from bitrawl.web.api.operations import json_answer
from bitrawl.web.api.shapes import ApiError
from bitrawl.web.commands import CommandError, CommandRunner, ExportCache, FolderWork, Indexing, clean, with_proxy
from bitrawl.web.job_list import JobList
from bitrawl.web.messages import Message, RequestError, catalogues, marked, message, message_of, quoted
from bitrawl.web.open_connections import patient_protocol
from bitrawl.web.operator_settings import Settings
from bitrawl.web.pages import (
    comparison,
    downloads,
    job_page,
    review,
    samples,
    segments,
    start_forms,
    team_review,
    thresholds,
    tools,
)
from bitrawl.web.pages.rendering import rendered
from bitrawl.web.security import (
    SAFE,
    Compression,
    Guard,
    Users,
    cookie_of,
    host_names,
    is_loopback,
    posted,
    secret_of,
    set_cookie,
)
from bitrawl.web.supervisor import Supervisor, SystemProcesses

_PAGES = (api, start_forms, review, segments, team_review, samples, downloads, thresholds, comparison, tools, job_page)
GRACE = 3  # seconds for answers in flight when the server is stopped
BACKLOG = 1024  # connections that wait to be taken
TAKEN_AT_ONCE = 32  # of these, before one of them is looked at: each takes a file
LONGEST_TOKEN = 4096
SHORTEST_TOKEN = 16  # characters, where strangers may try
ENDED_SESSIONS = ".ended-sessions"
TICK = 1.0  # seconds between two looks at the jobs
UPLOAD_MEGABYTES = 512  # of one request: a web archive


def application(server: Server, hosts: Iterable[str]) -> Starlette:
    """`hosts` are the names by which the app may be reached."""
    per_minute = server.settings.limits.requests
    guard = Middleware(Guard, users=server.users, hosts=hosts, per_minute=per_minute, megabytes=UPLOAD_MEGABYTES)
    app = Starlette(
        # The actions of a job come last: the others are more particular.
        routes=[*_own_routes(), *(route for page in _PAGES for route in page.ROUTES)],
        middleware=[guard, Middleware(Compression)],
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
    form = await request.form(max_files=0, max_fields=4, max_part_size=LONGEST_TOKEN)
    users: Users = request.app.state.server.users
    there = _local(str(form.get("next", "/")))
    user = users.by_token(str(form.get("token", "")).strip())
    if user is None:
        return rendered(request, "login.html", 401, next=there, wrong=True)
    cookie = set_cookie(users.new_session(user), secure=request.url.scheme == "https")
    return RedirectResponse(there, 303, {"Set-Cookie": cookie})


async def _logout(request: Request) -> Response:
    await posted(request)
    users: Users = request.app.state.server.users
    await asyncio.to_thread(users.end_session, cookie_of(request.headers))
    return RedirectResponse("/login", 303, {"Set-Cookie": set_cookie("", secure=request.url.scheme == "https")})


async def _language(request: Request) -> Response:
    """The language of the interface, kept in a cookie that says nothing else."""
    answer = RedirectResponse(_local(request.query_params.get("next", "/")), 303)
    code = request.query_params.get("code", "")
    if code in request.app.state.server.catalogues:
        answer.set_cookie(LANGUAGE_COOKIE, code, max_age=31536000, samesite="lax", httponly=True)
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
        return _error_page(request, 404, Message(""))  # an address that only takes forms is no page
    why = error.message if isinstance(error, RequestError) else quoted(getattr(error, "detail", ""))
    return _error_page(request, status, why)


async def _faulty(request: Request, error: Exception) -> Response:
    """Mistakes of the asker are 422; what cannot be done now is 409."""
    fields = {name: str(why) for name, why in error.fields.items() if name} if isinstance(error, FieldError) else {}
    mistaken = isinstance(error, ConfigError | UrlError | CommandError)
    return _error_page(request, 422 if mistaken else 409, message_of(error), fields)


async def _broken(request: Request, _error: Exception) -> Response:
    return _error_page(request, 500, message("The server's log says what happened."))


def _error_page(request: Request, status: int, why: Message, fields: Mapping[str, str] | None = None) -> Response:
    if request.url.path.startswith("/api/"):
        return json_answer(ApiError(str(why), dict(fields or {})), status)
    title = words_of(request).say(_TITLES.get(status, _UNTITLED))
    return rendered(request, "error.html", status, title=title, detail=why if str(why) != "Not Found" else Message(""))


class Serving(NamedTuple):
    """What the operator asked for."""

    jobs: Path
    host: str = "127.0.0.1"
    port: int = 8000
    token: str = ""
    names: tuple[str, ...] = ()
    settings: Path | None = None
    messages: Path | None = None
    every: str = ""


def new_server(serving: Serving) -> Server:
    """Raises `ConfigError` for what an operator must not do."""
    settings = operator_settings.read(serving.settings) if serving.settings else Settings()
    if serving.every:
        settings = replace(settings, every=serving.every)
    if not is_loopback(serving.host) and not serving.token and not settings.users:
        raise ConfigError(
            f"{serving.host} can be reached from other machines, so a token is needed: set BITRAWL_TOKEN or give --token,"
            " or name users in --settings. Make a token with: bitrawl serve --new-token"
        )
    if not is_loopback(serving.host) and 0 < len(serving.token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"the token has {len(serving.token)} characters, and {serving.host} can be reached from other machines: others could"
            f" guess it. Give one of at least {SHORTEST_TOKEN}. Make one with: bitrawl serve --new-token"
        )
    jobs = JobList(serving.jobs.resolve())
    proxy = settings.job.get("fetch", {}).get("proxy", "")
    commands = CommandRunner(with_proxy(clean(os.environ), proxy))
    return Server(
        settings,
        jobs,
        Supervisor(jobs, settings, SystemProcesses(proxy=proxy)),
        Sampler(),
        Users(settings.users, secret_of(jobs.path), token=serving.token, ended=jobs.path / ENDED_SESSIONS),
        commands,
        ExportCache(jobs.path),
        Indexing(commands),
        FolderWork(commands, "export"),
        FolderWork(commands, module="bitrawl.job.drawing"),
        catalogues(serving.messages),
        ThreadPoolExecutor(max_workers=1, thread_name_prefix="jobs"),
    )


def run(serving: Serving, ready: Callable[[str], None]) -> None:
    """Serve until somebody stops the server."""
    server = new_server(serving)
    listening = _listening(serving.host, serving.port)
    host, port = listening.getsockname()[:2]
    ready(address(host, port))
    config = uvicorn.Config(
        application(server, host_names(serving.host, serving.names)),
        http=patient_protocol(),
        ws="none",
        log_level="error",  # a line for each odd request would fill the disk
        access_log=False,
        timeout_graceful_shutdown=GRACE,
        server_header=False,
        backlog=TAKEN_AT_ONCE,
    )
    _Server(config).run(sockets=[listening])


class _Server(uvicorn.Server):
    """asyncio has one number for the connections that wait, and for those that it takes at once. They are two here."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(BACKLOG)


def address(host: str, port: int) -> str:
    """Where a browser on this machine finds the app: "every address" is no address to open."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - no address to bind
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)  # before the address is told: who comes early waits, and is not refused
    except OSError as error:
        raise ConfigError(f"cannot listen on {host}, port {port}: {error.strerror}; choose another --port") from error
    return listening
