"""A corpus folder is a data set as it lies there. tests/formats asks the libraries themselves (`make test-formats`)."""

import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from written_corpora import TEXTS, CorpusFolder, written_corpora

from bitrawl import files
from bitrawl.errors import ConfigError
from bitrawl.job.running import export_copy
from bitrawl.store.folder import JobFolder


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CorpusFolder]:
    return written_corpora(tmp_path_factory.mktemp("corpora"))


def header_of(folder: Path) -> dict[str, object]:
    _, header, _ = (folder / "README.md").read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(header)


def rows_of(path: Path, config: dict[str, object]) -> list[dict[str, object]]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    content = path.read_bytes()
    lines = (gzip.decompress(content) if path.suffix == ".gz" else content).decode().removesuffix("\n").split("\n")
    if ".tsv" in path.name:
        names = lines[0].split(config["sep"])
        return [dict(zip(names, line.split(config["sep"]), strict=True)) for line in lines[1:]]
    if ".txt" in path.name:
        return [{"text": line} for line in lines]
    return [json.loads(line) for line in filter(None, lines)]


def test_each_configuration_names_a_file_that_is_there_with_the_columns_and_rows_that_the_header_tells(corpora):
    for shape, corpus in corpora.items():
        header = header_of(corpus.folder)
        configs = {config["config_name"]: config for config in header["configs"]}
        columns = {
            info["config_name"]: [feature["name"] for feature in info["features"]] for info in header["dataset_info"]
        }
        assert set(configs) == set(columns) == set(corpus.rows), shape
        for name, config in configs.items():
            (path,) = corpus.folder.glob(config["data_files"])
            rows = rows_of(path, config)
            assert len(rows) == corpus.rows[name], (shape, name)
            # A key that a line of JSON lacks is nothing in its column.
            assert all(set(row) <= set(columns[name]) for row in rows), (shape, name)
            if path.suffix != ".gz" and ".jsonl" not in path.name and rows:
                assert list(rows[0]) == columns[name], (shape, name)


def test_all_configurations_of_a_folder_are_files_of_one_kind(corpora):
    """`datasets` reads a folder with one reader."""
    for shape, corpus in corpora.items():
        names = [config["data_files"].removesuffix(".gz") for config in header_of(corpus.folder)["configs"]]
        assert len({Path(name).suffix for name in names}) == 1, shape


def test_a_file_of_somebody_else_is_never_replaced_by_the_card(corpora, tmp_path):
    job = JobFolder(corpora["as mine writes it"].folder.parent)
    files.write(tmp_path / "README.md", "# My thesis\n")
    with pytest.raises(ConfigError, match=r"would overwrite: README\.md"):
        export_copy(job.job(), job, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "# My thesis\n"


def test_texts_that_stand_for_nothing_elsewhere_are_texts(corpora):
    folder = corpora["export --to, Parquet"].folder
    assert {row["text_a"] for row in pq.read_table(folder / "en-fr.parquet").to_pylist()} > {a for a, _ in TEXTS[:6]}
