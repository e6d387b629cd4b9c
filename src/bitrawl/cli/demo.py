"""`bitrawl demo`: the main job on a small multilingual web that the package carries."""

import asyncio
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer

from bitrawl import config
from bitrawl import demo as bundled
from bitrawl.assemble import Ending, mine
from bitrawl.cli.console import out as console
from bitrawl.cli.crawl import leave, watch
from bitrawl.cli.mine import tell
from bitrawl.cli.progress import Progress
from bitrawl.cli.status import show
from bitrawl.config import Job
from bitrawl.model import Language
from bitrawl.store.findings import Findings
from bitrawl.store.ledger import Ledger
from bitrawl.store.summary import summarise

ONE_SITE = [["harbour-museum.test", "musee-du-port.test"]]  # one publisher with two domains


def demo(
    *,
    out: Annotated[Path, typer.Option(help="The job's folder; emptied first.")] = Path("demo"),
    langs: Annotated[str, typer.Option(help="Languages.")] = "en,fr",
) -> None:
    """Mine the bundled web, served on this machine, and show what came of it.

    Example: [bold]bitrawl demo --out /tmp/demo --langs en,fr,es,zh[/]
    """
    leave(asyncio.run(_mine(out, langs)))
    ledger = Ledger(out / "job.sqlite", read_only=True)
    show(summarise(ledger), out)
    _compare(ledger, config.listed(langs))
    ledger.close()
    tell(out)
    console.print(f"\nLook closer: bitrawl status {out}, bitrawl log {out}, {out / 'report.html'}", markup=False)


async def _mine(folder: Path, langs: str) -> Ending:
    async with bundled.serve() as served:
        job = _job(langs, served.port)
        with Progress() as progress:
            progress.note(f"{len(bundled.pages())} pages on {len(bundled.hosts())} hosts, served on port {served.port}")
            return await watch(job, folder, partial(mine, fresh=True, doing=progress.mining), progress)


def _job(langs: str, port: int) -> Job:
    """Impatient, since nobody else uses this web."""
    return config.resolve(
        {
            "langs": config.listed(langs),
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
