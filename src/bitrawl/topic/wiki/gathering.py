"""From a wiki's category to a table of terms and a list of cited sites."""

import logging
from collections.abc import Collection, Iterable

import msgspec

from bitrawl.model import Language
from bitrawl.topic.wiki.api import ApiWiki
from bitrawl.topic.wiki.articles import Article, Extent, Gathered, Wiki
from bitrawl.topic.wiki.category_names import empty_category
from bitrawl.topic.wiki.citations import Citations, cited_sites
from bitrawl.topic.wiki.client import PrivateWikiError
from bitrawl.topic.wiki.titles import Exclusion, as_term, exclusion, is_name, needs_lead, without_qualifier
from bitrawl.url import Url

_log = logging.getLogger(__name__)

HEAVIEST = 100  # ILSP-FC's own lists go up to 100


class TermRow(msgspec.Struct, frozen=True, kw_only=True):
    """A term with its translations, as a person may edit it."""

    keep: bool
    weight: int
    terms: dict[Language, str]  # by language, the wiki's own included
    branch: str  # the class of the term
    category: str
    depth: int
    why: str = ""  # it is not kept, or a translation of it is left out


class Material(msgspec.Struct, frozen=True):
    """All that a category gave."""

    category: str
    language: Language  # of the wiki
    rows: tuple[TermRow, ...]
    citations: Citations
    articles: int
    categories: int
    complete: bool


class Wanted(msgspec.Struct, frozen=True):
    """What to gather, and what of it to keep."""

    extent: Extent
    kept: Collection[Exclusion] = ()  # exclusions that are switched off
    editions: bool = True  # whether the editions of the other languages are read too


def weight_at(depth: int) -> int:
    """100, 50, 33, 25: the farther below the category, the less a title is about it. Judgement; the paper has none."""
    return round(HEAVIEST / (1 + depth))


async def gather(wiki: Wiki, category: str, wanted: Wanted) -> Material:
    """What that category of the wiki gives. Raises `ConfigError` if it is empty, and `WikiError` if the wiki cannot be read."""
    gathered = await wiki.articles(category, wanted.extent)
    if not gathered.articles:
        raise empty_category(category, "the wiki", [])
    table = _Table(wanted.kept)
    addresses: list[Url] = []
    if isinstance(wiki, ApiWiki):
        addresses.append(wiki.client.endpoint)
        gathered = await _with_leads(wiki, gathered, wanted)
        table.add(wiki.language, gathered.articles)
        for language in wanted.extent.languages if wanted.editions else ():
            if language != wiki.language:
                try:
                    addresses += await _read_edition(wiki, category, language, wanted, table)
                except PrivateWikiError as error:  # the first one's links have translations all the same
                    _log.info("the edition in %s is left out: %s", language, error)
    else:
        table.add(wiki.language, gathered.articles)
    return Material(
        category=category,
        language=wiki.language,
        rows=tuple(table.rows()),
        citations=cited_sites(table.links, addresses),
        articles=len(gathered.articles),
        categories=gathered.categories,
        complete=gathered.complete,
    )


async def _with_leads(wiki: ApiWiki, gathered: Gathered, wanted: Wanted) -> Gathered:
    """Leads decide about names only, and only where nothing else has excluded the title."""
    if Exclusion.NAME in wanted.kept:
        return gathered
    others = {*wanted.kept, Exclusion.NAME}
    undecided = [
        article
        for article in gathered.articles
        if needs_lead(article.title, wiki.language) and exclusion(article, wiki.language, others) is None
    ]
    read = {article.title: article for article in await wiki.with_leads(undecided)}
    articles = tuple(read.get(article.title, article) for article in gathered.articles)
    return msgspec.structs.replace(gathered, articles=articles)


async def _read_edition(wiki: ApiWiki, category: str, language: Language, wanted: Wanted, table: "_Table") -> list[Url]:
    """The articles that the translations name, for their links, and the same category there; the edition's address."""
    same = await wiki.same_category(category, language)
    edition = same.wiki if same else await wiki.edition(language)
    if edition is None:
        return []
    table.see(language, await edition.named(table.translations(language)))
    if same is not None:
        others = tuple(dict.fromkeys([wiki.language, *wanted.extent.languages]))
        extent = msgspec.structs.replace(wanted.extent, languages=tuple(each for each in others if each != language))
        gathered = await edition.articles(same.name, extent)
        table.add(language, (await _with_leads(edition, gathered, wanted)).articles)
    return [edition.client.endpoint]


class _Table:
    """Articles of all editions; one that is the translation of another stands with it."""

    def __init__(self, kept: Collection[Exclusion]) -> None:
        self.links: list[tuple[str, str]] = []  # the article and the address
        self._kept = kept
        self._articles: list[tuple[Language, Article]] = []
        self._known: set[tuple[Language, str]] = set()
        self._seen: dict[tuple[Language, str], Article] = {}  # translations as their own edition has them

    def add(self, language: Language, articles: Iterable[Article]) -> None:
        self.see(language, articles)
        for article in articles:
            names = {(language, article.title), *article.translations.items()}
            if names.isdisjoint(self._known):
                self._articles.append((language, article))
            self._known |= names

    def see(self, language: Language, articles: Iterable[Article]) -> None:
        for article in articles:
            self._seen[language, article.title] = article
            self.links += ((f"{language}:{article.title}", link) for link in article.links)

    def translations(self, language: Language) -> list[str]:
        titles = (article.translations.get(language, "") for _, article in self._articles)
        return [title for title in titles if title]

    def rows(self) -> list[TermRow]:
        """Terms that are kept come first, then the heaviest."""
        rows = [self._row(language, article) for language, article in self._articles]
        return sorted(rows, key=lambda row: (not row.keep, row.depth, next(iter(row.terms.values())).casefold()))

    def _row(self, language: Language, article: Article) -> TermRow:
        why = exclusion(article, language, self._kept)
        name = is_name(article.title, article.lead, language)
        terms = {language: without_qualifier(article.title) if name else as_term(article.title, language)}
        notes = [str(why)] if why else []
        for other, title in article.translations.items():
            objection = self._objection(other, title)
            if objection is None:
                terms[other] = without_qualifier(title) if name else as_term(title, other)
            else:
                notes.append(f"{other} {title}: {objection}")
        return TermRow(
            keep=why is None,
            weight=weight_at(article.depth),
            terms=terms,
            branch=article.branch,
            category=article.category,
            depth=article.depth,
            why="; ".join(notes),
        )

    def _objection(self, language: Language, title: str) -> Exclusion | None:
        """Whether a translation is a name, its original has decided."""
        article = self._seen.get((language, title)) or Article(title=title)
        return exclusion(article, language, {*self._kept, Exclusion.NAME})
