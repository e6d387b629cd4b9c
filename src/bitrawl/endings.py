"""What a job is doing, and how a crawl ended: values that the ledger remembers, with the sentences for each.

`crawl_end` says which of the ends it was, from what is known when a crawl is over.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from typing import Self, TypeAlias

import msgspec

from bitrawl.errors import CategoryError
from bitrawl.message import Amount, Cause, Code, Message, Unit, Value, Wording
from bitrawl.model import MAX_REDIRECTS, Skip
from bitrawl.reasons import (
    NO_ANSWER,
    STANDING,
    Action,
    FewPairs,
    FewRelevant,
    LeaveReason,
    NoHomes,
    NoPattern,
    OneLanguage,
    Reason,
)
from bitrawl.remedies import Remedy, Tip
from bitrawl.url import Url


class State(StrEnum):
    """What a job is doing. The first five show in its folder; the others need the wish of the web app's user."""

    RUNNING = "running"
    ENDED = "ended"
    NOTHING_FOUND = "nothing-found"  # it came to its end, without a page or without one that was asked for
    FAILED = "failed"  # it could not be run, or nothing that it was told to begin with could be fetched
    INTERRUPTED = "interrupted"  # killed: the same command resumes
    WAITING = "waiting"
    PAUSING = "pausing"  # it finishes what is in flight
    PAUSED = "paused"
    STOPPING = "stopping"  # it mines what is there


class MiningStep(StrEnum):
    PAIRING = "pairing"
    LEARNING = "learning words from"
    ALIGNING = "aligning"
    WRITING = "writing the corpus"


class Doing(msgspec.Struct, frozen=True, omit_defaults=True):
    """What mining is doing now, and how far it has come."""

    step: MiningStep
    site: str = ""
    what: str = ""  # what `done` and `total` count: "pages", "en-fr pairs"
    done: int = 0
    total: int = 0
    seconds: float = 0.0  # that the rest will take, as far as can be told

    def __str__(self) -> str:
        counted = f" ({self.done} of {self.total} {self.what}" if self.done else f" ({self.total} {self.what}"
        left = f", about {self.seconds:.0f} s left)" if self.seconds >= 1 else ")"
        return f"{self.step} {self.site}".strip() + (counted + left if self.total else "")


class LimitUnit(StrEnum):
    """What a budget counts, as the settings name it."""

    PAGES = "pages"
    DOWNLOADS = "downloads"
    MEGABYTES = "megabytes"
    MINUTES = "minutes"


class Limit(msgspec.Struct, frozen=True):
    """One limit of a budget."""

    unit: LimitUnit
    most: float

    @property
    def amount(self) -> Value:
        match self.unit:
            case LimitUnit.PAGES:
                return EndSentence.PAGES.message(n=int(self.most))
            case LimitUnit.DOWNLOADS:
                return EndSentence.DOWNLOADS.message(n=int(self.most))
            case LimitUnit.MEGABYTES:
                return Amount(self.most, Unit.MEGABYTE)
            case LimitUnit.MINUTES:
                return Amount(self.most, Unit.MINUTE)


class Failing(msgspec.Struct, frozen=True, tag="failing", tag_field="kind"):
    """A host that is not visited any more because it failed again and again."""

    reason: Reason
    failures: int  # in a row
    detail: str = ""  # as the fetcher says it


class SiteBudget(msgspec.Struct, frozen=True, tag="site-budget", tag_field="kind"):
    """A host that is not visited any more because its site has used up its budget."""

    limit: Limit


ParkReason: TypeAlias = Failing | SiteBudget
"""Why a host is not visited any more in this run."""


class EndKind(StrEnum):
    """How a crawl ended."""

    DONE = "done"
    BUDGET = "budget"
    LEFT = "left"  # sites, by the strategy
    GAVE_UP = "gave-up"  # hosts that do not answer any more
    STOPPED = "stopped"
    OFF_TOPIC = "off-topic"
    NO_PAGE = "no-page"
    ONLY_LEFT = "only-left"  # no page, since the sites were left
    NO_ANSWER = "no-answer"
    SEED_SILENT = "seed-silent"
    SEED_SKIPPED = "seed-skipped"


