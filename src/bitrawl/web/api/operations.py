"""The operations of the API, as one table."""

import asyncio
import csv
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from bitrawl.config import fitting
from bitrawl.corpus.term_pairs import TermPair
from bitrawl.errors import ConfigError
from bitrawl.facts import State
from bitrawl.job.bootstrap import Summary, read_found
from bitrawl.job.reading import Reading, ReadPair
from bitrawl.job.reading_index import Side
from bitrawl.web import actions, allowed
from bitrawl.web.actions import FoundSite, ShownJob, find, found_mining, glance, looked_at, number_in, shown
from bitrawl.web.api import shapes
from bitrawl.web.corpus_files import bilingual_corpora, export, file, job_file, report, terms_file, terms_of
from bitrawl.web.server import Server, server_of
from bitrawl.web.state import SIMULATED
from bitrawl.web.text_tools import USES, MissingError

ROOT = "/api/v1"
MOST_ROWS = 500  # of one answer; judgement
PATIENCE = 60.0  # seconds that a program waits for a new index; judgement

Body = Any
Handle = Callable[[Request, Body], Awaitable[Any]]

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
    server = server_of(request)

    def listed() -> list[shapes.ApiJob]:
        return [_job(server, shown(one)) for one in server.shelf.of(request.state.user)]

    return await server.supervised(listed)


def _job(server: Server, one: ShownJob) -> shapes.ApiJob:
    state, _ = glance(server, one)
    created = one.shelved.intent.created if one.shelved.intent else 0.0
    return shapes.ApiJob(
        id=one.id,
        name=one.name,
        kind=one.kind,
        state=state.state,
        said=str(state.said),
        created=created,
        doing=str(state.doing or ""),
    )


async def show_job(request: Request, _body: Body) -> shapes.ApiJobFigures:
    one = await find(request)
    _, figures = await looked_at(request, one)
    about = await server_of(request).supervised(_job, server_of(request), one)
    return shapes.ApiJobFigures(figures=figures, **msgspec.structs.asdict(about))


async def start_job(request: Request, body: Body) -> shapes.ApiJob:
    return await _start(request, allowed.mining, body)


async def start_search(request: Request, body: Body) -> shapes.ApiJob:
    return await _start(request, allowed.discovery, body)


async def start_topic(request: Request, body: Body) -> shapes.ApiJob:
    return await _start(request, allowed.bootstrapping, body)


async def _start(request: Request, ask: Callable[..., Any], body: Body) -> shapes.ApiJob:
    server = server_of(request)
    asked = await asyncio.to_thread(ask, body, server.settings)
    job_id = await server.supervised(server.supervisor.create, request.state.user, asked.prepare, name=asked.name)
    return await server.supervised(_job, server, await find(request, job_id))


async def delete_job(request: Request, _body: Body) -> None:
    await actions.carry_out(server_of(request), await find(request), "delete")


def _acting(action: str) -> Handle:
    async def handle(request: Request, _body: Body) -> shapes.ApiJob:
        one = await find(request)
        await actions.carry_out(server_of(request), one, action)
        return await server_of(request).supervised(_job, server_of(request), await find(request, one.id))

    return handle


async def list_pairs(request: Request, _body: Body) -> shapes.ApiPairs:
    one = await found_mining(request)
    await server_of(request).indexing.is_fresh(one.folder, wait=PATIENCE)
    values = dict(request.query_params)
    offset, limit = number_in(values, "offset"), _limit(values)
    found = await asyncio.to_thread(Reading(one.folder).pairs, actions.wanted_pairs(values, offset, limit))
    return shapes.ApiPairs(found.pairs, found.total)


async def read_pair(request: Request, _body: Body) -> ReadPair:
    one = await found_mining(request)
    await server_of(request).indexing.is_fresh(one.folder, wait=PATIENCE)
    found = await asyncio.to_thread(Reading(one.folder).pair, request.path_params["key"])
    if found is None:
        raise HTTPException(404, "There is no such pair of pages.")
    return found


async def give_verdict(request: Request, body: shapes.ApiVerdict) -> None:
    one = await found_mining(request)
    await actions.give_verdict(one, body.kind, body.key, body.within, body.verdict, request.state.user.name)


