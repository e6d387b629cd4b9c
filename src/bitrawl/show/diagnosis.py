"""Why a job found little or nothing, and what to try."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from bitrawl.config import TopicModel
from bitrawl.facts import LITTLE_RELEVANT, JobFacts, ListFacts, TopicFacts
from bitrawl.languages import language_name, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.reasons import Reason
from bitrawl.show.wording import ADVICE, HARMLESS, REFUSALS, SKIPS, answered, counted, enumerated, number, share, size
from bitrawl.url import Url

LITTLE = 0.1  # of the pairs that the pages could give: finding fewer needs an explanation; judgement
_MANY = 0.05  # of all links or pages: a reason that costs less is not why little was found; judgement
_OFF_TOPIC = "off-topic"  # as in `wording.REFUSALS`
# One article of an encyclopaedia has 5 to 30 kB. With less, most words of a topic were never seen; judgement.
_ENOUGH_TEXT = 20_000
_MOST_NAMED = 3  # judgement

_MISSED = {
    "threshold": "with a score below the threshold of {value:g} (threshold)",
    "max_perplexity": "with a perplexity that is too high (max_perplexity)",
    "content_terms": "with terms that weigh too little (content_terms = {value:g})",
    "distinct_terms": "with fewer than {value:g} different terms in the text (distinct_terms)",
    "density": "with too few terms for the length of the text (density = {value:g})",
}
"""What a page lacks, by the name of the threshold in [topic]."""


class Point(msgspec.Struct, frozen=True):
    """One observation, and what to try."""

    noticed: str
    advice: str = ""


class Diagnosis(msgspec.Struct, frozen=True):
    """What is missing, and possible causes."""

    headline: str
    points: tuple[Point, ...]


def diagnose(facts: JobFacts) -> Diagnosis | None:
    """None if the job found as much as can be expected, or has not been paired yet."""
    headline = _headline(facts)
    return Diagnosis(headline, tuple(_points(facts))) if headline else None


def _headline(facts: JobFacts) -> str:
    """Empty if nothing is missing."""
    mined, most = facts.mined, _possible(facts)
    missing = [language_name(code) for code, count in facts.languages.items() if not count]
    sentences = {
        "No page was found": not facts.crawled.summary.pages,
        f"No page in {enumerated(missing)} was found": bool(missing),
        **_about_relevance(facts),
        "No pair of translations was found": mined.begun and most and not mined.pairs,
        f"Only {number(mined.pairs)} of up to {number(most)} possible pairs were found": mined.begun
        and mined.pairs < LITTLE * most,
        "No segments were found in the page pairs": mined.pairs and not mined.segments,
    }
    headline = next((text for text, is_so in sentences.items() if is_so), "")
    so_far = "" if facts.crawled.summary.ended else " so far"
    return f"{headline}{so_far}." if headline else ""


def _possible(facts: JobFacts) -> int:
    """At most as many pairs as the second largest language has pages, on the topic if there is one.

    0 for a job with one language.
    """
    return sorted([0, 0, *facts.relevant_languages.values()])[-2]


def _about_relevance(facts: JobFacts) -> dict[str, bool]:
    """What may be missing in a job with a topic, and whether it is."""
    topic = facts.topic
    if topic is None or not topic.judged:
        return {}
    without = [language_name(code) for code, count in facts.relevant_languages.items() if not count]
    few = f"Only {number(topic.relevant)} of {counted(topic.judged, 'page is', 'pages are')} about the topic"
    return {
        "No page is about the topic": not topic.relevant,
        f"No page in {enumerated(without)} is about the topic": bool(without),
        few: topic.relevant < LITTLE_RELEVANT * topic.judged,
    }


def _points(facts: JobFacts) -> Iterator[Point]:
    if facts.crawled.summary.fetches and not facts.crawled.summary.answers:
        yield from _about_silence(facts)
        return
    if any(_about_relevance(facts).values()):
        yield from _about_topic(facts)
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


def _about_silence(facts: JobFacts) -> Iterator[Point]:
    """If no server has answered, nothing else is worth saying."""
    for reason, count in facts.crawled.summary.unanswered.items():
        skip_reason = Reason(reason)
        noticed = f"{counted(count, 'request', 'requests')} failed: {reason}. {SKIPS.get(skip_reason, '')}"
        yield Point(noticed.rstrip(), ADVICE.get(skip_reason, ""))


def _about_languages(facts: JobFacts) -> Iterator[Point]:
    summary, wanted = facts.crawled.summary, facts.languages
    if not summary.pages:
        return
    identified = {code: count for code, count in summary.languages.items() if code != UNDETERMINED}
    others = {code: count for code, count in identified.items() if facts.asked_as(code) is None}
    counts = enumerated(f"{number(count)} in {language_name(code)}" for code, count in wanted.items())
    missing = [language_name(code) for code, count in wanted.items() if not count]
    advice = f"Add the URL of a page in {' and one in '.join(missing)} as a seed." if missing else ""
    yield Point(f"The job has {counted(summary.pages, 'page')}: {counts}.", advice)
    if others and max(others.values()) > max(min(wanted.values(), default=0), _MANY * summary.pages):
        most = list(others.items())[:4]
        listed = enumerated(f"{language_name(code)} ({number(count)})" for code, count in most)
        yield Point(
            f"There are also pages in languages that you did not ask for: {listed}.",
            _asking_for(facts, [code for code, _ in most]),
        )
    unknown = summary.languages.get(UNDETERMINED, 0)
    if unknown > _MANY * summary.pages:
        yield Point(f"{counted(unknown, 'page has', 'pages have')} too little text to identify the language.")


def _asking_for(facts: JobFacts, more: Sequence[str]) -> str:
    """A command to paste. The languages of a job cannot change, so it is another job."""
    folder, codes = Path(facts.folder), ",".join([*facts.asked.langs, *more])
    other = folder.with_name(f"{folder.name}-{'-'.join(more)}")
    command = shlex.join(["bitrawl", "mine", "--job", str(folder / "job.toml"), "--langs", codes, "--out", str(other)])
    return f"To include them, mine the site again, into another folder: {command}"


def _about_other_sites(facts: JobFacts) -> Iterator[Point]:
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


def _about_skips(facts: JobFacts) -> Iterator[Point]:
    enough = _MANY * facts.crawled.summary.links
    for skip in (*facts.crawled.skips, *facts.crawled.faults):
        if skip.count > enough and skip.reason != Reason.OFF_SITE and skip.reason not in HARMLESS:
            answers = f" ({answered(skip.statuses)})" if skip.statuses else ""
            links = counted(skip.count, "link was", "links were")
            noticed = f"{links} skipped: {skip.reason}{answers}. {SKIPS.get(skip.reason, '')}"
            yield Point(noticed.rstrip(), ADVICE.get(skip.reason, ""))


def _about_pairing(facts: JobFacts) -> Iterator[Point]:
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


def _about_topic(facts: JobFacts) -> Iterator[Point]:
    """For a job in which no page is about the topic, hardly any, or none of one language."""
    topic = facts.topic
    if topic is None:
        return
    yield from _about_examples(topic)
    yield from _about_texts(topic)
    if not any(facts.languages.values()):
        return  # No page is in the languages. The terms were never looked for.
    if topic.listed is not None:
        yield from _about_list(facts, topic, topic.listed)
    if topic.read.with_terms:
        yield from _about_thresholds(facts, topic)
    elif topic.listed is None and (topic.asked.terms or topic.asked.texts):
        what = "the list" if topic.asked.terms else "your texts"
        yield Point(
            f"No term of {what} is on any of {_searched(facts, topic)}.",
            "Check that the seeds lead to pages about the topic.",
        )


def _about_examples(topic: TopicFacts) -> Iterator[Point]:
    given = topic.given
    if not given.unread:
        return
    named = list(given.unread.items())[:_MOST_NAMED]
    listed = enumerated(f"{url} ({why})" for url, why in named)
    meaning = SKIPS.get(named[0][1], "")
    yield Point(
        f"{number(len(given.unread))} of {counted(given.examples, 'example page')} taught nothing: {listed}. {meaning}".rstrip(),
        "Name other pages about the topic with --like, or give texts with --texts.",
    )


def _about_texts(topic: TopicFacts) -> Iterator[Point]:
    settings, given = topic.asked, topic.given
    if settings.texts and 0 < given.bytes < _ENOUGH_TEXT and topic.model is not TopicModel.TERMS:
        yield Point(
            f"The texts are few: {counted(given.files, 'file')} with {size(given.bytes)}.",
            "Give more: ten articles of a few pages each are enough.",
        )


def _about_thresholds(facts: JobFacts, topic: TopicFacts) -> Iterator[Point]:
    read = topic.read
    if not read.refused:
        return
    misses = [
        f"{number(count)} {_MISSED[name].format(value=_value(topic, name))}" for name, count in read.missed.items()
    ]
    best = _best(topic)
    yield Point(
        f"{counted(read.refused, 'page has', 'pages have')} terms of the topic but {'is' if read.refused == 1 else 'are'}"
        f" not relevant: {'; '.join(misses)}.{best}",
        f"If the pages just below the threshold are about the topic (see the report), {_loosen(topic)} in [topic] of a"
        f" copy of job.toml, and judge the same pages without fetching them again: {_again(facts)}",
    )


def _value(topic: TopicFacts, name: str) -> float:
    return float(getattr(topic.asked, name) or 0)


def _best(topic: TopicFacts) -> str:
    if topic.model is TopicModel.PERPLEXITY and topic.lowest_perplexity:
        return f" The lowest perplexity is {number(topic.lowest_perplexity)}."
    highest = max(
        (example.relevance.score for examples in topic.examples.values() for example in examples), default=0.0
    )
    return f" The highest relevance is {highest:.2f}." if topic.model is TopicModel.LEARNED else ""


def _loosen(topic: TopicFacts) -> str:
    name = next(iter(topic.read.missed))
    return "raise max_perplexity" if name == "max_perplexity" else f"lower {name}"


def _again(facts: JobFacts) -> str:
    folder = Path(facts.folder)
    replay = [] if facts.asked.replay or facts.asked.warc else ["--replay", str(folder / "warc")]
    return shlex.join(["bitrawl", "mine", "--job", "COPY", *replay, "--out", f"{folder}-2"])


def _about_list(facts: JobFacts, topic: TopicFacts, listed: ListFacts) -> Iterator[Point]:
    name = Path(topic.asked.terms).name
    counts = {code: count for code, count in facts.languages.items() if count}
    foreign = [code for code in counts if not any(_fits(code, language) for language in listed.languages)]
    if foreign:
        languages = enumerated(f"{language_name(code)} ({number(n)})" for code, n in listed.languages.items())
        pages = enumerated(f"{number(counts[code])} in {language_name(code)}" for code in foreign)
        yield Point(
            f"{name} has terms in {languages} only. There are pages in other languages: {pages}.",
            f"Add terms in {enumerated(map(language_name, foreign))}, each with its language, as in 50:term>{foreign[0]}."
            " bitrawl topic translate proposes them.",
        )
    for marked, seems in listed.looks_like.items():
        yield Point(
            f"The terms of {name} are taken for {language_name(marked)}, but look like {language_name(seems)}.",
            f"Write the language after each term, as in 50:term>{seems}, or give a list in {language_name(marked)}.",
        )
    if len(foreign) < len(counts) and not topic.read.with_terms:
        yield _about_unmatched(facts, topic, listed)


def _about_unmatched(facts: JobFacts, topic: TopicFacts, listed: ListFacts) -> Point:
    name, total = Path(topic.asked.terms).name, sum(listed.languages.values())
    show = f"bitrawl topic show URL --topic {shlex.quote(topic.asked.terms)}"
    if listed.in_boilerplate:
        return Point(
            f"On {number(listed.in_boilerplate)} of {counted(listed.searched, 'page')}, terms are only in menus,"
            " footers and other boilerplate, which does not count.",
            f"Give terms that are in the text itself. To see what a page has: {show}",
        )
    return Point(
        f"None of the {counted(total, 'term')} of {name} is in the text of any of {_searched(facts, topic)}.",
        f"Check that the seeds lead to pages about the topic, and look at one that is: {show}. bitrawl topic learn makes a"
        " list from texts.",
    )


def _searched(facts: JobFacts, topic: TopicFacts) -> str:
    """Only pages in the languages of the job are searched for terms."""
    pages = sum(facts.languages.values())
    searched = counted(pages, "page") if topic.read.whole else f"{number(topic.read.pages)} of {number(pages)} pages"
    return f"{searched} in {enumerated(language_name(code) for code, count in facts.languages.items() if count)}"


def _fits(page: str, term: str) -> bool:
    return term == UNDETERMINED or same_language(Language(page), Language(term)) or page == term