class EndSentence(Wording):
    """The sentences about the end of a crawl. They are keys of the web app's catalogues."""

    # fmt: off
    PAGES = ("pages", "{n} page", "{n} pages")
    DOWNLOADS = ("downloads", "{n} download", "{n} downloads")
    FOUND = ("found", "Found {n} page pair.", "Found {n} page pairs.")
    DONE = ("done", "Nothing is left to visit.")
    BUDGET = ("budget", "The limit of {limit} was reached.")
    STOPPED = ("stopped", "You stopped the job.")
    UNVISITED = ("unvisited", "{n} link was not visited.", "{n} links were not visited.")
    OFF_TOPIC = ("off-topic", "{n} page was read, and it is not about the topic.",
        "{n} pages were read, and none of them is about the topic.")
    NO_PAGE = ("no-page", "No page was found.")
    NO_PAGE_IN = ("no-page-in", "No page in {languages} was found.")
    FEW_PAIRS = ("few-pairs",
        "The last {visits} visits to {site} brought only {n} page pair, so the rest of the site was left out.",
        "The last {visits} visits to {site} brought only {n} page pairs, so the rest of the site was left out.")
    NO_PAIRS = ("no-pairs", "The last {visits} visits to {site} brought no page pair, so the rest of the site was left out.")
    FEW_RELEVANT = ("few-relevant",
        "The last {visits} visits to {site} brought hardly any page about the topic, so the rest of the site was left out.")
    ONE_LANGUAGE = ("one-language",
        "{n} page of {site} was read, and everything points to {language} alone, so the rest of the site was left out.",
        "{n} pages of {site} were read, and everything points to {language} alone, so the rest of the site was left out.")
    NO_LANGUAGE = ("no-language",
        "{n} page of {site} was read, and nothing points to the languages asked for, so the rest of the site was left out.",
        "{n} pages of {site} were read, and nothing points to the languages asked for, so the rest of the site was left out.")
    NO_HOMES = ("no-homes",
        "{site} has no home pages in two of the languages asked for, so the rest of the site was left out.")
    NO_PATTERN = ("no-pattern",
        "{n} possible pair on {site} has no addresses like those of other pairs, so the rest of the site was left out.",
        "{n} possible pairs on {site} have no addresses like those of other pairs, so the rest of the site was left out.")
    LEFT = ("left", "The rest of {site} was left out: {why}.")
    OTHER_SITES = ("other-sites", "{n} other site was left early, too.", "{n} other sites were left early, too.")
    FAILING = ("failing", "{n} visit to {host} failed ({reason}), so the host was given up.",
        "{n} visits to {host} failed in a row ({reason}), so the host was given up.")
    SITE_BUDGET = ("site-budget", "The limit of {limit} for each site was reached on {host}.")
    OTHER_HOSTS = ("other-hosts", "{n} other host was given up, too.", "{n} other hosts were given up, too.")
    SILENT = ("silent", "{address} did not answer ({reason}).")
    REDIRECTS = ("redirects", "{seed} leads to {address}.")
    ROBOTS = ("robots", "The site does not allow {address} to be visited ({reason}).")
    OTHER_SITE = ("other-site", "{address} is on another site.")
    OTHER_HOST = ("other-host", "{address} is on another host.")
    STATUS = ("status", "{address} answered with the error {status}.")
    SKIPPED = ("skipped", "{address} brought no page ({reason}).")
    OTHER_SEEDS = ("other-seeds", "{n} other address brought no page either.", "{n} other addresses brought no page either.")
    # fmt: on


_NOTHING_FOUND = (EndKind.NO_PAGE, EndKind.ONLY_LEFT, EndKind.OFF_TOPIC)
_FAILED = (EndKind.NO_ANSWER, EndKind.SEED_SILENT, EndKind.SEED_SKIPPED)
_ELSEWHERE = {Reason.OFF_SITE: EndSentence.OTHER_SITE, Reason.OFF_HOST: EndSentence.OTHER_HOST}


