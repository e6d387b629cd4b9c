"""Whether a link may be fetched: robots.txt as RFC 9309 says, and a host's reservations against text and data mining."""

import asyncio
import re
from contextlib import suppress
from itertools import islice
from typing import Protocol
from urllib.parse import quote
from weakref import WeakValueDictionary

import msgspec

from bitrawl.crawling.fetch import MAX_DETAIL, MAX_RULES
from bitrawl.crawling.settings import Politeness
from bitrawl.crawling.traps import Recent
from bitrawl.errors import UrlError
from bitrawl.files import NO_JSON
from bitrawl.model import MAX_REDIRECTS, Capture, Directive, Link, LinkKind, Skip
from bitrawl.protocols import Clock, Fetcher
from bitrawl.reasons import TRANSIENT, Reason, Stage
from bitrawl.url import Url

PRODUCT = "bitrawl"
"""Our name in robots.txt."""

MAX_AGE = 24 * 3600.0  # RFC 9309, section 2.4
MAX_DELAY = 60.0  # A longer Crawl-delay (some ask for hours) would end the crawl of a host. It is cut to this.
# Files in memory, two for each host (https and http); the others are parsed again when needed. 300 real ones take 13 kB and
# 0.1 ms each (2026-11-18). With 512, a crawl of more than 256 hosts in turns parsed one for each visit.
MAX_PARSED = 4096


class RobotsRecord(msgspec.Struct, frozen=True):
    """What an origin answered to the requests for its rules."""

    origin: str
    status: int  # of robots.txt after its redirects; 0 if they did not end, which counts as 404
    body: bytes
    at: float  # seconds since the epoch
    reservations: bytes = b""  # the body of tdmrep.json; empty if there is none


class RobotsMemory(Protocol):
    """Where records outlive the process. What an earlier run saved tells delay and sitemaps until the host is asked again."""

    def load(self, origin: str) -> RobotsRecord | None:
        """The last one saved for that origin."""
        ...

    def save(self, record: RobotsRecord) -> None:
        """Replaces the one before."""
        ...


class InMemoryRobots:
    """A memory for one process."""

    def __init__(self) -> None:
        self._records: dict[str, RobotsRecord] = {}

    def load(self, origin: str) -> RobotsRecord | None:
        return self._records.get(origin)

    def save(self, record: RobotsRecord) -> None:
        self._records[record.origin] = record


