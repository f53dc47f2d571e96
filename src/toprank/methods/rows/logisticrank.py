"""LogisticRank: logistic regression, regularised and certified.

Problem  min over w, b   alpha/2 |w|^2 + sum_i P p_i l(-(w.x_i + b)) + sum_j Q q_j l(w.x_j + b),
         l(z) = log(1 + e^z),  P + Q = 1 the shares of the two classes
Paper    none: logistic regression as everyone has it
Symbols  scikit-learn's C -> 1 / (alpha N)
Differs  solved in a few passes over the rows, to a certified gap. Rows may have weights: p_i and
         q_j, which sum to one over each class (1/m and 1/n without them).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils._param_validation import Interval, StrOptions

from ...inputs.class_split import Split
from ...inputs.dispatch import dask_aware
from ...losses import ThresholdLoss
from ...surrogates import SURROGATES
from .base import PointRanker

Array = NDArray[np.float64]


class LogisticRank(PointRanker):
    r"""Rank by logistic regression, with certified weights.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1N\sum_r \log(1 + e^{-t_r(w\cdot x_r + b)})`
    over weights w and thresholds b, :math:`t_r = 1` for positive rows and -1 for negative ones: the
    problem of scikit-learn's `LogisticRegression`. The fit reads the data a few times only, and
    ends with a certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation. scikit-learn's C is 1 / (alpha N).
    negative_weight : None, "balanced" or float, default=None
        How much a negative row counts beside a positive one. None: the same. "balanced": both
        classes count the same in all. The loss stays an average: all weights sum to one.
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
        Above it the probability is more than one half.
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
    sklearn.linear_model.LogisticRegression : The same problem at C = 1 / (alpha N).
    RectPushApp : Negatives above the threshold are charged more steeply.

    Notes
    -----
    With `negative_weight` r the probabilities are those of a population in which negatives are r
    times as frequent.

    Examples
    --------
    >>> from toprank import LogisticRank
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = LogisticRank(alpha=1e-2, random_state=0).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-4
    True
    >>> ranker.predict_proba(X[:2]).shape
    (2, 2)
    """

    negative_weight: float | str | None

    _on_clusters: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PointRanker._parameter_constraints,
        "negative_weight": [
            None,
            StrOptions({"balanced"}),
            Interval(Real, 1e-12, 1e12, closed="both"),
        ],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        negative_weight: float | str | None = None,
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
        self.negative_weight = negative_weight
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _loss(self, split: Split) -> ThresholdLoss:
        logistic, shares = SURROGATES["logistic"], self._shares(split)
        return ThresholdLoss(split.weighing(*shares), logistic, logistic, shares)

    def _shares(self, split: Split) -> tuple[float, float]:
        """What the positives and the negatives weigh, one together."""
        if self.negative_weight == "balanced":
            return 0.5, 0.5
        ratio = 1.0 if self.negative_weight is None else float(self.negative_weight)
        positive, negative = split.shares[0], ratio * split.shares[1]
        return positive / (positive + negative), negative / (positive + negative)

    @dask_aware
    def predict_proba(self, X: ArrayLike) -> Array:
        """The probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            That of the negative class, `classes_[0]`, and that of the positive one.
        """
        score = self._decide(X)
        return np.column_stack([expit(-score), expit(score)])
