"""Personal data out of a corpus: placeholders that are the same on both sides, and counts."""

import msgspec
import pytest

from bitrawl.corpus import Anonymise, Anonymiser
from bitrawl.mining import Flag
from bitrawl.model import Language, Metadata, Page, PagePair, Paragraph, Segment, SegmentPair
from bitrawl.url import Url
from lab.bench.merge import merged

EN, FR = Language("en"), Language("fr")
URL_A, URL_B = Url.parse("https://www.example.fr/en"), Url.parse("https://www.example.fr/fr")


def _pair(a: str, b: str, score: float = 0.9) -> SegmentPair:
    return SegmentPair(URL_A, URL_B, Segment(a), Segment(b), score)


def _texts(pair: SegmentPair) -> tuple[str, str]:
    return pair.a.text, pair.b.text


def _replaced(a: str, b: str) -> tuple[str, str]:
    public = Anonymiser(Anonymise.REPLACE).public(_pair(a, b), (EN, FR))
    assert public is not None
    return _texts(public)


def test_one_value_has_a_placeholder_without_a_number() -> None:
    assert _replaced("Write to a@b.org.", "Écrivez à a@b.org.") == ("Write to [EMAIL].", "Écrivez à [EMAIL].")


def test_two_addresses_in_another_order_keep_their_numbers() -> None:
    texts = _replaced("Ask x@b.org or y@b.org.", "Demandez à y@b.org ou à x@b.org.")
    assert texts == ("Ask [EMAIL1] or [EMAIL2].", "Demandez à [EMAIL2] ou à [EMAIL1].")


def test_the_address_of_a_local_office_stands_for_that_of_another() -> None:
    assert _replaced("Ask office@b.org.", "Demandez à bureau@b.org.") == ("Ask [EMAIL].", "Demandez à [EMAIL].")
    texts = _replaced("x@b.org, office@b.org", "bureau@b.org, x@b.org")
    assert texts == ("[EMAIL1], [EMAIL2]", "[EMAIL2], [EMAIL1]")


def test_a_number_is_the_same_however_it_is_written() -> None:
    texts = _replaced("Call +33 1 42 68 53 00 or +33 1 42 68 53 01.", "Appelez le 01 42 68 53 01 ou le 01.42.68.53.00.")
    assert texts == ("Call [PHONE1] or [PHONE2].", "Appelez le [PHONE2] ou le [PHONE1].")


def test_what_is_found_on_one_side_is_replaced_on_the_other() -> None:
    texts = _replaced("Call 0142685300.", "Appelez (tel=0142685300).")
    assert texts == ("Call [PHONE].", "Appelez (tel=[PHONE]).")


def test_only_what_was_changed_is_flagged_and_counted() -> None:
    hide = Anonymiser(Anonymise.REPLACE)
    plain, changed = _pair("One", "Un"), _pair("x@b.org, 93.184.216.34", "93.184.216.34, y@b.org")
    assert hide.public(plain, (EN, FR)) is plain
    assert hide.public(changed, (EN, FR)).flags == (Flag.ANONYMISED,)
    assert (hide.counts, hide.dropped) == ({"email": 1, "ip": 1}, 0)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x@b.org", "x at b dot org"),
        ("x@b.org and y@b.org", "x@b.org et y at b dot org"),
        ("x@b.org", "93.184.216.34"),
        ("Call 0142685300 or 0142685301.", "Appelez le 0142685300."),
    ],
)
def test_a_segment_with_another_number_of_values_on_one_side_is_left_out(a: str, b: str) -> None:
    hide = Anonymiser(Anonymise.REPLACE)
    assert hide.public(_pair(a, b), (EN, FR)) is None
    assert hide.public(_pair(b, a), (EN, FR)) is None
    assert hide.dropped == 2


