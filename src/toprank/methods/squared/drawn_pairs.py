"""Drawing pairs of a positive and a negative row, in blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...designs.random_pairs import CHUNK, RandomPairs
from ...inputs.class_split import Split

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Pairs that are drawn at a time, at the most; their rows and what it takes to draw them come to
#: about 100 MB.
AT_ONCE = 64 * CHUNK


def draw_pairs(
    split: Split, n_pairs: int, sampling: str, rng: np.random.Generator, at_once: int = AT_ONCE
) -> Iterator[tuple[Rows, Rows]]:
    """Positive and negative rows of pairs, each pair (i, j) with the probability p_i q_j.

    "uniform": one pair independently of the other. "matched": every row as often as its weight
    says, to within one, in random order. Blocks have `at_once` pairs or less.
    """
    if sampling == "uniform":
        yield from _uniform(split, n_pairs, rng, at_once)
        return
    above = _systematic(split.p, n_pairs, rng, at_once)
    below = _systematic(split.q, n_pairs, rng, at_once)
    for i, j in zip(above, below, strict=True):
        yield split.pos[i], split.neg[j]


def _uniform(
    split: Split, n: int, rng: np.random.Generator, at_once: int
) -> Iterator[tuple[Rows, Rows]]:
    draws = RandomPairs(split)
    for begin in range(0, n, at_once):
        drawn = list(draws.chunks(rng, min(at_once, n - begin), 1.0))
        yield np.concatenate([i for i, _ in drawn]), np.concatenate([j for _, j in drawn])


def _systematic(
    share: Array, n: int, rng: np.random.Generator, at_once: int
) -> Iterator[NDArray[np.intp]]:
    """Draw n places in random order, each n times its share often, to within one.

    The shares are laid end to end, in random order, and n points put down at equal distances,
    the first at random: every point falls on a place with the probability of its share. A block
    has every so many of the points, so that it spreads over all places.
    """
    order = rng.permutation(len(share))
    first, n_blocks = rng.random(), -(-n // at_once)
    ends = None if np.ptp(share) == 0.0 else np.cumsum(share[order])
    for block in range(n_blocks):
        points = np.arange(block, n, n_blocks) + first
        if ends is None:
            places = (points * len(share) / n).astype(np.int64)
        else:
            places = np.searchsorted(ends, points * (ends[-1] / n), side="right")
        drawn = order[np.minimum(places, len(share) - 1)]
        rng.shuffle(drawn)
        yield drawn
