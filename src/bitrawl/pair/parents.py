"""Method t: links of pages that are already paired (Liu et al., section 5). Method b: two pages paired with a third."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property

from rapidfuzz.distance import Indel

from bitrawl.model import Language
from bitrawl.pair.evidence import Evidence, Known, PageNumbers, page_numbers
from bitrawl.pair.site import PageSummary, Site

# Judgements, except where a line names its evidence.
MAX_ALIGNED = 1_500  # Tags of a page that are aligned: menus and the first screens of content.
MAX_PARENTS = 4_000  # Known pairs that are aligned. On such a large site, many of them link to each page.
MIN_SHARE = 0.2  # Of a page's votes for pages of a language.
COMMON_LINKS = 60  # A page with more incoming links is in a menu, and does not tell two pages apart.
_LINK = 0xF0000  # Characters for links whose targets are known translations of each other.


class ParentDetector:
    """Links at aligned places of the tag sequences of paired pages lead to translations of each other."""

    def propose(self, site: Site, known: Known) -> Evidence:
        """The share of both pages' votes that they give each other. A single vote is worth two thirds."""
        votes: Counter[PageNumbers] = Counter()
        for a, b in list(known.pairs)[:MAX_PARENTS]:
            votes.update(set(aligned_links(site, known, a, b)))
        totals: Counter[tuple[int, Language]] = Counter()
        for (a, b), count in votes.items():
            totals[a, site.summaries[b].language] += count
            totals[b, site.summaries[a].language] += count
        evidence: Evidence = {}
        for (a, b), count in votes.items():
            total = max(totals[a, site.summaries[b].language], totals[b, site.summaries[a].language])
            if count >= MIN_SHARE * total:
                evidence[a, b] = count / total * count / (count + 0.5)
        return evidence


def aligned_links(site: Site, known: Known, a: int, b: int) -> Iterable[PageNumbers]:
    """The targets of links at the same place once the tag sequences are aligned."""
    first, second = site.summaries[a], site.summaries[b]
    tags_a, tags_b = _anchored(first, second, known), _anchored(second, first, known)
    targets_a, targets_b = _targets(site, first), _targets(site, second)
    for block in Indel.opcodes(tags_a, tags_b):
        if block.tag != "equal":
            continue
        shift = block.dest_start - block.src_start
        for place in range(block.src_start, block.src_end):
            x, y = targets_a.get(place), targets_b.get(place + shift)
            if x is not None and y is not None:
                yield page_numbers(x, y)


def _anchored(summary: PageSummary, other: PageSummary, known: Known) -> str:
    """The tag sequence, with a special character for each link whose target is paired in the other's language."""
    tags = list(summary.tags[:MAX_ALIGNED])
    for place, target in summary.links:
        partner = known.partners.get(target, {}).get(other.language)
        if partner is not None and place < len(tags):
            tags[place] = chr(_LINK + min(target, partner) % 0x10000)
    return "".join(tags)


def _targets(site: Site, summary: PageSummary) -> dict[int, int]:
    return {place: target for place, target in summary.links if site.summaries[target].language == summary.language}


class Relatives:
    """How many neighbours of two pages, by links in and out, are translations of each other."""

    def __init__(self, site: Site, known: Known) -> None:
        self._site = site
        self._known = known

    @cached_property
    def _neighbours(self) -> list[dict[int, float]]:
        """The pages that each page links to or is linked from. Rare ones weigh more. Outgoing links are -1 - number."""
        summaries = self._site.summaries
        targets = [{t for _, t in summary.links if summaries[t].language == summary.language} for summary in summaries]
        degree = Counter(target for linked in targets for target in linked)
        found: list[dict[int, float]] = [{} for _ in summaries]
        for number, linked in enumerate(targets):
            for target in linked:
                if degree[target] <= COMMON_LINKS:
                    found[number][-1 - target] = 1 / math.log2(2 + degree[target])
                if len(linked) <= COMMON_LINKS:
                    found[target][number] = 1 / math.log2(2 + len(linked))
        return found

    def similarity(self, pair: PageNumbers) -> float:
        """Weighted Jaccard coefficient over the neighbours that are paired; -1 if neither page has any."""
        a, b = pair
        first = self._mapped(a, self._site.summaries[b].language)
        second = self._paired(b, self._site.summaries[a].language)
        if not first and not second:
            return -1.0
        both = sum(min(value, second[key]) for key, value in first.items() if key in second)
        return both / (sum(first.values()) + sum(second.values()) - both)

    def _mapped(self, number: int, language: Language) -> dict[int, float]:
        mapped = {}
        for key, value in self._neighbours[number].items():
            partner = self._known.partners.get(key if key >= 0 else -1 - key, {}).get(language)
            if partner is not None:
                mapped[partner if key >= 0 else -1 - partner] = value
        return mapped

    def _paired(self, number: int, language: Language) -> dict[int, float]:
        partners = self._known.partners
        return {
            key: value
            for key, value in self._neighbours[number].items()
            if language in partners.get(key if key >= 0 else -1 - key, {})
        }


class BridgeDetector:
    """Two pages that are both paired with the same page in a third language."""

    def propose(self, site: Site, known: Known) -> Evidence:
        """1 - 2^-n for n such bridges. Bridges that lead elsewhere count against the pair."""
        votes: Counter[PageNumbers] = Counter()
        reached: dict[tuple[int, Language], Counter[int]] = defaultdict(Counter)
        for number, partners in known.partners.items():
            for third in partners.values():
                for language, end in known.partners.get(third, {}).items():
                    if end != number and language != site.summaries[number].language and end != third:
                        reached[number, language][end] += 1
        for (number, language), ends in reached.items():
            total = ends.total()
            for end, count in ends.items():
                if site.summaries[end].language == language:
                    votes[page_numbers(number, end)] = (
                        max(votes[page_numbers(number, end)], count) if 2 * count >= total else 0
                    )
        return {pair: 1 - 0.5**count for pair, count in votes.items() if count}
