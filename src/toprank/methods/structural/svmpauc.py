"""SVM-pAUC: maximise the area under a part of the ROC curve.

Problem  min over w   alpha/2 |w|^2 + 1/(b - a) sum_i p_i max over r of
             [min(V_r, b) - a]_+ + sum_{j <= r} v_j ( w.x_j - w.x_i ),  the negatives by falling
             score; tight: v_j what negative j has of the false positive rates up to b, loose: all
             of its share q_j;  V_r = v_1 + ... + v_r
Paper    H. Narasimhan and S. Agarwal, A Structural SVM Based Approach for Optimizing Partial AUC,
         ICML 2013 (loose); SVM-pAUC-tight, KDD 2013
Symbols  alpha, beta -> a, b of `fpr`; C -> 1 / alpha; j_alpha, j_beta: places among the negatives,
         here rates, so that no rounding up or down is left to say
Differs  The papers treat the ranges [0, beta], and others, case by case. Here one search serves
         them all: between the rates 0, a, b and 1 the sums to be maximised are concave, so that
         every positive finds its worst place by bisection. The fit ends with a certificate.
         Rows may have weights in the tight form: p_i and q_j, which sum to one over each class.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from ...inputs.class_split import Split
from ...losses import PartialAUCLoss
from .base import StructuralRanker


class SVMpAUC(StructuralRanker):
    r"""Rank so that positives stand above the negatives at the head of the list.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + R(w)` over linear scores, R a convex upper bound of
    one minus the area under the ROC curve between two false positive rates, as a share of what it
    could be. The fit ends with a certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation; 1 / C of the papers.
    fpr : tuple of two floats, default=(0.0, 0.1)
        The false positive rates a < b between which the area counts. (0, b) looks at the highest
        negatives, a share b of them. (0, 1) is the whole area, and the problem that of `RankSVM`.
    tight : bool, default=True
        Whether negatives beyond the rate b count for nothing, as they do in the area itself. The
        loose form of the first paper is no smaller.
    tol : float, default=1e-3
        The relative duality gap to stop at.
    max_iter : int, default=1000
        The most rounds, each a quadratic program and a line search.
    warm_start : bool, default=False
        Start from the last fit: worth it for a path of alphas, the largest first. Its rankings are
        the first planes.
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
        `primal`, `dual`, `gap` and `relative_gap`, computed afresh from the weights and the
        rankings after the solver has stopped.
    trivial_ : bool
        Whether w = 0 is optimal, within the certificate.
    n_iter_ : int
        Rounds of the solver.
    solver_ : str
        The algorithm that finished the fit: "bundle".
    history_ : structured ndarray
        One row for each round: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    RankSVM : The whole area, by a faster method.
    InfinitePush : The highest negative alone: `fpr=(0, 1 / n)` of n negatives.
    SVMMAP : Average precision in place of an area.

    Notes
    -----
    For a = 0 the tight R is the mean of the hinge [1 + w.x_j - w.x_i]_+ over the positives and the
    highest negatives, a share b of them.

    On noisy data the optimum may be w = 0, whatever `alpha`: just when the mean of the positives is
    a mean of negatives of which none has more than its share of the rates up to b. The fit then
    says so with a `TrivialSolutionWarning` and sets `trivial_`.

    `sample_weight` repeats rows, in the tight form. The loose form counts whole negatives, and
    refuses weights that differ among them.

    References
    ----------
    H. Narasimhan and S. Agarwal, A Structural SVM Based Approach for Optimizing Partial AUC,
    International Conference on Machine Learning, 2013.

    H. Narasimhan and S. Agarwal, SVM-pAUC-tight: A New Support Vector Method for Optimizing Partial
    AUC Based on a Tight Convex Upper Bound, ACM SIGKDD, 2013.

    Examples
    --------
    >>> from toprank import SVMpAUC
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = X / X.std(axis=0)
    >>> ranker = SVMpAUC(alpha=1e-2, fpr=(0.0, 0.1)).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-3
    True
    """

    fpr: tuple[float, float]
    tight: bool

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StructuralRanker._parameter_constraints,
        "fpr": [tuple, list],
        "tight": ["boolean"],
    }
    _why_trivial: ClassVar[str] = (
        "The mean of the positives is a mean of negatives too, of which none has more than its "
        "share of the false positive rates that count: no direction lifts the positives above the "
        "highest negatives on average, at any alpha."
    )
    _instead: ClassVar[str] = (
        "Widen fpr, up to (0, 1), or try a loss of all negatives: RectPushApp or PNormPush for the "
        "head of the list, RankSVM for the whole of it."
    )

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        fpr: tuple[float, float] = (0.0, 0.1),
        tight: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fpr = fpr
        self.tight = tight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    def _loss(self, split: Split) -> PartialAUCLoss:
        return PartialAUCLoss(split, *_checked_rates(self.fpr), tight=bool(self.tight))


def _checked_rates(fpr: Any) -> tuple[float, float]:
    """Two rates, the first below the second."""
    if len(fpr) != 2 or not all(isinstance(rate, Real) for rate in fpr):
        raise ValueError(f"fpr must be two numbers, such as (0.0, 0.1); got {fpr!r}.")
    a, b = (float(rate) for rate in fpr)
    if not 0.0 <= a < b <= 1.0:
        raise ValueError(
            f"fpr must be two false positive rates with 0 <= fpr[0] < fpr[1] <= 1; got {fpr!r}."
        )
    return a, b
