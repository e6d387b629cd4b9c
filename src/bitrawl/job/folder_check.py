"""Whether a job folder is as bitrawl left it: part by part, what is lost where it is not, and what brings it back.

A repair deletes nothing that cannot be made again: what is damaged is moved to `damaged/` in the folder.
"""

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from enum import StrEnum
from itertools import chain, count
from pathlib import Path

import msgspec

from bitrawl import files
from bitrawl.archive.writing import ArchiveFacts, archive_facts, archive_files
from bitrawl.corpus import CorpusFolder, paired_pages
from bitrawl.corpus.shards import ShardFolder
from bitrawl.errors import ArchiveError, BitrawlError, ConfigError, DamagedError, StoreError
from bitrawl.file_names import CARD, SHARD, SUMMARY, VERDICTS
from bitrawl.job.reporting import written_figures
from bitrawl.show import counted
from bitrawl.store.database import locked, recovered, verify
from bitrawl.store.folder import JobFolder
from bitrawl.store.folder_kinds import export_command
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import language_pairs
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.store.reading_index import check_index
from bitrawl.store.revisions import RevisionHistory, is_sound
from bitrawl.store.seal import is_sealed, log_of, sealed_files, unseal
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import VerdictHistory

DAMAGED = "damaged"
_LISTED = re.compile(r"^\| (\S+?)/?(?: \(.*\))? \| [\d,]+ \| ([0-9a-f]{64}) \|$", re.MULTILINE)


class Condition(StrEnum):
    """How a part of a folder is."""

    SOUND = "sound"
    DAMAGED = "damaged"
    REPAIRED = "repaired"


class Checked(msgspec.Struct, frozen=True):
    """One part of a folder."""

    name: str
    condition: Condition
    found: str  # what it holds, or what is wrong
    advice: str = ""  # what is lost, and what to do


def check(folder: JobFolder, *, repair: bool = False) -> Iterator[Checked]:
    """One part after the other; those that are not there are left out. Raises `StoreError` where there is no job.

    Without `repair` nothing is changed. A job that runs is refused.
    """
    if not folder.description.exists() and not folder.ledger.exists():
        folder.reading().close()
    with locked(folder.ledger):
        yield _description(folder, repair=repair)
        sound = False
        if folder.ledger.exists():
            ledger = _ledger(folder, repair=repair)
            sound = ledger.condition is Condition.SOUND
            yield ledger
        yield from _archive(folder, sound=sound)
        yield from _others(folder, repair=repair)


def checked_corpus(folder: Path) -> Checked:
    """A corpus that has no job beside it: without it there is nothing."""
    advice = f"Nothing else is lost. Run: {export_command(folder)}"
    return check_corpus(folder) or Checked(CARD, Condition.DAMAGED, "it is missing", advice)


def check_corpus(folder: Path) -> Checked | None:
    """The files of a corpus, as they were written; None if none was.

    A copy without its job has only its card and its figures to tell.
    """
    corpus, written = CorpusFolder(folder), sealed_files(folder)
    card, is_foreign = corpus.card, corpus.has_foreign_card
    if card is None and not written:
        return None
    expected, wrong, figures = written, list[str](), dict[str, dict[str, object]]()
    try:
        figures = written_figures(folder)
    except StoreError as error:
        if SUMMARY not in written:
            wrong.append(str(error).partition(" To write it again")[0])
    if not written and card is not None:
        try:
            text = card.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            text = ""
        expected = dict(_LISTED.findall(text))
        wrong += [f"{card.name} is not a complete card"] if _is_cut(text, figures) or is_foreign else []
    wrong += _differing(folder, expected)
    if not wrong:
        return Checked(f"{folder.name}/", Condition.SOUND, f"{counted(len(expected), 'file')}, as written")
    where = _quoted(card) if card is not None and is_foreign else ""
    first = f"Move {where} elsewhere. Then run" if where else "To write it again, run"
    advice = f"{first}: {export_command(folder)}. Files that you changed yourself are replaced."
    return Checked(f"{folder.name}/", Condition.DAMAGED, "; ".join(wrong), advice)


def _differing(folder: Path, expected: Mapping[str, str]) -> Iterator[str]:
    """Says of each file that it is not as it was written."""
    for name, sha256 in expected.items():
        try:
            found = CorpusFolder(folder).sha256(name)
        except FileNotFoundError:
            yield f"{name} is missing"
        except OSError as error:
            yield f"{name} cannot be read: {error.strerror}"
        else:
            if found != sha256:
                yield f"{name} is not what was written"


def _is_cut(card: str, corpora: Mapping[str, Mapping[str, object]]) -> bool:
    """Whether the card may list fewer files than there were: nothing follows its list, or it has none for a corpus."""
    listed = list(_LISTED.finditer(card))
    if "\n#" not in card[listed[-1].end() if listed else 0 :]:
        return True
    filled = [name for name, figures in corpora.items() if figures.get("units") or figures.get("words")]
    return not all(any(row[1].startswith(f"{name}.") for row in listed) for name in filled)


