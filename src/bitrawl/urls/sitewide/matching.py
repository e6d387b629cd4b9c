"""The URLs of a site paired with each other, from the bare list: the site's habits are found and then believed.

    match_urls(urls, Language("en"), Language("fr"))   # [(url_a, url_b, score), ...]

Two rounds. In the first a pair is judged by itself and by how many others differ in the same way; in the second also
by what the first has found: which side is which language, which words stand for which, which numbers run side by
side. Each round's judge is a model (see models/url-pairs.md); each URL is in one pair at most, or in none.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bitrawl.model import Language
from bitrawl.model_files import model_file
from bitrawl.url import Url
from bitrawl.urls.marked_tokens import MarkedTokens
from bitrawl.urls.sitewide.candidates import (
    KeysOfUrls,
    UrlNumbers,
    candidates,
    candidates_of_sides,
    with_habits_joined,
)
from bitrawl.urls.sitewide.difference_counts import DifferenceCounts, Floats, habitual_directions
from bitrawl.urls.sitewide.evidence import features, two_languages
from bitrawl.urls.sitewide.ordering import numbered_pairs, pairs_of_runs
from bitrawl.urls.sitewide.site_urls import SiteUrls, pairs_by_template
from bitrawl.urls.trees import Trees

# Swept 0.07–0.60 on halves of the hosts and on kinds of difference left out (2026-11, docs/decisions/url-pairs.md): against
# 0.07, 0.12 gains one to two points of F1 where pages have no partner, and loses at most 1.2 where all have one.
THRESHOLD = 0.12
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


class MatchedUrls(NamedTuple):
    """A page and its version in the other language; the score is 0–1."""

    url_a: Url
    url_b: Url
    score: float


def match_urls(
    urls: Iterable[Url],
    lang_a: Language,
    lang_b: Language,
    *,
    language_of: Mapping[Url, Language] | None = None,
    threshold: float = THRESHOLD,
    models: MatchingModels | None = None,
) -> list[MatchedUrls]:
    """Pairs of one site, the best first. `language_of` tells what is known of some URLs or all."""
    models = models or matching_models()
    view = SiteUrls(
        sorted(set(urls)), (lang_a, lang_b), language_of or {}
    )  # so that the order of the list does not matter
    pairs, rows = first_round(view)
    scores = dict(zip(pairs, models.first.probability(rows).tolist(), strict=True))
    pairs, rows = second_round(view, scores)
    scores = dict(zip(pairs, models.second.probability(rows).tolist(), strict=True))
    found = settled(view, scores, threshold)
    directions = habitual_directions(view, found)
    return [_oriented(view, pair, score, directions[pair]) for pair, score in found.items()]


def matching_models() -> MatchingModels:
    """Those in use, loaded once."""
    return _loaded(model_file("url-pairs.npz"))


@lru_cache(maxsize=2)
def _loaded(path: Path) -> MatchingModels:
    return MatchingModels.load(path)


def first_round(view: SiteUrls, keys: KeysOfUrls | None = None) -> tuple[list[UrlNumbers], Floats]:
    """Candidates and what is to be judged of them when nothing is known."""
    certain = view.certain()
    open_to_doubt = [number for number, third in enumerate(view.third) if not third and number not in certain]
    view.place(pairs_of_runs(view.tokens, open_to_doubt))
    found = _candidates(view, view.tokens, open_to_doubt, keys)
    pairs = sorted({*certain.values(), *view.plausible({*found, *view.ordered})})
    judged = _without(view.settled, pairs)
    if not judged:
        return [], features(view, [], DifferenceCounts(view, {}), {})
    return judged, features(view, judged, DifferenceCounts(view, dict.fromkeys(pairs, 1.0)), {})


def _candidates(
    view: SiteUrls, tokens: Sequence[MarkedTokens], numbers: Sequence[int], keys: KeysOfUrls | None
) -> list[UrlNumbers]:
    if view.settled is None:
        return candidates(tokens, numbers)
    first, second = ([number for number in numbers if view.told[number] == side] for side in (1, -1))
    return candidates_of_sides(tokens, first, second, keys or KeysOfUrls())


def _without(settled: Sequence[UrlNumbers] | None, pairs: list[UrlNumbers]) -> list[UrlNumbers]:
    return sorted(set(pairs) - set(settled)) if settled else pairs


def second_round(
    view: SiteUrls,
    scores: Mapping[UrlNumbers, float],
    known: Sequence[UrlNumbers] = (),
    keys: KeysOfUrls | None = None,
) -> tuple[list[UrlNumbers], Floats]:
    """The same with what the first round's scores tell of the site, and with more candidates.

    Pairs that are `known` by other evidence are believed instead of what the first round says of their URLs.
    """
    believed = one_to_one(scores, _BELIEVED)
    view.learn_sides([pair for pair, score in believed.items() if score > _SURE])
    sure = {end for pair, score in believed.items() if score > _SURE for end in pair}
    if known:
        taken = {end for pair in known for end in pair}
        rest_of_scores = {pair: score for pair, score in scores.items() if taken.isdisjoint(pair)}
        believed = {**dict.fromkeys(known, 1.0), **one_to_one(rest_of_scores, _BELIEVED)}
    tally = DifferenceCounts(view, believed)
    rest = [number for number, third in enumerate(view.third) if not third and number not in sure]
    view.place(numbered_pairs(view.tokens, view.sides, rest))
    again = _candidates(view, with_habits_joined(view.tokens, tally.habits()), rest, keys)
    # Where languages are known, they bring nothing (docs/decisions/url-pairs.md).
    by_template = pairs_by_template(view, rest, _TEMPLATE_PAIRS) if view.settled is None else []
    pairs = sorted({*scores, *known, *view.plausible({*again, *by_template, *view.ordered})})
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
    kept: dict[UrlNumbers, float] = {}
    for pair, score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        if score < threshold:
            break
        if taken.isdisjoint(pair):
            taken.update(pair)
            kept[pair] = score
    return kept


def _oriented(view: SiteUrls, pair: UrlNumbers, score: float, direction: float) -> MatchedUrls:
    a, b = pair if direction >= 0 else (pair[1], pair[0])
    return MatchedUrls(view.urls[a], view.urls[b], score)
