"""The learned model: it tells subjects apart from a few texts, in any language, and never drifts from its examples."""

import random

import msgspec
import numpy as np
import pytest

from bitrawl.errors import ConfigError
from bitrawl.model import Alternate, AlternateSource, Language, Link, LinkKind, Page, Paragraph, Relevance
from bitrawl.topic.learned import LearnedRelevance
from bitrawl.topic.subject import LEAST_INHERITED, TopicSubject, document
from bitrawl.url import Url

EN, FR, ZH, EU = (Language(code) for code in ("en", "fr", "zh", "eu"))
COMMON = {
    EN: "the of and to in is that for it was on with as are at be this have from or one had by but not what all were",
    FR: "le de et la les des est que dans pour un une sur avec par il au plus ce qui sont aux cette ses mais ou",
    EU: "eta da bat du dira ere edo izan zen bere egin hau baina den horren batean zuen dute bere dela",
}
WINE = {
    EN: "vineyard grape wine tannin cellar barrel vintage harvest oak bouquet winery fermentation terroir cork bottle",
    FR: "vignoble raisin vin tanin cave tonneau millésime vendange chêne bouquet domaine fermentation terroir",
    EU: "ardo mahats upategi mahasti ardogile botila ardandegi hartzidura tanino lurralde kupel haritz",
}
STARS = {
    EN: "galaxy telescope orbit planet nebula comet supernova astronomer eclipse asteroid spectrum quasar lunar",
    FR: "galaxie télescope orbite planète nébuleuse comète supernova astronome éclipse astéroïde spectre lunaire",
    EU: "galaxia teleskopio orbita planeta nebulosa kometa supernoba astronomo eklipse asteroide espektro",
}


def text(subject: dict[Language, str], language: Language, seed: int, count: int = 200) -> str:
    chance = random.Random(f"{subject[language]} {seed}")
    about, common = subject[language].split(), COMMON[language].split()
    row = [chance.choice(about if chance.random() < 0.25 else common) for _ in range(count)]
    return ". ".join(" ".join(row[i : i + 12]) for i in range(0, count, 12))


def page(content: str, language: Language = EN, url: str = "https://example.org/a") -> Page:
    return Page(Url.parse(url), language, paragraphs=(Paragraph(content),))


def pages(subject: dict[Language, str], language: Language = EN, start: int = 100, count: int = 40) -> list[Page]:
    return [page(text(subject, language, start + i), language, f"https://example.org/{i}") for i in range(count)]


def model(count: int = 10, language: Language = EN, **options: object) -> LearnedRelevance:
    texts = {language: [text(WINE, language, i) for i in range(count)]}
    return LearnedRelevance(texts, [language], **options)  # type: ignore[arg-type]


def scores(model: LearnedRelevance, pages: list[Page]) -> list[float]:
    return [found.score for found in model.judge(pages)]


@pytest.mark.parametrize("language", [EN, FR, EU])  # there is no table of Basque
@pytest.mark.parametrize("adapting", [True, False])
def test_pages_about_the_subject_are_told_from_others_without_counter_examples(language: Language, *, adapting: bool):
    judging = model(language=language, adapting=adapting)
    assert all(found.relevant for found in judging.judge(pages(WINE, language)))
    assert not any(found.relevant for found in judging.judge(pages(STARS, language)))


def test_chinese_is_judged_by_pairs_of_characters():
    judging = LearnedRelevance({ZH: ["葡萄酒是用新鲜葡萄酿造的酒精饮料，酒庄把葡萄发酵后装入橡木桶中陈年。" * 4]}, [ZH])
    wine, stars = (
        page("红葡萄酒在橡木桶中陈年，酒庄的葡萄园种植葡萄。", ZH),
        page("天文学家用望远镜观察银河系的恒星和行星。", ZH),
    )
    assert scores(judging, [wine])[0] > scores(judging, [stars])[0]


def test_one_article_is_enough_to_tell_two_subjects_apart():
    judging = LearnedRelevance({EN: [text(WINE, EN, 0, 600)]}, [EN])
    wine, stars = scores(judging, pages(WINE)), scores(judging, pages(STARS))
    assert min(wine) > max(stars)


def test_a_page_in_another_language_is_not_relevant():
    assert model().judge([page(text(WINE, EN, 7), FR)]) == [Relevance(0.0, relevant=False)]


def test_a_page_without_words_is_undecided_at_most():
    assert not model().judge([page("")])[0].relevant
    assert 0 < model().judge([page("12 34")])[0].score < 0.5


