import numpy as np

from bitrawl.mining import align_evidence
from bitrawl.mining.align_evidence import Document, Text
from bitrawl.model import Language

EN, FR = Language("en"), Language("fr")


def plain(a, b):
    return Document(Text.plain(a, EN), Text.plain(b, FR))


def test_a_path_follows_rare_words_that_both_texts_have():
    names = [f"Name{n}x{n}" for n in range(200)]
    a = [f"We saw {name} today." for name in names]
    # Sixty sentences that only b has come first, so that lengths alone would lead astray.
    b = ["Il ne se passait rien du tout ce jour-là."] * 60 + [f"Nous avons vu {name}." for name in names]
    path = align_evidence.path(plain(a, b))
    assert np.abs(path[20:] - (np.arange(20, 201) + 60)).max() < 3


def test_a_path_without_anchors_goes_by_length():
    path = align_evidence.path(plain(["one"] * 10, ["un"] * 20))
    assert path[0] == 0
    assert path[-1] == 20
    assert abs(path[5] - 10) < 0.5


def test_one_word_that_leads_astray_is_not_followed():
    a = ["nothing of note"] * 100
    b = ["rien de remarquable"] * 100
    a[10] += " Zanzibar"
    b[90] += " Zanzibar"
    path = align_evidence.path(plain(a, b))
    assert abs(path[50] - 50) < 2


def test_known_translations_anchor_too():
    a = [f"alpha{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100)]
    b = ["x"] * 50 + [f"beta{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100)]
    document = plain(a, b)
    known = {one[0]: [other[0]] for one, other in zip(document.a.tokens, document.b.tokens[50:], strict=True)}
    path = align_evidence.path(document, known)
    assert abs(path[60] - 110) < 3
