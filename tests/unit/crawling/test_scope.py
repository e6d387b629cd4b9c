from collections.abc import Sequence
from random import Random

import msgspec
import pytest

from bitrawl import config
from bitrawl.crawling import Reach, Scope, ScopeRules, Sites
from bitrawl.crawling.scope import trap_shape
from bitrawl.crawling.traps import COPIES, TRIES, WINDOW, Recent, Traps, kind_of
from bitrawl.errors import ConfigError
from bitrawl.job import check
from bitrawl.model import Language, Link, LinkKind, Page, Paragraph
from bitrawl.reasons import Reason
from bitrawl.url import Url

SEED = Url.parse("https://www.example.org/start?x=1")


EN_FR = [Language("en"), Language("fr")]


def refusal(scope: Scope, raw: str, **known: object) -> Reason | None:
    skip = scope.refusal(Link(Url.parse(raw), known.pop("kind", LinkKind.PAGE), **known))  # type: ignore[arg-type]
    return skip.reason if skip else None


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("https://www.example.org/a", None),
        ("http://example.org/a", None),
        ("http://fr.example.org/a", None),
        ("http://french.example.org/a", None),
        ("http://de.example.org/a", Reason.OFF_HOST),
        ("https://shop.example.org/a", Reason.OFF_HOST),
        ("https://fr.shop.example.org/a", Reason.OFF_HOST),
        ("https://example.org:8443/a", Reason.OFF_HOST),
        ("https://example.net/", Reason.OFF_SITE),
        ("https://www.example.org/a/b/a/b/a/b/", Reason.TRAP),
        ("https://www.example.org/photo.jpg", Reason.CONTENT_TYPE),
        ("https://www.example.org/photo.jpg.html", None),
    ],
)
def test_by_default_a_crawl_stays_on_the_hosts_of_its_seeds_and_their_language_versions(raw, reason):
    assert refusal(Scope(Sites(), [SEED], languages=EN_FR), raw) == reason


DECLARED = Link(Url.parse("https://voyage.example.org/"), LinkKind.ALTERNATE, SEED, hreflang="fr-CA")


@pytest.mark.parametrize(
    ("changes", "hosts"),
    [
        ({}, ["voyage.example.org"]),
        ({"hreflang": ""}, ["voyage.example.org"]),  # a switcher, and no word for the language
        ({"hreflang": "x-default"}, ["voyage.example.org"]),
        ({"hreflang": "de"}, []),
        ({"kind": LinkKind.PAGE}, []),
        ({"kind": LinkKind.REDIRECT, "hreflang": ""}, ["voyage.example.org"]),  # the seed has moved
        ({"kind": LinkKind.REDIRECT, "hreflang": "", "source": Url.parse("https://www.example.org/go")}, []),
        ({"kind": LinkKind.REDIRECT, "source": Url.parse("https://www.example.org/fr")}, ["voyage.example.org"]),
        ({"url": Url.parse("https://www.example.org/fr")}, []),  # belongs to the site already
        ({"url": Url.parse("https://example.net/fr")}, []),
    ],
)
def test_a_host_belongs_to_the_site_once_a_page_declares_a_translation_there_or_a_seed_moved_there(changes, hosts):
    scope = Scope(Sites(), [SEED], languages=EN_FR)
    assert refusal(scope, "https://voyage.example.org/a") is Reason.OFF_HOST
    assert scope.new_hosts([msgspec.structs.replace(DECLARED, **changes)]) == hosts
    assert refusal(scope, "https://voyage.example.org/a") is (None if hosts else Reason.OFF_HOST)
    assert scope.new_hosts([DECLARED, DECLARED]) == ([] if hosts else ["voyage.example.org"])


def test_a_seed_that_moves_twice_is_followed_to_its_last_host():
    scope = Scope(Sites(), [SEED], languages=EN_FR)
    first, last = Url.parse("https://old.example.org/"), Url.parse("https://new.example.org/")
    moves = [Link(first, LinkKind.REDIRECT, SEED), Link(last, LinkKind.REDIRECT, first)]
    assert scope.new_hosts(moves) == ["old.example.org", "new.example.org"]


