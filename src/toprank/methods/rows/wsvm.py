"""WSVM: the support vector machine on single rows, its classes weighted equally.

Problem  min over w   alpha/2 |w|^2 + 1/2 sum_i p_i [1 - w.x_i]_+ + 1/2 sum_j q_j [1 + w.x_j]_+
Paper    W.-Y. Shen and H.-T. Lin, Active Sampling of Pairs and Points for Large-scale Linear
         Bipartite Ranking, ACML 2013: the point-wise weighted SVM its rankers are compared with
Symbols  C B -> 1/alpha, the total weight of the losses beside 1/2 |w|^2
Differs  stopped by its duality gap. Rows may have weights: p_i and q_j, which sum to one over each
         class (1/m and 1/n without them). No intercept, as in the paper's ranking problems.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...designs import NO_ROW, Design, PairDesign
from ...estimators.convex import ConvexRanker
from ...inputs.class_split import Split
from ...losses import RowLoss
from ...problems import Problem
from ...surrogates import SURROGATES


class WSVM(ConvexRanker):
    r"""Rank by a linear support vector machine with balanced classes and no intercept.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac{1}{2m}\sum_i [1 - w\cdot x_i]_+ +
    \frac{1}{2n}\sum_j [1 + w\cdot x_j]_+` over linear scores :math:`w\cdot x`, i the positive
    rows and j the negative ones. Each row is charged on its own: the baseline for methods on
    pairs. The fit ends with a certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation. LIBLINEAR's C, for balanced classes, is 1 / (alpha N).
    tol : float, default=1e-3
        The relative duality gap to stop at.
    max_iter : int, default=1000
        The most epochs, in which every row that may still move is looked at, and steps of the
        interior-point method.
    warm_start : bool, default=False
        Start from the last fit: worth it for a path of alphas, the largest first.
    n_threads : int, optional
        Threads for the products of the certificate; without it OMP_NUM_THREADS, else one per core.
        The epochs are sequential. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Decides the order in which rows are visited; pass an int for the same result every time.
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
        Minus the threshold above which `predict` calls a row positive: zero, where the problem puts
        it.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap`, computed afresh from the weights and the dual
        vector after the solver has stopped.
    trivial_ : bool
        Whether w = 0 is optimal: whether the two classes have the same mean.
    n_iter_ : int
        Epochs and steps.
    solver_ : str
        The algorithm that finished the fit: "pair-descent", or "interior-point" where descent
        crawled.
    history_ : structured ndarray
        One row for each check of the gap: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    sklearn.svm.LinearSVC : The same problem by `loss="hinge", fit_intercept=False,
        class_weight="balanced"` and C = 1 / (alpha N).

    Notes
    -----
    Without an intercept the origin matters: scale or centre the features so that zero lies between
    the classes, or add a column of ones. Scores of all rows may be shifted by a constant without
    any loss to a ranking, but not in this problem.

    References
    ----------
    W.-Y. Shen and H.-T. Lin, Active Sampling of Pairs and Points for Large-scale Linear Bipartite
    Ranking, Asian Conference on Machine Learning, 2013.

    Examples
    --------
    >>> from toprank import WSVM
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = WSVM(alpha=1e-2, random_state=0).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-3
    True
    >>> ranker.rank(X[:100])[:3]  # the most spam-like of the first hundred messages
    array([70, 92, 93])
    """

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _loss(self, split: Split) -> RowLoss:
        return RowLoss(0.5 * np.concatenate([split.p, split.q]), SURROGATES["hinge"])

    def _problem(self, design: Design, split: Split) -> Problem:
        """The positive rows, and the negative ones turned round, all to score above one."""
        first = np.concatenate([split.pos, np.full(len(split.neg), NO_ROW)])
        second = np.concatenate([np.full(len(split.pos), NO_ROW), split.neg])
        return super()._problem(PairDesign(design, first, second), split)
