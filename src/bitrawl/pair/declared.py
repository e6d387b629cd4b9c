"""Methods a and r: pages that declare each other as translations, and pages that link to each other."""

from collections import defaultdict

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Alternate, AlternateSource
from bitrawl.pair.evidence import Evidence, Known, PageNumbers, page_numbers
from bitrawl.pair.site import PageSummary, Site

# A declaration by one side alone is worth half. Each further place that declares it halves what is missing. A
# declaration that is returned is believed. Google ignores declarations that are not returned; about 31 % of the sites
# with hreflang have wrong ones. The two numbers are judgements: the score weighs them against the rest.
ONE_WAY = 0.5
RECIPROCAL = 0.9
MAX_RIVALS = 5  # Judgement: a page that exchanges links with more pages of a language has them in a menu.


class DeclaredDetector:
    """Alternates of pages and of sitemaps.

    A page that many others declare as their translation is nobody's translation.
    """

    def propose(self, site: Site, known: Known) -> Evidence:  # noqa: ARG002
        """Reciprocal declarations score higher than one-way ones, several sources higher than one."""
        said = declarations(site)
        evidence: Evidence = {}
        for a, b in said:
            pair = page_numbers(a, b)
            sources = said[a, b] | said.get((b, a), set())
            floor = RECIPROCAL if (b, a) in said else ONE_WAY
            evidence[pair] = 1 - (1 - floor) * 0.5 ** (len(sources) - 1)
        return evidence


def declarations(site: Site) -> dict[tuple[int, int], set[AlternateSource]]:
    """Who declares whom, and where.

    Only pages in another language count, and only if they are in the declared language.
    """
    said: dict[tuple[int, int], set[AlternateSource]] = defaultdict(set)
    for summary in site.summaries:
        for alternate in summary.alternates:
            _declare(site, said, summary, alternate)
    for group in site.groups:
        members = [site.summaries[site.by_url[m.url]] for m in group if m.url in site.by_url]
        for summary in members:
            for alternate in group:
                _declare(site, said, summary, alternate)
    return _without_hubs(site, said)


def _declare(
    site: Site, said: dict[tuple[int, int], set[AlternateSource]], summary: PageSummary, alternate: Alternate
) -> None:
    number = site.by_url.get(alternate.url)
    if number is None or number == summary.number:
        return
    other = site.summaries[number]
    claimed = claimed_language(alternate.language)
    if other.language != summary.language and (claimed == UNDETERMINED or same_language(claimed, other.language)):
        said[summary.number, number].add(alternate.source)


def _without_hubs(
    site: Site, said: dict[tuple[int, int], set[AlternateSource]]
) -> dict[tuple[int, int], set[AlternateSource]]:
    """Without those that lead to the same page as many others of the same language: a switcher to the home page."""
    claims: dict[tuple[int, str], int] = defaultdict(int)
    for a, b in said:
        claims[b, site.summaries[a].language] += 1
    return {
        (a, b): sources
        for (a, b), sources in said.items()
        if claims[b, site.summaries[a].language] == 1 or (b, a) in said
    }


class MutualDetector:
    """Pages in two languages that link to each other, when few others do. Most language switchers are undeclared."""

    def propose(self, site: Site, known: Known) -> Evidence:  # noqa: ARG002
        """1 if it is the only page of that language that a page exchanges links with; less if it is one of several."""
        summaries = site.summaries
        targets = [{target for _, target in summary.links} for summary in summaries]
        mutual: list[PageNumbers] = [
            (a, b)
            for a, linked in enumerate(targets)
            for b in sorted(linked)
            if a < b and a in targets[b] and summaries[a].language != summaries[b].language
        ]
        count: dict[tuple[int, str], int] = defaultdict(int)
        for a, b in mutual:
            count[a, site.summaries[b].language] += 1
            count[b, site.summaries[a].language] += 1
        evidence: Evidence = {}
        for a, b in mutual:
            rivals = max(count[a, site.summaries[b].language], count[b, site.summaries[a].language])
            if rivals <= MAX_RIVALS:
                evidence[a, b] = 1 / rivals
        return evidence


def claims(site: Site) -> set[PageNumbers]:
    """Pages of which one is declared as a translation of the other, although both are in one language."""
    found: set[PageNumbers] = set()
    for summary in site.summaries:
        for alternate in summary.alternates:
            number = site.by_url.get(alternate.url)
            claimed = claimed_language(alternate.language)
            if number is None or number == summary.number or claimed == UNDETERMINED:
                continue
            if site.summaries[number].language == summary.language and not same_language(claimed, summary.language):
                found.add(page_numbers(summary.number, number))
    return found
