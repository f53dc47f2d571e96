"""Linear programmes for the hinge of the highest negative with a 1-norm, by parts of the data.

Solves   min over w  alpha |w|_1 + sum_i p_i [1 + t - w.x_i]_+,   t = max_j w.x_j
by       the linear programme of some columns, positives and negatives; then those are added whose
         constraints its solution breaks, in the primal or in the dual, until none matters.
Given    an L1Problem with a TopLoss of the hinge.
Returns  a Solution: a vertex, so that few weights are not zero; its dual vector is that of the
         programme.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from ...designs import Design
from ...inputs.class_split import Split
from ...losses import TopLoss
from ...problems import Problem, Solution
from ...solvers.loop import Progress, within
from ...solvers.watch import Watch

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Columns, negatives and positives of the first programme.
_FIRST = (100, 1000, 2000)
#: Those that are added at a time, the worst first.
_MORE = (100, 300, 1000)
#: What HiGHS may break a constraint by, whose rows are scaled to one: the least it takes.
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
#: Rounds in which the gap must fall.
_PATIENCE = 50
#: By this share.
_FALLS = 1e-3
#: What rounding may change in an objective, as a share of it.
_TRIFLE = 1e-13
#: Weights of next to subnormal columns are left out from here on: sums of them overflow.
_HEAVIEST = 1e304
#: Where no programme leads away from w = 0, a gap of this share proves that nothing is better.
_PROOF = 1e-5


@dataclass
class _Part:
    """The columns, negatives and positives of a programme, as sorted places among all."""

    columns: Rows
    negatives: Rows
    positives: Rows

    def widened(self, columns: Rows, negatives: Rows, positives: Rows) -> _Part:
        """With more of each."""
        return _Part(
            np.union1d(self.columns, columns),
            np.union1d(self.negatives, negatives),
            np.union1d(self.positives, positives),
        )


def linear_programming(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a push with a 1-norm; an iteration is a linear programme."""
    loss, design = cast(TopLoss, problem.loss), problem.design
    split = loss.split
    n, d = design.shape
    progress = Progress(
        Solution(np.zeros(d), np.zeros(n), solver="linear-programming", alpha=problem.alpha),
        loss.at_zero,
        0.0,
        close=within(tol),
        zero=lambda v: bool(problem.certify(Solution(np.zeros(d), v)).gap <= _PROOF * loss.at_zero),
        watch=watch or Watch(design),
        max_iter=max_iter,
        patience=_PATIENCE,
        falls=_FALLS,
    )
    part = _first_part(design, split)
    if start is not None and len(start.w) == d and len(start.dual) == n:
        v = start.dual
        part = part.widened(
            np.flatnonzero(start.w), np.flatnonzero(v[split.neg]), np.flatnonzero(v[split.pos])
        )
    while not progress.over():
        found = _programme(design, loss, problem.alpha, part)
        if found is None:
            break
        w, v = found
        s = design.scores(w)
        value = problem.value(w, s)
        if value < (1.0 - _TRIFLE) * progress.primal:  # w = 0 rather than a vertex as good
            progress.lower(value, w)
        dual = problem.certify(Solution(w, v), s).dual
        if dual > progress.dual:
            progress.lift(dual, v)
        before = part
        part = _widened(part, split, s, np.abs(design.pull_back(v)) - problem.alpha)
        progress.stuck = len(before.columns) == len(part.columns) and (
            len(before.negatives) + len(before.positives)
            == len(part.negatives) + len(part.positives)
        )
    progress.best.gave_up = not progress.best.converged
    return progress.best


def _first_part(design: Design, split: Split) -> _Part:
    """What tells the means of the classes apart best, and the rows at the wrong end of that."""
    v = np.zeros(design.shape[0])
    v[split.pos], v[split.neg] = split.p, -split.q
    apart = design.pull_back(v)
    s = design.scores(apart)
    columns, negatives, positives = _FIRST
    return _Part(
        np.sort(np.argsort(-np.abs(apart), kind="stable")[:columns]),
        np.sort(np.argsort(-s[split.neg], kind="stable")[:negatives]),
        np.sort(np.argsort(s[split.pos], kind="stable")[:positives]),
    )


def _widened(part: _Part, split: Split, s: Array, too_steep: Array) -> _Part:
    """With the columns, negatives and positives that the last solution is most wrong about."""
    columns, negatives, positives = _MORE
    s_neg, top = s[split.neg], float(s[split.neg[part.negatives]].max())
    return part.widened(
        _worst(too_steep, part.columns, columns),
        _worst(s_neg - top, part.negatives, negatives),
        _worst(1.0 + float(s_neg.max()) - s[split.pos], part.positives, positives),
    )


def _worst(wrong: Array, known: Rows, most: int) -> Rows:
    """The places with the largest values above zero that are not known, at most so many."""
    wrong = wrong.copy()
    wrong[known] = 0.0
    order = np.argsort(-wrong, kind="stable")[:most]
    return order[wrong[order] > 0.0]


