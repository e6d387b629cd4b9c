"""Pages with their template told from their content: those of a job, and those of files, folders and URLs."""

from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import msgspec

from bitrawl.archive.archived_web import Archives
from bitrawl.archive.writing import archive_files
from bitrawl.bodies import HTML, JSON, TEXT, XML, media_type
from bitrawl.crawling import visit
from bitrawl.errors import ConfigError
from bitrawl.folder_files import warc_files
from bitrawl.job.exporting import content_pages
from bitrawl.job.fetching import POLITE, FetchPolicy, loose_analyser, loose_web
from bitrawl.model import Capture, DocumentType, Language, Link, LinkKind, Page, Sitemap, Skip
from bitrawl.protocols import Analyser, Fetcher
from bitrawl.reasons import Reason, Stage
from bitrawl.store.folder import JobFolder
from bitrawl.text.template import TemplateCounter, relabel
from bitrawl.url import Url

SUFFIXES = frozenset((".html", ".htm", ".xhtml", *(f".{ending}" for kind in DocumentType for ending in kind.endings)))
READABLE = frozenset((XML, JSON, *(name for kind in DocumentType for name in kind.media_types)))
"""What a file may hold to be read as a page. Anything else would be noise on a terminal."""
_AS_HTML = frozenset((HTML, TEXT, XML, JSON))


class Cleaner:
    """Files, folders and URLs in, pages out; what cannot be read is a `Skip`, a name that is none a `ConfigError`."""

    def __init__(self, analyser: Analyser, fetcher: Fetcher) -> None:
        self._analyser = analyser
        self._fetcher = fetcher

    async def clean(self, source: str, stdin: BinaryIO) -> AsyncIterator[tuple[str, Page | Skip]]:
        """The pages of one source, each with its name; "-" is standard input."""
        if Path(source).is_dir():
            async for named in self._folder(Path(source)):
                yield named
        elif "://" in source:
            url = Url.parse(source)  # without a password, should there be one
            yield url, await self._fetched(Link(url, LinkKind.SEED))
        else:
            yield source, await self._file(stdin.read() if source == "-" else _content(Path(source)), source)

    async def _folder(self, folder: Path) -> AsyncIterator[tuple[str, Page | Skip]]:
        """Its files are one site, and read twice: what recurs is known only after the first time."""
        files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
        if not files:
            raise ConfigError(f"{folder} holds no pages: none of its files ends with {', '.join(sorted(SUFFIXES))}")
        counter = TemplateCounter()
        for path in files:
            page = await self._file(_content(path), str(path))
            if isinstance(page, Page):
                counter.add(page)
        template = counter.template()
        for path in files:
            page = await self._file(_content(path), str(path))
            yield str(path), relabel(page, template) if isinstance(page, Page) else page

    async def _file(self, body: bytes, name: str) -> Page | Skip:
        url = Url.parse(f"http://localhost/{quote(name)}")
        kind = media_type(body, HTML) if body else HTML
        if kind not in READABLE:
            return Skip(url, Stage.ANALYSE, Reason.CONTENT_TYPE, f"{kind} is not a page")
        kind = HTML if kind in _AS_HTML else kind
        outcome = await self._analyser.analyse(Capture(url, 200, (), body, at=0.0, media_type=kind))
        return Skip(url, Stage.ANALYSE, Reason.SITEMAP) if isinstance(outcome, Sitemap) else outcome

    async def _fetched(self, link: Link) -> Page | Skip:
        outcome = (await visit(link, self._fetcher, self._analyser)).outcome
        if isinstance(outcome, Skip) and (target := outcome.target) is not None:
            return await self._fetched(Link(target, LinkKind.REDIRECT, redirects=link.redirects + 1))
        return Skip(link.url, Stage.ANALYSE, Reason.SITEMAP) if isinstance(outcome, Sitemap) else outcome


async def loose_pages(
    sources: Sequence[str],
    stdin: BinaryIO,
    *,
    policy: FetchPolicy = POLITE,
    asked: Sequence[Language] = (),
    markdown: bool = False,
) -> AsyncIterator[tuple[str, Page | Skip]]:
    """Pages from files, folders, job folders, URLs and standard input, each with its name; with `markdown`, also as that.

    `asked` are the languages that the pages are wanted in, if that is known: they are identified as in a crawl for them.
    """
    live, polite = loose_web(policy)
    async with live, loose_analyser(asked, markdown=markdown) as analyser:
        cleaner = Cleaner(analyser, polite(live))
        for source in sources:
            folder = JobFolder(Path(source))
            if folder.ledger.exists():
                async for page in _with_markdown(folder, analyser) if markdown else _each(job_pages(folder)):
                    yield page.url, page
                continue
            async for named in cleaner.clean(source, stdin):
                yield named


def job_pages(folder: JobFolder) -> Iterator[Page]:
    """What a job has found, site by site, with each site's template told from its content."""
    with folder.reading() as ledger:
        yield from content_pages(ledger)


async def _each(pages: Iterator[Page]) -> AsyncIterator[Page]:
    for page in pages:
        yield page


async def _with_markdown(folder: JobFolder, analyser: Analyser) -> AsyncIterator[Page]:
    """The ledger has no markup, so the archive is read again. A page that is not there, or has changed, stays as it is."""
    job = folder.job()
    own = archive_files(folder.archive) if (folder.archive).is_dir() else []
    with Archives(own or warc_files(map(Path, (*job.warc, *job.replay)))) as archives:
        for page in job_pages(folder):
            answer = archives.answer(page.url)
            read = await analyser.analyse(answer) if isinstance(answer, Capture) else answer
            if isinstance(read, Page) and _texts(read) == _texts(page):
                page = msgspec.structs.replace(page, markdown=read.markdown)  # noqa: PLW2901
            yield page


def _texts(page: Page) -> list[str]:
    return [paragraph.text for paragraph in page.paragraphs]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}; give a file, a folder or a URL with https://"
        raise ConfigError(message) from error
