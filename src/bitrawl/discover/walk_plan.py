"""What a walk visits next: the seam between a walk and its plans, and what both know of the web around them.

A plan is one of the configurations of Barbosa et al., section 3.1, or ours. It sees a `Neighbourhood`: candidates, who cites
them, and what a link graph adds. Links are judged by their words (Barbosa et al., section 2.3), each with the place where it
stands, by a naive Bayes classifier that learns one example at a time.
"""

import heapq
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from math import exp, fsum, log
from typing import NamedTuple, Protocol

import msgspec

from bitrawl.discover.graph_files import without_www
from bitrawl.discover.site_lists import SiteAnswer, SiteCheck, SiteVerdict
from bitrawl.errors import UrlError
from bitrawl.model import Language, Link, LinkKind, Page
from bitrawl.protocols import BacklinkSource
from bitrawl.text.frequencies import known, rate
from bitrawl.text.words import plain_words, stemmer
from bitrawl.url import Url

STOP_RATE = 800.0  # occurrences in a million words, from which a stem is a stop word: some 150 of a language
MOST_WORDS = 20  # of the text around a link
MOST_LINKS = 200_000  # that are remembered: some 200 MB
MOST_QUEUED = 3  # pages of one host that are queued, beside `walk.MOST_PAGES`
_PARTS = re.compile(r"[^\W\d_]{2,}")
BACKLINKS = 200  # of one bilingual site that are asked for
CITED = 500  # hosts that are asked for of one hub; a hub that cites more says little of each
LOOKED_AT = 30  # links to a candidate that are read for its address and its words
SMOOTHING = 0.5  # of a word's counts (Krichevsky and Trofimov)
LEAST_SUPPORT = 2  # examples with a word, before it is shown as learned


@dataclass(slots=True)
class SiteCandidate:
    """A host that may be a bilingual site."""

    host: str  # without www.
    entry: Link
    words: frozenset[str]
    guessed: bool = False  # The address of the entry page is made up from the host's name.
    has_www: bool = False  # The guess was tried with www. too.
    linked: Link | None = None  # to another address, found while the guess was tried
    looked_up: bool = False
    is_seed: bool = False
    is_queued: bool = False
    check: SiteCheck | None = None
    waiting: set[Url] = field(default_factory=set)  # for these pages
    verdict: SiteVerdict | None = None
    failed: SiteVerdict | None = None  # the verdict at an address that was made up, and that did not answer

    @property
    def may_try_again(self) -> bool:
        """Whether a link to another address is worth a second check. There is no third."""
        return self.failed is not None and self.verdict is self.failed

    @property
    def is_bilingual(self) -> bool:
        return self.verdict is not None and self.verdict.verdict is SiteAnswer.BILINGUAL


class WalkStep(NamedTuple):
    """A page to fetch: the entry of a candidate, or a page that is read for its links."""

    link: Link
    value: float  # from 0 to 1
    candidate: SiteCandidate | None = None


class Plan(Protocol):
    """Orders what is known. It fetches nothing, and is told everything again when a walk resumes."""

    notes: list[str]
    """What a person should know, as sentences."""

    def read(self, step: WalkStep, page: Page) -> None:
        """A page came. Its links are known, and for a hub that is what it was fetched for."""
        ...

    def judged(self, candidate: SiteCandidate) -> None: ...

    def steps(self, most: int, *, idle: bool) -> list[WalkStep]:
        """What to queue now, the best first; each only once. `idle`: nothing else is queued, so the walk would end."""
        ...

    def values(self, queued: Sequence[WalkStep]) -> Iterable[tuple[Url, float]]:
        """New values of what is queued, where they have changed."""
        ...

    def learned(self, most: int) -> "dict[str, list[LearnedWord]]":
        """The words that say most, by classifier."""
        ...


