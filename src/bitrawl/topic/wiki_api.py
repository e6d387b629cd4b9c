"""A wiki that is asked through its API: any MediaWiki from 1.31 on.

It is asked as its operators wish: one question at a time, and not while it is behind
(https://www.mediawiki.org/wiki/API:Etiquette). Who asks is the fetcher's User-Agent. Answers are kept in a folder: what was
answered once is not asked again.
"""

import hashlib
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from bitrawl import files
from bitrawl.errors import UrlError, WikiError
from bitrawl.files import NO_JSON
from bitrawl.model import Capture, Language, Link, LinkKind, Skip
from bitrawl.protocols import Clock, Fetcher
from bitrawl.reasons import NO_ANSWER, TRANSIENT, Reason
from bitrawl.topic.wiki_articles import (
    Article,
    Extent,
    Gathered,
    Member,
    edition_code,
    edition_language,
    empty_category,
    nearest,
    same_name,
    spellings,
    unknown_category,
    walked,
)
from bitrawl.url import MAX_LENGTH, Url


class AnswerCache:
    """One file for each answer, named by a digest of the question. A kill leaves only whole files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, url: Url) -> bytes | None:
        try:
            return self._path(url).read_bytes()
        except OSError:  # not there, or not readable: it is asked again
            return None

    def save(self, url: Url, body: bytes) -> None:
        """Write it to the disk; raises `StoreError`."""
        files.write(self._path(url), body)

    def _path(self, url: Url) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"


MAX_LAG = 5  # seconds that the wiki's replicas may be behind; the etiquette's own figure
ATTEMPTS = 6  # with the waits below, two and a half minutes
FIRST_WAIT = 5.0  # seconds, doubled for each further attempt; the etiquette's figure for maxlag
LONGEST_WAIT = 600.0  # whoever is told to wait longer had better come back
_BUSY = frozenset({"maxlag", "ratelimited", "readonly"})

_log = logging.getLogger(__name__)

Parameters = Mapping[str, str | int]


class LanguageLink(msgspec.Struct, frozen=True):
    lang: str
    title: str = ""
    url: str = ""


class ExternalLink(msgspec.Struct, frozen=True):
    url: str = ""


class CategoryInfo(msgspec.Struct, frozen=True):
    size: int = 0


class WikiPage(msgspec.Struct, frozen=True):
    """A page in an answer. A long list of its links comes in several answers."""

    title: str = ""
    pageid: int = 0
    ns: int = 0
    missing: bool = False
    redirect: bool = False
    langlinks: list[LanguageLink] = []
    extlinks: list[ExternalLink] = []
    pageprops: dict[str, object] = {}
    categoryinfo: CategoryInfo | None = None
    extract: str = ""


class Named(msgspec.Struct, frozen=True):
    title: str


class General(msgspec.Struct, frozen=True):
    lang: str = ""


class Query(msgspec.Struct, frozen=True):
    pages: list[WikiPage] = []
    prefixsearch: list[Named] = []
    search: list[Named] = []
    general: General = General()


class Complaint(msgspec.Struct, frozen=True):
    code: str = ""
    info: str = ""


class WikiAnswer(msgspec.Struct, frozen=True):
    query: Query = Query()
    error: Complaint | None = None
    more: dict[str, str | int] = msgspec.field(default={}, name="continue")


class WikiRefusedError(WikiError):
    """The wiki understood the question, and says that it does not answer such ones."""


class PrivateWikiError(WikiError):
    """The wiki has a private address, and may not be asked."""


class WikiClient:
    """Asks one wiki, and keeps what it answers.

    It asks without robots.txt: the file is for crawlers that follow links, and Wikipedia's own forbids /w/ to them all.
    An API is published to be asked by programs, under rules of its own, and these are kept here.
    """

    def __init__(self, endpoint: Url, fetcher: Fetcher, answers: AnswerCache, clock: Clock) -> None:
        self.endpoint = endpoint
        self._fetcher = fetcher
        self._answers = answers
        self._clock = clock
        self._has_answered = False  # in this run

    def sibling(self, endpoint: Url) -> "WikiClient":
        """A client for another edition."""
        return WikiClient(endpoint, self._fetcher, self._answers, self._clock)

    async def all(self, parameters: Parameters) -> AsyncIterator[Query]:
        """Every answer to a question that takes several."""
        more: Parameters = {}
        while True:
            answer = await self._answer({**parameters, **more})
            yield answer.query
            if not answer.more:
                return
            if answer.more == more:
                raise WikiError(f"{self.endpoint} keeps giving the same answer; try another wiki")
            more = answer.more

    async def ask(self, parameters: Parameters) -> Query:
        """The answer to a question that has only one part."""
        return (await self._answer(parameters)).query

    def length(self, parameters: Parameters) -> int:
        """How long the address is that asks this."""
        return len(self._address(parameters))

    def _address(self, parameters: Parameters) -> str:
        fixed = {"action": "query", "format": "json", "formatversion": 2, "maxlag": MAX_LAG}
        return f"{self.endpoint}?{urlencode({**fixed, **parameters}, quote_via=quote)}"

    async def _answer(self, parameters: Parameters) -> WikiAnswer:
        try:
            url = Url.parse(self._address(parameters))
        except UrlError as error:
            raise WikiError(f"{self.endpoint} cannot be asked: {error}") from error
        saved = self._answers.load(url)
        if saved is not None:
            try:
                return msgspec.json.decode(saved, type=WikiAnswer)
            except NO_JSON:
                _log.info("a kept answer of %s cannot be read; it is asked again", self.endpoint)
        body, answer = await self._ask_until_answered(url)
        self._answers.save(url, body)
        return answer

    async def _ask_until_answered(self, url: Url) -> tuple[bytes, WikiAnswer]:
        trouble = WikiError("")
        for attempt in range(ATTEMPTS):
            capture = await self._fetcher.fetch(Link(url, LinkKind.SEED))
            if isinstance(capture, Skip):
                if capture.reason is Reason.PRIVATE_ADDRESS:
                    raise PrivateWikiError(
                        f"{self.endpoint} is a private address", advice="; add --allow-private to ask it"
                    )
                # A wiki that has never answered is more probably a wrong address than a busy server.
                if capture.reason not in TRANSIENT or (capture.reason in NO_ANSWER and not self._has_answered):
                    raise self._no_answer(capture)
                trouble, asked_to_wait = self._no_answer(capture), capture.retry_after
            else:
                self._has_answered = True
                answer = self._decoded(capture)
                if answer.error is None:
                    return capture.body, answer
                if answer.error.code not in _BUSY and not answer.error.code.startswith("internal_api_error"):
                    raise WikiRefusedError(
                        f"{self.endpoint} refused the request: {answer.error.info or answer.error.code}"
                    )
                trouble, asked_to_wait = WikiError(answer.error.info or answer.error.code), _retry_after(capture)
            if asked_to_wait > LONGEST_WAIT:
                break
            if attempt + 1 < ATTEMPTS:
                wait = max(asked_to_wait, FIRST_WAIT * 2**attempt)
                _log.info("%s asks to wait (%s): %.0f s", self.endpoint.host, trouble, wait)
                await self._clock.sleep(wait)
        raise WikiError(
            f"{self.endpoint} is busy or does not answer: {trouble.without_advice}",
            advice=f"{trouble.advice}. What it answered so far is kept: run the same command later",
        )

    def _decoded(self, capture: Capture) -> WikiAnswer:
        if 300 <= capture.status < 400:
            target = capture.header("location")
            moved = f"{self.endpoint} has moved to {target.partition('?')[0]}"
            raise WikiError(moved, advice="; give that address to --wiki")
        try:
            return msgspec.json.decode(capture.body, type=WikiAnswer)
        except NO_JSON as error:
            raise WikiError(f"{self._not_an_api()}: {error}") from error

    def _no_answer(self, skip: Skip) -> WikiError:
        if skip.reason in (Reason.CONTENT_TYPE, Reason.HTTP_STATUS):
            return WikiError(f"{self._not_an_api()} (it answered {skip.status} {skip.detail})".rstrip())
        advice = ". Check --wiki and the network, or use a dump (--dump)" if skip.reason in NO_ANSWER else ""
        return WikiError(f"{self.endpoint} does not answer: {skip.detail or skip.reason}", advice=advice)

    def _not_an_api(self) -> str:
        return (
            f"{self.endpoint} is not the API of a MediaWiki; give the address of its api.php, which its page "
            "Special:Version names"
        )


def _retry_after(capture: Capture) -> float:
    seconds = capture.header("retry-after").strip()
    return float(seconds) if seconds.isdecimal() and seconds.isascii() and len(seconds) < 10 else 0.0


TITLES = 50  # a call; the API's own limit
LEADS = 20  # a call; the limit of TextExtracts
CATEGORY, ARTICLE = 14, 0  # namespaces
_HITS = 20  # of a search


class EditionCategory(NamedTuple):
    """A category, and the edition that it is in."""

    wiki: "ApiWiki"
    name: str


class ApiWiki:
    """One edition, through its API."""

    def __init__(self, client: WikiClient, language: Language) -> None:
        self.client = client
        self.language = language
        self._ids: dict[str, int] = {}  # of the articles met, by title
        self._editions: dict[Language, Url] = {}  # APIs of the editions that language links lead to

    @classmethod
    async def found(cls, client: WikiClient) -> "ApiWiki":
        """Asks the wiki for its language; raises `WikiError` if there is no wiki."""
        answer = await client.ask({"meta": "siteinfo", "siprop": "general"})
        return cls(client, edition_language(answer.general.lang or "en"))

    async def category(self, name: str) -> str:
        """By its spelling, by an article that redirects, by a search; in this order."""
        sizes = await self._sizes([name, *map(_titled, spellings(name))])
        sizes = sizes if any(sizes.values()) else {**sizes, **await self._sizes(await self._redirect_targets(name))}
        if any(sizes.values()):
            return max(sizes, key=lambda each: (sizes[each] > 0, same_name(each, name), sizes[each]))
        hits = await self._sizes(await self._hits(name))
        same = [each for each, size in hits.items() if size and same_name(each, name)]
        if same:
            return same[0]
        near = nearest(name, (each for each, size in hits.items() if size))
        where = self.client.endpoint.host
        raise empty_category(next(iter(sizes)), where, near) if sizes else unknown_category(name, where, near)

    async def _sizes(self, titles: Sequence[str]) -> dict[str, int]:
        """How many members each of these has that is a category: with a page of its own, or with members."""
        pages: list[WikiPage] = []
        for batch in self._batches(titles):
            pages += (await self.client.ask({"titles": batch, "prop": "categoryinfo"})).pages
        return {
            _bare(page.title): page.categoryinfo.size if page.categoryinfo else 0
            for page in pages
            if page.ns == CATEGORY and (page.categoryinfo or not page.missing)
        }

    async def _redirect_targets(self, name: str) -> list[str]:
        """Often the article of a name redirects to the one that the category is named after."""
        (batch, *_) = self._batches(spellings(name))
        answer = await self.client.ask({"titles": batch, "redirects": 1, "prop": "info"})
        return [_titled(page.title) for page in answer.pages if not page.missing and page.ns == ARTICLE]

    async def _hits(self, name: str) -> list[str]:
        words = name.split()
        prefixes = [" ".join(words[:count]) for count in range(len(words), 0, -1)]
        hits: list[Named] = []
        for prefix in prefixes:
            if not hits:
                scope: Parameters = {"psnamespace": CATEGORY, "pslimit": _HITS}
                hits += await self._searched({"list": "prefixsearch", "pssearch": prefix, **scope})
        scope = {"srnamespace": CATEGORY, "srlimit": _HITS, "srprop": ""}
        hits += await self._searched({"list": "search", "srsearch": name, **scope})
        return list(dict.fromkeys(hit.title for hit in hits))

    async def _searched(self, question: Parameters) -> list[Named]:
        """Nothing from a wiki that has switched its search off."""
        try:
            answer = await self.client.ask(question)
        except WikiRefusedError:
            return []
        return answer.prefixsearch + answer.search

    async def articles(self, category: str, extent: Extent) -> Gathered:
        """Reads one category after the other; its members, their translations and links come together."""

        async def members(names: Sequence[str]) -> AsyncIterator[tuple[str, Member]]:
            for name in names:
                for member in await self._members(name, extent.languages):
                    yield name, member

        return await walked(category, extent, members)

    async def _members(self, category: str, languages: Sequence[Language]) -> list[Member]:
        """A question for each language after the first: one cannot ask for some languages, only for one or all 300."""
        question = {
            "generator": "categorymembers",
            "gcmtitle": _titled(category),
            "gcmtype": "page|subcat",
            "gcmnamespace": f"{ARTICLE}|{CATEGORY}",
            "gcmlimit": "max",
        }
        first, *others = [_language_links(code) for code in map(edition_code, languages)] or [{}]
        properties = "extlinks|pageprops|info|langlinks" if first else "extlinks|pageprops|info"
        pages = await self._pages({**question, "prop": properties, **_WITH_LINKS, **first})
        for links in others:
            pages = _joined([*pages, *await self._pages({**question, "prop": "langlinks", **links})])
        self._ids |= {page.title: page.pageid for page in pages}
        return [self._member(page) for page in pages]

    async def _pages(self, question: Parameters) -> list[WikiPage]:
        pages: list[WikiPage] = []
        async for query in self.client.all(question):
            pages += query.pages
        return _joined(pages)

    def _member(self, page: WikiPage) -> Member:
        if page.ns == CATEGORY:
            return Member(subcategory=_bare(page.title))
        return Member(article=self._article(page))

    def _article(self, page: WikiPage) -> Article:
        translations: dict[Language, str] = {}
        for link in page.langlinks:
            language = edition_language(link.lang)
            translations.setdefault(language, link.title)
            self._remember_edition(language, link.url)
        return Article(
            title=page.title,
            translations=translations,
            links=tuple(link.url for link in page.extlinks),
            redirect=page.redirect,
            disambiguation="disambiguation" in page.pageprops,
        )

    def _remember_edition(self, language: Language, url: str) -> None:
        """Editions of one wiki have the same path to their API."""
        if language in self._editions or not url:
            return
        try:
            self._editions[language] = Url.parse(urlsplit(self.client.endpoint).path, base=Url.parse(url))
        except UrlError:
            return

    async def with_leads(self, articles: Sequence[Article]) -> list[Article]:
        """The articles with their leads, where the wiki has the extension TextExtracts."""
        leads: dict[str, str] = {}
        ids = [self._ids[article.title] for article in articles if article.title in self._ids]
        for start in range(0, len(ids), LEADS):
            batch = "|".join(map(str, ids[start : start + LEADS]))
            lead: Parameters = {"prop": "extracts", "exintro": 1, "explaintext": 1, "exlimit": LEADS}
            pages = await self._pages({"pageids": batch, **lead})
            leads |= {page.title: page.extract for page in pages}
            if not any(page.extract for page in pages):  # there is no such extension
                break
        return [msgspec.structs.replace(article, lead=leads.get(article.title, "")) for article in articles]

    async def edition(self, language: Language) -> "ApiWiki | None":
        """The edition that language links lead to; None if none has led there."""
        endpoint = self._editions.get(language)
        return ApiWiki(self.client.sibling(endpoint), language) if endpoint else None

    async def same_category(self, category: str, language: Language) -> EditionCategory | None:
        """The category that another edition has in its place."""
        question = {"titles": _titled(category), "prop": "langlinks", **_language_links(edition_code(language))}
        links = [link for page in (await self.client.ask(question)).pages for link in page.langlinks]
        if not links:
            return None
        self._remember_edition(language, links[0].url)
        wiki = await self.edition(language)
        return EditionCategory(wiki, _bare(links[0].title)) if wiki else None

    async def named(self, titles: Sequence[str]) -> list[Article]:
        """The articles of these titles that exist, with their links."""
        pages: list[WikiPage] = []
        for batch in self._batches(titles):
            pages += await self._pages({"titles": batch, "prop": "extlinks|pageprops|info", **_WITH_LINKS})
        return [self._article(page) for page in pages if not page.missing and page.pageid]

    def _batches(self, titles: Sequence[str]) -> Iterator[str]:
        """The titles, in groups of as many as a call and its address may have."""
        batch: list[str] = []
        for title in dict.fromkeys(" ".join(title.translate(_ILLEGAL).split()) for title in titles):
            longer = "|".join([*batch, title])
            # The other parameters and a continuation take at most 800 characters; measured on the questions above.
            if len(batch) == TITLES or (batch and self.client.length({"titles": longer}) > MAX_LENGTH - 800):
                yield "|".join(batch)
                batch = []
            batch.append(title)
        if batch:
            yield "|".join(batch)


_WITH_LINKS: Parameters = {"ellimit": "max", "elexpandurl": 1}
_ILLEGAL = str.maketrans(dict.fromkeys("|#<>[]{}\n\t", " "))


def _language_links(code: str) -> dict[str, str]:
    return {"lllang": code, "lllimit": "max", "llprop": "url"}


def _titled(name: str) -> str:
    """The namespace's English name is understood by every wiki."""
    return f"Category:{name}"


def _bare(title: str) -> str:
    return title.partition(":")[2] or title


def _joined(pages: Iterable[WikiPage]) -> list[WikiPage]:
    """One page for each that came in parts."""
    joined: dict[str, WikiPage] = {}
    for page in pages:
        before = joined.get(page.title)
        joined[page.title] = page if before is None else _both(before, page)
    return list(joined.values())


def _both(page: WikiPage, other: WikiPage) -> WikiPage:
    return msgspec.structs.replace(
        page,
        redirect=page.redirect or other.redirect,
        langlinks=page.langlinks + other.langlinks,
        extlinks=page.extlinks + other.extlinks,
        pageprops=page.pageprops | other.pageprops,
        extract=page.extract or other.extract,
    )
