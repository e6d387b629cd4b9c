"""In which way two URLs of a pair differ: the kinds that are held out one at a time."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from bitrawl.urls.tokens import MarkedTokens, changes, is_content, marked_tokens, number_value
from lab.train.url_examples import Example
from lab.train.url_negatives import UrlPair


class Kind(StrEnum):
    """Of a difference."""

    MARK = "mark"  # language marks alone
    PARAMETER = "parameter added"
    VALUE = "parameter value changed"
    GLUED = "glued prefix or suffix"
    DIRECTORY = "directory added"
    SUBSTITUTED = "directory replaced"
    HOST = "host"
    STEP = "number, constant step"
    STEPS = "number, varying step"
    SLUG = "translated words"
    MIXED = "mixed"
    NONE = "one language"  # a list without pairs


def kinds_of(pairs: Sequence[UrlPair]) -> list[frozenset[Kind]]:
    """Of each pair of a site, whatever it differs in. Numbers need the whole site: do they move, and by how much?"""
    steps = Counter(step for pair in pairs if (step := _step(pair)) is not None)
    values = Counter(step.ends for step in steps.elements())
    moves = Counter(step.size for step in steps.elements())
    found = []
    for pair in pairs:
        kinds = set(_changed(pair))
        if Kind.STEP in kinds and (step := _step(pair)) is not None:
            fixed, constant = values[step.ends] * 3 >= steps.total(), moves[step.size] * 3 >= steps.total()
            kinds = (kinds - {Kind.STEP}) | {Kind.VALUE if fixed else Kind.STEP if constant else Kind.STEPS}
        found.append(frozenset(kinds - {Kind.MARK} or {Kind.MARK}))
    return found


def kind_of(kinds: frozenset[Kind]) -> Kind:
    """One name for all that a pair differs in."""
    return next(iter(kinds)) if len(kinds) == 1 else Kind.MIXED


def shows(example: Example, kind: Kind) -> bool:
    """Whether that kind is among the differences of a tenth of the pairs: then it is no site for one who must not know it."""
    found = [kind in kinds or kind == kind_of(kinds) for kinds in kinds_of(example.pairs)]
    return sum(found) * 10 > len(found) or (example.source == "numbered" and kind in {Kind.STEP, Kind.STEPS})


def _changed(pair: UrlPair) -> frozenset[Kind]:
    a, b = marked_tokens(pair[0]), marked_tokens(pair[1])
    found = (_kind_of_change(a, b, change) for change in changes(a.tokens, b.tokens))
    return frozenset(kind for kind in found if kind is not None)


def _kind_of_change(a: MarkedTokens, b: MarkedTokens, change: tuple[int, int, int, int]) -> Kind | None:
    start, end, low, high = change
    old = [token for token in a.tokens[start:end] if is_content(token)]
    new = [token for token in b.tokens[low:high] if is_content(token)]
    if any(a.marks[start:end]) or any(b.marks[low:high]):
        return Kind.MARK if len(old) <= 1 and len(new) <= 1 else Kind.MIXED
    if not old and not new:
        return None
    if start < a.host_end:
        return Kind.HOST
    in_query = "?" in a.tokens[: start + 1] or "?" in b.tokens[: low + 1]
    if not old or not new:
        added = a.tokens[start:end] + b.tokens[low:high]
        return Kind.PARAMETER if in_query else Kind.DIRECTORY if "/" in added else Kind.GLUED
    if len(old) > 1 or len(new) > 1 or (in_query and not (old[0].isdecimal() and new[0].isdecimal())):
        return Kind.VALUE if in_query else Kind.SLUG
    return _kind_of_tokens(old[0], new[0], fills=bool(a.whole[start] and b.whole[low]))


def _kind_of_tokens(old: str, new: str, *, fills: bool) -> Kind:
    if old.isdecimal() and new.isdecimal():
        return Kind.STEP
    if len(old) <= 2 and len(new) <= 2:
        return Kind.GLUED
    common = max(len(_shared_start(old, new)), len(_shared_start(old[::-1], new[::-1])))
    if common >= 3 and max(len(old), len(new)) - common <= 4:
        return Kind.GLUED
    return Kind.SUBSTITUTED if fills else Kind.SLUG


def _shared_start(a: str, b: str) -> str:
    return a[: next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))]


class _Step(NamedTuple):
    size: int
    ends: tuple[int, int]


def _step(pair: UrlPair) -> _Step | None:
    """Of the first numbers that differ."""
    a, b = ([number_value(token) for token in marked_tokens(url).tokens if token.isdecimal()] for url in pair)
    return next((_Step(y - x, (x, y)) for x, y in zip(a, b, strict=False) if x != y), None)
