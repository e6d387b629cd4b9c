import random
from itertools import pairwise

import msgspec
import pytest

from bitrawl.mining import duplicates as module
from bitrawl.mining.duplicates import SHARED, PageText
from bitrawl.model import Language, Link, LinkKind, Page, Paragraph
from bitrawl.url import Url

MORE = [f"Paragraph number {n} of the text." for n in range(40)]


def duplicates(pages, protected=()):
    return module.duplicates(filter(None, map(PageText.of, pages)), protected)


def url(name: str) -> Url:
    return Url.parse(f"https://a.org/{name}")


def page(name: str, texts: list[str], language: str = "en") -> Page:
    return Page(url(name), Language(language), paragraphs=tuple(Paragraph(text) for text in texts))


def found(*pages: Page, protected: tuple[str, ...] = ()) -> dict[str, str]:
    result = duplicates(pages, [url(name) for name in protected])
    return {repeated.rpartition("/")[2]: original.rpartition("/")[2] for repeated, original in result.items()}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (MORE[:10], MORE[:10], {"b": "a"}),
        (MORE[:10], MORE[:5], {"b": "a"}),
        (MORE[:5], MORE[:10], {"a": "b"}),
        (MORE[:10], [*MORE[:8], "Something else here.", "And one more thing."], {"b": "a"}),
        (MORE[:10], [*MORE[:7], "Something else here.", "And one more thing.", "A third of them."], {}),
        (MORE[:10], [text.upper() for text in MORE[:10]], {"b": "a"}),
        (MORE[:1], MORE[:1], {"b": "a"}),
        (MORE[:10], MORE[10:20], {}),
        ([], [], {}),
        (["Menu", "Home", *MORE[:3]], ["Menu", "Home", *MORE[5:8]], {}),
        (["阅读更多内容，请点击这里。"], ["阅读更多内容，请点击这里。"], {"b": "a"}),
        (["Yes"], ["Yes"], {"b": "a"}),
    ],
)
def test_the_shorter_of_two_pages_that_share_eighty_percent_is_dropped(a, b, expected):
    assert found(page("a", a), page("b", b)) == expected
    assert found(page("b", b), page("a", a)) == expected


def with_links(made: Page, count: int) -> Page:
    return msgspec.structs.replace(made, links=tuple(Link(url(str(n)), LinkKind.PAGE, made.url) for n in range(count)))


@pytest.mark.parametrize("address", ["x?print=1", "drucken/x", "x/version-imprimable"])
def test_a_page_to_print_gives_way_to_the_original_though_it_is_longer(address):
    original, rendering = with_links(page("x", MORE[:10]), 40), with_links(page(address, MORE[:11]), 3)
    assert list(duplicates([rendering, original]).items()) == [(rendering.url, original.url)]
    third = page("y", MORE[:10])
    assert duplicates([rendering, original, third]) == {rendering.url: original.url, third.url: original.url}


@pytest.mark.parametrize(
    ("address", "links", "count"),
    [("x?v=2", 30, 11), ("x?print=1", 3, 40), ("z", 3, 11)],
    ids=["menus", "book", "other"],
)
def test_a_longer_page_that_is_no_rendering_stays(address, links, count):
    original, other = with_links(page("x", MORE[:10]), 40), with_links(page(address, MORE[:count]), links)
    assert duplicates([original, other]) == {original.url: other.url}


def test_a_page_that_calls_another_the_original_gives_way_to_it():
    copy = msgspec.structs.replace(page("z", MORE[:11]), canonical=url("x"))
    assert found(page("x", MORE[:10]), copy) == {"z": "x"}
    assert found(page("y", MORE[:10]), copy) == {"y": "z"}  # the page that it names is not here


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The {} ships lie in the bay."),
        ("ja", "{}隻の船が北の湾に泊まっている。"),
        ("ar", "ترسو {} سفن في الخليج."),
    ],
)
def test_of_copies_the_one_at_an_address_of_its_language_stays(language, text):
    texts = [text.format(n) for n in range(10)]
    own, unmarked, foreign = (
        page(name, texts, language) for name in (f"{language}/conclusion", "docs/conclusion", "fi/x")
    )
    longer = page("fi/x", [*texts, text.format(10)], language)
    for other in (foreign, longer):
        assert duplicates([other, own, unmarked]) == {other.url: own.url, unmarked.url: own.url}
        assert duplicates([other, unmarked]) == {other.url: unmarked.url}


def test_a_short_page_within_a_much_longer_one_is_found():
    assert found(page("long", MORE), page("short", MORE[20:23])) == {"short": "long"}


def test_a_long_text_among_shared_list_items_is_no_repetition():
    items = [f"An item of list {n}" for n in range(9)]
    article = "A long text that stands nowhere else. " * 20
    assert found(page("a", [*items, *MORE[:5]]), page("b", [*items, article])) == {}


def test_boilerplate_does_not_count():
    menu = tuple(Paragraph(text, boilerplate=True) for text in MORE[:10])
    pages = [
        Page(url(name), Language("en"), paragraphs=(*menu, Paragraph(MORE[n]))) for n, name in ((20, "a"), (21, "b"))
    ]
    assert found(*pages) == {}


def test_languages_are_kept_apart():
    assert found(page("a", MORE[:5], "en"), page("b", MORE[:5], "fr")) == {}


def test_protected_pages_stay_and_others_repeat_them():
    assert found(page("a", MORE[:10]), page("b", MORE[:10]), protected=("b",)) == {"a": "b"}
    assert found(page("a", MORE[:10]), page("b", MORE[:10]), protected=("a", "b")) == {}
    assert found(page("a", MORE[:10]), page("b", MORE[:4]), protected=("b",)) == {}


def test_the_page_that_others_repeat_stays():
    chain = [page(str(n), MORE[n : n + 20 - n]) for n in range(8)]
    result = found(*chain)
    assert result
    assert not set(result) & set(result.values())


def test_the_order_of_arrival_changes_nothing():
    source = random.Random(3)
    pages = [page(str(n), source.sample(MORE, source.randint(2, 12))) for n in range(150)]
    before = found(*pages)
    source.shuffle(pages)
    assert found(*pages) == before


def test_it_finds_all_that_comparing_each_with_each_finds():
    source = random.Random(5)
    blocks = [MORE[:12], MORE[8:24], MORE[20:36]]
    pages = []
    for n in range(120):
        texts = list(source.choice(blocks))[: source.randint(3, 16)]
        texts[source.randrange(len(texts))] = f"A paragraph that is only on page {n}."
        pages.append(page(str(n), texts))
    result = duplicates(pages)
    kept = [{p.text for p in one.paragraphs} for one in pages if one.url not in result]
    kept.sort(key=len, reverse=True)
    assert 0 < len(result) < len(pages)
    for i, longer in enumerate(kept):
        assert all(len(longer & shorter) < SHARED * len(shorter) for shorter in kept[i + 1 :])
    assert all(len(a) >= len(b) for a, b in pairwise(kept))
