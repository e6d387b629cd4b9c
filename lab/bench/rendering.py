"""What a browser brings, and what it costs: python -m lab.bench rendering

A site of ten articles in English and French for each kind of page in `scripted_web`, mined without a browser, with
`--render auto` and with `--render always`. Found are the true pages whose text was read in the right language, and the true
pairs. The CPU is that of all processes of the job, from /proc. Then eight tabs at once, and their memory.

With CRAWLEE_PYTHON=/path/to/python of an environment that has crawlee, its adaptive crawler visits the same sites.
It needs node, npm and its registry once (the apps are kept in the temporary folder), and a Chromium.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from bitrawl.crawling import FetchSettings, HttpFetcher, Render, RenderSection
from bitrawl.crawling.browser import PROGRAMS, ChromiumRenderer
from bitrawl.crawling.resources import Resources
from bitrawl.job.fetching import SystemClock
from bitrawl.model import DrawnBy, Link, LinkKind, Skip
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import summarise
from bitrawl.url import Url
from lab.bench.scripted_web import KINDS, Kind, ScriptedWeb, build, served

BUILD = Path(tempfile.gettempdir()) / "bitrawl-rendering"
TABS = 8
SOME_TEXT = 200  # letters that a page must have for crawlee to have read it
LIMIT = 1500  # seconds of one job


class Found(NamedTuple):
    """Of one kind, in one job."""

    pages: int
    pairs: int
    wrong: int  # pairs that are none
    rendered: int
    read: int  # pages of the job, true or not


class Cost(NamedTuple):
    seconds: float  # of CPU, of all processes
    requests: int
    rendered: int
    found: dict[str, Found]


class Processes:
    """The CPU and the memory of a process and all below it, looked at now and then."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._cpu: dict[int, float] = {}
        self.peak = 0.0  # megabytes, shared pages counted once
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def seconds(self) -> float:
        return sum(self._cpu.values())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.2):
            self.look(only=lambda _name: True)

    def look(self, only: Callable[[str], bool]) -> None:
        parents: dict[int, tuple[int, float, str]] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    name, _, rest = (entry / "stat").read_text().rpartition(") ")
                except OSError:
                    continue
                fields = rest.split()
                ticks = int(fields[11]) + int(fields[12])
                parents[int(entry.name)] = (int(fields[1]), ticks / os.sysconf("SC_CLK_TCK"), name.partition("(")[2])
        memory = 0.0
        for process, (_, seconds, name) in parents.items():
            if self._is_below(process, parents):
                self._cpu[process] = seconds
                memory += _proportional(process) if only(name) else 0.0
        self.peak = max(self.peak, memory)

    def _is_below(self, process: int, parents: dict[int, tuple[int, float, str]]) -> bool:
        while process in parents and process != self._root:
            process = parents[process][0]
        return process == self._root


