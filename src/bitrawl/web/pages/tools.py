"""Tools that need no job, and the page for people who write programs."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import BitrawlError
from bitrawl.web.api.operations import JSON, OPERATIONS, ROOT, Operation
from bitrawl.web.messages import Message, message, message_of
from bitrawl.web.pages.rendering import rendered
from bitrawl.web.security import posted
from bitrawl.web.text_tools import TOOLS, MissingError, Result

MOST_CHARACTERS = 1_000_000  # of a text


async def show(request: Request) -> Response:
    return _page(request, {}, {})


async def use(request: Request) -> Response:
    form = await posted(request)
    values = {name: value[:MOST_CHARACTERS] for name, value in form.items() if isinstance(value, str)}
    try:
        result = await TOOLS[_tool(request)](request, values)
    except MissingError as missing:
        return _page(request, values, {missing.field: message("Fill this in.")}, 422)
    except BitrawlError as error:
        return _page(request, values, {}, 422, problem=message_of(error))
    return _page(request, values, {}, result=result)


def _tool(request: Request) -> str:
    if (tool := request.path_params["tool"]) not in TOOLS:
        raise HTTPException(404)
    return str(tool)


def _page(
    request: Request,
    values: dict[str, str],
    errors: dict[str, Message],
    status: int = 200,
    *,
    result: Result | None = None,
    problem: Message | None = None,
) -> Response:
    given = {"tool": _tool(request), "values": values, "errors": errors, "problem": problem or Message("")}
    return rendered(request, "tools.html", status, **given, **(result or Result())._asdict())


async def show_api(request: Request) -> Response:
    """The page for people who write programs."""
    base = str(request.base_url).rstrip("/")
    return rendered(request, "api.html", examples=[(row, _curl(row, base)) for row in OPERATIONS], root=ROOT)


def _curl(row: Operation, base: str) -> str:
    path = row.path.replace("{id}", "$JOB").replace("{key}", "$KEY").replace("{style}", "tbx")
    query = "?q=wat*" if "q" in row.query else "?format=tmx" if "format" in row.query else ""
    method = f" -X {row.method}" if row.method != "GET" and not row.example else ""
    body = f" \\\n  -H 'Content-Type: {JSON}' -d '{row.example}'" if row.example else ""
    address = f"{base}{ROOT}{path.replace('{name}', 'en-fr.tmx')}{query}"
    return f'curl{method} -H "Authorization: Bearer $TOKEN" "{address}"{body}'


ROUTES: list[BaseRoute] = [
    Route("/api", show_api),
    Route("/tools/{tool}", show),
    Route("/tools/{tool}", use, methods=["POST"]),
]
