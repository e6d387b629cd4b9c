"""Pages of a site that may be in a language asked for, by what a page, a sitemap or an address says, with their chances.

`LinkPredictor` says which links lead to a translation (Barbosa et al. 2011, section 2.1). It reads five contexts, as in the
paper: the URL, the anchor, the text around it, and the alternative text and the source of an image. It works for any pair of
languages: a token that names the wanted language, the page's own or a third one, by CLDR's names and codes, counts as such,
whichever language it is. The other tokens are hashed.

`counterparts` makes addresses that a page's own address suggests for its translation, although no page links to them. Only the
site's own habit and CLDR's codes count: /en/ suggests /fr/, en-US suggests fr-FR, index_en.html index_fr.html.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol, Self
from urllib.parse import unquote
from zlib import crc32

import langcodes
import numpy as np
from langcodes import data_dicts
from numpy.typing import NDArray

from bitrawl.errors import UrlError
from bitrawl.languages import base_language, claimed_language, language_name, same_language
from bitrawl.model import UNDETERMINED, AlternateSource, Language, Link, LinkKind, Page, Sitemap
from bitrawl.model_files import model_file
from bitrawl.protocols import UrlLanguageModel
from bitrawl.text.language_names import folded
from bitrawl.url import Url
from bitrawl.urls import language_spellings, mark_language, readable_words, runs

Floats = NDArray[np.float32]

BITS = 14  # 16,384 weights in 64 kB: the training data has some 10,000 distinct tokens
PLACES = 1 << BITS
MOST_TOKENS = 24  # of one context that are read
_SHORT = 3  # letters: a code where it stands alone, a word within a sentence
_IS_CODE = re.compile(r"[a-z]{2,3}(?:[-_][a-z]{2,4})?")
# A code counts where it fills a segment, a label or a value, begins a segment, or ends it before the extension.
_CODE = r"[a-z]{2,3}(?:[-_](?:[a-z]{2}|[a-z]{4}))?"
_IN_HOST = re.compile(r"(?<=://)([a-z]{2,3})(?=\.[^/]+\.)", re.IGNORECASE)
_PLACES = (
    re.compile(rf"(?<=/)({_CODE})(?=[/._]|$)", re.IGNORECASE),
    re.compile(rf"(?<=[._-])({_CODE})(?=/|$|\?|\.\w{{1,6}}(?:$|\?))", re.IGNORECASE),
    re.compile(rf"(?<==)({_CODE})(?=&|$)", re.IGNORECASE),
    _IN_HOST,
    re.compile(r"(?<![^\W_])([^\W\d_]{4,24})(?![^\W_])"),
)


class SuggestionMethod(StrEnum):
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


GUESSES = frozenset({SuggestionMethod.ADDRESS, SuggestionMethod.HABIT, SuggestionMethod.FOLDER})
"""What no page links to."""

# Judgements. Downloads that found the language on the discovery web (2026-11, sites that have it and sites that do not):
# hreflang 11 of 30, switcher 10 of 60, predictor 41 of 94, address 27 of 124, habit 10 of 129, folder 7 of 27. What is
# declared fails there more often than on the web: 77 of its 551 hosts are menus to pages that were not kept.
CHANCES = {
    SuggestionMethod.HREFLANG: 0.8,
    SuggestionMethod.SWITCHER: 0.7,
    SuggestionMethod.SITEMAP: 0.8,
    SuggestionMethod.SPLASH: 0.7,
    SuggestionMethod.ADDRESS: 0.4,
    SuggestionMethod.HABIT: 0.3,
    SuggestionMethod.FOLDER: 0.5,
}
MIN_LIKELIHOOD = 0.2  # of a link, by the predictor: what is below is never worth a download
# Judgements: a link text is rarely as clear as an address, so several addresses must agree.
SURE_URL = 0.9
URLS = 3
URL_CHANCE = 0.35
HABIT_SHARE = 0.3  # of a page's links that name its language, for a habit
SIBLINGS = 2  # languages that a site declares at such addresses before a further one is looked for
SPLASH_TEXT = 300  # characters: a page with less only leads on
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
    method: SuggestionMethod
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
        groups = sorted(sitemap.alternates, key=lambda group: page.url not in {alternate.url for alternate in group})
        for group in groups[:1]:
            for language in self._languages:
                for alternate in group:
                    if same_language(claimed_language(alternate.language), language) and alternate.url != page.url:
                        yield _suggestion(
                            alternate.url, language, SuggestionMethod.SITEMAP, page.url, LinkKind.ALTERNATE
                        )
        listed = [link.url for link in sitemap.links if link.kind is not LinkKind.INDEX]
        for language in self._languages:
            marked = [url for url in listed if is_marked(url, language, self._languages)]
            if marked and not same_language(page.language, language):
                yield _suggestion(min(marked, key=len), language, SuggestionMethod.SITEMAP, page.url, LinkKind.SITEMAP)

    def of_empty(self, url: Url) -> Iterator[Suggestion]:
        """A page without any text is a script that sends its visitors on, mostly to their language."""
        for language in self._languages:
            yield _suggestion(folder_of(url, language), language, SuggestionMethod.FOLDER, None)

    def _linked(self, page: Page, inside: Sequence[Link], language: Language) -> Iterator[Suggestion]:
        if self._judges.predictor is not None and inside:
            likelihoods = self._judges.predictor.likelihoods(inside, page, language)
            for link, likelihood in zip(inside, likelihoods, strict=True):
                if likelihood >= MIN_LIKELIHOOD:
                    yield Suggestion(link, language, SuggestionMethod.LINK, likelihood, page.url)
        yield from self._by_url(page, inside, language)

    def _by_url(self, page: Page, inside: Sequence[Link], language: Language) -> Iterator[Suggestion]:
        model, base = self._judges.url_languages, base_language(language)
        if model is None or base not in model.languages or len(inside) < URLS:
            return
        column = list(model.languages).index(base)
        chances = model.distribution([link.url for link in inside])[:, column]
        sure = [link for link, chance in zip(inside, chances, strict=True) if chance >= SURE_URL]
        if len(sure) >= URLS and is_marked(sure[0].url, language, [page.language, *self._languages]):
            yield Suggestion(
                min(sure, key=lambda link: len(link.url)), language, SuggestionMethod.URL, URL_CHANCE, page.url
            )

    def _addressed(self, page: Page, inside: Sequence[Link], language: Language) -> Iterator[Suggestion]:
        own = [
            spoken
            for spoken in dict.fromkeys([page.language, *self._languages])
            if spoken not in (language, UNDETERMINED)
        ]
        for spoken in own:
            for url in counterparts(page.url, spoken, language)[:2]:
                yield _suggestion(url, language, SuggestionMethod.ADDRESS, page.url)
        if any(same_language(claimed_language(locale), language) for locale in page.metadata.other_locales):
            yield _suggestion(folder_of(page.url, language), language, SuggestionMethod.FOLDER, page.url)
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
                yield _suggestion(
                    counterparts(source, page.language, language)[0], language, SuggestionMethod.HABIT, source
                )

    def _onwards(self, inside: Sequence[Link]) -> Iterator[Suggestion]:
        for language in self._languages:
            for link in inside:
                if is_marked(link.url, language, self._languages):
                    yield Suggestion(link, language, SuggestionMethod.SPLASH, CHANCES[SuggestionMethod.SPLASH])
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
    other = next((other for other in others if other not in (language, UNDETERMINED)), None)
    return other is not None and bool(counterparts(url, language, other))


def _declared(page: Page, language: Language) -> Iterator[Suggestion]:
    for alternate in page.alternates:
        if same_language(claimed_language(alternate.language), language) and alternate.url.site == page.url.site:
            method = SuggestionMethod.HREFLANG if alternate.source in _IN_HEAD else SuggestionMethod.SWITCHER
            yield _suggestion(alternate.url, language, method, page.url, LinkKind.ALTERNATE)


def _siblings(page: Page, language: Language) -> Iterator[Suggestion]:
    """Beside at least two declared languages at marked addresses, the same address in another one."""
    suggested: dict[Url, set[Language]] = {}
    for alternate in page.alternates:
        spoken = claimed_language(alternate.language)
        if same_language(spoken, language):
            return
        if spoken != UNDETERMINED and alternate.url.site == page.url.site:
            for url in counterparts(alternate.url, spoken, language)[:1]:
                suggested.setdefault(url, set()).add(spoken)
    for url, siblings in suggested.items():
        if len(siblings) >= SIBLINGS:
            yield _suggestion(url, language, SuggestionMethod.HABIT, page.url)


def _suggestion(
    url: Url, language: Language, method: SuggestionMethod, partner: Url | None, kind: LinkKind = LinkKind.PARTNER
) -> Suggestion:
    return Suggestion(Link(url, kind, partner), language, method, CHANCES[method], partner)


class TokenLanguages(NamedTuple):
    """The languages that decide what a token means."""

    own: Language  # of the page that has the link
    wanted: Language


class LinkPredictor:
    """A logistic regression over hashed tokens, calibrated on sites that it was not trained on."""

    def __init__(self, weights: Floats, bias: float) -> None:
        self.weights = weights
        self.bias = bias

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The package's model, or one that `python -m lab.train link-predictor` made."""
        with np.load(path or model_file("link-predictor.npz")) as stored:
            return cls(stored["weights"].astype(np.float32), float(stored["bias"]))

    def likelihoods(self, links: Sequence[Link], page: Page, wanted: Language) -> list[float]:
        """For each link of the page, the probability that it leads to a translated page in that language."""
        languages = TokenLanguages(page.language, wanted)
        logits = [self.bias + float(self.weights[places(link, languages)].sum()) for link in links]
        return [float(1 / (1 + np.exp(-np.clip(logit, -30, 30)))) for logit in logits]