def _set_aside(path: Path, *, copy: bool = False) -> None:
    """Move a file into the folder for damaged ones, or copy it; a number is added to a name that is taken."""
    to = path.parent / DAMAGED
    names = chain([path.name], (f"{path.name}.{number}" for number in count(1)))
    try:
        to.mkdir(exist_ok=True)
        free = next(to / name for name in names if not (to / name).exists())
        if copy:
            shutil.copyfile(path, free)
        elif path.exists():
            path.rename(free)
    except OSError as error:
        raise files.write_fault(to, error) from error


def _set_aside_database(path: Path) -> None:
    for each in _database_files(path):
        if each.exists():
            _set_aside(each)


def _database_files(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]


def _description(folder: JobFolder, *, repair: bool) -> Checked:
    name = folder.description.name
    try:
        folder.job()
    except (ConfigError, StoreError) as error:
        if not folder.description.exists():
            return Checked(name, Condition.DAMAGED, "it is missing", _ask_again(folder))
        if repair:
            _set_aside(folder.description)
            return Checked(name, Condition.REPAIRED, f"{error}; it is in {DAMAGED}/ now", _ask_again(folder))
        return Checked(name, Condition.DAMAGED, str(error), f"Mend it in an editor. Or: {_ask_again(folder)}")
    return Checked(name, Condition.SOUND, "the settings of the job")


def _ask_again(folder: JobFolder) -> str:
    return f"Give the first command again, with its seeds, its flags and --out {_quoted(folder.path)}. Nothing else is lost."


def _ledger(folder: JobFolder, *, repair: bool) -> Checked:
    path = folder.ledger
    try:
        return Checked(path.name, Condition.SOUND, _verified(folder))
    except DamagedError as error:
        wrong = _reason(error)
    if not repair:
        return Checked(path.name, Condition.DAMAGED, wrong, _lost(folder, will=True))
    if log_of(path).exists() and log_of(path).stat().st_size:
        for each in (path, log_of(path)):
            _set_aside(each, copy=True)
        if recovered(path):
            lost = "What was written last is lost, and is done again by the same command."
            return Checked(path.name, Condition.REPAIRED, f"{wrong} A copy is in {DAMAGED}/.", lost)
    _set_aside_database(path)
    unseal(path)
    return Checked(path.name, Condition.REPAIRED, f"{wrong} It is in {DAMAGED}/ now.", _lost(folder, will=False))


def _verified(folder: JobFolder) -> str:
    """What a sound ledger holds. What has no seal is read row by row."""
    verify(folder.ledger, ours=True)
    with Ledger(folder.ledger, read_only=True, verified=False) as ledger:
        if not is_sealed(folder.ledger):
            _read_all(ledger)
        pages = sum(site.pages for site in ledger.sites())
        found = language_pairs(ledger)
        pairs = paired_pages(sum(both.pairs for both in found), sum(both.partial for both in found))
        return f"{counted(pages, 'page')}, {pairs}"


def _read_all(ledger: Ledger) -> None:
    findings = Findings(ledger)
    mined_rows = ((findings.pairs(*both), findings.segments(*both)) for both in findings.language_pairs())
    for _ in chain(
        ledger.visits(), LedgerQueue(ledger, str).links(), *chain.from_iterable(mined_rows), findings.faults()
    ):
        pass


def _lost(folder: JobFolder, *, will: bool) -> str:
    """What is lost with a ledger, and how it comes back."""
    where = _quoted(folder.path)
    begin = f"To repair the folder, run: bitrawl check {where} --repair. Then run" if will else "Run"
    try:
        job = folder.job()
    except BitrawlError:
        return f"{begin} the first command of the job again."
    if job.warc or job.replay:
        return f"{begin}: bitrawl mine --out {where}. It reads the archives again, so that nothing is lost."
    answers = sum(_answers(path) for path in _archive_files(folder))
    if not answers:
        return f"{begin}: bitrawl mine --out {where}. The job has no archive, so all pages are fetched again."
    return (
        f"{begin}: bitrawl mine --out {where}. It reads {counted(answers, 'answer')} from the archive again,"
        " and fetches only what is not there."
    )


def _archive(folder: JobFolder, *, sound: bool) -> Iterator[Checked]:
    """Compared with the ledger, which names the place of each answer. `sound`: it is, and has the text of the pages."""
    paths = {path.name: path for path in _archive_files(folder)}
    with folder.reading(verified=False) if sound and _has_archive(folder) else nullcontext() as ledger:
        for name in sorted({*paths, *(ledger.archive_names() if ledger else ())}):
            recorded = ledger.archived(name) if ledger else {}
            yield _archive_file(f"warc/{name}", paths.get(name), recorded, sound=sound)


