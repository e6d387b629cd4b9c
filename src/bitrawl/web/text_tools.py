"""What needs no job: align two texts, clean a page, tell the language of addresses."""

import csv
import io
import tempfile
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request

from bitrawl.url import Url
from bitrawl.web.actions import words_of
from bitrawl.web.commands import Errands
from bitrawl.web.messages import typed_languages


class Row(NamedTuple):
    """Of a table; each cell may have a language."""

    cells: tuple[str, ...]
    languages: tuple[str, ...]


class Result(NamedTuple):
    heads: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    text: str = ""


class MissingError(Exception):
    """A field that must be filled in."""

    def __init__(self, field: str) -> None:
        self.field = field


def _given(values: dict[str, str], field: str) -> str:
    if not values.get(field, "").strip():
        raise MissingError(field)
    return values[field]


def _language(values: dict[str, str], field: str) -> str:
    codes = typed_languages(_given(values, field))
    if len(codes) != 1:
        raise MissingError(field)
    return codes[0]


async def _align(request: Request, values: dict[str, str]) -> Result:
    codes = tuple(_language(values, name) for name in ("language_a", "language_b"))
    texts = [_given(values, name) for name in ("text_a", "text_b")]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("a.txt", "b.txt")]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, "utf-8", "replace")
        found = await _errands(request).run(["align", *map(str, paths), "--langs", ",".join(codes), "--format", "tsv"])
    lines = list(csv.reader(io.StringIO(found), delimiter="\t", quoting=csv.QUOTE_NONE))
    spoken = words_of(request)
    rows = tuple(Row(tuple(line[:3]), (*codes, "")) for line in lines if len(line) >= 3)
    return Result((spoken.language(codes[0]), spoken.language(codes[1]), spoken.say("Score")), rows)


async def _clean(request: Request, values: dict[str, str]) -> Result:
    if html := values.get("html", "").strip():
        return Result(text=await _errands(request).run(["clean", "-"], html.encode("utf-8", "replace")))
    given = _given(values, "url").strip()
    url = Url.parse(given if "://" in given else f"https://{given}")  # no file name, and no flag
    return Result(text=await _errands(request).run(["clean", str(url), *_private(request)]))


def _private(request: Request) -> list[str]:
    """Whether the operator lets jobs visit private addresses."""
    allowed = request.app.state.server.settings.job.get("fetch", {}).get("allow_private", False)
    return ["--allow-private"] if allowed else []


async def _urls(request: Request, values: dict[str, str]) -> Result:
    urls = _given(values, "urls")
    codes = ",".join(typed_languages(values.get("langs", "")))
    chosen = ["--langs", codes] if codes else []
    found = await _errands(request).run(["urls", "language", *chosen], urls.encode("utf-8", "replace"))
    spoken = words_of(request)
    rows = []
    for line in found.splitlines():
        url, code, probability = (*line.split("\t"), "", "")[:3]
        named = spoken.language(code) if code != "und" else spoken.say("not told")
        rows.append(Row((url, named, probability), ("", "", "")))
    return Result((spoken.say("Address"), spoken.say("Language"), spoken.say("Probability")), tuple(rows))


USES = {"align": _align, "clean": _clean, "urls": _urls}


def _errands(request: Request) -> Errands:
    errands: Errands = request.app.state.server.errands
    return errands
