"""`bitrawl topic` as a terminologist meets it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("no_children")
Bitrawl = Callable[..., tuple[int, str, str]]
PLACES = {"lake": "lac", "forest": "forêt", "city": "ville", "river": "rivière", "field": "champ", "garden": "jardin"}


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for place in PLACES:
        (folder / f"{place}.txt").write_text(
            f"Acid rain and the {place}\nAcid rain falls on the {place} in the winter, and the people who live there say that"
            f" acid rain is bad for the trees and for the water. The pollution of the air is what makes the rain acid. "
            f"Nobody wants this pollution near the {place}, and less pollution would help all of them in the years to come.\n"
        )
    (folder / "page.html").write_text(
        "<html lang=en><title>Acid rain</title><body><p>" + "Acid rain comes from pollution, as everybody knows. " * 9
    )
    return folder


def test_a_list_is_learned_then_explains_a_page_then_is_translated(bitrawl: Bitrawl, texts: Path, tmp_path: Path):
    topic = tmp_path / "topic.txt"
    status, _, err = bitrawl("topic", "learn", texts, "-o", topic, "--lang", "en")
    assert status == 0, err
    assert f"terms: {topic}" in err
    assert "acid rain>en" in topic.read_text().lower()

    topic.write_text("50:acid rain=weather>en\n30:pollution=air>en\n-90:acid jazz>en\n")
    status, out, _ = bitrawl("topic", "show", texts / "page.html", "--topic", topic)
    assert status == 0
    assert "relevant, score" in out
    assert "weight of the terms: 1220, needs 80: yes" in out
    assert "classes: weather, air" in out
    assert [row.split() for row in out.splitlines() if "title" in row] == [
        ["acid", "rain", "title", "1", "50", "10", "500"]
    ]

    corpus = tmp_path / "en-fr.sentences.jsonl"
    pairs = [(f"Acid rain falls on the {en}.", f"La pluie acide tombe sur le {fr}.") for en, fr in PLACES.items()]
    pairs += [(f"We like the {en} very much.", f"Nous aimons beaucoup le {fr}.") for en, fr in PLACES.items()]
    lines = [{"text_a": a, "text_b": b, "lang_a": "en", "lang_b": "fr"} for a, b in pairs]
    corpus.write_text("".join(json.dumps(line) + "\n" for line in lines))
    status, out, err = bitrawl("topic", "translate", corpus, "--topic", topic, "--langs", "en,fr")
    assert status == 0, err
    assert "=weather>fr" in out
    assert "1 of 3 terms" in err


def test_a_tmx_is_a_corpus_whatever_its_order(bitrawl: Bitrawl, tmp_path: Path):
    units = "".join(
        f'<tu><tuv xml:lang="fr"><seg>Le {fr} est grand.</seg></tuv><tuv xml:lang="en"><seg>The {en} is big.</seg></tuv></tu>'
        for en, fr in PLACES.items()
    )
    (tmp_path / "c.tmx").write_text(f"<?xml version='1.0'?><tmx version='1.4'><body>{units}</body></tmx>")
    (tmp_path / "t.txt").write_text("50:river\n40:lake")
    status, out, err = bitrawl(
        "topic", "translate", tmp_path / "c.tmx", "--topic", tmp_path / "t.txt", "--langs", "en,fr"
    )
    assert status == 0, err
    assert "40:lac>fr" in out
    assert "50:rivière>fr" in out


def test_texts_take_the_place_of_a_list(bitrawl: Bitrawl, texts: Path):
    status, out, _ = bitrawl("topic", "show", texts / "lake.txt", "--texts", texts)
    assert status == 0
    assert "acid rain" in out.lower()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("topic show page.html", "--topic topic.txt"),
        ("topic show TEXTS/page.html --topic none.txt", "none.txt cannot be read"),
        ("topic learn none.txt", "none.txt cannot be read"),
        ("topic learn TEXTS/lake.txt", "too few"),
        ("topic learn TEXTS --lang fr", "no text in French"),
        ("topic translate TEXTS/lake.txt --topic TEXTS/lake.txt --langs en,fr", "sentences.jsonl"),
        ("topic translate TEXTS --topic TEXTS/lake.txt --langs en,fr", "holds no job"),
        ("topic translate c.tmx --topic TEXTS/lake.txt --langs en", "as in en,fr"),
    ],
)
def test_a_mistake_costs_one_line_that_names_the_fix(bitrawl: Bitrawl, texts: Path, arguments: str, says: str):
    status, _, err = bitrawl(*arguments.replace("TEXTS", str(texts)).split())
    assert status in (1, 2)
    assert says in err.replace("\n", " ")
    assert "Traceback" not in err


def test_a_page_in_another_language_is_told_so(bitrawl: Bitrawl, texts: Path, tmp_path: Path):
    (tmp_path / "de.txt").write_text("50:saurer Regen>de\n")
    status, out, _ = bitrawl("topic", "show", texts / "lake.txt", "--topic", tmp_path / "de.txt")
    assert status == 0
    assert "the page is in English, and the list is in German" in out


def test_a_named_language_that_the_identifier_lacks_is_believed(bitrawl: Bitrawl, tmp_path: Path):
    yiddish = "די ביבליאָטעק באָרגט ביכער און צײַטונגען. די קינדער לייענען ביכער אין דער ביבליאָטעק."
    (tmp_path / "text.txt").write_text("\n\n".join([yiddish] * 40), encoding="utf-8")
    status, out, err = bitrawl("topic", "learn", tmp_path / "text.txt", "--lang", "yi")
    assert status == 0, err
    assert ">yi" in out
