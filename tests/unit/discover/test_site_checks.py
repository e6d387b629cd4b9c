"""Whether a site is bilingual: what is asked for, when it stops, what counts."""

import msgspec
import pytest

from bitrawl.crawling import Politeness, RobotsFetcher
from bitrawl.discover.site_check import CheckSettings, DeclaredSiteCheck, is_thin
from bitrawl.discover.site_lists import SiteAnswer, SiteCheck, SiteVerdict
from bitrawl.discover.suggestions import SiteJudges, counterparts, folder_of
from bitrawl.job.site_checks import SiteChecks
from bitrawl.model import (
    Alternate,
    AlternateSource,
    Capture,
    Directive,
    Language,
    Lease,
    Link,
    LinkKind,
    Metadata,
    Page,
    Paragraph,
    Sitemap,
    Skip,
    Visit,
)
from bitrawl.page.analyser import page_reader
from bitrawl.reasons import Reason, Stage
from bitrawl.testing import FakeClock, FakeWeb, InlineAnalyser
from bitrawl.url import Url

EN, FR, ES, DE = map(Language, ("en", "fr", "es", "de"))
HOME = "https://a.test/"
TEXTS = {
    EN: "The harbour opens in the morning. ",
    FR: "Le port ouvre le matin, tous les jours. ",
    DE: "Der Hafen öffnet. ",
}


def page(url: str, language: Language, *, to: str = "", hreflang: str = "", size: int = 20, **more: object) -> Page:
    """A page of one paragraph, with links to the addresses in `to` and an alternate in `hreflang` ("fr /fr/")."""
    here = Url.parse(url)
    links = tuple(Link(Url.parse(one, base=here), LinkKind.PAGE, here) for one in to.split())
    alternates = ()
    if hreflang:
        code, target = hreflang.split()
        alternates = (Alternate(Url.parse(target, base=here), code, AlternateSource.LINK),)
    text = TEXTS.get(language, "Lorem ipsum dolor. ") * size
    paragraphs = (Paragraph(text, language=language),) if size else ()
    return Page(here, language, 1.0, paragraphs=paragraphs, links=links, alternates=alternates, **more)  # type: ignore[arg-type]


def judged(
    pages: list[Page | Sitemap],
    *,
    entry: str = HOME,
    languages: tuple[Language, ...] = (EN, FR),
    score: float = 1.0,
    **more: object,
) -> tuple[SiteVerdict, list[str]]:
    """The verdict, and what was asked for."""
    judges = SiteJudges(lambda _a, _b: score, **more)  # type: ignore[arg-type]
    return run(DeclaredSiteCheck(Link(Url.parse(entry), LinkKind.SEED), languages, judges), pages)


def run(check: SiteCheck, outcomes: list[Page | Sitemap | Skip]) -> tuple[SiteVerdict, list[str]]:
    known = {outcome.url: outcome for outcome in outcomes}
    asked: list[str] = []
    while check.verdict is None:
        wanted = check.wanted()
        assert wanted, "it waits for nothing"
        for link in wanted:
            asked.append(str(link.url))
            missing = Skip(link.url, Stage.FETCH, Reason.HTTP_STATUS, "404", 404)
            check.saw(Visit(Lease(link, 1.0), known.get(link.url, missing)))
    assert not check.wanted()
    return check.verdict, asked


# What is asked for


def test_a_declared_translation_that_is_one_makes_the_site_bilingual():
    verdict, asked = judged([page(HOME, EN, hreflang="fr /fr/"), page(f"{HOME}fr/", FR)])
    assert asked == [HOME, f"{HOME}fr/"]
    assert (verdict.verdict, verdict.languages, verdict.downloads) == (SiteAnswer.BILINGUAL, (EN, FR), 2)
    assert (verdict.url_a, verdict.url_b) == (HOME, f"{HOME}fr/")
    assert {"hreflang", "translations"} <= verdict.evidence.keys()


def test_two_languages_without_a_translation_are_not_enough():
    verdict, _ = judged([page(HOME, EN, hreflang="fr /fr/"), page(f"{HOME}fr/", FR)], score=0.1)
    assert verdict.verdict is SiteAnswer.NO
    assert "none is a translation" in verdict.detail


def test_a_site_that_promises_nothing_costs_its_entry_page():
    verdict, asked = judged([page(HOME, EN, to="/about /contact")])
    assert (verdict.verdict, asked) == (SiteAnswer.NO, [HOME])


