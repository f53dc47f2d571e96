"""RankBoost, and the p-norm push as it was first solved: one base ranker a round.

Problem  min over f = sum_k w_k h_k   log sum_i p_i e^(-f(x_i)) + 1/p log sum_j q_j e^(p f(x_j))
         p = 1: log of the mean of e^(f(x_j) - f(x_i)) over pairs; else 1/p log of the p-norm push
Paper    Y. Freund, R. Iyer, R. Schapire, Y. Singer, An Efficient Boosting Algorithm for Combining
         Preferences, JMLR 4, 2003: RankBoost.B, the bipartite case; WeakRank; the third method
         of choosing alpha. C. Rudin, The P-Norm Push, JMLR 10, 2009: the boosting form
Symbols  x_0 -> negative j, x_1 -> positive i;  alpha_t -> ranker_weights_;
         q_def -> missing_above_;
         r -> the edge (sum_i a_i h(x_i) - sum_j b_j h(x_j)) / 2 for h in [-1, 1]
Differs  steps are exact by default; a step or a choice of ranker for p > 1 has the closed form that
         the paper gives for p = 1. Rounds end where no ranker has an edge: the minimum of J. Rows
         may have weights.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ..._core import ExponentialPairs
from ...estimators.old_parameters import renamed_parameters
from ...inputs.class_split import Split
from ...weak_learners import WeakLearners
from .base import BoostRanker, Rounds, Tell

Array = NDArray[np.float64]

#: The third method's r is held this far from 1.
_SHORT_OF_ONE = 1e-10


@renamed_parameters(rankers="weak_learners")
class RankBoost(BoostRanker):
    r"""Rank by a weighted sum of base rankers, one added in each round.

    Coordinate descent on :math:`J(f) = \log\sum_i p_i e^{-f(x_i)} + \frac1p\log\sum_j q_j
    e^{p f(x_j)}`, i the positive rows and j the negative ones. For p = 1 this is the logarithm of
    the mean of :math:`e^{f(x_j) - f(x_i)}` over all pairs; for larger p that of the p-norm push,
    in which the negatives near the top count most. A round never lists pairs.

    Parameters
    ----------
    n_estimators : int, default=100
        The most rounds. Stopping after few rounds is the only regularisation.
    weak_learners : {"stumps", "thresholds", "linear", "precomputed"}, default="stumps"
        The base rankers h. "stumps": +1 if a feature is above a threshold, else -1, for all
        thresholds between values. "thresholds": the same with 1 and 0, as in the paper, and missing
        values (NaN in a dense X) on the side of the threshold that does better. "linear": the
        features, scaled to [-1, 1] on the training rows. "precomputed": the columns of X as they
        are.
    p : float, default=1.0
        How hard the highest negatives are pushed down, at least 1: the power of the push. 1 is
        RankBoost.
    step : {"exact", "third"}, default="exact"
        "exact" goes to the least J along the ranker, "third" by the paper's third method, which is
        for p = 1 and rankers within [-1, 1].
    selection : {"edge", "z"}, default="edge"
        "edge" takes the ranker along which J falls fastest at first, "z" the one along which it
        falls farthest; of rankers within [-1, 1] with more than two values, by a bound.
    max_step : float, default=2.0
        The longest exact step, for rankers whose values are 2 apart: along a stump with rows of one
        class only on one side, J falls without end.
    min_edge : float, default=1e-10
        Stop where no edge is larger: J is at its minimum.
    n_threads : int, optional
        Threads for the search of the best ranker; without it OMP_NUM_THREADS, else one per core.
        The result does not depend on it.
    verbose : int, default=0
        Print a row of `history_` as it comes if above zero.
    pos_label : label or None, default=None
        The label to rank first. None takes the greater one, and the fit says so with a
        `PositiveLabelWarning` unless the labels are 0/1, -1/1 or booleans.

    Attributes
    ----------
    features_ : ndarray of shape (n_iter_,)
        The feature of every base ranker in the score, one for each round.
    thresholds_ : ndarray of shape (n_iter_,)
        The threshold of every base ranker in the score; of stumps and thresholds only.
    missing_above_ : ndarray of shape (n_iter_,)
        Whether a missing value counts as above it; likewise.
    ranker_weights_ : ndarray of shape (n_iter_,)
        The weight of every base ranker in the score.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of every feature in the sizes of `ranker_weights_`; they sum to one.
    coef_ : ndarray of shape (1, n_features)
        The weights of the features; of linear and precomputed rankers only.
    intercept_ : ndarray of shape (1,)
        Minus the threshold above which `predict` calls a row positive: set so that the share of
        training rows above it is that of the positives.
    intercepts_ : ndarray of shape (n_iter_,)
        The same after every round.
    objective_ : ndarray of shape (n_iter_ + 1,)
        J before the first round, 0, and after each.
    converged_ : bool
        Whether the rounds ended because no ranker had an edge.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_iter_ : int
        Rounds.
    trivial_ : bool
        Whether no ranker has an edge, so that every row gets the same score.
    history_ : structured ndarray
        One row for each round: iteration, passes over the data, seconds, primal, dual,
        relative_gap; primal is J, and the dual is not known.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    PNormPush : The p-norm push of a linear score, regularised and solved to a certified gap.

    Notes
    -----
    Nothing is regularised but by the number of rounds. Where some sum of rankers separates the
    classes J has no minimum, and the weights grow with the rounds.

    References
    ----------
    Y. Freund, R. Iyer, R. E. Schapire and Y. Singer, An Efficient Boosting Algorithm for Combining
    Preferences, Journal of Machine Learning Research 4, 2003.

    C. Rudin, The P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at the Top of the
    List, Journal of Machine Learning Research 10, 2009.

    Examples
    --------
    >>> from toprank import RankBoost
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = RankBoost(n_estimators=100).fit(X[::2], y[::2])
    >>> round(ranker.score(X[1::2], y[1::2]), 2)
    0.98
    >>> ranker.features_[:3], ranker.thresholds_[:3].round(4)  # words and signs that tell spam
    (array([51, 52, 24]), array([0.0785, 0.0185, 0.12  ]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BoostRanker._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "p": [Interval(Real, 0, None, closed="neither")],
        "step": [StrOptions({"exact", "third"})],
        "selection": [StrOptions({"edge", "z"})],
        "max_step": [Interval(Real, 0, None, closed="neither")],
        "min_edge": [Interval(Real, 0, None, closed="left")],
    }

    objective_: Array
    converged_: bool

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        weak_learners: str = "stumps",
        p: float = 1.0,
        step: str = "exact",
        selection: str = "edge",
        max_step: float = 2.0,
        min_edge: float = 1e-10,
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.weak_learners = weak_learners
        self.p = p
        self.step = step
        self.selection = selection
        self.max_step = max_step
        self.min_edge = min_edge
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    def _boost(
        self, rankers: WeakLearners, split: Split, tell: Tell
    ) -> tuple[Rounds, dict[str, Any]]:
        self._refuse_unbounded(rankers)
        p, most, shares = float(self.p), float(self.max_step), np.concatenate([split.p, split.q])
        pairs, rounds = ExponentialPairs(shares, len(split.pos), p), Rounds(split)
        values, by_edge = [0.0], self.selection == "edge"
        converged = False
        for _ in range(self.n_estimators):
            s = pairs.edge_weights()
            pick = rankers.best_edge(s) if by_edge else rankers.best_decrease(pairs.weights, p)
            h = rankers.column(pick) if pick.merit else None
            edge = 0.0 if h is None else float(s @ h)
            if h is None or abs(edge) <= self.min_edge:
                converged = True
                break
            weight = pairs.exact_step(h, most) if self.step == "exact" else _third_step(edge)
            values.append(pairs.move(h, weight))
            rounds.add(pick, weight, pairs.scores)
            if tell(rounds, values[-1]):
                break
        return rounds, {"objective_": np.array(values), "converged_": converged}

    def _refuse_unbounded(self, rankers: WeakLearners) -> None:
        """Refuse what the third method and the bound of J are not made for."""
        if self.step == "third" and self.p != 1:
            raise ValueError(
                f"step='third' is defined for p=1 only, not p={self.p:g}: use step='exact'."
            )
        bounded = self.step == "third" or self.selection == "z"
        if bounded and rankers.largest > 1.0:
            name = "step='third'" if self.step == "third" else "selection='z'"
            raise ValueError(
                f"{name} is for rankers within [-1, 1], but X holds {rankers.largest:g}: scale the "
                "columns, for instance by weak_learners='linear', or use step='exact' and "
                "selection='edge'."
            )


def _third_step(edge: float) -> float:
    """log((1 + r) / (1 - r)) / 4: for |h| <= 1 the mean pair loss falls to sqrt(1 - r^2) of it."""
    r = float(np.clip(edge, _SHORT_OF_ONE - 1.0, 1.0 - _SHORT_OF_ONE))
    return 0.25 * float(np.log1p(r) - np.log1p(-r))
