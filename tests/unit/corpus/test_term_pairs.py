"""Bilingual terms, found in made-up segments and written to files that can be read back."""

import csv
import io
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
import pytest

from bitrawl.corpus import TermFormat, TermPair
from bitrawl.corpus.term_pairs import COLUMNS, FoundPair, TermExample, find_pairs, segments_with
from bitrawl.model import Language
from bitrawl.text.frequencies import Keyness, Phrases, Texts, general_rates
from bitrawl.topic.term_list import read_terms
from bitrawl.url import Url

PLACES = [
    ("lake", "lac", "湖泊"),
    ("forest", "forêt", "森林"),
    ("city", "ville", "城市"),
    ("river", "rivière", "河流"),
    ("valley", "vallée", "山谷"),
    ("garden", "jardin", "花园"),
]
SEGMENTS = [
    part
    for en, fr, zh in PLACES
    for part in (
        (f"Acid rain falls on the {en}.", f"Les pluies acides tombent sur la {fr}.", f"酸雨落在{zh}上。"),
        (f"The pollution of the {en} is bad.", f"La pollution de la {fr} est mauvaise.", f"{zh}的污染很严重。"),
        (
            f"Near the {en} there is a water mill.",
            f"Près de la {fr}, il y a un moulin à eau.",
            f"{zh}附近有一座水磨坊。",
        ),
        (
            f"Snow, acid rain and a water mill in the {en}",
            f"Neige, pluies acides et moulin à eau dans la {fr}",
            f"{zh}的雪、酸雨和水磨坊",
        ),
        (f"We live in the {en} now.", f"Nous vivons maintenant dans la {fr}.", f"我们现在住在{zh}。"),
    )
]
URL = Url.parse("https://example.org/a?x=1&y=2")
TABLES = [TermFormat.TSV, TermFormat.CSV, TermFormat.TBX]
PAIR = TermPair(
    *(Language("en"), Language("fr"), 'acid <rain> & "fog"', "pluies\x00 acides\ufffe", 0.91, 80.0, 12, 11, 10),
    (TermExample("=1+1\tacid", "pluies\nacides \ud800", URL, URL),),
)


def found(second: str, column: int) -> tuple[dict[tuple[str, str], FoundPair], list[Phrases]]:
    languages = Language("en"), Language(second)
    sides = [
        Phrases(Texts(language, (one[at] for one in SEGMENTS)))
        for language, at in zip(languages, (0, column), strict=True)
    ]
    pairs = find_pairs(*(Keyness(side, general_rates(side.texts.language)) for side in sides))
    return {(one.terms.term_a, one.terms.term_b): one for one in pairs}, sides


def test_terms_of_several_words_are_found_in_both_languages_by_their_usual_form():
    pairs, _ = found("fr", 1)
    assert {("acid rain", "pluies acides"), ("water mill", "moulin à eau"), ("pollution", "pollution")} <= pairs.keys()
    assert not {term for pair in pairs for term in pair} & {"the", "la", "rain", "de la", "à eau"}


def test_scripts_without_spaces_have_terms_too():
    pairs, _ = found("zh", 2)
    assert {("acid rain", "酸雨"), ("water mill", "水磨坊")} <= {(a.lower(), b) for a, b in pairs}


@pytest.mark.parametrize(("language", "column"), [("fr", 1), ("zh", 2), ("tlh", 1)])
def test_scores_are_shares_and_counts_agree(language: str, column: int):
    pairs, sides = found(language, column)
    assert pairs
    segments = segments_with(list(pairs.values()), sides[0], sides[1])
    for one, both in zip(pairs.values(), segments, strict=True):
        terms = one.terms
        assert 0 < terms.score <= 1
        assert 0 < terms.weight <= 100
        assert terms.count_together == len(both) <= min(terms.count_a, terms.count_b)
    assert len({one.a for one in pairs.values()}) == len({one.b for one in pairs.values()}) == len(pairs)


