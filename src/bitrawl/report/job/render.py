"""The report of a job: one HTML file that opens offline, runs no script and loads nothing."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bitrawl import files
from bitrawl.languages import language_name
from bitrawl.report.document import document, sectioned
from bitrawl.report.job import found
from bitrawl.report.job.diagnosis import Diagnosis, diagnose
from bitrawl.report.job.facts import Curve, Facts, gather
from bitrawl.report.job.topic import topic
from bitrawl.report.markup import Html, fill, joined, link, shortened
from bitrawl.report.plots import COLOURS, Bar, Series, bars, lines
from bitrawl.report.wording import (
    SKIPS,
    answered,
    counted,
    duration,
    enumerated,
    language_pair,
    number,
    size,
)
from bitrawl.version import __version__

PATTERNS = 3  # per site; judgement
_FOOTER = """Written by bitrawl {version} from <code><bdi>{folder}</bdi></code>. The samples are random, but do not change
unless the job does. See also: <code>bitrawl status DIR</code>, <code>bitrawl log DIR</code>."""


def write(folder: Path) -> Path:
    """Write the job's report completely or not at all."""
    path = folder / "report.html"
    files.write(path, render(gather(folder)))
    return path


def render(facts: Facts) -> str:
    """The same facts give the same page."""
    diagnosis = diagnose(facts)
    sections = [
        ("asked", "The job", _asked(facts)),
        ("harvest", "Progress of the crawl", _harvest(facts)),
        ("languages", "Pages by language", _languages(facts)),
        ("topic", "The topic", topic(facts)),
        ("pairs", "Page pairs", found.pairs(facts)),
        ("segments", "Segment pairs", found.segments(facts)),
        ("corpus", "The corpus", found.corpus(facts)),
        ("samples", "Samples", found.samples(facts)),
        ("skips", "Skipped links", _skips(facts)),
        ("hosts", "Hosts and sites", _hosts(facts)),
    ]
    return document(
        _title(facts),
        _lead(facts),
        joined([_tiles(facts), _why(diagnosis), sectioned(sections)]),
        fill(_FOOTER, version=__version__, folder=facts.folder),
    )


def _title(facts: Facts) -> str:
    names = [language_name(code) for code in facts.asked.langs]
    languages = "–".join(names) if len(names) <= 2 else enumerated(names)
    if len(names) > 4:
        languages = f"{len(names)} languages"
    hosts = list(dict.fromkeys(seed.split("/")[2] for seed in facts.asked.seeds if seed.count("/") >= 2))
    hosts = hosts or [one.host for one in facts.crawled.slowest]
    where = hosts[0] if len(hosts) == 1 else counted(len(hosts), "host")
    return f"{languages or 'Pages'} from {where}" if hosts else languages or "An empty job"


def _lead(facts: Facts) -> str:
    summary, mined = facts.crawled.summary, facts.mined
    if not summary.pages:
        if not summary.answers:
            return f"No server answered {counted(summary.fetches, 'request')} in {duration(summary.seconds)}."
        answers = counted(summary.answers, "answer")
        return f"bitrawl fetched {answers} in {duration(summary.seconds)}. None of them was a page."
    read = f"bitrawl read {counted(summary.pages, 'page')} in {duration(summary.seconds)}"
    if facts.topic is not None:
        read += f"; {counted(facts.topic.relevant, 'of them is', 'of them are')} about the topic"
    if len(facts.asked.langs) == 1:
        return f"{read}."
    if not mined.begun:
        return f"{read}. They have not been paired yet."
    if not mined.pairs:
        return f"{read}. It found no pair of translations."
    aligned = f" with {counted(mined.segments, 'segment pair')}" if mined.segments else ""
    return f"{read}. It found {counted(mined.pairs, 'page pair')}{aligned}."


def _tiles(facts: Facts) -> Html:
    summary, mined = facts.crawled.summary, facts.mined
    tiles = [(number(summary.pages), "pages"), (number(summary.answers), "answers fetched")]
    if facts.topic is not None:
        tiles.insert(1, (number(facts.topic.relevant), "pages about the topic"))
    if mined.begun and len(facts.asked.langs) == 1:
        tiles += [
            (number(sum(one.documents for one in facts.corpora.values())), "documents in the corpus"),
            (number(mined.duplicates), "duplicate pages"),
        ]
    elif mined.begun:
        tiles += [
            (number(mined.pairs), "page pairs"),
            (number(mined.segments), "segment pairs"),
            (number(mined.duplicates), "duplicate pages"),
        ]
        if facts.corpora and len(facts.asked.langs) > 1:
            tiles.insert(-1, (number(sum(one.units for one in facts.corpora.values())), "units in the corpus"))
    else:
        tiles.append((number(len(summary.languages)), "languages"))
    tiles.append((number(summary.skipped), "links skipped"))
    shown = (fill('<div class="tile"><b>{value}</b><span>{name}</span></div>', value=v, name=n) for v, n in tiles)
    return fill('<div class="tiles of-{n}">{tiles}</div>', n=len(tiles), tiles=joined(shown))


