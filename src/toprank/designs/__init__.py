"""The matrix behind three verbs; only a design knows how it is stored."""

from .base import Design
from .memory import DenseDesign, MemoryDesign, SparseDesign, as_design

__all__ = ["DenseDesign", "Design", "MemoryDesign", "SparseDesign", "as_design"]
