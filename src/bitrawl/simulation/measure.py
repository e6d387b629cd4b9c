"""Replay an archived site under a strategy, fetch by fetch, and measure how soon it completes the pairs.

    run = await replay("adaptive", scorer, prepared)   # one strategy's way through the site
    figures = measure(run, truth, reference)           # compared with the best order, on breadth-first's x axis

What is counted. A fetch is each answer that the loop asks for in the hope of a page: pages, redirects and missing ones
(what the archive does not hold is a 404). Sitemaps, robots.txt and probes are listed apart; a link that robots.txt or
the trap rules stop costs nothing. The x axis of a site is what exhaustive breadth-first fetches, for every strategy.
A pair is complete when both of its pages were fetched and kept.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from math import ceil
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.crawl.fetch import redirect_target
from bitrawl.crawl.loop import MAX_REDIRECTS, Crawl
from bitrawl.errors import ConfigError, UrlError
from bitrawl.languages import parse_language, same_language
from bitrawl.model import Capture, Language, Link, LinkKind, Page, PagePair, Reason, SiteKnowledge, Skip, Stage, Visit
from bitrawl.protocols import Fetcher, LinkScorer
from bitrawl.url import Url

MARKS = (5, 10, 25, 50, 75, 100)
"""Per cent of the x axis at which the harvest is told."""

ALMOST_ALL = 0.95
APART = (LinkKind.ROBOTS, LinkKind.INDEX, LinkKind.PROBE)
_COLUMNS = {"url_a", "url_b", "lang_a", "lang_b"}

Pair = tuple[Url, Url]
"""In alphabetical order: which side is which language does not matter here."""


class Truth(msgspec.Struct, frozen=True):
    """The pairs of a site, and those that nobody can judge."""

    pairs: frozenset[Pair]
    uncounted: frozenset[Pair] = frozenset()  # neither right nor wrong when reported

    def of(self, site: str, site_of: Callable[[str], str]) -> "Truth":
        """Only the pairs with a page of that site."""

        def here(pairs: Iterable[Pair]) -> frozenset[Pair]:
            return frozenset(pair for pair in pairs if site in (site_of(pair[0].host), site_of(pair[1].host)))

        return Truth(here(self.pairs), here(self.uncounted))


class Stop(msgspec.Struct, frozen=True):
    """Where a strategy would have left the site."""

    at: int  # fetches made
    reason: str


class Run(msgspec.Struct, frozen=True):
    """One strategy's way through a site."""

    strategy: str
    kept: tuple[Url | None, ...]  # one for each fetch: the page that came of it
    apart: dict[str, int]  # fetches that are no pages: robots, sitemap, probe
    faults: int = 0  # visits that ended by a bug of ours
    stop: Stop | None = None
    stopped: bool = False  # there, and not only noted
    examined: int | None = None  # candidate pairs that the strategy verified or trusted; None when it looks at none
    reported: frozenset[Pair] | None = None  # pairs that it holds to be translations


class Figures(msgspec.Struct, frozen=True):
    """How good that way was; None where a strategy does not say, or where it never came so far."""

    strategy: str
    fetched: int
    pairs: int  # completed
    at_marks: tuple[int, ...]  # pairs complete at each of MARKS
    area: float | None  # under the harvest curve, of the best possible order's
    area_reachable: float | None  # the same with only the pairs that breadth-first completes
    until_almost_all: int | None  # fetches until 95 % of the pairs that breadth-first completes
    until_per_page: float | None  # that, per page of those pairs
    examined_per_pair: float | None
    precision: float | None
    stopped_at: int | None
    stop_reason: str
    stop_lost: int | None  # pairs that came after it; when it did stop, that breadth-first has and it has not
    stop_saved: int | None  # fetches that came after it; when it did stop, that breadth-first makes beyond
    apart: dict[str, int]
    faults: int
    curve: tuple[int, ...]  # pairs complete after each fetch, along the whole x axis


class SiteTrials(msgspec.Struct, frozen=True):
    """All strategies on one site."""

    site: str
    truth: Truth
    length: int  # of the x axis: what exhaustive breadth-first fetches
    pages: int  # of them that are pages
    reachable: int  # pairs that breadth-first completes
    best: tuple[int, ...]  # pairs complete after each fetch in the best order
    figures: tuple[Figures, ...]


