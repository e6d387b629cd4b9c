"""What judges the pages of a crawl: which of them are examples, and what is noted on them."""

from pathlib import Path

import msgspec
import pytest

from bitrawl import config
from bitrawl.errors import ConfigError
from bitrawl.job.topics import Examples, topic_judge
from bitrawl.model import Language, Link, LinkKind, Page, Paragraph, Relevance
from bitrawl.topic.judge import TopicJudge
from bitrawl.url import Url

EN = Language("en")
BEES = "The beekeeper opens the hive and looks for the queen. Worker bees bring nectar and pollen to the hive. " * 4


class Pupil:
    """Remembers what it was taught; a page is relevant if it says so."""

    def __init__(self) -> None:
        self.taught: list[Url] = []
        self.judged: list[Url] = []

    def judge(self, pages: list[Page]) -> list[Relevance]:
        self.judged += [page.url for page in pages]
        return [Relevance(1.0, relevant="bees" in page.title) for page in pages]

    def weigh(self, texts: list[str], language: Language) -> list[float]:
        return [0.0] * len(texts)

    def learn(self, page: Page, *, relevant: bool) -> None:
        assert relevant
        assert page.url not in self.judged  # it is judged with what it taught
        self.taught.append(page.url)

    def revised(self) -> list[tuple[Url, float]]:
        return []


def url(path: str) -> Url:
    return Url.parse(path if "://" in path else f"http://a.test{path}")


def page(path: str, title: str = "") -> Page:
    return Page(url(path), EN, title=title, paragraphs=(Paragraph(BEES),))


def judge(*examples: str) -> tuple[TopicJudge, Pupil]:
    pupil = Pupil()
    return TopicJudge(pupil, examples=[url(one) for one in examples]), pupil


def visited(judge: TopicJudge, path: str, kind: LinkKind = LinkKind.PAGE, title: str = "") -> Page:
    return judge(Link(url(path), kind), page(path, title))


def test_each_page_gets_a_verdict_and_only_examples_are_learned_from():
    judging, pupil = judge("/")
    first, second = visited(judging, "/", LinkKind.SEED, "bees"), visited(judging, "/other", title="football")
    assert (first.is_on_topic, second.is_on_topic) == (True, False)
    assert pupil.taught == [url("/")]


def test_where_an_example_redirects_to_is_the_example_however_often_it_redirects():
    judging, pupil = judge("http://a.test/")
    judging.redirected(url("http://a.test/"), url("https://a.test/"))
    judging.redirected(url("https://a.test/"), url("https://www.a.test/"))
    judging.redirected(url("/menu"), url("/elsewhere"))
    visited(judging, "https://www.a.test/", LinkKind.REDIRECT)
    visited(judging, "/elsewhere", LinkKind.REDIRECT)
    assert pupil.taught == [url("https://www.a.test/")]


def test_the_page_is_annotated_and_the_verdict_is_on_the_annotated_page():
    def annotate(one: Page) -> Page:
        return msgspec.structs.replace(one, title=f"{one.title}, noted")

    judging = TopicJudge(Pupil(), annotate=annotate)
    found = judging(Link(url("/"), LinkKind.PAGE), page("/", "bees"))
    assert (found.title, found.is_on_topic) == ("bees, noted", True)


def job(tmp_path: Path, **topic: object) -> config.Job:
    (tmp_path / "list.txt").write_text("100:hive=bees>en\n100:nectar=bees>en\n100:pollen=bees>en\n", "utf-8")
    return config.resolve({"langs": ["en"], "seeds": ["http://a.test/"], "topic": topic})


def teaches(tmp_path: Path, path: str, content: str = BEES, **topic: object) -> bool:
    """Whether a visit to that address is an example for the learned model."""
    judging = topic_judge(job(tmp_path, **topic), Examples())
    taught: list[Url] = []
    judging.model.learn = lambda page, *, relevant: taught.append(page.url)  # type: ignore[method-assign]  # noqa: ARG005
    judging(Link(url(path), LinkKind.PAGE), Page(url(path), EN, paragraphs=(Paragraph(content),)))
    return bool(taught)


def test_seeds_are_examples_unless_they_are_hubs_and_pages_that_the_topic_is_like_always_are(tmp_path: Path):
    terms, like = str(tmp_path / "list.txt"), ["http://a.test/like"]
    assert teaches(tmp_path, "/", terms=terms)
    assert not teaches(tmp_path, "/", terms=terms, hub=True)
    assert not teaches(tmp_path, "/page", terms=terms)
    assert teaches(tmp_path, "/", like=like)
    assert teaches(tmp_path, "/like", like=like)
    assert not teaches(tmp_path, "/", like=like, hub=True)
    assert teaches(tmp_path, "/like", like=like, hub=True)


