r"""bitrawl trawls the web for bitext: a focused crawler for parallel and domain corpora.

    import bitrawl

    result = bitrawl.mine("https://www.example.org/", langs="en,fr", out="jobs/example", max_pages=200)
    for unit in result.open().units():
        print(unit.score, unit.text_a, unit.text_b, sep="\t")

The public interface is the functions here. `bitrawl.aio` has `mine` and `crawl` for code that runs in an event loop.
Everything else may change.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from bitrawl.errors import BitrawlError, ConfigError
from bitrawl.version import __version__ as __version__

if TYPE_CHECKING:
    from bitrawl.aio import JobProgress, JobResult
    from bitrawl.cluster.run import MinedRun
    from bitrawl.corpus import CorpusPage, CorpusUnit, TermPair
    from bitrawl.job import MergeResult, OpenedCopy, OpenedJob, OpenedMerge
    from bitrawl.mining import TextPair
    from bitrawl.model import Page

Text = str | Iterable[str]
Folder = str | PathLike[str]
Codes = str | Sequence[str]

# fmt: off
__all__ = [
    "BitrawlError", "ConfigError", "align", "crawl", "extract", "merge", "mine", "open", "sample", "terms",
]
# fmt: on


def mine(
    seeds: Text = (),
    *,
    langs: Codes,
    out: Folder,
    fresh: bool = False,
    refresh: bool = False,
    progress: "bool | Callable[[JobProgress], None]" = False,
    **settings: Any,
) -> "JobResult":
    """Crawl sites and write a corpus of their translations, like `bitrawl mine`.

    The same call resumes the job; `fresh` starts over, `refresh` visits a finished job again. `progress` shows a display
    (True), or is called at each step.
    Settings are the long flags of the command, with underscores: `max_pages=200`, `delay=0`, `replay=["site.warc.gz"]`.
    Raises `ConfigError` before anything is fetched or written if a setting is wrong.
    """
    from bitrawl import aio  # noqa: PLC0415 - `import bitrawl` takes a few milliseconds

    return aio.run(aio.mine(seeds, langs=langs, out=out, fresh=fresh, refresh=refresh, progress=progress, **settings))


def crawl(
    seeds: Text = (),
    *,
    langs: Codes,
    out: Folder,
    fresh: bool = False,
    refresh: bool = False,
    progress: "bool | Callable[[JobProgress], None]" = False,
    **settings: Any,
) -> "JobResult":
    """Visit sites and keep their pages, like `bitrawl crawl`. The arguments are those of `mine`."""
    from bitrawl import aio  # noqa: PLC0415

    return aio.run(aio.crawl(seeds, langs=langs, out=out, fresh=fresh, refresh=refresh, progress=progress, **settings))


def open(folder: Folder) -> "OpenedJob | OpenedMerge | OpenedCopy | MinedRun":  # noqa: A001 - like gzip.open
    """Open a job folder, even while the job runs, or another folder with a corpus: its units are the corpus.

    Raises `StoreError` if there is neither.
    """
    from bitrawl import arguments  # noqa: PLC0415
    from bitrawl.cluster.places import open_address  # noqa: PLC0415

    opened = open_address(str(arguments.folder_path("folder", folder)))
    opened.verify()
    return opened


def merge(folders: Folder | Iterable[Folder], *, out: Folder, langs: Codes = (), **settings: Any) -> "MergeResult":
    """Merge the corpora of several jobs into one, each text once, like `bitrawl merge`.

    Settings are its flags: `formats="jsonl,tmx"`, `compress=True`, `min_score=0.6`. With `langs="en,fr"`, only the
    corpus of these languages is merged.
    """
    from bitrawl import arguments  # noqa: PLC0415
    from bitrawl.cluster.run import merge_folders  # noqa: PLC0415
    from bitrawl.config import Group, described  # noqa: PLC0415
    from bitrawl.job import MergeResult  # noqa: PLC0415

    jobs = arguments.texts("folders", folders, "the folders of jobs, as in ['jobs/one', 'jobs/two']")
    if not jobs:
        raise arguments.wrong("folders", folders, "at least one folder of a job")
    target, languages = arguments.folder_path("out", out), arguments.pair_or_none("langs", langs)
    tables = described(settings, [Group.CORPUS])
    return MergeResult(target, merge_folders(jobs, target, tables, langs=languages, tell=lambda _: None))


def sample(folder: Folder, size: int = 50, *, seed: int = 0, langs: Codes = ()) -> "list[CorpusUnit | CorpusPage]":
    """Some entries of a corpus to read, like `bitrawl sample`: `open(folder).sample(size)`."""
    return open(folder).sample(size, seed=seed, langs=langs)


def terms(folder: Folder, langs: Codes = (), **limits: Any) -> "list[TermPair]":
    """The terms of a corpus with their translations, like `bitrawl terms`: `open(folder).terms(langs)`.

    `most=100` and `min_score=0.7` limit them.
    """
    return open(folder).terms(langs, **limits)


def extract(html: str | bytes, url: str | None = None) -> "Page":
    """Read a page that you have: its paragraphs, links and metadata.

    Each paragraph has its kind, its language and whether it is main text. Relative links are resolved against the URL.
    The page is read in this process. If you do not trust it, use `bitrawl clean`, which reads it in a child process
    with limits.
    """
    from bitrawl import arguments  # noqa: PLC0415
    from bitrawl.page import read_html  # noqa: PLC0415
    from bitrawl.url import Url  # noqa: PLC0415

    if not isinstance(html, str | bytes):
        raise arguments.wrong("html", html, "a page as a text or as bytes")
    return read_html(html) if url is None else read_html(html, Url.parse(arguments.text("url", url, "a URL")))


def align(text_a: Text, text_b: Text, langs: Codes, *, dictionary: str | PathLike[str] = "") -> "list[TextPair]":
    """Align the sentences of two texts. You need no dictionary and no model.

    A text is split into sentences; a list has one sentence in each item. The score of a pair is that of a corpus; a
    sentence without a counterpart has None. A `dictionary` is a file of word pairs, as of `bitrawl align --dictionary`.
    """
    from bitrawl import arguments  # noqa: PLC0415
    from bitrawl.mining import align_sentences, listed_sentences, text_sentences  # noqa: PLC0415
    from bitrawl.text.known_words import Dictionary  # noqa: PLC0415

    languages, takes = arguments.two_languages("langs", langs), "a text, or a list of sentences"
    a, b = (
        text_sentences(text, language)
        if isinstance(text, str)
        else listed_sentences(arguments.texts(name, text, takes), language)
        for name, text, language in zip(("text_a", "text_b"), (text_a, text_b), languages, strict=True)
    )
    path = fspath(dictionary) if isinstance(dictionary, PathLike) else dictionary
    words = Dictionary.of(arguments.text("dictionary", path, "the path of a file"), languages)
    return [pair for _bead, pair in align_sentences([(a, b)], languages, dictionary=words)[0]]


def __getattr__(name: str) -> Any:
    """Load `bitrawl.aio` on first use, because it loads the whole package."""
    if name == "aio":
        return import_module("bitrawl.aio")
    raise AttributeError(f"module 'bitrawl' has no attribute {name!r}")