class Diary:
    """The ledger of a replay: what is known of the site, and what each fetch brought."""

    def __init__(self, site_of: Callable[[str], str]) -> None:
        self.kept: list[Url | None] = []
        self._site_of = site_of
        self.faults = 0
        self._sites: dict[str, SiteKnowledge] = {}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """As `protocols.Recorder`; nothing outlives the process."""
        yield

    def record(self, visit: Visit, *, final: bool = True) -> None:
        """As `protocols.Recorder`."""
        page = visit.outcome if isinstance(visit.outcome, Page) else None
        if _is_fetch(visit):
            self.kept.append(page.url if page else None)
        self.faults += isinstance(visit.outcome, Skip) and visit.outcome.reason is Reason.INTERNAL
        if final:
            self._count(visit, page)

    def refuse(self, skips: Iterable[tuple[Link, Skip]]) -> None:
        """As `protocols.Recorder`."""

    def knowledge(self, site: str) -> SiteKnowledge:
        """As `protocols.Recorder`."""
        return self._sites.get(site) or SiteKnowledge(site)

    def learn(self, knowledge: SiteKnowledge) -> None:
        """As `protocols.Recorder`."""
        self._sites[knowledge.site] = knowledge

    def _count(self, visit: Visit, page: Page | None) -> None:
        known = self.knowledge(self._site_of(visit.lease.link.url.host))
        languages = known.languages
        if page is not None:
            languages = {**languages, page.language: languages.get(page.language, 0) + 1}
        self.learn(
            msgspec.structs.replace(
                known,
                pages=known.pages + (page is not None),
                fetched=known.fetched + 1,
                bytes=known.bytes + visit.bytes,
                languages=languages,
            )
        )


class Counted:
    """A fetcher that knows how often it was asked for what."""

    def __init__(self, inner: Fetcher) -> None:
        self._inner = inner
        self.asked: Counter[LinkKind] = Counter()

    async def fetch(self, link: Link) -> Capture | Skip:
        """As `protocols.Fetcher`."""
        self.asked[link.kind] += 1
        return await self._inner.fetch(link)


class Replayed(msgspec.Struct, frozen=True):
    """A crawl of an archive that is ready to run, with its seeds queued."""

    crawl: Crawl
    diary: Diary
    fetcher: Counted


Prepare = Callable[[LinkScorer], Replayed]


async def replay(name: str, scorer: LinkScorer, prepare: Prepare) -> Run:
    """To the end of the site, or to where the strategy leaves it, as the loop's settings say.

    What a strategy may tell beyond the protocol: `examined` counts the candidate pairs that it looked at, `pairs` are
    those that it believes. Both are read where it leaves the site, as a crawl would, also when the replay goes on.
    """
    made = prepare(scorer)
    crawl, diary = made.crawl, made.diary
    stops: list[Stop] = []
    told: list[tuple[int | None, frozenset[Pair] | None]] = []

    def look() -> None:
        pairs = getattr(scorer, "pairs", None)
        believed = None if pairs is None else frozenset(map(in_order, pairs))
        told.append((getattr(scorer, "examined", None), believed))

    def observe(visit: Visit) -> None:
        left = diary.knowledge(crawl.scope.sites.of(visit.lease.link.url.host)).left
        if left and not stops:
            stops.append(Stop(len(diary.kept), left))
            look()

    crawl.observe = observe
    await crawl.run()
    look()
    return Run(
        name,
        tuple(diary.kept),
        {str(kind): made.fetcher.asked[kind] for kind in APART},
        diary.faults,
        stops[0] if stops else None,
        bool(stops) and not crawl.settings.exhaustive,
        *told[0],
    )


def in_order(pair: tuple[Url, Url]) -> Pair:
    """The same pair whichever side came first."""
    a, b = sorted(pair)
    return a, b


def measure(run: Run, truth: Truth, reference: Run) -> Figures:
    """By the truth, along the x axis of `reference`: exhaustive breadth-first on the same site."""
    length = len(reference.kept)
    curve = harvest(run.kept, truth.pairs, length)
    reachable = frozenset(_complete(reference.kept, truth.pairs))
    until = _until(run.kept, reachable)
    final = harvest(run.kept, truth.pairs, len(run.kept))
    stop = run.stop
    all_pairs, all_fetches = (len(reachable), length) if run.stopped else (_after(final, len(final)), len(final))
    counted = None if run.reported is None else run.reported - truth.uncounted
    right = None if counted is None else len(counted & truth.pairs)
    return Figures(
        strategy=run.strategy,
        fetched=len(run.kept),
        pairs=_after(final, len(final)),
        at_marks=tuple(curve[max(0, round(mark * length / 100) - 1)] if length else 0 for mark in MARKS),
        area=_area(curve, truth.pairs),
        area_reachable=_area(harvest(run.kept, reachable, length), reachable),
        until_almost_all=until,
        until_per_page=None if until is None else until / len({url for pair in reachable for url in pair}),
        examined_per_pair=_per_pair(run, truth, right),
        precision=right / len(counted) if counted and right is not None else None,
        stopped_at=stop.at if stop else None,
        stop_reason=stop.reason if stop else "",
        stop_lost=all_pairs - _after(final, stop.at) if stop else None,
        stop_saved=all_fetches - stop.at if stop else None,
        apart=run.apart,
        faults=run.faults,
        curve=curve,
    )


