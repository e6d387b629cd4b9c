"""The commands that make and take transformers for URLs."""

import random
from pathlib import Path

import pytest
from neural.test_url_transformer import WORDS, address
from neural.tiny_xlm import save_base
from typer.testing import CliRunner

from bitrawl.cli import app
from bitrawl.urls import load_pair_transformer
from bitrawl.urls.transformers import load_language_transformer, url_text
from lab.train.__main__ import app as train

run = CliRunner().invoke


@pytest.fixture
def base(tmp_path: Path) -> str:
    return save_base(tmp_path / "base", [url_text(f"http://site.test/{'/'.join(WORDS['en'])}")])


def test_a_model_of_languages_is_fine_tuned(base: str, tmp_path: Path):
    rng = random.Random(1)
    lines = [f"{address(rng, site, code)}\t{code}" for site in range(10) for code in WORDS]
    (tmp_path / "data.tsv").write_text("\n".join(lines))
    options = ["--data", str(tmp_path / "data.tsv"), "--out", str(tmp_path / "model"), "--base", base]
    done = run(train, ["url-language-transformer", *options])
    assert done.exit_code == 0
    assert "macro F1" in done.stdout
    assert load_language_transformer(str(tmp_path / "model")).languages == ("de", "en", "fr", "und")


def test_a_model_of_pairs_is_fine_tuned(base: str, tmp_path: Path):
    rng = random.Random(2)
    lines = [f"{address(rng, site, 'en')}\t{address(rng, site, 'fr')}" for site in range(10)]
    (tmp_path / "data.tsv").write_text("\n".join(lines))
    options = ["--data", str(tmp_path / "data.tsv"), "--out", str(tmp_path / "model"), "--base", base]
    done = run(train, ["url-pairs-transformer", *options])
    assert done.exit_code == 0
    load_pair_transformer(str(tmp_path / "model"))


def test_a_crawl_with_a_model_that_cannot_be_loaded_is_refused_before_anything_is_written(base: str, tmp_path: Path):
    job = tmp_path / "job.toml"
    job.write_text(f'langs = ["en", "fr"]\nseeds = ["http://x.test/"]\nurl_language_model = "{base}"\n')
    done = run(app, ["crawl", "--job", str(job), "--out", str(tmp_path / "job")])
    assert "not trained to classify" in str(done.exception)
    assert not (tmp_path / "job").exists()
