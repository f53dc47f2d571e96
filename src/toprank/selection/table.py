"""Scores of folds and alphas, and which alpha they speak for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .fold_path import FoldFit

Array = NDArray[np.float64]

#: The next alpha beyond an end is as far off as the last two are apart, but no more than this.
_STEP = 10.0


class Table:
    """The fits of all folds at all alphas, which are in decreasing order."""

    def __init__(self, alphas: Array) -> None:
        self.alphas = alphas
        self.folds: list[list[FoldFit]] = []

    def add(self, folds: list[list[FoldFit]], alphas: Array | None = None) -> None:
        """Add the fits of all folds: the first ones, or at alphas beyond an end of the others."""
        if alphas is None:
            self.folds = folds
        elif alphas[0] > self.alphas[0]:
            self.alphas = np.concatenate([alphas, self.alphas])
            self.folds = [new + old for new, old in zip(folds, self.folds, strict=True)]
        else:
            self.alphas = np.concatenate([self.alphas, alphas])
            self.folds = [old + new for new, old in zip(folds, self.folds, strict=True)]
        if not any(fit.both_classes for fits in self.folds for fit in fits):
            raise ValueError(
                "Every fold of cv holds out rows of one class only, which no measure can score: "
                "take fewer folds, or stratified ones."
            )
        wrong = ~np.isfinite(self.means)
        if wrong.any():
            raise ValueError(
                f"scoring gives no number for alpha={self.alphas[wrong][0]:g}: is it defined on "
                "every fold?"
            )

    @property
    def scores(self) -> Array:
        """What each fold scores at each alpha; folds that cannot be scored are left out."""
        scored = [fits for fits in self.folds if fits[0].both_classes]
        return np.array([[fit.score for fit in fits] for fits in scored])

    @property
    def scored(self) -> int:
        """Folds that can be scored."""
        return len(self.scores)

    @property
    def means(self) -> Array:
        """The mean score at every alpha."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def errors(self) -> Array:
        """Its standard error; zero of a single fold."""
        scores = self.scores
        if len(scores) < 2:
            return np.zeros(scores.shape[1])
        return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(len(scores)))

    @property
    def best(self) -> int:
        """Where the mean is largest; the larger alpha if several are."""
        return int(np.argmax(self.means))

    @property
    def one_error(self) -> int:
        """The largest alpha whose mean is within one standard error of the best."""
        best, means = self.best, self.means
        return int(np.argmax(means >= means[best] - self.errors[best]))

    def beyond(self, place: int, count: int, flat: float) -> Array | None:
        """Alphas beyond the end of the grid that `place` is at; None if it is at none.

        None too where the scores are flat: within `flat` standard errors of the neighbour's.
        """
        means, errors, last = self.means, self.errors, len(self.alphas) - 1
        if last == 0 or 0 < place < last:
            return None
        neighbour = 1 if place == 0 else last - 1
        if means[place] - means[neighbour] <= flat * errors[place]:
            return None
        ratio = np.clip(self.alphas[place] / self.alphas[neighbour], 1.0 / _STEP, _STEP)
        more: Array = self.alphas[place] * ratio ** np.arange(1, count + 1)
        return more[::-1] if place == 0 else more

    def tidy(self) -> dict[str, NDArray[Any]]:
        """A row for each fold and alpha."""
        rows = [
            (
                fit.ranker.alpha,
                k,
                fit.score,
                fit.ranker.certificate_.relative_gap,
                fit.ranker.trivial_,
                fit.ranker.n_iter_,
                fit.seconds,
            )
            for k, fits in enumerate(self.folds)
            for fit in fits
        ]
        names = ("alpha", "fold", "score", "relative_gap", "trivial", "n_iter", "seconds")
        return {
            name: np.array(column)
            for name, column in zip(names, zip(*rows, strict=True), strict=True)
        }


__all__ = ["Table"]
