"""Algorithm 1 of Barbosa et al. with its two queues: OBFC, and COBFC with classifiers that are learned on the way."""

from collections import deque
from collections.abc import Iterable, Sequence

from bitrawl.discover.walk.bayes import Learned, NaiveBayes
from bitrawl.discover.walk.forward import ForwardPool
from bitrawl.discover.walk.neighbourhood import Candidate, Neighbourhood
from bitrawl.discover.walk.plan import Step
from bitrawl.model import Link, LinkKind, Page
from bitrawl.url import Url

# Pages after which the classifiers are learned, and learned again. The paper learned once, after 20,000 of 100,000 pages;
# judgement: a tenth of a walk of 500.
LEARN_EVERY = 50
CO_CITED = 2  # bilingual sites that a relevant backlink page cites: one is how it was found. The paper leaves it open.


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
        self._forward: deque[Candidate] = deque()
        self._known_pages: set[Url] = set()
        self._read: dict[Url, frozenset[str]] = {}  # backlink pages, and the words of the links to them
        self._judged: list[Candidate] = []
        self._pool = ForwardPool(near)  # for when both queues are empty
        self._pages = self._learned_at = self._turn = 0
        self._order = 0.0
        self._back_classifier, self._forward_classifier = NaiveBayes(), NaiveBayes()
        self._is_learned = self._was_dry = False

    def read(self, step: Step, page: Page) -> None:
        self._pages += 1
        if step.link.kind is LinkKind.BACKLINK:
            self._read[page.url] = self._near.words.of(step.link)
            self._forward.extend(self._near.read(page.url, page.links))
        else:
            self._pool.add(link for link in page.links if link.url.site != page.url.site)

    def judged(self, candidate: Candidate) -> None:
        self._judged.append(candidate)
        if not candidate.is_bilingual:
            return
        for link in self._near.referrers(candidate.host):
            page = link.source
            if page is not None and page not in self._known_pages:
                self._known_pages.add(page)
                self._back.append(Link(page, LinkKind.BACKLINK, None, link.anchor, link.context))

    def steps(self, most: int, *, idle: bool) -> list[Step]:
        if self._classifiers and self._pages - self._learned_at >= self._learn_every:
            self._learn()
        steps: list[Step] = []
        while len(steps) < most and (self._back or self._forward):
            self._turn += 1
            taken = self._backlink() if (self._turn % 2 and self._back) or not self._forward else self._candidate()
            if taken is not None:
                steps.append(taken)
        return steps or (self._forwards(most) if idle else [])

    def values(self, queued: Sequence[Step]) -> Iterable[tuple[Url, float]]:
        if not (self._is_learned and self._classifiers):
            return []
        self._is_learned = False
        return [(step.link.url, self._probability(step)) for step in queued]

    def learned(self, most: int) -> dict[str, list[Learned]]:
        if not self._classifiers:
            return {}
        return {"Back": self._back_classifier.top(most), "Forward": self._forward_classifier.top(most)}

    def _backlink(self) -> Step | None:
        return self._valued(Step(self._back.popleft(), 0.0))

    def _candidate(self) -> Step | None:
        candidate = self._forward.popleft()
        return None if candidate.is_queued else self._valued(Step(candidate.entry, 0.0, candidate))

    def _valued(self, step: Step) -> Step:
        """In the order of arrival, until the classifiers are learned."""
        self._order += 1.0
        learned = self._classifiers and self._learned_at
        return step._replace(value=self._probability(step) if learned else 1 / (1 + self._order / 1000))

    def _forwards(self, most: int) -> list[Step]:
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
        back = sorted(self._back, key=lambda link: -self._probability(Step(link, 0.0)))
        forward = sorted(self._forward, key=lambda one: -self._probability(Step(one.entry, 0.0, one)))
        self._back, self._forward = deque(back), deque(forward)

    def _probability(self, step: Step) -> float:
        if step.candidate is not None:
            return self._forward_classifier.probability(step.candidate.words)
        return self._back_classifier.probability(self._near.words.of(step.link))
