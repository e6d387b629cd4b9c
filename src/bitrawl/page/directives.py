"""What a page asks of robots: meta robots, X-Robots-Tag, and the opt-outs from AI and from text and data mining."""

import re

from bitrawl.model import Capture, Directive
from bitrawl.page.head import Head

AGENT = "bitrawl"
"""The name that a directive uses to address this crawler."""

_MEANINGS = {
    "noindex": (Directive.NOINDEX,),
    "nofollow": (Directive.NOFOLLOW,),
    "none": (Directive.NOINDEX, Directive.NOFOLLOW),
    "noai": (Directive.NOAI,),
}
# Directives with a value of their own. Here the colon does not follow an agent's name.
_VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
_AGENT = re.compile(r"\s*([\w\-]+)\s*:\s*(.*)", re.DOTALL)


def directives(head: Head | None, capture: Capture) -> tuple[Directive, ...]:
    """Sorted by name. Whether to obey them is decided elsewhere."""
    found: set[Directive] = set()
    for key, value in capture.headers:
        name = key.lower()
        if name == "x-robots-tag":
            found.update(_addressed(value))
        elif name == Directive.TDM_RESERVATION and value.strip() == "1":
            found.add(Directive.TDM_RESERVATION)
    for name, content in head.metas if head else ():
        if name in ("robots", AGENT):
            found.update(_meanings(content))
        elif name == Directive.TDM_RESERVATION and content == "1":
            found.add(Directive.TDM_RESERVATION)
    return tuple(sorted(found))


def _addressed(value: str) -> set[Directive]:
    """The directives of one header line that apply to everybody or to us.

    An agent's name applies until the next one.
    """
    found: set[Directive] = set()
    agent = AGENT
    for part in value.split(","):
        directive = part
        match = _AGENT.fullmatch(part)
        if match and match[1].lower() not in _VALUED:
            agent, directive = match[1].lower(), match[2]
        if agent in (AGENT, "*"):
            found |= _meanings(directive)
    return found


def _meanings(content: str) -> set[Directive]:
    return {meaning for word in re.split(r"[\s,;]+", content.lower()) for meaning in _MEANINGS.get(word, ())}
