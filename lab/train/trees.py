"""Trains boosted trees with LightGBM, and converts them for `text.arrays`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitrawl.text.arrays import Trees

# All are judgements except the last four lines: few small trees, strongly regularised, because there are few sites.
_DEPTH = 5
_SETTINGS: dict[str, Any] = {
    "objective": "binary",
    "max_depth": _DEPTH,
    "num_leaves": 12,
    "learning_rate": 0.08,
    "min_data_in_leaf": 40,
    "lambda_l2": 10.0,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "seed": 1,
    "verbose": -1,
    "num_threads": 1,  # with `deterministic`: the same data gives the same trees
    "deterministic": True,
}


def named_arrays(**models: Trees) -> dict[str, NDArray[Any]]:
    """The arrays of several models for one file, as `Trees.named` reads them."""
    parts = ("feature", "threshold", "leaf")
    return {f"{name}.{part}": getattr(trees, part) for name, trees in models.items() for part in parts}


def grow(
    rows: NDArray[np.float32],
    labels: NDArray[np.float32],
    *,
    weights: NDArray[np.float32] | None = None,
    directions: Sequence[int] = (),
    trees: int = 90,  # judgement
) -> Trees:
    """`directions` are 1 or -1 for features that may only count for or against: without them, few sites mislead."""
    import lightgbm  # noqa: PLC0415 (the group "lab")

    settings = _SETTINGS | ({"monotone_constraints": list(directions)} if directions else {})
    data = lightgbm.Dataset(rows, labels, weight=weights, params={"verbose": -1})
    booster = lightgbm.train(settings, data, trees)
    roots = [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    inner, leaves = 2**_DEPTH - 1, 2**_DEPTH
    feature = np.zeros((len(roots), inner), np.int16)
    threshold = np.full((len(roots), inner), np.inf, np.float32)
    leaf = np.zeros((len(roots), leaves), np.float32)
    for number, root in enumerate(roots):
        _unfold(root, 0, feature[number], threshold[number], leaf[number])
    return Trees(feature, threshold, leaf)


def _unfold(
    node: dict[str, Any], place: int, feature: NDArray[Any], threshold: NDArray[Any], leaf: NDArray[Any]
) -> None:
    inner = len(feature)
    if place >= inner:
        leaf[place - inner] = node["leaf_value"]
    elif "leaf_value" in node:  # an early leaf: the infinite threshold sends the row left to the bottom
        while place < inner:
            place = 2 * place + 1
        leaf[place - inner] = node["leaf_value"]
    else:
        feature[place] = node["split_feature"]
        threshold[place] = (
            np.nextafter(np.float32(node["threshold"]), np.float32(-np.inf))
            if (np.float32(node["threshold"]) > node["threshold"])
            else np.float32(node["threshold"])
        )
        _unfold(node["left_child"], 2 * place + 1, feature, threshold, leaf)
        _unfold(node["right_child"], 2 * place + 2, feature, threshold, leaf)
