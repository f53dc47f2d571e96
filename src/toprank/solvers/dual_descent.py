"""Dual coordinate descent with local subspace acceleration, for wide sparse data.

Solves   min over w, b  alpha/2 |w|^2 + sum_i p_i l(-(w.x_i + b)) + sum_j q_j h(w.x_j + b)
         s.t.  w.x_j + b <= 0  for every negative j: RectPush where h = l, TopPush where h = 0,
         with b = -max_j w.x_j.
by       coordinate steps on its dual (a_i on positives, delta_j on negatives), the equality
         sum a = sum delta carried by a multiplier and a penalty; after each round the exact
         minimum over the few duals that moved most, as those of almost equal rows do, and over
         the last three total steps, which costs no product with X.
Given    a Problem with a ThresholdLoss: squared hinge, logistic or exponential; for TopPush
         the hinge too.
Returns  a Solution whose dual vector is feasible.

The weights of a check are those of the duals, but for TopPush: there the few negatives above the
level of the others are lowered to it, for the objective holds the highest.

The parts of a round are methods of the compiled `DualDescent`; the loop is here.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import DualDescent
from ..losses import ThresholdLoss
from ..problems import Problem, Solution
from ..surrogates import Pieces
from .cost import DESCENT_TRIAL
from .starts import restart_duals, same_data
from .watch import Watch
from .zero_test import ZeroTest

#: The share of an epoch's cost that extra sweeps over the listed negatives may take.
_HARD_SHARE = 0.22
#: Epochs in which all rows move far, so that the largest move says nothing yet.
_UNSETTLED = 2
#: The epoch of the first check.
_FIRST_CHECK = 3
#: The most epochs between checks: where each reads all rows, and in general.
_EPOCHS, _MOST_EPOCHS = 6, 25
#: The fewest passes over the data between checks.
_CHECK_SHARE = 0.5
#: The cost of combining the last steps, in vectors as long as a row.
_COMBINED_VECTORS = 12
#: Epochs between combinations that cost more than an epoch, once duals are settled.
_COMBINED_EVERY = 2


def dual_descent(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
    seed: int = 0,
    budget: float = math.inf,
) -> Solution:
    """Solve a TopPush or RectPush problem by accelerated dual coordinate descent.

    `budget` is the work, in entries read, for which another solver ends the fit. The solution so
    far is returned, not converged, once the entries still to read exceed that, as predicted from
    the progress. The prediction is infinite as long as no weights are better than w = 0.
    """
    loss, design = cast(ThresholdLoss, problem.loss), problem.design
    watch = watch or Watch(design)
    split = loss.split
    # Vectors of all columns are most of the work where few of those are stored.
    matrix, columns = design.stored_columns()
    core = DualDescent(
        matrix,
        split.pos,
        split.neg,
        split.p,
        split.q,
        problem.alpha,
        loss.surrogate.name,
        math.isfinite(loss.ceiling) and not loss.only_top,
        seed,
        steeper_above(loss),
    )
    duals = restart_duals(problem, start)
    if (
        start is not None
        and duals is not None
        and start.scores is not None
        and start.w.any()
        and not same_data(start, design.scores(start.w), split)
    ):
        # Duals of other data may be anywhere, and those of an entropy hardly move from its ends.
        duals = None
    if duals is not None and start is not None:
        stretch = _best_stretch(problem, start)
        core.restart(stretch * np.concatenate(duals), stretch * start.b)

    zero = ZeroTest(problem)

    def best_dual() -> NDArray[np.float64]:
        y = core.best_duals
        return loss.join(y[: len(split.pos)], y[len(split.pos) :])

    def best_weights() -> NDArray[np.float64]:
        if columns is None:
            return core.best_weights
        w = np.zeros(design.shape[1])
        w[columns] = core.best_weights[: len(columns)]
        return w

    best = Solution(best_weights(), solver="dual-descent", alpha=problem.alpha)
    read_before = 0
    shrink = math.inf
    next_check = _FIRST_CHECK
    pace = _Pace()
    n_columns = design.shape[1] if columns is None else len(columns)
    combined = _COMBINED_VECTORS * n_columns if loss.surrogate.quadratic else 0
    primal, dual = loss.at_zero, 0.0
    converged = stopped = gave_up = False
    epoch = 0
    while epoch < max_iter and not (converged or stopped or gave_up):
        before = core.entries_read
        largest = core.epoch(shrink)
        epoch += 1
        shrink = largest or math.inf
        hard = core.hard_entries
        if hard > 0:
            sweeps = min(4, int(_HARD_SHARE * (core.entries_read - before) / hard))
            core.sweep_hard(sweeps)
        epoch_entries = core.entries_read - before
        if epoch > _UNSETTLED:
            core.settle()
        if epoch == 1 or epoch % _COMBINED_EVERY == 0 or epoch_entries > combined:
            core.subspace_step()
        core.update_bias(largest)
        if epoch == 1 and duals is None and loss.surrogate.quadratic:
            core.rebuild(1e3)  # from the scores the epoch met on its way: no pass
            shrink = shrink if loss.only_top else math.inf
        if epoch < next_check and epoch < max_iter:
            continue

        core.sweep_hard(2)  # levels the negatives' scores, whose maximum is in the primal
        core.settle()
        core.sweep_hard(1)
        primal, dual, violation = core.check(design.n_threads)
        design.entries_read += core.entries_read - read_before
        read_before = core.entries_read
        trivial = not core.best_weights.any()
        if primal - dual <= tol * primal:  # what is claimed is looked at once more
            best.w, best.proof = best_weights(), best_dual()
            loss.guess_bias(core.bias)
            converged = not trivial and problem.certify(best).holds(tol)
            if not converged:
                dual = core.verify()
                converged = trivial and primal - dual <= tol * primal and zero.holds(best.dual)
        stopped = watch(epoch, primal, dual, best_weights)
        gap, goal = (primal - dual) / primal, min(tol, zero.gap) if trivial else tol
        core.rebuild(violation)
        shrink = math.inf
        left = pace.epochs_left(epoch, gap, goal)
        # As long as nothing is better than w = 0, a falling gap does not say when something will.
        ahead = math.inf if trivial else left * epoch_entries
        tried = design.entries_read > DESCENT_TRIAL * budget
        gave_up = not converged and tried and ahead > budget
        # Look again when the gap should be there, within what a look is worth beside epochs.
        least = math.ceil(_CHECK_SHARE * design.n_entries / max(epoch_entries, 1))
        most = min(max(_EPOCHS, 3 * least), _MOST_EPOCHS)
        next_check = epoch + math.ceil(min(max(left, least), most))

    if not converged:  # the weights of a check, and the duals that were the best by then
        best.w, best.proof = best_weights(), best_dual()
    best.b, best.n_iter, best.converged, best.gave_up = core.bias, epoch, converged, gave_up
    return best


def steeper_above(loss: ThresholdLoss) -> float:
    """How many times as steep the negatives' loss is above zero; zero where there is a ceiling.

    NaN where it is not that of the positives below.
    """
    if np.isfinite(loss.ceiling):
        return 0.0
    of_pos, of_neg = loss.surrogate.pieces(), loss.below.pieces()
    if of_pos is None or of_neg is None or of_pos != Pieces(of_pos.kind):
        return math.nan
    same = (of_pos.kind, of_pos.low) == (of_neg.kind, of_neg.low)
    return of_neg.high if same else math.nan


def _best_stretch(problem: Problem, start: Solution) -> float:
    """The multiple of an earlier solution's duals, in the scale of this alpha, with the best bound.

    At a large alpha the duals stay what they are as it falls, and w grows; at a small one w stays
    and they shrink. No product with X is needed to see how far between the two they are.
    """
    loss = cast(ThresholdLoss, problem.loss)
    split = loss.split
    a, delta = (np.maximum(part, 0.0) for part in loss.parts(start.dual))
    quadratic = start.alpha**2 * float(start.w @ start.w) / (2.0 * problem.alpha)
    shrunk = problem.alpha / start.alpha

    def cost(share: float) -> float:
        of_a = np.minimum(share * a, split.p * loss.surrogate.steepest)
        total = share**2 * quadratic + float(split.p @ loss.surrogate.conjugate(of_a / split.p))
        if not loss.only_top:
            total += float(split.q @ loss.negatives.conjugate(share * delta / split.q))
        return total

    shares = np.geomspace(shrunk, 1.0, num=7)
    return float(min(shares, key=cost)) / shrunk


class _Pace:
    """How fast the gap falls, from one check to the next."""

    def __init__(self) -> None:
        self._last = (0, 1.0)

    def epochs_left(self, epoch: int, gap: float, goal: float) -> float:
        """The epochs until the gap is at its goal, if it goes on falling as it did."""
        last, self._last = self._last, (epoch, gap)
        if not 0 < gap < 0.98 * last[1]:
            return math.inf  # no progress to speak of
        rate = math.log(last[1] / gap) / (epoch - last[0])
        return max(math.log(gap / goal) / rate, 1.0) if goal > 0 else math.inf
