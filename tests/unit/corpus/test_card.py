import hashlib
import re
from typing import Any

import msgspec
import pytest
import yaml

from bitrawl.corpus.card import card, licence, size_category
from bitrawl.corpus.figures import CardFacts, CorpusFacts, FileFacts, LanguageFigures, Origin, file_facts
from bitrawl.corpus.jsonl import DOCUMENTS, SENTENCES
from bitrawl.model import Method

EN_FR = CorpusFacts(
    name="en-fr",
    sides=(LanguageFigures("en", 10, 1200, 24_000, 130_000), LanguageFigures("fr", 10, 1200, 27_000, 150_000)),
    document_pairs=10,
    units=1200,
    occurrences=1500,
    near_duplicates=25,
    methods={"a": 7, "u": 9, "h": 3},
    flags={"different numbers in TUVs": 12},
    rejected={"score": 30},
    files=(
        FileFacts("en-fr.tmx", 12_345, "ab12"),
        FileFacts("en-fr.sentences.jsonl.gz", 6_000, "cd34"),
        FileFacts("xces/en-fr", 99, "ef56", members=30),
    ),
)
EMPTY = CorpusFacts(name="en-fr", sides=(LanguageFigures("en"), LanguageFigures("fr")))
FACTS = CardFacts(
    at=1_800_000_000.0,
    versions={"bitrawl": "0.1.0", "python": "3.11.9"},
    corpora=(EN_FR,),
    first_fetch=1_799_900_000.0,
    last_fetch=1_799_990_000.0,
    sites={"example.org": 15, "exemple.fr": 5},
    thresholds={"score": 0.3, "words": 1, "types": (), "refuse": ("code", "url"), "duplicates": False},
    licences={"https://creativecommons.org/licenses/by/4.0/": 4},
    opt_outs=2,
    robots=1,
    job='langs = ["en", "fr"]\n',
)


@pytest.mark.parametrize(
    "said",
    [
        "# Parallel web corpus, English (en) and French (fr)",
        "1,200 translation units in 10 page pairs from 20 pages of 2 sites, written by bitrawl 0.1.0 on 2027-01-15.",
        "| fr | 10 | 1,200 | 27,000 | 150,000 |",
        "found 1,500 times",
        "25 that differ only in case, punctuation or spaces",
        "1,200 translation units in 10 page pairs.",
        "| example.org | 15 |",
        "Fetched from 2027-01-14 to 2027-01-15.",
        "| https://creativecommons.org/licenses/by/4.0/ | 4 |",
        "Without a licence statement: 16 pages",
        "Left out because the site opts out of text and data mining: 2 pages",
        "Not followed because robots.txt forbids it: 1 link",
        "| a: declared translations: hreflang, sitemaps, language switchers | 7 |",
        "| score | 0.3 |",
        "| types | \\[] |",
        '| refuse | \\["code", "url"] |',
        "| duplicates | false |",
        "Crawled with respect for robots.txt",
        "| score | 30 |",
        "| different numbers in TUVs | 12 |",
        '```toml\nlangs = ["en", "fr"]\n```',
        "| en-fr.tmx | 12,345 | ab12 |",
        "| xces/en-fr/ (30 files) | 99 | ef56 |",
        "The checksum of a folder is the checksum of what `sha256sum *` prints in it.",
        "bitrawl 0.1.0, python 3.11.9",
    ],
)
def test_the_card_says(said):
    assert said in card(FACTS)


def test_one_language_is_a_monolingual_corpus():
    corpus = CorpusFacts(name="fr", sides=(LanguageFigures("fr", 3, 40, 800, 5000),))
    text = card(CardFacts(at=0.0, versions={"bitrawl": "1"}, corpora=(corpus,), sites={"a.fr": 3}))
    assert "# Monolingual web corpus, French (fr)" in text
    assert "3 documents from 3 pages of 1 site" in text
    assert "| language | documents | paragraphs | words | characters |" in text
    assert "| fr | 3 | 40 | 800 | 5,000 |" in text
    assert "translation unit" not in text


def test_several_pairs_of_languages_have_a_section_each_and_the_job_once():
    english_german = CorpusFacts(
        name="en-de", sides=(LanguageFigures("en", 5, 7), LanguageFigures("de", 5, 7)), document_pairs=5, units=7
    )
    text = card(msgspec.structs.replace(FACTS, corpora=(EN_FR, english_german)))
    assert "# Parallel web corpus, English (en), French (fr) and German (de)" in text
    assert "1,207 translation units in 15 page pairs from 20 pages of 2 sites" in text
    assert text.index("## English and French (en-fr)") < text.index("## English and German (en-de)")
    assert text.count("### Contents") == 2
    assert text.count("## Licences") == text.count("```toml") == text.count("# Parallel") == 1


