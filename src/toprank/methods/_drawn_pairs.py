"""Drawing pairs of a positive and a negative row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..draws import Draws
from ..split import Split

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


def draw_pairs(
    split: Split, n_pairs: int, sampling: str, rng: np.random.Generator
) -> tuple[Rows, Rows]:
    """Positive and negative rows of pairs, each pair (i, j) with the probability p_i q_j.

    "uniform": one pair independently of the other. "matched": every row as often as its weight
    says, to within one, in random order.
    """
    if sampling == "uniform":
        drawn = list(Draws(split).chunks(rng, n_pairs, 1.0))
        return np.concatenate([i for i, _ in drawn]), np.concatenate([j for _, j in drawn])
    return (
        split.pos[_systematic(split.p, n_pairs, rng)],
        split.neg[_systematic(split.q, n_pairs, rng)],
    )


def _systematic(share: Array, n: int, rng: np.random.Generator) -> Rows:
    """Draw n places in random order, each n times its share often, to within one.

    The shares are laid end to end, in random order, and n points put down at equal distances,
    the first at random: every point falls on a place with the probability of its share.
    """
    order = rng.permutation(len(share))
    points = np.arange(n) + rng.random()
    if np.ptp(share) == 0.0:
        places = (points * len(share) / n).astype(np.int64)
    else:
        ends = np.cumsum(share[order])
        places = np.searchsorted(ends, points * (ends[-1] / n), side="right")
    drawn = order[np.minimum(places, len(share) - 1)]
    rng.shuffle(drawn)
    return drawn
