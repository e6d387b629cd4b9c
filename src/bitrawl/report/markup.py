"""HTML from templates. Everything that is not `Html` is escaped, because text from the web is hostile."""

import html
import re
from collections.abc import Iterable

# Control characters are errors in HTML, and half of a surrogate pair cannot even be written. A carriage return is neither:
# browsers send the lines of a text area with one, and get them back when the form has a mistake.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class Html(str):
    """Markup that is safe as it is. Only this module and literals make it."""

    __slots__ = ()


def fill(template: str, **values: object) -> Html:
    """The template with its {names} replaced. Everything that is not `Html` is escaped."""
    return Html(template.format(**{name: escaped(value) for name, value in values.items()}))


def escaped(value: object) -> Html:
    """Any value as text of an element or of a quoted attribute."""
    if isinstance(value, Html):
        return value
    return Html(html.escape(_UNWRITABLE.sub("\ufffd", str(value))))


def joined(parts: Iterable[Html]) -> Html:
    return Html("".join(parts))


def link(url: str, text: str = "", *, width: int = 90) -> Html:
    """A link to a web page, isolated in its text direction. A URL that is not http(s) is shown but not linked."""
    shown = shortened(text or url, width)
    if not url.startswith(("http://", "https://")):
        return fill("<bdi>{shown}</bdi>", shown=shown)
    return fill('<a href="{url}" rel="noopener noreferrer nofollow"><bdi>{shown}</bdi></a>', url=url, shown=shown)


def shortened(text: str, width: int) -> str:
    """The beginning of the text, with a mark if there is more."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"
