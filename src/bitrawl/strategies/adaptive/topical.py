"""`adaptive` in a job with a topic: what a fetch can be expected to bring, times the chance that it is about the topic.

With one language, every page counts. With several, pairs do, and a translation is about what its original is about: a link
that a page declares as its translation has the chance of that page. `LinkLanguages` is the chance that a link leads to a page in
a language asked for.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Advice, Language, Link, LinkKind, Page, SiteKnowledge, Sitemap, Skip, Visit
from bitrawl.protocols import LinkScorer, RelevanceModel
from bitrawl.reasons import FewRelevant, LeaveReason, Stage
from bitrawl.strategies.adaptive.link_relevance import Floats, LinkRelevance, LinkWordTable, Rows, WordWeights
from bitrawl.strategies.adaptive.rates import NEXT, OldestTurns, Rates, folders, largest
from bitrawl.strategies.arrival import FIRST
from bitrawl.url import Url
from bitrawl.urls import address_languages

TOP = (
    300  # queued links whose order is kept right; those below are looked at again when their turn comes near; judgement
)
ROWS_PER_VISIT = 2000  # links that are scored again, on average, for each visit; judgement: 0.3 ms
MIN_CHANGE = 0.03  # of a score, before it is written; judgement
LEAST = 1e-4  # 0 would refuse a link
# A place, a host or a first directory, that another host links to is looked at before links of the same chance are dug out
# elsewhere: its first page says more of it than any link to it. And because a judge that errs digs on where it errs, the
# most promising new place comes next after 4 visits, 8, 16 and so on, whatever is queued.
# It is less for a host whose other pages brought nothing (`LinkRelevance.hope`): a directory may link to 20 places of one host.
CURIOSITY = 0.25
# One page does not tell what a host is worth: until it had so many TURNS, its links stay worth this much, divided by 1 and its visits,
# and by 1 and its pages in other languages. So where nothing better is queued, hosts take turns. Of 0, 0.2, 0.3 and 0.5 on the variants of lab/bench/homes.py (2026-11): with less,
# hosts behind a home page that misleads are not found, with more, the turns are too many.
UNSURE = 0.3
# Without an end, a bilingual job digs on where pairs are certain and nothing is about the topic (ENV_EN_FR of lab.bench.focused: 18
# pages accepted among the first 200; with 8 and 12 turns about three times as many, 2026-11).
TURNS = 12
# What is left of it when the judge has recognised enough pages. Of 0.1, 0.33 and 1 (wine and environment of `web`): with more, the last
# pages of a topic wait for the turns of other hosts; with less, other sites about it are found late.
SURE = 0.33
FIRST_LOOK = 4
# A home page that has no running text, or is in another language, says nothing of its site. What it leads to is looked at in its
# place: the links that name a language asked for, or the first ones. Judgements.
WAYS_IN = 3
MOST_TUNNELS = 6  # such pages of a host, one after the other
TRANSLATIONS = frozenset({LinkKind.ALTERNATE, LinkKind.PARTNER})
# When to leave a site; judgements.
MIN_FETCHES = 60  # of a site of the seeds
MIN_NEW_FETCHES = 8  # of a site that the crawl found
LOOK_BACK = 10  # fetches of a site after which this is asked again
MOST_SILENT = 20  # pages in a row that say nothing; those beyond count as pages that brought nothing
RECENT = 40
BEST = 20
MIN_RELEVANT_PER_FETCH = 0.02

FIRST_ROWS = 1024  # rows of a new table; it doubles when they are full
# Of one visit, on the weights of the link's words. With 0.3, environment with examples has an area of .958, with 1 of .969 (2026-11).
WORD_STEP = 1.0
LEAST_ASKED = 0.1  # of any link that names no other language: sites have untranslated pages. Of 0.02, 0.1 and 0.2 (2026-11): little changes
LEAST_RATE, MOST_RATE = 0.02, 0.98  # judgement: bounds what visits of a place say beside the words of a link
LANGUAGE_PRIOR = 0.9  # judgement: a link of which nothing is known leads to a language asked for
NAMED_RIGHTLY = 0.9  # judgement: the same of a link that names one, whatever other pages of its place are in
ONLY_FOREIGN = (
    0.2  # judgement: what is left of that where only pages in other languages have the link, and it names none
)
MARKED = 0.3  # judgement: the same of a link whose address names another, before anything of its place was seen
# Some sites name languages that their pages do not have. Before visits tell more, links that name a language that was not
# asked for count as if so many of NAMED_OF had led to a page in a language that was. The site of `travel` in shared/domain/web
# has 4 such pages of 140; with 1 of 20 most draws of texts find them 600 pages later (2026-11).
MISNAMED, NAMED_OF = 5, 100


class TopicalAdaptive:
    """Wraps a strategy for pairs, or nothing in a job with one language."""

    def __init__(
        self,
        languages: Sequence[Language],
        model: RelevanceModel,
        site_of: Callable[[str], str],
        inner: LinkScorer | None = None,
        weights: Floats | None = None,
        terms: RelevanceModel | None = None,
    ) -> None:
        self._inner = inner
        self._links = LinkRelevance(model, languages[0], weights, terms)
        self._languages = LinkLanguages(languages, self._links.words)
        self._site_of = site_of
        self._queue = _Queue()
        self._places: set[tuple[str, str]] = set()  # host and first directory of what was visited
        self._looked: dict[tuple[str, str], Url] = {}  # the link by which a place is looked at
        self._seed_sites: set[str] = set()
        self._gains: dict[str, list[float]] = {}  # by site: what each fetch brought
        self._silent: dict[str, int] = {}  # by site: pages in a row that say nothing of the topic
        self._tunnels: dict[str, int] = {}  # by host: pages that say nothing of the topic, before one that does
        self._visits = 0  # since all rows were scored
        self._all_visits = 0
        self._look_after = FIRST_LOOK
        self._turns = OldestTurns()
        self._site_numbers: dict[str, int] = {}

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        expected = self._inner.score(links, found_on, site) if self._inner else [1.0] * len(links)
        rows = self._links.add(links, found_on)
        self._queue.grow(len(self._links))
        self._languages.add(links, rows, found_on)
        self._queue.host[rows] = [self._queue.number_of(link.url.host) for link in links]
        for place, link in enumerate(links):
            if link.kind is LinkKind.SEED:
                self._seed_sites.add(self._site_of(link.url.host))
            elif link.kind in TRANSLATIONS and found_on is not None and found_on.relevance and self._inner:
                self._queue.fixed[rows[place]] = found_on.relevance.score
            if self._is_to_be_looked_at(link, found_on):
                self._queue.look[rows[place]] = True
            if link.kind is LinkKind.REDIRECT and link.source is not None:
                self._move(link.source, link.url)
        if found_on is not None and not self._says_something(found_on):
            self._see_through(found_on, links, rows)
        self._queue.expected[rows] = np.maximum(self._queue.expected[rows], expected)
        scores = np.maximum(self._expected(rows), LEAST)
        first = np.array([link.kind in FIRST for link in links], bool)
        if self._inner:
            first |= np.array(expected, np.float32) >= 1  # what it asks for before it leaves a site
        scores[first] = 1.0
        self._queue.first[rows[first]] = True
        self._queue.add(rows, scores)
        self._queue.site[rows] = self._site_number(site.site)
        values: list[float] = scores.tolist()
        return values

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        if self._inner:
            self._inner.learn(visit, site)
        link, outcome = visit.lease.link, visit.outcome
        if isinstance(outcome, Sitemap) or link.kind in (LinkKind.PROBE, LinkKind.INDEX):
            return
        page = outcome if isinstance(outcome, Page) else None
        self._visits += 1
        self._all_visits += 1
        row = self._links.row(link.url)
        self._queue.visits[self._queue.number_of(link.url.host)] += 1
        if row is not None:
            self._queue.visit(row)
        if page is not None or outcome.stage in (Stage.FETCH, Stage.ANALYSE):  # type: ignore[union-attr]
            self._count_gain(site.site, page)
            gain = page.relevance.score if page is not None and page.relevance else 0.0
            self._turns.visited(link.url, gain, self._promised(row))
        if isinstance(outcome, Skip) and self._leads_on(outcome):
            return
        if row is not None and page is not None:
            self._languages.arrived(row, page)
        if page is not None and not self._says_something(page):
            self._tunnels[link.url.host] = self._tunnels.get(link.url.host, 0) + 1
            self._links.passed(link.url, page)
            if self._languages.is_other(page.language):
                self._queue.foreign[self._queue.number_of(link.url.host)] += 1
            return
        self._tunnels.pop(link.url.host, None)
        self._places.add(_place(link.url))
        self._links.arrived(link.url, page)

    def _promised(self, row: int | None) -> float:
        """What was expected of a link, without what curiosity adds."""
        if row is None or self._queue.first[row]:
            return 0.0
        rows = np.array([row])
        return float((self._links.chance(rows) * self._languages.chance(rows) * self._queue.expected[rows])[0])

    def _says_something(self, page: Page) -> bool:
        """For or against the topic. A page without running text does not, nor one in a language that was not asked for."""
        return page.relevance is None or (self._languages.is_asked(page.language) and not page.relevance.guessed)

    def _count_gain(self, site: str, page: Page | None) -> None:
        """A page that says nothing is no reason to leave its site, unless there are very many."""
        self._silent[site] = self._silent.get(site, 0) + 1 if page is not None and not self._says_something(page) else 0
        if not self._silent[site] or self._silent[site] > MOST_SILENT:
            gain = page.relevance.score if page is not None and page.relevance else 0.0
            self._gains.setdefault(site, []).append(gain)

    def _see_through(self, page: Page, links: Sequence[Link], rows: Rows) -> None:
        """A page that says nothing stands for what it leads to, as a redirect does, while nothing of its place was seen."""
        row = self._links.row(page.url)
        if row is None or _place(page.url) in self._places or self._tunnels.get(page.url.host, 0) > MOST_TUNNELS:
            return
        here = [(link, int(to)) for link, to in zip(links, rows, strict=True) if link.url.host == page.url.host]
        named = [to for link, to in here if self._languages.names_asked(link, page)]
        ways = named or ([] if self._languages.is_other(page.language) else [to for _, to in here][:WAYS_IN])
        for to in ways:
            if not self._queue.visited[to] and _place(self._links.url(to)) not in self._places:
                self._links.see_through(row, to)
                self._queue.look[to] = True

    def _leads_on(self, outcome: Skip) -> bool:
        """Whether a redirect leads to a page of its site that was not visited: that page says what the link is worth."""
        target = outcome.target
        if target is None:
            return False
        row = self._links.row(target)
        is_new = row is None or not self._queue.visited[row]
        return is_new and self._site_of(target.host) == self._site_of(outcome.url.host)

    def _move(self, source: Url, target: Url) -> None:
        """What was known of a link is known of where it leads."""
        old, new = self._links.row(source), self._links.row(target)
        if old is None or new is None or self._queue.visited[new]:
            return
        self._links.move(old, new)
        queue = self._queue
        self._languages.move(old, new)
        if np.isnan(queue.fixed[new]):
            queue.fixed[new] = queue.fixed[old]
        queue.look[new] |= queue.look[old] and _place(target) not in self._places

    def advise(self, site: SiteKnowledge) -> Advice:
        """New scores of everything near the top, now and then."""
        inner = self._inner.advise(site) if self._inner else Advice()
        changed = [(self._links.row(url), score) for url, score in inner.scores]
        rows = np.array([row for row, _ in changed if row is not None], np.int64)
        self._queue.expected[rows] = [score for row, score in changed if row is not None]
        leave, turns = inner.leave, self._turns.next(self._oldest)
        if self._visits * ROWS_PER_VISIT > self._queue.count:
            self._visits = 0
            rows = self._queue.rows()
        if len(self._gains.get(site.site, ())) % LOOK_BACK == 0:
            leave = leave or self._reason(site.site)
        return Advice((*self._rescored(rows), *self._look(), *turns), inner.links, leave)

    def _oldest(self) -> Url | None:
        rows = self._queue.rows()
        return self._links.url(int(rows[0])) if len(rows) else None

    def _look(self) -> tuple[tuple[Url, float], ...]:
        """The most promising place of which nothing is known, now and then."""
        if self._all_visits < self._look_after:
            return ()
        self._look_after *= 2
        queue = self._queue
        rows = np.flatnonzero(queue.queued & queue.look)
        rows = rows[[_place(self._links.url(row)) not in self._places for row in rows.tolist()]]
        if not len(rows):
            return ()
        row = int(rows[np.argmax(self._expected(rows))])
        queue.written[row] = NEXT
        return ((self._links.url(row), NEXT),)

    def _expected(self, rows: Rows) -> Floats:
        """What a fetch of each can be expected to bring: relevant pages, or pairs of them."""
        queue = self._queue
        fixed = queue.fixed[rows]
        chance = np.where(np.isnan(fixed), self._links.chance(rows), fixed)
        chance *= self._languages.chance(rows)
        visits = queue.visits[queue.host[rows]]
        foreign = np.where(self._languages.name_asked(rows), np.float32(0), queue.foreign[queue.host[rows]])
        most = UNSURE * (self._links.unsure + SURE * (1 - self._links.unsure))
        turn = (visits > 0) & (visits < TURNS)
        unsure = np.where(turn, np.float32(most) / ((1 + visits) * (1 + foreign)), np.float32(0))
        curious = np.float32(CURIOSITY) * queue.look[rows] * self._links.hope(rows, foreign)
        chance += (1 - chance) * np.maximum(curious, unsure)
        values: Floats = chance * queue.expected[rows]
        return values

    def _site_number(self, site: str) -> int:
        return self._site_numbers.setdefault(site, len(self._site_numbers))

    def _is_to_be_looked_at(self, link: Link, found_on: Page | None) -> bool:
        """The first link to a place of which nothing is known, from a seed or from another host."""
        if found_on is None or link.kind is not LinkKind.PAGE:
            return False
        place = _place(link.url)
        if place in self._places or self._looked.setdefault(place, link.url) != link.url:
            return False
        return found_on.url.host != link.url.host and (link.depth <= 1 or found_on.is_on_topic)

    def _rescored(self, rows: Rows) -> tuple[tuple[Url, float], ...]:
        queue = self._queue
        rows = rows[queue.queued[rows] & ~queue.first[rows]]
        if not len(rows):
            return ()
        looks = rows[queue.look[rows]]
        queue.look[looks] = [_place(self._links.url(row)) not in self._places for row in looks.tolist()]
        new, old = self._expected(rows), queue.written[rows]
        changed = np.abs(new - old) > MIN_CHANGE * np.maximum(old, new)
        if len(rows) > TOP:
            least = largest(new, TOP).min()
            changed &= (new >= least) | (old >= least)
        rows, new = rows[changed], np.maximum(new[changed], np.float32(LEAST))
        queue.written[rows] = new
        return tuple(zip(map(self._links.url, rows.tolist()), new.tolist(), strict=True))

    def _reason(self, site: str) -> LeaveReason:
        """Why to leave the site; empty while there is no reason."""
        gains = self._gains.get(site, [])
        least = MIN_FETCHES if site in self._seed_sites else MIN_NEW_FETCHES
        if len(gains) < least:
            return ""
        recent = sum(gains[-max(RECENT, len(gains) // 4) :])
        window = min(len(gains), max(RECENT, len(gains) // 4))
        if recent / window >= MIN_RELEVANT_PER_FETCH:
            return ""
        queued = self._queue.rows()
        here = queued[self._queue.site[queued] == self._site_number(site)]
        promised = float(largest(self._queue.written[here], BEST).sum()) if len(here) else 0.0
        if recent / window + promised / BEST >= MIN_RELEVANT_PER_FETCH:
            return ""
        relevant, brought = round(sum(gains), 1), round(recent, 1)
        return FewRelevant(relevant, len(gains), window, brought, len(here), BEST, round(promised, 1))


class _Queue:
    """What the frontier holds, by row."""

    def __init__(self) -> None:
        self.queued = np.zeros(1024, bool)
        self.visited = np.zeros(1024, bool)
        self.look = np.zeros(1024, bool)
        self.first = np.zeros(1024, bool)  # seeds: they keep their score
        self.site = np.zeros(1024, np.int32)
        self.written = np.zeros(1024, np.float32)
        self.expected = np.zeros(1024, np.float32)
        self.fixed = np.full(1024, np.nan, np.float32)  # the chance of a translation, which is its original's
        self.count = 0
        self.host = np.zeros(1024, np.int32)
        self.visits = np.zeros(64, np.float32)  # by host
        self.foreign = np.zeros(64, np.float32)  # the same, of pages in languages that were not asked for
        self._hosts: dict[str, int] = {}

    def number_of(self, host: str) -> int:
        """Of a host; hosts are numbered as they are met."""
        number = self._hosts.setdefault(host, len(self._hosts))
        if number >= len(self.visits):
            self.visits = np.concatenate([self.visits, np.zeros_like(self.visits)])
            self.foreign = np.concatenate([self.foreign, np.zeros_like(self.foreign)])
        return number

    def grow(self, rows: int) -> None:
        while rows > len(self.queued):
            for name in ("queued", "visited", "look", "first", "site", "host", "written", "expected"):
                old: NDArray[np.generic] = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
            self.fixed = np.concatenate([self.fixed, np.full_like(self.fixed, np.nan)])

    def add(self, rows: Rows, scores: Floats) -> None:
        new = rows[~self.visited[rows] & ~self.queued[rows]]
        self.queued[new] = True
        self.count += len(np.unique(new))
        # The queue only raises what it has: what is lower now stays written as it was, until `advise` lowers it.
        np.maximum.at(self.written, rows, scores)

    def visit(self, row: int) -> None:
        self.count -= int(self.queued[row])
        self.queued[row] = False
        self.visited[row] = True

    def rows(self) -> Rows:
        return np.flatnonzero(self.queued)


def _place(url: Url) -> tuple[str, str]:
    folders = url.path.split("/")[1:-1]
    return url.host, folders[0] if folders else ""


class LinkLanguages:
    """Rows are those of `LinkRelevance`."""

    def __init__(self, languages: Sequence[Language], words: LinkWordTable) -> None:
        self._languages = tuple(languages)
        self._words = WordWeights(words, WORD_STEP)
        self._rates = Rates(LANGUAGE_PRIOR)
        self._places = np.zeros(FIRST_ROWS, np.int32)  # groups of `_rates`
        self._asked = np.zeros(FIRST_ROWS, bool)  # links that name a language asked for
        self._other = np.zeros(FIRST_ROWS, bool)  # and those that name another
        self._marked = np.zeros(FIRST_ROWS, bool)  # and those whose address does
        self._heard = np.zeros(FIRST_ROWS, bool)  # and those that some page has that is not in another language
        self._foreign = Rates(ONLY_FOREIGN)  # of links that only pages in other languages have, by host
        self._hosts = np.zeros(FIRST_ROWS, np.int32)  # groups of `_foreign`
        self._named = self._misnamed = 0  # visits of links that name a language that was not asked for; wrongly

    def add(self, links: Sequence[Link], rows: Rows, found_on: Page | None) -> None:
        """Remember what these links name."""
        self._grow(int(rows.max(initial=0)) + 1)
        heard = found_on is None or not self.is_other(found_on.language)
        for link, row in zip(links, rows.tolist(), strict=True):
            self._heard[row] |= heard
            if not self._places[row]:
                self._hosts[row] = self._foreign.group(("host", link.url.host))
                self._places[row] = self._rates.group(("place", link.url.host, *folders(link.url)))
            if self.names_asked(link, found_on):
                self._asked[row] = True
            elif link.hreflang:
                self._other[row] |= self.is_other(claimed_language(link.hreflang))
            else:
                self._marked[row] |= bool(_marks(link, found_on))

    def names_asked(self, link: Link, found_on: Page | None) -> bool:
        """Whether the link, or its address, names a language asked for."""
        if link.hreflang:
            return self.is_asked(claimed_language(link.hreflang))
        return any(self.is_asked(claimed_language(code)) for code in _marks(link, found_on))

    def is_asked(self, language: Language) -> bool:
        return any(same_language(language, wanted) for wanted in self._languages)

    def is_other(self, language: Language) -> bool:
        """A language, and not one that was asked for."""
        return language != UNDETERMINED and not self.is_asked(language)

    def move(self, old: int, new: int) -> None:
        """A link redirects to another."""
        self._heard[new] |= self._heard[old]
        self._other[new] |= self._other[old]

    def arrived(self, row: int, page: Page) -> None:
        """A visit brought a page. One in the language that its link named says nothing of its place."""
        wanted = self.is_asked(page.language)
        if self._other[row]:
            self._named += 1
            self._misnamed += wanted
        if wanted or not self._other[row]:
            self._words.correct(row, float(wanted) - float(self.chance(np.array([row]))[0]))
            self._rates.count(int(self._places[row]), 1.0, float(wanted))
            if not self._heard[row]:
                self._foreign.count(int(self._hosts[row]), 1.0, float(wanted))

    def chance(self, rows: Rows) -> Floats:
        """That the pages are in a language asked for."""
        places = self._places[rows]
        chances = self._rates.rates(places)
        unseen = self._rates.visits(places) == 0
        chances = np.where(self._heard[rows], chances, chances * self._foreign.rates(self._hosts[rows]))
        rates = np.clip(chances, LEAST_RATE, MOST_RATE)
        chances = (1 / (1 + np.exp(-self._words.odds(rows)) * (1 - rates) / rates)).astype(np.float32)
        chances = np.maximum(chances, np.float32(LEAST_ASKED))
        chances = np.where(self._marked[rows] & unseen, np.minimum(chances, np.float32(MARKED)), chances)
        chances = np.where(self._asked[rows] & unseen, np.maximum(chances, np.float32(NAMED_RIGHTLY)), chances)
        misnamed = (MISNAMED + self._misnamed) / (NAMED_OF + self._named)
        return np.where(self._other[rows] & ~self._asked[rows], np.float32(misnamed), chances)

    def name_asked(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether the links name a language asked for."""
        return self._asked[rows]

    def _grow(self, rows: int) -> None:
        while rows > len(self._places):
            for name in ("_places", "_asked", "_other", "_marked", "_heard", "_hosts"):
                old: NDArray[np.generic] = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))


def _marks(link: Link, found_on: Page | None) -> frozenset[str]:
    """Languages that the address names, and that the page with the link does not name in its own."""
    if found_on is None:
        return frozenset()
    return address_languages(link.url, found_on.url) - address_languages(found_on.url)
