"""The chance that a link leads to the topic, where all pages score low."""

import msgspec
import numpy as np
from table_site import page, url
from unit.test_topical_adaptive import EN, Addresses

from bitrawl.model import Link, LinkKind, Page, Relevance
from bitrawl.strategies.adaptive.link_relevance import SHIFT_AFTER, LinkRelevance


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