class Neighbourhood:
    """Shared by a walk and its plan."""

    def __init__(self, words: "PlacedLinkWords", source: BacklinkSource | None = None) -> None:
        self.words = words
        self.source = source
        # By host; a host that redirects elsewhere has the candidate of its target.
        self.candidates: dict[str, SiteCandidate] = {}
        self.citations = Citations()
        self.pages_of: Counter[str] = Counter()  # downloads by host
        self.visited: set[Url] = set()

    def candidate(self, link: Link) -> SiteCandidate:
        """The host that the link leads to, known before or new."""
        host = without_www(link.url.host)
        candidate = self.candidates.get(host)
        if candidate is None:
            candidate = self.candidates[host] = SiteCandidate(host, link, self.words.of(link))
        elif candidate.guessed and not candidate.is_queued:
            candidate.entry, candidate.guessed = link, False
            candidate.words |= self.words.of(link)
        elif candidate.guessed and candidate.verdict is None:
            candidate.linked = candidate.linked or link
        elif candidate.may_try_again and link.url not in self.visited:
            candidate.entry, candidate.guessed = link, False
            candidate.words |= self.words.of(link)
            candidate.verdict, candidate.is_queued = None, False
        return candidate

    def read(self, page: Url, links: Sequence[Link]) -> list[SiteCandidate]:
        """A page was read: it cites the hosts that its links lead to. Returns the candidates to check: new ones, and those
        that failed at a made-up address and are linked at another one.
        """
        outside = [link for link in links if link.url.site != page.site and link.kind is LinkKind.PAGE]
        tried_before = {
            host: self.candidates[host].may_try_again
            for link in outside
            if (host := without_www(link.url.host)) in self.candidates
        }
        cited = {without_www(link.url.host): self.candidate(link) for link in outside}
        self.citations.add(page, {candidate.host: None for candidate in cited.values()})
        return [
            candidate
            for host, candidate in cited.items()
            if host not in tried_before or (tried_before[host] and not candidate.may_try_again)
        ]

    def referrers(self, host: str) -> list[Link]:
        """Links to that site, by the source."""
        return self.source.referrers(host, BACKLINKS) if self.source else []

    def citing_pages(self, host: str, most: int) -> tuple[Url, ...]:
        """Pages that cite the host: those that the source names before the hosts that it names, and the pages read."""
        named = self.source.referrers(host, most) if self.source else []
        pages = dict.fromkeys(link.source for link in named if link.source is not None)
        return tuple(pages)[:most] or self.citations.hub_pages(host, most)

    def expand(self, hub: str) -> bool:
        """Add what the source says that a host cites. False if it says nothing but what is known."""
        hosts = [without_www(host) for host in self.source.cites(hub, CITED)] if self.source else []
        for host in hosts:
            if host not in self.candidates:
                self._name(host)
        named = [host for host in hosts if host in self.candidates and host != hub]
        return bool(named) and bool(self.citations.add(hub, named))

    def look_up(self, candidate: SiteCandidate) -> None:
        """Where the links to it lead, and what they say."""
        candidate.looked_up = True
        if self.source is None or not candidate.guessed:
            return
        links = self.source.referrers(candidate.host, LOOKED_AT)
        if links:
            candidate.words = candidate.words.union(*(self.words.of(link) for link in links))
            candidate.entry = _most_common(links)
            candidate.guessed = not any(link.anchor or link.url.path != "/" for link in links)  # a graph of hosts

    def _name(self, host: str) -> None:
        try:
            link = Link(Url.parse(f"https://{host}/"), LinkKind.PAGE)
        except UrlError:  # a graph may hold names that are none
            return
        self.candidates[host] = SiteCandidate(host, link, self.words.of_host(host), guessed=True)


