"""The site detector of Barbosa et al., which ours is compared with."""

from bitrawl.discover.site_lists import SiteAnswer
from bitrawl.model import Language, Lease, Link, LinkKind, Page, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url
from lab.bench.paper_check import PaperSiteCheck

EN, FR = Language("en"), Language("fr")
HOME = "https://a.test/"


def page(url: str, language: Language, *, to: str = "") -> Page:
    here = Url.parse(url)
    return Page(
        here, language, 1.0, links=tuple(Link(Url.parse(one, base=here), LinkKind.PAGE, here) for one in to.split())
    )


def run(check: PaperSiteCheck, pages: list[Page]) -> tuple[SiteAnswer, list[str]]:
    known = {one.url: one for one in pages}
    asked: list[str] = []
    while check.verdict is None:
        for link in check.wanted():
            asked.append(str(link.url))
            missing = Skip(link.url, Stage.FETCH, Reason.HTTP_STATUS, "404", 404)
            check.saw(Visit(Lease(link, 1.0), known.get(link.url, missing)))
    return check.verdict.verdict, asked


class Predictor:
    """Likes addresses with "fr" in them."""

    def likelihoods(self, links: list[Link], page: Page, wanted: Language) -> list[float]:
        return [0.9 if wanted in link.url.path else 0.1 for link in links]


def test_the_papers_detector_asks_for_every_likely_link_and_for_languages_only():
    pages = [page(HOME, EN, to="/fr/ /fr/b /about"), page(f"{HOME}fr/", FR), page(f"{HOME}fr/b", EN)]
    check = PaperSiteCheck(Link(Url.parse(HOME), LinkKind.SEED), (EN, FR), Predictor())
    verdict, asked = run(check, pages)
    assert (verdict, sorted(asked)) == (SiteAnswer.BILINGUAL, [HOME, f"{HOME}fr/", f"{HOME}fr/b"])
    all_links = PaperSiteCheck(Link(Url.parse(HOME), LinkKind.SEED), (EN, FR), Predictor(), 0.0)
    assert len(run(all_links, pages)[1]) == 4
