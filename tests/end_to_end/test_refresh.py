"""A finished job is visited again: its corpus is that of a fresh job, and little is asked for."""

import asyncio
import json
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from forked_command import NO_CHILDREN, start_forked
from inline_children import inline_children

from bitrawl import aio
from bitrawl.crawling import Politeness
from bitrawl.endings import Ending, State
from bitrawl.errors import ConfigError
from bitrawl.job import running
from bitrawl.job.refreshing import changes
from bitrawl.job.reporting import status
from bitrawl.job.running import mine_again
from bitrawl.job.workers import Workers
from bitrawl.model import Advice, PagePair, Verdict, segment_key
from bitrawl.reasons import FewPairs
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.verdicts import Subject, SubjectKind, VerdictHistory
from bitrawl.strategies import GuardedScorer
from lab.bench.changing_site import HOST, RULES, ChangingSite

ARTICLES = 9
SENTENCES = "en-fr.sentences.jsonl"
LONE = "http://alone.test/"  # a seed on a host of its own

Bitrawl = Callable[..., tuple[int, str, str]]


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    made = ChangingSite(ARTICLES, sentences=12)
    with made.served():
        yield made


@pytest.fixture(scope="module")
def first_round(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job that has visited the site once."""
    folder = tmp_path_factory.mktemp("first") / "job"
    made = ChangingSite(ARTICLES, sentences=12)
    with made.served(), inline_children():
        assert mine(made, folder) is Ending.DONE
    return folder


@pytest.fixture
def job(first_round: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(first_round, tmp_path / "job"))


def asked(site: ChangingSite, **more: object) -> dict[str, object]:
    return {
        "delay": 0,
        "allow_private": True,
        "exhaustive": True,
        "connect_to": f"*.test=127.0.0.1:{site.port}",
        **more,
    }


def mine(site: ChangingSite, out: Path, *, seeds: Sequence[str] = (f"{HOST}/",), **more: object) -> Ending:
    return asyncio.run(aio.mine(seeds, langs="en,fr", out=out, **asked(site, **more))).ending


def pages(folder: Path) -> dict[str, str]:
    with Ledger(folder / "job.sqlite", read_only=True) as ledger:
        return {str(page.url): page.digest for page in ledger.pages()}


def corpus(folder: Path) -> dict[str, list[str]]:
    """Its lines, in any order."""
    return {path.name: sorted(path.read_text().splitlines()) for path in (folder / "corpus").glob("*.jsonl")}


def found(folder: Path) -> dict[str, set[tuple[str, ...]]]:
    """Which pages and which texts are translations. How sure that is depends a little on what was learned from."""
    return {name: {_about(json.loads(line)) for line in lines} for name, lines in corpus(folder).items()}


def _about(line: dict[str, object]) -> tuple[str, ...]:
    measured = ("score", "scores", "evidence")
    return tuple(f"{key}={value}" for key, value in sorted(line.items()) if key not in measured)


def records(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, parse_http=False):
                yield str(record.record_type), record.headers.get("WARC-Profile") or ""


@pytest.mark.usefixtures("no_children")
def test_after_each_round_the_corpus_is_that_of_a_fresh_job(site: ChangingSite, job: Path, tmp_path: Path):
    site.asked()
    for number in (2, 3):
        site.advance()
        assert mine(site, job, refresh=True) is Ending.DONE
        again = site.asked()
        mine(site, tmp_path / f"fresh-{number}")
        whole = site.asked()
        assert pages(job) == pages(tmp_path / f"fresh-{number}")
        assert found(job) == found(tmp_path / f"fresh-{number}")
        assert sum(request.bytes for request in again) < sum(request.bytes for request in whole) / 2
        assert Counter(request.status for request in again)[304] > len(whole) / 2
    asyncio.run(mine_again(JobFolder(job).job(), JobFolder(job)))
    assert corpus(job) == corpus(tmp_path / "fresh-3")  # to the last digit, once all is aligned again


@pytest.mark.usefixtures("no_children")
def test_pairs_of_unchanged_pages_are_not_aligned_again(site: ChangingSite, job: Path, monkeypatch: pytest.MonkeyPatch):
    aligned: list[PagePair] = []
    align = Workers.align

    async def counted(workers, languages, pairs, template, learned=b""):
        aligned.extend(pairs)
        return await align(workers, languages, pairs, template, learned)

    monkeypatch.setattr(Workers, "align", counted)
    before = {article: article.path("en") for article in site.articles}
    site.advance()
    mine(site, job, refresh=True)
    touched = {f"{HOST}{article.path('en')}" for article in site.articles if article not in before}
    assert {str(pair.url_a) for pair in aligned} == touched


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize("tags", [True, False])
def test_what_has_not_changed_is_a_revisit_record(site: ChangingSite, tmp_path: Path, *, tags: bool):
    site.tags = tags
    mine(site, tmp_path / "job")
    before = Counter(kind for kind, _ in records(tmp_path / "job"))
    site.advance()
    mine(site, tmp_path / "job", refresh=True)
    kept = [profile for kind, profile in records(tmp_path / "job") if kind == str(WarcRecordType.revisit)]
    name = "server-not-modified" if tags else "identical-payload-digest"
    assert set(kept) == {f"http://netpreserve.org/warc/1.1/revisit/{name}"}
    assert len(kept) > before[str(WarcRecordType.response)] / 2


@pytest.mark.usefixtures("no_children")
def test_a_killed_round_goes_on_where_it_was(site: ChangingSite, job: Path, tmp_path: Path):
    site.advance()
    mine(site, tmp_path / "fresh")
    site.asked()
    flags = ["--langs", "en,fr", "--out", str(job), "--delay", "0", "--exhaustive", "--allow-private"]
    command = ["mine", f"{HOST}/", *flags, "--workers", "1", "--connect-to", f"*.test=127.0.0.1:{site.port}", "--quiet"]
    process = start_forked(*command, "--refresh", first=NO_CHILDREN)
    site.after_request = lambda count: process.kill() if count == 12 else None
    process.join()
    assert process.exitcode == -signal.SIGKILL
    site.after_request = lambda _count: None
    first = site.asked()
    mine(site, job)  # without refresh
    paths = Counter(request.path for request in (*first, *site.asked()))
    assert {path for path, count in paths.items() if count > 1} <= {first[-1].path, *RULES}
    assert pages(job) == pages(tmp_path / "fresh")
    assert found(job) == found(tmp_path / "fresh")
    with Ledger(job / "job.sqlite", read_only=True) as ledger:
        assert ledger.rounds.number == 2


def dying(where: str) -> str:
    """Code after which a call of that function, `module:name`, is a kill."""
    module, _, name = where.partition(":")
    return f"{NO_CHILDREN}; import os, {module}; {module}.{name} = lambda *_, **__: os.kill(os.getpid(), 9)"


def killed(site: ChangingSite, job: Path, where: str, seeds: Sequence[str] = (f"{HOST}/",)) -> None:
    """Visit it again; the command dies there."""
    asked = ["--langs", "en,fr", "--out", str(job), "--delay", "0", "--exhaustive", "--allow-private", "--quiet"]
    route = ["--workers", "1", "--connect-to", f"*.test=127.0.0.1:{site.port}"]
    process = start_forked("mine", *seeds, *asked, *route, "--refresh", first=dying(where))
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize("where", ["bitrawl.job.running:note_findings", "bitrawl.store.rounds:Rounds.end"])
def test_a_kill_after_the_corpus_is_written_and_before_the_round_is_noted_changes_nothing(
    site: ChangingSite, job: Path, tmp_path: Path, where: str
):
    undisturbed = Path(shutil.copytree(job, tmp_path / "undisturbed"))
    site.advance()
    mine(site, undisturbed, refresh=True)
    killed(site, job, where)
    assert status(JobFolder(job)).state is State.INTERRUPTED
    site.asked()
    mine(site, job, refresh=True)  # It resumes the round, and begins no other.
    assert not [request for request in site.asked() if request.path not in RULES]
    assert (pages(job), found(job)) == (pages(undisturbed), found(undisturbed))
    assert changes(JobFolder(job)) == changes(JobFolder(undisturbed))


@pytest.mark.usefixtures("no_children")
def test_a_seed_that_redirects_off_site_is_asked_once_in_a_round_that_is_killed(site: ChangingSite, tmp_path: Path):
    seeds, job = (f"{HOST}/", LONE), tmp_path / "job"
    del site.articles[3:]
    site.elsewhere[LONE] = f"<html lang=en><title>Alone</title><p>{'The old mill is open to visitors. ' * 9}</p></html>"
    mine(site, job, seeds=seeds)
    undisturbed = Path(shutil.copytree(job, tmp_path / "undisturbed"))
    site.elsewhere[LONE] = "http://far.example/"
    site.advance()
    mine(site, undisturbed, seeds=seeds, refresh=True)
    killed(site, job, "bitrawl.job.running:note_findings", seeds)
    site.asked()
    mine(site, job, seeds=seeds)
    assert not [request for request in site.asked() if request.path not in RULES]
    assert LONE in changes(JobFolder(undisturbed)).pages.gone
    assert changes(JobFolder(job)) == changes(JobFolder(undisturbed))
    mine(site, job, seeds=seeds)  # A finished job tries again what failed.
    assert "/" in [request.path for request in site.asked()]
    assert changes(JobFolder(job)) == changes(JobFolder(undisturbed))


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize(
    "where",
    ["bitrawl.job.refreshing:note_findings", "bitrawl.store.rounds:Rounds.begin", "bitrawl.store.rounds:ChangeRates"],
)
def test_a_kill_while_a_round_is_planned_leaves_the_job_as_it_was(site: ChangingSite, job: Path, where: str):
    with Ledger(job / "job.sqlite") as ledger, ledger.transaction():
        (knowledge,) = ledger.sites()
        ledger.learn(msgspec.structs.replace(knowledge, left="it has brought nothing for long"))
    before = (pages(job), corpus(job))
    killed(site, job, where)
    assert not [request for request in site.asked() if request.path not in RULES]
    with Ledger(job / "job.sqlite", read_only=True) as ledger:
        assert ledger.rounds.number == 1
        assert [site.left for site in ledger.sites()] == ["it has brought nothing for long"]
    assert (pages(job), corpus(job)) == before
    site.advance()
    mine(site, job, refresh=True)
    assert len(changes(JobFolder(job)).pages.new) == 2


@pytest.mark.usefixtures("no_children")
def test_a_ledger_that_is_made_again_from_the_archive_has_the_newest_state(
    site: ChangingSite, job: Path, tmp_path: Path
):
    for _ in range(2):
        site.advance()
        mine(site, job, refresh=True)
    newest = pages(job)
    (job / "job.sqlite").unlink()
    site.asked()
    mine(site, job)
    assert pages(job) == newest
    assert {request.status for request in site.asked()} <= {404}  # what is missing was never archived
    asyncio.run(aio.mine(langs="en,fr", out=tmp_path / "read", warc=[str(job / "warc")]))
    assert pages(tmp_path / "read") == newest


@pytest.mark.usefixtures("no_children")
def test_pages_that_are_gone_stay_if_the_user_wants_to_keep_them(site: ChangingSite, tmp_path: Path):
    mine(site, tmp_path / "job", gone="keep")
    before = corpus(tmp_path / "job")[SENTENCES]
    gone = site.articles.pop()
    mine(site, tmp_path / "job", gone="keep", refresh=True)
    assert corpus(tmp_path / "job")[SENTENCES] == before
    assert len(changes(JobFolder(tmp_path / "job")).pages.gone) == 2
    mine(site, tmp_path / "job")  # the default is to drop them
    assert f"{HOST}{gone.path('en')}" not in pages(tmp_path / "job")
    assert corpus(tmp_path / "job")[SENTENCES] != before


@pytest.mark.usefixtures("no_children")
def test_a_host_that_is_down_changes_nothing(site: ChangingSite, job: Path):
    before = pages(job), corpus(job)
    site.is_down = True
    patient = JobFolder(job).changed({"fetch": {"connect_to": {"*.test": f"127.0.0.1:{site.port}"}}})
    hasty = msgspec.structs.replace(patient, politeness=Politeness(delay=0, attempts=1, backoff=0))
    asyncio.run(running.mine(hasty, JobFolder(job), refresh=True))
    assert (pages(job), corpus(job)) == before


@pytest.mark.usefixtures("no_children")
def test_what_people_said_holds_as_long_as_the_text_is_the_same(site: ChangingSite, job: Path):
    lines = [json.loads(line) for line in corpus(job)[SENTENCES]]
    first = next(line for line in lines if line["url_a"].endswith(site.articles[0].path("en")))
    texts, urls = (first["text_a"], first["text_b"]), (first["url_a"], first["url_b"])
    subject = Subject(SubjectKind.SEGMENT, segment_key(*texts), *urls, *texts)
    VerdictHistory(JobFolder(job).verdicts).say(subject, Verdict.REJECT, "anna", 1.0)
    site.articles[0] = site.articles[0]._replace(version=2)
    mine(site, job, refresh=True)
    left = [json.loads(line)["text_a"] for line in corpus(job)[SENTENCES]]
    assert texts[0] not in left


@pytest.mark.usefixtures("no_children")
def test_diff_tells_what_a_round_has_changed(site: ChangingSite, job: Path, bitrawl: Bitrawl):
    code, _, said = bitrawl("diff", job)
    assert (code, "has been visited once" in said) == (2, True)
    earlier = {article.number: article for article in site.articles}
    site.advance()
    now = {article.number: article for article in site.articles}
    mine(site, job, refresh=True)
    told = json.loads(bitrawl("diff", job, "--format", "json")[1])
    expected = {
        "new": [article for number, article in now.items() if number not in earlier],
        "changed": [article for number, article in now.items() if earlier.get(number, article) != article],
        "gone": [article for number, article in earlier.items() if number not in now],
    }
    for name, articles in expected.items():
        urls = {f"{HOST}{article.path(code)}" for article in articles for code in ("en", "fr")}
        assert {url for url in told["pages"][name] if "article" in url} == urls, name
        assert {pair.split()[0] for pair in told["pairs"][name]} == {url for url in urls if "/en/" in url}, name
    assert (told["since"], told["round"]) == (1, 2)
    assert told["units"]["new"]
    assert told["units"]["gone"]
    assert "1 new" in bitrawl("diff", job, "--since", "1")[1]
    assert bitrawl("diff", job, "--since", "yesterday")[0] == 2
    assert "rounds" in bitrawl("status", job)[1]


@pytest.mark.usefixtures("no_children")
def test_a_budget_is_that_of_a_round(site: ChangingSite, tmp_path: Path):
    mine(site, tmp_path / "job", max_pages=10)
    site.advance()
    assert mine(site, tmp_path / "job", max_pages=10, refresh=True) in (Ending.DONE, Ending.BUDGET)
    assert len(site.asked()) > 20


def test_an_archive_is_not_visited_again(first_round: Path, tmp_path: Path):
    archive = [str(first_round / "warc")]
    with pytest.raises(ConfigError, match="an archive never changes"):
        asyncio.run(aio.mine(langs="en,fr", out=tmp_path / "job", warc=archive, refresh=True))


@pytest.mark.usefixtures("no_children")
def test_dates_of_a_sitemap_spare_requests_once_they_have_proved_right(tmp_path: Path):
    site = ChangingSite(20, sentences=9, dates=True)
    with site.served():
        mine(site, tmp_path / "job")
        site.asked()
        asked_for = []
        for _ in range(2):
            site.advance()
            mine(site, tmp_path / "job", refresh=True)
            asked_for.append({request.path for request in site.asked() if "article" in request.path})
        mine(site, tmp_path / "fresh")
    changed = {article.path(code) for article in site.articles if article.round == site.round for code in ("en", "fr")}
    assert len(asked_for[0]) >= 40
    assert changed <= asked_for[1]
    assert len(asked_for[1] - changed) < 20  # those that are checked, and those that are gone
    assert pages(tmp_path / "job") == pages(tmp_path / "fresh")


@pytest.mark.usefixtures("no_children")
def test_dates_of_a_sitemap_that_are_not_true_are_not_trusted(tmp_path: Path):
    site = ChangingSite(20, sentences=9, dates=True)
    with site.served():
        mine(site, tmp_path / "job")
        for version in (1, 2):
            site.articles = [article._replace(version=version) for article in site.articles]  # and no other date
            mine(site, tmp_path / "job", refresh=True)
        mine(site, tmp_path / "fresh")
    assert pages(tmp_path / "job") == pages(tmp_path / "fresh")


@pytest.mark.usefixtures("no_children")
def test_a_site_that_the_strategy_leaves_is_visited_again_all_the_same(
    site: ChangingSite, job: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(GuardedScorer, "advise", lambda *_: Advice(leave=FewPairs(1, 2, 3, 0, 0, 0, 0)))
    site.advance()
    mine(site, job, refresh=True, exhaustive=False)
    articles = {f"{HOST}{article.path(code)}" for article in site.articles for code in ("en", "fr")}
    assert {url for url in pages(job) if "article" in url} == articles


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize("lists", [True, False], ids=["by pages", "by a sitemap"])
def test_what_is_missing_for_rounds_is_asked_for_as_long_as_something_that_stands_lists_it(
    site: ChangingSite, tmp_path: Path, *, lists: bool
):
    site.lists = lists
    more = {"sitemaps": not lists}
    del site.articles[5:]
    mine(site, tmp_path / "job", **more)
    removed = site.articles.pop()  # Nothing lists this one any more.
    site.broken = {article.path(code) for article in site.articles[:2] for code in ("en", "fr")}
    for _ in range(3):
        site.asked()
        mine(site, tmp_path / "job", refresh=True, **more)
    paths = {request.path for request in site.asked()}
    assert site.broken <= paths
    assert removed.path("en") not in paths
    site.broken = set()
    mine(site, tmp_path / "job", refresh=True, **more)
    mine(site, tmp_path / "fresh", **more)
    assert pages(tmp_path / "job") == pages(tmp_path / "fresh")
    assert found(tmp_path / "job") == found(tmp_path / "fresh")
