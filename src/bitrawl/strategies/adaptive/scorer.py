"""The default strategy. It combines all evidence with a model, using rates that each visit updates.

The estimate for a queued link is the probability that its page belongs to a pair. If the partner has been visited, one
fetch completes the pair; otherwise it takes two. So half-found pairs come first. docs/decisions/adaptive.md has the
reasons and the figures.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import UrlError
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
from bitrawl.strategies.adaptive.language_odds import LanguageOdds
from bitrawl.strategies.adaptive.link_state import LinkStates
from bitrawl.strategies.adaptive.link_table import Column, LinkTable, Rows
from bitrawl.strategies.adaptive.partners import Partners
from bitrawl.strategies.adaptive.rates import Rates
from bitrawl.strategies.adaptive.stopping import Stopping, largest
from bitrawl.strategies.adaptive.unlinked import UnlinkedPartners
from bitrawl.url import Url

Floats = NDArray[np.float32]

MODEL = resources.files("bitrawl.strategies") / "models" / "adaptive.json"
FETCHED = frozenset({Stage.FETCH, Stage.ANALYSE})  # a visit that ended at one of these stages cost a fetch
FIRST = frozenset({LinkKind.INDEX, LinkKind.PROBE})  # never pages of a pair; they have no row
HALF = 0.5  # the pairs that a page counts for while its partner has yet to be fetched
PRIOR = 0.3  # judgement: how often a link leads to a page of a pair, before anything is known about the site
LEAST_RATE, MOST_RATE = 0.003, 0.997  # judgement: limits the log-odds to ±6, which a few hundred visits would reach
# The next three limit the cost of a visit (docs/decisions/adaptive.md, "Cost"). Each is a judgement.
TOP = 200  # queued links whose order is kept exact; those below are scored again when they come near the top
ROWS_PER_VISIT = 1000  # links that are scored again per visit, on average
MIN_CHANGE = 0.03  # of a score, before it is written
LEAST = 1e-4  # judgement: 0 would skip a link
MAX_FOLDERS = 5  # judgement: directories of a URL that have a rate of their own


def column_weights(named: Mapping[str, float]) -> Floats:
    """Read weights by the names of their columns, as in the model file."""
    return np.array([named[column.name.lower()] for column in Column], np.float32)


def _bundled() -> Floats:
    return column_weights(msgspec.json.decode(MODEL.read_bytes(), type=dict[str, float]))


class Adaptive:
    """One `SiteScorer` per site. Sites share only the requested languages and the models."""

    def __init__(
        self, languages: Sequence[Language], model: UrlLanguageModel | None = None, weights: Floats | None = None
    ) -> None:
        self._languages = tuple(languages)
        self._odds = LanguageOdds(languages, model)
        self._sites: dict[str, SiteScorer] = {}
        self._weights = _bundled() if weights is None else weights

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        return self._site(site).score(links, found_on)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        self._site(site).learn(visit)

    def advise(self, site: SiteKnowledge) -> Advice:
        return self._site(site).advise()

    def features(self, url: Url, site: SiteKnowledge) -> Floats | None:
        """The current features of a link, by `Column`, for training; None for an unknown URL."""
        return self._site(site).features(url)

    @property
    def examined(self) -> int:
        """The number of candidate pairs that were examined."""
        return sum(one.partners.examined for one in self._sites.values())

    @property
    def pairs(self) -> set[tuple[Url, Url]]:
        """The pairs that were accepted."""
        return {pair for one in self._sites.values() for pair in one.partners.pairs}

    def _site(self, site: SiteKnowledge) -> "SiteScorer":
        if site.site not in self._sites:
            self._sites[site.site] = SiteScorer(self._languages, self._odds, self._weights)
        return self._sites[site.site]


class SiteScorer:
    """The strategy on one site: its links, its pairs, and what visits of each group brought."""

    def __init__(self, languages: Sequence[Language], odds: LanguageOdds, weights: Floats) -> None:
        self.partners = Partners(languages)
        self._odds = odds
        self._weights = weights
        self._table = LinkTable()
        self._states = LinkStates(self.partners, self._table.rows)
        self._rates = Rates(PRIOR)
        self._unlinked = UnlinkedPartners(self.partners, self._table.rows, self._rates)
        self._stopping = Stopping()
        self._visits = 0  # since all rows were scored

    def score(self, links: Sequence[Link], found_on: Page | None) -> list[float]:
        """Score links that the loop is about to queue."""
        linked = self._rows_of(links)
        rows = np.array([row for row in linked if row is not None], np.int64)
        if found_on is not None:
            self._mark_source(rows, found_on.url)
        self._refresh()
        scores = np.maximum(self._expected(rows), LEAST)
        if not self.partners.visited:  # the user's seeds come first; the first visit shows what they are worth
            scores[[link.kind is LinkKind.SEED for link in links if link.kind not in FIRST]] = 1.0
        # The queue only raises scores. A lower score is not written until `advise` lowers it.
        self._table.write(rows, np.maximum(self._table.written(rows), scores))
        rest = iter(scores.tolist())
        return [1.0 if row is None else next(rest) for row in linked]

    def learn(self, visit: Visit) -> None:
        link, outcome = visit.lease.link, visit.outcome
        if isinstance(outcome, Sitemap):
            for group in outcome.alternates:
                self._declare(self.partners.wanted(group))
            return
        if link.kind is LinkKind.PROBE:
            return
        self._visits += 1
        if isinstance(outcome, Page) or outcome.stage in FETCHED:
            self._stopping.fetched()
        row = self._table.rows.get(link.url)
        if row is not None:
            self._table.visit(row)
        if isinstance(outcome, Page):
            self._arrived(outcome)
        elif outcome.reason is Reason.REDIRECT:
            self._redirected(link.url, outcome.detail)
        else:
            self._failed(link.url)

    def advise(self) -> Advice:
        """New scores for what the visit changed, and from time to time for everything near the top."""
        changed = self._refresh()
        queued = self._table.queued()
        if self._visits * ROWS_PER_VISIT > len(queued):
            self._visits = 0
            changed = queued
        links = self._unlinked.links()
        scores = self._rescored(self._table.only_queued(changed))
        self._stopping.saw(self._states.signs)
        return Advice(scores, links, self._stopping.reason(len(self.partners.pairs), self._table.written(queued)))

    def features(self, url: Url) -> Floats | None:
        """The features with which the link was last scored; None for an unknown URL."""
        row = self._table.rows.get(url)
        return None if row is None else self._features(np.array([row]))[0]

    # scores

    def _features(self, rows: Rows) -> Floats:
        rates = np.clip(self._rates.rates(self._table.groups(rows)), LEAST_RATE, MOST_RATE)
        return np.hstack([self._table.facts(rows), np.log(rates / (1 - rates))])

    def _expected(self, rows: Rows) -> Floats:
        """The number of pairs that a fetch of each link is expected to bring."""
        if not len(rows):
            return np.zeros(0, np.float32)
        features = self._features(rows)
        chance: Floats = 1 / (1 + np.exp(-(features @ self._weights)))
        return np.where(features[:, Column.PARTNER_VISITED] > 0, chance, np.float32(HALF) * chance)

    def _rescored(self, rows: Rows) -> tuple[tuple[Url, float], ...]:
        """The scores to write to the queue: those that have changed and are or were near the top."""
        if not len(rows):
            return ()
        new, old = self._expected(rows), self._table.written(rows)
        changed = np.abs(new - old) > MIN_CHANGE * np.maximum(old, new)
        if len(rows) > TOP:
            least = largest(new, TOP).min()
            changed &= (new >= least) | (old >= least)
        rows, new = rows[changed], new[changed]
        self._table.write(rows, new)
        urls = [self._table.urls[row] for row in rows.tolist()]
        return tuple((url, max(LEAST, score)) for url, score in zip(urls, new.tolist(), strict=True))

    def _refresh(self) -> Rows:
        """Compute the states that may have changed. Returns their rows."""
        rows = self._table.take_changed()
        states = [self._states.of(self._table.urls[row]) for row in rows.tolist()]
        groups = [self._rates.group(("state", *state.group)) for state in states]
        self._table.set_states(rows, states, groups)
        return rows

    # links

    def _rows_of(self, links: Sequence[Link]) -> list[int | None]:
        """The row of each link, added if it is new; None for links that have no row."""
        new = [link.url for link in links if link.url not in self._table.rows and link.kind not in FIRST]
        odds = dict(zip(new, self._odds.of(new), strict=True))
        rows: list[int | None] = []
        for link in links:
            if link.kind in FIRST:
                self.partners.add(link.url)
                rows.append(None)
                continue
            row = self._table.rows.get(link.url)
            if row is None:
                row = self._add(link, odds[link.url])
            rows.append(row)
            if link.hreflang and self._states.read_language(link):
                self._table.mark([row])
            if self._states.read_anchor(link):
                self._table.mark([row])
                self._table.mark_queued(self.partners.candidates(link.url))
        return rows

    def _add(self, link: Link, odds: float) -> int:
        url = link.url
        self.partners.add(url)
        marks = self.partners.marks(url)
        self._stopping.saw(marks.wanted)
        named = "+".join(marks.wanted) + ("*" if marks.others else "")
        folders = self.partners.key(url).split("?")[0].split("/")[:-1][:MAX_FOLDERS]
        unlinked = link.kind is LinkKind.PARTNER
        row = self._table.add(
            url,
            {
                Column.BIAS: 1.0,
                Column.WANTED: odds,
                Column.DEPTH: np.log1p(link.depth),
                Column.LISTED: link.kind is LinkKind.SITEMAP,
            },
            {
                Column.BY_MARKS: self._rates.group(("marks", named)),
                Column.BY_PLACE: self._rates.group(("place", *folders)),
                Column.BY_BOTH: self._rates.group(("marks", named, *folders)),
                Column.BY_SOURCE: self._unlinked.group(link.source)
                if unlinked
                else self._rates.group(("source", link.source or "")),
            },
            queued=url not in self.partners.visited,
        )
        self._table.mark_queued(self.partners.candidates(url))
        self._table.mark_queued(self.partners.twins(url))
        return row

    def _mark_source(self, rows: Rows, source: Url) -> None:
        """Add what the page with the links tells about them."""
        if self.partners.language(source) == UNDETERMINED:
            return
        self._table.mark(rows[self._table.fact(rows, Column.FROM_WANTED) == 0].tolist())
        self._table.set_fact(rows, Column.FROM_WANTED, 1.0)
        if self.partners.is_paired(source):
            self._table.set_fact(rows, Column.FROM_PAIRED, 1.0)

    # visits

    def _declare(self, urls: Sequence[Url]) -> None:
        for url in urls:
            self.partners.add(url)
        self.partners.declare(urls)
        self._table.mark_queued(urls)

    def _arrived(self, page: Page) -> None:
        url = page.url
        before = set(self.partners.candidates(url))
        found = self.partners.arrived(page)
        language = self.partners.language(url)
        self._stopping.arrived(len(found))
        self._stopping.saw([language] if language != UNDETERMINED else [])
        for partner in found:
            self._count(partner, 1.0)
            self._unlinked.paired(url, partner)
        self._count(url, 1.0 if found else self._gain_without_partner(url))
        if not found:
            self._unlinked.alone(url)
        self._recount(before | set(self.partners.candidates(url)))
        self._table.mark_queued(self.partners.twins(url))

    def _failed(self, url: Url) -> None:
        self.partners.failed(url)
        self._count(url, 0.0)
        self._recount(self.partners.candidates(url))

    def _redirected(self, old: Url, target: str) -> None:
        self.partners.failed(old)
        try:
            new = Url.parse(target)
        except UrlError:
            return
        self.partners.add(new)
        self.partners.redirect(old, new)
        self._states.redirect(old, new)
        self._table.mark_queued(self.partners.candidates(new))

    def _count(self, url: Url, gain: float) -> None:
        """Count what a visit brought, or correct an earlier count."""
        row = self._table.rows.get(url)
        if row is None:
            return
        before = self._table.gain(row)
        self._table.set_gain(row, gain)
        for group in self._table.group_numbers(row):
            self._rates.count(group, 1.0 if before is None else 0.0, gain - (before or 0.0))

    def _recount(self, others: Iterable[Url]) -> None:
        """Update links whose possible partner has changed.

        Visited pages may have lost a possible partner, so their counts are corrected. Queued links are marked as
        changed.
        """
        known = sorted(others)
        for other in known:
            row = self._table.rows.get(other)
            if row is not None and self._table.gain(row) == HALF:
                self._count(other, self._gain_without_partner(other))
        self._table.mark_queued(known)

    def _gain_without_partner(self, url: Url) -> float:
        """The value of a page without a partner: more than 0 while a link that may be its partner is queued."""
        partners = self.partners
        if partners.language(url) == UNDETERMINED:
            return 0.0
        return HALF * any(
            other in self._table.rows and other not in partners.visited for other in partners.candidates(url)
        )
