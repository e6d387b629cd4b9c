"""How a job is: `bitrawl status`, `diff`, `check` and `report`."""

from __future__ import annotations

import datetime as dt
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.text import Text
from typer import Option

from bitrawl.cli.console import complain, duration, out, print_out, size
from bitrawl.cli.flags import CorpusFolder
from bitrawl.cli.many_sites import show_run
from bitrawl.config import Job
from bitrawl.corpus.export import CARD
from bitrawl.endings import EndKind, State
from bitrawl.errors import ConfigError
from bitrawl.facts import CrawlSummary, HostCount, JobFacts, LanguagePair, RoundFacts
from bitrawl.mining.settings import Thresholds
from bitrawl.show.wording import ADVICE, counted, fetched, looks_scripted
from bitrawl.store.folder_kinds import MERGED, REPORT, FolderKind, kind_of, merged_jobs, named

if TYPE_CHECKING:
    from bitrawl.cluster.run import Run
    from bitrawl.job.folder_check import Checked
    from bitrawl.job.refreshing import RoundChanges
    from bitrawl.store.folder import JobFolder
    from bitrawl.store.rounds import Changes

WATCH_EVERY = 2.0  # seconds
MOST_CHANGES = 10  # of a kind, that `diff` lists in a table
# Of `--format json`, in their order: part of the output format
KEYS = (
    *(
        "links",
        "queued",
        "pages",
        "skipped",
        "languages",
        "types",
        "skips",
        "fetches",
        "bytes",
        "hosts",
        "ended",
        "seconds",
    ),
    *("mining", "own_requests", "answers", "unanswered", "relevant"),
)
CORPUS_KEYS = ("pairs", "segments", "units")
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
    from bitrawl.cluster.places import is_run
    from bitrawl.job.reporting import status as status_of
    from bitrawl.store.folder import JobFolder

    if is_run(folder) and (run := _run(folder)) is not None:
        _show_many(run, folder, style)
        return
    if kind_of(Path(folder)) in (FolderKind.MERGED, FolderKind.COPY):
        _show_corpus(Path(folder), style)
        return
    job_folder = JobFolder(Path(folder))
    while True:
        now = status_of(job_folder)
        if style is StatusFormat.JSON:
            typer.echo(msgspec.json.encode(_flat(now)).decode())
        else:
            if watch:
                out.clear()
            show(job_folder, now)
        if not watch or now.state is not State.RUNNING:
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
    from bitrawl.cluster.places import is_run
    from bitrawl.job.refreshing import changes
    from bitrawl.store.folder import JobFolder

    found = _run_changes(folder, since) if is_run(folder) else changes(JobFolder(Path(folder)), since)
    if style is StatusFormat.JSON:
        typer.echo(msgspec.json.encode(found).decode())
        return
    rows = [("job", f"{folder}: round {found.round}, compared with round {found.since}")]
    for label, kind in (("pages", found.pages), ("page pairs", found.pairs)):
        rows.append((label, f"{len(kind.new):,} new, {len(kind.changed):,} changed, {len(kind.gone):,} gone"))
        rows += [("", line) for line in _changed_lines(kind)]
    rows.append(("units", f"{len(found.units.new):,} new, {found.units.gone:,} gone"))
    rows += [("", f"new      {a} | {b}") for a, b in found.units.new[:MOST_CHANGES]]
    for label, value in rows:
        out.print(Text.assemble((f"{label:<11}", "bold cyan"), value))


def _run_changes(address: str, since: str) -> RoundChanges:
    from bitrawl.cluster.run import changes_of_run

    return changes_of_run(address, since)


def _changed_lines(kind: Changes) -> Iterator[str]:
    for name, entries in msgspec.structs.asdict(kind).items():
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
    from bitrawl.cluster.places import is_run
    from bitrawl.job.folder_check import Condition
    from bitrawl.job.folder_check import check as check_job
    from bitrawl.store.folder import JobFolder

    if is_run(folder):
        from bitrawl.cluster.run import check_run

        parts = check_run(folder, repair=repair)
    elif kind_of(Path(folder)) in (FolderKind.MERGED, FolderKind.COPY):
        parts = _checked_corpus(Path(folder))
    else:
        parts = check_job(JobFolder(Path(folder)), repair=repair)
    damaged = False
    for part in parts:
        damaged |= part.condition is Condition.DAMAGED
        out.print(Text.assemble((f"{part.condition:<9}", _CONDITIONS[part.condition]), f"{part.name}: {part.found}"))
        if part.advice:
            out.print(Text(f"         {part.advice}"))
    if damaged:
        raise typer.Exit(1)


