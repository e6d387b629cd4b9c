"""URL patterns of a site, learned from pages that are known to be translations (Liu et al., section 2.2).

A pattern turns the URL of a page into that of its translation: it replaces, drops or inserts tokens of the pathname
(host and directories) and of the basename (file and parameters). We add two things to Liu's method: numbers that differ
by a constant are a pattern, and directories are cut into tokens like basenames (/p00-121e/ and /p00-121f/ differ in a
letter). `PatternCounts` says which patterns a site follows, how often, and where they lead from a page.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from bitrawl.url import Url
from bitrawl.urls.tokens import Tokens, raw_tokens

MIN_SUPPORT = 3  # Known pairs that a pattern must come from. Two may be chance.
MAX_PATTERNS = 40  # per site
MAX_OPERATIONS = 4  # More differences mean a translated slug.
_READINGS = 8  # of one pattern that are tried: it fits at few places of a URL.

END = "$"  # what follows the last token


class PatternPart(StrEnum):
    """Where in a URL something is changed."""

    PATHNAME = "pathname"
    BASENAME = "basename"


@dataclass(frozen=True, slots=True)
class PatternOperation:
    """`old` becomes `new`. An insertion goes between its neighbours (empty means any). A number moves by `offset`."""

    old: Tokens
    new: Tokens
    before: str = ""
    after: str = ""
    offset: int | None = None
    part: PatternPart = PatternPart.PATHNAME

    def places(self, tokens: Tokens) -> Iterable[tuple[Tokens, int]]:
        """The tokens after the change, for each place where it can be made, and how far it reaches."""
        if self.old and not set(self.old).issubset(tokens):
            return
        base, width = basename(tokens), len(self.old)
        inside = range(1, base) if self.part is PatternPart.PATHNAME else range(base, len(tokens) - width + 1)
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

    operations: tuple[PatternOperation, ...]
    support: int = 1

    def apply(self, url: Url) -> list[Url]:
        """The URLs that the page's translation may have. A pattern may fit at several places."""
        readings = [(raw_tokens(url), 0)]
        for operation in self.operations:
            readings = [
                (changed, end)
                for tokens, start in readings
                for changed, end in operation.places(tokens)
                if end >= start
            ][:_READINGS]
        return [Url.known("".join(tokens)) for tokens, _ in readings]

    def __str__(self) -> str:
        """The notation of Liu's table 3: {"sc" -> "en"}."""
        changes = [
            f"+{o.offset}" if o.offset is not None else f'"{"".join(o.old)}" -> "{"".join(o.new)}"'
            for o in self.operations
        ]
        return "{" + ", ".join(changes) + "}"


def learn_patterns(pairs: Iterable[tuple[Url, Url]]) -> list[Pattern]:
    """The patterns of those pairs, the most frequent first."""
    counts: Counter[tuple[PatternOperation, ...]] = Counter()
    for a, b in pairs:
        operations = difference(raw_tokens(a), raw_tokens(b))
        if 0 < len(operations) <= MAX_OPERATIONS:
            counts[operations] += 1
    frequent = [Pattern(operations, count) for operations, count in counts.most_common(MAX_PATTERNS)]
    return [pattern for pattern in frequent if pattern.support >= MIN_SUPPORT]


def difference(a: Tokens, b: Tokens) -> tuple[PatternOperation, ...]:
    """The operations that turn the first into the second."""
    operations = []
    base = basename(a)
    for start, end, low, high in _runs(a, b):
        old, new = a[start:end], b[low:high]
        part = PatternPart.BASENAME if start >= base else PatternPart.PATHNAME
        if len(old) == len(new) == 1 and old[0].isdecimal() and new[0].isdecimal():
            operations.append(PatternOperation((), (), _context(a, start), "", int(new[0]) - int(old[0]), part))
        elif old:
            operations.append(PatternOperation(old, new, part=part))
        else:
            operations.append(_insertion(a, start, new, part))
    return tuple(operations)


def _insertion(tokens: Tokens, place: int, new: Tokens, part: PatternPart) -> PatternOperation:
    """Between neighbours that other pages have too: directories, and the separators of a basename."""
    if part is PatternPart.PATHNAME and place and new[-1] == tokens[place - 1]:
        place, new = place - 1, (new[-1], *new[:-1])  # "fr/" after a slash is "/fr" before it
    before = tokens[place - 1] if place else ""
    after = tokens[place] if place < len(tokens) else END
    if part is PatternPart.BASENAME:
        before, after = (token if token == END or not token.isalnum() else "" for token in (before, after))
    return PatternOperation((), new, before, after, part=part)


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


