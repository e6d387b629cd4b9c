"""What somebody changed in a text, word by word."""

import re
from difflib import SequenceMatcher
from itertools import takewhile
from operator import eq
from typing import NamedTuple

from bitrawl.text.words import UNSPACED, Span

# Words; each character of a script without spaces, each sign and each space alone
_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+|.", re.DOTALL)
_MOST_TOKENS = 1000  # of what is compared word by word: the time grows with the square


class Rewording(NamedTuple):
    """What is gone from the old text, and what is new in the new one."""

    gone: tuple[Span, ...] = ()
    new: tuple[Span, ...] = ()


def rewording(old: str, new: str) -> Rewording:
    """What was changed, word by word; of long texts only where the first change begins and the last ends."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    start = _same_tokens(before, after)
    end = _same_tokens(before[start:][::-1], after[start:][::-1])
    offset = sum(map(len, before[:start]))
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    if max(len(before), len(after)) > _MOST_TOKENS:
        changes = [(0, len(before), 0, len(after))]
    else:
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        changes = [(a, b, c, d) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal"]
    return Rewording(
        tuple(_span(before, offset, first, last) for first, last, _, _ in changes if first < last),
        tuple(_span(after, offset, first, last) for _, _, first, last in changes if first < last),
    )


def _same_tokens(one: list[str], other: list[str]) -> int:
    """With how many tokens both begin."""
    return sum(1 for _ in takewhile(bool, map(eq, one, other)))


def _span(tokens: list[str], offset: int, first: int, last: int) -> Span:
    start = offset + sum(map(len, tokens[:first]))
    return Span(start, start + sum(map(len, tokens[first:last])))
