"""From the table of operations to routes, to openapi.json and to a page with examples."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import FieldError
from bitrawl.files import NO_JSON
from bitrawl.version import __version__
from bitrawl.web.api.operations import OPERATIONS, ROOT, Operation
from bitrawl.web.api.shapes import ApiError
from bitrawl.web.security import MEGABYTE

MOST_JSON = 50 * MEGABYTE  # of a body: texts about a topic may be in it; judgement
JSON = "application/json"
_NAME = re.compile(r"{(\w+)}")
_json = msgspec.json.Encoder(enc_hook=str)


def json_answer(value: object, status: int = 200) -> Response:
    return Response(_json.encode(value), status, media_type=JSON)


def _endpoint(operation: Operation) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        body = await _body(request, operation) if operation.takes is not None else None
        unknown = set(request.query_params) - set(operation.query)
        if unknown:
            raise FieldError(dict.fromkeys(sorted(unknown), "there is no such parameter"))
        answer = await operation.handle(request, body)
        if isinstance(answer, Response):
            return answer
        return Response(status_code=204) if operation.status == 204 else json_answer(answer, operation.status)

    return endpoint


async def _body(request: Request, operation: Operation) -> Any:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise HTTPException(415, f"Send JSON, with the header Content-Type: {JSON}")
    if int(request.headers.get("content-length") or 0) > MOST_JSON:
        raise HTTPException(413, f"That is more than {MOST_JSON // MEGABYTE} MB.")
    content = await request.body()
    try:
        if operation.open:
            return msgspec.json.decode(content, type=dict[str, Any])
        return msgspec.json.decode(content, type=operation.takes)
    except msgspec.ValidationError as error:
        raise HTTPException(422, str(error)) from error
    except NO_JSON as error:
        raise HTTPException(400, f"That is no JSON: {error}") from error


async def openapi(_request: Request) -> Response:
    return json_answer(described())


@lru_cache(maxsize=1)
def described() -> dict[str, Any]:
    """The whole API, by OpenAPI 3.1."""
    shapes = [*(one.takes for one in OPERATIONS), *(one.gives for one in OPERATIONS), ApiError]
    kinds = [shape for shape in shapes if shape is not None]
    schemas, components = msgspec.json.schema_components(
        kinds, ref_template="#/components/schemas/{name}", schema_hook=lambda _kind: {"type": "string"}
    )
    schema_of = {id(kind): schema for kind, schema in zip(kinds, schemas, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(ROOT + one.path, {})[one.method.lower()] = _described(one, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "bitrawl",
            "version": __version__,
            "description": "Parallel and domain corpora from the web.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _described(one: Operation, schema_of: dict[int, Any]) -> dict[str, Any]:
    error = {"description": "What went wrong.", "content": {JSON: {"schema": schema_of[id(ApiError)]}}}
    answer: dict[str, Any] = {"description": one.summary}
    if one.gives is not None:
        answer["content"] = {JSON: {"schema": schema_of[id(one.gives)]}}
    elif one.status == 200:
        answer["content"] = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    described: dict[str, Any] = {
        "operationId": _id(one),
        "summary": one.summary,
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in _NAME.findall(one.path)
            ),
            *(
                {"name": name, "in": "query", "description": said, "schema": {"type": "string"}}
                for name, said in one.query.items()
            ),
        ],
        "responses": {str(one.status): answer, "4XX": error},
    }
    if one.takes is not None:
        content: dict[str, Any] = {"schema": schema_of[id(one.takes)]}
        if one.example:
            content["example"] = msgspec.json.decode(one.example)
        described["requestBody"] = {"required": True, "content": {JSON: content}}
    return described


def _id(one: Operation) -> str:
    words = [
        one.method.lower(),
        *(word for word in re.split(r"[^a-z]+", one.path.replace("{", "").replace("}", "")) if word),
    ]
    return "_".join(words)


ROUTES: list[BaseRoute] = [
    Route("/openapi.json", openapi),
    *(Route(ROOT + one.path, _endpoint(one), methods=[one.method]) for one in OPERATIONS),
]