@pytest.mark.parametrize(("odds", "asked"), [(0.0, 3), (-1.0, 2), (-4.0, 1)])
def test_what_is_known_of_the_languages_before_a_visit_moves_what_is_worth_a_download(odds: float, asked: int):
    """Two addresses are guessed: /fr/ for the page's own, and one for those that it links to."""
    pages = [page(f"{HOME}en/", EN, to="/en/a /en/b /en/c")]
    entry = Link(Url.parse(f"{HOME}en/"), LinkKind.SEED)
    check = DeclaredSiteCheck(entry, (EN, FR), SiteJudges(lambda _a, _b: 1.0), odds={FR: odds})
    assert len(run(check, list(pages))[1]) == asked


def test_a_language_that_is_not_asked_for_is_no_reason_to_download():
    _, asked = judged([page(HOME, EN, hreflang="de /de/")])
    assert asked == [HOME]


def test_a_third_language_needs_both_of_those_asked_for():
    entry = page(HOME, DE, hreflang="fr /fr/")
    assert judged([entry])[1] == [HOME]


def test_the_address_in_the_other_language_is_looked_for_where_no_page_links_to_it():
    entry = f"{HOME}manual/en.amd64/"
    verdict, asked = judged([page(entry, EN), page(f"{HOME}manual/fr.amd64/", FR)], entry=entry)
    assert verdict.verdict is SiteAnswer.BILINGUAL
    assert asked == [entry, f"{HOME}manual/fr.amd64/"]


def test_the_addresses_of_the_links_are_a_habit_too():
    entry = f"{HOME}dev.en.html"
    links = "/faq.en.html /guide.en.html /plugins.en.html"
    pages = [page(entry, EN, to=links), page(f"{HOME}faq.fr.html", FR), page(f"{HOME}faq.en.html", EN)]
    judges = SiteJudges(lambda a, _b: 0.9 if "faq" in a.url else 0.1)
    verdict, asked = run(DeclaredSiteCheck(Link(Url.parse(entry), LinkKind.SEED), (EN, FR), judges), pages)
    assert asked == [entry, f"{HOME}dev.fr.html", f"{HOME}faq.fr.html", f"{HOME}faq.en.html"]
    assert (verdict.url_a, verdict.url_b) == (f"{HOME}faq.en.html", f"{HOME}faq.fr.html")


def test_a_page_without_text_stands_before_folders_of_languages():
    empty = Skip(Url.parse(HOME), Stage.ANALYSE, Reason.EMPTY)
    judges = SiteJudges(lambda _a, _b: 1.0)
    check = DeclaredSiteCheck(Link(Url.parse(HOME), LinkKind.SEED), (EN, FR), judges)
    verdict, _ = run(check, [empty, page(f"{HOME}en/", EN), page(f"{HOME}fr/", FR)])
    assert verdict.verdict is SiteAnswer.BILINGUAL


def test_a_page_that_refreshes_is_followed():
    here = Url.parse(HOME)
    onwards = Link(Url.parse(f"{HOME}de/"), LinkKind.PAGE, here, rel="refresh")
    splash = msgspec.structs.replace(page(HOME, Language("und"), size=0), links=(onwards,))
    pages = [splash, page(f"{HOME}de/", DE, hreflang="en /en/"), page(f"{HOME}en/", EN)]
    assert judged(pages, languages=(EN, DE))[0].verdict is SiteAnswer.BILINGUAL


def test_a_redirect_is_followed_and_is_no_download():
    target = f"{HOME}fr/index.html"
    moved = Skip(Url.parse(f"{HOME}fr/"), Stage.FETCH, Reason.REDIRECT, target, 301)
    judges = SiteJudges(lambda _a, _b: 1.0)
    check = DeclaredSiteCheck(Link(Url.parse(HOME), LinkKind.SEED), (EN, FR), judges)
    verdict, asked = run(check, [page(HOME, EN, hreflang="fr /fr/"), moved, page(target, FR)])
    assert (verdict.verdict, verdict.downloads, len(asked)) == (SiteAnswer.BILINGUAL, 2, 3)


