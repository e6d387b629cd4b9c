"""The page of one job: what it is doing, what it has found, and what can be asked of it."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bitrawl.errors import BitrawlError, StoreError
from bitrawl.facts import Live
from bitrawl.file_names import FOUND_SITES, SITES_JSON, SITES_TABLE
from bitrawl.job import BootstrapFolder, BootstrapProgress, BootstrapStep, BootstrapSummary, JobFolder
from bitrawl.model import Language
from bitrawl.show import COLOURS, Series, bars, lines, thinned
from bitrawl.topic.wiki_topic import Exclusion, TermRow, read_table
from bitrawl.web.actions import carry_out, find_job, find_own_job, found_sites, look_at, server_of, words_of
from bitrawl.web.corpus_files import StoredFile
from bitrawl.web.job_list import ALIGNED, ServedJob
from bitrawl.web.job_state import last_lines, merged_files, without_place
from bitrawl.web.messages import REASONS, Words, marked
from bitrawl.web.pages.outcome import JobWords, sites_of, why_little
from bitrawl.web.pages.rendering import answer_pieces, rendered, version_of, written
from bitrawl.web.security import posted

MOST_TERMS = 100  # of a topic that are listed
MOST_BARS = 8
MOST_POINTS = 40  # of a curve: a screen shows no more, and they are sent again while the job runs
MESSAGES = 30  # lines
TERMS = "terms.tsv"
FOUND = {
    "discover": (FOUND_SITES, SITES_TABLE, SITES_JSON),
    "topic": (TERMS, "topic.txt", "seeds.txt", FOUND_SITES),
    "align": (f"{ALIGNED}/1.tsv",),
}
"""Files of a search, of a topic and of two texts that can be taken away; the first is there when something was found."""

EXCLUSIONS = {
    Exclusion.DISAMBIGUATION: marked("disambiguation page"),
    Exclusion.REDIRECT: marked("other name of an article"),
    Exclusion.LIST: marked("list"),
    Exclusion.ABBREVIATION: marked("abbreviation"),
    Exclusion.NAME: marked("proper name"),
}
"""Why a title is no term."""


class TopicView(NamedTuple):
    """A topic job, from its files: how far it is, what it has found, and what to try if that is little."""

    progress: BootstrapProgress | None
    summary: BootstrapSummary | None
    terms: list[TermRow]  # that are kept, the heaviest first
    languages: list[Language]  # columns of the terms

    def doing(self, words: Words, wiki: str) -> str:
        """What it is doing now, and how far it is. `wiki` is the operator's name for it; empty for its host."""
        now = self.progress
        if now is None:
            return ""
        match now.step:
            case BootstrapStep.ASKING:
                return words.say("asking {wiki}", wiki=wiki or now.wiki)
            case BootstrapStep.SEARCHING:
                return words.say("looking for the category in {wiki}", wiki=wiki or now.wiki)
            case BootstrapStep.READING:
                return words.count("reading articles: {n} answer", "reading articles: {n} answers", now.done)
            case BootstrapStep.CHECKING:
                numbers = {"done": words.number(now.done), "total": words.number(now.total)}
                return words.say("checking the cited sites for translations: {done} of {total}", **numbers)

    def tiles(self, words: Words) -> list[tuple[str, str]]:
        summary = self.summary
        if summary is None:
            return []
        counts = {words.say("articles"): summary.articles}
        for code, count in summary.terms.items():
            counts[words.say("terms: {language}", language=words.language(code))] = count
        counts |= {words.say("sites cited"): summary.cited, words.say("bilingual sites"): summary.candidates}
        return [(words.number(count), label) for label, count in counts.items()]

    def excluded(self, words: Words) -> dict[str, int]:
        """Titles that are no terms, by reason."""
        counts = self.summary.excluded if self.summary else {}
        return {words.say(EXCLUSIONS[Exclusion(why)] if why in set(Exclusion) else why): n for why, n in counts.items()}

    def advice(self, words: Words) -> list[str]:
        """What to try, by what is missing."""
        return list(self._missing(words, self.summary)) if self.summary else []

    def _missing(self, words: Words, summary: BootstrapSummary) -> Iterator[str]:
        for code in [code for code, count in summary.terms.items() if not count]:
            yield words.say(
                "No article has a title in {language}. Try more levels of subcategories, or a wider category.",
                language=words.language(code),
            )
        if not summary.complete:
            yield words.say("The category has more articles than were read. Try fewer levels of subcategories.")
        if not summary.cited:
            yield words.say("The articles cite no site. Enter a site of your own in the next form.")
        elif summary.checked and not summary.candidates:
            yield words.say("No cited site has translated pages. The next form has the cited pages instead.")


