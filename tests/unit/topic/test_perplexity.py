import math

import pytest

from bitrawl.model import UNDETERMINED, Language, Page, Paragraph
from bitrawl.text.ngram_models import sequences, train
from bitrawl.topic.judge import ENDLESS, PerplexityRelevance, boundaries, perplexities, usual_maximum
from bitrawl.url import Url

ENGLISH, FRENCH = Language("en"), Language("fr")
CATS = """The cat sleeps on the warm wall. A cat hunts mice in the garden at night. The old cat of the house sleeps all
day. A young cat hunts birds in the garden. The mice in the house fear the old cat."""
CHATS = (
    "Le chat dort sur le mur chaud. Un jeune chat chasse les souris dans le jardin. Le vieux chat dort tout le jour."
)
LAW = "Courts of appeal review decisions which lower tribunals have rendered under applicable statutes."


def models(texts):
    return {language: train(sequences(text), 5) for language, text in texts.items()}


@pytest.fixture(scope="module")
def relevance():
    return PerplexityRelevance(models({ENGLISH: CATS, FRENCH: CHATS}))


def page(*texts, language=ENGLISH, boilerplate=()):
    paragraphs = [Paragraph(text) for text in texts] + [Paragraph(text, boilerplate=True) for text in boilerplate]
    return Page(Url.parse("http://a.example/"), language, paragraphs=tuple(paragraphs))


def test_a_page_about_the_topic_perplexes_less_than_another(relevance):
    about, other = relevance.judge([page("The young cat sleeps in the warm garden."), page(LAW)])
    assert 1 < about.perplexity < other.perplexity
    assert 1 > about.score > other.score > 0
    assert (about.relevant, other.relevant) == (True, False)


def test_perplexity_is_2_to_the_cross_entropy_of_the_page(relevance):
    text = "The young cat sleeps in the warm garden. An unknown dog barks at the cat."
    model = relevance._models[ENGLISH]
    found = model.log10(sequences(text)) / math.log10(2)
    [judged] = relevance.judge([page(text)])
    assert judged.perplexity == pytest.approx(2 ** (-found.sum() / len(found)))
    assert judged.perplexity == pytest.approx(model.perplexity(sequences(text)))


def test_boilerplate_short_sequences_and_the_other_pages_do_not_count(relevance):
    text = "The young cat sleeps in the warm garden."
    alone, beside, _ = relevance.judge([page(text), page(text, "Read more!", boilerplate=[LAW]), page(LAW)])
    assert alone.perplexity == pytest.approx(beside.perplexity)


def test_a_page_without_text_is_endless(relevance):
    judged = relevance.judge([page(), page("Too short."), page(boilerplate=[CATS])])
    assert [(one.score, one.relevant, one.perplexity) for one in judged] == [(0.0, False, ENDLESS)] * 3


def test_each_language_has_its_model_and_a_language_without_one_is_not_relevant(relevance):
    pages = [page(CATS, language=FRENCH), page(CHATS, language=FRENCH), page(CATS, language=Language("en-GB"))]
    wrong, right, region = relevance.judge(pages)
    assert right.perplexity < wrong.perplexity
    assert (right.relevant, wrong.relevant, region.relevant) == (True, False, True)
    for language in (Language("de"), UNDETERMINED):
        [judged] = relevance.judge([page(CATS, language=language)])
        assert (judged.score, judged.relevant, judged.perplexity) == (0.0, False, 0.0)
        assert relevance.weigh([CATS], language) == [0.0]
        assert relevance.maximum(language) == 0.0


def test_the_maximum_decides_and_stands_at_one_half():
    known = models({ENGLISH: CATS})
    [found] = perplexities(known[ENGLISH], [LAW])
    for factor, relevant in ((1.001, True), (0.999, False)):
        [judged] = PerplexityRelevance(known, maximum=found * factor).judge([page(LAW)])
        assert judged.relevant is relevant
        assert judged.score == pytest.approx(0.5, abs=0.001)
    usual = PerplexityRelevance(known)
    assert usual.maximum(ENGLISH) == usual_maximum(known[ENGLISH]) < found


def test_link_texts_are_weighed_from_five_words_on(relevance):
    texts = ["The young cat sleeps in the garden", "cat", "", "appeal decisions which lower tribunals have rendered"]
    about, short, empty, other = relevance.weigh(texts, ENGLISH)
    assert about > other > short == empty == 0


def test_the_model_does_not_learn(relevance):
    before = relevance.judge([page(LAW)])
    relevance.learn(page(LAW), relevant=True)
    assert relevance.judge([page(LAW)]) == before


def test_a_text_in_a_script_without_spaces_is_judged():
    chinese = Language("zh")
    relevance = PerplexityRelevance(models({chinese: "老猫整天在温暖的墙上睡觉。小猫晚上在花园里抓老鼠。"}))
    about, other = relevance.judge(
        [page("小猫在温暖的墙上睡觉。", language=chinese), page("上诉法院审查下级法庭的判决。", language=chinese)]
    )
    assert about.perplexity < other.perplexity


def test_boundaries_are_quartiles_of_what_a_crawl_has_read():
    assert boundaries([0.0, ENDLESS, 500, 100, 400, 200, 300]) == (200, 400)
    assert boundaries([70]) == (70, 70)
    assert boundaries([ENDLESS]) == (500, 5000)
