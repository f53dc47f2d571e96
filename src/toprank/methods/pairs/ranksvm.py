"""RankSVM: put every positive above every negative, by a margin.

Problem  min over w   alpha/2 |w|^2 + sum_i sum_j p_i q_j l( w.x_j - w.x_i ),  l the hinge
         [1 + z]_+ or its square
Paper    R. Herbrich, T. Graepel, K. Obermayer, Large Margin Rank Boundaries for Ordinal Regression,
         1999; T. Joachims, Training Linear SVMs in Linear Time, KDD 2006 (SVMperf); ERankSVM of
         W.-Y. Shen and H.-T. Lin, Active Sampling of Pairs and Points, ACML 2013: (1)
Symbols  C_ij -> p_i q_j / (2 alpha), for (1) sums both orientations of a pair; C B = 1 / alpha;
         SVMperf's -c with the loss of AUC -> 1 / (100 alpha)
Differs  The m n pairs are never listed: with both classes sorted by score, sums over pairs are
         linear scans. Newton's method in place of cutting planes, and a dual that comes with
         every step, so that the fit ends with a certificate.
         Rows may have weights: p_i and q_j, which sum to one over each class.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from ...estimators.convex import ConvexRanker
from ...inputs.class_split import Split
from ...losses import PairLoss


class RankSVM(ConvexRanker):
    r"""Rank so that positives stand above negatives by a margin, over all pairs.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac{1}{mn}\sum_{i,j} \ell(w\cdot x_j - w\cdot x_i)`
    over linear scores, i the positive rows and j the negative ones, exactly: the fit ends with a
    certificate, two numbers that bracket the minimum. The mean over pairs of l is an upper bound of
    1 - AUC. The pairs are never listed, so that time grows as N log N.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation. The total weight of the loss in units of ``|w|^2 / 2``, C
        times the number of pairs or the paper's C B, is 1 / alpha.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        l(z) = [1 + z]_+ or its square. The square is faster to fit.
    tol : float, default=1e-3
        The relative duality gap to stop at.
    max_iter : int, default=1000
        The most Newton steps, and epochs of "dual-descent".
    solver : {"auto", "newton", "dual-descent"}, default="auto"
        "newton" rounds the hinge's kink off, less and less, and never lists a pair. "dual-descent"
        lists those near the margin, five million at the most, for the hinge alone: the better
        way where the classes are all but separable and the features many. "auto" begins with the
        first, and ends with the second where steps get short.
    warm_start : bool, default=False
        Start from the last fit: worth it for a path of alphas, the largest first.
    n_threads : int, optional
        Threads for products with the data; without it OMP_NUM_THREADS, else one per core. The
        result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Decides the order in which "dual-descent" visits pairs; pass an int for the same result
        every time.
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
        Whether w = 0 is optimal, within the certificate: only where both classes have the same
        mean.
    n_iter_ : int
        Iterations of the solver.
    solver_ : str
        The algorithm that finished the fit: "pair-newton" or "listed-pairs".
    history_ : structured ndarray
        One row for each Newton step or check of all pairs by dual descent: iteration, passes over
        the data, seconds, primal, dual, relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    ASRankSVM : The same loss on a few thousand pairs, chosen as it goes.
    WSVM : The hinge on rows, an upper bound of this loss.
    RectPushApp : A loss that looks at the head of the list.

    Notes
    -----
    With many rows, a sample of a few thousand is solved first, and the fit of all rows starts from
    its solution. The sample takes every k-th row of each class, in the order they come in.

    References
    ----------
    T. Joachims, Training Linear SVMs in Linear Time, ACM SIGKDD, 2006.

    W.-Y. Shen and H.-T. Lin, Active Sampling of Pairs and Points for Large-scale Linear Bipartite
    Ranking, Asian Conference on Machine Learning, 2013.

    Examples
    --------
    >>> from toprank import RankSVM
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = RankSVM(alpha=1e-3).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-3
    True
    """

    _on_clusters: ClassVar[bool] = True
    _gathers_scores: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexRanker._parameter_constraints,
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "solver": [StrOptions({"auto", "newton", "dual-descent"})],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: str = "hinge",
        tol: float = 1e-3,
        max_iter: int = 1000,
        solver: str = "auto",
        warm_start: bool = False,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _loss(self, split: Split) -> PairLoss:
        return PairLoss(split, self._surrogate)
