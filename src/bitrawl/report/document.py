"""The frame of all HTML that we write: one file that opens offline, runs no script and loads nothing."""

from bitrawl.report.markup import Html, fill
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
