"""RectPush: push the positives above the highest negative, without the trivial optimum.

Problem  min over w, b   alpha/2 |w|^2 + sum_i p_i l(-(w.x_i + b)) + sum_j q_j l(w.x_j + b)
         s.t.  w.x_j + b <= 0 for every negative j
Paper    A. K. Menon, The risk of trivial solutions in bipartite top ranking, Machine Learning,
         2019: (18), dual (19); the reverse: appendix C, (24)
Symbols  lambda -> alpha;  phi(v) -> l(-v);  alpha_i -> a_i;  beta_j + gamma_j -> delta_j
Differs  beta and gamma are one dual variable: beta_j is its part up to q_j l'(0), gamma_j the
         rest. The sign of w in the proof of Proposition 5 and the domain of (19) are mended.
         Solved by Newton's method or by coordinate descent on the dual, to a certified gap.
         Rows may have weights: p_i and q_j, each summing to one.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...inputs.class_split import Split
from ...losses import Loss, ReversedLoss, ThresholdLoss
from ...problems import Multipliers, Problem, Solution
from ...solvers.watch import Watch
from ...surrogates import Rectified
from .base import PushRanker

Array = NDArray[np.float64]


class RectPush(PushRanker):
    r"""Rank positives above the highest negative, and negatives below it.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1m\sum_i \ell(-(w\cdot x_i + b)) +
    \frac1n\sum_j \ell(w\cdot x_j + b)` such that :math:`w\cdot x_j + b \le 0` for every negative
    row j, exactly: the fit ends with a certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation. LIBLINEAR's C, for balanced classes, is 2 / (alpha N).
    loss : {"squared_hinge", "logistic", "exponential"}, default="squared_hinge"
        l(z) = [1 + z]_+^2, log(1 + e^z) or e^z.
    tol : float, default=1e-4
        The relative duality gap to stop at.
    max_iter : int, default=10000
        The most Newton steps or epochs.
    solver : {"auto", "few-passes", "newton", "dual-descent"}, default="auto"
        "few-passes" takes exact gradients of all rows and Hessians of a few, for many rows of up
        to a thousand features; "newton" is an active-set Newton method, for up to about 1500
        features; "dual-descent" an accelerated dual coordinate descent, for wide sparse data;
        "auto" chooses between them by the shape of the data and by progress.
    warm_start : bool, default=False
        Start from the last fit: worth it for a path of alphas, the largest first.
    n_threads : int, optional
        Threads for products with the data; without it OMP_NUM_THREADS, else one per core. The
        result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Decides the order in which "dual-descent" visits rows; pass an int for the same result every
        time.
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
        Minus the threshold above which `predict` calls a row positive: -b, which the method itself
        chooses, at or above every training negative. Where that is on one, it is halfway to the
        next positive instead.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap`, computed afresh from the weights and the dual
        vector after the solver has stopped.
    trivial_ : bool
        Whether w = 0 is optimal. It is only where both classes have the same mean.
    n_iter_ : int
        Iterations of the solver.
    solver_ : str
        The algorithm that finished the fit: "top-passes", which is "few-passes" under the
        highest negative, "active-set-newton" or "dual-descent"; "summed-newton" of rows on a
        cluster.
    history_ : structured ndarray
        One row for each Newton step or check of dual descent: iteration, passes over the data,
        seconds, primal, dual, relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    RectPushApp : The same with a slope in place of the constraint.
    ReverseRectPush : Negatives below the lowest positive.
    TopPush : Without the negatives' loss, and trivial on noisy data.

    Notes
    -----
    TopPush asks of the negatives only that they stay below the positives, and on noisy data its
    optimum gives every row the same score. Here the negatives lose by being near the
    threshold, and w = 0 is optimal only where the two classes have the same mean. The hard
    constraint remains, and a single outlying negative moves b for everyone.

    References
    ----------
    A. K. Menon, The risk of trivial solutions in bipartite top ranking, Machine Learning 108,
    2019.

    Examples
    --------
    >>> from toprank import RectPush
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = RectPush(alpha=1e-2).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-4
    True
    >>> bool((ranker.decision_function(X)[y == 0] <= 0).all())  # b is the method's own
    True
    """

    _on_clusters: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: str = "squared_hinge",
        tol: float = 1e-4,
        max_iter: int = 10_000,
        solver: str = "auto",
        warm_start: bool = False,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        super().__init__(
            alpha,
            loss=loss,
            tol=tol,
            max_iter=max_iter,
            solver=solver,
            warm_start=warm_start,
            n_threads=n_threads,
            random_state=random_state,
            verbose=verbose,
            pos_label=pos_label,
        )

    def _loss(self, split: Split) -> Loss:
        return ThresholdLoss(split, self._surrogate, Rectified(self._surrogate))


class ReverseRectPush(RectPush):
    r"""Rank negatives below the lowest positive, and positives above it.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1m\sum_i \ell(-(w\cdot x_i + b)) +
    \frac1n\sum_j \ell(w\cdot x_j + b)` such that :math:`w\cdot x_i + b \ge 0` for every positive
    row i: `RectPush` with the classes exchanged and the scores turned round. Where RectPush
    orders the rows that are less likely than average to be positive and ties the others, the
    reverse orders those that are more likely.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation. LIBLINEAR's C, for balanced classes, is 2 / (alpha N).
    loss : {"squared_hinge", "logistic", "exponential"}, default="squared_hinge"
        l(z) = [1 + z]_+^2, log(1 + e^z) or e^z.
    tol : float, default=1e-4
        The relative duality gap to stop at.
    max_iter : int, default=10000
        The most Newton steps or epochs.
    solver : {"auto", "few-passes", "newton", "dual-descent"}, default="auto"
        As for `RectPush`.
    warm_start : bool, default=False
        Start from the last fit: worth it for a path of alphas, the largest first.
    n_threads : int, optional
        Threads for products with the data; without it OMP_NUM_THREADS, else one per core. The
        result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Decides the order in which "dual-descent" visits rows; pass an int for the same result every
        time.
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
        Minus the threshold above which `predict` calls a row positive: -b, which the method itself
        chooses, below every training positive. Where that is on one, it is halfway to the next
        negative instead.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap`, computed afresh from the weights and the dual
        vector after the solver has stopped.
    trivial_ : bool
        Whether w = 0 is optimal. It is only where both classes have the same mean.
    n_iter_ : int
        Iterations of the solver.
    solver_ : str
        The algorithm that finished the fit: "top-passes", which is "few-passes" under the
        highest negative, "active-set-newton" or "dual-descent".
    history_ : structured ndarray
        One row for each Newton step or check of dual descent: iteration, passes over the data,
        seconds, primal, dual, relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    RectPush : Positives above the highest negative.

    References
    ----------
    A. K. Menon, The risk of trivial solutions in bipartite top ranking, Machine Learning 108,
    2019: appendix C.

    Examples
    --------
    >>> from toprank import ReverseRectPush
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = ReverseRectPush(alpha=1e-2).fit(X, y)
    >>> bool((ranker.decision_function(X)[y == 1] >= 0).all())
    True
    """

    _on_clusters: ClassVar[bool] = False

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: str = "squared_hinge",
        tol: float = 1e-4,
        max_iter: int = 10_000,
        solver: str = "auto",
        warm_start: bool = False,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        super().__init__(
            alpha,
            loss=loss,
            tol=tol,
            max_iter=max_iter,
            solver=solver,
            warm_start=warm_start,
            n_threads=n_threads,
            random_state=random_state,
            verbose=verbose,
            pos_label=pos_label,
        )

    def _loss(self, split: Split) -> Loss:
        return ReversedLoss(super()._loss(split.swapped()))

    def _solve(self, problem: Problem, start: Solution | None, watch: Watch, seed: int) -> Solution:
        attributes = watch.attributes
        watch.attributes = lambda w: attributes(-w)
        start = None if start is None else _turned(start)
        return _turned(super()._solve(_inner(problem), start, watch, seed))

    def _threshold(self, w: Array, problem: Problem, scores: Array) -> float:
        threshold = -super()._threshold(-w, _inner(problem), -scores)
        # A row of zeros has no terms to allow for, and belongs above as well.
        return threshold - (np.finfo(np.float64).tiny if w.any() else 0.0)


def _inner(problem: Problem) -> Problem:
    """The problem with the classes exchanged."""
    return problem.inner


def _turned(solution: Solution) -> Solution:
    """The solution of the problem with the classes exchanged, and of that one again."""
    turned = copy.copy(solution)
    turned.w, turned.b, proof = -solution.w, -solution.b, solution.proof
    if isinstance(proof, Multipliers):
        dual = None if proof.dual is None else -proof.dual
        turned.proof = Multipliers(proof.rows, proof.values, dual)
    elif proof is not None:
        turned.proof = -solution.dual
    turned.scores = None if solution.scores is None else -solution.scores
    return turned
