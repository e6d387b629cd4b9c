"""From a wiki's category to a table of terms, which a person edits, and a list of cited sites.

Which titles are terms is decided by the exclusions of Papavassiliou, section 4, each of which can be switched off. External links
of the articles become seeds: which sites they cite, and how many of them do.
"""

import csv
import io
import logging
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec

from bitrawl.errors import ConfigError, UrlError
from bitrawl.files import cell, from_cell
from bitrawl.languages import base_language
from bitrawl.model import Language
from bitrawl.topic.term_list import Term, line
from bitrawl.topic.wiki_api import ApiWiki, PrivateWikiError
from bitrawl.topic.wiki_articles import Article, Extent, Gathered, Wiki, empty_category
from bitrawl.url import Url


class Exclusion(StrEnum):
    """Titles that are no terms."""

    DISAMBIGUATION = "disambiguation"
    REDIRECT = "redirect"
    LIST = "list"
    ABBREVIATION = "abbreviation"
    NAME = "name"


# Languages that capitalise every noun: there a capital tells nothing.
CAPITALISED_NOUNS = frozenset({"de", "lb", "gsw", "nds", "bar", "ksh", "frr", "stq", "pfl", "pdc"})

_QUALIFIER = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
# What editions write behind the title of a disambiguation page, where a wiki does not mark it otherwise.
_DISAMBIGUATION = re.compile(
    r"[(（](?:disambiguation|begriffsklärung|homonymie|disambigua|desambiguaci[oó]n?|desambiguação|doorverwijspagina|"
    r"ujednoznacznienie|значения|значення|αποσαφήνιση|rozcestník|dezambiguizare|förgrening\w*|olika betydelser|flertydig|"
    r"peker|egyértelműsítő lap|täsmennyssivu|razvrstavanje|anlam ayrımı|曖昧さ回避|消歧义|消歧義|동음이의|توضيح|פירושונים)[)）]$",
    re.IGNORECASE,
)
# How the titles of lists begin in the larger editions.
_LIST = re.compile(
    r"(?:lists?|index|outline|timeline|glossary|bibliography|chronology|comparison) (?:of|for|on)\b|"
    r"(?:lijst|elenco|zeittafel|chronologie|cronologia|cronología|zoznam|seznam|lista|liste|popis|sąraš\w*|saraksts|"
    r"luettelo|loend|список|списък|списак|κατάλογος|danh sách|daftar|senarai|قائمة|فهرست|רשימת)\s|"
    r"anexo:|.*(?:一覧|列表|목록)$|.*(?:luettelo|listája|listesi)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_YEAR = re.compile(r"\d{4}\b")
# The start of a sentence, also before its subject's article: old articles write "The Peanut is".
_BEFORE_A_SENTENCE = re.compile(
    r"(?:^|[.!?:;\n])[\s\"'“”«»„(]*(?:(?:the|an?|les?|la|une?|el|los|las|il|lo|gli|os?|as?|de|het|en|ett?)\s+|l['’])?$",
    re.IGNORECASE,
)


def without_qualifier(title: str) -> str:
    """The term of "Front (weather)" is "Front"."""
    return _QUALIFIER.sub("", title.replace("_", " ")).strip() or title


def as_term(title: str, language: Language) -> str:
    """The title as it stands in running text: without a qualifier, and without the capital that every title has."""
    term = without_qualifier(title)
    first = term.split(" ")[0].split("-")[0]
    capital = first[:1].isupper() and first[1:].islower()
    if not capital or base_language(language) in CAPITALISED_NOUNS or _has_later_capital(term):
        return term
    return term[0].lower() + term[1:]


def exclusion(article: Article, language: Language, allowed: Collection[Exclusion] = ()) -> Exclusion | None:
    """Why the title is no term; None if it is one. `kept` are the exclusions that are switched off."""
    tests: dict[Exclusion, Callable[[], bool]] = {
        Exclusion.REDIRECT: lambda: article.redirect,
        Exclusion.DISAMBIGUATION: lambda: article.disambiguation or bool(_DISAMBIGUATION.search(article.title)),
        Exclusion.LIST: lambda: bool(_LIST.match(article.title)),
        Exclusion.ABBREVIATION: lambda: is_abbreviation(article.title),
        Exclusion.NAME: lambda: is_name(article.title, article.lead, language),
    }
    return next((each for each, applies in tests.items() if each not in allowed and applies()), None)


def is_abbreviation(title: str) -> bool:
    """More capitals than small letters: "NIOSH", "ISO 45001", "PhD". Scripts without case have no abbreviations here."""
    term = without_qualifier(title)
    capitals = sum(letter.isupper() for letter in term)
    return capitals > sum(letter.islower() for letter in term)


def is_name(title: str, lead: str, language: Language) -> bool:
    """A name keeps its capital wherever it stands; other titles stand in lower case somewhere in the lead.

    Where the lead does not tell, a title of several words is a name if at least half of its later words have a capital,
    and a title of one word is none.
    """
    term = without_qualifier(title)
    words = _WORD.findall(term)
    if _YEAR.match(term):  # "2013 Savar building collapse"
        return True
    if not words or base_language(language) in CAPITALISED_NOUNS or not words[0][0].isupper():
        return False
    if term[0].lower() + term[1:] in lead or term.lower() in lead:
        return False
    # Function words are small in names as well, single letters and abbreviations have a capital anywhere.
    later = [word for word in words[1:] if len(word) > 3 or (word[0].isupper() and word[1:].islower())]
    if later:
        return len([word for word in later if word[0].isupper() and not word.isupper()]) * 2 >= len(later)
    return len(words) == 1 and any(
        not _BEFORE_A_SENTENCE.search(lead[: match.start()]) for match in re.finditer(rf"\b{re.escape(term)}\b", lead)
    )


def needs_lead(title: str, language: Language) -> bool:
    """Whether `is_name` can depend on the lead: a title of one word, or one that looks like a name."""
    words = _WORD.findall(without_qualifier(title))
    return base_language(language) not in CAPITALISED_NOUNS and (len(words) == 1 or is_name(title, "", language))


def _has_later_capital(term: str) -> bool:
    return any(word[0].isupper() and not word.isupper() for word in _WORD.findall(term)[1:])


# Wikimedia's own projects: "links to URLs outside wikipedia.org" (Papavassiliou, section 4), and its sisters.
_WIKIMEDIA = frozenset(
    {"wikipedia.org", "wikimedia.org", "wikidata.org", "wiktionary.org", "wikisource.org", "wikiquote.org", "wikinews.org",
     "wikibooks.org", "wikiversity.org", "wikivoyage.org", "wikispecies.org", "mediawiki.org", "toolforge.org", "wmflabs.org"}
)  # fmt: skip
# What articles on any subject cite: resolvers of identifiers, catalogues, archives, shops for books and social networks.
# Judgement, from the references that Wikipedia's citation templates and authority control write.
_ANY_SUBJECT = frozenset(
    {"doi.org", "handle.net", "worldcat.org", "viaf.org", "isni.org", "orcid.org", "loc.gov", "d-nb.info", "bnf.fr", "idref.fr",
     "ndl.go.jp", "nkp.cz", "nli.org.il", "jstor.org", "semanticscholar.org", "crossref.org", "arxiv.org", "issn.org",
     "archive.org", "archive.today", "archive.is", "archive.ph", "archive-it.org", "webcitation.org", "ghostarchive.org",
     "books.google.com", "google.com", "amazon.com", "openlibrary.org", "goodreads.com", "geonames.org", "geohack.org",
     "youtube.com", "youtu.be", "facebook.com", "twitter.com", "x.com", "instagram.com", "linkedin.com", "flickr.com",
     "openstreetmap.org", "imdb.com", "musicbrainz.org", "quora.com", "reddit.com", "pinterest.com", "t.me", "bit.ly"}
)  # fmt: skip
_ARCHIVED = re.compile(r"https?://web\.archive\.org/web/[^/]+/(.+)", re.IGNORECASE)


class CitedSite(msgspec.Struct, frozen=True):
    """A site outside the wiki, and where its pages are cited."""

    site: str
    articles: int  # that cite any of its pages
    urls: tuple[Url, ...]  # the pages cited most come first


class ArticleCitations(msgspec.Struct, frozen=True):
    sites: tuple[CitedSite, ...]  # those that most articles cite come first
    any_subject: int = 0  # links to sites that articles on any subject cite: left out


def cited_sites(links: Iterable[tuple[str, str]], own: Iterable[Url]) -> ArticleCitations:
    """From pairs of an article and a link on it. `own` are addresses of the wiki itself, whose sites are left out."""
    wiki = {url.site for url in own} | _WIKIMEDIA
    articles: dict[str, set[str]] = {}
    pages: dict[str, Counter[Url]] = {}
    left_out = 0
    for article, raw in dict.fromkeys(links):
        url = _outside(raw)
        if url is None or url.site in wiki:
            continue
        if url.site in _ANY_SUBJECT:
            left_out += 1
            continue
        articles.setdefault(url.site, set()).add(article)
        pages.setdefault(url.site, Counter())[url] += 1
    ranked = sorted(articles, key=lambda site: (-len(articles[site]), site))
    most_cited = {site: tuple(sorted(urls, key=lambda url: (-urls[url], url))) for site, urls in pages.items()}
    return ArticleCitations(tuple(CitedSite(site, len(articles[site]), most_cited[site]) for site in ranked), left_out)


def _outside(raw: str) -> Url | None:
    """The address on the web; None for mail, news, and what is no address. An archived page counts as the page."""
    raw = f"https:{raw}" if raw.startswith("//") else raw
    archived = _ARCHIVED.fullmatch(raw)
    if archived:
        raw = archived[1] if "://" in archived[1] else f"http://{archived[1]}"
    try:
        return Url.parse(raw)
    except UrlError:
        return None


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
    citations: ArticleCitations
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
    table = _TermTable(wanted.kept)
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


async def _read_edition(
    wiki: ApiWiki, category: str, language: Language, wanted: Wanted, table: "_TermTable"
) -> list[Url]:
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


class _TermTable:
    """Articles of all editions; one that is the translation of another stands with it."""

    def __init__(self, allowed: Collection[Exclusion]) -> None:
        self.links: list[tuple[str, str]] = []  # the article and the address
        self._kept = allowed
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


_BEFORE, _AFTER = ("keep", "weight"), ("class", "category", "depth", "why")
_YES = frozenset({"yes", "y", "1", "x", "true"})
# Marks of the topic file's own: weight:term=class;class>language
_MARKS = str.maketrans(dict.fromkeys("=>;:\t\r\n", " "))


def table(rows: Sequence[TermRow], languages: Sequence[Language]) -> str:
    """Tab-separated, a column for each language; the first is the wiki's own."""
    columns = list(dict.fromkeys(languages))
    written = io.StringIO()
    writer = csv.writer(written, "excel-tab", lineterminator="\n")
    writer.writerow([*_BEFORE, *columns, *_AFTER])
    for row in rows:
        terms = [cell(row.terms.get(language, "")) for language in columns]
        keep = "yes" if row.keep else "no"
        writer.writerow([keep, row.weight, *terms, cell(row.branch), cell(row.category), row.depth, cell(row.why)])
    return written.getvalue()


def read_table(content: bytes, name: str) -> list[TermRow]:
    """Also as a spreadsheet has saved it. Raises `ConfigError` with the line."""
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), dialect="excel-tab")
        missing = {*_BEFORE, "class"} - set(reader.fieldnames or ())
        if missing:
            raise ConfigError(
                f"{name} has no column {', '.join(sorted(missing))}; keep the first line as it was written"
            )
        return [_row(cells, f"{name}, line {reader.line_num}") for cells in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{name} is not a tab-separated table in UTF-8: {error}") from error


def _row(cells: Mapping[str | None, str | None], where: str) -> TermRow:
    values = {key: from_cell((value or "").strip()) for key, value in cells.items() if key is not None}
    weight, depth = values["weight"] or "0", values.get("depth") or "0"
    try:
        whole, level = round(float(weight)), int(depth)
    except ValueError as error:
        raise ConfigError(f"{where}: {weight!r} or {depth!r} is not a number; write one, for example 50") from error
    terms = {Language(key): term for key, term in values.items() if key not in (*_BEFORE, *_AFTER) and term}
    return TermRow(
        keep=values["keep"].casefold() in _YES,
        weight=whole,
        terms=terms,
        branch=values["class"],
        category=values.get("category", ""),
        depth=level,
        why=values.get("why", ""),
    )


def topic_lines(rows: Sequence[TermRow], languages: Mapping[Language, Language]) -> Iterator[tuple[Language, str]]:
    """ILSP-FC's `weight:term=class>lang`, with the language of each; the heaviest of equal terms.

    `languages` are those asked for, each with its name in the table.
    """
    for language, column in languages.items():
        heaviest: dict[str, TermRow] = {}
        for row in rows:
            term = row.terms.get(column, "") if row.keep else ""
            if term and (term.casefold() not in heaviest or row.weight > heaviest[term.casefold()].weight):
                heaviest[term.casefold()] = row
        for row in sorted(heaviest.values(), key=lambda row: (-row.weight, row.terms[column].casefold())):
            yield language, line(Term(_clean(row.terms[column]), row.weight, (_clean(row.branch),), language))


def _clean(text: str) -> str:
    return " ".join(text.translate(_MARKS).split())
