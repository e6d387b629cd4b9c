"""Segments of a whole job by filter: the same as reading all page pairs and looking at each row."""

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept_findings import Aligned, keep_findings

from bitrawl.errors import FieldError
from bitrawl.mining import Flag
from bitrawl.model import Language, PagePair, Segment, SegmentPair, Verdict
from bitrawl.review.reviewing import Reading
from bitrawl.review.segment_list import (
    NO_FLAG,
    LengthUnit,
    SegmentFilter,
    SegmentList,
    SegmentOrder,
    SegmentState,
    fitting_rows,
)
from bitrawl.review.segment_review import ReadSegment, Writer, subject_of
from bitrawl.store import reading_index
from bitrawl.store.folder import JobFolder
from bitrawl.store.index_reader import LanguageOrder, PairFilter
from bitrawl.store.ledger import Ledger
from bitrawl.store.stored_findings import Findings
from bitrawl.store.verdicts import VerdictHistory
from bitrawl.text.words import words
from bitrawl.url import Url

EN, FR, ZH = Language("en"), Language("fr"), Language("zh")
WORDS = ("port", "pages", "page", "old", "Été", "œuvre", "7")
HAN = "大学生自由行动"
ANNA, BEN = Writer("anna", 1.0), Writer("ben", 2.0)
Row = tuple[str, int, int]  # the key of a page pair, start and part


def made_job(path: Path) -> Reading:
    """Six page pairs of two languages; some segments stand on several of them."""
    chance = random.Random(3)
    folder = JobFolder(path)
    folder.description.write_text('langs = ["en", "fr", "zh"]\nseeds = ["http://s.test/"]\n')
    repeated = segment(chance, FR, ("Home", "Accueil"))
    with Ledger(folder.ledger) as ledger:
        pairs = []
        for number in range(6):
            other = ZH if number % 3 == 2 else FR
            urls = Url.parse(f"http://s.test/en/{number}"), Url.parse(f"http://s.test/{other}/{number}")
            own = [segment(chance, other) for _ in range(12)] + [repeated] * 2
            replaced = tuple(msgspec.structs.replace(one, url_a=urls[0], url_b=urls[1]) for one in own)
            pairs.append(Aligned(PagePair(*urls, EN, other, 0.9, {"u": 0.5}), replaced))
        keep_findings(Findings(ledger), "s.test", 6, pairs)
    reading_index.refresh(path)
    library = Reading(folder)
    review(library)
    return library


def segment(chance: random.Random, other: Language, texts: tuple[str, str] | None = None) -> SegmentPair:
    a = " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))
    b = "".join(chance.choices(HAN, k=chance.randint(1, 9))) if other == ZH else " ".join(chance.choices(WORDS, k=3))
    flags = tuple(str(flag) for flag in (Flag.NUMBERS, Flag.ADDRESS, Flag.PARTIAL) if chance.random() < 0.3)
    nowhere = Url.parse("http://s.test/")
    score = 0.2 if texts else round(chance.random(), 1)
    a, b = texts or (a, b)
    measured = {"words_a": float(len(words(a, EN))), "words_b": float(len(words(b, other)))}
    return SegmentPair(nowhere, nowhere, Segment(a), Segment(b), score, scores=measured, flags=flags)


def review(library: Reading) -> None:
    """Verdicts of two people, comments, edits, a split and a join."""
    history = VerdictHistory(library.folder.verdicts)
    first, second, *_ = (pair.row.key for pair in library.pairs(PairFilter()).pairs)
    rows = rows_of(library, first)
    for place, verdict in ((0, Verdict.ACCEPT), (1, Verdict.REJECT), (2, Verdict.REJECT)):
        history.say(subject_of(rows[place]), verdict, "anna", 1.0)
    history.say(subject_of(rows[2]), Verdict.ACCEPT, "ben", 2.0)
    library.review.comment(rows[1], "Why?", ANNA)
    library.review.comment(rows[5], "Split it", ANNA)
    library.review.edit(rows, 5, ("the old\nport 7", "le vieux\nport"), ANNA)
    library.review.edit(rows_of(library, first), 12, ("Home page", "Page d'accueil"), BEN)  # on all pages
    rows = rows_of(library, second)
    library.review.join(rows, 3, (EN, FR), BEN)
    library.review.edit(rows_of(library, second), 8, ("x" * 40, "page"), BEN)
    history.say(subject_of(rows_of(library, second)[3]), Verdict.ACCEPT, "ben", 3.0)


def rows_of(library: Reading, key: str) -> tuple[ReadSegment, ...]:
    pair = library.pair(key)
    assert pair is not None
    return pair.segments


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reading]:
    return made_job(tmp_path_factory.mktemp("segments"))


