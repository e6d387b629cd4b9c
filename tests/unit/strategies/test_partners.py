"""Which visited pages are translations of each other, at a glance: what puts two side by side, and what parts them."""

from collections.abc import Sequence

import msgspec
import pytest
from table_site import page, url

from bitrawl.model import Alternate, AlternateSource, Language, Page
from bitrawl.strategies import VisitedPage, aligned_links
from bitrawl.strategies.adaptive.partners import Partners, built_alike
from bitrawl.url import Url


def partners(codes: str = "en fr", known: str = "") -> Partners:
    made = Partners([Language(code) for code in codes.split()])
    for name in known.split():
        made.add(url(name))
    return made


def number(known: Partners, name: str) -> int:
    return known.addresses.number(url(name))


def candidates(known: Partners, name: str) -> list[Url]:
    return [known.addresses.url(other) for other in known.candidates(number(known, name))]


def declaring(made: Page, **others: str) -> Page:
    alternates = tuple(Alternate(url(path), code, AlternateSource.LINK) for code, path in others.items())
    return msgspec.structs.replace(made, alternates=alternates)


def found(known: Partners, *pages: Page) -> set[frozenset[str]]:
    """The pairs after these visits, by the ends of their addresses."""
    for one in pages:
        known.arrived(one)
    return {frozenset(side.removeprefix("http://site.test") for side in pair) for pair in known.pairs()}


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("/en/a", "/fr/a"),
        ("/a", "/fr/a"),  # one of them unmarked
        ("/a_en.html", "/a_fr.html"),
        ("/a?lang=en", "/a?lang=fr"),
        ("http://en.site.test/a", "http://fr.site.test/a"),
        ("/en/a/", "/fr/a"),
        ("/english/a", "/francais/a"),
        ("/en-gb/a", "/fr-fr/a"),
    ],
)
def test_addresses_that_differ_in_their_marks_are_put_side_by_side(english: str, french: str):
    known = partners(known=f"{english} {french}")
    assert candidates(known, english) == [url(french)]
    assert candidates(known, french) == [url(english)]
    assert found(known, page(english, "en"), page(french, "fr"))
    assert known.examined == 1


@pytest.mark.parametrize(
    ("first", "second"), [("/en/a", "/fr/b"), ("/en/a", "/en/b"), ("/de/a", "/es/a"), ("/en/a?id=1", "/fr/a?id=2")]
)
def test_addresses_that_differ_in_more_are_not(first: str, second: str):
    known = partners(known=f"{first} {second}")
    assert not candidates(known, first)


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (("/en/a", "en", 100), ("/fr/a", "en", 100), "both are in English"),
        (("/en/a", "en", 100), ("/fr/a", "de", 100), "nobody asked for German"),
        (("/en/a", "und", 100), ("/fr/a", "fr", 100), "it is not known what one of them is"),
        (("/en/a", "en", 1000), ("/fr/a", "fr", 20), "one is a stub"),
        (("/en/a", "en", 0), ("/fr/a", "fr", 0), "neither has a text"),
    ],
)
def test_which_differences_rule_out_a_pair(a: tuple[str, str, int], b: tuple[str, str, int], why: str):
    pages = [page(path, language, size=size) for path, language, size in (a, b)]
    assert not found(partners(), *pages), why
    assert not found(partners(), *reversed(pages)), why


def test_a_copy_of_the_same_text_is_no_translation_whatever_language_was_identified():
    one = page("/en/a", "en")
    copy = msgspec.structs.replace(page("/fr/a", "fr"), signature=one.signature ^ 0b101)
    assert not found(partners(), one, copy)


@pytest.mark.parametrize(
    ("prints", "same"), [(("hpplp", "hpplp"), True), (("hpplp", "hppllp"), True), (("hhhh", "pppp"), False)]
)
def test_two_texts_may_be_translations_when_they_are_built_alike(prints: tuple[str, str], *, same: bool):
    a, b = (
        VisitedPage(Language(code), 100, 2**40 * n, fp)
        for code, n, fp in (("en", 1, prints[0]), ("fr", 2**20 - 2, prints[1]))
    )
    assert built_alike(a, b) is same


@pytest.mark.parametrize("backwards", [False, True], ids=["declared first", "declared last"])
def test_a_declaration_puts_any_two_addresses_side_by_side(*, backwards: bool):
    pages = [declaring(page("/one", "en"), fr="/deux"), page("/deux", "fr")]
    known = partners()
    assert found(known, *pages[:: -1 if backwards else 1]) == {frozenset(("/one", "/deux"))}
    assert known.is_declared(number(known, "/one"))
    assert known.is_declared(number(known, "/deux"))


def built(made: Page, fingerprint: str) -> Page:
    return msgspec.structs.replace(made, fingerprint=fingerprint)


@pytest.mark.parametrize(("answered", "pairs"), [(True, 1), (False, 0)], ids=["by both", "by one"])
def test_pages_that_name_each_other_are_a_pair_however_they_are_built(*, answered: bool, pairs: int):
    english = declaring(built(page("/one", "en"), "hhhhhhhh"), fr="/deux")
    french = built(page("/deux", "fr"), "pppppppp")
    assert len(found(partners(), english, declaring(french, en="/one") if answered else french)) == pairs


