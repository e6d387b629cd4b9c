"""The operations of the API as one table, which also makes the routes and openapi.json."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bitrawl.corpus import FORMATS, TermPair
from bitrawl.errors import ConfigError, FieldError
from bitrawl.files import NO_JSON
from bitrawl.job import BootstrapFolder, BootstrapSummary
from bitrawl.reasons import Action
from bitrawl.review import (
    GivenVerdict,
    HitList,
    Judgement,
    PairList,
    ReadPair,
    ReadSegment,
    ReviewOrder,
    ReviewProgress,
    Sample,
    SegmentOrder,
    SegmentRows,
    SegmentState,
)
from bitrawl.version import __version__
from bitrawl.web import actions, allowed, threshold_choice
from bitrawl.web.actions import (
    FoundSite,
    Server,
    find_job,
    find_mining_job,
    find_own_job,
    glance,
    look_at,
    server_of,
    words_of,
)
from bitrawl.web.allowed import Texts
from bitrawl.web.api import review, shapes
from bitrawl.web.api.shapes import ApiError
from bitrawl.web.corpus_files import (
    aligned,
    bilingual_corpora,
    export,
    file,
    hits_file,
    job_file,
    report,
    terms_file,
    terms_of,
)
from bitrawl.web.fields import MOST_ROWS, SORTS, Fields, language_pair, one_of
from bitrawl.web.job_list import ServedJob
from bitrawl.web.job_state import SIMULATED
from bitrawl.web.messages import Words, shortened
from bitrawl.web.review_actions import PROGRAM_PATIENCE, open_review
from bitrawl.web.text_tools import TOOLS

ROOT = "/api/v1"
JSON = "application/json"
A_KEY = "0123456789abcdef"  # of a pair, in examples
A_SEGMENT = "fedcba9876543210"

Body = Any
Handle = Callable[[Request, Any], Awaitable[Any]]

_LANGUAGES = {"languages": "Two languages, as in en-fr."}
_PAGING = {"offset": "How many to leave out.", "limit": f"How many at most; {MOST_ROWS} is the limit."}


class Operation(NamedTuple):
    """One line of the table."""

    method: str
    path: str  # below `ROOT`
    summary: str
    handle: Handle
    takes: Any = None  # the shape of the body
    gives: Any = None  # the shape of the answer; None for a file, or nothing
    status: int = 200
    query: Mapping[str, str] = {}
    example: str = ""  # of a body
    open: bool = False  # unknown keys are answered by `allowed`, which knows why


async def list_jobs(request: Request, _body: Body) -> list[shapes.ApiJob]:
    server, user, words = server_of(request), request.state.user, words_of(request)
    return await server.supervised(lambda: [_described_job(server, job, words) for job in server.jobs.of(user)])


def _described_job(server: Server, job: ServedJob, words: Words) -> shapes.ApiJob:
    state, figures = glance(server, job)
    return shapes.ApiJob(
        id=job.id,
        name=job.name,
        kind=job.kind,
        state=state.state,
        said=words.tell_all(state.messages(sum(figures.pairs.values()))),
        ended=state.ended,
        tips=tuple(shapes.ApiTip(tip.remedy, words.tell(tip.message), tip.action) for tip in state.tips),
        created=job.intent.created if job.intent else 0.0,
        doing=str(state.doing or ""),
        next_visit=server.supervisor.next_visit(job),
    )


async def _answer(request: Request, job_id: str = "") -> shapes.ApiJob:
    """The job as it is now."""
    server = server_of(request)
    return await server.supervised(_described_job, server, await find_job(request, job_id), words_of(request))


async def show_job(request: Request, _body: Body) -> shapes.ApiJobFigures:
    _, figures = await look_at(request, await find_job(request))
    return shapes.ApiJobFigures(figures=figures, **msgspec.structs.asdict(await _answer(request)))


def _starting(read: Callable[..., allowed.JobRequest | allowed.TopicRequest]) -> Handle:
    async def handle(request: Request, body: Body) -> shapes.ApiJob:
        job = await asyncio.to_thread(read, body, server_of(request).settings)
        return await _answer(request, await actions.start_job(request, job))

    return handle


def _acting(action: str) -> Handle:
    async def handle(request: Request, body: Body) -> shapes.ApiJob | None:
        await actions.carry_out(server_of(request), await find_own_job(request), action, body)
        return None if action == "delete" else await _answer(request)

    return handle


async def show_thresholds(request: Request, _body: Body) -> shapes.ApiSelection:
    query = request.query_params
    values: dict[str, Any] = {**query, **({"refuse": query.getlist("refuse")} if "refuse" in query else {})}
    Fields(query).read_one("languages", language_pair, None)
    languages = str(values.pop("languages", ""))
    changed = threshold_choice.changes(values, server_of(request).settings)
    opened = (await open_review(request, PROGRAM_PATIENCE)).review
    sight = await asyncio.to_thread(lambda: opened.sight(threshold_choice.chosen(opened, changed), languages))
    return shapes.ApiSelection(
        kept=threshold_choice.as_fields(sight.kept),
        version=opened.version_of(sight.kept),
        chosen=threshold_choice.as_fields(sight.thresholds),
        corpora=await asyncio.to_thread(lambda: sight.corpora),
    )


async def keep_thresholds(request: Request, body: dict[str, Any]) -> shapes.KeptThresholds:
    version = str(body.pop("version", "") or "")
    changed = threshold_choice.changes(body, server_of(request).settings)
    await open_review(request, PROGRAM_PATIENCE)
    return await threshold_choice.keep(request, changed, version)


async def list_terms(request: Request, _body: Body) -> list[TermPair]:
    job = await find_mining_job(request)
    names = [header.name for header in await bilingual_corpora(job)]
    name = Fields(request.query_params).read_one("languages", one_of(names), next(iter(names), ""))
    return await terms_of(request, job, name)


def _as_file(handle: Callable[[Request], Awaitable[Response]]) -> Handle:
    """A file, just as the page gives it."""
    return lambda request, _body: handle(request)


async def found_sites(request: Request, _body: Body) -> list[FoundSite]:
    return await asyncio.to_thread(actions.found_sites, await find_job(request))


async def found_topic(request: Request, _body: Body) -> BootstrapSummary:
    summary = await asyncio.to_thread(BootstrapFolder((await find_job(request)).folder.path).found)
    if summary is None:
        raise HTTPException(404, "This job is not a topic, or it has not ended yet.")
    return summary


async def hand_over(request: Request, _body: Body) -> msgspec.Struct:
    try:
        fields = await asyncio.to_thread(allowed.handed_over, (await find_job(request)).folder)
    except ConfigError as error:
        raise HTTPException(404, "This job is neither a search nor a topic, or it has found nothing yet.") from error
    return shapes.NewJob(
        languages=fields["languages"].split(", "),
        seeds=fields["seeds"].splitlines(),
        contact=fields.get("contact", ""),
        terms=fields.get("terms", ""),
        hub="hub" in fields,
    )


async def start_comparison(request: Request, body: shapes.Comparison) -> shapes.ApiJob:
    await find_own_job(request)
    await actions.compare(server_of(request), await find_mining_job(request), body.strategies)
    return await _answer(request)


async def show_comparison(request: Request, _body: Body) -> shapes.Compared:
    job = await find_mining_job(request)
    state, _ = await look_at(request, job)
    path = job.folder.path / SIMULATED / "simulate.csv"
    return shapes.Compared(state.is_pending, await asyncio.to_thread(actions.read_table, path))


def _tool(name: str) -> Handle:
    async def handle(request: Request, body: Body) -> shapes.ToolResult:
        fields = msgspec.structs.asdict(body)
        values = {key: "\n".join(value) if isinstance(value, list) else value for key, value in fields.items()}
        result = await TOOLS[name](request, values)
        return shapes.ToolResult([row.cells for row in result.rows], result.text, result.job)

    return handle


_EXPORT = {
    **_LANGUAGES,
    "format": f"{', '.join(FORMATS.ours(2))}; for one language {', '.join(FORMATS.ours(1))}.",
    "min_score": "Only segments that score at least this, from 0 to 1.",
    "accepted_only": "true: only what people have accepted.",
    "anonymise": "What becomes of personal data: off, replace or drop. If it is not given, what the job does.",
}
_SEARCH = {
    "q": "Words: a phrase, unless near is given. pag* stands for all words that begin so.",
    "other": "A phrase that the other side has.",
    "without": "A phrase that the other side has not.",
    "translated": "true: after these hits, also texts that have translations of q on the other side.",
    "near": 'How many words may stand between those of q, in any order, or any. "old port" stays a phrase.',
    "side": "Where to look for q: a, b or both.",
    **_LANGUAGES,
}
_HITS = {"format": "tsv, with what was rejected and a column for that, or tmx without it."}

OPERATIONS = (
    Operation("GET", "/jobs", "List your jobs.", list_jobs, gives=list[shapes.ApiJob]),
    Operation(
        "POST", "/jobs", "Mine a corpus.", _starting(allowed.mining), shapes.NewJob, shapes.ApiJob, 201, open=True,
        example='{"seeds": ["https://www.example.org/"], "languages": ["en", "fr"], "contact": "you@example.org"}',
    ),
    Operation(
        "POST", "/searches", "Search for bilingual sites.", _starting(allowed.discovery), shapes.NewSearch, shapes.ApiJob, 201, open=True,
        example='{"seeds": ["https://www.example.org/"], "languages": ["en", "fr"], "downloads": 500}',
    ),
    Operation(
        "POST", "/topics", "Gather terms and sites of a subject.", _starting(allowed.bootstrapping), shapes.NewTopic, shapes.ApiJob, 201,
        open=True, example='{"category": "Renewable energy", "languages": ["en", "fr"], "contact": "you@example.org"}',
    ),
    Operation("GET", "/jobs/{id}", "Show a job with its figures.", show_job, gives=shapes.ApiJobFigures),
    Operation("DELETE", "/jobs/{id}", "Delete a job and all that it has found.", _acting("delete"), status=204),
    *(
        Operation("POST", f"/jobs/{{id}}/{action}", summary, _acting(action), gives=shapes.ApiJob)
        for action, summary in {
            "pause": "Finish what is in flight, then pause.",
            "resume": "Go on.",
            "refresh": "Visit the sites of a finished job again.",
            "stop": "Stop, and mine what is there.",
            "stop-now": "Stop at once. Nothing is lost.",
            "exhaustive": "Go on, and visit all of the site.",
        }.items()
    ),
    Operation(
        "POST", "/jobs/{id}/larger", "Go on with a larger limit.", _acting(Action.LARGER_LIMIT), shapes.LargerLimit, shapes.ApiJob, open=True,
        example='{"pages": 2000}',
    ),
    Operation(
        "GET", "/jobs/{id}/pairs", "List page pairs.", review.list_pairs, gives=PairList,
        query={
            **_LANGUAGES,
            "text": "In an address or a title.",
            "method": "The letter of a kind of evidence.",
            "verdict": "none, accept or reject.",
            "sort": f"One of {', '.join(SORTS)}.",
            **_PAGING,
        },
    ),
    Operation("GET", "/jobs/{id}/pairs/{key}", "Read two pages, segment by segment.", review.read_pair, gives=ReadPair),
    Operation(
        "POST", "/jobs/{id}/verdicts", "Accept or reject, or take it back.", review.give_verdict, shapes.ApiVerdict, status=204,
        example=f'{{"kind": "pair", "key": "{A_KEY}", "verdict": "accept"}}',
    ),
    Operation("GET", "/jobs/{id}/progress", "How far the review is, by person.", review.show_progress, gives=ReviewProgress),
    Operation(
        "GET", "/jobs/{id}/queue", "The next page pairs that nobody has judged.", review.show_queue, gives=shapes.Queued,
        query={
            "order": f"One of {', '.join(ReviewOrder)}.",
            "seed": "Of a random order: the same again for the same number.",
            **_LANGUAGES,
            "limit": f"How many at most; {review.MOST_KEYS} is the limit.",
        },
    ),
    Operation(
        "GET", "/jobs/{id}/verdicts", "Who judged what and when, the latest first.", review.list_verdicts, gives=list[GivenVerdict],
        query={"kind": "pair or segment.", "key": "Of one page pair or segment.", "by": "Of one person.", **_PAGING},
    ),
    Operation("GET", "/jobs/{id}/conflicts", "What people differ on.", review.list_conflicts, gives=list[Judgement]),
    Operation(
        "POST", "/jobs/{id}/conflicts", "Resolve a conflict.", review.resolve, shapes.Resolution, status=204,
        example=f'{{"kind": "pair", "key": "{A_KEY}", "verdict": "accept"}}',
    ),
    Operation("GET", "/jobs/{id}/samples", "List random samples.", review.list_samples, gives=list[Sample]),
    Operation(
        "POST", "/jobs/{id}/samples", "Draw a random sample for people to judge.", review.make_sample, shapes.NewSample,
        shapes.ShownSample, 201, example='{"languages": "en-fr", "size": 100, "people": ["you"]}',
    ),
    Operation(
        "GET", "/jobs/{id}/samples/{number}", "How far people are with a sample; its results once all have finished.",
        review.show_sample, gives=shapes.ShownSample,
    ),
    Operation("DELETE", "/jobs/{id}/samples/{number}", "Remove a sample. Its verdicts stay.", review.remove_sample, status=204),
    Operation(
        "GET", "/jobs/{id}/samples/{number}/next", "The next unit that you have not judged, without its score.",
        review.next_unit, gives=shapes.NextUnit,
    ),
    Operation(
        "POST", "/jobs/{id}/samples/{number}/verdicts", "Judge units of a sample, by their places.", review.judge_units,
        shapes.SampleVerdicts, status=204, example='{"verdicts": {"1": "accept", "2": "reject"}}',
    ),
    Operation(
        "POST", "/jobs/{id}/samples/{number}/finish", "You have finished a sample.", review.finish_sample,
        gives=shapes.ShownSample,
    ),
    Operation(
        "POST", "/jobs/{id}/samples/{number}/end", "End a sample for those who have not finished.", review.end_sample,
        gives=shapes.ShownSample,
    ),
    Operation(
        "POST", "/jobs/{id}/verdicts/bulk", "Judge many segments at once: by their keys, or all that a filter shows.",
        review.judge_many, shapes.BulkVerdict, shapes.Judged, example='{"verdict": "reject", "filter": {"most": 0.01}}',
    ),
    Operation(
        "POST", "/jobs/{id}/verdicts/undo", "Take back what you said last, one verdict or all that you gave at once.",
        review.undo_last, gives=shapes.Undone,
    ),
    Operation(
        "GET", "/jobs/{id}/segments", "List segments.", review.list_segments, gives=SegmentRows,
        query={
            **_LANGUAGES,
            "least": "The lowest score.",
            "most": "The highest score.",
            "flag": "One of the flags, or none.",
            "state": f"One of {', '.join(SegmentState)}.",
            "unit": "In what lengths are given: words or characters.",
            "shortest": "The least length of both texts.",
            "longest": "The greatest length of both texts.",
            "words_a": "A phrase in the first text. pag* stands for all words that begin so.",
            "words_b": "A phrase in the second text.",
            "sort": f"One of {', '.join(SegmentOrder)}.",
            **_PAGING,
        },
    ),
    Operation(
        "POST", "/jobs/{id}/pairs/{key}/comments", "Comment on a segment.", review.comment, shapes.NewComment,
        list[ReadSegment], example=f'{{"key": "{A_SEGMENT}", "text": "Is this the right word?"}}',
    ),
    Operation(
        "POST", "/jobs/{id}/pairs/{key}/edit", "Give a segment other texts. A line break in both splits it.", review.edit,
        shapes.Edit, list[ReadSegment], example=f'{{"key": "{A_SEGMENT}", "text_a": "One.", "text_b": "Un.", "accept": true}}',
    ),
    Operation(
        "POST", "/jobs/{id}/pairs/{key}/join", "Join a segment with the next.", review.join, shapes.SegmentName,
        list[ReadSegment], example=f'{{"key": "{A_SEGMENT}"}}',
    ),
    Operation(
        "POST", "/jobs/{id}/pairs/{key}/restore", "Take back the last edit, split or join of a segment.", review.restore,
        shapes.SegmentName, list[ReadSegment], example=f'{{"key": "{A_SEGMENT}"}}',
    ),
    Operation("DELETE", "/jobs/{id}/comments/{number}", "Take back a comment of yours.", review.undo_comment, status=204),
    Operation(
        "GET", "/jobs/{id}/search", "Find words, with their counterpart.", review.search, gives=HitList,
        query={**_SEARCH, "sort": "score (the best first), or left or right: by the words before or after.", **_PAGING},
    ),
    Operation("GET", "/jobs/{id}/hits", "All that a search finds, as a file.", _as_file(hits_file), query=_SEARCH | _HITS),
    Operation(
        "GET", "/jobs/{id}/thresholds", "Count the units that thresholds let in, and what each rule takes out.", show_thresholds,
        gives=shapes.ApiSelection, query=_LANGUAGES | dict.fromkeys(allowed.THRESHOLDS, "Instead of the job's own."),
    ),
    Operation(
        "PUT", "/jobs/{id}/thresholds", "Change the thresholds of a job, and write its files again.", keep_thresholds,
        shapes.ThresholdChoice, shapes.KeptThresholds, example='{"min_score": 0.5}', open=True,
    ),
    Operation(
        "GET", "/jobs/{id}/terms", "List bilingual terms with examples.", list_terms, gives=list[TermPair], query=_LANGUAGES
    ),
    Operation("GET", "/jobs/{id}/terms.{style}", "The terms as a file: tsv, csv, tbx.", _as_file(terms_file), query=_LANGUAGES),
    Operation("GET", "/jobs/{id}/export", "The corpus as it is now, as a file.", _as_file(export), query=_EXPORT),
    Operation("GET", "/jobs/{id}/files/{name}", "A file of the corpus as it was written last.", _as_file(file)),
    Operation("GET", "/jobs/{id}/report", "The report, as HTML.", _as_file(report)),
    Operation("GET", "/jobs/{id}/job.toml", "The job file, to repeat the job.", _as_file(job_file)),
    Operation("GET", "/jobs/{id}/aligned", "Two long texts, aligned by a job: TSV.", _as_file(aligned)),
    Operation("GET", "/jobs/{id}/sites", "The sites that a search has judged.", found_sites, gives=list[FoundSite]),
    Operation("GET", "/jobs/{id}/topic", "What a topic job has found.", found_topic, gives=BootstrapSummary),
    Operation(
        "GET", "/jobs/{id}/next", "What a search or a topic job has found, as the body of POST /jobs.", hand_over,
        gives=shapes.NewJob,
    ),
    Operation(
        "POST", "/jobs/{id}/compare", "Compare strategies on the job's archive.", start_comparison, shapes.Comparison,
        shapes.ApiJob, 202, example='{"strategies": ["breadth-first", "adaptive"]}',
    ),
    Operation("GET", "/jobs/{id}/compare", "The result of the comparison.", show_comparison, gives=shapes.Compared),
    Operation(
        "POST", "/tools/align", "Align two texts.", _tool("align"), shapes.TwoTexts, shapes.ToolResult,
        example='{"language_a": "en", "language_b": "fr", "text_a": "One. Two.", "text_b": "Un. Deux."}',
    ),
    Operation(
        "POST", "/tools/clean", "The main text of a page.", _tool("clean"), shapes.PageToClean, shapes.ToolResult,
        example='{"html": "<article><h1>Water</h1><p>The river is long and clear.</p></article>"}',
    ),
    Operation(
        "POST", "/tools/urls", "The languages of pages, by their addresses.", _tool("urls"), shapes.Addresses,
        shapes.ToolResult, example='{"urls": ["https://www.example.org/fr/"]}',
    ),
)  # fmt: skip

_Value = str | float | bool | None
_Listed = Texts | None
_KINDS = {
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "array": "a list of texts",
    "object": "an object",
}

_json = msgspec.json.Encoder(enc_hook=str)


def json_answer(value: object, status: int = 200) -> Response:
    return Response(_json.encode(value), status, media_type=JSON)


def _endpoint(operation: Operation) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        body = await _body(request, operation) if operation.takes is not None else None
        unknown = set(request.query_params) - set(operation.query)
        if unknown:
            raise FieldError({shortened(min(unknown)): "there is no such parameter"})
        answer = await operation.handle(request, body)
        if isinstance(answer, Response):
            return answer
        return Response(status_code=204) if operation.status == 204 else json_answer(answer, operation.status)

    return endpoint


async def _body(request: Request, operation: Operation) -> Any:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise HTTPException(415, f"Send JSON, with the header Content-Type: {JSON}")
    content = await request.body()
    names = [field.name for field in msgspec.structs.fields(operation.takes)]
    try:
        if not operation.open:
            return msgspec.json.decode(content, type=operation.takes)
        body = msgspec.json.decode(content, type=_loose(operation.takes))
        return {name: value for name, value in msgspec.structs.asdict(body).items() if value is not msgspec.UNSET}
    except msgspec.ValidationError as error:
        raise _mistake(str(error), names) from error
    except NO_JSON as error:
        raise HTTPException(400, f"That is not JSON: {error}") from error


@lru_cache(maxsize=8)
def _loose(shape: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Takes what the readers of `allowed` may take, and nothing that would need much memory to be refused."""
    rows = msgspec.structs.fields(shape)
    fields = [(row.name, (_Listed if row.type == Texts else _Value) | msgspec.UnsetType, msgspec.UNSET) for row in rows]
    return msgspec.defstruct(shape.__name__, fields, forbid_unknown_fields=True)


