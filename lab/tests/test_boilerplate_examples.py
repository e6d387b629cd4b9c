import numpy as np
import pytest
from selectolax.lexbor import LexborHTMLParser

from bitrawl.page.outline import outline
from lab.train.boilerplate import Example, Scores, _labels, folds, score, text_of


def _example(wanted, unwanted, html, site="example.org"):
    page = outline(LexborHTMLParser(html))
    return Example(site, page, wanted, unwanted, _labels(page, wanted, unwanted))


def test_gold_strings_label_the_blocks_that_they_touch():
    example = _example(
        ("runs over two",),
        ("Menu",),
        "<ul><li>Menu<li>runs over</ul><p>It runs over</p><p>two blocks.</p><p>Other.</p>",
    )
    assert example.labels.tolist()[0] == 0
    assert example.labels.tolist()[2:4] == [1, 1]
    assert np.isnan(example.labels[[1, 4]]).all()


def test_the_score_counts_strings_as_trafilatura_does():
    example = _example(("kept", "lost"), ("menu", "gone"), "<p>kept</p><p>menu</p><p>lost</p>")
    found = score(example, text_of(example.outline, [0.9, 0.9, 0.1]))
    assert found == Scores(found=1, missed=1, leaked=1)
    assert found.f1 == pytest.approx(0.5)


def test_no_site_is_on_both_sides_of_a_fold():
    examples = [_example((), (), "<p>x", site=f"site{i % 7}.org") for i in range(40)]
    for train_on, test_on in folds(examples, 3):
        assert not {examples[i].site for i in train_on} & {examples[i].site for i in test_on}
        assert sorted(train_on + test_on) == list(range(40))
