"""Finds the page pairs of a site in rounds of evidence, scoring and matching.

Each round measures the candidates with what the pairs of the previous round have taught (the site's URL patterns, a
lexicon, the links of paired pages), scores them and matches them one to one. The next round learns from the pairs that
are certain by then.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language, Method, Page, PagePair, Sitemap
from bitrawl.pair.content import Lexicons
from bitrawl.pair.copies import copies
from bitrawl.pair.declared import DeclaredDetector, claims
from bitrawl.pair.evidence import ALL, METHODS_OF, Known, PageNumbers
from bitrawl.pair.features import Candidates, Surveyor
from bitrawl.pair.matching import match
from bitrawl.pair.scoring import ScoreModel
from bitrawl.pair.site import Site, condense
from bitrawl.pair.structure import letter_of
from bitrawl.pair.url_pairs import UrlDetector, by_marks, same_language_versions
from bitrawl.pair.verification import MAX_SHARED, MIN_WEIGHT, Refusal, RefusalReason, shared_text
from bitrawl.protocols import Encoder
from bitrawl.urls.patterns import Pattern

Floats = NDArray[np.float64]
Scorer = Callable[[Candidates], Floats]

# Judgements. The scores are calibrated: at 0.5, a pair is as likely right as wrong.
ROUNDS = 4  # At most ...
GROWTH = 1.02  # ... and no further round if the last one made so few more pairs certain: it would find no more.
THRESHOLD = 0.5
LEAST = 0.01  # Candidates with a lower score are dropped.
CERTAIN = 0.9  # Pairs with at least this score are learned from.
BOTH = 0.5  # The evidence that images and digits each need for the method that combines them.
HALF = 0.5  # Below this ratio of lengths, a refused page is called a placeholder or an abstract.


@dataclass(frozen=True, slots=True)
class PairingSettings:
    """What a user may choose."""

    methods: frozenset[Method] = ALL
    threshold: float = THRESHOLD
    url_pairs: tuple[tuple[str, str], ...] = ()  # texts in URLs that correspond to each other: ("en", "fr")
    keep_machine_translated: bool = False
    rounds: int = ROUNDS


@dataclass(frozen=True, slots=True)
class PairingResult:
    """The pairs, the refused pairs with reasons, and what was learned about the site's URLs."""

    pairs: list[PagePair] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    patterns: dict[tuple[Language, Language], dict[Pattern, float]] = field(default_factory=dict)


