"""The job's database: complete for every reader, one moment at a time, and clear about what it cannot read."""

import re
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

import bitrawl
from bitrawl.errors import StoreError
from bitrawl.model import Language, Lease, Link, LinkKind, Page, SiteKnowledge, Skip, Visit
from bitrawl.reasons import FewPairs, Reason, Stage
from bitrawl.store import reading_index
from bitrawl.store.database import VERSION, is_locked
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger, RecentLinks
from bitrawl.store.ledger_facts import summarise
from bitrawl.store.own_files import job_files
from bitrawl.store.seal import unseal
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import VerdictHistory
from bitrawl.url import Url

URL = Url.parse("https://example.org/en/")


def visit(ledger: Ledger, url: Url) -> None:
    link = Link(url, LinkKind.SEED)
    with ledger.transaction():
        ledger.refuse([(link, Skip(url, Stage.SCOPE, Reason.OFF_SITE))])
        ledger.record(Visit(Lease(link, 1.0), Page(url, Language("en")), 200, 10))


def test_a_job_that_was_only_crawled_has_no_findings_and_says_so(tmp_path: Path):
    Ledger(tmp_path / "job.sqlite").close()
    ledger = Ledger(tmp_path / "job.sqlite", read_only=True)
    findings = Findings(ledger)
    assert not findings.begun()
    assert findings.mined("example.org") is None
    assert list(findings.pairs(Language("en"), Language("fr"))) == []
    ledger.close()


def test_why_a_link_is_no_page_can_be_asked(tmp_path: Path):
    ledger = Ledger(tmp_path / "job.sqlite")
    visit(ledger, URL)
    missing = Url.parse("https://example.org/missing")
    link, skip = Link(missing, LinkKind.PAGE), Skip(missing, Stage.FETCH, Reason.HTTP_STATUS, "Not Found", 404)
    with ledger.transaction():
        ledger.refuse([(link, Skip(missing, Stage.SCOPE, Reason.OFF_SITE))])
        ledger.record(Visit(Lease(link, 1.0), skip, 404))
    assert ledger.skip_of(missing) == skip
    assert ledger.skip_of(URL) is None
    assert ledger.skip_of(Url.parse("https://example.org/unknown")) is None
    ledger.close()


def test_one_page_can_be_read_again(tmp_path: Path):
    ledger = Ledger(tmp_path / "job.sqlite")
    visit(ledger, URL)
    assert ledger.page(URL) == Page(URL, Language("en"))
    assert ledger.page(Url.parse("https://example.org/unknown")) is None
    ledger.close()


def test_a_ledger_of_another_format_is_refused_and_left_as_it_is(tmp_path: Path):
    path = tmp_path / "job.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value)")
        other.execute("INSERT INTO meta VALUES ('version', ?)", (VERSION - 1,))
    for read_only in (True, False):
        with pytest.raises(StoreError, match=f"format {VERSION - 1}, this one reads {VERSION}"):
            Ledger(path, read_only=read_only)
    assert other.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("meta",)]
    other.close()


def test_a_snapshot_is_one_moment_of_a_job_that_goes_on(tmp_path: Path):
    writer = Ledger(tmp_path / "job.sqlite")
    reader = Ledger(tmp_path / "job.sqlite", read_only=True)
    visit(writer, URL)
    with reader.snapshot():
        assert summarise(reader).pages == 1
        visit(writer, Url.parse("https://example.org/fr/"))
        assert summarise(reader).pages == 1
    assert summarise(reader).pages == 2
    reader.close()
    writer.close()


def test_a_running_job_is_recognised(tmp_path: Path):
    path = tmp_path / "job.sqlite"
    assert not is_locked(path)
    writer = Ledger(path)
    reader = Ledger(path, read_only=True)
    assert is_locked(path)
    writer.close()
    assert not is_locked(path)
    reader.close()
    Ledger(path).close()


def half_made(path: Path) -> None:
    """What a process leaves that is killed after it wrote the first page of a new database: a journal that would undo it."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 0, 0, 0, 512, 4096)  # the file had no pages before
    path.with_name(f"{path.name}-journal").write_bytes(head.ljust(512, b"\0"))


def test_a_database_whose_maker_was_killed_can_be_read_and_made(tmp_path: Path):
    folder, verdicts = JobFolder(tmp_path), VerdictHistory(tmp_path / "verdicts.sqlite")
    for path in (folder.ledger, folder.reading_index, folder.verdicts):
        half_made(path)
    assert job_files(tmp_path).contents(tmp_path).foreign == []
    Ledger(folder.ledger).close()
    assert reading_index.index_signature(folder.reading_index) == ""
    assert reading_index.is_due(tmp_path)
    assert reading_index.refresh(tmp_path) == reading_index.Refreshed()
    assert verdicts.conflict_count() == 0
    assert not list(tmp_path.glob("*-journal"))


def test_what_is_known_of_a_site_grows_with_each_visit():
    lease = Lease(Link(URL, LinkKind.SEED), 1.0)
    known = SiteKnowledge("example.org", left="why")
    known = known.after(Visit(lease, Page(URL, Language("en")), 200, 10))
    known = known.after(Visit(lease, Page(URL, Language("en")), 200, 5))
    known = known.after(Visit(lease, Skip(URL, Stage.FETCH, Reason.DNS)))
    assert known == SiteKnowledge("example.org", 2, 3, 15, {"en": 2}, left="why")


def test_a_link_is_recent_until_its_score_is_lowered_or_all_is_forgotten():
    recent = RecentLinks()
    assert [recent.has("a", 0.5), recent.has("a", 0.5), recent.has("a", 0.4), recent.has("a", 0.6)] == [
        False,
        True,
        True,
        False,
    ]
    recent.lower("a", 0.1)
    assert not recent.has("a", 0.2)
    recent.forget()
    assert not recent.has("a", 0.2)


def test_only_the_store_uses_sql():
    package = Path(bitrawl.__file__).parent
    speaking = re.compile(r"\.execute\(|\.executemany\(|\.executescript\(|(?<!store)\.database\b")
    elsewhere = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if path.parent.name != "store" and speaking.search(path.read_text("utf-8"))
    }
    assert elsewhere == set()


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("version", [None, VERSION - 1])
def test_a_ledger_that_cannot_be_opened_leaves_no_connection_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int | None, *, read_only: bool
):
    """Since Python 3.13, a connection that is only forgotten is a ResourceWarning."""
    path, connections, connect = tmp_path / "job.sqlite", [], sqlite3.connect
    if version is None:
        path.write_bytes(b"no database" * 100)
    else:
        Ledger(path).close()
        with sqlite3.connect(path) as older:
            older.execute("UPDATE meta SET value = ? WHERE key = 'version'", (version,))
        older.close()
        unseal(path)
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connections.append(connect(*a, **k)) or connections[-1])
    with pytest.raises(StoreError):
        Ledger(path, read_only=read_only, verified=False)
    assert connections
    for connection in connections:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


def test_why_a_site_was_left_is_read_as_a_value_and_as_the_sentence_of_a_strategy_from_elsewhere(tmp_path: Path):
    left = FewPairs(42, 170, 80, 1, 340, 50, 0.4)
    ledger = Ledger(tmp_path / "job.sqlite")
    old = SiteKnowledge("b.org", 8, left="42 likely pairs after 170 fetches")
    with ledger.transaction():
        ledger.learn(SiteKnowledge("a.org", 8, left=left))
        ledger.learn(old)
    ledger.close()
    again = Ledger(tmp_path / "job.sqlite", read_only=True)
    assert {site.site: site.left for site in again.sites()} == {"a.org": left, "b.org": old.left}
    again.close()
