"""The results of a simulation, as tables for people and as files."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from bitrawl import files
from bitrawl.folder_files import FolderFiles, check_inputs
from bitrawl.languages import same_language
from bitrawl.model import OWN_REQUESTS, Language
from bitrawl.papers.measure import MARKS, SiteTrials, TrialFigures
from bitrawl.show import counted, harvest

MEASURES = (
    *(f"pairs at {mark} %" for mark in MARKS),
    "area under the curve",
    "fetches to 95 % of the pairs",
    "  per page of a pair",
    "candidates per pair",
    "precision of the pairs",
    "would stop after",
    "  pairs lost",
    "  fetches saved",
    "fetches in all",
)
"""The rows of the table. Each strategy is a column, so that the table fits a terminal."""

COLUMNS = (
    "site",
    "strategy",
    "true_pairs",
    "reachable_pairs",
    "x_axis",
    "pages",
    "fetched",
    "pairs",
    *(f"pairs_at_{mark}" for mark in MARKS),
    "area",
    "area_reachable",
    "until_95",
    "until_95_per_page",
    "examined_per_pair",
    "precision",
    "stopped_at",
    "stop_reason",
    "stop_lost",
    "stop_saved",
    *(f"apart_{kind}" for kind in OWN_REQUESTS),
    "faults",
)


def cells(figures: TrialFigures) -> tuple[str, ...]:
    """A column of the table with one cell for each of MEASURES; "-" if a strategy does not provide it."""
    return (
        *map(str, figures.at_marks),
        _shown(figures.area, ".3f"),
        _shown(figures.until_almost_all),
        _shown(figures.until_per_page, ".2f"),
        _shown(figures.examined_per_pair, ".2f"),
        _shown(figures.precision, ".3f"),
        _shown(figures.stopped_at),
        _shown(figures.stop_lost),
        _shown(figures.stop_saved),
        str(figures.fetched),
    )


def headline(trials: SiteTrials) -> str:
    """The title of the table."""
    return (
        f"{trials.site}: {counted(len(trials.truth.pairs), 'true pair')}, {trials.reachable} within reach;"
        f" 100 % is {trials.length} fetches, of which {trials.pages} are pages"
    )


def remarks(trials: SiteTrials) -> list[str]:
    """Remarks on a site that its figures do not show."""
    reasons = [
        f"{figures.strategy} would stop: {figures.stop_reason}" for figures in trials.figures if figures.stop_reason
    ]
    bugs = [
        f"{figures.strategy}: a bug ended {counted(figures.faults, 'visit')}; see the log"
        for figures in trials.figures
        if figures.faults
    ]
    return reasons + bugs


def missing_languages(results: Iterable[SiteTrials], languages: Sequence[Language]) -> list[Language]:
    """The languages in which no site has a page, as far as breadth-first reaches."""
    spoken = {Language(code) for trials in results for code in trials.languages}
    return [language for language in languages if not any(same_language(code, language) for code in spoken)]


OWN_FILES = FolderFiles(
    "a simulation",
    ("simulate.csv", "harvest.csv"),
    ("simulate.csv", "simulate.html", "curves.csv", "truth.tsv", "harvest.csv", "harvest.svg"),
    re.compile(r"(?:simulate|curves|harvest)\.csv|simulate\.html|truth\.tsv|[\w.-]+\.(?:svg|png)").fullmatch,
)
"""What a simulation writes into its folder, with the pictures of each site."""


def check_target(folder: Path, inputs: Iterable[str | Path]) -> None:
    """Raise `ConfigError` if a simulation would write over files of others, or if it reads something that lies there."""
    check_inputs(folder, inputs)
    OWN_FILES.check_new(folder)


def write(folder: Path, results: Sequence[SiteTrials]) -> None:
    """Write tables, curves and pictures, PNG where Pillow is installed. The same simulation gives the same bytes."""
    _write_csv(folder / "simulate.csv", COLUMNS, (line for trials in results for line in _lines(trials)))
    heads = ("site", "strategy", "fetches", "pairs")
    _write_csv(folder / "curves.csv", heads, (line for trials in results for line in _curves(trials)))
    panels = [panel(trials) for trials in results]
    lead = "Archived sites were replayed under several strategies, to compare how soon each completes the pairs."
    files.write(folder / "simulate.html", harvest.render("Strategies compared", lead, panels))
    for site_panel, trials in zip(panels, results, strict=True):
        name = re.sub(r"[^\w.-]", "_", trials.site)  # a port, or an IP address in brackets
        files.write(folder / f"{name}.svg", harvest.svg(site_panel))
        if harvest.can_draw_png():
            files.write(folder / f"{name}.png", harvest.png(site_panel))


def panel(trials: SiteTrials) -> harvest.Panel:
    """A site's part of the report."""
    best = harvest.curve("best possible", trials.best)
    return harvest.Panel(
        trials.site,
        headline(trials),
        (*(harvest.curve(figures.strategy, figures.curve, _end(figures)) for figures in trials.figures), best),
        tuple(figures.strategy for figures in trials.figures),
        tuple(zip(MEASURES, *map(cells, trials.figures), strict=True)),
        tuple(remarks(trials)),
    )


def _end(figures: TrialFigures) -> int | None:
    """Fetches until the strategy would stop or has nothing left to fetch; None if it goes on to the end."""
    if figures.stopped_at is not None:
        return figures.stopped_at
    return figures.fetched if figures.fetched < len(figures.curve) else None


def _lines(trials: SiteTrials) -> Iterable[tuple[object, ...]]:
    about = (len(trials.truth.pairs), trials.reachable, trials.length, trials.pages)
    for figures in trials.figures:
        measured = (figures.area, figures.area_reachable, figures.until_almost_all, figures.until_per_page)
        claimed = (figures.examined_per_pair, figures.precision)
        stop = (figures.stopped_at, figures.stop_reason, figures.stop_lost, figures.stop_saved)
        apart = tuple(figures.apart.values())
        identity = (trials.site, figures.strategy, *about, figures.fetched, figures.pairs, *figures.at_marks)
        yield (*identity, *map(_rounded, (*measured, *claimed)), *stop, *apart, figures.faults)


def _curves(trials: SiteTrials) -> Iterable[tuple[object, ...]]:
    """The points where a curve rises, and where it ends."""
    for name, curve in (
        ("best possible", trials.best),
        *((figures.strategy, figures.curve) for figures in trials.figures),
    ):
        before = 0
        for fetches, pairs in enumerate(curve, 1):
            if pairs != before or fetches == len(curve):
                yield trials.site, name, fetches, pairs
            before = pairs


def _write_csv(path: Path, heads: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(heads)
    table.writerows(lines)
    files.write(path, text.getvalue())


def _shown(value: float | None, style: str = "d") -> str:
    return "-" if value is None else format(value, style)


def _rounded(value: float | None) -> float | None:
    return round(value, 6) if isinstance(value, float) else value
