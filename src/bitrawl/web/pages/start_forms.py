"""The forms that start jobs: mine sites (the first page, with the list of jobs), search for sites, search for a topic."""

import asyncio
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.config import FOCUSED, Job, Strategy
from bitrawl.config.choices import strategy_names
from bitrawl.errors import ConfigError, FieldError
from bitrawl.web import allowed
from bitrawl.web.actions import ShownJob, find, server_of, words_of
from bitrawl.web.allowed import Upload, Uploads
from bitrawl.web.pages.rendering import answer_part, fragment, rendered, shown_jobs
from bitrawl.web.security import MEGABYTE, posted

CHUNK = 1 << 20
MOST_TEXT = 20 * MEGABYTE  # of an uploaded list or text; judgement
FILLED_BY = "filled by"
"""The name of the search that has filled the form, among its values."""
_LANGUAGES = ("language_a", "language_b", "further")
_FILES = ("seeds_file", "terms_file", "texts", "warc")


async def show(request: Request) -> Response:
    values: Mapping[str, Any] = {}
    if repeated := request.query_params.get("repeat"):
        values = await _repeated(request, repeated)
    return await _page(request, values, {})


async def start(request: Request) -> Response:
    """A new job from the form, or the form again with its mistakes."""
    form, server = await posted(request), server_of(request)
    given = typed(form)
    uploads = await received(request, form)
    try:
        asked = await asyncio.to_thread(allowed.mining, given, server.settings, uploads)
        job_id = await server.supervised(server.supervisor.create, request.state.user, asked.prepare, name=asked.name)
    except FieldError as error:
        return await _page(request, {name: form.get(name, "") for name in form}, error.fields, 422)
    finally:
        if uploads.warc is not None:
            uploads.warc.unlink(missing_ok=True)
    return RedirectResponse(f"/jobs/{job_id}", 303)


def typed(form: FormData) -> dict[str, object]:
    """The fields of a form as `allowed` names them: languages together, and without what is no setting."""
    given: dict[str, object] = {
        name: value
        for name, value in form.items()
        if isinstance(value, str) and name not in ("csrf", *_LANGUAGES, *_FILES)
    }
    languages = [str(form.get(name, "")).strip() for name in _LANGUAGES]
    given["languages"] = ", ".join(filter(None, languages))
    if isinstance(under := given.get("under"), str):
        given["under"] = "\n".join(under.split())
    return given


async def received(request: Request, form: FormData) -> Uploads:
    """What was uploaded. An archive goes to the disk, the rest is small."""
    texts = [upload for upload in [await _read(one) for one in form.getlist("texts")] if upload]
    warc = form.get("warc")
    return Uploads(
        seeds=await _read(form.get("seeds_file")),
        terms=await _read(form.get("terms_file")),
        texts=tuple(texts),
        warc=await _written(request, warc) if isinstance(warc, UploadFile) and warc.size else None,
    )


async def _read(field: object) -> Upload | None:
    if not isinstance(field, UploadFile) or not field.size:
        return None
    return Upload(field.filename or "", await field.read(MOST_TEXT))


async def _written(request: Request, upload: UploadFile) -> Path:
    path = server_of(request).shelf.upload_path()
    with path.open("wb") as file:
        while chunk := await upload.read(CHUNK):
            await asyncio.to_thread(file.write, chunk)
    return path


async def _repeated(request: Request, job_id: str) -> Mapping[str, Any]:
    """The fields of the form as an earlier job had them, or as a search has filled them."""
    job = await find(request, job_id)
    try:
        if job.kind != "mine":
            found = await asyncio.to_thread(allowed.handed_over, job.folder)
            return {**_split({**found, **_asked_with(job)}), FILLED_BY: job.name}
        described = await asyncio.to_thread(job.folder.job)
    except ConfigError:
        return {}
    return _split(
        {
            "seeds": "\n".join(described.seeds),
            "languages": ", ".join(described.langs),
            "contact": described.fetch.contact,
            "pages": str(described.budget.pages or ""),
            "strategy": described.strategy,
            "scope": described.scope.reach,
            "under": " ".join(described.scope.under),
            **_settings(described),
            "like": "\n".join(described.topic.like),
            "terms": await asyncio.to_thread(_terms, job, described.topic.terms),
            "name": job.name,
        }
    )


def _settings(job: Job) -> dict[str, str]:
    """Of the fields that the form has from the table of settings."""
    fields = [field for fields in allowed.form_fields().values() for field in fields]
    values = {field.name: attrgetter(field.key)(job) for field in fields}
    return {name: "true" if value is True else str(value or "") for name, value in values.items()}


def _asked_with(job: ShownJob) -> dict[str, str]:
    """What the mining job has of a topic job besides what it found."""
    if job.kind != "topic" or job.shelved.intent is None:
        return {}
    arguments = job.shelved.intent.command.arguments
    contact = next((one.removeprefix("--contact=") for one in arguments if one.startswith("--contact=")), "")
    return {"name": job.name, "contact": contact}


def _terms(job: ShownJob, path: str) -> str:
    """The term list that was given to the job, if it is a text that a form can hold."""
    terms = Path(path)
    if not path or terms.suffix != ".txt" or not terms.is_relative_to(job.folder.path.resolve()):
        return ""
    try:
        return terms.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def _split(fields: Mapping[str, str]) -> dict[str, str]:
    first, second, *more = [*fields.get("languages", "").split(", "), "", ""]
    return {**fields, "language_a": first, "language_b": second, "further": ", ".join(filter(None, more))}


async def _page(request: Request, values: Mapping[str, Any], errors: Mapping[str, Any], status: int = 200) -> Response:
    limits = server_of(request).settings.limits
    say = words_of(request).say
    strategies = [
        (name, say("{name} (needs a topic)", name=say(name)) if name in FOCUSED else say(name))
        for name in dict.fromkeys([str(Strategy.ADAPTIVE), *strategy_names()])
    ]
    fields = allowed.form_fields()
    return rendered(
        request,
        "home.html",
        status,
        values=values,
        errors=errors,
        filled_by=values.get(FILLED_BY, ""),
        opened=bool(set(errors) - {"seeds", "languages", "contact", ""})
        or "name" in values
        or bool(values.get("terms")),
        limits=limits,
        strategies=strategies,
        settings=fields,
        numbers=tuple(field.name for group in fields.values() for field in group if not field.is_switch),
        jobs=await shown_jobs(request),
    )


async def live(request: Request) -> Response:
    """The list again."""
    return answer_part(request, fragment(request, "job_list.html", jobs=await shown_jobs(request)))


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
    Route("/", show),
    Route("/jobs", start, methods=["POST"]),
    Route("/live", live),
    Route("/discover", show_sites),
    Route("/discover", find_sites, methods=["POST"]),
    Route("/topic", show_topic),
    Route("/topic", find_topic, methods=["POST"]),
]
