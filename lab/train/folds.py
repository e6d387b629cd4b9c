"""Folds for cross-validation, by site: no site is both learned from and measured on."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

Shuffle = Callable[[list[str]], list[str]]
Value = TypeVar("Value")


class Split(NamedTuple):
    """Indices into a list of examples."""

    learn: list[int]
    measure: list[int]


def shuffled(sites: list[str]) -> list[str]:
    """In an order that does not depend on their names and is always the same."""
    order = list(sites)
    random.Random(0).shuffle(order)  # noqa: S311 (repeatable, not secret)
    return order


def permuted(sites: list[str]) -> list[str]:
    """Another such order: the one used to train the package's boilerplate model."""
    order = np.random.default_rng(1).permutation(len(sites))
    return [sites[place] for place in np.argsort(order)]


def fold_of(sites: Iterable[str], count: int, shuffle: Shuffle = shuffled) -> dict[str, int]:
    """The fold of each site, counted from 0."""
    return {site: number % count for number, site in enumerate(shuffle(sorted(set(sites))))}


def splits(sites: Sequence[str], count: int, shuffle: Shuffle = shuffled) -> list[Split]:
    """For each fold, the indices of the examples of other folds and of its own.

    `sites` has the site of each example.
    """
    folds = fold_of(sites, count, shuffle)
    places = [folds[site] for site in sites]
    return [
        Split(
            [i for i, place in enumerate(places) if place != fold],
            [i for i, place in enumerate(places) if place == fold],
        )
        for fold in range(count)
    ]


def without(site: str, by_site: Mapping[str, Value]) -> list[Value]:
    """What belongs to the other sites: leave one site out."""
    return [value for name, value in by_site.items() if name != site]
