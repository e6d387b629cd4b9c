"""u: pages whose URLs are versions of each other, by language marks, by the site's own patterns, or by the user's."""

from collections import defaultdict
from collections.abc import Sequence

from bitrawl.model import Language
from bitrawl.pair.evidence import Evidence, Known, PageNumbers, page_numbers
from bitrawl.pair.site import Site
from bitrawl.url import Url
from bitrawl.urls.marks import is_marked, named_languages, skeleton
from bitrawl.urls.patterns import Pattern, learn, reliability

# Judgements: the score weighs them against the rest.
MARKED = (0.5, 0.85, 0.95)  # What the same skeleton is worth when none, one, both of the URLs name their language.
MAX_RIVALS = 50  # Pages of a language with one skeleton: of more, the URLs say nothing.
RELIABLE = 0.5  # Of the known pages that a pattern leads from, the share that it must lead to their partner.


class UrlDetector:
    """The strongest of what marks, learned patterns and the user's replacements say."""

    def __init__(self, replacements: Sequence[tuple[str, str]] = ()) -> None:
        self._replacements = replacements
        self.patterns: dict[tuple[Language, Language], dict[Pattern, float]] = {}

    def propose(self, site: Site, known: Known) -> Evidence:
        """Patterns need known pairs; they are kept in `patterns` for whoever crawls the site."""
        evidence = dict(by_marks(site))
        self.patterns = learned(site, known)
        for found in (by_patterns(site, self.patterns), by_replacements(site, self._replacements)):
            for pair, value in found.items():
                evidence[pair] = max(value, evidence.get(pair, 0.0))
        return Evidence.of(evidence)


def by_marks(site: Site) -> Evidence:
    """Pages of the same skeleton; several of one language share what it is worth."""
    buckets: dict[str, dict[Language, list[int]]] = defaultdict(lambda: defaultdict(list))
    for summary in site.summaries:
        buckets[skeleton(summary.url, summary.language)][summary.language].append(summary.number)
    evidence: dict[PageNumbers, float] = {}
    for by_language in buckets.values():
        languages = list(by_language)
        for place, first in enumerate(languages):
            for second in languages[place + 1 :]:
                rivals = max(len(by_language[first]), len(by_language[second]))
                if rivals > MAX_RIVALS:
                    continue
                for a in by_language[first]:
                    for b in by_language[second]:
                        marks = sum(is_marked(site.summaries[n].url, site.summaries[n].language) for n in (a, b))
                        evidence[page_numbers(a, b)] = MARKED[marks] / rivals
    return Evidence.of(evidence)


def same_language_versions(site: Site) -> set[PageNumbers]:
    """Pages in one language, of which one has the address of another language's version of the other."""
    buckets: dict[str, list[int]] = defaultdict(list)
    for summary in site.summaries:
        buckets[skeleton(summary.url, summary.language)].append(summary.number)
    found: set[PageNumbers] = set()
    for summary in site.summaries:
        for language in named_languages(summary.url):
            if language == summary.language:
                continue
            for number in buckets.get(skeleton(summary.url, language), [])[:MAX_RIVALS]:
                if number != summary.number and site.summaries[number].language == summary.language:
                    found.add(page_numbers(summary.number, number))
    return found


def learned(site: Site, known: Known) -> dict[tuple[Language, Language], dict[Pattern, float]]:
    """For each two languages, in the order of the pairs, the patterns with their reliability."""
    by_languages: dict[tuple[Language, Language], list[tuple[Url, Url]]] = defaultdict(list)
    for pair in known.pairs:
        a, b = sorted((site.summaries[number] for number in pair), key=lambda summary: summary.language)
        by_languages[a.language, b.language].append((a.url, b.url))
    patterns = {}
    for languages, pairs in by_languages.items():

        def exists(url: Url, language: Language = languages[1]) -> bool:
            number = site.by_url.get(url)
            return number is not None and site.summaries[number].language == language

        worth = reliability(learn(pairs), pairs, exists)
        patterns[languages] = {pattern: value for pattern, value in worth.items() if value >= RELIABLE}
    return patterns


def by_patterns(
    site: Site, patterns: dict[tuple[Language, Language], dict[Pattern, float]]
) -> dict[PageNumbers, float]:
    """Where a pattern leads from a page of the first language to one of the second."""
    evidence: dict[PageNumbers, float] = {}
    for (first, second), worth in patterns.items():
        for summary in site.of_language(first) if worth else ():
            for pattern, value in worth.items():
                for url in pattern.apply(summary.url):
                    number = site.by_url.get(url)
                    if number is not None and site.summaries[number].language == second:
                        pair = page_numbers(summary.number, number)
                        evidence[pair] = max(value, evidence.get(pair, 0.0))
    return evidence


def by_replacements(site: Site, replacements: Sequence[tuple[str, str]]) -> dict[PageNumbers, float]:
    """The user's, both ways, as ILSP-FC's -u_r: any text for any other, at each place where it stands."""
    evidence: dict[PageNumbers, float] = {}
    for old, new in [*replacements, *((new, old) for old, new in replacements)]:
        for summary in site.summaries if old else ():
            parts = summary.url.split(old)
            for cut in range(1, len(parts)):
                changed = Url.known(old.join(parts[:cut]) + new + old.join(parts[cut:]))
                number = site.by_url.get(changed)
                if number is not None and site.summaries[number].language != summary.language:
                    evidence[page_numbers(summary.number, number)] = 1.0
    return evidence
