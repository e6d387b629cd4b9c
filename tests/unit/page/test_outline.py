import pytest
from selectolax.lexbor import LexborHTMLParser

from bitrawl.model import ParagraphKind
from bitrawl.page.outline import MAX_TAGS, TEXT, Outline, normalise, outline
from bitrawl.text.sentences import LINE_END


def outline_of(html: str) -> Outline:
    return outline(LexborHTMLParser(html))


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("<p>one<p>two", ["one", "two"]),
        ("one<br>two", ["one two"]),
        ("one<br> <br>two", ["one", "two"]),
        ("<div>loose <p>inner</p> tail</div>", ["loose", "inner", "tail"]),
        ("<table><tr><td>a<td>b<tr><th>c</table>", ["a", "b", "c"]),
        ("<dl><dt>term<dd>meaning</dl>", ["term", "meaning"]),
        ("<figure><img src=x><figcaption>below</figcaption></figure>", ["below"]),
        ("<pre>a\n  b</pre><blockquote>said</blockquote>", ["a b", "said"]),
        ("<p>w<b>or</b>d <i>next</i></p>", ["word next"]),
        ("<p><b>a</b> <b>b</b></p>", ["a b"]),
        ("<a href=x><div>boxed</div></a>", ["boxed"]),
        ("<p>see<script>no()</script><style>p{}</style><template>t</template> me", ["see me"]),
        ("<p>yes</p><noscript>no</noscript><svg><text>no</text></svg><select><option>no</select>", ["yes"]),
        ("<div hidden>no</div><div style='DISPLAY : none'>no</div><dialog>no</dialog><p>yes", ["yes"]),
        ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字", ["漢字"]),
        ("<!-- no --><my-card>custom</my-card>", ["custom"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_every_visible_paragraph_is_a_block(html, texts):
    assert [block.text for block in outline_of(html).blocks] == texts


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('word<sup><a href="#fn1">1</a></sup> more', "word more"),
        ('word <a href="#ftn.1" class="footnote"><sup class="footnote">[1]</sup></a>.', "word."),
        ('word<sup id="r" class="reference"><a href="#n"><span>[</span>1<span>]</span></a></sup>, so', "word, so"),
        (
            'word<a href="#_ftn1" name="_ftnref1">[1]</a> is<br><a href="#_ftnref1" name="_ftn1">[1]</a> a note',
            "word is a note",
        ),
        ('word<sup><a href="#fn1">1</a>, <a href="#fn2">2</a></sup> more', "word more"),
        ('word<a role="doc-noteref" href="notes.xhtml#n1">7</a> more', "word more"),
        ('word<sup><a href="#fn1"><span>Footnote </span>1</a></sup> more', "word more"),
        ('word<sup class="footnote">3</sup> more', "word more"),
        ('A note. <a href="#fnref1" class="footnote-backref">↩</a>', "A note."),
        ("5 m<sup>2</sup>, 1<sup>st</sup>, H<sub>2</sub>O, x<sup>n</sup>", "5 m2, 1st, H2O, xn"),
        ('Name<sup><a href="#tm">TM</a></sup>', "NameTM"),
        ('see <a href="#ref1">[1]</a> and <a href="#s2">2</a>', "see [1] and 2"),
        ('<a id="toc1" href="#c1">Chapter 1</a> <a id="c1" href="#toc1">Chapter 1</a>', "Chapter 1 Chapter 1"),
        ('<a href="/2024#top">2024</a> <a href="#top">Back to top ↑</a>', "2024 Back to top ↑"),
    ],
)
def test_marks_of_notes_are_no_words(html, text):
    assert " ".join(block.text for block in outline_of(f"<p>{html}</p>").blocks) == text


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\u00a0\u2003b\u3000c\t\n d", "a b c d"),
        ("so\u00adft \ufeffmark\u200e\u202e", "soft mark"),
        ("a\x00\x07b\x7fc", "abc"),
        ("e\u0301", "é"),
        ("La\u200btin\u200d zero\u200cwidth", "Latin zerowidth"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # Persian: I want
        ("क्\u200dष", "क्\u200dष"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("ភាសា\u200bខ្មែរ", "ភាសា\u200bខ្មែរ"),  # Khmer separates words so
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        (
            "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
            "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        ),
        ("a" + "".join(chr(0xE0000 + ord(c)) for c in "obey") + "b", "ab"),
        ("🏴" + "".join(chr(0xE0000 + ord(c)) for c in "ignore all of it") + "\U000e007f", "🏴"),
        ("שלום C++\u200e הוא", "שלום C++\u200e הוא"),
        ("שלום\u200f\u200f\u200e!", "שלום\u200f!"),
        ("user\u202egnp.exe\u202c \u2066x\u2069", "usergnp.exe x"),
        ("שלום\u202e abc\u202c", "שלום abc"),
        ("w\u200d\u200c\u200d\u200c\u200bord \u2060\u2063\u2064", "word"),
        ("می\u200c\u200c\u200dخواهم", "می\u200cخواهم"),
        ("ភាសា\u200b\u200b\u200bខ្មែរ", "ភាសា\u200bខ្មែរ"),
        ("\u200bไทย\u200b", "ไทย"),
        ("日\u200d本\u200c語", "日本語"),
        ("a\U000e0101\U000e0155\ufe01b", "ab"),
        ("葛\U000e0100\U000e0120", "葛\U000e0100"),
        ("\u3164\u3164name", "name"),
        ("plain", "plain"),
    ],
)
def test_text_is_normalised_and_scripts_keep_their_joiners(raw, clean):
    assert normalise(raw) == clean


def test_kinds_follow_the_elements():
    page = outline_of(
        "<title>Moss – Garden</title><h2>Garden</h2><h1><span>Moss</span></h1><ul><li><p>item</ul><p>text"
    )
    assert page.title == "Moss – Garden"
    assert [block.kind for block in page.blocks] == [
        ParagraphKind.TITLE,  # the first heading that the title repeats
        ParagraphKind.HEADING,
        ParagraphKind.LISTITEM,
        ParagraphKind.TEXT,
    ]


def test_the_tag_sequence_holds_structure_and_not_type_styles():
    page = outline_of("<div><p><b>x</b> <a href=y>z</a></p><img src=i><span>t</span></div>")
    assert page.tags == ["html", "body", "div", "p", TEXT, "a", "img", TEXT]
    assert [page.tags[block.position] for block in page.blocks] == [TEXT, TEXT]
    assert [page.tags[position] for _, position in page.images] == ["img"]


def test_anchors_know_their_place_and_their_block():
    page = outline_of(
        "<div hidden><a href=hidden>no</a></div><p>one <a href=two>two</a></p>"
        "<a href=box><div>boxed</div></a>after<map><area href=area></map><p><a href=image><img src=i></a></p><a>no</a>"
    )
    found = [(place.attributes["href"], page.tags[place.position], place.block) for place in page.anchors]
    assert found == [("hidden", "a", -1), ("two", "a", 0), ("box", "a", 1), ("area", "area", -1), ("image", "a", -1)]
    assert [(block.links, block.link_chars) for block in page.blocks[:3]] == [(1, 3), (1, 5), (0, 0)]


def test_containers_span_their_blocks():
    page = outline_of("<main id=m><p>a</p><div class='x y' role=z><p>b</p><p>c</p></div></main><p>d")
    spans = {
        (tag, words): (first, end)
        for tag, words, first, end in zip(
            page.containers.tags,
            page.containers.words,
            page.containers.first,
            page.containers.end,
            strict=True,
        )
        if words
    }
    assert spans == {("main", "m"): (0, 3), ("div", "x y z"): (1, 3)}
    assert page.containers.end[0] == len(page.blocks)


@pytest.mark.parametrize("tag", ["div", "span", "b", "ul><li", "table><tr><td"])
def test_deep_nesting_neither_recurses_nor_grows_the_sequence_without_end(tag):
    page = outline_of(f"<{tag}>" * 1_000 + "bottom")
    assert [block.text for block in page.blocks] == ["bottom"]
    assert len(page.tags) <= MAX_TAGS


def test_a_tree_far_deeper_than_the_stack_of_python_is_walked():
    # The walk takes 0.2 s for 100,000 levels; lexbor's parser a minute, which page/decode.py spares it.
    page = outline_of("<div>" * 20_000 + "bottom")
    assert len(page.tags) == MAX_TAGS
    assert [(block.text, block.position) for block in page.blocks] == [("bottom", -1)]
    assert len(page.containers.tags) > 20_000


LONG = "one line of a long list that has no ends"


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        (f"<p>{'<br>'.join([LONG] * 20)}</p>", 20),
        (f"<pre>{chr(10).join([LONG] * 20)}</pre>", 20),
        (f"<pre><code>{chr(10).join([LONG] * 20)}</code></pre>", 20),
        (f"<p>{chr(10).join([LONG] * 20)}</p>", 0),  # white space of the source is no line break
        (f"<p>{'<br>'.join([LONG] * 5)}</p>", 0),  # short enough
        (f"<p>{'<br>'.join([LONG + '. And so on.'] * 20)}</p>", 0),  # sentences end
    ],
)
def test_a_long_text_without_ends_of_sentences_keeps_its_line_breaks(html, lines):
    (block,) = outline(LexborHTMLParser(html)).blocks
    assert (block.lines.count(LINE_END) + 1 if block.lines else 0) == lines
    assert LINE_END not in block.text
    assert block.lines.replace(LINE_END, " ") in ("", block.text)
