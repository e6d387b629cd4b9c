"""`bitrawl discover check` on an archived site of our own, and what it answers to typical mistakes."""

import json
from pathlib import Path

import pytest
import typer
from made_up_pack import write_pack
from typer.testing import CliRunner

from bitrawl.cli.discover import check
from bitrawl.errors import ArchiveError, ConfigError

pytestmark = pytest.mark.usefixtures("no_children")
app = typer.Typer()
app.command()(check)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pack(tmp_path_factory.mktemp("packs") / "museum", articles=6).archive


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_an_archived_site_is_judged_with_its_evidence(archive: Path):
    entry = "http://museum.test/en/0.html"
    verdict = json.loads(run(entry, "--langs", "en,fr", "--replay", str(archive), "--format", "jsonl"))
    assert verdict["site"] == "museum.test"
    assert verdict["verdict"] == "bilingual"
    assert verdict["languages"] == ["en", "fr"]
    assert {verdict["url_a"], verdict["url_b"]} == {entry, "http://museum.test/fr/0.html"}
    assert verdict["evidence"]["translations"] > 0.5
    assert verdict["downloads"] == 2


def test_a_page_that_was_never_translated_does_not_count(archive: Path):
    told = run("http://museum.test/en/2.html", "--langs", "en,fr", "--replay", str(archive), "--max-downloads", "2")
    assert told.split()[:2] == ["museum.test", "no"]


def test_a_language_that_the_site_does_not_have(archive: Path):
    assert "no page in de was found" in run(
        "http://museum.test/en/0.html", "--langs", "en,de", "--replay", str(archive)
    )


def test_without_urls_the_home_pages_of_the_archives_are_checked(archive: Path):
    assert "museum.test" in run("--langs", "en,fr", "--replay", str(archive))


def test_a_site_that_cannot_be_read_is_unknown_and_the_exit_code_is_1(archive: Path):
    replay = ("--langs", "en,fr", "--replay", str(archive))
    result = CliRunner().invoke(app, ["nobody.test", "http://museum.test/en/0.html", *replay])
    assert result.exit_code == 1
    assert [line.split()[1] for line in result.stdout.splitlines() if ".test  " in line] == ["unknown", "bilingual"]
    assert "nobody.test: https was tried; if the site does not offer it, write http://nobody.test" in " ".join(
        result.output.split()
    )


def test_a_host_without_a_scheme_is_a_site(archive: Path):
    assert "museum.test" in run("museum.test/en/0.html", "--langs", "en,fr", "--replay", str(archive))


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["https://a.test/", "--langs", "en"], "name both"),
        (["https://a.test/", "--langs", "en-fr"], "--langs en,fr"),
        (["https://a.test/", "--langs", "en,frensh"], "not a known language"),
        (["--langs", "en,fr"], "name at least one site"),
        (["ftp://a.test/", "--langs", "en,fr"], "only http and https"),
    ],
)
def test_a_mistake_is_answered_with_what_to_type(arguments: list[str], answer: str):
    with pytest.raises(ConfigError, match=answer):
        CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_a_file_that_is_no_archive(tmp_path: Path):
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"nothing")
    with pytest.raises(ArchiveError):
        CliRunner().invoke(app, ["https://a.test/", "--langs", "en,fr", "--replay", str(path)], catch_exceptions=False)
