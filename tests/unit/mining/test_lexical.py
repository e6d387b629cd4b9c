"""The default aligner as a whole: whatever the texts, in batches, with what was learned before."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitrawl.demo.sites import sites
from bitrawl.mining import lexical_aligner
from bitrawl.mining.align_evidence import Document, Text
from bitrawl.mining.lexical_aligner import LexicalAligner
from bitrawl.model import Language
from bitrawl.text.sentences import sentences

LANGUAGES = [Language(code) for code in ("en", "fr", "el", "ar", "zh", "th", "ko", "am", "und")]


def bundled(language_a, language_b):
    """Articles of the bundled web, as pages."""
    return [
        Document(*(text(site, article, language) for language in (language_a, language_b)))
        for site in sites().values()
        for article in {article.key: article for article, _ in site.each()}.values()
        if {language_a, language_b} <= set(site.languages_of(article))
    ]


def text(site, article, language):
    paragraphs = site.version(article, language).text.strip().split("\n\n")
    found = [sentences(paragraph, Language(language)) for paragraph in paragraphs]
    blocks = [number for number, some in enumerate(found) for _ in some]
    flat = [sentence for some in found for sentence in some]
    return Text.marked(flat, Language(language), blocks, [("<text>", "<p>")] * len(found))


def complete(document, beads):
    assert [i for bead in beads for i in bead.a] == list(range(len(document.a.tokens)))
    assert [j for bead in beads for j in bead.b] == list(range(len(document.b.tokens)))
    assert all(bead.a or bead.b for bead in beads)
    assert all(0.0 <= bead.score <= 1.0 for bead in beads)


WORDS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", "the", "2024", "12,5", "🐝", "🐝🍯", "λόγος", "ὁ", "蜜蜂", "ผึ้ง", "نحل", "꿀벌", "ንብ", "\ud800", "\x00"]
    ),
)
SENTENCE = st.lists(WORDS, max_size=12).map(" ".join)
SIDE = st.lists(SENTENCE, max_size=12)
LANGUAGE = st.sampled_from(LANGUAGES)


@st.composite
def marked(draw, language):
    """A side in blocks, or without any."""
    side = draw(SIDE)
    if not side or draw(st.booleans()):
        return Text.plain(side, language)
    steps = draw(st.lists(st.booleans(), min_size=len(side), max_size=len(side)))
    blocks = [sum(steps[1 : n + 1]) for n in range(len(side))]
    return Text.marked(side, language, blocks, [("<p>",)] * (blocks[-1] + 1))


@st.composite
def some_documents(draw):
    a, b = draw(LANGUAGE), draw(LANGUAGE)
    return draw(st.lists(st.builds(Document, marked(a), marked(b)), max_size=5))


@settings(max_examples=60, deadline=None)
@given(some_documents())
def test_any_texts_are_aligned_completely(documents):
    aligner = LexicalAligner()
    for either in (aligner, aligner.knowing()):
        found = either.align_documents(documents)
        assert len(found) == len(documents)
        for document, beads in zip(documents, found, strict=True):
            complete(document, beads)


KINDS = {
    "one word": "word",
    "digits": "1234567890",
    "emoji": "🐝🍯🌻",
    "many words": "honey bees " * 20_000,
    "a million letters": "a" * 1_000_000,
    "blank": "   ",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 3])
def test_odd_texts_are_aligned_completely(kind, count):
    ordinary = ["The bees fly.", "They make honey.", "It is sweet."]
    for a, b in ((ordinary, [KINDS[kind]] * count), ([KINDS[kind]] * count, [KINDS[kind]])):
        document = Document(Text.plain(a, LANGUAGES[0]), Text.plain(b, LANGUAGES[1]))
        complete(document, LexicalAligner().align_documents([document])[0])


def test_a_million_words_are_aligned_with_three_sentences():
    a = ["The bees fly.", "They make honey.", "It is sweet."]
    document = Document(Text.plain(a, LANGUAGES[0]), Text.plain(["honey bees " * 500_000], LANGUAGES[1]))
    complete(document, LexicalAligner().align_documents([document])[0])


@pytest.mark.parametrize("sizes", [(2000, 2000), (3000, 40), (40, 3000)])
def test_long_strangers_are_aligned_completely(sizes):
    a = [f"alpha{n * 7919 % 1009} beta{n % 13}" for n in range(sizes[0])]
    b = [f"gimel{n * 104729 % 997} dalet{n % 7} he" for n in range(sizes[1])]
    document = Document(Text.plain(a, LANGUAGES[0]), Text.plain(b, LANGUAGES[1]))
    complete(document, LexicalAligner().align_documents([document])[0])


def test_a_long_document_whose_sections_were_moved_is_aligned_completely():
    a = [f"The keeper of hive {n} wrote down {n * 37 % 1000} grams of honey." for n in range(400)]
    b = [f"Le gardien de la ruche {n} nota {n * 37 % 1000} grammes de miel." for n in range(400)]
    document = Document(Text.plain(a, LANGUAGES[0]), Text.plain(b[200:] + b[:200], LANGUAGES[1]))
    beads = LexicalAligner().align_documents([document])[0]
    complete(document, beads)
    assert sum(bead.a == (n,) and abs(bead.b[0] - n) == 200 for bead in beads for n in bead.a if bead.b) > 180


def test_with_what_is_known_a_document_does_not_depend_on_those_beside_it(monkeypatch):
    monkeypatch.setattr(lexical_aligner, "SLICE", 30)
    documents = bundled("en", "fr")
    aligner = LexicalAligner()
    aligner.learn(documents[: len(documents) // 2])
    aligner = aligner.knowing()
    together = aligner.align_documents(documents)
    assert [aligner.align_documents([document])[0] for document in documents] == together
    backwards = aligner.align_documents(documents[::-1])
    assert backwards[::-1] == together


def test_what_was_learned_can_be_used_in_another_process():
    documents = bundled("en", "es")
    aligner = LexicalAligner()
    knowledge = pickle.loads(pickle.dumps(aligner.learn(documents)))
    other = LexicalAligner(knowledge=knowledge)
    assert other.align_documents(documents) == aligner.knowing().align_documents(documents)
    assert len(other.lexicon) == len(aligner.lexicon) > 20


def test_aligning_without_learning_learns_nothing():
    documents = bundled("en", "fr")
    aligner = LexicalAligner()
    before = aligner.learn(documents[:3])
    knowing = aligner.knowing()
    knowing.align_documents(documents)
    assert knowing.knowledge is before


def test_a_sample_teaches_almost_as_much_as_everything(monkeypatch):
    documents = bundled("en", "fr")
    whole = LexicalAligner().align_documents(documents)
    monkeypatch.setattr(lexical_aligner, "SAMPLE", sum(len(document.a.tokens) for document in documents) // 3)
    sampled = LexicalAligner().align_documents(documents)
    beads = {(n, bead.a, bead.b) for n, some in enumerate(whole) for bead in some}
    again = {(n, bead.a, bead.b) for n, some in enumerate(sampled) for bead in some}
    assert len(beads & again) > 0.98 * len(beads)
