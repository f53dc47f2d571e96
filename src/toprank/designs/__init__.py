"""The matrix behind three verbs; only a design knows how it is stored."""

from .base import Design, Windows
from .centred import centred, full_columns, shifted
from .memory import DenseDesign, MemoryDesign, SparseDesign, as_design
from .pairs import NO_ROW, PairDesign
from .scaled import ScaledDesign

__all__ = [
    "NO_ROW",
    "DenseDesign",
    "Design",
    "MemoryDesign",
    "PairDesign",
    "ScaledDesign",
    "SparseDesign",
    "Windows",
    "as_design",
    "centred",
    "full_columns",
    "shifted",
]
