"""What bitrawl writes, as the libraries read it that people use: datasets, pandas, polars and translate-toolkit."""

import csv
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from datasets import get_dataset_config_names, load_dataset
from translate.storage.factory import getobject
from written_corpora import TEXTS, UNITS, CorpusFolder

from bitrawl.corpus import TermFormat, TermPair, write_terms
from bitrawl.corpus.term_pairs import TermExample
from bitrawl.files import from_cell
from bitrawl.model import Language
from bitrawl.url import Url

Corpora = dict[str, CorpusFolder]
PAIRS = {("Tea", "Thé")} | set(TEXTS[:-2])
FILES = {
    "en-fr.parquet": "export --to, Parquet",
    "en-fr.sentences.jsonl": "as mine writes it",
    "en-fr.sentences.jsonl.gz": "export --to, compressed JSONL",
    "en-fr.tsv": "as mine writes it",
    "en-fr.tsv.gz": "export --to, compressed TSV",
}
AS_WRITTEN = {"sep": "\t", "quoting": csv.QUOTE_NONE, "keep_default_na": False}


def test_load_dataset_loads_the_folder_as_it_lies_there(corpora: Corpora, tmp_path: Path):
    for shape, corpus in corpora.items():
        assert set(get_dataset_config_names(str(corpus.folder))) == set(corpus.rows), shape
        for name, rows in corpus.rows.items():
            if not rows:
                with pytest.raises(ValueError, match="no data"):  # says `datasets`, and it is so
                    load_dataset(str(corpus.folder), name, cache_dir=str(tmp_path))
                continue
            loaded = load_dataset(str(corpus.folder), name, cache_dir=str(tmp_path))
            assert set(loaded) == {"train"}
            units = loaded["train"]
            assert units.num_rows == rows, (shape, name)
            if "text_a" in units.column_names and name == "en-fr":
                assert {from_cell(text) for text in units["text_a"]} == {a for a, _ in PAIRS}, shape


def test_the_same_columns_and_types_come_from_json_and_from_parquet(corpora: Corpora, tmp_path: Path):
    names = ("export --to, Parquet", "as mine writes it", "export --to, compressed JSONL", "merged, parquet")
    loaded = [load_dataset(str(corpora[name].folder), "en-fr", cache_dir=str(tmp_path)) for name in names]
    first = loaded[0]["train"]
    assert all(other["train"].features == first.features for other in loaded)
    assert loaded[1]["train"]["scores"][:] == first["scores"][:]


@pytest.mark.parametrize("name", FILES)
def test_pandas_reads(corpora: Corpora, name: str):
    path = corpora[FILES[name]].folder / name
    if ".parquet" in name:
        frame = pd.read_parquet(path)
    else:
        frame = pd.read_json(path, lines=True, dtype={"text_a": str, "text_b": str}) if ".jsonl" in name else None
        frame = pd.read_csv(path, **AS_WRITTEN) if frame is None else frame
    texts = zip(map(from_cell, frame["text_a"]), map(from_cell, frame["text_b"]), strict=True)
    assert set(texts) == PAIRS
    assert set(frame["score"]) == {0.9}


@pytest.mark.parametrize("name", FILES)
def test_polars_reads(corpora: Corpora, name: str):
    path = corpora[FILES[name]].folder / name
    if ".parquet" in name:
        frame = pl.read_parquet(path)
    elif ".jsonl" in name:
        frame = pl.read_ndjson(path, infer_schema_length=None)
    else:
        frame = pl.read_csv(path, separator="\t", quote_char=None)
    rows = zip(map(from_cell, frame["text_a"]), map(from_cell, frame["text_b"]), strict=True)
    assert set(rows) == PAIRS
    assert set(frame["score"]) == {0.9}


def test_translate_toolkit_reads_the_tmx(corpora: Corpora):
    for name, shape in (("en-fr.tmx", "as mine writes it"), ("en-fr.tmx.gz", "export --to, compressed JSONL")):
        units = getobject(str(corpora[shape].folder / name)).units
        assert {(unit.source, unit.target) for unit in units} == PAIRS, name
        assert len(units) == UNITS


def test_translate_toolkit_reads_the_terms(tmp_path: Path):
    example = TermExample("Salt & tide.", "Sel et marée.", Url.parse("https://a.org/"), Url.parse("https://a.org/fr"))
    terms = [TermPair(Language("en"), Language("fr"), "tide <b>", "marée", 0.9, 50.0, 3, 3, 3, (example,))]
    (tmp_path / "terms.tbx").write_bytes(write_terms(terms, TermFormat.TBX))
    (unit,) = getobject(str(tmp_path / "terms.tbx")).units
    assert (unit.source, unit.target) == ("tide <b>", "marée")


@pytest.mark.parametrize("name", ["documents", "documents in Parquet"])
def test_datasets_loads_page_pairs_with_their_texts(corpora: Corpora, tmp_path: Path, name: str):
    folder = str(corpora[f"export --to, {name}"].folder)
    pairs = load_dataset(folder, "en-fr-documents", cache_dir=str(tmp_path))["train"]
    assert {p["text"] for row in pairs["paragraphs_a"] for p in row} == {a for a, _ in TEXTS}
    assert {unit for row in pairs["links"] for link in row for unit in link["units"]} == set(range(1, UNITS + 1))


def test_each_file_of_moses_has_a_line_for_each_unit(corpora: Corpora):
    folder = corpora["export --to, TSV"].folder
    sides = [pd.read_csv(folder / f"en-fr.{side}", header=None, **AS_WRITTEN)[0] for side in ("en", "fr")]
    assert set(zip(*sides, strict=True)) == PAIRS