@pytest.mark.parametrize(
    ("origin", "said", "unsaid"),
    [
        (Origin.CRAWL, ["Crawled with respect for robots.txt.", "Fetched from"], "archive"),
        (Origin.REPLAY, ["Crawled in web archives (WARC)", "Archived from 2027-01-14"], "Fetched"),
        (Origin.ARCHIVE, ["Taken from web archives (WARC)", "Archived from 2027-01-14"], "robots.txt"),
    ],
)
def test_what_comes_from_archives_is_not_said_to_be_fetched(origin, said, unsaid):
    text = card(msgspec.structs.replace(FACTS, origin=origin))
    assert all(words in text for words in said)
    assert unsaid not in text


def test_every_method_has_its_words():
    assert all(method.label and method.meaning and method.statement and method.measured for method in Method)


def test_an_empty_corpus_has_a_card_without_empty_sections():
    text = card(CardFacts(at=0.0, versions={}, corpora=(EMPTY,)))
    assert "0 translation units" in text
    assert not re.search(r"^## .*\n\n(?:##|\Z)", text, re.MULTILINE)


def test_what_pages_say_brings_no_markup_and_breaks_no_table():
    hostile = "All | rights\n# reserved <script>alert(1)</script> [x](javascript:1) `\ud800" + "x" * 5000
    text = card(CardFacts(at=0.0, versions={}, corpora=(EMPTY,), licences={hostile: 3}))
    (row,) = [line for line in text.splitlines() if "rights" in line]
    assert row.startswith("| All \\| rights # reserved &lt;script>")
    assert row.endswith("… | 3 |")
    assert "](" not in row.replace("\\[x](", "")
    text.encode()


def test_a_long_list_of_sites_is_summed_up():
    sites = {f"site{n:03}.org": 1000 - n for n in range(120)}
    text = card(CardFacts(at=0.0, versions={}, corpora=(EMPTY,), sites=sites))
    assert f"| (70 more) | {sum(range(881, 951)):,} |" in text
    assert "site050.org" not in text


def header_of(text: str) -> dict[str, Any]:
    """Between the dashes, as readers of YAML find it."""
    first, mark, *lines = text.splitlines()
    assert (first, mark) == ("---", "# written by bitrawl")
    return yaml.safe_load("\n".join(lines[: lines.index("---")]))


def test_the_header_has_the_types_of_the_columns_for_readers_that_must_not_guess():
    (info,) = header_of(card(FACTS))["dataset_info"]
    columns = {feature.pop("name"): feature for feature in info["features"]}
    assert info["config_name"] == "en-fr"
    assert list(columns) == [column.name for column in SENTENCES]
    assert (columns["score"], columns["flags"]) == ({"dtype": "float64"}, {"sequence": "string"})
    assert columns["scores"]["struct"][0] == {"name": "length_ratio", "dtype": "float64"}
    assert columns["sources"]["list"][0] == {"name": "url_a", "dtype": "string"}


def test_the_card_begins_with_the_header_of_a_hugging_face_dataset():
    header = header_of(card(FACTS))
    (checksum,) = [file.sha256 for file in EN_FR.files if "sentences" in file.name]
    del header["dataset_info"]
    assert header == {
        "pretty_name": "Parallel web corpus, English (en) and French (fr)",
        "language": ["en", "fr"],
        "multilinguality": ["translation"],
        "task_categories": ["translation"],
        "license": "other",
        "size_categories": ["1K<n<10K"],
        "configs": [
            {
                "config_name": "en-fr",
                "data_files": "en-fr.sentences.jsonl.gz",
                "description": f"sha256 {checksum}",
            }
        ],
    }


def test_two_corpora_with_other_units_have_other_headers():
    """`datasets` takes folders with one name and one header for one corpus, and loads the first from its cache."""
    files = [msgspec.structs.replace(file, sha256=file.sha256[::-1] + "0") for file in EN_FR.files]
    other = msgspec.structs.replace(FACTS, corpora=(msgspec.structs.replace(EN_FR, files=tuple(files)),))
    assert header_of(card(other)) != header_of(card(FACTS))


