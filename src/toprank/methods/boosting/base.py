"""What the boosters share: base rankers, the fitted sum of them, and its stages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from ...designs import Design, MemoryDesign
from ...estimators.ranker import Learnt, Ranker
from ...estimators.validation import LabelledRows, check_entries, check_matrix
from ...inputs.class_split import Split
from ...solvers.watch import Watch
from ...weak_learners import (
    KINDS,
    Columns,
    ColumnSum,
    LearnerSum,
    Pick,
    Stumps,
    StumpSum,
    WeakLearners,
    importances,
    make_learners,
)

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


#: Notes a round, given what is known of the objective; True asks to stop.
Tell = Callable[..., bool]


class BoostRanker(Ranker):
    """A ranker that is a weighted sum of base rankers, one found in each round.

    A subclass names its parameters and runs the rounds (`_boost`).
    """

    weak_learners: str
    features_: NDArray[np.int64]
    thresholds_: Array
    missing_above_: NDArray[np.bool_]
    ranker_weights_: Array
    intercepts_: Array
    _sum: LearnerSum

    _scores_by: ClassVar[str] = "ranker_weights_"
    _why_trivial: ClassVar[str] = (
        "No ranker has an edge: each is constant, or has the same mean on both classes."
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "weak_learners": [StrOptions(set(KINDS))],
    }

    @abstractmethod
    def _boost(
        self, rankers: WeakLearners, split: Split, tell: Tell
    ) -> tuple[Rounds, dict[str, Any]]:
        """Run the rounds on rows of which the positives come first; what else there is to keep."""

    def _learn(self, rows: LabelledRows, watch: Watch) -> Learnt:
        split, design = rows.split, rows.design
        rankers = make_learners(self.weak_learners, design, split)
        m, n = len(split.pos), len(split.neg)
        first = Split(
            m + n, np.arange(m), np.arange(m, m + n), split.p, split.q, split.positive_share
        )
        watch.attributes = lambda rounds: self._score(rankers, rounds)

        def tell(rounds: Rounds, primal: float, dual: float = np.nan) -> bool:
            design.entries_read += design.n_entries  # every round looks at all columns
            return watch(len(rounds.picks), primal, dual, lambda: rounds)

        rounds, more = self._boost(rankers, first, tell)
        if not rounds.picks:
            rounds.thresholds = [rounds.threshold(np.zeros(m + n))]
        return Learnt(
            self._score(rankers, rounds),
            len(rounds.picks),
            history=watch.history,
            trivial=not rounds.picks,
            more=more,
        )

    def _score(self, rankers: WeakLearners, rounds: Rounds) -> dict[str, Any]:
        """The attributes of the weighted sum."""
        picks, weights = rounds.picks, np.array(rounds.weights)
        features = np.array([pick.feature for pick in picks], dtype=np.int64)
        score: dict[str, Any] = {"features_": features}
        if isinstance(rankers, Stumps):
            low = KINDS[self.weak_learners]
            assert low is not None
            thresholds = np.array([rankers.threshold(pick) for pick in picks])
            sides = np.array([pick.missing_above for pick in picks], dtype=np.bool_)
            # In training every stump is +-1. What is 1 or 0 has twice the weight, and a shift.
            shifts, weights = (1.0 + low) * weights, 2.0 / (1.0 - low) * weights
            score["_sum"] = StumpSum(features, thresholds, sides, weights, low)
            score |= {"thresholds_": thresholds, "missing_above_": sides}
        else:
            assert isinstance(rankers, Columns)
            shifts = -weights * rankers.at_zero[features]
            with np.errstate(over="ignore"):  # refused where they are summed
                steps = weights * rankers.slope[features]
            score["_sum"] = total = ColumnSum(features, steps, self.n_features_in_)
            score["coef_"] = total.coef[np.newaxis]
        intercepts = -np.array(rounds.thresholds)
        if picks:
            intercepts -= np.cumsum(shifts)
        return {
            **score,
            "ranker_weights_": weights,
            "intercepts_": intercepts,
            "intercept_": intercepts[-1:].copy(),
        }

    @property
    def feature_importances_(self) -> Array:
        """The share of every feature in the sizes of the base rankers' weights."""
        return importances(self.features_, self.ranker_weights_, self.n_features_in_)

    def _scores(self, design: Design) -> Array:
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
        check_is_fitted(self, self._scores_by)
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

    def _design(self, X: ArrayLike, *, reset: bool) -> MemoryDesign:
        """The design of X, whose values may be missing where the rankers are thresholds."""
        missing = self.weak_learners == "thresholds"
        design = check_matrix(self, X, reset=reset, n_threads=self.n_threads, entries=False)
        instead = " Or set weak_learners='thresholds', which takes missing values as they are."
        check_entries(self, design, missing=missing, instead=instead)
        return design

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.weak_learners == "thresholds"
        return tags
