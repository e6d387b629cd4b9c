"""The report over the sites of a merged corpus: one HTML file that opens offline, runs no script and loads nothing."""

from collections import Counter
from collections.abc import Sequence

from bitrawl.corpus.merge_facts import JobPart, MergedCounts, MergedSite, MergeFacts
from bitrawl.languages import language_name
from bitrawl.report.document import document, sectioned
from bitrawl.report.markup import Html, fill, joined
from bitrawl.report.plots import Bar, bars
from bitrawl.report.wording import counted, language_pair, number
from bitrawl.version import __version__

MOST_SITES = 200  # rows of a table (judgement); sites.tsv has all
_FOOTER = "Written by bitrawl {version}. All sites are in <code>sites.tsv</code>."


def render(facts: MergeFacts) -> str:
    """The same facts give the same page."""
    failed = [one for one in facts.sites if one.part.why]
    sections = [
        ("corpora", "The corpora", joined(map(_corpus, facts.corpora))),
        ("yield", "Units by site", _yield(facts.sites)),
        ("sites", "Sites that brought segments", _sites([one for one in facts.sites if one.part.segment_pairs])),
        ("failed", "What failed, and why", _failed(failed)),
        ("jobs", "The jobs", _jobs(facts)),
    ]
    languages = list(dict.fromkeys(code for one in facts.corpora for code in one.languages))
    names = "–".join(map(language_name, languages)) if len(languages) == 2 else f"{len(languages)} languages"
    return document(
        f"{names} from {counted(len({one.part.site for one in facts.sites}), 'site')}",
        _lead(facts),
        joined([_tiles(facts, failed), _notes(facts), sectioned(sections)]),
        fill(_FOOTER, version=__version__),
    )


def _lead(facts: MergeFacts) -> str:
    corpora = facts.corpora
    units, found = sum(one.units for one in corpora), sum(one.segment_pairs for one in corpora)
    return (
        f"bitrawl merged the corpora of {counted(len(facts.jobs), 'job')}. Of {counted(found, 'segment pair')},"
        f" {counted(units, 'translation unit')} remained when each text was kept once."
    )


def _tiles(facts: MergeFacts, failed: Sequence[MergedSite]) -> Html:
    corpora = facts.corpora
    tiles = [
        (number(sum(one.units for one in corpora)), "translation units"),
        (number(sum(one.page_pairs for one in corpora)), "page pairs"),
        (number(sum(bool(one.part.segment_pairs) for one in facts.sites)), "sites with segments"),
        (number(len(failed)), "sites with failures"),
    ]
    shown = (fill('<div class="tile"><b>{value}</b><span>{name}</span></div>', value=v, name=n) for v, n in tiles)
    return fill('<div class="tiles of-4">{tiles}</div>', tiles=joined(shown))


def _notes(facts: MergeFacts) -> Html:
    if not facts.notes:
        return Html()
    items = joined(fill("<li>{note}</li>", note=note) for note in facts.notes)
    return fill('<aside class="why"><h2>What is left out or incomplete</h2><ul>{items}</ul></aside>', items=items)


def _corpus(counts: MergedCounts) -> Html:
    """The rows of the table add up to the sums below them."""
    rows = [(job, part.page_pairs, part.segment_pairs, part.units) for job, part in counts.parts.items()]
    totals = [
        ("all jobs", counts.page_pair_sum, counts.segment_pairs, counts.unit_sum),
        ("merged", counts.page_pairs, "", counts.units),
    ]
    text = (
        f"{counted(counts.segment_pairs, 'segment pair')} = {counted(counts.units, 'unit')}"
        f" + {counted(counts.duplicates, 'duplicate')} + {counted(counts.near_duplicates, 'near duplicate')}."
        f" {counted(counts.unit_sum - counts.units, 'unit')} of a job had been found by another job too."
    )
    return fill(
        '<div class="card"><h3>{name}</h3><p>{text}</p>{table}</div>',
        name=f"{language_pair(*counts.languages)} ({'-'.join(counts.languages)})",
        text=text,
        table=_table(("job", "page pairs", "segment pairs", "units"), [*rows[:MOST_SITES], *totals]),
    )


def _yield(sites: Sequence[MergedSite]) -> Html:
    units: Counter[str] = Counter()
    for one in sites:
        units[one.part.site] += one.units
    rows = [Bar(site, count) for site, count in sorted(units.items(), key=lambda item: (-item[1], item[0])) if count]
    if not rows:
        return Html()
    return fill(
        '<p>{text}</p><div class="card">{bars}</div>',
        text="If several sites have a unit, it counts for the site with the best scored one.",
        bars=bars(rows, total=sum(row.value for row in rows)),
    )


def _sites(sites: Sequence[MergedSite]) -> Html:
    if not sites:
        return Html()
    rows = [
        (one.part.site, one.job, one.part.pages, one.part.page_pairs, one.part.segment_pairs, one.units)
        for one in sites[:MOST_SITES]
    ]
    names = ("site", "job", "pages", "page pairs", "segment pairs", "units")
    return fill('<div class="card">{table}</div>{more}', table=_table(names, rows), more=_more(sites))


def _failed(sites: Sequence[MergedSite]) -> Html:
    if not sites:
        return fill("<p>{text}</p>", text="Nothing: each site that was visited brought segment pairs.")
    kinds = Counter(one.part.why.partition(":")[0].partition(";")[0] for one in sites)
    rows = [(one.part.site, one.job, one.part.pages, one.part.why) for one in sites[:MOST_SITES]]
    return fill(
        '<div class="stack"><div class="card">{bars}</div><div class="card">{table}</div></div>{more}',
        bars=bars([Bar(kind, count) for kind, count in kinds.most_common()], total=len(sites)),
        table=_table(("site", "job", "pages", "why"), rows),
        more=_more(sites),
    )


def _more(sites: Sequence[MergedSite]) -> Html:
    rest = len(sites) - MOST_SITES
    return fill("<p>{rest} more in <code>sites.tsv</code>.</p>", rest=number(rest)) if rest > 0 else Html()


def _jobs(facts: MergeFacts) -> Html:
    rows = [_job(name, part) for name, part in list(facts.jobs.items())[:MOST_SITES]]
    names = ("job", "languages", "sites", "pages", "state")
    return fill('<div class="card">{table}</div>', table=_table(names, rows))


def _job(name: str, part: JobPart) -> tuple[object, ...]:
    return name, ", ".join(part.languages), len(part.sites), sum(site.pages for site in part.sites), part.state


def _table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> Html:
    """Numbers are aligned to the right."""
    numeric = {place for row in rows for place, value in enumerate(row) if isinstance(value, int)}
    heads = joined(_cell("th", name, is_number=place in numeric) for place, name in enumerate(names))
    lines = joined(
        fill(
            "<tr>{cells}</tr>",
            cells=joined(_cell("td", value, is_number=place in numeric) for place, value in enumerate(row)),
        )
        for row in rows
    )
    return fill("<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>", heads=heads, lines=lines)


def _cell(tag: str, value: object, *, is_number: bool) -> Html:
    shown = number(value) if isinstance(value, int) else fill("<bdi>{value}</bdi>", value=value)
    return fill(
        "<{tag}{kind}>{shown}</{tag}>", tag=Html(tag), kind=Html(' class="n"' if is_number else ""), shown=shown
    )
