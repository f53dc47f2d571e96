"""Choosing and comparing: paths of alphas, cross-validation along them, tests of differences."""

from .head import Explanation, HeadRanker
from .path import RankerPath, path
from .rank_tests import Friedman, critical_difference, friedman, holm, ranks
from .ranker_cv import RankerCV
from .t_test import TTest, corrected_t_test

__all__ = [
    "Explanation",
    "Friedman",
    "HeadRanker",
    "RankerCV",
    "RankerPath",
    "TTest",
    "corrected_t_test",
    "critical_difference",
    "friedman",
    "holm",
    "path",
    "ranks",
]
