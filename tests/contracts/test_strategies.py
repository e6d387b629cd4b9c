"""What every strategy promises to the loop, whatever the web brings."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from table_site import Walk, moved, page, site, url

from bitrawl.errors import ConfigError
from bitrawl.model import Advice, Language, Lease, Link, LinkKind, Page, SiteKnowledge, Sitemap, Skip, Visit
from bitrawl.papers.url_patterns import UrlPatterns
from bitrawl.protocols import LinkScorer, StrategyInputs, Topic
from bitrawl.reasons import Reason, Stage
from bitrawl.strategies import FOCUSED, Strategy, strategy
from bitrawl.topic.term_list import Term, TermList
from bitrawl.topic.term_relevance import TermRelevance
from bitrawl.url import Url

SITE = SiteKnowledge("site.test")
LANGUAGES = {"one": "fr", "two": "en fr", "three": "en fr de", "kin": "no nb", "rare": "gsw sr-Latn"}

Make = Callable[[str], LinkScorer]


TOPICAL = (*FOCUSED, Strategy.ADAPTIVE)
KINDS = [(name, models, False) for name in Strategy if name not in FOCUSED for models in (True, False)]
KINDS += [(name, True, True) for name in TOPICAL]


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0]}{'' if kind[1] else ' without models'}{' topic' * kind[2]}")
def make(request: pytest.FixtureRequest) -> Make:
    name, models, topical = request.param

    def made(codes: str) -> LinkScorer:
        languages = [Language(code) for code in codes.split()]
        terms = TermList(tuple(Term(text, language=code) for text in ("harbour", "fr") for code in languages))
        topic = Topic(TermRelevance(terms, languages)) if topical else None
        return strategy(name, StrategyInputs(languages, topic, models=models))

    return made


@pytest.mark.parametrize("name", FOCUSED)
def test_a_strategy_for_a_topic_is_refused_without_one(name: Strategy):
    with pytest.raises(ConfigError, match="needs a topic"):
        strategy(name, StrategyInputs([Language("en")]))


@pytest.mark.parametrize("name", [Strategy.URL_PATTERNS, Strategy.PLAIN_QUEUE])
def test_the_dictionary_reaches_the_strategies_that_look_words_up(name: Strategy, tmp_path: Path):
    (tmp_path / "words.tsv").write_text("harbour\tport\n", encoding="utf-8")
    languages = [Language("en"), Language("fr")]
    made = strategy(name, StrategyInputs(languages, dictionary=str(tmp_path / "words.tsv")))
    assert isinstance(made, UrlPatterns)
    entry = {"harbour": ["port"]}
    assert made._verification((Language("en"), Language("fr")))._translations == entry
    assert not made._verification((Language("en"), Language("de")))._translations


def visit(outcome: Page | Sitemap | Skip, score: float = 0.5) -> Visit:
    return Visit(Lease(Link(outcome.url, LinkKind.PAGE), score), outcome)


def skip(path: str, reason: Reason, detail: str = "") -> Skip:
    return Skip(url(path), Stage.FETCH, reason, detail)


def scored(scorer: LinkScorer, links: Sequence[Link], found_on: Page | None) -> list[float]:
    """The scores, after what is promised of all of them."""
    scores = scorer.score(links, found_on, SITE)
    assert len(scores) == len(links)
    assert all(0 <= score <= 1 for score in scores)
    return scores


def follow(scorer: LinkScorer, found: Visit) -> Advice:
    """One turn of the loop."""
    scorer.learn(found, SITE)
    if isinstance(found.outcome, Page):
        scored(scorer, found.outcome.links, found.outcome)
    elif isinstance(found.outcome, Sitemap):
        scored(scorer, found.outcome.links, None)
    advice = scorer.advise(SITE)
    assert all(0 <= score <= 1 for _, score in advice.scores)
    if advice.links:
        assert all(score > 0 for score in scored(scorer, advice.links, None))
    return advice


HOSTILE = [
    "http://site.test/" + "a/" * 900,
    "http://site.test/?" + "&".join(f"lang={code}" for code in ("en", "fr", "de", "xx", "") * 50),
    "http://site.test/%00%ff%F0%9F%92%A9/en/fr",
    "http://[::1]/en/",
    "http://127.0.0.1:8000/fr",
    "http://xn--e1afmkfd.xn--p1ai/%D1%80%D1%83/",
    "http://site.test/-_.~!$&'()*+,;=:@/",
    "http://site.test/??//..%2f..%2f",
]


@pytest.mark.parametrize("codes", LANGUAGES.values(), ids=LANGUAGES)
def test_seeds_score_one_and_every_link_has_a_score(make: Make, codes: str):
    scorer = make(codes)
    seeds = [Link(url(path), LinkKind.SEED) for path in ("/", "/en/", "/fr/")]
    assert scored(scorer, seeds, None) == [1.0, 1.0, 1.0]
    assert scored(scorer, [], None) == []
    every = [Link(url(f"/{kind}"), kind, url("/")) for kind in LinkKind]
    for source in (None, page("/", "en"), page("/", "und"), page("/", "ko")):
        scored(scorer, every, source)
        scored(scorer, every * 2, source)


@pytest.mark.parametrize("codes", LANGUAGES.values(), ids=LANGUAGES)
def test_no_outcome_of_a_visit_raises(make: Make, codes: str):
    scorer = make(codes)
    scored(scorer, [Link(url(path), LinkKind.SEED) for path in ("/en/", "/fr/", "/gone", "/moved")], None)
    listed = tuple(Link(url(f"/fr/{number}"), LinkKind.SITEMAP) for number in range(3))
    for found in (
        skip("/gone", Reason.HTTP_STATUS),
        skip("/moved", Reason.REDIRECT, "http://elsewhere.test/"),
        skip("/moved", Reason.REDIRECT, "no URL"),
        page("/en/", "en", "/en/a /en/ /gone"),
        page("/fr/", "fr", "/fr/a /fr/ /gone"),
        page("/en/a", "und", "/en/b"),
        page("/fr/a", "fr"),
        Page(url("/bare")),
        Sitemap(url("/sitemap.xml"), listed, ((),)),
        skip("/never/heard/of", Reason.TIMEOUT),
        skip("/en/a", Reason.OPT_OUT),
    ):
        for _ in range(2):  # a resumed run may repeat what was in flight
            follow(scorer, visit(found))


@pytest.mark.parametrize(
    ("name", "codes"),
    [(Strategy.BREADTH_FIRST, "en fr"), (Strategy.LANGUAGE_FILTER, "en fr"), (Strategy.ADAPTIVE, "fr")],
)
def test_a_strategy_that_is_not_told_earlier_visits_scores_the_same_without_them(name: Strategy, codes: str):
    told, fresh = (strategy(name, StrategyInputs([Language(code) for code in codes.split()])) for _ in range(2))
    assert told.is_stateless
    for found in (page("/en/", "en", "/en/a"), page("/fr/", "fr", "/fr/a"), skip("/gone", Reason.HTTP_STATUS)):
        assert follow(told, visit(found)) == Advice()
    every = [Link(url(f"/{kind}"), kind, url("/")) for kind in LinkKind]
    for source in (None, page("/", "en"), page("/", "fr"), page("/", "und"), page("/", "ko")):
        assert scored(told, every, source) == scored(fresh, every, source)


def test_a_hostile_page_and_a_huge_one_are_scored(make: Make):
    scorer = make("en fr")
    scored(scorer, [Link(url(path), LinkKind.SEED) for path in ("/en/", "/fr/")], None)
    names = [f"/{code}/{number}?page={number}" for number in range(500) for code in ("en", "fr", "de")]
    for code in ("en", "fr"):
        odd = [Url.parse(raw) for raw in HOSTILE]
        follow(scorer, visit(page(f"/{code}/", code, [*names, *odd, *names])))
    nowhere = page("/fr/1", "fr", ["/fr/2"])
    links = tuple(Link(url("/fr/2"), LinkKind.PAGE, position=place) for place in (-5, 10**9))
    follow(scorer, visit(Page(nowhere.url, Language("fr"), links=links, tags=("a",))))


async def test_a_small_site_is_walked_to_its_end_without_a_fault(make: Make):
    pages = site(
        page("/en/", "en", "/en/a /en/b /gone /old"),
        page("/fr/", "fr", "/fr/a /fr/b /gone /old"),
        page("/en/a", "en", "/fr/a"),
        page("/fr/a", "fr", "/en/a"),
        page("/en/b", "und"),
        page("/fr/b", "en"),
    )
    walk = Walk(make("en fr"), pages, ["/en/", "/fr/"], redirects=[moved("/old", "/en/b"), moved("/r", "/r")])
    asked = await walk.run()
    assert set(asked[:2]) == {"/en/", "/fr/"}
    assert {"/en/a", "/fr/a"} <= set(asked)
    assert len(asked) == len(set(asked))


async def test_the_same_site_is_walked_the_same_way_again(make: Make):
    names = [f"/{code}/{number}" for number in range(30) for code in ("en", "fr")]
    pages = site(*(page(f"/{code}/", code, names) for code in ("en", "fr")), *(page(name, name[1:3]) for name in names))
    ways = [await Walk(make("en fr"), pages, ["/en/", "/fr/"]).run() for _ in range(2)]
    assert ways[0] == ways[1]
