"""What people say about pairs: what stands, what is taken back, and who may write at the same time."""

import multiprocessing
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bitrawl.errors import StoreError
from bitrawl.model import Language, PagePair, Segment, SegmentPair, Verdict, pair_key, segment_key
from bitrawl.store.verdicts import Subject, SubjectKind, VerdictHistory
from bitrawl.url import Url

ACCEPT, REJECT = Verdict.ACCEPT, Verdict.REJECT


def segment(a: str, b: str = "Bonjour") -> SegmentPair:
    return SegmentPair(Url.parse("http://s.test/en"), Url.parse("http://s.test/fr"), Segment(a), Segment(b), 0.5)


def subject(a: str = "Hello") -> Subject:
    return Subject.of_segment(segment(a))


def pages(number: int) -> Subject:
    urls = Url.parse(f"http://s.test/en/{number}"), Url.parse(f"http://s.test/fr/{number}")
    return Subject.of_pair(PagePair(*urls, Language("en"), Language("fr"), 0.9))


@pytest.fixture
def history(tmp_path: Path) -> VerdictHistory:
    return VerdictHistory(tmp_path / "verdicts.sqlite")


def test_nothing_is_created_by_reading_or_by_taking_back(history: VerdictHistory, tmp_path: Path):
    assert not history.standing()
    assert history.of(SubjectKind.PAIR, ["0" * 16]) == {}
    assert history.keys(SubjectKind.PAIR, REJECT) == []
    assert history.history(10) == []
    assert history.undo(SubjectKind.PAIR, "0" * 16, "anna", 1.0) == ()
    assert history.undo_last("anna", 1.0) == ()
    assert history.conflicts(9) == []
    assert not history.resolve(SubjectKind.PAIR, "0" * 16, ACCEPT, "anna", 1.0)
    assert list(tmp_path.iterdir()) == []


def test_a_persons_last_verdict_holds_and_taking_it_back_restores_the_one_before(history: VerdictHistory):
    one = subject()
    history.say(one, REJECT, "anna", 1.0)
    history.say(one, ACCEPT, "anna", 2.0)
    assert history.of(SubjectKind.SEGMENT, [one.key, "f" * 16]) == {one.key: ACCEPT}
    [undone] = history.undo(SubjectKind.SEGMENT, one.key, "anna", 3.0)
    assert (undone.subject, undone.verdict, undone.by, undone.undone_by, undone.undone_at) == (
        *(one, ACCEPT, "anna"),
        *("anna", 3.0),
    )
    assert history.standing().segments == {one.key: REJECT}
    history.undo(SubjectKind.SEGMENT, one.key, "anna", 4.0)
    assert not history.standing()
    assert history.undo(SubjectKind.SEGMENT, one.key, "anna", 5.0) == ()
    assert [(said.verdict, said.undone_at) for said in history.history(9)] == [(ACCEPT, 3.0), (REJECT, 4.0)]


def test_two_who_differ_are_a_conflict_in_which_nothing_stands(history: VerdictHistory):
    one = subject()
    history.say(one, REJECT, "anna", 1.0)
    history.say(one, ACCEPT, "ben", 2.0)
    assert not history.standing()
    assert history.of(SubjectKind.SEGMENT, [one.key]) == {}
    assert history.judged(SubjectKind.SEGMENT) == {one.key}
    [conflict] = history.conflicts(9)
    assert conflict.is_conflict
    assert [(said.by, said.verdict) for said in conflict.opinions] == [("anna", REJECT), ("ben", ACCEPT)]
    assert (conflict.by("ben"), conflict.by("carla")) == (ACCEPT, None)
    history.say(one, REJECT, "ben", 3.0)
    assert history.standing().segments == {one.key: REJECT}


def test_nobody_takes_back_what_another_person_said(history: VerdictHistory):
    history.say(subject(), REJECT, "anna", 1.0)
    assert history.undo(SubjectKind.SEGMENT, subject().key, "ben", 2.0) == ()
    assert history.standing().segments == {subject().key: REJECT}


def test_a_resolution_stands_until_somebody_differs_again(history: VerdictHistory):
    one = subject()
    history.say(one, REJECT, "anna", 1.0)
    assert not history.resolve(SubjectKind.SEGMENT, one.key, ACCEPT, "carla", 2.0)
    history.say(one, ACCEPT, "ben", 3.0)
    assert history.resolve(SubjectKind.SEGMENT, one.key, ACCEPT, "carla", 4.0)
    assert history.standing().segments == {one.key: ACCEPT}
    assert history.judgements(SubjectKind.SEGMENT, [one.key])[one.key].by("carla") is ACCEPT
    history.check()
    history.say(one, REJECT, "anna", 5.0)
    assert len(history.conflicts(9)) == 1
    history.undo_last("anna", 6.0)
    assert history.standing().segments == {one.key: ACCEPT}
    history.undo_last("carla", 7.0)
    assert [said.by for said in history.conflicts(9)[0].opinions] == ["anna", "ben"]
    history.check()