def topic_view(folder: JobFolder) -> TopicView:
    bootstrap = BootstrapFolder(folder.path)
    progress, summary = bootstrap.progress(), bootstrap.found()
    rows = _terms(folder) if summary is not None else []
    columns = {code for row in rows for code in row.terms}
    first = [code for code in summary.terms if code in columns] if summary else []
    return TopicView(progress, summary, rows[:MOST_TERMS], [*first, *sorted(columns.difference(first))])


def _terms(folder: JobFolder) -> list[TermRow]:
    try:
        rows = read_table((folder.path / TERMS).read_bytes(), TERMS)
    except (OSError, BitrawlError):
        return []
    return [row for row in rows if row.keep]


async def show(request: Request) -> Response:
    job = await find_job(request)
    return rendered(
        request, "job.html", job=job, tab="", version_of=version_of, versions=(), **await _values(request, job)
    )


async def live(request: Request) -> Response:
    """What changes on that page, as far as it has changed."""
    job = await find_job(request)
    return answer_pieces(request, "live.html", job=job, **await _values(request, job))


async def act(request: Request) -> Response:
    """Do what one of the buttons asks for."""
    form = await posted(request)
    job, action = await find_own_job(request), request.path_params["action"]
    given = {name: value for name, value in form.items() if name != "csrf"}
    await carry_out(server_of(request), job, action, given)
    return RedirectResponse("/" if action == "delete" else f"/jobs/{job.id}", 303)


async def _values(request: Request, job: ServedJob) -> dict[str, Any]:
    words, settings = words_of(request), server_of(request).settings
    state, figures = await look_at(request, job)
    in_words, why = JobWords(words, job, settings.limits), await why_little(job, state, figures)
    if job.kind == "mine":
        await server_of(request).indexing.is_fresh(job.folder, request.state.user.name, wait=0)
    topic = await asyncio.to_thread(topic_view, job.folder) if job.kind == "topic" else None
    standing = in_words.standing(state, figures)
    if topic is not None and state.is_active:
        standing = standing._replace(detail=topic.doing(words, settings.wiki.title if settings.wiki else ""))
    counts_pages = state.is_pending and job.kind not in ("topic", "align")
    skips = {words.say(REASONS.get(reason, reason)): n for reason, n in figures.skips.items()}
    return {
        "live": figures,
        "state": standing,
        "fault": without_place(job.folder.path, figures.fault),
        "title": f"{words.number(figures.pages) if counts_pages else standing.label} · {job.name}",
        "topic": topic,
        "advice": topic.advice(words) if topic else (),
        "left_out": _bars(words, topic.excluded(words), 0) if topic else None,
        "active": state.is_pending,
        "next_visit": await server_of(request).supervised(server_of(request).supervisor.next_visit, job),
        "tiles": topic.tiles(words) if topic else _tiles(words, job, figures),
        "headline": words.tell_all(why.headline) if why else "",
        "points": in_words.explained(why, state) if why else (),
        "by_site": [(site, in_words.remark(site)) for site in await asyncio.to_thread(sites_of, job, state, figures)],
        "may_act": job.belongs_to(request.state.user),  # others only read and review
        "conflicts": await asyncio.to_thread(_conflicts, job),
        "sites": await asyncio.to_thread(found_sites, job) if job.kind == "discover" else (),
        "found_files": await asyncio.to_thread(found_files, job),
        "charts": await asyncio.to_thread(_charts, words, job, figures),
        "languages": _bars(words, {words.language(code): n for code, n in figures.languages.items()}, figures.pages),
        "skips": _bars(words, skips, 0),
        "messages": "\n".join(last_lines(job.folder.path, MESSAGES)),
    }


