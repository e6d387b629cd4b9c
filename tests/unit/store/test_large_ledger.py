"""What is asked of a ledger often costs little however many links it has, and counts the same."""

from collections import Counter
from pathlib import Path

import pytest

from bitrawl.model import Language, Lease, Link, LinkKind, Page, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.store.database import Database, Values
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import crawl_facts, killed_count
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.url import Url

KINDS = (LinkKind.PAGE, LinkKind.ALTERNATE, LinkKind.INDEX, LinkKind.PROBE)


@pytest.fixture
def ledger(tmp_path: Path):
    """On two hosts, links of each kind that are queued, leased, skipped, refused, and pages."""
    with Ledger(tmp_path / "job.sqlite") as ledger:
        queue = LedgerQueue(ledger, lambda host: host)
        for host in ("a.test", "b.test:81"):
            for kind in KINDS:
                for number, outcome in enumerate(("queued", "leased", "404", "refused", "page", "page")):
                    _add(ledger, queue, Link(Url.known(f"http://{host}/{kind}-{number}"), kind), outcome)
        yield ledger


def _add(ledger: Ledger, queue: LedgerQueue, link: Link, outcome: str) -> None:
    with ledger.transaction():
        if outcome == "refused":
            ledger.refuse([(link, Skip(link.url, Stage.SCOPE, Reason.OFF_SITE))])
            return
        queue.put([(link, 0.5)])
        if outcome == "leased":
            ledger.database.query("UPDATE links SET state = 1 WHERE url = ?", (link.url,))
        elif outcome == "404" or (outcome == "page" and link.kind in (LinkKind.INDEX, LinkKind.PROBE)):
            skip = Skip(link.url, Stage.FETCH, Reason.HTTP_STATUS, "Not Found", 404)
            ledger.record(Visit(Lease(link, 0.5), skip, 404))
        elif outcome == "page":
            ledger.record(Visit(Lease(link, 0.5), Page(link.url, Language("en")), 200))


def test_a_summary_counts_every_link_once(ledger: Ledger):
    rows = ledger.database.query("SELECT kind, state FROM links").fetchall()
    links = Counter(state for kind, state in rows if kind in KINDS[:2])
    facts = crawl_facts(ledger)
    summary = facts.summary
    assert (summary.queued, summary.pages, summary.skipped) == (links[0] + links[1], links[2], links[3])
    assert summary.own_requests == sum(kind in KINDS[2:] and state > 1 for kind, state in rows)
    assert summary.skips == {"scope: off-site": 4, "fetch: http-status": 4}
    assert [skip.url for skip in facts.skips] == ["http://a.test/page-2", "http://a.test/page-3"]
    assert summary.languages == {"en": 8}
    assert {host.host: host.fetches for host in summary.hosts} == {"a.test": 12, "b.test:81": 12}


def test_no_question_of_a_summary_reads_every_link(ledger: Ledger, monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, Values]] = []
    for name in ("query", "one"):
        method = getattr(Database, name)

        def ask(database: Database, statement: str, values: Values = (), method=method):
            asked.append((statement, values))
            return method(database, statement, values)

        monkeypatch.setattr(Database, name, ask)
    crawl_facts(ledger)
    killed_count(ledger)
    monkeypatch.undo()
    plans = {
        statement: [row[3] for row in ledger.database.query(f"EXPLAIN QUERY PLAN {statement}", values)]
        for statement, values in asked
    }
    assert plans
    assert {statement for statement, plan in plans.items() if "SCAN links" in plan} == set()


def test_only_a_host_that_brought_no_page_is_asked_again_for_its_sitemap(tmp_path: Path):
    hosts = ("no.test", "no.test.org", "yes.test", "no.tes")
    with Ledger(tmp_path / "job.sqlite") as ledger:
        queue = LedgerQueue(ledger, lambda host: host)
        for host in hosts:
            _add(ledger, queue, Link(Url.known(f"https://{host}/sitemap.xml"), LinkKind.INDEX), "404")
        for host in ("yes.test", "no.test.org"):
            _add(ledger, queue, Link(Url.known(f"https://{host}/"), LinkKind.SEED), "page")
        queue.retry([], hosts)
        assert queue.hosts() == {"no.test", "no.tes"}
