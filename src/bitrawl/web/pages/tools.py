"""Tools that need no job, and the page for people who write programs."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import BitrawlError
from bitrawl.web.api.operations import JSON, OPERATIONS, ROOT, Operation
from bitrawl.web.messages import Said, error_said, said
from bitrawl.web.pages.rendering import rendered
from bitrawl.web.security import posted
from bitrawl.web.text_tools import USES, MissingError, Result

MOST_CHARACTERS = 1_000_000  # of a text; judgement


async def show(request: Request) -> Response:
    return _page(request, {}, {})


async def use(request: Request) -> Response:
    form = await posted(request)
    values = {name: value[:MOST_CHARACTERS] for name, value in form.items() if isinstance(value, str)}
    tool = _tool(request)
    try:
        result = await USES[tool](request, values)
    except MissingError as missing:
        return _page(request, values, {missing.field: said("Fill this in.")}, 422)
    except BitrawlError as error:
        return _page(request, values, {}, 422, problem=error_said(error))
    return _page(request, values, {}, result=result)


def _tool(request: Request) -> str:
    if (tool := request.path_params["tool"]) not in USES:
        raise HTTPException(404)
    return str(tool)


def _page(
    request: Request,
    values: dict[str, str],
    errors: dict[str, Said],
    status: int = 200,
    *,
    result: Result = Result(),  # noqa: B008 - frozen
    problem: Said = Said(""),  # noqa: B008 - frozen,
) -> Response:
    shown = {"values": values, "errors": errors, "problem": problem, **result._asdict()}
    return rendered(request, "tools.html", status, tool=_tool(request), **shown)


async def show_api(request: Request) -> Response:
    """The page for people who write programs."""
    base = str(request.base_url).rstrip("/")
    examples = [(one, _curl(one, base)) for one in OPERATIONS]
    return rendered(request, "api.html", examples=examples, root=ROOT)


def _curl(one: Operation, base: str) -> str:
    path = ROOT + one.path.replace("{id}", "$JOB").replace("{key}", "$KEY").replace("{style}", "tbx").replace(
        "{name}", "en-fr.tmx"
    )
    query = "?q=water" if "q" in one.query else "?format=tmx" if "format" in one.query else ""
    method = f" -X {one.method}" if one.method != "GET" and not one.example else ""
    body = f" \\\n  -H 'Content-Type: {JSON}' -d '{one.example}'" if one.example else ""
    return (
        f"curl{method} -H \"Authorization: Bearer $TOKEN\" '{base}{path}{query}'".replace(
            "'" + base, '"' + base
        ).removesuffix("'")
        + '"'
        + body
    )


ROUTES: list[BaseRoute] = [
    Route("/api", show_api),
    Route("/tools/{tool}", show),
    Route("/tools/{tool}", use, methods=["POST"]),
]
