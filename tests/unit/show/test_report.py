"""The report: figures that add up, text that cannot break out, advice when little was found."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
import tomli_w
from kept_findings import Aligned, keep_findings

import bitrawl
from bitrawl.endings import CrawlEnd, EndKind
from bitrawl.errors import StoreError
from bitrawl.job.reporting import PAIR_SAMPLES, SEGMENT_SAMPLES, gather, write_report
from bitrawl.languages import language_name
from bitrawl.mining import RefusedPair
from bitrawl.mining.findings import RefusalReason as WhyNot
from bitrawl.model import Language, Lease, Link, LinkKind, Method, Page, PagePair, Segment, SegmentPair, Skip, Visit
from bitrawl.reasons import Reason, Stage
from bitrawl.show import COLOURS, Series, brief, diagnose, histogram, lines, new_environment, report_of_job
from bitrawl.show.wording import METHODS, REFUSALS, SKIPS, duration, share
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.url import Url

HOSTILE = "\"'><script>alert(1)</script></style><img src=x onerror=alert(2)>\x00\u202e &amp; {0} {name} %s"
VOID = {"meta", "br", "img", "link", "input"}

DONE = CrawlEnd(kind=EndKind.DONE)


def address(language: str, number: int) -> Url:
    return Url.parse(f"https://www.example.org/{language}/{number}")


class Job:
    """A job folder, filled as a crawl and a miner would."""

    def __init__(self, folder: Path, langs: tuple[str, ...] = ("en", "fr")) -> None:
        self.folder = folder
        described = f'langs = {list(langs)}\nseeds = ["https://www.example.org/"]\n[budget]\npages = 500\n'
        (folder / "job.toml").write_text(described, "utf-8")
        self.ledger = Ledger(folder / "job.sqlite")
        self._seq = 0

    def visit(
        self, url: Url, outcome: Page | Skip, *, took: float = 0.1, kind: LinkKind = LinkKind.PAGE, status: int = 200
    ) -> None:
        self._seq += 1
        link = Link(url, kind)
        with self.ledger.transaction():
            self.ledger.refuse([(link, Skip(url, Stage.SCOPE, Reason.OFF_SITE))])
            if isinstance(outcome, Page) or outcome.stage is not Stage.SCOPE:
                self.ledger.record(Visit(Lease(link, 1.0), outcome, status, 1000, at=1e9 + self._seq, took=took))

    def pages(self, language: str, count: int, title: str = "A title") -> None:
        for number in range(count):
            url = address(language, number)
            self.visit(url, Page(url, Language(language), title=title))

    def skips(self, reason: Reason, stage: Stage, count: int, kind: LinkKind = LinkKind.PAGE) -> None:
        for number in range(count):
            url = Url.parse(f"https://www.exemple.org/{reason}/{number}")
            self.visit(url, Skip(url, stage, reason, HOSTILE), kind=kind)

    def mined(self, pairs: list[Aligned], refusals: int = 0, duplicates: int = 0) -> None:
        refused = RefusedPair(address("en", 0), address("fr", 1), "untranslated")
        copies = {str(address("en", n)): str(address("en", 0)) for n in range(1, duplicates + 1)}
        more = {"refusals": (refused,) * refusals, "duplicates": copies}
        keep_findings(Findings(self.ledger), "example.org", 10, pairs, **more)

    def end(self, why: CrawlEnd | None = DONE) -> Path:
        self.ledger.remember("ended", why)
        self.ledger.remember("seconds", 75.0)
        self.ledger.close()
        return self.folder


def pair(number: int, texts: tuple[tuple[str, str], ...] = (("A b c.", "D e f."),), **more: object) -> Aligned:
    urls = (address("en", number), address("fr", number))
    found = {"score": 0.97, "evidence": {"a": 1.0, "c": 0.8}, **more}
    segments = [
        SegmentPair(*urls, Segment(a), Segment(b), 0.9, scores={"length_ratio": 1.0}, flags=("url",)) for a, b in texts
    ]
    return Aligned(PagePair(*urls, Language("en"), Language("fr"), **found), tuple(segments))


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


@pytest.fixture
def good(job: Job) -> Path:
    """Ten pages in either language, the English ones first; nine pairs of two segments each."""
    job.pages("en", 10)
    job.pages("fr", 10)
    job.skips(Reason.ROBOTS, Stage.ROBOTS, 3)
    texts = (("A b c.", "D e f."), ("G.", "H."))
    job.mined([pair(n, texts) for n in range(8)] + [pair(8, texts, evidence={"u": 0.7}, score=0.4)], 2, 4)
    return job.end()


class Reader(HTMLParser):
    """What a browser makes of it: elements, their attributes, the visible text; every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_figures_are_those_of_the_ledger(good: Path):
    facts = gather(good)
    mined = facts.mined
    assert facts.languages == {"en": 10, "fr": 10}
    assert (mined.pairs, mined.segments, mined.duplicates) == (9, 18, 4)
    assert [(one.letter, one.pairs, one.alone) for one in mined.methods] == [("a", 8, 0), ("c", 8, 0), ("u", 1, 1)]
    assert sum(mined.pair_scores) == 9
    assert (mined.pair_scores[8], mined.pair_scores[19]) == (1, 8)
    assert {name: sum(counts) for name, counts in mined.segment_scores.items()} == {"score": 18, "length_ratio": 18}
    assert (mined.flags, mined.flagged, mined.types) == ({"url": 18}, 18, {"1:1": 18})
    assert [(one.reason, one.count) for one in mined.refusals] == [("untranslated", 2)]
    assert [(one.stage, one.reason, one.count) for one in facts.crawled.skips] == [("robots", "robots", 3)]


