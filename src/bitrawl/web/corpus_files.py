"""Files that pages and the API hand out: the corpus in any format, its files, its terms, the report, the job file."""

import asyncio
import os
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from bitrawl import config
from bitrawl.corpus import (
    FORMATS,
    PLAIN,
    Anonymise,
    Anonymiser,
    CorpusHeader,
    TermFormat,
    TermPair,
    plain,
    tmx_text,
)
from bitrawl.errors import ConfigError
from bitrawl.file_names import CARD
from bitrawl.files import cell
from bitrawl.job import OpenedJob
from bitrawl.model import Language, TranslationUnit, Verdict
from bitrawl.review import FoundSegment, SearchQuery
from bitrawl.text.words import one_line
from bitrawl.url import Url
from bitrawl.web.actions import find_job, find_mining_job, server_of
from bitrawl.web.commands import Make
from bitrawl.web.fields import SHARE, Fields, flag, one_of, search_query
from bitrawl.web.job_list import ALIGNED, ServedJob
from bitrawl.web.messages import RequestError, message, quoted
from bitrawl.web.security import REPORT_POLICY

SECONDS = 900.0  # for writing an export
TERM_SECONDS = 600.0
TYPES = {".tmx": "application/x-tmx+xml", ".jsonl": "application/jsonl", ".tsv": "text/tab-separated-values"}
TERM_TYPES = {"tsv": "text/tab-separated-values", "csv": "text/csv", "tbx": "application/x-tbx"}


