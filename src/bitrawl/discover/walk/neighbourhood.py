"""What a walk knows of the web around it: candidates, who cites them, and what a link graph adds."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bitrawl.discover.graph.names import without_www
from bitrawl.discover.verdict import Answer, SiteCheck, SiteVerdict
from bitrawl.discover.walk.citations import Citations
from bitrawl.discover.walk.words import LinkWords, out_of_site
from bitrawl.errors import UrlError
from bitrawl.model import Link, LinkKind
from bitrawl.protocols import BacklinkSource
from bitrawl.url import Url

BACKLINKS = 200  # of one bilingual site that are asked for; judgement
CITED = 500  # hosts that are asked for of one hub; judgement: a hub that cites more says little of each
LOOKED_AT = 30  # links to a candidate that are read for its address and its words; judgement


@dataclass(slots=True)
class Candidate:
    """A host that may be a bilingual site."""

    host: str  # without www.
    entry: Link
    words: frozenset[str]
    guessed: bool = False  # The address of the entry page is made up from the host's name.
    has_www: bool = False  # The guess was tried with www. too.
    linked: Link | None = None  # to another address, found while the guess was tried
    looked_up: bool = False
    is_seed: bool = False
    is_queued: bool = False
    check: SiteCheck | None = None
    waiting: set[Url] = field(default_factory=set)  # for these pages
    verdict: SiteVerdict | None = None
    failed: SiteVerdict | None = None  # the verdict at an address that was made up, and that did not answer

    @property
    def may_try_again(self) -> bool:
        """Whether a link to another address is worth a second check. There is no third."""
        return self.failed is not None and self.verdict is self.failed

    @property
    def is_bilingual(self) -> bool:
        return self.verdict is not None and self.verdict.verdict is Answer.BILINGUAL


class Neighbourhood:
    """Shared by a walk and its plan."""

    def __init__(self, words: LinkWords, source: BacklinkSource | None = None) -> None:
        self.words = words
        self.source = source
        self.candidates: dict[
            str, Candidate
        ] = {}  # by host; a host that redirects elsewhere has the candidate of its target
        self.citations = Citations()
        self.pages_of: Counter[str] = Counter()  # downloads by host
        self.visited: set[Url] = set()

    def candidate(self, link: Link) -> Candidate:
        """The host that the link leads to, known before or new."""
        host = without_www(link.url.host)
        found = self.candidates.get(host)
        if found is None:
            found = self.candidates[host] = Candidate(host, link, self.words.of(link))
        elif found.guessed and not found.is_queued:
            found.entry, found.guessed = link, False
            found.words |= self.words.of(link)
        elif found.guessed and found.verdict is None:
            found.linked = found.linked or link
        elif found.may_try_again and link.url not in self.visited:
            found.entry, found.guessed = link, False
            found.words |= self.words.of(link)
            found.verdict, found.is_queued = None, False
        return found

    def read(self, page: Url, links: Sequence[Link]) -> list[Candidate]:
        """A page was read: it cites the hosts that its links lead to. Returns the candidates to check: new ones, and those
        that failed at a made-up address and are linked at another one.
        """
        outside = [link for link in out_of_site(links, page) if link.kind is LinkKind.PAGE]
        known = {
            host: self.candidates[host].may_try_again
            for link in outside
            if (host := without_www(link.url.host)) in self.candidates
        }
        found = {without_www(link.url.host): self.candidate(link) for link in outside}
        self.citations.add(page, {one.host: None for one in found.values()})
        return [one for host, one in found.items() if host not in known or (known[host] and not one.may_try_again)]

    def referrers(self, host: str) -> list[Link]:
        """Links to that site, by the source."""
        return self.source.referrers(host, BACKLINKS) if self.source else []

    def citing_pages(self, host: str, most: int) -> tuple[Url, ...]:
        """Pages that cite the host: those that the source names before the hosts that it names, and the pages read."""
        named = self.source.referrers(host, most) if self.source else []
        pages = dict.fromkeys(link.source for link in named if link.source is not None)
        return tuple(pages)[:most] or self.citations.hub_pages(host, most)

    def expand(self, hub: str) -> bool:
        """Add what the source says that a host cites. False if it says nothing but what is known."""
        hosts = [without_www(host) for host in self.source.cites(hub, CITED)] if self.source else []
        for host in hosts:
            if host not in self.candidates:
                self._name(host)
        named = [host for host in hosts if host in self.candidates and host != hub]
        return bool(named) and bool(self.citations.add(hub, named))

    def look_up(self, candidate: Candidate) -> None:
        """Where the links to it lead, and what they say."""
        candidate.looked_up = True
        if self.source is None or not candidate.guessed:
            return
        links = self.source.referrers(candidate.host, LOOKED_AT)
        if links:
            candidate.words = candidate.words.union(*(self.words.of(link) for link in links))
            candidate.entry = _most_common(links)
            candidate.guessed = not any(link.anchor or link.url.path != "/" for link in links)  # a graph of hosts

    def _name(self, host: str) -> None:
        try:
            link = Link(Url.parse(f"https://{host}/"), LinkKind.PAGE)
        except UrlError:  # a graph may hold names that are none
            return
        self.candidates[host] = Candidate(host, link, self.words.of_host(host), guessed=True)


def _most_common(links: Iterable[Link]) -> Link:
    """The page that most links lead to; of those the one with the shortest address."""
    links = list(links)
    counts = Counter(link.url for link in links)
    best = min(links, key=lambda link: (-counts[link.url], len(link.url), link.url))
    return Link(best.url, LinkKind.PAGE, best.source, best.anchor, best.context)
