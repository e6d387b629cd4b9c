"""Turns the articles' light markup into HTML: paragraphs, headings, lists and links."""

import html
import re
from collections.abc import Callable

_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def render(text: str, link: Callable[[str], str]) -> str:
    """`link` returns the href for an article's key."""
    return "\n".join(_block(block, link) for block in re.split(r"\n\s*\n", text.strip()))


def _block(block: str, link: Callable[[str], str]) -> str:
    if block.startswith("## "):
        return f"<h2>{html.escape(block[3:], quote=False)}</h2>"
    if block.startswith("- "):
        items = "".join(f"<li>{_inline(item[2:], link)}</li>\n" for item in block.split("\n"))
        return f"<ul>\n{items}</ul>"
    return f"<p>{_inline(block, link)}</p>"


def _inline(text: str, link: Callable[[str], str]) -> str:
    escaped = html.escape(text, quote=False)
    return _LINK.sub(lambda match: f'<a href="{html.escape(link(match[2]))}">{match[1]}</a>', escaped)
