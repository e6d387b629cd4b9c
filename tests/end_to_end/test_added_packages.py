"""Formats, strategies and verbs of other packages, and those of our own that come in like that."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bitrawl import aio, cli, config, demo
from bitrawl import packages as packages_of
from bitrawl.corpus import CorpusHeader, formats
from bitrawl.corpus.export import export
from bitrawl.endings import Ending
from bitrawl.errors import ConfigError
from bitrawl.protocols import StrategyInputs
from bitrawl.strategies import strategy

MODULE = """
from contextlib import contextmanager

from bitrawl.corpus.formats import CorpusFormat, Part
from bitrawl.files import replacing
from bitrawl.model import Advice, TranslationUnit
from bitrawl.packages import Verb


@contextmanager
def shouted(folder, header, *, compress=False):
    with replacing(folder / header.file_name("shout", compress=compress), compress=compress) as file:
        yield lambda unit: file.write(f"{unit.pair.a.text.upper()}\\t{unit.pair.b.text.upper()}\\n".encode())


class Backwards:
    def __init__(self, inputs):
        self.languages = inputs.languages

    def score(self, links, found_on, site):
        return [1 / (1 + len(link.url)) for link in links]

    def learn(self, visit, site):
        pass

    def advise(self, site):
        return Advice()


def whisper(texts: list[str]):
    print(" ".join(texts).lower())


