"""What the pages of the app share."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, ParamSpec, TypeVar

from starlette.requests import Request

from bitrawl.web.indexing import Indexing
from bitrawl.web.kept import KeptFiles
from bitrawl.web.live import Sampler
from bitrawl.web.processes import Errands
from bitrawl.web.settings import Settings
from bitrawl.web.shelf import Shelf
from bitrawl.web.supervisor import Supervisor
from bitrawl.web.users import Users
from bitrawl.web.words import Words, preferred

LANGUAGE_COOKIE = "interface"

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Server(NamedTuple):
    """One app, over one folder of jobs."""

    settings: Settings
    shelf: Shelf
    supervisor: Supervisor
    sampler: Sampler
    users: Users
    errands: Errands
    kept: KeptFiles
    indexing: Indexing
    catalogues: dict[str, Words]
    one_thread: ThreadPoolExecutor

    async def supervised(self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
        """In the one thread that the supervisor, the shelf and the sampler are called from."""
        call: Any = lambda: work(*args, **kwargs)  # noqa: E731 - run_in_executor takes no keywords
        result: Result = await asyncio.get_running_loop().run_in_executor(self.one_thread, call)
        return result


def server_of(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


def words_of(request: Request) -> Words:
    """In the language that the reader has chosen, or that the browser asks for."""
    known = request.app.state.server.catalogues
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen not in known:
        chosen = preferred(request.headers.get("accept-language", ""), known)
    found: Words = known[chosen]
    return found
