"""The matrix behind verbs; only a design knows how it is stored."""

from typing import Any

from scipy.sparse import issparse

from .base import NO_ROW, Design, Windows
from .columns import ColumnReader
from .dense import DenseDesign
from .memory import MemoryDesign
from .moments import RowMoments
from .pairs import PairDesign
from .reduction import Ask, Sums
from .scaled import ScaledDesign
from .sparse import SparseDesign


def as_design(X: Any, n_threads: int | None = None) -> MemoryDesign:
    """The design of an array or a CSR matrix that has been checked."""
    return SparseDesign(X, n_threads) if issparse(X) else DenseDesign(X, n_threads)


__all__ = [
    "NO_ROW",
    "Ask",
    "ColumnReader",
    "DenseDesign",
    "Design",
    "MemoryDesign",
    "PairDesign",
    "RowMoments",
    "ScaledDesign",
    "SparseDesign",
    "Sums",
    "Windows",
    "as_design",
]
