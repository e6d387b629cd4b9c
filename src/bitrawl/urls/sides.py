"""In which of two languages each URL of a site is: by its marks, by its words, and by the partners that are known."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Language
from bitrawl.text.codes import same_language
from bitrawl.text.language import NgramModel, sample
from bitrawl.urls.anatomy import Anatomy, is_word
from bitrawl.urls.candidates import Pair

Floats = NDArray[np.float64]
Sides = list[float]  # 1 for the first language, -1 for the second, 0 for no idea

_SCALE = 300.0  # of the difference of log-likelihoods: two or three words that are clearly of one language
_ROUNDS = 10


def by_marks(anatomies: Sequence[Anatomy], languages: tuple[Language, Language]) -> Sides:
    """Of a site that marks one of the languages only, what is unmarked is in the other, more likely than not."""
    marked = [sum(side_of(mark, languages) for mark in one.marks if mark) for one in anatomies]
    sides = [float((side > 0) - (side < 0)) for side in marked]
    first, second = sides.count(1.0), sides.count(-1.0)
    unmarked = 0.5 if second > 4 * first else -0.5 if first > 4 * second else 0.0
    return [side or unmarked for side in sides]


def foreign(anatomies: Sequence[Anatomy], languages: tuple[Language, Language], marked: Sides) -> list[float]:
    """How surely each is in a third language, by its marks.

    A mark that is no language's here (/de/ for "documents") stands alone; one of a third language stands beside the
    versions in the two languages that are asked for.
    """
    versions: defaultdict[tuple[str, ...], set[float]] = defaultdict(set)
    for one, side in zip(anatomies, marked, strict=True):
        if not _third(one, languages):
            versions[one.bare].add(float(np.sign(side)))
    beside: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    thirds = [_third(one, languages) for one in anatomies]
    for one, names in zip(anatomies, thirds, strict=True):
        (beside if {1.0, -1.0} <= versions.get(one.bare, set()) else alone).update(names)
    return [max((beside[name] / (beside[name] + alone[name] + 1) for name in names), default=0.0) for names in thirds]


def in_third(anatomies: Sequence[Anatomy], languages: tuple[Language, Language]) -> list[bool]:
    """Whether a whole directory or parameter names a third language, and nothing one of the two."""
    found = []
    for one in anatomies:
        sides = [side_of(mark, languages) for mark, whole in zip(one.marks, one.whole, strict=True) if mark and whole]
        thirds = any(
            one.whole[place] and mark and not side_of(mark, languages)
            for place, mark in enumerate(one.marks[one.host :], one.host)
        )
        found.append(thirds and not any(sides))
    return found


def _third(one: Anatomy, languages: tuple[Language, Language]) -> set[str]:
    """Marks of other languages in the path; the country of a host says little."""
    return {
        token
        for token, mark in zip(one.tokens[one.host :], one.marks[one.host :], strict=True)
        if mark and not side_of(mark, languages)
    }


def by_words(anatomies: Sequence[Anatomy], languages: tuple[Language, Language]) -> Sides:
    """What the language model makes of the words of each, between the two languages alone."""
    model = _model()
    columns = [next((n for n, label in enumerate(model.labels) if same_language(label, one)), -1) for one in languages]
    if min(columns) < 0 or not anatomies:
        return [0.0] * len(anatomies)
    texts = [" ".join(filter(is_word, one.bare)) for one in anatomies]
    scores, _ = model.score([sample(text) for text in texts])
    difference = np.round(scores[:, columns[0]] - scores[:, columns[1]])
    # Words that all pages of a site have say nothing of one of them.
    sides = np.tanh((difference - np.median(difference)) / _SCALE)
    return [float(side) for side in sides]


def by_partners(anatomies: Sequence[Anatomy], known: Floats, matched: Sequence[Pair]) -> Sides:
    """Spread what is known from URL to URL over the tokens that partners differ in.

    Where nothing is known at all, one side is called the first: which of the two it is, may be wrong.
    """
    carried = [_in_context(one) for one in anatomies]
    telling: Counter[str] = Counter()
    for a, b in matched:
        telling.update(sorted(carried[a] ^ carried[b]))
    carried = [{token for token in tokens if telling[token] > 1} for tokens in carried]
    if not np.abs(known).max(initial=0.0) and telling:
        seed = telling.most_common(1)[0][0]
        known = np.array([0.5 if seed in tokens else 0.0 for tokens in carried])
    return _spread(np.clip(known, -1, 1), carried, matched)


def _spread(start: Floats, carried: Sequence[set[str]], matched: Sequence[Pair]) -> Sides:
    """A token is as its URLs are, a URL as its tokens and the contrary of its partner; again and again."""
    numbers: dict[str, int] = {}
    links = [(url, numbers.setdefault(token, len(numbers))) for url, tokens in enumerate(carried) for token in tokens]
    of_url, of_token = (np.array(ends, np.int64) for ends in (zip(*links, strict=True) if links else ((), ())))
    ends = np.array([*matched, *((b, a) for a, b in matched)], np.int64).reshape(-1, 2)
    carriers = np.bincount(of_token, minlength=len(numbers)) + 1.0
    carrying = np.maximum(np.bincount(of_url, minlength=len(start)), 1.0)
    sides = start
    for _ in range(_ROUNDS):
        by_token = np.bincount(of_token, sides[of_url], len(numbers)) / carriers
        spread = 1.5 * np.bincount(of_url, by_token[of_token], len(start)) / carrying
        spread[ends[:, 0]] -= 0.5 * sides[ends[:, 1]]
        sides = np.clip(start + spread, -1, 1)
    return [float(side) for side in sides]


def _in_context(one: Anatomy) -> set[str]:
    """Tokens; numbers and single letters with what stands before them."""
    tokens = one.tokens
    found = set()
    for place, token in enumerate(tokens):
        if token.isalnum():
            found.add(token if len(token) > 2 and is_word(token) else "".join(tokens[max(0, place - 2) : place + 1]))
            if len(token) <= 2 and is_word(token):
                found.add(token)
    return found


@lru_cache(maxsize=4096)
def side_of(mark: Language, languages: tuple[Language, Language]) -> int:
    """1 for the first of the two languages, -1 for the second, 0 for another."""
    for side, language in zip((1, -1), languages, strict=True):
        if same_language(mark, language) or same_language(language, mark):
            return side
    return 0


@lru_cache(maxsize=1)
def _model() -> NgramModel:
    return NgramModel.load()
