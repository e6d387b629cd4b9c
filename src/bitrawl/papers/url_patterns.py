"""Liu et al., sections 2 to 5: two language versions of a site together, pairs of links in the order of their URL patterns.

1. The home pages in two languages are assumed to be a pair.
2. Links at the same place in the aligned tag sequences of a pair become a candidate pair and are queued.
3. Both sides of the first candidate are fetched, and verified (verification.py). A trusted pattern needs less evidence.
4. A pair counts for its pattern; step 2 follows. From time to time the queue is sorted by the trusted patterns.
5. If nothing queued fits a trusted pattern, patterns that are frequent in the queue sort it. If there are none for
   the fifth time, the site is left.

No other link is followed. docs/decisions/paper-strategies.md decides what the paper leaves open. The plain queue, which
the paper compares with, has no patterns: candidates come in the order in which they were found, and it never stops.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from itertools import combinations
from typing import NamedTuple

from rapidfuzz.distance import Indel

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Advice, Language, Link, LinkKind, Page, SiteKnowledge, Sitemap, Visit
from bitrawl.papers.verification import ReadPage, Verification
from bitrawl.protocols import StrategyInputs
from bitrawl.reasons import LeaveReason, NoHomes, NoPattern, Reason
from bitrawl.strategies import aligned_links
from bitrawl.text.known_words import Dictionary
from bitrawl.url import Url
from bitrawl.urls import named_languages, skeleton

TRUSTED = 20  # pairs of a pattern that make it trusted (section 2.2)
DISTRUSTED = 10  # judgement: candidates of a pattern without one pair, after which it promises nothing
COMMON = 2  # candidates of a pattern in the queue (section 3)
MAX_EMPTY_SORTS = 5  # sorts in a row that find no such pattern (section 3)
PERIOD = 10  # judgement: candidates between two sorts of the queue; the paper gives no number
# judgement: more are released if fewer candidates than this are being fetched; a polite crawl fetches fewer at once
MIN_OPEN = 5
MIN_SCORE = 0.5  # of a candidate, to be a pair
MAX_TAGS = 6000  # tags of a page that are compared: 5 MB and 9 ms for two random sequences (2026-11)

# Judgement: scores only define an order. Home pages come first, then candidates in their order.
HOME_SCORE = 0.95
CANDIDATE_SCORE = 0.9  # of the first candidate; each following one is a step lower
STEP = 1e-7

Pair = tuple[Url, Url]

MAX_HOMES = 20  # versions of the seeds that are requested

_BASENAME = re.compile(r"[._=&:\-?]")


class UrlPattern(NamedTuple):
    """Tokens and their replacements. An empty side means that tokens are inserted or deleted."""

    pathname: tuple[tuple[str, str], ...]
    basename: tuple[tuple[str, str], ...]


def pattern_of(a: Url, b: Url) -> UrlPattern:
    """The difference between two URLs.

    Slashes separate the tokens of host and directories; any of ._=&:-? separates those of the file and its parameters.
    """
    path_a, base_a = _tokens(a)
    path_b, base_b = _tokens(b)
    return UrlPattern(_changes(path_a, path_b), _changes(base_a, base_b))


def _tokens(url: Url) -> tuple[list[str], list[str]]:
    """The tokens of the pathname and of the basename. The scheme is in neither."""
    address, mark, query = url.partition("://")[2].partition("?")
    pathname, _, name = address.rpartition("/")
    return pathname.split("/"), _BASENAME.split(f"{name}{mark}{query}")


def _changes(a: Sequence[str], b: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What is between the tokens that both have, as in table 3: {"zh/documents" -> "ga/search"}."""
    changes = []
    end_a = end_b = 0
    for same in Indel.opcodes(a, b).as_matching_blocks():  # the last block is empty, at the end of both
        if end_a < same.a or end_b < same.b:
            changes.append(("/".join(a[end_a : same.a]), "/".join(b[end_b : same.b])))
        end_a, end_b = same.a + same.size, same.b + same.size
    return tuple(changes)