def harvest(kept: Sequence[Url | None], pairs: Iterable[Pair], length: int) -> tuple[int, ...]:
    """Pairs complete after each fetch; where the fetches end before `length`, it stays as it is."""
    gains = [0] * length
    for at in _complete(kept, pairs).values():
        if at < length:
            gains[at] += 1
    return tuple(accumulate(gains))


def best_harvest(pairs: Iterable[Pair], length: int) -> tuple[int, ...]:
    """The same for an order that knows everything, whether a link leads there or not.

    Pair pages two by two; where a page has several partners, the page with the most of them comes first and they
    follow, as each of them completes a pair alone.
    """
    gains: list[int] = []
    fetched: set[Url] = set()
    partners: dict[Url, set[Url]] = defaultdict(set)
    for a, b in pairs:
        partners[a].add(b)
        partners[b].add(a)
    for hub in sorted(partners, key=lambda url: (-len(partners[url]), url)):
        for url in (hub, *sorted(partners[hub], key=lambda url: (-len(partners[url]), url))):
            if url not in fetched:
                gains.append(len(partners[url] & fetched))
                fetched.add(url)
    gains += [0] * (length - len(gains))
    return tuple(accumulate(gains[:length]))


async def landed(fetcher: Fetcher, url: Url) -> Url:
    """Where a URL leads: a truth file may name a page by an address that redirects to it."""
    for _ in range(MAX_REDIRECTS):
        answer = await fetcher.fetch(Link(url, LinkKind.PAGE))
        if isinstance(answer, Skip) or not 300 <= answer.status < 400:
            return url
        try:
            url = redirect_target(answer)
        except UrlError:
            return url
    return url


def read_pairs(path: Path, languages: Sequence[Language]) -> frozenset[Pair]:
    """A TSV file with a header (url_a, url_b, lang_a, lang_b): those pairs that are of two of the languages."""
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if rows and not rows[0].keys() >= _COLUMNS:
        raise ConfigError(f"{path} needs a header line with the columns {', '.join(sorted(_COLUMNS))}, tab-separated")
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
    """So that `read_pairs` reads them."""
    heads = ("url_a", "url_b", "lang_a", "lang_b")
    rows = [heads, *(tuple(getattr(pair, head) for head in heads) for pair in pairs)]
    files.write(path, "".join("\t".join(row) + "\n" for row in rows))


def _which(code: str, languages: Sequence[Language]) -> Language | None:
    found = parse_language(code)
    return next((language for language in languages if same_language(found, language)), None)


def _is_fetch(visit: Visit) -> bool:
    """Not what is listed apart, and not what was refused before anything was asked."""
    outcome = visit.outcome
    if visit.lease.link.kind in APART:
        return False
    if not isinstance(outcome, Skip) or visit.status:
        return True
    # A bug that shows while a visit is concluded concludes it a second time.
    return outcome.stage not in (Stage.ROBOTS, Stage.FRONTIER) and outcome.reason is not Reason.INTERNAL


def _complete(kept: Sequence[Url | None], pairs: Iterable[Pair]) -> dict[Pair, int]:
    """The fetch, counted from 0, that completed each pair; pairs that were not completed are left out."""
    first = {url: at for at, url in reversed(list(enumerate(kept))) if url is not None}
    return {(a, b): max(first[a], first[b]) for a, b in pairs if a in first and b in first}


def _area(curve: Sequence[int], pairs: frozenset[Pair]) -> float | None:
    best = sum(best_harvest(pairs, len(curve)))
    return sum(curve) / best if best else None


def _until(kept: Sequence[Url | None], pairs: frozenset[Pair]) -> int | None:
    """Fetches until almost all of those pairs are complete."""
    ends = sorted(_complete(kept, pairs).values())
    needed = ceil(ALMOST_ALL * len(pairs))
    return ends[needed - 1] + 1 if needed and len(ends) >= needed else None


def _after(curve: Sequence[int], fetches: int) -> int:
    return curve[fetches - 1] if fetches else 0


def _per_pair(run: Run, truth: Truth, right: int | None) -> float | None:
    """Candidates for each pair that was rightly believed; those that nobody can judge are left out on both sides."""
    if run.examined is None or not right:
        return None
    return (run.examined - len((run.reported or frozenset()) & truth.uncounted)) / right
