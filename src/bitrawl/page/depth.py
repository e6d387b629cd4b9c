"""Limits nesting before the parser sees it, as browsers do, because parsing time is quadratic in depth.

20,000 nested div take lexbor 1.2 s, 100,000 take 50 s (selectolax 1.0.2). 20,000 end tags without a start tag, inside
20,000 nested span, take 4 s.
"""

import re

MAX_DEPTH = 512  # of elements that bound paragraphs; the limit of Blink and WebKit
MAX_INLINE_DEPTH = 4000  # of other elements, which old pages often leave open; judgement
FEW_TAGS = 8000  # A page with fewer tags cannot nest deep enough to matter.

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9\-]*)")
# Void elements, and elements whose end tag is optional. They are not counted.
_FLAT = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "p",
        "li",
        "dt",
        "dd",
        "option",
        "optgroup",
        "tr",
        "td",
        "th",
        "tbody",
        "thead",
        "tfoot",
        "colgroup",
        "caption",
        "rb",
        "rt",
        "rp",
        "rtc",
        "html",
        "head",
        "body",
    ]
)
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "em",
        "font",
        "i",
        "kbd",
        "mark",
        "nobr",
        "q",
        "s",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "tt",
        "u",
    ]
)


def shallow(html: str) -> str:
    """The same text, unless it nests absurdly deep: then the innermost tags become tags that cannot nest."""
    if html.count("<") < FEW_TAGS:
        return html
    bounds = _Bounds()
    return _TAG.sub(bounds.bounded, html)


class _Bounds:
    def __init__(self) -> None:
        self._depths = [0, 0]

    def bounded(self, match: re.Match[str]) -> str:
        name = match[2].lower()
        if name in _FLAT:
            return match[0]
        group = name in _INLINE
        limit = MAX_INLINE_DEPTH if group else MAX_DEPTH
        if match[1]:
            depth = self._depths[group]
            self._depths[group] = max(0, depth - 1)
        else:
            depth = self._depths[group] = self._depths[group] + 1
        return match[0] if depth <= limit else f"<{match[1]}wbr"
