"""Folds of rows on a cluster: held out by their part and their number in it, and never moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from ..estimators.validation import LabelledRows
from ..features.bin_edges import SIZE, Summary, merge, summarise
from ..inputs.class_split import Split
from ..methods.squared.rows import fold_of_rows
from ..selection.head.features import decisions_of
from .matrix import ClusterDesign
from .parts import Labels, Rows, Where, joined
from .reducer import INLINE, Reducer, bytes_of

Array = NDArray[np.float64]

#: What tells the numbers of the rows that are judged from those of the rows that are drawn.
_JUDGED = 1


class Drawn(NamedTuple):
    """Rows that were drawn, here: their class, what they weigh, the folds that hold them out."""

    X: Any
    positive: NDArray[np.bool_]
    weight: Array
    fold: NDArray[np.int32]


class Judged(NamedTuple):
    """Which rows held out are judged: those of each part whose numbers are below a share."""

    share: float
    seed: int
    n_folds: int


class Featured(NamedTuple):
    """What makes other columns of rows, and how many."""

    features: Any
    width: int


def drawn_of_part(
    rows: Rows, labels: Labels, shares: tuple[float, float], seed: int, n_folds: int
) -> list[Drawn]:
    """Rows drawn by chance, so many of the positives and of the negatives."""
    n, place = len(labels.positive), labels.where.place
    chance = np.random.default_rng([seed, place]).random(n)
    own = np.flatnonzero((chance < np.where(labels.positive, *shares)) & (labels.weights > 0.0))
    fold = fold_of_rows(place, n, n_folds)[own]
    return [Drawn(rows.X[own], labels.positive[own], labels.weights[own], fold)]


def joined_rows(found: list[Drawn]) -> Drawn:
    """Those of all parts, in one place."""
    X, *rest = zip(*(one for one in found if len(one.positive)), strict=True)
    whole = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
    return Drawn(whole, *(np.concatenate(one) for one in rest))


def sketches_of_part(rows: Rows, labels: Labels, n_folds: int) -> list[list[Summary]]:
    """Return summaries of the negatives' columns, for the rows that each fold holds out."""
    used = ~labels.positive & (labels.weights > 0.0)
    fold = fold_of_rows(labels.where.place, len(used), n_folds)
    found = []
    for k in range(n_folds):
        own = np.flatnonzero(used & (fold == k))
        weight = None if labels.weight is None else labels.weight[own]
        found.append([summarise(rows.X[own, j], weight) for j in range(rows.X.shape[1])])
    return found


def merged_sketches(parts: list[list[list[Summary]]]) -> list[list[Summary]]:
    """Return the summaries of several parts' rows together."""
    return [
        [merge(columns) for columns in zip(*own, strict=True)] for own in zip(*parts, strict=True)
    ]


def judged_of_part(rows: Rows, labels: Labels, judged: Judged) -> list[Any]:
    """Of the rows that are judged: whether positive, what they weigh, who holds them out."""
    own = _judged_rows(labels, judged)
    fold = fold_of_rows(labels.where.place, len(labels.positive), judged.n_folds)[own]
    return [(labels.positive[own], labels.weights[own], fold)]


def decisions_of_part(
    rows: Rows, labels: Labels, models: list[Any], fold: int, judged: Judged
) -> list[Array]:
    """The scores that models give the rows which a fold holds out and which are judged."""
    own = _judged_rows(labels, judged)
    own = own[fold_of_rows(labels.where.place, len(labels.positive), judged.n_folds)[own] == fold]
    decisions = np.empty((len(own), len(models)))
    if not len(own):
        return [decisions]
    for k, model in enumerate(models):
        if isinstance(model, tuple):  # weights, and an intercept
            decisions[:, k] = rows.design.scores(model[0], own) + model[1]
        else:
            decisions[:, k] = decisions_of(model, rows.X[own])
    return [decisions]


def scale_of_part(rows: Rows, labels: Labels, kind: str) -> list[Any]:
    """Of rows of a weight: their number, mean and squares about it, or their largest entries."""
    X = rows.X[np.flatnonzero(labels.weights > 0.0)]
    if not X.shape[0]:
        return []
    if kind == "largest":
        return [(X.shape[0], MaxAbsScaler().fit(X).max_abs_)]
    scaler = StandardScaler().fit(X)
    return [(X.shape[0], scaler.mean_, scaler.var_ * X.shape[0])]


def scaler_of(found: list[Any], kind: str) -> Any:
    """The scaler of all rows from what the parts tell, in their order."""
    if kind == "largest":
        largest = np.max([one[1] for one in found], axis=0)
        made: Any = MaxAbsScaler()
        made.max_abs_, made.scale_ = largest, np.where(largest == 0.0, 1.0, largest)
    else:
        n, mean, squares = found[0]
        for more, other, own in found[1:]:
            step = other - mean
            squares = squares + own + step**2 * (n * more / (n + more))
            mean = mean + step * (more / (n + more))
            n += more
        variance = squares / n
        # As scikit-learn has it: what rounding alone could make is no spread.
        rounding = n * np.finfo(float).eps * variance + (n * mean * np.finfo(float).eps) ** 2
        made = StandardScaler()
        made.mean_, made.var_ = mean, variance
        made.scale_ = np.where(variance <= rounding, 1.0, np.sqrt(variance))
    made.n_samples_seen_ = sum(one[0] for one in found)
    made.n_features_in_ = len(made.scale_)
    return made


def features_of_part(rows: Rows, made: Featured) -> Rows:
    """Other columns of the rows of a part."""
    if not rows.X.shape[0]:
        return Rows(np.empty((1, made.width), rows.X.dtype)[:0])
    Z = made.features.transform(rows.X)
    if not sparse.issparse(Z):
        return Rows(np.ascontiguousarray(Z))
    Z = sparse.csr_array(Z)
    Z.sum_duplicates()
    return Rows(Z)


def featured_parts(
    client: Any, base: Any, made: Featured
) -> tuple[list[tuple[Any, ...]], Callable[[int], tuple[Any, ...]]]:
    """The parts with other columns, made where they are, and what makes one of them again."""

    def sent() -> Any:
        if bytes_of(made.features) <= INLINE:
            return made
        return client.scatter([made], broadcast=True, hash=False)[0]

    def part(place: int, what: Any) -> tuple[Any, ...]:
        rows, labels = base.parts[place]
        return client.submit(features_of_part, rows, what, pure=False), labels

    def remake(place: int) -> tuple[Any, ...]:
        if base.remake is not None:
            base.parts[place] = base.remake(place)
        return part(place, sent())

    what = sent()
    return [part(place, what) for place in range(len(base.parts))], remake


def entries_of_part(rows: Rows, labels: Labels) -> list[int]:
    """How many entries a part stores."""
    return [int(rows.design.n_entries)]


def _judged_rows(labels: Labels, judged: Judged) -> NDArray[np.int64]:
    there = labels.weights > 0.0
    if judged.share < 1.0:
        seeds = [judged.seed, labels.where.place, _JUDGED]
        there &= np.random.default_rng(seeds).random(len(there)) < judged.share
    return np.flatnonzero(there)


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
        split = Split.of_totals((n_pos, n_neg), (of_pos, of_neg))
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


__all__ = [
    "Drawn",
    "Featured",
    "FoldedDesign",
    "Judged",
    "decisions_of_part",
    "drawn_of_part",
    "entries_of_part",
    "featured_parts",
    "features_of_part",
    "joined_rows",
    "judged_of_part",
    "merged_sketches",
    "scale_of_part",
    "scaler_of",
    "sketches_of_part",
]