class PatternRules(NamedTuple):
    """What the paper compares."""

    patterns: bool = True
    stops: bool = True
    # How many times the odds of a candidate rise if its pattern is trusted. The paper does not verify it: infinite.
    trust: float = TRUSTED


DEFAULT = PatternRules()

NewVerification = Callable[[tuple[Language, Language]], Verification]


class UrlPatterns:
    """One `SiteWalk` per site. Several languages are visited two by two."""

    def __init__(
        self, languages: Sequence[Language], verification: NewVerification = Verification, rules: PatternRules = DEFAULT
    ) -> None:
        self._languages = tuple(languages)
        self._verification = verification
        self._rules = rules
        self._walks: dict[str, SiteWalk] = {}

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        return self._walk(site).score(links, found_on)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        self._walk(site).learn(visit)

    def advise(self, site: SiteKnowledge) -> Advice:
        return self._walk(site).advise()

    @property
    def opened(self) -> int:
        """The number of candidate pairs of which a page was read, whatever became of them."""
        return sum(walk.opened for walk in self._walks.values())

    @property
    def examined(self) -> int:
        """The number of candidate pairs that were verified: two pages, each in its language."""
        return sum(walk.examined for walk in self._walks.values())

    @property
    def pairs(self) -> set[Pair]:
        """The pairs that were accepted, and the home pages."""
        return {pair for walk in self._walks.values() for pair in walk.pairs}

    def _walk(self, site: SiteKnowledge) -> "SiteWalk":
        if site.site not in self._walks:
            self._walks[site.site] = SiteWalk(self._languages, self._verification, self._rules)
        return self._walks[site.site]


def url_patterns(inputs: StrategyInputs, rules: PatternRules = DEFAULT) -> UrlPatterns:
    dictionary = Dictionary.of(inputs.dictionary, inputs.languages)
    return UrlPatterns(inputs.languages, lambda two: Verification(two, dictionary and dictionary.words(*two)), rules)


def plain_queue(inputs: StrategyInputs) -> UrlPatterns:
    """The baseline of section 6: what is found first is examined first, until the queue is empty."""
    return url_patterns(inputs, PatternRules(patterns=False, stops=False))


class CandidatePair(NamedTuple):
    """Two URLs that may be versions of one page, and the languages that they would be in."""

    a: Url
    b: Url
    lang_a: Language
    lang_b: Language


class Opened(NamedTuple):
    """A candidate that is being fetched."""

    pattern: UrlPattern
    score: float