def test_two_redirects_to_each_other_end():
    there, back = f"{HOME}x", f"{HOME}y"
    moved = [
        Skip(Url.parse(one), Stage.FETCH, Reason.REDIRECT, other, 301) for one, other in ((there, back), (back, there))
    ]
    judges = SiteJudges(lambda _a, _b: 1.0)
    assert (
        run(DeclaredSiteCheck(Link(Url.parse(there), LinkKind.SEED), (EN, FR), judges), moved)[0].verdict
        is SiteAnswer.UNKNOWN
    )


def test_the_sitemap_that_robots_names_is_read_where_the_page_leaves_the_question_open():
    sitemap = Url.parse(f"{HOME}sitemap.xml")
    listed = Sitemap.of(
        sitemap, [Link(Url.parse(f"{HOME}{name}"), LinkKind.SITEMAP) for name in ("about", "index-fr.html")]
    )
    pages = [page(HOME, EN), listed, page(f"{HOME}index-fr.html", FR)]
    verdict, asked = judged(pages, sitemaps_of=lambda _origin: [sitemap])
    assert (verdict.verdict, asked[1], verdict.pages) == (SiteAnswer.BILINGUAL, sitemap, 2)
    assert judged([page(HOME, EN, hreflang="fr /fr/"), page(f"{HOME}fr/", FR)], sitemaps_of=lambda _o: [sitemap])[
        1
    ] == [
        HOME,
        f"{HOME}fr/",
    ]


def test_a_locale_without_an_address_is_looked_for_in_its_folder():
    entry = page(HOME, EN, metadata=Metadata(other_locales=("fr_FR",)))
    assert judged([entry, page(f"{HOME}fr/", FR)])[0].verdict is SiteAnswer.BILINGUAL


# When it stops


def test_a_check_takes_no_more_than_a_handful_of_pages():
    menu = tuple(Alternate(Url.parse(f"{HOME}{number}/"), "fr", AlternateSource.LINK) for number in range(50))
    entry = msgspec.structs.replace(page(HOME, EN), alternates=menu)
    pages = [entry, *(page(f"{HOME}{number}/", FR) for number in range(50))]
    verdict, asked = judged(pages, score=0.0)
    assert verdict.verdict is SiteAnswer.NO
    assert len(asked) == verdict.downloads == CheckSettings().max_downloads


def test_a_menu_that_leads_nowhere_is_given_up_soon():
    menu = tuple(Alternate(Url.parse(f"{HOME}{number}/"), "fr", AlternateSource.LINK) for number in range(50))
    assert len(judged([msgspec.structs.replace(page(HOME, EN), alternates=menu)])[1]) <= 3


def test_a_site_that_asks_not_to_be_mined_is_left_alone():
    refused = Skip(Url.parse(HOME), Stage.ROBOTS, Reason.OPT_OUT)
    judges = SiteJudges(lambda _a, _b: 1.0)
    verdict, asked = run(DeclaredSiteCheck(Link(Url.parse(HOME), LinkKind.SEED), (EN, FR), judges), [refused])
    assert (verdict.verdict, asked) == (SiteAnswer.UNKNOWN, [HOME])


def test_an_entry_page_that_is_not_there_tells_nothing():
    verdict, _ = judged([])
    assert verdict.verdict is SiteAnswer.UNKNOWN
    assert "404" in verdict.detail


# What counts


def test_buttons_in_two_languages_are_no_translations():
    verdict, _ = judged([page(HOME, EN, hreflang="fr /fr/", size=2), page(f"{HOME}fr/", FR, size=2)])
    assert verdict.verdict is SiteAnswer.NO


def test_a_licence_in_english_does_not_hide_the_language_of_the_rest():
    mixed = msgspec.structs.replace(
        page(f"{HOME}fr/", EN, size=10),
        paragraphs=(Paragraph(TEXTS[EN] * 10, language=EN), Paragraph(TEXTS[FR] * 20, language=FR, boilerplate=True)),
    )
    assert judged([page(HOME, EN, hreflang="fr /fr/"), mixed])[0].verdict is SiteAnswer.BILINGUAL


def test_one_translated_page_whose_links_lead_to_the_same_pages_is_thin():
    menu = " ".join(f"/{number}" for number in range(12))
    pages = [page(HOME, EN, to=menu, hreflang="fr /fr"), page(f"{HOME}fr", FR, to=menu)]
    verdict, _ = judged(list(pages))
    assert verdict.verdict is SiteAnswer.THIN
    assert verdict.probability < 0.5
    assert not is_thin(pages[0], page(f"{HOME}fr", FR, to=menu.replace("/", "/fr/")))
    marked = [page(f"{HOME}manual.{language}.html", language, to=menu) for language in (EN, FR)]
    assert not is_thin(*marked)