def _checked_corpus(folder: Path) -> Iterator[Checked]:
    """Of a merged corpus, or of one without its job."""
    from bitrawl.job.folder_check import Checked, Condition, check_corpus

    where, is_merged = shlex.quote(str(folder)), kind_of(folder) is FolderKind.MERGED
    again = f"bitrawl export {where}" if is_merged else f"bitrawl export JOB --to {where}"
    checked = check_corpus(folder / "corpus" if is_merged else folder, again)
    yield checked or Checked(CARD, Condition.DAMAGED, "it is missing", f"Nothing else is lost. Run: {again}")


def report(folder: CorpusFolder) -> None:
    """Write the report of a job: one HTML file that opens offline.

    Example: [bold]bitrawl report jobs/example[/]

    A merged corpus and a run over many sites already have the report that their merge wrote.
    """
    from bitrawl.cluster.places import is_run
    from bitrawl.job.reporting import write_report
    from bitrawl.store.folder import JobFolder

    if is_run(folder):
        from bitrawl.cluster.run import merged_report

        print_out(merged_report(folder))
        return
    path, kind = Path(folder), kind_of(Path(folder))
    if kind is FolderKind.MERGED:
        if not (path / REPORT).exists():
            raise ConfigError(f"{path / REPORT} is not there. Run: bitrawl export {shlex.quote(folder)}")
        print_out(str(path / REPORT))
        return
    if kind is FolderKind.COPY:
        raise ConfigError(f"{path} is a corpus without its job, and has no report; {path / CARD} describes it")
    JobFolder(path).job()
    drawn = None
    if kind is FolderKind.SEARCH:
        from bitrawl.job.site_search import draw_report

        drawn = draw_report(JobFolder(path))
    print_out(str(drawn or write_report(path)))


def _run(address: str) -> Run | None:
    from bitrawl.cluster.run import existing_run

    return existing_run(address)


def _show_many(run: Run, address: str, style: StatusFormat) -> None:
    """A run over many sites is as far as its parts."""
    if style is StatusFormat.TABLE:
        show_run(run, address)
        merged = Path(address) / MERGED
        if kind_of(merged) is FolderKind.MERGED:
            _show_corpus(merged, style)
    else:
        typer.echo(msgspec.json.encode({**msgspec.to_builtins(run.tally), "running": run.running()}).decode())


def _show_corpus(folder: Path, style: StatusFormat) -> None:
    """A corpus that is merged, or without its job: it is as it was written."""
    from bitrawl.job.corpora import written_figures

    is_merged = kind_of(folder) is FolderKind.MERGED
    corpus = folder / "corpus" if is_merged else folder
    jobs, figures = merged_jobs(folder), written_figures(corpus)
    if style is StatusFormat.JSON:
        typer.echo(msgspec.json.encode({"state": kind_of(folder), "jobs": jobs, "corpora": figures}).decode())
        return
    of = f" of {counted(len(jobs), 'job')}: {named(jobs)}" if jobs else ""
    rows = [("corpus", f"{folder}: {'a merged corpus' if is_merged else 'a corpus without its job'}{of}")]
    rows += [(name, _written(counts)) for name, counts in figures.items()]
    rows += _block("files", (path.name for path in sorted(corpus.iterdir())))
    if is_merged:
        rows.append(("report", str(folder / REPORT)))
    for label, value in rows:
        out.print(Text.assemble((f"{label:<11}", "bold cyan"), value))


def _written(counts: Mapping[str, object]) -> str:
    nouns = {"pairs": "page pair", "units": "unit", "documents": "document", "paragraphs": "paragraph", "words": "word"}
    return ", ".join(counted(count, noun) for name, noun in nouns.items() if isinstance(count := counts.get(name), int))


def _flat(now: JobFacts) -> dict[str, object]:
    """The keys stay where programs look for them."""
    return {
        **{key: getattr(now.crawl, key) for key in KEYS},
        "state": now.state,
        "faults": now.faults,
        "rounds": now.rounds,
        "corpora": {name: {key: getattr(pair, key) for key in CORPUS_KEYS} for name, pair in now.corpora.items()},
    }


