"""The report over the sites of a merged corpus."""

from collections import Counter
from collections.abc import Sequence

from bitrawl.corpus.merge_facts import MergedCounts, MergedSite, MergeFacts
from bitrawl.languages import language_name
from bitrawl.show.plots import bars
from bitrawl.show.templating import document
from bitrawl.show.wording import counted, number

MOST_ROWS = 200  # of a table (judgement); sites.tsv has all sites

Row = tuple[object, ...]


def render(facts: MergeFacts) -> str:
    """The same facts give the same page."""
    failed = [one for one in facts.sites if one.part.why]
    languages = list(dict.fromkeys(code for one in facts.corpora for code in one.languages))
    names = "–".join(map(language_name, languages)) if len(languages) == 2 else f"{len(languages)} languages"
    return document(
        "merge_report.html",
        facts=facts,
        title=f"{names} from {counted(len({one.part.site for one in facts.sites}), 'site')}",
        lead=_lead(facts),
        tiles=_tiles(facts, failed),
        most=MOST_ROWS,
        units=_units(facts.sites),
        fruitful=[one for one in facts.sites if one.part.segment_pairs],
        failed=failed,
        kinds=dict(Counter(one.part.why.partition(":")[0].partition(";")[0] for one in failed).most_common()),
        corpus_rows=_corpus_rows,
        site_rows=_site_rows,
        failure_rows=_failure_rows,
        job_rows=_job_rows(facts),
        bars=bars,
    )


def _lead(facts: MergeFacts) -> str:
    units, pairs = (sum(getattr(one, name) for one in facts.corpora) for name in ("units", "segment_pairs"))
    return (
        f"bitrawl merged the corpora of {counted(len(facts.jobs), 'job')}. Of {counted(pairs, 'segment pair')},"
        f" {counted(units, 'translation unit')} remained when each text was kept once."
    )


def _tiles(facts: MergeFacts, failed: Sequence[MergedSite]) -> list[tuple[str, str]]:
    return [
        (number(sum(one.units for one in facts.corpora)), "translation units"),
        (number(sum(one.page_pairs for one in facts.corpora)), "page pairs"),
        (number(sum(bool(one.part.segment_pairs) for one in facts.sites)), "sites with segments"),
        (number(len(failed)), "sites with failures"),
    ]


def _units(sites: Sequence[MergedSite]) -> dict[str, int]:
    """By site, the most first."""
    units: Counter[str] = Counter()
    for one in sites:
        units[one.part.site] += one.units
    return {site: count for site, count in sorted(units.items(), key=lambda item: (-item[1], item[0])) if count}


def _corpus_rows(corpus: MergedCounts) -> list[Row]:
    """The first rows add up to the sums in the last but one."""
    rows = [(job, part.page_pairs, part.segment_pairs, part.units) for job, part in corpus.parts.items()]
    return [
        *rows[:MOST_ROWS],
        ("all jobs", corpus.page_pair_sum, corpus.segment_pairs, corpus.unit_sum),
        ("merged", corpus.page_pairs, "", corpus.units),
    ]


def _site_rows(sites: Sequence[MergedSite]) -> list[Row]:
    return [
        (one.part.site, one.job, one.part.pages, one.part.page_pairs, one.part.segment_pairs, one.units)
        for one in sites[:MOST_ROWS]
    ]


def _failure_rows(sites: Sequence[MergedSite]) -> list[Row]:
    return [(one.part.site, one.job, one.part.pages, one.part.why) for one in sites[:MOST_ROWS]]


def _job_rows(facts: MergeFacts) -> list[Row]:
    return [
        (name, ", ".join(part.languages), len(part.sites), sum(site.pages for site in part.sites), part.state)
        for name, part in list(facts.jobs.items())[:MOST_ROWS]
    ]