class RobotsFetcher:
    """Fetches what a host's rules allow, and refuses the rest.

    The rules come through the inner fetcher, so they are guarded and archived as anything else. The
    politeness is between the requests for them and the page: the frontier cannot see these. A host that does not answer
    rests as long as before a second attempt, so that its other links do not ask at once. Where opt-outs count, it asks for
    /.well-known/tdmrep.json (one more request for each origin) and heeds it and Content-Signal.
    """

    def __init__(
        self,
        inner: Fetcher,
        clock: Clock,
        politeness: Politeness,
        memory: RobotsMemory | None = None,
    ) -> None:
        self._inner = inner
        self._memory = memory or InMemoryRobots()
        self._clock = clock
        self._politeness = politeness
        self._rules: Recent[str, RobotsRules | None] = Recent(MAX_PARSED)  # None: nothing is known of the origin
        # By origin, when it was asked in this run. What an earlier run was told may be of any age: the only clock that
        # goes on between two runs is the date, which somebody may have set.
        self._asked_at: dict[str, float] = {}
        self._failures: Recent[str, tuple[Skip, float]] = Recent(MAX_PARSED)  # and until when each counts
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def fetch(self, link: Link) -> Capture | Skip:
        """The inner fetcher's answer, or why it was not asked."""
        refusal = await self.refusal(link.url) if link.kind is not LinkKind.ROBOTS else None
        return refusal if refusal is not None else await self._inner.fetch(link)

    async def refusal(self, url: Url) -> Skip | None:
        """Why a URL may not be fetched; None when it may. Its host is asked for its rules first, if need be."""
        rules = await self._rules_for(url.origin)
        if isinstance(rules, Skip):
            return msgspec.structs.replace(rules, url=url)
        return rules.refusal(url, opt_outs=self._politeness.opt_outs)

    def crawl_delay(self, host: str) -> float:
        """The seconds that a host asks for between two visits; 0 where it does not, or has not been asked."""
        origins = (self._remembered(f"{scheme}://{host}") for scheme in ("https", "http"))
        return max((rules.delay for rules in origins if rules is not None), default=0.0)

    def sitemaps(self, origin: str) -> tuple[Url, ...]:
        """Those that the origin's robots.txt names; empty as long as it has not been asked."""
        rules = self._remembered(origin)
        return rules.sitemaps if rules is not None else ()

    async def _rules_for(self, origin: str) -> "RobotsRules | Skip":
        if (rules := self._in_force(origin)) is not None:
            return rules
        lock = self._locks.setdefault(origin, asyncio.Lock())
        async with lock:  # whoever comes meanwhile waits for the same download
            if (rules := self._in_force(origin)) is not None:
                return rules
            failure, until = self._failures.get(origin) or (None, 0.0)
            if failure is not None and self._clock.now() < until:
                return _postponed(failure, until - self._clock.now())
            return await self._ask(origin)

    def _in_force(self, origin: str) -> "RobotsRules | None":
        """What the origin answered in this run, if that is not too old."""
        return self._remembered(origin) if self._clock.now() < self._asked_at.get(origin, -MAX_AGE) + MAX_AGE else None

    async def _ask(self, origin: str) -> "RobotsRules | Skip":
        answer = await self._download(Url.parse(f"{origin}/robots.txt"))
        if isinstance(answer, Skip):
            wait = max(self._politeness.backoff, answer.retry_after)
            failure, _ = self._failures.note(origin, (_failure(origin, answer), self._clock.now() + wait))
            return _postponed(failure, wait)
        asked_at, record = self._clock.now(), RobotsRecord(origin, answer.status, answer.body, self._clock.date())
        await self._clock.sleep(self._politeness.delay)
        notice = Url.parse(f"{origin}/.well-known/tdmrep.json")
        if self._politeness.opt_outs and RobotsRules(record).allow(notice):
            answer = await self._download(notice)
            # TDMRep: failure to provide the file means that the origin does not implement the protocol.
            if isinstance(answer, _RobotsText):
                record = msgspec.structs.replace(record, reservations=answer.body)
            await self._clock.sleep(self._politeness.delay)
        self._memory.save(record)
        self._asked_at[origin] = asked_at
        rules = RobotsRules(record)
        self._rules.note(origin, rules)
        return rules

    async def _download(self, url: Url) -> "_RobotsText | Skip":
        """The file after its redirects; an empty one where it does not exist, a Skip where nobody can tell."""
        link = Link(url, LinkKind.ROBOTS)
        for _ in range(1 + MAX_REDIRECTS):
            answer = await self._inner.fetch(link)
            if isinstance(answer, Skip):
                # 4xx is "unavailable": there are no rules. 429 is not among them, and has a reason of its own.
                absent = answer.reason in (Reason.HTTP_STATUS, Reason.NOT_ARCHIVED) and answer.status < 500
                return _RobotsText(answer.status) if absent else answer
            if not 300 <= answer.status < 400:
                return _RobotsText(answer.status, answer.body[:MAX_RULES] if answer.status < 300 else b"")
            try:
                target = answer.redirect_target()
            except UrlError:
                return _RobotsText(answer.status)
            link = msgspec.structs.replace(link, url=target, redirects=link.redirects + 1)
            await self._clock.sleep(self._politeness.delay)
        return _RobotsText(0)

    def _remembered(self, origin: str) -> "RobotsRules | None":
        if origin in self._rules:
            return self._rules.note(origin, self._rules.get(origin))
        record = self._memory.load(origin)
        return self._rules.note(origin, RobotsRules(record) if record is not None else None)


class RobotsRules:
    """A record understood. Nothing in it is an error: what cannot be read says nothing."""

    def __init__(self, record: RobotsRecord) -> None:
        self.record = record
        text = record.body.decode("utf-8-sig", "surrogateescape")
        self._ours = _our_group(text)
        self._reservations = _reservations(record)
        self.sitemaps = _urls(text, Url.parse(f"{record.origin}/robots.txt"))
        self.delay = min(self._ours.delay, MAX_DELAY)

    def allow(self, url: Url) -> bool:
        """What robots.txt says of that URL."""
        return self._ours.allow(url[len(url.origin) :])

    def refusal(self, url: Url, *, opt_outs: bool) -> Skip | None:
        """Why that URL may not be fetched; None when it may."""
        if not self.allow(url):
            return Skip(url, Stage.ROBOTS, Reason.ROBOTS, f"{self.record.origin}/robots.txt")
        if opt_outs and self._ours.training_refused:
            return Skip(url, Stage.ROBOTS, Reason.OPT_OUT, "Content-Signal: ai-train=no")
        if opt_outs and self._reserved(url):
            return Skip(url, Stage.ROBOTS, Reason.OPT_OUT, "tdmrep.json")
        return None

    def _reserved(self, url: Url) -> bool:
        target = url[len(self.record.origin) :]
        # TDMRep, "TDM File on the Origin Server": the first rule that matches is the most specific one.
        return next((reserved for pattern, reserved in self._reservations if _matches(pattern, target)), False)


