"""t: the links of pages that are already paired (Liu et al., section 5), and b: two pages paired with the same third."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby, islice

import numpy as np
from rapidfuzz.distance import Indel

from bitrawl.mining.evidence import Evidence, KnownPairs, PageNumbers, both_ends, page_numbers, pair_key
from bitrawl.mining.site import PageSummary, Rows, RowWriter, Site
from bitrawl.model import Language
from bitrawl.text.arrays import Floats, Ints, bounds, distinct

# Judgements, except where a line names its evidence.
MAX_ALIGNED = 1_500  # Tags of a page that are aligned: menus and the first screens of content.
MAX_PARENTS = 4_000  # Known pairs that are aligned: on a site that large, each page is linked from many of them.
MIN_SHARE = 0.2  # Of the votes of a page for pages of a language.
COMMON_LINKS = 60  # A page that more others link to is in a menu, and tells no two pages from each other.
_LINK = 0xF0000  # Characters for the links whose targets are known to be each other's translation.


class ParentDetector:
    """Links at aligned places of the tag sequences of paired pages lead to each other's translations."""

    def propose(self, site: Site, known_pairs: KnownPairs) -> Evidence:
        """The share of the votes of both pages that they give each other; one vote alone is worth two thirds."""
        ballots = array("q")
        for a, b in islice(known_pairs.pairs, MAX_PARENTS):
            ballots.extend({pair_key(pair) for pair in aligned_links(site, known_pairs, a, b)})
        keys, votes = np.unique(np.array(ballots, np.int64), return_counts=True)
        first, second = both_ends(keys)
        ends = np.concatenate([first, second]) * len(site.languages) + site.spoken[np.concatenate([second, first])]
        _, group = np.unique(ends, return_inverse=True)
        totals = np.bincount(group, np.tile(votes, 2))[group]
        total = np.maximum(totals[: len(keys)], totals[len(keys) :])
        enough = votes >= MIN_SHARE * total
        keys, votes, total = keys[enough], votes[enough], total[enough]
        return Evidence(keys, votes / total * votes / (votes + 0.5))


def aligned_links(site: Site, known_pairs: KnownPairs, a: int, b: int) -> Iterable[PageNumbers]:
    """The targets of links that stand at the same place once the tag sequences are aligned."""
    first, second = site.summaries[a], site.summaries[b]
    tags_a, tags_b = _anchored(site, first, second, known_pairs), _anchored(site, second, first, known_pairs)
    targets_a, targets_b = _targets(site, a), _targets(site, b)
    for block in Indel.opcodes(tags_a, tags_b):
        if block.tag != "equal":
            continue
        shift = block.dest_start - block.src_start
        for place in range(block.src_start, block.src_end):
            x, y = targets_a.get(place), targets_b.get(place + shift)
            if x is not None and y is not None:
                yield page_numbers(x, y)


def _anchored(site: Site, summary: PageSummary, other: PageSummary, known_pairs: KnownPairs) -> str:
    """The tag sequence, with a character of its own for each link whose target is paired in the other's language."""
    tags = list(summary.tags[:MAX_ALIGNED].decode("latin-1"))
    for place, target in _links(site, summary.number):
        partner = known_pairs.partners.get(target, {}).get(other.language)
        if partner is not None and place < len(tags):
            tags[place] = chr(_LINK + min(target, partner) % 0x10000)
    return "".join(tags)


def _targets(site: Site, number: int) -> dict[int, int]:
    language = site.spoken[number]
    return {place: target for place, target in _links(site, number) if site.spoken[target] == language}


def _links(site: Site, number: int) -> Iterable[tuple[int, int]]:
    return zip(site.links.values_of(number).tolist(), site.links[number].tolist(), strict=True)


class PairNeighbours:
    """Of each page those in its language that it links to, and those that link to it; without those in a menu.

    The rarer the links of a page, the more it is worth as a neighbour.
    """

    def __init__(self, site: Site) -> None:
        count = len(site.summaries)
        leading_to, leading_away = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for number in range(count):
            targets = _same_language_targets(site, number)
            leading_to[targets] += 1
            leading_away[number] = len(targets)
        self.linked_worth = 1 / np.log2(2 + leading_to)
        self.linking_worth = 1 / np.log2(2 + leading_away)
        linked, by, to = RowWriter("i"), array("i"), array("i")
        for number in range(count):
            targets = _same_language_targets(site, number)
            linked.write(number, targets[leading_to[targets] <= COMMON_LINKS].tolist())
            if 0 < len(targets) <= COMMON_LINKS:
                by.extend([number] * len(targets))
                to.extend(targets.tolist())
        self.linked = linked.rows(count)
        order = np.argsort(np.array(to, np.int32), kind="stable")
        starts = bounds(np.bincount(np.array(to, np.int64), minlength=count))
        self.linking = Rows(starts, np.array(by, np.int32)[order], np.zeros(0, np.uint8))


