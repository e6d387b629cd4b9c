"""One strategy's crawl of an archived site, fetch by fetch, and the true pairs that strategies are measured against.

run = await run_trial("adaptive", scorer, replay.prepared(seeds, settings))
"""

import csv
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.crawling import Crawl
from bitrawl.endings import left_message
from bitrawl.errors import ConfigError, UrlError
from bitrawl.languages import asked_language, parse_language
from bitrawl.model import (
    OWN_REQUESTS,
    Capture,
    Language,
    Lease,
    Link,
    LinkKind,
    Page,
    PagePair,
    SiteKnowledge,
    Skip,
    Visit,
)
from bitrawl.protocols import Fetcher, LinkScorer
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url

UrlPair = tuple[Url, Url]
"""Two pages by their URLs, in alphabetical order. Which side is which language does not matter here."""

_COLUMNS = ("url_a", "url_b", "lang_a", "lang_b")


class Truth(msgspec.Struct, frozen=True):
    """The true pairs of a site, and the pairs that nobody can judge."""

    pairs: frozenset[UrlPair]
    uncounted: frozenset[UrlPair] = frozenset()  # a strategy that accepts one of these is neither right nor wrong

    def of(self, site: str, site_of: Callable[[str], str]) -> "Truth":
        """Only the pairs with a page of that site."""

        def here(pairs: Iterable[UrlPair]) -> frozenset[UrlPair]:
            return frozenset(pair for pair in pairs if site in (site_of(pair[0].host), site_of(pair[1].host)))

        return Truth(here(self.pairs), here(self.uncounted))


def in_order(pair: tuple[Url, Url]) -> UrlPair:
    """The same pair whichever side came first."""
    a, b = sorted(pair)
    return a, b


def read_pairs(path: Path, languages: Sequence[Language]) -> frozenset[UrlPair]:
    """The pairs of two of the languages, from a TSV file with the columns url_a, url_b, lang_a, lang_b."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if rows and not rows[0].keys() >= set(_COLUMNS):
        raise ConfigError(f"{path} needs a header line with the columns {', '.join(_COLUMNS)}, tab-separated")
    pairs = set()
    for number, row in enumerate(rows, 2):
        try:
            sides = {_which(row[name] or "", languages) for name in ("lang_a", "lang_b")}
            if len(sides - {None}) == len(("a", "b")):
                pairs.add(in_order((Url.parse(row["url_a"] or ""), Url.parse(row["url_b"] or ""))))
        except (UrlError, ConfigError) as error:
            raise ConfigError(f"{path}, line {number}: {error}") from error
    return frozenset(pairs)


def write_pairs(path: Path, pairs: Sequence[PagePair]) -> None:
    """Write the format that `read_pairs` reads."""
    rows = [_COLUMNS, *((pair.url_a, pair.url_b, pair.lang_a, pair.lang_b) for pair in pairs)]
    files.write(path, "".join("\t".join(row) + "\n" for row in rows))


def _which(code: str, languages: Sequence[Language]) -> Language | None:
    return asked_language(parse_language(code), languages)


class Stop(msgspec.Struct, frozen=True):
    """Where a strategy would have left the site."""

    at: int  # fetches made until then
    reason: str


class ReplayRun(msgspec.Struct, frozen=True):
    """One strategy's crawl of a site."""

    strategy: str
    kept: tuple[Url | None, ...]  # the page that each fetch brought, if any
    apart: dict[str, int]  # our own requests by kind, which are not in `kept`
    faults: int = 0  # visits that ended with a bug in bitrawl
    languages: dict[str, int] = {}  # pages by language
    stop: Stop | None = None
    stopped: bool = False  # The replay ended there; otherwise it went on.
    examined: int | None = None  # candidate pairs that the strategy verified or trusted; None if it examines none
    reported: frozenset[UrlPair] | None = None  # pairs that it considers translations


