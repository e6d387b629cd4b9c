"""The pages from which people take a corpus and its terms."""

import asyncio
from collections.abc import Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bitrawl.config.choices import corpus_formats
from bitrawl.corpus.export import CorpusHeader
from bitrawl.errors import BitrawlError
from bitrawl.web.actions import Server, ShownJob, found_mining, server_of, words_of
from bitrawl.web.corpus_files import (
    begin_terms,
    bilingual_corpora,
    chosen_corpus,
    corpus_files,
    export,
    file,
    filled_corpora,
    job_file,
    report,
    terms_file,
    terms_of,
)
from bitrawl.web.messages import Said, Words, error_said
from bitrawl.web.pages.rendering import load_again, rendered

MOST_SHOWN = 200  # terms; judgement


async def show(request: Request) -> Response:
    job = await found_mining(request)
    words = words_of(request)
    langs = await asyncio.to_thread(lambda: job.folder.job().languages())
    corpus = job.folder.corpus
    return rendered(
        request,
        "download.html",
        job=job,
        tab="/download",
        language_choices=language_choices(words, await asyncio.to_thread(filled_corpora, job, langs)),
        formats=[(name, name.upper()) for name in corpus_formats(len(langs))],
        values={"min_score": "", "format": "tmx" if len(langs) > 1 else "text"},
        files=[(name, words.size(n)) for name, n in await asyncio.to_thread(corpus_files, corpus)],
        has_report=job.folder.report.exists(),
        has_card=(corpus / "card.md").exists(),
    )


async def show_terms(request: Request) -> Response:
    job, server = await found_mining(request), server_of(request)
    headers = await bilingual_corpora(job)
    header = chosen_corpus(request, headers)
    values: dict[str, Any] = {"waiting": False, "problem": Said(""), "terms": ()}
    is_part = bool(request.query_params.get("part"))
    if header is not None and not begin_terms(server, job, header.name):
        if is_part:
            return Response(status_code=304)
        values["waiting"] = True
    elif header is not None and is_part:
        return load_again()
    elif header is not None:
        values |= await _terms(server, job, header.name)
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


async def _terms(server: Server, job: ShownJob, languages: str) -> dict[str, Any]:
    try:
        return {"terms": (await terms_of(server, job, languages))[:MOST_SHOWN]}
    except BitrawlError as error:
        return {"problem": error_said(error)}


def language_choices(words: Words, headers: Iterable[CorpusHeader]) -> list[tuple[str, str]]:
    return [(header.name, " – ".join(words.language(code) for code in header.languages)) for header in headers]


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/download", show),
    Route("/jobs/{id}/export", export),
    Route("/jobs/{id}/files/{name}", file),
    Route("/jobs/{id}/job.toml", job_file),
    Route("/jobs/{id}/report", report),
    Route("/jobs/{id}/terms", show_terms),
    Route("/jobs/{id}/terms.{style}", terms_file),
]