@pytest.mark.parametrize(
    ("url", "guess"),
    [
        ("https://a.test/en/", "https://a.test/fr/"),
        ("https://a.test/browse/en-US/x.html", "https://a.test/browse/fr-FR/x.html"),
        ("https://a.test/help/manual_en_US.html", "https://a.test/help/manual_fr_FR.html"),
        ("https://a.test/doc/en/index.en.html", "https://a.test/doc/fr/index.fr.html"),
        ("https://a.test/README_EN.html", "https://a.test/README_FR.html"),
        ("https://a.test/x-eng.html", "https://a.test/x-fra.html"),
        ("https://a.test/English/x.html", "https://a.test/French/x.html"),
        ("https://a.test/?lang=en", "https://a.test/?lang=fr"),
        ("https://en.a.test/x", "https://fr.a.test/x"),
        ("https://a.test/contact-us.html", None),
        ("https://a.test/about/", None),
        ("https://shop.en/", None),
    ],
)
def test_an_address_suggests_its_counterpart(url: str, guess: str | None):
    found = counterparts(Url.parse(url), EN, FR)
    assert (found[0] if found else None) == guess


def test_a_folder_stands_beside_its_page():
    assert folder_of(Url.parse("https://a.test/x/index.html"), Language("zh-Hant")) == "https://a.test/x/zh/"


# Over a web


def html(language: Language, body: str = "", head: str = "") -> str:
    return f"<html lang={language}><head><title>x</title>{head}</head><body><p>{TEXTS[language] * 10}</p>{body}</body></html>"


@pytest.fixture(scope="module")
def checks_of() -> object:
    analyser = InlineAnalyser(page_reader())

    def make(web: FakeWeb) -> SiteChecks:
        clock = FakeClock()
        return SiteChecks(RobotsFetcher(web, clock, Politeness()), analyser, clock, politeness=Politeness())

    return make


async def verdicts_of(checks: SiteChecks, *urls: str) -> dict[str, SiteVerdict]:
    judges = SiteJudges(lambda _a, _b: 1.0)
    made = checks.verdicts([Url.parse(url) for url in urls], lambda entry: DeclaredSiteCheck(entry, (EN, FR), judges))
    return {verdict.site: verdict async for verdict in made}


async def test_many_sites_are_checked_at_once(checks_of):  # type: ignore[no-untyped-def]
    rules = Capture(Url.parse("https://c.test/robots.txt"), 200, (), b"User-agent: *\nDisallow: /\n", at=0.0)
    moved = Capture(Url.parse("https://b.test/fr/"), 301, (("Location", "/fr/home"),), b"", at=0.0)
    opted = html(FR, head='<meta name="tdm-reservation" content="1">')
    link = '<a href="/fr/">Français</a>'
    web = FakeWeb(
        {
            "https://a.test/": html(EN, link),
            "https://a.test/fr/": html(FR),
            "https://b.test/": html(EN, link),
            "https://b.test/fr/": moved,
            "https://b.test/fr/home": html(FR),
            "https://c.test/": html(EN, link),
            "https://c.test/robots.txt": rules,
            "https://d.test/": html(EN, link),
            "https://d.test/fr/": opted,
        }
    )
    urls = [f"https://{name}.test/" for name in "abcd"]
    found = await verdicts_of(checks_of(web), *urls, "https://a.test/fr/")
    answers = {site[0]: verdict.verdict for site, verdict in found.items()}
    assert answers == {
        "a": SiteAnswer.BILINGUAL,
        "b": SiteAnswer.BILINGUAL,
        "c": SiteAnswer.UNKNOWN,
        "d": SiteAnswer.UNKNOWN,
    }
    assert "https://c.test/" not in web.asked


async def test_a_page_that_is_not_to_be_indexed_may_lead_on(checks_of):  # type: ignore[no-untyped-def]
    noindex = '<meta name="robots" content="noindex">'
    web = FakeWeb({HOME: html(EN, '<a href="/fr/">Français</a>', noindex), f"{HOME}fr/": html(FR)})
    assert Directive.NOINDEX == "noindex"
    assert (await verdicts_of(checks_of(web), HOME))["a.test"].verdict is SiteAnswer.BILINGUAL
