"""The report of a job: one HTML file that opens offline, runs no script and loads nothing."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bitrawl import files
from bitrawl.languages import language_name
from bitrawl.report.document import document
from bitrawl.report.job import found
from bitrawl.report.job.diagnosis import Diagnosis, diagnose
from bitrawl.report.job.facts import Curve, Facts, SkipCount, gather
from bitrawl.report.markup import Html, fill, joined, link, shortened
from bitrawl.report.plots import COLOURS, Bar, Series, bars, lines
from bitrawl.report.wording import (
    HARMLESS,
    SKIPS,
    counted,
    duration,
    enumerated,
    language_pair,
    number,
    size,
)
from bitrawl.version import __version__

PATTERNS = 3  # of a site
_FOOTER = """Written by bitrawl {version} from <code><bdi>{folder}</bdi></code>. Samples are drawn at random, always the
same for the same findings. For more: <code>bitrawl status DIR</code>, <code>bitrawl log DIR</code>."""


def write(folder: Path) -> Path:
    """The job's report, complete under its name or not there at all."""
    path = folder / "report.html"
    files.write(path, render(gather(folder)))
    return path


def render(facts: Facts) -> str:
    """The same facts give the same page."""
    diagnosis = diagnose(facts)
    sections = [
        ("asked", "What was asked, and how it ended", _asked(facts)),
        ("harvest", "The harvest", _harvest(facts)),
        ("languages", "Pages by language", _languages(facts)),
        ("pairs", "Pairs of pages", found.pairs(facts)),
        ("segments", "Pairs of segments", found.segments(facts)),
        ("corpus", "The corpus", found.corpus(facts)),
        ("samples", "Samples", found.samples(facts)),
        ("skips", "What was left out", _skips(facts)),
        ("hosts", "Hosts and sites", _hosts(facts)),
    ]
    shown = [(name, title, body) for name, title, body in sections if body]
    nav = fill(
        "<nav>{items}</nav>",
        items=joined(fill('<a href="#{name}">{title}</a>', name=name, title=title) for name, title, _ in shown),
    )
    drawn = joined(
        fill('<section id="{name}"><h2>{title}</h2>{body}</section>', name=name, title=title, body=body)
        for name, title, body in shown
    )
    return document(
        _title(facts),
        _lead(facts),
        joined([_tiles(facts), _why(diagnosis), nav, drawn]),
        fill(_FOOTER, version=__version__, folder=facts.folder),
    )


def _title(facts: Facts) -> str:
    names = [language_name(code) for code in facts.asked.langs]
    languages = "–".join(names) if len(names) <= 2 else enumerated(names)
    if len(names) > 4:
        languages = f"{len(names)} languages"
    hosts = list(dict.fromkeys(seed.split("/")[2] for seed in facts.asked.seeds if seed.count("/") >= 2))
    hosts = hosts or [one.host for one in facts.crawled.slowest]
    where = hosts[0] if len(hosts) == 1 else counted(len(hosts), "host") if hosts else "nowhere"
    return f"{languages or 'Pages'} from {where}"


def _lead(facts: Facts) -> str:
    summary, mined = facts.crawled.summary, facts.mined
    if not summary.pages:
        answers = counted(summary.fetches, "answer")
        return f"bitrawl fetched {answers} in {duration(summary.seconds)}, and none of them gave a page."
    read = f"bitrawl read {counted(summary.pages, 'page')} in {duration(summary.seconds)}"
    if not mined.begun:
        return f"{read}. Pairs have not been looked for yet."
    if not mined.pairs:
        return f"{read}, and found no two that are translations of each other."
    aligned = f" and aligned {counted(mined.segments, 'pair of segments', 'pairs of segments')} in them"
    return f"{read}, found {counted(mined.pairs, 'pair')} of translations{aligned if mined.segments else ''}."


def _tiles(facts: Facts) -> Html:
    summary, mined = facts.crawled.summary, facts.mined
    tiles = [(number(summary.pages), "pages"), (number(summary.fetches), "answers fetched")]
    if mined.begun:
        tiles += [
            (number(mined.pairs), "pairs of pages"),
            (number(mined.segments), "pairs of segments"),
            (number(mined.duplicates), "pages that repeat others"),
        ]
        if facts.corpora and len(facts.asked.langs) > 1:
            tiles.insert(-1, (number(sum(one.units for one in facts.corpora.values())), "units written"))
    else:
        tiles.append((number(len(summary.languages)), "languages"))
    tiles.append((number(summary.skipped), "links skipped"))
    shown = (fill('<div class="tile"><b>{value}</b><span>{name}</span></div>', value=v, name=n) for v, n in tiles)
    return fill('<div class="tiles">{tiles}</div>', tiles=joined(shown))


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
        '<aside class="why"><h2>{headline}</h2><p>What we saw, and what to try:</p><ul>{points}</ul></aside>',
        headline=diagnosis.headline,
        points=points,
    )


