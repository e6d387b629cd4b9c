"""Whether a site is bilingual, by default: all that it declares first, then a look at the likeliest page.

A site counts when two of its pages are translations of each other by the check that mining uses. What the entry page
declares, links to and is called suggests pages, each with the chance that it is the missing one. The check asks for the
best, sees what comes, and stops when it is sure, or when no suggestion is worth a download.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import exp, prod

import msgspec

from bitrawl.discover.graph_index import HostLanguages
from bitrawl.discover.site_lists import SiteAnswer, SiteVerdict
from bitrawl.discover.suggestions import (
    GUESSES,
    LinkPredictor,
    SiteJudges,
    Suggester,
    Suggestion,
    SuggestionMethod,
    counterparts,
    links_inside,
    refreshed,
    text_size,
)
from bitrawl.languages import asked_language, claimed_language, same_language
from bitrawl.mining.pairing import Pairing
from bitrawl.model import MAX_REDIRECTS, UNDETERMINED, Language, Link, LinkKind, Page, Sitemap, Skip, Visit
from bitrawl.reasons import Reason
from bitrawl.url import Url
from bitrawl.urls import LinearUrlLanguageModel

TRANSLATIONS = "translations"  # the key of the comparison in `SiteVerdict.evidence`


class CheckSettings(msgspec.Struct, frozen=True):
    """How far a check goes."""

    max_downloads: int = 5  # of one site, the entry page included; judgement: a handful
    min_score: float = 0.5  # of two pages that are named as each other's translation, as in mining
    min_chance: float = 0.2  # that a download brings the missing page; below it the answer is no
    sitemaps: bool = True  # read the first sitemap that robots.txt names, where the pages leave the question open


# Judgements.
UNRELATED_SCORE = 0.95  # of two pages that nothing names as each other's translation: a template is alike everywhere
# Of the chances for a language is left after a suggestion failed: little where a declared page is missing, most where
# another guess was wrong, or a page was there and in another language.
AFTER_MISSING, AFTER_GUESS, AFTER_OTHER_LANGUAGE = 0.3, 0.7, 0.6
MIN_TEXT = 150  # characters on a page that shows that a site is translated: buttons in five languages do not
BELIEVED = 0.5  # of what is known of a site's languages before a visit: an index has few pages of most sites
THIN_LINKS = 10  # that a page has at least, before the links of its translation say anything
THIN_PROBABILITY = 0.2  # that a site with one translated page has more of them
HALF, NEARLY_ALL = 0.5, 0.8
LONG = 500  # characters in a language that outweigh a main text in another one


class DeclaredSiteCheck:
    """The default `SiteCheck`."""

    def __init__(
        self,
        entry: Link,
        languages: Sequence[Language],
        judges: SiteJudges,
        settings: CheckSettings | None = None,
        *,
        odds: Mapping[Language, float] | None = None,
    ) -> None:
        """`odds` say how far something known before any visit speaks for each language, as logarithms."""
        self.verdict: SiteVerdict | None = None
        self._entry = entry
        self._languages = tuple(languages)
        self._judges = judges
        self._settings = settings or CheckSettings()
        self._odds = odds or {}
        self._suggester = Suggester(languages, judges)
        self._suggestions: dict[tuple[Url, Language], Suggestion] = {}
        self._asked: dict[Url, Suggestion | None] = {entry.url: None}  # None: the entry page, and where it sends us
        self._waiting = {entry.url}
        self._ready = [entry]
        self._pages: dict[Url, Page] = {}
        self._partners: dict[Url, Url | None] = {}  # of the pages: what they were suggested as translations of
        self._left: dict[tuple[Language, bool], float] = {}  # of the chances for a language, declared or guessed
        self._evidence: dict[str, float] = {}
        self._downloads = 0
        self._seen: set[Url] = set()  # addresses of pages of the site
        self._listed = 0  # by its sitemap
        self._skip: Skip | None = None  # of the entry page

    def wanted(self) -> Sequence[Link]:
        ready, self._ready = self._ready, []
        return ready

    def saw(self, visit: Visit) -> None:
        link, outcome = visit.lease.link, visit.outcome
        if self.verdict is not None:
            return
        self._waiting.discard(link.url)
        target = outcome.target if isinstance(outcome, Skip) else None
        if target is not None and self._follow(link, target):
            return
        self._downloads += 1
        if isinstance(outcome, Skip) and outcome.reason is Reason.OPT_OUT:
            self.verdict = self._verdict(SiteAnswer.UNKNOWN, 0.0, (), "the site asks not to be mined")
            return
        suggestion = self._asked.get(link.url)
        if isinstance(outcome, Page):
            self._read(link, outcome, suggestion)
        elif isinstance(outcome, Sitemap):
            self._read_sitemap(outcome)
        elif suggestion is not None:
            self._fail(suggestion, AFTER_GUESS if suggestion.method in GUESSES else AFTER_MISSING)
        elif link.url in self._asked and link.kind is not LinkKind.INDEX:
            self._skip = outcome
            if outcome.reason in (Reason.EMPTY, Reason.SCRIPTED):
                self._suggest(self._suggester.of_empty(link.url))
        if self.verdict is None and not self._waiting:
            self._go_on()

    def _follow(self, link: Link, url: Url) -> bool:
        """Whether a page that only leads on is worth following: within the site, or from the entry page."""
        if url in self._asked or link.redirects >= MAX_REDIRECTS:
            return False
        suggestion = self._asked.get(link.url)
        if suggestion is not None and url.site != self._entry.url.site:
            return False
        self._asked[url] = suggestion
        self._ask(msgspec.structs.replace(link, url=url, kind=LinkKind.REDIRECT, redirects=link.redirects + 1))
        return True

    def _ask(self, link: Link) -> None:
        self._waiting.add(link.url)
        self._ready.append(link)

    # What came

    def _read(self, link: Link, page: Page, suggestion: Suggestion | None) -> None:
        expected = suggestion.language if suggestion else UNDETERMINED
        page = msgspec.structs.replace(page, language=self._language_of(page, expected))
        onwards = refreshed(page)
        if onwards is not None and self._follow(link, onwards.url):
            return
        if suggestion is not None and page.language != expected:
            self._fail(suggestion, AFTER_OTHER_LANGUAGE)
        if page.url in self._pages:
            return
        self._seen.update(inside.url for inside in links_inside(page))
        self._partners[page.url] = suggestion.partner if suggestion else None
        self._compare(page)
        self._pages[page.url] = page
        if self.verdict is None:
            self._suggest(self._suggester.of_page(page))
            self._suggest_partner(page)

    def _language_of(self, page: Page, expected: Language) -> Language:
        """One of those asked for where it is one of them; else what the text is in, or the markup claims.

        The main text of a page may be a licence in English. A page that was expected in a language is in it if at least
        half of all its paragraphs are; one that has no running text, if nearly all are.
        """
        total = sum(len(paragraph.text) for paragraph in page.paragraphs)
        there = sum(len(paragraph.text) for paragraph in page.paragraphs if same_language(paragraph.language, expected))
        nearly_all = page.language == UNDETERMINED and there >= NEARLY_ALL * total
        if expected != UNDETERMINED and total and (there >= max(LONG, HALF * total) or nearly_all):
            return expected
        language = page.language if page.language != UNDETERMINED else claimed_language(page.metadata.html_lang)
        return asked_language(language, self._languages) or language

    def _compare(self, page: Page) -> None:
        """With each page seen in another of the languages."""
        for other in self._pages.values():
            if page.language == other.language or not {page.language, other.language} <= set(self._languages):
                continue
            if min(text_size(page), text_size(other)) < MIN_TEXT:
                continue
            a, b = sorted((page, other), key=lambda either: self._languages.index(either.language))
            score = self._judges.are_translations(a, b)
            self._evidence[TRANSLATIONS] = round(max(score, self._evidence.get(TRANSLATIONS, 0.0)), 4)
            least = self._settings.min_score if self._are_named(a.url, b.url) else UNRELATED_SCORE
            if score >= least:
                self._end_with(a, b, score)
                return

    def _are_named(self, a: Url, b: Url) -> bool:
        """Whether something names the two as each other's translations, or both as those of a third page."""
        first, second = self._partners.get(a), self._partners.get(b)
        return first == b or second == a or (first is not None and first == second)

    def _read_sitemap(self, sitemap: Sitemap) -> None:
        self._listed = max(self._listed, sitemap.size)
        for page in list(self._pages.values())[:1]:
            self._suggest(self._suggester.of_sitemap(sitemap, page))

    def _fail(self, suggestion: Suggestion, left: float) -> None:
        key = (suggestion.language, suggestion.method in GUESSES)
        self._left[key] = self._left.get(key, 1.0) * left

    # What next

    def _suggest(self, suggestions: Iterable[Suggestion]) -> None:
        for suggestion in suggestions:
            key = (suggestion.link.url, suggestion.language)
            if key not in self._suggestions or self._suggestions[key].chance < suggestion.chance:
                self._suggestions[key] = suggestion
            self._evidence[suggestion.method] = round(
                max(suggestion.chance, self._evidence.get(suggestion.method, 0.0)), 4
            )

    def _suggest_partner(self, page: Page) -> None:
        """A page was found where the address of another one suggested it: that one is worth a look too."""
        partner = self._partners[page.url]
        if partner is not None and partner not in self._pages and page.language in self._languages:
            for language in self._languages:
                if language != page.language:
                    link = Link(partner, LinkKind.PARTNER, page.url)
                    self._suggest([Suggestion(link, language, SuggestionMethod.HABIT, 1.0, page.url)])

    def _go_on(self) -> None:
        best = self._best() if self._downloads < self._settings.max_downloads else None
        if best is not None:
            self._asked[best.link.url] = best
            self._ask(best.link)
        elif not self._ask_for_sitemap():
            self._end_without()

    def _best(self) -> Suggestion | None:
        """Of the pages that are missing for a pair of languages, the less likely one: without it the other is no use."""
        held = {page.language for page in self._pages.values()}
        options: list[tuple[float, Suggestion]] = []
        for pair in combinations(self._languages, 2):
            missing = [language for language in pair if language not in held]
            bests = [best for language in missing or pair if (best := self._likeliest(language)) is not None]
            if missing and len(bests) == len(missing):
                options.append((prod(map(self._chance, bests)), min(bests, key=self._chance)))
            elif not missing and bests:
                best = max(bests, key=self._chance)
                options.append((self._chance(best), best))
        worth = [option for option in options if option[0] >= self._settings.min_chance]
        return max(worth, key=lambda option: option[0])[1] if worth else None

    def _likeliest(self, language: Language) -> Suggestion | None:
        fresh = (
            suggestion
            for suggestion in self._suggestions.values()
            if suggestion.language == language and self._is_new(suggestion.link.url)
        )
        return max(fresh, key=lambda suggestion: suggestion.chance, default=None)

    def _is_new(self, url: Url) -> bool:
        return url not in self._asked and url not in self._pages

    def _chance(self, suggestion: Suggestion) -> float:
        chance = suggestion.chance * self._left.get((suggestion.language, suggestion.method in GUESSES), 1.0)
        factor = exp(BELIEVED * self._odds.get(suggestion.language, 0.0))
        return chance * factor / (1 - chance + chance * factor)

    def _ask_for_sitemap(self) -> bool:
        if not self._settings.sitemaps or not self._pages or self._downloads >= self._settings.max_downloads:
            return False
        origin = next(iter(self._pages)).origin
        named = [url for url in self._judges.sitemaps_of(origin)[:1] if url not in self._asked]
        for url in named:
            self._asked[url] = None
            self._ask(Link(url, LinkKind.INDEX))
        return bool(named)

    # The end

    def _end_with(self, a: Page, b: Page, score: float) -> None:
        if is_thin(a, b):
            answer, probability = SiteAnswer.THIN, THIN_PROBABILITY
            detail = "one translated page: its links lead to the same pages as those of the original"
        else:
            answer, probability = SiteAnswer.BILINGUAL, round(score, 4)
            detail = f"the pages in {a.language} and {b.language} are translations of each other"
        verdict = self._verdict(answer, probability, (a.language, b.language), detail)
        self.verdict = msgspec.structs.replace(verdict, url_a=a.url, url_b=b.url)

    def _end_without(self) -> None:
        spoken = {page.language for page in self._pages.values()}
        held = tuple(language for language in self._languages if language in spoken)
        left = max(
            (
                self._chance(suggestion)
                for suggestion in self._suggestions.values()
                if self._is_new(suggestion.link.url)
            ),
            default=0.0,
        )
        if not self._pages:
            reason = f"{self._skip.reason} {self._skip.detail}".strip() if self._skip else "no page was read"
            self.verdict = self._verdict(SiteAnswer.UNKNOWN, 0.0, (), f"the entry page could not be read: {reason}")
            return
        missing = ", ".join(language for language in self._languages if language not in held)
        found_both = "pages in these languages, but none is a translation of another"
        detail = found_both if len(held) > 1 else f"no page in {missing} was found"
        self.verdict = self._verdict(SiteAnswer.NO, round(left / 2, 4), held, detail)

    def _verdict(
        self, answer: SiteAnswer, probability: float, languages: tuple[Language, ...], detail: str
    ) -> SiteVerdict:
        return SiteVerdict(
            self._entry.url.host,
            answer,
            probability,
            languages,
            self._evidence,
            downloads=self._downloads,
            pages=self._listed or len(self._seen | self._pages.keys()),
            detail=detail,
        )


