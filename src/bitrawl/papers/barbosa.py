"""The crawlers of Barbosa et al. 2011, section 3.1, to compare with.

`Forward` is FC and their focused crawler, which only go forward. `BackAndForth` is their algorithm 1 with its two queues:
OBFC, and COBFC with classifiers that are learned on the way.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial

from bitrawl.discover.walk_plan import ForwardPool, LearnedWord, NaiveBayes, Neighbourhood, SiteCandidate, WalkStep
from bitrawl.model import Link, LinkKind, Page
from bitrawl.url import Url

# Pages after which the classifiers are learned, and learned again: a tenth of a walk of 500. The paper learned once, after
# 20,000 of 100,000 pages.
LEARN_EVERY = 50
CO_CITED = 2  # bilingual sites that a relevant backlink page cites: one is how it was found. The paper leaves it open.


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

    def read(self, step: WalkStep, page: Page) -> None:
        self._near.read(page.url, page.links)
        if not self._focused:
            self._pool.add(page.links)
            return
        if step.link.kind is not LinkKind.SEED:
            self._links.learn(self._near.words.of(step.link), relevant=page.is_on_topic)
        if page.is_on_topic or step.link.kind is LinkKind.SEED:
            for link in page.links:
                self._pool.add([link], self._links.probability(self._near.words.of(link)))

    def judged(self, candidate: SiteCandidate) -> None:
        pass

    def steps(self, most: int, *, idle: bool) -> list[WalkStep]:
        steps = self._pool.take(most)
        if idle and not steps:
            self.notes.append("No link is left to follow. Give more seeds.")
        return steps

    def values(self, queued: Sequence[WalkStep]) -> Iterable[tuple[Url, float]]:
        if not self._focused:
            return []
        return [(step.link.url, self._links.probability(self._near.words.of(step.link))) for step in queued]

    def learned(self, most: int) -> dict[str, list[LearnedWord]]:
        return {"Links to the topic": self._links.top(most)} if self._focused else {}


class BackAndForth:
    """Backlinks of bilingual sites, and out-of-site links of backlink pages only; one queue for each, taken in turn.

    The paper leaves open which queue comes first, and what a page without any order means: here, the order of arrival.
    """

    def __init__(self, near: Neighbourhood, *, classifiers: bool, learn_every: int = LEARN_EVERY) -> None:
        self.notes: list[str] = []
        self._near = near
        self._classifiers = classifiers
        self._learn_every = learn_every
        self._back: deque[Link] = deque()  # pages to read
        self._forward: deque[SiteCandidate] = deque()
        self._known_pages: set[Url] = set()
        self._read: dict[Url, frozenset[str]] = {}  # backlink pages, and the words of the links to them
        self._judged: list[SiteCandidate] = []
        self._pool = ForwardPool(near)  # for when both queues are empty
        self._pages = self._learned_at = self._turn = 0
        self._order = 0.0
        self._back_classifier, self._forward_classifier = NaiveBayes(), NaiveBayes()
        self._is_learned = self._was_dry = False

    def read(self, step: WalkStep, page: Page) -> None:
        self._pages += 1
        if step.link.kind is LinkKind.BACKLINK:
            self._read[page.url] = self._near.words.of(step.link)
            self._forward.extend(self._near.read(page.url, page.links))
        else:
            self._pool.add(link for link in page.links if link.url.site != page.url.site)

    def judged(self, candidate: SiteCandidate) -> None:
        self._judged.append(candidate)
        if not candidate.is_bilingual:
            return
        for link in self._near.referrers(candidate.host):
            page = link.source
            if page is not None and page not in self._known_pages:
                self._known_pages.add(page)
                self._back.append(Link(page, LinkKind.BACKLINK, None, link.anchor, link.context))

    def steps(self, most: int, *, idle: bool) -> list[WalkStep]:
        if self._classifiers and self._pages - self._learned_at >= self._learn_every:
            self._learn()
        steps: list[WalkStep] = []
        while len(steps) < most and (self._back or self._forward):
            self._turn += 1
            if (self._turn % 2 and self._back) or not self._forward:
                steps.append(self._valued(WalkStep(self._back.popleft(), 0.0)))
            elif not (candidate := self._forward.popleft()).is_queued:
                steps.append(self._valued(WalkStep(candidate.entry, 0.0, candidate)))
        return steps or (self._forwards(most) if idle else [])

    def values(self, queued: Sequence[WalkStep]) -> Iterable[tuple[Url, float]]:
        if not (self._is_learned and self._classifiers):
            return []
        self._is_learned = False
        return [(step.link.url, self._probability(step)) for step in queued]

    def learned(self, most: int) -> dict[str, list[LearnedWord]]:
        if not self._classifiers:
            return {}
        return {"Back": self._back_classifier.top(most), "Forward": self._forward_classifier.top(most)}

    def _valued(self, step: WalkStep) -> WalkStep:
        """In the order of arrival, until the classifiers are learned."""
        self._order += 1.0
        learned = self._classifiers and self._learned_at
        return step._replace(value=self._probability(step) if learned else 1 / (1 + self._order / 1000))

    def _forwards(self, most: int) -> list[WalkStep]:
        steps = self._pool.take(most)
        if steps and not self._was_dry:
            self._was_dry = True
            self.notes.append(
                "The walk ran dry: no bilingual site with a known backlink was left, so it followed forward links at random."
            )
        return steps

    def _learn(self) -> None:
        """Both classifiers anew, from all links that led to judged sites and to pages read; then both queues in their order."""
        self._learned_at = self._pages
        self._is_learned = True
        self._back_classifier, self._forward_classifier = NaiveBayes(), NaiveBayes()
        for candidate in self._judged:
            self._forward_classifier.learn(candidate.words, relevant=candidate.is_bilingual)
        bilingual = self._near.citations.bilingual
        for page, words in self._read.items():
            self._back_classifier.learn(words, relevant=bilingual[page] >= CO_CITED)
        back = sorted(self._back, key=lambda link: -self._probability(WalkStep(link, 0.0)))
        forward = sorted(
            self._forward, key=lambda candidate: -self._probability(WalkStep(candidate.entry, 0.0, candidate))
        )
        self._back, self._forward = deque(back), deque(forward)

    def _probability(self, step: WalkStep) -> float:
        if step.candidate is not None:
            return self._forward_classifier.probability(step.candidate.words)
        return self._back_classifier.probability(self._near.words.of(step.link))


focused = partial(Forward, focused=True)
obfc = partial(BackAndForth, classifiers=False)
cobfc = partial(BackAndForth, classifiers=True)
