"""The words that ship are made the same way twice, and say what their sources say."""

from pathlib import Path

import numpy as np

from bitrawl.model import Language
from bitrawl.text.known_words import WordTable
from bitrawl.text.words import words as stems
from lab.train import words
from lab.train.word_sources import READERS, clean

SENTENCES = [
    ("talo on vanha", "the house is old"),
    ("talo on uusi", "the house is new"),
    ("koira on vanha", "the dog is old"),
]


def collected(folder: Path) -> Path:
    """As if all sources had been read."""
    for source in READERS:
        (folder / f"{source}.done").touch()
    rows = [f"{a} {n}\t{b} {n}\n" for n in range(1100) for a, b in SENTENCES]
    for source in ("tatoeba", "firefox"):
        (folder / f"fi.{source}.tsv").write_text("".join(rows), "utf-8")
    return folder


def test_the_same_sentences_give_the_same_bytes(tmp_path: Path):
    texts = collected(tmp_path)
    for out in ("first", "second"):
        learned = [words.learn(texts, Language("fi"))]
        words.write(learned, tmp_path / out, words._english(learned))
    files = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert files == ["en.words", "fi.words"]
    assert all((tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes() for name in files)


def test_the_words_of_a_language_are_those_of_its_sentences(tmp_path: Path):
    learned = [words.learn(collected(tmp_path), Language("fi"))]
    words.write(learned, tmp_path / "out", words._english(learned))
    english = WordTable.unpacked((tmp_path / "out" / "en.words").read_bytes()).words
    table = WordTable.unpacked((tmp_path / "out" / "fi.words").read_bytes())
    place = table.words.index(stems("koira", Language("fi"))[0])
    links = slice(int(table.counts[:place].sum()), int(table.counts[: place + 1].sum()))
    likeliest = table.english[links][table.forward[links].argmax()]
    assert english[likeliest] == "dog"


def test_a_text_of_a_program_is_learned_without_its_marks():
    assert clean("~Save %s as <b>{ $name }</b>…") == "Save as …"


def test_a_table_is_the_same_when_it_is_read_again_and_the_same_bytes_when_it_is_packed_again():
    table = WordTable(
        ["haus", "hausbau", "öl"],
        np.array([2, 0, 1], np.uint8),
        np.array([3, 40_000, 7], np.uint16),
        np.array([15, 0, 9], np.uint8),
        np.array([1, 14, 3], np.uint8),
    )
    read = WordTable.unpacked(words.packed(table))
    assert read.words == table.words
    assert all((ours == theirs).all() for ours, theirs in zip(read[1:], table[1:], strict=True))
    assert words.packed(read) == words.packed(table)


def test_levels_are_a_third_apart():
    assert words.levels(np.array([1.0, 0.74, 0.5, 0.01, 0.0])).tolist() == [15, 14, 13, 0, 0]
