"""Why a job found little or nothing, and what to try: values, which the command line, the report and the web app put into words."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from bitrawl.facts import LITTLE_RELEVANT, JobFacts, ListFacts, TopicFacts
from bitrawl.file_names import ARCHIVE, DESCRIPTION
from bitrawl.languages import same_language
from bitrawl.message import Amount, Cause, Code, Message, Share, Unit, Value, Wording
from bitrawl.model import UNDETERMINED, Language
from bitrawl.reasons import HARMLESS, Reason
from bitrawl.remedies import Remedy, Tip
from bitrawl.show.wording import REFUSALS, answered, number
from bitrawl.topic.settings import TopicModel
from bitrawl.url import Url

LITTLE = 0.1  # of the pairs that the pages could give: finding fewer needs an explanation; judgement
_MANY = 0.05  # of all links or pages: a reason that costs less is not why little was found; judgement
_OFF_TOPIC = "off-topic"  # as in `wording.REFUSALS`
# One article of an encyclopaedia has 5 to 30 kB. With less, most words of a topic were never seen; judgement.
_ENOUGH_TEXT = 20_000
_MOST_NAMED = 3  # judgement
_ADVISED = 2  # pages in a language before it is advised: a single short one may be read wrongly; judgement


class Symptom(Wording):
    """What is noticed of a job that found little. The sentences are keys of the web app's catalogues."""

    # fmt: off
    # headlines
    NO_PAGE = ("no-page", "No page was found.")
    NO_PAGE_IN = ("no-page-in", "No page in {languages} was found.")
    OFF_TOPIC = ("off-topic", "No page is about the topic.")
    OFF_TOPIC_IN = ("off-topic-in", "No page in {languages} is about the topic.")
    FEW_ON_TOPIC = ("few-on-topic", "Only {n} of {total} pages is about the topic.", "Only {n} of {total} pages are about the topic.")
    NO_PAIR = ("no-pair", "No pair of translations was found.")
    FEW_PAIRS = ("few-pairs", "Only {n} of up to {most} possible pairs was found.", "Only {n} of up to {most} possible pairs were found.")
    NO_SEGMENT = ("no-segment", "No segments were found in the page pairs.")
    NOT_ENDED = ("not-ended", "The job has not ended yet.")
    # points
    UNANSWERED = ("unanswered", "{n} request failed: {reason}.", "{n} requests failed: {reason}.")
    SKIPPED = ("skipped", "{n} link was skipped: {reason}.", "{n} links were skipped: {reason}.")
    LANGUAGES = ("languages", "The job has {n} page: {counts}.", "The job has {n} pages: {counts}.")
    OTHER_LANGUAGES = ("other-languages", "There are also pages in languages that you did not ask for: {languages}.")
    UNIDENTIFIED = ("unidentified", "{n} page has too little text to identify the language.",
        "{n} pages have too little text to identify the language.")
    DECLARED_ELSEWHERE = ("declared-elsewhere", "Pages declare translations on other sites: {sites}.")
    LINKS_ELSEWHERE = ("links-elsewhere", "Many links lead to other sites, most often {sites}.")
    REFUSED = ("refused", "{n} pair was refused.", "{n} pairs were refused.")
    UNCONNECTED = ("unconnected", "Nothing connects the pages of one language with those of the other. They may be different texts.")
    DUPLICATES = ("duplicates", "{n} page repeats another ({share} of all).", "{n} pages repeat another ({share} of all).")
    QUEUED = ("queued", "{n} link is still queued.", "{n} links are still queued.")
    # the topic
    UNREAD_EXAMPLES = ("unread-examples", "{n} of {total} example pages taught nothing: {examples}.",
        "{n} of {total} example pages taught nothing: {examples}.")
    FEW_TEXTS = ("few-texts", "The texts are few: {n} file with {size}.", "The texts are few: {n} files with {size}.")
    BELOW = ("below", "{n} page has terms of the topic but is not relevant: {misses}.",
        "{n} pages have terms of the topic but are not relevant: {misses}.")
    HIGHEST_SCORE = ("highest-score", "The highest relevance is {score}.")
    LOWEST_PERPLEXITY = ("lowest-perplexity", "The lowest perplexity is {perplexity}.")
    LIST_LANGUAGES = ("list-languages", "{name} has terms in {languages} only. There are pages in other languages: {pages}.")
    LOOKS_LIKE = ("looks-like", "The terms of {name} are taken for {language}, but look like {other}.")
    BOILERPLATE = ("boilerplate",
        "On {n} of {total} pages, terms are only in menus, footers and other text around the content, which does not count.",
        "On {n} of {total} pages, terms are only in menus, footers and other text around the content, which does not count.")
    NO_TERM = ("no-term", "The {n} term of {name} is not in the text of any of {pages}.",
        "None of the {n} terms of {name} is in the text of any of {pages}.")
    NO_LISTED_TERM = ("no-listed-term", "No term of the list is on any of {pages}.")
    NO_LEARNED_TERM = ("no-learned-term", "No term of your texts is on any of {pages}.")
    SCRIPTED = ("scripted", "{n} page looks drawn by scripts, which were not run.", "{n} pages look drawn by scripts, which were not run.")
    UNDRAWN = ("undrawn", "{n} page looks drawn by scripts; a browser brought nothing more on it, or on pages like it.",
        "{n} pages look drawn by scripts; a browser brought nothing more on them, or on pages like them.")
    # parts of the above
    COUNT_IN = ("count-in", "{count} in {language}")
    NAMED = ("named", "{name} ({count})")
    PAGES_IN = ("pages-in", "{n} page in {languages}", "{n} pages in {languages}")
    SOME_PAGES_IN = ("some-pages-in", "{count} of {total} pages in {languages}")
    LOW_SCORE = ("threshold", "{count} with a score below the threshold of {value}")
    HIGH_PERPLEXITY = ("max_perplexity", "{count} with a perplexity that is too high")
    LIGHT_TERMS = ("content_terms", "{count} with terms that weigh too little")
    FEW_TERMS = ("distinct_terms", "{count} with fewer than {value} different terms in the text")
    SPARSE_TERMS = ("density", "{count} with too few terms for the length of the text")
    # fmt: on


