"""`sites.tsv` of a merged corpus: what each site of each job brought, and what failed."""

from collections.abc import Iterable

from bitrawl.corpus.merge_facts import MergedSite
from bitrawl.files import cell
from bitrawl.text.words import one_line

COLUMNS = ("site", "job", "pages", "page_pairs", "segment_pairs", "units", "why")


def site_table(sites: Iterable[MergedSite]) -> str:
    """A header, then one line for each site. Nothing is quoted, because no value contains a tab or a line break."""
    rows = (COLUMNS, *map(_row, sites))
    return "".join("\t".join(cell(one_line(value)) for value in row) + "\n" for row in rows)


def _row(one: MergedSite) -> tuple[str, ...]:
    part = one.part
    figures = (part.pages, part.page_pairs, part.segment_pairs, one.units)
    return (part.site, one.job, *map(str, figures), part.why)
