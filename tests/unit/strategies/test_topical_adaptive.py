"""`adaptive` with a topic in a bilingual job: pairs about the topic first, nothing in another language."""

from collections.abc import Callable, Sequence

import msgspec
from table_site import Walk, page, site, url

from bitrawl.crawling import Sites
from bitrawl.model import Language, Link, LinkKind, Page, Relevance, SiteKnowledge
from bitrawl.strategies import Adaptive, TopicalAdaptive
from bitrawl.topic.judge import TopicJudge
from bitrawl.url import Url

EN, FR = Language("en"), Language("fr")
SITE = SiteKnowledge("site.test")


class Addresses:
    """A page is about the topic if its address says so; texts say nothing."""

    def judge(self, pages: Sequence[Page]) -> list[Relevance]:
        about = ["bees" in page.url for page in pages]
        return [Relevance(0.95 if one else 0.05, relevant=one) for one in about]

    def weigh(self, texts: Sequence[str], language: Language) -> list[float]:
        return [0.0] * len(texts)

    def learn(self, page: Page, *, relevant: bool) -> None:
        pass

    def revised(self) -> list[tuple[Url, float]]:
        return []


def bilingual() -> TopicalAdaptive:
    return TopicalAdaptive([EN, FR], Addresses(), Sites().of, Adaptive([EN, FR]))


class JudgedWalk(Walk):
    """A walk on which each page is judged, as in a job with a topic."""

    def __init__(self, pages: dict, seeds: list[str], **options: object) -> None:
        super().__init__(bilingual(), pages, seeds, **options)  # type: ignore[arg-type]
        self._crawl.judge = TopicJudge(Addresses())


def declaring(made: Page, target: str, code: str) -> Page:
    link = Link(url(target), LinkKind.ALTERNATE, made.url, hreflang=code)
    return msgspec.structs.replace(made, links=(*made.links, link))


def numbered(pattern: str, count: int = 8) -> list[str]:
    return [pattern.format(number) for number in range(count)]


def before(asked: Sequence[str], those: Callable[[str], bool], others: Callable[[str], bool]) -> float:
    """How often, of all possible couples, one of those is asked before one of the others."""
    places = [(those(path), others(path)) for path in asked]
    firsts = [n for n, (one, _) in enumerate(places) if one]
    lasts = [n for n, (_, other) in enumerate(places) if other]
    return sum(a < b for a in firsts for b in lasts) / (len(firsts) * len(lasts))


async def test_the_declared_translation_of_a_relevant_page_comes_next():
    about, other = numbered("/en/bees-{}"), numbered("/en/news-{}")
    pages = site(
        page("/en/", "en", [*other, *about]),
        *(declaring(page(name, "en"), f"/x/{name[4:]}", "fr") for name in (*about, *other)),
        *(page(f"/x/{name[4:]}", "fr") for name in (*about, *other)),
    )
    asked = await JudgedWalk(pages, ["/en/"]).run()
    for name in about:
        assert asked.index(f"/x/{name[4:]}") == asked.index(name) + 1, name
    # One translation of a page about something else is looked at before: the first that is declared at all.
    late = [asked.index(f"/x/{name[4:]}") for name in other]
    assert sum(place < max(asked.index(f"/x/{name[4:]}") for name in about) for place in late) <= 1


async def test_half_found_pairs_about_the_topic_are_completed_before_anything_new_is_begun():
    names = [name for number in range(10) for name in (f"/en/bees-{number}", f"/en/news-{number}")]
    french = [name.replace("/en/", "/fr/") for name in names]
    pages = site(
        *(page(home, home[1:3], [*names, *french]) for home in ("/en/", "/fr/")),
        *(page(name, name[1:3]) for name in (*names, *french)),
    )
    asked = await JudgedWalk(pages, ["/en/", "/fr/"]).run()
    apart = [abs(asked.index(f"/en/bees-{n}") - asked.index(f"/fr/bees-{n}")) for n in range(10)]
    assert sorted(apart)[6] == 1  # most; the first of them are found before anything is known of the two folders


async def test_pages_in_another_language_than_asked_come_last():
    names = [name for number in range(8) for name in (f"/de/bees-{number}", f"/en/bees-{number}", f"/fr/bees-{number}")]
    links = [Link(url(name), LinkKind.PAGE, url("/"), hreflang=name[1:3]) for name in names]
    home = msgspec.structs.replace(page("/", "en"), links=tuple(links))
    asked = await JudgedWalk(site(home, *(page(name, name[1:3]) for name in names)), ["/"], exhaustive=True).run()
    assert before(asked, lambda one: one[:4] in ("/en/", "/fr/"), lambda one: one[:4] == "/de/") == 1.0


def test_a_declared_translation_has_the_chance_of_its_original():
    scorer = bilingual()
    scorer.score([Link(url("/"), LinkKind.SEED)], None, SITE)
    found = {}
    for name, score in (("bees", 0.95), ("news", 0.05)):
        original = msgspec.structs.replace(page(f"/en/{name}", "en"), relevance=Relevance(score, relevant=score > 0.5))
        (found[name],) = scorer.score(
            [Link(url(f"/fr/{name}"), LinkKind.ALTERNATE, original.url, hreflang="fr")], original, SITE
        )
    assert found["bees"] > 10 * found["news"] > 0


def test_a_web_larger_than_the_first_tables_is_scored():
    """More links than the tables have rows at first, in one language and in two."""
    for scorer in (bilingual(), TopicalAdaptive([EN], Addresses(), Sites().of)):
        home = page("/", "en", numbered("/en/bees-{}", 3000))
        home = msgspec.structs.replace(home, relevance=Relevance(0.9, relevant=True))
        scores = scorer.score(home.links, home, SITE)
        assert len(scores) == 3000
        assert all(0 < one <= 1 for one in scores)


async def test_a_language_that_no_page_links_to_is_asked_for_with_a_topic_too():
    names = numbered("/n{}", 30)
    pages = site(page("/", "en", names), *(page(name, "en") for name in names), page("/fr/", "fr"))
    asked = await JudgedWalk(pages, ["/"]).run()
    assert "/fr/" in asked[:12]
