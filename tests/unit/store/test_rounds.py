"""How likely pages have changed, and what a visit of a further round decides."""

from pathlib import Path

import pytest

from bitrawl.model import Answer, Lease, Link, LinkKind, Page, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.store.ledger import Ledger
from bitrawl.store.rounds import ChangeRates, RevisitedPage, is_verdict
from bitrawl.url import Url

DAY = 86400.0
PAGE = Url.parse("http://s.test/en/page")


def observed(path: str, changes: int, visits: int = 5) -> RevisitedPage:
    return RevisitedPage(f"http://s.test/{path}", visits, changes, visits * DAY, 0.0)


def test_pages_that_changed_more_often_are_more_likely_to_have_changed():
    pages = [observed("a/1", 0), observed("a/2", 2), observed("a/3", 5)]
    rates = ChangeRates(pages)
    likely = [rates.likelihood(page, DAY) for page in pages]
    assert likely == sorted(likely)
    assert all(0 < value < 1 for value in likely)


def test_a_visit_gains_most_where_a_page_has_changed_and_then_stays_as_it_is():
    always, seldom, never = pages = [observed("a/1", 5), observed("b/1", 2), observed("c/1", 0)]
    rates = ChangeRates(pages)
    assert rates.gain(seldom, 3 * DAY) > rates.gain(always, 3 * DAY)  # which is outdated again at once
    assert rates.gain(seldom, 3 * DAY) > rates.gain(never, 3 * DAY)
    assert rates.gain(never, 30 * DAY) > rates.gain(never, 3 * DAY)


def test_the_longer_ago_a_page_was_visited_the_more_likely_it_has_changed():
    rates = ChangeRates([observed("a/1", 2)])
    assert rates.likelihood(observed("a/1", 2), 3 * DAY) > rates.likelihood(observed("a/1", 2), DAY)


def test_a_page_that_was_visited_once_is_judged_by_its_directory():
    rates = ChangeRates([*(observed(f"news/{n}", 5) for n in range(9)), *(observed(f"law/{n}", 0) for n in range(9))])
    new = [RevisitedPage(f"http://s.test/{name}/new", 0, 0, 0.0, 0.0) for name in ("news", "law")]
    assert rates.likelihood(new[0], DAY) > 3 * rates.likelihood(new[1], DAY)


def test_the_rate_is_that_of_cho_and_garcia_molina_once_much_is_known():
    page = observed("a/1", 300, visits=1000)
    assert ChangeRates([page]).likelihood(page, DAY) == pytest.approx(0.3, abs=0.005)


def test_what_is_missing_is_asked_for_if_it_is_listed_and_the_later_the_longer_it_has_been_missing(tmp_path: Path):
    names = ("stands", "recent", "long", "unlisted", "seed")
    urls = {name: Url.parse(f"http://s.test/{name}") for name in names}
    with Ledger(tmp_path / "job.sqlite") as ledger:
        for name, url in urls.items():
            link = Link(url, LinkKind.SEED if name == "seed" else LinkKind.PAGE)
            with ledger.transaction():
                ledger.refuse([(link, Skip(url, Stage.SCOPE, Reason.OFF_SITE))])
                ledger.record(Visit(Lease(link, 1.0), Page(url, "en", digest=name), 200, at=0.0, answer=Answer(at=0.0)))
        for name, missing in (("stands", 0), ("recent", 2), ("long", 9), ("unlisted", 2), ("seed", 2)):
            seen = (missing, 10, 5, 10 * DAY, 10 * DAY, urls[name])
            question = "UPDATE answers SET missing = ?, visits = ?, changes = ?, span = ?, visited = ? WHERE url = ?"
            ledger.database.query(question, seen)
        lost = ledger.rounds.lost()
        ledger.rounds.begin(11 * DAY, 0.0, {urls["recent"], urls["long"]})
        due = {name: ledger.database.one("SELECT due FROM answers WHERE url = ?", (urls[name],))[0] for name in names}
    assert lost == {urls[name] for name in ("recent", "long", "unlisted")}
    assert due["unlisted"] is None
    assert due["stands"] > due["recent"] > due["long"] > 0
    assert due["seed"] > 0


@pytest.mark.parametrize(
    ("reason", "status", "expected"),
    [
        (Reason.HTTP_STATUS, 404, True),
        (Reason.HTTP_STATUS, 410, True),
        (Reason.HTTP_STATUS, 403, False),
        (Reason.SERVER_ERROR, 503, False),
        (Reason.TIMEOUT, 0, False),
        (Reason.DNS, 0, False),
        (Reason.KILLED, 200, False),
        (Reason.REDIRECT, 301, True),
        (Reason.NOINDEX, 200, True),
        (Reason.ROBOTS, 0, True),
    ],
)
def test_only_an_answer_about_the_page_is_a_verdict(reason: Reason, status: int, *, expected: bool):
    assert is_verdict(Skip(PAGE, Stage.FETCH, reason, status=status)) is expected
