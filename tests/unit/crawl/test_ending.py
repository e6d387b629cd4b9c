"""How a run ended, in words."""

from typing import Any

import msgspec
import pytest

from bitrawl.crawl.ending import Ending, SeedSkip, crawl_end, ending, seed_skips, stored_doing, stored_end
from bitrawl.endings import CrawlEnd, EndKind
from bitrawl.model import Skip
from bitrawl.reasons import Reason, Stage
from bitrawl.url import Url

SEED = Url.parse("https://www.example.org/")
OTHER = Url.parse("https://www.example.net/")


def skipped(reason: Reason, detail: str = "", status: int = 0, url: Url = SEED) -> SeedSkip:
    return SeedSkip(SEED, Skip(url, Stage.FETCH, reason, detail, status))


def kept(end: CrawlEnd) -> CrawlEnd:
    """As the ledger gives it back."""
    read = stored_end(msgspec.json.encode(end).decode())
    assert read == end
    return read


NOT_FOUND = skipped(Reason.HTTP_STATUS, "Not Found", 404)


@pytest.mark.parametrize(
    ("rest", "kind", "says"),
    [
        ({"pages": 3}, Ending.DONE, "done: nothing is left to visit"),
        ({"stopped": True}, Ending.STOPPED, "stopped by you; resume with the same command"),
        (
            {"stopped": True, "pages": 3, "queued": 1},
            Ending.STOPPED,
            "stopped by you; 1 link still queued; resume with the same command",
        ),
        (
            {"budget": "200 pages", "pages": 200, "queued": 340},
            Ending.BUDGET,
            "budget of 200 pages used up; 340 links still queued",
        ),
        (
            {"left": {"a.org": "8 pages, with only en"}, "pages": 8, "queued": 5},
            Ending.DONE,
            "left a.org: 8 pages, with only en; 5 links still queued; --exhaustive visits them",
        ),
        ({"left": {"a.org": "8 pages, with only en"}, "pages": 8}, Ending.DONE, "done: nothing is left to visit"),
        (
            {"parked": {"a.org": "a.org has no address (DNS)", "b.org": "x", "c.org": "x"}, "pages": 8, "queued": 5},
            Ending.DONE,
            (
                "gave up on a.org and 2 other hosts: a.org has no address (DNS); 5 links still queued;"
                " the same command tries again"
            ),
        ),
        (
            {"seeds": [NOT_FOUND]},
            Ending.FAILED,
            (
                "no page was found: the seed https://www.example.org/ answered 404 (Not Found);"
                " the same command tries again"
            ),
        ),
        (
            {"seeds": [NOT_FOUND, NOT_FOUND]},
            Ending.FAILED,
            (
                "no page was found: the seed https://www.example.org/ answered 404 (Not Found);"
                " 1 other seed brought no page either; the same command tries again"
            ),
        ),
        (
            {"seeds": [skipped(Reason.HTTP_STATUS, "Gone", 410, OTHER)]},
            Ending.FAILED,
            (
                "no page was found: the seed https://www.example.org/ redirects to https://www.example.net/,"
                " which answered 410 (Gone); the same command tries again"
            ),
        ),
        (
            {"seeds": [skipped(Reason.OFF_SITE, url=OTHER)]},
            Ending.FAILED,
            (
                "no page was found: the seed https://www.example.org/ redirects to https://www.example.net/,"
                " which is on another site; give that address as the seed"
            ),
        ),
        (
            {"seeds": [skipped(Reason.ROBOTS, "https://www.example.org/robots.txt")]},
            Ending.FAILED,
            "no page was found: the seed https://www.example.org/ is disallowed by https://www.example.org/robots.txt",
        ),
        (
            {"seeds": [skipped(Reason.EMPTY, status=200)]},
            Ending.FAILED,
            "no page was found: the seed https://www.example.org/ was skipped: empty; the same command tries again",
        ),
        (
            {"seeds": [skipped(Reason.DNS, "www.example.org has no address (DNS)")]},
            Ending.FAILED,
            (
                "no answer came from https://www.example.org/: www.example.org has no address (DNS);"
                " the same command tries again"
            ),
        ),
        (
            {"seeds": [skipped(Reason.PRIVATE_ADDRESS, "127.0.0.1 is private")]},
            Ending.FAILED,
            (
                "no page was found: the seed https://www.example.org/ was skipped: private-address (127.0.0.1 is private);"
                " add --allow-private, and the same command tries again"
            ),
        ),
        (
            {"parked": {"a.org": "a.org has no address (DNS) (3 failures in a row)"}, "queued": 3},
            Ending.FAILED,
            (
                "no answer came from a.org: a.org has no address (DNS) (3 failures in a row); 3 links still queued;"
                " the same command tries again"
            ),
        ),
        ({"budget": "1 minute"}, Ending.FAILED, "no page was found; budget of 1 minute used up"),
    ],
)
def test_the_end_of_a_run_is_said_in_one_sentence(rest: dict[str, Any], kind: Ending, says: str):
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
        ({"pages": 7, "relevant": 0}, Ending.FAILED, "no page is about the topic (7 pages read)"),
        (
            {"pages": 7, "relevant": 0, "budget": "7 pages", "queued": 3},
            Ending.FAILED,
            "no page is about the topic (7 pages read); budget of 7 pages used up; 3 links still queued",
        ),
        ({"pages": 7, "relevant": 1}, Ending.DONE, "done: nothing is left to visit"),
        ({"pages": 0, "relevant": None}, Ending.FAILED, "no page was found"),
        ({"pages": 7, "relevant": 0, "stopped": True}, Ending.STOPPED, "stopped by you; resume with the same command"),
    ],
)
def test_a_job_without_a_page_about_its_topic_has_failed(rest, kind, says):
    end = kept(crawl_end(**rest))
    assert (ending(end), str(end)) == (kind, says)


@pytest.mark.parametrize(
    ("rest", "says"),
    [
        ({"pages": 3}, "nothing is left to visit"),
        ({"stopped": True, "queued": 2}, "stopped by you; 2 links still queued"),
        ({"left": {"a.org": "why"}, "pages": 8, "queued": 5}, "left a.org: why; 5 links still queued"),
        ({"parked": {"a.org": "why"}, "queued": 3}, "no answer came from a.org: why; 3 links still queued"),
    ],
)
def test_without_advice_it_names_neither_flags_nor_commands(rest: dict[str, Any], says: str):
    assert crawl_end(**rest).without_advice == says


def test_every_kind_has_a_sentence():
    for kind in set(EndKind) - {EndKind.EARLIER}:
        assert str(CrawlEnd(kind=kind, name="a.org", why="why", seed="https://a.org/", reason=Reason.EMPTY))


@pytest.mark.parametrize(
    "sentence", ["done: nothing is left to visit", "left {a.org}: 8 pages; --exhaustive visits them"]
)
def test_the_sentence_of_an_earlier_version_stays_as_it_is(sentence: str):
    end, doing = stored_end(sentence), stored_doing(sentence)
    assert end is not None
    assert (str(end), end.without_advice, str(doing)) == (sentence, sentence, sentence)
    assert (stored_end(""), stored_doing("")) == (None, None)


def test_an_earlier_version_that_was_stopped_is_known_to_be_stopped():
    end = stored_end("stopped by you; 3 links still queued; resume with the same command")
    assert end is not None
    assert end.kind is EndKind.STOPPED
