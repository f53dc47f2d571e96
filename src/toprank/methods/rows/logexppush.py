"""LogExpPush: logistic loss on positives, a steeper exponential on negatives.

Problem  min over w, b   alpha/2 |w|^2 + sum_i p_i log(1 + e^-(w.x_i + b))
                         + 1/p sum_j q_j e^p(w.x_j + b)
Paper    none: the positives of logistic regression beside the negatives of p-classification, from
         S. Ertekin, C. Rudin, On Equivalence Relationships Between Classification and Ranking
         Algorithms, JMLR 12, 2011
Symbols  p as there;  class means for sums
Differs  from p-classification in the positives: a hopeless one costs as much as it is below the
         threshold, not exponentially more. Solved in few passes or by Newton's method to a
         certified gap. Rows may have weights: p_i and q_j, which sum to one over each class (1/m
         and 1/n without them).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from ...inputs.class_split import Split
from ...losses import ThresholdLoss
from ...surrogates import Logistic, PowerExponential
from .base import PointRanker


class LogExpPush(PointRanker):
    r"""Rank by a loss that minds high negatives far more than low positives.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1m\sum_i \log(1 + e^{-(w\cdot x_i + b)}) +
    \frac1{pn}\sum_j e^{p(w\cdot x_j + b)}` over weights w and thresholds b, i the positive rows
    and j the negative ones. A positive far below the threshold costs in proportion to how far it
    is; a negative far above it costs exponentially more, the more so the larger p is. The fit ends
    with a certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation.
    p : float, default=4.0
        How hard the highest negatives are pushed down, at least 1: the exponent of the
        negatives' loss, up to 10 000. 4 to 16 are for the first one per cent of a list.
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
        Minus the threshold above which `predict` calls a row positive: b, which is not regularised.
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
    PNormPush : The same negatives, and an exponential on the positives too.
    LogisticRank : Logistic regression; its `negative_weight` is a gentler push.
    LogSumExpPush : A linear loss on the positives, an exponential on the negatives.

    References
    ----------
    S. Ertekin and C. Rudin, On Equivalence Relationships Between Classification and Ranking
    Algorithms, Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> from toprank import LogExpPush
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = LogExpPush(alpha=1e-2, p=16, random_state=0).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-4
    True
    """

    p: float

    _on_clusters: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PointRanker._parameter_constraints,
        "p": [Interval(Real, 1, 1e4, closed="both")],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        p: float = 4.0,
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
        self.p = p
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _loss(self, split: Split) -> ThresholdLoss:
        return ThresholdLoss(split, Logistic(), PowerExponential(float(self.p)))