def left_message(site: str, why: LeaveReason) -> Message:  # noqa: PLR0911 - one for each reason
    """Why a strategy left a site."""
    match why:
        case FewPairs(brought=0):
            return EndSentence.NO_PAIRS.message(visits=why.last, site=site)
        case FewPairs():
            return EndSentence.FEW_PAIRS.message(visits=why.last, site=site, n=why.brought)
        case FewRelevant():
            return EndSentence.FEW_RELEVANT.message(visits=why.last, site=site)
        case OneLanguage(language=""):
            return EndSentence.NO_LANGUAGE.message(n=why.pages, site=site)
        case OneLanguage():
            return EndSentence.ONE_LANGUAGE.message(n=why.pages, site=site, language=Code(why.language))
        case NoHomes():
            return EndSentence.NO_HOMES.message(site=site)
        case NoPattern():
            return EndSentence.NO_PATTERN.message(n=why.candidates, site=site)
        case str():
            return EndSentence.LEFT.message(site=site, why=why.rstrip("."))


def parked_message(host: str, why: ParkReason) -> Message:
    """Why a host was given up."""
    match why:
        case Failing():
            cause = Cause(why.reason.label, why.detail)
            return EndSentence.FAILING.message(n=why.failures, host=host, reason=cause)
        case SiteBudget():
            return EndSentence.SITE_BUDGET.message(limit=why.limit.amount, host=host)


class FailedSeed(msgspec.Struct, frozen=True):
    """A seed that brought no page, in a crawl that brought others."""

    seed: str
    reason: Reason
    detail: str = ""

    @property
    def message(self) -> Message:
        return EndSentence.SKIPPED.message(address=self.seed, reason=Cause(self.reason.label, self.detail))


