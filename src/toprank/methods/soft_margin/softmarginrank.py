"""SoftMarginRank: tails of the two classes in place of the tail of their pairs.

Problem  max over |w|_1 <= 1 of  1/2 [ low({f(x_i)}; nu+) + low({-f(z_j)}; nu-) ],  nu+ nu- = nu:
         half the mean of the nu+ lowest positives less that of the nu- highest negatives
Paper    D. Suehiro, K. Hatano, E. Takimoto, Approximate Reduction from AUC Maximization to 1-norm
         Soft Margin Optimization, ALT 2011: (7), its dual (8), Theorem 3, Corollary 4, and the
         tangent (9)
Symbols  nu -> epsilon p n;  nu+, nu- -> nu_plus_, nu_minus_;  gamma-hat -> reduced_gamma_;
         rho-hat -> rho_;  alpha -> ranker_weights_
Differs  nu- = nu / nu+, not nu+ / nu; the least of (7) over nu+ is that of (6), which is not gamma*
         but above it. "search" looks for a local minimum by its derivative, where the paper's
         rounds of (9) and (7) end at a point that need not be one; they are `nu_plus="paper"`, from
         the nu+ of Corollary 4, as the paper names no start. (9) is solved as a convex problem of
         nu+ alone. Weights of either sign, weights of rows, and trivial optima: as in LPPair.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ...estimators.old_parameters import renamed_parameters
from ...inputs.class_split import Split
from ...losses import ClassTailLoss, PairTailLoss
from ...problems import BallProblem, Solution
from ...solvers.watch import Watch
from .base import Fit, Learners, SoftMarginRanker
from .class_tails import Reduction
from .column_generation import StumpMargins

Array = NDArray[np.float64]

#: So few rows are solved to such a gap whatever is asked: it costs next to nothing.
_FEW_ROWS, _EXACT = 2000, 1e-9
#: What rounding may put a given nu_plus outside its range.
_ROUNDING = 1e-9


@renamed_parameters(rankers="weak_learners", positive="nonnegative")
class SoftMarginRank(SoftMarginRanker):
    r"""Rank with the largest 1-norm soft margin of the two classes, each on its own.

    Maximises half the mean of the `nu_plus_` lowest positive scores less half the mean of the
    `nu_minus_` highest negative ones, over :math:`f = \sum_k w_k h_k` with
    :math:`\|w\|_1 \le 1`, by an interior-point method. The product of the two numbers is epsilon
    times the number of pairs, and the optimum is never below the soft margin of all pairs, which
    `LPPair` maximises. So the fit brackets it at no extra cost.

    Parameters
    ----------
    epsilon : float, default=0.5
        The share of pairs that may lie below the margin, of which either class gets a part.
    nu : float, optional
        The same as a number of pairs, in place of `epsilon`.
    nu_plus : {"corollary", "search", "paper"} or float, default="corollary"
        How many positives: the share sqrt(epsilon) of either class, with the best guarantee; what
        makes the optimum least, by a search or by the paper's rounds; or a number of positives,
        between epsilon p and p.
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
        The relative duality gap to stop at: between the bounds of the optimum.
    max_iter : int, default=1000
        The most steps of the interior-point method, of one solve; over stumps also the most
        rounds of column generation.
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
        Minus the threshold above which `predict` calls a row positive: minus the bias b of (8),
        halfway between two levels: the one that `nu_plus_` positives lie below, and the one that
        `nu_minus_` negatives lie above.
    ranker_weights_ : ndarray of shape (n_features,) or (n_stumps,)
        The weight of every base ranker in the score, w, of 1-norm one: of the scaled features, or
        of the stumps.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    reduced_gamma_ : float
        The optimum, as the weights reach it.
    gamma_lower_, gamma_upper_ : float
        The soft margin over all pairs that the weights have, or zero where w = 0 has more, and the
        most that any have: the bracket of the optimum of LPPair.
    nu_plus_, nu_minus_ : float
        How many positives and negatives were used.
    rho_ : float
        The margin that `pairs_guaranteed_` pairs are guaranteed: the sum of the two levels.
    pairs_guaranteed_ : int or float
        The number (not the share) of pairs that are guaranteed a margin of at least `rho_`: those
        of p - floor(nu+) positives and n - floor(nu-) negatives. With sample weights, their weight.
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
        `primal`, `dual`, `gap` and `relative_gap` of minus the reduction's optimum, which is
        minimised: `primal` is -reduced_gamma_. Computed again from the weights and the dual vector
        after the solver has stopped.
    n_iter_ : int
        Steps of the last solve at every epsilon that was tried.
    solver_ : str
        The algorithm that finished the fit: "interior-point" or "column-generation".
    history_ : structured ndarray
        One row for each step: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    LPPair : The soft margin over all pairs itself; it takes about as long.

    References
    ----------
    D. Suehiro, K. Hatano and E. Takimoto, Approximate Reduction from AUC Maximization to 1-norm
    Soft Margin Optimization, Algorithmic Learning Theory, 2011.

    Examples
    --------
    >>> from toprank import LPPair, SoftMarginRank
    >>> from toprank.datasets import make_gaussian_mixture
    >>> X, y = make_gaussian_mixture(random_state=0)
    >>> ranker = SoftMarginRank(epsilon=0.3).fit(X, y)
    >>> exact = LPPair(epsilon=0.3).fit(X, y)
    >>> ranker.gamma_lower_ <= exact.gamma_upper_ and exact.gamma_lower_ <= ranker.gamma_upper_
    True
    """

    reduced_gamma_: float
    nu_plus_: float
    nu_minus_: float
    pairs_guaranteed_: float
    pairs_above_rho_: float
    auc_at_margin_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SoftMarginRanker._parameter_constraints,
        "nu_plus": [
            StrOptions({"corollary", "search", "paper"}),
            Interval(Real, 0, None, closed="neither"),
        ],
    }

    def __init__(
        self,
        epsilon: float = 0.5,
        *,
        nu: float | None = None,
        nu_plus: str | float = "corollary",
        weak_learners: str = "linear",
        nonnegative: bool = False,
        tol: float = 1e-5,
        max_iter: int = 1000,
        on_trivial: str = "raise_epsilon",
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.nu = nu
        self.nu_plus = nu_plus
        self.weak_learners = weak_learners
        self.nonnegative = nonnegative
        self.tol = tol
        self.max_iter = max_iter
        self.on_trivial = on_trivial
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    def _solve(self, rankers: Learners, split: Split, epsilon: float, watch: Watch) -> Fit:
        if isinstance(rankers, StumpMargins):
            return self._over_stumps(rankers, split, epsilon, watch)
        reduction = Reduction(
            rankers.design, split, epsilon, not self.nonnegative, max_iter=self.max_iter
        )
        problem = reduction.problem(self._share(reduction))
        solution = reduction.solve(problem, self._tol(split), watch)
        certificate = problem.certify(solution)
        return Fit(problem, solution, certificate, epsilon)

    def _over_stumps(
        self, rankers: StumpMargins, split: Split, epsilon: float, watch: Watch
    ) -> Fit:
        """The fit over all stumps; a search for nu_plus sees those of the corollary's value."""

        def master(problem: BallProblem, tol: float, start: Solution | None) -> Solution:
            own = Reduction(problem.design, split, epsilon, True, max_iter=self.max_iter)
            return own.solve(problem, tol)

        def over_all(share: float) -> Fit:
            loss = ClassTailLoss(split, share, min(epsilon / share, 1.0))
            tol, rounds = self._tol(split), self.max_iter
            return Fit(*rankers.generate(loss, master, tol, rounds, watch), epsilon)

        if self.nu_plus not in ("search", "paper"):
            return over_all(self._share(Reduction(rankers.design, split, epsilon, True)))
        first = over_all(float(np.sqrt(epsilon)))
        if not len(first.solution.w):
            return first
        watch.iterations_before += first.solution.n_iter
        return over_all(self._share(Reduction(first.problem.design, split, epsilon, True)))

    def _tol(self, split: Split) -> float:
        """The gap to solve to."""
        few = len(split.pos) + len(split.neg) <= _FEW_ROWS
        return min(self.tol, _EXACT) if few else self.tol

    def _share(self, reduction: Reduction) -> float:
        """The share of the positives."""
        if self.nu_plus == "search":
            return reduction.by_search()
        if self.nu_plus == "paper":
            return reduction.by_tangent()
        if self.nu_plus == "corollary":
            return float(np.sqrt(reduction.epsilon))
        total, least = self._totals[0], reduction.epsilon
        share = float(self.nu_plus) / total
        if not least * (1.0 - _ROUNDING) <= share <= 1.0 + _ROUNDING:
            raise ValueError(
                f"nu_plus is {self.nu_plus:g}, a number of positives: at epsilon={least:g} it must "
                f"be between {least * total:g} and {total:g}."
            )
        return min(max(share, least), 1.0)

    def _largest_epsilon(self) -> float:
        """A given nu_plus is at least epsilon p."""
        return 1.0 if isinstance(self.nu_plus, str) else float(self.nu_plus) / self._totals[0]

    def _guarantee(self, fit: Fit, split: Split, s: Array) -> dict[str, Any]:
        m, n, _ = self._totals
        loss = _loss_of(fit)
        pairs = PairTailLoss(split, max(fit.epsilon, split.lightest_pair))
        rho = sum(loss.levels(s))
        above = pairs.share_above(pairs.scan(s), rho)
        kept = (1.0 - self._at_most(loss.epsilon_pos, m)) * (
            1.0 - self._at_most(loss.epsilon_neg, n)
        )
        return {
            "reduced_gamma_": 0.0 - fit.certificate.primal,
            # What the weights of the reduction are worth in the problem of LPPair.
            "gamma_lower_": max(0.0 - pairs.value(s), -np.inf if self.nonnegative else 0.0),
            "nu_plus_": loss.epsilon_pos * m,
            "nu_minus_": loss.epsilon_neg * n,
            "rho_": rho,
            "auc_at_margin_": above,
            "pairs_guaranteed_": self._pairs(kept),
            "pairs_above_rho_": self._pairs(above),
        }

    def _shares(self, fit: Fit) -> tuple[float, float]:
        loss = _loss_of(fit)
        return loss.epsilon_pos, loss.epsilon_neg


def _loss_of(fit: Fit) -> ClassTailLoss:
    loss = fit.problem.loss
    assert isinstance(loss, ClassTailLoss)
    return loss
