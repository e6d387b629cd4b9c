"""Jobs with a topic on a small web on loopback: what is judged relevant, what is mined, and what mistakes say."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from forked_command import NO_CHILDREN, start_forked
from topic_web import HOMES, HONEY, HUB, MIXED, STADIUM, Served, closed_web, html, serve, site, term_list, text, web

import bitrawl
from bitrawl.cli import main
from bitrawl.config import described
from bitrawl.endings import Ending
from bitrawl.job import described_job as resolved
from bitrawl.job.running import crawl
from bitrawl.store.folder import JobFolder
from bitrawl.store.ledger import Ledger
from bitrawl.store.ledger_facts import log

pytestmark = pytest.mark.usefixtures("no_children")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(web()) as made:
        yield made


class Subject(NamedTuple):
    """What a user may bring."""

    terms: str
    texts: str
    french: str


@pytest.fixture(scope="module")
def bees(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    folder = tmp_path_factory.mktemp("bees")
    (folder / "list.txt").write_text(term_list("en", "fr"), "utf-8")
    for code, name in (("en", "texts"), ("fr", "french")):
        (folder / name).mkdir()
        for number in range(3):
            (folder / name / f"{number}.txt").write_text(text("bees", code, 1000 + number), "utf-8")
    return Subject(*(str(folder / name) for name in ("list.txt", "texts", "french")))


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return " ".join((self.out + self.err).split())


Command = Callable[..., Done]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The program in this process: a new one takes seconds to start."""

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["bitrawl", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return Done(int(end.value.code or 0), *capsys.readouterr())

    return run


class Verdicts(NamedTuple):
    """Of the pages of a job, in the order of the visits: addresses and whether they are relevant."""

    pages: dict[str, bool]
    fetched: list[str]

    def wrong(self, language: str = "en") -> list[str]:
        """Articles whose verdict is not that of their name. Other languages are never relevant."""
        return [
            url
            for url, relevant in self.pages.items()
            if url.count("/") == 4 and not url.endswith("/") and relevant != ("bees" in url and f"/{language}/" in url)
        ]

    def relevant(self) -> set[str]:
        return {url for url, relevant in self.pages.items() if relevant}


def verdicts(folder: Path) -> Verdicts:
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    lines = list(log(ledger))
    ledger.close()
    pages = {line.url: bool(line.relevant) for line in lines if line.outcome == "page"}
    assert all((line.relevance is not None) == (line.outcome == "page") for line in lines)
    return Verdicts(pages, [line.url for line in lines])


def crawled(
    command: Command,
    served: Served,
    out: Path,
    *asked: object,
    verb: str = "crawl",
    langs: str = "en",
    finds: bool = True,
) -> Verdicts:
    """`finds` is false where it may be that no page is about the topic."""
    done = command(verb, *asked, "--langs", langs, "--out", out, *served.flags, "--parallel", 1, "--quiet")
    assert done.code == 0 or (not finds and "is about the topic" in done.err), done
    return verdicts(out)


# what the topic may be


@pytest.mark.parametrize(
    ("seeds", "asked"),
    [
        ([HUB], ["--hub", "--topic", "{terms}"]),
        ([HUB], ["--hub", "--texts", "{texts}"]),
        ([HUB], ["--hub", "--topic", "{terms}", "--texts", "{texts}"]),
        ([HUB], ["--hub", "--like", f"{HONEY}en/bees-1"]),
        ([], ["--like", f"{HONEY}en/bees-1"]),
        ([HUB], ["--hub", "--topic", "{terms}", "--strategy", "terms"]),
        ([HUB], ["--hub", "--texts", "{texts}", "--strategy", "perplexity"]),
        ([HUB], ["--hub", "--texts", "{texts}", "--strategy", "breadth-first"]),
    ],
    ids=lambda value: " ".join(value) or "no seed",
)
def test_over_the_whole_web_pages_about_the_topic_are_found_and_told_from_others(
    command: Command, served: Served, bees: Subject, tmp_path: Path, seeds: list[str], asked: list[str]
):
    flags = [one.format(**bees._asdict()) for one in asked]
    found = crawled(command, served, tmp_path / "job", *seeds, *flags, "--scope", "web")
    assert found.wrong() == []
    hosts = {url.split("/")[2] for url in found.relevant()}
    assert {"honey.test", "apiary.test"} <= hosts  # the second is only linked from the first
    assert "stadium.test" not in hosts


def test_by_default_a_job_stays_on_the_sites_of_its_seeds(
    command: Command, served: Served, bees: Subject, tmp_path: Path
):
    found = crawled(command, served, tmp_path / "job", HONEY, "--topic", bees.terms)
    assert {url.split("/")[2] for url in found.fetched} == {"honey.test"}


@pytest.mark.parametrize("given", ["terms", "texts"])
def test_a_home_page_about_something_else_does_not_turn_the_verdicts_round(
    command: Command, served: Served, bees: Subject, tmp_path: Path, given: str
):
    flag = {"terms": "--topic", "texts": "--texts"}[given]
    found = crawled(command, served, tmp_path / "job", MIXED, flag, getattr(bees, given))
    assert found.wrong() == []
    assert len(found.relevant()) == 5


def test_budgets_hold_over_the_whole_web_and_good_pages_come_first(
    command: Command, served: Served, bees: Subject, tmp_path: Path
):
    out = tmp_path / "job"
    asked = (HUB, "--hub", "--topic", bees.terms, "--scope", "web")
    found = crawled(command, served, out, *asked, "--max-pages", 24, "--site-pages", 12)
    assert len(found.pages) == 24
    by_site = [url.split("/")[2] for url in found.pages]
    assert max(map(by_site.count, set(by_site))) <= 12
    assert len(found.relevant()) >= 12  # of 18 there are
    status = command("status", out)
    assert f"on topic {len(found.relevant())} of 24 pages" in status.said
    more = crawled(command, served, out, *asked)
    assert set(found.pages) < set(more.pages)
    assert {url: more.pages[url] for url in found.pages} == found.pages


def test_an_example_behind_two_redirects_is_an_example(command: Command, tmp_path: Path):
    moved = {"http://short.test/b": "http://short.test/bb", "http://short.test/bb": f"{HONEY}en/bees-1"}
    with serve(web(), moved) as served:
        found = crawled(command, served, tmp_path / "job", "--like", "http://short.test/b", "--scope", "web")
    assert len(found.relevant()) > 10
    assert found.wrong() == []


def test_what_the_topic_is_not_can_be_said_too(command: Command, served: Served, bees: Subject, tmp_path: Path):
    (tmp_path / "against.txt").write_text(text("football", "en"), "utf-8")
    asked = (MIXED, "--texts", bees.texts, "--against", tmp_path / "against.txt")
    assert crawled(command, served, tmp_path / "job", *asked).wrong() == []


@pytest.mark.parametrize("homes", HOMES)
def test_a_site_about_the_topic_is_found_behind_a_home_page_that_says_nothing_of_it(
    command: Command, bees: Subject, tmp_path: Path, homes: str
):
    """Of 12 English pages about the topic among 120, more are among the first 40 than with breadth-first."""
    counts = {}
    for name in ("adaptive", "perplexity", "breadth-first"):
        with serve(*closed_web(homes)) as served:
            asked = (HUB, "--hub", "--texts", bees.texts, "--scope", "web", "--max-pages", 40, "--strategy", name)
            found = crawled(command, served, tmp_path / name, *asked, finds=name != "breadth-first")
        counts[name] = sum("/en/bees" in url for url in found.pages)
    assert min(counts["adaptive"], counts["perplexity"]) >= max(10, counts["breadth-first"]), counts


def test_a_directory_that_only_links_is_not_about_the_topic(command: Command, bees: Subject, tmp_path: Path):
    pages = web()
    names = {f"{HONEY}en/bees-{n}": " ".join(text("bees", "en", 50 + n).split()[:12]) for n in range(8)}
    pages[HUB] = html("en", "Bees and honey", [], names)
    with serve(pages) as served:
        found = crawled(command, served, tmp_path / "job", HUB, "--hub", "--texts", bees.texts, "--scope", "web")
    assert not found.pages[HUB]
    assert len(found.relevant()) >= 8


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (html("en", "Sites", [], {f"{HONEY}en/bees-{n}": f"The bees of hive number {n}" for n in range(20)}), "no running text"),
        (html("fr", "Miel", text("bees", "fr").split("\n"), {}), "French"),
        (html("en", "Bees", ["The beekeeper opens the hive and looks for the queen in winter."], {}), "too few"),
        ("", "could not be read"),
    ],
    ids=["links", "another language", "short", "missing"],
)  # fmt: skip
def test_a_page_that_does_not_tell_what_the_topic_is_ends_the_crawl_at_its_start(
    command: Command, tmp_path: Path, page: str, reason: str
):
    with serve({**web(), "http://example.test/": page}) as served:
        asked = ("--like", "http://example.test/", "--langs", "en", "--scope", "web", "--out", tmp_path / "job")
        done = command("crawl", HUB, "--hub", *asked, *served.flags, "--parallel", 1, "--quiet")
        assert len(served.asked) < 20
    assert done.code != 0
    assert "nothing says what the topic is" in done.said
    assert reason in done.said
    assert "--texts" in done.said


