"""The interfaces between stages. They are async where we wait, and plain and batched where we compute."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Advice, Capture, Language, Lease, Link, Page, Relevance, SiteKnowledge, Sitemap, Skip, Visit
from bitrawl.url import Url

FIRST = 1.0  # the score of seeds, and of what a host is asked first: the highest
# The score, below those of all strategies, of what a strategy would not follow: with --exhaustive, it comes after all else.
UNWANTED = 1e-8


class Clock(Protocol):
    """Time. It is passed in so that tests can control it."""

    def now(self) -> float:
        """Seconds since some moment before this process: for waits, ages and budgets. They only pass, and never jump."""
        ...

    def date(self) -> float:
        """Seconds since the epoch, to be stored and shown. Somebody may set this clock, so nothing is measured by it."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class Fetcher(Protocol):
    """One link, one answer. A redirect is an answer too; its target is a new link for the frontier."""

    async def fetch(self, link: Link) -> Capture | Skip:
        """Never raises because of the web. A `StoreError` from an archiving wrapper passes through."""
        ...


class LinkScorer(Protocol):
    """A strategy. It orders the frontier.

    Two attributes are optional. `is_stateless` is true of one that keeps nothing between visits, so a resumed crawl need not tell
    it the earlier ones. `steps(perplexities)` are scores that hosts wait for.
    """

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        """Scores from 0 to 1. Higher scores are visited earlier.

        0 means that the evidence is not sufficient for a visit. `found_on` is None for seeds and sitemaps.
        """
        ...

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        """Learn from a visit, whatever its outcome. It is called before the links found there are scored."""
        ...

    def advise(self, site: SiteKnowledge) -> Advice:
        """What to change after that: scores of queued links, links that should exist, whether to leave the site."""
        ...


class Analyser(Protocol):
    """Turns bytes into a page or a sitemap."""

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """Never raises because of the bytes. `index` asks to read a sitemap."""
        ...


class Renderer(Protocol):
    """Draws pages as a browser does, by running their scripts."""

    async def render(self, answer: Capture) -> tuple[Capture | Skip | None, int]:
        """The page as its scripts draw it, and the bytes that were fetched for it.

        None if it could not be drawn: a tab that hangs or crashes costs one page. A `Skip` (`killed`) if what drew it was
        killed each time, which says nothing about the page. Never raises because of the page.
        """
        ...


class LanguageIdentifier(Protocol):
    def identify(self, texts: Sequence[str], *, prior: Language | None = None) -> list[tuple[Language, float]]:
        """The language of each text and the confidence (0–1). "und" and 0.0 if there is no evidence.

        `prior` is what the page's markup or URL claims. It may tip the balance, but it never decides alone.
        """
        ...


class RelevanceModel(Protocol):
    """Whether pages are about the job's topic."""

    def judge(self, pages: Sequence[Page]) -> list[Relevance]:
        """A page in none of the languages asked for is not relevant, whatever it is about."""
        ...

    def weigh(self, texts: Sequence[str], language: Language) -> list[float]:
        """How much each short text, an anchor or what stands around it, speaks for the topic; 0 if it says nothing.

        Only the order means something; models have scales of their own.
        """
        ...

    def learn(self, page: Page, *, relevant: bool) -> None:
        """Learn from a page whose relevance is known, or that is believed beyond doubt."""
        ...

    def revised(self) -> Sequence[tuple[Url, float]]:
        """Pages that it judged and would judge otherwise now, with their scores. Each change is told once.

        Verdicts stay as they were given; this is for the order of what comes next.
        """
        ...


class Topic(NamedTuple):
    """What a strategy is told of a job's topic."""

    model: RelevanceModel
    site_of: Callable[[str], str] = lambda host: Url.known(f"http://{host}/").site
    terms: RelevanceModel | None = None  # a list out of the texts that the model was made from


class StrategyInputs(NamedTuple):
    """What a strategy is made of: what makes one is called with this value, and returns a `LinkScorer`.

    It raises `ConfigError` if it needs something that is not there.
    """

    languages: Sequence[Language]
    topic: Topic | None = None
    dictionary: str = ""  # a file of words of the first two languages
    url_language_model: str = ""  # these two are transformers, by name or folder, in place of the models that ship
    url_pair_model: str = ""
    models: bool = True  # False: without the models that ship
    weights: Mapping[str, float] = {}  # of `adaptive`, in place of those that ship


class Encoder(Protocol):
    """Turns texts of any language into vectors. Texts with the same meaning get similar vectors."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text, of length 1. Zeros for a text without meaning."""
        ...


class UrlLanguageModel(Protocol):
    """Predicts the language of a page from its URL alone."""

    @property
    def languages(self) -> Sequence[Language]:
        """The columns of a distribution. The last is "und": any other language, or not known."""
        ...

    def distribution(self, urls: Sequence[Url]) -> NDArray[np.float32]:
        """One row per URL, one column per language. Each row sums to 1."""
        ...


class UrlPairModel(Protocol):
    """Predicts from two URLs alone whether their pages are translations of each other."""

    def parallel(self, pairs: Sequence[tuple[Url, Url]]) -> NDArray[np.float32]:
        """A calibrated probability for each pair. The order of the two URLs does not matter."""
        ...


class BacklinkSource(Protocol):
    """Who links to a page or to a host, and whom they cite. A name is a host, a `Url` one page."""

    def referrers(self, target: Url | str, limit: int) -> list[Link]:
        """Links to that page, or to any page of that host, at most `limit`, those that say most first.

        `link.source` is the page that links, `link.url` what it links to. A source that knows only hosts gives links from
        home pages, without anchor. Empty for what it does not know.
        """
        ...

    def cites(self, target: Url | str, limit: int) -> list[str]:
        """Other hosts that this page or host links to, at most `limit`, in no order. Empty for what it does not know."""
        ...


class Queue(Protocol):
    """The links that a frontier remembers, in memory or in the ledger.

    It does not decide when a host may be visited.
    """

    def put(self, scored: Iterable[tuple[Link, float]]) -> set[str]:
        """Queue new links, raise the score of queued ones, and requeue links that a strategy had skipped.

        Returns the hosts whose links changed.
        """
        ...

    def pop(self, host: str) -> Lease | None:
        """Lease the best queued link of that host: fewest attempts, then highest score, then first queued."""
        ...

    def best(self, host: str) -> float:
        """The score of the link that `pop` would return; -1 if there is none."""
        ...

    def give_back(self, lease: Lease) -> None:
        """End a lease without a verdict. The link is queued again, with one more attempt counted."""
        ...

    def rescore(self, scores: Iterable[tuple[Url, float]]) -> None:
        """Set new scores, also lower ones, for queued links. URLs that are not queued are ignored."""
        ...


class Recorder(Protocol):
    """The part of the ledger that the crawl loop uses."""

    def transaction(self) -> AbstractContextManager[None]:
        """Everything written inside is kept together, or not at all."""
        ...

    def record(self, visit: Visit, *, final: bool = True) -> None:
        """Store a fetch and its verdict. `final` is false if it failed and will be tried again."""
        ...

    def refuse(self, skips: Iterable[tuple[Link, Skip]]) -> None:
        """Store links that are not followed. A link that is already known keeps its verdict."""
        ...

    def refused_hosts(self, hosts: Sequence[str]) -> Sequence[Link]:
        """The links to these hosts that were not followed because their host was not part of the site."""
        ...

    def knowledge(self, site: str) -> SiteKnowledge:
        """What is known about a site so far."""
        ...

    def learn(self, knowledge: SiteKnowledge) -> None:
        """Store what is known about a site."""
        ...
