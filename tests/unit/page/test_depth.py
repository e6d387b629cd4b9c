import pytest

from bitrawl.page.decode import FEW_TAGS, MAX_DEPTH, shallow


def test_an_ordinary_page_is_not_touched():
    html = "<div><p>text</p></div>" * (FEW_TAGS // 8)
    assert shallow(html) is html


@pytest.mark.parametrize(
    "html", ["<div><p>x</p><ul><li>y</ul></div>" * 9000, "<p>x" * 9000, "<li><a href=/x>y</a>" * 9000]
)
def test_a_long_page_that_is_flat_is_the_same(html):
    assert shallow(html) == html


def test_tags_nested_too_deep_become_tags_that_cannot_nest():
    html = shallow("<div class=a>" * 10_000 + "text" + "</div>" * 10_000)
    assert html.count("<div") == html.count("</div") == MAX_DEPTH
    assert html.count("<wbr class=a>") == 10_000 - MAX_DEPTH
    assert "text" in html


def test_depth_is_counted_again_after_the_end():
    deep = "<div>" * 10_000 + "</div>" * 10_000
    assert shallow(deep + "<div>after</div>").endswith("<div>after</div>")
