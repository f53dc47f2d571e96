"""BBRCV: BBR with alpha chosen by held-out pairs, from the moments of folds.

Problem  BBR's, for every alpha of a grid and every fold left out
Paper    Risk Bounds for Low Cost Bipartite Ranking, arXiv:1912.00537, which determines its
         regularisation by cross-validation, but does not say how
Differs  moments merge, so those of the training part are the merged moments of the other folds,
         and the held-out risk 1/2 - u'w + w'Sw/2 needs those of its own fold only: K folds and L
         values of alpha are K + 1 decompositions of a d x d matrix, and one pass over the rows
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions

from ...estimators.ranker import Learnt, Ranker, fitting
from ...estimators.validation import LabelledRows
from ...exceptions import warn_short_folds
from ...inputs.arguments import check_values
from ...inputs.folds import Folds, make_folds
from ...metrics._scorers import find_scorer, takes_weights
from ...solvers.linalg import one_blas_thread
from ...solvers.watch import Watch
from .base import SquaredLossRanker
from .bbr import BBR
from .moments import ClassMoments
from .quadratic import Target
from .risks import Risk, solve_targets
from .rows import (
    Parts,
    check_rows,
    choose_solver,
    parts_by_moments,
    parts_by_products,
    parts_on_cluster,
)

Array = NDArray[np.float64]

#: The default grid, in units of the mean diagonal of E psi psi'.
GRID = np.logspace(-8, 2, 40)


class BBRCV(SquaredLossRanker):
    r"""BBR with alpha chosen by cross-validation, at little more than the cost of one fit.

    Alpha is chosen by the mean over the folds of the held-out pairwise risk
    :math:`\frac12\mathrm{mean}(1 - w\cdot(x_i - x_j))^2`, or by any scorer. The ranker is then
    fitted on all rows.

    Parameters
    ----------
    alphas : array-like or None, default=None
        The values to choose from. None is 40 of them, evenly spaced on a logarithmic scale from
        1e-8 to 100 times the mean square of a feature of a pair.
    cv : int, splitter or iterable, default=5
        Number of stratified folds of consecutive rows (or as many as the smaller class has rows),
        or what scikit-learn takes for `cv`: splitters of groups, of time. Folds that part
        the rows need one pass over them, others one for each part.
    scoring : str, callable or None, default=None
        None chooses by the held-out risk, the squared loss over pairs. If the head of the list
        counts, say "average_precision". A name is one of `toprank.metrics.get_scorer` or of
        scikit-learn; the largest mean score wins. On equal scores the larger alpha does. Other
        searches know scikit-learn's names only: there pass `get_scorer("precision_at_50")`.
    tol : float, default=1e-4
        The relative duality gap to stop at, for "lanczos"; "moments" is exact.
    max_iter : int, default=1000
        The most steps of "lanczos".
    solver : {"auto", "moments", "lanczos"}, default="auto"
        As for `BBR`.
    n_threads : int, optional
        Threads for products with the data; without it OMP_NUM_THREADS, else one per core. The
        result does not depend on it.
    verbose : int, default=0
        Print a row of `history_` as it comes if above zero.
    pos_label : label or None, default=None
        The label to rank first. None takes the greater one, and the fit says so with a
        `PositiveLabelWarning` unless the labels are 0/1, -1/1 or booleans.

    Attributes
    ----------
    alpha_ : float
        The alpha that was chosen.
    alphas_ : ndarray of shape (n_alphas,)
        The values it was chosen from, in increasing order.
    cv_risks_ : ndarray of shape (n_folds, n_alphas)
        The held-out risk of every fold and value; None where a scorer decided.
    cv_scores_ : ndarray of shape (n_folds, n_alphas)
        The score of every fold and value; None where the risk decided.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        Minus the threshold above which `predict` calls a row positive: halfway between the mean
        scores of the two classes.
    moments_ : ClassMoments or None
        Weight, mean and scatter of the rows of each class; None after "lanczos".
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap` of the fit.
    multiplier_ : float
        What the ball adds to alpha: 0, for there is no ball.
    kkt_ : float
        What is left of the gradient of the Lagrangian,
        ``|S w - u + (alpha + multiplier_) w| / |u|``.
    trivial_ : bool
        Whether w = 0 is optimal: whether the two classes have the same mean.
    n_iter_ : int
        Steps of "lanczos" on all rows; 1 for "moments".
    solver_ : str
        The algorithm that finished the fit: "moments" or "lanczos".
    history_ : structured ndarray
        One row for each check of the gap: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    BBR : One alpha, or a ball; blocks of rows.

    Examples
    --------
    >>> from toprank import BBRCV
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = BBRCV().fit(X, y)
    >>> ranker.cv_risks_.shape
    (5, 40)
    >>> BBRCV(scoring="average_precision").fit(X, y).alpha_ in ranker.alphas_
    True
    """

    _on_clusters = True

    moments_: ClassMoments | None
    cv_risks_: Array | None
    cv_scores_: Array | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "alphas": [None, "array-like"],
        "cv": ["cv_object"],
        "scoring": [None, str, callable],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({"auto", "moments", "lanczos"})],
    }

    def __init__(
        self,
        alphas: ArrayLike | None = None,
        *,
        cv: Any = 5,
        scoring: str | Callable[..., float] | None = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        solver: str = "auto",
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.scoring = scoring
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    @fitting
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose alpha, and learn the score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Two labels; `pos_label` is the positive one, or else the greater.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none.
        groups : array-like of shape (n_samples,), optional
            What a splitter of groups keeps together.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit(X, y, sample_weight, groups=groups)

    def _check(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> LabelledRows:
        return check_rows(self, X, y, sample_weight)

    def _learn(self, rows: LabelledRows, watch: Watch, groups: Any = None) -> Learnt:
        self.__dict__.pop("_unsolved", None)
        given = None
        if self.alphas is not None:
            given = np.sort(check_values("alphas", self.alphas, above_zero=False))
        least = Target(GRID[0] if given is None else float(given[0]))
        solver = choose_solver(self.solver, rows.design, [least])
        with one_blas_thread():
            folds: Folds | None = None
            if not rows.design.reads_rows:
                parts = parts_on_cluster(rows, self._number_of_folds(groups))
            else:
                folds = make_folds(self.cv, rows.split, rows.X, np.asarray(rows.y), groups)
                make = parts_by_moments if solver == "moments" else parts_by_products
                parts = make(self, rows, folds)
            alphas = parts.unit * GRID if given is None else given
            chosen = self._choose(parts, folds, alphas, rows)
        self.alpha_ = chosen["alpha_"]
        learnt = self._solved(parts.whole, watch, solver)
        learnt.more.update(chosen, moments_=parts.moments)
        return learnt

    def _number_of_folds(self, groups: Any) -> int:
        """Of rows on a cluster, which are held out by chance."""
        if groups is not None:
            raise TypeError(
                "groups are kept together by splitters of row numbers, and these rows are on a "
                "cluster, where rows are held out by chance: leave groups out, or fit in memory."
            )
        if not isinstance(self.cv, Integral) or isinstance(self.cv, bool) or self.cv < 2:
            raise TypeError(
                f"cv={self.cv!r} splits rows by their numbers, and these are on a cluster: pass "
                "how many folds, 2 or more, and rows are held out by chance."
            )
        if self.scoring is not None:
            raise TypeError(
                f"scoring={self.scoring!r} needs the scores of rows held out, and these are on a "
                "cluster: take scoring=None, the held-out risk, which their moments tell."
            )
        return int(self.cv)

    def _choose(
        self, parts: Parts, folds: Folds | None, alphas: Array, given: LabelledRows
    ) -> dict[str, Any]:
        """The best alpha and the table it was chosen by, as attributes."""
        X, y, weight = given.X, given.y, given.weight
        targets = [Target(float(alpha)) for alpha in alphas]
        table = np.zeros((len(parts.training), len(targets)))
        scorer, scored, short = self._scorer(), self.classes_, False
        if isinstance(self.scoring, str):
            # Scorers by name may go by the order of the labels: 0 and 1 leave nothing to them.
            scored = np.array([0, 1])
            y = scored[(np.asarray(y) == self.classes_[1]).astype(np.intp)]
        for k, (training, held_out) in enumerate(zip(parts.training, parts.held_out, strict=True)):
            solutions, met = solve_targets(training, targets, self.tol, self.max_iter)
            short = short or not met
            if scorer is None:
                table[k] = [held_out.value_and_gradient(found.w)[0] for found in solutions]
                continue
            assert folds is not None
            test = folds.held_out(k)
            options = {}
            if weight is not None and takes_weights(scorer):
                options = {"sample_weight": weight[test]}
            rows = _safe_indexing(X, test)
            for value, found in enumerate(solutions):
                held = np.asarray(y)[test]
                score = scorer(self._scored(found.w, training, scored), rows, held, **options)
                if not isinstance(score, Real):
                    raise ValueError(f"scoring must return a number, got {score!r}.")
                table[k, value] = score
        if short:
            warn_short_folds(self.max_iter, self.tol)
        mean = -table.mean(axis=0) if scorer is None else table.mean(axis=0)
        if not np.isfinite(mean).all():
            raise ValueError(
                f"scoring gives no number for alpha={alphas[~np.isfinite(mean)][0]:g}: is "
                "it defined on every fold?"
            )
        best = len(mean) - 1 - int(np.argmax(mean[::-1]))
        return {
            "alphas_": alphas,
            "alpha_": float(alphas[best]),
            "cv_risks_": table if scorer is None else None,
            "cv_scores_": None if scorer is None else table,
        }

    def _scorer(self) -> Any:
        return None if self.scoring is None else find_scorer(self.scoring, BBR())

    def _scored(self, w: Array, training: Risk, classes: NDArray[Any]) -> BBR:
        """The ranker of these weights, to be scored."""
        ranker = BBR(n_threads=self.n_threads)
        ranker._take_over(self)
        ranker.classes_, ranker.pos_label = classes, classes.tolist()[1]
        ranker.coef_, ranker.intercept_ = w[np.newaxis], np.array([-training.threshold(w)])
        return ranker

    def _target(self) -> Target:
        return Target(self.alpha_)

    def _lacks(self) -> str:
        return "is not fitted yet: call fit"


__all__ = ["BBRCV"]
