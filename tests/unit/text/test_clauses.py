import pytest

from bitrawl.demo.sites import sites
from bitrawl.mining.aligned_pages import SiteAligner, page_sentences
from bitrawl.model import Language, Page, Paragraph
from bitrawl.text.sentences import LEVELS, bounded, clauses, is_long, shortened
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
    assert len(lines) == 1 + 3  # as many sentences together as there is room for
    short = page("http://s.test/", "A title", "Short.")
    assert bounded(short, 1000) == (short, [])


def test_what_cannot_be_split_is_left_out_of_a_monolingual_corpus():
    endless = "word " * 300
    split, left_out = bounded(page("http://s.test/", "A title", endless.strip()), 1000)
    assert [paragraph.text for paragraph in split.paragraphs] == ["A title"]
    assert left_out == [endless.strip()]


def articles(a=EN, b=FR):
    """The texts of the articles of a bundled site that are in two languages."""
    return [
        tuple(" ".join(article.version[language].text.split()) for language in (a, b))
        for site in sites().values()
        for article in site.page
        if {a, b} <= article.version.keys()
    ][:12]


def unended(text):
    """The same without the ends of sentences."""
    return text.replace(". ", "; ").replace("? ", "; ").replace("! ", "; ")


def pages(texts):
    return [(page(f"http://s.test/en/{n}", a), page(f"http://s.test/fr/{n}", b)) for n, (a, b) in enumerate(texts)]


def right(found, texts):
    """Of the segments, how many stand at about the same place of both texts."""
    near = 0
    for segment, (a, b) in zip(found, texts, strict=True):
        for one in segment:
            near += abs(a.index(one.a.text) / len(a) - b.index(one.b.text) / len(b)) < 0.1
    return near


def test_two_texts_without_ends_are_split_and_aligned():
    texts = articles()
    long = (unended(" ".join(a for a, _ in texts)), unended(" ".join(b for _, b in texts)))
    assert min(map(len, long)) > 4000
    aligner = SiteAligner((EN, FR))
    found = aligner.align(pages([*texts, long]))[-1]
    assert all(not is_long(one.a.text, 1000) and not is_long(one.b.text, 1000) for one in found)
    assert right([found], [long]) >= 0.95 * len(found)
    assert sum(len(one.a.text) for one in found) > 0.9 * len(long[0])


@pytest.mark.parametrize("ends", [0, 1])
def test_a_text_without_ends_is_aligned_with_one_that_has_them(ends):
    texts = articles()
    both = [" ".join(side) for side in zip(*texts, strict=True)]
    both[ends] = unended(both[ends])
    found = SiteAligner((EN, FR)).align(pages([*texts, tuple(both)]))[-1]
    assert right([found], [both]) >= 0.95 * len(found)
    assert sum(len(one.a.text) for one in found) > 0.9 * len(both[0])


def test_a_sentence_that_is_too_long_on_one_side_only_is_split_on_both():
    texts = articles()
    a, b = map(unended, texts[0])
    shorter, longer = sorted((len(a), len(b)))
    assert shorter < longer
    found = SiteAligner((EN, FR), characters=shorter).align(pages([(a, b), *texts[1:]]))[0]
    assert len(found) > 1
    assert all(max(len(one.a.text), len(one.b.text)) <= shorter for one in found)
    assert right([found], [(a, b)]) == len(found)
    assert sum(len(one.b.text) for one in found) > 0.9 * len(b)


def test_segments_that_are_short_enough_do_not_change():
    texts = articles()
    long = tuple(map(unended, map(" ".join, zip(*texts, strict=True))))
    alone = SiteAligner((EN, FR)).align(pages(texts))
    unbounded = SiteAligner((EN, FR), characters=10**6).align(pages(texts))
    assert alone == unbounded
    bounded = SiteAligner((EN, FR)).align(
        pages([(texts[0][0] + " " + long[0], texts[0][1] + " " + long[1]), *texts[1:]])
    )
    assert {one.a.text for one in alone[1]} == {one.a.text for one in bounded[1]}


def test_what_cannot_be_split_is_left_out_and_told():
    a, b = "word " * 300, "mot " * 300
    told = []
    (found,) = SiteAligner((EN, FR)).align(pages([(a.strip(), b.strip())]), too_long=lambda *one: told.append(one))
    assert found == []
    [(number, segment)] = told
    assert (number, segment.a.text, segment.b.text) == (0, a.strip(), b.strip())


def test_chinese_is_bounded_by_half_as_many_characters():
    texts = articles(EN, ZH)
    long = [" ".join(a for a, _ in texts), "".join(b for _, b in texts).translate(str.maketrans("。！？", "；；；"))]
    told = []
    english, chinese = page("http://s.test/en", unended(long[0])), page("http://s.test/zh", long[1])
    (found,) = SiteAligner((EN, ZH)).align([(english, chinese)], too_long=lambda *one: told.append(one))
    assert max(len(one.b.text) for one in found) <= 500 < len(long[1])
    assert told == []


def test_a_sentence_that_is_far_too_long_is_split_before_it_is_aligned():
    text = "; ".join(["one two three four"] * 400)
    assert len(page_sentences(page("http://s.test/", text), EN)) == 400
    assert len(page_sentences(page("http://s.test/", text[:2000]), EN)) == 1
