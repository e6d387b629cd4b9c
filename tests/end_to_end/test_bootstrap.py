"""`bitrawl bootstrap` against recorded answers of a real MediaWiki, and against dumps; killed, resumed and mistaken."""

import asyncio
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from recorded_wiki import SITES, Served, recorded_wiki

from bitrawl.cli import main
from bitrawl.errors import ConfigError
from bitrawl.job.bootstrapping import (
    BootstrapFolder,
    BootstrapProgress,
    BootstrapRequest,
    BootstrapStep,
    bootstrap,
    endpoint,
)
from bitrawl.job.fetching import FetchPolicy
from bitrawl.topic.wiki_topic import Exclusion

pytestmark = pytest.mark.usefixtures("no_children")
SUBJECT = "Health and safety at work"
OUTPUT = ("topic.txt", "terms.tsv", "seeds.txt", "sites.txt")
AT_ONCE = FetchPolicy(allow_private=True, delay=0.0)


@pytest.fixture
def web() -> Iterator[Served]:
    with recorded_wiki() as served:
        yield served


def asked(web: Served, category: str = SUBJECT, langs: str = "en,de", **more: object) -> BootstrapRequest:
    return BootstrapRequest(category=category, langs=tuple(langs.split(",")), wiki=web.api(), **more)  # type: ignore[arg-type]


