"""No text of the web becomes a formula in a spreadsheet, and each can be had back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitrawl.files import cell, from_cell


@pytest.mark.parametrize("text", ["=1+1", "+49 30 1234", "-5 °C", "@name", "'=x", "''-x"])
def test_a_text_that_would_be_a_formula_begins_with_an_apostrophe(text: str):
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "1+1", "'tis", "a=b", "–5 °C", "'"])
def test_other_texts_stay_as_they_are(text: str):
    assert cell(text) == from_cell(text) == text


@given(st.text(alphabet="'=+-@a ", max_size=8))
def test_what_is_written_is_read(text: str):
    written = cell(text)
    assert from_cell(written) == text
    assert written[:1] not in ("=", "+", "-", "@")
