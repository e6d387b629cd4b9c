"""URL patterns of a site, learned from pages that are known to be translations (Liu et al., section 2.2).

A pattern turns the URL of a page into that of its translation: it replaces, drops or inserts tokens of the pathname
(host and directories) and of the basename (file and parameters). We add two things to Liu's method: numbers that differ
by a constant are a pattern, and directories are cut into tokens like basenames (/p00-121e/ and /p00-121f/ differ in a
letter).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import Levenshtein

from bitrawl.url import Url
from bitrawl.urls.tokens import Tokens, raw_tokens

MIN_SUPPORT = 3  # Known pairs that a pattern must come from. Two may be chance. Judgement.
MAX_PATTERNS = 40  # per site; judgement
MAX_OPERATIONS = 4  # More differences mean a translated slug. Judgement.
_READINGS = 8  # of one pattern that are tried: it fits at few places of a URL. Judgement.

END = "$"  # what follows the last token


class Part(StrEnum):
    """Where in a URL something is changed."""

    PATHNAME = "pathname"
    BASENAME = "basename"


@dataclass(frozen=True, slots=True)
class Operation:
    """`old` becomes `new`. An insertion goes between its neighbours (empty means any). A number moves by `offset`."""

    old: Tokens
    new: Tokens
    before: str = ""
    after: str = ""
    offset: int | None = None
    part: Part = Part.PATHNAME

    def places(self, tokens: Tokens) -> Iterable[tuple[Tokens, int]]:
        """The tokens after the change, for each place where it can be made, and how far it reaches."""
        if self.old and not set(self.old).issubset(tokens):
            return
        base, width = basename(tokens), len(self.old)
        inside = range(1, base) if self.part is Part.PATHNAME else range(base, len(tokens) - width + 1)
        for place in inside:
            if self.offset is not None:
                if place < len(tokens) and tokens[place].isdecimal() and _context(tokens, place) == self.before:
                    moved = int(tokens[place]) + self.offset
                    if moved >= 0:
                        new = str(moved).zfill(len(tokens[place]))
                        yield (*tokens[:place], new, *tokens[place + 1 :]), place + 1
            elif tokens[place : place + width] == self.old and (width or self._fits(tokens, place)):
                yield (*tokens[:place], *self.new, *tokens[place + width :]), place + len(self.new)

    def _fits(self, tokens: Tokens, place: int) -> bool:
        after = tokens[place] if place < len(tokens) else END
        return self.before in ("", tokens[place - 1]) and self.after in ("", after)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Operations from left to right, and how many known pairs show them."""

    operations: tuple[Operation, ...]
    support: int = 1

    def apply(self, url: Url) -> list[Url]:
        """The URLs that the page's translation may have. A pattern may fit at several places."""
        found = [(raw_tokens(url), 0)]
        for operation in self.operations:
            found = [
                (changed, end) for tokens, start in found for changed, end in operation.places(tokens) if end >= start
            ][:_READINGS]
        return [Url.known("".join(tokens)) for tokens, _ in found]

    def __str__(self) -> str:
        """The notation of Liu's table 3: {"sc" -> "en"}."""
        shown = [
            f"+{o.offset}" if o.offset is not None else f'"{"".join(o.old)}" -> "{"".join(o.new)}"'
            for o in self.operations
        ]
        return "{" + ", ".join(shown) + "}"


def learn(pairs: Iterable[tuple[Url, Url]], *, min_support: int = MIN_SUPPORT) -> list[Pattern]:
    """The patterns of those pairs, the most frequent first."""
    counts: Counter[tuple[Operation, ...]] = Counter()
    for a, b in pairs:
        operations = difference(raw_tokens(a), raw_tokens(b))
        if 0 < len(operations) <= MAX_OPERATIONS:
            counts[operations] += 1
    frequent = [Pattern(operations, count) for operations, count in counts.most_common(MAX_PATTERNS)]
    return [pattern for pattern in frequent if pattern.support >= min_support]


def difference(a: Tokens, b: Tokens) -> tuple[Operation, ...]:
    """The operations that turn the first into the second."""
    operations = []
    base = basename(a)
    for start, end, low, high in _runs(a, b):
        old, new = a[start:end], b[low:high]
        part = Part.BASENAME if start >= base else Part.PATHNAME
        if len(old) == len(new) == 1 and old[0].isdecimal() and new[0].isdecimal():
            operations.append(Operation((), (), _context(a, start), "", int(new[0]) - int(old[0]), part))
        elif old:
            operations.append(Operation(old, new, part=part))
        else:
            operations.append(_insertion(a, start, new, part))
    return tuple(operations)


def _insertion(tokens: Tokens, place: int, new: Tokens, part: Part) -> Operation:
    """Between neighbours that other pages have too: directories, and the separators of a basename."""
    if part is Part.PATHNAME and place and new[-1] == tokens[place - 1]:
        place, new = place - 1, (new[-1], *new[:-1])  # "fr/" after a slash is "/fr" before it
    before = tokens[place - 1] if place else ""
    after = tokens[place] if place < len(tokens) else END
    if part is Part.BASENAME:
        before, after = (token if token == END or not token.isalnum() else "" for token in (before, after))
    return Operation((), new, before, after, part=part)


def _context(tokens: Tokens, place: int) -> str:
    """What precedes a number. For a parameter's value, its name too."""
    before = tokens[place - 1] if place else ""
    return tokens[place - 2] + before if before == "=" else before


def basename(tokens: Tokens) -> int:
    """Where the basename begins: after the last slash that no question mark precedes."""
    end = tokens.index("?") if "?" in tokens else len(tokens)
    return next((place + 1 for place in range(end - 1, -1, -1) if tokens[place] == "/"), end)


def _runs(a: Tokens, b: Tokens) -> list[list[int]]:
    """Start and end, in each, of what differs. Neighbours are one."""
    runs: list[list[int]] = []
    for code in Levenshtein.opcodes(a, b):
        if code.tag == "equal":
            continue
        if runs and runs[-1][1] == code.src_start and runs[-1][3] == code.dest_start:
            runs[-1][1], runs[-1][3] = code.src_end, code.dest_end
        else:
            runs.append([code.src_start, code.src_end, code.dest_start, code.dest_end])
    return runs