def _asked(facts: Facts) -> Html:
    asked, crawled = facts.asked, facts.crawled
    summary = crawled.summary
    ended = summary.ended or "It is still running, or was killed; the same command goes on."
    began, finished = _date(crawled.began), _date(crawled.finished)
    when = f"from {began} to {finished}" if began != finished else began
    pages, queued = counted(summary.pages, "page"), number(summary.queued)
    rows: list[tuple[str, object]] = [
        ("languages", enumerated(f"{language_name(code)} ({code})" for code in asked.langs)),
        ("beginning at", _links(asked.seeds)),
        ("archives taken whole", ", ".join(Path(name).name for name in asked.warc)),
        ("archives as the web", ", ".join(Path(name).name for name in asked.replay)),
        ("strategy", asked.strategy),
        ("budget", ", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in asked.budget.items())),
        ("fetched", f"{size(summary.bytes)}, {when}" if crawled.began else "nothing"),
        ("end", ended[:1].upper() + ended[1:]),
        ("links", f"{number(summary.links)} = {pages} + {number(summary.skipped)} skipped + {queued} queued"),
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
    charts = [lines("Pages by language, as the crawl went on", growth, x="answers fetched", y="pages")]
    text = "How much each further fetch brought: a curve that has become flat says that the site has no more to give."
    if facts.mined.pairs:
        harvest = _named(facts.mined.harvest, lambda name: language_pair(*_codes(facts)[name]), "other pairs")
        charts.insert(0, lines("Pairs complete, as the crawl went on", harvest, x="answers fetched", y="pairs"))
        text += f" A pair is complete when the later of its two pages is fetched{_half(facts)}."
    return fill('<p>{text}</p><div class="two">{charts}</div>', text=text, charts=joined(charts))


def _codes(facts: Facts) -> dict[str, tuple[str, str]]:
    return {f"{one.lang_a}-{one.lang_b}": (one.lang_a, one.lang_b) for one in facts.mined.language_pairs}


def _named(curves: Sequence[Curve], name: Callable[[str], str], rest: str) -> list[Series]:
    """No more curves than colours: the last ones are summed up."""
    most = len(curves) if len(curves) <= COLOURS else COLOURS - 1
    series = [Series(name(curve.name), curve.points) for curve in curves[:most]]
    if others := curves[most:]:
        columns = zip(*(curve.points for curve in others), strict=True)
        series.append(Series(rest, tuple((column[0][0], sum(y for _, y in column)) for column in columns)))
    return series


def _half(facts: Facts) -> str:
    """When half of the harvest was in."""
    columns = zip(*(curve.points for curve in facts.mined.harvest), strict=True)
    at = next(column[0][0] for column in columns if 2 * sum(y for _, y in column) >= facts.mined.pairs)
    return f"; half of them were complete after {number(at)} of {counted(facts.crawled.summary.fetches, 'answer')}"


def _languages(facts: Facts) -> Html:
    summary = facts.crawled.summary
    if not summary.pages:
        return Html()
    asked = sum(facts.languages.values())
    rows = [
        Bar(
            f"{language_name(code)} ({code})",
            count,
            "" if facts.asked_as(code) or not facts.asked.langs else "not asked for",
        )
        for code, count in summary.languages.items()
    ]
    text = f"{counted(asked, 'page is', 'pages are')} in a language that was asked for. A page counts for the language"
    return fill(
        '<p>{text} that most of its text is in, whatever it says of itself.</p><div class="card">{bars}</div>{repeats}',
        text=text,
        repeats=found.duplicates(facts),
        bars=bars(rows, total=summary.pages),
    )


def _skips(facts: Facts) -> Html:
    skips = facts.crawled.skips
    if not skips:
        return fill("<p>{text}</p>", text="Nothing: all links that were met became pages, or wait to be visited.")
    rows = joined(
        fill(
            '<tr><td>{stage}</td><th scope="row">{reason}<small>{why}</small></th><td class="n">{count}</td>'
            "<td>{url}<small>{detail}</small></td></tr>",
            stage=skip.stage,
            reason=skip.reason,
            why=_why_skipped(skip),
            count=number(skip.count),
            url=link(skip.url, width=70),
            detail=fill("<bdi>{detail}</bdi>", detail=shortened(skip.detail, 120)),
        )
        for skip in skips
    )
    return fill(
        '<p>{text}</p><div class="card"><table><thead><tr><th>stage</th><th>reason</th><th class="n">links</th>'
        "<th>for example</th></tr></thead><tbody>{rows}</tbody></table></div>",
        text="Every link that the job has met is a page, is queued, or left the line at one of these stages, for one of"
        " these reasons.",
        rows=rows,
    )


def _why_skipped(skip: SkipCount) -> str:
    why = SKIPS.get(skip.reason, "")
    if not skip.tried or skip.reason in HARMLESS:
        return why
    return (
        f"{why} {number(skip.tried)} of them are sitemaps, or addresses made up to see what a missing page looks like."
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
        '<p>{text}</p><div class="two"><div class="card"><h3>The slowest hosts</h3><table><thead><tr><th>host</th>'
        '<th class="n">mean answer</th><th class="n">answers</th><th class="n">pages</th></tr></thead><tbody>{hosts}'
        "</tbody></table></div>{sites}</div>",
        text="The time of an answer is the server's and the line's; the pauses that politeness asks for are not in it.",
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
            left=one.left or "nothing was left to visit, or a budget was spent",
        )
        for one in facts.mined.sites
    )
    return fill(
        '<div class="card"><h3>Sites, those with the most pairs first</h3><table><thead><tr><th>site</th>'
        '<th class="n">pages</th><th class="n">pairs</th><th>how addresses of pairs differ</th><th>why it was left</th>'
        "</tr></thead><tbody>{rows}</tbody></table></div>",
        rows=rows,
    )
