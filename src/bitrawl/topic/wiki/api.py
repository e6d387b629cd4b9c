"""A wiki that is asked through its API: any MediaWiki from 1.31 on."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from bitrawl.errors import UrlError
from bitrawl.model import Language
from bitrawl.topic.wiki.articles import Article, Extent, Gathered
from bitrawl.topic.wiki.category_names import empty_category, nearest, same_name, spellings, unknown_category
from bitrawl.topic.wiki.client import Named, Page, Parameters, RefusedError, WikiClient
from bitrawl.topic.wiki.codes import edition_code, edition_language
from bitrawl.topic.wiki.walking import Member, walked
from bitrawl.url import MAX_LENGTH, Url

TITLES = 50  # a call; the API's own limit
LEADS = 20  # a call; the limit of TextExtracts
CATEGORY, ARTICLE = 14, 0  # namespaces
_HITS = 20  # of a search; judgement


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
        pages: list[Page] = []
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
                asked: Parameters = {
                    "list": "prefixsearch",
                    "pssearch": prefix,
                    "psnamespace": CATEGORY,
                    "pslimit": _HITS,
                }
                hits += await self._searched(asked)
        asked = {"list": "search", "srsearch": name, "srnamespace": CATEGORY, "srlimit": _HITS, "srprop": ""}
        hits += await self._searched(asked)
        return list(dict.fromkeys(hit.title for hit in hits))

    async def _searched(self, asked: Parameters) -> list[Named]:
        """Nothing from a wiki that has switched its search off."""
        try:
            answer = await self.client.ask(asked)
        except RefusedError:
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
        asked = {
            "generator": "categorymembers",
            "gcmtitle": _titled(category),
            "gcmtype": "page|subcat",
            "gcmnamespace": f"{ARTICLE}|{CATEGORY}",
            "gcmlimit": "max",
        }
        first, *others = [_language_links(code) for code in map(edition_code, languages)] or [{}]
        prop: Parameters = {
            "prop": "extlinks|pageprops|info|langlinks" if first else "extlinks|pageprops|info",
            **_WITH_LINKS,
        }
        pages = await self._pages({**asked, **prop, **first})
        for links in others:
            pages = _joined([*pages, *await self._pages({**asked, "prop": "langlinks", **links})])
        self._ids |= {page.title: page.pageid for page in pages}
        return [self._member(page) for page in pages]

    async def _pages(self, asked: Parameters) -> list[Page]:
        found: list[Page] = []
        async for query in self.client.all(asked):
            found += query.pages
        return _joined(found)

    def _member(self, page: Page) -> Member:
        if page.ns == CATEGORY:
            return Member(subcategory=_bare(page.title))
        return Member(article=self._article(page))

    def _article(self, page: Page) -> Article:
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
        """The same with their leads, where the wiki has the extension TextExtracts."""
        leads: dict[str, str] = {}
        ids = [self._ids[article.title] for article in articles if article.title in self._ids]
        for start in range(0, len(ids), LEADS):
            asked: Parameters = {
                "pageids": "|".join(map(str, ids[start : start + LEADS])),
                "prop": "extracts",
                "exintro": 1,
                "explaintext": 1,
                "exlimit": LEADS,
            }
            pages = await self._pages(asked)
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
        asked = {"titles": _titled(category), "prop": "langlinks", **_language_links(edition_code(language))}
        links = [link for page in (await self.client.ask(asked)).pages for link in page.langlinks]
        if not links:
            return None
        self._remember_edition(language, links[0].url)
        wiki = await self.edition(language)
        return EditionCategory(wiki, _bare(links[0].title)) if wiki else None

    async def named(self, titles: Sequence[str]) -> list[Article]:
        """The articles of these titles that exist, with their links."""
        found: list[Page] = []
        for batch in self._batches(titles):
            found += await self._pages({"titles": batch, "prop": "extlinks|pageprops|info", **_WITH_LINKS})
        return [self._article(page) for page in found if not page.missing and page.pageid]

    def _batches(self, titles: Sequence[str]) -> Iterator[str]:
        """As many titles as a call and its address may have."""
        batch: list[str] = []
        for title in dict.fromkeys(_legal(title) for title in titles):
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


def _legal(title: str) -> str:
    return " ".join(title.translate(_ILLEGAL).split())


def _joined(pages: Iterable[Page]) -> list[Page]:
    """One page for each that came in parts."""
    joined: dict[str, Page] = {}
    for page in pages:
        before = joined.get(page.title)
        joined[page.title] = page if before is None else _both(before, page)
    return list(joined.values())


def _both(one: Page, other: Page) -> Page:
    return msgspec.structs.replace(
        one,
        redirect=one.redirect or other.redirect,
        langlinks=one.langlinks + other.langlinks,
        extlinks=one.extlinks + other.extlinks,
        pageprops=one.pageprops | other.pageprops,
        extract=one.extract or other.extract,
    )
