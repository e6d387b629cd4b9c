"""Pages of a site that may be in a language asked for, by what a page, a sitemap or an address says, with their chances."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from bitrawl.discover.guesses import counterparts, folder_of
from bitrawl.languages import claimed_language, same_language
from bitrawl.model import (
    UNDETERMINED,
    AlternateSource,
    Language,
    Link,
    LinkKind,
    Page,
    Sitemap,
)
from bitrawl.protocols import UrlLanguageModel
from bitrawl.url import Url


class Method(StrEnum):
    """What suggests a page. The names are the keys of `SiteVerdict.evidence`."""

    HREFLANG = "hreflang"
    SWITCHER = "switcher"
    SITEMAP = "sitemap"
    SPLASH = "splash"  # a page with hardly any text leads on to marked addresses
    LINK = "link"  # the link predictor
    URL = "url"  # the URL language model
    ADDRESS = "address"  # the page's own address, with the other language's mark
    HABIT = "habit"  # the same of the addresses that it links to
    FOLDER = "folder"  # the language's folder, where something says that the language exists


GUESSES = frozenset({Method.ADDRESS, Method.HABIT, Method.FOLDER})
"""What no page links to."""

# Judgements. Downloads that found the language on the discovery web (2026-11, sites that have it and sites that do not):
# hreflang 11 of 30, switcher 10 of 60, predictor 41 of 94, address 27 of 124, habit 10 of 129, folder 7 of 27. What is
# declared fails there more often than on the web: 77 of its 551 hosts are menus to pages that were not kept.
CHANCES = {
    Method.HREFLANG: 0.8,
    Method.SWITCHER: 0.7,
    Method.SITEMAP: 0.8,
    Method.SPLASH: 0.7,
    Method.ADDRESS: 0.4,
    Method.HABIT: 0.3,
    Method.FOLDER: 0.5,
}
MIN_LIKELIHOOD = 0.2  # of a link, by the predictor; judgement: what is below is never worth a download
# Judgements: a link text is rarely as clear as an address, so several addresses must agree.
SURE_URL = 0.9
URLS = 3
URL_CHANCE = 0.35
HABIT_SHARE = 0.3  # of a page's links that name its language, for a habit; judgement
SIBLINGS = 2  # languages that a site declares at such addresses before a further one is looked for; judgement
SPLASH_TEXT = 300  # characters: a page with less only leads on; judgement
_IN_HEAD = frozenset({AlternateSource.LINK, AlternateSource.HEADER, AlternateSource.SITEMAP})


class LinkLikelihoods(Protocol):
    """The link predictor, as a check uses it."""

    def likelihoods(self, links: Sequence[Link], page: Page, wanted: Language) -> Sequence[float]:
        """For each link of the page, the probability that it leads to a translated page in that language."""
        ...


class Suggestion(NamedTuple):
    """A page that may be in a language asked for."""

    link: Link
    language: Language
    method: Method
    chance: float
    partner: Url | None = None  # the page that it would be a translation of


@dataclass(frozen=True, slots=True)
class SiteJudges:
    """What a check asks of the rest of bitrawl."""

    are_translations: Callable[[Page, Page], float]
    url_languages: UrlLanguageModel | None = None
    predictor: LinkLikelihoods | None = None
    sitemaps_of: Callable[[str], Sequence[Url]] = field(default=lambda _origin: ())  # that robots.txt names, by origin


class Suggester:
    """Reads pages for hints of the languages asked for."""

    def __init__(self, languages: Sequence[Language], judges: SiteJudges) -> None:
        self._languages = tuple(languages)
        self._judges = judges

    def of_page(self, page: Page) -> Iterator[Suggestion]:
        """For each language but the page's own."""
        inside = links_inside(page)
        for language in self._languages:
            if same_language(page.language, language):
                continue
            yield from _declared(page, language)
            yield from self._linked(page, inside, language)
            yield from self._addressed(page, inside, language)
        if is_splash(page):
            yield from self._onwards(inside)

    def of_sitemap(self, sitemap: Sitemap, page: Page) -> Iterator[Suggestion]:
        """What the sitemap declares, the translations of that page first."""
        groups = sorted(sitemap.alternates, key=lambda group: page.url not in {one.url for one in group})
        for group in groups[:1]:
            for language in self._languages:
                for one in group:
                    if same_language(claimed_language(one.language), language) and one.url != page.url:
                        yield _suggestion(one.url, language, Method.SITEMAP, page.url, LinkKind.ALTERNATE)
        listed = [link.url for link in sitemap.links if link.kind is not LinkKind.INDEX]
        for language in self._languages:
            marked = [url for url in listed if is_marked(url, language, self._languages)]
            if marked and not same_language(page.language, language):
                yield _suggestion(min(marked, key=len), language, Method.SITEMAP, page.url, LinkKind.SITEMAP)

    def of_empty(self, url: Url) -> Iterator[Suggestion]:
        """A page without any text is a script that sends its visitors on, mostly to their language."""
        for language in self._languages:
            yield _suggestion(folder_of(url, language), language, Method.FOLDER, None)

    def _linked(self, page: Page, inside: Sequence[Link], language: Language) -> Iterator[Suggestion]:
        if self._judges.predictor is not None and inside:
            likelihoods = self._judges.predictor.likelihoods(inside, page, language)
            for link, likelihood in zip(inside, likelihoods, strict=True):
                if likelihood >= MIN_LIKELIHOOD:
                    yield Suggestion(link, language, Method.LINK, likelihood, page.url)
        yield from self._by_url(page, inside, language)

    def _by_url(self, page: Page, inside: Sequence[Link], language: Language) -> Iterator[Suggestion]:
        model, base = self._judges.url_languages, Language(language.partition("-")[0])
        if model is None or base not in model.languages or len(inside) < URLS:
            return
        column = list(model.languages).index(base)
        chances = model.distribution([link.url for link in inside])[:, column]
        sure = [link for link, chance in zip(inside, chances, strict=True) if chance >= SURE_URL]
        if len(sure) >= URLS and is_marked(sure[0].url, language, [page.language, *self._languages]):
            yield Suggestion(min(sure, key=lambda link: len(link.url)), language, Method.URL, URL_CHANCE, page.url)

    def _addressed(self, page: Page, inside: Sequence[Link], language: Language) -> Iterator[Suggestion]:
        own = [one for one in dict.fromkeys([page.language, *self._languages]) if one not in (language, UNDETERMINED)]
        for spoken in own:
            for url in counterparts(page.url, spoken, language)[:2]:
                yield _suggestion(url, language, Method.ADDRESS, page.url)
        if any(same_language(claimed_language(locale), language) for locale in page.metadata.other_locales):
            yield _suggestion(folder_of(page.url, language), language, Method.FOLDER, page.url)
        yield from _siblings(page, language)
        if page.language == UNDETERMINED:
            return
        marked = [
            link.url
            for link in inside
            if link.url.host == page.url.host and counterparts(link.url, page.language, language)
        ]
        if len(marked) >= max(URLS, HABIT_SHARE * len(inside)):
            for source in sorted(marked, key=len)[:1]:
                yield _suggestion(counterparts(source, page.language, language)[0], language, Method.HABIT, source)

    def _onwards(self, inside: Sequence[Link]) -> Iterator[Suggestion]:
        for language in self._languages:
            for link in inside:
                if is_marked(link.url, language, self._languages):
                    yield Suggestion(link, language, Method.SPLASH, CHANCES[Method.SPLASH])
                    break


