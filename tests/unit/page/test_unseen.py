"""Text that no reader sees, and text that only looks hidden."""

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from bitrawl.page import unseen as unseen_module
from bitrawl.page.outline import outline

SECRET = {
    "latin": "Buy the cheap watches of our partner shop today",
    "cyrillic": "Купите сегодня дешёвые часы в магазине партнёра",
    "arabic": "اشتر الساعات الرخيصة من متجر شريكنا اليوم",
    "han": "今天就到我们的合作商店购买便宜手表",
    "devanagari": "आज ही हमारे साथी की दुकान से सस्ती घड़ियाँ खरीदें",
    "greek": "Αγοράστε σήμερα φτηνά ρολόγια από το κατάστημα",
}
WAYS = {
    "display": "display:none",
    "visibility": "visibility:hidden",
    "opacity": "opacity:0",
    "font-size": "font-size:0",
    "ground": "color:#fff",
    "own-ground": "color:#123456;background:rgb(18, 52, 86)",
    "transparent": "color:transparent",
    "clip": "position:absolute;clip:rect(0 0 0 0)",
    "clip-path": "clip-path:inset(50%)",
    "indent": "text-indent:-9999px",
    "left": "position:absolute;left:-9999px",
    "transform": "transform:translateX(-9999px)",
    "scale": "transform:scale(0)",
    "box": "width:1px;height:1px;overflow:hidden",
}
SEEN = "<p>The harbour wakes before the sun, and the boats come in with the tide.</p>"
SCRIPT = "<script src=/site.js></script>"


def texts(html: str) -> list[str]:
    return [block.text for block in outline(LexborHTMLParser(f"<!doctype html>{html}")).blocks]


def is_read(html: str, secret: str = "secret") -> bool:
    return any(secret in text for text in texts(html))


CASES = [
    (way, script, place)
    for number, way in enumerate(WAYS)
    for place in ("inline", "style element")
    for script in [list(SECRET)[(number + (place == "inline")) % len(SECRET)]]
]


@pytest.mark.parametrize(("way", "script", "place"), CASES)
@pytest.mark.parametrize("around", ["{}", "<div>{}</div>", "<p>Before {} after</p>"])
def test_text_that_a_style_hides_is_not_read(way: str, script: str, place: str, around: str):
    tag = "span" if "Before" in around else "p"
    style = {"inline": f"style='{WAYS[way]}'", "style element": "class=quiet"}[place]
    sheet = f"<style>.quiet {{ {WAYS[way]} }}</style>" if place == "style element" else ""
    hidden = around.format(f"<{tag} {style}>{SECRET[script]}</{tag}>")
    found = texts(f"<html><head>{sheet}</head><body>{SEEN}{hidden}</body></html>")
    assert "The harbour wakes" in found[0]
    assert not any(SECRET[script] in text for text in found)