def test_many_verdicts_at_once_are_taken_back_at_once_or_one_by_one(history: VerdictHistory):
    history.say(pages(0), ACCEPT, "anna", 1.0)
    assert history.say_all([pages(number) for number in range(4)], ACCEPT, "anna", 2.0) == 3
    history.undo(SubjectKind.PAIR, pages(2).key, "anna", 3.0)
    assert set(history.standing().pairs) == {pages(number).key for number in (0, 1, 3)}
    assert {said.subject for said in history.undo_last("anna", 4.0)} == {pages(1), pages(3)}
    assert set(history.standing().pairs) == {pages(0).key}


def test_each_person_takes_back_their_own_last_word(history: VerdictHistory):
    history.say(pages(1), REJECT, "anna", 1.0)
    history.say(pages(2), REJECT, "anna", 2.0)
    history.say(pages(3), ACCEPT, "ben", 3.0)
    undone = [history.undo_last("anna", 4.0) for _ in range(3)]
    assert [[said.subject for said in several] for several in undone] == [[pages(2)], [pages(1)], []]
    assert history.standing().pairs == {pages(3).key: ACCEPT}


def test_a_double_click_is_one_verdict(history: VerdictHistory):
    for _ in range(2):
        history.say(subject(), REJECT, "anna", 1.0)
    history.undo_last("anna", 2.0)
    assert not history.standing()
    assert len(history.history(9)) == 1


def test_two_who_agree_are_two_verdicts(history: VerdictHistory):
    for who in ("anna", "ben"):
        history.say(subject(), REJECT, who, 1.0)
    history.undo_last("ben", 2.0)
    assert history.standing().segments == {subject().key: REJECT}


def test_keys_and_history_are_of_what_was_asked(history: VerdictHistory):
    for number, verdict in enumerate((REJECT, ACCEPT, REJECT)):
        history.say(pages(number), verdict, "anna", float(number))
    history.say(subject(), REJECT, "anna", 9.0)
    assert history.keys(SubjectKind.PAIR, REJECT) == [pages(2).key, pages(0).key]
    assert history.keys(SubjectKind.PAIR, ACCEPT) == [pages(1).key]
    assert [said.subject for said in history.history(9, kind=SubjectKind.PAIR, key=pages(1).key)] == [pages(1)]
    assert [said.subject for said in history.history(1)] == [subject()]


@pytest.mark.parametrize("text", ["", "a\0b", "half \ud800 pair", "'; DROP TABLE said; --", "中文 \u2028 ع"])
def test_any_text_can_be_judged(history: VerdictHistory, text: str):
    history.say(subject(text), REJECT, "anna", 1.0)
    assert history.standing().of_segment(segment(text)) is REJECT


def test_keys_are_those_of_the_texts_and_not_of_their_spaces():
    assert segment_key("a  b", "c") == segment_key(" a\tb\n", "c\u2028")
    assert segment_key("a", "b c") != segment_key("a b", "c")
    assert segment_key("A", "b") != segment_key("a", "b")
    assert pair_key("http://a/", "http://b/") != pair_key("http://b/", "http://a/")
    assert len(pair_key("", "")) == 16


def test_threads_write_at_the_same_time_and_lose_nothing(history: VerdictHistory):
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: history.say(pages(number), REJECT, f"p{number % 3}", 1.0), range(60)))
        undone = list(threads.map(lambda _: history.undo_last("p0", 2.0), range(30)))
    assert len({said.subject.key for several in undone for said in several}) == 20
    assert len(history.standing().pairs) == 40


def _say_some(path: Path, first: int) -> None:
    for number in range(first, first + 10):
        VerdictHistory(path).say(pages(number), REJECT, "anna", 1.0)


def test_processes_write_at_the_same_time_and_lose_nothing(tmp_path: Path):
    path, processes = tmp_path / "verdicts.sqlite", multiprocessing.get_context("spawn")
    started = [processes.Process(target=_say_some, args=(path, first)) for first in (0, 10)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    assert [one.exitcode for one in started] == [0, 0]
    assert len(VerdictHistory(path).standing().pairs) == 20


def test_verdicts_of_another_format_are_refused_and_not_forgotten(history: VerdictHistory, tmp_path: Path):
    history.say(subject(), REJECT, "anna", 1.0)
    with sqlite3.connect(tmp_path / "verdicts.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StoreError, match="format 99"):
        history.standing()
    with pytest.raises(StoreError, match="format 99"):
        history.say(subject(), ACCEPT, "anna", 2.0)


def test_a_file_that_is_no_database_is_a_store_error(tmp_path: Path):
    (tmp_path / "verdicts.sqlite").write_text("this is no database, and it is long enough to show it" * 10)
    with pytest.raises(StoreError, match="is damaged"):
        VerdictHistory(tmp_path / "verdicts.sqlite").standing()
