"""Which URL patterns a site follows, how often, and where they lead from a page (Liu et al., section 2.2)."""

from collections import Counter, defaultdict
from typing import NamedTuple

from bitrawl.url import Url
from bitrawl.urls.patterns import MAX_OPERATIONS, Operation, Pattern, difference
from bitrawl.urls.tokens import raw_tokens

# Both are judgements.
_TRIED = 6  # patterns that are applied to one URL; beyond the most frequent ones, they are rarely right
_REMEMBERED = 500  # patterns of a site; a site with more follows none of them


class DirectedPattern(NamedTuple):
    """A pattern in one direction: from the first language to the second, or back."""

    onwards: bool
    operations: tuple[Operation, ...]


class Habits:
    """The patterns of one site for two languages, which predict partners in both directions.

    They grow with each known pair:

    habits.add(Url.parse("http://s.test/en/a"), Url.parse("http://s.test/fr/a"))
    habits.partners(Url.parse("http://s.test/en/b"))     # [(Url("http://s.test/fr/b"), 0.5)]
    """

    def __init__(self) -> None:
        self._seen: Counter[DirectedPattern] = Counter()
        self._wrong: Counter[DirectedPattern] = Counter()
        self._by_token: defaultdict[str, set[DirectedPattern]] = defaultdict(set)

    def add(self, url_a: Url, url_b: Url) -> None:
        """Add a known pair. Patterns that would have led elsewhere from its pages lose confidence."""
        for onwards, one, other in ((True, url_a, url_b), (False, url_b, url_a)):
            shown = DirectedPattern(onwards, difference(raw_tokens(one), raw_tokens(other)))
            for way in self._applicable(one):
                if way.onwards is onwards and way != shown and Pattern(way.operations).apply(one) not in ([], [other]):
                    self._wrong[way] += 1
            if 0 < len(shown.operations) <= MAX_OPERATIONS and (shown in self._seen or len(self._seen) < _REMEMBERED):
                self._seen[shown] += 1
                self._by_token[_anchor(shown)].add(shown)

    def frequency(self, url_a: Url, url_b: Url) -> int:
        """How many known pairs differ in the same way as these two."""
        return self._seen[DirectedPattern(onwards=True, operations=difference(raw_tokens(url_a), raw_tokens(url_b)))]

    def partners(self, url: Url) -> list[tuple[Url, float]]:
        """URLs that its translation may have, seen or not, with confidences from 0 to 1, the likeliest first."""
        found: dict[Url, float] = {}
        for way in self._applicable(url):
            readings = [other for other in Pattern(way.operations).apply(url) if other != url]
            for other in readings:
                found[other] = max(found.get(other, 0.0), self._confidence(way) / len(readings))
        return sorted(found.items(), key=lambda item: -item[1])

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
        return sorted(ways, key=lambda way: (-self._seen[way], not way.onwards, str(way)))[:_TRIED]


def _anchor(way: DirectedPattern) -> str:
    """A token that a URL must have for the pattern to apply: the longest of the replaced tokens, or a neighbour."""
    replaced = [token for operation in way.operations for token in operation.old]
    if replaced:
        return max(replaced, key=lambda token: (token.isalnum(), len(token)))
    neighbours = (operation.before for operation in way.operations if operation.before)
    return next(("=" if before.endswith("=") else before for before in neighbours), "")


def _is_there(operation: Operation, tokens: set[str]) -> bool:
    if operation.old or operation.offset is not None:
        return False
    return all(token in tokens for token in operation.new if token.isalnum())
