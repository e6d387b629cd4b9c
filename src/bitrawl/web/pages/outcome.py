"""How a job stands, in the reader's words: its state, why it found little, what to try, and the buttons that do it."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple
from urllib.parse import urlencode

from bitrawl.config import SETTINGS
from bitrawl.corpus import SiteLack
from bitrawl.endings import Doing, Limit, LimitUnit, MiningStep, State, left_message
from bitrawl.errors import BitrawlError
from bitrawl.facts import Live, SiteFacts
from bitrawl.job import OpenedJob
from bitrawl.message import Code
from bitrawl.reasons import Action
from bitrawl.remedies import Remedy, Tip
from bitrawl.show import Diagnosis, diagnose
from bitrawl.web.job_list import ServedJob
from bitrawl.web.job_state import JobState
from bitrawl.web.messages import Words, marked
from bitrawl.web.operator_settings import LimitsSection
from bitrawl.web.pages.rendering import STATES

EXPLAIN_AFTER = 30  # fetches without a pair
EXPLAIN_AGAIN = 60.0  # seconds; explaining reads the whole ledger
MOST_EXPLAINED = 20_000  # fetches of a running job that is explained; reading more takes seconds

STEPS = {
    MiningStep.PAIRING: marked("pairing pages"),
    MiningStep.LEARNING: marked("learning words"),
    MiningStep.ALIGNING: marked("aligning"),
    MiningStep.WRITING: marked("writing the corpus"),
}


class LimitField(NamedTuple):
    """A number to type, beside a button."""

    name: str
    label: str
    value: str
    most: str


class Button(NamedTuple):
    """What can be done: posted, or with `href` a page to open."""

    name: str
    label: str
    kind: str = ""  # a class of the style
    ask: str = ""  # what is asked before it is done
    href: str = ""
    field: LimitField | None = None


_PAUSE = Button("pause", marked("Pause"))
_STOP = Button("stop", marked("Stop and finish with what is there"))
_STOP_NOW = Button("stop-now", marked("Stop now"))
_GO_ON = Button(Action.RESUME, marked("Go on"))
_RETRY = Button(Action.RESUME, marked("Try again"))
_AGAIN = Button("refresh", marked("Visit again"))
_REST = Button(Action.VISIT_REST, marked("Visit the rest of the site"))
_LARGER = Button(Action.LARGER_LIMIT, marked("Go on with this limit"))
_REPEAT = Button(Action.REPEAT, marked("Start again with changes"))
_DELETE = Button("delete", marked("Delete"), "danger", marked("Delete this job and everything that it has found?"))

_BUTTONS: Mapping[State, Sequence[Button]] = {
    State.WAITING: (_STOP, _DELETE),
    State.RUNNING: (_PAUSE, _STOP, _STOP_NOW),
    State.PAUSING: (_STOP_NOW,),
    State.STOPPING: (_STOP_NOW,),
    State.PAUSED: (_GO_ON, _STOP, _DELETE),
    State.ENDED: (_AGAIN, _DELETE),
    State.NOTHING_FOUND: (_REPEAT, _DELETE),
    State.INTERRUPTED: (_GO_ON, _DELETE),
    State.FAILED: (_RETRY, _REPEAT, _DELETE),
}
_FORMS = {"mine": "/", "discover": "/discover", "topic": "/topic"}
_LABELS = {
    LimitUnit.PAGES: marked("Maximum pages"),
    LimitUnit.DOWNLOADS: marked("Maximum downloads"),
    LimitUnit.MEGABYTES: marked("Maximum megabytes"),
    LimitUnit.MINUTES: marked("Maximum minutes"),
}


class Advised(NamedTuple):
    """One thing to try, and the button for it."""

    text: str
    button: Button | None = None


class Standing(NamedTuple):
    """The state in words, and what can be done."""

    code: State
    label: str
    detail: str = ""
    tips: Sequence[Advised] = ()
    buttons: Sequence[Button] = ()


class Noticed(NamedTuple):
    """One cause, and what to try."""

    text: str
    tip: Advised | None


class JobWords:
    """Says it about one job, in one language."""

    def __init__(self, words: Words, job: ServedJob, limits: LimitsSection) -> None:
        self._words = words
        self._job = job
        self._limits = limits

    def standing(self, state: JobState, figures: Live) -> Standing:
        words = self._words
        tips = [self._advised(tip, state) for tip in state.tips if self._fits(tip)]
        about = Standing(
            state.state, words.say(STATES[state.state]), tips=tips, buttons=list(self._buttons(state, tips))
        )
        if doing := self._doing(state, figures):
            return about._replace(detail=doing)
        return about._replace(detail=words.tell_all(state.messages(sum(figures.pairs.values()))))

    def explained(self, why: Diagnosis, state: JobState) -> list[Noticed]:
        """Why little was found. The state tells what its own buttons are for."""
        return [
            Noticed(
                self._words.tell_all(point.noticed),
                self._advised(point.tip, state) if point.tip and self._fits(point.tip) else None,
            )
            for point in why.points
        ]

    def remark(self, site: SiteFacts) -> str:
        """Why one of several sites brought no more."""
        if site.left:
            return self._words.tell(left_message(site.site, site.left))
        lack = SiteLack.NO_PAGES if not site.pages else SiteLack.NO_PAIRS if not site.pairs else None
        return self._words.tell(lack.message()) if lack else ""

    def _doing(self, state: JobState, figures: Live) -> str:
        """What is going on now; empty if nothing is."""
        words, rest = self._words, state.resting
        is_crawling = state.is_active and not state.doing and not figures.ended
        if rest is not None and is_crawling and rest.until > figures.at:
            left = ceil(rest.until - figures.at)
            return words.count("{host} rests for {n} second", "{host} rests for {n} seconds", left, host=rest.host)
        if state.state is State.RUNNING and is_crawling and self._job.kind != "align":
            return words.say("visiting pages, {rate} a minute", rate=words.number(round(figures.rate)))
        if state.state is State.RUNNING and self._job.kind == "align":
            return words.say(STEPS[MiningStep.ALIGNING])
        return self._step(state.doing) if state.is_active and state.doing else ""

    def _step(self, doing: Doing) -> str:
        """What is being mined, and how far it is."""
        words = self._words
        parts = [words.say(STEPS[doing.step]), *([doing.site] if doing.site else [])]
        if doing.done:
            numbers = {"done": words.number(doing.done), "total": words.number(doing.total)}
            parts.append(words.say("{done} of {total}", **numbers))
        return " · ".join(parts)

    def _fits(self, tip: Tip) -> bool:
        """Whether the app can help: it starts no job of the command line again."""
        return tip.action in (None, Action.REPEAT) or self._job.intent is not None

    def _advised(self, tip: Tip, state: JobState) -> Advised:
        words, button = self._words, self._button(tip, state)
        if tip.action is Action.LARGER_LIMIT and button is None:
            tip = Tip(Remedy.SITE_LIMIT)
        return Advised(words.tell(tip.message), button)

    def _button(self, tip: Tip, state: JobState) -> Button | None:
        """None if there is nothing to press."""
        match tip.action:
            case Action.RESUME:
                return self._said(_GO_ON if tip.remedy is Remedy.GO_ON else _RETRY)
            case Action.VISIT_REST:
                return self._said(_REST) if self._job.kind == "mine" else None
            case Action.LARGER_LIMIT:
                field = self._limit_field(state.ended.budget if state.ended else None)
                return self._said(_LARGER)._replace(field=field) if field else None
            case Action.REPEAT:
                return self._repeat(tip)
            case None:
                return None

    def _limit_field(self, reached: Limit | None) -> LimitField | None:
        """Twice as much; None if the server allows no more."""
        if reached is None:
            return None
        downloads = SETTINGS["max_downloads"].most or reached.most
        most = downloads if reached.unit is LimitUnit.DOWNLOADS else float(getattr(self._limits, reached.unit))
        if reached.most >= most:
            return None
        more = min(2 * reached.most, most)
        return LimitField(reached.unit, self._words.say(_LABELS[reached.unit]), f"{more:.15g}", f"{most:.15g}")

    def _repeat(self, tip: Tip | None = None) -> Button | None:
        """The form, as it was filled in for this job, with what the tip adds."""
        form = _FORMS.get(self._job.kind)
        if form is None or self._job.is_demo:
            return None
        added = {"repeat": self._job.id}
        if tip is not None and isinstance(address := tip.values.get("address"), str):
            added["add"] = address
        if tip is not None and tip.remedy is Remedy.ADD_LANGUAGES and isinstance(tip.values["languages"], tuple):
            added["further"] = ",".join(code.code for code in tip.values["languages"] if isinstance(code, Code))
        return self._said(_REPEAT)._replace(href=f"{form}?{urlencode(added)}")

    def _buttons(self, state: JobState, tips: Iterable[Advised]) -> Iterator[Button]:
        """Those of what to try come first, and of these the first is the main one."""
        shown: set[str] = set()
        for button in (*(tip.button for tip in tips), *self._usual(state)):
            if button is not None and button.name not in shown:
                is_main = not shown and button.name in set(Action)
                shown.add(button.name)
                yield button._replace(kind="main") if is_main else button

    def _usual(self, state: JobState) -> Iterator[Button | None]:
        if self._job.intent is None:
            return
        unfit = [*((_STOP, _STOP_NOW) if self._job.kind in ("topic", "align") else ())]
        if not (self._job.has_web and state.is_finished):
            unfit.append(_AGAIN)
        for button in _BUTTONS[state.state]:
            if button not in unfit:
                yield self._repeat() if button is _REPEAT else self._said(button)

    def _said(self, button: Button) -> Button:
        words = self._words
        return button._replace(label=words.say(button.label), ask=words.say(button.ask) if button.ask else "")


_explained: dict[str, tuple[tuple[str, int], float, Diagnosis | None]] = {}


MOST_SITES = 50  # of a job that are listed


def sites_of(job: ServedJob, state: JobState, figures: Live) -> list[SiteFacts]:
    """What each site of a job with several has brought in the end; none while it runs."""
    if job.kind != "mine" or figures.sites < 2 or state.is_pending:
        return []
    return OpenedJob(job.folder.path).sites_visited(MOST_SITES)


async def why_little(job: ServedJob, state: JobState, figures: Live) -> Diagnosis | None:
    """Why little comes, if little comes; what was explained a moment ago is not explained again."""
    if figures.fetches == 0 or any(figures.pairs.values()) or job.kind != "mine":
        return None
    if state.state is State.FAILED and (state.ended is None or not state.ended.others):
        return None  # the state says it all
    if state.is_active and not EXPLAIN_AFTER <= figures.fetches <= MOST_EXPLAINED:
        return None
    situation, now = (state.state, figures.fetches), time.monotonic()
    earlier = _explained.get(job.id)
    if earlier is not None and (earlier[0] == situation or (state.is_active and now - earlier[1] < EXPLAIN_AGAIN)):
        return earlier[2]
    try:
        why = await asyncio.to_thread(lambda: diagnose(OpenedJob(job.folder.path).facts()))
    except BitrawlError:  # the ledger is being made
        why = None
    if len(_explained) > 100:
        _explained.clear()
    _explained[job.id] = (situation, now, why)
    return why
