"""Feature sets of linear scores: made in blocks of rows, and cached for the folds."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, Normalizer, StandardScaler
from sklearn.utils import _safe_indexing

from ...features import BinsAndPairs, KernelColumns, Squash
from ..fold_path import Rows

if TYPE_CHECKING:
    from .race_data import RaceData

Array = NDArray[np.float64]

#: Feature sets that depend on the labels, so that each fold makes them itself.
SUPERVISED = {"bins"}
#: Feature sets in words.
WORDS = {
    "columns": "standardised columns",
    "squashed": "squashed columns",
    "bins": "squashed columns, their bins and pairs",
    "nystroem": "squashed columns and Nystroem's kernel columns",
    "as given": "columns as given",
    "unit rows": "rows of length 1",
    "largest 1": "columns with largest entry 1",
}
#: Bytes of the features of a block.
_BLOCK = 16_000_000
#: Blocks have a multiple of this many rows, like those of `KernelColumns`, for the same last bits.
_ALIGNED = 4096
#: Features may take this many bytes, or twice the memory of the rows if that is more.
_LEAST_BYTES = 192_000_000
#: Rows of more bytes are collected at once, not left to Python's garbage collector.
_MUCH = 10_000_000
#: Memory for joined blocks, as a multiple of the estimate by the first one.
_SPARE = 1.1
#: Number of rows that show how much memory the features of a row take.
_PROBE = 500


class FeatureSet(Protocol):
    """Makes a transformer for n rows and d columns."""

    def __call__(self, n: int, d: int, seed: int) -> Any:
        """Return the transformer, not fitted."""


def _columns(n: int, d: int, seed: int) -> Any:
    return StandardScaler()


def _squashed(n: int, d: int, seed: int) -> Any:
    return Squash()


def _bins(n: int, d: int, seed: int) -> Any:
    return make_pipeline(Squash(), BinsAndPairs())


def _nystroem(n: int, d: int, seed: int) -> Any:
    # Half the digits take half the time of a fit, and the order of the rows does not see the rest.
    narrow = FunctionTransformer(np.float32, feature_names_out="one-to-one")
    # Half as many columns gain less, and twice as many little more.
    kernel = KernelColumns(600, random_state=seed)
    return Pipeline([("squash", Squash()), ("kernel", kernel), ("narrow", narrow)])


def _as_given(n: int, d: int, seed: int) -> Any:
    return FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one")


def _unit_rows(n: int, d: int, seed: int) -> Any:
    return Normalizer()


def _largest_one(n: int, d: int, seed: int) -> Any:
    return MaxAbsScaler()


#: Feature sets of dense rows, the cheapest first.
DENSE: dict[str, FeatureSet] = {
    "columns": _columns,
    "squashed": _squashed,
    "bins": _bins,
    "nystroem": _nystroem,
}


#: Feature sets of sparse rows: scalings that keep rows sparse and each column a column.
SPARSE: dict[str, FeatureSet] = {
    "as given": _as_given,
    "unit rows": _unit_rows,
    "largest 1": _largest_one,
}


class TrainingRows(NamedTuple):
    """Rows that a fit learns from: their features, labels and weights."""

    features: Any
    Z: Any
    y: NDArray[np.int64]
    weight: Array | None

    @property
    def options(self) -> dict[str, Array]:
        """Return the weights as options of `fit`."""
        return {} if self.weight is None else {"sample_weight": self.weight}


@dataclass
class FeatureCache:
    """Makes a feature set once for all folds, or once for each fold if it depends on labels.

    Scales, quantiles and kernel rows of all rows hold no information on held-out labels. If groups
    are kept together or folds follow time, each fold still makes its own features, because
    held-out rows must not affect them.

    If the features of all rows would take too much memory, a fit learns from a sample.
    """

    #: Makes a transformer for n rows and d columns, not fitted.
    make: Callable[[int, int], Any]
    #: Whether it goes by the labels.
    supervised: bool = False
    #: The most rows that a fit learns from; None for as many as memory allows.
    most: int | None = None
    #: Decides the sample.
    seed: int = 0
    #: The transformer of all rows and what it makes of them, where the folds share it.
    whole: tuple[Any, Any] | None = None
    #: Those of single folds, by their numbers.
    known: dict[int, Any] = field(default_factory=dict)
    #: The transformer of all rows, where what it makes has been released.
    ready: Any = None
    #: What the leaderboard says of the sample.
    note: str = ""

    def of_fold(self, data: RaceData, fold: int) -> tuple[Any, Any]:
        """Return the transformer of a fold, and the features of all rows, None if too large."""
        if data.exchangeable and not self.supervised:
            return self.of_all(data)
        if fold in self.known:
            return self.known[fold], self._all(self.known[fold], data)
        features, made = self._made(data, data.folds.training(fold))
        self.known[fold] = features
        return features, made

    def of_all(self, data: RaceData) -> tuple[Any, Any]:
        """Return the transformer of all rows, and their features, None if too large."""
        if self.whole is None and self.ready is not None:
            self.whole = self.ready, self._all(self.ready, data)
        if self.whole is None:
            self.whole = self._made(data, data.all_rows)
        return self.whole

    def release(self) -> None:
        """Release the features of all rows, and keep their transformer."""
        if self.whole is not None:
            self.ready, self.whole = self.whole[0], None

    def training_rows(self, data: RaceData, fold: int | None = None) -> TrainingRows:
        """Return the training rows of a fold, or of the final fit."""
        features, Z = self.of_all(data) if fold is None else self.of_fold(data, fold)
        rows = data.used(data.all_rows if fold is None else data.folds.training(fold))
        if Z is None:
            return self.sampled(features, data, rows)
        weight = None if data.weight is None else data.weight[rows]
        every = fold is None and len(rows) == len(data.y)
        return TrainingRows(features, Z if every else _safe_indexing(Z, rows), data.y[rows], weight)

    def sampled(self, features: Any, data: RaceData, rows: Rows) -> TrainingRows:
        """Return a sample of rows, weighted for those left out. Positives are kept first."""
        rows = data.used(rows)
        count = self._most(features, data)
        taken, times = draw_sample(data.y[rows], count, self.seed)
        taken = rows[taken]
        weight = None if data.weight is None else data.weight[taken]
        if times is not None:
            weight = times if weight is None else weight * times
        every = len(data.used(data.all_rows))
        if count < every:
            self.note = f"learnt from {count} of {every} rows"
        return TrainingRows(features, transformed(features, data.X, taken), data.y[taken], weight)

    def clear(self) -> None:
        """Release all features and transformers."""
        self.whole = self.ready = None
        self.known.clear()

    def _made(self, data: RaceData, rows: Rows) -> tuple[Any, Any]:
        """Return the transformer fitted to some rows, and the features of all rows."""
        own = self._few(data.used(rows))
        features = self.make(len(own), data.X.shape[1])
        every = len(own) == len(data.y) and (own == data.all_rows).all()
        X, y = (data.X, data.y) if every else (_safe_indexing(data.X, own), data.y[own])
        if (seen := _fit_features(features, X, y, self.seed)) < len(own):
            self.note = f"features seen in {seen} of {len(own)} rows"
        del X
        return features, self._all(features, data)

    def _all(self, features: Any, data: RaceData) -> Any:
        """Return the features of all rows, or None if they take too much memory."""
        if len(data.y) > self._most(features, data):
            return None
        return transformed(features, data.X)

    def _few(self, rows: Rows) -> Rows:
        """Return the rows that a transformer is fitted to, at most as many as a fit learns from."""
        if self.most is None or len(rows) <= self.most:
            return rows
        return np.sort(np.random.default_rng(self.seed).permutation(rows)[: self.most])

    def _most(self, features: Any, data: RaceData) -> int:
        """Return the most rows that a fit learns from."""
        most = most_rows(features, data.X)
        return most if self.most is None else min(most, self.most)


def draw_sample(y: NDArray[np.int64], count: int, seed: int) -> tuple[Rows, Array | None]:
    """Draw rows: all positives, or half of the sample, and negatives by chance.

    Returns the rows in their order, and how many rows each stands for, None if all are taken.
    """
    if count >= len(y):
        return np.arange(len(y)), None
    negative, positive = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    # Positives take up to half of the sample.
    n_positive = min(len(positive), max(int(0.5 * count), count - len(negative), 1))
    n_negative = min(len(negative), max(count - n_positive, 1))
    rng = np.random.default_rng(seed)
    taken = [
        rng.choice(rows, size, replace=False)
        for rows, size in ((positive, n_positive), (negative, n_negative))
    ]
    rows = np.sort(np.concatenate(taken))
    stands_for = len(negative) / n_negative, len(positive) / n_positive
    return rows, np.where(y[rows] == 1, stands_for[1], stands_for[0])


def _fit_features(features: Any, X: Any, y: Any, seed: int) -> int:
    """Fit a transformer; the steps of a pipeline make their features in blocks.

    Where a step makes more of all rows than may be in memory, the next ones see a sample. Returns
    the number of rows that the last step has seen.
    """
    if isinstance(features, Pipeline):
        for _, step in features.steps[:-1]:
            step.fit(X, y)
            most = most_rows(step, X)
            if len(y) > most:
                rows = np.sort(np.random.default_rng(seed).permutation(len(y))[:most])
                X, y = _safe_indexing(X, rows), y[rows]
            X = transformed(step, X)
        features = features[-1]
    features.fit(X, y)
    return len(y)


def bytes_of(X: Any) -> int:
    """Return the memory that a matrix takes."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    if hasattr(X, "memory_usage"):  # a table
        return sum(map(int, X.memory_usage(index=False)))
    return int(X.nbytes)


