"""What is remembered of the addresses of a site: their numbers, those that share a key, and where links stand."""

import msgspec
from table_site import page, url

from bitrawl.strategies.adaptive.addresses import (
    FIRST_ROWS,
    MAX_LETTERS,
    MAX_NUMBERED,
    MAX_SAME_KEY,
    HashNumbers,
    Numbered,
    NumberedUrls,
    PlacedLinks,
    Relation,
    SameKey,
    TagLetters,
)
from bitrawl.url import Url


def test_a_value_keeps_its_number():
    codes: Numbered[str] = Numbered()
    assert [codes.number(code) for code in ("en", "fr", "en")] == [0, 1, 0]
    assert codes.values == ["en", "fr"]
    assert codes.known("de") is None


def test_beyond_two_bytes_of_values_a_new_one_counts_as_the_first():
    codes: Numbered[int] = Numbered()
    assert [codes.number(code) for code in range(MAX_NUMBERED + 2)] == [*range(MAX_NUMBERED), 0, 0]
    assert codes.number(7) == 7


def test_a_column_has_a_place_for_each_address_whenever_it_was_made():
    addresses = NumberedUrls()
    early = addresses.column("i", -1)
    addresses.number(url("/a"))
    late = addresses.column("q", 7)
    addresses.number(url("/b"))
    addresses.number(url("/a"))
    wide = addresses.column("b", 1, width=3)
    assert (early[:2].tolist(), late[:2].tolist(), wide[:6].tolist()) == ([-1, -1], [7, 7], [1] * 6)
    for number in range(3 * FIRST_ROWS):
        addresses.number(url(f"/{number}"))
    assert len(early) == len(late) == len(wide) / 3 >= 3 * FIRST_ROWS
    assert (early[-1], late[-1], wide[-1]) == (-1, 7, 1)


def test_hashes_keep_their_numbers_however_many_come_and_wherever_they_would_stand():
    values = [*range(500), *(number << 40 for number in range(1, 200)), -500]  # an integer is its own hash
    numbers: HashNumbers[int] = HashNumbers()
    assert [numbers.number(value) for value in values] == list(range(len(values)))
    assert [numbers.number(value) for value in values] == [numbers.known(value) for value in values]
    assert numbers.known(1 << 50) is None


def test_an_address_is_read_back_whatever_its_origin_and_its_letters():
    names = (
        "/",
        "/a",
        "https://site.test/",
        "http://site.test:81/a",
        "http://site.test.other/",
        "http://site.test/http://x/",
        "/%C3%A9",
    )
    urls = [*map(url, names), Url.known("http://site.test/é€\ud800")]
    addresses = NumberedUrls()
    assert [addresses.number(each) for each in urls] == list(range(len(urls)))
    assert [addresses.url(number) for number in range(len(urls))] == urls


def test_an_address_is_related_to_none_one_or_several():
    addresses = NumberedUrls()
    related = Relation(addresses)
    first = addresses.number(url("/a"))
    assert related.of(first) == ()
    for others in ((7,), (0,), (7, 0), (3,), (1, 2, 3)):
        related.put(first, others)
        assert related.of(first) == others


def test_numbers_that_need_more_than_two_bytes_get_them():
    addresses = NumberedUrls()
    related, same = Relation(addresses), SameKey(addresses)
    many = 40_000
    numbers = [addresses.number(url(f"/{number}")) for number in range(many)]
    related.put(1, (2,))
    related.put(2, (many - 1,))
    for number in numbers:
        same.add(number, [f"key {number % (many // 2)}"])
    assert [addresses.known(url(f"/{number}")) for number in range(many)] == numbers
    assert [related.of(number) for number in (0, 1, 2)] == [(), (2,), (many - 1,)]
    assert all(same.of(number) == [number, number + many // 2] for number in range(many // 2))
    late = addresses.number(url("/late"))
    assert (related.of(late), same.of(late)) == ((), [])


def test_addresses_with_a_key_in_common_know_each_other_in_the_order_in_which_they_came():
    addresses = NumberedUrls()
    same = SameKey(addresses)
    for number, keys in enumerate((["x"], ["y"], ["x", "y"], ["z"], ["y"])):
        same.add(addresses.number(url(f"/{number}")), keys)
    assert [same.of(number) for number in range(5)] == [[0, 2], [1, 2, 4], [0, 2, 1, 2, 4], [3], [1, 2, 4]]
    late = addresses.number(url("/late"))
    assert not same.has(late)
    assert same.of(late) == []


def test_what_comes_after_the_first_of_a_key_sees_them_and_is_not_seen():
    addresses = NumberedUrls()
    same = SameKey(addresses)
    for number in range(MAX_SAME_KEY + 2):
        same.add(addresses.number(url(f"/{number}")), ["x"])
    assert same.of(0) == same.of(MAX_SAME_KEY + 1) == list(range(MAX_SAME_KEY))


def test_links_are_read_back_with_their_places_and_without_those_of_other_sites():
    addresses = NumberedUrls()
    made = page("/", "en", ["/a", "http://elsewhere.test/", "/b"])
    letters, targets = PlacedLinks.of(made, TagLetters(), addresses, max_tags=1500).read()
    assert len(letters) == len(made.tags)
    assert {place: addresses.url(number) for place, number in targets.items()} == {1: url("/a"), 7: url("/b")}


def test_what_stands_too_far_down_is_not_remembered():
    letters, targets = PlacedLinks.of(page("/", "en", "/a /b"), TagLetters(), NumberedUrls(), max_tags=4).read()
    assert (len(letters), list(targets)) == (4, [1])


def test_a_site_that_invents_tags_gets_no_letter_for_each():
    made = msgspec.structs.replace(page("/", "en"), tags=tuple(f"x-{number}" for number in range(3 * MAX_LETTERS)))
    known = TagLetters()
    letters, _ = PlacedLinks.of(made, known, NumberedUrls(), max_tags=len(made.tags)).read()
    assert len(set(letters)) == len(known) + 1 == MAX_LETTERS + 1
