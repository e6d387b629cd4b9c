"""Commands run in this process with the bundles and servers that they start (see also `no_children`), and wait for nobody."""

import asyncio
import socket
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bitrawl.cluster import bundle_process
from bitrawl.cluster.bundles import Died
from bitrawl.cluster.places import Place
from bitrawl.crawling import frontier, robots
from bitrawl.job import running
from bitrawl.store.folder import JobFolder
from bitrawl.urls.language_model import UrlLanguageData
from bitrawl.web import app as web_app


def bundle_here(order: Any, folder: Path, out: Place, *_: object) -> Died:
    """Instead of `bundle_process._run`."""
    bundle_process._make_private(folder, order)
    bundle_process._take_up(order, JobFolder(folder / bundle_process.JOB), out)
    asyncio.run(bundle_process._mine_job(bundle_process.Work(str(folder), bundle_process._job_of(order), order.bundle)))
    return Died("the outcome is in its folder")


def commands_stay_here(patch: pytest.MonkeyPatch, tmp_path: Path, port: int, certificate: Path) -> None:
    """Every name is a name of the web behind that port, nothing is asked of any other, and no host needs a rest."""
    for name in ("http_proxy", "https_proxy"):
        patch.setenv(name, f"http://127.0.0.1:{port}")
    patch.setenv("SSL_CERT_FILE", str(certificate))
    patch.setattr(tempfile, "tempdir", str(tmp_path))
    patch.setattr(socket, "getaddrinfo", _only_loopback)
    patch.setattr(UrlLanguageData, "load", cache(UrlLanguageData.load))
    patch.setattr(bundle_process, "_run", bundle_here)
    patch.setattr(running._Mining, "is_due", lambda *_: False)  # Sites are mined once, when they have been visited.
    patch.setattr(frontier.Politeness, "delay_after", lambda *_, **__: 0.0)
    begin = robots.RobotsFetcher.__init__

    def at_once(self: Any, inner: Any, clock: Any, politeness: Any, *memory: Any) -> None:
        begin(self, inner, clock, msgspec.structs.replace(politeness, delay=0.0), *memory)

    patch.setattr(robots.RobotsFetcher, "__init__", at_once)
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