class ForwardPool:
    """Links to follow some day, the best first."""

    def __init__(self, near: Neighbourhood) -> None:
        self._near = near
        self._heap: list[tuple[float, int, Link]] = []
        self._seen: set[Url] = set()
        self._given: dict[str, int] = {}  # by host
        self._order = count()

    def add(self, links: Iterable[Link], value: float | None = None) -> None:
        """Without a value in an order that is random, and the same in each run."""
        for link in links:
            if link.url not in self._seen and link.kind is not LinkKind.INDEX and len(self._seen) < MOST_LINKS:
                self._seen.add(link.url)
                at = random_value(link.url) if value is None else value
                heapq.heappush(self._heap, (-at, next(self._order), link))

    def take(self, most: int) -> list[WalkStep]:
        """Not more than a few of each host."""
        steps: list[WalkStep] = []
        while self._heap and len(steps) < most:
            value, _, link = heapq.heappop(self._heap)
            host = without_www(link.url.host)
            if link.url in self._near.visited or self._given.get(host, 0) >= MOST_QUEUED:
                continue
            self._given[host] = self._given.get(host, 0) + 1
            candidate = self._near.candidate(link)
            new = not candidate.is_queued and candidate.verdict is None
            steps.append(WalkStep(link, -value, candidate if new else None))
        return steps


def random_value(url: Url) -> float:
    """From 0 to 1, the same for the same address."""
    return int.from_bytes(blake2b(url.encode(), digest_size=4).digest()) / 2**32


class HubRecord(NamedTuple):
    """What a hub has yielded."""

    hub: str
    cites: int  # hosts
    judged: int
    bilingual: int


class Citations:
    """Hubs and the hosts that they cite. A hub is a page that was read, or a host of a link graph."""

    def __init__(self) -> None:
        self.cited_by: dict[str, dict[str, None]] = {}  # by host, in the order in which they were found
        self.cites: dict[str, dict[str, None]] = {}  # by hub
        self.bilingual: Counter[str] = Counter()  # sites cited by each hub
        self.judged: Counter[str] = Counter()
        self._answers: dict[str, bool] = {}

    def add(self, hub: str, hosts: Iterable[str]) -> list[str]:
        """The hosts that it was not known to cite."""
        cited = self.cites.setdefault(hub, {})
        new = [host for host in dict.fromkeys(hosts) if host not in cited]
        for host in new:
            cited[host] = None
            self.cited_by.setdefault(host, {})[hub] = None
            if host in self._answers:
                self._count(hub, bilingual=self._answers[host])
        return new

    def judge(self, host: str, *, bilingual: bool) -> None:
        """A host that is judged again counts once, by its last verdict."""
        before = self._answers.get(host)
        self._answers[host] = bilingual
        for hub in self.cited_by.get(host, ()):
            if before is None:
                self._count(hub, bilingual=bilingual)
            else:
                self.bilingual[hub] += bilingual - before

    def neighbours(self, host: str) -> set[str]:
        """All that is cited together with it."""
        return {other for hub in self.cited_by.get(host, ()) for other in self.cites[hub]}

    def best_hubs(self, most: int) -> list[HubRecord]:
        """Those that cite most bilingual sites, the most precise first."""
        records = (
            HubRecord(hub, len(self.cites[hub]), self.judged[hub], count)
            for hub, count in self.bilingual.most_common(10 * most)
            if count
        )
        return sorted(records, key=lambda record: (-record.bilingual, record.judged, record.hub))[:most]

    def hub_pages(self, host: str, most: int) -> tuple[Url, ...]:
        """Who cites that host, as addresses."""
        return tuple(hub_address(hub) for hub in list(self.cited_by.get(host, ()))[:most])

    def _count(self, hub: str, *, bilingual: bool) -> None:
        self.judged[hub] += 1
        self.bilingual[hub] += bilingual


def hub_address(hub: str) -> Url:
    return Url.known(hub if "://" in hub else f"https://{hub}/")