@pytest.mark.parametrize(("reach", "reason"), [(Reach.DOMAIN, Reason.OFF_SITE), (Reach.WEB, None)])
def test_a_crawl_can_follow_links_to_the_whole_domain_or_to_the_whole_web(reach, reason):
    scope = Scope(Sites(), [SEED], ScopeRules(reach=reach))
    assert refusal(scope, "https://shop.example.org/a") is None
    assert refusal(scope, "https://example.net/") is reason


def test_patterns_include_and_exclude():
    scope = Scope(Sites(), [SEED], ScopeRules(include=["/docs/"], exclude=[r"\?print=1"]))
    assert refusal(scope, "https://example.org/docs/a") is None
    assert refusal(scope, "https://example.org/docs/a?print=1") is Reason.EXCLUDED
    assert refusal(scope, "https://example.org/blog/a") is Reason.NOT_INCLUDED
    assert refusal(scope, SEED) is None


@pytest.mark.parametrize(
    ("raw", "kind", "reason"),
    [
        ("https://www.example.org/a", LinkKind.PAGE, None),
        ("http://example.org/a", LinkKind.REDIRECT, None),
        ("https://fr.example.org/a", LinkKind.ALTERNATE, Reason.OFF_HOST),
        ("https://maps.example.org/sitemap.xml", LinkKind.INDEX, Reason.OFF_HOST),
        ("https://example.org:8443/a", LinkKind.PAGE, Reason.OFF_HOST),
        ("https://example.net/", LinkKind.PAGE, Reason.OFF_SITE),
    ],
)
def test_a_crawl_can_stay_on_the_hosts_of_its_seeds(raw, kind, reason):
    assert refusal(Scope(Sites(), [SEED], ScopeRules(same_host=True)), raw, kind=kind) == reason


@pytest.mark.parametrize("under", ["/docs", "/docs/", "/d%6Fcs/"])
@pytest.mark.parametrize(
    ("path", "kind", "reason"),
    [
        ("/docs", LinkKind.PAGE, None),
        ("/docs/", LinkKind.PAGE, None),
        ("/docs?page=2", LinkKind.PAGE, None),
        ("/docs/a/b", LinkKind.PAGE, None),
        ("/docs2/a", LinkKind.PAGE, Reason.NOT_UNDER),
        ("/", LinkKind.PAGE, Reason.NOT_UNDER),
        ("/fr/docs/", LinkKind.ALTERNATE, Reason.NOT_UNDER),
        ("/caf\u00e9/x", LinkKind.PAGE, None),
        ("/sitemap.xml", LinkKind.INDEX, None),
        ("/start?x=1", LinkKind.PAGE, None),  # the seed
    ],
)
def test_a_crawl_can_stay_under_some_paths(under, path, kind, reason):
    scope = Scope(Sites(), [SEED], ScopeRules(under=[under, "/caf\u00e9"]))
    assert refusal(scope, f"https://www.example.org{path}", kind=kind) == reason


@pytest.mark.parametrize("raw", ["docs", "https://a.org/docs/", "", "/docs?x", "//a.org/docs"])
def test_what_is_no_path_is_refused_before_the_job_begins(raw):
    job = config.resolve({"langs": ["en"], "seeds": [SEED], "scope": {"under": [raw]}})
    with pytest.raises(ConfigError, match="write it from the root of the host, as in --under /docs/"):
        check(job)


def test_the_whole_host_may_be_named_as_a_path():
    assert refusal(Scope(Sites(), [SEED], ScopeRules(under=["/"])), "https://www.example.org/any") is None


def test_hosts_that_are_declared_one_site_are_one_site():
    sites = Sites([["example.org", "https://exemple.fr/", "other.net"]])
    scope = Scope(sites, [SEED])
    assert refusal(scope, "https://www.exemple.fr/x") is None
    assert {sites.of(host) for host in ("example.org", "www.exemple.fr", "other.net")} == {"example.org"}
    assert sites.of("elsewhere.org") == "elsewhere.org"


def test_depth_and_nofollow_are_refused_but_what_the_user_named_is_not():
    scope = Scope(Sites(), [SEED], ScopeRules(depth=2))
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


def text_page(path: str, signature: int, *targets: str) -> Page:
    links = tuple(Link(Url.parse(f"http://a.org{target}"), LinkKind.PAGE) for target in targets)
    return Page(Url.parse(f"http://a.org{path}"), links=links, signature=signature)


