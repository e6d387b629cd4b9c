"""Makes models/adaptive.json: how strongly each fact about a link indicates that its page has a partner.

The weights are learned from replays of site packs (`site_packs`) under the strategy itself, by a logistic regression on
what was known about each link when it was visited: `python -m lab.train adaptive --data SITES --out adaptive.json`. The
replays use the weights of the package, so training learns how to improve on them. A second training that starts from
the first one's weights gives other weights again.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitrawl import files
from bitrawl.errors import ConfigError
from bitrawl.model import Advice, Link, LinkKind, Page, SiteKnowledge, Sitemap, Visit
from bitrawl.papers.replay import Replay, ReplaySettings, opened_replay
from bitrawl.papers.trial import run_trial
from bitrawl.strategies import Adaptive, Strategy
from bitrawl.strategies.adaptive.link_table import LinkColumn
from bitrawl.url import Url
from lab.train import Tell, silent
from lab.train.site_packs import SitePack, open_packs

Floats = NDArray[np.float64]
Trace = tuple[Floats, Floats]
"""Columns of the links of one replay, in the order of the visits, and whether each led to a page of a true pair."""

LEAST_PAIRS = 30  # true pairs that a language pair needs to be replayed; judgement: a rate from fewer is chance
PENALTY = 2e-3  # on the squares of the weights, each in units of its column's deviation; judgement
BIAS_PENALTY = 1e-6  # the bias is free, but the equations remain solvable if all labels are the same
LEAST_DEVIATION = 0.15  # a column that is almost constant gets no large weight; judgement
STEPS = 50  # of Newton's method, at most; judgement
LEAST_STEP = 1e-6  # of a weight, at which it ends; four digits are written


def train(data: Path, out: Path, *, cache: Path | None = None, tell: Tell = silent) -> None:
    """Write the weights learned from replays of the site packs below `data`. A `cache` keeps analysed pages."""
    packs = open_packs(data)
    if not any(pack.pairs_with_english(LEAST_PAIRS) for pack in packs):
        raise ConfigError(f"no site of {data} has {LEAST_PAIRS} true pairs of English and another language")
    seen = []
    for number, pack in enumerate(packs, 1):
        tell(f"{pack.name}, site {number} of {len(packs)}: replaying it")
        seen.append(traces(pack, cache=cache))
        tell(f"{pack.name}: {len(seen[-1])} replays, {sum(len(paired) for _, paired in seen[-1])} visits")
    tell(f"fitting the weights to {len(packs)} sites")
    weights = fit([of_site for of_site in seen if of_site])
    files.write(out, json.dumps(named(weights), indent=1) + "\n")


def traces(pack: SitePack, *, cache: Path | None = None, weights: Mapping[str, float] | None = None) -> list[Trace]:
    """What `adaptive` knew about each link of a site when it visited it, and whether the visit was worth it.

    Each language pair with English is replayed twice, the second time as if nothing were declared. `weights`, by the
    names of their columns, replace the package's.
    """

    async def replayed() -> list[Trace]:
        async with opened_replay([pack.archive], cache=cache) as replay:
            return [
                await _trace(
                    pack,
                    replay,
                    ReplaySettings(languages=languages, alternates=alternates, weights=dict(weights or {})),
                )
                for languages in pack.pairs_with_english(LEAST_PAIRS)
                for alternates in (True, False)
            ]

    return asyncio.run(replayed())


async def _trace(pack: SitePack, replay: Replay, settings: ReplaySettings) -> Trace:
    scorer = replay.strategy(Strategy.ADAPTIVE, settings)
    assert isinstance(scorer, Adaptive)
    recorded = Recorded(scorer)
    await run_trial(Strategy.ADAPTIVE, recorded, replay.prepared(pack.seeds, settings))
    paired = {url for pair in pack.true_pairs(settings.languages) for url in pair}
    unsure = {url for pair in pack.uncounted_pairs() for url in pair} - paired
    known = [(columns, url in paired) for url, columns in recorded.known if url not in unsure]
    return np.array([columns for columns, _ in known], float), np.array([is_paired for _, is_paired in known], float)


def fit(sites: Sequence[Sequence[Trace]]) -> Floats:
    """The weights. Every site counts the same, and within a site every replay."""
    known = np.vstack([columns for traces in sites for columns, _ in traces]).astype(float)
    labels = np.concatenate([paired for traces in sites for _, paired in traces]).astype(float)
    share = np.concatenate(
        [np.full(len(paired), 1 / len(paired) / len(traces)) for traces in sites for _, paired in traces]
    )
    share /= share.sum()
    deviation = np.maximum(known.std(axis=0), LEAST_DEVIATION)
    deviation[LinkColumn.BIAS] = 1.0
    known /= deviation
    penalty = np.full(len(LinkColumn), PENALTY)
    penalty[LinkColumn.BIAS] = BIAS_PENALTY
    weights = np.zeros(len(LinkColumn))
    for _ in range(STEPS):  # Newton's method
        chance = 1 / (1 + np.exp(-known @ weights))
        slope = known.T @ (share * (chance - labels)) + penalty * weights
        bend = (known * (share * chance * (1 - chance))[:, None]).T @ known + np.diag(penalty)
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < LEAST_STEP:
            break
    return np.asarray(weights / deviation, float)


def named(weights: Floats) -> dict[str, float]:
    """The weights by column name, as in the model file."""
    return {column.name.lower(): round(float(weights[column]), 4) for column in LinkColumn}


class Recorded:
    """The adaptive strategy. It also remembers what was known about each link when it was visited."""

    def __init__(self, inner: Adaptive) -> None:
        self.known: list[tuple[Url, NDArray[np.float32]]] = []  # in the order of the visits, by `LinkColumn`
        self._inner = inner

    def score(self, links: Sequence[Link], found_on: Page | None, site: SiteKnowledge) -> list[float]:
        return self._inner.score(links, found_on, site)

    def learn(self, visit: Visit, site: SiteKnowledge) -> None:
        link = visit.lease.link
        features = self._inner.features(link.url, site)
        if features is not None and link.kind is not LinkKind.PROBE and not isinstance(visit.outcome, Sitemap):
            self.known.append((link.url, features))
        self._inner.learn(visit, site)

    def advise(self, site: SiteKnowledge) -> Advice:
        return self._inner.advise(site)