def _same_language_targets(site: Site, number: int) -> Ints:
    targets = distinct(site.links[number]).astype(np.int64)
    result: Ints = targets[site.spoken[targets] == site.spoken[number]]
    return result


class Relatives:
    """How far the neighbours of two pages, by links in and out, are each other's translations."""

    def __init__(self, site: Site, known_pairs: KnownPairs, neighbours: PairNeighbours | None = None) -> None:
        self._site = site
        self._neighbours = neighbours or PairNeighbours(site)
        self._partners = np.full((len(site.languages), len(site.summaries)), -1, np.int32)
        for number, partners in known_pairs.partners.items():
            for partner in partners.values():
                self._partners[site.spoken[partner], number] = partner

    def similarities(self, keys: Ints) -> Floats:
        """Weighted Jaccard's coefficient over the neighbours that are paired; -1 where neither page has any."""
        values = np.empty(len(keys))
        worths = (self._neighbours.linked_worth, self._neighbours.linking_worth)
        scratch = [np.zeros(len(self._site.summaries)) for _ in worths]
        a, b = both_ends(keys)
        groups = zip(a.tolist(), self._site.spoken[b].tolist(), b.tolist(), strict=True)
        for (first, language), members in groupby(enumerate(groups), key=lambda item: item[1][:2]):
            own, total = self._carried(first, language, scratch)
            for place, (_, _, second) in members:
                values[place] = self._compared(second, int(self._site.spoken[first]), scratch, total)
            for marks, targets in zip(scratch, own, strict=True):
                marks[targets] = 0.0
        return values

    def _carried(self, number: int, language: int, scratch: Sequence[Floats]) -> tuple[list[Ints], float]:
        """Marks the partners of a page's neighbours with what these are worth."""
        carried, total = [], 0.0
        for targets, worth, marks in self._of(number, scratch):
            partners = self._partners[language, targets]
            paired = partners >= 0
            marks[partners[paired]] = worth[targets[paired]]
            carried.append(partners[paired])
            total += float(worth[targets[paired]].sum())
        return carried, total

    def _compared(self, number: int, language: int, scratch: Sequence[Floats], total: float) -> float:
        both = other = 0.0
        for targets, worth, marks in self._of(number, scratch):
            paired = targets[self._partners[language, targets] >= 0]
            both += float(np.minimum(marks[paired], worth[paired]).sum())
            other += float(worth[paired].sum())
        return both / (total + other - both) if total or other else -1.0

    def _of(self, number: int, scratch: Sequence[Floats]) -> Iterable[tuple[Ints, Floats, Floats]]:
        near = self._neighbours
        yield near.linked[number], near.linked_worth, scratch[0]
        yield near.linking[number], near.linking_worth, scratch[1]


class BridgeDetector:
    """Two pages that are both paired with the same third, in a third language."""

    def propose(self, site: Site, known_pairs: KnownPairs) -> Evidence:
        """1 - 2^-n for n such bridges; bridges that lead elsewhere count against."""
        votes: dict[PageNumbers, int] = {}
        for number, partners in known_pairs.partners.items():
            for language, ends in _reached(site, known_pairs, number, partners.values()).items():
                for end, count in ends.items():
                    if site.summaries[end].language == language:
                        pair = page_numbers(number, end)
                        votes[pair] = max(votes.get(pair, 0), count) if 2 * count >= ends.total() else 0
        return Evidence.of({pair: 1 - 0.5**count for pair, count in votes.items() if count})


def _reached(site: Site, known_pairs: KnownPairs, number: int, thirds: Iterable[int]) -> dict[Language, Counter[int]]:
    """By language, the partners of a page's partners, and how often each is reached."""
    reached: dict[Language, Counter[int]] = defaultdict(Counter)
    for third in thirds:
        for language, end in known_pairs.partners.get(third, {}).items():
            if end not in (number, third) and language != site.summaries[number].language:
                reached[language][end] += 1
    return reached
