"""RectPushApp: the balanced risk, with negatives above the threshold charged more steeply.

Problem  min over w, b   alpha/2 |w|^2 + sum_i p_i l(-(w.x_i + b)) + sum_j q_j h(w.x_j + b),
         h(v) = l(v) for v <= 0, (l(p v) - l(0)) / p + l(0) for v > 0
Paper    A. K. Menon, The risk of trivial solutions in bipartite top ranking, Machine Learning
         108, 2019: RectPush_App, (17)
Symbols  lambda -> alpha;  phi(v) -> l(-v);  p as there
Differs  solved in few passes or by Newton's method, to a certified gap. Rows may have weights: p_i
         and q_j, which sum to one over each class (1/m and 1/n without them).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from ...estimators.convex import ConvexRanker
from ...inputs.class_split import Split
from ...losses import ThresholdLoss
from ...surrogates import Steepened


class RectPushApp(ConvexRanker):
    r"""Rank positives above a threshold that costs negatives more to cross.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1m\sum_i \ell(-(w\cdot x_i + b)) +
    \frac1n\sum_j h(w\cdot x_j + b)` over linear scores :math:`w\cdot x` and thresholds b, i the
    positive rows and j the negative ones, where :math:`h(v) = \ell(v)` below the threshold and
    :math:`(\ell(pv) - \ell(0))/p + \ell(0)` above it. The fit ends with a certificate, two
    numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation. LIBLINEAR's C, for balanced classes, is 2 / (alpha N).
    p : float, default=4.0
        How hard the highest negatives are pushed down, at least 1: above the threshold a negative
        is charged p times as steeply as below. 1 is the balanced risk of ordinary classification.
    loss : {"squared_hinge", "logistic", "exponential"}, default="squared_hinge"
        l(z) = [1 + z]_+^2, log(1 + e^z) or e^z.
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
        Minus the threshold above which `predict` calls a row positive: -b, which the problem itself
        chooses.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap`, computed afresh from the weights after the
        solver has stopped.
    trivial_ : bool
        Whether w = 0 is optimal: whether the two classes have the same mean.
    n_iter_ : int
        Passes over the rows after the first, Newton steps, or epochs of dual descent.
    solver_ : str
        The algorithm that finished the fit: "few-passes" for many rows, or more than a
        thousand features, else "newton". For the squared hinge of sparse rows of more than a
        thousand features it is "dual-descent".
    history_ : structured ndarray
        One row for each pass or step: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    PNormPush : The p-norm push, its negatives charged e^(p v) / p.
    TopPush : Only the highest negative counts.

    Notes
    -----
    As p grows, the squared hinge and the exponential loss tend to RectPush, whose negatives may
    not cross the threshold at all. The logistic loss does not: its h tends to v + log 2 above the
    threshold, a slope of one, and no wall.

    References
    ----------
    A. K. Menon, The risk of trivial solutions in bipartite top ranking, Machine Learning 108,
    2019.

    Examples
    --------
    >>> from toprank import RectPushApp
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = RectPushApp(alpha=1e-2, p=4, random_state=0).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-4
    True
    >>> ranker.rank(X[:100])[:3]  # the most spam-like of the first hundred messages
    array([70, 92, 93])
    """

    p: float

    _on_clusters: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexRanker._parameter_constraints,
        "p": [Interval(Real, 1, 1e6, closed="both")],
        "loss": [StrOptions({"squared_hinge", "logistic", "exponential"})],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        p: float = 4.0,
        *,
        loss: str = "squared_hinge",
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
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _loss(self, split: Split) -> ThresholdLoss:
        return ThresholdLoss(split, self._surrogate, Steepened(self._surrogate, float(self.p)))