class Point(msgspec.Struct, frozen=True):
    """One observation, and what to try."""

    noticed: tuple[Message, ...]
    tip: Tip | None = None
    note: str = ""  # more, for those who know the settings and the reasons by name

    @property
    def english(self) -> str:
        """What was noticed, for the command line and the report."""
        return " ".join([*map(str, self.noticed), *([self.note] if self.note else [])])


class Diagnosis(msgspec.Struct, frozen=True):
    """What is missing, and possible causes."""

    headline: tuple[Message, ...]
    points: tuple[Point, ...]

    @property
    def english(self) -> str:
        """The headline, for the command line and the report."""
        return " ".join(map(str, self.headline))


def diagnose(facts: JobFacts) -> Diagnosis | None:
    """None if the job found as much as can be expected, or has not been paired yet."""
    headline = next(_headlines(facts), None)
    if headline is None:
        return None
    not_ended = [] if facts.crawl.run.ended else [Symptom.NOT_ENDED.message()]
    return Diagnosis((headline, *not_ended), tuple(_points(facts)))


def _headlines(facts: JobFacts) -> Iterator[Message]:
    """What is missing, the worst first."""
    mined, most = facts.mined, _possible(facts)
    if not facts.crawl.pages:
        yield Symptom.NO_PAGE.message()
    if missing := _missing(facts.languages):
        yield Symptom.NO_PAGE_IN.message(languages=missing)
    yield from _about_relevance(facts)
    if mined.begun and most and not mined.pairs:
        yield Symptom.NO_PAIR.message()
    elif mined.begun and mined.pairs < LITTLE * most:
        yield Symptom.FEW_PAIRS.message(n=mined.pairs, most=most)
    if mined.pairs and not mined.segments:
        yield Symptom.NO_SEGMENT.message()


def _possible(facts: JobFacts) -> int:
    """At most as many pairs as the second largest language has pages, on the topic if there is one.

    0 for a job with one language.
    """
    return sorted([0, 0, *facts.relevant_languages.values()])[-2]


def _missing(counts: Mapping[str, int]) -> tuple[Code, ...]:
    return tuple(Code(code) for code, count in counts.items() if not count)


