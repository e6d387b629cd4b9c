import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from bitrawl.cli.align import align
from bitrawl.demo.sites import sites
from bitrawl.errors import ConfigError
from bitrawl.mining.align_evidence import Document, Text
from bitrawl.mining.align_search import WIDE
from bitrawl.mining.aligned_pages import SiteAligner, translated_part
from bitrawl.mining.embedding_aligner import EmbeddingAligner
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.model import Language, Page, Paragraph, ParagraphKind
from bitrawl.text.known_words import Dictionary, known_words
from bitrawl.text.sentences import sentences
from bitrawl.url import Url

EN, FR = Language("en"), Language("fr")


def page(address, blocks, tags=()):
    return Page(Url.parse(address), paragraphs=tuple(blocks), tags=tuple(tags))


def paragraph(text, kind=ParagraphKind.TEXT, *, boilerplate=False, position=-1):
    return Paragraph(text, kind, boilerplate=boilerplate, position=position)


def article(language, key="home", site="bees"):
    """An article of the bundled web as a page: a menu, its title, its paragraphs."""
    content = sites()[site]
    version = content.version(next(each for each, _ in content.each() if each.key == key), language)
    texts = version.text.strip().split("\n\n")
    tags = ["nav", "li", "a", "#text", "main", "h1", "#text", *["p", "#text"] * len(texts)]
    return page(
        f"http://site.test/{language}/{key}",
        [
            paragraph("Menu", ParagraphKind.LISTITEM, boilerplate=True, position=3),
            paragraph(version.title, ParagraphKind.HEADING, position=6),
            *(paragraph(" ".join(text.split()), position=8 + 2 * n) for n, text in enumerate(texts)),
        ],
        tags,
    )


def test_two_pages_become_segments_with_their_places():
    (found,) = SiteAligner((EN, FR)).align([(article("en"), article("fr"))])
    assert (found[0].a.text, found[0].b.text) == ("Who we are", "Qui nous sommes")
    assert found[0].type == "1:1"
    assert found[0].a.paragraph == found[0].b.paragraph == 1
    assert all(segment.a.paragraph == segment.b.paragraph for segment in found)
    assert [segment.a.sentence for segment in found] == sorted(segment.a.sentence for segment in found)
    assert "Menu" not in {segment.a.text for segment in found}
    assert all(str(segment.url_a).startswith("http://site.test/en/") for segment in found)


def test_of_partly_translated_pages_only_what_differs_is_aligned():
    english, french = article("en"), article("fr")
    rest = [paragraph("A paragraph that nobody has translated yet."), paragraph("And another one of the same kind.")]
    whole = [page(one.url, [rest[0], *one.paragraphs, rest[1]], ["p", *one.tags, "p"]) for one in (english, french)]
    (found,) = SiteAligner((EN, FR)).align([translated_part((whole[0], whole[1]))])
    (expected,) = SiteAligner((EN, FR)).align([(english, french)])
    assert [(one.a.text, one.b.text) for one in found] == [(one.a.text, one.b.text) for one in expected]
    assert found[0].a.paragraph == expected[0].a.paragraph + 1  # its place on the page as it was fetched


def test_blocks_hold_what_lengths_and_words_would_confuse():
    """Headings of one word each: only their tags tell which of the two has no translation."""
    a = [("Xylo", "h2"), ("Quorn", "h3"), ("Zorb", "h4")]
    b = [("Bim", "h2"), ("Bam", "h4")]

    def built(address, blocks):
        tags = [tag for _, tag in blocks for tag in (tag, "#text")]
        return page(
            address,
            [paragraph(text, ParagraphKind.HEADING, position=1 + 2 * n) for n, (text, _) in enumerate(blocks)],
            tags,
        )

    (found,) = SiteAligner((EN, FR)).align([(built("http://s.test/a", a), built("http://s.test/b", b))])
    assert [(segment.a.text, segment.b.text) for segment in found] == [("Xylo", "Bim"), ("Zorb", "Bam")]