class Done(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The program in this process: a new one takes seconds to start."""

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["bitrawl", "bootstrap", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return Done(int(end.value.code or 0), *capsys.readouterr())

    return run


def flags(web: Served, out: Path, langs: str = "en,de") -> list[str]:
    return ["--langs", langs, "--wiki", web.api(), "--out", str(out), "--allow-private", "--delay", "0"]


def written(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text("utf-8") for name in OUTPUT}


def rows(folder: Path) -> dict[str, list[str]]:
    """By the English term, or the German one."""
    lines = [line.split("\t") for line in (folder / "terms.tsv").read_text("utf-8").splitlines()]
    return {cells[2] or cells[3]: cells for cells in lines[1:]}


async def test_a_name_becomes_a_topic_seeds_and_bilingual_sites(web: Served, tmp_path: Path):
    summary = await bootstrap(asked(web), tmp_path, policy=AT_ONCE)
    assert summary.category == "Occupational safety and health"  # to which the article of the name redirects
    assert (summary.articles, summary.categories, summary.advice) == (15, 4, ())
    topic = (tmp_path / "topic.txt").read_text("utf-8").splitlines()[1:]
    assert "100:risk assessment=Occupational safety and health>en" in topic
    assert "100:Gefährdungsbeurteilung=Occupational safety and health>de" in topic
    assert "50:Ermüdung=Occupational diseases>de" in topic
    assert "33:silicosis=Occupational diseases>en" in topic  # two levels down, in the class of the branch
    assert "100:Betriebsarzt=Arbeitsschutz>de" in topic  # an article of the German category alone
    assert all(re.fullmatch(r"\d+:[^=>]+=[^=>]+>(en|de)", line) for line in topic)


async def test_the_table_says_why_a_title_is_no_term(web: Served, tmp_path: Path):
    await bootstrap(asked(web), tmp_path, policy=AT_ONCE)
    found = rows(tmp_path)
    assert (tmp_path / "terms.tsv").read_text("utf-8").startswith("keep\tweight\ten\tde\tclass\tcategory\tdepth\twhy\n")
    left_out = {term: cells[7] for term, cells in found.items() if cells[0] == "no"}
    assert left_out["Bhopal"] == left_out["Health and Safety at Work Act"] == "name"
    assert left_out["ISO 45001"] == "abbreviation"
    assert left_out["list of industrial disasters"] == left_out["Liste der Berufskrankheiten"] == "list"
    assert left_out["dust"] == "disambiguation"
    assert left_out["work hygiene"] == "redirect"
    assert found["asbestosis"] == [
        "yes", "33", "asbestosis", "", "Occupational diseases", "Dust diseases of the lung", "2", "de Asbestose: redirect"
    ]  # fmt: skip
    assert found["fatigue"][3] == "Ermüdung"


async def test_sites_are_ranked_and_those_whose_pages_are_translations_are_candidates(web: Served, tmp_path: Path):
    summary = await bootstrap(asked(web), tmp_path, policy=AT_ONCE)
    found = BootstrapFolder(tmp_path).read()
    bilingual, single, home = (web.addresses[name] for name in ("bilingual", "single", "home"))
    assert found.seeds[:2] == [f"{bilingual}en/safety.html", f"{bilingual}de/sicherheit.html"]
    assert set(found.seeds) == {*found.seeds[:2], f"{home}lung/", f"{home}arzt/", f"{single}risk.html"}
    assert found.sites == [bilingual, home]
    assert (summary.checked, summary.candidates) == (3, 2)
    paths = [path for name, path in web.asked if name == "bilingual"]
    assert paths[0] == "/robots.txt"
    assert paths[-2:] == ["/", "/de/"], "the home page and its translation are enough"


async def test_a_site_that_did_not_answer_is_checked_again(tmp_path: Path):
    sites = {name: dict(pages) for name, pages in SITES.items()}
    home = sites["bilingual"].pop("/")
    with recorded_wiki(sites) as web:
        assert (await bootstrap(asked(web), tmp_path, policy=AT_ONCE)).candidates == 1
        sites["bilingual"]["/"] = home
        assert (await bootstrap(asked(web), tmp_path, policy=AT_ONCE)).candidates == 2


async def test_for_one_language_no_site_is_asked_whether_it_is_bilingual(web: Served, tmp_path: Path):
    summary = await bootstrap(asked(web, langs="de"), tmp_path, policy=AT_ONCE)
    assert (summary.checked, summary.cited) == (0, 3)
    assert {name for name, _ in web.asked} <= {"en", "de"}


async def test_the_same_command_asks_nothing_twice(web: Served, tmp_path: Path):
    await bootstrap(asked(web), tmp_path, policy=AT_ONCE)
    assert len(web.questions()) == len(set(web.questions()))
    before, output = len(web.asked), written(tmp_path)
    await bootstrap(asked(web), tmp_path, policy=AT_ONCE)
    assert len(web.asked) == before
    assert written(tmp_path) == output
    await bootstrap(asked(web), tmp_path, policy=AT_ONCE, fresh=True)
    assert len(web.asked) == 2 * before


async def test_exclusions_can_be_switched_off(web: Served, tmp_path: Path):
    question = asked(web, keep=tuple(Exclusion), check_sites=False, editions=False)
    summary = await bootstrap(question, tmp_path, policy=AT_ONCE)
    topic = (tmp_path / "topic.txt").read_text("utf-8")
    assert "100:NIOSH=Occupational safety and health>de" in topic
    assert "100:list of industrial disasters=" in topic
    assert "100:Bhopal=" in topic
    assert "work hygiene" in topic
    assert summary.excluded == {}


async def test_an_edited_table_is_what_counts(web: Served, tmp_path: Path):
    question = asked(web, check_sites=False)
    await bootstrap(question, tmp_path, policy=AT_ONCE)
    table = tmp_path / "terms.tsv"
    edited = table.read_text("utf-8").replace("no\t100\tBhopal", "yes\t77\tBhopal").replace("Schutzhelm", "Helm")
    table.write_text(edited, "utf-8")
    topic = BootstrapFolder(tmp_path).read().topic.read_text("utf-8")
    assert "77:Bhopal=Occupational safety and health>en" in topic
    assert "50:Helm=Personal protective equipment>de" in topic
    summary = await bootstrap(question, tmp_path, policy=AT_ONCE)
    assert table.read_text("utf-8") == edited
    assert (tmp_path / "topic.txt").read_text("utf-8") == topic
    assert summary.terms == {"en": 9, "de": 8}


async def test_another_question_does_not_replace_an_edited_table(web: Served, tmp_path: Path):
    await bootstrap(asked(web, check_sites=False), tmp_path, policy=AT_ONCE)
    table = tmp_path / "terms.tsv"
    table.write_text(table.read_text("utf-8") + "yes\t50\tnoise\tLärm\tNoise\n", "utf-8")
    with pytest.raises(ConfigError, match=r"was edited.*--fresh"):
        await bootstrap(asked(web, langs="it", check_sites=False), tmp_path, policy=AT_ONCE)
    assert "noise" in table.read_text("utf-8")


async def test_a_mistake_in_the_edited_table_names_its_line(web: Served, tmp_path: Path):
    await bootstrap(asked(web, check_sites=False), tmp_path, policy=AT_ONCE)
    table = tmp_path / "terms.tsv"
    table.write_text(table.read_text("utf-8").replace("\t100\t", "\theavy\t", 1), "utf-8")
    with pytest.raises(ConfigError, match=r"terms\.tsv, line 2: 'heavy'"):
        BootstrapFolder(tmp_path).read()


def test_a_folder_without_a_bootstrap_says_how_to_make_one(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"holds no finished bootstrap\. Run: bitrawl bootstrap"):
        BootstrapFolder(tmp_path).read()


@pytest.mark.parametrize("victim", [2, 9])
async def test_a_killed_bootstrap_goes_on_where_it_was(web: Served, tmp_path: Path, victim: int):
    """The wiki kills the command before it answers this question; what it answered before is never asked again."""
    arguments = ["bootstrap", SUBJECT, *flags(web, tmp_path / "killed"), "--no-check-sites"]
    process: list[asyncio.subprocess.Process] = []

    def kill(_name: str, _path: str) -> None:
        if len(web.asked) == victim:
            process[0].kill()

    web.before.append(kill)
    process.append(
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bitrawl", *arguments, stderr=asyncio.subprocess.DEVNULL
        )
    )
    assert await process[0].wait() == -signal.SIGKILL
    web.before.clear()
    assert not (tmp_path / "killed" / "bootstrap.toml").exists()
    answered = web.questions()[: victim - 1]
    await bootstrap(asked(web, check_sites=False), tmp_path / "killed", policy=AT_ONCE)
    assert len(answered) == victim - 1
    assert not set(answered) & set(web.questions()[victim:])
    await bootstrap(asked(web, check_sites=False), tmp_path / "whole", policy=AT_ONCE)
    assert written(tmp_path / "killed") == written(tmp_path / "whole")


def test_the_command_tells_what_it_found_and_who_asks(web: Served, command: Command, tmp_path: Path):
    arguments = [SUBJECT, *flags(web, tmp_path), "--contact", "me@example.org", "--no-check-sites"]
    done = command(*arguments)
    assert done.code == 0, done.err
    assert "Occupational safety and health: 15 articles in 4 categories" in done.out
    assert "Terms: 8 English, 7 German" in done.out
    assert "Seeds: 5 pages of 3 sites" in done.out
    assert all(re.fullmatch(r"bitrawl/\S+ \(\+me@example\.org\)", agent) for agent in web.agents)


@pytest.mark.parametrize(
    ("asked_for", "code", "message"),
    [
        ("Occupational deseases/de", 2, r'no category "Occupational deseases"\. Similar names: "Occupational diseases"'),
        ("Xylophone/de", 2, r'no category "Xylophone" and none like it'),
        ("Empty shelf/de", 2, r'the category "Empty shelf" of \S+ is empty'),
        ("  /de", 2, r"the name of the category is empty"),
        ("Occupational safety and health/it", 1, r"No article has a title in Italian\. Try a deeper tree \(--depth 3\).*--wiki it"),
        (f"{SUBJECT}/frensh", 2, r"'frensh' is not a known language"),
    ],
)  # fmt: skip
def test_mistakes_say_what_to_try(
    web: Served, command: Command, tmp_path: Path, asked_for: str, code: int, message: str
):
    category, _, langs = asked_for.partition("/")
    done = command(category, *flags(web, tmp_path / "out", langs), "--no-check-sites")
    assert done.code == code
    assert re.search(message, done.err), done.err
    assert "Traceback" not in done.err


def test_a_language_without_titles_is_told_and_the_other_is_written(web: Served, command: Command, tmp_path: Path):
    done = command("Occupational safety and health", *flags(web, tmp_path, "de,it"), "--no-check-sites")
    assert done.code == 0, done.err
    assert "No article has a title in Italian" in done.err
    assert ">de" in (tmp_path / "topic.txt").read_text("utf-8")


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("wiki", "message"), [("site", "is not the API of a MediaWiki"), ("nobody", "does not answer")]
)
def test_what_is_no_wiki_is_said(web: Served, command: Command, tmp_path: Path, wiki: str, message: str):
    address = web.addresses["single"] if wiki == "site" else f"http://127.0.0.1:{closed_port()}/"
    done = command(SUBJECT, "--langs", "de", "--out", str(tmp_path), "--wiki", address, "--allow-private")
    assert done.code == 1
    assert message in done.err


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("en", "https://en.wikipedia.org/w/api.php"),
        ("nb", "https://no.wikipedia.org/w/api.php"),
        ("https://wiki.example.org/api.php", "https://wiki.example.org/api.php"),
        ("https://wiki.example.org/wiki/Main_Page", "https://wiki.example.org/w/api.php"),
        ("fr.wikipedia.org", "https://fr.wikipedia.org/w/api.php"),
    ],
)
def test_a_wiki_is_named_by_its_api_its_host_or_its_language(given: str, address: str):
    assert endpoint(given) == address


async def test_a_private_wiki_may_be_asked_without_private_sites(
    web: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Past the proxy, which is for what is outside."""
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port()}/")
    apis = tuple(endpoint(web.api(language)) for language in ("en", "de"))
    summary = await bootstrap(asked(web), tmp_path, policy=FetchPolicy(delay=0.0, private_apis=apis))
    assert summary.terms == {"en": 8, "de": 7}
    assert (summary.checked, summary.candidates) == (3, 0)
    assert {name for name, _ in web.asked} == {"en", "de"}


