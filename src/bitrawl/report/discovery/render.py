"""The report of a search for bilingual sites: one HTML file that opens offline, runs no script and loads nothing."""

from collections.abc import Sequence
from pathlib import Path

from bitrawl import files
from bitrawl.discover.verdict import Answer, SiteVerdict
from bitrawl.discover.walk import WalkFacts, WordFacts
from bitrawl.languages import language_name
from bitrawl.report.discovery.map import MapHub, site_map
from bitrawl.report.document import document, sectioned
from bitrawl.report.markup import Html, fill, joined, link
from bitrawl.report.plots import Bar, Series, bars, lines
from bitrawl.report.wording import counted, number
from bitrawl.version import __version__

MOST_SITES = 200  # rows of the table; sites.tsv has all
_FOOTER = "Written by bitrawl {version}. All judged sites are in <code>sites.jsonl</code> and <code>sites.tsv</code>."
_ANSWERS = {
    Answer.BILINGUAL: "two pages are translations of each other",
    Answer.THIN: "a page or two are translated, and nothing says that there is more",
    Answer.NO: "no translation was found",
    Answer.UNKNOWN: "the site did not answer, or not enough",
}


def write(folder: Path, facts: WalkFacts, verdicts: Sequence[SiteVerdict]) -> Path:
    """Completely or not at all."""
    path = folder / "report.html"
    files.write(path, render(facts, verdicts))
    return path


def render(facts: WalkFacts, verdicts: Sequence[SiteVerdict]) -> str:
    """The same facts give the same page."""
    sections = [
        ("sites", "Bilingual sites", _sites(verdicts)),
        ("map", "Hubs and sites", _map(facts)),
        ("yield", "Sites found over downloads", _yield(facts)),
        ("learned", "What was learned", _learned(facts)),
        ("judged", "What was judged, and what was not", _judged(facts)),
    ]
    languages = "–".join(language_name(code) for code in facts.languages)
    return document(
        f"{languages}: {counted(facts.found, 'bilingual site')} found",
        _lead(facts),
        joined([_tiles(facts), _notes(facts), sectioned(sections)]),
        fill(_FOOTER, version=__version__),
    )


def _lead(facts: WalkFacts) -> str:
    judged = sum(facts.answers.values())
    return (
        f"From {counted(facts.seeds, 'seed site')}, {facts.bilingual_seeds} of them bilingual, bitrawl judged "
        f"{counted(judged, 'site')} with {counted(facts.downloads, 'download')}, ordered by {facts.strategy}."
    )


def _tiles(facts: WalkFacts) -> Html:
    tiles = [
        (number(facts.found), "bilingual sites found"),
        (number(sum(facts.answers.values())), "sites judged"),
        (number(facts.candidates), "sites known"),
        (number(facts.downloads), "downloads"),
    ]
    drawn = joined(
        fill('<div class="tile"><b>{value}</b><span>{label}</span></div>', value=v, label=t) for v, t in tiles
    )
    return fill('<div class="tiles of-4">{tiles}</div>', tiles=drawn)


def _notes(facts: WalkFacts) -> Html:
    if not facts.notes:
        return Html()
    items = joined(fill("<li>{note}</li>", note=note) for note in facts.notes)
    return fill('<div class="why"><h2>What would help</h2><ul>{items}</ul></div>', items=items)


def _sites(verdicts: Sequence[SiteVerdict]) -> Html:
    sites = [one for one in verdicts if one.verdict is Answer.BILINGUAL]
    if not sites:
        return Html()
    rows = joined(_site(one) for one in sites[:MOST_SITES])
    return fill(
        '<div class="card"><table><thead><tr><th>Site</th><th>Languages</th><th class="n">Probability</th>'
        '<th>Pages compared</th><th>Evidence</th><th class="n">Downloads</th><th class="n">Pages, estimated</th>'
        "</tr></thead><tbody>{rows}</tbody></table></div>",
        rows=rows,
    )