_ROOT_OF_BODY = re.compile(r" - at `\$\.?(\w*).*`$")


def _mistake(error: str, names: list[str]) -> Exception:
    """What msgspec says, as a sentence about the key."""
    if unknown := re.search(r"unknown field `(.*)`", error, re.DOTALL):
        return FieldError({shortened(unknown[1]): allowed.refusal(unknown[1], names)})
    if missing := re.search(r"missing required field `(\w+)`", error):
        return FieldError({missing[1]: "this is missing"})
    place = _ROOT_OF_BODY.search(error)
    if place is None or not place[1]:
        return HTTPException(422, "The body must be an object, as in the example.")
    return FieldError({place[1]: _expected(error)})


def _expected(error: str) -> str:
    if most := re.match(r"Expected `(str|array)` of length <= (\d+)", error):
        return f"give at most {int(most[2]):,} {'characters' if most[1] == 'str' else 'of them'}"
    kinds = re.match(r"Expected `([^`]*)`", error)
    words = [_KINDS[kind] for kind in kinds[1].split(" | ") if kind in _KINDS] if kinds else []
    return (
        "give a single value, not a list or an object"
        if len(words) > 2
        else f"give {' or '.join(words) or 'another value'}"
    )


async def openapi(_request: Request) -> Response:
    return json_answer(description())