def test_a_pair_is_complete_at_the_later_fetch_of_its_pages(good: Path):
    (curve,) = gather(good).mined.harvest
    assert curve.name == "en-fr"
    assert dict(curve.points) == {n: min(max(n - 10, 0), 9) for n in range(24)}


def test_curves_end_at_the_whole_whatever_the_number_of_fetches(job: Job):
    job.pages("en", 131)
    facts = gather(job.end())
    (curve,) = facts.crawled.growth
    assert curve.points[-1] == (131, 131)
    assert all(x == y for x, y in curve.points)


def test_samples_are_few_and_always_the_same(job: Job):
    job.pages("en", 50)
    job.pages("fr", 50)
    job.mined([pair(n, ((f"A {n}.", f"B {n}."),)) for n in range(50)])
    folder = job.end()
    samples = gather(folder).mined
    assert (len(samples.pair_samples), len(samples.segment_samples)) == (PAIR_SAMPLES, SEGMENT_SAMPLES)
    assert {sample.pair.url_a for sample in samples.pair_samples} != {address("en", n) for n in range(PAIR_SAMPLES)}
    assert report_of_job(gather(folder)) == report_of_job(gather(folder))


def test_the_report_is_one_well_formed_file_that_loads_nothing(good: Path):
    path = write_report(good)
    assert path == good / "report.html"
    assert [entry.name for entry in good.iterdir() if entry.suffix == ".new"] == []
    text = path.read_text("utf-8")
    read = Reader(text)
    assert not read.tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert not [name for name, _ in read.attributes if name.startswith("on") or name == "src"]
    assert any(name == "content" and value.startswith("default-src 'none'") for name, value in read.attributes)
    assert "url(" not in text
    assert "@import" not in text
    assert "prefers-color-scheme: dark" in text


def test_hostile_text_stays_text(job: Job):
    job.pages("en", 3, HOSTILE)
    job.pages("fr", 3, HOSTILE)
    job.skips(Reason.ROBOTS, Stage.ROBOTS, 1)
    job.mined([pair(n, ((HOSTILE, HOSTILE),), evidence={HOSTILE: 0.5}) for n in range(3)], 1)
    text = write_report(job.end()).read_text("utf-8")
    read = Reader(text)
    assert not read.tags & {"script", "img"}
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert "\x00" not in text
    assert "<script>alert(1)</script>" in "".join(read.text)


def test_a_hostile_seed_and_the_name_of_a_hostile_language_stay_text(job: Job):
    job.pages("en", 2)
    url = address("xx", 1)
    job.visit(url, Page(url, Language(HOSTILE)))
    seeds = ["https://www.example.org/?<script>alert(3)</script>", f"javascript:{HOSTILE}"]
    (job.folder / "job.toml").write_text(tomli_w.dumps({"langs": ["en", HOSTILE], "seeds": seeds}), "utf-8")
    read = Reader(write_report(job.end()).read_text("utf-8"))
    assert not read.tags & {"script", "img"}
    assert not [value for name, value in read.attributes if name == "href" and value.startswith("javascript")]
    assert "".join(read.text).count("<script>alert(1)</script>") >= 3, (
        "the seed, the language asked for and the one found"
    )


def test_no_template_and_no_page_goes_round_the_escaping():
    package = Path(bitrawl.__file__).parent
    for path in (*(package / "show").rglob("*"), *(package / "web").rglob("*")):
        if path.suffix in {".py", ".html", ".svg", ".css"}:
            assert not re.search(r"\|\s*safe\b|\bMarkup\(|autoescape (false|off)", path.read_text("utf-8")), path