async def search(request: Request, _body: Body) -> shapes.ApiHits:
    one = await found_mining(request)
    await server_of(request).indexing.is_fresh(one.folder, wait=PATIENCE)
    values = dict(request.query_params)
    offset, limit = number_in(values, "offset"), _limit(values)
    side = Side(values["side"]) if values.get("side") in set(Side) else Side.BOTH
    both = actions.two_languages(values.get("languages", ""))
    phrase = values.get("q", "")
    found = await asyncio.to_thread(lambda: Reading(one.folder).search(phrase, side, both, offset=offset, limit=limit))
    return shapes.ApiHits(found.hits, found.total, found.is_cut)


def _limit(values: dict[str, str]) -> int:
    return min(number_in(values, "limit") or 50, MOST_ROWS)


async def list_terms(request: Request, _body: Body) -> list[TermPair]:
    one = await found_mining(request)
    names = [header.name for header in await bilingual_corpora(one)]
    asked = request.query_params.get("languages") or next(iter(names), "")
    if asked not in names:
        raise HTTPException(422, f"languages is one of: {', '.join(names)}")
    return await terms_of(server_of(request), one, asked)


def _as_file(handle: Callable[[Request], Awaitable[Response]]) -> Handle:
    """A file, just as the page gives it."""

    async def answered(request: Request, _body: Body) -> Response:
        return await handle(request)

    return answered


async def found_sites(request: Request, _body: Body) -> list[FoundSite]:
    return await asyncio.to_thread(actions.found_sites, await find(request))


async def found_topic(request: Request, _body: Body) -> Summary:
    found = await asyncio.to_thread(read_found, (await find(request)).folder.path)
    if found is None:
        raise HTTPException(404, "This job is no topic, or it has not ended yet.")
    return found


async def hand_over(request: Request, _body: Body) -> shapes.NewJob:
    try:
        found = await asyncio.to_thread(allowed.handed_over, (await find(request)).folder)
    except ConfigError as error:
        raise HTTPException(404, "This job is no search and no topic, or it has found nothing yet.") from error
    return shapes.NewJob(
        languages=found["languages"].split(", "),
        seeds=found["seeds"].splitlines(),
        contact=found.get("contact", ""),
        terms=found.get("terms", ""),
        hub="hub" in found,
    )


async def start_comparison(request: Request, body: shapes.Comparison) -> shapes.ApiJob:
    one = await found_mining(request)
    await actions.compare(server_of(request), one, body.strategies)
    return await server_of(request).supervised(_job, server_of(request), await find(request, one.id))


async def show_comparison(request: Request, _body: Body) -> shapes.Compared:
    one = await found_mining(request)
    state, _ = await looked_at(request, one)
    running = state.is_active or state.state is State.WAITING
    return shapes.Compared(running, await asyncio.to_thread(_rows, one))


