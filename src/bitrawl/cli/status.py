"""How a job is: `bitrawl status`, `diff`, `check` and `report`."""

from __future__ import annotations

import datetime as dt
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from msgspec.structs import asdict
from rich.text import Text
from typer import Option

from bitrawl.cli.console import complain, duration, out, print_out, print_rows, size
from bitrawl.cli.flags import CorpusFolder
from bitrawl.cli.many_sites import show_run
from bitrawl.corpus import paired_pages
from bitrawl.endings import EndKind, State
from bitrawl.facts import CrawlSummary, HostCount, JobFacts, LanguagePair, RoundFacts
from bitrawl.mining import Thresholds
from bitrawl.show import ADVICE, counted, fetched, looks_scripted

if TYPE_CHECKING:
    from bitrawl.cluster.run import RunStatus
    from bitrawl.job import CorpusStatus, OpenedCopy, OpenedJob, OpenedRun

WATCH_EVERY = 2.0  # seconds
MOST_CHANGES = 10  # of a kind, that `diff` lists in a table
# Of `--format json`, in their order: part of the output format
KEYS = (
    "links queued pages skipped languages types skips fetches bytes hosts ended seconds mining own_requests answers"
    " unanswered relevant"
).split()
CORPUS_KEYS = ("pairs", "partial", "segments", "units")
_CONDITIONS = {"sound": "green", "damaged": "bold red", "repaired": "yellow"}
_BEGINNINGS = {State.ENDED: "done. ", State.FAILED: "failed. ", State.NOTHING_FOUND: "nothing found. "}
_wait = time.sleep

StatusFormat = StrEnum("StatusFormat", ["TABLE", "JSON"])


def status(
    folder: CorpusFolder,
    *,
    style: Annotated[
        StatusFormat, Option("--format", help="Print a table, or JSON for programs.")
    ] = StatusFormat.TABLE,
    watch: Annotated[bool, Option("--watch", help="Show it again every two seconds, until it ends.")] = False,
) -> None:
    """Show the progress of a job.

    Example: [bold]bitrawl status jobs/example --watch[/]

    It shows pages, languages, pairs, segments, what is being done now, and why links were skipped.
    """
    from bitrawl.cluster.places import open_address

    opened = open_address(folder)
    while True:
        now = opened.status()
        if style is StatusFormat.JSON:
            typer.echo(msgspec.json.encode(_flat(now)).decode())
        else:
            if watch:
                out.clear()
            _show(folder, now)
        if not watch or not isinstance(now, JobFacts) or now.state is not State.RUNNING:
            return
        _wait(WATCH_EVERY)


_SINCE_HELP = "Compare with the end of this round, or with the job as it was on this date."


def diff(
    folder: CorpusFolder,
    *,
    since: Annotated[str, Option(help=_SINCE_HELP, metavar="ROUND|DATE", show_default="the last round but one")] = "",
    style: Annotated[
        StatusFormat, Option("--format", help="Print a table, or JSON for programs.")
    ] = StatusFormat.TABLE,
) -> None:
    """Show what is new, changed and gone since an earlier round of a job.

    Example: [bold]bitrawl diff jobs/example --since 2026-11-01[/]

    Each [bold]bitrawl mine --refresh[/] is a round. It compares pages, page pairs and units of the corpus.
    """
    from bitrawl.cluster.places import open_address

    found = open_address(folder).changes(since)
    if style is StatusFormat.JSON:
        typer.echo(msgspec.json.encode(found).decode())
        return
    rows = [("job", f"{folder}: round {found.round}, compared with round {found.since}")]
    for label, kind in (("pages", found.pages), ("page pairs", found.pairs)):
        rows.append((label, f"{len(kind.new):,} new, {len(kind.changed):,} changed, {len(kind.gone):,} gone"))
        rows += [("", line) for line in _changed_lines(kind)]
    rows.append(("units", f"{len(found.units.new):,} new, {found.units.gone:,} gone"))
    rows += [("", f"new      {a} | {b}") for a, b in found.units.new[:MOST_CHANGES]]
    print_rows(rows)