def test_parquet_is_loaded_where_there_is_and_each_pair_of_languages_is_a_configuration():
    taiwan = CorpusFacts(
        name="en-zh-Hant",
        sides=(LanguageFigures("en"), LanguageFigures("zh-Hant")),
        files=(FileFacts("en-zh-Hant.sentences.jsonl"), FileFacts("en-zh-Hant.parquet")),
    )
    no_data = CorpusFacts(
        name="fr-zh-Hant",
        sides=(LanguageFigures("fr"), LanguageFigures("zh-Hant")),
        files=(FileFacts("fr-zh-Hant.tmx"),),
    )
    header = header_of(card(msgspec.structs.replace(FACTS, corpora=(EN_FR, taiwan, no_data))))
    assert {config["config_name"]: config["data_files"] for config in header["configs"]} == {
        "en-fr": "en-fr.sentences.jsonl.gz",
        "en-zh-Hant": "en-zh-Hant.parquet",
    }
    assert (header["language"], header["language_bcp47"]) == (["en", "fr", "zh"], ["zh-Hant"])


def test_the_header_of_one_language_names_its_documents():
    corpus = CorpusFacts(
        name="fr",
        sides=(LanguageFigures("fr", 3),),
        files=(FileFacts("fr.txt"), FileFacts("fr.ids"), FileFacts("fr.documents.jsonl")),
    )
    header = header_of(card(CardFacts(at=0.0, versions={}, corpora=(corpus,))))
    assert (header["multilinguality"], header["task_categories"]) == (["monolingual"], ["text-generation"])
    assert (header["license"], header["size_categories"]) == ("unknown", ["n<1K"])
    assert header["configs"][0]["data_files"] == "fr.documents.jsonl"
    columns = [feature["name"] for feature in header["dataset_info"][0]["features"]]
    assert columns == [column.name for column in DOCUMENTS]


@pytest.mark.parametrize(
    ("formats", "loaded"),
    [
        (("parquet", "texts.jsonl"), ["en-fr.parquet"]),
        (("parquet", "sentences.jsonl", "texts.jsonl.gz"), ["en-fr.sentences.jsonl", "en-fr.texts.jsonl.gz"]),
        (("parquet", "sentences.jsonl", "texts.jsonl", "texts.parquet"), ["en-fr.parquet", "en-fr.texts.parquet"]),
        (("tsv", "tmx"), ["en-fr.tsv"]),
    ],
)
def test_all_that_a_folder_loads_is_for_one_reader_and_the_one_that_loads_most(formats, loaded):
    corpus = msgspec.structs.replace(EN_FR, files=tuple(FileFacts(f"en-fr.{ending}") for ending in formats))
    header = header_of(card(msgspec.structs.replace(FACTS, corpora=(corpus,))))
    assert [config["data_files"] for config in header["configs"]] == loaded


BY, BY_SA = "https://creativecommons.org/licenses/by/4.0/", "http://creativecommons.org/licenses/by-sa/3.0/deed.fr"


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        ({}, "unknown"),
        ({BY: 10}, "cc-by-4.0"),
        ({BY: 6, "CC BY: https://creativecommons.org/licenses/by/4.0/legalcode": 4}, "cc-by-4.0"),
        ({BY_SA: 10}, "cc-by-sa-3.0"),
        ({"https://creativecommons.org/publicdomain/zero/1.0/": 10}, "cc0-1.0"),
        ({BY: 9}, "other"),
        ({BY: 5, BY_SA: 5}, "other"),
        ({"All rights reserved": 10}, "other"),
        ({"https://creativecommons.org/licenses/by-nd-nc/1.0/": 10}, "other"),
    ],
)
def test_the_licence_of_a_corpus_is_the_one_that_all_of_its_ten_pages_state(stated, name):
    assert licence(stated, pages=10) == name


@pytest.mark.parametrize(
    ("count", "name"),
    [
        (0, "n<1K"),
        (999, "n<1K"),
        (1000, "1K<n<10K"),
        (9_999, "1K<n<10K"),
        (10_000, "10K<n<100K"),
        (1_000_000, "1M<n<10M"),
        (10**15, "100B<n<1T"),
    ],
)
def test_the_hub_counts_in_powers_of_ten(count, name):
    assert size_category(count) == name


def test_files_have_the_checksums_that_sha256sum_prints(tmp_path):
    (tmp_path / "a.tmx").write_bytes(b"abc")
    (tmp_path / "xces").mkdir()
    (tmp_path / "xces" / "en-2.xml").write_bytes(b"abc")
    (tmp_path / "xces" / "en-1.xml").write_bytes(b"")
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    listing = f"{empty}  en-1.xml\n{abc}  en-2.xml\n".encode()
    assert file_facts(tmp_path, ["a.tmx", "xces"]) == [
        FileFacts("a.tmx", 3, abc),
        FileFacts("xces", 3, hashlib.sha256(listing).hexdigest(), members=2),
    ]
