"""`bitrawl serve`: the web app."""

import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from typer import Option

from bitrawl.cli.console import print_err, print_out
from bitrawl.errors import ConfigError
from bitrawl.version import install_command

NEEDED = ("starlette", "jinja2", "uvicorn", "multipart", "babel", "psutil", "phonenumbers", "stdnum")
_ACCESS_HELP = (
    "Require this token. Set it in the environment if others use this machine: they can see the command line."
)
_NAME_HELP = "Answer to this host name too, as behind a reverse proxy. May be given several times."

_EVERY_HELP = "Visit a finished job again when this long has passed since it ended: 12h, 7d, 2w."


def serve(  # noqa: PLR0913 - flags
    *,
    jobs: Annotated[
        Path, Option(help="Keep the jobs in this folder; what is there already is shown.", metavar="DIR")
    ] = Path("jobs"),
    host: Annotated[
        str, Option(help="Listen on this address. Any address but loopback needs a token.", metavar="ADDRESS")
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Listen on this port.", metavar="N")] = 8000,
    token: Annotated[
        str,
        Option(help=_ACCESS_HELP, envvar="BITRAWL_TOKEN", show_envvar=True, metavar="TEXT", show_default=False),
    ] = "",
    name: Annotated[list[str] | None, Option(help=_NAME_HELP, metavar="HOST")] = None,
    settings: Annotated[
        Path | None, Option(help="Read users, limits and settings for all jobs from this file.", metavar="TOML")
    ] = None,
    messages: Annotated[
        Path | None, Option(help="Offer the languages of the .po files in this folder too.", metavar="DIR")
    ] = None,
    every: Annotated[str, Option(help=_EVERY_HELP, metavar="TIME", show_default=False)] = "",
    new_token: Annotated[
        bool, Option("--new-token", help="Print a token and its hash for the settings file, then exit.")
    ] = False,
) -> None:
    """Open the web app: start jobs, watch them, read, judge and download what they find.

    Example: [bold]bitrawl serve --jobs jobs[/], then open http://127.0.0.1:8000/

    The server can be stopped at any time: jobs go on without it. It shows jobs of the command line too.
    """
    if new_token:
        _print_token()
        return
    if missing := [module for module in NEEDED if find_spec(module) is None]:
        raise ConfigError(f"the web app needs {', '.join(missing)}. Run: {install_command('web')}")
    from bitrawl.web.app import Serving, run  # needs the extra

    serving = Serving(jobs, host, port, token, tuple(name or ()), settings, messages, every)
    run(serving, ready=lambda address: print_err(f"Open {address} (Ctrl-C stops the server; jobs go on)"))


def _print_token() -> None:
    from bitrawl.web.operator_settings import hashed  # as above

    token = secrets.token_urlsafe(24)
    print_out(f"token        {token}\ntoken_sha256 {hashed(token)}")
