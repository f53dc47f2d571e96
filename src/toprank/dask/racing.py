"""What a race of candidates asks of rows on a cluster: samples, features, scores of some rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from ..features.quantile_sketch import Summary, merge, summarise
from ..methods.squared.rows import fold_of_rows
from ..selection.head.contenders import decisions_of
from .parts import Labels, Rows
from .reducer import INLINE, bytes_of

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


__all__ = [
    "Drawn",
    "Featured",
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