def test_only_web_addresses_are_linked(good: Path):
    hrefs = [value for name, value in Reader(report_of_job(gather(good))).attributes if name == "href"]
    assert hrefs
    assert all(href.startswith(("http://", "https://", "#")) for href in hrefs)


def test_the_files_of_the_corpus_are_linked_relative_to_the_report(good: Path):
    (good / "corpus" / "en-fr.xces").mkdir(parents=True)
    for name in ("en-fr.tmx", "README.md", "a b#.txt", "en-fr.tsv.new"):
        (good / "corpus" / name).write_text("x" * 1234)
    text = report_of_job(gather(good))
    hrefs = [value for name, value in Reader(text).attributes if name == "href" and value.startswith("corpus/")]
    assert hrefs == ["corpus/README.md", "corpus/a%20b%23.txt", "corpus/en-fr.tmx", "corpus/en-fr.xces"]
    assert "1.2 kB" in text


@pytest.mark.parametrize(("threshold", "samples"), [(0.9, 2), (0.91, 0)])
def test_samples_are_of_what_the_thresholds_let_into_the_corpus(job: Job, threshold: float, samples: int):
    job.pages("en", 3)
    job.pages("fr", 3)
    job.mined([pair(0, (("One.", "Un."), ("Two.", "Deux.")))])
    with (job.folder / "job.toml").open("a", encoding="utf-8") as file:
        file.write(f"[judge]\nscore = {threshold}\n")
    assert len(gather(job.end()).mined.segment_samples) == samples


def test_our_own_requests_are_no_links_that_were_skipped(job: Job):
    job.pages("en", 2)
    job.skips(Reason.HTTP_STATUS, Stage.FETCH, 3, LinkKind.INDEX)
    job.skips(Reason.PROBE, Stage.ANALYSE, 2, LinkKind.PROBE)
    job.skips(Reason.ROBOTS, Stage.ROBOTS, 1)
    job.skips(Reason.REDIRECT, Stage.FETCH, 2)
    facts = gather(job.end())
    summary = facts.crawled.summary
    assert (summary.links, summary.pages, summary.skipped, summary.queued, summary.own_requests) == (5, 2, 3, 0, 5)
    assert summary.skip_reasons == {Reason.REDIRECT: 2, Reason.ROBOTS: 1}
    assert (summary.skipped_for(Reason.ROBOTS), summary.skipped_for(Reason.PROBE)) == (1, 0)
    assert sum(one.count for one in facts.crawled.skips) == summary.skipped
    assert "3 links skipped: 2 redirect, 1 robots" in brief(facts).lines
    text = "".join(Reader(report_of_job(facts)).text)
    assert "5 = 2 pages + 3 skipped + 0 queued" in text
    assert "5 (sitemaps" in text


def test_errors_have_their_status_codes_beside_them(job: Job):
    for number, status in enumerate((404, 404, 410)):
        url = address("en", number)
        job.visit(url, Skip(url, Stage.FETCH, Reason.HTTP_STATUS, status=status), status=status)
    facts = gather(job.end())
    assert [one.statuses for one in facts.crawled.skips] == [{404: 2, 410: 1}]
    assert "HTTP 404 × 2, 410 × 1" in report_of_job(facts)
    assert "http-status (404 × 2, 410 × 1)" in "\n".join(brief(facts).lines)


def test_a_host_keeps_its_case(job: Job):
    job.pages("en", 1)
    left = CrawlEnd(kind=EndKind.LEFT, name="www.example.org", why="nothing new", queued=1)
    assert "The rest of www.example.org was left out" in report_of_job(gather(job.end(left)))


def test_texts_of_the_web_have_a_direction_of_their_own(job: Job):
    job.pages("en", 3)
    job.pages("fr", 3)
    job.mined([pair(n, (("Hello.", "שלום."),)) for n in range(3)])
    assert '<td lang="fr" dir="auto">שלום.</td>' in report_of_job(gather(job.end()))


def test_a_job_that_found_what_it_could_needs_no_explanation(good: Path):
    assert diagnose(gather(good)) is None
    assert '<aside class="why">' not in report_of_job(gather(good))


def test_a_job_that_was_only_crawled_has_a_report(job: Job):
    job.pages("en", 3)
    job.pages("fr", 2)
    facts = gather(job.end())
    assert not facts.mined.begun
    assert diagnose(facts) is None
    assert "have not been paired yet" in report_of_job(facts)


def test_one_page_in_a_language_is_no_reason_to_advise_it(job: Job):
    job.pages("de", 1)
    job.pages("it", 2)
    said = " ".join("\n".join(brief(gather(job.end())).lines).split())
    assert "Italian (2) and German (1)" in said
    assert "--langs en,fr,it --out" in said