@pytest.mark.parametrize(
    "html",
    [
        "<p hidden>secret",
        "<span hidden=hidden>secret</span>",
        "<p style='VISIBILITY: Hidden !important'>secret",
        "<font color=white>secret</font>",
        "<table bgcolor=navy><tr><td><font color='#000080'>secret</font></table>",
        "<div style='background:#fff'><p style='color:#fefefe'>secret</div>",
        "<p style='font:0/0 a'>secret",
        "<p style='filter:opacity(0)'>secret",
        "<p style='max-height:0;overflow:hidden'>secret",
        "<p style='position:fixed;top:-200vh'>secret",
        "<p style='margin-left:-9999px'>secret",
        "<p style='text-indent:100%;white-space:nowrap;overflow:hidden'>secret",
        "<style>#a p{display:none}</style><div id=a><p>secret</div>",
        "<style>div > p.x, .y{display:none}</style><div><p class=x>secret</div>",
        "<style>x-note{display:none}</style><x-note>secret</x-note>",
        "<style>[data-k=v]{opacity:0}</style><p data-k=v>secret",
        "<style>@media screen{.x{opacity:0}}</style><p class=x>secret",
        "<style>@media all and (min-width:1px){p{color:red}}.x{display:none}</style><p class=x>secret",
        "<style media=screen>.x{opacity:0%}</style><p class=x>secret",
        "<style>/* } */.x{/* x */opacity:.0}</style><p class=x>secret",
        "<style>.x{display:none}p.x{color:red}</style><p class=x>secret",
        "<style>@media print{.x{display:block}}.x{display:none}</style><p class=x>secret",
        "<style>.x{position:absolute}.y{left:-999em}</style><p class='x y'>secret",
        "<style>.x{display:none}.open .x{display:block}</style><p class=x>secret",
        "<style>.x{font-size:0}</style><p class=x><b>sec</b><i>ret secret</i>",
        "<style>body{background:black}.x{color:black}</style><p class=x>secret",
        "<link rel=stylesheet href=x.css><script src=x.js></script><p style='opacity:0'>secret",
        "<link rel=stylesheet href=x.css><p style='color:#eee;background:#eee'>secret",
    ],
)
def test_text_is_hidden_by_whatever_the_page_itself_says(html: str):
    assert not is_read(SEEN + html)


@pytest.mark.parametrize(
    "html",
    [
        "<details><summary>More</summary><p>secret</p></details>",
        "<div hidden=until-found>secret</div>",
        "<p aria-hidden=true>secret",
        "<p style='opacity:0.5'>secret",
        "<p style='color:rgb(nan,0,0);background:rgb(1e999,0,0)'>secret",
        "<style>@media print{.x{display:none}}</style><p class=x>secret",
        "<style media=print>.x{display:none}</style><p class=x>secret",
        "<style>@media (max-width:600px){.x{display:none}}</style><p class=x>secret",
        "<style>.x{display:none}@media (min-width:600px){.x{display:block}}</style><p class=x>secret",
        "<noscript><style>.x{display:none}</style></noscript><p class=x>secret",
        "<style>.x{display:none}.x{display:block}</style><p class=x>secret",
        "<style>#a .x{display:block}.x{display:none}</style><div id=a><p class=x>secret</div>",
        "<style>.x{display:block!important}.x{display:none}</style><p class=x>secret",
        "<style>@layer a{p.x{display:none}}.x{display:block}</style><p class=x>secret",
        "<style>.x{display:none}</style><p class=x style='display:block'>secret",
        "<style>.x{display:none}.x:hover{display:block}</style><p class=x>secret",
        "<style>.x{display:none}.x:target{display:block}</style><p class=x id=x>secret",
        "<style>.x{max-height:0;overflow:hidden}input:checked~.x{max-height:9em}</style><input type=checkbox><p class=x>secret",
        "<style>.x:not(.on){display:none}</style><p class=x>secret",
        "<style>.js .x{opacity:0}</style><p class=x>secret",
        "<style>.no-js .x{display:none}</style><div class=no-js><p class=x>secret</div>",
        "<style>.y .x{display:none}</style><p class=x>secret",
        "<style>.x::before{display:none}</style><p class=x>secret",
        "<style>@keyframes x{from{opacity:0}to{opacity:1}}</style><p class=x>secret",
        "<style>.x{opacity:0;animation:in 1s forwards}</style><p class=x>secret",
        "<style>.x{display:none}.x.on{display:block}</style><p class=x>secret" + SCRIPT,
        "<style>.pane{display:none}</style><p class=pane>secret<script>show('.pane')</script>",
        "<style>#pane{display:none}</style><a href='#pane'>More</a><p id=pane>secret" + SCRIPT,
        "<style>.x{opacity:0}</style><noscript><style>.x{opacity:1}</style></noscript><p class=x>secret" + SCRIPT,
        "<p style='opacity:0;transform:translateY(20px)'>secret" + SCRIPT,
        "<p style='opacity:0' data-w-id=7>secret" + SCRIPT,
        "<style>.x{opacity:0;transition:opacity 1s}</style><p class=x>secret" + SCRIPT,
        "<ul style='font-size:0'><li style='font-size:14px'>secret</ul>",
        "<style>ul{font-size:0}li{font-size:1rem}</style><ul><li>secret</ul>",
        "<div style='visibility:hidden'><p style='visibility:visible'>secret</p></div>",
        "<p style='color:#fff;background:#036'>secret",
        "<div style='background:url(dark.jpg)'><p style='color:#fff'>secret</div>",
        "<style>.x{background:#036}</style><div class=x><p style='color:#fff'>secret</div>",
        "<link rel=stylesheet href=x.css><div class=dark><p style='color:#fff'>secret</div>",
        "<div style='position:absolute'><p style='color:#fff'>secret</div>",
        "<p style='color:transparent;-webkit-background-clip:text;background:linear-gradient(red,blue)'>secret",
        "<div style='position:relative;height:0;padding-bottom:56%;overflow:hidden'>secret</div>",
        "<p style='position:relative;left:-20px;text-indent:-2em'>secret",
        "<p style='clip-path:inset(0 5%)'>secret",
        "<style>body{color:white}canvas{position:fixed}</style><canvas></canvas><p>secret",
    ],
)
def test_text_that_a_reader_can_see_or_open_is_read(html: str):
    assert is_read(SEEN * 3 + html)


