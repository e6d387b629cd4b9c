"""`bitrawl status`: how far a job is, while it runs or after."""

import shlex
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from bitrawl.cli.console import complain, duration, out, size
from bitrawl.cli.flags import FolderOrPlace
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cli.many_sites import show_run
from bitrawl.cluster.run import Run, existing_run
from bitrawl.facts import CrawlSummary, HostCount, JobFacts, LanguagePair, State
from bitrawl.job.folder import JobFolder
from bitrawl.job.reporting import gather
from bitrawl.job.reporting import status as status_of
from bitrawl.show.job_report import brief, explained
from bitrawl.show.wording import ADVICE, counted, fetched

app = typer.Typer(rich_markup_mode="rich", add_completion=False)

WATCH_EVERY = 2.0  # seconds
# Of `--format json`, in their order: part of the output format
KEYS = (
    *("links", "queued", "pages", "skipped", "languages", "skips", "fetches", "bytes", "hosts", "ended", "seconds"),
    *("mining", "own_requests", "answers", "unanswered", "relevant"),
)
CORPUS_KEYS = ("pairs", "segments", "units")
_wait = time.sleep


class Format(StrEnum):
    """For people or for programs."""

    TABLE = "table"
    JSON = "json"


@app.command(cls=HelpfulCommand)
def status(
    folder: FolderOrPlace,
    *,
    style: Annotated[Format, typer.Option("--format", help="Print a table, or JSON for programs.")] = Format.TABLE,
    watch: Annotated[bool, typer.Option("--watch", help="Show it again every two seconds, until it ends.")] = False,
) -> None:
    """Show how far a job is.

    Example: [bold]bitrawl status jobs/example --watch[/]

    It shows pages, languages, pairs, segments, what is being done now, and why links were skipped.
    """
    if (run := existing_run(folder)) is not None:
        _show_many(run, folder, style)
        return
    where = JobFolder(Path(folder))
    while True:
        now = status_of(where)
        if style is Format.JSON:
            typer.echo(msgspec.json.encode(_flat(now)).decode())
        else:
            if watch:
                out.clear()
            show(where, now)
        if not watch or now.state is not State.RUNNING:
            return
        _wait(WATCH_EVERY)


def _show_many(run: Run, address: str, style: Format) -> None:
    """A run over many sites is as far as its parts."""
    if style is Format.TABLE:
        show_run(run, address)
    else:
        typer.echo(msgspec.json.encode({**msgspec.to_builtins(run.tally), "running": run.running()}).decode())


def _flat(now: JobFacts) -> dict[str, object]:
    """The keys stay where programs look for them."""
    return {
        **{key: getattr(now.crawl, key) for key in KEYS},
        "state": now.state,
        "faults": now.faults,
        "corpora": {name: {key: getattr(pair, key) for key in CORPUS_KEYS} for name, pair in now.corpora.items()},
    }


def show(folder: JobFolder, now: JobFacts | None = None, *, advise: bool = True) -> None:
    """The status of a job for a person; with advice where nothing was found."""
    now = now or status_of(folder)
    summary = now.crawl
    rows = [
        ("job", f"{folder.path}: {_state(folder, now)}"),
        ("links", f"{summary.links} = {summary.pages} pages + {summary.skipped} skipped + {summary.queued} queued"),
        ("fetched", f"{fetched(summary)}, {size(summary.bytes)}{_time(summary)}"),
        *([("", _own(summary.own_requests))] if summary.own_requests else []),
        (
            "languages",
            "   ".join(f"{name} {count}" for name, count in list(summary.languages.items())[:12])
            or ("none" if now.ended else "none yet"),
        ),
    ]
    if summary.relevant is not None:
        rows.append(("on topic", f"{summary.relevant} of {counted(summary.pages, 'page')}"))
    rows += [("hosts" if n == 0 else "", _host(host)) for n, host in enumerate(summary.hosts[:5])]
    rows += [
        ("skipped" if n == 0 else "", f"{count:>6}  {why}") for n, (why, count) in enumerate(summary.skips.items())
    ]
    rows += [(name, found(one)) for name, one in now.corpora.items()]
    rows += [("left out" if n == 0 else "", f"{count:>6}  {why}") for n, (why, count) in enumerate(now.faults.items())]
    for label, value in rows:
        out.print(Text.assemble((f"{label:<11}", "bold cyan"), value))
    if advise and summary.pages and summary.relevant == 0 and summary.ended:
        for line in explained(gather(folder.path)):
            out.print(line, markup=False)
    for hint in hints(summary) if advise else ():
        out.print(f"→ {hint}", markup=False)


def found(one: LanguagePair) -> str:
    """The figures of one corpus."""
    pairs = counted(one.pairs, "page pair")
    return f"{pairs}, {counted(one.segments, 'segment pair')}, {counted(one.units, 'unit')} in the corpus"


def _state(folder: JobFolder, now: JobFacts) -> str:
    if now.state is State.RUNNING:
        crawled = f"; the crawl has ended: {now.ended}" if now.ended else ""
        return f"running{f', {now.doing}' if now.doing else ''}{crawled}"
    if now.state is State.INTERRUPTED:
        return f"interrupted (resume with: {_resume(folder, now)})"
    return now.ended


def _resume(folder: JobFolder, now: JobFacts) -> str:
    where = shlex.quote(str(folder.path))
    return f"bitrawl {now.verb} --out {where}" if now.verb in ("mine", "crawl") else f"bitrawl {now.verb} {where}"


def _time(summary: CrawlSummary) -> str:
    """Nothing in the first run of a job, and after one that was killed: the time is written down when a run ends."""
    return f", in {duration(summary.seconds)}" if summary.seconds else ""


def _own(requests: int) -> str:
    return f"{counted(requests, 'request')} of our own: sitemaps, and missing pages to recognise error pages"


def hints(summary: CrawlSummary) -> list[str]:
    """What to try when a job that has ended found nothing."""
    if summary.pages or not summary.ended:
        return []
    reasons = dict.fromkeys([*summary.skip_reasons, *summary.unanswered])
    found = [f"{reason}: {ADVICE[reason]}" for reason in reasons if reason in ADVICE]
    return found or ["Look at the log for what the hosts answered."]


def _host(host: HostCount) -> str:
    fetches = f"{host.fetches} fetch{'' if host.fetches == 1 else 'es'}"
    return f"{host.host}  {counted(host.pages, 'page')} of {fetches}, {host.seconds * 1000:.0f} ms each"


def tell_of_kills(folder: JobFolder) -> None:
    """What is missing only because the system killed our processes, and what to type; also after a quiet command."""
    now = status_of(folder)
    if now.killed:
        things = counted(now.killed, "page, page pair or site is", "pages, page pairs or sites are")
        complain(
            f"{things} left out, because the processes at work on them were killed or had too little memory."
            f" To try them again: {_resume(folder, now)}"
        )


def tell(folder: JobFolder) -> None:
    """What was found, in short, at the end."""
    for line in brief(gather(folder.path)):
        out.print(line, markup=False)
    for name, path in (("corpus", folder.corpus), ("report", folder.report)):
        if path.exists():
            out.print(f"{name:<11}{path}", markup=False)
