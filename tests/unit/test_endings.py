"""How a run ended, in words."""

from typing import Any

import msgspec
import pytest

from bitrawl.endings import (
    CrawlEnd,
    Ending,
    Failing,
    LastRun,
    Limit,
    LimitUnit,
    SeedSkip,
    SiteBudget,
    State,
    crawl_end,
    ending,
    seed_skips,
)
from bitrawl.model import Skip
from bitrawl.reasons import FewPairs, OneLanguage, Reason, Stage
from bitrawl.url import Url

SEED = Url.parse("https://www.example.org/")
OTHER = Url.parse("https://www.example.net/")


def skipped(reason: Reason, detail: str = "", status: int = 0, url: Url = SEED) -> SeedSkip:
    return SeedSkip(SEED, Skip(url, Stage.FETCH, reason, detail, status))


def kept(end: CrawlEnd) -> CrawlEnd:
    """As the ledger gives it back."""
    read = msgspec.json.decode(msgspec.json.encode(end), type=CrawlEnd)
    assert read == end
    return read


NOT_FOUND = skipped(Reason.HTTP_STATUS, "Not Found", 404)
FEW = FewPairs(42, 170, 80, 1, 340, 50, 0.4)
NONE = FewPairs(0, 170, 80, 0, 340, 50, 0.4)
SILENT = Failing(Reason.DNS, 3, "a.org has no address (DNS)")
OPEN = "Open the seeds in a browser. Some sites refuse all crawlers; a --contact in the User-Agent may help."
AGAIN = "To try again, run the same command again."
REST = "To visit the rest, run the same command with --exhaustive."
LARGER = "To go on, run the same command with a larger --max-pages."
FEW_FOUND = "The last 80 visits to a.org brought only 1 page pair, so the rest of the site was left out."
PAGES = Limit(LimitUnit.PAGES, 200)


@pytest.mark.parametrize(
    ("rest", "kind", "says"),
    [
        ({"pages": 3}, Ending.DONE, "Nothing is left to visit."),
        ({"stopped": True}, Ending.STOPPED, "You stopped the job. To go on, run the same command again."),
        (
            {"stopped": True, "pages": 3, "queued": 1},
            Ending.STOPPED,
            "You stopped the job. 1 link was not visited. To go on, run the same command again.",
        ),
        (
            {"budget": PAGES, "pages": 200, "queued": 3400},
            Ending.BUDGET,
            f"The limit of 200 pages was reached. 3,400 links were not visited. {LARGER}",
        ),
        (
            {"left": {"a.org": FEW}, "pages": 8, "queued": 5},
            Ending.DONE,
            (
                "The last 80 visits to a.org brought only 1 page pair, so the rest of the site was left out."
                f" 5 links were not visited. {REST}"
            ),
        ),
        (
            {"left": {"a.org": NONE, "b.org": FEW}, "pages": 8, "queued": 1},
            Ending.DONE,
            (
                "The last 80 visits to a.org brought no page pair, so the rest of the site was left out."
                f" 1 other site was left early, too. 1 link was not visited. {REST}"
            ),
        ),
        (
            {"left": {"a.org": OneLanguage(8, "en")}, "pages": 8, "queued": 5},
            Ending.DONE,
            (
                "8 pages of a.org were read, and everything points to English alone, so the rest of the site was left out."
                f" 5 links were not visited. {REST}"
            ),
        ),
        ({"left": {"a.org": FEW}, "pages": 8}, Ending.DONE, "Nothing is left to visit."),
        (
            {"parked": {"a.org": SILENT, "b.org": SILENT, "c.org": SILENT}, "pages": 8, "queued": 5},
            Ending.DONE,
            (
                "3 visits to a.org failed in a row (a.org has no address (DNS)), so the host was given up."
                f" 2 other hosts were given up, too. 5 links were not visited. {AGAIN}"
            ),
        ),
        (
            {"parked": {"a.org": SiteBudget(Limit(LimitUnit.MINUTES, 1.5))}, "pages": 8, "queued": 5},
            Ending.DONE,
            (
                "The limit of 1.5 minutes for each site was reached on a.org. 5 links were not visited."
                " To go on, run the same command with a larger --site-minutes."
            ),
        ),
        (
            {"seeds": [NOT_FOUND]},
            Ending.FAILED,
            f"No page was found. https://www.example.org/ answered with the error 404 Not Found. {OPEN} {AGAIN}",
        ),
        (
            {"seeds": [NOT_FOUND, NOT_FOUND]},
            Ending.FAILED,
            (
                "No page was found. https://www.example.org/ answered with the error 404 Not Found."
                f" 1 other address brought no page either. {OPEN} {AGAIN}"
            ),
        ),
        (
            {"seeds": [skipped(Reason.HTTP_STATUS, "Gone", 410, OTHER)]},
            Ending.FAILED,
            (
                "No page was found. https://www.example.org/ leads to https://www.example.net/."
                f" https://www.example.net/ answered with the error 410 Gone. {OPEN} {AGAIN}"
            ),
        ),
        (
            {"seeds": [skipped(Reason.OFF_SITE, url=OTHER)]},
            Ending.FAILED,
            (
                "No page was found. https://www.example.org/ leads to https://www.example.net/."
                " https://www.example.net/ is on another site. Give https://www.example.net/ as the seed."
            ),
        ),
        (
            {"seeds": [skipped(Reason.ROBOTS, "https://www.example.org/robots.txt")]},
            Ending.FAILED,
            (
                "No page was found. The site does not allow https://www.example.org/ to be visited"
                " (https://www.example.org/robots.txt)."
                " Ask the site's owner for permission. bitrawl always obeys robots.txt."
            ),
        ),
        (
            {"seeds": [skipped(Reason.HTTP_ERROR, status=200)]},
            Ending.FAILED,
            f"No page was found. https://www.example.org/ brought no page (invalid answer). {AGAIN}",
        ),
        (
            {"seeds": [skipped(Reason.DNS, "www.example.org has no address (DNS)")]},
            Ending.FAILED,
            (
                "No page was found. https://www.example.org/ did not answer (www.example.org has no address (DNS))."
                f" Check the spelling of the seeds and your network connection. {AGAIN}"
            ),
        ),
        (
            {"seeds": [skipped(Reason.PRIVATE_ADDRESS, "127.0.0.1 is private")]},
            Ending.FAILED,
            (
                "No page was found. https://www.example.org/ brought no page (private network: 127.0.0.1 is private)."
                f" If these are your own machines, allow them with --allow-private. {AGAIN}"
            ),
        ),
        (
            {"parked": {"a.org": Failing(Reason.TIMEOUT, 3)}, "queued": 3},
            Ending.FAILED,
            (
                "No page was found. 3 visits to a.org failed in a row (answer too slow), so the host was given up."
                " 3 links were not visited. Raise fetch.timeout in the job file, or try again later."
            ),
        ),
        (
            {"budget": Limit(LimitUnit.MINUTES, 1.0)},
            Ending.FAILED,
            (
                "No page was found. The limit of 1 minute was reached."
                " To go on, run the same command with a larger --max-minutes."
            ),
        ),
    ],
)
def test_the_end_of_a_run_is_said_with_what_to_type(rest: dict[str, Any], kind: Ending, says: str):
    end = kept(crawl_end(**rest))
    assert (ending(end), str(end)) == (kind, says)


