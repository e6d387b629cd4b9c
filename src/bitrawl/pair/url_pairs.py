"""Method u: pages whose URLs correspond by language marks, the site's patterns or the user's replacements."""

from collections import defaultdict
from collections.abc import Sequence

from bitrawl.model import Language
from bitrawl.pair.evidence import Evidence, Known, PageNumbers, page_numbers
from bitrawl.pair.site import Site
from bitrawl.url import Url
from bitrawl.urls.marks import is_marked, named_languages, skeleton
from bitrawl.urls.patterns import Pattern, learn, reliability

# Judgements: the score weighs them against the rest.
MARKED = (0.5, 0.85, 0.95)  # The value of the same skeleton if none, one or both of the URLs name their language.
RELIABLE = 0.5  # A pattern must lead at least this share of the known pages to their partners.


class UrlDetector:
    """The strongest evidence of marks, learned patterns and the user's replacements."""

    def __init__(self, replacements: Sequence[tuple[str, str]] = ()) -> None:
        self._replacements = replacements
        self.patterns: dict[tuple[Language, Language], dict[Pattern, float]] = {}

    def propose(self, site: Site, known: Known) -> Evidence:
        """Patterns need known pairs. They are kept in `patterns`, for the crawl of the site."""
        evidence = by_marks(site)
        self.patterns = learned(site, known)
        for found in (by_patterns(site, self.patterns), by_replacements(site, self._replacements)):
            for pair, value in found.items():
                evidence[pair] = max(value, evidence.get(pair, 0.0))
        return evidence


def by_marks(site: Site) -> Evidence:
    """Pages with the same skeleton. Several pages of one language share its value."""
    buckets: dict[str, dict[Language, list[int]]] = defaultdict(lambda: defaultdict(list))
    for summary in site.summaries:
        buckets[skeleton(summary.url, summary.language)][summary.language].append(summary.number)
    evidence: Evidence = {}
    for by_language in buckets.values():
        languages = list(by_language)
        for place, first in enumerate(languages):
            for second in languages[place + 1 :]:
                rivals = max(len(by_language[first]), len(by_language[second]))
                for a in by_language[first]:
                    for b in by_language[second]:
                        marks = sum(is_marked(site.summaries[n].url, site.summaries[n].language) for n in (a, b))
                        evidence[page_numbers(a, b)] = MARKED[marks] / rivals
    return evidence


def same_language_versions(site: Site) -> set[PageNumbers]:
    """Pages in one language, where the URL of one is that of the other in another language."""
    buckets: dict[str, list[int]] = defaultdict(list)
    for summary in site.summaries:
        buckets[skeleton(summary.url, summary.language)].append(summary.number)
    found: set[PageNumbers] = set()
    for summary in site.summaries:
        for language in named_languages(summary.url):
            if language == summary.language:
                continue
            for number in buckets.get(skeleton(summary.url, language), ()):
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


def by_patterns(site: Site, patterns: dict[tuple[Language, Language], dict[Pattern, float]]) -> Evidence:
    """Pages of the first language whose URL a pattern turns into that of a page of the second."""
    evidence: Evidence = {}
    for (first, second), worth in patterns.items():
        for summary in site.of_language(first) if worth else ():
            for pattern, value in worth.items():
                for url in pattern.apply(summary.url):
                    number = site.by_url.get(url)
                    if number is not None and site.summaries[number].language == second:
                        pair = page_numbers(summary.number, number)
                        evidence[pair] = max(value, evidence.get(pair, 0.0))
    return evidence


def by_replacements(site: Site, replacements: Sequence[tuple[str, str]]) -> Evidence:
    """The user's replacements, both ways, like ILSP-FC's -u_r: any text for any other, wherever it occurs."""
    evidence: Evidence = {}
    for old, new in [*replacements, *((new, old) for old, new in replacements)]:
        for summary in site.summaries if old else ():
            parts = summary.url.split(old)
            for cut in range(1, len(parts)):
                changed = Url.known(old.join(parts[:cut]) + new + old.join(parts[cut:]))
                number = site.by_url.get(changed)
                if number is not None and site.summaries[number].language != summary.language:
                    evidence[page_numbers(summary.number, number)] = 1.0
    return evidence