# kill -9, resume


@pytest.mark.parametrize("asked", [["--topic", "{terms}"], ["--texts", "{texts}"]], ids=["terms", "texts"])
def test_a_killed_crawl_goes_on_with_the_same_verdicts(
    bees: Subject, command: Command, tmp_path: Path, asked: list[str]
):
    # --exhaustive: how many pages of a site are fetched before it is left depends on the order of the answers.
    flags = [HUB, "--hub", *(one.format(**bees._asdict()) for one in asked), "--scope", "web", "--exhaustive"]
    with serve(web()) as served:
        whole = crawled(command, served, tmp_path / "whole", *flags)
    reached = threading.Event()
    with serve(web()) as served:
        served.before.append(lambda _address: reached.set() if len(served.asked) > 30 else None)
        arguments = [*flags, "--langs", "en", "--out", str(tmp_path / "job"), *served.flags, "--parallel", "1", "-q"]
        process = start_forked("crawl", *map(str, arguments), first=NO_CHILDREN)
        assert reached.wait(60)
        process.kill()
        process.join()
        before = verdicts(tmp_path / "job")
        after = crawled(command, served, tmp_path / "job", *flags)
    assert 0 < len(before.pages) < len(after.pages)
    assert {url: after.pages[url] for url in before.pages} == before.pages
    assert after.pages == whole.pages


