"""u: pages whose URLs are versions of each other, by all URLs of the site together, or by the user's replacements."""

from collections.abc import Sequence

from bitrawl.pair.evidence import Evidence, Known, PageNumbers, page_numbers
from bitrawl.pair.site import Site
from bitrawl.url import Url
from bitrawl.urls.sitewide.by_language import LIKELY, Versions


class UrlDetector:
    """What the URLs of one site say, read once; known pairs teach more of them."""

    def __init__(self, replacements: Sequence[tuple[str, str]] = ()) -> None:
        self._replacements = replacements
        self._site: Site | None = None
        self._versions = Versions((), ())

    def propose(self, site: Site, known: Known) -> Evidence:
        """Each two languages by themselves; the user's replacements are certain."""
        evidence = self._of(site).scores(known.pairs)
        evidence.update(by_replacements(site, self._replacements))
        return Evidence.of(evidence)

    def versions(self, site: Site, known: Known) -> set[PageNumbers]:
        """Pages that are versions of each other as far as URLs tell, translated or not."""
        likely = {pair for pair, score in self.propose(site, known).items() if score >= LIKELY}
        return likely | self._of(site).copies()

    def _of(self, site: Site) -> Versions:
        if self._site is not site:
            self._site = site
            self._versions = Versions(
                [summary.url for summary in site.summaries], [summary.language for summary in site.summaries]
            )
        return self._versions


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
