"""The chance that a link leads to a page about the topic, for all links of a job.

A row a link: what its sources are about, what its own words say, how far the last relevant page is, and what links of the
same directory, of the same page and with the same words have brought so far. A small logistic model weighs them. It begins
with weights that were trained on other webs, and each visit corrects them a little.

The judge of pages knows the words that texts about the topic have. Links have words of their own ("lesson", "clinic", "vin-rouge"):
which of them lead to the topic, only visits can tell (Chakrabarti et al. 2002, "Accelerated focused crawling").
"""

import re
from bisect import insort
from collections.abc import Sequence
from enum import IntEnum
from math import exp, log1p
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language, Link, Page
from bitrawl.protocols import RelevanceModel
from bitrawl.strategies.adaptive.rates import Rates, folders
from bitrawl.text.frequencies import word_keys
from bitrawl.url import Url

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

FIRST_ROWS = 1024  # rows of a new table; it doubles when they are full
MOST_ODDS = 5.0  # log-odds are cut there: a chance of 0.993
PRIOR = 0.2  # judgement: how often a link leads to a relevant page, before anything is known
FARTHEST = 5  # judgement: steps from the last relevant page that make a difference
MOST_WEIGHED = 20_000  # texts of links that are remembered, then forgotten all at once
# How the shift of `_gain` is found; judgements.
SHIFT_AFTER, SHIFT_EVERY, SHIFT_WINDOW = 20, 10, 1000  # pages
SHIFT_TO, MOST_SHIFT = 1.0, 3.0  # log-odds
LEAST_SHIFT = 0.1  # a smaller change of the shift is left for later
BEST = 10  # pages that must be probably relevant, or one in ten while fewer than a hundred were judged
TERM = 25.0  # judgement: the weight of a term that tells something; lists that are learned have weights up to 100
STEP = 0.02  # of one visit, on the weights; judgement
WORD_STEP = 0.3  # of one visit, on the weights of the link's words; judgement
PULL = 0.002  # of one visit, back to the trained weights; judgement

MOST_WORDS = 12  # of a link; judgement
PLACES = 1 << 16  # of hashed words; judgement: two of a thousand words share a place
_MASK = np.int32(PLACES - 1)
_NO_WORD = 0  # a place that stays empty


class TopicColumn(IntEnum):
    """What the model weighs."""

    BIAS = 0
    BEST_SOURCE = 1  # log-odds of the most relevant page that has the link
    MEAN_SOURCE = 2
    SOURCES = 3  # log of how many relevant pages have it
    ANCHOR = 4  # what its text says of the topic, by the model that judges pages
    CONTEXT = 5  # the text around it
    ADDRESS = 6  # the words of its URL
    SILENT = 7  # it has no text
    AWAY = 8  # steps from the last relevant page
    BY_PLACE = 9  # log-odds of what links into the same directory brought
    BY_SOURCE = 10  # links of the same page
    UNSEEN = 11  # nothing of this directory was visited
    TERMS = 12  # the terms in its text, while the judge of pages recognises none


# of a link; the highest counts
# Of several links to one page, the highest counts.
HIGHEST = [TopicColumn.BEST_SOURCE, TopicColumn.ANCHOR, TopicColumn.CONTEXT, TopicColumn.TERMS]
HEARD = [*HIGHEST, TopicColumn.SOURCES, TopicColumn.SILENT, TopicColumn.AWAY]  # what pages say of a link

# Between a first judgement and the weights of a logistic regression over 19 crawls of shared/domain (2026-11), which, fitted
# without the subject, ranked its links no better (AUC 0.967 and 0.965 in the mean).
WEIGHTS = {
    TopicColumn.BIAS: -0.3,
    TopicColumn.BEST_SOURCE: 0.2,
    TopicColumn.MEAN_SOURCE: 0.3,
    TopicColumn.SOURCES: 0.2,
    TopicColumn.ANCHOR: 0.8,
    TopicColumn.CONTEXT: 0.1,
    TopicColumn.ADDRESS: 0.15,
    TopicColumn.SILENT: 0.0,
    TopicColumn.AWAY: -0.1,
    TopicColumn.BY_PLACE: 0.65,
    TopicColumn.BY_SOURCE: 0.15,
    TopicColumn.UNSEEN: -0.1,
    TopicColumn.TERMS: 1.0,  # of 0, 0.5 and 1 on lab/bench/domain.py, health and environment of `web`, three draws (2026-11)
}


