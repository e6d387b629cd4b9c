"""A job in a few lines, for the end of a run."""

from collections.abc import Iterable, Iterator, Mapping

from bitrawl.corpus.naming import without_files
from bitrawl.languages import language_name
from bitrawl.report.job.diagnosis import diagnose
from bitrawl.report.job.facts import CorpusCount, Facts
from bitrawl.report.markup import shortened
from bitrawl.report.wording import counted, duration, fetched, method_name, number, share, size

_MOST = 6  # items named in a line; judgement
_WIDTH = 30  # characters of a flag; judgement


def brief(facts: Facts) -> list[str]:
    """What was found, what was left out and, if little was found, why: lines of plain text."""
    return [*_found(facts), *_left_out(facts), *explained(facts)]


def explained(facts: Facts) -> list[str]:
    """Why little was found, and what to try; nothing if the job found enough."""
    diagnosis = diagnose(facts)
    if diagnosis is None:
        return []
    return [diagnosis.headline, *(f"→ {point.noticed} {point.advice}".rstrip() for point in diagnosis.points)]


def _found(facts: Facts) -> Iterator[str]:
    summary, mined = facts.crawled.summary, facts.mined
    listed = _listed({language_name(code): count for code, count in summary.languages.items()})
    of = f"{fetched(summary)} ({size(summary.bytes)}, {duration(summary.seconds)})"
    yield f"{counted(summary.pages, 'page')} of {of}{listed}"
    if facts.topic is not None and facts.topic.judged:
        relevant = {language_name(code): one.relevant for code, one in facts.topic.languages.items() if one.relevant}
        part = share(facts.topic.relevant, facts.topic.judged)
        yield f"{counted(facts.topic.relevant, 'page')} about the topic ({part}){_listed(relevant)}"
    if not mined.begun:
        return
    if len(facts.asked.langs) != 1:
        yield (
            f"{counted(mined.pairs, 'page pair')}"
            f"{_listed({f'{one.lang_a}-{one.lang_b}': one.pairs for one in mined.language_pairs})}"
        )
    if mined.methods:
        yield "by method: " + _items((method_name(one.letter), one.pairs) for one in mined.methods)
    if mined.pairs:
        flags = {shortened(flag.partition(",")[0], _WIDTH): count for flag, count in mined.flags.items()}
        flagged = f", {share(mined.flagged, mined.segments)} of them flagged" if mined.flagged else ""
        yield f"{counted(mined.segments, 'segment pair')}{flagged}{_listed(flags)}"
    for name, written in facts.corpora.items():
        if len(facts.corpora) == 1 or written.units:
            yield f"{name}: {_written(written, monolingual=len(facts.asked.langs) == 1)}"
    if facts.without_files:
        yield without_files(facts.without_files)


def _written(corpus: CorpusCount, *, monolingual: bool) -> str:
    if corpus.documents or monolingual:
        inside = f"{counted(corpus.paragraphs, 'paragraph')}, {counted(corpus.words, 'word')}"
        return f"{counted(corpus.documents, 'document')} written, with {inside}"
    merged = f" ({counted(corpus.merged, 'duplicate')} merged)" if corpus.merged else ""
    refused = f"; {number(sum(corpus.refused.values()))} refused{_listed(corpus.refused)}" if corpus.refused else ""
    return f"{counted(corpus.units, 'unit')} written{merged}{refused}"


def _left_out(facts: Facts) -> Iterator[str]:
    mined = facts.mined
    if mined.duplicates:
        yield counted(mined.duplicates, "duplicate page")
    if mined.refusals:
        refused = {refusal.reason: refusal.count for refusal in mined.refusals}
        yield f"{counted(sum(refused.values()), 'page pair')} refused{_listed(refused)}"
    if reasons := facts.crawled.summary.skip_reasons:
        skipped = counted(facts.crawled.summary.skipped, "link")
        yield f"{skipped} skipped{_listed({str(reason): count for reason, count in reasons.items()})}"


def _listed(counts: Mapping[str, int]) -> str:
    return f": {_items(counts.items())}" if counts else ""


def _items(counts: Iterable[tuple[str, int]]) -> str:
    items = [f"{number(count)} {name}" for name, count in counts]
    more = f", and {len(items) - _MOST} more" if len(items) > _MOST else ""
    return ", ".join(items[:_MOST]) + more
