"""Only what is about the topic gets into a corpus, in one language and in two."""

from collections.abc import Iterable

import msgspec
import pytest
from small_site import FR, articles, page

from bitrawl.config import resolve
from bitrawl.job.workers import wired_miner
from bitrawl.mining.findings import RefusalReason
from bitrawl.mining.stages import PairedSite
from bitrawl.model import Page, Relevance


def judged(page: Page, *, relevant: bool) -> Page:
    return msgspec.structs.replace(page, relevance=Relevance(0.9 if relevant else 0.1, relevant=relevant))


def paired(pages: Iterable[Page], langs: str = "en fr") -> PairedSite:
    job = resolve({"langs": langs.split(), "seeds": ["http://site.test/"]})
    made = list(pages)
    return wired_miner(job).pair("site.test", lambda: made, [])


@pytest.fixture(scope="module")
def site() -> list[Page]:
    return articles(8, "http://site.test/en/{}", "http://site.test/fr/{}")[0]


def test_without_a_topic_every_pair_is_kept(site: list[Page]):
    assert len(paired(site).findings.pairs) == 8
    assert len(paired(judged(one, relevant=True) for one in site).findings.pairs) == 8


@pytest.mark.parametrize("half", ["en", "fr"])
def test_a_pair_of_which_half_is_off_topic_is_refused_as_such(site: list[Page], half: str):
    off = {f"http://site.test/{half}/{number}" for number in (1, 4)}
    found = paired(judged(one, relevant=str(one.url) not in off) for one in site).findings
    assert len(found.pairs) == 6
    refused = {str(no.url_a if half == "en" else no.url_b): no.reason for no in found.refusals}
    assert {address: refused[address] for address in off} == dict.fromkeys(off, RefusalReason.OFF_TOPIC)


def test_a_translation_decides_where_the_topic_is_not_known_in_the_language(site: list[Page]):
    guess = Relevance(0.4, relevant=False, guessed=True)
    off = "http://site.test/en/1"
    pages = [
        msgspec.structs.replace(one, relevance=guess)
        if one.language == FR
        else judged(one, relevant=str(one.url) != off)
        for one in site
    ]
    found = paired(pages).findings
    assert off not in {str(pair.url_a) for pair in found.pairs}
    assert len(found.pairs) == 7
    assert not paired(msgspec.structs.replace(one, relevance=guess) for one in site).findings.pairs


@pytest.mark.parametrize("first_is_relevant", [True, False])
def test_a_page_about_the_topic_is_no_copy_of_one_that_is_left_out(*, first_is_relevant: bool):
    text = ["The harbour of the old town opens at six.", "Boats with green sails carry salt and fish before winter."]
    first, second = (page(f"http://site.test/{n}", FR, text) for n in (1, 2))
    pages = [judged(first, relevant=first_is_relevant), judged(second, relevant=not first_is_relevant)]
    assert paired(pages, "fr").findings.duplicates == {}
    assert len(paired([first, second], "fr").findings.duplicates) == 1