def _about_relevance(facts: JobFacts) -> Iterator[Message]:
    """What is missing in a job with a topic."""
    topic = facts.topic
    if topic is None or not topic.judged:
        return
    if not topic.relevant:
        yield Symptom.OFF_TOPIC.message()
    missing = _missing(facts.relevant_languages)
    if missing and not facts.mined.pairs:  # A page about the topic takes its translation with it.
        yield Symptom.OFF_TOPIC_IN.message(languages=missing)
    if topic.relevant < LITTLE_RELEVANT * topic.judged:
        yield Symptom.FEW_ON_TOPIC.message(n=topic.relevant, total=topic.judged)


def _points(facts: JobFacts) -> Iterator[Point]:
    if facts.crawl.fetches and not facts.crawl.answers:
        yield from _about_silence(facts)
        return
    if any(_about_relevance(facts)):
        yield from _about_topic(facts)
    yield from _about_languages(facts)
    yield from _about_other_sites(facts)
    yield from _about_skips(facts)
    yield from _about_pairing(facts)
    if facts.crawl.queued and not facts.crawl.run.ended:  # an end says itself what was not visited, and what to do
        tip = Tip(Remedy.WAIT if facts.running else Remedy.GO_ON)
        yield Point((Symptom.QUEUED.message(n=facts.crawl.queued),), tip)


def _about_silence(facts: JobFacts) -> Iterator[Point]:
    """If no server has answered, nothing else is worth saying."""
    for reason, count in facts.crawl.unanswered.items():
        yield _skipped(Symptom.UNANSWERED, Reason(reason), count)


def _skipped(symptom: Symptom, reason: Reason, count: int, answers: str = "") -> Point:
    cause = Cause(reason.label, f"{reason}{answers}")
    tip = Tip(reason) if reason.advice else None
    return Point((symptom.message(n=count, reason=cause),), tip, reason.meaning)


def _about_languages(facts: JobFacts) -> Iterator[Point]:
    summary, wanted = facts.crawl, facts.languages
    if not summary.pages:
        return
    identified = {code: count for code, count in summary.languages.items() if code != UNDETERMINED}
    others = {code: count for code, count in identified.items() if facts.asked_as(code) is None}
    counts = Symptom.LANGUAGES.message(n=summary.pages, counts=_counts_in(wanted))
    missing = _missing(wanted)
    yield Point((counts,), Tip(Remedy.PAGE_IN, {"languages": missing}) if missing else None)
    if others and max(others.values()) > max(min(wanted.values(), default=0), _MANY * summary.pages):
        most = list(others.items())[:4]
        listed = tuple(Symptom.NAMED.message(name=Code(code), count=count) for code, count in most)
        advised = [code for code, count in most if count >= _ADVISED]
        tip = _asking_for(facts, advised) if advised else None
        yield Point((Symptom.OTHER_LANGUAGES.message(languages=listed),), tip)
    if summary.scripted > _MANY * summary.links:
        is_run = facts.asked.render.runs_scripts
        symptom = Symptom.UNDRAWN if is_run else Symptom.SCRIPTED
        yield Point((symptom.message(n=summary.scripted),), None if is_run else Tip(Reason.SCRIPTED))
    unknown = summary.languages.get(UNDETERMINED, 0)
    if unknown > _MANY * summary.pages:
        yield Point((Symptom.UNIDENTIFIED.message(n=unknown),))


def _counts_in(counts: Mapping[str, int]) -> tuple[Message, ...]:
    return tuple(Symptom.COUNT_IN.message(count=count, language=Code(code)) for code, count in counts.items())


def _asking_for(facts: JobFacts, more: Sequence[str]) -> Tip:
    """With a command to paste. The languages of a job cannot change, so it is another job."""
    folder, codes = Path(facts.folder), ",".join([*facts.asked.langs, *more])
    other = folder.with_name(f"{folder.name}-{'-'.join(more)}")
    command = shlex.join(["bitrawl", "mine", "--job", str(folder / DESCRIPTION), "--langs", codes, "--out", str(other)])
    return Tip(Remedy.ADD_LANGUAGES, {"command": command, "languages": tuple(map(Code, more))})


