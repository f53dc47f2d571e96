"""SVM-MAP: maximise average precision.

Problem  min over w   alpha/2 |w|^2 + max over rankings of
             1 - AP - 2/(mn) sum over negatives j above positives i ( w.x_i - w.x_j )
Paper    Y. Yue, T. Finley, F. Radlinski, T. Joachims, A Support Vector Method for Optimizing
         Average Precision, SIGIR 2007: (2)-(5), for one query
Symbols  C -> 1 / alpha; Delta -> 1 - AP; Psi, a mean over pairs of +1 or -1 times a difference of
         rows -> so twice the pairs in the wrong order
Differs  The worst ranking is found in (m + n) log n evaluations by divide and conquer, where the
         paper's greedy search takes m n. The fit ends with a certificate.
         The paper's objective is a mean over queries; here there is one list.
"""

from __future__ import annotations

from typing import Any

from ...inputs.class_split import Split
from ...losses import AveragePrecisionLoss
from .base import StructuralRanker


class SVMMAP(StructuralRanker):
    r"""Rank so that average precision is high.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + R(w)` over linear scores, R a convex upper bound of
    1 - AP, AP the mean over the positives of the precision of the list down to each. The fit ends
    with a certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation; 1 / C of the paper.
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
        Whether w = 0 is optimal: whether the two classes have the same mean.
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
    SVMpAUC : The area under a part of the ROC curve.
    RankSVM : The whole area.

    Notes
    -----
    Average precision counts rows, and depends on how many there are of each class. So
    `sample_weight` may leave rows out, by zeros, but weights that differ otherwise are refused:
    repeat a row that is to count twice.

    References
    ----------
    Y. Yue, T. Finley, F. Radlinski and T. Joachims, A Support Vector Method for Optimizing Average
    Precision, ACM SIGIR, 2007.

    Examples
    --------
    >>> from toprank import SVMMAP
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = X / X.std(axis=0)
    >>> ranker = SVMMAP(alpha=1e-2).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-3
    True
    """

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    def _loss(self, split: Split) -> AveragePrecisionLoss:
        return AveragePrecisionLoss(split)