def _has_archive(folder: JobFolder) -> bool:
    """Whether the places that the ledger names are in the job's own folder, and not in archives that replace the web."""
    try:
        job = folder.job()
    except BitrawlError:
        return (folder.archive).is_dir()
    return not (job.warc or job.replay)


def _archive_file(name: str, path: Path | None, recorded: Mapping[int, str], *, sound: bool) -> Checked:
    """`recorded` has the URLs by their places."""
    try:
        facts = archive_facts(path) if path is not None else ArchiveFacts()
    except OSError as error:
        return Checked(name, Condition.DAMAGED, f"it cannot be read: {error.strerror}")
    lost = [url for offset, url in recorded.items() if offset not in facts.offsets]
    if path is None:
        missing = f"it is missing, with {counted(len(lost), 'answer')} that the ledger names"
        return Checked(name, Condition.DAMAGED, missing, _lost_answers(lost))
    readable = counted(facts.answers, "answer")
    if not facts.damaged and not lost:
        cut = f"; the last {facts.cut:,} bytes are an incomplete record, which the next crawl cuts off"
        return Checked(name, Condition.SOUND, readable + (cut if facts.cut else ""))
    places = ", ".join(map(str, facts.damaged[:5]))
    wrong = (
        f"{counted(len(facts.damaged), 'record')} cannot be read (at byte {places})" if places else "",
        f"of {counted(len(recorded), 'answer')} that the ledger names in it, {len(lost):,} cannot be read"
        if lost
        else "",
    )
    advice = _lost_answers(lost) if sound else _FETCHED_AGAIN
    return Checked(name, Condition.DAMAGED, "; ".join(filter(None, (*wrong, f"{readable} can"))), advice)


_FETCHED_AGAIN = "What is lost is fetched again by the next `mine` or `crawl`, if the site still has it."


def _lost_answers(urls: Sequence[str]) -> str:
    lost = f" Lost: {', '.join(urls[:5])}{', …' if len(urls) > 5 else ''}." if urls else ""
    return (
        f"The corpus is not affected: the ledger has the text of all pages.{lost} Only `--replay` and `--warc` miss these"
        " answers. If you need them, put back a copy of the file, or give the first command again with --fresh."
    )


def _archive_files(folder: JobFolder) -> list[Path]:
    warc = folder.archive
    return archive_files(warc) if warc.is_dir() else []


def _answers(path: Path) -> int:
    try:
        return archive_facts(path).answers
    except (OSError, ArchiveError):
        return 0


def _others(folder: JobFolder, *, repair: bool) -> Iterator[Checked]:
    """What people said, what can be made again, and the corpus."""
    path = folder.path
    if folder.verdicts.exists():
        yield _verdicts(folder, repair=repair)
    if folder.reading_index.exists():
        wrong = check_index(folder.reading_index)
        yield _derived(folder.reading_index, wrong, "The web app makes it again.", repair=repair)
    if (path / SHARD).is_dir():
        yield _derived(path / SHARD, ShardFolder(path / SHARD).fault(), "The next merge makes it again.", repair=repair)
    corpus = check_corpus(folder.corpus)
    if corpus is not None:
        yield corpus


def _derived(path: Path, wrong: str, again: str, *, repair: bool) -> Checked:
    name = f"{path.name}/" if path.is_dir() else path.name
    if not wrong:
        return Checked(name, Condition.SOUND, "as it was written")
    if not repair:
        return Checked(name, Condition.DAMAGED, wrong, f"Nothing is lost. Delete it, or use --repair. {again}")
    for each in _database_files(path):
        files.discard(each)
    return Checked(name, Condition.REPAIRED, f"{wrong}; it is deleted", f"Nothing is lost. {again}")


def _verdicts(folder: JobFolder, *, repair: bool) -> Checked:
    path, history = folder.verdicts, VerdictHistory(folder.verdicts)
    try:
        history.check()
        RevisionHistory(path).check()
    except StoreError as error:
        wrong = _reason(error)
    else:
        return Checked(VERDICTS, Condition.SOUND, "what people said")
    if not repair:
        advice = f"To keep what can be read, run: bitrawl check {_quoted(folder.path)} --repair"
        return Checked(VERDICTS, Condition.DAMAGED, wrong, advice)
    readable, tables = history.readable(), history.readable_tables(is_sound)
    _set_aside_database(path)
    history.repeat(readable)
    history.repeat_tables(tables)
    written = counted(len(tables["revised"]), "edit"), counted(len(tables["comments"]), "comment")
    kept = ", ".join((counted(len(readable), "verdict"), *written))
    advice = f"{kept} could be read and were kept. Others are lost. Export the corpus again."
    return Checked(VERDICTS, Condition.REPAIRED, f"{wrong} It is in {DAMAGED}/ now.", advice)


def _reason(error: BitrawlError) -> str:
    """What is wrong, without the advice that the error gives for other commands."""
    text = str(error).partition(" Nothing was changed.")[0]
    return text.partition(" is damaged: ")[2] or text


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