@pytest.mark.parametrize("how", [Anonymise.REPLACE, Anonymise.DROP])
@pytest.mark.parametrize(
    ("written", "public"),
    [
        ("https://b.org/jane@b.org/cv", "https://b.org/[EMAIL]/cv"),
        ("https://b.org/?to=jane%40b.org&x=1", "https://b.org/?to=[EMAIL]&x=1"),
        ("https://b.org/call?tel=%2B33142685300", "https://b.org/call?tel=[PHONE]"),
        ("https://b.org/call?tel=0142685300#top", "https://b.org/call?tel=[PHONE]"),
        ("https://b.org/%E4%BA%BA/jane@b.org%E3%81%AB", "https://b.org/%E4%BA%BA/[EMAIL]%E3%81%AB"),
        ("https://b.org/2024/11/12/612345678", "https://b.org/2024/11/12/612345678"),  # an article
        ("https://b.org/@jane/12.11.2006", "https://b.org/@jane/12.11.2006"),
    ],
)
def test_a_url_has_placeholders_in_its_path_and_its_query(how: Anonymise, written: str, public: str) -> None:
    hide, url = Anonymiser(how, (EN, FR)), Url.parse(written)
    assert hide.url(url) == public
    pair = hide.public(SegmentPair(url, url, Segment("One"), Segment("Un"), 0.9), (EN, FR))
    assert (pair.url_a, pair.url_b, pair.flags, hide.dropped) == (public, public, (), 0)
    pages = hide.page_pair(PagePair(url, url, EN, FR, 0.9))
    assert (pages.url_a, pages.url_b) == (public, public)
    assert hide.page(Page(url, FR)).url == public


def test_every_text_of_a_value_is_public_and_nothing_else_of_it_changes() -> None:
    page = Page(
        URL_A, EN, title="Ask x@b.org", metadata=Metadata(licence="https://b.org/?by=x@b.org"), signature=612345678
    )
    public, counts = Anonymiser(Anonymise.REPLACE).everywhere((page, {"x@b.org": 1}), [URL_A.host], [EN])
    assert public == msgspec.structs.replace(
        page, title="Ask [EMAIL]", metadata=Metadata(licence="https://b.org/?by=[EMAIL]")
    )
    assert counts == {"[EMAIL]": 1}
    assert type(public.url) is Url


def test_segments_that_become_equal_are_one_unit_with_both_places() -> None:
    hide = Anonymiser(Anonymise.REPLACE)
    pairs = [_pair(f"Mail {name}@b.org", f"Courriel {name}@b.org", score) for name, score in (("x", 0.8), ("y", 0.9))]
    other = Url.parse("https://www.example.fr/2")
    pairs[1] = SegmentPair(other, other, pairs[1].a, pairs[1].b, 0.9)
    (unit,) = merged(hide.public(pair, (EN, FR)) for pair in pairs)
    assert (unit.pair.score, len(unit.sources)) == (0.9, 2)


def test_segments_with_personal_data_are_left_out_and_counted() -> None:
    hide = Anonymiser(Anonymise.DROP)
    plain, personal = _pair("One", "Un"), _pair("x@b.org", "x@b.org")
    assert (hide.public(plain, (EN, FR)), hide.public(personal, (EN, FR))) == (plain, None)
    assert (hide.dropped, hide.counts) == (1, {"email": 1})


def test_off_looks_at_nothing() -> None:
    hide, pair = Anonymiser(), _pair("x@b.org", "x@b.org")
    assert (hide.public(pair, (EN, FR)), hide.counts) == (pair, {})


def _page() -> Page:
    paragraphs = (
        Paragraph("One"),
        Paragraph("Mail x@b.org"),
        Paragraph("y@b.org", boilerplate=True),
        Paragraph("Three"),
    )
    return Page(URL_A, EN, title="x@b.org", paragraphs=paragraphs, metadata=Metadata(author="Jo <x@b.org>"))


def test_a_page_has_placeholders_in_its_text_its_title_and_what_it_says_about_itself() -> None:
    hide = Anonymiser(Anonymise.REPLACE)
    page = hide.page(_page())
    assert [p.text for p in page.paragraphs] == ["One", "Mail [EMAIL]", "[EMAIL]", "Three"]
    assert (page.title, page.metadata.author) == ("[EMAIL]", "Jo <[EMAIL]>")
    assert hide.counts == {"email": 1}  # boilerplate is in no count of a corpus


def test_a_paragraph_that_is_left_out_keeps_the_numbers_of_the_others() -> None:
    page = Anonymiser(Anonymise.DROP).page(_page())
    assert [(n, p.text) for n, p in enumerate(page.paragraphs) if not p.boilerplate] == [(0, "One"), (3, "Three")]
