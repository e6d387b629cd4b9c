"""What a crawl finds early hardly depends on how many visits are in flight, on made-up webs of many hosts."""

import asyncio
from functools import cache
from itertools import accumulate

import pytest
from many_hosts import RARE, START, about, many_hosts, text

from bitrawl.job.topics import Examples
from bitrawl.model import Language
from bitrawl.page.analyser import read_html
from bitrawl.strategies import Strategy
from bitrawl.topic.settings import TopicSection
from bitrawl.url import Url
from lab.bench.focused import Fetching, crawled, job_for
from lab.bench.in_flight import ONE, USUAL, least_ratio
from lab.bench.servers import PagedWeb

LANGUAGES = ("es", "zh", "he")  # with spaces, without, and from right to left
FIRST = 60  # of 373 pages; 44 are about a subject, 30 of them on one host
SHOWN = 10  # texts


@cache
def web(code: str) -> PagedWeb:
    return PagedWeb([read_html(html, Url.parse(url)) for url, html in many_hosts(code).items()])


@cache
def order(code: str, subject: str, name: Strategy, in_flight: int, run: int = 0) -> tuple[Url, ...]:
    """The pages in the order in which they came. Each run is made."""
    seeds, language = [Url.parse(START)], Language(code)
    shown = Examples({language: [text(code, subject, number) for number in range(SHOWN)]})
    job = job_for(name, [language], seeds, TopicSection(texts=["shown"], hub=True))
    fetching = Fetching(web(code), web(code))
    pages = asyncio.run(crawled(fetching, seeds, job, shown, pages=FIRST, in_flight=in_flight, leave=True))
    return tuple(page.url for page in pages)


def found(code: str, subject: str, name: Strategy, in_flight: int) -> list[int]:
    """Pages about the subject, after each visit."""
    wanted = about(subject)
    return list(accumulate(url in wanted for url in order(code, subject, name, in_flight)))


@pytest.mark.parametrize("code", LANGUAGES)
def test_with_many_visits_in_flight_a_crawl_finds_almost_what_it_finds_one_at_a_time(code: str):
    many, one = (
        sum(found(code, subject, Strategy.ADAPTIVE, number)[-1] for subject in RARE) for number in (USUAL, ONE)
    )
    assert many >= 0.95 * one


@pytest.mark.parametrize("in_flight", [USUAL, ONE])
@pytest.mark.parametrize("code", LANGUAGES)
def test_a_rare_subject_is_found_soon_and_never_later_than_in_order_of_arrival(code: str, in_flight: int):
    for subject in RARE:
        adaptive, plain = (
            found(code, subject, name, in_flight) for name in (Strategy.ADAPTIVE, Strategy.BREADTH_FIRST)
        )
        assert adaptive[-1] >= 3 * plain[-1] > 0
        assert (least_ratio(adaptive, plain) or 0) >= 0.9


@pytest.mark.parametrize("in_flight", [1, 4, 16, 64])
def test_a_crawl_has_the_same_order_each_time(in_flight: int):
    orders = {order(LANGUAGES[0], next(iter(RARE)), Strategy.ADAPTIVE, in_flight, run) for run in range(5)}
    assert [len(one) for one in orders] == [FIRST]