class ReplayLedger:
    """The ledger of a replay, in memory: what is known about the site, and what each fetch brought."""

    def __init__(self, site_of: Callable[[str], str]) -> None:
        self.kept: list[Url | None] = []
        self._site_of = site_of
        self.faults = 0
        self._sites: dict[str, SiteKnowledge] = {}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Does nothing, because everything is in memory."""
        yield

    def record(self, visit: Visit, *, final: bool = True) -> None:
        page = visit.outcome if isinstance(visit.outcome, Page) else None
        if _is_fetch(visit):
            self.kept.append(page.url if page else None)
        self.faults += isinstance(visit.outcome, Skip) and visit.outcome.reason is Reason.INTERNAL
        if final:
            site = self._site_of(visit.lease.link.url.host)
            self.learn(self.knowledge(site).after(visit))

    def refuse(self, skips: Iterable[tuple[Link, Skip]]) -> None:
        """Does nothing, because a skipped link costs no fetch."""

    def refused_hosts(self, _hosts: Sequence[str]) -> Sequence[Link]:
        """None: a simulation follows links to all hosts of a domain, or to the whole web."""
        return ()

    def knowledge(self, site: str) -> SiteKnowledge:
        return self._sites.get(site) or SiteKnowledge(site)

    def learn(self, knowledge: SiteKnowledge) -> None:
        self._sites[knowledge.site] = knowledge

    def languages(self) -> dict[str, int]:
        """Pages by language, of all sites."""
        counts: Counter[str] = Counter()
        for knowledge in self._sites.values():
            counts.update(knowledge.languages)
        return dict(counts.most_common())


class CountingFetcher:
    """Counts requests by the kind of their link."""

    def __init__(self, inner: Fetcher) -> None:
        self._inner = inner
        self.asked: Counter[LinkKind] = Counter()

    async def fetch(self, link: Link) -> Capture | Skip:
        self.asked[link.kind] += 1
        return await self._inner.fetch(link)


class Replayed(msgspec.Struct, frozen=True):
    """A crawl of an archive that is ready to run, with its seeds queued."""

    crawl: Crawl
    ledger: ReplayLedger
    fetcher: CountingFetcher


Prepare = Callable[[LinkScorer], Replayed]


async def run_trial(name: str, scorer: LinkScorer, prepare: Prepare) -> ReplayRun:
    """Crawl to the end of the site, or until the strategy leaves it, as the settings of the loop say.

    A strategy may have two attributes beyond the protocol: `examined`, the number of candidate pairs that it examined,
    and `pairs`, those that it accepted. Both are read where it leaves the site, even if the replay goes on.
    """
    made = prepare(scorer)
    crawl, ledger = made.crawl, made.ledger
    stop: Stop | None = None
    claims = _Claims()

    def observe(visit: Visit) -> None:
        nonlocal stop, claims
        site = crawl.scope.sites.of(visit.lease.link.url.host)
        left = ledger.knowledge(site).left
        if left and stop is None:
            stop, claims = Stop(len(ledger.kept), str(left_message(site, left))), _Claims.of(scorer)

    crawl.observers.append(observe)
    await crawl.run()
    if stop is None:
        claims = _Claims.of(scorer)
    return ReplayRun(
        strategy=name,
        kept=tuple(ledger.kept),
        apart={str(kind): made.fetcher.asked[kind] for kind in OWN_REQUESTS},
        faults=ledger.faults,
        languages=ledger.languages(),
        stop=stop,
        stopped=stop is not None and crawl.settings.leave,
        examined=claims.examined,
        reported=claims.pairs,
    )


class _Claims(msgspec.Struct, frozen=True):
    """What a strategy offers beyond the protocol; None for what it does not."""

    examined: int | None = None
    pairs: frozenset[UrlPair] | None = None

    @classmethod
    def of(cls, scorer: LinkScorer) -> "_Claims":
        pairs = getattr(scorer, "pairs", None)
        return cls(getattr(scorer, "examined", None), None if pairs is None else frozenset(map(in_order, pairs)))


def _is_fetch(visit: Visit) -> bool:
    """True except for our own requests and for links that were skipped before anything was requested."""
    outcome = visit.outcome
    if visit.lease.link.kind in OWN_REQUESTS:
        return False
    if not isinstance(outcome, Skip) or visit.status:
        return True
    # If a bug occurs while a visit is recorded, the loop records it a second time.
    return outcome.stage not in (Stage.ROBOTS, Stage.FRONTIER) and outcome.reason is not Reason.INTERNAL


class MemoryQueue:
    """Is forgotten with the process: for replays, simulations and tests.

    Heaps by host; an entry that was raised or rescored leaves its old one behind, to be passed over.
    """

    def __init__(self) -> None:
        self._queued: dict[str, Lease] = {}
        self._heaps: dict[str, list[tuple[int, float, int, str]]] = {}
        self._arrival: dict[str, int] = {}  # the number of each link that was ever queued

    def put(self, scored: Iterable[tuple[Link, float]]) -> set[str]:
        hosts = set()
        for link, score in scored:
            queued = self._queued.get(link.url)
            if queued is None and link.url in self._arrival:
                continue
            if queued is None or score > queued.score:
                self._push(msgspec.structs.replace(queued, score=score) if queued else Lease(link, score))
            hosts.add(link.url.host)
        return hosts

    def pop(self, host: str) -> Lease | None:
        lease = self._first(host)
        if lease is not None:
            heapq.heappop(self._heaps[host])
            del self._queued[lease.link.url]
        return lease

    def best(self, host: str) -> float:
        lease = self._first(host)
        return -1.0 if lease is None else lease.score

    def give_back(self, lease: Lease) -> None:
        self._push(msgspec.structs.replace(lease, attempt=lease.attempt + 1))

    def rescore(self, scores: Iterable[tuple[Url, float]]) -> None:
        for url, value in scores:
            lease = self._queued.get(url)
            if lease is not None and value != lease.score:
                self._push(msgspec.structs.replace(lease, score=value))

    def _first(self, host: str) -> Lease | None:
        heap = self._heaps.get(host, [])
        while heap:
            attempt, score, _, url = heap[0]
            lease = self._queued.get(url)
            if lease is not None and (lease.attempt, -lease.score) == (attempt, score):
                return lease
            heapq.heappop(heap)
        self._heaps.pop(host, None)
        return None

    def _push(self, lease: Lease) -> None:
        url = lease.link.url
        self._queued[url] = lease
        arrival = self._arrival.setdefault(url, len(self._arrival))
        heapq.heappush(self._heaps.setdefault(url.host, []), (lease.attempt, -lease.score, arrival, url))