def test_another_topic_does_not_go_on_in_the_same_folder(
    command: Command, served: Served, bees: Subject, tmp_path: Path
):
    out = tmp_path / "job"
    crawled(command, served, out, HONEY, "--topic", bees.terms, "--max-pages", 2)
    for other in ([], ["--texts", bees.texts], ["--topic", bees.terms, "--hub"]):
        done = command("crawl", HONEY, *other, "--langs", "en", "--out", out, *served.flags)
        assert (done.code, "--fresh" in done.said) == (2, True), other
    assert command("crawl", "--out", out, "--max-pages", 3, "--quiet").code == 0  # the job that the folder holds


def test_a_job_can_be_read_and_exported_when_its_term_list_is_gone(command: Command, served: Served, tmp_path: Path):
    (tmp_path / "list.txt").write_text(term_list("en"), "utf-8")
    out = tmp_path / "job"
    crawled(command, served, out, HONEY, "--topic", tmp_path / "list.txt", "--max-pages", 4, verb="mine")
    (tmp_path / "list.txt").unlink()
    assert command("status", out).code == command("export", out).code == command("log", out).code == 0
    again = command("crawl", "--out", out, *served.flags)
    assert (again.code, f"there is no file or folder {tmp_path / 'list.txt'}" in again.said) == (2, True)


# the buckets of the strategy perplexity


