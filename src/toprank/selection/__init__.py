"""Choosing and comparing: tests of whether one method is better than another."""

from .rank_tests import Friedman, critical_difference, friedman, holm, ranks
from .t_test import TTest, corrected_t_test

__all__ = [
    "Friedman",
    "TTest",
    "corrected_t_test",
    "critical_difference",
    "friedman",
    "holm",
    "ranks",
]
