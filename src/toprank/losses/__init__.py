"""Losses of the whole score vector: what a method asks of the scores, whatever the matrix."""

from ..surrogates import CompiledRows
from .base import Loss, ReversedLoss
from .log_sum_exp import LogSumExpLoss
from .pair import PairLoss
from .rankings import (
    AveragePrecisionLoss,
    Mixture,
    OrderedPairsLoss,
    PartialAUCLoss,
    Plane,
    Ranking,
    RankingLoss,
)
from .rounded import Bracket, DualRounding
from .rows import RowLoss, RowSum
from .tail import ClassTailLoss, PairTailLoss, SmoothTail, level_above, tail_mean
from .threshold import ThresholdLoss, TopLoss
from .top_fraction import TopFractionLoss

__all__ = [
    "AveragePrecisionLoss",
    "Bracket",
    "ClassTailLoss",
    "CompiledRows",
    "DualRounding",
    "LogSumExpLoss",
    "Loss",
    "Mixture",
    "OrderedPairsLoss",
    "PairLoss",
    "PairTailLoss",
    "PartialAUCLoss",
    "Plane",
    "Ranking",
    "RankingLoss",
    "ReversedLoss",
    "RowLoss",
    "RowSum",
    "SmoothTail",
    "ThresholdLoss",
    "TopFractionLoss",
    "TopLoss",
    "level_above",
    "tail_mean",
]
