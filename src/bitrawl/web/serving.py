"""From the flags of `bitrawl serve` to a server that listens."""

import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import uvicorn

from bitrawl.errors import ConfigError
from bitrawl.web import settings as serve_toml
from bitrawl.web.app import application
from bitrawl.web.indexing import Indexing
from bitrawl.web.kept import KeptFiles
from bitrawl.web.live import Sampler
from bitrawl.web.processes import Errands, SystemProcesses, clean
from bitrawl.web.security import host_names, is_loopback
from bitrawl.web.server import Server
from bitrawl.web.settings import Settings
from bitrawl.web.shelf import Shelf
from bitrawl.web.supervisor import Supervisor
from bitrawl.web.users import Users, secret_of
from bitrawl.web.words import catalogues

GRACE = 3  # seconds for answers in flight when the server is stopped; judgement
BACKLOG = 128  # connections that wait to be taken; judgement


class Serving(NamedTuple):
    """What the operator asked for."""

    jobs: Path
    host: str = "127.0.0.1"
    port: int = 8000
    token: str = ""
    names: tuple[str, ...] = ()
    settings: Path | None = None
    messages: Path | None = None


def server_of(serving: Serving) -> Server:
    """Raises `ConfigError` for what an operator must not do."""
    settings = serve_toml.read(serving.settings) if serving.settings else Settings()
    if not is_loopback(serving.host) and not serving.token and not settings.users:
        raise ConfigError(
            f"{serving.host} can be reached from other machines, so a token is needed: set BITRAWL_TOKEN or give --token,"
            " or name users in --settings. Make a token with: bitrawl serve --new-token"
        )
    shelf = Shelf(serving.jobs.resolve())
    errands = Errands(clean(os.environ))
    return Server(
        settings,
        shelf,
        Supervisor(shelf, settings, SystemProcesses(proxy=settings.job.get("fetch", {}).get("proxy", ""))),
        Sampler(),
        Users(settings.users, secret_of(shelf.path), token=serving.token),
        errands,
        KeptFiles(shelf.path),
        Indexing(errands),
        catalogues(serving.messages),
        ThreadPoolExecutor(max_workers=1, thread_name_prefix="jobs"),
    )


def run(serving: Serving, ready: Callable[[str], None]) -> None:
    """Until it is stopped."""
    server = server_of(serving)
    listening = _listening(serving.host, serving.port)
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    ready(f"http://{shown}:{port}/")
    config = uvicorn.Config(
        application(server, host_names(serving.host, serving.names)),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listening])


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
