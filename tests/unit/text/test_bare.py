import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from bitrawl.text.words import bare_texts


def one_by_one(text: str) -> str:
    """What `bare_texts` means, character by character."""
    spaced = "".join(" " if unicodedata.category(c)[0] in "PZC" else c for c in text.casefold())
    return re.sub(r"(?<!\d) | (?!\d)", "", " ".join(spaced.split())) or text


# Categories Cs: half a character, which a page may have too.
TEXTS = st.lists(st.one_of(st.text(alphabet="aZß 12٣.,–\n€ς\ud800一"), st.text()), max_size=6)


@given(TEXTS)
def test_texts_together_are_as_bare_as_one_by_one(texts: list[str]):
    assert bare_texts(texts) == [one_by_one(text) for text in texts]


def test_figures_of_neighbouring_texts_stay_apart():
    assert bare_texts(["1.", ".5", "1.5"]) == ["1", "5", "1 5"]


def test_a_text_of_punctuation_only_stays_as_it_is():
    assert bare_texts(["…!"]) == ["…!"]
