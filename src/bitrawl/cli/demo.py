"""`bitrawl demo`: the main job on a small multilingual web that the package carries."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bitrawl import config
from bitrawl import demo as bundled
from bitrawl.assemble import Ending, start_over
from bitrawl.cli.console import out as console
from bitrawl.cli.crawl import watch
from bitrawl.cli.inspect import show
from bitrawl.cli.progress import Progress
from bitrawl.config import Job
from bitrawl.store.ledger import Ledger
from bitrawl.store.summary import summarise


def demo(
    *,
    out: Annotated[Path, typer.Option(help="The job's folder; emptied first.")] = Path("demo"),
    langs: Annotated[str, typer.Option(help="Languages.")] = "en,fr,es,zh",
) -> None:
    """Crawl the bundled web, served on this machine, and show what came of it.

    Example: [bold]bitrawl demo --out /tmp/demo[/]
    """
    start_over(out)
    if asyncio.run(_crawl(out, langs)) is not Ending.DONE:
        raise typer.Exit(130)
    ledger = Ledger(out / "job.sqlite", read_only=True)
    show(summarise(ledger), out)
    _compare(ledger)
    ledger.close()
    console.print(f"\nLook closer: bitrawl status {out}, bitrawl log {out}", markup=False)


async def _crawl(folder: Path, langs: str) -> Ending:
    async with bundled.serve() as served:
        job = _job(langs, served.port)
        config.write(job, folder / "job.toml")
        with Progress() as progress:
            progress.note(f"{len(bundled.pages())} pages on {len(bundled.hosts())} hosts, served on port {served.port}")
            return await watch(job, folder, progress)


def _job(langs: str, port: int) -> Job:
    """Impatient, since nobody else uses this web."""
    return config.resolve(
        {
            "langs": langs.split(","),
            "seeds": [str(url) for url in bundled.seeds()],
            "politeness": {"delay": 0.0},
            "fetch": {"connect_to": {"*.test": f"{bundled.LOOPBACK}:{port}"}, "allow_private": True},
        }
    )


def _compare(ledger: Ledger) -> None:
    """What was found against what is there."""
    found = {page.url: page.language for page in ledger.pages()}
    known = bundled.pages()
    right = sum(found.get(url) == language for url, language in known.items())
    pairs = bundled.truth()
    whole = sum(pair.url_a in found and pair.url_b in found for pair in pairs)
    console.print(
        f"\nOf {len(known)} pages {sum(url in found for url in known)} were found, {right} with their language; "
        f"of {len(pairs)} pairs of translations {whole} are here with both sides.",
        markup=False,
    )
