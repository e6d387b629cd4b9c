import pytest

from bitrawl.page.decode import FEW_TAGS, MAX_DEPTH, shallow, whole_notices


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


@pytest.mark.parametrize(
    "notice",
    [*"<div>|<p>Bitte|<style>|<!-- |<img alt='x|</div>|<a href=/x>請啟用".split("|"), "<div>" * 1000 + "</div>" * 1000],
)
def test_what_does_not_end_in_a_noscript_does_not_hide_the_rest_of_the_page(notice):
    html = f"<div><p>before<noscript>{notice}</noscript><p>after"
    assert whole_notices(html) == "<div><p>before<noscript></noscript><p>after"


@pytest.mark.parametrize(
    "notice", ["", "1 < 2", "<!-- <div> -->", "<ul><li>a<li>b</ul>", "<img src='>'><br/>", "<P>x</p>"]
)
def test_a_whole_noscript_is_the_same(notice):
    html = f"<p>before<NoScript class=x>{notice}</NoScript><p>after"
    assert whole_notices(html) is html


def test_a_noscript_without_an_end_is_left_as_it_is():
    html = "<noscript><div><p>all of it"
    assert whole_notices(html) is html