def by_brute_force(library: Reading, wanted: SegmentFilter) -> dict[Row, ReadSegment]:
    rows = {}
    for pair in library.pairs(PairFilter(languages=wanted.languages)).pairs:
        languages = pair.row.lang_a, pair.row.lang_b
        for row in fitting_rows(rows_of(library, pair.row.key), wanted, languages):
            rows[pair.row.key, row.start, row.part] = row
    return rows


filters = st.builds(
    SegmentFilter,
    languages=st.sampled_from([None, None, LanguageOrder(EN, FR), LanguageOrder(EN, ZH), LanguageOrder(FR, ZH)]),
    least=st.sampled_from([0.0, 0.0, 0.3, 0.5]),
    most=st.sampled_from([1.0, 1.0, 0.5, 0.8]),
    flag=st.sampled_from(["", "", NO_FLAG, Flag.NUMBERS, Flag.EDITED, Flag.PARTIAL, "nothing"]),
    state=st.sampled_from([None, None, *SegmentState]),
    unit=st.sampled_from(LengthUnit),
    shortest=st.sampled_from([0, 0, 2, 5, 10]),
    longest=st.sampled_from([None, None, 0, 3, 30]),
    words_a=st.sampled_from(["", "", "", "port", "pag*", "old port", "ete"]),
    words_b=st.sampled_from(["", "", "", "port", "oeuvre", "大学", "p* page"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=75)
@given(filters, st.sampled_from(SegmentOrder))
def test_a_filter_shows_what_a_look_at_every_row_shows(library: Reading, wanted: SegmentFilter, order: SegmentOrder):
    part = SegmentList(library).part(wanted, order, limit=200)
    rows = {(one.pair.row.key, one.segment.start, one.segment.part): one.segment for one in part.segments}
    assert rows == by_brute_force(library, wanted)
    assert part.total == len(rows) == len(part.segments) == SegmentList(library).count(wanted)
    scores = [one.segment.score for one in part.segments]
    if order is not SegmentOrder.PAGE:
        assert scores == sorted(scores, reverse=order is SegmentOrder.BEST)


@pytest.mark.parametrize("order", SegmentOrder)
def test_parts_of_the_list_are_all_of_it_in_order(library: Reading, order: SegmentOrder):
    segments = SegmentList(library)
    whole = segments.part(SegmentFilter(), order, limit=1000).segments
    parts = [segments.part(SegmentFilter(), order, offset, 7).segments for offset in range(0, len(whole), 7)]
    assert [one for part in parts for one in part] == list(whole)


def test_each_state_has_a_segment(library: Reading):
    for state in SegmentState:
        assert SegmentList(library).count(SegmentFilter(state=state)), state


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (SegmentFilter(words_a="p*t"), "words_a"),
        (SegmentFilter(words_b="p*t"), "words_b"),
        (SegmentFilter(words_a="port", words_b="!"), "words_b"),
    ],
)
def test_words_that_cannot_be_read_name_their_field(library: Reading, wanted: SegmentFilter, field: str):
    with pytest.raises(FieldError) as refused:
        SegmentList(library).part(wanted, SegmentOrder.PAGE)
    assert list(refused.value.fields) == [field]
    with pytest.raises(FieldError):
        fitting_rows((), wanted, (EN, FR))


def test_what_fits_is_judged_at_once_and_taken_back_at_once(tmp_path: Path):
    library = made_job(tmp_path)
    segments, history = SegmentList(library), VerdictHistory(library.folder.verdicts)
    unjudged = SegmentFilter(state=SegmentState.NONE, most=0.5)
    before, other = segments.count(unjudged), segments.count(SegmentFilter(state=SegmentState.NONE, least=0.6))
    subjects = segments.subjects(unjudged)
    assert len(subjects) == before > 10
    changed = history.say_all(subjects, Verdict.REJECT, "anna", 5.0)
    assert changed == len({subject.key for subject in subjects}) < before  # some texts stand on several pages
    assert segments.count(unjudged) == 0
    assert segments.count(SegmentFilter(state=SegmentState.NONE, least=0.6)) == other
    batch = history.last_batch("anna")
    assert batch is not None
    assert (batch.verdict, batch.count) == (Verdict.REJECT, changed)
    assert history.undo_batch(batch.number, "ben", 6.0) == ()
    assert len(history.undo_batch(batch.number, "anna", 6.0)) == changed
    assert segments.count(unjudged) == before
    assert history.last_batch("anna") is None


def test_segments_are_found_by_their_keys(library: Reading):
    segments = SegmentList(library)
    some = [subject.key for subject in segments.subjects(SegmentFilter())[10:30]]
    found = segments.subjects(SegmentFilter(), [*some, "0" * 16])
    assert {subject.key for subject in found} == set(some)


def test_a_job_without_an_index_has_no_segments(tmp_path: Path):
    library = Reading(JobFolder(tmp_path))
    assert SegmentList(library).part(SegmentFilter(), SegmentOrder.WORST).total == 0
    assert SegmentList(library).subjects(SegmentFilter()) == []
