"""Promises about a new list: at least so many of its first k rows are positive."""

from .headbound import HeadBound, one_row_each
from .selector import HeadSelector
from .statement import HeadStatement, Selection

__all__ = ["HeadBound", "HeadSelector", "HeadStatement", "Selection", "one_row_each"]
