"""The report of a job: one HTML file that opens offline, and a few lines for the terminal."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from msgspec.structs import asdict

from bitrawl.corpus import paired_pages, without_files
from bitrawl.endings import EndSentence
from bitrawl.facts import Border, Curve, JobFacts, TopicFacts, TopicShare, WrittenCorpus
from bitrawl.languages import language_name
from bitrawl.message import enumerated
from bitrawl.show.diagnosis import diagnose
from bitrawl.show.plots import CHARTS, COLOURS, Bar, Series
from bitrawl.show.templating import document
from bitrawl.show.wording import (
    METHODS,
    counted,
    duration,
    fetched,
    language_pair,
    looks_scripted,
    method_name,
    number,
    share,
    shortened,
    size,
    with_code,
)
from bitrawl.text.personal_data import PersonalKind
from bitrawl.topic.settings import TopicModel

_MODELS = {
    TopicModel.LEARNED: "learned: a classifier that learns from your texts, terms and examples, and while it crawls",
    TopicModel.TERMS: "terms: the weight of the listed terms on a page",
    TopicModel.PERPLEXITY: "perplexity: how well a language model of your texts predicts a page",
}
_MOST = 6  # items named in a line
_CORPORA = 3  # that have a line each
_FAILED = 20  # seeds that have a line each


def report_of_job(facts: JobFacts) -> str:
    """The same facts give the same page."""
    return document(
        "job_report.html",
        facts=facts,
        title=_title(facts),
        lead=_lead(facts),
        tiles=_tiles(facts),
        diagnosis=diagnose(facts),
        budget=", ".join(
            f"{key.replace('_', ' ')} {value:g}" for key, value in asdict(facts.asked.budget).items() if value
        ),
        undrawn=looks_scripted(facts.crawled.summary, facts.asked.render),
        period=_period(facts.crawl.began, facts.crawl.finished),
        day=lambda seconds: datetime.fromtimestamp(seconds, UTC).date(),
        written={name: count for name, count in facts.written.items() if count.units or count.refused},
        personal_data_counts=personal_data_counts,
        **_curves(facts),
        **_bars(facts),
        **(_topic(facts, facts.topic) if facts.topic else {}),
        **CHARTS,
    )


def _title(facts: JobFacts) -> str:
    names = [language_name(code) for code in facts.asked.langs]
    languages = "–".join(names) if len(names) <= 2 else enumerated(names)
    if len(names) > 4:
        languages = f"{len(names)} languages"
    hosts = list(dict.fromkeys(seed.split("/")[2] for seed in facts.asked.seeds if seed.count("/") >= 2))
    hosts = hosts or [slow.host for slow in facts.crawled.slowest]
    where = hosts[0] if len(hosts) == 1 else counted(len(hosts), "host")
    return f"{languages or 'Pages'} from {where}" if hosts else languages or "An empty job"


def _lead(facts: JobFacts) -> str:
    summary, mined = facts.crawled.summary, facts.mined
    if not summary.pages:
        if not summary.answers:
            return f"No server answered {counted(summary.requests, 'request')} in {duration(summary.seconds)}."
        answers = counted(summary.answers, "answer")
        return f"bitrawl fetched {answers} in {duration(summary.seconds)}. None of them was a page."
    read = f"bitrawl read {counted(summary.pages, 'page')} in {duration(summary.seconds)}"
    if facts.topic is not None:
        read += f"; {counted(facts.topic.relevant, 'of them is', 'of them are')} about the topic"
    if len(facts.asked.langs) == 1:
        return f"{read}."
    if not mined.begun:
        return f"{read}. They have not been paired yet."
    if not mined.pairs and not mined.partial:
        return f"{read}. It found no pair of translations."
    aligned = f" with {counted(mined.segments, 'segment pair')}" if mined.segments else ""
    return f"{read}. It found {paired_pages(mined.pairs, mined.partial)}{aligned}."


def _tiles(facts: JobFacts) -> list[tuple[str, str]]:
    summary, mined = facts.crawled.summary, facts.mined
    counts = {"pages": summary.pages}
    if facts.topic is not None:
        counts["pages about the topic"] = facts.topic.relevant
    counts["answers fetched"] = summary.answers
    if not mined.begun:
        counts["languages"] = len(summary.languages)
    elif len(facts.asked.langs) == 1:
        counts["documents in the corpus"] = sum(corpus.documents or 0 for corpus in facts.written.values())
    else:
        counts |= {"page pairs": mined.pairs, "segment pairs": mined.segments}
        if facts.written and facts.asked.langs:
            counts["units in the corpus"] = sum(corpus.units for corpus in facts.written.values())
    if mined.begun:
        counts["duplicate pages"] = mined.duplicates
    counts["links skipped"] = summary.skipped
    return [(number(count), name) for name, count in counts.items()]


def _period(began: float, finished: float) -> str:
    first, last = (datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC") for at in (began, finished))
    return f"from {first} to {last}" if first != last else first


def _curves(facts: JobFacts) -> dict[str, Any]:
    """Pages and complete pairs over the crawl, and after how many visits half of the pairs were found."""
    codes = {f"{pair.lang_a}-{pair.lang_b}": (pair.lang_a, pair.lang_b) for pair in facts.mined.language_pairs}
    columns = zip(*(curve.points for curve in facts.mined.harvest), strict=True)
    halves = (column[0][0] for column in columns if 2 * sum(y for _, y in column) >= facts.mined.pairs)
    return {
        "growth": _named(facts.crawled.growth, language_name, "other languages"),
        "complete": _named(facts.mined.harvest, lambda name: language_pair(*codes[name]), "other pairs"),
        "half": next(halves, 0),
    }


def _named(curves: Sequence[Curve], name: Callable[[str], str], rest: str) -> list[Series]:
    """Keep only as many curves as can be told apart, and sum up the rest."""
    most = len(curves) if len(curves) <= COLOURS else COLOURS - 1
    series = [Series(name(curve.name), curve.points) for curve in curves[:most]]
    if others := curves[most:]:
        columns = zip(*(curve.points for curve in others), strict=True)
        series.append(Series(rest, tuple((column[0][0], sum(y for _, y in column)) for column in columns)))
    return series


def _bars(facts: JobFacts) -> dict[str, list[Bar]]:
    mined = facts.mined
    return {
        "pages_by_language": [
            Bar(
                with_code(code),
                count,
                "" if facts.asked_as(code) or not facts.asked.langs else "you did not ask for it",
            )
            for code, count in facts.crawled.summary.languages.items()
        ],
        "pairs_by_languages": [
            Bar(language_pair(pair.lang_a, pair.lang_b), pair.pairs) for pair in mined.language_pairs
        ],
        "pairs_by_method": [
            Bar(
                f"{method.letter} · {method_name(method.letter)}",
                method.pairs,
                METHODS.get(method.letter, ("", ""))[1],
                method.alone,
            )
            for method in mined.methods
        ],
    }


def _topic(facts: JobFacts, topic: TopicFacts) -> dict[str, Any]:
    pages, relevant = topic.growth
    return {
        "border": Border,
        "topic_models": _MODELS,
        "model_files": [name.partition("=")[2] for name in topic.asked.language_models],
        "relevant_growth": [
            Series("all pages", pages),
            Series("relevant pages", relevant or tuple((x, 0) for x, _ in pages)),
        ],
        "judged_by_language": [
            Bar(with_code(code), judged.pages, _judged_note(facts, code, judged), judged.relevant)
            for code, judged in topic.languages.items()
        ],
        "pages_by_term": [Bar(shortened(term.term, 60), term.pages, part=term.relevant) for term in topic.read.terms],
        "pages_by_class": [Bar(shortened(name, 60), pages) for name, pages in topic.read.classes.items()],
    }


def _judged_note(facts: JobFacts, code: str, pages: TopicShare) -> str:
    if facts.asked.langs and not facts.asked_as(code):
        return "you did not ask for it, so no page is relevant"
    return f"{number(pages.relevant)} relevant ({share(pages.relevant, pages.pages)})"


class Brief(NamedTuple):
    """A job in lines of plain text."""

    found: list[str]
    left_out: list[str]
    explained: list[str]  # why little was found, and what to try; nothing if the job found enough

    @property
    def lines(self) -> list[str]:
        return [*self.found, *self.left_out, *self.explained]


def brief(facts: JobFacts) -> Brief:
    return Brief(list(_found(facts)), list(_left_out(facts)), _explained(facts))


def _explained(facts: JobFacts) -> list[str]:
    diagnosis = diagnose(facts)
    if diagnosis is None:
        return []
    return [diagnosis.english, *(f"→ {point.english} {point.tip or ''}".rstrip() for point in diagnosis.points)]


def _found(facts: JobFacts) -> Iterator[str]:
    """Pages, pairs and what was written: a few lines."""
    summary, mined = facts.crawled.summary, facts.mined
    listed = _listed({language_name(code): count for code, count in summary.languages.items()})
    of = f"{fetched(summary)} ({size(summary.bytes)}, {duration(summary.seconds)})"
    yield f"{counted(summary.pages, 'page')} of {of}{listed}"
    if facts.topic is not None and facts.topic.judged:
        relevant = {
            language_name(code): judged.relevant for code, judged in facts.topic.languages.items() if judged.relevant
        }
        part = share(facts.topic.relevant, facts.topic.judged)
        yield f"{counted(facts.topic.relevant, 'page')} about the topic ({part}){_listed(relevant)}"
    if not mined.begun:
        return
    if len(facts.asked.langs) != 1:
        pairs = _listed({f"{pair.lang_a}-{pair.lang_b}": pair.pairs for pair in mined.language_pairs})
        partial = f"; {counted(mined.partial, 'partly translated pair')}" if mined.partial else ""
        yield f"{counted(mined.pairs, 'page pair')}{pairs}{partial}; {counted(mined.segments, 'segment pair')}"
    yield from _corpora(facts)
    if facts.without_files:
        yield without_files(facts.without_files)


def _corpora(facts: JobFacts) -> Iterator[str]:
    """The largest, each in a line, and how many others there are."""
    written = [(name, corpus) for name, corpus in facts.written.items() if len(facts.written) == 1 or corpus.units]
    largest = sorted(written, key=lambda named: -named[1].units)[:_CORPORA]
    for name, corpus in largest:
        yield f"{name}: {_written(corpus)}"
    if others := [corpus for named in written if named not in largest for corpus in named[1:]]:
        units = counted(sum(corpus.units for corpus in others), "unit")
        yield f"{counted(len(others), 'other pair')} of languages: {units} written"


def _written(corpus: WrittenCorpus) -> str:
    if corpus.documents is not None:
        inside = f"{counted(corpus.paragraphs, 'paragraph')}, {counted(corpus.words, 'word')}"
        return f"{counted(corpus.documents, 'document')} written, with {inside}{_personal_data(corpus)}"
    merged = f" ({counted(corpus.merged, 'duplicate')} merged)" if corpus.merged else ""
    refused = f"; {number(sum(corpus.refused.values()))} refused{_listed(corpus.refused)}" if corpus.refused else ""
    return f"{counted(corpus.units, 'unit')} written{merged}{refused}{_personal_data(corpus)}"


def _personal_data(corpus: WrittenCorpus) -> str:
    counts = personal_data_counts(corpus)
    return f"; personal data: {counts}" if counts else ""


def personal_data_counts(corpus: WrittenCorpus) -> str:
    """What was replaced or left out; empty if there was none."""
    kinds = {PersonalKind(kind): count for kind, count in corpus.personal_data.items()}
    return ", ".join(counted(count, kind.one, kind.several) for kind, count in kinds.items())


def _left_out(facts: JobFacts) -> Iterator[str]:
    """Pages, page pairs and links that brought nothing, and why; what could not be mined last."""
    mined, lines = facts.mined, []
    if mined.duplicates:
        lines.append(counted(mined.duplicates, "duplicate page"))
    if mined.refusals:
        refused = {refusal.reason: refusal.count for refusal in mined.refusals}
        lines.append(f"{counted(sum(refused.values()), 'page pair')} refused{_listed(refused)}")
    if lines:
        yield "; ".join(lines)
    if reasons := facts.crawled.summary.skip_reasons:
        skipped = counted(facts.crawled.summary.skipped, "link")
        yield f"{skipped} skipped{_listed({str(reason): count for reason, count in reasons.items()})}"
    if facts.faults:
        yield f"could not be mined{_listed(facts.faults)}"
    failed = facts.crawl.run.ended.failed if facts.crawl.run.ended else ()
    yield from (str(seed.message) for seed in failed[:_FAILED])
    if len(failed) > _FAILED:
        yield str(EndSentence.OTHER_SEEDS.message(n=len(failed) - _FAILED))


def _listed(counts: Mapping[str, int]) -> str:
    return f": {_items(counts.items())}" if counts else ""


def _items(counts: Iterable[tuple[str, int]]) -> str:
    items = [f"{number(count)} {name}" for name, count in counts]
    more = f", and {len(items) - _MOST} more" if len(items) > _MOST else ""
    return ", ".join(items[:_MOST]) + more
