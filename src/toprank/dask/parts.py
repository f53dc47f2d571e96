"""Parts of a table on the workers: rows converted once, labels and weights beside them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from .._compat import cached_property
from ..designs import DenseDesign, MemoryDesign, SparseDesign
from ..estimators.validation import check_matrix, check_targets, check_weights
from ..inputs.class_split import Split
from ..inputs.labels import shown


class ClassTotals(Split):
    """The two classes of rows that are elsewhere: two rows stand for them.

    They weigh what the classes do, and know how many rows those have.
    """

    @classmethod
    def made(cls, counts: tuple[int, int], weights: tuple[float, float]) -> ClassTotals:
        """Of so many positive and negative rows, which weigh so much."""
        one, total = np.ones(1), sum(weights)
        shares = weights[0] / total, weights[1] / total
        made = cls(2, np.zeros(1, np.int64), np.ones(1, np.int64), one, one, *shares)
        made.__dict__["_counts"] = counts
        return made

    @property
    def counts(self) -> tuple[int, int]:
        """How many rows the two classes have."""
        counts: tuple[int, int] = self.__dict__["_counts"]
        return counts

    def weighing(self, of_pos: float, of_neg: float) -> ClassTotals:
        """The same rows with weights that sum to these numbers."""
        made = ClassTotals(2, self.pos, self.neg, of_pos * self.p, of_neg * self.q, *self.shares)
        made.__dict__["_counts"] = self.counts
        return made


Array = NDArray[np.float64]

#: What an object costs beside its arrays.
_OVERHEAD = 200
#: Labels that a part tells of: two are enough, and a third is one too many.
_MOST_LABELS = 5


class Rows:
    """The rows of one part: float32 or float64 with contiguous rows, or CSR.

    Kernels run on one thread each: Dask has others for other parts.
    """

    def __init__(self, X: Any) -> None:
        self.X = X

    def __getstate__(self) -> Any:
        return self.X

    def __setstate__(self, X: Any) -> None:
        self.X = X

    def __sizeof__(self) -> int:
        # Without it Dask takes a part for some bytes, and moves it about.
        X = self.X
        if sparse.issparse(X):
            return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) + _OVERHEAD
        return int(X.nbytes) + _OVERHEAD

    @cached_property
    def design(self) -> MemoryDesign:
        """The matrix behind verbs; it is made where it is used."""
        made = SparseDesign if sparse.issparse(self.X) else DenseDesign
        design = made(self.X, 1)
        design.entries_checked = True
        return design

    @cached_property
    def longest(self) -> float:
        """The length of the longest row."""
        return float(np.sqrt(self.design.squared_norms().max(initial=0.0)))


class Given(NamedTuple):
    """Labels of a part as they came, and weights."""

    y: NDArray[Any]
    weight: Array | None
    #: The number of the part.
    place: int


class Where(NamedTuple):
    """The number of a part, and those that its first row, positive and negative have in all."""

    place: int
    first: int
    first_pos: int
    first_neg: int


class Labels:
    """Which rows of a part are positive, and what rows weigh; None: one each."""

    def __init__(self, positive: NDArray[np.bool_], weight: Array | None, where: Where) -> None:
        self.positive, self.weight, self.where = positive, weight, where
        self._tilt: tuple[tuple[float, float], Array] | None = None

    def __getstate__(self) -> Any:
        return self.positive, self.weight, self.where

    def __setstate__(self, state: Any) -> None:
        self.positive, self.weight, self.where = state
        self._tilt = None

    def __sizeof__(self) -> int:
        weight = 0 if self.weight is None else self.weight.nbytes
        # The tilt is kept from round to round.
        return int(9 * self.positive.nbytes + weight) + _OVERHEAD

    def tilt(self, each: tuple[float, float]) -> Array:
        """The weights of the rows in the two sums, below zero for negatives.

        `each` is what a positive and a negative row of weight one has there.
        """
        kept = self._tilt
        if kept is None or kept[0] != each:
            tilt = np.where(self.positive, each[0], -each[1])
            if self.weight is not None:
                tilt *= self.weight
            self._tilt = kept = each, tilt
        return kept[1]

    @property
    def weights(self) -> Array:
        """What rows weigh, as a vector."""
        return np.ones(len(self.positive)) if self.weight is None else self.weight


class Summary(NamedTuple):
    """What one pass over the labels tells of a part."""

    n_rows: int
    n_features: int
    n_entries: int
    classes: list[Any]
    #: For each of the classes: its rows of weight above zero, and what they weigh.
    counts: list[int]
    weights: list[float]
    heaviest: float
    dtype: str


class Door(BaseEstimator):
    """Stands in for the estimator where rows are checked."""


def make_rows(block: Any, place: int, n_features: int | None, dtype: str | None) -> Rows:
    """The rows of a block: checked, and converted if need be."""
    if hasattr(block, "columns") and hasattr(block, "to_numpy"):
        width = len(block.columns)
    else:
        block = block if sparse.issparse(block) else np.asarray(block)
        if block.ndim != 2:
            raise ValueError(f"Part {place} of X has {block.ndim} dimensions: rows and columns.")
        width = block.shape[1]
    if n_features is not None and width != n_features:
        raise ValueError(f"Part {place} of X has {width} columns, but X has {n_features}.")
    wanted = None if dtype is None else np.dtype(dtype)
    if block.shape[0] == 0:
        # NumPy's own empty matrix has rows that are not contiguous.
        kind = wanted or np.dtype(np.float64)
        return Rows(np.empty((1, width), kind)[:0])
    try:
        X = check_matrix(Door(), block, reset=True, n_threads=1).X
    except (TypeError, ValueError) as error:
        raise type(error)(f"Part {place} of X (rows are counted within it): {error}") from error
    if wanted is not None:
        X = X.astype(wanted, copy=False)
    return Rows(X if sparse.issparse(X) else np.ascontiguousarray(X))


def keep_given(y: Any, weight: Any, place: int) -> Given:
    """The labels of a block, and its weights, checked."""
    labels = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    try:
        labels = check_targets(labels, labels[:, np.newaxis])
        if weight is None:
            return Given(labels, None, place)
        if hasattr(weight, "to_numpy"):
            weight = weight.to_numpy()
        return Given(labels, check_weights(weight, len(labels), of="y"), place)
    except ValueError as error:
        raise ValueError(f"Part {place} (rows are counted within it): {error}") from error


def summarise(rows: Rows, given: Given) -> list[Summary]:
    """What the driver has to know of a part before a fit."""
    n, d = rows.X.shape
    if n != len(given.y):
        raise ValueError(
            f"Part {given.place} of X has {n} rows, but that of y has {len(given.y)} labels: cut "
            "both into the same parts."
        )
    weight = np.ones(n) if given.weight is None else given.weight
    classes = np.unique(given.y)[:_MOST_LABELS]
    own = [weight[given.y == label] for label in classes]
    dtype = str(rows.X.dtype)
    return [
        Summary(
            n,
            d,
            int(rows.design.n_entries),
            classes.tolist(),
            [int(np.count_nonzero(one)) for one in own],
            [float(one.sum()) for one in own],
            float(weight.max(initial=0.0)),
            dtype,
        )
    ]


def make_labels(given: Given, positive: Any, unit: float, where: Where) -> Labels:
    """Which rows are positive; weights in units of the heaviest row of all parts."""
    weight = None if given.weight is None else given.weight / unit
    return Labels(np.asarray(given.y == positive, dtype=bool), weight, where)


def joined(lists: list[list[Any]]) -> list[Any]:
    """Lists of parts, one after the other."""
    return [one for each in lists for one in each]


def check_two_classes(found: list[Summary]) -> list[Any]:
    """The two labels that all parts have together, the lesser first."""
    named = {label for one in found for label in one.classes}
    try:
        classes = sorted(named)
    except TypeError as error:
        raise ValueError(f"y mixes labels that cannot be ordered: {error}.") from error
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported: y holds {len(classes)} classes or more, "
            f"{', '.join(map(shown, classes[:5]))}; make one of them positive, y == label."
        )
    if len(classes) < 2:
        only = shown(classes[0]) if classes else "none"
        raise ValueError(f"y holds one class only, {only}: ranking needs both.")
    return classes


__all__ = [
    "ClassTotals",
    "Door",
    "Given",
    "Labels",
    "Rows",
    "Summary",
    "Where",
    "check_two_classes",
    "joined",
    "keep_given",
    "make_labels",
    "make_rows",
    "summarise",
]