class SourcePage(NamedTuple):
    """What matters of a page for its links."""

    odds: float  # of its relevance, without the shift
    away: int  # steps from the last relevant page; 0 for a relevant one
    group: int  # of the links that it has


class Brought(NamedTuple):
    """What a visit brought. It is counted again when the shift changes, or what the judge says of the page."""

    groups: list[int]  # of the link
    odds: float  # of the page
    rows: list[int]  # links of the page


class LinkRelevance:
    """Rows are numbered in the order in which the links were found."""

    def __init__(
        self,
        model: RelevanceModel,
        language: Language,
        weights: Floats | None = None,
        terms: RelevanceModel | None = None,  # a list out of the same texts
    ) -> None:
        self._model = model
        self._terms = terms
        self._language = language  # of addresses that stand on no page
        given = np.array([WEIGHTS[column] for column in TopicColumn], np.float32) if weights is None else weights
        self._trained = given.copy()
        self.weights = given.copy()
        self._rows: dict[Url, int] = {}
        self._urls: list[Url] = []
        self._rates = Rates(PRIOR)
        self.words = LinkWordTable()
        self._word_weights = WordWeights(self.words, WORD_STEP)
        self._facts = np.zeros((FIRST_ROWS, len(TopicColumn)), np.float32)
        self._groups = np.zeros((FIRST_ROWS, 2), np.int32)  # place, source
        self._hosts = np.zeros(FIRST_ROWS, np.int32)  # groups of hosts
        self._visited = np.zeros(FIRST_ROWS, bool)
        self._totals = np.zeros((FIRST_ROWS, 2), np.float32)  # sum of the sources' odds, and how many they are
        self._moved: dict[int, list[int]] = {}  # links that redirect to a link that was not visited
        self._sources: dict[Url, SourcePage] = {}
        self._judged = 0  # pages in a language asked for
        self._best: list[float] = []  # the highest of their log-odds, in rising order
        self._shift = 0.0
        self._brought: dict[Url, Brought] = {}  # by the last pages; by the link of a visit without one
        self._weighed: dict[tuple[str, Language], float] = {}
        self._weighed_terms: dict[tuple[str, Language], float] = {}

    def __len__(self) -> int:
        return len(self._urls)

    def url(self, row: int) -> Url:
        return self._urls[row]

    def row(self, url: Url) -> int | None:
        return self._rows.get(url)

    def add(self, links: Sequence[Link], found_on: Page | None) -> Rows:
        """A row for each link, with what this page says of it added to what others said."""
        rows = self._rows_of(links, found_on.language if found_on is not None else self._language)
        if found_on is not None:
            # Most links of a page are those of its menu, and were visited long ago.
            open_links = [(link, row) for link, row in zip(links, rows.tolist(), strict=True) if not self._visited[row]]
            if open_links:
                self._hear([link for link, _ in open_links], np.array([row for _, row in open_links]), found_on)
            return rows
        alone = rows[self._totals[rows, 1] == 0]
        self._groups[alone, 1] = self._rates.group(("source", ""))
        self._facts[alone, TopicColumn.AWAY] = 1
        return rows

    def _hear(self, links: Sequence[Link], rows: Rows, page: Page) -> None:
        """What a page says of links that were not visited."""
        facts, source = self._facts, self._source(page)
        odds = self._shifted(source.odds)
        first = self._totals[rows, 1] == 0
        self._totals[rows] += (odds, 1)
        if page.url in self._brought:
            self._brought[page.url].rows.extend(rows.tolist())
        better = first | (facts[rows, TopicColumn.BEST_SOURCE] <= odds)
        self._groups[rows[better], 1] = source.group
        facts[rows[better], TopicColumn.BEST_SOURCE] = odds
        facts[rows, TopicColumn.MEAN_SOURCE] = self._totals[rows, 0] / self._totals[rows, 1]
        facts[rows, TopicColumn.SOURCES] += odds > 0
        away = facts[rows, TopicColumn.AWAY]
        facts[rows, TopicColumn.AWAY] = np.where(first, source.away, np.minimum(source.away, away))
        anchors = self._weigh([link.anchor or link.image_alt for link in links], page.language)
        contexts = self._weigh([link.context for link in links], page.language)
        terms = self._weigh_terms([link.anchor or link.image_alt for link in links], page.language)
        for column, weights in (
            (TopicColumn.ANCHOR, anchors),
            (TopicColumn.CONTEXT, contexts),
            (TopicColumn.TERMS, terms),
        ):
            facts[rows, column] = np.where(first, weights, np.maximum(weights, facts[rows, column]))
        for link, row in zip(links, rows.tolist(), strict=True):
            self.words.add(row, link.anchor or link.image_alt, page.language)
        facts[rows, TopicColumn.SILENT] = [not (link.anchor or link.image_alt) for link in links]

    def move(self, old: int, new: int) -> None:
        """A link redirects to another: all that was said of the one is said of the other, whose page is worth both visits."""
        self._moved.setdefault(new, []).extend([old, *self._moved.pop(old, ())])
        facts, totals = self._facts, self._totals
        if not totals[old, 1]:
            return
        if not totals[new, 1]:
            self._groups[new, 1] = self._groups[old, 1]
            facts[new, HEARD] = facts[old, HEARD]
        facts[new, HIGHEST] = np.maximum(facts[new, HIGHEST], facts[old, HIGHEST])
        totals[new] += totals[old]
        facts[new, TopicColumn.MEAN_SOURCE] = totals[new, 0] / totals[new, 1]
        self.words.move(old, new)

    def chance(self, rows: Rows) -> Floats:
        """That their pages are relevant."""
        if not len(rows):
            return np.zeros(0, np.float32)
        # No matrix product of BLAS: its threads wait for each other on a busy machine.
        odds = np.einsum("ij,j->i", self.features(rows), self.weights) + self._word_weights.odds(rows)
        chance: Floats = 1 / (1 + np.exp(-np.clip(odds, -20, 20)))
        return chance

    def features(self, rows: Rows) -> Floats:
        values = self._facts[rows].copy()
        rates = np.clip(self._rates.rates(self._groups[rows]), 0.005, 0.995)
        values[:, TopicColumn.BY_PLACE : TopicColumn.BY_SOURCE + 1] = np.log(rates / (1 - rates))
        values[:, TopicColumn.UNSEEN] = self._unseen(rows)
        values[:, TopicColumn.SOURCES] = np.log1p(values[:, TopicColumn.SOURCES])
        values[:, TopicColumn.TERMS] *= self.unsure
        return values

    def hope(self, rows: Rows, foreign: Floats) -> Floats:
        """What other pages of the host leave of the hope that a place of it is relevant: 1 before anything was seen.

        `foreign` pages of the host say nothing of the topic. They count while it has shown none in a language asked for.
        """
        hosts = self._hosts[rows]
        visits = self._rates.visits(hosts)
        values: Floats = (1 + self._rates.gains(hosts)) / (1 + np.where(visits > 0, visits, foreign))
        return values

    def see_through(self, old: int, new: int) -> None:
        """The page of a link says nothing and leads to another: what was said of the one is said of the other."""
        if self._totals[old, 1]:
            self._facts[new, HIGHEST] = np.maximum(self._facts[new, HIGHEST], self._facts[old, HIGHEST])

    def passed(self, url: Url, page: Page) -> None:
        """A visit brought a page that says nothing of the topic. Its links are worth what it was expected to be."""
        row = self._rows.get(url)
        odds, away = _odds(PRIOR), 1
        if row is not None:
            self._visited[row] = True
            away = int(self._facts[row, TopicColumn.AWAY])
            if self._totals[row, 1]:
                odds = float(self._facts[row, TopicColumn.BEST_SOURCE]) - self._shift
        self._sources[page.url] = SourcePage(odds, away, self._rates.below(self._rates.group(("source",))))

    def arrived(self, url: Url, page: Page | None) -> None:
        """A visit ended; None if it brought no page."""
        self._revise()
        odds = self._judge(page) if page is not None else -MOST_ODDS
        gain = self._gain(odds)
        row = self._rows.get(url)
        away = 0
        if row is not None:
            self._visited[row] = True
            self._correct(row, gain)
            groups = np.unique(self._groups[[row, *self._moved.pop(row, ())]]).tolist()
            for group in groups:
                self._rates.count(group, 1.0, gain)
            self._remember(page.url if page is not None else url, Brought(groups, odds, []))
            away = int(self._facts[row, TopicColumn.AWAY])
        if page is not None:
            relevant = bool(page.relevance and page.relevance.relevant)
            self._sources[page.url] = SourcePage(
                odds, 0 if relevant else min(away + 1, FARTHEST), self._rates.below(self._rates.group(("source",)))
            )

    def _remember(self, url: Url, brought: Brought) -> None:
        self._brought[url] = brought
        if len(self._brought) > SHIFT_WINDOW:
            del self._brought[next(iter(self._brought))]

    def _revise(self) -> None:
        """What earlier pages brought is counted by what the judge says of them now.

        Otherwise a host that was visited before the judge had learned enough would seem worse than one that was visited after.
        """
        sources = self._brought.keys() & self._sources.keys()  # a page that was judged and dropped is no source
        revised = [(url, _odds(score)) for url, score in self._model.revised() if url in sources]
        if not revised:
            return
        self._weighed.clear()
        for url, odds in revised:
            brought = self._brought[url]
            for group in brought.groups:
                self._rates.count(group, 0.0, self._gain(odds) - self._gain(brought.odds))
            self._hear_again(np.array(brought.rows, np.int64), self._shifted(brought.odds), self._shifted(odds))
            self._brought[url] = brought._replace(odds=odds)
            self._sources[url] = self._sources[url]._replace(odds=odds)
        self._best = sorted(brought.odds for brought in self._brought.values())[-BEST:]

    def _hear_again(self, rows: Rows, before: float, now: float) -> None:
        """A page that has these links is worth something else than it was."""
        rows = rows[~self._visited[rows]]
        if not len(rows):
            return
        facts, totals = self._facts, self._totals
        np.add.at(totals[:, 0], rows, np.float32(now - before))
        facts[rows, TopicColumn.MEAN_SOURCE] = totals[rows, 0] / totals[rows, 1]
        best = facts[rows, TopicColumn.BEST_SOURCE]
        facts[rows, TopicColumn.BEST_SOURCE] = np.where(np.isclose(best, before), now, np.maximum(best, now))

    def _judge(self, page: Page) -> float:
        """The log-odds of a page, and from time to time a new shift.

        Where the texts that a topic was learned from are unlike the web, all pages score low, and the best of them are
        still what is looked for: log-odds are shifted until these are probably relevant.
        """
        if page.relevance is None or page.relevance.score <= 0:
            return -MOST_ODDS
        odds = _odds(page.relevance.score)
        self._judged += 1
        insort(self._best, odds)
        del self._best[:-BEST]
        if self._judged % SHIFT_EVERY == 0 and self._judged >= SHIFT_AFTER:
            shift = min(max(0.0, self._missing()), MOST_SHIFT)
            if abs(shift - self._shift) >= LEAST_SHIFT:
                self._shift_to(shift)
        return odds

    def _missing(self) -> float:
        """Log-odds that the best pages lack to be probably relevant.

        The best of all, and not a share of the last ones: where little is left to find, the rest must not seem better.
        """
        return SHIFT_TO - self._best[-max(1, min(len(self._best), self._judged // 10))]

    @property
    def unsure(self) -> float:
        """1 while the judge has recognised nothing, 0 when the best pages are probably relevant."""
        return min(max(0.0, self._missing() / MOST_SHIFT), 1.0) if self._best else 1.0

    def _shift_to(self, shift: float) -> None:
        """What was seen before is counted as what comes from now on: otherwise the first pages would seem the worst."""
        change, facts, totals = shift - self._shift, self._facts, self._totals
        heard = (totals[:, 1] > 0) & (facts[:, TopicColumn.BEST_SOURCE] > -MOST_ODDS)
        for column in (TopicColumn.BEST_SOURCE, TopicColumn.MEAN_SOURCE):
            facts[heard, column] = np.clip(facts[heard, column] + change, -MOST_ODDS, MOST_ODDS)
        totals[heard, 0] = facts[heard, TopicColumn.MEAN_SOURCE] * totals[heard, 1]
        before = [self._gain(brought.odds) for brought in self._brought.values()]
        self._shift = shift
        for brought, earlier in zip(self._brought.values(), before, strict=True):
            for group in brought.groups:
                self._rates.count(group, 0.0, self._gain(brought.odds) - earlier)

    def _shifted(self, odds: float) -> float:
        return odds if odds <= -MOST_ODDS else float(np.clip(odds + self._shift, -MOST_ODDS, MOST_ODDS))

    def _gain(self, odds: float) -> float:
        """How relevant a page of these log-odds is, beside those seen so far."""
        return 0.0 if odds <= -MOST_ODDS else 1 / (1 + exp(-odds - self._shift))

    def _correct(self, row: int, gain: float) -> None:
        """One step of logistic regression, and a pull back to the trained weights."""
        features = self.features(np.array([row]))[0]
        odds = float(features @ self.weights + self._word_weights.odds(np.array([row]))[0])
        chance = 1 / (1 + np.exp(-np.clip(odds, -20, 20)))
        # What brought pages that the judge does not recognise anyway teaches no words: they would lead on to more of the same.
        self._word_weights.correct(row, (gain - chance) * (1 - self.unsure))
        self.weights += STEP * np.float32(gain - chance) * features / np.float32(1 + np.linalg.norm(features) / 4)
        self.weights += np.float32(PULL) * (self._trained - self.weights)

    def _unseen(self, rows: Rows) -> Floats:
        values: Floats = (self._rates.visits(self._groups[rows, 0]) == 0).astype(np.float32)
        return values

    def _weigh(self, texts: Sequence[str], language: Language) -> Floats:
        return _weighed_by(self._model, self._weighed, texts, language)

    def _weigh_terms(self, texts: Sequence[str], language: Language) -> Floats:
        if self._terms is None:
            return np.zeros(len(texts), np.float32)
        return _weighed_by(self._terms, self._weighed_terms, texts, language, 1 / TERM)

    def _source(self, page: Page) -> SourcePage:
        source = self._sources.get(page.url)
        if source is None:  # its visit ended as something else: an opt-out, a soft 404
            self.arrived(page.url, page)
            source = self._sources[page.url]
        return source

    def _rows_of(self, links: Sequence[Link], language: Language) -> Rows:
        new = list(dict.fromkeys(link.url for link in links if link.url not in self._rows))
        for url, weight in zip(new, self._model.weigh([_words(url) for url in new], language), strict=True):
            row = self._rows[url] = len(self._urls)
            self._urls.append(url)
            if row >= len(self._facts):
                self._grow()
            self._facts[row, TopicColumn.BIAS] = 1.0
            self._facts[row, TopicColumn.ADDRESS] = _cut(weight)
            self.words.add(row, _words(url), language)
            self._groups[row, 0] = self._rates.group(("place", url.host, *folders(url)))
            self._hosts[row] = self._rates.group(("place", url.host))
        return np.array([self._rows[link.url] for link in links], np.int64)

    def _grow(self) -> None:
        for name in ("_facts", "_groups", "_hosts", "_totals", "_visited"):
            old = getattr(self, name)
            new = np.zeros((2 * len(old), *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)


def _weighed_by(
    model: RelevanceModel,
    known: dict[tuple[str, Language], float],
    texts: Sequence[str],
    language: Language,
    scale: float = 1.0,
) -> Floats:
    """What a site's menu says is asked once, until the model has learned more."""
    if len(known) > MOST_WEIGHED:
        known.clear()
    new = [text for text in dict.fromkeys(texts) if text and (text, language) not in known]
    weights = model.weigh(new, language)
    known.update({(text, language): _cut(scale * weight) for text, weight in zip(new, weights, strict=True)})
    return np.array([known[text, language] if text else 0.0 for text in texts], np.float32)


def _words(url: Url) -> str:
    """Of the last two parts of the path."""
    return " ".join(re.split(r"[/_+-]+", unquote(url.path).rstrip("/"))[-12:])


def _odds(chance: float) -> float:
    chance = min(max(chance, 1e-6), 1 - 1e-6)
    return float(np.clip(np.log(chance / (1 - chance)), -MOST_ODDS, MOST_ODDS))


def _cut(weight: float) -> float:
    """Models have scales of their own; long sums say little more than short ones."""
    return log1p(weight) if weight >= 0 else -log1p(-weight)


class LinkWordTable:
    """The words of each link. Rows are those of `LinkRelevance`."""

    def __init__(self) -> None:
        self._words = np.full((FIRST_ROWS, MOST_WORDS), _NO_WORD, np.int32)
        self._sizes = np.zeros(FIRST_ROWS, np.int32)

    def add(self, row: int, text: str, language: Language) -> None:
        """Words that the link has too; those that do not fit are left out."""
        while row >= len(self._words):
            self._words = np.concatenate([self._words, np.full_like(self._words, _NO_WORD)])
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
        size = int(self._sizes[row])
        if not text or size == MOST_WORDS:
            return
        self._include(row, (word_keys(text, language) & _MASK).tolist())

    def move(self, old: int, new: int) -> None:
        """A link has the words of another."""
        self._include(new, self._words[old, : self._sizes[old]].tolist())

    def _include(self, row: int, places: Sequence[int]) -> None:
        size = int(self._sizes[row])
        words = {_NO_WORD, *self._words[row, :size].tolist()}
        new = [place for place in dict.fromkeys(places) if place not in words][: MOST_WORDS - size]
        self._words[row, size : size + len(new)] = new
        self._sizes[row] += len(new)

    def of(self, rows: Rows) -> NDArray[np.int32]:
        """A place for each word of each link, and the place that stays empty for those that it has not."""
        return self._words[rows]

    def sizes(self, rows: Rows) -> NDArray[np.int32]:
        """How many words each link has."""
        return self._sizes[rows]


class WordWeights:
    """What the words of links have brought, of one thing that visits tell."""

    def __init__(self, words: LinkWordTable, step: float) -> None:
        self._words = words
        self._step = np.float32(step)
        self._weights = np.zeros(PLACES, np.float32)

    def odds(self, rows: Rows) -> Floats:
        """What the words add to the log-odds of each link; 0 before anything was learned."""
        sizes = np.maximum(self._words.sizes(rows), 1)
        values: Floats = self._weights[self._words.of(rows)].sum(axis=1) / np.sqrt(sizes)
        return values

    def correct(self, row: int, error: float) -> None:
        """One step of logistic regression, by what a visit brought beyond what was expected."""
        rows = np.array([row])
        size = int(self._words.sizes(rows)[0])
        if size:
            self._weights[self._words.of(rows)[0, :size]] += self._step * np.float32(error / size**0.5)
