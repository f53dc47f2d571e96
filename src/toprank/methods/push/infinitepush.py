"""Infinite Push: let no negative stand above many positives.

Problem  min over w   alpha/2 |w|^2 + max_j sum_i p_i l( w.x_j - w.x_i )
Paper    S. Agarwal, The Infinite Push, SDM 2011: (3.4) with the hinge; its limit is that of
         C. Rudin's p-norm push, JMLR 2009
Symbols  lambda or 1/C -> alpha
Differs  The sum grows with w.x_j, so that the worst negative is the highest one and the problem
         is TopPush's: N dual variables in place of m n, linear time. That holds for every
         non-decreasing l. Solved to a certified gap; the paper takes subgradient steps on the
         m n pairs.
         Rows may have weights: p_i, which sum to one over the positives (1/m without them).
"""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from ...inputs.class_split import Split
from ...losses import TopLoss
from .base import IN_THE_HULL, PushRanker


class InfinitePush(PushRanker):
    r"""Rank so that no negative stands above many positives.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \max_j \frac1m\sum_i \ell(w\cdot x_j - w\cdot x_i)`
    over linear scores, i the positive rows and j the negative ones, exactly: the fit ends with a
    certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation; 1 / C of the paper.
    loss : {"hinge", "squared_hinge", "logistic", "exponential"}, default="hinge"
        l(z) = [1 + z]_+, its square, log(1 + e^z) or e^z. With the last three the problem is
        that of `TopPush`.
    tol : float, default=1e-4
        The relative duality gap to stop at.
    max_iter : int, default=10000
        The most Newton steps or epochs.
    solver : {"auto", "few-passes", "newton", "dual-descent"}, default="auto"
        "few-passes" takes exact gradients of all rows and Hessians of a few, for smooth losses and
        many rows of up to a thousand features. "newton" is an active-set Newton method, for up to
        about 1500 features; for the hinge it rounds the kink off, less and less, and an
        interior-point method takes over where that comes to no end. "dual-descent" is an
        accelerated dual coordinate descent, for wide sparse data. "auto" chooses between them by
        the shape of the data and by progress.
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
        Minus the threshold above which `predict` calls a row positive: halfway from the
        highest score of a training negative to the next positive above, so that no training
        negative is called positive.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap`, computed afresh from the weights and the dual
        vector after the solver has stopped.
    trivial_ : bool
        Whether w = 0 is optimal, within the certificate.
    n_iter_ : int
        Iterations of the solver.
    solver_ : str
        The algorithm that finished the fit: "top-passes", which is "few-passes" under the
        highest negative, "active-set-newton", "dual-descent" or, for the hinge,
        "smoothed-newton" or "interior-point".
    history_ : structured ndarray
        One row for each Newton step (for the hinge: each width of the rounded kink) or check of
        dual descent: iteration, passes over the data, seconds, primal, dual, relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    TopPush : The same problem, with the squared hinge by default.
    PNormPush : A smooth form that cannot be trivial.
    RectPush : Not trivial on noisy data, because negatives lose as well.

    Notes
    -----
    On noisy data the optimum is often w = 0, whatever `alpha` and `loss`: just when the mean of
    the positives lies in the convex hull of the negatives. The fit then says so with a
    `TrivialSolutionWarning` and sets `trivial_`.

    References
    ----------
    S. Agarwal, The Infinite Push: A New Support Vector Ranking Algorithm that Directly Optimizes
    Accuracy at the Absolute Top of the List, SIAM International Conference on Data Mining, 2011.

    Examples
    --------
    >>> from toprank import InfinitePush
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = InfinitePush(alpha=1e-2).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-4
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PushRanker._parameter_constraints,
        "loss": [StrOptions({"hinge", "squared_hinge", "logistic", "exponential"})],
    }
    _why_trivial: ClassVar[str] = IN_THE_HULL
    _instead: ClassVar[str] = (
        "Try a loss that does not look at the highest negative alone: RectPushApp or PNormPush "
        "for the head of the list, RankSVM for the whole of it."
    )

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: str = "hinge",
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

    def _loss(self, split: Split) -> TopLoss:
        return TopLoss(split, self._surrogate)
