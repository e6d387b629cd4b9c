"""The bilingual terms of a corpus: a table with examples, and files."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.corpus.naming import CorpusHeader, corpus_headers
from bitrawl.corpus.term_files import TermFormat, TermPair
from bitrawl.errors import BitrawlError
from bitrawl.url import Url
from bitrawl.web.pages.downloads import language_choices
from bitrawl.web.pages.shown import ShownJob, found_mining, load_again
from bitrawl.web.rendering import rendered, words_of
from bitrawl.web.server import Server, server_of
from bitrawl.web.words import Said, error_said

MOST_SHOWN = 200  # judgement
SECONDS = 600.0
TYPES = {"tsv": "text/tab-separated-values", "csv": "text/csv", "tbx": "application/x-tbx"}


async def show(request: Request) -> Response:
    job, server = await found_mining(request), server_of(request)
    headers = await _headers(job)
    header = _chosen(request, headers)
    values: dict[str, Any] = {"waiting": False, "problem": Said(""), "terms": ()}
    if header is not None:
        question = _question(header.name, "jsonl")
        if not server.kept.is_ready(job.folder, question):
            server.kept.begin(job.folder, question, _maker(server, job, header.name, "jsonl"))
            if request.query_params.get("part"):
                return Response(status_code=304)
            values["waiting"] = True
        elif request.query_params.get("part"):
            return load_again()
        else:
            values |= await _found(server, job, header.name)
    return rendered(
        request,
        "terms.html",
        job=job,
        tab="/terms",
        language_choices=language_choices(words_of(request), headers),
        lang_a=header.languages[0] if header else "",
        lang_b=header.languages[1] if header else "",
        **{**values, "values": {"languages": header.name if header else ""}},
    )


async def _found(server: Server, job: ShownJob, languages: str) -> dict[str, Any]:
    try:
        path = await gathered(server, job, languages, "jsonl")
        decode = msgspec.json.Decoder(TermPair, dec_hook=lambda _kind, text: Url.known(text)).decode
        lines = (await asyncio.to_thread(path.read_bytes)).splitlines()
        return {"terms": [decode(line) for line in lines[:MOST_SHOWN]]}
    except BitrawlError as error:
        return {"problem": error_said(error)}


async def file(request: Request) -> Response:
    job = await found_mining(request)
    style = request.path_params["style"]
    header = _chosen(request, await _headers(job))
    if style not in TYPES or header is None:
        raise HTTPException(404)
    path = await gathered(server_of(request), job, header.name, style)
    return FileResponse(path, filename=path.name, media_type=TYPES[style])


async def gathered(server: Server, job: ShownJob, languages: str, style: str) -> Path:
    """The file of terms. Raises `ErrandError` where there are none."""
    folder = await server.kept.made(job.folder, _question(languages, style), _maker(server, job, languages, style))
    return folder / f"terms.{languages}.{style}"


def _maker(server: Server, job: ShownJob, languages: str, style: str) -> Any:
    async def make(draft: Path) -> None:
        asked = [
            f"--languages={languages}",
            f"--format={TermFormat(style)}",
            f"--output={draft}/terms.{languages}.{style}",
        ]
        await server.errands.run(["terms", str(job.folder.path), *asked], seconds=SECONDS)

    return make


def _question(languages: str, style: str) -> list[str]:
    return ["terms", languages, style]


async def _headers(job: ShownJob) -> list[CorpusHeader]:
    langs = await asyncio.to_thread(lambda: job.folder.job().languages())
    return [one for one in corpus_headers(langs, 0.0) if len(one.languages) == 2]


def _chosen(request: Request, headers: Sequence[CorpusHeader]) -> CorpusHeader | None:
    asked = request.query_params.get("languages")
    return next((one for one in headers if one.name == asked), headers[0] if headers else None)


ROUTES: list[BaseRoute] = [Route("/jobs/{id}/terms", show), Route("/jobs/{id}/terms.{style}", file)]