def links_inside(page: Page) -> list[Link]:
    """The links to other pages of the same site."""
    return [link for link in page.links if link.url.site == page.url.site and link.url != page.url]


def is_splash(page: Page) -> bool:
    """Whether the page has hardly any text."""
    return text_size(page) < SPLASH_TEXT


def text_size(page: Page) -> int:
    """Characters, boilerplate included."""
    return sum(len(paragraph.text) for paragraph in page.paragraphs)


def refreshed(page: Page) -> Link | None:
    """Where a page with hardly any text sends its visitors by itself, or by its only link."""
    inside = links_inside(page)
    refreshing = next((link for link in inside if "refresh" in link.rel.split()), None)
    if refreshing is not None:
        return refreshing if is_splash(page) else None
    return inside[0] if len(inside) == 1 and text_size(page) < SPLASH_TEXT / 3 else None


def is_marked(url: Url, language: Language, others: Iterable[Language]) -> bool:
    """Whether the URL names the language where a site would name another one."""
    other = next((one for one in others if one not in (language, UNDETERMINED)), None)
    return other is not None and bool(counterparts(url, language, other))


def _declared(page: Page, language: Language) -> Iterator[Suggestion]:
    for one in page.alternates:
        if same_language(claimed_language(one.language), language) and one.url.site == page.url.site:
            method = Method.HREFLANG if one.source in _IN_HEAD else Method.SWITCHER
            yield _suggestion(one.url, language, method, page.url, LinkKind.ALTERNATE)


def _siblings(page: Page, language: Language) -> Iterator[Suggestion]:
    """Beside at least two declared languages at marked addresses, the same address in another one."""
    suggested: dict[Url, set[Language]] = {}
    for one in page.alternates:
        spoken = claimed_language(one.language)
        if same_language(spoken, language):
            return
        if spoken != UNDETERMINED and one.url.site == page.url.site:
            for url in counterparts(one.url, spoken, language)[:1]:
                suggested.setdefault(url, set()).add(spoken)
    for url, siblings in suggested.items():
        if len(siblings) >= SIBLINGS:
            yield _suggestion(url, language, Method.HABIT, page.url)


def _suggestion(
    url: Url, language: Language, method: Method, partner: Url | None, kind: LinkKind = LinkKind.PARTNER
) -> Suggestion:
    return Suggestion(Link(url, kind, partner), language, method, CHANCES[method], partner)