def is_much(X: Any) -> bool:
    """Return whether copies of the rows should be let go of at once."""
    return bytes_of(X) > _MUCH


def release(X: Any) -> None:
    """Collect copies of the rows that solvers and trees leave in cycles of references."""
    if is_much(X):
        gc.collect()


def medians(X: Any) -> Array:
    """Return the medians of dense columns, of which one is copied at a time."""
    return np.array([np.median(column) for column in X.T])


def most_rows(features: Any, X: Any) -> int:
    """Return the number of rows whose features may be in memory at once."""
    n = int(X.shape[0])
    if n <= _PROBE:
        return n
    return int(max(2 * bytes_of(X), _LEAST_BYTES) / _row_bytes(features, X))


def transformed(features: Any, X: Any, rows: Rows | None = None) -> Any:
    """Return the features of some rows, or of all, joined from those of blocks.

    Sparse rows stay as sparse as they are, and need no blocks.
    """
    n = X.shape[0] if rows is None else len(rows)
    blocks = [slice(0, n)] if sparse.issparse(X) else list(_blocks(n, features, X))
    if len(blocks) == 1:
        return features.transform(_part(X, blocks[0], rows))
    made = (features.transform(_part(X, block, rows)) for block in blocks)
    first = next(made)
    if sparse.issparse(first):
        return _joined(first, made, n)
    by_columns = first.flags.f_contiguous and not first.flags.c_contiguous
    whole = np.empty((n, first.shape[1]), dtype=first.dtype, order="F" if by_columns else "C")
    whole[blocks[0]] = first
    for block, own in zip(blocks[1:], made, strict=True):
        whole[block] = own
    return whole


