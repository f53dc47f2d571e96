"""AATP, accuracy at the top: a score whose highest share tau of the rows are the positives.

Problem  min over w   alpha/2 |w|^2 + 1/N sum_i [1 - (w.x_i - q)]_+ + 1/N sum_j [1 + (w.x_j - q)]_+
         q = q(w), the K-th highest score of all N rows, K = ceil(tau N): not convex
Paper    S. Boyd, C. Cortes, M. Mohri, A. Radovanovic, Accuracy at the Top, NIPS 2012
Symbols  tau -> tau;  q_w -> the score of the row at tau;  C -> 1 / (alpha N): the loss is a mean
Differs  With the score of a fixed row in place of q the problem is convex, and solved to a
         certified gap. A bound of all N such problems comes with each, and the least of the bounds
         is one of the whole. With many rows thresholds and weights take
         turns, from RankSVM's weights on, and what is found is no worse than those.
         Rows may have weights: they count in the mean and for the share tau.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ...estimators.ranker import Learnt, Ranker
from ...estimators.validation import LabelledRows
from ...losses import PairLoss
from ...problems import Problem
from ...solvers import solve
from ...solvers.watch import Watch
from ...surrogates import SURROGATES
from .threshold_search import ThresholdSearch
from .top_quantile import TopQuantile

Array = NDArray[np.float64]

#: With no more rows than this, "auto" looks at every row's problem: it takes seconds.
MOST_ENUMERATED = 200


class AATP(Ranker):
    r"""Rank so that the highest share tau of the rows are the positives, by a margin.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1N\sum_i [1 - (w\cdot x_i - q)]_+ +
    \frac1N\sum_j [1 + (w\cdot x_j - q)]_+` over linear scores, i the positive rows and j the
    negative ones, q the K-th highest score of all N rows and K = ceil(tau N). This is not convex.
    What is found is a good point, its objective is told, and so is a bound that no weights can be
    below; the two need not meet.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation; 1 / (C N) where the paper's losses are summed.
    tau : float, default=0.1
        The share of rows, above 0 and below 1, that is the top. K = ceil(tau N) of them are.
    tol : float, default=1e-3
        The relative duality gap to stop at, in the convex problem of a row.
    max_iter : int, default=1000
        The most epochs and steps of the convex problem of a row.
    solver : {"auto", "enumeration", "alternating"}, default="auto"
        "enumeration" looks at the convex problem of every row, and solves those that can lead to
        less than the best so far: up to a few hundred rows. "alternating" solves that of the row at
        tau, and of its neighbours, until the row repeats. "auto" enumerates up to 200 rows.
    n_threads : int, optional
        Threads for products with the data; without it OMP_NUM_THREADS, else one per core. The
        result does not depend on it.
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
        Minus the threshold above which `predict` calls a row positive: between the K-th highest
        training score and the next one below, so that the top is what is called positive.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    objective_value_ : float
        The objective at `coef_`: that of the problem itself, not of a convex one.
    objective_bound_ : float
        No weights have an objective below this one. With "enumeration" it is the least that the
        convex problems allow, with "alternating" it can be far too low.
    threshold_row_ : int
        The training row at tau: its score is q.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap` of the convex problem in which the score of
        `threshold_row_` is q, not of the whole: `primal` is the objective at `coef_`, `dual` what
        no weights can be below that have the same row at tau.
    trivial_ : bool
        Whether w = 0 is optimal, by `objective_bound_`.
    n_iter_ : int
        Convex problems that were solved.
    solver_ : str
        The algorithm that finished the fit: "enumeration" or "alternating".
    history_ : structured ndarray
        One row for each convex problem: iteration, passes over the data, seconds, primal (the
        least objective so far), dual (the bound of all weights), relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    TopPush : The positives above the highest negative: convex.
    RectPushApp : A convex loss of the head of the list.
    RankSVM : All pairs; where "alternating" begins.

    References
    ----------
    S. Boyd, C. Cortes, M. Mohri and A. Radovanovic, Accuracy at the Top, Advances in Neural
    Information Processing Systems, 2012.

    Examples
    --------
    >>> from toprank import AATP
    >>> from toprank.datasets import make_gaussian_mixture
    >>> X, y = make_gaussian_mixture(random_state=0)
    >>> ranker = AATP(alpha=1e-2, tau=0.2, random_state=0).fit(X, y)
    >>> bool(ranker.objective_bound_ <= ranker.objective_value_ < 1.0)
    True
    """

    objective_value_: float
    objective_bound_: float
    threshold_row_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "tau": [Interval(Real, 0, 1, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({"auto", "enumeration", "alternating"})],
        "random_state": ["random_state"],
    }
    _why_trivial: ClassVar[str] = "No direction moves the positives above the top's threshold."

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        tau: float = 0.1,
        tol: float = 1e-3,
        max_iter: int = 1000,
        solver: str = "auto",
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.tau = tau
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _learn(self, rows: LabelledRows, watch: Watch) -> Learnt:
        seed, split = self._seed(), rows.split
        design = rows.design.centred(split.rows)  # only differences of rows count
        target = TopQuantile(design, split, float(self.alpha), float(self.tau))
        watch.design = design
        watch.attributes = lambda w: self._score(target, w, design.scores(w))
        search = ThresholdSearch(target, self.tol, self.max_iter, watch, seed)
        pairs = Problem(design, PairLoss(split, SURROGATES["hinge"]), float(self.alpha))
        start = solve(pairs, tol=self.tol, max_iter=self.max_iter, seed=seed)
        enumerated = self.solver == "enumeration" or (
            self.solver == "auto" and len(target.rows) <= MOST_ENUMERATED
        )
        # Weights whose value is not finite are not kept.
        with np.errstate(over="ignore", invalid="ignore"):
            search.offer_stretched(start.w)
            (search.enumerate if enumerated else search.alternate)()
        return self._learnt(search, "enumeration" if enumerated else "alternating", watch)

    def _learnt(self, search: ThresholdSearch, solver: str, watch: Watch) -> Learnt:
        row, certificate = search.certify()
        return Learnt(
            self._score(search.target, search.w, search.scores),
            search.n_solved,
            certificate,
            solver,
            watch.history,
            trivial=not search.w.any() and search.bound >= (1.0 - self.tol) * search.value,
            converged=search.widest == 0.0,
            reached=f"a relative gap of {search.widest:.2g} of a row's problem, above tol="
            f"{self.tol:g}",
            solver_iterations=search.iterations,
            more={
                "objective_value_": search.value,
                "objective_bound_": search.bound,
                "threshold_row_": row,
            },
        )

    def _score(self, target: TopQuantile, w: Array, scores: Array) -> dict[str, Array]:
        """The attributes of the score x.w, less its threshold."""
        offset = 0.0 if target.design.offset is None else float(target.design.offset @ w)
        threshold = target.threshold(scores) + offset
        return {"coef_": w[np.newaxis], "intercept_": np.array([-threshold])}
