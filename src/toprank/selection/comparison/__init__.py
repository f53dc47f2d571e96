"""compare: models on the same folds of the same rows, with tests of whether they differ."""

from .compare import compare
from .result import Comparison, SeveralSets, over_sets

__all__ = ["Comparison", "SeveralSets", "compare", "over_sets"]