def test_a_declaration_that_both_addresses_contradict_is_a_slip():
    known = partners(known="/en/a /fr/a /en/b /fr/b")
    slip = [declaring(page("/en/a", "en"), fr="/fr/b"), declaring(page("/fr/b", "fr"), en="/en/a")]
    assert found(known, *slip, page("/fr/a", "fr"), page("/en/b", "en")) == {
        frozenset(("/en/a", "/fr/a")),
        frozenset(("/en/b", "/fr/b")),
    }


def test_two_pages_with_hardly_a_sentence_are_no_pair():
    assert not found(partners(), page("/en/a", "en", size=99), page("/fr/a", "fr", size=60))
    assert found(partners(), page("/en/a", "en", size=100), page("/fr/a", "fr", size=60))


def test_a_declared_language_that_was_not_requested_is_ignored():
    known = partners()
    known.arrived(declaring(page("/one", "en"), de="/zwei", fr="/deux"))
    assert candidates(known, "/one") == [url("/deux")]
    assert [known.claim(number(known, name)) for name in ("/zwei", "/deux", "/x")] == ["de", "fr", "und"]


def test_a_page_that_is_declared_french_and_is_english_makes_no_pair():
    known = partners(known="/fr/a /en/a")
    assert not found(known, declaring(page("/x", "fr"), fr="/y", en="/en/y"), page("/y", "en"), page("/en/y", "fr"))


def test_a_page_has_one_partner_in_each_language():
    known = partners(known="/en/a /fr/a /fr/a/ /de/a")
    assert found(known, page("/en/a", "en"), page("/fr/a", "fr"), page("/fr/a/", "fr")) == {
        frozenset(("/en/a", "/fr/a"))
    }
    three = partners("en fr de", known="/en/a /fr/a /de/a")
    assert len(found(three, *(page(f"/{code}/a", code) for code in ("de", "fr", "en")))) == 3


def test_other_spellings_of_an_address_are_twins_and_no_partners():
    known = partners(known="/en/a /en/a/ /en/a/index.html /en/a.html /fr/a /en/b")
    assert {known.addresses.url(twin) for twin in known.twins(number(known, "/en/a"))} == {
        url("/en/a/"),
        url("/en/a/index.html"),
        url("/en/a.html"),
    }
    assert candidates(known, "/en/a") == [url("/fr/a")]


def test_what_was_said_of_an_address_that_redirects_is_said_of_its_target():
    known = partners()
    known.arrived(declaring(page("/one", "en"), fr="/go"))
    known.failed(url("/go"))
    known.redirect(url("/go"), url("/deux"))
    assert candidates(known, "/one") == [url("/deux")]
    assert found(known, page("/deux", "fr")) == {frozenset(("/one", "/deux"))}


def test_links_at_the_same_place_of_paired_pages_are_put_beside_each_other():
    known = partners()
    english, french = page("/en/", "en", "/x1 /x2"), page("/fr/", "fr", "/y1 /y2")
    assert found(known, english, french)
    assert candidates(known, "/x2") == [url("/y2")]
    assert known.is_beside(number(known, "/x1"))
    assert not known.is_beside(number(known, "/en/"))
    assert found(known, page("/x2", "en"), page("/y2", "fr")) >= {frozenset(("/x2", "/y2"))}


@pytest.mark.parametrize(
    ("tags_a", "tags_b", "pairs"),
    [
        ("p a p a", "p a p a", ["1=1", "3=3"]),
        ("p a p a", "h1 p a p a", ["1=2", "3=4"]),
        ("p a", "ul li", []),
        ("", "p a", []),
    ],
)
def test_links_are_aligned_by_the_tags_around_them(tags_a: str, tags_b: str, pairs: Sequence[str]):
    def visited(tags: str) -> VisitedPage:
        links = tuple((n, url(f"/{n}")) for n, tag in enumerate(tags.split()) if tag == "a")
        return VisitedPage(Language("en"), tags=tuple(tags.split()), links=links)

    aligned = aligned_links(visited(tags_a), visited(tags_b))
    assert ["=".join(one.rpartition("/")[2] for one in pair) for pair in aligned] == pairs


@pytest.mark.parametrize(
    ("visited", "address", "expects"),
    [
        (page("/en/a", "en"), "/fr/a", True),
        (page("/a", "en"), "/fr/a", True),
        (page("/tr/a", "en"), "/en/a", False),  # an English text has no English version
        (page("/fr/a", "en"), "/en/a", False),
        (page("/en/a", "de"), "/fr/a", False),
    ],
)
def test_which_address_a_visited_page_expects_its_partner_at(visited: Page, address: str, *, expects: bool):
    known = partners(known=address)
    known.arrived(visited)
    assert known.expects(known.addresses.number(visited.url), number(known, address)) is expects


def test_a_page_that_has_all_its_partners_expects_no_other():
    known = partners(known="/en/a /fr/a")
    found(known, page("/en/a", "en"), page("/fr/a", "fr"))
    assert known.is_paired(number(known, "/en/a"))
    assert not known.expects(number(known, "/en/a"), number(known, "/fr/a/"))
    assert not known.is_paired(number(known, "/never"))


def test_a_page_that_names_its_translations_leaves_out_the_others():
    known = partners(known="/fr/a /fr/b")
    known.arrived(declaring(page("/en/a", "en"), fr="/fr/b"))
    known.arrived(page("/en/b", "en"))
    assert known.leaves_out(number(known, "/en/a"), number(known, "/fr/a"))
    assert not known.leaves_out(number(known, "/en/a"), number(known, "/fr/b"))
    assert not known.leaves_out(number(known, "/en/b"), number(known, "/fr/a"))
