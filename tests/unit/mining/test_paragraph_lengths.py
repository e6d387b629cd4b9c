import random

from small_site import EN, FR, page

from bitrawl.mining.detectors import ParagraphLengths
from bitrawl.mining.site import condense

RANDOM = random.Random(5)


def texts(lengths: list[int]) -> list[str]:
    """No two alike, so that none is template."""
    return ["".join(RANDOM.choices("abcdefgh ", k=size)) for size in lengths]


def lengths_of(count: int) -> list[int]:
    return [RANDOM.choice((12, 30, 70, 150, 300, 600)) + RANDOM.randrange(10) for _ in range(count)]


def translated(lengths: list[int]) -> list[int]:
    return [round(size * 1.15 * RANDOM.uniform(0.9, 1.1)) for size in lengths]


def test_paragraphs_of_corresponding_lengths_convince_and_others_do_not():
    english = [lengths_of(16) for _ in range(20)]
    pages = [page(f"http://s.test/e{n}", EN, texts(each)) for n, each in enumerate(english)]
    pages += [page(f"http://s.test/f{n}", FR, texts(translated(each))) for n, each in enumerate(english)]
    site = condense(pages, [EN, FR])
    measured = ParagraphLengths(site)
    true = [measured.evidence((n, 20 + n)) for n in range(20)]
    wrong = [measured.evidence((n, 20 + other)) for n in range(20) for other in range(20) if other != n]
    assert min(true) > 0.3
    assert sum(value > 0.2 for value in wrong) <= 2


def test_more_paragraphs_are_more_evidence():
    english = lengths_of(40)
    french = translated(english)
    pages = [page(f"http://s.test/e{n}", EN, texts(english[:n])) for n in (3, 8, 40)]
    pages += [page(f"http://s.test/f{n}", FR, texts(french[:n])) for n in (3, 8, 40)]
    measured = ParagraphLengths(condense(pages, [EN, FR]))
    values = [measured.evidence((n, n + 3)) for n in range(3)]
    assert values == sorted(values)
    assert values[0] < 0.3
    assert values[2] > 0.9


def test_pages_that_all_have_the_same_few_lengths_say_nothing():
    pages = [page(f"http://s.test/{n}", EN if n < 20 else FR, ["x" * 30] * 8) for n in range(40)]
    measured = ParagraphLengths(condense(pages, [EN, FR]))
    assert max(measured.evidence((n, 20 + n)) for n in range(20)) < 0.1


def test_a_paragraph_that_was_left_out_does_not_hide_the_rest():
    english = lengths_of(30)
    french = translated(english[:10] + english[12:])
    pages = [page("http://s.test/e", EN, texts(english)), page("http://s.test/f", FR, texts(french))]
    assert ParagraphLengths(condense(pages, [EN, FR])).evidence((0, 1)) > 0.5


def test_pages_without_paragraphs_are_no_fault():
    site = condense([page("http://s.test/e", EN, []), page("http://s.test/f", FR, [])], [EN, FR])
    assert ParagraphLengths(site).evidence((0, 1)) == 0.0
