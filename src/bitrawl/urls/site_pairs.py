"""Which URLs of a site are versions of each other, from the URLs alone.

    match_urls(urls, Language("en"), Language("fr"))   # [(url_a, url_b, score), ...]
    Versions(urls, languages).scores()                 # where the language of each page is known, of any number of them

Both go through two rounds. In the first a pair is judged by itself and by how many others differ in the same way; in the
second also by what the first has shown: which URLs are in which language, which words stand for which, which numbers run
side by side. Each round's judge is a model (see models/url-pairs.md). Where languages are known, pages whose URLs differ in
their language marks alone are settled before, and the rounds learn from them too.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bitrawl.model import Language
from bitrawl.model_files import model_file
from bitrawl.text.arrays import Floats, Floats32, Ints32, Trees
from bitrawl.url import Url
from bitrawl.urls import URL_PAIR_SCORE
from bitrawl.urls.pair_model import MatchedUrls, compare
from bitrawl.urls.patterns import MIN_SUPPORT
from bitrawl.urls.site_candidates import (
    MAX_SHARING,
    KeysOfUrls,
    NumberFit,
    UrlNumbers,
    candidates,
    candidates_between,
    numbered_pairs,
    ordered,
    pairs_of_runs,
    with_changes_joined,
)
from bitrawl.urls.site_evidence import DifferenceCounts, features, pair_directions, two_languages
from bitrawl.urls.site_urls import ChangePattern, SiteUrls, pairs_by_template
from bitrawl.urls.tokens import MarkedTokens, number_value, read_tokens, sign_of

_SHOWN = 0.07  # of pairs by which a list shows two languages: the threshold that the sweep left as it was
# The rest are judgement; the second model was trained with them.
_BELIEVED = 0.3  # of the first round: a pair that the second learns from
_SURE = 0.6  # of the first round: its two need no other candidates
_DOUBTED = 0.05  # of its score is left to a pair of a site that seems to be in one language: below the threshold
_TEMPLATE_PAIRS = 3000  # pairs of one kind of page that may be compared each with each


class MatchingModels(NamedTuple):
    """The models of the two rounds."""

    first: Trees
    second: Trees

    @classmethod
    def load(cls, path: Path | None = None) -> "MatchingModels":
        """The bundled ones, or those that `python -m lab.train url-pairs` wrote."""
        with np.load(path or model_file("url-pairs.npz")) as arrays:
            return cls(Trees.named("first", arrays), Trees.named("second", arrays))


class ScoredPairs(NamedTuple):
    """Scores that are kept, in arrays: ten thousand small objects among those that are freed would hold 80 MB."""

    pairs: Ints32  # two columns
    scores: Floats

    @classmethod
    def of(cls, scores: Mapping[UrlNumbers, float]) -> "ScoredPairs":
        return cls(np.array(list(scores), np.int32).reshape(-1, 2), np.fromiter(scores.values(), np.float64))

    def unpacked(self) -> dict[UrlNumbers, float]:
        return {(a, b): score for (a, b), score in zip(self.pairs.tolist(), self.scores.tolist(), strict=True)}


class FirstRound(NamedTuple):
    """What the first round says of some URLs, whatever else is known: kept, because they may be asked about again."""

    urls: Sequence[int]  # of the site
    scores: ScoredPairs
    ordered: Mapping[UrlNumbers, NumberFit]


def match_urls(
    urls: Iterable[Url],
    lang_a: Language,
    lang_b: Language,
    *,
    language_of: Mapping[Url, Language] | None = None,
    threshold: float = URL_PAIR_SCORE,
    models: MatchingModels | None = None,
) -> list[MatchedUrls]:
    """Pairs of one site, the best first. `language_of` tells what is known of some URLs or all."""
    # Sorted, so that the order of the list does not matter.
    view = SiteUrls(sorted(set(urls)), (lang_a, lang_b), language_of or {})
    models = models or matching_models()
    matched = settled(view, _judged_again(view, models, _judged_first(view, models)), threshold)
    directions = pair_directions(view, matched)
    oriented = (((a, b) if directions[a, b] >= 0 else (b, a), score) for (a, b), score in matched.items())
    return [MatchedUrls(view.urls[a], view.urls[b], score) for (a, b), score in oriented]


def matching_models() -> MatchingModels:
    """Those in use, loaded once."""
    return _loaded(model_file("url-pairs.npz"))


@lru_cache(maxsize=2)
def _loaded(path: Path) -> MatchingModels:
    return MatchingModels.load(path)


def first_round(view: SiteUrls, keys: KeysOfUrls | None = None) -> tuple[list[UrlNumbers], Floats32]:
    """Candidates and what is to be judged of them when nothing is known."""
    certain = view.certain()
    open_to_doubt = [number for number, third in enumerate(view.third) if not third and number not in certain]
    view.place(pairs_of_runs(view.tokens, open_to_doubt))
    similar = _candidates(view, view.tokens, open_to_doubt, keys)
    pairs = sorted({*certain.values(), *view.plausible({*similar, *view.ordered})})
    judged = _without(view.settled, pairs)
    if not judged:
        return [], features(view, [], DifferenceCounts(view, {}), {})
    return judged, features(view, judged, DifferenceCounts(view, dict.fromkeys(pairs, 1.0)), {})


def _candidates(
    view: SiteUrls, tokens: Sequence[MarkedTokens], numbers: Sequence[int], keys: KeysOfUrls | None
) -> list[UrlNumbers]:
    if view.settled is None:
        return candidates(tokens, numbers)
    first, second = ([number for number in numbers if view.told[number] == sign] for sign in (1, -1))
    return candidates_between(tokens, first, second, keys or KeysOfUrls())


def _without(settled: Sequence[UrlNumbers] | None, pairs: list[UrlNumbers]) -> list[UrlNumbers]:
    return sorted(set(pairs) - set(settled)) if settled else pairs


def second_round(
    view: SiteUrls,
    scores: Mapping[UrlNumbers, float],
    known_pairs: Sequence[UrlNumbers] = (),
    keys: KeysOfUrls | None = None,
) -> tuple[list[UrlNumbers], Floats32]:
    """Candidates and what is to be judged of them when the first round has told of the site; there are more of them then.

    Pairs that are `known` by other evidence are believed instead of what the first round says of their URLs.
    """
    believed = one_to_one(scores, _BELIEVED)
    view.learn_signs([pair for pair, score in believed.items() if score > _SURE])
    sure = {end for pair, score in believed.items() if score > _SURE for end in pair}
    if known_pairs:
        taken = {end for pair in known_pairs for end in pair}
        rest_of_scores = {pair: score for pair, score in scores.items() if taken.isdisjoint(pair)}
        believed = {**dict.fromkeys(known_pairs, 1.0), **one_to_one(rest_of_scores, _BELIEVED)}
    tally = DifferenceCounts(view, believed)
    rest = [number for number, third in enumerate(view.third) if not third and number not in sure]
    view.place(numbered_pairs(view.tokens, view.signs, rest))
    again = _candidates(view, with_changes_joined(view.tokens, tally.common_changes()), rest, keys)
    # Where languages are known, they bring nothing (lab/notes/url-pairs.md).
    by_template = pairs_by_template(view, rest, _TEMPLATE_PAIRS) if view.settled is None else []
    pairs = sorted({*scores, *known_pairs, *view.plausible({*again, *by_template, *view.ordered})})
    pairs = _without(view.settled, pairs)
    return pairs, features(view, pairs, tally, scores)


def settled(view: SiteUrls, scores: Mapping[UrlNumbers, float], threshold: float) -> dict[UrlNumbers, float]:
    """One to one; where nothing shows that there are two languages, likeness is doubted: all scores are low then."""
    if not two_languages(view, one_to_one(scores, _SHOWN)):
        scores = {pair: _DOUBTED * score for pair, score in scores.items()}
    return one_to_one(scores, threshold)


def one_to_one(scores: Mapping[UrlNumbers, float], threshold: float) -> dict[UrlNumbers, float]:
    """The best first, each URL once."""
    taken: set[int] = set()
    matched: dict[UrlNumbers, float] = {}
    for pair, score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        if score < threshold:
            break
        if taken.isdisjoint(pair):
            taken.update(pair)
            matched[pair] = score
    return matched


# Judgements.
# Score of two URLs that differ in their marks alone. The models give most of them 0.98 to 1. With 0.85 where only one of
# the two is marked, recall of lilypond was .923 instead of .926 (precision .993 and .992).
SETTLED = 0.95
LEAST = 0.1  # Score below which nothing is said.
# Where this share of the pages of two languages is settled, a page that is settled with a third has no version here.
MOSTLY = 0.5
# Settled pairs of two languages that the common changes of the site are learned from; more if more are left.
_SHOWN_PAIRS = 100
LIKELY = 0.5  # Score of a pair that is called a version in the report of refused pairs.
_TAUGHT = 0.8  # Score from which on a known pair is no news.
_TIE = 0.02  # Difference of scores that says nothing.
_PRIOR = 2.0  # Known pages that a score of the models counts as much as.

TwoLanguages = tuple[Language, Language]


class MarkedAs(IntEnum):
    """What the marks of a URL say of the language that its page is in."""

    CONTRARY = 0  # they name others
    NONE = 1
    OWN = 2


class ReadUrl(NamedTuple):
    """What settles a URL: its words and numbers without marks, hashed, and its marks."""

    bare: int
    marks: MarkedAs


class Versions:
    """The URLs of a site, each with the language of its page."""

    def __init__(
        self, urls: Sequence[Url], languages: Sequence[Language], models: MatchingModels | None = None
    ) -> None:
        self._urls, self._languages = urls, languages
        self._models = models or matching_models()
        self._by_language: defaultdict[Language, list[int]] = defaultdict(list)
        for number in sorted(range(len(urls)), key=urls.__getitem__):
            self._by_language[languages[number]].append(number)
        self._read = _read(urls, languages)
        self._alike = Counter((url.bare, language) for url, language in zip(self._read, languages, strict=True))
        self._settled, self._spare = _settled(self._read, languages)
        self._first: dict[TwoLanguages, FirstRound] = {}
        self._scores: dict[TwoLanguages, ScoredPairs] = {}
        self._taught: defaultdict[TwoLanguages, set[UrlNumbers]] = defaultdict(set)
        self._elsewhere = {number for pairs in self._settled.values() for pair in pairs for number in pair}

    def scores(self, known_pairs: Iterable[UrlNumbers] = ()) -> dict[UrlNumbers, float]:
        """For pairs of URLs in two languages, the smaller number first: 0 to 1. Pairs that are `known` teach more."""
        taught: defaultdict[TwoLanguages, set[UrlNumbers]] = defaultdict(set)
        for pair in known_pairs:
            taught[_in_order(*(self._languages[number] for number in pair))].add(pair)
        keys = KeysOfUrls(remember=len(self._by_language) > 2)
        scores: dict[UrlNumbers, float] = {}
        for two in combinations(sorted(self._by_language), 2):
            settled = self._settled.get(two, ())
            scores.update(dict.fromkeys(settled, SETTLED))
            scores.update(self._judged(two, taught[two].difference(settled), keys))
        return scores

    def copies(self) -> set[UrlNumbers]:
        """Pages in one language of which one has the address of another language's version of the other."""
        groups: defaultdict[tuple[int, Language], list[int]] = defaultdict(list)
        for number, (url, language) in enumerate(zip(self._read, self._languages, strict=True)):
            groups[url.bare, language].append(number)
        pairs: set[UrlNumbers] = set()
        for group in groups.values():
            proper = [number for number in group if self._read[number].marks is not MarkedAs.CONTRARY]
            if len(proper) == 1:
                pairs.update(ordered(proper[0], number) for number in group if number != proper[0])
        return pairs

    def _judged(self, two: TwoLanguages, known_pairs: set[UrlNumbers], keys: KeysOfUrls) -> Mapping[UrlNumbers, float]:
        """What the models say of the URLs that are not settled; asked again where known pairs are news to them."""
        if two not in self._scores:
            self._scores[two] = ScoredPairs.of(self._scores_of_models(two, (), keys))
        scores = self._scores[two].unpacked()
        likely = one_to_one(scores, LIKELY)
        news = {pair for pair in known_pairs - self._taught[two] if likely.get(pair, 0.0) < _TAUGHT}
        if self._recur(news) or _contradicted(likely.keys() - known_pairs, news) >= MIN_SUPPORT:
            scores = self._scores_of_models(two, sorted(known_pairs), keys)
            self._scores[two], self._taught[two] = ScoredPairs.of(scores), known_pairs
        return scores

    def _recur(self, pairs: Iterable[UrlNumbers]) -> bool:
        """Whether some of the pairs differ in the same way. Otherwise there is nothing to learn."""
        by_language = (sorted(pair, key=self._languages.__getitem__) for pair in pairs)
        ways = Counter(_way(self._urls[first], self._urls[second]) for first, second in by_language)
        return max(ways.values(), default=0) >= MIN_SUPPORT

    def _scores_of_models(
        self, two: TwoLanguages, known_pairs: Sequence[UrlNumbers], keys: KeysOfUrls
    ) -> dict[UrlNumbers, float]:
        settled = self._settled.get(two, [])
        left = [self._unsettled(language, other) for language, other in (two, two[::-1])]
        if not all(left):
            return {}
        examples = settled[:: 1 + len(settled) // max(_SHOWN_PAIRS, len(left[0]) + len(left[1]))]
        numbers = sorted(
            {*left[0], *left[1], *(end for pair in (*examples, *known_pairs) for end in pair)},
            key=self._urls.__getitem__,
        )
        place = {number: at for at, number in enumerate(numbers)}
        view = SiteUrls(
            [self._urls[number] for number in numbers],
            two,
            {self._urls[number]: self._languages[number] for number in numbers},
            [ordered(place[a], place[b]) for a, b in examples],
        )
        inside = [ordered(place[a], place[b]) for a, b in known_pairs]
        first = self._first.get(two)
        if first is not None and first.urls == numbers:
            view.place(first.ordered)
            scores = first.scores.unpacked()
        else:
            scores = _judged_first(view, self._models, keys)
            self._first[two] = FirstRound(numbers, ScoredPairs.of(scores), dict(view.ordered))
        shown = _shown(view, _judged_again(view, self._models, scores, inside, keys))
        reliable = _shared(_with_reliability(view, shown, inside))
        return {ordered(numbers[a], numbers[b]): score for (a, b), score in reliable.items() if score >= LEAST}

    def _unsettled(self, language: Language, other: Language) -> list[int]:
        """The pages of the one language that may have a version in the other."""
        two = _in_order(language, other)
        settled = self._settled.get(two, ())
        done = {number for pair in settled for number in pair} | self._spare.get(two, set())
        left = [
            number
            for number in self._by_language[language]
            if number not in done and self._count_alike(number, language) <= MAX_SHARING
        ]
        if len(settled) < MOSTLY * min(len(self._by_language[language_of_two]) for language_of_two in two):
            return left
        return [number for number in left if number not in self._elsewhere or self._count_alike(number, other)]

    def _count_alike(self, number: int, language: Language) -> int:
        """How many pages of that language have the same URL apart from marks and capitals."""
        return self._alike[self._read[number].bare, language]


def _judged_first(view: SiteUrls, models: MatchingModels, keys: KeysOfUrls | None = None) -> dict[UrlNumbers, float]:
    pairs, rows = first_round(view, keys)
    return dict(zip(pairs, models.first.probability(rows).tolist(), strict=True))


def _judged_again(
    view: SiteUrls,
    models: MatchingModels,
    scores: Mapping[UrlNumbers, float],
    known_pairs: Sequence[UrlNumbers] = (),
    keys: KeysOfUrls | None = None,
) -> dict[UrlNumbers, float]:
    """With what the first round's scores tell of the site."""
    pairs, rows = second_round(view, {**scores, **dict.fromkeys(view.settled or (), SETTLED)}, known_pairs, keys)
    return dict(zip(pairs, models.second.probability(rows).tolist(), strict=True))


def _shown(view: SiteUrls, scores: Mapping[UrlNumbers, float]) -> Mapping[UrlNumbers, float]:
    """Only pairs that differ in marks, or as others do: of a small site with opaque URLs, the models believe any two."""
    believed = one_to_one(scores, LEAST)
    tally = DifferenceCounts(view, {**dict.fromkeys(view.settled or (), 1.0), **believed})
    return {pair: score for pair, score in scores.items() if view.comparison(pair).sign != 0 or tally.recurs(pair)}


def _shared(scores: Mapping[UrlNumbers, float]) -> Mapping[UrlNumbers, float]:
    """Partners of one URL that are as good as each other share what they are worth."""
    at_end: defaultdict[int, list[float]] = defaultdict(list)
    for pair, score in scores.items():
        if score >= LEAST:
            for end in pair:
                at_end[end].append(score)
    return {
        pair: score / max(sum(other >= score - _TIE for other in at_end[end]) for end in pair)
        for pair, score in scores.items()
        if score >= LEAST
    }


def _with_reliability(
    view: SiteUrls, scores: Mapping[UrlNumbers, float], known_pairs: Sequence[UrlNumbers]
) -> Mapping[UrlNumbers, float]:
    """Moved towards how often a difference leads from a known page to its partner, where it leads from such pages.

    A pair does not speak for itself.
    """
    if not known_pairs:
        return scores
    partners, certain = {end for pair in known_pairs for end in pair}, set(known_pairs)
    ways = {pair: _way_in(view, pair) for pair in scores}
    right, wrong = Counter[ChangePattern](), Counter[ChangePattern]()
    for pair, way in ways.items():
        if pair in certain:
            right[way] += 1
        elif not partners.isdisjoint(pair):
            wrong[way] += 1
    reliable = {}
    for pair, score in scores.items():
        way = ways[pair]
        for_it = right[way] - (pair in certain)
        against = wrong[way] - (pair not in certain and not partners.isdisjoint(pair))
        reliable[pair] = (_PRIOR * score + for_it) / (_PRIOR + for_it + against)
    return reliable


def _contradicted(likely: Iterable[UrlNumbers], known_pairs: Iterable[UrlNumbers]) -> int:
    """How many of the likely pairs give another partner to a URL whose partner is known."""
    ends = {end for pair in known_pairs for end in pair}
    return sum(not ends.isdisjoint(pair) for pair in likely)


def _way_in(view: SiteUrls, pair: UrlNumbers) -> ChangePattern:
    """In what two URLs differ that are compared already, from the first language to the second; of numbers, by how much."""
    turned = view.told[pair[0]] < 0
    return tuple(_change(new, old) if turned else _change(old, new) for old, new in view.comparison(pair).pattern)


def _way(first: Url, second: Url) -> ChangePattern:
    """In what the two differ, from the first language to the second; of numbers, by how much."""
    pattern = compare(read_tokens(first), read_tokens(second)).pattern
    return tuple(_change(old, new) for old, new in pattern)


def _change(old: str, new: str) -> tuple[str, str]:
    return ("#", str(number_value(new) - number_value(old))) if old.isdecimal() and new.isdecimal() else (old, new)


def _read(urls: Sequence[Url], languages: Sequence[Language]) -> list[ReadUrl]:
    """What all URLs have, like the .de of a host, is no mark."""
    common: set[str] | None = None
    marked: list[list[tuple[str, Language]]] = []
    bare: list[int] = []
    for url in urls:
        parts = read_tokens(url)
        common = set(parts.tokens) if common is None else common.intersection(parts.tokens)
        marked.append([(token, mark) for token, mark in zip(parts.tokens, parts.marks, strict=True) if mark])
        bare.append(hash("".join(parts.bare)))  # whatever capitals it was cut at
    everywhere = common if common and len(urls) > 1 else set()
    return [
        ReadUrl(key, _marks([mark for token, mark in marks if token not in everywhere], language))
        for key, marks, language in zip(bare, marked, languages, strict=True)
    ]


def _marks(marks: Sequence[Language], language: Language) -> MarkedAs:
    if not marks:
        return MarkedAs.NONE
    return MarkedAs.OWN if sign_of((language, language), *marks) else MarkedAs.CONTRARY


def _settled(
    read: Sequence[ReadUrl], languages: Sequence[Language]
) -> tuple[dict[TwoLanguages, list[UrlNumbers]], dict[TwoLanguages, set[int]]]:
    """By languages: the pairs that differ in their marks alone, with no third; and copies that pass for another language.

    At least one of the two must name its language, and neither may name only others.
    """
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for number, url in enumerate(read):
        groups[url.bare].append(number)
    pairs: defaultdict[TwoLanguages, list[UrlNumbers]] = defaultdict(list)
    spare: defaultdict[TwoLanguages, set[int]] = defaultdict(set)
    for group in groups.values():
        proper: defaultdict[Language, list[int]] = defaultdict(list)
        copies: defaultdict[Language, list[int]] = defaultdict(list)
        for number in group:
            (copies if read[number].marks is MarkedAs.CONTRARY else proper)[languages[number]].append(number)
        alone = sorted((language, numbers[0]) for language, numbers in proper.items() if len(numbers) == 1)
        for (first, a), (second, b) in combinations(alone, 2):
            if MarkedAs.OWN in (read[a].marks, read[b].marks):
                pairs[first, second].append(ordered(a, b))
                spare[first, second].update(copies.get(first, ()), copies.get(second, ()))
    return pairs, spare


def _in_order(first: Language, second: Language) -> TwoLanguages:
    return (first, second) if first < second else (second, first)
