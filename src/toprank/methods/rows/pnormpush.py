"""PNormPush: the p-norm push with exponential loss, solved as a classification.

Problem  min over w, b   alpha/2 |w|^2 + sum_i p_i e^-(w.x_i + b) + 1/p sum_j q_j e^p(w.x_j + b)
Paper    C. Rudin, The P-Norm Push, JMLR 10, 2009, with exponential loss;
         S. Ertekin, C. Rudin, On Equivalence Relationships Between Classification and Ranking
         Algorithms, JMLR 12, 2011: p-classification
Symbols  k -> j, the negatives;  p as there;  class means for sums
Differs  regularised, and solved in few passes or by Newton's method to a certified gap. Rows may
         have weights: p_i and q_j, which sum to one over each class (1/m and 1/n without them).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from ...estimators.convex import ConvexRanker
from ...estimators.ranker import Learnt
from ...inputs.class_split import Split
from ...losses import ThresholdLoss
from ...problems import Problem, Solution
from ...solvers.watch import Watch
from ...surrogates import Exponential, PowerExponential


class PNormPush(ConvexRanker):
    r"""Rank positives above negatives, the high negatives counting most.

    The p-norm push :math:`R_p(w) = \frac1n\sum_j \big(\frac1m\sum_i e^{w\cdot x_j - w\cdot
    x_i}\big)^p` charges every negative j for the positives i below it, to the power p. It is
    minimised as a classification, :math:`\frac{\alpha}{2}\|w\|^2 + \frac1m\sum_i e^{-(w\cdot
    x_i + b)} + \frac1{pn}\sum_j e^{p(w\cdot x_j + b)}` over w and b, which has the same path of
    solutions. The fit ends with a certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation, of the classification; `pnorm_alpha_` is that of R_p.
    p : float, default=4.0
        How hard the highest negatives are pushed down, at least 1: the power of the push.
    tol : float, default=1e-4
        The relative duality gap to stop at.
    max_iter : int, default=1000
        The most passes over the rows, and Newton steps.
    warm_start : bool, default=False
        Start from the last fit: worth it for a path of alphas, the largest first.
    n_threads : int, optional
        Threads for products with the data; without it OMP_NUM_THREADS, else one per core. The
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
        Minus the threshold above which `predict` calls a row positive: -b, which the classification
        that solves it chooses.
    pnorm_alpha_ : float
        The alpha' at which `coef_` minimises ``alpha'/2 |w|^2 + R_p(w)``; for a large p it may be
        too small for a float, and 0.
    pnorm_root_alpha_ : float
        The alpha'' at which it minimises ``alpha''/2 |w|^2 + R_p(w)^(1/p)``.
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
        The algorithm that finished the fit: "few-passes" for many rows, or more than a
        thousand features, else "newton".
    history_ : structured ndarray
        One row for each pass or step: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    RectPushApp : Losses that charge negatives more steeply only above the threshold.
    TopPush : With exponential loss the limit of R_p^(1/p) as p grows.

    Notes
    -----
    For given w the best b leaves (1 + 1/p) R_p(w)^(1/(p+1)) of the two sums, an increasing
    function of R_p. So every minimiser of the one, regularised, is one of the other at another
    alpha. Let T = R_p^(1/(p+1)) at the solution: then alpha' = alpha p T^p and alpha'' =
    alpha T^(1/p).

    References
    ----------
    C. Rudin, The P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at the Top of
    the List, Journal of Machine Learning Research 10, 2009.

    S. Ertekin and C. Rudin, On Equivalence Relationships Between Classification and Ranking
    Algorithms, Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> from toprank import PNormPush
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = PNormPush(alpha=1e-2, p=4, random_state=0).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-4
    True
    >>> ranker.rank(X[:100])[:3]  # the most spam-like of the first hundred messages
    array([ 2, 92, 93])
    """

    p: float
    pnorm_alpha_: float
    pnorm_root_alpha_: float

    _on_clusters: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexRanker._parameter_constraints,
        "p": [Interval(Real, 1, 1e6, closed="both")],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        p: float = 4.0,
        *,
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.p = p
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _loss(self, split: Split) -> ThresholdLoss:
        return ThresholdLoss(split, Exponential(), PowerExponential(float(self.p)))

    def _learnt(self, problem: Problem, solution: Solution, watch: Watch) -> Learnt:
        learnt = super()._learnt(problem, solution, watch)
        assert learnt.certificate is not None
        penalty = 0.5 * problem.alpha * float(solution.w @ solution.w)
        # The best b makes both sums, without the 1/p, equal to T; the loss is (1 + 1/p) T.
        balance = (learnt.certificate.primal - penalty) / (1.0 + 1.0 / self.p)
        with np.errstate(over="ignore"):  # infinite, where no alpha is so large
            pnorm_alpha = self.alpha * self.p * float(np.power(balance, self.p))
        learnt.more = {
            "pnorm_alpha_": pnorm_alpha,
            "pnorm_root_alpha_": self.alpha * balance ** (1.0 / self.p),
        }
        return learnt