_TRIED = 6  # patterns that are applied to one URL; beyond the most frequent ones, they are rarely right
_REMEMBERED = 500  # patterns of a site; a site with more follows none of them


class DirectedPattern(NamedTuple):
    """A pattern in one direction: from the first language to the second, or back."""

    onwards: bool
    operations: tuple[PatternOperation, ...]


class PatternCounts:
    """The patterns of one site for two languages, which predict partners in both directions.

    They grow with each known pair:

    counts.add(Url.parse("http://s.test/en/a"), Url.parse("http://s.test/fr/a"))
    counts.partners(Url.parse("http://s.test/en/b"))     # [(Url("http://s.test/fr/b"), 0.5)]
    """

    def __init__(self) -> None:
        self._seen: Counter[DirectedPattern] = Counter()
        self._wrong: Counter[DirectedPattern] = Counter()
        self._by_token: defaultdict[str, set[DirectedPattern]] = defaultdict(set)

    def add(self, url_a: Url, url_b: Url) -> None:
        """Add a known pair. Patterns that would have led elsewhere from its pages lose confidence."""
        for onwards, url, partner in ((True, url_a, url_b), (False, url_b, url_a)):
            directed = DirectedPattern(onwards, difference(raw_tokens(url), raw_tokens(partner)))
            for way in self._applicable(url):
                if (
                    way.onwards is onwards
                    and way != directed
                    and Pattern(way.operations).apply(url) not in ([], [partner])
                ):
                    self._wrong[way] += 1
            if 0 < len(directed.operations) <= MAX_OPERATIONS and (
                directed in self._seen or len(self._seen) < _REMEMBERED
            ):
                self._seen[directed] += 1
                self._by_token[_anchor(directed)].add(directed)

    def frequency(self, url_a: Url, url_b: Url) -> int:
        """How many known pairs differ in the same way as these two."""
        return self._seen[DirectedPattern(onwards=True, operations=difference(raw_tokens(url_a), raw_tokens(url_b)))]

    def partners(self, url: Url) -> list[tuple[Url, float]]:
        """URLs that its translation may have, seen or not, with confidences from 0 to 1, the likeliest first."""
        confidences: dict[Url, float] = {}
        for way in self._applicable(url):
            readings = [other for other in Pattern(way.operations).apply(url) if other != url]
            for other in readings:
                confidences[other] = max(confidences.get(other, 0.0), self._confidence(way) / len(readings))
        return sorted(confidences.items(), key=lambda item: -item[1])

    def patterns(self) -> list[tuple[Pattern, float]]:
        """From the first language to the second, the most frequent first, with their confidence."""
        return [
            (Pattern(way.operations, count), self._confidence(way))
            for way, count in self._seen.most_common()
            if way.onwards
        ]

    def _confidence(self, way: DirectedPattern) -> float:
        return self._seen[way] / (self._seen[way] + self._wrong[way] + 1)

    def _applicable(self, url: Url) -> list[DirectedPattern]:
        """Patterns that fit. Those that would insert what is already there are left out."""
        tokens = {*raw_tokens(url), ""}
        ways = [
            way
            for token in tokens
            if token in self._by_token
            for way in self._by_token[token]
            if not any(_is_there(operation, tokens) for operation in way.operations)
        ]
        if len(ways) < 2:  # as after most pairs: its text takes longer than all else here
            return ways
        return sorted(ways, key=lambda way: (-self._seen[way], not way.onwards, str(way)))[:_TRIED]


def _anchor(way: DirectedPattern) -> str:
    """A token that a URL must have for the pattern to apply: the longest of the replaced tokens, or a neighbour."""
    replaced = [token for operation in way.operations for token in operation.old]
    if replaced:
        return max(replaced, key=lambda token: (token.isalnum(), len(token)))
    neighbours = (operation.before for operation in way.operations if operation.before)
    return next(("=" if before.endswith("=") else before for before in neighbours), "")


def _is_there(operation: PatternOperation, tokens: set[str]) -> bool:
    if operation.old or operation.offset is not None:
        return False
    return all(token in tokens for token in operation.new if token.isalnum())
