"""Figures of a fitted HeadRanker: the leaderboard, the best score, and scores of new rows."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...inputs.dispatch import cluster_of, refuse_elsewhere
from ...inputs.labels import known_positive
from ...metrics._scorers import (
    find_scorer,
    reads_scores_only,
    score_decisions,
    takes_weights,
)
from .words import best_first


class HeadFigures:
    """The leaderboard, and the measure that chose, on any rows."""

    classes_: NDArray[Any]
    scoring_: Any
    _leaderboard: dict[str, NDArray[Any]]

    @property
    def leaderboard_(self) -> Any:
        """A row for each candidate, the chosen one first, then by mean."""
        self._check_fitted()  # type: ignore[attr-defined]
        order = best_first(self._leaderboard)
        board = {name: values[order] for name, values in self._leaderboard.items()}
        try:
            from pandas import DataFrame
        except ImportError:
            return board
        return DataFrame(board, index=order)

    @property
    def best_score_(self) -> float:
        """The mean score of the chosen candidate over the folds."""
        self._check_fitted()  # type: ignore[attr-defined]
        return float(self._leaderboard["mean"][self._leaderboard["chosen"].astype(bool)][0])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score rows by the measure that chose among the candidates, `scoring_`.

        Rankers with different capacities have different measures. To compare them, pass the same
        `scoring` to all of them, or to the search.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        float
            The measure. It is an estimate for new rows only if these rows had no part in the fit.
        """
        self._check_fitted()  # type: ignore[attr-defined]
        scorer = find_scorer(self.scoring_, self)
        cluster = cluster_of(X, y)
        if not reads_scores_only(scorer):
            refuse_elsewhere(X, "This scoring", "bring the rows here, X.compute()")
            return self._scored_by(scorer, X, y, sample_weight)
        if cluster is not None:
            positive, scores, sample_weight = cluster.scored(self, X, y, sample_weight)
        else:
            scores = self._decide(X)  # type: ignore[attr-defined]
            positive = known_positive(y, self.classes_, self.classes_[1], len(scores))
        return score_decisions(scorer, positive, scores, sample_weight)

    def _scored_by(self, scorer: Any, X: Any, y: Any, sample_weight: Any) -> float:
        """Call a scorer as the folds call it, with labels 0 and 1."""
        positive = known_positive(y, self.classes_, self.classes_[1], len(y))
        binary: Any = copy(self)
        binary.pos_label, binary.classes_ = None, np.array([0, 1])
        weights = {"sample_weight": sample_weight} if takes_weights(scorer) else {}
        return float(scorer(binary, X, positive.astype(np.int64), **weights))


__all__ = ["HeadFigures"]
