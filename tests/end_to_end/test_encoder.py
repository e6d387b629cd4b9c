"""A job that names a sentence encoder; a module of a few lines stands in for sentence-transformers."""

from pathlib import Path

import pytest
from prose_site import job_folder
from small_site import EN, FR
from typer.testing import CliRunner

from bitrawl import config
from bitrawl.cli import app
from bitrawl.errors import ConfigError
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings

STAND_IN = """
from prose_site import WordEncoder

class SentenceTransformer(WordEncoder):
    def __init__(self, model):
        if model != "words":
            raise OSError(f"there is no model {model}")
        super().__init__()

    def encode(self, texts, **options):
        return super().encode(texts)
"""

run = CliRunner().invoke


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "sentence_transformers.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(folder)  # the process that mines has the same path


def paired(folder: Path) -> set[tuple[str, str]]:
    ledger = Ledger(folder / "job.sqlite", read_only=True)
    found = {(str(pair.url_a), str(pair.url_b)) for pair in Findings(ledger).pairs(EN, FR)}
    ledger.close()
    return found


@pytest.mark.usefixtures("stand_in")
def test_an_encoder_is_asked_for_by_one_option_and_switched_off_by_none(tmp_path):
    pairs = job_folder(tmp_path, 12)
    assert run(app, ["pair", str(tmp_path), "--encoder", "words"], catch_exceptions=False).exit_code == 0
    assert paired(tmp_path) == pairs
    assert 'encoder = "words"' in (tmp_path / "job.toml").read_text()
    assert run(app, ["pair", str(tmp_path), "--encoder", ""], catch_exceptions=False).exit_code == 0
    assert 'encoder = "words"' not in (tmp_path / "job.toml").read_text()
    assert paired(tmp_path) <= pairs  # what the words that ship tell


@pytest.mark.usefixtures("stand_in")
def test_an_encoder_that_cannot_be_had_stops_the_job_before_it_fetches(tmp_path):
    out = tmp_path / "job"
    asked = ["mine", "http://s.test/", "--langs", "en,fr", "--out", str(out), "--encoder", "nowhere", "--quiet"]
    fault = run(app, asked).exception
    assert isinstance(fault, ConfigError)
    assert "there is no model nowhere" in str(fault)
    assert not run(app, ["log", str(out)]).stdout.strip()


@pytest.mark.usefixtures("stand_in")
def test_sentences_are_aligned_by_an_encoder(tmp_path):
    (tmp_path / "a.txt").write_text("The boat opens.\nOld stone.\nRed bread, green salt.\nThe king sings.\n")
    (tmp_path / "b.txt").write_text(
        "Le bateau ouvre.\nSous jardin, cheval.\nVieux pierre.\nRouge pain, vert sel.\nLe roi chante.\n"
    )
    asked = ["align", "--langs", "en,fr", "--encoder", "words", str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    done = run(app, asked, catch_exceptions=False)
    assert [line.split("\t")[:2] for line in done.stdout.splitlines()] == [
        ["0", "0"], ["", "1"], ["1", "2"], ["2", "3"], ["3", "4"]
    ]  # fmt: skip
    fault = run(app, [*asked, "--dictionary", str(tmp_path / "a.txt")]).exception
    assert isinstance(fault, ConfigError)


@pytest.mark.parametrize("made", [True, False])
def test_a_folder_is_known_by_its_whole_path_and_a_name_stays(tmp_path, monkeypatch, made):
    monkeypatch.chdir(tmp_path)
    if made:
        Path("some").mkdir()
    job = config.resolve({"langs": ["en", "fr"], "seeds": ["http://s.test/"], "encoder": "some"})
    assert job.encoder == (str(tmp_path / "some") if made else "some")