def _why(diagnosis: Diagnosis | None) -> Html:
    if diagnosis is None:
        return Html()
    points = joined(
        fill(
            "<li>{noticed}{advice}</li>",
            noticed=point.noticed,
            advice=fill(" <em>{advice}</em>", advice=point.advice) if point.advice else "",
        )
        for point in diagnosis.points
    )
    return fill(
        '<aside class="why"><h2>{headline}</h2><p>What happened, and what to try:</p><ul>{points}</ul></aside>',
        headline=diagnosis.headline,
        points=points,
    )


def _asked(facts: Facts) -> Html:
    asked, crawled = facts.asked, facts.crawled
    summary = crawled.summary
    unfinished = "running" if facts.running else "interrupted (resume with the same command)"
    began, finished = _date(crawled.began), _date(crawled.finished)
    when = f"from {began} to {finished}" if began != finished else began
    pages, queued = counted(summary.pages, "page"), number(summary.queued)
    rows: list[tuple[str, object]] = [
        ("languages", enumerated(f"{language_name(code)} ({code})" for code in asked.langs)),
        ("seeds", _links(asked.seeds)),
        ("archives read", ", ".join(Path(name).name for name in asked.warc)),
        ("archives replayed", ", ".join(Path(name).name for name in asked.replay)),
        ("strategy", asked.strategy),
        ("budget", ", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in asked.budget.items())),
        ("fetched", f"{size(summary.bytes)}, {when}" if crawled.began else "nothing"),
        ("state", summary.ended or unfinished),
        ("links", f"{number(summary.links)} = {pages} + {number(summary.skipped)} skipped + {queued} queued"),
        (
            "own requests",
            f"{number(summary.own_requests)} (sitemaps, and tests of how a host answers for missing pages)",
        ),
    ]
    lines_ = (fill('<tr><th scope="row">{name}</th><td>{value}</td></tr>', name=n, value=v) for n, v in rows if v)
    return fill('<div class="card"><table class="facts">{rows}</table></div>', rows=joined(lines_))


def _links(urls: Sequence[str], most: int = 5) -> Html:
    shown = [link(url) for url in urls[:most]]
    more = [fill("and {n} more", n=number(len(urls) - most))] if len(urls) > most else []
    return Html("<br>".join([*shown, *more]))


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _harvest(facts: Facts) -> Html:
    if not facts.crawled.summary.pages:
        return Html()
    growth = _named(facts.crawled.growth, language_name, "other languages")
    charts = [lines("Pages by language", growth, x="answers fetched", y="pages")]
    text = "These curves show what the crawl had found after each fetch. Where a curve is flat, fetching more brought no more."
    if facts.mined.pairs:
        harvest = _named(facts.mined.harvest, lambda name: language_pair(*_codes(facts)[name]), "other pairs")
        charts.insert(0, lines("Complete page pairs", harvest, x="answers fetched", y="pairs"))
        text += f" A pair is complete when both of its pages have been fetched. {_half(facts)}"
    return fill('<p>{text}</p><div class="two">{charts}</div>', text=text, charts=joined(charts))


def _codes(facts: Facts) -> dict[str, tuple[str, str]]:
    return {f"{one.lang_a}-{one.lang_b}": (one.lang_a, one.lang_b) for one in facts.mined.language_pairs}


def _named(curves: Sequence[Curve], name: Callable[[str], str], rest: str) -> list[Series]:
    """Keep only as many curves as can be told apart, and sum up the rest."""
    most = len(curves) if len(curves) <= COLOURS else COLOURS - 1
    series = [Series(name(curve.name), curve.points) for curve in curves[:most]]
    if others := curves[most:]:
        columns = zip(*(curve.points for curve in others), strict=True)
        series.append(Series(rest, tuple((column[0][0], sum(y for _, y in column)) for column in columns)))
    return series


def _half(facts: Facts) -> str:
    """After how many fetches half of the pairs were found."""
    columns = zip(*(curve.points for curve in facts.mined.harvest), strict=True)
    at = next(column[0][0] for column in columns if 2 * sum(y for _, y in column) >= facts.mined.pairs)
    return f"Half of the pairs were complete after {number(at)} of {counted(facts.crawled.summary.fetches, 'answer')}."


def _languages(facts: Facts) -> Html:
    summary = facts.crawled.summary
    if not summary.pages:
        return Html()
    asked = sum(facts.languages.values())
    rows = [
        Bar(
            f"{language_name(code)} ({code})",
            count,
            "" if facts.asked_as(code) or not facts.asked.langs else "you did not ask for it",
        )
        for code, count in summary.languages.items()
    ]
    text = (
        f"{counted(asked, 'page is', 'pages are')} in a language that you asked for. The language of a page is that of"
    )
    return fill(
        '<p>{text} most of its text, whatever the page declares.</p><div class="card">{bars}</div>{repeats}',
        text=text,
        repeats=found.duplicates(facts),
        bars=bars(rows, total=summary.pages),
    )


def _skips(facts: Facts) -> Html:
    skips = (*facts.crawled.skips, *facts.crawled.faults)
    if not skips:
        return fill("<p>{text}</p>", text="None: each link became a page, or is still queued.")
    rows = joined(
        fill(
            '<tr><td>{stage}</td><th scope="row">{reason}<small>{why}</small></th><td class="n">{count}{answers}</td>'
            "<td>{url}<small>{detail}</small></td></tr>",
            stage=skip.stage,
            reason=skip.reason,
            why=SKIPS.get(skip.reason, ""),
            count=number(skip.count),
            answers=fill("<small>HTTP {codes}</small>", codes=answered(skip.statuses)) if skip.statuses else "",
            url=link(skip.url, width=70),
            detail=fill("<bdi>{detail}</bdi>", detail=shortened(skip.detail, 120)),
        )
        for skip in skips
    )
    return fill(
        '<p>{text}</p><div class="card"><table><thead><tr><th>stage</th><th>reason</th><th class="n">links</th>'
        "<th>example</th></tr></thead><tbody>{rows}</tbody></table></div>",
        text=f"{counted(facts.crawled.summary.skipped, 'link')} did not become a page. Our own requests (sitemaps, and"
        " tests of how a host answers for missing pages) are not counted here."
        + (f" {counted(lost, 'page or segment')} could not be mined." if (lost := facts.crawled.lost) else ""),
        rows=rows,
    )


def _hosts(facts: Facts) -> Html:
    if not facts.crawled.slowest:
        return Html()
    hosts = joined(
        fill(
            '<tr><th scope="row">{host}</th><td class="n">{seconds}</td><td class="n">{fetches}</td>'
            '<td class="n">{pages}</td></tr>',
            host=one.host,
            seconds=duration(one.seconds),
            fetches=number(one.fetches),
            pages=number(one.pages),
        )
        for one in facts.crawled.slowest
    )
    return fill(
        '<p>{text}</p><div class="stack"><div class="card"><h3>Slowest hosts</h3><table><thead><tr><th>host</th>'
        '<th class="n">mean time</th><th class="n">answers</th><th class="n">pages</th></tr></thead><tbody>{hosts}'
        "</tbody></table></div>{sites}</div>",
        text="The time of an answer is the time from the request to its end. It does not include our pauses between requests.",
        hosts=hosts,
        sites=_sites(facts),
    )


def _sites(facts: Facts) -> Html:
    if not facts.mined.sites:
        return Html()
    rows = joined(
        fill(
            '<tr><th scope="row">{site}</th><td class="n">{pages}</td><td class="n">{pairs}</td><td>{patterns}</td>'
            "<td>{left}</td></tr>",
            site=one.site,
            pages=number(one.pages),
            pairs=number(one.pairs),
            patterns=joined(
                fill("<div><code>{pattern}</code> {pairs}</div>", pattern=pattern, pairs=number(pairs))
                for pattern, pairs in list(one.patterns.items())[:PATTERNS]
            ),
            left=one.left or "all links were visited, or a budget was spent",
        )
        for one in facts.mined.sites
    )
    return fill(
        '<div class="card"><h3>Sites by number of pairs</h3><table><thead><tr><th>site</th>'
        '<th class="n">pages</th><th class="n">pairs</th><th>how the URLs of pairs differ</th><th>why the crawl left it</th>'
        "</tr></thead><tbody>{rows}</tbody></table></div>",
        rows=rows,
    )
