"""SoftRankBoost: boosting towards a soft margin on most pairs. A reconstruction.

Problem  find f = sum_k w_k h_k, |w|_1 = 1, with (f(x_i) - f(x_j)) / 2 >= theta on a share
         (1 - sqrt(epsilon))^2 of the pairs, theta within delta of the best soft margin or above it
Paper    J. Moribe, K. Hatano, E. Takimoto, M. Takeda, Smooth Boosting for Margin-Based Ranking,
         ALT 2008: SoftRankBoost. A RECONSTRUCTION: made from what was published about it,
         smooth distributions that are products over the two classes and the guarantee above,
         not from the paper's own listing
Symbols  nu -> epsilon;  d_ij = d+_i d-_j, d+_i <= p_i / sqrt(epsilon), likewise d-
Differs  steps by line search, at least as long as the proof needs. Rows may have weights.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from sklearn.utils._param_validation import Interval

from ...estimators.old_parameters import renamed_parameters
from ...estimators.ranker import Learnt
from ...exceptions import warn_no_guarantee, warn_no_margin
from ...inputs.class_split import Split
from ...weak_learners import WeakLearners
from .base import BoostRanker, Rounds, Tell

Array = NDArray[np.float64]

#: Of Brent's method, which needs a tenth of them.
_MOST_STEPS = 200
#: What sums of shares leave of zero: Brent's method would look for it below their rounding.
_NO_VALUE = 1e-14


@renamed_parameters(rankers="weak_learners", max_iter="n_estimators")
class SoftRankBoost(BoostRanker):
    r"""Boost until most pairs have a margin that is nearly the best possible. A reconstruction.

    Margins are :math:`(f(x_i) - f(x_j)) / 2` of a positive i and a negative j, where the weights of
    the base rankers, which lie in [-1, 1], sum to one in size. Boosting ends when all but a share
    :math:`\sqrt\varepsilon` of the positives and of the negatives keep a common margin
    :math:`\theta`, so that at least :math:`(1 - \sqrt\varepsilon)^2` of the pairs have it, and
    :math:`\theta + \delta` is at least the best mean of the worst :math:`\varepsilon` of all pairs'
    margins that any sum of the rankers has. For comparison: the original text of the method was
    not at hand, and this is not its listing.

    Parameters
    ----------
    epsilon : float, default=0.2
        The share of the pairs that the soft margin is about; between 0 and 1.
    delta : float, default=0.02
        How far theta may stay below the best soft margin. Rounds go up as 1 / delta^2.
    weak_learners : {"stumps", "thresholds", "linear", "precomputed"}, default="stumps"
        The base rankers h, as in `RankBoost`; precomputed ones must lie within [-1, 1]. Here
        "thresholds" have the margins of stumps.
    n_estimators : int, default=2000
        The most rounds.
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
    theta_ : float
        The margin reached.
    gamma_upper_ : float
        The soft margin over all pairs that no weights exceed: the least of the largest edges seen.
    share_guaranteed_ : float
        The share of pairs that are guaranteed a margin of at least theta: (1 - sqrt(epsilon))^2.
    share_above_theta_ : float
        The share of pairs that have it.
    converged_ : bool
        Whether boosting ended by its own rule; if not, nothing is guaranteed.
    features_, thresholds_, missing_above_, ranker_weights_, coef_, intercepts_ : ndarray
        The base rankers, their weights and the thresholds, as in `RankBoost`; the weights, of
        +-1 stumps, sum to one in size.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of every feature in the sizes of `ranker_weights_`; they sum to one.
    intercept_ : ndarray of shape (1,)
        Minus the threshold above which `predict` calls a row positive: set so that the share of
        training rows above it is that of the positives.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_iter_ : int
        Rounds.
    trivial_ : bool
        Whether no ranker has an edge, so that every row gets the same score.
    history_ : structured ndarray
        One row for each round: iteration, passes over the data, seconds, primal, dual,
        relative_gap; primal is -theta, dual minus the bound of the soft margin.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    RankBoost : The exponential loss of all pairs, without a margin in view.

    Notes
    -----
    Where theta falls to zero the rankers cannot lift the worst pairs, and the guarantee is empty:
    the fit warns with a `TrivialSolutionWarning`.

    References
    ----------
    J. Moribe, K. Hatano, E. Takimoto and M. Takeda, Smooth Boosting for Margin-Based Ranking,
    Algorithmic Learning Theory, 2008.

    D. Suehiro, K. Hatano and E. Takimoto, Approximate Reduction from AUC Maximization to 1-Norm
    Soft Margin Optimization, Algorithmic Learning Theory, 2011.

    Examples
    --------
    >>> from toprank import SoftRankBoost
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = SoftRankBoost(epsilon=0.2).fit(X[::4], y[::4])
    >>> ranker.share_above_theta_ >= ranker.share_guaranteed_
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BoostRanker._parameter_constraints,
        "epsilon": [Interval(Real, 0, 1, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
    }

    theta_: float
    gamma_upper_: float
    converged_: bool

    def __init__(
        self,
        epsilon: float = 0.2,
        *,
        delta: float = 0.02,
        weak_learners: str = "stumps",
        n_estimators: int = 2000,
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.weak_learners = weak_learners
        self.n_estimators = n_estimators
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    def _boost(
        self, rankers: WeakLearners, split: Split, tell: Tell
    ) -> tuple[Rounds, dict[str, Any]]:
        if rankers.largest > 1.0:
            raise ValueError(
                f"SoftRankBoost is for rankers within [-1, 1], but X holds {rankers.largest:g}: "
                "scale the columns, for instance by weak_learners='linear'."
            )
        margins, rounds, size = _Margins(split), Rounds(split), 0.0
        cap, theta, upper = float(np.sqrt(self.epsilon)), np.inf, np.inf
        scores, b = np.zeros(split.n_rows), 0.0
        converged = False
        for _ in range(self.n_estimators):
            if size:
                b = margins.balance(scores, theta * size)
                if max(margins.means(margins.of(scores, b, theta * size))) <= cap:
                    converged = True
                    break
            d = margins.weights(margins.of(scores, b, theta * size if size else 0.0))
            pick = rankers.best_edge(0.5 * margins.sign * d)
            h = rankers.column(pick) if pick.merit else np.zeros(split.n_rows)
            h = h if pick.merit >= 0.0 else -h
            edge = 0.5 * float((margins.sign * d) @ h)
            upper, theta = min(upper, edge), min(theta, edge - self.delta)
            if not pick.merit:
                break
            centre = -0.5 * float(d @ h)
            direction = margins.sign * (h + centre) - theta
            least = (edge - theta) / (2.0 * float(np.square(direction).max()))
            step = margins.step(margins.of(scores, b, theta * size), direction, least)
            scores += step * h
            size += step
            rounds.add(pick, step if pick.merit > 0.0 else -step, scores)
            if tell(rounds, -theta, -upper):
                break
        unit = 1.0 / size if size else 1.0
        rounds.weights = [unit * weight for weight in rounds.weights]
        rounds.thresholds = [unit * threshold for threshold in rounds.thresholds]
        return rounds, {
            "theta_": float(theta),
            "gamma_upper_": float(upper),
            "converged_": converged,
            "share_guaranteed_": (1.0 - float(np.sqrt(self.epsilon))) ** 2,
            "share_above_theta_": _share_above(unit * scores, 2.0 * float(theta), split),
        }

    def _warn(self, learnt: Learnt) -> None:
        if self.theta_ <= 0.0 and not learnt.asked_to_stop:
            warn_no_margin(self, self.theta_)
        elif not (self.converged_ or learnt.asked_to_stop):
            warn_no_guarantee(self, self.n_iter_)


class _Margins:
    """z = s + b - shift on positives and -s - b - shift on negatives, and their potential.

    phi(z) = e^-z above zero and 1 - z below; -phi' = min(1, e^-z).
    """

    def __init__(self, split: Split) -> None:
        self._m, self._shares = len(split.pos), np.concatenate([split.p, split.q])
        self.sign = np.repeat([1.0, -1.0], [len(split.pos), len(split.neg)])

    def of(self, scores: Array, b: float, shift: float) -> Array:
        """The margins z."""
        return np.asarray(self.sign * (scores + b) - shift)

    def means(self, z: Array) -> tuple[float, float]:
        """The means of min(1, e^-z) on both sides."""
        w = self._shares * np.exp(-np.maximum(z, 0.0))
        return float(w[: self._m].sum()), float(w[self._m :].sum())

    def weights(self, z: Array) -> Array:
        """min(1, e^-z), scaled to sum to one on each side."""
        w = self._shares * np.exp(-np.maximum(z, 0.0))
        w[: self._m] /= w[: self._m].sum()
        w[self._m :] /= w[self._m :].sum()
        return np.asarray(w)

    def balance(self, scores: Array, shift: float) -> float:
        """The b at which both means are equal, by Brent's method."""

        @cache
        def excess(b: float) -> float:
            above, below = self.means(self.of(scores, b, shift))
            return above - below

        # At these ends one mean is one, and the other is not more.
        low = shift - float(scores[: self._m].max())
        high = -shift - float(scores[self._m :].min())
        low, high = min(low, high), max(low, high)
        return _zero(excess, low, high)

    def step(self, z: Array, direction: Array, least: float) -> float:
        """The least of sum phi(z + t direction) over t >= `least`."""

        @cache
        def fall(t: float) -> float:
            w = np.exp(-np.maximum(z + t * direction, 0.0))
            return float((self._shares * w) @ direction)

        high = least
        if fall(least) <= 0.0:
            return least
        while fall(2.0 * high) > 1e-9 and high < 1e6 * least:
            high *= 2.0
        return _zero(fall, high, 2.0 * high)


def _zero(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a decreasing function between `low` and `high`, or the end nearer to it.

    The ends are asked for again: the function should remember them.
    """
    if function(low) <= 0.0:
        return low
    if function(high) >= 0.0:
        return high

    def settled(t: float) -> float:
        value = function(t)
        return value if abs(value) > _NO_VALUE else 0.0

    within = 1e-15 * max(abs(low), abs(high))
    return float(brentq(settled, low, high, xtol=within, maxiter=_MOST_STEPS, disp=False))


def _share_above(scores: Array, distance: float, split: Split) -> float:
    """The share of pairs with s_i - s_j >= distance, but for the rounding of the scores."""
    slack = 1e-12 * max(float(np.abs(scores).max()), 1.0)
    order = np.argsort(scores[split.neg])
    upto = np.concatenate([[0.0], np.cumsum(split.q[order])])
    below = scores[split.neg][order]
    reach = np.searchsorted(below, scores[split.pos] - distance + slack, side="right")
    return min(float(split.p @ upto[reach]), 1.0)