@pytest.mark.parametrize("style", ["body{display:none}", "html{visibility:hidden}", "#all{opacity:0}"])
def test_a_page_that_a_script_shows_when_it_is_ready_is_read(style: str):
    assert is_read(f"<style>{style}</style><body><div id=all>{SEEN}secret</div><footer>foot</footer>{SCRIPT}")


def test_hidden_text_leaves_its_links():
    page = outline(LexborHTMLParser("<p>one <span style='opacity:0'><a href=two>two</a></span> three"))
    assert [block.text for block in page.blocks] == ["one three"]
    assert [place.attributes["href"] for place in page.anchors] == ["two"]


@pytest.mark.parametrize(
    "html",
    [
        # lexbor itself takes minutes for such a selector: it tries every way to choose five of the elements around
        "<style>" + "i div div div div div p{display:none}" * 150 + "</style>" + "<div>" * 400 + "<p>x",
        "<style>" + "".join(f".a{n}{{opacity:0}}" for n in range(400)) + "</style>" + "<p class='a1 a2'>x" * 4_000,
        "<style>" + "p{visibility:hidden}" * 300 + "</style>" + "<p>x" * 5_000 + SCRIPT,
        "<style>" + "p{color:#fff}" * 300 + "</style>" + "<p>x" * 5_000,
        "<style>" + "@media all{" * 700 + "p{display:none}",
        "<style>" + "p{" * 3_000 + "display:none",
        "<style>" + "/*" * 4_000,
        "<style>" + "p[" * 4_000 + "{display:none}",
        "<style>" + "((((" * 1_900 + ",p{display:none}",
        "<style>p{clip-path:polygon(" + "0 0," * 1_900 + "}</style><p>x",
        "<style>p{background:" + "a(" * 3_900 + ";color:red}</style><p>x",
        "<span style='font-size:0'>x" * 2_000,
        "<font color=#fff>x" * 2_000,
        "".join(f"<p class=aaa{n} style=opacity:0>x" for n in range(2_000)) + f"<script>{'a ' * 100_000}</script>",
    ],
)
def test_a_hostile_style_costs_a_bounded_number_of_steps(html: str, monkeypatch: pytest.MonkeyPatch):
    steps = []
    spend = unseen_module._Styled.can_spend
    monkeypatch.setattr(unseen_module._Styled, "can_spend", lambda page, count: steps.append(1) or spend(page, count))
    started = time.process_time()
    outline(LexborHTMLParser(html))
    assert len(steps) <= 3 * unseen_module.MAX_STEPS
    assert time.process_time() - started < 10  # what is not bounded takes minutes
