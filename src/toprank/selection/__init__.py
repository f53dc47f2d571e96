"""Choosing and comparing: paths of alphas, cross-validation along them, tests of differences."""

from ..metrics import TTest, corrected_t_test
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
    "TTest",
    "choose_threshold",
    "compare",
    "corrected_t_test",
    "critical_difference",
    "friedman",
    "holm",
    "over_sets",
    "path",
    "ranks",
]