def test_texts_with_too_few_words_are_refused_with_what_to_do():
    with pytest.raises(ConfigError, match=r"in en .*3 words are too few.*give at least 50"):
        LearnedRelevance({EN: ["wine and grapes"]}, [EN])
    with pytest.raises(ConfigError, match="0 words are too few"):
        LearnedRelevance({EN: []}, [EN])


def test_a_page_that_was_learned_raises_pages_like_it():
    judging = model(adapting=False)
    before = np.mean(scores(judging, pages(STARS)))
    for each in pages(STARS, start=0, count=10):
        judging.learn(each, relevant=True)
    assert np.mean(scores(judging, pages(STARS))) > before + 0.3


def test_counter_examples_lower_pages_like_them():
    near = {EN: f"{STARS[EN]} vineyard grape wine tannin cellar barrel"}
    plain = model(adapting=False)
    against = model(adapting=False, against={EN: [text(near, EN, i) for i in range(12)]})
    assert np.mean(scores(against, pages(near))) < np.mean(scores(plain, pages(near)))
    assert min(scores(against, pages(WINE))) > 0.5


def test_a_crawl_that_is_mostly_about_something_else_does_not_make_it_drift():
    judging = model()
    for each in random.Random(3).sample(pages(STARS, count=300) + pages(WINE, count=10), 310):
        judging.judge([each])
    assert min(scores(judging, pages(WINE, start=900))) > 0.5
    assert max(scores(judging, pages(STARS, start=900))) < 0.5


def test_a_crawl_that_is_all_about_the_subject_is_no_background():
    judging = model()
    judging.judge(pages(WINE, count=300))
    assert min(scores(judging, pages(WINE, start=900))) > 0.5


def test_a_fit_that_forgets_the_examples_is_dropped():
    subject = TopicSubject(EN)
    for i in range(9):
        subject.learn(document(text(WINE, EN, i), EN), relevant=True)
    wine = document(text(WINE, EN, 50), EN)
    before = subject.logit(wine)
    for i in range(20):  # the user's counter-examples are about the subject themselves
        subject.learn(document(text(WINE, EN, i), EN), relevant=False)
    assert subject.logit(wine) == before


def test_the_same_pages_give_the_same_scores_again():
    visits = random.Random(5).sample(pages(STARS) + pages(WINE), 80)
    assert scores(model(), visits) == scores(model(), visits)


def test_a_language_without_examples_is_judged_by_the_translations_that_pages_declare():
    judging = LearnedRelevance({EN: [text(WINE, EN, i) for i in range(10)]}, [EN, FR])
    english = [
        page(text(s, EN, i), EN, f"https://example.org/en/{k}{i}")
        for k, s in enumerate((WINE, STARS))
        for i in range(9)
    ]
    french = [
        page(text(s, FR, i), FR, f"https://example.org/fr/{k}{i}")
        for k, s in enumerate((WINE, STARS))
        for i in range(9)
    ]
    french = [
        msgspec.structs.replace(b, alternates=(Alternate(a.url, "en", AlternateSource.LINK),))
        for a, b in zip(english, french, strict=True)
    ]
    unknown = judging.judge([page(text(WINE, FR, 50), FR)])[0]
    assert 0.3 < unknown.score < 0.5
    assert unknown.guessed
    known = judging.judge(english)
    assert [one.relevant for one in known] == [True] * 9 + [False] * 9
    assert not any(one.guessed for one in known)
    assert scores(judging, french[: LEAST_INHERITED - 1]) == [one.score for one in known[: LEAST_INHERITED - 1]]
    judging.judge(french)
    alone = judging.judge([page(text(WINE, FR, 50), FR), page(text(STARS, FR, 50), FR)])
    assert [one.relevant for one in alone] == [True, False]


def test_words_of_the_subject_weigh_more_than_others_in_anchors():
    judging = model()
    wine, stars, nothing, empty = judging.weigh(["Our vineyard and cellar", "A new telescope", "about this", ""], EN)
    assert wine > stars
    assert wine > nothing
    assert empty == 0
    assert judging.weigh(["vignoble"], FR) == [0]


class FixedTerms:
    """Finds as many terms as it is told."""

    def __init__(self, terms: int) -> None:
        self.terms = terms

    def judge(self, pages: list[Page]) -> list[Relevance]:
        return [Relevance(0.9, relevant=True, weight=7.0, terms=self.terms, classes=("wine",)) for _ in pages]

    def weigh(self, texts: list[str], language: Language) -> list[float]:
        return [1.0 for _ in texts]

    def learn(self, page: Page, *, relevant: bool) -> None:
        pass

    def revised(self) -> list[tuple[Url, float]]:
        return []