def test_numbers_are_no_terms():
    texts = [f"Four: bees, {place[0]}" for place in PLACES], [f"Quatre : abeilles, {place[1]}" for place in PLACES]
    sides = [
        Keyness(Phrases(Texts(Language(code), side)), lambda stems, _: np.full(len(stems), 1.0))
        for code, side in zip(("en", "fr"), texts, strict=True)
    ]
    terms = {one.terms.term_a.casefold() for one in find_pairs(*sides)}
    assert "four" not in terms
    assert "bees" in terms


THEME = [
    (
        f"{en}: Government of Canada Intranet theme, download production files",
        f"{fr} : Thème du gouvernement du Canada pour les sites intranet, télécharger les fichiers de production",
    )
    for en, fr, _ in PLACES
]


def test_a_part_of_a_fixed_phrase_is_no_term_unless_it_is_the_same_part_in_both_languages():
    sides = [
        Keyness(Phrases(Texts(Language(code), (one[at] for one in THEME))), general_rates(Language(code)))
        for at, code in enumerate(("en", "fr"))
    ]
    pairs = {(one.terms.term_a.casefold(), one.terms.term_b.casefold()) for one in find_pairs(*sides)}
    assert not [pair for pair in pairs if "intranet" in pair[0] and pair[1] != "intranet"]
    assert not [pair for pair in pairs if pair[1].endswith(("pour les sites", "du gouvernement"))]


def test_no_segments_have_no_terms():
    empty = Keyness(Phrases(Texts(Language("en"))), None)
    assert find_pairs(empty, empty) == []


@pytest.mark.parametrize("style", TABLES)
def test_what_is_written_is_read_as_a_term_list(tmp_path: Path, style: TermFormat):
    path = tmp_path / f"terms.{style}"
    path.write_bytes(TermPair.as_file([PAIR], style))
    terms = read_terms(path).terms
    assert [(term.text, term.language) for term in terms] == [
        ('acid <rain> & "fog"', "en"),
        ("pluies acides\ufffd", "fr"),
    ]
    assert {term.weight for term in terms} == ({100.0} if style is TermFormat.TBX else {80.0})


def test_json_lines_have_everything():
    (line,) = TermPair.as_file([PAIR], TermFormat.JSONL).splitlines()
    term = msgspec.json.decode(line)
    assert (term["term_b"], term["count_together"]) == ("pluies  acides\ufffd", 10)
    assert term["examples"][0]["text_b"] == "pluies acides \ufffd"
    assert TermPair.as_file([], TermFormat.JSONL) == b""


def test_tbx_is_xml_with_languages_and_examples():
    root = ET.fromstring(TermPair.as_file([PAIR], TermFormat.TBX))
    assert (root.tag, root.get("type")) == ("martif", "TBX-Basic")
    sections = root.findall(".//langSet")
    assert [one.get("{http://www.w3.org/XML/1998/namespace}lang") for one in sections] == ["en", "fr"]
    assert [one.text for one in root.iter("admin")] == [str(URL), str(URL)]


def test_tables_have_the_same_columns_in_every_row_and_no_formulas():
    lines = TermPair.as_file([PAIR], TermFormat.TSV).decode().splitlines()
    assert [len(line.split("\t")) for line in lines] == [len(COLUMNS)] * 2
    rows = list(csv.reader(io.StringIO(TermPair.as_file([PAIR], TermFormat.CSV).decode("utf-8-sig"))))
    assert tuple(rows[0]) == COLUMNS
    assert rows[1][COLUMNS.index("text_a_1")] == "'=1+1 acid"


@pytest.mark.parametrize("style", TABLES)
def test_a_file_without_terms_is_still_whole(style: TermFormat):
    content = TermPair.as_file([], style).decode("utf-8-sig")
    assert content.startswith("<?xml") if style is TermFormat.TBX else content.startswith("lang_a")