def test_buckets_are_shown_proposed_and_moved(command: Command, served: Served, bees: Subject, tmp_path: Path):
    out = tmp_path / "job"
    crawled(command, served, out, HUB, "--hub", "--texts", bees.texts, "--strategy", "perplexity", "--scope", "web")
    shown = command("tune", out)
    assert shown.code == 0
    assert "HIGH up to 500" in shown.said
    proposed = shown.out.split("--buckets ")[1].split()[0]
    moved = command("tune", out, "--buckets", proposed)
    assert f"HIGH up to {float(proposed.split(',')[0]):g}" in moved.said
    for wrong in ("5000,100", "0,7", "a,b", "7", "1,2,3"):
        done = command("tune", out, "--buckets", wrong)
        assert (done.code, "100,5000" in done.said) == (2, True), (wrong, done)
    assert f"HIGH up to {float(proposed.split(',')[0]):g}" in command("tune", out).said


def test_buckets_of_another_strategy_are_refused(command: Command, served: Served, bees: Subject, tmp_path: Path):
    crawled(command, served, tmp_path / "job", HONEY, "--topic", bees.terms, "--max-pages", 2)
    done = command("tune", tmp_path / "job", "--buckets", "10,20")
    assert (done.code, "only the strategy perplexity has buckets" in done.said) == (2, True)


async def test_a_running_crawl_follows_its_job_file_and_survives_a_broken_one(bees: Subject, tmp_path: Path):
    steps: list[tuple[float, ...]] = []
    job = tmp_path / "job/job.toml"
    with serve(web()) as served:
        parts: list[Any] = []

        def changed(_address: str) -> None:
            if parts:
                steps.append(tuple(parts[0].crawl.frontier.rules.steps))
            if len(served.asked) == 12:
                job.write_text(job.read_text("utf-8").replace("500.0", "3.0").replace("5000.0", "4.0"), "utf-8")
            elif len(served.asked) == 20:
                job.write_text("this is [no TOML", "utf-8")
            elif len(served.asked) == 24:
                job.unlink()

        served.before.append(changed)
        asked = {"texts": bees.texts, "hub": True, "scope": "web", "strategy": "perplexity"}
        ending = await watched_crawl(tmp_path / "job", served, parts, **asked)
    assert ending is Ending.DONE
    assert len(set(steps)) == 2
    assert steps[-1] == max(set(steps))  # lower perplexities are higher steps; what came after changed nothing


async def watched_crawl(folder: Path, served: Served, parts: list[Any], **asked: Any) -> Ending:
    settings = {"delay": 0, "allow_private": True, "connect_to": [f"*.test=127.0.0.1:{served.port}"], "parallel": 1}
    job = resolved({"seeds": [HUB], **described({"langs": "en", **settings, **asked})}, JobFolder(folder))
    return await crawl(job, JobFolder(folder), started=parts.append)


# two languages


def pair_names(folder: Path) -> set[tuple[str, str]]:
    return {(pair.url_a, pair.url_b) for pair in bitrawl.open(folder).pairs()}


@pytest.mark.parametrize("asked", [["--topic", "{terms}"], ["--texts", "{texts}", "--texts", "{french}"]], ids=" ".join)
def test_only_pairs_about_the_topic_are_mined(
    command: Command, served: Served, bees: Subject, tmp_path: Path, asked: list[str]
):
    flags = [one.format(**bees._asdict()) for one in asked]
    crawled(command, served, tmp_path / "job", MIXED, *flags, verb="mine", langs="en,fr")
    expected = {(f"{MIXED}en/bees-{number}", f"{MIXED}fr/bees-{number}") for number in range(5)}
    found = pair_names(tmp_path / "job")
    assert expected <= found
    assert not [pair for pair in found if "football" in "".join(pair)]
    corpus = (tmp_path / "job/corpus/en-fr.tsv").read_text("utf-8")
    assert "hive" in corpus
    assert "referee" not in corpus
    assert "arbitre" not in corpus