def _rows(one: ShownJob) -> list[dict[str, str]]:
    try:
        with (one.folder.path / SIMULATED / "simulate.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except OSError:
        return []


def _tool(name: str) -> Handle:
    async def handle(request: Request, body: Any) -> shapes.ToolResult:
        values = {key: "\n".join(value) if isinstance(value, list) else value for key, value in _fields(body).items()}
        try:
            found = await USES[name](request, values)
        except MissingError as missing:
            raise HTTPException(422, f"{missing.field} is missing") from missing
        return shapes.ToolResult([row.cells for row in found.rows], found.text)

    return handle


def _fields(body: Any) -> dict[str, Any]:
    return msgspec.structs.asdict(body)


_EXPORT = {
    **_LANGUAGES,
    "format": f"{', '.join(fitting(2))}; for one language {', '.join(fitting(1))}.",
    "min_score": "Only segments that score at least this, from 0 to 1.",
    "accepted_only": "true: only what people have accepted.",
}

OPERATIONS = (
    Operation("GET", "/jobs", "List your jobs.", list_jobs, gives=list[shapes.ApiJob]),
    Operation(
        "POST", "/jobs", "Mine a corpus.", start_job, shapes.NewJob, shapes.ApiJob, 201, open=True,
        example='{"seeds": ["https://www.example.org/"], "languages": ["en", "fr"], "contact": "you@example.org"}',
    ),
    Operation(
        "POST", "/searches", "Search for bilingual sites.", start_search, shapes.NewSearch, shapes.ApiJob, 201, open=True,
        example='{"seeds": ["https://www.example.org/"], "languages": ["en", "fr"], "downloads": 500}',
    ),
    Operation(
        "POST", "/topics", "Gather terms and sites of a subject.", start_topic, shapes.NewTopic, shapes.ApiJob, 201,
        open=True, example='{"category": "Renewable energy", "languages": ["en", "fr"], "contact": "you@example.org"}',
    ),
    Operation("GET", "/jobs/{id}", "Show a job with its figures.", show_job, gives=shapes.ApiJobFigures),
    Operation("DELETE", "/jobs/{id}", "Delete a job and all that it has found.", delete_job, status=204),
    *(
        Operation("POST", f"/jobs/{{id}}/{action}", said, _acting(action), gives=shapes.ApiJob)
        for action, said in {
            "pause": "Finish what is in flight, then pause.",
            "resume": "Go on.",
            "stop": "Stop, and mine what is there.",
            "stop-now": "Stop at once. Nothing is lost.",
            "exhaustive": "Go on, and visit all of the site.",
        }.items()
    ),
    Operation(
        "GET", "/jobs/{id}/pairs", "List pairs of pages.", list_pairs, gives=shapes.ApiPairs,
        query={
            **_LANGUAGES,
            "text": "In an address or a title.",
            "method": "The letter of a kind of evidence.",
            "verdict": "none, accept or reject.",
            "sort": f"One of {', '.join(actions.SORTS)}.",
            **_PAGING,
        },
    ),
    Operation("GET", "/jobs/{id}/pairs/{key}", "Read two pages, segment by segment.", read_pair, gives=ReadPair),
    Operation(
        "POST", "/jobs/{id}/verdicts", "Accept or reject, or take it back.", give_verdict, shapes.ApiVerdict, status=204,
        example='{"kind": "pair", "key": "0123456789abcdef", "verdict": "reject"}',
    ),
    Operation(
        "GET", "/jobs/{id}/search", "Find a phrase, with its counterpart.", search, gives=shapes.ApiHits,
        query={"q": "The phrase.", "side": "a, b or both.", **_LANGUAGES, **_PAGING},
    ),
    Operation(
        "GET", "/jobs/{id}/terms", "List bilingual terms with examples.", list_terms, gives=list[TermPair], query=_LANGUAGES
    ),
    Operation("GET", "/jobs/{id}/terms.{style}", "The terms as a file: tsv, csv, tbx.", _as_file(terms_file), query=_LANGUAGES),
    Operation("GET", "/jobs/{id}/export", "The corpus as it is now, as a file.", _as_file(export), query=_EXPORT),
    Operation("GET", "/jobs/{id}/files/{name}", "A file of the corpus as it was written last.", _as_file(file)),
    Operation("GET", "/jobs/{id}/report", "The report, as HTML.", _as_file(report)),
    Operation("GET", "/jobs/{id}/job.toml", "The job file, to repeat the job.", _as_file(job_file)),
    Operation("GET", "/jobs/{id}/sites", "The sites that a search has judged.", found_sites, gives=list[FoundSite]),
    Operation("GET", "/jobs/{id}/topic", "What a topic job has found.", found_topic, gives=Summary),
    Operation(
        "GET", "/jobs/{id}/next", "What a search or a topic job has found, as the body of POST /jobs.", hand_over,
        gives=shapes.NewJob,
    ),
    Operation(
        "POST", "/jobs/{id}/compare", "Compare strategies on the job's archive.", start_comparison, shapes.Comparison,
        shapes.ApiJob, 202, example='{"strategies": ["breadth-first", "adaptive"]}',
    ),
    Operation("GET", "/jobs/{id}/compare", "What came of the comparison.", show_comparison, gives=shapes.Compared),
    Operation(
        "POST", "/tools/align", "Align two texts.", _tool("align"), shapes.TwoTexts, shapes.ToolResult,
        example='{"language_a": "en", "language_b": "fr", "text_a": "One. Two.", "text_b": "Un. Deux."}',
    ),
    Operation(
        "POST", "/tools/clean", "The main text of a page.", _tool("clean"), shapes.PageToClean, shapes.ToolResult,
        example='{"url": "https://www.example.org/"}',
    ),
    Operation(
        "POST", "/tools/urls", "The languages of pages, by their addresses.", _tool("urls"), shapes.Addresses,
        shapes.ToolResult, example='{"urls": ["https://www.example.org/fr/"]}',
    ),
)  # fmt: skip
