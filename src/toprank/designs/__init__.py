"""The matrix behind three verbs; only a design knows how it is stored."""

from .base import Design, Windows
from .memory import DenseDesign, MemoryDesign, SparseDesign, as_design

__all__ = ["DenseDesign", "Design", "MemoryDesign", "SparseDesign", "Windows", "as_design"]
