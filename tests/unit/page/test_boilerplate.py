import numpy as np
import pytest
from selectolax.lexbor import LexborHTMLParser

from bitrawl.model_files import model_file
from bitrawl.page.boilerplate import THRESHOLD, BoilerplateClassifier, names
from bitrawl.page.outline import outline


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
    assert model_file("boilerplate.npz").stat().st_size < 2_000_000
    with np.load(model_file("boilerplate.npz"), allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)


def test_names_are_split_and_masked():
    assert names("Entry-content__body") == ("entry-content__body", "entry", "content", "body")
    assert names("post-42") == ("post-", "post")
