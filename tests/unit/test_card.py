import re

import msgspec
import pytest

from bitrawl.corpus.card import METHODS, CardFacts, CorpusFacts, Origin, Side, card
from bitrawl.model import Method

EN_FR = CorpusFacts(
    name="en-fr",
    sides=(Side("en", 10, 1200, 24_000, 130_000), Side("fr", 10, 1200, 27_000, 150_000)),
    document_pairs=10,
    units=1200,
    occurrences=1500,
    near_duplicates=25,
    methods={"a": 7, "u": 9, "h": 3},
    flags={"different numbers in TUVs": 12},
    refused={"score": 30},
    files=("en-fr.tmx", "en-fr.sentences.jsonl"),
)
EMPTY = CorpusFacts(name="en-fr", sides=(Side("en"), Side("fr")))
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
        "1,200 translation units in 10 pairs of documents from 20 pages of 2 sites, written by bitrawl 0.1.0 on 2027-01-15.",
        "| fr | 10 | 1,200 | 27,000 | 150,000 |",
        "found 1,500 times",
        "25 that differ only in case, punctuation or spaces",
        "1,200 translation units in 10 pairs of documents.",
        "| example.org | 15 |",
        "Fetched from 2027-01-14 to 2027-01-15.",
        "| https://creativecommons.org/licenses/by/4.0/ | 4 |",
        "16 pages without a statement",
        "2 pages left out because text and data mining is reserved",
        "1 link not followed",
        "| a: declared translations: hreflang, sitemaps, language switchers | 7 |",
        "| score | 0.3 |",
        "| types | \\[] |",
        '| refuse | \\["code", "url"] |',
        "| duplicates | false |",
        "Crawled with respect for robots.txt",
        "| score | 30 |",
        "| different numbers in TUVs | 12 |",
        '```toml\nlangs = ["en", "fr"]\n```',
        "- `en-fr.tmx`",
        "bitrawl 0.1.0, python 3.11.9",
    ],
)
def test_the_card_says(said):
    assert said in card(FACTS)


def test_one_language_is_a_monolingual_corpus():
    corpus = CorpusFacts(name="fr", sides=(Side("fr", 3, 40, 800, 5000),))
    text = card(CardFacts(at=0.0, versions={"bitrawl": "1"}, corpora=(corpus,), sites={"a.fr": 3}))
    assert "# Monolingual web corpus, French (fr)" in text
    assert "3 documents from 3 pages of 1 site" in text
    assert "| language | documents | paragraphs | words | characters |" in text
    assert "| fr | 3 | 40 | 800 | 5,000 |" in text
    assert "translation unit" not in text


def test_several_pairs_of_languages_have_a_section_each_and_the_job_once():
    english_german = CorpusFacts(name="en-de", sides=(Side("en", 5, 7), Side("de", 5, 7)), document_pairs=5, units=7)
    text = card(msgspec.structs.replace(FACTS, corpora=(EN_FR, english_german)))
    assert "# Parallel web corpus, English (en), French (fr) and German (de)" in text
    assert "1,207 translation units in 15 pairs of documents from 20 pages of 2 sites" in text
    assert text.index("## English and French (en-fr)") < text.index("## English and German (en-de)")
    assert text.count("### Contents") == 2
    assert text.count("## Licences") == text.count("```toml") == text.count("# Parallel") == 1


@pytest.mark.parametrize(
    ("origin", "said", "unsaid"),
    [
        (Origin.CRAWL, ["Crawled with respect for robots.txt;", "Fetched from"], "archive"),
        (Origin.REPLAY, ["Crawled in web archives (WARC)", "Archived from 2027-01-14"], "Fetched"),
        (Origin.ARCHIVE, ["Taken from web archives (WARC)", "Archived from 2027-01-14"], "robots.txt"),
    ],
)
def test_what_comes_from_archives_is_not_said_to_be_fetched(origin, said, unsaid):
    text = card(msgspec.structs.replace(FACTS, origin=origin))
    assert all(words in text for words in said)
    assert unsaid not in text


def test_every_method_has_its_words():
    assert set(METHODS) == set(Method)


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
