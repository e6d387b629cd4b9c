"""The topic in the report: figures of the ledger, examples at the border, and what to try when nothing matched."""

import re
from pathlib import Path

import pytest
import tomli_w
from kept_findings import keep_findings

from bitrawl.endings import CrawlEnd, EndKind
from bitrawl.facts import Border, TopicShare
from bitrawl.job.reporting import gather
from bitrawl.mining import RefusedPair
from bitrawl.model import Language, Lease, Link, LinkKind, Page, Paragraph, Relevance, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.show import brief, diagnose, histogram, report_of_job
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>\x00\u202e {0} {name}"
ENGLISH = "50:acid rain>en\n50:global warming>en\n50:the greenhouse effect>en\n50:renewable energy sources>en\n"

DONE = CrawlEnd(kind=EndKind.DONE)


class Job:
    """A job folder with a topic, filled as a crawl would."""

    def __init__(self, folder: Path, langs: tuple[str, ...] = ("en",), **topic: object) -> None:
        self.folder = folder
        described = {"langs": list(langs), "seeds": ["https://www.example.org/"], "strategy": "adaptive"}
        if topic:
            described["topic"] = topic
        (folder / "job.toml").write_text(tomli_w.dumps(described), "utf-8")
        self.ledger = Ledger(folder / "job.sqlite")
        self._seq = 0

    def page(
        self,
        path: str,
        score: float | None,
        *terms: str,
        relevant: bool | None = None,
        language: str = "en",
        title: str = "A title",
        boilerplate: str = "",
        **more: object,
    ) -> Url:
        url = Url.parse(f"https://{'www.example.org' if '//' not in path else ''}{path.removeprefix('//')}")
        judged = None
        if score is not None:
            is_relevant = score >= 0.5 if relevant is None else relevant
            judged = Relevance(score, is_relevant, terms=len(terms), **more)
        paragraphs = (Paragraph("Some text.", terms=terms), Paragraph(boilerplate, boilerplate=True))
        self.record(url, Page(url, Language(language), title=title, paragraphs=paragraphs, relevance=judged))
        return url

    def record(self, url: Url, outcome: Page | Skip) -> None:
        self._seq += 1
        link = Link(url, LinkKind.PAGE)
        with self.ledger.transaction():
            self.ledger.refuse([(link, Skip(url, Stage.SCOPE, Reason.OFF_SITE))])
            self.ledger.record(Visit(Lease(link, 1.0), outcome, 200, 1000, at=1e9 + self._seq, took=0.1))

    def end(self, why: CrawlEnd | None = DONE) -> Path:
        self.ledger.remember("ended", why)
        self.ledger.remember("seconds", 75.0)
        self.ledger.close()
        return self.folder


def terms_in(folder: Path, text: str = ENGLISH) -> str:
    path = folder / "climate.txt"
    path.write_text(text, "utf-8")
    return str(path)


def texts_in(folder: Path, size: int = 100_000) -> list[str]:
    (folder / "texts").mkdir()
    (folder / "texts" / "a.txt").write_text("x" * size)
    return [str(folder / "texts")]


