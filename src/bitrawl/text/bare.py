"""A text without what its copies may differ in: case, punctuation and spaces."""

import re
import unicodedata


class _Dropped(dict[int, str | None]):
    """A table for `str.translate`, filled as it is used. Punctuation and separators become a space."""

    def __missing__(self, code: int) -> str | None:
        self[code] = " " if unicodedata.category(chr(code))[0] in "PZC" else chr(code)
        return self[code]


_DROPPED = _Dropped()
_BETWEEN_FIGURES = re.compile(r"(?<!\d) | (?!\d)")


def bare(text: str) -> str:
    """Letters, digits and symbols, casefolded. But 1.5 is not 15, and a text of punctuation only stays as it is."""
    words = " ".join(text.casefold().translate(_DROPPED).split())
    return _BETWEEN_FIGURES.sub("", words) or text
