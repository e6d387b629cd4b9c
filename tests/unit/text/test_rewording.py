"""What somebody changed in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitrawl.text.rewording import Rewording, rewording
from bitrawl.text.words import Span


def parts(text: str, spans: tuple[Span, ...]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("old", "new", "gone", "added"),
    [
        ("The old port", "The new port", ["old"], ["new"]),
        ("The port", "The old port", [], ["old "]),
        ("The old, old port", "The old port", [", old"], []),
        ("在大学学习", "在中学学习", ["大"], ["中"]),
        ("same", "same", [], []),
        ("", "all", [], ["all"]),
        ("وصل المدرس أمس", "وصل الطالب أمس", ["المدرس"], ["الطالب"]),
    ],
)
def test_words_that_changed_are_marked(old: str, new: str, gone: list[str], added: list[str]):
    change = rewording(old, new)
    assert (parts(old, change.gone), parts(new, change.new)) == (gone, added)


@given(st.text(st.sampled_from("ab ,学生"), max_size=30), st.text(st.sampled_from("ab ,学生"), max_size=30))
def test_what_is_left_is_the_same_in_both(old: str, new: str):
    def rest(text: str, spans: tuple[Span, ...]) -> str:
        return "".join(c for place, c in enumerate(text) if not any(start <= place < end for start, end in spans))

    change = rewording(old, new)
    assert rest(old, change.gone) == rest(new, change.new)


def test_a_long_text_is_marked_from_the_first_change_to_the_last():
    old, new = f"a {'x ' * 3000}b", f"a {'y ' * 2000}b"
    assert rewording(old, new) == Rewording((Span(2, 6001),), (Span(2, 4001),))  # the space before b is the same
