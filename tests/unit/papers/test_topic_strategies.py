"""The strategies of the two papers on focused crawls, by hand on examples."""

from math import log, log1p

import msgspec
import pytest

from bitrawl.model import (
    UNDETERMINED,
    Advice,
    Language,
    Lease,
    Link,
    LinkKind,
    Page,
    Relevance,
    SiteKnowledge,
    Skip,
    Visit,
)
from bitrawl.papers.perplexity import LEAST, Perplexity, score_of
from bitrawl.papers.terms import HIGHEST, TRANSLATION, Terms
from bitrawl.protocols import StrategyInputs, Topic
from bitrawl.reasons import Reason, Stage
from bitrawl.topic.judge import ENDLESS
from bitrawl.topic.term_list import Term, TermList
from bitrawl.topic.term_relevance import TermRelevance
from bitrawl.url import Url

SITE = SiteKnowledge("site.test")
EN, FR, DE = Language("en"), Language("fr"), Language("de")
LIST = TermList(
    (
        Term("bee", 50.0, language=EN),
        Term("honey bee", 80.0, language=EN),
        Term("football", -30.0, language=EN),
        Term("abeille", 60.0, language=FR),
    )
)


def url(path: str) -> Url:
    return Url.parse(f"http://site.test{path}")


def link(path: str, anchor: str = "", context: str = "", **more: object) -> Link:
    known = {"kind": LinkKind.PAGE, "source": url("/"), "depth": 2} | more
    return Link(url(path), anchor=anchor, context=context, **known)  # type: ignore[arg-type]


def page(language: Language = EN, links: int = 4, **relevance: float) -> Page:
    found = Relevance(0.5, relevant=bool(relevance.pop("relevant", True)), **relevance) if relevance else None
    return Page(url("/"), language, links=tuple(link(f"/{n}") for n in range(links)), relevance=found)


# Papavassiliou, section 3.6: s = c + p/L + the sum of n·w over the link's surroundings


def terms(*languages: Language) -> Terms:
    spoken = languages or (EN,)
    return Terms(StrategyInputs(spoken, Topic(TermRelevance(LIST, spoken))))


def score(total: float) -> float:
    """The formula's sum, between 0 and 1; a sum of 0 is a tenth."""
    size = log1p(abs(total)) / log1p(HIGHEST)
    return 0.1 + 0.9 * size if total >= 0 else 0.1 * (1 - size)


def test_a_link_has_its_share_of_the_pages_weight_and_the_weight_of_the_terms_around_it():
    links = [
        link("/bees", "Bees", "where a bee lives"),  # 50 + 50
        link("/honey", "The honey bee"),  # the longest term counts, or both: as weigh says
        link("/plain", "About us"),
        link("/match", "Football", "football results"),  # -30 - 30
    ]
    found = terms().score(links, page(links=4, weight=200.0), SITE)  # p/L = 50
    around = TermRelevance(LIST, [EN]).weigh(["The honey bee"], EN)[0]
    assert around >= 80
    assert found == pytest.approx([score(50 + 100), score(50 + around), score(50), score(50 - 60)])


def test_a_page_without_terms_lends_its_links_nothing_but_they_are_followed():
    none, negative = terms().score([link("/a", "x"), link("/b", "football")], page(weight=0.0), SITE)
    assert none == 0.1 > negative > 0
    assert terms().score([link("/a", "bee")], page(), SITE) == pytest.approx([score(50)])  # no verdict at all
    assert terms().score([link("/a", "bee")], page(links=0, weight=40.0), SITE) == pytest.approx([score(90)])


@pytest.mark.parametrize(
    ("hreflang", "adds"),
    [("fr", True), ("fr-CA", True), ("FR", True), ("en", False), ("de", False), ("", False), ("x-default", False)]
    + [(wrong, False) for wrong in ("<>", "-", "français", "xx-yy-zz", "e" * 300, "\x00")],
)
def test_a_link_that_names_the_other_language_comes_first_in_a_bilingual_job(hreflang: str, *, adds: bool):
    (found,) = terms(EN, FR).score([link("/x", hreflang=hreflang)], page(EN, weight=8.0), SITE)
    assert found == pytest.approx(score(2 + TRANSLATION * adds))


def test_with_one_language_and_on_a_page_in_a_third_no_link_is_a_translation():
    named = [link("/x", hreflang="fr")]
    assert terms(EN).score(named, page(EN, weight=8.0), SITE) == pytest.approx([score(2)])
    assert terms(EN, FR).score(named, page(DE, weight=8.0), SITE) == pytest.approx([score(2)])
    assert terms(EN, FR).score(named, None, SITE) == pytest.approx([score(0)])


def test_the_text_around_a_link_is_read_in_the_language_of_its_page():
    scorer = terms(EN, FR)
    english, french = (scorer.score([link("/x", "abeille")], page(one, weight=0.0), SITE)[0] for one in (EN, FR))
    assert (english, french) == pytest.approx((score(0), score(60)))