def test_later_pages_profit_from_those_before():
    aligner = SiteAligner((EN, FR))
    aligner.align([(article("en", key), article("fr", key)) for key in keys_in("bees", "en", "fr")])
    assert len(aligner.lexicon) > 20
    before = len(aligner.lexicon)
    aligner.align([(article("en", "home"), article("fr", "home"))])
    assert len(aligner.lexicon) >= before


def keys_in(site, *languages):
    content = sites()[site]
    every = {each.key: each for each, _ in content.each()}
    return [key for key, each in every.items() if set(languages) <= set(content.languages_of(each))]


@pytest.mark.parametrize("pair", [([], []), ([paragraph("Nothing but a menu", boilerplate=True)], [])])
def test_a_page_without_main_text_gives_no_segments(pair):
    pages = page("http://s.test/a", pair[0]), page("http://s.test/b", pair[1])
    assert SiteAligner((EN, FR)).align([pages]) == [[]]
    assert SiteAligner((EN, FR)).align([]) == []


def test_sentences_that_are_joined_stand_as_on_the_page():
    english = "It was late.Élise went home. She slept well. She dreamt of bees and of honey until seven."
    french = "Comme il était tard, Élise rentra et dormit bien, et rêva jusqu'à sept heures d'abeilles et de miel."
    a, b = page("http://s.test/a", [paragraph(english)]), page("http://s.test/b", [paragraph(french)])
    (found,) = SiteAligner((EN, FR)).align([(a, b)])
    assert found
    assert all(segment.a.text in english and segment.b.text in french for segment in found)
    assert any(segment.type != "1:1" for segment in found)


def test_segments_of_a_script_without_spaces_are_joined_without_one():
    a = page("http://s.test/a", [paragraph("他走了，因为外面下雨了。他没有带伞。")])
    b = page("http://s.test/b", [paragraph("He went away without an umbrella because it was raining outside")])
    (found,) = SiteAligner((Language("zh"), EN)).align([(a, b)])
    assert all(" " not in segment.a.text for segment in found)


def test_a_long_text_that_one_side_has_alone_does_not_lose_the_rest():
    """A part is narrower than the gap: anchors have to find the way around it."""
    a = [f"The keeper of hive {n} wrote down {n * 37 % 1000} grams of honey." for n in range(WIDE)]
    b = [f"Le gardien de la ruche {n} nota {n * 37 % 1000} grammes de miel." for n in range(WIDE)]
    gap = ["Ce passage ne se trouve que dans un des deux textes, et il est long."] * 192
    beads = LexicalAligner().align_documents([Document.plain(a, b[:100] + gap + b[100:], (EN, FR))])[0]
    right = sum(bead.a == (n,) and bead.b == (n + len(gap),) for bead in beads for n in bead.a if n >= 100)
    assert right > 0.95 * (WIDE - 100)


def numbered(language, text, count):
    texts = [f"{text} {n * 37 % 5000}." for n in range(count)]
    return Text.marked(texts, language, range(count), [("<text>", "<p>")] * count)


@pytest.mark.parametrize(
    ("language", "text"),
    [("ja", "北の湾に着いた船の数は"), ("ar", "وصلت إلى الميناء السفن رقم")],
)
def test_memory_grows_with_the_paragraphs_and_not_with_their_square(language, text):
    peaks = []
    for count in (300, 1200):
        document = Document(
            numbered(EN, "Into the northern bay came ships:", count), numbered(Language(language), text, count)
        )
        tracemalloc.start()
        beads = LexicalAligner().align_documents([document])[0]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert sum(bead.a == bead.b != () for bead in beads) > 0.99 * count
    assert peaks[1] < 5 * peaks[0], peaks


def test_a_dictionary_helps_where_nothing_else_does(tmp_path: Path):
    words_a = ["moss", "wall", "stone", "tree", "rain", "moon", "fish", "bird"]
    words_b = ["goru", "talu", "meki", "sopa", "vuni", "hasa", "peko", "limu"]
    a, b = words_a, words_b[:3] + words_b[4:]
    (tmp_path / "words.tsv").write_text("".join(map("{}\t{}\n".format, words_a, words_b)), "utf-8")
    languages = EN, Language("tlh")
    words = known_words(*languages, Dictionary.of(str(tmp_path / "words.tsv"), languages))
    beads = LexicalAligner(prior=words).align_documents([Document.plain(a, b, languages)])[0]
    assert ((3,), ()) in [(bead.a, bead.b) for bead in beads]