def other_text(number: int) -> int:
    return Random(number).getrandbits(64)


def test_a_calendar_that_brings_nothing_new_comes_last_and_is_closed_and_its_neighbours_stay_open():
    traps, before = Traps(), None
    for day in range(WINDOW * 2):
        traps.visited(found := text_page(f"/calendar/{day}", 12345 << (day % 3)), before)
        traps.visited(text_page(f"/article/{day}", other_text(day)), None)
        before = found.url
    assert traps.doubtful(Url.parse("http://a.org/calendar/999"))
    assert not traps.closed(Url.parse("http://a.org/calendar/999"), before)  # without a try
    for day in range(TRIES):
        traps.visited(text_page(f"/calendar/{1000 + day}", 12345), before, last=True)
    assert traps.closed(Url.parse("http://a.org/calendar/999"), before)
    assert not traps.doubtful(Url.parse("http://a.org/article/999"))
    assert not traps.doubtful(Url.parse("http://a.org/never-seen"))


SAME = {  # one template in scripts with and without spaces, with the words that only one page has
    "en": ("The lamp of the old lighthouse is lit every evening by its keeper", " ", "abcdefghijklmnop"),
    "ar": ("يضيء حارس المنارة القديمة مصباحها كل مساء قبل غروب الشمس", " ", "ابتثجحخدذرزسشصضط"),
    "ko": ("등대지기는 매일 저녁 해가 지기 전에 오래된 등대의 등불을 켠다", " ", "가나다라마바사아자차카타파하거너"),
    "zh": ("灯塔管理员每天傍晚在日落之前点亮旧灯塔的灯", "", "天地玄黄宇宙洪荒日月盈昃辰宿列张"),
    "th": ("ผู้ดูแลประภาคารจุดตะเกียงทุกเย็นก่อนพระอาทิตย์ตก", "", "กขคงจฉชซญดตถทธนบ"),
}


def own_words(code: str, number: int, count: int) -> str:
    _, space, letters = SAME[code]
    chance = Random(number)
    return space.join("".join(chance.choices(letters, k=4)) for _ in range(count))


def visit_alike(texts: Sequence[str], template: str) -> Traps:
    """A chain of pages whose signatures are near, as a SimHash has them of one template."""
    traps, before = Traps(), None
    for number, text in enumerate(texts):
        found = msgspec.structs.replace(
            text_page(f"/page/{number}", 12345 << (number % 2)),
            paragraphs=(Paragraph(template), Paragraph(text)),
            digest=f"{number}",
        )
        traps.visited(found, before)
        before = found.url
    return traps


@pytest.mark.parametrize("code", SAME)
def test_a_long_row_of_pages_alike_is_no_trap_if_each_says_something_of_its_own(code):
    texts = [own_words(code, number, 12) for number in range(WINDOW * 10)]
    traps = visit_alike(texts, SAME[code][0])
    assert not traps.doubtful(Url.parse("http://a.org/page/999"))
    assert not traps.repeats(Url.parse(f"http://a.org/page/{len(texts) - 1}"))


@pytest.mark.parametrize("code", SAME)
def test_a_row_of_pages_alike_is_doubted_if_they_differ_in_dates_or_take_turns(code):
    days, space = [own_words(code, number, 1) for number in range(7)], SAME[code][1]
    dates = [
        f"{days[number % 7]} {number}{space}{days[number // 30 % 7]} {1900 + number}" for number in range(WINDOW * 3)
    ]
    assert visit_alike(dates, SAME[code][0]).doubtful(Url.parse("http://a.org/page/999"))
    turns = [own_words(code, number % 10, 12) for number in range(WINDOW * 3)]
    assert visit_alike(turns, SAME[code][0]).doubtful(Url.parse("http://a.org/page/999"))


def test_a_row_of_pages_alike_is_doubted_if_only_a_code_in_them_is_new():
    texts = [f"Your session is {Random(number).getrandbits(128):032x}" for number in range(WINDOW * 2)]
    assert visit_alike(texts, SAME["en"][0]).doubtful(Url.parse("http://a.org/page/999"))


