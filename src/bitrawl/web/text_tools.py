"""What needs no job: align two texts, clean a page, tell the language of addresses."""

import csv
import io
import tempfile
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request

from bitrawl.errors import FieldError
from bitrawl.url import Url
from bitrawl.web.actions import server_of, start_job, words_of
from bitrawl.web.allowed import AlignRequest
from bitrawl.web.messages import message, typed_languages

MOST_SHORT = 100_000  # characters of two texts that are aligned while their reader waits; longer ones are a job


class ToolRow(NamedTuple):
    """A row of a table; each cell may have a language."""

    cells: tuple[str, ...]
    languages: tuple[str, ...]


class Result(NamedTuple):
    heads: tuple[str, ...] = ()
    rows: tuple[ToolRow, ...] = ()
    text: str = ""
    job: str = ""  # the id of the job that does it, where it takes long


def _value(values: dict[str, str], field: str) -> str:
    if not values.get(field, "").strip():
        raise FieldError({field: message("Fill this in.")})
    return values[field]


def _language(values: dict[str, str], field: str) -> str:
    codes = typed_languages(_value(values, field))
    if len(codes) != 1:
        raise FieldError({field: message("Fill this in.")})
    return codes[0]


async def _align(request: Request, values: dict[str, str]) -> Result:
    codes = (_language(values, "language_a"), _language(values, "language_b"))
    texts = (_value(values, "text_a"), _value(values, "text_b"))
    if sum(map(len, texts)) > MOST_SHORT:
        return Result(job=await start_job(request, AlignRequest(codes, texts)))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("a.txt", "b.txt")]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, "utf-8", "replace")
        command = ["align", *map(str, paths), "--langs", ",".join(codes), "--format", "tsv"]
        output = await server_of(request).commands.run(command, person=request.state.user.name)
    lines = csv.reader(io.StringIO(output), delimiter="\t", quoting=csv.QUOTE_NONE)
    rows = tuple(ToolRow(tuple(line[:3]), (*codes, "")) for line in lines if len(line) >= 3)
    words = words_of(request)
    return Result((words.language(codes[0]), words.language(codes[1]), words.say("Score")), rows)


async def _clean(request: Request, values: dict[str, str]) -> Result:
    server, person = server_of(request), request.state.user.name
    if html := values.get("html", "").strip():
        return Result(text=await server.commands.run(["clean", "-"], html.encode("utf-8", "replace"), person=person))
    address = _value(values, "url").strip()
    url = Url.parse(address if "://" in address else f"https://{address}")  # no file name, and no flag
    private = ["--allow-private"] if server.settings.job.get("fetch", {}).get("allow_private", False) else []
    return Result(text=await server.commands.run(["clean", str(url), *private], person=person))


async def _urls(request: Request, values: dict[str, str]) -> Result:
    urls = _value(values, "urls").encode("utf-8", "replace")
    codes = ",".join(typed_languages(values.get("langs", "")))
    command = ["urls", "language", *(["--langs", codes] if codes else [])]
    output = await server_of(request).commands.run(command, urls, person=request.state.user.name)
    words = words_of(request)
    rows = []
    for line in output.splitlines():
        url, code, probability = (*line.split("\t"), "", "")[:3]
        name = words.language(code) if code != "und" else words.say("not identified")
        rows.append(ToolRow((url, name, probability), ("", "", "")))
    return Result((words.say("Address"), words.say("Language"), words.say("Probability")), tuple(rows))


TOOLS = {"align": _align, "clean": _clean, "urls": _urls}
