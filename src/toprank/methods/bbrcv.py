"""BBRCV: BBR with alpha chosen by held-out pairs, from the moments of folds.

Problem  BBR's, for every alpha of a grid and every fold left out
Paper    Risk Bounds for Low Cost Bipartite Ranking, arXiv:1912.00537, which determines its
         regularisation by cross-validation, but does not say how
Differs  moments merge, so those of the training part are the merged moments of the other folds,
         and the held-out risk 1/2 - u'w + w'Sw/2 needs those of its own fold only: K folds and L
         values of alpha are K + 1 decompositions of a d x d matrix, and one pass over the rows
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions

from ..base import warn_caller
from ..metrics import get_scorer
from ..moments import ClassMoments
from ..solvers._common import one_blas_thread
from ..solvers.quadratic import Target
from ..squared import Risk, SquaredLossRanker
from ._bbr_folds import Folds, Parts, make_folds, parts_by_moments, parts_by_products
from ._bbr_path import check_values, solve_targets
from ._bbr_rows import LabelledRows, choose_solver
from .bbr import BBR

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
        or what scikit-learn takes for `cv`, without groups. Folds that part the rows need one
        pass over them, others one for each part.
    scoring : str, callable or None, default=None
        None chooses by the held-out risk, the squared loss over pairs. If the head of the list
        counts, say "average_precision". A name is one of `toprank.metrics.get_scorer` or of
        scikit-learn; the largest mean score wins. On equal scores the larger alpha does.
    solver : {"auto", "moments", "lanczos"}, default="auto"
        As for BBR.
    tol : float, default=1e-4
        Relative duality gap at which "lanczos" stops.
    max_iter : int, default=1000
        Steps of "lanczos" at the most.
    n_threads : int, optional
        Threads to use; by default OMP_NUM_THREADS, else one per core.

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
        The weights.
    intercept_ : ndarray of shape (1,)
        Minus the score halfway between the means of the classes.
    moments_ : ClassMoments or None
        Weight, mean and scatter of the rows of each class; None after "lanczos".
    certificate_ : Certificate
        Primal and dual value of the fit.
    multiplier_ : float
        0: there is no ball.
    kkt_ : float
        What is left of the gradient of the Lagrangian, |S w - u + (alpha + multiplier_) w| / |u|.
    trivial_ : bool
        Whether the classes have the same mean, so that w = 0 is the optimum.
    n_iter_ : int
        Steps of "lanczos" on all rows; 1 for "moments".
    solver_ : str
        The solver that was used.
    classes_ : ndarray of shape (2,)
        The two labels; the second is the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

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

    moments_: ClassMoments | None
    cv_risks_: Array | None
    cv_scores_: Array | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alphas": [None, "array-like"],
        "cv": ["cv_object"],
        "scoring": [None, str, callable],
        "solver": [StrOptions({"auto", "moments", "lanczos"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_threads": [None, Interval(Integral, 1, 4096, closed="both")],
    }

    def __init__(
        self,
        alphas: ArrayLike | None = None,
        *,
        cv: Any = 5,
        scoring: str | Callable[..., float] | None = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_threads: int | None = None,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_threads = n_threads

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose alpha, then learn the score from all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. float32 and float64 are used as they are, without a copy.
        y : array-like of shape (n_samples,)
            Two labels; the greater one is the positive class.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, in fits, risks and scores.

        Returns
        -------
        self
            The fitted ranker.
        """
        self._forget_solution()
        rows = LabelledRows.of(self, X, y, sample_weight)
        given = None
        if self.alphas is not None:
            given = np.sort(check_values("alphas", self.alphas, above_zero=False))
        least = Target(GRID[0] if given is None else float(given[0]))
        self.solver_ = choose_solver(self.solver, rows.design, [least])
        folds = make_folds(self.cv, rows.split, X, y)
        with one_blas_thread():
            make = parts_by_moments if self.solver_ == "moments" else parts_by_products
            parts = make(self, rows, folds)
            self.moments_ = parts.moments
            self.alphas_ = parts.unit * GRID if given is None else given
            self._choose(parts, folds, X, np.asarray(y), rows.weight)
        self._solve(parts.whole)
        return self

    def _choose(self, parts: Parts, folds: Folds, X: Any, y: Any, weight: Array | None) -> None:
        """Set alpha_ and the table it was chosen by."""
        targets = [Target(float(alpha)) for alpha in self.alphas_]
        table = np.zeros((len(parts.training), len(targets)))
        scorer, short = self._scorer(), False
        for k, (training, held_out) in enumerate(zip(parts.training, parts.held_out, strict=True)):
            solutions, met = solve_targets(training, targets, self.tol, self.max_iter)
            short = short or not met
            if scorer is None:
                table[k] = [held_out.value_and_gradient(found.w)[0] for found in solutions]
                continue
            test = folds.held_out(k)
            options = {}
            if weight is not None and _takes_weights(scorer):
                options = {"sample_weight": weight[test]}
            rows = _safe_indexing(X, test)
            for value, found in enumerate(solutions):
                score = scorer(self._scored(found.w, training), rows, y[test], **options)
                if not isinstance(score, Real):
                    raise ValueError(f"scoring must return a number, got {score!r}.")
                table[k, value] = score
        if short:
            warn_caller(
                f"Lanczos' method stopped after {self.max_iter} steps short of a relative gap of "
                f"{self.tol:g} in some of the folds. Raise max_iter or the smallest alpha, scale "
                "the features, take solver='moments', or accept the gap by a larger tol.",
                ConvergenceWarning,
            )
        self.cv_risks_ = table if scorer is None else None
        self.cv_scores_ = None if scorer is None else table
        mean = -table.mean(axis=0) if scorer is None else table.mean(axis=0)
        if not np.isfinite(mean).all():
            raise ValueError(
                f"scoring gives no number for alpha={self.alphas_[~np.isfinite(mean)][0]:g}: is "
                "it defined on every fold?"
            )
        best = len(mean) - 1 - int(np.argmax(mean[::-1]))
        self.alpha_ = float(self.alphas_[best])

    def _scorer(self) -> Any:
        if self.scoring is None or callable(self.scoring):
            return self.scoring
        try:
            return get_scorer(str(self.scoring))
        except ValueError as ours:
            try:
                return check_scoring(BBR(), scoring=self.scoring)
            except ValueError as theirs:
                raise ValueError(
                    f"scoring={self.scoring!r} is known neither here nor to scikit-learn. {ours} "
                    f"{theirs}"
                ) from None

    def _scored(self, w: Array, training: Risk) -> BBR:
        """The ranker of these weights, to be scored."""
        ranker = BBR(n_threads=self.n_threads)
        ranker._take_over(self)
        ranker.coef_, ranker.intercept_ = w[np.newaxis], np.array([-training.threshold(w)])
        return ranker

    def _target(self) -> Target:
        return Target(self.alpha_)

    def _lacks(self) -> str:
        return "is not fitted yet: call fit"


def _takes_weights(scorer: Any) -> bool:
    """Whether a scorer has a parameter for weights."""
    known = inspect.signature(scorer).parameters.values()
    return any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in known)


__all__ = ["BBRCV"]
