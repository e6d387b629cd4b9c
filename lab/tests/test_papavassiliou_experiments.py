"""What lab/bench/papers/papavassiliou.py makes of page pairs and verdicts. It needs no frozen web."""

import pytest

from bitrawl.model import Language, Method, Page, PagePair, Relevance
from bitrawl.papers.trial import UrlPair
from bitrawl.url import Url
from lab.bench.domain import Web
from lab.bench.papers.papavassiliou import (
    COLUMNS,
    OF_PAGES,
    ROWS,
    Accepted,
    Reported,
    SiteRows,
    Topic,
    accepted,
    bounds,
    by_method,
    by_row,
    judged,
    languages_of,
    together,
)
from lab.train.pairs import LabelledSite

EN, FR, DE, IT = map(Language, ("en", "fr", "de", "it"))
URLS = [Url.parse(f"https://a.org/{number}") for number in range(10)]


def pair(number: int) -> UrlPair:
    return URLS[2 * number], URLS[2 * number + 1]


SITE = LabelledSite("a", [], [EN, FR], frozenset({pair(0), pair(1)}), frozenset({pair(2)}))


def test_a_doubtful_pair_is_neither_right_nor_wrong():
    found = judged(SITE, [pair(0)[::-1], pair(2), pair(3)])
    assert found == Reported(frozenset({pair(0)}), wrong=1, doubtful=1)
    assert found.precision == pytest.approx(0.5)
    assert bounds([found]) == pytest.approx((1 / 3, 2 / 3))


def test_a_method_that_reports_nothing_has_no_precision():
    assert judged(SITE, []).precision is None


def test_pairs_of_similar_structure_are_told_apart_by_their_letter():
    pairs = [
        PagePair(*pair(number), EN, FR, 0.9, {str(letter): 0.9})
        for number, letter in enumerate((Method.HIGH, Method.LOW, Method.HIGH))
    ]
    assert by_row("structure", pairs) == {
        Method.HIGH: [pair(0), pair(2)],
        Method.MEDIUM: [],
        Method.LOW: [pair(1)],
    }
    assert by_row("u", pairs) == {"u": [pair(0), pair(1), pair(2)]}


def found(*numbers: int) -> Reported:
    return Reported(frozenset(map(pair, numbers)), 0, 0)


def test_only_a_pair_that_no_other_method_finds_is_found_by_one_method_alone():
    rows = {str(row): found() for row in ROWS} | {Method.URL: found(0, 1), Method.IMAGES: found(1)}
    site = SiteRows("a", 4, rows)
    assert site.only(Method.URL, ROWS) == pytest.approx(0.25)
    assert site.only(Method.IMAGES, ROWS) == 0
    assert site.only(Method.IMAGES, OF_PAGES) == pytest.approx(0.25)


def test_the_mean_precision_leaves_out_the_sites_where_a_method_reports_nothing():
    silent = {str(row): found() for row in COLUMNS}
    sites = [SiteRows("a", 2, silent | {Method.URL: found(0)}), SiteRows("b", 2, silent)]
    (line,) = [line for line in by_method(sites) if line.startswith(Method.URL.label)]
    recall, precision, count = line.split()[2:5]
    assert (recall, precision, count) == ("0.250", "1.000", "1")


def row(topic: str, lang: str, *, also: str = "", neutral: str = "0") -> dict[str, str]:
    return {"topic": topic, "lang": lang, "also": also, "neutral": neutral}


def test_a_subject_has_the_languages_of_the_paper_or_those_of_most_of_its_pages():
    truth = dict(
        zip(
            URLS,
            [
                *(row("wine", code) for code in ("de", "fr", "fr", "es")),
                *(row("travel", code) for code in ("it", "en", "en", "de")),
            ],
            strict=False,
        )
    )
    web = Web("web", truth, {})
    assert languages_of(web, "wine") == (FR, DE)
    assert languages_of(web, "travel") == (DE, IT)


def test_only_pages_that_the_truth_judges_and_the_list_has_not_seen_count():
    truth = {
        URLS[0]: row("wine", "en"),
        URLS[1]: row("travel", "en", also="wine"),
        URLS[2]: row("travel", "en"),
        URLS[3]: row("wine", "en", neutral="1"),
        URLS[4]: row("wine", "fr"),
        URLS[5]: row("wine", "en"),  # shown
        URLS[6]: row("wine", "en"),  # refused
    }
    pages = [Page(url, EN, relevance=Relevance(0.9, relevant=url != URLS[6])) for url in URLS]
    topic = Topic("learned 1", "wine", (EN, FR), None, frozenset({URLS[5]}))  # type: ignore[arg-type]
    web = Web("web", truth, {})
    english, french = (accepted(pages, web, topic, language) for language in (EN, FR))
    assert english == Accepted(taken=3, right=2, true=3)
    assert french == Accepted(taken=1, right=1, true=1)
    assert together([english, french]) == Accepted(taken=4, right=3, true=4)
