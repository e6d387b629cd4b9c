"""How a wiki's API is asked: answers in parts, waits, answers kept, and what is no wiki."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from bitrawl.errors import WikiError
from bitrawl.model import Capture, Link, Skip
from bitrawl.reasons import Reason, Stage
from bitrawl.topic.wiki_api import ATTEMPTS, AnswerCache, ApiWiki, WikiClient, WikiRefusedError
from bitrawl.url import Url

API = Url.parse("https://wiki.test/w/api.php")


class Clock:
    def __init__(self) -> None:
        self.pauses: list[float] = []

    def now(self) -> float:
        return 0.0

    def date(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


class Script:
    """Gives these answers one after the other."""

    def __init__(self, answers: Sequence[object]) -> None:
        self._answers = iter(answers)
        self.asked: list[str] = []

    async def fetch(self, link: Link) -> Capture | Skip:
        self.asked.append(link.url)
        answer = next(self._answers)
        return answer if isinstance(answer, Capture | Skip) else capture(answer)


def capture(answer: object, *headers: tuple[str, str]) -> Capture:
    return Capture(API, 200, headers, msgspec.json.encode(answer), at=0.0, media_type="application/json")


def skip(reason: Reason, status: int = 0, after: float = 0.0) -> Skip:
    return Skip(API, Stage.FETCH, reason, "said so", status, after)


def client(tmp_path: Path, *answers: object) -> tuple[WikiClient, Script, Clock]:
    script, clock = Script(answers), Clock()
    return WikiClient(API, script, AnswerCache(tmp_path), clock), script, clock


def titles(*names: str) -> dict[str, object]:
    return {"query": {"pages": [{"title": name, "pageid": number} for number, name in enumerate(names, 1)]}}


async def test_an_answer_in_parts_is_asked_for_to_its_end(tmp_path: Path):
    first = {**titles("A"), "continue": {"gcmcontinue": "page|41|1", "continue": "gcmcontinue||"}}
    asking, script, _ = client(tmp_path, first, titles("B"))
    found = [page.title async for query in asking.all({"generator": "categorymembers"}) for page in query.pages]
    assert found == ["A", "B"]
    assert "gcmcontinue=page%7C41%7C1" in script.asked[1]
    assert all("maxlag=5" in url and "format=json" in url for url in script.asked)


async def test_a_wiki_that_goes_on_with_the_same_part_ends(tmp_path: Path):
    same = {**titles("A"), "continue": {"gcmcontinue": "1"}}
    asking, script, _ = client(tmp_path, *[same] * 9)
    with pytest.raises(WikiError, match="keeps giving the same answer"):
        [query async for query in asking.all({"list": "x"})]
    assert len(script.asked) == 2


async def test_a_wiki_that_is_behind_is_asked_again_when_it_says(tmp_path: Path):
    behind = capture({"error": {"code": "maxlag", "info": "Waiting for db1: 7 seconds lagged"}}, ("Retry-After", "17"))
    limited = skip(Reason.RATE_LIMITED, 429, after=60)
    asking, script, clock = client(tmp_path, behind, limited, skip(Reason.TIMEOUT), titles("A"))
    assert (await asking.ask({"list": "x"})).pages[0].title == "A"
    assert clock.pauses == [17, 60, 20]
    assert len(script.asked) == 4


async def test_a_wiki_that_stays_busy_is_left_with_what_to_do(tmp_path: Path):
    asking, script, _ = client(tmp_path, *[{"error": {"code": "ratelimited", "info": "too fast"}}] * ATTEMPTS)
    with pytest.raises(WikiError, match=r"too fast\. What it answered so far is kept: run the same command later"):
        await asking.ask({"list": "x"})
    assert len(script.asked) == ATTEMPTS


async def test_a_wait_of_hours_is_not_waited(tmp_path: Path):
    asking, script, clock = client(tmp_path, skip(Reason.RATE_LIMITED, 429, after=7200))
    with pytest.raises(WikiError, match="run the same command later"):
        await asking.ask({"list": "x"})
    assert (len(script.asked), clock.pauses) == (1, [])


async def test_what_was_answered_is_not_asked_again_and_an_error_is_not_kept(tmp_path: Path):
    refused = {"error": {"code": "badvalue", "info": "Unrecognized value"}}
    asking, script, _ = client(tmp_path, refused, titles("A"))
    with pytest.raises(WikiRefusedError, match="Unrecognized value"):
        await asking.ask({"list": "x"})
    for _ in range(3):
        assert (await asking.ask({"list": "x"})).pages[0].title == "A"
    assert len(script.asked) == 2


async def test_a_kept_answer_that_is_damaged_is_asked_again(tmp_path: Path):
    asking, script, _ = client(tmp_path, titles("A"), titles("A"))
    await asking.ask({"list": "x"})
    for path in tmp_path.iterdir():
        path.write_bytes(b'{"query": {"pa')
    assert (await asking.ask({"list": "x"})).pages[0].title == "A"
    assert len(script.asked) == 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (skip(Reason.CONTENT_TYPE, 200), "is not the API of a MediaWiki; give the address of its api.php"),
        (skip(Reason.HTTP_STATUS, 404), "is not the API of a MediaWiki"),
        (skip(Reason.PRIVATE_ADDRESS), "--allow-private"),
        (skip(Reason.DNS), "does not answer: said so. Check --wiki"),  # at once: it has never answered
        (skip(Reason.TLS), "does not answer: said so. Check --wiki and the network, or use a dump"),
        (Capture(API, 301, (("Location", "https://new.test/w/api.php?action=query"),), b"", at=0.0), "has moved to https://new.test/w/api.php;"),
        (Capture(API, 200, (), b"[1, 2]", at=0.0), "is not the API of a MediaWiki"),
    ],
)  # fmt: skip
async def test_what_is_no_wiki_is_said_with_what_to_do(tmp_path: Path, answer: object, message: str):
    asking, _, _ = client(tmp_path, answer)
    with pytest.raises(WikiError, match=message.replace(".", r"\.").replace("(", r"\(")) as caught:
        await asking.ask({"meta": "siteinfo"})
    assert caught.value.without_advice
    assert "--" not in caught.value.without_advice


async def test_titles_are_asked_for_as_many_at_once_as_the_address_holds(tmp_path: Path):
    short, long = [f"T{number}" for number in range(120)], [f"Ω{'ξ' * 60}{number}" for number in range(20)]
    asking, script, _ = client(tmp_path, *[titles()] * 40)
    wiki = ApiWiki(asking, "el")  # type: ignore[arg-type]
    await wiki.named(short)
    assert [url.count("%7C") + 1 - 2 for url in script.asked] == [50, 50, 20]  # two more are between the properties
    script.asked.clear()
    await wiki.named(long)
    assert len(script.asked) > 2
    assert all(len(url) < 2083 for url in script.asked)


async def test_a_page_whose_links_come_in_parts_is_one_article(tmp_path: Path):
    def part(**links: object) -> dict[str, object]:
        return {"query": {"pages": [{"title": "A", "pageid": 1, "ns": 0, **links}]}}

    first = {**part(extlinks=[{"url": "http://a.test/"}]), "continue": {"elcontinue": "1"}}
    second = part(extlinks=[{"url": "http://b.test/"}], pageprops={"disambiguation": ""})
    asking, _, _ = client(tmp_path, first, second)
    (article,) = await ApiWiki(asking, "en").named(["A"])  # type: ignore[arg-type]
    assert article.links == ("http://a.test/", "http://b.test/")
    assert article.disambiguation
