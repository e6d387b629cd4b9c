"""A strategy that raises: nothing is lost but its advice, and it is told once."""

from collections.abc import Callable

import pytest

from bitrawl.model import Advice, Lease, Link, LinkKind, Page, SiteKnowledge, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.strategies import GuardedScorer
from bitrawl.url import Url

SITE = SiteKnowledge("s.test")
LINK = Link(Url.parse("http://s.test/a"), LinkKind.PAGE)
SEED = Link(Url.parse("http://s.test/"), LinkKind.SEED)
VISIT = Visit(Lease(SEED, 1.0), Page(SEED.url), 200)


class Broken:
    def score(self, *_: object) -> list[float]:
        raise IndexError("string index out of range")

    learn = advise = score


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda scorer: scorer.score([SEED, LINK], None, SITE), [1.0, 0.5]),
        (lambda scorer: scorer.learn(VISIT, SITE), None),
        (lambda scorer: scorer.advise(SITE), Advice()),
    ],
)
def test_a_strategy_that_raises_costs_its_advice_and_is_told_once(ask: Callable, answer: object):
    told: list[tuple[str, Skip]] = []
    scorer = GuardedScorer(Broken(), lambda site, skip: told.append((site, skip)))
    assert ask(scorer) == answer
    assert ask(scorer) == answer
    [(site, skip)] = told
    assert (site, skip.stage, skip.reason) == ("s.test", Stage.STRATEGY, Reason.INTERNAL)
    assert "IndexError" in skip.detail


@pytest.mark.parametrize("lack", [MemoryError(), RuntimeError("can't start new thread")], ids=repr)
def test_a_lack_of_memory_is_no_fault_of_the_strategy(lack: Exception):
    class Starved:
        def score(self, *_: object) -> list[float]:
            raise lack

    with pytest.raises(type(lack)):
        GuardedScorer(Starved(), lambda _site, _skip: None).score([LINK], None, SITE)  # type: ignore[arg-type]
