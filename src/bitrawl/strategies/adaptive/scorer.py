"""The default strategy: all evidence at once, weighed by a model that each visit teaches.

What is estimated of a queued link is the probability that its page is one of a pair. A link whose partner has been
visited completes a pair with one fetch, any other needs two: so half-found pairs come first. docs/decisions/adaptive.md
has the reasons and the figures.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from importlib import resources

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import UrlError
from bitrawl.languages import claimed_language, same_language
from bitrawl.model import (
    UNDETERMINED,
    Advice,
    Language,
    Link,
    LinkKind,
    Page,
    Reason,
    SiteKnowledge,
    Sitemap,
    Stage,
    Visit,
)
from bitrawl.protocols import UrlLanguageModel
from bitrawl.strategies.adaptive.partners import Couples
from bitrawl.strategies.adaptive.rates import Yields
from bitrawl.strategies.adaptive.stopping import Patience, largest
from bitrawl.strategies.adaptive.wanted import Wanted
from bitrawl.url import Url
from bitrawl.urls.habits import Habits

Floats = NDArray[np.float32]

MODEL = resources.files("bitrawl.strategies") / "models" / "adaptive.json"
ASKED = frozenset({Stage.FETCH, Stage.ANALYSE})  # what ended there cost a fetch
FIRST = frozenset({LinkKind.INDEX, LinkKind.PROBE})
HALF = 0.5  # of a pair is what a page brings whose partner has yet to be fetched
TOP = 200  # queued links whose order is kept right; those below are looked at again when their turn comes near
ROWS_PER_VISIT = 1000  # links that are scored again, on average, for each visit
CHANGED = 0.03  # of a score, before it is written
LEAST = 1e-4  # 0 would refuse a link
MIN_SUPPORT = 5  # pairs of a site, before its habits are followed to addresses that nobody links to
CONFIDENT = 0.5  # of such a habit
GROWTH = 1.3  # of the pairs, before all pages without a partner are looked at again
FORESEEN, WORTHWHILE = "foreseen", 0.03  # how often that must have led to a pair to be done again


class Column(IntEnum):
    """What is known of a queued link."""

    BIAS = 0
    DECLARED = 1  # somebody names it as a version of another page
    UNWANTED = 2  # it is said to be in a language that nobody asked for
    WANTED = 3  # log-odds that it is in a language asked for, by its URL
    PARTNER_VISITED = 4
    PARTNER_QUEUED = 5
    PARTNER_FAILED = 6  # visited, and no page of another language asked for, or taken
    SAME_ANCHOR = 7  # it is called the same as its partner: a sign that it was not translated
    OTHER_ANCHOR = 8
    FROM_WANTED = 9  # found on a page in a language asked for
    FROM_PAIRED = 10
    LISTED = 11  # in a sitemap
    DEPTH = 12
    TWIN_VISITED = 13  # under another spelling of the same address
    TWIN_QUEUED = 14
    BESIDE = 15  # what may be its partner is known by nothing but a place on paired pages
    SILENT = 16  # what may be its partner names its translations, and not this one
    BY_MARKS = 17  # log-odds of what links with the same marks brought
    BY_PLACE = 18  # ... in the same directory, languages apart
    BY_BOTH = 19
    BY_SOURCE = 20  # ... from the same page
    BY_STATE = 21  # ... of which the same was known: declared, partner, names


STATIC = 17
GROUPS = 5


def column_weights(named: Mapping[str, float]) -> Floats:
    """By the names of the columns, as the model file has them."""
    return np.array([named[column.name.lower()] for column in Column], np.float32)


def _bundled() -> Floats:
    return column_weights(msgspec.json.decode(MODEL.read_bytes(), type=dict[str, float]))


class Adaptive:
    """One `SiteState` a site: sites share nothing but the languages asked for."""

    def __init__(
        self, languages: Sequence[Language], model: UrlLanguageModel | None = None, weights: Floats | None = None
    ) -> None:
        self._languages = tuple(languages)
        self._model = model
        self._sites: dict[str, SiteState] = {}
        self._weights = _bundled() if weights is None else weights
        self.trace: list[tuple[Url, Floats]] | None = (
            None  # for training: what was known of each link when it was visited
        )

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        """As `protocols.LinkScorer`."""
        return self._state(site.site).score(links, found_on)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        """As `protocols.LinkScorer`."""
        self._state(site.site).learn(visit)

    def advise(self, site: SiteKnowledge) -> Advice:
        """As `protocols.LinkScorer`."""
        return self._state(site.site).advise()

    @property
    def examined(self) -> int:
        """Candidate pairs that were looked at."""
        return sum(state.couples.examined for state in self._sites.values())

    @property
    def pairs(self) -> set[tuple[Url, Url]]:
        """Those that were believed."""
        return {pair for state in self._sites.values() for pair in state.couples.pairs}

    def _state(self, site: str) -> "SiteState":
        if site not in self._sites:
            self._sites[site] = SiteState(self._languages, self._model, self._weights, self.trace)
        return self._sites[site]


class SiteState:
    """What is known of one site: its addresses, its pairs, and what visits of each kind brought."""

    def __init__(
        self,
        languages: Sequence[Language],
        model: UrlLanguageModel | None,
        weights: Floats,
        trace: list[tuple[Url, Floats]] | None = None,
    ) -> None:
        self.couples = Couples(languages)
        self._languages = tuple(languages)
        self._weights = weights
        self._wanted = Wanted(languages, model)
        self._rows: dict[Url, int] = {}
        self._urls: list[Url] = []
        self._facts = np.zeros((256, STATIC), np.float32)
        self._groups = np.zeros((256, GROUPS), np.int64)
        self._alive = np.zeros(256, bool)
        self._written = np.zeros(256, np.float32)
        self._half = np.zeros(256, bool)
        self._yields = Yields(0.3)
        self._anchors: dict[Url, str] = {}
        self._claims: dict[Url, Language] = {}
        self._gain: dict[Url, float] = {}
        self._dirty: set[int] = set()
        self._since = 0
        self._lonely: set[Url] = set()
        self._habits = Habits()
        self._looked_at = 0
        self._patience = Patience()
        self._trace = trace

    def score(self, links: Sequence[Link], found_on: Page | None) -> list[float]:
        """Of links that the loop is about to queue."""
        rows = []
        new = [link for link in links if link.url not in self._rows and link.kind not in FIRST]
        chances = dict(zip([link.url for link in new], self._wanted.odds([link.url for link in new]), strict=True))
        for link in links:
            if link.kind in FIRST:
                self.couples.meet(link.url)
                rows.append(-1)
                continue
            row = self._rows.get(link.url)
            if row is None:
                row = self._add(link, chances[link.url])
            rows.append(row)
            self._hear(row, link)
        known = np.array([row for row in rows if row >= 0], np.int64)
        if found_on is not None:
            self._found(known, found_on.url)
        self._refresh(self._dirty)
        self._dirty.clear()
        scores = np.maximum(self._scores(known), LEAST)
        if not self.couples.visited:  # what the user names comes first; the first visit tells which of it
            scores[[link.kind is LinkKind.SEED for link, row in zip(links, rows, strict=True) if row >= 0]] = 1.0
        # The queue only raises what it has: what is lower now stays written as it was, until `advise` lowers it.
        self._written[known] = np.maximum(self._written[known], scores)
        rest = iter(scores.tolist())
        return [1.0 if row < 0 else next(rest) for row in rows]

    def learn(self, visit: Visit) -> None:
        """What came of a visit."""
        url, outcome = visit.lease.link.url, visit.outcome
        if isinstance(outcome, Sitemap):
            for group in outcome.alternates:
                self._declare(self.couples.wanted(group))
            return
        if visit.lease.link.kind is LinkKind.PROBE:
            return
        self._since += 1
        if isinstance(outcome, Page) or outcome.stage in ASKED:
            self._patience.fetched()
        row = self._rows.get(url)
        if row is not None:
            self._alive[row] = False
            if self._trace is not None:
                self._refresh([row])
                self._trace.append((url, self._features(np.array([row]))[0]))
        if isinstance(outcome, Page):
            self._arrived(outcome)
            return
        self.couples.missed(url)
        if outcome.reason is Reason.REDIRECT:
            self._moved(url, outcome.detail)
            return
        self._count(url, 0.0)
        self._settle(self.couples.candidates(url))

    def advise(self) -> Advice:
        """New scores of what the visit changed; of everything near the top now and then."""
        rows = np.array(sorted(self._dirty), np.int64)
        self._refresh(self._dirty)
        self._dirty.clear()
        alive = np.flatnonzero(self._alive)
        if self._since * ROWS_PER_VISIT > len(alive):
            self._since = 0
            rows = alive
        rows = rows[self._alive[rows]]
        links = self._foreseen()
        if not len(rows):
            return Advice(links=links, leave=self._leave(alive))
        scores = self._scores(rows)
        old = self._written[rows]
        if len(rows) > TOP:
            bar = largest(scores, TOP).min()
            near = (scores >= bar) | (old >= bar)
        else:
            near = np.ones(len(rows), bool)
        changed = near & (np.abs(scores - old) > CHANGED * np.maximum(old, scores))
        self._written[rows[changed]] = scores[changed]
        written = zip(rows[changed].tolist(), scores[changed].tolist(), strict=True)
        return Advice(tuple((self._urls[row], max(LEAST, score)) for row, score in written), links, self._leave(alive))

    def _leave(self, alive: NDArray[np.int64]) -> str:
        return self._patience.ended(len(self.couples.pairs), self._written[alive])

    def _foreseen(self) -> tuple[Link, ...]:
        """Partners that the site's habits name and that no page links to."""
        pairs = len(self.couples.pairs)
        if pairs >= MIN_SUPPORT and pairs > GROWTH * self._looked_at:
            self._looked_at = pairs  # what the habits did not say then they may say now
            self._lonely.update(self.couples.visited)
        if pairs < MIN_SUPPORT or not self._lonely:
            return ()
        links = {}
        for url in sorted(self._lonely):
            if not self._is_lonely(url) or self._yields.rate(self._foreseen_from(url)) < WORTHWHILE:
                continue
            for partner, confidence in self._habits.partners(url):
                known = partner in self._rows or partner in self.couples.visited
                if confidence >= CONFIDENT and not known and partner.host == url.host:
                    links[partner] = Link(partner, LinkKind.PARTNER, url)
        self._lonely.clear()
        return tuple(links.values())

    def _foreseen_from(self, url: Url | None) -> int:
        """The group of such links from pages in the same language: what is rarely translated has few partners."""
        sketch = self.couples.visited.get(url) if url else None
        return self._yields.group((FORESEEN, sketch.language if sketch else UNDETERMINED))

    def _is_lonely(self, url: Url) -> bool:
        """Visited, in a language asked for, and nothing is known that could be its partner."""
        sketch = self.couples.visited.get(url)
        if sketch is None or sketch.language == UNDETERMINED or sketch.partners:
            return False
        return not any(other in self._rows or other in self.couples.visited for other in self.couples.candidates(url))

    # what is known of a link

    def _add(self, link: Link, odds: float) -> int:
        url = link.url
        self.couples.meet(url)
        self._patience.saw(self.couples.marks(url))
        row = self._rows[url] = len(self._urls)
        self._urls.append(url)
        if row == len(self._alive):
            self._grow()
        self._alive[row] = url not in self.couples.visited
        facts = self._facts[row]
        facts[Column.BIAS] = 1.0
        facts[Column.WANTED] = odds
        facts[Column.DEPTH] = np.log1p(link.depth)
        facts[Column.LISTED] = link.kind is LinkKind.SITEMAP
        marks = "+".join(self.couples.marks(url)) + ("*" if self._wanted.names_another(url) else "")
        folders = self.couples.key(url).split("?")[0].split("/")[:-1][:5]
        self._groups[row] = (
            self._yields.group(("marks", marks)),
            self._yields.group(("place", *folders)),
            self._yields.group(("marks", marks, *folders)),
            self._foreseen_from(link.source)
            if link.kind is LinkKind.PARTNER
            else self._yields.group(("source", link.source or "")),
            self._yields.group(("state",)),
        )
        self._touch(self.couples.candidates(url))
        self._touch(self.couples.twins(url))
        self._dirty.add(row)
        return row

    def _found(self, rows: NDArray[np.int64], source: Url) -> None:
        """What the page that has the links adds."""
        sketch = self.couples.visited.get(source)
        if sketch is None or sketch.language == UNDETERMINED:
            return
        self._dirty.update(rows[self._facts[rows, Column.FROM_WANTED] == 0].tolist())
        self._facts[rows, Column.FROM_WANTED] = 1.0
        if sketch.partners:
            self._facts[rows, Column.FROM_PAIRED] = 1.0

    def _hear(self, row: int, link: Link) -> None:
        """What one more link to a known address adds."""
        if link.hreflang and link.url not in self._claims:
            claim = claimed_language(link.hreflang)
            if claim != UNDETERMINED:
                self._claims[link.url] = claim
                self._dirty.add(row)
        if link.url in self._anchors:
            return
        anchor = " ".join(link.anchor.split()).casefold()
        if len(anchor) > 9:
            self._anchors[link.url] = anchor
            self._dirty.add(row)
            self._touch(self.couples.candidates(link.url))

    def _refresh(self, rows: Iterable[int]) -> None:
        """The facts that depend on other addresses."""
        for row in rows:
            self._relate(row)

    def _relate(self, row: int) -> None:
        url, facts = self._urls[row], self._facts[row]
        facts[Column.DECLARED] = self.couples.is_declared(url)
        claim = self._claims.get(url) or self.couples.claim(url)
        self._patience.saw(wanted for wanted in self._languages if same_language(claim, wanted))
        facts[Column.UNWANTED] = claim != UNDETERMINED and not any(same_language(claim, one) for one in self._languages)
        visited = queued = failed = silent = False
        same = other_name = False
        mine = self._anchors.get(url)
        for other in self.couples.candidates(url):
            if other in self.couples.visited:
                waits = self.couples.waits(other, url)
                visited |= waits
                failed |= not waits
                silent |= self.couples.silent(other, url)
            elif other in self._rows:
                queued = True
            name = self._anchors.get(other)
            if mine and name:
                same |= name == mine
                other_name |= name != mine
        facts[Column.PARTNER_VISITED] = visited
        facts[Column.PARTNER_QUEUED] = queued and not visited
        facts[Column.PARTNER_FAILED] = failed and not visited
        facts[Column.SAME_ANCHOR] = same
        facts[Column.OTHER_ANCHOR] = other_name and not same
        twins = [twin for twin in self.couples.twins(url) if twin in self._rows or twin in self.couples.visited]
        facts[Column.TWIN_VISITED] = seen = any(self.couples.visited.get(twin) is not None for twin in twins)
        facts[Column.TWIN_QUEUED] = bool(twins) and not seen
        self._half[row] = visited
        facts[Column.SILENT] = silent
        facts[Column.BESIDE] = beside = self.couples.is_beside(url)
        partner = "visited" if visited else "failed" if failed else "queued" if queued else "none"
        partner += (" beside" if beside else "") + (" silent" if silent else "")
        name = "same" if same else "other" if other_name else "none"
        self._groups[row, GROUPS - 1] = self._yields.group(("state", partner, name, self.couples.is_declared(url)))

    def _features(self, rows: NDArray[np.int64]) -> Floats:
        rates = np.clip(self._yields.rates_of(self._groups[rows]), 0.003, 0.997)
        return np.hstack([self._facts[rows], np.log(rates / (1 - rates))])

    def _scores(self, rows: NDArray[np.int64]) -> Floats:
        if not len(rows):
            return np.zeros(0, np.float32)
        chance: Floats = 1 / (1 + np.exp(-(self._features(rows) @ self._weights)))
        return np.where(self._half[rows], chance, np.float32(HALF) * chance)

    # what visits bring

    def _arrived(self, page: Page) -> None:
        url = page.url
        before = set(self.couples.candidates(url))
        partners = self.couples.arrived(page)
        sketch = self.couples.visited[url]
        language = () if sketch is None or sketch.language == UNDETERMINED else (sketch.language,)
        self._patience.arrived(len(partners), language)
        for partner in partners:
            self._count(partner, 1.0)
            self._habits.add(*self._in_order(url, partner))
        self._count(url, 1.0 if partners else self._hope(url))
        if not partners:
            self._lonely.add(url)
        self._settle(before | set(self.couples.candidates(url)))
        self._touch(self.couples.twins(url))

    def _settle(self, others: Iterable[Url]) -> None:
        """What was visited and hoped for a partner may do so no more; what is queued has other chances."""
        known = sorted(others)
        for other in known:
            if self._gain.get(other) == HALF:
                self._count(other, self._hope(other))
        self._touch(known)

    def _in_order(self, a: Url, b: Url) -> tuple[Url, Url]:
        """As the languages were asked for: a habit has a direction."""
        first, second = self.couples.visited[a], self.couples.visited[b]
        forward = (
            first is None
            or second is None
            or _place(first.language, self._languages) <= _place(second.language, self._languages)
        )
        return (a, b) if forward else (b, a)

    def _hope(self, url: Url) -> float:
        """What a page without a partner is worth: something while a link that may be its partner is queued."""
        sketch = self.couples.visited[url]
        if sketch is None or sketch.language == UNDETERMINED:
            return 0.0
        return HALF * any(
            other in self._rows and other not in self.couples.visited for other in self.couples.candidates(url)
        )

    def _moved(self, old: Url, target: str) -> None:
        try:
            new = Url.parse(target)
        except UrlError:
            return
        self.couples.meet(new)
        self.couples.moved(old, new)
        if old in self._anchors:
            self._anchors.setdefault(new, self._anchors[old])
        self._touch(self.couples.candidates(new))

    def _count(self, url: Url, gain: float) -> None:
        row = self._rows.get(url)
        if row is None:
            return
        old = self._gain.get(url)
        self._gain[url] = gain
        for group in self._groups[row].tolist():
            self._yields.count(group, 0.0 if old is not None else 1.0, gain - (old or 0.0))

    def _declare(self, urls: Sequence[Url]) -> None:
        for url in urls:
            self.couples.meet(url)
        self.couples.declare(urls)
        self._touch(urls)

    def _touch(self, urls: Iterable[Url]) -> None:
        for url in urls:
            row = self._rows.get(url)
            if row is not None and self._alive[row]:
                self._dirty.add(row)

    def _grow(self) -> None:
        for name in ("_facts", "_groups", "_alive", "_written", "_half"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros_like(old)]))


def _place(language: Language, languages: Sequence[Language]) -> int:
    return languages.index(language) if language in languages else len(languages)