def _changed_lines(kind: msgspec.Struct) -> Iterator[str]:
    for name, entries in asdict(kind).items():
        yield from (f"{name:<9}{entry}" for entry in entries[:MOST_CHANGES])
        if len(entries) > MOST_CHANGES:
            yield f"{'':<9}and {len(entries) - MOST_CHANGES:,} more; --format json lists them all"


_REPAIR_HELP = "Repair what can be repaired; what is damaged is kept in the folder damaged/."


def check(folder: CorpusFolder, *, repair: Annotated[bool, Option("--repair", help=_REPAIR_HELP)] = False) -> None:
    """Check that the files of a job are as they were written, and repair what can be repaired.

    Example: [bold]bitrawl check jobs/example --repair[/]

    It reads the settings, the ledger, the archive, verdicts, the corpus and what is derived from them. For each part it
    says whether it is sound; if not, what is lost and what to do. Without --repair nothing is changed.
    """
    from bitrawl.cluster.places import open_address

    damaged = False
    for part in open_address(folder).check(repair=repair):
        damaged |= part.condition == "damaged"
        out.print(Text.assemble((f"{part.condition:<9}", _CONDITIONS[part.condition]), f"{part.name}: {part.found}"))
        if part.advice:
            out.print(Text(f"         {part.advice}"))
    if damaged:
        raise typer.Exit(1)


def report(folder: CorpusFolder) -> None:
    """Write the report of a job: one HTML file that opens offline.

    Example: [bold]bitrawl report jobs/example[/]

    A merged corpus and a run over many sites already have the report that their merge wrote.
    """
    from bitrawl.cluster.places import open_address

    print_out(open_address(folder).report())


def _show(folder: str, now: JobFacts | CorpusStatus | RunStatus) -> None:
    """A run over many sites is as far as its parts; a corpus is as it was written."""
    from bitrawl.job import CorpusStatus, OpenedJob

    if isinstance(now, JobFacts):
        show(OpenedJob(folder), now)
    elif isinstance(now, CorpusStatus):
        _show_corpus(now)
    else:
        show_run(now)
        if now.merged is not None:
            _show_corpus(now.merged)


def _show_corpus(now: CorpusStatus) -> None:
    rows = [("corpus", f"{now.folder}: {now.title}")]
    rows += [(name, _written(counts)) for name, counts in now.corpora.items()]
    rows += _block("files", now.files)
    print_rows([*rows, *([("report", now.report)] if now.report else [])])


_OF_PAGES = {"documents": "document", "paragraphs": "paragraph", "words": "word"}
_OF_BOTH = {"pairs": "page pair", "partial": "partly translated pair", "units": "unit", **_OF_PAGES}


def _written(counts: Mapping[str, object], nouns: Mapping[str, str] = _OF_BOTH) -> str:
    return ", ".join(counted(count, noun) for name, noun in nouns.items() if isinstance(count := counts.get(name), int))


def _flat(now: JobFacts | CorpusStatus | RunStatus) -> dict[str, object]:
    """The keys stay where programs look for them."""
    if isinstance(now, tuple):
        return {**msgspec.to_builtins(now.tally), "running": now.running}
    if not isinstance(now, JobFacts):
        return {"state": now.state, "jobs": now.jobs, "corpora": now.corpora}
    return {
        **{key: getattr(now.crawl, key) for key in KEYS},
        "state": now.state,
        "faults": now.faults,
        "rounds": now.rounds,
        "corpora": {name: {key: getattr(pair, key) for key in CORPUS_KEYS} for name, pair in now.corpora.items()},
    }


