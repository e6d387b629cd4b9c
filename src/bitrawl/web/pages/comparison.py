"""Strategies compared on a job's own archive."""

import asyncio
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.show import Series, lines, thinned
from bitrawl.web.actions import (
    USUAL,
    comparable,
    compare,
    find_mining_job,
    find_own_job,
    look_at,
    read_table,
    server_of,
    words_of,
)
from bitrawl.web.job_list import JobVerb, ServedJob
from bitrawl.web.job_state import SIMULATED, last_lines
from bitrawl.web.messages import Words
from bitrawl.web.pages.rendering import answer_part, fragment, load_again, rendered, written
from bitrawl.web.security import posted

MOST_SITES = 10  # that are drawn
MOST_POINTS = 200  # of a line


async def show(request: Request) -> Response:
    job = await find_mining_job(request)
    values = await _values(request, job)
    if request.query_params.get("part"):
        if not values["running"]:
            return load_again()
        return answer_part(request, fragment(request, "comparing.html", job=job, **values))
    return rendered(request, "compare.html", job=job, tab="/compare", **values)


async def start(request: Request) -> Response:
    form, job = await posted(request), await find_mining_job(request)
    await find_own_job(request)
    await compare(server_of(request), job, [str(name) for name in form.getlist("strategies")])
    return RedirectResponse(f"/jobs/{job.id}/compare", 303)


async def _values(request: Request, job: ServedJob) -> dict[str, Any]:
    state, _ = await look_at(request, job)
    comparing = job.intent is not None and job.intent.current.verb is JobVerb.SIMULATE
    values: dict[str, Any] = {"charts": [], "heads": (), "rows": [], "running": comparing and state.is_pending}
    if not values["running"]:
        values |= await asyncio.to_thread(_drawn, words_of(request), job.folder.path / SIMULATED)
    messages = "\n".join(last_lines(job.folder.path, 5))
    return {**values, "messages": messages, "strategies": comparable(), "chosen": USUAL}


def _drawn(words: Words, folder: Path) -> dict[str, Any]:
    """The curves of each site, and a table."""
    heads = (
        words.say("Strategy"),
        words.say("Site"),
        words.say("Pairs"),
        words.say("Area under the curve"),
        words.say("Visits until 95 % of the pairs"),
    )
    rows = [_cells(words, **row) for row in read_table(folder / "simulate.csv")]
    return {"charts": _charts(words, folder), "heads": heads, "rows": rows}


def _cells(
    words: Words, *, strategy: str, site: str, pairs: str, area: str, until_95: str, **_: str
) -> tuple[str, ...]:
    visits = words.number(int(until_95)) if until_95 else "–"
    return words.say(strategy), site, words.number(int(pairs)), words.score(float(area)), visits


def _charts(words: Words, folder: Path) -> list[Markup]:
    curves: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for row in read_table(folder / "curves.csv"):
        points = curves.setdefault(row["site"], {}).setdefault(row["strategy"], [(0, 0)])
        points.append((int(row["fetches"]), int(row["pairs"])))
    return [
        lines(
            words.say("Pairs on {site}", site=site),
            [Series(words.say(name), thinned(points, MOST_POINTS)) for name, points in strategies.items()],
            x=words.say("visits"),
            y=words.say("pairs"),
            written=written(words),
        )
        for site, strategies in list(curves.items())[:MOST_SITES]
    ]


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/compare", show),
    Route("/jobs/{id}/compare", start, methods=["POST"]),
]
