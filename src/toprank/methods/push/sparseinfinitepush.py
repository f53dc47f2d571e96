"""Sparse Infinite Push: let no negative stand above many positives, by few features.

Problem  min over w   alpha |w|_1 + sum_i p_i [1 + max_j w.x_j - w.x_i]_+
Paper    A. Rakotomamonjy, Sparse Support Vector Infinite Push, ICML 2012 (L1SVIP): the infinite
         push of S. Agarwal, SDM 2011, with a 1-norm in place of the squared 2-norm
Symbols  lambda -> alpha
Differs  The worst negative is the highest one, so that this is a linear programme of N rows in
         place of m n pairs. It is solved by parts: columns and rows are added while they matter.
         The fit ends at a vertex with a certificate; the paper splits the problem over the pairs
         and takes proximal steps. The alpha at which the first weight leaves zero is known.
         Rows may have weights: p_i, which sum to one over the positives (1/m without them).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...designs import Design
from ...exceptions import warn_path_unconverged
from ...inputs.arguments import check_values
from ...inputs.class_split import Split
from ...losses import TopLoss
from ...problems import Certificate, L1Problem, Problem, Solution
from ...solvers.watch import Watch
from ...surrogates import SURROGATES
from .base import TopRanker
from .linear_programming import linear_programming, strength_of_zero

Array = NDArray[np.float64]

#: Values of alpha in a path that names none.
N_ALPHAS = 20
#: The smallest of them, as a share of the largest.
SMALLEST = 1e-2


class SparseInfinitePush(TopRanker):
    r"""Rank so that no negative stands above many positives, with few features.

    Minimises :math:`\alpha\|w\|_1 + \max_j \frac1m\sum_i [1 + w\cdot x_j - w\cdot x_i]_+` over
    linear scores, i the positive rows and j the negative ones, exactly: the fit ends with a
    certificate, two numbers that bracket the minimum. Most weights are zero if `alpha` is large.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation, by the 1-norm. From
        `sparse_infinitepush_path(X, y).alpha_max` on all weights are zero; a hundredth of that is
        often little.
    tol : float, default=1e-4
        The relative duality gap to stop at. A vertex is mostly much better.
    max_iter : int, default=1000
        The most linear programmes, each with more of the columns and rows than the one before.
    warm_start : bool, default=False
        Start from the last fit: worth it for a path of alphas, the largest first. The columns and
        rows that it used are those of the first programme.
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
        The weights w; those of features that do not help are exactly zero.
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
        Linear programmes.
    solver_ : str
        The algorithm that finished the fit: "linear-programming".
    history_ : structured ndarray
        One row for each linear programme: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    InfinitePush : The same loss with a squared 2-norm.
    LPPair : Another 1-norm method, over all pairs.
    sparse_infinitepush_path : The fits along values of alpha.

    Notes
    -----
    The 1-norm is not indifferent to units: scale the features first.

    References
    ----------
    A. Rakotomamonjy, Sparse Support Vector Infinite Push, International Conference on Machine
    Learning, 2012.

    Examples
    --------
    >>> from toprank import SparseInfinitePush
    >>> from toprank.datasets import make_gaussian_mixture
    >>> X, y = make_gaussian_mixture(300, sigma=0.5, random_state=0)
    >>> ranker = SparseInfinitePush(alpha=1e-2).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-4
    True
    """

    _why_trivial: ClassVar[str] = (
        "alpha is at or above the strength from which on no feature pays, which "
        "sparse_infinitepush_path tells as alpha_max. If that is zero, the mean of the positives "
        "lies in the convex hull of the negatives."
    )
    _instead: ClassVar[str] = (
        "Lower alpha or, if alpha_max is zero, try a loss that does not look at the highest "
        "negative alone: LPPair or SoftMarginRank for few features, RectPushApp for the head."
    )

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        tol: float = 1e-4,
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

    def _loss(self, split: Split) -> TopLoss:
        return TopLoss(split, SURROGATES["hinge"])

    def _solve(self, problem: Problem, start: Solution | None, watch: Watch, seed: int) -> Solution:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return linear_programming(
                problem, start=start, tol=self.tol, max_iter=self.max_iter, watch=watch
            )

    def _problem(self, design: Design, split: Split) -> L1Problem:
        of = super()._problem(design, split)
        return L1Problem(of.design, of.loss, of.alpha)


@dataclass(frozen=True)
class SparsePath:
    """The fits of SparseInfinitePush along values of alpha.

    Attributes
    ----------
    alphas : ndarray of shape (n_values,)
        The strengths, the largest first.
    coefs : ndarray of shape (n_values, n_features)
        The weights.
    intercepts : ndarray of shape (n_values,)
        Minus the thresholds, as SparseInfinitePush has them.
    certificates : list of Certificate
        Primal and dual value of each.
    alpha_max : float
        The strength from which on all weights are zero; zero where they are at any strength.
    """

    alphas: Array
    coefs: Array
    intercepts: Array
    certificates: list[Certificate]
    alpha_max: float


def sparse_infinitepush_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    alphas: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    n_threads: int | None = None,
    pos_label: Any = None,
) -> SparsePath:
    """The fits of SparseInfinitePush for many values of alpha, and the one where weights begin.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Two labels; `pos_label` is the positive one, or else the greater.
    alphas : array-like, optional
        Values of alpha, above 0; without them 20 of equal ratios, from `alpha_max` down to a
        hundredth of it.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    tol : float, default=1e-4
        Relative duality gap of every fit.
    max_iter : int, default=1000
        The most linear programmes of every fit.
    n_threads : int, optional
        Threads to use.
    pos_label : label or None, default=None
        The label to rank first, as for SparseInfinitePush.

    Returns
    -------
    SparsePath
        Weights, intercepts and certificates, one a value, and `alpha_max`.

    Examples
    --------
    >>> from toprank.methods.push.sparseinfinitepush import sparse_infinitepush_path
    >>> from toprank.datasets import make_gaussian_mixture
    >>> X, y = make_gaussian_mixture(300, sigma=0.5, random_state=0)
    >>> path = sparse_infinitepush_path(X, y)
    >>> bool(path.coefs[0].any()), bool(path.coefs[1].any())
    (False, True)
    """
    ranker = SparseInfinitePush(
        tol=tol, max_iter=max_iter, n_threads=n_threads, pos_label=pos_label
    )
    ranker._validate_params()
    rows = ranker._check(X, y, sample_weight)
    problem = ranker._problem(rows.design, rows.split)
    low, high = strength_of_zero(problem.design, rows.split, max_iter=max_iter)
    alpha_max = high if low > 0.0 else 0.0
    if alphas is None and not alpha_max > 0.0:
        raise ValueError(
            "No alpha leaves a weight that is not zero: the mean of the positives lies in the "
            "convex hull of the negatives. Try LPPair or SoftMarginRank for few features."
        )
    given = alpha_max * np.geomspace(1.0, SMALLEST, N_ALPHAS) if alphas is None else alphas
    values = np.sort(check_values("alphas", given, above_zero=True))[::-1]
    if np.isinf(values[0]):
        raise ValueError("alphas must be finite: from alpha_max on all weights are zero.")
    last, coefs, intercepts, certificates = None, [], [], []
    for alpha in values.tolist():
        problem = problem.at_alpha(alpha)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            last = linear_programming(problem, start=last, tol=tol, max_iter=max_iter)
        scores = problem.design.scores(last.w)
        coefs.append(last.w)
        intercepts.append(ranker._score(last.w, problem, scores)["intercept_"][0])
        certificates.append(problem.certify(last, scores))
    short = [one.relative_gap for one in certificates if not one.holds(tol)]
    warn_path_unconverged(short, len(values), tol, "raise max_iter")
    return SparsePath(values, np.array(coefs), np.array(intercepts), certificates, alpha_max)