def show(job: OpenedJob, now: JobFacts | None = None) -> None:
    """The status of a job for a person; with advice where nothing was found."""
    from bitrawl.show import brief

    now, description = now or job.status(), job.asked()
    summary = now.crawl
    # The time is written down when a run ends: there is none in a job's first run, and after one that was killed.
    seconds = f", in {duration(summary.seconds)}" if summary.seconds else ""
    rows = [
        ("job", f"{job.folder}: {_state(now)}"),
        ("links", f"{summary.links} = {summary.pages} pages + {summary.skipped} skipped + {summary.queued} queued"),
        ("fetched", f"{fetched(summary)}, {size(summary.bytes)}{seconds}"),
    ]
    if summary.own_requests:
        own = counted(summary.own_requests, "request")
        rows.append(("", f"{own} of our own: sitemaps, and missing pages that show what error pages look like"))
    languages = "   ".join(f"{name} {count}" for name, count in list(summary.languages.items())[:12])
    rows.append(("languages", languages or ("none" if now.ended else "none yet")))
    if len(summary.types) > 1:
        rows.append(("documents", "   ".join(f"{name} {count}" for name, count in summary.types.items())))
    if summary.rendered:
        rows.append(("rendered", f"{counted(summary.rendered, 'page')}, drawn by a browser"))
    if undrawn := looks_scripted(summary, description.render):
        rows.append(("scripts", undrawn))
    if now.killed and not now.running:
        rows.append(("killed", _kills(now)))
    if summary.relevant is not None:
        rows.append(("on topic", f"{summary.relevant} of {counted(summary.pages, 'page')}"))
    rows += _block("rounds", map(_round, now.rounds[-5:]))
    rows += _block("hosts", map(_host, summary.hosts[:5]))
    rows += _block("skipped", (f"{count:>6}  {why}" for why, count in summary.skips.items()))
    rows += [(name, corpus_figures(pair)) for name, pair in now.corpora.items()]
    if changed := _changed_thresholds(description.judge):
        rows.append(("thresholds", changed))
    of_pages = {name: corpus for name, corpus in now.written.items() if corpus.documents is not None}
    rows += [(name, f"{_written(asdict(corpus), _OF_PAGES)} in the corpus") for name, corpus in of_pages.items()]
    rows += _block("left out", (f"{count:>6}  {why}" for why, count in now.faults.items()))
    print_rows(rows)
    if summary.pages and summary.relevant == 0 and summary.ended:
        for line in brief(job.facts()).explained:
            print_out(line)
    for hint in hints(summary):
        print_out(f"→ {hint}")


def _changed_thresholds(thresholds: Thresholds) -> str:
    """Those that are not the default."""
    usual, values = asdict(Thresholds()), asdict(thresholds)
    shown = {key: ", ".join(value) if isinstance(value, tuple) else value for key, value in values.items()}
    return "; ".join(f"{key} = {shown[key]}" for key in values if values[key] != usual[key])


def show_selection(job: OpenedJob | OpenedCopy | OpenedRun, settings: Mapping[str, Any]) -> None:
    """What an export with these settings would write, and what each threshold would leave out."""
    from bitrawl.job import OpenedJob

    chosen = job.selections(settings)
    assert isinstance(job, OpenedJob), "other folders raise an error"
    written = {name: pair.units for name, pair in job.status().corpora.items()}
    values = asdict(job.files.changed(settings).judge)
    rows = list[tuple[str, str]]()
    for corpus in chosen:
        facts, before = corpus.facts, written.get(corpus.name, 0)
        instead = f", instead of {before:,}" if before != facts.units else ""
        rows.append((corpus.name, f"{facts.units:,} of {counted(facts.found, 'unit')}{instead}"))
        rules = (
            f"{rule.takes_out:>6,}  {one.key} = {one.flag or values[one.key]} ({rule.alone:,} by this alone)"
            for rule in facts.rules
            if (one := rule.rule) and rule.is_set and rule.takes_out
        )
        rows += _block("left out", rules)
        if facts.accepted or facts.rejected:
            rows.append(("verdicts", f"{facts.accepted:,} let in and {facts.rejected:,} kept out only by people"))
    print_rows(rows or [("corpus", "nothing was found that could be written")])


