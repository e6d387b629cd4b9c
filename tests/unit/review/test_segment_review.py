"""Segments that people write anew: edited, split, joined and commented, without losing the originals or each other's work."""

from pathlib import Path

import pytest

from bitrawl.mining import Flag, Rejection, Thresholds, revised
from bitrawl.model import Language, Segment, SegmentPair, Verdict
from bitrawl.review.segment_review import MOST_CHARACTERS, ReadSegment, Saved, SegmentReview, Writer, subject_of
from bitrawl.store.revisions import RevisionHistory
from bitrawl.store.verdicts import VerdictHistory
from bitrawl.url import Url

ANNA, BEN = Writer("anna", 1.0), Writer("ben", 2.0)
EN, FR = Language("en"), Language("fr")
URLS = Url.parse("http://s.test/en"), Url.parse("http://s.test/fr")
MINED = [("One", "Un"), ("Two", "Deux"), ("Three", "Trois"), ("Two", "Deux")]


def segments(texts: list[tuple[str, str]]) -> list[SegmentPair]:
    flags = (str(Flag.NUMBERS),)
    return [
        SegmentPair(*URLS, Segment(a, n, n), Segment(b, n, n), 0.9 - n / 10, flags=flags)
        for n, (a, b) in enumerate(texts)
    ]