class CrawlEnd(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a crawl ended, as the ledger remembers it."""

    kind: EndKind
    queued: int = 0  # links that were not visited
    budget: Limit | None = None  # the limit that was reached
    pages: int = 0
    name: str = ""  # the first of the sites that were left, or of the hosts that did not answer
    others: int = 0  # how many more sites or hosts there are, or seeds that brought no page
    why: LeaveReason | ParkReason = ""  # that site was left or that host given up; of a seed, as the fetcher says it
    seed: str = ""  # the first that brought no page
    target: str = ""  # where its redirects lead
    reason: Reason | None = None  # why that was skipped
    status: int = 0  # of its HTTP answer
    languages: tuple[str, ...] = ()  # that no page is in, so that nothing could be mined
    failed: tuple[FailedSeed, ...] = ()  # while others brought pages

    def __str__(self) -> str:
        return self.english()

    def english(self, pairs: int = 0) -> str:
        """For the command line: what happened, and what to type."""
        return " ".join(map(str, (*self.messages(pairs), *self.tips)))

    @property
    def state(self) -> State:
        """Of a job that has come to this end, with all that it found mined."""
        otherwise = State.NOTHING_FOUND if self.languages or self.kind in _NOTHING_FOUND else State.ENDED
        return State.FAILED if self.kind in _FAILED else otherwise

    def messages(self, pairs: int = 0) -> tuple[Message, ...]:
        """What happened, in sentences. `pairs` were found, which only mining knows."""
        return (*([EndSentence.FOUND.message(n=pairs)] if pairs else ()), *self._story(), *self._rest())

    @property
    def tips(self) -> tuple[Tip, ...]:
        """What to try."""
        return tuple(self._tips())

    def _story(self) -> Iterator[Message]:
        if self.kind in (EndKind.NO_PAGE, EndKind.ONLY_LEFT, *_FAILED):
            yield EndSentence.NO_PAGE.message()
        if self.languages:
            yield EndSentence.NO_PAGE_IN.message(languages=tuple(map(Code, self.languages)))
        match self.kind:
            case EndKind.DONE:
                yield EndSentence.DONE.message()
            case EndKind.STOPPED:
                yield EndSentence.STOPPED.message()
            case EndKind.OFF_TOPIC:
                yield EndSentence.OFF_TOPIC.message(n=self.pages)
            case EndKind.LEFT | EndKind.ONLY_LEFT if not isinstance(self.why, Failing | SiteBudget):
                yield left_message(self.name, self.why)
                yield from self._others(EndSentence.OTHER_SITES)
            case EndKind.GAVE_UP | EndKind.NO_ANSWER if isinstance(self.why, Failing | SiteBudget):
                yield parked_message(self.name, self.why)
                yield from self._others(EndSentence.OTHER_HOSTS)
            case EndKind.SEED_SILENT | EndKind.SEED_SKIPPED:
                yield from self._about_seed()
                yield from self._others(EndSentence.OTHER_SEEDS)

    def _others(self, sentence: EndSentence) -> list[Message]:
        return [sentence.message(n=self.others)] if self.others else []

    def _rest(self) -> Iterator[Message]:
        if self.budget:
            yield EndSentence.BUDGET.message(limit=self.budget.amount)
        if self.queued:
            yield EndSentence.UNVISITED.message(n=self.queued)

    def _about_seed(self) -> Iterator[Message]:
        """What became of the seed: that it answered 404, or leads to another site."""
        address, detail = self.target or self.seed, str(self.why)
        if self.target:
            yield EndSentence.REDIRECTS.message(seed=self.seed, address=self.target)
        cause = Cause(self.reason.label, detail) if self.reason else detail
        if self.kind is EndKind.SEED_SILENT:
            yield EndSentence.SILENT.message(address=address, reason=cause)
        elif self.reason in _ELSEWHERE:
            yield _ELSEWHERE[self.reason].message(address=address)
        elif self.reason is Reason.ROBOTS:
            yield EndSentence.ROBOTS.message(address=address, reason=cause)
        elif self.status >= 400:
            status = Cause(str(self.status), f"{self.status} {detail}".rstrip())
            yield EndSentence.STATUS.message(address=address, status=status)
        elif self.reason is not None:
            label = self.reason.label
            reason = Cause(label, f"{label}: {detail}" if detail else "")
            yield EndSentence.SKIPPED.message(address=address, reason=reason)

    def _tips(self) -> Iterator[Tip]:
        if self.budget:
            yield Tip(Remedy.LARGER_LIMIT, {"flag": f"--max-{self.budget.unit}"})
        if self.kind is EndKind.STOPPED:
            yield Tip(Remedy.GO_ON)
        elif self.kind in (EndKind.LEFT, EndKind.ONLY_LEFT) and self.queued:
            yield Tip(Remedy.VISIT_REST)
        elif isinstance(self.why, SiteBudget):
            yield Tip(Remedy.SITE_LIMIT, {"flag": f"--site-{self.why.limit.unit}"})
        elif self.kind is EndKind.GAVE_UP or (self.kind is EndKind.NO_PAGE and self.queued):
            yield Tip(Remedy.TRY_AGAIN)
        elif self.kind in _FAILED:
            yield from self._after_failure()

    def _after_failure(self) -> Iterator[Tip]:
        reason = self.why.reason if isinstance(self.why, Failing) else self.reason
        if reason in _ELSEWHERE and self.target:
            yield Tip(Remedy.OTHER_ADDRESS, {"address": self.target})
        elif reason is not None and reason.advice:
            yield Tip(reason)
        if reason is None or (reason not in STANDING and reason.action is not Action.RESUME):
            yield Tip(Remedy.TRY_AGAIN)


class FaultSentence(Wording):
    """Why a command could not do its work: the name is that of the error, the sentence a key of the web app's catalogues."""

    # fmt: off
    CONFIG = ("ConfigError", "The job cannot be run with these settings.")
    TOPIC = ("TopicError", "Nothing says what the topic is: the pages or texts that should show it cannot be used.")
    CATEGORY = ("CategoryError", "The wiki has no category “{category}”, and none like it.")
    STORE = ("StoreError", "The files of this job cannot be read or written.")
    DAMAGED = ("DamagedError", "A file of this job is damaged.")
    DISK_FULL = ("DiskFullError", "The disk of the server is full.")
    ARCHIVE = ("ArchiveError", "The archive cannot be read.")
    GRAPH = ("GraphError", "The link graph of the server cannot be used.")
    WIKI = ("WikiError", "The wiki does not answer.")
    CHILD = ("ChildError", "The server could not start a process for this job.")
    MEMORY = ("OutOfMemoryError", "The server has too little memory for this job.")
    OTHER = ("BitrawlError", "The job could not be run.")
    # of a category
    NEAR_CATEGORY = ("near", "The wiki has no category “{category}”. Similar names: {near}.")
    EMPTY_CATEGORY = ("empty", "The category “{category}” is empty: its articles may have moved to another category.")
    EMPTY_NEAR = ("empty-near", "The category “{category}” is empty. Similar names: {near}.")
    # fmt: on


_AFTER_FAULT = {
    FaultSentence.CONFIG: Remedy.CHANGE_SETTINGS,
    FaultSentence.TOPIC: Remedy.OTHER_EXAMPLES,
    FaultSentence.CATEGORY: Remedy.OTHER_CATEGORY,
    FaultSentence.ARCHIVE: Remedy.OTHER_ARCHIVE,
    FaultSentence.WIKI: Remedy.WIKI_LATER,
}


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a command could not do its work, as it writes that down for the web app. The command line has the error's own text."""

    kind: FaultSentence = FaultSentence.OTHER
    category: str = ""  # that a wiki does not have
    near: tuple[str, ...] = ()  # similar names
    empty: bool = False  # it has the category, and nothing in it

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """The fault that an error means, by its class."""
        kinds = set(FaultSentence)
        kind = next((FaultSentence(base.__name__) for base in type(error).__mro__ if base.__name__ in kinds), None)
        if isinstance(error, CategoryError):
            return cls(FaultSentence.CATEGORY, error.category, error.near, error.empty)
        return cls(kind or FaultSentence.OTHER)

    @property
    def message(self) -> Message:
        if self.kind is not FaultSentence.CATEGORY:
            return self.kind.message()
        empty = FaultSentence.EMPTY_NEAR if self.near else FaultSentence.EMPTY_CATEGORY
        missing = FaultSentence.NEAR_CATEGORY if self.near else FaultSentence.CATEGORY
        return (empty if self.empty else missing).message(category=self.category, near=self.near)

    @property
    def tip(self) -> Tip:
        return Tip(_AFTER_FAULT.get(self.kind, Remedy.TELL_OPERATOR))


class HostRest(msgspec.Struct, frozen=True):
    """The host that a crawl waits for, because it asked for that or does not answer."""

    host: str
    until: float  # seconds since the epoch


class LastRun(msgspec.Struct, frozen=True):
    """What the ledger remembers of the last run, or of this one."""

    verb: str = ""  # of the command, which resumes it; empty where there is no ledger yet
    ended: CrawlEnd | None = None  # None while it crawls, and if it was killed
    doing: Doing | None = None  # None if nothing is being mined
    seconds: float = 0.0  # crawling time of all runs
    resting: HostRest | None = None  # what is waited for, if that takes long; it may be over
    has_pages: bool = False

    @property
    def complete(self) -> bool:
        return self.ended is not None and self.doing is None

    @property
    def state(self) -> State:
        """The state of a job that nobody works at."""
        return self.end_state if self.complete else State.INTERRUPTED

    @property
    def end_state(self) -> State:
        """Of a job that has come to its end. Without a page it is never done, however it ended."""
        if self.ended is None:
            return State.ENDED  # nothing was crawled
        return State.NOTHING_FOUND if self.ended.state is State.ENDED and not self.has_pages else self.ended.state


class Ending(Enum):
    """How a run came to its end."""

    DONE = "done"  # nothing is left to visit, or nothing that is worth it
    BUDGET = "budget"  # used up: with a larger one, the same command goes on
    FAILED = "failed"  # no page was found, in this run or before, or none about the topic or in the languages
    STOPPED = "stopped"  # by the user, with all in flight finished


class SeedSkip(msgspec.Struct, frozen=True):
    """A seed, and why it or what it redirects to is no page."""

    seed: Url
    skip: Skip


def seed_skips(seeds: Sequence[Url], skip_of: Callable[[Url], Skip | None]) -> list[SeedSkip]:
    """Those of the seeds that were skipped, each with the skip at the end of its redirects."""
    chains = ((seed, skip_chain(seed, skip_of)) for seed in seeds)
    return [SeedSkip(seed, chain[-1]) for seed, chain in chains if chain]


def skip_chain(url: Url, skip_of: Callable[[Url], Skip | None]) -> list[Skip]:
    """Why the link is no page, and why each target of its redirects is none. It ends before a page or a queued link."""
    chain: list[Skip] = []
    target: Url | None = url
    while target is not None and len(chain) <= MAX_REDIRECTS and (skip := skip_of(target)) is not None:
        chain.append(skip)
        target = skip.target
    return chain


def crawl_end(  # noqa: PLR0913 - each may be why it ended
    *,
    stopped: bool = False,
    budget: Limit | None = None,
    queued: int = 0,
    left: Mapping[str, LeaveReason] | None = None,
    parked: Mapping[str, ParkReason] | None = None,
    pages: int = 0,
    relevant: int | None = None,
    seeds: Sequence[SeedSkip] = (),
) -> CrawlEnd:
    """How a run ended that was stopped by the user, or reached a limit of its budget, or has come to its end.

    `left` has the sites that the strategy left, `parked` the hosts that are not visited any more in this run, each with
    the reason. `pages` were kept in this run and before, and `relevant` of them are about the topic: None in a job without
    one. `seeds` are those that brought no page.
    """
    if stopped:
        return CrawlEnd(kind=EndKind.STOPPED, queued=queued)
    if not pages:
        return msgspec.structs.replace(_without_page(left, parked, seeds), budget=budget, queued=queued)
    if relevant == 0:
        return CrawlEnd(kind=EndKind.OFF_TOPIC, pages=pages, budget=budget, queued=queued)
    if budget:
        return CrawlEnd(kind=EndKind.BUDGET, budget=budget, queued=queued)
    if left and queued:
        return _named(EndKind.LEFT, left, queued)
    return _named(EndKind.GAVE_UP, parked, queued) if parked else CrawlEnd(kind=EndKind.DONE)


def ending(end: CrawlEnd) -> Ending:
    """Whether a crawl that ended so has failed."""
    if end.kind is EndKind.STOPPED:
        return Ending.STOPPED
    if end.state is not State.ENDED:
        return Ending.FAILED
    return Ending.BUDGET if end.kind is EndKind.BUDGET else Ending.DONE


def _without_page(
    left: Mapping[str, LeaveReason] | None, parked: Mapping[str, ParkReason] | None, seeds: Sequence[SeedSkip]
) -> CrawlEnd:
    if seeds:
        seed, skip = seeds[0].seed, seeds[0].skip
        kind = EndKind.SEED_SILENT if skip.reason in NO_ANSWER else EndKind.SEED_SKIPPED
        return CrawlEnd(
            kind=kind,
            seed=str(seed),
            target="" if skip.url == seed else str(skip.url),
            reason=skip.reason,
            status=skip.status,
            why=skip.detail,
            others=len(seeds) - 1,
        )
    if parked:
        return _named(EndKind.NO_ANSWER, parked)
    return _named(EndKind.ONLY_LEFT, left) if left else CrawlEnd(kind=EndKind.NO_PAGE)


def _named(kind: EndKind, reasons: Mapping[str, LeaveReason | ParkReason], queued: int = 0) -> CrawlEnd:
    name, why = next(iter(reasons.items()))
    return CrawlEnd(kind=kind, name=name, why=why, others=len(reasons) - 1, queued=queued)
