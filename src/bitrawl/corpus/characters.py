"""What characters a corpus holds: those that every format can, so that a text is the same in all of them."""

import re
from xml.sax.saxutils import escape

# Control characters, and what Python's splitlines and others take for the end of a line: each segment is one line.
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Beyond those, what XML 1.0 (section 2.2, Char) excludes: surrogates, which are half a character, and U+FFFE, U+FFFF.
_NO_CHARACTERS = re.compile("[\ud800-\udfff\ufffe\uffff]")


def one_line(text: str) -> str:
    """The text as it stands in the corpus: one line, XML 1.0 characters; spaces within it and bidi marks as they were."""
    if _BREAKS.search(text):
        text = _BREAKS.sub(" ", text)
    if _NO_CHARACTERS.search(text):
        text = _NO_CHARACTERS.sub("\ufffd", text)
    return text.strip()


def xml(text: str) -> str:
    """One line, escaped for an element's content or an attribute in double quotes."""
    return escape(one_line(text), {'"': "&quot;"})
