"""The default strategy: all evidence at once, weighed by a model, with rates that each visit updates.

What is estimated of a queued link is the probability that its page is one of a pair. A link whose partner has been
visited completes a pair with one fetch, any other needs two: so half-found pairs come first. docs/decisions/adaptive.md
has the reasons and the figures.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from bitrawl.languages import same_language
from bitrawl.model import UNDETERMINED, Advice, Language, Link, LinkKind, Page, SiteKnowledge, Sitemap, Visit
from bitrawl.model_files import model_file
from bitrawl.protocols import UrlLanguageModel
from bitrawl.reasons import Stage
from bitrawl.strategies.adaptive.addresses import NumberedUrls
from bitrawl.strategies.adaptive.link_table import (
    FACTS,
    GROUPS,
    MIN_ANCHOR,
    LinkColumn,
    LinkState,
    LinkStates,
    LinkTable,
    Rows,
)
from bitrawl.strategies.adaptive.partners import Partners, UnlinkedPartners
from bitrawl.strategies.adaptive.rates import MAX_FOLDERS, OldestTurns, Rates, Stopping, largest
from bitrawl.url import Url

# judgement: probabilities are clipped to this range, so that one URL never outweighs all other evidence
LEAST_CHANCE, MOST_CHANCE = 0.05, 0.95

Floats = NDArray[np.float32]
FETCHED = frozenset({Stage.FETCH, Stage.ANALYSE})  # a visit that ended there cost a fetch
FIRST = frozenset({LinkKind.INDEX, LinkKind.PROBE})  # no pages of a pair; they have no row
HALF = 0.5  # pairs that a page brings whose partner has yet to be fetched
PRIOR = 0.3  # judgement: how often a link leads to a page of a pair, before anything is known of the site
# A link that a visited page names as its translation comes before everything else, as long as such links brought pairs:
# log-odds of a rate of a quarter. A link that nobody waits for has a score of at most `HALF`.
MIN_NAMED = -1.1
# The least that the first link into a directory is worth, in pairs: when nothing better is queued, each directory is looked
# into once. Tried 0.003, 0.01 and 0.03 (lab/notes/adaptive.md).
EXPLORATION = 0.01
# Links of a site whose URL a model is asked about: it helps until the site's own rates say the same, which are known after
# a few visits (lab/notes/adaptive.md). Beyond, it took a quarter of the time and 50 MB of what was remembered.
MAX_ASKED = 2000
# The next seven bound the cost of a visit (lab/notes/adaptive.md, "Cost"); each is a judgement.
# Queued links whose order is kept right; those below are looked at again when their turn comes near. With 50 (2026-11-18)
# two fifths fewer scores are written, but 4.5 % of the pairs of openbsd-2009 in German come after it is left.
TOP = 200
# Those of them that may be fetched soon: of the others, only large changes are written. Tried 20, 50 and 100
# (lab/notes/adaptive.md, "Fewer scores written").
SOON = 100
# Links that are scored again, on average, for each visit. Tried 500, 250 and 125 on the ten site packs (2026-11-18): 8, 15
# and 21 % less time, but mean area falls from 0.9590 to 0.9578, 0.9573 and 0.9569, and debian-manuals costs more.
ROWS_PER_VISIT = 1000
MAX_ADDED = 1500  # new links of one page that are worked out at once; a page of 20,000 took 2 s
ADDED_PER_VISIT = 200  # of the others, after each visit
MIN_CHANGE, LARGE_CHANGE = 0.03, 0.15  # of a score, before it is written
LEAST = 1e-4  # 0 would refuse a link
# What is left of a link that is said to be in a language that nobody asked for, as long as such links bring no pairs: it comes after
# all others, in the order of their worth, and before what the loop itself puts last.
UNWANTED, LEAST_UNWANTED = LEAST, 0.01
LEAST_RATE, MOST_RATE = 0.003, 0.997  # judgement: bounds the log-odds by 6, where a few hundred visits would take them
_NO_ROW, _WAITING = -1, -2  # in the place of a row
_BY_BOTH = GROUPS.index(LinkColumn.BY_BOTH)


def column_weights(named: Mapping[str, float]) -> Floats:
    """By the names of the columns, as the model file has them."""
    return np.array([named[column.name.lower()] for column in LinkColumn], np.float32)


def read_weights(path: Path | None = None) -> Floats:
    """The package's, or those that `python -m lab.train adaptive` made."""
    content = (path or model_file("adaptive.json")).read_bytes()
    return column_weights(msgspec.json.decode(content, type=dict[str, float]))