def _block(label: str, values: Iterable[str]) -> list[tuple[str, str]]:
    """Rows of which only the first has the label."""
    return [("" if number else label, value) for number, value in enumerate(values)]


def corpus_figures(pair: LanguagePair) -> str:
    pairs = paired_pages(pair.pairs, pair.partial)
    return f"{pairs}, {counted(pair.segments, 'segment pair')}, {counted(pair.units, 'unit')} in the corpus"


def _state(now: JobFacts) -> str:
    if now.state is State.RUNNING:
        crawled = f"; the crawl has ended. {now.ended}" if now.ended else ""
        return f"running{f', {now.crawl.mining}' if now.crawl.mining else ''}{crawled}"
    if now.state is State.INTERRUPTED:
        return f"interrupted (resume with: {_resume(now)})"
    end = now.crawl.run.ended
    if end is None:
        return ""
    beginning = "" if end.kind is EndKind.STOPPED else _BEGINNINGS[now.state]
    return f"{beginning}{end.english(now.mined.pairs)}"


def _resume(now: JobFacts) -> str:
    flag = "--out " if now.verb in ("mine", "crawl") else ""
    return f"bitrawl {now.verb} {flag}{shlex.quote(now.folder)}"


def hints(summary: CrawlSummary) -> list[str]:
    """What to try when a job that has ended found nothing."""
    if summary.pages or not summary.ended:
        return []
    reasons = dict.fromkeys([*summary.skip_reasons, *summary.unanswered])
    given = [str(tip) for tip in summary.run.ended.tips] if summary.run.ended else []
    advice = [f"{reason}: {ADVICE[reason]}" for reason in reasons if reason in ADVICE and ADVICE[reason] not in given]
    return advice or ([] if given else ["Look at the log for what the hosts answered."])


def _round(one: RoundFacts) -> str:
    day = dt.datetime.fromtimestamp(one.began, dt.UTC).date()
    pages = f"{counted(one.new, 'new page')}, {one.changed:,} changed, {one.gone:,} gone"
    return f"{one.number:>3}  {day}  {pages}; {counted(one.requests, 'request')}, {size(one.bytes)}"


def _host(host: HostCount) -> str:
    visits = counted(host.fetches, "visit")
    return f"{host.host}  {counted(host.pages, 'page')} of {visits}, {host.seconds * 1000:.0f} ms each"


def tell_of_kills(job: OpenedJob) -> None:
    """What is missing only because the system killed our processes, and what to type; also after a quiet command."""
    if (now := job.status()).killed:
        complain(_kills(now))


def _kills(now: JobFacts) -> str:
    things = counted(now.killed, "page, page pair or site is", "pages, page pairs or sites are")
    return (
        f"{things} left out, because the processes at work on them were killed or had too little memory."
        f" To try them again: {_resume(now)}"
    )


def tell(job: OpenedJob, *, ended: bool = False) -> None:
    """What was found, what was left out and why, where it lies and what to do next; with `ended`, also why it ended."""
    from bitrawl.show import brief

    facts = job.facts()
    state = _state(job.status()) if ended else ""
    rows = [("job", f"{job.folder}: {state}")] if ended else []
    outcome = brief(facts)
    explained = [line for line in outcome.explained if line not in state]  # that ended it
    rows += [*_block("found", outcome.found), *_block("left out", outcome.left_out), *_block("", explained)]
    rows += [
        (name, str(path))
        for name, path in (("corpus", job.files.corpus), ("report", job.files.report))
        if path.exists()
    ]
    if not outcome.explained and facts.written:
        where = shlex.quote(str(job.folder))
        verbs = ("sample", "terms") if len(facts.asked.langs) > 1 else ("sample",)
        commands = (*(f"bitrawl {verb} {where}" for verb in verbs), f"bitrawl export {where} --formats NAMES")
        rows.append(("next", ", ".join(commands)))
    print_rows(rows)
