"""From the pages of a site to pairs of translations: rounds of evidence, score and matching.

Each round measures the candidates with what the pairs of the round before have taught (the site's URL patterns, a
lexicon, the links of paired pages), scores them and matches them one to one. The pairs that are certain after it are
what the next one learns from.

Sites put the untranslated page below the other language's folder, or serve a page with and without its language's mark. By
content such copies are the same page, so only their addresses can tell which one is the original, and only that is paired.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec
import numpy as np

from bitrawl.mining.detectors import RECIPROCAL, DeclaredDetector, UrlDetector, claims, letter_of
from bitrawl.mining.duplicates import FOREIGN, claimed, is_rendering
from bitrawl.mining.evidence import (
    MAX_SHARED,
    METHODS_OF,
    MIN_WEIGHT,
    Evidence,
    KnownPairs,
    PageNumbers,
    both_ends,
    pair_key,
    same_text,
)
from bitrawl.mining.findings import RefusalReason, RefusedPair
from bitrawl.mining.page_score import COLUMN, NAMES, Candidates, ScoreModel, Surveyor, probabilities
from bitrawl.mining.settings import PairSection
from bitrawl.mining.site import PageOf, Pages, PageSummary, Parts, Rows, Site, condense
from bitrawl.model import Language, Method, Page, PagePair, Sitemap
from bitrawl.protocols import Encoder
from bitrawl.text.arrays import Floats, Ints, Trees, places_in
from bitrawl.text.known_words import Dictionary
from bitrawl.text.template import Template
from bitrawl.text.words import text_key
from bitrawl.urls import named_languages, skeleton

Scorer = Callable[[Candidates], Floats]

_NOTHING = Candidates(np.zeros(0, np.int64), np.zeros((0, len(NAMES)), np.float32))

# Judgements; the scores are calibrated, so that 0.5 is where a pair is as likely right as wrong.
ROUNDS = 4  # At the most ...
GROWTH = 1.02  # ... and no further one when the last has made so few more pairs certain: it would find no more.
LEAST = 0.01  # Score below which a candidate is forgotten.
CERTAIN = 0.9  # Score from which on a pair is learned from.
BOTH = 0.5  # What images and digits each have to say for the method that asks for both.
# What declarations or URLs have to say of two pages of which only a part is translated: a declaration of one of them says
# that much.
SAID = 0.5
HALF = 0.5  # Ratio of lengths below which a refused page is called a placeholder or an abstract.


@dataclass(frozen=True, slots=True)
class PairingResult:
    """The pairs, and what was refused and why."""

    pairs: list[PagePair] = field(default_factory=list)
    partial: list[PagePair] = field(default_factory=list)  # refused, but a part of their text is translated
    refusals: list[RefusedPair] = field(default_factory=list)


class Pairing:
    """Pairs the pages of one site; repeatable: the same pages give the same pairs, more pages may change them."""

    def __init__(
        self,
        settings: PairSection | None = None,
        *,
        model: ScoreModel | None = None,
        dictionary: Dictionary | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        self._settings = settings or PairSection()
        self._methods = self._settings.method_set()
        self._settings.url_counterparts()  # raises for what is no pair, before anything is written
        self._model = model or ScoreModel.load()
        self.dictionary = dictionary
        self._encoder = encoder

    def pairs(
        self,
        pages: Iterable[Page] | Pages,
        languages: Sequence[Language],
        sitemaps: Iterable[Sitemap] = (),
        *,
        template: Template | None = None,
        page_of: PageOf | None = None,
        parts: Parts | None = None,
    ) -> PairingResult:
        """All pairs of two of those languages. `pages` are of one site, relabelled or not; if not, give its `template`.

        A callable gives them anew each time it is called: twice, four times with an encoder. No more than one is held
        at a time. `page_of` reads one of them again; without it, each round after the first goes through all of them.
        Whatever order they come in, the result is the same. `parts`: see `condense`.
        """
        whole = condense(pages, languages, sitemaps, template=template, page_of=page_of, parts=parts, sort=True)
        rounds = PairingRounds(whole, self._settings, self.dictionary, self._encoder)
        scored = Evidence.of({})
        for number in range(ROUNDS):
            before = len(rounds.known.pairs)
            trees = self._model.later if number else self._model.first
            # The model was trained on all evidence at once: where content is not asked for, it misses too much of it.
            by_model = partial(weighed, trees, whole.weights)
            judged = by_model if Method.CONTENT in self._methods else by_itself(self._methods)
            scored = rounds.step(judged)
            if number and len(rounds.known.pairs) <= GROWTH * before:
                break
        return rounds.result(scored, languages)

    def are_translations(self, a: Page, b: Page) -> float:
        """Whether two pages would be paired, given nothing else of the site: 0–1.

        Mining takes the template off first, which two pages do not show. If the whole pages are no pair, their main text
        alone is compared.
        """
        whole = self._score_of(a, b)
        bare = [_without_boilerplate(page) for page in (a, b)]
        if (
            whole >= self._settings.threshold
            or min(sum(len(text.text) for text in page.paragraphs) for page in bare) < MIN_WEIGHT
        ):
            return whole
        return max(whole, self._score_of(*bare))

    def _score_of(self, a: Page, b: Page) -> float:
        return max((pair.score for pair in self.pairs([a, b], [a.language, b.language]).pairs), default=0.0)


def _without_boilerplate(page: Page) -> Page:
    return msgspec.structs.replace(page, paragraphs=tuple(text for text in page.paragraphs if not text.boilerplate))


class PairingRounds:
    """The state between rounds, for one site."""

    def __init__(
        self, site: Site, settings: PairSection, dictionary: Dictionary | None = None, encoder: Encoder | None = None
    ) -> None:
        self.site = site
        self._threshold = settings.threshold
        self._methods = settings.method_set()
        self._copies = copies(site)
        self._left_out = misplaced(site, self._copies)
        self._left_out.update(summary.number for summary in site.summaries if summary.weight < MIN_WEIGHT)
        if not settings.machine_translated:
            self._left_out.update(summary.number for summary in site.summaries if summary.machine)
        self._url = UrlDetector(settings.url_counterparts())
        self.surveyor = Surveyor(
            site, self._methods, url=self._url, dictionary=dictionary, encoder=encoder, left_out=self._left_out
        )
        self._left_out.update(self.surveyor.without_evidence(self._copies))
        self.known = KnownPairs()
        self.candidates = _NOTHING

    def survey(self) -> Candidates:
        """Measure the candidates of this round, given the pairs that are certain."""
        return self.surveyor.survey(self.known)

    def step(self, probabilities: Scorer) -> Evidence:
        """One round: the score of each candidate that passes verification; certain pairs become known."""
        self.candidates = _NOTHING  # those of the round before are not needed any more, and large
        self.candidates = candidates = self.survey()
        if not len(candidates):
            return Evidence.of({})
        return self.settle(candidates, probabilities(candidates))

    def settle(self, candidates: Candidates, values: Floats) -> Evidence:
        """Verification and matching, given the scores of the candidates."""
        self.candidates = candidates
        passed = (candidates.column("shared") < MAX_SHARED) & (values >= LEAST)
        scores = Evidence(candidates.keys[passed], values[passed])
        self.known = KnownPairs(match(self.site, scores, CERTAIN), self.site)
        return scores

    def result(self, scores: Evidence, languages: Sequence[Language]) -> PairingResult:
        """Pairs and refusals, from the scores of the last round."""
        matched = match(self.site, scores, self._threshold)
        partial = self._partial(matched)
        order = {language: place for place, language in enumerate(languages)}
        return PairingResult(
            self._page_pairs(matched, order),
            [msgspec.structs.replace(pair, partial=True) for pair in self._page_pairs(partial, order)],
            self._refusals(matched, partial.keys(), scores, order),
        )

    def _partial(self, matched: Mapping[PageNumbers, float]) -> dict[PageNumbers, float]:
        """Of the pages without a partner, those that are translated in part. Declarations or URLs must pair them.

        What these say is the score: the model has learned to refuse such pages. How much of their text is the same does
        not matter: it is not aligned, and what is translated of a page is good however little it is.
        """
        stated = np.maximum(self.candidates.column("declared"), self.candidates.column("url"))
        partial = (self.candidates.column("shared") > 0) & (stated >= SAID)
        return match(self.site, Evidence(self.candidates.keys[partial], stated[partial]), SAID, before=matched)

    def _page_pairs(self, matched: Mapping[PageNumbers, float], order: Mapping[Language, int]) -> list[PagePair]:
        keys = np.fromiter(map(pair_key, matched), np.int64, len(matched))
        rows = places_in(self.candidates.keys, keys).tolist()
        return [
            self._page_pair(pair, score, row, order) for (pair, score), row in zip(matched.items(), rows, strict=True)
        ]

    def _page_pair(self, pair: PageNumbers, score: float, row: int, order: Mapping[Language, int]) -> PagePair:
        a, b = self._ordered(pair, order)
        evidence = evidence_of(self.candidates, row, self._methods)
        return PagePair(a.url, b.url, a.language, b.language, round(score, 4), evidence)

    def _ordered(self, pair: PageNumbers, order: Mapping[Language, int]) -> list[PageSummary]:
        return sorted(
            (self.site.summaries[number] for number in pair), key=lambda page: (order[page.language], page.number)
        )

    def _refusals(
        self,
        matched: Mapping[PageNumbers, float],
        partial: Collection[PageNumbers],
        scores: Evidence,
        order: Mapping[Language, int],
    ) -> list[RefusedPair]:
        """Of what pages declare and of what URLs say, all that did not become a pair."""
        site, methods = self.site, self._methods
        proposed = set(partial)
        if Method.DECLARED in methods:
            proposed |= DeclaredDetector().propose(site, KnownPairs()).keys() | claims(site)
        if Method.URL in methods:
            proposed |= self._url.versions(site)
        refused = []
        for pair in sorted(proposed - matched.keys()):
            a, b = self._ordered(pair, order)
            reason = RefusalReason.PARTIAL if pair in partial else self._reason(pair, scores.get(pair, 0.0))
            refused.append(RefusedPair(a.url, b.url, reason))
        return refused

    def _reason(self, pair: PageNumbers, score: float) -> RefusalReason:
        a, b = (self.site.summaries[number] for number in pair)
        if a.machine or b.machine:
            return RefusalReason.MACHINE
        alike = same_text(self.site, pair) if a.language == b.language else self.surveyor.untranslated.shared(pair)
        if alike >= MAX_SHARED or self._copies.get(a.number) == b.number or self._copies.get(b.number) == a.number:
            return RefusalReason.UNTRANSLATED
        if a.language == b.language:
            return RefusalReason.WRONG_LANGUAGE
        if min(a.weight, b.weight) < MIN_WEIGHT:
            return RefusalReason.SHORT
        if not self._left_out.isdisjoint(pair) or score >= self._threshold:
            return RefusalReason.CONFLICT
        return (
            RefusalReason.LENGTH if min(a.weight, b.weight) < HALF * max(a.weight, b.weight) else RefusalReason.UNLIKE
        )


LITTLE = 1_500  # Weight of a page whose text alone tells little: judgement.


def weighed(trees: Trees, weights: Ints, candidates: Candidates) -> Floats:
    """Scores by the trees. What two pages declare of each other needs more against it where both are short."""
    scores, column = probabilities(trees, candidates), candidates.column
    stated = (column("declared") >= np.float32(RECIPROCAL)) & (column("declared_margin") > 0)
    stated &= np.maximum(*(weights[end] for end in both_ends(candidates.keys))) < LITTLE
    odds = np.where(stated & (column("lengths") >= HALF), 10.0, 1.0)  # judgement, checked on made-up news (2026-11)
    result: Floats = scores * odds / (1 - scores + scores * odds)
    return result


def by_itself(methods: frozenset[Method]) -> Scorer:
    """The strongest evidence of the selected methods as the score; the others break ties."""
    names = [name for name, asking in METHODS_OF.items() if not methods.isdisjoint(asking)]

    def score(candidates: Candidates) -> Floats:
        values = np.array([candidates.column(name) for name in names] or [np.zeros(len(candidates))])
        result: Floats = np.clip(0.95 * values.max(axis=0) + 0.05 * values.mean(axis=0), 0, 1)
        return result

    return score


def evidence_of(candidates: Candidates, row: int, methods: frozenset[Method]) -> dict[str, float]:
    """By letter, what each selected method has to say; nothing where it is silent."""

    def value(name: str) -> float:
        return round(float(candidates.rows[row, COLUMN[name]]), 3)

    images, digits, structure = value("images"), value("digits"), value("structure")
    values = {
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
    others = (method for method in Method if method not in values and "structure" not in method.measured)
    values |= {method: value(method.measured[0]) for method in others}
    letter = letter_of(structure)
    if letter is not None:
        values[letter] = structure
    return {str(method): number for method, number in values.items() if number > 0 and method in methods}


def match(
    site: Site, scores: Evidence, threshold: float, before: Iterable[PageNumbers] = ()
) -> dict[PageNumbers, float]:
    """Greedy by score; equal scores in the order of the pages, so that the same pages give the same pairs.

    A page that is in a pair of `before` is not matched with another one in the same language.
    """
    enough = scores.values_array >= threshold
    keys, values = scores.keys_array[enough], scores.values_array[enough]
    order = np.lexsort((keys, -values))
    a, b = both_ends(keys[order])
    count, spoken = len(site.languages), site.spoken
    ends = a * count + spoken[b], b * count + spoken[a]
    taken = {int(page * count + spoken[other]) for pair in before for page, other in (pair, pair[::-1])}
    matched: dict[PageNumbers, float] = {}
    rows = zip(a.tolist(), b.tolist(), ends[0].tolist(), ends[1].tolist(), values[order].tolist(), strict=True)
    for first, second, end, other, score in rows:
        if end not in taken and other not in taken:
            taken.update((end, other))
            matched[first, second] = score
    return matched


# Judgements, except where a line names its evidence.
SAME = 0.8  # Papavassiliou: shared text from which on a page repeats another.
LONGEST = 3  # Paragraphs by which copies are looked for: a print version has other menus and the same text.
MAX_BUCKET = 20  # Pages that a page is compared with under one key: it bounds the time.
NEAR = 0.75  # Ratio of the lengths of two pages that may repeat each other.


def copies(site: Site) -> dict[int, int]:
    """Pages that repeat another of the same language, with the number of that one."""
    own = _own_texts(site)
    popularity = np.bincount(site.links.flat, minlength=len(site.summaries)).tolist()
    ranked = sorted(site.summaries, key=lambda summary: _claim(summary, popularity[summary.number]))
    originals: dict[tuple[int, int], list[int]] = defaultdict(list)
    repeated: dict[int, int] = {}
    for summary in ranked:
        keys = list(_keys(site, summary, own))
        candidates = (other for key in keys for other in originals.get(key, ()))
        original = next((other for other in candidates if _repeats(site, summary.number, other, own)), None)
        if original is not None:
            repeated[summary.number] = original
            continue
        for key in keys:
            if len(originals[key]) < MAX_BUCKET:
                originals[key].append(summary.number)
    return repeated


def misplaced(site: Site, copied: Mapping[int, int]) -> set[int]:
    """The copies at an address that is less their own than the original's, and those that are another form of it.

    An address is less a page's own if it names another language, or none. Another form is what calls the original so, and
    what is there to be printed. The others are pages in their own right that differ by a little, each with its own
    translations.
    """
    rank = {number: claimed(site.summaries[number]) for number in {*copied, *copied.values()}}
    return {
        copy
        for copy, original in copied.items()
        if rank[copy] == FOREIGN or rank[copy] > rank[original] or _is_other_form(site, copy, original)
    }


def _is_other_form(site: Site, copy: int, original: int) -> bool:
    other, first = site.summaries[copy], site.summaries[original]
    if other.text == first.text and other.url.startswith((f"{first.url}?", f"{first.url}&")):
        return True  # The same text at the same address with one more parameter.
    return other.canonical == first.url or is_rendering(other.url, other.leads, first.url, first.leads)


def _own_texts(site: Site) -> Rows:
    """The running text of each page without what more pages have than there could be copies: the menu of a section."""
    most = 4 + 2 * len(site.languages)
    spoken = site.spoken[site.prose.owners()]
    own = np.zeros(len(site.prose.flat), bool)
    for place in range(len(site.languages)):
        here = spoken == place
        _, text, counts = np.unique(site.prose.flat[here], return_inverse=True, return_counts=True)
        own[here] = counts[text] <= most
    return site.prose.where(own)


def _claim(summary: PageSummary, popularity: int) -> tuple[int, bool, int, int, int, int]:
    """The best claim to be the original first: an address in its own language, declared translations, many links.

    What calls another page the original has less of a claim.
    """
    called = summary.canonical is not None
    return (claimed(summary), called, -summary.alternates, -popularity, len(summary.url), summary.number)


def _keys(site: Site, summary: PageSummary, own: Rows) -> Iterable[tuple[int, int]]:
    """Where pages with the same text would meet: by its longest paragraphs, or by the address without language marks."""
    place = int(site.spoken[summary.number])
    weights = own.values_of(summary.number).astype(np.int64)
    for longest in np.argsort(-weights, kind="stable")[:LONGEST]:
        yield place, int(own[summary.number][longest])
    for language in (summary.language, *sorted(named_languages(summary.url))):
        yield place, text_key(skeleton(summary.url, language))


def _repeats(site: Site, number: int, other: int, own: Rows) -> bool:
    a, b = own[number], own[other]
    summary, original = site.summaries[number], site.summaries[other]
    if not len(a) or not len(b):
        return summary.text == original.text
    if min(summary.weight, original.weight) < NEAR * max(summary.weight, original.weight):
        return False
    mine, theirs = own.values_of(number), own.values_of(other)
    # An address that names another language says already that a part of the page should be in that one.
    enough = MAX_SHARED if claimed(original) < claimed(summary) == FOREIGN else SAME
    return bool(mine[np.isin(a, b)].sum() >= enough * max(mine.sum(), theirs.sum()))
