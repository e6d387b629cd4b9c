"""`bitrawl demo`: the main job on a small multilingual web that the package carries."""

from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer

from bitrawl import config
from bitrawl import demo as bundled
from bitrawl.cli.console import out as console
from bitrawl.cli.foreground import Foreground, leave
from bitrawl.cli.help import HelpfulCommand
from bitrawl.cli.progress import Progress
from bitrawl.cli.status import show, tell
from bitrawl.config import Job
from bitrawl.config.settings import listed
from bitrawl.crawl.ending import Ending
from bitrawl.errors import ConfigError
from bitrawl.job.folder import JobFolder
from bitrawl.job.ledger import Ledger
from bitrawl.job.running import mine
from bitrawl.job.stored_findings import Findings
from bitrawl.model import Language

ONE_SITE = [["harbour-museum.test", "musee-du-port.test"]]  # one publisher with two domains

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.command(cls=HelpfulCommand)
def demo(
    *,
    out: Annotated[
        Path, typer.Option(help="Keep the job in this folder. What it holds is deleted first.", metavar="DIR")
    ] = Path("demo"),
    langs: Annotated[str, typer.Option(help="Languages: any of en, fr, es, zh.", metavar="CODES")] = "en,fr",
) -> None:
    """Mine a small web that comes with the package, and show the result.

    Example: [bold]bitrawl demo --out /tmp/demo --langs en,fr,es,zh[/]

    The web is served on this machine; nothing leaves it.
    """
    folder = JobFolder(out)
    _check(langs)
    foreground = Foreground(Progress(folder))
    leave(foreground.run(lambda: _mine(folder, langs, foreground)))
    show(folder, advise=False)
    ledger = folder.reading()
    _compare(ledger, listed(langs))
    ledger.close()
    tell(folder)
    console.print(f"\nLook closer: bitrawl status {out}, bitrawl log {out}, {folder.report}", markup=False)


def _check(langs: str) -> None:
    known = dict.fromkeys(bundled.pages().values())
    unknown = [code for code in listed(langs) if code not in known]
    if unknown:
        raise ConfigError(f"--langs {langs}: the demo has no pages in {', '.join(unknown)}; it has {', '.join(known)}")


async def _mine(folder: JobFolder, langs: str, foreground: Foreground) -> Ending:
    progress = foreground.progress
    async with bundled.serve() as served:
        progress.note(f"{len(bundled.pages())} pages on {len(bundled.hosts())} hosts, served on port {served.port}")
        return await mine(
            _job(langs, served.port),
            folder,
            observe=progress.visited,
            started=foreground.started,
            watch=progress.mining,
            fresh=True,
        )


def _job(langs: str, port: int) -> Job:
    """Impatient, since nobody else uses this web."""
    return config.resolve(
        {
            "langs": listed(langs),
            "seeds": [str(url) for url in bundled.seeds()],
            "politeness": {"delay": 0.0},
            "scope": {"one_site": ONE_SITE},
            "fetch": {"connect_to": {"*.test": f"{bundled.LOOPBACK}:{port}"}, "allow_private": True},
        }
    )


def _compare(ledger: Ledger, langs: list[str]) -> None:
    """What was found against what is there."""
    found = {page.url: page.language for page in ledger.pages()}
    known = bundled.pages()
    wanted = {url for url, language in known.items() if language in langs}
    right = sum(found.get(url) == known[url] for url in wanted)
    console.print(
        f"\npages      {right} of {len(wanted)} in these languages found, with their language;"
        f" {sum(url not in wanted for url in found)} others visited",
        markup=False,
    )
    findings, repeats = Findings(ledger), bundled.duplicates()
    for lang_a, lang_b in combinations(langs, 2):
        true = {frozenset(p[:2]) for p in bundled.truth() if {p.lang_a, p.lang_b} == {lang_a, lang_b}}
        found_pairs = findings.pairs(Language(lang_a), Language(lang_b))
        # A pair of print versions is as good as the pair of what they repeat.
        pairs = {frozenset(repeats.get(url, url) for url in (p.url_a, p.url_b)) for p in found_pairs}
        console.print(
            f"{lang_a}-{lang_b}      {len(pairs & true)} of {len(true)} pairs found, {len(pairs - true)} wrong",
            markup=False,
        )
