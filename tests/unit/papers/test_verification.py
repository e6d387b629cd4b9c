"""Section 4 of Liu et al.: three features, the third of which is learned from the pairs before."""

import random
from pathlib import Path

import pytest

from bitrawl.model import Language, Page, Paragraph
from bitrawl.papers.verification import UNTRANSLATED, ReadPage, Verification, Weights
from bitrawl.text.known_words import Dictionary
from bitrawl.url import Url

EN, FR = Language("en"), Language("fr")
LANGUAGES = (EN, FR)
WORDS = 300
TEXTS = 8


def text(numbers: list[int], letter: str) -> str:
    """Words of a made-up language: the same numbers in two of them are translations."""
    return " ".join(letter + "".join("bcdfghjk"[int(digit)] + "a" for digit in f"{number:o}") for number in numbers)


def topics(seed: int) -> list[list[int]]:
    """What the paragraphs of a page say: half of it common words, the other half its own."""
    chance = random.Random(seed)
    own = [chance.randrange(20, WORDS) for _ in range(12)]
    return [[*chance.choices(range(20), k=6), *chance.choices(own, k=6)] for _ in range(TEXTS)]


def read(name: str, language: Language, texts: list[str], **more: bool) -> ReadPage:
    paragraphs = [Paragraph(one, language=language, position=2 * place, **more) for place, one in enumerate(texts)]
    page = Page(
        Url.parse(f"http://site.test/{language}/{name}"),
        language,
        paragraphs=tuple(paragraphs),
        tags=("p", "#text") * len(texts),
    )
    return ReadPage.of(page, LANGUAGES, max_tags=1000)


def english(number: int) -> ReadPage:
    return read(str(number), EN, [text(one, "a") for one in topics(number)])


def french(number: int) -> ReadPage:
    return read(str(number), FR, [text(one, "o") for one in topics(number)])


def taught(pairs: int) -> Verification:
    verification = Verification(LANGUAGES)
    for number in range(pairs):
        verification.add(english(number), french(number))
    return verification


def test_words_of_a_page_have_their_translations_on_its_partner_and_not_on_others():
    verification = taught(30)
    right = [verification.translated(english(n), french(n)) for n in range(100, 110)]
    wrong = [verification.translated(english(n), french(n + 1)) for n in range(100, 110)]
    assert min(right) > 0.2
    assert max(wrong) < 0.1


def test_the_lexicon_grows_with_the_pairs():
    shares = [taught(pairs).translated(english(100), french(100)) for pairs in (1, 5, 30)]
    assert shares == sorted(shares)
    assert shares[0] < 0.1 < shares[2]


def test_a_dictionary_counts_before_the_first_pair(tmp_path: Path):
    path = tmp_path / "words.tsv"
    path.write_text("".join(f"{text([n], 'a')}\t{text([n], 'o')}\n" for n in range(WORDS)), "utf-8")
    dictionary = Dictionary.of(str(path), LANGUAGES)
    assert dictionary
    bare, given = Verification(LANGUAGES), Verification(LANGUAGES, dictionary.words(EN, FR))
    assert bare.translated(english(1), french(1)) == 0
    assert given.translated(english(1), french(1)) > 0.9
    assert given.translated(english(1), french(2)) < 0.7


def test_the_features_are_combined_linearly():
    a, b = english(100), french(100)
    verification = taught(30)
    lengths, tags, translated = verification.features(a, b)
    odds = 1 + 2 * lengths + 3 * tags + 4 * translated
    weighed = Verification(LANGUAGES, weights=Weights(1, 2, 3, 4))
    for number in range(30):
        weighed.add(english(number), french(number))
    score = weighed.score(a, b)
    assert score / (1 - score) == pytest.approx(2.718281828459045**odds)


def test_pages_of_one_build_are_told_apart_by_their_words_once_pairs_have_taught_them():
    untaught, verification = Verification(LANGUAGES), taught(30)
    right, wrong = (english(100), french(100)), (english(100), french(101))
    assert untaught.score(*wrong) == pytest.approx(untaught.score(*right), abs=0.05)
    assert verification.score(*right) > 0.9
    assert verification.score(*wrong) < verification.score(*right) - 0.2


@pytest.mark.parametrize("same", [2, 7])
def test_a_page_whose_sentences_were_mostly_left_as_they_are_is_no_translation(same: int):
    original = [text(one, "a") for one in topics(1)]
    partly = [*original[:same], *(text(one, "o") for one in topics(1)[same:])]
    score = Verification(LANGUAGES).score(read("1", EN, original), read("1", FR, partly))
    assert (score == 0) == (same / TEXTS > UNTRANSLATED)


def test_lists_of_links_are_compared_by_their_links_if_pages_have_no_other_text():
    verification = taught(30)

    def listed(number: int, language: Language, letter: str) -> ReadPage:
        return read(f"list{number}", language, [text(one, letter) for one in topics(number)], boilerplate=True)

    assert verification.translated(listed(200, EN, "a"), listed(200, FR, "o")) > 0.2
    assert verification.translated(english(200), listed(200, FR, "o")) <= 0


@pytest.mark.parametrize(
    ("main", "menus", "spoken"),
    [("fr", "fr", {FR}), ("en", "fr", {EN, FR}), ("en", "en", {EN}), ("und", "fr", {FR}), ("de", "und", set())],
)
def test_a_page_speaks_the_language_of_its_main_text_and_of_most_of_its_text(main: str, menus: str, spoken: set[str]):
    paragraphs = (
        Paragraph("x" * 100, language=Language(main)),
        Paragraph("y" * 150, language=Language(menus), boilerplate=True),
    )
    page = Page(Url.parse("http://site.test/"), Language(main), paragraphs=paragraphs)
    assert ReadPage.of(page, LANGUAGES, max_tags=10).spoken == spoken