def _conflicts(job: ServedJob) -> int:
    """Things that people differ on; none where the verdicts cannot be read now, since the page has more to say."""
    try:
        return job.review().verdicts.conflict_count()
    except StoreError:
        return 0


def _tiles(words: Words, job: ServedJob, figures: Live) -> list[tuple[str, str]]:
    if job.kind == "align":
        return []
    tiles = [(words.number(figures.pages), words.say("pages"))]
    if figures.relevant is not None:
        tiles.append((words.number(figures.relevant), words.say("on the topic")))
    if job.kind in ("mine", "run"):
        tiles += [
            (words.number(sum(figures.pairs.values())), words.say("page pairs")),
            *([(words.number(figures.partial), words.say("partly translated"))] if figures.partial else []),
            (words.number(figures.segments), words.say("segment pairs")),
            *([] if figures.fault else [(words.number(sum(figures.units.values())), words.say("in the corpus"))]),
        ]
    tiles += [(words.number(figures.fetches), words.say("visits")), (words.size(figures.bytes), words.say("read"))]
    if job.kind == "run":
        tiles.append((words.number(figures.sites), words.say("sites done")))
    return tiles


def _bars(words: Words, counts: Mapping[str, int], total: int) -> Markup | None:
    return bars(counts, total=total, most=MOST_BARS, written=written(words)) if counts else None


def _charts(words: Words, job: ServedJob, figures: Live) -> list[Markup]:
    charts: dict[tuple[str, str], list[Series]] = {}
    if job.kind == "mine" and (points := _pairs_by_now(_harvest(job), figures)):
        charts[words.say("Complete page pairs"), words.say("pairs")] = [Series(words.say("page pairs"), points)]
    if len(figures.harvest) > 1:
        charts[words.say("Pages by language"), words.say("pages")] = [
            Series(words.language(code), _curve([(p.fetches, p.pages.get(code, 0)) for p in figures.harvest]))
            for code in list(figures.languages)[:COLOURS]
        ]
    return [
        lines(title, series, x=words.say("visits"), y=y, written=written(words))
        for (title, y), series in charts.items()
    ]


def _harvest(job: ServedJob) -> list[tuple[int, int]]:
    """How many page pairs there were after so many visits. Nothing where the index cannot be read now, since the page has more to say."""
    try:
        return [(point.fetches, point.pairs) for point in job.review().lists.harvest(None)]
    except StoreError:
        return []


def _pairs_by_now(points: Sequence[tuple[int, int]], figures: Live) -> tuple[tuple[int, int], ...]:
    """The curve of page pairs. The index may be some seconds old: the curve ends with the figure of the tile."""
    total = sum(figures.pairs.values())
    earlier = [(fetches, pairs) for fetches, pairs in points if fetches < figures.fetches and pairs <= total]
    return _curve([*earlier, (figures.fetches, total)]) if total else ()


def _curve(points: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return ((0, 0), *thinned(points, MOST_POINTS))


def found_files(job: ServedJob) -> list[str]:
    """What a search, or the gathering of a topic, has written for people and for mining."""
    if job.kind == "run":
        return merged_files(job.folder)
    return [name for name in FOUND.get(job.kind, ()) if (job.folder.path / name).is_file()]


async def found_file(request: Request) -> Response:
    job, name = await find_job(request), request.path_params["name"]
    if name not in found_files(job):
        raise HTTPException(404)
    path = job.folder.path / name
    return StoredFile(path, filename=path.name, media_type="text/plain; charset=utf-8")


ROUTES: list[BaseRoute] = [
    Route("/jobs/{id}", show),
    Route("/jobs/{id}/live", live),
    Route("/jobs/{id}/found/{name:path}", found_file),
    Route("/jobs/{id}/{action}", act, methods=["POST"]),
]
