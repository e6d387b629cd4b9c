r"""bitrawl trawls the web for bitext: a focused crawler for parallel and domain corpora.

    import bitrawl

    result = bitrawl.mine("https://www.example.org/", langs=("en", "fr"), out="jobs/example", max_pages=200)
    for segment in result.open().segments(min_score=0.9):
        print(segment.a.text, segment.b.text, sep="\t")

The public interface is five functions: `mine`, `crawl`, `open`, `extract` and `align`. `bitrawl.aio` has `mine` and
`crawl` for code that runs in an event loop. Everything else may change.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from bitrawl.errors import BitrawlError, ConfigError
from bitrawl.version import __version__ as __version__

if TYPE_CHECKING:
    from bitrawl.aio import JobProgress, JobResult
    from bitrawl.job.opened import OpenedJob
    from bitrawl.mine.aligned_pages import TextPair
    from bitrawl.model import Page

__all__ = ["BitrawlError", "ConfigError", "align", "crawl", "extract", "mine", "open"]

# Load the subpackages that share a name with a public function first, so that the names end up as the functions.
for _room in ("crawl", "mine"):
    import_module(f"bitrawl.{_room}")


def mine(
    seeds: str | Iterable[str] = (),
    *,
    langs: str | Sequence[str],
    out: str | PathLike[str],
    fresh: bool = False,
    progress: "bool | Callable[[JobProgress], None]" = False,
    **settings: Any,
) -> "JobResult":
    """Crawl sites and write a corpus of their translations, like `bitrawl mine`.

    The same call resumes the job; `fresh` starts over. `progress` shows a display (True), or is called at each step.
    Settings are the long flags of the command, with underscores: `max_pages=200`, `delay=0`, `replay=["site.warc.gz"]`.
    Raises `ConfigError` before anything is fetched or written if a setting is wrong.
    """
    from bitrawl import aio  # noqa: PLC0415 - `import bitrawl` takes a few milliseconds

    return aio.run(aio.mine(seeds, langs=langs, out=out, fresh=fresh, progress=progress, **settings))


def crawl(
    seeds: str | Iterable[str] = (),
    *,
    langs: str | Sequence[str],
    out: str | PathLike[str],
    fresh: bool = False,
    progress: "bool | Callable[[JobProgress], None]" = False,
    **settings: Any,
) -> "JobResult":
    """Visit sites and keep their pages, like `bitrawl crawl`. The arguments are those of `mine`."""
    from bitrawl import aio  # noqa: PLC0415

    return aio.run(aio.crawl(seeds, langs=langs, out=out, fresh=fresh, progress=progress, **settings))


def open(folder: str | PathLike[str]) -> "OpenedJob":  # noqa: A001 - bitrawl.open, like gzip.open
    """Open a job folder to read what the job has found, even while it runs. Raises `StoreError` if there is no job."""
    from bitrawl.job.opened import OpenedJob  # noqa: PLC0415

    return OpenedJob(folder)


def extract(html: str | bytes, url: str | None = None) -> "Page":
    """Read a page that you have: its paragraphs, links and metadata.

    Each paragraph has its kind, its language and whether it is main text. Relative links are resolved against the URL.
    The page is read in this process. If you do not trust it, use `bitrawl clean`, which reads it in a child process
    with limits.
    """
    from bitrawl.page.analyser import read_html  # noqa: PLC0415
    from bitrawl.url import Url  # noqa: PLC0415

    return read_html(html) if url is None else read_html(html, Url.parse(url))


def align(text_a: str, text_b: str, langs: Sequence[str]) -> "list[TextPair]":
    """Split two texts into sentences and align them, without a dictionary or a model."""
    from bitrawl.languages import parse_language  # noqa: PLC0415
    from bitrawl.mine.aligned_pages import align_texts  # noqa: PLC0415

    if len(langs) != 2:
        raise ConfigError(f"align needs two languages, for example ('en', 'fr'); {langs!r} has {len(langs)}")
    return align_texts(text_a, text_b, (parse_language(langs[0]), parse_language(langs[1])))


def __getattr__(name: str) -> Any:
    """Load `bitrawl.aio` on first use, because it loads the whole package."""
    if name == "aio":
        return import_module("bitrawl.aio")
    raise AttributeError(f"module 'bitrawl' has no attribute {name!r}")
