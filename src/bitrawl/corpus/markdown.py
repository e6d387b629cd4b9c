"""The main text of a page as Markdown: its title, headings, list items and paragraphs."""

import re

from bitrawl.model import Page, ParagraphKind
from bitrawl.text.words import one_line

# Characters that begin or end markup anywhere in a line: CommonMark, and the ~ and | of GitHub's dialect. An underscore
# between letters or digits begins nothing, and names and URLs are full of them.
_ANYWHERE = re.compile(r"[\\`*\[\]<>&~|]|(?<![^\W_])_|_(?![^\W_])")
# What makes a line something other than a paragraph: a heading, a list item, a rule.
_AT_THE_START = re.compile(r"[#+=-]|\d{1,9}(?=[.)](?:\s|$))")

_PREFIXES = {
    ParagraphKind.TITLE: "# ",
    ParagraphKind.HEADING: "## ",  # a paragraph has no level
    ParagraphKind.LISTITEM: "- ",
    ParagraphKind.TEXT: "",
}


def markdown(page: Page) -> str:
    """Ends with a newline. Empty if the page has no main text. Markup in its text is escaped."""
    content = [paragraph for paragraph in page.paragraphs if not paragraph.boilerplate and one_line(paragraph.text)]
    blocks = [_PREFIXES[paragraph.kind] + escaped(paragraph.text) for paragraph in content]
    title = one_line(page.title)
    if title and not any(paragraph.kind is ParagraphKind.TITLE for paragraph in content):
        blocks.insert(0, f"# {escaped(title)}")
    text = ""
    for before, block in zip(["", *blocks], blocks, strict=False):
        in_list = block.startswith("- ") and before.startswith("- ")
        text += ("\n" if in_list else "\n\n" if text else "") + block
    return text + "\n" if text else ""


def escaped(text: str) -> str:
    """One line that Markdown shows unchanged."""
    line = _ANYWHERE.sub(r"\\\g<0>", one_line(text))
    start = _AT_THE_START.match(line)
    if not start:
        return line
    at = start.end() if start[0].isdecimal() else 0
    return f"{line[:at]}\\{line[at:]}"