def _about_other_sites(facts: JobFacts) -> Iterator[Point]:
    declared, off_site = facts.crawled.declared_off_site, facts.crawled.off_site
    if declared:
        home = next((Url.known(seed).host for seed in facts.asked.seeds), "example.org")
        tip = Tip(Remedy.ONE_SITE, {"home": home, "address": next(iter(declared))})
        yield Point((Symptom.DECLARED_ELSEWHERE.message(sites=_ranked(declared)),), tip)
    elif sum(off_site.values()) > _MANY * facts.crawl.links:
        yield Point((Symptom.LINKS_ELSEWHERE.message(sites=_ranked(off_site)),), Tip(Reason.OFF_SITE))


def _ranked(counts: Mapping[str, int]) -> tuple[Message, ...]:
    return tuple(Symptom.NAMED.message(name=name, count=count) for name, count in list(counts.items())[:4])


def _about_skips(facts: JobFacts) -> Iterator[Point]:
    enough = _MANY * facts.crawl.links
    for skip in (*facts.crawled.skips, *facts.crawled.faults):
        lost = skip.count - skip.guessed
        if lost > enough and skip.reason != Reason.OFF_SITE and skip.reason not in HARMLESS:
            answers = f" ({answered(skip.statuses)})" if skip.statuses else ""
            yield _skipped(Symptom.SKIPPED, Reason(skip.reason), lost, answers)


def _about_pairing(facts: JobFacts) -> Iterator[Point]:
    mined, summary = facts.mined, facts.crawl
    refused = sum(refusal.count for refusal in mined.refusals)
    if refused:
        most = mined.refusals[0].reason
        meaning = [Message(REFUSALS[most])] if most in REFUSALS else []
        by_reason = ", ".join(f"{refusal.reason} {number(refusal.count)}" for refusal in mined.refusals[:5])
        tip = Tip(Remedy.LOOSEN_TOPIC if most == _OFF_TOPIC else Remedy.LOOK_AT_REFUSED)
        yield Point((Symptom.REFUSED.message(n=refused), *meaning), tip, f"By reason: {by_reason}.")
    if mined.begun and not mined.pairs and not refused and all(facts.languages.values()) and len(facts.languages) > 1:
        yield Point((Symptom.UNCONNECTED.message(),), Tip(Remedy.URL_RULE, {"codes": "=".join(facts.asked.langs[:2])}))
    if mined.duplicates > summary.pages / 3:
        share = Share(mined.duplicates, summary.pages)
        yield Point((Symptom.DUPLICATES.message(n=mined.duplicates, share=share),))


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
        symptom = Symptom.NO_LISTED_TERM if topic.asked.terms else Symptom.NO_LEARNED_TERM
        yield Point((symptom.message(pages=_searched(facts, topic)),), Tip(Remedy.CHECK_SEEDS))


def _about_examples(topic: TopicFacts) -> Iterator[Point]:
    given = topic.given
    if not given.unread:
        return
    named = list(given.unread.items())[:_MOST_NAMED]
    reasons = {why: Reason(why) for _, why in named if why in set(Reason)}
    examples = tuple(
        Symptom.NAMED.message(name=url, count=Cause(reasons[why].label, why) if why in reasons else why)
        for url, why in named
    )
    first = reasons.get(named[0][1])
    noticed = Symptom.UNREAD_EXAMPLES.message(n=len(given.unread), total=given.examples, examples=examples)
    yield Point((noticed,), Tip(Remedy.OTHER_EXAMPLES), first.meaning if first else "")


def _about_texts(topic: TopicFacts) -> Iterator[Point]:
    settings, given = topic.asked, topic.given
    if settings.texts and 0 < given.bytes < _ENOUGH_TEXT and topic.model is not TopicModel.TERMS:
        kilobytes = round(given.bytes / 1000, 1)
        size = Amount(kilobytes, Unit.KILOBYTE) if kilobytes >= 1 else Amount(given.bytes, Unit.BYTE)
        yield Point((Symptom.FEW_TEXTS.message(n=given.files, size=size),), Tip(Remedy.MORE_TEXTS))