def _proportional(process: int) -> float:
    """Megabytes of it, a page that several processes share counted in parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000


def mined(web: ScriptedWeb, port: int, mode: Render, folder: Path, kinds: tuple[Kind, ...]) -> Cost:
    out = folder / f"{mode}-{'-'.join(kind.name for kind in kinds)[:40]}"
    shutil.rmtree(out, ignore_errors=True)
    seeds = [web.seed(kind) for kind in kinds]
    reach = ("--allow-private", "--connect-to", f"*.test=127.0.0.1:{port}", "--delay", "0", "--exhaustive")
    command = ("mine", *seeds, "--langs", "en,fr", "--out", str(out), "--quiet", "--render", str(mode), *reach)
    with subprocess.Popen([sys.executable, "-m", "bitrawl", *command]) as job, Processes(job.pid) as processes:
        job.wait(LIMIT)
    return _measured(web, JobFolder(out), processes.seconds, kinds)


def _measured(web: ScriptedWeb, folder: JobFolder, seconds: float, kinds: tuple[Kind, ...]) -> Cost:
    file = folder.corpus / "en-fr.documents.jsonl"
    documents = [json.loads(line) for line in (file.read_text().splitlines() if file.exists() else ())]
    with Ledger(folder.ledger) as ledger:
        pages = {page.url: page for page in ledger.pages()}
        summary = summarise(ledger)
    found = {}
    for kind in kinds:
        truth = web.truth(kind)
        pairs = {(Url.known(one["url_a"]), Url.known(one["url_b"])) for one in documents if kind.host in one["url_a"]}
        here = [page for page in pages.values() if page.url.host == kind.host]
        read = [
            url for pair in truth for url, code in zip(pair, ("en", "fr"), strict=True)
            if url in pages and pages[url].language == code
        ]  # fmt: skip
        drawn = sum(page.drawn_by is DrawnBy.BROWSER for page in here)
        found[kind.name] = Found(len(read), len(pairs & set(truth)), len(pairs - set(truth)), drawn, len(here))
    return Cost(seconds, summary.requests, summary.rendered, found)


def show(web: ScriptedWeb, costs: dict[Render, Cost]) -> None:
    total = len(web.truth(KINDS[0]))
    print(
        f"Pages found of {2 * total}, pairs of {total} (and wrong ones), without a browser, auto and always; rendered by auto"
    )
    for kind in KINDS:
        columns = [cost.found[kind.name] for cost in costs.values()]
        cells = "   ".join(f"{one.pages:>3} {one.pairs:>3} ({one.wrong})" for one in columns)
        auto = costs[Render.AUTO].found[kind.name]
        print(f"  {kind.name:<9} {cells}   {auto.rendered:>3} of {auto.read:<3} {kind.about}")
    never, auto, always = (costs[mode] for mode in Render)
    for name, cost in (("never", never), ("auto", auto), ("always", always)):
        sums = [sum(one[column] for one in cost.found.values()) for column in range(5)]
        drawn = f"{cost.rendered} of {sums[4]} pages rendered ({cost.rendered / max(1, sums[4]):.0%})"
        print(f"  {name:<7} {sums[0]} pages, {sums[1]} pairs, {sums[2]} wrong; {drawn}; {cost.seconds:.0f} CPU s")
    for name, cost in (("auto", auto), ("always", always)):
        each = (cost.seconds - never.seconds) / max(1, cost.rendered)
        print(f"  {name}: {each:.2f} CPU s more than without a browser, for each page that was rendered")


async def eight_tabs(web: ScriptedWeb, port: int) -> None:
    """All tabs at work, each on a page of its own host."""
    drawn = [kind for kind in KINDS if kind.needs_browser][:TABS]
    settings = FetchSettings(connect_to={"*.test": f"127.0.0.1:{port}"}, allow_private=True)
    clock = SystemClock()

    async def allowed(_url: Url) -> Skip | None:
        return None

    pages, kept = (
        HttpFetcher(settings, clock),
        HttpFetcher(Resources.fetching(msgspec.structs.replace(settings, per_host=6), TABS), clock),
    )
    async with pages, kept:
        resources = Resources(kept, allowed, lambda host: host)
        async with ChromiumRenderer(
            RenderSection(tabs=TABS), msgspec.structs.replace(settings, per_host=TABS), resources, clock
        ) as renderer:
            await renderer.start()
            with Processes(os.getpid()) as processes:
                for tabs in (1, TABS):
                    captures = [await pages.fetch(Link(Url.parse(web.seed(kind)), LinkKind.SEED)) for kind in drawn]
                    processes.peak = 0.0
                    began = time.perf_counter()
                    for start in range(0, len(captures), tabs):
                        await asyncio.gather(
                            *(
                                renderer.render(one)
                                for one in captures[start : start + tabs]
                                if not isinstance(one, Skip)
                            )
                        )
                    each = (time.perf_counter() - began) / len(captures)
                    print(
                        f"  {tabs} at once: at most {processes.peak:.0f} MB with the browser, its driver and this process; {each:.1f} s a page"
                    )


def anchor(web: ScriptedWeb, port: int, python: str) -> None:
    """crawlee's adaptive crawler on the same sites."""
    chromium = next(filter(None, map(shutil.which, PROGRAMS)), "")
    script = Path(__file__).with_name("crawlee_crawl.py")
    command = [python, str(script), f"http://127.0.0.1:{port}", chromium, *(web.seed(kind) for kind in KINDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as crawl, Processes(crawl.pid) as processes:
        told = json.loads(crawl.communicate(timeout=LIMIT)[0].splitlines()[-1])
    read = {Url.parse(url) for url, letters in told["pages"].items() if letters > SOME_TEXT}
    found = {kind.name: len(read & {url for pair in web.truth(kind) for url in pair}) for kind in KINDS}
    print(
        f"crawlee: {sum(found.values())} pages; {told['browser']} of {told['browser'] + told['http']} visits rendered;"
        f" {processes.seconds:.0f} CPU s; by kind {found}"
    )


def main() -> None:
    if shutil.which("npm") is None or not any(map(shutil.which, PROGRAMS)):
        print("rendering needs npm and a Chromium")
        return
    build(BUILD)
    web = ScriptedWeb(BUILD)
    with served(web) as port, tempfile.TemporaryDirectory() as folder:
        costs = {mode: mined(web, port, mode, Path(folder), KINDS) for mode in Render}
        show(web, costs)
        if python := os.environ.get("CRAWLEE_PYTHON"):
            anchor(web, port, python)
        print(f"Memory of {TABS} pages:")
        asyncio.run(eight_tabs(web, port))


if __name__ == "__main__":
    main()