def show(folder: JobFolder, now: JobFacts | None = None) -> None:
    """The status of a job for a person; with advice where nothing was found."""
    from bitrawl.job.corpora import written_figures
    from bitrawl.job.reporting import gather, request_of
    from bitrawl.job.reporting import status as status_of
    from bitrawl.show.job_report import explained

    now = now or status_of(folder)
    summary = now.crawl
    # The time is written down when a run ends: there is none in a job's first run, and after one that was killed.
    seconds = f", in {duration(summary.seconds)}" if summary.seconds else ""
    rows = [
        ("job", f"{folder.path}: {_state(folder, now)}"),
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
    if undrawn := looks_scripted(summary, request_of(folder.path).render):
        rows.append(("scripts", undrawn))
    if now.killed and not now.running:
        rows.append(("killed", _kills(folder, now)))
    if summary.relevant is not None:
        rows.append(("on topic", f"{summary.relevant} of {counted(summary.pages, 'page')}"))
    rows += _block("rounds", map(_round, now.rounds[-5:]))
    rows += _block("hosts", map(_host, summary.hosts[:5]))
    rows += _block("skipped", (f"{count:>6}  {why}" for why, count in summary.skips.items()))
    rows += [(name, corpus_figures(pair)) for name, pair in now.corpora.items()]
    if changed := _changed_thresholds(folder):
        rows.append(("thresholds", changed))
    written = written_figures(folder.corpus)
    rows += [(name, f"{_written(counts)} in the corpus") for name, counts in written.items() if "documents" in counts]
    rows += _block("left out", (f"{count:>6}  {why}" for why, count in now.faults.items()))
    for label, value in rows:
        out.print(Text.assemble((f"{label:<11}", "bold cyan"), value))
    if summary.pages and summary.relevant == 0 and summary.ended:
        for line in explained(gather(folder.path)):
            print_out(line)
    for hint in hints(summary):
        print_out(f"→ {hint}")


def _changed_thresholds(folder: JobFolder) -> str:
    """Those that are not the default."""
    if not folder.description.exists():
        return ""
    usual, values = msgspec.structs.asdict(Thresholds()), msgspec.structs.asdict(folder.job().judge)
    shown = {key: ", ".join(value) if isinstance(value, tuple) else value for key, value in values.items()}
    return "; ".join(f"{key} = {shown[key]}" for key in values if values[key] != usual[key])


def show_selection(job: Job, folder: JobFolder) -> None:
    """What an export with the settings of this job would write, and what each threshold would leave out."""
    from bitrawl.job.reporting import status as status_of
    from bitrawl.review.thresholds import selections

    written = {name: pair.units for name, pair in status_of(folder).corpora.items()}
    values = msgspec.structs.asdict(job.judge)
    rows = list[tuple[str, str]]()
    for corpus in selections(job, folder):
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
    for label, value in rows or [("corpus", "nothing was found that could be written")]:
        out.print(Text.assemble((f"{label:<11}", "bold cyan"), value))


def _block(label: str, values: Iterable[str]) -> list[tuple[str, str]]:
    """Rows of which only the first has the label."""
    return [("" if number else label, value) for number, value in enumerate(values)]


def corpus_figures(pair: LanguagePair) -> str:
    pairs = counted(pair.pairs, "page pair")
    return f"{pairs}, {counted(pair.segments, 'segment pair')}, {counted(pair.units, 'unit')} in the corpus"


def _state(folder: JobFolder, now: JobFacts) -> str:
    if now.state is State.RUNNING:
        crawled = f"; the crawl has ended. {now.ended}" if now.ended else ""
        return f"running{f', {now.doing}' if now.doing else ''}{crawled}"
    if now.state is State.INTERRUPTED:
        return f"interrupted (resume with: {_resume(folder, now)})"
    end = now.crawl.run.ended
    if end is None:
        return ""
    beginning = "" if end.sentence or end.kind is EndKind.STOPPED else _BEGINNINGS[now.state]
    return f"{beginning}{end.english(now.mined.pairs)}"


def _resume(folder: JobFolder, now: JobFacts) -> str:
    flag = "--out " if now.verb in ("mine", "crawl") else ""
    return f"bitrawl {now.verb} {flag}{shlex.quote(str(folder.path))}"


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


def tell_of_kills(folder: JobFolder) -> None:
    """What is missing only because the system killed our processes, and what to type; also after a quiet command."""
    from bitrawl.job.reporting import status as status_of

    now = status_of(folder)
    if now.killed:
        complain(_kills(folder, now))


def _kills(folder: JobFolder, now: JobFacts) -> str:
    things = counted(now.killed, "page, page pair or site is", "pages, page pairs or sites are")
    return (
        f"{things} left out, because the processes at work on them were killed or had too little memory."
        f" To try them again: {_resume(folder, now)}"
    )


def tell(folder: JobFolder, *, ended: bool = False) -> None:
    """What was found, what was left out and why, where it lies and what to do next; with `ended`, also why it ended."""
    from bitrawl.job.reporting import gather
    from bitrawl.job.reporting import status as status_of
    from bitrawl.show.job_report import explained, found, left_out

    facts = gather(folder.path)
    rows = [("job", f"{folder.path}: {_state(folder, status_of(folder))}")] if ended else []
    rows += [*_block("found", found(facts)), *_block("left out", left_out(facts)), *_block("", explained(facts))]
    rows += [
        (name, str(path)) for name, path in (("corpus", folder.corpus), ("report", folder.report)) if path.exists()
    ]
    if not explained(facts) and facts.written:
        where = shlex.quote(str(folder.path))
        verbs = ("sample", "terms") if len(facts.asked.langs) > 1 else ("sample",)
        commands = (*(f"bitrawl {verb} {where}" for verb in verbs), f"bitrawl export {where} --formats NAMES")
        rows.append(("next", ", ".join(commands)))
    for label, value in rows:
        out.print(Text.assemble((f"{label:<11}", "bold cyan"), value))