class Desk:
    """A page pair under review."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.review = SegmentReview(path)

    @property
    def rows(self) -> tuple[ReadSegment, ...]:
        return self.review.rows(segments(MINED), Thresholds())

    @property
    def texts(self) -> list[tuple[str, str]]:
        return [(row.text_a, row.text_b) for row in self.rows]

    def accept(self, place: int) -> None:
        VerdictHistory(self.path).say(subject_of(self.rows[place]), Verdict.ACCEPT, "anna", 9.0)

    @property
    def corpus(self) -> list[SegmentPair]:
        return list(revised(segments(MINED), VerdictHistory(self.path).standing()))

    @property
    def written(self) -> list[tuple[str, str]]:
        return [(pair.a.text, pair.b.text) for pair in self.corpus]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "verdicts.sqlite")


def test_an_edit_stands_beside_the_original_and_enters_the_corpus_when_it_is_accepted(desk: Desk):
    assert desk.review.edit(desk.rows, 0, ("The first", "Le premier"), ANNA) is Saved.DONE
    row = desk.rows[0]
    assert (row.text_a, row.text_b, row.left_out) == ("The first", "Le premier", Rejection.NOT_ACCEPTED)
    assert row.revision is not None
    assert (row.revision.originals, row.revision.by) == ((("One", "Un"),), "anna")
    assert desk.written == MINED
    desk.accept(0)
    assert desk.rows[0].left_out is None
    assert desk.written == [("The first", "Le premier"), *MINED[1:]]
    assert [pair.flags for pair in desk.corpus[:2]] == [("edited",), (str(Flag.NUMBERS),)]


def test_an_edit_is_of_the_texts_wherever_they_stand(desk: Desk):
    desk.review.edit(desk.rows, 1, ("2", "2"), ANNA)
    desk.accept(1)
    assert desk.written == [MINED[0], ("2", "2"), MINED[2], ("2", "2")]


def test_a_rejected_edit_leaves_the_original(desk: Desk):
    desk.review.edit(desk.rows, 0, ("Wrong", "Faux"), ANNA)
    VerdictHistory(desk.path).say(subject_of(desk.rows[0]), Verdict.REJECT, "ben", 2.0)
    assert desk.written == MINED


def test_the_original_texts_take_an_edit_back(desk: Desk):
    desk.review.edit(desk.rows, 0, ("The first", "Le premier"), ANNA)
    assert desk.review.edit(desk.rows, 0, ("One", "Un"), BEN) is Saved.DONE
    assert desk.texts == MINED
    assert desk.rows[0].revision is None


def test_restoring_goes_back_one_revision(desk: Desk):
    desk.review.edit(desk.rows, 0, ("First", "Premier"), ANNA)
    desk.review.edit(desk.rows, 0, ("The first", "Le premier"), BEN)
    assert desk.review.restore(desk.rows[0], ANNA) is Saved.DONE
    assert desk.texts[0] == ("First", "Premier")
    assert desk.review.restore(desk.rows[0], ANNA) is Saved.DONE
    assert desk.texts == MINED


def test_whoever_saves_second_is_told_and_overwrites_nothing(desk: Desk):
    before = desk.rows
    assert desk.review.edit(before, 0, ("First", "Premier"), ANNA) is Saved.DONE
    assert desk.review.edit(before, 0, ("The one", "L'un"), BEN) is Saved.CHANGED
    assert desk.texts[0] == ("First", "Premier")


def test_a_line_break_on_both_sides_splits(desk: Desk):
    assert desk.review.edit(desk.rows, 2, ("Th\nree", "Tr\nois"), ANNA) is Saved.DONE
    assert desk.texts == [*MINED[:2], ("Th", "Tr"), ("ree", "ois"), MINED[3]]
    assert [row.part for row in desk.rows] == [0, 0, 0, 1, 0]
    desk.accept(3)
    assert desk.written == [*MINED[:2], ("ree", "ois"), MINED[3]]  # only the part that is accepted
    desk.accept(2)
    assert desk.written == desk.texts


def test_a_part_of_a_split_is_edited_and_joined_again(desk: Desk):
    desk.review.edit(desk.rows, 2, ("Th\nree", "Tr\nois"), ANNA)
    desk.review.edit(desk.rows, 3, ("REE", "OIS"), ANNA)
    assert desk.texts[2:4] == [("Th", "Tr"), ("REE", "OIS")]
    assert desk.review.join(desk.rows, 2, (EN, FR), ANNA) is Saved.DONE
    assert desk.texts[2:] == [("Th REE", "Tr OIS"), MINED[3]]


def test_neighbours_are_joined_where_they_stand_in_a_row(desk: Desk):
    assert desk.review.join(desk.rows, 0, (EN, FR), ANNA) is Saved.DONE
    assert desk.texts == [("One Two", "Un Deux"), *MINED[2:]]
    assert desk.rows[0].type == "2:2"
    assert desk.review.join(desk.rows, 0, (EN, FR), BEN) is Saved.DONE
    assert desk.texts == [("One Two Three", "Un Deux Trois"), MINED[3]]
    desk.accept(0)
    assert desk.written == desk.texts
    assert desk.review.restore(desk.rows[0], ANNA) is Saved.DONE
    assert desk.texts == [("One Two", "Un Deux"), *MINED[2:]]


def test_texts_without_spaces_between_words_are_joined_without_one(desk: Desk):
    desk.review.join(desk.rows, 0, (EN, Language("zh")), ANNA)
    assert desk.texts[0] == ("One Two", "UnDeux")


def test_the_last_segment_has_no_next(desk: Desk):
    assert desk.review.join(desk.rows, len(MINED) - 1, (EN, FR), ANNA) is Saved.LAST


@pytest.mark.parametrize(
    ("texts", "saved"),
    [
        (("One\ntwo", "Un"), Saved.UNEVEN),
        (("", "Un"), Saved.EMPTY),
        (("\n \n", "Un"), Saved.EMPTY),
        (("x" * (MOST_CHARACTERS + 1), "Un"), Saved.LONG),
    ],
)
def test_texts_that_cannot_be_a_segment_are_refused(desk: Desk, texts: tuple[str, str], saved: Saved):
    assert desk.review.edit(desk.rows, 0, texts, ANNA) is saved
    assert desk.texts == MINED


def test_half_of_a_character_pair_is_stored_as_a_question_mark(desk: Desk):
    assert desk.review.edit(desk.rows, 0, ("half \ud800", "demi"), ANNA) is Saved.DONE
    assert desk.texts[0][1] == "demi"


def test_comments_stay_with_the_segment_when_it_is_edited(desk: Desk):
    assert desk.review.comment(desk.rows[0], " Check the number. ", ANNA) is Saved.DONE
    assert desk.review.comment(desk.rows[0], " ", ANNA) is Saved.EMPTY
    desk.review.edit(desk.rows, 0, ("The first", "Le premier"), ANNA)
    [comment] = desk.rows[0].comments
    assert (comment.text, comment.by) == ("Check the number.", "anna")
    history = RevisionHistory(desk.path)
    assert not history.undo_comment(comment.id, "ben", 3.0)
    assert history.undo_comment(comment.id, "anna", 3.0)
    assert desk.rows[0].comments == ()


def test_revisions_count_as_changes_and_are_told_with_their_writer(desk: Desk):
    desk.review.edit(desk.rows, 0, ("The first", "Le premier"), ANNA)
    assert VerdictHistory(desk.path).changes() == 1
    desk.review.restore(desk.rows[0], BEN)
    assert VerdictHistory(desk.path).changes() == 2
    assert [(given.by, given.undone_by) for given in RevisionHistory(desk.path).history(9)] == [("anna", "ben")]
