"""Backlinks from a service on the web, for those who have one. docs/how-to/backlinks.md has the format.

A `BacklinkSource` answers at once, and a service does not. So a service is asked beforehand: `await prefetch(hosts, limit)`
puts its answers where `referrers` finds them. What was not prefetched has no referrers.
"""

import logging
from collections import OrderedDict
from collections.abc import Iterable
from http import HTTPStatus
from urllib.parse import quote

import msgspec

from bitrawl.discover.graph.names import home_page, host_of, without_www
from bitrawl.discover.graph.rows import ranked
from bitrawl.errors import ConfigError, GraphError, UrlError
from bitrawl.files import NO_JSON
from bitrawl.model import TRANSIENT, Capture, Link, LinkKind, Reason, Skip
from bitrawl.protocols import Fetcher
from bitrawl.url import Url, without_credentials

MEDIA_TYPES = frozenset({"application/json", "application/x-ndjson", "application/jsonl", "text/plain"})
_KEPT = 20_000  # answers in memory; judgement
_FAILURES = 5  # in a row, after which the service counts as gone; judgement

log = logging.getLogger(__name__)


class Referrer(msgspec.Struct, frozen=True):
    """One object of an answer. Other keys are ignored."""

    source: str
    anchor: str = ""
    context: str = ""
    target: str = ""


class BacklinkService:
    """A `BacklinkSource` of what was prefetched. It asks one question at a time."""

    def __init__(self, template: str, fetcher: Fetcher) -> None:
        """`template` is a URL with {url} in it, and {limit} if the service has such a parameter."""
        if "{url}" not in template:
            raise ConfigError(
                f"{without_credentials(template)} does not say where the page goes; write for example "
                "https://api.example.org/backlinks?target={url}&limit={limit}"
            )
        self._template, self._fetcher = template, fetcher
        self._answers: OrderedDict[str, list[Link]] = OrderedDict()
        self._failures = 0
        self.name = host_of(template)

    async def prefetch(self, targets: Iterable[Url | str], limit: int) -> None:
        """Raises `GraphError` if the service refuses, has no such format, or no longer answers."""
        for target in targets:
            if _key(target) not in self._answers:
                links = await self._ask(target, limit)
                if links is not None:
                    self._answers[_key(target)] = links
            while len(self._answers) > _KEPT:
                self._answers.popitem(last=False)

    def referrers(self, target: Url | str, limit: int) -> list[Link]:
        return self._answers.get(_key(target), [])[:limit]

    def cites(self, _target: Url | str, _limit: int) -> list[str]:
        """Nothing: a service is asked for backlinks only."""
        return []

    async def _ask(self, target: Url | str, limit: int) -> list[Link] | None:
        """None if it may answer later."""
        asked = self._template.replace("{url}", quote(target, safe="")).replace("{limit}", str(limit))
        answer = await self._fetcher.fetch(Link(Url.parse(asked), LinkKind.SEED))
        if isinstance(answer, Capture) and answer.status == HTTPStatus.OK:
            self._failures = 0
            return ranked(self._links(answer.body, target))
        if answer.status in (HTTPStatus.NOT_FOUND, HTTPStatus.NO_CONTENT):
            return []
        if isinstance(answer, Skip) and answer.reason in TRANSIENT and self._failures < _FAILURES:
            self._failures += 1
            log.warning("%s does not answer: %s", self.name, answer.detail or answer.reason)
            return None
        raise GraphError(self._refusal(answer))

    def _links(self, body: bytes, target: Url | str) -> list[Link]:
        url = target if isinstance(target, Url) else home_page(host_of(target))
        try:
            if body.lstrip().startswith(b"["):
                rows = msgspec.json.decode(body, type=list[Referrer])
            else:
                rows = msgspec.json.Decoder(Referrer).decode_lines(body)
        except NO_JSON as error:
            raise GraphError(
                f"{self.name} does not answer with a JSON list or with JSON lines of source, anchor and context: {error}"
            ) from error
        return [link for row in rows if (link := _link(row, url)) is not None]

    def _refusal(self, answer: Capture | Skip) -> str:
        if isinstance(answer, Skip) and answer.reason is Reason.PRIVATE_ADDRESS:
            return f"{self.name} is a private address; add --allow-private to ask it"
        why = f"HTTP {answer.status}" if answer.status else ""
        detail = (answer.detail or str(answer.reason)) if isinstance(answer, Skip) else ""
        return f"{self.name} does not answer with backlinks: {' '.join(filter(None, (why, detail)))}; check the URL and your key"


def _key(target: Url | str) -> str:
    """The same for a host with and without `www.`; a page stands for itself."""
    return target if isinstance(target, Url) else without_www(host_of(target))


def _link(row: Referrer, url: Url) -> Link | None:
    try:
        target = Url.parse(row.target) if row.target else url
        return Link(target, LinkKind.BACKLINK, source=Url.parse(row.source), anchor=row.anchor, context=row.context)
    except UrlError:
        return None
