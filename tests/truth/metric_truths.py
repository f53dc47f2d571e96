"""The metrics as their definitions read: slow, short, for lists of a few rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations
from math import log2
from typing import Any

import numpy as np

Labels = Sequence[int]
Scores = Sequence[float]


def orders(y: Labels, s: Scores) -> Iterator[list[int]]:
    """Labels, best row first, in every order that the scores allow."""
    for rows in permutations(range(len(y))):
        if all(s[a] >= s[b] for a, b in pairwise(rows)):
            yield [y[row] for row in rows]


def expected(value: Callable[[list[int]], float], y: Labels, s: Scores) -> float:
    """Mean of `value` over all orders of tied rows."""
    return float(np.mean([value(order) for order in orders(y, s)]))


def hits(order: list[int], k: float) -> float:
    """Positives among the first k, the last one in part."""
    return sum(label * min(1.0, max(0.0, k - row)) for row, label in enumerate(order))


def dcg(order: list[int], k: float = np.inf) -> float:
    """Sum of the discounts of the positives."""
    return sum(y * min(1.0, max(0.0, k - r)) / log2(r + 2) for r, y in enumerate(order))


def ndcg(order: list[int], k: float = np.inf) -> float:
    """DCG over that of the best order."""
    return dcg(order, k) / dcg(sorted(order, reverse=True), k)


def average_reciprocal_rank(order: list[int]) -> float:
    """Mean of 1 / rank over the positives."""
    return sum(y / (r + 1) for r, y in enumerate(order)) / sum(order)


def average_precision(order: list[int]) -> float:
    """Mean of the precision at the ranks of the positives."""
    return sum(y * sum(order[: r + 1]) / (r + 1) for r, y in enumerate(order)) / sum(order)


def _classes(y: Any, s: Any, w: Any) -> tuple[Any, Any, Any, Any]:
    y, s, w = np.asarray(y) == max(y), np.asarray(s), np.asarray(w, dtype=float)
    return s[y], s[~y], w[y], w[~y]


def auc(y: Any, s: Any, w: Any) -> float:
    """Chance that a positive beats a negative, a tie being half."""
    pos, neg, p, q = _classes(y, s, w)
    wins = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
    return float(p @ wins @ q / (p.sum() * q.sum()))


def auc_at_margin(y: Any, s: Any, w: Any, margin: float) -> float:
    """Share of the pairs that are at least the margin apart."""
    pos, neg, p, q = _classes(y, s, w)
    return float(p @ (pos[:, None] - neg >= margin) @ q / (p.sum() * q.sum()))


def tpr_at_fpr(y: Any, s: Any, w: Any, fpr: float) -> float:
    """Largest share of positives over all thresholds with few enough negatives."""
    pos, neg, p, q = _classes(y, s, w)
    cuts = [(p[pos >= t].sum(), q[neg >= t].sum()) for t in [*np.unique(s), np.inf]]
    return float(max(tp / p.sum() for tp, fp in cuts if fp / q.sum() <= fpr))


def staircase(order: list[int], fpr: float) -> float:
    """Share of the positives before the first negative that is one too many."""
    allowed = round(fpr * order.count(0))
    seen = np.cumsum([1 - label for label in order])
    return sum(label for label, n in zip(order, seen, strict=True) if n <= allowed) / sum(order)


def positives_at_top(y: Any, s: Any, w: Any, tied: float = 0.0) -> float:
    """Share of positive weight above the highest negative."""
    pos, neg, p, _ = _classes(y, s, w)
    return float(p @ ((pos > neg.max()) + tied * (pos == neg.max())) / p.sum())


def partial_auc(y: Any, s: Any, w: Any, lowest: float, highest: float) -> float:
    """Mean height of the ROC curve on a grid of midpoints; exact up to the grid."""
    pos, neg, p, q = _classes(y, s, w)
    steps = [[(c * (v >= t)).sum() / c.sum() for t in np.unique(s)[::-1]]
             for v, c in ((neg, q), (pos, p))]  # fmt: skip
    grid = lowest + (highest - lowest) * (np.arange(4000) + 0.5) / 4000
    return float(np.interp(grid, [0.0, *steps[0]], [0.0, *steps[1]]).mean())


def block_average_precision(y: Any, s: Any, w: Any) -> float:
    """Mean over the positives of the precision of all rows no lower."""
    pos, neg, p, q = _classes(y, s, w)
    tp, fp = ((v >= pos[:, None]) @ c for v, c in ((pos, p), (neg, q)))
    return float(p @ (tp / (tp + fp)) / p.sum())


def recall_at_precision(y: Any, s: Any, w: Any, least: float) -> float:
    """Largest recall over all thresholds that are precise enough."""
    pos, neg, p, q = _classes(y, s, w)
    cuts = [(p[pos >= t].sum(), q[neg >= t].sum()) for t in np.unique(s)]
    return float(max([tp / p.sum() for tp, fp in cuts if tp / (tp + fp) >= least], default=0.0))
