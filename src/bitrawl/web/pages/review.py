"""Reading what was found: the pairs of pages, two pages side by side, verdicts, and a phrase in context."""

import asyncio
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.job.reviewing import Hit, ListedPair, Mark, Reading, ReadPair, ReadSegment, SearchedSide
from bitrawl.job.verdicts import SubjectKind
from bitrawl.model import Verdict
from bitrawl.web.actions import (
    SORTS,
    ShownJob,
    found_mining,
    give_verdict,
    number_in,
    server_of,
    two_languages,
    wanted_pairs,
    words_of,
)
from bitrawl.web.messages import METHODS, RequestError, Words, marked, said
from bitrawl.web.pages.rendering import fragment, load_again, rendered
from bitrawl.web.security import posted

PAIRS = 50  # on one page of the list
SEGMENTS = 200  # on one page of two texts: more makes a browser slow
HITS = 20

VERDICTS = {Verdict.ACCEPT: marked("accepted"), Verdict.REJECT: marked("rejected")}


class Fresh(NamedTuple):
    """Whether the list has all that was mined."""

    ready: bool


class ShownPair(NamedTuple):
    key: str
    lang_a: str
    lang_b: str
    url_a: str
    url_b: str
    title_a: str
    title_b: str
    score: float
    segments: int
    methods: str
    partial: bool
    verdict: str

    @classmethod
    def of(cls, one: ListedPair) -> "ShownPair":
        row = one.row
        texts = (row.key, row.lang_a, row.lang_b, row.url_a, row.url_b, row.title_a, row.title_b)
        return cls(*texts, row.score, row.segments, row.methods, row.partial, str(one.verdict or ""))


class ShownSegment(NamedTuple):
    key: str
    text_a: str
    text_b: str
    score: float
    type: str
    flags: tuple[str, ...]
    verdict: str
    left_out: bool  # the thresholds keep it out of the corpus, unless somebody accepts it

    @classmethod
    def of(cls, one: ReadSegment) -> "ShownSegment":
        texts = (one.key, one.text_a, one.text_b)
        return cls(*texts, one.score, one.type, one.flags, str(one.verdict or ""), one.left_out is not None)


class ShownHit(NamedTuple):
    pair: str
    key: str
    score: float
    lang_a: str
    lang_b: str
    parts_a: list[tuple[str, bool]]  # and whether each is a part of what was searched
    parts_b: list[tuple[str, bool]]
    before_a: str
    before_b: str
    after_a: str
    after_b: str

    @classmethod
    def of(cls, hit: Hit) -> "ShownHit":
        row, segment, before, after = hit.pair.row, hit.segment, hit.previous, hit.following
        return cls(
            row.key,
            segment.key,
            segment.score,
            row.lang_a,
            row.lang_b,
            _parts(segment.text_a, hit.marks_a),
            _parts(segment.text_b, hit.marks_b),
            before.text_a if before else "",
            before.text_b if before else "",
            after.text_a if after else "",
            after.text_b if after else "",
        )


def _parts(text: str, marks: tuple[Mark, ...]) -> list[tuple[str, bool]]:
    parts, at = [], 0
    for mark in marks:
        if mark.start < at:
            continue
        parts += [(text[at : mark.start], False), (text[mark.start : mark.end], True)]
        at = mark.end
    return [*parts, (text[at:], False)]


async def pairs(request: Request) -> Response:
    job = await found_mining(request)
    ready = await server_of(request).indexing.is_fresh(job.folder)
    values, words = dict(request.query_params), words_of(request)
    offset = number_in(values, "offset")
    wanted = wanted_pairs(values, offset, PAIRS)
    reading = Reading(job.folder)
    found = await asyncio.to_thread(reading.pairs, wanted)
    return rendered(
        request,
        "pairs.html",
        job=job,
        tab="/pairs",
        index=Fresh(ready),
        values=values,
        language_choices=await _choices(words, reading, all_of_them=True),
        methods=[("", words.say("any")), *((letter, words.say(name)) for letter, name in METHODS.items())],
        verdict_names={verdict: words.say(name) for verdict, name in VERDICTS.items()},
        sorts=[(name, words.say(said)) for name, (_, _, said) in SORTS.items()],
        pairs=[ShownPair.of(one) for one in found.pairs],
        total=found.total,
        offset=offset,
        size=PAIRS,
        base=_base(request, values),
    )


