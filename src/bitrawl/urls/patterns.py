"""URL patterns of a site, learned from pages that are known to be translations (Liu et al., section 2.2).

A pattern turns the URL of a page into that of its translation: tokens that are replaced, dropped or put in, and
numbers that differ by a constant.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from bitrawl.url import Url

MIN_SUPPORT = 3  # Known pairs that a pattern must come from; two may be chance.
MAX_PATTERNS = 40
MAX_OPERATIONS = 4  # More differences than that are a translated slug.

_TOKEN = re.compile(r"\d+|[^\W\d_]+|[\W_]")
Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """`old` becomes `new`; an insertion stands between its neighbours, a number moves by `offset`."""

    old: Tokens
    new: Tokens
    before: str = ""
    after: str = ""
    offset: int | None = None

    def places(self, tokens: Tokens) -> Iterable[tuple[Tokens, int]]:
        """The tokens after the change, at each place where it can be made, and how far it reaches."""
        if self.offset is not None:
            for place, token in enumerate(tokens):
                if token.isdecimal() and place and tokens[place - 1] == self.before:
                    moved = int(token) + self.offset
                    if moved >= 0:
                        yield (*tokens[:place], str(moved).zfill(len(token)), *tokens[place + 1 :]), place + 1
            return
        width = len(self.old)
        for place in range(1, len(tokens) - width + 1):
            after = tokens[place + width] if place + width < len(tokens) else ""
            if tokens[place : place + width] != self.old:
                continue
            if not width and (tokens[place - 1] != self.before or after != self.after):
                continue
            yield (*tokens[:place], *self.new, *tokens[place + width :]), place + len(self.new)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Operations from left to right, and how many known pairs show them."""

    operations: tuple[Operation, ...]
    support: int = 1

    def apply(self, url: Url) -> list[Url]:
        """What the page's translation may be called; the patterns of a few tokens have a few readings."""
        found = [(tokenised(url), 0)]
        for operation in self.operations:
            found = [
                (changed, end) for tokens, start in found for changed, end in operation.places(tokens) if end >= start
            ][:8]
        return [Url.known("".join(tokens)) for tokens, _ in found]

    def __str__(self) -> str:
        """As in Liu's table 3: {"sc" -> "en"}."""
        shown = [
            f"+{o.offset}" if o.offset is not None else f'"{"".join(o.old)}" -> "{"".join(o.new)}"'
            for o in self.operations
        ]
        return "{" + ", ".join(shown) + "}"


def tokenised(url: Url) -> Tokens:
    """Words, numbers and single separators; the scheme stays in front."""
    scheme, _, rest = url.partition("://")
    return (scheme, "://", *_TOKEN.findall(rest))


def learn(pairs: Iterable[tuple[Url, Url]], *, min_support: int = MIN_SUPPORT) -> list[Pattern]:
    """The patterns of those pairs, the most frequent first."""
    counts: Counter[tuple[Operation, ...]] = Counter()
    for a, b in pairs:
        operations = difference(tokenised(a), tokenised(b))
        if 0 < len(operations) <= MAX_OPERATIONS:
            counts[operations] += 1
    frequent = [Pattern(operations, count) for operations, count in counts.most_common(MAX_PATTERNS)]
    return [pattern for pattern in frequent if pattern.support >= min_support]


def difference(a: Tokens, b: Tokens) -> tuple[Operation, ...]:
    """What must be done to the first to get the second."""
    operations = []
    for tag, start, end, low, high in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        old, new = a[start:end], b[low:high]
        before = a[start - 1] if start else ""
        if len(old) == len(new) == 1 and old[0].isdecimal() and new[0].isdecimal():
            operations.append(Operation((), (), before, "", int(new[0]) - int(old[0])))
        else:
            neighbours = ("", "") if old else (before, a[end] if end < len(a) else "")
            operations.append(Operation(old, new, *neighbours))
    return tuple(operations)


def reliability(
    patterns: Sequence[Pattern], known: Sequence[tuple[Url, Url]], exists: Callable[[Url], bool]
) -> dict[Pattern, float]:
    """Of the known pages that a pattern leads from, to a page that exists, the share that it leads to the right one."""
    partners: dict[Url, set[Url]] = defaultdict(set)
    for a, b in known:
        partners[a].add(b)
    worth = {}
    for pattern in patterns:
        right = wrong = 0
        for a, wanted in partners.items():
            for url in pattern.apply(a):
                if url in wanted:
                    right += 1
                elif exists(url):
                    wrong += 1
        worth[pattern] = right / (right + wrong + 1)
    return worth
