"""The parts of lab/bench/papers/remus.py and lab/bench/servers.py that decide what is measured. They need no frozen web."""

import asyncio

import pytest

from bitrawl.model import Capture, Language, Link, LinkKind, Page, Skip
from bitrawl.reasons import Reason
from bitrawl.text.ngram_models import sequences
from bitrawl.url import Url
from lab.bench.papers.remus import Fetched, perplexity_curve, share, within
from lab.bench.servers import PagedWeb, Without, moved, redirects

EN, FR = Language("en"), Language("fr")
HOME, TRANSLATION, OLD, ELSEWHERE = (
    Url.parse(f"https://{rest}") for rest in ("a.org/en/", "a.org/fr/", "a.org/old", "b.org/")
)
ENGLISH_PAGE = Url.parse("https://a.org/en/page")


def page(url: Url, *targets: Url, language: Language = EN) -> Page:
    return Page(url, language, links=tuple(Link(to, LinkKind.PAGE, source=url) for to in targets))


PAGES = [
    page(HOME, OLD, TRANSLATION, ELSEWHERE),
    page(ENGLISH_PAGE, HOME),
    page(TRANSLATION, HOME, language=FR),
]
SERVED = {HOME: "one.example", ENGLISH_PAGE: "one.example", TRANSLATION: "two.example"}


def links_of_home(*, linked: bool) -> list[str]:
    web = moved(PAGES, SERVED.get, {OLD: ENGLISH_PAGE}, linked=linked)
    return [str(link.url) for link in web.pages[Url.parse("https://one.example/en/")].links]


def test_servers_without_links_between_them_keep_their_own_links_and_follow_redirects():
    assert links_of_home(linked=False) == ["https://one.example/en/page"]


def test_servers_with_links_between_them_keep_those_and_no_others():
    assert links_of_home(linked=True) == ["https://one.example/en/page", "https://two.example/fr/"]


def test_a_page_without_a_server_is_not_on_the_web():
    web = moved(PAGES, {HOME: "one.example"}.get, {}, linked=True)
    assert list(web.pages) == ["https://one.example/en/"]


def fetch(web: PagedWeb | Without, url: Url) -> Capture | Skip:
    return asyncio.run(web.fetch(Link(url, LinkKind.PAGE)))


def test_a_hidden_page_cannot_be_fetched_and_the_others_can():
    web = Without(PagedWeb(PAGES), frozenset({HOME}))
    hidden = fetch(web, HOME)
    assert isinstance(hidden, Skip)
    assert hidden.reason is Reason.NOT_ARCHIVED
    assert isinstance(fetch(web, TRANSLATION), Capture)


class Redirecting:
    """OLD leads to the page; nothing else is there."""

    async def fetch(self, link: Link) -> Capture | Skip:
        if link.url == OLD:
            return Capture(OLD, 301, (("Location", str(ENGLISH_PAGE)),), b"", 0.0)
        return Capture(link.url, 200, (), b"", 0.0)


def test_only_links_that_redirect_to_a_page_lead_elsewhere():
    assert asyncio.run(redirects(Redirecting(), PAGES)) == {OLD: ENGLISH_PAGE}


def fetched(tokens: int, *, wanted: bool) -> Fetched:
    return Fetched(tokens, in_language=wanted, on_subject=wanted, sequences=[])


def test_an_amount_is_never_exceeded():
    pages = [fetched(60, wanted=True), fetched(30, wanted=False), fetched(20, wanted=True)]
    assert within(pages, 100) == pages[:2]
    assert within(pages, 59) == []


def test_a_harvest_is_a_share_of_tokens_and_not_of_pages():
    assert share([fetched(90, wanted=True), fetched(10, wanted=False)], "on_subject") == pytest.approx(0.9)
    assert share([], "on_subject") == 0


RAIN = "The rain falls on the green hills. The wind brings the rain from the sea. Clouds bring the rain to us."
STOCKS = "Investors sold their shares before noon. Brokers expect higher prices before the end of May."


def test_a_crawl_of_the_subject_lowers_the_perplexity_and_another_raises_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lab.bench.papers.remus.AMOUNTS", (200,))
    held_out = sequences("The wind brings the clouds to the green hills. The rain falls on the sea.")

    def after(text: str) -> float:
        found = sequences(text)
        crawl = [Fetched(100, in_language=True, on_subject=True, sequences=found)] * 2
        return list(perplexity_curve([RAIN], held_out, crawl))[-1].of_all

    alone = next(perplexity_curve([RAIN], held_out, [])).of_all
    assert after("The wind brings the clouds from the sea. The rain falls on the hills.") < alone < after(STOCKS)


def test_what_is_in_another_language_counts_in_one_of_the_two_models(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lab.bench.papers.remus.AMOUNTS", (100,))
    foreign = Fetched(100, in_language=False, on_subject=False, sequences=sequences(STOCKS))
    first, last = perplexity_curve([RAIN], sequences(RAIN), [foreign])
    assert last.of_language == first.of_language
    assert last.of_all > first.of_all
