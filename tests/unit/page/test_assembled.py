import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from bitrawl.page.assembled import assemble
from bitrawl.page.outline import outline


def texts(body: str) -> list[str]:
    html = f"<html><body>{body}</body></html>"
    tree = LexborHTMLParser(html)
    assemble(tree, html.encode())
    return [block.text for block in outline(tree).blocks]


BOUNDARY = "<!--$?--><template id=B:0></template><p>Loading</p><!--/$-->"
CALL = '<script>$RC("B:0","S:0")</script>'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{BOUNDARY}<p>after<div hidden id=S:0><p>text</div>{CALL}", ["text", "after"]),
        (f"{BOUNDARY}<div hidden id=S:0><p>text</div>", ["Loading"]),  # no script puts it there
        (f"{BOUNDARY}{CALL}", ["Loading"]),
        (f"{BOUNDARY}<div id=S:0><p>text</div>{CALL}", ["Loading", "text"]),
        (f"<template id=B:0></template><p>Loading<div hidden id=S:0>text</div>{CALL}", ["Loading"]),  # no boundary
        (f"<p id=B:0>Loading<div hidden id=S:0>text</div>{CALL}", ["Loading"]),
        (f"<div hidden id=S:0>{BOUNDARY}</div><p>after{CALL}", ["after"]),  # a place within itself
        (f"{BOUNDARY}<div hidden id=S:0><p>text</div>{CALL}{CALL}", ["text"]),
        ("<p>a <!--$?--><template id=B:0></template>…<!--/$--> c<div hidden id=S:0>b</div>" + CALL, ["a b c"]),
        (
            "<!--$?--><template id=B:0></template><!--$-->one<!--/$-->two<!--/$-->three<div hidden id=S:0>text</div>"
            + CALL,
            ["textthree"],
        ),
    ],
)
def test_a_segment_is_read_in_its_place_if_a_script_of_the_page_puts_it_there(body, expected):
    assert texts(body) == expected


SOLID = "<template id=pl-1></template><p>Loading</p><!--pl-1-->"
SOLID_CALL = '<script>$df("1")</script>'
MARKO = "<!--M_!^1--><p>Loading</p><!--M_!1-->"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{SOLID}<p>after<template id=1><p>text</template>{SOLID_CALL}", ["text", "after"]),
        (f"{SOLID}<template id=1><p>text</template>", ["Loading"]),  # no script puts it there
        (f"{SOLID}<p id=1>text</p>{SOLID_CALL}", ["Loading", "text"]),
        (f"<template id=pl-1></template><p>Loading</p><template id=1><p>text</template>{SOLID_CALL}", ["Loading"]),
        (f"<template id=1>{SOLID}</template><p>after{SOLID_CALL}", ["after"]),  # a place within itself
        (f"{MARKO}<p>after</p><t M_=1>text</t>", ["text", "after"]),
        (f"<p>a <!--M_#1--> c</p><t M_=1>b</t>{MARKO}", ["a b c", "Loading"]),
        (f"{MARKO}<t M_=1><!--M_#2--></t>", ["Loading"]),  # the rest did not arrive
        ("<!--M_!^1--><p>Loading</p><t M_=1>text</t>", ["Loading", "text"]),  # no end
        ("<t M_=1><!--M_#1-->text</t>", ["text"]),
        ("<p>a <b id=afph0>…</b> c</p><div id=af0>b</div><script>$af(0)</script>", ["a b c"]),
        ("<p>a <b id=afph0>…</b> c</p><div id=af0>b</div><script>$af('0',1)</script>", ["a b c"]),
        ("<div id=af0>a <b id=afph0>…</b></div><script>$af(0)</script>", ["a …"]),
    ],
)
def test_a_segment_of_solid_or_marko_is_read_in_its_place(body, expected):
    assert texts(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<x-a><template shadowrootmode=open><p>in</p></template>light</x-a>", ["in"]),
        ("<div><template shadowrootmode=closed>[<slot></slot>]</template>light</div>", ["[light]"]),
        ("<p><template shadowrootmode=OPEN><slot>default</slot></template></p>", ["default"]),
        ("<div><template shadowrootmode=other>in</template>light</div>", ["light"]),
        ("<div><template>in</template>light</div>", ["light"]),
        ("<x-a><template shadowrootmode=open>1<template shadowrootmode=open>2</template></template></x-a>", ["1"]),
        (
            "<x-a><template shadowrootmode=open><x-b><template shadowrootmode=open>(<slot></slot>)</template>[<slot></slot>]</x-b></template>light</x-a>",
            ["([light])"],
        ),
    ],
)
def test_a_shadow_root_takes_the_place_of_the_children_of_its_host(body, expected):
    assert texts(body) == expected


_PIECES = [
    *(SOLID, SOLID_CALL, MARKO, "<template id=1>", "<t M_=1>", "<t M_=2>", "<!--M_#1-->", "<!--M_#2-->", "</t>"),
    *("<!--M_!^2-->", "<!--M_!2-->", "<div id=af0>", "<b id=afph0>", "<script>$af(0)</script>", "<template id=pl-1>"),
    *(
        "<x-a>",
        "</x-a>",
        "<div hidden id=S:0>",
        "<div hidden id=S:1>",
        "</div>",
        "<p>text",
        "<table hidden><tr id=S:0>",
    ),
    *("<template shadowrootmode=open>", "</template>", "<slot>", "<slot name=a>", "</slot>", "<b slot=a>", "</b>"),
    *("<!--$?-->", "<!--/$-->", "<template id=B:0></template>", "<template id=B:1></template>", "<template id=B:0>"),
    *(CALL, '<script>$RC("B:1","S:1");$RS("S:0","B:1");$RS("S:1","B:0");$RC("S:0","B:0")</script>'),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=40))
def test_no_page_is_too_strange(pieces):
    assert all(texts("".join(pieces) + "<p>end"))
