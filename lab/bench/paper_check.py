"""The bilingual site detector of Barbosa et al. 2011, section 2.1, to compare with.

The link predictor chooses links of the entry page that are likely to lead to parallel text. The site counts as
bilingual if the entry page and what these links lead to are in different languages of those asked for.
"""

from collections.abc import Sequence

import msgspec

from bitrawl.discover.site_lists import SiteAnswer, SiteVerdict
from bitrawl.discover.suggestions import LinkLikelihoods, links_inside
from bitrawl.languages import same_language
from bitrawl.model import MAX_REDIRECTS, Language, Link, LinkKind, Page, Skip, Visit
from bitrawl.url import Url

MIN_LIKELIHOOD = 0.4  # where the paper's table 1 has the best F at the fewest downloads
MAX_LINKS = 40  # of one site; at likelihood 0 the paper took 29 on average


class PaperSiteCheck:
    """A `SiteCheck` that downloads every predicted link, as the paper does, before it decides."""

    def __init__(
        self,
        entry: Link,
        languages: Sequence[Language],
        predictor: LinkLikelihoods,
        min_likelihood: float = MIN_LIKELIHOOD,
    ) -> None:
        self.verdict: SiteVerdict | None = None
        self._entry = entry
        self._languages = tuple(languages)
        self._predictor = predictor
        self._least = min_likelihood
        self._ready = [entry]
        self._waiting = {entry.url}
        self._found: dict[Language, Url] = {}
        self._predicted: float | None = None  # the best likelihood; None until the entry page was read
        self._downloads = 0

    def wanted(self) -> Sequence[Link]:
        ready, self._ready = self._ready, []
        return ready

    def saw(self, visit: Visit) -> None:
        link, outcome = visit.lease.link, visit.outcome
        if self.verdict is not None or link.url not in self._waiting:
            return
        self._waiting.discard(link.url)
        target = outcome.target if isinstance(outcome, Skip) else None
        if target is not None and link.redirects < MAX_REDIRECTS:
            self._ask(msgspec.structs.replace(link, url=target, kind=LinkKind.REDIRECT, redirects=link.redirects + 1))
            return
        self._downloads += 1
        if isinstance(outcome, Page):
            for language in self._languages:
                if same_language(outcome.language, language):
                    self._found.setdefault(language, outcome.url)
            if self._predicted is None:
                self._predict(outcome)
        if not self._waiting:
            self._end()

    def _predict(self, page: Page) -> None:
        """A link counts by the language, of those asked for, that it most probably leads to."""
        inside = links_inside(page)
        best = dict.fromkeys(range(len(inside)), 0.0)
        for language in self._languages:
            if not same_language(page.language, language):
                for place, chance in enumerate(self._predictor.likelihoods(inside, page, language)):
                    best[place] = max(best[place], chance)
        chosen = sorted((place for place in best if best[place] >= self._least), key=lambda place: -best[place])
        self._predicted = max((best[place] for place in chosen), default=0.0)
        for place in chosen[:MAX_LINKS]:
            self._ask(inside[place])

    def _ask(self, link: Link) -> None:
        if link.url not in self._waiting:
            self._waiting.add(link.url)
            self._ready.append(link)

    def _end(self) -> None:
        both = len(self._found) > 1
        answer = SiteAnswer.BILINGUAL if both else SiteAnswer.NO
        urls = [self._found[language] for language in self._languages if language in self._found]
        self.verdict = SiteVerdict(
            self._entry.url.host,
            answer if self._predicted is not None else SiteAnswer.UNKNOWN,
            self._predicted or 0.0,
            tuple(language for language in self._languages if language in self._found),
            {"link": round(self._predicted or 0.0, 4)},
            url_a=urls[0] if both else None,
            url_b=urls[1] if both else None,
            downloads=self._downloads,
            detail="pages in both languages" if both else "no pages in both languages",
        )
