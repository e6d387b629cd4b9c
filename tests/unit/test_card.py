import re

import pytest

from bitrawl.corpus.card import CardFacts, Side, card

FACTS = CardFacts(
    name="en-fr",
    at=1_800_000_000.0,
    versions={"bitrawl": "0.1.0", "python": "3.11.9"},
    sides=(Side("en", 10, 1200, 24_000, 130_000), Side("fr", 10, 1200, 27_000, 150_000)),
    document_pairs=10,
    units=1200,
    occurrences=1500,
    first_fetch=1_799_900_000.0,
    last_fetch=1_799_990_000.0,
    sites={"example.org": 15, "exemple.fr": 5},
    methods={"a": 7, "u": 9, "h": 3},
    flags={"different numbers in TUVs": 12},
    refused={"score": 30},
    thresholds={"score": 0.3, "words": 1},
    licences={"https://creativecommons.org/licenses/by/4.0/": 4},
    opt_outs=2,
    robots=1,
    job='langs = ["en", "fr"]\n',
    files=("en-fr.tmx", "en-fr.sentences.jsonl"),
)


@pytest.mark.parametrize(
    "said",
    [
        "# Parallel web corpus, English (en) and French (fr)",
        "1,200 translation units in 10 pairs of documents from 20 pages of 2 sites, written by bitrawl 0.1.0 on 2027-01-15.",
        "| fr | 10 | 1,200 | 27,000 | 150,000 |",
        "found 1,500 times",
        "| example.org | 15 |",
        "Fetched from 2027-01-14 to 2027-01-15.",
        "| https://creativecommons.org/licenses/by/4.0/ | 4 |",
        "16 pages without a statement",
        "2 pages left out because text and data mining is reserved",
        "1 link not followed",
        "| a: declared translations: hreflang, sitemaps, language switchers | 7 |",
        "| score | 0.3 |",
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
    text = card(CardFacts(name="fr", at=0.0, versions={"bitrawl": "1"}, sides=(Side("fr", 3),), sites={"a.fr": 3}))
    assert "# Monolingual web corpus, French (fr)" in text
    assert "3 documents from 3 pages of 1 site" in text
    assert "translation unit" not in text


def test_an_empty_corpus_has_a_card_without_empty_sections():
    text = card(CardFacts(name="en-fr", at=0.0, versions={}, sides=(Side("en"), Side("fr"))))
    assert "0 translation units" in text
    assert not re.search(r"^## .*\n\n(?:##|\Z)", text, re.MULTILINE)


def test_what_pages_say_brings_no_markup_and_breaks_no_table():
    hostile = "All | rights\n# reserved <script>alert(1)</script> [x](javascript:1) `\ud800" + "x" * 5000
    text = card(CardFacts(name="en-fr", at=0.0, versions={}, sides=(Side("en"), Side("fr")), licences={hostile: 3}))
    (row,) = [line for line in text.splitlines() if "rights" in line]
    assert row.startswith("| All \\| rights # reserved &lt;script>")
    assert row.endswith("… | 3 |")
    assert "](" not in row.replace("\\[x](", "")
    text.encode()


def test_a_long_list_of_sites_is_summed_up():
    sites = {f"site{n:03}.org": 1000 - n for n in range(120)}
    text = card(CardFacts(name="en-fr", at=0.0, versions={}, sides=(Side("en"), Side("fr")), sites=sites))
    assert f"| (70 more) | {sum(range(881, 951)):,} |" in text
    assert "site050.org" not in text