class ConceptEncoder:
    """Stands in for a model that knows both languages: a direction for each concept."""

    CONCEPTS = (("bees", "abeilles"), ("honey", "miel"), ("rain", "pluie"), ("winter", "hiver"), ("wood", "bois"))

    def encode(self, texts):
        rows = [[float(any(word in text for word in words)) + 0.01 for words in self.CONCEPTS] for text in texts]
        return np.array(rows, np.float32) / np.linalg.norm(rows, axis=1, keepdims=True)


def test_embeddings_join_what_means_the_same():
    a = ["bees", "honey and rain", "winter", "wood"]
    b = ["abeilles", "miel", "pluie", "hiver", "bois"]
    beads = EmbeddingAligner(ConceptEncoder()).align_documents([Document.plain(a, b, (EN, FR))])[0]
    assert [(bead.a, bead.b) for bead in beads] == [((0,), (0,)), ((1,), (1, 2)), ((2,), (3,)), ((3,), (4,))]


app = typer.Typer()
app.command()(align)
run = CliRunner().invoke


def write(folder, name, language):
    content = sites()["bees"]
    texts = [content.version(each, language).text for each, found in content.each() if found == language]
    path = folder / name
    lines = [line for text in texts[:1] for line in sentences(text, Language(language))]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def test_the_ladder_of_two_files_is_printed(tmp_path):
    a, b = write(tmp_path, "a.txt", "en"), write(tmp_path, "b.txt", "fr")
    done = run(app, ["--langs", "en,French", str(a), str(b)])
    assert done.exit_code == 0
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert all(len(row) == 3 and (0 <= float(row[2]) <= 1 if row[0] and row[1] else not row[2]) for row in rows)
    numbers = [int(n) for row in rows for n in row[0].split(",") if n]
    assert numbers == list(range(len(a.read_text("utf-8").splitlines())))


def test_a_list_gives_a_ladder_for_each_of_its_lines(tmp_path):
    a, b = write(tmp_path, "a.txt", "en"), write(tmp_path, "b.txt", "fr")
    empty = tmp_path / "empty.txt"
    empty.write_text("", "utf-8")
    (tmp_path / "pairs.tsv").write_text(f"{a}\t{b}\n{a}\t{empty}\n", "utf-8")
    out = tmp_path / "ladders"
    done = run(app, ["--langs", "en,fr", "--list", str(tmp_path / "pairs.tsv"), "--out", str(out)])
    assert done.exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["1.tsv", "2.tsv"]
    assert (out / "2.tsv").read_text("utf-8").startswith("0\t\t\n1\t\t\n")  # no counterpart, no score


def test_a_blank_line_of_a_list_has_no_ladder_and_the_others_keep_their_numbers(tmp_path):
    a, b = write(tmp_path, "a.txt", "en"), write(tmp_path, "b.txt", "fr")
    (tmp_path / "pairs.tsv").write_text(f"{a}\t{b}\n\n{a}\t{b}\n \n\n", "utf-8")
    out = tmp_path / "ladders"
    assert run(app, ["--langs", "en;fr", "--list", str(tmp_path / "pairs.tsv"), "--out", str(out)]).exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["1.tsv", "3.tsv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--langs", "en", "a", "b"], "two languages"),
        (["--langs", "en,xx-nonsense", "a", "b"], "is not a known language"),
        (["--langs", "en,fr", "a"], "two files"),
        (["--langs", "en,fr", "absent", "absent"], "cannot be read"),
        (["--langs", "en,fr", "--list", "pairs"], "--out"),
        (["--langs", "en,fr", "--out", "there", "a", "b"], "--list"),
        (["--langs", "en,fr", "--list", "pairs", "--out", "there", "a", "b"], "not both"),
    ],
)
def test_what_cannot_be_aligned_is_said_clearly(arguments, message):
    error = run(app, arguments).exception
    assert isinstance(error, ConfigError)
    assert message in str(error)