def test_where_each_language_has_one_page_none_is_advised(job: Job):
    job.pages("de", 1)
    said = "\n".join(brief(gather(job.end())).lines)
    assert "German (1)" in said
    assert "mine the site again" not in said


def nothing(job: Job) -> None:
    job.skips(Reason.ROBOTS, Stage.ROBOTS, 4)


def no_french(job: Job) -> None:
    job.pages("en", 9)
    job.pages("de", 4)
    job.skips(Reason.OFF_SITE, Stage.SCOPE, 2, LinkKind.ALTERNATE)


def no_pairs(job: Job) -> None:
    job.pages("en", 5)
    job.pages("fr", 5)
    job.mined([])


def all_refused(job: Job) -> None:
    job.pages("en", 5)
    job.pages("fr", 5)
    job.mined([], refusals=4)


def few_pairs(job: Job) -> None:
    job.pages("en", 30)
    job.pages("fr", 25)
    job.mined([pair(1), pair(2)])


@pytest.mark.parametrize(
    ("happened", "headline", "said"),
    [
        (nothing, "No page was found.", ["4 links were skipped: robots", "Ask the site's owner for permission"]),
        (
            no_french,
            "No page in French was found.",
            ["9 in English and 0 in French", "German (4)", "--one-site www.example.org,exemple.org"],
        ),
        (no_pairs, "No pair of translations was found.", ["Nothing connects", "--url-pair en=fr"]),
        (
            all_refused,
            "No pair of translations was found.",
            ["4 pairs were refused. Both pages have mostly the same text", "By reason: untranslated 4."],
        ),
        (few_pairs, "Only 2 of up to 25 possible pairs were found.", ["30 in English and 25 in French"]),
    ],
)
def test_a_job_that_found_little_says_why(job: Job, happened: Callable[[Job], None], headline: str, said: list[str]):
    happened(job)
    facts = gather(job.end())
    page, terminal = "".join(Reader(report_of_job(facts)).text), "\n".join(brief(facts).lines)
    for text in (headline, *said):
        assert text in page
        assert text in terminal


def test_the_headline_of_a_running_job_says_that_it_has_not_ended(job: Job):
    nothing(job)
    assert diagnose(gather(job.end(why=None))).english == "No page was found. The job has not ended yet."


def test_one_language_asks_for_no_pairs(tmp_path: Path):
    job = Job(tmp_path, ("en",))
    job.pages("en", 4)
    job.mined([])
    facts = gather(job.end())
    assert diagnose(facts) is None
    assert "Page pairs" not in report_of_job(facts)


def test_the_terminal_shows_a_few_lines(good: Path):
    assert brief(gather(good)).lines == [
        "20 pages of 23 answers (23.0 kB, 1 min 15 s): 10 English, 10 French",
        "9 page pairs: 9 en-fr; 18 segment pairs",
        "4 duplicate pages; 2 page pairs refused: 2 untranslated",
        "3 links skipped: 3 robots",
    ]


def test_of_many_pairs_of_languages_the_largest_have_a_line_each(good: Path):
    (good / "corpus").mkdir()
    counts = {
        f"en-{code}": {"units": units, "occurrences": units} for units, code in enumerate("cs de es fr pl".split(), 1)
    }
    (good / "corpus/summary.json").write_text(json.dumps(counts))
    lines = brief(gather(good)).lines
    assert [line for line in lines if "written" in line] == [
        "en-pl: 5 units written",
        "en-fr: 4 units written",
        "en-es: 3 units written",
        "2 other pairs of languages: 3 units written",
    ]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (
            {"units": 3120, "occurrences": 3130, "refused": {"flag": 584, "language": 127}},
            "en-fr: 3,120 units written (10 duplicates merged); 711 refused: 584 flag, 127 language",
        ),
        ({"units": 1, "occurrences": 1}, "en-fr: 1 unit written"),
        ({"documents": 2, "paragraphs": 31, "words": 1}, "en-fr: 2 documents written, with 31 paragraphs, 1 word"),
    ],
)
def test_the_size_of_the_corpus_is_shown(good: Path, counts: dict[str, object], said: str):
    (good / "corpus").mkdir()
    (good / "corpus/summary.json").write_text(json.dumps({"en-fr": counts}))
    facts = gather(good)
    assert said in brief(facts).lines
    assert ("711" in report_of_job(facts)) is ("refused" in counts)


def test_a_report_can_be_written_while_the_job_is_open(job: Job):
    job.pages("en", 2)
    assert "<td>running</td>" in write_report(job.folder).read_text("utf-8")
    job.end(why=None)
    assert "<td>interrupted (resume" in write_report(job.folder).read_text("utf-8")