class PlacedLinkWords:
    """Features of a link: "host:org", "url:link", "anchor:hotel", "around:art". Stop words are out, the rest is stemmed."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._languages = [language for language in languages if known(language)] or list(languages[:1])
        self._stem = lru_cache(maxsize=50_000)(self._stemmed)

    def of(self, link: Link) -> frozenset[str]:
        return frozenset(self._all(link))

    def of_host(self, host: str) -> frozenset[str]:
        """All that is known where a graph names only the host."""
        return frozenset(f"host:{part}" for part in _PARTS.findall(host))

    def _all(self, link: Link) -> Iterator[str]:
        yield from self.of_host(without_www(link.url.host))
        yield from (f"url:{part.casefold()}" for part in _PARTS.findall(link.url.path + " " + link.url.query))
        for place, text in (("anchor", f"{link.anchor} {link.image_alt}"), ("around", link.context)):
            stems = (self._stem(word) for word in plain_words(text)[:MOST_WORDS])
            yield from (f"{place}:{stem}" for stem in stems if stem)

    def _stemmed(self, word: str) -> str:
        """Empty for a stop word. It is stemmed as a word of that language in which it is most frequent."""
        stems = [stemmer(language)(word) or word for language in self._languages]
        rates = [float(rate([stem], language)[0]) for stem, language in zip(stems, self._languages, strict=True)]
        best = max(range(len(stems)), key=rates.__getitem__)
        return "" if rates[best] >= STOP_RATE or len(word) < 2 else stems[best]


class LearnedWord(msgspec.Struct, frozen=True):
    """What a classifier has learned of a word."""

    word: str
    odds: float  # logarithm; positive if it speaks for a relevant link
    examples: int


class NaiveBayes:
    """Whether a link is relevant, by its words. It says nothing (odds of 0) before it has seen both kinds."""

    def __init__(self) -> None:
        self._words: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self._examples = {True: 0, False: 0}

    def __len__(self) -> int:
        return self._examples[True] + self._examples[False]

    def learn(self, words: Collection[str], *, relevant: bool) -> None:
        self._words[relevant].update(words)
        self._examples[relevant] += 1

    def odds(self, words: Collection[str], *, own: bool | None = None) -> float:
        """The sum of the words' odds, without those of the classes.

        With `own`, as if the classifier had not learned this example, whose answer that was.
        """
        yes, no = self._examples[True] - (own is True), self._examples[False] - (own is False)
        if yes <= 0 or no <= 0:
            return 0.0
        odds = []
        for word in words:
            for_it, against = self._words[True][word] - (own is True), self._words[False][word] - (own is False)
            if for_it + against > 0:
                odds.append(_odds(for_it, yes) - _odds(against, no))
        return fsum(odds)  # The order of a set differs from process to process, and with `sum` the last digits would.

    def probability(self, words: Collection[str]) -> float:
        """That the link is relevant; the share of relevant ones where the words say nothing."""
        yes, no = self._examples[True], self._examples[False]
        odds = self.odds(words) + log((yes + SMOOTHING) / (no + SMOOTHING))
        return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))

    def top(self, most: int, *, relevant: bool = True) -> list[LearnedWord]:
        """The words that say most, by how much they would change the odds and how often they were seen."""
        yes, no = self._examples[True], self._examples[False]
        if not yes or not no:
            return []
        learned = [
            LearnedWord(word, _odds(self._words[True][word], yes) - _odds(self._words[False][word], no), seen)
            for word in set(self._words[True]) | set(self._words[False])
            if (seen := self._words[True][word] + self._words[False][word]) >= LEAST_SUPPORT
        ]
        sign = 1 if relevant else -1
        learned = [word for word in learned if sign * word.odds > 0]
        return sorted(learned, key=lambda word: (-sign * word.odds * log(1 + word.examples), word.word))[:most]


def _odds(count: int, examples: int) -> float:
    return log((count + SMOOTHING) / (examples + 2 * SMOOTHING))


def _most_common(links: Iterable[Link]) -> Link:
    """The page that most links lead to; of those the one with the shortest address."""
    links = list(links)
    counts = Counter(link.url for link in links)
    best = min(links, key=lambda link: (-counts[link.url], len(link.url), link.url))
    return Link(best.url, LinkKind.PAGE, best.source, best.anchor, best.context)
