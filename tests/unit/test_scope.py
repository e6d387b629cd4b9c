from random import Random

import pytest

from bitrawl.crawl.scope import Scope, Sites, trap_shape
from bitrawl.crawl.traps import COPIES, WINDOW, Traps, kind_of
from bitrawl.model import Link, LinkKind, Reason
from bitrawl.url import Url

SEED = Url.parse("https://www.example.org/start?x=1")


def refusal(scope: Scope, raw: str, **known: object) -> Reason | None:
    skip = scope.refusal(Link(Url.parse(raw), known.pop("kind", LinkKind.PAGE), **known))  # type: ignore[arg-type]
    return skip.reason if skip else None


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("https://www.example.org/a", None),
        ("http://fr.example.org/a", None),
        ("https://example.net/", Reason.OFF_SITE),
        ("https://www.example.org/a/b/a/b/a/b/", Reason.TRAP),
        ("https://www.example.org/photo.jpg", Reason.CONTENT_TYPE),
        ("https://www.example.org/photo.jpg.html", None),
    ],
)
def test_by_default_a_crawl_stays_on_the_sites_of_its_seeds(raw, reason):
    assert refusal(Scope(Sites(), [SEED]), raw) == reason


def test_patterns_include_and_exclude():
    scope = Scope(Sites(), [SEED], include=["/docs/"], exclude=[r"\?print=1"])
    assert refusal(scope, "https://example.org/docs/a") is None
    assert refusal(scope, "https://example.org/docs/a?print=1") is Reason.EXCLUDED
    assert refusal(scope, "https://example.org/blog/a") is Reason.NOT_INCLUDED
    assert refusal(scope, SEED) is None


def test_hosts_that_are_declared_one_site_are_one_site():
    sites = Sites([["example.org", "https://exemple.fr/", "other.net"]])
    scope = Scope(sites, [SEED])
    assert refusal(scope, "https://www.exemple.fr/x") is None
    assert {sites.of(host) for host in ("example.org", "www.exemple.fr", "other.net")} == {"example.org"}
    assert sites.of("elsewhere.org") == "elsewhere.org"


def test_depth_and_nofollow_are_refused_but_what_the_user_named_is_not():
    scope = Scope(Sites(), [SEED], depth=2)
    assert refusal(scope, "https://example.org/a", depth=2) is None
    assert refusal(scope, "https://example.org/a", depth=3) is Reason.DEPTH
    assert refusal(scope, "https://example.org/a", rel="noopener NoFollow") is Reason.NOFOLLOW
    assert refusal(scope, SEED, depth=9, rel="nofollow") is None


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("/a/a/a/x", True),
        ("/a/b/a/b/a/b", True),
        ("/x/a/b/c/a/b/c/a/b/c/y", True),
        ("/" + "/".join(map(str, range(25))), True),
        ("/?" + "&".join(f"p{n}=1" for n in range(20)), True),
        ("/2024/01/01/01/", False),
        ("/a/b/a/c/a/d/a", True),
        ("/a/a/", False),
        ("/en/news/news/en/", False),
        ("/a/ab/abc/abcd", False),
    ],
)
def test_addresses_that_grow_for_ever_are_told_by_their_shape(path, trap):
    assert bool(trap_shape(Url.parse("http://a.org" + path))) is trap


def test_a_kind_of_address_masks_numbers_and_values():
    assert kind_of(Url.parse("http://a.org/day/2031-04-03?m=4&y=2031")) == kind_of(
        Url.parse("http://a.org/day/1999-12-31?y=1999&m=12")
    )
    assert kind_of(Url.parse("http://a.org/day/1")) != kind_of(Url.parse("http://a.org/night/1"))
    assert kind_of(Url.parse("http://a.org/list?sort=a")) == kind_of(Url.parse("http://a.org/list?page=2&per=9"))


def test_a_calendar_that_brings_nothing_new_is_closed_and_its_neighbours_stay_open():
    traps = Traps()
    for day in range(WINDOW * 2):
        traps.visited(Url.parse(f"http://a.org/calendar/{day}"), signature=12345 << (day % 3))
        traps.visited(Url.parse(f"http://a.org/article/{day}"), signature=Random(day).getrandbits(64))
    assert traps.closed(Url.parse("http://a.org/calendar/999"))
    assert not traps.closed(Url.parse("http://a.org/article/999"))
    assert not traps.closed(Url.parse("http://a.org/never-seen"))


def test_a_page_that_adds_parameters_to_its_own_address_does_so_three_times():
    scope, path = Scope(Sites(), [SEED]), "https://www.example.org/shop"
    source = Url.parse(f"{path}?sort=a&filter=b&page=2")
    assert refusal(scope, f"{path}?sort=a&filter=b", source=Url.parse(f"{path}?sort=a")) is None
    assert refusal(scope, f"{path}?sort=a&filter=b&page=2&per=9", source=source) is Reason.TRAP
    assert refusal(scope, f"{path}?sort=a&filter=b&page=3", source=source) is None
    assert refusal(scope, "https://www.example.org/item?sort=a&filter=b&page=2&id=9", source=source) is None


def test_the_same_parameters_in_another_order_are_met_before():
    traps = Traps()
    assert not traps.reordered(Url.parse("http://a.org/?b=1&a=2"))
    assert not traps.reordered(Url.parse("http://a.org/?b=1&a=2"))
    assert traps.reordered(Url.parse("http://a.org/?a=2&b=1")) == "http://a.org/?b=1&a=2"


def test_a_text_at_many_addresses_of_a_host_wears_out():
    traps = Traps()
    for number in range(COPIES + 1):
        assert not traps.repeats(Url.parse("http://a.org/x"), 7)
        traps.visited(Url.parse(f"http://a.org/{number}/x"), 7)
    assert traps.repeats(Url.parse("http://a.org/x"), 7)
    assert not traps.repeats(Url.parse("http://b.org/x"), 7)