def shown(text: str) -> str:
    """What a reader sees of the section."""
    section = text[text.index('<section id="topic">') :]
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", section[: section.index("</section>")]))


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Forty pages; the first ten English ones are relevant, and five of ten French ones."""
    job = Job(tmp_path, ("en", "fr"), texts=texts_in(tmp_path), terms=terms_in(tmp_path), threshold=0.5)
    for number in range(30):
        terms = ("acid rain", "global warming")[: 1 + number % 2] if number < 12 else ()
        job.page(f"/en/{number}", 0.95 - number / 21, *terms, classes=("air",) if terms else ())
    for number in range(10):
        job.page(f"//fr.example.com/{number}", 0.52 if number < 5 else 0.0, language="fr")
    return job.end()


def test_the_figures_of_the_topic_are_those_of_the_ledger(good: Path):
    topic = gather(good).topic
    assert topic.languages == {"en": TopicShare(30, 10), "fr": TopicShare(10, 5)}
    assert (topic.judged, topic.relevant) == (40, 15)
    assert sum(topic.scores) == 40
    pages, relevant = topic.growth
    assert (pages[-1], relevant[-1]) == ((40, 40), (40, 15))
    assert dict(relevant)[10] == dict(relevant)[30] == 10
    assert [(one.term, one.pages, one.relevant) for one in topic.read.terms] == [
        ("acid rain", 12, 10),
        ("global warming", 6, 5),
    ]
    assert (topic.read.with_terms, topic.read.different, topic.read.classes) == (12, 2, {"air": 12})
    assert [(one.site, one.share) for one in topic.paid] == [
        ("example.org", TopicShare(30, 10)),
        ("example.com", TopicShare(10, 5)),
    ]
    assert topic.unpaid == ()


def test_examples_are_the_best_and_those_on_both_sides_of_the_threshold(good: Path):
    examples = gather(good).topic.examples
    best, just, just_not = (
        [one.relevance.score for one in examples[border]]
        for border in (Border.BEST, Border.JUST_RELEVANT, Border.JUST_NOT)
    )
    assert best == pytest.approx([0.95 - number / 21 for number in range(5)])
    assert just == pytest.approx([0.52] * 5)
    assert just_not == sorted(just_not, reverse=True)
    assert just_not[0] == pytest.approx(0.95 - 10 / 21)
    assert examples[Border.DESPITE_SCORE] == ()
    assert examples[Border.BEST][1].terms == ("acid rain", "global warming")


def test_the_section_shows_what_was_asked_and_found(good: Path):
    text = report_of_job(gather(good))
    said = shown(text)
    assert "15 pages are about the topic, of 40 (38 %)." in said
    assert "10 relevant (33 %)" in said
    assert "climate.txt" in said
    assert "texts (1 file, 100.0 kB)" in said
    assert "a relevance of 0.5 (threshold)" in said
    assert "threshold 0.5" in said
    assert "40 pages were read for terms. 12 pages have any" in said
    assert "There are 2 different terms in the main text." in said
    assert "Just not relevant" in said
    assert "Sites that paid" in said
    assert str(good) not in said, "no paths of this machine"
    assert '<a href="#topic">The topic</a>' in text
    assert "15 pages about the topic (38 %): 10 English, 5 French" in brief(gather(good)).lines
    assert diagnose(gather(good)) is None


def test_a_job_without_a_topic_does_not_speak_of_one(tmp_path: Path):
    job = Job(tmp_path)
    job.page("/en/1", None)
    facts = gather(job.end())
    assert facts.topic is None
    assert 'id="topic"' not in report_of_job(facts)
    assert "about the topic" not in report_of_job(facts)
    assert "topic" not in "\n".join(brief(facts).lines)


def test_a_topic_without_pages_is_shown_as_it_was_asked(tmp_path: Path):
    facts = gather(Job(tmp_path, terms=terms_in(tmp_path)).end())
    assert "No page has been compared with the topic yet." in shown(report_of_job(facts))
    assert diagnose(facts).english == "No page was found."


def test_hostile_titles_terms_and_classes_stay_text(tmp_path: Path):
    job = Job(tmp_path, terms=terms_in(tmp_path, f"50:{HOSTILE}>en\n"), like=["https://www.example.org/1?<b>"])
    for number, score in enumerate((0.9, 0.6, 0.4)):
        job.page(f"/{number}", score, HOSTILE, title=HOSTILE, classes=(HOSTILE,))
    text = report_of_job(gather(job.end()))
    assert "<script" not in text
    assert "<img" not in text
    assert "\x00" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_relevant_pages_that_were_refused_say_why(tmp_path: Path):
    job = Job(tmp_path, ("en", "fr"), texts=texts_in(tmp_path))
    a, b, copy = job.page("/a", 0.9), job.page("/b", 0.8, language="fr"), job.page("/copy", 0.7)
    off, partner = job.page("/off", 0.1), job.page("/partner", 0.6, language="fr")
    refusals = (
        RefusedPair(a, b, "length"),
        RefusedPair(off, partner, "off-topic"),
        RefusedPair(a, partner, "conflict"),
    )
    keep_findings(Findings(job.ledger), "example.org", 5, [], refusals=refusals, duplicates={copy: a})
    facts = gather(job.end())
    assert [(one.url, one.why, one.other) for one in facts.topic.refused] == [
        (a, "length", b),
        (b, "length", a),
        (copy, "duplicate", a),
        (partner, "off-topic", off),
    ]
    said = shown(report_of_job(facts))
    assert f"length: One page has too little text to be a translation of the other. The other page: {b}" in said
    assert "duplicate: It has nearly the same text as another page." in said


def test_sites_that_did_not_pay_say_why_they_were_left(tmp_path: Path):
    job = Job(tmp_path, texts=texts_in(tmp_path))
    job.page("/", 0.9)
    for number in range(25):
        job.page(f"//www.elsewhere.net/{number}", 0.9 if number == 0 else 0.1)
    left = "1 relevant page of 25 fetches"
    job.ledger.learn(job.ledger.knowledge("elsewhere.net").__class__("elsewhere.net", left=left))
    facts = gather(job.end())
    assert [one.site for one in facts.topic.paid] == ["example.org"]
    assert [(one.site, one.share, one.left) for one in facts.topic.unpaid] == [
        ("elsewhere.net", TopicShare(25, 1), left)
    ]
    assert left in shown(report_of_job(facts))


def test_a_large_job_is_read_by_sample_and_says_so(tmp_path: Path):
    job = Job(tmp_path, texts=texts_in(tmp_path))
    for number in range(95):
        job.page(f"/{number}", 0.9, "acid rain")
    facts = gather(job.end(), pages_read=10)
    assert facts.topic.read.pages == 9
    assert "9 pages, spread evenly over the crawl, were read" in shown(report_of_job(facts))


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 19, 20, 21, 100])
def test_some_pages_are_spread_evenly_and_never_too_many(tmp_path: Path, count: int):
    job = Job(tmp_path)
    urls = [job.page(f"/{number}", None) for number in range(count)]
    some = [page.url for page in job.ledger.some_pages(10)]
    assert len(some) <= 10
    assert some == urls if count <= 10 else len(some) >= 5
    job.end()


def no_term_matches(folder: Path) -> Job:
    job = Job(folder, terms=terms_in(folder))
    for number in range(4):
        job.page(f"/{number}", 0.0)
    return job


def list_without_french(folder: Path) -> Job:
    job = Job(folder, ("en", "fr"), terms=terms_in(folder))
    for number in range(4):
        job.page(f"/en/{number}", 0.9, "acid rain")
        job.page(f"/fr/{number}", 0.0, language="fr")
    return job


def french_marks_on_english_terms(folder: Path) -> Job:
    job = Job(folder, ("fr",), terms=terms_in(folder, ENGLISH.replace(">en", "")))
    for number in range(4):
        job.page(f"/{number}", 0.0, language="fr")
    return job


def only_in_boilerplate(folder: Path) -> Job:
    job = Job(folder, terms=terms_in(folder))
    for number in range(4):
        job.page(f"/{number}", 0.0, boilerplate="Our sites: acid rain, cooking" if number else "")
    return job


def few_texts(folder: Path) -> Job:
    job = Job(folder, texts=texts_in(folder, 900))
    for number in range(4):
        job.page(f"/{number}", 0.1)
    return job


def strict_threshold(folder: Path) -> Job:
    job = Job(folder, texts=texts_in(folder), threshold=0.8)
    for number in range(4):
        job.page(f"/{number}", 0.4 + number / 10, "acid rain", relevant=False)
    return job


def strict_terms(folder: Path) -> Job:
    job = Job(folder, terms=terms_in(folder), model="terms", distinct_terms=3, density=0.4)
    job.page("/light", 0.3, "acid rain", relevant=False)
    job.page("/same", 0.7, "acid rain", relevant=False)
    job.page("/also", 0.7, "acid rain", "renewable energy sources", relevant=False)
    job.page("/long", 0.8, "acid rain", "global warming", "the greenhouse effect", relevant=False)
    return job


def strict_perplexity(folder: Path) -> Job:
    job = Job(folder, texts=texts_in(folder), model="perplexity", max_perplexity=100.0)
    for number in range(3):
        job.page(f"/{number}", 0.4, "acid rain", relevant=False, perplexity=812.3 + number)
    return job


def other_language(folder: Path) -> Job:
    job = Job(folder, terms=terms_in(folder))
    for number in range(4):
        job.page(f"/{number}", 0.0, language="de")
    return job


def lost_example(folder: Path) -> Job:
    job = Job(folder, like=["https://www.example.org/gone"])
    gone = Url.parse("https://www.example.org/gone")
    job.record(gone, Skip(gone, Stage.FETCH, Reason.HTTP_STATUS))
    job.page("/", 0.1, language="en")
    return job


@pytest.mark.parametrize(
    ("happened", "headline", "said"),
    [
        (
            no_term_matches,
            "No page is about the topic.",
            [
                "None of the 4 terms of climate.txt is in the text of any of 4 pages in English.",
                "bitrawl topic show URL --topic",
            ],
        ),
        (
            list_without_french,
            "No page in French is about the topic.",
            ["climate.txt has terms in English (4) only.", "4 in French", "50:term>fr", "bitrawl topic translate"],
        ),
        (
            french_marks_on_english_terms,
            "No page is about the topic.",
            ["The terms of climate.txt are taken for French, but look like English."],
        ),
        (
            only_in_boilerplate,
            "No page is about the topic.",
            ["On 3 of 4 pages, terms are only in menus, footers and other text around the content"],
        ),
        (few_texts, "No page is about the topic.", ["The texts are few: 1 file with 900 B.", "Give more"]),
        (
            strict_threshold,
            "No page is about the topic.",
            [
                "4 pages have terms",
                "4 with a score below the threshold of 0.8",
                "highest relevance is 0.7.",
                "lower threshold",
            ],
        ),
        (
            strict_terms,
            "No page is about the topic.",
            [
                "3 with fewer than 3 different terms in the text",
                "1 with terms that weigh too little",
                "1 with too few terms for the length of the text",
                "By setting: distinct_terms = 3, content_terms = 2, density = 0.4.",
                "lower distinct_terms",
                "--replay",
            ],
        ),
        (
            strict_perplexity,
            "No page is about the topic.",
            ["3 with a perplexity that is too high", "The lowest perplexity is 812.", "raise max_perplexity"],
        ),
        (other_language, "No page in English was found.", ["The job has 4 pages: 0 in English", "German (4)"]),
        (
            lost_example,
            "No page is about the topic.",
            ["1 of 2 example pages taught nothing: https://www.example.org/gone (http-status)", "--like"],
        ),
    ],
)
def test_a_topic_that_matched_nothing_says_why(tmp_path: Path, happened: object, headline: str, said: list[str]):
    facts = gather(happened(tmp_path).end())
    terminal, page = "\n".join(brief(facts).lines), report_of_job(facts)
    assert diagnose(facts).english == headline
    assert brief(facts).explained[0] == headline
    for text in (headline, *said):
        assert text in terminal
    assert page.count('<aside class="why">') == 1


def test_a_wrong_cause_is_not_named(tmp_path: Path):
    said = "\n".join(brief(gather(only_in_boilerplate(tmp_path).end())).explained)
    assert "None of the" not in said
    assert "look like" not in said
    assert "has terms in" not in said


def test_pages_in_other_languages_were_not_searched(tmp_path: Path):
    job = french_marks_on_english_terms(tmp_path)
    job.page("/english", 0.0, language="en")
    assert "in the text of any of 4 pages in French." in "\n".join(brief(gather(job.end())).explained)


def test_a_term_in_a_title_alone_is_one(tmp_path: Path):
    job = Job(tmp_path, terms=terms_in(tmp_path))
    job.page("/", 0.6, weight=500.0)
    facts = gather(job.end())
    assert (facts.topic.read.with_terms, facts.topic.read.terms) == (1, ())
    assert "in titles, descriptions and keywords only" in shown(report_of_job(facts))


def test_few_relevant_pages_are_explained(tmp_path: Path):
    job = Job(tmp_path, texts=texts_in(tmp_path))
    for number in range(50):
        job.page(f"/{number}", 0.9 if number < 2 else 0.3, "acid rain")
    facts = gather(job.end(why=None))
    assert diagnose(facts).english == "Only 2 of 50 pages are about the topic. The job has not ended yet."


def test_pairs_are_only_expected_of_relevant_pages(tmp_path: Path):
    job = Job(tmp_path, ("en", "fr"), texts=texts_in(tmp_path))
    for number in range(40):
        for language in ("en", "fr"):
            job.page(f"/{language}/{number}", 0.9 if number < 3 else 0.1, language=language)
    keep_findings(Findings(job.ledger), "example.org", 80, [])
    assert diagnose(gather(job.end())).english == "No pair of translations was found."


def test_pairs_that_are_off_topic_are_no_fault_of_their_urls(tmp_path: Path):
    job = Job(tmp_path, ("en", "fr"), texts=texts_in(tmp_path))
    a, b = job.page("/a", 0.9), job.page("/b", 0.3, language="fr")
    job.page("/c", 0.9, language="fr")
    keep_findings(Findings(job.ledger), "example.org", 3, [], refusals=(RefusedPair(a, b, "off-topic"),))
    said = "\n".join(brief(gather(job.end())).explained)
    assert "1 pair was refused. One page, or both, is not about the topic. By reason: off-topic 1." in said
    assert "give texts or terms in both languages" in said
    assert "--url-pair" not in said


def test_a_list_that_is_gone_is_no_fault(tmp_path: Path):
    job = no_term_matches(tmp_path)
    (tmp_path / "climate.txt").unlink()
    assert "No term of the list is on any of 4 pages in English." in "\n".join(brief(gather(job.end())).explained)


def test_the_status_of_a_job_without_relevant_pages_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("bitrawl.topic.learned", reason="its branch is not merged yet")
    from bitrawl.cli.status import show  # noqa: PLC0415
    from bitrawl.job import OpenedJob  # noqa: PLC0415

    no_term_matches(tmp_path).end()
    show(OpenedJob(tmp_path))
    assert "None of the 4 terms" in " ".join(capsys.readouterr().out.split())


def test_the_threshold_is_marked_in_a_histogram():
    assert 'class="mark"' in histogram("t", [1] * 20, x="x", y="y", mark=0.3)
    assert 'class="mark"' not in histogram("t", [1] * 20, x="x", y="y")