class StoredFile(FileResponse):
    """A file that may be removed, or be written again, while somebody asks for it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with _still_there():
            self.stat_result = await asyncio.to_thread(os.stat, self.path)
        self.set_stat_headers(self.stat_result)
        await super().__call__(scope, receive, send)


@contextmanager
def _still_there() -> Iterator[None]:
    """Says so if a file that was there a moment ago is gone."""
    try:
        yield
    except FileNotFoundError as error:
        raise RequestError(404, message("This file is not there any more. Open the page again.")) from error


def filled_corpora(job: ServedJob, langs: Sequence[Language]) -> list[CorpusHeader]:
    """The corpora for which something was found; all of them if nothing was."""
    headers, counts = CorpusHeader.of(langs), OpenedJob(job.folder.path).found()
    return [header for header in headers if header.name in counts] or headers


def corpus_files(corpus: Path) -> list[tuple[str, int]]:
    try:
        return sorted((path.name, path.stat().st_size) for path in corpus.iterdir() if path.is_file())
    except OSError:
        return []


async def export(request: Request) -> Response:
    """One corpus in one format, with the thresholds asked for, as it is now."""
    job, query = await find_mining_job(request), request.query_params
    langs = await asyncio.to_thread(lambda: job.folder.job().languages())
    header = next((header for header in CorpusHeader.of(langs) if header.name == query.get("languages")), None)
    header = header or (await asyncio.to_thread(filled_corpora, job, langs))[0]
    fields = Fields({"format": "tmx", **query})
    name, score = fields.read("format", one_of(FORMATS.ready(len(langs))), ""), fields.read("min_score", SHARE, None)
    how = fields.read("anonymise", one_of(Anonymise), None)  # what the job does, if nothing is said
    accepted = fields.read("accepted_only", flag, usual=False)
    fields.check()
    flags = [f"--formats={name}", "--only", *([f"--min-score={score}"] if score is not None else [])]
    flags += [f"--anonymise={how}"] if how else []
    flags += ["--accepted-only"] if accepted else []
    make = _maker(request, SECONDS, lambda draft: ["export", str(job.folder.path), "--to", str(draft), *flags])
    folder = await server_of(request).exports.get(job.folder, ["export", *flags], make)
    with _still_there():
        path = await asyncio.to_thread(_one_file, folder, header.name)
    called = f"{header.name}.{name}.zip" if path.suffix == ".zip" else path.name  # several formats have several files
    return StoredFile(path, filename=f"{_safe(job.name)}.{called}", media_type=_type(path))


def _maker(request: Request, seconds: float, command: Callable[[Path], list[str]]) -> Make:
    """Runs the command that writes into a folder, for who asks."""
    server, person = server_of(request), request.state.user.name

    async def make(draft: Path) -> None:
        await server.commands.run(command(draft), person=person, seconds=seconds)

    return make


def _one_file(folder: Path, corpus: str) -> Path:
    """The file of that corpus, or a zip file of its files."""
    flat = [path for path in sorted(folder.iterdir()) if path.name.startswith(f"{corpus}.") and path.suffix != ".zip"]
    deep = sorted(path for path in (folder / "xces" / corpus).rglob("*") if path.is_file())
    if len(flat) == 1 and not deep:
        return flat[0]
    if not flat and not deep:
        raise RequestError(404, message("Nothing was found in these languages."))
    packed = folder / f"{corpus}.zip"
    if not packed.exists():
        draft = packed.with_suffix(".draft")
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in [*flat, *deep]:
                archive.write(path, path.relative_to(folder))
        draft.rename(packed)
    return packed


async def file(request: Request) -> Response:
    """A file of corpus/, as the job wrote it last."""
    job, name = await find_mining_job(request), request.path_params["name"]
    if name not in dict(await asyncio.to_thread(corpus_files, job.folder.corpus)):
        raise HTTPException(404)
    path = job.folder.corpus / name
    if name == CARD:
        return StoredFile(path, media_type="text/plain; charset=utf-8")
    return StoredFile(path, filename=f"{_safe(job.name)}.{name}", media_type=_type(path))


async def hits_file(request: Request) -> Response:
    """All that a search finds, while it is found."""
    job, values = await find_mining_job(request), dict(request.query_params)
    style, query = Fields(values).read_one("format", one_of(_HIT_FILES), "tsv"), search_query(values)
    await server_of(request).indexing.is_fresh(job.folder, request.state.user.name)
    review = job.review()
    hits = _public(review.hits(query), (await asyncio.to_thread(job.folder.job)).export.anonymise)
    first = await asyncio.to_thread(lambda: list(islice(hits, 1)))  # A query that cannot be read is refused here.
    headers = {"Content-Disposition": f'attachment; filename="hits.{style}"'}
    lines = _HIT_FILES[style](chain(first, hits), query)
    return StreamingResponse(lines, headers=headers, media_type=f"{TYPES['.' + style]}; charset=utf-8")


def _public(hits: Iterable[FoundSegment], anonymise: Anonymise) -> Iterator[FoundSegment]:
    """As the corpus of the job has them, if it is written without personal data."""
    hide = Anonymiser(anonymise)
    for hit in hits:
        segment = hide.public(hit.segment, (hit.pair.row.lang_a, hit.pair.row.lang_b))
        if segment is not None:
            yield hit._replace(segment=segment)


def _tsv_hits(hits: Iterable[FoundSegment], _query: SearchQuery) -> Iterator[str]:
    yield "\t".join(("lang_a", "lang_b", *PLAIN, "verdict")) + "\n"
    for hit in hits:
        languages = hit.pair.row.lang_a, hit.pair.row.lang_b
        values = plain(TranslationUnit.alone(hit.segment), CorpusHeader(languages, 0.0)).values()
        yield "\t".join(cell(one_line(value)) for value in (*languages, *values, hit.verdict or "")) + "\n"


def _tmx_hits(hits: Iterable[FoundSegment], query: SearchQuery) -> Iterator[str]:
    """What was rejected stays out of every translation memory."""
    now = time.time()
    units = (
        (CorpusHeader((hit.pair.row.lang_a, hit.pair.row.lang_b), now), TranslationUnit.alone(hit.segment))
        for hit in hits
        if hit.verdict is not Verdict.REJECT
    )
    yield from tmx_text(units, CorpusHeader(tuple(query.languages or ()), now))


_HIT_FILES = {"tsv": _tsv_hits, "tmx": _tmx_hits}


async def aligned(request: Request) -> Response:
    """What a job has made of two texts."""
    job = await find_job(request)
    path = job.folder.path / ALIGNED / "1.tsv"
    if job.kind != "align" or not path.exists():
        raise RequestError(404, message("Nothing is aligned here yet."))
    return FileResponse(path, filename=f"{_safe(job.name)}.tsv", media_type=_type(path))


async def job_file(request: Request) -> Response:
    """The job's description, without what is a secret of its operator."""
    job = await find_mining_job(request)
    try:
        text = config.public_text_of(await asyncio.to_thread(job.folder.job))
    except ConfigError as error:
        raise RequestError(404, quoted(str(error))) from error
    headers = {"Content-Disposition": 'attachment; filename="job.toml"'}
    return Response(text, headers=headers, media_type="application/toml")