class Pairing:
    """Pairs the pages of one site. The same pages always give the same pairs; more pages may change them."""

    def __init__(
        self,
        settings: PairingSettings | None = None,
        *,
        model: ScoreModel | None = None,
        lexicons: Lexicons | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        self._settings = settings or PairingSettings()
        self._model = model or ScoreModel.load()
        self._lexicons = lexicons
        self._encoder = encoder

    def pairs(
        self, pages: Iterable[Page], languages: Sequence[Language], sitemaps: Iterable[Sitemap] = ()
    ) -> PairingResult:
        """All pairs of two of those languages. `pages` are from one site, relabelled or not."""
        settings = self._settings
        # The result does not depend on the order in which they came.
        ordered = sorted(pages, key=lambda page: page.url)
        whole = condense(ordered, languages, sitemaps)
        rounds = Rounds(whole, settings, self._lexicons, self._encoder)
        scored: dict[PageNumbers, float] = {}
        for number in range(settings.rounds):
            before = len(rounds.known.pairs)
            weights = self._model.later if number else self._model.first
            # The model was trained on all evidence at once. Without content, too much of it is missing.
            judged = weights.probabilities if Method.CONTENT in settings.methods else by_itself(settings.methods)
            scored = rounds.step(judged)
            if number and len(rounds.known.pairs) <= GROWTH * before:
                break
        return rounds.result(scored, languages)


class Rounds:
    """The state between rounds, for one site."""

    def __init__(
        self,
        site: Site,
        settings: PairingSettings,
        lexicons: Lexicons | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        self.site = site
        self._settings = settings
        self._copies = copies(site)
        self._left_out = set(self._copies)
        self._left_out.update(summary.number for summary in site.summaries if summary.weight < MIN_WEIGHT)
        if not settings.keep_machine_translated:
            self._left_out.update(summary.number for summary in site.summaries if summary.machine)
        self._url = UrlDetector(settings.url_pairs)
        self._surveyor = Surveyor(
            site, settings.methods, url=self._url, lexicons=lexicons, encoder=encoder, left_out=self._left_out
        )
        self.known = Known()
        self.candidates = Candidates([], np.zeros((0, 0)))

    def survey(self) -> Candidates:
        self.candidates = self._surveyor.survey(self.known)
        return self.candidates

    def step(self, probabilities: Scorer) -> dict[PageNumbers, float]:
        """Run one round. Returns the score of each candidate that passes verification. Certain pairs become known."""
        candidates = self.survey()
        if not candidates.pairs:
            return {}
        return self.settle(probabilities(candidates))

    def settle(self, values: Floats) -> dict[PageNumbers, float]:
        """Verify and match the candidates, given their scores."""
        translated = self.candidates.column("shared") < MAX_SHARED
        scores = {
            pair: float(value)
            for pair, value, passes in zip(self.candidates.pairs, values, translated, strict=True)
            if passes and value >= LEAST
        }
        certain = match(self.site, scores, CERTAIN)
        self.known = Known(certain, self.site)
        return scores

    def result(self, scores: Mapping[PageNumbers, float], languages: Sequence[Language]) -> PairingResult:
        """The result after the last round."""
        matched = match(self.site, scores, self._settings.threshold)
        order = {language: place for place, language in enumerate(languages)}
        rows = {pair: row for row, pair in enumerate(self.candidates.pairs)}
        pairs = [self._page_pair(pair, score, rows[pair], order) for pair, score in matched.items()]
        return PairingResult(pairs, self._refusals(matched, scores, order), self._url.patterns)

    def _page_pair(self, pair: PageNumbers, score: float, row: int, order: Mapping[Language, int]) -> PagePair:
        a, b = sorted((self.site.summaries[number] for number in pair), key=lambda summary: order[summary.language])
        evidence = evidence_of(self.candidates, row, self._settings.methods)
        return PagePair(a.url, b.url, a.language, b.language, round(score, 4), evidence)

    def _refusals(
        self, matched: Mapping[PageNumbers, float], scores: Mapping[PageNumbers, float], order: Mapping[Language, int]
    ) -> list[Refusal]:
        """All pairs that pages declare or URLs indicate, but that were not accepted."""
        site, methods = self.site, self._settings.methods
        proposed: set[PageNumbers] = set()
        if Method.DECLARED in methods:
            proposed |= DeclaredDetector().propose(site, Known()).keys() | claims(site)
        if Method.URL in methods:
            proposed |= by_marks(site).keys() | same_language_versions(site)
        refused = []
        for pair in sorted(proposed - matched.keys()):
            a, b = sorted(
                (site.summaries[n] for n in pair), key=lambda summary: (order[summary.language], summary.number)
            )
            score = scores.get(pair, 0.0)
            refused.append(Refusal(a.url, b.url, a.language, b.language, self._reason(pair, score), score))
        return refused

    def _reason(self, pair: PageNumbers, score: float) -> RefusalReason:
        a, b = (self.site.summaries[number] for number in pair)
        if a.machine or b.machine:
            return RefusalReason.MACHINE
        if (
            shared_text(a, b) >= MAX_SHARED
            or self._copies.get(a.number) == b.number
            or self._copies.get(b.number) == a.number
        ):
            return RefusalReason.UNTRANSLATED
        if a.language == b.language:
            return RefusalReason.WRONG_LANGUAGE
        if min(a.weight, b.weight) < MIN_WEIGHT:
            return RefusalReason.SHORT
        if not self._left_out.isdisjoint(pair) or score >= self._settings.threshold:
            return RefusalReason.CONFLICT
        return (
            RefusalReason.LENGTH if min(a.weight, b.weight) < HALF * max(a.weight, b.weight) else RefusalReason.UNLIKE
        )


def by_itself(methods: frozenset[Method]) -> Scorer:
    """The strongest evidence of the selected methods as the score. The other evidence breaks ties."""
    names = [name for name, asking in METHODS_OF.items() if not methods.isdisjoint(asking)]

    def score(candidates: Candidates) -> Floats:
        said = np.array([candidates.column(name) for name in names] or [np.zeros(len(candidates.pairs))])
        result: Floats = np.clip(0.95 * said.max(axis=0) + 0.05 * said.mean(axis=0), 0, 1)
        return result

    return score


def evidence_of(candidates: Candidates, row: int, methods: frozenset[Method]) -> dict[str, float]:
    """The evidence of each selected method, by letter. Methods without evidence are left out."""

    def value(name: str) -> float:
        return round(float(candidates.column(name)[row]), 3)

    images, digits, structure = value("images"), value("digits"), value("structure")
    said = {
        Method.DECLARED: value("declared"),
        Method.URL: value("url"),
        Method.IMAGES_AND_DIGITS: round((images + digits) / 2, 3) if min(images, digits) >= BOTH else 0.0,
        Method.IMAGES: images,
        Method.DIGITS: digits,
        Method.CONTENT: max(value("kept"), value("lexicon")),
        Method.PARENTS: max(value("parents"), value("relatives")),
        Method.MUTUAL: value("mutual"),
        Method.BRIDGE: value("bridge"),
    }
    letter = letter_of(structure)
    if letter is not None:
        said[letter] = structure
    return {str(method): number for method, number in said.items() if number > 0 and method in methods}
