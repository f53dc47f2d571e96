"""BBR: batch bipartite ranking, the squared loss over all pairs from class moments.

Problem  min over w   1/2 w'Sw - u'w + 1/2 + alpha/2 |w|^2,   |w| <= radius
         u = E psi,  S = E psi psi',  psi = x_i - x_j over all pairs, i positive, j negative
Paper    Risk Bounds for Low Cost Bipartite Ranking, arXiv:1912.00537: Algorithm 1
Symbols  mu_N -> u;  Sigma_N -> S;  W_* -> radius;  w_N -> coef_;  N1, N0 -> m, n
Differs  the loop over pairs is gone: u = m1 - m0 and S = C1 + C0 + u u' exactly, from the means
         and covariances of the classes, in one pass over the rows. So BBR is Fisher's
         discriminant with equally weighted class covariances, and RidgeClassifier with balanced
         classes, in disguise. The ridge form (alpha) is not in the paper; rows may have weights.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ...estimators.ranker import Learnt, fitting
from ...estimators.validation import LabelledRows
from ...solvers.watch import Watch
from .base import SquaredLossRanker
from .moments import ClassMoments
from .quadratic import Target
from .risks import BBRPath, MomentRisk, Risk, RowRisk, solve_path, targets_of
from .rows import check_rows, check_size, choose_solver, moments_of, operator_of


class BBR(SquaredLossRanker):
    r"""Rank by the squared loss over all pairs, exactly, in one pass over the rows.

    Minimises :math:`\frac12\mathrm{mean}_{i,j}(1 - w\cdot(x_i - x_j))^2 + \frac{\alpha}{2}\|w\|^2`
    over :math:`\|w\| \le` `radius`, i the positive rows, j the negative ones. The means and
    covariances of the two classes are all it needs: they are its state, and they merge, so that
    `partial_fit` on blocks and `merge` of rankers give what `fit` on all rows gives.

    Parameters
    ----------
    alpha : float or None, default=None
        Strength of the regularisation; 0 is none, and gives the shortest of the solutions. None
        is 1e-3, or 0 where a radius is given. `RidgeClassifier(a, class_weight="balanced")` has
        the same direction and threshold with alpha = 2 a / N.
    radius : float or None, default=None
        The ball that w must lie in, W of the paper. None is no ball.
    tol : float, default=1e-4
        The relative duality gap to stop at, for "lanczos"; "moments" is exact.
    max_iter : int, default=1000
        The most steps of "lanczos".
    solver : {"auto", "moments", "lanczos"}, default="auto"
        "moments" forms a d x d matrix, "lanczos" takes products with the rows instead, for many
        features. "auto" takes the one that costs less.
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
        What the ball adds to alpha: 0 where it does not bind.
    kkt_ : float
        What is left of the gradient of the Lagrangian,
        ``|S w - u + (alpha + multiplier_) w| / |u|``.
    trivial_ : bool
        Whether w = 0 is optimal: whether the two classes have the same mean.
    n_iter_ : int
        Steps of "lanczos"; 1 for "moments".
    history_ : structured ndarray
        One row for each check of the gap: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    solver_ : str
        The algorithm that finished the fit: "moments" or "lanczos".
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    BBRCV : Chooses alpha by held-out pairs, without another pass over the data.
    LCBR : A sample of pairs, general features of pairs, data that are pairs.
    RankSVM : All pairs by the hinge, which does not punish a pair for being too well apart.

    Examples
    --------
    >>> from toprank import BBR
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> whole = BBR(alpha=1e-3).fit(X, y)
    >>> blocks = BBR(alpha=1e-3)
    >>> for rows in (slice(0, 2000), slice(2000, None)):
    ...     blocks = blocks.partial_fit(X[rows], y[rows], classes=[0, 1])
    >>> bool(abs(whole.coef_ - blocks.coef_).max() < 1e-12)
    True
    >>> whole.certificate_.relative_gap < 1e-9
    True
    """

    moments_: ClassMoments | None

    _sums_weights = True
    _on_clusters = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SquaredLossRanker._parameter_constraints,
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({"auto", "moments", "lanczos"})],
    }

    def __init__(
        self,
        alpha: float | None = None,
        radius: float | None = None,
        *,
        tol: float = 1e-4,
        max_iter: int = 1000,
        solver: str = "auto",
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.radius = radius
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    def _check(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> LabelledRows:
        return check_rows(self, X, y, sample_weight)

    def _learn(self, rows: LabelledRows, watch: Watch) -> Learnt:
        self.__dict__.pop("_unsolved", None)
        self.moments_ = None
        solver = choose_solver(self.solver, rows.design, [self._target()])
        if solver == "lanczos":
            return self._solved(RowRisk(operator_of(self, rows)), watch, solver)
        self.moments_ = moments_of(self, rows)
        products = (lambda: operator_of(self, rows)) if rows.design.reads_rows else None
        return self._solved(MomentRisk.of(self.moments_, products), watch)

    @fitting
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Take in a block of rows; the problem is solved when the score is next used.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows of the block.
        y : array-like of shape (n_samples,)
            Their labels. A block may lack a class.
        classes : array-like of shape (2,), optional
            The two labels there are; needed at the first call, and may be left out after it.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none.

        Returns
        -------
        self
            The ranker of all rows so far, whatever the blocks were.
        """
        kept = self._kept_moments("partial_fit")
        rows = self._check_block(X, y, classes, sample_weight, first=kept is None)
        check_size(rows.design.shape[1])
        moments = ClassMoments.of(rows.design, rows.positive, rows.weight)
        self.moments_ = moments if kept is None else kept.merge(moments)
        self.solver_ = "moments"
        self._forget_solution()
        return self

    def merge(self, other: BBR) -> Self:
        """Take in the rows another ranker has seen, as if they had been seen here.

        Parameters
        ----------
        other : BBR
            A ranker of the same features and classes, with moments; it is left as it is.

        Returns
        -------
        self
            The ranker of the rows of both.
        """
        if not isinstance(other, BBR):
            raise TypeError(f"A BBR merges with a BBR, not with {type(other).__name__}.")
        theirs = other._kept_moments("merge")
        if theirs is None:
            return self
        kept = self._kept_moments("merge")
        if kept is None:
            self._take_over(other)
        _check_alike(self, other)
        self.moments_ = theirs if kept is None else kept.merge(theirs)
        self.solver_ = "moments"
        self._forget_solution()
        return self

    def path(self, *, alphas: ArrayLike | None = None, radii: ArrayLike | None = None) -> BBRPath:
        """The fits for many values of alpha, or of the radius, from one decomposition.

        Parameters
        ----------
        alphas : array-like, optional
            Values of alpha; the radius is that of the ranker.
        radii : array-like, optional
            Values of the radius; alpha is that of the ranker.

        Returns
        -------
        BBRPath
            Weights, intercepts, multipliers and certificates, one a value.
        """
        check_is_fitted(self, "coef_")
        if self.moments_ is None:
            raise ValueError(
                "This fit kept no moments (solver_ is 'lanczos'): bbr_path makes a path from the "
                "rows."
            )
        targets = targets_of(self._target(), alphas, radii)
        return solve_path(MomentRisk.of(self.moments_), targets, self.tol, self.max_iter)

    def _kept_moments(self, asked: str) -> ClassMoments | None:
        """What was seen so far; None if nothing."""
        kept = self.__dict__.get("moments_")
        if kept is None and self.__dict__.get("solver_") == "lanczos":
            raise ValueError(
                f"{asked} needs moments, and this ranker was fitted without (solver_ is "
                "'lanczos'): fit it with solver='moments', or begin with partial_fit."
            )
        return kept if isinstance(kept, ClassMoments) else None

    def _kept(self) -> dict[str, Any]:
        return {"moments_": self.moments_}

    def _kept_risk(self) -> Risk | None:
        kept = self.__dict__.get("moments_")
        return None if kept is None else MomentRisk.of(kept)

    def _lacks(self) -> str:
        kept = self.__dict__.get("moments_")
        if kept is None:
            return "is not fitted yet: call fit, or partial_fit"
        for name, side in (("positive", kept.positive), ("negative", kept.negative)):
            if side.weight == 0.0:
                return f"has seen no {name} row yet: ranking needs at least one row of each class"
        return ""


