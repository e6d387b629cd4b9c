"""The extra `neural` with a model that sentence-transformers itself has saved, loads and runs."""

import asyncio
import json

import numpy as np
import pytest
from neural.tiny_model import save_model
from prose_site import job_folder, prose
from small_site import EN, FR, WORDS
from typer.testing import CliRunner

from bitrawl import config
from bitrawl.cli import app
from bitrawl.errors import ConfigError
from bitrawl.job.running import mine_again
from bitrawl.mining.align_evidence import Document
from bitrawl.mining.embedding_aligner import EmbeddingAligner
from bitrawl.mining.pairing import Pairing
from bitrawl.store.folder import JobFolder
from bitrawl.text.encoder import load_encoder

run = CliRunner().invoke


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_model(tmp_path_factory.mktemp("tiny"), WORDS)


def test_a_model_is_loaded_by_its_path_and_knows_translations(model):
    rows = load_encoder(model).encode(["the old harbour", "le vieux port", "the red bread", "", "\ud800"])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1)[:4].tolist() == pytest.approx([1, 1, 1, 0], abs=1e-5)
    assert rows[0] @ rows[1] > 0.9 > rows[0] @ rows[2] + 0.3


@pytest.mark.parametrize("content", [None, "{}"])
def test_a_folder_without_a_model_is_a_fault_that_names_the_fix(tmp_path, content):
    folder = tmp_path / "model"
    if content is not None:
        folder.mkdir()
        (folder / "config.json").write_text(content)
    with pytest.raises(ConfigError, match="sentence-transformers/LaBSE"):
        load_encoder(str(folder))


def test_it_aligns(model):
    a = ["The boat opens.", "The king sees the storm and the snow.", "Old stone."]
    b = ["Le bateau ouvre.", "Le roi voit le tempête.", "Et le neige.", "Cheval, roue, verre, sel.", "Vieux pierre."]
    beads = EmbeddingAligner(load_encoder(model)).align_documents([Document.plain(a, b, (EN, FR))])[0]
    assert [(bead.a, bead.b) for bead in beads] == [((0,), (0,)), ((1,), (1, 2)), ((), (3,)), ((2,), (4,))]


def test_it_pairs_what_nothing_else_tells_apart(model):
    pages, pairs = prose(20)
    result = Pairing(encoder=load_encoder(model)).pairs(pages, [EN, FR])
    assert {(str(pair.url_a), str(pair.url_b)) for pair in result.pairs} == pairs


def test_a_job_with_an_encoder_pairs_and_aligns_in_its_own_process(model, tmp_path):
    pairs = job_folder(tmp_path, 20)
    job = config.resolve(config.read(tmp_path / "job.toml") | {"encoder": model})
    asyncio.run(mine_again(job, JobFolder(tmp_path)))
    documents = [json.loads(line) for line in (tmp_path / "corpus" / "en-fr.documents.jsonl").read_text().splitlines()]
    assert {(line["url_a"], line["url_b"]) for line in documents} == pairs
    units = [json.loads(line) for line in (tmp_path / "corpus" / "en-fr.sentences.jsonl").read_text().splitlines()]
    assert len(units) > 300


def test_the_command_aligns_two_files_with_it(model, tmp_path):
    (tmp_path / "a.txt").write_text("The boat opens.\nOld stone.\n")
    (tmp_path / "b.txt").write_text("Le bateau ouvre.\nSous le jardin.\nVieux pierre.\n")
    files = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    done = run(app, ["align", "--langs", "en,fr", "--encoder", model, *files])
    assert [line.split("\t")[:2] for line in done.stdout.splitlines()] == [["0", "0"], ["", "1"], ["1", "2"]]
