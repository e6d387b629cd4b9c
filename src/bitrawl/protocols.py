"""The seams: what a stage asks of its neighbours. Async where we wait, plain and batched where we compute."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import Advice, Capture, Language, Lease, Link, Page, SiteKnowledge, Sitemap, Skip, Visit
from bitrawl.url import Url


class Clock(Protocol):
    """Time, passed in so that tests own it."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when so much time has passed."""
        ...


class Fetcher(Protocol):
    """One link, one answer; a redirect is an answer too, and its target a new link for the frontier."""

    async def fetch(self, link: Link) -> Capture | Skip:
        """Never raises for what the web does; a `StoreError` from an archiving wrapper passes through."""
        ...


class LinkScorer(Protocol):
    """A strategy: what orders the frontier."""

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        """0–1, higher is visited earlier; 0 means not on this evidence. `found_on` is None for seeds and sitemaps."""
        ...

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        """What a visit brought, whatever it was; called before the links found there are scored."""
        ...

    def advise(self, site: SiteKnowledge) -> Advice:
        """What to change after that: scores of queued links, links that should exist, whether to leave the site."""
        ...


class Analyser(Protocol):
    """From bytes to what they mean."""

    async def analyse(self, capture: Capture, *, index: bool = False) -> Page | Sitemap | Skip:
        """Never raises for what the bytes are; `index` asks to read a sitemap."""
        ...


class LanguageIdentifier(Protocol):
    """Which language a text is in."""

    def identify(self, texts: Sequence[str], *, prior: Language | None = None) -> list[tuple[Language, float]]:
        """Language and confidence (0–1) of each; "und" and 0.0 where there is nothing to go by.

        `prior` is what the page's markup or URL claims: it may tip a balance, never decide.
        """
        ...


class Encoder(Protocol):
    """Texts of any language as vectors: near each other where they mean the same."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each, of length 1; zeros for a text that says nothing."""
        ...


class UrlLanguageModel(Protocol):
    """Which language the page behind a URL is in, by the URL alone."""

    @property
    def languages(self) -> Sequence[Language]:
        """The columns of a distribution; the last is "und", for all others and for no idea."""
        ...

    def distribution(self, urls: Sequence[Url]) -> NDArray[np.float32]:
        """One row a URL, one column a language; rows sum to 1."""
        ...


class UrlPairModel(Protocol):
    """Whether the pages behind two URLs are translations of each other, by the URLs alone."""

    def parallel(self, pairs: Sequence[tuple[Url, Url]]) -> NDArray[np.float32]:
        """A calibrated probability for each pair; the order of the two does not matter."""
        ...


class Queue(Protocol):
    """The links that a frontier remembers, in memory or in the ledger. When a host may be visited is not its business."""

    def put(self, scored: Iterable[tuple[Link, float]]) -> set[str]:
        """Queue what is new, raise what is queued, revive what a strategy had refused; the hosts touched."""
        ...

    def pop(self, host: str) -> Lease | None:
        """The best queued link of that host, now leased: fewest attempts, highest score, first come."""
        ...

    def best(self, host: str) -> float:
        """The score of what `pop` would give; -1 for nothing."""
        ...

    def give_back(self, lease: Lease) -> None:
        """The lease ends without a verdict: queued again, with one attempt more."""
        ...

    def rescore(self, scores: Iterable[tuple[Url, float]]) -> None:
        """New scores, also lower ones, for what is queued; URLs that are not are passed over."""
        ...


class Recorder(Protocol):
    """The ledger as the loop sees it."""

    def transaction(self) -> AbstractContextManager[None]:
        """All that is written inside is kept together, or not at all."""
        ...

    def record(self, visit: Visit, *, final: bool = True) -> None:
        """A fetch and its verdict; not `final` when it failed and will be tried again."""
        ...

    def refuse(self, skips: Iterable[tuple[Link, Skip]]) -> None:
        """Links that are not followed; those already known keep the verdict that they have."""
        ...

    def knowledge(self, site: str) -> SiteKnowledge:
        """What is known of a site so far."""
        ...

    def learn(self, knowledge: SiteKnowledge) -> None:
        """Something more is known of a site."""
        ...
