"""How many visits are in flight at once: the option of the benchmarks that replay crawls, and how two crawls compare.

Several are simulated in virtual time (`bitrawl.papers.replay.InFlightWeb`). On one host, the order does not depend on it.
"""

import argparse
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from statistics import mean

from bitrawl.config import Job

USUAL = Job().politeness.parallel  # what users run
ONE = 1  # what came before is read before the next is chosen
LEAST_FOUND = 5  # below that, a ratio is chance


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--in-flight",
        type=lambda raw: [int(one) for one in raw.split(",")],
        default=[USUAL, ONE],
        metavar="N[,N]",
        help="visits at once; several numbers are compared (default: %(default)s)",
    )


def least_ratio(found: Sequence[int], others: Sequence[int]) -> float | None:
    """The least of what was found so far, divided by what the others had found by then: after each visit.

    A crawl that has ended finds no more. None if the others never found enough to compare.
    """
    ratios, had, others_had = [], 0, 0
    for now, others_now in zip_longest(found, others):
        had, others_had = (had if now is None else now), (others_had if others_now is None else others_now)
        if others_had >= LEAST_FOUND:
            ratios.append(had / others_had)
    return min(ratios, default=None)


def ratio(usual: Iterable[float], one: Iterable[float]) -> str:
    """Of the means, as it is printed."""
    return shown(mean(usual) / divisor) if (divisor := mean(one)) else "-"


def shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
