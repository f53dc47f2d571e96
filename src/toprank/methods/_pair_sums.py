"""What is known of pairs: the moments of their features, as sums that merge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from .._core import pair_moments
from ..designs import DenseDesign, MemoryDesign, SparseDesign
from ..designs.memory import as_design
from ..moments import MOST_FEATURES, ROUNDING, Moments, moments_by_group
from ..squared import MomentRisk
from ..validation import LARGEST_ENTRY, check_weights

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
#: Psi(X1, X0), a row a pair.
Features = Callable[[Any, Any], Any]

#: Pairs whose features are made at a time.
BLOCK = 4096


@dataclass(frozen=True)
class PairSums:
    """What is known of some pairs."""

    moments: Moments
    n_pairs: int
    #: The mean of the rows of the pairs, and of how many: pairs without rows have none.
    middle: Array
    n_from_rows: int = 0

    @classmethod
    def of_rows(
        cls, design: MemoryDesign, first: Rows, second: Rows, features: Features | None, width: int
    ) -> PairSums:
        """Of pairs of rows, by their differences or by their features."""
        n_pairs = len(first)
        if features is not None:
            moments = _of_features(features, design, first, second, width)
            return cls(moments, n_pairs, np.zeros(width))
        n_rows = design.shape[0]
        times = np.bincount(first, minlength=n_rows) + np.bincount(second, minlength=n_rows)
        rows = np.flatnonzero(times)
        middle = design.pull_back(times[rows] / (2.0 * n_pairs), rows)
        return cls(_of_differences(design, first, second), n_pairs, middle, n_pairs)

    @classmethod
    def of_pairs(cls, design: MemoryDesign, weight: Array | None) -> PairSums:
        """Of pairs whose features are the rows of a matrix."""
        n_pairs = design.shape[0] if weight is None else int(np.count_nonzero(weight))
        return cls(_of_matrix(design, weight), n_pairs, np.zeros(design.shape[1]))

    @property
    def width(self) -> int:
        """How many features a pair has."""
        return len(self.moments.mean)

    def risk(self) -> MomentRisk:
        """The mean of (1 - w.psi)^2 / 2 over the pairs."""
        moments = self.moments
        spread = np.sqrt(np.maximum(np.diag(moments.scatter), 0.0) / moments.weight)
        if (np.abs(moments.mean) <= 16.0 * ROUNDING * spread).all():
            # A mean of zero but for the order of summation points nowhere.
            moments = Moments(moments.weight, np.zeros_like(moments.mean), moments.scatter)
        return MomentRisk(moments, self.middle)

    def merge(self, other: PairSums) -> PairSums:
        """The sums over the pairs of both."""
        n = self.n_from_rows + other.n_from_rows
        middle = self.middle + other.n_from_rows / max(n, 1) * (other.middle - self.middle)
        return PairSums(self.moments.merge(other.moments), self.n_pairs + other.n_pairs, middle, n)


def check_square(width: int) -> int:
    """Refuse more features of a pair than their square leaves room for."""
    if width > MOST_FEATURES:
        raise ValueError(
            f"A pair has {width} features: LCBR keeps a square of them, which is beyond it from "
            f"{MOST_FEATURES} on. Use fewer features, or RankSVM, which needs no square."
        )
    return width


def _of_differences(design: MemoryDesign, first: Rows, second: Rows) -> Moments:
    """The moments of x_first - x_second over the pairs; sparse rows stay sparse."""
    if isinstance(design, DenseDesign):
        design.entries_read += 2 * len(first) * design.shape[1]
        weight, mean, scatter = pair_moments(design.matrix, first, second, None, design.n_threads)
        return Moments(float(weight[0]), mean[0], scatter[0])
    assert isinstance(design, SparseDesign)
    found = Moments.none(design.shape[1])
    for begin in range(0, len(first), 16 * BLOCK):
        block = slice(begin, begin + 16 * BLOCK)
        # Differences of float32 rows need the digits of float64, as in the dense kernel.
        above = _rows(design, first[block]).astype(np.float64, copy=False)
        apart = above - _rows(design, second[block])
        found = found.merge(_of_matrix(as_design(apart, design.n_threads)))
    return found


def _of_features(
    features: Features, design: MemoryDesign, first: Rows, second: Rows, width: int
) -> Moments:
    """The moments of Psi over the pairs, which are handed to it in blocks."""
    found = Moments.none(width)
    for begin in range(0, len(first), BLOCK):
        block = slice(begin, begin + BLOCK)
        above, below = _rows(design, first[block]), _rows(design, second[block])
        psi = pair_features(features, above, below, width)
        found = found.merge(_of_matrix(as_design(psi, design.n_threads)))
    return found


def _of_matrix(design: MemoryDesign, weight: Array | None = None) -> Moments:
    """The moments of the rows of a matrix, which are the features of pairs."""
    group = np.zeros(design.shape[0], dtype=np.int32)
    return moments_by_group(design, group, 1, weight)[0]


def pair_features(features: Features, above: Any, below: Any, width: int | None = None) -> Any:
    """Psi of some pairs: a matrix of finite numbers, a row a pair, of the width it has had."""
    given = features(above, below)
    psi = given.tocsr() if sparse.issparse(given) else np.asarray(given)
    if psi.ndim != 2 or psi.shape[0] != above.shape[0] or psi.shape[1] < 1:
        raise ValueError(
            f"features returned an array of shape {psi.shape} for {above.shape[0]} pairs: it must "
            "return two dimensions, one row for each pair and at least one column."
        )
    if psi.dtype.kind not in "biuf":
        raise ValueError(f"features returned {psi.dtype} entries: it must return real numbers.")
    if psi.dtype not in (np.float32, np.float64):
        psi = psi.astype(np.float64)
    if width is not None and psi.shape[1] != width:
        raise ValueError(
            f"features returned {psi.shape[1]} columns after {width}: every call must return the "
            "same number of columns."
        )
    psi = _canonical(psi)
    _refuse_unusable(psi, "features returned")
    return psi


def _canonical(psi: Any) -> Any:
    """A sparse matrix with its columns in order, each once; the given one is left as it is."""
    if sparse.issparse(psi) and not psi.has_canonical_format:
        psi = psi.copy()
        psi.sum_duplicates()
    return psi


def check_pairs(
    Psi: ArrayLike, sample_weight: ArrayLike | None, width: int | None, n_threads: int | None
) -> tuple[MemoryDesign, Array | None]:
    """The design of given features of pairs, and the weights of the pairs."""
    psi = check_array(
        Psi,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        input_name="Psi",
    )
    psi = _canonical(psi)
    check_square(psi.shape[1])
    _refuse_unusable(psi, "Psi holds")
    if width is not None and psi.shape[1] != width:
        raise ValueError(
            f"Psi has {psi.shape[1]} columns, but the ranker has {width} features of a pair."
        )
    weight = None
    if sample_weight is not None:
        weight = check_weights(sample_weight, psi.shape[0], of="Psi")
        if not weight.any():
            raise ValueError("All of sample_weight is zero: at least one pair must have a weight.")
    return as_design(psi, n_threads), weight


def _refuse_unusable(psi: Any, what: str) -> None:
    """Refuse NaN, infinity and what is too large to be squared."""
    values = psi.data if sparse.issparse(psi) else psi
    # float32 has no number as large as that: what is finite there is usable.
    largest = min(LARGEST_ENTRY, float(np.finfo(values.dtype).max))
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(values) <= largest)
    if wrong.any():
        place = int(np.argmax(wrong))
        if sparse.issparse(psi):
            row, column = int(np.searchsorted(psi.indptr, place, "right")) - 1, psi.indices[place]
        else:
            row, column = divmod(place, psi.shape[1])
        raise ValueError(
            f"{what} {values.flat[place]:g} in row {row}, column {column}: the features of pairs "
            f"must be finite numbers up to {LARGEST_ENTRY:g}."
        )


def _rows(design: MemoryDesign, rows: Rows) -> Any:
    """Some rows as they are: dense, or CSR."""
    assert isinstance(design, DenseDesign | SparseDesign)
    return design.X[rows]
