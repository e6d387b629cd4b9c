"""Strategies compared on a job's own archive."""

import asyncio
import csv
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.facts import State
from bitrawl.show.plots import Series, lines
from bitrawl.web.actions import USUAL, ShownJob, comparable, compare, found_mining, looked_at, server_of, words_of
from bitrawl.web.job_list import Verb
from bitrawl.web.job_state import SIMULATED, last_lines
from bitrawl.web.messages import Words
from bitrawl.web.pages.rendering import answer_part, fragment, load_again, rendered, written
from bitrawl.web.security import posted

MOST_SITES = 10  # that are drawn; judgement
MOST_POINTS = 200  # of a line


async def show(request: Request) -> Response:
    job = await found_mining(request)
    values = await _values(request, job)
    if request.query_params.get("part"):
        if not values["running"]:
            return load_again()
        return answer_part(request, fragment(request, "comparing.html", job=job, **values))
    return rendered(request, "compare.html", job=job, tab="/compare", **values)


async def start(request: Request) -> Response:
    form = await posted(request)
    job = await found_mining(request)
    await compare(server_of(request), job, [str(one) for one in form.getlist("strategies")])
    return RedirectResponse(f"/jobs/{job.id}/compare", 303)


async def _values(request: Request, job: ShownJob) -> dict[str, Any]:
    state, _ = await looked_at(request, job)
    intent = job.shelved.intent
    comparing = intent is not None and intent.current.verb is Verb.SIMULATE
    running = comparing and (state.is_active or state.state is State.WAITING)
    folder = job.folder.path / SIMULATED
    charts, heads, rows = ([], (), []) if running else await asyncio.to_thread(drawn, words_of(request), folder)
    return {
        "running": running,
        "messages": "\n".join(last_lines(job.folder.path, 5)),
        "strategies": comparable(),
        "chosen": USUAL,
        "charts": charts,
        "heads": heads,
        "rows": rows,
    }


def drawn(words: Words, folder: Path) -> tuple[list[Markup], tuple[str, ...], list[tuple[str, ...]]]:
    """The curves of each site, and a table."""
    curves: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for row in _table(folder / "curves.csv"):
        points = curves.setdefault(row["site"], {}).setdefault(row["strategy"], [(0, 0)])
        points.append((int(row["fetches"]), int(row["pairs"])))
    charts = [
        lines(
            words.say("Pairs on {site}", site=site),
            [Series(_strategy(words, name), tuple(_thinned(points))) for name, points in found.items()],
            x=words.say("visits"),
            y=words.say("pairs"),
            written=written(words),
        )
        for site, found in list(curves.items())[:MOST_SITES]
    ]
    heads = (
        words.say("Strategy"),
        words.say("Site"),
        words.say("Pairs"),
        words.say("Area under the curve"),
        words.say("Visits until 95 % of the pairs"),
    )
    rows: list[tuple[str, ...]] = [
        (
            _strategy(words, row["strategy"]),
            row["site"],
            words.number(int(row["pairs"])),
            words.score(float(row["area"])),
            words.number(int(row["until_95"])) if row["until_95"] else "–",
        )
        for row in _table(folder / "simulate.csv")
    ]
    return charts, heads, rows


def _strategy(words: Words, name: str) -> str:
    return words.say(name)


def _thinned(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    step = max(1, len(points) // MOST_POINTS)
    return [*points[:-1:step], points[-1]]


def _table(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except OSError:
        return []


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}/compare", show),
    Route("/jobs/{id}/compare", start, methods=["POST"]),
]
