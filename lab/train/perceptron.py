"""A small network for each paragraph, trained in numpy: batches, dropout, weight decay."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bitrawl.page.boilerplate import CLIP, Floats, Network

# The perceptrons. All are judgements: usual values. Other tried values were not recorded.
HIDDEN = (48, 24)
EPOCHS = 25
BATCH = 128
RATE = 2e-3
DECAY = 1e-4
DROPOUT = 0.1
MEAN_DECAY, SQUARE_DECAY, EPSILON = 0.9, 0.999, 1e-8


def fit_network(pages: Sequence[Floats], labels: Sequence[Floats], members: int) -> Network:
    rows, target = np.vstack(pages), np.concatenate(labels)
    known = ~np.isnan(target)
    rows = rows[known]
    mean, scale = rows.mean(axis=0).astype(np.float32), (rows.std(axis=0) + 1e-3).astype(np.float32)
    signal = np.clip((rows - mean) / scale, -CLIP, CLIP).astype(np.float32)
    fitted = [_perceptron(signal, target[known].astype(np.float32), seed) for seed in range(members)]
    layers = [
        (np.stack([w for w, _ in layer]), np.stack([b for _, b in layer])[:, None])
        for layer in zip(*fitted, strict=True)
    ]
    return Network(mean, scale, tuple(layers))


def _perceptron(
    rows: NDArray[np.float32], target: NDArray[np.float32], seed: int
) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Rectified layers, logistic loss, Adam with a falling rate, dropout on the input."""
    random = np.random.default_rng(seed)
    sizes = [rows.shape[1], *HIDDEN, 1]
    weights = [random.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in pairwise(sizes)]
    biases = [np.zeros(b, np.float32) for b in sizes[1:]]
    parameters = weights + biases
    moments = [(np.zeros_like(p), np.zeros_like(p)) for p in parameters]
    batches = len(rows) // BATCH
    for step in range(EPOCHS * batches):
        if step % batches == 0:
            order = random.permutation(len(rows))
        batch = order[step % batches * BATCH : (step % batches + 1) * BATCH]
        kept = random.random((BATCH, rows.shape[1]), dtype=np.float32) > DROPOUT
        gradients = _gradients(weights, biases, rows[batch] * kept / (1 - DROPOUT), target[batch])
        rate = RATE * (1 - step / (EPOCHS * batches))
        for parameter, gradient, (mean, square) in zip(parameters, gradients, moments, strict=True):
            mean[:] += (1 - MEAN_DECAY) * (gradient - mean)
            square[:] += (1 - SQUARE_DECAY) * (gradient * gradient - square)
            unbiased = mean / (1 - MEAN_DECAY ** (step + 1))
            change = unbiased / (np.sqrt(square / (1 - SQUARE_DECAY ** (step + 1))) + EPSILON)
            parameter[:] -= rate * (change + DECAY * parameter)
    return list(zip(weights, biases, strict=True))


def _gradients(
    weights: list[NDArray[np.float32]],
    biases: list[NDArray[np.float32]],
    rows: NDArray[np.float32],
    target: NDArray[np.float32],
) -> list[NDArray[np.float32]]:
    signals = [rows]
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        signals.append(np.maximum(signals[-1] @ w + b, 0))
    logits = (signals[-1] @ weights[-1] + biases[-1])[:, 0]
    delta = ((1 / (1 + np.exp(-logits)) - target) / len(rows))[:, None]
    of_weights, of_biases = [], []
    for layer in range(len(weights) - 1, -1, -1):
        of_weights.append(signals[layer].T @ delta)
        of_biases.append(delta.sum(axis=0))
        delta = (delta @ weights[layer].T) * (signals[layer] > 0)
    return of_weights[::-1] + of_biases[::-1]
