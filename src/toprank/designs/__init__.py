"""The matrix behind verbs; only a design knows how it is stored."""

from typing import Any

from scipy.sparse import issparse

from .base import NO_ROW, Design, Windows
from .columns import ColumnReader, RowMoments
from .dense import DenseDesign
from .memory import MemoryDesign, Room
from .pairs import PairDesign
from .reduction import Ask, Highest, Line, Sums, Thinning
from .scaled import ScaledDesign
from .sparse import SparseDesign
from .streamed import StreamedDense, StreamedSparse, is_streamed


def as_design(X: Any, n_threads: int | None = None) -> MemoryDesign:
    """The design of an array or a CSR matrix that has been checked."""
    if is_streamed(X):
        return StreamedSparse(X, n_threads) if issparse(X) else StreamedDense(X, n_threads)
    return SparseDesign(X, n_threads) if issparse(X) else DenseDesign(X, n_threads)


__all__ = [
    "NO_ROW",
    "Ask",
    "ColumnReader",
    "DenseDesign",
    "Design",
    "Highest",
    "Line",
    "MemoryDesign",
    "PairDesign",
    "Room",
    "RowMoments",
    "ScaledDesign",
    "SparseDesign",
    "Sums",
    "Thinning",
    "Windows",
    "as_design",
]