def test_seeds_score_one_and_every_sum_stays_between_0_and_1():
    seed = Link(url("/"), LinkKind.SEED)
    heavy = [link("/x", "bee " * 5000), link("/y", "football " * 5000)]
    first, most, least = terms().score([seed, *heavy], page(weight=1e12), SITE)
    assert 0 < least < 1
    assert first == 1.0 > most
    assert 0 < terms().score([link("/z")], page(weight=-1e12), SITE)[0] < 0.5


# Remus and Biemann, section 3


def links_of(relevance: Relevance | None, count: int = 2) -> list[float]:
    found_on = Page(url("/"), EN, relevance=relevance)
    return Perplexity(StrategyInputs([])).score([link(f"/{n}") for n in range(count)], found_on, SITE)


def judged(perplexity: float, *, relevant: bool = True) -> Relevance:
    return Relevance(0.5, relevant=relevant, perplexity=perplexity)


def test_all_links_of_a_page_have_its_priority_and_the_lowest_perplexity_comes_first():
    found = [links_of(judged(perplexity)) for perplexity in (5.0, 50.0, 500.0, 5e3, 1e7)]
    assert all(one == other for one, other in found)
    assert [one for one, _ in found] == sorted((one for one, _ in found), reverse=True)
    assert all(0 < one < 1 for one, _ in found)


def test_links_of_a_page_beyond_the_maximum_are_dropped():
    assert links_of(judged(9e4, relevant=False)) == [0.0, 0.0]


@pytest.mark.parametrize("perplexity", [0.0, ENDLESS], ids=["in a language without a model", "without text"])
def test_a_page_that_perplexity_cannot_judge_passes_on_a_share_of_its_own_priority(perplexity: float):
    scorer, home = Perplexity(StrategyInputs([EN])), link("/home")
    splash = Page(home.url, UNDETERMINED, relevance=judged(perplexity, relevant=False))
    scorer.learn(Visit(Lease(home, 0.9), splash), SITE)
    one, other, named = scorer.score([link("/a"), link("/b"), link("/en/")], splash, SITE)
    assert one == other
    assert score_of(1e7) < one < named < 0.9


def test_what_a_page_in_another_language_leads_to_comes_after_any_text_unless_it_names_a_language_asked_for():
    scorer, home = Perplexity(StrategyInputs([EN])), link("/home")
    dutch = Page(home.url, Language("nl"), relevance=judged(0.0, relevant=False))
    scorer.learn(Visit(Lease(home, 1.0), dutch), SITE)
    by_address, by_declaration = link("/en/"), msgspec.structs.replace(link("/x"), hreflang="en-GB")
    found = scorer.score([link("/a"), by_address, by_declaration], dutch, SITE)
    assert LEAST < found[0] <= score_of(1e7) < found[1] == found[2]


def test_links_of_a_seed_are_never_dropped_for_a_hub_need_not_be_about_the_topic():
    beyond = Page(url("/"), EN, relevance=judged(9e4, relevant=False))
    assert Perplexity(StrategyInputs([])).score([link("/a", depth=1), link("/b", depth=2)], beyond, SITE) == [
        score_of(9e4),
        0.0,
    ]


def test_links_of_a_page_without_text_and_links_on_no_page_come_last():
    assert links_of(judged(ENDLESS, relevant=False)) == links_of(None) == [LEAST, LEAST]
    assert Perplexity(StrategyInputs([])).score([link("/x")], None, SITE) == [LEAST]
    assert score_of(1e9) > LEAST


def test_a_page_that_another_model_judged_breaks_nothing():
    assert links_of(Relevance(0.9, relevant=True)) == [LEAST, LEAST]


def test_a_redirect_keeps_the_priority_of_its_link():
    scorer = Perplexity(StrategyInputs([]))
    old, target = link("/old"), link("/new", kind=LinkKind.REDIRECT)
    moved = Skip(old.url, Stage.FETCH, Reason.REDIRECT, str(target.url))
    scorer.learn(Visit(Lease(old, 0.73), moved), SITE)
    (found,) = scorer.score([Link(target.url, LinkKind.REDIRECT, old.url)], None, SITE)
    assert found == 0.73
    assert scorer.advise(SITE) == Advice()
    assert scorer.score([Link(target.url, LinkKind.REDIRECT, old.url)], None, SITE) == [LEAST]


def test_seeds_of_a_crawl_by_perplexity_score_one_wherever_they_are_found():
    beyond = Page(url("/"), EN, relevance=judged(1e6, relevant=False))
    assert Perplexity(StrategyInputs([])).score([Link(url("/s"), LinkKind.SEED), link("/x")], beyond, SITE) == [
        1.0,
        0.0,
    ]


def test_a_boundary_has_the_score_of_a_link_at_it():
    assert score_of(500.0) == pytest.approx(0.999 * (1 - log(500) / log(1e10)))
    assert 1 > score_of(1.0) > score_of(500.0) > score_of(5000.0) > score_of(1e12) == LEAST