class Adaptive:
    """One `SiteScorer` a site: sites share nothing but the languages asked for and the models."""

    def __init__(
        self, languages: Sequence[Language], model: UrlLanguageModel | None = None, weights: Floats | None = None
    ) -> None:
        self._languages = tuple(languages)
        self._odds = LanguageOdds(languages, model)
        self._sites: dict[str, SiteScorer] = {}
        self._weights = read_weights() if weights is None else weights

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        return self._site(site).score(links, found_on)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        self._site(site).learn(visit)

    def advise(self, site: SiteKnowledge) -> Advice:
        return self._site(site).advise()

    def features(self, url: Url, site: SiteKnowledge) -> Floats | None:
        """What is known of a link at this moment, by `LinkColumn`, to train weights on; None for an unknown address."""
        return self._site(site).features(url)

    @property
    def examined(self) -> int:
        """Candidate pairs that were looked at."""
        return sum(site.partners.examined for site in self._sites.values())

    @property
    def pairs(self) -> set[tuple[Url, Url]]:
        """Those that were believed."""
        return {pair for site in self._sites.values() for pair in site.partners.pairs()}

    def _site(self, site: SiteKnowledge) -> "SiteScorer":
        if site.site not in self._sites:
            self._sites[site.site] = SiteScorer(self._languages, self._odds, self._weights)
        return self._sites[site.site]


class LanguageOdds:
    """What a URL language model predicts, summed over the requested languages."""

    def __init__(self, languages: Sequence[Language], model: UrlLanguageModel | None) -> None:
        self._model = model
        columns = model.languages if model else ()
        self._columns = [
            number
            for number, column in enumerate(columns)
            if any(same_language(column, language) for language in languages)
        ]

    def of(self, urls: Sequence[Url]) -> list[float]:
        """Log-odds between -3 and 3; 0 without a model."""
        if self._model is None or not urls:
            return [0.0] * len(urls)
        chance = np.clip(self._model.distribution(urls)[:, self._columns].sum(axis=1), LEAST_CHANCE, MOST_CHANCE)
        return [float(value) for value in np.log(chance / (1 - chance))]


def _log_odds(rates: Floats) -> Floats:
    clipped = np.clip(rates, LEAST_RATE, MOST_RATE)
    odds: Floats = np.log(clipped / (1 - clipped))
    return odds


class WaitingLink(NamedTuple):
    """A link that is queued, and of which nothing was worked out yet."""

    link: Link
    score: float  # that the queue has


class SourceGroups:
    """The group of links from the same page."""

    def __init__(self, rates: Rates, addresses: NumberedUrls) -> None:
        self._rates = rates
        self._addresses = addresses
        self._groups = addresses.column("i", _NO_ROW)

    def group(self, source: Url | None) -> int:
        if source is None:
            return self._rates.group(("source", ""))
        number = self._addresses.number(source)
        if self._groups[number] == _NO_ROW:
            self._groups[number] = self._rates.below(self._rates.group(("source",)))
        return self._groups[number]


