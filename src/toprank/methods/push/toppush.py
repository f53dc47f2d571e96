"""TopPush: push the positives above the highest negative.

Problem  min over w   alpha/2 |w|^2 + sum_i p_i l( max_j w.x_j - w.x_i )
Paper    N. Li, R. Jin, Z.-H. Zhou, Top Rank Optimization in Linear Time, NIPS 2014: (5), dual (6)
Symbols  lambda -> alpha;  alpha_i / m -> a_i;  beta_j / m -> delta_j;  m, n as there
Differs  solved by Newton's method or by coordinate descent on the dual, to a certified gap, in
         few passes; the paper's Algorithm 1, corrected, is solver="paper".
         Rows may have weights: p_i, which sum to one over the positives (1/m without them).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from ...inputs.class_split import Split
from ...losses import TopLoss
from ...problems import Certificate, Problem, Solution
from ...solvers.watch import Watch
from .accelerated_gradient import accelerated_gradient
from .base import IN_THE_HULL, PushRanker


class TopPush(PushRanker):
    r"""Rank positives above the highest negative.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1m\sum_i \ell(\max_j w\cdot x_j - w\cdot x_i)`
    over linear scores :math:`w\cdot x`, i the positive rows and j the negative ones, exactly:
    the fit ends with a certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation. LIBLINEAR's C, for balanced classes, is 2 / (alpha N).
    loss : {"squared_hinge", "logistic", "exponential"}, default="squared_hinge"
        l(z) = [1 + z]_+^2, log(1 + e^z) or e^z.
    tol : float, default=1e-4
        The relative duality gap to stop at; for ``stopping="change"`` the paper's epsilon, for
        ``stopping="relative"`` the relative change of the dual objective.
    max_iter : int, default=10000
        The most Newton steps, epochs or gradient steps.
    solver : {"auto", "few-passes", "newton", "dual-descent", "paper"}, default="auto"
        "few-passes" takes exact gradients of all rows and Hessians of a few, for many rows of up
        to a thousand features; "newton" is an active-set Newton method, for up to about 1500
        features; "dual-descent" an accelerated dual coordinate descent, for wide sparse data;
        "auto" chooses between them by the shape of the data and by progress. "paper" is the
        accelerated gradient method of the paper, for the squared hinge only; it is slow.
    stopping : {"gap", "change", "relative"}, default="gap"
        Two rules stop the paper's method early, and bound no error. "change" is the paper's: a
        change of the dual objective, times the number of positives, below `tol`. "relative" is
        that of a program passed on as the authors' own: from the tenth step on a relative change
        of at most `tol`, or a step of at most 1e-6. It stops much sooner. Which of them the
        published figures came from is not known.
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
        highest negative, "active-set-newton", "dual-descent" or "accelerated-gradient", which is
        the paper's; "highest-rows" or "summed-newton" of rows on a cluster.
    history_ : structured ndarray
        One row for each Newton step, gradient step or check of dual descent: iteration, passes
        over the data, seconds, primal, dual, relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    sklearn.linear_model.LogisticRegression : Hard to beat; compare by the measure you act on.

    Notes
    -----
    On noisy data the optimum is often w = 0, whatever `alpha` and `loss`: just when the mean of
    the positives lies in the convex hull of the negatives. The fit then says so with a
    `TrivialSolutionWarning` and sets `trivial_`.

    References
    ----------
    N. Li, R. Jin and Z.-H. Zhou, Top Rank Optimization in Linear Time, Advances in Neural
    Information Processing Systems 27, 2014.

    Examples
    --------
    >>> from toprank import TopPush
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = TopPush(alpha=1e-2).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-4
    True
    >>> ranker.rank(X[:100])[:3]  # the most spam-like of the first hundred messages
    array([92, 93,  2])
    """

    _on_clusters: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PushRanker._parameter_constraints,
        "solver": [StrOptions({"auto", "few-passes", "newton", "dual-descent", "paper"})],
        "stopping": [StrOptions({"gap", "change", "relative"})],
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
        loss: str = "squared_hinge",
        tol: float = 1e-4,
        max_iter: int = 10_000,
        solver: str = "auto",
        stopping: str = "gap",
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
        self.stopping = stopping

    def _loss(self, split: Split) -> TopLoss:
        return TopLoss(split, self._surrogate)

    def _solve(self, problem: Problem, start: Solution | None, watch: Watch, seed: int) -> Solution:
        if self.solver != "paper":
            if self.stopping != "gap":
                raise ValueError(
                    f"stopping={self.stopping!r} is a rule of solver='paper'; every other solver "
                    "stops by its certificate, stopping='gap'."
                )
            return super()._solve(problem, start, watch, seed)
        if self.loss != "squared_hinge":
            raise ValueError(
                f"solver='paper' is for loss='squared_hinge', got loss={self.loss!r}. "
                "Use solver='auto'."
            )
        problem.design.require_rows("solver='paper'", "solver='auto'")
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return accelerated_gradient(
                problem,
                start=start,
                tol=self.tol,
                max_iter=self.max_iter,
                watch=watch,
                stopping=self.stopping,
            )

    def _accepts(self, solution: Solution, certificate: Certificate) -> bool:
        if self.stopping != "gap":
            return solution.converged
        return super()._accepts(solution, certificate)