def test_a_folder_without_a_job_is_refused_with_advice(tmp_path: Path):
    with pytest.raises(StoreError, match="holds no job"):
        write_report(tmp_path)


def test_every_reason_and_method_has_its_words():
    assert set(SKIPS) == set(Reason)
    assert set(METHODS) == {str(method) for method in Method}
    assert set(REFUSALS) == {str(reason) for reason in WhyNot}


def test_a_chart_of_nothing_is_drawn():
    assert "<svg" in lines("t", [], x="x", y="y")
    assert "<svg" in lines("t", [Series("one", ((0, 0),))], x="x", y="y")
    assert "nan" not in histogram("t", [0] * 20, x="x", y="y").lower()


def test_every_column_and_point_says_its_figure():
    chart = histogram("t", [0] * 19 + [7], x="x", y="y")
    assert "<title>0.95–1: 7 (100 %)</title>" in chart
    assert len(re.findall("<title>", lines("t", [Series("one", ((0, 0), (5, 3)))], x="x", y="y"))) == 2


def test_columns_below_the_threshold_are_pale():
    assert histogram("t", [1] * 100, x="x", y="y", mark=0.29).count("pale") == 29
    assert histogram("t", [1] * 20, x="x", y="y").count("pale") == 0


def test_curves_are_told_apart_without_colour():
    drawn = lines("t", [Series(str(n), ((0, 0), (5, n))) for n in range(COLOURS)], x="x", y="y")
    dashes = re.findall(r'<polyline class="line c\d" points="[^"]*"(?: stroke-dasharray="([^"]*)")?', drawn)
    assert len(dashes) == len(set(dashes)) == COLOURS
    legend = drawn[drawn.index('class="legend"') :]
    assert [legend.count(f'"{pattern}"') for pattern in dashes if pattern] == [1] * (COLOURS - 1)


def test_a_ring_marks_where_a_curve_stops():
    drawn = lines("t", [Series("one", ((0, 0), (5, 3)), (4, 3)), Series("two", ((0, 0), (5, 3)))], x="x", y="y")
    assert drawn.count('<circle class="stop c0"') == 1
    assert "<title>one stops after 4, with 3</title>" in drawn
    assert "where it stops" in drawn
    assert "where it stops" not in lines("t", [Series("one", ()), Series("two", ())], x="x", y="y")


def test_the_spread_of_a_curve_is_an_area_that_fits_into_the_chart():
    drawn = lines("t", [Series("one", ((0, 1), (5, 3)), spread=((0, 0.5, 1.5), (5, 0, 400)))], x="x", y="y")
    (outline,) = re.findall(r'<polygon class="spread c0" points="([^"]*)"', drawn)
    heights = [float(point.split(",")[1]) for point in outline.split()]
    assert len(heights) == 4
    assert min(heights) >= 0  # the top of the picture
    assert "<polygon" not in lines("t", [Series("one", ((0, 1), (5, 3)))], x="x", y="y")


def test_the_last_label_of_an_axis_stays_inside_the_picture():
    drawn = lines("t", [Series("one", ((0, 0), (1_000_000, 3)))], x="x", y="y")
    (width,) = re.findall(r'viewBox="0 0 (\d+) ', drawn)
    (middle,) = re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="middle">1,000,000<', drawn)
    assert float(middle) + len("1,000,000") * 6.5 / 2 <= int(width)  # pixels of a character


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("fr", "French"),
        ("el", "Greek"),
        ("zh-Hant", "Chinese (Hant)"),
        ("cnr", "Montenegrin"),
        ("und", "unknown language"),
    ],
)
def test_languages_are_called_by_their_names(code: str, name: str):
    assert language_name(code) == name


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0421, "42 ms"), (2.94, "2.9 s"), (75, "1 min 15 s"), (7800, "2 h 10 min")]
)
def test_durations_are_readable(seconds: float, said: str):
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("part", "said"), [(0, "0 %"), (1, "under 1 %"), (500, "50 %"), (999, "99 %"), (1000, "100 %")]
)
def test_a_share_is_never_rounded_to_none_or_all(part: int, said: str):
    assert share(part, 1000) == said


def test_lines_that_a_browser_sent_are_shown_as_they_were_typed():
    shown = new_environment("bitrawl.show").from_string("{{ text }}").render
    assert shown(text="https://a.example/\r\nhttps://b.example/") == "https://a.example/\r\nhttps://b.example/"
    assert shown(text="a\x00b\x0cc") == "a\ufffdb\ufffdc"