class SiteScorer:
    """The strategy on one site: its links, its pairs, and what visits of each kind brought."""

    def __init__(self, languages: Sequence[Language], odds: LanguageOdds, weights: Floats) -> None:
        self._addresses = addresses = NumberedUrls()
        self.partners = Partners(languages, addresses)
        self._odds = odds
        self._weights = weights
        self._table = LinkTable(addresses)
        self._states = LinkStates(self.partners, self._table, addresses)
        self._rates = Rates(PRIOR)
        self._unwanted = self._rates.group(("unwanted",))
        self._sources = SourceGroups(self._rates, addresses)
        self._state_groups: dict[LinkState, int] = {}
        self._unlinked = UnlinkedPartners(self.partners, self._table, self._rates)
        self._stopping = Stopping()
        self._turns = OldestTurns()
        self._waiting: dict[Url, WaitingLink] = {}
        self._untold: set[int] = set()  # rows whose state has changed, and whose new score the queue does not have
        self._visits = 0  # since all rows were scored
        self._all_expected: tuple[Rows, Floats] | None = None  # what is queued and its worth, while nothing changes

    def score(self, links: Sequence[Link], found_on: Page | None) -> list[float]:
        """Of links that the loop is about to queue."""
        self._all_expected = None
        late = self._late(links)
        linked = np.array(self._rows_of(links, late), np.int64)
        has_row = linked >= 0
        rows = linked[has_row]
        if found_on is not None:
            self._mark_source(rows, found_on.url)
        self._untold.update(self._refresh().tolist())
        self._untold.difference_update(rows.tolist())
        values = np.where(has_row, np.float32(LEAST), np.float32(1))
        # What was visited is not queued again, whatever its score. Only the mean for those that wait counts it.
        scored = has_row if late else has_row & self._table.are_queued(linked)
        advised = found_on is not None and not late and not self._waiting  # `advise` adds those, which changes others
        if advised and self._all_are_due():  # it would ask for these once more
            queued = self._table.queued()
            self._all_expected = queued, self._expected(queued)
            expected = self._all_expected[1][np.searchsorted(queued, linked[scored])]
        else:
            expected = self._expected(linked[scored])
        values[scored] = expected
        if not self.partners.visits:  # what the user names comes first; the first visit tells which of it
            values[scored & np.array([link.kind is LinkKind.SEED for link in links], bool)] = 1.0
        # The queue only raises what it has: what is lower now stays written as it was, until `advise` lowers it.
        rows = linked[scored]
        self._table.write(rows, np.maximum(self._table.written(rows), values[scored]))
        if late:
            values[linked == _WAITING] = usual = float(values[scored].mean())
            self._waiting |= {url: WaitingLink(link, usual) for url, link in late.items()}
        listed: list[float] = values.tolist()
        return listed

    def learn(self, visit: Visit) -> None:
        link, outcome = visit.lease.link, visit.outcome
        if isinstance(outcome, Sitemap):
            for group in outcome.alternates:
                self._declare(self.partners.wanted(group))
            return
        if link.kind is LinkKind.PROBE:
            return
        self._visits += 1
        self._all_expected = None
        if link.url in self._waiting:
            self._add_waiting([self._waiting.pop(link.url)])
        if isinstance(outcome, Page) or outcome.stage in FETCHED:
            self._stopping.fetched()
        row = self._table.row(link.url)
        if row is not None:
            self._table.visit(row)
        if isinstance(outcome, Page):
            self._arrived(outcome)
        elif outcome.target is not None:
            self._redirected(link.url, outcome.target)
        else:
            self._failed(link.url)
        gain = None if row is None else self._table.gain(row)
        if gain is not None:
            self._turns.visited(link.url, gain, visit.lease.score)

    def advise(self) -> Advice:
        """New scores of what the visit changed, of everything near the top now and then, and the oldest link in its turn."""
        advice = self._advised()
        return msgspec.structs.replace(advice, scores=(*advice.scores, *self._turns.next(self._table.oldest)))

    def _advised(self) -> Advice:
        self._add_waiting([self._waiting.pop(url) for url in list(islice(self._waiting, ADDED_PER_VISIT))])
        changed = np.array(sorted(self._untold.union(self._refresh().tolist())), np.int64)
        self._untold.clear()
        count = self._table.queued_count
        links = self._unlinked.links()
        self._stopping.saw(self._states.signs)
        if not self._all_are_due():
            rows = changed[self._table.are_queued(changed)]
            return Advice(self._rescored(rows, self._expected(rows)), links)
        self._visits = 0
        if self._all_expected is None:
            queued = self._table.queued()
            self._all_expected = queued, self._expected(queued)
        (queued, _), scores = self._all_expected, self._rescored(*self._all_expected)
        self._all_expected = None  # with 2,000 sites, it would take 12 MB until their next visits
        leave = self._stopping.reason(
            self.partners.paired, count, lambda most: largest(self._table.written(queued), most)
        )
        return Advice(scores, links, leave)

    def features(self, url: Url) -> Floats | None:
        """As the link was scored last; None for an unknown address."""
        row = self._table.row(url)
        if row is None:
            return None
        rows = np.array([row])
        features: Floats = self._features(rows, self._table.groups(rows))[0]
        return features

    # scores

    def _all_are_due(self) -> bool:
        return self._visits * ROWS_PER_VISIT > self._table.queued_count

    def _features(self, rows: Rows, groups: NDArray[np.int32]) -> Floats:
        features = np.empty((len(rows), len(LinkColumn)), np.float32)
        features[:, : len(FACTS)] = self._table.facts(rows)
        features[:, len(FACTS) :] = self._rates.rates(groups, _log_odds)
        return features

    def _expected(self, rows: Rows) -> Floats:
        """Pairs that a fetch of each link can be expected to bring."""
        if not len(rows):
            return np.zeros(0, np.float32)
        groups = self._table.groups(rows)
        features = self._features(rows, groups)
        # No matrix product of BLAS: its threads wait for each other, for up to 17 ms on a busy machine.
        chance: Floats = 1 / (1 + np.exp(-np.einsum("ij,j->i", features, self._weights)))
        completes = features[:, LinkColumn.PARTNER_VISITED] > 0
        named = completes & (features[:, LinkColumn.DECLARED] > 0) & (features[:, LinkColumn.UNWANTED] == 0)
        named &= features[:, LinkColumn.BY_STATE] >= MIN_NAMED
        half = np.float32(HALF)
        expected = np.where(named, half + half * chance, np.where(completes, chance, half * chance))
        # Nothing with its marks was visited in its directory: pairs may lie behind it.
        explored = np.float32(EXPLORATION) * self._rates.novelty(groups[:, _BY_BOTH])
        unwanted = features[:, LinkColumn.UNWANTED] > 0
        worth: Floats = np.maximum(expected, np.where(unwanted, LEAST, np.maximum(explored, LEAST)), dtype=np.float32)
        if self._has_better_than_unwanted():
            worth[unwanted] = np.float32(UNWANTED) * np.maximum(worth[unwanted], np.float32(LEAST_UNWANTED))
        return worth

    def _has_better_than_unwanted(self) -> bool:
        """Whether pairs may lie behind other links than those that are said to be in a language that nobody asked for.

        Until the site shows two of the languages asked for, the second may lie behind any page; and some sites say what is not true.
        """
        return len(self._states.signs) > 1 and self._rates.rate(self._unwanted) <= PRIOR

    def _rescored(self, rows: Rows, new: Floats) -> tuple[tuple[Url, float], ...]:
        """What the queue must be told: scores that have changed, and are or were near the top."""
        if not len(rows):
            return ()
        old = self._table.written(rows)
        higher = np.maximum(old, new)
        soon, top = (higher >= largest(new, count).min() for count in (SOON, TOP))
        changed = top & (np.abs(new - old) > np.where(soon, MIN_CHANGE, LARGE_CHANGE) * higher)
        rows, new = rows[changed], new[changed]
        self._table.write(rows, new)
        urls = map(self._table.url, rows.tolist())
        return tuple(zip(urls, new.tolist(), strict=True))

    def _refresh(self) -> Rows:
        """Work out anew the states that may have changed; the rows that have them."""
        rows = self._table.take_changed()
        if len(rows):
            self._all_expected = None
        states = list(map(self._states.of, rows.tolist()))
        groups = [self._state_group(state) for state in states]
        self._table.set_states(rows, states, groups)
        return rows

    def _state_group(self, state: LinkState) -> int:
        group = self._state_groups.get(state)
        if group is None:
            group = self._state_groups[state] = self._rates.group(("state", *state.group))
        return group

    # links

    def _late(self, links: Sequence[Link]) -> dict[Url, Link]:
        """The new links of a page that are too many to be looked at now; they wait, and take the score of the others."""
        if len(links) <= MAX_ADDED:
            return {}
        new = {link.url: link for link in links if link.kind not in FIRST and self._table.row(link.url) is None}
        return {url: new[url] for url in islice(new, MAX_ADDED, None)}

    def _add_waiting(self, waiting: Sequence[WaitingLink]) -> None:
        """Some of them, so that no visit takes long."""
        if not waiting:
            return
        rows = np.array(self._rows_of([entry.link for entry in waiting]), np.int64)
        self._table.write(rows, np.array([entry.score for entry in waiting], np.float32))
        for source in dict.fromkeys(entry.link.source for entry in waiting):
            if source is not None:
                here = np.array([entry.link.source == source for entry in waiting])
                self._mark_source(rows[here], source)

    def _rows_of(self, links: Sequence[Link], late: Container[Url] = ()) -> list[int]:
        """A row each, added where it is new; negative for links that have no row."""
        earlier = self._table.rows(link.url for link in links)
        if any(link.kind in FIRST for link in links):
            earlier = [_NO_ROW if link.kind in FIRST else row for link, row in zip(links, earlier, strict=True)]
        new = [link.url for link, row in zip(links, earlier, strict=True) if row is None and link.url not in late]
        odds = dict(zip(new, self._odds_of(new), strict=True))
        rows: list[int] = []
        knows_anchor = self._states.knows_anchor
        for link, earlier_row in zip(links, earlier, strict=True):
            row = self._row_of_new(link, odds) if earlier_row is None else earlier_row
            rows.append(row)
            if row == _NO_ROW:
                self.partners.add(link.url)
            elif row != _WAITING and (link.hreflang or (len(link.anchor) >= MIN_ANCHOR and not knows_anchor(row))):
                self._read(link, row)
        return rows

    def _odds_of(self, urls: Sequence[Url]) -> Sequence[float]:
        """That the pages are in a language asked for, by their URLs."""
        return self._odds.of(urls) if self._table.count < MAX_ASKED else [0.0] * len(urls)

    def _row_of_new(self, link: Link, odds: Mapping[Url, float]) -> int:
        """Of a link that may stand on the page twice."""
        row = self._table.row(link.url)
        if row is not None:
            return row
        if link.url not in odds:
            return _WAITING
        self._waiting.pop(link.url, None)
        return self._add(link, odds[link.url])

    def _read(self, link: Link, row: int) -> None:
        """What this link says of its target."""
        if link.hreflang and self._states.read_language(link.hreflang, row):
            self._table.mark([row])
        if self._states.read_anchor(link.anchor, row):
            self._table.mark([row])
            self._table.mark_queued(self.partners.candidates(row))

    def _add(self, link: Link, odds: float) -> int:
        url = link.url
        keys = self.partners.keys(url)
        row = self.partners.add(url, keys)
        marks = self.partners.marks(row)
        self._states.signs.update(marks.wanted)
        self._states.read_address(row, url)
        named = "+".join(marks.wanted) + ("*" if marks.others else "")
        folders = keys[0].split("?")[0].split("/")[:-1][:MAX_FOLDERS]
        unlinked = link.kind is LinkKind.PARTNER
        self._table.add(
            row,
            {
                LinkColumn.BIAS: 1.0,
                LinkColumn.WANTED: odds,
                LinkColumn.DEPTH: np.log1p(link.depth),
                LinkColumn.LISTED: link.kind is LinkKind.SITEMAP,
            },
            {
                LinkColumn.BY_MARKS: self._rates.group(("marks", named)),
                LinkColumn.BY_PLACE: self._rates.group(("place", *folders)),
                LinkColumn.BY_BOTH: self._rates.group(("marks", named, *folders)),
                LinkColumn.BY_SOURCE: self._unlinked.group(link.source)
                if unlinked
                else self._sources.group(link.source),
            },
            queued=not self.partners.is_visited(row),
        )
        self._table.mark_queued(self.partners.candidates(row))
        self._table.mark_queued(self.partners.twins(row))
        return row

    def _mark_source(self, rows: Rows, source: Url) -> None:
        """What the page that has the links adds."""
        number = self._addresses.known(source)
        if number is None or self.partners.language(number) == UNDETERMINED:
            return
        self._table.mark(rows[~self._table.are(rows, LinkColumn.FROM_WANTED)].tolist())
        self._table.set(rows, LinkColumn.FROM_WANTED)
        if self.partners.is_paired(number):
            self._table.set(rows, LinkColumn.FROM_PAIRED)

    # visits

    def _declare(self, urls: Sequence[Url]) -> None:
        numbers = [self.partners.add(url) for url in urls]
        self.partners.declare(urls)
        self._table.mark_queued(numbers)

    def _arrived(self, page: Page) -> None:
        url = page.url
        number = self._addresses.number(url)
        before = set(self.partners.candidates(number))
        pairs = self.partners.arrived(page)
        language = self.partners.language(number)
        self._stopping.arrived(len(pairs))
        self._states.signs.update([language] if language != UNDETERMINED else [])
        for partner in pairs:
            self._count(self._addresses.number(partner), 1.0)
            self._unlinked.paired(url, partner)
        self._count(number, 1.0 if pairs else self._gain_without_partner(number))
        if not pairs:
            self._unlinked.alone(url)
        self._recount(before.union(self.partners.candidates(number)))
        self._table.mark_queued(self.partners.twins(number))

    def _failed(self, url: Url) -> None:
        self.partners.failed(url)
        number = self._addresses.number(url)
        self._count(number, 0.0)
        self._recount(self.partners.candidates(number))

    def _redirected(self, old: Url, new: Url) -> None:
        self.partners.failed(old)
        number = self.partners.add(new)
        self.partners.redirect(old, new)
        self._states.redirect(old, new)
        self._table.mark_queued(self.partners.candidates(number))

    def _count(self, row: int, gain: float) -> None:
        """A visit brought that, or is worth that after all."""
        if row not in self._table:
            return
        before = self._table.gain(row)
        self._table.set_gain(row, gain)
        unwanted = [self._unwanted] if self._table.are(np.array([row]), LinkColumn.UNWANTED)[0] else []
        for group in self._table.group_numbers(row) + unwanted:
            self._rates.count(group, 1.0 if before is None else 0.0, gain - (before or 0.0))

    def _recount(self, others: Iterable[int]) -> None:
        """Visited pages that counted on a partner may do so no more; queued links have other chances."""
        ordered = sorted(others)
        for other in ordered:
            if other in self._table and self._table.gain(other) == HALF:
                self._count(other, self._gain_without_partner(other))
        self._table.mark_queued(ordered)

    def _gain_without_partner(self, number: int) -> float:
        """What a page without a partner is worth: something while a link that may be its partner is queued."""
        partners = self.partners
        if partners.language(number) == UNDETERMINED:
            return 0.0
        return HALF * any(
            other in self._table and not partners.is_visited(other) for other in partners.candidates(number)
        )