class SiteWalk:
    """The queue of candidate pairs of one site, and what is known to order it."""

    def __init__(self, languages: Sequence[Language], verification: NewVerification, rules: PatternRules) -> None:
        self.opened = self.examined = 0
        self.pairs: set[Pair] = set()
        self._rules = rules
        self._verification = {two: verification(two) for two in combinations(languages, 2)}
        self._homes = Homes(languages)
        self._languages = tuple(languages)
        self._links: dict[Url, Link] = {}  # all that are in scope
        self._seen: dict[Url, ReadPage | None] = {}  # None for a URL that brought no page
        self._aliases: dict[Url, Url] = {}
        self._moving: dict[Url, float] = {}  # URLs that redirect, with their scores, until the loop names the target
        self._met: set[Pair] = set()  # every candidate, with its URLs in alphabetical order
        self._taken: set[tuple[Url, Language]] = set()  # pages that have their version in that language
        self._queue: dict[CandidatePair, UrlPattern] = {}
        self._open: dict[CandidatePair, Opened] = {}
        # open candidates by the page that they wait for
        self._waiting: defaultdict[Url, set[CandidatePair]] = defaultdict(set)
        self._ready: list[CandidatePair] = []
        self._wanted: list[tuple[Url, float]] = []  # not requested yet
        self._asked: dict[Url, float] = {}
        self._released = 0
        self._frequency: Counter[UrlPattern] = Counter()
        self._failures: Counter[UrlPattern] = Counter()
        self._strangers: Counter[Language] = Counter()  # pages that should be in that language and are not
        self._empty_sorts = 0
        self._leave: LeaveReason = ""

    def score(self, links: Sequence[Link], found_on: Page | None) -> list[float]:
        """Score links that are in scope. All are remembered; only candidates are followed."""
        for link in links:
            self._links.setdefault(link.url, link)
            if link.kind is LinkKind.SEED:
                self._homes.expect(link.url)
            elif link.kind is LinkKind.REDIRECT and link.source in self._moving:
                self._move(link.source, link.url)
        if found_on is not None:
            self._homes.read_links(found_on.url, links)
        return [
            1.0 if link.kind in (LinkKind.SEED, LinkKind.PROBE) else self._asked.get(link.url, 0.0) for link in links
        ]

    def learn(self, visit: Visit) -> None:
        """Learn from a visit. Pairs are examined in `advise`, when it is known which links are in scope."""
        url, outcome = visit.lease.link.url, visit.outcome
        if isinstance(outcome, Page):
            self._seen[url] = ReadPage.of(outcome, self._languages, max_tags=MAX_TAGS)
            self._homes.arrived(outcome)
            self._resolve(url)
        elif isinstance(outcome, Sitemap):
            return
        elif outcome.reason is Reason.REDIRECT:
            self._moving[url] = visit.lease.score
        else:
            self._miss(url)

    def advise(self) -> Advice:
        """Raises the next candidates once there is room for them."""
        for url in list(self._moving):  # these redirect to a URL out of scope
            self._miss(url)
        self._moving.clear()
        self._wanted += [(url, HOME_SCORE) for url in self._homes.versions()]
        for homes in (CandidatePair(*pair) for pair in self._homes.pairs()):
            if self._is_possible(homes):
                self._accept(homes, pattern_of(homes.a, homes.b))
        self._examine()
        while self._queue and len(self._open) < MIN_OPEN:
            self._release()
            self._examine()
        if not self._open and not self.pairs:
            self._leave = NoHomes() if self._homes.are_missing else ""
        fresh = {url: score for url, score in self._wanted if url not in self._asked}
        self._wanted.clear()
        self._asked.update(fresh)
        return Advice(links=tuple(self._links[url] for url in fresh), leave=self._leave)

    # pages

    def _resolve(self, url: Url) -> None:
        """Note that the outcome of a URL is known."""
        for candidate in sorted(self._waiting.pop(url, ())):
            self._pursue(candidate)

    def _pursue(self, candidate: CandidatePair) -> None:
        """Request the page that a candidate lacks. Of two, the first is the one that is more often in another language.

        If that one is missing or in another language, the candidate ends, and the other page costs nothing.
        """
        sides = ((candidate.b, candidate.lang_b), (candidate.a, candidate.lang_a))
        lacking = [side for side in sides if not self._is_known(side[0])]
        if not lacking:
            self._ready.append(candidate)
        elif not self._is_possible(candidate) or self._is_in_another_language(candidate):
            self._failures[self._close(candidate)] += 1
        else:
            url = self._landed(max(lacking, key=lambda side: self._strangers[side[1]])[0])
            self._waiting[url].add(candidate)
            self._wanted.append((url, self._open[candidate].score))

    def _close(self, candidate: CandidatePair) -> UrlPattern:
        """No further page of it is requested."""
        self.opened += any(self._seen.get(self._landed(url)) is not None for url in candidate[:2])
        return self._open.pop(candidate).pattern

    def _is_in_another_language(self, candidate: CandidatePair) -> bool:
        """Whether one of its pages that are known is."""
        found = False
        for url, language in ((candidate.a, candidate.lang_a), (candidate.b, candidate.lang_b)):
            page = self._seen.get(self._landed(url))
            if page is not None and language not in page.spoken:
                self._strangers[language] += 1
                found = True
        return found

    def _miss(self, url: Url) -> None:
        self._seen[url] = None
        self._homes.missed(url)
        self._resolve(url)

    def _move(self, url: Url, target: Url) -> None:
        landed = self._landed(target)
        score = self._moving.pop(url)
        if landed == url:  # a redirect loop
            self._miss(url)
            return
        self._aliases[url] = landed
        self._asked.setdefault(target, score)
        self._homes.moved(url, landed, known=landed in self._seen)
        if landed in self._seen:
            self._resolve(url)
        else:
            self._waiting[landed] |= self._waiting.pop(url, set())

    def _landed(self, url: Url) -> Url:
        while url in self._aliases:
            url = self._aliases[url]
        return url

    def _is_known(self, url: Url) -> bool:
        return self._landed(url) in self._seen

    # pairs

    def _examine(self) -> None:
        """Examine candidates with two known sides."""
        while self._ready:
            candidate = self._ready.pop(0)
            pattern = self._close(candidate)
            if not self._is_possible(candidate):
                continue
            if self._is_in_another_language(candidate) or not self._is_pair(candidate, pattern):
                self._failures[pattern] += 1
            else:
                self._accept(candidate, pattern)

    def _is_pair(self, candidate: CandidatePair, pattern: UrlPattern) -> bool:
        a, b = self._seen[self._landed(candidate.a)], self._seen[self._landed(candidate.b)]
        if a is None or b is None:
            return False
        self.examined += 1
        score = self._verification[candidate.lang_a, candidate.lang_b].score(a, b)
        is_trusted = self._rules.patterns and self._frequency[pattern] >= TRUSTED
        return score >= (1 / (1 + self._rules.trust) if is_trusted else MIN_SCORE)

    def _is_possible(self, candidate: CandidatePair) -> bool:
        """Whether both may be pages, and neither has a version in the other's language yet."""
        a, b = self._landed(candidate.a), self._landed(candidate.b)
        missing = any(url in self._seen and self._seen[url] is None for url in (a, b))
        taken = (a, candidate.lang_b) in self._taken or (b, candidate.lang_a) in self._taken
        return a != b and not missing and not taken

    def _accept(self, candidate: CandidatePair, pattern: UrlPattern) -> None:
        pair = candidate._replace(a=self._landed(candidate.a), b=self._landed(candidate.b))
        self.pairs.add((pair.a, pair.b))
        self._taken |= {(pair.a, pair.lang_b), (pair.b, pair.lang_a)}
        self._frequency[pattern] += 1
        a, b = self._seen[pair.a], self._seen[pair.b]
        if a is None or b is None:
            return
        if pair.lang_a in a.spoken and pair.lang_b in b.spoken:  # home pages may be in neither
            self._verification[pair.lang_a, pair.lang_b].add(a, b)
        for first, second in aligned_links(a.visited, b.visited):
            key = (min(first, second), max(first, second))
            if first != second and key not in self._met and first in self._links and second in self._links:
                self._met.add(key)
                self._queue[pair._replace(a=first, b=second)] = pattern_of(first, second)

    # the queue

    def _release(self) -> None:
        """Sort the queue and open its first candidates. One with two known sides is ready at once."""
        self._queue = {candidate: pattern for candidate, pattern in self._queue.items() if self._is_possible(candidate)}
        worth = self._worth() if self._queue and self._rules.patterns else {}
        for candidate in nsmallest(PERIOD, self._queue, key=lambda candidate: -worth.get(self._queue[candidate], 0)):
            score = max(STEP, CANDIDATE_SCORE - STEP * self._released)
            self._released += 1
            self._open[candidate] = Opened(self._queue.pop(candidate), score)
            self._pursue(candidate)

    def _worth(self) -> dict[UrlPattern, int]:
        """What sorts the queue: trusted patterns or, if none fits, the module of section 3."""
        queued = Counter(self._queue.values())
        trusted = {pattern: self._frequency[pattern] for pattern in queued if self._frequency[pattern] >= TRUSTED}
        if trusted:
            return trusted
        common = {p: count for p, count in queued.items() if count >= COMMON and not self._is_distrusted(p)}
        self._empty_sorts = 0 if common else self._empty_sorts + 1
        if self._rules.stops and self._empty_sorts >= MAX_EMPTY_SORTS:
            self._leave = NoPattern(len(self._queue), MAX_EMPTY_SORTS)
        return common

    def _is_distrusted(self, pattern: UrlPattern) -> bool:
        """The menus of two versions put links to a third and a fourth language side by side, on every page."""
        return not self._frequency[pattern] and self._failures[pattern] >= DISTRUSTED


