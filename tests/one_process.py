"""Commands run in this process with all that they start: readers of pages, miners and bundles; and they wait for nobody."""

import asyncio
import pickle
import socket
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bitrawl import process
from bitrawl.cluster import bundle_process
from bitrawl.cluster.bundles import Died
from bitrawl.crawl import frontier, robots
from bitrawl.job import running
from bitrawl.process import Failure, FailureKind, Report, Service
from bitrawl.text.language import LanguageNgrams
from bitrawl.urls.language_model import UrlLanguageData
from bitrawl.web import app as web_app

_services: dict[bytes, Service] = {}


class InlineChild:
    """A child that is none: its service is called here. Readers of pages are kept, since loading them takes a while."""

    usable = True

    def __init__(self, service: Service) -> None:
        self._service = service

    @classmethod
    async def start(cls, factory: Callable[[], Service], _limits: process.Limits) -> "InlineChild":
        key = pickle.dumps(factory)
        if b"mining_service" in key:
            return cls(factory())
        return cls(_services.setdefault(key, _services.get(key) or factory()))

    async def ask(self, request: bytes, report: Report = lambda _text: None) -> bytes | Failure:
        await asyncio.sleep(0)
        try:
            return self._service(request, report)
        except RuntimeError as error:
            return Failure(FailureKind.ERROR, str(error))

    def end(self) -> None:
        pass


def _bundle_here(order: Any, folder: Path, *_: object) -> Died:
    bundle_process._make_private(folder, order)
    asyncio.run(bundle_process._mine_job(bundle_process.Work(str(folder), bundle_process._job_of(order), order.bundle)))
    return Died("the outcome is in its folder")


def commands_stay_here(patch: pytest.MonkeyPatch, tmp_path: Path, port: int, certificate: Path) -> None:
    """Every name is a name of the web behind that port, nothing is asked of any other, and no host needs a rest."""
    for name in ("http_proxy", "https_proxy"):
        patch.setenv(name, f"http://127.0.0.1:{port}")
    patch.setenv("SSL_CERT_FILE", str(certificate))
    patch.setattr(tempfile, "tempdir", str(tmp_path))
    patch.setattr(socket, "getaddrinfo", _only_loopback)
    patch.setattr(process, "Child", InlineChild)
    for model in (LanguageNgrams, UrlLanguageData):
        patch.setattr(model, "load", cache(model.load))
    patch.setattr(bundle_process, "_run", _bundle_here)
    patch.setattr(running._Mining, "is_due", lambda *_: False)  # Sites are mined once, when they have been visited.
    patch.setattr(frontier.Politeness, "rest", lambda *_, **__: 0.0)
    begin = robots.RobotsFetcher.__init__
    patch.setattr(robots.RobotsFetcher, "__init__", lambda *given, **more: begin(*given, **{**more, "pause": 0.0}))
    listen = web_app._listening
    patch.setattr(web_app, "_listening", lambda host, _port: listen(host, 0))
    patch.setattr(web_app.uvicorn.Server, "startup", _started_and_stopped)


_startup, _lookup = web_app.uvicorn.Server.startup, socket.getaddrinfo


async def _started_and_stopped(server: Any, sockets: Any = None) -> None:
    """As if somebody pressed Ctrl-C as soon as it listens."""
    await _startup(server, sockets)
    server.should_exit = True


def _only_loopback(host: str, *given: Any, **more: Any) -> Any:
    if host in ("127.0.0.1", "localhost", "::1"):
        return _lookup(host, *given, **more)
    raise socket.gaierror(socket.EAI_NONAME, f"{host} was asked for in a test")