@lru_cache(maxsize=1)
def description() -> dict[str, Any]:
    """The whole API, by OpenAPI 3.1."""
    shapes = [*(row.takes for row in OPERATIONS), *(row.gives for row in OPERATIONS), ApiError]
    kinds = [shape for shape in shapes if shape is not None]
    schemas, components = msgspec.json.schema_components(
        kinds, ref_template="#/components/schemas/{name}", schema_hook=lambda _kind: {"type": "string"}
    )
    schema_of = {id(kind): schema for kind, schema in zip(kinds, schemas, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for row in OPERATIONS:
        paths.setdefault(ROOT + row.path, {})[row.method.lower()] = _described(row, schema_of)
    about = {"title": "bitrawl", "version": __version__, "description": "Parallel and domain corpora from the web."}
    return {
        "openapi": "3.1.0",
        "info": about,
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}, {}],
    }


def _described(row: Operation, schema_of: dict[int, Any]) -> dict[str, Any]:
    error = {"description": "What went wrong.", "content": {JSON: {"schema": schema_of[id(ApiError)]}}}
    answer: dict[str, Any] = {"description": row.summary}
    if row.gives is not None:
        answer["content"] = {JSON: {"schema": schema_of[id(row.gives)]}}
    elif row.status == 200:
        answer["content"] = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    names, text = re.findall(r"{(\w+)}", row.path), {"type": "string"}
    in_path = [{"name": name, "in": "path", "required": True, "schema": text} for name in names]
    in_query = [{"name": name, "in": "query", "description": what, "schema": text} for name, what in row.query.items()]
    words = [word for word in re.split(r"[^a-z]+", row.path.replace("{", "").replace("}", "")) if word]
    description: dict[str, Any] = {
        "operationId": "_".join([row.method.lower(), *words]),
        "summary": row.summary,
        "parameters": [*in_path, *in_query],
        "responses": {str(row.status): answer, "4XX": error},
    }
    if row.takes is not None:
        content: dict[str, Any] = {"schema": schema_of[id(row.takes)]}
        if row.example:
            content["example"] = msgspec.json.decode(row.example)
        description["requestBody"] = {"required": True, "content": {JSON: content}}
    return description


ROUTES: list[BaseRoute] = [
    Route("/openapi.json", openapi),
    *(Route(ROOT + row.path, _endpoint(row), methods=[row.method]) for row in OPERATIONS),
]
