"""The check of one site, and the walk that looks for more of them."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from bitrawl.config import Job, Walk
from bitrawl.discover.barbosa import BackAndForth, Forward
from bitrawl.discover.cocitation import Cocitation
from bitrawl.discover.graph_index import HostLanguages
from bitrawl.discover.site_check import CheckSettings, DeclaredSiteCheck
from bitrawl.discover.suggestions import LinkPredictor, SiteJudges
from bitrawl.discover.verdict import SiteCheck
from bitrawl.discover.walk import DiscoveryWalk as SiteWalk
from bitrawl.discover.walk import NewCheck
from bitrawl.discover.walk_plan import Neighbourhood, PlacedLinkWords, Plan
from bitrawl.mine.evidence import MIN_WEIGHT
from bitrawl.mine.pairing import THRESHOLD, Pairing
from bitrawl.model import Language, Link, Page
from bitrawl.protocols import (
    BacklinkSource,
)
from bitrawl.url import Url
from bitrawl.urls.language_model import LinearUrlLanguageModel


def walk(
    name: Walk,
    languages: Sequence[Language],
    source: BacklinkSource | None,
    new_check: NewCheck,
    counted: HostLanguages | None = None,
) -> SiteWalk:
    """A new walk that knows nothing yet. The source is None without a link graph, `counted` without an index of languages."""
    near = Neighbourhood(PlacedLinkWords(languages), source)
    plan: Plan
    match name:
        case Walk.COCITATION:
            plan = Cocitation(near, counted.evidence if counted else None)
        case Walk.OBFC | Walk.COBFC:
            plan = BackAndForth(near, classifiers=name is Walk.COBFC)
        case Walk.FC | Walk.FOCUSED:
            plan = Forward(near, focused=name is Walk.FOCUSED)
    return SiteWalk(near, plan, new_check)


def host_languages(job: Job) -> HostLanguages | None:
    """Read from the index that the job names, if it names one."""
    path = job.discovery.host_languages
    return HostLanguages.read(Path(path), job.languages()) if path else None


def new_site_check(
    languages: Sequence[Language],
    sitemaps_of: Callable[[str], Sequence[Url]] = lambda _origin: (),
    counted: HostLanguages | None = None,
) -> NewCheck:
    """Begins the check of a site at its entry page."""
    judges = site_judges(sitemaps_of)

    def begin(entry: Link) -> SiteCheck:
        return DeclaredSiteCheck(entry, languages, judges, odds=counted.odds(entry.url.host) if counted else None)

    return begin


def site_judges(sitemaps_of: Callable[[str], Sequence[Url]] = lambda _origin: ()) -> SiteJudges:
    """What the checks of many sites share, for any languages. `sitemaps_of` is what robots.txt names, by origin."""
    return SiteJudges(
        translation_check(Pairing()),
        LinearUrlLanguageModel(),
        LinkPredictor.load(),
        sitemaps_of,
    )


def site_check(
    entry: Link, languages: Sequence[Language], judges: SiteJudges, settings: CheckSettings | None = None
) -> SiteCheck:
    """A new check of the site of that entry page."""
    return DeclaredSiteCheck(entry, languages, judges, settings)


def translation_check(pairer: Pairing) -> Callable[[Page, Page], float]:
    """Whether mining would pair two pages, given nothing else of the site: 0–1.

    Mining takes the template off first, which two pages do not show. If the whole pages are no pair, their main text
    alone is compared.
    """

    def score(a: Page, b: Page) -> float:
        whole = _pair_score(pairer, a, b)
        bare = [without_boilerplate(page) for page in (a, b)]
        if whole >= THRESHOLD or min(sum(len(one.text) for one in page.paragraphs) for page in bare) < MIN_WEIGHT:
            return whole
        return max(whole, _pair_score(pairer, *bare))

    return score


def _pair_score(pairer: Pairing, a: Page, b: Page) -> float:
    return max((pair.score for pair in pairer.pairs([a, b], [a.language, b.language]).pairs), default=0.0)


def without_boilerplate(page: Page) -> Page:
    """The page with its main text alone."""
    kept = tuple(paragraph for paragraph in page.paragraphs if not paragraph.boilerplate)
    return msgspec.structs.replace(page, paragraphs=kept)
