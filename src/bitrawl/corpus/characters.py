"""The characters that a corpus may contain: only those that every format supports.

So a text is the same in all formats.
"""

import re
from xml.sax.saxutils import escape

# Control characters, and what Python's splitlines and others treat as the end of a line: each segment is one line.
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Also what XML 1.0 (section 2.2, Char) excludes: surrogates, which are half a character, and U+FFFE and U+FFFF.
_NO_CHARACTERS = re.compile("[\ud800-\udfff\ufffe\uffff]")
_MARKUP = re.compile('[&<>"]')


def one_line(text: str) -> str:
    """The text in the form that the corpus uses: one line of XML 1.0 characters. Inner spaces and bidi marks stay."""
    if text.isprintable():  # then it has none of the others; a quarter of the time of looking for them
        return text.strip()
    return _NO_CHARACTERS.sub("\ufffd", _BREAKS.sub(" ", text)).strip()


def xml(text: str) -> str:
    """One line, escaped for the content of an element or for an attribute in double quotes."""
    return escaped(one_line(text))


def escaped(line: str) -> str:
    """The same for a text that is one line already."""
    return escape(line, {'"': "&quot;"}) if _MARKUP.search(line) else line
