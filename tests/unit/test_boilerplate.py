import numpy as np
import pytest
from selectolax.lexbor import LexborHTMLParser

from bitrawl.page.boilerplate import MODEL, THRESHOLD, BoilerplateClassifier, names
from bitrawl.page.outline import outline
from bitrawl.training.boilerplate import Example, Scores, _labels, folds, score, text_of


@pytest.fixture(scope="module")
def classifier():
    return BoilerplateClassifier.load()


def kept(classifier, html):
    page = outline(LexborHTMLParser(html))
    chances = classifier.probabilities(page)
    return [block.text for block, chance in zip(page.blocks, chances, strict=True) if chance >= THRESHOLD]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Hello.</p>",
        "Just a line of text",
        "<div>短い</div>",
        "<h1>Closed today</h1>",
        "<table><tr><td>12<td>13</table>",
        "<footer>© 2026 Example</footer>",
    ],
)
def test_a_page_with_almost_no_text_keeps_some_of_it(classifier, html):
    assert kept(classifier, html)


def test_a_page_of_links_alone_has_no_content(classifier):
    menu = "".join(f"<li><a href=/{i}>Section {i}</a></li>" for i in range(30))
    assert kept(classifier, f"<nav><ul>{menu}</ul></nav>") == []


def test_an_empty_page_has_no_probabilities(classifier):
    assert classifier.probabilities(outline(LexborHTMLParser(""))) == []


def test_probabilities_are_probabilities_on_odd_pages(classifier):
    for html in (
        "<p>x" * 3_000,
        "<div>" * 400 + "deep",
        "<td>a" * 50,
        "<a href=x>" + "y" * 100_000,
        "<p>" + "。" * 9_999,
    ):
        chances = np.array(classifier.probabilities(outline(LexborHTMLParser(html))))
        assert np.isfinite(chances).all()
        assert ((chances >= 0) & (chances <= 1)).all()


def test_the_model_is_small_and_holds_no_pickle():
    assert MODEL.stat().st_size < 2_000_000
    with np.load(MODEL, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)


def test_names_are_split_and_masked():
    assert names("Entry-content__body") == ("entry-content__body", "entry", "content", "body")
    assert names("post-42") == ("post-", "post")


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
