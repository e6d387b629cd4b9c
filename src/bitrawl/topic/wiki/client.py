"""Questions to the API of a MediaWiki, asked as its operators wish: one at a time, and not while it is behind.

https://www.mediawiki.org/wiki/API:Etiquette. Who asks is the fetcher's User-Agent.
"""

import logging
from collections.abc import AsyncIterator, Mapping
from urllib.parse import quote, urlencode

import msgspec

from bitrawl.errors import UrlError, WikiError
from bitrawl.files import NO_JSON
from bitrawl.model import NO_ANSWER, TRANSIENT, Capture, Link, LinkKind, Reason, Skip
from bitrawl.protocols import Clock, Fetcher
from bitrawl.topic.wiki.answers import KeptAnswers
from bitrawl.url import Url

MAX_LAG = 5  # seconds that the wiki's replicas may be behind; the etiquette's own figure
ATTEMPTS = 6  # judgement: with the waits below, two and a half minutes
FIRST_WAIT = 5.0  # seconds, doubled for each further attempt; the etiquette's figure for maxlag
LONGEST_WAIT = 600.0  # judgement: whoever is told to wait longer had better come back
_BUSY = frozenset({"maxlag", "ratelimited", "readonly"})

_log = logging.getLogger(__name__)

Parameters = Mapping[str, str | int]


class LanguageLink(msgspec.Struct, frozen=True):
    lang: str
    title: str = ""
    url: str = ""


class ExternalLink(msgspec.Struct, frozen=True):
    url: str = ""


class CategoryInfo(msgspec.Struct, frozen=True):
    size: int = 0
    pages: int = 0
    subcats: int = 0


class Page(msgspec.Struct, frozen=True):
    """A page in an answer. A long list of its links comes in several answers."""

    title: str = ""
    pageid: int = 0
    ns: int = 0
    missing: bool = False
    redirect: bool = False
    langlinks: list[LanguageLink] = []
    extlinks: list[ExternalLink] = []
    pageprops: dict[str, object] = {}
    categoryinfo: CategoryInfo | None = None
    extract: str = ""


class Named(msgspec.Struct, frozen=True):
    title: str


class General(msgspec.Struct, frozen=True):
    lang: str = ""
    sitename: str = ""


class Query(msgspec.Struct, frozen=True):
    pages: list[Page] = []
    prefixsearch: list[Named] = []
    search: list[Named] = []
    general: General = General()


class Complaint(msgspec.Struct, frozen=True):
    code: str = ""
    info: str = ""


class Answer(msgspec.Struct, frozen=True):
    query: Query = Query()
    error: Complaint | None = None
    more: dict[str, str | int] = msgspec.field(default={}, name="continue")


class RefusedError(WikiError):
    """The wiki understood the question, and says that it does not answer such ones."""


class PrivateWikiError(WikiError):
    """The wiki has a private address, and may not be asked."""


