"""`bitrawl demo`: the main job on a small multilingual web that the package carries."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from bitrawl import config
from bitrawl.cli.console import print_out
from bitrawl.cli.flags import Quiet
from bitrawl.cli.status import tell
from bitrawl.config import listed
from bitrawl.endings import Ending
from bitrawl.errors import ConfigError

if TYPE_CHECKING:
    from bitrawl.cli.foreground import Foreground
    from bitrawl.job import OpenedJob


def demo(
    *,
    out: Annotated[
        Path, Option(help="Keep the job in this folder. An earlier demo there is deleted first.", metavar="DIR")
    ] = Path("demo"),
    langs: Annotated[str, Option(help="Languages: any of en, fr, es, zh.", metavar="CODES")] = "en,fr",
    resume: Annotated[bool, Option("--resume", help="Go on with the demo in that folder.")] = False,
    quiet: Quiet = False,
) -> None:
    """Mine a small web that comes with the package, and show the result.

    Example: [bold]bitrawl demo --out /tmp/demo --langs en,zh[/]

    The web is served on this machine; nothing leaves it.
    """
    from bitrawl import demo as bundled
    from bitrawl.cli.foreground import Foreground, leave
    from bitrawl.job import OpenedJob

    folder, codes = OpenedJob(out), listed(langs)
    languages = dict.fromkeys(bundled.pages().values())
    if unknown := [code for code in codes if code not in languages]:
        raise ConfigError(
            f"--langs {langs}: the demo has no pages in {', '.join(unknown)}; it has {', '.join(languages)}"
        )
    folder.files.check_writable(fresh=not resume)
    _check_own(folder)
    foreground = Foreground(folder, quiet=quiet, mines=True)
    ending = foreground.run(lambda: _mine(folder, None if resume else codes, foreground))
    leave(ending, quiet_in=folder if quiet else None)
    if quiet:
        return
    _compare(folder, folder.files.job().langs)
    tell(folder)


def _check_own(folder: OpenedJob) -> None:
    """Raise `ConfigError` if the folder holds a job that is no demo."""
    from bitrawl import demo as bundled

    if folder.files.description.exists() and set(folder.files.job().seeds) != set(map(str, bundled.seeds())):
        raise ConfigError(f"{folder.folder} holds another job, which the demo would delete; choose another --out")


async def _mine(folder: OpenedJob, langs: list[str] | None, foreground: Foreground) -> Ending:
    """A new job in these languages, or, with None, the one that is there: the port is another each time."""
    from bitrawl import demo as bundled
    from bitrawl.job import StartOver

    async with bundled.serve() as served:
        pages, hosts = len(bundled.pages()), len(bundled.hosts())
        foreground.progress.note(f"{pages} pages on {hosts} hosts, served on port {served.port}")
        if langs is None:
            return await foreground.mine(folder.files.changed(bundled.route(served.port)))
        job = config.resolve(bundled.described(langs, served.port))
        return await foreground.mine(job, fresh=StartOver.DELETE_ARCHIVE)


def _compare(job: OpenedJob, langs: list[str]) -> None:
    """What was found against what is there."""
    from bitrawl import demo as bundled

    visited = {page.url: page.language for page in job.pages()}
    pages = bundled.pages()
    wanted = {url for url, language in pages.items() if language in langs}
    right = sum(visited.get(url) == pages[url] for url in wanted)
    print_out(
        f"pages      {right} of {len(wanted)} in these languages found, with their language;"
        f" {sum(url not in wanted for url in visited)} others visited"
    )
    found, repeats = list(job.pairs()), bundled.duplicates()
    for lang_a, lang_b in combinations(langs, 2):
        true = {frozenset(p[:2]) for p in bundled.truth() if {p.lang_a, p.lang_b} == {lang_a, lang_b}}
        # A pair of print versions is as good as the pair of what they repeat.
        pairs = {
            frozenset(repeats.get(url, url) for url in (p.url_a, p.url_b))
            for p in found
            if {p.lang_a, p.lang_b} == {lang_a, lang_b} and not p.partial
        }
        print_out(f"{lang_a}-{lang_b}      {len(pairs & true)} of {len(true)} pairs found, {len(pairs - true)} wrong")