def test_a_seed_is_followed_through_its_redirects():
    end = Skip(OTHER, Stage.FETCH, Reason.HTTP_STATUS, "Gone", 410)
    known = {SEED: Skip(SEED, Stage.FETCH, Reason.REDIRECT, OTHER, 301), OTHER: end}
    page = Url.parse("https://www.example.org/page")
    assert seed_skips([SEED, page], known.get) == [SeedSkip(SEED, end)]


def test_redirects_in_a_circle_and_to_nowhere_end():
    circle = {
        SEED: Skip(SEED, Stage.FETCH, Reason.REDIRECT, OTHER),
        OTHER: Skip(OTHER, Stage.FETCH, Reason.REDIRECT, SEED),
    }
    assert [found.skip.reason for found in seed_skips([SEED], circle.get)] == [Reason.REDIRECT]
    nowhere = Skip(SEED, Stage.FETCH, Reason.REDIRECT, "'javascript:' is not a web address", 302)
    assert [found.skip for found in seed_skips([SEED], {SEED: nowhere}.get)] == [nowhere]


@pytest.mark.parametrize(
    ("rest", "kind", "says"),
    [
        ({"pages": 7, "relevant": 0}, Ending.FAILED, "7 pages were read, and none of them is about the topic."),
        (
            {"pages": 7, "relevant": 0, "budget": PAGES, "queued": 3},
            Ending.FAILED,
            (
                "7 pages were read, and none of them is about the topic. The limit of 200 pages was reached."
                f" 3 links were not visited. {LARGER}"
            ),
        ),
        ({"pages": 7, "relevant": 1}, Ending.DONE, "Nothing is left to visit."),
        ({"pages": 0, "relevant": None}, Ending.FAILED, "No page was found."),
        (
            {"pages": 7, "relevant": 0, "stopped": True},
            Ending.STOPPED,
            "You stopped the job. To go on, run the same command again.",
        ),
    ],
)
def test_a_job_without_a_page_about_its_topic_has_failed(rest, kind, says):
    end = kept(crawl_end(**rest))
    assert (ending(end), str(end)) == (kind, says)


def test_the_pairs_that_were_found_are_told_where_they_are_known():
    end = crawl_end(left={"a.org": FEW}, pages=8, queued=5)
    assert end.english(42).startswith("Found 42 page pairs. The last 80 visits to a.org brought only 1 page pair, so ")
    assert end.english(1).startswith("Found 1 page pair. ")


def test_a_job_without_a_page_is_never_done():
    stopped = crawl_end(stopped=True)
    assert LastRun(ended=stopped, has_pages=True).state is State.ENDED
    assert LastRun(ended=stopped, has_pages=False).state is State.NOTHING_FOUND
    failed = LastRun(ended=crawl_end(seeds=[NOT_FOUND]), has_pages=False)
    assert failed.state is State.FAILED


@pytest.mark.parametrize(
    ("languages", "rest", "kind", "says"),
    [
        (("fr",), {}, Ending.FAILED, "No page in French was found. Nothing is left to visit."),
        (
            ("fr", "de"),
            {"left": {"a.org": FEW}, "queued": 1},
            Ending.FAILED,
            f"No page in French and German was found. {FEW_FOUND} 1 link was not visited. {REST}",
        ),
        (
            ("fr",),
            {"budget": PAGES},
            Ending.FAILED,
            f"No page in French was found. The limit of 200 pages was reached. {LARGER}",
        ),
        ((), {"budget": PAGES}, Ending.BUDGET, f"The limit of 200 pages was reached. {LARGER}"),
    ],
)
def test_a_job_without_the_languages_that_it_needs_has_failed(languages, rest, kind, says):
    end = kept(msgspec.structs.replace(crawl_end(pages=7, **rest), languages=languages))
    assert (ending(end), str(end)) == (kind, says)