async def report(request: Request) -> Response:
    """Text from the web is in it: it may run nothing, send nothing and read nothing of this app."""
    path = (await find_mining_job(request)).folder.report
    if not path.exists():
        raise RequestError(404, message("There is no report yet. It is written with the corpus."))
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return StoredFile(path, media_type="text/html; charset=utf-8", headers=headers)


def _type(path: Path) -> str:
    return TYPES.get(path.suffix, "application/octet-stream")


def _safe(name: str) -> str:
    """As part of a file name."""
    letters = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
    return letters[:60].strip("._") or "corpus"


async def terms_file(request: Request) -> Response:
    job, style = await find_mining_job(request), request.path_params["style"]
    header = chosen_corpus(request, await bilingual_corpora(job))
    if style not in TERM_TYPES or header is None:
        raise HTTPException(404)
    path = await _gathered_terms(request, job, header.name, style)
    return StoredFile(path, filename=path.name, media_type=TERM_TYPES[style])


async def bilingual_corpora(job: ServedJob) -> list[CorpusHeader]:
    langs = await asyncio.to_thread(lambda: job.folder.job().languages())
    return [header for header in CorpusHeader.of(langs) if len(header.languages) == 2]


def chosen_corpus(request: Request, headers: Sequence[CorpusHeader]) -> CorpusHeader | None:
    """The one that the address asks for, or else the first."""
    name = request.query_params.get("languages")
    return next((header for header in headers if header.name == name), headers[0] if headers else None)


def begin_terms(request: Request, job: ServedJob, languages: str) -> bool:
    """Whether the terms are gathered already; if not, that begins."""
    server, question = server_of(request), ["terms", languages, "jsonl"]
    if server.exports.is_ready(job.folder, question):
        return True
    server.exports.begin(job.folder, question, _term_maker(request, job, languages, "jsonl"))
    return False


async def terms_of(request: Request, job: ServedJob, languages: str) -> list[TermPair]:
    """Raises `CommandError` where nothing was mined yet."""
    path = await _gathered_terms(request, job, languages, "jsonl")
    decode = msgspec.json.Decoder(TermPair, dec_hook=lambda _kind, text: Url.known(text)).decode
    with _still_there():
        return [decode(line) for line in (await asyncio.to_thread(path.read_bytes)).splitlines()]


async def _gathered_terms(request: Request, job: ServedJob, languages: str, style: str) -> Path:
    make = _term_maker(request, job, languages, style)
    folder = await server_of(request).exports.get(job.folder, ["terms", languages, style], make)
    return folder / f"terms.{languages}.{style}"


def _term_maker(request: Request, job: ServedJob, languages: str, style: str) -> Make:
    command = ["terms", str(job.folder.path), f"--languages={languages}", f"--format={TermFormat(style)}"]
    name = f"terms.{languages}.{style}"
    return _maker(request, TERM_SECONDS, lambda draft: [*command, f"--output={draft / name}"])