def places(link: Link, languages: TokenLanguages) -> NDArray[np.int64]:
    """The rows of the link's features in the table of weights, each once."""
    return np.unique([crc32(feature.encode()) & (PLACES - 1) for feature in features(link, languages)])


def features(link: Link, languages: TokenLanguages) -> Iterator[str]:
    """What the five contexts say, each feature with the name of its context."""
    where = link.source if link.source is not None and link.source.host == link.url.host else None
    named = set()
    for context, tokens in _contexts(link):
        sentence = context in ("anchor", "around") and len(tokens) > 2
        for token in tokens[:MOST_TOKENS]:
            meaning = _meaning(token, languages, sentence=sentence)
            if meaning:
                named.add((context, meaning.partition(":")[0]))
            yield f"{context} {meaning or token}"
        yield f"{context} length {min(len(tokens), 5)}"
    # Whether the URL says more than the page's own: a page below /fr/ links to others below /fr/.
    if where is not None and ("url", "wanted") in named:
        mine = {_meaning(token, languages, sentence=False).partition(":")[0] for token in _url_tokens(where)}
        yield "url wanted too" if "wanted" in mine else "url wanted new"
    for context, meaning in sorted(named):
        yield f"{context} says {meaning}"
    yield f"says wanted {sum(meaning == 'wanted' for _, meaning in named)}"


