"""Addresses for documents that scripts draw under one URL."""

import pytest

from bitrawl.crawling.document_states import DocumentState, alike
from bitrawl.url import Url


@pytest.mark.parametrize(
    "state",
    [
        DocumentState("http://a.org/"),
        DocumentState("http://a.org/", "/en/boats"),
        DocumentState("http://a.org/", "!/en/boats?page=2&sort=name"),
        DocumentState("http://a.org/app?id=7", "/en/bateaux à voile"),
        DocumentState("http://a.org/", "", "fr"),
        DocumentState("http://a.org/app?id=7", "/boats", "zh-Hant"),
    ],
)
def test_a_state_comes_back_from_its_address(state: DocumentState) -> None:
    assert DocumentState.of(state.url) == state
    assert Url.parse(state.url) == state.url


def test_the_browser_goes_to_the_route_of_the_page() -> None:
    state = DocumentState.of(Url.parse("http://a.org/?_escaped_fragment_=%2Fen%2Fboats"))

    assert state.address == "http://a.org/#/en/boats"
    assert DocumentState.at("http://a.org/#/en/boats").url == state.url


def test_a_place_within_a_page_is_no_route() -> None:
    assert DocumentState.at("http://a.org/x#section-2") == DocumentState("http://a.org/x")


def test_translations_behind_buttons_are_declared_in_the_head() -> None:
    html = DocumentState("http://a.org/").declaring(
        "<html><head></head><body>x</body></html>", [("fr", "http://a.org/?a&b")]
    )

    assert (
        html
        == '<html><head><link rel="alternate" hreflang="fr" href="http://a.org/?a&amp;b"></head><body>x</body></html>'
    )


def test_a_menu_that_opens_makes_no_other_document_and_a_translation_does() -> None:
    english = "The old harbour wakes before the sun, and the boats come in with the tide."

    assert alike(english, f"{english} English Français")
    assert not alike(english, "Le vieux port se réveille avant le soleil, et les bateaux rentrent avec la marée.")
    assert alike("", "")
