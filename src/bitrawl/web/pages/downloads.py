"""The pages from which people take a corpus and its terms."""

import asyncio
from collections.abc import Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.corpus import FORMATS, Anonymise, CorpusFolder, CorpusHeader
from bitrawl.errors import BitrawlError
from bitrawl.job import OpenedJob
from bitrawl.web import corpus_files
from bitrawl.web.actions import find_mining_job, server_of, words_of
from bitrawl.web.messages import Message, Words, message_of
from bitrawl.web.pages.rendering import corpus_names, fragment, load_again, rendered
from bitrawl.web.security import posted

MOST_TERMS_SHOWN = 200


async def show(request: Request) -> Response:
    """With what is listed marked if it does not follow the verdicts: then a button writes it again."""
    job, words, writing = await find_mining_job(request), words_of(request), server_of(request).writing
    is_old = await asyncio.to_thread(OpenedJob(job.folder.path).is_stale)
    is_busy = is_old and (writing.is_busy(job.folder) or job.folder.is_running)
    if request.query_params.get("part"):
        return Response(status_code=304) if is_busy else load_again()
    fault = writing.fault(job.folder) if is_old else None
    review = job.review()
    described = await asyncio.to_thread(job.folder.job)
    langs, corpus = described.languages(), job.folder.corpus
    return rendered(
        request,
        "download.html",
        job=job,
        tab="/download",
        language_choices=_choices(words, await asyncio.to_thread(corpus_files.filled_corpora, job, langs)),
        formats=[(name, name.upper()) for name in FORMATS.ready(len(langs))],
        values={
            "min_score": "",
            "format": "tmx" if len(langs) > 1 else "text",
            "anonymise": Anonymise.DROP if described.export.anonymise is Anonymise.DROP else Anonymise.REPLACE,
        },
        files=[(name, words.size(n)) for name, n in await asyncio.to_thread(corpus_files.corpus_files, corpus)],
        conflicts=await asyncio.to_thread(review.verdicts.conflict_count),
        min_score=described.judge.score if len(langs) > 1 else None,
        is_old=is_old,
        is_busy=is_busy,
        problem=message_of(fault) if fault else Message(""),
        has_report=job.folder.report.exists(),
        card=CorpusFolder(corpus).card,
    )


async def show_report(request: Request) -> Response:
    """The report as it is on the disk, below a way back. The header, which lets it run nothing, stays."""
    job, answer = await find_mining_job(request), await corpus_files.report(request)
    text = await asyncio.to_thread(job.folder.report.read_text, "utf-8")
    way_back = fragment(request, "way_back.html", job=job)
    policy = {"Content-Security-Policy": answer.headers["content-security-policy"]}
    return HTMLResponse(text.replace("<body><main>", f"<body><main>{way_back}", 1), headers=policy)


async def write_again(request: Request) -> Response:
    await posted(request)
    job = await find_mining_job(request)
    server_of(request).writing.begin(job.folder, person=request.state.user.name)
    return RedirectResponse(f"/jobs/{job.id}/download", 303)


async def show_terms(request: Request) -> Response:
    job = await find_mining_job(request)
    headers = await corpus_files.bilingual_corpora(job)
    header = corpus_files.chosen_corpus(request, headers)
    values: dict[str, Any] = {"waiting": False, "problem": Message(""), "terms": ()}
    is_part = bool(request.query_params.get("part"))
    if header is not None and not corpus_files.begin_terms(request, job, header.name):
        if is_part:
            return Response(status_code=304)
        values["waiting"] = True
    elif header is not None and is_part:
        return load_again()
    elif header is not None:
        try:
            values["terms"] = (await corpus_files.terms_of(request, job, header.name))[:MOST_TERMS_SHOWN]
        except BitrawlError as error:
            values["problem"] = message_of(error)
    values |= {"lang_a": header.languages[0], "lang_b": header.languages[1]} if header else {"lang_a": "", "lang_b": ""}
    values |= {"job": job, "tab": "/terms", "values": {"languages": header.name if header else ""}}
    return rendered(request, "terms.html", language_choices=_choices(words_of(request), headers), **values)


def _choices(words: Words, headers: Iterable[CorpusHeader]) -> list[tuple[str, str]]:
    return corpus_names(words, ((header.name, header.languages) for header in headers))


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/download", show),
    Route("/jobs/{id}/files", write_again, methods=["POST"]),
    Route("/jobs/{id}/export", corpus_files.export),
    Route("/jobs/{id}/files/{name}", corpus_files.file),
    Route("/jobs/{id}/job.toml", corpus_files.job_file),
    Route("/jobs/{id}/report", show_report),
    Route("/jobs/{id}/terms", show_terms),
    Route("/jobs/{id}/terms.{style}", corpus_files.terms_file),
]