def test_terms_move_the_score_and_stand_in_the_result():
    border = page(" ".join(text(WINE, EN, 1, 60).split()[:20] + text(STARS, EN, 1, 200).split()))
    many, none = (model(terms=FixedTerms(n), adapting=False).judge([border])[0] for n in (20, 0))
    assert many.score > none.score
    assert (many.weight, many.terms, many.classes) == (7.0, 20, ("wine",))


def test_terms_alone_judge_where_there_are_no_texts():
    judging = LearnedRelevance({}, [EN], terms=FixedTerms(3))
    assert judging.judge([page("anything at all")])[0].score == 0.9
    assert judging.weigh(["vineyard"], EN) == [1.0]


@pytest.mark.parametrize("words", [60, 200, 2000])
def test_one_page_or_one_short_text_is_enough_to_tell_two_subjects_apart(words: int):
    """A single example could not say how much examples differ, and every page was certain or impossible."""
    shown = LearnedRelevance({}, [EN])
    shown.learn(page(text(WINE, EN, 1, words)), relevant=True)
    given = LearnedRelevance({EN: [text(WINE, EN, 1, words)]}, [EN])
    for judging in (shown, given):
        about, other = scores(judging, pages(WINE, count=15)), scores(judging, pages(STARS, count=15))
        assert np.mean(np.array(about) > 0.5) >= 0.9
        assert max(other) < 0.5
        assert words < 100 or len({round(one, 3) for one in about}) > 3


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (Page(Url.parse("https://example.org/"), Language("und")), "no running text"),
        (page(text(WINE, EN, 3), Language("und")), "a language that could not be identified"),
        (page(text(WINE, FR, 3), FR), "French"),
        (page(text(WINE, EN, 3)[:80]), "too few"),
        (page("and this is what they have when you will be there with all of us, or so it is. " * 10), "every text"),
        (page(text(WINE, EN, 3)), ""),
    ],
    ids=["no text", "no language", "another language", "too short", "common words", "an article"],
)
def test_what_an_example_lacks_is_told(made: Page, reason: str):
    why = model().lacks(made)
    assert reason in why
    assert bool(reason) == bool(why)


def test_a_directory_that_only_links_says_nothing_of_the_topic():
    names = text(WINE, EN, 5, 600).split(". ")
    links = tuple(Link(Url.parse(f"https://example.org/{n}"), LinkKind.PAGE, anchor=name, position=2 * n + 1)
                  for n, name in enumerate(names))  # fmt: skip
    items = tuple(Paragraph(name, position=2 * n) for n, name in enumerate(names))
    directory = Page(Url.parse("https://example.org/"), EN, paragraphs=items, links=links)
    judging = model()
    assert judging.judge([directory])[0] == Relevance(pytest.approx(0.4), relevant=False, guessed=True)
    running = msgspec.structs.replace(directory, links=())
    assert judging.judge([running])[0].relevant
    assert "no running text" in judging.lacks(directory)


# An article shares few words with web pages about its subject, and those have words of their own.
ARTICLE = {EN: WINE[EN] + " amphora etymology antiquity phoenician domestication monastery botanical viticulture"}
SHOP = {EN: "wine bottle grape order discount delivery voucher basket checkout gift tasting shipping"}
REPAIR = {EN: "engine brake tyre order discount delivery voucher basket checkout gift exhaust shipping"}


def shop_pages(subject: dict[Language, str], host: str, count: int, share: float = 0.1) -> list[Page]:
    made = []
    for number in range(count):
        chance = random.Random(f"{host} {number}")
        row = [chance.choice((subject if chance.random() < share else COMMON)[EN].split()) for _ in range(200)]
        made.append(page(" ".join(row), EN, f"https://{host}/{number}"))
    return made


def test_one_article_recognises_pages_of_another_kind_by_the_rest_of_the_crawl():
    model = LearnedRelevance({EN: [text(ARTICLE, EN, 1, 600)]}, [EN])
    others = [one for n in range(6) for one in shop_pages(REPAIR, f"{n}.example.org", 6)]
    about = shop_pages(SHOP, "wine.example.org", 12)
    judged = [*others[:18], *about[:4], *others[18:], *about[4:]]
    scores(model, judged)
    revised = dict(model.revised())
    assert np.mean([revised[one.url] >= 0.5 for one in about[:4]]) >= 0.75
    assert np.mean([revised[one.url] < 0.5 for one in others]) > 0.9
    assert not model.revised()


def test_from_many_texts_pages_are_not_judged_again():
    model = LearnedRelevance({EN: [text(WINE, EN, n) for n in range(10)]}, [EN])
    scores(model, pages(STARS))
    assert not model.revised()