def test_a_copy_of_an_unlike_page_says_nothing_new_although_its_words_were_not_noted():
    """Forty pages under ever new session ids: the first of each is unlike all others, the next is the same text."""
    traps, before = Traps(), None
    for visit in range(80):
        number = visit % 40
        found = msgspec.structs.replace(
            text_page(f"/list?session={visit}", other_text(number)),
            paragraphs=(Paragraph(own_words("en", number, 30)),),
        )
        traps.visited(found, before)
        before = found.url
    assert traps.doubtful(Url.parse("http://a.org/list?session=999"))


def test_pages_of_one_text_without_new_links_are_no_trap():
    traps, home = Traps(), text_page("/", 99)
    traps.visited(home, None)
    for number in range(WINDOW * 2):
        traps.visited(text_page(f"/table/{number}", 7, "/", "/tables"), home.url, leads_on=False)
        traps.visited(text_page(f"/copy/{number}", 8, f"/all?session={number}"), home.url)
    assert not traps.doubtful(Url.parse("http://a.org/table/999"))
    assert traps.doubtful(Url.parse("http://a.org/copy/999"))


def test_a_kind_that_is_doubted_is_trusted_again_when_it_has_led_to_something_new():
    traps, home = Traps(), text_page("/", 99)
    traps.visited(home, None)
    hubs = [text_page(f"/hub/{number}", 7, f"/behind/{number}") for number in range(WINDOW)]
    for hub in hubs:
        traps.visited(hub, home.url)
    assert traps.doubtful(hubs[0].url)
    for number, hub in enumerate(hubs):
        traps.visited(text_page(f"/behind/{number}", other_text(number)), hub.url)
    assert not traps.doubtful(hubs[0].url)


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


def test_a_text_whose_links_lead_to_itself_wears_out():
    traps, before = Traps(), None
    names = [f"/{'x' * number}" for number in range(1, COPIES + 2)]  # addresses of as many kinds
    for name in names:
        assert before is None or not traps.repeats(before)
        traps.visited(found := text_page(name, 7, f"{name}x"), before)
        before = found.url
    assert traps.repeats(before)
    for number in range(TRIES):
        assert not traps.closed(Url.parse("http://a.org/y"), before)
        traps.visited(text_page(f"/y{'y' * number}", 7, f"/z{'z' * number}"), before, last=True)
    assert traps.closed(Url.parse("http://a.org/y"), before)


def test_a_text_of_many_pages_does_not_wear_out_as_long_as_its_links_lead_to_other_texts():
    traps, home = Traps(), text_page("/", 99)
    traps.visited(home, None)
    for number in range(COPIES * 10):
        traps.visited(hub := text_page(f"/{'x' * (number + 1)}", 7, f"/behind/{number}"), home.url)
        assert not traps.repeats(hub.url)
        traps.visited(text_page(f"/behind/{number}", other_text(number)), hub.url)


def test_a_page_that_is_the_same_as_many_others_repeats_them_before_its_links_are_visited():
    traps, home = Traps(), text_page("/", 99)
    traps.visited(home, None)
    for number in range(COPIES + 1):
        assert not traps.repeats(Url.parse(f"http://a.org/{'x' * number}/list"))
        traps.visited(text_page(f"/{'x' * (number + 1)}/list", 7, f"/{'x' * (number + 1)}/next"), home.url)
    assert traps.repeats(Url.parse(f"http://a.org/{'x' * (COPIES + 1)}/list"))
    assert not traps.closed(Url.parse("http://a.org/y"), Url.parse(f"http://a.org/{'x' * (COPIES + 1)}/list"))


def test_something_new_behind_a_text_that_was_worn_out_opens_it_again():
    traps, before = Traps(), None
    for number in range(COPIES + 1):
        traps.visited(found := text_page(f"/{'x' * (number + 1)}", 7, f"/behind/{number}"), before)
        before = found.url
    assert traps.repeats(before)
    traps.redirected(Url.parse("http://a.org/moved"), before)
    traps.visited(text_page("/new", 12345), Url.parse("http://a.org/moved"))
    assert not traps.repeats(before)


def test_of_many_entries_the_latest_are_remembered_and_those_that_are_mentioned_again():
    recent: Recent[int, int] = Recent(100)
    for number in range(1000):
        recent.note(number, number)
        recent.note(-1, number)
        assert len(recent) <= 100
    assert all(recent.get(number) == number for number in range(960, 1000))
    assert recent.get(-1) == 999
    assert -1 in recent
    assert 0 not in recent
