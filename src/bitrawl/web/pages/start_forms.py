"""The forms that start jobs: mine sites (the first page, with the list of jobs), search for sites, search for a topic.

What a search finds goes into the form of a mining job.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.choices import MEGABYTE
from bitrawl.config import Job
from bitrawl.errors import ConfigError, FieldError
from bitrawl.strategies import FOCUSED, STRATEGIES, Strategy
from bitrawl.web import allowed
from bitrawl.web.actions import find_job, server_of, start_job, words_of
from bitrawl.web.allowed import StartedRequest, Upload, Uploads
from bitrawl.web.job_list import Intent, ServedJob
from bitrawl.web.messages import RequestError, message
from bitrawl.web.pages.rendering import answer_part, fragment, job_rows, rendered
from bitrawl.web.security import posted

CHUNK = 1 << 20
MOST_TEXT = 8 * MEGABYTE  # of all uploaded lists and texts, which are read into memory
Page = Callable[..., Awaitable[Response]]
FILLED_BY = "filled by"
"""The name of the search that has filled the form, among its values."""
_LANGUAGES = ("language_a", "language_b", "further")
_FILES = ("seeds_file", "terms_file", "texts", "warc")


async def show(request: Request) -> Response:
    job_id = request.query_params.get("repeat")
    return await _page(request, _with_added(request, await _repeated(request, job_id)) if job_id else {}, {})


def _with_added(request: Request, values: Mapping[str, Any]) -> dict[str, Any]:
    """With what advice adds to the fields of an earlier job: an address, languages. The reader looks them over."""
    added = {name: request.query_params.get(name, "") for name in ("add", "further")}
    seeds = dict.fromkeys([*values.get("seeds", "").split("\n"), added["add"]])
    further = dict.fromkeys([*values.get("further", "").split(", "), *added["further"].split(",")])
    return {**values, "seeds": "\n".join(filter(None, seeds)), "further": ", ".join(filter(None, further))}


async def _started(request: Request, read: Callable[..., StartedRequest], page: Page) -> Response:
    """A new job from the form, or the form again with its mistakes."""
    form = await posted(request)
    uploads = await _uploads(request, form)
    try:
        job = await asyncio.to_thread(read, _typed(form), server_of(request).settings, uploads)
        return RedirectResponse(f"/jobs/{await start_job(request, job)}", 303)
    except FieldError as error:
        return await page(request, {name: form.get(name, "") for name in form}, error.fields, 422)
    finally:
        if uploads.warc is not None:
            uploads.warc.unlink(missing_ok=True)


async def start(request: Request) -> Response:
    return await _started(request, allowed.mining, _page)


async def start_demo(request: Request) -> Response:
    """A new job on the bundled web."""
    await posted(request)
    words, settings = words_of(request), server_of(request).settings
    name, language = words.say("Demo: the web of a small harbour town"), words.code.partition("-")[0]
    job = await asyncio.to_thread(allowed.demonstration, name, language, settings)
    return RedirectResponse(f"/jobs/{await start_job(request, job)}", 303)


def _typed(form: FormData) -> dict[str, object]:
    """The fields of a form as `allowed` names them: languages together, and without what is no setting."""
    others = ("csrf", *_LANGUAGES, *_FILES)
    fields: dict[str, object] = {
        name: value for name, value in form.items() if isinstance(value, str) and name not in others
    }
    languages = [str(form.get(name, "")).strip() for name in _LANGUAGES]
    fields["languages"] = ", ".join(filter(None, languages))
    if isinstance(under := fields.get("under"), str):
        fields["under"] = "\n".join(under.split())
    return fields


async def _uploads(request: Request, form: FormData) -> Uploads:
    """What was uploaded. An archive goes to the disk, the rest is small."""
    read = [field for name in _FILES[:-1] for field in form.getlist(name) if isinstance(field, UploadFile)]
    if sum(field.size or 0 for field in read) > MOST_TEXT:
        why = message("The lists and texts are larger than {most} MB together.", most=MOST_TEXT // MEGABYTE)
        raise RequestError(413, why)
    texts = [await _read(field) for field in form.getlist("texts")]
    warc = form.get("warc")
    return Uploads(
        seeds=await _read(form.get("seeds_file")),
        terms=await _read(form.get("terms_file")),
        texts=tuple(text for text in texts if text),
        warc=await _written(request, warc) if isinstance(warc, UploadFile) and warc.size else None,
    )


async def _read(field: object) -> Upload | None:
    if not isinstance(field, UploadFile) or not field.size:
        return None
    return Upload(field.filename or "", await field.read())


async def _written(request: Request, upload: UploadFile) -> Path:
    path = server_of(request).jobs.upload_path()
    with path.open("wb") as file:
        while chunk := await upload.read(CHUNK):
            await asyncio.to_thread(file.write, chunk)
    return path


async def _repeated(request: Request, job_id: str) -> Mapping[str, Any]:
    """The fields of the form as an earlier job had them, or as a search has filled them."""
    served = await find_job(request, job_id)
    try:
        if served.kind != "mine":
            fields = await asyncio.to_thread(allowed.handed_over, served.folder)
            return {**_split({**fields, **_asked_with(served)}), FILLED_BY: served.name}
        job = await asyncio.to_thread(served.folder.job)
    except ConfigError:
        return {}
    return _split(
        {
            **_start_of(job),
            "pages": str(job.budget.pages or ""),
            "strategy": job.strategy,
            "scope": job.scope.reach,
            "under": " ".join(job.scope.under),
            "anonymise": job.export.anonymise,
            **_settings(job),
            "like": "\n".join(job.topic.like),
            "terms": await asyncio.to_thread(_terms, served, job.topic.terms),
            "name": served.name,
        }
    )


def _start_of(job: Job) -> dict[str, str]:
    return {"seeds": "\n".join(job.seeds), "languages": ", ".join(job.langs), "contact": job.fetch.contact}


def _settings(job: Job) -> dict[str, str]:
    """Of the fields that the form has from the table of settings."""
    fields = [field for fields in allowed.form_fields().values() for field in fields]
    values = {field.name: attrgetter(field.key)(job) for field in fields}
    return {name: "true" if value is True else str(value or "") for name, value in values.items()}


def _asked_with(job: ServedJob) -> dict[str, str]:
    """What the mining job has of a topic job besides what it found."""
    if job.kind != "topic" or job.intent is None:
        return {}
    return {"name": job.name, "contact": _flags(job.intent).get("--contact", "")}


def _flags(intent: Intent) -> dict[str, str]:
    """What its command was given, as `allowed` writes it."""
    return dict(argument.split("=", 1) for argument in intent.command.arguments if "=" in argument)


def _terms(job: ServedJob, path: str) -> str:
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
    say, fields = words_of(request).say, allowed.form_fields()
    is_opened = set(errors) - {"seeds", "languages", "contact", ""} or "name" in values or values.get("terms")
    return rendered(
        request,
        "home.html",
        status,
        values=values,
        errors=errors,
        filled_by=values.get(FILLED_BY, ""),
        opened=bool(is_opened),
        limits=server_of(request).settings.limits,
        strategies=[
            (name, say("{name} (needs a topic)", name=say(name)) if name in FOCUSED else say(name))
            for name in dict.fromkeys([str(Strategy.ADAPTIVE), *STRATEGIES.names()])
        ],
        settings=fields,
        numbers=tuple(field.name for group in fields.values() for field in group if not field.is_switch),
        jobs=await job_rows(request),
    )


async def live(request: Request) -> Response:
    """The list of jobs again, for a page that is open."""
    return answer_part(request, fragment(request, "job_list.html", jobs=await job_rows(request)))


async def show_sites(request: Request) -> Response:
    values: dict[str, Any] = {}
    if job_id := request.query_params.get("repeat"):
        served = await find_job(request, job_id)
        with suppress(ConfigError):
            job = await asyncio.to_thread(served.folder.job)
            values = _with_added(request, _split({**_start_of(job), "downloads": str(job.discovery.downloads or "")}))
    return await _sites_page(request, values, {})


async def find_sites(request: Request) -> Response:
    return await _started(request, allowed.discovery, _sites_page)


async def _sites_page(
    request: Request, values: Mapping[str, Any], errors: Mapping[str, Any], status: int = 200
) -> Response:
    return rendered(request, "discover.html", status, values=values, errors=errors)


async def show_topic(request: Request) -> Response:
    """The edition in the reader's language is the first choice: the name of a subject is in it too."""
    values = {"wiki": words_of(request).code.partition("-")[0]}
    job_id = request.query_params.get("repeat")
    served = await find_job(request, job_id) if job_id else None
    if served is not None and served.kind == "topic" and served.intent is not None:
        flags = _flags(served.intent)
        names = {"languages": "--langs", "contact": "--contact", "depth": "--depth"}
        given = {name: flags.get(flag, "") for name, flag in names.items()}
        given["languages"] = given["languages"].replace(",", ", ")
        values |= _split({**given, "category": served.intent.command.arguments[-1]})
    return await _topic_page(request, values, {})


async def find_topic(request: Request) -> Response:
    return await _started(request, allowed.bootstrapping, _topic_page)


async def _topic_page(
    request: Request, values: Mapping[str, Any], errors: Mapping[str, Any], status: int = 200
) -> Response:
    """Without a choice of editions where the operator's wiki has one only."""
    wiki, words = server_of(request).settings.wiki, words_of(request)
    return rendered(
        request,
        "topic.html",
        status,
        values=values,
        errors=errors,
        wiki=wiki.title if wiki else words.say("Wikipedia"),
        editions=[(code, words.language(code)) for code in wiki.editions] if wiki else None,
    )


ROUTES: list[BaseRoute] = [
    Route("/", show),
    Route("/jobs", start, methods=["POST"]),
    Route("/demo", start_demo, methods=["POST"]),
    Route("/live", live),
    Route("/discover", show_sites),
    Route("/discover", find_sites, methods=["POST"]),
    Route("/topic", show_topic),
    Route("/topic", find_topic, methods=["POST"]),
]
