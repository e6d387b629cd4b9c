"""Tools that need no job, and the page for people who write programs."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import BitrawlError, FieldError
from bitrawl.web.actions import server_of
from bitrawl.web.api.operations import A_KEY, A_SEGMENT, JSON, OPERATIONS, ROOT, Operation
from bitrawl.web.api.shapes import MOST_CHARACTERS
from bitrawl.web.messages import Message, field_messages, message, message_of
from bitrawl.web.pages.rendering import rendered
from bitrawl.web.security import posted
from bitrawl.web.text_tools import TOOLS, Result


async def show(request: Request) -> Response:
    return _page(request, {}, {})


async def use(request: Request) -> Response:
    form = await posted(request)
    values = {name: value for name, value in form.items() if isinstance(value, str)}
    long = [name for name, value in values.items() if len(value) > MOST_CHARACTERS]
    if long:
        why = message("give at most {most} characters", most=MOST_CHARACTERS)
        return _page(request, {**values, **dict.fromkeys(long, "")}, dict.fromkeys(long, why), 422)
    try:
        result = await TOOLS[_tool(request)](request, values)
    except FieldError as error:
        return _page(request, values, field_messages(error), 422)
    except BitrawlError as error:
        return _page(request, values, {}, 422, problem=message_of(error))
    if result.job:
        return RedirectResponse(f"/jobs/{result.job}", 303)
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
    given: dict[str, Any] = {
        "tool": _tool(request),
        "values": values,
        "errors": errors,
        "problem": problem or Message(""),
    }
    return rendered(request, "tools.html", status, **given, **(result or Result())._asdict())


async def show_api(request: Request) -> Response:
    """The page for people who write programs."""
    root = str(request.base_url).rstrip("/") + ROOT
    curl = "curl" if server_of(request).users.open else 'curl -H "Authorization: Bearer $TOKEN"'
    names = {
        "JOB": ("/jobs", '[0]["id"]'),
        "KEY": ("/jobs/$JOB/pairs", '["pairs"][0]["row"]["key"]'),
        "SEGMENT": ("/jobs/$JOB/pairs/$KEY", '["segments"][0]["key"]'),
    }
    first = [
        f"{name}=$({curl} -s \"{root}{path}\" \\\n  | python3 -c 'import json, sys; print(json.load(sys.stdin){place})')"
        for name, (path, place) in names.items()
    ]
    examples = [(row, _curl(row, curl, root)) for row in OPERATIONS]
    return rendered(request, "api.html", examples=examples, first="\n".join(first), root=ROOT)


def _curl(row: Operation, curl: str, root: str) -> str:
    path = row.path.replace("{id}", "$JOB").replace("{key}", "$KEY").replace("{style}", "tbx").replace("{number}", "1")
    query = "?q=wat*" if "q" in row.query else "?format=tmx" if "format" in row.query else ""
    usual = "POST" if row.example else "GET"
    method = f" -X {row.method}" if row.method != usual else ""
    given = row.example.replace(A_KEY, "'$KEY'").replace(A_SEGMENT, "'$SEGMENT'")
    body = f" \\\n  -H 'Content-Type: {JSON}' -d '{given}'" if row.example else ""
    return f'{curl}{method} "{root}{path.replace("{name}", "en-fr.tmx")}{query}"{body}'


ROUTES: list[BaseRoute] = [
    Route("/api", show_api),
    Route("/tools/{tool}", show),
    Route("/tools/{tool}", use, methods=["POST"]),
]
