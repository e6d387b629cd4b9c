"""`adaptive` in a job with a topic."""

from collections.abc import Sequence

from bitrawl.model import Language, Lease, Link, LinkKind, Page, Relevance, SiteKnowledge, Visit
from bitrawl.strategies.adaptive.topical import TopicalAdaptive
from bitrawl.url import Url

EN = Language("en")
SITE = SiteKnowledge("a.example")


class Doubtful:
    """Nothing is about the topic."""

    def judge(self, pages: Sequence[Page]) -> list[Relevance]:
        return [Relevance(0.0, relevant=False)] * len(pages)

    def weigh(self, texts: Sequence[str], language: Language) -> list[float]:
        return [-1.0] * len(texts)

    def learn(self, page: Page, *, relevant: bool) -> None:
        pass


def test_a_seed_stays_first_whatever_earlier_visits_brought():
    strategy = TopicalAdaptive([EN], Doubtful(), str)
    seeds = [Link(Url.parse(f"https://{host}.example/"), LinkKind.SEED) for host in "abc"]
    assert strategy.score(seeds, None, SITE) == [1.0, 1.0, 1.0]
    first = seeds[0].url
    links = tuple(Link(Url.parse(f"https://a.example/{n}"), LinkKind.PAGE, source=first) for n in range(5))
    page = Page(first, EN, links=links, relevance=Relevance(0.0, relevant=False))
    strategy.score(links, page, SITE)
    strategy.learn(Visit(Lease(seeds[0], 1.0), page), SITE)
    lowered = {url for url, _ in strategy.advise(SITE).scores}
    assert not lowered & {seed.url for seed in seeds}
