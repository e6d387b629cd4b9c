"""`bitrawl crawl`: visit sites and keep their pages."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from bitrawl import config
from bitrawl.assemble import Ending, Started, check, run
from bitrawl.cli.progress import Progress
from bitrawl.cli.status import show
from bitrawl.config import Job, Strategy
from bitrawl.crawl.loop import Crawl
from bitrawl.errors import ConfigError
from bitrawl.model import Visit
from bitrawl.store.ledger import Ledger
from bitrawl.store.summary import summarise

WHERE, SCOPE, MANNERS, BUDGET, ARCHIVES = "Job", "Scope", "Manners", "Budgets", "Archives"


def crawl(  # noqa: PLR0913 (each flag is a key of the job file)
    seeds: Annotated[list[str] | None, typer.Argument(help="Where to begin: URLs.", metavar="SEEDS...")] = None,
    *,
    langs: Annotated[
        str | None, typer.Option(help="Languages, any ISO 639 or BCP 47 codes: en,fr", rich_help_panel=WHERE)
    ] = None,
    out: Annotated[Path, typer.Option(help="The job's folder; the same again resumes.", rich_help_panel=WHERE)] = ...,  # type: ignore[assignment]
    job: Annotated[Path | None, typer.Option(help="A TOML job file; flags win over it.", rich_help_panel=WHERE)] = None,
    seeds_file: Annotated[
        Path | None, typer.Option(help="Seeds, one a line; - for standard input.", rich_help_panel=WHERE)
    ] = None,
    strategy: Annotated[
        Strategy | None, typer.Option(help="What orders the visits.", show_default="adaptive", rich_help_panel=WHERE)
    ] = None,
    exhaustive: Annotated[
        bool | None,
        typer.Option(
            "--exhaustive", help="Visit all of a site, even where nothing more is expected.", rich_help_panel=WHERE
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Remove what the folder holds and start over.", rich_help_panel=WHERE)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=WHERE)] = False,
    include: Annotated[
        list[str] | None, typer.Option(help="Only URLs that match this regular expression.", rich_help_panel=SCOPE)
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="No URLs that match this one.", rich_help_panel=SCOPE)
    ] = None,
    one_site: Annotated[
        list[str] | None, typer.Option(help="Hosts that are one site: example.org,exemple.org", rich_help_panel=SCOPE)
    ] = None,
    max_depth: Annotated[int | None, typer.Option(help="Links away from the seeds.", rich_help_panel=SCOPE)] = None,
    sitemaps: Annotated[
        bool | None,
        typer.Option("--sitemaps/--no-sitemaps", help="Read sitemaps.", show_default="on", rich_help_panel=SCOPE),
    ] = None,
    probe: Annotated[
        bool | None,
        typer.Option(
            "--probe/--no-probe",
            help="Ask each host for a page that cannot exist.",
            show_default="on",
            rich_help_panel=SCOPE,
        ),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(help="Seconds between two visits to a host.", show_default="1.0", rich_help_panel=MANNERS),
    ] = None,
    parallel: Annotated[
        int | None, typer.Option(help="Visits at once, over all hosts.", show_default="16", rich_help_panel=MANNERS)
    ] = None,
    per_host: Annotated[
        int | None, typer.Option(help="Connections at once to one host.", show_default="1", rich_help_panel=MANNERS)
    ] = None,
    contact: Annotated[
        str | None, typer.Option(help="Your e-mail address or page, for webmasters.", rich_help_panel=MANNERS)
    ] = None,
    proxy: Annotated[
        str | None, typer.Option(help="An HTTP proxy; HTTP_PROXY and its like are read too.", rich_help_panel=MANNERS)
    ] = None,
    cookies: Annotated[
        bool | None, typer.Option("--cookies", help="Accept cookies.", show_default=False, rich_help_panel=MANNERS)
    ] = None,
    allow_private: Annotated[
        bool | None,
        typer.Option(
            "--allow-private", help="Visit private and loopback addresses.", show_default=False, rich_help_panel=MANNERS
        ),
    ] = None,
    connect_to: Annotated[
        list[str] | None, typer.Option(help="Reach a host elsewhere: '*.test=127.0.0.1:8000'", rich_help_panel=MANNERS)
    ] = None,
    ignore_opt_outs: Annotated[
        bool | None,
        typer.Option(
            "--ignore-opt-outs",
            help="Keep pages that reserve text and data mining, where your law allows it.",
            show_default=False,
            rich_help_panel=MANNERS,
        ),
    ] = None,
    max_pages: Annotated[int | None, typer.Option(help="Pages, of the job.", rich_help_panel=BUDGET)] = None,
    max_minutes: Annotated[float | None, typer.Option(help="Minutes, of the job.", rich_help_panel=BUDGET)] = None,
    max_megabytes: Annotated[float | None, typer.Option(help="Megabytes, of the job.", rich_help_panel=BUDGET)] = None,
    site_pages: Annotated[int | None, typer.Option(help="Pages, of each site.", rich_help_panel=BUDGET)] = None,
    site_minutes: Annotated[float | None, typer.Option(help="Minutes, of each site.", rich_help_panel=BUDGET)] = None,
    site_megabytes: Annotated[
        float | None, typer.Option(help="Megabytes, of each site.", rich_help_panel=BUDGET)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that read pages.", show_default="one per core", rich_help_panel=BUDGET)
    ] = None,
    replay: Annotated[
        list[Path] | None, typer.Option(help="Crawl this WARC file in place of the web.", rich_help_panel=ARCHIVES)
    ] = None,
    warc: Annotated[
        list[Path] | None, typer.Option(help="Take this WARC file whole, without crawling.", rich_help_panel=ARCHIVES)
    ] = None,
) -> None:
    """Visit sites and keep their pages, polite and resumable.

    Example: [bold]bitrawl crawl https://www.example.org/ --langs en,fr --out jobs/example[/]

    Ctrl-C once finishes what is in flight, twice stops now; the same command goes on where it ended.
    """
    asked = prepared(locals())
    leave(follow(asked, out, partial(run, fresh=fresh), Progress(quiet=quiet)))


def prepared(given: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> Job:
    """The job that these flags ask for, checked, with nothing written; `more` are tables of further verbs."""
    asked = _asked({**_described(given), **(more or {})}, given["job"], given["out"], fresh=given["fresh"])
    check(asked)
    return asked


def leave(ending: Ending) -> None:
    """With the exit status of that ending."""
    if ending is not Ending.DONE:
        raise typer.Exit(1 if ending is Ending.FAILED else 130)


def _described(given: Mapping[str, Any]) -> dict[str, Any]:
    """Flags as the tables of a job file; None for what was not given."""

    def some(**keys: str) -> dict[str, Any]:
        return {key: given[flag] for key, flag in keys.items()}

    one_site, connect_to, langs = given["one_site"], given["connect_to"], given["langs"]
    return {
        "seeds": [*(given["seeds"] or []), *_listed(given["seeds_file"])] or None,
        "langs": config.listed(langs) if langs is not None else None,
        "strategy": given["strategy"],
        "exhaustive": given["exhaustive"],
        "replay": [str(path) for path in given["replay"]] if given["replay"] else None,
        "warc": [str(path) for path in given["warc"]] if given["warc"] else None,
        "scope": some(include="include", exclude="exclude", depth="max_depth", sitemaps="sitemaps", probe="probe")
        | {"one_site": [group.split(",") for group in one_site] if one_site else None},
        "politeness": some(delay="delay", parallel="parallel", per_host="per_host")
        | {"opt_outs": False if given["ignore_opt_outs"] else None},
        "budget": some(pages="max_pages", minutes="max_minutes", megabytes="max_megabytes")
        | some(site_pages="site_pages", site_minutes="site_minutes", site_megabytes="site_megabytes"),
        "fetch": some(contact="contact", proxy="proxy", cookies="cookies", allow_private="allow_private")
        | {"connect_to": dict(_route(raw) for raw in connect_to) if connect_to else None},
        "analysis": some(workers="workers"),
    }


Runner = Callable[[Job, Path, Callable[[Visit], None], Started], Awaitable[Ending]]


def follow(job: Job, folder: Path, runner: Runner, progress: Progress) -> Ending:
    """Run a job with its progress shown, and say what came of it."""
    with progress:
        ending = asyncio.run(watch(job, folder, runner, progress))
    if not progress.quiet:
        ledger = Ledger(folder / "job.sqlite", read_only=True)
        show(summarise(ledger), folder)
        ledger.close()
    return ending


async def watch(job: Job, folder: Path, runner: Runner, progress: Progress) -> Ending:
    """Run a job that can be interrupted."""
    interrupts = _Interrupts(progress)
    task = asyncio.ensure_future(runner(job, folder, progress.visited, interrupts.listen))
    interrupts.task = task
    try:
        return await task
    except asyncio.CancelledError:
        return Ending.CANCELLED
    finally:
        if interrupts.drawing is not None:
            interrupts.drawing.cancel()


class _Interrupts:
    """The first Ctrl-C finishes what is in flight, the second stops now."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._pressed = False
        self.task: asyncio.Future[Ending] | None = None
        self.drawing: asyncio.Future[None] | None = None

    def listen(self, crawl: Crawl, queued: Callable[[], int]) -> None:
        self._progress.count_queue = queued
        self.drawing = asyncio.ensure_future(self._progress.draw_now_and_then(crawl.frontier.pause))
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self._press, crawl)

    def _press(self, crawl: Crawl) -> None:
        if self._pressed and self.task is not None:
            self.task.cancel()
            return
        self._pressed = True
        self._progress.note("finishing what is in flight; Ctrl-C again stops now")
        crawl.stop()


def _asked(flags: dict[str, Any], file: Path | None, out: Path, *, fresh: bool) -> Job:
    """What is to be done: the file under the flags, and the folder's own job when neither says."""
    held = out / "job.toml"
    earlier = config.resolve(config.read(held), where=str(held)) if held.exists() and not fresh else None
    described = config.read(file) if file is not None else {}
    if earlier is not None and not described and not flags["seeds"] and not flags["warc"]:
        described = config.read(held)
    job = config.resolve(config.merged(described, flags), where=str(file) if file else "the command")
    if earlier is not None:
        config.continues(job, earlier)
    return job


def _listed(path: Path | None) -> list[str]:
    if path is None:
        return []
    if str(path) == "-":
        return config.seeds_from(sys.stdin.read().splitlines())
    try:
        return config.seeds_from(path.read_text("utf-8").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the seeds cannot be read from {path}: {error}") from error


def _route(raw: str) -> tuple[str, str]:
    host, mark, endpoint = raw.partition("=")
    if not mark or not host or not endpoint:
        raise ConfigError(f"--connect-to {raw!r} is not understood; write it as 'www.example.test=127.0.0.1:8000'")
    return host, endpoint