def test_pages_about_something_else_stay_out_of_a_corpus_in_one_language(
    command: Command, served: Served, bees: Subject, tmp_path: Path
):
    crawled(command, served, tmp_path / "job", MIXED, "--topic", bees.terms, verb="mine", langs="fr")
    written = "".join(one.read_text("utf-8") for one in (tmp_path / "job/corpus").rglob("*.txt"))
    assert "ruche" in written
    assert "arbitre" not in written


def test_a_folder_that_a_person_made_is_mined_as_a_bootstrap(command: Command, served: Served, tmp_path: Path):
    made = tmp_path / "topic"
    made.mkdir()
    (made / "topic.txt").write_text(term_list("en", "fr"), "utf-8")
    (made / "seeds.txt").write_text(f"# pages\n{HONEY}en/\n", "utf-8")
    crawled(command, served, tmp_path / "job", "--bootstrap", made, verb="mine", langs="en,fr")
    assert len(pair_names(tmp_path / "job")) >= 8
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/cache").mkdir()  # a bootstrap that was interrupted
    (tmp_path / "empty/topic.txt").write_text(term_list("en"), "utf-8")
    done = command("mine", "--bootstrap", tmp_path / "empty", "--langs", "en,fr", "--out", tmp_path / "other")
    assert (done.code, "bitrawl bootstrap" in done.said) == (2, True)


def test_from_python_a_topic_is_a_setting(served: Served, bees: Subject, tmp_path: Path):
    settings = {"delay": 0, "allow_private": True, "connect_to": {"*.test": f"127.0.0.1:{served.port}"}, "parallel": 1}
    for name, topic in (("terms", {"topic": bees.terms}), ("texts", {"texts": [bees.texts, bees.french]})):
        result = bitrawl.mine(MIXED, langs=("en", "fr"), out=tmp_path / name, **topic, **settings)
        assert result.status.crawl.relevant == sum(page.is_on_topic for page in result.open().pages())
        assert len(pair_names(tmp_path / name)) >= 5
    with pytest.raises(bitrawl.ConfigError, match="there is no file or folder"):
        bitrawl.mine(MIXED, langs="en,fr", out=tmp_path / "other", topic="gone.txt")
    with pytest.raises(bitrawl.ConfigError, match="did you mean 'topic'"):
        bitrawl.mine(MIXED, langs="en,fr", out=tmp_path / "other", topics=bees.terms)


# mistakes


def test_mistakes_name_what_to_try_and_cost_nothing(command: Command, served: Served, bees: Subject, tmp_path: Path):
    (tmp_path / "german.txt").write_text("100:Bienenstock=Imkerei>de\n", "utf-8")
    (tmp_path / "no.arpa").write_text("this is no language model\n", "utf-8")
    (tmp_path / "short.txt").write_text("Bees.", "utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "job.toml").write_text(
        f'langs = ["en"]\nseeds = ["{HONEY}"]\nstrategy = "perplexity"\n'
        f'[topic]\nlanguage_models = ["en={tmp_path / "no.arpa"}"]\n',
        "utf-8",
    )
    before = len(served.asked)
    for asked, says in (
        ([HONEY, "--topic", tmp_path / "german.txt"], "bitrawl topic translate"),
        ([HONEY, "--topic", tmp_path / "gone.txt"], "there is no file or folder"),
        ([HONEY, "--texts", tmp_path / "empty"], "holds no texts; put .txt or .html files"),
        ([HONEY, "--texts", bees.french], "3 in French, and none in en"),
        ([HONEY, "--texts", tmp_path / "short.txt"], "give at least 50"),
        ([HONEY, "--strategy", "terms"], "--topic FILE"),
        ([HONEY, "--scope", "web"], "--topic or --texts"),
        ([HONEY, "--scope", "all", "--topic", bees.terms], "is not one of 'site'"),
        ([HONEY, "--against", bees.texts], "--topic, --texts or --like"),
        (["--job", tmp_path / "job.toml"], "ARPA"),
    ):
        done = command("crawl", *asked, "--langs", "en", "--out", tmp_path / "job", *served.flags, "--quiet")
        assert (done.code, says in done.said) == (2, True), (asked, done)
        assert not (tmp_path / "job").exists(), asked
    assert len(served.asked) == before