async def test_a_private_edition_that_nobody_allowed_costs_that_edition(web: Served, tmp_path: Path):
    apis = (endpoint(web.api("en")),)
    summary = await bootstrap(asked(web), tmp_path, policy=FetchPolicy(delay=0.0, private_apis=apis))
    assert summary.terms["de"] > 0
    assert {name for name, _ in web.asked} == {"en"}


def test_a_private_wiki_is_refused_unless_it_is_the_one_that_was_allowed(web: Served, command: Command, tmp_path: Path):
    flags = ("--langs", "de", "--wiki", web.api(), "--out", str(tmp_path))
    done = command(SUBJECT, *flags, "--private-wiki", web.api("de"))
    assert done.code == 1
    assert "is a private address" in done.err
    assert web.asked == []
    assert command(SUBJECT, *flags, "--private-wiki", web.api("en")).code == 0


async def test_how_far_it_is_can_be_read_from_the_folder(web: Served, tmp_path: Path):
    seen: list[BootstrapProgress | None] = []
    web.before.append(lambda *_: seen.append(BootstrapFolder(tmp_path).progress()))
    summary = await bootstrap(asked(web), tmp_path, policy=AT_ONCE)
    steps = [progress.step for progress in seen if progress is not None]
    assert list(dict.fromkeys(steps)) == list(BootstrapStep)
    reading = [progress.done for progress in seen if progress is not None and progress.step is BootstrapStep.READING]
    assert reading == list(range(len(reading)))
    assert BootstrapFolder(tmp_path).progress() == BootstrapProgress(
        BootstrapStep.CHECKING, endpoint(web.api()).host, 3, 3
    )
    assert BootstrapFolder(tmp_path).found() == summary
    assert [site.languages for site in summary.sites] == [("de", "en"), ("de", "en")]
