import pytest

from bitrawl.align.pages import SiteAligner, page_sentences
from bitrawl.demo.content import sites
from bitrawl.model import Language, Page, Paragraph
from bitrawl.text.clauses import LEVELS, bounded, clauses, is_long, shortened
from bitrawl.url import Url

EN, FR, ZH = Language("en"), Language("fr"), Language("zh")


def page(address, *texts, language=EN):
    return Page(Url.parse(address), language, paragraphs=tuple(map(Paragraph, texts)))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Home | About us | Contact", ["Home", "| About us", "| Contact"]),
        ("• bread • butter", ["• bread", "• butter"]),
        ("one; two: three, four – five", ["one;", "two:", "three,", "four", "– five"]),
        ("一、二，三；四：五", ["一、", "二，", "三；", "四：", "五"]),
        ("λόγος· δεύτερος, τρίτος", ["λόγος·", "δεύτερος,", "τρίτος"]),
        ("مرحبا، عالم؛ ثاني", ["مرحبا،", "عالم؛", "ثاني"]),
        ("ሰላም፤ ዓለም፣ ሁሉ", ["ሰላም፤", "ዓለም፣", "ሁሉ"]),
        ("ཀ་ཁ་ག། ང་ཅ།", ["ཀ་ཁ་ག།", "ང་ཅ།"]),
        ("ภาษาไทย ภาษาอื่น", ["ภาษาไทย", "ภาษาอื่น"]),
        ("He paid 1,000 at 10:30, a;b and x|y", ["He paid 1,000 at 10:30,", "a;b and x|y"]),
        ("He said “no!” and left", ["He said “no!”", "and left"]),
        ("words without any mark", ["words without any mark"]),
        ("; ; ; ...", ["; ; ; ..."]),
        ("", [""]),
    ],
)
def test_a_text_is_split_at_the_marks_of_its_script(text, parts):
    assert clauses(text, LEVELS - 1) == parts


def test_the_coarsest_marks_that_are_enough_are_taken():
    text = "; ".join(["one, two, three " * 5] * 4)
    assert [part.rstrip(";").strip() for part in shortened(text, 100)] == [("one, two, three " * 5).strip()] * 4
    assert max(map(len, shortened(text, 50))) <= 50
    assert shortened(text, 1000) == [text]


def test_the_bound_is_half_as_large_where_no_spaces_stand_between_words():
    assert not is_long("a" * 1000, 1000)
    assert is_long("a" * 1001, 1000)
    assert not is_long("字" * 500, 1000)
    assert is_long("字" * 501, 1000)
    assert is_long("ก" * 501, 1000)
    assert not is_long("한국어 " * 200, 1000)


def test_marks_without_words_take_no_quadratic_time():
    assert clauses("; , " * 100_000, LEVELS - 1) == [("; , " * 100_000).strip()]


def test_a_long_paragraph_of_a_monolingual_corpus_is_split_between_sentences():
    text = " ".join(f"This is sentence number {number} of a long paragraph." for number in range(60))
    split, left_out = bounded(page("http://s.test/", "A title", text), 1000)
    lines = [paragraph.text for paragraph in split.paragraphs]
    assert left_out == []
    assert " ".join(lines[1:]) == text
    assert all(len(line) <= 1000 and line.endswith(".") for line in lines[1:])
    assert len(lines) == 1 + 4  # as many sentences together as there is room for
    short = page("http://s.test/", "A title", "Short.")
    assert bounded(short, 1000) == (short, [])


def test_what_cannot_be_split_is_left_out_of_a_monolingual_corpus():
    endless = "word " * 300
    split, left_out = bounded(page("http://s.test/", "A title", endless.strip()), 1000)
    assert [paragraph.text for paragraph in split.paragraphs] == ["A title"]
    assert left_out == [endless.strip()]


def articles():
    """The paragraphs of a bundled site in English and French."""
    content = sites()["bees"]
    found = []
    for each, _ in content.each():
        texts = [content.version(each, language) for language in (EN, FR) if language in each.versions]
        if len(texts) == 2:
            found.append([" ".join(text.text.split()) for text in texts])
    return found


def unended(text):
    """The same with semicolons in place of the ends of sentences."""
    return text.replace(". ", "; ").replace("? ", "; ").replace("! ", "; ")
