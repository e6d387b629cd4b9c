"""The crawlers that only go forward: FC and the focused crawler of Barbosa et al., section 3.1."""

import heapq
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import count

from bitrawl.discover.graph.names import without_www
from bitrawl.discover.walk.bayes import Learned, NaiveBayes
from bitrawl.discover.walk.neighbourhood import Candidate, Neighbourhood
from bitrawl.discover.walk.plan import Step
from bitrawl.model import Link, LinkKind, Page
from bitrawl.url import Url

MOST_LINKS = 200_000  # that are remembered; judgement: some 200 MB
MOST_QUEUED = 3  # pages of one host that are queued; judgement, with `walk.MOST_PAGES`


class ForwardPool:
    """Links to follow some day, the best first."""

    def __init__(self, near: Neighbourhood) -> None:
        self._near = near
        self._heap: list[tuple[float, int, Link]] = []
        self._seen: set[Url] = set()
        self._given: dict[str, int] = {}  # by host
        self._order = count()

    def add(self, links: Iterable[Link], value: float | None = None) -> None:
        """Without a value in an order that is random, and the same in each run."""
        for link in links:
            if link.url not in self._seen and link.kind is not LinkKind.INDEX and len(self._seen) < MOST_LINKS:
                self._seen.add(link.url)
                at = random_value(link.url) if value is None else value
                heapq.heappush(self._heap, (-at, next(self._order), link))

    def take(self, most: int) -> list[Step]:
        """Not more than a few of each host."""
        steps: list[Step] = []
        while self._heap and len(steps) < most:
            value, _, link = heapq.heappop(self._heap)
            host = without_www(link.url.host)
            if link.url in self._near.visited or self._given.get(host, 0) >= MOST_QUEUED:
                continue
            self._given[host] = self._given.get(host, 0) + 1
            candidate = self._near.candidate(link)
            new = not candidate.is_queued and candidate.verdict is None
            steps.append(Step(link, -value, candidate if new else None))
        return steps


class Forward:
    """FC: follows forward links at random. With `focused`, only those of pages on the topic, the most promising first.

    The link classifier of the focused crawler (Chakrabarti et al. 2002) learns from each page whether a link led to the topic.
    """

    def __init__(self, near: Neighbourhood, *, focused: bool = False) -> None:
        self.notes: list[str] = []
        self._near = near
        self._focused = focused
        self._pool = ForwardPool(near)
        self._links = NaiveBayes()

    def read(self, step: Step, page: Page) -> None:
        self._near.read(page.url, page.links)
        if not self._focused:
            self._pool.add(page.links)
            return
        if step.link.kind is not LinkKind.SEED:
            self._links.learn(self._near.words.of(step.link), relevant=page.is_on_topic)
        if page.is_on_topic or step.link.kind is LinkKind.SEED:
            for link in page.links:
                self._pool.add([link], self._links.probability(self._near.words.of(link)))

    def judged(self, candidate: Candidate) -> None:
        pass

    def steps(self, most: int, *, idle: bool) -> list[Step]:
        steps = self._pool.take(most)
        if idle and not steps:
            self.notes.append("No link is left to follow. Give more seeds.")
        return steps

    def values(self, queued: Sequence[Step]) -> Iterable[tuple[Url, float]]:
        if not self._focused:
            return []
        return [(step.link.url, self._links.probability(self._near.words.of(step.link))) for step in queued]

    def learned(self, most: int) -> dict[str, list[Learned]]:
        return {"Links to the topic": self._links.top(most)} if self._focused else {}


def random_value(url: Url) -> float:
    """From 0 to 1, the same for the same address."""
    return int.from_bytes(blake2b(url.encode(), digest_size=4).digest()) / 2**32