def _block(design: Design, rows: Rows, columns: Rows) -> Array:
    """Some columns of some rows, dense."""
    reader = design.by_columns(rows)
    return np.column_stack([reader.dense(int(k)) for k in columns])


def _programme(
    design: Design, loss: TopLoss, alpha: float, part: _Part
) -> tuple[Array, Array] | None:
    """The weights and the dual vector of a part, or None where HiGHS finds none.

    Columns are scaled to a largest entry of one. Those whose weight costs more than it can gain are
    left out: no |X'v| is above twice the largest entry, for v sums to one at most in each class.
    """
    split = loss.split
    neg, pos = split.neg[part.negatives], split.pos[part.positives]
    block = _block(design, np.concatenate([neg, pos]), part.columns)
    scale = np.abs(block).max(axis=0)
    used = scale > 0.5 * alpha
    columns, scale = part.columns[used], scale[used]
    x = block[:, used] / scale
    x_neg, x_pos = x[: len(neg)], x[len(neg) :]
    n, m, p = len(neg), len(pos), split.p[part.positives]
    k = len(columns)
    # max sum a  of  X'v + u = 0, |u| <= alpha: a row for each column is much less than one for each
    # row, and the multipliers of those are the weights.
    result = linprog(
        np.concatenate([np.zeros(n), -np.ones(m), np.zeros(k)]),
        A_eq=np.vstack(
            [
                np.hstack([x_neg.T, -x_pos.T, np.eye(k)]),
                np.concatenate([np.ones(n), -np.ones(m), np.zeros(k)])[np.newaxis],
            ]
        ),
        b_eq=np.zeros(k + 1),
        bounds=np.concatenate(
            [
                np.column_stack([np.zeros(n), np.full(n, np.inf)]),
                np.column_stack([np.zeros(m), p]),
                np.column_stack([-alpha / scale, alpha / scale]),
            ]
        ),
        method="highs",
        options=_EXACT,
    )
    if result.status != 0:
        return None
    w, duals = np.zeros(design.shape[1]), np.maximum(result.x[: n + m], 0.0)
    with np.errstate(over="ignore"):
        weights = result.eqlin.marginals[:k] / scale
    w[columns] = np.where(np.abs(weights) < _HEAVIEST, weights, 0.0)
    a, delta = np.zeros(len(split.pos)), np.zeros(len(split.neg))
    delta[part.negatives], a[part.positives] = duals[:n], np.minimum(duals[n:], p)
    return w, loss.join(a, delta)


def strength_of_zero(
    design: Design, split: Split, tol: float = 1e-9, max_iter: int = 1000
) -> tuple[float, float]:
    """The alpha from which on w = 0 is optimal in that problem: two bounds of it.

    It is the least |X'v|_inf, v = (-p, delta) with delta >= 0 that sum to one: how far the mean
    positive is from the hull of the negatives, in the largest coordinate. Equal to that is
    max over |w|_1 <= 1 of  w.mean - max_j w.x_j.
    """
    mean, part = design.pull_back(split.p, split.pos), _first_part(design, split)
    low, high = 0.0, np.inf
    for _ in range(max_iter):
        found = _nearest(design, split, mean, part)
        if found is None:
            break
        w, delta = found
        used = np.flatnonzero(delta)
        left = np.abs(mean - design.pull_back(delta[used], split.neg[used]))
        high = min(high, float(left.max()))
        s = design.scores(w, split.neg)
        low = max(low, float(w @ mean) - float(s.max()))
        if high - low <= tol * high:
            break
        columns = _worst(left - left[part.columns].max(), part.columns, _MORE[0])
        top = float(s[part.negatives].max())
        negatives = _worst(s - top, part.negatives, _MORE[1])
        if not len(columns) and not len(negatives):
            break
        part = part.widened(columns, negatives, part.positives)
    return low, high


def _nearest(design: Design, split: Split, mean: Array, part: _Part) -> tuple[Array, Array] | None:
    """min over delta of |mean - X'delta|_inf: the weights that prove it, and delta."""
    block = _block(design, split.neg[part.negatives], part.columns).T
    target = mean[part.columns]
    size = max(float(np.abs(block).max()), float(np.abs(target).max()), np.finfo(float).tiny)
    block, target = block / size, target / size
    n, k = len(part.negatives), len(part.columns)
    result = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.vstack(
            [np.hstack([-block, -np.ones((k, 1))]), np.hstack([block, -np.ones((k, 1))])]
        ),
        b_ub=np.concatenate([-target, target]),
        A_eq=np.append(np.ones(n), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=[(0.0, None)] * (n + 1),
        method="highs",
        options=_EXACT,
    )
    if result.status != 0:
        return None
    duals = np.maximum(-result.ineqlin.marginals, 0.0)
    w, delta = np.zeros(design.shape[1]), np.zeros(len(split.neg))
    w[part.columns] = duals[:k] - duals[k:]
    w /= max(float(np.abs(w).sum()), np.finfo(float).tiny)
    delta[part.negatives] = np.maximum(result.x[:n], 0.0)
    return w, delta / delta.sum()
