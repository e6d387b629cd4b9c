"""The frame of all HTML that we write: one file that opens offline, runs no script and loads nothing."""

from collections.abc import Sequence

from bitrawl.report.markup import Html, fill, joined
from bitrawl.report.style import STYLE

# If anything hostile ever got through the escaping, the browser would neither run it nor load anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body><main>
<header><h1>{title}</h1><p class="lead">{lead}</p></header>
{body}
<footer>{footer}</footer>
</main></body>
</html>
"""


def document(title: str, lead: str, body: Html, footer: Html) -> Html:
    """A whole page."""
    return fill(_FRAME, policy=_POLICY, title=title, style=Html(STYLE), lead=lead, body=body, footer=footer)


def sectioned(sections: Sequence[tuple[str, str, Html]]) -> Html:
    """Sections by id, title and body, after a line of links to them. Those without a body are left out."""
    shown = [(name, title, body) for name, title, body in sections if body]
    items = joined(fill('<a href="#{name}">{title}</a>', name=name, title=title) for name, title, _ in shown)
    drawn = (
        fill('<section id="{name}"><h2>{title}</h2>{body}</section>', name=name, title=title, body=body)
        for name, title, body in shown
    )
    return joined([fill("<nav>{items}</nav>", items=items), *drawn])
