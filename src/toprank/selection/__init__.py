"""Choosing: paths of alphas, cross-validation along them."""

from .path import RankerPath, path
from .ranker_cv import RankerCV

__all__ = ["RankerCV", "RankerPath", "path"]
