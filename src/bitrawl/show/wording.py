"""The words of the report: names and sentences for reasons, methods, languages and figures, and what to try."""

from collections.abc import Mapping

from bitrawl.crawling import RenderSection
from bitrawl.facts import CrawlSummary
from bitrawl.languages import language_name
from bitrawl.message import Share
from bitrawl.model import Method
from bitrawl.reasons import Reason
from bitrawl.version import install_command

METHODS: dict[str, tuple[str, str]] = {method: (method.label, method.meaning) for method in Method}
"""The name of each kind of evidence, by letter, and what it says about two pages."""

SKIPS: dict[str, str] = {reason: reason.meaning for reason in Reason}
"""Why a link did not become a page. docs/reference/skips.md says more about each reason."""

ADVICE: dict[str, str] = {reason: reason.advice for reason in Reason if reason.advice}
"""What to try when many links were skipped for a reason. Reasons that need no advice are absent."""

REFUSALS = {
    "wrong-language": "Both pages are in the same language. One claims to be in another.",
    "untranslated": "Both pages have mostly the same text: the original, not translated.",
    "partial": "Only a part of one page is translated. Its translated segments are in the corpus.",
    "short": "One page has hardly any text of its own.",
    "length": "One page has too little text to be a translation of the other.",
    "conflict": "One of the pages has a better partner.",
    "unlike": "All of the evidence together is too weak.",
    "machine-translated": "One page says that it was translated by a machine.",
    "off-topic": "One page, or both, is not about the topic.",
}
"""Why two pages that some evidence suggested as a pair were refused."""


def method_name(letter: str) -> str:
    """The letter itself if it is unknown."""
    return METHODS.get(letter, (letter, ""))[0]


def with_code(language: str) -> str:
    """French (fr)."""
    return f"{language_name(language)} ({language})"


def language_pair(a: str, b: str) -> str:
    """English–French."""
    return f"{language_name(a)}–{language_name(b)}"


def fetched(summary: CrawlSummary) -> str:
    """How many requests were answered, and how many were not, if any."""
    answers = counted(summary.answers, "answer")
    return f"{answers} to {counted(summary.requests, 'request')}" if summary.unanswered else answers


def looks_scripted(summary: CrawlSummary, render: RenderSection) -> str:
    """How many pages nobody drew, and what to do about it; empty if there are none."""
    if not summary.scripted:
        return ""
    seen = f"{counted(summary.scripted, 'page looks', 'pages look')} drawn by scripts"
    if render.runs_scripts:
        return f"{seen}; a browser brought nothing more on them, or on pages like them"
    install = f" Run: {install_command('browser')}" if render.when is None else ""
    return f"{seen}, which were not run. {Reason.SCRIPTED.advice}{install}"


def answered(statuses: Mapping[int, int], most: int = 3) -> str:
    """404 × 12, 403 × 2."""
    answers = [f"{status} × {number(count)}" for status, count in list(statuses.items())[:most]]
    return ", ".join([*answers, "…"] if len(statuses) > most else answers)


def number(count: float) -> str:
    """12,345."""
    return f"{count:,.0f}"


def counted(count: int, singular: str, many: str = "") -> str:
    """1 page, 2 pages."""
    return f"{number(count)} {singular if count == 1 else many or singular + 's'}"


def share(part: float, whole: float) -> str:
    """In per cent."""
    return str(Share(part, whole))


def size(count: float) -> str:
    """Bytes in a readable unit."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def duration(seconds: float) -> str:
    """Seconds in readable units: 12 s, 3 min 5 s, 2 h 10 min."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def shortened(text: str, width: int) -> str:
    """The beginning of the text, with a mark if there is more."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"
