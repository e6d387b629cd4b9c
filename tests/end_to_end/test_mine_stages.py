"""The stages of a job from the command line: what they repeat, what they refuse, and that a refusal changes nothing."""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import sys
from pathlib import Path

import pytest
from click.testing import Result
from inline_children import inline_children
from prose_site import keep, visit
from small_site import EN, FR, articles, page
from typer.testing import CliRunner

from bitrawl import config
from bitrawl.cli import app
from bitrawl.endings import Doing, Ending
from bitrawl.errors import BitrawlError
from bitrawl.job import running
from bitrawl.job.site_mining import MinedSite, MiningPlan, SiteMiner
from bitrawl.job.workers import Workers
from bitrawl.mining import SiteFindings
from bitrawl.mining.stages import PairedSite
from bitrawl.model import Lease, Link, LinkKind, Visit
from bitrawl.process import Failure, FailureKind
from bitrawl.store.database import VERSION, locked
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import summarise
from bitrawl.store.ledger_queue import LedgerQueue
from bitrawl.store.stored_findings import Findings
from bitrawl.testing import FakeClock
from bitrawl.text.template import Template
from bitrawl.url import Url

pytestmark = pytest.mark.usefixtures("no_children")
COUNT = 12


def bitrawl(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def done(*arguments: str | Path) -> str:
    result = bitrawl(*arguments)
    assert result.exit_code == 0, result.exception
    return result.output


@pytest.fixture(scope="module")
def crawled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawled")
    keep(folder, articles(COUNT, "http://s.test/en/page{}", "http://s.test/fr/page{}")[0])
    return folder


@pytest.fixture(scope="module")
def mined_once(crawled_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mined") / "job"
    shutil.copytree(crawled_once, folder)
    with inline_children():
        done("pair", folder)
    return folder


@pytest.fixture
def crawled(crawled_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled_once, tmp_path / "job"))


@pytest.fixture
def mined(mined_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(mined_once, tmp_path / "job"))


def paired(folder: Path) -> int:
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    found = sum(1 for _ in Findings(ledger).pairs(EN, FR))
    ledger.close()
    return found


def contents(folder: Path) -> dict[str, str]:
    """The job file and the corpus, but for what has the time in it."""
    files = [folder / "job.toml", *sorted((folder / "corpus").glob("*.*"))]
    return {path.name: path.read_text("utf-8") for path in files if path.suffix not in (".md", ".tmx")}


def job_of(folder: Path) -> config.Job:
    return config.resolve(config.read(folder / "job.toml"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("pair DIR --methods xyz", "there is no method x, y, z; the methods are"),
        ("pair DIR --url-pair en", "write it like this: en=fr"),
        ("pair DIR --dictionary none.tsv", "none.tsv cannot be read"),
        ("pair DIR --encoder nomodel", "nomodel"),
        ("export DIR --formats foo", "there is no format 'foo'; the formats are"),
        ("export DIR --formats text", "text"),
        ("align DIR --encoder nomodel", "nomodel"),
        ("align DIR --langs en,fr", "takes only --encoder"),
        ("align DIR --out there", "takes only --encoder"),
        ("align DIR --dictionary none.tsv", "takes only --encoder"),
        ("mine --out DIR --methods xyz", "there is no method"),
        ("mine --out DIR --formats foo", "there is no format"),
        ("mine --out DIR --encoder nomodel", "nomodel"),
        ("mine http://s.test/ --langs en,fr --out DIR --fresh --encoder nomodel", "nomodel"),
    ],
)
def test_a_command_that_is_refused_changes_nothing(mined: Path, arguments: str, says: str):
    before = contents(mined)
    fault = bitrawl(*arguments.replace("DIR", str(mined)).split()).exception
    assert isinstance(fault, BitrawlError), fault
    assert says in str(fault)
    assert contents(mined) == before
    assert paired(mined) == COUNT


def test_a_value_out_of_range_is_refused_by_the_name_of_its_flag(mined: Path):
    before = contents(mined)
    refused = bitrawl("export", mined, "--min-score", "7")
    assert (refused.exit_code, contents(mined)) == (2, before)
    assert "--min-score" in refused.output


@pytest.mark.parametrize(
    "arguments",
    [
        "pair DIR --methods a",
        "align DIR",
        "export DIR --formats tsv",
        "mine --out DIR --methods a",
        "crawl --out DIR --max-pages 9",
        "mine http://s.test/ --langs en,fr --out DIR --fresh",
    ],
)
def test_a_command_waits_for_the_one_that_works_in_the_folder(mined: Path, arguments: str):
    before = contents(mined)
    with locked(mined / "job.sqlite"):
        fault = bitrawl(*arguments.replace("DIR", str(mined)).split()).exception
    assert isinstance(fault, BitrawlError), fault
    assert "another bitrawl process is using" in str(fault)
    assert contents(mined) == before


@pytest.mark.parametrize("stage", ["export", "align"])
def test_what_was_not_mined_is_told_how_to_be(crawled: Path, stage: str):
    fault = bitrawl(stage, crawled).exception
    assert f"bitrawl pair {crawled}" in str(fault)
    assert not (crawled / "corpus").exists()


@pytest.mark.parametrize("stage", ["pair", "align", "export", "status", "report"])
def test_a_folder_without_a_job_is_told_how_to_start_one(tmp_path: Path, stage: str):
    fault = bitrawl(stage, tmp_path / "none").exception
    assert f"bitrawl mine URL --langs en,fr --out {tmp_path / 'none'}" in str(fault)
    assert not (tmp_path / "none").exists()


def test_to_align_again_gives_the_same_corpus_and_pairs_nothing(mined: Path):
    before = contents(mined)
    ledger = Ledger(mined / "job.sqlite")
    pairs, _ = Findings(ledger).recorded("s.test")
    with ledger.transaction():
        ledger.database.query("DELETE FROM alignments")
    ledger.close()
    done("align", mined)
    assert contents(mined) == before
    ledger = Ledger(mined / "job.sqlite", read_only=True)
    assert Findings(ledger).recorded("s.test")[0] == pairs
    assert summarise(ledger).fetches == 2 * COUNT
    ledger.close()


async def test_to_align_again_is_not_to_pair_again(mined: Path):
    told: list[Doing | None] = []
    await running.mine_again(job_of(mined), JobFolder(mined), known_pairs=True, watch=told.append)
    steps = ["pairing s.test (24 pages)", "aligning s.test (12 of 12 en-fr pairs)", "writing the corpus", "None"]
    assert list(map(str, told)) == steps  # the segments are known: nothing is aligned


def test_mining_again_pairs_again_what_was_paired_with_other_settings(mined: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    mine = SiteMiner.mine

    async def counted(miner: SiteMiner, site: str, **how: bool) -> MinedSite:
        asked.append(site)
        return await mine(miner, site, **how)

    async def nothing_to_crawl(*_: object) -> Ending:
        return Ending.DONE

    monkeypatch.setattr(SiteMiner, "mine", counted)
    monkeypatch.setattr(running, "finished", nothing_to_crawl)
    for flags, times, pairs in (([], 0, COUNT), (["--methods", "a"], 1, 0), ([], 0, 0), (["--methods", "u"], 1, COUNT)):
        asked.clear()
        done("mine", "--out", mined, "--quiet", *flags)
        assert (len(asked), paired(mined)) == (times, pairs), flags
    dictionary = mined.with_name("words.tsv")
    dictionary.write_text("harbour\tport\n")
    for words, times in (("", 1), ("", 0), ("boat\tbateau\n", 1)):
        asked.clear()
        dictionary.write_text(dictionary.read_text() + words)
        done("mine", "--out", mined, "--quiet", "--dictionary", dictionary)
        assert len(asked) == times


def test_pairs_that_are_kept_do_not_hide_pages_that_were_not_paired(mined: Path):
    ledger = Ledger(mined / "job.sqlite")
    made = Findings(ledger).mined("s.test")
    ledger.close()
    keep(mined, articles(3, "http://s.test/en/late{}", "http://s.test/fr/late{}", seed=7)[0])
    done("align", mined)
    ledger = Ledger(mined / "job.sqlite", read_only=True)
    assert Findings(ledger).mined("s.test") == made
    ledger.close()


class FakeWorkers:
    """Pair nothing, and count what they are asked for."""

    def __init__(self, ledger: Ledger) -> None:
        self.mined: list[str] = []
        self.fails = False
        self.written = 0
        self._ledger = ledger

    async def pair(self, site: str, **_how: bool) -> PairedSite | Failure:
        self.mined.append(site)
        if self.fails:
            return Failure(FailureKind.KILLED, "killed by SIGKILL")
        return PairedSite(SiteFindings(site, 2 * COUNT), Template({}), extent=self._ledger.extent(site))

    async def write_corpus(self) -> None:
        self.written += 1


async def test_what_is_mined_while_the_crawl_ends_is_kept(crawled: Path):
    ledger = Ledger(crawled / "job.sqlite")
    async with Workers(job_of(crawled), crawled) as workers:
        work = running._Mining(job_of(crawled), JobFolder(crawled), ledger, workers, FakeClock())
        for name in ("s.test", ""):  # the crawl ends while the site waits to be mined
            work.due.put_nowait(name)
        await work.mine_due()
    ledger.close()
    assert paired(crawled) == COUNT


async def test_a_site_is_mined_again_at_the_end_only_if_something_came_after_it_was_read(crawled: Path):
    ledger = Ledger(crawled / "job.sqlite")
    workers = FakeWorkers(ledger)
    work = running._Mining(job_of(crawled), JobFolder(crawled), ledger, workers, FakeClock())
    for more, times in (([], 1), ([], 1), ([page("http://s.test/late", EN, ["Late."])], 2), ([], 2)):
        visit(ledger, more)
        await work.mine_all()
        assert len(workers.mined) == times
    ledger.close()


def _queue(ledger: Ledger, count: int) -> None:
    links = [Link(Url.known(f"http://s.test/more/{number}"), LinkKind.PAGE) for number in range(count)]
    LedgerQueue(ledger, lambda host: host).put((link, 0.5) for link in links)


async def test_a_site_is_mined_while_it_grows_only_if_most_of_it_is_yet_to_come(crawled: Path):
    ledger = Ledger(crawled / "job.sqlite")
    pages = ledger.knowledge("s.test").pages
    assert pages >= MiningPlan().first
    _queue(ledger, 3 * pages)
    first = running._Mining(job_of(crawled), JobFolder(crawled), ledger, FakeWorkers(ledger), FakeClock())
    assert not first.is_due("s.test", "s.test")
    _queue(ledger, 4 * pages)
    assert not first.is_due("s.test", "s.test")  # not looked at again after each page
    second = running._Mining(job_of(crawled), JobFolder(crawled), ledger, FakeWorkers(ledger), FakeClock())
    assert second.is_due("s.test", "s.test")
    assert not second.is_due("s.test", "other.test")
    ledger.close()


async def test_a_site_is_not_due_again_while_it_is_mined_nor_when_the_run_has_just_begun(crawled: Path):
    ledger, clock = Ledger(crawled / "job.sqlite"), FakeClock()
    workers = FakeWorkers(ledger)
    work = running._Mining(job_of(crawled), JobFolder(crawled), ledger, workers, clock)
    _queue(ledger, 200)
    observe = work.growth_observer(lambda host: host)
    late = page("http://s.test/late", EN, ["Late."])
    visited = Visit(Lease(Link(late.url, LinkKind.PAGE), 1.0), late, 200)
    observe(visited)
    assert work.due.empty()
    clock.advance(MiningPlan().soon)
    observe(visited)
    assert work.due.qsize() == 1

    async def pair(site: str, **_how: bool) -> PairedSite:
        observe(visited)  # while it is mined
        return PairedSite(SiteFindings(site, 2), Template({}), extent=ledger.extent(site))

    workers.pair = pair
    work.due.put_nowait("")
    await work.mine_due()
    assert work.due.empty()
    observe(visited)  # of its pages only two have been mined
    assert work.due.qsize() == 1
    ledger.close()


async def test_a_site_whose_pairing_failed_is_taken_up_at_the_end_and_by_the_next_run_and_not_after_each_page(
    crawled: Path,
):
    ledger = Ledger(crawled / "job.sqlite")
    workers = FakeWorkers(ledger)
    work = running._Mining(job_of(crawled), JobFolder(crawled), ledger, workers, FakeClock())
    _queue(ledger, 200)
    assert work.is_due("s.test", "s.test")
    workers.fails = True
    for name in ("s.test", ""):
        work.due.put_nowait(name)
    await work.mine_due()
    assert not work.is_due("s.test", "s.test")
    await work.mine_all()
    assert len(workers.mined) == 2
    workers.fails = False
    for times in (3, 3):
        await running._Mining(job_of(crawled), JobFolder(crawled), ledger, workers, FakeClock()).mine_all()
        assert len(workers.mined) == times
    ledger.close()


async def test_the_corpus_is_not_written_after_each_site_but_at_the_end(crawled: Path):
    ledger = Ledger(crawled / "job.sqlite")
    workers = FakeWorkers(ledger)
    work = running._Mining(job_of(crawled), JobFolder(crawled), ledger, workers, FakeClock())
    for name in ("s.test", "s.test", "s.test", ""):
        work.due.put_nowait(name)
    await work.mine_due()
    assert (len(workers.mined), workers.written) == (3, 1)
    await work.mine_all()
    assert (len(workers.mined), workers.written) == (3, 2)
    ledger.close()


async def test_the_corpus_is_written_again_when_writing_has_rested(crawled: Path):
    ledger, clock = Ledger(crawled / "job.sqlite"), FakeClock()
    workers = FakeWorkers(ledger)
    work = running._Mining(job_of(crawled), JobFolder(crawled), ledger, workers, clock)
    for _ in range(3):
        work.due.put_nowait("s.test")
        work.due.put_nowait("")
        await work.mine_due()
        clock.advance(running.SHORTEST_REST)
    assert workers.written == 3
    ledger.close()


def test_a_small_site_is_mined_while_it_is_crawled():
    assert MiningPlan().first <= 10


def test_what_is_being_mined_is_shown_and_status_says_so(crawled: Path, monkeypatch: pytest.MonkeyPatch):
    states: list[str] = []
    tell = running._Mining._tell

    def told(work: running._Mining, doing: Doing | None) -> None:
        tell(work, doing)
        states.append(done("status", crawled).splitlines()[0])

    monkeypatch.setattr(running._Mining, "_tell", told)
    assert "pairing s.test (24 pages)" in done("pair", crawled)
    for what in ("pairing s.test (24 pages)", "aligning s.test (12 en-fr pairs)", "writing the corpus"):
        assert any(f"running, {what}" in state for state in states), states
    assert "running" not in done("status", crawled)
    assert json.loads(done("status", crawled, "--format", "json"))["mining"] == ""


def test_the_size_of_the_corpus_is_told(mined: Path):
    said = done("export", mined)
    units = len((mined / "corpus/en-fr.sentences.jsonl").read_text("utf-8").splitlines())
    assert f"en-fr: {units} units written" in said
    assert f"corpus     {mined / 'corpus'}" in said
    assert "score" in done("export", mined, "--min-score", "1").partition("refused: ")[2]
    assert ">units in the corpus<" in (mined / "report.html").read_text("utf-8")


@pytest.mark.parametrize("formats", ["TMX,tsv", "tmx, TSV", "tsv;tmx"])
def test_formats_are_read_as_people_write_them(mined: Path, formats: str):
    done("export", mined, "--formats", formats, "--only")
    assert sorted(config.read(mined / "job.toml")["export"]["formats"]) == ["tmx", "tsv"]


def test_export_adds_formats_and_deletes_none_unless_it_is_asked_to(mined: Path):
    before = {path.name for path in (mined / "corpus").iterdir()}
    done("export", mined, "--formats", "moses")
    assert {path.name for path in (mined / "corpus").iterdir()} == before | {"en-fr.en", "en-fr.fr", "en-fr.ids"}
    done("export", mined, "--formats", "moses", "--only")
    left = {path.name for path in (mined / "corpus").iterdir()}
    assert left == {"en-fr.en", "en-fr.fr", "en-fr.ids", "README.md", "summary.json"}
    assert config.read(mined / "job.toml")["export"]["formats"] == ["moses"]


def test_a_sample_of_the_corpus_is_the_same_each_time(mined: Path):
    lines = done("sample", mined, "-n", "5", "--format", "tsv").splitlines()
    assert len(lines) == 5
    assert all(len(line.split("\t")) == 3 for line in lines)
    assert done("sample", mined, "-n", "5", "--format", "tsv").splitlines() == lines
    assert lines[0].split("\t")[1] in done("sample", mined, "-n", "5")


def test_a_dictionary_is_found_from_any_folder(mined: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "words.tsv").write_text("harbour\tport\n")
    monkeypatch.chdir(tmp_path)
    done("pair", mined, "--dictionary", "words.tsv")
    monkeypatch.chdir("/")
    done("pair", mined)
    assert config.read(mined / "job.toml")["pair"]["dictionary"] == str(tmp_path / "words.tsv")


@pytest.mark.parametrize("verb", ["mine", "crawl"])
def test_a_job_whose_hosts_all_fail_ends_as_a_failure(tmp_path: Path, verb: str):
    refused = bitrawl(
        verb, "http://127.0.0.1:1/", "--langs", "en,fr", "--out", tmp_path / "job", "--delay", "0", "--quiet"
    )
    assert refused.exit_code == 1, refused.output
    assert "No page was found. http://127.0.0.1:1/ brought no page" in " ".join(refused.stderr.split())
    assert config.read(tmp_path / "job" / "job.toml")["langs"] == ["en", "fr"]


@pytest.mark.parametrize("verb", ["export", "terms", "sample", "align", "merge"])
def test_a_job_without_pages_sends_nobody_to_a_command_that_cannot_help(tmp_path: Path, verb: str):
    folder = tmp_path / "my job"
    bitrawl("mine", "http://127.0.0.1:1/", "--langs", "en,fr", "--out", folder, "--delay", "0", "--quiet")
    refused = bitrawl(verb, folder, *(("--out", tmp_path / "merged") if verb == "merge" else ()))
    assert refused.exit_code != 0
    assert f"has no pages, and so no corpus. To see why, run: bitrawl status '{folder}'" in str(refused.exception)


def test_what_a_job_without_pairs_says_to_try_can_be_pasted(tmp_path: Path):
    folder = tmp_path / "my job"
    folder.mkdir()
    pages, _ = articles(4, "http://s.test/en/page{}", "http://s.test/fr/page{}")
    keep(folder, pages)
    (folder / "job.toml").write_text('langs = ["en", "de"]\nseeds = ["http://127.0.0.1:1/"]\n', "utf-8")
    said = done("pair", folder)
    command = re.search(r"that you did not ask for: French \(4\)\..*: bitrawl (mine .*)", said)[1]
    assert bitrawl(*shlex.split(command), "--quiet", "--delay", "0").exit_code == 1  # begun: no host answers
    assert config.read(tmp_path / "my job-fr" / "job.toml")["langs"] == ["en", "de", "fr"]


@pytest.mark.parametrize("verb", ["status", "pair", "export"])
def test_a_ledger_of_another_version_is_refused_with_its_fix(mined: Path, verb: str):
    ledger = Ledger(mined / "job.sqlite")
    ledger.remember("version", VERSION - 1)
    ledger.close()
    fault = bitrawl(verb, mined).exception
    assert isinstance(fault, BitrawlError), fault
    assert f"format {VERSION - 1}, this one reads {VERSION}" in str(fault)
    assert "--fresh" in str(fault)


async def test_ctrl_c_twice_ends_mining_at_once_and_without_a_traceback(crawled: Path):
    (crawled / "job.toml").write_text('langs = ["en", "fr"]\nseeds = ["http://127.0.0.1:1/"]\n', "utf-8")
    command = [sys.executable, "-m", "bitrawl", "mine", "--out", str(crawled), "--delay", "0"]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, start_new_session=True
    )
    said = b""
    for awaited in (b"pairing", b"Finishing"):
        while awaited not in said:
            line = await process.stderr.readline()
            assert line, said
            said += line
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of its processes
    said += await process.stderr.read()
    assert (await process.wait(), b"Traceback" in said) == (130, False), said.decode()
    assert b"Then what was fetched is paired, aligned and written. Press Ctrl-C again" in said
    assert bitrawl("status", crawled).exit_code == 0