class _RobotsText(msgspec.Struct, frozen=True):
    status: int
    body: bytes = b""


class _Group:
    """What robots.txt says to one agent."""

    def __init__(self) -> None:
        self._rules: list[tuple[int, bool, str]] = []  # the length of the pattern, whether it allows, the pattern
        self.delay = 0.0  # seconds between two requests
        self.training_refused = False

    def add(self, kind: str, value: str) -> None:
        """Heed one record. Of two delays, the longer one counts."""
        written = quote(value, _ASCII, errors="surrogateescape")
        written = _ESCAPE.sub(lambda escape: escape[0].upper(), written)
        if kind == "allow" and written:
            self._rules.append((len(written), True, written))
            folder, _, file = written.rpartition("/")
            if file.startswith("index.htm"):  # a folder is its index, for Google
                self._rules.append((len(folder) + 2, True, f"{folder}/$"))
        elif kind == "disallow" and written:
            self._rules.append((len(written), False, _as_browsers_write(written)))
        elif kind == "signal" and _NO_TRAINING.search(value):
            self.training_refused = True
        elif kind in ("delay", "rate"):
            self.delay = max(self.delay, _seconds(value if kind == "rate" else f"1/{value}"))

    def close(self) -> None:
        """Put the rules in order: the longest pattern decides, and of two that are equally long the one that allows."""
        self._rules.sort(reverse=True)

    def allow(self, target: str) -> bool:
        """Whether the path and query of a URL may be fetched."""
        as_written = _as_browsers_write(target)
        return next(
            (allows for _, allows, pattern in self._rules if _matches(pattern, target if allows else as_written)),
            True,
        )


def _our_group(text: str) -> _Group:
    """What a robots.txt says to us: the groups of our token, or those of "*" where there is none.

    Groups and lines are read as Google's parser reads them. Only a rule ends the agents of a group: other records do
    not interfere (RFC 9309, section 2.2.4). A name is compared as a whole token (section 2.2.1).
    """
    groups: dict[str, _Group] = {}
    agents: set[str] = set()
    has_rules = False
    for line in _LINE_END.split(text):
        record = _RECORD.fullmatch(line.partition("\0")[0].partition("#")[0].strip(_BLANKS))
        key = _KEY.match(record[1] or record[3]) if record else None
        if record is None or key is None:
            continue
        value = (record[2] or record[4] or "").strip(_BLANKS)
        if key.lastgroup == "agent":
            if has_rules:
                agents, has_rules = set(), False
            token = _AGENT.match(value)
            if token and token[0].lower() in ("*", PRODUCT):
                agents.add(token[0].lower())
                groups.setdefault(token[0].lower(), _Group())
            continue
        has_rules = has_rules or key.lastgroup in ("allow", "disallow")
        for agent in agents:
            groups[agent].add(str(key.lastgroup), value)
    ours = groups.get(PRODUCT) or groups.get("*") or _Group()
    ours.close()
    return ours


def _as_browsers_write(target: str) -> str:
    """A path or a pattern with its letters escaped as in a URL: "/a b" and "/a%20b" are the same page.

    Google compares letter by letter, so that a rule with a space in it says nothing. Rules that refuse are read in this
    form: what their author meant is not fetched. Rules that allow are not, so nothing is allowed that Google refuses.
    """
    return quote(_ESCAPE.sub(_plain_if_unreserved, target), _RESERVED)


def _plain_if_unreserved(escape: re.Match[str]) -> str:
    character = chr(int(escape[0][1:], 16))
    return character if quote(character, "") == character else escape[0]


def _seconds(rate: str) -> float:
    """The pause between two requests at that rate, for example "1/10m"; 0 if it cannot be read."""
    match = _RATE.match(rate)
    return float(match[2]) * _UNITS[match[3].lower()] / int(match[1]) if match and int(match[1]) else 0.0


