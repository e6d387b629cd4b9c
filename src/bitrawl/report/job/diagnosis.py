"""Why a job found little or nothing, and what to try."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from bitrawl.languages import language_name
from bitrawl.model import UNDETERMINED, Reason
from bitrawl.report.job import topic_facts
from bitrawl.report.job.facts import Facts
from bitrawl.report.job.topic_diagnosis import Point, about_topic
from bitrawl.report.wording import ADVICE, HARMLESS, REFUSALS, SKIPS, answered, counted, enumerated, number, share
from bitrawl.url import Url

LITTLE = 0.1  # of the pairs that the pages could give: finding fewer needs an explanation; judgement
_MANY = 0.05  # of all links or pages: a reason that costs less is not why little was found; judgement
_OFF_TOPIC = "off-topic"  # as in `wording.REFUSALS`


class Diagnosis(msgspec.Struct, frozen=True):
    """What is missing, and possible causes."""

    headline: str
    points: tuple[Point, ...]


def diagnose(facts: Facts) -> Diagnosis | None:
    """None if the job found as much as can be expected, or has not been paired yet."""
    headline = _headline(facts)
    return Diagnosis(headline, tuple(_points(facts))) if headline else None


def _headline(facts: Facts) -> str:
    """Empty if nothing is missing."""
    mined, most = facts.mined, _possible(facts)
    missing = [language_name(code) for code, count in facts.languages.items() if not count]
    said = {
        "No page was found": not facts.crawled.summary.pages,
        f"No page in {enumerated(missing)} was found": bool(missing),
        **_about_relevance(facts),
        "No pair of translations was found": mined.begun and most and not mined.pairs,
        f"Only {number(mined.pairs)} of up to {number(most)} possible pairs were found": mined.begun
        and mined.pairs < LITTLE * most,
        "No segments were found in the pairs of pages": mined.pairs and not mined.segments,
    }
    headline = next((text for text, is_so in said.items() if is_so), "")
    so_far = "" if facts.crawled.summary.ended else " so far"
    return f"{headline}{so_far}." if headline else ""


def _possible(facts: Facts) -> int:
    """At most as many pairs as the second largest language has pages, on the topic if there is one.

    0 for a job with one language.
    """
    return sorted([0, 0, *facts.relevant_languages.values()])[-2]


def _about_relevance(facts: Facts) -> dict[str, bool]:
    """What may be missing in a job with a topic, and whether it is."""
    topic = facts.topic
    if topic is None or not topic.judged:
        return {}
    without = [language_name(code) for code, count in facts.relevant_languages.items() if not count]
    few = f"Only {number(topic.relevant)} of {counted(topic.judged, 'page is', 'pages are')} about the topic"
    return {
        "No page is about the topic": not topic.relevant,
        f"No page in {enumerated(without)} is about the topic": bool(without),
        few: topic.relevant < topic_facts.LITTLE * topic.judged,
    }


def _points(facts: Facts) -> Iterator[Point]:
    if facts.crawled.summary.fetches and not facts.crawled.summary.answers:
        yield from _about_silence(facts)
        return
    if any(_about_relevance(facts).values()):
        yield from about_topic(facts)
    yield from _about_languages(facts)
    yield from _about_other_sites(facts)
    yield from _about_skips(facts)
    yield from _about_pairing(facts)
    if waiting := facts.crawled.summary.queued:
        ended = "" if facts.crawled.summary.ended else " If the job is still running, wait."
        yield Point(
            f"{counted(waiting, 'link is', 'links are')} still queued.",
            "Run the same command again: with a larger budget if it was spent, or with --exhaustive if a site was left"
            f" early.{ended}",
        )


def _about_silence(facts: Facts) -> Iterator[Point]:
    """If no server has answered, nothing else is worth saying."""
    for reason, count in facts.crawled.summary.unanswered.items():
        known = Reason(reason)
        noticed = f"{counted(count, 'request', 'requests')} failed: {reason}. {SKIPS.get(known, '')}"
        yield Point(noticed.rstrip(), ADVICE.get(known, ""))


def _about_languages(facts: Facts) -> Iterator[Point]:
    summary, asked = facts.crawled.summary, facts.languages
    if not summary.pages:
        return
    told = {code: count for code, count in summary.languages.items() if code != UNDETERMINED}
    others = {code: count for code, count in told.items() if facts.asked_as(code) is None}
    found = enumerated(f"{number(count)} in {language_name(code)}" for code, count in asked.items())
    missing = [language_name(code) for code, count in asked.items() if not count]
    advice = f"Add the URL of a page in {' and one in '.join(missing)} as a seed." if missing else ""
    yield Point(f"Of {counted(summary.pages, 'page')}, {found}.", advice)
    if others and max(others.values()) > max(min(asked.values(), default=0), _MANY * summary.pages):
        most = list(others.items())[:4]
        listed = enumerated(f"{language_name(code)} ({number(count)})" for code, count in most)
        yield Point(
            f"There are also pages in languages that you did not ask for: {listed}.",
            _asking_for(facts, [code for code, _ in most]),
        )
    unknown = summary.languages.get(UNDETERMINED, 0)
    if unknown > _MANY * summary.pages:
        yield Point(f"{counted(unknown, 'page has', 'pages have')} too little text to identify the language.")


def _asking_for(facts: Facts, more: Sequence[str]) -> str:
    """A command to paste. The languages of a job cannot change, so it starts over."""
    folder, codes = Path(facts.folder), ",".join([*facts.asked.langs, *more])
    command = shlex.join(["bitrawl", "mine", "--job", str(folder / "job.toml"), "--langs", codes, "--out", str(folder)])
    return f"To include them, start over (this fetches everything again): {command} --fresh"


def _about_other_sites(facts: Facts) -> Iterator[Point]:
    declared, off_site = facts.crawled.declared_off_site, facts.crawled.off_site
    if declared:
        home = next((Url.known(seed).host for seed in facts.asked.seeds), "example.org")
        other = next(iter(declared))
        yield Point(
            f"Pages declare translations on other sites: {_ranked(declared)}.",
            f"If this is the same site under another name, add --one-site {home},{other}.",
        )
    elif sum(off_site.values()) > _MANY * facts.crawled.summary.links:
        yield Point(f"Many links lead to other sites, most often {_ranked(off_site)}.", ADVICE[Reason.OFF_SITE])


def _about_skips(facts: Facts) -> Iterator[Point]:
    enough = _MANY * facts.crawled.summary.links
    for skip in (*facts.crawled.skips, *facts.crawled.faults):
        if skip.count > enough and skip.reason != Reason.OFF_SITE and skip.reason not in HARMLESS:
            answers = f" ({answered(skip.statuses)})" if skip.statuses else ""
            links = counted(skip.count, "link was", "links were")
            noticed = f"{links} skipped: {skip.reason}{answers}. {SKIPS.get(skip.reason, '')}"
            yield Point(noticed.rstrip(), ADVICE.get(skip.reason, ""))


def _about_pairing(facts: Facts) -> Iterator[Point]:
    mined, summary = facts.mined, facts.crawled.summary
    refused = sum(refusal.count for refusal in mined.refusals)
    if refused:
        most = ", ".join(f"{refusal.reason} {number(refusal.count)}" for refusal in mined.refusals[:5])
        why = REFUSALS.get(mined.refusals[0].reason, "")
        advice = "If pairs were refused wrongly, describe their URLs with --url-pair."
        if mined.refusals[0].reason == _OFF_TOPIC:
            advice = "If they are about the topic, lower its thresholds, or give texts or terms in both languages."
        yield Point(
            f"{counted(refused, 'pair was', 'pairs were')} refused: {most}. {why}".rstrip(),
            f"Check the refused pairs in the report. {advice}",
        )
    if mined.begun and not mined.pairs and not refused and all(facts.languages.values()) and len(facts.languages) > 1:
        codes = "=".join(facts.asked.langs[:2])
        yield Point(
            "Nothing connects the pages of one language with those of the other. They may be different texts.",
            f"If the URLs follow a rule, say what marks the languages in them: --url-pair {codes}.",
        )
    if mined.duplicates > summary.pages / 3:
        part = share(mined.duplicates, summary.pages)
        yield Point(f"{counted(mined.duplicates, 'page repeats', 'pages repeat')} another ({part} of all).")


def _ranked(counts: dict[str, int]) -> str:
    return enumerated(f"{name} ({number(count)})" for name, count in list(counts.items())[:4])