class WikiClient:
    """Asks one wiki, and keeps what it answers.

    It asks without robots.txt: the file is for crawlers that follow links, and Wikipedia's own forbids /w/ to them all.
    An API is published to be asked by programs, under rules of its own, and these are kept here.
    """

    def __init__(self, endpoint: Url, fetcher: Fetcher, answers: KeptAnswers, clock: Clock) -> None:
        self.endpoint = endpoint
        self._fetcher = fetcher
        self._answers = answers
        self._clock = clock
        self._has_answered = False  # in this run

    def sibling(self, endpoint: Url) -> "WikiClient":
        """A client for another edition."""
        return WikiClient(endpoint, self._fetcher, self._answers, self._clock)

    async def all(self, parameters: Parameters) -> AsyncIterator[Query]:
        """Every answer to a question that takes several."""
        more: Parameters = {}
        while True:
            answer = await self._answer({**parameters, **more})
            yield answer.query
            if not answer.more:
                return
            if answer.more == more:
                raise WikiError(f"{self.endpoint} goes on with the same answer again and again; try another wiki")
            more = answer.more

    async def ask(self, parameters: Parameters) -> Query:
        """The first answer."""
        return (await self._answer(parameters)).query

    def length(self, parameters: Parameters) -> int:
        """Of the address that asks this."""
        return len(self._address(parameters))

    def _address(self, parameters: Parameters) -> str:
        fixed = {"action": "query", "format": "json", "formatversion": 2, "maxlag": MAX_LAG}
        return f"{self.endpoint}?{urlencode({**fixed, **parameters}, quote_via=quote)}"

    async def _answer(self, parameters: Parameters) -> Answer:
        try:
            url = Url.parse(self._address(parameters))
        except UrlError as error:
            raise WikiError(f"{self.endpoint} cannot be asked: {error}") from error
        kept = self._answers.load(url)
        if kept is not None:
            try:
                return msgspec.json.decode(kept, type=Answer)
            except NO_JSON:
                _log.info("a kept answer of %s cannot be read; it is asked again", self.endpoint)
        body, answer = await self._ask_until_answered(url)
        self._answers.save(url, body)
        return answer

    async def _ask_until_answered(self, url: Url) -> tuple[bytes, Answer]:
        trouble = WikiError("")
        for attempt in range(ATTEMPTS):
            capture = await self._fetcher.fetch(Link(url, LinkKind.SEED))
            if isinstance(capture, Skip):
                if capture.reason is Reason.PRIVATE_ADDRESS:
                    raise PrivateWikiError(
                        f"{self.endpoint} is a private address", advice="; add --allow-private to ask it"
                    )
                # A wiki that has never answered is more probably a wrong address than a busy server.
                if capture.reason not in TRANSIENT or (capture.reason in NO_ANSWER and not self._has_answered):
                    raise self._no_answer(capture)
                trouble, asked_to_wait = self._no_answer(capture), capture.retry_after
            else:
                self._has_answered = True
                answer = self._decoded(capture)
                if answer.error is None:
                    return capture.body, answer
                if answer.error.code not in _BUSY and not answer.error.code.startswith("internal_api_error"):
                    raise RefusedError(
                        f"{self.endpoint} refuses the question: {answer.error.info or answer.error.code}"
                    )
                trouble, asked_to_wait = WikiError(answer.error.info or answer.error.code), _retry_after(capture)
            if asked_to_wait > LONGEST_WAIT:
                break
            if attempt + 1 < ATTEMPTS:
                wait = max(asked_to_wait, FIRST_WAIT * 2**attempt)
                _log.info("%s asks to wait (%s): %.0f s", self.endpoint.host, trouble, wait)
                await self._clock.sleep(wait)
        raise WikiError(
            f"{self.endpoint} is busy or does not answer: {trouble.without_advice}",
            advice=f"{trouble.advice}. What it answered so far is kept: run the same command later",
        )

    def _decoded(self, capture: Capture) -> Answer:
        if 300 <= capture.status < 400:
            target = capture.header("location")
            moved = f"{self.endpoint} has moved to {target.partition('?')[0]}"
            raise WikiError(moved, advice="; give that address to --wiki")
        try:
            return msgspec.json.decode(capture.body, type=Answer)
        except NO_JSON as error:
            raise WikiError(f"{self._not_an_api()}: {error}") from error

    def _no_answer(self, skip: Skip) -> WikiError:
        if skip.reason in (Reason.CONTENT_TYPE, Reason.HTTP_STATUS):
            return WikiError(f"{self._not_an_api()} (it answered {skip.status} {skip.detail})".rstrip())
        advice = ". Check --wiki and the network, or use a dump (--dump)" if skip.reason in NO_ANSWER else ""
        return WikiError(f"{self.endpoint} does not answer: {skip.detail or skip.reason}", advice=advice)

    def _not_an_api(self) -> str:
        return (
            f"{self.endpoint} is not the API of a MediaWiki; give the address of its api.php, which its page "
            "Special:Version names"
        )


def _retry_after(capture: Capture) -> float:
    said = capture.header("retry-after").strip()
    return float(said) if said.isdecimal() and said.isascii() and len(said) < 10 else 0.0
