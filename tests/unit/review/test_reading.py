"""The index of a job that readers list and search, and what they get from it."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept_findings import Aligned, keep_findings

from bitrawl.errors import FieldError
from bitrawl.mining import Rejection
from bitrawl.model import (
    Language,
    Lease,
    Link,
    LinkKind,
    Page,
    PagePair,
    Segment,
    SegmentPair,
    Skip,
    Verdict,
    Visit,
    pair_key,
    segment_key,
)
from bitrawl.reasons import Reason, Stage
from bitrawl.review.reviewing import Reading
from bitrawl.review.search_query import ANYWHERE, HitOrder, QueryMistake, SearchedSide, SearchQuery
from bitrawl.review.searching import HitList, all_hits, search
from bitrawl.store import reading_index
from bitrawl.store.database import locked
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import LanguageOrder, PairFilter, PairOrder, VerdictState
from bitrawl.store.ledger import Ledger
from bitrawl.store.reading_index import Refreshed
from bitrawl.store.stored_findings import Findings, PackedAlignment
from bitrawl.store.verdicts import SubjectKind
from bitrawl.text.words import unspaced_count
from bitrawl.url import Url

EN = Language("en")
TEXTS = {
    "fr": [("The summer was warm.", "L'été était chaud."), ("The old port", "Le vieux port"), ("Milk", "Du lait")],
    "zh": [("He studies at the university.", "他在大学学习 Linux。"), ("A cat", "一只猫"), ("She reads.", "她读书。")],
    "ar": [("The teacher arrived.", "وصل المُدَرِّس أمس."), ("A book", "كتاب"), ("A pen", "قلم")],
    "th": [("I love Thai food.", "ฉันรักอาหารไทย"), ("Water", "น้ำ"), ("House", "บ้าน")],
    "ja": [("I read the newspaper.", "新聞を読みました。"), ("Guide", "ガイド"), ("Mountain", "山")],
    "hi": [("Hindi language", "हिन्दी भाषा"), ("Honda", "होन्दा"), ("Table", "मेज")],
}


def address(language: str, number: int = 0, site: str = "s.test") -> Url:
    return Url.parse(f"http://{site}/{language}/{number}")


def aligned(other: str, number: int = 0, *texts: tuple[str, str], score: float = 0.9, site: str = "s.test") -> Aligned:
    urls = address("en", number, site), address(other, number, site)
    segments = tuple(
        SegmentPair(*urls, Segment(a), Segment(b), 0.9 - place / 10, flags=("url",) if place == 2 else ())
        for place, (a, b) in enumerate(texts or TEXTS[other])
    )
    return Aligned(PagePair(*urls, EN, Language(other), score, {"u": 0.5, "c": 0.25}), segments)


class Job:
    """A folder that is mined and read."""

    def __init__(self, path: Path) -> None:
        self.folder = JobFolder(path)
        self.folder.description.write_text('langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n')
        self.ledger = Ledger(self.folder.ledger)
        self.reading = Reading(self.folder)

    def visited(self, url: Url, title: str = "") -> "Job":
        link = Link(url, LinkKind.PAGE)
        with self.ledger.transaction():
            self.ledger.refuse([(link, Skip(url, Stage.SCOPE, Reason.OFF_SITE))])
            self.ledger.record(Visit(Lease(link, 1.0), Page(url, EN, title=title), 200, 1000, at=1e9, took=0.1))
        return self

    def found(self, *pairs: Aligned, site: str = "s.test") -> "Job":
        keep_findings(Findings(self.ledger), site, len(pairs), pairs)
        return self

    def refreshed(self) -> Refreshed:
        done = reading_index.refresh(self.folder.path)
        assert done is not None
        return done

    def keys(self, **asked: object) -> list[str]:
        return [pair.row.url_b for pair in self.reading.pairs(PairFilter(**asked)).pairs]  # type: ignore[arg-type]

    def hits(self, phrase: str, side: SearchedSide = SearchedSide.BOTH, **more: object) -> HitList:
        part = {name: more.pop(name) for name in ("offset", "limit") if name in more}
        return search(self.reading, SearchQuery(text=phrase, side=side, **more), **part)  # type: ignore[arg-type]

    def answered(self, phrase: str, side: SearchedSide = SearchedSide.BOTH) -> HitList:
        """A query that cannot be read is answered by the fix."""
        try:
            return self.hits(phrase, side)
        except FieldError:
            return HitList((), 0)

    def texts(self, phrase: str, side: SearchedSide = SearchedSide.BOTH, **more: object) -> list[str]:
        return [hit.segment.text_b for hit in self.hits(phrase, side, **more).hits]

    def state(self) -> dict[str, list[tuple[object, ...]]]:
        """All that the index holds, whatever its numbers are."""
        with sqlite3.connect(self.folder.reading_index) as index:
            columns = (
                "key, lang_a, site, url_a, title_a, score, evidence, completed, segments, mean_score, flagged, searched"
            )
            rows = {
                "pairs": index.execute(f"SELECT {columns} FROM pairs ORDER BY digest").fetchall(),
                "words": index.execute("SELECT a, b, languages FROM words ORDER BY 1, 2").fetchall(),
                "alignments": index.execute("SELECT key, segments, mean_score FROM alignments ORDER BY 1").fetchall(),
            }
            index.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        index.close()
        return rows


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    made = Job(tmp_path)
    yield made
    made.ledger.close()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    """Texts of many languages, to search."""
    made = Job(tmp_path_factory.mktemp("library"))
    made.found(*(aligned(other) for other in TEXTS)).refreshed()
    yield made
    made.ledger.close()


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("été", ["L'été était chaud."]),
        ("ETE", ["L'été était chaud."]),
        ("l'ete etait", ["L'été était chaud."]),
        ("vieux port", ["Le vieux port"]),
        ("port vieux", []),
        ("vieu", []),
        ("vieu*", ["Le vieux port"]),
        ("大学学习", ["他在大学学习 Linux。"]),
        ("在大学", ["他在大学学习 Linux。"]),
        ("大学", ["他在大学学习 Linux。"]),
        ("猫", ["一只猫"]),
        ("linux", ["他在大学学习 Linux。"]),
        ("学习 Linux", ["他在大学学习 Linux。"]),
        ("المدرس", ["وصل المُدَرِّس أمس."]),
        ("وصل المدرس", ["وصل المُدَرِّس أمس."]),
        ("อาหาร", ["ฉันรักอาหารไทย"]),
        ("น้ำ", ["น้ำ"]),
        ("新聞を読み", ["新聞を読みました。"]),
        ("新聞", ["新聞を読みました。"]),
        ("ｶﾞｲﾄﾞ", ["ガイド"]),
        ("カイト", []),
        ("हिन्दी", ["हिन्दी भाषा"]),
        ("होन्दा", ["होन्दा"]),
        ("university", ["他在大学学习 Linux。"]),
    ],
)
def test_a_phrase_is_found_in_any_script(library: Job, phrase: str, found: list[str]):
    assert library.texts(phrase) == found


@pytest.mark.parametrize(
    "phrase",
    [
        *(
            "",
            " ",
            '"',
            "'",
            "*",
            "(",
            ")",
            "NOT",
            "a AND b",
            "a OR",
            "NEAR(a b)",
            "a:",
            "{a} : x",
            "^port",
            "port*",
            "-port",
        ),
        *(
            "\0",
            "a\0b",
            "\ud800",
            "大\ud800",
            "%",
            "_",
            "\\",
            "大%",
            "é" * 2000,
            "--",
            "; DROP TABLE pairs",
            '""port""',
        ),
    ],
)
def test_a_phrase_is_never_syntax(library: Job, phrase: str):
    assert library.answered(phrase).total <= 3 * len(TEXTS)
    for asked in (PairFilter(text=phrase), PairFilter(site=phrase), PairFilter(method=phrase)):
        assert library.reading.pairs(asked).total <= len(TEXTS)
    strange = LanguageOrder(EN, Language(phrase or "x"))
    assert library.reading.pair(phrase) is None
    assert library.reading.verdicts.undo(SubjectKind.PAIR, phrase, "anna", 1.0) == ()
    assert library.hits("port", languages=strange).total == 0
    assert library.reading.pairs(PairFilter(languages=strange)).total == 0
    assert library.texts("vieux port") == ["Le vieux port"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.text(st.characters(), max_size=12), st.sampled_from(SearchedSide))
def test_any_phrase_gets_an_answer(library: Job, phrase: str, side: SearchedSide):
    answer = library.answered(phrase, side)
    assert len(answer.hits) <= answer.total <= 3 * len(TEXTS)
    assert library.reading.pairs(PairFilter(text=phrase)).total <= len(TEXTS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.sampled_from([text for texts in TEXTS.values() for _, text in texts]), st.data())
def test_every_part_of_an_unspaced_text_and_every_word_of_another_is_found(
    library: Job, text: str, data: st.DataObject
):
    if not unspaced_count(text):
        part = data.draw(st.sampled_from(text.rstrip(".").split()))
    else:
        run, _, _ = text.partition(" ")  # Words of other scripts are found whole.
        first = data.draw(st.integers(0, len(run) - 1))
        part = run[first : data.draw(st.integers(first + 1, len(run)))]
    if any(map(str.isalnum, part)):
        assert text in library.texts(part, SearchedSide.B)


def test_a_hit_has_its_neighbours_marks_pair_score_and_flags(library: Job):
    [hit] = library.hits("du lait", SearchedSide.B).hits
    assert (hit.segment.place, hit.segment.flags, hit.following) == (2, ("url",), None)
    assert hit.previous is not None
    assert hit.previous.text_b == "Le vieux port"
    assert hit.pair.row.key == pair_key(address("en"), address("fr"))
    assert hit.segment.key == segment_key("Milk", "Du lait")
    assert [(mark.start, mark.end) for mark in hit.marks_b] == [(0, 7)]
    assert hit.marks_a == ()


def test_the_same_texts_twice_on_two_pages_have_two_anchors_and_both_are_found(job: Job):
    texts = (("Home", "Accueil"), ("Milk", "Du lait"), ("Home", "Accueil"), ("Home", "Accueil"))
    job.found(aligned("fr", 0, *texts)).refreshed()
    [row] = [pair.row for pair in job.reading.pairs(PairFilter()).pairs]
    pair = job.reading.pair(row.key)
    assert pair is not None
    key = segment_key("Home", "Accueil")
    assert [segment.anchor for segment in pair.segments] == [
        key,
        segment_key("Milk", "Du lait"),
        f"{key}-1",
        f"{key}-2",
    ]
    hits = job.hits("accueil").hits
    assert {hit.segment.anchor: hit.segment.place for hit in hits} == {key: 0, f"{key}-1": 2, f"{key}-2": 3}
    assert [pair.place_of(anchor) for anchor in (key, f"{key}-2", f"{key}-7", "gone", "")] == [0, 3, 0, None, None]


def test_a_search_is_of_one_side_and_of_two_languages_if_asked(library: Job):
    assert library.texts("milk", SearchedSide.A) == ["Du lait"]
    assert library.texts("milk", SearchedSide.B) == []
    assert library.texts("a", SearchedSide.A, languages=LanguageOrder(EN, Language("zh"))) == ["一只猫"]
    assert library.texts("a", SearchedSide.A, languages=LanguageOrder(EN, Language("de"))) == []


def test_hits_come_page_by_page_the_best_first_and_all_of_them(job: Job):
    texts = [(f"Tea number {number}", "Thé") for number in range(1250)]
    job.found(aligned("fr", 0, *texts)).refreshed()
    assert job.hits("tea").total == 1250
    pages = [job.hits("tea", offset=offset, limit=5).hits for offset in (0, 5, 1245)]
    scores = [hit.segment.score for hits in pages for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert len({hit.segment.place for hits in pages for hit in hits}) == 15
    everything = [hit.segment.a.text for hit in all_hits(job.reading, SearchQuery(text="tea"))]
    assert everything == [text for text, _ in texts]


def test_a_character_that_begins_very_many_terms_is_found_too(job: Job):
    texts = [("Tea", f"茶{chr(0x4E00 + number // 60)}{chr(0x5000 + number % 60)}") for number in range(1200)]
    job.found(aligned("zh", 0, *texts, ("Tea", "喝茶"))).refreshed()
    assert job.hits("茶").total == 1201
    assert job.texts("喝茶") == ["喝茶"]
    assert job.hits("茶丁", SearchedSide.B).total == 60
    assert job.hits("茶丁", SearchedSide.A).total == 0


LAYERS = [
    ("The layer is locked.", "Le calque est verrouillé."),
    ("Each layer is thin.", "Chaque couche est fine."),
    ("Pages of the œuvre", "Les pages de l'œuvre"),
    ("A page layout", "Une mise en page"),
    ("The thin red layer of paint", "La fine couche rouge de peinture"),
]


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    made = Job(tmp_path_factory.mktemp("layers"))
    made.found(
        aligned("fr", 0, *LAYERS),
        aligned(
            "ar", 1, ("The teacher", "المدرس"), ("and the teacher", "والمدرس"), ("a teacher", "مدرس"), ("a boy", "ولد")
        ),
        aligned(
            "zh",
            2,
            ("The Linux kernel", "使用Linux内核"),
            ("Linux kernels", "使用 Linux 内核"),
            ("university", "北京 大学"),
        ),
    ).refreshed()
    yield made
    made.ledger.close()


@pytest.mark.parametrize(
    ("query", "places"),
    [
        (SearchQuery(text="layer", other="calque"), [0]),
        (SearchQuery(text="layer", without="calque"), [1, 4]),
        (SearchQuery(text="layer", other="couche", without="roug*"), [1]),
        (SearchQuery(text="layer", without="co* roug*"), [0, 1]),
        (SearchQuery(text="calque", other="layer", side=SearchedSide.B), [0]),
        (SearchQuery(text="calque", other="layer", side=SearchedSide.A), []),
        (SearchQuery(text="pag*"), [2, 3]),
        (SearchQuery(text="pag* of", side=SearchedSide.A), [2]),
        (SearchQuery(text="of pag*"), []),
        (SearchQuery(text="thi* red lay*"), [4]),
        (SearchQuery(text="layer thin", between=1), [1, 4]),
        (SearchQuery(text="layer thin", between=0), []),
        (SearchQuery(text="layer paint", between=1), [4]),
        (SearchQuery(text="paint red", between=1), []),
        (SearchQuery(text="paint thi*", between=ANYWHERE), [4]),
        (SearchQuery(text='paint "thin red"', between=ANYWHERE), [4]),
        (SearchQuery(text='paint "red thin"', between=ANYWHERE), []),
        (SearchQuery(text="oeuvre"), [2]),
        (SearchQuery(text="œuvre"), [2]),
    ],
)
def test_words_are_found_near_each_other_by_their_beginning_and_with_what_the_other_side_has(
    layers: Job, query: SearchQuery, places: list[int]
):
    french = msgspec.structs.replace(query, languages=LanguageOrder(EN, Language("fr")))
    answer = search(layers.reading, french)
    assert [hit.segment.place for hit in answer.hits] == places
    assert answer.total == len(places)
    assert [
        LAYERS.index((hit.segment.a.text, hit.segment.b.text)) for hit in all_hits(layers.reading, french)
    ] == places


@pytest.mark.parametrize("phrase", ["المدرس", "مدرس", "والمدرس", "المدر*"])
def test_a_word_is_found_with_and_without_its_article(layers: Job, phrase: str):
    assert layers.texts(phrase) == ["المدرس", "والمدرس", "مدرس"]
    assert [len(hit.marks_b) for hit in layers.hits(phrase).hits] == [1, 1, 1]


@pytest.mark.parametrize("phrase", ["Linux内核", "Linux 内核", "用Linux", "使用 linux", "内", "x内"])
def test_spaces_around_a_script_without_spaces_make_no_difference(layers: Job, phrase: str):
    expected = [] if phrase == "x内" else ["使用Linux内核", "使用 Linux 内核"]
    assert layers.texts(phrase, SearchedSide.B) == expected
    assert layers.texts("北京大学") == layers.texts("京大") == ["北京 大学"]


@pytest.mark.parametrize(
    ("query", "field", "mistake"),
    [
        (SearchQuery(text="p*g"), "q", QueryMistake.STAR),
        (SearchQuery(text="*"), "q", QueryMistake.STAR),
        (SearchQuery(text="a *"), "q", QueryMistake.STAR),
        (SearchQuery(text="--"), "q", QueryMistake.NO_WORD),
        (SearchQuery(text='"old port', between=3), "q", QueryMistake.QUOTATION),
        (SearchQuery(text="port", other="*x"), "other", QueryMistake.STAR),
        (SearchQuery(text="port", without="?"), "without", QueryMistake.NO_WORD),
        (SearchQuery(text="", other="port"), "q", QueryMistake.NOTHING),
    ],
)
def test_a_query_that_cannot_be_read_names_its_field_and_the_fix(
    layers: Job, query: SearchQuery, field: str, mistake: QueryMistake
):
    with pytest.raises(FieldError) as refused:
        search(layers.reading, query)
    assert refused.value.fields == {field: mistake}


def test_hits_are_sorted_by_the_words_before_or_after_them(layers: Job):
    left = layers.hits("layer", order=HitOrder.LEFT).hits
    assert [hit.segment.text_a for hit in left] == [LAYERS[place][0] for place in (1, 4, 0)]  # each, red, the
    right = layers.hits("layer", order=HitOrder.RIGHT).hits
    assert [hit.segment.text_a for hit in right] == [LAYERS[place][0] for place in (0, 1, 4)]  # is locked, is thin, of
    assert [hit.segment.place for hit in layers.hits("layer", order=HitOrder.RIGHT, offset=1, limit=1).hits] == [1]


def test_what_the_other_side_must_have_is_marked_there(layers: Job):
    [hit] = layers.hits("calque", other="lay*").hits
    assert hit.side is SearchedSide.B
    assert [hit.segment.text_a[mark.start : mark.end] for mark in hit.marks_a] == ["layer"]
    assert [hit.segment.text_b[mark.start : mark.end] for mark in hit.marks_b] == ["calque"]


def test_pairs_are_filtered_sorted_and_counted(job: Job):
    for number in (1, 0, 2):
        job.visited(address("en", number), f"Été {number}").visited(address("fr", number))
    job.visited(address("zh", 0, "t.test"))
    job.found(*(aligned("fr", number, *TEXTS["fr"][: 3 - number], score=number / 2) for number in (0, 1, 2)))
    job.found(aligned("zh", 0, site="t.test", score=0.6), site="t.test").refreshed()
    french = [str(address("fr", number)) for number in range(3)]
    chinese = str(address("zh", 0, "t.test"))
    assert job.keys() == [french[2], chinese, french[1], french[0]]
    assert job.keys(languages=LanguageOrder(EN, Language("fr")), ascending=True) == french
    assert job.keys(site="t.test") == job.keys(text="T.TEST/zh") == [chinese]
    assert job.keys(text="ete 1") == [french[1]]
    assert len(job.keys(method="c")) == 4
    assert job.keys(method="a") == []
    assert job.keys(least=0.5, most=0.6) == [chinese, french[1]]
    assert job.keys(site="s.test", order=PairOrder.SEGMENTS) == french
    assert job.keys(site="s.test", order=PairOrder.COMPLETED, ascending=True) == [french[1], french[0], french[2]]
    assert job.keys(site="s.test", order=PairOrder.MEAN_SCORE) == [french[2], french[1], french[0]]
    assert job.keys(site="s.test", order=PairOrder.TITLE, ascending=True) == french
    page = job.reading.pairs(PairFilter(offset=1, limit=2))
    assert (page.total, [pair.row.url_b for pair in page.pairs]) == (4, [chinese, french[1]])
    assert [tuple(count) for count in job.reading.choices().languages] == [("en-fr", 3), ("en-zh", 1)]
    assert [tuple(count) for count in job.reading.choices().sites] == [("s.test", 3), ("t.test", 1)]
    points = job.reading.harvest(LanguageOrder(EN, Language("fr")))
    assert [(point.fetches, point.pairs) for point in points] == [(2, 1), (4, 2), (6, 3)]
    assert job.reading.harvest(None)[-1].pairs == 4


@pytest.mark.parametrize(("offset", "limit"), [(-1, 5), (1 << 80, 5), (0, -1), (0, 1 << 80)])
def test_parts_of_a_list_are_bounded(library: Job, offset: int, limit: int):
    assert library.reading.pairs(PairFilter(offset=offset, limit=limit)).total == len(TEXTS)
    assert len(library.hits("a", offset=offset, limit=limit).hits) <= 5


def test_a_harvest_curve_has_few_points_and_ends_with_all_pairs(job: Job):
    for number in range(500):
        job.visited(address("en", number)).visited(address("fr", number))
    job.found(*(aligned("fr", number, ("A", "B")) for number in range(500))).refreshed()
    points = job.reading.harvest(None)
    assert len(points) <= 200
    assert (points[-1].fetches, points[-1].pairs) == (1000, 500)


def test_a_pair_is_read_with_its_evidence_its_segments_in_order_and_verdicts(job: Job):
    job.visited(address("en"), "<script>").found(aligned("fr")).refreshed()
    key = pair_key(address("en"), address("fr"))
    milk = segment_key("Milk", "Du lait")
    assert job.reading.judge_pair(key, Verdict.ACCEPT, "anna", 1.0)
    assert job.reading.judge_segment(key, milk, Verdict.REJECT, "anna", 2.0)
    read = job.reading.pair(key)
    assert read is not None
    assert (read.pair.verdict, read.pair.row.title_a, read.pair.row.evidence) == (
        *(Verdict.ACCEPT, "<script>"),
        {"u": 0.5, "c": 0.25},
    )
    assert (read.pair.row.methods, read.pair.row.flagged, read.pair.row.segments) == ("uc", 1, 3)
    assert [(one.text_a, one.text_b) for one in read.segments] == TEXTS["fr"]
    assert [one.verdict for one in read.segments] == [None, None, Verdict.REJECT]
    assert [one.place for one in read.segments] == [0, 1, 2]
    [undone] = job.reading.verdicts.undo(SubjectKind.SEGMENT, milk, "anna", 3.0)
    assert undone.subject.text_b == "Du lait"
    assert job.reading.verdicts.undo_last("anna", 4.0)
    assert [said.undone_at for said in job.reading.verdicts.history(9)] == [3.0, 4.0]
    assert msgspec.json.encode(job.reading.pair(key))


def test_what_is_not_there_cannot_be_read_or_judged(job: Job):
    job.found(aligned("fr")).refreshed()
    assert job.reading.pair("0" * 16) is None
    assert not job.reading.judge_pair("0" * 16, Verdict.ACCEPT, "anna", 1.0)
    assert not job.reading.judge_segment("0" * 16, "0" * 16, Verdict.ACCEPT, "anna", 1.0)
    assert not job.reading.judge_segment(pair_key(address("en"), address("fr")), "0" * 16, Verdict.ACCEPT, "anna", 1.0)
    assert not job.folder.verdicts.exists()


def test_pairs_are_listed_by_what_people_said(job: Job):
    job.found(*(aligned("fr", number) for number in range(4))).refreshed()
    keys = [pair_key(address("en", number), address("fr", number)) for number in range(4)]
    job.reading.judge_pair(keys[0], Verdict.ACCEPT, "anna", 1.0)
    job.reading.judge_pair(keys[1], Verdict.REJECT, "anna", 2.0)
    assert job.keys(verdict=VerdictState.ACCEPTED) == [str(address("fr", 0))]
    assert job.keys(verdict=VerdictState.REJECTED) == [str(address("fr", 1))]
    assert sorted(job.keys(verdict=VerdictState.NONE)) == [str(address("fr", number)) for number in (2, 3)]


def test_without_an_index_nothing_is_found_and_nothing_is_made(job: Job):
    job.found(aligned("fr"))
    assert job.keys() == job.texts("port") == []
    assert job.reading.harvest(None) == ()
    assert job.reading.choices().sites == ()
    assert not list(job.folder.path.glob("index*"))
    assert reading_index.is_due(job.folder.path)


def test_a_refresh_reads_only_what_is_new_and_removes_what_is_gone(job: Job):
    job.found(aligned("fr", 0), aligned("fr", 1)).refreshed()
    assert not reading_index.is_due(job.folder.path)
    assert job.refreshed() == Refreshed()
    job.found(aligned("zh", 0, site="t.test"), site="t.test")
    assert reading_index.is_due(job.folder.path)
    assert job.refreshed() == Refreshed(pairs=1, alignments=1)
    job.found(aligned("fr", 0, score=0.4), aligned("fr", 1))
    assert job.refreshed() == Refreshed(pairs=1, alignments=0, removed=1)  # only its score is new
    job.found(aligned("fr", 0, score=0.4))
    assert job.refreshed() == Refreshed(removed=1)
    assert job.keys(site="s.test") == [str(address("fr", 0))]
    job.found(site="t.test").refreshed()
    assert job.texts("大学") == []
    state = job.state()
    for ending in ("", "-wal", "-shm"):
        (job.folder.path / f"index.sqlite{ending}").unlink(missing_ok=True)
    job.refreshed()
    assert job.state() == state


class KilledError(Exception):
    pass


@pytest.mark.parametrize("after", range(7))
def test_a_refresh_that_was_killed_goes_on_where_it_was(job: Job, monkeypatch: pytest.MonkeyPatch, after: int):
    job.found(*(aligned("fr", number) for number in range(6))).refreshed()
    job.found(*(aligned("fr", number, ("New", "Neuf")) for number in range(3)))
    job.found(*(aligned("zh", number, site="t.test") for number in range(4)), site="t.test")
    take, taken = reading_index._Refresh._take, []

    def killed(self: reading_index._Refresh, number: int, digest: int) -> None:
        if len(taken) == after:
            raise KilledError
        taken.append(number)
        take(self, number, digest)

    with monkeypatch.context() as patched:
        patched.setattr(reading_index._Refresh, "_take", killed)
        with pytest.raises(KilledError):
            reading_index.refresh(job.folder.path, batch=2)
    assert reading_index.is_due(job.folder.path)
    assert job.refreshed().pairs == 7 - after // 2 * 2
    state = job.state()
    job.folder.reading_index.unlink()
    job.refreshed()
    assert job.state() == state


def test_a_process_that_is_killed_leaves_no_lock_and_no_broken_index(job: Job):
    job.found(*(aligned("fr", number) for number in range(6)))
    program = (
        "import os, signal, sys; from pathlib import Path; from bitrawl.store import reading_index as r;"
        "keep = r._Refresh._write_words; kept = []\n"
        "def killed(self, *segment):\n"
        "    kept.append(keep(self, *segment))\n"
        "    if len(kept) == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "r._Refresh._write_words = killed; r.refresh(Path(sys.argv[1]), batch=2)"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(job.folder.path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(job.keys()) == 2  # The second batch was written, not committed.
    assert job.refreshed().pairs == 4
    assert job.hits("vieux port").total == 6


def test_a_pair_without_an_alignment_gets_its_segments_when_they_come(job: Job):
    one = aligned("fr")
    findings = Findings(job.ledger)
    keep_findings(findings, "s.test", 1, [one])
    with job.ledger.transaction():
        job.ledger.database.query("DELETE FROM alignments")
    job.refreshed()
    assert job.reading.pairs(PairFilter()).pairs[0].row.segments == 0
    assert job.texts("port") == []
    findings.aligned("s.test", b"s.test 0", PackedAlignment.of(one.segments))
    job.refreshed()
    assert job.texts("vieux port") == ["Le vieux port"]


@pytest.mark.parametrize("content", [b"no database at all, and long enough for a header" * 9, None])
def test_a_broken_or_foreign_index_is_made_again(job: Job, content: bytes | None):
    job.found(aligned("fr")).refreshed()
    if content is None:
        with sqlite3.connect(job.folder.reading_index) as index:
            index.execute("PRAGMA user_version = 99")
        index.close()
        assert job.keys() == []
    else:
        job.folder.reading_index.write_bytes(content)
    job.refreshed()
    assert job.texts("vieux port") == ["Le vieux port"]


def test_only_one_process_refreshes_an_index(job: Job):
    job.found(aligned("fr"))
    with locked(job.folder.reading_index):
        assert reading_index.refresh(job.folder.path) is None
    assert job.refreshed().pairs == 1


def test_the_index_is_refreshed_by_a_process_of_its_own_while_the_job_runs(job: Job, tmp_path: Path):
    job.found(aligned("fr"))  # The ledger is open for writing.
    command = [sys.executable, "-m", "bitrawl.store.reading_index"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "1 page pairs are new, 0 are gone; 1 alignments were read\n"
    assert job.texts("vieux port") == ["Le vieux port"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
    wrong = subprocess.run([*command, str(tmp_path / "nowhere")], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "holds no job" in wrong.stderr) == (1, True)


def test_threads_read_while_the_index_is_refreshed(job: Job):
    job.found(*(aligned("fr", number) for number in range(20))).refreshed()
    with ThreadPoolExecutor(4) as threads:
        answers = [threads.submit(job.hits, "vieux port") for _ in range(20)]
        job.found(*(aligned("fr", number) for number in range(40))).refreshed()
        assert all(answer.result().total >= 20 for answer in answers)
    assert job.hits("vieux port").total == 40


def test_hostile_pages_are_indexed(job: Job):
    odd = [("half \ud800 pair", "nul \0 byte"), ("", "only one side"), ("\u202eright to left", "x" * 10_000)]
    job.visited(address("en"), "title \0 here").found(
        aligned("fr", 0, *(pair for pair in odd if "\ud800" not in pair[0]))
    )
    job.refreshed()
    assert job.texts("only one side") == ["only one side"]
    assert job.texts("right to left") == ["x" * 10_000]
    assert len(job.keys(text="title")) == 1


GOOD = {"coverage_a": 0.9, "coverage_b": 0.9, "length_ratio": 0.9, "language_a": 0.9, "words_a": 9.0, "words_b": 9.0}
LEFT_OUT = {
    Rejection.SCORE: {"score": 0.1},
    Rejection.COVERAGE: {"scores": {**GOOD, "coverage_a": 0.0, "coverage_b": 0.1}},
    Rejection.LENGTH_RATIO: {"scores": {**GOOD, "length_ratio": 0.1}},
    Rejection.LANGUAGE: {"scores": {**GOOD, "language_a": 0.1}},
    Rejection.WORDS: {"scores": {**GOOD, "words_b": 0.0}},
    Rejection.TYPE: {"type": "1:2"},
    Rejection.FLAG: {"flags": ("non-letters",)},
    Rejection.CODE: {"flags": ("code",)},
    None: {},
}


def test_a_reader_sees_every_segment_that_the_thresholds_leave_out_and_why(job: Job):
    job.folder.description.write_text(
        'langs = ["en", "fr"]\nseeds = ["http://s.test/"]\n[judge]\ncoverage = 0.2\ntypes = ["1:1"]\n'
    )
    urls = address("en"), address("fr")
    good = SegmentPair(*urls, Segment("The old port"), Segment("Le vieux port"), 0.9, type="1:1", scores=GOOD)
    segments = tuple(msgspec.structs.replace(good, **changed) for changed in LEFT_OUT.values())
    job.found(Aligned(PagePair(*urls, EN, Language("fr"), 0.9), segments)).refreshed()
    read = job.reading.pair(pair_key(*urls))
    assert read is not None
    assert [segment.left_out for segment in read.segments] == list(LEFT_OUT)


@pytest.fixture(scope="module")
def translated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    made = Job(tmp_path_factory.mktemp("translated"))
    made.found(
        aligned(
            "de",
            0,
            ("Water is in the houses.", "In den Häusern gibt es Wasser."),
            ("The pipes of the home", "Die Rohre des Hauses"),
            ("They are at home.", "Sie sind zu Hause."),
            ("Drink it.", "Trink das Wasser."),
        ),
        aligned("zh", 1, ("The firm", "这家公司"), ("A company", "一家企业")),
        aligned("ar", 2, ("The firms", "الشركات"), ("Our companies", "مؤسساتنا")),
    ).refreshed()
    yield made
    made.ledger.close()


@pytest.mark.parametrize(
    ("query", "exact", "by_translation"),
    [
        (SearchQuery(text="water"), ["In den Häusern gibt es Wasser."], ["Trink das Wasser."]),
        (
            SearchQuery(text="house"),
            [],
            ["In den Häusern gibt es Wasser.", "Die Rohre des Hauses", "Sie sind zu Hause."],
        ),
        (SearchQuery(text="Wasser"), ["In den Häusern gibt es Wasser.", "Trink das Wasser."], []),
        (SearchQuery(text="house water"), [], ["In den Häusern gibt es Wasser."]),
        (SearchQuery(text="water", side=SearchedSide.A), ["In den Häusern gibt es Wasser."], ["Trink das Wasser."]),
        (SearchQuery(text="water", side=SearchedSide.B), [], []),
        (SearchQuery(text="company", languages=LanguageOrder(EN, Language("zh"))), ["一家企业"], ["这家公司"]),
        (SearchQuery(text="公司"), ["这家公司"], ["一家企业", "مؤسساتنا"]),
        (SearchQuery(text="الشركة"), [], ["一家企业", "مؤسساتنا"]),
        (SearchQuery(text="wat*"), ["In den Häusern gibt es Wasser."], []),
        (SearchQuery(text="water", other="Rohre"), [], []),
        (SearchQuery(text="blorp"), [], []),
    ],
)
def test_a_query_finds_by_the_other_side_what_it_does_not_find_itself(
    translated: Job, query: SearchQuery, exact: list[str], by_translation: list[str]
):
    assert [hit.segment.text_b for hit in search(translated.reading, query).hits] == exact
    query = msgspec.structs.replace(query, translated=True)
    answer = search(translated.reading, query)
    assert [hit.segment.text_b for hit in answer.hits] == exact + by_translation
    assert (answer.total, answer.translated) == (len(exact + by_translation), len(by_translation))
    assert [hit.segment.b.text for hit in all_hits(translated.reading, query)] == exact + by_translation
    for number, text in enumerate(exact + by_translation):
        part = search(translated.reading, query, offset=number, limit=1)
        assert [hit.segment.text_b for hit in part.hits] == [text]


def test_what_is_marked_is_the_translation(translated: Job):
    answer = search(translated.reading, SearchQuery(text="house", translated=True))
    marked = [[hit.segment.text_b[mark.start : mark.end] for mark in hit.marks_b] for hit in answer.hits]
    assert marked == [["Häusern"], ["Hauses"], ["Hause"]]
