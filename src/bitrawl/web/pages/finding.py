"""The forms that search for bilingual sites, and for a topic. What they find goes into the form of a mining job."""

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import FieldError
from bitrawl.web import allowed
from bitrawl.web.pages.home import received, typed
from bitrawl.web.rendering import rendered
from bitrawl.web.security import posted
from bitrawl.web.server import server_of, words_of


async def show_sites(request: Request) -> Response:
    return rendered(request, "discover.html", values={}, errors={})


async def find_sites(request: Request) -> Response:
    form, server = await posted(request), server_of(request)
    try:
        uploads = await received(request, form)
        asked = await asyncio.to_thread(allowed.discovery, typed(form), server.settings, uploads)
        job_id = await server.supervised(server.supervisor.create, request.state.user, asked.prepare, name=asked.name)
    except FieldError as error:
        return rendered(request, "discover.html", 422, values=dict(form), errors=error.fields)
    return RedirectResponse(f"/jobs/{job_id}", 303)


async def show_topic(request: Request) -> Response:
    """The edition in the reader's language is the first choice: the name of a subject is in it too."""
    return _topic_page(request, {"wiki": words_of(request).code.partition("-")[0]}, {})


async def find_topic(request: Request) -> Response:
    form, server = await posted(request), server_of(request)
    try:
        asked = await asyncio.to_thread(allowed.bootstrapping, typed(form), server.settings)
        name = asked.name or str(form.get("category", ""))
        job_id = await server.supervised(server.supervisor.create, request.state.user, asked.prepare, name=name)
    except FieldError as error:
        return _topic_page(request, dict(form), error.fields, 422)
    return RedirectResponse(f"/jobs/{job_id}", 303)


def _topic_page(request: Request, values: Mapping[str, Any], errors: Mapping[str, Any], status: int = 200) -> Response:
    """Without a choice of editions where the operator's wiki has one only."""
    wiki, words = server_of(request).settings.wiki, words_of(request)
    return rendered(
        request,
        "topic.html",
        status,
        values=values,
        errors=errors,
        wiki=wiki.shown if wiki else words.say("Wikipedia"),
        editions=[(code, words.language(code)) for code in wiki.editions] if wiki else None,
    )


ROUTES: list[BaseRoute] = [
    Route("/discover", show_sites),
    Route("/discover", find_sites, methods=["POST"]),
    Route("/topic", show_topic),
    Route("/topic", find_topic, methods=["POST"]),
]
