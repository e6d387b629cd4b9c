"""What a job is doing, and how a crawl ended: values that the ledger remembers, with the English sentence of each."""

from enum import StrEnum

import msgspec

from bitrawl.reasons import NEEDED, STANDING, Reason


class State(StrEnum):
    """What a job is doing. The first five show in its folder; the others need the wish of the web app's user."""

    RUNNING = "running"
    ENDED = "ended"
    NOTHING_FOUND = "nothing-found"  # it came to its end, without a page or without one about the topic
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

    step: MiningStep | None  # None in a ledger that an earlier version wrote: only `sentence` is known
    site: str = ""
    what: str = ""  # what `done` and `total` count: "pages", "en-fr pairs"
    done: int = 0
    total: int = 0
    seconds: float = 0.0  # that the rest will take, as far as can be told
    sentence: str = ""

    def __str__(self) -> str:
        if self.step is None:
            return self.sentence
        counted = f" ({self.done} of {self.total} {self.what}" if self.done else f" ({self.total} {self.what}"
        left = f", about {self.seconds:.0f} s left)" if self.seconds >= 1 else ")"
        return f"{self.step} {self.site}".strip() + (counted + left if self.total else "")


class EndKind(StrEnum):
    """How a crawl ended. Each kind has one sentence."""

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
    EARLIER = "earlier"  # written by an earlier version: only `sentence` is known


_SENTENCES = {
    EndKind.DONE: "nothing is left to visit",
    EndKind.BUDGET: "budget of {budget} used up",
    EndKind.LEFT: "left {names}: {why}",
    EndKind.GAVE_UP: "gave up on {names}: {why}",
    EndKind.STOPPED: "stopped by you",
    EndKind.OFF_TOPIC: "no page is about the topic ({pages} read)",
    EndKind.NO_PAGE: "no page was found",
    EndKind.ONLY_LEFT: "no page was found: left {names}: {why}",
    EndKind.NO_ANSWER: "no answer came from {names}: {why}",
    EndKind.SEED_SILENT: "no answer came from {seed}: {why}",
    EndKind.SEED_SKIPPED: "no page was found: the seed {fate}",
}
_TRY_AGAIN = "the same command tries again"
_ADVICE = {
    EndKind.LEFT: "--exhaustive visits them",
    EndKind.GAVE_UP: _TRY_AGAIN,
    EndKind.STOPPED: "resume with the same command",
}
_NOTHING_FOUND = (EndKind.NO_PAGE, EndKind.ONLY_LEFT, EndKind.OFF_TOPIC)
_FAILED = (EndKind.NO_ANSWER, EndKind.SEED_SILENT, EndKind.SEED_SKIPPED)
_NOUNS = {EndKind.LEFT: "site", EndKind.ONLY_LEFT: "site", EndKind.GAVE_UP: "host", EndKind.NO_ANSWER: "host"}


class CrawlEnd(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a crawl ended, as the ledger remembers it. The English sentence is made here, and nowhere else."""

    kind: EndKind
    queued: int = 0  # links that were not visited
    budget: str = ""  # the limit that was reached, as in "200 pages"
    pages: int = 0
    name: str = ""  # the first of the sites that were left, or of the hosts that did not answer
    others: int = 0  # how many more sites or hosts there are, or seeds that brought no page
    why: str = ""  # in English, as the strategy or the fetcher says it
    seed: str = ""  # the first that brought no page
    target: str = ""  # where its redirects lead
    reason: Reason | None = None  # why that was skipped
    status: int = 0  # of its HTTP answer
    sentence: str = ""  # of an earlier version

    def __str__(self) -> str:
        """The sentence for the command line: what happened, and what to type."""
        done = "done: " if self.kind is EndKind.DONE else ""
        return "; ".join(filter(None, (f"{done}{self.without_advice}", "" if self.sentence else self._advice())))

    @property
    def state(self) -> State:
        """Of a job that has come to this end, with all that it found mined."""
        otherwise = State.NOTHING_FOUND if self.kind in _NOTHING_FOUND else State.ENDED
        return State.FAILED if self.kind in _FAILED else otherwise

    def _advice(self) -> str:
        if self.state is State.FAILED and self.reason not in STANDING:
            return f"{NEEDED[self.reason]}, and {_TRY_AGAIN}" if self.reason in NEEDED else _TRY_AGAIN
        is_empty = self.kind in (EndKind.NO_PAGE, EndKind.ONLY_LEFT)
        return _TRY_AGAIN if is_empty and self.queued else _ADVICE.get(self.kind, "")

    @property
    def without_advice(self) -> str:
        """The same for a page that shows the state beside it, and has buttons instead of commands."""
        if self.sentence:
            return self.sentence
        seeds = self.others if self.kind in (EndKind.SEED_SILENT, EndKind.SEED_SKIPPED) else 0
        parts = (
            _SENTENCES[self.kind].format_map(self._values()),
            f"{_counted(seeds, 'other seed')} brought no page either" if seeds else "",
            f"budget of {self.budget} used up" if self.budget and self.kind is not EndKind.BUDGET else "",
            f"{_counted(self.queued, 'link')} still queued" if self.queued else "",
        )
        return "; ".join(filter(None, parts))

    def _values(self) -> dict[str, str]:
        noun = _NOUNS.get(self.kind, "")
        return {
            "budget": self.budget,
            "pages": _counted(self.pages, "page"),
            "names": f"{self.name} and {_counted(self.others, f'other {noun}')}" if self.others else self.name,
            "why": self.why,
            "seed": self.seed,
            "fate": self._fate(),
        }

    def _fate(self) -> str:
        """What became of the seed: "https://a.org/ answered 404 (Not Found)"."""
        start = f"{self.seed} redirects to {self.target}, which" if self.target else self.seed
        if self.reason is Reason.ROBOTS:
            return f"{start} is disallowed by {self.why}"
        if self.reason in (Reason.OFF_SITE, Reason.OFF_HOST):
            other = "site" if self.reason is Reason.OFF_SITE else "host"
            return f"{start} is on another {other}; give that address as the seed"
        fate = f"answered {self.status}" if self.status >= 400 else f"was skipped: {self.reason}"
        return f"{start} {fate}" + (f" ({self.why})" if self.why else "")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


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

    @property
    def complete(self) -> bool:
        return self.ended is not None and self.doing is None

    @property
    def state(self) -> State:
        """Of a job that nobody works at."""
        return self.ended.state if self.ended is not None and self.complete else State.INTERRUPTED
