"""The strategy of García-Romero et al., section 4, with models that say what the test wants."""

from collections.abc import Sequence

import numpy as np
import pytest
from table_site import Walk, moved, page, site, url

from bitrawl.model import Language, Link, LinkKind, SiteKnowledge, Sitemap
from bitrawl.papers.url_models import UrlModels
from bitrawl.url import Url
from bitrawl.urls import RuleUrlLanguageModel, RuleUrlPairModel

EN, FR, DE = Language("en"), Language("fr"), Language("de")
SITE = SiteKnowledge("site.test")


class ByPath:
    """/fr/… is French with a probability of 0.8 and English with 0.1; what has no such mark nobody knows."""

    languages = (EN, FR, DE, Language("und"))

    def distribution(self, urls: Sequence[Url]) -> np.ndarray:
        rows = np.full((len(urls), 4), 0.0, np.float32)
        for row, one in zip(rows, urls, strict=True):
            mark = one.path.split("/")[1]
            row[:] = [0.8 if mark == code else 0.1 if mark in ("en", "fr", "de") else 0.0 for code in self.languages]
            row[-1] = 1 - row[:-1].sum()
        return rows


class SameName:
    """Pages are parallel, with a probability of 0.9, when the last part of their paths is the same."""

    def __init__(self) -> None:
        self.asked: list[tuple[Url, Url]] = []

    def parallel(self, pairs: Sequence[tuple[Url, Url]]) -> np.ndarray:
        self.asked += pairs
        return np.array([0.9 if a.split("/")[-1] == b.split("/")[-1] else 0.2 for a, b in pairs], np.float32)


def models(*languages: Language) -> UrlModels:
    return UrlModels(languages, ByPath(), SameName())


def links(*paths: str) -> list[Link]:
    return [Link(url(path), LinkKind.PAGE) for path in paths]


@pytest.mark.parametrize(
    ("source", "language", "target", "priority"),
    [
        ("/en/a", "en", "/fr/a", 0.8 * 0.9),
        ("/en/a", "en", "/en/a", 0.1 * 0.9),
        ("/en/a", "en", "/fr/b", 0.8 * 0.2),
        ("/fr/a", "fr", "/en/a", 0.8 * 0.9),
        ("/a", "und", "/fr/a", 0.8 * 0.9),
        ("/a", "und", "/en/a", 0.8 * 0.9),
        ("/a", "it", "/en/a", 0.0),
        ("/en/a", "en-GB", "/fr/a", 0.8 * 0.9),
    ],
)
def test_a_link_is_worth_the_product_of_both_probabilities(source, language, target, priority):
    found = models(EN, FR).score(links(target), page(source, language), SITE)
    assert found == pytest.approx([priority])


def test_with_more_than_two_languages_the_best_of_the_others_counts():
    source = page("/en/a", "en")
    found = models(EN, FR, DE).score(links("/fr/a", "/de/a", "/en/a"), source, SITE)
    assert found == pytest.approx([0.72, 0.72, 0.09])


def test_with_one_language_only_the_language_counts():
    assert models(FR).score(links("/fr/a", "/en/a"), page("/fr/b", "fr"), SITE) == pytest.approx([0.8, 0.1])


def test_of_a_language_that_the_model_does_not_know_the_rest_is_believed():
    found = models(EN, Language("gsw")).score(links("/en/a", "/a"), page("/en/a", "en"), SITE)
    assert found == pytest.approx([0.0, 0.9], abs=1e-5)


def test_a_link_that_stands_on_a_page_many_times_is_asked_about_once():
    pairs = SameName()
    found = UrlModels((EN, FR), ByPath(), pairs).score(links(*["/fr/a"] * 50), page("/en/a", "en"), SITE)
    assert len(found) == 50
    assert len(pairs.asked) == 1


def test_the_pair_is_not_asked_about_where_it_could_raise_nothing():
    pairs = SameName()
    scorer = UrlModels((EN, FR), ByPath(), pairs)
    first = scorer.score(links("/en/a", "/fr/a"), page("/en/a", "en"), SITE)
    again = scorer.score(links("/en/a", "/fr/a"), page("/en/b", "en"), SITE)
    assert again == first  # 0.8 could have raised 0.72, but 0.8 × 0.2 does not; 0.1 could raise 0.09, and does not
    assert len(pairs.asked) == 4
    scorer.score(links("/fr/a"), page("/fr/b", "fr"), SITE)  # 0.1 cannot raise 0.72
    assert len(pairs.asked) == 4


def test_nothing_is_refused_that_a_kept_page_links_to():
    rules = UrlModels((EN, FR), RuleUrlLanguageModel((EN, FR)), RuleUrlPairModel())
    found = rules.score(links("/en/a", "/fr/a", "/x"), page("/en/a", "en"), SITE)
    assert found[1] > max(found[0], found[2])
    assert min(found) > 0


async def test_translations_are_visited_first_and_links_of_other_languages_never():
    pages = site(
        page("/en/a", "en", "/en/b /en/c /it/x /fr/b /fr/a"),
        page("/fr/a", "fr", "/fr/c"),
        page("/fr/b", "fr", "/en/b"),
        page("/en/b", "en"),
        page("/en/c", "en", "/fr/c"),
        page("/fr/c", "fr"),
        page("/it/x", "it", "/it/y"),
        page("/it/y", "it"),
    )
    # /en/b is raised by /fr/b from 0.02 to 0.72, and /fr/c by /en/c, which came first of those with 0.02.
    asked = await Walk(models(EN, FR), pages, ["/en/a"]).run()
    assert asked == ["/en/a", "/fr/a", "/fr/b", "/en/b", "/en/c", "/fr/c", "/it/x"]


async def test_a_priority_is_never_lowered():
    pages = site(
        page("/en/a", "en", "/fr/b /fr/a"),
        page("/fr/a", "fr", "/fr/a/b"),
        page("/fr/b", "fr"),
        page("/fr/a/b", "fr", "/fr/b"),
    )
    scorer = models(EN, FR)
    asked = await Walk(scorer, pages, ["/en/a"]).run()
    assert asked == ["/en/a", "/fr/a", "/fr/b", "/fr/a/b"]


async def test_a_page_that_moved_keeps_its_place():
    pages = site(page("/en/a", "en", "/fr/b /fr/a"), page("/x", "fr"), page("/fr/b", "fr"))
    walk = Walk(models(EN, FR), pages, ["/en/a"], redirects=[moved("/fr/a", "/x")])
    assert await walk.run() == ["/en/a", "/fr/a", "/x", "/fr/b"]


async def test_what_only_a_sitemap_lists_comes_last():
    listed = tuple(Link(url(path), LinkKind.SITEMAP) for path in ("/fr/z", "/it/z"))
    pages = site(page("/en/a", "en", "/en/b"), page("/en/b", "en"), page("/fr/z", "fr"), page("/it/z", "it"))
    walk = Walk(models(EN, FR), pages, ["/en/a"], sitemap=Sitemap(url("/sitemap.xml"), listed))
    assert await walk.run() == ["/sitemap.xml", "/en/a", "/en/b", "/fr/z", "/it/z"]
