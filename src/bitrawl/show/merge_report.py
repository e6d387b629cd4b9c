"""The report over the sites of a merged corpus."""

from collections import Counter
from collections.abc import Sequence

from bitrawl.corpus import MergedCounts, MergedSite, MergeFacts
from bitrawl.languages import language_name
from bitrawl.show.plots import bars
from bitrawl.show.templating import document
from bitrawl.show.wording import counted, number

MOST_ROWS = 200  # of a table; sites.tsv has all sites

Row = tuple[object, ...]


def report_of_merge(facts: MergeFacts) -> str:
    """The same facts give the same page."""
    failed = [site for site in facts.sites if site.part.why]
    languages = list(dict.fromkeys(code for corpus in facts.corpora for code in corpus.languages))
    names = "–".join(map(language_name, languages)) if len(languages) == 2 else f"{len(languages)} languages"
    return document(
        "merge_report.html",
        facts=facts,
        title=f"{names} from {counted(len({site.part.site for site in facts.sites}), 'site')}",
        lead=_lead(facts),
        tiles=_tiles(facts, failed),
        most=MOST_ROWS,
        units=_units(facts.sites),
        fruitful=[site for site in facts.sites if site.part.segment_pairs],
        failed=failed,
        kinds=dict(Counter(_kind(site) for site in failed).most_common()),
        corpus_rows=_corpus_rows,
        site_rows=_site_rows,
        failure_rows=_failure_rows,
        job_rows=_job_rows(facts),
        bars=bars,
    )


def _lead(facts: MergeFacts) -> str:
    units = sum(corpus.units for corpus in facts.corpora)
    pairs = sum(corpus.segment_pairs for corpus in facts.corpora)
    return (
        f"bitrawl merged the corpora of {counted(len(facts.jobs), 'job')}. Of {counted(pairs, 'segment pair')},"
        f" {counted(units, 'translation unit')} remained when each text was kept once."
    )


def _tiles(facts: MergeFacts, failed: Sequence[MergedSite]) -> list[tuple[str, str]]:
    return [
        (number(sum(corpus.units for corpus in facts.corpora)), "translation units"),
        (number(sum(corpus.page_pairs for corpus in facts.corpora)), "page pairs"),
        (number(sum(bool(site.part.segment_pairs) for site in facts.sites)), "sites with segments"),
        (number(len(failed)), "sites with failures"),
    ]


def _units(sites: Sequence[MergedSite]) -> dict[str, int]:
    """By site, the most first."""
    units: Counter[str] = Counter()
    for site in sites:
        units[site.part.site] += site.units
    return {name: count for name, count in sorted(units.items(), key=lambda item: (-item[1], item[0])) if count}


def _corpus_rows(corpus: MergedCounts) -> list[Row]:
    """The first rows add up to the sums below them."""
    rows = [(job, part.page_pairs, part.segment_pairs, part.units) for job, part in corpus.parts.items()]
    return [
        *rows[:MOST_ROWS],
        ("all jobs", corpus.page_pair_sum, corpus.segment_pairs, corpus.unit_sum),
        ("merged", corpus.page_pairs, "", corpus.units),
    ]


def _site_rows(sites: Sequence[MergedSite]) -> list[Row]:
    return [
        (site.part.site, site.job, site.part.pages, site.part.page_pairs, site.part.segment_pairs, site.units)
        for site in sites[:MOST_ROWS]
    ]


def _failure_rows(sites: Sequence[MergedSite]) -> list[Row]:
    return [(site.part.site, site.job, site.part.pages, str(site.part.why)) for site in sites[:MOST_ROWS]]


def _kind(site: MergedSite) -> str:
    why = site.part.why
    return why.lack.text if why else ""


def _job_rows(facts: MergeFacts) -> list[Row]:
    return [
        (name, ", ".join(part.languages), len(part.sites), sum(site.pages for site in part.sites), part.state)
        for name, part in list(facts.jobs.items())[:MOST_ROWS]
    ]
