"""LPPair: the largest 1-norm soft margin over all pairs.

Problem  max over |w|_1 <= 1 of  low({M_ij(w)}; nu),  the mean of the nu = epsilon p n smallest
         margins M_ij(w) = (f(x_i) - f(z_j)) / 2 of a positive and a negative row;
         f = sum_k w_k h_k, h_k the base rankers, with values in [-1, 1]
Paper    D. Suehiro, K. Hatano, E. Takimoto, Approximate Reduction from AUC Maximization to 1-norm
         Soft Margin Optimization, ALT 2011: (2) and its dual (3), LP-Pair
Symbols  nu -> epsilon p n;  rho -> rho_;  gamma* -> between gamma_lower_ and gamma_upper_;
         alpha -> ranker_weights_;  p, n -> the numbers of positives and of negatives
Differs  The p n pairs are not listed: with both classes sorted, the tail mean rounded off has
         linear scans for its value, gradient and Hessian. Weights may be negative by default, which
         is the paper's set of rankers closed under negation. Rows may have weights: a pair's cap
         is p_i q_j / epsilon. A trivial optimum is told, and epsilon raised.
         gamma* is the optimum of (2), not its component rho; pairs below rho number nu at most, not
         those at it; and the guarantee is of AUC at the margin 2 rho (errata 1 to 3 of the page).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...estimators.old_parameters import renamed_parameters
from ...inputs.class_split import Split
from ...losses import PairTailLoss
from ...problems import BallProblem, Solution
from ...solvers.watch import Watch
from .base import Fit, Learners, SoftMarginRanker
from .column_generation import StumpMargins
from .listed_tail import solve_tail

Array = NDArray[np.float64]

#: Rows whose pairs are together less than this share of the tail change its mean by a rounding.
_VANISHING = 1e-16
#: The product of two shares below this one may be too small for a float.
_LIGHTEST = 1e-150


@renamed_parameters(rankers="weak_learners", positive="nonnegative")
class LPPair(SoftMarginRanker):
    r"""Rank with the largest 1-norm soft margin over all pairs.

    Maximises the mean of the share `epsilon` of pairs with the lowest margins
    :math:`(f(x_i) - f(x_j))/2`, i the positive rows and j the negative ones, over
    :math:`f = \sum_k w_k h_k` with :math:`\|w\|_1 \le 1`. The base rankers h are the features, each
    scaled to [-1, 1]. At most that share of the pairs has a margin below `rho_`. The pairs are
    never listed: time grows as N log N and memory as N.

    Parameters
    ----------
    epsilon : float, default=0.5
        The share of pairs that may lie below the margin. One pair or less is the hard margin; all
        of them chooses the one best ranker. Below the share of pairs that noise has put in the
        wrong order the optimum is trivial.
    nu : float, optional
        The same as a number of pairs, in place of `epsilon`.
    weak_learners : {"linear", "stumps", "precomputed"}, default="linear"
        The base rankers h. "linear" are the features over their ranges in the training data;
        constant ones are left out, and those narrower than 1.2e-308 are refused. "stumps" are +1 if
        a feature is above a threshold, else -1, for all thresholds between values; those that
        matter are found by column generation.
        "precomputed" are the features as they are, which must be between -1 and 1.
    nonnegative : bool, default=False
        Whether weights must not be negative, and sum to one: the rankers are taken as given, not
        with their negatives.
    tol : float, default=1e-5
        The relative duality gap to stop at: between the bounds of the margin.
    max_iter : int, default=1000
        The most Newton steps; over stumps also the most rounds of column generation.
    polish : bool, default=False
        Go on to a vertex, with a gap of rounding, where ties are not too many.
    on_trivial : {"raise_epsilon", "keep"}, default="raise_epsilon"
        What to do where no weights give a margin: try the next epsilon of 0.05, 0.1, 0.2, ..., 1,
        or keep w = 0. Both warn.
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
        The weights of the features as they were given; not of stumps.
    features_ : ndarray of shape (n_stumps,)
        The feature of every base ranker in the score; of stumps only.
    thresholds_ : ndarray of shape (n_stumps,)
        The threshold of every base ranker in the score; of stumps only.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of every feature in the sizes of `ranker_weights_`; they sum to one. Of stumps
        only.
    intercept_ : ndarray of shape (1,)
        Minus the threshold above which `predict` calls a row positive: halfway between two levels:
        the one that the share sqrt(epsilon) of the positives lies below, and the one that the same
        share of the negatives lies above.
    ranker_weights_ : ndarray of shape (n_features,) or (n_stumps,)
        The weight of every base ranker in the score, w, of 1-norm one: of the scaled features, or
        of the stumps.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    gamma_lower_, gamma_upper_ : float
        The soft margin over all pairs that the weights have, and the most that any have.
    rho_ : float
        The margin that `pairs_guaranteed_` pairs are guaranteed: the largest that at most a share
        `epsilon_` of the pairs lies below.
    pairs_guaranteed_ : int or float
        The number (not the share) of pairs that are guaranteed a margin of at least `rho_`: all but
        floor(nu). With sample weights, the weight of those pairs.
    pairs_above_rho_ : int or float
        The number of pairs that have it, to within 1e-9 of the margin.
    auc_at_margin_ : float
        `pairs_above_rho_` as a share of all pairs: the AUC that counts a pair only if its scores
        are 2 `rho_` apart.
    epsilon_ : float
        The epsilon that was used: larger than `epsilon` where that was trivial.
    trivial_ : bool
        Whether w = 0 is optimal: no margin above zero is possible, as far as can be told.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap` of minus the margin, which is minimised: `primal`
        is -gamma_lower_, `dual` is -gamma_upper_. Computed again from the weights and the dual
        vector after the solver has stopped.
    n_iter_ : int
        Steps of the solver, at all values of epsilon that were tried.
    solver_ : str
        The algorithm that finished the fit: "tail-newton", "listed-pairs", "column-generation",
        "interior-point" for the worst pair alone, or "one-ranker" for all pairs.
    history_ : structured ndarray
        One row for each step: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    SoftMarginRank : The reduction to tails of the two classes, with a bracket of this margin.
    RankSVM : All pairs by the hinge, with a 2-norm.

    References
    ----------
    D. Suehiro, K. Hatano and E. Takimoto, Approximate Reduction from AUC Maximization to 1-norm
    Soft Margin Optimization, Algorithmic Learning Theory, 2011.

    Examples
    --------
    >>> from toprank import LPPair
    >>> from toprank.datasets import make_gaussian_mixture
    >>> X, y = make_gaussian_mixture(random_state=0)
    >>> ranker = LPPair(epsilon=0.3).fit(X, y)
    >>> ranker.gamma_upper_ - ranker.gamma_lower_ < 1e-5
    True
    >>> bool(ranker.pairs_above_rho_ >= ranker.pairs_guaranteed_)
    True
    """

    pairs_guaranteed_: float
    pairs_above_rho_: float
    auc_at_margin_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SoftMarginRanker._parameter_constraints,
        "polish": ["boolean"],
    }

    def __init__(
        self,
        epsilon: float = 0.5,
        *,
        nu: float | None = None,
        weak_learners: str = "linear",
        nonnegative: bool = False,
        tol: float = 1e-5,
        max_iter: int = 1000,
        polish: bool = False,
        on_trivial: str = "raise_epsilon",
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.nu = nu
        self.weak_learners = weak_learners
        self.nonnegative = nonnegative
        self.tol = tol
        self.max_iter = max_iter
        self.polish = polish
        self.on_trivial = on_trivial
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    def _solve(self, rankers: Learners, split: Split, epsilon: float, watch: Watch) -> Fit:
        # Rows that vanish beside the tail are left out: their pairs may weigh less than any float.
        split = split.without_lightest(max(_VANISHING * epsilon, _LIGHTEST))
        # Below the weight of the lightest pair the mean is that of the worst pair alone.
        loss = PairTailLoss(split, max(epsilon, split.lightest_pair))
        if isinstance(rankers, StumpMargins):

            def master(problem: BallProblem, tol: float, start: Solution | None) -> Solution:
                return solve_tail(problem, start=start, tol=tol, max_iter=self.max_iter)

            return Fit(*rankers.generate(loss, master, self.tol, self.max_iter, watch), epsilon)
        problem = BallProblem(rankers.design, loss, signed=not self.nonnegative)
        solution = solve_tail(
            problem, tol=self.tol, max_iter=self.max_iter, exact=self.polish, watch=watch
        )
        certificate = problem.certify(solution)
        return Fit(problem, solution, certificate, epsilon)

    def _guarantee(self, fit: Fit, split: Split, s: Array) -> dict[str, Any]:
        m, n, _ = self._totals
        split = split.without_lightest(_LIGHTEST)
        rho, above = PairTailLoss(split, fit.epsilon).rho(s)
        return {
            "rho_": rho,
            "auc_at_margin_": above,
            "pairs_guaranteed_": self._pairs(1.0 - self._at_most(fit.epsilon, m * n)),
            "pairs_above_rho_": self._pairs(above),
        }
