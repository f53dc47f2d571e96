"""Dual coordinate descent on the pairs near the margin, listed one by one.

Solves   min over w  alpha/2 |w|^2 + sum_i sum_j p_i q_j [1 - w.x_i + w.x_j]_+
by       `PairDescent` on the pairs that the margin is or may be violated by; pairs that come to
         violate it join them, until the gap of all pairs is within `tol`.
Given    a Problem with a PairLoss of the hinge, over a matrix in memory, with few such pairs.
Returns  a Solution; its dual vector holds the sums of the pairs' duals over rows and columns.

For small problems, and to finish what Newton's method began where the classes are all but
separable and the features many: there the optimum rests on few pairs, each of which matters.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import PairDescent
from ..inputs.class_split import Split
from ..losses import PairLoss
from ..problems import Problem, Solution
from .starts import better_start, proven
from .watch import Watch
from .zero_test import ZeroTest

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: The most pairs that are listed one by one: their memory is some hundred bytes each.
MOST_PAIRS = 5_000_000
#: Pairs that satisfy the margin by no more than this are listed too: they may come to violate it.
_SLACK = 0.1
#: How many pairs are listed at a time, at the least.
_LEAST_AT_A_TIME = 20_000
#: And so many for every row.
_AT_A_TIME = 16
#: Halvings in search of a level with about so many pairs above it.
_BISECTIONS = 30
#: The pairs are solved to this share of `tol`, for those left out have a share of the gap too.
_INNER_SHARE = 0.5
#: And while the gap is wide, to this share of it.
_ROUGHLY = 0.1
#: The width over which the duals of a first guess go from none to all, and for weights of the
#: squared hinge, whose slope it is.
_FIRST_WIDTH, _SQUARED_WIDTH = 0.05, 0.5


def listed_pairs(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Watch | None = None,
    seed: int = 0,
    squares: Solution | None = None,
) -> Solution:
    """Solve a problem with the hinge on all pairs by listing them; an iteration is an epoch.

    The first list has the pairs near the margin of `start` or, with the optimum of the squared
    hinge in `squares`, those that it violates the margin by.
    """
    design, loss = problem.design, cast(PairLoss, problem.loss)
    alpha = problem.alpha
    watch, split = watch or Watch(design), loss.split
    core = PairDescent(design.by_rows(), seed)
    zero = ZeroTest(problem)
    w, s = np.zeros(design.shape[1]), np.zeros(split.n_rows)
    v, dual = proven(problem, start)
    best = Solution(w, v, solver="listed-pairs", alpha=alpha)
    primal = loss.at_zero
    w, s = better_start(problem, start) or (w, s)
    slack, width = _SLACK, _FIRST_WIDTH
    if (begin := better_start(problem, squares)) is not None:
        if w.any():
            primal, best.w = problem.value(w, s), w
        (w, s), slack, width = begin, 0.0, _SQUARED_WIDTH
    first, second = np.empty(0, np.int64), np.empty(0, np.int64)  # places within the classes
    read, inner = 0, _INNER_SHARE * tol
    most = min(max(_LEAST_AT_A_TIME, _AT_A_TIME * split.n_rows), MOST_PAIRS // 4)
    stopped = False
    while True:
        value = problem.value(w, s)
        # What is better than w = 0 may be so by less than its value can show.
        at_zero = not best.w.any()
        if value < primal or (at_zero and 0.5 * alpha * float(w @ w) + loss.rise(s) < 0):
            primal, best.w = min(value, primal), w
        settled = bool(best.w.any()) or zero.holds(best.dual)
        best.converged = primal - dual <= tol * primal and settled
        stopped = watch(best.n_iter, primal, dual, lambda: best.w)
        if best.converged or stopped or best.n_iter >= max_iter:
            break
        if not len(first):  # the closest pairs, at least
            slack = max(slack, slack - 1.0 + float(s[split.pos].min() - s[split.neg].max()))
        new = _beyond(split, s, first, second, slack, most)
        if new is None or len(first) + len(new[0]) > MOST_PAIRS:
            best.gave_up = True
            break
        i, j = new
        weight = split.p[i] * split.q[j]
        excess = 1.0 - s[split.pos[i]] + s[split.neg[j]]
        duals = np.clip(excess / width, 0.0, 1.0) * (not len(first)) * weight / alpha
        core.add(split.pos[i], split.neg[j], weight / alpha, duals)
        first, second = np.concatenate([first, i]), np.concatenate([second, j])
        if not len(i):  # it is the listed pairs that are not solved well enough
            inner *= _INNER_SHARE
        gap = (value - dual) / value  # of this point: an earlier one may be better
        epochs, _, inside = core.solve(max(inner, _ROUGHLY * gap), max_iter - best.n_iter)
        best.n_iter += epochs
        design.entries_read += core.entries_read - read
        read = core.entries_read
        w = core.weights
        s = design.scores(w)
        if alpha * inside > dual:
            dual, best.proof = alpha * inside, _sums(split, first, second, alpha * core.duals)
        slack = 0.0
    return best


def _beyond(
    split: Split, s: Array, first: Rows, second: Rows, slack: float, most: int
) -> tuple[Rows, Rows] | None:
    """The pairs with 1 - s_i + s_j > -slack that are not listed yet, by places in the classes.

    The worst of them, some `most`, where there are more. None where they cannot be listed: equal
    scores, of empty rows for instance, come all together.
    """
    s_pos, s_neg = s[split.pos], s[split.neg]
    order = np.argsort(-s_neg, kind="stable")
    falling = -s_neg[order]

    def counts(slack: float) -> Rows:
        return np.searchsorted(falling, 1.0 + slack - s_pos, side="left")

    many = counts(slack)
    if (total := int(many.sum())) > most + len(first):
        low, high = -1.0 + float(s_pos.min() - s_neg.max()), slack
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            total = int((many := counts(middle)).sum())
            if 0.5 * most <= total - len(first) <= most:
                break
            low, high = (middle, high) if total - len(first) < most else (low, middle)
        else:  # below the step that many equal scores make there may be nothing new
            total = int((many := counts(high)).sum())
    if total > MOST_PAIRS:
        return None
    i = np.repeat(np.arange(len(s_pos)), many)
    begins = np.cumsum(many) - many
    j = order[np.arange(total) - np.repeat(begins, many)]
    if not len(first):
        return i, j
    n = len(s_neg)
    known, codes = np.sort(first * n + second), i * n + j
    place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    new = known[place] != codes
    return i[new], j[new]


def _sums(split: Split, first: Rows, second: Rows, duals: Array) -> Array:
    """The duals of pairs, added up over rows and columns."""
    v = np.zeros(split.n_rows)
    v[split.pos] = -np.bincount(first, duals, len(split.pos))
    v[split.neg] = np.bincount(second, duals, len(split.neg))
    return v
