"""For the Python API page: the comment beside a field says what the field is, so it is its documentation.

A griffe extension, named in mkdocs.yml. What a module says of itself is for readers of the code, and left out.
"""

import re
from typing import Any

import griffe

_COMMENT = re.compile(r"\s{2}# (.+)$")


class CommentsAsDocumentation(griffe.Extension):
    """Called by griffe for each object that it has read."""

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Take the comment at the end of the line where a field without a docstring is declared."""
        if attr.docstring is None and attr.lineno is not None and (found := _COMMENT.search(_line(attr))):
            text = found[1][0].upper() + found[1][1:]
            attr.docstring = griffe.Docstring(text + ("" if text[-1] in ".?!" else "."), parent=attr)

    def on_module(self, *, mod: griffe.Module, **_: Any) -> None:
        """Leave out what a module says of itself."""
        mod.docstring = None


def _line(attr: griffe.Attribute) -> str:
    lines = attr.lines_collection[attr.filepath] if not isinstance(attr.filepath, list) else []
    return lines[attr.lineno - 1] if attr.lineno and attr.lineno <= len(lines) else ""