def _site(one: SiteVerdict) -> Html:
    pages = joined(
        fill("<div>{link}</div>", link=link(str(url), url.path if url.host == one.site else "", width=60))
        for url in (one.url_a, one.url_b)
        if url
    )
    return fill(
        '<tr><th scope="row"><bdi>{site}</bdi></th><td>{languages}</td><td class="n">{probability}</td><td>{pages}</td>'
        '<td>{evidence}</td><td class="n">{downloads}</td><td class="n">{size}</td></tr>',
        site=one.site,
        languages=", ".join(one.languages),
        probability=f"{one.probability:.2f}",
        pages=pages,
        evidence=", ".join(f"{name} {value:.2f}" for name, value in one.evidence.items()),
        downloads=one.downloads,
        size=number(one.pages) if one.pages else "",
    )


def _map(facts: WalkFacts) -> Html:
    hubs = [
        MapHub(
            one.hub, f"{one.hub}: cites {one.cites} hosts, {one.judged} judged, {len(one.sites)} bilingual", one.sites
        )
        for one in facts.hubs
    ]
    return site_map(hubs)


def _yield(facts: WalkFacts) -> Html:
    if len(facts.curve) < 2:
        return Html()
    return lines("Bilingual sites found", [Series(facts.strategy, facts.curve)], x="downloads", y="sites")


def _learned(facts: WalkFacts) -> Html:
    cards = [_words(f"{name} classifier", words) for name, words in facts.learned.items() if words]
    if facts.weights:
        rows = joined(
            fill(
                '<tr><th scope="row">{name}</th><td class="n">{before}</td><td class="n">{now}</td></tr>',
                name=one.feature,
                before=f"{one.before:+.2f}",
                now=f"{one.now:+.2f}",
            )
            for one in facts.weights
        )
        cards.append(
            fill(
                '<div class="card"><h3>What a candidate is valued by</h3><table><thead><tr><th>Feature</th><th class="n">'
                'Weight at first</th><th class="n">Weight now</th></tr></thead><tbody>{rows}</tbody></table></div>',
                rows=rows,
            )
        )
    if facts.hubs:
        cards.append(_hubs(facts))
    return fill('<div class="two">{cards}</div>', cards=joined(cards)) if cards else Html()


def _words(title: str, words: Sequence[WordFacts]) -> Html:
    rows = joined(
        fill(
            '<tr><th scope="row"><bdi>{word}</bdi></th><td class="n">{odds}</td><td class="n">{examples}</td></tr>',
            word=one.word,
            odds=f"{one.odds:+.1f}",
            examples=one.examples,
        )
        for one in words
    )
    return fill(
        '<div class="card"><h3>{title}</h3><table><thead><tr><th>Where and what</th><th class="n">Log odds</th>'
        '<th class="n">Links</th></tr></thead><tbody>{rows}</tbody></table></div>',
        title=title,
        rows=rows,
    )


def _hubs(facts: WalkFacts) -> Html:
    rows = [
        Bar(one.hub, one.judged or len(one.sites), f"cites {counted(one.cites, 'host')}", len(one.sites))
        for one in facts.hubs[:12]
    ]
    return fill(
        '<div class="card"><h3>Best hubs</h3><p class="quiet">Sites judged that each cites; the solid part is bilingual.</p>'
        "{bars}</div>",
        bars=bars(rows),
    )


def _judged(facts: WalkFacts) -> Html:
    total = sum(facts.answers.values())
    rows = [
        Bar(answer.value, facts.answers[answer.value], note)
        for answer, note in _ANSWERS.items()
        if answer.value in facts.answers
    ]
    parts = [fill('<div class="card">{bars}</div>', bars=bars(rows, total=total))]
    if facts.reasons:
        reasons = [Bar(reason, count) for reason, count in facts.reasons.items()]
        parts.append(fill('<div class="card"><h3>Why sites are unknown</h3>{bars}</div>', bars=bars(reasons)))
    if facts.refused:
        items = joined(
            fill("<tr><th scope=row><bdi>{host}</bdi></th><td>{why}</td></tr>", host=host, why=why)
            for host, why in facts.refused.items()
        )
        parts.append(
            fill(
                '<div class="card"><h3>Hosts that ask to be left alone</h3><p class="quiet">They are not asked again.</p>'
                "<table>{items}</table></div>",
                items=items,
            )
        )
    return fill('<div class="two">{parts}</div>', parts=joined(parts))