class Homes:
    """The home pages in the requested languages: the seeds and, if a language is missing, versions that they link to."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._languages = tuple(languages)
        self._expected: set[Url] = set()
        self._found: dict[Url, Language] = {}
        self._versions: dict[Url, None] = {}  # not requested yet
        self._asked: set[Url] = set()

    def expect(self, url: Url) -> None:
        """Note a seed, or a version that was requested."""
        if url not in self._found:
            self._expected.add(url)

    def arrived(self, page: Page) -> None:
        """Note a page. Only expected pages are used."""
        if page.url in self._expected:
            self._expected.discard(page.url)
            self._found[page.url] = self._language(page)

    def missed(self, url: Url) -> None:
        """Note that the URL brought no page."""
        self._expected.discard(url)

    def moved(self, url: Url, target: Url, *, known: bool) -> None:
        """Note that the home page is where the redirect leads."""
        if url in self._expected:
            self._expected.discard(url)
            if not known:
                self.expect(target)

    def read_links(self, url: Url, links: Sequence[Link]) -> None:
        """Read the links of a page. If it is a home page, remember those that lead to its versions."""
        if url not in self._found or not self._lacking():
            return
        keys = {skeleton(url, language) for language in (*self._languages, UNDETERMINED)}
        for link in links:
            if link.url not in self._found and self._is_version(link, keys):
                self._versions.setdefault(link.url)

    def versions(self) -> list[Url]:
        """What to request now. Nothing while seeds are being visited, or if no language is missing."""
        if self._expected or not self._lacking():
            return []
        versions = [url for url in self._versions if url not in self._asked][: MAX_HOMES - len(self._asked)]
        self._versions.clear()
        self._asked.update(versions)
        self._expected.update(versions)
        return versions

    def pairs(self) -> Iterator[tuple[Url, Url, Language, Language]]:
        """Pairs of home pages, in the order of the languages.

        They have the same skeleton or, if there are none, they are the first of each language.
        """
        for first, second in combinations(self._languages, 2):
            mine = [url for url, language in self._found.items() if language == first]
            others = {skeleton(url, second): url for url, language in self._found.items() if language == second}
            same = [(url, others[key]) for url in mine if (key := skeleton(url, first)) in others]
            if not same and mine and others and not self._expected:
                same = [(mine[0], next(iter(others.values())))]
            yield from ((*pair, first, second) for pair in same)

    @property
    def are_missing(self) -> bool:
        """Whether there are no two home pages to begin with. False while there may be."""
        return bool(self._found) and not self._expected

    def _language(self, page: Page) -> Language:
        """The language that the URL names, else what the page declares, else that of its text.

        The text comes last because a home page often consists mostly of menus. The index of docs.gimp.org/2.10/fr/ has
        more words of an English licence than French ones.
        """
        named = [
            language
            for language in self._languages
            if any(same_language(mark, language) for mark in named_languages(page.url))
        ]
        claims = [*(named if len(named) == 1 else ()), claimed_language(page.metadata.html_lang), page.language]
        return next(
            (language for claim in claims for language in self._languages if same_language(claim, language)),
            UNDETERMINED,
        )

    def _lacking(self) -> set[Language]:
        return set(self._languages) - set(self._found.values())

    def _is_version(self, link: Link, keys: set[str]) -> bool:
        """Whether it is declared as a translation into a missing language, or differs only by that language's marks."""
        if link.kind is LinkKind.ALTERNATE or link.hreflang:
            claimed = claimed_language(link.hreflang)
            return claimed == UNDETERMINED or any(same_language(claimed, language) for language in self._lacking())
        return any(skeleton(link.url, language) in keys for language in self._lacking())
