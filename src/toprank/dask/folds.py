"""Folds of rows on a cluster: held out by their part and their number in it, and never moved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.validation import LabelledRows
from ..features.quantile_sketch import SIZE, Summary
from ..methods.squared.rows import fold_of_rows
from .matrix import ClusterDesign
from .parts import Labels, Rows, Where, joined
from .racing import (
    Drawn,
    Featured,
    Judged,
    decisions_of_part,
    drawn_of_part,
    entries_of_part,
    featured_parts,
    joined_rows,
    judged_of_part,
    merged_sketches,
    scale_of_part,
    scaler_of,
    sketches_of_part,
)
from .reducer import Reducer
from .totals import ClassTotals

Array = NDArray[np.float64]


class FoldedDesign(ClusterDesign):
    """Rows on a cluster that can be left out by folds."""

    #: What labels have weights in units of; measures go by the weights that were given.
    unit: float = 1.0

    def without_fold(self, fold: int, n_folds: int) -> LabelledRows:
        """The rows that a fold trains on: the others have no weight."""
        found = self.reducer(_counts, (fold, n_folds), joined)
        counts, weights = np.array([one[:2] for one in found]), np.array([one[2:] for one in found])
        before = np.vstack([np.zeros((1, 2), int), np.cumsum(counts, axis=0)])
        client, base = self.reducer.client, self.reducer

        def label(place: int) -> Any:
            own = int(before[place, 0]), int(before[place, 1])
            labels = base.parts[place][1]
            return client.submit(_without, labels, fold, n_folds, own, pure=False)

        def remake(place: int) -> tuple[Any, ...]:
            if base.remake is not None:
                base.parts[place] = base.remake(place)
            return base.parts[place][0], label(place)

        parts = [(base.parts[place][0], label(place)) for place in range(len(base.parts))]
        of_pos, of_neg = (float(one) for one in weights.sum(axis=0))
        n_pos, n_neg = (int(one) for one in counts.sum(axis=0))
        if not (n_pos and n_neg):
            raise ValueError(
                "A fold leaves rows of one class only: take fewer folds, or more rows of the rarer "
                "class."
            )
        design = ClusterDesign(
            Reducer(client, parts, base.settings, remake),
            self.shape,
            self.n_entries,
            (1.0 / of_pos, 1.0 / of_neg),
        )
        split = ClassTotals.made((n_pos, n_neg), (of_pos, of_neg))
        return LabelledRows(design, split, None)  # type: ignore[arg-type]

    def held_out(
        self, w: Array, b: Array, fold: int, n_folds: int
    ) -> tuple[NDArray[np.bool_], Array, Array | None]:
        """Of the rows that a fold holds out: whether positive, decisions by each w, weights."""
        found = self.reducer(_held_out, (w, b, fold, n_folds), joined)
        positive, decisions, weight = zip(*found, strict=True)
        weights = None if weight[0] is None else np.concatenate(weight) * self.unit
        return np.concatenate(positive), np.concatenate(decisions), weights

    def draw(self, shares: tuple[float, float], seed: int, n_folds: int) -> Drawn:
        """Such shares of the positives and of the negatives, drawn by chance, here."""
        return joined_rows(self.reducer(drawn_of_part, (shares, seed, n_folds), joined))

    def sketches(self, n_folds: int) -> list[list[Summary]]:
        """Return summaries of the negatives' columns, for the rows that each fold holds out.

        They come from one pass, and are merged on the workers if they take much memory.
        """
        size = 16 * SIZE * self.shape[1] * n_folds
        return self.reducer(sketches_of_part, (n_folds,), merged_sketches, size)  # type: ignore[no-any-return]

    def judged(
        self, judged: tuple[float, int, int]
    ) -> tuple[NDArray[np.bool_], Array, NDArray[np.int32]]:
        """Of the rows that are judged: whether positive, what they weigh, who holds them out."""
        found = self.reducer(judged_of_part, (Judged(*judged),), joined)
        positive, weight, fold = (np.concatenate(one) for one in zip(*found, strict=True))
        return positive, weight * self.unit, fold

    def decisions(self, models: list[Any], fold: int, judged: tuple[float, int, int]) -> Array:
        """Scores of those of them that a fold holds out, a column for each model."""
        args = models, fold, Judged(*judged)
        return np.concatenate(self.reducer(decisions_of_part, args, joined))

    def scaler(self, kind: str) -> Any:
        """A fitted scaler of scikit-learn: "standard", or of the "largest" entries."""
        return scaler_of(self.reducer(scale_of_part, (kind,), joined), kind)

    def featured(self, features: Any, width: int) -> FoldedDesign:
        """The same rows with the columns that a transformer makes of them."""
        base = self.reducer
        parts, remake = featured_parts(base.client, base, Featured(features, width))
        reducer = Reducer(base.client, parts, base.settings, remake)
        n_entries = sum(reducer(entries_of_part, (), joined))
        made = FoldedDesign(reducer, (self.shape[0], width), n_entries, self.each)
        made.unit = self.unit
        return made

    def mean_square(self) -> float:
        """The mean of |x - mean|^2, each class weighing a half."""
        mean, square = self.reducer(_first_moments, (self.each,), _added)
        spread = square - float(mean @ mean)
        return float(spread if spread > 1e-12 * square else square)


def _left_out(labels: Labels, fold: int, n_folds: int) -> NDArray[np.bool_]:
    own = fold_of_rows(labels.where.place, len(labels.positive), n_folds)
    return np.asarray(own == fold)


def _counts(rows: Rows, labels: Labels, fold: int, n_folds: int) -> list[Any]:
    own = labels.weights * ~_left_out(labels, fold, n_folds)
    sides = labels.positive, ~labels.positive
    counts = [int(np.count_nonzero(own[side])) for side in sides]
    return [(*counts, *(float(own[side].sum()) for side in sides))]


def _without(labels: Labels, fold: int, n_folds: int, before: tuple[int, int]) -> Labels:
    weight = labels.weights * ~_left_out(labels, fold, n_folds)
    where = labels.where
    return Labels(labels.positive, weight, Where(where.place, where.first, *before))


def _held_out(rows: Rows, labels: Labels, w: Array, b: Array, fold: int, n_folds: int) -> list[Any]:
    own = np.flatnonzero(_left_out(labels, fold, n_folds) & (labels.weights > 0))
    decisions = np.empty((len(own), len(w)))
    if len(own):
        for k, one in enumerate(w):
            decisions[:, k] = rows.design.scores(one, own) + b[k]
    weight = None if labels.weight is None else labels.weight[own]
    return [(labels.positive[own], decisions, weight)]


def _first_moments(rows: Rows, labels: Labels, each: tuple[float, float]) -> Any:
    if not len(labels.positive):
        return np.zeros(rows.X.shape[1]), 0.0
    half = 0.5 * np.abs(labels.tilt(each))
    return rows.design.pull_back(half), float(half @ rows.design.squared_norms())


def _added(parts: list[Any]) -> Any:
    mean, square = parts[0]
    for one, two in parts[1:]:
        mean, square = mean + one, square + two
    return mean, square


__all__ = ["FoldedDesign"]
