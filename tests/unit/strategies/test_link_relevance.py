"""The chance that a link leads to the topic."""

from collections.abc import Sequence

import msgspec
import numpy as np
from table_site import page, url
from unit.strategies.test_topical_adaptive import EN, Addresses

from bitrawl.model import Language, Link, LinkKind, Page, Relevance
from bitrawl.strategies.adaptive.link_relevance import BEST, SHIFT_AFTER, LinkRelevance, TopicColumn
from bitrawl.url import Url


def judged(path: str, score: float) -> Page:
    return msgspec.structs.replace(page(path, "en"), relevance=Relevance(score, relevant=False))


def test_what_was_seen_first_is_not_forgotten_when_the_scale_is_shifted():
    links = LinkRelevance(Addresses(), EN)
    made = {"first": judged("/first/", 0.2), "last": judged("/last/", 0.1)}

    def visit(seen: Page, target: str) -> None:
        links.arrived(seen.url, seen)
        links.add([Link(url(target), LinkKind.PAGE, seen.url)], seen)

    visit(made["first"], "/a/page")
    for number in range(SHIFT_AFTER):
        visit(judged(f"/{number}/", 0.05), f"/{number}/page")
    visit(made["last"], "/b/page")
    rows = np.array([links.row(url("/a/page")), links.row(url("/b/page"))])
    first, last = links.chance(rows).tolist()
    assert first > last


class Hives(Addresses):
    """A list with one term."""

    def weigh(self, texts: Sequence[str], language: Language) -> list[float]:
        return [50.0 * text.count("hive") for text in texts]


def test_terms_count_until_the_judge_has_recognised_enough_pages():
    links = LinkRelevance(Addresses(), EN, terms=Hives())
    home = judged("/", 0.05)
    links.arrived(home.url, home)
    named = [Link(url(f"/{name}"), LinkKind.PAGE, home.url, anchor=name) for name in ("hive", "other")]
    rows = links.add(named, home)
    hive, other = links.chance(rows).tolist()
    assert hive > 1.5 * other
    for number in range(10 * BEST):
        links.arrived(url(f"/{number}/"), judged(f"/{number}/", 0.95))
    hive, other = links.chance(rows).tolist()
    assert abs(hive - other) < 0.01


def test_what_is_left_does_not_seem_relevant_when_the_topic_is_exhausted():
    links = LinkRelevance(Addresses(), EN)
    for number in range(BEST):
        links.arrived(url(f"/about/{number}"), judged(f"/about/{number}", 0.95))
    rows = links.add([Link(url("/rest/page"), LinkKind.PAGE)], None)
    for number in range(30 * BEST):
        target = url(f"/rest/{number}")
        links.add([Link(target, LinkKind.PAGE)], None)
        links.arrived(target, judged(f"/rest/{number}", 0.05))
    assert links.chance(rows)[0] < 0.1


def test_a_link_of_a_menu_does_not_outweigh_all_else_by_being_on_every_page():
    links = LinkRelevance(Addresses(), EN)
    for number in range(300):
        seen = judged(f"/{number}", 0.95)
        links.arrived(seen.url, seen)
        rows = links.add([Link(url("/menu"), LinkKind.PAGE, seen.url)], seen)
    assert links.features(rows)[0, TopicColumn.SOURCES] < 6


def test_a_page_behind_a_redirect_tells_what_both_addresses_are_worth():
    links = LinkRelevance(Addresses(), EN)
    home = judged("/", 0.5)
    links.arrived(home.url, home)
    old, more = links.add([Link(url(f"/old/{n}"), LinkKind.PAGE, home.url, anchor="a hive") for n in range(2)], home)
    (new,) = links.add([Link(url("/new/0"), LinkKind.REDIRECT, url("/old/0"))], None)
    links.move(int(old), int(new))
    before = float(links.chance(np.array([more]))[0])
    links.arrived(url("/new/0"), judged("/new/0", 0.01))
    assert links.chance(np.array([more]))[0] < before


def test_words_are_learned_only_where_the_judge_recognises_pages():
    def learned(score: float) -> float:
        links = LinkRelevance(Addresses(), EN)
        home = judged("/", score)
        links.arrived(home.url, home)
        rows = links.add([Link(url(f"/{n}"), LinkKind.PAGE, home.url, anchor="lesson") for n in range(9)], home)
        for number in range(8):
            links.arrived(url(f"/{number}"), judged(f"/{number}", score))
        return float(links._word_weights.odds(rows[-1:])[0])

    assert learned(0.01) == 0
    assert learned(0.9) > 0.1


class Revising(Addresses):
    """Says once that it would judge a page otherwise now."""

    def __init__(self) -> None:
        self.changes: list[tuple[Url, float]] = []

    def revised(self) -> list[tuple[Url, float]]:
        changes, self.changes = self.changes, []
        return changes


def test_a_page_that_is_judged_otherwise_later_changes_what_its_links_and_its_place_are_worth():
    model = Revising()
    links = LinkRelevance(model, EN)
    links.add([Link(url("/a/"), LinkKind.PAGE), Link(url("/a/other"), LinkKind.PAGE)], None)
    seen = judged("/a/", 0.02)
    links.arrived(seen.url, seen)
    rows = links.add([Link(url("/b/page"), LinkKind.PAGE, seen.url), Link(url("/a/other"), LinkKind.PAGE)], None)
    links.add([Link(url("/b/page"), LinkKind.PAGE, seen.url)], seen)
    before = links.chance(rows)
    model.changes.append((seen.url, 0.95))
    links.arrived(url("/elsewhere"), None)
    assert (links.chance(rows) > before + 0.05).all()


def test_a_host_that_brought_nothing_leaves_less_hope_for_its_other_places():
    links = LinkRelevance(Addresses(), EN)
    rows = links.add([Link(url(f"/{n}/"), LinkKind.PAGE) for n in range(4)], None)
    none = np.zeros(1, np.float32)
    assert links.hope(rows[3:], none)[0] == 1
    links.arrived(url("/0/"), judged("/0/", 0.01))
    links.arrived(url("/1/"), judged("/1/", 0.01))
    assert links.hope(rows[3:], none)[0] < 0.4
    links.arrived(url("/2/"), judged("/2/", 0.99))
    assert links.hope(rows[3:], none)[0] > 0.45


def test_pages_in_another_language_leave_less_hope_until_the_host_shows_one_that_was_asked_for():
    links = LinkRelevance(Addresses(), EN)
    rows = links.add([Link(url(f"/{n}/"), LinkKind.PAGE) for n in range(2)], None)
    four = np.full(1, 4, np.float32)
    assert links.hope(rows[1:], four)[0] < 0.3
    links.arrived(url("/0/"), judged("/0/", 0.99))
    assert links.hope(rows[1:], four)[0] > 0.9


def test_a_page_that_was_judged_and_dropped_brings_nothing_however_it_is_judged_later():
    model = Revising()
    links = LinkRelevance(model, EN)
    rows = links.add([Link(url("/a/dropped"), LinkKind.PAGE), Link(url("/a/other"), LinkKind.PAGE)], None)
    links.arrived(url("/a/dropped"), None)
    before = links.chance(rows)
    model.changes.append((url("/a/dropped"), 0.95))
    links.arrived(url("/elsewhere"), None)
    assert (links.chance(rows) <= before).all()