def test_a_topic_that_matches_nothing_ends_with_what_to_try(
    command: Command, served: Served, bees: Subject, tmp_path: Path
):
    out = tmp_path / "job"
    asked = (STADIUM, "--topic", bees.terms, "--langs", "en", "--out", out, "--max-pages", 10, *served.flags)
    done = command("crawl", *asked)
    assert (done.code, "10 pages were read, and none of them is about the topic." in done.said) == (1, True)
    assert verdicts(out).relevant() == set()
    status = command("status", out)
    assert "on topic 0 of 10 pages" in status.said
    assert "No page is about the topic." in status.said
    assert "→" in status.out
    mined = command(
        "mine", STADIUM, "--topic", bees.terms, "--langs", "en,fr", "--out", tmp_path / "mined", *served.flags
    )
    assert (mined.code, "is about the topic" in mined.said) == (1, True)


def test_the_log_says_what_was_judged(command: Command, served: Served, bees: Subject, tmp_path: Path):
    crawled(
        command, served, tmp_path / "job", HONEY, "--texts", bees.texts, "--strategy", "perplexity", "--max-pages", 3
    )
    lines = [json.loads(line) for line in command("log", tmp_path / "job", "--format", "jsonl").out.splitlines()]
    for line in lines:
        if line["outcome"] == "page":
            assert line["relevant"] is (line["relevance"] >= 0.5)
            assert line["perplexity"] > 1
        else:
            assert line.get("relevance") is line.get("relevant") is line.get("perplexity") is None


# one more round


@pytest.mark.parametrize("asked", [["--topic", "{terms}"], ["--texts", "{texts}", "--texts", "{french}"]], ids=" ".join)
def test_after_a_round_pages_are_judged_as_they_are_now(
    command: Command, bees: Subject, tmp_path: Path, asked: list[str]
):
    flags = [MIXED, *(one.format(**bees._asdict()) for one in asked), "--exhaustive"]
    pages = site(MIXED, {"football": 5, "bees": 5})
    with serve(pages) as served:
        crawled(command, served, tmp_path / "job", *flags, verb="mine", langs="en,fr")
        for code in ("en", "fr"):  # Two articles change places, one is gone, and one is new.
            one, other = f"{MIXED}{code}/bees-0", f"{MIXED}{code}/football-0"
            pages[one], pages[other] = pages[other], pages[one]
            del pages[f"{MIXED}{code}/bees-1"]
            pages[f"{MIXED}{code}/bees-5"] = site(MIXED, {"bees": 6})[f"{MIXED}{code}/bees-5"]
            home = f"{MIXED}{code}/"
            pages[home] = pages[home].replace("bees-1", "bees-5")
        for out, more in (("job", ["--refresh"]), ("fresh", [])):
            done = command(
                *("mine", *flags, "--langs", "en,fr", "--out", tmp_path / out, *served.flags, "--quiet", *more)
            )
            assert done.code == 0, done
    for folder in ("job", "fresh"):
        on_topic = {page.url: page.is_on_topic for page in bitrawl.open(tmp_path / folder).pages()}
        articles = {url: relevant for url, relevant in on_topic.items() if "-" in url}
        bees_now = ("football-0", *(f"bees-{number}" for number in (2, 3, 4, 5)))
        expected = {f"{MIXED}{code}/{name}" for code in ("en", "fr") for name in bees_now}
        assert {url for url, relevant in articles.items() if relevant} == expected, folder
    assert pair_names(tmp_path / "job") == pair_names(tmp_path / "fresh")
    job, fresh = (bitrawl.open(tmp_path / folder) for folder in ("job", "fresh"))
    assert {(unit.text_a, unit.text_b) for unit in job.units()} == {
        (unit.text_a, unit.text_b) for unit in fresh.units()
    }
    assert job.status().crawl.relevant == fresh.status().crawl.relevant
