"""The report of a search for bilingual sites."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from bitrawl.discover.site_lists import SiteAnswer, SiteVerdict
from bitrawl.discover.walk import HubFacts, WalkFacts
from bitrawl.languages import language_name
from bitrawl.show.plots import CHARTS, Bar, Series
from bitrawl.show.templating import document
from bitrawl.show.wording import counted, number

MOST_ROWS = 200  # of the table; sites.tsv has all sites
MOST_MAPPED_HUBS, MOST_MAPPED_SITES = 25, 45  # that can be read
_ANSWERS = {
    SiteAnswer.BILINGUAL: "two pages are translations of each other",
    SiteAnswer.THIN: "a page or two are translated, and nothing says that there is more",
    SiteAnswer.NO: "no translation was found",
    SiteAnswer.UNKNOWN: "the site did not answer, or its answers were not enough",
}


def report_of_search(facts: WalkFacts, verdicts: Sequence[SiteVerdict]) -> str:
    """The same facts give the same page."""
    languages = "–".join(language_name(code) for code in facts.languages)
    return document(
        "discovery_report.html",
        facts=facts,
        title=f"{languages}: {counted(facts.found, 'bilingual site')} found",
        lead=_lead(facts),
        tiles=[
            (number(facts.found), "bilingual sites found"),
            (number(sum(facts.answers.values())), "sites judged"),
            (number(facts.candidates), "sites known"),
            (number(facts.downloads), "downloads"),
        ],
        verdicts=[site for site in verdicts if site.verdict is SiteAnswer.BILINGUAL][:MOST_ROWS],
        site_map=site_map(facts.hubs),
        curve=[Series(facts.strategy, facts.curve)],
        best_hubs=[
            Bar(hub.hub, hub.judged or len(hub.sites), f"cites {counted(hub.cites, 'host')}", len(hub.sites))
            for hub in facts.hubs[:12]
        ],
        answers=[
            Bar(answer.value, facts.answers[answer.value], note)
            for answer, note in _ANSWERS.items()
            if answer.value in facts.answers
        ],
        **CHARTS,
    )


def _lead(facts: WalkFacts) -> str:
    judged = sum(facts.answers.values())
    return (
        f"From {counted(facts.seeds, 'seed site')}, {facts.bilingual_seeds} of them bilingual, bitrawl judged "
        f"{counted(judged, 'site')} with {counted(facts.downloads, 'download')}, ordered by {facts.strategy}."
    )


class SiteMap(msgspec.Struct, frozen=True):
    """Hubs and the bilingual sites that they cite, from top to bottom; positions are in pixels."""

    width: ClassVar[int] = 900
    left: ClassVar[int] = 330  # where the lines begin and end
    right: ClassVar[int] = 570
    top: ClassVar[int] = 34
    bottom: ClassVar[int] = 10
    row: ClassVar[int] = 20

    hubs: list[HubFacts]
    sites: dict[str, int]  # and by how many hubs each is cited

    @property
    def height(self) -> int:
        return self.top + self.row * max(len(self.hubs), len(self.sites)) + self.bottom

    def hub_y(self, hub: HubFacts) -> float:
        return self._y(self.hubs.index(hub), len(self.hubs))

    def site_y(self, site: str) -> float:
        return self._y(list(self.sites).index(site), len(self.sites))

    def _y(self, place: int, count: int) -> float:
        return self.top + (place + 0.5) * (self.height - self.top - self.bottom) / count


def site_map(hubs: Sequence[HubFacts]) -> SiteMap | None:
    """None if no hub cites a bilingual site. Sites that are cited alike stand near each other, so that few lines cross."""
    mapped = [hub for hub in hubs if hub.sites][:MOST_MAPPED_HUBS]
    counts = Counter(site for hub in mapped for site in hub.sites)
    if not counts:
        return None
    places: dict[str, list[int]] = {site: [] for site, _ in counts.most_common(MOST_MAPPED_SITES)}
    for place, hub in enumerate(mapped):
        for site in hub.sites:
            if site in places:
                places[site].append(place)
    ordered = sorted(places, key=lambda site: (sum(places[site]) / len(places[site]), site))
    return SiteMap(mapped, {site: counts[site] for site in ordered})
