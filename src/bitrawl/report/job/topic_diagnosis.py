"""Why hardly any page is about the topic, and what to try."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bitrawl.config import TopicModel
from bitrawl.languages import language_name, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.report.job.facts import Facts
from bitrawl.report.job.topic_facts import ListFacts, TopicFacts
from bitrawl.report.wording import SKIPS, counted, enumerated, number, size

# One article of an encyclopaedia has 5 to 30 kB. With less, most words of a topic were never seen; judgement.
_ENOUGH_TEXT = 20_000
_MOST_NAMED = 3  # judgement

_MISSED = {
    "threshold": "score below the threshold of {value:g} (threshold)",
    "max_perplexity": "have a perplexity that is too high (max_perplexity)",
    "content_terms": "have terms that weigh too little (content_terms = {value:g})",
    "distinct_terms": "have fewer than {value:g} different terms in the text (distinct_terms)",
    "density": "have too few for the length of the text (density = {value:g})",
}
"""What a page lacks, by the name of the threshold in [topic]."""


class Point(msgspec.Struct, frozen=True):
    """One observation, and what to try."""

    noticed: str
    advice: str = ""


def about_topic(facts: Facts) -> Iterator[Point]:
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
    known = SKIPS.get(named[0][1], "")
    yield Point(
        f"{number(len(given.unread))} of {counted(given.examples, 'example page')} taught nothing: {listed}. {known}".rstrip(),
        "Name other pages about the topic with --like, or give texts with --texts.",
    )


def _about_texts(topic: TopicFacts) -> Iterator[Point]:
    asked, given = topic.asked, topic.given
    if asked.texts and 0 < given.bytes < _ENOUGH_TEXT and topic.model is not TopicModel.TERMS:
        yield Point(
            f"The texts are few: {counted(given.files, 'file')} with {size(given.bytes)}.",
            "Give more: ten articles of some pages each are enough.",
        )


def _about_thresholds(facts: Facts, topic: TopicFacts) -> Iterator[Point]:
    read = topic.read
    if not read.refused:
        return
    said = [f"{number(count)} {_MISSED[name].format(value=_value(topic, name))}" for name, count in read.missed.items()]
    best = _best(topic)
    yield Point(
        f"{counted(read.refused, 'page has', 'pages have')} terms of the topic and {'is' if read.refused == 1 else 'are'}"
        f" not relevant: {'; '.join(said)}.{best}",
        f"If the pages just below the threshold are about the topic (see the report), {_loosen(topic)} in [topic] of a"
        f" copy of job.toml, and judge the same pages without fetching them again: {_again(facts)}",
    )


def _value(topic: TopicFacts, name: str) -> float:
    return float(getattr(topic.asked, name) or 0)


def _best(topic: TopicFacts) -> str:
    if topic.model is TopicModel.PERPLEXITY and topic.lowest_perplexity:
        return f" The lowest perplexity is {number(topic.lowest_perplexity)}."
    highest = max((one.relevance.score for shown in topic.examples.values() for one in shown), default=0.0)
    return f" The highest relevance is {highest:.2f}." if topic.model is TopicModel.LEARNED else ""


def _loosen(topic: TopicFacts) -> str:
    name = next(iter(topic.read.missed))
    return "raise max_perplexity" if name == "max_perplexity" else f"lower {name}"


def _again(facts: Facts) -> str:
    folder = Path(facts.folder)
    replay = [] if facts.asked.replay or facts.asked.warc else ["--replay", str(folder / "warc")]
    return shlex.join(["bitrawl", "mine", "--job", "COPY", *replay, "--out", f"{folder}-2"])


def _about_list(facts: Facts, topic: TopicFacts, listed: ListFacts) -> Iterator[Point]:
    name = Path(topic.asked.terms).name
    found = {code: count for code, count in facts.languages.items() if count}
    foreign = [code for code in found if not any(_fits(code, known) for known in listed.languages)]
    if foreign:
        known = enumerated(f"{language_name(code)} ({number(n)})" for code, n in listed.languages.items())
        pages = enumerated(f"{number(found[code])} in {language_name(code)}" for code in foreign)
        yield Point(
            f"{name} has terms in {known} only. There are pages in other languages: {pages}.",
            f"Add terms in {enumerated(map(language_name, foreign))}, each with its language, as in 50:term>{foreign[0]}."
            " bitrawl topic translate proposes them.",
        )
    for marked, seems in listed.looks_like.items():
        yield Point(
            f"The terms of {name} are taken for {language_name(marked)}, but look like {language_name(seems)}.",
            f"Write the language behind each term, as in 50:term>{seems}, or give a list in {language_name(marked)}.",
        )
    if len(foreign) < len(found) and not topic.read.with_terms:
        yield _about_unmatched(facts, topic, listed)


def _about_unmatched(facts: Facts, topic: TopicFacts, listed: ListFacts) -> Point:
    name, total = Path(topic.asked.terms).name, sum(listed.languages.values())
    show = f"bitrawl topic show URL --topic {shlex.quote(topic.asked.terms)}"
    if listed.in_boilerplate:
        return Point(
            f"On {number(listed.in_boilerplate)} of {counted(listed.searched, 'page')}, terms stand only in menus,"
            " footers and other boilerplate, which does not count.",
            f"Give terms that stand in the text itself. To see what a page has: {show}",
        )
    return Point(
        f"None of the {counted(total, 'term')} of {name} is in the text of any of {_searched(facts, topic)}.",
        f"Check that the seeds lead to pages about the topic, and look at one that is: {show}. bitrawl topic learn makes a"
        " list out of texts.",
    )


def _searched(facts: Facts, topic: TopicFacts) -> str:
    """Only pages in the languages of the job are searched for terms."""
    pages = sum(facts.languages.values())
    searched = counted(pages, "page") if topic.read.whole else f"{number(topic.read.pages)} of {number(pages)} pages"
    return f"{searched} in {enumerated(language_name(code) for code, count in facts.languages.items() if count)}"


def _fits(page: str, term: str) -> bool:
    return term == UNDETERMINED or same_language(Language(page), Language(term)) or page == term