WHISPER = Verb("shouting:whisper", "Print texts in small letters.")
SHOUT = CorpusFormat(pairs=(Part(shouted, (TranslationUnit,), ("{name}.shout{gz}",)),))
"""
Command = Callable[..., tuple[int, str, str]]
ENTRIES = """
[bitrawl.exporters]
shout = shouting:SHOUT
[bitrawl.strategies]
backwards = shouting:Backwards
[bitrawl.verbs]
whisper = shouting:WHISPER
"""
CACHED = (packages_of._added, formats._of_package, cli.verbs)


def install(folder: Path, entries: str = ENTRIES, module: str = MODULE, name: str = "bitrawl-shouting") -> None:
    """A package as pip leaves it in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "shouting.py").write_text(module)
    about = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(entries)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where packages are installed, for this process and for those that it starts."""
    folder = tmp_path / "packages"
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]))
    for cached in CACHED:
        cached.cache_clear()
    yield folder
    for cached in CACHED:
        cached.cache_clear()
    sys.modules.pop("shouting", None)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "bitrawl", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_a_job_uses_the_format_and_the_strategy_of_a_package_from_its_first_visit_to_its_corpus(
    packages: Path, tmp_path: Path, bitrawl: Command
):
    install(packages)
    out = tmp_path / "job"

    async def mine() -> Ending:
        async with demo.serve() as web:
            settings = {"connect_to": f"*.test={demo.LOOPBACK}:{web.port}", "allow_private": True, "delay": 0}
            chosen = {"strategy": "backwards", "formats": "shout, tmx", "max_pages": 30, "workers": 1}
            seeds = "http://www.wend-gazette.test/"
            return (await aio.mine(seeds, langs="en,fr", out=out, **settings, **chosen)).ending

    assert asyncio.run(mine()) is Ending.DONE
    assert config.read(out / "job.toml")["strategy"] == "backwards"
    first, *_ = (out / "corpus/en-fr.shout").read_text("utf-8").splitlines()
    assert first == first.upper()
    again = run("export", out, "--formats", "SHOUT", "--only", "--compress")
    assert again.returncode == 0, again.stderr
    assert {path.name for path in (out / "corpus").glob("en-fr.*")} == {"en-fr.shout.gz"}
    assert bitrawl("status", out)[0] == 0
    archives = (out / "warc").glob("*.gz")
    code, told, errors = bitrawl("simulate", *archives, "--langs", "en,fr", "--strategies", "backwards,adaptive")
    assert code == 0, errors
    assert "backwards" in told


def test_the_help_names_what_packages_add_and_loads_nothing_of_it(packages: Path):
    install(packages, module="raise SystemExit('loaded')")
    said = " ".join(run("mine", "--help-all").stdout.split())
    assert "backwards" in said
    assert "documents-parquet, shout; for one" in said.replace("│ ", "").replace(" │", "")


def test_a_verb_of_a_package_is_listed_after_ours_and_run(packages: Path, bitrawl: Command):
    install(packages)
    *_, simulate, whisper = [line for line in bitrawl("--help")[1].splitlines() if line.startswith("│ ")]
    assert "simulate" in simulate
    assert "whisper    Print texts in small letters." in whisper
    assert bitrawl("whisper", "Some", "WORDS") == (0, "some words\n", "")
    assert "Did you mean 'whisper'?" in bitrawl("whispr")[2]


def test_a_broken_verb_is_named_where_it_is_used_and_keeps_no_other_from_its_work(packages: Path, bitrawl: Command):
    install(packages, module="WHISPER = 1")
    code, told, errors = bitrawl("whisper")
    assert (code, told) == (2, "")
    assert "the verb 'whisper' of the package bitrawl-shouting is not a bitrawl.packages.Verb" in errors
    code, told, _ = bitrawl("--help")
    assert code == 0
    assert "whisper" not in told


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["simulate", "a.warc.gz"], "verb 'simulate'"),
        (
            ["crawl", "https://a.test/", "--langs", "en,fr", "--out", "a", "--strategy", "url-models"],
            "strategy 'url-models'",
        ),
    ],
)
def test_what_is_missing_where_bitrawl_is_not_installed_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, packages: Path, bitrawl: Command, arguments: list[str], kind: str
):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    monkeypatch.chdir(tmp_path)
    code, _, errors = bitrawl(*arguments)
    assert code == 2
    assert f"nothing that is installed adds the {kind}. If it is one of bitrawl's own, install bitrawl again" in errors


BROKEN = [
    ("import nothing_of_that_name", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
    ("SHOUT = Backwards = 1", "is not a bitrawl.corpus.formats.CorpusFormat"),
    (MODULE.replace('"{name}.shout{gz}"', '"{name}.tmx{gz}"'), "may not write {name}.tmx{gz}"),
    (MODULE.replace('"{name}.shout{gz}"', '"notes.txt"'), "may not write notes.txt"),
    (MODULE.replace('"{name}.shout{gz}"', '"../{name}.shout"'), "may not write ../{name}.shout"),
    (MODULE.replace('"{name}.shout{gz}"', '"{name}.{x}"'), "may not write {name}.{x}"),
    (MODULE.replace("(TranslationUnit,)", "(str,)"), "is not a bitrawl.corpus.formats.CorpusFormat"),
]


@pytest.mark.parametrize(
    ("module", "says"), BROKEN, ids=["import", "kind", "taken file", "any file", "elsewhere", "unknown mark", "takes"]
)
def test_a_broken_package_is_named_before_anything_is_fetched_and_only_where_it_is_used(
    packages: Path, tmp_path: Path, bitrawl: Command, module: str, says: str
):
    install(packages, module=module)
    asked = ("https://site.test/", "--langs", "en,fr", "--out", tmp_path / "job")
    code, _, errors = bitrawl("mine", *asked, "--formats", "shout")
    told = " ".join(errors.split())
    assert code == 2
    assert "the format 'shout' of the package bitrawl-shouting" in told
    assert says in told
    assert "Traceback" not in told
    assert not (tmp_path / "job").exists()
    assert config.resolve({"langs": ["en", "fr"], "warc": [str(tmp_path)], "export": {"formats": ["shout"]}})
    assert "shout" not in formats.FORMATS.parts(2)


def test_a_broken_strategy_is_named(packages: Path, tmp_path: Path):
    install(packages, module="def Backwards(inputs):\n    return 1 / 0")
    asked = ("crawl", "https://site.test/", "--langs", "en", "--out", tmp_path / "job", "--strategy", "backwards")
    refused = run(*asked)  # its flags know the names of strategies from their start
    told = " ".join(refused.stderr.split())
    assert refused.returncode == 2
    assert "the strategy 'backwards' of the package bitrawl-shouting fails: ZeroDivisionError" in told
    assert "Traceback" not in told


def test_an_exporter_that_fails_is_named_and_leaves_nothing(packages: Path, tmp_path: Path):
    install(packages, module=MODULE.replace("yield lambda unit: file.write(f", "raise KeyError('no'); yield str(f"))
    with pytest.raises(ConfigError, match=r"'shout' of the package bitrawl-shouting fails: KeyError: 'no'; repair"):
        export(tmp_path / "corpus", CorpusHeader(("en", "fr"), 0.0), ["tmx", "shout"], [])
    assert not list(tmp_path.glob("corpus/*"))


def test_a_name_that_is_taken_is_refused_where_it_is_used(packages: Path):
    install(
        packages, "[bitrawl.exporters]\ntmx = shouting:SHOUT\n\n[bitrawl.strategies]\nadaptive = shouting:Backwards\n"
    )
    with pytest.raises(ConfigError, match="the package bitrawl-shouting adds a format 'tmx', but bitrawl has one"):
        formats.FORMATS.of("tmx")
    with pytest.raises(ConfigError, match="the package bitrawl-shouting adds a strategy 'adaptive', but bitrawl has"):
        strategy("adaptive", StrategyInputs(["en"]))
    assert config.resolve({"langs": ["en", "fr"], "seeds": ["https://site.test/"]}).strategy == "adaptive"
    assert formats.FORMATS.of("tsv").pairs


def test_two_packages_with_one_name_are_both_named(packages: Path):
    install(packages)
    install(packages, name="bitrawl-crying")
    with pytest.raises(ConfigError, match="bitrawl-crying and bitrawl-shouting add a format 'shout' each"):
        formats.FORMATS.of("shout")