def _contexts(link: Link) -> Iterator[tuple[str, list[str]]]:
    yield "url", _url_tokens(link.url)
    yield "anchor", [folded(word) for word in readable_words(link.anchor)]
    around = link.context.replace(link.anchor, " ", 1) if link.anchor else link.context
    yield "around", [folded(word) for word in readable_words(around)]
    yield "alt", [folded(word) for word in readable_words(link.image_alt)]
    yield "src", [token for token in runs(folded(link.image_src)) if token.isalnum()]


def _url_tokens(url: str) -> list[str]:
    """Of path and query, and the first label of the host, which may name a language."""
    _, _, host, rest = url.split("/", 3)
    label = host.partition(".")[0]
    return [label, *(token for token in runs(folded(unquote(rest))) if token.isalnum())]


def _meaning(token: str, languages: TokenLanguages, *, sentence: bool) -> str:
    """Whether it names the language "wanted", the page's "own" or an "other", and in which form; empty if none.

    "de", "es" and "it" are words within a sentence.
    """
    if len(token) <= _SHORT and (sentence or not token.isascii()):
        return ""
    named = _named(token)
    if named == UNDETERMINED:
        return ""
    form = "code" if _IS_CODE.fullmatch(token) and len(token) <= _SHORT else "name"
    if same_language(named, languages.wanted):
        return f"wanted:{form}"
    return f"own:{form}" if same_language(named, languages.own) else f"other:{form}"