def bbr_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    alphas: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    solver: str = "auto",
    n_threads: int | None = None,
    pos_label: Any = None,
) -> BBRPath:
    """The fits of BBR for many values of alpha, or of the radius, for little more than one.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Two labels; `pos_label` is the positive one, or else the greater.
    alphas : array-like, optional
        Values of alpha, without a radius.
    radii : array-like, optional
        Values of the radius, without alpha. One of the two must be given.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    tol : float, default=1e-4
        Relative duality gap that "lanczos" reaches for every value.
    max_iter : int, default=1000
        The most steps of "lanczos".
    solver : {"auto", "moments", "lanczos"}, default="auto"
        As for BBR.
    n_threads : int, optional
        Threads to use.
    pos_label : label or None, default=None
        The label to rank first, as for BBR.

    Returns
    -------
    BBRPath
        Weights, intercepts, multipliers and certificates, one a value.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.methods.squared.bbr import bbr_path
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> path = bbr_path(X, y, alphas=np.logspace(-6, 2, 40))
    >>> path.coefs.shape == (40, X.shape[1])
    True
    """
    ranker = BBR(
        solver=solver, tol=tol, max_iter=max_iter, n_threads=n_threads, pos_label=pos_label
    )
    ranker._validate_params()
    rows = check_rows(ranker, X, y, sample_weight)
    targets = targets_of(Target(), alphas, radii)
    risk: Risk
    if choose_solver(solver, rows.design, targets) == "lanczos":
        risk = RowRisk(operator_of(ranker, rows))
    else:
        risk = MomentRisk.of(moments_of(ranker, rows), lambda: operator_of(ranker, rows))
    return solve_path(risk, targets, tol, max_iter)


def _check_alike(ours: BBR, theirs: BBR) -> None:
    """Refuse to merge what was learnt of other features or classes."""
    if ours.n_features_in_ != theirs.n_features_in_:
        raise ValueError(
            f"Cannot merge: one ranker has {ours.n_features_in_} features, the other "
            f"{theirs.n_features_in_}."
        )
    ours._check_classes(theirs)
    named = all(hasattr(one, "feature_names_in_") for one in (ours, theirs))
    if named and not np.array_equal(ours.feature_names_in_, theirs.feature_names_in_):
        raise ValueError("Cannot merge: the rankers have features of different names.")


__all__ = ["BBR", "BBRPath", "bbr_path"]