def is_thin(a: Page, b: Page) -> bool:
    """Whether two translations lead to the same pages: then those have one version, and only this page has two.

    Unless both addresses name their language: then the site does so by habit, and has more of them.
    """
    if counterparts(a.url, a.language, b.language) and counterparts(b.url, b.language, a.language):
        return False
    targets, others = ({link.url for link in links_inside(page)} - {a.url, b.url} for page in (a, b))
    return len(targets) >= THIN_LINKS and targets == others


def new_site_check(
    languages: Sequence[Language],
    sitemaps_of: Callable[[str], Sequence[Url]] = lambda _origin: (),
    counted: HostLanguages | None = None,
) -> Callable[[Link], DeclaredSiteCheck]:
    """Begins the check of a site at its entry page."""
    judges = site_judges(sitemaps_of)

    def begin(entry: Link) -> DeclaredSiteCheck:
        return DeclaredSiteCheck(entry, languages, judges, odds=counted.odds(entry.url.host) if counted else None)

    return begin


def site_judges(sitemaps_of: Callable[[str], Sequence[Url]] = lambda _origin: ()) -> SiteJudges:
    """What the checks of many sites share, for any languages. `sitemaps_of` is what robots.txt names, by origin."""
    return SiteJudges(Pairing().are_translations, LinearUrlLanguageModel(), LinkPredictor.load(), sitemaps_of)