def test_a_seed_without_the_terms_of_the_list_does_not_outvote_it(tmp_path: Path):
    """Most seeds are home pages. One that speaks of football turned every verdict round."""
    terms, about = str(tmp_path / "list.txt"), "The striker scored a goal and the referee showed him a card. " * 8
    assert not teaches(tmp_path, "/", about, terms=terms)
    assert teaches(tmp_path, "/like", about, terms=terms, like=["http://a.test/like"])
    judging = topic_judge(job(tmp_path, terms=terms), Examples())
    verdicts = [
        judging(Link(url(path), LinkKind.PAGE), Page(url(path), EN, paragraphs=(Paragraph(text),))).is_on_topic
        for path, text in (("/", about), ("/bees", BEES), ("/goal", about))
    ]
    assert verdicts == [False, True, False]


def test_a_seed_that_the_texts_contradict_is_no_example(tmp_path: Path):
    """A directory that the crawl began at was an example beside ten texts: 53 pages of 200 were about them, now 176."""
    (tmp_path / "bees.txt").write_text(BEES, "utf-8")
    about = "The striker scored a goal and the referee showed him a card. " * 8
    for path, text, like, learned in (
        ("/", about, [], 0), ("/", BEES, [], 1), ("/", about, ["http://a.test/"], 1),
    ):  # fmt: skip
        described = job(tmp_path, texts=[str(tmp_path / "bees.txt")], like=like)
        judging = topic_judge(described, Examples({EN: [BEES] * 6}))
        judging(Link(url(path), LinkKind.SEED), Page(url(path), EN, paragraphs=(Paragraph(text),)))
        assert judging.learned == learned


def test_terms_stand_on_the_paragraphs_also_if_they_were_learned_from_texts(tmp_path: Path):
    (tmp_path / "bees.txt").write_text(BEES, "utf-8")
    given = topic_judge(job(tmp_path, terms=str(tmp_path / "list.txt")), Examples())
    learned = topic_judge(job(tmp_path, texts=[str(tmp_path / "bees.txt")]), Examples({EN: [BEES] * 6}))
    assert [set(one.terms) for one in visited(given, "/page").paragraphs] == [{"hive", "nectar", "pollen"}]
    assert [{"hive", "queen"} <= set(one.terms) for one in visited(learned, "/page").paragraphs] == [True]
    # A list that the user gave is part of the model already.
    assert (given.terms is None, learned.terms is None) == (True, False)


def test_texts_too_short_to_tell_terms_from_are_long_enough_to_judge_by(tmp_path: Path):
    (tmp_path / "bees.txt").write_text(BEES, "utf-8")
    judging = topic_judge(job(tmp_path, texts=[str(tmp_path / "bees.txt")]), Examples({EN: [BEES]}))
    assert visited(judging, "/page").is_on_topic
    with pytest.raises(ConfigError, match="give at least 50"):
        topic_judge(job(tmp_path, texts=[str(tmp_path / "bees.txt")]), Examples({EN: ["Bees and a hive."]}))


def test_a_language_model_is_needed_for_each_language(tmp_path: Path):
    (tmp_path / "bees.txt").write_text(BEES, "utf-8")
    asked = {"langs": ["en", "fr"], "seeds": ["http://a.test/"], "strategy": "perplexity"}
    both = config.resolve(asked | {"topic": {"texts": [str(tmp_path / "bees.txt")]}})
    with pytest.raises(ConfigError, match="add texts in French"):
        topic_judge(both, Examples({EN: [BEES]}))
    assert topic_judge(config.resolve(asked | {"langs": ["en"], "topic": both.topic}), Examples({EN: [BEES]}))


@pytest.mark.parametrize(("listed", "letters"), [("10:hive>en\n10:ruche>fr\n", "\u012b"), ("10:hive>en\n", "x")])
def test_paragraphs_with_terms_are_marked_in_the_structure_if_each_language_has_terms(
    tmp_path: Path, listed: str, letters: str
):
    (tmp_path / "terms.txt").write_text(listed, "utf-8")
    job = config.resolve(
        {
            "langs": ["en", "fr"],
            "seeds": ["http://a.test/"],
            "topic": {"terms": str(tmp_path / "terms.txt"), "hub": True},
        }
    )
    page = Page(url("/bees"), EN, paragraphs=(Paragraph("The hive is full of honey."),), fingerprint="x")
    judged = topic_judge(job, Examples())(Link(page.url, LinkKind.PAGE), page)
    assert judged.paragraphs[0].terms == ("hive",)
    assert judged.fingerprint == letters
