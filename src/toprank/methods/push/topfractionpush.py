"""TopFractionPush: positives above the highest negatives, a share of them, on average.

Problem  min over w   alpha/2 |w|^2 + sum_i p_i (mean over the top fraction f of negatives j of
         l(w.x_j - w.x_i)),  l(z) = [1 + z]_+^2
Paper    none: between TopPush (f = 1/n) and RankSVM with the squared hinge (f = 1)
Symbols  k highest negatives -> f = k/n
Differs  from a mean over a fixed set of negatives: which are the highest is part of the problem,
         and the mean over them is the worst case over weights d of the negatives, 0 <= d_j <=
         q_j / f with sum one. Solved to a certified gap. Rows may have weights: p_i and q_j, which
         sum to one over each class (1/m and 1/n without them); f is a share of the negatives'.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from ...estimators.convex import ConvexRanker
from ...inputs.class_split import Split
from ...losses import Loss, PairLoss, TopFractionLoss, TopLoss
from ...problems import Problem, Solution
from ...solvers.watch import Watch
from ...surrogates import SURROGATES
from .soft_top import soft_top_newton

Array = NDArray[np.float64]

#: A share of the negatives is one row, or all of them, but for rounding.
_ROUNDING = 1e-12


class TopFractionPush(ConvexRanker):
    r"""Rank positives above the highest share of the negatives.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1m\sum_i \frac1k\sum_{j \in \text{top } k}
    [1 + w\cdot x_j - w\cdot x_i]_+^2` over linear scores, i the positive rows and the j the k = fn
    negatives with the highest scores. With f = 1/n that is TopPush, with f = 1 RankSVM. The fit
    ends with a certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation.
    fraction : float, default=0.1
        f, the share of the negatives' weight that counts, above 0 and up to 1. No less than the
        lightest negative has counts: there the highest alone does. 0.05 to 0.1 is the useful range
        on noisy data, where a smaller one makes the optimum trivial.
    tol : float, default=1e-4
        The relative duality gap to stop at.
    max_iter : int, default=1000
        The most iterations of the solver.
    warm_start : bool, default=False
        Start from the last fit: worth it for a path of alphas, the largest first.
    n_threads : int, optional
        Threads for products with the data; without it OMP_NUM_THREADS, else one per core. The
        result does not depend on it.
    verbose : int, default=0
        Print a row of `history_` as it comes if above zero. Callbacks of scikit-learn are called
        then too, whatever `verbose` is.
    pos_label : label or None, default=None
        The label to rank first. None takes the greater one, and the fit says so with a
        `PositiveLabelWarning` unless the labels are 0/1, -1/1 or booleans.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        Minus the threshold above which `predict` calls a row positive: set so that the share of
        training rows above it is that of the positives.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap`, computed afresh from the weights and the dual
        vector after the solver has stopped.
    trivial_ : bool
        Whether w = 0 is optimal: whether the mean positive lies in the reduced hull of the
        negatives.
    n_iter_ : int
        Iterations of the solver.
    solver_ : str
        The algorithm that finished the fit: "soft-top-newton"; at the two ends of `fraction` one of
        TopPush or of RankSVM.
    history_ : structured ndarray
        One row for each iteration: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    TopPush : The highest negative alone.
    RankSVM : All negatives.
    OWPC : All pairs, weighed by the order of the negatives, with the hinge.

    Notes
    -----
    w = 0 is the optimum, at every alpha, if and only if the mean positive lies in the reduced hull
    of the negatives: their averages with no weight above 1/k.

    Examples
    --------
    >>> from toprank import TopFractionPush
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> ranker = TopFractionPush(alpha=1e-1, fraction=0.1).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-4
    True
    """

    fraction: float

    _why_trivial: ClassVar[str] = (
        "The mean of the positives lies in the reduced hull of the negatives, their averages with "
        "no weight above that of the top fraction, so no direction lifts the positives above the "
        "highest negatives on average, at any alpha."
    )
    _instead: ClassVar[str] = "Try a larger fraction, or LogExpPush or RankSVM, which are not."

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexRanker._parameter_constraints,
        "fraction": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        fraction: float = 0.1,
        *,
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fraction = fraction
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    def _loss(self, split: Split) -> Loss:
        squared = SURROGATES["squared_hinge"]
        if self.fraction <= float(split.q.min()) * (1.0 + _ROUNDING):
            return TopLoss(split, squared)
        if self.fraction >= 1.0 - _ROUNDING:
            return PairLoss(split, squared)
        return TopFractionLoss(split, float(self.fraction))

    def _solve(self, problem: Problem, start: Solution | None, watch: Watch, seed: int) -> Solution:
        if not isinstance(problem.loss, TopFractionLoss):
            return super()._solve(problem, start, watch, seed)
        return soft_top_newton(
            problem, start=start, tol=self.tol, max_iter=self.max_iter, watch=watch
        )

    def _threshold(self, w: Array, problem: Problem, scores: Array) -> float:
        """As large a share of the rows lies above it as are positive, whatever the fraction."""
        loss = problem.loss
        assert isinstance(loss, (TopLoss, PairLoss, TopFractionLoss))
        return loss.split.share_threshold(scores)