def _base(request: Request, values: dict[str, str]) -> str:
    return f"{request.url.path}?{urlencode(values)}"


async def _choices(words: Words, reading: Reading, *, all_of_them: bool) -> list[tuple[str, str]]:
    found = (await asyncio.to_thread(reading.choices)).languages
    shown = []
    for one in found:
        both = two_languages(one.name)
        shown.append((one.name, " – ".join(words.language(code) for code in both) if both else one.name))
    return [("", words.say("all")), *shown] if all_of_them and len(shown) != 1 else shown


async def pair(request: Request) -> Response:
    job = await found_mining(request)
    await server_of(request).indexing.is_fresh(job.folder)
    found = await _pair(job, request.path_params["key"])
    values, words = dict(request.query_params), words_of(request)
    offset = number_in(values, "offset")
    shown = ShownPair.of(found.pair)
    some = found.segments[offset : offset + SEGMENTS]
    return rendered(
        request,
        "pair.html",
        job=job,
        tab="/pairs",
        pair=shown,
        evidence=[(words.say(METHODS.get(one, one)), words.score(n)) for one, n in found.pair.row.evidence.items()],
        segments=[ShownSegment.of(one) for one in some],
        total=len(found.segments),
        offset=offset,
        size=SEGMENTS,
        base=_base(request, values),
    )


async def _pair(job: ShownJob, key: str) -> ReadPair:
    found = await asyncio.to_thread(Reading(job.folder).pair, key)
    if found is None:
        raise RequestError(404, said("There is no such pair of pages any more."))
    return found


async def judge(request: Request) -> Response:
    """A verdict by click or key: the part of the page that it changes, or the page again."""
    form = await posted(request)
    job = await found_mining(request)
    kind, key, within = (str(form.get(name, "")) for name in ("kind", "key", "within"))
    await give_verdict(job, kind, key, within, str(form.get("verdict", "")), request.state.user.name)
    anchor = f"#s-{key}" if kind == SubjectKind.SEGMENT else ""
    if not request.headers.get("x-part"):
        return RedirectResponse(f"/jobs/{job.id}/pairs/{within}{anchor}", 303)
    found = await _pair(job, within)
    values: dict[str, Any] = {"job": job, "pair": ShownPair.of(found.pair)}
    if kind == SubjectKind.PAIR:
        return HTMLResponse(fragment(request, "pair_verdict.html", **values))
    segment = next(one for one in found.segments if one.key == key)
    return HTMLResponse(fragment(request, "segment.html", segment=ShownSegment.of(segment), **values))


async def search(request: Request) -> Response:
    job = await found_mining(request)
    ready = await server_of(request).indexing.is_fresh(job.folder)
    values, words = dict(request.query_params), words_of(request)
    offset = number_in(values, "offset")
    values.setdefault("q", "")
    reading = Reading(job.folder)
    side = SearchedSide(values["side"]) if values.get("side") in set(SearchedSide) else SearchedSide.BOTH
    both = two_languages(values.get("languages", ""))
    found = await asyncio.to_thread(lambda: reading.search(values["q"], side, both, offset=offset, limit=HITS))
    return rendered(
        request,
        "search.html",
        job=job,
        tab="/search",
        index=Fresh(ready),
        values=values,
        language_choices=await _choices(words, reading, all_of_them=True),
        side_choices=[
            ("both", words.say("both languages")),
            ("a", words.say("first language")),
            ("b", words.say("second language")),
        ],
        hits=[ShownHit.of(one) for one in found.hits],
        total=found.total,
        is_cut=found.is_cut,
        offset=offset,
        size=HITS,
        base=_base(request, values),
    )


async def index_part(request: Request) -> Response:
    """Tells the script to load the page again when the index is ready."""
    job = await found_mining(request)
    ready = await server_of(request).indexing.is_fresh(job.folder, wait=0)
    return load_again() if ready else Response(status_code=304)


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/pairs", pairs),
    Route("/jobs/{id}/pairs/{key}", pair),
    Route("/jobs/{id}/verdicts", judge, methods=["POST"]),
    Route("/jobs/{id}/search", search),
    Route("/jobs/{id}/index", index_part),
]