_LINE_END = re.compile(r"[\r\n]")
_BLANKS = " \t\v\f"
# A key, a colon and a value; without a colon, exactly two words.
_RECORD = re.compile(r"([^:]+):(.*)|([^: \t]+)[ \t]+([^: \t]+)", re.DOTALL)
_KEY = re.compile(
    r"(?P<agent>user[ -]?agent)|(?P<allow>allow)|(?P<disallow>diss?all?ow|diasllow|disallaw)"
    r"|(?P<delay>crawl[ -]delay)|(?P<rate>request[ -]rate)|(?P<signal>content-signal\s*$)",  # https://contentsignals.org
    re.IGNORECASE | re.ASCII,
)
_AGENT = re.compile(r"\*(?!\S)|[a-z_-]+", re.IGNORECASE | re.ASCII)
_RATE = re.compile(r"(\d{1,9})/(\d{1,9}(?:\.\d*)?|\.\d+)([smhd]?)\b", re.IGNORECASE | re.ASCII)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_NO_TRAINING = re.compile(r"\bai-train\s*=\s*no\b", re.IGNORECASE)
_SITEMAP = re.compile(r"\s*site-?maps?(?:\s*:|\s)\s*([^#]*)", re.IGNORECASE)
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_ASCII = "".join(map(chr, range(128)))
_RESERVED = "%:/?#[]@!$&'()*+,;="  # RFC 3986, section 2.2; and "%", so that no escape is escaped
_MAX_SITEMAPS = 1000  # of one robots.txt; the loop reads 500 of a site


def _failure(origin: str, answer: Skip) -> Skip:
    """What the failure to get robots.txt means for a page of that origin."""
    if answer.url.origin == origin and answer.reason in _FAULTS_ON_THE_WAY:
        return answer
    why = f"it answered {answer.status} {answer.detail}".strip() if answer.status else answer.detail or answer.reason
    detail = f"{answer.url} could not be fetched: {why}"
    return Skip(answer.url, Stage.ROBOTS, Reason.ROBOTS_UNREACHABLE, detail[:MAX_DETAIL], answer.status)


def _postponed(failure: Skip, wait: float) -> Skip:
    return msgspec.structs.replace(failure, retry_after=wait if failure.reason in TRANSIENT else 0.0)


# The page would meet them as well. They keep their own reason, which says whether to try again and what to do.
_FAULTS_ON_THE_WAY = frozenset({Reason.PRIVATE_ADDRESS, Reason.DNS, Reason.TLS, Reason.PROXY})


def _urls(text: str, base: Url) -> tuple[Url, ...]:
    """The sitemaps that a robots.txt names, wherever they stand."""
    lines = (line for raw in _LINE_END.split(text) if (line := _SITEMAP.match(raw)))
    urls: dict[Url, None] = {}
    for line in islice(lines, _MAX_SITEMAPS):
        with suppress(UrlError):
            urls[
                Url.parse(line[1].strip().encode("utf-8", "surrogateescape").decode("utf-8", "replace"), base=base)
            ] = None
    return tuple(urls)


def _reservations(record: RobotsRecord) -> list[tuple[str, bool]]:
    """Patterns of paths, and whether mining is reserved there; https://www.w3.org/community/reports/tdmrep/."""
    try:
        entries = msgspec.json.decode(record.reservations) if record.reservations else []
    except NO_JSON:
        return []
    rules: list[tuple[str, bool]] = []
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, dict) and isinstance(entry.get("location"), str):
            pattern = _pattern(entry["location"], record.origin)
            if pattern and str(entry.get(Directive.TDM_RESERVATION)) in ("0", "1"):
                rules.append((pattern, str(entry[Directive.TDM_RESERVATION]) == "1"))
    return rules


def _pattern(location: str, origin: str) -> str:
    """In the canonical form of the URLs that it is compared with; empty when it is about another origin."""
    try:
        url = Url.parse(location, base=Url.parse(f"{origin}/"))
    except UrlError:
        return ""
    return url[len(origin) :] if url.origin == origin else ""


def _matches(pattern: str, target: str) -> bool:
    """As in robots.txt: a prefix, in which "*" is anything and a last "$" the end. No regular expression: no ReDoS."""
    first, *others = pattern.removesuffix("$").split("*")
    if not target.startswith(first):
        return False
    at = len(first)
    last = others.pop() if others and pattern.endswith("$") else None
    for part in others:
        at = target.find(part, at)
        if at < 0:
            return False
        at += len(part)
    if last is not None:
        return target.endswith(last) and len(target) - len(last) >= at
    return at == len(target) if pattern.endswith("$") else True
