"""Analysis of a page, side by side: milliseconds of CPU time, ours for all that a `Page` holds, theirs for main text.

The pages of the bench web and, where ../shared is, a sample of trafilatura's evaluation pages. Every tool reads the
same pages once, in turns of a few: what a second reading would find in a cache is not counted.
"""

import gzip
import importlib.util
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bitrawl.model import Capture
from bitrawl.page.analyser import page_reader
from bitrawl.url import Url
from lab.bench.web import LANGUAGES, Web

REAL = Path(__file__).parents[3] / "shared" / "data" / "boilerplate" / "trafilatura" / "html"
PAGES = 200  # of each kind
TURN = 10
OURS = "bitrawl"
Read = Callable[[bytes], object]


def ours() -> Read:
    analyser, url = page_reader(), Url.parse("http://www.bench.example/articles/one.html")
    headers = (("Content-Type", "text/html"),)
    return lambda body: analyser.read(Capture(url, 200, headers, body, 0.0, media_type="text/html"))


def peers() -> Iterator[tuple[str, Read]]:
    """Those that are here; says how to get those that are not."""
    if importlib.util.find_spec("trafilatura"):
        import trafilatura  # noqa: PLC0415 (a peer, where it is installed)

        yield "trafilatura", trafilatura.extract
        yield "trafilatura fast", lambda body: trafilatura.extract(body, fast=True)
    else:
        print("trafilatura is not here: pip install trafilatura")
    if importlib.util.find_spec("justext"):
        import justext  # noqa: PLC0415 (a peer, where it is installed)

        stops = justext.get_stoplist("English")
        yield "jusText", lambda body: justext.justext(body, stops)
    else:
        print("jusText is not here: pip install justext")


def bench_pages() -> list[bytes]:
    web = Web(PAGES * 10)
    return [web.page(language, number * 10) for number in range(PAGES // 2) for language in LANGUAGES]


def real_pages() -> list[bytes]:
    names = sorted(REAL.iterdir())
    return [gzip.decompress(name.read_bytes()) for name in random.Random(1).sample(names, PAGES)]


def measure(readers: dict[str, Read], pages: Sequence[bytes]) -> dict[str, list[float]]:
    """Milliseconds for each page."""
    took: dict[str, list[float]] = {name: [] for name in readers}
    for start in range(0, len(pages), TURN):
        for name, read in readers.items():
            for body in pages[start : start + TURN]:
                began = time.process_time()
                read(body)
                took[name].append(1000 * (time.process_time() - began))
    return took


def show(title: str, readers: dict[str, Read], pages: Sequence[bytes]) -> None:
    size = statistics.mean(map(len, pages)) / 1000
    print(f"{title}: {len(pages)} pages, {size:.0f} kB on average")
    print(f"{'':<18}{'ms a page':>10}{'median':>8}{'of ours':>9}")
    took = measure(readers, pages)
    for name, times in took.items():
        ratio = sum(times) / sum(took[OURS])
        print(f"{name:<18}{statistics.mean(times):>10.2f}{statistics.median(times):>8.2f}{ratio:>8.1f}x")


def main() -> None:
    print("analysis: one process, CPU time")
    readers = {OURS: ours(), **dict(peers())}
    for read in readers.values():
        read(Web(2).page("en", 0))  # what is loaded at the first page is no page's time
    show("bench web", readers, bench_pages())
    if REAL.exists():
        show("trafilatura's evaluation set", readers, real_pages())


if __name__ == "__main__":
    main()
