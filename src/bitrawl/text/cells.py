"""Texts of the web in the cells of a table, which a spreadsheet may open: no text becomes a formula there."""

import re

# What a spreadsheet takes for the beginning of a formula. Apostrophes before it count, so that what was written is read.
_FORMULA = re.compile("'*[=+@-]")
_QUOTED = re.compile("'+[=+@-]")


def cell(text: str) -> str:
    """The text as it is written into a table: with an apostrophe in front, if it would begin a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def from_cell(written: str) -> str:
    """The text of a cell that `cell` wrote."""
    return written[1:] if _QUOTED.match(written) else written
