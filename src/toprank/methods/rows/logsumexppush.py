"""LogSumExpPush: positives high on average, the negatives' mean exponential low.

Problem  min over w   alpha/2 |w|^2 + log sum_j q_j e^(w.x_j) - sum_i p_i w.x_i
Paper    none for ranking. The loss is the bound of a divergence of M. D. Donsker and S. R. S.
         Varadhan, Asymptotic Evaluation of Certain Markov Process Expectations for Large Time IV,
         Communications on Pure and Applied Mathematics 36, 1983
Symbols  their function -> the score w.x;  their two measures -> the positives and the negatives
Differs  regularised, of linear scores, and solved in few passes or by Newton's method to a
         certified gap: log A is the least of A e^b - b - 1 over b, which makes it a sum over rows.
         Rows may have weights: p_i and q_j, which sum to one over each class (1/m and 1/n without
         them).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...inputs.class_split import Split
from ...losses import LogSumExpLoss
from ...problems import Problem
from .base import PointRanker

Array = NDArray[np.float64]

#: What rounding may add to a score, relative to the threshold, or beside it.
_ROUNDING = 1e-12


class LogSumExpPush(PointRanker):
    r"""Rank by the mean score of the positives against the highest negatives.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \log\frac1n\sum_j e^{w\cdot x_j} -
    \frac1m\sum_i w\cdot x_i` over linear scores, i the positive rows and j the negative ones. The
    log of the mean exponential goes by the highest negatives. No positive is given up, and none is
    ever high enough: all count alike. This is the limit of logistic regression for positives that
    are ever rarer. The fit ends with a certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation.
    tol : float, default=1e-4
        The relative duality gap to stop at.
    max_iter : int, default=1000
        The most passes over the rows, and Newton steps.
    solver : {"auto", "few-passes", "newton"}, default="auto"
        "few-passes" takes exact gradients of all rows, and Hessians of a few; "newton" takes those
        of all rows. "auto" takes few passes where there are many rows and no more than a thousand
        features, and goes on with Newton's method should they not do.
    warm_start : bool, default=False
        Start from the last fit: worth it for a path of alphas, the largest first.
    n_threads : int, optional
        Threads for passes over the data; without it OMP_NUM_THREADS, else one per core. The
        result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Decides the rows that stand for the Hessian; pass an int for the same result every time.
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
        Minus the threshold above which `predict` calls a row positive: the log of the negatives'
        mean exponential.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap`, computed afresh from the weights after the
        solver has stopped.
    trivial_ : bool
        Whether w = 0 is optimal: whether the two classes have the same mean.
    n_iter_ : int
        Passes over the rows after the first, or Newton steps.
    solver_ : str
        The algorithm that finished the fit: "few-passes" or "newton".
    history_ : structured ndarray
        One row for each pass or step: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    LogExpPush : A positive counts less the higher it stands, too.
    LogisticRank : Logistic regression, of which this is the limit for rare positives.
    TopPush : The highest negative alone.

    Notes
    -----
    At the best w, e^(w.x) over its mean over the negatives is an estimate of how much likelier a
    row is among the positives than among the negatives; `predict` says positive where it is above
    one.

    The objective is zero at w = 0 and falls below. So the relative gap is a share of the objective,
    or of one where that is more.

    w = 0 is the optimum only where the two classes have the same mean: the gradient there is the
    difference of the means.

    References
    ----------
    M. D. Donsker and S. R. S. Varadhan, Asymptotic Evaluation of Certain Markov Process
    Expectations for Large Time IV, Communications on Pure and Applied Mathematics 36, 1983.

    Examples
    --------
    >>> from toprank import LogSumExpPush
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> ranker = LogSumExpPush(alpha=1e-2, random_state=0).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-4
    True
    """

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        tol: float = 1e-4,
        max_iter: int = 1000,
        solver: str = "auto",
        warm_start: bool = False,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _linear_score(self, w: Array, threshold: float, problem: Problem) -> dict[str, Array]:
        # Where one negative is all there is, it is the threshold, and must not be above it.
        margin = _ROUNDING * (1.0 + abs(threshold)) if w.any() else 0.0
        return super()._linear_score(w, threshold + margin, problem)

    def _loss(self, split: Split) -> LogSumExpLoss:
        return LogSumExpLoss(split)
