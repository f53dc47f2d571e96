"""Losses of the whole score vector: what a method asks of the scores, whatever the matrix."""

from .base import DualRounding, Loss
from .compiled import CompiledRows
from .pair import PairLoss
from .reversed import ReversedLoss
from .rows import RowLoss, RowSum
from .tail import ClassTailLoss, PairTailLoss, SmoothTail, level_above, tail_mean
from .threshold import ThresholdLoss
from .top import TopLoss

__all__ = [
    "ClassTailLoss",
    "CompiledRows",
    "DualRounding",
    "Loss",
    "PairLoss",
    "PairTailLoss",
    "ReversedLoss",
    "RowLoss",
    "RowSum",
    "SmoothTail",
    "ThresholdLoss",
    "TopLoss",
    "level_above",
    "tail_mean",
]