@lru_cache(maxsize=16384)
def _named(token: str) -> Language:
    return mark_language(token)


@lru_cache(maxsize=65536)
def counterparts(url: Url, own: Language, wanted: Language) -> tuple[Url, ...]:
    """The URL with each mark of the one language replaced by one of the other, the likeliest first.

    Empty if the URL does not name its language.
    """
    path = len(url.origin)
    marks = {
        match.span(1): match[1]
        for place in _PLACES
        for match in place.finditer(url)
        if (match.start() >= path or place is _IN_HOST) and _names(match[1], own)
    }
    spans = sorted(span for span in marks if not any(_within(span, other) for other in marks))
    urls: dict[Url, None] = {}
    for choice in range(max((len(_spellings(marks[span], wanted)) for span in spans), default=0)):
        text, last = "", 0
        for span in spans:
            spelled = _spellings(marks[span], wanted)
            text += url[last : span[0]] + spelled[min(choice, len(spelled) - 1)]
            last = span[1]
        try:
            urls[Url.parse(text + url[last:])] = None
        except UrlError:
            continue
    urls.pop(url, None)
    return tuple(urls)


def folder_of(url: Url, language: Language) -> Url:
    """The folder of that language beside a page."""
    return Url.parse(f"{url.folder}{base_language(language)}/")


def _names(token: str, language: Language) -> bool:
    """Codes of countries do not count: contact-us.html is not marked as English."""
    first = re.split("[-_]", token)[0]
    return folded(token if len(first) > 3 else first) in language_spellings(base_language(language))


@lru_cache(maxsize=1024)
def _spellings(mark: str, wanted: Language) -> tuple[str, ...]:
    """The wanted language, written as the mark is: code, locale or name, in its case."""
    code = base_language(wanted)
    parts = re.split("([-_])", mark)
    if len(parts) == 3 and len(parts[0]) <= 3:
        region = langcodes.Language.get(code).maximize().territory or code.upper()
        spelled = [_cased(code, parts[0]) + parts[1] + _cased(region, parts[2]), _cased(code, parts[0])]
    elif len(mark) == 2:
        spelled = [code]
    elif len(mark) == 3:
        tables = (data_dicts.LANGUAGE_ALPHA3, data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC)
        spelled = list(dict.fromkeys(table[code] for table in tables if code in table)) or [code]
    else:
        spelled = _names_like(mark, code)
    return tuple(dict.fromkeys(_cased(text, mark) if len(parts) == 1 else text for text in spelled))


def _names_like(mark: str, code: str) -> list[str]:
    """The English name for an English name, the endonym for an endonym."""
    english = folded(language_name(code))
    others = sorted(name for name in language_spellings(Language(code)) if len(name) > 3 and name != english)
    own = mark_language(mark)
    return (
        [english, *others[:1]] if folded(mark) == folded(language_name(base_language(own))) else [*others[:1], english]
    )


def _cased(text: str, model: str) -> str:
    if model.isupper():
        return text.upper()
    return text.capitalize() if model[:1].isupper() else text.lower()


def _within(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]