def scored(features: Any, rankers: list[Any], X: Any, rows: Rows | None = None) -> list[Array]:
    """Return the scores of rows by several rankers on the same features, made in blocks."""
    n = X.shape[0] if rows is None else len(rows)
    found = [np.empty(n) for _ in rankers]
    for block in _blocks(n, features, X):
        made = features.transform(_part(X, block, rows))
        for scores, ranker in zip(found, rankers, strict=True):
            scores[block] = ranker.decision_function(made)
    return found


def _blocks(n: int, features: Any, X: Any) -> Iterator[slice]:
    """Yield slices of n rows whose features take `_BLOCK` bytes at most."""
    size = n
    if n > _PROBE:
        size = int(_BLOCK / _row_bytes(features, X))
        # A block has at least 256 rows, however wide they are.
        size = size - size % _ALIGNED if size >= _ALIGNED else max(size, 256)
    if n <= size:
        yield slice(0, n)
        return
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _row_bytes(features: Any, X: Any) -> float:
    """Return the bytes that the features of a row take, by a few rows spread over all."""
    n = X.shape[0]
    probe = np.unique(np.linspace(0, n - 1, min(n, _PROBE)).astype(int))
    made = features.transform(_safe_indexing(X, probe))
    total = bytes_of(made)
    if sparse.issparse(made):  # its indices take four bytes in the end
        total = made.nnz * (made.data.itemsize + 4)
    return max(total / len(probe), 1.0)


def _part(X: Any, block: slice, rows: Rows | None) -> Any:
    if rows is not None:
        return _safe_indexing(X, rows[block])
    return X if block.stop - block.start == X.shape[0] else X[block]


def _joined(first: Any, others: Iterator[Any], n: int) -> Any:
    """Return CSR matrices as one of n rows; each is let go of once it is copied."""
    room = int(n / first.shape[0] * first.nnz * _SPARE)
    data, indices = np.empty(room, dtype=first.data.dtype), np.empty(room, dtype=np.int32)
    pointers = np.zeros(n + 1, dtype=np.int64)
    row = at = 0
    for part in chain([first], others):
        end = at + part.nnz
        if end > len(data):
            for array in (data, indices):
                array.resize(int(end * _SPARE), refcheck=False)
        data[at:end], indices[at:end] = part.data[: part.nnz], part.indices[: part.nnz]
        pointers[row + 1 : row + part.shape[0] + 1] = part.indptr[1:] + np.int64(at)
        row, at = row + part.shape[0], end
    if at <= np.iinfo(np.int32).max:
        pointers = pointers.astype(np.int32)
    return type(first)((data[:at], indices[:at], pointers), shape=(n, first.shape[1]))


def decisions_of(model: Any, X: Any) -> Array:
    """The scores of a fitted classifier of labels 0 and 1."""
    if hasattr(model, "decision_function"):
        if isinstance(model, Pipeline) and list(model.named_steps) == ["features", "ranker"]:
            return scored(model["features"], [model["ranker"]], X)[0]
        return np.asarray(model.decision_function(X), dtype=np.float64)
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} in candidates has neither decision_function nor "
            "predict_proba: pass a classifier."
        )
    return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)


__all__ = [
    "DENSE",
    "SPARSE",
    "SUPERVISED",
    "WORDS",
    "FeatureCache",
    "FeatureSet",
    "TrainingRows",
    "bytes_of",
    "decisions_of",
    "draw_sample",
    "is_much",
    "medians",
    "most_rows",
    "release",
    "scored",
    "transformed",
]
