"""What the boosters share: base rankers, the fitted sum of them, and its stages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from ..base import Ranker, fitting
from ..designs import DenseDesign, SparseDesign
from ..rankers import (
    KINDS,
    BaseRankers,
    Columns,
    ColumnSum,
    Pick,
    RankerSum,
    Stumps,
    StumpSum,
    make_rankers,
)
from ..split import Split
from ..validation import check_entries, check_labels, check_matrix

Array = NDArray[np.float64]

#: What the order of summation may change in a score, relative to the sum of its terms' sizes.
_ROUNDING = 1e-12


class Rounds:
    """What boosting has done: rankers, their weights, and the threshold after each of them."""

    def __init__(self, split: Split) -> None:
        self.picks: list[Pick] = []
        self.weights: list[float] = []
        self.thresholds: list[float] = []
        #: The sum of the sizes of the weights.
        self.size = 0.0
        self._split = split

    def add(self, pick: Pick, weight: float, scores: Array) -> None:
        """Note a round, given the scores after it."""
        self.picks.append(pick)
        self.weights.append(weight)
        self.size += abs(weight)
        self.thresholds.append(self.threshold(scores))

    def threshold(self, scores: Array) -> float:
        """The positives' share, clear of the rounding of scores that lie at an end."""
        threshold, slack = self._split.share_threshold(scores), _ROUNDING * self.size
        if threshold >= (highest := float(scores.max())):
            return highest + slack
        return threshold if threshold >= (lowest := float(scores.min())) else lowest - slack


class BoostRanker(Ranker):
    """A ranker that is a weighted sum of base rankers, found one a round.

    A subclass names its parameters and runs the rounds (`_boost`).
    """

    rankers: str
    features_: NDArray[np.int64]
    thresholds_: Array
    missing_above_: NDArray[np.bool_]
    weights_: Array
    intercepts_: Array
    n_iter_: int

    _scores_by: ClassVar[str] = "weights_"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "rankers": [StrOptions(set(KINDS))],
    }

    @abstractmethod
    def _boost(self, rankers: BaseRankers, split: Split) -> Rounds:
        """Run the rounds on rows of which the positives come first."""

    @fitting
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. float32 and float64 are used as they are, without a copy.
        y : array-like of shape (n_samples,)
            Two labels; `pos_label` is the positive one, or else the greater.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none.

        Returns
        -------
        self
            The fitted ranker.
        """
        design = self._design(X, reset=True)
        self.classes_, split = check_labels(y, sample_weight, design, self.pos_label)
        rankers = make_rankers(self.rankers, design, split)
        m, n = len(split.pos), len(split.neg)
        first = Split(
            m + n, np.arange(m), np.arange(m, m + n), split.p, split.q, split.positive_share
        )
        rounds = self._boost(rankers, first)
        if not rounds.picks:
            rounds.thresholds = [rounds.threshold(np.zeros(m + n))]
        self._keep(rankers, rounds)
        return self

    def _keep(self, rankers: BaseRankers, rounds: Rounds) -> None:
        """Set the fitted attributes."""
        picks, weights = rounds.picks, np.array(rounds.weights)
        features = np.array([pick.feature for pick in picks], dtype=np.int64)
        for name in ("coef_", "thresholds_", "missing_above_"):
            self.__dict__.pop(name, None)  # of a fit with other rankers
        if isinstance(rankers, Stumps):
            low = KINDS[self.rankers]
            assert low is not None
            thresholds = np.array([rankers.threshold(pick) for pick in picks])
            sides = np.array([pick.missing_above for pick in picks], dtype=np.bool_)
            # In training every stump is +-1. What is 1 or 0 has twice the weight, and a shift.
            shifts, weights = (1.0 + low) * weights, 2.0 / (1.0 - low) * weights
            self._sum: RankerSum = StumpSum(features, thresholds, sides, weights, low)
            self.thresholds_, self.missing_above_ = thresholds, sides
        else:
            assert isinstance(rankers, Columns)
            shifts = -weights * rankers.at_zero[features]
            steps = weights * rankers.slope[features]
            self._sum = total = ColumnSum(features, steps, self.n_features_in_)
            self.coef_ = total.coef[np.newaxis]
        self.features_, self.weights_, self.n_iter_ = features, weights, len(picks)
        self.intercepts_ = -np.array(rounds.thresholds)
        if picks:
            self.intercepts_ -= np.cumsum(shifts)
        self.intercept_ = self.intercepts_[-1:].copy()

    @property
    def _ties_all(self) -> bool:
        return self.n_iter_ == 0

    def _scores(self, design: DenseDesign | SparseDesign) -> Array:
        return self._sum.scores(design)

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Array]:
        """Score rows by the first base ranker, by the first two, and so on.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            The scores after a round, above zero where `staged_predict` says positive; the last
            are those of `decision_function`.
        """
        check_is_fitted(self, "weights_")
        design = self._design(X, reset=False)
        for scores, intercept in zip(self._sum.stages(design), self.intercepts_, strict=False):
            yield scores + intercept

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Label rows after each round: as large a share positive as in training.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels out of `classes_`.
        """
        for scores in self.staged_decision_function(X):
            yield self.classes_[(scores > 0).astype(np.intp)]

    def _design(self, X: ArrayLike, *, reset: bool) -> DenseDesign | SparseDesign:
        """The design of X, whose values may be missing where the rankers are thresholds."""
        missing = self.rankers == "thresholds"
        design = check_matrix(self, X, reset=reset, n_threads=self.n_threads, entries=False)
        if isinstance(design, DenseDesign):
            check_entries(
                self,
                design,
                missing=missing,
                instead=" Or set rankers='thresholds', which takes missing values as they are.",
            )
        return design

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.rankers == "thresholds"
        return tags