def _about_thresholds(facts: JobFacts, topic: TopicFacts) -> Iterator[Point]:
    read = topic.read
    if not read.refused:
        return
    needed = {name: float(getattr(topic.asked, name) or 0) for name in read.missed}
    misses = tuple(Symptom(name).message(count=count, value=needed[name]) for name, count in read.missed.items())
    tip = Tip(Remedy.LOWER_THRESHOLD, {"change": _loosen(topic), "command": _again(facts)})
    noticed = (Symptom.BELOW.message(n=read.refused, misses=misses), *_best(topic))
    settings = ", ".join(f"{name} = {value:g}" for name, value in needed.items())
    yield Point(noticed, tip, f"By setting: {settings}.")


def _best(topic: TopicFacts) -> Iterator[Message]:
    if topic.model is TopicModel.PERPLEXITY and topic.lowest_perplexity:
        yield Symptom.LOWEST_PERPLEXITY.message(perplexity=round(topic.lowest_perplexity))
    elif topic.model is TopicModel.LEARNED:
        scores = (example.relevance.score for examples in topic.examples.values() for example in examples)
        yield Symptom.HIGHEST_SCORE.message(score=round(max(scores, default=0.0), 2))


def _loosen(topic: TopicFacts) -> str:
    name = next(iter(topic.read.missed))
    return "raise max_perplexity" if name == "max_perplexity" else f"lower {name}"


def _again(facts: JobFacts) -> str:
    folder = Path(facts.folder)
    replay = [] if facts.asked.replay or facts.asked.warc else ["--replay", str(folder / ARCHIVE)]
    return shlex.join(["bitrawl", "mine", "--job", "COPY", *replay, "--out", f"{folder}-2"])


def _about_list(facts: JobFacts, topic: TopicFacts, listed: ListFacts) -> Iterator[Point]:
    name = Path(topic.asked.terms).name
    counts = {code: count for code, count in facts.languages.items() if count}
    foreign = {code: count for code, count in counts.items() if not any(_fits(code, term) for term in listed.languages)}
    if foreign:
        languages = tuple(Symptom.NAMED.message(name=Code(code), count=n) for code, n in listed.languages.items())
        noticed = Symptom.LIST_LANGUAGES.message(name=name, languages=languages, pages=_counts_in(foreign))
        values: dict[str, Value] = {"languages": tuple(map(Code, foreign)), "code": next(iter(foreign))}
        yield Point((noticed,), Tip(Remedy.TERMS_IN, values))
    for marked, seems in listed.looks_like.items():
        noticed = Symptom.LOOKS_LIKE.message(name=name, language=Code(marked), other=Code(seems))
        yield Point((noticed,), Tip(Remedy.MARK_TERMS, {"code": seems, "language": Code(marked)}))
    if len(foreign) < len(counts) and not topic.read.with_terms:
        yield _about_unmatched(facts, topic, listed)


def _about_unmatched(facts: JobFacts, topic: TopicFacts, listed: ListFacts) -> Point:
    name, total = Path(topic.asked.terms).name, sum(listed.languages.values())
    show = f"bitrawl topic show URL --topic {shlex.quote(topic.asked.terms)}"
    if listed.in_boilerplate:
        noticed = Symptom.BOILERPLATE.message(n=listed.in_boilerplate, total=listed.searched)
        return Point((noticed,), Tip(Remedy.TERMS_OF_TEXT, {"command": show}))
    noticed = Symptom.NO_TERM.message(n=total, name=name, pages=_searched(facts, topic))
    return Point((noticed,), Tip(Remedy.CHECK_TOPIC, {"command": show}))


def _searched(facts: JobFacts, topic: TopicFacts) -> Message:
    """Only pages in the languages of the job are searched for terms."""
    pages = sum(facts.languages.values())
    languages = tuple(Code(code) for code, count in facts.languages.items() if count)
    if topic.read.whole:
        return Symptom.PAGES_IN.message(n=pages, languages=languages)
    return Symptom.SOME_PAGES_IN.message(count=topic.read.pages, total=pages, languages=languages)


def _fits(page: str, term: str) -> bool:
    return term == UNDETERMINED or same_language(Language(page), Language(term)) or page == term
