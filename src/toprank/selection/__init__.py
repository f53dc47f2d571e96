"""Choosing and comparing: paths of alphas, cross-validation along them, tests of differences."""

from typing import TYPE_CHECKING, Any

from .. import metrics
from ..exceptions import warn_caller
from .comparison import Comparison, SeveralSets, compare, over_sets
from .head import Explanation, HeadRanker
from .path import RankerPath, path
from .rank_tests import Friedman, critical_difference, friedman, holm, ranks
from .ranker_cv import RankerCV
from .threshold import choose_threshold

__all__ = [
    "Comparison",
    "Explanation",
    "Friedman",
    "HeadRanker",
    "RankerCV",
    "RankerPath",
    "SeveralSets",
    "choose_threshold",
    "compare",
    "critical_difference",
    "friedman",
    "holm",
    "over_sets",
    "path",
    "ranks",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in ("TTest", "corrected_t_test"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        warn_caller(
            f"toprank.selection.{name} is deprecated and ends in version 0.4: use "
            f"toprank.metrics.{name}.",
            FutureWarning,
            about=name,
        )
        return getattr(metrics, name)
